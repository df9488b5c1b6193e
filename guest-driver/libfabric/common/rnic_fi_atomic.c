/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Atomic operations.  The initiator sends ATOMIC.  The provider of the target executes the
 * operation with atomic instructions of the processor, and answers ATOMIC_RSP.
 */

#include "rnic_fi.h"

struct rnic_fi_atomic {
	const struct fi_ioc	*ioc;
	size_t			count;
	const struct fi_ioc	*compare;
	size_t			compare_count;
	const struct fi_ioc	*result;
	size_t			result_count;
	const struct fi_rma_ioc	*rma;
	size_t			rma_count;
	enum fi_datatype	datatype;
	enum fi_op		op;
	enum rnic_fi_atomic_kind kind;
	void			*context;
	uint64_t		flags;
};

static const uint32_t rnic_fi_atomic_ofi_op[] = {
	[RNIC_FI_ATOMIC_WRITE] = ofi_op_atomic,
	[RNIC_FI_ATOMIC_FETCH] = ofi_op_atomic_fetch,
	[RNIC_FI_ATOMIC_COMPARE] = ofi_op_atomic_compare,
};

static const uint64_t rnic_fi_atomic_query_flag[] = {
	[RNIC_FI_ATOMIC_WRITE] = 0,
	[RNIC_FI_ATOMIC_FETCH] = FI_FETCH_ATOMIC,
	[RNIC_FI_ATOMIC_COMPARE] = FI_COMPARE_ATOMIC,
};

static int rnic_fi_atomic_limits(const struct fi_provider *prov,
				 enum fi_datatype datatype, enum fi_op op,
				 struct fi_atomic_attr *attr, uint64_t flags)
{
	size_t size, room = RNIC_FI_ATOMIC_BYTES;
	int ret;

	if (flags & FI_TAGGED)
		return -FI_EOPNOTSUPP;
	ret = ofi_atomic_valid(prov, datatype, op, flags);
	if (ret)
		return ret;
	size = ofi_datatype_size(datatype);
	/*
	 * The processor cannot execute an operation atomically if an operand needs several
	 * accesses.
	 */
	if (!size || size > sizeof(uint64_t))
		return -FI_EOPNOTSUPP;
	if (flags & FI_COMPARE_ATOMIC)
		room /= 2;
	if (attr) {
		attr->size = size;
		attr->count = room / size;
	}
	return 0;
}

int rnic_fi_atomic_query(struct fid_domain *domain, enum fi_datatype datatype,
			 enum fi_op op, struct fi_atomic_attr *attr,
			 uint64_t flags)
{
	return rnic_fi_atomic_limits(rnic_fi_prov(rnic_fi_domain_of(domain)),
				     datatype, op, attr, flags);
}

/* --- Initiator -------------------------------------------------------------- */

static size_t rnic_fi_ioc_gather(uint8_t *out, const struct fi_ioc *ioc,
				 size_t count, size_t size)
{
	size_t i, len = 0;

	for (i = 0; i < count; i++) {
		memcpy(out + len, ioc[i].addr, ioc[i].count * size);
		len += ioc[i].count * size;
	}
	return len;
}

static int rnic_fi_atomic_check(const struct rnic_fi_ep *ep,
				const struct rnic_fi_atomic *at)
{
	struct fi_atomic_attr attr;
	size_t n;
	int ret;

	ret = rnic_fi_atomic_limits(rnic_fi_prov(ep->domain), at->datatype, at->op,
				    &attr, rnic_fi_atomic_query_flag[at->kind]);
	if (ret)
		return ret;
	if (at->rma_count != 1 || at->count > RNIC_FI_IOV_LIMIT ||
	    at->compare_count > RNIC_FI_IOV_LIMIT ||
	    at->result_count > RNIC_FI_IOV_LIMIT)
		return -FI_EINVAL;
	n = at->rma[0].count;
	if (!n || n > attr.count)
		return -FI_EMSGSIZE;
	if ((at->op != FI_ATOMIC_READ &&
	     ofi_total_ioc_cnt(at->ioc, at->count) != n) ||
	    (at->kind == RNIC_FI_ATOMIC_COMPARE &&
	     ofi_total_ioc_cnt(at->compare, at->compare_count) != n) ||
	    (at->kind != RNIC_FI_ATOMIC_WRITE &&
	     ofi_total_ioc_cnt(at->result, at->result_count) != n))
		return -FI_EINVAL;
	return 0;
}

