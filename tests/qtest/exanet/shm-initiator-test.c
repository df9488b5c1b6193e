/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores to other nodes: the test acts as the CPU, whose loads the traffic
 * generator does, and as the node that answers.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "initiator.h"
#include "tgen.h"

#define LINE        64

/* --- Packets -------------------------------------------------------------- */

static void test_store_packet(void)
{
    ExanetTest *t = initiator_start();
    uint64_t value = 0x1122334455667788;
    ExanetRxPacket *rx;
    ExanetPacket second, third;

    exanet_store(t, 0x10b, value, 4);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
    g_assert_cmphex(rx->pkt.src, ==, EXANET_TEST_NODE);
    g_assert_cmphex(rx->pkt.va, ==, INITIATOR_PEER_VA + 0x10b);
    g_assert_cmpuint(rx->pkt.size, ==, 4);
    g_assert_cmphex(ldl_le_p(rx->pkt.payload), ==, (uint32_t)value);
    g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(1));
    g_assert_cmphex(rx->pkt.epoch, ==, EXANET_TEST_EPOCH);
    g_assert_cmphex(rx->pkt.ttl, ==, EXANET_TTL_MAX);
    g_assert_cmphex(rx->pkt.user, ==, 0);
    g_assert_cmphex(rx->pkt.tid, ==, 0);        /* class STORE, slot 0, master CPU */
    g_assert_cmpuint(rx->pkt.seq, ==, 0);
    g_assert_true(rx->pkt.first && rx->pkt.last && !rx->pkt.notify);

    exanet_store(t, 0x200, value, 8);
    second = initiator_take_store(t, 0x200);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_SLOT, second.tid), ==, 1);
    g_assert_cmpuint(second.seq, ==, 1);
    g_assert_false(second.first);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 2);
    g_assert_cmpuint(initiator_pending(t, 1), ==, 0);
    initiator_ack(t, &rx->pkt);
    exanet_wait(t, exanet_count(t, SHM_ACK) == 1);

    exanet_store(t, 0x300, value, 1);
    third = initiator_take_store(t, 0x300);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_SLOT, third.tid), ==, 0);
    g_assert_cmpuint(third.seq, ==, 2);
    g_assert_false(third.first);
    initiator_ack(t, &second);
    initiator_ack(t, &third);
    exanet_wait(t, initiator_pending(t, 0) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_STORE), ==, 3);
    g_assert_cmpuint(exanet_count(t, SHM_EARLY_ACK), ==, 3);
    exanet_step(t, INITIATOR_FOREVER);
    exanet_assert_quiet(t);
    initiator_assert_no_error(t);
    g_free(rx);
    exanet_stop(t);
}

static void test_load_packet(void)
{
    ExanetTest *t = initiator_start();
    uint8_t data[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    ExanetPacket pkt;

    initiator_load_start(t, 0x123, 11);
    pkt = initiator_take_load(t, 0x123, 11);
    g_assert_cmphex(pkt.pdid, ==, EXANET_TEST_PDID(1));
    g_assert_true(pkt.first);
    g_assert_true(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_LOADS);
    g_assert_false(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_STORES);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 0);
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, data);
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_DONE) == 1);
    g_assert_cmphex(exanet_get64(t, EXANET_TGEN_DATA(0)), ==,
                    0x0807060504030201);
    g_assert_cmpuint(exanet_count(t, SHM_LOAD), ==, 1);
    g_assert_false(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_LOADS);
    exanet_step(t, INITIATOR_FOREVER);
    exanet_assert_quiet(t);
    initiator_assert_no_error(t);
    exanet_stop(t);
}

/* --- Early acknowledgement ------------------------------------------------ */

/*
 * A store without a link is acknowledged early to the CPU, and leaves when the link is
 * up again.
 */
