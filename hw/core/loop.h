/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a device.  The loop runs all units in rounds: RNicLoopOps.round() runs each
 * unit once.  A run of the loop is a number of rounds, one after the other.
 *
 *   MMIO of a vCPU --> enter ... leave_vcpu --+
 *   netdev, timer  --> enter ... leave -------+--> rounds --> end --> interrupts
 *   schedule       --> bottom half -----------+
 *
 * 1. MMIO handlers, netdev callbacks and timers check their arguments, store the data,
 *    and call rnic_loop_schedule().
 * 2. While the device is at work (RNicLoop.running), a nested call of such a function
 *    only stores the data and calls rnic_loop_schedule().  The loop then runs the units
 *    again.
 * 3. Interrupts are sent when the device is not at work any more, because the guest may
 *    aim an interrupt at a register that resets, moves or unplugs this very device.
 * 4. A reset of the device, or the release of its memory, waits until the work has ended,
 *    because functions that have not returned still use the state.
 * 5. Each run has a limit, because the main loop and the vCPUs wait for the big lock.
 *
 * The caller of each function holds the big lock.
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
    /*
     * Returns false while the machine is stopped, because the state of the device must
     * not change then.  Only the bottom half calls this function.  The bottom half does
     * nothing if the result is false.
     */
    bool (*allowed)(void *opaque);
    /*
     * The loop calls begin() before the first round of a run, and end() after the last
     * round.
     */
    void (*begin)(void *opaque);
    void (*end)(void *opaque);
    /*
     * Runs the units once.  *@packets is the number of packets that the round may send.
     * If the limit is for all rounds of a run together, the function subtracts the number
     * of packets that this round has sent from *@packets.  Returns true if a unit could
     * continue now.  Not NULL.
     */
    bool (*round)(void *opaque, unsigned *packets);
    /* Returns true if an interrupt is pending that irq_flush() would send.  Not NULL. */
    bool (*irq_due)(void *opaque);
    /*
     * Sends the pending interrupts, if there are any.  An interrupt may make the guest
     * unplug the device before the function returns.  Not NULL.
     */
    void (*irq_flush)(void *opaque);
    /* Does the reset that rnic_loop_reset_begin() has deferred.  Not NULL. */
    void (*reset)(void *opaque);
    /* Frees the members of the device's state; see rnic_loop_fini().  Not NULL. */
    void (*free)(void *opaque);
    /*
     * True: the loop sets QEMU's re-entrancy guard of the device while the device is at
     * work.  Then QEMU refuses accesses to those regions of the device that check the
     * guard.  False: the handlers of stores call rnic_loop_enter(), which detects a store
     * while the device is at work.
     */
    bool guard;
    /* Limits of a run; rnic_loop_leave_vcpu() has smaller limits. */
    unsigned rounds;                /* maximal number of rounds of a run */
    unsigned packets;               /* *@packets of round() in the first round of a run */
} RNicLoopOps;

typedef struct RNicLoop {
    const RNicLoopOps *ops;
    void *opaque;                   /* argument of the functions of @ops */
    DeviceState *dev;
    QEMUBH *bh;                     /* bottom half; NULL: the device has ended */
    RNicDeadline deadline;          /* timer of rnic_loop_at() */
    bool timed;                     /* the units must run at exact virtual times */
    bool running;                   /* the device is at work */
    bool engaged;                   /* QEMU's re-entrancy guard was set before the work */
    bool pending;                   /* a unit has work that no round has done yet */
    bool due;   /* the units must run: by @bh or, if @polled, by the vCPU that polls */
    bool scheduled;                 /* @bh is scheduled */
    bool polled;                    /* see rnic_loop_polled() */
    bool leaving;                   /* RNicLoopOps.irq_flush is being called */
    bool reset_wanted;              /* RNicLoopOps.reset is called when the work ends */
    bool free_wanted;               /* a bottom half will call RNicLoopOps.free */
} RNicLoop;

/*
 * Limits of the work that rnic_loop_leave_vcpu() does inside a store.  The limits are
 * small, because the vCPU waits for the end of the store.
 */
#define RNIC_LOOP_VCPU_ROUNDS 2
#define RNIC_LOOP_VCPU_PACKETS 16

