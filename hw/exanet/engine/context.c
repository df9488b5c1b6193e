/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet contexts: registers, and translation with its cache.
 *
 * A translation and the copy that uses it happen in one call under the BQL, and INV_CMD
 * runs under the BQL too.  So no old translation is in use when the MMIO write of INV_CMD
 * returns.  The cache holds host pointers into RAM, from MemoryRegionCache, which holds a
 * reference to the RAM.  A change of the memory map drops the whole cache.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "qemu/memalign.h"
#include "qemu/rcu.h"
#include "context.h"
#include "../exanet.h"
#include "fault.h"
#include "../base/regs.h"
#include "walk.h"
#include "../trace.h"

#define TLB_WAYS 2ULL           /* a set fills a cache line */

#define PAGE_BYTES (1u << EXANET_TLB_SHIFT)
#define PAGE_OFFSET(va) ((va) & (PAGE_BYTES - 1))
#define PAGE_ADDRESS(va) ((va) & ~(uint64_t)(PAGE_BYTES - 1))
/* Pages of one access, and RAM ranges that the access and its page tables can need. */
#define ACCESS_PAGES (EXANET_ACCESS_MAX / PAGE_BYTES + 1)
#define ACCESS_RANGES (ACCESS_PAGES * 6)
QEMU_BUILD_BUG_ON(ACCESS_RANGES > EXANET_RAM_RANGES);

/* --- Physical memory ------------------------------------------------------- */

/* Invalidates the cached translations of @ctx. */
static void tlb_flush(ExanetState *s, ExanetContext *ctx)
{
    ctx->stamp = ++s->tlb.stamp;
}

/*
 * Drops all translations and RAM ranges: when the memory map has changed, when the table
 * of ranges has no room, and at the end of the device.
 */
static void tlb_drop(ExanetState *s)
{
    ExanetTlb *tlb = &s->tlb;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        tlb_flush(s, &s->ctx[c]);
    }
    for (unsigned i = 0; i < tlb->rams; i++) {
        address_space_cache_destroy(&tlb->ram[i].cache);
    }
    tlb->rams = 0;
    tlb->last = 0;
}

/* Callback of QEMU after a change of the memory map, with which host pointers expire. */
static void tlb_listener_commit(MemoryListener *listener)
{
    tlb_drop(container_of(listener, ExanetState, tlb.listener));
}

/* A search for the range that contains @pa. */
typedef struct RamSearch {
    hwaddr pa;
    hwaddr base;                    /* result: start of the range */
    hwaddr size;                    /* result: bytes of the range; 0: not found */
} RamSearch;

