/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paravirtual RDMA NIC: PCI ids, BARs, registers, shared region, commands and rings, as
 * Linux' vmw_pvrdma (drivers/infiniband/hw/vmw_pvrdma) expects them [EXT].  Work queue
 * entries, completions and doorbells are Linux' uAPI: <rdma/vmw_pvrdma-abi.h>.  The
 * wire is in wire.h.
 *
 * Registers are in host byte order; everything in guest memory is little-endian, but
 * for GUIDs, GIDs and immediate data, which are as on the wire.
 */
#ifndef RNIC_PVRDMA_REGS_H
#define RNIC_PVRDMA_REGS_H

#include "rnic/bits.h"

#define PVRDMA_PCI_VENDOR_ID	0x15ad
#define PVRDMA_PCI_DEVICE_ID	0x0820
#define PVRDMA_PCI_REVISION	1
#define PVRDMA_PCI_CLASS	0x0280	/* network controller, other */

#define PVRDMA_BAR_MSIX		0
#define PVRDMA_BAR_REGS		1	/* 4 KiB */
#define PVRDMA_BAR_UAR		2	/* 64-bit; PVRDMA_UARS pages */
#define PVRDMA_REGS_BYTES	0x1000
#define PVRDMA_UARS		512	/* user contexts and the kernel's, which is page 0 */

#define PVRDMA_PAGE_SHIFT	12
#define PVRDMA_PAGE_BYTES	0x1000

/* --- Registers, BAR 1 --------------------------------------------------------
 * X(NAME, offset, bytes, reset, writable, w1c), as in the other families.  Where a
 * register does something when it is written, writable is what it stores of that.
 */
#define PVRDMA_REGS(X) \
	X(VERSION,	0x00, 4, PVRDMA_VERSION, 0, 0) /* PVRDMA_VERSION_ */ \
	X(DSRLOW,	0x04, 4, 0, 0xffffffff, 0) /* address of the shared region */ \
	X(DSRHIGH,	0x08, 4, 0, 0xffffffff, 0) /* written last: the device reads it */ \
	X(CTL,		0x0c, 4, 0, 0, 0) /* enum pvrdma_device_ctl; reads 0 */ \
	X(REQUEST,	0x10, 4, 0, 0, 0) /* 0: do what is in the command slot */ \
	X(ERR,		0x14, 4, 0, 0, 0) /* errno of the last write to the above; 0: good */ \
	X(ICR,		0x18, 4, 0, 0, 0) /* one cause, cleared by reading: PVRDMA_INTR_ */ \
	X(IMR,		0x1c, 4, PVRDMA_INTR_ALL, 0xffffffff, 0) /* 1: masked */ \
	X(MACL,		0x20, 4, 0, 0, 0) /* MAC of the paired NIC, bytes 0 to 3 */ \
	X(MACH,		0x24, 4, 0, 0, 0) /* bytes 4 and 5 */

#define PVRDMA_REG_ENUM(name, offset, bytes, reset, writable, w1c) \
	PVRDMA_REG_##name = (offset),
enum pvrdma_reg { PVRDMA_REGS(PVRDMA_REG_ENUM) };
#undef PVRDMA_REG_ENUM

/* What VERSION may say; each has what those before it have. */
#define PVRDMA_VERSION_ROCEV1	17
#define PVRDMA_VERSION_ROCEV2	18
#define PVRDMA_VERSION_PPN64	19	/* 64-bit UAR page numbers */
#define PVRDMA_VERSION_QPHANDLE	20	/* a QP's handle is not its number */
#define PVRDMA_VERSION		PVRDMA_VERSION_QPHANDLE

enum pvrdma_device_ctl {
	PVRDMA_DEVICE_CTL_ACTIVATE	= 0,
	PVRDMA_DEVICE_CTL_UNQUIESCE	= 1,	/* the paired NIC came up */
	PVRDMA_DEVICE_CTL_RESET		= 2,
};

