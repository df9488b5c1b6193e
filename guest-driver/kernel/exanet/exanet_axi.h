/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet on AXI.
 */
#ifndef EXANET_AXI_H
#define EXANET_AXI_H

/* Registers the platform driver. Returns 0 or a negative errno. */
int exanet_axi_register(void);
void exanet_axi_unregister(void);

#endif /* EXANET_AXI_H */
