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
#include "migration/vmstate.h"
#include "qom/object.h"
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
    DEFINE_PROP_UINT32("coord", ExanetPCI, exanet.coord, 0),
    DEFINE_PROP_STRING("dims", ExanetPCI, exanet.dims),
    DEFINE_PROP_NETDEV("link0", ExanetPCI, exanet.port[0].conf.peers),
    DEFINE_PROP_NETDEV("link1", ExanetPCI, exanet.port[1].conf.peers),
    DEFINE_PROP_NETDEV("link2", ExanetPCI, exanet.port[2].conf.peers),
    DEFINE_PROP_NETDEV("link3", ExanetPCI, exanet.port[3].conf.peers),
    DEFINE_PROP_NETDEV("link4", ExanetPCI, exanet.port[4].conf.peers),
    DEFINE_PROP_NETDEV("link5", ExanetPCI, exanet.port[5].conf.peers),
    DEFINE_PROP_NETDEV("link6", ExanetPCI, exanet.port[6].conf.peers),
    DEFINE_PROP_NETDEV("link7", ExanetPCI, exanet.port[7].conf.peers),
    DEFINE_PROP_NETDEV("link8", ExanetPCI, exanet.port[8].conf.peers),
    DEFINE_PROP_NETDEV("link9", ExanetPCI, exanet.port[9].conf.peers),
    DEFINE_PROP_NETDEV("link10", ExanetPCI, exanet.port[10].conf.peers),
    DEFINE_PROP_NETDEV("link11", ExanetPCI, exanet.port[11].conf.peers),
    DEFINE_PROP_UINT32("ways", ExanetPCI, exanet.receiver.ways, EXANET_RX_WAYS),
    DEFINE_PROP_UINT32("rx-fifo-words", ExanetPCI, exanet.rx_fifo_words, 16384),
    DEFINE_PROP_UINT32("link-timeout-ms", ExanetPCI, exanet.link_timeout_ms,
                       5000),
    DEFINE_PROP_UINT32("link-stall-ms", ExanetPCI, exanet.link_stall_ms, 1000),
    DEFINE_PROP_UINT32("link-rate-kbps", ExanetPCI, exanet.link_rate_kbps, 0),
    DEFINE_PROP_UINT32("link-latency-ns", ExanetPCI, exanet.link_latency_ns, 0),
    DEFINE_PROP_UINT32("tlb-entries", ExanetPCI, exanet.tlb_entries, 4096),
    DEFINE_PROP_UINT8("user-page-shift", ExanetPCI, exanet.user_page_shift, 12),
    DEFINE_PROP_UINT8("epoch", ExanetPCI, exanet.epoch_fixed, 0),
};

static const struct {
    const char *name;
    const char *text;
} exanet_pci_descriptions[] = {
    { "coord", "Own coordinates, 22 bits: upper 21:14, offset 13:12, Z 11:8, "
               "Y 7:4, X 3:0; unlike the peer's" },
    { "dims", "Nodes in the rings of the torus, as 4x4 or 4x2x3 for X, Y and Z; 1: "
              "no ring; the same in all nodes" },
    { "ways", "Ways of the receiver's context sets: 1, 2, 4, 8 or 16" },
    { "rx-fifo-words", "128-bit words of a link's receive FIFO, 256 (as in "
                       "hardware) to 65535" },
    { "link-stall-ms", "Packets for a peer that takes none for so long are "
                       "dropped; 0: never" },
    { "link-timeout-ms", "The link is down after so long without a frame of "
                         "the peer; 0: never" },
    { "link-rate-kbps", "PORT_RATE of all links after reset: kb/s of 128-bit "
                        "words in virtual time; 0: as fast as it can" },
    { "link-latency-ns", "PORT_LATENCY of all links after reset: ns of virtual "
                         "time that a frame is under way" },
    { "tlb-entries", "Cached translations of 4-KB pages, a power of two from 16 "
                     "to 65536" },
    { "user-page-shift", "log2 of the guest's page size: 12 or 16" },
    { "epoch", "First epoch, 1 to 255, for repeatable tests; 0: by the time" },
};

static const VMStateDescription exanet_pci_vmstate = {
    .name = TYPE_EXANET_PCI,
    .unmigratable = 1,
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
    dc->vmsd = &exanet_pci_vmstate;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    device_class_set_legacy_reset(dc, exanet_pci_reset);
    device_class_set_props(dc, exanet_pci_properties);
    for (unsigned i = 0; i < ARRAY_SIZE(exanet_pci_descriptions); i++) {
        object_class_property_set_description(klass,
            exanet_pci_descriptions[i].name, exanet_pci_descriptions[i].text);
    }
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        g_autofree char *name = g_strdup_printf("link%u", i);

        object_class_property_set_description(klass, name,
            "Netdev that is a cable to a neighbour; at least one is needed");
    }
    exanet_qom_class_init(klass, exanet_pci_state);
}

static void exanet_pci_instance_init(Object *obj)
{
    /* room for the capability, which needs an express bus to be used */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}

static void exanet_pci_instance_finalize(Object *obj)
{
    /* these can be set before the device is built, and when that failed */
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        exanet_inject_fini(&EXANET_PCI(obj)->exanet.port[i]);
    }
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
