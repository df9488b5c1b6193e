/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page-table walker, on tables in a memory of the test.  The test defines the bits of
 * the entries again, from the processor manuals, so that an error in the walker's
 * definitions is found.
 */
#include "qemu/osdep.h"
#include "hw/rnic/exanet/engine/walk.h"
#include "../../seed.h"

#define RAM_BASE    0x100000000ULL
#define RAM_BYTES   (8 * 1024 * 1024)
#define OUTSIDE     (RAM_BASE + RAM_BYTES)
#define LEVELS_MAX  5
#define FUZZ_ROUNDS 400000

/* Bits of x86-64 entries. */
#define P       0x001ULL
#define RW      0x002ULL
#define US      0x004ULL
#define A       0x020ULL
#define D       0x040ULL
#define PS      0x080ULL
#define PAT_4K  0x080ULL
#define G       0x100ULL
#define PAT_BIG 0x1000ULL
#define NX      (1ULL << 63)
#define X86_IGNORED (0x7ff0000000000e00ULL | NX)
#define X86_TABLE   (P | RW | US)
#define X86_LEAF    (P | RW | US | A | D)

/* Bits of arm64 entries. */
#define VALID   0x001ULL
#define TABLE   0x002ULL
#define PAGE    0x002ULL
#define USER    0x040ULL
#define RDONLY  0x080ULL
#define AF      0x400ULL
#define NG      0x800ULL
#define NT      (1ULL << 16)
#define GP      (1ULL << 50)
#define DBM     (1ULL << 51)
#define CONT    (1ULL << 52)
#define PXN     (1ULL << 53)
#define UXN     (1ULL << 54)
#define SOFT    (0xfULL << 55)
#define NO_USER (1ULL << 61)
#define NO_WRITE (1ULL << 62)
#define ARM_LEAF (VALID | USER | AF)
#define ARM_SH  (3ULL << 8)
#define ARM_ATTR (7ULL << 2)
#define ARM_NS  (1ULL << 5)
#define PBHA    (0xfULL << 59)

typedef struct Memory {
    uint64_t *ram;
    uint64_t next;          /* free memory begins here */
    unsigned reads;         /* entries that the walker has read */
} Memory;

static Memory mem;

static bool mem_read(void *opaque, uint64_t pa, uint64_t *entry)
{
    g_assert_true(opaque == &mem);
    g_assert_cmpuint(pa % 8, ==, 0);
    mem.reads++;
    if (pa < RAM_BASE || pa >= RAM_BASE + RAM_BYTES) {
        return false;
    }
    *entry = mem.ram[(pa - RAM_BASE) / 8];
    return true;
}

static uint64_t *mem_at(uint64_t pa)
{
    g_assert_true(pa >= RAM_BASE && pa < RAM_BASE + RAM_BYTES);
    return &mem.ram[(pa - RAM_BASE) / 8];
}

static void mem_clear(void)
{
    memset(mem.ram, 0, RAM_BYTES);
    mem.next = RAM_BASE;
}

static uint64_t mem_alloc(uint64_t bytes)
{
    uint64_t pa = ROUND_UP(mem.next, bytes);

    mem.next = pa + bytes;
    g_assert_cmphex(mem.next, <=, RAM_BASE + RAM_BYTES);
    return pa;
}

/* A mapping of one page, and pointers to its entries; the leaf is the last one. */
typedef struct Map {
    ExanetWalk walk;
    uint64_t va;
    uint64_t pa;
    unsigned shift;
    unsigned depth;
    uint64_t *entry[LEVELS_MAX];
} Map;

static enum exanet_resp walk(const Map *m, uint64_t va, bool write,
                             ExanetLeaf *leaf)
{
    memset(leaf, 0xff, sizeof(*leaf));
    mem.reads = 0;
    return exanet_walk(&m->walk, va, write, leaf);
}

