/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet switch: outputs that are blocked, and outputs that all inputs want.  No packet
 * waits without need, no packet is lost, and each input gets its part.
 */
#include "qemu/osdep.h"
#include "router.h"

#define STREAM 40                   /* packets of a stream */

/*
 * The own NI, F2, F3 and F4 enter the router by a port each: streams to four
 * neighbours, one of which is blocked by XOFF, do not wait for each other.
 */
static void test_local_ports(void)
{
    static const unsigned out[] = { YP, XP, XM, YM };
    ExanetTest *t = exanet_router_start();

    exanet_port_stop(t, XP);
    exanet_stream_send(t, F2, exanet_around[F2], exanet_around[XP], 0, STREAM);
    exanet_stream_send(t, F3, exanet_around[F3], exanet_around[XM], 0, STREAM);
    exanet_stream_send(t, F4, exanet_around[F4], exanet_around[YM], 0, STREAM);
    exanet_stream_take(t, XM, exanet_around[F3], 0, STREAM);
    exanet_stream_take(t, YM, exanet_around[F4], 0, STREAM);
    for (unsigned i = 0; i < STREAM; i++) {
        exanet_assert_own_route(t, exanet_around[YP], YP);
    }
    g_assert_cmpuint(exanet_port_level(t, F2), >, 0);
    g_assert_cmpuint(exanet_port_level(t, F3), ==, 0);
    g_assert_cmpuint(exanet_port_level(t, F4), ==, 0);
    g_assert_true(g_queue_is_empty(&t->ports[XP]->packets));
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                                      8 * i), ==, i == 1 ? 0 : STREAM);
    }
    exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
    exanet_stream_take(t, XP, exanet_around[F2], 0, STREAM);
    exanet_assert_quiet(t);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                                      8 * i), ==, STREAM);
        g_assert_cmpuint(exanet_port_get(t, out[i], EXANET_REG_PORT_TX_PACKETS), ==,
                         STREAM);
    }
    g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL_OUT), ==,
                     0);
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* One channel of a cable is blocked by XOFF, and the other channels continue. */
static void test_channels(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetPacket pkt = exanet_router_write(exanet_around[XM], exanet_around[XP],
                                           EXANET_PATH_ORDER);

    exanet_port_stop(t, XP);
    exanet_stream_send(t, XM, exanet_around[XM], exanet_around[XP], 0, STREAM);
    for (unsigned i = 0; i < STREAM; i++) {
        exanet_assert_passed(t, XM, XP, &pkt, EXANET_VC_ORDER);
    }
    g_assert_cmpuint(exanet_port_level(t, XM), >, 0);
    exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
    exanet_stream_take(t, XP, exanet_around[XM], 0, STREAM);
    exanet_stop(t);
}

/*
 * A cable goes down for which packets wait: these are dropped, and the packets behind
 * them continue.
 */
static void test_cut(void)
{
    ExanetTest *t = exanet_router_start();

    exanet_port_stop(t, XP);
    exanet_stream_send(t, F2, exanet_around[F2], exanet_around[XP], 0, STREAM);
    exanet_stream_send(t, F2, exanet_around[F2], exanet_around[XM], 0, STREAM);
    exanet_settle(t);
    g_assert_true(g_queue_is_empty(&t->ports[XM]->packets));
    exanet_peer_frame(t->ports[XP], RNIC_LINK_DOWN, NULL, 0);
    exanet_stream_take(t, XM, exanet_around[F2], 0, STREAM);
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, STREAM);
    g_assert_cmpuint(exanet_port_level(t, F2), ==, 0);
    exanet_stop(t);
}

/* --- Contention ------------------------------------------------------------ */

#define CROWD 4                     /* senders: F2, F3, F4, and this node's ExaDMA */
#define CROWD_PACKETS 256           /* packets of each sender */
#define FAIR_WINDOW (CROWD * 2 * 16)

static const uint32_t crowd_src[CROWD] = {
    AT(1, 1, 1), AT(2, 1, 1), AT(3, 1, 1), HERE,
};

/* Lets all senders send to XP, which is blocked by XOFF. */
static void crowd_gather(ExanetTest *t)
{
    exanet_port_stop(t, XP);
    for (unsigned i = 0; i < CROWD - 1; i++) {
        exanet_stream_send(t, F2 + i, crowd_src[i], exanet_around[XP], 0, CROWD_PACKETS);
    }
    for (unsigned tid = 0; tid < CROWD_PACKETS / EXANET_BLOCK_PACKETS; tid++) {
        ExanetDesc d = {
            .src = EXANET_RAM_SRC, .dst = exanet_gva(exanet_around[XP], EXANET_RAM_DST),
            .len = EXANET_BLOCK_BYTES, .pdid = EXANET_TEST_PDID(0),
        };

        exanet_desc_write(t, tid, &d);
    }
    exanet_settle(t);
    exanet_assert_quiet(t);
}

