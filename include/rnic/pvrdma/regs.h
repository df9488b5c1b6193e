/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paravirtual RDMA NIC: PCI ids, BARs, registers and counters, as Linux' vmw_pvrdma
 * (drivers/infiniband/hw/vmw_pvrdma) expects them [EXT].  Registers are little-endian.
 *
 * dsr.h has the shared region, the rings and the page directories, attr.h the attributes
 * of ports, QPs and SRQs, cmd.h the commands, wire.h the packets.  Work queue entries,
 * completions and doorbells are Linux' uAPI: <rdma/vmw_pvrdma-abi.h>.
 */
#ifndef RNIC_PVRDMA_REGS_H
#define RNIC_PVRDMA_REGS_H

#include "rnic/bits.h"

#define PVRDMA_PCI_VENDOR_ID	0x15ad
#define PVRDMA_PCI_DEVICE_ID	0x0820
#define PVRDMA_PCI_REVISION	1
#define PVRDMA_PCI_CLASS	0x0280	/* network controller, other */

#define PVRDMA_BAR_MSIX		0	/* table of MSI-X vectors */
#define PVRDMA_BAR_REGS		1	/* 4 KiB */
#define PVRDMA_BAR_UAR		2	/* 64-bit; PVRDMA_UARS pages */
#define PVRDMA_REGS_BYTES	0x1000
#define PVRDMA_UARS		512	/* pages of BAR 2: page 0 for the kernel, the others for
					 * user contexts */

/* --- Registers, BAR 1 --------------------------------------------------------
 * X(NAME, offset, bytes, reset, writable, w1c), explained in rnic/exanet/regs.h.  A write to a
 * register with writable 0 may still have an effect.
 */
#define PVRDMA_REGS(X) \
	X(VERSION,	0x00, 4, PVRDMA_VERSION, 0, 0) /* a value PVRDMA_VERSION_* */ \
	X(DSRLOW,	0x04, 4, 0, 0xffffffff, 0) /* shared region's address: lower half */ \
	X(DSRHIGH,	0x08, 4, 0, 0xffffffff, 0) /* upper half; a write loads this region */ \
	X(CTL,		0x0c, 4, 0, 0, 0) /* enum pvrdma_device_ctl; reads 0 */ \
	X(REQUEST,	0x10, 4, 0, 0, 0) /* write 0: executes the command */ \
	X(ERR,		0x14, 4, 0, 0, 0) /* errno of DSRHIGH, CTL or REQUEST; 0: success */ \
	X(ICR,		0x18, 4, 0, 0, 0) /* a read returns and clears one pending cause */ \
	X(IMR,		0x1c, 4, PVRDMA_INTR_ALL, 0xffffffff, 0) /* a set bit masks a cause */ \
	X(MACL,		0x20, 4, 0, 0, 0) /* MAC of the paired NIC, bytes 0 to 3 */ \
	X(MACH,		0x24, 4, 0, 0, 0) /* MAC of the paired NIC, bytes 4 and 5 */

#define PVRDMA_REG_ENUM(name, offset, bytes, reset, writable, w1c) \
	PVRDMA_REG_##name = (offset),
enum pvrdma_reg { PVRDMA_REGS(PVRDMA_REG_ENUM) };
#undef PVRDMA_REG_ENUM

/* Values of VERSION.  A version has the functions of all lower versions. */
#define PVRDMA_VERSION_ROCEV1	17
#define PVRDMA_VERSION_ROCEV2	18
#define PVRDMA_VERSION_PPN64	19	/* 64-bit UAR page numbers */
#define PVRDMA_VERSION_QPHANDLE	20	/* the handle of a QP differs from its number */
#define PVRDMA_VERSION		PVRDMA_VERSION_QPHANDLE

enum pvrdma_device_ctl {
	PVRDMA_DEVICE_CTL_ACTIVATE	= 0,	/* the device accepts commands */
	PVRDMA_DEVICE_CTL_UNQUIESCE	= 1,	/* the paired NIC came up; no effect */
	PVRDMA_DEVICE_CTL_RESET		= 2,	/* the device frees all objects and resets all
						 * registers */
};