static void expect(const Map *m, enum exanet_resp read, enum exanet_resp write)
{
    ExanetLeaf leaf;

    g_assert_cmpint(walk(m, m->va, false, &leaf), ==, read);
    if (read == EXANET_RESP_ACK) {
        g_assert_cmphex(leaf.pa, ==, m->pa);
        g_assert_cmpuint(leaf.shift, ==, m->shift);
        g_assert_cmpint(leaf.write, ==, write == EXANET_RESP_ACK);
        g_assert_cmpuint(mem.reads, ==, m->depth);
    }
    g_assert_cmpint(walk(m, m->va, true, &leaf), ==, write);
    if (write == EXANET_RESP_ACK) {
        g_assert_cmphex(leaf.pa, ==, m->pa);
        g_assert_true(leaf.write);
    }
}

static void expect_ok(const Map *m)
{
    expect(m, EXANET_RESP_ACK, EXANET_RESP_ACK);
}

static void expect_read_only(const Map *m)
{
    expect(m, EXANET_RESP_ACK, EXANET_RESP_FAULT);
}

static void expect_fault(const Map *m)
{
    expect(m, EXANET_RESP_FAULT, EXANET_RESP_FAULT);
}

static void expect_decode(const Map *m)
{
    expect(m, EXANET_RESP_DECODE, EXANET_RESP_DECODE);
}

/* Runs @check on @m with a changed entry of @level, then restores the entry. */
static void change(const Map *m, unsigned level, uint64_t clear, uint64_t set,
                   void (*check)(const Map *m))
{
    uint64_t old = *m->entry[level];

    *m->entry[level] = (old & ~clear) | set;
    check(m);
    *m->entry[level] = old;
}

static void expect_va_decode(const Map *m, uint64_t va)
{
    ExanetLeaf leaf;

    g_assert_cmpint(walk(m, va, false, &leaf), ==, EXANET_RESP_DECODE);
    g_assert_cmpint(walk(m, va, true, &leaf), ==, EXANET_RESP_DECODE);
    g_assert_cmpuint(mem.reads, ==, 0);
}

/* --- x86-64 ----------------------------------------------------------------- */

static const unsigned x86_shifts[] = { 12, 21, 30 };

static void x86_map(Map *m, unsigned levels, uint64_t va, unsigned shift)
{
    uint64_t table;

    mem_clear();
    table = mem_alloc(4096);
    *m = (Map) {
        .walk = {
            .format = levels == 4 ? EXANET_FORMAT_X86_4 : EXANET_FORMAT_X86_5,
            .root = table,
            .read = mem_read,
            .opaque = &mem,
        },
        .va = va,
        .pa = 0x000abc0000000ULL & (~0ULL << shift),
        .shift = shift,
    };
    for (unsigned at = 12 + 9 * (levels - 1); ; at -= 9) {
        uint64_t *entry = mem_at(table + ((va >> at) & 511) * 8);

        m->entry[m->depth++] = entry;
        if (at == shift) {
            *entry = m->pa | X86_LEAF | (shift > 12 ? PS : 0);
            return;
        }
        table = mem_alloc(4096);
        *entry = table | X86_TABLE;
    }
}

typedef void MapTest(Map *m, unsigned leaf);

static void x86_each(MapTest *test)
{
    static const uint64_t vas[] = {
        0, 0x7fffffffffff, 0x555555554000, 0x00400fedcba9, 0x2aaaaaaaa123,
    };
    Map m;

    for (unsigned levels = 4; levels <= 5; levels++) {
        for (unsigned i = 0; i < ARRAY_SIZE(x86_shifts); i++) {
            for (unsigned v = 0; v < ARRAY_SIZE(vas); v++) {
                x86_map(&m, levels, vas[v], x86_shifts[i]);
                test(&m, m.depth - 1);
            }
        }
    }
    x86_map(&m, 5, 0xffffffffffffff, 12);
    test(&m, m.depth - 1);
    x86_map(&m, 5, 0x80123456789abc, 21);
    test(&m, m.depth - 1);
}

