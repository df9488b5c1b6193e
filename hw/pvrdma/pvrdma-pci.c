/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC on PCIe, function 1 beside vmxnet3: ids, BARs, MSI-X, reset.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "hw/pci/pcie.h"
#include "migration/vmstate.h"
#include "qom/object.h"
#include "../core/counters.h"
#include "migration.h"
#include "pvrdma.h"

#define TYPE_PVRDMA "pvrdma"
OBJECT_DECLARE_SIMPLE_TYPE(PvrdmaPCI, PVRDMA)

#define TYPE_PAIRED "vmxnet3"
#define PVRDMA_PCIE_CAP 0xa0

struct PvrdmaPCI {
    PCIDevice parent_obj;
    PvrdmaState pvrdma;
    char *roce;                         /* property */
};

/* --- Interrupts --------------------------------------------------------- */

static bool pvrdma_pci_messages(void *opaque)
{
    return msix_enabled(opaque);
}

static void pvrdma_pci_irq(void *opaque, unsigned vector)
{
    msix_notify(opaque, vector);
}

static void pvrdma_pci_line(void *opaque, bool level)
{
    pci_set_irq(opaque, level);
}

static bool pvrdma_pci_msix_init(PCIDevice *dev, Error **errp)
{
    if (msix_init_exclusive_bar(dev, PVRDMA_INTR_VECTORS, PVRDMA_BAR_MSIX,
                                errp) < 0) {
        return false;
    }
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        msix_vector_use(dev, v);
    }
    return true;
}

/* --- Life --------------------------------------------------------------- */

/* The netdev of the NIC at function 0, where the driver looks for it; to be freed. */
static char *paired_netdev(PCIDevice *dev, Error **errp)
{
    PCIBus *bus = pci_get_bus(dev);
    PCIDevice *nic = pci_find_device(bus, pci_bus_num(bus),
                                     PCI_DEVFN(PCI_SLOT(dev->devfn), 0));
    char *netdev;

    if (!nic || nic == dev || !object_dynamic_cast(OBJECT(nic), TYPE_PAIRED)) {
        error_setg(errp, "pvrdma must be function 1 of a slot whose function 0 is "
                   "a " TYPE_PAIRED ": -device " TYPE_PAIRED ",netdev=ID,addr=5.0,"
                   "multifunction=on -device pvrdma,addr=5.1");
        return NULL;
    }
    netdev = object_property_get_str(OBJECT(nic), "netdev", errp);
    if (netdev && !*netdev) {
        error_setg(errp, "the " TYPE_PAIRED " at function 0 has no netdev, whose "
                   "wire pvrdma would use");
        g_clear_pointer(&netdev, g_free);
    }
    return netdev;
}

static bool roce_check(PvrdmaPCI *pci, Error **errp)
{
    pci->pvrdma.roce_v1 = !g_strcmp0(pci->roce, "v1");
    if (pci->roce && !pci->pvrdma.roce_v1 && strcmp(pci->roce, "v2")) {
        error_setg(errp, "property 'roce' must be v1 or v2");
        return false;
    }
    return true;
}

static void pvrdma_pci_realize(PCIDevice *dev, Error **errp)
{
    PvrdmaPCI *pci = PVRDMA(dev);
    g_autofree char *netdev = paired_netdev(dev, errp);
    PvrdmaHost host = {
        .dev = DEVICE(dev),
        .as = pci_get_address_space(dev),
        .messages = pvrdma_pci_messages,
        .irq = pvrdma_pci_irq,
        .line = pvrdma_pci_line,
        .opaque = dev,
        .netdev = netdev,
    };

    if (!netdev || !roce_check(pci, errp)) {
        return;
    }
    if (pci_bus_is_express(pci_get_bus(dev))) {
        if (pcie_endpoint_cap_init(dev, PVRDMA_PCIE_CAP) < 0) {
            error_setg(errp, "no room for the PCI Express capability");
            return;
        }
        pcie_cap_flr_init(dev);
    }
    pci_config_set_interrupt_pin(dev->config, 1);
    if (!pvrdma_pci_msix_init(dev, errp)) {
        return;
    }
    if (!pvrdma_init(&pci->pvrdma, &host, errp)) {
        msix_uninit_exclusive_bar(dev);
        return;
    }
    pci_register_bar(dev, PVRDMA_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &pci->pvrdma.regs_mr);
    pci_register_bar(dev, PVRDMA_BAR_UAR, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &pci->pvrdma.uar_mr);
}

static void pvrdma_pci_exit(PCIDevice *dev)
{
    PvrdmaPCI *pci = PVRDMA(dev);

    pvrdma_fini(&pci->pvrdma);
    msix_uninit_exclusive_bar(dev);
    if (pci_bus_is_express(pci_get_bus(dev))) {
        pcie_cap_exit(dev);
    }
}

