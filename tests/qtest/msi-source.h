/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device with message-signalled interrupts that look like stores of a CPU.  Its
 * requester ID is 0, because it is device 0.0 behind a bridge with secondary bus number
 * 0.  The device sends a message while the processor writes one of its registers.
 */
#ifndef RNIC_MSI_SOURCE_H
#define RNIC_MSI_SOURCE_H

#include "libqos/pci.h"
#include "vcpu.h"

/*
 * Options of QEMU for bridge and device, on machine q35.  The bridge is a PCI Express
 * port, because any other bridge would send messages with its own ID.
 */
#define MSI_SOURCE_OPTIONS \
    " -netdev hubport,hubid=99,id=msi-wire " \
    "-device pcie-root-port,id=msi-bridge,chassis=99,addr=0x1e " \
    "-device exanet-pci,bus=msi-bridge,addr=0,coord=1,link0=msi-wire"

/*
 * Sets up bridge and device on @bus; returns the address of the register.  Each message
 * stores @data to @to.  The caller must call this function before the processor runs,
 * because it sizes BARs.
 */
uint64_t msi_source_start(QPCIBus *bus, uint64_t to, uint32_t data);
/*
 * Emits code by which the processor triggers one message; @reg is the result of
 * msi_source_start().
 */
void msi_source_emit(VcpuCode *code, uint64_t reg);

#endif /* RNIC_MSI_SOURCE_H */