static void x86_rights(Map *m, unsigned leaf)
{
    expect_ok(m);
    for (unsigned i = 0; i <= leaf; i++) {
        change(m, i, P, 0, expect_fault);
        change(m, i, ~0ULL, 0, expect_fault);
        change(m, i, US, 0, expect_fault);
        change(m, i, RW, 0, expect_read_only);
        change(m, i, 0, NX, expect_ok);
        change(m, i, 0, X86_IGNORED, expect_ok);
        /* the kernel leaves such an entry for a page that it has removed */
        change(m, i, P, G, expect_fault);
    }
    change(m, leaf, A, 0, expect_fault);
    change(m, leaf, D, 0, expect_read_only);
    change(m, leaf, A | D, 0, expect_fault);
    change(m, leaf, 0, G, expect_ok);
    change(m, leaf, 0, m->shift == 12 ? PAT_4K : PAT_BIG, expect_ok);
    for (unsigned i = 0; i < leaf; i++) {
        change(m, i, 0, A | D, expect_ok);
    }
    expect_ok(m);
}

static void x86_reserved(Map *m, unsigned leaf)
{
    for (unsigned bit = 13; m->shift > 12 && bit < m->shift; bit++) {
        change(m, leaf, 0, 1ULL << bit, expect_fault);
    }
    /* pages larger than 1 GB do not exist */
    for (unsigned i = 0; 12 + 9 * (leaf - i) + m->shift - 12 > 30; i++) {
        change(m, i, 0, PS, expect_fault);
        change(m, i, ~0ULL, X86_LEAF | PS, expect_fault);
    }
}

static void x86_outside(Map *m, unsigned leaf)
{
    uint64_t root = m->walk.root;

    for (unsigned i = 0; i < leaf; i++) {
        change(m, i, 0x000ffffffffff000, OUTSIDE, expect_decode);
        change(m, i, 0x000ffffffffff000, 0, expect_decode);
        change(m, i, 0, 0x000ffffffffff000, expect_decode);
    }
    m->walk.root = OUTSIDE;
    expect_decode(m);
    m->walk.root = 0;
    expect_decode(m);
    m->walk.root = ~0ULL;
    expect_decode(m);
    /* CR3 bits: PCID, and the bit that keeps translations */
    m->walk.root = root | 0xfff | 1ULL << 63;
    expect_ok(m);
    m->walk.root = root;
    /* the walker does not check the address of the page */
    m->pa = 0x000fffffc0000000;
    change(m, leaf, 0x000fffffc0000000, m->pa, expect_ok);
}

static void test_x86_rights(void)
{
    x86_each(x86_rights);
}

static void test_x86_reserved(void)
{
    x86_each(x86_reserved);
}

static void test_x86_outside(void)
{
    x86_each(x86_outside);
}

static void test_x86_canonical(void)
{
    ExanetLeaf leaf;
    Map m;

    for (unsigned levels = 4; levels <= 5; levels++) {
        unsigned bits = levels == 4 ? 47 : 56;

        x86_map(&m, levels, (1ULL << bits) - 1, 12);
        expect_ok(&m);
        m.walk.va_bits = bits;
        expect_ok(&m);
        m.walk.va_bits = 255;       /* more bits than the format has */
        expect_ok(&m);
        for (unsigned bit = bits; bit < 64; bit++) {
            expect_va_decode(&m, 1ULL << bit);
            expect_va_decode(&m, ~0ULL << bit);
            expect_va_decode(&m, m.va | 1ULL << bit);
        }
        m.walk.va_bits = bits - 1;
        expect_va_decode(&m, m.va);
        expect_va_decode(&m, 1ULL << (bits - 1));
        g_assert_cmpint(walk(&m, m.va >> 1, false, &leaf), ==,
                        EXANET_RESP_FAULT);
    }
}

