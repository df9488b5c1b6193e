/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rate and latency of links. */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "transit.h"

static void test_rate(void)
{
    ExanetTest *t = transit_start("");
    unsigned count = 60 * RATE_PACKETS;

    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    transit_send(t, L, RIGHT, 0, 0, count);
    g_assert_cmpuint(transit_arrived(t), ==, RATE_PACKETS);
    /* the other packets wait in the output and in the input */
    g_assert_cmpuint(transit_level(t, R, EXANET_PORT_LEVEL_TX), ==,
                     RATE_PACKETS * EXANET_PACKET_WORDS);
    g_assert_cmpuint(transit_level(t, L, EXANET_PORT_LEVEL_RX), ==,
                     (count - 2 * RATE_PACKETS) * EXANET_PACKET_WORDS);
    exanet_step(t, RATE_FRAME_NS - 1);
    g_assert_cmpuint(transit_arrived(t), ==, RATE_PACKETS);
    exanet_step(t, 1);
    g_assert_cmpuint(transit_arrived(t), ==, 2 * RATE_PACKETS);
    /* the same packets pass in one long step as in many short steps */
    exanet_step(t, 10 * RATE_FRAME_NS);
    g_assert_cmpuint(transit_arrived(t), ==, 12 * RATE_PACKETS);
    exanet_step(t, 5 * RATE_FRAME_NS + 3);
    g_assert_cmpuint(transit_arrived(t), ==, 17 * RATE_PACKETS);
    exanet_step(t, RATE_FRAME_NS - 3);
    g_assert_cmpuint(transit_arrived(t), ==, 18 * RATE_PACKETS);
    /* half of the rate, from the next frame on */
    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS / 2);
    exanet_step(t, RATE_FRAME_NS);
    g_assert_cmpuint(transit_arrived(t), ==, 19 * RATE_PACKETS);
    exanet_step(t, 2 * RATE_FRAME_NS - 1);
    g_assert_cmpuint(transit_arrived(t), ==, 19 * RATE_PACKETS);
    exanet_step(t, 1);
    g_assert_cmpuint(transit_arrived(t), ==, 19 * RATE_PACKETS + RATE_PACKETS / 2);
    transit_set32(t, R, EXANET_REG_PORT_RATE, 0);
    transit_take(t, 0, 0, count);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* A frame has one packet if the rate allows no more in 50 us. */
static void test_rate_low(void)
{
    ExanetTest *t = transit_start("");
    int64_t ns = EXANET_PACKET_WORDS * WORD_NS * 1000;

    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS / 1000);
    transit_send(t, L, RIGHT, 0, 0, 10);
    for (unsigned i = 1; i <= 10; i++) {
        g_assert_cmpuint(transit_arrived(t), ==, i);
        exanet_step(t, ns - 1);
        g_assert_cmpuint(transit_arrived(t), ==, i);
        exanet_step(t, 1);
    }
    /* idle time allows no more packets later */
    exanet_step(t, 100 * ns);
    transit_send(t, L, RIGHT, 0, 10, 3);
    g_assert_cmpuint(transit_arrived(t), ==, 11);
    exanet_step(t, 2 * ns);
    transit_take(t, 0, 0, 13);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* A cable that takes seconds for a packet is slow, but its link stays up. */
