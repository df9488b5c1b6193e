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
/*
 * Undoes rnic_pci_realize().  The shell calls this function when the device has ended, or
 * when the device could not be built.
 */
void rnic_pci_exit(PCIDevice *dev);
/* Fills in all members of @host: the device sends messages, or uses wire INTA. */
void rnic_pci_host(PCIDevice *dev, AddressSpace *as, RNicHost *host);
/* Sets the handler of writes to the configuration space. */
void rnic_pci_class_init(PCIDeviceClass *pc);
/* Gives @obj a configuration space of PCI Express size. */
void rnic_pci_instance_init(Object *obj);

/* Interfaces of the QOM type of a shell. */
#define RNIC_PCI_INTERFACES (InterfaceInfo[]) { \
        { INTERFACE_PCIE_DEVICE }, \
        { INTERFACE_CONVENTIONAL_PCI_DEVICE }, \
        { } \
    }

#endif /* RNIC_CORE_PCI_H */
