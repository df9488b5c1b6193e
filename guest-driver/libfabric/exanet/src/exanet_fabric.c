/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The fabric, and its wait sets. */

#include "rnic_fi.h"

static int rnic_fi_wait_open(struct fid_fabric *fabric,
			     struct fi_wait_attr *attr, struct fid_wait **wait)
{
	switch (attr->wait_obj) {
	case FI_WAIT_UNSPEC:
	case FI_WAIT_FD:
	case FI_WAIT_POLLFD:
		return ofi_wait_fd_open(fabric, attr, wait);
	case FI_WAIT_YIELD:
		return ofi_wait_yield_open(fabric, attr, wait);
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops_fabric exanet_fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = rnic_fi_domain_open,
	.passive_ep = fi_no_passive_ep,
	.eq_open = ofi_eq_create,
	.wait_open = rnic_fi_wait_open,
	.trywait = ofi_trywait,
	.domain2 = fi_no_domain2,
};

static int exanet_fabric_close(struct fid *fid)
{
	struct util_fabric *fabric = container_of(fid, struct util_fabric,
						  fabric_fid.fid);
	int ret = ofi_fabric_close(fabric);

	if (!ret)
		free(fabric);
	return ret;
}

static struct fi_ops exanet_fabric_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = exanet_fabric_close,
	.bind = fi_no_bind,
	.control = fi_no_control,
	.ops_open = fi_no_ops_open,
};

int exanet_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		       void *context)
{
	struct util_fabric *util_fabric = calloc(1, sizeof(*util_fabric));
	int ret;

	if (!util_fabric)
		return -FI_ENOMEM;
	ret = ofi_fabric_init(&exanet_prov, exanet_info.fabric_attr, attr,
			      util_fabric, context);
	if (ret) {
		free(util_fabric);
		return ret;
	}
	*fabric = &util_fabric->fabric_fid;
	(*fabric)->fid.ops = &exanet_fabric_fi_ops;
	(*fabric)->ops = &exanet_fabric_ops;
	return 0;
}