static void test_link_cut(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;

    initiator_link_set(t, false);
    exanet_store(t, 0x40, 7, 8);
    g_assert_cmphex(initiator_timer(t, 0) & 3, ==,
                    EXANET_SHM_TIMER_BUSY | EXANET_SHM_TIMER_EARLY);
    g_assert_cmphex(exanet_get64(t, EXANET_SHM_TIMER(0) +
                                 EXANET_REG_SHM_TIMER_GVA), ==, initiator_gva(0x40));
    exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_TIMER_RETRIES, initiator_timer(t, 0)), ==, 1);
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, 2);
    initiator_link_set(t, true);
    initiator_step_until_packet(t, 10 * EXANET_MS);
    pkt = initiator_take_store(t, 0x40);
    g_assert_cmpuint(initiator_retries(&pkt), ==, 2);
    g_assert_true(pkt.first);
    initiator_ack(t, &pkt);
    exanet_wait(t, initiator_timer(t, 0) == 0);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 0);
    initiator_assert_no_error(t);
    exanet_stop(t);
}

static void test_timers(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt[EXANET_SHM_TIMERS + 2];

    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        exanet_store(t, i * LINE, i, 8);
        pkt[i] = initiator_take_store(t, i * LINE);
        g_assert_cmpuint(initiator_timers_busy(t), ==, i + 1);
        g_assert_cmphex(initiator_timer(t, i), ==, EXANET_SHM_TIMER_BUSY |
                        EXANET_SHM_TIMER_EARLY |
                        RNIC_PREP(EXANET_SHM_TIMER_TID, pkt[i].tid));
    }
    g_assert_cmpuint(exanet_count(t, SHM_TIMER_STALL), ==, 0);
    exanet_store(t, 16 * LINE, 16, 8);
    exanet_store(t, 17 * LINE, 17, 8);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_TIMER_STALL), ==, 1);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 18);

    initiator_ack(t, &pkt[5]);
    pkt[16] = initiator_take_store(t, 16 * LINE);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_SLOT, pkt[16].tid), ==, 5);
    exanet_assert_quiet(t);
    initiator_ack(t, &pkt[9]);
    pkt[17] = initiator_take_store(t, 17 * LINE);
    for (unsigned i = 0; i < ARRAY_SIZE(pkt); i++) {
        if (i != 5 && i != 9) {
            initiator_ack(t, &pkt[i]);
        }
    }
    exanet_wait(t, initiator_pending(t, 0) == 0);
    g_assert_cmpuint(initiator_timers_busy(t), ==, 0);
    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        g_assert_cmphex(initiator_timer(t, i), ==, 0);
    }
    g_assert_cmpuint(exanet_count(t, SHM_STALE), ==, 0);
    initiator_assert_no_error(t);
    exanet_stop(t);
}

/* Without EARLY in the segment or in SHM_CTRL, the timer does not acknowledge early. */
static void test_early_off(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;

    exanet_segment(t, 1, 0x10000, 0x1000, initiator_gva(0x10000),
                   EXANET_SHM_MAP_WRITE);
    exanet_store(t, 0x10000, 1, 8);
    pkt = initiator_take_store(t, 0x10000);
    g_assert_cmphex(initiator_timer(t, 0) & 3, ==, EXANET_SHM_TIMER_BUSY);
    initiator_ack(t, &pkt);
    exanet_wait(t, initiator_timer(t, 0) == 0);

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_EARLY);
    exanet_store(t, 0, 1, 8);
    pkt = initiator_take_store(t, 0);
    g_assert_cmphex(initiator_timer(t, 0) & 3, ==, EXANET_SHM_TIMER_BUSY);
    initiator_ack(t, &pkt);
    exanet_wait(t, initiator_timer(t, 0) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_EARLY_ACK), ==, 0);
    exanet_stop(t);
}

/* --- Order ---------------------------------------------------------------- */

