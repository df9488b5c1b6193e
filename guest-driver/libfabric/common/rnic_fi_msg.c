/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Sends and receives, with and without tags. */

#include "rnic_fi.h"

struct exanet_send {
	const struct iovec	*iov;
	size_t			count;
	size_t			len;
	uint64_t		tag;
	uint64_t		cq_data;
	void			*context;
	uint32_t		ofi_op;
	uint64_t		flags;
	bool			instant;	/* completes when the call returns */
};

/* Header bits and bytes of tag and CQ data. */
static size_t exanet_envelope(const struct exanet_send *send, uint64_t *bits,
			      uint8_t *out)
{
	__le64 tag = htole64(send->tag), data = htole64(send->cq_data);
	size_t len = 0;

	*bits = 0;
	if (send->ofi_op == ofi_op_tagged) {
		*bits |= EXANET_FI_HDR_TAGGED;
		memcpy(out, &tag, sizeof(tag));
		len = sizeof(tag);
	}
	if (send->flags & FI_REMOTE_CQ_DATA) {
		bool wide = send->cq_data >> 32;
		size_t bytes = wide ? 8 : 4;

		*bits |= RNIC_PREP(EXANET_FI_HDR_CQ_DATA,
				   wide ? EXANET_FI_CQ_8 : EXANET_FI_CQ_4);
		memcpy(out + len, &data, bytes);
		len += bytes;
	}
	return len;
}

/*
 * Returns true if a send completes when the call returns.  This is the case if the user
 * requests it, or if the peer accepts no messages at present; a packet or slot holds
 * the data.
 */
static bool exanet_send_is_instant(const struct exanet_peer *peer,
				   uint64_t flags)
{
	return (flags & (FI_INJECT | FI_INJECT_COMPLETE) || peer->stuck) &&
	       !(flags & (FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE));
}

static int exanet_send_op(struct exanet_peer *peer,
			  const struct exanet_send *send,
			  struct exanet_op **op)
{
	int ret;

	*op = NULL;
	if (send->instant)
		return 0;
	ret = exanet_op_alloc(peer, EXANET_OP_TX, send->ofi_op, send->context,
			      send->flags & ~FI_REMOTE_CQ_DATA, op);
	if (!ret)
		(*op)->pending = 1;
	return ret;
}

static void exanet_send_posted(struct exanet_peer *peer,
			       const struct exanet_send *send)
{
	if (send->instant)
		exanet_complete_tx(peer->ep, send->ofi_op, send->context,
				   send->flags, 0);
}

static int exanet_send_inline(struct exanet_peer *peer,
			      const struct exanet_send *send, uint64_t bits,
			      const uint8_t *env, size_t env_len)
{
	struct exanet_pkt *pkt = exanet_pkt_alloc(peer, EXANET_PKT_MSG);
	struct exanet_op *op;
	uint8_t *out;
	int ret;

	if (!pkt)
		return -FI_ENOMEM;
	ret = exanet_send_op(peer, send, &op);
	if (ret) {
		exanet_pkt_free(pkt);
		return ret;
	}
	out = exanet_pkt_header(pkt, EXANET_FI_EAGER, bits);
	memcpy(out, env, env_len);
	ofi_copy_from_iov(out + env_len, send->len, send->iov, send->count, 0);
	pkt->len += env_len + send->len;
	pkt->op = op;
	exanet_pkt_send(pkt);
	exanet_send_posted(peer, send);
	return 0;
}

static int exanet_send_slot(struct exanet_peer *peer,
			    const struct exanet_send *send)
{
	struct exanet_op *op;
	int ret;

	ret = exanet_send_op(peer, send, &op);
	if (ret)
		return ret;
	ret = exanet_slot_send(peer, op, send->ofi_op, send->iov, send->count,
			       send->tag, send->cq_data, send->flags);
	if (ret) {
		if (op)
			exanet_op_free(op);
		return ret;
	}
	exanet_send_posted(peer, send);
	return 0;
}

/*
 * Returns true if a send by rendezvous is copied and completes at once, because the
 * receiver may process no messages before it knows of this completion.
 */
static bool exanet_send_is_held(const struct exanet_send *send)
{
	return send->len <= EXANET_HELD_BYTES &&
	       !(send->flags & (FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE));
}

