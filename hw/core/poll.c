/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU that polls for its guest; see poll.h. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "qemu/processor.h"
#include "qemu/timer.h"
#include "poll.h"

/* Real time of a poll, and of one wait without the big lock. */
#define POLL_NS     4000
#define LOOK_OUT_NS 700

/*
 * A vCPU takes frames now.  One of a machine is enough: several would ask for the big
 * lock in turn, and the main loop would not get it.
 */
static bool looking;

static bool has_news(const RNicPoll *p)
{
    return qatomic_read(p->news) != p->seen;
}

/* Waits without the big lock until there is news, but no longer than @ns. */
static void look_out(RNicPoll *p, int64_t ns)
{
    int64_t end;

    bql_unlock();
    end = get_clock() + ns;
    while (!has_news(p) && get_clock() < end) {
        cpu_relax();
    }
    bql_lock();
}

bool rnic_poll_begin(RNicPoll *p, Object *owner, const uint32_t *news)
{
    *p = (RNicPoll) {
        .owner = object_ref(owner),
        .news = news,
        .seen = qatomic_read(news),
        .end = get_clock() + POLL_NS,
        .looking = !looking,
    };
    looking = true;
    if (!p->looking) {
        look_out(p, POLL_NS);
    }
    return p->looking;
}

bool rnic_poll_again(RNicPoll *p)
{
    if (has_news(p) || get_clock() >= p->end) {
        return false;
    }
    look_out(p, LOOK_OUT_NS);
    return true;
}

void rnic_poll_end(RNicPoll *p)
{
    if (p->looking) {
        looking = false;
    }
    object_unref(p->owner);
}