static void test_raw(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket store, load;

    exanet_store(t, 0x100, 1, 8);
    initiator_take_store(t, 0x100);           /* the store is lost */
    initiator_load_start(t, 0x140, 8);        /* another line, so the load passes */
    load = initiator_take_load(t, 0x140, 8);
    exanet_peer_answer_axi(t->peer, &load, EXANET_RESP_ACK, "12345678");
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_DONE) == 1);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 0);

    /* the last 4 bytes of the store's line of 64 bytes */
    initiator_load_start(t, 0x13c, 4);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 1);
    exanet_step(t, INITIATOR_TIMEOUT_NS);
    store = initiator_take_store(t, 0x100);
    exanet_assert_quiet(t);
    initiator_ack(t, &store);
    load = initiator_take_load(t, 0x13c, 4);
    exanet_peer_answer_axi(t->peer, &load, EXANET_RESP_ACK, "1234");
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_DONE) == 1);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 1);

    /* without RAW the load does not wait for the store */
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_RAW);
    exanet_store(t, 0x100, 1, 8);
    initiator_take_store(t, 0x100);
    initiator_load_start(t, 0x100, 8);
    initiator_take_load(t, 0x100, 8);
    exanet_stop(t);
}

/* A load does not wait for a store to the same address of another context. */
static void test_raw_contexts(void)
{
    ExanetTest *t = initiator_start();

    exanet_store(t, 0x100, 1, 8);
    initiator_take_store(t, 0x100);
    exanet_tgen_load(t, initiator_gva(0x100), 8);
    initiator_take_load(t, 0x100, 8);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 0);
    exanet_stop(t);
}

/* Of two jobs each has half of the slots of loads, also if the other job has no load. */
static void test_load_shares(void)
{
    ExanetTest *t = initiator_start();
    uint64_t gva[EXANET_SHM_LOADS];
    ExanetPacket first;

    exanet_open(t, 1, EXANET_TEST_JOB + 1, EXANET_FORMAT_IDENTITY, 0);
    for (unsigned i = 0; i < EXANET_SHM_LOADS; i++) {
        gva[i] = initiator_gva(i * 64);
    }
    exanet_tgen_start(t, &(ExanetTgenRun) {
        .gva = gva, .targets = EXANET_SHM_LOADS, .outstanding = EXANET_SHM_LOADS,
    });
    first = initiator_take_load(t, 0, 8);
    for (unsigned i = 1; i < EXANET_SHM_LOADS / 2; i++) {
        initiator_take_load(t, i * 64, 8);
    }
    exanet_assert_quiet(t);
    exanet_peer_answer_axi(t->peer, &first, EXANET_RESP_ACK, "12345678");
    initiator_take_load(t, EXANET_SHM_LOADS / 2 * 64, 8);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_waw(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket first, second;

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_store(t, 0x100, 1, 8);
    first = initiator_take_store(t, 0x100);
    exanet_store(t, 0x138, 2, 8);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_WAW_STALL), ==, 1);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 2);
    initiator_ack(t, &first);
    second = initiator_take_store(t, 0x138);
    g_assert_true(second.first);
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_WAW);
    exanet_store(t, 0x138, 3, 8);
    initiator_take_store(t, 0x138);
    /* CTRL_STRICT has the same effect */
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    exanet_store(t, 0x138, 4, 8);
    initiator_take_store(t, 0x138);
    exanet_stop(t);
}

static void test_fence(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt[3];

    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 0);
    exanet_shm_set(t, SHM_FENCE, 1);
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 0);
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    for (unsigned i = 0; i < 2; i++) {
        exanet_store(t, i * LINE, 1, 8);
        pkt[i] = initiator_take_store(t, i * LINE);
    }
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 0);
    /* waits for the first store, because the address is the same */
    exanet_store(t, 0, 2, 8);
    exanet_shm_set(t, SHM_FENCE, 1);
    /* does not leave before the stores that the fence waits for */
    exanet_store(t, 2 * LINE, 1, 8);
    exanet_assert_quiet(t);
    initiator_ack(t, &pkt[1]);
    exanet_wait(t, initiator_pending(t, 0) == 3);
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 1);
    initiator_ack(t, &pkt[0]);
    pkt[2] = initiator_take_store(t, 0);
    initiator_take_store(t, 2 * LINE);
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 1);
    initiator_ack(t, &pkt[2]);
    exanet_wait(t, exanet_shm_get(t, SHM_FENCE) == 0);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 1);
    exanet_stop(t);
}

