/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet packets.  Header rnic/link.h has the frames in which packets cross a cable.
 *
 * All fields are little-endian on the wire, except __be.  A packet is a sequence of
 * 128-bit words; bit 0 of a word is bit 0 of its first byte:
 *
 *   header                                   16 B      acks, flow rates
 *   header + footer                          32 B
 *   header + 1..16 payload words + footer    48..288 B
 *
 * Sources: [T §n] M. Xirouchakis, "Design and Implementation of the Send Part of
 * an Advanced RDMA Engine", 2020; [EXT] the public ExaNet switch of 2022; [D]
 * derived from these; [P] ours.
 */
#ifndef RNIC_EXANET_WIRE_H
#define RNIC_EXANET_WIRE_H

#include "rnic/bits.h"
#include "rnic/link.h"

#define EXANET_WORD_BYTES	16	/* a 128-bit word [T §3] */
#define EXANET_MTU		256	/* payload bytes of a packet [T §4] */
#define EXANET_PAYLOAD_WORDS	16	/* words of a full payload [T §4] */
#define EXANET_PACKET_WORDS	18	/* header, full payload, footer [T §6.3] */
#define EXANET_PACKET_BYTES	(EXANET_PACKET_WORDS * EXANET_WORD_BYTES)
#define EXANET_BLOCK_BYTES	16384	/* maximum of a block; no block crosses a 16-KB border
					 * [T §4] */
#define EXANET_BLOCK_PACKETS	64	/* maximal number of packets of a block [T §4] */

/* One 128-bit word. */
struct exanet_word {
	__le64 lo;	/* bits 63:0 */
	__le64 hi;	/* bits 127:64 */
};
RNIC_ASSERT_SIZE(struct exanet_word, 16);

/*
 * Node coordinates, 22 bits [EXT].  The router of tori compares the upper 8 bits as one
 * number.
 */
#define EXANET_COORD		RNIC_FIELD(21, 0)
#define EXANET_COORD_UPPER	RNIC_FIELD(21, 14)
#define EXANET_COORD_OFFSET	RNIC_FIELD(13, 12)	/* FPGA of the QFDB, 0 = F1 */
#define EXANET_COORD_Z		RNIC_FIELD(11, 8)
#define EXANET_COORD_Y		RNIC_FIELD(7, 4)
#define EXANET_COORD_X		RNIC_FIELD(3, 0)

/*
 * PDID, 16 bits: job and context of the receiver of a packet [P].  A read request has the
 * PDID of the requester, a response to a load or store the PDID of the load or store, and a
 * flow-rate packet 0.
 */
#define EXANET_PDID_JOB		RNIC_FIELD(15, 4)
#define EXANET_PDID_CTX		RNIC_FIELD(3, 0)

/*
 * Global virtual address in 64 bits: coordinates and a 42-bit VA [T §5.2].
 * VA[41:39] names an address window of the context, or, as 7, NI space: a
 * peripheral of the network interface selected by VA[38:32] [T §3.2.1].
 */
#define EXANET_GVA_COORD	RNIC_FIELD(63, 42)
#define EXANET_GVA_VA		RNIC_FIELD(41, 0)
#define EXANET_VA_WINDOW	RNIC_FIELD(41, 39)
#define EXANET_VA_OFFSET	RNIC_FIELD(38, 0)
#define EXANET_VA_NI_INDEX	RNIC_FIELD(38, 32)
#define EXANET_WINDOW_NI	7
#define EXANET_WINDOW_BITS	39	/* a window holds 512 GB */
#define EXANET_NI_VA(index)	(0x38000000000ULL + ((__u64)(index) << 32))

/* Peripherals of the network interface, VA[38:32] [P]. */
enum exanet_ni_index {
	EXANET_NI_RT_RESPONSE	= 0,	/* accepts acks for the RDMA engine */
	EXANET_NI_RT_REQUEST	= 1,	/* accepts read requests */
	EXANET_NI_MAILBOX	= 2,	/* accepts messages and notifications; VA[7:4] =
					 * mailbox */
	EXANET_NI_PACKETIZER	= 3,	/* accepts acks for the packetizer */
	EXANET_NI_RECEIVER	= 4,	/* accepts control and release packets */
	EXANET_NI_EXADMA	= 5,	/* accepts flow-rate packets */
	EXANET_NI_SHM		= 6,	/* accepts responses to loads and stores */
	EXANET_NI_BRAM		= 7,	/* accepts loads and stores of block RAM, VA[31:0] */
};
#define EXANET_NI_UNITS		8	/* number of the peripherals above */
#define EXANET_NI_INDICES	128
#define EXANET_VA_MAILBOX	RNIC_FIELD(7, 4)

