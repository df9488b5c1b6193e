/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HW_EXANET_EXANET_FDT_H
#define HW_EXANET_EXANET_FDT_H

#include "hw/platform-bus.h"

/*
 * Adds a node for @dev, an exanet-axi, to the device tree @fdt.  @parent is the path of
 * the node of platform bus @bus in @fdt.  The first interrupt of @bus is the shared
 * peripheral interrupt (SPI) @irq_start.  Returns 0 (success), because QEMU's table of
 * such functions requires a result.
 */
int exanet_fdt_node(void *fdt, const char *parent, PlatformBusDevice *bus,
                    int irq_start, SysBusDevice *dev);

#endif /* HW_EXANET_EXANET_FDT_H */
