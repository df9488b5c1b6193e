/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables built by a test; see tables.h. */
#include "qemu/osdep.h"
#include "tables.h"

/* x86: Intel SDM volume 3, 4-level and 5-level paging */
#define X86_PRESENT     (1ULL << 0)
#define X86_WRITE       (1ULL << 1)
#define X86_USER        (1ULL << 2)
#define X86_ACCESSED    (1ULL << 5)
#define X86_DIRTY       (1ULL << 6)
#define X86_LARGE       (1ULL << 7)

/* arm64: VMSAv8-64 stage 1 */
#define ARM_VALID       (1ULL << 0)
#define ARM_TABLE       (1ULL << 1)     /* table, or page at the last level */
#define ARM_USER        (1ULL << 6)     /* bit 1 of AP */
#define ARM_READ_ONLY   (1ULL << 7)     /* bit 2 of AP */
#define ARM_ACCESSED    (1ULL << 10)
#define ARM_DBM         (1ULL << 51)

static const struct {
    unsigned page_shift;
    unsigned index_bits;
    unsigned levels;
    bool arm;
} formats[] = {
    [EXANET_FORMAT_X86_4]     = { 12, 9, 4, false },
    [EXANET_FORMAT_X86_5]     = { 12, 9, 5, false },
    [EXANET_FORMAT_ARM64_4K]  = { 12, 9, 4, true },
    [EXANET_FORMAT_ARM64_16K] = { 14, 11, 4, true },
    [EXANET_FORMAT_ARM64_64K] = { 16, 13, 3, true },
    [EXANET_FORMAT_ARM64_4K_LPA2] = { 12, 9, 5, true },
    [EXANET_FORMAT_ARM64_16K_LPA2] = { 14, 11, 4, true },
};

uint64_t exanet_tables_page(ExanetTables *tb)
{
    return 1ULL << formats[tb->format].page_shift;
}

static uint64_t new_table(ExanetTables *tb)
{
    uint64_t table = tb->next;

    tb->next += exanet_tables_page(tb);
    g_assert_cmphex(tb->next, <=, EXANET_RAM_MSIX);
    qtest_memset(tb->t->qts, table, 0, exanet_tables_page(tb));
    return table;
}

void exanet_tables_init(ExanetTables *tb, ExanetTest *t,
                        enum exanet_table_format format, uint64_t at)
{
    *tb = (ExanetTables) {
        .t = t,
        .format = format,
        .next = ROUND_UP(at, 1ULL << formats[format].page_shift),
    };
    tb->root = new_table(tb);
}

void exanet_tables_open(ExanetTables *tb, unsigned c)
{
    exanet_open(tb->t, c, EXANET_TEST_JOB, tb->format, tb->root);
}

static uint64_t table_entry(ExanetTables *tb, uint64_t table)
{
    return table | (formats[tb->format].arm ? ARM_VALID | ARM_TABLE :
                    X86_PRESENT | X86_WRITE | X86_USER | X86_ACCESSED);
}

static uint64_t leaf_x86(uint64_t pa, unsigned level, unsigned map)
{
    return pa | (level ? X86_LARGE : 0) |
           (map & EXANET_MAP_PRESENT ? X86_PRESENT : 0) |
           (map & EXANET_MAP_USER ? X86_USER : 0) |
           (map & EXANET_MAP_ACCESSED ? X86_ACCESSED : 0) |
           (map & EXANET_MAP_WRITE ? X86_WRITE : 0) |
           (map & EXANET_MAP_DIRTY ? X86_DIRTY : 0);
}

/*
 * Returns an arm64 leaf entry.  A page that is writable but clean has DBM, and AP[2] is
 * still set.
 */
static uint64_t leaf_arm(uint64_t pa, unsigned level, unsigned map)
{
    return pa | (level ? 0 : ARM_TABLE) |
           (map & EXANET_MAP_PRESENT ? ARM_VALID : 0) |
           (map & EXANET_MAP_USER ? ARM_USER : 0) |
           (map & EXANET_MAP_ACCESSED ? ARM_ACCESSED : 0) |
           (map & EXANET_MAP_WRITE ? ARM_DBM : 0) |
           (map & EXANET_MAP_DIRTY ? 0 : ARM_READ_ONLY);
}

uint64_t exanet_tables_entry(ExanetTables *tb, uint64_t va, unsigned level)
{
    unsigned bits = formats[tb->format].index_bits;
    unsigned at = formats[tb->format].levels - 1;
    uint64_t table = tb->root;

    for (;; at--) {
        unsigned shift = formats[tb->format].page_shift + bits * at;
        uint64_t entry = table + 8 * ((va >> shift) & ((1ULL << bits) - 1));
        uint64_t value;

        if (at == level) {
            return entry;
        }
        value = qtest_readq(tb->t->qts, entry);
        if (!(value & 1)) {
            value = table_entry(tb, new_table(tb));
            qtest_writeq(tb->t->qts, entry, value);
        }
        table = value & RNIC_FIELD(47, 12);
    }
}

void exanet_tables_map(ExanetTables *tb, uint64_t va, uint64_t pa,
                       unsigned level, unsigned map)
{
    uint64_t leaf = formats[tb->format].arm ? leaf_arm(pa, level, map) :
                                              leaf_x86(pa, level, map);

    qtest_writeq(tb->t->qts, exanet_tables_entry(tb, va, level), leaf);
}
