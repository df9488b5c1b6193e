/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Sends and receives, with and without tags. */

#include "rnic_fi.h"

struct rnic_fi_send {
	const struct iovec	*iov;
	size_t			count;
	size_t			len;
	uint64_t		tag;
	uint64_t		cq_data;
	void			*context;
	uint32_t		ofi_op;
	uint64_t		flags;
	bool			instant;	/* the completion is written before the call
						 * returns */
};

/*
 * Stores in *@bits the header bits that announce the tag and the CQ data of @send, and in
 * @out the tag and the CQ data, if @send has them.  Returns the number of bytes in @out.
 */
static size_t rnic_fi_envelope(const struct rnic_fi_send *send, uint64_t *bits,
			       uint8_t *out)
{
	__le64 tag = htole64(send->tag), data = htole64(send->cq_data);
	size_t len = 0;

	*bits = 0;
	if (send->ofi_op == ofi_op_tagged) {
		*bits |= RNIC_FI_HDR_TAGGED;
		memcpy(out, &tag, sizeof(tag));
		len = sizeof(tag);
	}
	if (send->flags & FI_REMOTE_CQ_DATA) {
		bool wide = send->cq_data >> 32;
		size_t bytes = wide ? 8 : 4;

		*bits |= RNIC_PREP(RNIC_FI_HDR_CQ_DATA,
				   wide ? RNIC_FI_CQ_8 : RNIC_FI_CQ_4);
		memcpy(out + len, &data, bytes);
		len += bytes;
	}
	return len;
}

/*
 * Returns true if an inline send or a send through a slot completes before the call
 * returns, because @flags has FI_INJECT or FI_INJECT_COMPLETE, or because the peer
 * acknowledges nothing at present.  Returns false if @flags has FI_TRANSMIT_COMPLETE or
 * FI_DELIVERY_COMPLETE.  After the completion the user may change the data, because the
 * packet or slot has a copy.
 */
static bool rnic_fi_send_is_instant(const struct rnic_fi_peer *peer,
				    uint64_t flags)
{
	return (flags & (FI_INJECT | FI_INJECT_COMPLETE) || peer->stuck) &&
	       !(flags & (FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE));
}

static int rnic_fi_send_op(struct rnic_fi_peer *peer,
			   const struct rnic_fi_send *send,
			   struct rnic_fi_op **op)
{
	int ret;

	*op = NULL;
	if (send->instant)
		return 0;
	ret = rnic_fi_op_alloc(peer, RNIC_FI_OP_TX, send->ofi_op, send->context,
			       send->flags & ~FI_REMOTE_CQ_DATA, op);
	if (!ret)
		(*op)->pending = 1;
	return ret;
}

static void rnic_fi_send_posted(struct rnic_fi_peer *peer,
				const struct rnic_fi_send *send)
{
	if (send->instant)
		rnic_fi_complete_tx(peer->ep, send->ofi_op, send->context,
				    send->flags, 0);
}

static int rnic_fi_send_inline(struct rnic_fi_peer *peer,
			       const struct rnic_fi_send *send, uint64_t bits,
			       const uint8_t *env, size_t env_len)
{
	struct rnic_fi_pkt *pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_MSG);
	struct rnic_fi_op *op;
	uint8_t *out;
	int ret;

	if (!pkt)
		return -FI_ENOMEM;
	ret = rnic_fi_send_op(peer, send, &op);
	if (ret) {
		rnic_fi_pkt_free(pkt);
		return ret;
	}
	out = rnic_fi_pkt_header(pkt, RNIC_FI_EAGER, bits);
	memcpy(out, env, env_len);
	ofi_copy_from_iov(out + env_len, send->len, send->iov, send->count, 0);
	pkt->req.len += env_len + send->len;
	pkt->op = op;
	rnic_fi_pkt_send(pkt);
	rnic_fi_send_posted(peer, send);
	return 0;
}

