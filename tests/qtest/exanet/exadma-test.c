/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaDMA, the send unit: Pending_List, trigger, packets, scheduler, chains and source
 * faults.  The test acts as the R5 and as the peer.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "tables.h"

#define SINK_BASE 0x8000000000ULL   /* an address in window 1 of the peer */
#define SRC EXANET_RAM_SRC

static uint64_t desc_at(unsigned tid, unsigned w)
{
    return EXANET_PENDING_LIST + tid * sizeof(struct exanet_desc) + 8 * (w - 1);
}

static bool desc_has(ExanetTest *t, unsigned tid, uint64_t bits)
{
    return (exanet_desc_get(t, tid, 3) & bits) == bits;
}

static void assert_image(const ExanetSink *sink, uint64_t va, const void *want,
                         unsigned len)
{
    g_assert_cmpmem(sink->image + (va - sink->base), len, want, len);
}

/* --- Pending_List ---------------------------------------------------------- */

static void test_pending_list(void)
{
    ExanetTest *t = exanet_start_external("");
    static const unsigned tids[] = { 0, 1, 511, EXANET_TIDS - 1 };

    for (unsigned i = 0; i < ARRAY_SIZE(tids); i++) {
        uint64_t w1 = desc_at(tids[i], 1), w2 = desc_at(tids[i], 2);
        uint64_t w3 = desc_at(tids[i], 3), w4 = desc_at(tids[i], 4);

        exanet_set64(t, w1, 0x1122334455667788ULL);
        exanet_set32(t, w2, 0xaabbccdd);
        exanet_set32(t, w2 + 4, 0x01020304);
        exanet_set64(t, w4, 0x0001fedcba987654ULL);
        /* bit DB prevents a start; the status bits of the device are not stored */
        exanet_set64(t, w3, ~0ULL);
        g_assert_cmphex(exanet_get64(t, w1), ==, 0x1122334455667788ULL);
        g_assert_cmphex(exanet_get64(t, w2), ==, 0x01020304aabbccddULL);
        g_assert_cmphex(exanet_get64(t, w4), ==, 0x0001fedcba987654ULL);
        g_assert_cmphex(exanet_get64(t, w3) &
                        (EXANET_DESC_W3_SENT | EXANET_DESC_W3_DONE |
                         EXANET_DESC_W3_ERROR), ==, 0);
        g_assert_cmphex(exanet_get64(t, w3) &
                        (EXANET_DESC_W3_PDID | EXANET_DESC_W3_LENGTH |
                         EXANET_DESC_W3_CHAINED | EXANET_DESC_W3_DEP |
                         EXANET_DESC_W3_NOTIFY | EXANET_DESC_W3_DB), ==,
                        EXANET_DESC_W3_PDID | EXANET_DESC_W3_LENGTH |
                        EXANET_DESC_W3_CHAINED | EXANET_DESC_W3_DEP |
                        EXANET_DESC_W3_NOTIFY | EXANET_DESC_W3_DB);
        g_assert_cmphex(exanet_get32(t, w1 + 4), ==, 0x11223344);
        g_assert_cmphex(exanet_get32(t, w2), ==, 0xaabbccdd);
        /* stores of a byte and of a half word */
        qtest_writeb(t->qts, t->regs.addr + w1 + 3, 0x99);
        qtest_writew(t->qts, t->regs.addr + w1 + 6, 0xeeff);
        g_assert_cmphex(exanet_get64(t, w1), ==, 0xeeff334499667788ULL);
        g_assert_cmphex(qtest_readb(t->qts, t->regs.addr + w1 + 3), ==, 0x99);
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_trigger(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, 16);
    uint64_t w3 = RNIC_PREP(EXANET_DESC_W3_PDID, d.pdid) |
                  RNIC_PREP(EXANET_DESC_W3_LENGTH, d.len);
    ExanetRxPacket *rx;

    exanet_set64(t, desc_at(5, 1), d.src);
    exanet_set64(t, desc_at(5, 2), d.dst);
    exanet_set64(t, desc_at(5, 4), 0);
    exanet_set32(t, desc_at(5, 3), w3);
    exanet_assert_quiet(t);
    exanet_set32(t, desc_at(5, 3) + 4, EXANET_DESC_W3_DB >> 32);
    exanet_assert_quiet(t);
    /* a store to half of the trigger's word does not start the block either */
    qtest_writew(t->qts, t->regs.addr + desc_at(5, 3) + 6, 0);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, BLOCK_STARTED), ==, 0);
    exanet_set32(t, desc_at(5, 3) + 4, 0);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
    g_assert_cmphex(rx->pkt.tid, ==, 5);
    g_assert_cmpuint(rx->words, ==, 3);
    g_free(rx);
    exanet_wait(t, desc_has(t, 5, EXANET_DESC_W3_DONE));
    g_assert_cmpuint(exanet_desc_sent(t, 5), ==, 16);
    g_assert_false(desc_has(t, 5, EXANET_DESC_W3_ERROR));

    /* a store to all of W3 starts the block, and clears the old result */
    exanet_set64(t, desc_at(5, 3), w3 | EXANET_DESC_W3_ERROR);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_wait(t, desc_has(t, 5, EXANET_DESC_W3_DONE));
    g_assert_false(desc_has(t, 5, EXANET_DESC_W3_ERROR));
    g_assert_cmpuint(exanet_count(t, BLOCK_STARTED), ==, 2);
    g_assert_cmpuint(exanet_count(t, BLOCK_DONE), ==, 2);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Every field of header and footer that the descriptor determines. */
