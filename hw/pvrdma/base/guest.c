/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: guest memory, the log of guest errors, and the loop.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "guest.h"
#include "../pvrdma.h"

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    va_list args;

    pvrdma_count(s, PVRDMA_CNT_GUEST_ERROR);
    if (qemu_loglevel_mask(LOG_GUEST_ERROR)) {
        g_autofree char *text = NULL;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        qemu_log("pvrdma: %s\n", text);
    }
}

/*
 * Memory only.  An access to the registers of another device gets a bus error, because
 * that device could access or reset this one.
 */
static const MemTxAttrs dma_attrs = { .memory = true };

bool pvrdma_dma_read(PvrdmaState *s, uint64_t addr, void *buf, size_t len)
{
    MemTxResult result = address_space_read(s->host.as, addr, dma_attrs, buf,
                                            len);

    /* the acquire barrier keeps later accesses behind this read */
    smp_mb_acquire();
    return result == MEMTX_OK;
}

bool pvrdma_dma_write(PvrdmaState *s, uint64_t addr, const void *buf, size_t len)
{
    /*
     * the release barrier lets the guest see an entry before the index that announces
     * it
     */
    smp_mb_release();
    return address_space_write(s->host.as, addr, dma_attrs, buf,
                               len) == MEMTX_OK;
}

void pvrdma_schedule(PvrdmaState *s)
{
    rnic_loop_schedule(&s->loop);
}
