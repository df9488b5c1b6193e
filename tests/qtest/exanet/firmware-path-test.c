/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several paths to the same node: the path of each block, and blocks that arrive in any
 * order.  The test is the node at the other end of two cables.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "../common/random.h"
#include "remote.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define BLOCK EXANET_BLOCK_BYTES
#define BASE EXANET_REMOTE_BASE
#define TIMEOUT_NS ((int64_t)EXANET_FW_TIMEOUT_DEFAULT)

static ExanetTest *start_two(void)
{
    static const uint32_t peers[] = { EXANET_TEST_PEER, EXANET_TEST_PEER };

    return exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
}

/*
 * Writes @blocks blocks from channel 0 with the bits @ctrl and a notification; asserts
 * that all blocks arrive without a retry.
 */
static void check_write(ExanetTest *t, ExanetRemote *r, unsigned blocks,
                        uint64_t ctrl)
{
    g_autofree uint8_t *src = g_malloc(blocks * BLOCK);
    ExanetTransfer x = exanet_to_peer(SRC, BASE, blocks * BLOCK);

    exanet_fill(t, SRC, src, blocks * BLOCK, blocks + ctrl);
    exanet_remote_init(r, BASE, blocks * BLOCK);
    x.ctrl = EXANET_CHANNEL_NOTIFY | ctrl;
    x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x7000);
    exanet_channel_start(t, 0, 0, &x);
    exanet_wait(t, (exanet_remote_run(t, r),
                    exanet_channel_state(t, 0, 0) >= EXANET_CHANNEL_DONE));
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_remote_assert(r, BASE, src, blocks * BLOCK);
    g_assert_cmpuint(exanet_channel_retries(t, 0, 0), ==, 0);
    g_assert_cmpuint(r->blocks, ==, blocks);
    g_assert_cmpuint(r->controls, ==, 1);
    exanet_remote_fini(r);
}

static void test_hint(void)
{
    ExanetTest *t = start_two();
    ExanetRemote r;

    for (unsigned path = 0; path < EXANET_PATHS; path++) {
        check_write(t, &r, 5, RNIC_PREP(EXANET_CHANNEL_PATH, path));
        g_assert_cmpuint(r.port[path & 1], ==, 5 * EXANET_BLOCK_PACKETS);
        g_assert_cmpuint(r.port[!(path & 1)], ==, 0);
    }
    /* MULTIPATH lets the firmware choose any path */
    check_write(t, &r, 16, EXANET_CHANNEL_MULTIPATH);
    g_assert_cmpuint(r.port[0], ==, 8 * EXANET_BLOCK_PACKETS);
    g_assert_cmpuint(r.port[1], ==, 8 * EXANET_BLOCK_PACKETS);
    exanet_stop(t);
}

/* Blocks alternate between both paths, with and without chains. */
static void test_round_robin(void)
{
    ExanetTest *t = start_two();
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 8 * BLOCK);
    ExanetRemote r;

    exanet_fw_set(t, EXANET_REG_FW_MULTIPATH, EXANET_FW_PATH_ROUND_ROBIN);
    /* a chain on one cable does not wait for the other cable */
    exanet_channel_start(t, 1, 1, &x);
    for (unsigned i = 0; i < 2; i++) {
        exanet_wait(t, g_queue_get_length(&t->ports[i]->packets) ==
                    4 * EXANET_BLOCK_PACKETS);
    }
    exanet_remote_init(&r, BASE, 8 * BLOCK);
    exanet_remote_run(t, &r);
    exanet_channel_wait(t, 1, 1, EXANET_CHANNEL_DONE);
    exanet_remote_fini(&r);
    for (unsigned chain = 0; chain < 2; chain++) {
        exanet_fw_set(t, EXANET_REG_FW_CHAIN, chain);
        check_write(t, &r, 50, RNIC_PREP(EXANET_CHANNEL_PATH, 1));
        g_assert_cmpuint(r.port[0], ==, 25 * EXANET_BLOCK_PACKETS);
        g_assert_cmpuint(r.port[1], ==, 25 * EXANET_BLOCK_PACKETS);
    }
    exanet_fw_set(t, EXANET_REG_FW_MULTIPATH, EXANET_FW_PATH_HINT);
    check_write(t, &r, 4, 0);
    g_assert_cmpuint(r.port[1], ==, 0);
    exanet_stop(t);
}

