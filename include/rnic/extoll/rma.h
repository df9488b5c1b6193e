/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * EXTOLL: addresses of the RMA requester, descriptors, notifications.  velo.h names the
 * sources of the formats.  All words are little-endian.
 *
 * A process starts a put, a get or a lock by storing a descriptor of 128 bits to an
 * address of BAR 4, which has the command and says which units notify.  A notification is
 * a record of 128 bits in a ring in the memory of a process.
 */
#ifndef RNIC_EXTOLL_RMA_H
#define RNIC_EXTOLL_RMA_H

#include "rnic/bits.h"

#define EXTOLL_RMA_BYTES	4096	/* maximum of a command; no command crosses a page
					 * border at either end [T §7.5.1] */
#define EXTOLL_RMA_UNITS	64	/* maximum of quadwords or cachelines
					 * [T §7.5.2] */
#define EXTOLL_CACHELINE_BYTES	64	/* [T §7.5.1] */
#define EXTOLL_PA_BITS		52	/* bits of a physical address [T §5.3] */
#define EXTOLL_LOCKS		1024	/* locks of 32 bits of a VPID [T §7.5.4] */

/* Address in BAR 4; the descriptor begins at a multiple of 32 B [P]. */
#define EXTOLL_RMA_ADDR_PHYSICAL RNIC_BIT(18)		/* 1: the addresses of the
							 * descriptor are physical: kernel
							 * only [T §7.5.5] */
#define EXTOLL_RMA_ADDR_OWN	RNIC_FIELD(17, 13)	/* VPID of the process [T §5.3] */
#define EXTOLL_RMA_ADDR_IRQ	RNIC_BIT(12)		/* 1: notifications interrupt;
							 * this bit is beyond the page
							 * border [T §7.5.1] */
#define EXTOLL_RMA_ADDR_COMMAND	RNIC_FIELD(11, 9)	/* enum extoll_cmd [P] */
#define EXTOLL_RMA_ADDR_NOTIFY	RNIC_FIELD(8, 6)	/* bits EXTOLL_NOTIFY_*
							 * [T §7.5.1] */
#define EXTOLL_RMA_ADDR_LINES	RNIC_BIT(5)		/* 1: SIZE counts cachelines, 0:
							 * quadwords [T §7.5.1]; other
							 * commands than PUT and GET
							 * ignore this bit [T §7.5.2] */
#define EXTOLL_RMA_ADDR_OFFSET	RNIC_FIELD(4, 0)	/* byte in the descriptor */
#define EXTOLL_RMA_BAR_BYTES	0x80000

/* Units that notify [T §7.5.1]; the bits are those of TYPE of a notification [EXT]. */
#define EXTOLL_NOTIFY_REQUESTER	RNIC_BIT(0)	/* the source of a put may be used
						 * again */
#define EXTOLL_NOTIFY_COMPLETER	RNIC_BIT(1)	/* the data have arrived */
#define EXTOLL_NOTIFY_RESPONDER	RNIC_BIT(2)	/* the source of a get has been read */

/*
 * Commands [EXT].  The first seven are commands of processes; the others appear in
 * packets and in notifications only.
 */
enum extoll_cmd {
	EXTOLL_CMD_GET_BYTES	= 0,	/* CAP_BYTES: 1 to 4096 B at any address [P] */
	EXTOLL_CMD_GET		= 1,
	EXTOLL_CMD_PUT_BYTES	= 2,	/* CAP_BYTES: 1 to 4096 B at any address [P] */
	EXTOLL_CMD_PUT		= 3,
	EXTOLL_CMD_LOCK		= 4,	/* fetch-compare-and-add [T §7.5.4] */
	EXTOLL_CMD_NOTIFICATION	= 5,	/* puts 64 bits into a notification [T §7.5.1] */
	EXTOLL_CMD_IMMEDIATE	= 6,	/* puts 8 B of the descriptor [T §7.5.1] */
	EXTOLL_CMD_VELO		= 8,	/* a message; packets only [P] */
	EXTOLL_CMD_REFUSED	= 9,	/* the target refuses a command; packets only
					 * [P] */
	EXTOLL_CMD_GET_BYTES_RESPONSE = 10,
	EXTOLL_CMD_GET_RESPONSE	= 11,
	EXTOLL_CMD_LOCK_RESPONSE = 13,
};

/*
 * Descriptor of PUT, GET and their byte forms [P].  An address is an NLA or, with
 * EXTOLL_RMA_ADDR_PHYSICAL, a physical address.  Addresses of PUT and GET are multiples
 * of 8.
 */
#define EXTOLL_DESC_0_LOCAL	RNIC_FIELD(51, 0)	/* address at this node */
#define EXTOLL_DESC_0_SIZE	RNIC_FIELD(57, 52)	/* units minus 1; byte forms: bits
							 * 5:0 of the bytes minus 1 */
