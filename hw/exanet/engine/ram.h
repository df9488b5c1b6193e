/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RAM of an address space, by host pointers.  A table contains the ranges of RAM that
 * were used since the table last dropped its ranges.  The MemoryRegionCache of a range
 * has a reference to the RAM.
 *
 * Host pointers into a range are valid until the table drops its ranges.  The table drops
 * all ranges together: after each change of the memory map, when the table is full and a
 * new range is needed, and in the functions below that say so.
 */
#ifndef HW_EXANET_ENGINE_RAM_H
#define HW_EXANET_ENGINE_RAM_H

#include "../../core/compat.h"

#define EXANET_RAM_RANGES 64        /* an index of a range fits in 8 bits */

typedef struct ExanetRamRange {
    hwaddr base;                    /* physical address of the first byte */
    hwaddr size;                    /* bytes */
    MemoryRegionCache cache;
} ExanetRamRange;

typedef struct ExanetRam ExanetRam;
struct ExanetRam {
    AddressSpace *as;
    /* Invalidates the owner's host pointers into RAM, before @ram drops its ranges. */
    void (*forget)(ExanetRam *ram);
    ExanetRamRange range[EXANET_RAM_RANGES];
    unsigned ranges;                /* number of ranges in use */
    unsigned last;                  /* index of the range that is tried first */
    MemoryListener listener;
};

/*
 * Initializes @ram as an empty table of the RAM in @as, and calls @forget for the first
 * time.
 */
void exanet_ram_init(ExanetRam *ram, AddressSpace *as, void (*forget)(ExanetRam *ram));
/* Drops all ranges, and ends the observation of the memory map. */
void exanet_ram_fini(ExanetRam *ram);
/* Drops all ranges. */
void exanet_ram_drop(ExanetRam *ram);

/* Drops all ranges unless the table has room for @count more. */
static inline void exanet_ram_reserve(ExanetRam *ram, unsigned count)
{
    if (ram->ranges > EXANET_RAM_RANGES - count) {
        exanet_ram_drop(ram);
    }
}

/* Returns true if @range contains all @len bytes from physical address @pa on. */
static inline bool exanet_ram_contains(const ExanetRamRange *range, hwaddr pa,
                                       hwaddr len)
{
    hwaddr offset = pa - range->base;

    return offset < range->size && range->size - offset >= len;
}

/* Does the work of exanet_ram_find() if range[@last] does not contain the bytes. */
ExanetRamRange *exanet_ram_search(ExanetRam *ram, hwaddr pa, hwaddr len);
/*
 * Returns the range that contains all @len bytes from physical address @pa on.  If the
 * table does not have the range, first drops all ranges if the table is full, then adds
 * the range.  Returns NULL if no range of the memory map contains all the bytes, or if
 * the range is not RAM that devices may write.  MMIO, ROM and memory of a device that is
 * mapped like RAM are not such RAM.
 */
static inline ExanetRamRange *exanet_ram_find(ExanetRam *ram, hwaddr pa, hwaddr len)
{
    ExanetRamRange *range = &ram->range[ram->last];

    if (likely(ram->last < ram->ranges && exanet_ram_contains(range, pa, len))) {
        return range;
    }
    return exanet_ram_search(ram, pa, len);
}

/* Returns the index of @range in the table, for exanet_ram_dirty(). */
static inline unsigned exanet_ram_index(const ExanetRam *ram,
                                        const ExanetRamRange *range)
{
    return range - ram->range;
}

/* Returns the host pointer to the byte at physical address @pa, which is in @range. */
static inline uint8_t *exanet_ram_pointer(const ExanetRamRange *range, hwaddr pa)
{
    return range->cache.ptr + (pa - range->base);
}

/*
 * Marks @len bytes at @p, which were written, as dirty, and discards code that TCG has
 * translated from these bytes.  @index is the index of the range that contains the bytes.
 */
static inline void exanet_ram_dirty(ExanetRam *ram, unsigned index, const uint8_t *p,
                                    hwaddr len)
{
    MemoryRegionCache *cache = &ram->range[index].cache;

    address_space_cache_invalidate(cache, p - cache->ptr, len);
}

#endif /* HW_EXANET_ENGINE_RAM_H */
