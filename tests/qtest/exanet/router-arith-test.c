/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second router of the ExaNet switch on the cable: the worked example of the paper,
 * queues for each output, several routes, tables, and impossible sources.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "router.h"

#define NODE(cabinet, chassis, card) \
    ((cabinet) << 14 | (chassis) << 10 | (card))

/* The worked example [T §5] and the ports of the paper's switch. */
#define EXAMPLE_GVA 0x0520140011110000ULL
#define R1 0x14403
#define R2 0x14805
enum { PLUS, MINUS, CARD, UPLINK, ROUTER_PORTS };

#define OTHER_CARD NODE(5, 1, 9)
#define OTHER_CABINET NODE(6, 0, 0)
#define LOWER NODE(5, 0, 0)

static const uint32_t around_r1[ROUTER_PORTS] = {
    [PLUS] = R2, [MINUS] = LOWER, [CARD] = OTHER_CARD, [UPLINK] = OTHER_CABINET,
};

static ExanetTest *start_r1(const char *props)
{
    g_autofree char *all = g_strconcat(",router=arithmetic,link-stall-ms=0",
                                       props, NULL);

    return exanet_start_ports(R1, around_r1, ROUTER_PORTS, all);
}

static unsigned arith_get(ExanetTest *t, unsigned reg)
{
    return exanet_get32(t, EXANET_SHM + reg);
}

static unsigned role(ExanetTest *t, unsigned port)
{
    return RNIC_GET(EXANET_PORT_STATUS_ROLE, exanet_port_status(t, port));
}

/* --- The rule ----------------------------------------------------------------- */

