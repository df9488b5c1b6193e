/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seeds of random tests. */
#include "qemu/osdep.h"
#include "../seed.h"

/*
 * A random test uses the same seed in each run, unless RNIC_TEST_SEED adds a number to
 * it.
 */
static void test_values(void)
{
    g_autofree char *given = g_strdup(getenv("RNIC_TEST_SEED"));

    g_unsetenv("RNIC_TEST_SEED");
    g_assert_cmpuint(random_seed(0), ==, 0);
    g_assert_cmpuint(random_seed(1717), ==, 1717);
    g_setenv("RNIC_TEST_SEED", "4000000000", true);
    g_assert_cmpuint(random_seed(0), ==, 4000000000);
    g_assert_cmpuint(random_seed(1), ==, 4000000001);
    g_assert_cmpuint(random_seed(1), ==, 4000000001);
    if (given) {
        g_setenv("RNIC_TEST_SEED", given, true);
    }
}

static void test_bad(void)
{
    if (g_test_subprocess()) {
        g_setenv("RNIC_TEST_SEED", "12 monkeys", true);
        random_seed(1);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tests/seed/values", test_values);
    g_test_add_func("/tests/seed/bad", test_bad);
    return g_test_run();
}