/* MSI-X vectors, and bits of ICR and IMR. */
enum pvrdma_intr_vector {
	PVRDMA_INTR_VECTOR_RESPONSE	= 0,	/* a command was done */
	PVRDMA_INTR_VECTOR_ASYNC	= 1,	/* the ring of events is not empty */
	PVRDMA_INTR_VECTOR_CQ		= 2,	/* nor that of CQ notifications */
	PVRDMA_INTR_VECTORS		= 3,
};
#define PVRDMA_INTR_CAUSE(vector) RNIC_BIT(vector)
#define PVRDMA_INTR_ALL		RNIC_FIELD(2, 0)

/* --- Page directories ---------------------------------------------------------
 * A page of up to 512 addresses of tables, each a page of up to 512 addresses of
 * pages: every object in guest memory is described so.
 */
#define PVRDMA_PDIR_TABLE(page)	((page) >> 9 & 0x1ff)
#define PVRDMA_PDIR_PAGE(page)	((page) & 0x1ff)
#define PVRDMA_PDIR_MAX_PAGES	(512 * 512)
#define PVRDMA_MAX_FAST_REG_PAGES 128

/* --- Rings ---------------------------------------------------------------------
 * Indices run modulo twice the number of elements; equal ones mean empty, ones that
 * differ by the number of elements full.  The slot is the index modulo that number.
 */
struct pvrdma_ring {
	__le32	prod_tail;	/* next element that will be written */
	__le32	cons_head;	/* next element that will be read */
};
RNIC_ASSERT_SIZE(struct pvrdma_ring, 8);

/*
 * The first page of a QP, CQ, SRQ, and of the two rings of the device, holds this.  QP:
 * tx is the send queue, rx the receive queue; all others use rx only.
 */
struct pvrdma_ring_state {
	struct pvrdma_ring tx;
	struct pvrdma_ring rx;
};
RNIC_ASSERT_SIZE(struct pvrdma_ring_state, 16);

/*
 * The driver computes indices of the device's two rings with masks that are meant for
 * powers of two, but gives them three pages of elements.  What comes out is a ring of
 * as many elements as the lowest bit of their number says.
 */
#define PVRDMA_RING_ELEMENTS(count) ((count) & -(count))

/* Element of the ring of events. */
struct pvrdma_eqe {
	__le32	type;		/* enum pvrdma_event */
	__le32	info;		/* handle of the object, or port number */
};
RNIC_ASSERT_SIZE(struct pvrdma_eqe, 8);

enum pvrdma_event {
	PVRDMA_EVENT_CQ_ERR		= 0,
	PVRDMA_EVENT_QP_FATAL		= 1,
	PVRDMA_EVENT_QP_REQ_ERR		= 2,
	PVRDMA_EVENT_QP_ACCESS_ERR	= 3,
	PVRDMA_EVENT_COMM_EST		= 4,
	PVRDMA_EVENT_SQ_DRAINED		= 5,
	PVRDMA_EVENT_PATH_MIG		= 6,
	PVRDMA_EVENT_PATH_MIG_ERR	= 7,
	PVRDMA_EVENT_DEVICE_FATAL	= 8,
	PVRDMA_EVENT_PORT_ACTIVE	= 9,
	PVRDMA_EVENT_PORT_ERR		= 10,
	PVRDMA_EVENT_LID_CHANGE		= 11,
	PVRDMA_EVENT_PKEY_CHANGE	= 12,
	PVRDMA_EVENT_SM_CHANGE		= 13,
	PVRDMA_EVENT_SRQ_ERR		= 14,
	PVRDMA_EVENT_SRQ_LIMIT_REACHED	= 15,
	PVRDMA_EVENT_QP_LAST_WQE_REACHED = 16,
	PVRDMA_EVENT_CLIENT_REREGISTER	= 17,
	PVRDMA_EVENT_GID_CHANGE		= 18,
};

