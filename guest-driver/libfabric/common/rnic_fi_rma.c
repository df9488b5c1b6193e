/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Reads and writes of remote memory. */

#include "rnic_fi.h"

struct rnic_fi_rma {
	const struct iovec	*iov;
	size_t			count;
	const struct fi_rma_iov	*rma;
	size_t			rma_count;
	void			*context;
	uint64_t		cq_data;
	uint64_t		flags;
	bool			write;
};

/*
 * Writes @len bytes from @src to @remote of the peer, by one or more PUTs of at most put_max
 * bytes that do not cross a multiple of put_boundary.  Returns 0 or -FI_ENOMEM.
 */
static int rnic_fi_rma_put(struct rnic_fi_op *op, const uint8_t *src,
			   uint64_t remote, size_t len)
{
	const struct rnic_fi_transport *transport = op->ep->domain->transport;
	uint32_t boundary = transport->put_boundary;
	struct rnic_fi_pkt *pkt;
	size_t part;

	for (; len; src += part, remote += part, len -= part) {
		part = MIN(len, boundary - (remote & (boundary - 1)));
		part = MIN(part, transport->put_max);
		pkt = rnic_fi_pkt_alloc(op->peer, RNIC_FI_PKT_PUT);
		if (!pkt)
			return -FI_ENOMEM;
		pkt->req.remote = remote;
		memcpy(pkt->req.data, src, part);
		pkt->req.len = part;
		pkt->op = op;
		op->pending++;
		rnic_fi_pkt_send(pkt);
	}
	return 0;
}

static int rnic_fi_rma_write(struct rnic_fi_op *op, const uint8_t *src,
			     uint64_t remote, size_t len)
{
	struct rnic_fi_peer *peer = op->peer;
	struct rnic_fi_pkt *pkt;

	/* A PUT has a copy of the data, which a write with FI_INJECT needs. */
	if (len <= MAX(peer->ep->domain->transport->put_max, RNIC_FI_INJECT_SIZE))
		return rnic_fi_rma_put(op, src, remote, len);
	pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_WRITE);
	if (!pkt)
		return -FI_ENOMEM;
	pkt->req.wake = peer->ep->domain->timer_fd >= 0;
	pkt->req.len = len;
	pkt->req.remote = remote;
	pkt->req.local = (void *)src;
	pkt->op = op;
	op->pending++;
	rnic_fi_pkt_send(pkt);
	return 0;
}

/*
 * Starts the transfer of one piece: @len bytes that are contiguous in local and in remote
 * memory.  Returns 0 or a negative FI_E code.
 */
static int rnic_fi_rma_piece(struct rnic_fi_op *op, const struct rnic_fi_rma *rma,
			     uint8_t *local, uint64_t addr, uint64_t key,
			     size_t len)
{
	uint64_t where;
	int ret;

	ret = rnic_fi_key_decode(op->ep->domain, key, addr, len, rma->write,
				 &where);
	if (ret)
		return ret;
	return rma->write ? rnic_fi_rma_write(op, local, where, len) :
			    rnic_fi_read_start(op, local, where, len);
}

static int rnic_fi_rma_pieces(struct rnic_fi_op *op, const struct rnic_fi_rma *rma)
{
	size_t i = 0, j = 0, done = 0, rma_done = 0, part;
	int ret;

	while (i < rma->count && j < rma->rma_count) {
		part = MIN(rma->iov[i].iov_len - done,
			   rma->rma[j].len - rma_done);
		part = MIN(part, RNIC_FI_REQUEST_MAX);
		if (part) {
			ret = rnic_fi_rma_piece(op, rma,
				(uint8_t *)rma->iov[i].iov_base + done,
				rma->rma[j].addr + rma_done, rma->rma[j].key,
				part);
			if (ret)
				return ret;
		}
		done += part;
		rma_done += part;
		if (done == rma->iov[i].iov_len) {
			i++;
			done = 0;
		}
		if (rma_done == rma->rma[j].len) {
			j++;
			rma_done = 0;
		}
	}
	return 0;
}

