/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads that the model of the R5 serves for the peer, and completion notifications.
 * The test is the other node, and decides which packets are lost and which are
 * answered.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "remote.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define SINK_BASE EXANET_REMOTE_BASE
#define BLOCK EXANET_BLOCK_BYTES

#define TIMEOUT_NS ((int64_t)EXANET_FW_TIMEOUT_DEFAULT)

/* --- Notifications --------------------------------------------------------- */

static void test_notify(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE + 50, 5 * BLOCK - 50);
    ExanetPacket last[5];
    ExanetRxPacket *rx;
    unsigned n = 0;

    x.ctrl = EXANET_CHANNEL_NOTIFY | EXANET_CHANNEL_IRQ |
             RNIC_PREP(EXANET_CHANNEL_DST_CTX, 2);
    x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x7770);
    x.notify_data = 0xfeedfacecafef00dULL;
    x.token = 0xabc;
    exanet_channel_start(t, 0, 0, &x);
    exanet_wait(t, exanet_blocks_waiting(t) == 5);
    while (!g_queue_is_empty(&t->peer->packets)) {
        rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
        /* only packets of the last block announce a notification */
        g_assert_cmpint(rx->pkt.notify, ==,
                        rx->pkt.va >= SINK_BASE + 4 * BLOCK);
        if (rx->pkt.last) {
            last[n++] = rx->pkt;
        }
        g_free(rx);
    }
    g_assert_cmpuint(n, ==, 5);
    /*
     * acks arrive in another order; the control packet leaves after all other blocks
     * are acked
     */
    exanet_peer_ack(t->peer, &last[2], EXANET_RESP_ACK);
    exanet_peer_ack(t->peer, &last[0], EXANET_RESP_ACK);
    exanet_peer_ack(t->peer, &last[3], EXANET_RESP_ACK);
    exanet_wait(t, exanet_channel_acked(t, 0, 0) == 3 * BLOCK - 50);
    exanet_assert_quiet(t);
    exanet_peer_ack(t->peer, &last[1], EXANET_RESP_ACK);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_CONTROL);
    g_assert_cmphex(rx->pkt.tid, ==, last[4].tid);
    g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(2));
    g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, x.notify_gva);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload + 8), ==, x.notify_data);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload + 16) & EXANET_CONTROL_LENGTH, ==,
                    x.len);
    g_assert_true(ldq_le_p(rx->pkt.payload + 16) & EXANET_CONTROL_IRQ);
    g_free(rx);
    /* without an answer the last block and its control packet are sent again */
    exanet_step(t, TIMEOUT_NS);
    g_assert_cmpuint(exanet_blocks_waiting(t), ==, 1);
    n = 0;
    while (!g_queue_is_empty(&t->peer->packets)) {
        rx = exanet_peer_take(t->peer);
        g_assert_cmpuint(rx->pkt.seq, ==, 1);
        n += rx->pkt.type == EXANET_TYPE_CONTROL;
        last[4] = rx->pkt;
        g_free(rx);
    }
    g_assert_cmpuint(n, ==, 1);
    exanet_peer_ack(t->peer, &last[4], EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* A block that waits for its control packet has no timeout. */
static void test_notify_timeout(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 2 * 256);
    ExanetPacket first;

    exanet_fw_set(t, EXANET_REG_FW_BLOCK, 256);
    x.ctrl = EXANET_CHANNEL_NOTIFY;
    x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x7770);
    exanet_channel_start(t, 0, 0, &x);
    first = exanet_take_single(t->peer, 0);
    exanet_take_single(t->peer, 0);
    exanet_step(t, TIMEOUT_NS);
    first = exanet_take_single(t->peer, 1);
    g_assert_cmphex(first.va, ==, SINK_BASE);
    exanet_assert_quiet(t);
    exanet_peer_ack(t->peer, &first, EXANET_RESP_ACK);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_CONTROL));
    exanet_stop(t);
}

static void test_irq_done(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt;

    exanet_msix_enable(t);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    exanet_channel_start(t, 1, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 1, 0, EXANET_CHANNEL_DONE);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_CONTEXT(1)));
    x.ctrl = EXANET_CHANNEL_IRQ_DONE;
    exanet_channel_start(t, 1, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_CONTEXT(1)));
    g_assert_cmpuint(exanet_channel_state(t, 1, 0), ==, EXANET_CHANNEL_DONE);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 2);
    exanet_set32(t, EXANET_REG_MBOX_PENDING, 2);
    x.len = 0;      /* a failed transfer interrupts, too */
    exanet_channel_start(t, 1, 0, &x);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_CONTEXT(1)));
    exanet_stop(t);
}

