/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet: PCI ids, BARs and the privileged register map [P].
 *
 * Each register block is one list, X(NAME, offset, bytes, reset, writable, w1c):
 *   offset    from the start of the block
 *   bytes     4 or 8; an 8-byte register may be accessed in halves, the upper half last
 *   reset     value after reset; properties, and registers that the device computes, may
 *             give another value
 *   writable  bits that software may set and clear
 *   w1c       bits that software clears by writing 1
 * A write to a register with writable 0 may still have an effect.  The device's register
 * table, the reset-value test and the tables of the documentation come from these lists.
 */
#ifndef RNIC_EXANET_REGS_H
#define RNIC_EXANET_REGS_H

#include "rnic/bits.h"
#include "rnic/exanet/desc.h"

#define EXANET_PCI_VENDOR_ID	0x1234
#define EXANET_PCI_DEVICE_ID	0xe4a7
#define EXANET_PCI_CLASS	0x0280	/* network controller, other */

#define EXANET_BAR_REGS		0	/* 1 MiB, 32-bit: registers, kernel only */
#define EXANET_BAR_MSIX		1	/* 4 KiB: table of MSI-X vectors */
#define EXANET_BAR_USER		2	/* 64-bit; user pages, see desc.h */
					/* BAR 4 is the aperture, see shm.h */
#define EXANET_REGS_BYTES	0x100000

/*
 * On AXI the device is a device-tree node with three memory regions (registers, user
 * pages, aperture) and two interrupt wires.  A wire is high while CTRL_IRQ is set and a
 * cause of this wire is pending and set in IRQ_MASK.
 */
#define EXANET_AXI_COMPATIBLE	"exanest,exanet-axi"
#define EXANET_AXI_REGIONS	3
#define EXANET_LINE_ADMIN	0	/* all causes but MAILBOX */
#define EXANET_LINE_MAILBOX	1	/* cause MAILBOX */
#define EXANET_IRQ_LINES	2

#define EXANET_CONTEXTS		16
#define EXANET_OUTPUTS		4	/* number of output buffers; path p uses buffer p % 4 */
#define EXANET_OUTPUT_SLOTS	8	/* maximal number of data packets in an output buffer
					 * [T §5.3.4] */
/*
 * Link ports: 4 inside the QFDB and 8 of the network router [T §3.2.3].  CAP0_PORTS is
 * the index of the last port with a netdev, plus 1.  The registers of a port without a
 * netdev read 0.
 */
#define EXANET_LINKS		12

/* MSI-X vectors. */
#define EXANET_VEC_FAULT	0
#define EXANET_VEC_ADMIN	1
#define EXANET_VEC_CONTEXT(c)	(2 + (c))
#define EXANET_VECTORS		(2 + EXANET_CONTEXTS)

/* Offsets of register blocks in BAR 0. */
#define EXANET_GLOBAL		0x00000
#define EXANET_CTX(c)		(0x01000 + 0x80 * (c))
#define EXANET_PORT(p)		(0x02000 + 0x80 * (p))
#define EXANET_SWITCH		0x03000
#define EXANET_RTMBOX		0x04000
#define EXANET_FW		0x05000
#define EXANET_FAULT		0x06000
#define EXANET_COUNTER(n)	(0x07000 + 8 * (n))
#define EXANET_PENDING_LIST	0x08000	/* EXANET_TIDS (1024) x struct exanet_desc */
#define EXANET_CONTROL_WINDOW	0x10000	/* EXANET_OUTPUTS (4) windows of 16 KiB */
#define EXANET_CONTROL_ADDR(output, tid) \
	(EXANET_CONTROL_WINDOW + 0x4000 * (output) + 16 * (tid))
#define EXANET_RX_DEBUG		0x20000	/* 256 x struct exanet_rx_context */
#define EXANET_TOMB_DEBUG	0x24000	/* 1024 x struct exanet_tombstone */
#define EXANET_SCRATCHPAD	0x30000	/* 16 x 4 KiB, alias of the scratchpad pages */
#define EXANET_PACKETIZER	0x40000	/* 16 x 4 KiB, alias of the packetizer pages */
#define EXANET_MAILBOX_ALIAS	0x50000	/* 16 x 4 KiB, alias of the mailbox pages */
#define EXANET_ALIAS_PAGE	0x1000	/* bytes from a page of these three aliases to the
					 * next */
#define EXANET_NI_MAP(index)	(0x60000 + 8 * (index))	/* words with fields EXANET_NI_MAP_* */

/* --- Global -------------------------------------------------------------- */
#define EXANET_GLOBAL_REGS(X) \
	X(ID,		0x00, 4, EXANET_ID,	0, 0) \
	X(VERSION,	0x04, 4, EXANET_VERSION, 0, 0) \
	X(CAP0,		0x08, 4, 0,		0, 0) /* numbers of units, set by properties */ \
	X(CAP1,		0x0c, 4, 0,		0, 0) /* functions, set by properties */ \
	X(CTRL,		0x10, 4, 0,		EXANET_CTRL_WRITABLE, 0) \
	X(STATUS,	0x14, 4, EXANET_STATUS_READY | EXANET_STATUS_QUIESCENT, 0, 0) \
	X(NODE,		0x18, 4, 0,		EXANET_COORD_MASK, 0) /* reset: coord= */ \
	X(EPOCH,	0x1c, 4, 0,		0, 0) /* first value: epoch=, or by the clock */ \
	X(IRQ_CAUSE,	0x20, 4, 0,		0, EXANET_IRQ_ALL) \
	X(IRQ_MASK,	0x24, 4, 0,		EXANET_IRQ_ALL, 0) /* 1: the cause interrupts */ \
	X(MBOX_PENDING,	0x28, 4, 0,		0, 0xffff) /* bit c: context c interrupts */ \
	X(TIME,		0x30, 8, 0,		0, 0) /* virtual clock, ns */ \
	X(SCRATCH,	0x38, 8, 0,		~0ULL, 0)

