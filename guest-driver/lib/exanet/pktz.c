// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: the packetizer sends messages, small writes and read requests.
 */
#include <string.h>

#include "internal.h"

/*
 * Takes a free packetizer channel, stores the packet in the channel, and starts the
 * channel.  @dst is the GVA of the destination, @len (1..64) the number of bytes at @buf.
 * The function adds the fields SIZE and GO to @ctrl.  Returns the number of the channel, or
 * -EAGAIN if no channel is free.
 */
static int exa_pktz_post(struct exa_dev *dev, uint64_t dst, uint64_t ctrl,
			 const void *buf, size_t len)
{
	__le64 words[EXA_MSG_MAX / 8] = { 0 };
	struct exanet_pktz_channel *chan, *shadow;
	__le64 *to, *old;
	size_t i;
	int n;

	n = exa_bit_take(&dev->pktz_busy, EXANET_PKTZ_CHANNELS);
	if (n < 0)
		return n;
	chan = exa_pktz(dev, n);
	shadow = &dev->pktz_shadow[n];
	memcpy(words, buf, len);
	to = (__le64 *)(void *)chan->payload;
	old = (__le64 *)(void *)shadow->payload;
	for (i = 0; i < (len + 7) / 8; i++)
		exa_store_new(&to[i], &old[i], le64toh(words[i]));
	exa_store_new(&chan->dst, &shadow->dst, dst);
	exa_wmb();
	exa_store(&chan->ctrl, ctrl | RNIC_PREP(EXANET_PKTZ_SIZE, len) |
			       EXANET_PKTZ_GO);
	return n;
}

EXA_API int exa_msg_post(struct exa_dev *dev, const struct exa_mbox_addr *to,
			 const void *buf, size_t len, uint32_t flags)
{
	uint64_t ctrl = RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_WRITE) |
			RNIC_PREP(EXANET_PKTZ_DST_CTX, to->ctx);

	if (!exa_alive(dev))
		return -EPERM;
	if (!len || len > EXA_MSG_MAX || to->ctx > 15 || to->reserved ||
	    to->mbox >= EXANET_MAILBOXES || flags & ~EXA_MSG_UNRELIABLE ||
	    to->coord > RNIC_GET(EXANET_COORD, ~0ULL))
		return -EINVAL;
	if (!(flags & EXA_MSG_UNRELIABLE))
		ctrl |= EXANET_PKTZ_ACK;
	return exa_pktz_post(dev, exa_mbox_gva(to->coord, to->mbox), ctrl, buf,
			     len);
}

EXA_API int exa_put_small(struct exa_dev *dev, uint64_t dst_gva, uint32_t ctx,
			  const void *buf, size_t len)
{
	uint64_t ctrl = RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_WRITE) |
			RNIC_PREP(EXANET_PKTZ_DST_CTX, ctx) | EXANET_PKTZ_ACK;

	if (!exa_alive(dev))
		return -EPERM;
	if (!len || len > EXA_MSG_MAX || ctx > 15 ||
	    dst_gva % EXA_PUT_BOUNDARY + len > EXA_PUT_BOUNDARY ||
	    RNIC_GET(EXANET_VA_WINDOW, dst_gva) == EXANET_WINDOW_NI)
		return -EINVAL;
	return exa_pktz_post(dev, dst_gva, ctrl, buf, len);
}

/*
 * Stores in @gva the GVA for the notification of a read: the GVA of the record
 * @attr->notify or, if @attr->notify is NULL, of mailbox @attr->notify_mbox of this
 * context.  Clears the record.  Returns 0 or a negative errno.
 */
static int exa_read_notify(struct exa_dev *dev, const struct exa_read_attr *attr,
			   uint64_t *gva)
{
	uint64_t xva;
	int ret;

	if (!attr->notify) {
		if (attr->notify_mbox >= EXANET_MAILBOXES)
			return -EINVAL;
		*gva = exa_mbox_gva(dev->coord, attr->notify_mbox);
		return 0;
	}
	if ((uintptr_t)attr->notify % sizeof(*attr->notify))
		return -EINVAL;
	ret = exa_xva(dev, attr->notify, sizeof(*attr->notify), &xva);
	if (ret)
		return ret;
	exa_notify_clear(attr->notify);
	*gva = exa_gva(dev->coord, xva);
	return 0;
}