/* Element of the ring of CQ notifications. */
struct pvrdma_cqne {
	__le32	info;		/* handle of the CQ */
};
RNIC_ASSERT_SIZE(struct pvrdma_cqne, 4);

/* --- Shared region ----------------------------------------------------------- */
enum pvrdma_device_mode {
	PVRDMA_DEVICE_MODE_ROCE		= 0,
};

/* Only one of them at a time: that is all the driver takes. */
#define PVRDMA_GID_TYPE_FLAG_ROCE_V1	RNIC_BIT(0)
#define PVRDMA_GID_TYPE_FLAG_ROCE_V2	RNIC_BIT(1)

#define PVRDMA_ATOMIC_OP_COMP_SWAP	RNIC_BIT(0)
#define PVRDMA_ATOMIC_OP_FETCH_ADD	RNIC_BIT(1)
#define PVRDMA_ATOMIC_OP_MASK_COMP_SWAP	RNIC_BIT(2)
#define PVRDMA_ATOMIC_OP_MASK_FETCH_ADD	RNIC_BIT(3)

#define PVRDMA_BMME_FLAG_LOCAL_INV	RNIC_BIT(0)
#define PVRDMA_BMME_FLAG_REMOTE_INV	RNIC_BIT(1)
#define PVRDMA_BMME_FLAG_FAST_REG_WR	RNIC_BIT(2)

/* What the device can do; limits are counts unless said. */
struct pvrdma_device_caps {
	__le64	fw_ver;
	__be64	node_guid;
	__be64	sys_image_guid;
	__le64	max_mr_size;		/* bytes */
	__le64	page_size_cap;		/* bit n: pages of 2^n bytes */
	__le64	atomic_arg_sizes;	/* bit n: arguments of 2^n bytes */
	__le32	ex_comp_mask;
	__le32	device_cap_flags2;
	__le32	max_fa_bit_boundary;
	__le32	log_max_atomic_inline_arg;
	__le32	vendor_id;
	__le32	vendor_part_id;
	__le32	hw_ver;
	__le32	max_qp;
	__le32	max_qp_wr;
	__le32	device_cap_flags;	/* Linux' enum ib_device_cap_flags */
	__le32	max_sge;
	__le32	max_sge_rd;
	__le32	max_cq;
	__le32	max_cqe;
	__le32	max_mr;
	__le32	max_pd;
	__le32	max_qp_rd_atom;
	__le32	max_ee_rd_atom;
	__le32	max_res_rd_atom;
	__le32	max_qp_init_rd_atom;
	__le32	max_ee_init_rd_atom;
	__le32	max_ee;
	__le32	max_rdd;
	__le32	max_mw;
	__le32	max_raw_ipv6_qp;
	__le32	max_raw_ethy_qp;
	__le32	max_mcast_grp;
	__le32	max_mcast_qp_attach;
	__le32	max_total_mcast_qp_attach;
	__le32	max_ah;
	__le32	max_fmr;
	__le32	max_map_per_fmr;
	__le32	max_srq;
	__le32	max_srq_wr;
	__le32	max_srq_sge;
	__le32	max_uar;		/* a power of two */
	__le32	gid_tbl_len;
	__le16	max_pkeys;
	__u8	local_ca_ack_delay;	/* 4.096 us * 2^n */
	__u8	phys_port_cnt;
	__u8	mode;			/* enum pvrdma_device_mode */
	__u8	atomic_ops;		/* PVRDMA_ATOMIC_OP_ */
	__u8	bmme_flags;		/* PVRDMA_BMME_FLAG_ */
	__u8	gid_types;		/* PVRDMA_GID_TYPE_FLAG_ */
	__le32	max_fast_reg_page_list_len;
};
RNIC_ASSERT_SIZE(struct pvrdma_device_caps, 208);

