/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resets of an EXTOLL NIC: by CTRL, by the function (FLR), and of the machine.  Each
 * gives all registers their values after a reset, and the next epoch.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "device.h"

/* Gives the registers of VELO that software can change other values. */
static void spoil_velo(ExtollTest *t)
{
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, ~0u);
    for (unsigned node = 0; node < EXTOLL_NODES; node++) {
        extoll_set64(t, EXTOLL_VELO_ROUTE(node), ~0ULL);
    }
    for (unsigned v = 0; v < EXTOLL_VPIDS; v++) {
        for (unsigned reg = EXTOLL_REG_BALT; reg <= EXTOLL_REG_RPLT; reg += 8) {
            extoll_set64(t, EXTOLL_VELO_VPID(v) + reg, ~0ULL);
        }
        extoll_set32(t, EXTOLL_VELO_VPID(v) + EXTOLL_REG_TXIO, 1);
        extoll_set32(t, EXTOLL_END_POINT(v) + EXTOLL_REG_PROT, ~0u);
        extoll_set64(t, EXTOLL_VELO_RP(v), v);
    }
    /* the pointers differ, so all VPIDs but one interrupt */
    extoll_set64(t, EXTOLL_VELO_RP(3), ~0u);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ, ~0u);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, ~(1u << 3));
}

static void check_velo(ExtollTest *t)
{
    g_assert_cmphex(extoll_get32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE), ==, 0);
    g_assert_cmphex(extoll_get32(t, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ), ==, 0);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO + EXTOLL_REG_VELO_COUNT), ==, 0);
    for (unsigned node = 0; node < EXTOLL_NODES; node++) {
        g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_ROUTE(node)), ==, 0);
    }
    for (unsigned v = 0; v < EXTOLL_VPIDS; v++) {
        for (unsigned reg = EXTOLL_REG_BALT; reg <= EXTOLL_REG_RPLT; reg += 8) {
            g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_VPID(v) + reg), ==, 0);
        }
        g_assert_cmphex(extoll_get32(t, EXTOLL_VELO_VPID(v) + EXTOLL_REG_TXIO), ==, 0);
        g_assert_cmphex(extoll_get32(t, EXTOLL_END_POINT(v) + EXTOLL_REG_PROT), ==, 0);
        g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_RP(v)), ==, 0);
    }
}

/* Gives all registers that software can change, and counters, other values. */
static void spoil(ExtollTest *t)
{
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
    extoll_set32(t, EXTOLL_REG_NODE, EXTOLL_TEST_NODE + 1);
    extoll_set64(t, EXTOLL_REG_SCRATCH, ~0ULL);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, EXTOLL_RAM_DATA, 128, ~0u), ==,
                     EXTOLL_TEST_OK);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_EVENTS);
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        extoll_irq_set(t, v, MASK, ~0u);
    }
    spoil_velo(t);
    extoll_get32(t, EXTOLL_SNQ);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VECTORS);
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 1);
    g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 1);
    t->guest_errors = true;
}

static void check_reset(ExtollTest *t, unsigned epoch)
{
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), ==, epoch);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_VERSION), ==, EXTOLL_VERSION);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_CTRL), ==, 0);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_STATUS), ==, EXTOLL_STATUS_IDLE);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_NODE), ==, EXTOLL_TEST_NODE);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_SCRATCH), ==, 0);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_TEST_ADDR), ==, 0);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_BYTES), ==, 0);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_DATA), ==, 0);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_TEST_STATUS), ==, EXTOLL_TEST_NONE);
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        g_assert_cmphex(extoll_irq_get(t, v, CAUSE), ==, 0);
        g_assert_cmphex(extoll_irq_get(t, v, MASK), ==, 0);
    }
    check_velo(t);
    for (unsigned n = 0; n < EXTOLL_COUNTER_COUNT; n++) {
        g_assert_cmpuint(extoll_get64(t, EXTOLL_COUNTER(n)), ==, 0);
    }
}

/* Asserts that the device works: its self-test, and an interrupt. */
static void check_works(ExtollTest *t)
{
    uint8_t want[64];

    machine_fill(t->qts, EXTOLL_RAM_DATA, want, sizeof(want), 5);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_INVERT, EXTOLL_RAM_DATA, 64, 0), ==,
                     EXTOLL_TEST_OK);
    for (unsigned i = 0; i < sizeof(want); i++) {
        want[i] = ~want[i];
    }
    machine_assert_mem(t->qts, EXTOLL_RAM_DATA, want, sizeof(want));
    extoll_msix_enable(t);
    extoll_msix_taken(t);           /* messages that were pending before the reset */
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, EXTOLL_EVENT_TEST);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_EVENTS);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_EVENTS);
}

static void test_ctrl(void)
{
    ExtollTest *t = extoll_start("");

    spoil(t);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE | EXTOLL_CTRL_RESET);
    check_reset(t, EXTOLL_TEST_EPOCH + 1);
    check_works(t);
    extoll_stop(t);
}

/* RESET also acts in a store of 8 bytes, and the epochs wrap without 0. */
static void test_epochs(void)
{
    ExtollTest *t = extoll_start("");

    for (unsigned i = 1; i < 300; i++) {
        extoll_set64(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
        g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), ==,
                         (EXTOLL_TEST_EPOCH + i - 1) % UINT8_MAX + 1);
    }
    extoll_stop(t);
}

static void test_flr(void)
{
    ExtollTest *t = extoll_start("");

    spoil(t);
    extoll_flr(t);
    check_reset(t, EXTOLL_TEST_EPOCH + 1);
    check_works(t);
    extoll_stop(t);
}

static void test_machine(void)
{
    ExtollTest *t = extoll_start("");

    spoil(t);
    qtest_system_reset(t->qts);
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_REGS, t->regs.addr);
    qpci_device_enable(t->dev);
    check_reset(t, EXTOLL_TEST_EPOCH + 1);
    extoll_stop(t);
}

/* A cause that is set before the reset sends nothing after the reset. */
static void test_interrupts(void)
{
    ExtollTest *t = extoll_start("");

    extoll_msix_enable(t);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_EVENTS);
    extoll_msix_taken(t);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~0u);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_EVENTS);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_EVENTS);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/device/reset-ctrl", test_ctrl);
    qtest_add_func("/extoll/device/reset-epochs", test_epochs);
    qtest_add_func("/extoll/device/reset-flr", test_flr);
    qtest_add_func("/extoll/device/reset-machine", test_machine);
    qtest_add_func("/extoll/device/reset-interrupts", test_interrupts);
    return g_test_run();
}
