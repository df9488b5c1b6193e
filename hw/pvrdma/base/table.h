/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of objects, indexed by handle.
 */
#ifndef HW_PVRDMA_BASE_TABLE_H
#define HW_PVRDMA_BASE_TABLE_H

typedef struct PvrdmaTable {
    void **object;                  /* objects, by handle; NULL: the handle is free */
    uint32_t size;                  /* number of elements of @object */
    /* Handle at which the search for a free handle begins. */
    uint32_t next;
    uint32_t used;                  /* number of objects */
} PvrdmaTable;

/*
 * Initializes @t with the free handles 1 to @size - 1.  Handle 0 is never used, because
 * drivers use 0 for "no object".
 */
void pvrdma_table_init(PvrdmaTable *t, uint32_t size);
/* Frees the array @t->object.  The caller has removed and freed the objects. */
void pvrdma_table_free(PvrdmaTable *t);
/* Stores @object under a free handle.  Returns the handle, or 0 if no handle is free. */
uint32_t pvrdma_table_add(PvrdmaTable *t, void *object);
/*
 * Stores @object under @handle, which must be free.  The next search for a free handle
 * begins at @handle.
 */
void pvrdma_table_set(PvrdmaTable *t, uint32_t handle, void *object);
/*
 * Makes @handle, which must be in use, free.  Does not free the object, which the caller
 * owns.
 */
void pvrdma_table_remove(PvrdmaTable *t, uint32_t handle);
/* Returns the object with @handle, or NULL.  @handle may be any number. */
static inline void *pvrdma_table_get(const PvrdmaTable *t, uint32_t handle)
{
    return handle < t->size ? t->object[handle] : NULL;
}

#endif /* HW_PVRDMA_BASE_TABLE_H */
