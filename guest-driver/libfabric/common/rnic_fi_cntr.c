/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Counters. */

#include "rnic_fi.h"

int rnic_fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		      struct fid_cntr **cntr_fid, void *context)
{
	struct util_cntr *cntr = calloc(1, sizeof(*cntr));
	int ret;

	if (!cntr)
		return -FI_ENOMEM;
	ret = ofi_cntr_init(rnic_fi_prov(rnic_fi_domain_of(domain)), domain,
			    attr, cntr, ofi_cntr_progress, context);
	if (ret) {
		free(cntr);
		return ret;
	}
	*cntr_fid = &cntr->cntr_fid;
	return 0;
}
