/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC on AXI, as a sysbus device: three memory regions and two interrupt lines.
 * The device itself is in exanet.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/irq.h"
#include "hw/sysbus.h"
#include "qom/object.h"
#include "class.h"
#include "exanet.h"

#define TYPE_EXANET_AXI "exanet-axi"
OBJECT_DECLARE_SIMPLE_TYPE(ExanetAXI, EXANET_AXI)

struct ExanetAXI {
    SysBusDevice parent_obj;
    ExanetState exanet;
    qemu_irq irq[EXANET_IRQ_LINES];
};

static void exanet_axi_line(void *opaque, unsigned line, bool level)
{
    qemu_set_irq(EXANET_AXI(opaque)->irq[line], level);
}

static void exanet_axi_realize(DeviceState *dev, Error **errp)
{
    ExanetAXI *axi = EXANET_AXI(dev);
    SysBusDevice *sbd = SYS_BUS_DEVICE(dev);
    RNicHost host = {
        .dev = dev,
        .as = &address_space_memory,
        .line = exanet_axi_line,
        .opaque = dev,
    };

    if (!exanet_init(&axi->exanet, &host, errp)) {
        return;
    }
    sysbus_init_mmio(sbd, &axi->exanet.regs_mr);
    sysbus_init_mmio(sbd, &axi->exanet.user_mr);
    sysbus_init_mmio(sbd, &axi->exanet.aperture_mr);
    for (unsigned i = 0; i < EXANET_IRQ_LINES; i++) {
        sysbus_init_irq(sbd, &axi->irq[i]);
    }
}

static void exanet_axi_unrealize(DeviceState *dev)
{
    exanet_fini(&EXANET_AXI(dev)->exanet);
}

static void exanet_axi_reset(DeviceState *dev)
{
    exanet_reset(&EXANET_AXI(dev)->exanet);
}

static const Property exanet_axi_properties[] = {
    EXANET_PROPERTIES(ExanetAXI, exanet),
};

static void *exanet_axi_state(Object *obj)
{
    return &EXANET_AXI(obj)->exanet;
}

static void exanet_axi_class_init(ObjectClass *klass, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->desc = "ExaNet RDMA NIC on AXI (not migratable)";
    dc->realize = exanet_axi_realize;
    dc->unrealize = exanet_axi_unrealize;
    /*
     * `-device exanet-axi` works only on machines that allow this dynamic sysbus device
     */
    dc->user_creatable = true;
    device_class_set_legacy_reset(dc, exanet_axi_reset);
    device_class_set_props(dc, exanet_axi_properties);
    exanet_class_init(klass, exanet_axi_state);
}

static void exanet_axi_instance_finalize(Object *obj)
{
    exanet_instance_fini(&EXANET_AXI(obj)->exanet);
}

static const TypeInfo exanet_axi_type = {
    .name = TYPE_EXANET_AXI,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(ExanetAXI),
    .instance_finalize = exanet_axi_instance_finalize,
    .class_init = exanet_axi_class_init,
};

static void exanet_axi_register(void)
{
    type_register_static(&exanet_axi_type);
}

type_init(exanet_axi_register)