static void test_fields(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE + 0xfc, 8);
    ExanetRxPacket *rx;
    uint8_t data[8];

    exanet_fill(t, SRC, data, sizeof(data), 1);
    d.w3 = EXANET_DESC_W3_NOTIFY;
    d.w4 = RNIC_PREP(EXANET_DESC_W4_SEQ, 0x2aaa) |
           RNIC_PREP(EXANET_DESC_W4_DST_PDID, EXANET_TEST_PDID(9)) |
           EXANET_DESC_W4_DST_VALID |
           RNIC_PREP(EXANET_DESC_W4_RESP, EXANET_SMALL(EXANET_NI_RT_RESPONSE) | 5) |
           RNIC_PREP(EXANET_DESC_W4_GEN, 0xb) |
           RNIC_PREP(EXANET_DESC_W4_PATH, 3);
    exanet_desc_write(t, 0x155, &d);
    for (unsigned i = 0; i < 2; i++) {
        rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
        g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
        g_assert_cmphex(rx->pkt.src, ==, EXANET_TEST_NODE);
        g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(9));
        g_assert_cmphex(rx->pkt.tid, ==, 0x155 | 0xb << 10);
        g_assert_cmphex(rx->pkt.seq, ==, 0x2aaa);
        g_assert_cmphex(rx->pkt.user, ==,
                        EXANET_SMALL(EXANET_NI_RT_RESPONSE) | 5);
        g_assert_cmphex(rx->pkt.ttl, ==, EXANET_TTL_MAX);
        g_assert_cmphex(rx->pkt.epoch, ==, EXANET_TEST_EPOCH);
        g_assert_cmphex(rx->pkt.vc, ==, 0);
        g_assert_cmphex(rx->pkt.path, ==, 3);
        g_assert_cmphex(rx->pkt.va, ==, SINK_BASE + (i ? 0x100 : 0xfc));
        g_assert_cmpuint(rx->pkt.size, ==, 4);
        g_assert_cmpint(rx->pkt.first, ==, i == 0);
        g_assert_cmpint(rx->pkt.last, ==, i == 1);
        g_assert_true(rx->pkt.notify);
        g_assert_cmpmem(rx->pkt.payload, 4, data + 4 * i, 4);
        g_free(rx);
    }
    /*
     * without DST_VALID both sides have the PDID of W3; with STRICT the generation is 0
     */
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    d.w3 = 0;
    d.w4 = RNIC_PREP(EXANET_DESC_W4_DST_PDID, EXANET_TEST_PDID(9)) |
           RNIC_PREP(EXANET_DESC_W4_GEN, 0xb);
    d.len = 4;
    exanet_desc_write(t, 0x155, &d);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
    g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(0));
    g_assert_cmphex(rx->pkt.tid, ==, 0x155);
    g_assert_true(rx->pkt.first && rx->pkt.last && !rx->pkt.notify);
    g_free(rx);
    exanet_stop(t);
}

