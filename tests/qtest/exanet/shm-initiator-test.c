/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores on their way to other nodes: the test is the CPU, whose loads the
 * traffic generator does, and the node that is loaded from and stored to.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"

#define TIMEOUT_NS  (50 * EXANET_MS)    /* SHM_TIMEOUT after reset */
#define FOREVER     (3600000 * EXANET_MS)
#define PEER_VA     0x123450000ULL
#define LINE        64

static uint64_t to_peer(uint64_t offset)
{
    return exanet_gva(EXANET_TEST_PEER, PEER_VA + offset);
}

static ExanetTest *start(void)
{
    ExanetTest *t = exanet_start("");

    exanet_segment(t, 0, 0, 0x10000, to_peer(0), EXANET_SEGMENT_ALL);
    return t;
}

/* The next packet, which must be a store to @offset. */
static ExanetPacket take_store(ExanetTest *t, uint64_t offset)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    ExanetPacket pkt = rx->pkt;

    g_assert_cmphex(pkt.va, ==, PEER_VA + offset);
    pkt.payload = NULL;
    return pkt;
}

static void ack(ExanetTest *t, const ExanetPacket *pkt)
{
    exanet_peer_answer_axi(t->peer, pkt, EXANET_RESP_ACK, NULL);
}

static unsigned retries_of(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_SHM_USER_RETRIES, pkt->user);
}

static uint64_t timer_of(ExanetTest *t, unsigned n)
{
    return exanet_get64(t, EXANET_SHM_TIMER(n) + EXANET_REG_SHM_TIMER);
}

static unsigned timers_busy(ExanetTest *t)
{
    return RNIC_GET(EXANET_SHM_STATUS_TIMERS, exanet_shm_get(t, SHM_STATUS));
}

/* What the info page of context @c says. */
static uint32_t info_get(ExanetTest *t, unsigned c, size_t field)
{
    return qtest_readl(t->qts, t->user.addr +
                       exanet_user(t, c, EXANET_PAGE_INFO) + field);
}

static uint32_t pending(ExanetTest *t, unsigned c)
{
    return info_get(t, c, offsetof(struct exanet_info, stores));
}

static uint32_t errors(ExanetTest *t, unsigned c)
{
    return info_get(t, c, offsetof(struct exanet_info, errors));
}

/* Steps until a packet comes; how long that took. */
static int64_t step_until_packet(ExanetTest *t, int64_t step)
{
    int64_t passed = 0;

    while (g_queue_is_empty(&t->peer->packets)) {
        exanet_step(t, step);
        passed += step;
        g_assert_cmpint(passed, <, FOREVER);
    }
    return passed;
}

/* One load of @size bytes at @offset of the peer. */
static void load_start(ExanetTest *t, uint64_t offset, unsigned size)
{
    exanet_set64(t, EXANET_TGEN_TARGET(0), to_peer(offset));
    exanet_shm_set(t, TGEN_SIZE, size);
    exanet_shm_set(t, TGEN_PDID, EXANET_TEST_PDID(1));
    exanet_shm_set(t, TGEN_CFG, EXANET_TGEN_GO |
                   RNIC_PREP(EXANET_TGEN_ENTRIES, 1));
}

static ExanetPacket take_load(ExanetTest *t, uint64_t offset, unsigned size)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);
    ExanetPacket pkt = rx->pkt;

    g_assert_cmphex(pkt.va, ==, PEER_VA + offset);
    g_assert_cmpuint(pkt.size, ==, size);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_CLASS, pkt.tid), ==, EXANET_SHM_LOAD);
    return pkt;
}