/* A transfer with notification from the node to itself, through the crossbar. */
static void test_loopback(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = {
        .src = SRC + 13, .dst = exanet_gva(EXANET_TEST_NODE, DST + 5),
        .len = 200001, .ctrl = EXANET_CHANNEL_NOTIFY |
        RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
        .notify_gva = exanet_gva(EXANET_TEST_NODE, EXANET_RAM_NOTE),
        .notify_data = 0x99, .token = 3,
    };
    g_autofree uint8_t *src = g_malloc(x.len);

    exanet_fill(t, x.src, src, x.len, 8);
    qtest_memset(t->qts, EXANET_RAM_NOTE, 0, 16);
    qtest_memset(t->qts, DST, 0xee, x.len + 32);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_mem(t, DST + 5, src, x.len);
    exanet_assert_byte(t, DST, 0xee, 5);
    exanet_assert_byte(t, DST + 5 + x.len, 0xee, 16);
    g_assert_cmphex(qtest_readq(t->qts, EXANET_RAM_NOTE), ==, 0x99);
    g_assert_cmphex(qtest_readq(t->qts, EXANET_RAM_NOTE + 8), ==,
                    EXANET_NOTIFICATION_VALID | x.len |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, 3));
    exanet_assert_quiet(t);
    /* the destination context is not open */
    x.ctrl = RNIC_PREP(EXANET_CHANNEL_DST_CTX, 9);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 0), ==, EXANET_RESP_PROTECTION);
    exanet_stop(t);
}

/* --- Reads ----------------------------------------------------------------- */

/* Returns the TID of generation @gen that the packetizer of context 4 uses. */
static unsigned read_tid(unsigned gen)
{
    return gen << 8 | 4 << 4 | 1;
}

static gint find_ack(gconstpointer rx, gconstpointer unused)
{
    return ((const ExanetRxPacket *)rx)->pkt.type != EXANET_TYPE_ACK;
}

/*
 * Waits for the response to a request, removes it from the queue, and returns its code.
 * Data of the read may arrive earlier, and stay in the queue.
 */
static enum exanet_resp read_resp(ExanetTest *t, unsigned gen)
{
    g_autofree ExanetRxPacket *rx = NULL;
    GQueue *q = &t->peer->packets;
    GList *l = NULL;

    exanet_wait(t, (l = g_queue_find_custom(q, NULL, find_ack)));
    rx = l->data;
    g_queue_delete_link(q, l);
    g_assert_cmphex(rx->pkt.tid, ==, read_tid(gen));
    return rx->pkt.resp;
}