static bool ram_search(Int128 start, Int128 len, const MemoryRegion *mr,
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
 * Adds the range that contains @pa to @s->tlb.ram, and returns it.  If the table is full,
 * drops all ranges and translations before.  Returns NULL unless the range is RAM that
 * devices may write: not MMIO, not ROM, not memory of a device that is mapped like RAM.
 */
static ExanetRam *ram_open(ExanetState *s, hwaddr pa)
{
    ExanetTlb *tlb = &s->tlb;
    RamSearch search = { .pa = pa };
    ExanetRam *ram;
    int64_t size;

    WITH_RCU_READ_LOCK_GUARD() {
        flatview_for_each_range(address_space_to_flatview(s->host.as),
                                ram_search, &search);
    }
    if (!search.size) {
        return NULL;
    }
    if (tlb->rams == EXANET_RAM_RANGES) {
        tlb_drop(s);
    }
    ram = &tlb->ram[tlb->rams];
    size = address_space_cache_init(&ram->cache, s->host.as, search.base,
                                    search.size, true);
    if (!ram->cache.ptr || ram->cache.mrs.readonly || size <= 0) {
        address_space_cache_destroy(&ram->cache);
        return NULL;
    }
    ram->base = search.base;
    ram->size = MIN(search.size, size);
    tlb->rams++;
    return ram;
}

static bool ram_contains(const ExanetRam *ram, hwaddr pa, hwaddr len)
{
    hwaddr offset = pa - ram->base;

    return offset < ram->size && ram->size - offset >= len;
}

/* Returns the range with all @len bytes from @pa on, or NULL if there is no such RAM. */
static ExanetRam *ram_find(ExanetState *s, hwaddr pa, hwaddr len)
{
    ExanetTlb *tlb = &s->tlb;
    ExanetRam *ram = &tlb->ram[tlb->last];

    if (likely(tlb->last < tlb->rams && ram_contains(ram, pa, len))) {
        return ram;
    }
    for (unsigned i = 0; i < tlb->rams; i++) {
        if (ram_contains(&tlb->ram[i], pa, len)) {
            tlb->last = i;
            return &tlb->ram[i];
        }
    }
    ram = ram_open(s, pa);
    return ram && ram_contains(ram, pa, len) ? ram : NULL;
}

static uint8_t *ram_pointer(const ExanetRam *ram, hwaddr pa)
{
    return ram->cache.ptr + (pa - ram->base);
}

/* --- Translation ----------------------------------------------------------- */

static bool walk_read(void *opaque, uint64_t pa, uint64_t *entry)
{
    ExanetRam *ram = ram_find(opaque, pa, sizeof(*entry));

    if (!ram) {
        return false;
    }
    *entry = ldq_le_p(ram_pointer(ram, pa));
    return true;
}

/* Returns the set of entries for page @va of context @c. */
static ExanetTlbEntry *tlb_set(ExanetState *s, unsigned c, uint64_t va)
{
    /* a Fibonacci hash, because buffers begin at multiples of large powers of 2 */
    uint64_t hash = ((va >> EXANET_TLB_SHIFT) + ((uint64_t)c << 56)) *
                    0x9e3779b97f4a7c15ULL;

    return &s->tlb.entry[(hash >> 32) & s->tlb.mask & -TLB_WAYS];
}

static bool tlb_holds(const ExanetTlbEntry *e, uint64_t page, uint64_t stamp)
{
    return e->va == page && e->stamp == stamp;
}

/* Returns the entry to fill for page @va: that of the page, or an entry to replace. */
static ExanetTlbEntry *tlb_victim(ExanetState *s, unsigned c, uint64_t va)
{
    ExanetTlbEntry *set = tlb_set(s, c, va);

    for (unsigned i = 0; i < TLB_WAYS; i++) {
        if (tlb_holds(&set[i], PAGE_ADDRESS(va), s->ctx[c].stamp)) {
            return &set[i];
        }
    }
    return &set[s->tlb.victim++ % TLB_WAYS];
}

/*
 * Walks the page tables of context @c for @va, fills in @leaf, and counts faults.
 * Returns PROTECTION if the context is disabled or quiesced, or has a fault and
 * NO_REPORT; otherwise the result of exanet_walk().
 */
static enum exanet_resp context_walk(ExanetState *s, unsigned c, uint64_t va,
                                     bool write, ExanetLeaf *leaf)
{
    ExanetContext *ctx = &s->ctx[c];
    enum exanet_resp resp;

    if (!ctx->enabled || ctx->quiesce) {
        return EXANET_RESP_PROTECTION;
    }
    exanet_count(s, WALK);
    resp = exanet_walk(&ctx->walk, va, write, leaf);
    trace_exanet_context_walk(s->node, c, va, write, resp);
    if (resp == EXANET_RESP_FAULT) {
        s->counter[write ? EXANET_CNT_FAULT_WRITE : EXANET_CNT_FAULT_READ]++;
        return ctx->no_report ? EXANET_RESP_PROTECTION : EXANET_RESP_FAULT;
    }
    return resp;
}

static uint64_t leaf_offset(const ExanetLeaf *leaf, uint64_t va)
{
    return va & ((1ULL << leaf->shift) - 1);
}

/*
 * Walks the page tables for @va, and stores the translation in an entry of the TLB,
 * *@found.  Returns the result of context_walk(), or DECODE if the page is no RAM.
 */
static G_NO_INLINE enum exanet_resp
tlb_fill(ExanetState *s, unsigned c, uint64_t va, bool write,
         ExanetTlbEntry **found)
{
    enum exanet_resp resp;
    ExanetLeaf leaf;
    ExanetRam *ram;
    hwaddr pa;

    resp = context_walk(s, c, va, write, &leaf);
    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    pa = leaf.pa | PAGE_ADDRESS(leaf_offset(&leaf, va));
    ram = ram_find(s, pa, PAGE_BYTES);
    if (!ram) {
        return EXANET_RESP_DECODE;
    }
    *found = tlb_victim(s, c, va);
    **found = (ExanetTlbEntry) {
        .va = PAGE_ADDRESS(va),
        .stamp = s->ctx[c].stamp,
        .host = ram_pointer(ram, pa),
        .ram = ram - s->tlb.ram,
        .write = leaf.write,
    };
    return EXANET_RESP_ACK;
}

static inline enum exanet_resp tlb_get(ExanetState *s, unsigned c, uint64_t va,
                                       bool write, ExanetTlbEntry **found)
{
    ExanetTlbEntry *e = tlb_set(s, c, va);
    uint64_t page = PAGE_ADDRESS(va);
    uint64_t stamp = s->ctx[c].stamp;

    exanet_count(s, XLATE);
    for (unsigned i = 0; i < TLB_WAYS; i++, e++) {
        if (tlb_holds(e, page, stamp) && (e->write || !write)) {
            exanet_count(s, TLB_HIT);
            *found = e;
            return EXANET_RESP_ACK;
        }
    }
    return tlb_fill(s, c, va, write, found);
}

/*
 * Translates all pages of an access that crosses page boundaries.  Stores copies of their
 * entries in @page, because several pages may share one entry of a small TLB.  On an
 * error returns its code, and stores the first address without translation in *@fault_va.
 */
static enum exanet_resp access_pages(ExanetState *s, unsigned c, uint64_t va,
                                     size_t len, bool write,
                                     ExanetTlbEntry *page, uint64_t *fault_va)
{
    uint64_t end = PAGE_OFFSET(va) + len;

    assert(len <= EXANET_ACCESS_MAX);
    if (s->tlb.rams > EXANET_RAM_RANGES - ACCESS_RANGES) {
        /* no range may be dropped during the access */
        tlb_drop(s);
    }
    for (uint64_t at = 0; at < end; at += PAGE_BYTES) {
        uint64_t page_va = PAGE_ADDRESS(va) + at;
        ExanetTlbEntry *e;
        enum exanet_resp resp = tlb_get(s, c, page_va, write, &e);

        if (resp != EXANET_RESP_ACK) {
            *fault_va = at ? page_va : va;
            return resp;
        }
        *page++ = *e;
    }
    return EXANET_RESP_ACK;
}

static inline void page_write(ExanetState *s, const ExanetTlbEntry *e,
                              unsigned offset, const void *buf, size_t len)
{
    MemoryRegionCache *cache = &s->tlb.ram[e->ram].cache;
    uint8_t *p = e->host + offset;

    if (len == sizeof(uint64_t) && !(offset & (sizeof(uint64_t) - 1))) {
        /* orders this store after all earlier stores, because it may be a status word */
        smp_wmb();
        stq_he_p(p, ldq_he_p(buf));
    } else {
        memcpy(p, buf, len);
    }
    /* invalidates TCG's translated code and marks the page dirty */
    address_space_cache_invalidate(cache, p - cache->ptr, len);
}

/*
 * Reads beyond one page.  Returns as exanet_context_read().  Not inlined, as
 * access_write(), because the compiler would zero the array of pages for each access,
 * which takes as long as the access itself.
 */
static G_NO_INLINE enum exanet_resp
access_read(ExanetState *s, unsigned c, uint64_t va, void *buf, size_t len,
            uint64_t *fault_va)
{
    ExanetTlbEntry page[ACCESS_PAGES];
    enum exanet_resp resp = access_pages(s, c, va, len, false, page, fault_va);
    unsigned offset = PAGE_OFFSET(va);

    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    for (ExanetTlbEntry *e = page; len; e++, offset = 0) {
        size_t part = MIN(len, PAGE_BYTES - offset);

        memcpy(buf, e->host + offset, part);
        buf += part;
        len -= part;
    }
    return EXANET_RESP_ACK;
}

static G_NO_INLINE enum exanet_resp
access_write(ExanetState *s, unsigned c, uint64_t va, const void *buf, size_t len,
             uint64_t *fault_va)
{
    ExanetTlbEntry page[ACCESS_PAGES];
    enum exanet_resp resp = access_pages(s, c, va, len, true, page, fault_va);
    unsigned offset = PAGE_OFFSET(va);

    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    for (ExanetTlbEntry *e = page; len; e++, offset = 0) {
        size_t part = MIN(len, PAGE_BYTES - offset);

        page_write(s, e, offset, buf, part);
        buf += part;
        len -= part;
    }
    return EXANET_RESP_ACK;
}

enum exanet_resp exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                     void *buf, size_t len, uint64_t *fault_va)
{
    unsigned offset = PAGE_OFFSET(va);
    enum exanet_resp resp;
    ExanetTlbEntry *e;

