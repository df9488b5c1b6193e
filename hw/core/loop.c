/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a device; see loop.h. */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "loop.h"

/*
 * Schedules the bottom half, unless it is scheduled already, because QEMU may write to an
 * eventfd for each call and then do one more turn of the main loop.
 */
static void loop_bh_schedule(RNicLoop *l)
{
    if (!l->scheduled) {
        l->scheduled = true;
        qemu_bh_schedule(l->bh);
    }
}

void rnic_loop_schedule_bh(RNicLoop *l)
{
    if (l->bh) {
        l->due = true;
        if (!l->polled) {
            loop_bh_schedule(l);
        }
        if (l->timed) {
            /*
             * the virtual time may advance before the bottom half runs, but cannot
             * advance past the time of an armed timer
             */
            rnic_loop_at(l, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
        }
    }
}

void rnic_loop_polled(RNicLoop *l, bool polled)
{
    l->polled = polled;
    if (l->bh && l->due && !polled) {
        loop_bh_schedule(l);
    }
}

void rnic_loop_at(RNicLoop *l, int64_t ns)
{
    rnic_deadline_at(&l->deadline, ns);
}

bool rnic_loop_enter(RNicLoop *l)
{
    MemReentrancyGuard *guard = &l->dev->mem_reentrancy_guard;

    if (l->running) {
        return false;
    }
    l->running = true;
    /*
     * sets the guard if @l->ops->guard is true, because QEMU does not set the guard for
     * all callers: for example, not for a timer
     */
    l->engaged = guard->engaged_in_io;
    guard->engaged_in_io |= l->ops->guard;
    return true;
}

/*
 * Ends the work, does a deferred reset, and schedules the bottom half for pending work.
 */
static void loop_end(RNicLoop *l)
{
    l->running = false;
    l->dev->mem_reentrancy_guard.engaged_in_io = l->engaged;
    if (l->reset_wanted) {
        l->ops->reset(l->opaque);
    }
    if (l->pending) {
        l->pending = false;
        rnic_loop_schedule(l);
    }
}

void rnic_loop_interrupt(RNicLoop *l)
{
    bool leaving = l->leaving;

    l->leaving = true;
    l->ops->irq_flush(l->opaque);
    l->leaving = leaving;
}

/*
 * Runs the units for at most @rounds rounds, and sets @l->pending if work is left.
 * *@packets of RNicLoopOps.round is @packets in the first round.
 */
static void loop_work(RNicLoop *l, unsigned rounds, unsigned packets)
{
    bool more = true;

    l->due = false;
    if (l->ops->begin) {
        l->ops->begin(l->opaque);
    }
    while (more && rounds-- && packets) {
        l->pending = false;
        more = l->ops->round(l->opaque, &packets);
        more |= l->pending;
    }
    l->pending = false;
    if (l->ops->end) {
        l->ops->end(l->opaque);
    }
    /* ops->end() may have sent a frame that came back to the device and set @pending */
    l->pending |= more;
}

void rnic_loop_leave(RNicLoop *l, bool entered)
{
    if (!entered) {
        return;
    }
    if (l->pending) {
        loop_work(l, l->ops->rounds, l->ops->packets);
    }
    loop_end(l);
    if (l->bh && l->ops->irq_due(l->opaque)) {
        loop_bh_schedule(l);
    }
}

void rnic_loop_leave_deferred(RNicLoop *l, bool entered)
{
    if (entered) {
        loop_end(l);
    }
}

void rnic_loop_leave_vcpu(RNicLoop *l, bool work)
{
    if (work && l->pending) {
        loop_work(l, RNIC_LOOP_VCPU_ROUNDS, RNIC_LOOP_VCPU_PACKETS);
    }
    loop_end(l);
    rnic_loop_interrupt(l);
}

void rnic_loop_run(RNicLoop *l)
{
    bool entered = rnic_loop_enter(l);

    l->pending = true;
    rnic_loop_leave(l, entered);
}

static void loop_bh(void *opaque)
{
    RNicLoop *l = opaque;

    l->scheduled = false;
    if (l->ops->allowed && !l->ops->allowed(l->opaque)) {
        return;
    }
    if (!rnic_loop_enter(l)) {
        l->pending = true;
        return;
    }
    if (l->due) {
        loop_work(l, l->ops->rounds, l->ops->packets);
    }
    loop_end(l);
    rnic_loop_interrupt(l);
}

static void loop_timer(void *opaque)
{
    RNicLoop *l = opaque;

    rnic_deadline_fired(&l->deadline);
    rnic_loop_run(l);
}

bool rnic_loop_reset_begin(RNicLoop *l)
{
    if (!l->bh) {
        return false;
    }
    if (!rnic_loop_enter(l)) {
        /* loop_end() does the reset later, because the units still use their state */
        l->reset_wanted = true;
        return false;
    }
    l->reset_wanted = false;
    l->pending = false;
    qemu_bh_cancel(l->bh);
    l->scheduled = false;
    rnic_deadline_cancel(&l->deadline);
    return true;
}

void rnic_loop_reset_end(RNicLoop *l)
{
    loop_end(l);
    rnic_loop_interrupt(l);
}

void rnic_loop_init(RNicLoop *l, const RNicLoopOps *ops, void *opaque,
                    DeviceState *dev)
{
    *l = (RNicLoop) {
        .ops = ops,
        .opaque = opaque,
        .dev = dev,
    };
    l->bh = qemu_bh_new_guarded(loop_bh, l, &dev->mem_reentrancy_guard);
    rnic_deadline_init(&l->deadline, loop_timer, l);
}

/* Frees the state.  A frame that arrives meanwhile runs no unit: @l->running is true. */
static void loop_free(RNicLoop *l)
{
    l->running = true;
    l->ops->free(l->opaque);
    rnic_deadline_fini(&l->deadline);
    l->running = false;
}

static void loop_free_deferred(void *opaque)
{
    RNicLoop *l = opaque;
    Object *owner = OBJECT(l->dev);

    if (l->free_wanted) {
        loop_free(l);
    }
    object_unref(owner);
}

void rnic_loop_fini(RNicLoop *l)
{
    qemu_bh_delete(l->bh);
    /*
     * shows the MMIO handlers that the device has ended, because a vCPU in an access to
     * the device may still wait for the big lock
     */
    l->bh = NULL;
    /*
     * An interrupt or a frame of this very device may have made the guest unplug the
     * device.  State and object stay allocated until the function that sent the interrupt
     * or the frame has returned.
     */
    l->free_wanted = l->running || l->leaving;
    if (!l->free_wanted) {
        loop_free(l);
    }
    object_ref(OBJECT(l->dev));
    aio_bh_schedule_oneshot(qemu_get_aio_context(), loop_free_deferred, l);
}
