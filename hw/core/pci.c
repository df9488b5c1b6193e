/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a PCI shell that does not depend on the device; see pci.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "pci.h"

#define PCIE_CAP 0xa0

static bool pci_messages(void *opaque)
{
    return msix_enabled(opaque);
}

static void pci_irq(void *opaque, unsigned vector)
{
    msix_notify(opaque, vector);
}

static void pci_line(void *opaque, unsigned line, bool level)
{
    pci_set_irq(opaque, level);
}

void rnic_pci_host(PCIDevice *dev, AddressSpace *as, RNicHost *host)
{
    *host = (RNicHost) {
        .dev = DEVICE(dev),
        .as = as,
        .messages = pci_messages,
        .irq = pci_irq,
        .line = pci_line,
        .opaque = dev,
    };
}

bool rnic_pci_realize(PCIDevice *dev, unsigned vectors, unsigned bar, Error **errp)
{
    if (pci_bus_is_express(pci_get_bus(dev))) {
        if (pcie_endpoint_cap_init(dev, PCIE_CAP) < 0) {
            error_setg(errp, "no room for the PCI Express capability");
            return false;
        }
        pcie_cap_flr_init(dev);
    }
    if (msix_init_exclusive_bar(dev, vectors, bar, errp) < 0) {
        return false;
    }
    for (unsigned v = 0; v < vectors; v++) {
        msix_vector_use(dev, v);
    }
    return true;
}

void rnic_pci_exit(PCIDevice *dev)
{
    msix_uninit_exclusive_bar(dev);
    if (pci_bus_is_express(pci_get_bus(dev))) {
        pcie_cap_exit(dev);
    }
}

static void pci_config_write(PCIDevice *dev, uint32_t addr, uint32_t value, int len)
{
    pci_default_write_config(dev, addr, value, len);
    if (pci_bus_is_express(pci_get_bus(dev))) {
        pcie_cap_flr_write_config(dev, addr, value, len);
    }
}

void rnic_pci_class_init(PCIDeviceClass *pc)
{
    pc->config_write = pci_config_write;
}

void rnic_pci_instance_init(Object *obj)
{
    /*
     * QEMU reads this flag before realize; rnic_pci_realize() adds the capability only if
     * the bus is express
     */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}