/* A cable without acks gets three blocks; all other blocks leave by the other cable. */
static void test_least(void)
{
    ExanetTest *t = start_two();
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 64 * 256);
    unsigned came[2] = { 0, 0 };

    exanet_fw_set(t, EXANET_REG_FW_MULTIPATH, EXANET_FW_PATH_LEAST);
    exanet_fw_set(t, EXANET_REG_FW_BLOCK, 256);
    exanet_fw_set(t, EXANET_REG_FW_WINDOW, 6);
    exanet_channel_start(t, 0, 0, &x);
    for (unsigned n = 0; n < 64 - 3; n++) {
        ExanetPacket pkt = exanet_take_single(t->ports[1], 0);

        came[1]++;
        g_assert_cmpuint(g_queue_get_length(&t->ports[0]->packets), <=, 3);
        exanet_peer_ack(t->ports[1], &pkt, EXANET_RESP_ACK);
    }
    while (exanet_channel_state(t, 0, 0) != EXANET_CHANNEL_DONE) {
        ExanetPacket pkt = exanet_take_single(t->ports[0], 0);

        came[0]++;
        exanet_peer_ack(t->ports[0], &pkt, EXANET_RESP_ACK);
        exanet_settle(t);
    }
    g_assert_cmpuint(came[0], ==, 3);
    g_assert_cmpuint(came[1], ==, 61);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/*
 * Each copy takes the other path than the copy before, after a timeout as well as after
 * CRC.
 */
