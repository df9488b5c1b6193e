/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic generator: loads and stores of all sizes and alignments, to memory of this
 * node through the crossbar, and to the test at the other end of the cable.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "tgen.h"

#define DST EXANET_RAM_DST
#define AROUND 64 /* bytes before and behind the target that must not change */
#define DATA (EXANET_TGEN_WORDS * 8)
#define TIMEOUT_NS (EXANET_SHM_TIMEOUT_DEFAULT * 64LL / 10)

static uint8_t pattern[DATA];

static ExanetTest *start(const char *props)
{
    ExanetTest *t = exanet_start(props);

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    for (unsigned i = 0; i < DATA; i++) {
        pattern[i] = i * 7 + i / 256 + 1;
    }
    exanet_tgen_fill(t, pattern, DATA);
    return t;
}

static void assert_run(ExanetTest *t, const ExanetTgenRun *r, unsigned done,
                       uint64_t bytes)
{
    g_assert_cmpuint(exanet_tgen_run(t, r), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, done);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_ERR), ==, 0);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_BYTES), ==, bytes);
    g_assert_cmphex(exanet_get32(t, EXANET_SHM + EXANET_REG_TGEN_CFG) &
                    EXANET_TGEN_GO, ==, 0);
}

/* --- Loop-back -------------------------------------------------------------- */

/*
 * Asserts that @size bytes at @at are those of the data RAM, which repeats every DATA
 * bytes, and that the bytes around them have not changed.
 */
static void assert_stored(ExanetTest *t, uint64_t at, unsigned size)
{
    g_autofree uint8_t *want = g_malloc(size + 2 * AROUND);

    memset(want, 0x5c, size + 2 * AROUND);
    for (unsigned i = 0; i < size; i++) {
        want[AROUND + i] = pattern[i % DATA];
    }
    exanet_assert_mem(t, at - AROUND, want, size + 2 * AROUND);
}

static void check_store(ExanetTest *t, uint64_t at, ExanetTgenRun r,
                        unsigned size)
{
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, at);

    r.gva = &gva;
    r.flags = EXANET_TGEN_WRITE;
    qtest_memset(t->qts, at - AROUND, 0x5c, size + 2 * AROUND);
    assert_run(t, &r, 1, size);
    assert_stored(t, at, size);
}

static void check_load(ExanetTest *t, uint64_t at, ExanetTgenRun r,
                       unsigned size)
{
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, at);
    uint8_t data[DATA], got[DATA];

    g_assert_cmpuint(size, <=, DATA);
    r.gva = &gva;
    exanet_fill(t, at, data, size, size + at);
    assert_run(t, &r, 1, size);
    exanet_tgen_result(t, got, ROUND_UP(size, 8));
    g_assert_cmpmem(got, size, data, size);
    for (unsigned i = size; i < ROUND_UP(size, 8); i++) {
        g_assert_cmphex(got[i], ==, pattern[i]);
    }
    exanet_tgen_fill(t, pattern, ROUND_UP(size, 8));
}

static void test_sizes(void)
{
    static const unsigned sizes[] = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 64, 100, 128,
        240, 255, 256, 257, 300, 511,
    };
    ExanetTest *t = start("");

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        const ExanetTgenRun r = { .size = sizes[i] };

        for (unsigned shift = 0; shift <= 16; shift++) {
            check_store(t, DST + 0x1000 + shift, r, sizes[i]);
            check_load(t, DST + 0x1000 + shift, r, sizes[i]);
        }
        /* around a multiple of 256, and across a border of pages */
        check_store(t, DST + 0x1fff, r, sizes[i]);
        check_load(t, DST + 0x1ffd, r, sizes[i]);
    }
    exanet_stop(t);
}