/* --- Packets --------------------------------------------------------------- */

static void check_alignment(ExanetTest *t, const uint8_t *src, ExanetSink *sink,
                            unsigned s, unsigned d, unsigned len)
{
    unsigned tid = (s << 4 | d) & (EXANET_TIDS - 1);
    ExanetDesc desc = exanet_desc_to_peer(SRC + s, SINK_BASE + d, len);

    memset(sink->image, 0xee, sink->bytes);
    exanet_desc_write(t, tid, &desc);
    exanet_sink_block(t->peer, sink, tid);
    assert_image(sink, SINK_BASE + d, src + s, len);
    for (unsigned i = 0; i < d; i++) {
        g_assert_cmphex(sink->image[i], ==, 0xee);
    }
    for (unsigned i = d + len; i < sink->bytes; i++) {
        g_assert_cmphex(sink->image[i], ==, 0xee);
    }
}

static void test_alignment(void)
{
    static const unsigned lengths[] = {
        1, 2, 15, 16, 17, 255, 256, 257, 4095, EXANET_BLOCK_BYTES,
    };
    ExanetTest *t = exanet_start_external("");
    g_autofree uint8_t *src = g_malloc(EXANET_BLOCK_BYTES + 16);
    ExanetSink sink;

    exanet_fill(t, SRC, src, EXANET_BLOCK_BYTES + 16, 3);
    exanet_sink_init(&sink, SINK_BASE, EXANET_BLOCK_BYTES);
    for (unsigned s = 0; s < 16; s++) {
        for (unsigned d = 0; d < 16; d++) {
            for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
                /* a block must not cross 16 KB at the destination */
                check_alignment(t, src, &sink, s, d,
                                MIN(lengths[i], EXANET_BLOCK_BYTES - d));
            }
        }
    }
    exanet_sink_fini(&sink);
    exanet_stop(t);
}

typedef struct Golden {
    uint64_t src, dst;
    unsigned len, packets, first_size, first_bit, last_size, last_bit, words;
    unsigned two_reads;
} Golden;

/* The examples of the table in [D 3.3]. */
static const Golden golden[] = {
    { 0x1000, 0x2000, 1, 1, 1, 32, 1, 32, 3, 0 },
    { 0x1000, 0x20ff, 2, 2, 1, 32, 1, 33, 6, 0 },
    { 0x1003, 0x2005, 600, 3, 251, 32, 93, 34, 44, 0 },
    { 0x0fff, 0x3f80, 128, 1, 128, 63, 128, 63, 10, 1 },
    { 0x10000, 0x8000, 16384, 64, 256, 0, 256, 63, 1152, 0 },
    { 0x12345, 0x80ab, 16213, 64, 85, 0, 256, 63, 1142, 4 },
};

static void check_golden(ExanetTest *t, const Golden *g)
{
    ExanetDesc d = exanet_desc_to_peer(SRC + g->src, g->dst, g->len);
    uint64_t two = exanet_count(t, PKT_TWO_READS);
    uint64_t one = exanet_count(t, PKT_ONE_READ);
    unsigned words = 0, bytes = 0;

    exanet_desc_write(t, 7, &d);
    for (unsigned n = 0; n < g->packets; n++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
        unsigned bit = (rx->pkt.va >> 8) & 63;

        words += rx->words;
        bytes += rx->pkt.size;
        g_assert_cmpuint(bit, ==, g->first_bit + n);
        g_assert_cmpint(rx->pkt.first, ==, n == 0);
        g_assert_cmpint(rx->pkt.last, ==, n == g->packets - 1);
        if (rx->pkt.first) {
            g_assert_cmphex(rx->pkt.va, ==, g->dst);
            g_assert_cmpuint(rx->pkt.size, ==, g->first_size);
        }
        if (rx->pkt.last) {
            g_assert_cmpuint(bit, ==, g->last_bit);
            g_assert_cmpuint(rx->pkt.size, ==, g->last_size);
        }
    }
    exanet_assert_quiet(t);
    g_assert_cmpuint(words, ==, g->words);
    g_assert_cmpuint(bytes, ==, g->len);
    g_assert_cmpuint(exanet_count(t, PKT_TWO_READS) - two, ==, g->two_reads);
    g_assert_cmpuint(exanet_count(t, PKT_ONE_READ) - one, ==,
                     g->packets - g->two_reads);
    g_assert_cmpuint(exanet_desc_sent(t, 7), ==, g->len);
}

