/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device whose message-signalled interrupts look like stores of a CPU, because
 * their requester ID is 0: the device is 0.0 behind a bridge with secondary bus
 * number 0.  The device sends a message while the processor writes a register of the
 * device.
 */
#ifndef RNIC_MSI_SOURCE_H
#define RNIC_MSI_SOURCE_H

#include "libqos/pci.h"
#include "vcpu.h"

/*
 * Options of QEMU for bridge and device, on machine q35.  The bridge is a PCI Express
 * port, because any other bridge would send messages with its own requester ID.
 */
#define MSI_SOURCE_OPTIONS \
    " -netdev hubport,hubid=99,id=msi-wire " \
    "-device pcie-root-port,id=msi-bridge,chassis=99,addr=0x1e " \
    "-device exanet-pci,bus=msi-bridge,addr=0,coord=1,link0=msi-wire"

typedef struct MsiSource {
    QTestState *qts;
    uint64_t entry;                 /* address of the device's MSI-X table entry */
    uint64_t reg; /* address of the register whose store triggers a message */
} MsiSource;

/*
 * Sets up the bridge on @bus and the device behind the bridge.  The caller must call
 * this function before the processor runs, because the function sizes BARs.
 */
MsiSource msi_source_start(QPCIBus *bus);
/*
 * Makes each later message of the device, until the next call, store @data to guest
 * address @to.  The processor must run.  First asserts that the device sends a message
 * while the processor executes the store that triggers this message: if the message
 * stores to RAM, the next instruction must load the data of the message.
 */
void msi_source_aim(const MsiSource *s, uint64_t to, uint32_t data);
/* Emits code by which the processor triggers one message. */
void msi_source_emit(VcpuCode *code, const MsiSource *s);

#endif /* RNIC_MSI_SOURCE_H */