static int rnic_fi_send_slot(struct rnic_fi_peer *peer,
			     const struct rnic_fi_send *send)
{
	struct rnic_fi_op *op;
	int ret;

	ret = rnic_fi_send_op(peer, send, &op);
	if (ret)
		return ret;
	ret = rnic_fi_slot_send(peer, op, send->ofi_op, send->iov, send->count,
				send->tag, send->cq_data, send->flags);
	if (ret) {
		if (op)
			rnic_fi_op_free(op);
		return ret;
	}
	rnic_fi_send_posted(peer, send);
	return 0;
}

/*
 * Returns true if a send by rendezvous copies its data and completes before the call
 * returns.  The receiving program may receive only after a later action of the sending
 * program, which waits for this completion.  Without the copy both programs would wait for
 * ever.
 */
static bool rnic_fi_send_is_held(const struct rnic_fi_send *send)
{
	return send->len <= RNIC_FI_HELD_BYTES &&
	       !(send->flags & (FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE));
}

/*
 * Exposes the source of a rendezvous, and stores the address of the source for the peer in
 * @remote.  First copies the source if it is not exactly one piece, or if the user may
 * change the data before the peer has read them.  Returns 0 or a negative error.
 */
static int rnic_fi_rts_source(const struct rnic_fi_send *send,
			      struct rnic_fi_op *op, uint64_t *remote)
{
	struct rnic_fi_domain *domain = op->ep->domain;
	const void *source;
	int ret;

	if (send->count == 1 && !(send->flags & FI_INJECT) &&
	    !rnic_fi_send_is_held(send)) {
		source = send->iov[0].iov_base;
	} else {
		op->bounce = malloc(send->len ? send->len : 1);
		if (!op->bounce)
			return -FI_ENOMEM;
		ofi_copy_from_iov(op->bounce, send->len, send->iov, send->count,
				  0);
		source = op->bounce;
	}
	ret = domain->transport->expose(domain->nic, source, send->len,
					FI_REMOTE_READ, &op->base);
	/*
	 * The user tries again, because the end of another rendezvous lets the NIC expose
	 * more memory.
	 */
	if (ret == -FI_ENOSPC && domain->sources)
		return -FI_EAGAIN;
	if (ret)
		return ret;
	op->exposed = true;
	domain->sources++;
	*remote = domain->transport->address(op->base, 0, false);
	return 0;
}

/*
 * Returns true if the RTS of a rendezvous should request a ring for later messages.  After
 * true, returns false until RNIC_FI_RING_ASK_MS have passed, or RING_END has ended the
 * ring.
 */
static bool rnic_fi_send_asks(struct rnic_fi_peer *peer,
			      const struct rnic_fi_send *send)
{
	uint64_t now;

	if (peer->tx_ring || send->flags & FI_DELIVERY_COMPLETE)
		return false;
	now = ofi_gettime_ms();
	if (now < peer->ask_ms)
		return false;
	peer->ask_ms = now + RNIC_FI_RING_ASK_MS;
	return true;
}

static int rnic_fi_send_rendezvous(struct rnic_fi_peer *peer,
				   const struct rnic_fi_send *send,
				   uint64_t bits, const uint8_t *env,
				   size_t env_len)
{
	struct rnic_fi_msg_rts rts;
	struct rnic_fi_pkt *pkt;
	struct rnic_fi_op *op;
	uint64_t remote;
	uint8_t *out;
	int ret;

	if (rnic_fi_send_is_held(send) && peer->held >= RNIC_FI_PEER_HELD)
		return -FI_EAGAIN;
	pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_MSG);
	if (!pkt)
		return -FI_ENOMEM;
	ret = rnic_fi_op_alloc(peer, RNIC_FI_OP_RTS, send->ofi_op, send->context,
			       send->flags, &op);
	if (ret)
		goto free_pkt;
	ret = rnic_fi_rts_source(send, op, &remote);
	if (ret)
		goto free_op;
	op->pending = 1;
	if (rnic_fi_send_asks(peer, send))
		bits |= RNIC_FI_HDR_FLAG;
	rts.len = htole64(send->len);
	rts.remote = htole64(remote);
	rts.id = htole32(op->id);
	out = rnic_fi_pkt_header(pkt, RNIC_FI_RTS, bits);
	memcpy(out, env, env_len);
	memcpy(out + env_len, &rts, sizeof(rts));
	pkt->req.len += env_len + sizeof(rts);
	if (rnic_fi_send_is_held(send))
		rnic_fi_op_hold(op);
	rnic_fi_pkt_send(pkt);
	return 0;