static void assert_no_error(ExanetTest *t)
{
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    g_assert_false(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
}

static void assert_error(ExanetTest *t, uint64_t gva,
                         enum exanet_shm_class class, enum exanet_resp resp,
                         unsigned retries)
{
    exanet_wait(t, exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_VALID);
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, EXANET_SHM_ERR_VALID |
                    RNIC_PREP(EXANET_SHM_ERR_CODE, resp) |
                    RNIC_PREP(EXANET_SHM_ERR_RETRIES, retries) |
                    RNIC_PREP(EXANET_SHM_ERR_CLASS, class));
    g_assert_cmphex(exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_ERR_GVA), ==,
                    gva);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    g_assert_true(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_ERROR);
    exanet_shm_set(t, SHM_ERR_INFO, EXANET_SHM_ERR_VALID);
    g_assert_false(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    g_assert_false(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_ERROR);
}

/* --- Packets -------------------------------------------------------------- */

static void test_store_packet(void)
{
    ExanetTest *t = start();
    uint64_t value = 0x1122334455667788;
    ExanetRxPacket *rx;
    ExanetPacket second, third;

    exanet_store(t, 0x10b, value, 4);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
    g_assert_cmphex(rx->pkt.src, ==, EXANET_TEST_NODE);
    g_assert_cmphex(rx->pkt.va, ==, PEER_VA + 0x10b);
    g_assert_cmpuint(rx->pkt.size, ==, 4);
    g_assert_cmphex(ldl_le_p(rx->pkt.payload), ==, (uint32_t)value);
    g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(1));
    g_assert_cmphex(rx->pkt.epoch, ==, EXANET_TEST_EPOCH);
    g_assert_cmphex(rx->pkt.ttl, ==, EXANET_TTL_MAX);
    g_assert_cmphex(rx->pkt.user, ==, 0);
    g_assert_cmphex(rx->pkt.tid, ==, 0);        /* STORE, slot 0, CPU */
    g_assert_cmpuint(rx->pkt.seq, ==, 0);
    g_assert_true(rx->pkt.first && rx->pkt.last && !rx->pkt.notify);

    exanet_store(t, 0x200, value, 8);
    second = take_store(t, 0x200);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_SLOT, second.tid), ==, 1);
    g_assert_cmpuint(second.seq, ==, 1);
    g_assert_false(second.first);
    g_assert_cmpuint(pending(t, 0), ==, 2);
    g_assert_cmpuint(pending(t, 1), ==, 0);
    ack(t, &rx->pkt);
    exanet_wait(t, exanet_count(t, SHM_ACK) == 1);

    exanet_store(t, 0x300, value, 1);
    third = take_store(t, 0x300);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_SLOT, third.tid), ==, 0);
    g_assert_cmpuint(third.seq, ==, 2);
    g_assert_false(third.first);
    ack(t, &second);
    ack(t, &third);
    exanet_wait(t, pending(t, 0) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_STORE), ==, 3);
    g_assert_cmpuint(exanet_count(t, SHM_EARLY_ACK), ==, 3);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    assert_no_error(t);
    g_free(rx);
    exanet_stop(t);
}

static void test_load_packet(void)
{
    ExanetTest *t = start();
    uint8_t data[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    ExanetPacket pkt;

    load_start(t, 0x123, 11);
    pkt = take_load(t, 0x123, 11);
    g_assert_cmphex(pkt.pdid, ==, EXANET_TEST_PDID(1));
    g_assert_true(pkt.first);
    g_assert_true(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_LOADS);
    g_assert_false(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_STORES);
    g_assert_cmpuint(pending(t, 0), ==, 0);
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, data);
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_DONE) == 1);
    g_assert_cmphex(exanet_get64(t, EXANET_TGEN_DATA(0)), ==,
                    0x0807060504030201);
    g_assert_cmpuint(exanet_count(t, SHM_LOAD), ==, 1);
    g_assert_false(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_LOADS);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    assert_no_error(t);
    exanet_stop(t);
}

/* --- Early acknowledgement ------------------------------------------------ */

static void link_set(ExanetTest *t, bool up)
{
    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_CTRL,
                 up ? EXANET_PORT_CTRL_ENABLE : 0);
    if (up) {
        exanet_peer_hello(t->peer, false);
    }
    exanet_wait(t, !!(exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_STATUS) &
                      EXANET_PORT_STATUS_UP) == up);
}

