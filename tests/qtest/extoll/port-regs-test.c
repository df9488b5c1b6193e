/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers PORT_* of an EXTOLL NIC, and the effect of rate and latency. */
#include "qemu/osdep.h"
#include "link.h"

enum { IN, OUT };

#define REST        extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0)
#define ROUTE       extoll_hop(OUT, 0, REST)
/* A rate of 1 Gb/s, and the time of a word of 16 bytes, ns. */
#define RATE_KBPS   1000000
#define WORD_NS     128
/* The packets that a port puts into a frame at this rate, their words, and their time. */
#define RATE_PACKETS 77
#define SHORT_WORDS DIV_ROUND_UP(EXTOLL_FLIT_HEADER + EXTOLL_SHORT_BYTES, RNIC_LINK_WORD)
#define RATE_FRAME_NS (RATE_PACKETS * SHORT_WORDS * WORD_NS)

/* The counters of a port. */
static const struct { const char *name; unsigned reg; } counters[] = {
    { "tx-flits", EXTOLL_REG_PORT_TX_FLITS }, { "rx-flits", EXTOLL_REG_PORT_RX_FLITS },
    { "resent", EXTOLL_REG_PORT_RESENT }, { "timeouts", EXTOLL_REG_PORT_TIMEOUTS },
    { "rx-bad", EXTOLL_REG_PORT_RX_BAD }, { "rx-gap", EXTOLL_REG_PORT_RX_GAP },
    { "rx-again", EXTOLL_REG_PORT_RX_AGAIN }, { "tx-nak", EXTOLL_REG_PORT_TX_NAK },
    { "rx-nak", EXTOLL_REG_PORT_RX_NAK }, { "rx-error", EXTOLL_REG_PORT_RX_ERROR },
    { "dropped", EXTOLL_REG_PORT_DROPPED },
};

static void send_short(ExtollTest *t, unsigned first, unsigned count)
{
    extoll_peer_send(t, IN, 0, ROUTE, EXTOLL_SHORT_BYTES, first, count);
}

static void take_short(ExtollTest *t, unsigned first, unsigned count)
{
    extoll_peer_take(t, OUT, 0, REST, EXTOLL_SHORT_BYTES, first, count);
}

/* Starts a device whose links have a latency, so that START needs time. */
static ExtollTest *start_slow(const char *props)
{
    ExtollTest *t = extoll_start_cold(2, props);

    for (unsigned i = 0; i < 2; i++) {
        extoll_peer_hello(t->peer[i], false);
        extoll_wait(t, t->peer[i]->heard);
    }
    extoll_settle(t);
    g_assert_cmpuint(t->peer[IN]->starts + t->peer[OUT]->starts, ==, 0);
    wait_until(extoll_link_up_get(t, IN) && extoll_link_up_get(t, OUT),
               extoll_step(t, 700));
    extoll_step(t, EXTOLL_TEST_MS);
    return t;
}

static unsigned arrived(ExtollTest *t)
{
    extoll_settle(t);
    return extoll_peer_arrived(t->peer[OUT]);
}

/* --- Values --------------------------------------------------------------- */

/* Properties are the values after a reset. */
static void test_reset(void)
{
    ExtollTest *t = start_slow(",rx-flits=123,link-rate-kbps=5000000,"
                               "link-latency-ns=700");

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned link = 0; link < 2; link++) {
            g_assert_cmphex(extoll_port32(t, link, CTRL), ==, EXTOLL_PORT_CTRL_ENABLE);
            g_assert_cmpuint(extoll_port32(t, link, RATE), ==, 5000000);
            g_assert_cmpuint(extoll_port32(t, link, LATENCY), ==, 700);
            g_assert_cmpuint(extoll_port32(t, link, ROOM_0), ==, 123);
            g_assert_cmpuint(extoll_port32(t, link, ROOM_1), ==, 123);
            for (unsigned c = 0; c < ARRAY_SIZE(counters); c++) {
                g_assert_cmpuint(extoll_get64(t, EXTOLL_PORT(link) + counters[c].reg), ==,
                                 0);
            }
            extoll_port_set(t, link, CTRL, EXTOLL_PORT_CTRL_LOOPBACK);
            extoll_port_set(t, link, RATE, 5);
            extoll_port_set(t, link, LATENCY, 6);
            g_assert_cmpuint(extoll_port32(t, link, RATE), ==, 5);
            g_assert_cmpuint(extoll_port32(t, link, LATENCY), ==, 6);
            g_assert_cmpuint(t->peer[link]->start.count[0], ==, 123);
        }
        if (i == 0) {
            extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
            g_assert_cmpuint(extoll_port32(t, 0, CREDIT_0), ==, 0);
        }
    }
    extoll_stop(t);
}

