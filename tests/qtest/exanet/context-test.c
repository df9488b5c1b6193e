/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts: translation by page tables of the test, faults and errors, invalidation,
 * and close.  Packets of the peer write to memory, descriptors of the test read it.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "tables.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define CTX 1
#define VA 0x1200000000ULL      /* in window 0, whose base address is 0 */
#define TWO_MB (2ULL << 20)

static const struct {
    enum exanet_table_format format;
    const char *name;
    uint64_t page;
    unsigned bits;              /* address bits of one level */
    unsigned large;             /* highest level with leaves that are smaller than 1 GB */
} formats[] = {
    { EXANET_FORMAT_X86_4, "x86-4", 4096, 9, 1 },
    { EXANET_FORMAT_X86_5, "x86-5", 4096, 9, 1 },
    { EXANET_FORMAT_ARM64_4K, "arm64-4k", 4096, 9, 1 },
    { EXANET_FORMAT_ARM64_16K, "arm64-16k", 16384, 11, 1 },
    { EXANET_FORMAT_ARM64_64K, "arm64-64k", 65536, 13, 1 },
    { EXANET_FORMAT_ARM64_4K_LPA2, "arm64-4k-lpa2", 4096, 9, 1 },
    { EXANET_FORMAT_ARM64_16K_LPA2, "arm64-16k-lpa2", 16384, 11, 1 },
};

typedef struct Rig {
    ExanetTest *t;
    ExanetTables tb;
    unsigned tid;               /* TID of the next block; every block has a new TID */
} Rig;

