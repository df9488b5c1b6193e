/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC on PCIe: ids, BARs, properties, reset.  The device itself is in extoll.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "migration/vmstate.h"
#include "qom/object.h"
#include "../core/pci.h"
#include "extoll.h"
#include "migration.h"
#include "qom.h"

#define TYPE_EXTOLL_PCI "extoll-pci"
OBJECT_DECLARE_SIMPLE_TYPE(ExtollPCI, EXTOLL_PCI)

struct ExtollPCI {
    PCIDevice parent_obj;
    ExtollState extoll;
};

/* --- Life --------------------------------------------------------------------- */

static void extoll_pci_realize(PCIDevice *dev, Error **errp)
{
    ExtollPCI *pci = EXTOLL_PCI(dev);
    RNicHost host;

    if (!rnic_pci_realize(dev, EXTOLL_VECTORS, EXTOLL_BAR_MSIX, errp)) {
        return;
    }
    rnic_pci_host(dev, pci_get_address_space(dev), &host);
    host.line = NULL;               /* uses interrupt messages, and no interrupt wire */
    if (!extoll_init(&pci->extoll, &host, errp)) {
        rnic_pci_exit(dev);
        return;
    }
    pci_register_bar(dev, EXTOLL_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &pci->extoll.regs_mr);
}

static void extoll_pci_exit(PCIDevice *dev)
{
    ExtollPCI *pci = EXTOLL_PCI(dev);

    extoll_fini(&pci->extoll);
    rnic_pci_exit(dev);
}

static void extoll_pci_reset(DeviceState *dev)
{
    extoll_reset(&EXTOLL_PCI(dev)->extoll);
}

/* --- Type --------------------------------------------------------------------- */

static const Property extoll_pci_properties[] = {
    DEFINE_PROP_UINT8("node", ExtollPCI, extoll.node, 0),
    DEFINE_PROP_UINT8("epoch", ExtollPCI, extoll.epoch_first, 0),
    DEFINE_PROP_BOOL("strict", ExtollPCI, extoll.strict, false),
};

static const RNicText texts[] = {
    { "node", "Own number after a reset, 0 to 63; another in each node of a network" },
    { "epoch", "First epoch, 1 to 255, for repeatable tests; 0: by the time" },
    { "strict", "Only the functions of the document; no effect yet, because no other "
                "function exists" },
};

/* Resets the device, because registers that the stream lacks keep these values. */
static int extoll_pci_pre_load(void *opaque)
{
    ExtollPCI *pci = opaque;

    extoll_reset(&pci->extoll);
    return 0;
}

static const VMStateDescription extoll_pci_vmstate = {
    .name = "extoll",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = extoll_pci_pre_load,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, ExtollPCI),
        VMSTATE_MSIX(parent_obj, ExtollPCI),
        VMSTATE_STRUCT(extoll, ExtollPCI, 1, extoll_vmstate, ExtollState),
        VMSTATE_END_OF_LIST()
    },
};

static void *extoll_pci_state(Object *obj)
{
    return &EXTOLL_PCI(obj)->extoll;
}

static void extoll_pci_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = extoll_pci_realize;
    pc->exit = extoll_pci_exit;
    pc->vendor_id = EXTOLL_PCI_VENDOR_ID;
    pc->device_id = EXTOLL_PCI_DEVICE_ID;
    pc->class_id = EXTOLL_PCI_CLASS;
    rnic_pci_class_init(pc);
    dc->desc = "EXTOLL NIC (registers and self-test only)";
    dc->vmsd = &extoll_pci_vmstate;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    device_class_set_legacy_reset(dc, extoll_pci_reset);
    device_class_set_props(dc, extoll_pci_properties);
    rnic_class_describe(klass, texts, ARRAY_SIZE(texts));
    extoll_qom_class_init(klass, extoll_pci_state);
}

static const TypeInfo extoll_pci_type = {
    .name = TYPE_EXTOLL_PCI,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(ExtollPCI),
    .instance_init = rnic_pci_instance_init,
    .class_init = extoll_pci_class_init,
    .interfaces = RNIC_PCI_INTERFACES,
};

static void extoll_pci_register(void)
{
    type_register_static(&extoll_pci_type);
}

type_init(extoll_pci_register)
