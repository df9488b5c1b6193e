/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * EXTOLL: the system notification queue (SNQ) [P], a ring in the memory of the kernel
 * that has an entry for each event which concerns no single process: errors, lost
 * messages, links.  All words are little-endian.
 */
#ifndef RNIC_EXTOLL_SNQ_H
#define RNIC_EXTOLL_SNQ_H

#include "rnic/bits.h"

#define EXTOLL_SNQ_ENTRIES	256

/* The device stores @info last.  Members that a cause does not need are 0. */
struct extoll_snq_entry {
	__le64 time;		/* virtual clock, ns */
	__le64 nla;		/* address that was refused; link events: number of the
				 * link */
	__le64 peer;		/* fields EXTOLL_SNQ_PEER_* */
	__le64 reserved[4];	/* 0 */
	__le64 info;		/* fields EXTOLL_SNQ_INFO_* */
};
RNIC_ASSERT_SIZE(struct extoll_snq_entry, 64);

#define EXTOLL_SNQ_PEER_OWN	RNIC_FIELD(7, 0)	/* VPID at this node */
#define EXTOLL_SNQ_PEER_VPID	RNIC_FIELD(15, 8)	/* VPID at the other node */
#define EXTOLL_SNQ_PEER_NODE	RNIC_FIELD(31, 16)
#define EXTOLL_SNQ_PEER_COMMAND	RNIC_FIELD(35, 32)	/* enum extoll_cmd */
#define EXTOLL_SNQ_PEER_ERROR	RNIC_FIELD(42, 40)	/* enum extoll_error */

#define EXTOLL_SNQ_INFO_CAUSE	RNIC_FIELD(7, 0)	/* enum extoll_snq_cause */
#define EXTOLL_SNQ_INFO_COUNT	RNIC_FIELD(31, 8)	/* number of equal events in this
							 * entry, saturating */
#define EXTOLL_SNQ_INFO_FLIP	RNIC_BIT(63)		/* changes with each pass of
							 * the ring, so that software
							 * clears no entry; 1 in the
							 * first pass */

enum extoll_snq_cause {
	EXTOLL_SNQ_TRANSLATION	= 1,	/* the ATU refused an address */
	EXTOLL_SNQ_PROTECTION	= 2,	/* the protection ids differ */
	EXTOLL_SNQ_DISCARDED	= 3,	/* a message was discarded */
	EXTOLL_SNQ_LOST		= 4,	/* a notification was lost: the ring is full */
	EXTOLL_SNQ_LINK_UP	= 5,
	EXTOLL_SNQ_LINK_DOWN	= 6,
	EXTOLL_SNQ_LINK_TRIES	= 7,	/* a link is down after too many
					 * retransmissions */
	EXTOLL_SNQ_NO_ROUTE	= 8,
	EXTOLL_SNQ_DROPPED	= 9,	/* a command was dropped: the FIFO was full too
					 * long */
	EXTOLL_SNQ_TORN		= 10,	/* a message or a descriptor was stored in part */
};

#endif /* RNIC_EXTOLL_SNQ_H */
