/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of loads and stores: after nacks and timeouts, with and without order, until
 * the initiator gives up.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "initiator.h"

#define LINE        64

/*
 * The first of three stores has no answer: all three are sent again in order, and only
 * the first has FIRST.
 */
static void test_go_back(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt[3];

    for (unsigned i = 0; i < 3; i++) {
        exanet_store(t, i * LINE, i, 8);
        pkt[i] = initiator_take_store(t, i * LINE);
        exanet_step(t, EXANET_MS);
    }
    exanet_step(t, INITIATOR_TIMEOUT_NS - 4 * EXANET_MS);
    exanet_assert_quiet(t);
    exanet_step(t, 2 * EXANET_MS);
    for (unsigned i = 0; i < 3; i++) {
        ExanetPacket copy = initiator_take_store(t, i * LINE);

        g_assert_cmphex(copy.tid, ==, pkt[i].tid);
        g_assert_cmpuint(copy.seq, ==, pkt[i].seq);
        g_assert_cmpuint(initiator_retries(&copy), ==, 1);
        g_assert_cmpint(copy.first, ==, i == 0);
    }
    g_assert_cmpuint(exanet_count(t, SHM_TIMEOUT), ==, 1);
    g_assert_cmpuint(exanet_count(t, SHM_REISSUE), ==, 3);
    /* the answer to an earlier copy counts, too */
    initiator_ack(t, &pkt[0]);
    exanet_wait(t, initiator_pending(t, 0) == 2);
    exanet_step(t, INITIATOR_TIMEOUT_NS);
    pkt[1] = initiator_take_store(t, LINE);
    g_assert_true(pkt[1].first);
    g_assert_cmpuint(initiator_retries(&pkt[1]), ==, 2);
    pkt[2] = initiator_take_store(t, 2 * LINE);
    g_assert_false(pkt[2].first);
    initiator_ack(t, &pkt[2]);
    initiator_ack(t, &pkt[1]);
    exanet_wait(t, initiator_pending(t, 0) == 0);
    exanet_step(t, INITIATOR_FOREVER);
    exanet_assert_quiet(t);
    initiator_assert_no_error(t);
    exanet_stop(t);
}

/*
 * Without order only the store without an answer is sent again, because the target has
 * executed the others.
 */
static void test_no_order(void)
{
    ExanetTest *t = initiator_start();

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL & ~EXANET_SHM_CTRL_ORDER);
    exanet_store(t, 0, 0, 8);
    initiator_take_store(t, 0);
    exanet_step(t, 10 * EXANET_MS);
    exanet_store(t, LINE, 0, 8);
    initiator_take_store(t, LINE);
    exanet_step(t, INITIATOR_TIMEOUT_NS - 9 * EXANET_MS);
    initiator_take_store(t, 0);
    exanet_assert_quiet(t);
    exanet_step(t, 10 * EXANET_MS);
    initiator_take_store(t, LINE);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_TIMEOUT), ==, 2);
    exanet_stop(t);
}

