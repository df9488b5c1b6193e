/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects in guest memory.
 */
#ifndef HW_PVRDMA_BASE_PAGES_H
#define HW_PVRDMA_BASE_PAGES_H

typedef struct PvrdmaState PvrdmaState;

/* The page directory is read once, when the object is made. */
typedef struct PvrdmaPages {
    uint64_t *addr;                 /* DMA address of each page; NULL: none */
    uint32_t count;
} PvrdmaPages;

/* EINVAL, ENOMEM (beyond PVRDMA_MAX_PAGES), EFAULT (no such memory). */
int pvrdma_pages_load(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir,
                      uint32_t count);
void pvrdma_pages_free(PvrdmaState *s, PvrdmaPages *p);
/*
 * Copies @len bytes at byte @offset.  False if they are not inside, or the bus refused;
 * then part of them may have been copied.
 */
bool pvrdma_pages_read(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                       void *buf, size_t len);
bool pvrdma_pages_write(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                        const void *buf, size_t len);

#endif /* HW_PVRDMA_BASE_PAGES_H */