static void test_golden(void)
{
    ExanetTest *t = exanet_start_external("");
    unsigned words = 0, packets = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(golden); i++) {
        check_golden(t, &golden[i]);
        words += golden[i].words;
        packets += golden[i].packets;
    }
    g_assert_cmpuint(exanet_get64(t, EXANET_PORT(0) +
                                  EXANET_REG_PORT_TX_WORDS), ==, words);
    g_assert_cmpuint(exanet_get64(t, EXANET_PORT(0) +
                                  EXANET_REG_PORT_TX_PACKETS), ==, packets);
    g_assert_cmpuint(exanet_count(t, TX_WRITE), ==, packets);
    exanet_stop(t);
}

static void test_refused(void)
{
    ExanetTest *t = exanet_start_external("");
    const ExanetDesc good = exanet_desc_to_peer(SRC, SINK_BASE, 16);
    ExanetDesc bad[12];
    unsigned n = 0;

    bad[n] = good, bad[n++].len = 0;
    bad[n] = good, bad[n++].len = EXANET_BLOCK_BYTES + 1;
    bad[n] = good, bad[n++].len = 0x7fff;
    bad[n] = exanet_desc_to_peer(SRC, SINK_BASE + 1, EXANET_BLOCK_BYTES);
    bad[n] = exanet_desc_to_peer(SRC, SINK_BASE + EXANET_BLOCK_BYTES - 1, 2);
    bad[n++].len = 16;
    bad[n++] = exanet_desc_to_peer(SRC, EXANET_NI_VA(EXANET_NI_RT_RESPONSE), 16);
    bad[n++] = exanet_desc_to_peer(SRC, EXANET_NI_VA(127), 16);
    /* the block would reach from the last window into NI space */
    bad[n++] = exanet_desc_to_peer(SRC, EXANET_NI_VA(0) - 8, 16);
    bad[n] = good, bad[n++].w4 = RNIC_PREP(EXANET_DESC_W4_PATH, EXANET_PATHS);
    bad[n] = good, bad[n++].pdid = EXANET_TEST_PDID(5);     /* context 5 is not open */
    bad[n] = good, bad[n++].pdid = EXANET_TEST_PDID(0) ^ 0x10; /* PDID of another job */
    bad[n] = good, bad[n].w3 = EXANET_DESC_W3_CHAINED |
                               RNIC_PREP(EXANET_DESC_W3_DEP, n), n++;
    g_assert_cmpuint(n, <=, ARRAY_SIZE(bad));
    for (unsigned i = 0; i < n; i++) {
        exanet_desc_write(t, i, &bad[i]);
        exanet_wait(t, desc_has(t, i, EXANET_DESC_W3_ERROR));
        g_assert_false(desc_has(t, i, EXANET_DESC_W3_DONE));
        g_assert_cmpuint(exanet_desc_sent(t, i), ==, 0);
        g_assert_cmpuint(exanet_count(t, BLOCK_REJECTED), ==, i + 1);
    }
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, TX_WRITE), ==, 0);
    /* the refused descriptors do not prevent a valid block */
    exanet_desc_write(t, 0, &good);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    t->guest_errors = true;
    exanet_stop(t);
}

