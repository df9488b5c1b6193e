/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packetizer: small messages from registers, repeated until acked.  The test acts as
 * the process and as the peer.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"

#define FIRST_TIMEOUT_MAX (100 * EXANET_MS)
#define FOREVER (3600000 * EXANET_MS)

static uint64_t to_peer(uint64_t va)
{
    return exanet_gva(EXANET_TEST_PEER, va);
}

static unsigned gen_of(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_PTID_GEN, pkt->tid);
}

static ExanetPacket take(ExanetTest *t, unsigned c, unsigned channel,
                         unsigned seq)
{
    g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);
    ExanetPacket pkt = rx->pkt;

    g_assert_cmphex(RNIC_GET(EXANET_PTID_CTX, pkt.tid), ==, c);
    g_assert_cmphex(RNIC_GET(EXANET_PTID_CHANNEL, pkt.tid), ==, channel);
    g_assert_cmpuint(pkt.seq, ==, seq);
    pkt.payload = NULL;
    return pkt;
}

static void wait_state(ExanetTest *t, unsigned c, unsigned channel,
                       enum exanet_pktz_state state)
{
    exanet_wait(t, exanet_pktz_state(t, c, channel) == state);
}

static unsigned resp_of(ExanetTest *t, unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_PKTZSTAT_RESP, exanet_pktz_status(t, c, channel));
}

/*
 * Advances time until the next packet arrives; returns the time that has passed, in ns.
 */
static int64_t step_until_packet(ExanetTest *t)
{
    int64_t passed = 0;

    while (g_queue_is_empty(&t->peer->packets)) {
        exanet_step(t, EXANET_MS);
        passed += EXANET_MS;
        g_assert_cmpint(passed, <, FOREVER);
    }
    return passed;
}

static void test_sizes(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[EXANET_PKTZ_PAYLOAD_MAX];

    for (unsigned i = 0; i < sizeof(payload); i++) {
        payload[i] = 0x80 + i;
    }
    for (unsigned size = 1; size <= EXANET_PKTZ_PAYLOAD_MAX; size++) {
        unsigned channel = size % EXANET_PKTZ_CHANNELS;
        uint64_t va = 0x123456700ULL + size;
        ExanetRxPacket *rx;

        exanet_pktz_start(t, 1, channel, to_peer(va), payload, size,
                          EXANET_PKTZ_ACK | RNIC_PREP(EXANET_PKTZ_DST_CTX, 6));
        rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
        g_assert_cmphex(rx->pkt.va, ==, va);
        g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
        g_assert_cmpuint(rx->pkt.size, ==, size);
        g_assert_cmpmem(rx->pkt.payload, size, payload, size);
        g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(6));
        g_assert_cmphex(rx->pkt.user, ==, EXANET_SMALL(EXANET_NI_PACKETIZER));
        g_assert_cmphex(rx->pkt.tid & 0xff, ==, 1 << 4 | channel);
        g_assert_cmphex(rx->pkt.ttl, ==, EXANET_TTL_MAX);
        g_assert_true(rx->pkt.first && rx->pkt.last && !rx->pkt.notify);
        g_assert_cmpuint(rx->pkt.seq, ==, 0);
        g_assert_cmpuint(exanet_pktz_state(t, 1, channel), ==,
                         EXANET_PKTZ_WAITING);
        g_assert_cmpuint(RNIC_GET(EXANET_PKTZSTAT_GEN,
                                  exanet_pktz_status(t, 1, channel)), ==,
                         gen_of(&rx->pkt));
        exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
        wait_state(t, 1, channel, EXANET_PKTZ_ACKED);
        g_free(rx);
    }
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, TX_WRITE), ==, EXANET_PKTZ_PAYLOAD_MAX);
    exanet_stop(t);
}

/* Read requests carry the sender's own PDID, whatever DST_CTX says. */
static void test_read_request(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[48] = { 7 };
    ExanetRxPacket *rx;

    exanet_pktz_start(t, 1, 3, to_peer(EXANET_NI_VA(EXANET_NI_RT_REQUEST)),
                      payload, 48, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ) |
                      RNIC_PREP(EXANET_PKTZ_DST_CTX, 9));
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_READ_REQ);
    g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(1));
    g_assert_cmphex(rx->pkt.va, ==, EXANET_NI_VA(EXANET_NI_RT_REQUEST));
    g_assert_cmpmem(rx->pkt.payload, 48, payload, 48);
    exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
    wait_state(t, 1, 3, EXANET_PKTZ_ACKED);
    g_free(rx);
    exanet_stop(t);
}