/* MSI-X vectors.  A vector is also the number of its bit in ICR and IMR. */
enum pvrdma_intr_vector {
	PVRDMA_INTR_VECTOR_RESPONSE	= 0,	/* the response slot has a response */
	PVRDMA_INTR_VECTOR_ASYNC	= 1,	/* the ring of asynchronous events has got an
						 * event */
	PVRDMA_INTR_VECTOR_CQ		= 2,	/* the ring of CQ notifications has got an
						 * element */
	PVRDMA_INTR_VECTORS		= 3,
};
#define PVRDMA_INTR_CAUSE(vector) RNIC_BIT(vector)
#define PVRDMA_INTR_ALL		RNIC_FIELD(2, 0)

/* --- Counters, seen as the QOM property "counters" [P] -------------------------- */
#define PVRDMA_COUNTERS(X) \
	X(TX_FRAMES,		"frames sent") \
	X(TX_BYTES,		"bytes of frames sent, with headers") \
	X(TX_ACK,		"acknowledgements sent") \
	X(TX_NAK,		"sequence-error NAKs sent") \
	X(TX_NAK_ERROR,		"NAKs sent that end a connection") \
	X(TX_RNR,		"receiver-not-ready NAKs sent") \
	X(TX_READ_RESP,		"packets of READ responses sent") \
	X(TX_RETRY,		"packets sent again") \
	X(TX_CNP,		"congestion notifications sent") \
	X(RX_FRAMES,		"RoCE frames received") \
	X(RX_BYTES,		"bytes of frames received, with headers") \
	X(RX_POLLED,		"frames that a polling CPU took itself") \
	X(RX_ACK,		"acknowledgements received") \
	X(RX_NAK,		"sequence-error NAKs received") \
	X(RX_NAK_ERROR,		"other NAKs received") \
	X(RX_RNR,		"receiver-not-ready NAKs received") \
	X(RX_CNP,		"congestion notifications received") \
	X(RX_CE,		"packets received that met congestion") \
	X(RX_DUPLICATE,		"requests received again") \
	X(RX_OUT_OF_SEQUENCE,	"requests dropped: an earlier one is missing") \
	X(RX_STALE,		"responses dropped: no request waits for them") \
	X(RX_BAD_LENGTH,	"frames dropped: lengths disagree") \
	X(RX_BAD_IP,		"frames dropped: IP header") \
	X(RX_BAD_HEADER,	"frames dropped: version or opcode") \
	X(RX_BAD_ICRC,		"frames dropped: ICRC") \
	X(RX_NO_QP,		"packets dropped: no such QP, or of another kind") \
	X(RX_QP_STATE,		"packets dropped: the state of the QP") \
	X(RX_BAD_PATH,		"packets dropped: wrong source or destination") \
	X(RX_BAD_PKEY,		"packets dropped: P_Key") \
	X(RX_BAD_QKEY,		"datagrams dropped: Q_Key") \
	X(RX_NO_RECEIVE,	"datagrams dropped: no receive buffer, or short") \
	X(RX_BAD_REQUEST,	"requests refused: order of opcodes, length") \
	X(RX_BAD_ACCESS,	"requests refused: memory") \
	X(TIMEOUT,		"time-outs") \
	X(RETRY_EXCEEDED,	"connections ended: too many retries") \
	X(RNR_EXCEEDED,		"connections ended: receiver never ready") \
	X(CQ_OVERFLOW,		"completions lost: CQ full") \
	X(EVENT_OVERFLOW,	"events lost: ring full") \
	X(NOTIFY_OVERFLOW,	"CQ notifications lost: ring full") \
	X(GUEST_ERROR,		"errors of the guest in registers, rings, WQEs ...") \
	X(CMD,			"commands done") \
	X(CMD_ERROR,		"commands refused, or without a response")

#define PVRDMA_COUNTER_ENUM(name, text) PVRDMA_CNT_##name,
enum pvrdma_counter {
	PVRDMA_COUNTERS(PVRDMA_COUNTER_ENUM)
	PVRDMA_COUNTER_COUNT
};
#undef PVRDMA_COUNTER_ENUM

#endif /* RNIC_PVRDMA_REGS_H */