/* Blocks whose destination does not exist, or whose source is not RAM. */
static void test_nowhere(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, 512);

    d.dst = exanet_gva(EXANET_TEST_ELSEWHERE, SINK_BASE);
    exanet_desc_write(t, 1, &d);
    exanet_wait(t, desc_has(t, 1, EXANET_DESC_W3_DONE));
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, 2);
    exanet_assert_quiet(t);
    /* the source is not RAM */
    d = exanet_desc_to_peer(EXANET_NO_RAM, SINK_BASE, 512);
    exanet_desc_write(t, 2, &d);
    exanet_wait(t, desc_has(t, 2, EXANET_DESC_W3_ERROR));
    d = exanet_desc_to_peer(~0ULL - 100, SINK_BASE, 512); /* the source address wraps */
    exanet_desc_write(t, 3, &d);
    exanet_wait(t, desc_has(t, 3, EXANET_DESC_W3_ERROR));
    /* the source is the NIC's own BAR */
    d = exanet_desc_to_peer(t->regs.addr, SINK_BASE, 512);
    exanet_desc_write(t, 4, &d);
    exanet_wait(t, desc_has(t, 4, EXANET_DESC_W3_ERROR));
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- Scheduler ------------------------------------------------------------- */

#define RR_PACKETS 5

static void test_round_robin(void)
{
    ExanetTest *t = exanet_start_external("");
    unsigned sent[EXANET_TIDS] = { 0 };

    /* the device is disabled until all 1024 descriptors are written */
    exanet_set32(t, EXANET_REG_CTRL, 0);
    for (unsigned tid = 0; tid < EXANET_TIDS; tid++) {
        ExanetDesc d = exanet_desc_to_peer(SRC + tid, SINK_BASE +
                                           tid * EXANET_BLOCK_BYTES,
                                           RR_PACKETS * EXANET_MTU);

        d.w4 = RNIC_PREP(EXANET_DESC_W4_PATH, tid % EXANET_OUTPUTS);
        exanet_desc_write(t, tid, &d);
    }
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    for (unsigned n = 0; n < EXANET_TIDS * RR_PACKETS; n++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
        unsigned round = n / EXANET_TIDS;

        /* the TID's count must be that of this round, or one more or less */
        g_assert_cmpuint(sent[rx->pkt.tid], >=, round ? round - 1 : 0);
        g_assert_cmpuint(sent[rx->pkt.tid], <=, round + 1);
        g_assert_cmphex(rx->pkt.va, ==, SINK_BASE + rx->pkt.tid *
                        EXANET_BLOCK_BYTES + sent[rx->pkt.tid] * EXANET_MTU);
        sent[rx->pkt.tid]++;
    }
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, BLOCK_DONE), ==, EXANET_TIDS);
    exanet_stop(t);
}

static void test_blocked_output(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc remote = exanet_desc_to_peer(SRC, SINK_BASE, EXANET_BLOCK_BYTES);
    ExanetDesc local = exanet_desc_to_peer(SRC, EXANET_RAM_DST, EXANET_BLOCK_BYTES);
    g_autofree uint8_t *src = g_malloc(EXANET_BLOCK_BYTES);
    ExanetSink sink;

    exanet_fill(t, SRC, src, EXANET_BLOCK_BYTES, 4);
    exanet_sink_init(&sink, SINK_BASE, EXANET_BLOCK_BYTES);
    exanet_xoff(t);
    exanet_desc_write(t, 1, &remote);
    exanet_wait(t, exanet_desc_sent(t, 1) > 0);
    exanet_settle(t);
    /* the buffers hold some packets, and the other packets wait */
    g_assert_cmpuint(exanet_desc_sent(t, 1), <, EXANET_BLOCK_BYTES);
    local.dst = exanet_gva(EXANET_TEST_NODE, EXANET_RAM_DST);
    local.w4 = RNIC_PREP(EXANET_DESC_W4_PATH, 1);
    exanet_desc_write(t, 2, &local);
    exanet_wait(t, desc_has(t, 2, EXANET_DESC_W3_DONE));
    exanet_assert_mem(t, EXANET_RAM_DST, src, EXANET_BLOCK_BYTES);
    g_assert_false(desc_has(t, 1, EXANET_DESC_W3_DONE));
    g_assert_cmpuint(exanet_count(t, SCHED_NO_SLOT), >, 0);
    exanet_assert_quiet(t);
    exanet_xon(t);
    exanet_sink_block(t->peer, &sink, 1);
    assert_image(&sink, SINK_BASE, src, EXANET_BLOCK_BYTES);
    exanet_sink_fini(&sink);
    exanet_stop(t);
}

