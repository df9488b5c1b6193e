/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the loop of a device. The test simulates bottom halves, the timer, and the units.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "hw/rnic/core/loop.h"

#define ROUNDS  4
#define PACKETS 100

struct QEMUBH {
    QEMUBHFunc *function;
    void *opaque;
    bool scheduled;
    bool deleted;
};

static struct {
    RNicLoop loop;
    QEMUBH bh, delayed;
    QEMUTimerCB *timer;
    int64_t armed;                  /* deadline of the timer; INT64_MAX: not armed */
    int64_t now;
    bool forbidden;                 /* the machine is stopped */
    bool irq;                       /* an interrupt is due */
    /* Counts of calls of the device's functions. */
    unsigned rounds, begins, ends, flushes, resets, frees;
    unsigned wakes;                 /* calls of qemu_bh_schedule() */
    unsigned packets;               /* limit of packets in the last round */
    unsigned busy;                  /* rounds left that return true */
    unsigned schedules;             /* rounds left that schedule more work */
    void (*meanwhile)(void);        /* called in the next round */
    void (*on_flush)(void);         /* called in the next flush */
} rig;

static DeviceState *rig_dev;

/* --- Functions that the loop calls ------------------------------------------------- */

QEMUBH *qemu_bh_new_full(QEMUBHFunc *cb, void *opaque, const char *name,
                         MemReentrancyGuard *guard)
{
    g_assert_true(guard == &rig_dev->mem_reentrancy_guard);
    rig.bh = (QEMUBH) { .function = cb, .opaque = opaque };
    return &rig.bh;
}

void qemu_bh_schedule(QEMUBH *bh)
{
    g_assert_false(bh->deleted);
    bh->scheduled = true;
    rig.wakes++;
}

void qemu_bh_cancel(QEMUBH *bh)
{
    bh->scheduled = false;
}

void qemu_bh_delete(QEMUBH *bh)
{
    bh->deleted = true;
    bh->scheduled = false;
}

AioContext *qemu_get_aio_context(void)
{
    return NULL;
}

void aio_bh_schedule_oneshot_full(AioContext *ctx, QEMUBHFunc *cb, void *opaque,
                                  const char *name)
{
    rig.delayed = (QEMUBH) { .function = cb, .opaque = opaque, .scheduled = true };
}

void timer_init_full(QEMUTimer *ts, QEMUTimerListGroup *group, QEMUClockType type,
                     int scale, int attributes, QEMUTimerCB *cb, void *opaque)
{
    rig.timer = cb;
    rig.armed = INT64_MAX;
    g_assert_true(opaque == &rig.loop);
}

void timer_deinit(QEMUTimer *ts)
{
}

void timer_mod(QEMUTimer *ts, int64_t at)
{
    rig.armed = at;
}

void timer_del(QEMUTimer *ts)
{
    rig.armed = INT64_MAX;
}

int64_t qemu_clock_get_ns(QEMUClockType type)
{
    g_assert_cmpint(type, ==, QEMU_CLOCK_VIRTUAL);
    return rig.now;
}

/* --- The device ------------------------------------------------------------ */

static bool dev_allowed(void *opaque)
{
    return !rig.forbidden;
}

static void dev_begin(void *opaque)
{
    g_assert_true(rig.loop.running);
    rig.begins++;
}

static void dev_end(void *opaque)
{
    g_assert_cmpuint(rig.begins, ==, ++rig.ends);
}

static bool dev_round(void *opaque, unsigned *packets)
{
    void (*work)(void) = rig.meanwhile;

    g_assert_true(opaque == &rig && rig.loop.running);
    g_assert_true(rig_dev->mem_reentrancy_guard.engaged_in_io);
    rig.rounds++;
    rig.packets = *packets;
    if (work) {
        rig.meanwhile = NULL;
        work();
    }
    if (rig.schedules) {
        rig.schedules--;
        rnic_loop_schedule(&rig.loop);
    }
    return rig.busy && rig.busy--;
}

static bool dev_irq_due(void *opaque)
{
    return rig.irq;
}

