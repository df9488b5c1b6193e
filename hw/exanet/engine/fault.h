/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: the FIFO that the driver reads, and the table of faults that wait
 * until the driver writes FAULT_RESOLVE (below: RESOLVE).
 */
#ifndef HW_EXANET_ENGINE_FAULT_H
#define HW_EXANET_ENGINE_FAULT_H

#include "../../core/fifo.h"
#include "rnic/exanet/regs.h"

typedef struct ExanetState ExanetState;

/* A fault that waits for RESOLVE, with the fields of a later response to @peer. */
typedef struct ExanetPendingFault {
    uint64_t va;                    /* 64-bit virtual address of the page */
    uint32_t peer;                  /* the other node of the transfer or message */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;                   /* sequence number of the copy; CDMA: of the fault */
    /* small address for acks; load or store of @peer: field EXANET_SHM_USER_RETRIES */
    uint16_t small;
    uint8_t ctx;                    /* number of the context */
    uint8_t unit;                   /* enum exanet_fault_unit */
    uint8_t epoch;                  /* epoch of @peer, for acks of the receiver */
    bool write;                     /* the access was a write */
    /* true: an access that @peer requested; false: an access by a unit of this node */
    bool dst;
    bool valid;                     /* the entry of the table is in use */
} ExanetPendingFault;

typedef struct ExanetFaultUnit {
    struct exanet_fault fifo[EXANET_FAULTS];        /* host byte order */
    RNicFifo reports;               /* positions in @fifo */
    ExanetPendingFault pending[EXANET_FAULTS];      /* the table */
    unsigned used;                  /* entries of @pending in use */
} ExanetFaultUnit;

extern const struct ExanetUnit exanet_fault_unit;
/*
 * Stores a copy of fault @f in the table of pending faults, reports the fault to the
 * driver by the FIFO, and raises the interrupt.  @f->va need not be aligned.  @left is a
 * hint for the driver: the bytes that the transfer will access from @f->va on.
 *
 * Makes no second report if the table has a fault with the same page, context, @write and
 * @dst; then both faults wait for the same RESOLVE.  If that fault also has the same TID,
 * peer and unit, @f replaces that fault.
 *
 * Returns true if @f is in the table.  Returns false if the context is disabled or
 * quiesced, or has NO_REPORT.  Sets FAULT_OVERFLOW and returns false if the FIFO is full,
 * or if the table is full or its free entries are reserved for other contexts.
 */
bool exanet_fault_report(ExanetState *s, const ExanetPendingFault *f,
                         uint32_t left);
/* Computes the registers FAULT_, which show the oldest report, before a register read. */
void exanet_fault_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_FAULT_); @top: see ExanetRegBlock. */
void exanet_fault_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_FAULT_H */
