/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL interrupts: causes, masks and clears of the three vectors.  The only cause that
 * the device can raise is TEST of vector EVENTS.
 */
#include "qemu/osdep.h"
#include "device.h"

#define EVENTS  (1u << EXTOLL_VEC_EVENTS)

static ExtollTest *start(void)
{
    ExtollTest *t = extoll_start("");

    extoll_msix_enable(t);
    return t;
}

static void cause_raise(ExtollTest *t)
{
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_EVENTS);
}

/* A cause is set in spite of its mask, and stays until CLEAR. */
static void test_cause(void)
{
    ExtollTest *t = start();

    cause_raise(t);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, EXTOLL_EVENT_TEST);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 0);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_RMA, CAUSE), ==, 0);
    /* the cause is read-only, and CLEAR clears only bits that are 1, and reads 0 */
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, CAUSE, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, CLEAR, ~(uint32_t)EXTOLL_EVENT_TEST);
    extoll_irq_set(t, EXTOLL_VEC_VELO, CLEAR, ~0u);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, EXTOLL_EVENT_TEST);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, CLEAR, EXTOLL_EVENT_TEST);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CLEAR), ==, 0);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, 0);
    extoll_stop(t);
}

/* TEST_IRQ sends its vector also if the cause is masked. */
static void test_masked(void)
{
    ExtollTest *t = start();

    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        extoll_set32(t, EXTOLL_REG_TEST_IRQ, v);
        g_assert_cmphex(extoll_msix_taken(t), ==, 1u << v);
    }
    extoll_stop(t);
}

/* A cause that is set sends the vector when its mask becomes 1, and not again later. */
static void test_unmask(void)
{
    ExtollTest *t = start();

    cause_raise(t);
    extoll_msix_taken(t);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~(uint32_t)EXTOLL_EVENT_TEST);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, EXTOLL_EVENT_TEST);
    g_assert_cmphex(extoll_msix_taken(t), ==, EVENTS);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~0u);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, 0);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~0u);
    g_assert_cmphex(extoll_msix_taken(t), ==, EVENTS);
    extoll_stop(t);
}

/* A cleared cause sends nothing when its mask becomes 1. */
static void test_clear(void)
{
    ExtollTest *t = start();

    cause_raise(t);
    extoll_msix_taken(t);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, CLEAR, EXTOLL_EVENT_TEST);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~0u);
    extoll_irq_set(t, EXTOLL_VEC_VELO, MASK, ~0u);
    extoll_irq_set(t, EXTOLL_VEC_RMA, MASK, ~0u);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    cause_raise(t);
    g_assert_cmphex(extoll_msix_taken(t), ==, EVENTS);
    extoll_stop(t);
}

/* Without MSI-X the cause is set, and the vector is pending until MSI-X is enabled. */
static void test_no_msix(void)
{
    ExtollTest *t = extoll_start("");

    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~0u);
    cause_raise(t);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, EXTOLL_EVENT_TEST);
    extoll_msix_enable(t);
    g_assert_cmphex(extoll_msix_taken(t), ==, EVENTS);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_stop(t);
}

/*
 * A message that is a store to a register of this device has no effect: neither a reset
 * nor the next message, which would have no end.
 */
static void test_own_registers(void)
{
    ExtollTest *t = start();
    uint64_t regs = t->regs.addr;

    extoll_set64(t, EXTOLL_REG_SCRATCH, 0x5555);
    machine_msix_aim(t->dev, EXTOLL_VEC_EVENTS, regs + EXTOLL_REG_CTRL,
                     EXTOLL_CTRL_RESET);
    machine_msix_aim(t->dev, EXTOLL_VEC_VELO, regs + EXTOLL_REG_TEST_IRQ,
                     EXTOLL_VEC_VELO);
    cause_raise(t);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_VELO);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_SCRATCH), ==, 0x5555);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), ==, EXTOLL_TEST_EPOCH);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_RMA);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_RMA);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/irq/cause", test_cause);
    qtest_add_func("/extoll/irq/masked", test_masked);
    qtest_add_func("/extoll/irq/unmask", test_unmask);
    qtest_add_func("/extoll/irq/clear", test_clear);
    qtest_add_func("/extoll/irq/no-msix", test_no_msix);
    qtest_add_func("/extoll/irq/own-registers", test_own_registers);
    return g_test_run();
}
