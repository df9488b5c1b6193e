/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A neighbour that sends what no neighbour sends: the link counts the error and begins
 * anew, or drops the packet, and other links go on.
 */
#include "qemu/osdep.h"
#include "link.h"

enum { IN, OUT };

/* The route of packets when they arrive at the peer of OUT. */
#define REST        extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0)
#define ROUTE       extoll_hop(OUT, 0, REST)

static void send_short(ExtollTest *t, unsigned first, unsigned count)
{
    extoll_peer_send(t, IN, 0, ROUTE, EXTOLL_SHORT_BYTES, first, count);
}

static void bad_ack(ExtollPeer *p)
{
    p->rx_seq += 5;
    extoll_peer_state(p, 0);
}

static void bad_credits(ExtollPeer *p)
{
    p->rx_freed[1] += 1;
    extoll_peer_state(p, 0);
}

/* The first START is that of a peer that was moved; the second contradicts the first. */
static void bad_start(ExtollPeer *p)
{
    p->resume = true;
    extoll_peer_start(p, 0);
    p->resume = false;
    extoll_peer_start(p, 0);
}

static void bad_flags(ExtollPeer *p)
{
    extoll_peer_state(p, 0x80);
}

static void bad_kind(ExtollPeer *p)
{
    extoll_peer_control(p, &(ExtollControl) { .kind = 0xc0 });
}

/* Sends @flit, whose bytes are 0. */
static void flit_send(ExtollPeer *p, const ExtollFlit *flit)
{
    uint8_t buf[EXTOLL_FLIT_MAX] = { 0 };
    unsigned bytes = extoll_flit_encode(buf, flit);

    extoll_peer_frame(p, RNIC_LINK_DATA, buf, DIV_ROUND_UP(bytes, RNIC_LINK_WORD));
}

static void bad_first(ExtollPeer *p)
{
    flit_send(p, &(ExtollFlit) { .seq = p->tx_seq, .bytes = 40, .last = true });
}

static void bad_channel(ExtollPeer *p)
{
    flit_send(p, &(ExtollFlit) { .seq = p->tx_seq, .vc = EXTOLL_VCS, .bytes = 40,
                                 .first = true, .last = true });
}

static void bad_short(ExtollPeer *p)
{
    flit_send(p, &(ExtollFlit) { .seq = p->tx_seq, .bytes = 40, .first = true });
}

static void bad_seq(ExtollPeer *p)
{
    flit_send(p, &(ExtollFlit) { .seq = p->tx_seq + 2 * EXTOLL_WINDOW, .bytes = 40,
                                 .first = true, .last = true });
}

/* Sends a packet of more flits than any packet has. */
static void bad_long(ExtollPeer *p)
{
    for (unsigned i = 0; i <= EXTOLL_PACKET_FLITS; i++) {
        flit_send(p, &(ExtollFlit) { .seq = p->tx_seq + i, .bytes = EXTOLL_FLIT_DATA,
                                     .first = i == 0 });
    }
}

/* Each error is counted, and both ends begin anew. */
static void test_words(void)
{
    static void (*const bad[])(ExtollPeer *) = {
        bad_ack, bad_credits, bad_start, bad_flags, bad_kind, bad_first, bad_channel,
        bad_short, bad_seq, bad_long,
    };
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        extoll_link_assert_works(t, IN, OUT, i);
        extoll_link_assert_works(t, OUT, IN, i);
        extoll_irq_set(t, EXTOLL_VEC_EVENTS, CLEAR, EXTOLL_EVENT_LINK);
        g_assert_cmpuint(extoll_port64(t, IN, RX_ERROR), ==, i);
        bad[i](p);
        extoll_wait(t, extoll_port64(t, IN, RX_ERROR) == i + 1);
        extoll_wait(t, extoll_link_up_get(t, IN));
        g_assert_true(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE) & EXTOLL_EVENT_LINK);
        g_assert_cmphex(p->start.flags & EXTOLL_START_RESUME, ==, 0);
        g_assert_cmpuint(extoll_port32(t, IN, CREDIT_0), ==, EXTOLL_ROOM_DEFAULT);
    }
    extoll_link_assert_works(t, IN, OUT, 100);
    g_assert_true(extoll_link_up_get(t, OUT));
    g_assert_cmpuint(extoll_port64(t, OUT, RX_ERROR), ==, 0);
    extoll_stop(t);
}

/* More flits than the device has room for. */
static void test_room(void)
{
    ExtollTest *t = extoll_start_links(2, ",rx-flits=40,link-stall-ms=0");
    ExtollPeer *p = t->peer[IN];

    g_assert_cmpuint(p->start.count[0], ==, 40);
    /* the output is full, so the packets stay in the device */
    t->peer[OUT]->hold = true;
    send_short(t, 0, EXTOLL_ROOM_DEFAULT);
    extoll_wait(t, extoll_port32(t, OUT, CREDIT_0) == 0);
    send_short(t, EXTOLL_ROOM_DEFAULT, 40);
    extoll_settle(t);
    g_assert_cmpuint(extoll_port64(t, IN, RX_FLITS), ==, EXTOLL_ROOM_DEFAULT + 40);
    g_assert_cmpuint(extoll_port64(t, IN, RX_ERROR), ==, 0);
    p->state.count[0]++;            /* the peer is wrong by one */
    send_short(t, 0, 1);
    extoll_wait(t, extoll_port64(t, IN, RX_ERROR) == 1);
    g_assert_cmpuint(extoll_port64(t, IN, DROPPED), ==, 40);
    extoll_wait(t, extoll_link_up_get(t, IN));
    extoll_stop(t);
}

/* Packets whose flits are right, but not their length. */
static void test_packet(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];
    uint8_t packet[EXTOLL_PACKET_MAX], buf[EXTOLL_FRAME_WORDS * RNIC_LINK_WORD];
    static const unsigned bytes[] = { 8, 16, 56, 72, 240 };

    for (unsigned i = 0; i < ARRAY_SIZE(bytes); i++) {
        extoll_packet_build(packet, ROUTE, 1024, i);
        extoll_packet_build(packet, ROUTE, EXTOLL_SHORT_BYTES, i);
        extoll_peer_frame(p, RNIC_LINK_DATA, buf,
                          extoll_peer_flits(p, buf, 0, packet, bytes[i]));
        extoll_wait(t, extoll_counter(t, PACKET_BAD) == i + 1);
    }
    /* the room of the bad packets is free again */
    extoll_step(t, EXTOLL_TEST_MS);
    extoll_wait(t, p->state.count[0] == 6);
    g_assert_cmpuint(extoll_peer_credits(p, 0), ==, EXTOLL_ROOM_DEFAULT);
    extoll_link_assert_works(t, IN, OUT, 7);
    g_assert_cmpuint(extoll_port64(t, IN, RX_ERROR), ==, 0);
    g_assert_true(extoll_link_up_get(t, IN));
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/link/hostile-words", test_words);
    qtest_add_func("/extoll/link/hostile-room", test_room);
    qtest_add_func("/extoll/link/hostile-packet", test_packet);
    return g_test_run();
}
