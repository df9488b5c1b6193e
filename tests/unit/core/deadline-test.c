/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the timer for the earliest of many deadlines.  The test simulates the timer. */
#include "qemu/osdep.h"
#include "hw/rnic/core/deadline.h"

static struct {
    RNicDeadline d;
    QEMUTimer *timer;
    QEMUTimerCB *fired;
    int64_t armed;                  /* ns; INT64_MAX: not armed */
    unsigned changes;               /* calls of timer_mod() and timer_del() */
} rig;

/* --- Functions that the deadline calls ------------------------------------------- */

void timer_init_full(QEMUTimer *ts, QEMUTimerListGroup *group, QEMUClockType type,
                     int scale, int attributes, QEMUTimerCB *cb, void *opaque)
{
    g_assert_cmpint(type, ==, QEMU_CLOCK_VIRTUAL);
    g_assert_cmpint(scale, ==, SCALE_NS);
    g_assert_true(opaque == &rig);
    rig.timer = ts;
    rig.fired = cb;
    rig.armed = INT64_MAX;
}

void timer_mod(QEMUTimer *ts, int64_t at)
{
    g_assert_true(ts == rig.timer);
    rig.armed = at;
    rig.changes++;
}

void timer_del(QEMUTimer *ts)
{
    g_assert_true(ts == rig.timer);
    rig.armed = INT64_MAX;
    rig.changes++;
}

/* The timer's callback, which these tests do not call. */
static void fired(void *opaque)
{
    g_assert_not_reached();
}

/* --- Tests ----------------------------------------------------------------------- */

static void start(void)
{
    rnic_deadline_init(&rig.d, fired, &rig);
    rig.changes = 0;
}

/* The end of the deadline disarms the timer. */
static void stop(void)
{
    rnic_deadline_fini(&rig.d);
    g_assert_null(rig.d.timer);
    g_assert_cmpint(rig.armed, ==, INT64_MAX);
}

/* Asserts that the timer was changed @changes times, and is armed for @at. */
static void assert_armed(int64_t at, unsigned changes)
{
    g_assert_cmpint(rig.armed, ==, at);
    g_assert_cmpuint(rig.changes, ==, changes);
}

static void test_init(void)
{
    start();
    g_assert_true(rig.fired == fired);
    g_assert_true(rig.d.timer == rig.timer);
    g_assert_cmpint(rig.d.at, ==, INT64_MAX);
    assert_armed(INT64_MAX, 0);
    stop();
}

/* Only an earlier deadline changes the timer. */
static void test_earlier(void)
{
    start();
    rnic_deadline_at(&rig.d, 100);
    assert_armed(100, 1);
    rnic_deadline_at(&rig.d, 101);
    rnic_deadline_at(&rig.d, 100);
    assert_armed(100, 1);
    rnic_deadline_at(&rig.d, 99);
    assert_armed(99, 2);
    rnic_deadline_at(&rig.d, 0);
    assert_armed(0, 3);
    stop();
}

/* INT64_MAX is no deadline; the time before is the last possible deadline. */
static void test_never(void)
{
    start();
    rnic_deadline_at(&rig.d, INT64_MAX);
    assert_armed(INT64_MAX, 0);
    rnic_deadline_at(&rig.d, INT64_MAX - 1);
    assert_armed(INT64_MAX - 1, 1);
    stop();
}

/* After the timer has fired, a later deadline arms the timer again. */
static void test_fired(void)
{
    start();
    rnic_deadline_at(&rig.d, 100);
    rnic_deadline_fired(&rig.d);
    assert_armed(100, 1);
    rnic_deadline_at(&rig.d, 200);
    assert_armed(200, 2);
    stop();
}

static void test_cancel(void)
{
    start();
    rnic_deadline_at(&rig.d, 100);
    rnic_deadline_cancel(&rig.d);
    assert_armed(INT64_MAX, 2);
    rnic_deadline_at(&rig.d, 100);
    assert_armed(100, 3);
    /* also between hold and release */
    rnic_deadline_hold(&rig.d);
    rnic_deadline_cancel(&rig.d);
    assert_armed(INT64_MAX, 4);
    rnic_deadline_at(&rig.d, 100);
    assert_armed(100, 5);
    stop();
}

/* Between hold and release no deadline changes the timer; release arms the timer. */
static void test_hold(void)
{
    start();
    rnic_deadline_at(&rig.d, 100);
    rnic_deadline_hold(&rig.d);
    rnic_deadline_at(&rig.d, 50);
    rnic_deadline_at(&rig.d, 0);
    rnic_deadline_at(&rig.d, INT64_MIN);
    assert_armed(100, 1);
    rnic_deadline_release(&rig.d, 150);
    assert_armed(150, 2);
    rnic_deadline_at(&rig.d, 150);
    assert_armed(150, 2);
    rnic_deadline_at(&rig.d, 149);
    assert_armed(149, 3);
    stop();
}

/* Release without a next deadline leaves the timer alone, and any deadline arms it. */
static void test_release_never(void)
{
    start();
    rnic_deadline_at(&rig.d, 100);
    rnic_deadline_hold(&rig.d);
    rnic_deadline_release(&rig.d, INT64_MAX);
    assert_armed(100, 1);
    rnic_deadline_at(&rig.d, INT64_MAX - 1);
    assert_armed(INT64_MAX - 1, 2);
    rnic_deadline_hold(&rig.d);
    rnic_deadline_release(&rig.d, INT64_MAX - 1);
    assert_armed(INT64_MAX - 1, 3);
    stop();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/deadline/init", test_init);
    g_test_add_func("/core/deadline/earlier", test_earlier);
    g_test_add_func("/core/deadline/never", test_never);
    g_test_add_func("/core/deadline/fired", test_fired);
    g_test_add_func("/core/deadline/cancel", test_cancel);
    g_test_add_func("/core/deadline/hold", test_hold);
    g_test_add_func("/core/deadline/release-never", test_release_never);
    return g_test_run();
}