    if (unlikely(len > PAGE_BYTES - offset)) {
        return access_read(s, c, va, buf, len, fault_va);
    }
    resp = tlb_get(s, c, va, false, &e);
    if (unlikely(resp != EXANET_RESP_ACK)) {
        *fault_va = va;
        return resp;
    }
    memcpy(buf, e->host + offset, len);
    return EXANET_RESP_ACK;
}

enum exanet_resp exanet_context_write(ExanetState *s, unsigned c, uint64_t va,
                                      const void *buf, size_t len,
                                      uint64_t *fault_va)
{
    unsigned offset = PAGE_OFFSET(va);
    enum exanet_resp resp;
    ExanetTlbEntry *e;

    if (unlikely(len > PAGE_BYTES - offset)) {
        return access_write(s, c, va, buf, len, fault_va);
    }
    resp = tlb_get(s, c, va, true, &e);
    if (unlikely(resp != EXANET_RESP_ACK)) {
        *fault_va = va;
        return resp;
    }
    page_write(s, e, offset, buf, len);
    return EXANET_RESP_ACK;
}

enum exanet_resp exanet_context_physical(ExanetState *s, unsigned c, uint64_t va,
                                         bool write, hwaddr *pa)
{
    ExanetLeaf leaf;
    enum exanet_resp resp = context_walk(s, c, va, write, &leaf);

    if (resp == EXANET_RESP_ACK) {
        *pa = leaf.pa | leaf_offset(&leaf, va);
    }
    return resp;
}