#define EXANET_ID		0x45584e54	/* "EXNT" */
#define EXANET_VERSION		0x00010000
#define EXANET_VERSION_MAJOR	RNIC_FIELD(31, 16)
#define EXANET_VERSION_MINOR	RNIC_FIELD(15, 0)
#define EXANET_CAP0_CONTEXTS	RNIC_FIELD(4, 0)
#define EXANET_CAP0_OUTPUTS	RNIC_FIELD(8, 5)
#define EXANET_CAP0_PORTS	RNIC_FIELD(12, 9)
#define EXANET_CAP0_LOG2_TIDS	RNIC_FIELD(16, 13)
#define EXANET_CAP0_LOG2_RX	RNIC_FIELD(20, 17)
#define EXANET_CAP0_LOG2_WAYS	RNIC_FIELD(24, 21)
#define EXANET_CAP0_PAGE_SHIFT	RNIC_FIELD(29, 25)	/* log2 of the bytes of a user page */
#define EXANET_CAP1_WINDOWS	RNIC_BIT(0)	/* each context has seven 512-GB windows */
#define EXANET_CAP1_DUP_SAFE	RNIC_BIT(1)	/* packets have generations, and the receiver has
						 * tombstones (desc.h) */
#define EXANET_CAP1_APERTURE	RNIC_BIT(2)
#define EXANET_CAP1_TIMING	RNIC_BIT(3)	/* property shm-timing is on */
#define EXANET_CAP1_MULTIPATH	RNIC_BIT(4)
#define EXANET_CAP1_RELEASE	RNIC_BIT(5)	/* the NIC sends and accepts release packets */
#define EXANET_CAP1_FLOW_RATE	RNIC_BIT(6)	/* the NIC sends and accepts flow-rate packets */
#define EXANET_CAP1_FIRMWARE	RNIC_BIT(7)	/* the device supports FW_MODE INTERNAL */
#define EXANET_CAP1_JOB_LOCAL	RNIC_BIT(8)	/* register CTX_PDID has bit LOCAL */
#define EXANET_CAP1_POLL	RNIC_BIT(9)	/* mailbox pages have EXANET_MAILBOX_POLL */
#define EXANET_CTRL_ENABLE	RNIC_BIT(0)	/* 0: the units send and accept
						 * nothing; packets for other nodes
						 * are still forwarded */
#define EXANET_CTRL_RESET	RNIC_BIT(1)	/* self-clearing */
#define EXANET_CTRL_STRICT	RNIC_BIT(2)	/* 1: the NIC uses the protocol as published,
						 * without generations, tombstones, releases and
						 * runs, and without ORDER and WAW of SHM_CTRL */
#define EXANET_CTRL_IRQ		RNIC_BIT(3)	/* 1: the device may send interrupts */
#define EXANET_CTRL_WRITABLE	(EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT | \
				 EXANET_CTRL_IRQ)
#define EXANET_STATUS_READY	RNIC_BIT(0)
#define EXANET_STATUS_LINK	RNIC_BIT(1)	/* at least one link is up */
#define EXANET_STATUS_QUIESCENT	RNIC_BIT(2)	/* no context has work under way, and no
						 * block waits in ExaDMA */
#define EXANET_COORD_MASK	0x3fffff
#define EXANET_IRQ_FAULT	RNIC_BIT(0)	/* the fault FIFO has got an entry */
#define EXANET_IRQ_MAILBOX	RNIC_BIT(1)	/* a bit of MBOX_PENDING was set; the device
						 * clears this cause when MBOX_PENDING becomes
						 * 0 */
#define EXANET_IRQ_LINK		RNIC_BIT(2)	/* a link went up or down */
#define EXANET_IRQ_PROTOCOL	RNIC_BIT(3)	/* the NIC has dropped or refused a malformed or
						 * forbidden packet */
#define EXANET_IRQ_RT		RNIC_BIT(4)	/* the RT mailbox has got an entry; not if
						 * FW_MODE is INTERNAL */
#define EXANET_IRQ_SHM		RNIC_BIT(5)	/* a load, a store, or an access of a CDMA copy to
						 * a GVA has failed: see SHM_ERR_INFO */
#define EXANET_IRQ_CDMA		RNIC_BIT(6)	/* a channel has a bit of CDMA_SR that its
						 * CDMA_CR enables */
#define EXANET_IRQ_TRANSFER	RNIC_BIT(7)	/* a transfer has failed, but not with
						 * BAD_REQUEST or ABORTED */
#define EXANET_IRQ_FAULT_OVERFLOW RNIC_BIT(8)	/* a page fault found no room in the table or
						 * FIFO of faults */
#define EXANET_IRQ_ACCEL	RNIC_BIT(9)	/* a job of the accelerator with ACCEL_IRQ has
						 * ended */
#define EXANET_IRQ_ALL		0x3ffU
/*
 * Vector FAULT is for causes FAULT and FAULT_OVERFLOW, vector CONTEXT(c) for bit c of
 * MBOX_PENDING, vector ADMIN for all other causes.  A vector needs CTRL_IRQ and the bit
 * of its cause in IRQ_MASK; vectors CONTEXT(c) need bit MAILBOX.  The device sends a
 * vector when its cause becomes pending while both bits are set.  The device also sends
 * the vector when software sets the second of the two bits while the cause is pending.
 */