/* Each entry of a table points to the table.  The number of levels ends the walk. */
static void test_x86_loop(void)
{
    ExanetLeaf leaf;
    Map m;

    for (unsigned levels = 4; levels <= 5; levels++) {
        x86_map(&m, levels, 0x123456789000, 12);
        for (unsigned i = 0; i < 512; i++) {
            *mem_at(m.walk.root + 8 * i) = m.walk.root | X86_LEAF;
        }
        g_assert_cmpint(walk(&m, m.va, true, &leaf), ==, EXANET_RESP_ACK);
        g_assert_cmphex(leaf.pa, ==, m.walk.root);
        g_assert_cmpuint(mem.reads, ==, levels);
        for (unsigned i = 0; i < 512; i++) {
            *mem_at(m.walk.root + 8 * i) = m.walk.root | X86_TABLE;
        }
        g_assert_cmpint(walk(&m, m.va, false, &leaf), ==, EXANET_RESP_FAULT);
        g_assert_cmpuint(mem.reads, ==, levels);
    }
}

/* --- arm64 -------------------------------------------------------------------- */

/* How an entry stores address bits from 48 on. */
enum arm_high { PA_48, PA_LPA, PA_LPA2 };

typedef struct ArmConfig {
    enum exanet_table_format format;
    unsigned granule;
    enum arm_high high;
    unsigned va_bits;
    unsigned levels;            /* levels that va_bits need */
    unsigned shifts[4];         /* log2 of the sizes of pages and blocks; 0: none */
} ArmConfig;

static const ArmConfig arm_configs[] = {
    { EXANET_FORMAT_ARM64_4K, 12, PA_48, 48, 4, { 12, 21, 30 } },
    { EXANET_FORMAT_ARM64_4K, 12, PA_48, 47, 4, { 12, 21, 30 } },
    { EXANET_FORMAT_ARM64_4K, 12, PA_48, 42, 4, { 12, 21, 30 } },
    { EXANET_FORMAT_ARM64_4K, 12, PA_48, 40, 4, { 12, 21, 30 } },
    { EXANET_FORMAT_ARM64_4K, 12, PA_48, 39, 3, { 12, 21, 30 } },
    { EXANET_FORMAT_ARM64_4K, 12, PA_48, 36, 3, { 12, 21, 30 } },
    { EXANET_FORMAT_ARM64_16K, 14, PA_48, 48, 4, { 14, 25 } },
    { EXANET_FORMAT_ARM64_16K, 14, PA_48, 47, 3, { 14, 25 } },
    { EXANET_FORMAT_ARM64_16K, 14, PA_48, 39, 3, { 14, 25 } },
    { EXANET_FORMAT_ARM64_16K, 14, PA_48, 36, 2, { 14, 25 } },
    { EXANET_FORMAT_ARM64_64K, 16, PA_LPA, 52, 3, { 16, 29, 42 } },
    { EXANET_FORMAT_ARM64_64K, 16, PA_LPA, 48, 3, { 16, 29, 42 } },
    { EXANET_FORMAT_ARM64_64K, 16, PA_LPA, 42, 2, { 16, 29 } },
    { EXANET_FORMAT_ARM64_64K, 16, PA_LPA, 39, 2, { 16, 29 } },
    { EXANET_FORMAT_ARM64_4K_LPA2, 12, PA_LPA2, 52, 5, { 12, 21, 30, 39 } },
    { EXANET_FORMAT_ARM64_4K_LPA2, 12, PA_LPA2, 49, 5, { 12, 21, 30, 39 } },
    { EXANET_FORMAT_ARM64_4K_LPA2, 12, PA_LPA2, 48, 4, { 12, 21, 30, 39 } },
    { EXANET_FORMAT_ARM64_16K_LPA2, 14, PA_LPA2, 52, 4, { 14, 25, 36 } },
    { EXANET_FORMAT_ARM64_16K_LPA2, 14, PA_LPA2, 47, 3, { 14, 25, 36 } },
};

#define ARM_PA_LOW  0x0000abcde1230000ULL
#define ARM_PA_HIGH 0x000dabcde1230000ULL

/* Returns an address of 1 << @shift bytes that uses all address bits of the format. */
static uint64_t arm_pa(const ArmConfig *cfg, unsigned shift)
{
    return (cfg->high == PA_48 ? ARM_PA_LOW : ARM_PA_HIGH) & (~0ULL << shift);
}

