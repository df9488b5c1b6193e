/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache of translations: sets and their ways, stamps of contexts, drops of pages. */
#include "qemu/osdep.h"
#include "hw/rnic/exanet/engine/tlb.h"

#define ENTRIES 64
#define PAGE (1ULL << EXANET_TLB_SHIFT)
#define CONTEXTS 4

/* A cache, the stamps of its contexts, and host memory of which only addresses count. */
typedef struct Bench {
    ExanetTlb tlb;
    uint64_t stamp[CONTEXTS];
    uint8_t host[256];
} Bench;

static void bench_init(Bench *b)
{
    *b = (Bench) { };
    exanet_tlb_init(&b->tlb, ENTRIES);
    for (unsigned c = 0; c < CONTEXTS; c++) {
        exanet_tlb_flush(&b->tlb, &b->stamp[c]);
    }
}

/* Inserts the page at @va of context @c, with @n as its memory. */
static ExanetTlbEntry *insert(Bench *b, unsigned c, uint64_t va, unsigned n, bool write)
{
    ExanetTlbEntry e = {
        .va = va, .stamp = b->stamp[c], .host = &b->host[n], .range = n, .write = write,
    };

    return exanet_tlb_insert(&b->tlb, c, &e);
}

static ExanetTlbEntry *find(Bench *b, unsigned c, uint64_t va, bool write)
{
    return exanet_tlb_find(&b->tlb, c, b->stamp[c], va, write);
}

/* Asserts that the page at @va of context @c is in memory @n. */
static void assert_found(Bench *b, unsigned c, uint64_t va, unsigned n)
{
    ExanetTlbEntry *e = find(b, c, va, false);

    g_assert_nonnull(e);
    g_assert_cmphex(e->va, ==, exanet_tlb_page(va));
    g_assert_true(e->host == &b->host[n]);
    g_assert_cmpuint(e->range, ==, n);
}

/* Returns the first page from @va on that shares the set of @like in context @c. */
static uint64_t same_set(Bench *b, unsigned c, uint64_t va, uint64_t like)
{
    while (exanet_tlb_set(&b->tlb, c, va) != exanet_tlb_set(&b->tlb, c, like)) {
        va += PAGE;
    }
    return va;
}

static void test_find(void)
{
    const uint64_t va = 0x7f0000005000ULL;
    Bench b;

    bench_init(&b);
    /* an empty cache has no page 0, although its entries are zero */
    g_assert_null(find(&b, 0, 0, false));
    g_assert_null(exanet_tlb_find(&b.tlb, 0, 1ULL << 40, 0, false));
    g_assert_true(insert(&b, 1, va, 7, true) == find(&b, 1, va, true));
    assert_found(&b, 1, va, 7);
    assert_found(&b, 1, va + 1, 7);
    assert_found(&b, 1, va + PAGE - 1, 7);
    g_assert_null(find(&b, 1, va + PAGE, false));
    g_assert_null(find(&b, 1, va - 1, false));
    g_assert_null(find(&b, 1, va | 1ULL << 63, false));
    /* the same address of another context is another page */
    g_assert_null(find(&b, 2, va, false));
    insert(&b, 2, va, 8, true);
    assert_found(&b, 1, va, 7);
    assert_found(&b, 2, va, 8);
    exanet_tlb_fini(&b.tlb);
    g_assert_null(b.tlb.entry);
}

/* A page that may only be read is found for reads, and is replaced by a writable one. */
static void test_write(void)
{
    Bench b;

    bench_init(&b);
    insert(&b, 0, PAGE, 1, false);
    assert_found(&b, 0, PAGE, 1);
    g_assert_null(find(&b, 0, PAGE, true));
    insert(&b, 0, PAGE, 2, true);
    assert_found(&b, 0, PAGE, 2);
    g_assert_nonnull(find(&b, 0, PAGE, true));
    /* the other way of the set is still free */
    g_assert_cmpuint(b.tlb.victim, ==, 1);
    exanet_tlb_fini(&b.tlb);
}

/* A set has two pages; a third replaces the first. */
static void test_collisions(void)
{
    uint64_t a = 0x10000, p, q, r;
    Bench b;

    bench_init(&b);
    p = same_set(&b, 0, a + PAGE, a);
    q = same_set(&b, 0, p + PAGE, a);
    r = same_set(&b, 0, q + PAGE, a);
    insert(&b, 0, a, 1, true);
    insert(&b, 0, p, 2, true);
    assert_found(&b, 0, a, 1);
    assert_found(&b, 0, p, 2);
    insert(&b, 0, q, 3, true);
    g_assert_null(find(&b, 0, a, false));
    assert_found(&b, 0, p, 2);
    assert_found(&b, 0, q, 3);
    insert(&b, 0, r, 4, true);
    g_assert_null(find(&b, 0, p, false));
    assert_found(&b, 0, q, 3);
    assert_found(&b, 0, r, 4);
    /* a page that is in the set replaces itself */
    insert(&b, 0, q, 5, true);
    assert_found(&b, 0, q, 5);
    assert_found(&b, 0, r, 4);
    g_assert_cmpuint(b.tlb.victim, ==, 4);
    exanet_tlb_fini(&b.tlb);
}