static void test_example_r1(void)
{
    static const enum exanet_role roles[ROUTER_PORTS] = {
        EXANET_ROLE_PLUS, EXANET_ROLE_MINUS, EXANET_ROLE_CARD,
        EXANET_ROLE_UPLINK,
    };
    const uint32_t dst = EXAMPLE_GVA >> 42;
    ExanetTest *t = start_r1("");
    ExanetPacket pkt;

    for (unsigned i = 0; i < ROUTER_PORTS; i++) {
        g_assert_cmpuint(role(t, i), ==, roles[i]);
    }
    g_assert_cmphex(arith_get(t, EXANET_REG_ARITH_MODE), ==, EXANET_ARITH_RULE);
    g_assert_cmphex(arith_get(t, EXANET_REG_ARITH_ADDR), ==, R1);
    g_assert_cmphex(exanet_get64(t, EXANET_SHM + EXANET_REG_ARITH_PORTS), ==,
                    RNIC_PREP(EXANET_ARITH_PORTS_UP, 1u << UPLINK) |
                    RNIC_PREP(EXANET_ARITH_PORTS_PLUS, 1u << PLUS) |
                    RNIC_PREP(EXANET_ARITH_PORTS_MINUS, 1u << MINUS) |
                    RNIC_PREP(EXANET_ARITH_PORTS_CARD, 1u << CARD));
    exanet_assert_own_route(t, dst, PLUS);
    exanet_assert_own_route(t, NODE(5, 0, 77), MINUS);
    exanet_assert_own_route(t, NODE(5, 1, 4), CARD);
    exanet_assert_own_route(t, NODE(7, 2, 5), UPLINK);
    /*
     * packets in transit; a packet that arrives by an uplink or a link of the cabinet
     * changes to the dateline channel
     */
    pkt = exanet_router_write(OTHER_CARD, dst, 0);
    exanet_assert_passed(t, CARD, PLUS, &pkt, 0);
    pkt = exanet_router_write(NODE(6, 7, 8), dst, 0);
    exanet_assert_passed(t, UPLINK, PLUS, &pkt, EXANET_VC_DATELINE);
    pkt = exanet_router_write(OTHER_CARD, NODE(9, 0, 0), EXANET_PATH_ORDER);
    exanet_assert_passed(t, CARD, UPLINK, &pkt, EXANET_VC_ORDER);
    pkt = exanet_router_write(R2, OTHER_CARD, 0);
    exanet_assert_passed(t, PLUS, CARD, &pkt, EXANET_VC_DATELINE);
    /*
     * no route: back to the cable of arrival, or by this cabinet from one cabinet to a
     * third
     */
    pkt = exanet_router_write(OTHER_CARD, NODE(5, 1, 10), 0);
    exanet_assert_dropped(t, CARD, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    pkt = exanet_router_write(OTHER_CABINET, NODE(7, 0, 0), 0);
    exanet_assert_dropped(t, UPLINK, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    exanet_stop(t);
}

static void test_example_r2(void)
{
    static const uint32_t peers[] = {
        EXANET_TEST_NO_PEER, R1, NODE(5, 2, 9), OTHER_CABINET,
    };
    ExanetTest *t = exanet_start_ports(R2, peers, ARRAY_SIZE(peers),
                                       ",router=arithmetic");
    ExanetPacket pkt = exanet_router_write(R1, EXAMPLE_GVA >> 42, 0);

    exanet_router_send(t, MINUS, &pkt);
    /* the destination is R2 itself: LOCAL in the rule */
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 1);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 0);
    exanet_assert_own_route(t, R1, MINUS);
    /* R2 has no PLUS link, so the packet leaves by port 2, to a card */
    exanet_assert_own_route(t, NODE(5, 3, 0), 2);
    pkt = exanet_router_write(R1, NODE(5, 3, 0), 0);
    exanet_assert_dropped(t, MINUS, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    exanet_stop(t);
}

/* Registers change the router at run time, and the roles of ports. */
static void test_mode(void)
{
    ExanetTest *t = start_r1("");
    const unsigned ctrl = EXANET_PORT(CARD) + EXANET_REG_PORT_CTRL;

    exanet_set32(t, EXANET_SHM + EXANET_REG_ARITH_MODE, EXANET_ARITH_OFF);
    g_assert_cmpuint(role(t, PLUS), ==, EXANET_ROLE_AUTO);
    g_assert_cmpuint(role(t, UPLINK), ==, EXANET_ROLE_UPLINK);
    g_assert_cmphex(exanet_get64(t, EXANET_SHM + EXANET_REG_ARITH_PORTS), ==, 0);
    exanet_assert_own_route(t, NODE(5, 4, 0), -1);
    exanet_set32(t, EXANET_SHM + EXANET_REG_ARITH_MODE, EXANET_ARITH_TABLE);
    exanet_assert_own_route(t, R2, -1);               /* the table is empty */
    /* an invalid mode has the effect of OFF */
    exanet_set32(t, EXANET_SHM + EXANET_REG_ARITH_MODE, ~0u);
    g_assert_cmpuint(role(t, PLUS), ==, EXANET_ROLE_AUTO);
    exanet_assert_own_route(t, R2, PLUS);
    exanet_set32(t, EXANET_SHM + EXANET_REG_ARITH_MODE, EXANET_ARITH_RULE);
    exanet_assert_own_route(t, NODE(5, 4, 0), PLUS);
    exanet_set32(t, ctrl, EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_MINUS));
    g_assert_cmpuint(role(t, CARD), ==, EXANET_ROLE_MINUS);
    exanet_assert_own_route(t, NODE(5, 1, 4), -1);
    exanet_set32(t, ctrl, EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_X_PLUS));
    /* X_PLUS is no role of this router, so it has no effect */
    g_assert_cmpuint(role(t, CARD), ==, EXANET_ROLE_CARD);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmphex(arith_get(t, EXANET_REG_ARITH_MODE), ==, EXANET_ARITH_RULE);
    exanet_stop(t);
}