static void test_retry(void)
{
    ExanetTest *t = start_two();
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 100);
    ExanetPacket pkt;

    x.ctrl = EXANET_CHANNEL_NOTIFY;
    x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x7000);
    exanet_channel_start(t, 0, 0, &x);
    for (unsigned seq = 0; seq < 6; seq++) {
        ExanetPeer *p = t->ports[seq & 1];

        /* the control packet of a copy takes the same path */
        g_free(exanet_peer_take_type(p, EXANET_TYPE_CONTROL));
        pkt = exanet_take_single(p, seq);
        g_assert_cmpuint(pkt.path, ==, seq & 1);
        exanet_assert_quiet(t);
        if (seq % 3 == 0) {
            exanet_step(t, 40 * TIMEOUT_NS);
        } else if (seq < 5) {
            exanet_peer_ack(p, &pkt, EXANET_RESP_CRC);
        }
    }
    /* the ack may arrive by either cable */
    exanet_peer_ack(t->ports[0], &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    g_assert_cmpuint(exanet_channel_retries(t, 0, 0), ==, 5);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Each copy of a message of the packetizer takes the other path, too. */
static void test_retry_message(void)
{
    ExanetTest *t = start_two();
    uint8_t payload[8] = { 0x17, 0x2a };

    exanet_pktz_start(t, 0, 3, exanet_gva(EXANET_TEST_PEER, 0x1000), payload, 8,
                      EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_WRITE));
    for (unsigned seq = 0; seq < 4; seq++) {
        ExanetPacket pkt = exanet_take_single(t->ports[seq & 1], seq);

        g_assert_cmpuint(pkt.path, ==, seq & 1);
        if (seq == 3) {
            exanet_peer_ack(t->ports[0], &pkt, EXANET_RESP_ACK);
        }
        exanet_step(t, 1000 * EXANET_MS);
    }
    g_assert_cmpuint(exanet_pktz_state(t, 0, 3), ==, EXANET_PKTZ_ACKED);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* A cable goes down while blocks are under way on both cables. */
static void test_cut(void)
{
    ExanetTest *t = start_two();
    g_autofree uint8_t *src = g_malloc(40 * BLOCK);
    ExanetTransfer x = exanet_to_peer(SRC, BASE, 40 * BLOCK);
    ExanetRemote r;

    exanet_fill(t, SRC, src, 40 * BLOCK, 4);
    exanet_remote_init(&r, BASE, 40 * BLOCK);
    exanet_fw_set(t, EXANET_REG_FW_MULTIPATH, EXANET_FW_PATH_ROUND_ROBIN);
    exanet_fw_set(t, EXANET_REG_FW_WINDOW, 8);
    exanet_channel_start(t, 0, 0, &x);
    exanet_settle(t);
    g_assert_cmpuint(exanet_peer_take(t->ports[1])->pkt.seq, ==, 0);
    g_queue_clear_full(&t->ports[1]->packets, g_free);
    exanet_set32(t, EXANET_PORT(1) + EXANET_REG_PORT_CTRL, 0);
    exanet_wait(t, t->ports[1]->downs);
    g_queue_clear_full(&t->ports[1]->packets, g_free);
    while (exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE) {
        exanet_remote_run(t, &r);
        exanet_step(t, TIMEOUT_NS / 2);
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_remote_assert(&r, BASE, src, 40 * BLOCK);
    g_assert_cmpuint(r.port[1], ==, 0);
    /* each of the four blocks on the lost cable is repeated once */
    g_assert_cmpuint(exanet_channel_retries(t, 0, 0), ==, 4);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/* --- The other end: blocks and their packets in any order, on both cables --- */

typedef struct Incoming {
    ExanetBlock b;
    /* numbers of packets in the order of sending; the highest is the control packet */
    unsigned order[EXANET_BLOCK_PACKETS + 1];
    unsigned sent;
} Incoming;

static void incoming_init(Incoming *in, unsigned n, GRand *rand)
{
    unsigned packets;
    uint8_t *data;

    in->b = (ExanetBlock) {
        .va = DST + n * BLOCK + n, .len = 500 + 400 * n, .tid = 17 * n,
        .pdid = EXANET_TEST_PDID(0), .notify = true,
    };
    in->b.data = data = g_malloc(in->b.len);
    random_bytes(rand, data, in->b.len);
    packets = exanet_block_packets(&in->b);
    in->sent = 0;
    for (unsigned i = 0; i <= packets; i++) {
        unsigned j = g_rand_int_range(rand, 0, i + 1);

        in->order[i] = in->order[j];
        in->order[j] = i;
    }
}

static void incoming_send(ExanetTest *t, Incoming *in, unsigned n, GRand *rand)
{
    ExanetPeer *p = t->ports[g_rand_int_range(rand, 0, 2)];
    unsigned what = in->order[in->sent++];

    if (what < exanet_block_packets(&in->b)) {
        exanet_peer_send_part(p, &in->b, what, what + 1);
    } else {
        exanet_peer_send_control(p, &in->b,
                                 exanet_gva(EXANET_TEST_NODE, NOTE + 16 * n),
                                 0x1000 + n, in->b.len);
    }
}

static void test_any_order(void)
{
    ExanetTest *t = start_two();
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(6));
    Incoming in[30];
    unsigned open = ARRAY_SIZE(in);

    qtest_memset(t->qts, NOTE, 0, 16 * ARRAY_SIZE(in));
    for (unsigned n = 0; n < ARRAY_SIZE(in); n++) {
        incoming_init(&in[n], n, rand);
    }
    while (open) {
        unsigned n = g_rand_int_range(rand, 0, ARRAY_SIZE(in));

        if (in[n].sent <= exanet_block_packets(&in[n].b)) {
            incoming_send(t, &in[n], n, rand);
            open -= in[n].sent > exanet_block_packets(&in[n].b);
        }
    }
    exanet_wait(t, exanet_count(t, NOTIFY_DONE) == ARRAY_SIZE(in));
    exanet_settle(t);
    g_assert_cmpuint(exanet_count(t, TX_ACK), ==, ARRAY_SIZE(in));
    g_assert_cmpuint(exanet_count(t, NACK_SENT), ==, 0);
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, ARRAY_SIZE(in));
    for (unsigned n = 0; n < ARRAY_SIZE(in); n++) {
        exanet_assert_mem(t, in[n].b.va, in[n].b.data, in[n].b.len);
        g_assert_cmphex(qtest_readq(t->qts, NOTE + 16 * n), ==, 0x1000 + n);
        g_free((void *)in[n].b.data);
    }
    exanet_stop(t);
}

/*
 * An ack has no source, so a TID that is used for another node must not keep the
 * generation of its last block.
 */
static void test_other_node(void)
{
    static const uint32_t peers[] = {
        EXANET_TEST_NODE ^ 1 << 12, EXANET_TEST_NODE ^ 2 << 12,
    };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
    uint16_t last[EXANET_TIDS] = { 0 };
    unsigned tids = EXANET_TIDS / EXANET_CONTEXTS, repeated = 0;

    for (unsigned n = 0; n < 20 * tids; n++) {
        /* each TID alternates: one block to the second node, then two to the first */
        ExanetPeer *p = t->ports[n / tids % 3 == 1];
        ExanetTransfer x = {
            .src = SRC, .dst = exanet_gva(p->coord, BASE), .len = 64,
        };
        g_autofree ExanetRxPacket *rx = NULL;
        unsigned tid;

        exanet_channel_start(t, 0, 0, &x);
        rx = exanet_peer_take_type(p, EXANET_TYPE_WRITE);
        tid = RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid);
        g_assert_cmphex(rx->pkt.tid, !=, last[tid]);
        repeated += last[tid] != 0;
        last[tid] = rx->pkt.tid;
        exanet_peer_ack(p, &rx->pkt, EXANET_RESP_ACK);
        exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    }
    g_assert_cmpuint(repeated, ==, 19 * tids);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware-peer/path-hint", test_hint);
    qtest_add_func("/exanet/firmware-peer/path-round-robin", test_round_robin);
    qtest_add_func("/exanet/firmware-peer/path-least", test_least);
    qtest_add_func("/exanet/firmware-peer/path-retry", test_retry);
    qtest_add_func("/exanet/firmware-peer/path-retry-message",
                   test_retry_message);
    qtest_add_func("/exanet/firmware-peer/path-cut", test_cut);
    qtest_add_func("/exanet/firmware-peer/path-any-order", test_any_order);
    qtest_add_func("/exanet/firmware-peer/path-other-node", test_other_node);
    return g_test_run();
}
