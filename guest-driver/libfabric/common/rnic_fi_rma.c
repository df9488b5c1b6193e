/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Reads and writes of remote memory. */

#include "rnic_fi.h"

struct exanet_rma {
	const struct iovec	*iov;
	size_t			count;
	const struct fi_rma_iov	*rma;
	size_t			rma_count;
	void			*context;
	uint64_t		cq_data;
	uint64_t		flags;
	bool			write;
};

/* One small write is up to two packets: they must not cross 256 bytes. */
static int exanet_rma_put(struct exanet_op *op, const uint8_t *src,
			  uint64_t xva, size_t len)
{
	struct exanet_pkt *pkt;
	size_t part;

	for (; len; src += part, xva += part, len -= part) {
		part = MIN(len, EXA_PUT_BOUNDARY - xva % EXA_PUT_BOUNDARY);
		pkt = exanet_pkt_alloc(op->peer, EXANET_PKT_PUT);
		if (!pkt)
			return -FI_ENOMEM;
		pkt->gva = exa_gva(op->peer->to.coord, xva);
		memcpy(pkt->data, src, part);
		pkt->len = part;
		pkt->op = op;
		op->pending++;
		exanet_pkt_send(pkt);
	}
	return 0;
}

static int exanet_rma_write(struct exanet_op *op, const uint8_t *src,
			    uint64_t xva, size_t len)
{
	struct exanet_peer *peer = op->peer;
	struct exanet_pkt *pkt;

	if (len <= EXA_MSG_MAX)
		return exanet_rma_put(op, src, xva, len);
	pkt = exanet_pkt_alloc(peer, EXANET_PKT_WRITE);
	if (!pkt)
		return -FI_ENOMEM;
	pkt->wr = (struct exa_write_attr) {
		.src = src,
		.dst_gva = exa_gva(peer->to.coord, xva),
		.len = len,
		.dst_ctx = peer->to.ctx,
		.flags = peer->ep->domain->timer_fd >= 0 ? EXA_WRITE_WAKE : 0,
	};
	pkt->op = op;
	op->pending++;
	exanet_pkt_send(pkt);
	return 0;
}

/* One contiguous piece on both sides. */
static int exanet_rma_piece(struct exanet_op *op, const struct exanet_rma *rma,
			    uint8_t *local, uint64_t addr, uint64_t key,
			    size_t len)
{
	uint64_t where;
	int ret;

	ret = exanet_key_decode(op->ep->domain, key, addr, len, rma->write,
				&where);
	if (ret)
		return ret;
	return rma->write ? exanet_rma_write(op, local, where, len) :
			    exanet_read_start(op, local, where, len);
}

