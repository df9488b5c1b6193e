/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet switch: roles of ports, routes through the network, and packets that the
 * switch forwards or drops.
 */
#include "qemu/osdep.h"
#include "router.h"

#define DST EXANET_RAM_DST

static const enum exanet_type types[] = {
    EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
    EXANET_TYPE_NOTIFY, EXANET_TYPE_RELEASE, EXANET_TYPE_ACK,
    EXANET_TYPE_FLOW_RATE,
};

/* --- Roles ----------------------------------------------------------------- */

static void assert_role(ExanetTest *t, unsigned port, enum exanet_role role)
{
    g_assert_cmpuint(RNIC_GET(EXANET_PORT_STATUS_ROLE, exanet_port_status(t, port)), ==,
                     role);
}

static void test_roles(void)
{
    static const enum exanet_role roles[PORTS] = {
        EXANET_ROLE_QFDB, EXANET_ROLE_QFDB, EXANET_ROLE_QFDB, EXANET_ROLE_X_PLUS,
        EXANET_ROLE_X_MINUS, EXANET_ROLE_Y_PLUS, EXANET_ROLE_Y_MINUS,
        EXANET_ROLE_UPLINK,
    };
    ExanetTest *t = exanet_router_start();

    for (unsigned i = 0; i < PORTS; i++) {
        assert_role(t, i, roles[i]);
    }
    /*
     * new coordinates of the device change the roles of its ports; the links go down
     * and come up again
     */
    exanet_set32(t, EXANET_REG_NODE, AT(0, 3, 1));
    exanet_wait(t, exanet_port_status(t, XM) & EXANET_PORT_STATUS_UP);
    exanet_wait(t, exanet_port_status(t, YM) & EXANET_PORT_STATUS_UP);
    assert_role(t, XM, EXANET_ROLE_X_PLUS);         /* X + 1 around the ring */
    assert_role(t, YM, EXANET_ROLE_AUTO);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_DIMS, 0);
    assert_role(t, XM, EXANET_ROLE_AUTO);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_DIMS, 4);
    assert_role(t, XM, EXANET_ROLE_X_PLUS);
    /* software sets the role of a port */
    exanet_set32(t, EXANET_PORT(YM) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_Z_PLUS));
    assert_role(t, YM, EXANET_ROLE_Z_PLUS);
    exanet_assert_own_route(t, AT(0, 3, 1) | 2 << 8, YM);
    exanet_set32(t, EXANET_PORT(YM) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, 15));
    assert_role(t, YM, EXANET_ROLE_AUTO);
    exanet_assert_own_route(t, AT(0, 3, 1) | 2 << 8, -1);
    /* without a link there is no role */
    exanet_peer_frame(t->ports[XM], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, XM) & EXANET_PORT_STATUS_UP));
    assert_role(t, XM, EXANET_ROLE_AUTO);
    exanet_stop(t);
}

/* --- Routes ---------------------------------------------------------------- */

/*
 * Routes to all nodes of a torus of 2x2 QFDBs with four nodes each, from F1 and F2 of
 * (0,0).  Each dimension has only one cable, so no route goes around a ring.
 */
static void test_routes_f1(void)
{
    static const uint32_t peers[] = {
        AT(1, 0, 0), AT(2, 0, 0), AT(3, 0, 0), AT(0, 1, 0), AT(0, 0, 1),
    };
    enum { PX = 3, PY };
    ExanetTest *t = exanet_start_ports(AT(0, 0, 0), peers, ARRAY_SIZE(peers),
                                       ",dims=2x2");

    for (unsigned n = 1; n < 16; n++) {
        unsigned f = n % 4, x = n / 4 % 2, y = n / 8;
        ExanetPacket pkt = exanet_router_write(peers[0], AT(f, x, y),
                                               EXANET_PATH_ORDER);
        int first = y ? PY : x ? PX : f - 1;

        exanet_assert_own_route(t, AT(f, x, y), first);
        if (x || y) {
            /* a packet of F2, in the other order of dimensions */
            exanet_assert_passed(t, 0, x ? PX : PY, &pkt, EXANET_VC_ORDER);
            pkt.path = 0;
            pkt.vc = 0;
            exanet_assert_passed(t, 0, first, &pkt, 0);
        } else if (f > 1) {
            exanet_assert_dropped(t, 0, &pkt, EXANET_CNT_DROP_SOURCE);
        }
    }
    /* X 2 is outside of the torus, which only the next node checks */
    exanet_assert_own_route(t, AT(0, 2, 0), PX);
    exanet_assert_own_route(t, AT(0, 0, 0) | 1 << 8, -1);    /* no cable along Z */
    exanet_assert_own_route(t, UPPER(9), -1);
    exanet_stop(t);
}

