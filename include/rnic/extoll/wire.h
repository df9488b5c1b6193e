/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * EXTOLL packets, flits, and the parts of a cable frame that carry them.  velo.h names
 * the sources of the formats.  All words are little-endian, and bit 0 of a word is bit 0
 * of its first byte.
 *
 * A packet is a routing frame, a command frame and a payload frame [T §7.3]:
 *
 *   message        routing 8 B + command 8 B + 8 to 64 B
 *   RMA            routing 8 B + command 24 B + 0 to 4096 B, padded to a multiple of 8 B
 *
 * A flit is a header of 8 B and up to 120 B of one packet [T §7.3], [P].  All flits of a
 * packet but the last are full.
 */
#ifndef RNIC_EXTOLL_WIRE_H
#define RNIC_EXTOLL_WIRE_H

#include "rnic/bits.h"

#define EXTOLL_WORD_BYTES	8
#define EXTOLL_VCS		2	/* virtual channels of a link [T §7.3] */

/*
 * Flit header.  A flit has at most 128 B, which is 64 phits of 16 bits [T §7.3].  The
 * fields are ours [P], because the document names a CRC and no format.
 */
#define EXTOLL_FLIT_VC		RNIC_FIELD(3, 0)	/* virtual channel, 0 or 1 */
#define EXTOLL_FLIT_FIRST	RNIC_BIT(4)		/* 1: first flit of a packet */
#define EXTOLL_FLIT_LAST	RNIC_BIT(5)		/* 1: last flit of a packet */
#define EXTOLL_FLIT_RESERVED	RNIC_FIELD(7, 6)	/* 0 */
#define EXTOLL_FLIT_SEQ		RNIC_FIELD(23, 8)	/* number of the flit on this
							 * cable */
#define EXTOLL_FLIT_BYTES	RNIC_FIELD(31, 24)	/* bytes behind the header: a
							 * multiple of 8, 8 to 120 */
#define EXTOLL_FLIT_CRC		RNIC_FIELD(63, 32)	/* CRC-32 of IEEE 802.3 over bits
							 * 31:0 and the bytes behind the
							 * header */
#define EXTOLL_FLIT_HEADER	8	/* bytes of the header */
#define EXTOLL_FLIT_CRC_BYTES	4	/* bytes of the header that the CRC covers */
#define EXTOLL_FLIT_DATA	120	/* maximum of bytes behind the header */
#define EXTOLL_FLIT_MAX		128	/* maximum of a flit, bytes [T §7.3] */

/*
 * Routing frame: a string of four characters [T §7.3].  The first character is in bits
 * 15:0.  Each crossbar sends the packet by OUTPUT of the first character, in VC 0 while
 * HOPS_0 is not 0, and then in VC 1, and subtracts 1 from the number.  A character with
 * two zeros is removed: the string moves down by 16 bits.  A string of zeros is no
 * route.
 */
#define EXTOLL_ROUTE_OUTPUT	RNIC_FIELD(3, 0)	/* enum extoll_output [D] */
#define EXTOLL_ROUTE_HOPS_0	RNIC_FIELD(9, 4)	/* crossbars to pass in VC 0
							 * [T §7.3] */
#define EXTOLL_ROUTE_HOPS_1	RNIC_FIELD(15, 10)	/* crossbars to pass in VC 1
							 * [T §7.3] */
#define EXTOLL_ROUTE_BITS	16	/* bits of a character [D] */
#define EXTOLL_ROUTE_HOPS_MAX	63	/* maximum of each number [T §7.3] */
#define EXTOLL_LINKS		6	/* links of the prototype [T §7] */

/*
 * Outputs of the crossbar: 0 to 5 are links.  A unit ends the route: no character follows
 * [P].
 */
enum extoll_output {
	EXTOLL_OUTPUT_VELO	= 8,
	EXTOLL_OUTPUT_RMA	= 9,	/* completer or responder, as the command needs */
};

/*
 * Command frame: the first word of messages [P].  The NIC of the sender fills in NODE and
 * SOURCE, no software does.
 */
#define EXTOLL_PKT_COMMAND	RNIC_FIELD(3, 0)	/* enum extoll_cmd, the same place
							 * in all packets */
#define EXTOLL_MSG_MTT		RNIC_FIELD(5, 4)
#define EXTOLL_MSG_QUADWORDS	RNIC_FIELD(9, 6)	/* of the whole message, 1 to 8 */
#define EXTOLL_MSG_FIRST	RNIC_FIELD(12, 10)	/* number of the first quadword of
							 * this packet in the message */
#define EXTOLL_MSG_COUNT	RNIC_FIELD(16, 13)	/* quadwords of this packet, 1 to
							 * 8 */
#define EXTOLL_MSG_SPLIT	RNIC_BIT(17)		/* 1: the message comes in several
							 * packets [T §6.4.4] */
#define EXTOLL_MSG_END		RNIC_BIT(18)		/* 1: last packet of the
							 * message */
#define EXTOLL_MSG_SOURCE	RNIC_FIELD(23, 19)	/* VPID of the sender */
#define EXTOLL_MSG_VPID		RNIC_FIELD(28, 24)	/* VPID of the receiver */
#define EXTOLL_MSG_RESERVED	RNIC_FIELD(31, 29)	/* 0 */
#define EXTOLL_MSG_NODE		RNIC_FIELD(47, 32)	/* node of the sender */
#define EXTOLL_MSG_PROT		RNIC_FIELD(63, 48)	/* protection id of the sender */

