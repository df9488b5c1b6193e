/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of nodes in the receiver: their epochs, blocks that they released, and more
 * nodes than the table holds.  The peer is the switch behind which all these nodes are.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "tables.h"

#define NODE 0x4000                 /* coordinates with upper part 1 */
#define SWITCH 0x8000 /* upper part 2: an uplink to all nodes whose upper part is not 1 */
#define FAR 0x8002
#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define SOURCES_MAX 1024
#define TID_AGE_NS (60000 * EXANET_MS)
#define IDLE_NS (100 * EXANET_MS)

/* A node as which the test sends its next packets. */
typedef struct Node {
    uint32_t coord;
    uint8_t epoch;
} Node;

static ExanetTest *start(void)
{
    static const uint32_t peers[] = { SWITCH };

    return exanet_start_ports(NODE, peers, 1, "");
}

static ExanetBlock block(uint8_t *data, unsigned len, unsigned index,
                         unsigned gen)
{
    return (ExanetBlock) {
        .va = DST,
        .data = data,
        .len = len,
        .tid = RNIC_PREP(EXANET_TID_INDEX, index) |
               RNIC_PREP(EXANET_TID_GEN, gen),
        .pdid = EXANET_TEST_PDID(0),
    };
}

/* Sends packet @n of @b as @from. */
static void send_packet(ExanetTest *t, const Node *from, const ExanetBlock *b,
                        unsigned n)
{
    ExanetPacket pkt = exanet_block_packet(t->ports[0], b, n);

    pkt.src = from->coord;
    pkt.epoch = from->epoch;
    exanet_peer_send(t->ports[0], &pkt);
}

static void send_block(ExanetTest *t, const Node *from, const ExanetBlock *b)
{
    for (unsigned n = 0; n < exanet_block_packets(b); n++) {
        send_packet(t, from, b, n);
    }
}

static void send_release(ExanetTest *t, const Node *from, const ExanetBlock *b)
{
    ExanetPacket pkt = exanet_block_packet(t->ports[0], b, 0);

    pkt.type = EXANET_TYPE_RELEASE;
    pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    pkt.size = 0;
    pkt.first = pkt.last = false;
    pkt.src = from->coord;
    pkt.epoch = from->epoch;
    exanet_peer_send(t->ports[0], &pkt);
}

/* Asserts that the next packet of the device is the response @resp to @b for @from. */
static void assert_resp(ExanetTest *t, const Node *from, const ExanetBlock *b,
                        enum exanet_resp resp)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->ports[0], EXANET_TYPE_ACK);

    g_assert_cmphex(rx->pkt.dst, ==, from->coord);
    g_assert_cmphex(rx->pkt.epoch, ==, from->epoch);
    g_assert_cmphex(rx->pkt.tid, ==, b->tid);
    g_assert_cmpuint(rx->pkt.seq, ==, b->seq);
    g_assert_cmpuint(rx->pkt.resp, ==, resp);
}

static void assert_acked(ExanetTest *t, const Node *from, const ExanetBlock *b)
{
    assert_resp(t, from, b, EXANET_RESP_ACK);
    exanet_assert_mem(t, b->va, b->data, b->len);
}

static void fill(uint8_t *data, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++) {
        data[i] = i * 7 + seed + (i >> 8);
    }
}

static unsigned contexts(ExanetTest *t)
{
    unsigned used = 0;

    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        used += RNIC_GET(EXANET_RXC_KEY_VALID,
                         exanet_get64(t, EXANET_RX_DEBUG +
                                      i * sizeof(struct exanet_rx_context) +
                                      offsetof(struct exanet_rx_context, key)));
    }
    return used;
}

/* --- Release ----------------------------------------------------------------- */

