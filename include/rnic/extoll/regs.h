/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * EXTOLL: PCI ids, BARs and registers.  velo.h names the sources; offsets are ours [P],
 * because the register reference is not part of the document.
 *
 * Each register block is one list, X(NAME, offset, bytes, reset, writable, w1c):
 *   offset    from the start of the block
 *   bytes     4 or 8; an 8-byte register may be accessed in halves, the upper half last
 *   reset     value after reset; properties, and registers that the device computes, may
 *             give another value
 *   writable  bits that software may set and clear
 *   w1c       bits that software clears by writing 1
 * A write to a register with writable 0 may still have an effect.
 */
#ifndef RNIC_EXTOLL_REGS_H
#define RNIC_EXTOLL_REGS_H

#include "rnic/bits.h"
#include "rnic/extoll/atu.h"
#include "rnic/extoll/snq.h"
#include "rnic/extoll/velo.h"
#include "rnic/extoll/wire.h"

#define EXTOLL_PCI_VENDOR_ID	0x1234
#define EXTOLL_PCI_DEVICE_ID	0xe701
#define EXTOLL_PCI_CLASS	0x0280	/* network controller, other */

#define EXTOLL_BAR_REGS		0	/* 2 MiB: registers */
#define EXTOLL_BAR_MSIX		1	/* table of MSI-X vectors */
#define EXTOLL_BAR_VELO		2	/* 256 MiB, 64-bit, prefetchable: velo.h */
#define EXTOLL_BAR_RMA		4	/* 512 KiB: rma.h */
#define EXTOLL_REGS_BYTES	0x200000

/* MSI-X vectors, each with a block of EXTOLL_IRQ_REGS. */
#define EXTOLL_VEC_EVENTS	0
#define EXTOLL_VEC_VELO		1
#define EXTOLL_VEC_RMA		2
#define EXTOLL_VECTORS		3

/* Offsets in BAR 0. */
#define EXTOLL_GLOBAL		0x00000
#define EXTOLL_IRQ(vector)	(0x00100 + 0x10 * (vector))
#define EXTOLL_PORT(p)		(0x01000 + 0x100 * (p))
#define EXTOLL_VELO		0x02000
#define EXTOLL_VELO_ROUTE(node)	(0x02200 + 8 * (node))	/* RLT: a routing string
							 * [T §7.4] */
#define EXTOLL_VELO_VPID(vpid)	(0x02800 + 0x40 * (vpid))
#define EXTOLL_RMA		0x04000
#define EXTOLL_RMA_ROUTE(node)	(0x04200 + 8 * (node))	/* a routing string [D] */
#define EXTOLL_RMA_VPID(vpid)	(0x04800 + 0x40 * (vpid))
#define EXTOLL_SNQ		0x06000
#define EXTOLL_ATU		0x07000
#define EXTOLL_GAT_BASE(n)	(0x08000 + 4 * (n))	/* fields EXTOLL_GAT_BASE_*
							 * [T §5.3] */
#define EXTOLL_COUNTER(n)	(0x0a000 + 8 * (n))
#define EXTOLL_END_POINT(vpid)	(0x0c000 + 0x10 * (vpid))
/*
 * A page of its own for each read pointer, so that a process may map its pointers
 * [T §7.4].
 */
#define EXTOLL_VELO_RP(vpid)	(0x100000 + 0x1000 * (vpid))
#define EXTOLL_RMA_RP(vpid)	(0x140000 + 0x1000 * (vpid))

