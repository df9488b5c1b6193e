/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer for the earliest of many deadlines.  The timer only moves forward: it may fire
 * too early, for a deadline that has gone; what the owner finds then decides when it
 * fires next.  Virtual time, ns.
 */
#ifndef RNIC_CORE_DEADLINE_H
#define RNIC_CORE_DEADLINE_H

#include "qemu/timer.h"

typedef struct RNicDeadline {
    QEMUTimer *timer;
    int64_t at;                     /* INT64_MAX: not armed */
} RNicDeadline;

static inline void rnic_deadline_init(RNicDeadline *d, QEMUTimerCB *fired, void *opaque)
{
    d->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, fired, opaque);
    d->at = INT64_MAX;
}

static inline void rnic_deadline_fini(RNicDeadline *d)
{
    timer_free(d->timer);
    d->timer = NULL;
}

/* Fires at @ns, or earlier if an earlier deadline is armed. */
static inline void rnic_deadline_at(RNicDeadline *d, int64_t ns)
{
    if (ns < d->at) {
        d->at = ns;
        timer_mod(d->timer, ns);
    }
}

/* The timer has fired: the next deadline counts again.  Call this in its callback. */
static inline void rnic_deadline_fired(RNicDeadline *d)
{
    d->at = INT64_MAX;
}

static inline void rnic_deadline_cancel(RNicDeadline *d)
{
    timer_del(d->timer);
    d->at = INT64_MAX;
}

/*
 * Between hold and release rnic_deadline_at() does nothing, because the owner looks at
 * all deadlines; @next is the earliest of them, or INT64_MAX.
 */
static inline void rnic_deadline_hold(RNicDeadline *d)
{
    d->at = INT64_MIN;
}

static inline void rnic_deadline_release(RNicDeadline *d, int64_t next)
{
    d->at = next;
    if (next != INT64_MAX) {
        timer_mod(d->timer, next);
    }
}

#endif /* RNIC_CORE_DEADLINE_H */