static void test_routes_f2(void)
{
    static const uint32_t peers[] = {
        AT(0, 0, 0), EXANET_TEST_NO_PEER, AT(2, 0, 0), AT(3, 0, 0),
    };
    ExanetTest *t = exanet_start_ports(AT(1, 0, 0), peers, ARRAY_SIZE(peers),
                                       ",dims=2x2");
    ExanetPacket pkt;

    for (unsigned n = 0; n < 16; n++) {
        unsigned f = n % 4, x = n / 4 % 2, y = n / 8;

        if (n != 1) {
            exanet_assert_own_route(t, AT(f, x, y), x || y ? 0 : f);
        }
    }
    /* the uplink is behind F1 */
    exanet_assert_own_route(t, ELSEWHERE, 0);
    /* F2 forwards no packet for other nodes of its QFDB */
    for (unsigned in = 0; in < 4; in++) {
        for (unsigned out = 0; out < 4; out++) {
            if (in == 1 || out == 1 || in == out) {
                continue;
            }
            pkt = exanet_router_write(peers[in], peers[out], 0);
            exanet_assert_dropped(t, in, &pkt, EXANET_CNT_DROP_SOURCE);
        }
    }
    /* without the cable to F3 no other node forwards packets to F3 */
    exanet_peer_frame(t->ports[2], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, 2) & EXANET_PORT_STATUS_UP));
    exanet_assert_own_route(t, AT(2, 0, 0), -1);
    exanet_assert_own_route(t, AT(2, 1, 0), 0);
    exanet_stop(t);
}

/* Asserts the port by which packets of F2 leave for each QFDB of the torus. */
static void test_routes_torus(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt;

    for (unsigned n = 0; n < 64; n++) {
        unsigned f = n % 4, x = n / 4 % 4, y = n / 16;
        /*
         * from position 1: position 0 is one step down, 2 is one up, 3 is two up,
         * because two down would pass position 0
         */
        int by_x = x == 0 ? XM : x == 1 ? -1 : XP;
        int by_y = y == 0 ? YM : y == 1 ? -1 : YP;

        if (by_x < 0 && by_y < 0) {
            continue;
        }
        pkt = exanet_router_write(exanet_around[F2], AT(f, x, y), 0);
        exanet_assert_passed(t, F2, by_y >= 0 ? by_y : by_x, &pkt, 0);
        pkt = exanet_router_packet(EXANET_TYPE_ACK, exanet_around[F2],
                                   AT(f, x, y), EXANET_PATH_ORDER);
        exanet_assert_passed(t, F2, by_x >= 0 ? by_x : by_y, &pkt, EXANET_VC_ORDER);
    }
    exanet_stop(t);
}

/* --- Passing on ------------------------------------------------------------ */

/*
 * Packets of each type from and to each role of port: only the fields of the switch
 * change.
 */
