/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HW_EXANET_EXANET_FDT_H
#define HW_EXANET_EXANET_FDT_H

#include "hw/platform-bus.h"

/*
 * Adds a node of the device tree for @dev, an exanet-axi, to @fdt.  @parent is the path
 * of the tree's node of platform bus @bus, whose first interrupt is SPI @irq_start.
 * Always returns 0, as the machine's table of such functions requires.
 */
int exanet_fdt_node(void *fdt, const char *parent, PlatformBusDevice *bus,
                    int irq_start, SysBusDevice *dev);

#endif /* HW_EXANET_EXANET_FDT_H */