/* A message without ACK is sent once, and its channel is free at once. */
static void test_unacked(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt;

    exanet_pktz_start(t, 0, 0, to_peer(0x1000), "x", 1, 0);
    pkt = take(t, 0, 0, 0);
    wait_state(t, 0, 0, EXANET_PKTZ_ACKED);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FULL);
    exanet_wait(t, exanet_count(t, ACK_STALE) == 1);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_pktz_state(t, 0, 0), ==, EXANET_PKTZ_ACKED);
    exanet_stop(t);
}

static void test_retransmit(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket first, pkt;
    int64_t last = 0;

    exanet_pktz_start(t, 0, 5, to_peer(0x1000), "hello", 5, EXANET_PKTZ_ACK);
    first = take(t, 0, 5, 0);
    for (unsigned seq = 1; seq <= 5; seq++) {
        int64_t passed = step_until_packet(t);

        g_assert_cmpint(passed, >=, last);
        if (seq == 1) {
            g_assert_cmpint(passed, <=, FIRST_TIMEOUT_MAX);
        }
        last = passed;
        pkt = take(t, 0, 5, seq);
        g_assert_cmphex(pkt.tid, ==, first.tid);
        g_assert_cmpuint(RNIC_GET(EXANET_PKTZSTAT_RETRIES,
                                  exanet_pktz_status(t, 0, 5)), ==, seq);
        g_assert_cmpuint(exanet_count(t, MSG_RETRY), ==, seq);
    }
    /* the answer to an older copy is ignored */
    exanet_peer_ack(t->peer, &first, EXANET_RESP_ACK);
    exanet_wait(t, exanet_count(t, ACK_STALE) == 1);
    g_assert_cmpuint(exanet_pktz_state(t, 0, 5), ==, EXANET_PKTZ_WAITING);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    wait_state(t, 0, 5, EXANET_PKTZ_ACKED);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Without an answer the message fails with TIMEOUT after more than three copies. */
static void test_timeout(void)
{
    ExanetTest *t = exanet_start("");
    unsigned copies = 0;

    exanet_pktz_start(t, 0, 0, to_peer(0x1000), "hello", 5, EXANET_PKTZ_ACK);
    while (exanet_pktz_state(t, 0, 0) == EXANET_PKTZ_WAITING) {
        exanet_step(t, 1000 * EXANET_MS);
        g_assert_cmpuint(copies, <, 1000);
        while (!g_queue_is_empty(&t->peer->packets)) {
            take(t, 0, 0, copies++);
        }
    }
    g_assert_cmpuint(exanet_pktz_state(t, 0, 0), ==, EXANET_PKTZ_FAILED);
    g_assert_true(exanet_pktz_status(t, 0, 0) & EXANET_PKTZSTAT_TIMEOUT);
    g_assert_cmpuint(resp_of(t, 0, 0), ==, 0);
    g_assert_cmpuint(copies, >, 3);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_nacks(void)
{
    static const struct {
        enum exanet_resp resp;
        bool fails;
    } cases[] = {
        { EXANET_RESP_CRC }, { EXANET_RESP_FAULT }, { EXANET_RESP_NO_CONTEXT },
        { EXANET_RESP_FULL }, { EXANET_RESP_DECODE, true },
        { EXANET_RESP_PROTECTION, true }, { EXANET_RESP_MALFORMED, true },
    };
    ExanetTest *t = exanet_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ExanetPacket pkt;

        exanet_pktz_start(t, 0, i, to_peer(0x1000), "hello", 5,
                          EXANET_PKTZ_ACK);
        pkt = take(t, 0, i, 0);
        exanet_peer_ack(t->peer, &pkt, cases[i].resp);
        if (cases[i].fails) {
            wait_state(t, 0, i, EXANET_PKTZ_FAILED);
            g_assert_cmpuint(resp_of(t, 0, i), ==, cases[i].resp);
            g_assert_false(exanet_pktz_status(t, 0, i) &
                           EXANET_PKTZSTAT_TIMEOUT);
            exanet_step(t, FOREVER);
            exanet_assert_quiet(t);
            continue;
        }
        g_assert_cmpint(step_until_packet(t), <=, FIRST_TIMEOUT_MAX);
        pkt = take(t, 0, i, 1);
        g_assert_cmpuint(resp_of(t, 0, i), ==, cases[i].resp);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
        wait_state(t, 0, i, EXANET_PKTZ_ACKED);
        g_assert_cmpuint(resp_of(t, 0, i), ==, EXANET_RESP_ACK);
    }
    exanet_stop(t);
}

/*
 * A peer that always answers FULL: the message fails with TIMEOUT, and the status has
 * the response FULL.
 */
static void test_full_for_ever(void)
{
    ExanetTest *t = exanet_start("");
    unsigned copies = 0;

    exanet_pktz_start(t, 0, 0, to_peer(EXANET_NI_VA(EXANET_NI_MAILBOX)), "m", 1,
                      EXANET_PKTZ_ACK);
    while (exanet_pktz_state(t, 0, 0) == EXANET_PKTZ_WAITING) {
        exanet_settle(t);
        while (!g_queue_is_empty(&t->peer->packets)) {
            ExanetPacket pkt = take(t, 0, 0, copies++);

            exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FULL);
        }
        exanet_step(t, 50 * EXANET_MS);
        g_assert_cmpuint(copies, <, 100000);
    }
    g_assert_cmpuint(exanet_pktz_state(t, 0, 0), ==, EXANET_PKTZ_FAILED);
    g_assert_true(exanet_pktz_status(t, 0, 0) & EXANET_PKTZSTAT_TIMEOUT);
    g_assert_cmpuint(resp_of(t, 0, 0), ==, EXANET_RESP_FULL);
    exanet_stop(t);
}