static void test_spoofed(void)
{
    static const struct {
        unsigned in;
        uint32_t src, dst;
    } lies[] = {
        { PLUS, LOWER, R1 }, { PLUS, OTHER_CARD, LOWER },
        { PLUS, OTHER_CABINET, NODE(7, 0, 0) },
        { MINUS, R2, R1 }, { MINUS, NODE(5, 2, 0), OTHER_CARD },
        { CARD, R2, LOWER }, { CARD, OTHER_CABINET, R2 }, { CARD, R1, R2 },
        { UPLINK, R2, R1 }, { UPLINK, OTHER_CARD, R2 },
    };
    ExanetTest *t = start_r1("");

    for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
        ExanetPacket pkt = exanet_router_write(lies[i].src, lies[i].dst, 0);

        exanet_assert_dropped(t, lies[i].in, &pkt, EXANET_CNT_DROP_SOURCE);
    }
    exanet_stop(t);
}

/* --- Queues ------------------------------------------------------------------- */

#define STREAM_WORDS 8 /* words of a packet: header, 77 bytes from byte 5 on, footer */

static uint64_t overtaken(ExanetTest *t)
{
    return exanet_get64(t, EXANET_SHM + EXANET_REG_ARITH_HOL);
}

static unsigned waiting(ExanetTest *t, unsigned in, unsigned out)
{
    exanet_set32(t, EXANET_SHM + EXANET_REG_ARITH_VOQ_SELECT, in | out << 4);
    return arith_get(t, EXANET_REG_ARITH_VOQ_WORDS);
}

static void let_go(ExanetTest *t, unsigned port)
{
    exanet_peer_frame(t->ports[port], RNIC_LINK_XON, NULL, 0);
}

/* Links without a netdev, between others and behind them, have no packets that wait. */
static void test_words_missing(void)
{
    ExanetTest *t = exanet_start_node("-netdev hubport,hubid=0,id=a "
                                      "-netdev hubport,hubid=2,id=c",
                                      R1, ",link0=a,link2=c");

    for (unsigned in = 0; in < 16; in++) {
        for (unsigned out = 0; out < 16; out++) {
            g_assert_cmpuint(waiting(t, in, out), ==, 0);
        }
    }
    exanet_stop(t);
}