static void test_release(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 7 };
    uint8_t data[1024];
    ExanetBlock b = block(data, sizeof(data), 33, 2);

    fill(data, sizeof(data), 1);
    qtest_memset(t->qts, DST, 0, sizeof(data));
    b.seq = 3;
    send_packet(t, &far, &b, 0);
    exanet_wait(t, contexts(t) == 1);
    /* the release of an older copy does not affect the newer copy */
    b.seq = 2;
    send_release(t, &far, &b);
    exanet_wait(t, exanet_count(t, RX_RELEASE) == 1);
    g_assert_cmpuint(contexts(t), ==, 1);
    g_assert_cmpuint(exanet_count(t, RX_CTX_RELEASED), ==, 0);
    b.seq = 3;
    send_release(t, &far, &b);
    exanet_wait(t, exanet_count(t, RX_RELEASE) == 2);
    g_assert_cmpuint(contexts(t), ==, 0);
    g_assert_cmpuint(exanet_count(t, RX_CTX_RELEASED), ==, 1);
    /* late packets open no context, and write nothing */
    send_packet(t, &far, &b, 1);
    b.seq = 1;
    send_packet(t, &far, &b, 2);
    exanet_wait(t, exanet_count(t, RX_OLD_SEQ) == 2);
    g_assert_cmpuint(contexts(t), ==, 0);
    exanet_assert_byte(t, DST + 256, 0, 512);
    exanet_assert_quiet(t);
    /* the next block of the generation has the next sequence number */
    b.seq = 4;
    send_block(t, &far, &b);
    assert_acked(t, &far, &b);
    /* a release of a complete block has no effect: further copies are acked again */
    send_release(t, &far, &b);
    exanet_wait(t, exanet_count(t, RX_RELEASE) == 3);
    b.seq = 5;
    send_packet(t, &far, &b, 0);
    assert_resp(t, &far, &b, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RX_REACK), ==, 1);
    g_assert_cmpuint(exanet_count(t, RX_CTX_RELEASED), ==, 1);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/*
 * A release that arrives before its block: the block is dropped.  Generations repeat
 * after 16 blocks.
 */
static void test_release_first(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 7 };
    uint8_t data[600];
    ExanetBlock b = block(data, sizeof(data), 6, 0);

    /* a node without any accepted packet cannot release a block */
    fill(data, sizeof(data), 1);
    send_block(t, &far, &b);
    assert_acked(t, &far, &b);
    for (unsigned round = 0; round < 40; round++) {
        fill(data, sizeof(data), round);
        b = block(data, sizeof(data), 5, round % 16);
        if (round % 3 == 0) {
            send_release(t, &far, &b);
            send_packet(t, &far, &b, 0);
            exanet_assert_quiet(t);
            g_assert_cmpuint(contexts(t), ==, 0);
        } else {
            send_block(t, &far, &b);
            assert_acked(t, &far, &b);
        }
    }
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 14);
    g_assert_cmpuint(exanet_count(t, RX_CTX_RELEASED), ==, 0);
    exanet_stop(t);
}

/* Releases of blocks that do not exist, and of blocks of other nodes, have no effect. */
static void test_release_others(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 7 }, farther = { FAR + 1, 7 };
    uint8_t data[512];
    ExanetBlock b = block(data, sizeof(data), 33, 2), other = b;

    fill(data, sizeof(data), 9);
    send_packet(t, &far, &b, 0);
    exanet_wait(t, contexts(t) == 1);
    send_release(t, &farther, &b);
    other.tid ^= 1 << 10;
    send_release(t, &far, &other);
    other.tid = b.tid ^ 1;
    send_release(t, &far, &other);
    exanet_wait(t, exanet_count(t, RX_RELEASE) == 3);
    g_assert_cmpuint(exanet_count(t, RX_CTX_RELEASED), ==, 0);
    send_packet(t, &far, &b, 1);
    assert_acked(t, &far, &b);
    exanet_stop(t);
}

/* --- Epochs of far nodes ------------------------------------------------------ */

static void test_epoch_far(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 100 };
    uint8_t data[600];
    ExanetBlock b = block(data, sizeof(data), 31, 0);
    ExanetBlock half = block(data, sizeof(data), 32, 0);

    fill(data, sizeof(data), 1);
    send_block(t, &far, &b);
    assert_acked(t, &far, &b);
    send_packet(t, &far, &half, 0);
    exanet_wait(t, contexts(t) == 1);
    /* the same TID, generation and sequence with a new epoch are a new block */
    far.epoch = 101;
    fill(data, sizeof(data), 2);
    send_block(t, &far, &b);
    assert_acked(t, &far, &b);
    g_assert_cmpuint(contexts(t), ==, 0);
    g_assert_cmpuint(exanet_count(t, RX_DUPLICATE), ==, 0);
    /* late packets of the old epoch are dropped */
    far.epoch = 100;
    send_packet(t, &far, &half, 1);
    send_release(t, &far, &b);
    exanet_wait(t, exanet_count(t, RX_OLD_GEN) == 2);
    exanet_assert_quiet(t);
    g_assert_cmpuint(contexts(t), ==, 0);
    /* the late packets did not bring back the old epoch */
    far.epoch = 101;
    b.seq = 1;
    send_packet(t, &far, &b, 0);
    assert_resp(t, &far, &b, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RX_REACK), ==, 1);
    exanet_stop(t);
}