/* The store is over for the CPU, and goes when the cable is there again. */
static void test_link_cut(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    link_set(t, false);
    exanet_store(t, 0x40, 7, 8);
    g_assert_cmphex(timer_of(t, 0) & 3, ==,
                    EXANET_SHM_TIMER_BUSY | EXANET_SHM_TIMER_EARLY);
    g_assert_cmphex(exanet_get64(t, EXANET_SHM_TIMER(0) +
                                 EXANET_REG_SHM_TIMER_GVA), ==, to_peer(0x40));
    exanet_step(t, TIMEOUT_NS + 1);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_TIMER_RETRIES, timer_of(t, 0)), ==, 1);
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, 2);
    link_set(t, true);
    step_until_packet(t, 10 * EXANET_MS);
    pkt = take_store(t, 0x40);
    g_assert_cmpuint(retries_of(&pkt), ==, 2);
    g_assert_true(pkt.first);
    ack(t, &pkt);
    exanet_wait(t, timer_of(t, 0) == 0);
    g_assert_cmpuint(pending(t, 0), ==, 0);
    assert_no_error(t);
    exanet_stop(t);
}

static void test_timers(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt[EXANET_SHM_TIMERS + 2];

    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        exanet_store(t, i * LINE, i, 8);
        pkt[i] = take_store(t, i * LINE);
        g_assert_cmpuint(timers_busy(t), ==, i + 1);
        g_assert_cmphex(timer_of(t, i), ==, EXANET_SHM_TIMER_BUSY |
                        EXANET_SHM_TIMER_EARLY |
                        RNIC_PREP(EXANET_SHM_TIMER_TID, pkt[i].tid));
    }
    g_assert_cmpuint(exanet_count(t, SHM_TIMER_STALL), ==, 0);
    exanet_store(t, 16 * LINE, 16, 8);
    exanet_store(t, 17 * LINE, 17, 8);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_TIMER_STALL), ==, 1);
    g_assert_cmpuint(pending(t, 0), ==, 18);

    ack(t, &pkt[5]);
    pkt[16] = take_store(t, 16 * LINE);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_SLOT, pkt[16].tid), ==, 5);
    exanet_assert_quiet(t);
    ack(t, &pkt[9]);
    pkt[17] = take_store(t, 17 * LINE);
    for (unsigned i = 0; i < ARRAY_SIZE(pkt); i++) {
        if (i != 5 && i != 9) {
            ack(t, &pkt[i]);
        }
    }
    exanet_wait(t, pending(t, 0) == 0);
    g_assert_cmpuint(timers_busy(t), ==, 0);
    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        g_assert_cmphex(timer_of(t, i), ==, 0);
    }
    g_assert_cmpuint(exanet_count(t, SHM_STALE), ==, 0);
    assert_no_error(t);
    exanet_stop(t);
}

/* The timer is not told to be early, whoever it is that allows none. */
static void test_early_off(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    exanet_segment(t, 1, 0x10000, 0x1000, to_peer(0x10000),
                   EXANET_SHM_MAP_WRITE);
    exanet_store(t, 0x10000, 1, 8);
    pkt = take_store(t, 0x10000);
    g_assert_cmphex(timer_of(t, 0) & 3, ==, EXANET_SHM_TIMER_BUSY);
    ack(t, &pkt);
    exanet_wait(t, timer_of(t, 0) == 0);

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_EARLY);
    exanet_store(t, 0, 1, 8);
    pkt = take_store(t, 0);
    g_assert_cmphex(timer_of(t, 0) & 3, ==, EXANET_SHM_TIMER_BUSY);
    ack(t, &pkt);
    exanet_wait(t, timer_of(t, 0) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_EARLY_ACK), ==, 0);
    exanet_stop(t);
}

/* --- Again ---------------------------------------------------------------- */