/* --- Global -------------------------------------------------------------- */
#define EXTOLL_GLOBAL_REGS(X) \
	X(VERSION,	0x00, 8, EXTOLL_VERSION, 0, 0) /* at offset 0 [T §7.2] */ \
	X(CAP,		0x08, 8, 0, 0, 0) /* set by properties */ \
	X(CTRL,		0x10, 4, 0, EXTOLL_CTRL_ENABLE, 0) \
	X(STATUS,	0x14, 4, 0, 0, 0) \
	X(NODE,		0x18, 4, 0, 0x3f, 0) /* own number; reset: node= */ \
	X(EPOCH,	0x1c, 4, 0, 0, 0) /* changes with each reset */ \
	X(TIME,		0x20, 8, 0, 0, 0) /* virtual clock, ns */ \
	X(SCRATCH,	0x28, 8, 0, ~0ULL, 0) \
	X(TEST_IRQ,	0x30, 4, 0, 0, 0) /* a write of n sends vector n, also if masked */ \
	X(TEST_OP,	0x34, 4, 0, 0, 0) /* a write of an extoll_test_op starts it */ \
	X(TEST_ADDR,	0x38, 8, 0, ~0ULL, 0) /* bus address of the test's memory */ \
	X(TEST_BYTES,	0x40, 4, 0, 0xff, 0) /* at most EXTOLL_TEST_BYTES_MAX */ \
	X(TEST_DATA,	0x44, 4, 0, 0xffffffff, 0) /* value of FILL */ \
	X(TEST_STATUS,	0x48, 4, 0, 0, 0) /* extoll_test_status of the last TEST_OP */

#define EXTOLL_VERSION		0x45585431ULL	/* "EXT1" */
#define EXTOLL_TEST_BYTES_MAX	128
/* Functions beyond the document; property strict=on removes all of them [P]. */
#define EXTOLL_CAP_BYTES	RNIC_BIT(0)	/* puts and gets of 1 to 4096 B at any
						 * address */
#define EXTOLL_CAP_ERRORS	RNIC_BIT(1)	/* notifications have an error field */
#define EXTOLL_CAP_NOTIFY	RNIC_BIT(2)	/* gets and locks notify at all three
						 * units */
#define EXTOLL_CAP_SNQ		RNIC_BIT(3)	/* there is an event queue: snq.h */
#define EXTOLL_CAP_PROT		RNIC_BIT(4)	/* register PROT has an effect */
#define EXTOLL_CAP_TXIO		RNIC_BIT(5)	/* register TXIO has an effect */
#define EXTOLL_CAP_ATU		RNIC_BIT(8)	/* 0: addresses are physical, only the
						 * kernel may use the RMA (atu=off) */
#define EXTOLL_CAP_LINKS	RNIC_FIELD(19, 16)	/* index of the last link with a
							 * netdev, plus 1 */
#define EXTOLL_CAP_LOG2_TLB	RNIC_FIELD(28, 24)	/* log2 of the TLB's entries; 31
							 * (NO_TLB): there is no TLB */
#define EXTOLL_CAP_NO_TLB	31
#define EXTOLL_CTRL_ENABLE	RNIC_BIT(0)	/* 0: units send and accept nothing;
						 * packets for other nodes are still
						 * forwarded */
#define EXTOLL_CTRL_RESET	RNIC_BIT(1)	/* self-clearing */
#define EXTOLL_STATUS_LINK	RNIC_BIT(0)	/* at least one link is up */
#define EXTOLL_STATUS_IDLE	RNIC_BIT(1)	/* no unit has work */

/* Self-test of memory accesses [P]. */
enum extoll_test_op {
	EXTOLL_TEST_FILL	= 1,	/* stores TEST_DATA in all words of 32 bits */
	EXTOLL_TEST_INVERT	= 2,	/* inverts all bits */
};

enum extoll_test_status {
	EXTOLL_TEST_NONE	= 0,	/* no TEST_OP since the reset */
	EXTOLL_TEST_OK		= 1,
	EXTOLL_TEST_REFUSED	= 2,	/* no such operation; or TEST_ADDR or TEST_BYTES is
					 * no multiple of 4, or TEST_BYTES is 0 or too
					 * large: no access */
	EXTOLL_TEST_BUS		= 3,	/* the bus refused an access, or the address is not
					 * memory: a part may have changed */
};

