/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings that the device fills, and interrupts.
 */
#ifndef HW_PVRDMA_BASE_EVENT_H
#define HW_PVRDMA_BASE_EVENT_H

#include "rnic/pvrdma/regs.h"
#include "caps.h"
#include "pages.h"

typedef struct PvrdmaRing {         /* that the device fills */
    PvrdmaPages pages;
    uint32_t elements;              /* a power of two; 0: there is no ring */
    uint32_t prod;
    uint8_t elem_bytes;
    GByteArray *late;               /* elements that found it full; NULL: none yet */
} PvrdmaRing;

#define PVRDMA_RING_LATE_BYTES (PVRDMA_CQS * sizeof(struct pvrdma_cqne))

/* How many elements there are in @pages pages, one of which has the indices. */
uint32_t pvrdma_ring_elements(uint32_t pages, unsigned elem_bytes);
/* @elem_bytes: of an element; EINVAL, EFAULT, ENOMEM. */
int pvrdma_ring_init(PvrdmaState *s, PvrdmaRing *ring, uint64_t pdir,
                     uint32_t pages, unsigned elem_bytes);
void pvrdma_ring_fini(PvrdmaState *s, PvrdmaRing *ring);
/* Calls the next one after a while, if something found a ring full. */
void pvrdma_rings_wait(PvrdmaState *s);
/* Puts in what did, now; of a PvrdmaState. */
void pvrdma_rings_again(void *opaque);
/* An asynchronous event; @info: handle or port. */
void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info);
/* Tells the guest to look at a CQ. */
void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq);
void pvrdma_irq_raise(PvrdmaState *s, enum pvrdma_intr_vector vector);
/* Interrupts for all causes that are not masked; while nothing runs. */
void pvrdma_irq_flush(PvrdmaState *s);

#endif /* HW_PVRDMA_BASE_EVENT_H */