struct pvrdma_ring_page_info {
	__le32	num_pages;		/* with the page of the indices */
	__le32	reserved;
	__le64	pdir_dma;
};
RNIC_ASSERT_SIZE(struct pvrdma_ring_page_info, 16);

/* Written by the driver before DSRHIGH, but for caps, which the device fills in then. */
struct pvrdma_device_shared_region {
	__le32	driver_version;
	__le32	pad;
	__le32	gos_info;		/* PVRDMA_GOS_ */
	__le32	gos_pad;
	__le64	cmd_slot_dma;		/* a page with a command */
	__le64	resp_slot_dma;		/* a page for the answer */
	struct pvrdma_ring_page_info async_ring_pages;
	struct pvrdma_ring_page_info cq_ring_pages;
	__le64	uar_pfn64;		/* page number of BAR 2; 32 bits before PPN64 */
	struct pvrdma_device_caps caps;
};
RNIC_ASSERT_SIZE(struct pvrdma_device_shared_region, 280);

#define PVRDMA_GOS_BITS		RNIC_FIELD(1, 0)	/* 1: 32-bit, 2: 64-bit */
#define PVRDMA_GOS_TYPE		RNIC_FIELD(5, 2)	/* 1: Linux */
#define PVRDMA_GOS_VER		RNIC_FIELD(21, 6)

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

/* attr_mask of modify_qp and query_qp. */
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

/* attr_mask of modify_srq. */
#define PVRDMA_SRQ_MAX_WR		RNIC_BIT(0)
#define PVRDMA_SRQ_LIMIT		RNIC_BIT(1)

/* send_flags of a WQE. */
#define PVRDMA_SEND_FENCE	RNIC_BIT(0)
#define PVRDMA_SEND_SIGNALED	RNIC_BIT(1)
#define PVRDMA_SEND_SOLICITED	RNIC_BIT(2)
#define PVRDMA_SEND_INLINE	RNIC_BIT(3)

/* access_flags of a memory region or QP; further bits are hints. */
#define PVRDMA_ACCESS_LOCAL_WRITE	RNIC_BIT(0)
#define PVRDMA_ACCESS_REMOTE_WRITE	RNIC_BIT(1)
#define PVRDMA_ACCESS_REMOTE_READ	RNIC_BIT(2)
#define PVRDMA_ACCESS_REMOTE_ATOMIC	RNIC_BIT(3)
#define PVRDMA_ACCESS_MW_BIND		RNIC_BIT(4)
#define PVRDMA_ACCESS_ZERO_BASED	RNIC_BIT(5)
#define PVRDMA_ACCESS_ON_DEMAND		RNIC_BIT(6)

/* flags of create_mr. */
#define PVRDMA_MR_FLAG_DMA	RNIC_BIT(0)	/* all of memory, by DMA address */
#define PVRDMA_MR_FLAG_FRMR	RNIC_BIT(1)	/* no pages until FAST_REG_MR */

