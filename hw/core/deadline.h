/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer for the earliest of many deadlines; virtual time, ns.  The timer keeps no list
 * of deadlines, so it may fire for a deadline that has been dropped meanwhile.  The owner
 * then checks all its deadlines and arms the timer for the next deadline.
 */
#ifndef RNIC_CORE_DEADLINE_H
#define RNIC_CORE_DEADLINE_H

#include "qemu/timer.h"

typedef struct RNicDeadline {
    QEMUTimer *timer;
    /* ns, time for which @timer is armed; INT64_MAX: not armed; INT64_MIN: on hold */
    int64_t at;
} RNicDeadline;

/* Initializes @d, not armed.  @fired(@opaque) is the timer's callback. */
static inline void rnic_deadline_init(RNicDeadline *d, QEMUTimerCB *fired, void *opaque)
{
    d->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, fired, opaque);
    d->at = INT64_MAX;
}

/* Disarms and frees the timer. */
static inline void rnic_deadline_fini(RNicDeadline *d)
{
    timer_free(d->timer);
    d->timer = NULL;
}

/* Arms the timer for @ns, unless the timer is armed for an earlier time. */
static inline void rnic_deadline_at(RNicDeadline *d, int64_t ns)
{
    if (ns < d->at) {
        d->at = ns;
        timer_mod(d->timer, ns);
    }
}

/* Marks the timer as not armed.  The timer's callback must call this function. */
static inline void rnic_deadline_fired(RNicDeadline *d)
{
    d->at = INT64_MAX;
}

/* Disarms the timer, because the owner has dropped all deadlines. */
static inline void rnic_deadline_cancel(RNicDeadline *d)
{
    timer_del(d->timer);
    d->at = INT64_MAX;
}

/*
 * Makes rnic_deadline_at() do nothing until rnic_deadline_release(), because the owner
 * checks all deadlines in between.
 */
static inline void rnic_deadline_hold(RNicDeadline *d)
{
    d->at = INT64_MIN;
}

/* Ends the hold, and arms the timer for @next, the earliest deadline; INT64_MAX: none. */
static inline void rnic_deadline_release(RNicDeadline *d, int64_t next)
{
    d->at = next;
    if (next != INT64_MAX) {
        timer_mod(d->timer, next);
    }
}

#endif /* RNIC_CORE_DEADLINE_H */