/*
 * The last four epochs of a node are known as old, until no packet of them can be under
 * way.
 */
static void test_epochs_retired(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 0 };
    uint8_t data[100];
    ExanetBlock b = block(data, sizeof(data), 1, 0);

    fill(data, sizeof(data), 1);
    for (unsigned epoch = 50; epoch < 56; epoch++) {
        far.epoch = epoch;
        send_block(t, &far, &b);
        assert_acked(t, &far, &b);
    }
    for (unsigned epoch = 51; epoch < 55; epoch++) {
        far.epoch = epoch;
        send_block(t, &far, &b);
    }
    exanet_wait(t, exanet_count(t, RX_OLD_GEN) == 4);
    exanet_assert_quiet(t);
    exanet_step(t, TID_AGE_NS);
    far.epoch = 54;
    send_block(t, &far, &b);
    assert_acked(t, &far, &b);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 4);
    exanet_stop(t);
}

static ExanetPacket message(const Node *from, unsigned type, uint64_t va,
                            unsigned gen)
{
    static const uint8_t payload[64] = { 1, 2, 3 };

    return (ExanetPacket) {
        .type = type, .dst = NODE, .src = from->coord, .epoch = from->epoch,
        .pdid = EXANET_TEST_PDID(0), .va = va, .size = 16, .payload = payload,
        .tid = RNIC_PREP(EXANET_PTID_GEN, gen), .ttl = EXANET_TTL_MAX,
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .first = true, .last = true,
    };
}

static enum exanet_resp take_resp(ExanetTest *t, const Node *from)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->ports[0], EXANET_TYPE_ACK);

    g_assert_cmphex(rx->pkt.dst, ==, from->coord);
    g_assert_cmphex(rx->pkt.epoch, ==, from->epoch);
    return rx->pkt.resp;
}

/* The epoch is checked for messages, read requests and notifications, too. */
static void test_epoch_messages(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 20 };
    uint64_t read = EXANET_NI_VA(EXANET_NI_RT_REQUEST);
    ExanetPacket pkt = message(&far, EXANET_TYPE_WRITE, DST, 4);

    exanet_peer_send(t->ports[0], &pkt);
    g_assert_cmpuint(take_resp(t, &far), ==, EXANET_RESP_ACK);
    exanet_peer_send(t->ports[0], &pkt);
    g_assert_cmpuint(take_resp(t, &far), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, MSG_DUPLICATE), ==, 1);
    /* the same message with a new epoch is a new message */
    far.epoch = 21;
    pkt.epoch = 21;
    qtest_memset(t->qts, DST, 0, 16);
    exanet_peer_send(t->ports[0], &pkt);
    g_assert_cmpuint(take_resp(t, &far), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, MSG_DUPLICATE), ==, 1);
    exanet_assert_mem(t, DST, pkt.payload, 16);
    /* late packets of the old epoch have no effect and get no response */
    qtest_memset(t->qts, DST, 0, 16);
    far.epoch = 20;
    pkt = message(&far, EXANET_TYPE_WRITE, DST, 5);
    exanet_peer_send(t->ports[0], &pkt);
    pkt = message(&far, EXANET_TYPE_READ_REQ, read, 6);
    pkt.size = EXANET_READ_REQ_USER_BYTES;
    exanet_peer_send(t->ports[0], &pkt);
    pkt = message(&far, EXANET_TYPE_NOTIFY, DST, 0);
    pkt.user = EXANET_SMALL(EXANET_NI_RT_RESPONSE);
    exanet_peer_send(t->ports[0], &pkt);
    exanet_wait(t, exanet_count(t, RX_OLD_GEN) == 3);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0, 16);
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 0);
    exanet_stop(t);
}

/*
 * The answer of the driver to a page fault goes to the node with the epoch that sent
 * the block.
 */
static void test_epoch_fault(void)
{
    ExanetTest *t = start();
    Node far = { FAR, 20 };
    ExanetTables tb;
    uint8_t data[100];
    ExanetBlock b = block(data, sizeof(data), 7, 1);
    struct exanet_fault f;

    exanet_close(t, 1);
    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 1);
    fill(data, sizeof(data), 1);
    b.va = 0x1234560000;
    b.pdid = EXANET_TEST_PDID(1);
    send_block(t, &far, &b);
    assert_resp(t, &far, &b, EXANET_RESP_FAULT);
    f = exanet_fault_take(t);
    exanet_fault_resolve(t, &f, false);
    assert_resp(t, &far, &b, EXANET_RESP_DECODE);
    exanet_stop(t);
}