/*
 * Copies the source if it has several pieces, or if the user may change it before the
 * peer has read it.
 */
static int exanet_rts_source(const struct exanet_send *send,
			     struct exanet_op *op, uint64_t *va)
{
	if (send->count == 1 && !(send->flags & FI_INJECT) &&
	    !exanet_send_is_held(send)) {
		*va = (uintptr_t)send->iov[0].iov_base;
		return 0;
	}
	op->bounce = malloc(send->len ? send->len : 1);
	if (!op->bounce)
		return -FI_ENOMEM;
	ofi_copy_from_iov(op->bounce, send->len, send->iov, send->count, 0);
	*va = (uintptr_t)op->bounce;
	return 0;
}

/* Returns true if a rendezvous should request a ring for later messages. */
static bool exanet_send_asks(struct exanet_peer *peer,
			     const struct exanet_send *send)
{
	uint64_t now;

	if (peer->tx_ring || send->flags & FI_DELIVERY_COMPLETE)
		return false;
	now = ofi_gettime_ms();
	if (now < peer->ask_ms)
		return false;
	peer->ask_ms = now + EXANET_RING_ASK_MS;
	return true;
}

static int exanet_send_rendezvous(struct exanet_peer *peer,
				  const struct exanet_send *send,
				  uint64_t bits, const uint8_t *env,
				  size_t env_len)
{
	struct exanet_fi_rts rts;
	struct exanet_pkt *pkt;
	struct exanet_op *op;
	uint64_t va;
	uint8_t *out;
	int ret;

	if (exanet_send_is_held(send) && peer->held >= EXANET_PEER_HELD)
		return -FI_EAGAIN;
	pkt = exanet_pkt_alloc(peer, EXANET_PKT_MSG);
	if (!pkt)
		return -FI_ENOMEM;
	ret = exanet_op_alloc(peer, EXANET_OP_RTS, send->ofi_op, send->context,
			      send->flags, &op);
	if (ret)
		goto free_pkt;
	ret = exanet_rts_source(send, op, &va);
	if (ret)
		goto free_op;
	op->pending = 1;
	if (exanet_send_asks(peer, send))
		bits |= EXANET_FI_HDR_FLAG;
	rts.len = htole64(send->len);
	rts.va = htole64(va);
	rts.id = htole32(op->id);
	out = exanet_pkt_header(pkt, EXANET_FI_RTS, bits);
	memcpy(out, env, env_len);
	memcpy(out + env_len, &rts, sizeof(rts));
	pkt->len += env_len + sizeof(rts);
	if (exanet_send_is_held(send))
		exanet_op_hold(op);
	exanet_pkt_send(pkt);
	return 0;

free_op:
	exanet_op_free(op);
free_pkt:
	exanet_pkt_free(pkt);
	return ret;
}

static int exanet_send_choose(struct exanet_peer *peer,
			      const struct exanet_send *send)
{
	uint8_t env[EXANET_INLINE_HDR_MAX];
	uint64_t bits;
	size_t len = exanet_envelope(send, &bits, env);
	bool delivery = send->flags & FI_DELIVERY_COMPLETE;

	if (!delivery &&
	    sizeof(__le64) + len + send->len <= EXANET_FI_MSG_MAX)
		return exanet_send_inline(peer, send, bits, env, len);
	if (!delivery && exanet_slot_usable(peer, send->len))
		return exanet_send_slot(peer, send);
	return exanet_send_rendezvous(peer, send, bits, env, len);
}

static ssize_t exanet_send(struct fid_ep *fid, fi_addr_t addr,
			   struct exanet_send *send)
{
	struct exanet_ep *ep = exanet_ep_of(fid);
	struct exanet_peer *peer;
	int ret;

	send->len = ofi_total_iov_len(send->iov, send->count);
	if (send->count > EXANET_IOV_LIMIT ||
	    (send->flags & FI_INJECT && send->len > EXANET_INJECT_SIZE))
		return -FI_EINVAL;
	exanet_lock(ep->domain);
	ret = exanet_peer_get(ep, addr, &peer);
	if (!ret && peer->queued >= EXANET_PEER_QUEUE)
		ret = -FI_EAGAIN;
	if (!ret) {
		send->instant = exanet_send_is_instant(peer, send->flags);
		ret = exanet_send_choose(peer, send);
	}
	/* The user will call again: do what may make room. */
	if (ret == -FI_EAGAIN)
		exanet_domain_progress(ep->domain);
	exanet_unlock(ep->domain);
	return ret;
}

