/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Attributes that are the same for all providers, because the NIC does not determine them. */

#include "rnic_fi.h"

struct fi_tx_attr rnic_fi_tx_attr = {
	.caps = RNIC_FI_TX_CAPS,
	.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
		    FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE,
	.msg_order = FI_ORDER_SAS,
	.inject_size = RNIC_FI_INJECT_SIZE,
	.size = RNIC_FI_TX_SIZE,
	.iov_limit = RNIC_FI_IOV_LIMIT,
	.rma_iov_limit = RNIC_FI_IOV_LIMIT,
};

struct fi_rx_attr rnic_fi_rx_attr = {
	.caps = RNIC_FI_RX_CAPS,
	.op_flags = FI_COMPLETION | FI_MULTI_RECV,
	.msg_order = FI_ORDER_SAS,
	.size = RNIC_FI_RX_SIZE,
	.iov_limit = RNIC_FI_IOV_LIMIT,
};

struct fi_ep_attr rnic_fi_ep_attr = {
	.type = FI_EP_RDM,
	.protocol = FI_PROTO_UNSPEC,
	.protocol_version = RNIC_FI_VERSION,
	.max_msg_size = SIZE_MAX / 2,
	.mem_tag_format = FI_TAG_GENERIC,
	.tx_ctx_cnt = 1,
	.rx_ctx_cnt = 1,
};
