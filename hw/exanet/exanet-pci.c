/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC on PCIe: ids, BARs, reset.  The device itself is in exanet.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "qom/object.h"
#include "../core/pci.h"
#include "class.h"
#include "exanet.h"

#define TYPE_EXANET_PCI "exanet-pci"
OBJECT_DECLARE_SIMPLE_TYPE(ExanetPCI, EXANET_PCI)

struct ExanetPCI {
    PCIDevice parent_obj;
    ExanetState exanet;
};

static void exanet_pci_realize(PCIDevice *dev, Error **errp)
{
    ExanetPCI *pci = EXANET_PCI(dev);
    RNicHost host;

    if (!rnic_pci_realize(dev, EXANET_VECTORS, EXANET_BAR_MSIX, errp)) {
        return;
    }
    rnic_pci_host(dev, &address_space_memory, &host);
    host.line = NULL;               /* uses interrupt messages, and no interrupt wire */
    if (!exanet_init(&pci->exanet, &host, errp)) {
        rnic_pci_exit(dev);
        return;
    }
    pci_register_bar(dev, EXANET_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &pci->exanet.regs_mr);
    pci_register_bar(dev, EXANET_BAR_USER, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &pci->exanet.user_mr);
    pci_register_bar(dev, EXANET_BAR_APERTURE, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &pci->exanet.aperture_mr);
}

static void exanet_pci_exit(PCIDevice *dev)
{
    ExanetPCI *pci = EXANET_PCI(dev);

    exanet_fini(&pci->exanet);
    rnic_pci_exit(dev);
}

static void exanet_pci_reset(DeviceState *dev)
{
    exanet_reset(&EXANET_PCI(dev)->exanet);
}

static const Property exanet_pci_properties[] = {
    EXANET_PROPERTIES(ExanetPCI, exanet),
};

static void *exanet_pci_state(Object *obj)
{
    return &EXANET_PCI(obj)->exanet;
}

static void exanet_pci_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = exanet_pci_realize;
    pc->exit = exanet_pci_exit;
    pc->vendor_id = EXANET_PCI_VENDOR_ID;
    pc->device_id = EXANET_PCI_DEVICE_ID;
    pc->class_id = EXANET_PCI_CLASS;
    rnic_pci_class_init(pc);
    dc->desc = "ExaNet RDMA NIC (not migratable)";
    device_class_set_legacy_reset(dc, exanet_pci_reset);
    device_class_set_props(dc, exanet_pci_properties);
    exanet_class_init(klass, exanet_pci_state);
}

static void exanet_pci_instance_finalize(Object *obj)
{
    exanet_instance_fini(&EXANET_PCI(obj)->exanet);
}

static const TypeInfo exanet_pci_type = {
    .name = TYPE_EXANET_PCI,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(ExanetPCI),
    .instance_init = rnic_pci_instance_init,
    .instance_finalize = exanet_pci_instance_finalize,
    .class_init = exanet_pci_class_init,
    .interfaces = RNIC_PCI_INTERFACES,
};

static void exanet_pci_register(void)
{
    type_register_static(&exanet_pci_type);
}

type_init(exanet_pci_register)