static Rig rig_start(enum exanet_table_format format)
{
    Rig r = { .t = exanet_start("") };

    exanet_close(r.t, CTX);
    exanet_set32(r.t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_tables_init(&r.tb, r.t, format, EXANET_RAM_TABLES);
    exanet_tables_open(&r.tb, CTX);
    return r;
}

/* Writes @len bytes to @va as the peer, and returns the response. */
static enum exanet_resp dma_write(Rig *r, uint64_t va, const void *data,
                                  unsigned len)
{
    ExanetBlock b = {
        .va = va, .data = data, .len = len,
        .tid = RNIC_PREP(EXANET_TID_INDEX, r->tid) |
               RNIC_PREP(EXANET_TID_GEN, r->tid / EXANET_TIDS),
        .pdid = EXANET_TEST_PDID(CTX),
    };

    r->tid++;
    exanet_peer_send_block(r->t->peer, &b);
    return exanet_peer_take_resp(r->t->peer, b.tid, 0);
}

/*
 * Reads @len bytes at @va by ExaDMA; returns false if the transfer stopped with an
 * error.
 */
static bool dma_read(Rig *r, uint64_t va, void *data, unsigned len)
{
    unsigned tid = r->tid++ % EXANET_TIDS;
    uint64_t w3;
    ExanetDesc d = {
        .src = va, .dst = exanet_gva(EXANET_TEST_PEER, 0), .len = len,
        .pdid = EXANET_TEST_PDID(CTX),
    };
    ExanetSink sink;

    exanet_sink_init(&sink, 0, EXANET_BLOCK_BYTES);
    exanet_desc_write(r->t, tid, &d);
    exanet_wait(r->t, (w3 = exanet_desc_get(r->t, tid, 3)) &
                (EXANET_DESC_W3_DONE | EXANET_DESC_W3_ERROR));
    exanet_settle(r->t);
    while (!g_queue_is_empty(&r->t->peer->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(r->t->peer);

        exanet_sink_store(&sink, &rx->pkt);
    }
    memcpy(data, sink.image, len);
    exanet_sink_fini(&sink);
    return !(w3 & EXANET_DESC_W3_ERROR);
}

static unsigned faults(Rig *r)
{
    return exanet_get32(r->t, EXANET_FAULT + EXANET_REG_FAULT_COUNT);
}

/*
 * Asserts that there is one fault, at the page of @va, answers that the address is bad,
 * and drops all packets.
 */
static void drop_fault(Rig *r, uint64_t va)
{
    struct exanet_fault f;

    g_assert_cmpuint(faults(r), ==, 1);
    f = exanet_fault_take(r->t);
    g_assert_cmphex(f.va, ==, va & ~4095ULL);
    exanet_fault_resolve(r->t, &f, false);
    exanet_settle(r->t);
    g_queue_clear_full(&r->t->peer->packets, g_free);
}

static void invalidate_all(Rig *r)
{
    exanet_set64(r->t, EXANET_CTX(CTX) + EXANET_REG_CTX_INV_CMD,
                 EXANET_INV_ALL);
}

/* --- Formats --------------------------------------------------------------- */

/*
 * Writes and reads across the border of two pages whose physical addresses are not
 * adjacent.
 */
static void check_two_pages(Rig *r, uint64_t va, uint64_t page, uint64_t pa0,
                            uint64_t pa1)
{
    uint8_t data[2000], back[2000];

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = i * 13 + va / page;
    }
    /*
     * two blocks, because the border may be a multiple of 16 KB, which a block must not
     * cross; a read may
     */
    g_assert_cmpuint(dma_write(r, va + page - 700, data, 700), ==,
                     EXANET_RESP_ACK);
    g_assert_cmpuint(dma_write(r, va + page, data + 700, 1300), ==,
                     EXANET_RESP_ACK);
    exanet_assert_mem(r->t, pa0 + page - 700, data, 700);
    exanet_assert_mem(r->t, pa1, data + 700, 1300);
    g_assert_true(dma_read(r, va + page - 700, back, 2000));
    g_assert_cmpmem(back, 2000, data, 2000);
    g_assert_cmpuint(faults(r), ==, 0);
}

static void test_format(gconstpointer opaque)
{
    typeof(&formats[0]) f = opaque;
    Rig r = rig_start(f->format);
    uint64_t page = f->page;
    uint64_t block = page << f->bits;
    uint64_t va = QEMU_ALIGN_UP(VA, block);

    exanet_tables_map(&r.tb, va, DST + 4 * page, 0, EXANET_MAP_RW);
    exanet_tables_map(&r.tb, va + page, DST + page, 0, EXANET_MAP_RW);
    check_two_pages(&r, va, page, DST + 4 * page, DST + page);
    exanet_stop(r.t);
}

/* Leaves above the last level, and a small page behind the last page of such a leaf. */
static void test_large(gconstpointer opaque)
{
    typeof(&formats[0]) f = opaque;
    Rig r = rig_start(f->format);
    uint64_t block = f->page << f->bits;
    uint64_t va = QEMU_ALIGN_UP(VA, block);
    uint8_t data[600], back[600];

    if (block > EXANET_RAM_END / 2) {
        /* 512-MB leaf: the beginning is RAM, the end is not */
        exanet_tables_map(&r.tb, va, 0, 1, EXANET_MAP_RW);
        memset(data, 0x5a, sizeof(data));
        g_assert_cmpuint(dma_write(&r, va + DST + 77, data, 600), ==,
                         EXANET_RESP_ACK);
        exanet_assert_mem(r.t, DST + 77, data, 600);
        g_assert_true(dma_read(&r, va + DST + 77, back, 600));
        g_assert_cmpmem(back, 600, data, 600);
        g_assert_cmpuint(dma_write(&r, va + EXANET_RAM_END, data, 600), ==,
                         EXANET_RESP_DECODE);
    } else {
        uint64_t pa = QEMU_ALIGN_UP(DST, block);

        exanet_tables_map(&r.tb, va, pa, 1, EXANET_MAP_RW);
        exanet_tables_map(&r.tb, va + block, SRC, 0, EXANET_MAP_RW);
        check_two_pages(&r, va + block - f->page, f->page,
                        pa + block - f->page, SRC);
    }
    exanet_stop(r.t);
}

/* Reads and writes by mappings with different permissions. */
static void test_permissions(gconstpointer opaque)
{
    static const struct {
        unsigned map;
        bool read, write;
    } cases[] = {
        { EXANET_MAP_RW, true, true },
        { EXANET_MAP_READ_ONLY, true, false },
        /*
         * a clean page faults at a write, because the kernel must set the dirty bit
         * first
         */
        { EXANET_MAP_RW & ~EXANET_MAP_DIRTY, true, false },
        { EXANET_MAP_RW & ~EXANET_MAP_PRESENT, false, false }, /* PROT_NONE */
        { EXANET_MAP_RW & ~EXANET_MAP_USER, false, false },
        { EXANET_MAP_RW & ~EXANET_MAP_ACCESSED, false, false },
        { 0, false, false },
    };
    typeof(&formats[0]) f = opaque;
    Rig r = rig_start(f->format);
    uint8_t data[16] = { 1 }, back[16];

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t va = VA + i * f->page;
        unsigned wanted = EXANET_RESP_FAULT;

        if (cases[i].write) {
            wanted = EXANET_RESP_ACK;
        }
        qtest_memset(r.t->qts, DST, 0xee, 16);
        exanet_tables_map(&r.tb, va, DST, 0, cases[i].map);
        g_assert_cmpuint(dma_write(&r, va, data, 16), ==, wanted);
        if (!cases[i].write) {
            exanet_assert_byte(r.t, DST, 0xee, 16);
            drop_fault(&r, va);
        }
        g_assert_cmpint(dma_read(&r, va, back, 16), ==, cases[i].read);
        if (!cases[i].read) {
            drop_fault(&r, va);
        }
        /* a write again, because the cache now has the translation of the read */
        g_assert_cmpuint(dma_write(&r, va, data, 16), ==, wanted);
        if (!cases[i].write) {
            drop_fault(&r, va);
        }
    }
    exanet_stop(r.t);
}