/* --- Too many nodes ------------------------------------------------------------ */

/*
 * Sends a message of @n that passes the check but has an invalid address; returns the
 * code of the response.
 */
static enum exanet_resp send_decode(ExanetTest *t, unsigned port, const Node *n,
                                    unsigned gen)
{
    ExanetPacket pkt = message(n, EXANET_TYPE_WRITE,
                               RNIC_PREP(EXANET_VA_WINDOW, 5), gen);
    g_autofree ExanetRxPacket *rx = NULL;

    exanet_peer_send(t->ports[port], &pkt);
    rx = exanet_peer_take_type(t->ports[port], EXANET_TYPE_ACK);
    g_assert_cmphex(rx->pkt.dst, ==, n->coord);
    return rx->pkt.resp;
}

/*
 * A node sends in the names of many nodes: the receiver keeps its state of real nodes,
 * and new nodes get room again after a time.
 */
static void test_invented(void)
{
    ExanetTest *t = start();
    Node real = { FAR, 9 }, fresh = { FAR + 1, 3 };
    uint8_t data[100];
    ExanetBlock b = block(data, sizeof(data), 1, 0);
    unsigned over = 50;

    fill(data, sizeof(data), 1);
    send_block(t, &real, &b);
    assert_acked(t, &real, &b);
    exanet_step(t, 2 * IDLE_NS);
    for (unsigned i = 0; i < SOURCES_MAX + over; i++) {
        Node n = { 0xc000 + i, 1 };

        /* the receiver keeps the real node, because it has more state of this node */
        g_assert_cmpuint(send_decode(t, 0, &n, 0), ==,
                         i < SOURCES_MAX - 1 ? EXANET_RESP_DECODE :
                                               EXANET_RESP_NO_CONTEXT);
    }
    g_assert_cmpuint(exanet_count(t, RX_CTX_FULL), ==, over + 1);
    send_block(t, &fresh, &b);
    assert_resp(t, &fresh, &b, EXANET_RESP_NO_CONTEXT);
    /* the receiver still knows the block of the real node */
    b.seq = 1;
    send_packet(t, &real, &b, 0);
    assert_resp(t, &real, &b, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RX_REACK), ==, 1);
    /* the invented nodes have no state that the receiver must keep */
    exanet_step(t, 2 * IDLE_NS);
    send_block(t, &fresh, &b);
    assert_acked(t, &fresh, &b);
    b.seq = 2;
    send_packet(t, &real, &b, 0);
    assert_resp(t, &real, &b, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RX_REACK), ==, 2);
    exanet_stop(t);
}

/* A node with no accepted packet in a second makes room, even if it sends again. */
static void test_invented_again(void)
{
    ExanetTest *t = start();
    Node fresh = { FAR + 1, 3 };
    uint8_t data[100];
    ExanetBlock b = block(data, sizeof(data), 1, 0);
    const unsigned rounds = 12;

    fill(data, sizeof(data), 1);
    for (unsigned gen = 0; gen < rounds; gen++) {
        for (unsigned i = 0; i < SOURCES_MAX; i++) {
            Node n = { 0xc000 + i, 1 };

            g_assert_cmpuint(send_decode(t, 0, &n, gen), ==, EXANET_RESP_DECODE);
        }
        if (gen == 0 || gen == rounds - 2) {
            send_block(t, &fresh, &b);
            assert_resp(t, &fresh, &b, EXANET_RESP_NO_CONTEXT);
        }
        exanet_step(t, IDLE_NS * 9 / 10);
    }
    send_block(t, &fresh, &b);
    assert_acked(t, &fresh, &b);
    exanet_stop(t);
}