static void test_forward(void)
{
    static const struct {
        unsigned in, out;
        uint32_t src, dst;
        unsigned path;
    } routes[] = {
        { F2, XP, AT(1, 1, 1), AT(0, 2, 1), 0 },
        { F3, YM, AT(2, 1, 1), AT(3, 2, 0), 0 },
        { F4, UP, AT(3, 1, 1), ELSEWHERE | 0x1234, 0 },
        { XM, XP, AT(0, 0, 1), AT(0, 2, 1), 0 },
        { XM, XP, AT(3, 0, 1), AT(2, 2, 1), EXANET_PATH_ORDER },
        { YM, XP, AT(0, 1, 0), AT(0, 3, 1), 0 },
        { XM, YP, AT(0, 0, 1), AT(0, 1, 3), EXANET_PATH_ORDER },
        { YP, F4, AT(1, 1, 2), AT(3, 1, 1), 0 },
        { XP, F2, AT(0, 3, 1), AT(1, 1, 1), EXANET_PATH_ORDER },
        { UP, F3, ELSEWHERE | 0x21, AT(2, 1, 1), 0 },
        { UP, YM, ELSEWHERE, AT(0, 1, 0), 0 },
    };
    ExanetTest *t = exanet_router_start();

    for (unsigned i = 0; i < ARRAY_SIZE(routes); i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(types); k++) {
            ExanetPacket pkt = exanet_router_packet(types[k], routes[i].src,
                                                    routes[i].dst, routes[i].path);

            if (types[k] == EXANET_TYPE_FLOW_RATE && routes[i].path) {
                continue;           /* FLOW_RATE has no path */
            }
            exanet_assert_passed(t, routes[i].in, routes[i].out, &pkt, pkt.vc);
        }
    }
    g_assert_cmpuint(exanet_count(t, TX_WRITE) + exanet_count(t, TX_ACK), ==, 0);
    g_assert_cmpuint(exanet_count(t, RX_WRITE) + exanet_count(t, RX_ACK), ==, 0);
    exanet_stop(t);
}

/*
 * A packet that passes the wrap-around cable uses the odd channel until it changes the
 * dimension.
 */
static void test_dateline(void)
{
    static const uint32_t peers[] = {
        AT(0, 4, 0), AT(0, 1, 0), AT(0, 0, 1), AT(0, 0, 4), AT(1, 0, 0),
    };
    enum { LEFT, RIGHT, ABOVE, BELOW, SECOND };
    ExanetTest *t = exanet_start_ports(AT(0, 0, 0), peers, ARRAY_SIZE(peers),
                                       ",dims=5x5");
    ExanetPacket pkt;

    for (unsigned path = 0; path <= EXANET_PATH_ORDER;
         path += EXANET_PATH_ORDER) {
        unsigned order = path ? EXANET_VC_ORDER : 0;
        unsigned odd = order | EXANET_VC_DATELINE;

        /* arrives by the wrap-around cable, and stays in the dimension */
        pkt = exanet_router_write(AT(0, 4, 0), AT(0, 1, 0), path);
        pkt.vc = odd;
        exanet_assert_passed(t, LEFT, RIGHT, &pkt, odd);
        /* the other direction: leaves by the wrap-around cable */
        pkt = exanet_router_write(AT(0, 1, 0), AT(0, 4, 0), path);
        exanet_assert_passed(t, RIGHT, LEFT, &pkt, odd);
        /* enters the QFDB */
        pkt = exanet_router_write(AT(0, 4, 0), AT(1, 0, 0), path);
        pkt.vc = odd;
        exanet_assert_passed(t, LEFT, SECOND, &pkt, order);
        /* leaves the QFDB */
        pkt = exanet_router_write(AT(1, 0, 0), AT(0, 3, 0), path);
        exanet_assert_passed(t, SECOND, LEFT, &pkt, odd);
        pkt = exanet_router_write(AT(1, 0, 0), AT(0, 2, 0), path);
        exanet_assert_passed(t, SECOND, RIGHT, &pkt, order);
    }
    /* from Y to X, and in the other order from X to Y */
    pkt = exanet_router_write(AT(0, 0, 4), AT(0, 1, 0), 0);
    pkt.vc = EXANET_VC_DATELINE;
    exanet_assert_passed(t, BELOW, RIGHT, &pkt, 0);
    pkt = exanet_router_packet(EXANET_TYPE_ACK, 0, AT(0, 0, 1),
                               EXANET_PATH_ORDER);
    pkt.vc |= EXANET_VC_DATELINE;
    exanet_assert_passed(t, LEFT, ABOVE, &pkt, EXANET_VC_ORDER);
    exanet_assert_own_route(t, AT(0, 3, 0), LEFT);
    exanet_stop(t);
}

