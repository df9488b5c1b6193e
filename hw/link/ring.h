/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ring of an rnic-cable, seen by its writer or by its reader; see rnic/cable.h.
 *
 * The process at the other end may store any value to the shared memory at any time.
 * Whatever it stores, the functions access only the ring's memory, and a frame has 1 to
 * RNIC_CABLE_FRAME_MAX bytes.  If a value of the other end is impossible, the ring is
 * broken: it carries no more frames.
 */
#ifndef HW_LINK_RING_H
#define HW_LINK_RING_H

#include "rnic/cable.h"

/* One ring, as its writer or its reader has it. */
typedef struct RNicRing {
    struct rnic_cable_control *control;     /* shared */
    /*
     * Shared.  The RNIC_CABLE_RING_BYTES bytes are mapped twice, one mapping directly
     * after the other, so that each record is at consecutive addresses.
     */
    uint8_t *data;
    uint32_t at;            /* own counter: @head of the writer or @tail of the reader */
    bool broken;
} RNicRing;

/* Begins to use an empty ring. */
void rnic_ring_init(RNicRing *r, struct rnic_cable_control *control, uint8_t *data);

/*
 * Returns the address at which the writer may store a frame of @length bytes, 1 to
 * RNIC_CABLE_FRAME_MAX.  The caller stores the frame and calls rnic_ring_commit().  If
 * the ring has no room, sets the flag full and returns NULL: the reader will send a
 * wake-up.  Returns NULL also if the ring is broken.
 */
uint8_t *rnic_ring_reserve(RNicRing *r, uint32_t length);

/*
 * Makes the frame of @length bytes that the caller has stored at rnic_ring_reserve()'s
 * address visible to the reader.
 */
void rnic_ring_commit(RNicRing *r, uint32_t length);

/*
 * Returns true if the reader waits for records, and clears the flag sleeping: the writer
 * must send a wake-up.  The writer calls this function after rnic_ring_commit().
 */
bool rnic_ring_must_wake_reader(RNicRing *r);

/*
 * Returns the oldest frame, and its length in *@length.  The other end may change the
 * bytes of the frame at any time; *@length is a private copy.  The frame is valid until
 * rnic_ring_release().  Returns NULL if the ring is empty or broken.
 */
const uint8_t *rnic_ring_peek(RNicRing *r, uint32_t *length);

/*
 * Gives the memory of the oldest frame, of *@length bytes of rnic_ring_peek(), back to
 * the writer.
 */
void rnic_ring_release(RNicRing *r, uint32_t length);

/*
 * Returns true if the writer waits for room and a quarter of the ring is free, and clears
 * the flag full: the reader must send a wake-up.  A longest frame with its record needs
 * less than a quarter.  The reader calls this function after rnic_ring_release().
 */
bool rnic_ring_must_wake_writer(RNicRing *r);

/*
 * Sets the flag sleeping, so that the writer sends a wake-up after its next record.
 * Returns false, without the flag, if the ring has a record already or is broken: then
 * the reader must not wait.
 */
bool rnic_ring_sleep(RNicRing *r);

/* Clears the flag sleeping.  The reader looks for records itself from now on. */
void rnic_ring_awake(RNicRing *r);

#endif /* HW_LINK_RING_H */