/*
 * Takes all packets.  While all senders have packets left, asserts that each sends at
 * least half of an equal part of every window.  @ns: step of time while no packet
 * arrives.
 */
static void crowd_take(ExanetTest *t, int64_t ns)
{
    unsigned all[CROWD] = { 0 }, window[CROWD] = { 0 };
    bool finished = false;
    unsigned n = 0;

    while (n < CROWD * CROWD_PACKETS) {
        g_autofree ExanetRxPacket *rx = NULL;
        unsigned i;

        if (ns && g_queue_is_empty(&t->ports[XP]->packets)) {
            exanet_step(t, ns);
            continue;
        }
        rx = exanet_peer_take(t->ports[XP]);
        for (i = 0; rx->pkt.src != crowd_src[i]; i++) {
            g_assert_cmpuint(i, <, CROWD - 1);
        }
        if (i < CROWD - 1) {
            g_assert_cmpuint(rx->pkt.tid, ==, all[i]);
        }
        window[i]++;
        finished |= ++all[i] == CROWD_PACKETS;
        if (++n % FAIR_WINDOW == 0) {
            for (unsigned k = 0; k < CROWD && !finished; k++) {
                g_assert_cmpuint(window[k], >=, FAIR_WINDOW / CROWD / 2);
            }
            memset(window, 0, sizeof(window));
        }
    }
    g_assert_cmpuint(n, ==, CROWD * CROWD_PACKETS);
    exanet_assert_quiet(t);
}

static void test_contention(void)
{
    ExanetTest *t = exanet_router_start();

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    for (unsigned round = 0; round < 3; round++) {
        crowd_gather(t);
        exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
        crowd_take(t, 0);
    }
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/*
 * Senders share a cable of 1 Gb/s, where a frame has room for few packets, equally,
 * too.
 */
static void test_contention_slow(void)
{
    ExanetTest *t = exanet_router_start();

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_set32(t, EXANET_PORT(XP) + EXANET_REG_PORT_RATE, 1000000);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    crowd_gather(t);
    exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
    crowd_take(t, 20000);
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* A sender that came first, and senders with few packets, do not delay the others. */
static void test_contention_uneven(void)
{
    ExanetTest *t = exanet_router_start();
    unsigned n = 0;

    exanet_port_stop(t, XP);
    exanet_stream_send(t, F2, crowd_src[0], exanet_around[XP], 0, CROWD_PACKETS);
    exanet_settle(t);
    exanet_stream_send(t, F3, crowd_src[1], exanet_around[XP], 0, 3);
    exanet_stream_send(t, F4, crowd_src[2], exanet_around[XP], 0, 20);
    exanet_settle(t);
    exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
    for (unsigned left = 23; left; n++) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[XP]);

        left -= rx->pkt.src != crowd_src[0];
    }
    g_assert_cmpuint(n, <=, 23 + 3 * 16);
    for (; n < CROWD_PACKETS + 23; n++) {
        g_free(exanet_peer_take(t->ports[XP]));
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Two of three inputs that wait go down: the third one continues. */
static void test_contention_gone(void)
{
    ExanetTest *t = exanet_router_start();

    exanet_port_stop(t, XP);
    for (unsigned i = F2; i <= F4; i++) {
        exanet_stream_send(t, i, exanet_around[i], exanet_around[XP], 0,
                           CROWD_PACKETS);
    }
    exanet_settle(t);
    exanet_peer_frame(t->ports[F2], RNIC_LINK_DOWN, NULL, 0);
    exanet_peer_frame(t->ports[F4], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, exanet_port_level(t, F2) + exanet_port_level(t, F4) == 0);
    exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
    for (unsigned n = 0; n < CROWD_PACKETS;) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[XP]);

        n += rx->pkt.src == exanet_around[F3];
    }
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/router/arbitration-local-ports-t26",
                   test_local_ports);
    qtest_add_func("/exanet/router/arbitration-channels-t25", test_channels);
    qtest_add_func("/exanet/router/arbitration-cut", test_cut);
    qtest_add_func("/exanet/router/arbitration-contention", test_contention);
    qtest_add_func("/exanet/router/arbitration-contention-slow",
                   test_contention_slow);
    qtest_add_func("/exanet/router/arbitration-contention-uneven",
                   test_contention_uneven);
    qtest_add_func("/exanet/router/arbitration-contention-gone",
                   test_contention_gone);
    return g_test_run();
}