/* The oldest was lost: all are sent again, in order, and only one is the first. */
static void test_go_back(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt[3];

    for (unsigned i = 0; i < 3; i++) {
        exanet_store(t, i * LINE, i, 8);
        pkt[i] = take_store(t, i * LINE);
        exanet_step(t, EXANET_MS);
    }
    exanet_step(t, TIMEOUT_NS - 4 * EXANET_MS);
    exanet_assert_quiet(t);
    exanet_step(t, 2 * EXANET_MS);
    for (unsigned i = 0; i < 3; i++) {
        ExanetPacket copy = take_store(t, i * LINE);

        g_assert_cmphex(copy.tid, ==, pkt[i].tid);
        g_assert_cmpuint(copy.seq, ==, pkt[i].seq);
        g_assert_cmpuint(retries_of(&copy), ==, 1);
        g_assert_cmpint(copy.first, ==, i == 0);
    }
    g_assert_cmpuint(exanet_count(t, SHM_TIMEOUT), ==, 1);
    g_assert_cmpuint(exanet_count(t, SHM_REISSUE), ==, 3);
    /* answers to former copies do as well */
    ack(t, &pkt[0]);
    exanet_wait(t, pending(t, 0) == 2);
    exanet_step(t, TIMEOUT_NS);
    pkt[1] = take_store(t, LINE);
    g_assert_true(pkt[1].first);
    g_assert_cmpuint(retries_of(&pkt[1]), ==, 2);
    pkt[2] = take_store(t, 2 * LINE);
    g_assert_false(pkt[2].first);
    ack(t, &pkt[2]);
    ack(t, &pkt[1]);
    exanet_wait(t, pending(t, 0) == 0);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    assert_no_error(t);
    exanet_stop(t);
}

/* Targets that keep no order have taken the others: that one alone. */
static void test_no_order(void)
{
    ExanetTest *t = start();

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_ORDER);
    exanet_store(t, 0, 0, 8);
    take_store(t, 0);
    exanet_step(t, 10 * EXANET_MS);
    exanet_store(t, LINE, 0, 8);
    take_store(t, LINE);
    exanet_step(t, TIMEOUT_NS - 9 * EXANET_MS);
    take_store(t, 0);
    exanet_assert_quiet(t);
    exanet_step(t, 10 * EXANET_MS);
    take_store(t, LINE);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_TIMEOUT), ==, 2);
    exanet_stop(t);
}

static void test_nacks(void)
{
    static const struct {
        enum exanet_resp resp;
        int64_t from, to;           /* ns until the copy; 0: it is final */
    } cases[] = {
        { EXANET_RESP_CRC, 0, EXANET_MS },
        { EXANET_RESP_FULL, 20000, 1 * EXANET_MS },
        { EXANET_RESP_NO_CONTEXT, 20000, 1 * EXANET_MS },
        { EXANET_RESP_FAULT, TIMEOUT_NS - EXANET_MS, TIMEOUT_NS + EXANET_MS },
        { EXANET_RESP_DECODE }, { EXANET_RESP_PROTECTION },
        { EXANET_RESP_MALFORMED },
    };
    ExanetTest *t = start();
    unsigned failed = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ExanetPacket pkt;
        int64_t passed;

        exanet_store(t, i * LINE, i, 8);
        pkt = take_store(t, i * LINE);
        exanet_peer_answer_axi(t->peer, &pkt, cases[i].resp, NULL);
        exanet_wait(t, exanet_count(t, SHM_NACK) == i + 1);
        if (!cases[i].to) {
            assert_error(t, to_peer(i * LINE), EXANET_SHM_STORE, cases[i].resp,
                         0);
            g_assert_cmpuint(errors(t, 0), ==, ++failed);
            g_assert_cmpuint(pending(t, 0), ==, 0);
            continue;
        }
        exanet_settle(t);
        passed = step_until_packet(t, 10000);
        g_assert_cmpint(passed, >=, cases[i].from);
        g_assert_cmpint(passed, <=, cases[i].to);
        pkt = take_store(t, i * LINE);
        g_assert_cmpuint(retries_of(&pkt), ==, 1);
        ack(t, &pkt);
        exanet_wait(t, pending(t, 0) == 0);
        g_assert_cmpuint(exanet_count(t, SHM_REISSUE), ==, i + 1);
    }
    g_assert_cmpuint(exanet_count(t, SHM_TIMEOUT), ==, 0);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* The target has its page now, or never will. */
