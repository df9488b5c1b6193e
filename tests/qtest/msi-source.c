/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages with requester ID 0; see msi-source.h. */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "machine.h"
#include "msi-source.h"

#define BRIDGE  QPCI_DEVFN(0x1e, 0)
#define BEHIND  (1 << 8 | QPCI_DEVFN(0, 0))     /* while the secondary bus is number 1 */

/* Opens the bridge's windows for BARs from @base to @end. */
static void bridge_open(QPCIDevice *bridge, uint64_t base, uint64_t end)
{
    uint16_t first = base >> 16 & 0xfff0, last = (end - 1) >> 16 & 0xfff0;

    g_assert_cmphex(base % MiB, ==, 0);
    qpci_config_writew(bridge, PCI_MEMORY_BASE, first);
    qpci_config_writew(bridge, PCI_MEMORY_LIMIT, last);
    qpci_config_writew(bridge, PCI_COMMAND,
                       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

uint64_t msi_source_start(QPCIBus *bus, uint64_t to, uint32_t data)
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
    machine_msix_aim(dev, EXANET_VEC_ADMIN, to, data);
    qpci_io_writel(dev, dev->msix_table_bar, dev->msix_table_off +
                   16 * EXANET_VEC_ADMIN + PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
    /* a load from an unmapped address raises an error, which stays pending */
    qpci_io_readl(dev, aperture, 0);
    qpci_io_writel(dev, regs, EXANET_REG_IRQ_MASK, EXANET_IRQ_SHM);
    qpci_io_writel(dev, regs, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    while (!(qpci_io_readl(dev, regs, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM)) {
        g_usleep(1000);
    }
    qpci_config_writeb(bridge, PCI_SECONDARY_BUS, 0);
    qpci_config_writeb(bridge, PCI_SUBORDINATE_BUS, 0);
    return regs.addr + EXANET_REG_CTRL;
}

void msi_source_emit(VcpuCode *code, uint64_t reg)
{
    /* disables interrupts and enables them again, while a cause is pending */
    vcpu_emit(code, "\xc7\x05", 2, reg);
    vcpu_emit(code, "", 0, EXANET_CTRL_ENABLE);
    vcpu_emit(code, "\xc7\x05", 2, reg);
    vcpu_emit(code, "", 0, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
}
