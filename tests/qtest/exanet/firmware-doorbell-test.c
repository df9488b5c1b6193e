/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doorbells of the scratchpad: busy channels, bad requests, and many doorbells at once.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "remote.h"

#define SRC EXANET_RAM_SRC
#define SINK_BASE EXANET_REMOTE_BASE
#define BLOCK EXANET_BLOCK_BYTES

static void test_busy(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100), y;
    ExanetPacket pkt;
    uint64_t status;

    exanet_channel_start(t, 0, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    status = exanet_channel_status(t, 0, 0);
    y = exanet_to_peer(SRC + 0x1000, SINK_BASE + 0x1000, 200);
    y.token = 2;
    exanet_channel_start(t, 0, 0, &y);
    exanet_assert_quiet(t);
    g_assert_cmphex(exanet_channel_status(t, 0, 0), ==, status);
    g_assert_cmpuint(exanet_count(t, DOORBELL_BUSY), ==, 1);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    g_assert_cmpuint(exanet_user_get(t, 0, EXANET_PAGE_SCRATCHPAD,
                                     offsetof(struct exanet_channel, done)), ==,
                     1);
    g_assert_cmpuint(exanet_channel_acked(t, 0, 0), ==, 100);
    exanet_stop(t);
}

static void test_bad_requests(void)
{
    ExanetTest *t = exanet_start("");
    const ExanetTransfer good = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetTransfer bad[10];
    unsigned n = 0;

    bad[n] = good, bad[n++].len = 0;
    bad[n++] = exanet_to_peer(SRC, EXANET_NI_VA(EXANET_NI_RT_RESPONSE), 100);
    bad[n++] = exanet_to_peer(SRC, EXANET_NI_VA(EXANET_NI_MAILBOX), 64);
    /* the range would reach from one window into the next, or into NI space */
    bad[n++] = exanet_to_peer(SRC, 2 * SINK_BASE - 50, 100);
    bad[n++] = exanet_to_peer(SRC, EXANET_NI_VA(0) - 50, 100);
    bad[n++] = exanet_to_peer(~0ULL - 50, SINK_BASE, 100);
    /* bad addresses of the notification */
    bad[n] = good, bad[n].ctrl = EXANET_CHANNEL_NOTIFY;
    bad[n++].notify_gva = exanet_gva(EXANET_TEST_PEER, 0x1008);
    bad[n] = good, bad[n].ctrl = EXANET_CHANNEL_NOTIFY;
    bad[n++].notify_gva = exanet_gva(EXANET_TEST_PEER,
                                     EXANET_NI_VA(EXANET_NI_RT_RESPONSE));
    bad[n] = good, bad[n].ctrl = EXANET_CHANNEL_NOTIFY;
    bad[n++].notify_gva = exanet_gva(EXANET_TEST_PEER,
                                     EXANET_NI_VA(EXANET_NI_MAILBOX) |
                                     EXANET_MAILBOXES << 4);
    bad[n] = good, bad[n].ctrl = EXANET_CHANNEL_NOTIFY;
    bad[n++].notify_gva = exanet_gva(EXANET_TEST_ELSEWHERE, 0x1000);
    g_assert_cmpuint(n, ==, ARRAY_SIZE(bad));
    for (unsigned i = 0; i < n; i++) {
        bad[i].token = 100 + i;
        exanet_channel_start(t, 0, i, &bad[i]);
        exanet_channel_wait(t, 0, i, EXANET_CHANNEL_FAILED);
        g_assert_cmphex(exanet_channel_error(t, 0, i), ==, EXANET_CHERR_BAD_REQUEST);
        g_assert_cmpuint(exanet_count(t, DOORBELL_BAD), ==, i + 1);
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Token 0, the doorbell's upper half, and read channels start no transfer. */
static void test_no_doorbell(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    uint64_t bell = exanet_user(t, 0, EXANET_PAGE_SCRATCHPAD) +
                    EXANET_CHANNEL_DOORBELL;
    ExanetPacket pkt;

    qtest_writeq(t->qts, t->user.addr + bell, 0);
    qtest_writel(t->qts, t->user.addr + bell, 0);
    qtest_writel(t->qts, t->user.addr + bell + 4, 5);
    exanet_channel_start(t, 0, EXANET_WRITE_CHANNELS, &x);
    exanet_channel_start(t, 0, EXANET_CHANNELS - 1, &x);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE), ==, 0);
    /* the context is not open, so its page does not change */
    exanet_channel_start(t, 7, 0, &x);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_channel_state(t, 7, 0), !=, EXANET_CHANNEL_DONE);
    /* stores of 4 bytes can fill a channel */
    for (unsigned i = 0; i < EXANET_CHANNEL_DOORBELL; i += 4) {
        struct exanet_channel ch = {
            .src = cpu_to_le64(x.src), .dst = cpu_to_le64(x.dst),
            .ctrl = cpu_to_le64(x.len),
        };

        qtest_writel(t->qts, t->user.addr + bell - EXANET_CHANNEL_DOORBELL + i,
                     ldl_le_p((uint8_t *)&ch + i));
    }
    qtest_writel(t->qts, t->user.addr + bell, 9);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    t->guest_errors = true;
    exanet_stop(t);
}