/* --- Who asks --------------------------------------------------------------- */

static void test_disabled(void)
{
    ExanetTest *t = initiator_start();

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_ENABLE);
    exanet_store(t, 0, 1, 8);
    initiator_assert_error(t, initiator_gva(0), EXANET_SHM_STORE,
                           EXANET_RESP_PROTECTION, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_quiesce(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;

    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        exanet_store(t, i * LINE, 1, 8);
        pkt = initiator_take_store(t, i * LINE);
    }
    exanet_store(t, 16 * LINE, 1, 8);   /* this store waits for a timer */
    exanet_close(t, 0);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 0);
    g_assert_cmpuint(initiator_timers_busy(t), ==, 0);
    g_assert_false(exanet_get64(t, EXANET_SHM_MAP(0) +
                                EXANET_REG_SHM_MAP_CTRL) &
                   EXANET_SHM_MAP_VALID);
    initiator_assert_no_error(t);
    initiator_ack(t, &pkt);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);
    exanet_step(t, INITIATOR_FOREVER);
    exanet_assert_quiet(t);

    /* the sequence numbers continue */
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_segment(t, 0, 0, 0x1000, initiator_gva(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    pkt = initiator_take_store(t, 0);
    g_assert_cmpuint(pkt.seq, ==, EXANET_SHM_TIMERS);
    g_assert_true(pkt.first);
    exanet_stop(t);
}

/* --- Responses that are none ---------------------------------------------- */

static void assert_stale(ExanetTest *t, const ExanetPacket *pkt,
                         const void *data)
{
    uint64_t stale = exanet_count(t, SHM_STALE);

    exanet_peer_answer_axi(t->peer, pkt, EXANET_RESP_ACK, data);
    exanet_wait(t, exanet_count(t, SHM_STALE) == stale + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ACK), ==, 0);
}

/* Returns a response of node @src to @req, which was sent to another node. */
static ExanetPacket response_from(uint32_t src, const ExanetPacket *req)
{
    return (ExanetPacket) {
        .type = EXANET_TYPE_AXI_RESPONSE,
        .dst = EXANET_TEST_NODE,
        .src = src,
        .ttl = EXANET_TTL_MAX,
        .tid = req->tid,
        .seq = req->seq,
        .va = EXANET_NI_VA(EXANET_NI_SHM) | req->va % EXANET_MTU,
    };
}

/* Two neighbours: a response from the wrong one is ignored or dropped. */
static void test_wrong_node(void)
{
    static const uint32_t peers[] = { EXANET_TEST_PEER, EXANET_TEST_ELSEWHERE };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
    g_autofree ExanetRxPacket *rx = NULL;
    ExanetPacket pkt;

    exanet_segment(t, 0, 0, 0x1000, initiator_gva(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    rx = exanet_peer_take_type(t->ports[0], EXANET_TYPE_AXI_WRITE);
    pkt = response_from(EXANET_TEST_ELSEWHERE, &rx->pkt);
    pkt.epoch = t->ports[1]->epoch;
    exanet_peer_send(t->ports[1], &pkt);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);
    pkt.src = EXANET_TEST_PEER;
    pkt.epoch = t->ports[0]->epoch;
    exanet_peer_send(t->ports[1], &pkt);
    exanet_wait(t, exanet_count(t, DROP_SOURCE) == 1);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 1);
    exanet_peer_send(t->ports[0], &pkt);
    exanet_wait(t, initiator_pending(t, 0) == 0);
    exanet_stop(t);
}