static ssize_t exanet_send_one(struct fid_ep *fid, const void *buf, size_t len,
			       fi_addr_t addr, uint32_t ofi_op, uint64_t tag,
			       uint64_t data, void *context, uint64_t flags)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct exanet_send send = {
		.iov = &iov,
		.count = 1,
		.tag = tag,
		.cq_data = data,
		.context = context,
		.ofi_op = ofi_op,
		.flags = flags,
	};

	return exanet_send(fid, addr, &send);
}

static uint64_t exanet_tx_flags(struct fid_ep *fid)
{
	return exanet_ep_of(fid)->util_ep.tx_op_flags;
}

static uint64_t exanet_rx_flags(struct fid_ep *fid)
{
	return exanet_ep_of(fid)->util_ep.rx_op_flags;
}

/* --- FI_MSG ----------------------------------------------------------------- */

static ssize_t exanet_msg_recv(struct fid_ep *fid, void *buf, size_t len,
			       void *desc, fi_addr_t src, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return util_srx_generic_recv(exanet_ep_of(fid)->srx, &iov, &desc, 1,
				     src, context, exanet_rx_flags(fid));
}

static ssize_t exanet_msg_recvv(struct fid_ep *fid, const struct iovec *iov,
				void **desc, size_t count, fi_addr_t src,
				void *context)
{
	if (count > EXANET_IOV_LIMIT)
		return -FI_EINVAL;
	return util_srx_generic_recv(exanet_ep_of(fid)->srx, iov, desc, count,
				     src, context, exanet_rx_flags(fid));
}

static ssize_t exanet_msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
				  uint64_t flags)
{
	struct exanet_ep *ep = exanet_ep_of(fid);

	if (msg->iov_count > EXANET_IOV_LIMIT)
		return -FI_EINVAL;
	return util_srx_generic_recv(ep->srx, msg->msg_iov, msg->desc,
				     msg->iov_count, msg->addr, msg->context,
				     flags | ep->util_ep.rx_msg_flags);
}

static ssize_t exanet_msg_send(struct fid_ep *fid, const void *buf, size_t len,
			       void *desc, fi_addr_t dst, void *context)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_msg, 0, 0, context,
			       exanet_tx_flags(fid));
}

static ssize_t exanet_msg_sendv(struct fid_ep *fid, const struct iovec *iov,
				void **desc, size_t count, fi_addr_t dst,
				void *context)
{
	struct exanet_send send = {
		.iov = iov,
		.count = count,
		.context = context,
		.ofi_op = ofi_op_msg,
		.flags = exanet_tx_flags(fid),
	};

	return exanet_send(fid, dst, &send);
}

static ssize_t exanet_msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
				  uint64_t flags)
{
	struct exanet_send send = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.cq_data = msg->data,
		.context = msg->context,
		.ofi_op = ofi_op_msg,
		.flags = flags | exanet_ep_of(fid)->util_ep.tx_msg_flags,
	};

	return exanet_send(fid, msg->addr, &send);
}

static ssize_t exanet_msg_inject(struct fid_ep *fid, const void *buf,
				 size_t len, fi_addr_t dst)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_msg, 0, 0, NULL,
			       FI_INJECT);
}

static ssize_t exanet_msg_senddata(struct fid_ep *fid, const void *buf,
				   size_t len, void *desc, uint64_t data,
				   fi_addr_t dst, void *context)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_msg, 0, data, context,
			       exanet_tx_flags(fid) | FI_REMOTE_CQ_DATA);
}

static ssize_t exanet_msg_injectdata(struct fid_ep *fid, const void *buf,
				     size_t len, uint64_t data, fi_addr_t dst)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_msg, 0, data, NULL,
			       FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_msg exanet_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = exanet_msg_recv,
	.recvv = exanet_msg_recvv,
	.recvmsg = exanet_msg_recvmsg,
	.send = exanet_msg_send,
	.sendv = exanet_msg_sendv,
	.sendmsg = exanet_msg_sendmsg,
	.inject = exanet_msg_inject,
	.senddata = exanet_msg_senddata,
	.injectdata = exanet_msg_injectdata,
};

