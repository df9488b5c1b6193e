/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Crossbar of an EXTOLL NIC: routes, credits of outputs, arbitration, and packets that
 * have no output or wait too long.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/fabric/arbiter.h"
#include "link.h"

enum { A, B, C };                       /* links with a peer */

#define STALL_MS    1000                /* property link-stall-ms of most tests */
/* The rest of a route behind the device, for a packet that ends at the peer. */
#define REST        extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0)
/* Flits that an output without answer of its peer takes. */
#define ROOM        EXTOLL_ROOM_MIN

static uint64_t route_of(unsigned output, unsigned hops0, unsigned hops1, uint64_t rest)
{
    ExtollHops hops = { .output = output, .hops = { hops0, hops1 } };

    return extoll_route_encode(&hops, 1) | rest << EXTOLL_ROUTE_BITS;
}

/* Starts a device with @links peers, of which that at C has little room and keeps it. */
static ExtollTest *start_full(unsigned links, const char *props)
{
    ExtollTest *t = extoll_start_cold(links, props);

    t->peer[C]->room = ROOM;
    t->peer[C]->hold = true;
    for (unsigned i = 0; i < links; i++) {
        extoll_link_bring_up(t, i);
    }
    return t;
}

/* Returns the number that extoll_packet_build() has stored in @rx. */
static unsigned packet_number(const ExtollRxPacket *rx)
{
    return ldq_le_p(rx->buf + EXTOLL_ROUTING_BYTES + 16) >> 12;
}

/* --- Routes --------------------------------------------------------------- */

/* A packet leaves with its route counted down, in the channel of its first hop. */
static void test_route(void)
{
    static const struct {
        unsigned output, hops[2];       /* first character */
        unsigned vc;                    /* of the output */
        unsigned left[2];               /* hops of this character behind the device */
    } routes[] = {
        { B, { 1, 0 }, 0, { 0, 0 } },
        { B, { 0, 1 }, 1, { 0, 0 } },
        { B, { 1, 1 }, 0, { 0, 1 } },
        { B, { 2, 0 }, 0, { 1, 0 } },
        { B, { 63, 63 }, 0, { 62, 63 } },
        { B, { 0, 63 }, 1, { 0, 62 } },
        { A, { 3, 0 }, 0, { 2, 0 } },
    };
    static const unsigned bytes[] = {
        EXTOLL_SHORT_BYTES, EXTOLL_LONG_BYTES, 40, 128, 248,
    };
    ExtollTest *t = extoll_start_links(2, "");
    unsigned n = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(routes); i++) {
        unsigned out = routes[i].output;
        uint64_t next = route_of(C, 7, 9, route_of(A, 0, 2, REST));
        uint64_t route = route_of(out, routes[i].hops[0], routes[i].hops[1], next);
        uint64_t left = routes[i].left[0] + routes[i].left[1] ?
                        route_of(out, routes[i].left[0], routes[i].left[1], next) : next;

        for (unsigned k = 0; k < ARRAY_SIZE(bytes); k++) {
            for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
                extoll_peer_send(t, A, vc, route, bytes[k], n, 3);
                extoll_peer_take(t, out, routes[i].vc, left, bytes[k], n, 3);
                n += 3;
            }
        }
    }
    g_assert_cmpuint(extoll_counter(t, FORWARDED), ==, n);
    g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 0);
    extoll_stop(t);
}