static int rnic_fi_rma_check(const struct rnic_fi_rma *rma)
{
	size_t len = ofi_total_iov_len(rma->iov, rma->count);

	if (rma->count > RNIC_FI_IOV_LIMIT ||
	    rma->rma_count > RNIC_FI_IOV_LIMIT ||
	    len != ofi_total_rma_iov_len(rma->rma, rma->rma_count))
		return -FI_EINVAL;
	if (rma->flags & FI_INJECT && len > RNIC_FI_INJECT_SIZE)
		return -FI_EINVAL;
	return 0;
}

/*
 * The end() of a write with CQ data; all requests of the write have ended.  Sends
 * WRITE_DATA, whose ack then completes the write.  If the write or the peer has failed, or
 * memory is lacking, completes the write with the error instead.
 */
static void rnic_fi_rma_announce(struct rnic_fi_op *op)
{
	struct rnic_fi_msg_write_data body = {
		.data = htole64(op->cq_data),
		.len = htole64(op->len),
	};
	struct rnic_fi_pkt *pkt = NULL;

	op->end = rnic_fi_op_end;
	if (!op->err)
		op->err = op->peer->dead;
	if (!op->err) {
		pkt = rnic_fi_pkt_alloc(op->peer, RNIC_FI_PKT_MSG);
		op->err = pkt ? 0 : FI_ENOMEM;
	}
	if (!pkt) {
		rnic_fi_op_end(op);
		return;
	}
	memcpy(rnic_fi_pkt_header(pkt, RNIC_FI_WRITE_DATA, 0), &body,
	       sizeof(body));
	pkt->req.len += sizeof(body);
	pkt->op = op;
	op->pending = 1;
	rnic_fi_pkt_send(pkt);
}

static ssize_t rnic_fi_rma(struct fid_ep *fid, fi_addr_t addr,
			   const struct rnic_fi_rma *rma)
{
	struct rnic_fi_ep *ep = rnic_fi_ep_of(fid);
	struct rnic_fi_peer *peer;
	struct rnic_fi_op *op;
	int ret;

	ret = rnic_fi_rma_check(rma);
	if (ret)
		return ret;
	rnic_fi_lock(ep->domain);
	ret = rnic_fi_peer_get(ep, addr, &peer);
	if (!ret)
		ret = rnic_fi_op_alloc(peer, RNIC_FI_OP_TX, rma->write ?
				       ofi_op_write : ofi_op_read_req,
				       rma->context, rma->flags, &op);
	if (!ret) {
		op->cq_data = rma->cq_data;
		op->len = ofi_total_iov_len(rma->iov, rma->count);
		if (rma->write && rma->flags & FI_REMOTE_CQ_DATA)
			op->end = rnic_fi_rma_announce;
		/*
		 * This function counts as one pending part, because @op must exist until
		 * all pieces are posted or queued.
		 */
		op->pending = 1;
		rnic_fi_op_put(op, rnic_fi_rma_pieces(op, rma));
	} else if (ret == -FI_EAGAIN) {
		(void) rnic_fi_domain_progress(ep->domain);
	}
	rnic_fi_unlock(ep->domain);
	return ret;
}

static ssize_t rnic_fi_rma_v(struct fid_ep *fid, const struct iovec *iov,
			     size_t count, fi_addr_t peer, uint64_t addr,
			     uint64_t key, bool write, uint64_t data,
			     void *context, uint64_t flags)
{
	struct fi_rma_iov remote = {
		.addr = addr,
		.len = ofi_total_iov_len(iov, count),
		.key = key,
	};
	struct rnic_fi_rma rma = {
		.iov = iov,
		.count = count,
		.rma = &remote,
		.rma_count = 1,
		.context = context,
		.cq_data = data,
		.flags = flags,
		.write = write,
	};

	return rnic_fi_rma(fid, peer, &rma);
}

