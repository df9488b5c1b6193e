/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests exanet_poll().  The test simulates the netdevs, the units and other threads; no
 * main loop runs.
 */
#include "qemu/osdep.h"
#include "hw/rnic/core/poll.h"
#include "hw/rnic/exanet/bar.h"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/link/port.h"

#define CTX     3
#define LOOKS   3                   /* looks at the netdevs in one poll */

static struct {
    ExanetState *s;
    unsigned begun, ended;          /* polls that have begun and ended */
    unsigned looks;                 /* looks at the netdevs in this poll */
    unsigned ports;                 /* calls of rnic_port_poll() */
    unsigned series_begun;          /* calls of exanet_series_poll_begin() */
    unsigned series_ended;          /* calls of exanet_series_poll_end() */
    unsigned series_stopped;        /* calls of exanet_series_end() */
    unsigned watches;               /* calls of rnic_port_watch() */
    bool watch_on;                  /* argument @on of these calls */
    bool other;                     /* another vCPU polls */
    unsigned runs;                  /* runs of the units */
    unsigned run_at;                /* look before the first run; 0: no run */
    unsigned due_at;                /* look after which another thread has work */
    unsigned gone_at;               /* look at which a frame unplugs the device */
} rig;

/* --- Functions that the poll calls ------------------------------------------------- */

bool rnic_poll_begin(RNicPoll *p, Object *owner, const uint32_t *events)
{
    g_assert_true(events == &rig.s->arrivals);
    rig.begun++;
    rig.looks = 1;
    p->polling = !rig.other;
    return p->polling;
}

bool rnic_poll_again(RNicPoll *p)
{
    if (rig.looks == rig.due_at) {
        rig.s->loop.due = true;
    }
    return rig.looks++ < LOOKS;
}

void rnic_poll_end(RNicPoll *p)
{
    rig.ended++;
}

void rnic_port_poll(RNicPort *p)
{
    g_assert_true(p == &rig.s->port[rig.ports % EXANET_LINKS]);
    rig.ports++;
    if (rig.looks == rig.gone_at) {
        rig.s->loop.bh = NULL;
    }
}

void rnic_port_watch(RNicPort *p, bool on)
{
    g_assert_true(p == &rig.s->port[rig.watches % EXANET_LINKS]);
    g_assert_true(on == rig.watch_on);
    rig.watches++;
}

void exanet_series_poll_begin(ExanetSeries *s)
{
    g_assert_true(s == &rig.s->polls);
    g_assert_cmpuint(rig.ports, ==, 0);     /* before the first look */
    rig.series_begun++;
}

void exanet_series_poll_end(ExanetSeries *s)
{
    g_assert_true(s == &rig.s->polls);
    g_assert_cmpuint(rig.ended, <, rig.begun);
    rig.series_ended++;
}

void exanet_series_end(ExanetSeries *s)
{
    g_assert_true(s == &rig.s->polls);
    rig.series_stopped++;
}

void rnic_loop_polled(RNicLoop *l, bool polled)
{
    g_assert_true(l == &rig.s->loop);
    l->polled = polled;
}

void rnic_loop_run(RNicLoop *l)
{
    g_assert_true(l == &rig.s->loop && l->due);
    l->due = false;
    rig.runs++;
    rig.run_at = rig.run_at ?: rig.looks;
}

/* --- Tests ------------------------------------------------------------------------- */

static void start(void)
{
    memset(&rig, 0, sizeof(rig));
    rig.s = g_new0(ExanetState, 1);
    /* a pointer that is not NULL; it is never called */
    rig.s->loop.bh = (QEMUBH *)rig.s;
    rig.s->enabled = true;
    rig.s->ctx[CTX].enabled = true;
}

static void end(unsigned polls)
{
    g_assert_cmpuint(rig.begun, ==, polls);
    g_assert_cmpuint(rig.ended, ==, polls);
    g_assert_cmpuint(rig.s->counter[EXANET_CNT_POLL], ==, polls);
    g_free(rig.s);
}

