/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: objects in guest memory, through their page directories.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

int pvrdma_pages_load(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir,
                      uint32_t count)
{
    return 0;
}

void pvrdma_pages_free(PvrdmaState *s, PvrdmaPages *p)
{
}

bool pvrdma_pages_read(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                       void *buf, size_t len)
{
    return false;
}

bool pvrdma_pages_write(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                        const void *buf, size_t len)
{
    return false;
}
