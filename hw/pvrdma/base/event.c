/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: rings of the device, interrupts.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "event.h"
#include "guest.h"
#include "pages.h"
#include "../pvrdma.h"
#include "../trace.h"

/*
 * Interval, ns, of pvrdma_rings_retry(), which is necessary because the guest does not
 * signal that a ring has room again.
 */
#define RING_RETRY_NS    SCALE_MS

/* --- Rings -------------------------------------------------------------- */

uint32_t pvrdma_ring_elements(uint32_t pages, unsigned elem_bytes)
{
    uint32_t count = (pages - 1) * (PVRDMA_PAGE_BYTES / elem_bytes);

    return PVRDMA_RING_ELEMENTS(count);
}

int pvrdma_ring_init(PvrdmaState *s, PvrdmaRing *ring, uint64_t pdir,
                     uint32_t pages, unsigned elem_bytes)
{
    int err;

    *ring = (PvrdmaRing) { 0 };
    if (pages < 2) {
        return EINVAL;
    }
    err = pvrdma_pages_load(s, &ring->pages, pdir, pages);
    if (!err) {
        ring->elements = pvrdma_ring_elements(pages, elem_bytes);
        ring->elem_bytes = elem_bytes;
    }
    return err;
}

void pvrdma_ring_fini(PvrdmaState *s, PvrdmaRing *ring)
{
    if (ring->pending) {
        g_byte_array_unref(ring->pending);
    }
    pvrdma_pages_free(s, &ring->pages);
    *ring = (PvrdmaRing) { 0 };
}

/*
 * Returns the number of free elements of @ring, or -1 if the guest's index is not valid
 * or cannot be read.
 */
static int64_t ring_space(PvrdmaState *s, PvrdmaRing *ring)
{
    const uint32_t mask = 2 * ring->elements - 1;
    __le32 raw;
    uint32_t cons, used;

    if (!pvrdma_pages_read(s, &ring->pages,
                           offsetof(struct pvrdma_ring_state, rx.cons_head),
                           &raw, sizeof(raw))) {
        return -1;
    }
    cons = le32_to_cpu(raw);
    used = (ring->prod - cons) & mask;
    if (cons > mask || used > ring->elements) {
        return -1;
    }
    return ring->elements - used;
}

static bool ring_write(PvrdmaState *s, PvrdmaRing *ring, const void *elem)
{
    uint32_t slot = ring->prod & (ring->elements - 1);
    uint32_t prod = (ring->prod + 1) & (2 * ring->elements - 1);
    __le32 tail = cpu_to_le32(prod);

    if (!pvrdma_pages_write(s, &ring->pages,
                            PVRDMA_PAGE_BYTES + slot * ring->elem_bytes, elem,
                            ring->elem_bytes) ||
        !pvrdma_pages_write(s, &ring->pages,
                            offsetof(struct pvrdma_ring_state, rx.prod_tail),
                            &tail, sizeof(tail))) {
        return false;
    }
    ring->prod = prod;
    return true;
}

/*
 * Writes @elem to the ring and returns true, or returns false if the ring is full.  If
 * the guest's index or the memory of the ring is not valid, drops @elem, logs a guest
 * error and returns true.
 */
static bool ring_try(PvrdmaState *s, PvrdmaRing *ring, const void *elem)
{
    int64_t space = ring_space(s, ring);

    if (space < 0) {
        pvrdma_guest_error(s, "bad index in a ring of the device");
    } else if (space && !ring_write(s, ring, elem)) {
        pvrdma_guest_error(s, "a ring of the device is not in memory");
    }
    return space;
}

static bool ring_has_pending(const PvrdmaRing *ring)
{
    return ring->pending && ring->pending->len;
}

void pvrdma_rings_arm(PvrdmaState *s)
{
    if (ring_has_pending(&s->async) || ring_has_pending(&s->cqne)) {
        timer_mod(s->ring_timer, rnic_now() + RING_RETRY_NS);
    }
}

static void ring_pending_add(PvrdmaState *s, PvrdmaRing *ring, const void *elem,
                             enum pvrdma_counter lost)
{
    if (!ring->pending) {
        ring->pending = g_byte_array_new();
    }
    if (ring->pending->len >= PVRDMA_RING_PENDING_BYTES) {
        pvrdma_count(s, lost);
        return;
    }
    g_byte_array_append(ring->pending, elem, ring->elem_bytes);
    pvrdma_rings_arm(s);
}

