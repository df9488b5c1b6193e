/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: what every file asks of QEMU: memory of the guest, the log of its
 * mistakes, and the loop.
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
 * Memory only: a guest that aims the device at registers of any other one, which may
 * come back to it or reset it, gets a bus error.
 */
static const MemTxAttrs dma_attrs = { .memory = true };

bool pvrdma_dma_read(PvrdmaState *s, uint64_t addr, void *buf, size_t len)
{
    MemTxResult result = address_space_read(s->host.as, addr, dma_attrs, buf,
                                            len);

    /* what is read or written next is later than this */
    smp_mb_acquire();
    return result == MEMTX_OK;
}

bool pvrdma_dma_write(PvrdmaState *s, uint64_t addr, const void *buf, size_t len)
{
    /* an index is seen behind the entry that it tells of */
    smp_mb_release();
    return address_space_write(s->host.as, addr, dma_attrs, buf,
                               len) == MEMTX_OK;
}

void pvrdma_schedule(PvrdmaState *s)
{
    rnic_loop_schedule(&s->loop);
}