/* --- Context c ------------------------------------------------------------ */
#define EXANET_CTX_REGS(X) \
	X(CTX_CTRL,	0x00, 4, 0, EXANET_CTX_CTRL_WRITABLE, 0) \
	X(CTX_STATUS,	0x04, 4, 0, 0, 0) \
	X(CTX_PGD,	0x08, 8, 0, ~0ULL, 0) /* physical address of the top page table */ \
	X(CTX_PDID,	0x10, 4, 0, EXANET_CTX_PDID_WRITABLE, 0) /* bits 3:0 read c */ \
	X(CTX_INV_VA,	0x18, 8, 0, ~0ULL, 0) /* first address for CTX_INV_CMD */ \
	X(CTX_INV_CMD,	0x20, 8, 0, 0, 0) /* a write drops cached translations; reads 0 */ \
	X(CTX_QUOTA,	0x28, 4, EXANET_QUOTA_DEFAULT, EXANET_QUOTA_WRITABLE, 0) \
	X(CTX_WIN0,	0x40, 8, 0, EXANET_WIN_WRITABLE, 0) \
	X(CTX_WIN1,	0x48, 8, 0, EXANET_WIN_WRITABLE, 0) \
	X(CTX_WIN2,	0x50, 8, 0, EXANET_WIN_WRITABLE, 0) \
	X(CTX_WIN3,	0x58, 8, 0, EXANET_WIN_WRITABLE, 0) \
	X(CTX_WIN4,	0x60, 8, 0, EXANET_WIN_WRITABLE, 0) \
	X(CTX_WIN5,	0x68, 8, 0, EXANET_WIN_WRITABLE, 0) \
	X(CTX_WIN6,	0x70, 8, 0, EXANET_WIN_WRITABLE, 0)

#define EXANET_CTX_WIN(w)	(EXANET_REG_CTX_WIN0 + 8 * (w))
#define EXANET_CTX_CTRL_EN	RNIC_BIT(0)
#define EXANET_CTX_CTRL_QUIESCE	RNIC_BIT(1)	/* 1: ends the work of the context with an error,
						 * and refuses new work */
#define EXANET_CTX_CTRL_FORMAT	RNIC_FIELD(7, 4)	/* enum exanet_table_format */
#define EXANET_CTX_CTRL_VA_BITS	RNIC_FIELD(15, 8)	/* number of bits of a user address; 0:
							 * the number that FORMAT has */
#define EXANET_CTX_CTRL_NO_REPORT RNIC_BIT(16)	/* 1: a page fault fails the access and makes no
						 * entry in the fault FIFO */
#define EXANET_CTX_CTRL_WRITABLE 0x1fff3U
#define EXANET_CTX_STATUS_ACTIVE RNIC_BIT(0)	/* 1: EN is set and QUIESCE is not */
#define EXANET_CTX_STATUS_QUIESCED RNIC_BIT(1)	/* 1: QUIESCE is set and OPS is 0 */
#define EXANET_CTX_STATUS_FAULTS RNIC_FIELD(15, 8)	/* number of unresolved page faults,
							 * saturating */
#define EXANET_CTX_STATUS_OPS	RNIC_FIELD(31, 16)	/* number of operations under way
							 * (transfers, messages ...),
							 * saturating */
/*
 * 1: the job in the PDID has a meaning on this node only, so the NIC refuses packets of
 * other nodes for the context, and requests of the context to other nodes.
 */
#define EXANET_CTX_PDID_LOCAL	RNIC_BIT(16)
#define EXANET_CTX_PDID_WRITABLE (EXANET_PDID_JOB | EXANET_CTX_PDID_LOCAL)
#define EXANET_INV_LENGTH	RNIC_FIELD(51, 0)	/* number of bytes from CTX_INV_VA on */
#define EXANET_INV_ALL		RNIC_BIT(63)	/* 1: all addresses of the context */
#define EXANET_QUOTA_WRITES	RNIC_FIELD(5, 0)	/* maximal number of active write
							 * channels; 0: no writes */
#define EXANET_QUOTA_READS	RNIC_FIELD(13, 8)	/* maximal number of active read
							 * channels; 0 counts as 1 */
#define EXANET_QUOTA_TIDS	RNIC_FIELD(26, 16)	/* maximal number of blocks in flight; 0
							 * counts as 1, more than 64 as 64 */
#define EXANET_QUOTA_WRITABLE	0x07ff3f3fU
#define EXANET_QUOTA_DEFAULT	0x00402020U	/* TIDS 64, READS 32, WRITES 32 */
#define EXANET_WIN_BASE		RNIC_FIELD(63, 39)
#define EXANET_WIN_VALID	RNIC_BIT(0)
#define EXANET_WIN_WRITABLE	(EXANET_WIN_BASE | EXANET_WIN_VALID)

enum exanet_table_format {
	EXANET_FORMAT_IDENTITY	= 0,	/* a VA is a physical address; for tests */
	EXANET_FORMAT_X86_4	= 1,
	EXANET_FORMAT_X86_5	= 2,
	EXANET_FORMAT_ARM64_4K	= 3,
	EXANET_FORMAT_ARM64_16K	= 4,
	EXANET_FORMAT_ARM64_64K	= 5,
	EXANET_FORMAT_ARM64_4K_LPA2 = 6,	/* TCR_EL1.DS: 52-bit addresses */
	EXANET_FORMAT_ARM64_16K_LPA2 = 7,
	EXANET_FORMATS		= 8,
};