static void test_ttl(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt;

    for (unsigned k = 0; k < ARRAY_SIZE(types); k++) {
        pkt = exanet_router_packet(types[k], exanet_around[XM],
                                   exanet_around[XP], 0);
        pkt.ttl = 0;
        pkt.hops = EXANET_HOPS_MAX;
        exanet_assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_TTL);
        pkt.ttl = 1;
        pkt.hops = EXANET_HOPS_MAX - 1;
        exanet_assert_passed(t, XM, XP, &pkt, 0);
        pkt.ttl = EXANET_TTL_MAX;
        pkt.hops = 0;
        exanet_assert_passed(t, XM, XP, &pkt, 0);
    }
    /* a packet at its destination may have ttl 0 */
    pkt = exanet_router_write(exanet_around[XM], HERE, 0);
    pkt.ttl = 0;
    exanet_router_send(t, XM, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 1);
    exanet_assert_drops(t, EXANET_CNT_DROP_TTL, 0);
    exanet_stop(t);
}

static void test_no_route(void)
{
    static const struct {
        unsigned in;
        uint32_t dst;
    } nowhere[] = {
        { XM, AT(0, 0, 1) },            /* back to the cable of arrival */
        { XM, AT(2, 0, 1) }, { XP, AT(0, 3, 1) },
        { XM, AT(0, 5, 1) },            /* not in the ring */
        { XM, AT(0, 1, 1) | 1 << 8 },   /* no cable along Z */
        { UP, ELSEWHERE }, { UP, ELSEWHERE | 5 },
        { UP, UPPER(7) }, /* arrives by an uplink, so it must not leave by one */
    };
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt;

    for (unsigned i = 0; i < ARRAY_SIZE(nowhere); i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(types); k++) {
            pkt = exanet_router_packet(types[k], exanet_around[nowhere[i].in],
                                       nowhere[i].dst, 0);
            exanet_assert_dropped(t, nowhere[i].in, &pkt, EXANET_CNT_DROP_NO_ROUTE);
        }
    }
    /* mode NI: only a network interface, without a router */
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_MODE, EXANET_SW_MODE_NI);
    pkt = exanet_router_write(exanet_around[XM], exanet_around[XP], 0);
    exanet_assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    exanet_assert_own_route(t, AT(0, 3, 1), XP);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_MODE, EXANET_SW_MODE_ROUTER);
    exanet_assert_passed(t, XM, XP, &pkt, 0);
    /* only the router, because the guest has not enabled the network interface yet */
    exanet_set32(t, EXANET_REG_CTRL, 0);
    exanet_assert_passed(t, XM, XP, &pkt, 0);
    pkt = exanet_router_write(exanet_around[XM], HERE, 0);
    exanet_assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_DISABLED);
    exanet_stop(t);
}

/* A register sets the dimension that comes first. */
static void test_order(void)
{
    static const struct {
        uint32_t order;
        unsigned first;
    } orders[] = {
        { 2 << 4 | 1 << 2 | 0, XP }, { 0 << 4 | 1 << 2 | 2, YP },
        { 1 << 4 | 0 << 2 | 2, XP }, { 0, YP }, { 0x3f, YP },
    };
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt = exanet_router_write(exanet_around[F2], AT(0, 2, 2), 0);

    for (unsigned i = 0; i < ARRAY_SIZE(orders); i++) {
        exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_ORDER, orders[i].order);
        exanet_assert_passed(t, F2, orders[i].first, &pkt, 0);
    }
    /* the order also defines by which port the packets of a source must arrive */
    pkt = exanet_router_write(exanet_around[XM], AT(0, 1, 2), 0);
    exanet_assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_SOURCE);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_ORDER, orders[0].order);
    exanet_assert_passed(t, XM, YP, &pkt, 0);
    exanet_stop(t);
}