enum exanet_resp exanet_context_window(ExanetState *s, unsigned c, uint64_t va,
                                       uint64_t len, uint64_t *full)
{
    unsigned w = RNIC_GET(EXANET_VA_WINDOW, va);
    uint64_t offset = RNIC_GET(EXANET_VA_OFFSET, va);
    uint64_t win;

    if ((va & ~EXANET_GVA_VA) || w == EXANET_WINDOW_NI) {
        return EXANET_RESP_DECODE;
    }
    win = s->ctx[c].win[w];
    if (!(win & EXANET_WIN_VALID) ||
        len > (1ULL << EXANET_WINDOW_BITS) - offset) {
        return EXANET_RESP_DECODE;
    }
    *full = (win & EXANET_WIN_BASE) | offset;
    return EXANET_RESP_ACK;
}

/* --- Registers ------------------------------------------------------------- */

unsigned exanet_context_active(ExanetState *s, unsigned c)
{
    unsigned n = 0;

    for (const ExanetUnit *const *u = s->units; *u; u++) {
        n += (*u)->active ? (*u)->active(s, c) : 0;
    }
    return n;
}

/* Ends all work of context @c in all units, because it was disabled or quiesced. */
static void context_stop(ExanetState *s, unsigned c)
{
    for (const ExanetUnit *const *u = s->units; *u; u++) {
        if ((*u)->quiesce) {
            (*u)->quiesce(s, c);
        }
    }
}

/* Clears the user pages of context @c, because another process has used them. */
static void context_start(ExanetState *s, unsigned c)
{
    for (unsigned page = 0; page < EXANET_PAGE_INFO; page++) {
        memset(exanet_user_page(s, c, page), 0, 1u << s->user_page_shift);
    }
}

static void context_ctrl(ExanetState *s, unsigned c)
{
    ExanetContext *ctx = &s->ctx[c];
    uint32_t ctrl = exanet_reg_get32(s, EXANET_CTX(c) + EXANET_REG_CTX_CTRL);
    bool was_enabled = ctx->enabled;
    bool was_quiesce = ctx->quiesce;

    ctx->enabled = ctrl & EXANET_CTX_CTRL_EN;
    ctx->quiesce = ctrl & EXANET_CTX_CTRL_QUIESCE;
    ctx->no_report = ctrl & EXANET_CTX_CTRL_NO_REPORT;
    ctx->walk.format = RNIC_GET(EXANET_CTX_CTRL_FORMAT, ctrl);
    ctx->walk.va_bits = RNIC_GET(EXANET_CTX_CTRL_VA_BITS, ctrl);
    tlb_flush(s, ctx);
    trace_exanet_context_ctrl(s->node, c, ctrl);

    if (ctx->walk.format >= EXANET_FORMATS) {
        qemu_log_mask(LOG_GUEST_ERROR,
                      "exanet: context %u: unknown table format %u\n", c,
                      (unsigned)ctx->walk.format);
    }
    if ((was_enabled && !ctx->enabled) || (ctx->quiesce && !was_quiesce)) {
        context_stop(s, c);
    }
    if (ctx->enabled && !was_enabled) {
        context_start(s, c);
    }
}

