/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rate limit of a QP after congestion notifications, compared with the published
 * algorithm.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "hw/rnic/pvrdma/wire/dcqcn.h"

#define LINE    PVRDMA_DCQCN_LINE_BPS
#define STEP    (55 * SCALE_US)         /* the publication's K and T */
#define AI      40000000ULL
#define PACKET  4096
#define VOLUME  10000000

/* Without a notification there is no limit, and no bytes are counted. */
static void test_free(void)
{
    PvrdmaDcqcn d = { };

    for (int64_t now = 0; now < SCALE_MS; now += SCALE_US) {
        g_assert_cmpint(pvrdma_dcqcn_wait(&d, now), ==, 0);
        pvrdma_dcqcn_sent(&d, now, PACKET);
    }
    g_assert_false(d.limited);
    g_assert_cmpuint(d.bytes, ==, 0);
}

/* The first notification halves the rate, and so do those that follow at once. */
static void test_cut(void)
{
    PvrdmaDcqcn d = { };

    pvrdma_dcqcn_cnp(&d, 1000);
    g_assert_true(d.limited);
    g_assert_cmpuint(d.rate, ==, LINE / 2);
    g_assert_cmpuint(d.target, ==, LINE);
    g_assert_cmpuint(d.alpha, ==, PVRDMA_DCQCN_ONE);
    pvrdma_dcqcn_cnp(&d, 1000);
    g_assert_cmpuint(d.rate, ==, LINE / 4);
    g_assert_cmpuint(d.target, ==, LINE / 2);
    for (unsigned i = 0; i < 100; i++) {
        pvrdma_dcqcn_cnp(&d, 1000);
    }
    g_assert_cmpuint(d.rate, ==, PVRDMA_DCQCN_MIN_BPS);
}

/* Alpha loses 1/256 in each period without a notification, so later cuts are smaller. */
static void test_alpha(void)
{
    PvrdmaDcqcn d = { };
    double alpha = 1;
    uint64_t before;

    for (unsigned i = 0; i < 4; i++) {
        pvrdma_dcqcn_cnp(&d, 0);
    }
    for (unsigned i = 0; i < 100; i++) {
        alpha -= alpha / 256;
    }
    pvrdma_dcqcn_wait(&d, 100 * STEP);
    before = d.rate;
    pvrdma_dcqcn_cnp(&d, 100 * STEP);
    g_assert_cmpuint(d.target, ==, before);
    g_assert_cmpfloat_with_epsilon((double)d.rate / before, 1 - alpha / 2, 0.0001);
    alpha += (1 - alpha) / 256;
    g_assert_cmpfloat_with_epsilon((double)d.alpha / PVRDMA_DCQCN_ONE, alpha,
                                   0.0001);
}

/*
 * Each of five steps halves the distance to the former rate, the target.  Further steps
 * raise the target.
 */
static void test_recovery(void)
{
    PvrdmaDcqcn d = { };
    uint64_t rate, target;

    for (unsigned i = 0; i < 4; i++) {
        pvrdma_dcqcn_cnp(&d, 0);
    }
    rate = d.rate;
    target = d.target;
    g_assert_cmpuint(pvrdma_dcqcn_wait(&d, STEP - 1), ==, 0);
    g_assert_cmpuint(d.rate, ==, rate);
    for (unsigned i = 1; i <= 5; i++) {
        pvrdma_dcqcn_wait(&d, i * STEP);
        rate = (rate + target) / 2;
        g_assert_cmpuint(d.rate, ==, rate);
        g_assert_cmpuint(d.target, ==, target);
    }
    for (unsigned i = 6; i <= 20; i++) {
        pvrdma_dcqcn_wait(&d, i * STEP);
        target += AI;
        rate = (rate + target) / 2;
        g_assert_cmpuint(d.target, ==, target);
        g_assert_cmpuint(d.rate, ==, rate);
    }
    /* a notification begins the five steps again */
    pvrdma_dcqcn_cnp(&d, 20 * STEP);
    g_assert_cmpuint(d.target, ==, rate);
    pvrdma_dcqcn_wait(&d, 25 * STEP);
    g_assert_cmpuint(d.target, ==, rate);
    pvrdma_dcqcn_wait(&d, 26 * STEP);
    g_assert_cmpuint(d.target, ==, rate + AI);
}