/* --- Wild tables ----------------------------------------------------------- */

static void test_not_ram(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint8_t data[16] = { 1 }, back[16];
    uint64_t bad[] = {
        EXANET_NO_RAM, r.t->regs.addr, r.t->user.addr, 0xfee00000, 0xfffc0000,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        exanet_tables_map(&r.tb, VA + i * 4096, bad[i], 0, EXANET_MAP_RW);
        g_assert_cmpuint(dma_write(&r, VA + i * 4096, data, 16), ==,
                         EXANET_RESP_DECODE);
        g_assert_false(dma_read(&r, VA + i * 4096, back, 16));
    }
    g_assert_cmpuint(faults(&r), ==, 0);
    exanet_stop(r.t);
}

static void test_wild_tables(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint8_t data[16] = { 1 };
    uint64_t entry;

    /* a page table whose entry leads to the table itself, at every level */
    for (unsigned level = 1; level <= 3; level++) {
        uint64_t va = VA + ((uint64_t)level << 30);
        enum exanet_resp resp;

        exanet_tables_map(&r.tb, va, DST, 0, EXANET_MAP_RW);
        entry = exanet_tables_entry(&r.tb, va, level);
        qtest_writeq(r.t->qts, entry, (entry & ~4095ULL) | 0x27);
        resp = dma_write(&r, va, data, 16);
        /* the test accepts any response, because the walk may end anywhere */
        g_assert_true(resp == EXANET_RESP_FAULT || resp == EXANET_RESP_DECODE ||
                      resp == EXANET_RESP_ACK);
        while (faults(&r)) {
            exanet_fault_take(r.t);
        }
        /* a page table at an address without RAM */
        qtest_writeq(r.t->qts, entry, EXANET_NO_RAM | 0x27);
        invalidate_all(&r);
        g_assert_cmpuint(dma_write(&r, va, data, 16), ==, EXANET_RESP_DECODE);
        qtest_writeq(r.t->qts, entry, 0);
        invalidate_all(&r);
        resp = dma_write(&r, va, data, 16);
        g_assert_cmpuint(resp, ==, EXANET_RESP_FAULT);
        while (faults(&r)) {
            exanet_fault_take(r.t);
        }
    }
    /* a root without RAM */
    exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_PGD, EXANET_NO_RAM);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_DECODE);
    exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_PGD, ~0ULL);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_DECODE);
    exanet_stop(r.t);
}

