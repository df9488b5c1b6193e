/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the functions of series.h.  The test replaces the main loop: loop_run() waits for
 * the timer of the series, in real time, and calls its handler.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include <sys/resource.h>
#include "hw/rnic/exanet/base/series.h"

#define LEFT_NS     150000          /* shortest time, ns, from the last poll to the end */
#define SERIES_NS   500000          /* time, ns, from setting the timer to the end */
#define WAIT_MS     10000           /* longest wait of the test */
#define TRIES       1000

static struct {
    ExanetSeries series;
    int fd;                         /* file descriptor with a handler; -1: none */
    IOHandler *handler;
    void *opaque;                   /* argument of @handler */
    unsigned off, on;               /* calls of watch() */
} rig;

/* --- Functions that the series calls ----------------------------------------------- */

void qemu_set_fd_handler(int fd, IOHandler *fd_read, IOHandler *fd_write, void *opaque)
{
    g_assert_cmpint(fd, >=, 0);
    g_assert_null(fd_write);
    g_assert_true(rig.fd == (fd_read ? -1 : fd));
    g_assert_cmpint(fcntl(fd, F_GETFD), ==, FD_CLOEXEC);
    rig.fd = fd_read ? fd : -1;
    rig.handler = fd_read;
    rig.opaque = opaque;
}

static void watch(void *opaque, bool on)
{
    g_assert_true(opaque == &rig);
    if (on) {
        rig.on++;
    } else {
        rig.off++;
    }
    /* the netdevs watch before and after each series, and not during a series */
    g_assert_cmpuint(rig.off, ==, rig.on + !on);
}

/* --- Helpers ------------------------------------------------------------------------ */

/* Waits at most @ms for the timer.  Calls its handler if it has expired. */
static bool loop_run(int ms)
{
    GPollFD pfd = { .fd = rig.fd, .events = G_IO_IN };

    if (rig.fd < 0 || g_poll(&pfd, 1, ms) <= 0) {
        return false;
    }
    rig.handler(rig.opaque);
    /* the handler has read the timer */
    g_assert_true(rig.fd < 0 || g_poll(&pfd, 1, 0) == 0);
    return true;
}

static void start(void)
{
    memset(&rig, 0, sizeof(rig));
    rig.fd = -1;
    exanet_series_init(&rig.series, watch, &rig);
    g_assert_cmpint(rig.fd, >=, 0);
}

/* Ends the test, in which there were @series series. */
static void end(unsigned series)
{
    exanet_series_fini(&rig.series);
    g_assert_cmpint(rig.fd, ==, -1);
    g_assert_cmpuint(rig.off, ==, series);
    g_assert_cmpuint(rig.on, ==, series);
}

static void poll_once(void)
{
    exanet_series_poll_begin(&rig.series);
    exanet_series_poll_end(&rig.series);
}

static void sleep_ns(int64_t ns)
{
    int64_t until = get_clock() + ns;

    while (get_clock() < until) {
        g_usleep((until - get_clock()) / 1000 + 1);
    }
}

/* --- Tests -------------------------------------------------------------------------- */

/* The first poll begins a series, to which the next polls belong. */
static void test_first(void)
{
    start();
    g_assert_false(loop_run(0));
    g_assert_cmpuint(rig.off, ==, 0);
    exanet_series_poll_begin(&rig.series);
    g_assert_cmpuint(rig.off, ==, 1);
    exanet_series_poll_end(&rig.series);
    for (unsigned i = 0; i < 10; i++) {
        poll_once();
    }
    g_assert_cmpuint(rig.off, ==, 1);
    g_assert_cmpuint(rig.on, ==, 0);
    end(1);
}

/* Without a poll the timer ends the series, once.  The next poll begins another one. */
static void test_timer(void)
{
    start();
    for (unsigned i = 1; i <= 3; i++) {
        int64_t before = get_clock();

        poll_once();
        g_assert_cmpuint(rig.off, ==, i);
        g_assert_true(loop_run(WAIT_MS));
        g_assert_cmpint(get_clock() - before, >=, SERIES_NS);
        g_assert_cmpuint(rig.on, ==, i);
        sleep_ns(2 * SERIES_NS);
        g_assert_false(loop_run(0));
    }
    end(3);
}

/*
 * Polls again shortly before the timer expires.  Returns false if this came too late,
 * because the machine is loaded.
 */
static bool poll_before_end(void)
{
    int64_t before = get_clock(), last;

    poll_once();
    while (get_clock() - before < SERIES_NS - LEFT_NS / 2) {
        continue;
    }
    last = get_clock();
    poll_once();
    if (get_clock() - before >= SERIES_NS) {
        return false;
    }
    g_assert_true(loop_run(WAIT_MS));
    g_assert_cmpint(get_clock() - last, >=, SERIES_NS);
    return true;
}

/* A poll near the end of the series sets the timer again. */
static void test_later(void)
{
    unsigned tries = 1;

    start();
    while (!poll_before_end()) {
        exanet_series_end(&rig.series);
        loop_run(0);
        g_assert_cmpuint(++tries, <, TRIES);
    }
    end(tries);
}

