/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Memory regions.  The NIC knows nothing of them: any address of the process can be
 * reached by its job.  A region is an address turned into a key, and a promise that
 * atomics check.
 */

#include "rnic_fi.h"

#define EXANET_KEY_MANTISSA_BITS 5

/* The shortest length of key precision that is not below @len. */
static uint64_t exanet_key_length(size_t len)
{
	uint64_t exponent = 0, mantissa = len;
	const uint64_t one = 1U << EXANET_KEY_MANTISSA_BITS;

	while (mantissa >= 2 * one) {
		mantissa = (mantissa + 1) >> 1;
		exponent++;
	}
	if (mantissa >= one) {
		mantissa -= one;
		exponent++;
	}
	return RNIC_PREP(EXANET_FI_KEY_EXPONENT, exponent) |
	       RNIC_PREP(EXANET_FI_KEY_MANTISSA, mantissa);
}

static uint64_t exanet_key_bound(uint64_t key)
{
	uint64_t exponent = RNIC_GET(EXANET_FI_KEY_EXPONENT, key);
	uint64_t mantissa = RNIC_GET(EXANET_FI_KEY_MANTISSA, key);

	if (!exponent)
		return mantissa;
	return (mantissa + (1ULL << EXANET_KEY_MANTISSA_BITS)) <<
	       (exponent - 1);
}

int exanet_key_decode(const struct exanet_domain *domain, uint64_t key,
		      uint64_t addr, size_t len, bool write, uint64_t *where)
{
	uint64_t va = RNIC_GET(EXANET_FI_KEY_VA, key);
	uint64_t bound = exanet_key_bound(key);
	uint64_t offset = exanet_virt_addr(domain) ? addr - va : addr;

	if (!(key & (write ? EXANET_FI_KEY_WRITE : EXANET_FI_KEY_READ)) ||
	    len > bound || offset > bound - len)
		return -FI_EACCES;
	va += offset;
	*where = !write ? va :
		 RNIC_PREP(EXANET_VA_WINDOW,
			   RNIC_GET(EXANET_FI_KEY_WINDOW, key)) |
		 RNIC_PREP(EXANET_VA_OFFSET, va);
	return 0;
}

static int exanet_mr_compare(struct ofi_rbmap *map, void *key, void *data)
{
	uint64_t want = *(uint64_t *)key;
	uint64_t have = ((struct exanet_mr *)data)->key;

	return want < have ? -1 : want > have;
}

struct ofi_rbmap *exanet_mrs_create(void)
{
	return ofi_rbmap_create(exanet_mr_compare);
}

void *exanet_mr_find(struct exanet_domain *domain, uint64_t key,
		     uint64_t offset, size_t len, uint64_t access)
{
	struct ofi_rbnode *node = ofi_rbmap_find(domain->mrs, &key);
	struct exanet_mr *mr;

	if (!node)
		return NULL;
	for (mr = node->data; mr; mr = mr->next) {
		if ((mr->access & access) == access && len <= mr->len &&
		    offset <= mr->len - len)
			return (void *)(mr->base + offset);
	}
	return NULL;
}

static int exanet_mr_insert(struct exanet_mr *mr)
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

static void exanet_mr_remove(struct exanet_mr *mr)
{
	struct ofi_rbmap *map = mr->domain->mrs;
	struct ofi_rbnode *node = ofi_rbmap_find(map, &mr->key);
	struct exanet_mr *other;

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

static int exanet_mr_close(struct fid *fid)
{
	struct exanet_mr *mr = container_of(fid, struct exanet_mr, mr_fid.fid);
	struct exanet_domain *domain = mr->domain;

	exanet_lock(domain);
	exanet_mr_remove(mr);
	exanet_unlock(domain);
	ofi_atomic_dec32(&domain->util_domain.ref);
	free(mr);
	return 0;
}

static struct fi_ops exanet_mr_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = exanet_mr_close,
	.bind = fi_no_bind,
	.control = fi_no_control,
	.ops_open = fi_no_ops_open,
};

static int exanet_mr_key(struct exanet_mr *mr)
{
	uint64_t xva;
	int ret;

	if (mr->base & ~EXANET_FI_KEY_VA)
		return -FI_EINVAL;
	ret = exa_xva(mr->domain->dev, (void *)mr->base, mr->len, &xva);
	if (ret)
		return ret;
	mr->key = RNIC_PREP(EXANET_FI_KEY_VA, mr->base) |
		  RNIC_PREP(EXANET_FI_KEY_WINDOW,
			    RNIC_GET(EXANET_VA_WINDOW, xva)) |
		  exanet_key_length(mr->len);
	if (mr->access & FI_REMOTE_READ)
		mr->key |= EXANET_FI_KEY_READ;
	if (mr->access & FI_REMOTE_WRITE)
		mr->key |= EXANET_FI_KEY_WRITE;
	return 0;
}

static int exanet_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			     uint64_t flags, struct fid_mr **mr_fid)
{
	struct exanet_domain *domain =
		container_of(fid, struct exanet_domain,
			     util_domain.domain_fid.fid);
	struct exanet_mr *mr;
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
	exanet_lock(domain);
	ret = exanet_mr_key(mr);
	if (!ret)
		ret = exanet_mr_insert(mr);
	exanet_unlock(domain);
	if (ret) {
		free(mr);
		return ret;
	}
	ofi_atomic_inc32(&domain->util_domain.ref);
	mr->mr_fid.fid.fclass = FI_CLASS_MR;
	mr->mr_fid.fid.context = attr->context;
	mr->mr_fid.fid.ops = &exanet_mr_fi_ops;
	mr->mr_fid.mem_desc = mr;
	mr->mr_fid.key = mr->key;
	*mr_fid = &mr->mr_fid;
	return 0;
}

static int exanet_mr_regv(struct fid *fid, const struct iovec *iov,
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

	return exanet_mr_regattr(fid, &attr, flags, mr_fid);
}

static int exanet_mr_reg(struct fid *fid, const void *buf, size_t len,
			 uint64_t access, uint64_t offset,
			 uint64_t requested_key, uint64_t flags,
			 struct fid_mr **mr_fid, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return exanet_mr_regv(fid, &iov, 1, access, offset, requested_key,
			      flags, mr_fid, context);
}

struct fi_ops_mr exanet_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = exanet_mr_reg,
	.regv = exanet_mr_regv,
	.regattr = exanet_mr_regattr,
};
