/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link port: HELLO, link up and down, XOFF and XON, and many packets in a frame. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "link.h"

#define DST EXANET_RAM_DST
#define SRC EXANET_RAM_SRC
#define PORT EXANET_PORT(0)

/* --- HELLO ----------------------------------------------------------------- */

static void test_hello(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    ExanetPeer *p = t->peer;

    p->silent = true;
    exanet_step(t, 100 * EXANET_MS);
    exanet_wait(t, p->hellos > 0);
    g_assert_cmphex(p->hello.coord, ==, EXANET_TEST_NODE);
    g_assert_cmpuint(p->hello.epoch, ==, EXANET_TEST_EPOCH);
    g_assert_cmpuint(p->hello.flags, ==, EXANET_HELLO_RUNS);
    g_assert_cmpuint(p->hello.peer_epoch, ==, 0);
    g_assert_cmpuint(p->hello.rx_words, ==, 16384);
    g_assert_cmpuint(p->hello.max_words, >=, EXANET_PACKET_WORDS);
    g_assert_cmpuint(p->hello.max_words * EXANET_WORD_BYTES, <=,
                     RNIC_FRAME_MAX);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));

    /*
     * the device has the peer's HELLO, but the peer has not confirmed the device's: the
     * link is still down
     */
    exanet_peer_hello(p, false);
    exanet_wait(t, p->heard);
    g_assert_cmphex(exanet_get32(t, PORT + EXANET_REG_PORT_PEER), ==,
                    EXANET_TEST_PEER);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    g_assert_cmphex(exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK,
                    ==, 0);
    exanet_peer_hello(p, true);
    exanet_wait(t, exanet_link_is(t, EXANET_PORT_STATUS_UP));
    g_assert_true(exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_LINK);
    exanet_stop(t);
}

/*
 * The device repeats HELLO at least each second while the link is down, and at least
 * every five seconds while it is up.
 */
static void test_hello_repeats(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    unsigned hellos;

    t->peer->silent = true;
    for (unsigned i = 0; i < 3; i++) {
        hellos = t->peer->hellos;
        exanet_step(t, 1000 * EXANET_MS);
        exanet_wait(t, t->peer->hellos > hellos);
    }
    t->peer->silent = false;
    exanet_bring_up(t);
    hellos = t->peer->hellos;
    exanet_step(t, 5000 * EXANET_MS);
    exanet_wait(t, t->peer->hellos > hellos);
    g_assert_true(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_stop(t);
}

static void test_down(void)
{
    ExanetTest *t = exanet_start("");
    ExanetDesc d = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST), .len = 512,
        .pdid = EXANET_TEST_PDID(0),
    };

    exanet_link_assert_works(t, 1);
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_LINK);
    t->peer->silent = true;
    exanet_peer_frame(t->peer, RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !exanet_link_is(t, EXANET_PORT_STATUS_UP));
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_LINK);
    /* a packet that is sent now is lost */
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_desc_write(t, 3, &d);
    exanet_wait(t, exanet_desc_get(t, 3, 3) & EXANET_DESC_W3_DONE);
    exanet_assert_quiet(t);
    t->peer->silent = false;
    exanet_bring_up(t);
    exanet_assert_quiet(t);
    /* the receiver still knows the peer, because the epoch is the same */
    exanet_link_assert_works(t, 2);
    exanet_stop(t);
}

static void test_cable_pulled(void)
{
    ExanetTest *t = exanet_start("");

    close(t->peer->wire.fd);
    t->peer->wire.fd = -1;
    exanet_settle(t);
    /*
     * the netdev does not report the loss of its other end; the port notices that no
     * HELLO arrives
     */
    exanet_step(t, 2000 * EXANET_MS);
    exanet_wait(t, !exanet_link_is(t, EXANET_PORT_STATUS_UP));
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_LINK);
    exanet_step(t, 10000 * EXANET_MS);
    exanet_stop(t);
}

static void set_link(ExanetTest *t, const char *name, bool up)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'set_link', 'arguments': "
                             "{ 'name': %s, 'up': %i } }", name, up);
}

