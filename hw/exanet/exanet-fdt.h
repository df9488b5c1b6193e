/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HW_EXANET_EXANET_FDT_H
#define HW_EXANET_EXANET_FDT_H

#include "hw/platform-bus.h"

/*
 * Adds a device-tree node for the exanet-axi @dev to @fdt.  @parent is the path of the
 * node of the platform bus @bus, whose first interrupt is SPI @irq_start.  Returns 0.
 */
int exanet_fdt_node(void *fdt, const char *parent, PlatformBusDevice *bus,
                    int irq_start, SysBusDevice *dev);

#endif /* HW_EXANET_EXANET_FDT_H */