static void ring_pending_run(PvrdmaState *s, PvrdmaRing *ring)
{
    unsigned done = 0;

    while (done < ring->pending->len && ring_try(s, ring, ring->pending->data + done)) {
        done += ring->elem_bytes;
    }
    g_byte_array_remove_range(ring->pending, 0, done);
}

/*
 * Writes @elem behind the waiting elements (PvrdmaRing.pending), or keeps @elem until the
 * ring has room.  The device keeps elements because a process that waits for a lost
 * notification would not wake up.  If PVRDMA_RING_PENDING_BYTES of elements are kept
 * already, drops @elem, and counts @elem in @lost.  Does nothing if the guest has set up
 * no ring.
 */
static void ring_push(PvrdmaState *s, PvrdmaRing *ring, const void *elem,
                      enum pvrdma_counter lost)
{
    if (!ring->elements) {
        return;
    }
    if (ring_has_pending(ring)) {
        ring_pending_run(s, ring);
    }
    if (ring_has_pending(ring) || !ring_try(s, ring, elem)) {
        ring_pending_add(s, ring, elem, lost);
    }
}

static void ring_retry(PvrdmaState *s, PvrdmaRing *ring,
                       enum pvrdma_intr_vector vector)
{
    if (ring_has_pending(ring)) {
        ring_pending_run(s, ring);
        pvrdma_irq_raise(s, vector);
    }
}

void pvrdma_rings_retry(void *opaque)
{
    PvrdmaState *s = opaque;

    ring_retry(s, &s->async, PVRDMA_INTR_VECTOR_ASYNC);
    ring_retry(s, &s->cqne, PVRDMA_INTR_VECTOR_CQ);
    pvrdma_rings_arm(s);
}

void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info)
{
    struct pvrdma_eqe eqe = {
        .type = cpu_to_le32(type),
        .info = cpu_to_le32(info),
    };

    if (!s->active) {
        return;
    }
    trace_pvrdma_event(s->port.netdev, type, info);
    ring_push(s, &s->async, &eqe, PVRDMA_CNT_EVENT_OVERFLOW);
    /* A full ring needs the interrupt, too, because the guest has elements to read. */
    pvrdma_irq_raise(s, PVRDMA_INTR_VECTOR_ASYNC);
}

void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq)
{
    struct pvrdma_cqne cqne = { .info = cpu_to_le32(cq) };

    if (!s->active) {
        return;
    }
    trace_pvrdma_cq_notify(s->port.netdev, cq);
    ring_push(s, &s->cqne, &cqne, PVRDMA_CNT_NOTIFY_OVERFLOW);
    pvrdma_irq_raise(s, PVRDMA_INTR_VECTOR_CQ);
}

/* --- Interrupts --------------------------------------------------------- */

void pvrdma_irq_raise(PvrdmaState *s, enum pvrdma_intr_vector vector)
{
    s->icr |= PVRDMA_INTR_CAUSE(vector);
    pvrdma_schedule(s);
}

/*
 * Sends one message for each bit of @causes that is still set in ICR and not masked, and
 * clears this bit in ICR.  The guest may aim a message at a register that masks
 * interrupts, disables messages, or resets or unplugs this device.  So the function
 * checks the state again before each message.  The caller has checked that messages are
 * enabled.
 */
static void irq_messages(PvrdmaState *s, uint32_t causes)
{
    while (causes) {
        uint32_t cause = causes & -causes;

        if (s->icr & ~s->imr & cause) {
            s->icr &= ~cause;
            trace_pvrdma_irq(s->port.netdev, ctz32(cause));
            s->host.irq(s->host.opaque, ctz32(cause));
        }
        causes &= causes - 1;
        if (causes && (s->gone || !s->host.messages(s->host.opaque))) {
            return;
        }
    }
}

/*
 * Sends no message in a nested call.  A message may be a store to a doorbell of this
 * device, which raises the next cause and calls this function again; a long chain of such
 * calls would exhaust the stack.  The outer call or the bottom half sends the message.
 */
void pvrdma_irq_flush(void *opaque)
{
    PvrdmaState *s = opaque;
    uint32_t causes = s->icr & ~s->imr;

    if (s->gone) {
        return;
    }
    if (!s->host.messages(s->host.opaque)) {
        s->host.line(s->host.opaque, 0, causes);
        return;
    }
    if (s->irqs_sending) {
        return;
    }
    s->irqs_sending = true;
    irq_messages(s, causes);
    s->irqs_sending = false;
    if (!s->gone && s->icr & ~s->imr) {
        pvrdma_schedule(s);
    }
}
