/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Receive path: matches messages with the user's receives, copies or reads the data, and
 * writes completions.
 */

#include "rnic_fi.h"

static void rnic_fi_complete_rx(struct rnic_fi_peer *peer,
				struct fi_peer_rx_entry *rx,
				const struct rnic_fi_rx_info *info, size_t len,
				int err)
{
	struct rnic_fi_ep *ep = peer->ep;
	struct util_cq *cq = ep->util_ep.rx_cq;
	uint64_t flags = ofi_rx_cq_flags(info->ofi_op) | info->flags |
			 (rx->flags & FI_MULTI_RECV);
	void *buf = rx->count ? rx->iov[0].iov_base : NULL;
	struct fi_cq_err_entry entry = {
		.op_context = rx->context,
		.flags = flags,
		.len = len,
		.buf = buf,
		.data = info->cq_data,
		.tag = info->tag,
		.olen = info->len - len,
		.err = err,
		.prov_errno = -err,
		.src_addr = peer->fi_addr,
	};
	int ret = 0;

	if (err) {
		FI_INFO(rnic_fi_prov(ep->domain), FI_LOG_EP_DATA,
			"receive of %zu of %zu bytes, %s: %s\n", len, info->len,
			info->data ? "copied" : "read", fi_strerror(err));
		ofi_ep_peer_rx_cntr_incerr(&ep->util_ep, info->ofi_op);
		ret = ofi_peer_cq_write_error(cq, &entry);
	} else {
		ofi_ep_peer_rx_cntr_inc(&ep->util_ep, info->ofi_op);
		if ((rx->flags | info->flags) &
		    (FI_COMPLETION | FI_REMOTE_CQ_DATA))
			ret = ofi_peer_cq_write(cq, rx->context, flags, len,
						buf, info->cq_data, info->tag,
						peer->fi_addr);
	}
	if (ret)
		FI_WARN(rnic_fi_prov(ep->domain), FI_LOG_CQ,
			"completion lost\n");
	rx->srx->owner_ops->free_entry(rx);
}

static void rnic_fi_rx_send_fin(struct rnic_fi_peer *peer, uint32_t id, int err)
{
	struct rnic_fi_msg_fin fin = {
		.id = htole32(id),
		.status = htole32(err),
	};

	if (!peer->dead && rnic_fi_pkt_send_simple(peer, RNIC_FI_FIN, &fin,
						   sizeof(fin)))
		rnic_fi_peer_fail(peer, FI_ENOMEM);
}

static void rnic_fi_rx_eager(struct rnic_fi_peer *peer,
			     const struct rnic_fi_rx_info *info,
			     struct fi_peer_rx_entry *rx)
{
	size_t len = ofi_copy_to_iov(rx->iov, rx->count, 0, (void *)info->data,
				     info->len);

	rnic_fi_complete_rx(peer, rx, info, len,
			    len < info->len ? FI_ETRUNC : 0);
}

/*
 * Starts reads of @len bytes at @remote of the peer: one or more reads for each piece of
 * the user's buffer that gets data.  Returns 0 or -FI_ENOMEM.
 */
static int rnic_fi_rx_fetch(struct rnic_fi_op *op, uint64_t remote, size_t len)
{
	const struct fi_peer_rx_entry *rx = op->rx;
	size_t i, done, part;
	int ret;

	for (i = 0; i < rx->count && len; i++) {
		for (done = 0; done < rx->iov[i].iov_len && len; done += part) {
			part = MIN(rx->iov[i].iov_len - done, len);
			part = MIN(part, RNIC_FI_REQUEST_MAX);
			ret = rnic_fi_read_start(op,
					(char *)rx->iov[i].iov_base + done,
					remote, part);
			if (ret)
				return ret;
			remote += part;
			len -= part;
		}
	}
	return 0;
}

/*
 * Ends a rendezvous receive that waits for no read any more: sends FIN unless the peer is
 * dead, frees @op, and writes the completion.
 */
static void rnic_fi_rx_finish(struct rnic_fi_op *op)
{
	struct rnic_fi_peer *peer = op->peer;
	struct fi_peer_rx_entry *rx = op->rx;
	struct rnic_fi_rx_info info = {
		.ofi_op = op->ofi_op,
		.tag = op->tag,
		.cq_data = op->cq_data,
		.flags = op->flags,
		.len = op->len,
	};
	size_t len = MIN(ofi_total_iov_len(rx->iov, rx->count), info.len);
	int err = op->err;

	rnic_fi_rx_send_fin(peer, op->id, err);
	if (!err && len < info.len)
		err = FI_ETRUNC;
	rnic_fi_op_free(op);
	rnic_fi_complete_rx(peer, rx, &info, err && err != FI_ETRUNC ? 0 : len,
			    err);
}

static void rnic_fi_rx_rendezvous(struct rnic_fi_peer *peer,
				  const struct rnic_fi_rx_info *info,
				  struct fi_peer_rx_entry *rx)
{
	size_t room = ofi_total_iov_len(rx->iov, rx->count);
	size_t len = MIN(room, info->len);
	struct rnic_fi_op *op;
	int ret = peer->dead;