static void test_kill(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, EXANET_BLOCK_BYTES);
    ExanetDesc other = exanet_desc_to_peer(SRC, SINK_BASE, 16);

    exanet_xoff(t);
    exanet_desc_write(t, 1, &d);
    exanet_wait(t, exanet_desc_sent(t, 1) > 0);
    /* an active descriptor cannot be changed */
    exanet_set64(t, desc_at(1, 1), 0);
    exanet_set64(t, desc_at(1, 2), 0);
    g_assert_cmphex(exanet_desc_get(t, 1, 1), ==, d.src);
    g_assert_cmphex(exanet_desc_get(t, 1, 2), ==, d.dst);
    g_assert_cmpuint(exanet_count(t, DESC_BUSY), ==, 2);

    exanet_set64(t, desc_at(1, 3), EXANET_DESC_W3_DB);
    g_assert_true(desc_has(t, 1, EXANET_DESC_W3_ERROR));
    g_assert_false(desc_has(t, 1, EXANET_DESC_W3_DONE));
    g_assert_cmpuint(exanet_count(t, BLOCK_KILLED), ==, 1);
    exanet_xon(t);
    exanet_assert_quiet(t);
    /* the slots of the killed block are free again */
    exanet_desc_write(t, 2, &other);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    d.len = 16;
    exanet_desc_write(t, 1, &d);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_assert_quiet(t);
    t->guest_errors = true;
    exanet_stop(t);
}

/* --- Chaining -------------------------------------------------------------- */

#define CHAIN 5

/* Writes TIDs @first ..  @first + CHAIN - 1 as a chain, the head of the chain last. */
static void chain_write(ExanetTest *t, unsigned first, const ExanetDesc *d)
{
    for (int i = CHAIN - 1; i >= 0; i--) {
        ExanetDesc one = *d;

        one.dst += i * EXANET_BLOCK_BYTES;
        one.w3 = (i ? EXANET_DESC_W3_DB : 0) |
                 (i < CHAIN - 1 ? EXANET_DESC_W3_CHAINED |
                  RNIC_PREP(EXANET_DESC_W3_DEP, first + i + 1) : 0);
        exanet_desc_write(t, first + i, &one);
    }
}

static void test_chain(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, 1000);
    g_autofree uint8_t *src = g_malloc(1000);
    ExanetSink sink;

    exanet_fill(t, SRC, src, 1000, 5);
    exanet_sink_init(&sink, SINK_BASE, CHAIN * EXANET_BLOCK_BYTES);
    chain_write(t, 10, &d);
    for (unsigned i = 0; i < CHAIN; i++) {
        exanet_sink_block(t->peer, &sink, 10 + i);
        assert_image(&sink, SINK_BASE + i * EXANET_BLOCK_BYTES, src, 1000);
    }
    exanet_assert_quiet(t);
    for (unsigned i = 0; i < CHAIN; i++) {
        g_assert_true(desc_has(t, 10 + i, EXANET_DESC_W3_DONE));
    }
    /* the head runs once more; its successor has run, and does not run again */
    d.w3 = EXANET_DESC_W3_CHAINED | RNIC_PREP(EXANET_DESC_W3_DEP, 11);
    d.w4 = RNIC_PREP(EXANET_DESC_W4_SEQ, 1);
    exanet_desc_write(t, 10, &d);
    exanet_sink_block(t->peer, &sink, 10);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, BLOCK_DONE), ==, CHAIN + 1);
    exanet_sink_fini(&sink);
    exanet_stop(t);
}

/* A chain whose last block leads to the first: each block runs once. */
static void test_chain_loop(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, 16);

    d.w3 = EXANET_DESC_W3_DB | EXANET_DESC_W3_CHAINED |
           RNIC_PREP(EXANET_DESC_W3_DEP, 1);
    exanet_desc_write(t, 2, &d);
    d.w3 = EXANET_DESC_W3_CHAINED | RNIC_PREP(EXANET_DESC_W3_DEP, 2);
    exanet_desc_write(t, 1, &d);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- Source faults --------------------------------------------------------- */

