/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paravirtual RDMA NIC: the pages of objects. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../core/dma.h"
#include "caps.h"
#include "pages.h"
#include "../pvrdma.h"

#define TABLE_PAGES (PVRDMA_PAGE_BYTES / sizeof(uint64_t))

/*
 * Reads @count addresses from the directory or table at DMA address @at.  Returns 0,
 * EFAULT if the bus refused the read, or EINVAL if an address is not a multiple of the
 * page size.
 */
static int addresses_read(PvrdmaState *s, uint64_t at, uint64_t *addr,
                          uint32_t count)
{
    if (!rnic_dma_read(&s->host, at, addr, count * sizeof(*addr))) {
        return EFAULT;
    }
    for (uint32_t i = 0; i < count; i++) {
        addr[i] = le64_to_cpu(addr[i]);
        if (addr[i] % PVRDMA_PAGE_BYTES) {
            return EINVAL;
        }
    }
    return 0;
}

static int tables_read(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir)
{
    uint64_t table[TABLE_PAGES];
    uint32_t tables = DIV_ROUND_UP(p->count, TABLE_PAGES);
    int err = addresses_read(s, pdir, table, tables);

    for (uint32_t i = 0; i < tables && !err; i++) {
        uint32_t first = i * TABLE_PAGES;

        err = addresses_read(s, table[i], p->addr + first,
                             MIN(p->count - first, TABLE_PAGES));
    }
    return err;
}

int pvrdma_pages_load(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir,
                      uint32_t count)
{
    int err;

    *p = (PvrdmaPages) { 0 };
    if (!count || count > PVRDMA_PDIR_MAX_PAGES || pdir % PVRDMA_PAGE_BYTES) {
        return EINVAL;
    }
    if (count > PVRDMA_MAX_PAGES - s->pages_used) {
        return ENOMEM;
    }
    p->addr = g_try_new(uint64_t, count);
    if (!p->addr) {
        return ENOMEM;
    }
    p->count = count;
    s->pages_used += count;
    err = tables_read(s, p, pdir);
    if (err) {
        pvrdma_pages_free(s, p);
    }
    return err;
}

void pvrdma_pages_free(PvrdmaState *s, PvrdmaPages *p)
{
    s->pages_used -= p->count;
    g_free(p->addr);
    *p = (PvrdmaPages) { 0 };
}

static bool pages_inside(const PvrdmaPages *p, uint64_t offset, size_t len)
{
    uint64_t bytes = (uint64_t)p->count << PVRDMA_PAGE_SHIFT;

    return offset <= bytes && len <= bytes - offset;
}

/*
 * Returns the DMA address of byte @offset of the pages.  Reduces *@len to the number of
 * bytes that have contiguous DMA addresses from this byte on.
 */
static uint64_t pages_piece(const PvrdmaPages *p, uint64_t offset, size_t *len)
{
    uint64_t page = offset >> PVRDMA_PAGE_SHIFT;
    uint64_t in_page = offset & (PVRDMA_PAGE_BYTES - 1);
    uint64_t first = p->addr[page];
    size_t piece = PVRDMA_PAGE_BYTES - in_page;

    while (piece < *len && p->addr[page + 1] == p->addr[page] + PVRDMA_PAGE_BYTES) {
        piece += PVRDMA_PAGE_BYTES;
        page++;
    }
    *len = MIN(*len, piece);
    return first + in_page;
}

bool pvrdma_pages_read(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                       void *buf, size_t len)
{
    if (!pages_inside(p, offset, len)) {
        return false;
    }
    for (size_t done = 0, piece; done < len; done += piece) {
        uint64_t at;

        piece = len - done;
        at = pages_piece(p, offset + done, &piece);
        if (!rnic_dma_read(&s->host, at, (uint8_t *)buf + done, piece)) {
            return false;
        }
    }
    return true;
}

bool pvrdma_pages_write(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                        const void *buf, size_t len)
{
    if (!pages_inside(p, offset, len)) {
        return false;
    }
    for (size_t done = 0, piece; done < len; done += piece) {
        uint64_t at;

        piece = len - done;
        at = pages_piece(p, offset + done, &piece);
        if (!rnic_dma_write(&s->host, at, (const uint8_t *)buf + done, piece)) {
            return false;
        }
    }
    return true;
}