/* Parallel cables between two nodes: the path selects one of those that are up. */
static void test_parallel(void)
{
    static const uint32_t peers[] = {
        AT(1, 1, 1), AT(0, 2, 1), EXANET_TEST_NO_PEER, AT(0, 2, 1), AT(0, 2, 1),
    };
    static const unsigned cables[] = { 1, 3, 4 };
    ExanetTest *t = exanet_start_ports(HERE, peers, ARRAY_SIZE(peers), "");

    for (unsigned path = 0; path < EXANET_PATHS; path++) {
        unsigned vc = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0;
        ExanetPacket pkt = exanet_router_write(peers[0], AT(2, 3, 1), path);

        exanet_assert_passed(t, 0, cables[path % 4 % 3], &pkt, vc);
        pkt.dst = peers[1];
        exanet_assert_passed(t, 0, cables[path % 4 % 3], &pkt, vc);
    }
    exanet_peer_frame(t->ports[3], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, 3) & EXANET_PORT_STATUS_UP));
    for (unsigned path = 0; path < EXANET_PATH_ORDER; path++) {
        ExanetPacket pkt = exanet_router_write(peers[0], AT(2, 3, 1), path);

        exanet_assert_passed(t, 0, path % 2 ? 4 : 1, &pkt, 0);
    }
    exanet_stop(t);
}