static void test_beats(void)
{
    static const unsigned beats[] = { 1, 2, 16, 31, 32, 33, 64, 256 };
    ExanetTest *t = start("");

    for (unsigned i = 0; i < ARRAY_SIZE(beats); i++) {
        const ExanetTgenRun r = { .beats = beats[i] };

        for (unsigned shift = 0; shift < 24; shift += 5) {
            check_store(t, DST + shift, r, 8 * beats[i]);
            if (beats[i] <= EXANET_TGEN_WORDS) {
                check_load(t, DST + shift, r, 8 * beats[i]);
            }
        }
    }
    exanet_stop(t);
}

/* A load longer than the data RAM overwrites its first bytes. */
static void test_data_wraps(void)
{
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, DST);
    const ExanetTgenRun r = { .gva = &gva, .beats = 65 };
    uint8_t data[DATA + 8], got[DATA];

    exanet_fill(t, DST, data, sizeof(data), 3);
    assert_run(t, &r, 1, sizeof(data));
    exanet_tgen_result(t, got, DATA);
    g_assert_cmpmem(got + 8, DATA - 8, data + 8, DATA - 8);
    g_assert_true(!memcmp(got, data, 8) || !memcmp(got, data + DATA, 8));
    exanet_stop(t);
}

static void test_bram(void)
{
    ExanetTest *t = start("");
    uint64_t gva = exanet_bram_gva(EXANET_TEST_NODE, 0x1003);
    ExanetTgenRun r = { .gva = &gva, .size = 200, .flags = EXANET_TGEN_WRITE };
    uint8_t got[DATA];

    assert_run(t, &r, 1, 200);
    memset(got, 0, DATA);
    exanet_tgen_fill(t, got, DATA);
    r.flags = 0;
    assert_run(t, &r, 1, 200);
    exanet_tgen_result(t, got, 200);
    g_assert_cmpmem(got, 200, pattern, 200);
    exanet_stop(t);
}

/* Loads and stores with many targets and many IDs at the same time. */
static void test_targets(void)
{
    ExanetTest *t = start("");
    uint64_t gva[EXANET_TGEN_TARGETS];
    const ExanetTgenRun r = {
        .gva = gva, .targets = EXANET_TGEN_TARGETS, .size = 24,
        .outstanding = 16, .ids = 8, .flags = EXANET_TGEN_WRITE,
    };

    qtest_memset(t->qts, DST - 0x100, 0x5c, 0x100 * (ARRAY_SIZE(gva) + 2));
    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        gva[i] = exanet_gva(EXANET_TEST_NODE, DST + 0x100 * i + i);
    }
    assert_run(t, &r, ARRAY_SIZE(gva), 24 * ARRAY_SIZE(gva));
    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        assert_stored(t, DST + 0x100 * i + i, 24);
    }
    exanet_stop(t);
}

/* --- The cable ---------------------------------------------------------------- */

/* Asserts that the packet has the bytes of @want in @words words. */
static void assert_packet(const ExanetRxPacket *rx, ExanetPacket want,
                          unsigned words)
{
    uint8_t buf[EXANET_PACKET_BYTES];

    /* the initiator chooses these fields */
    want.tid |= rx->pkt.tid & EXANET_STID_SLOT;
    want.seq = rx->pkt.seq;
    want.path = rx->pkt.path;
    want.vc = rx->pkt.vc;
    want.ttl = rx->pkt.ttl;
    g_assert_cmpuint(exanet_peer_encode(buf, &want), ==, words);
    g_assert_cmpmem(rx->buf, rx->words * EXANET_WORD_BYTES, buf,
                    words * EXANET_WORD_BYTES);
}