	if (!ret)
		ret = rnic_fi_op_alloc(peer, RNIC_FI_OP_RX, info->ofi_op,
				       rx->context, info->flags, &op);
	if (ret) {
		rnic_fi_rx_send_fin(peer, info->id, abs(ret));
		rnic_fi_complete_rx(peer, rx, info, 0, abs(ret));
		return;
	}
	op->rx = rx;
	op->end = rnic_fi_rx_finish;
	op->id = info->id;
	op->tag = info->tag;
	op->cq_data = info->cq_data;
	op->len = info->len;
	/*
	 * This function counts as one pending part, because @op must exist until all
	 * reads are posted or queued.
	 */
	op->pending = 1;
	ret = rnic_fi_rx_fetch(op, info->remote, len);
	rnic_fi_op_put(op, ret);
}

static void rnic_fi_rx_start(struct rnic_fi_peer *peer,
			     const struct rnic_fi_rx_info *info,
			     struct fi_peer_rx_entry *rx)
{
	if (info->data)
		rnic_fi_rx_eager(peer, info, rx);
	else
		rnic_fi_rx_rendezvous(peer, info, rx);
}

/*
 * Keeps a message until a receive matches, with a copy of the data unless the message
 * arrived by RTS.  Returns 0 or a negative FI_E code.
 */
static int rnic_fi_rx_queue(struct rnic_fi_peer *peer,
			    const struct rnic_fi_rx_info *info,
			    struct fi_peer_rx_entry *rx)
{
	size_t len = info->data ? info->len : 0;
	struct rnic_fi_unexp *unexp = malloc(sizeof(*unexp) + len);

	if (!unexp)
		return -FI_ENOMEM;
	unexp->peer = peer;
	peer->refs++;
	unexp->info = *info;
	if (info->data) {
		memcpy(unexp->data, info->data, len);
		unexp->info.data = unexp->data;
	}
	rx->peer_context = unexp;
	rx->msg_size = info->len;
	rx->cq_data = info->cq_data;
	rx->flags |= info->flags;
	return info->ofi_op == ofi_op_tagged ?
	       rx->srx->owner_ops->queue_tag(rx) :
	       rx->srx->owner_ops->queue_msg(rx);
}

void rnic_fi_rx_deliver(struct rnic_fi_peer *peer,
			const struct rnic_fi_rx_info *info)
{
	struct fid_peer_srx *srx;
	struct fi_peer_match_attr attr = {
		.addr = peer->fi_addr,
		.msg_size = info->len,
		.tag = info->tag,
	};
	struct fi_peer_rx_entry *rx;
	int ret;

	if (!peer->ep->srx) {
		/* The endpoint cannot receive, so the message is lost. */
		if (!info->data)
			rnic_fi_rx_send_fin(peer, info->id, FI_EOPNOTSUPP);
		return;
	}
	srx = util_get_peer_srx(peer->ep->srx);
	ret = info->ofi_op == ofi_op_tagged ?
	      srx->owner_ops->get_tag(srx, &attr, &rx) :
	      srx->owner_ops->get_msg(srx, &attr, &rx);
	if (!ret) {
		rnic_fi_rx_start(peer, info, rx);
		return;
	}
	if (ret == -FI_ENOENT)
		ret = rnic_fi_rx_queue(peer, info, rx);
	if (ret) {
		/*
		 * The message is lost.  The peer fails, because its later messages must
		 * not be delivered without this message.
		 */
		FI_WARN(rnic_fi_prov(peer->ep->domain), FI_LOG_EP_DATA,
			"no memory for a message\n");
		rnic_fi_peer_fail(peer, FI_ENOMEM);
	}
}

static void rnic_fi_unexp_free(struct rnic_fi_unexp *unexp)
{
	unexp->peer->refs--;
	free(unexp);
}

static int rnic_fi_rx_unexp_start(struct fi_peer_rx_entry *rx)
{
	struct rnic_fi_unexp *unexp = rx->peer_context;

	rnic_fi_rx_start(unexp->peer, &unexp->info, rx);
	rnic_fi_unexp_free(unexp);
	return FI_SUCCESS;
}

static int rnic_fi_rx_unexp_discard(struct fi_peer_rx_entry *rx)
{
	struct rnic_fi_unexp *unexp = rx->peer_context;

	if (!unexp->info.data)
		rnic_fi_rx_send_fin(unexp->peer, unexp->info.id, 0);
	rnic_fi_unexp_free(unexp);
	return FI_SUCCESS;
}

struct fi_ops_srx_peer rnic_fi_srx_peer_ops = {
	.size = sizeof(struct fi_ops_srx_peer),
	.start_msg = rnic_fi_rx_unexp_start,
	.start_tag = rnic_fi_rx_unexp_start,
	.discard_msg = rnic_fi_rx_unexp_discard,
	.discard_tag = rnic_fi_rx_unexp_discard,
};