/* Random page tables in all formats: each write gets a valid response. */
static void test_random_tables(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(3));
    g_autofree uint64_t *table = g_new(uint64_t, 8 * 512);
    uint8_t data[300] = { 1 };
    unsigned answers[16] = { 0 };

    for (unsigned round = 0; round < 60; round++) {
        unsigned format = 1 + round % (EXANET_FORMATS - 1);

        for (unsigned i = 0; i < 8 * 512; i++) {
            table[i] = g_rand_int(rand) & 0xfff;
            table[i] |= (EXANET_RAM_TABLES + (g_rand_int(rand) & 7) * 4096);
            table[i] |= g_rand_int_range(rand, 0, 4) ? 7 | 0x460 :
                        (uint64_t)g_rand_int(rand) << 32;
            table[i] = cpu_to_le64(table[i]);
        }
        qtest_bufwrite(r.t->qts, EXANET_RAM_TABLES, table, 8 * 4096);
        exanet_set32(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_CTRL,
                     EXANET_CTX_CTRL_EN | EXANET_CTX_CTRL_NO_REPORT |
                     RNIC_PREP(EXANET_CTX_CTRL_FORMAT, format) |
                     RNIC_PREP(EXANET_CTX_CTRL_VA_BITS, round % 3 ? 0 :
                               g_rand_int_range(rand, 1, 64)));
        exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_PGD,
                     EXANET_RAM_TABLES + (round & 7) * 4096);
        /*
         * passes 10 minutes, so that the receiver can free the contexts of failed
         * blocks
         */
        exanet_step(r.t, 600000 * EXANET_MS);
        for (unsigned i = 0; i < 20; i++) {
            uint64_t va = ((uint64_t)g_rand_int(rand) << 8) &
                          EXANET_VA_OFFSET;

            answers[dma_write(&r, va, data, sizeof(data) - 50)]++;
        }
    }
    g_test_message("acks %u, protection %u, decode %u",
                   answers[EXANET_RESP_ACK], answers[EXANET_RESP_PROTECTION],
                   answers[EXANET_RESP_DECODE]);
    g_assert_cmpuint(answers[EXANET_RESP_ACK] + answers[EXANET_RESP_PROTECTION] +
                     answers[EXANET_RESP_DECODE], ==, 60 * 20);
    exanet_stop(r.t);
}

static void test_bad_format(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint8_t data[16] = { 1 };

    for (unsigned format = EXANET_FORMATS; format < 16; format++) {
        exanet_open(r.t, CTX, EXANET_TEST_JOB, format, r.tb.root);
        g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_DECODE);
    }
    r.t->guest_errors = true;
    exanet_stop(r.t);
}

/* Virtual addresses that a process cannot have cause an error, and no fault. */
static void test_va_bits(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint8_t data[16] = { 1 }, back[16];
    uint64_t ctrl = EXANET_CTX_CTRL_EN |
                    RNIC_PREP(EXANET_CTX_CTRL_FORMAT, EXANET_FORMAT_X86_4);

    exanet_tables_map(&r.tb, VA, DST, 0, EXANET_MAP_RW);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_ACK);
    /* addresses that are not canonical, or in the kernel's half */
    g_assert_false(dma_read(&r, 0x0000800000000000ULL, back, 16));
    g_assert_false(dma_read(&r, 0x0001000000000000ULL | VA, back, 16));
    g_assert_false(dma_read(&r, 0xffff880000000000ULL, back, 16));
    g_assert_cmpuint(faults(&r), ==, 0);
    exanet_set32(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_CTRL, ctrl |
                 RNIC_PREP(EXANET_CTX_CTRL_VA_BITS, 37));
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_ACK);
    exanet_set32(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_CTRL, ctrl |
                 RNIC_PREP(EXANET_CTX_CTRL_VA_BITS, 36));
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_DECODE);
    exanet_stop(r.t);
}

