/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests rnic_pace(): the time at which a serial resource is free again. */
#include "qemu/osdep.h"
#include "hw/rnic/core/pace.h"

/* Work begins at its start or at the end of the work before, whichever is later. */
static void test_begin(void)
{
    g_assert_cmpint(rnic_pace(99, 100, 10), ==, 110);
    g_assert_cmpint(rnic_pace(100, 100, 10), ==, 110);
    g_assert_cmpint(rnic_pace(101, 100, 10), ==, 111);
    g_assert_cmpint(rnic_pace(0, 0, 0), ==, 0);
    g_assert_cmpint(rnic_pace(101, 100, 0), ==, 101);
}

/* The resource is busy without a gap while work waits, and idle before late work. */
static void test_series(void)
{
    int64_t busy = 0;

    for (unsigned n = 1; n <= 1000; n++) {
        busy = rnic_pace(busy, n, 7);
        g_assert_cmpint(busy, ==, 1 + 7 * n);
    }
    g_assert_cmpint(rnic_pace(busy, busy + 1, 7), ==, busy + 8);
}

static void test_large(void)
{
    g_assert_cmpint(rnic_pace(INT64_MAX - 1, 0, 1), ==, INT64_MAX);
    g_assert_cmpint(rnic_pace(0, INT64_MAX - 1, 1), ==, INT64_MAX);
    g_assert_cmpint(rnic_pace(INT64_MAX, INT64_MAX, 0), ==, INT64_MAX);
    g_assert_cmpint(rnic_pace(INT64_MIN, 0, UINT32_MAX), ==, UINT32_MAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/pace/begin", test_begin);
    g_test_add_func("/core/pace/series", test_series);
    g_test_add_func("/core/pace/large", test_large);
    return g_test_run();
}
