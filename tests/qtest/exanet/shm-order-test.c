/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores and RDMA writes that arrive late, twice, too early or damaged at the device as
 * target.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "device.h"

#define DST EXANET_RAM_DST
#define SEQ_LAST 0x3fff
#define WINDOW 128                  /* RDMA writes that the target remembers */
/* limit of the distance of a store from the next expected one, in sequence numbers */
#define SPAN 1024
/* seconds after which FIRST with any sequence number begins a new sequence */
#define AGE_S 10

static const uint8_t mark = 0xee;   /* content of memory before a test */

static ExanetPacket request(ExanetPeer *p, enum exanet_shm_class class,
                            unsigned seq, bool first, const uint8_t *byte)
{
    ExanetPacket pkt = exanet_axi_packet(p, class, DST, byte, 1);

    pkt.pdid = EXANET_TEST_PDID(0);
    pkt.seq = seq & SEQ_LAST;
    pkt.first = first;
    return pkt;
}

/*
 * Sends a write of one byte, and asserts an ACK.  @applied: the byte must be in memory;
 * else the target must count a copy and not change memory.
 */
static void assert_write(ExanetTest *t, enum exanet_shm_class class,
                         unsigned seq, bool first, bool applied)
{
    uint64_t again = exanet_count(t, SHM_DUPLICATE);
    uint8_t byte = seq * 5 + 1;
    ExanetPacket pkt = request(t->peer, class, seq, first, &byte);

    qtest_memset(t->qts, DST, mark, 1);
    exanet_peer_send(t->peer, &pkt);
    g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==,
                     EXANET_RESP_ACK);
    exanet_assert_byte(t, DST, applied ? byte : mark, 1);
    g_assert_cmpuint(exanet_count(t, SHM_DUPLICATE), ==, again + !applied);
}

static void assert_store(ExanetTest *t, unsigned seq, bool first, bool applied)
{
    assert_write(t, EXANET_SHM_STORE, seq, first, applied);
}

/*
 * Sends a write, and asserts that the target drops it: no response, no change of
 * memory.
 */
static void assert_dropped(ExanetTest *t, enum exanet_shm_class class,
                           unsigned seq, bool first)
{
    uint64_t early = exanet_count(t, SHM_EARLY_STORE);
    ExanetPacket pkt = request(t->peer, class, seq, first, &mark);

    qtest_memset(t->qts, DST, 0, 1);
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, SHM_EARLY_STORE) == early + 1);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0, 1);
}

static void assert_early(ExanetTest *t, unsigned seq)
{
    assert_dropped(t, EXANET_SHM_STORE, seq, false);
}

static void test_order(void)
{
    ExanetTest *t = exanet_start("");

    assert_early(t, 0);             /* without FIRST from an unknown node */
    assert_early(t, 5);
    assert_store(t, 5, true, true);
    for (unsigned seq = 6; seq < 40; seq++) {
        assert_early(t, seq + 1);
        assert_early(t, seq + 8191);
        assert_store(t, seq, seq % 3 == 0, true);
        assert_store(t, seq, seq % 2, false);
        assert_store(t, 5, true, false);
    }
    exanet_stop(t);
}

/* FIRST: the node has given up all earlier stores, and does not send them again. */
static void test_first(void)
{
    ExanetTest *t = exanet_start("");

    assert_store(t, 0, true, true);
    assert_store(t, 20, true, true);
    assert_store(t, 1, false, false);
    assert_store(t, 19, true, false);
    assert_early(t, 22);
    assert_store(t, 21, false, true);
    exanet_stop(t);
}

static void test_wrap(void)
{
    ExanetTest *t = exanet_start("");

    assert_store(t, SEQ_LAST - 1, true, true);
    assert_early(t, 0);
    assert_store(t, SEQ_LAST, false, true);
    assert_early(t, 1);
    assert_store(t, 0, false, true);
    assert_store(t, SEQ_LAST, false, false);
    assert_store(t, SEQ_LAST - 1, true, false);
    assert_store(t, 1, false, true);
    /* passes all sequence numbers once */
    for (unsigned seq = 2; seq <= SEQ_LAST + 3; seq += 1000) {
        assert_store(t, seq, true, true);
    }
    exanet_stop(t);
}

/*
 * A store more than SPAN behind or ahead is dropped without a response, because it may
 * be an old copy, unless AGE_S have passed since the last store.
 */