/* --- Interrupt vector n ---------------------------------------------------- */
/*
 * Causes of EVENTS are EXTOLL_EVENT_*; of VELO and RMA, bit v is VPID v.  A cause is set
 * in spite of its mask.  The vector is sent when a bit of CAUSE & MASK becomes 1: when a
 * cause with mask 1 is set, or when the mask of a set cause becomes 1, because a driver
 * that masks a cause for some time must not lose it [T §7.2], [P].
 */
#define EXTOLL_IRQ_REGS(X) \
	X(IRQ_CAUSE,	0x00, 4, 0, 0, 0) \
	X(IRQ_MASK,	0x04, 4, 0, 0xffffffff, 0) /* 1: the cause interrupts */ \
	X(IRQ_CLEAR,	0x08, 4, 0, 0, 0) /* a write of 1 clears the cause; reads 0 */

#define EXTOLL_EVENT_SNQ	RNIC_BIT(0)	/* the SNQ has got an entry */
#define EXTOLL_EVENT_LINK	RNIC_BIT(1)	/* a link went up or down */
#define EXTOLL_EVENT_TEST	RNIC_BIT(2)	/* TEST_IRQ has sent this vector */

/* --- Port p ---------------------------------------------------------------- */
#define EXTOLL_PORT_REGS(X) \
	X(PORT_CTRL,	0x00, 4, EXTOLL_PORT_CTRL_ENABLE, 0x3, 0) /* fields EXTOLL_PORT_CTRL_* */ \
	X(PORT_STATUS,	0x04, 4, 0, 0, 0) \
	X(PORT_PEER,	0x08, 4, 0, 0, 0) /* node of the neighbour */ \
	X(PORT_PEER_EPOCH, 0x0c, 4, 0, 0, 0) \
	X(PORT_RATE,	0x10, 4, 0, 0xffffffff, 0) /* kb/s, 0: no limit */ \
	X(PORT_LATENCY,	0x14, 4, 0, 0xffffffff, 0) /* ns */ \
	X(PORT_ROOM_0,	0x18, 4, EXTOLL_ROOM_DEFAULT, 0, 0) /* flits of VC 0: rx-flits= */ \
	X(PORT_ROOM_1,	0x1c, 4, EXTOLL_ROOM_DEFAULT, 0, 0) /* flits of VC 1 */ \
	X(PORT_CREDIT_0, 0x20, 4, 0, 0, 0) /* flits that VC 0 may still send */ \
	X(PORT_CREDIT_1, 0x24, 4, 0, 0, 0) /* flits that VC 1 may still send */ \
	X(PORT_TX_FLITS, 0x40, 8, 0, 0, 0) /* flits sent, without retransmissions */ \
	X(PORT_RX_FLITS, 0x48, 8, 0, 0, 0) /* flits accepted */ \
	X(PORT_RESENT,	0x50, 8, 0, 0, 0) /* flits sent again */ \
	X(PORT_TIMEOUTS, 0x58, 8, 0, 0, 0) /* retransmissions because of the timer */ \
	X(PORT_RX_BAD,	0x60, 8, 0, 0, 0) /* flits with a wrong CRC */ \
	X(PORT_RX_GAP,	0x68, 8, 0, 0, 0) /* flits behind a missing flit */ \
	X(PORT_RX_AGAIN, 0x70, 8, 0, 0, 0) /* flits that had arrived before */ \
	X(PORT_TX_NAK,	0x78, 8, 0, 0, 0) /* NAKs sent */ \
	X(PORT_RX_NAK,	0x80, 8, 0, 0, 0) /* NAKs received */ \
	X(PORT_RX_ERROR, 0x88, 8, 0, 0, 0) /* errors of the peer: acks, credits ... */ \
	X(PORT_DROPPED,	0x90, 8, 0, 0, 0) /* packets dropped: link down or stalled */

