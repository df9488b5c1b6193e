/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines in a line, each with a cable to the next, and a test peer at both ends:
 * packets cross all machines in both directions.
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "link.h"

#define MACHINES    3           /* maximum */
#define CABLE       0           /* link of a cable at the ends of the line */
#define PEER        1           /* link of the test peers at the ends */
#define LEFT        2           /* links of the cables of a machine in the middle */
#define RIGHT       3
#define PACKETS     200         /* of each virtual channel and direction */
#define REST        extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0)

typedef struct Line {
    unsigned count;
    ExtollTest *t[MACHINES];
    char *dir;
} Line;

static void pump(Line *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        extoll_settle(l->t[i]);
    }
}

/* Moves the time of all machines. */
static void step(Line *l, int64_t ns)
{
    for (unsigned i = 0; i < l->count; i++) {
        qtest_clock_step(l->t[i]->qts, ns);
    }
    pump(l);
}

/* Returns the link of machine @i for cable @cable, which is left or right of it. */
static unsigned link_of(const Line *l, unsigned i, unsigned cable)
{
    if (i == 0 || i == l->count - 1) {
        return CABLE;
    }
    return cable == i ? RIGHT : LEFT;
}

/* Returns true if all links of all machines are up. */
static bool line_up(Line *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        for (unsigned cable = MAX(i, 1) - 1; cable <= i && cable + 1 < l->count;
             cable++) {
            if (!extoll_link_up_get(l->t[i], link_of(l, i, cable))) {
                return false;
            }
        }
    }
    return true;
}

/* Returns the options of machine @i for its cables and its peer, and adds properties. */
static char *options_of(Line *l, unsigned i, ExtollPeer *peer, GString *props)
{
    g_autoptr(GString) netdevs = g_string_new(NULL);

    if (peer) {
        g_autofree char *text = wire_peer_options(&peer->wire, "peer");

        g_string_append_printf(netdevs, "%s ", text);
        g_string_append_printf(props, ",link%u=peer", PEER);
    }
    for (unsigned cable = MAX(i, 1) - 1; cable <= i && cable + 1 < l->count; cable++) {
        g_autofree char *id = g_strdup_printf("cable%u", cable);
        g_autofree char *path = g_strdup_printf("%s/%u", l->dir, cable);
        g_autofree char *text = machine_cable(id, path, cable == i);

        g_string_append_printf(netdevs, "%s ", text);
        g_string_append_printf(props, ",link%u=%s", link_of(l, i, cable), id);
    }
    return g_string_free(g_steal_pointer(&netdevs), false);
}

/* Starts @count machines with the further properties @props, and waits for all links. */
static Line *line_start(unsigned count, const char *props)
{
    Line *l = g_new0(Line, 1);

    l->count = count;
    l->dir = g_dir_make_tmp("extoll-pair-XXXXXX", NULL);
    g_assert_nonnull(l->dir);
    for (unsigned i = 0; i < count; i++) {
        bool end = i == 0 || i == count - 1;
        ExtollPeer *peer = end ? extoll_peer_new(i) : NULL;
        g_autoptr(GString) all = g_string_new(NULL);
        g_autofree char *netdevs = options_of(l, i, peer, all);

        g_string_append(all, props);
        l->t[i] = extoll_start_node(netdevs, i, all->str);
        if (peer) {
            l->t[i]->peer[PEER] = peer;
            wire_peer_started(&peer->wire);
            extoll_link_bring_up(l->t[i], PEER);
        }
    }
    wait_until(line_up(l), step(l, 60 * EXTOLL_TEST_MS));
    return l;
}

static void line_stop(Line *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        extoll_stop(l->t[i]);
    }
    for (unsigned i = 0; i + 1 < l->count; i++) {
        g_autofree char *path = g_strdup_printf("%s/%u", l->dir, i);

        unlink(path);
    }
    g_rmdir(l->dir);
    g_free(l->dir);
    g_free(l);
}

/* Sets @text, with different seeds, as the faults of both ends of all cables. */
static void faults_set(Line *l, const char *text)
{
    for (unsigned i = 0; i < l->count; i++) {
        for (unsigned cable = MAX(i, 1) - 1; cable <= i && cable + 1 < l->count;
             cable++) {
            g_autofree char *all = g_strdup_printf("%s seed=%u", text, 10 * i + cable);

            extoll_faults_set(l->t[i], link_of(l, i, cable), all);
        }
    }
}

/* Returns the route from one end of the line to the peer at the other. */
static uint64_t route_of(const Line *l, bool back, unsigned vc)
{
    uint64_t route = extoll_hop(PEER, vc, REST);

    if (l->count == MACHINES) {
        route = extoll_hop(back ? LEFT : RIGHT, vc, route);
    }
    return extoll_hop(CABLE, vc, route);
}

static unsigned bytes_of(unsigned number)
{
    return 40 + number * 72 % (EXTOLL_LONG_BYTES - 32);
}