free_op:
	rnic_fi_op_free(op);
free_pkt:
	rnic_fi_pkt_free(pkt);
	return ret;
}

static int rnic_fi_send_choose(struct rnic_fi_peer *peer,
			       const struct rnic_fi_send *send)
{
	uint8_t env[RNIC_FI_INLINE_HDR_MAX];
	uint64_t bits;
	size_t len = rnic_fi_envelope(send, &bits, env);
	bool delivery = send->flags & FI_DELIVERY_COMPLETE;

	if (!delivery &&
	    sizeof(__le64) + len + send->len <= RNIC_FI_MSG_MAX)
		return rnic_fi_send_inline(peer, send, bits, env, len);
	if (!delivery && rnic_fi_slot_usable(peer, send->len))
		return rnic_fi_send_slot(peer, send);
	return rnic_fi_send_rendezvous(peer, send, bits, env, len);
}

static ssize_t rnic_fi_send(struct fid_ep *fid, fi_addr_t addr,
			    struct rnic_fi_send *send)
{
	struct rnic_fi_ep *ep = rnic_fi_ep_of(fid);
	struct rnic_fi_peer *peer;
	int ret;

	send->len = ofi_total_iov_len(send->iov, send->count);
	if (send->count > RNIC_FI_IOV_LIMIT ||
	    (send->flags & FI_INJECT && send->len > RNIC_FI_INJECT_SIZE))
		return -FI_EINVAL;
	rnic_fi_lock(ep->domain);
	ret = rnic_fi_peer_get(ep, addr, &peer);
	if (!ret && peer->queued >= RNIC_FI_PEER_QUEUE)
		ret = -FI_EAGAIN;
	if (!ret) {
		send->instant = rnic_fi_send_is_instant(peer, send->flags);
		ret = rnic_fi_send_choose(peer, send);
	}
	/*
	 * Progress may end packets or operations, so that the next call of the user can
	 * succeed.
	 */
	if (ret == -FI_EAGAIN)
		(void) rnic_fi_domain_progress(ep->domain);
	rnic_fi_unlock(ep->domain);
	return ret;
}

static ssize_t rnic_fi_send_one(struct fid_ep *fid, const void *buf, size_t len,
				fi_addr_t addr, uint32_t ofi_op, uint64_t tag,
				uint64_t data, void *context, uint64_t flags)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct rnic_fi_send send = {
		.iov = &iov,
		.count = 1,
		.tag = tag,
		.cq_data = data,
		.context = context,
		.ofi_op = ofi_op,
		.flags = flags,
	};

	return rnic_fi_send(fid, addr, &send);
}

static uint64_t rnic_fi_tx_flags(struct fid_ep *fid)
{
	return rnic_fi_ep_of(fid)->util_ep.tx_op_flags;
}

static uint64_t rnic_fi_rx_flags(struct fid_ep *fid)
{
	return rnic_fi_ep_of(fid)->util_ep.rx_op_flags;
}

/* --- FI_MSG ----------------------------------------------------------------- */

static ssize_t rnic_fi_msg_recv(struct fid_ep *fid, void *buf, size_t len,
				void *desc, fi_addr_t src, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return util_srx_generic_recv(rnic_fi_ep_of(fid)->srx, &iov, &desc, 1,
				     src, context, rnic_fi_rx_flags(fid));
}