/*
 * Sends the interrupts.  The guest may change the device now, because no unit is at work.
 */
static void dev_irq_flush(void *opaque)
{
    void (*work)(void) = rig.on_flush;

    g_assert_false(rig.loop.running);
    rig.flushes++;
    rig.irq = false;
    if (work) {
        rig.on_flush = NULL;
        work();
    }
}

static void dev_reset(void *opaque)
{
    if (rnic_loop_reset_begin(&rig.loop)) {
        rig.resets++;
        rnic_loop_reset_end(&rig.loop);
    }
}

static void dev_free(void *opaque)
{
    g_assert_true(rig.loop.running && !rig.loop.bh);
    rig.frees++;
}

static const RNicLoopOps ops = {
    .allowed = dev_allowed, .begin = dev_begin, .end = dev_end, .round = dev_round,
    .irq_due = dev_irq_due, .irq_flush = dev_irq_flush, .reset = dev_reset,
    .free = dev_free, .guard = true, .rounds = ROUNDS, .packets = PACKETS,
};

static void start(void)
{
    memset(&rig, 0, sizeof(rig));
    rig_dev = g_new0(DeviceState, 1);
    OBJECT(rig_dev)->ref = 1;
    rnic_loop_init(&rig.loop, &ops, &rig, rig_dev);
}

static void stop(void)
{
    g_assert_false(rig.loop.running || rig_dev->mem_reentrancy_guard.engaged_in_io);
    g_free(rig_dev);
}

/* Runs the bottom half @bh; returns false if it was not scheduled. */
static bool bh_run(QEMUBH *bh)
{
    if (!bh->scheduled) {
        return false;
    }
    bh->scheduled = false;
    bh->function(bh->opaque);
    return true;
}

/* --- Tests ------------------------------------------------------------------------- */

/*
 * Work without end is done in several runs: each has ROUNDS rounds, and then the main
 * loop continues.
 */
static void test_runs(void)
{
    start();
    rig.busy = 2 * ROUNDS + 1;
    rnic_loop_schedule(&rig.loop);
    g_assert_true(rig.loop.due);
    for (unsigned run = 1; run <= 3; run++) {
        g_assert_true(bh_run(&rig.bh));
        g_assert_cmpuint(rig.rounds, ==, MIN(run * ROUNDS, 2 * ROUNDS + 2));
        g_assert_cmpuint(rig.flushes, ==, run);
        g_assert_cmpuint(rig.begins, ==, run);
    }
    g_assert_cmpuint(rig.packets, ==, PACKETS);
    g_assert_false(rig.loop.due || bh_run(&rig.bh));
    stop();
}

/* Work that a unit schedules in the last round is done in the next run. */
static void test_scheduled_inside(void)
{
    start();
    rig.schedules = ROUNDS;
    rnic_loop_schedule(&rig.loop);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, ROUNDS);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, ROUNDS + 1);
    g_assert_false(bh_run(&rig.bh));
    stop();
}

/* A store of a vCPU runs a part of the work, raises interrupts, and leaves the rest. */
static void test_vcpu(void)
{
    start();
    g_assert_true(rnic_loop_enter(&rig.loop));
    rig.busy = 100;
    rnic_loop_schedule(&rig.loop);
    rnic_loop_leave_vcpu(&rig.loop, true);
    g_assert_cmpuint(rig.rounds, ==, RNIC_LOOP_VCPU_ROUNDS);
    g_assert_cmpuint(rig.packets, ==, RNIC_LOOP_VCPU_PACKETS);
    g_assert_cmpuint(rig.flushes, ==, 1);
    g_assert_true(rig.bh.scheduled);
    /* a store that no program waits for runs no round */
    g_assert_true(rnic_loop_enter(&rig.loop));
    rnic_loop_schedule(&rig.loop);
    rnic_loop_leave_vcpu(&rig.loop, false);
    g_assert_cmpuint(rig.rounds, ==, RNIC_LOOP_VCPU_ROUNDS);
    g_assert_cmpuint(rig.flushes, ==, 2);
    stop();
}

