/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The poll of a vCPU; see poll.h. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "qemu/processor.h"
#include "qemu/timer.h"
#include "poll.h"
#include "vcpu.h"

#define POLL_NS 4000    /* real time, ns: longest wait for an event */
#define WAIT_NS 700     /* real time, ns: longest wait between two polls of the netdevs */

/*
 * True while a vCPU polls.  Only one vCPU of a machine takes frames, because several
 * vCPUs would take the big lock in turn, and the main loop would not get the lock.
 */
static bool polling;

static bool poll_has_event(const RNicPoll *p)
{
    return qatomic_read(p->events) != p->seen;
}

/* Waits for an event, for at most @ns of real time, without the big lock. */
static void poll_wait(RNicPoll *p, int64_t ns)
{
    int64_t end;

    bql_unlock();
    end = get_clock() + ns;
    while (!poll_has_event(p) && get_clock() < end) {
        cpu_relax();
    }
    bql_lock();
}

bool rnic_poll_begin(RNicPoll *p, Object *owner, const uint32_t *events)
{
    *p = (RNicPoll) {
        .owner = object_ref(owner),
        .events = events,
        .seen = qatomic_read(events),
        .end = get_clock() + POLL_NS,
        .polling = !polling,
    };
    polling = true;
    if (!p->polling) {
        poll_wait(p, POLL_NS);
    }
    return p->polling;
}

bool rnic_poll_again(RNicPoll *p)
{
    if (poll_has_event(p) || get_clock() >= p->end) {
        return false;
    }
    poll_wait(p, WAIT_NS);
    return true;
}

bool rnic_poll_continue(RNicPoll *p, const uint32_t *events, uint32_t seen)
{
    if (p->events == events || !poll_has_event(p)) {
        return false;
    }
    p->events = events;
    p->seen = seen;
    p->end = get_clock() + POLL_NS;
    return rnic_poll_again(p);
}

void rnic_poll_end(RNicPoll *p)
{
    if (p->polling) {
        polling = false;
    }
    rnic_vcpu_unref(p->owner);
}
