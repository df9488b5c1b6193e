// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: RDMA write through the scratchpad.
 */
#include "internal.h"

/*
 * Returns false if a field of the channel's registers is too small for a member of @attr,
 * if a flag is unknown, or if the NIC would refuse the length or the destination.
 */
static bool exa_write_valid(const struct exa_write_attr *attr)
{
	uint32_t known = EXA_WRITE_NOTIFY | EXA_WRITE_NOTIFY_IRQ |
			 EXA_WRITE_WAKE | EXA_WRITE_MULTIPATH;
	uint64_t room = EXANET_VA_OFFSET - (attr->dst_gva & EXANET_VA_OFFSET);

	if (!attr->len || attr->len - 1 > room || attr->dst_ctx > 15 ||
	    attr->path > 31 || attr->flags & ~known)
		return false;
	return RNIC_GET(EXANET_VA_WINDOW, attr->dst_gva) != EXANET_WINDOW_NI;
}

static uint64_t exa_write_ctrl(const struct exa_write_attr *attr)
{
	uint64_t ctrl = RNIC_PREP(EXANET_CHANNEL_LENGTH, attr->len) |
			RNIC_PREP(EXANET_CHANNEL_DST_CTX, attr->dst_ctx) |
			RNIC_PREP(EXANET_CHANNEL_PATH, attr->path);

	if (attr->flags & EXA_WRITE_NOTIFY)
		ctrl |= EXANET_CHANNEL_NOTIFY;
	if (attr->flags & EXA_WRITE_NOTIFY_IRQ)
		ctrl |= EXANET_CHANNEL_IRQ;
	if (attr->flags & EXA_WRITE_WAKE)
		ctrl |= EXANET_CHANNEL_IRQ_DONE;
	if (attr->flags & EXA_WRITE_MULTIPATH)
		ctrl |= EXANET_CHANNEL_MULTIPATH;
	return ctrl;
}

EXA_API int exa_write_post(struct exa_dev *dev,
			   const struct exa_write_attr *attr)
{
	struct exanet_channel *chan, *shadow;
	uint32_t token;
	int n;

	if (!exa_alive(dev))
		return -EPERM;
	if (!exa_write_valid(attr))
		return -EINVAL;
	n = exa_bit_take(&dev->write_busy, EXANET_WRITE_CHANNELS);
	if (n < 0)
		return n;
	chan = exa_channel(dev, n);
	shadow = &dev->write_shadow[n];
	exa_store_new(&chan->src, &shadow->src, (uintptr_t)attr->src);
	exa_store_new(&chan->dst, &shadow->dst, attr->dst_gva);
	exa_store_new(&chan->ctrl, &shadow->ctrl, exa_write_ctrl(attr));
	if (attr->flags & EXA_WRITE_NOTIFY) {
		exa_store_new(&chan->notify_gva, &shadow->notify_gva,
			      attr->notify_gva);
		exa_store_new(&chan->notify_data, &shadow->notify_data,
			      attr->notify_data);
	}
	/*
	 * The new token distinguishes the end of this transfer from the end of the previous
	 * transfer of the channel.
	 */
	token = (uint32_t)le64toh(shadow->token) + 1;
	if (!token)
		token = 1;
	shadow->token = htole64(token);
	exa_wmb();
	exa_store(&chan->token, token);
	return n;
}

/* Fills @st from the words status and done of a channel whose transfer has ended. */
static void exa_write_status(struct exa_status *st, int error, uint64_t status,
			     uint64_t done)
{
	*st = (struct exa_status) {
		.error = error,
		.code = RNIC_GET(EXANET_CHSTAT_ERROR, status),
		.retries = RNIC_GET(EXANET_CHSTAT_RETRIES, status),
		.bytes = RNIC_GET(EXANET_CHSTAT_ACKED, status),
		.ns = RNIC_GET(EXANET_CHDONE_NS, done),
	};
}

EXA_API int exa_write_test(struct exa_dev *dev, int channel,
			   struct exa_status *st)
{
	struct exanet_channel *chan;
	uint64_t status, done;
	int error;

	if (!exa_alive(dev))
		return -EPERM;
	if (!exa_bit_taken(&dev->write_busy, channel, EXANET_WRITE_CHANNELS))
		return -EINVAL;
	chan = exa_channel(dev, channel);
	status = exa_load(&chan->status);
	switch (RNIC_GET(EXANET_CHSTAT_STATE, status)) {
	case EXANET_CHANNEL_QUEUED:
	case EXANET_CHANNEL_ACTIVE:
		return -EINPROGRESS;
	case EXANET_CHANNEL_DONE:
		error = 0;
		break;
	case EXANET_CHANNEL_FAILED:
		error = exa_code_errno(RNIC_GET(EXANET_CHSTAT_ERROR, status));
		if (!error)
			error = -EIO;
		break;
	default:
		/*
		 * If the user page has the token, the NIC will handle the doorbell.
		 * Otherwise a reset of the NIC has cleared the page.
		 */
		if (exa_load(&chan->token))
			return -EINPROGRESS;
		error = -ECANCELED;
		break;
	}
	exa_rmb();
	done = exa_load(&chan->done);
	/*
	 * If the word done has another token, the status belongs to the previous transfer
	 * of the channel: the NIC has not handled the doorbell of the present transfer yet.
	 */
	if (error != -ECANCELED && RNIC_GET(EXANET_CHDONE_TOKEN, done) !=
	    le64toh(dev->write_shadow[channel].token))
		return -EINPROGRESS;
	if (st)
		exa_write_status(st, error, status, done);
	exa_bit_free(&dev->write_busy, channel);
	return error;
}