/* A frame runs all of the work.  The bottom half raises the interrupts. */
static void test_frame(void)
{
    start();
    rig.irq = true;
    rig.busy = 1;
    g_assert_true(rnic_loop_enter(&rig.loop));
    rnic_loop_schedule(&rig.loop);
    rnic_loop_leave(&rig.loop, true);
    g_assert_cmpuint(rig.rounds, ==, 2);
    g_assert_cmpuint(rig.flushes, ==, 0);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.flushes, ==, 1);
    /* after a frame that was only stored, the bottom half runs the round */
    g_assert_true(rnic_loop_enter(&rig.loop));
    rnic_loop_schedule(&rig.loop);
    rnic_loop_leave_deferred(&rig.loop, true);
    g_assert_cmpuint(rig.rounds, ==, 2);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, 3);
    stop();
}

static void nested_frame(void)
{
    bool entered = rnic_loop_enter(&rig.loop);

    g_assert_false(entered);
    rnic_loop_schedule(&rig.loop);
    rnic_loop_leave(&rig.loop, entered);
    rnic_loop_leave_deferred(&rig.loop, entered);
    rnic_loop_run(&rig.loop);
    g_assert_true(rig.loop.running);
}

/* A nested call does no work.  The loop runs once more. */
static void test_nested(void)
{
    start();
    rig.meanwhile = nested_frame;
    rnic_loop_run(&rig.loop);
    g_assert_cmpuint(rig.rounds, ==, 2);
    g_assert_cmpuint(rig.begins, ==, 1);
    stop();
}

static void reset_inside(void)
{
    dev_reset(&rig);
    g_assert_cmpuint(rig.resets, ==, 0);
}

/* A reset while units are at work runs after them, and cancels pending work. */
static void test_reset(void)
{
    start();
    rig.meanwhile = reset_inside;
    rig.busy = 100;
    rig.loop.timed = true;
    rnic_loop_schedule(&rig.loop);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.resets, ==, 1);
    g_assert_false(rig.loop.reset_wanted || rig.bh.scheduled);
    g_assert_cmpint(rig.armed, ==, INT64_MAX);
    dev_reset(&rig);
    g_assert_cmpuint(rig.resets, ==, 2);
    stop();
}

/* The timer has the earliest of the requested times. */
static void test_timer(void)
{
    start();
    rnic_loop_at(&rig.loop, 500);
    rnic_loop_at(&rig.loop, 700);
    g_assert_cmpint(rig.armed, ==, 500);
    rnic_loop_at(&rig.loop, 300);
    g_assert_cmpint(rig.armed, ==, 300);
    rig.timer(&rig.loop);
    g_assert_cmpuint(rig.rounds, ==, 1);
    rnic_loop_at(&rig.loop, 700);
    g_assert_cmpint(rig.armed, ==, 700);
    /* in a timed loop, the timer runs scheduled work */
    rig.now = 600;
    rnic_loop_schedule(&rig.loop);
    g_assert_cmpint(rig.armed, ==, 700);
    rig.loop.timed = true;
    rnic_loop_schedule(&rig.loop);
    g_assert_cmpint(rig.armed, ==, 600);
    stop();
}

/* A stopped machine does not change. */
static void test_forbidden(void)
{
    start();
    rig.forbidden = true;
    rnic_loop_schedule(&rig.loop);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds + rig.flushes, ==, 0);
    stop();
}

/*
 * A bottom half that is scheduled already is not scheduled again.  It can be scheduled
 * again after it has run, also in a stopped machine, and after a reset has cancelled it.
 */
static void test_once(void)
{
    start();
    for (unsigned i = 0; i < 3; i++) {
        rnic_loop_schedule(&rig.loop);
    }
    rig.irq = true;
    rnic_loop_leave(&rig.loop, rnic_loop_enter(&rig.loop));
    g_assert_cmpuint(rig.wakes, ==, 1);
    rig.forbidden = true;
    g_assert_true(bh_run(&rig.bh));
    rig.forbidden = false;
    rnic_loop_schedule(&rig.loop);
    g_assert_cmpuint(rig.wakes, ==, 2);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, 1);
    rnic_loop_schedule(&rig.loop);
    dev_reset(&rig);
    g_assert_false(rig.bh.scheduled);
    rnic_loop_schedule(&rig.loop);
    g_assert_cmpuint(rig.wakes, ==, 4);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, 2);
    stop();
}