static void test_resolved(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt, copy;

    for (unsigned ok = 0; ok < 2; ok++) {
        exanet_store(t, 0, 1, 8);
        pkt = take_store(t, 0);
        exanet_store(t, LINE, 1, 8);
        take_store(t, LINE);
        exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_FAULT, NULL);
        exanet_step(t, EXANET_MS);
        exanet_assert_quiet(t);
        exanet_peer_answer_axi(t->peer, &pkt, ok ? EXANET_RESP_RESOLVED :
                               EXANET_RESP_DECODE, NULL);
        if (ok) {
            copy = take_store(t, 0);
            g_assert_cmpuint(retries_of(&copy), ==, 1);
            ack(t, &copy);
        } else {
            assert_error(t, to_peer(0), EXANET_SHM_STORE, EXANET_RESP_DECODE, 0);
            exanet_step(t, TIMEOUT_NS);
        }
        copy = take_store(t, LINE);
        ack(t, &copy);
        exanet_wait(t, pending(t, 0) == 0);
    }
    exanet_stop(t);
}

/* --- The end -------------------------------------------------------------- */

static void test_escalation(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 3);
    exanet_store(t, 0x80, 1, 8);
    for (unsigned i = 0; i <= 3; i++) {
        pkt = take_store(t, 0x80);
        g_assert_cmpuint(retries_of(&pkt), ==, i);
        assert_no_error(t);
        exanet_step(t, TIMEOUT_NS + 1);
    }
    assert_error(t, to_peer(0x80), EXANET_SHM_STORE, EXANET_RESP_ACK, 3);
    exanet_assert_quiet(t);
    g_assert_cmpuint(errors(t, 0), ==, 1);
    g_assert_cmpuint(errors(t, 1), ==, 0);
    g_assert_cmpuint(timers_busy(t), ==, 0);
    ack(t, &pkt);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);

    /* it was heard: the next one has all its time-outs */
    exanet_store(t, 0x80, 2, 8);
    pkt = take_store(t, 0x80);
    g_assert_true(pkt.first);
    g_assert_cmpuint(pkt.seq, ==, 1);
    exanet_step(t, TIMEOUT_NS + 1);
    pkt = take_store(t, 0x80);
    ack(t, &pkt);
    exanet_wait(t, pending(t, 0) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 1);
    exanet_stop(t);
}

/* A node that was given up gets one time-out, and nothing if no way leads there. */
static void test_dead(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 2);
    for (unsigned i = 0; i < 3; i++) {
        exanet_store(t, i * LINE, 1, 8);
    }
    exanet_step(t, TIMEOUT_NS + 1);
    exanet_step(t, TIMEOUT_NS + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_step(t, TIMEOUT_NS + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 3);
    for (unsigned i = 0; i < 9; i++) {
        take_store(t, i % 3 * LINE);
    }
    exanet_store(t, 0, 1, 8);
    take_store(t, 0);
    exanet_step(t, TIMEOUT_NS + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 4);
    exanet_assert_quiet(t);

    link_set(t, false);
    for (unsigned i = 0; i < 100; i++) {
        exanet_store(t, i * 8, 1, 8);
    }
    exanet_settle(t);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 104);
    g_assert_cmpuint(errors(t, 0), ==, 104);
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 0);
    assert_error(t, to_peer(0), EXANET_SHM_STORE, EXANET_RESP_ACK, 2);

    link_set(t, true);
    exanet_store(t, 0, 1, 8);
    pkt = take_store(t, 0);
    g_assert_cmpuint(pkt.seq, ==, 4);
    g_assert_true(pkt.first);
    ack(t, &pkt);
    exanet_wait(t, pending(t, 0) == 0);
    exanet_stop(t);
}

