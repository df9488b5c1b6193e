/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * RoCE on the wire: InfiniBand transport headers in Ethernet frames.
 *
 *   RoCE v2   Ethernet [VLAN] IPv4|IPv6 UDP BTH ... payload pad ICRC
 *   RoCE v1   Ethernet [VLAN] GRH           BTH ... payload pad ICRC
 *
 * All fields are big-endian, except the ICRC.  Bit positions are those of the public
 * sources [SRC] to which [T §3.2.2] refers, and of Linux' rdma_rxe [EXT].
 */
#ifndef RNIC_PVRDMA_WIRE_H
#define RNIC_PVRDMA_WIRE_H

#include "rnic/bits.h"

#define ROCE_ETHERTYPE_V1	0x8915	/* the GRH follows the Ethernet header */
#define ROCE_UDP_PORT		4791	/* destination port of RoCE v2 [T §4.2.4] */
#define ROCE_UDP_SPORT_MIN	0xc000	/* lowest source port; a flow has one source port
					 * [EXT] */
#define ROCE_GRH_NEXT_BTH	0x1b	/* value of "next header" in a GRH before a BTH */
#define ROCE_GRH_BYTES		40
#define ROCE_ICRC_BYTES		4
#define ROCE_PKEY_DEFAULT	0xffff
#define ROCE_PSN_MASK		0xffffff
#define ROCE_QPN_MASK		0xffffff
#define ROCE_QPN_GSI		1
#define ROCE_QKEY_GSI		0x80010000
#define ROCE_MTU_MAX		4096
#define ROCE_MSG_MAX		0x80000000u	/* maximal number of bytes of a message
						 * [T §3.1.3] */

/*
 * Bytes of the longest frame: Ethernet, VLAN, IPv6, UDP, BTH, the longest extended
 * headers of a packet, payload, ICRC.
 */
#define ROCE_FRAME_MAX		(14 + 4 + 40 + 8 + 12 + 28 + ROCE_MTU_MAX + 4)

/* Base transport header. */
struct roce_bth {
	__u8	opcode;			/* enum roce_opcode */
	__u8	flags;			/* bits 7 to 0: ROCE_BTH_SOLICITED, _MIGRATED, _PAD,
					 * _VERSION */
	__be16	pkey;
	__be32	qpn;			/* fields ROCE_BTH_QPN, ROCE_BTH_FECN, ROCE_BTH_BECN */
	__be32	psn;			/* fields ROCE_BTH_PSN, ROCE_BTH_ACK_REQ */
};
RNIC_ASSERT_SIZE(struct roce_bth, 12);

#define ROCE_BTH_SOLICITED	RNIC_BIT(7)
#define ROCE_BTH_MIGRATED	RNIC_BIT(6)
#define ROCE_BTH_PAD		RNIC_FIELD(5, 4)	/* number of pad bytes behind the
							 * payload */
#define ROCE_BTH_VERSION	RNIC_FIELD(3, 0)	/* always 0 */
#define ROCE_BTH_FECN		RNIC_BIT(31)		/* in roce_bth.qpn */
#define ROCE_BTH_BECN		RNIC_BIT(30)
#define ROCE_BTH_QPN		RNIC_FIELD(23, 0)
#define ROCE_BTH_ACK_REQ	RNIC_BIT(31)		/* in roce_bth.psn */
#define ROCE_BTH_PSN		RNIC_FIELD(23, 0)

/* Header of the first or only packet of a WRITE, and of a READ request. */
struct roce_reth {
	__be64	va;
	__be32	rkey;
	__be32	dma_len;		/* WRITE: bytes of the whole message; READ: requested
					 * bytes, which may be a part of the message */
};
RNIC_ASSERT_SIZE(struct roce_reth, 16);

struct roce_atomic_eth {
	__be32	va[2];			/* upper half first */
	__be32	rkey;
	__be32	swap_add[2];
	__be32	compare[2];
};
RNIC_ASSERT_SIZE(struct roce_atomic_eth, 28);

/*
 * Header of an ACK or NAK, of the answer to an atomic operation, and of all but the middle
 * packets of a READ response.
 */
struct roce_aeth {
	__be32	syndrome_msn;		/* fields ROCE_AETH_SYNDROME, ROCE_AETH_MSN */
};
RNIC_ASSERT_SIZE(struct roce_aeth, 4);

