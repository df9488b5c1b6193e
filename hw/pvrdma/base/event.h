/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings that the device fills (asynchronous events, CQ notifications), and interrupts.
 */
#ifndef HW_PVRDMA_BASE_EVENT_H
#define HW_PVRDMA_BASE_EVENT_H

#include "rnic/pvrdma/dsr.h"
#include "rnic/pvrdma/regs.h"
#include "caps.h"
#include "pages.h"

/* A ring that the device fills and the guest reads. */
typedef struct PvrdmaRing {
    PvrdmaPages pages;
    /* Number of elements, a power of two; 0: there is no ring. */
    uint32_t elements;
    uint32_t prod;                  /* index of the next element, modulo 2 * elements */
    uint8_t elem_bytes;
    /* Elements that wait until the ring has room; NULL: no element has waited yet. */
    GByteArray *pending;
} PvrdmaRing;

/* Limit of PvrdmaRing.pending: one notification for each CQ. */
#define PVRDMA_RING_PENDING_BYTES (PVRDMA_CQS * sizeof(struct pvrdma_cqne))

/*
 * Returns the number of elements of a ring of @pages pages.  The first page has the
 * indices.
 */
uint32_t pvrdma_ring_elements(uint32_t pages, unsigned elem_bytes);
/*
 * Initializes @ring with the @pages pages of the directory at @pdir, and elements of
 * @elem_bytes bytes.  Returns 0, EINVAL, EFAULT or ENOMEM.
 */
int pvrdma_ring_init(PvrdmaState *s, PvrdmaRing *ring, uint64_t pdir,
                     uint32_t pages, unsigned elem_bytes);
/* Frees the pages and the waiting elements of @ring. */
void pvrdma_ring_fini(PvrdmaState *s, PvrdmaRing *ring);
/* Restarts the timer of pvrdma_rings_retry() if an element waits for room in a ring. */
void pvrdma_rings_arm(PvrdmaState *s);
/*
 * Timer callback (@opaque: PvrdmaState).  Writes the elements for which the rings have
 * room now, and raises the interrupt of each ring with waiting elements.
 */
void pvrdma_rings_retry(void *opaque);
/*
 * Puts an event into the ring of asynchronous events, and raises its interrupt.  @info
 * is the handle of an object, or the number of a port.  Does nothing before CTL
 * activates the device.
 */
void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info);
/*
 * Puts a notification of the CQ with handle @cq into the notification ring, and raises
 * the interrupt of this ring.  Does nothing before CTL activates the device.
 */
void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq);
/* Sets the cause of @vector in ICR, and schedules the interrupt. */
void pvrdma_irq_raise(PvrdmaState *s, enum pvrdma_intr_vector vector);
/*
 * A function of RNicLoopOps; @opaque is the PvrdmaState.  Sends a message for each
 * pending cause that is not masked, or sets the level of the interrupt line.  The
 * device must not be at work, because an interrupt may reset the device.
 */
void pvrdma_irq_flush(void *opaque);

#endif /* HW_PVRDMA_BASE_EVENT_H */
