/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timeouts of the firmware, answers that it ignores, and releases of blocks that it
 * gives up.
 */
#include "qemu/osdep.h"
#include "remote.h"

#define SRC EXANET_RAM_SRC
#define BASE EXANET_REMOTE_BASE
#define BLOCK EXANET_BLOCK_BYTES
#define CHUNK 256

static void set_timeout(ExanetTest *t, uint64_t ns)
{
    exanet_set64(t, EXANET_FW + EXANET_REG_FW_TIMEOUT_NS, ns);
}

static uint64_t rtt(ExanetTest *t)
{
    return exanet_get64(t, EXANET_FW + EXANET_REG_FW_RTT_NS);
}

static void ack(ExanetTest *t, const ExanetPacket *pkt)
{
    exanet_peer_ack(t->peer, pkt, EXANET_RESP_ACK);
    exanet_settle(t);
}

/* Sends a block, and acks it after @ns. */
static void exchange(ExanetTest *t, int64_t ns)
{
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 100);
    ExanetPacket pkt;

    exanet_channel_start(t, 0, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    exanet_step(t, ns);
    ack(t, &pkt);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
}

/* --- Round trips --------------------------------------------------------------- */

static void test_rtt(void)
{
    ExanetTest *t = exanet_start("");

    g_assert_cmpuint(rtt(t), ==, 0);
    exchange(t, 8000);
    g_assert_cmpuint(rtt(t), ==, 8000);
    exchange(t, 16000);
    g_assert_cmpuint(rtt(t), ==, 9000);
    exchange(t, 1000);
    g_assert_cmpuint(rtt(t), ==, 8000);
    exanet_stop(t);
}

/*
 * Sends a block, and asserts that its second copy leaves after @ns, not earlier; acks
 * that copy.
 */
static void assert_timeout(ExanetTest *t, int64_t ns)
{
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 100);
    ExanetPacket pkt;

    exanet_channel_start(t, 0, 1, &x);
    exanet_take_single(t->peer, 0);
    exanet_step(t, ns - 1);
    exanet_assert_quiet(t);
    exanet_step(t, 1);
    pkt = exanet_take_single(t->peer, 1);
    ack(t, &pkt);
    exanet_channel_wait(t, 0, 1, EXANET_CHANNEL_DONE);
}

static void test_follow(void)
{
    ExanetTest *t = exanet_start("");

    g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_DYN_TIMEOUT), ==,
                     1);
    set_timeout(t, 100000);
    /* timeout = mean + 4 deviations; the answer to a later copy is not measured */
    exchange(t, 60000);
    assert_timeout(t, 60000 + 4 * 30000);
    g_assert_cmpuint(rtt(t), ==, 60000);
    /* the timeout is never less than the register */
    set_timeout(t, 2000000);
    assert_timeout(t, 2000000);
    exanet_fw_set(t, EXANET_REG_FW_DYN_TIMEOUT, 0);
    set_timeout(t, 100000);
    assert_timeout(t, 100000);
    exanet_stop(t);
}

/*
 * Answers always take longer than the timeout: the firmware measures the delayed answer
 * to the first copy.
 */
static void test_delayed(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 100);
    ExanetPacket first, pkt;

    set_timeout(t, 10000);
    exanet_channel_start(t, 0, 0, &x);
    first = exanet_take_single(t->peer, 0);
    exanet_step(t, 10000);
    exanet_take_single(t->peer, 1);
    exanet_step(t, 20000);
    pkt = exanet_take_single(t->peer, 2);
    ack(t, &first);
    g_assert_cmpuint(exanet_count(t, ACK_STALE), ==, 1);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    g_assert_cmpuint(rtt(t), ==, 30000);
    /* a second answer to the first copy is not measured */
    exanet_step(t, 5000);
    ack(t, &first);
    g_assert_cmpuint(rtt(t), ==, 30000);
    ack(t, &pkt);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exchange(t, 30000);
    g_assert_cmpuint(exanet_count(t, RETRY_TIMEOUT), ==, 2);
    exanet_stop(t);
}

/* Starts eight blocks at once; stores their packets to pkt[]. */
static void start_eight(ExanetTest *t, ExanetPacket *pkt)
{
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 8 * CHUNK);

    exanet_fw_set(t, EXANET_REG_FW_BLOCK, CHUNK);
    set_timeout(t, 10000);
    exanet_channel_start(t, 0, 0, &x);
    for (unsigned i = 0; i < 8; i++) {
        pkt[i] = exanet_take_single(t->peer, 0);
    }
    exanet_assert_quiet(t);
}

