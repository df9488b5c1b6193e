/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet contexts: registers, translation, and access to the memory of processes.
 *
 * exanet_context_read() and exanet_context_write() translate and copy in one call under
 * the BQL, and INV_CMD runs under the BQL too.  So no old translation is in use when the
 * MMIO write of INV_CMD returns.  A cached translation has a host pointer into RAM.  So
 * all translations are invalidated when the table of RAM drops its ranges.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "context.h"
#include "../exanet.h"
#include "fault.h"
#include "ram.h"
#include "../base/regs.h"
#include "tlb.h"
#include "walk.h"
#include "../trace.h"

#define PAGE_BYTES (1u << EXANET_TLB_SHIFT)
#define PAGE_OFFSET(va) ((va) & (PAGE_BYTES - 1))
/*
 * Maximal number of pages in one access, and of ranges of RAM that one access needs.  A
 * page can need six ranges, because the page and its page tables, up to five, may each be
 * in another range.
 */
#define ACCESS_PAGES (EXANET_ACCESS_MAX / PAGE_BYTES + 1)
#define ACCESS_RANGES (ACCESS_PAGES * 6)
QEMU_BUILD_BUG_ON(ACCESS_RANGES > EXANET_RAM_RANGES);

/* --- Translation ----------------------------------------------------------- */

/* Invalidates all cached translations, because their host pointers become invalid. */
static void pages_forget(ExanetRam *ram)
{
    ExanetState *s = container_of(ram, ExanetState, ram);

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        exanet_tlb_flush(&s->tlb, &s->ctx[c].stamp);
    }
}

static bool walk_read(void *opaque, uint64_t pa, uint64_t *entry)
{
    ExanetState *s = opaque;
    ExanetRamRange *range = exanet_ram_find(&s->ram, pa, sizeof(*entry));

    if (!range) {
        return false;
    }
    *entry = ldq_le_p(exanet_ram_pointer(range, pa));
    return true;
}

/*
 * Walks the page tables of context @c for @va, and counts the walk.  Returns PROTECTION
 * without a walk if the context is disabled or quiesced.  If exanet_walk() returns FAULT,
 * counts the fault, and returns FAULT, or PROTECTION if the context has NO_REPORT.
 * Otherwise returns the result of exanet_walk().  @leaf is valid if the result is ACK.
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
 * Walks the page tables of context @c for @va.  If context_walk() returns an error,
 * returns that error.  Returns DECODE if the page is not in RAM.  Otherwise stores the
 * translation in the TLB, sets *@found to the entry, and returns ACK.
 */
static G_NO_INLINE enum exanet_resp
page_walk(ExanetState *s, unsigned c, uint64_t va, bool write, ExanetTlbEntry **found)
{
    enum exanet_resp resp;
    ExanetRamRange *range;
    ExanetLeaf leaf;
    hwaddr pa;

    resp = context_walk(s, c, va, write, &leaf);
    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    pa = leaf.pa | exanet_tlb_page(leaf_offset(&leaf, va));
    range = exanet_ram_find(&s->ram, pa, PAGE_BYTES);
    if (!range) {
        return EXANET_RESP_DECODE;
    }
    /* reads the stamp only here, because exanet_ram_find() may change the stamp */
    *found = exanet_tlb_insert(&s->tlb, c, &(ExanetTlbEntry) {
        .va = exanet_tlb_page(va),
        .stamp = s->ctx[c].stamp,
        .host = exanet_ram_pointer(range, pa),
        .range = exanet_ram_index(&s->ram, range),
        .write = leaf.write,
    });
    return EXANET_RESP_ACK;
}

/*
 * Finds the translation of @va in the TLB, or else by a walk.  Counts each call in XLATE,
 * and each translation found in the TLB in TLB_HIT.  Returns ACK with the entry in
 * *@found, or the error of page_walk().
 */
static inline enum exanet_resp page_find(ExanetState *s, unsigned c, uint64_t va,
                                         bool write, ExanetTlbEntry **found)
{
    exanet_count(s, XLATE);
    *found = exanet_tlb_find(&s->tlb, c, s->ctx[c].stamp, va, write);
    if (!*found) {
        return page_walk(s, c, va, write, found);
    }
    exanet_count(s, TLB_HIT);
    return EXANET_RESP_ACK;
}

/*
 * Translates all pages of an access to @len bytes from @va on, which crosses page
 * boundaries.  Stores copies of the TLB entries of the pages in @page, because a later
 * page of the access may replace the entry of an earlier page.  Returns ACK, or the error
 * of the first page without a translation; then *@fault_va is the first address of the
 * access in that page.
 */