static void test_uplinks(void)
{
    static const uint32_t peers[] = {
        UPPER(6), UPPER(7) | 3, AT(1, 0, 0), AT(0, 1, 0),
    };
    enum { SIX, SEVEN, SECOND, RIGHT };
    ExanetTest *t = exanet_start_ports(AT(0, 0, 0), peers, ARRAY_SIZE(peers), "");
    ExanetPacket pkt;

    /* the uplink to these coordinates, else any uplink, by path */
    exanet_assert_own_route(t, UPPER(6) | 0x123, SIX);
    exanet_assert_own_route(t, UPPER(7), SEVEN);
    exanet_assert_own_route(t, UPPER(8), SIX);
    pkt = exanet_router_write(peers[SECOND], UPPER(8), 1);
    exanet_assert_passed(t, SECOND, SEVEN, &pkt, 0);
    /*
     * a packet that arrives by an uplink leaves by the uplink to its destination, in
     * the odd channel; without such an uplink it is dropped
     */
    pkt = exanet_router_write(UPPER(6) | 7, UPPER(7), 0);
    exanet_assert_passed(t, SIX, SEVEN, &pkt, EXANET_VC_DATELINE);
    pkt.dst = UPPER(8);
    pkt.path = 1;
    exanet_assert_dropped(t, SIX, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    pkt.path = 0;
    /* packets that arrive by an uplink must have a source outside */
    pkt = exanet_router_write(UPPER(8), AT(3, 2, 0), 0);
    exanet_assert_passed(t, SIX, RIGHT, &pkt, 0);
    pkt.src = AT(1, 0, 0);
    exanet_assert_dropped(t, SIX, &pkt, EXANET_CNT_DROP_SOURCE);
    exanet_stop(t);
}

/* A port in loop-back: packets of this node to itself leave and arrive by this port. */
static void test_loop_back(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(HERE, DST), .len = 1000,
        .ctrl = RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
    };
    ExanetPacket pkt = exanet_router_write(exanet_around[XM], exanet_around[XP],
                                           0);
    uint8_t data[1000];

    exanet_set32(t, EXANET_PORT(UP) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE | EXANET_PORT_CTRL_LOOPBACK);
    g_assert_cmphex(exanet_get32(t, EXANET_PORT(UP) + EXANET_REG_PORT_PEER), ==,
                    HERE);
    assert_role(t, UP, EXANET_ROLE_AUTO);
    exanet_fill(t, x.src, data, sizeof(data), 1);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_mem(t, DST, data, sizeof(data));
    /* four packets and their ack */
    g_assert_cmpuint(exanet_port_get(t, UP, EXANET_REG_PORT_TX_PACKETS), ==, 5);
    g_assert_cmpuint(exanet_port_get(t, UP, EXANET_REG_PORT_RX_PACKETS), ==, 5);
    exanet_assert_drops(t, EXANET_CNT_DROP_SOURCE, 0);
    /* other packets do not use the port */
    exanet_assert_own_route(t, ELSEWHERE, -1);
    exanet_assert_passed(t, XM, XP, &pkt, 0);
    exanet_set32(t, EXANET_PORT(UP) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- What others try ------------------------------------------------------- */

static void test_forged(void)
{
    static const struct {
        unsigned in;
        uint32_t src, dst;
        unsigned path;
    } lies[] = {
        { F2, AT(2, 1, 1), HERE, 0 }, /* an FPGA with the coordinates of another */
        { F2, AT(0, 0, 1), HERE, 0 }, { F2, HERE, HERE, 0 },
        { XM, HERE, HERE, 0 }, { XM, AT(1, 1, 1), HERE, 0 },
        { XM, AT(0, 2, 1), HERE, 0 },           /* the source's packets arrive by XP */
        { YP, AT(0, 0, 2), HERE, 0 }, /* Y first: the source's packets arrive by XM */
        /* X first: the source's packets arrive by YP */
        { XM, AT(0, 0, 2), HERE, EXANET_PATH_ORDER },
        { XP, AT(0, 0, 1), HERE, 0 },
        { UP, AT(1, 1, 1), HERE, 0 }, { UP, AT(0, 3, 3), HERE, 0 },
        /* forged packets to other nodes */
        { F2, AT(2, 1, 1), AT(0, 2, 1), 0 }, { F2, AT(0, 0, 1), AT(0, 2, 1), 0 },
        { F2, AT(1, 1, 1), AT(2, 1, 1), 0 },    /* F2 and F3 have a cable of their own */
        { XM, AT(0, 0, 1), AT(0, 1, 2), 0 },    /* X before Y is the wrong order */
        { XM, AT(1, 1, 1), AT(0, 2, 1), 0 }, { XM, HERE, AT(0, 2, 1), 0 },
        { YP, AT(0, 1, 0), AT(0, 2, 1), 0 },
        { UP, AT(0, 1, 0), AT(0, 2, 1), 0 },
        { XM, AT(0, 0, 1), ELSEWHERE, 0 },      /* other F1s have uplinks of their own */
        /* arrives from outside, and must not leave again */
        { F3, ELSEWHERE, UPPER(9), 0 },
    };
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt;

    for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
        for (unsigned k = 0; k < 5; k++) {      /* types with a source */
            pkt = exanet_router_packet(types[k], lies[i].src, lies[i].dst,
                                       lies[i].path);
            exanet_assert_dropped(t, lies[i].in, &pkt, EXANET_CNT_DROP_SOURCE);
        }
    }
    g_assert_cmpuint(exanet_count(t, RX_WRITE) + exanet_count(t, RX_CONTROL), ==,
                     0);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 0);
    /* a packet of this source is valid only by the port of its order of dimensions */
    pkt = exanet_router_write(AT(2, 0, 2), HERE, 0);
    exanet_router_send(t, YP, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 0);
    /* Y comes first, so the packet arrives from (0,2) */
    exanet_assert_drops(t, EXANET_CNT_DROP_SOURCE, 1);
    exanet_router_send(t, XM, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 1);
    pkt.path = EXANET_PATH_ORDER;
    pkt.vc = EXANET_VC_ORDER;
    exanet_router_send(t, YP, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 2);
    exanet_assert_drops(t, EXANET_CNT_DROP_SOURCE, 0);
    exanet_stop(t);
}

/* Returns the ack of packet @rx of the device. */
static ExanetPacket answer_of(const ExanetRxPacket *rx)
{
    return (ExanetPacket) {
        .type = EXANET_TYPE_ACK, .dst = HERE, .epoch = EXANET_TEST_EPOCH,
        .tid = rx->pkt.tid, .seq = rx->pkt.seq, .path = rx->pkt.path,
        .small = rx->pkt.user & EXANET_FTR_USER_SMALL,
    };
}

/*
 * An ack has no source, but the device accepts it only from ports by which an answer to
 * its packet may arrive.
 */
