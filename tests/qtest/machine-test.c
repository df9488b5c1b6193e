/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of machine.c that need no machine. */
#include "qemu/osdep.h"
#include "machine.h"

/* A random test repeats itself, unless RNIC_TEST_SEED gives it another seed. */
static void test_seed(void)
{
    g_autofree char *given = g_strdup(getenv("RNIC_TEST_SEED"));

    g_unsetenv("RNIC_TEST_SEED");
    g_assert_cmpuint(machine_seed(0), ==, 0);
    g_assert_cmpuint(machine_seed(1717), ==, 1717);
    g_setenv("RNIC_TEST_SEED", "4000000000", true);
    g_assert_cmpuint(machine_seed(0), ==, 4000000000);
    g_assert_cmpuint(machine_seed(1), ==, 4000000001);
    g_assert_cmpuint(machine_seed(1), ==, 4000000001);
    if (given) {
        g_setenv("RNIC_TEST_SEED", given, true);
    }
}

static void test_seed_bad(void)
{
    if (g_test_subprocess()) {
        g_setenv("RNIC_TEST_SEED", "12 monkeys", true);
        machine_seed(1);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/machine/seed", test_seed);
    g_test_add_func("/machine/seed-bad", test_seed_bad);
    return g_test_run();
}