/* Pending work runs once, at the first look. */
static void test_due(void)
{
    start();
    rig.s->loop.due = true;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.runs, ==, 1);
    g_assert_cmpuint(rig.run_at, ==, 1);
    g_assert_false(rig.s->loop.due);
    g_assert_cmpuint(rig.ports, ==, LOOKS * EXANET_LINKS);
    end(1);
}

/* Work that another thread schedules between two looks runs, too. */
static void test_due_meanwhile(void)
{
    start();
    rig.due_at = 2;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.runs, ==, 1);
    g_assert_cmpuint(rig.run_at, ==, 3);
    end(1);
}

static void test_idle(void)
{
    start();
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.runs, ==, 0);
    g_assert_cmpuint(rig.ports, ==, LOOKS * EXANET_LINKS);
    g_assert_cmpuint(rig.series_begun, ==, 1);
    g_assert_cmpuint(rig.series_ended, ==, 1);
    g_assert_cmpuint(rig.series_stopped + rig.watches, ==, 0);
    end(1);
}

/* Only the poll of the vCPU that polls the netdevs belongs to the series. */
static void test_other(void)
{
    start();
    rig.other = true;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.ports, ==, 0);
    g_assert_cmpuint(rig.series_begun + rig.series_ended, ==, 0);
    g_assert_cmpuint(rig.series_stopped, ==, 0);
    end(1);
}

/* A frame unplugs the device.  The poll ends, and no unit runs. */
static void test_gone(void)
{
    start();
    rig.s->loop.due = true;
    rig.gone_at = 1;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.runs, ==, 0);
    g_assert_cmpuint(rig.ports, ==, EXANET_LINKS);
    g_assert_cmpuint(rig.series_ended, ==, 1);
    end(1);
}

/*
 * A poll does nothing while the device is at work, or if it is disabled.  If it is
 * disabled, the poll ends the series, because the main loop must drop the frames.
 */
static void test_busy(void)
{
    start();
    rig.s->loop.due = rig.s->loop.running = true;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.series_begun, ==, 1);
    g_assert_cmpuint(rig.series_stopped, ==, 0);
    rig.s->loop.running = rig.s->enabled = false;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.series_begun, ==, 1);
    g_assert_cmpuint(rig.series_stopped, ==, 1);
    g_assert_cmpuint(rig.runs + rig.ports, ==, 0);
    end(2);
}

/* Only a process whose context is enabled, and not about to end, may poll. */
static void test_context(void)
{
    start();
    rig.s->loop.due = true;
    exanet_poll(rig.s, CTX + 1);
    rig.s->ctx[CTX].quiesce = true;
    exanet_poll(rig.s, CTX);
    g_assert_cmpuint(rig.runs + rig.ports, ==, 0);
    end(0);
}

/* A series makes the main loop watch all netdevs and run the units, or not. */
static void test_watch(void)
{
    start();
    exanet_poll_watch(rig.s, false);
    g_assert_cmpuint(rig.watches, ==, EXANET_LINKS);
    g_assert_true(rig.s->loop.polled);
    rig.watch_on = true;
    exanet_poll_watch(rig.s, true);
    g_assert_cmpuint(rig.watches, ==, 2 * EXANET_LINKS);
    g_assert_false(rig.s->loop.polled);
    g_assert_cmpuint(rig.ports, ==, 0);
    end(0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/poll/due", test_due);
    g_test_add_func("/exanet/poll/due-meanwhile", test_due_meanwhile);
    g_test_add_func("/exanet/poll/idle", test_idle);
    g_test_add_func("/exanet/poll/other", test_other);
    g_test_add_func("/exanet/poll/gone", test_gone);
    g_test_add_func("/exanet/poll/busy", test_busy);
    g_test_add_func("/exanet/poll/context", test_context);
    g_test_add_func("/exanet/poll/watch", test_watch);
    return g_test_run();
}
