/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages with requester ID 0; see msi-source.h. */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "msi-source.h"
#include "wait.h"

#define BRIDGE  QPCI_DEVFN(0x1e, 0)
/* device 0.0 on bus 1, the bridge's bus until the bridge gets number 0 */
#define BEHIND  (1 << 8 | QPCI_DEVFN(0, 0))
#define TRIALS  8                   /* messages to RAM in msi_source_aim() */

/*
 * RAM of msi_source_aim(): address of the message, and the value that the processor
 * loads.
 */
#define RAM_MESSAGE 0x10080
#define RAM_SEEN    0x10084

/* Opens the bridge's memory window for BARs from @base to @end - 1. */
static void bridge_open(QPCIDevice *bridge, uint64_t base, uint64_t end)
{
    uint16_t first = base >> 16 & 0xfff0, last = (end - 1) >> 16 & 0xfff0;

    g_assert_cmphex(base % MiB, ==, 0);
    qpci_config_writew(bridge, PCI_MEMORY_BASE, first);
    qpci_config_writew(bridge, PCI_MEMORY_LIMIT, last);
    qpci_config_writew(bridge, PCI_COMMAND,
                       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

MsiSource msi_source_start(QPCIBus *bus)
{
    g_autofree QPCIDevice *bridge = qpci_device_find(bus, BRIDGE);
    g_autofree QPCIDevice *dev = NULL;
    QPCIBar regs, aperture;
    uint64_t base;

    g_assert_nonnull(bridge);
    qpci_config_writeb(bridge, PCI_SECONDARY_BUS, 1);
    qpci_config_writeb(bridge, PCI_SUBORDINATE_BUS, 1);
    dev = qpci_device_find(bus, BEHIND);
    g_assert_nonnull(dev);
    bus->mmio_alloc_ptr = base = ROUND_UP(bus->mmio_alloc_ptr, MiB);
    qpci_device_enable(dev);
    regs = qpci_iomap(dev, EXANET_BAR_REGS, NULL);
    qpci_msix_enable(dev);
    aperture = qpci_iomap(dev, EXANET_BAR_APERTURE, NULL);
    bus->mmio_alloc_ptr = ROUND_UP(bus->mmio_alloc_ptr, MiB);
    bridge_open(bridge, base, bus->mmio_alloc_ptr);
    qpci_io_writel(dev, dev->msix_table_bar, dev->msix_table_off +
                   16 * EXANET_VEC_ADMIN + PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
    /* a load from an unmapped address raises an error, which stays pending */
    qpci_io_readl(dev, aperture, 0);
    qpci_io_writel(dev, regs, EXANET_REG_IRQ_MASK, EXANET_IRQ_SHM);
    qpci_io_writel(dev, regs, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    wait_until(qpci_io_readl(dev, regs, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM,
               wait_pause());
    qpci_config_writeb(bridge, PCI_SECONDARY_BUS, 0);
    qpci_config_writeb(bridge, PCI_SUBORDINATE_BUS, 0);
    return (MsiSource) {
        .qts = bus->qts,
        .entry = dev->msix_table_bar.addr + dev->msix_table_off +
                 16 * EXANET_VEC_ADMIN,
        .reg = regs.addr + EXANET_REG_CTRL,
    };
}

static void aim(const MsiSource *s, uint64_t to, uint32_t data)
{
    qtest_writel(s->qts, s->entry + PCI_MSIX_ENTRY_LOWER_ADDR, to);
    qtest_writel(s->qts, s->entry + PCI_MSIX_ENTRY_UPPER_ADDR, to >> 32);
    qtest_writel(s->qts, s->entry + PCI_MSIX_ENTRY_DATA, data);
}

void msi_source_emit(VcpuCode *code, const MsiSource *s)
{
    /*
     * the processor disables interrupts and enables them again, while a cause is
     * pending
     */
    vcpu_emit(code, "\xc7\x05", 2, s->reg);
    vcpu_emit(code, "", 0, EXANET_CTRL_ENABLE);
    vcpu_emit(code, "\xc7\x05", 2, s->reg);
    vcpu_emit(code, "", 0, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
}

void msi_source_aim(const MsiSource *s, uint64_t to, uint32_t data)
{
    for (uint32_t i = 1; i <= TRIALS; i++) {
        VcpuCode code = { .len = 0 };

        aim(s, RAM_MESSAGE, i);
        msi_source_emit(&code, s);
        vcpu_emit(&code, "\xa1", 1, RAM_MESSAGE);
        vcpu_emit(&code, "\xa3", 1, RAM_SEEN);
        vcpu_go(s->qts, &code);
        vcpu_wait(s->qts);
        g_assert_cmpuint(qtest_readl(s->qts, RAM_SEEN), ==, i);
    }
    aim(s, to, data);
}
