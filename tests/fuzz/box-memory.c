/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Box of a device: RAM from address 0, and the device's regions at higher addresses. */
#include "box.h"
#include "hw/qdev-core.h"

#define ROMS_MAX 4

AddressSpace address_space_memory;
uint8_t box_ram[BOX_RAM_BYTES];

static struct {
    MemoryRegion ram;
    hwaddr ram_bytes;
    MemoryRegion *bar[BOX_BARS];
    MemoryListener *listener;
    struct {
        MemoryRegion *mr;
        uint8_t *bytes;
    } rom[ROMS_MAX];
    unsigned roms;
    /* state of box_flip(): */
    unsigned reads;
    uint32_t offset;
    uint8_t value;
} memory;

void box_memory_reset(void)
{
    for (unsigned i = 0; i < memory.roms; i++) {
        g_free(memory.rom[i].bytes);
    }
    memset(&memory, 0, sizeof(memory));
    memset(box_ram, 0, sizeof(box_ram));
    memory.ram_bytes = BOX_RAM_BYTES;
    memory.ram.ram = true;
    memory.ram.size = int128_make64(BOX_RAM_BYTES);
}

void box_bar(unsigned n, MemoryRegion *mr)
{
    memory.bar[n] = mr;
}

void box_bars_remove(void)
{
    memset(memory.bar, 0, sizeof(memory.bar));
}

void box_remap(hwaddr ram_bytes)
{
    memory.ram_bytes = MIN(ram_bytes, BOX_RAM_BYTES);
    if (memory.listener && memory.listener->commit) {
        memory.listener->commit(memory.listener);
    }
}

void box_flip(unsigned reads, uint32_t offset, uint8_t value)
{
    memory.reads = reads + 1;
    memory.offset = offset % BOX_RAM_BYTES;
    memory.value = value;
}

void box_ram_was_read(void)
{
    if (memory.reads && --memory.reads == 0) {
        box_ram[memory.offset] = memory.value;
    }
}

/* --- Regions ------------------------------------------------------------------ */

static void region_init(MemoryRegion *mr, Object *owner, const char *name,
                        uint64_t size)
{
    memset(mr, 0, sizeof(*mr));
    mr->owner = owner;
    mr->name = name;
    mr->size = int128_make64(size);
    mr->enabled = true;
    QTAILQ_INIT(&mr->subregions);
}

void memory_region_init(MemoryRegion *mr, Object *owner, const char *name,
                        uint64_t size)
{
    region_init(mr, owner, name, size);
}

void memory_region_init_io(MemoryRegion *mr, Object *owner,
                           const MemoryRegionOps *ops, void *opaque,
                           const char *name, uint64_t size)
{
    region_init(mr, owner, name, size);
    mr->ops = ops;
    mr->opaque = opaque;
    mr->terminates = true;
}

bool memory_region_init_rom_device_nomigrate(MemoryRegion *mr, Object *owner,
                                             const MemoryRegionOps *ops,
                                             void *opaque, const char *name,
                                             uint64_t size, Error **errp)
{
    memory_region_init_io(mr, owner, ops, opaque, name, size);
    g_assert_cmpuint(memory.roms, <, ROMS_MAX);
    mr->rom_device = mr->romd_mode = true;
    memory.rom[memory.roms].mr = mr;
    memory.rom[memory.roms++].bytes = g_malloc0(size);
    return true;
}

void *memory_region_get_ram_ptr(MemoryRegion *mr)
{
    for (unsigned i = 0; i < memory.roms; i++) {
        if (memory.rom[i].mr == mr) {
            return memory.rom[i].bytes;
        }
    }
    g_assert_not_reached();
}

uint64_t memory_region_size(MemoryRegion *mr)
{
    return int128_get64(mr->size);
}

Object *memory_region_owner(MemoryRegion *mr)
{
    return mr->owner;
}

void memory_region_add_subregion(MemoryRegion *mr, hwaddr offset,
                                 MemoryRegion *sub)
{
    sub->container = mr;
    sub->addr = offset;
    QTAILQ_INSERT_HEAD(&mr->subregions, sub, subregions_link);
}

void memory_region_add_subregion_overlap(MemoryRegion *mr, hwaddr offset,
                                         MemoryRegion *sub, int priority)
{
    sub->priority = priority;
    memory_region_add_subregion(mr, offset, sub);
}

void memory_region_del_subregion(MemoryRegion *mr, MemoryRegion *sub)
{
    QTAILQ_REMOVE(&mr->subregions, sub, subregions_link);
    sub->container = NULL;
}

/*
 * Returns the subregion of @mr at offset *@at, and changes *@at to the offset in that
 * subregion.  Returns NULL if the address is not mapped.
 */
static MemoryRegion *region_find(MemoryRegion *mr, hwaddr *at)
{
    MemoryRegion *sub;

    if (*at >= int128_get64(mr->size)) {
        return NULL;
    }
    QTAILQ_FOREACH(sub, &mr->subregions, subregions_link) {
        if (*at >= sub->addr && *at - sub->addr < int128_get64(sub->size)) {
            *at -= sub->addr;
            return region_find(sub, at);
        }
    }
    return mr->ops ? mr : NULL;
}

static MemoryRegion *space_find(hwaddr addr, hwaddr *at)
{
    hwaddr bar = addr >> BOX_BAR_SHIFT;

    if (bar == 0 || bar > BOX_BARS || !memory.bar[bar - 1]) {
        return NULL;
    }
    *at = addr - BOX_BAR(bar - 1);
    return region_find(memory.bar[bar - 1], at);
}

/* --- Accesses ----------------------------------------------------------------- */