static void test_forged_acks(void)
{
    static const struct {
        uint32_t dst;
        /* port of the packet; bit mask of ports from which an ack is refused */
        unsigned out, others;
    } tries[] = {
        { AT(1, 1, 1), F2, 1 << F3 | 1 << XP | 1 << UP },
        { AT(0, 2, 1), XP, 1 << XM | 1 << F2 | 1 << YP },
        { AT(2, 0, 2), YP, 1 << YP | 1 << XP | 1 << YM | 1 << F3 },
        /* the device does not know which uplinks other nodes have */
        { ELSEWHERE + 3, UP, 0 },
    };
    ExanetTest *t = exanet_router_start();

    for (unsigned i = 0; i < ARRAY_SIZE(tries); i++) {
        /* each direction goes along Y first */
        unsigned back = tries[i].out == YP ? XM : tries[i].out;
        ExanetTransfer x = {
            .src = EXANET_RAM_SRC, .dst = exanet_gva(tries[i].dst, EXANET_RAM_DST),
            .len = 64,
        };

        for (unsigned rdma = 0; rdma < 2; rdma++) {
            g_autofree ExanetRxPacket *rx = NULL;
            ExanetPacket ack;

            if (rdma) {
                exanet_channel_start(t, 0, 0, &x);
            } else {
                exanet_pktz_start(t, 0, 0, x.dst, "r", 1, EXANET_PKTZ_ACK);
            }
            rx = exanet_peer_take_type(t->ports[tries[i].out],
                                       EXANET_TYPE_WRITE);
            ack = answer_of(rx);
            for (unsigned port = 0; port < PORTS; port++) {
                if (tries[i].others & 1 << port) {
                    exanet_assert_dropped(t, port, &ack, EXANET_CNT_DROP_SOURCE);
                }
            }
            if (rdma) {
                g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==,
                                 EXANET_CHANNEL_ACTIVE);
                exanet_router_send(t, back, &ack);
                exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
            } else {
                g_assert_cmpuint(exanet_pktz_state(t, 0, 0), ==,
                                 EXANET_PKTZ_WAITING);
                exanet_router_send(t, back, &ack);
                exanet_wait(t, exanet_pktz_state(t, 0, 0) == EXANET_PKTZ_ACKED);
            }
        }
    }
    exanet_stop(t);
}

/* FLOW_RATE is accepted only from a port on the route of the flow. */
static void test_forged_rates(void)
{
    static const struct {
        uint32_t dst;
        unsigned good;                  /* bit mask of ports */
    } tries[] = {
        { AT(1, 1, 1), 1 << F2 }, { AT(0, 2, 1), 1 << XP },
        /* by YP, or by XM with X first, which is also the port of its own answer */
        { AT(2, 0, 2), 1 << XM | 1 << YP }, { AT(0, 1, 0), 1 << YM },
        { ELSEWHERE + 3, (1 << PORTS) - 1 }, { HERE, 0 },
        { AT(0, 9, 9), 0 },
    };
    ExanetTest *t = exanet_router_start();

    for (unsigned i = 0; i < ARRAY_SIZE(tries); i++) {
        for (unsigned port = 0; port < PORTS; port++) {
            ExanetPacket pkt = {
                .type = EXANET_TYPE_FLOW_RATE, .dst = HERE, .desired = 0x5a,
                .small = EXANET_SMALL(EXANET_NI_EXADMA),
                .flow_dst = tries[i].dst,
            };

            exanet_router_send(t, port, &pkt);
            exanet_assert_drops(t, EXANET_CNT_DROP_SOURCE,
                                !(tries[i].good & 1 << port));
        }
    }
    exanet_stop(t);
}

/*
 * A damaged footer raises no error of the source.  The first switch drops the packet if
 * the damaged source is impossible; else the destination drops it.
 */