/* A blocked output does not delay packets for other outputs. */
static void test_blocked(void)
{
    ExanetTest *t = start_r1("");

    exanet_port_stop(t, PLUS);
    exanet_stream_send(t, CARD, OTHER_CARD, R2, 0, 20);
    exanet_stream_send(t, CARD, OTHER_CARD, LOWER, 20, 30);
    exanet_stream_take(t, MINUS, OTHER_CARD, 20, 30);
    exanet_stream_send(t, CARD, OTHER_CARD, R1, 30, 33);
    exanet_wait(t, exanet_count(t, RX_WRITE) == 3);
    g_assert_cmpuint(overtaken(t), ==, 13);
    g_assert_cmpuint(waiting(t, CARD, PLUS), ==, 20 * STREAM_WORDS);
    g_assert_cmpuint(exanet_port_level(t, CARD), ==, 20 * STREAM_WORDS);
    g_assert_cmpuint(waiting(t, CARD, MINUS), ==, 0);
    g_assert_cmpuint(waiting(t, MINUS, PLUS), ==, 0);
    g_assert_cmpuint(waiting(t, 15, 15), ==, 0);
    /* packets leave in order after XON, later ones behind those that waited */
    exanet_stream_send(t, CARD, OTHER_CARD, R2, 33, 40);
    exanet_settle(t);
    let_go(t, PLUS);
    exanet_stream_take(t, PLUS, OTHER_CARD, 0, 20);
    exanet_stream_take(t, PLUS, OTHER_CARD, 33, 40);
    g_assert_cmpuint(waiting(t, CARD, PLUS), ==, 0);
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* A full queue stops its input, and no packet is lost. */
static void test_blocked_full(void)
{
    ExanetTest *t = start_r1("");
    unsigned held;

    exanet_port_stop(t, PLUS);
    exanet_stream_send(t, CARD, OTHER_CARD, R2, 0, 200);
    exanet_stream_send(t, CARD, OTHER_CARD, LOWER, 200, 210);
    exanet_stream_send(t, UPLINK, OTHER_CABINET, LOWER, 0, 10);
    /* packets of another input are not stopped */
    exanet_stream_take(t, MINUS, OTHER_CABINET, 0, 10);
    exanet_settle(t);
    g_assert_false(exanet_peer_poll(t->ports[MINUS], 0));
    held = waiting(t, CARD, PLUS);
    g_assert_cmpuint(held, >=, 2 * EXANET_PACKET_WORDS);
    g_assert_cmpuint(held, <, 200 * STREAM_WORDS);
    g_assert_cmpuint(exanet_port_level(t, CARD), ==, 210 * STREAM_WORDS);
    let_go(t, PLUS);
    exanet_stream_take(t, PLUS, OTHER_CARD, 0, 200);
    exanet_stream_take(t, MINUS, OTHER_CARD, 200, 210);
    g_assert_cmpuint(exanet_port_level(t, CARD), ==, 0);
    exanet_stop(t);
}

/*
 * Links go down while packets wait: first the input of some packets, then the output of
 * the others.
 */
static void test_blocked_down(void)
{
    ExanetTest *t = start_r1("");

    exanet_port_stop(t, PLUS);
    exanet_stream_send(t, CARD, OTHER_CARD, R2, 0, 20);
    exanet_stream_send(t, MINUS, LOWER, R2, 0, 5);
    exanet_wait(t, waiting(t, CARD, PLUS) == 20 * STREAM_WORDS);
    exanet_wait(t, waiting(t, MINUS, PLUS) == 5 * STREAM_WORDS);
    exanet_peer_frame(t->ports[CARD], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, waiting(t, CARD, PLUS) == 0);
    g_assert_cmpuint(exanet_port_get(t, CARD, EXANET_REG_PORT_DROPPED), ==, 20);
    g_assert_cmpuint(waiting(t, MINUS, PLUS), ==, 5 * STREAM_WORDS);
    exanet_peer_frame(t->ports[PLUS], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, waiting(t, MINUS, PLUS) == 0);
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, 5);
    exanet_stop(t);
}

/*
 * A store to the router's mode, new coordinates or a reset while packets wait: no
 * packet stays in a queue.
 */
static void test_blocked_change(void)
{
    static const struct {
        unsigned reg;
        uint32_t value;
        unsigned no_route, source, dropped;
    } changes[] = {
        { EXANET_SHM + EXANET_REG_ARITH_MODE, EXANET_ARITH_TABLE, 20, 0, 0 },
        /*
         * in this mode PLUS is a direct cable, so packets from CARD have an invalid
         * source
         */
        { EXANET_SHM + EXANET_REG_ARITH_MODE, EXANET_ARITH_OFF, 0, 20, 0 },
        { EXANET_REG_NODE, R1 + 1, 0, 0, 20 },
        { EXANET_REG_CTRL, EXANET_CTRL_RESET, 0, 0, 0 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(changes); i++) {
        ExanetTest *t = start_r1("");

        exanet_port_stop(t, PLUS);
        exanet_stream_send(t, CARD, OTHER_CARD, R2, 0, 20);
        exanet_wait(t, waiting(t, CARD, PLUS) == 20 * STREAM_WORDS);
        exanet_set32(t, changes[i].reg, changes[i].value);
        exanet_wait(t, waiting(t, CARD, PLUS) == 0);
        g_assert_cmpuint(exanet_port_level(t, CARD), ==, 0);
        g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 0);
        g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, changes[i].no_route);
        g_assert_cmpuint(exanet_count(t, DROP_SOURCE), ==, changes[i].source);
        g_assert_cmpuint(exanet_port_get(t, CARD, EXANET_REG_PORT_DROPPED), ==,
                         changes[i].dropped);
        exanet_stop(t);
    }
}

