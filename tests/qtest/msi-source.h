/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device whose message-signalled interrupts look like stores of a CPU: its requester ID
 * is 0, because it is device 0.0 behind a bridge whose secondary bus number is 0.  It
 * sends a message inside the write of a processor to one of its registers.
 */
#ifndef RNIC_MSI_SOURCE_H
#define RNIC_MSI_SOURCE_H

#include "libqos/pci.h"
#include "vcpu.h"

/*
 * Options of QEMU for bridge and device, on machine q35: a bridge that is no PCI Express
 * port would send messages with an ID of its own.
 */
#define MSI_SOURCE_OPTIONS \
    " -netdev hubport,hubid=99,id=msi-wire " \
    "-device pcie-root-port,id=msi-bridge,chassis=99,addr=0x1e " \
    "-device exanet-pci,bus=msi-bridge,addr=0,coord=1,link0=msi-wire"

/*
 * Sets up both on @bus; returns the address of the register.  Each message stores @data
 * to @to.  To be called before the processor runs, because BARs are sized.
 */
uint64_t msi_source_start(QPCIBus *bus, uint64_t to, uint32_t data);
/* The processor has one message sent; @reg: from msi_source_start(). */
void msi_source_emit(VcpuCode *code, uint64_t reg);

#endif /* RNIC_MSI_SOURCE_H */
