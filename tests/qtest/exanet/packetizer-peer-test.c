/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packetizer's table of nodes: a process takes no room from the next owner of its
 * context, and a new message to a node never has a generation that the node takes for
 * an old one.
 */
#include "qemu/osdep.h"
#include "device.h"

#define NODE 0x001
#define BEFORE 0x000                /* the neighbour on port 0 */
#define BEHIND 0x002                /* neighbour on port 1, route to other nodes */
#define UPLINK 0x4000               /* neighbour on port 1, route to other uppers */
#define JOB_PEERS 2048
#define OTHER_JOB (EXANET_TEST_JOB + 5)
#define ANSWER (100 * EXANET_MS)
#define FORGOTTEN (60000 * EXANET_MS)

/* Sets the order X, Y, Z: port 1 leads to all nodes with a larger X. */
static void order_set(ExanetTest *t)
{
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_ORDER,
                 RNIC_PREP(EXANET_SW_ORDER_SECOND, 1) |
                 RNIC_PREP(EXANET_SW_ORDER_THIRD, 2));
}

static ExanetTest *start(void)
{
    const uint32_t peers[] = { BEFORE, BEHIND };
    ExanetTest *t = exanet_start_ports(NODE, peers, ARRAY_SIZE(peers), "");

    order_set(t);
    return t;
}

/* Returns the coordinates of node @i behind port 1. */
static uint32_t far_node(unsigned i)
{
    return RNIC_PREP(EXANET_COORD_X, 3 + i % 12) |
           RNIC_PREP(EXANET_COORD_Y, i / 12) |
           RNIC_PREP(EXANET_COORD_Z, i / (12 * 16));
}

static void say(ExanetTest *t, unsigned channel, uint32_t coord, uint64_t ctrl)
{
    exanet_pktz_start(t, 0, channel,
                      exanet_gva(coord, EXANET_NI_VA(EXANET_NI_MAILBOX)),
                      "message", 8, ctrl);
}

static bool is_full(ExanetTest *t, unsigned channel)
{
    uint64_t status = exanet_pktz_status(t, 0, channel);

    return RNIC_GET(EXANET_PKTZSTAT_STATE, status) == EXANET_PKTZ_FAILED &&
           RNIC_GET(EXANET_PKTZSTAT_RESP, status) == EXANET_RESP_FULL;
}

/*
 * Sends a message to neighbour @port, which acks it; returns the generation of the
 * message.
 */
static unsigned exchange(ExanetTest *t, unsigned channel, unsigned port)
{
    g_autofree ExanetRxPacket *rx = NULL;

    say(t, channel, t->ports[port]->coord, EXANET_PKTZ_ACK);
    g_assert_false(is_full(t, channel));
    rx = exanet_peer_take_type(t->ports[port], EXANET_TYPE_WRITE);
    exanet_peer_ack(t->ports[port], &rx->pkt, EXANET_RESP_ACK);
    exanet_wait(t, exanet_pktz_state(t, 0, channel) == EXANET_PKTZ_ACKED);
    return RNIC_GET(EXANET_PTID_GEN, rx->pkt.tid);
}

/*
 * Acks packet @pkt by port @port.  The path is the other order of dimensions: in this
 * order, the acks of all nodes behind port 1 arrive by port 1.
 */
static void ack(ExanetTest *t, unsigned port, const ExanetPacket *pkt)
{
    ExanetPacket reply = {
        .type = EXANET_TYPE_ACK,
        .dst = NODE,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .small = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .epoch = pkt->epoch,
        .path = EXANET_PATH_ORDER,
    };

    exanet_peer_send(t->ports[port], &reply);
}

/* Sends a message to node @i behind port 1, which has no entry yet and acks it. */
static void exchange_far(ExanetTest *t, unsigned channel, unsigned i)
{
    g_autofree ExanetRxPacket *rx = NULL;

    say(t, channel, far_node(i), EXANET_PKTZ_ACK);
    g_assert_false(is_full(t, channel));
    rx = exanet_peer_take_type(t->ports[1], EXANET_TYPE_WRITE);
    ack(t, 1, &rx->pkt);
    exanet_wait(t, exanet_pktz_state(t, 0, channel) == EXANET_PKTZ_ACKED);
}

static unsigned drop_all(ExanetTest *t, ExanetPeer *p)
{
    unsigned dropped = 0;

    exanet_settle(t);
    for (; !g_queue_is_empty(&p->packets); dropped++) {
        g_free(g_queue_pop_head(&p->packets));
    }
    return dropped;
}

/*
 * Sends @count messages to different nodes from far_node(@first) on, which never answer;
 * returns how many messages have left.
 */
static unsigned flood_from(ExanetTest *t, unsigned first, unsigned count)
{
    unsigned sent = 0;

    for (unsigned i = 0; i < count; i++) {
        say(t, i % EXANET_PKTZ_CHANNELS, far_node(first + i), 0);
        if (i % EXANET_PKTZ_CHANNELS == EXANET_PKTZ_CHANNELS - 1) {
            sent += drop_all(t, t->ports[1]);
        }
    }
    return sent + drop_all(t, t->ports[1]);
}