/* A load that is not answered fails, too. */
static void test_load_lost(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 1);
    load_start(t, 0x40, 8);
    for (unsigned i = 0; i < 2; i++) {
        pkt = take_load(t, 0x40, 8);
        g_assert_cmpuint(retries_of(&pkt), ==, i);
        exanet_step(t, TIMEOUT_NS + 1);
    }
    assert_error(t, to_peer(0x40), EXANET_SHM_LOAD, EXANET_RESP_ACK, 1);
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_ERR) == 1);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* A target that answers, but takes nothing: an end as well. */
static void check_for_ever(enum exanet_resp resp, enum exanet_resp told)
{
    ExanetTest *t = start();
    unsigned copies = 0;

    exanet_shm_set(t, SHM_RETRY_MAX, 3);
    exanet_store(t, 0, 1, 8);
    while (!(exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_VALID)) {
        exanet_settle(t);
        for (unsigned i = 0; i < 20 && !g_queue_is_empty(&t->peer->packets);
             i++) {
            ExanetPacket pkt = take_store(t, 0);

            copies++;
            exanet_peer_answer_axi(t->peer, &pkt, resp, NULL);
        }
        exanet_step(t, 40 * EXANET_MS);
        g_assert_cmpuint(copies, <, 10000);
    }
    g_assert_cmpuint(copies, >, 50);
    assert_error(t, to_peer(0), EXANET_SHM_STORE, told, 15);
    exanet_stop(t);
}

static void test_for_ever(void)
{
    check_for_ever(EXANET_RESP_FULL, EXANET_RESP_FULL);
    check_for_ever(EXANET_RESP_RESOLVED, EXANET_RESP_FAULT);
}

/* --- Order ---------------------------------------------------------------- */

static void test_raw(void)
{
    ExanetTest *t = start();
    ExanetPacket store, load;

    exanet_store(t, 0x100, 1, 8);
    take_store(t, 0x100);           /* lost */
    load_start(t, 0x140, 8);        /* elsewhere: passes */
    load = take_load(t, 0x140, 8);
    exanet_peer_answer_axi(t->peer, &load, EXANET_RESP_ACK, "12345678");
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_DONE) == 1);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 0);

    load_start(t, 0x13c, 4);        /* the last bytes of these 64 */
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 1);
    exanet_step(t, TIMEOUT_NS);
    store = take_store(t, 0x100);
    exanet_assert_quiet(t);
    ack(t, &store);
    load = take_load(t, 0x13c, 4);
    exanet_peer_answer_axi(t->peer, &load, EXANET_RESP_ACK, "1234");
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_DONE) == 1);
    g_assert_cmpuint(exanet_count(t, SHM_RAW_STALL), ==, 1);

    /* without blocking it does not wait */
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_RAW);
    exanet_store(t, 0x100, 1, 8);
    take_store(t, 0x100);
    load_start(t, 0x100, 8);
    take_load(t, 0x100, 8);
    exanet_stop(t);
}

static void test_waw(void)
{
    ExanetTest *t = start();
    ExanetPacket first, second;

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_store(t, 0x100, 1, 8);
    first = take_store(t, 0x100);
    exanet_store(t, 0x138, 2, 8);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_WAW_STALL), ==, 1);
    g_assert_cmpuint(pending(t, 0), ==, 2);
    ack(t, &first);
    second = take_store(t, 0x138);
    g_assert_true(second.first);
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_WAW);
    exanet_store(t, 0x138, 3, 8);
    take_store(t, 0x138);
    /* CTRL_STRICT has the same effect */
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    exanet_store(t, 0x138, 4, 8);
    take_store(t, 0x138);
    exanet_stop(t);
}

