/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a device: one function runs all units, and no other function does work.
 *
 *   MMIO of a vCPU --> enter ... leave_vcpu --+
 *   netdev, timer  --> enter ... leave -------+--> rounds --> end --> interrupts
 *   schedule       --> bottom half -----------+
 *
 * 1. MMIO handlers, netdev callbacks and timers check, store and call
 *    rnic_loop_schedule().
 * 2. While the device is at work, a nested call only stores its data.  The loop runs
 *    once more.
 * 3. Interrupts leave when the device is not at work any more, because the guest may aim
 *    one at a register that resets, moves or unplugs this very device.
 * 4. A reset or the end of the device waits until the work has ended, because the caller
 *    still uses the state.
 * 5. Each run has a limit, because the main loop and the vCPUs wait for the big lock.
 *
 * All functions need the big lock.
 */
#ifndef RNIC_CORE_LOOP_H
#define RNIC_CORE_LOOP_H

#include "compat.h"
#include "deadline.h"

/*
 * The functions of a device that its loop calls.  A function may be NULL unless its
 * comment says "Not NULL".
 */
typedef struct RNicLoopOps {
    /* Returns false while the device must not change, because the machine is stopped. */
    bool (*allowed)(void *opaque);
    /* Called before the first round of a run, and after the last round. */
    void (*begin)(void *opaque);
    void (*end)(void *opaque);
    /*
     * Runs all units once, with at most *@packets packets.  A device whose limit is for
     * all rounds together subtracts from *@packets.  Returns true if a unit could
     * continue now.  Not NULL.
     */
    bool (*round)(void *opaque, unsigned *packets);
    /* Returns true if interrupts are to be sent.  Not NULL. */
    bool (*irq_due)(void *opaque);
    /* Sends the interrupts; the device may be gone afterwards.  Not NULL. */
    void (*irq_flush)(void *opaque);
    /* Does the reset that rnic_loop_reset_begin() has deferred.  Not NULL. */
    void (*reset)(void *opaque);
    /* Frees the state of the device, for rnic_loop_fini().  Not NULL. */
    void (*free)(void *opaque);
    /*
     * True: QEMU's re-entrancy guard refuses accesses to the device's regions while the
     * device is at work.  False: the handlers of the regions call rnic_loop_enter().
     */
    bool guard;
    /* limits of a run, except in a store of a vCPU */
    unsigned rounds;
    unsigned packets;
} RNicLoopOps;

typedef struct RNicLoop {
    const RNicLoopOps *ops;
    void *opaque;                   /* argument of the functions of @ops */
    DeviceState *dev;
    QEMUBH *bh;                     /* NULL: the device has ended */
    RNicDeadline deadline;          /* next time of rnic_loop_at() */
    bool timed;                     /* the units run at exact virtual times */
    bool running;                   /* the device is at work */
    bool engaged;                   /* QEMU's re-entrancy guard was set before the work */
    bool pending;                   /* rnic_loop_schedule() was called during the work */
    bool due;                       /* the bottom half must run the units */
    bool leaving;                   /* interrupts are being sent */
    bool reset_wanted;              /* RNicLoopOps.reset is called when the work ends */
    bool free_wanted;               /* a bottom half will call RNicLoopOps.free */
} RNicLoop;

/* Limits of the work inside a store of a vCPU, because the vCPU waits for its end. */
#define RNIC_LOOP_VCPU_ROUNDS 2
#define RNIC_LOOP_VCPU_PACKETS 16

/*
 * Initializes the loop of device @dev.  @ops must be static; its functions get @opaque.
 */
void rnic_loop_init(RNicLoop *l, const RNicLoopOps *ops, void *opaque,
                    DeviceState *dev);
/*
 * Ends the device.  The function calls RNicLoopOps.free at once, or, if the device is at
 * work, after the caller of that work has returned.  The object lives until then.
 */
void rnic_loop_fini(RNicLoop *l);

/* Schedules the bottom half.  The device must not be at work. */
void rnic_loop_schedule_bh(RNicLoop *l);
/* Runs the units in a bottom half, or once more if the device is at work. */
static inline void rnic_loop_schedule(RNicLoop *l)
{
    if (likely(l->running)) {
        l->pending = true;
    } else {
        rnic_loop_schedule_bh(l);
    }
}

/* Runs the units at virtual time @ns, or earlier if a call has given an earlier time. */
void rnic_loop_at(RNicLoop *l, int64_t ns);
/* Runs the units now, or, if the device is at work, once more in this work. */
void rnic_loop_run(RNicLoop *l);

/*
 * Marks the device as at work.  Returns false if the device is at work already: for
 * example, a hub has sent a frame back to the device.
 */
bool rnic_loop_enter(RNicLoop *l);
/*
 * Runs the units if work is pending, and ends the work that rnic_loop_enter() began.
 * @entered is the result of rnic_loop_enter(); if it is false, the function does nothing.
 * The bottom half sends the interrupts, because an interrupt may unplug the device, and a
 * netdev that has called the device still uses its queue.
 */
void rnic_loop_leave(RNicLoop *l, bool entered);
/*
 * Ends the work without a run of the units, and leaves pending work to the bottom half.
 * Does nothing if @entered, the result of rnic_loop_enter(), is false.
 */
void rnic_loop_leave_deferred(RNicLoop *l, bool entered);
/*
 * Ends a store by a vCPU, for which rnic_loop_enter() has returned true, and sends the
 * interrupts.  If @work is true, the function first does a small part of the pending
 * work, because a program waits for that work.
 */
void rnic_loop_leave_vcpu(RNicLoop *l, bool work);
/*
 * Sends interrupts of a device that is not at work.  The state is freed later if one of
 * them ends the device.
 */
void rnic_loop_interrupt(RNicLoop *l);

/*
 * Begins a reset: marks the device as at work, and cancels pending work and the timer.
 * Returns false if the device has ended, or if the device is at work already; in the
 * latter case RNicLoopOps.reset is called when that work ends.
 */
bool rnic_loop_reset_begin(RNicLoop *l);
/* Ends a reset, and sends the interrupts that it caused. */
void rnic_loop_reset_end(RNicLoop *l);

#endif /* RNIC_CORE_LOOP_H */