static ssize_t rnic_fi_msg_recvv(struct fid_ep *fid, const struct iovec *iov,
				 void **desc, size_t count, fi_addr_t src,
				 void *context)
{
	if (count > RNIC_FI_IOV_LIMIT)
		return -FI_EINVAL;
	return util_srx_generic_recv(rnic_fi_ep_of(fid)->srx, iov, desc, count,
				     src, context, rnic_fi_rx_flags(fid));
}

static ssize_t rnic_fi_msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
				   uint64_t flags)
{
	struct rnic_fi_ep *ep = rnic_fi_ep_of(fid);

	if (msg->iov_count > RNIC_FI_IOV_LIMIT)
		return -FI_EINVAL;
	return util_srx_generic_recv(ep->srx, msg->msg_iov, msg->desc,
				     msg->iov_count, msg->addr, msg->context,
				     flags | ep->util_ep.rx_msg_flags);
}

static ssize_t rnic_fi_msg_send(struct fid_ep *fid, const void *buf, size_t len,
				void *desc, fi_addr_t dst, void *context)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_msg, 0, 0, context,
				rnic_fi_tx_flags(fid));
}

static ssize_t rnic_fi_msg_sendv(struct fid_ep *fid, const struct iovec *iov,
				 void **desc, size_t count, fi_addr_t dst,
				 void *context)
{
	struct rnic_fi_send send = {
		.iov = iov,
		.count = count,
		.context = context,
		.ofi_op = ofi_op_msg,
		.flags = rnic_fi_tx_flags(fid),
	};

	return rnic_fi_send(fid, dst, &send);
}

static ssize_t rnic_fi_msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
				   uint64_t flags)
{
	struct rnic_fi_send send = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.cq_data = msg->data,
		.context = msg->context,
		.ofi_op = ofi_op_msg,
		.flags = flags | rnic_fi_ep_of(fid)->util_ep.tx_msg_flags,
	};

	return rnic_fi_send(fid, msg->addr, &send);
}

static ssize_t rnic_fi_msg_inject(struct fid_ep *fid, const void *buf,
				  size_t len, fi_addr_t dst)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_msg, 0, 0, NULL,
				FI_INJECT);
}

static ssize_t rnic_fi_msg_senddata(struct fid_ep *fid, const void *buf,
				    size_t len, void *desc, uint64_t data,
				    fi_addr_t dst, void *context)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_msg, 0, data, context,
				rnic_fi_tx_flags(fid) | FI_REMOTE_CQ_DATA);
}

static ssize_t rnic_fi_msg_injectdata(struct fid_ep *fid, const void *buf,
				      size_t len, uint64_t data, fi_addr_t dst)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_msg, 0, data, NULL,
				FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_msg rnic_fi_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = rnic_fi_msg_recv,
	.recvv = rnic_fi_msg_recvv,
	.recvmsg = rnic_fi_msg_recvmsg,
	.send = rnic_fi_msg_send,
	.sendv = rnic_fi_msg_sendv,
	.sendmsg = rnic_fi_msg_sendmsg,
	.inject = rnic_fi_msg_inject,
	.senddata = rnic_fi_msg_senddata,
	.injectdata = rnic_fi_msg_injectdata,
};

/* --- FI_TAGGED -------------------------------------------------------------- */

static ssize_t rnic_fi_tagged_recv(struct fid_ep *fid, void *buf, size_t len,
				   void *desc, fi_addr_t src, uint64_t tag,
				   uint64_t ignore, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return util_srx_generic_trecv(rnic_fi_ep_of(fid)->srx, &iov, &desc, 1,
				      src, context, tag, ignore,
				      rnic_fi_rx_flags(fid));
}