static void test_fence(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt[3];

    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 0);
    exanet_shm_set(t, SHM_FENCE, 1);
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 0);
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    for (unsigned i = 0; i < 2; i++) {
        exanet_store(t, i * LINE, 1, 8);
        pkt[i] = take_store(t, i * LINE);
    }
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 0);
    exanet_store(t, 0, 2, 8);       /* behind the first one */
    exanet_shm_set(t, SHM_FENCE, 1);
    exanet_store(t, 2 * LINE, 1, 8);    /* not before the fence */
    exanet_assert_quiet(t);
    ack(t, &pkt[1]);
    exanet_wait(t, pending(t, 0) == 3);
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 1);
    ack(t, &pkt[0]);
    pkt[2] = take_store(t, 0);
    take_store(t, 2 * LINE);
    g_assert_cmphex(exanet_shm_get(t, SHM_FENCE), ==, 1);
    ack(t, &pkt[2]);
    exanet_wait(t, exanet_shm_get(t, SHM_FENCE) == 0);
    g_assert_cmpuint(pending(t, 0), ==, 1);
    exanet_stop(t);
}

/* --- Who asks --------------------------------------------------------------- */

static void test_disabled(void)
{
    ExanetTest *t = start();

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_ENABLE);
    exanet_store(t, 0, 1, 8);
    assert_error(t, to_peer(0), EXANET_SHM_STORE, EXANET_RESP_PROTECTION, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_quiesce(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        exanet_store(t, i * LINE, 1, 8);
        pkt = take_store(t, i * LINE);
    }
    exanet_store(t, 16 * LINE, 1, 8);   /* waits */
    exanet_close(t, 0);
    g_assert_cmpuint(pending(t, 0), ==, 0);
    g_assert_cmpuint(timers_busy(t), ==, 0);
    g_assert_false(exanet_get64(t, EXANET_SHM_MAP(0) +
                                EXANET_REG_SHM_MAP_CTRL) &
                   EXANET_SHM_MAP_VALID);
    assert_no_error(t);
    ack(t, &pkt);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);
    exanet_step(t, FOREVER);
    exanet_assert_quiet(t);

    /* numbers go on */
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_segment(t, 0, 0, 0x1000, to_peer(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    pkt = take_store(t, 0);
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

/* What another node than was asked says to @req. */
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

/* Both are neighbours: one answers what the other was asked. */
static void test_wrong_node(void)
{
    static const uint32_t peers[] = { EXANET_TEST_PEER, EXANET_TEST_ELSEWHERE };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
    g_autofree ExanetRxPacket *rx = NULL;
    ExanetPacket pkt;

    exanet_segment(t, 0, 0, 0x1000, to_peer(0), EXANET_SEGMENT_ALL);
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
    g_assert_cmpuint(pending(t, 0), ==, 1);
    exanet_peer_send(t->ports[0], &pkt);
    exanet_wait(t, pending(t, 0) == 0);
    exanet_stop(t);
}

static void test_hostile(void)
{
    ExanetTest *t = start();
    ExanetPacket store, load, pkt;
    uint8_t data[EXANET_MTU] = { 0 };

    exanet_store(t, 0x40, 1, 8);
    store = take_store(t, 0x40);
    load_start(t, 0x80, 8);
    load = take_load(t, 0x80, 8);

    for (unsigned bit = 0; bit < 14; bit++) {
        pkt = store;
        pkt.tid ^= 1u << bit;
        assert_stale(t, &pkt, NULL);
        pkt = store;
        pkt.seq ^= 1u << bit;
        assert_stale(t, &pkt, NULL);
    }
    assert_stale(t, &store, data);      /* data for a store */
    assert_stale(t, &load, NULL);       /* none for a load */
    for (unsigned size = 1; size <= EXANET_MTU / 2; size++) {
        pkt = load;
        pkt.size = size;
        if (size != load.size) {
            assert_stale(t, &pkt, data);
        }
    }
    pkt = load;
    pkt.va ^= 8;                        /* other lanes */
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
    g_assert_cmpuint(pending(t, 0), ==, 1);
    ack(t, &store);
    exanet_peer_answer_axi(t->peer, &load, EXANET_RESP_ACK, data);
    exanet_wait(t, exanet_count(t, SHM_ACK) == 2);
    assert_no_error(t);
    exanet_stop(t);
}

/* After a reset all is answered; what comes late fits nothing. */
static void test_reset(void)
{
    ExanetTest *t = start();
    ExanetPacket store, load, pkt;

    exanet_store(t, 0x40, 1, 8);
    store = take_store(t, 0x40);
    load_start(t, 0x80, 8);
    load = take_load(t, 0x80, 8);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmphex(exanet_shm_get(t, SHM_STATUS), ==, 0);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE), ==, 0);
    g_assert_cmpuint(pending(t, 0), ==, 0);
    exanet_bring_up(t);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_segment(t, 0, 0, 0x1000, to_peer(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0x40, 2, 8);
    pkt = take_store(t, 0x40);
    g_assert_cmpuint(pkt.tid, ==, store.tid);
    g_assert_cmpuint(pkt.seq, ==, store.seq + 1);
    g_assert_true(pkt.first);
    load_start(t, 0x80, 8);
    pkt = take_load(t, 0x80, 8);
    g_assert_cmpuint(pkt.tid, ==, load.tid);
    assert_stale(t, &store, NULL);
    assert_stale(t, &load, "87654321");
    g_assert_cmpuint(pending(t, 0), ==, 1);
    exanet_stop(t);
}

/* --- Time and ways ---------------------------------------------------------- */

/* Time-outs follow the round trip, and are never longer than SHM_TIMEOUT. */
static void test_dynamic(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;
    int64_t last = 0;

    exanet_shm_set(t, SHM_TIMEOUT_MODE, EXANET_SHM_TIMEOUT_DYNAMIC);
    for (unsigned i = 0; i < 20; i++) {
        exanet_store(t, 0, i, 8);
        pkt = take_store(t, 0);
        exanet_step(t, 200000);
        ack(t, &pkt);
        exanet_wait(t, pending(t, 0) == 0);
    }
    exanet_store(t, 0, 1, 8);
    for (unsigned i = 0; i < 6; i++) {
        int64_t passed;

        take_store(t, 0);
        passed = step_until_packet(t, 100000);
        g_assert_cmpint(passed, >=, MAX(200000, last));
        g_assert_cmpint(passed, <=, i ? TIMEOUT_NS : EXANET_MS);
        last = passed;
    }
    exanet_stop(t);
}

/* Two cables to the same node: each time-out makes the next copy take the other. */
static void test_paths(void)
{
    static const uint32_t peers[] = { EXANET_TEST_PEER, EXANET_TEST_PEER };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
    unsigned seen[2] = { 0 };

    exanet_segment(t, 0, 0, 0x1000, to_peer(0), EXANET_SEGMENT_ALL);
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
        exanet_step(t, TIMEOUT_NS + 1);
    }
    g_assert_cmpuint(seen[0], ==, 3);
    exanet_stop(t);
}