#define EXTOLL_PORT_CTRL_ENABLE	RNIC_BIT(0)
#define EXTOLL_PORT_CTRL_LOOPBACK RNIC_BIT(1)	/* 1: the port receives its own flits */
#define EXTOLL_PORT_STATUS_UP	RNIC_BIT(0)	/* flits may pass in both directions */
#define EXTOLL_PORT_STATUS_PEER	RNIC_BIT(1)	/* PORT_PEER and PORT_PEER_EPOCH are
						 * valid */
#define EXTOLL_PORT_STATUS_PRESENT RNIC_BIT(2)	/* the port has a netdev */
#define EXTOLL_PORT_STATUS_OTHER RNIC_BIT(3)	/* frames of another family of NICs came by
						 * this cable */

/* --- VELO [T Table 7-1] ------------------------------------------------------ */
#define EXTOLL_VELO_REGS(X) \
	X(VELO_ENABLE,	0x00, 4, 0, 0xffffffff, 0) /* bit v: VPID v may use VELO */ \
	X(VELO_IRQ,	0x04, 4, 0, 0xffffffff, 0) /* bit v: VPID v gets interrupts */ \
	X(VELO_COUNT,	0x08, 8, 0, 0, 0) /* fields EXTOLL_VELO_COUNT_* */

#define EXTOLL_VELO_COUNT_SENT	RNIC_FIELD(20, 0)	/* messages, modulo 2^21 */
#define EXTOLL_VELO_COUNT_RECEIVED RNIC_FIELD(41, 21)
#define EXTOLL_VELO_COUNT_DISCARDED RNIC_FIELD(62, 42)

/* Node n of the RLT. */
#define EXTOLL_ROUTE_REGS(X) \
	X(ROUTE,	0x00, 8, 0, ~0ULL, 0) /* a routing string; 0: no route */

/* VELO's VPID v, in a page of its own. */
#define EXTOLL_RP_REGS(X) \
	X(RP,		0x00, 8, 0, 0xffffffff, 0) /* the same register as RPLT of VPID v */

/* VPID v.  Pointers count slots and run free [P]. */
#define EXTOLL_VELO_VPID_REGS(X) \
	X(BALT,		0x00, 8, 0, ~0xfffULL, 0) /* bus address of the mailbox */ \
	X(MSLT,		0x08, 8, 0, EXTOLL_RING_MASK, 0) /* bytes of the ring minus 1 */ \
	X(WPLT,		0x10, 8, 0, 0xffffffff, 0) /* next slot for the device */ \
	X(RPLT,		0x18, 8, 0, 0xffffffff, 0) /* next slot that software reads */ \
	X(TXIO,		0x20, 4, 0, 1, 0) /* 1: stores are transactional */

/* A ring has 4 KiB to 1 MiB: ones from bit 0 up, a thermometer code [T §7.4], [P]. */
#define EXTOLL_RING_MASK	0xfffffULL
#define EXTOLL_RING_MIN		0x1000
#define EXTOLL_RING_MAX		0x100000

/* --- RMA [T Table 7-8] ------------------------------------------------------- */
#define EXTOLL_RMA_REGS(X) \
	X(RMA_ENABLE,	0x00, 4, 0, 0xffffffff, 0) /* bit v: VPID v may use the RMA */ \
	X(LOCK_BASE,	0x08, 8, 0, ~0xfffULL, 0) /* bus address of VPID 0's locks */ \
	X(LOCK_SIZE,	0x10, 8, 0, 0x3f000, 0) /* bytes, 4 KiB for a VPID */ \
	X(LOCK_WAIT,	0x18, 4, 0, 1, 0) /* 1: locks wait for success; lock-wait= */

/* VPID v.  Pointers count notifications and run free [P]. */
#define EXTOLL_RMA_VPID_REGS(X) \
	X(NOTI_BASE,	0x00, 8, 0, ~0xfffULL, 0) /* bus address of the ring */ \
	X(NOTI_SIZE,	0x08, 8, 0, EXTOLL_RING_MASK, 0) /* bytes of the ring minus 1 */ \
	X(NOTI_WP,	0x10, 8, 0, 0xffffffff, 0) /* next entry for the device */ \
	X(NOTI_RP,	0x18, 8, 0, 0xffffffff, 0) /* next entry that software reads */

