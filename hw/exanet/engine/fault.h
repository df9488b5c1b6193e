/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: the FIFO to the driver, and the faults that wait for RESOLVE.
 */
#ifndef HW_EXANET_ENGINE_FAULT_H
#define HW_EXANET_ENGINE_FAULT_H

#include "../../core/fifo.h"
#include "rnic/exanet/regs.h"

typedef struct ExanetState ExanetState;

/* A fault that waits for RESOLVE, with the fields for a response to its source. */
typedef struct ExanetPendingFault {
    uint64_t va;                    /* virtual address of the page */
    uint32_t peer;                  /* the other node of the transfer or message */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;                   /* sequence number of the copy; CDMA: of the fault */
    uint16_t small;                 /* small address for acks */
    uint8_t ctx;
    uint8_t unit;                   /* enum exanet_fault_unit */
    uint8_t epoch;                  /* epoch of @peer, if @dst is true */
    bool write;                     /* the access was a write */
    bool dst;                       /* the fault is at the destination of a transfer */
    bool valid;                     /* the entry of the table is in use */
} ExanetPendingFault;

typedef struct ExanetFaultUnit {
    struct exanet_fault fifo[EXANET_FAULTS];        /* host byte order */
    RNicFifo reports;               /* positions in @fifo */
    ExanetPendingFault pending[EXANET_FAULTS];
    unsigned used;                  /* entries of @pending in use */
} ExanetFaultUnit;

extern const struct ExanetUnit exanet_fault_unit;
/*
 * Reports fault @f, which is copied, to the driver.  If a fault of the same context,
 * page, direction and side is pending, @f waits for the same answer without another
 * report.  @left: bytes that the transfer will access from @f->va on, a hint for the
 * driver.  Returns true if the driver will answer by RESOLVE.  Returns false if the
 * context is closed or takes no reports, or if the table or the FIFO is full, which sets
 * FAULT_OVERFLOW.
 */
bool exanet_fault_report(ExanetState *s, const ExanetPendingFault *f,
                         uint32_t left);
/* Computes the registers FAULT_, which show the oldest report, before a read. */
void exanet_fault_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_FAULT_); @top: see ExanetRegBlock. */
void exanet_fault_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_FAULT_H */
