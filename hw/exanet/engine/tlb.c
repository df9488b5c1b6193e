/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cache of translations; see tlb.h. */
#include "qemu/osdep.h"
#include "qemu/memalign.h"
#include "tlb.h"

#define CACHE_LINE 64               /* bytes; a set fills a line of a 64-bit host */

void exanet_tlb_init(ExanetTlb *tlb, unsigned entries)
{
    size_t bytes = entries * sizeof(*tlb->entry);

    tlb->mask = entries - 1;
    tlb->entry = qemu_memalign(CACHE_LINE, bytes);
    memset(tlb->entry, 0, bytes);
}

void exanet_tlb_fini(ExanetTlb *tlb)
{
    qemu_vfree(g_steal_pointer(&tlb->entry));
}

/* Returns the entry that @e replaces; see exanet_tlb_insert(). */
static ExanetTlbEntry *tlb_victim(ExanetTlb *tlb, unsigned c, const ExanetTlbEntry *e)
{
    ExanetTlbEntry *set = exanet_tlb_set(tlb, c, e->va);

    for (unsigned i = 0; i < EXANET_TLB_WAYS; i++) {
        if (exanet_tlb_holds(&set[i], e->va, e->stamp)) {
            return &set[i];
        }
    }
    return &set[tlb->victim++ % EXANET_TLB_WAYS];
}

ExanetTlbEntry *exanet_tlb_insert(ExanetTlb *tlb, unsigned c, const ExanetTlbEntry *e)
{
    ExanetTlbEntry *victim = tlb_victim(tlb, c, e);

    *victim = *e;
    return victim;
}

void exanet_tlb_drop(ExanetTlb *tlb, unsigned c, uint64_t *stamp, uint64_t va,
                     uint64_t pages)
{
    if (pages > tlb->mask) {
        exanet_tlb_flush(tlb, stamp);
        return;
    }
    for (va = exanet_tlb_page(va); pages; pages--, va += 1ULL << EXANET_TLB_SHIFT) {
        ExanetTlbEntry *set = exanet_tlb_set(tlb, c, va);

        for (unsigned i = 0; i < EXANET_TLB_WAYS; i++) {
            if (exanet_tlb_holds(&set[i], va, *stamp)) {
                set[i].stamp = 0;
            }
        }
    }
}