/*
 * Command frame of the RMA, three words [P].  The second and third word depend on the
 * command:
 *
 *   PUT, PUT_BYTES            address at the target; address at the sender
 *   IMMEDIATE                 address at the target; payload
 *   NOTIFICATION              payload; class in bits 7:0
 *   GET, GET_BYTES            address to read; address at the sender
 *   GET_RESPONSE and _BYTES_  address to write; address that was read
 *   LOCK                      fields EXTOLL_LOCK_*
 *   LOCK_RESPONSE             word 0 of the notification; 0
 *   REFUSED                   address that was refused; fields EXTOLL_REFUSED_*
 */
#define EXTOLL_PKT_NOTIFY	RNIC_FIELD(6, 4)	/* bits EXTOLL_NOTIFY_* */
#define EXTOLL_PKT_LINES	RNIC_BIT(7)		/* 1: the descriptor counted
							 * cachelines */
#define EXTOLL_PKT_SIZE		RNIC_FIELD(19, 8)	/* bytes minus 1; 0 for LOCK,
							 * LOCK_RESPONSE and
							 * NOTIFICATION */
#define EXTOLL_PKT_SOURCE	RNIC_FIELD(24, 20)	/* VPID at the node that sends the
							 * packet */
#define EXTOLL_PKT_VPID		RNIC_FIELD(29, 25)	/* VPID at the node that receives
							 * the packet */
#define EXTOLL_PKT_IRQ		RNIC_BIT(30)		/* 1: notifications interrupt */
#define EXTOLL_PKT_PHYSICAL	RNIC_BIT(31)		/* 1: addresses are physical */
#define EXTOLL_PKT_NODE		RNIC_FIELD(47, 32)	/* node that sends the packet */
#define EXTOLL_PKT_PROT		RNIC_FIELD(63, 48)	/* protection id of the
							 * initiator */
#define EXTOLL_LOCK_1_COMPARE	RNIC_FIELD(31, 0)	/* signed */
#define EXTOLL_LOCK_1_ADD	RNIC_FIELD(63, 32)	/* signed */
#define EXTOLL_LOCK_2_NUMBER	RNIC_FIELD(9, 0)	/* number of the lock, other bits
							 * 0 */
#define EXTOLL_REFUSED_ERROR	RNIC_FIELD(2, 0)	/* enum extoll_error, not NONE */
#define EXTOLL_REFUSED_COMMAND	RNIC_FIELD(7, 4)	/* command that was refused; other
							 * bits 0 */

#define EXTOLL_ROUTING_BYTES	8	/* routing frame */
#define EXTOLL_MSG_FRAME	8	/* command frame of a message, bytes */
#define EXTOLL_RMA_FRAME	24	/* command frame of the RMA, bytes */
#define EXTOLL_PACKET_MAX	(EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME + 4096)
#define EXTOLL_PACKET_FLITS	35	/* flits of the longest packet */

/*
 * Cable [P].  A frame is that of rnic/link.h.  It consists of flits and control words, in
 * any order and number.  A flit has zeros behind it up to a multiple of 16 B.  Bits 7:6 of
 * the first byte are 0 in a flit only.
 *
 * When the link goes up, each end sends START until the other end has accepted it.  Then
 * the ends send flits, and STATE as answer.  Numbers of flits are modulo 2^32, sequences
 * modulo 2^16.  Only flits have sequences: an end that has lost a control word gets a
 * later one, which says the same or more.
 */
#define EXTOLL_MAC_PREFIX	0x024554	/* locally administered, "ET" */
#define EXTOLL_WINDOW		8192	/* maximum of flits that are not acknowledged */
#define EXTOLL_TIMER_NS		20000000	/* time until a retransmission */
#define EXTOLL_TRIES		16	/* retransmissions without progress before the
					 * link is down */
#define EXTOLL_ROOM_MIN		40	/* flits of a virtual channel that a receiver can
					 * have */
#define EXTOLL_ROOM_MAX		16384
#define EXTOLL_ROOM_DEFAULT	4096

enum extoll_control_kind {
	EXTOLL_CONTROL_STATE	= 0x40,	/* acknowledgement and credits */
	EXTOLL_CONTROL_START	= 0x80,	/* the sender begins, or continues after the link
					 * was down */
};

struct extoll_control {
	__u8 kind;		/* enum extoll_control_kind */
	__u8 flags;		/* EXTOLL_STATE_* or EXTOLL_START_*, other bits 0 */
	__le16 ack;		/* sequence of the flit that the sender of this word wants
				 * next */
	__le32 count[EXTOLL_VCS];	/* of each virtual channel.  STATE: flits that left
					 * the sender's room since the link began.  START:
					 * size of this room, flits */
	__le32 crc;		/* CRC-32 of IEEE 802.3 over the bytes before */
};
RNIC_ASSERT_SIZE(struct extoll_control, 16);
#define EXTOLL_STATE_NAK	RNIC_BIT(0)	/* 1: flit @ack was bad or missing: send
						 * again from there */
#define EXTOLL_STATE_ANSWER	RNIC_BIT(1)	/* 1: the sender wants a STATE, because no
						 * STATE has returned all its credits for
						 * EXTOLL_TIMER_NS */
#define EXTOLL_START_RESUME	RNIC_BIT(0)	/* 1: the sender has flits, counts and
						 * sequences of the link's last time; both
						 * ends must have them, else both begin
						 * with 0.  An end that was not down has
						 * them */
#define EXTOLL_START_HEARD	RNIC_BIT(1)	/* 1: the sender has accepted a START */
#define EXTOLL_START_ANSWER	RNIC_BIT(2)	/* 1: the sender wants a START */

#endif /* RNIC_EXTOLL_WIRE_H */