static int exanet_rma_pieces(struct exanet_op *op, const struct exanet_rma *rma)
{
	size_t i = 0, j = 0, done = 0, rma_done = 0, part;
	int ret;

	while (i < rma->count && j < rma->rma_count) {
		part = MIN(rma->iov[i].iov_len - done,
			   rma->rma[j].len - rma_done);
		part = MIN(part, EXANET_READ_CHUNK);
		if (part) {
			ret = exanet_rma_piece(op, rma,
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

static int exanet_rma_check(const struct exanet_rma *rma)
{
	size_t len = ofi_total_iov_len(rma->iov, rma->count);

	if (rma->count > EXANET_IOV_LIMIT ||
	    rma->rma_count > EXANET_IOV_LIMIT ||
	    len != ofi_total_rma_iov_len(rma->rma, rma->rma_count))
		return -FI_EINVAL;
	if (rma->flags & FI_INJECT && len > EXANET_INJECT_SIZE)
		return -FI_EINVAL;
	return 0;
}

static ssize_t exanet_rma(struct fid_ep *fid, fi_addr_t addr,
			  const struct exanet_rma *rma)
{
	struct exanet_ep *ep = exanet_ep_of(fid);
	struct exanet_peer *peer;
	struct exanet_op *op;
	int ret;

	ret = exanet_rma_check(rma);
	if (ret)
		return ret;
	exanet_lock(ep->domain);
	ret = exanet_peer_get(ep, addr, &peer);
	if (!ret)
		ret = exanet_op_alloc(peer, EXANET_OP_TX, rma->write ?
				      ofi_op_write : ofi_op_read_req,
				      rma->context, rma->flags, &op);
	if (!ret) {
		op->cq_data = rma->cq_data;
		op->len = ofi_total_iov_len(rma->iov, rma->count);
		/* Ours, so that the op lives until all pieces are posted. */
		op->pending = 1;
		exanet_op_put(op, exanet_rma_pieces(op, rma));
	} else if (ret == -FI_EAGAIN) {
		exanet_domain_progress(ep->domain);
	}
	exanet_unlock(ep->domain);
	return ret;
}

static ssize_t exanet_rma_v(struct fid_ep *fid, const struct iovec *iov,
			    size_t count, fi_addr_t peer, uint64_t addr,
			    uint64_t key, bool write, uint64_t data,
			    void *context, uint64_t flags)
{
	struct fi_rma_iov remote = {
		.addr = addr,
		.len = ofi_total_iov_len(iov, count),
		.key = key,
	};
	struct exanet_rma rma = {
		.iov = iov,
		.count = count,
		.rma = &remote,
		.rma_count = 1,
		.context = context,
		.cq_data = data,
		.flags = flags,
		.write = write,
	};

	return exanet_rma(fid, peer, &rma);
}

static ssize_t exanet_rma_msg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			      bool write, uint64_t flags)
{
	struct exanet_rma rma = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.rma = msg->rma_iov,
		.rma_count = msg->rma_iov_count,
		.context = msg->context,
		.cq_data = msg->data,
		.flags = flags | exanet_ep_of(fid)->util_ep.tx_msg_flags,
		.write = write,
	};

	return exanet_rma(fid, msg->addr, &rma);
}

static uint64_t exanet_rma_flags(struct fid_ep *fid)
{
	return exanet_ep_of(fid)->util_ep.tx_op_flags;
}

static ssize_t exanet_rma_read(struct fid_ep *fid, void *buf, size_t len,
			       void *desc, fi_addr_t src, uint64_t addr,
			       uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	return exanet_rma_v(fid, &iov, 1, src, addr, key, false, 0, context,
			    exanet_rma_flags(fid));
}

static ssize_t exanet_rma_readv(struct fid_ep *fid, const struct iovec *iov,
				void **desc, size_t count, fi_addr_t src,
				uint64_t addr, uint64_t key, void *context)
{
	return exanet_rma_v(fid, iov, count, src, addr, key, false, 0, context,
			    exanet_rma_flags(fid));
}

static ssize_t exanet_rma_readmsg(struct fid_ep *fid,
				  const struct fi_msg_rma *msg, uint64_t flags)
{
	return exanet_rma_msg(fid, msg, false, flags);
}

static ssize_t exanet_rma_write1(struct fid_ep *fid, const void *buf,
				 size_t len, void *desc, fi_addr_t dst,
				 uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return exanet_rma_v(fid, &iov, 1, dst, addr, key, true, 0, context,
			    exanet_rma_flags(fid));
}

static ssize_t exanet_rma_writev(struct fid_ep *fid, const struct iovec *iov,
				 void **desc, size_t count, fi_addr_t dst,
				 uint64_t addr, uint64_t key, void *context)
{
	return exanet_rma_v(fid, iov, count, dst, addr, key, true, 0, context,
			    exanet_rma_flags(fid));
}

static ssize_t exanet_rma_writemsg(struct fid_ep *fid,
				   const struct fi_msg_rma *msg,
				   uint64_t flags)
{
	return exanet_rma_msg(fid, msg, true, flags);
}

static ssize_t exanet_rma_inject(struct fid_ep *fid, const void *buf,
				 size_t len, fi_addr_t dst, uint64_t addr,
				 uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return exanet_rma_v(fid, &iov, 1, dst, addr, key, true, 0, NULL,
			    FI_INJECT);
}

static ssize_t exanet_rma_writedata(struct fid_ep *fid, const void *buf,
				    size_t len, void *desc, uint64_t data,
				    fi_addr_t dst, uint64_t addr, uint64_t key,
				    void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return exanet_rma_v(fid, &iov, 1, dst, addr, key, true, data, context,
			    exanet_rma_flags(fid) | FI_REMOTE_CQ_DATA);
}

static ssize_t exanet_rma_injectdata(struct fid_ep *fid, const void *buf,
				     size_t len, uint64_t data, fi_addr_t dst,
				     uint64_t addr, uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return exanet_rma_v(fid, &iov, 1, dst, addr, key, true, data, NULL,
			    FI_INJECT | FI_REMOTE_CQ_DATA);
}

struct fi_ops_rma exanet_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = exanet_rma_read,
	.readv = exanet_rma_readv,
	.readmsg = exanet_rma_readmsg,
	.write = exanet_rma_write1,
	.writev = exanet_rma_writev,
	.writemsg = exanet_rma_writemsg,
	.inject = exanet_rma_inject,
	.writedata = exanet_rma_writedata,
	.injectdata = exanet_rma_injectdata,
};