/* The packets in a queue are dropped when their output was stopped for link-stall-ms. */
static void test_blocked_stall(void)
{
    ExanetTest *t = exanet_start_ports(R1, around_r1, ROUTER_PORTS,
                                       ",router=arithmetic,link-stall-ms=100");

    exanet_step(t, 1);
    exanet_port_stop(t, PLUS);
    exanet_stream_send(t, CARD, OTHER_CARD, R2, 0, 60);
    exanet_stream_send(t, CARD, OTHER_CARD, LOWER, 60, 70);
    exanet_wait(t, exanet_port_level(t, CARD) == 70 * STREAM_WORDS);
    /* the port looks at its queues when the next HELLO is due */
    exanet_step(t, 2 * NANOSECONDS_PER_SECOND);
    exanet_stream_take(t, MINUS, OTHER_CARD, 60, 70);
    g_assert_cmpuint(exanet_port_level(t, CARD), ==, 0);
    g_assert_cmpuint(waiting(t, CARD, PLUS), ==, 0);
    g_assert_cmpuint(exanet_port_get(t, PLUS, EXANET_REG_PORT_DROPPED), ==, 60);
    exanet_stop(t);
}

/* All ports send at the same time, each to another port. */
static void test_permutation(void)
{
    static const uint8_t to[][ROUTER_PORTS] = {
        { [CARD] = PLUS, [PLUS] = MINUS, [MINUS] = UPLINK, [UPLINK] = CARD },
        { [CARD] = UPLINK, [UPLINK] = MINUS, [MINUS] = PLUS, [PLUS] = CARD },
    };
    enum { EACH = 400, PART = 100 };
    ExanetTest *t = start_r1("");

    for (unsigned i = 0; i < ARRAY_SIZE(to); i++) {
        uint64_t passed = exanet_count(t, FORWARDED);

        for (unsigned n = 0; n < EACH; n += PART) {
            for (unsigned p = 0; p < ROUTER_PORTS; p++) {
                exanet_stream_send(t, p, around_r1[p], around_r1[to[i][p]], n,
                                   n + PART);
            }
        }
        for (unsigned p = 0; p < ROUTER_PORTS; p++) {
            exanet_stream_take(t, to[i][p], around_r1[p], 0, EACH);
        }
        g_assert_cmpuint(exanet_count(t, FORWARDED) - passed, ==,
                         ROUTER_PORTS * EACH);
        exanet_assert_quiet(t);
    }
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* --- Several paths -------------------------------------------------------------- */

/* The device is a switch (leaf) with one host and two spines. */
#define LEAF NODE(1, 0, 0)
#define HOST NODE(1, 0, 1)
enum { TO_HOST, SPINE0, SPINE1, LEAF_PORTS };
static const uint32_t around_leaf[LEAF_PORTS] = {
    HOST, NODE(255, 0, 0), NODE(255, 0, 1),
};

static ExanetTest *start_leaf(const char *props)
{
    return exanet_start_ports(LEAF, around_leaf, LEAF_PORTS, props);
}

/*
 * Takes all packets at @port; returns their number.  Asserts their type, and the order
 * of their TIDs.
 */
static unsigned take_all(ExanetTest *t, unsigned port, enum exanet_type type)
{
    unsigned count = 0, last = 0;

    while (t->ports[port]->packets.length) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[port]);

        g_assert_cmpuint(rx->pkt.type, ==, type);
        g_assert_cmpuint(rx->pkt.tid, >=, last);
        last = rx->pkt.tid;
        count++;
    }
    return count;
}