/* The defaults of the properties. */
static void test_defaults(void)
{
    ExtollTest *t = extoll_start_links(1, "");

    g_assert_cmpuint(extoll_port32(t, 0, RATE), ==, 0);
    g_assert_cmpuint(extoll_port32(t, 0, LATENCY), ==, 0);
    g_assert_cmpuint(extoll_port32(t, 0, ROOM_0), ==, EXTOLL_ROOM_DEFAULT);
    g_assert_cmpuint(extoll_port32(t, 0, ROOM_1), ==, EXTOLL_ROOM_DEFAULT);
    g_assert_cmpuint(RNIC_GET(EXTOLL_CAP_LINKS, extoll_get64(t, EXTOLL_REG_CAP)), ==, 1);
    extoll_stop(t);
}

/* Software changes only CTRL, RATE and LATENCY. */
static void test_masks(void)
{
    static const struct { unsigned reg, bytes; uint64_t writable; } regs[] = {
#define MASK(name, offset, bytes, reset, writable, w1c) { offset, bytes, writable },
        EXTOLL_PORT_REGS(MASK)
#undef MASK
    };
    ExtollTest *t = extoll_start_links(2, "");

    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        uint64_t at = EXTOLL_PORT(OUT) + regs[i].reg;
        bool wide = regs[i].bytes == 8;
        uint64_t before = wide ? extoll_get64(t, at) : extoll_get32(t, at);
        uint64_t after;

        if (regs[i].reg == EXTOLL_REG_PORT_CTRL) {
            continue;               /* takes the link down */
        }
        if (wide) {
            extoll_set64(t, at, ~before);
            after = extoll_get64(t, at);
        } else {
            extoll_set32(t, at, ~before);
            after = extoll_get32(t, at);
        }
        g_assert_cmphex(after, ==, (before & ~regs[i].writable) |
                        (~before & regs[i].writable));
        if (regs[i].writable) {
            extoll_set32(t, at, before);
        }
    }
    g_assert_true(extoll_link_up_get(t, OUT));
    extoll_port_set(t, OUT, CTRL, ~0u);
    g_assert_cmphex(extoll_port32(t, OUT, CTRL), ==,
                    EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    extoll_stop(t);
}

/* A port without a netdev has no registers. */
static void test_absent(void)
{
    ExtollTest *t = extoll_start_links(1, "");

    for (unsigned link = 1; link < EXTOLL_LINKS; link++) {
        g_assert_cmphex(extoll_port32(t, link, STATUS), ==, 0);
        extoll_port_set(t, link, RATE, 1);
        g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 2 * link);
    }
    g_assert_true(extoll_link_up_get(t, 0));
    t->guest_errors = true;
    extoll_stop(t);
}