static void rnic_fi_atomic_fill(struct rnic_fi_pkt *pkt, struct rnic_fi_op *op,
				const struct rnic_fi_atomic *at)
{
	struct rnic_fi_domain *domain = op->ep->domain;
	size_t size = ofi_datatype_size(at->datatype);
	uint64_t key = at->rma[0].key, addr = at->rma[0].addr;
	struct rnic_fi_msg_atomic hdr = {
		.key = htole64(key),
		.offset = htole64(rnic_fi_virt_addr(domain) ?
				  addr - RNIC_GET(RNIC_FI_KEY_VA, key) :
				  addr),
		.id = htole32(op->id),
		.op = at->op,
		.datatype = at->datatype,
		.count = at->rma[0].count,
		.kind = at->kind,
	};
	uint8_t *out = rnic_fi_pkt_header(pkt, RNIC_FI_ATOMIC, 0);
	size_t len = sizeof(hdr);

	memcpy(out, &hdr, sizeof(hdr));
	if (at->op != FI_ATOMIC_READ)
		len += rnic_fi_ioc_gather(out + len, at->ioc, at->count, size);
	if (at->kind == RNIC_FI_ATOMIC_COMPARE)
		len += rnic_fi_ioc_gather(out + len, at->compare,
					  at->compare_count, size);
	pkt->req.len += len;
}

static int rnic_fi_atomic_send(struct rnic_fi_peer *peer,
			       const struct rnic_fi_atomic *at)
{
	size_t size = ofi_datatype_size(at->datatype), i;
	struct rnic_fi_pkt *pkt;
	struct rnic_fi_op *op;
	int ret;

	if (peer->queued >= RNIC_FI_PEER_QUEUE)
		return -FI_EAGAIN;
	pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_MSG);
	if (!pkt)
		return -FI_ENOMEM;
	ret = rnic_fi_op_alloc(peer, RNIC_FI_OP_ATOMIC,
			       rnic_fi_atomic_ofi_op[at->kind], at->context,
			       at->flags, &op);
	if (ret) {
		rnic_fi_pkt_free(pkt);
		return ret;
	}
	op->pending = 1;
	op->len = at->kind == RNIC_FI_ATOMIC_WRITE ? 0 :
		  at->rma[0].count * size;
	op->result_count = at->result_count;
	for (i = 0; i < at->result_count; i++) {
		op->result[i].iov_base = at->result[i].addr;
		op->result[i].iov_len = at->result[i].count * size;
	}
	rnic_fi_atomic_fill(pkt, op, at);
	rnic_fi_pkt_send(pkt);
	return 0;
}

static ssize_t rnic_fi_atomic(struct fid_ep *fid, fi_addr_t addr,
			      const struct rnic_fi_atomic *at)
{
	struct rnic_fi_ep *ep = rnic_fi_ep_of(fid);
	struct rnic_fi_peer *peer;
	int ret;

	ret = rnic_fi_atomic_check(ep, at);
	if (ret)
		return ret;
	rnic_fi_lock(ep->domain);
	ret = rnic_fi_peer_get(ep, addr, &peer);
	if (!ret)
		ret = rnic_fi_atomic_send(peer, at);
	if (ret == -FI_EAGAIN)
		(void) rnic_fi_domain_progress(ep->domain);
	rnic_fi_unlock(ep->domain);
	return ret;
}

void rnic_fi_atomic_finish(struct rnic_fi_peer *peer,
			   const struct rnic_fi_body *body)
{
	struct rnic_fi_op *op = rnic_fi_op_find(peer, RNIC_FI_OP_ATOMIC,
						body->fin.id);
	int err = body->fin.err;

	if (!op)
		return;
	if (!err && body->len < op->len)
		err = FI_EIO;
	if (!err)
		ofi_copy_to_iov(op->result, op->result_count, 0,
				(void *)body->data, op->len);
	rnic_fi_op_put(op, err);
}

/* --- Target ----------------------------------------------------------------- */

/*
 * Returns true if the provider supports the operation of @body, and @body has all operands.
 */
static bool rnic_fi_atomic_known(const struct fi_provider *prov,
				 const struct rnic_fi_body *body)
{
	struct fi_atomic_attr attr;
	size_t need;

	if (body->atomic.datatype >= OFI_DATATYPE_CNT ||
	    body->atomic.op >= OFI_ATOMIC_OP_LAST ||
	    rnic_fi_atomic_limits(prov, body->atomic.datatype, body->atomic.op,
				  &attr,
				  rnic_fi_atomic_query_flag[body->atomic.kind]) ||
	    !body->atomic.count || body->atomic.count > attr.count)
		return false;
	need = body->atomic.op == FI_ATOMIC_READ ? 0 :
	       body->atomic.count * attr.size;
	if (body->atomic.kind == RNIC_FI_ATOMIC_COMPARE)
		need *= 2;
	return body->len >= need;
}