/* A window leads to its base address: window 6 to 0x7f8000000000. */
static void test_windows(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint64_t base = 0x7f8000000000ULL;
    uint64_t in_window = (6ULL << EXANET_WINDOW_BITS) | 0x12345000;
    uint8_t data[16] = { 1, 2, 3 };

    exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_CTX_WIN(6),
                 base | EXANET_WIN_VALID);
    exanet_tables_map(&r.tb, base | 0x12345000, DST, 0, EXANET_MAP_RW);
    g_assert_cmpuint(dma_write(&r, in_window, data, 16), ==, EXANET_RESP_ACK);
    exanet_assert_mem(r.t, DST, data, 16);
    /* the register does not store reserved bits of the base */
    exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_CTX_WIN(6),
                 base | 0x7ffffffffeULL);
    g_assert_cmphex(exanet_get64(r.t, EXANET_CTX(CTX) + EXANET_CTX_WIN(6)), ==,
                    base);
    g_assert_cmpuint(dma_write(&r, in_window, data, 16), ==,
                     EXANET_RESP_DECODE);
    exanet_stop(r.t);
}

/* --- Invalidation ---------------------------------------------------------- */

static void test_invalidate(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint64_t base = EXANET_CTX(CTX);
    uint8_t a[16], b[16], back[16];

    memset(a, 0xa1, 16);
    memset(b, 0xb2, 16);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t va = VA + i * 4096;

        exanet_tables_map(&r.tb, va, DST, 0, EXANET_MAP_RW);
        g_assert_cmpuint(dma_write(&r, va, a, 16), ==, EXANET_RESP_ACK);
        exanet_tables_map(&r.tb, va, DST + 4096, 0, EXANET_MAP_RW);
        switch (i) {
        case 0:
            invalidate_all(&r);
            break;
        case 1:     /* an address inside the page, length 1 */
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_VA, va + 77);
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_CMD, 1);
            break;
        case 2:     /* a range that ends in the page */
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_VA, va - 8191);
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_CMD, 8192);
            break;
        case 3:     /* the whole address space, by length */
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_VA, 0);
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_CMD, EXANET_INV_LENGTH);
            break;
        case 4:     /* a new root of the tables */
            exanet_set64(r.t, base + EXANET_REG_CTX_PGD, r.tb.root);
            break;
        case 5:     /* the store to the upper half of INV_CMD invalidates */
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_VA, va);
            exanet_set32(r.t, base + EXANET_REG_CTX_INV_CMD, 4096);
            exanet_set32(r.t, base + EXANET_REG_CTX_INV_CMD + 4, 0);
            break;
        case 6:     /* the context is closed and opened */
            exanet_close(r.t, CTX);
            exanet_tables_open(&r.tb, CTX);
            break;
        case 7:
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_VA, va);
            exanet_set64(r.t, base + EXANET_REG_CTX_INV_CMD, 4096);
            break;
        }
        g_assert_cmpuint(dma_write(&r, va, b, 16), ==, EXANET_RESP_ACK);
        exanet_assert_mem(r.t, DST, a, 16);
        exanet_assert_mem(r.t, DST + 4096, b, 16);
        g_assert_true(dma_read(&r, va, back, 16));
        g_assert_cmpmem(back, 16, b, 16);
        qtest_memset(r.t->qts, DST, 0, 8192);
    }
    /* INV_CMD reads as 0 */
    g_assert_cmphex(exanet_get64(r.t, base + EXANET_REG_CTX_INV_CMD), ==, 0);
    exanet_stop(r.t);
}

/*
 * Invalidates each page of a large leaf, and pages that share an entry of a small
 * cache.
 */
