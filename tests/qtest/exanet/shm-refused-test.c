/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores that a busy target refuses, on cables that also lose or block packets. */
#include "qemu/osdep.h"
#include "device.h"

#define TIMEOUT_NS (50 * EXANET_MS)     /* reset value of SHM_TIMEOUT */

static ExanetTest *start(void)
{
    ExanetTest *t = exanet_start("");

    exanet_segment(t, 0, 0, 0x10000, exanet_gva(EXANET_TEST_PEER, 0x123450000),
                   EXANET_SEGMENT_ALL);
    return t;
}

static ExanetPacket take_store(ExanetTest *t)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    ExanetPacket pkt = rx->pkt;

    pkt.payload = NULL;
    return pkt;
}

/* Returns the number of stores of context 0 without an answer. */
static uint32_t pending(ExanetTest *t)
{
    return exanet_user_get(t, 0, EXANET_PAGE_INFO,
                           offsetof(struct exanet_info, stores)) & 0xffffffff;
}

/* A store that was refused often still gets all its retries after a lost packet. */
static void test_lost(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 3);
    exanet_store(t, 0, 1, 8);
    for (unsigned i = 0; i < 10; i++) {
        pkt = take_store(t);
        exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_FULL, NULL);
        exanet_settle(t);
        exanet_step(t, 11 * EXANET_MS);
    }
    for (unsigned i = 0; i < 3; i++) {
        take_store(t);
        exanet_step(t, TIMEOUT_NS + EXANET_MS);
    }
    pkt = take_store(t);
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, NULL);
    exanet_wait(t, pending(t) == 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

/* A refused store fails after some timeouts if its cable is blocked. */
static void test_blocked(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_RETRY_MAX, 3);
    exanet_store(t, 0, 1, 8);
    pkt = take_store(t);
    exanet_xoff(t);
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_FULL, NULL);
    exanet_wait(t, exanet_count(t, SHM_NACK) == 1);
    for (unsigned i = 0; pending(t); i++) {
        exanet_step(t, TIMEOUT_NS);
        exanet_settle(t);
        g_assert_cmpuint(i, <, 10);
    }
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, EXANET_SHM_ERR_VALID |
                    RNIC_PREP(EXANET_SHM_ERR_CODE, EXANET_RESP_ACK) |
                    RNIC_PREP(EXANET_SHM_ERR_CLASS, EXANET_SHM_STORE));
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-initiator/refused-lost", test_lost);
    qtest_add_func("/exanet/shm-initiator/refused-blocked", test_blocked);
    return g_test_run();
}
