/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paravirtual RDMA NIC: attributes of ports, QPs, SRQs and memory regions, as commands and
 * work queue entries carry them [EXT].  The values, except PVRDMA_MR_FLAG_*, are those of
 * Linux' verbs (<rdma/ib_verbs.h>).  All members are little-endian, but GIDs and MAC
 * addresses are as on the wire.
 */
#ifndef RNIC_PVRDMA_ATTR_H
#define RNIC_PVRDMA_ATTR_H

#include "rnic/bits.h"

/* --- Values of attributes ------------------------------------------------------ */
enum pvrdma_mtu {
	PVRDMA_MTU_256		= 1,
	PVRDMA_MTU_512		= 2,
	PVRDMA_MTU_1024		= 3,
	PVRDMA_MTU_2048		= 4,
	PVRDMA_MTU_4096		= 5,
};

enum pvrdma_port_state {
	PVRDMA_PORT_DOWN	= 1,
	PVRDMA_PORT_ACTIVE	= 4,
};

#define PVRDMA_PHYS_DISABLED	3
#define PVRDMA_PHYS_LINK_UP	5
#define PVRDMA_PORT_CM_SUP	RNIC_BIT(16)
#define PVRDMA_PORT_IP_BASED_GIDS RNIC_BIT(26)
#define PVRDMA_WIDTH_4X		2
#define PVRDMA_SPEED_EDR	32

enum pvrdma_qp_type {
	PVRDMA_QPT_SMI		= 0,
	PVRDMA_QPT_GSI		= 1,
	PVRDMA_QPT_RC		= 2,
	PVRDMA_QPT_UC		= 3,
	PVRDMA_QPT_UD		= 4,
};

enum pvrdma_qp_state {
	PVRDMA_QPS_RESET	= 0,
	PVRDMA_QPS_INIT		= 1,
	PVRDMA_QPS_RTR		= 2,
	PVRDMA_QPS_RTS		= 3,
	PVRDMA_QPS_SQD		= 4,
	PVRDMA_QPS_SQE		= 5,
	PVRDMA_QPS_ERR		= 6,
};

enum pvrdma_mig_state {
	PVRDMA_MIG_MIGRATED	= 0,
	PVRDMA_MIG_REARM	= 1,
	PVRDMA_MIG_ARMED	= 2,
};

/* Bits of attr_mask in the commands MODIFY_QP and QUERY_QP. */
#define PVRDMA_QP_STATE			RNIC_BIT(0)
#define PVRDMA_QP_CUR_STATE		RNIC_BIT(1)
#define PVRDMA_QP_EN_SQD_ASYNC_NOTIFY	RNIC_BIT(2)
#define PVRDMA_QP_ACCESS_FLAGS		RNIC_BIT(3)
#define PVRDMA_QP_PKEY_INDEX		RNIC_BIT(4)
#define PVRDMA_QP_PORT			RNIC_BIT(5)
#define PVRDMA_QP_QKEY			RNIC_BIT(6)
#define PVRDMA_QP_AV			RNIC_BIT(7)
#define PVRDMA_QP_PATH_MTU		RNIC_BIT(8)
#define PVRDMA_QP_TIMEOUT		RNIC_BIT(9)
#define PVRDMA_QP_RETRY_CNT		RNIC_BIT(10)
#define PVRDMA_QP_RNR_RETRY		RNIC_BIT(11)
#define PVRDMA_QP_RQ_PSN		RNIC_BIT(12)
#define PVRDMA_QP_MAX_QP_RD_ATOMIC	RNIC_BIT(13)
#define PVRDMA_QP_ALT_PATH		RNIC_BIT(14)
#define PVRDMA_QP_MIN_RNR_TIMER		RNIC_BIT(15)
#define PVRDMA_QP_SQ_PSN		RNIC_BIT(16)
#define PVRDMA_QP_MAX_DEST_RD_ATOMIC	RNIC_BIT(17)
#define PVRDMA_QP_PATH_MIG_STATE	RNIC_BIT(18)
#define PVRDMA_QP_CAP			RNIC_BIT(19)
#define PVRDMA_QP_DEST_QPN		RNIC_BIT(20)

/* Bits of attr_mask in the command MODIFY_SRQ. */
#define PVRDMA_SRQ_MAX_WR		RNIC_BIT(0)
#define PVRDMA_SRQ_LIMIT		RNIC_BIT(1)

/* Bits of send_flags in a WQE. */
#define PVRDMA_SEND_FENCE	RNIC_BIT(0)
#define PVRDMA_SEND_SIGNALED	RNIC_BIT(1)
#define PVRDMA_SEND_SOLICITED	RNIC_BIT(2)
#define PVRDMA_SEND_INLINE	RNIC_BIT(3)

/*
 * Bits of access_flags of a memory region or QP.  The device refuses CREATE_MR, unless
 * FRMR is set, and FAST_REG_MR with ZERO_BASED or ON_DEMAND.  The device ignores bits that
 * are not in this list.
 */