/* Pages at multiples of a power of two are not all in one set, or in a few sets. */
static void test_spread(void)
{
    for (unsigned shift = EXANET_TLB_SHIFT; shift <= 34; shift++) {
        bool used[ENTRIES] = { };
        unsigned sets = 0;
        Bench b;

        bench_init(&b);
        for (uint64_t n = 0; n < ENTRIES; n++) {
            unsigned set = exanet_tlb_set(&b.tlb, 1, n << shift) - b.tlb.entry;

            g_assert_cmpuint(set, <, ENTRIES);
            g_assert_cmpuint(set % EXANET_TLB_WAYS, ==, 0);
            sets += !used[set];
            used[set] = true;
        }
        /* of 32 sets; the low bits of the page number alone would use one set */
        g_assert_cmpuint(sets, >=, 12);
        exanet_tlb_fini(&b.tlb);
    }
}

/* A flush invalidates all pages of one context, and none of another. */
static void test_flush(void)
{
    uint64_t old;
    Bench b;

    bench_init(&b);
    for (unsigned c = 0; c < CONTEXTS; c++) {
        /* pages of different sets */
        insert(&b, c, c * PAGE, 10 + c, true);
        insert(&b, c, (CONTEXTS + c) * PAGE, 20 + c, true);
    }
    for (unsigned c = 0; c < CONTEXTS; c++) {
        assert_found(&b, c, c * PAGE, 10 + c);
        assert_found(&b, c, (CONTEXTS + c) * PAGE, 20 + c);
    }
    old = b.stamp[2];
    exanet_tlb_flush(&b.tlb, &b.stamp[2]);
    for (unsigned c = 0; c < CONTEXTS; c++) {
        g_assert_cmphex(b.stamp[c], !=, 0);
        g_assert_cmpint(b.stamp[c] == b.stamp[2], ==, c == 2);
        if (c == 2) {
            g_assert_null(find(&b, c, c * PAGE, false));
            g_assert_null(find(&b, c, (CONTEXTS + c) * PAGE, false));
        } else {
            assert_found(&b, c, c * PAGE, 10 + c);
            assert_found(&b, c, (CONTEXTS + c) * PAGE, 20 + c);
        }
    }
    /* a page that is inserted again has the new stamp */
    insert(&b, 2, 2 * PAGE, 30, true);
    assert_found(&b, 2, 2 * PAGE, 30);
    g_assert_cmphex(find(&b, 2, 2 * PAGE, false)->stamp, !=, old);
    exanet_tlb_fini(&b.tlb);
}

/* A drop invalidates the pages of its range in one context. */
static void test_drop(void)
{
    uint64_t stamp;
    Bench b;

    bench_init(&b);
    for (unsigned n = 1; n <= 5; n++) {
        insert(&b, 0, n * PAGE, n, true);
    }
    insert(&b, 1, 3 * PAGE, 9, true);
    for (unsigned n = 1; n <= 5; n++) {
        assert_found(&b, 0, n * PAGE, n);
    }
    stamp = b.stamp[0];
    exanet_tlb_drop(&b.tlb, 0, &b.stamp[0], 2 * PAGE, 0);
    assert_found(&b, 0, 2 * PAGE, 2);
    /* an address within the first page */
    exanet_tlb_drop(&b.tlb, 0, &b.stamp[0], 2 * PAGE + 0x123, 2);
    g_assert_cmphex(b.stamp[0], ==, stamp);
    assert_found(&b, 0, PAGE, 1);
    g_assert_null(find(&b, 0, 2 * PAGE, false));
    g_assert_null(find(&b, 0, 3 * PAGE, false));
    assert_found(&b, 0, 4 * PAGE, 4);
    assert_found(&b, 0, 5 * PAGE, 5);
    assert_found(&b, 1, 3 * PAGE, 9);

    /* a range as large as the cache drops the whole context, a smaller one does not */
    exanet_tlb_drop(&b.tlb, 0, &b.stamp[0], 5 * PAGE, ENTRIES - 1);
    g_assert_cmphex(b.stamp[0], ==, stamp);
    assert_found(&b, 0, 4 * PAGE, 4);
    g_assert_null(find(&b, 0, 5 * PAGE, false));
    exanet_tlb_drop(&b.tlb, 0, &b.stamp[0], 100 * PAGE, ENTRIES);
    g_assert_cmphex(b.stamp[0], !=, stamp);
    g_assert_null(find(&b, 0, PAGE, false));
    g_assert_null(find(&b, 0, 4 * PAGE, false));
    assert_found(&b, 1, 3 * PAGE, 9);
    exanet_tlb_fini(&b.tlb);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/tlb/find", test_find);
    g_test_add_func("/exanet/tlb/write", test_write);
    g_test_add_func("/exanet/tlb/collisions", test_collisions);
    g_test_add_func("/exanet/tlb/spread", test_spread);
    g_test_add_func("/exanet/tlb/flush", test_flush);
    g_test_add_func("/exanet/tlb/drop", test_drop);
    return g_test_run();
}