static void rnic_fi_atomic_do(const struct rnic_fi_body *body, void *dst,
			      uint8_t *src, uint8_t *result)
{
	enum fi_datatype datatype = body->atomic.datatype;
	enum fi_op op = body->atomic.op;
	size_t count = body->atomic.count;

	switch (body->atomic.kind) {
	case RNIC_FI_ATOMIC_COMPARE:
		ofi_atomic_swap_handler(op, datatype, dst, src,
					src + count *
					ofi_datatype_size(datatype),
					result, count);
		break;
	case RNIC_FI_ATOMIC_FETCH:
		ofi_atomic_readwrite_handler(op, datatype, dst, src, result,
					     count);
		break;
	default:
		ofi_atomic_write_handler(op, datatype, dst, src, count);
		break;
	}
}

static int rnic_fi_atomic_run(struct rnic_fi_peer *peer,
			      const struct rnic_fi_body *body, uint8_t *result,
			      size_t *result_len)
{
	uint64_t src[RNIC_FI_ATOMIC_BYTES / sizeof(uint64_t)] = { 0 };
	uint64_t access = FI_REMOTE_WRITE;
	size_t size, bytes;
	void *dst;

	if (!rnic_fi_atomic_known(rnic_fi_prov(peer->ep->domain), body))
		return FI_EOPNOTSUPP;
	size = ofi_datatype_size(body->atomic.datatype);
	bytes = body->atomic.count * size;
	if (body->atomic.op == FI_ATOMIC_READ)
		access = FI_REMOTE_READ;
	else if (body->atomic.kind != RNIC_FI_ATOMIC_WRITE)
		access |= FI_REMOTE_READ;
	dst = rnic_fi_mr_find(peer->ep->domain, body->atomic.key,
			      body->atomic.offset, bytes, access);
	if (!dst)
		return FI_EACCES;
	if ((uintptr_t)dst % size)
		return FI_EINVAL;
	memcpy(src, body->data, MIN(body->len, sizeof(src)));
	rnic_fi_atomic_do(body, dst, (uint8_t *)src, result);
	*result_len = body->atomic.kind == RNIC_FI_ATOMIC_WRITE ? 0 : bytes;
	ofi_ep_peer_rx_cntr_inc(&peer->ep->util_ep,
				rnic_fi_atomic_ofi_op[body->atomic.kind]);
	return 0;
}

void rnic_fi_atomic_execute(struct rnic_fi_peer *peer,
			    const struct rnic_fi_body *body)
{
	struct rnic_fi_msg_fin rsp;
	uint64_t result[RNIC_FI_ATOMIC_BYTES / sizeof(uint64_t)];
	uint8_t out[sizeof(rsp) + sizeof(result)];
	size_t result_len = 0;
	int err;

	err = rnic_fi_atomic_run(peer, body, (uint8_t *)result, &result_len);
	rsp.id = htole32(body->atomic.id);
	rsp.status = htole32(err);
	memcpy(out, &rsp, sizeof(rsp));
	memcpy(out + sizeof(rsp), result, result_len);
	if (rnic_fi_pkt_send_simple(peer, RNIC_FI_ATOMIC_RSP, out,
				    sizeof(rsp) + result_len))
		rnic_fi_peer_fail(peer, FI_ENOMEM);
}

/* --- The calls of the interface --------------------------------------------- */

static uint64_t rnic_fi_atomic_flags(struct fid_ep *fid)
{
	return rnic_fi_ep_of(fid)->util_ep.tx_op_flags;
}

static ssize_t rnic_fi_atomic_v(struct fid_ep *fid, struct rnic_fi_atomic *at,
				fi_addr_t dst, uint64_t addr, uint64_t key,
				size_t count)
{
	struct fi_rma_ioc rma = { .addr = addr, .count = count, .key = key };

	at->rma = &rma;
	at->rma_count = 1;
	return rnic_fi_atomic(fid, dst, at);
}

static void rnic_fi_atomic_of_msg(struct fid_ep *fid,
				  const struct fi_msg_atomic *msg,
				  uint64_t flags, struct rnic_fi_atomic *at)
{
	at->ioc = msg->msg_iov;
	at->count = msg->iov_count;
	at->rma = msg->rma_iov;
	at->rma_count = msg->rma_iov_count;
	at->datatype = msg->datatype;
	at->op = msg->op;
	at->context = msg->context;
	at->flags = flags | rnic_fi_ep_of(fid)->util_ep.tx_msg_flags;
}