/* --- SNQ --------------------------------------------------------------------- */
#define EXTOLL_SNQ_REGS(X) \
	X(SNQ_BASE,	0x00, 8, 0, ~0xfffULL, 0) /* bus address of the queue */ \
	X(SNQ_CTRL,	0x08, 4, 0, 1, 0) /* 1: the device stores events */ \
	X(SNQ_WP,	0x0c, 4, 0, 0, 0) /* next entry for the device; runs free */ \
	X(SNQ_RP,	0x10, 4, 0, 0xffffffff, 0) /* next entry that software reads */

/* --- ATU [T §5.4] -------------------------------------------------------------- */
#define EXTOLL_ATU_REGS(X) \
	X(ATU_FLUSH,	0x00, 8, 0, 0, 0) /* a write starts a flush */ \
	X(ATU_FLUSHED,	0x08, 8, 0, 0, 0) /* flushes that have ended */

#define EXTOLL_ATU_FLUSH_NLA	RNIC_FIELD(38, 12)	/* page, for PAGE */
#define EXTOLL_ATU_FLUSH_VPID	RNIC_FIELD(4, 0)	/* owner, for OWNER */
#define EXTOLL_ATU_FLUSH_OP	RNIC_FIELD(61, 60)	/* enum extoll_flush */
#define EXTOLL_ATU_FLUSH_PENDING RNIC_BIT(63)		/* 1: a unit still uses such a
							 * page */

enum extoll_flush {
	EXTOLL_FLUSH_PAGE	= 1,
	EXTOLL_FLUSH_OWNER	= 2,	/* all pages of a VPID */
	EXTOLL_FLUSH_ALL	= 3,
};

/* --- End-point: VPID v, for VELO and RMA ----------------------------------------- */
#define EXTOLL_END_POINT_REGS(X) \
	X(PROT,		0x00, 4, 0, 0xffff, 0) /* protection id [P] */

/* --- Counters: 64 bits each, any write clears ------------------------------ */
/*
 * The sub-operations of Table 9-1, for each unit: stores of the CPU (PIO), reads and
 * writes of memory, translations, trips through the network, and commands that passed the
 * unit.
 */
