/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paravirtual RDMA NIC: commands and their responses [EXT].  The driver writes a command to
 * the command slot and 0 to REQUEST.  Before the store to REQUEST ends, the device writes
 * an errno, or 0 for success, to ERR.  If the command succeeds and the driver waits for a
 * response, the device also writes the response to the response slot.  A failed command has
 * no response, except MODIFY_QP: its response has the errno in hdr.err, and ERR is 0.  All
 * members are little-endian, but GIDs are as on the wire.
 */
#ifndef RNIC_PVRDMA_CMD_H
#define RNIC_PVRDMA_CMD_H

#include "rnic/pvrdma/attr.h"

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

/* Returns the value of member ack in the response to @cmd. */
#define PVRDMA_CMD_RESP(cmd)	(0x80000000u | (cmd))

struct pvrdma_cmd_hdr {
	__le64	response;		/* any value; the response has the same value */
	__le32	cmd;			/* enum pvrdma_cmd */
	__le32	reserved;
};
RNIC_ASSERT_SIZE(struct pvrdma_cmd_hdr, 16);

struct pvrdma_cmd_resp_hdr {
	__le64	response;		/* value of the command's member response */
	__le32	ack;			/* PVRDMA_CMD_RESP() of the command */
	__u8	err;			/* errno of the command; 0: success */
	__u8	reserved[3];
};
RNIC_ASSERT_SIZE(struct pvrdma_cmd_resp_hdr, 16);

struct pvrdma_cmd_query_port {
	struct pvrdma_cmd_hdr hdr;
	__u8	port_num;		/* always 1 */
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
	__le64	pfn64;			/* page frame number of the page of BAR 2 that the
					 * context uses */
};

struct pvrdma_cmd_create_uc_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	ctx_handle;		/* handle of the user context; not 0, because 0 means the
					 * kernel */
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
	__le64	start;			/* virtual address of the first byte of the region */
	__le64	length;			/* bytes of the region */
	__le64	pdir_dma;		/* address of the page directory */
	__le32	pd_handle;
	__le32	access_flags;		/* bits PVRDMA_ACCESS_*; unused with FRMR */
	__le32	flags;			/* 0, or one bit PVRDMA_MR_FLAG_* */
	__le32	nchunks;		/* number of pages in the page directory; with FRMR,
					 * maximal number of pages of the region */
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
	__le32	cqe;			/* number of entries, a power of two */
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
	__le32	attr_mask;		/* bits PVRDMA_SRQ_MAX_WR, PVRDMA_SRQ_LIMIT */
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
 * The page directory of a QP has a page that begins with struct pvrdma_ring_state, then
 * send_chunks pages of the send queue, then the pages of the receive queue.  A QP with an
 * SRQ has no receive queue.
 */
struct pvrdma_cmd_create_qp {
	struct pvrdma_cmd_hdr hdr;
	__le64	pdir_dma;
	__le32	pd_handle;
	__le32	send_cq_handle;
	__le32	recv_cq_handle;
	__le32	srq_handle;
	__le32	max_send_wr;		/* 0 or a power of two, like max_recv_wr */
	__le32	max_recv_wr;
	__le32	max_send_sge;
	__le32	max_recv_sge;
	__le32	max_inline_data;
	__le32	lkey;
	__le32	access_flags;
	__le16	total_chunks;
	__le16	send_chunks;
	__le16	max_atomic_arg;
	__u8	sq_sig_all;		/* 1: each send WQE makes a completion */
	__u8	qp_type;		/* enum pvrdma_qp_type */
	__u8	is_srq;
	__u8	reserved[3];
};
RNIC_ASSERT_SIZE(struct pvrdma_cmd_create_qp, 80);

struct pvrdma_cmd_create_qp_resp {
	struct pvrdma_cmd_resp_hdr hdr;
	__le32	qpn;
	__le32	qp_handle;		/* less than max_qp; packets carry qpn, not qp_handle */
	__le32	max_send_wr;
	__le32	max_recv_wr;
	__le32	max_send_sge;
	__le32	max_recv_sge;
	__le32	max_inline_data;
	__le32	pad;
};

/*
 * The response to CREATE_QP if the version of the driver or of the device is below
 * QPHANDLE: qpn is also the handle of the QP.
 */
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
	__le32	attr_mask;		/* bits PVRDMA_QP_* */
	struct pvrdma_qp_attr attrs;
};

struct pvrdma_cmd_query_qp {
	struct pvrdma_cmd_hdr hdr;
	__le32	qp_handle;
	__le32	attr_mask;		/* ignored: the response has all attributes */
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

/* Command that stores a GID in entry index of the GID table. */
struct pvrdma_cmd_create_bind {
	struct pvrdma_cmd_hdr hdr;
	__le32	mtu;			/* MTU of the port, bytes */
	__le32	vlan;			/* number of the VLAN; 0xfff: no VLAN */
	__le32	index;
	__u8	new_gid[16];
	__u8	gid_type;		/* bit PVRDMA_GID_TYPE_FLAG_* */
	__u8	reserved[3];
};

struct pvrdma_cmd_destroy_bind {
	struct pvrdma_cmd_hdr hdr;
	__le32	index;
	__u8	dest_gid[16];
	__u8	reserved[4];
};

/* The command slot.  The device reads the whole slot once for each command. */
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

/* The response slot.  If a command has a response, the device writes the whole slot. */
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

#endif /* RNIC_PVRDMA_CMD_H */