static void test_stale(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt, wrong;

    exanet_pktz_start(t, 0, 0, to_peer(0x1000), "hello", 5, EXANET_PKTZ_ACK);
    pkt = take(t, 0, 0, 0);
    for (unsigned bit = 0; bit < 14; bit++) {
        wrong = pkt;
        wrong.tid ^= 1 << bit;      /* a wrong channel, context or generation */
        exanet_peer_ack(t->peer, &wrong, EXANET_RESP_ACK);
    }
    wrong = pkt;
    wrong.seq = 1;
    exanet_peer_ack(t->peer, &wrong, EXANET_RESP_ACK);
    for (unsigned resp = EXANET_RESP_MALFORMED + 1; resp < 16; resp++) {
        exanet_peer_ack(t->peer, &pkt, resp);
    }
    exanet_wait(t, exanet_count(t, ACK_STALE) == 14 + 1 + 7);
    g_assert_cmpuint(exanet_pktz_state(t, 0, 0), ==, EXANET_PKTZ_WAITING);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    wait_state(t, 0, 0, EXANET_PKTZ_ACKED);
    exanet_stop(t);
}

/* Every message has a generation of its own, also after failures. */
static void test_generations(void)
{
    ExanetTest *t = exanet_start("");
    unsigned last = 0;

    for (unsigned i = 0; i < 200; i++) {
        ExanetPacket pkt;

        exanet_pktz_start(t, 0, 0, to_peer(0x1000), "g", 1, EXANET_PKTZ_ACK);
        pkt = take(t, 0, 0, 0);
        if (i) {
            unsigned ahead = (gen_of(&pkt) - last) % 64;

            g_assert_cmpuint(ahead, >=, 1);
            g_assert_cmpuint(ahead, <, 32);
        }
        last = gen_of(&pkt);
        exanet_peer_ack(t->peer, &pkt, i % 3 ? EXANET_RESP_ACK :
                                               EXANET_RESP_PROTECTION);
        exanet_wait(t, exanet_pktz_state(t, 0, 0) != EXANET_PKTZ_WAITING);
    }
    exanet_stop(t);
}