/*
 * Without a loss: each ack comes before the timeout after the ack before, so no block
 * is sent again.
 */
static void test_queue(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt[8];

    start_eight(t, pkt);
    for (unsigned i = 0; i < 8; i++) {
        exanet_step(t, 9000);
        exanet_assert_quiet(t);
        ack(t, &pkt[i]);
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    g_assert_cmpuint(exanet_count(t, RETRY_TIMEOUT), ==, 0);
    exanet_stop(t);
}

/*
 * A block without an ack, whose successors have acks, is lost; only lost blocks are
 * sent again.
 */
static void test_gap(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt[8];

    start_eight(t, pkt);
    exanet_step(t, 3000);
    for (unsigned i = 0; i < 6; i++) {
        if (i != 2) {
            ack(t, &pkt[i]);
        }
    }
    exanet_assert_quiet(t);
    exanet_step(t, 20000);
    /*
     * blocks 6 and 7 are sent again, too, because they have had no ack within the
     * timeout
     */
    for (unsigned i = 2; i < 8; i += i == 2 ? 4 : 1) {
        ExanetPacket again = exanet_take_single(t->peer, 1);

        g_assert_cmphex(again.tid, ==, pkt[i].tid);
        ack(t, &again);
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    g_assert_cmpuint(exanet_count(t, RETRY_TIMEOUT), ==, 3);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- Whose answers count -------------------------------------------------------- */

static void send_ack(ExanetTest *t, const ExanetPacket *pkt, uint8_t epoch)
{
    ExanetPacket answer = {
        .type = EXANET_TYPE_ACK, .dst = EXANET_TEST_NODE, .tid = pkt->tid,
        .seq = pkt->seq, .small = pkt->user & EXANET_FTR_USER_SMALL,
        .epoch = epoch,
    };

    exanet_peer_send(t->peer, &answer);
    exanet_settle(t);
}

static void test_epoch(void)
{
    static const uint8_t bad[] = { 0, EXANET_TEST_EPOCH - 1 };
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 100);
    uint8_t payload[8] = { 1 };
    ExanetPacket pkt;

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        exanet_channel_start(t, 0, 0, &x);
        pkt = exanet_take_single(t->peer, 0);
        send_ack(t, &pkt, bad[i]);
        g_assert_cmpuint(exanet_count(t, ACK_STALE), ==, 2 * i + 1);
        g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==,
                         EXANET_CHANNEL_ACTIVE);
        send_ack(t, &pkt, EXANET_TEST_EPOCH);
        exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);

        exanet_pktz_start(t, 0, 3, exanet_gva(EXANET_TEST_PEER, 0x1000),
                          payload, 8, EXANET_PKTZ_ACK |
                          RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_WRITE));
        pkt = exanet_take_single(t->peer, 0);
        send_ack(t, &pkt, i ? EXANET_TEST_EPOCH + 1 : 0);
        g_assert_cmpuint(exanet_count(t, ACK_STALE), ==, 2 * i + 2);
        g_assert_cmpuint(exanet_pktz_state(t, 0, 3), ==, EXANET_PKTZ_WAITING);
        send_ack(t, &pkt, EXANET_TEST_EPOCH);
        g_assert_cmpuint(exanet_pktz_state(t, 0, 3), ==, EXANET_PKTZ_ACKED);
    }
    exanet_stop(t);
}

/* If the test acts as the R5, responses with a wrong epoch do not reach its FIFO. */
static void test_epoch_external(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetPacket pkt = {
        .tid = 5, .seq = 2, .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
    };

    send_ack(t, &pkt, EXANET_TEST_EPOCH ^ 0x80);
    g_assert_cmpuint(exanet_count(t, ACK_STALE), ==, 1);
    g_assert_cmphex(exanet_get32(t, EXANET_RTMBOX + EXANET_REG_RT_RESP), ==, 0);
    send_ack(t, &pkt, EXANET_TEST_EPOCH);
    g_assert_cmphex(exanet_get32(t, EXANET_RTMBOX + EXANET_REG_RT_RESP), ==,
                    EXANET_RT_VALID | RNIC_PREP(EXANET_RT_TID, 5) |
                    RNIC_PREP(EXANET_RT_SEQ, 2));
    exanet_stop(t);
}

/*
 * The other node restarts during a transfer: the transfer fails, and later transfers to
 * the new node work.
 */