/* Sends packet @n of channel @vc from end @from, when there are credits for it. */
static void packet_send(Line *l, unsigned from, unsigned vc, unsigned n)
{
    ExtollTest *t = l->t[from ? l->count - 1 : 0];

    wait_until(extoll_peer_credits(t->peer[PEER], vc) >= EXTOLL_LONG_FLITS,
               step(l, EXTOLL_TEST_MS));
    extoll_peer_send(t, PEER, vc, route_of(l, from, vc), bytes_of(n + vc), n, 1);
}

/* Takes the packets that have arrived at @t; asserts that each is the next. */
static unsigned packets_take(ExtollTest *t, unsigned next[EXTOLL_VCS])
{
    ExtollPeer *p = t->peer[PEER];
    unsigned taken = 0;

    while (!g_queue_is_empty(&p->packets)) {
        g_autofree ExtollRxPacket *rx = g_queue_pop_head(&p->packets);
        uint8_t want[EXTOLL_PACKET_MAX];
        unsigned bytes = bytes_of(next[rx->vc] + rx->vc);

        extoll_packet_build(want, REST, bytes, next[rx->vc]++);
        g_assert_cmpmem(rx->buf, rx->bytes, want, bytes);
        taken++;
    }
    return taken;
}

/* Sends packets in both directions and channels, and takes them. */
static void traffic(Line *l)
{
    unsigned next[2][EXTOLL_VCS] = { 0 }, taken = 0;

    for (unsigned n = 0; n < PACKETS; n++) {
        for (unsigned i = 0; i < 2 * EXTOLL_VCS; i++) {
            packet_send(l, i & 1, i >> 1, n);
        }
        taken += packets_take(l->t[0], next[0]);
        taken += packets_take(l->t[l->count - 1], next[1]);
    }
    while (taken < 2 * EXTOLL_VCS * PACKETS) {
        int64_t end = wait_end();
        unsigned before = taken;

        while (taken == before) {
            wait_check(end);
            step(l, EXTOLL_TEST_MS);
            taken += packets_take(l->t[0], next[0]);
            taken += packets_take(l->t[l->count - 1], next[1]);
        }
    }
    step(l, 2 * EXTOLL_TIMER_NS);
    g_assert_cmpuint(packets_take(l->t[0], next[0]), ==, 0);
    g_assert_cmpuint(packets_take(l->t[l->count - 1], next[1]), ==, 0);
}

/* Asserts that no machine has dropped a packet; returns the flits that were repeated. */
static uint64_t assert_none_lost(Line *l)
{
    uint64_t resent = 0;

    for (unsigned i = 0; i < l->count; i++) {
        ExtollTest *t = l->t[i];

        g_assert_cmpuint(extoll_counter(t, FORWARDED), ==, 2 * EXTOLL_VCS * PACKETS);
        g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 0);
        g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, 0);
        for (unsigned cable = MAX(i, 1) - 1; cable <= i && cable + 1 < l->count;
             cable++) {
            unsigned link = link_of(l, i, cable);

            g_assert_cmpuint(extoll_port64(t, link, RX_ERROR), ==, 0);
            g_assert_cmpuint(extoll_port64(t, link, DROPPED), ==, 0);
            resent += extoll_port64(t, link, RESENT);
        }
    }
    return resent;
}

/* Machine by machine, the neighbours are the right ones. */
static void test_up(void)
{
    Line *l = line_start(2, "");

    g_assert_cmpuint(extoll_port32(l->t[0], CABLE, PEER), ==, 1);
    g_assert_cmpuint(extoll_port32(l->t[1], CABLE, PEER), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(extoll_port32(l->t[i], CABLE, PEER_EPOCH), ==,
                         EXTOLL_TEST_EPOCH);
        g_assert_cmpuint(extoll_port32(l->t[i], CABLE, CREDIT_0), ==,
                         EXTOLL_ROOM_DEFAULT);
    }
    line_stop(l);
}

static void test_two(void)
{
    Line *l = line_start(2, ",link-stall-ms=0");

    traffic(l);
    assert_none_lost(l);
    line_stop(l);
}

static void test_three(void)
{
    Line *l = line_start(3, ",link-stall-ms=0");

    traffic(l);
    assert_none_lost(l);
    line_stop(l);
}

/* Each cable damages, loses and doubles flits and control words. */
static void test_faults(void)
{
    Line *l = line_start(3, ",link-stall-ms=0");

    faults_set(l, "drop=1% corrupt=1% duplicate=2% reorder=1%");
    traffic(l);
    g_assert_cmpuint(assert_none_lost(l), >, 0);
    line_stop(l);
}

/* Little room: credits that get lost with their control word come again. */
static void test_credits_lost(void)
{
    Line *l = line_start(2, ",link-stall-ms=0,rx-flits=40");

    faults_set(l, "drop-control=20%");
    traffic(l);
    assert_none_lost(l);
    line_stop(l);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/pair/up", test_up);
    qtest_add_func("/extoll/pair/two", test_two);
    qtest_add_func("/extoll/pair/three", test_three);
    qtest_add_func("/extoll/pair/faults", test_faults);
    qtest_add_func("/extoll/pair/credits-lost", test_credits_lost);
    return g_test_run();
}