static ssize_t rnic_fi_rma_msg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			       bool write, uint64_t flags)
{
	struct rnic_fi_rma rma = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.rma = msg->rma_iov,
		.rma_count = msg->rma_iov_count,
		.context = msg->context,
		.cq_data = msg->data,
		.flags = flags | rnic_fi_ep_of(fid)->util_ep.tx_msg_flags,
		.write = write,
	};

	return rnic_fi_rma(fid, msg->addr, &rma);
}

static uint64_t rnic_fi_rma_flags(struct fid_ep *fid)
{
	return rnic_fi_ep_of(fid)->util_ep.tx_op_flags;
}

static ssize_t rnic_fi_rma_read(struct fid_ep *fid, void *buf, size_t len,
				void *desc, fi_addr_t src, uint64_t addr,
				uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return rnic_fi_rma_v(fid, &iov, 1, src, addr, key, false, 0, context,
			     rnic_fi_rma_flags(fid));
}

static ssize_t rnic_fi_rma_readv(struct fid_ep *fid, const struct iovec *iov,
				 void **desc, size_t count, fi_addr_t src,
				 uint64_t addr, uint64_t key, void *context)
{
	return rnic_fi_rma_v(fid, iov, count, src, addr, key, false, 0, context,
			     rnic_fi_rma_flags(fid));
}

static ssize_t rnic_fi_rma_readmsg(struct fid_ep *fid,
				   const struct fi_msg_rma *msg, uint64_t flags)
{
	return rnic_fi_rma_msg(fid, msg, false, flags);
}

static ssize_t rnic_fi_rma_write1(struct fid_ep *fid, const void *buf,
				  size_t len, void *desc, fi_addr_t dst,
				  uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rnic_fi_rma_v(fid, &iov, 1, dst, addr, key, true, 0, context,
			     rnic_fi_rma_flags(fid));
}

static ssize_t rnic_fi_rma_writev(struct fid_ep *fid, const struct iovec *iov,
				  void **desc, size_t count, fi_addr_t dst,
				  uint64_t addr, uint64_t key, void *context)
{
	return rnic_fi_rma_v(fid, iov, count, dst, addr, key, true, 0, context,
			     rnic_fi_rma_flags(fid));
}

static ssize_t rnic_fi_rma_writemsg(struct fid_ep *fid,
				    const struct fi_msg_rma *msg,
				    uint64_t flags)
{
	return rnic_fi_rma_msg(fid, msg, true, flags);
}

static ssize_t rnic_fi_rma_inject(struct fid_ep *fid, const void *buf,
				  size_t len, fi_addr_t dst, uint64_t addr,
				  uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rnic_fi_rma_v(fid, &iov, 1, dst, addr, key, true, 0, NULL,
			     FI_INJECT);
}

static ssize_t rnic_fi_rma_writedata(struct fid_ep *fid, const void *buf,
				     size_t len, void *desc, uint64_t data,
				     fi_addr_t dst, uint64_t addr, uint64_t key,
				     void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rnic_fi_rma_v(fid, &iov, 1, dst, addr, key, true, data, context,
			     rnic_fi_rma_flags(fid) | FI_REMOTE_CQ_DATA);
}

static ssize_t rnic_fi_rma_injectdata(struct fid_ep *fid, const void *buf,
				      size_t len, uint64_t data, fi_addr_t dst,
				      uint64_t addr, uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rnic_fi_rma_v(fid, &iov, 1, dst, addr, key, true, data, NULL,
			     FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_rma rnic_fi_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = rnic_fi_rma_read,
	.readv = rnic_fi_rma_readv,
	.readmsg = rnic_fi_rma_readmsg,
	.write = rnic_fi_rma_write1,
	.writev = rnic_fi_rma_writev,
	.writemsg = rnic_fi_rma_writemsg,
	.inject = rnic_fi_rma_inject,
	.writedata = rnic_fi_rma_writedata,
	.injectdata = rnic_fi_rma_injectdata,
};
