/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One ring of an rnic-cable; see ring.h. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "ring.h"

/* Free bytes at which the reader wakes a writer that waits for room. */
#define WAKE_BYTES (RNIC_CABLE_RING_BYTES / 4)

/* Returns the bytes of the record of a frame of @length bytes. */
static uint32_t ring_record(uint32_t length)
{
    return ROUND_UP(sizeof(struct rnic_cable_record) + length, RNIC_CABLE_ALIGN);
}

QEMU_BUILD_BUG_ON(WAKE_BYTES < RNIC_CABLE_FRAME_MAX + sizeof(struct rnic_cable_record) +
                               RNIC_CABLE_ALIGN);

static void *ring_address(RNicRing *r)
{
    return r->data + (r->at & (RNIC_CABLE_RING_BYTES - 1));
}

void rnic_ring_init(RNicRing *r, struct rnic_cable_control *control, uint8_t *data)
{
    *r = (RNicRing) { .control = control, .data = data };
}

/*
 * Returns the bytes between @tail and the writer's own counter.  An impossible value of
 * the reader breaks the ring.
 */
static uint32_t ring_used(RNicRing *r)
{
    uint32_t used = r->at - qatomic_load_acquire(&r->control->tail);

    if (used > RNIC_CABLE_RING_BYTES || used % RNIC_CABLE_ALIGN) {
        r->broken = true;
    }
    return used;
}

/*
 * Returns the bytes between the reader's own counter and @head.  An impossible value of
 * the writer breaks the ring.
 */
static uint32_t ring_filled(RNicRing *r)
{
    uint32_t filled = qatomic_load_acquire(&r->control->head) - r->at;

    if (filled > RNIC_CABLE_RING_BYTES || filled % RNIC_CABLE_ALIGN) {
        r->broken = true;
    }
    return r->broken ? 0 : filled;
}

uint8_t *rnic_ring_reserve(RNicRing *r, uint32_t length)
{
    uint32_t limit = RNIC_CABLE_RING_BYTES - ring_record(length);

    if (!r->broken && ring_used(r) > limit && !r->broken) {
        qatomic_set(&r->control->full, 1);
        /*
         * Looks again after the store, because a reader that has made room before it saw
         * the flag sends no wake-up.
         */
        smp_mb();
        if (ring_used(r) > limit) {
            return NULL;
        }
        qatomic_set(&r->control->full, 0);
    }
    return r->broken ? NULL
                     : (uint8_t *)ring_address(r) + sizeof(struct rnic_cable_record);
}

void rnic_ring_commit(RNicRing *r, uint32_t length)
{
    struct rnic_cable_record *record = ring_address(r);

    *record = (struct rnic_cable_record) { .length = length };
    r->at += ring_record(length);
    qatomic_store_release(&r->control->head, r->at);
}

bool rnic_ring_must_wake_reader(RNicRing *r)
{
    /* orders the store of @head before the load of @sleeping */
    smp_mb();
    return qatomic_read(&r->control->sleeping) &&
           qatomic_xchg(&r->control->sleeping, 0);
}

const uint8_t *rnic_ring_peek(RNicRing *r, uint32_t *length)
{
    struct rnic_cable_record *record = ring_address(r);
    uint32_t filled = r->broken ? 0 : ring_filled(r);

    if (filled == 0) {
        return NULL;
    }
    *length = qatomic_read(&record->length);
    if (*length == 0 || *length > RNIC_CABLE_FRAME_MAX || ring_record(*length) > filled) {
        r->broken = true;
        return NULL;
    }
    return (const uint8_t *)(record + 1);
}

void rnic_ring_release(RNicRing *r, uint32_t length)
{
    r->at += ring_record(length);
    qatomic_store_release(&r->control->tail, r->at);
}

bool rnic_ring_must_wake_writer(RNicRing *r)
{
    /* orders the store of @tail before the load of @full */
    smp_mb();
    return qatomic_read(&r->control->full) &&
           RNIC_CABLE_RING_BYTES - ring_filled(r) >= WAKE_BYTES &&
           qatomic_xchg(&r->control->full, 0);
}

bool rnic_ring_sleep(RNicRing *r)
{
    qatomic_set(&r->control->sleeping, 1);
    /*
     * Looks after the store, because a writer that has written a record before it saw the
     * flag sends no wake-up.
     */
    smp_mb();
    if (ring_filled(r) == 0 && !r->broken) {
        return true;
    }
    rnic_ring_awake(r);
    return false;
}

void rnic_ring_awake(RNicRing *r)
{
    qatomic_set(&r->control->sleeping, 0);
}