static void test_read(void)
{
    ExanetTest *t = exanet_start("");
    struct exanet_read_req req =
        exanet_read_of_peer(SRC + 3, SINK_BASE + 100, 40000, EXANET_READ_REQ_NOTIFY |
                 RNIC_PREP(EXANET_READ_REQ_OWNER, 1));
    g_autofree uint8_t *src = g_malloc(40000);
    unsigned channel = EXANET_WRITE_CHANNELS;
    ExanetRemote r;

    exanet_fill(t, SRC + 3, src, 40000, 3);
    exanet_remote_init(&r, SINK_BASE, 4 * BLOCK);
    exanet_read_send(t, &req, 1, 0);
    g_assert_cmpuint(read_resp(t, 1), ==, EXANET_RESP_ACK);
    exanet_settle(t);
    /* the owner finds the read in its page */
    g_assert_cmpuint(exanet_channel_state(t, 1, channel), ==,
                     EXANET_CHANNEL_ACTIVE);
    g_assert_cmphex(exanet_user_get(t, 1, EXANET_PAGE_SCRATCHPAD,
                                    channel * EXANET_CHANNEL_BYTES), ==,
                    SRC + 3);
    /*
     * as if the ack of the mailbox was lost, the request arrives again, and is not
     * executed again
     */
    exanet_read_send(t, &req, 1, 1);
    exanet_wait(t, exanet_count(t, MSG_DUPLICATE) == 1);
    exanet_wait(t, (exanet_remote_run(t, &r),
                    exanet_channel_state(t, 1, channel) >=
                    EXANET_CHANNEL_DONE));
    exanet_channel_wait(t, 1, channel, EXANET_CHANNEL_DONE);
    exanet_remote_assert(&r, SINK_BASE + 100, src, 40000);
    g_assert_cmpuint(r.blocks, ==, 3);
    g_assert_cmpuint(r.controls, ==, 1);
    g_assert_cmphex(r.control[0], ==, exanet_gva(EXANET_TEST_PEER, 0x7770));
    g_assert_cmphex(r.control[1], ==, 0x5151);
    /* the PDID of the requester, as in the header of the request */
    g_assert_cmphex(RNIC_GET(EXANET_CONTROL_PDID, r.control[3]), ==,
                    EXANET_TEST_PDID(4));
    exanet_assert_quiet(t);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/* The device reports each bad read to the requester, with the error. */
static void test_bad_reads(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t notify = EXANET_READ_REQ_NOTIFY;
    uint64_t nobody = notify | RNIC_PREP(EXANET_READ_REQ_OWNER, 9);
    struct { struct exanet_read_req req; unsigned error; } bad[] = {
        { exanet_read_of_peer(SRC, SINK_BASE, 100, nobody), EXANET_RESP_PROTECTION },
        { exanet_read_of_peer(SRC, SINK_BASE, 0, notify), EXANET_CHERR_BAD_REQUEST },
        { exanet_read_of_peer(SRC, EXANET_NI_VA(0), 100, notify),
          EXANET_CHERR_BAD_REQUEST },
        { exanet_read_of_peer(EXANET_NO_RAM, SINK_BASE, 100, notify),
          EXANET_RESP_DECODE },
        { exanet_read_of_peer(SRC, SINK_BASE, 100, notify),
          EXANET_CHERR_BAD_REQUEST },
    };

    /* the data would go to a third node */
    bad[4].req.dst = cpu_to_le64(exanet_gva(EXANET_TEST_ELSEWHERE, SINK_BASE));
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        ExanetRxPacket *rx;
        uint64_t status;

        exanet_read_send(t, &bad[i].req, i + 1, 0);
        g_assert_cmpuint(read_resp(t, i + 1), ==, EXANET_RESP_ACK);
        rx = exanet_peer_take(t->peer);
        while (rx->pkt.type == EXANET_TYPE_CONTROL ||
               rx->pkt.type == EXANET_TYPE_RELEASE) {
            g_free(rx);     /* these packets were under way when the source failed */
            rx = exanet_peer_take(t->peer);
        }
        g_assert_cmpuint(rx->pkt.type, ==, EXANET_TYPE_NOTIFY);
        g_assert_cmphex(rx->pkt.va, ==, 0x7770);
        g_assert_cmphex(rx->pkt.pdid, ==, EXANET_TEST_PDID(4));
        g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, 0x5151);
        status = ldq_le_p(rx->pkt.payload + 8);
        g_assert_true(status & EXANET_NOTIFICATION_VALID);
        g_assert_cmpuint(RNIC_GET(EXANET_NOTIFICATION_STATUS, status), ==, 1);
        g_assert_cmphex(RNIC_GET(EXANET_NOTIFICATION_HANDLE, status), ==,
                        bad[i].error);
        g_free(rx);
    }
    /* a failed read without NOTIFY is not reported */
    bad[0].req.ctrl &= ~cpu_to_le64(EXANET_READ_REQ_NOTIFY);
    exanet_read_send(t, &bad[0].req, 9, 0);
    g_assert_cmpuint(read_resp(t, 9), ==, EXANET_RESP_ACK);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* More reads than channels wait; the device refuses reads beyond the queue with FULL. */
static void test_many_reads(void)
{
    ExanetTest *t = exanet_start("");
    struct exanet_read_req req = exanet_read_of_peer(SRC, SINK_BASE, 64, 0);
    struct exanet_read_req other = exanet_read_of_peer(SRC, SINK_BASE, 64,
                                            RNIC_PREP(EXANET_READ_REQ_OWNER, 1));
    unsigned taken = 0, gen = 0, full = 0;
    ExanetRemote r;

    exanet_remote_init(&r, SINK_BASE, BLOCK);
    for (unsigned i = 0; i < 600 && full < 3; i++) {
        enum exanet_resp resp;

        gen = (gen + 1) % 64;
        exanet_read_send(t, &req, gen, 0);
        /* the test acks no data, so the channel stays in use */
        resp = read_resp(t, gen);
        if (resp == EXANET_RESP_FULL) {
            full++;
        } else {
            g_assert_cmpuint(resp, ==, EXANET_RESP_ACK);
            g_assert_cmpuint(full, ==, 0);
            taken++;
        }
    }
    g_assert_cmpuint(full, ==, 3);
    g_assert_cmpuint(taken, >=, EXANET_READ_CHANNELS);
    g_assert_cmpuint(exanet_count(t, RT_REQ_FULL), ==, 3);
    g_assert_cmpuint(exanet_channel_state(t, 0, EXANET_CHANNELS - 1), ==,
                     EXANET_CHANNEL_ACTIVE);
    /* reads of another process have channels of their own */
    gen = (gen + 1) % 64;
    exanet_read_send(t, &other, gen, 0);
    exanet_wait(t, exanet_channel_state(t, 1, EXANET_WRITE_CHANNELS) ==
                EXANET_CHANNEL_ACTIVE);
    /* all reads end, after the timeouts of the lost packets */
    exanet_pump(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    for (unsigned i = 0; i < 100 &&
         exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE); i++) {
        exanet_step(t, TIMEOUT_NS);
        exanet_remote_run(t, &r);
        exanet_settle(t);
        exanet_remote_run(t, &r);
        exanet_settle(t);
    }
    g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE), ==, 0);
    g_assert_cmpuint(r.blocks, >=, taken + 1);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/* Sends @count reads with the PDID of another job, and drops the responses. */