static void test_age(void)
{
    ExanetTest *t = exanet_start("");

    assert_store(t, 9000, true, true);
    assert_store(t, 9001 - SPAN, true, false);
    assert_dropped(t, EXANET_SHM_STORE, 9000 - SPAN, true);
    assert_dropped(t, EXANET_SHM_STORE, 4000, true);
    assert_dropped(t, EXANET_SHM_STORE, 9002 + SPAN, true);
    assert_dropped(t, EXANET_SHM_STORE, 9001 + SEQ_LAST / 2, true);
    assert_store(t, 9001 + SPAN, true, true);
    /* the node may have given up 1000 more stores in 500 ms */
    exanet_step(t, 500 * EXANET_MS);
    assert_dropped(t, EXANET_SHM_STORE, 9002 + 2 * SPAN + 1001, true);
    assert_store(t, 9002 + 2 * SPAN + 999, true, true);
    assert_store(t, 13000, true, true);
    exanet_step(t, AGE_S * 1000 * EXANET_MS + 1);
    /* one of the last 128 stores, of which copies may still be under way */
    assert_store(t, 13001 - 128, true, false);
    assert_dropped(t, EXANET_SHM_STORE, 4000, false);
    assert_store(t, 4000, true, true);
    assert_store(t, 4001, false, true);
    exanet_step(t, AGE_S * 1000 * EXANET_MS + 1);
    assert_write(t, EXANET_SHM_RDMA_WRITE, 9000, true, true);
    assert_dropped(t, EXANET_SHM_RDMA_WRITE, 4000, true);
    assert_dropped(t, EXANET_SHM_RDMA_WRITE, 9002 + SPAN, true);
    exanet_step(t, AGE_S * 1000 * EXANET_MS + 1);
    assert_write(t, EXANET_SHM_RDMA_WRITE, 4000, true, true);
    assert_write(t, EXANET_SHM_RDMA_WRITE, 4001, false, true);
    assert_write(t, EXANET_SHM_RDMA_WRITE, 3999, false, false);
    exanet_stop(t);
}

/*
 * Checks that failed writes use up sequence numbers, too: after more than half of all
 * numbers, the next write is accepted.
 */
static void check_failing(enum exanet_shm_class class, uint16_t pdid, uint64_t va,
                          enum exanet_resp resp)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt = request(t->peer, class, 0, true, &mark);

    assert_write(t, class, 0, true, true);
    pkt.pdid = pdid;
    pkt.va = va;
    for (pkt.seq = 1; pkt.seq < 10000; pkt.seq += 500) {
        exanet_peer_send(t->peer, &pkt);
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==, resp);
    }
    assert_write(t, class, 10000, true, true);
    assert_write(t, class, 10000, true, false);
    assert_write(t, class, 10001, false, true);
    exanet_stop(t);
}

static void test_failing(void)
{
    static const enum exanet_shm_class classes[] = {
        EXANET_SHM_STORE, EXANET_SHM_RDMA_WRITE,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(classes); i++) {
        check_failing(classes[i], EXANET_TEST_PDID(0), EXANET_NO_RAM,
                      EXANET_RESP_DECODE);
        check_failing(classes[i], EXANET_TEST_PDID(9), DST,
                      EXANET_RESP_PROTECTION);
    }
}

static void peer_reset(ExanetTest *t)
{
    t->peer->epoch++;
    t->peer->heard = false;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, t->peer->heard);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
}

/*
 * The peer was reset: its earlier packets are dropped, and its sequence may start
 * anywhere.
 */
static void test_epoch(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket old = request(t->peer, EXANET_SHM_STORE, 11, true, &mark);

    assert_store(t, 10, true, true);
    assert_write(t, EXANET_SHM_RDMA_WRITE, 10, true, true);
    peer_reset(t);
    assert_early(t, 11);
    exanet_peer_send(t->peer, &old);
    exanet_wait(t, exanet_count(t, RX_OLD_GEN) == 1);
    exanet_assert_quiet(t);
    assert_store(t, 10, true, true);
    assert_store(t, 11, false, true);
    assert_write(t, EXANET_SHM_RDMA_WRITE, 10, true, true);
    exanet_stop(t);
}

/*
 * A failed store uses up its number, so a copy with a valid address is not executed
 * after the next store.
 */
