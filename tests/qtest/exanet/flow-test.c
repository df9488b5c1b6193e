/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion management: a source that paces its flows by FLOW_RATE, and a switch that
 * sends FLOW_RATE to the sources of a crowded output.  The test is all other nodes.
 */
#include "qemu/osdep.h"
#include "hw/rnic/exanet/net/flow-rate.h"
#include "device.h"

#define WINDOW EXANET_MS            /* reset value of SW_FLOW_WINDOW */
#define STEP (WINDOW / 20)
#define BURST (WINDOW / 20)         /* ns of a paced flow's rate that may leave at once */
#define PEERS 4
#define NODE(x, y) (RNIC_PREP(EXANET_COORD_UPPER, 5) | \
                    RNIC_PREP(EXANET_COORD_X, x) | RNIC_PREP(EXANET_COORD_Y, y))
#define DEVICE NODE(1, 1)
#define SINK NODE(2, 1)
#define BLOCK_WORDS (EXANET_BLOCK_PACKETS * EXANET_PACKET_WORDS)
#define GBPS 1000000u               /* kb/s in 1 Gb/s */

/*
 * A node of the test.  As a source it sends to the last peer, at the rate that
 * FLOW_RATE allows.
 */
typedef struct Node {
    ExanetPeer *peer;
    uint32_t demand;                /* kb/s of words that the node wants to send */
    uint32_t advertised; /* kb/s of the last FLOW_RATE; EXANET_RATE_NONE: none yet */
    bool deaf;                      /* the node ignores FLOW_RATE */
    uint64_t credit;                /* bits that the node may send now, times 10^6 */
    uint64_t sent;                  /* number of packets sent */
    unsigned tells;
    int64_t last_tell;
    int64_t recover;                /* time at which the node may send faster again */
    uint8_t first_desired; /* desired rate of the first FLOW_RATE, as EXANET_RATE_ code */
    uint8_t first_current;
    uint8_t last_desired;
    uint64_t arrived; /* words of this node that have arrived at the last peer */
    uint64_t own; /* words of the device that have arrived at this node */
} Node;

typedef struct Net {
    ExanetTest *t;
    Node node[PEERS];
    unsigned nodes;
    bool scattered;                 /* flows go to other destinations, too */
    int64_t now;
} Net;

static Node *net_sink(Net *n)
{
    return &n->node[n->nodes - 1];
}

static Node *net_node(Net *n, uint32_t coord)
{
    for (unsigned i = 0; i < n->nodes; i++) {
        if (n->node[i].peer->coord == coord) {
            return &n->node[i];
        }
    }
    g_assert_not_reached();
}

/* Handles FLOW_RATE from the device at a source. */
static void node_take(Net *n, Node *node, const ExanetPacket *pkt)
{
    g_assert_cmpuint(pkt->type, ==, EXANET_TYPE_FLOW_RATE);
    g_assert_cmphex(pkt->dst, ==, node->peer->coord);
    g_assert_true(n->scattered || pkt->flow_dst == SINK);
    g_assert_cmpuint(pkt->small, ==, EXANET_SMALL(EXANET_NI_EXADMA));
    if (node->tells++ == 0) {
        node->first_desired = pkt->desired;
        node->first_current = pkt->current;
    } else if (!n->scattered) {
        /* the test sees a packet at the end of the step in which it was sent */
        g_assert_cmpint(n->now - node->last_tell, >, WINDOW - 2 * STEP);
    }
    node->last_desired = pkt->desired;
    node->last_tell = n->now;
    node->recover = n->now + 2 * WINDOW;
    if (!node->deaf) {
        node->advertised = exanet_rate_kbps(pkt->desired);
    }
}

