/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cache of translations: from a page of a context to host memory.
 *
 * The owner numbers its contexts from 0 to 255, and keeps a stamp for each context.  An
 * entry is valid while its stamp is equal to the stamp of its context.  So a new stamp
 * invalidates all entries of a context at once.  The owner must set a new stamp before
 * the memory at the host pointer of an entry is freed.
 */
#ifndef HW_EXANET_ENGINE_TLB_H
#define HW_EXANET_ENGINE_TLB_H

#define EXANET_TLB_SHIFT 12         /* an entry covers 4 KB, even of a larger page */
#define EXANET_TLB_WAYS 2ULL        /* number of entries of a set */

typedef struct ExanetTlbEntry {
    uint64_t va;                    /* virtual address of the page */
    uint64_t stamp;                 /* 0: not valid */
    uint8_t *host;                  /* first byte of the page */
    uint8_t range;                  /* the owner's number for the RAM range of @host */
    bool write;                     /* the page is writable */
} ExanetTlbEntry;

typedef struct ExanetTlb {
    ExanetTlbEntry *entry;          /* sets of EXANET_TLB_WAYS, owned; NULL: no cache */
    uint64_t mask;                  /* number of elements of @entry, less 1 */
    unsigned victim;                /* counter; selects the entry of a set to replace */
    uint64_t stamp;                 /* the newest stamp */
} ExanetTlb;

/* Allocates an empty cache.  @entries: a power of two, at least EXANET_TLB_WAYS. */
void exanet_tlb_init(ExanetTlb *tlb, unsigned entries);
/* Frees the entries. */
void exanet_tlb_fini(ExanetTlb *tlb);

/*
 * Invalidates all entries of the context with stamp *@stamp: sets *@stamp to a new value,
 * which is not 0 and which no context has had before.
 */
static inline void exanet_tlb_flush(ExanetTlb *tlb, uint64_t *stamp)
{
    *stamp = ++tlb->stamp;
}

/* Returns the first byte of the page at @va. */
static inline uint64_t exanet_tlb_page(uint64_t va)
{
    return va & ~((1ULL << EXANET_TLB_SHIFT) - 1);
}

/* Returns the set for the page at @va of context @c.  For the TLB and its test only. */
static inline ExanetTlbEntry *exanet_tlb_set(const ExanetTlb *tlb, unsigned c,
                                             uint64_t va)
{
    /*
     * The multiplication spreads buffers that begin at multiples of large powers of 2.
     * @c changes only bits of the hash above the mask.  So a page with the same address
     * has the same set in all contexts.
     */
    uint64_t hash = ((va >> EXANET_TLB_SHIFT) + ((uint64_t)c << 56)) *
                    0x9e3779b97f4a7c15ULL;

    return &tlb->entry[(hash >> 32) & tlb->mask & -EXANET_TLB_WAYS];
}

/* Returns true if @e is the entry of page @page with @stamp.  Used only by the TLB. */
static inline bool exanet_tlb_holds(const ExanetTlbEntry *e, uint64_t page,
                                    uint64_t stamp)
{
    return e->va == page && e->stamp == stamp;
}

/*
 * Returns the entry of the page at @va of context @c, whose stamp is @stamp.  Returns
 * NULL if there is no such entry, or if @write is true and the page is not writable.  The
 * next call of exanet_tlb_insert() may replace the entry.
 */
static inline ExanetTlbEntry *exanet_tlb_find(const ExanetTlb *tlb, unsigned c,
                                              uint64_t stamp, uint64_t va, bool write)
{
    ExanetTlbEntry *e = exanet_tlb_set(tlb, c, va);
    uint64_t page = exanet_tlb_page(va);

    for (unsigned i = 0; i < EXANET_TLB_WAYS; i++, e++) {
        if (exanet_tlb_holds(e, page, stamp) && (e->write || !write)) {
            return e;
        }
    }
    return NULL;
}

/*
 * Stores a copy of @e, a page of context @c with the context's stamp, and returns the
 * copy.  The copy replaces the valid entry of the same page.  If there is no such entry,
 * the copy replaces the entry of the set that @victim selects, even if another entry is
 * not valid.
 */
ExanetTlbEntry *exanet_tlb_insert(ExanetTlb *tlb, unsigned c, const ExanetTlbEntry *e);
/*
 * Invalidates the entries of @pages pages from @va on of context @c with stamp *@stamp.
 * Calls exanet_tlb_flush() instead if @pages is at least the number of entries.
 */
void exanet_tlb_drop(ExanetTlb *tlb, unsigned c, uint64_t *stamp, uint64_t va,
                     uint64_t pages);

#endif /* HW_EXANET_ENGINE_TLB_H */
