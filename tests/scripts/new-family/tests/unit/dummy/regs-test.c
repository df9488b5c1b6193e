/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "rnic/dummy/regs.h"
#include "hw/rnic/dummy/regs.h"

static void test_reset(void)
{
    g_assert_cmphex(dummy_reg_reset(DUMMY_REG_ID), ==, DUMMY_ID);
    g_assert_cmphex(dummy_reg_reset(DUMMY_REG_SCRATCH), ==, 0x5a);
    g_assert_cmphex(dummy_reg_reset(0x100), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dummy/regs/reset", test_reset);
    return g_test_run();
}