#define FAULT_VA 0x7f1234560000ULL
#define FAULT_PAGES 3
#define FAULT_LEN (FAULT_PAGES * 4096 - 200)

typedef struct FaultCase {
    unsigned missing;               /* number of the page without a mapping */
    unsigned offset;                /* offset of the source in its first page */
} FaultCase;

/*
 * Takes the packets before the fault.  Asserts that none is the last packet of the
 * block, and that their data end before @limit.
 */
static void sink_prefix(ExanetTest *t, ExanetSink *sink, const uint8_t *src,
                        unsigned limit)
{
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);
        unsigned at = rx->pkt.va - SINK_BASE;

        g_assert_false(exanet_sink_store(sink, &rx->pkt));
        g_assert_cmpuint(at + rx->pkt.size, <=, limit);
        g_assert_cmpmem(rx->pkt.payload, rx->pkt.size, src + at, rx->pkt.size);
    }
}

static void check_source_fault(ExanetTest *t, ExanetTables *tb,
                               const uint8_t *src, const FaultCase *fc)
{
    uint64_t va = FAULT_VA + fc->offset;
    uint64_t missing = FAULT_VA + fc->missing * 4096;
    ExanetDesc d = exanet_desc_to_peer(va, SINK_BASE, FAULT_LEN);
    ExanetDesc other = exanet_desc_to_peer(FAULT_VA + (fc->missing ? 0 : 4096),
                                           SINK_BASE + EXANET_BLOCK_BYTES, 64);
    struct exanet_fault f;
    ExanetSink sink;

    for (unsigned i = 0; i < FAULT_PAGES; i++) {
        exanet_tables_map(tb, FAULT_VA + i * 4096, SRC + i * 4096, 0,
                          i == fc->missing ? 0 : EXANET_MAP_READ_ONLY);
    }
    exanet_set64(t, EXANET_CTX(1) + EXANET_REG_CTX_INV_CMD, EXANET_INV_ALL);
    exanet_sink_init(&sink, SINK_BASE, 2 * EXANET_BLOCK_BYTES);
    d.pdid = other.pdid = EXANET_TEST_PDID(1);
    d.w4 = RNIC_PREP(EXANET_DESC_W4_GEN, 6);
    exanet_desc_write(t, 20, &d);
    f = exanet_fault_take(t);
    exanet_settle(t);
    g_assert_true(desc_has(t, 20, EXANET_DESC_W3_ERROR));
    g_assert_false(desc_has(t, 20, EXANET_DESC_W3_DONE));
    g_assert_cmphex(f.va, ==, missing);
    g_assert_cmpuint(f.left, ==, va + FAULT_LEN - MAX(missing, va));
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_CTX, f.info), ==, 1);
    g_assert_cmphex(f.info & (EXANET_FAULT_WRITE | EXANET_FAULT_DST), ==, 0);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==,
                     EXANET_FAULT_RDMA);
    g_assert_cmphex(RNIC_GET(EXANET_FAULT_TID, f.info), ==, 20 | 6 << 10);
    g_assert_cmphex(RNIC_GET(EXANET_FAULT_COORD, f.info), ==,
                    EXANET_TEST_PEER);
    sink_prefix(t, &sink, src + fc->offset,
                MAX(missing, va) - va);

    /* other blocks of this context continue before the fault is resolved */
    exanet_desc_write(t, 21, &other);
    exanet_sink_block(t->peer, &sink, 21);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 0);

    exanet_tables_map(tb, missing, SRC + fc->missing * 4096, 0,
                      EXANET_MAP_READ_ONLY);
    exanet_fault_resolve(t, &f, true);
    d.w4 |= RNIC_PREP(EXANET_DESC_W4_SEQ, 1);
    exanet_desc_write(t, 20, &d);
    exanet_sink_block(t->peer, &sink, 20 | 6 << 10);
    assert_image(&sink, SINK_BASE, src + fc->offset, FAULT_LEN);
    exanet_assert_quiet(t);
    exanet_sink_fini(&sink);
}