static void test_set_link(void)
{
    ExanetTest *t = exanet_start("");

    for (unsigned i = 0; i < 2; i++) {
        set_link(t, "wire", false);
        exanet_wait(t, !exanet_link_is(t, EXANET_PORT_STATUS_UP));
        exanet_step(t, 2000 * EXANET_MS);
        set_link(t, "wire", true);
        exanet_bring_up(t);
        exanet_link_assert_works(t, 1 + i);
    }
    exanet_stop(t);
}

static void test_timeout(void)
{
    ExanetTest *t = exanet_start(",link-timeout-ms=300");

    t->peer->silent = true;
    exanet_step(t, 100 * EXANET_MS);
    exanet_peer_hello(t->peer, true);
    exanet_step(t, 250 * EXANET_MS);
    g_assert_true(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_step(t, 5000 * EXANET_MS);
    exanet_step(t, 5000 * EXANET_MS);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    t->peer->silent = false;
    exanet_bring_up(t);
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

static void test_disable_port(void)
{
    ExanetTest *t = exanet_start("");
    unsigned downs = t->peer->downs;

    exanet_set32(t, PORT + EXANET_REG_PORT_CTRL, 0);
    exanet_wait(t, t->peer->downs == downs + 1);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_peer_hello(t->peer, true);
    exanet_step(t, 2000 * EXANET_MS);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_set32(t, PORT + EXANET_REG_PORT_CTRL, EXANET_PORT_CTRL_ENABLE);
    exanet_bring_up(t);
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

static void test_conflict(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    t->peer->coord = EXANET_TEST_NODE;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, exanet_link_is(t, EXANET_PORT_STATUS_CONFLICT));
    exanet_peer_hello(t->peer, true);
    exanet_settle(t);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    t->peer->coord = EXANET_TEST_PEER;
    exanet_bring_up(t);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_CONFLICT));
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_link_assert_works(t, 1);
    /* a conflict while the link is up */
    t->peer->coord = EXANET_TEST_NODE;
    exanet_peer_hello(t->peer, true);
    exanet_wait(t, exanet_link_is(t, EXANET_PORT_STATUS_CONFLICT));
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_stop(t);
}

/*
 * New coordinates of the device or of the peer: the link goes down, and comes up again.
 */
static void test_new_coordinates(void)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_REG_NODE, 0x2a2a2);
    exanet_wait(t, t->peer->node == 0x2a2a2);
    exanet_wait(t, exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_link_assert_works(t, 1);
    t->peer->coord = 0x11;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, exanet_get32(t, PORT + EXANET_REG_PORT_PEER) == 0x11);
    exanet_wait(t, exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

/* --- Flow control ---------------------------------------------------------- */

static void test_xoff_sent(void)
{
    ExanetTest *t = exanet_start(",rx-fifo-words=256");
    unsigned level = EXANET_RX_FIFO_WORDS - EXANET_XOFF_MARGIN;
    uint64_t acks = exanet_count(t, RX_ACK);

    g_assert_cmpuint(t->peer->hello.rx_words, ==, EXANET_RX_FIFO_WORDS);
    g_assert_cmpuint(t->peer->hello.max_words, <=, EXANET_RX_FIFO_WORDS);
    exanet_link_send_acks(t, level);
    exanet_wait(t, exanet_count(t, RX_ACK) == acks + level);
    g_assert_cmpuint(t->peer->xoffs, ==, 0);
    exanet_link_send_acks(t, level + 1);
    exanet_wait(t, t->peer->xoffs == 1 && t->peer->xons == 1);
    g_assert_cmpuint(exanet_count(t, RX_ACK), ==, acks + 2 * level + 1);
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_XOFF_SENT), ==, 1);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_XOFF));
    g_assert_cmpuint(exanet_get32(t, PORT + EXANET_REG_PORT_LEVEL), ==, 0);
    /* the levels of XOFF and XON are registers */
    exanet_set32(t, PORT + EXANET_REG_PORT_XOFF, 10);
    exanet_set32(t, PORT + EXANET_REG_PORT_XON, 5);
    exanet_link_send_acks(t, 11);
    exanet_wait(t, t->peer->xoffs == 2 && t->peer->xons == 2);
    /* a frame that is longer than the FIFO is dropped */
    exanet_link_send_acks(t, EXANET_RX_FIFO_WORDS + 1);
    exanet_wait(t, exanet_link_count(t, EXANET_REG_PORT_DROPPED) == 1);
    exanet_link_send_acks(t, EXANET_RX_FIFO_WORDS);
    exanet_wait(t, exanet_count(t, RX_ACK) ==
                acks + 2 * level + 12 + EXANET_RX_FIFO_WORDS);
    exanet_stop(t);
}