/* Takes all packets of the nodes; returns true if there were any. */
static bool net_take(Net *n)
{
    bool some = false;

    for (unsigned i = 0; i < n->nodes; i++) {
        Node *node = &n->node[i];
        ExanetRxPacket *rx;

        exanet_peer_poll(node->peer, 0);
        while ((rx = g_queue_pop_head(&node->peer->packets))) {
            if (rx->pkt.src == DEVICE) {
                node->own += rx->words;
            } else if (node != net_sink(n)) {
                node_take(n, node, &rx->pkt);
            } else {
                net_node(n, rx->pkt.src)->arrived += rx->words;
            }
            g_free(rx);
            some = true;
        }
    }
    return some;
}

/* Takes packets until no more arrive; virtual time does not advance. */
static void net_settle(Net *n)
{
    for (unsigned quiet = 0; quiet < 8; quiet = net_take(n) ? 0 : quiet + 1) {
        exanet_get32(n->t, EXANET_REG_ID);
    }
}

static void net_step(Net *n, int64_t ns)
{
    qtest_clock_step(n->t->qts, ns);
    n->now += ns;
    net_settle(n);
}

/* Waits for @cond, a C expression, in real time. */
#define net_wait(n, cond) wait_until(cond, net_settle(n))

static bool net_up(Net *n)
{
    for (unsigned i = 0; i < n->nodes; i++) {
        if (!n->node[i].peer->heard ||
            !(exanet_get32(n->t, EXANET_PORT(i) + EXANET_REG_PORT_STATUS) &
              EXANET_PORT_STATUS_UP)) {
            return false;
        }
    }
    return true;
}

/*
 * Starts the device with @nodes peers.  The last peer is at X + 1, the others are at Y
 * - 1, Y + 1 and X - 1.  The test acts as the R5.
 */