static ExanetPacket expected(ExanetTest *t, unsigned type, uint64_t va,
                             unsigned size, unsigned id)
{
    return (ExanetPacket) {
        .type = type, .dst = t->peer->coord, .src = t->peer->node,
        .epoch = t->peer->hello.epoch, .pdid = EXANET_TEST_PDID(1), .va = va,
        .size = size, .payload = type == EXANET_TYPE_AXI_WRITE ? pattern : NULL,
        .first = true, .last = true,
        .tid = RNIC_PREP(EXANET_STID_CLASS, type == EXANET_TYPE_AXI_WRITE ?
                         EXANET_SHM_STORE : EXANET_SHM_LOAD) |
               RNIC_PREP(EXANET_STID_ID,
                         RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_TGEN) |
                         RNIC_PREP(EXANET_AXI_ID_NUMBER, id)),
    };
}

static void check_form(ExanetTest *t, bool write, uint64_t va, unsigned size,
                       unsigned words)
{
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, va);
    const unsigned type = write ? EXANET_TYPE_AXI_WRITE : EXANET_TYPE_AXI_READ;
    const ExanetTgenRun r = {
        .gva = &gva, .size = size, .first_id = size % 16,
        .pdid = EXANET_TEST_PDID(1), .flags = write ? EXANET_TGEN_WRITE : 0,
    };
    uint8_t data[EXANET_MTU], got[EXANET_MTU];
    g_autofree ExanetRxPacket *rx = NULL;

    exanet_tgen_start(t, &r);
    rx = exanet_peer_take_type(t->peer, type);
    assert_packet(rx, expected(t, type, va, size, size % 16), words);
    exanet_settle(t);
    g_assert_true(exanet_tgen_busy(t));
    for (unsigned i = 0; i < size; i++) {
        data[i] = i * 13 + va;
    }
    exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, write ? NULL : data);
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_code(t), ==, EXANET_RESP_ACK);
    if (!write) {
        exanet_tgen_result(t, got, ROUND_UP(size, 8));
        g_assert_cmpmem(got, size, data, size);
        exanet_tgen_fill(t, pattern, ROUND_UP(size, 8));
    }
}

/* Header and footer have a word each, as in the packet format of the paper: 4 flits. */
static void test_form(void)
{
    ExanetTest *t = start("");

    check_form(t, false, DST, 8, 2);
    check_form(t, false, DST + 5, 1, 2);
    check_form(t, false, DST + 1, 255, 2);
    check_form(t, true, DST, 8, 3);
    check_form(t, true, DST + 8, 8, 3);
    check_form(t, true, DST + 9, 8, 4);
    check_form(t, true, DST + 3, 1, 3);
    check_form(t, true, DST, 256, 18);
    check_form(t, true, DST + 15, 240, 18);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* One transaction whose packets do not cross a multiple of 256. */
static void test_split(void)
{
    static const struct { unsigned va, size; } parts[] = {
        { DST + 0xf1, 15 }, { DST + 0x100, 256 }, { DST + 0x200, 229 },
    };
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, parts[0].va);
    const ExanetTgenRun r = {
        .gva = &gva, .size = 500, .flags = EXANET_TGEN_WRITE,
    };
    const uint8_t *data = pattern;

    exanet_tgen_start(t, &r);
    for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);

        g_assert_cmphex(rx->pkt.va, ==, parts[i].va);
        g_assert_cmpmem(rx->pkt.payload, rx->pkt.size, data, parts[i].size);
        data += rx->pkt.size;
        exanet_settle(t);
        g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 0);
        exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, NULL);
    }
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 1);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_BYTES), ==, 500);
    exanet_stop(t);
}

/* Takes the next load; asserts that its AXI ID has number @id. */
static ExanetRxPacket *take_load(ExanetTest *t, unsigned id)
{
    ExanetRxPacket *rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);

    g_assert_cmpuint(RNIC_GET(EXANET_AXI_ID_NUMBER, rx->pkt.tid), ==, id);
    return rx;
}

