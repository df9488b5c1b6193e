/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paravirtual RDMA NIC: page directories, rings and the shared region [EXT].  The driver
 * stores the addresses of the rings in the shared region, and the device stores its
 * capabilities there.  All members are little-endian, but GUIDs are big-endian as on the
 * wire.
 */
#ifndef RNIC_PVRDMA_DSR_H
#define RNIC_PVRDMA_DSR_H

#include "rnic/bits.h"

#define PVRDMA_PAGE_SHIFT	12
#define PVRDMA_PAGE_BYTES	0x1000

/* --- Page directories ---------------------------------------------------------
 * The driver describes each object in guest memory by a page directory: a page of up to
 * 512 addresses of tables.  A table is a page of up to 512 addresses of the object's
 * pages.
 */
#define PVRDMA_PDIR_TABLE(page)	((page) >> 9 & 0x1ff)
#define PVRDMA_PDIR_PAGE(page)	((page) & 0x1ff)
#define PVRDMA_PDIR_MAX_PAGES	(512 * 512)
#define PVRDMA_MAX_FAST_REG_PAGES 128

/* --- Rings ---------------------------------------------------------------------
 * Indices count modulo twice the number of elements of the ring.  A ring is empty if its
 * two indices are equal, and full if they differ by the number of elements.  The slot of an
 * element is the element's index modulo the number of elements.
 */
struct pvrdma_ring {
	__le32	prod_tail;	/* index of the element that the producer writes next */
	__le32	cons_head;	/* index of the element that the consumer reads next */
};
RNIC_ASSERT_SIZE(struct pvrdma_ring, 8);

/*
 * The first page of a QP, a CQ, an SRQ, and of each of the device's two rings begins with
 * this struct.  In a QP, tx has the indices of the send queue, and rx those of the receive
 * queue.  CQs, SRQs and the device's rings use only rx.
 */
struct pvrdma_ring_state {
	struct pvrdma_ring tx;
	struct pvrdma_ring rx;
};
RNIC_ASSERT_SIZE(struct pvrdma_ring_state, 16);

/*
 * Returns the number of elements that the driver uses in a ring of the device with room for
 * @count elements.  The driver masks indices as if @count were a power of two, but the
 * rings of this driver have three pages of elements.  So the driver uses as many elements
 * as the value of the lowest set bit of @count.
 */
#define PVRDMA_RING_ELEMENTS(count) ((count) & -(count))

/* Element of the ring of asynchronous events. */
struct pvrdma_eqe {
	__le32	type;		/* enum pvrdma_event */
	__le32	info;		/* handle of the QP, CQ or SRQ, or number of the port */
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

/* Types of GIDs.  The device sets only one bit, because the driver refuses two. */
#define PVRDMA_GID_TYPE_FLAG_ROCE_V1	RNIC_BIT(0)
#define PVRDMA_GID_TYPE_FLAG_ROCE_V2	RNIC_BIT(1)

#define PVRDMA_ATOMIC_OP_COMP_SWAP	RNIC_BIT(0)
#define PVRDMA_ATOMIC_OP_FETCH_ADD	RNIC_BIT(1)
#define PVRDMA_ATOMIC_OP_MASK_COMP_SWAP	RNIC_BIT(2)
#define PVRDMA_ATOMIC_OP_MASK_FETCH_ADD	RNIC_BIT(3)

#define PVRDMA_BMME_FLAG_LOCAL_INV	RNIC_BIT(0)
#define PVRDMA_BMME_FLAG_REMOTE_INV	RNIC_BIT(1)
#define PVRDMA_BMME_FLAG_FAST_REG_WR	RNIC_BIT(2)

/*
 * Capabilities of the device; a limit is a number of objects if its comment names no unit.
 */
struct pvrdma_device_caps {
	__le64	fw_ver;
	__be64	node_guid;
	__be64	sys_image_guid;
	__le64	max_mr_size;		/* bytes of the longest memory region */
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
	__u8	local_ca_ack_delay;	/* n: a delay of 4.096 us * 2^n */
	__u8	phys_port_cnt;
	__u8	mode;			/* enum pvrdma_device_mode */
	__u8	atomic_ops;		/* bits PVRDMA_ATOMIC_OP_* */
	__u8	bmme_flags;		/* bits PVRDMA_BMME_FLAG_* */
	__u8	gid_types;		/* bits PVRDMA_GID_TYPE_FLAG_* */
	__le32	max_fast_reg_page_list_len;
};
RNIC_ASSERT_SIZE(struct pvrdma_device_caps, 208);

struct pvrdma_ring_page_info {
	__le32	num_pages;		/* number of pages, the page of the indices included */
	__le32	reserved;
	__le64	pdir_dma;		/* address of the page directory */
};
RNIC_ASSERT_SIZE(struct pvrdma_ring_page_info, 16);

/* The driver fills all members except caps, then writes DSRHIGH.  Then the device fills caps. */
struct pvrdma_device_shared_region {
	__le32	driver_version;
	__le32	pad;
	__le32	gos_info;		/* fields PVRDMA_GOS_* */
	__le32	gos_pad;
	__le64	cmd_slot_dma;		/* address of the page to which the driver writes
					 * commands */
	__le64	resp_slot_dma;		/* address of the page to which the device writes
					 * responses */
	struct pvrdma_ring_page_info async_ring_pages;
	struct pvrdma_ring_page_info cq_ring_pages;
	__le64	uar_pfn64;		/* page frame number of BAR 2; only 32 bits if the
					 * version is below PPN64 */
	struct pvrdma_device_caps caps;
};
RNIC_ASSERT_SIZE(struct pvrdma_device_shared_region, 280);

#define PVRDMA_GOS_BITS		RNIC_FIELD(1, 0)	/* word size of the guest: 1: 32-bit, 2:
							 * 64-bit */
#define PVRDMA_GOS_TYPE		RNIC_FIELD(5, 2)	/* operating system of the guest: 1:
							 * Linux */
#define PVRDMA_GOS_VER		RNIC_FIELD(21, 6)

#endif /* RNIC_PVRDMA_DSR_H */
