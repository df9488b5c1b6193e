/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests rnic_backoff(): doublings, their limit, and the maximum. */
#include "qemu/osdep.h"
#include "hw/rnic/core/backoff.h"

#define FIRST 50000                 /* ns */

static void test_doubles(void)
{
    g_assert_cmpint(rnic_backoff(FIRST, 0, 8, INT64_MAX), ==, FIRST);
    for (unsigned n = 1; n <= 8; n++) {
        g_assert_cmpint(rnic_backoff(FIRST, n, 8, INT64_MAX), ==,
                        2 * rnic_backoff(FIRST, n - 1, 8, INT64_MAX));
    }
    g_assert_cmpint(rnic_backoff(0, 8, 8, INT64_MAX), ==, 0);
}

/* The number of doublings is limited, whatever the number of retransmissions. */
static void test_shift_max(void)
{
    g_assert_cmpint(rnic_backoff(FIRST, 7, 8, INT64_MAX), ==, FIRST * 128);
    g_assert_cmpint(rnic_backoff(FIRST, 8, 8, INT64_MAX), ==, FIRST * 256);
    g_assert_cmpint(rnic_backoff(FIRST, 9, 8, INT64_MAX), ==, FIRST * 256);
    g_assert_cmpint(rnic_backoff(FIRST, UINT_MAX, 8, INT64_MAX), ==, FIRST * 256);
    g_assert_cmpint(rnic_backoff(FIRST, UINT_MAX, 0, INT64_MAX), ==, FIRST);
}

static void test_max(void)
{
    g_assert_cmpint(rnic_backoff(FIRST, 3, 8, FIRST * 8 + 1), ==, FIRST * 8);
    g_assert_cmpint(rnic_backoff(FIRST, 3, 8, FIRST * 8), ==, FIRST * 8);
    g_assert_cmpint(rnic_backoff(FIRST, 3, 8, FIRST * 8 - 1), ==, FIRST * 8 - 1);
    g_assert_cmpint(rnic_backoff(FIRST, 0, 8, FIRST - 1), ==, FIRST - 1);
    g_assert_cmpint(rnic_backoff(FIRST, UINT_MAX, 8, 0), ==, 0);
}

/* Results beyond 32 bits, up to the largest power of two in the type. */
static void test_large(void)
{
    g_assert_cmpint(rnic_backoff(FIRST, 31, 31, INT64_MAX), ==,
                    FIRST * ((int64_t)1 << 31));
    g_assert_cmpint(rnic_backoff(1, UINT_MAX, 62, INT64_MAX), ==, (int64_t)1 << 62);
    g_assert_cmpint(rnic_backoff(INT64_MAX, UINT_MAX, 0, INT64_MAX), ==, INT64_MAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/backoff/doubles", test_doubles);
    g_test_add_func("/core/backoff/shift-max", test_shift_max);
    g_test_add_func("/core/backoff/max", test_max);
    g_test_add_func("/core/backoff/large", test_large);
    return g_test_run();
}
