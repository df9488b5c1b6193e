/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Attributes of the provider that depend on the NIC; rnic_fi_attr.c has all other
 * attributes.
 */

#include "exanet_fi.h"

/*
 * Local memory needs no registration, and the provider chooses the keys of memory regions.
 * Addresses of remote memory are offsets, or virtual addresses if the user requests
 * FI_MR_BASIC.
 */
static struct fi_domain_attr exanet_domain_attr = {
	.name = "exanet0",
	.threading = FI_THREAD_SAFE,
	.progress = FI_PROGRESS_MANUAL,
	.resource_mgmt = FI_RM_ENABLED,
	.av_type = FI_AV_UNSPEC,
	.mr_mode = OFI_MR_BASIC | FI_MR_PROV_KEY,
	.mr_key_size = sizeof_field(struct fi_rma_iov, key),
	.cq_data_size = sizeof(uint64_t),
	.cq_cnt = 1024,
	.ep_cnt = EXANET_MAILBOXES,
	.tx_ctx_cnt = EXANET_MAILBOXES,
	.rx_ctx_cnt = EXANET_MAILBOXES,
	.max_ep_tx_ctx = 1,
	.max_ep_rx_ctx = 1,
	.cntr_cnt = 1024,
	.mr_iov_limit = 1,
	.caps = RNIC_FI_DOMAIN_CAPS,
	.max_err_data = 0,
	.mr_cnt = 0,
};

static struct fi_fabric_attr exanet_fabric_attr = {
	.name = "exanet",
	.prov_version = OFI_VERSION_DEF_PROV,
};

struct fi_info exanet_info = {
	.caps = RNIC_FI_TX_CAPS | RNIC_FI_RX_CAPS | RNIC_FI_DOMAIN_CAPS,
	.addr_format = FI_FORMAT_UNSPEC,
	.tx_attr = &rnic_fi_tx_attr,
	.rx_attr = &rnic_fi_rx_attr,
	.ep_attr = &rnic_fi_ep_attr,
	.domain_attr = &exanet_domain_attr,
	.fabric_attr = &exanet_fabric_attr,
};