/* Packets without an output are dropped and counted, and their room is free again. */
static void test_bad_route(void)
{
    static const uint64_t outputs[] = { C, 5, 6, 7, 10, 15, EXTOLL_OUTPUT_VELO,
                                        EXTOLL_OUTPUT_RMA };
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[A];
    unsigned n = 0;

    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        for (unsigned i = 0; i < ARRAY_SIZE(outputs); i++) {
            extoll_peer_send(t, A, vc, extoll_hop(outputs[i], 0, 0), EXTOLL_LONG_BYTES,
                             n++, 1);
        }
        /* no route; no hop left; a unit that is not the end */
        extoll_peer_send(t, A, vc, 0, EXTOLL_SHORT_BYTES, n++, 1);
        extoll_peer_send(t, A, vc, route_of(B, 0, 0, REST), EXTOLL_SHORT_BYTES, n++, 1);
        extoll_peer_send(t, A, vc, extoll_hop(EXTOLL_OUTPUT_RMA, 0, REST),
                         EXTOLL_SHORT_BYTES, n++, 1);
    }
    extoll_wait(t, extoll_counter(t, ROUTE_BAD) == n);
    g_assert_cmpuint(extoll_counter(t, FORWARDED), ==, 0);
    g_assert_cmpuint(extoll_port64(t, A, DROPPED), ==, 0);
    extoll_step(t, EXTOLL_TEST_MS);
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        extoll_wait(t, extoll_peer_credits(p, vc) == EXTOLL_ROOM_DEFAULT);
    }
    extoll_link_assert_works(t, A, B, n);
    extoll_stop(t);
}

/* --- Full outputs --------------------------------------------------------- */

/*
 * Output C is full: packets for it wait at input A, whose sender gets no credits any
 * more.  Other inputs and the other channel go on.
 */
static void test_full(void)
{
    ExtollTest *t = start_full(3, ",rx-flits=40,link-stall-ms=0");
    ExtollPeer *p = t->peer[A];
    uint64_t route = extoll_hop(C, 0, REST);

    extoll_peer_send(t, A, 0, route, EXTOLL_SHORT_BYTES, 0, 2 * ROOM);
    extoll_step(t, EXTOLL_TEST_MS);
    g_assert_cmpuint(extoll_port32(t, C, CREDIT_0), ==, 0);
    g_assert_cmpuint(extoll_port32(t, C, CREDIT_1), ==, ROOM);
    g_assert_cmpuint(extoll_peer_credits(p, 0), ==, 0);
    extoll_peer_take(t, C, 0, REST, EXTOLL_SHORT_BYTES, 0, ROOM);
    extoll_step(t, 10000 * EXTOLL_TEST_MS);
    g_assert_cmpuint(extoll_peer_arrived(t->peer[C]), ==, 0);
    /* the other channel of the same cables, and another input and output */
    extoll_peer_send(t, A, 1, extoll_hop(C, 1, REST), EXTOLL_SHORT_BYTES, 1000, ROOM);
    extoll_peer_take(t, C, 1, REST, EXTOLL_SHORT_BYTES, 1000, ROOM);
    extoll_link_assert_works(t, B, A, 1);
    extoll_link_assert_works(t, B, A, 2);
    g_assert_cmpuint(extoll_port64(t, C, TX_FLITS), ==, 2 * ROOM);
    extoll_peer_free_room(t->peer[C]);
    extoll_peer_take(t, C, 0, REST, EXTOLL_SHORT_BYTES, ROOM, ROOM);
    extoll_step(t, EXTOLL_TEST_MS);
    extoll_wait(t, extoll_peer_credits(p, 0) == ROOM);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 0);
    extoll_stop(t);
}

/* A packet leaves only when there is room for all its flits. */
static void test_whole(void)
{
    ExtollTest *t = start_full(3, ",link-stall-ms=0");
    ExtollPeer *c = t->peer[C];
    uint64_t route = extoll_hop(C, 0, REST);

    extoll_peer_send(t, A, 0, route, EXTOLL_LONG_BYTES, 0, 2);
    extoll_peer_take(t, C, 0, REST, EXTOLL_LONG_BYTES, 0, 1);
    extoll_settle(t);
    g_assert_cmpuint(c->rx_flits[0], ==, EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_port32(t, C, CREDIT_0), ==, ROOM - EXTOLL_LONG_FLITS);
    /* one credit too few, and then enough */
    c->rx_freed[0] = 2 * EXTOLL_LONG_FLITS - ROOM - 1;
    extoll_peer_state(c, 0);
    extoll_settle(t);
    g_assert_cmpuint(c->rx_flits[0], ==, EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_port32(t, C, CREDIT_0), ==, EXTOLL_LONG_FLITS - 1);
    c->rx_freed[0]++;
    extoll_peer_state(c, 0);
    extoll_peer_take(t, C, 0, REST, EXTOLL_LONG_BYTES, 1, 1);
    g_assert_cmpuint(extoll_port32(t, C, CREDIT_0), ==, 0);
    extoll_stop(t);
}