static ssize_t rnic_fi_tagged_recvv(struct fid_ep *fid, const struct iovec *iov,
				    void **desc, size_t count, fi_addr_t src,
				    uint64_t tag, uint64_t ignore,
				    void *context)
{
	if (count > RNIC_FI_IOV_LIMIT)
		return -FI_EINVAL;
	return util_srx_generic_trecv(rnic_fi_ep_of(fid)->srx, iov, desc, count,
				      src, context, tag, ignore,
				      rnic_fi_rx_flags(fid));
}

static ssize_t rnic_fi_tagged_recvmsg(struct fid_ep *fid,
				      const struct fi_msg_tagged *msg,
				      uint64_t flags)
{
	struct rnic_fi_ep *ep = rnic_fi_ep_of(fid);

	if (msg->iov_count > RNIC_FI_IOV_LIMIT)
		return -FI_EINVAL;
	/* Makes progress, because a program may wait for a message by FI_PEEK alone. */
	if (flags & FI_PEEK)
		rnic_fi_ep_progress(&ep->util_ep);
	return util_srx_generic_trecv(ep->srx, msg->msg_iov, msg->desc,
				      msg->iov_count, msg->addr, msg->context,
				      msg->tag, msg->ignore,
				      flags | ep->util_ep.rx_msg_flags);
}

static ssize_t rnic_fi_tagged_send(struct fid_ep *fid, const void *buf,
				   size_t len, void *desc, fi_addr_t dst,
				   uint64_t tag, void *context)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_tagged, tag, 0,
				context, rnic_fi_tx_flags(fid));
}

static ssize_t rnic_fi_tagged_sendv(struct fid_ep *fid, const struct iovec *iov,
				    void **desc, size_t count, fi_addr_t dst,
				    uint64_t tag, void *context)
{
	struct rnic_fi_send send = {
		.iov = iov,
		.count = count,
		.tag = tag,
		.context = context,
		.ofi_op = ofi_op_tagged,
		.flags = rnic_fi_tx_flags(fid),
	};

	return rnic_fi_send(fid, dst, &send);
}

static ssize_t rnic_fi_tagged_sendmsg(struct fid_ep *fid,
				      const struct fi_msg_tagged *msg,
				      uint64_t flags)
{
	struct rnic_fi_send send = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.tag = msg->tag,
		.cq_data = msg->data,
		.context = msg->context,
		.ofi_op = ofi_op_tagged,
		.flags = flags | rnic_fi_ep_of(fid)->util_ep.tx_msg_flags,
	};

	return rnic_fi_send(fid, msg->addr, &send);
}

static ssize_t rnic_fi_tagged_inject(struct fid_ep *fid, const void *buf,
				     size_t len, fi_addr_t dst, uint64_t tag)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_tagged, tag, 0, NULL,
				FI_INJECT);
}

static ssize_t rnic_fi_tagged_senddata(struct fid_ep *fid, const void *buf,
				       size_t len, void *desc, uint64_t data,
				       fi_addr_t dst, uint64_t tag,
				       void *context)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_tagged, tag, data,
				context,
				rnic_fi_tx_flags(fid) | FI_REMOTE_CQ_DATA);
}

static ssize_t rnic_fi_tagged_injectdata(struct fid_ep *fid, const void *buf,
					 size_t len, uint64_t data,
					 fi_addr_t dst, uint64_t tag)
{
	return rnic_fi_send_one(fid, buf, len, dst, ofi_op_tagged, tag, data,
				NULL, FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_tagged rnic_fi_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = rnic_fi_tagged_recv,
	.recvv = rnic_fi_tagged_recvv,
	.recvmsg = rnic_fi_tagged_recvmsg,
	.send = rnic_fi_tagged_send,
	.sendv = rnic_fi_tagged_sendv,
	.sendmsg = rnic_fi_tagged_sendmsg,
	.inject = rnic_fi_tagged_inject,
	.senddata = rnic_fi_tagged_senddata,
	.injectdata = rnic_fi_tagged_injectdata,
};