/* Blocks of more bytes than the FIFO holds, sent without a pause: no packet is lost. */
static void test_saturation(void)
{
    ExanetTest *t = exanet_start(",rx-fifo-words=256");
    g_autofree uint8_t *data = g_malloc(EXANET_BLOCK_BYTES);
    unsigned blocks = 100;

    for (unsigned i = 0; i < EXANET_BLOCK_BYTES; i++) {
        data[i] = i * 7 + i / 256;
    }
    for (unsigned i = 0; i < blocks; i++) {
        ExanetBlock b = {
            .va = DST + i * EXANET_BLOCK_BYTES, .data = data,
            .len = EXANET_BLOCK_BYTES, .tid = i, .pdid = EXANET_TEST_PDID(0),
        };

        for (unsigned n = 0; n < EXANET_BLOCK_PACKETS; n += 13) {
            exanet_peer_send_part(t->peer, &b, n,
                                  MIN(n + 13, EXANET_BLOCK_PACKETS));
        }
    }
    for (unsigned i = 0; i < blocks; i++) {
        g_assert_cmpuint(exanet_peer_take_resp(t->peer, i, 0), ==,
                         EXANET_RESP_ACK);
        exanet_assert_mem(t, DST + i * EXANET_BLOCK_BYTES, data,
                          EXANET_BLOCK_BYTES);
    }
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_DROPPED), ==, 0);
    g_assert_cmpuint(exanet_count(t, RX_DUPLICATE), ==, 0);
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_RX_PACKETS), ==,
                     blocks * EXANET_BLOCK_PACKETS);
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_RX_WORDS), ==,
                     blocks * EXANET_BLOCK_PACKETS * EXANET_PACKET_WORDS);
    exanet_stop(t);
}

static void test_xoff_received(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST), .len = 256,
        .pdid = EXANET_TEST_PDID(0),
    };
    static const uint8_t data[16];
    ExanetBlock b = {
        .va = DST, .data = data, .len = 16, .tid = 9,
        .pdid = EXANET_TEST_PDID(0),
    };

    exanet_xoff(t);
    exanet_xoff(t);
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_XOFF_RECEIVED), ==, 2);
    exanet_desc_write(t, 1, &d);
    exanet_peer_send_block(t->peer, &b);    /* its ack waits for XON, too */
    exanet_assert_quiet(t);
    exanet_step(t, 100 * EXANET_MS);
    exanet_assert_quiet(t);
    exanet_xon(t);
    for (unsigned i = 0; i < 2; i++) {
        ExanetRxPacket *rx = exanet_peer_take(t->peer);

        g_assert_cmphex(rx->pkt.tid, ==,
                        rx->pkt.type == EXANET_TYPE_ACK ? 9 : 1);
        g_free(rx);
    }
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_PEER_XOFF));
    /* XOFF ends when the peer restarts */
    exanet_xoff(t);
    t->peer->epoch++;
    exanet_bring_up(t);
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

/* --- Frames ---------------------------------------------------------------- */

/*
 * Asserts that a block arrives in at most @frames_max frames of at most @max_words
 * words.
 */
static void check_batching(uint32_t max_words, unsigned frames_max)
{
    ExanetTest *t = exanet_start_cold("", false);
    g_autofree uint8_t *src = g_malloc(EXANET_BLOCK_BYTES);
    ExanetDesc d = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST),
        .len = EXANET_BLOCK_BYTES, .pdid = EXANET_TEST_PDID(0),
    };
    ExanetSink sink;
    bool complete = false;

    t->peer->max_words = max_words;
    exanet_bring_up(t);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_fill(t, SRC, src, EXANET_BLOCK_BYTES, 3);
    exanet_sink_init(&sink, DST, EXANET_BLOCK_BYTES);
    exanet_desc_write(t, 1, &d);
    while (!complete) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);

        complete = exanet_sink_store(&sink, &rx->pkt);
    }
    g_assert_cmpmem(sink.image, sink.bytes, src, EXANET_BLOCK_BYTES);
    g_assert_cmpuint(t->peer->data_frames, <=, frames_max);
    g_assert_cmpuint(t->peer->data_frames * max_words, >=,
                     EXANET_BLOCK_PACKETS * EXANET_PACKET_WORDS);
    exanet_sink_fini(&sink);
    exanet_stop(t);
}