static void test_restart(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 8 * CHUNK);
    ExanetPacket pkt[8];
    ExanetRemote r;

    start_eight(t, pkt);
    ack(t, &pkt[0]);
    t->peer->epoch++;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, t->peer->heard);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    /* the restarted node answers nothing at first, because its contexts are closed */
    set_timeout(t, 10000);
    exanet_step(t, 50000);
    for (unsigned i = 1; i < 8; i++) {
        g_assert_cmphex(exanet_take_single(t->peer, 1).tid, ==, pkt[i].tid);
    }
    pkt[1].seq = 1;
    exanet_peer_ack(t->peer, &pkt[1], EXANET_RESP_PROTECTION);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 0), ==, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_channel_acked(t, 0, 0), ==, CHUNK);
    exanet_remote_init(&r, BASE, 8 * CHUNK);
    exanet_wait(t, (exanet_remote_run(t, &r), r.releases == 7));
    g_assert_cmpuint(exanet_count(t, TX_RELEASE), ==, 7);
    for (unsigned i = 0; i < 200; i++) {
        exanet_channel_start(t, 0, i % 32, &x);
        exanet_wait(t, (exanet_remote_run(t, &r),
                        exanet_channel_state(t, 0, i % 32) ==
                        EXANET_CHANNEL_DONE));
    }
    g_assert_cmpuint(r.blocks, ==, 200 * 8);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/* --- Giving up ------------------------------------------------------------------- */

/*
 * Closes a context during its transfers.  Asserts one release for each block that is
 * given up and whose data have left.  @hold: closes the context during XOFF.
 */
static void check_releases(ExanetTest *t, bool hold)
{
    g_autofree bool *began = g_new0(bool, EXANET_TIDS);
    g_autofree bool *released = g_new0(bool, EXANET_TIDS);
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 30 * BLOCK);
    unsigned count = 0;

    if (hold) {
        exanet_xoff(t);
    }
    exanet_channel_start(t, 1, 0, &x);
    exanet_channel_start(t, 1, 1, &x);
    exanet_settle(t);
    exanet_set32(t, EXANET_CTX(1) + EXANET_REG_CTX_CTRL,
                 EXANET_CTX_CTRL_EN | EXANET_CTX_CTRL_QUIESCE);
    exanet_wait(t, exanet_get32(t, EXANET_CTX(1) + EXANET_REG_CTX_STATUS) &
                EXANET_CTX_STATUS_QUIESCED);
    if (hold) {
        exanet_xon(t);
    }
    exanet_settle(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);
        unsigned tid = RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid);

        if (rx->pkt.type == EXANET_TYPE_RELEASE) {
            g_assert_false(released[tid]);
            released[tid] = true;
            count++;
        } else {
            began[tid] = true;
        }
        exanet_settle(t);
    }
    for (unsigned i = 0; i < EXANET_TIDS; i++) {
        /*
         * packets that wait for room are dropped, but the release of their block is
         * sent
         */
        g_assert_true(released[i] || !began[i]);
    }
    g_assert_cmpuint(count, >, 0);
    /* blocks that wait in chains get no release */
    g_assert_cmpuint(count, <=, exanet_count(t, BLOCK_STARTED));
    g_assert_cmpuint(exanet_count(t, TX_RELEASE), ==, count);
}

static void test_release(void)
{
    ExanetTest *t = exanet_start("");

    check_releases(t, false);
    exanet_stop(t);
    t = exanet_start("");
    check_releases(t, true);
    exanet_stop(t);
}

/*
 * In strict mode the device sends no release, because the published protocol does not
 * have this packet.
 */
static void test_release_strict(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 100);
    ExanetPacket pkt;

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    exanet_channel_start(t, 0, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_MALFORMED);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, TX_RELEASE), ==, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware/time-rtt", test_rtt);
    qtest_add_func("/exanet/firmware/time-follow", test_follow);
    qtest_add_func("/exanet/firmware/time-delayed", test_delayed);
    qtest_add_func("/exanet/firmware/time-queue", test_queue);
    qtest_add_func("/exanet/firmware/time-gap", test_gap);
    qtest_add_func("/exanet/firmware/time-epoch", test_epoch);
    qtest_add_func("/exanet/firmware/time-epoch-external", test_epoch_external);
    qtest_add_func("/exanet/firmware/time-restart", test_restart);
    qtest_add_func("/exanet/firmware/time-release", test_release);
    qtest_add_func("/exanet/firmware/time-release-strict", test_release_strict);
    return g_test_run();
}
