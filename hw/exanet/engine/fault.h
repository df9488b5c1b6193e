/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: the FIFO of reports for the driver, and the table of pending
 * faults.  A pending fault waits until the driver answers by a write to FAULT_RESOLVE
 * (below: RESOLVE), until the context is disabled or quiesced, or until a reset.
 */
#ifndef HW_EXANET_ENGINE_FAULT_H
#define HW_EXANET_ENGINE_FAULT_H

#include "../../core/fifo.h"
#include "rnic/exanet/regs.h"

typedef struct ExanetState ExanetState;

/* A page fault that waits for RESOLVE, with the fields of a later response to @peer. */
typedef struct ExanetPendingFault {
    uint64_t va;                    /* 64-bit virtual address of the page */
    uint32_t peer;                  /* node of the other side; may be this node */
    uint16_t tid;                   /* wire TID; CDMA: TID of the piece */
    /*
     * SEQ of the packet; 0 for a notification in a mailbox; CDMA: fault number of the
     * piece
     */
    uint16_t seq;
    /*
     * small address for acks, but 0 for a notification in a mailbox; for a load or store:
     * field EXANET_SHM_USER_RETRIES
     */
    uint16_t small;
    uint8_t ctx;                    /* number of the context */
    uint8_t unit;                   /* enum exanet_fault_unit */
    uint8_t epoch;                  /* fault of a block that arrived: epoch of @peer */
    bool write;                     /* the access was a write */
    /* true: an arrived packet made the access; false: ExaDMA or CDMA made the access */
    bool dst;
    bool valid;                     /* this entry of the table is in use */
} ExanetPendingFault;

typedef struct ExanetFaultUnit {
    struct exanet_fault fifo[EXANET_FAULTS];        /* FIFO of reports, host byte order */
    RNicFifo reports;               /* head and count of @fifo */
    ExanetPendingFault pending[EXANET_FAULTS];      /* the table of pending faults */
    unsigned used;                  /* entries of @pending in use */
} ExanetFaultUnit;

extern const struct ExanetUnit exanet_fault_unit;
/*
 * Stores a copy of fault @f in the table of pending faults, adds a report to the FIFO of
 * reports, and raises interrupt cause FAULT.  @f->va need not be aligned.  @left is a
 * hint for the driver: the number of bytes that may be accessed from @f->va on.
 *
 * Adds no report and raises no FAULT if the table already has a fault with the same page,
 * context, @write and @dst, because one RESOLVE answers both faults.  If a fault in the
 * table also has the same TID, peer and unit, @f replaces this fault.
 *
 * Returns true if @f is in the table.  Returns false if the context is disabled or
 * quiesced, or has NO_REPORT.  Also returns false if a report is needed but the FIFO is
 * full, or if the table is full or its free entries are reserved for other contexts.  In
 * the last three cases the function sets FAULT_OVERFLOW and raises interrupt cause
 * FAULT_OVERFLOW.
 */
bool exanet_fault_report(ExanetState *s, const ExanetPendingFault *f,
                         uint32_t left);
/* Computes FAULT_COUNT and the registers of the oldest report before a register read. */
void exanet_fault_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_FAULT_*).  For @top see RNicRegBlock. */
void exanet_fault_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_FAULT_H */