/*
 * Packet types [EXT], [P]; packets of other types are dropped and counted.  X(NAME, value,
 * name in text, form as in EXANET_FORM_*, group as in EXANET_GROUP_*, bits of the NI
 * indices that accept the type after a reset).
 */
#define EXANET_TYPES(X) \
	X(WRITE,	0, "write",	PAYLOAD,  RDMA, 1 << EXANET_NI_MAILBOX) \
		/* data for memory or a mailbox */ \
	X(READ_REQ,	1, "read-req",	PAYLOAD,  RDMA, 1 << EXANET_NI_RT_REQUEST) \
		/* requests an RDMA read from the R5 of the destination */ \
	X(CONTROL,	2, "control",	PAYLOAD,  RDMA, 1 << EXANET_NI_RECEIVER) \
		/* announces a completion notification */ \
	X(AXI_READ,	3, "load",	REQUEST,  AXI,  1 << EXANET_NI_BRAM) \
		/* load of SIZE bytes from memory or block RAM */ \
	X(NOTIFY,	6, "notify",	PAYLOAD,  RDMA, 1 << EXANET_NI_MAILBOX) \
		/* completion notification */ \
	X(RELEASE,	7, "release",	EMPTY,	  NET,  1 << EXANET_NI_RECEIVER) \
		/* the source has given up a block */ \
	X(AXI_WRITE,	9, "store",	PAYLOAD,  AXI,  1 << EXANET_NI_BRAM) \
		/* store to memory or block RAM */ \
	X(ACK,		10, "ack",	HEADER,	  RDMA, 1 << EXANET_NI_RT_RESPONSE | \
						  1 << EXANET_NI_PACKETIZER) \
		/* response to RDMA types, header only */ \
	X(AXI_RESPONSE,	11, "response",	OPTIONAL, AXI,  1 << EXANET_NI_SHM) \
		/* response to a load or store; SIZE 0: no data */ \
	X(FLOW_RATE,	18, "flow-rate", RATES,	  NET,  1 << EXANET_NI_EXADMA) \
		/* congestion notification, header only */

enum exanet_type {
#define EXANET_TYPE_ENUM(name, value, text, form, group, ni) \
	EXANET_TYPE_##name = value,
	EXANET_TYPES(EXANET_TYPE_ENUM)
#undef EXANET_TYPE_ENUM
};
#define EXANET_TYPE_VALUES	32	/* number of values of the 5-bit field TYPE */

/* The words of a packet [EXT]. */
enum exanet_form {
	EXANET_FORM_NONE	= 0,	/* there is no such type */
	EXANET_FORM_PAYLOAD	= 1,	/* header, payload of SIZE bytes, footer */
	EXANET_FORM_OPTIONAL	= 2,	/* as PAYLOAD; if SIZE is 0, only header, footer */
	EXANET_FORM_REQUEST	= 3,	/* header, footer; SIZE is the number of requested
					 * bytes */
	EXANET_FORM_EMPTY	= 4,	/* header, footer; SIZE is 0 */
	EXANET_FORM_HEADER	= 5,	/* header; SIZE is 0 */
	EXANET_FORM_RATES	= 6,	/* header with fields EXANET_FLOW_*; no field SIZE */
};

/* Groups of packet types, by the counters that count their packets. */
enum exanet_group {
	EXANET_GROUP_RDMA	= 0,	/* counters TX_* and RX_* */
	EXANET_GROUP_AXI	= 1,	/* loads and stores of shared memory: counters SHM_* */
	EXANET_GROUP_NET	= 2,	/* counters TX_*, and RX_* only if a unit accepts the
					 * packet */
};

/*
 * Terms of the two masks of types below: bit @value if the type is a header alone, and bit
 * @value if the type is in group AXI.
 */