/* Of many polls in a row none is less than 150 us before the end of its series. */
static void test_last(void)
{
    int64_t end_of_test = get_clock() + 20 * SERIES_NS;
    unsigned series = 0;

    start();
    while (get_clock() < end_of_test) {
        int64_t last = get_clock();

        poll_once();
        series += !series;
        if (loop_run(0) && rig.on == series) {
            /* a loaded machine: the test did not run between its two calls */
            g_assert_cmpint(get_clock() - last, >=, LEFT_NS);
            series++;
        }
    }
    if (rig.on == series - 1 && rig.off == series - 1) {
        series--;
    }
    end(series);
}

/* A timer that expires during a poll does not end the series. */
static void test_during(void)
{
    start();
    exanet_series_poll_begin(&rig.series);
    for (unsigned i = 0; i < 3; i++) {
        int64_t before = get_clock();

        g_assert_true(loop_run(WAIT_MS));
        g_assert_cmpuint(rig.on, ==, 0);
        if (i) {
            g_assert_cmpint(get_clock() - before, >=, SERIES_NS / 2);
        }
    }
    exanet_series_poll_end(&rig.series);
    g_assert_cmpuint(rig.on, ==, 0);
    g_assert_true(loop_run(WAIT_MS));
    g_assert_cmpuint(rig.on, ==, 1);
    end(1);
}

/*
 * exanet_series_end() ends a series at once, also during a poll.  The next poll begins
 * another one.
 */
static void test_end(void)
{
    start();
    exanet_series_end(&rig.series);
    g_assert_cmpuint(rig.on, ==, 0);
    poll_once();
    exanet_series_end(&rig.series);
    g_assert_cmpuint(rig.on, ==, 1);
    exanet_series_end(&rig.series);
    g_assert_cmpuint(rig.on, ==, 1);
    exanet_series_poll_begin(&rig.series);
    g_assert_cmpuint(rig.off, ==, 2);
    exanet_series_end(&rig.series);
    g_assert_cmpuint(rig.on, ==, 2);
    exanet_series_poll_end(&rig.series);
    g_assert_cmpuint(rig.off, ==, 2);
    poll_once();
    g_assert_cmpuint(rig.off, ==, 3);
    end(3);
}

/* The timer of a series that has ended does not end the next series. */
static void test_old_timer(void)
{
    int64_t before;

    start();
    poll_once();
    exanet_series_end(&rig.series);
    sleep_ns(SERIES_NS + LEFT_NS);
    before = get_clock();
    poll_once();
    if (!loop_run(0)) {
        g_assert_cmpuint(rig.on, ==, 1);
    }
    while (rig.on < 2) {
        g_assert_true(loop_run(WAIT_MS));
    }
    g_assert_cmpint(get_clock() - before, >=, SERIES_NS);
    end(2);
}

/* The end of the device ends the series.  A poll that still runs changes nothing. */
static void test_fini(void)
{
    int timer;

    start();
    timer = rig.fd;
    exanet_series_poll_begin(&rig.series);
    exanet_series_fini(&rig.series);
    g_assert_cmpint(rig.fd, ==, -1);
    g_assert_cmpuint(rig.on, ==, 1);
    g_assert_cmpint(fcntl(timer, F_GETFD), ==, -1);
    g_assert_cmpint(errno, ==, EBADF);
    exanet_series_poll_end(&rig.series);
    g_assert_cmpuint(rig.off, ==, 1);
    end(1);
}

/* Lets QEMU have no free file descriptor, or ends that. */
static void descriptors_limit(bool none)
{
    static struct rlimit before;
    struct rlimit now;

    if (none) {
        g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
        now = (struct rlimit) { .rlim_cur = 0, .rlim_max = before.rlim_max };
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &now), ==, 0);
    } else {
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    }
}

/* Without a timerfd each poll is a series. */
static void test_no_timer(void)
{
    memset(&rig, 0, sizeof(rig));
    rig.fd = -1;
    descriptors_limit(true);
    exanet_series_init(&rig.series, watch, &rig);
    descriptors_limit(false);
    g_assert_cmpint(rig.fd, ==, -1);
    for (unsigned i = 1; i <= 3; i++) {
        exanet_series_poll_begin(&rig.series);
        g_assert_cmpuint(rig.off, ==, i);
        g_assert_cmpuint(rig.on, ==, i - 1);
        exanet_series_poll_end(&rig.series);
        g_assert_cmpuint(rig.on, ==, i);
    }
    exanet_series_poll_begin(&rig.series);
    exanet_series_end(&rig.series);
    exanet_series_poll_end(&rig.series);
    end(4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/series/first", test_first);
    g_test_add_func("/exanet/series/timer", test_timer);
    g_test_add_func("/exanet/series/later", test_later);
    g_test_add_func("/exanet/series/last", test_last);
    g_test_add_func("/exanet/series/during", test_during);
    g_test_add_func("/exanet/series/end", test_end);
    g_test_add_func("/exanet/series/old-timer", test_old_timer);
    g_test_add_func("/exanet/series/fini", test_fini);
    g_test_add_func("/exanet/series/no-timer", test_no_timer);
    return g_test_run();
}