/* Stores of the process after the doorbell do not change the transfer. */
static void test_toctou(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 3 * BLOCK);
    g_autofree uint8_t *src = g_malloc(3 * BLOCK);
    ExanetRemote r;

    exanet_fill(t, SRC, src, 3 * BLOCK, 2);
    exanet_remote_init(&r, SINK_BASE, 4 * BLOCK);
    exanet_fw_set(t, EXANET_REG_FW_WINDOW, 1);
    x.ctrl = EXANET_CHANNEL_NOTIFY | RNIC_PREP(EXANET_CHANNEL_DST_CTX, 5);
    x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x4000);
    x.notify_data = 0x1234;
    exanet_channel_start(t, 0, 0, &x);
    for (unsigned i = 0; i < EXANET_CHANNEL_DOORBELL; i += 8) {
        exanet_user_set(t, 0, EXANET_PAGE_SCRATCHPAD, i, ~0ULL);
    }
    exanet_wait(t, (exanet_remote_run(t, &r),
                    exanet_channel_state(t, 0, 0) >= EXANET_CHANNEL_DONE));
    exanet_remote_assert(&r, SINK_BASE, src, 3 * BLOCK);
    g_assert_cmpuint(r.blocks, ==, 3);
    g_assert_cmphex(r.control[0], ==, x.notify_gva);
    g_assert_cmphex(r.control[1], ==, x.notify_data);
    g_assert_cmphex(RNIC_GET(EXANET_CONTROL_PDID, r.control[3]), ==,
                    EXANET_TEST_PDID(5));
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/*
 * Starts a transfer of one block with a notification, after a store of @word for TID @tid
 * to the control window of each output.  Returns the TID of the block; asserts that the
 * control packet has the values of the transfer.
 */
static unsigned notified_block(unsigned tid, uint64_t word)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 64);
    g_autofree ExanetRxPacket *rx = NULL;

    for (unsigned output = 0; output < EXANET_OUTPUTS; output++) {
        exanet_set64(t, EXANET_CONTROL_ADDR(output, tid), word);
    }
    x.ctrl = EXANET_CHANNEL_NOTIFY;
    x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x4000);
    x.notify_data = 0x1234;
    exanet_channel_start(t, 0, 0, &x);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_CONTROL);
    tid = RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, x.notify_gva);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload + 8), ==, x.notify_data);
    exanet_stop(t);
    return tid;
}

/* A store of the guest to the control window does not change a notification. */
static void test_control_window(void)
{
    unsigned tid = notified_block(0, 1);

    g_assert_cmpuint(notified_block(tid, 0xbad), ==, tid);
}

/* Many doorbells of busy channels in random order change no transfer. */
static void test_doorbell_storm(void)
{
    ExanetTest *t = exanet_start("");
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(4));
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 3 * BLOCK + 17);
    g_autofree uint8_t *src = g_malloc(x.len);
    ExanetRemote r;

    exanet_fill(t, SRC, src, x.len, 2);
    exanet_remote_init(&r, SINK_BASE, 64 * 4 * BLOCK);
    for (unsigned c = 0; c < 2; c++) {
        for (unsigned ch = 0; ch < EXANET_WRITE_CHANNELS; ch++) {
            x.dst = exanet_gva(EXANET_TEST_PEER, SINK_BASE +
                               (c * EXANET_WRITE_CHANNELS + ch) * 4 * BLOCK);
            exanet_channel_start(t, c, ch, &x);
        }
    }
    for (unsigned i = 0; i < 3000; i++) {
        unsigned ch = g_rand_int_range(rand, 0, EXANET_WRITE_CHANNELS);

        exanet_user_set(t, i % 2, EXANET_PAGE_SCRATCHPAD,
                        ch * EXANET_CHANNEL_BYTES + EXANET_CHANNEL_DOORBELL, 7);
    }
    /* no transfer has ended, because the test has acked no block */
    g_assert_cmpuint(exanet_count(t, DOORBELL_BUSY), ==, 3000);
    exanet_wait(t, (exanet_remote_run(t, &r),
                    !exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE)));
    for (unsigned i = 0; i < 64; i++) {
        g_assert_cmpuint(exanet_channel_state(t, i / 32, i % 32), ==,
                         EXANET_CHANNEL_DONE);
        exanet_remote_assert(&r, SINK_BASE + i * 4 * BLOCK, src, x.len);
    }
    exanet_remote_fini(&r);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware/doorbell-busy", test_busy);
    qtest_add_func("/exanet/firmware/doorbell-bad-t05", test_bad_requests);
    qtest_add_func("/exanet/firmware/doorbell-none", test_no_doorbell);
    qtest_add_func("/exanet/firmware/doorbell-toctou-t24", test_toctou);
    qtest_add_func("/exanet/firmware/control-window", test_control_window);
    qtest_add_func("/exanet/firmware/doorbell-storm", test_doorbell_storm);
    return g_test_run();
}
