/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses of a device to memory at addresses of its bus.
 */
#ifndef RNIC_CORE_DMA_H
#define RNIC_CORE_DMA_H

#include "host.h"

/*
 * Copy @len bytes between @buf and memory at address @addr of RNicHost.as.  Return false
 * if the bus refused an access, or if there is no memory; then a part of the bytes may
 * have been copied.  The functions never access registers, because the registers of
 * another device could make that device access or reset this device.
 */
bool rnic_dma_read(const RNicHost *host, uint64_t addr, void *buf, size_t len);
bool rnic_dma_write(const RNicHost *host, uint64_t addr, const void *buf, size_t len);

#endif /* RNIC_CORE_DMA_H */
