/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Completion queues. */

#include "rnic_fi.h"

int rnic_fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		    struct fid_cq **cq_fid, void *context)
{
	struct util_cq *cq = calloc(1, sizeof(*cq));
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	ret = ofi_cq_init(rnic_fi_prov(rnic_fi_domain_of(domain)), domain, attr,
			  cq, ofi_cq_progress, context);
	if (ret) {
		free(cq);
		return ret;
	}
	*cq_fid = &cq->cq_fid;
	return 0;
}