static void check_spread(ExanetTest *t)
{
    unsigned first, second;

    exanet_stream_send(t, TO_HOST, HOST, NODE(9, 0, 0), 0, 100);
    exanet_wait(t, exanet_count(t, FORWARDED) == 100);
    exanet_settle(t);
    first = take_all(t, SPINE0, EXANET_TYPE_WRITE);
    second = take_all(t, SPINE1, EXANET_TYPE_WRITE);
    g_assert_cmpuint(first + second, ==, 100);
    g_assert_cmpuint(first, >=, 45);
    g_assert_cmpuint(second, >=, 45);
    /* the router avoids a blocked output until the queue for the other output is full */
    exanet_port_stop(t, SPINE0);
    exanet_stream_send(t, TO_HOST, HOST, NODE(9, 0, 0), 0, 20);
    exanet_wait(t, exanet_count(t, FORWARDED) >= 110);
    exanet_settle(t);
    g_assert_cmpuint(take_all(t, SPINE0, EXANET_TYPE_WRITE), ==, 0);
    second = take_all(t, SPINE1, EXANET_TYPE_WRITE);
    g_assert_cmpuint(second, >=, 10);
    let_go(t, SPINE0);
    exanet_wait(t, exanet_count(t, FORWARDED) == 120);
    exanet_settle(t);
    g_assert_cmpuint(take_all(t, SPINE0, EXANET_TYPE_WRITE) + second, ==, 20);
}

static void test_multipath(void)
{
    ExanetTest *t = start_leaf(",router=arithmetic,link-stall-ms=0");

    check_spread(t);
    exanet_stop(t);
}

/* Loads and stores to one node take one route, so that they keep their order. */
static void test_multipath_steady(void)
{
    ExanetTest *t = start_leaf(",router=arithmetic");
    ExanetPacket pkt = exanet_router_packet(EXANET_TYPE_AXI_WRITE, HOST, 0, 0);

    for (unsigned card = 0; card < 2; card++) {
        g_autofree uint8_t *buf = g_malloc(50 * EXANET_PACKET_BYTES);
        unsigned words = 0;

        pkt.dst = NODE(9, 0, card);
        for (pkt.tid = 0; pkt.tid < 50; pkt.tid++) {
            words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
        }
        exanet_peer_words(t->ports[TO_HOST], buf, words);
        exanet_wait(t, exanet_count(t, FORWARDED) == 50 * (card + 1));
        exanet_settle(t);
        g_assert_cmpuint(take_all(t, SPINE0 + card, EXANET_TYPE_AXI_WRITE), ==,
                         50);
        exanet_assert_quiet(t);
    }
    exanet_stop(t);
}

/*
 * Each path of a packet selects a spine, so a retransmission on another path avoids a
 * faulty spine.
 */
static void test_paths(void)
{
    static const unsigned spine[] = { SPINE0, SPINE0, SPINE1, SPINE0 };
    ExanetTest *t = start_leaf(",router=arithmetic");

    for (unsigned path = 0; path < ARRAY_SIZE(spine); path++) {
        for (unsigned card = 0; card < 2; card++) {
            ExanetPacket pkt = exanet_router_write(HOST, NODE(9, 0, card), path);

            exanet_assert_passed(t, TO_HOST, spine[path], &pkt, 0);
            pkt.type = EXANET_TYPE_AXI_WRITE;
            exanet_assert_passed(t, TO_HOST, path ? spine[path] : SPINE0 + card,
                                 &pkt, 0);
        }
    }
    /* all paths take the only link that is up */
    exanet_peer_frame(t->ports[SPINE0], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, SPINE0) & EXANET_PORT_STATUS_UP));
    for (unsigned path = 0; path < ARRAY_SIZE(spine); path++) {
        ExanetPacket pkt = exanet_router_write(HOST, NODE(9, 0, 0), path);

        exanet_assert_passed(t, TO_HOST, SPINE1, &pkt, 0);
    }
    exanet_stop(t);
}

/* --- Tables --------------------------------------------------------------------- */

/* in quotes, because a shell parses the options */
#define LEAF_TABLE ",router=table,link-stall-ms=0,routes=" \
    "'0x4001/0x3fffff>0;0x3fc000/0x3ffc00>2;0/0>1+2'"