#define EXANET_TYPE_BIT_SHORT(name, value, text, form, group, ni) \
	| (EXANET_FORM_##form >= EXANET_FORM_HEADER ? 1U << (value) : 0)
#define EXANET_TYPE_BIT_AXI(name, value, text, form, group, ni) \
	| (EXANET_GROUP_##group == EXANET_GROUP_AXI ? 1U << (value) : 0)
/* Not zero if a packet of @type is a header alone, and so overtakes data [EXT], [P]. */
#define EXANET_TYPE_SHORT(type) \
	((1U << (type)) & (0 EXANET_TYPES(EXANET_TYPE_BIT_SHORT)))
/* Not zero if @type is a load, a store, or a response to a load or store. */
#define EXANET_TYPE_AXI(type) \
	((1U << (type)) & (0 EXANET_TYPES(EXANET_TYPE_BIT_AXI)))

/*
 * Number of virtual channels of a link [P].  The number of a channel is 2 *
 * EXANET_PATH_ORDER of the packet + the dateline bit.  In a torus, a packet uses an odd
 * channel on the wrap-around link of a ring and on later links of this ring, because
 * channels that wait for each other in a circle would block the ring.  For the same reason
 * a packet uses an odd channel on its second uplink, and packets of the two orders of
 * dimensions have different channels.
 */
#define EXANET_VCS		4
#define EXANET_VC_DATELINE	RNIC_BIT(0)
#define EXANET_VC_ORDER		RNIC_BIT(1)
/* The path in a header selects a route, or lets the router select [P]. */
#define EXANET_PATHS		8
#define EXANET_PATH_CABLE	RNIC_FIELD(1, 0)	/* torus: number of one of the parallel
							 * cables, modulo their number;
							 * arithmetic router: 0: any link of the
							 * route, n: link n - 1, modulo the
							 * number of links */
#define EXANET_PATH_ORDER	RNIC_BIT(2)	/* 1: reversed order of dimensions */

/*
 * Header, low and high half [EXT].  A comment has the bits of the field in the 128-bit
 * word.
 */
#define EXANET_HDR_LO_VC	RNIC_FIELD(4, 0)	/* 4:0, virtual channel */
#define EXANET_HDR_LO_PDID	RNIC_FIELD(20, 5)	/* 20:5, PDID; see EXANET_PDID_* */
#define EXANET_HDR_LO_COORD	RNIC_FIELD(42, 21)	/* 42:21, destination node */
#define EXANET_HDR_LO_TYPE	RNIC_FIELD(47, 43)	/* 47:43, enum exanet_type */
#define EXANET_HDR_LO_SIZE	RNIC_FIELD(61, 48)	/* 61:48, payload bytes; in an AXI_READ,
							 * requested bytes */
#define EXANET_HDR_LO_VA_1_0	RNIC_FIELD(63, 62)	/* 63:62 = VA[1:0] */
#define EXANET_HDR_HI_VA_41_2	RNIC_FIELD(39, 0)	/* 103:64 = VA[41:2] */
#define EXANET_HDR_HI_NO_CRC	RNIC_BIT(40)		/* 104, 1: the payload CRC is not
							 * computed, and its field is zero
							 * [P]; not in FLOW_RATE */
#define EXANET_HDR_HI_RESERVED	RNIC_FIELD(44, 41)	/* 108:105, zero; not in FLOW_RATE */
#define EXANET_HDR_HI_PATH	RNIC_FIELD(47, 45)	/* 111:109; type FLOW_RATE has other
							 * fields here */
#define EXANET_HDR_HI_CRC	RNIC_FIELD(63, 48)	/* 127:112, CRC of the header */

/*
 * Ack: a header-only packet [EXT].  VC, coordinates, type, size and CRC have the places of
 * all headers.  The small address has the NI index in bits 9:3 and a sub-address in bits
 * 2:0.
 */
#define EXANET_ACK_LO_PDID_CTX	RNIC_FIELD(8, 5)	/* 8:5, context in the PDID of the acked
							 * packet */
#define EXANET_ACK_LO_SEQ	RNIC_FIELD(20, 9)	/* 20:9, low 12 bits of the acked SEQ */
#define EXANET_ACK_LO_SMALL_1_0	RNIC_FIELD(63, 62)	/* 63:62 = small[1:0] */
#define EXANET_ACK_HI_SMALL_9_2	RNIC_FIELD(7, 0)	/* 71:64 = small[9:2] */
#define EXANET_ACK_HI_TID	RNIC_FIELD(21, 8)	/* 85:72, wire TID */
#define EXANET_ACK_HI_RESP	RNIC_FIELD(25, 22)	/* 89:86, enum exanet_resp */
#define EXANET_ACK_HI_HOPS	RNIC_FIELD(31, 26)	/* 95:90, number of switches passed
							 * [P] */
#define EXANET_ACK_HI_EPOCH	RNIC_FIELD(39, 32)	/* 103:96, epoch of the acked
							 * packet [P] */
#define EXANET_ACK_HI_RESERVED	RNIC_FIELD(44, 40)	/* 108:104, zero; PATH is above these
							 * bits */
#define EXANET_SMALL_INDEX	RNIC_FIELD(9, 3)
#define EXANET_SMALL_SUB	RNIC_FIELD(2, 0)
#define EXANET_SMALL(index)	((__u32)(index) << 3)
#define EXANET_ACK_SEQ_BITS	12	/* bits of the sequence number in an ack */

/*
 * Flow-rate packet: a header alone [EXT].  A switch with a congested output sends a
 * flow-rate packet to the source of a flow; this source may send to FLOW_HI_DST at rate
 * DESIRED.  VC, coordinates, type and CRC have the places of all headers.
 */
#define EXANET_FLOW_LO_HOPS	RNIC_FIELD(53, 48)	/* flow id [5:0]: number of switches
							 * passed [P] */
#define EXANET_FLOW_LO_ID	RNIC_FIELD(61, 54)	/* flow id [13:6]: zero [P] */
#define EXANET_FLOW_LO_SMALL_1_0 RNIC_FIELD(63, 62)
#define EXANET_FLOW_HI_SMALL_9_2 RNIC_FIELD(7, 0)	/* 71:64 = small[9:2] */
#define EXANET_FLOW_HI_DST	RNIC_FIELD(29, 8)	/* 93:72, destination of the flow [P] */
#define EXANET_FLOW_HI_CURRENT	RNIC_FIELD(37, 30)	/* 101:94, present rate of the flow,
							 * fields EXANET_RATE_* */
#define EXANET_FLOW_HI_DESIRED	RNIC_FIELD(45, 38)	/* 109:102, permitted rate of the flow,
							 * fields EXANET_RATE_* */
#define EXANET_FLOW_HI_FLAG	RNIC_FIELD(47, 46)	/* 111:110, zero */
/* A rate in 8 bits [P]: (16 + MANTISSA) << EXPONENT times 64 kb/s of link words. */
#define EXANET_RATE_EXPONENT	RNIC_FIELD(7, 4)
#define EXANET_RATE_MANTISSA	RNIC_FIELD(3, 0)
#define EXANET_RATE_UNIT_KBPS	64
/* A switch drops a packet without a footer that has passed this number of switches. */
#define EXANET_HOPS_MAX		63

/*
 * A run [P]: 2 to 64 consecutive packets of one block, which travel over a cable as a unit:
 *
 *   run word            16 B
 *   header              16 B      of the first packet
 *   payloads       n * 256 B
 *   footer              16 B
 *
 * All packets of a run have type WRITE, a full payload, and addresses in steps of
 * EXANET_MTU without a gap.  They have the same fields but for VA, CRCs, FIRST and LAST.
 * The footer is that of the first packet with two exceptions: LAST is that of the last
 * packet, and the payload CRC covers all payloads.  The run word has the place of a
 * header, with a value of TYPE that no packet has.  TYPE, VC and CRC have the places of a
 * header; all bits but these and EXANET_RUN_LO_PACKETS are zero.  A run carries the same
 * information as its packets, so a receiver may take a run apart at any place.  Runs pass
 * only cables whose two ends advertise EXANET_HELLO_RUNS.
 */
#define EXANET_RUN_TYPE		31	/* TYPE of a run word */
#define EXANET_RUN_LO_PACKETS	RNIC_FIELD(54, 48)	/* 54:48, number of packets */
#define EXANET_RUN_MAX		EXANET_BLOCK_PACKETS
#define EXANET_RUN_EXTRA	3	/* words of a run beside the payloads: run word, header,
					 * footer */

/*
 * Footer, low and high half [EXT].  A comment has the bits of the field in the 128-bit
 * word.
 */
#define EXANET_FTR_LO_TID	RNIC_FIELD(13, 0)	/* 13:0, wire TID */
#define EXANET_FTR_LO_SRC	RNIC_FIELD(35, 14)	/* 35:14, source node */
#define EXANET_FTR_LO_EPOCH	RNIC_FIELD(43, 36)	/* 43:36, source epoch [P] */
#define EXANET_FTR_LO_FIRST	RNIC_BIT(44)		/* 1: first packet of the block; in a
							 * load or store see below */
#define EXANET_FTR_LO_LAST	RNIC_BIT(45)		/* 1: last packet of the block */
#define EXANET_FTR_LO_NOTIFY	RNIC_BIT(46)		/* 1: a control packet belongs to the
							 * block */
#define EXANET_FTR_LO_SEQ	RNIC_FIELD(60, 47)	/* 60:47, sequence number of the
							 * copy; AXI: of the request */
#define EXANET_FTR_LO_TTL_2_0	RNIC_FIELD(63, 61)	/* 63:61 = TTL[2:0] */
#define EXANET_FTR_HI_TTL_14_3	RNIC_FIELD(11, 0)	/* 75:64 = TTL[14:3] */
#define EXANET_FTR_HI_USER	RNIC_FIELD(23, 12)	/* 87:76; RDMA: [9:0] is the small
							 * address for acks; AXI:
							 * EXANET_SHM_USER_* */
#define EXANET_FTR_HI_CRC	RNIC_FIELD(31, 24)	/* 95:88, CRC of the footer */
#define EXANET_FTR_HI_PAY_CRC	RNIC_FIELD(63, 32)	/* 127:96, CRC of the payload */
#define EXANET_FTR_USER_SMALL	RNIC_FIELD(9, 0)
#define EXANET_TTL_MAX		0x7fff

/* The 14-bit wire TID of the RDMA engine [P].  In a NOTIFY the TID is a plain number. */
#define EXANET_TID_INDEX	RNIC_FIELD(9, 0)
#define EXANET_TID_GEN		RNIC_FIELD(13, 10)
/* The 14-bit wire TID of the packetizer [P]. */
#define EXANET_PTID_CHANNEL	RNIC_FIELD(3, 0)
#define EXANET_PTID_CTX		RNIC_FIELD(7, 4)	/* context of the sender */
#define EXANET_PTID_GEN		RNIC_FIELD(13, 8)

/*
 * Loads and stores, types 3, 9 and 11 [P].  VA is a byte address at the target.  VA of
 * a response is NI index 6 and, if the response has data, the low byte of the request's
 * address, because byte lanes of the data follow the address.  A response has TID and SEQ
 * of its request.  SEQ counts the requests of a class from this node to the target.  FIRST
 * of a request is set if all older requests of the class to this target have ended.
 */
#define EXANET_STID_CLASS	RNIC_FIELD(13, 12)	/* enum exanet_shm_class */
#define EXANET_STID_SLOT	RNIC_FIELD(11, 6)	/* number that is unique among the
							 * requests of a class under way */
#define EXANET_STID_ID		RNIC_FIELD(5, 0)	/* AXI ID, fields EXANET_AXI_ID_* */
#define EXANET_AXI_ID_MASTER	RNIC_FIELD(5, 4)	/* enum exanet_axi_master */
#define EXANET_AXI_ID_NUMBER	RNIC_FIELD(3, 0)
#define EXANET_SHM_USER_RESP	RNIC_FIELD(3, 0)	/* enum exanet_resp; only in a
							 * response */
#define EXANET_SHM_USER_RETRIES	RNIC_FIELD(7, 4)	/* retransmissions of the request,
							 * saturating; a response has the
							 * value of its request */
#define EXANET_SHM_USER_JOINED	RNIC_BIT(8)		/* the request continues the AXI
							 * burst of the previous request;
							 * a response has the value of
							 * its request; for shm-timing= */
#define EXANET_SHM_SEQ_BITS	14
enum exanet_axi_master {
	EXANET_AXI_CPU		= 0,
	EXANET_AXI_TGEN		= 1,
	EXANET_AXI_CDMA		= 2,	/* NUMBER is the channel */
	EXANET_AXI_ACCEL	= 3,
};

/*
 * CRCs [P].  The CRCs treat the fields that switches change as zero.
 *   header   CRC-16, poly 0x1021, init 0xffff, over bits 111:0; VC, hops and path
 *            as 0
 *   footer   CRC-8, poly 0x07, init 0, over bits 87:0, TTL as 0
 *   payload  CRC-32 of IEEE 802.3 over all payload words with their padding
 *
 * A packet with EXANET_HDR_HI_NO_CRC has no payload CRC.  Such packets pass only cables
 * whose two ends advertise EXANET_HELLO_NO_CRC.  A switch that sends such a packet by
 * another cable computes the CRC and clears the bit.
 */
#define EXANET_HDR_CRC_BYTES	14
#define EXANET_FTR_CRC_BYTES	11

/* Response codes of an ack, 4 bits; meanings [T §4.1, §6.1], numbers [P]. */
enum exanet_resp {
	EXANET_RESP_ACK		= 0,	/* success: the bytes of a WRITE or store are in memory */
	EXANET_RESP_CRC		= 1,	/* the payload CRC is wrong: the sender must
					 * retransmit */
	EXANET_RESP_FAULT	= 2,	/* page fault at the destination */
	EXANET_RESP_NO_CONTEXT	= 3,	/* no receiver context is free, or the source has no room
					 * at the receiver; in registers TRACKER_*, TGEN_* and
					 * ACCEL_*: there was no response */
	EXANET_RESP_DECODE	= 4,	/* no memory or unit at the address */
	EXANET_RESP_PROTECTION	= 5,	/* the context or a unit is disabled or quiesced, the
					 * job differs or is 0, or a right is missing */
	EXANET_RESP_FULL	= 6,	/* a mailbox, FIFO, queue or table is full, or the
					 * mailbox is disabled */
	EXANET_RESP_RESOLVED	= 7,	/* the page fault is resolved: the sender must retransmit
					 * now */
	EXANET_RESP_MALFORMED	= 8,	/* size, alignment or type is wrong */
};

/*
 * Payload of a control packet, 4 quadwords [P], because Appendix A of the thesis is not
 * available.
 */
struct exanet_control {
	__le64 target;	/* P0: GVA of the notification: a mailbox, or 16-B aligned */
	__le64 data;	/* P1: any value of software */
	__le64 info;	/* P2: EXANET_CONTROL_LENGTH, _HANDLE, _IRQ */
	__le64 block;	/* P3, from the device: EXANET_CONTROL_OFFSET, _BLOCK, _PDID */
};
RNIC_ASSERT_SIZE(struct exanet_control, 32);
#define EXANET_CONTROL_LENGTH	RNIC_FIELD(31, 0)	/* P2, bytes of the transfer */
#define EXANET_CONTROL_HANDLE	RNIC_FIELD(47, 32)	/* P2, HANDLE of the notification */
#define EXANET_CONTROL_IRQ	RNIC_BIT(48)		/* P2, 1: the notification raises an
							 * interrupt */
#define EXANET_CONTROL_OFFSET	RNIC_FIELD(13, 0)	/* P3, offset of the block in its 16 KB */
#define EXANET_CONTROL_BLOCK	RNIC_FIELD(28, 14)	/* P3, bytes of the block */
#define EXANET_CONTROL_PDID	RNIC_FIELD(44, 29)	/* P3, PDID of the target */

/*
 * Payload of a notification packet, and a notification in memory [P].  In memory the
 * device stores @data first and @status last.  Each notification has VALID in @status.
 */
struct exanet_notification {
	__le64 data;
	__le64 status;
};
RNIC_ASSERT_SIZE(struct exanet_notification, 16);
#define EXANET_NOTIFICATION_LENGTH	RNIC_FIELD(31, 0)
#define EXANET_NOTIFICATION_HANDLE	RNIC_FIELD(47, 32)
#define EXANET_NOTIFICATION_STATUS	RNIC_FIELD(51, 48)	/* 0: success, 1: failure */
#define EXANET_NOTIFICATION_VALID	RNIC_BIT(63)

/* Addresses of ExaNet and bits of rnic_hello.flags, in the frames of rnic/link.h [P]. */
#define EXANET_MAC_PREFIX	0x024558	/* locally administered, "EX" */
#define EXANET_HELLO_RUNS	0x02	/* the sender accepts runs */
#define EXANET_HELLO_NO_CRC	0x04	/* the sender accepts packets without a payload CRC */

#endif /* RNIC_EXANET_WIRE_H */