static MemTxResult region_ops(MemoryRegion *mr, hwaddr at, uint64_t *value,
                              unsigned size, bool write, MemTxAttrs attrs)
{
    const MemoryRegionOps *ops = mr->ops;

    if (!write && mr->rom_device) {
        *value = ldn_le_p((uint8_t *)memory_region_get_ram_ptr(mr) + at, size);
        return MEMTX_OK;
    }
    if (write && ops->write_with_attrs) {
        return ops->write_with_attrs(mr->opaque, at, *value, size, attrs);
    }
    if (!write && ops->read_with_attrs) {
        return ops->read_with_attrs(mr->opaque, at, value, size, attrs);
    }
    if (write) {
        ops->write(mr->opaque, at, *value, size);
    } else {
        *value = ops->read(mr->opaque, at, size);
    }
    return MEMTX_OK;
}

/*
 * Accesses a region after the checks of QEMU's memory.c: size, alignment, end of the
 * region, re-entrancy guard.
 */
static MemTxResult region_access(MemoryRegion *mr, hwaddr at, uint64_t *value,
                                 unsigned size, bool write, MemTxAttrs attrs)
{
    DeviceState *dev = (DeviceState *)mr->owner;
    bool guard = dev && !mr->disable_reentrancy_guard && !mr->rom_device;
    bool kept = !box_vcpu_is_exclusive();
    MemTxResult result;

    if (size > (mr->ops->valid.max_access_size ?: 4) ||
        (!mr->ops->valid.unaligned && at % size) ||
        at + size > int128_get64(mr->size)) {
        return MEMTX_DECODE_ERROR;
    }
    if (guard && dev->mem_reentrancy_guard.engaged_in_io) {
        return MEMTX_ACCESS_ERROR;
    }
    if (kept) {
        /* QEMU's memory map keeps the owner during an access that is not exclusive */
        object_ref(mr->owner);
    }
    if (guard) {
        dev->mem_reentrancy_guard.engaged_in_io = true;
    }
    result = region_ops(mr, at, value, size, write, attrs);
    if (guard) {
        dev->mem_reentrancy_guard.engaged_in_io = false;
    }
    if (kept) {
        object_unref(OBJECT(dev));
    }
    return result;
}

static bool is_ram(hwaddr addr, hwaddr len)
{
    return addr < memory.ram_bytes && len <= memory.ram_bytes - addr;
}

static MemTxResult space_access(hwaddr addr, MemTxAttrs attrs, uint8_t *buf,
                                hwaddr len, bool write)
{
    MemTxResult result = MEMTX_OK;

    while (len) {
        unsigned part = MIN(len, addr & -addr ?: 8);
        uint64_t value = 0;
        hwaddr at = 0;
        MemoryRegion *mr;

        part = part >= 8 ? 8 : part >= 4 ? 4 : part >= 2 ? 2 : 1;
        mr = space_find(addr, &at);
        if (is_ram(addr, part)) {
            memcpy(write ? box_ram + addr : buf, write ? buf : box_ram + addr,
                   part);
            box_ram_was_read();
        } else if (!mr) {
            return MEMTX_DECODE_ERROR;
        } else if (attrs.memory) {
            return MEMTX_ACCESS_ERROR;
        } else {
            value = write ? ldn_le_p(buf, part) : 0;
            result |= region_access(mr, at, &value, part, write, attrs);
            if (!write) {
                stn_le_p(buf, part, value);
            }
        }
        addr += part;
        buf += part;
        len -= part;
    }
    return result;
}

MemTxResult box_access(hwaddr addr, uint64_t *value, unsigned size, bool write)
{
    hwaddr at = 0;
    MemoryRegion *mr = space_find(addr, &at);

    return !mr || size > 8 ? MEMTX_DECODE_ERROR :
           region_access(mr, at, value, size, write, (MemTxAttrs) { 0 });
}

MemTxResult address_space_rw(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                             void *buf, hwaddr len, bool is_write)
{
    return space_access(addr, attrs, buf, len, is_write);
}

MemTxResult address_space_read_full(AddressSpace *as, hwaddr addr,
                                    MemTxAttrs attrs, void *buf, hwaddr len)
{
    return space_access(addr, attrs, buf, len, false);
}

MemTxResult address_space_write(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                const void *buf, hwaddr len)
{
    return space_access(addr, attrs, (uint8_t *)buf, len, true);
}

MemoryRegion *flatview_translate(FlatView *fv, hwaddr addr, hwaddr *xlat,
                                 hwaddr *plen, bool is_write, MemTxAttrs attrs)
{
    static MemoryRegion nothing;
    MemoryRegion *mr;

    *xlat = addr;
    if (is_ram(addr, 1)) {
        return &memory.ram;
    }
    mr = space_find(addr, xlat);
    return mr ?: &nothing;
}

void flatview_for_each_range(FlatView *fv, flatview_cb cb, void *opaque)
{
    cb(int128_zero(), int128_make64(memory.ram_bytes), &memory.ram, 0, opaque);
}

int64_t address_space_cache_init(MemoryRegionCache *cache, AddressSpace *as,
                                 hwaddr addr, hwaddr len, bool is_write)
{
    memset(cache, 0, sizeof(*cache));
    if (!is_ram(addr, 1)) {
        return 0;
    }
    cache->ptr = box_ram + addr;
    cache->len = MIN(len, memory.ram_bytes - addr);
    return cache->len;
}

void address_space_cache_invalidate(MemoryRegionCache *cache, hwaddr addr,
                                    hwaddr access_len)
{
    g_assert_cmpuint(addr + access_len, <=, cache->len);
}

void address_space_cache_destroy(MemoryRegionCache *cache)
{
    cache->ptr = NULL;
}

void memory_listener_register(MemoryListener *listener, AddressSpace *as)
{
    memory.listener = listener;
}

void memory_listener_unregister(MemoryListener *listener)
{
    memory.listener = NULL;
}
