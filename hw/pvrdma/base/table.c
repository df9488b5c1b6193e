/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: handles.
 */
#include "qemu/osdep.h"
#include "table.h"

void pvrdma_table_init(PvrdmaTable *t, uint32_t size)
{
    *t = (PvrdmaTable) {
        .object = g_new0(void *, size),
        .size = size,
        .next = 1,
    };
}

void pvrdma_table_free(PvrdmaTable *t)
{
    g_free(t->object);
    *t = (PvrdmaTable) { 0 };
}

/*
 * Goes round, so that a handle comes back as late as possible: who still uses one that
 * was freed shall find nothing.
 */
uint32_t pvrdma_table_add(PvrdmaTable *t, void *object)
{
    if (t->used + 1 >= t->size) {
        return 0;
    }
    while (t->object[t->next]) {
        t->next = t->next + 1 < t->size ? t->next + 1 : 1;
    }
    pvrdma_table_set(t, t->next, object);
    return t->next;
}

void pvrdma_table_set(PvrdmaTable *t, uint32_t handle, void *object)
{
    assert(handle && handle < t->size && !t->object[handle]);
    t->object[handle] = object;
    t->used++;
    t->next = handle;
}

void pvrdma_table_remove(PvrdmaTable *t, uint32_t handle)
{
    assert(handle < t->size && t->object[handle]);
    t->object[handle] = NULL;
    t->used--;
    /* next stays: a search from the handle that is free now would give it again */
    if (t->next == handle) {
        t->next = handle + 1 < t->size ? handle + 1 : 1;
    }
}
