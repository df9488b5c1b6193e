/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine with one EXTOLL NIC; see device.h. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "libqos/pci-pc.h"
#include "device.h"
#include "link.h"

static void found(QPCIDevice *dev, int devfn, void *data)
{
    ExtollTest *t = data;

    g_assert_null(t->dev);
    t->dev = dev;
}

ExtollTest *extoll_start(const char *props)
{
    return extoll_start_node("", EXTOLL_TEST_NODE, props);
}

ExtollTest *extoll_start_node(const char *netdevs, unsigned node, const char *props)
{
    ExtollTest *t = g_new0(ExtollTest, 1);
    uint64_t size;

    t->log = machine_log_new();
    t->qts = qtest_initf("-machine q35 -vga none -m 128 -nodefaults "
                         "-d guest_errors -D %s %s"
                         "-device extoll-pci,id=nic,node=%u,epoch=%u%s", t->log,
                         netdevs, node, EXTOLL_TEST_EPOCH, props);
    t->bus = qpci_new_pc(t->qts, NULL);
    qpci_device_foreach(t->bus, EXTOLL_PCI_VENDOR_ID, EXTOLL_PCI_DEVICE_ID, found, t);
    g_assert_nonnull(t->dev);
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, EXTOLL_BAR_REGS, &size);
    g_assert_cmphex(size, ==, EXTOLL_REGS_BYTES);
    return t;
}

void extoll_stop(ExtollTest *t)
{
    g_free(t->dev);
    qpci_free_pc(t->bus);
    qtest_quit(t->qts);
    extoll_peers_free(t);
    machine_log_check(t->log, "extoll", t->guest_errors, false);
    g_free(t);
}

/* --- Access ---------------------------------------------------------------- */

uint32_t extoll_get32(ExtollTest *t, uint64_t offset)
{
    return qtest_readl(t->qts, t->regs.addr + offset);
}

uint64_t extoll_get64(ExtollTest *t, uint64_t offset)
{
    return qtest_readq(t->qts, t->regs.addr + offset);
}

void extoll_set32(ExtollTest *t, uint64_t offset, uint32_t value)
{
    qtest_writel(t->qts, t->regs.addr + offset, value);
}

void extoll_set64(ExtollTest *t, uint64_t offset, uint64_t value)
{
    qtest_writeq(t->qts, t->regs.addr + offset, value);
}

void extoll_msix_enable(ExtollTest *t)
{
    machine_msix_enable(t->qts, t->dev, EXTOLL_RAM_MSIX, EXTOLL_VECTORS);
}

unsigned extoll_msix_taken(ExtollTest *t)
{
    unsigned vectors = 0;

    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        if (machine_msix_taken(t->qts, EXTOLL_RAM_MSIX, v)) {
            vectors |= 1u << v;
        }
    }
    return vectors;
}

enum extoll_test_status extoll_selftest(ExtollTest *t, enum extoll_test_op op,
                                        uint64_t addr, uint32_t bytes, uint32_t data)
{
    extoll_set64(t, EXTOLL_REG_TEST_ADDR, addr);
    extoll_set32(t, EXTOLL_REG_TEST_BYTES, bytes);
    extoll_set32(t, EXTOLL_REG_TEST_DATA, data);
    extoll_set32(t, EXTOLL_REG_TEST_OP, op);
    return extoll_get32(t, EXTOLL_REG_TEST_STATUS);
}

void extoll_flr(ExtollTest *t)
{
    uint8_t cap = qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);

    g_assert_cmphex(cap, !=, 0);
    g_assert_true(qpci_config_readl(t->dev, cap + PCI_EXP_DEVCAP) & PCI_EXP_DEVCAP_FLR);
    qpci_config_writew(t->dev, cap + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
    /* the reset clears the BARs, as for any PCI function */
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_REGS, t->regs.addr);
    qpci_device_enable(t->dev);
}