/* The user names a neighbour that no link can have, or properties of no link. */
static void test_bad_neighbour(void)
{
    static const struct { const char *props, *message; } bad[] = {
        { "link0=wire,peer0=64", "'peer0' must be at most 0x3f" },
        { "link0=wire,peer1=1", "'peer1' needs a netdev 'link1'" },
        { "link0=wire,faults5=drop=1%", "'faults5' needs a netdev 'link5'" },
        { "link0=wire,node=3,peer0=3", "'peer0' is 0x3, as property 'node'" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *args = g_strdup_printf("-device extoll-pci,%s", bad[i].props);
        g_autofree char *err = NULL;

        g_assert_cmpint(machine_run(args, NULL, &err), ==, 1);
        g_assert_nonnull(strstr(err, bad[i].message));
    }
}

/* Both links go up to the same neighbour, because properties name it for both. */
static void test_two_cables(void)
{
    ExtollTest *t = extoll_start_cold(2, ",peer0=10,peer1=10");

    t->peer[1]->node = EXTOLL_PEER_NODE(0);
    for (unsigned i = 0; i < 2; i++) {
        extoll_link_bring_up(t, i);
        g_assert_cmpuint(extoll_port32(t, i, PEER), ==, EXTOLL_PEER_NODE(0));
    }
    extoll_link_assert_works(t, 0, 1, 7);
    extoll_link_assert_works(t, 1, 0, 8);
    extoll_stop(t);
}

/* The user names a room that no receiver has. */
static void test_bad_room(void)
{
    static const unsigned bad[] = { 0, EXTOLL_ROOM_MIN - 1, EXTOLL_ROOM_MAX + 1 };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *args = g_strdup_printf("-device extoll-pci,link0=wire,"
                                                "rx-flits=%u", bad[i]);
        g_autofree char *err = NULL;

        g_assert_cmpint(machine_run(args, NULL, &err), ==, 1);
        g_assert_nonnull(strstr(err, "property 'rx-flits' must be 40 to 16384"));
    }
}

/* Counters of registers and of the view "links" are the same. */
static void test_counters(void)
{
    ExtollTest *t = extoll_start_links(2, "");

    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        uint64_t route = extoll_hop(OUT, vc, REST);

        extoll_peer_send(t, IN, vc, route, EXTOLL_LONG_BYTES, 0, 7);
        extoll_peer_take(t, OUT, vc, REST, EXTOLL_LONG_BYTES, 0, 7);
    }
    g_assert_cmpuint(extoll_port64(t, IN, RX_FLITS), ==, 14 * EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_port64(t, IN, TX_FLITS), ==, 0);
    g_assert_cmpuint(extoll_port64(t, OUT, TX_FLITS), ==, 14 * EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_port64(t, OUT, RX_FLITS), ==, 0);
    /* a counter in halves */
    g_assert_cmpuint(extoll_port32(t, IN, RX_FLITS), ==, 14 * EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_PORT(IN) + EXTOLL_REG_PORT_RX_FLITS + 4), ==,
                     0);
    for (unsigned link = 0; link < 2; link++) {
        for (unsigned c = 0; c < ARRAY_SIZE(counters); c++) {
            g_assert_cmpuint(extoll_link_member(t, link, "counters", counters[c].name),
                             ==, extoll_get64(t, EXTOLL_PORT(link) + counters[c].reg));
        }
        g_assert_cmpuint(extoll_link_member(t, link, NULL, "index"), ==, link);
        g_assert_cmpuint(extoll_link_member(t, link, NULL, "peer"), ==,
                         EXTOLL_PEER_NODE(link));
        g_assert_cmpuint(extoll_link_member(t, link, NULL, "peer-epoch"), ==,
                         EXTOLL_PEER_EPOCH);
        g_assert_cmpuint(extoll_link_member(t, link, NULL, "credits-1"), ==,
                         extoll_port32(t, link, CREDIT_1));
        g_assert_cmpuint(extoll_link_member(t, link, NULL, "unacknowledged"), ==, 0);
    }
    extoll_stop(t);
}

/* Each flit uses a credit until the flit leaves the peer's room. */
static void test_credits(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];
    uint64_t route = extoll_hop(OUT, 1, REST);

    p->hold = true;
    for (unsigned i = 1; i <= 3; i++) {
        extoll_peer_send(t, IN, 0, route, EXTOLL_LONG_BYTES, i, 1);
        extoll_peer_take(t, OUT, 1, REST, EXTOLL_LONG_BYTES, i, 1);
        g_assert_cmpuint(extoll_port32(t, OUT, CREDIT_1), ==,
                         EXTOLL_ROOM_DEFAULT - i * EXTOLL_LONG_FLITS);
        g_assert_cmpuint(extoll_port32(t, OUT, CREDIT_0), ==, EXTOLL_ROOM_DEFAULT);
    }
    extoll_peer_free_room(p);
    extoll_wait(t, extoll_port32(t, OUT, CREDIT_1) == EXTOLL_ROOM_DEFAULT);
    extoll_stop(t);
}