/* --- Link port p ---------------------------------------------------------- */
#define EXANET_PORT_REGS(X) \
	X(PORT_CTRL,	0x00, 4, EXANET_PORT_CTRL_ENABLE, EXANET_PORT_CTRL_WRITABLE, 0) \
	X(PORT_STATUS,	0x04, 4, 0, 0, 0) \
	X(PORT_XOFF,	0x08, 4, 0, 0xffff, 0) /* XOFF above it; reset: rx-fifo-words - 72 */ \
	X(PORT_XON,	0x0c, 4, 72, 0xffff, 0) /* XON below this number of words */ \
	X(PORT_LEVEL,	0x10, 4, 0, 0, 0) \
	X(PORT_PEER,	0x14, 4, 0, 0, 0) /* coordinates of the neighbour; 0: not known */ \
	X(PORT_RATE,	0x18, 4, 0, 0xffffffff, 0) /* kb/s of words on the link; 0: no limit */ \
	X(PORT_LATENCY,	0x1c, 4, 0, 0xffffffff, 0) /* delay of packets, ns of virtual time */ \
	X(PORT_TX_PACKETS,	0x20, 8, 0, 0, 0) \
	X(PORT_TX_WORDS,	0x28, 8, 0, 0, 0) \
	X(PORT_RX_PACKETS,	0x30, 8, 0, 0, 0) \
	X(PORT_RX_WORDS,	0x38, 8, 0, 0, 0) \
	X(PORT_BAD_HEADER,	0x40, 8, 0, 0, 0) /* packets with a bad header CRC */ \
	X(PORT_BAD_PAYLOAD,	0x48, 8, 0, 0, 0) /* packets with a bad payload CRC */ \
	X(PORT_BAD_FOOTER,	0x50, 8, 0, 0, 0) /* packets with a bad footer CRC */ \
	X(PORT_DROPPED,		0x58, 8, 0, 0, 0) /* bad frames; packets: link down, no room */ \
	X(PORT_XOFF_SENT,	0x60, 8, 0, 0, 0) \
	X(PORT_XOFF_RECEIVED,	0x68, 8, 0, 0, 0) \
	X(PORT_INJECT,	0x70, 8, 0, ~0ULL, 0) \
	X(PORT_INJECTED, 0x78, 8, 0, 0, 0) /* faults injected by INJECT and by faultsN= */

#define EXANET_PORT_CTRL_ENABLE	RNIC_BIT(0)
/*
 * 1: the port receives its own frames.  Packets for this node leave by the port and come
 * back, so that software can test a port without a neighbour.
 */
#define EXANET_PORT_CTRL_LOOPBACK RNIC_BIT(1)
#define EXANET_PORT_CTRL_ROLE	RNIC_FIELD(7, 4)	/* enum exanet_role; AUTO: the
							 * coordinates of both ends
							 * decide */
#define EXANET_PORT_CTRL_WRITABLE 0xf3U
#define EXANET_PORT_STATUS_UP	RNIC_BIT(0)	/* each end has received a HELLO of the other,
						 * or the port is in LOOPBACK */
#define EXANET_PORT_STATUS_PEER_XOFF RNIC_BIT(1)	/* the neighbour has stopped a channel of
							 * this port */
#define EXANET_PORT_STATUS_XOFF	RNIC_BIT(2)	/* this port has stopped a channel of the
						 * neighbour */
#define EXANET_PORT_STATUS_CONFLICT RNIC_BIT(3)	/* 1: this port has refused the coordinates in
						 * the neighbour's HELLO */
#define EXANET_PORT_STATUS_PRESENT RNIC_BIT(4)	/* the port has a netdev */
#define EXANET_PORT_STATUS_ROLE	RNIC_FIELD(11, 8)	/* enum exanet_role that the router
							 * uses */
#define EXANET_PORT_STATUS_PEER_XOFF_VC RNIC_FIELD(15, 12)	/* bit n: the neighbour has
								 * stopped virtual channel n */
#define EXANET_PORT_STATUS_XOFF_VC RNIC_FIELD(19, 16)	/* bit n: this port has stopped virtual
							 * channel n */
#define EXANET_PORT_LEVEL_RX	RNIC_FIELD(15, 0)	/* number of words in the receive
							 * FIFOs */
#define EXANET_PORT_LEVEL_TX	RNIC_FIELD(31, 16)	/* number of words that wait to be
							 * sent */
#define EXANET_XOFF_MARGIN	72	/* words of the receive FIFO that stay free
				 * above the default XOFF level [T §6.3] */
#define EXANET_RX_FIFO_WORDS	256	/* words of the receive FIFO of the prototype [T §6.3] */

/* Fields of PORT_INJECT: faults that the port injects into packets that it sends. */
#define EXANET_INJECT_KIND	RNIC_FIELD(7, 0)	/* enum exanet_inject */
#define EXANET_INJECT_TYPE	RNIC_FIELD(15, 8)	/* faults only in packets of this
							 * exanet_type; 0xff: of all types */
#define EXANET_INJECT_EVERY	RNIC_FIELD(31, 16)	/* n: a fault in every n-th of these
							 * packets that have the part of KIND; 0
							 * counts as 1 */
#define EXANET_INJECT_COUNT	RNIC_FIELD(63, 32)	/* number of faults left: KIND becomes
							 * NONE after the last fault; a write of
							 * 0 means no limit */
#define EXANET_INJECT_TYPE_ALL	0xff
/* The kinds of faults: X(NAME, value, name in text). */
#define EXANET_INJECTS(X) \
	X(NONE,		0, "none") /* no fault */ \
	X(DROP,		1, "drop") /* drops the packet */ \
	X(HEADER,	2, "header") /* flips a bit of the header */ \
	X(PAYLOAD,	3, "payload") /* flips a bit of the payload, if there is one */ \
	X(FOOTER,	4, "footer") /* flips a bit of the footer, if there is one */ \
	X(DUPLICATE,	5, "duplicate") /* sends the packet twice */ \
	X(HOLD,		6, "hold") /* sends the packet after the next packet */