/* Returns the address bits of an entry for @pa. */
static uint64_t arm_bits(const ArmConfig *cfg, uint64_t pa)
{
    switch (cfg->high) {
    case PA_LPA:
        return (pa & 0x0000ffffffffffffULL) | (pa >> 48 & 0xf) << 12;
    case PA_LPA2:
        return (pa & 0x0003ffffffffffffULL) | (pa >> 50 & 3) << 8;
    default:
        return pa;
    }
}

static void arm_map(Map *m, const ArmConfig *cfg, uint64_t va, unsigned shift)
{
    unsigned index = cfg->granule - 3;
    unsigned at = cfg->granule + index * (cfg->levels - 1);
    uint64_t entries = 1ULL << (cfg->va_bits - at);
    uint64_t table;

    mem_clear();
    /* a short top table needs only the alignment of its size */
    mem_alloc(64);
    table = mem_alloc(MAX(entries * 8, 64));
    *m = (Map) {
        .walk = {
            .format = cfg->format,
            .va_bits = cfg->va_bits,
            .root = table,
            .read = mem_read,
            .opaque = &mem,
        },
        .va = va,
        .pa = arm_pa(cfg, shift),
        .shift = shift,
    };
    for (; ; at -= index, entries = 1ULL << index) {
        uint64_t *entry = mem_at(table + ((va >> at) & (entries - 1)) * 8);

        m->entry[m->depth++] = entry;
        if (at == shift) {
            *entry = arm_bits(cfg, m->pa) | ARM_LEAF |
                     (shift == cfg->granule ? PAGE : 0);
            return;
        }
        table = mem_alloc(1ULL << cfg->granule);
        *entry = table | VALID | TABLE;
    }
}

typedef void ArmTest(Map *m, unsigned leaf, const ArmConfig *cfg);

static void arm_each(ArmTest *test)
{
    for (unsigned i = 0; i < ARRAY_SIZE(arm_configs); i++) {
        const ArmConfig *cfg = &arm_configs[i];
        uint64_t top = (1ULL << cfg->va_bits) - 1;
        const uint64_t vas[] = { 0, top, top / 3, 0xafffff7654321 & top };

        for (unsigned k = 0; k < ARRAY_SIZE(cfg->shifts); k++) {
            if (!cfg->shifts[k]) {
                continue;
            }
            for (unsigned v = 0; v < ARRAY_SIZE(vas); v++) {
                Map m;

                arm_map(&m, cfg, vas[v], cfg->shifts[k]);
                test(&m, m.depth - 1, cfg);
            }
        }
    }
}

static void arm_rights(Map *m, unsigned leaf, const ArmConfig *cfg)
{
    const uint64_t harmless = NG | GP | DBM | CONT | PXN | UXN | SOFT | PBHA |
                              ARM_ATTR | ARM_NS |
                              (cfg->high == PA_LPA2 ? 0 : ARM_SH);

    expect_ok(m);
    for (unsigned i = 0; i < leaf; i++) {
        change(m, i, VALID, 0, expect_fault);
        change(m, i, ~0ULL, 0, expect_fault);
        change(m, i, 0, NO_USER, expect_fault);
        change(m, i, 0, NO_WRITE, expect_read_only);
        change(m, i, 0, NO_USER | NO_WRITE, expect_fault);
        change(m, i, 0, 1ULL << 59 | 1ULL << 60 | 1ULL << 63, expect_ok);
        change(m, i, 0, USER | RDONLY | AF | SOFT, expect_ok);
    }
    change(m, leaf, VALID, 0, expect_fault);
    change(m, leaf, ~0ULL, 0, expect_fault);
    change(m, leaf, USER, 0, expect_fault);
    change(m, leaf, AF, 0, expect_fault);
    change(m, leaf, 0, RDONLY, expect_read_only);
    /* writable but clean: the processor may set the page dirty, the NIC may not */
    change(m, leaf, 0, RDONLY | DBM, expect_read_only);
    change(m, leaf, USER, RDONLY, expect_fault);
    for (unsigned bit = 0; bit < 64; bit++) {
        if (harmless & 1ULL << bit) {
            change(m, leaf, 0, 1ULL << bit, expect_ok);
        }
    }
    change(m, leaf, 0, harmless, expect_ok);
    expect_ok(m);
}