#define ROCE_AETH_SYNDROME	RNIC_FIELD(31, 24)
#define ROCE_AETH_MSN		RNIC_FIELD(23, 0)

/* Fields of a syndrome: a kind, and a value of five bits. */
#define ROCE_AETH_KIND		RNIC_FIELD(7, 5)
#define ROCE_AETH_VALUE		RNIC_FIELD(4, 0)
enum roce_aeth_kind {
	ROCE_AETH_ACK		= 0,	/* value: 5-bit code of credits; 31: the sender counts no
					 * credits */
	ROCE_AETH_RNR_NAK	= 1,	/* value: 5-bit code of the RNR wait */
	ROCE_AETH_NAK		= 3,	/* value: enum roce_nak */
};
#define ROCE_AETH_NO_CREDITS	31
#define ROCE_AETH_SYN(kind, value) ((kind) << 5 | (value))

enum roce_nak {
	ROCE_NAK_PSN_SEQUENCE	= 0,
	ROCE_NAK_INVALID_REQUEST = 1,
	ROCE_NAK_REMOTE_ACCESS	= 2,
	ROCE_NAK_REMOTE_OPERATION = 3,
	ROCE_NAK_INVALID_RD	= 4,
};

struct roce_atomic_ack_eth {
	__be64	original;
};
RNIC_ASSERT_SIZE(struct roce_atomic_ack_eth, 8);

/* Header of a datagram. */
struct roce_deth {
	__be32	qkey;
	__be32	src_qpn;		/* bits 23:0 */
};
RNIC_ASSERT_SIZE(struct roce_deth, 8);

struct roce_immdt {
	__be32	data;
};
RNIC_ASSERT_SIZE(struct roce_immdt, 4);

/* Header of the last or only packet of a SEND with invalidation: the key to invalidate. */
struct roce_ieth {
	__be32	rkey;
};
RNIC_ASSERT_SIZE(struct roce_ieth, 4);

/* Bytes of the payload of a congestion notification, which are reserved and 0. */
#define ROCE_CNP_BYTES		16

/* An opcode has the transport in bits 7:5 and the operation in bits 4:0. */
#define ROCE_OP_TRANSPORT	RNIC_FIELD(7, 5)
enum roce_transport {
	ROCE_RC	= 0,
	ROCE_UC	= 1,
	ROCE_UD	= 3,
};

enum roce_opcode {
	ROCE_OP_SEND_FIRST		= 0x00,
	ROCE_OP_SEND_MIDDLE		= 0x01,
	ROCE_OP_SEND_LAST		= 0x02,
	ROCE_OP_SEND_LAST_IMM		= 0x03,
	ROCE_OP_SEND_ONLY		= 0x04,
	ROCE_OP_SEND_ONLY_IMM		= 0x05,
	ROCE_OP_WRITE_FIRST		= 0x06,
	ROCE_OP_WRITE_MIDDLE		= 0x07,
	ROCE_OP_WRITE_LAST		= 0x08,
	ROCE_OP_WRITE_LAST_IMM		= 0x09,
	ROCE_OP_WRITE_ONLY		= 0x0a,
	ROCE_OP_WRITE_ONLY_IMM		= 0x0b,
	ROCE_OP_READ_REQUEST		= 0x0c,
	ROCE_OP_READ_RESP_FIRST		= 0x0d,
	ROCE_OP_READ_RESP_MIDDLE	= 0x0e,
	ROCE_OP_READ_RESP_LAST		= 0x0f,
	ROCE_OP_READ_RESP_ONLY		= 0x10,
	ROCE_OP_ACK			= 0x11,
	ROCE_OP_ATOMIC_ACK		= 0x12,
	ROCE_OP_COMPARE_SWAP		= 0x13,
	ROCE_OP_FETCH_ADD		= 0x14,
	ROCE_OP_SEND_LAST_INV		= 0x16,
	ROCE_OP_SEND_ONLY_INV		= 0x17,
	ROCE_OP_UD_SEND_ONLY		= 0x64,
	ROCE_OP_UD_SEND_ONLY_IMM	= 0x65,
	ROCE_OP_CNP			= 0x81,	/* congestion notification */
};

#endif /* RNIC_PVRDMA_WIRE_H */