static void test_invalidate_range(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint64_t va = QEMU_ALIGN_UP(VA, TWO_MB);
    uint8_t data[16] = { 5 };

    exanet_tables_map(&r.tb, va, DST, 1, EXANET_MAP_RW);
    for (unsigned i = 0; i < 512; i++) {
        g_assert_cmpuint(dma_write(&r, va + i * 4096, data, 16), ==,
                         EXANET_RESP_ACK);
    }
    exanet_tables_map(&r.tb, va, DST, 1, 0);
    exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_INV_VA, va);
    exanet_set64(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_INV_CMD, TWO_MB);
    for (unsigned i = 0; i < 512; i += 37) {
        g_assert_cmpuint(dma_write(&r, va + i * 4096, data, 16), ==,
                         EXANET_RESP_FAULT);
        drop_fault(&r, va + i * 4096);
    }
    exanet_stop(r.t);
}

/* Two processes map the same virtual address to different pages. */
static void test_two_contexts(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    ExanetTables other;
    uint8_t a[16], b[16];
    ExanetBlock block = {
        .va = VA, .data = b, .len = 16, .pdid = EXANET_TEST_PDID(2),
        .tid = 1000,
    };

    memset(a, 0xa1, 16);
    memset(b, 0xb2, 16);
    exanet_tables_init(&other, r.t, EXANET_FORMAT_X86_4,
                       EXANET_RAM_TABLES + 0x100000);
    exanet_tables_open(&other, 2);
    exanet_tables_map(&r.tb, VA, DST, 0, EXANET_MAP_RW);
    exanet_tables_map(&other, VA, DST + 4096, 0, EXANET_MAP_RW);
    g_assert_cmpuint(dma_write(&r, VA, a, 16), ==, EXANET_RESP_ACK);
    exanet_peer_send_block(r.t->peer, &block);
    g_assert_cmpuint(exanet_peer_take_resp(r.t->peer, 1000, 0), ==,
                     EXANET_RESP_ACK);
    exanet_assert_mem(r.t, DST, a, 16);
    exanet_assert_mem(r.t, DST + 4096, b, 16);
    /* an invalidation in one context does not change the other */
    exanet_tables_map(&r.tb, VA, DST + 8192, 0, EXANET_MAP_RW);
    invalidate_all(&r);
    g_assert_cmpuint(dma_write(&r, VA, a, 16), ==, EXANET_RESP_ACK);
    exanet_assert_mem(r.t, DST + 8192, a, 16);
    exanet_stop(r.t);
}

static void test_counters(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint8_t data[16] = { 5 };
    uint64_t walks;

    exanet_tables_map(&r.tb, VA, DST, 0, EXANET_MAP_RW);
    walks = exanet_count(r.t, WALK);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_ACK);
    }
    g_assert_cmpuint(exanet_count(r.t, WALK), ==, walks + 1);
    g_assert_cmpuint(exanet_count(r.t, XLATE), >=, 10);
    g_assert_cmpuint(exanet_count(r.t, TLB_HIT), >=, 9);
    exanet_stop(r.t);
}

/* --- Leaving --------------------------------------------------------------- */