enum exanet_inject {
#define EXANET_INJECT_ENUM(name, value, word) EXANET_INJECT_##name = value,
	EXANET_INJECTS(EXANET_INJECT_ENUM)
#undef EXANET_INJECT_ENUM
};

/*
 * The role of a port for the router, X(NAME, value, name in text): the nodes to which the
 * port leads.  The arithmetic router (ARITH_MODE in rnic/exanet/shm.h) uses only UPLINK,
 * PLUS, MINUS and CARD; there UPLINK leads to other cabinets.
 */
#define EXANET_ROLES(X) \
	X(AUTO,		0, "auto") /* CTRL: by coordinates; STATUS: no role */ \
	X(X_MINUS,	1, "x-minus") /* the torus neighbour with x - 1 */ \
	X(X_PLUS,	2, "x-plus") \
	X(Y_MINUS,	3, "y-minus") \
	X(Y_PLUS,	4, "y-plus") \
	X(Z_MINUS,	5, "z-minus") \
	X(Z_PLUS,	6, "z-plus") \
	X(UPLINK,	7, "uplink") /* nodes whose upper 8 bits differ */ \
	X(QFDB,		8, "qfdb") /* another FPGA of the QFDB */ \
	X(PLUS,		9, "plus") /* a chassis with a higher number */ \
	X(MINUS,	10, "minus") /* a chassis with a lower number */ \
	X(CARD,		11, "card") /* another card of the chassis */

enum exanet_role {
#define EXANET_ROLE_ENUM(name, value, word) EXANET_ROLE_##name = value,
	EXANET_ROLES(EXANET_ROLE_ENUM)
#undef EXANET_ROLE_ENUM
	EXANET_ROLE_COUNT
};

/* --- Switch: NI crossbar, and the inter-QFDB router of F1 ------------------- */
#define EXANET_SWITCH_REGS(X) \
	X(SW_MODE,	0x00, 4, EXANET_SW_MODE_ROUTER, 0x3, 0) \
	X(SW_DIMS,	0x08, 4, 0, EXANET_SW_DIMS_WRITABLE, 0) /* dims= */ \
	X(SW_ORDER,	0x0c, 4, EXANET_SW_ORDER_DEFAULT, 0x3f, 0) \
	X(SW_FLOW,	0x10, 4, EXANET_SW_FLOW_DEFAULT, EXANET_SW_FLOW_WRITABLE, 0) \
	X(SW_FLOW_WINDOW, 0x14, 4, 1000000, 0xffffffff, 0) /* ns */ \
	X(SW_LOCAL0,	0x20, 8, 0, 0, 0) /* packets from F1 into the torus */ \
	X(SW_LOCAL1,	0x28, 8, 0, 0, 0) /* packets from F2 into the torus [T §6.4] */ \
	X(SW_LOCAL2,	0x30, 8, 0, 0, 0) /* packets from F3 into the torus */ \
	X(SW_LOCAL3,	0x38, 8, 0, 0, 0) /* packets from F4 into the torus */ \
	X(SW_LOCAL_OUT,	0x40, 8, 0, 0, 0) /* packets that leave the torus in this QFDB */ \
	X(SW_TRANSIT,	0x48, 8, 0, 0, 0) /* packets from one torus link to another */ \
	X(SW_FLOWS,	0x50, 4, 0, 0, 0) /* [15:0] flows at outputs, [31:16] own paced flows */

enum exanet_sw_mode {
	EXANET_SW_MODE_NI	= 0,	/* packets that arrive for other nodes are dropped */
	EXANET_SW_MODE_ROUTER	= 1,	/* packets for other nodes are forwarded */
};
/*
 * Fields of SW_DIMS: number of nodes in a ring of the dimension, 3 to 16; with another
 * value the dimension is a mesh.  All nodes of a network need the same value.
 */
#define EXANET_SW_DIMS_X	RNIC_FIELD(4, 0)
#define EXANET_SW_DIMS_Y	RNIC_FIELD(12, 8)
#define EXANET_SW_DIMS_Z	RNIC_FIELD(20, 16)
#define EXANET_SW_DIMS_WRITABLE	0x1f1f1fU
/*
 * Fields of SW_ORDER: a packet moves along the dimensions in this order; 0 is X, 1 is Y, 2
 * is Z.  A value that is no permutation counts as the default Z, Y, X [EXT].
 */
#define EXANET_SW_ORDER_FIRST	RNIC_FIELD(1, 0)
#define EXANET_SW_ORDER_SECOND	RNIC_FIELD(3, 2)
#define EXANET_SW_ORDER_THIRD	RNIC_FIELD(5, 4)
#define EXANET_SW_ORDER_DEFAULT	0x06U
/* Fields of SW_FLOW: congestion management, at ports with a PORT_RATE. */
#define EXANET_SW_FLOW_MARK	RNIC_BIT(0)	/* 1: sends flow-rate packets to the sources of
						 * the flows at a congested output */
#define EXANET_SW_FLOW_PACE	RNIC_BIT(1)	/* 1: limits flows of this node to the rates in
						 * flow-rate packets */
#define EXANET_SW_FLOW_TARGET	RNIC_FIELD(14, 8)	/* maximal percentage of PORT_RATE that
							 * the flows of a port share: 1..100; 0
							 * counts as 1, more than 100 as 100 */
#define EXANET_SW_FLOW_WRITABLE	0x7f03U
#define EXANET_SW_FLOW_DEFAULT	0x5f03U		/* MARK, PACE, 95 % */
#define EXANET_SW_FLOW_WINDOW_MIN 10000		/* ns; smaller values of SW_FLOW_WINDOW
						 * count as 10000 */

