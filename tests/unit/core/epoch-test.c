/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Epochs after resets. */
#include "qemu/osdep.h"
#include "hw/rnic/core/compat.h"
#include "hw/rnic/core/epoch.h"

static void test_first(void)
{
    for (unsigned first = 1; first <= UINT8_MAX; first++) {
        g_assert_cmpuint(rnic_epoch_next(0, first), ==, first);
    }
}

/* Each epoch follows from the last one, whatever the first epoch was; 0 never comes. */
static void test_next(void)
{
    for (unsigned epoch = 1; epoch < UINT8_MAX; epoch++) {
        g_assert_cmpuint(rnic_epoch_next(epoch, 7), ==, epoch + 1);
        g_assert_cmpuint(rnic_epoch_next(epoch, 0), ==, epoch + 1);
    }
    g_assert_cmpuint(rnic_epoch_next(UINT8_MAX, 7), ==, 1);
}

/* Without a first epoch, the time of day selects one, and a step changes it by 1. */
static void test_time(void)
{
    int64_t before = qemu_clock_get_ns(QEMU_CLOCK_HOST) / RNIC_EPOCH_STEP_NS;
    uint8_t epoch = rnic_epoch_next(0, 0);
    int64_t after = qemu_clock_get_ns(QEMU_CLOCK_HOST) / RNIC_EPOCH_STEP_NS;
    bool found = false;

    for (int64_t step = before; step <= after; step++) {
        found |= epoch == step % UINT8_MAX + 1;
    }
    g_assert_true(found);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    rnic_init_clocks();
    g_test_add_func("/core/epoch/first", test_first);
    g_test_add_func("/core/epoch/next", test_next);
    g_test_add_func("/core/epoch/time", test_time);
    return g_test_run();
}