static void test_failed(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t byte = 0x31;
    ExanetPacket pkt = request(t->peer, EXANET_SHM_STORE, 1, false, &byte);

    assert_store(t, 0, true, true);
    pkt.va = EXANET_NO_RAM;
    for (unsigned i = 0; i < 2; i++) {
        exanet_peer_send(t->peer, &pkt);
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==,
                         EXANET_RESP_DECODE);
    }
    assert_early(t, 2);
    assert_store(t, 2, true, true);
    assert_store(t, 1, false, false);
    exanet_stop(t);
}

/* Stores and RDMA writes of each node have separate sequences. */
static void test_independent(void)
{
    static const uint32_t peers[] = {
        EXANET_TEST_NODE ^ 1 << 12, EXANET_TEST_NODE ^ 2 << 12,
    };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");

    for (unsigned seq = 0; seq < 8; seq++) {
        t->peer = t->ports[0];
        assert_store(t, 100 + seq, seq == 0, true);
        assert_write(t, EXANET_SHM_RDMA_WRITE, 5 + seq, false, true);
        t->peer = t->ports[1];
        assert_store(t, 50 + seq, seq == 0, true);
        assert_write(t, EXANET_SHM_RDMA_WRITE, 5 + seq, false, true);
        assert_early(t, 100 + seq);
    }
    t->peer = NULL;
    exanet_stop(t);
}

/* --- RDMA writes ----------------------------------------------------------------- */

static void rdma(ExanetTest *t, unsigned seq, bool first, bool applied)
{
    assert_write(t, EXANET_SHM_RDMA_WRITE, seq, first, applied);
}

/*
 * RDMA writes arrive in any order, and each is executed once; the numbers wrap after 64
 * writes.
 */
static void test_rdma(void)
{
    ExanetTest *t = exanet_start("");
    unsigned base = SEQ_LAST - 63;

    for (unsigned i = 0; i < WINDOW; i++) {
        rdma(t, base + i * 37 % WINDOW, i == 0, true);
        rdma(t, base + i / 2 * 37 % WINDOW, false, false);
    }
    for (unsigned i = 0; i < WINDOW; i++) {
        rdma(t, base + i, false, false);
    }
    /*
     * the window moves on: a write behind the window is dropped, a write inside is
     * executed
     */
    rdma(t, base + WINDOW + 10, false, true);
    assert_dropped(t, EXANET_SHM_RDMA_WRITE, base, false);
    rdma(t, base + WINDOW + 9, false, true);
    rdma(t, base + WINDOW, false, true);
    rdma(t, base + 3 * WINDOW, false, true);
    assert_dropped(t, EXANET_SHM_RDMA_WRITE, base + 2 * WINDOW, false);
    rdma(t, base + 2 * WINDOW + 1, false, true);
    rdma(t, base + 1000, false, true);
    rdma(t, base + 1000 - 50, false, true);
    assert_dropped(t, EXANET_SHM_RDMA_WRITE, base + 3 * WINDOW, false);
    /* no write before FIRST is executed any more */
    rdma(t, base + 1010, true, true);
    rdma(t, base + 1009, false, false);
    rdma(t, base + 1001, false, false);
    rdma(t, base + 990, false, false);
    rdma(t, base + 1011, false, true);
    exanet_stop(t);
}

/* --- As published ------------------------------------------------------------------ */

static void check_published(ExanetTest *t)
{
    for (unsigned i = 0; i < 3; i++) {
        assert_store(t, 7, false, true);
        assert_store(t, 3, false, true);
        assert_store(t, 9000, false, true);
        rdma(t, 7, false, true);
        rdma(t, 7, false, true);
    }
    g_assert_cmpuint(exanet_count(t, SHM_DUPLICATE), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_EARLY_STORE), ==, 0);
}

static void test_unordered(void)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_SHM + EXANET_REG_SHM_CTRL, EXANET_SHM_CTRL_ALL &
                 ~EXANET_SHM_CTRL_ORDER);
    check_published(t);
    exanet_set32(t, EXANET_SHM + EXANET_REG_SHM_CTRL, EXANET_SHM_CTRL_ALL);
    assert_early(t, 9001);
    assert_store(t, 4, true, true);
    assert_store(t, 4, true, false);
    exanet_stop(t);
}

static void test_strict(void)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    check_published(t);
    exanet_stop(t);
}

/* --- Damage and nonsense ------------------------------------------------------------ */