/*
 * Initializes the loop of device @dev.  @ops must be static.  The functions of @ops get
 * @opaque as argument.
 */
void rnic_loop_init(RNicLoop *l, const RNicLoopOps *ops, void *opaque,
                    DeviceState *dev);
/*
 * Ends the device: deletes the bottom half and calls RNicLoopOps.free.  If the device is
 * at work or sends interrupts, a later bottom half calls RNicLoopOps.free, when all
 * functions that use the state have returned.  In any case the QOM object stays allocated
 * until a later bottom half.
 */
void rnic_loop_fini(RNicLoop *l);

/*
 * Makes the bottom half run the units.  The device must not be at work.  Does nothing if
 * the device has ended.
 */
void rnic_loop_schedule_bh(RNicLoop *l);
/*
 * Makes the loop run the units.  If a round is running and the limit of the run permits
 * one more round, the present run of the loop has one more round.  If the device is at
 * work before a run, that run does the work.  Otherwise the bottom half runs the units.
 */
static inline void rnic_loop_schedule(RNicLoop *l)
{
    if (likely(l->running)) {
        l->pending = true;
    } else {
        rnic_loop_schedule_bh(l);
    }
}

/*
 * Begins (@polled) or ends a time in which the caller runs the units again and again, by
 * rnic_loop_run() while @due is true.  In this time the bottom half is not scheduled for
 * the units, because a bottom half that a vCPU schedules wakes up the main loop, which
 * then competes with the vCPU for the big lock.
 */
void rnic_loop_polled(RNicLoop *l, bool polled);
/*
 * Arms the timer of @l, which runs the units at virtual time @ns.  Does nothing if the
 * timer is armed for @ns or an earlier time.  The timer keeps only one time, so a unit
 * that still waits for a time must call this function again in each run.  A reset disarms
 * the timer.
 */
void rnic_loop_at(RNicLoop *l, int64_t ns);
/*
 * Runs the units now.  If the device is at work already, has the same effect as
 * rnic_loop_schedule().
 */
void rnic_loop_run(RNicLoop *l);

/*
 * Marks the device as at work and returns true.  Returns false if the device is at work
 * already: for example, a hub has sent a frame back to the device.
 */
bool rnic_loop_enter(RNicLoop *l);
/*
 * Runs the units if work is pending, and ends the work that rnic_loop_enter() began.
 * Does nothing if @entered, the result of rnic_loop_enter(), is false.  The bottom half
 * sends the interrupts.  This function must not send interrupts: an interrupt may unplug
 * the device, while the netdev that called the device still uses the queue of the netdev.
 */
void rnic_loop_leave(RNicLoop *l, bool entered);
/*
 * Ends the work without a run of the units.  If work is pending, schedules the bottom
 * half, which does the work and sends the interrupts.  Does nothing if @entered, the
 * result of rnic_loop_enter(), is false.
 */
void rnic_loop_leave_deferred(RNicLoop *l, bool entered);
/*
 * Ends the handling of a store, for which rnic_loop_enter() has returned true, and sends
 * the interrupts.  If @work is true and work is pending, the function first runs the
 * units within the limits RNIC_LOOP_VCPU_ROUNDS and RNIC_LOOP_VCPU_PACKETS, because a
 * program waits for this work.  The bottom half does the rest of the work.
 */
void rnic_loop_leave_vcpu(RNicLoop *l, bool work);
/*
 * Sends the pending interrupts of a device that is not at work.  If an interrupt makes
 * the guest unplug the device, the state of the device is freed later.
 */
void rnic_loop_interrupt(RNicLoop *l);

/*
 * Begins a reset: marks the device as at work, cancels the bottom half and the timer, and
 * returns true.  Returns false if the device has ended, or if the device is at work
 * already.  If the device is at work already, the loop calls RNicLoopOps.reset when that
 * work ends.
 */
bool rnic_loop_reset_begin(RNicLoop *l);
/* Ends a reset for which rnic_loop_reset_begin() has returned true; sends interrupts. */
void rnic_loop_reset_end(RNicLoop *l);

#endif /* RNIC_CORE_LOOP_H */