static void test_source_fault(void)
{
    static const FaultCase cases[] = {
        { 0, 0 }, { 1, 0 }, { 2, 0 },
        { 0, 100 },
        { 1, 100 },     /* the second of two pages from which one packet is read */
        { 2, 100 },
    };
    ExanetTest *t = exanet_start_external("");
    g_autofree uint8_t *src = g_malloc(FAULT_PAGES * 4096);
    ExanetTables tb;

    exanet_close(t, 1);
    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 1);
    exanet_fill(t, SRC, src, FAULT_PAGES * 4096, 6);
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        check_source_fault(t, &tb, src, &cases[i]);
    }
    g_assert_cmpuint(exanet_count(t, FAULT_READ), ==, ARRAY_SIZE(cases));
    exanet_stop(t);
}

/* A fault in the head of a chain stops the other blocks until the head runs again. */
static void test_chain_fault(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(FAULT_VA, SINK_BASE, 600);
    struct exanet_fault f;
    ExanetTables tb;
    ExanetSink sink;

    exanet_close(t, 1);
    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 1);
    exanet_sink_init(&sink, SINK_BASE, CHAIN * EXANET_BLOCK_BYTES);
    d.pdid = EXANET_TEST_PDID(1);
    chain_write(t, 30, &d);
    f = exanet_fault_take(t);
    exanet_assert_quiet(t);
    g_assert_true(desc_has(t, 31, EXANET_DESC_W3_DB));
    exanet_tables_map(&tb, FAULT_VA, SRC, 0, EXANET_MAP_READ_ONLY);
    exanet_fault_resolve(t, &f, true);
    d.w3 = EXANET_DESC_W3_CHAINED | RNIC_PREP(EXANET_DESC_W3_DEP, 31);
    d.w4 = RNIC_PREP(EXANET_DESC_W4_SEQ, 1);
    exanet_desc_write(t, 30, &d);
    for (unsigned i = 0; i < CHAIN; i++) {
        exanet_sink_block(t->peer, &sink, 30 + i);
    }
    exanet_assert_quiet(t);
    exanet_sink_fini(&sink);
    exanet_stop(t);
}

/* --- Reset ----------------------------------------------------------------- */

/* A soft reset while 100 blocks wait for the link leaves no work behind. */
static void test_reset(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, EXANET_BLOCK_BYTES);

    exanet_xoff(t);
    for (unsigned tid = 0; tid < 100; tid++) {
        exanet_desc_write(t, tid, &d);
    }
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_bring_up(t);
    exanet_assert_quiet(t);
    g_assert_cmphex(exanet_desc_get(t, 3, 3), ==, 0);
    g_assert_cmphex(exanet_desc_get(t, 3, 1), ==, 0);
    g_assert_cmpuint(exanet_count(t, TX_WRITE), ==, 0);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    d.len = 16;
    exanet_desc_write(t, 99, &d);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_assert_quiet(t);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/exadma/pending-list-t01", test_pending_list);
    qtest_add_func("/exanet/exadma/trigger-t02", test_trigger);
    qtest_add_func("/exanet/exadma/fields", test_fields);
    qtest_add_func("/exanet/exadma/alignment-t03", test_alignment);
    qtest_add_func("/exanet/exadma/golden-t04", test_golden);
    qtest_add_func("/exanet/exadma/refused-t05", test_refused);
    qtest_add_func("/exanet/exadma/nowhere", test_nowhere);
    qtest_add_func("/exanet/exadma/round-robin-t07", test_round_robin);
    qtest_add_func("/exanet/exadma/blocked-output-t07", test_blocked_output);
    qtest_add_func("/exanet/exadma/kill", test_kill);
    qtest_add_func("/exanet/exadma/chain-t08", test_chain);
    qtest_add_func("/exanet/exadma/chain-loop-t08", test_chain_loop);
    qtest_add_func("/exanet/exadma/chain-fault-t08", test_chain_fault);
    qtest_add_func("/exanet/exadma/source-fault-t15", test_source_fault);
    qtest_add_func("/exanet/exadma/reset", test_reset);
    return g_test_run();
}