static void test_crc(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t buf[EXANET_PACKET_BYTES];
    ExanetPacket pkt = request(t->peer, EXANET_SHM_STORE, 0, true, &mark);
    unsigned words = exanet_peer_encode(buf, &pkt);

    qtest_memset(t->qts, DST, 0, 1);
    buf[EXANET_WORD_BYTES] ^= 1;
    exanet_peer_words(t->peer, buf, words);
    g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==,
                     EXANET_RESP_CRC);
    g_assert_cmpuint(exanet_count(t, DROP_PAYLOAD_CRC), ==, 1);
    buf[EXANET_WORD_BYTES] ^= 1;
    buf[(words - 1) * EXANET_WORD_BYTES] ^= 1;
    exanet_peer_words(t->peer, buf, words);
    exanet_wait(t, exanet_count(t, DROP_FOOTER_CRC) == 1);
    buf[(words - 1) * EXANET_WORD_BYTES] ^= 1;
    buf[1] ^= 1;
    exanet_peer_words(t->peer, buf, words);
    exanet_wait(t, exanet_count(t, DROP_HEADER_CRC) == 1);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0, 1);
    assert_store(t, 0, true, true);
    exanet_stop(t);
}

/* The response is lost, damaged or duplicated: the store is executed once. */
static void test_response_faults(void)
{
    static const unsigned kinds[] = {
        EXANET_INJECT_DROP, EXANET_INJECT_DUPLICATE, EXANET_INJECT_HEADER,
        EXANET_INJECT_FOOTER,
    };
    ExanetTest *t = exanet_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        uint8_t byte = i + 1;
        ExanetPacket pkt = request(t->peer, EXANET_SHM_STORE, i, i == 0, &byte);
        bool twice = kinds[i] == EXANET_INJECT_DUPLICATE;
        GByteArray *dump = g_byte_array_new();

        exanet_set64(t, EXANET_PORT(0) + EXANET_REG_PORT_INJECT,
                     RNIC_PREP(EXANET_INJECT_KIND, kinds[i]) |
                     RNIC_PREP(EXANET_INJECT_TYPE, EXANET_TYPE_AXI_RESPONSE) |
                     RNIC_PREP(EXANET_INJECT_COUNT, 1));
        t->peer->dump = dump;
        exanet_peer_send(t->peer, &pkt);
        exanet_wait(t, exanet_count(t, SHM_TARGET_STORE) == i + 1);
        exanet_settle(t);
        exanet_assert_byte(t, DST, byte, 1);
        g_assert_cmpuint(dump->len, ==, kinds[i] == EXANET_INJECT_DROP ? 0 :
                         (twice ? 4 : 2) * EXANET_WORD_BYTES);
        g_assert_cmphex(exanet_get64(t, EXANET_PORT(0) + EXANET_REG_PORT_INJECT) &
                        EXANET_INJECT_KIND, ==, EXANET_INJECT_NONE);
        t->peer->dump = NULL;
        g_byte_array_unref(dump);
        assert_store(t, i, i == 0, false);
    }
    exanet_stop(t);
}

/*
 * The class in the TID differs from the type of the packet, so the request is
 * malformed.
 */
static void test_class(void)
{
    ExanetTest *t = exanet_start("");

    for (unsigned class = 0; class < EXANET_SHM_CLASSES; class++) {
        ExanetPacket pkt = request(t->peer, class, 0, true, &mark);

        pkt.tid = RNIC_PREP(EXANET_STID_CLASS, class ^ 1) |
                  RNIC_PREP(EXANET_STID_SLOT, 63);
        exanet_peer_send(t->peer, &pkt);
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==,
                         EXANET_RESP_MALFORMED);
        g_assert_cmpuint(exanet_count(t, DROP_MALFORMED), ==, class + 1);
        g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                      EXANET_IRQ_PROTOCOL);
        exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_PROTOCOL);
    }
    g_assert_cmpuint(exanet_count(t, SHM_CAM_NEW), ==, 0);
    exanet_stop(t);
}