#define PVRDMA_ACCESS_LOCAL_WRITE	RNIC_BIT(0)
#define PVRDMA_ACCESS_REMOTE_WRITE	RNIC_BIT(1)
#define PVRDMA_ACCESS_REMOTE_READ	RNIC_BIT(2)
#define PVRDMA_ACCESS_REMOTE_ATOMIC	RNIC_BIT(3)
#define PVRDMA_ACCESS_MW_BIND		RNIC_BIT(4)
#define PVRDMA_ACCESS_ZERO_BASED	RNIC_BIT(5)
#define PVRDMA_ACCESS_ON_DEMAND		RNIC_BIT(6)

/* Bits of flags in the command CREATE_MR. */
#define PVRDMA_MR_FLAG_DMA	RNIC_BIT(0)	/* the region is all memory, by DMA addresses */
#define PVRDMA_MR_FLAG_FRMR	RNIC_BIT(1)	/* a WQE FAST_REG_MR sets the pages of the
						 * region */

struct pvrdma_port_attr {
	__le32	state;			/* enum pvrdma_port_state */
	__le32	max_mtu;		/* enum pvrdma_mtu */
	__le32	active_mtu;		/* enum pvrdma_mtu */
	__le32	gid_tbl_len;
	__le32	port_cap_flags;
	__le32	max_msg_sz;		/* bytes of the longest message */
	__le32	bad_pkey_cntr;
	__le32	qkey_viol_cntr;
	__le16	pkey_tbl_len;
	__le16	lid;
	__le16	sm_lid;
	__u8	lmc;
	__u8	max_vl_num;
	__u8	sm_sl;
	__u8	subnet_timeout;
	__u8	init_type_reply;
	__u8	active_width;		/* value PVRDMA_WIDTH_* */
	__u8	active_speed;		/* value PVRDMA_SPEED_* */
	__u8	phys_state;		/* value PVRDMA_PHYS_* */
	__u8	reserved[2];
};
RNIC_ASSERT_SIZE(struct pvrdma_port_attr, 48);

struct pvrdma_global_route {
	__u8	dgid[16];
	__le32	flow_label;
	__u8	sgid_index;
	__u8	hop_limit;
	__u8	traffic_class;
	__u8	reserved;
};
RNIC_ASSERT_SIZE(struct pvrdma_global_route, 24);

struct pvrdma_ah_attr {
	struct pvrdma_global_route grh;
	__le16	dlid;
	__le16	vlan_id;		/* Linux' driver writes 0 */
	__u8	sl;
	__u8	src_path_bits;
	__u8	static_rate;
	__u8	ah_flags;
	__u8	port_num;
	__u8	dmac[6];
	__u8	reserved;
};
RNIC_ASSERT_SIZE(struct pvrdma_ah_attr, 40);

struct pvrdma_qp_cap {
	__le32	max_send_wr;
	__le32	max_recv_wr;
	__le32	max_send_sge;
	__le32	max_recv_sge;
	__le32	max_inline_data;
	__le32	reserved;
};
RNIC_ASSERT_SIZE(struct pvrdma_qp_cap, 24);

struct pvrdma_qp_attr {
	__le32	qp_state;		/* enum pvrdma_qp_state */
	__le32	cur_qp_state;		/* enum pvrdma_qp_state */
	__le32	path_mtu;		/* enum pvrdma_mtu */
	__le32	path_mig_state;		/* enum pvrdma_mig_state */
	__le32	qkey;
	__le32	rq_psn;
	__le32	sq_psn;
	__le32	dest_qp_num;
	__le32	qp_access_flags;	/* bits PVRDMA_ACCESS_* */
	__le16	pkey_index;
	__le16	alt_pkey_index;
	__u8	en_sqd_async_notify;
	__u8	sq_draining;		/* 1: the QP is in state SQD, and send WQEs are still
					 * under way */
	__u8	max_rd_atomic;
	__u8	max_dest_rd_atomic;
	__u8	min_rnr_timer;		/* 5-bit code of the RNR wait, 0..31; see [EXT] */
	__u8	port_num;
	__u8	timeout;		/* n: a timeout of 4.096 us * 2^n; 0: no timeout */
	__u8	retry_cnt;
	__u8	rnr_retry;		/* number of RNR retries; 7: no limit */
	__u8	alt_port_num;
	__u8	alt_timeout;
	__u8	reserved[5];
	struct pvrdma_qp_cap cap;
	struct pvrdma_ah_attr ah_attr;
	struct pvrdma_ah_attr alt_ah_attr;
};
RNIC_ASSERT_SIZE(struct pvrdma_qp_attr, 160);

struct pvrdma_srq_attr {
	__le32	max_wr;
	__le32	max_sge;
	__le32	srq_limit;
	__le32	reserved;
};
RNIC_ASSERT_SIZE(struct pvrdma_srq_attr, 16);

#endif /* RNIC_PVRDMA_ATTR_H */
