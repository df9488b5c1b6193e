/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies: the transfer whose block the firmware starts next.  A context may have one
 * block under way, so each ack of the test lets the policy choose again.
 */
#include "qemu/osdep.h"
#include "remote.h"

#define SRC EXANET_RAM_SRC
#define BASE EXANET_REMOTE_BASE
#define CHUNK 256                   /* bytes of each block */
#define FAR_OFFSET 0x100000         /* distance of the channels' destinations */

static ExanetTest *start(enum exanet_fw_policy policy)
{
    ExanetTest *t = exanet_start("");
    uint32_t quota = exanet_get32(t, EXANET_CTX(0) + EXANET_REG_CTX_QUOTA);

    exanet_fw_set(t, EXANET_REG_FW_POLICY, policy);
    exanet_fw_set(t, EXANET_REG_FW_BLOCK, CHUNK);
    quota = (quota & ~EXANET_QUOTA_TIDS) | RNIC_PREP(EXANET_QUOTA_TIDS, 1);
    exanet_set32(t, EXANET_CTX(0) + EXANET_REG_CTX_QUOTA, quota);
    return t;
}

static void start_channel(ExanetTest *t, unsigned channel, unsigned blocks,
                          unsigned priority)
{
    ExanetTransfer x = exanet_to_peer(SRC, BASE + channel * FAR_OFFSET,
                                      blocks * CHUNK);

    x.ctrl = RNIC_PREP(EXANET_CHANNEL_PRIORITY, priority);
    exanet_channel_start(t, 0, channel, &x);
}

/*
 * Asserts that the next blocks come from these channels in this order; acks each block.
 */
static void assert_order(ExanetTest *t, const char *channels)
{
    for (; *channels; channels++) {
        ExanetPacket pkt = exanet_take_single(t->peer, 0);

        exanet_assert_quiet(t);
        g_assert_cmpint('0' + (pkt.va - BASE) / FAR_OFFSET, ==, *channels);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    }
}

static void assert_all_done(ExanetTest *t, unsigned channels)
{
    for (unsigned i = 0; i < channels; i++) {
        exanet_channel_wait(t, 0, i, EXANET_CHANNEL_DONE);
    }
    exanet_assert_quiet(t);
}

static void test_round_robin(void)
{
    ExanetTest *t = start(EXANET_FW_ROUND_ROBIN);

    g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_POLICY), ==,
                     EXANET_FW_ROUND_ROBIN);
    start_channel(t, 0, 4, 0);
    start_channel(t, 1, 2, 15);
    start_channel(t, 2, 1, 3);
    start_channel(t, 3, 3, 0);
    assert_order(t, "0123013030");
    assert_all_done(t, 4);
    exanet_stop(t);
}

/*
 * Reads of another node use channels EXANET_WRITE_CHANNELS to EXANET_CHANNELS - 1.  After
 * the last of them comes channel 0, even if all reads have more blocks.
 */
static void test_round_robin_wraps(void)
{
    ExanetTest *t = start(EXANET_FW_ROUND_ROBIN);
    struct exanet_read_req req = exanet_read_of_peer(SRC, BASE + FAR_OFFSET,
                                                     3 * CHUNK, 0);
    GQueue *q = &t->peer->packets;

    for (unsigned i = 0; i < EXANET_READ_CHANNELS; i++) {
        exanet_read_send(t, &req, i, 0);
        exanet_settle(t);
    }
    start_channel(t, 0, 1, 0);
    exanet_settle(t);
    /* acks of the requests, and the first block of the first read */
    g_assert_cmpuint(q->length, ==, EXANET_READ_CHANNELS + 1);
    for (unsigned n = q->length; n; n--) {
        ExanetRxPacket *rx = g_queue_pop_head(q);

        if (rx->pkt.type == EXANET_TYPE_WRITE) {
            g_queue_push_tail(q, rx);
        } else {
            g_free(rx);
        }
    }
    for (unsigned i = 0; i < EXANET_READ_CHANNELS; i++) {
        assert_order(t, "1");
    }
    assert_order(t, "01");
    exanet_stop(t);
}

static void test_priority(void)
{
    ExanetTest *t = start(EXANET_FW_PRIORITY);

    start_channel(t, 0, 3, 0);
    start_channel(t, 1, 2, 3);
    start_channel(t, 2, 3, 9);
    start_channel(t, 3, 2, 9);
    start_channel(t, 4, 2, 0);
    /*
     * the channel with the highest priority goes first; channels of equal priority
     * alternate
     */
    assert_order(t, "02323");
    start_channel(t, 5, 2, 15);
    /* the next block of channel 2 was chosen before channel 5 started */
    assert_order(t, "255" "11" "4040");
    assert_all_done(t, 6);
    exanet_stop(t);
}

static void test_shortest(void)
{
    ExanetTest *t = start(EXANET_FW_SHORTEST);

    start_channel(t, 0, 5, 0);
    start_channel(t, 1, 3, 15);
    start_channel(t, 2, 1, 0);
    start_channel(t, 3, 2, 0);
    /* the policy compares the bytes that are left, not those at the start */
    assert_order(t, "0233111");
    start_channel(t, 4, 6, 0);
    assert_order(t, "0000" "444444");
    assert_all_done(t, 5);
    exanet_stop(t);
}

/* A new policy is in effect from the next choice on. */
static void test_change(void)
{
    ExanetTest *t = start(EXANET_FW_ROUND_ROBIN);

    start_channel(t, 0, 8, 1);
    start_channel(t, 1, 6, 2);
    start_channel(t, 2, 4, 0);
    assert_order(t, "012");
    exanet_settle(t);
    exanet_fw_set(t, EXANET_REG_FW_POLICY, EXANET_FW_PRIORITY);
    assert_order(t, "011");
    exanet_settle(t);
    exanet_fw_set(t, EXANET_REG_FW_POLICY, EXANET_FW_SHORTEST);
    assert_order(t, "1112");
    exanet_settle(t);
    /* an invalid policy has the effect of round robin */
    exanet_fw_set(t, EXANET_REG_FW_POLICY, 3);
    assert_order(t, "202" "00000");
    assert_all_done(t, 3);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware/policy-round-robin", test_round_robin);
    qtest_add_func("/exanet/firmware/policy-round-robin-wraps",
                   test_round_robin_wraps);
    qtest_add_func("/exanet/firmware/policy-priority", test_priority);
    qtest_add_func("/exanet/firmware/policy-shortest", test_shortest);
    qtest_add_func("/exanet/firmware/policy-change", test_change);
    return g_test_run();
}