/* --- NI map: one 64-bit word for each NI index ------------------------------ */
#define EXANET_NI_MAP_PORT	RNIC_FIELD(3, 0)	/* enum exanet_ni_port */
#define EXANET_NI_MAP_VALID	RNIC_BIT(8)
#define EXANET_NI_MAP_TYPES	RNIC_FIELD(47, 16)	/* bit n: the NI index accepts packets of
							 * exanet_type n */
#define EXANET_NI_MAP_WRITABLE	0xffffffff010fULL
/* Crossbar ports of the NI blocks: 0-3 and 12-15 are links [T §6.4], [EXT]. */
enum exanet_ni_port {
	EXANET_NI_PORT_RT_RESPONSE = 4,
	EXANET_NI_PORT_RT_REQUEST = 5,
	EXANET_NI_PORT_MAILBOX	= 6,
	EXANET_NI_PORT_PACKETIZER = 7,
	EXANET_NI_PORT_RECEIVER	= 8,
	EXANET_NI_PORT_EXADMA	= 9,
	EXANET_NI_PORT_SHM	= 10,
	EXANET_NI_PORT_BRAM	= 11,
};

/* --- RT mailbox, as the R5 sees it --------------------------------------- */
#define EXANET_RTMBOX_REGS(X) \
	X(RT_RESP,	0x00, 4, 0, 0, 0) /* a read pops one response; not if FW_INTERNAL */ \
	X(RT_RESP_COUNT, 0x04, 4, 0, 0, 0) /* responses in the FIFO */ \
	X(RT_REQ_COUNT,	0x08, 4, 0, 0, 0) /* 128-bit words of requests in the FIFO */ \
	X(RT_DROPS,	0x0c, 4, 0, 0, 0) /* value of counter RT_DROPPED */ \
	X(RT_REQ_DATA,	0x40, 4, 0, 0, 0) /* 4 reads pop a word [T §6.2]; not if FW_INTERNAL */ \
	X(RT_REQ_RESYNC, 0x44, 4, 0, 0, 0) /* a write drops a partly read request */

#define EXANET_RT_RESPONSES	2048	/* maximal number of responses in the FIFO */
#define EXANET_RT_REQUESTS_MAX	64	/* maximal number of read requests in the FIFO */
#define EXANET_RT_MSG_WORDS	4	/* 128-bit words of a read request */

/* --- Firmware ------------------------------------------------------------- */
#define EXANET_FW_REGS(X) \
	X(FW_MODE,	0x00, 4, EXANET_FW_INTERNAL, 0x3, 0) \
	X(FW_POLICY,	0x04, 4, EXANET_FW_ROUND_ROBIN, 0x3, 0) \
	X(FW_WINDOW,	0x08, 4, EXANET_FW_WINDOW_DEFAULT, 0x3ff, 0) \
	X(FW_BLOCK,	0x0c, 4, EXANET_BLOCK_MAX, 0x7fff, 0) \
	X(FW_TIMEOUT_NS, 0x10, 8, EXANET_FW_TIMEOUT_DEFAULT, ~0ULL, 0) \
	X(FW_RETRY_MAX,	0x18, 4, 16, 0xfff, 0) /* maximum of losses of a block between acks */ \
	X(FW_PF_BACKOFF_NS, 0x1c, 4, 20000, 0xffffffff, 0) /* ns, first back-off; doubles */ \
	X(FW_PF_RETRY_MAX, 0x20, 4, 1000, 0xffff, 0) /* maximal back-offs of a block */ \
	X(FW_CHAIN,	0x24, 4, 1, 1, 0) /* 1: chains the blocks of a transfer */ \
	X(FW_MULTIPATH,	0x28, 4, EXANET_FW_PATH_HINT, 0x3, 0) \
	X(FW_DYN_TIMEOUT, 0x2c, 4, 1, 1, 0) /* 1: long round trips lengthen time-outs */ \
	X(FW_ACTIVE,	0x30, 4, 0, 0, 0) /* number of transfers and waiting read requests */ \
	X(FW_RTT_NS,	0x38, 8, 0, 0, 0) /* ns, smoothed round trip from block to ack */

#define EXANET_BLOCK_MAX	16384	/* bytes, the maximum of FW_BLOCK */
/*
 * FW_WINDOW: maximal number of blocks of a transfer in flight; 0 counts as 1.  In the
 * thesis two blocks are enough for a round trip of a few microseconds.  Between two
 * emulators a round trip takes a hundred times as long.
 */
#define EXANET_FW_WINDOW_DEFAULT 48
/*
 * FW_TIMEOUT_NS: minimal time-out of a block, ns of virtual time.  The time-out doubles with
 * each loss of the block, up to 32 times the first time-out.
 */
#define EXANET_FW_TIMEOUT_DEFAULT 50000000ULL
#define EXANET_FW_TIMEOUT_SHIFT_MAX 5

enum exanet_fw_mode {
	EXANET_FW_INTERNAL	= 0,	/* the device models the firmware of the R5 */
	EXANET_FW_EXTERNAL	= 1,	/* software does the work of the R5 through registers */
	EXANET_FW_OFF		= 2,	/* same as EXTERNAL */
};

/* FW_POLICY: the transfer that may send the next block. */
enum exanet_fw_policy {
	EXANET_FW_ROUND_ROBIN	= 0,	/* the next context, and in this context the next
					 * channel */
	EXANET_FW_PRIORITY	= 1,	/* the transfer with the highest CHANNEL_PRIORITY */
	EXANET_FW_SHORTEST	= 2,	/* the transfer with the fewest bytes left */
};
/*
 * FW_MULTIPATH: the path of the first copy of a block, if the target has several paths.  Each
 * later copy uses the next path.
 */
