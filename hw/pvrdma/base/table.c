/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: tables of objects, indexed by handle.
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
 * Allocates handles in ascending order, and begins again at 1 after the last handle.  So
 * a freed handle usually stays free for a long time, in which a guest that still uses the
 * handle finds no object.
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
    /*
     * The next search begins behind the freed handle, because the handle should stay
     * free.
     */
    if (t->next == handle) {
        t->next = handle + 1 < t->size ? handle + 1 : 1;
    }
}