struct pvrdma_port_attr {
	__le32	state;			/* enum pvrdma_port_state */
	__le32	max_mtu;		/* enum pvrdma_mtu */
	__le32	active_mtu;
	__le32	gid_tbl_len;
	__le32	port_cap_flags;
	__le32	max_msg_sz;		/* bytes */
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
	__u8	active_width;		/* PVRDMA_WIDTH_ */
	__u8	active_speed;		/* PVRDMA_SPEED_ */
	__u8	phys_state;		/* PVRDMA_PHYS_ */
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
	__le16	vlan_id;		/* the Linux driver leaves it 0 */
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
	__le32	cur_qp_state;
	__le32	path_mtu;		/* enum pvrdma_mtu */
	__le32	path_mig_state;		/* enum pvrdma_mig_state */
	__le32	qkey;
	__le32	rq_psn;
	__le32	sq_psn;
	__le32	dest_qp_num;
	__le32	qp_access_flags;
	__le16	pkey_index;
	__le16	alt_pkey_index;
	__u8	en_sqd_async_notify;
	__u8	sq_draining;
	__u8	max_rd_atomic;
	__u8	max_dest_rd_atomic;
	__u8	min_rnr_timer;		/* roce_rnr_ns() */
	__u8	port_num;
	__u8	timeout;		/* 4.096 us * 2^n; 0: never */
	__u8	retry_cnt;
	__u8	rnr_retry;		/* 7: for ever */
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

/* --- Commands ------------------------------------------------------------------- */
enum pvrdma_cmd {
	PVRDMA_CMD_QUERY_PORT	= 0,
	PVRDMA_CMD_QUERY_PKEY	= 1,
	PVRDMA_CMD_CREATE_PD	= 2,
	PVRDMA_CMD_DESTROY_PD	= 3,
	PVRDMA_CMD_CREATE_MR	= 4,
	PVRDMA_CMD_DESTROY_MR	= 5,
	PVRDMA_CMD_CREATE_CQ	= 6,
	PVRDMA_CMD_RESIZE_CQ	= 7,
	PVRDMA_CMD_DESTROY_CQ	= 8,
	PVRDMA_CMD_CREATE_QP	= 9,
	PVRDMA_CMD_MODIFY_QP	= 10,
	PVRDMA_CMD_QUERY_QP	= 11,
	PVRDMA_CMD_DESTROY_QP	= 12,
	PVRDMA_CMD_CREATE_UC	= 13,
	PVRDMA_CMD_DESTROY_UC	= 14,
	PVRDMA_CMD_CREATE_BIND	= 15,
	PVRDMA_CMD_DESTROY_BIND	= 16,
	PVRDMA_CMD_CREATE_SRQ	= 17,
	PVRDMA_CMD_MODIFY_SRQ	= 18,
	PVRDMA_CMD_QUERY_SRQ	= 19,
	PVRDMA_CMD_DESTROY_SRQ	= 20,
	PVRDMA_CMD_MAX		= 21,
};

/* ack of the answer to @cmd. */
#define PVRDMA_CMD_RESP(cmd)	(0x80000000u | (cmd))

struct pvrdma_cmd_hdr {
	__le64	response;		/* given back */
	__le32	cmd;			/* enum pvrdma_cmd */
	__le32	reserved;
};
RNIC_ASSERT_SIZE(struct pvrdma_cmd_hdr, 16);

struct pvrdma_cmd_resp_hdr {
	__le64	response;
	__le32	ack;			/* PVRDMA_CMD_RESP() */
	__u8	err;			/* errno */
	__u8	reserved[3];
};
RNIC_ASSERT_SIZE(struct pvrdma_cmd_resp_hdr, 16);

struct pvrdma_cmd_query_port {
	struct pvrdma_cmd_hdr hdr;
	__u8	port_num;		/* 1 */
	__u8	reserved[7];
};

struct pvrdma_cmd_query_port_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	struct pvrdma_port_attr attrs;
};

struct pvrdma_cmd_query_pkey {
	struct pvrdma_cmd_hdr hdr;
	__u8	port_num;
	__u8	index;
	__u8	reserved[6];
};

struct pvrdma_cmd_query_pkey_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le16	pkey;
	__u8	reserved[6];
};

struct pvrdma_cmd_create_uc {
	struct pvrdma_cmd_hdr hdr;
	__le64	pfn64;			/* of the context's page of BAR 2 */
};

struct pvrdma_cmd_create_uc_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	ctx_handle;		/* never 0: that is the kernel's */
	__u8	reserved[4];
};