/* Sent bytes cause steps, too; steps by time and by bytes together are larger. */
static void test_volume(void)
{
    PvrdmaDcqcn d = { };
    uint64_t target;

    for (unsigned i = 0; i < 4; i++) {
        pvrdma_dcqcn_cnp(&d, 0);
    }
    target = d.target;
    for (unsigned i = 0; i < 5; i++) {
        pvrdma_dcqcn_sent(&d, 0, VOLUME);
    }
    g_assert_cmpuint(d.target, ==, target);
    pvrdma_dcqcn_sent(&d, 0, VOLUME - 1);
    g_assert_cmpuint(d.target, ==, target);
    pvrdma_dcqcn_sent(&d, 0, 1);
    g_assert_cmpuint(d.target, ==, target + AI);
    /*
     * of six steps by time, five add AI, and the sixth adds 10 AI because both counts
     * exceed five
     */
    pvrdma_dcqcn_wait(&d, 5 * STEP);
    g_assert_cmpuint(d.target, ==, target + 6 * AI);
    pvrdma_dcqcn_wait(&d, 6 * STEP);
    g_assert_cmpuint(d.target, ==, target + 16 * AI);
}

/* Returns the bytes that a sender with enough data sends in @ns. */
static uint64_t pump(PvrdmaDcqcn *d, int64_t now, int64_t ns)
{
    int64_t end = now + ns;
    uint64_t bytes = 0;

    while (now < end) {
        int64_t until = pvrdma_dcqcn_wait(d, now);

        if (until) {
            g_assert_cmpint(until, >, now);
            now = until;
        } else {
            pvrdma_dcqcn_sent(d, now, PACKET);
            bytes += PACKET;
        }
    }
    return bytes;
}

/* The sender keeps the rate, and may make up for at most a burst. */
static void test_pace(void)
{
    PvrdmaDcqcn d = { };
    uint64_t expected, bytes;

    for (unsigned i = 0; i < 7; i++) {
        pvrdma_dcqcn_cnp(&d, 0);
    }
    expected = d.rate / 8 * (STEP - 1) / NANOSECONDS_PER_SECOND;
    bytes = pump(&d, 0, STEP - 1);
    g_assert_cmpuint(bytes, >=, expected);
    g_assert_cmpuint(bytes, <=, expected + PVRDMA_DCQCN_BURST + 2 * PACKET);
    /* after a pause, at most a burst is made up for */
    pvrdma_dcqcn_cnp(&d, SCALE_MS);
    g_assert_true(d.limited);
    expected = d.rate / 8 * (STEP - 1) / NANOSECONDS_PER_SECOND;
    bytes = pump(&d, SCALE_MS, STEP - 1);
    g_assert_cmpuint(bytes, >=, expected);
    g_assert_cmpuint(bytes, <=, expected + PVRDMA_DCQCN_BURST + 2 * PACKET);
}

/*
 * The limit ends after a long time, even if no function was called meanwhile, and a later
 * notification begins it again.
 */
static void test_over(void)
{
    PvrdmaDcqcn d = { };

    for (unsigned i = 0; i < 50; i++) {
        pvrdma_dcqcn_cnp(&d, 0);
    }
    g_assert_cmpint(pvrdma_dcqcn_wait(&d, INT64_MAX / 2), ==, 0);
    g_assert_false(d.limited);
    pvrdma_dcqcn_sent(&d, INT64_MAX / 2, PACKET);
    g_assert_cmpint(pvrdma_dcqcn_wait(&d, INT64_MAX / 2), ==, 0);
    pvrdma_dcqcn_cnp(&d, INT64_MAX / 2);
    /* alpha is 0 now, so this notification only raises alpha and does not cut the rate */
    g_assert_cmpuint(d.rate, ==, LINE);
    g_assert_cmpuint(d.alpha, >, 0);
    g_assert_true(d.limited);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/dcqcn/free", test_free);
    g_test_add_func("/pvrdma/dcqcn/cut", test_cut);
    g_test_add_func("/pvrdma/dcqcn/alpha", test_alpha);
    g_test_add_func("/pvrdma/dcqcn/recovery", test_recovery);
    g_test_add_func("/pvrdma/dcqcn/volume", test_volume);
    g_test_add_func("/pvrdma/dcqcn/pace", test_pace);
    g_test_add_func("/pvrdma/dcqcn/over", test_over);
    return g_test_run();
}
