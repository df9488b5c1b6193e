/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part that the PCI shells of all devices share (a shell is the PCIDevice that
 * contains the device): MSI-X in a BAR of its own, the express capability with
 * function-level reset, and interrupts.
 */
#ifndef RNIC_CORE_PCI_H
#define RNIC_CORE_PCI_H

#include "hw/pci/pci_device.h"
#include "host.h"

/*
 * Adds @vectors MSI-X vectors in BAR @bar and, on an express bus, the express capability
 * with function-level reset.  The shell calls this function in realize, before the shell
 * builds the device.  Returns false with @errp set on an error.
 */
bool rnic_pci_realize(PCIDevice *dev, unsigned vectors, unsigned bar, Error **errp);
/*
 * Undoes rnic_pci_realize().  The shell calls this function when the device has ended, or
 * when the device could not be built.
 */
void rnic_pci_exit(PCIDevice *dev);
/*
 * Sets all members of @host.  RNicHost.irq sends an MSI-X message.  RNicHost.line sets
 * the level of the wire that the interrupt pin of @dev selects, and ignores the number of
 * the line.  @as is the address space for DMA.
 */
void rnic_pci_host(PCIDevice *dev, AddressSpace *as, RNicHost *host);
/*
 * Sets the handler of writes to the configuration space.  The handler does the
 * function-level reset (FLR).
 */
void rnic_pci_class_init(PCIDeviceClass *pc);
/*
 * Makes QEMU allocate a configuration space of PCI Express size for the PCIDevice @obj.
 */
void rnic_pci_instance_init(Object *obj);

/*
 * Interfaces that the QOM type of a shell must have: the shell fits both kinds of buses.
 */
#define RNIC_PCI_INTERFACES (InterfaceInfo[]) { \
        { INTERFACE_PCIE_DEVICE }, \
        { INTERFACE_CONVENTIONAL_PCI_DEVICE }, \
        { } \
    }

#endif /* RNIC_CORE_PCI_H */
