/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Domains: each has one context of the NIC. */

#include "rnic_fi.h"

static struct fi_ops_domain rnic_fi_domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = rnic_fi_av_open,
	.cq_open = rnic_fi_cq_open,
	.endpoint = rnic_fi_ep_open,
	.scalable_ep = fi_no_scalable_ep,
	.cntr_open = rnic_fi_cntr_open,
	.poll_open = fi_poll_create,
	.stx_ctx = fi_no_stx_context,
	.srx_ctx = fi_no_srx_context,
	.query_atomic = rnic_fi_atomic_query,
	.query_collective = fi_no_query_collective,
	.endpoint2 = fi_no_endpoint2,
};

static void rnic_fi_domain_free(struct rnic_fi_domain *domain)
{
	/* The NIC accesses packets and rings until close(), so close() comes first. */
	domain->transport->close(domain->nic);
	rnic_fi_rings_free(domain);
	if (domain->timer_fd >= 0)
		close(domain->timer_fd);
	if (domain->op_pool)
		ofi_bufpool_destroy(domain->op_pool);
	if (domain->pkt_pool)
		ofi_bufpool_destroy(domain->pkt_pool);
	if (domain->mrs)
		ofi_rbmap_destroy(domain->mrs);
	free(domain);
}

static int rnic_fi_domain_close(struct fid *fid)
{
	struct rnic_fi_domain *domain =
		container_of(fid, struct rnic_fi_domain,
			     util_domain.domain_fid.fid);
	int ret;

	if (ofi_atomic_get32(&domain->util_domain.ref))
		return -FI_EBUSY;
	rnic_fi_progress_leave(domain);
	ret = ofi_domain_close(&domain->util_domain);
	if (ret)
		rnic_fi_progress_join(domain);
	else
		rnic_fi_domain_free(domain);
	return ret;
}

static struct fi_ops rnic_fi_domain_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rnic_fi_domain_close,
	.bind = ofi_domain_bind,
	.control = fi_no_control,
	.ops_open = fi_no_ops_open,
};

static int rnic_fi_domain_init(struct rnic_fi_domain *domain,
			       const struct fi_info *info)
{
	int ret;

	domain->timer_fd = -1;
	dlist_init(&domain->posted);
	dlist_init(&domain->msg_queue);
	dlist_init(&domain->write_queue);
	dlist_init(&domain->waiting);
	dlist_init(&domain->rings);
	dlist_init(&domain->lookups);
	domain->mrs = rnic_fi_mrs_create();
	if (!domain->mrs)
		return -FI_ENOMEM;
	/*
	 * NO_TRACK, because a debug build of libfabric asserts that a destroyed pool has
	 * no allocated buffer.  The packets that are still posted when the domain closes
	 * are freed only with their pool.
	 */
	ret = ofi_bufpool_create(&domain->pkt_pool, sizeof(struct rnic_fi_pkt),
				 16, 0, 64, OFI_BUFPOOL_NO_TRACK);
	if (!ret)
		ret = ofi_bufpool_create(&domain->op_pool,
					 sizeof(struct rnic_fi_op), 16, 0, 64,
					 OFI_BUFPOOL_NO_TRACK);
	if (!ret)
		ret = domain->transport->open(info->domain_attr->name,
					      &domain->nic);
	return ret;
}

int rnic_fi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_domain **domain_fid, void *context)
{
	const struct rnic_fi_transport *transport =
		container_of(fabric, struct rnic_fi_fabric,
			     util_fabric.fabric_fid)->transport;
	struct rnic_fi_domain *domain;
	int ret;

	ret = ofi_prov_check_info(transport->util_prov, fabric->api_version, info);
	if (ret)
		return ret;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -FI_ENOMEM;
	domain->transport = transport;
	ret = rnic_fi_domain_init(domain, info);
	if (ret)
		goto free;
	ret = ofi_domain_init(fabric, info, &domain->util_domain, context,
			      OFI_LOCK_MUTEX);
	if (ret)
		goto free;
	/*
	 * The progress of one thread completes operations in all domains of the process,
	 * also in domains that other threads use.  So the domain needs locks even if the
	 * user promises a single thread for this domain.
	 */
	domain->util_domain.threading = FI_THREAD_SAFE;
	rnic_fi_progress_join(domain);
	*domain_fid = &domain->util_domain.domain_fid;
	(*domain_fid)->fid.ops = &rnic_fi_domain_fi_ops;
	(*domain_fid)->ops = &rnic_fi_domain_ops;
	(*domain_fid)->mr = &rnic_fi_mr_ops;
	return 0;

free:
	rnic_fi_domain_free(domain);
	return ret;
}