static ExanetPacket nonsense(ExanetTest *t, GRand *rand, const uint8_t *data)
{
    static const uint64_t bases[] = {
        EXANET_RAM_DST, EXANET_NI_VA(EXANET_NI_BRAM), EXANET_NO_RAM,
        EXANET_NI_VA(EXANET_NI_SHM), EXANET_NI_VA(EXANET_NI_MAILBOX),
        EXANET_NI_VA(100), 1ULL << EXANET_WINDOW_BITS, EXANET_RAM_END - 256,
    };
    uint64_t base = bases[g_rand_int_range(rand, 0, ARRAY_SIZE(bases))];
    unsigned at = g_rand_int(rand) % EXANET_MTU;
    ExanetPacket pkt = exanet_axi_packet(t->peer, g_rand_int_range(rand, 0, 4),
                                         base + at, data, 1);

    pkt.size = g_rand_int_range(rand, 1, EXANET_MTU - at + 1);
    pkt.tid = g_rand_int(rand) & 0x3fff;
    pkt.seq = g_rand_int(rand) & SEQ_LAST;
    pkt.user = g_rand_int(rand) & 0xfff;
    pkt.first = g_rand_boolean(rand);
    pkt.last = g_rand_boolean(rand);
    pkt.notify = g_rand_boolean(rand);
    pkt.pdid = g_rand_int(rand) % 8 ? EXANET_TEST_PDID(g_rand_int(rand) % 4) :
               g_rand_int(rand);
    if (g_rand_int(rand) % 8 == 0) {
        pkt.type = EXANET_TYPE_AXI_RESPONSE;
        pkt.payload = data;
    }
    return pkt;
}

/* Sends a load, and takes all responses up to its own, which is the last one. */
static void drain(ExanetTest *t)
{
    ExanetPacket pkt = request(t->peer, EXANET_SHM_LOAD, 0, true, NULL);
    enum exanet_resp resp = EXANET_RESP_FULL;

    /* values that a random request hardly has */
    pkt.user = RNIC_PREP(EXANET_SHM_USER_RETRIES, 7);
    pkt.tid |= EXANET_STID_SLOT | EXANET_STID_ID;
    for (; resp == EXANET_RESP_FULL; pkt.seq++) {
        bool found = false;

        exanet_peer_send(t->peer, &pkt);
        while (!found) {
            g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);

            resp = RNIC_GET(EXANET_SHM_USER_RESP, rx->pkt.user);
            found = rx->pkt.tid == pkt.tid && rx->pkt.seq == pkt.seq &&
                    RNIC_GET(EXANET_SHM_USER_RETRIES, rx->pkt.user) == 7;
        }
    }
    g_assert_cmpuint(resp, ==, EXANET_RESP_ACK);
    exanet_assert_quiet(t);
}

/*
 * Random requests: memory outside their targets does not change, no table entry stays,
 * and a correct store is executed afterwards.
 */
static void test_nonsense(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(11));
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc0(EXANET_MTU);

    qtest_memset(t->qts, EXANET_RAM_SRC, mark, 4096);
    for (unsigned round = 0; round < 60; round++) {
        uint8_t buf[64 * EXANET_PACKET_BYTES];
        unsigned words = 0;

        for (unsigned i = 0; i < 64; i++) {
            ExanetPacket pkt = nonsense(t, rand, data);

            words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
        }
        exanet_peer_words(t->peer, buf, words);
        exanet_settle(t);
        g_queue_clear_full(&t->peer->packets, g_free);
    }
    exanet_wait(t, exanet_get64(t, EXANET_PORT(0) + EXANET_REG_PORT_RX_PACKETS)
                == 60 * 64);
    drain(t);
    exanet_assert_byte(t, EXANET_RAM_SRC, mark, 4096);
    for (unsigned e = 0; e < 2 * EXANET_SHM_CAMS; e++) {
        g_assert_cmphex(exanet_get64(t, EXANET_SHM_CAM(e)), ==, 0);
    }
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_STORE), >, 0);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_LOAD), >, 0);
    /* resets the peer, so that a sequence starts with 0 */
    peer_reset(t);
    assert_store(t, 0, true, true);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-order/order", test_order);
    qtest_add_func("/exanet/shm-order/first", test_first);
    qtest_add_func("/exanet/shm-order/wrap", test_wrap);
    qtest_add_func("/exanet/shm-order/age", test_age);
    qtest_add_func("/exanet/shm-order/failing", test_failing);
    qtest_add_func("/exanet/shm-order/epoch", test_epoch);
    qtest_add_func("/exanet/shm-order/failed", test_failed);
    qtest_add_func("/exanet/shm-order/independent", test_independent);
    qtest_add_func("/exanet/shm-order/rdma", test_rdma);
    qtest_add_func("/exanet/shm-order/unordered", test_unordered);
    qtest_add_func("/exanet/shm-order/strict", test_strict);
    qtest_add_func("/exanet/shm-order/crc", test_crc);
    qtest_add_func("/exanet/shm-order/response-faults", test_response_faults);
    qtest_add_func("/exanet/shm-order/class", test_class);
    qtest_add_func("/exanet/shm-order/nonsense", test_nonsense);
    return g_test_run();
}