#define EXTOLL_DESC_0_NODE	RNIC_FIELD(63, 58)	/* destination node */
#define EXTOLL_DESC_1_REMOTE	RNIC_FIELD(51, 0)	/* address at the destination */
#define EXTOLL_DESC_1_VPID	RNIC_FIELD(56, 52)	/* VPID at the destination */
#define EXTOLL_DESC_1_SIZE	RNIC_FIELD(62, 57)	/* byte forms: bits 11:6 of the
							 * bytes minus 1; PUT and GET:
							 * 0 */
#define EXTOLL_DESC_1_RESERVED	RNIC_BIT(63)		/* 0 */

/* Descriptor of LOCK [P]; NODE and VPID as above, all other bits 0. */
#define EXTOLL_DESC_0_COMPARE	RNIC_FIELD(31, 0)	/* signed */
#define EXTOLL_DESC_0_LOCK	RNIC_FIELD(41, 32)	/* number of the lock */
#define EXTOLL_DESC_1_ADD	RNIC_FIELD(31, 0)	/* signed */

/*
 * Descriptor of IMMEDIATE and NOTIFICATION [P]: the first word is the payload.  IMMEDIATE
 * has REMOTE as above, NOTIFICATION a class instead, and both have VPID as above.
 */
#define EXTOLL_DESC_1_CLASS	RNIC_FIELD(7, 0)	/* any value of software */
#define EXTOLL_DESC_1_NODE	RNIC_FIELD(62, 57)	/* destination node */
/*
 * CAP_BYTES: bits of REMOTE above an NLA: 8 minus the bytes of an IMMEDIATE, so that 0 is
 * the form of the document.  A physical address has no such bits, and puts 8 B.
 */
#define EXTOLL_DESC_1_SHORT	RNIC_FIELD(41, 39)

struct extoll_desc {
	__le64 word[2];
};
RNIC_ASSERT_SIZE(struct extoll_desc, 16);

/*
 * Notification.  The device stores word 1 last, which is never 0 because TYPE has a bit.
 * Word 0 is the address at the node of the notification, the payload of NOTIFICATION, or
 * the result of a lock.
 */
struct extoll_notification {
	__le64 word0;
	__le64 word1;		/* fields EXTOLL_NOTI_* */
};
RNIC_ASSERT_SIZE(struct extoll_notification, 16);
#define EXTOLL_NOTI_SIZE	RNIC_FIELD(22, 0)	/* bytes minus 1 [EXT]; class of a
							 * NOTIFICATION [P] */
#define EXTOLL_NOTI_VPID	RNIC_FIELD(30, 23)	/* VPID of the peer [EXT] */
#define EXTOLL_NOTI_NODE	RNIC_FIELD(47, 32)	/* node of the peer [EXT] */
#define EXTOLL_NOTI_TYPE	RNIC_FIELD(50, 48)	/* one bit EXTOLL_NOTIFY_*
							 * [EXT] */
#define EXTOLL_NOTI_COMMAND	RNIC_FIELD(54, 51)	/* enum extoll_cmd [EXT] */
#define EXTOLL_NOTI_MODE	RNIC_FIELD(60, 55)	/* bits EXTOLL_NOTI_MODE_*
							 * [EXT] */
#define EXTOLL_NOTI_ERROR	RNIC_FIELD(63, 61)	/* enum extoll_error [EXT], values
							 * [P] */
#define EXTOLL_NOTI_MODE_IRQ	RNIC_BIT(0)		/* the notification interrupts
							 * [P] */
#define EXTOLL_NOTI_MODE_LINES	RNIC_BIT(1)		/* the command counted cachelines
							 * [P] */

/* Word 0 of the notification of a lock [EXT]. */
#define EXTOLL_NOTI_LOCK_NUMBER	RNIC_FIELD(23, 0)
#define EXTOLL_NOTI_LOCK_RESULT	RNIC_FIELD(31, 24)	/* 1: success, 0: no success */
#define EXTOLL_NOTI_LOCK_VALUE	RNIC_FIELD(63, 32)	/* value after the operation
							 * [T §7.5.4] */

/* Causes for which a command moves no byte [P]. */
enum extoll_error {
	EXTOLL_ERROR_NONE	= 0,
	EXTOLL_ERROR_UNMAPPED	= 1,	/* the NLA has no GAT or no valid GATE */
	EXTOLL_ERROR_OWNER	= 2,	/* the page belongs to another VPID */
	EXTOLL_ERROR_ACCESS	= 3,	/* the GATE forbids reads, or writes */
	EXTOLL_ERROR_PROTECTION	= 4,	/* the protection ids differ */
	EXTOLL_ERROR_DISABLED	= 5,	/* the VPID is not enabled */
	EXTOLL_ERROR_NO_ROUTE	= 6,	/* no route, or the packet was dropped on its
					 * path */
	EXTOLL_ERROR_BUS	= 7,	/* a failed access to memory */
};

/* Offset in the lock region: VPID << 12 | number << 2 [T §7.5.4]. */
#define EXTOLL_LOCK_OFFSET(vpid, number) \
	((__u32)(vpid) << 12 | (__u32)(number) << 2)

#endif /* RNIC_EXTOLL_RMA_H */