enum exanet_fw_multipath {
	EXANET_FW_PATH_HINT	= 0,	/* CHANNEL_PATH; if CHANNEL_MULTIPATH is set, as
					 * ROUND_ROBIN */
	EXANET_FW_PATH_ROUND_ROBIN = 1,	/* all paths in turn, for the blocks of a context to a
					 * node */
	EXANET_FW_PATH_LEAST	= 2,	/* the path with the fewest bytes in flight */
};

/* --- Fault FIFO ----------------------------------------------------------- */
#define EXANET_FAULT_REGS(X) \
	X(FAULT_COUNT,	0x00, 4, 0, 0, 0) /* entries in the FIFO */ \
	X(FAULT_OVERFLOW, 0x08, 4, 0, 0, 1) /* 1: a page fault found no room */ \
	X(FAULT_VA,	0x20, 8, 0, 0, 0) /* oldest entry: struct exanet_fault */ \
	X(FAULT_INFO,	0x28, 8, 0, 0, 0) \
	X(FAULT_LEFT,	0x30, 8, 0, 0, 0) \
	X(FAULT_TIME,	0x38, 8, 0, 0, 0) \
	X(FAULT_POP,	0x40, 4, 0, 0, 0) /* write 1: removes the oldest entry */ \
	X(FAULT_RESOLVE, 0x48, 8, 0, 0, 0) /* write fields EXANET_RESOLVE_* */

#define EXANET_RESOLVE_CTX	RNIC_FIELD(3, 0)
#define EXANET_RESOLVE_OK	RNIC_BIT(4)		/* 1: the page is present; 0: the page is
							 * missing for good */
#define EXANET_RESOLVE_DST	RNIC_BIT(5)
#define EXANET_RESOLVE_TID	RNIC_FIELD(19, 6)	/* wire TID */
#define EXANET_RESOLVE_COORD	RNIC_FIELD(41, 20)	/* coordinates of the other node */
#define EXANET_RESOLVE_UNIT	RNIC_FIELD(43, 42)	/* enum exanet_fault_unit */

/*
 * Returns the word for FAULT_RESOLVE that answers the fault with info word @info.  @ok:
 * 1, the page is present; 0, the page is missing for good.
 */
#define EXANET_RESOLVE(info, ok) \
	(RNIC_PREP(EXANET_RESOLVE_CTX, RNIC_GET(EXANET_FAULT_CTX, info)) | \
	 RNIC_PREP(EXANET_RESOLVE_OK, !!(ok)) | \
	 RNIC_PREP(EXANET_RESOLVE_DST, RNIC_GET(EXANET_FAULT_DST, info)) | \
	 RNIC_PREP(EXANET_RESOLVE_TID, RNIC_GET(EXANET_FAULT_TID, info)) | \
	 RNIC_PREP(EXANET_RESOLVE_COORD, RNIC_GET(EXANET_FAULT_COORD, info)) | \
	 RNIC_PREP(EXANET_RESOLVE_UNIT, RNIC_GET(EXANET_FAULT_UNIT, info)))