/* --- Rate and latency ----------------------------------------------------- */

static void test_rate(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    unsigned count = 30 * RATE_PACKETS;

    extoll_step(t, EXTOLL_TEST_MS);     /* the last STATE of the start leaves */
    extoll_port_set(t, OUT, RATE, RATE_KBPS);
    send_short(t, 0, count);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    extoll_step(t, RATE_FRAME_NS - 1);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    extoll_step(t, 1);
    g_assert_cmpuint(arrived(t), ==, 2 * RATE_PACKETS);
    /* the same packets pass in one long step as in many short steps */
    extoll_step(t, 10 * RATE_FRAME_NS);
    g_assert_cmpuint(arrived(t), ==, 12 * RATE_PACKETS);
    extoll_step(t, 5 * RATE_FRAME_NS + 3);
    g_assert_cmpuint(arrived(t), ==, 17 * RATE_PACKETS);
    extoll_port_set(t, OUT, RATE, 0);
    take_short(t, 0, count);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 0);
    extoll_stop(t);
}

static void test_latency(void)
{
    ExtollTest *t = extoll_start_links(2, "");

    extoll_port_set(t, OUT, LATENCY, 5000);
    send_short(t, 0, 3);
    g_assert_cmpuint(arrived(t), ==, 0);
    extoll_step(t, 3000);
    send_short(t, 3, 1);
    extoll_settle(t);
    extoll_step(t, 1999);
    g_assert_cmpuint(arrived(t), ==, 0);
    extoll_step(t, 1);
    take_short(t, 0, 3);
    extoll_step(t, 2999);
    g_assert_cmpuint(arrived(t), ==, 0);
    extoll_step(t, 1);
    take_short(t, 3, 1);
    extoll_port_set(t, OUT, LATENCY, 0);
    send_short(t, 4, 1);
    take_short(t, 4, 1);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 0);
    extoll_stop(t);
}

/* Rate and latency by properties: each frame arrives later by the latency. */
static void test_rate_latency(void)
{
    ExtollTest *t = start_slow(",link-rate-kbps=1000000,link-latency-ns=700");

    send_short(t, 0, 3 * RATE_PACKETS);
    g_assert_cmpuint(arrived(t), ==, 0);
    extoll_step(t, 699);
    g_assert_cmpuint(arrived(t), ==, 0);
    extoll_step(t, 1);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    extoll_step(t, RATE_FRAME_NS - 1);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    extoll_step(t, 1);
    g_assert_cmpuint(arrived(t), ==, 2 * RATE_PACKETS);
    extoll_step(t, RATE_FRAME_NS);
    take_short(t, 0, 3 * RATE_PACKETS);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/port-regs/reset", test_reset);
    qtest_add_func("/extoll/port-regs/defaults", test_defaults);
    qtest_add_func("/extoll/port-regs/masks", test_masks);
    qtest_add_func("/extoll/port-regs/absent", test_absent);
    qtest_add_func("/extoll/port-regs/bad-room", test_bad_room);
    qtest_add_func("/extoll/port-regs/bad-neighbour", test_bad_neighbour);
    qtest_add_func("/extoll/port-regs/two-cables", test_two_cables);
    qtest_add_func("/extoll/port-regs/counters", test_counters);
    qtest_add_func("/extoll/port-regs/credits", test_credits);
    qtest_add_func("/extoll/port-regs/rate", test_rate);
    qtest_add_func("/extoll/port-regs/latency", test_latency);
    qtest_add_func("/extoll/port-regs/rate-latency", test_rate_latency);
    return g_test_run();
}