static void arm_reserved(Map *m, unsigned leaf, const ArmConfig *cfg)
{
    unsigned low = cfg->granule == 16 ? 16 : 12;

    if (cfg->high != PA_LPA2) {
        change(m, leaf, 0, 1ULL << 48, expect_fault);
        change(m, leaf, 0, 1ULL << 49, expect_fault);
    }
    for (unsigned bit = low; bit < m->shift; bit++) {
        bool nt = bit == 16 && m->shift != cfg->granule;

        change(m, leaf, 0, 1ULL << bit, nt ? expect_ok : expect_fault);
    }
    for (unsigned i = 0; i < leaf; i++) {
        if (cfg->high != PA_LPA2) {
            change(m, i, 0, 1ULL << 48, expect_fault);
            change(m, i, 0, 1ULL << 49, expect_fault);
        }
        change(m, i, 0, 1ULL << 50, expect_fault);
        for (unsigned bit = low; bit < cfg->granule; bit++) {
            change(m, i, 0, 1ULL << bit, expect_fault);
        }
    }
    if (m->shift == cfg->granule) {
        change(m, leaf, PAGE, 0, expect_fault);
    }
}

/* Returns true if the architecture has blocks of 1 << @shift bytes. */
static bool arm_has_block(const ArmConfig *cfg, unsigned shift)
{
    for (unsigned i = 1; i < ARRAY_SIZE(cfg->shifts); i++) {
        if (cfg->shifts[i] == shift) {
            return true;
        }
    }
    return false;
}

static void arm_blocks(Map *m, unsigned leaf, const ArmConfig *cfg)
{
    unsigned shift = m->shift;

    for (unsigned i = leaf; i-- > 0; ) {
        shift += cfg->granule - 3;
        m->depth = i + 1;
        m->shift = shift;
        m->pa = arm_pa(cfg, shift);
        change(m, i, ~0ULL, arm_bits(cfg, m->pa) | ARM_LEAF,
               arm_has_block(cfg, shift) ? expect_ok : expect_fault);
    }
}

static void arm_outside(Map *m, unsigned leaf, const ArmConfig *cfg)
{
    const uint64_t address = 0x0000ffffffff0000;
    uint64_t root = m->walk.root;

    for (unsigned i = 0; i < leaf; i++) {
        change(m, i, address, OUTSIDE, expect_decode);
        change(m, i, address, 0, expect_decode);
    }
    m->walk.root = OUTSIDE;
    expect_decode(m);
    m->walk.root = 0;
    expect_decode(m);
    /* ASID and CnP bits of TTBR0_EL1 */
    m->walk.root = root | 0xffffULL << 48 | 1;
    expect_ok(m);
}

/* Sets each address bit that an entry stores elsewhere, alone. */
static void arm_high(Map *m, unsigned leaf, const ArmConfig *cfg)
{
    const uint64_t all = arm_bits(cfg, 0x000fffffffff0000);
    uint64_t root = m->walk.root;
    unsigned n = 0;

    for (unsigned bit = 48; bit < 52 && cfg->high != PA_48; bit++, n++) {
        m->pa = 1ULL << bit;
        change(m, leaf, all, arm_bits(cfg, m->pa), expect_ok);
        for (unsigned i = 0; i < leaf; i++) {
            change(m, i, 0, arm_bits(cfg, 1ULL << bit), expect_decode);
        }
    }
    m->pa = arm_pa(cfg, m->shift);
    /* TTBR0_EL1 has high address bits in [5:2]; other formats ignore these bits */
    for (unsigned bit = 2; bit < 6; bit++) {
        m->walk.root = root | 1ULL << bit;
        if (n) {
            expect_decode(m);
        } else {
            expect_ok(m);
        }
    }
}

