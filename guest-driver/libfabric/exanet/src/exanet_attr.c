/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* What the provider can do. */

#include "rnic_fi.h"

#define RNIC_FI_TX_CAPS \
	(OFI_TX_MSG_CAPS | FI_TAGGED | OFI_TX_RMA_CAPS | FI_ATOMICS)
#define RNIC_FI_RX_CAPS \
	(OFI_RX_MSG_CAPS | FI_TAGGED | OFI_RX_RMA_CAPS | FI_ATOMICS | \
	 FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV)
#define RNIC_FI_DOMAIN_CAPS	(FI_LOCAL_COMM | FI_REMOTE_COMM)

static struct fi_tx_attr exanet_tx_attr = {
	.caps = RNIC_FI_TX_CAPS,
	.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
		    FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE,
	.msg_order = FI_ORDER_SAS,
	.inject_size = RNIC_FI_INJECT_SIZE,
	.size = RNIC_FI_TX_SIZE,
	.iov_limit = RNIC_FI_IOV_LIMIT,
	.rma_iov_limit = RNIC_FI_IOV_LIMIT,
};

static struct fi_rx_attr exanet_rx_attr = {
	.caps = RNIC_FI_RX_CAPS,
	.op_flags = FI_COMPLETION | FI_MULTI_RECV,
	.msg_order = FI_ORDER_SAS,
	.size = RNIC_FI_RX_SIZE,
	.iov_limit = RNIC_FI_IOV_LIMIT,
};

static struct fi_ep_attr exanet_ep_attr = {
	.type = FI_EP_RDM,
	.protocol = FI_PROTO_UNSPEC,
	.protocol_version = RNIC_FI_VERSION,
	.max_msg_size = SIZE_MAX / 2,
	.mem_tag_format = FI_TAG_GENERIC,
	.tx_ctx_cnt = 1,
	.rx_ctx_cnt = 1,
};

/*
 * Local memory needs no registration, and remote keys come from us.  Addresses of
 * remote memory are offsets, or absolute for those who ask for FI_MR_BASIC.
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
	.tx_attr = &exanet_tx_attr,
	.rx_attr = &exanet_rx_attr,
	.ep_attr = &exanet_ep_attr,
	.domain_attr = &exanet_domain_attr,
	.fabric_attr = &exanet_fabric_attr,
};