/* Loads and stores go first, but RDMA has one packet of eight. */
static void test_priority(void)
{
    ExanetTest *t = start();
    unsigned rdma = 0, behind = 0;
    uint64_t cdma = EXANET_CDMA(0);

    exanet_xoff(t);
    exanet_set64(t, cdma + EXANET_REG_CDMA_SA, EXANET_RAM_SRC);
    exanet_set64(t, cdma + EXANET_REG_CDMA_DA, to_peer(0x1000));
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
    g_assert_cmpuint(behind, ==, 7 + 2 * 2);    /* of 7, 7 and 2 stores */
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
    qtest_add_func("/exanet/shm-initiator/go-back", test_go_back);
    qtest_add_func("/exanet/shm-initiator/no-order", test_no_order);
    qtest_add_func("/exanet/shm-initiator/nacks", test_nacks);
    qtest_add_func("/exanet/shm-initiator/resolved", test_resolved);
    qtest_add_func("/exanet/shm-initiator/escalation", test_escalation);
    qtest_add_func("/exanet/shm-initiator/dead", test_dead);
    qtest_add_func("/exanet/shm-initiator/load-lost", test_load_lost);
    qtest_add_func("/exanet/shm-initiator/for-ever", test_for_ever);
    qtest_add_func("/exanet/shm-initiator/raw", test_raw);
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