static void test_bad_requests(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t code2 = RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_CONTROL);
    uint64_t code1 = RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ);
    uint64_t mailbox = EXANET_NI_VA(EXANET_NI_MAILBOX);
    uint64_t request = EXANET_NI_VA(EXANET_NI_RT_REQUEST);
    const struct { uint64_t va; unsigned size; uint64_t ctrl; } bad[] = {
        { 0x1000, 0, 0 }, { 0x1000, 65, 0 }, { 0x1000, 127, 0 },
        { 0x10f0, 17, 0 },                      /* crosses a border of 256 bytes */
        { mailbox + 0xf9, 8, 0 },               /* crosses a border of 256 bytes, too */
        { 0x1000, 8, code1 }, { 0x1000, 8, code2 },
        { mailbox, 8, code1 }, { request, 48, 0 },
        { 0x1000, 8, RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_NOTIFY) },
        { 0x1000, 8, RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_ACK) },
        { EXANET_NI_VA(EXANET_NI_RT_RESPONSE), 8, 0 },
        { EXANET_NI_VA(EXANET_NI_PACKETIZER), 8, 0 },
        { EXANET_NI_VA(EXANET_NI_RECEIVER), 32, 0 },
        { EXANET_NI_VA(EXANET_NI_RECEIVER), 32, code2 },
        { EXANET_NI_VA(127), 8, 0 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, 0, to_peer(bad[i].va));
        exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, EXANET_PKTZ_CTRL,
                        bad[i].ctrl | EXANET_PKTZ_ACK | EXANET_PKTZ_GO |
                        RNIC_PREP(EXANET_PKTZ_SIZE, bad[i].size));
        wait_state(t, 0, 0, EXANET_PKTZ_FAILED);
        g_assert_cmpuint(resp_of(t, 0, 0), ==, EXANET_RESP_MALFORMED);
        exanet_assert_quiet(t);
        /* a good message changes the state, so that the next failure is visible */
        exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, 0, to_peer(0x1000));
        exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, EXANET_PKTZ_CTRL,
                        EXANET_PKTZ_GO | RNIC_PREP(EXANET_PKTZ_SIZE, 8));
        wait_state(t, 0, 0, EXANET_PKTZ_ACKED);
        g_free(exanet_peer_take(t->peer));
    }
    t->guest_errors = true;
    exanet_stop(t);
}

/* Stores to a busy channel do not change its message; GO is counted as MSG_BUSY. */
static void test_busy(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t page = EXANET_PKTZ_BYTES * 4;
    ExanetRxPacket *rx;

    exanet_pktz_start(t, 0, 4, to_peer(0x1000), "first", 5, EXANET_PKTZ_ACK);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, page + EXANET_PKTZ_PAYLOAD,
                    ~0ULL);
    exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, page, to_peer(0x2000));
    exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, page + EXANET_PKTZ_CTRL,
                    EXANET_PKTZ_GO | RNIC_PREP(EXANET_PKTZ_SIZE, 1));
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, MSG_BUSY), ==, 1);
    step_until_packet(t);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
    g_assert_cmpuint(rx->pkt.seq, ==, 1);
    g_assert_cmphex(rx->pkt.va, ==, 0x1000);
    g_assert_cmpmem(rx->pkt.payload, rx->pkt.size, "first", 5);
    exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
    wait_state(t, 0, 4, EXANET_PKTZ_ACKED);
    /* GO reads as 0 after the end */
    g_assert_cmphex(exanet_user_get(t, 0, EXANET_PAGE_PACKETIZER,
                                    page + EXANET_PKTZ_CTRL) & EXANET_PKTZ_GO,
                    ==, 0);
    g_free(rx);
    exanet_stop(t);
}