static enum exanet_resp access_pages(ExanetState *s, unsigned c, uint64_t va,
                                     size_t len, bool write,
                                     ExanetTlbEntry *page, uint64_t *fault_va)
{
    uint64_t end = PAGE_OFFSET(va) + len;

    assert(len <= EXANET_ACCESS_MAX);
    /*
     * drops ranges now if there is no room, because a later drop would invalidate @page
     */
    exanet_ram_reserve(&s->ram, ACCESS_RANGES);
    for (uint64_t at = 0; at < end; at += PAGE_BYTES) {
        uint64_t page_va = exanet_tlb_page(va) + at;
        ExanetTlbEntry *e;
        enum exanet_resp resp = page_find(s, c, page_va, write, &e);

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
    uint8_t *p = e->host + offset;

    if (len == sizeof(uint64_t) && !(offset & (sizeof(uint64_t) - 1))) {
        /*
         * orders the store after earlier stores, because @buf may be a status that a
         * process polls
         */
        smp_wmb();
        stq_he_p(p, ldq_he_p(buf));
    } else {
        memcpy(p, buf, len);
    }
    exanet_ram_dirty(&s->ram, e->range, p, len);
}

/*
 * Does the work of exanet_context_read() for bytes in more than one page.  This function
 * and access_write() are not inlined, because the compiler would zero the array of pages
 * even for an access to a single page.
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
    resp = page_find(s, c, va, false, &e);
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
    resp = page_find(s, c, va, true, &e);
    if (unlikely(resp != EXANET_RESP_ACK)) {
        *fault_va = va;
        return resp;
    }
    page_write(s, e, offset, buf, len);
    return EXANET_RESP_ACK;
}

unsigned exanet_context_cached(ExanetState *s, unsigned c, uint64_t va, bool write,
                               size_t piece, unsigned count)
{
    uint64_t end = PAGE_OFFSET(va) + piece * count;
    uint64_t at = 0;

    while (at < end && exanet_tlb_find(&s->tlb, c, s->ctx[c].stamp,
                                       exanet_tlb_page(va) + at, write)) {
        at += PAGE_BYTES;
    }
    return at ? (MIN(at, end) - PAGE_OFFSET(va)) / piece : 0;
}

/* Counts the translations of @count cached pieces of @piece bytes from @va on. */
static void cached_count(ExanetState *s, uint64_t va, size_t piece, unsigned count)
{
    /* a piece in two pages has two translations */
    unsigned crossings = va % piece ?
                         (PAGE_OFFSET(va) + piece * count - 1) / PAGE_BYTES : 0;

    exanet_count_by(s, EXANET_CNT_XLATE, count + crossings);
    exanet_count_by(s, EXANET_CNT_TLB_HIT, count + crossings);
}

/*
 * Returns how many of @len bytes from @va on are adjacent in host memory.  All these
 * bytes have cached translations.  Stores in *@found the TLB entry of the first page.
 */
static size_t cached_adjacent(ExanetState *s, unsigned c, uint64_t va, bool write,
                              size_t len, ExanetTlbEntry **found)
{
    ExanetTlbEntry *e = exanet_tlb_find(&s->tlb, c, s->ctx[c].stamp, va, write);
    size_t part = PAGE_BYTES - PAGE_OFFSET(va);

    *found = e;
    while (part < len) {
        ExanetTlbEntry *next = exanet_tlb_find(&s->tlb, c, s->ctx[c].stamp, va + part,
                                               write);

        if (next->host != e->host + PAGE_OFFSET(va) + part || next->range != e->range) {
            return part;
        }
        part += PAGE_BYTES;
    }
    return len;
}

void exanet_context_read_cached(ExanetState *s, unsigned c, uint64_t va, void *buf,
                                size_t piece, unsigned count)
{
    size_t left = piece * count;

    cached_count(s, va, piece, count);
    while (left) {
        ExanetTlbEntry *e;
        size_t part = cached_adjacent(s, c, va, false, left, &e);

        memcpy(buf, e->host + PAGE_OFFSET(va), part);
        va += part;
        buf += part;
        left -= part;
    }
}

void exanet_context_write_cached(ExanetState *s, unsigned c, uint64_t va,
                                 const void *buf, size_t piece, unsigned count)
{
    size_t left = piece * count;

    cached_count(s, va, piece, count);
    while (left) {
        ExanetTlbEntry *e;
        size_t part = cached_adjacent(s, c, va, true, left, &e);

        memcpy(e->host + PAGE_OFFSET(va), buf, part);
        exanet_ram_dirty(&s->ram, e->range, e->host + PAGE_OFFSET(va), part);
        va += part;
        buf += part;
        left -= part;
    }
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

/* --- Jobs -------------------------------------------------------------------- */

unsigned exanet_context_job(ExanetState *s, unsigned c)
{
    return RNIC_GET(EXANET_PDID_JOB, s->ctx[c].pdid);
}

bool exanet_context_same_job(ExanetState *s, unsigned a, unsigned b)
{
    return exanet_context_job(s, a) == exanet_context_job(s, b);
}

unsigned exanet_context_jobs(ExanetState *s)
{
    unsigned jobs = 0;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        bool first = s->ctx[c].enabled;

        for (unsigned i = 0; first && i < c; i++) {
            first = !s->ctx[i].enabled || !exanet_context_same_job(s, i, c);
        }
        jobs += first;
    }
    return MAX(jobs, 1);
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

/*
 * Ends the work of context @c, which was disabled or quiesced, in each unit that has
 * quiesce().  ExaDMA has no quiesce(), and stops a transaction at the next attempt to
 * send.
 */
static void context_stop(ExanetState *s, unsigned c)
{
    for (const ExanetUnit *const *u = s->units; *u; u++) {
        if ((*u)->quiesce) {
            (*u)->quiesce(s, c);
        }
    }
}

/*
 * Clears the user pages of context @c, except its info page, because the pages may have
 * data of another process.
 */
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
    exanet_tlb_flush(&s->tlb, &ctx->stamp);
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
    if (cmd & EXANET_INV_ALL) {
        exanet_tlb_flush(&s->tlb, &ctx->stamp);
    } else if (len) {
        exanet_tlb_drop(&s->tlb, c, &ctx->stamp, va, pages);
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
        exanet_tlb_flush(&s->tlb, &ctx->stamp);
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
    exanet_tlb_init(&s->tlb, s->tlb_entries);
    exanet_ram_init(&s->ram, s->host.as, pages_forget);
}

static void context_fini(ExanetState *s)
{
    if (s->tlb.entry) {
        exanet_ram_fini(&s->ram);
        exanet_tlb_fini(&s->tlb);
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
        exanet_tlb_flush(&s->tlb, &s->ctx[c].stamp);
    }
    memset(&s->fault, 0, sizeof(s->fault));
}

const ExanetUnit exanet_context_unit = {
    .init = context_init,
    .fini = context_fini,
    .reset = context_reset,
};
