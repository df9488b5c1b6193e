/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC on PCIe, function 1 beside vmxnet3: ids, BARs, MSI-X, reset.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "migration/vmstate.h"
#include "qom/object.h"
#include "../core/pci.h"
#include "../core/qom.h"
#include "migration.h"
#include "pvrdma.h"
#include "qom.h"

#define TYPE_PVRDMA "pvrdma"
OBJECT_DECLARE_SIMPLE_TYPE(PvrdmaPCI, PVRDMA)

#define TYPE_PAIRED "vmxnet3"

struct PvrdmaPCI {
    PCIDevice parent_obj;
    PvrdmaState pvrdma;
    char *roce;                         /* property: "v1" or "v2"; NULL: v2 */
};

/* --- Life --------------------------------------------------------------- */

/*
 * Returns the id of the netdev of the NIC at function 0; the driver pairs this NIC with
 * the device.  The caller frees the string.  Returns NULL with @errp set if function 0
 * does not exist or is not a vmxnet3, or if this vmxnet3 has no netdev.
 */
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
    RNicHost host;

    if (!netdev || !roce_check(pci, errp)) {
        return;
    }
    pci_config_set_interrupt_pin(dev->config, 1);
    if (!rnic_pci_realize(dev, PVRDMA_INTR_VECTORS, PVRDMA_BAR_MSIX, errp)) {
        return;
    }
    rnic_pci_host(dev, pci_get_address_space(dev), &host);
    if (!pvrdma_init(&pci->pvrdma, &host, netdev, errp)) {
        rnic_pci_exit(dev);
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
    rnic_pci_exit(dev);
}

static void pvrdma_pci_reset(DeviceState *dev)
{
    pvrdma_reset(&PVRDMA(dev)->pvrdma);
}

/* --- Type --------------------------------------------------------------- */

static const Property pvrdma_pci_properties[] = {
    DEFINE_PROP_UINT32("mtu", PvrdmaPCI, pvrdma.mtu, ROCE_MTU_MAX),
    DEFINE_PROP_UINT8("version", PvrdmaPCI, pvrdma.version, PVRDMA_VERSION),
    DEFINE_PROP_STRING("roce", PvrdmaPCI, roce),
    DEFINE_PROP_UINT32("ack-delay-us", PvrdmaPCI, pvrdma.ack_delay_us, 20),
    DEFINE_PROP_BOOL("dcqcn", PvrdmaPCI, pvrdma.dcqcn, false),
};

static const RNicText texts[] = {
    { "mtu", "Largest path MTU, advertised to the driver: 256, 512, 1024, 2048 or "
             "4096 bytes" },
    { "version", "Of the interface that the driver finds: 17 (RoCE v1), 18 (v2), "
                 "19 (64-bit page numbers) or 20 (handles of QPs)" },
    { "roce", "Frames and GIDs: v2 (UDP, the default) or v1 (EtherType 0x8915)" },
    { "ack-delay-us", "How long acknowledgements wait, in virtual time, for something "
                      "that is sent anyway; 0: not at all" },
    { "dcqcn", "Answer congestion marks by notifications, and slow down when they "
               "come" },
};

/* Resets the device, because the tables must be empty before the state is loaded. */
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

static void *pvrdma_pci_state(Object *obj)
{
    return &PVRDMA(obj)->pvrdma;
}

static void pvrdma_pci_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = pvrdma_pci_realize;
    pc->exit = pvrdma_pci_exit;
    pc->vendor_id = PVRDMA_PCI_VENDOR_ID;
    pc->device_id = PVRDMA_PCI_DEVICE_ID;
    pc->revision = PVRDMA_PCI_REVISION;
    pc->class_id = PVRDMA_PCI_CLASS;
    rnic_pci_class_init(pc);
    dc->desc = "Paravirtual RDMA NIC with RoCE, beside vmxnet3";
    dc->vmsd = &pvrdma_pci_vmstate;
    /*
     * The device cannot be hotplugged: function 0 of a slot must be plugged last, because
     * the guest then scans all functions, but pvrdma_pci_realize() needs function 0.
     */
    dc->hotpluggable = false;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    device_class_set_legacy_reset(dc, pvrdma_pci_reset);
    device_class_set_props(dc, pvrdma_pci_properties);
    rnic_class_describe(klass, texts, ARRAY_SIZE(texts));
    pvrdma_qom_class_init(klass, pvrdma_pci_state);
}

static const TypeInfo pvrdma_pci_type = {
    .name = TYPE_PVRDMA,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(PvrdmaPCI),
    .instance_init = rnic_pci_instance_init,
    .class_init = pvrdma_pci_class_init,
    .interfaces = RNIC_PCI_INTERFACES,
};

static void pvrdma_pci_register(void)
{
    type_register_static(&pvrdma_pci_type);
}

type_init(pvrdma_pci_register)