static void test_arm_rights(void)
{
    arm_each(arm_rights);
}

static void test_arm_reserved(void)
{
    arm_each(arm_reserved);
}

static void test_arm_blocks(void)
{
    arm_each(arm_blocks);
}

static void test_arm_outside(void)
{
    arm_each(arm_outside);
}

static void test_arm_high(void)
{
    arm_each(arm_high);
}

static void test_arm_va_bits(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(arm_configs); i++) {
        const ArmConfig *cfg = &arm_configs[i];
        unsigned max = cfg->high == PA_48 ? 48 : 52;
        Map m;

        arm_map(&m, cfg, (1ULL << cfg->va_bits) - 1, cfg->granule);
        expect_ok(&m);
        for (unsigned bit = cfg->va_bits; bit < 64; bit++) {
            expect_va_decode(&m, 1ULL << bit);
            expect_va_decode(&m, ~0ULL << bit);
            expect_va_decode(&m, m.va | 1ULL << bit);
        }
        /* values that the register TCR_EL1 cannot express */
        for (unsigned bits = 1; bits <= cfg->granule; bits++) {
            m.walk.va_bits = bits;
            expect_va_decode(&m, 0);
        }
        for (unsigned bits = max + 1; bits < 256; bits++) {
            m.walk.va_bits = bits;
            expect_va_decode(&m, 0);
        }
        if (cfg->va_bits == max) {
            m.walk.va_bits = 0;
            expect_ok(&m);
        }
    }
}

static void test_arm_loop(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(arm_configs); i++) {
        const ArmConfig *cfg = &arm_configs[i];
        uint64_t bytes = 1ULL << cfg->granule;
        ExanetLeaf leaf;
        uint64_t table;
        Map m;

        arm_map(&m, cfg, 0, cfg->granule);
        table = mem_alloc(bytes);
        m.walk.root = table;
        for (uint64_t at = 0; at < bytes; at += 8) {
            *mem_at(table + at) = table | ARM_LEAF | TABLE;
        }
        m.va = (1ULL << cfg->va_bits) / 3;
        g_assert_cmpint(walk(&m, m.va, true, &leaf), ==, EXANET_RESP_ACK);
        g_assert_cmphex(leaf.pa, ==, table);
        g_assert_cmpuint(mem.reads, ==, cfg->levels);
    }
}

/* --- All formats -------------------------------------------------------------- */

static void test_identity(void)
{
    static const uint64_t vas[] = { 0, 0xfff, 0x12345678, ~0ULL };
    Map m = { .walk = { .read = mem_read, .opaque = &mem } };
    ExanetLeaf leaf;

    for (unsigned i = 0; i < ARRAY_SIZE(vas); i++) {
        for (unsigned write = 0; write < 2; write++) {
            g_assert_cmpint(walk(&m, vas[i], write, &leaf), ==,
                            EXANET_RESP_ACK);
            g_assert_cmphex(leaf.pa, ==, vas[i] & ~0xfffULL);
            g_assert_cmpuint(leaf.shift, ==, 12);
            g_assert_true(leaf.write);
            g_assert_cmpuint(mem.reads, ==, 0);
        }
    }
}

static void test_unknown_format(void)
{
    Map m = { .walk = { .read = mem_read, .opaque = &mem } };

    for (unsigned f = EXANET_FORMATS; f < 16; f++) {
        m.walk.format = f;
        expect_va_decode(&m, 0);
        expect_va_decode(&m, 0x123456789000);
    }
}

/* Returns a random entry; most entries are valid and point into the memory. */
static uint64_t fuzz_entry(GRand *rand)
{
    uint64_t entry = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);

    switch (g_rand_int_range(rand, 0, 4)) {
    case 0:
        return entry;
    case 1:
        return (entry & 0xfff) | RAM_BASE | (entry & (RAM_BYTES - 4096));
    default:
        return (entry & 0xf80) | 0x467 | RAM_BASE |
               (entry & (RAM_BYTES - 0x10000));
    }
}

