/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The fabric, and its wait objects. */

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

static struct fi_ops_fabric rnic_fi_fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = rnic_fi_domain_open,
	.passive_ep = fi_no_passive_ep,
	.eq_open = ofi_eq_create,
	.wait_open = rnic_fi_wait_open,
	.trywait = ofi_trywait,
	.domain2 = fi_no_domain2,
};

static int rnic_fi_fabric_close(struct fid *fid)
{
	struct rnic_fi_fabric *fabric =
		container_of(fid, struct rnic_fi_fabric,
			     util_fabric.fabric_fid.fid);
	int ret = ofi_fabric_close(&fabric->util_fabric);

	if (!ret)
		free(fabric);
	return ret;
}

static struct fi_ops rnic_fi_fabric_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rnic_fi_fabric_close,
	.bind = fi_no_bind,
	.control = fi_no_control,
	.ops_open = fi_no_ops_open,
};

int rnic_fi_fabric_open(const struct rnic_fi_transport *transport,
			struct fi_fabric_attr *attr,
			struct fid_fabric **fabric_fid, void *context)
{
	const struct util_prov *prov = transport->util_prov;
	struct rnic_fi_fabric *fabric;
	int ret;

	if (transport->mboxes > RNIC_FI_MBOXES) {
		FI_WARN(prov->prov, FI_LOG_FABRIC, "%u mailboxes, at most %u fit in messages\n",
			transport->mboxes, RNIC_FI_MBOXES);
		return -FI_EINVAL;
	}
	fabric = calloc(1, sizeof(*fabric));
	if (!fabric)
		return -FI_ENOMEM;
	fabric->transport = transport;
	ret = ofi_fabric_init(prov->prov, prov->info->fabric_attr, attr,
			      &fabric->util_fabric, context);
	if (ret) {
		free(fabric);
		return ret;
	}
	*fabric_fid = &fabric->util_fabric.fabric_fid;
	(*fabric_fid)->fid.ops = &rnic_fi_fabric_fi_ops;
	(*fabric_fid)->ops = &rnic_fi_fabric_ops;
	return 0;
}