static void test_rate_crawl(void)
{
    ExanetTest *t = transit_start("");
    int64_t ns = (int64_t)EXANET_PACKET_WORDS * WORD_NS * RATE_KBPS;

    transit_set32(t, R, EXANET_REG_PORT_RATE, 1);
    transit_send(t, L, RIGHT, 0, 0, 8);
    for (unsigned i = 0; i < 8; i++) {
        exanet_step(t, ns);
    }
    transit_take(t, 0, 0, 8);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* Invalid XOFF and XON levels: the port sends XON when the FIFO is empty. */
static void test_xon_never(void)
{
    ExanetTest *t = transit_start("");

    transit_set32(t, L, EXANET_REG_PORT_XOFF, 0);
    transit_set32(t, L, EXANET_REG_PORT_XON, 0);
    for (unsigned i = 0; i < 4; i++) {
        transit_send(t, L, RIGHT, 0, i, 1);
        transit_take(t, 0, i, 1);
        exanet_wait(t, t->ports[L]->xons == i + 1);
    }
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* All channels have equal parts of the rate, within 10 %. */
static void test_rate_channels(void)
{
    ExanetTest *t = transit_start("");
    unsigned seen[EXANET_VCS] = { 0 };

    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        transit_send(t, L, RIGHT, vc, 0, 20 * RATE_PACKETS);
    }
    exanet_settle(t);
    /* steps short enough that the frames fit into a socket */
    for (unsigned i = 0; i < 3; i++) {
        exanet_step(t, 13 * RATE_FRAME_NS);
    }
    g_assert_cmpuint(transit_arrived(t), ==, 40 * RATE_PACKETS);
    while (!g_queue_is_empty(&t->ports[R]->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[R]);

        seen[rx->pkt.vc]++;
    }
    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        g_assert_cmpuint(seen[vc], >=, 9 * RATE_PACKETS);
        g_assert_cmpuint(seen[vc], <=, 11 * RATE_PACKETS);
    }
    for (unsigned i = 0; i < 4; i++) {
        exanet_step(t, 10 * RATE_FRAME_NS);
    }
    g_assert_cmpuint(transit_arrived(t), ==, 40 * RATE_PACKETS);
    g_queue_clear_full(&t->ports[R]->packets, g_free);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

static void test_latency(void)
{
    ExanetTest *t = transit_start("");

    transit_set32(t, R, EXANET_REG_PORT_LATENCY, 5000);
    transit_send(t, L, RIGHT, 0, 0, 3);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_step(t, 3000);
    transit_send(t, L, RIGHT, 2, 3, 1);
    exanet_settle(t);
    exanet_step(t, 1999);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_step(t, 1);
    transit_take(t, 0, 0, 3);
    exanet_step(t, 2999);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_step(t, 1);
    transit_take(t, 2, 3, 1);
    /* frames do not overtake each other when the latency becomes less */
    transit_send(t, L, RIGHT, 0, 4, 1);
    exanet_settle(t);
    transit_set32(t, R, EXANET_REG_PORT_LATENCY, 0);
    transit_send(t, L, RIGHT, 0, 5, 1);
    exanet_settle(t);
    exanet_step(t, 4999);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_step(t, 1);
    transit_take(t, 0, 4, 2);
    transit_send(t, L, RIGHT, 0, 6, 1);
    transit_take(t, 0, 6, 1);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/*
 * A cable with latency holds a limited number of packets; the others wait, and all
 * arrive in order.
 */
static void test_latency_bound(void)
{
    ExanetTest *t = transit_start("");
    unsigned count = 2 * MiB / EXANET_PACKET_BYTES;

    transit_set32(t, R, EXANET_REG_PORT_LATENCY, EXANET_MS);
    transit_send(t, L, RIGHT, 0, 0, count);
    exanet_wait(t, transit_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                count * EXANET_PACKET_WORDS);
    g_assert_cmpuint(transit_level(t, L, EXANET_PORT_LEVEL_RX), >, 0);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_step(t, EXANET_MS);
    g_assert_cmpuint(transit_arrived(t), >=, MiB / EXANET_PACKET_BYTES);
    g_assert_cmpuint(transit_arrived(t), <, count);
    exanet_step(t, EXANET_MS);
    exanet_step(t, EXANET_MS);
    transit_take(t, 0, 0, count);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* The properties are the reset values of the registers. */
static void test_properties(void)
{
    ExanetTest *t = transit_start(",link-rate-kbps=1000000,link-latency-ns=700");

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned port = L; port <= A; port++) {
            g_assert_cmpuint(transit_get32(t, port, EXANET_REG_PORT_RATE), ==,
                             RATE_KBPS);
            g_assert_cmpuint(transit_get32(t, port, EXANET_REG_PORT_LATENCY), ==,
                             700);
            transit_set32(t, port, EXANET_REG_PORT_RATE, 5);
            transit_set32(t, port, EXANET_REG_PORT_LATENCY, 6);
        }
        if (i == 0) {
            exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
        }
    }
    exanet_stop(t);
}

/* Rate and latency by properties: each frame arrives later by the latency. */
static void test_rate_latency(void)
{
    ExanetTest *t = transit_start(",link-rate-kbps=1000000,link-latency-ns=700");

    transit_send(t, L, RIGHT, 0, 0, 3 * RATE_PACKETS);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_step(t, 700);
    g_assert_cmpuint(transit_arrived(t), ==, RATE_PACKETS);
    exanet_step(t, RATE_FRAME_NS - 1);
    g_assert_cmpuint(transit_arrived(t), ==, RATE_PACKETS);
    exanet_step(t, 1);
    g_assert_cmpuint(transit_arrived(t), ==, 2 * RATE_PACKETS);
    exanet_step(t, RATE_FRAME_NS);
    transit_take(t, 0, 0, 3 * RATE_PACKETS);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/port/rate", test_rate);
    qtest_add_func("/exanet/port/rate-low", test_rate_low);
    qtest_add_func("/exanet/port/rate-crawl", test_rate_crawl);
    qtest_add_func("/exanet/port/rate-xon-never", test_xon_never);
    qtest_add_func("/exanet/port/rate-channels", test_rate_channels);
    qtest_add_func("/exanet/port/rate-latency", test_latency);
    qtest_add_func("/exanet/port/rate-latency-bound", test_latency_bound);
    qtest_add_func("/exanet/port/rate-properties", test_properties);
    qtest_add_func("/exanet/port/rate-with-latency", test_rate_latency);
    return g_test_run();
}