static unsigned flood(ExanetTest *t, unsigned count)
{
    return flood_from(t, 0, count);
}

static void new_owner(ExanetTest *t, unsigned job)
{
    exanet_close(t, 0);
    exanet_open(t, 0, job, EXANET_FORMAT_IDENTITY, 0);
}

static void reset(ExanetTest *t)
{
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    order_set(t);
    for (unsigned i = 0; i < 2; i++) {
        exanet_peer_hello(t->ports[i], false);
        exanet_wait(t, exanet_get32(t, EXANET_PORT(i) + EXANET_REG_PORT_STATUS) &
                       EXANET_PORT_STATUS_UP);
    }
}

/*
 * Nodes that never answer leave room: to another process at once, to the same process
 * after a short time.
 */
static void test_unanswered(void)
{
    ExanetTest *t = start();

    /*
     * limit of messages that can wait for an answer, because their answers must be
     * distinguishable
     */
    g_assert_cmpuint(flood(t, JOB_PEERS), >=, 16 * EXANET_PKTZ_CHANNELS);
    exanet_step(t, ANSWER / 2);
    flood(t, JOB_PEERS);
    new_owner(t, OTHER_JOB);
    exchange(t, 1, 0);
    exchange_far(t, 2, JOB_PEERS + 1);

    reset(t);
    exanet_open(t, 0, OTHER_JOB, EXANET_FORMAT_IDENTITY, 0);
    exchange(t, 1, 0);

    for (unsigned round = 0; round < 3; round++) {
        new_owner(t, EXANET_TEST_JOB);
        flood(t, JOB_PEERS + 1);
        exanet_step(t, ANSWER);
        exchange_far(t, 1, JOB_PEERS + 2 + round);
    }
    exanet_stop(t);
}

/* Returns the coordinates of node @i of another upper than UPLINK's. */
static uint32_t upper_node(unsigned i)
{
    return RNIC_PREP(EXANET_COORD_UPPER, 2 + i / 4096) | i % 4096;
}

/*
 * Sends messages on @channels channels to @count new nodes from upper_node(*@next) on;
 * returns how many are refused.
 */
static unsigned flood_upper(ExanetTest *t, unsigned *next, unsigned count,
                            unsigned channels)
{
    unsigned refused = 0;

    for (unsigned i = 0; i < count; i++, (*next)++) {
        unsigned channel = i % channels;

        say(t, channel, upper_node(*next), 0);
        if (channel == channels - 1) {
            drop_all(t, t->ports[1]);
        }
        refused += is_full(t, channel);
    }
    return refused;
}

/*
 * Processes with ever new jobs send to more nodes than answers can distinguish.  The
 * next owner of the context still has room for as many nodes as answers can
 * distinguish.
 */
static void test_many_jobs(void)
{
    static const uint32_t peers[] = { BEFORE, UPLINK };
    ExanetTest *t = exanet_start_ports(NODE, peers, ARRAY_SIZE(peers), "");
    unsigned node = 0;

    for (unsigned job = 0; job < 6; job++) {
        new_owner(t, OTHER_JOB + 1 + job);
        flood_upper(t, &node, JOB_PEERS, 4);
    }
    exanet_step(t, ANSWER + ANSWER / 2);
    new_owner(t, OTHER_JOB);
    g_assert_cmpuint(flood_upper(t, &node, 1000, EXANET_PKTZ_CHANNELS), ==, 0);
    exchange(t, 1, 0);
    /* the device refuses further nodes, whose answers it could not distinguish */
    g_assert_cmpuint(flood_upper(t, &node, JOB_PEERS, 4), >, 0);
    exanet_step(t, FORGOTTEN);
    g_assert_cmpuint(flood_upper(t, &node, 512, 4), ==, 0);
    exanet_stop(t);
}

/* A node without a route takes no room at all. */
static void test_no_route(void)
{
    ExanetTest *t = exanet_start_ports(NODE, (const uint32_t[]) { BEFORE }, 1, "");
    uint64_t before = exanet_count(t, DROP_NO_ROUTE);

    for (unsigned i = 0; i < 2 * JOB_PEERS; i++) {
        /* another upper part of the coordinates needs an uplink */
        say(t, i % EXANET_PKTZ_CHANNELS,
             RNIC_PREP(EXANET_COORD_UPPER, 1) | i % 4096, 0);
        g_assert_false(is_full(t, i % EXANET_PKTZ_CHANNELS));
        if (i % 64 == 63) {
            exanet_settle(t);
        }
    }
    exanet_settle(t);
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE) - before, ==, 2 * JOB_PEERS);
    exchange(t, 1, 0);
    exanet_stop(t);
}

/*
 * The first message of a context's next owner has a generation that follows the one the
 * node has seen last.
 */
