/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: registers, shared region, reset, and the loop that runs the queue pairs.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

bool pvrdma_init(PvrdmaState *s, const PvrdmaHost *host, Error **errp)
{
    return false;
}

void pvrdma_fini(PvrdmaState *s)
{
}

void pvrdma_reset(PvrdmaState *s)
{
}

void pvrdma_schedule(PvrdmaState *s)
{
}

void pvrdma_qp_activate(PvrdmaQp *qp)
{
}

void pvrdma_run_now(PvrdmaState *s)
{
}

bool pvrdma_dma_read(PvrdmaState *s, uint64_t addr, void *buf, size_t len)
{
    return false;
}

bool pvrdma_dma_write(PvrdmaState *s, uint64_t addr, const void *buf, size_t len)
{
    return false;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
}