/* Packets that are refused or dropped take no room, whatever their source. */
static void test_strangers(void)
{
    static const uint32_t peers[] = { SWITCH, 0x4001 };
    ExanetTest *t = exanet_start_ports(NODE, peers, 2, "");
    Node near = { peers[1], t->ports[1]->epoch };
    const unsigned nodes = SOURCES_MAX + 176;
    uint8_t data[600];
    ExanetBlock b = block(data, sizeof(data), 1, 0);
    g_autofree ExanetRxPacket *rx = NULL;

    fill(data, sizeof(data), 1);
    for (unsigned i = 0; i < nodes; i++) {
        Node n = { 0xc000 + i, 1 };
        ExanetBlock bad = b;
        ExanetPacket pkt = message(&n, EXANET_TYPE_WRITE, DST, 1);

        bad.pdid ^= 0x10;           /* the job does not exist here */
        send_release(t, &n, &b);
        send_block(t, &n, &bad);
        g_assert_cmpuint(take_resp(t, &n), ==, EXANET_RESP_PROTECTION);
        pkt.pdid ^= 0x10;
        exanet_peer_send(t->ports[0], &pkt);
        g_assert_cmpuint(take_resp(t, &n), ==, EXANET_RESP_PROTECTION);
        pkt = message(&n, EXANET_TYPE_NOTIFY, DST, 0);
        pkt.user = EXANET_SMALL(EXANET_NI_RT_RESPONSE);
        pkt.pdid ^= 0x10;
        exanet_peer_send(t->ports[0], &pkt);
        g_assert_cmpuint(take_resp(t, &n), ==, EXANET_RESP_PROTECTION);
    }
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_RELEASE), ==, nodes);
    g_assert_cmpuint(exanet_count(t, RX_CTX_FULL), ==, 0);
    exanet_peer_send_block(t->ports[1], &b);
    rx = exanet_peer_take_type(t->ports[1], EXANET_TYPE_ACK);
    g_assert_cmphex(rx->pkt.dst, ==, near.coord);
    g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST, data, sizeof(data));
    exanet_stop(t);
}

/*
 * The nodes behind a link may take the link's own quarter and the common half; the
 * quarter of the other link stays free.
 */
static void test_share(void)
{
    static const uint32_t peers[] = { 0x8000, 0x10000 };    /* uplinks */
    ExanetTest *t = exanet_start_ports(NODE, peers, 2, "");
    const unsigned share = SOURCES_MAX / 4;
    const unsigned room[] = { SOURCES_MAX / 2 + share, share };

    for (unsigned port = 0; port < ARRAY_SIZE(room); port++) {
        for (unsigned i = 0; i < room[port] + 10; i++) {
            Node n = { peers[port] + 1 + i, 1 };

            g_assert_cmpuint(send_decode(t, port, &n, 0), ==, i < room[port] ?
                             EXANET_RESP_DECODE : EXANET_RESP_NO_CONTEXT);
        }
    }
    exanet_stop(t);
}

/*
 * A neighbour that changes its coordinates with each HELLO takes no room from nodes
 * that send packets.
 */
static void test_invented_neighbours(void)
{
    ExanetTest *t = start();
    ExanetPeer *p = t->ports[0];
    Node fresh = { FAR + 1, 3 };
    uint8_t data[100];
    ExanetBlock b = block(data, sizeof(data), 1, 0);

    fill(data, sizeof(data), 1);
    p->silent = true;
    for (unsigned i = 0; i < SOURCES_MAX + 50; i++) {
        p->coord = 0xc000 + i;
        exanet_peer_hello(p, false);
    }
    p->coord = SWITCH;
    p->silent = false;
    exanet_peer_hello(p, false);
    exanet_step(t, 1000 * EXANET_MS);       /* time to answer the HELLOs */
    exanet_wait(t, exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_PEER) ==
                SWITCH &&
                (exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK));
    send_block(t, &fresh, &b);
    assert_acked(t, &fresh, &b);
    g_assert_cmpuint(exanet_count(t, RX_CTX_FULL), ==, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/receiver-source/release", test_release);
    qtest_add_func("/exanet/receiver-source/release-first", test_release_first);
    qtest_add_func("/exanet/receiver-source/release-others",
                   test_release_others);
    qtest_add_func("/exanet/receiver-source/epoch-far", test_epoch_far);
    qtest_add_func("/exanet/receiver-source/epochs-retired",
                   test_epochs_retired);
    qtest_add_func("/exanet/receiver-source/epoch-messages",
                   test_epoch_messages);
    qtest_add_func("/exanet/receiver-source/epoch-fault", test_epoch_fault);
    qtest_add_func("/exanet/receiver-source/invented", test_invented);
    qtest_add_func("/exanet/receiver-source/invented-again",
                   test_invented_again);
    qtest_add_func("/exanet/receiver-source/strangers", test_strangers);
    qtest_add_func("/exanet/receiver-source/share", test_share);
    qtest_add_func("/exanet/receiver-source/invented-neighbours",
                   test_invented_neighbours);
    return g_test_run();
}
