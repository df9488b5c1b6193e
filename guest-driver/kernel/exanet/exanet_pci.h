/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet on PCI Express.
 */
#ifndef EXANET_PCI_H
#define EXANET_PCI_H

/* Registers the PCI driver. Returns 0 or a negative errno. */
int exanet_pci_register(void);
void exanet_pci_unregister(void);

#endif /* EXANET_PCI_H */
