/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: the FIFO to the driver, and the faults that wait for RESOLVE.
 */
#ifndef HW_EXANET_ENGINE_FAULT_H
#define HW_EXANET_ENGINE_FAULT_H

#include "../../core/fifo.h"
#include "rnic/exanet/regs.h"

typedef struct ExanetState ExanetState;

/* A fault that waits for RESOLVE; what is needed to answer the peer then. */
typedef struct ExanetPendingFault {
    uint64_t va;                    /* page address */
    uint32_t peer;
    uint16_t tid;                   /* wire TID */
    uint16_t seq;
    uint16_t small;                 /* where the peer takes code 7 */
    uint8_t ctx;
    uint8_t unit;                   /* enum exanet_fault_unit */
    uint8_t epoch;                  /* of the peer, if @dst */
    bool write;
    bool dst;
    bool valid;                     /* of the table of pending faults */
} ExanetPendingFault;

typedef struct ExanetFaultUnit {
    struct exanet_fault fifo[EXANET_FAULTS];        /* host byte order */
    RNicFifo reports;               /* of @fifo */
    ExanetPendingFault pending[EXANET_FAULTS];
    unsigned used;                  /* of @pending */
} ExanetFaultUnit;

extern const struct ExanetUnit exanet_fault_unit;
/*
 * Reports a fault to the driver, unless one of the same context, page, direction
 * and side is unresolved: then @f waits for the same answer.  @left is the hint for
 * faulting in ahead.  Returns whether RESOLVE for @f will come: false when the table
 * or the FIFO is full.
 */
bool exanet_fault_report(ExanetState *s, const ExanetPendingFault *f,
                         uint32_t left);
void exanet_fault_reg_sync(ExanetState *s);
void exanet_fault_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_FAULT_H */
