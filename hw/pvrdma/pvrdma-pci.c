/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC on PCIe, function 1 beside vmxnet3: ids, BARs, MSI-X, reset.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "qom/object.h"
#include "pvrdma.h"