static void test_nacks(void)
{
    static const struct {
        enum exanet_resp resp;
        int64_t from, to;           /* ns until the copy; to == 0: the nack is final */
    } cases[] = {
        { EXANET_RESP_CRC, 0, EXANET_MS },
        { EXANET_RESP_FULL, 20000, 1 * EXANET_MS },
        { EXANET_RESP_NO_CONTEXT, 20000, 1 * EXANET_MS },
        { EXANET_RESP_FAULT, INITIATOR_TIMEOUT_NS - EXANET_MS,
          INITIATOR_TIMEOUT_NS + EXANET_MS },
        { EXANET_RESP_DECODE }, { EXANET_RESP_PROTECTION },
        { EXANET_RESP_MALFORMED },
    };
    ExanetTest *t = initiator_start();
    unsigned failed = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ExanetPacket pkt;
        int64_t passed;

        exanet_store(t, i * LINE, i, 8);
        pkt = initiator_take_store(t, i * LINE);
        exanet_peer_answer_axi(t->peer, &pkt, cases[i].resp, NULL);
        exanet_wait(t, exanet_count(t, SHM_NACK) == i + 1);
        if (!cases[i].to) {
            initiator_assert_error(t, initiator_gva(i * LINE), EXANET_SHM_STORE,
                                   cases[i].resp, 0);
            g_assert_cmpuint(initiator_errors(t, 0), ==, ++failed);
            g_assert_cmpuint(initiator_pending(t, 0), ==, 0);
            continue;
        }
        exanet_settle(t);
        passed = initiator_step_until_packet(t, 10000);
        g_assert_cmpint(passed, >=, cases[i].from);
        g_assert_cmpint(passed, <=, cases[i].to);
        pkt = initiator_take_store(t, i * LINE);
        g_assert_cmpuint(initiator_retries(&pkt), ==, 1);
        initiator_ack(t, &pkt);
        exanet_wait(t, initiator_pending(t, 0) == 0);
        g_assert_cmpuint(exanet_count(t, SHM_REISSUE), ==, i + 1);
    }
    g_assert_cmpuint(exanet_count(t, SHM_TIMEOUT), ==, 0);
    exanet_step(t, INITIATOR_FOREVER);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* The target resolves the fault of a store (RESOLVED), or cannot (DECODE). */
static void test_resolved(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt, copy;

    for (unsigned ok = 0; ok < 2; ok++) {
        exanet_store(t, 0, 1, 8);
        pkt = initiator_take_store(t, 0);
        exanet_store(t, LINE, 1, 8);
        initiator_take_store(t, LINE);
        exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_FAULT, NULL);
        exanet_step(t, EXANET_MS);
        exanet_assert_quiet(t);
        exanet_peer_answer_axi(t->peer, &pkt, ok ? EXANET_RESP_RESOLVED :
                               EXANET_RESP_DECODE, NULL);
        if (ok) {
            copy = initiator_take_store(t, 0);
            g_assert_cmpuint(initiator_retries(&copy), ==, 1);
            initiator_ack(t, &copy);
        } else {
            initiator_assert_error(t, initiator_gva(0), EXANET_SHM_STORE,
                                   EXANET_RESP_DECODE, 0);
            exanet_step(t, INITIATOR_TIMEOUT_NS);
        }
        copy = initiator_take_store(t, LINE);
        initiator_ack(t, &copy);
        exanet_wait(t, initiator_pending(t, 0) == 0);
    }
    exanet_stop(t);
}

/* --- Escalation ----------------------------------------------------------- */

static void test_escalation(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 3);
    exanet_store(t, 0x80, 1, 8);
    for (unsigned i = 0; i <= 3; i++) {
        pkt = initiator_take_store(t, 0x80);
        g_assert_cmpuint(initiator_retries(&pkt), ==, i);
        initiator_assert_no_error(t);
        exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    }
    initiator_assert_error(t, initiator_gva(0x80), EXANET_SHM_STORE, EXANET_RESP_ACK, 3);
    exanet_assert_quiet(t);
    g_assert_cmpuint(initiator_errors(t, 0), ==, 1);
    g_assert_cmpuint(initiator_errors(t, 1), ==, 0);
    g_assert_cmpuint(initiator_timers_busy(t), ==, 0);
    initiator_ack(t, &pkt);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);

    /* the late ack shows that the node works, so the next store gets all its retries */
    exanet_store(t, 0x80, 2, 8);
    pkt = initiator_take_store(t, 0x80);
    g_assert_true(pkt.first);
    g_assert_cmpuint(pkt.seq, ==, 1);
    exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    pkt = initiator_take_store(t, 0x80);
    initiator_ack(t, &pkt);
    exanet_wait(t, initiator_pending(t, 0) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 1);
    exanet_stop(t);
}

/*
 * A store to a node that was given up gets only one timeout, and fails at once without
 * a route.
 */