static void test_hostile(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket store, load, pkt;
    uint8_t data[EXANET_MTU] = { 0 };

    exanet_store(t, 0x40, 1, 8);
    store = initiator_take_store(t, 0x40);
    initiator_load_start(t, 0x80, 8);
    load = initiator_take_load(t, 0x80, 8);

    for (unsigned bit = 0; bit < 14; bit++) {
        pkt = store;
        pkt.tid ^= 1u << bit;
        assert_stale(t, &pkt, NULL);
        pkt = store;
        pkt.seq ^= 1u << bit;
        assert_stale(t, &pkt, NULL);
    }
    assert_stale(t, &store, data);      /* a response with data for a store */
    assert_stale(t, &load, NULL);       /* a response without data for a load */
    for (unsigned size = 1; size <= EXANET_MTU / 2; size++) {
        pkt = load;
        pkt.size = size;
        if (size != load.size) {
            assert_stale(t, &pkt, data);
        }
    }
    pkt = load;
    pkt.va ^= 8;                        /* other bytes of the line */
    assert_stale(t, &pkt, data);
    pkt = load;
    pkt.seq++;
    assert_stale(t, &pkt, data);

    pkt = response_from(EXANET_TEST_ELSEWHERE, &store);
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_SOURCE) == 1);
    for (unsigned resp = EXANET_RESP_MALFORMED + 1; resp < 16; resp++) {
        uint64_t stale = exanet_count(t, SHM_STALE);

        exanet_peer_answer_axi(t->peer, &store, resp, NULL);
        exanet_wait(t, exanet_count(t, SHM_STALE) == stale + 1);
    }
    g_assert_cmpuint(initiator_pending(t, 0), ==, 1);
    initiator_ack(t, &store);
    exanet_peer_answer_axi(t->peer, &load, EXANET_RESP_ACK, data);
    exanet_wait(t, exanet_count(t, SHM_ACK) == 2);
    initiator_assert_no_error(t);
    exanet_stop(t);
}

/* A reset ends all loads and stores; late responses match none of the new ones. */
static void test_reset(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket store, load, pkt;

    exanet_store(t, 0x40, 1, 8);
    store = initiator_take_store(t, 0x40);
    initiator_load_start(t, 0x80, 8);
    load = initiator_take_load(t, 0x80, 8);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmphex(exanet_shm_get(t, SHM_STATUS), ==, 0);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE), ==, 0);
    g_assert_cmpuint(initiator_pending(t, 0), ==, 0);
    exanet_bring_up(t);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_segment(t, 0, 0, 0x1000, initiator_gva(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0x40, 2, 8);
    pkt = initiator_take_store(t, 0x40);
    g_assert_cmpuint(pkt.tid, ==, store.tid);
    g_assert_cmpuint(pkt.seq, ==, store.seq + 1);
    g_assert_true(pkt.first);
    initiator_load_start(t, 0x80, 8);
    pkt = initiator_take_load(t, 0x80, 8);
    g_assert_cmpuint(pkt.tid, ==, load.tid);
    assert_stale(t, &store, NULL);
    assert_stale(t, &load, "87654321");
    g_assert_cmpuint(initiator_pending(t, 0), ==, 1);
    exanet_stop(t);
}

/* --- Time and paths --------------------------------------------------------- */

/* The timeout follows the round trip, and is never longer than SHM_TIMEOUT. */
static void test_dynamic(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;
    int64_t last = 0;

    exanet_shm_set(t, SHM_TIMEOUT_MODE, EXANET_SHM_TIMEOUT_DYNAMIC);
    for (unsigned i = 0; i < 20; i++) {
        exanet_store(t, 0, i, 8);
        pkt = initiator_take_store(t, 0);
        exanet_step(t, 200000);
        initiator_ack(t, &pkt);
        exanet_wait(t, initiator_pending(t, 0) == 0);
    }
    exanet_store(t, 0, 1, 8);
    for (unsigned i = 0; i < 6; i++) {
        int64_t passed;

        initiator_take_store(t, 0);
        passed = initiator_step_until_packet(t, 100000);
        g_assert_cmpint(passed, >=, MAX(200000, last));
        g_assert_cmpint(passed, <=, i ? INITIATOR_TIMEOUT_NS : EXANET_MS);
        last = passed;
    }
    exanet_stop(t);
}