/*
 * An output that takes no packet for link-stall-ms: the heads of its inputs are dropped,
 * one in this time, and packets behind them for other outputs pass.
 */
static void test_stall(void)
{
    ExtollTest *t = start_full(3, "");
    ExtollPeer *c = t->peer[C];
    uint64_t route = extoll_hop(C, 0, REST);

    extoll_peer_send(t, A, 0, route, EXTOLL_LONG_BYTES, 0, 1);
    extoll_peer_take(t, C, 0, REST, EXTOLL_LONG_BYTES, 0, 1);
    extoll_peer_send(t, A, 0, route, EXTOLL_LONG_BYTES, 1, 1);
    extoll_peer_send(t, A, 0, extoll_hop(B, 0, REST), EXTOLL_LONG_BYTES, 2, 1);
    extoll_settle(t);
    extoll_step(t, STALL_MS * EXTOLL_TEST_MS - 1);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 0);
    g_assert_cmpuint(extoll_peer_arrived(t->peer[B]), ==, 0);
    extoll_step(t, 1);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 1);
    extoll_peer_take(t, B, 0, REST, EXTOLL_LONG_BYTES, 2, 1);
    /* the next packet has the whole time again */
    extoll_peer_send(t, A, 0, route, EXTOLL_LONG_BYTES, 3, 1);
    extoll_settle(t);
    extoll_step(t, STALL_MS * EXTOLL_TEST_MS - 1);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 1);
    extoll_peer_free_room(c);
    extoll_peer_take(t, C, 0, REST, EXTOLL_LONG_BYTES, 3, 1);
    extoll_step(t, 2 * STALL_MS * EXTOLL_TEST_MS);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 1);
    g_assert_cmpuint(extoll_port64(t, A, DROPPED), ==, 0);
    g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 0);
    extoll_stop(t);
}

/* An output that takes packets slowly does not stall, although inputs wait longer. */
static void test_slow(void)
{
    ExtollTest *t = start_full(3, "");
    ExtollPeer *c = t->peer[C];

    extoll_peer_send(t, A, 0, extoll_hop(C, 0, REST), EXTOLL_LONG_BYTES, 0, 10);
    extoll_peer_send(t, B, 0, extoll_hop(C, 0, REST), EXTOLL_LONG_BYTES, 0, 10);
    for (unsigned i = 1; i < 20; i++) {
        extoll_step(t, (STALL_MS - 1) * EXTOLL_TEST_MS);
        extoll_wait(t, extoll_peer_arrived(c) == i);
        extoll_peer_free_room(c);
    }
    extoll_wait(t, extoll_peer_arrived(c) == 20);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 0);
    g_assert_cmpuint(extoll_counter(t, FORWARDED), ==, 20);
    extoll_stop(t);
}

/* --- Arbitration ---------------------------------------------------------- */

/*
 * Three inputs wait for the same output.  While all wait, each gets its third of the
 * output, within one grant, and its packets stay in order.  All credits are used at once:
 * the peer answers no flit, so nothing but its credits makes the crossbar run.
 */