static ssize_t rnic_fi_atomic_writev(struct fid_ep *fid,
				     const struct fi_ioc *ioc, void **desc,
				     size_t count, fi_addr_t dst, uint64_t addr,
				     uint64_t key, enum fi_datatype datatype,
				     enum fi_op op, void *context)
{
	struct rnic_fi_atomic at = {
		.ioc = ioc,
		.count = count,
		.datatype = datatype,
		.op = op,
		.kind = RNIC_FI_ATOMIC_WRITE,
		.context = context,
		.flags = rnic_fi_atomic_flags(fid),
	};

	return rnic_fi_atomic_v(fid, &at, dst, addr, key,
				ofi_total_ioc_cnt(ioc, count));
}

static ssize_t rnic_fi_atomic_write(struct fid_ep *fid, const void *buf,
				    size_t count, void *desc, fi_addr_t dst,
				    uint64_t addr, uint64_t key,
				    enum fi_datatype datatype, enum fi_op op,
				    void *context)
{
	struct fi_ioc ioc = { .addr = (void *)buf, .count = count };

	return rnic_fi_atomic_writev(fid, &ioc, &desc, 1, dst, addr, key,
				     datatype, op, context);
}

static ssize_t rnic_fi_atomic_writemsg(struct fid_ep *fid,
				       const struct fi_msg_atomic *msg,
				       uint64_t flags)
{
	struct rnic_fi_atomic at = { .kind = RNIC_FI_ATOMIC_WRITE };

	rnic_fi_atomic_of_msg(fid, msg, flags, &at);
	return rnic_fi_atomic(fid, msg->addr, &at);
}

static ssize_t rnic_fi_atomic_inject(struct fid_ep *fid, const void *buf,
				     size_t count, fi_addr_t dst, uint64_t addr,
				     uint64_t key, enum fi_datatype datatype,
				     enum fi_op op)
{
	struct fi_ioc ioc = { .addr = (void *)buf, .count = count };
	struct rnic_fi_atomic at = {
		.ioc = &ioc,
		.count = 1,
		.datatype = datatype,
		.op = op,
		.kind = RNIC_FI_ATOMIC_WRITE,
		.flags = FI_INJECT,
	};

	return rnic_fi_atomic_v(fid, &at, dst, addr, key, count);
}

static ssize_t rnic_fi_atomic_readwritev(struct fid_ep *fid,
					 const struct fi_ioc *ioc, void **desc,
					 size_t count, struct fi_ioc *result,
					 void **result_desc,
					 size_t result_count, fi_addr_t dst,
					 uint64_t addr, uint64_t key,
					 enum fi_datatype datatype,
					 enum fi_op op, void *context)
{
	struct rnic_fi_atomic at = {
		.ioc = ioc,
		.count = count,
		.result = result,
		.result_count = result_count,
		.datatype = datatype,
		.op = op,
		.kind = RNIC_FI_ATOMIC_FETCH,
		.context = context,
		.flags = rnic_fi_atomic_flags(fid),
	};

	return rnic_fi_atomic_v(fid, &at, dst, addr, key,
				ofi_total_ioc_cnt(result, result_count));
}

static ssize_t rnic_fi_atomic_readwrite(struct fid_ep *fid, const void *buf,
					size_t count, void *desc, void *result,
					void *result_desc, fi_addr_t dst,
					uint64_t addr, uint64_t key,
					enum fi_datatype datatype,
					enum fi_op op, void *context)
{
	struct fi_ioc ioc = { .addr = (void *)buf, .count = count };
	struct fi_ioc res = { .addr = result, .count = count };

	return rnic_fi_atomic_readwritev(fid, &ioc, &desc, 1, &res, &result_desc,
					 1, dst, addr, key, datatype, op,
					 context);
}

static ssize_t rnic_fi_atomic_readwritemsg(struct fid_ep *fid,
					   const struct fi_msg_atomic *msg,
					   struct fi_ioc *result,
					   void **result_desc,
					   size_t result_count, uint64_t flags)
{
	struct rnic_fi_atomic at = {
		.result = result,
		.result_count = result_count,
		.kind = RNIC_FI_ATOMIC_FETCH,
	};

	rnic_fi_atomic_of_msg(fid, msg, flags, &at);
	return rnic_fi_atomic(fid, msg->addr, &at);
}