static void context_invalidate(ExanetState *s, unsigned c)
{
    ExanetContext *ctx = &s->ctx[c];
    uint64_t cmd = exanet_reg_written64(s,
                                        EXANET_CTX(c) + EXANET_REG_CTX_INV_CMD);
    uint64_t va = exanet_reg_get64(s, EXANET_CTX(c) + EXANET_REG_CTX_INV_VA);
    uint64_t len = RNIC_GET(EXANET_INV_LENGTH, cmd);
    uint64_t pages = (PAGE_OFFSET(va) + len + PAGE_BYTES - 1) / PAGE_BYTES;

    trace_exanet_context_invalidate(s->node, c, va, cmd);
    if ((cmd & EXANET_INV_ALL) || pages > s->tlb.mask) {
        tlb_flush(s, ctx);
        return;
    }
    if (!len) {
        return;
    }
    for (va = PAGE_ADDRESS(va); pages; pages--, va += PAGE_BYTES) {
        ExanetTlbEntry *set = tlb_set(s, c, va);

        for (unsigned i = 0; i < TLB_WAYS; i++) {
            if (tlb_holds(&set[i], va, ctx->stamp)) {
                set[i].stamp = 0;
            }
        }
    }
}

void exanet_context_reg_sync(ExanetState *s, unsigned c)
{
    const ExanetContext *ctx = &s->ctx[c];
    unsigned ops = exanet_context_active(s, c);
    uint32_t status = RNIC_PREP(EXANET_CTX_STATUS_FAULTS, MIN(ctx->faults, 255)) |
                      RNIC_PREP(EXANET_CTX_STATUS_OPS, MIN(ops, 65535));

    if (ctx->enabled && !ctx->quiesce) {
        status |= EXANET_CTX_STATUS_ACTIVE;
    }
    if (ctx->quiesce && !ops) {
        status |= EXANET_CTX_STATUS_QUIESCED;
    }
    exanet_reg_set32(s, EXANET_CTX(c) + EXANET_REG_CTX_STATUS, status);
    exanet_reg_set32(s, EXANET_CTX(c) + EXANET_REG_CTX_PDID, ctx->pdid |
                     RNIC_PREP(EXANET_CTX_PDID_LOCAL, ctx->local));
}

void exanet_context_reg_written(ExanetState *s, unsigned c, unsigned reg,
                                bool top)
{
    ExanetContext *ctx = &s->ctx[c];
    uint32_t pdid;

    switch (reg) {
    case EXANET_REG_CTX_CTRL:
        context_ctrl(s, c);
        break;
    case EXANET_REG_CTX_PGD:
        ctx->walk.root = exanet_reg_get64(s, EXANET_CTX(c) + reg);
        tlb_flush(s, ctx);
        break;
    case EXANET_REG_CTX_PDID:
        pdid = exanet_reg_get32(s, EXANET_CTX(c) + reg);
        ctx->pdid = (pdid & EXANET_PDID_JOB) | RNIC_PREP(EXANET_PDID_CTX, c);
        ctx->local = pdid & EXANET_CTX_PDID_LOCAL;
        break;
    case EXANET_REG_CTX_QUOTA:
        ctx->quota = exanet_reg_get32(s, EXANET_CTX(c) + reg);
        break;
    case EXANET_REG_CTX_INV_CMD:
        if (top) {
            context_invalidate(s, c);
        }
        break;
    default:
        if (reg >= EXANET_CTX_WIN(0) && reg < EXANET_CTX_WIN(EXANET_WINDOW_NI)) {
            ctx->win[(reg - EXANET_CTX_WIN(0)) / 8] =
                exanet_reg_get64(s, EXANET_CTX(c) + reg);
        }
    }
}

static void context_init(ExanetState *s)
{
    ExanetTlb *tlb = &s->tlb;

    tlb->mask = s->tlb_entries - 1;
    tlb->entry = qemu_memalign(64, s->tlb_entries * sizeof(*tlb->entry));
    memset(tlb->entry, 0, s->tlb_entries * sizeof(*tlb->entry));
    tlb->listener = (MemoryListener) {
        .name = "exanet",
        .commit = tlb_listener_commit,
    };
    memory_listener_register(&tlb->listener, s->host.as);
}

static void context_fini(ExanetState *s)
{
    if (s->tlb.entry) {
        memory_listener_unregister(&s->tlb.listener);
        tlb_drop(s);
        qemu_vfree(g_steal_pointer(&s->tlb.entry));
    }
}

static void context_reset(ExanetState *s)
{
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        s->ctx[c] = (ExanetContext) {
            .walk.read = walk_read,
            .walk.opaque = s,
            .pdid = RNIC_PREP(EXANET_PDID_CTX, c),
            .quota = exanet_reg_get32(s, EXANET_CTX(c) + EXANET_REG_CTX_QUOTA),
        };
        tlb_flush(s, &s->ctx[c]);
    }
    memset(&s->fault, 0, sizeof(s->fault));
}

const ExanetUnit exanet_context_unit = {
    .init = context_init,
    .fini = context_fini,
    .reset = context_reset,
};
