/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Memory regions.  The transport exposes the memory of a region, and names this memory by a
 * number, the base.  The key of the region contains base, length and rights.  Initiators
 * check the key before a read or write; the target of an atomic finds the region by the
 * key.
 */

#include "rnic_fi.h"

#define RNIC_FI_KEY_MANTISSA_BITS 5

/*
 * Returns the fields MANTISSA and EXPONENT of a key for the shortest length that these fields
 * can express and that is not less than @len (bytes).
 */
static uint64_t rnic_fi_key_length(size_t len)
{
	uint64_t exponent = 0, mantissa = len;
	const uint64_t one = 1U << RNIC_FI_KEY_MANTISSA_BITS;

	while (mantissa >= 2 * one) {
		mantissa = (mantissa + 1) >> 1;
		exponent++;
	}
	if (mantissa >= one) {
		mantissa -= one;
		exponent++;
	}
	return RNIC_PREP(RNIC_FI_KEY_EXPONENT, exponent) |
	       RNIC_PREP(RNIC_FI_KEY_MANTISSA, mantissa);
}

static uint64_t rnic_fi_key_bound(uint64_t key)
{
	uint64_t exponent = RNIC_GET(RNIC_FI_KEY_EXPONENT, key);
	uint64_t mantissa = RNIC_GET(RNIC_FI_KEY_MANTISSA, key);

	if (!exponent)
		return mantissa;
	return (mantissa + (1ULL << RNIC_FI_KEY_MANTISSA_BITS)) <<
	       (exponent - 1);
}

int rnic_fi_key_decode(const struct rnic_fi_domain *domain, uint64_t key,
		       uint64_t addr, size_t len, bool write, uint64_t *where)
{
	uint64_t va = RNIC_GET(RNIC_FI_KEY_VA, key);
	uint64_t bound = rnic_fi_key_bound(key);
	uint64_t offset = rnic_fi_virt_addr(domain) ? addr - va : addr;

	if (!(key & (write ? RNIC_FI_KEY_WRITE : RNIC_FI_KEY_READ)) ||
	    len > bound || offset > bound - len)
		return -FI_EACCES;
	*where = domain->transport->address(RNIC_GET(RNIC_FI_KEY_BASE, key),
					    offset, write);
	return 0;
}

static int rnic_fi_mr_compare(struct ofi_rbmap *map, void *key, void *data)
{
	uint64_t want = *(uint64_t *)key;
	uint64_t have = ((struct rnic_fi_mr *)data)->key;

	return want < have ? -1 : want > have;
}

struct ofi_rbmap *rnic_fi_mrs_create(void)
{
	return ofi_rbmap_create(rnic_fi_mr_compare);
}

void *rnic_fi_mr_find(struct rnic_fi_domain *domain, uint64_t key,
		      uint64_t offset, size_t len, uint64_t access)
{
	struct ofi_rbnode *node = ofi_rbmap_find(domain->mrs, &key);
	struct rnic_fi_mr *mr;

	if (!node)
		return NULL;
	for (mr = node->data; mr; mr = mr->next) {
		if ((mr->access & access) == access && len <= mr->len &&
		    offset <= mr->len - len)
			return (void *)(mr->base + offset);
	}
	return NULL;
}

static int rnic_fi_mr_insert(struct rnic_fi_mr *mr)
{
	struct ofi_rbnode *node;
	int ret;

	ret = ofi_rbmap_insert(mr->domain->mrs, &mr->key, mr, &node);
	if (ret != -FI_EALREADY)
		return ret;
	mr->next = node->data;
	node->data = mr;
	return 0;
}

static void rnic_fi_mr_remove(struct rnic_fi_mr *mr)
{
	struct ofi_rbmap *map = mr->domain->mrs;
	struct ofi_rbnode *node = ofi_rbmap_find(map, &mr->key);
	struct rnic_fi_mr *other;

	if (node->data != mr) {
		for (other = node->data; other->next != mr; other = other->next)
			;
		other->next = mr->next;
	} else if (mr->next) {
		node->data = mr->next;
	} else {
		ofi_rbmap_delete(map, node);
	}
}

static void rnic_fi_mr_unexpose(const struct rnic_fi_mr *mr, uint64_t base)
{
	mr->domain->transport->unexpose(mr->domain->nic, base);
}

