/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of objects, whose addresses the guest lists in a page directory.
 */
#ifndef HW_PVRDMA_BASE_PAGES_H
#define HW_PVRDMA_BASE_PAGES_H

typedef struct PvrdmaState PvrdmaState;

/*
 * Pages of an object or a ring.  The device reads the page directory once: when it
 * creates the object, loads the shared region, or executes FAST_REG_MR.
 */
typedef struct PvrdmaPages {
    uint64_t *addr;                 /* DMA address of each page; NULL: no pages */
    uint32_t count;
} PvrdmaPages;

/*
 * Reads the addresses of @count pages from the directory at DMA address @pdir into @p,
 * and adds @count to PvrdmaState.pages_used.  Returns 0, or an error, after which @p is
 * empty.  EINVAL: @count is 0 or more than PVRDMA_PDIR_MAX_PAGES, or @pdir or an address
 * in the directory or its tables is not a multiple of the page size.  ENOMEM: no host
 * memory, or pages_used would exceed PVRDMA_MAX_PAGES.  EFAULT: the directory or one of
 * its tables is not in guest memory.
 */
int pvrdma_pages_load(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir,
                      uint32_t count);
/* Frees @p->addr, subtracts @p->count from PvrdmaState.pages_used, and sets @p to 0. */
void pvrdma_pages_free(PvrdmaState *s, PvrdmaPages *p);
/*
 * Copy @len bytes between @buf and byte @offset of the pages @p.  Return false if some
 * bytes are outside the pages, or if the bus refused an access.  After a refused access a
 * part of the bytes may have been copied.
 */
bool pvrdma_pages_read(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                       void *buf, size_t len);
bool pvrdma_pages_write(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                        const void *buf, size_t len);

#endif /* HW_PVRDMA_BASE_PAGES_H */
