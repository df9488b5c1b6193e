/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of objects, by handle.
 */
#ifndef HW_PVRDMA_BASE_TABLE_H
#define HW_PVRDMA_BASE_TABLE_H

typedef struct PvrdmaTable {
    void **object;
    uint32_t size;
    uint32_t next;                  /* where the search for a free one begins */
    uint32_t used;
} PvrdmaTable;

/* Handles are below @size; 0 is never given to anybody, as drivers take it for none. */
void pvrdma_table_init(PvrdmaTable *t, uint32_t size);
void pvrdma_table_free(PvrdmaTable *t);
/* The handle of @object, or 0 if the table is full. */
uint32_t pvrdma_table_add(PvrdmaTable *t, void *object);
/* Puts @object at @handle, which must be free: for what comes from a snapshot. */
void pvrdma_table_set(PvrdmaTable *t, uint32_t handle, void *object);
void pvrdma_table_remove(PvrdmaTable *t, uint32_t handle);
/* NULL if there is none, whatever @handle is. */
static inline void *pvrdma_table_get(const PvrdmaTable *t, uint32_t handle)
{
    return handle < t->size ? t->object[handle] : NULL;
}

#endif /* HW_PVRDMA_BASE_TABLE_H */