EXA_API int exa_read_post(struct exa_dev *dev, const struct exa_read_attr *attr)
{
	struct exanet_read_req req = { 0 };
	uint64_t ctrl, gva, xva;
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	if (!attr->len || attr->src_ctx > 15 ||
	    attr->flags & ~EXA_READ_NOTIFY_IRQ ||
	    attr->src_coord > RNIC_GET(EXANET_COORD, ~0ULL))
		return -EINVAL;
	ret = exa_xva(dev, attr->dst, attr->len, &xva);
	if (ret)
		return ret;
	ret = exa_read_notify(dev, attr, &gva);
	if (ret)
		return ret;
	ctrl = RNIC_PREP(EXANET_READ_REQ_LENGTH, attr->len) |
	       RNIC_PREP(EXANET_READ_REQ_OWNER, attr->src_ctx) |
	       EXANET_READ_REQ_NOTIFY;
	if (attr->flags & EXA_READ_NOTIFY_IRQ)
		ctrl |= EXANET_READ_REQ_IRQ;
	req.src = htole64(attr->src_va);
	req.dst = htole64(exa_gva(dev->coord, xva));
	req.notify_gva = htole64(gva);
	req.ctrl = htole64(ctrl);
	req.notify_data = htole64(attr->notify_data);
	req.tag = htole64(attr->tag);
	ctrl = RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ) |
	       EXANET_PKTZ_ACK;
	return exa_pktz_post(dev, exa_gva(attr->src_coord,
					  EXANET_NI_VA(EXANET_NI_RT_REQUEST)),
			     ctrl, &req, EXANET_READ_REQ_USER_BYTES);
}

/*
 * Returns the negative errno of a failed channel with status word @status: the errno for
 * field RESP or, if RESP is 0, -ETIMEDOUT or -ECANCELED.
 */
static int exa_pktz_error(uint64_t status)
{
	int error = exa_code_errno(RNIC_GET(EXANET_PKTZSTAT_RESP, status));

	if (error)
		return error;
	return status & EXANET_PKTZSTAT_TIMEOUT ? -ETIMEDOUT : -ECANCELED;
}

EXA_API int exa_msg_test(struct exa_dev *dev, int channel,
			 struct exa_status *st)
{
	struct exanet_pktz_channel *chan;
	uint64_t status;
	int error;

	if (!exa_alive(dev))
		return -EPERM;
	if (!exa_bit_taken(&dev->pktz_busy, channel, EXANET_PKTZ_CHANNELS))
		return -EINVAL;
	chan = exa_pktz(dev, channel);
	/*
	 * The NIC clears GO when the status word belongs to this packet, not to the
	 * previous packet.
	 */
	if (exa_load(&chan->ctrl) & EXANET_PKTZ_GO)
		return -EINPROGRESS;
	exa_rmb();
	status = exa_load(&chan->status);
	switch (RNIC_GET(EXANET_PKTZSTAT_STATE, status)) {
	case EXANET_PKTZ_WAITING:
		return -EINPROGRESS;
	case EXANET_PKTZ_ACKED:
		error = 0;
		break;
	case EXANET_PKTZ_FAILED:
		error = exa_pktz_error(status);
		break;
	default:
		/* A reset of the NIC has cleared the user pages. */
		error = -ECANCELED;
		break;
	}
	exa_rmb();
	if (st)
		*st = (struct exa_status) {
			.error = error,
			.code = RNIC_GET(EXANET_PKTZSTAT_RESP, status),
			.retries = RNIC_GET(EXANET_PKTZSTAT_RETRIES, status),
		};
	exa_bit_free(&dev->pktz_busy, channel);
	return error;
}