static void send_alien_reads(ExanetTest *t, const struct exanet_read_req *req,
                             unsigned count)
{
    ExanetPacket pkt = {
        .type = EXANET_TYPE_READ_REQ, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(5) ^ 1 << 4, .size = sizeof(*req),
        .va = EXANET_NI_VA(EXANET_NI_RT_REQUEST),
        .payload = (const uint8_t *)req,
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER), .first = true, .last = true,
    };
    uint64_t before = exanet_count(t, RX_READ_REQ);

    for (unsigned i = 0; i < count; i++) {
        pkt.tid = RNIC_PREP(EXANET_PTID_GEN, i) |
                  RNIC_PREP(EXANET_PTID_CTX, 5);
        exanet_peer_send(t->peer, &pkt);
        exanet_wait(t, exanet_count(t, RX_READ_REQ) == before + i + 1);
    }
    exanet_settle(t);
    g_queue_clear_full(&t->peer->packets, g_free);
}

/* Reads that the job does not permit take no channel or place in the queue. */
static void test_alien_reads(void)
{
    ExanetTest *t = exanet_start("");
    struct exanet_read_req req = exanet_read_of_peer(SRC, SINK_BASE, 64, 0);
    unsigned gen;

    for (gen = 1; gen <= EXANET_READ_CHANNELS; gen++) {
        exanet_read_send(t, &req, gen, 0);
        g_assert_cmpuint(read_resp(t, gen), ==, EXANET_RESP_ACK);
    }
    send_alien_reads(t, &req, 300);
    g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE), ==,
                     EXANET_READ_CHANNELS);
    exanet_read_send(t, &req, gen, 0);
    g_assert_cmpuint(read_resp(t, gen), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RT_REQ_FULL), ==, 0);
    exanet_stop(t);
}

/* A read from this node to itself: packetizer, RT mailbox, write, notification. */
static void test_read_loopback(void)
{
    ExanetTest *t = exanet_start("");
    struct exanet_read_req req = {
        .src = cpu_to_le64(SRC),
        .dst = cpu_to_le64(exanet_gva(EXANET_TEST_NODE, DST)),
        .notify_gva = cpu_to_le64(exanet_gva(EXANET_TEST_NODE,
                                             EXANET_RAM_NOTE)),
        .ctrl = cpu_to_le64(30000 | EXANET_READ_REQ_NOTIFY |
                            RNIC_PREP(EXANET_READ_REQ_OWNER, 1)),
        .notify_data = cpu_to_le64(0xdada), .tag = cpu_to_le64(0x4711),
    };
    g_autofree uint8_t *src = g_malloc(30000);

    exanet_fill(t, SRC, src, 30000, 6);
    qtest_memset(t->qts, EXANET_RAM_NOTE, 0, 16);
    exanet_pktz_start(t, 0, 2, exanet_gva(EXANET_TEST_NODE,
                      EXANET_NI_VA(EXANET_NI_RT_REQUEST)), &req,
                      EXANET_READ_REQ_USER_BYTES, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ));
    exanet_wait(t, qtest_readq(t->qts, EXANET_RAM_NOTE + 8));
    g_assert_cmphex(qtest_readq(t->qts, EXANET_RAM_NOTE), ==, 0xdada);
    g_assert_cmphex(qtest_readq(t->qts, EXANET_RAM_NOTE + 8), ==,
                    EXANET_NOTIFICATION_VALID | 30000 |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, 0x4711));
    exanet_assert_mem(t, DST, src, 30000);
    g_assert_cmpuint(exanet_pktz_state(t, 0, 2), ==, EXANET_PKTZ_ACKED);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware/read-notify-t20", test_notify);
    qtest_add_func("/exanet/firmware/read-notify-timeout-t20",
                   test_notify_timeout);
    qtest_add_func("/exanet/firmware/read-irq-done", test_irq_done);
    qtest_add_func("/exanet/firmware/read-loopback", test_loopback);
    qtest_add_func("/exanet/firmware/read-one-t21", test_read);
    qtest_add_func("/exanet/firmware/read-bad-reads-t21", test_bad_reads);
    qtest_add_func("/exanet/firmware/read-many-reads-t21", test_many_reads);
    qtest_add_func("/exanet/firmware/read-alien-reads-t21", test_alien_reads);
    qtest_add_func("/exanet/firmware/read-loopback-t21",
                   test_read_loopback);
    return g_test_run();
}
