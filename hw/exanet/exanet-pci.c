/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC on PCIe: ids, BARs, MSI-X, reset.  Everything else is in exanet.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "hw/pci/pcie.h"
#include "qom/object.h"
#include "class.h"
#include "exanet.h"

#define TYPE_EXANET_PCI "exanet-pci"
OBJECT_DECLARE_SIMPLE_TYPE(ExanetPCI, EXANET_PCI)

#define EXANET_PCIE_CAP 0xa0

struct ExanetPCI {
    PCIDevice parent_obj;
    ExanetState exanet;
};

static void exanet_pci_irq(void *opaque, unsigned vector)
{
    msix_notify(opaque, vector);
}

static bool exanet_pci_msix_init(PCIDevice *dev, Error **errp)
{
    if (msix_init_exclusive_bar(dev, EXANET_VECTORS, EXANET_BAR_MSIX,
                                errp) < 0) {
        return false;
    }
    for (unsigned v = 0; v < EXANET_VECTORS; v++) {
        msix_vector_use(dev, v);
    }
    return true;
}

static void exanet_pci_realize(PCIDevice *dev, Error **errp)
{
    ExanetPCI *pci = EXANET_PCI(dev);
    ExanetHost host = {
        .dev = DEVICE(dev),
        .as = &address_space_memory,
        .irq = exanet_pci_irq,
        .opaque = dev,
    };

    if (pci_bus_is_express(pci_get_bus(dev))) {
        if (pcie_endpoint_cap_init(dev, EXANET_PCIE_CAP) < 0) {
            error_setg(errp, "no room for the PCI Express capability");
            return;
        }
        pcie_cap_flr_init(dev);
    }
    if (!exanet_pci_msix_init(dev, errp)) {
        return;
    }
    if (!exanet_init(&pci->exanet, &host, errp)) {
        msix_uninit_exclusive_bar(dev);
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
    msix_uninit_exclusive_bar(dev);
    if (pci_bus_is_express(pci_get_bus(dev))) {
        pcie_cap_exit(dev);
    }
}

static void exanet_pci_reset(DeviceState *dev)
{
    exanet_reset(&EXANET_PCI(dev)->exanet);
}

static void exanet_pci_config_write(PCIDevice *dev, uint32_t addr,
                                    uint32_t value, int len)
{
    pci_default_write_config(dev, addr, value, len);
    if (pci_bus_is_express(pci_get_bus(dev))) {
        pcie_cap_flr_write_config(dev, addr, value, len);
    }
}

static const Property exanet_pci_properties[] = {
    EXANET_PROPERTIES(ExanetPCI, exanet),
};

static ExanetState *exanet_pci_state(Object *obj)
{
    return &EXANET_PCI(obj)->exanet;
}

static void exanet_pci_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = exanet_pci_realize;
    pc->exit = exanet_pci_exit;
    pc->config_write = exanet_pci_config_write;
    pc->vendor_id = EXANET_PCI_VENDOR_ID;
    pc->device_id = EXANET_PCI_DEVICE_ID;
    pc->class_id = EXANET_PCI_CLASS;
    dc->desc = "ExaNet RDMA NIC (not migratable)";
    device_class_set_legacy_reset(dc, exanet_pci_reset);
    device_class_set_props(dc, exanet_pci_properties);
    exanet_class_init(klass, exanet_pci_state);
}

static void exanet_pci_instance_init(Object *obj)
{
    /* room for the capability, which needs an express bus to be used */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}

static void exanet_pci_instance_finalize(Object *obj)
{
    exanet_instance_fini(&EXANET_PCI(obj)->exanet);
}

static const TypeInfo exanet_pci_type = {
    .name = TYPE_EXANET_PCI,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(ExanetPCI),
    .instance_init = exanet_pci_instance_init,
    .instance_finalize = exanet_pci_instance_finalize,
    .class_init = exanet_pci_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { INTERFACE_CONVENTIONAL_PCI_DEVICE },
        { }
    },
};

static void exanet_pci_register(void)
{
    type_register_static(&exanet_pci_type);
}

type_init(exanet_pci_register)
