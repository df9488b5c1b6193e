/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * EXTOLL: addresses of the VELO requester, and slots of mailboxes.
 *
 * A process sends a message of 8 to 64 B by storing the message to an address of BAR 2.
 * The address says where the message goes.  The receiver finds the message in its
 * mailbox, a ring of slots in its memory.  All words are little-endian.
 *
 * Sources of all headers in this folder: [T §n] M. Nuessle, "Acceleration of the
 * Hardware-Software Interface of a Communication Device for Parallel Systems", 2009; [D]
 * derived from this text; [EXT] public sources of the next generation of the hardware,
 * whose bits programs read; [P] ours, because the figure of the document is lost or says
 * nothing.
 */
#ifndef RNIC_EXTOLL_VELO_H
#define RNIC_EXTOLL_VELO_H

#include "rnic/bits.h"

#define EXTOLL_VPIDS		32	/* end-points of a node [T §7.4] */
#define EXTOLL_NODES		64	/* nodes of a network: the RLT has 64 entries
					 * [T §7.4] */
#define EXTOLL_VELO_QUADWORDS	8	/* maximum of a message, quadwords of 8 B
					 * [T §7.4] */
#define EXTOLL_VELO_BYTES	64	/* maximum of a message [T §7.4] */

/*
 * Address in BAR 2.  The fields above bit 11 are the number of the page, so the kernel
 * decides by mapping pages which process may send to which VPID [T §7.4].  The order of
 * the fields is that of Figures 8-3 to 8-7 [D].
 */
#define EXTOLL_VELO_ADDR_NODE	RNIC_FIELD(27, 22)	/* destination node [D] */
#define EXTOLL_VELO_ADDR_VPID	RNIC_FIELD(21, 17)	/* VPID at the destination [D] */
#define EXTOLL_VELO_ADDR_OWN	RNIC_FIELD(16, 12)	/* VPID of the sender [D] */
#define EXTOLL_VELO_ADDR_MTT	RNIC_FIELD(11, 10)	/* message type tag, for software
							 * [D] */
#define EXTOLL_VELO_ADDR_QUADWORDS RNIC_FIELD(9, 6)	/* quadwords of the message, 1 to
							 * 8 [D] */
#define EXTOLL_VELO_ADDR_OFFSET	RNIC_FIELD(5, 0)	/* byte in the message [T §7.4] */
#define EXTOLL_VELO_BAR_BYTES	0x10000000

/*
 * A slot has a status word and up to 56 B of the message.  A message of 64 B, or a
 * message that left the requester in parts, takes several slots, one for each part
 * [T §6.4.4, §7.4].
 */
#define EXTOLL_SLOT_BYTES	64	/* bytes of a slot [T §7.4] */
#define EXTOLL_SLOT_DATA	56	/* maximum of message bytes in a slot [T §7.4] */

struct extoll_slot {
	__le64 status;		/* fields EXTOLL_SLOT_*; the device stores this word
				 * last */
	__u8 data[56];		/* FRAGMENT bytes of the message */
};
RNIC_ASSERT_SIZE(struct extoll_slot, 64);

/* Status word: never 0 [T §7.4].  The fields have the bits of the next generation. */
#define EXTOLL_SLOT_NODE	RNIC_FIELD(15, 0)	/* node of the sender [EXT] */
#define EXTOLL_SLOT_VPID	RNIC_FIELD(25, 16)	/* VPID of the sender [EXT] */
#define EXTOLL_SLOT_MTT	RNIC_FIELD(33, 32)	/* message type tag [EXT] */
#define EXTOLL_SLOT_END	RNIC_BIT(36)		/* 1: last slot of the message [EXT] */
#define EXTOLL_SLOT_ERROR	RNIC_BIT(37)		/* 0 [EXT] */
#define EXTOLL_SLOT_SPLIT	RNIC_BIT(38)		/* 1: the message left the
							 * requester in parts [P] */
#define EXTOLL_SLOT_MESSAGE	RNIC_FIELD(47, 40)	/* bytes of the whole message;
							 * a tag in the next generation
							 * [P] */
#define EXTOLL_SLOT_FRAGMENT	RNIC_FIELD(59, 48)	/* bytes of the message in this
							 * slot [EXT] */
#define EXTOLL_SLOT_FIRST	RNIC_FIELD(62, 60)	/* number of the first quadword of
							 * the slot in the message [P] */
#define EXTOLL_SLOT_VALID	RNIC_BIT(63)		/* 1 [P] */

/*
 * Transactional stores [P]: if TXIO of the VPID is set, stores to an address are staged
 * only, and a load of 8 B from this address hands the message over and returns one of
 * these.
 */
enum extoll_txio {
	EXTOLL_TXIO_ACCEPTED	= 0,
	EXTOLL_TXIO_FULL	= 1,	/* the FIFO is full: try again */
	EXTOLL_TXIO_TORN	= 2,	/* another store came between: store again */
};

#endif /* RNIC_EXTOLL_VELO_H */
