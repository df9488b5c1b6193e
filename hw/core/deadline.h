/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer, in virtual time (ns), for the earliest of many deadlines of one owner.
 * RNicDeadline stores only one time, so the timer may fire for a deadline that the owner
 * has dropped meanwhile.  When the timer fires, the owner checks all deadlines and arms
 * the timer for the next deadline.
 */
#ifndef RNIC_CORE_DEADLINE_H
#define RNIC_CORE_DEADLINE_H

#include "qemu/timer.h"

typedef struct RNicDeadline {
    QEMUTimer *timer;
    /*
     * ns, the time for which @timer is armed.  INT64_MAX: no time, although @timer may
     * still be armed for a deadline that the owner has dropped.  INT64_MIN: between
     * rnic_deadline_hold() and rnic_deadline_release().
     */
    int64_t at;
} RNicDeadline;

/*
 * Creates the timer of @d, but does not arm the timer.  @fired(@opaque) is the timer's
 * callback.
 */
static inline void rnic_deadline_init(RNicDeadline *d, QEMUTimerCB *fired, void *opaque)
{
    d->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, fired, opaque);
    d->at = INT64_MAX;
}

/* Disarms and frees the timer of @d. */
static inline void rnic_deadline_fini(RNicDeadline *d)
{
    timer_free(d->timer);
    d->timer = NULL;
}

/*
 * Arms the timer for the time @ns.  Does nothing if @d->at is @ns or earlier: the owner
 * waits for a deadline that is not later, or has called rnic_deadline_hold().
 */
static inline void rnic_deadline_at(RNicDeadline *d, int64_t ns)
{
    if (ns < d->at) {
        d->at = ns;
        timer_mod(d->timer, ns);
    }
}

/*
 * Marks the timer of @d as not armed, because the timer has fired.  The timer's callback
 * must cause a call of this function, or of rnic_deadline_hold() and
 * rnic_deadline_release().
 */
static inline void rnic_deadline_fired(RNicDeadline *d)
{
    d->at = INT64_MAX;
}

/*
 * Disarms the timer of @d.  The owner calls this function when the owner drops all
 * deadlines.
 */
static inline void rnic_deadline_cancel(RNicDeadline *d)
{
    timer_del(d->timer);
    d->at = INT64_MAX;
}

/*
 * Makes rnic_deadline_at() do nothing until the next call of rnic_deadline_release().
 * The owner checks all deadlines between the two calls, and then arms the timer once.
 */
static inline void rnic_deadline_hold(RNicDeadline *d)
{
    d->at = INT64_MIN;
}

/*
 * Ends the effect of rnic_deadline_hold(), and arms the timer for @next, the time (ns) of
 * the earliest deadline.  If @next is INT64_MAX, there is no deadline, and the function
 * does not change the timer.
 */
static inline void rnic_deadline_release(RNicDeadline *d, int64_t next)
{
    d->at = next;
    if (next != INT64_MAX) {
        timer_mod(d->timer, next);
    }
}

#endif /* RNIC_CORE_DEADLINE_H */