static void test_generation_kept(void)
{
    ExanetTest *t = start();
    unsigned gen = exchange(t, 0, 0);

    for (unsigned round = 0; round < 4; round++) {
        unsigned next;

        /* a forgotten entry would restart with a distant generation */
        flood(t, JOB_PEERS);
        exanet_step(t, ANSWER);
        flood(t, (40 + round) * EXANET_PKTZ_CHANNELS);
        new_owner(t, round & 1 ? EXANET_TEST_JOB : OTHER_JOB);
        exanet_step(t, ANSWER);
        next = exchange(t, 0, 0);
        g_assert_cmpuint((next - gen) % 64, >=, 1);
        g_assert_cmpuint((next - gen) % 64, <, 32);
        gen = next;
    }
    exanet_stop(t);
}

/* A delayed answer to a message without the ACK flag counts too. */
static void test_delayed_answer(void)
{
    ExanetTest *t = start();
    ExanetRxPacket *rx;
    unsigned gen, next;

    say(t, 0, BEFORE, 0);
    rx = exanet_peer_take_type(t->ports[0], EXANET_TYPE_WRITE);
    gen = RNIC_GET(EXANET_PTID_GEN, rx->pkt.tid);
    flood(t, 40 * EXANET_PKTZ_CHANNELS);
    exanet_peer_ack(t->ports[0], &rx->pkt, EXANET_RESP_ACK);
    exanet_wait(t, exanet_count(t, ACK_STALE) == 1);
    g_free(rx);
    exanet_step(t, ANSWER);
    flood(t, JOB_PEERS + 1);
    exanet_step(t, ANSWER);
    next = exchange(t, 0, 0);
    g_assert_cmpuint((next - gen) % 64, >=, 1);
    g_assert_cmpuint((next - gen) % 64, <, 32);
    exanet_stop(t);
}

/* Nodes that have answered keep their entries for a minute, but only in their job. */
static void test_quota(void)
{
    ExanetTest *t = start();

    for (unsigned i = 0; i < JOB_PEERS; i++) {
        unsigned channel = i % EXANET_PKTZ_CHANNELS;
        ExanetRxPacket *rx;

        say(t, channel, far_node(i), 0);
        rx = exanet_peer_take_type(t->ports[1], EXANET_TYPE_WRITE);
        ack(t, 1, &rx->pkt);
        g_free(rx);
        exanet_wait(t, exanet_count(t, ACK_STALE) == i + 1);
    }
    say(t, 0, BEFORE, EXANET_PKTZ_ACK);
    g_assert_true(is_full(t, 0));
    exanet_step(t, FORGOTTEN / 2);
    say(t, 0, BEFORE, EXANET_PKTZ_ACK);
    g_assert_true(is_full(t, 0));

    new_owner(t, OTHER_JOB);
    exchange(t, 0, 0);
    new_owner(t, EXANET_TEST_JOB);
    exanet_step(t, FORGOTTEN / 2 + EXANET_MS);
    exchange(t, 0, 0);
    exchange(t, 0, 1);
    exanet_stop(t);
}

/* Sends acks to all channels and generations of context 0 by port @port. */
static void ack_all(ExanetTest *t, unsigned port)
{
    uint64_t before = exanet_count(t, ACK_STALE) + exanet_count(t, DROP_SOURCE);
    unsigned acks = 0;

    for (unsigned gen = 0; gen < 64; gen++) {
        for (unsigned k = 0; k < EXANET_PKTZ_CHANNELS; k++, acks++) {
            const ExanetPacket pkt = {
                .epoch = EXANET_TEST_EPOCH,
                .tid = RNIC_PREP(EXANET_PTID_GEN, gen) |
                       RNIC_PREP(EXANET_PTID_CHANNEL, k),
            };

            ack(t, port, &pkt);
        }
    }
    exanet_wait(t, exanet_count(t, ACK_STALE) + exanet_count(t, DROP_SOURCE) ==
                   before + acks);
}

/*
 * Checks that an ack does not count as the answer of a node if it arrives after
 * the timeout, or by a link that does not lead to this node.
 */
static void acks_refused(unsigned port, int64_t sent_after)
{
    const unsigned nodes = 48 * EXANET_PKTZ_CHANNELS;
    ExanetTest *t = start();

    for (unsigned first = 0; first < JOB_PEERS; first += nodes) {
        flood_from(t, first, nodes);
        exanet_step(t, sent_after);
        ack_all(t, port);
        exanet_step(t, ANSWER);
    }
    exchange(t, 0, 0);
    exanet_stop(t);
}

static void test_after_timeout(void)
{
    acks_refused(1, ANSWER);
}

static void test_other_link(void)
{
    acks_refused(0, EXANET_MS);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/packetizer-peer/unanswered", test_unanswered);
    qtest_add_func("/exanet/packetizer-peer/many-jobs", test_many_jobs);
    qtest_add_func("/exanet/packetizer-peer/no-route", test_no_route);
    qtest_add_func("/exanet/packetizer-peer/generation-kept",
                   test_generation_kept);
    qtest_add_func("/exanet/packetizer-peer/delayed-answer", test_delayed_answer);
    qtest_add_func("/exanet/packetizer-peer/quota", test_quota);
    qtest_add_func("/exanet/packetizer-peer/after-timeout", test_after_timeout);
    qtest_add_func("/exanet/packetizer-peer/other-link", test_other_link);
    return g_test_run();
}
