/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PCI device of the family: a function with one BAR. */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qom/object.h"
#include "rnic/dummy/regs.h"
#include "../core/pci.h"
#include "dummy.h"

#define TYPE_DUMMY "dummy"
OBJECT_DECLARE_SIMPLE_TYPE(DummyPCI, DUMMY)

struct DummyPCI {
    PCIDevice parent_obj;
    DummyState dummy;
};

static void dummy_pci_realize(PCIDevice *dev, Error **errp)
{
    DummyState *s = &DUMMY(dev)->dummy;

    dummy_init(s, DEVICE(dev));
    pci_register_bar(dev, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->regs);
}

static void dummy_pci_reset(DeviceState *dev)
{
    dummy_reset(&DUMMY(dev)->dummy);
}

static void dummy_pci_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = dummy_pci_realize;
    pc->vendor_id = DUMMY_PCI_VENDOR_ID;
    pc->device_id = DUMMY_PCI_DEVICE_ID;
    pc->class_id = PCI_CLASS_NETWORK_OTHER;
    dc->desc = "Dummy NIC";
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    device_class_set_legacy_reset(dc, dummy_pci_reset);
}

static const TypeInfo dummy_pci_type = {
    .name = TYPE_DUMMY,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(DummyPCI),
    .instance_init = rnic_pci_instance_init,
    .class_init = dummy_pci_class_init,
    .interfaces = RNIC_PCI_INTERFACES,
};

static void dummy_pci_register(void)
{
    type_register_static(&dummy_pci_type);
}

type_init(dummy_pci_register)