static void test_outstanding(void)
{
    static const unsigned ids[] = { 14, 15, 0, 14, 15, 0, 14, 15 };
    ExanetRxPacket *rx[ARRAY_SIZE(ids)];
    uint64_t gva[ARRAY_SIZE(ids)];
    ExanetTest *t = start("");
    const ExanetTgenRun r = {
        .gva = gva, .targets = ARRAY_SIZE(gva), .size = 8, .outstanding = 4,
        .first_id = 14, .ids = 3,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        gva[i] = exanet_gva(EXANET_TEST_PEER, DST + 64 * i);
    }
    exanet_tgen_start(t, &r);
    for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
        rx[i] = take_load(t, ids[i]);
        g_assert_cmphex(rx[i]->pkt.va, ==, DST + 64 * i);
        if (i >= 3) {
            /* four loads are under way, so the next load waits for a response */
            exanet_assert_quiet(t);
            exanet_peer_answer_axi(t->peer, &rx[i - 3]->pkt, EXANET_RESP_ACK,
                               pattern);
        }
    }
    for (unsigned i = ARRAY_SIZE(ids) - 3; i < ARRAY_SIZE(ids); i++) {
        exanet_peer_answer_axi(t->peer, &rx[i]->pkt, EXANET_RESP_ACK, pattern);
    }
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==,
                     ARRAY_SIZE(ids));
    for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
        g_free(rx[i]);
    }
    exanet_stop(t);
}

static void test_repeat(void)
{
    ExanetTest *t = start("");
    const uint64_t gva[] = {
        exanet_gva(EXANET_TEST_PEER, DST), exanet_gva(EXANET_TEST_PEER, DST + 8),
    };
    const ExanetTgenRun r = {
        .gva = gva, .targets = 2, .size = 8,
        .flags = EXANET_TGEN_REPEAT | EXANET_TGEN_WRITE,
    };
    g_autofree ExanetRxPacket *last = NULL;

    exanet_tgen_start(t, &r);
    for (unsigned i = 0; i < 99; i++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);

        g_assert_cmphex(rx->pkt.va, ==, DST + 8 * (i & 1));
        exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, NULL);
    }
    last = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    exanet_tgen_stop(t);
    exanet_settle(t);
    g_assert_true(exanet_tgen_busy(t));
    /* GO has no effect during a run */
    exanet_set32(t, EXANET_SHM + EXANET_REG_TGEN_CFG, EXANET_TGEN_GO |
                 RNIC_PREP(EXANET_TGEN_ENTRIES, 1));
    exanet_step(t, EXANET_MS);
    exanet_peer_answer_axi(t->peer, &last->pkt, EXANET_RESP_ACK, NULL);
    exanet_wait(t, !exanet_tgen_busy(t));
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 100);
    g_assert_cmpint(exanet_tgen_get(t, EXANET_REG_TGEN_TIME), ==, EXANET_MS);
    exanet_stop(t);
}

/* --- Errors -------------------------------------------------------------------- */

static void test_errors(void)
{
    ExanetTest *t = start("");
    const uint64_t gva[] = {
        exanet_gva(EXANET_TEST_PEER, DST), exanet_gva(EXANET_TEST_PEER, DST + 8),
        exanet_gva(EXANET_TEST_PEER, DST + 16),
    };
    const enum exanet_resp resp[] = {
        EXANET_RESP_ACK, EXANET_RESP_PROTECTION, EXANET_RESP_DECODE,
    };
    const ExanetTgenRun r = { .gva = gva, .targets = 3, .size = 8 };

    exanet_tgen_start(t, &r);
    for (unsigned i = 0; i < 3; i++) {
        g_autofree ExanetRxPacket *rx = take_load(t, 0);

        exanet_peer_answer_axi(t->peer, &rx->pkt, resp[i],
                           resp[i] == EXANET_RESP_ACK ? pattern : NULL);
    }
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 3);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_ERR), ==, 2);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_BYTES), ==, 8);
    g_assert_cmpuint(exanet_tgen_code(t), ==, EXANET_RESP_PROTECTION);
    g_assert_true(exanet_get32(t, EXANET_SHM + EXANET_REG_SHM_ERR_INFO) &
                  EXANET_SHM_ERR_VALID);
    exanet_stop(t);
}