static void test_table(void)
{
    ExanetTest *t = start_leaf(LEAF_TABLE);
    ExanetPacket pkt;

    g_assert_cmphex(arith_get(t, EXANET_REG_ARITH_MODE), ==, EXANET_ARITH_TABLE);
    g_assert_cmpuint(arith_get(t, EXANET_REG_ARITH_RULES), ==, 3);
    exanet_assert_own_route(t, HOST, TO_HOST);
    exanet_assert_own_route(t, NODE(255, 0, 0), SPINE1);
    exanet_assert_own_route(t, NODE(9, 0, 0), SPINE0);
    pkt = exanet_router_write(NODE(9, 0, 0), HOST, 0);
    exanet_assert_passed(t, SPINE0, TO_HOST, &pkt, EXANET_VC_DATELINE);
    exanet_assert_passed(t, SPINE1, TO_HOST, &pkt, EXANET_VC_DATELINE);
    /* packets from a port are dropped if the route to their source leads elsewhere */
    pkt = exanet_router_write(NODE(9, 0, 0), NODE(8, 0, 0), 0);
    exanet_assert_dropped(t, TO_HOST, &pkt, EXANET_CNT_DROP_SOURCE);
    pkt = exanet_router_write(HOST, LEAF, 0);
    exanet_assert_dropped(t, SPINE0, &pkt, EXANET_CNT_DROP_SOURCE);
    pkt = exanet_router_write(NODE(255, 0, 1), HOST, 0);
    exanet_assert_dropped(t, SPINE0, &pkt, EXANET_CNT_DROP_SOURCE);
    pkt = exanet_router_write(LEAF, HOST, 0);
    exanet_assert_dropped(t, SPINE0, &pkt, EXANET_CNT_DROP_SOURCE);
    exanet_stop(t);
}

static void test_table_multipath(void)
{
    ExanetTest *t = start_leaf(LEAF_TABLE);

    check_spread(t);
    exanet_stop(t);
}

/*
 * A rule whose links are down: packets are dropped, because no other rule applies to
 * them.
 */
static void test_table_down(void)
{
    ExanetTest *t = start_leaf(LEAF_TABLE);

    exanet_peer_frame(t->ports[SPINE0], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, SPINE0) & EXANET_PORT_STATUS_UP));
    exanet_assert_own_route(t, NODE(9, 0, 0), SPINE1);
    exanet_peer_frame(t->ports[SPINE1], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, SPINE1) & EXANET_PORT_STATUS_UP));
    exanet_assert_own_route(t, NODE(9, 0, 0), -1);
    exanet_assert_own_route(t, NODE(255, 0, 0), -1);
    exanet_assert_own_route(t, HOST, TO_HOST);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/router-arith/example-r1-t3", test_example_r1);
    qtest_add_func("/exanet/router-arith/example-r2-t3", test_example_r2);
    qtest_add_func("/exanet/router-arith/mode", test_mode);
    qtest_add_func("/exanet/router-arith/spoofed", test_spoofed);
    qtest_add_func("/exanet/router-arith/words-missing", test_words_missing);
    qtest_add_func("/exanet/router-arith/blocked-t16", test_blocked);
    qtest_add_func("/exanet/router-arith/blocked-full-t16", test_blocked_full);
    qtest_add_func("/exanet/router-arith/blocked-down", test_blocked_down);
    qtest_add_func("/exanet/router-arith/blocked-change", test_blocked_change);
    qtest_add_func("/exanet/router-arith/blocked-stall", test_blocked_stall);
    qtest_add_func("/exanet/router-arith/permutation-t16", test_permutation);
    qtest_add_func("/exanet/router-arith/multipath-t16", test_multipath);
    qtest_add_func("/exanet/router-arith/multipath-steady",
                   test_multipath_steady);
    qtest_add_func("/exanet/router-arith/paths", test_paths);
    qtest_add_func("/exanet/router-arith/table", test_table);
    qtest_add_func("/exanet/router-arith/table-multipath",
                   test_table_multipath);
    qtest_add_func("/exanet/router-arith/table-down", test_table_down);
    return g_test_run();
}