static void pvrdma_pci_reset(DeviceState *dev)
{
    pvrdma_reset(&PVRDMA(dev)->pvrdma);
}

static void pvrdma_pci_config_write(PCIDevice *dev, uint32_t addr,
                                    uint32_t value, int len)
{
    pci_default_write_config(dev, addr, value, len);
    if (pci_bus_is_express(pci_get_bus(dev))) {
        pcie_cap_flr_write_config(dev, addr, value, len);
    }
}

/* --- Type --------------------------------------------------------------- */

static const Property pvrdma_pci_properties[] = {
    DEFINE_PROP_UINT32("mtu", PvrdmaPCI, pvrdma.mtu, ROCE_MTU_MAX),
    DEFINE_PROP_UINT8("version", PvrdmaPCI, pvrdma.version, PVRDMA_VERSION),
    DEFINE_PROP_STRING("roce", PvrdmaPCI, roce),
    DEFINE_PROP_UINT32("ack-delay-us", PvrdmaPCI, pvrdma.ack_delay_us, 20),
    DEFINE_PROP_BOOL("dcqcn", PvrdmaPCI, pvrdma.dcqcn, false),
};

static const struct {
    const char *name;
    const char *text;
} descriptions[] = {
    { "mtu", "Largest path MTU, which the driver is told: 256, 512, 1024, 2048 or "
             "4096 bytes" },
    { "version", "Of the interface that the driver finds: 17 (RoCE v1), 18 (v2), "
                 "19 (64-bit page numbers) or 20 (handles of QPs)" },
    { "roce", "Frames and GIDs: v2 (UDP, the default) or v1 (EtherType 0x8915)" },
    { "ack-delay-us", "How long acknowledgements wait, in virtual time, for something "
                      "that is sent anyway; 0: not at all" },
    { "dcqcn", "Answer congestion marks by notifications, and slow down when they "
               "come" },
};

/* All that was there goes, before anything of what comes. */
static int pvrdma_pci_pre_load(void *opaque)
{
    PvrdmaPCI *pci = opaque;

    pvrdma_reset(&pci->pvrdma);
    return 0;
}

static const VMStateDescription pvrdma_pci_vmstate = {
    .name = "pvrdma",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = pvrdma_pci_pre_load,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, PvrdmaPCI),
        VMSTATE_MSIX(parent_obj, PvrdmaPCI),
        VMSTATE_STRUCT(pvrdma, PvrdmaPCI, 1, pvrdma_vmstate, PvrdmaState),
        VMSTATE_END_OF_LIST()
    },
};

static void pvrdma_pci_counters(Object *obj, Visitor *v, const char *name,
                                void *opaque, Error **errp)
{
    static const char *const names[] = { PVRDMA_COUNTERS(RNIC_COUNTER_NAME) };
    QObject *value = QOBJECT(rnic_counters_dict(names, PVRDMA(obj)->pvrdma.counter,
                                                ARRAY_SIZE(names)));

    visit_type_any(v, name, &value, errp);
    qobject_unref(value);
}

static void pvrdma_pci_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = pvrdma_pci_realize;
    pc->exit = pvrdma_pci_exit;
    pc->config_write = pvrdma_pci_config_write;
    pc->vendor_id = PVRDMA_PCI_VENDOR_ID;
    pc->device_id = PVRDMA_PCI_DEVICE_ID;
    pc->revision = PVRDMA_PCI_REVISION;
    pc->class_id = PVRDMA_PCI_CLASS;
    dc->desc = "Paravirtual RDMA NIC with RoCE, beside vmxnet3";
    dc->vmsd = &pvrdma_pci_vmstate;
    /* guests see functions when function 0 comes, and that must be there before */
    dc->hotpluggable = false;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    device_class_set_legacy_reset(dc, pvrdma_pci_reset);
    device_class_set_props(dc, pvrdma_pci_properties);
    for (unsigned i = 0; i < ARRAY_SIZE(descriptions); i++) {
        object_class_property_set_description(klass, descriptions[i].name,
                                              descriptions[i].text);
    }
    object_class_property_add(klass, "counters", "any", pvrdma_pci_counters, NULL,
                              NULL, NULL);
    object_class_property_set_description(klass, "counters",
                                          "All counters of the device");
}

static void pvrdma_pci_instance_init(Object *obj)
{
    /* room for the capability, which needs an express bus to be used */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}

static const TypeInfo pvrdma_pci_type = {
    .name = TYPE_PVRDMA,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(PvrdmaPCI),
    .instance_init = pvrdma_pci_instance_init,
    .class_init = pvrdma_pci_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { INTERFACE_CONVENTIONAL_PCI_DEVICE },
        { }
    },
};

static void pvrdma_pci_register(void)
{
    type_register_static(&pvrdma_pci_type);
}

type_init(pvrdma_pci_register)