static Net *net_start(unsigned nodes, const char *props)
{
    static const uint32_t coord[] = { NODE(1, 0), NODE(1, 2), NODE(0, 1) };
    Net *n = g_new0(Net, 1);
    g_autoptr(GString) netdevs = g_string_new("");
    g_autoptr(GString) all = g_string_new(props);

    n->nodes = nodes;
    for (unsigned i = 0; i < nodes; i++) {
        Node *node = &n->node[i];
        g_autofree char *netdev = NULL;

        node->peer = exanet_peer_new(i == nodes - 1 ? SINK : coord[i],
                                     false);
        node->advertised = EXANET_RATE_NONE;
        netdev = exanet_peer_netdev(node->peer);
        g_string_append_printf(netdevs, " -netdev %s,id=wire%u", netdev, i);
        g_string_append_printf(all, ",link%u=wire%u", i, i);
    }
    n->t = exanet_start_node(netdevs->str, DEVICE, all->str);
    exanet_set32(n->t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_set32(n->t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_open(n->t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    for (unsigned i = 0; i < nodes; i++) {
        exanet_peer_started(n->node[i].peer);
        exanet_peer_hello(n->node[i].peer, false);
    }
    net_wait(n, net_up(n));
    return n;
}

static void net_stop(Net *n)
{
    exanet_stop(n->t);
    for (unsigned i = 0; i < n->nodes; i++) {
        exanet_peer_free(n->node[i].peer);
    }
    g_free(n);
}

static uint32_t net_flow_set(Net *n, uint32_t clear, uint32_t set)
{
    uint64_t reg = EXANET_SWITCH + EXANET_REG_SW_FLOW;
    uint32_t old = exanet_get32(n->t, reg);

    exanet_set32(n->t, reg, (old & ~clear) | set);
    return old;
}

static unsigned net_flows(Net *n, bool paced)
{
    uint32_t flows = exanet_get32(n->t, EXANET_SWITCH + EXANET_REG_SW_FLOWS);

    return paced ? flows >> 16 : flows & 0xffff;
}

/* Returns the number of words in @ns at @kbps. */
static uint64_t words_of(uint64_t kbps, int64_t ns)
{
    return kbps * ns / (1000000 * 8 * EXANET_WORD_BYTES);
}

/* --- The device as a source ------------------------------------------------ */

/* Starts @blocks whole blocks to @dst, with TIDs from @tid on. */
static void own_start(Net *n, unsigned tid, unsigned blocks, uint32_t dst)
{
    for (unsigned i = 0; i < blocks; i++) {
        ExanetDesc d = {
            .src = EXANET_RAM_SRC,
            .dst = exanet_gva(dst, i * EXANET_BLOCK_BYTES),
            .len = EXANET_BLOCK_BYTES,
            .pdid = EXANET_TEST_PDID(0),
        };

        exanet_desc_write(n->t, tid + i, &d);
    }
}

/*
 * Sends FLOW_RATE from the last node: the device may send packets for @flow_dst at rate
 * @code.
 */
static void own_tell(Net *n, uint32_t flow_dst, uint8_t code)
{
    uint64_t before = exanet_count(n->t, RX_FLOW_RATE);
    uint8_t word[EXANET_WORD_BYTES];
    ExanetPacket pkt = {
        .type = EXANET_TYPE_FLOW_RATE,
        .dst = DEVICE,
        .small = EXANET_SMALL(EXANET_NI_EXADMA),
        .flow_dst = flow_dst,
        .current = 0xff,
        .desired = code,
    };

    exanet_flow_rate_encode(word, &pkt);
    exanet_peer_words(net_sink(n)->peer, word, 1);
    net_wait(n, exanet_count(n->t, RX_FLOW_RATE) == before + 1);
}

/* Asserts that @words in @ns are a rate of @kbps, within a burst and a packet. */
static void assert_paced(uint64_t words, uint32_t kbps, int64_t ns)
{
    uint64_t burst = MAX(words_of(kbps, BURST), EXANET_PACKET_WORDS);

    g_assert_cmpuint(words, <=, words_of(kbps, ns) + burst +
                     EXANET_PACKET_WORDS);
    g_assert_cmpuint(words + burst / 2 + EXANET_PACKET_WORDS, >=,
                     words_of(kbps, ns));
}

static void test_pace(gconstpointer opaque)
{
    uint8_t code = exanet_rate_code(GPOINTER_TO_UINT(opaque));
    uint32_t kbps = exanet_rate_kbps(code);
    Net *n = net_start(2, "");
    uint64_t before;

    own_tell(n, SINK, code);
    g_assert_cmpuint(net_flows(n, true), ==, 1);
    own_start(n, 0, 512, SINK);
    net_settle(n);
    for (unsigned i = 1; i <= 100; i++) {
        net_step(n, WINDOW / 5);
        assert_paced(net_sink(n)->own, kbps, i * (WINDOW / 5));
        if (i % 5 == 0) {
            own_tell(n, SINK, code);
        }
    }
    g_assert_cmpuint(exanet_count(n->t, FLOW_PACED), >, 0);
    /* unused time allows no more than a burst later */
    before = net_sink(n)->own;
    net_step(n, WINDOW);
    assert_paced(net_sink(n)->own - before, kbps, WINDOW);
    net_stop(n);
}

/*
 * Without another FLOW_RATE the rate stays for three windows, then grows by a quarter
 * in each window.
 */
static void test_recovery(void)
{
    Net *n = net_start(2, "");
    uint8_t code = exanet_rate_code(GBPS / 5);
    double rate = exanet_rate_kbps(code);
    uint64_t before;
    unsigned windows = 0;

    own_tell(n, SINK, code);
    own_start(n, 0, EXANET_TIDS, SINK);
    net_settle(n);
    while (net_flows(n, true)) {
        before = net_sink(n)->own;
        for (unsigned i = 0; i < 20; i++) {
            net_step(n, STEP);
        }
        windows++;
        if (windows > 3) {
            rate += rate / 4;
        }
        /* a window may begin with packets that waited for the old rate */
        before = net_sink(n)->own - before;
        g_assert_cmpuint(before, >=, words_of(rate * 0.95, WINDOW));
        g_assert_cmpuint(before, <=, words_of(rate * 1.08, WINDOW));
    }
    /* the next quarter exceeds the rate of a link without RATE */
    g_assert_cmpfloat(rate, <, 10 * GBPS);
    g_assert_cmpfloat(rate * 1.25, >=, 10 * GBPS);
    /* the other packets leave at once, after the timer of the packet that waits */
    net_step(n, STEP);
    net_wait(n, net_sink(n)->own >=
             EXANET_TIDS * BLOCK_WORDS);
    net_stop(n);
}

/* The lowest rate of several outputs counts, while that output sends FLOW_RATE. */
static void test_lowest(void)
{
    Net *n = net_start(2, "");
    uint8_t high = exanet_rate_code(GBPS), low = exanet_rate_code(GBPS / 8);
    uint64_t before;

    own_tell(n, SINK, low);
    own_start(n, 0, 512, SINK);
    net_settle(n);
    for (unsigned i = 0; i < 5; i++) {
        before = net_sink(n)->own;
        own_tell(n, SINK, high);
        net_step(n, WINDOW / 2);
        own_tell(n, SINK, low);
        net_step(n, WINDOW / 2);
        assert_paced(net_sink(n)->own - before, exanet_rate_kbps(low), WINDOW);
    }
    for (unsigned i = 0; i < 3; i++) {
        own_tell(n, SINK, high);
        net_step(n, WINDOW);
    }
    before = net_sink(n)->own;
    own_tell(n, SINK, high);
    net_step(n, WINDOW);
    assert_paced(net_sink(n)->own - before, exanet_rate_kbps(high), WINDOW);
    net_stop(n);
}

/* The lowest rate of FLOW_RATE still lets packets leave. */
static void test_floor(void)
{
    Net *n = net_start(2, "");
    int64_t packet = 2304000000LL * WINDOW / EXANET_MS / 1024;
    uint64_t before;

    own_tell(n, SINK, 0);
    own_start(n, 0, 16, SINK);
    net_settle(n);
    before = net_sink(n)->own;
    for (unsigned i = 1; i <= 10; i++) {
        net_step(n, packet + 1000);
        own_tell(n, SINK, 0);
        g_assert_cmpuint(net_sink(n)->own, ==,
                         before + i * EXANET_PACKET_WORDS);
    }
    /* without further FLOW_RATE the flow recovers within 60 windows */
    net_step(n, 60 * WINDOW);
    g_assert_cmpuint(net_sink(n)->own, ==, 16 * BLOCK_WORDS);
    g_assert_cmpuint(net_flows(n, true), ==, 0);
    net_stop(n);
}

/* A paced flow does not delay a flow to another destination. */
static void test_others(void)
{
    Net *n = net_start(2, "");

    own_tell(n, SINK, exanet_rate_code(GBPS / 100));
    own_start(n, 0, 128, SINK);
    own_start(n, 128, 128, NODE(1, 0));
    net_settle(n);
    g_assert_cmpuint(n->node[0].own, ==, 128 * BLOCK_WORDS);
    g_assert_cmpuint(net_sink(n)->own, <=, 3 * EXANET_PACKET_WORDS);
    net_stop(n);
}

static void assert_unpaced(Net *n, unsigned tid)
{
    uint64_t before = net_sink(n)->own;

    g_assert_cmpuint(net_flows(n, true), ==, 0);
    own_start(n, tid, 8, SINK);
    net_settle(n);
    g_assert_cmpuint(net_sink(n)->own - before, ==,
                     8 * BLOCK_WORDS);
}

static void test_ignored(void)
{
    Net *n = net_start(2, "");
    uint8_t low = exanet_rate_code(GBPS / 100);
    uint64_t before = exanet_count(n->t, RX_FLOW_RATE);

    own_tell(n, DEVICE, low);
    own_tell(n, NODE(9, 9), low);           /* no route leads there */
    own_tell(n, EXANET_COORD_MASK, low);
    own_tell(n, SINK, 0xff);                /* faster than any link */
    assert_unpaced(n, 0);
    net_flow_set(n, EXANET_SW_FLOW_PACE, 0);
    own_tell(n, SINK, low);
    assert_unpaced(n, 8);
    net_flow_set(n, 0, EXANET_SW_FLOW_PACE);
    g_assert_cmpuint(exanet_count(n->t, RX_FLOW_RATE) - before, ==, 5);
    g_assert_cmpuint(exanet_count(n->t, FLOW_PACED), ==, 0);
    /* bit PACE ends the pacing of flows when it is cleared */
    own_tell(n, SINK, low);
    g_assert_cmpuint(net_flows(n, true), ==, 1);
    net_flow_set(n, EXANET_SW_FLOW_PACE, 0);
    assert_unpaced(n, 16);
    net_flow_set(n, 0, EXANET_SW_FLOW_PACE);
    /* a reset ends the pacing */
    own_tell(n, SINK, low);
    g_assert_cmpuint(net_flows(n, true), ==, 1);
    exanet_set32(n->t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmpuint(net_flows(n, true), ==, 0);
    net_settle(n);
    net_stop(n);
}

/* The device paces at most 1024 destinations, and forgets the oldest ones. */
static void test_paced_bound(void)
{
    Net *n = net_start(2, "");
    g_autofree uint8_t *words = g_malloc(1200 * EXANET_WORD_BYTES);
    uint64_t reg = EXANET_PORT(1) + EXANET_REG_PORT_CTRL;
    const uint32_t base = RNIC_PREP(EXANET_COORD_UPPER, 77);

    exanet_set32(n->t, reg, exanet_get32(n->t, reg) |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_UPLINK));
    for (unsigned i = 0; i < 1200; i++) {
        ExanetPacket pkt = {
            .type = EXANET_TYPE_FLOW_RATE,
            .dst = DEVICE,
            .small = EXANET_SMALL(EXANET_NI_EXADMA),
            .flow_dst = base + i,
        };

        exanet_flow_rate_encode(words + i * EXANET_WORD_BYTES, &pkt);
    }
    exanet_peer_words(net_sink(n)->peer, words, 1200);
    net_settle(n);
    g_assert_cmpuint(exanet_count(n->t, RX_FLOW_RATE), ==, 1200);
    g_assert_cmpuint(net_flows(n, true), ==, 1024);
    own_start(n, 0, 8, base + 175);
    net_settle(n);
    g_assert_cmpuint(net_sink(n)->own, ==, 8 * BLOCK_WORDS);
    own_start(n, 8, 8, base + 176);
    net_settle(n);
    g_assert_cmpuint(net_sink(n)->own, ==,
                     8 * BLOCK_WORDS + 2 * EXANET_PACKET_WORDS);
    net_stop(n);
}

/* --- The device as a switch ------------------------------------------------ */

static void net_rate_set(Net *n, uint32_t kbps)
{
    exanet_set32(n->t, EXANET_PORT(n->nodes - 1) + EXANET_REG_PORT_RATE, kbps);
}

static ExanetPacket node_packet(Node *node, uint32_t dst, const uint8_t *data)
{
    ExanetBlock b = {
        .data = data, .len = EXANET_MTU, .tid = node->sent % EXANET_TIDS,
        .pdid = EXANET_TEST_PDID(0),
    };
    ExanetPacket pkt = exanet_block_packet(node->peer, &b, 0);

    pkt.dst = dst;
    node->sent++;
    return pkt;
}

/* Raises the rate step by step, as a real source does without another FLOW_RATE. */
static void node_recover(Node *node, int64_t now)
{
    if (node->advertised != EXANET_RATE_NONE && now >= node->recover) {
        node->advertised = MIN(node->advertised + node->advertised / 4, 10 * GBPS);
        node->recover = now + WINDOW;
    }
}

/*
 * Sends the packets of @ns at the lower of demand and allowed rate, unless XOFF stops
 * the node.
 */
static void node_send(Node *node, int64_t ns)
{
    static const uint8_t data[EXANET_MTU];
    const uint64_t cost = EXANET_PACKET_BYTES * 8 * 1000000ULL;
    uint8_t buf[64 * EXANET_PACKET_BYTES];
    unsigned words = 0;

    node->credit += (uint64_t)MIN(node->demand, node->advertised) * ns;
    while (node->credit >= cost && !node->peer->xoff &&
           words + EXANET_PACKET_WORDS <= 64 * EXANET_PACKET_WORDS) {
        ExanetPacket pkt = node_packet(node, SINK, data);

        words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
        node->credit -= cost;
    }
    node->credit = MIN(node->credit, 8 * cost);
    if (words) {
        exanet_peer_words(node->peer, buf, words);
    }
}

static void net_run(Net *n, unsigned windows)
{
    for (int64_t end = n->now + windows * WINDOW; n->now < end;) {
        for (unsigned i = 0; i < n->nodes - 1; i++) {
            node_recover(&n->node[i], n->now);
            node_send(&n->node[i], STEP);
        }
        net_step(n, STEP);
    }
}

/*
 * Runs 60 windows, in which rates settle; clears @arrived and @own, and runs @windows
 * more.
 */
static void net_run_settled(Net *n, unsigned windows)
{
    net_run(n, 60);
    for (unsigned i = 0; i < n->nodes; i++) {
        n->node[i].arrived = 0;
        n->node[i].own = 0;
    }
    net_run(n, windows);
}

static unsigned net_tells(Net *n)
{
    unsigned tells = 0;

    for (unsigned i = 0; i < n->nodes; i++) {
        tells += n->node[i].tells;
    }
    return tells;
}

/*
 * Asserts that @words in @windows are a rate of @kbps: 12 % less to 3 % more, because
 * rates are rounded down.
 */
static void assert_share(uint64_t words, double kbps, unsigned windows)
{
    g_assert_cmpuint(words, >=, words_of(kbps * 0.88, windows * WINDOW));
    g_assert_cmpuint(words, <=, words_of(kbps * 1.03, windows * WINDOW));
}

static void test_mark(void)
{
    Net *n = net_start(3, "");
    uint8_t share = exanet_rate_code(GBPS * 95 / 100 / 2);

    net_rate_set(n, GBPS);
    n->node[0].demand = n->node[1].demand = 2 * GBPS;
    net_run_settled(n, 40);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t had = exanet_rate_kbps(n->node[i].first_current);

        /* the first desired rate is less, until the queue is empty */
        g_assert_cmpuint(n->node[i].first_desired, <, share);
        g_assert_cmpuint(n->node[i].last_desired, ==, share);
        /* before FLOW_RATE, back-pressure gave each source half */
        g_assert_cmpuint(had, >, GBPS * 4 / 10);
        g_assert_cmpuint(had, <, GBPS * 6 / 10);
        assert_share(n->node[i].arrived, GBPS * 0.95 / 2, 40);
        g_assert_false(n->node[i].peer->xoff);
    }
    g_assert_cmpuint(net_flows(n, false), ==, 2);
    g_assert_cmpuint(exanet_count(n->t, TX_FLOW_RATE), ==, net_tells(n));
    /* no FLOW_RATE follows after the congestion */
    n->node[0].demand = n->node[1].demand = 0;
    net_run(n, 4);
    n->node[0].tells = 0;
    net_run(n, 20);
    g_assert_cmpuint(n->node[0].tells, ==, 0);
    g_assert_cmpuint(net_flows(n, false), ==, 0);
    net_stop(n);
}

static void test_target(void)
{
    Net *n = net_start(3, "");

    net_rate_set(n, GBPS);
    net_flow_set(n, EXANET_SW_FLOW_TARGET, RNIC_PREP(EXANET_SW_FLOW_TARGET, 50));
    n->node[0].demand = n->node[1].demand = 2 * GBPS;
    net_run_settled(n, 20);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(n->node[i].last_desired, ==,
                         exanet_rate_code(GBPS / 4));
        assert_share(n->node[i].arrived, GBPS / 4, 20);
    }
    net_stop(n);
}

/* A flow that needs less than its share leaves the rest to the others. */
static void test_max_min(void)
{
    Net *n = net_start(4, "");

    net_rate_set(n, GBPS);
    n->node[0].demand = n->node[1].demand = 2 * GBPS;
    n->node[2].demand = GBPS / 10;
    net_run_settled(n, 40);
    assert_share(n->node[0].arrived, GBPS * 0.85 / 2, 40);
    assert_share(n->node[1].arrived, GBPS * 0.85 / 2, 40);
    g_assert_cmpuint(n->node[2].arrived, >=,
                     words_of(GBPS / 10 * 0.97, 40 * WINDOW));
    /* the slow flow may become fast at any time */
    n->node[2].demand = 2 * GBPS;
    net_run_settled(n, 40);
    for (unsigned i = 0; i < 3; i++) {
        assert_share(n->node[i].arrived, GBPS * 0.95 / 3, 40);
    }
    net_stop(n);
}

static void test_not_crowded(void)
{
    Net *n = net_start(3, "");

    net_rate_set(n, GBPS);
    n->node[0].demand = n->node[1].demand = GBPS * 45 / 100;
    net_run_settled(n, 40);
    g_assert_cmpuint(net_tells(n), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(n->node[i].arrived, >=,
                         words_of(GBPS * 0.44, 40 * WINDOW));
    }
    g_assert_cmpuint(net_flows(n, false), ==, 2);
    net_stop(n);
}

/*
 * One flow that is too fast for its output: no queue stays, and at most 15 % of the
 * rate is lost.
 */
static void test_one(void)
{
    Net *n = net_start(2, "");

    net_rate_set(n, GBPS);
    n->node[0].demand = 2 * GBPS;
    net_run_settled(n, 40);
    g_assert_cmpuint(n->node[0].tells, >, 0);
    g_assert_cmpuint(n->node[0].arrived, >=, words_of(GBPS * 0.85, 40 * WINDOW));
    g_assert_false(n->node[0].peer->xoff);
    net_stop(n);
}

/*
 * One flow that is as fast as its output, in bursts: its queue stays, but does not stop
 * the source, and no FLOW_RATE is sent.
 */
static void test_alone(void)
{
    Net *n = net_start(2, "");

    net_rate_set(n, GBPS);
    n->node[0].credit = 24 * EXANET_PACKET_BYTES * 8 * 1000000ULL;
    n->node[0].demand = GBPS;
    net_run_settled(n, 40);
    g_assert_cmpuint(n->node[0].tells, ==, 0);
    g_assert_cmpuint(n->node[0].arrived, >=, words_of(GBPS * 0.99, 40 * WINDOW));
    net_stop(n);
}

/* A flow of the device shares an output with a flow of another node. */
static void test_own(void)
{
    Net *n = net_start(2, "");

    net_rate_set(n, GBPS);
    own_start(n, 0, EXANET_TIDS, SINK);
    /* alone, the device's flow has the whole rate, and no FLOW_RATE is sent */
    net_run_settled(n, 20);
    g_assert_cmpuint(net_sink(n)->own, >=, words_of(GBPS * 0.98, 20 * WINDOW));
    g_assert_cmpuint(exanet_count(n->t, TX_FLOW_RATE), ==, 0);
    n->node[0].demand = 2 * GBPS;
    net_run_settled(n, 40);
    assert_share(net_sink(n)->own, GBPS * 0.95 / 2, 40);
    assert_share(n->node[0].arrived, GBPS * 0.95 / 2, 40);
    g_assert_cmpuint(net_flows(n, true), ==, 1);
    net_stop(n);
}

/*
 * A source that ignores FLOW_RATE leaves the other source 40 % of the rate, because of
 * back-pressure.
 */
static void test_deaf(void)
{
    Net *n = net_start(3, "");

    net_rate_set(n, GBPS);
    n->node[0].demand = n->node[1].demand = 2 * GBPS;
    n->node[0].deaf = true;
    net_run_settled(n, 40);
    g_assert_cmpuint(n->node[1].arrived, >=,
                     words_of(GBPS * 0.4, 40 * WINDOW));
    net_stop(n);
}

static void test_mark_off(void)
{
    Net *n = net_start(3, "");

    net_rate_set(n, GBPS);
    net_flow_set(n, EXANET_SW_FLOW_MARK, 0);
    n->node[0].demand = n->node[1].demand = 2 * GBPS;
    net_run_settled(n, 10);
    g_assert_cmpuint(net_tells(n), ==, 0);
    g_assert_cmpuint(exanet_count(n->t, TX_FLOW_RATE), ==, 0);
    net_stop(n);
}

/* The device measures at most 1024 flows. */
static void test_seen_bound(void)
{
    static const uint8_t data[EXANET_MTU];
    Net *n = net_start(2, "");
    uint64_t reg = EXANET_PORT(1) + EXANET_REG_PORT_CTRL;

    n->scattered = true;
    net_rate_set(n, GBPS);
    exanet_set32(n->t, reg, exanet_get32(n->t, reg) |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_UPLINK));
    reg = EXANET_PORT(0) + EXANET_REG_PORT_CTRL;
    exanet_set32(n->t, reg, exanet_get32(n->t, reg) |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_QFDB));
    exanet_set32(n->t, EXANET_SWITCH + EXANET_REG_SW_FLOW_WINDOW, 100 * WINDOW);
    for (unsigned i = 0; i < 1200; i++) {
        ExanetPacket pkt = node_packet(&n->node[0],
                                       RNIC_PREP(EXANET_COORD_UPPER, 77) + i,
                                       data);

        exanet_peer_send(n->node[0].peer, &pkt);
        if (i % 20 == 0) {
            net_step(n, WINDOW);
        }
    }
    net_step(n, WINDOW);
    g_assert_cmpuint(exanet_count(n->t, FORWARDED), ==, 1200);
    g_assert_cmpuint(net_flows(n, false), ==, 1024);
    net_stop(n);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_data_func("/exanet/flow/pace-10m",
                        GUINT_TO_POINTER(GBPS / 100), test_pace);
    qtest_add_data_func("/exanet/flow/pace-1g",
                        GUINT_TO_POINTER(GBPS), test_pace);
    qtest_add_func("/exanet/flow/pace-recovery", test_recovery);
    qtest_add_func("/exanet/flow/pace-lowest", test_lowest);
    qtest_add_func("/exanet/flow/pace-floor", test_floor);
    qtest_add_func("/exanet/flow/pace-others", test_others);
    qtest_add_func("/exanet/flow/pace-ignored", test_ignored);
    qtest_add_func("/exanet/flow/pace-bound", test_paced_bound);
    qtest_add_func("/exanet/flow/mark-share", test_mark);
    qtest_add_func("/exanet/flow/mark-target", test_target);
    qtest_add_func("/exanet/flow/mark-max-min", test_max_min);
    qtest_add_func("/exanet/flow/mark-not-crowded", test_not_crowded);
    qtest_add_func("/exanet/flow/mark-one", test_one);
    qtest_add_func("/exanet/flow/mark-alone", test_alone);
    qtest_add_func("/exanet/flow/mark-own", test_own);
    qtest_add_func("/exanet/flow/mark-deaf", test_deaf);
    qtest_add_func("/exanet/flow/mark-off", test_mark_off);
    qtest_add_func("/exanet/flow/mark-bound", test_seen_bound);
    return g_test_run();
}