/* Messages of all channels of two contexts at once, acked in the reverse order. */
static void test_all_channels(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt[2 * EXANET_PKTZ_CHANNELS];
    unsigned n = 0;

    exanet_xoff(t);
    for (unsigned c = 0; c < 2; c++) {
        for (unsigned k = 0; k < EXANET_PKTZ_CHANNELS; k++) {
            exanet_pktz_start(t, c, k, to_peer(0x1000), "x", 1,
                              EXANET_PKTZ_ACK);
        }
    }
    exanet_assert_quiet(t);
    exanet_xon(t);
    while (n < ARRAY_SIZE(pkt)) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);

        pkt[n++] = rx->pkt;
    }
    g_assert_cmpuint(RNIC_GET(EXANET_CTX_STATUS_OPS,
                              exanet_get32(t, EXANET_CTX(1) +
                                           EXANET_REG_CTX_STATUS)), ==,
                     EXANET_PKTZ_CHANNELS);
    while (n--) {
        unsigned c = RNIC_GET(EXANET_PTID_CTX, pkt[n].tid);
        unsigned k = RNIC_GET(EXANET_PTID_CHANNEL, pkt[n].tid);

        exanet_peer_ack(t->peer, &pkt[n], EXANET_RESP_ACK);
        wait_state(t, c, k, EXANET_PKTZ_ACKED);
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_quiesce(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt;

    exanet_pktz_start(t, 1, 0, to_peer(0x1000), "x", 1, EXANET_PKTZ_ACK);
    exanet_pktz_start(t, 0, 0, to_peer(0x1000), "y", 1, EXANET_PKTZ_ACK);
    take(t, 1, 0, 0);
    pkt = take(t, 0, 0, 0);
    exanet_set32(t, EXANET_CTX(1) + EXANET_REG_CTX_CTRL,
                 EXANET_CTX_CTRL_EN | EXANET_CTX_CTRL_QUIESCE);
    wait_state(t, 1, 0, EXANET_PKTZ_FAILED);
    g_assert_true(exanet_get32(t, EXANET_CTX(1) + EXANET_REG_CTX_STATUS) &
                  EXANET_CTX_STATUS_QUIESCED);
    /* a context with QUIESCE starts no message */
    exanet_pktz_start(t, 1, 1, to_peer(0x1000), "x", 1, EXANET_PKTZ_ACK);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_pktz_state(t, 1, 1), ==, EXANET_PKTZ_FAILED);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    wait_state(t, 0, 0, EXANET_PKTZ_ACKED);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    /* a context that is not open starts no message */
    exanet_pktz_start(t, 9, 0, to_peer(0x1000), "x", 1, EXANET_PKTZ_ACK);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_loopback(void)
{
    ExanetTest *t = exanet_start("");

    qtest_memset(t->qts, EXANET_RAM_DST, 0xee, 64);
    exanet_pktz_start(t, 0, 0, exanet_gva(EXANET_TEST_NODE,
                                          EXANET_RAM_DST + 3), "hello", 5,
                      EXANET_PKTZ_ACK | RNIC_PREP(EXANET_PKTZ_DST_CTX, 1));
    wait_state(t, 0, 0, EXANET_PKTZ_ACKED);
    exanet_assert_byte(t, EXANET_RAM_DST, 0xee, 3);
    exanet_assert_mem(t, EXANET_RAM_DST + 3, "hello", 5);
    exanet_assert_byte(t, EXANET_RAM_DST + 8, 0xee, 56);
    exanet_pktz_start(t, 0, 0, exanet_gva(EXANET_TEST_NODE, EXANET_NO_RAM),
                      "hello", 5, EXANET_PKTZ_ACK);
    wait_state(t, 0, 0, EXANET_PKTZ_FAILED);
    g_assert_cmpuint(resp_of(t, 0, 0), ==, EXANET_RESP_DECODE);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_reset(void)
{
    ExanetTest *t = exanet_start("");

    exanet_pktz_start(t, 0, 0, to_peer(0x1000), "x", 1, EXANET_PKTZ_ACK);
    take(t, 0, 0, 0);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_bring_up(t);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    g_assert_cmphex(exanet_pktz_status(t, 0, 0), ==, 0);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_pktz_start(t, 0, 0, to_peer(0x1000), "x", 1, EXANET_PKTZ_ACK);
    take(t, 0, 0, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/packetizer/sizes-t23", test_sizes);
    qtest_add_func("/exanet/packetizer/read-request-t21", test_read_request);
    qtest_add_func("/exanet/packetizer/unacked", test_unacked);
    qtest_add_func("/exanet/packetizer/retransmit-t23", test_retransmit);
    qtest_add_func("/exanet/packetizer/timeout-t23", test_timeout);
    qtest_add_func("/exanet/packetizer/nacks-t23", test_nacks);
    qtest_add_func("/exanet/packetizer/full-for-ever-t23", test_full_for_ever);
    qtest_add_func("/exanet/packetizer/stale-t23", test_stale);
    qtest_add_func("/exanet/packetizer/generations-t23", test_generations);
    qtest_add_func("/exanet/packetizer/bad-requests-t24", test_bad_requests);
    qtest_add_func("/exanet/packetizer/busy", test_busy);
    qtest_add_func("/exanet/packetizer/all-channels", test_all_channels);
    qtest_add_func("/exanet/packetizer/quiesce-t24", test_quiesce);
    qtest_add_func("/exanet/packetizer/loopback", test_loopback);
    qtest_add_func("/exanet/packetizer/reset", test_reset);
    return g_test_run();
}