struct pvrdma_cmd_destroy_uc {
	struct pvrdma_cmd_hdr hdr;
	__le32	ctx_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_create_pd {
	struct pvrdma_cmd_hdr hdr;
	__le32	ctx_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_create_pd_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	pd_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_destroy_pd {
	struct pvrdma_cmd_hdr hdr;
	__le32	pd_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_create_mr {
	struct pvrdma_cmd_hdr hdr;
	__le64	start;			/* virtual address of the first byte */
	__le64	length;
	__le64	pdir_dma;
	__le32	pd_handle;
	__le32	access_flags;		/* PVRDMA_ACCESS_ */
	__le32	flags;			/* PVRDMA_MR_FLAG_ */
	__le32	nchunks;		/* pages */
};

struct pvrdma_cmd_create_mr_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	mr_handle;
	__le32	lkey;
	__le32	rkey;
	__u8	reserved[4];
};

struct pvrdma_cmd_destroy_mr {
	struct pvrdma_cmd_hdr hdr;
	__le32	mr_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_create_cq {
	struct pvrdma_cmd_hdr hdr;
	__le64	pdir_dma;
	__le32	ctx_handle;
	__le32	cqe;			/* entries, a power of two */
	__le32	nchunks;
	__u8	reserved[4];
};

struct pvrdma_cmd_create_cq_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	cq_handle;
	__le32	cqe;
};

struct pvrdma_cmd_resize_cq {
	struct pvrdma_cmd_hdr hdr;
	__le32	cq_handle;
	__le32	cqe;
};

struct pvrdma_cmd_resize_cq_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	cqe;
	__u8	reserved[4];
};

struct pvrdma_cmd_destroy_cq {
	struct pvrdma_cmd_hdr hdr;
	__le32	cq_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_create_srq {
	struct pvrdma_cmd_hdr hdr;
	__le64	pdir_dma;
	__le32	pd_handle;
	__le32	nchunks;
	struct pvrdma_srq_attr attrs;
	__u8	srq_type;
	__u8	reserved[7];
};

struct pvrdma_cmd_create_srq_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	srqn;
	__u8	reserved[4];
};

struct pvrdma_cmd_modify_srq {
	struct pvrdma_cmd_hdr hdr;
	__le32	srq_handle;
	__le32	attr_mask;		/* PVRDMA_SRQ_ */
	struct pvrdma_srq_attr attrs;
};

struct pvrdma_cmd_query_srq {
	struct pvrdma_cmd_hdr hdr;
	__le32	srq_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_query_srq_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	struct pvrdma_srq_attr attrs;
};

struct pvrdma_cmd_destroy_srq {
	struct pvrdma_cmd_hdr hdr;
	__le32	srq_handle;
	__u8	reserved[4];
};

/*
 * The directory has a page of struct pvrdma_ring_state, send_chunks pages of the send
 * queue, and the pages of the receive queue, which a QP with an SRQ lacks.
 */
struct pvrdma_cmd_create_qp {
	struct pvrdma_cmd_hdr hdr;
	__le64	pdir_dma;
	__le32	pd_handle;
	__le32	send_cq_handle;
	__le32	recv_cq_handle;
	__le32	srq_handle;
	__le32	max_send_wr;		/* a power of two */
	__le32	max_recv_wr;
	__le32	max_send_sge;
	__le32	max_recv_sge;
	__le32	max_inline_data;
	__le32	lkey;
	__le32	access_flags;
	__le16	total_chunks;
	__le16	send_chunks;
	__le16	max_atomic_arg;
	__u8	sq_sig_all;		/* every WQE gets a completion */
	__u8	qp_type;		/* enum pvrdma_qp_type */
	__u8	is_srq;
	__u8	reserved[3];
};
RNIC_ASSERT_SIZE(struct pvrdma_cmd_create_qp, 80);

struct pvrdma_cmd_create_qp_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	qpn;
	__le32	qp_handle;		/* less than max_qp; on the wire is only qpn */
	__le32	max_send_wr;
	__le32	max_recv_wr;
	__le32	max_send_sge;
	__le32	max_recv_sge;
	__le32	max_inline_data;
	__le32	pad;
};