static void test_fuzz(void)
{
    GRand *rand = g_rand_new_with_seed(random_seed(0x45584e54));
    Map m = { .walk = { .read = mem_read, .opaque = &mem } };
    unsigned answers[16] = { 0 };

    for (unsigned i = 0; i < RAM_BYTES / 8; i++) {
        mem.ram[i] = fuzz_entry(rand);
    }
    for (unsigned i = 0; i < FUZZ_ROUNDS; i++) {
        uint64_t va = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
        enum exanet_resp read, write;
        ExanetLeaf for_read, for_write;

        m.walk.format = g_rand_int_range(rand, 1, EXANET_FORMATS);
        m.walk.va_bits = g_rand_boolean(rand) ? 0 : g_rand_int_range(rand, 0, 256);
        m.walk.root = RAM_BASE + g_rand_int_range(rand, 0, RAM_BYTES);
        va >>= g_rand_int_range(rand, 8, 30);

        read = walk(&m, va, false, &for_read);
        g_assert_cmpuint(mem.reads, <=, LEVELS_MAX);
        write = walk(&m, va, true, &for_write);
        g_assert_cmpuint(mem.reads, <=, LEVELS_MAX);
        g_assert_true(read == EXANET_RESP_ACK || read == EXANET_RESP_FAULT ||
                      read == EXANET_RESP_DECODE);
        answers[read]++;
        if (read == EXANET_RESP_ACK) {
            g_assert_true(for_read.shift >= 12 && for_read.shift <= 42);
            g_assert_cmphex(for_read.pa & ((1ULL << for_read.shift) - 1), ==, 0);
            g_assert_cmpint(for_read.write, ==, write == EXANET_RESP_ACK);
        } else {
            /* a page that cannot be read cannot be written */
            g_assert_cmpint(write, ==, read);
        }
        if (write == EXANET_RESP_ACK) {
            g_assert_cmphex(for_write.pa, ==, for_read.pa);
        }
    }
    /* the random memory gives each answer often */
    g_assert_cmpuint(answers[EXANET_RESP_ACK], >, FUZZ_ROUNDS / 1000);
    g_assert_cmpuint(answers[EXANET_RESP_FAULT], >, FUZZ_ROUNDS / 1000);
    g_assert_cmpuint(answers[EXANET_RESP_DECODE], >, FUZZ_ROUNDS / 1000);
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    int result;

    g_test_init(&argc, &argv, NULL);
    mem.ram = g_malloc0(RAM_BYTES);
    g_test_add_func("/exanet/walk/identity", test_identity);
    g_test_add_func("/exanet/walk/unknown-format", test_unknown_format);
    g_test_add_func("/exanet/walk/x86-rights", test_x86_rights);
    g_test_add_func("/exanet/walk/x86-reserved", test_x86_reserved);
    g_test_add_func("/exanet/walk/x86-outside", test_x86_outside);
    g_test_add_func("/exanet/walk/x86-canonical", test_x86_canonical);
    g_test_add_func("/exanet/walk/x86-loop", test_x86_loop);
    g_test_add_func("/exanet/walk/arm64-rights", test_arm_rights);
    g_test_add_func("/exanet/walk/arm64-reserved", test_arm_reserved);
    g_test_add_func("/exanet/walk/arm64-blocks", test_arm_blocks);
    g_test_add_func("/exanet/walk/arm64-outside", test_arm_outside);
    g_test_add_func("/exanet/walk/arm64-high", test_arm_high);
    g_test_add_func("/exanet/walk/arm64-va-bits", test_arm_va_bits);
    g_test_add_func("/exanet/walk/arm64-loop", test_arm_loop);
    g_test_add_func("/exanet/walk/fuzz", test_fuzz);
    result = g_test_run();
    g_free(mem.ram);
    return result;
}