static ssize_t rnic_fi_atomic_compwritev(struct fid_ep *fid,
					 const struct fi_ioc *ioc, void **desc,
					 size_t count,
					 const struct fi_ioc *compare,
					 void **compare_desc,
					 size_t compare_count,
					 struct fi_ioc *result,
					 void **result_desc,
					 size_t result_count, fi_addr_t dst,
					 uint64_t addr, uint64_t key,
					 enum fi_datatype datatype,
					 enum fi_op op, void *context)
{
	struct rnic_fi_atomic at = {
		.ioc = ioc,
		.count = count,
		.compare = compare,
		.compare_count = compare_count,
		.result = result,
		.result_count = result_count,
		.datatype = datatype,
		.op = op,
		.kind = RNIC_FI_ATOMIC_COMPARE,
		.context = context,
		.flags = rnic_fi_atomic_flags(fid),
	};

	return rnic_fi_atomic_v(fid, &at, dst, addr, key,
				ofi_total_ioc_cnt(ioc, count));
}

static ssize_t rnic_fi_atomic_compwrite(struct fid_ep *fid, const void *buf,
					size_t count, void *desc,
					const void *compare, void *compare_desc,
					void *result, void *result_desc,
					fi_addr_t dst, uint64_t addr,
					uint64_t key, enum fi_datatype datatype,
					enum fi_op op, void *context)
{
	struct fi_ioc ioc = { .addr = (void *)buf, .count = count };
	struct fi_ioc cmp = { .addr = (void *)compare, .count = count };
	struct fi_ioc res = { .addr = result, .count = count };

	return rnic_fi_atomic_compwritev(fid, &ioc, &desc, 1, &cmp,
					 &compare_desc, 1, &res, &result_desc,
					 1, dst, addr, key, datatype, op,
					 context);
}

static ssize_t rnic_fi_atomic_compwritemsg(struct fid_ep *fid,
					   const struct fi_msg_atomic *msg,
					   const struct fi_ioc *compare,
					   void **compare_desc,
					   size_t compare_count,
					   struct fi_ioc *result,
					   void **result_desc,
					   size_t result_count, uint64_t flags)
{
	struct rnic_fi_atomic at = {
		.compare = compare,
		.compare_count = compare_count,
		.result = result,
		.result_count = result_count,
		.kind = RNIC_FI_ATOMIC_COMPARE,
	};

	rnic_fi_atomic_of_msg(fid, msg, flags, &at);
	return rnic_fi_atomic(fid, msg->addr, &at);
}

static int rnic_fi_atomic_count(struct fid_ep *fid, enum fi_datatype datatype,
				enum fi_op op, size_t *count, uint64_t flags)
{
	const struct rnic_fi_domain *domain = rnic_fi_ep_of(fid)->domain;
	struct fi_atomic_attr attr;
	int ret = rnic_fi_atomic_limits(rnic_fi_prov(domain), datatype, op, &attr,
					flags);

	if (!ret)
		*count = attr.count;
	return ret;
}

static int rnic_fi_atomic_writevalid(struct fid_ep *fid,
				     enum fi_datatype datatype, enum fi_op op,
				     size_t *count)
{
	return rnic_fi_atomic_count(fid, datatype, op, count, 0);
}

static int rnic_fi_atomic_readwritevalid(struct fid_ep *fid,
					 enum fi_datatype datatype,
					 enum fi_op op, size_t *count)
{
	return rnic_fi_atomic_count(fid, datatype, op, count, FI_FETCH_ATOMIC);
}

static int rnic_fi_atomic_compwritevalid(struct fid_ep *fid,
					 enum fi_datatype datatype,
					 enum fi_op op, size_t *count)
{
	return rnic_fi_atomic_count(fid, datatype, op, count, FI_COMPARE_ATOMIC);
}

struct fi_ops_atomic rnic_fi_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = rnic_fi_atomic_write,
	.writev = rnic_fi_atomic_writev,
	.writemsg = rnic_fi_atomic_writemsg,
	.inject = rnic_fi_atomic_inject,
	.readwrite = rnic_fi_atomic_readwrite,
	.readwritev = rnic_fi_atomic_readwritev,
	.readwritemsg = rnic_fi_atomic_readwritemsg,
	.compwrite = rnic_fi_atomic_compwrite,
	.compwritev = rnic_fi_atomic_compwritev,
	.compwritemsg = rnic_fi_atomic_compwritemsg,
	.writevalid = rnic_fi_atomic_writevalid,
	.readwritevalid = rnic_fi_atomic_readwritevalid,
	.compwritevalid = rnic_fi_atomic_compwritevalid,
};
