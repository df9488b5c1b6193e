/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAM of an address space, by host pointers; see ram.h. */
#include "qemu/osdep.h"
#include "qemu/rcu.h"
#include "ram.h"

void exanet_ram_drop(ExanetRam *ram)
{
    ram->forget(ram);
    for (unsigned i = 0; i < ram->ranges; i++) {
        address_space_cache_destroy(&ram->range[i].cache);
    }
    ram->ranges = 0;
    ram->last = 0;
}

/* Drops all ranges after a change of the memory map, which may move or remove RAM. */
static void ram_commit(MemoryListener *listener)
{
    exanet_ram_drop(container_of(listener, ExanetRam, listener));
}

void exanet_ram_init(ExanetRam *ram, AddressSpace *as, void (*forget)(ExanetRam *ram))
{
    ram->as = as;
    ram->forget = forget;
    ram->ranges = 0;
    ram->last = 0;
    ram->listener = (MemoryListener) {
        .name = "exanet",
        .commit = ram_commit,
    };
    /* calls ram_commit(), which calls @forget */
    memory_listener_register(&ram->listener, as);
}

void exanet_ram_fini(ExanetRam *ram)
{
    memory_listener_unregister(&ram->listener);
    exanet_ram_drop(ram);
}

/* A search in the memory map for the range that contains @pa. */
typedef struct RamSearch {
    hwaddr pa;
    hwaddr base;                    /* result: start of the range */
    hwaddr size;                    /* result: bytes of the range; 0: not found */
} RamSearch;

/*
 * Returns true, and stores the result in the RamSearch @opaque, if the range of @len
 * bytes at @start in the memory map contains the address of the search.
 */
static bool ram_search_range(Int128 start, Int128 len, const MemoryRegion *mr,
                             hwaddr offset, void *opaque)
{
    RamSearch *search = opaque;
    Int128 skip = int128_sub(int128_make64(search->pa), start);

    if (!int128_nonneg(skip) || int128_ge(skip, len)) {
        return false;
    }
    search->base = int128_get64(start);
    search->size = int128_get64(int128_min(len, int128_make64(INT64_MAX)));
    return true;
}

/*
 * Adds the range that contains @pa to the table, and returns the range.  If the table is
 * full, first drops all ranges.  Returns NULL if the memory map has no range at @pa, or
 * if the range is not RAM that devices may write.
 */
static ExanetRamRange *ram_add(ExanetRam *ram, hwaddr pa)
{
    RamSearch search = { .pa = pa };
    ExanetRamRange *range;
    int64_t size;

    WITH_RCU_READ_LOCK_GUARD() {
        flatview_for_each_range(address_space_to_flatview(ram->as), ram_search_range,
                                &search);
    }
    if (!search.size) {
        return NULL;
    }
    exanet_ram_reserve(ram, 1);
    range = &ram->range[ram->ranges];
    size = address_space_cache_init(&range->cache, ram->as, search.base, search.size,
                                    true);
    if (!range->cache.ptr || range->cache.mrs.readonly || size <= 0) {
        address_space_cache_destroy(&range->cache);
        return NULL;
    }
    range->base = search.base;
    range->size = MIN(search.size, size);
    ram->ranges++;
    return range;
}

ExanetRamRange *exanet_ram_search(ExanetRam *ram, hwaddr pa, hwaddr len)
{
    ExanetRamRange *range;

    for (unsigned i = 0; i < ram->ranges; i++) {
        if (exanet_ram_contains(&ram->range[i], pa, len)) {
            ram->last = i;
            return &ram->range[i];
        }
    }
    range = ram_add(ram, pa);
    return range && exanet_ram_contains(range, pa, len) ? range : NULL;
}