/* A run without answers ends with an error. */
static void test_silence(void)
{
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, DST);
    ExanetTgenRun r = { .gva = &gva, .size = 8, .flags = EXANET_TGEN_WRITE };

    exanet_shm_set(t, SHM_RETRY_MAX, 2);
    for (unsigned write = 0; write < 2; write++) {
        r.flags = write ? EXANET_TGEN_WRITE : 0;
        exanet_tgen_start(t, &r);
        for (unsigned i = 0; i < 20 && exanet_tgen_busy(t); i++) {
            exanet_step(t, TIMEOUT_NS);
        }
        g_assert_false(exanet_tgen_busy(t));
        g_assert_cmpuint(exanet_tgen_code(t), !=, EXANET_RESP_ACK);
        g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_ERR), ==, 1);
    }
    exanet_stop(t);
}

/* Early acknowledgement counts as an answer, but the run ends with the last response. */
static void test_early(void)
{
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, DST);
    const ExanetTgenRun r = {
        .gva = &gva, .size = 8, .flags = EXANET_TGEN_WRITE | EXANET_TGEN_EARLY,
    };
    g_autofree ExanetRxPacket *rx = NULL;

    exanet_tgen_start(t, &r);
    exanet_wait(t, exanet_tgen_get(t, EXANET_REG_TGEN_DONE) == 1);
    g_assert_true(exanet_tgen_busy(t));
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_PROTECTION, NULL);
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 1);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_ERR), ==, 1);
    g_assert_cmpuint(exanet_tgen_code(t), ==, EXANET_RESP_PROTECTION);
    exanet_stop(t);
}

static void test_refused(void)
{
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, DST);
    ExanetTgenRun r = { .gva = &gva, .size = 8, .flags = EXANET_TGEN_WRITE };

    /* no target, and more targets than the generator has */
    exanet_set32(t, EXANET_SHM + EXANET_REG_TGEN_CFG, EXANET_TGEN_GO);
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_code(t), ==, EXANET_RESP_MALFORMED);
    r.targets = EXANET_TGEN_TARGETS + 1;
    r.gva = (uint64_t[EXANET_TGEN_TARGETS]) { 0 };
    g_assert_cmpuint(exanet_tgen_run(t, &r), ==, EXANET_RESP_MALFORMED);
    r.targets = 1;
    r.gva = &gva;
    /* while SHM or the device is disabled, no run starts, nor later */
    exanet_shm_set(t, SHM_CTRL,
                   EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_ENABLE);
    exanet_tgen_start(t, &r);
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_set32(t, EXANET_REG_CTRL, 0);
    exanet_tgen_start(t, &r);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_settle(t);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 0);
    g_assert_cmphex(exanet_get32(t, EXANET_SHM + EXANET_REG_TGEN_CFG) &
                    EXANET_TGEN_GO, ==, 0);
    exanet_stop(t);
}

/* The close of its context, and a reset, end a run with transactions under way. */
static void test_ended(void)
{
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, DST);
    const ExanetTgenRun r = {
        .gva = &gva, .size = 8, .outstanding = 3, .ctx = 1,
        .flags = EXANET_TGEN_REPEAT,
    };

    exanet_tgen_start(t, &r);
    for (unsigned i = 0; i < 3; i++) {
        g_free(take_load(t, 0));
    }
    exanet_close(t, 1);
    exanet_wait(t, !exanet_tgen_busy(t));
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_ERR), ==, 3);
    g_assert_cmpuint(exanet_tgen_code(t), ==, EXANET_RESP_PROTECTION);

    exanet_open(t, 1, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_tgen_start(t, &r);
    for (unsigned i = 0; i < 3; i++) {
        g_free(take_load(t, 0));
    }
    g_assert_false(exanet_get32(t, EXANET_REG_STATUS) &
                   EXANET_STATUS_QUIESCENT);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_false(exanet_tgen_busy(t));
    g_assert_true(exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_QUIESCENT);
    g_assert_cmpuint(exanet_tgen_get(t, EXANET_REG_TGEN_DONE), ==, 0);
    exanet_stop(t);
}

