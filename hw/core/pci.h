/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a PCI shell that does not depend on the device: MSI-X in a BAR of its own,
 * the express capability with function-level reset, and interrupts.
 */
#ifndef RNIC_CORE_PCI_H
#define RNIC_CORE_PCI_H

#include "hw/pci/pci_device.h"
#include "host.h"

/*
 * Adds the capabilities and @vectors MSI-X vectors in BAR @bar.  The shell calls this
 * function in realize, before it builds the device.  Returns false with @errp set on an
 * error.
 */
bool rnic_pci_realize(PCIDevice *dev, unsigned vectors, unsigned bar, Error **errp);
/* Undoes rnic_pci_realize(): in exit, behind the end of the device, or if it was not built. */
void rnic_pci_exit(PCIDevice *dev);
/* Fills in @host: device, messages and the wire INTA.  DMA goes through @as. */
void rnic_pci_host(PCIDevice *dev, AddressSpace *as, RNicHost *host);
/* Finishes the class: interfaces of the type are RNIC_PCI_INTERFACES. */
void rnic_pci_class_init(PCIDeviceClass *pc);
void rnic_pci_instance_init(Object *obj);

#define RNIC_PCI_INTERFACES (InterfaceInfo[]) { \
        { INTERFACE_PCIE_DEVICE }, \
        { INTERFACE_CONVENTIONAL_PCI_DEVICE }, \
        { } \
    }

#endif /* RNIC_CORE_PCI_H */
