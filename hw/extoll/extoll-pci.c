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
    pci_register_bar(dev, EXTOLL_BAR_VELO, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
                     &pci->extoll.velo_mr);
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

static void extoll_pci_instance_finalize(Object *obj)
{
    extoll_instance_fini(&EXTOLL_PCI(obj)->extoll);
}

/* --- Type --------------------------------------------------------------------- */

static const Property extoll_pci_properties[] = {
    DEFINE_PROP_UINT8("node", ExtollPCI, extoll.node, 0),
    DEFINE_PROP_UINT8("epoch", ExtollPCI, extoll.epoch_first, 0),
    DEFINE_PROP_BOOL("strict", ExtollPCI, extoll.strict, false),
    DEFINE_PROP_NETDEV("link0", ExtollPCI, extoll.port[0].conf.peers),
    DEFINE_PROP_NETDEV("link1", ExtollPCI, extoll.port[1].conf.peers),
    DEFINE_PROP_NETDEV("link2", ExtollPCI, extoll.port[2].conf.peers),
    DEFINE_PROP_NETDEV("link3", ExtollPCI, extoll.port[3].conf.peers),
    DEFINE_PROP_NETDEV("link4", ExtollPCI, extoll.port[4].conf.peers),
    DEFINE_PROP_NETDEV("link5", ExtollPCI, extoll.port[5].conf.peers),
    DEFINE_PROP_UINT32("peer0", ExtollPCI, extoll.port[0].peer_named, RNIC_PEER_ANY),
    DEFINE_PROP_UINT32("peer1", ExtollPCI, extoll.port[1].peer_named, RNIC_PEER_ANY),
    DEFINE_PROP_UINT32("peer2", ExtollPCI, extoll.port[2].peer_named, RNIC_PEER_ANY),
    DEFINE_PROP_UINT32("peer3", ExtollPCI, extoll.port[3].peer_named, RNIC_PEER_ANY),
    DEFINE_PROP_UINT32("peer4", ExtollPCI, extoll.port[4].peer_named, RNIC_PEER_ANY),
    DEFINE_PROP_UINT32("peer5", ExtollPCI, extoll.port[5].peer_named, RNIC_PEER_ANY),
    DEFINE_PROP_UINT32("rx-flits", ExtollPCI, extoll.rx_flits, EXTOLL_ROOM_DEFAULT),
    DEFINE_PROP_UINT32("link-rate-kbps", ExtollPCI, extoll.link_rate_kbps, 0),
    DEFINE_PROP_UINT32("link-latency-ns", ExtollPCI, extoll.link_latency_ns, 0),
    DEFINE_PROP_UINT32("link-timeout-ms", ExtollPCI, extoll.link_timeout_ms, 5000),
    DEFINE_PROP_UINT32("link-stall-ms", ExtollPCI, extoll.link_stall_ms, 1000),
    DEFINE_PROP_UINT32("split", ExtollPCI, extoll.split, 0),
    DEFINE_PROP_UINT32("cfcq-timeout-ms", ExtollPCI, extoll.cfcq_timeout_ms, 5000),
};

#define LINK_TEXT "Netdev that is a cable to a neighbour"
#define PEER_TEXT "Number of the only neighbour of linkN; needed for several links to it"

static const RNicText texts[] = {
    { "node", "Own number after a reset, 0 to 63; another in each node of a network" },
    { "epoch", "First epoch, 1 to 255, for repeatable tests; 0: by the time" },
    { "strict", "Only the functions of the document: no protection ids, no transactional "
                "stores" },
    { "link0", LINK_TEXT }, { "link1", LINK_TEXT }, { "link2", LINK_TEXT },
    { "link3", LINK_TEXT }, { "link4", LINK_TEXT }, { "link5", LINK_TEXT },
    { "peer0", PEER_TEXT }, { "peer1", PEER_TEXT }, { "peer2", PEER_TEXT },
    { "peer3", PEER_TEXT }, { "peer4", PEER_TEXT }, { "peer5", PEER_TEXT },
    { "rx-flits", "Flits of 128 B that each virtual channel of a link can hold, 40 to "
                  "16384" },
    { "link-rate-kbps", "PORT_RATE of all links after reset: kb/s in virtual time; 0: as "
                        "fast as it can" },
    { "link-latency-ns", "PORT_LATENCY of all links after reset: ns of virtual time that "
                         "a frame needs" },
    { "link-timeout-ms", "A link is down after so long without a frame of the peer; 0: "
                         "never" },
    { "link-stall-ms", "Packets for a link that takes none for so long are dropped; 0: "
                       "never" },
    { "split", "Each N-th message leaves in two parts, as on a bus that splits writes; "
               "0: none" },
    { "cfcq-timeout-ms", "A store that finds its FIFO full waits at most so long, in "
                         "real time, and is dropped then" },
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
    .version_id = 3,
    .minimum_version_id = 3,
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
    dc->desc = "EXTOLL NIC (messages only)";
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
    .instance_finalize = extoll_pci_instance_finalize,
    .class_init = extoll_pci_class_init,
    .interfaces = RNIC_PCI_INTERFACES,
};

static void extoll_pci_register(void)
{
    type_register_static(&extoll_pci_type);
}

type_init(extoll_pci_register)