/* --- FI_TAGGED -------------------------------------------------------------- */

static ssize_t exanet_tagged_recv(struct fid_ep *fid, void *buf, size_t len,
				  void *desc, fi_addr_t src, uint64_t tag,
				  uint64_t ignore, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return util_srx_generic_trecv(exanet_ep_of(fid)->srx, &iov, &desc, 1,
				      src, context, tag, ignore,
				      exanet_rx_flags(fid));
}

static ssize_t exanet_tagged_recvv(struct fid_ep *fid, const struct iovec *iov,
				   void **desc, size_t count, fi_addr_t src,
				   uint64_t tag, uint64_t ignore,
				   void *context)
{
	if (count > EXANET_IOV_LIMIT)
		return -FI_EINVAL;
	return util_srx_generic_trecv(exanet_ep_of(fid)->srx, iov, desc, count,
				      src, context, tag, ignore,
				      exanet_rx_flags(fid));
}

static ssize_t exanet_tagged_recvmsg(struct fid_ep *fid,
				     const struct fi_msg_tagged *msg,
				     uint64_t flags)
{
	struct exanet_ep *ep = exanet_ep_of(fid);

	if (msg->iov_count > EXANET_IOV_LIMIT)
		return -FI_EINVAL;
	/* Looking for messages is a way of waiting for them. */
	if (flags & FI_PEEK)
		exanet_ep_progress(&ep->util_ep);
	return util_srx_generic_trecv(ep->srx, msg->msg_iov, msg->desc,
				      msg->iov_count, msg->addr, msg->context,
				      msg->tag, msg->ignore,
				      flags | ep->util_ep.rx_msg_flags);
}

static ssize_t exanet_tagged_send(struct fid_ep *fid, const void *buf,
				  size_t len, void *desc, fi_addr_t dst,
				  uint64_t tag, void *context)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_tagged, tag, 0,
			       context, exanet_tx_flags(fid));
}

static ssize_t exanet_tagged_sendv(struct fid_ep *fid, const struct iovec *iov,
				   void **desc, size_t count, fi_addr_t dst,
				   uint64_t tag, void *context)
{
	struct exanet_send send = {
		.iov = iov,
		.count = count,
		.tag = tag,
		.context = context,
		.ofi_op = ofi_op_tagged,
		.flags = exanet_tx_flags(fid),
	};

	return exanet_send(fid, dst, &send);
}

static ssize_t exanet_tagged_sendmsg(struct fid_ep *fid,
				     const struct fi_msg_tagged *msg,
				     uint64_t flags)
{
	struct exanet_send send = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.tag = msg->tag,
		.cq_data = msg->data,
		.context = msg->context,
		.ofi_op = ofi_op_tagged,
		.flags = flags | exanet_ep_of(fid)->util_ep.tx_msg_flags,
	};

	return exanet_send(fid, msg->addr, &send);
}

static ssize_t exanet_tagged_inject(struct fid_ep *fid, const void *buf,
				    size_t len, fi_addr_t dst, uint64_t tag)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_tagged, tag, 0, NULL,
			       FI_INJECT);
}

static ssize_t exanet_tagged_senddata(struct fid_ep *fid, const void *buf,
				      size_t len, void *desc, uint64_t data,
				      fi_addr_t dst, uint64_t tag,
				      void *context)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_tagged, tag, data,
			       context,
			       exanet_tx_flags(fid) | FI_REMOTE_CQ_DATA);
}

static ssize_t exanet_tagged_injectdata(struct fid_ep *fid, const void *buf,
					size_t len, uint64_t data,
					fi_addr_t dst, uint64_t tag)
{
	return exanet_send_one(fid, buf, len, dst, ofi_op_tagged, tag, data,
			       NULL, FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_tagged exanet_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = exanet_tagged_recv,
	.recvv = exanet_tagged_recvv,
	.recvmsg = exanet_tagged_recvmsg,
	.send = exanet_tagged_send,
	.sendv = exanet_tagged_sendv,
	.sendmsg = exanet_tagged_sendmsg,
	.inject = exanet_tagged_inject,
	.senddata = exanet_tagged_senddata,
	.injectdata = exanet_tagged_injectdata,
};