static void test_damaged(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt = exanet_router_write(exanet_around[XM], exanet_around[XP],
                                           0);
    static const unsigned bits[] = { 15, 37 }; /* numbers of bits in source and epoch */

    for (unsigned i = 0; i < ARRAY_SIZE(bits); i++) {
        uint8_t buf[EXANET_PACKET_BYTES];
        unsigned words = exanet_peer_encode(buf, &pkt);
        uint64_t seen = exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS);

        buf[(words - 1) * EXANET_WORD_BYTES + bits[i] / 8] ^= 1 << bits[i] % 8;
        t->ports[XP]->dump = g_byte_array_new();
        exanet_peer_words(t->ports[XM], buf, words);
        exanet_wait(t, exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS) ==
                    seen + 1);
        exanet_settle(t);
        g_assert_cmpuint(t->ports[XP]->dump->len, ==,
                         i ? words * EXANET_WORD_BYTES : 0);
        exanet_assert_drops(t, EXANET_CNT_DROP_FOOTER_CRC, !i);
        g_byte_array_unref(g_steal_pointer(&t->ports[XP]->dump));
    }
    g_assert_cmpuint(exanet_port_get(t, XM, EXANET_REG_PORT_BAD_FOOTER), ==, 1);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 1);
    exanet_stop(t);
}

/* A packet whose channel differs from the channel of its frame is dropped. */
static void test_wrong_vc(void)
{
    ExanetTest *t = exanet_router_start();

    for (unsigned vc = 0; vc < 32; vc++) {
        for (unsigned channel = 0; channel < EXANET_VCS; channel++) {
            ExanetPacket pkt = exanet_router_write(exanet_around[XM],
                                                   exanet_around[XP], 0);
            uint64_t seen = exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS) + 1;

            pkt.vc = vc;
            t->ports[XM]->vc = channel;
            exanet_peer_send(t->ports[XM], &pkt);
            exanet_wait(t, exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS) == seen);
            exanet_assert_drops(t, EXANET_CNT_DROP_MALFORMED, vc != channel);
            if (vc == channel) {
                /* the path gives the order, the link gives the dateline */
                exanet_router_expect(t, XP, &pkt, vc & EXANET_VC_DATELINE);
            }
        }
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/*
 * Counts packets that the router forwards from outside, and packets that end in the
 * QFDB.
 */
static void test_router_counters(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt = exanet_router_write(exanet_around[XM], exanet_around[XP],
                                           0);

    exanet_assert_passed(t, XM, XP, &pkt, 0);
    pkt = exanet_router_write(exanet_around[YM], exanet_around[XP], 0);
    exanet_assert_passed(t, YM, XP, &pkt, 0);
    g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_TRANSIT), ==,
                     2);
    pkt.dst = exanet_around[F4];
    exanet_assert_passed(t, YM, F4, &pkt, 0);
    pkt.dst = HERE;
    exanet_router_send(t, YM, &pkt);
    g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL_OUT), ==,
                     2);
    /* packets inside the QFDB do not pass the router [T 6.4] */
    exanet_assert_own_route(t, exanet_around[F2], F2);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                                      8 * i), ==, 0);
    }
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 3);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/router/roles", test_roles);
    qtest_add_func("/exanet/router/routes-f1-t26", test_routes_f1);
    qtest_add_func("/exanet/router/routes-f2-t26", test_routes_f2);
    qtest_add_func("/exanet/router/routes-torus-t26", test_routes_torus);
    qtest_add_func("/exanet/router/forward-t26", test_forward);
    qtest_add_func("/exanet/router/dateline", test_dateline);
    qtest_add_func("/exanet/router/ttl-t26", test_ttl);
    qtest_add_func("/exanet/router/no-route-t26", test_no_route);
    qtest_add_func("/exanet/router/order", test_order);
    qtest_add_func("/exanet/router/parallel", test_parallel);
    qtest_add_func("/exanet/router/uplinks", test_uplinks);
    qtest_add_func("/exanet/router/loop-back-t26", test_loop_back);
    qtest_add_func("/exanet/router/forged-t24", test_forged);
    qtest_add_func("/exanet/router/forged-acks", test_forged_acks);
    qtest_add_func("/exanet/router/forged-rates", test_forged_rates);
    qtest_add_func("/exanet/router/damaged", test_damaged);
    qtest_add_func("/exanet/router/wrong-vc-t24", test_wrong_vc);
    qtest_add_func("/exanet/router/router-counters-t26", test_router_counters);
    return g_test_run();
}
