/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses of a device to memory; see dma.h. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "dma.h"

/* The attribute "memory" makes the bus refuse an access to registers. */
static const MemTxAttrs dma_attrs = { .memory = true };

bool rnic_dma_read(const RNicHost *host, uint64_t addr, void *buf, size_t len)
{
    MemTxResult result = address_space_read(host->as, addr, dma_attrs, buf, len);

    /* The acquire barrier keeps later accesses behind this read. */
    smp_mb_acquire();
    return result == MEMTX_OK;
}

bool rnic_dma_write(const RNicHost *host, uint64_t addr, const void *buf, size_t len)
{
    /*
     * The release barrier makes earlier writes visible first, because the guest must not
     * see an index before the entry to which the index refers.
     */
    smp_mb_release();
    return address_space_write(host->as, addr, dma_attrs, buf, len) == MEMTX_OK;
}