#define EXTOLL_COUNTERS(X) \
	X(VELO_PIO,		"messages that the requester took from stores") \
	X(VELO_TRIP,		"message packets sent") \
	X(VELO_DMA_WRITE,	"slots written") \
	X(RMA_PIO,		"descriptors that the requester took from stores") \
	X(REQ_UNIT,		"commands that passed the requester") \
	X(REQ_DMA_READ,		"pages read by the requester") \
	X(REQ_DMA_WRITE,	"notifications written by the requester") \
	X(REQ_XLATE,		"translations for the requester") \
	X(REQ_TRIP,		"packets sent by the requester") \
	X(COMP_UNIT,		"commands that passed the completer") \
	X(COMP_DMA_WRITE,	"pages and notifications written by the completer") \
	X(COMP_XLATE,		"translations for the completer") \
	X(RESP_UNIT,		"commands that passed the responder") \
	X(RESP_DMA_READ,	"pages and locks read by the responder") \
	X(RESP_DMA_WRITE,	"locks and notifications written by the responder") \
	X(RESP_XLATE,		"translations for the responder") \
	X(RESP_TRIP,		"packets sent by the responder") \
	X(REQ_PUT,		"puts that passed the requester") \
	X(REQ_GET,		"gets that passed the requester") \
	X(COMP_PUT,		"puts that passed the completer") \
	X(COMP_GET,		"responses to gets that passed the completer") \
	X(RESP_GET,		"gets that passed the responder") \
	X(RESP_LOCK,		"locks that passed the responder") \
	X(HTAX_POSTED,		"transfers in the posted channel") \
	X(HTAX_NONPOSTED,	"transfers in the non-posted channel") \
	X(HTAX_RESPONSE,	"transfers in the response channel") \
	X(HTAX_ATS,		"transfers in the translation channel") \
	X(TLB_HIT,		"translations found in the TLB") \
	X(TLB_MISS,		"translations that read a GATE") \
	X(TLB_FLUSH,		"entries that a flush removed") \
	X(ATU_FLUSH_NS,		"ns in which flushes were pending") \
	X(ATU_REFUSED,		"translations refused") \
	X(VELO_SPLIT,		"messages that left the requester in parts") \
	X(VELO_TORN,		"messages whose stores were incomplete or out of place") \
	X(VELO_BAD_STORE,	"stores to the requester of a wrong size or place") \
	X(VELO_NO_VPID,		"stores and commits of a VPID that is not enabled") \
	X(VELO_FULL,		"messages discarded: mailbox full") \
	X(VELO_DISABLED,	"messages discarded: mailbox disabled") \
	X(VELO_PROT,		"messages discarded: protection ids differ") \
	X(VELO_BUS,		"messages discarded: the bus refused the mailbox") \
	X(RMA_BAD,		"descriptors refused") \
	X(RMA_TORN,		"descriptors of which a half was missing") \
	X(RMA_PROT,		"commands refused: protection ids differ") \
	X(NOTI_LOST,		"notifications lost: ring full or disabled") \
	X(LOCK_FAILED,		"locks without success") \
	X(SNQ_LOST,		"events lost: queue full or disabled") \
	X(NO_ROUTE,		"packets without a route") \
	X(ROUTE_BAD,		"packets dropped: the route ends at no unit or link") \
	X(PACKET_BAD,		"packets dropped: malformed") \
	X(FORWARDED,		"packets passed on for other nodes") \
	X(CFCQ_WAIT,		"stores that waited for room in a FIFO") \
	X(CFCQ_DROPPED,		"commands dropped: the FIFO was full too long") \
	X(TXIO_FULL,		"transactional stores refused: full") \
	X(TXIO_TORN,		"transactional stores refused: torn") \
	X(REG_BAD,		"accesses to BAR 0 without a register, or of a wrong size") \
	X(TEST_BAD,		"self-tests refused or failed")

enum extoll_counter {
#define EXTOLL_COUNTER_ENUM(name, text) EXTOLL_CNT_##name,
	EXTOLL_COUNTERS(EXTOLL_COUNTER_ENUM)
#undef EXTOLL_COUNTER_ENUM
	EXTOLL_COUNTER_COUNT
};

/* Offsets of registers in their blocks: EXTOLL_REG_<NAME>. */
enum extoll_reg {
#define EXTOLL_REG_ENUM(name, offset, bytes, reset, writable, w1c) \
	EXTOLL_REG_##name = offset,
	EXTOLL_GLOBAL_REGS(EXTOLL_REG_ENUM)
	EXTOLL_IRQ_REGS(EXTOLL_REG_ENUM)
	EXTOLL_PORT_REGS(EXTOLL_REG_ENUM)
	EXTOLL_VELO_REGS(EXTOLL_REG_ENUM)
	EXTOLL_ROUTE_REGS(EXTOLL_REG_ENUM)
	EXTOLL_RP_REGS(EXTOLL_REG_ENUM)
	EXTOLL_VELO_VPID_REGS(EXTOLL_REG_ENUM)
	EXTOLL_RMA_REGS(EXTOLL_REG_ENUM)
	EXTOLL_RMA_VPID_REGS(EXTOLL_REG_ENUM)
	EXTOLL_SNQ_REGS(EXTOLL_REG_ENUM)
	EXTOLL_ATU_REGS(EXTOLL_REG_ENUM)
	EXTOLL_END_POINT_REGS(EXTOLL_REG_ENUM)
#undef EXTOLL_REG_ENUM
};

#endif /* RNIC_EXTOLL_REGS_H */
