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
    /* Number of elements, a power of two; 0: the guest has set up no ring. */
    uint32_t elements;
    uint32_t prod;                  /* index of the next element, modulo 2 * elements */
    uint8_t elem_bytes;             /* size of an element, bytes */
    /* Elements that wait until the ring has room; NULL: no element has waited yet. */
    GByteArray *pending;
} PvrdmaRing;

/* Maximal length of PvrdmaRing.pending, bytes: one notification of each CQ. */
#define PVRDMA_RING_PENDING_BYTES (PVRDMA_CQS * sizeof(struct pvrdma_cqne))

/*
 * Returns the number of elements, a power of two, of a ring of @pages pages (at least 2)
 * with elements of @elem_bytes bytes.  The first page contains the indices.
 */
uint32_t pvrdma_ring_elements(uint32_t pages, unsigned elem_bytes);
/*
 * Initializes @ring with the @pages pages of the directory at DMA address @pdir, and
 * elements of @elem_bytes bytes.  Returns 0, EINVAL if @pages is less than 2, or an errno
 * of pvrdma_pages_load().  After an error @ring has no elements and no pages.
 */
int pvrdma_ring_init(PvrdmaState *s, PvrdmaRing *ring, uint64_t pdir,
                     uint32_t pages, unsigned elem_bytes);
/*
 * Frees the page addresses and the waiting elements of @ring, and sets all members of
 * @ring to 0.
 */
void pvrdma_ring_fini(PvrdmaState *s, PvrdmaRing *ring);
/*
 * Sets ring_timer, which calls pvrdma_rings_retry(), if an element waits for room in a
 * ring.
 */
void pvrdma_rings_arm(PvrdmaState *s);
/*
 * Callback of ring_timer; @opaque is the PvrdmaState.  Writes the waiting elements for
 * which the rings have room now.  Raises the interrupt of each ring that had waiting
 * elements, and sets ring_timer again if some elements still wait.
 */
void pvrdma_rings_retry(void *opaque);
/*
 * Writes an event to the ring of asynchronous events, and raises the interrupt of this
 * ring.  @info is the handle of the QP, CQ or SRQ, or the number of the port.  If the
 * ring is full, keeps the event for pvrdma_rings_retry().  If PVRDMA_RING_PENDING_BYTES
 * of events are kept already, drops the event, and counts the event in EVENT_OVERFLOW.
 * If the guest's index or the ring's memory is not valid, drops the event with a guest
 * error.  Does nothing before CTL activates the device.
 */
void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info);
/*
 * Writes a notification of the CQ with handle @cq to the notification ring, and raises
 * the interrupt of this ring.  Handles a ring that is full or not valid as pvrdma_event()
 * does, but counts in NOTIFY_OVERFLOW.  Does nothing before CTL activates the device.
 */
void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq);
/* Sets the bit of @vector in ICR, and schedules a call of pvrdma_irq_flush(). */
void pvrdma_irq_raise(PvrdmaState *s, enum pvrdma_intr_vector vector);
/*
 * The function irq_flush of RNicLoopOps; @opaque is the PvrdmaState.  If the guest has
 * enabled MSI-X, sends a message for each bit of ICR that IMR does not mask, and clears
 * the bit in ICR.  Without MSI-X sets the level of the interrupt line: high if such a bit
 * exists.  Does nothing after pvrdma_fini().  The device must not be at work
 * (RNicLoop.running), because an interrupt may reset the device.
 */
void pvrdma_irq_flush(void *opaque);

#endif /* HW_PVRDMA_BASE_EVENT_H */