/* --- Counters: 64 bits each, any write clears ------------------------------ */
#define EXANET_COUNTERS(X) \
	X(TX_WRITE,		"write packets sent") \
	X(TX_READ_REQ,		"read requests sent") \
	X(TX_CONTROL,		"control packets sent") \
	X(TX_NOTIFY,		"notification packets sent") \
	X(TX_ACK,		"acks and nacks sent") \
	X(RX_WRITE,		"write packets received") \
	X(RX_READ_REQ,		"read requests received") \
	X(RX_CONTROL,		"control packets received") \
	X(RX_NOTIFY,		"notification packets received") \
	X(RX_ACK,		"acks and nacks received") \
	X(BLOCK_STARTED,	"transactions started") \
	X(BLOCK_DONE,		"transactions whose last packet was sent") \
	X(BLOCK_KILLED,		"transactions killed") \
	X(BLOCK_REJECTED,	"descriptors refused when triggered") \
	X(DESC_BUSY,		"writes to descriptors of active transactions") \
	X(RETRY_TIMEOUT,	"blocks resent after a time-out") \
	X(RETRY_CRC,		"blocks resent after a CRC nack") \
	X(RETRY_FAULT,		"blocks resent after a page fault") \
	X(RETRY_NO_CONTEXT,	"blocks resent: no receiver context was free") \
	X(RETRY_FULL,		"blocks resent: the mailbox was full") \
	X(ACK_STALE,		"responses ignored: old, or of an idle transaction") \
	X(NACK_SENT,		"negative responses sent") \
	X(RX_DUPLICATE,		"packets that had arrived before") \
	X(RX_OLD_SEQ,		"packets of an older sequence ignored") \
	X(RX_OLD_GEN,		"packets of an older generation dropped") \
	X(RX_REACK,		"packets of finished blocks, acked again") \
	X(RX_CTX_ALLOC,		"receiver contexts taken") \
	X(RX_CTX_EVICT,		"receiver contexts freed because of their age") \
	X(RX_CTX_FULL,		"packets that found no receiver context") \
	X(MSG_DUPLICATE,	"messages and reports of reads acked again") \
	X(MSG_RETRY,		"packetizer packets resent") \
	X(MSG_BUSY,		"GO on a packetizer channel that waits") \
	X(MBOX_DELIVERED,	"messages stored in mailboxes") \
	X(MBOX_FULL,		"messages refused by mailboxes") \
	X(MBOX_FAULT,		"messages refused for a page fault") \
	X(RT_DROPPED,		"responses dropped by a full RT mailbox") \
	X(RT_REQ_FULL,		"read requests refused by a full RT mailbox") \
	X(DOORBELL_BUSY,	"doorbells on busy scratchpad channels") \
	X(DOORBELL_BAD,		"doorbells with a bad request") \
	X(XLATE,		"translations") \
	X(TLB_HIT,		"translations found in the cache") \
	X(WALK,			"page-table walks") \
	X(FAULT_READ,		"faults of reads") \
	X(FAULT_WRITE,		"faults of writes") \
	X(NOTIFY_DONE,		"notifications delivered") \
	X(CONTROL_RESTART,	"control sequences cut off by another TID or by the firmware") \
	X(CONTROL_DROPPED,	"control packets dropped: queue full or no descriptor") \
	X(DROP_HEADER_CRC,	"packets dropped: header CRC") \
	X(DROP_FOOTER_CRC,	"packets dropped: footer CRC") \
	X(DROP_PAYLOAD_CRC,	"packets nacked: payload CRC") \
	X(DROP_MALFORMED,	"packets dropped: size or type") \
	X(DROP_NO_ROUTE,	"packets dropped: no such node") \
	X(DROP_NI_TYPE,		"packets dropped: type and NI index do not match") \
	X(DROP_PROTECTION,	"packets refused: PDID") \
	X(DROP_DISABLED,	"packets dropped: device disabled") \
	X(DROP_TTL,		"packets dropped: too many switches passed") \
	X(DROP_SOURCE,		"packets dropped: wrong port for their source") \
	X(FORWARDED,		"packets passed on for other nodes") \
	X(TX_RELEASE,		"release packets sent") \
	X(RX_RELEASE,		"release packets received") \
	X(RX_CTX_RELEASED,	"receiver contexts released by their source") \
	X(TX_FLOW_RATE,		"flow-rate packets sent") \
	X(RX_FLOW_RATE,		"flow-rate packets received") \
	X(FLOW_PACED,		"packets that waited for their flow's rate") \
	X(SCHED_ROUND,		"packets picked by the scheduler") \
	X(SCHED_NO_SLOT,	"transactions postponed: no slot in the output") \
	X(PKT_ONE_READ,		"packets gathered from one page") \
	X(PKT_TWO_READS,	"packets gathered from two pages") \
	X(SHM_STORE,		"stores issued to other nodes") \
	X(SHM_LOAD,		"loads issued to other nodes") \
	X(SHM_RDMA_WRITE,	"writes issued for CDMA channels") \
	X(SHM_RDMA_READ,	"reads issued for CDMA channels") \
	X(SHM_EARLY_ACK,	"stores and RDMA writes acknowledged early") \
	X(SHM_ACK,		"positive responses") \
	X(SHM_NACK,		"negative responses") \
	X(SHM_TIMEOUT,		"loads and stores without response in time") \
	X(SHM_REISSUE,		"loads and stores issued again") \
	X(SHM_STALE,		"responses without a request under way") \
	X(SHM_RAW_STALL,	"loads that waited for a store to the address") \
	X(SHM_WAW_STALL,	"stores that waited for a store to the address") \
	X(SHM_TIMER_STALL,	"stores that waited for a timer") \
	X(SHM_ESCALATED,	"loads and stores given up") \
	X(SHM_UNMAPPED,		"aperture accesses outside all segments") \
	X(SHM_DENIED,		"aperture accesses that the segment forbids") \
	X(SHM_REFUSED,		"aperture accesses that could not wait") \
	X(SHM_TARGET_STORE,	"stores of other nodes done here") \
	X(SHM_TARGET_LOAD,	"loads of other nodes done here") \
	X(SHM_TARGET_ERROR,	"loads and stores of other nodes refused") \
	X(SHM_DUPLICATE,	"stores of other nodes that came again") \
	X(SHM_EARLY_STORE,	"stores of other nodes that came too early") \
	X(SHM_CAM_HIT,		"requests whose transaction had an entry") \
	X(SHM_CAM_NEW,		"requests that took an entry") \
	X(SHM_CAM_FULL,		"requests that found no entry") \
	X(CDMA_RETRY,		"pieces that CDMA channels sent again") \
	X(CDMA_FAILED,		"CDMA transfers that failed") \
	X(LINK_CONFLICT,	"HELLOs refused: coordinates in conflict") \
	X(POLL,			"stores of CPUs to POLL") \
	X(RX_POLLED,		"frames that CPUs took during POLL")

enum exanet_counter {
#define EXANET_COUNTER_ENUM(name, text) EXANET_CNT_##name,
	EXANET_COUNTERS(EXANET_COUNTER_ENUM)
#undef EXANET_COUNTER_ENUM
	EXANET_COUNTER_COUNT
};

/* Offsets of registers in their blocks: EXANET_REG_<NAME>. */
enum exanet_reg {
#define EXANET_REG_ENUM(name, offset, bytes, reset, writable, w1c) \
	EXANET_REG_##name = offset,
	EXANET_GLOBAL_REGS(EXANET_REG_ENUM)
	EXANET_CTX_REGS(EXANET_REG_ENUM)
	EXANET_PORT_REGS(EXANET_REG_ENUM)
	EXANET_SWITCH_REGS(EXANET_REG_ENUM)
	EXANET_RTMBOX_REGS(EXANET_REG_ENUM)
	EXANET_FW_REGS(EXANET_REG_ENUM)
	EXANET_FAULT_REGS(EXANET_REG_ENUM)
#undef EXANET_REG_ENUM
};

#endif /* RNIC_EXANET_REGS_H */
