/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device-tree node of exanet-axi on a platform bus, for machines that generate their
 * device tree.
 */
#include "qemu/osdep.h"
#include "system/device_tree.h"
#include "exanet-fdt.h"
#include "rnic/exanet/regs.h"

#define GIC_FDT_IRQ_TYPE_SPI 0
#define GIC_FDT_IRQ_FLAGS_LEVEL_HI 4

int exanet_fdt_node(void *fdt, const char *parent, PlatformBusDevice *bus,
                    int irq_start, SysBusDevice *dev)
{
    uint32_t reg[2 * EXANET_AXI_REGIONS];
    uint32_t irq[3 * EXANET_IRQ_LINES];
    g_autofree char *node = NULL;

    for (unsigned i = 0; i < EXANET_AXI_REGIONS; i++) {
        MemoryRegion *mr = sysbus_mmio_get_region(dev, i);

        reg[2 * i] = cpu_to_be32(platform_bus_get_mmio_addr(bus, dev, i));
        reg[2 * i + 1] = cpu_to_be32(memory_region_size(mr));
    }
    for (unsigned i = 0; i < EXANET_IRQ_LINES; i++) {
        irq[3 * i] = cpu_to_be32(GIC_FDT_IRQ_TYPE_SPI);
        irq[3 * i + 1] = cpu_to_be32(platform_bus_get_irqn(bus, dev, i) +
                                     irq_start);
        irq[3 * i + 2] = cpu_to_be32(GIC_FDT_IRQ_FLAGS_LEVEL_HI);
    }
    node = g_strdup_printf("%s/exanet@%x", parent, be32_to_cpu(reg[0]));
    qemu_fdt_add_subnode(fdt, node);
    qemu_fdt_setprop_string(fdt, node, "compatible", EXANET_AXI_COMPATIBLE);
    qemu_fdt_setprop(fdt, node, "reg", reg, sizeof(reg));
    qemu_fdt_setprop(fdt, node, "interrupts", irq, sizeof(irq));
    /* the device reads page tables and memory coherently with the caches of the CPUs */
    qemu_fdt_setprop(fdt, node, "dma-coherent", NULL, 0);
    return 0;
}