static void test_dead(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 2);
    for (unsigned i = 0; i < 3; i++) {
        exanet_store(t, i * LINE, 1, 8);
    }
    exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 3);
    for (unsigned i = 0; i < 9; i++) {
        initiator_take_store(t, i % 3 * LINE);
    }
    exanet_store(t, 0, 1, 8);
    initiator_take_store(t, 0);
    exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 4);
    exanet_assert_quiet(t);

    initiator_link_set(t, false);
    for (unsigned i = 0; i < 100; i++) {
        exanet_store(t, i * 8, 1, 8);
    }
    exanet_settle(t);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 104);
    g_assert_cmpuint(initiator_errors(t, 0), ==, 104);
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 0);
    initiator_assert_error(t, initiator_gva(0), EXANET_SHM_STORE, EXANET_RESP_ACK, 2);

    initiator_link_set(t, true);
    exanet_store(t, 0, 1, 8);
    pkt = initiator_take_store(t, 0);
    g_assert_cmpuint(pkt.seq, ==, 4);
    g_assert_true(pkt.first);
    initiator_ack(t, &pkt);
    exanet_wait(t, initiator_pending(t, 0) == 0);
    exanet_stop(t);
}

/* A load without an answer fails, too. */
static void test_load_lost(void)
{
    ExanetTest *t = initiator_start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 1);
    initiator_load_start(t, 0x40, 8);
    for (unsigned i = 0; i < 2; i++) {
        pkt = initiator_take_load(t, 0x40, 8);
        g_assert_cmpuint(initiator_retries(&pkt), ==, i);
        exanet_step(t, INITIATOR_TIMEOUT_NS + 1);
    }
    initiator_assert_error(t, initiator_gva(0x40), EXANET_SHM_LOAD, EXANET_RESP_ACK, 1);
    exanet_wait(t, exanet_get64(t, EXANET_SHM + EXANET_REG_TGEN_ERR) == 1);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/*
 * Checks a target that always refuses: the initiator gives up after more than 50
 * copies, with error @reported.
 */
static void check_for_ever(enum exanet_resp resp, enum exanet_resp reported)
{
    ExanetTest *t = initiator_start();
    unsigned copies = 0;

    exanet_shm_set(t, SHM_RETRY_MAX, 3);
    exanet_store(t, 0, 1, 8);
    while (!(exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_VALID)) {
        exanet_settle(t);
        for (unsigned i = 0; i < 20 && !g_queue_is_empty(&t->peer->packets);
             i++) {
            ExanetPacket pkt = initiator_take_store(t, 0);

            copies++;
            exanet_peer_answer_axi(t->peer, &pkt, resp, NULL);
        }
        exanet_step(t, 40 * EXANET_MS);
        g_assert_cmpuint(copies, <, 10000);
    }
    g_assert_cmpuint(copies, >, 50);
    initiator_assert_error(t, initiator_gva(0), EXANET_SHM_STORE, reported, 15);
    exanet_stop(t);
}

static void test_for_ever(void)
{
    check_for_ever(EXANET_RESP_FULL, EXANET_RESP_FULL);
    check_for_ever(EXANET_RESP_RESOLVED, EXANET_RESP_FAULT);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-initiator-retry/go-back", test_go_back);
    qtest_add_func("/exanet/shm-initiator-retry/no-order", test_no_order);
    qtest_add_func("/exanet/shm-initiator-retry/nacks", test_nacks);
    qtest_add_func("/exanet/shm-initiator-retry/resolved", test_resolved);
    qtest_add_func("/exanet/shm-initiator-retry/escalation", test_escalation);
    qtest_add_func("/exanet/shm-initiator-retry/dead", test_dead);
    qtest_add_func("/exanet/shm-initiator-retry/load-lost", test_load_lost);
    qtest_add_func("/exanet/shm-initiator-retry/for-ever", test_for_ever);
    return g_test_run();
}