/* The same before QPHANDLE, for a driver or a device that old: the number is the handle. */
struct pvrdma_cmd_create_qp_resp_v1 {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	qpn;
	__le32	max_send_wr;
	__le32	max_recv_wr;
	__le32	max_send_sge;
	__le32	max_recv_sge;
	__le32	max_inline_data;
};

struct pvrdma_cmd_modify_qp {
	struct pvrdma_cmd_hdr hdr;
	__le32	qp_handle;
	__le32	attr_mask;		/* PVRDMA_QP_ */
	struct pvrdma_qp_attr attrs;
};

struct pvrdma_cmd_query_qp {
	struct pvrdma_cmd_hdr hdr;
	__le32	qp_handle;
	__le32	attr_mask;
};

struct pvrdma_cmd_query_qp_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	struct pvrdma_qp_attr attrs;
};

struct pvrdma_cmd_destroy_qp {
	struct pvrdma_cmd_hdr hdr;
	__le32	qp_handle;
	__u8	reserved[4];
};

struct pvrdma_cmd_destroy_qp_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	events_reported;
	__u8	reserved[4];
};

/* Puts a GID into the table. */
struct pvrdma_cmd_create_bind {
	struct pvrdma_cmd_hdr hdr;
	__le32	mtu;			/* bytes */
	__le32	vlan;			/* 0xfff: none */
	__le32	index;
	__u8	new_gid[16];
	__u8	gid_type;		/* PVRDMA_GID_TYPE_FLAG_ */
	__u8	reserved[3];
};

struct pvrdma_cmd_destroy_bind {
	struct pvrdma_cmd_hdr hdr;
	__le32	index;
	__u8	dest_gid[16];
	__u8	reserved[4];
};

/* What the command slot holds.  The device reads it once, whatever the command. */
union pvrdma_cmd_req {
	struct pvrdma_cmd_hdr hdr;
	struct pvrdma_cmd_query_port query_port;
	struct pvrdma_cmd_query_pkey query_pkey;
	struct pvrdma_cmd_create_uc create_uc;
	struct pvrdma_cmd_destroy_uc destroy_uc;
	struct pvrdma_cmd_create_pd create_pd;
	struct pvrdma_cmd_destroy_pd destroy_pd;
	struct pvrdma_cmd_create_mr create_mr;
	struct pvrdma_cmd_destroy_mr destroy_mr;
	struct pvrdma_cmd_create_cq create_cq;
	struct pvrdma_cmd_resize_cq resize_cq;
	struct pvrdma_cmd_destroy_cq destroy_cq;
	struct pvrdma_cmd_create_qp create_qp;
	struct pvrdma_cmd_modify_qp modify_qp;
	struct pvrdma_cmd_query_qp query_qp;
	struct pvrdma_cmd_destroy_qp destroy_qp;
	struct pvrdma_cmd_create_bind create_bind;
	struct pvrdma_cmd_destroy_bind destroy_bind;
	struct pvrdma_cmd_create_srq create_srq;
	struct pvrdma_cmd_modify_srq modify_srq;
	struct pvrdma_cmd_query_srq query_srq;
	struct pvrdma_cmd_destroy_srq destroy_srq;
};
RNIC_ASSERT_SIZE(union pvrdma_cmd_req, 184);

/* What the response slot gets. */
union pvrdma_cmd_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	struct pvrdma_cmd_query_port_resp query_port;
	struct pvrdma_cmd_query_pkey_resp query_pkey;
	struct pvrdma_cmd_create_uc_resp create_uc;
	struct pvrdma_cmd_create_pd_resp create_pd;
	struct pvrdma_cmd_create_mr_resp create_mr;
	struct pvrdma_cmd_create_cq_resp create_cq;
	struct pvrdma_cmd_resize_cq_resp resize_cq;
	struct pvrdma_cmd_create_qp_resp create_qp;
	struct pvrdma_cmd_create_qp_resp_v1 create_qp_v1;
	struct pvrdma_cmd_query_qp_resp query_qp;
	struct pvrdma_cmd_destroy_qp_resp destroy_qp;
	struct pvrdma_cmd_create_srq_resp create_srq;
	struct pvrdma_cmd_query_srq_resp query_srq;
};
RNIC_ASSERT_SIZE(union pvrdma_cmd_resp, 176);