/* Two cables to the same node: each copy after a timeout takes the other cable. */
static void test_paths(void)
{
    static const uint32_t peers[] = { EXANET_TEST_PEER, EXANET_TEST_PEER };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
    unsigned seen[2] = { 0 };

    exanet_segment(t, 0, 0, 0x1000, initiator_gva(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    for (unsigned i = 0; i < 6; i++) {
        exanet_wait(t, !g_queue_is_empty(&t->ports[0]->packets) ||
                    !g_queue_is_empty(&t->ports[1]->packets));
        for (unsigned p = 0; p < 2; p++) {
            if (!g_queue_is_empty(&t->ports[p]->packets)) {
                g_free(exanet_peer_take_type(t->ports[p],
                                             EXANET_TYPE_AXI_WRITE));
                seen[p]++;
            }
        }
        g_assert_cmpuint(seen[0] + seen[1], ==, i + 1);
        exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    }
    g_assert_cmpuint(seen[0], ==, 3);
    exanet_stop(t);
}

/* Loads and stores leave before RDMA, which has one packet of eight. */
static void test_priority(void)
{
    ExanetTest *t = initiator_start();
    unsigned rdma = 0, behind = 0;
    uint64_t cdma = EXANET_CDMA(0);

    exanet_xoff(t);
    exanet_set64(t, cdma + EXANET_REG_CDMA_SA, EXANET_RAM_SRC);
    exanet_set64(t, cdma + EXANET_REG_CDMA_DA, initiator_gva(0x1000));
    exanet_set32(t, cdma + EXANET_REG_CDMA_PDID, EXANET_TEST_PDID(1));
    exanet_set32(t, cdma + EXANET_REG_CDMA_BTT, 5 * 128);
    exanet_settle(t);
    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        exanet_store(t, i * LINE, i, 8);
    }
    exanet_xon(t);
    for (unsigned i = 0; i < EXANET_SHM_TIMERS + 5; i++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);

        if (RNIC_GET(EXANET_STID_CLASS, rx->pkt.tid) == EXANET_SHM_STORE) {
            behind += rdma;
        } else {
            g_assert_true(rdma > 2 || i % 8 == 7 || i > EXANET_SHM_TIMERS);
            rdma++;
        }
    }
    g_assert_cmpuint(rdma, ==, 5);
    /* sums over stores of the RDMA packets before them: groups of 7, 7 and 2 stores */
    g_assert_cmpuint(behind, ==, 7 + 2 * 2);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-initiator/store-packet", test_store_packet);
    qtest_add_func("/exanet/shm-initiator/load-packet", test_load_packet);
    qtest_add_func("/exanet/shm-initiator/link-cut", test_link_cut);
    qtest_add_func("/exanet/shm-initiator/timers", test_timers);
    qtest_add_func("/exanet/shm-initiator/early-off", test_early_off);
    qtest_add_func("/exanet/shm-initiator/raw", test_raw);
    qtest_add_func("/exanet/shm-initiator/raw-contexts", test_raw_contexts);
    qtest_add_func("/exanet/shm-initiator/load-shares", test_load_shares);
    qtest_add_func("/exanet/shm-initiator/waw", test_waw);
    qtest_add_func("/exanet/shm-initiator/fence", test_fence);
    qtest_add_func("/exanet/shm-initiator/disabled", test_disabled);
    qtest_add_func("/exanet/shm-initiator/quiesce", test_quiesce);
    qtest_add_func("/exanet/shm-initiator/hostile", test_hostile);
    qtest_add_func("/exanet/shm-initiator/wrong-node", test_wrong_node);
    qtest_add_func("/exanet/shm-initiator/reset", test_reset);
    qtest_add_func("/exanet/shm-initiator/dynamic", test_dynamic);
    qtest_add_func("/exanet/shm-initiator/paths", test_paths);
    qtest_add_func("/exanet/shm-initiator/priority", test_priority);
    return g_test_run();
}
