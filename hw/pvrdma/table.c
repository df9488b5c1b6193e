/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: handles.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

void pvrdma_table_init(PvrdmaTable *t, uint32_t size)
{
}

void pvrdma_table_free(PvrdmaTable *t)
{
}

uint32_t pvrdma_table_add(PvrdmaTable *t, void *object)
{
    return 0;
}

void pvrdma_table_set(PvrdmaTable *t, uint32_t handle, void *object)
{
}

void pvrdma_table_remove(PvrdmaTable *t, uint32_t handle)
{
}
