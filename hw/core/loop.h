/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a device: one function runs all units, and nothing else does work.
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
 * 5. Each run has a limit: then the main loop and the vCPUs have their turn.
 *
 * All functions need the big lock.
 */
#ifndef RNIC_CORE_LOOP_H
#define RNIC_CORE_LOOP_H

#include "compat.h"
#include "deadline.h"

/* What a device gives to its loop; a function may be NULL unless it says otherwise. */
typedef struct RNicLoopOps {
    /* Returns false while the device must not change: the machine stands still. */
    bool (*allowed)(void *opaque);
    /* Before the first round and after the last one. */
    void (*begin)(void *opaque);
    void (*end)(void *opaque);
    /*
     * Runs all units once.  *@packets is the maximum number of packets.  Returns true if
     * a unit could continue now.  Not NULL.
     */
    bool (*round)(void *opaque, unsigned *packets);
    /* Returns true if interrupts are to be sent. */
    bool (*irq_due)(void *opaque);
    /* Sends the interrupts; the device may be gone afterwards.  Not NULL. */
    void (*irq_flush)(void *opaque);
    /* Does the reset that rnic_loop_reset_begin() has put off.  Not NULL. */
    void (*reset)(void *opaque);
    /* Frees the state of a device whose end was asked for.  Not NULL. */
    void (*free)(void *opaque);
    /*
     * QEMU's re-entrancy guard refuses accesses to the device's regions while the device
     * is at work.  Otherwise the handlers of the regions call rnic_loop_enter().
     */
    bool guard;
    unsigned rounds;                /* of the bottom half */
    unsigned packets;
} RNicLoopOps;

typedef struct RNicLoop {
    const RNicLoopOps *ops;
    void *opaque;
    DeviceState *dev;
    QEMUBH *bh;                     /* NULL: the device has ended */
    RNicDeadline deadline;          /* of rnic_loop_at() */
    bool timed;                     /* the units run at exact virtual times */
    bool running;                   /* the device is at work */
    bool engaged;                   /* QEMU's re-entrancy guard before the work */
    bool pending;                   /* rnic_loop_schedule() was called meanwhile */
    bool due;                       /* the bottom half has work */
    bool leaving;                   /* interrupts are being sent */
    bool reset_wanted;
    bool free_wanted;
} RNicLoop;

/* What a store of a vCPU may do while the vCPU waits. */
#define RNIC_LOOP_VCPU_ROUNDS 2
#define RNIC_LOOP_VCPU_PACKETS 16

void rnic_loop_init(RNicLoop *l, const RNicLoopOps *ops, void *opaque,
                    DeviceState *dev);
/*
 * Ends the device.  The function calls RNicLoopOps.free at once, or, if the device is at
 * work, when the caller that works has returned.  The object lives until then.
 */
void rnic_loop_fini(RNicLoop *l);

/* Runs the units soon. */
void rnic_loop_schedule(RNicLoop *l);
/* Runs the units at virtual time @ns, or earlier if an earlier time was asked for. */
void rnic_loop_at(RNicLoop *l, int64_t ns);
/* Runs the units now, unless the device is at work: then after that work. */
void rnic_loop_run(RNicLoop *l);

/*
 * Marks the device as at work.  Returns false if the device is at work already: for
 * example, a hub has sent its own frame back.
 */
bool rnic_loop_enter(RNicLoop *l);
/*
 * Runs the units if work is pending, and ends the work that rnic_loop_enter() began;
 * @entered is its result.  The bottom half sends the interrupts, because the netdev that
 * has called must find its queue when its call returns.
 */
void rnic_loop_leave(RNicLoop *l, bool entered);
/* Ends the work, and leaves pending work to the bottom half. */
void rnic_loop_leave_late(RNicLoop *l, bool entered);
/*
 * Ends a store by a vCPU, and sends the interrupts.  @work: does a small part of the
 * pending work before, because a program waits for it.
 */
void rnic_loop_leave_vcpu(RNicLoop *l, bool work);

/*
 * Begins a reset.  Returns false if the reset has to wait, or if the device has ended.
 * Pending work and the timer are forgotten.
 */
bool rnic_loop_reset_begin(RNicLoop *l);
/* Ends a reset, and sends the interrupts that it caused. */
void rnic_loop_reset_end(RNicLoop *l);

#endif /* RNIC_CORE_LOOP_H */