/* --- Counters, seen as the QOM property "counters" [P] -------------------------- */
#define PVRDMA_COUNTERS(X) \
	X(TX_FRAMES,		"frames sent") \
	X(TX_BYTES,		"bytes of them, with headers") \
	X(TX_ACK,		"acknowledgements sent") \
	X(TX_NAK,		"sequence-error NAKs sent") \
	X(TX_NAK_ERROR,		"NAKs sent that end a connection") \
	X(TX_RNR,		"receiver-not-ready NAKs sent") \
	X(TX_READ_RESP,		"packets of READ responses sent") \
	X(TX_RETRY,		"packets sent again") \
	X(TX_CNP,		"congestion notifications sent") \
	X(RX_FRAMES,		"RoCE frames received") \
	X(RX_BYTES,		"bytes of them, with headers") \
	X(RX_POLLED,		"frames that a polling CPU took itself") \
	X(RX_ACK,		"acknowledgements received") \
	X(RX_NAK,		"sequence-error NAKs received") \
	X(RX_NAK_ERROR,		"other NAKs received") \
	X(RX_RNR,		"receiver-not-ready NAKs received") \
	X(RX_CNP,		"congestion notifications received") \
	X(RX_CE,		"packets received that met congestion") \
	X(RX_DUPLICATE,		"requests received again") \
	X(RX_OUT_OF_SEQUENCE,	"requests dropped: one before them is missing") \
	X(RX_STALE,		"responses dropped: to nothing that waits") \
	X(RX_BAD_LENGTH,	"frames dropped: lengths disagree") \
	X(RX_BAD_IP,		"frames dropped: IP header") \
	X(RX_BAD_HEADER,	"frames dropped: version or opcode") \
	X(RX_BAD_ICRC,		"frames dropped: ICRC") \
	X(RX_NO_QP,		"packets dropped: no such QP, or of another kind") \
	X(RX_QP_STATE,		"packets dropped: the QP does not receive") \
	X(RX_BAD_PATH,		"packets dropped: not from the QP's peer, or not for us") \
	X(RX_BAD_PKEY,		"packets dropped: P_Key") \
	X(RX_BAD_QKEY,		"datagrams dropped: Q_Key") \
	X(RX_NO_RECEIVE,	"datagrams dropped: no receive buffer, or short") \
	X(RX_BAD_REQUEST,	"requests refused: order of opcodes, length") \
	X(RX_BAD_ACCESS,	"requests refused: memory") \
	X(TIMEOUT,		"times nothing came in time") \
	X(RETRY_EXCEEDED,	"connections ended: too many retries") \
	X(RNR_EXCEEDED,		"connections ended: receiver never ready") \
	X(CQ_OVERFLOW,		"completions lost: CQ full") \
	X(EVENT_OVERFLOW,	"events lost: ring full") \
	X(NOTIFY_OVERFLOW,	"CQ notifications lost: ring full") \
	X(GUEST_ERROR,		"wrong registers, commands, doorbells, rings, WQEs") \
	X(CMD,			"commands done") \
	X(CMD_ERROR,		"commands refused")

#define PVRDMA_COUNTER_ENUM(name, text) PVRDMA_CNT_##name,
enum pvrdma_counter {
	PVRDMA_COUNTERS(PVRDMA_COUNTER_ENUM)
	PVRDMA_COUNTER_COUNT
};
#undef PVRDMA_COUNTER_ENUM

#endif /* RNIC_PVRDMA_REGS_H */