static int rnic_fi_mr_close(struct fid *fid)
{
	struct rnic_fi_mr *mr = container_of(fid, struct rnic_fi_mr, mr_fid.fid);
	struct rnic_fi_domain *domain = mr->domain;

	rnic_fi_lock(domain);
	rnic_fi_mr_remove(mr);
	rnic_fi_mr_unexpose(mr, RNIC_GET(RNIC_FI_KEY_BASE, mr->key));
	rnic_fi_unlock(domain);
	ofi_atomic_dec32(&domain->util_domain.ref);
	free(mr);
	return 0;
}

static struct fi_ops rnic_fi_mr_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rnic_fi_mr_close,
	.bind = fi_no_bind,
	.control = fi_no_control,
	.ops_open = fi_no_ops_open,
};

static int rnic_fi_mr_key(struct rnic_fi_mr *mr)
{
	struct rnic_fi_domain *domain = mr->domain;
	uint64_t base;
	int ret;

	ret = domain->transport->expose(domain->nic, (void *)mr->base, mr->len,
					mr->access, &base);
	if (ret)
		return ret;
	if (base & ~RNIC_FI_KEY_BASE) {
		rnic_fi_mr_unexpose(mr, base);
		return -FI_EINVAL;
	}
	mr->key = RNIC_PREP(RNIC_FI_KEY_BASE, base) |
		  rnic_fi_key_length(mr->len);
	if (mr->access & FI_REMOTE_READ)
		mr->key |= RNIC_FI_KEY_READ;
	if (mr->access & FI_REMOTE_WRITE)
		mr->key |= RNIC_FI_KEY_WRITE;
	return 0;
}

static int rnic_fi_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			      uint64_t flags, struct fid_mr **mr_fid)
{
	struct rnic_fi_domain *domain =
		container_of(fid, struct rnic_fi_domain,
			     util_domain.domain_fid.fid);
	struct rnic_fi_mr *mr;
	int ret;

	if (fid->fclass != FI_CLASS_DOMAIN || !attr || attr->iov_count != 1 ||
	    flags)
		return -FI_EINVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	mr->domain = domain;
	mr->base = (uintptr_t)attr->mr_iov[0].iov_base;
	mr->len = attr->mr_iov[0].iov_len;
	mr->access = attr->access;
	rnic_fi_lock(domain);
	ret = rnic_fi_mr_key(mr);
	if (!ret) {
		ret = rnic_fi_mr_insert(mr);
		if (ret)
			rnic_fi_mr_unexpose(mr, RNIC_GET(RNIC_FI_KEY_BASE,
							 mr->key));
	}
	rnic_fi_unlock(domain);
	if (ret) {
		free(mr);
		return ret;
	}
	ofi_atomic_inc32(&domain->util_domain.ref);
	mr->mr_fid.fid.fclass = FI_CLASS_MR;
	mr->mr_fid.fid.context = attr->context;
	mr->mr_fid.fid.ops = &rnic_fi_mr_fi_ops;
	mr->mr_fid.mem_desc = mr;
	mr->mr_fid.key = mr->key;
	*mr_fid = &mr->mr_fid;
	return 0;
}

static int rnic_fi_mr_regv(struct fid *fid, const struct iovec *iov,
			   size_t count, uint64_t access, uint64_t offset,
			   uint64_t requested_key, uint64_t flags,
			   struct fid_mr **mr_fid, void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = count,
		.access = access,
		.offset = offset,
		.requested_key = requested_key,
		.context = context,
	};

	return rnic_fi_mr_regattr(fid, &attr, flags, mr_fid);
}

static int rnic_fi_mr_reg(struct fid *fid, const void *buf, size_t len,
			  uint64_t access, uint64_t offset,
			  uint64_t requested_key, uint64_t flags,
			  struct fid_mr **mr_fid, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rnic_fi_mr_regv(fid, &iov, 1, access, offset, requested_key,
			       flags, mr_fid, context);
}

struct fi_ops_mr rnic_fi_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = rnic_fi_mr_reg,
	.regv = rnic_fi_mr_regv,
	.regattr = rnic_fi_mr_regattr,
};