/*
 * While a vCPU polls, work does not schedule the bottom half, but interrupts do.  Work
 * that is left at the end of the polls does.
 */
static void test_polled(void)
{
    start();
    rnic_loop_polled(&rig.loop, true);
    rnic_loop_schedule(&rig.loop);
    g_assert_true(rig.loop.due);
    g_assert_cmpuint(rig.wakes, ==, 0);
    rig.busy = ROUNDS;
    rnic_loop_run(&rig.loop);
    g_assert_cmpuint(rig.rounds, ==, ROUNDS);
    g_assert_true(rig.loop.due);        /* the last round could continue */
    g_assert_cmpuint(rig.wakes, ==, 0);
    rig.irq = true;
    rnic_loop_run(&rig.loop);
    g_assert_false(rig.loop.due);
    g_assert_cmpuint(rig.wakes, ==, 1);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, ROUNDS + 1);
    rig.irq = false;

    rnic_loop_polled(&rig.loop, false);
    g_assert_cmpuint(rig.wakes, ==, 1);
    rnic_loop_polled(&rig.loop, true);
    rnic_loop_schedule(&rig.loop);
    rnic_loop_polled(&rig.loop, false);
    g_assert_cmpuint(rig.wakes, ==, 2);
    g_assert_true(bh_run(&rig.bh));
    g_assert_cmpuint(rig.rounds, ==, ROUNDS + 2);
    rnic_loop_schedule(&rig.loop);
    g_assert_cmpuint(rig.wakes, ==, 3);
    stop();
}

static void unplug(void)
{
    rnic_loop_fini(&rig.loop);
    g_assert_cmpuint(rig.frees, ==, 0);
    g_assert_cmpuint(OBJECT(rig_dev)->ref, ==, 2);
}

/*
 * The device ends while no unit is at work, in a round, or while it raises interrupts.
 * Its state is freed after the caller has returned.
 */
static void test_end(void)
{
    for (unsigned i = 0; i < 3; i++) {
        start();
        if (i == 0) {
            rnic_loop_fini(&rig.loop);
            g_assert_cmpuint(rig.frees, ==, 1);
        } else if (i == 1) {
            rig.meanwhile = unplug;
            rig.busy = 100;
            rnic_loop_run(&rig.loop);
        } else {
            rig.on_flush = unplug;
            g_assert_true(rnic_loop_enter(&rig.loop));
            rnic_loop_leave_vcpu(&rig.loop, true);
        }
        g_assert_cmpuint(OBJECT(rig_dev)->ref, ==, 2);
        g_assert_true(rig.bh.deleted);
        g_assert_true(bh_run(&rig.delayed));
        g_assert_cmpuint(rig.frees, ==, 1);
        g_assert_cmpuint(OBJECT(rig_dev)->ref, ==, 1);
        /* a vCPU may access the device just after its end */
        rnic_loop_schedule(&rig.loop);
        dev_reset(&rig);
        g_assert_cmpuint(rig.resets, ==, 0);
        stop();
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/loop/runs", test_runs);
    g_test_add_func("/core/loop/scheduled-inside", test_scheduled_inside);
    g_test_add_func("/core/loop/vcpu", test_vcpu);
    g_test_add_func("/core/loop/frame", test_frame);
    g_test_add_func("/core/loop/nested", test_nested);
    g_test_add_func("/core/loop/reset", test_reset);
    g_test_add_func("/core/loop/timer", test_timer);
    g_test_add_func("/core/loop/forbidden", test_forbidden);
    g_test_add_func("/core/loop/once", test_once);
    g_test_add_func("/core/loop/polled", test_polled);
    g_test_add_func("/core/loop/end", test_end);
    return g_test_run();
}