/* Data that wait in a buffer are not sent after their context was closed. */
static void test_quiesce(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    ExanetDesc d = {
        .src = VA, .dst = exanet_gva(EXANET_TEST_PEER, 0),
        .len = EXANET_BLOCK_BYTES, .pdid = EXANET_TEST_PDID(CTX),
    };
    unsigned packets = 0;

    for (unsigned i = 0; i < 4; i++) {
        exanet_tables_map(&r.tb, VA + i * 4096, SRC + i * 4096, 0,
                          EXANET_MAP_READ_ONLY);
    }
    exanet_fill(r.t, SRC, NULL, EXANET_BLOCK_BYTES, 1);
    exanet_xoff(r.t);
    exanet_desc_write(r.t, 500, &d);
    exanet_wait(r.t, exanet_desc_get(r.t, 500, 3) & EXANET_DESC_W3_SENT);
    exanet_close(r.t, CTX);
    qtest_memset(r.t->qts, SRC, 0xdd, EXANET_BLOCK_BYTES);
    exanet_xon(r.t);
    exanet_wait(r.t, exanet_desc_get(r.t, 500, 3) & EXANET_DESC_W3_ERROR);
    exanet_settle(r.t);
    while (!g_queue_is_empty(&r.t->peer->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(r.t->peer);

        g_assert_false(rx->pkt.last);
        g_assert_false(rx->pkt.payload[0] == 0xdd && rx->pkt.payload[1] == 0xdd &&
                       rx->pkt.payload[2] == 0xdd);
        packets++;
    }
    g_assert_cmpuint(packets, <=, EXANET_OUTPUT_SLOTS);
    exanet_stop(r.t);
}

static void test_status(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint64_t status = EXANET_CTX(CTX) + EXANET_REG_CTX_STATUS;
    uint8_t data[16] = { 5 };

    g_assert_cmphex(exanet_get32(r.t, status), ==, EXANET_CTX_STATUS_ACTIVE);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_FAULT);
    g_assert_cmphex(exanet_get32(r.t, status), ==, EXANET_CTX_STATUS_ACTIVE |
                    RNIC_PREP(EXANET_CTX_STATUS_FAULTS, 1));
    exanet_set32(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_CTRL,
                 EXANET_CTX_CTRL_EN | EXANET_CTX_CTRL_QUIESCE);
    /* QUIESCE ends the wait for the page */
    g_assert_cmphex(exanet_get32(r.t, status), ==, EXANET_CTX_STATUS_QUIESCED);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_PROTECTION);
    exanet_set32(r.t, EXANET_CTX(CTX) + EXANET_REG_CTX_CTRL, 0);
    g_assert_cmphex(exanet_get32(r.t, status) & EXANET_CTX_STATUS_ACTIVE, ==,
                    0);
    exanet_stop(r.t);
}

/* A page fault interrupts by its own vector. */
static void test_fault_irq(void)
{
    Rig r = rig_start(EXANET_FORMAT_X86_4);
    uint8_t data[16] = { 5 };

    exanet_msix_enable(r.t);
    exanet_set32(r.t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_ALL);
    exanet_set32(r.t, EXANET_REG_IRQ_MASK, EXANET_IRQ_FAULT);
    exanet_set32(r.t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_FAULT);
    exanet_wait(r.t, exanet_msix_taken(r.t, EXANET_VEC_FAULT));
    g_assert_false(exanet_msix_taken(r.t, EXANET_VEC_ADMIN));
    drop_fault(&r, VA);
    exanet_set32(r.t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_FAULT);
    g_assert_cmpuint(dma_write(&r, VA, data, 16), ==, EXANET_RESP_FAULT);
    exanet_wait(r.t, exanet_msix_taken(r.t, EXANET_VEC_FAULT));
    exanet_stop(r.t);
}

static void add_formats(const char *name, GTestDataFunc fn)
{
    for (unsigned i = 0; i < ARRAY_SIZE(formats); i++) {
        g_autofree char *path = g_strdup_printf("/exanet/context/%s-%s-t17",
                                                name, formats[i].name);

        qtest_add_data_func(path, &formats[i], fn);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_formats("pages", test_format);
    add_formats("large", test_large);
    add_formats("permissions", test_permissions);
    qtest_add_func("/exanet/context/not-ram-t17", test_not_ram);
    qtest_add_func("/exanet/context/wild-tables", test_wild_tables);
    qtest_add_func("/exanet/context/random-tables", test_random_tables);
    qtest_add_func("/exanet/context/bad-format", test_bad_format);
    qtest_add_func("/exanet/context/va-bits-t17", test_va_bits);
    qtest_add_func("/exanet/context/windows", test_windows);
    qtest_add_func("/exanet/context/invalidate-t18", test_invalidate);
    qtest_add_func("/exanet/context/invalidate-range-t18",
                   test_invalidate_range);
    qtest_add_func("/exanet/context/two-contexts-t24", test_two_contexts);
    qtest_add_func("/exanet/context/counters", test_counters);
    qtest_add_func("/exanet/context/quiesce-t18", test_quiesce);
    qtest_add_func("/exanet/context/status", test_status);
    qtest_add_func("/exanet/context/fault-irq", test_fault_irq);
    return g_test_run();
}