static void test_batching(void)
{
    check_batching(EXANET_PEER_WORDS, 4);
    check_batching(10 * EXANET_PACKET_WORDS, 16);
    check_batching(EXANET_PACKET_WORDS, EXANET_BLOCK_PACKETS);
}

/* A frame of the maximum length of a netdev is accepted or dropped as a whole. */
static void test_longest_frame(void)
{
    ExanetTest *t = exanet_start("");
    unsigned words = (RNIC_FRAME_MAX - sizeof(struct rnic_frame)) /
                     EXANET_WORD_BYTES;

    exanet_link_send_acks(t, words);
    exanet_wait(t, exanet_count(t, RX_ACK) +
                exanet_link_count(t, EXANET_REG_PORT_DROPPED) > 0);
    exanet_settle(t);
    g_assert_true(exanet_link_count(t, EXANET_REG_PORT_DROPPED) == 1 ||
                  exanet_count(t, RX_ACK) == words);
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

/* A cable by a datagram socket, which keeps frames apart, and may lose them. */
static void test_dgram(void)
{
    ExanetTest *t = exanet_start_cold("", true);

    exanet_bring_up(t);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_link_assert_works(t, 1);
    exanet_peer_raw(t->peer, "", 1);
    exanet_link_assert_works(t, 2);
    exanet_stop(t);
}

/* The socket of the netdev does not exist: the link stays down, and the device works. */
static void test_no_listener(void)
{
    ExanetTest *t = exanet_start_netdev("stream,server=on,addr.type=unix,"
                                        "addr.path=/nonexistent/socket",
                                        EXANET_TEST_NODE, "");

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_step(t, 1000 * EXANET_MS);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_stop(t);
}

/* A peer that sends, but never reads: the device drops acks. */
static void test_deaf_peer(void)
{
    ExanetTest *t = exanet_start("");
    static const uint8_t data[16];
    ExanetBlock b = {
        .va = DST, .data = data, .len = 16, .pdid = EXANET_TEST_PDID(0),
    };
    g_autofree uint8_t *buf = g_malloc(1000 * EXANET_PACKET_BYTES);

    for (unsigned i = 0; i < 300; i++) {
        unsigned words = 0;

        for (unsigned n = 0; n < 1000; n++) {
            ExanetPacket pkt;

            b.tid = n;
            b.seq = i;
            pkt = exanet_block_packet(t->peer, &b, 0);
            words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
        }
        exanet_peer_words(t->peer, buf, words);
        exanet_get32(t, EXANET_REG_ID);
    }
    /* the device has not stored an ack for each packet */
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_DROPPED), >, 0);
    wait_until(exanet_peer_poll(t->peer, 100), wait_pause());
    exanet_settle(t);
    exanet_pump(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    exanet_settle(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/port/hello", test_hello);
    qtest_add_func("/exanet/port/hello-repeats", test_hello_repeats);
    qtest_add_func("/exanet/port/down-t25", test_down);
    qtest_add_func("/exanet/port/cable-pulled-t25", test_cable_pulled);
    qtest_add_func("/exanet/port/set-link-t25", test_set_link);
    qtest_add_func("/exanet/port/timeout-t25", test_timeout);
    qtest_add_func("/exanet/port/disable-port-t25", test_disable_port);
    qtest_add_func("/exanet/port/conflict", test_conflict);
    qtest_add_func("/exanet/port/new-coordinates", test_new_coordinates);
    qtest_add_func("/exanet/port/xoff-sent-t25", test_xoff_sent);
    qtest_add_func("/exanet/port/saturation-t25", test_saturation);
    qtest_add_func("/exanet/port/xoff-received-t25", test_xoff_received);
    qtest_add_func("/exanet/port/batching", test_batching);
    qtest_add_func("/exanet/port/longest-frame", test_longest_frame);
    qtest_add_func("/exanet/port/dgram", test_dgram);
    qtest_add_func("/exanet/port/no-listener", test_no_listener);
    qtest_add_func("/exanet/port/deaf-peer", test_deaf_peer);
    return g_test_run();
}