static void test_fair(void)
{
    enum { INPUTS = 3, EACH = 320 };
    static const struct { unsigned link, vc; } input[INPUTS] = { { A, 0 }, { B, 0 },
                                                                  { B, 1 } };
    ExtollTest *t = start_full(3, ",link-stall-ms=0");
    ExtollPeer *c = t->peer[C];
    uint64_t route = extoll_hop(C, 0, REST);
    unsigned seen[INPUTS] = { 0 };

    c->mute = true;
    /* the output is full first, so that all inputs wait */
    extoll_peer_send(t, A, 0, route, EXTOLL_SHORT_BYTES, 0, ROOM);
    extoll_peer_take(t, C, 0, REST, EXTOLL_SHORT_BYTES, 0, ROOM);
    for (unsigned i = 0; i < INPUTS; i++) {
        extoll_peer_send(t, input[i].link, input[i].vc, route, EXTOLL_SHORT_BYTES,
                         i * EACH, EACH);
    }
    extoll_settle(t);
    while (seen[0] + seen[1] + seen[2] < INPUTS * EACH) {
        unsigned left = INPUTS * EACH - seen[0] - seen[1] - seen[2];
        uint8_t want[EXTOLL_SHORT_BYTES];

        extoll_peer_free_room(c);
        extoll_wait(t, extoll_peer_arrived(c) == MIN(left, ROOM));
        while (!g_queue_is_empty(&c->packets)) {
            g_autofree ExtollRxPacket *rx = g_queue_pop_head(&c->packets);
            unsigned i = packet_number(rx) / EACH;

            g_assert_cmpuint(i, <, INPUTS);
            extoll_packet_build(want, REST, sizeof(want), i * EACH + seen[i]);
            g_assert_cmpmem(rx->buf, rx->bytes, want, sizeof(want));
            seen[i]++;
            for (unsigned k = 0; k < INPUTS && seen[i] < EACH; k++) {
                g_assert_cmpuint(seen[i], <=, seen[k] + 2 * RNIC_ARBITER_PACKETS);
            }
        }
    }
    g_assert_cmpuint(extoll_counter(t, FORWARDED), ==, ROOM + INPUTS * EACH);
    extoll_stop(t);
}

/* The output link is down: packets wait for it, and pass when it comes up. */
static void test_down(void)
{
    ExtollTest *t = extoll_start_cold(3, "");
    uint64_t route = extoll_hop(C, 0, REST);

    t->peer[C]->silent = true;
    extoll_link_bring_up(t, A);
    extoll_link_bring_up(t, B);
    extoll_step(t, EXTOLL_TEST_MS);
    extoll_peer_send(t, A, 0, route, EXTOLL_LONG_BYTES, 0, 5);
    extoll_settle(t);
    extoll_step(t, (STALL_MS - 1) * EXTOLL_TEST_MS);
    g_assert_cmpuint(extoll_port64(t, C, TX_FLITS), ==, 0);
    extoll_link_assert_works(t, B, A, 0);
    t->peer[C]->silent = false;
    extoll_link_bring_up(t, C);
    extoll_peer_take(t, C, 0, REST, EXTOLL_LONG_BYTES, 0, 5);
    g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, 0);
    /* a link that stays down: all packets are dropped, one after the other */
    extoll_port_set(t, C, CTRL, 0);
    extoll_peer_send(t, A, 0, route, EXTOLL_LONG_BYTES, 5, 3);
    extoll_settle(t);
    for (unsigned i = 1; i <= 3; i++) {
        extoll_step(t, STALL_MS * EXTOLL_TEST_MS);
        g_assert_cmpuint(extoll_port64(t, C, DROPPED), ==, i);
    }
    extoll_link_assert_works(t, A, B, 0);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/crossbar/route", test_route);
    qtest_add_func("/extoll/crossbar/bad-route", test_bad_route);
    qtest_add_func("/extoll/crossbar/full", test_full);
    qtest_add_func("/extoll/crossbar/whole", test_whole);
    qtest_add_func("/extoll/crossbar/stall", test_stall);
    qtest_add_func("/extoll/crossbar/slow", test_slow);
    qtest_add_func("/extoll/crossbar/fair", test_fair);
    qtest_add_func("/extoll/crossbar/down", test_down);
    return g_test_run();
}