/*
 * Returns a random value; two of six are any addresses or values, the others are often
 * valid.
 */
static uint64_t random_value(GRand *rand)
{
    uint64_t value = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);

    switch (g_rand_int_range(rand, 0, 6)) {
    case 0:
        return value;
    case 1:
        return exanet_gva(EXANET_TEST_NODE, EXANET_RAM_DST + value % 0x100000);
    case 2:
        return exanet_gva(EXANET_TEST_PEER, EXANET_RAM_DST + value % 0x100000);
    case 3:
        return exanet_bram_gva(EXANET_TEST_NODE, value % 0x200000);
    default:
        return value & (0xffff >> g_rand_int_range(rand, 0, 16)) & ~7ULL;
    }
}

/* Random values in all registers of generator and accelerator while both are at work. */
static void test_random_registers(void)
{
    const unsigned from = EXANET_REG_TGEN_CFG;
    GRand *rand = g_rand_new_with_seed(random_seed(90210));
    ExanetTest *t = start("");
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, DST);
    const ExanetTgenRun r = { .gva = &gva, .size = 8 };

    exanet_shm_set(t, SHM_RETRY_MAX, 1);
    for (unsigned i = 0; i < 6000; i++) {
        unsigned reg = g_rand_int_range(rand, from, EXANET_SHM_BYTES) & ~7u;

        if (i % 8 == 0) {
            reg = g_rand_int_range(rand, 0, 2) ? EXANET_REG_TGEN_CFG :
                                                 EXANET_REG_ACCEL_CTRL;
        }
        exanet_set64(t, EXANET_SHM + reg, random_value(rand) | (i % 8 == 0));
        if (i % 16 == 0) {
            exanet_step(t, 20 * EXANET_MS);
            while (!g_queue_is_empty(&t->peer->packets)) {
                g_free(exanet_peer_take(t->peer));
            }
        }
    }
    exanet_tgen_stop(t);
    exanet_set32(t, EXANET_SHM + EXANET_REG_ACCEL_CTRL, 0);
    for (unsigned i = 0; i < 100 && exanet_tgen_busy(t); i++) {
        exanet_step(t, TIMEOUT_NS);
    }
    exanet_fill(t, DST, pattern, 8, 5);
    g_assert_cmpuint(exanet_tgen_run(t, &r), ==, EXANET_RESP_ACK);
    g_assert_cmphex(exanet_get64(t, EXANET_TGEN_DATA(0)), ==, ldq_le_p(pattern));
    t->guest_errors = true;
    g_rand_free(rand);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/tgen/sizes-t01", test_sizes);
    qtest_add_func("/exanet/tgen/beats-t01", test_beats);
    qtest_add_func("/exanet/tgen/data-wraps", test_data_wraps);
    qtest_add_func("/exanet/tgen/bram", test_bram);
    qtest_add_func("/exanet/tgen/targets", test_targets);
    qtest_add_func("/exanet/tgen/form-t02", test_form);
    qtest_add_func("/exanet/tgen/split", test_split);
    qtest_add_func("/exanet/tgen/outstanding-and-ids", test_outstanding);
    qtest_add_func("/exanet/tgen/repeat", test_repeat);
    qtest_add_func("/exanet/tgen/errors", test_errors);
    qtest_add_func("/exanet/tgen/silence", test_silence);
    qtest_add_func("/exanet/tgen/early", test_early);
    qtest_add_func("/exanet/tgen/refused", test_refused);
    qtest_add_func("/exanet/tgen/ended", test_ended);
    qtest_add_func("/exanet/tgen/random-registers", test_random_registers);
    return g_test_run();
}
