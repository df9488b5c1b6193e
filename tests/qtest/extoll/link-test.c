/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links of an EXTOLL NIC: START, retransmission, errors of the neighbour, and cables that
 * are cut and joined again.  Packets go from the peer at link IN to the peer at link OUT.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "link.h"

enum { IN, OUT };

#define TIMER_NS    EXTOLL_TIMER_NS
/* The route of packets when they arrive at the peer of OUT. */
#define REST        extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0)
#define ROUTE       extoll_hop(OUT, 0, REST)
#define PRESENT     EXTOLL_PORT_STATUS_PRESENT
#define UP          (PRESENT | EXTOLL_PORT_STATUS_PEER | EXTOLL_PORT_STATUS_UP)

static void send_short(ExtollTest *t, unsigned first, unsigned count)
{
    extoll_peer_send(t, IN, 0, ROUTE, EXTOLL_SHORT_BYTES, first, count);
}

static void take_short(ExtollTest *t, unsigned first, unsigned count)
{
    extoll_peer_take(t, OUT, 0, REST, EXTOLL_SHORT_BYTES, first, count);
}

static bool event_take(ExtollTest *t)
{
    bool set = extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE) & EXTOLL_EVENT_LINK;

    extoll_irq_set(t, EXTOLL_VEC_EVENTS, CLEAR, EXTOLL_EVENT_LINK);
    return set;
}

/* --- Up ------------------------------------------------------------------- */

/* Step by step: HELLO, then START, then the link is up. */
static void test_up(void)
{
    ExtollTest *t = extoll_start_cold(1, "");
    ExtollPeer *p = t->peer[0];

    p->silent = p->mute = true;
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, PRESENT);
    extoll_step(t, 100 * EXTOLL_TEST_MS);
    extoll_wait(t, p->hellos > 0);
    g_assert_cmphex(p->hello.coord, ==, EXTOLL_TEST_NODE);
    g_assert_cmpuint(p->hello.epoch, ==, EXTOLL_TEST_EPOCH);
    g_assert_cmphex(p->hello.flags, ==, 0);
    g_assert_cmpuint(p->hello.max_words, >=, EXTOLL_FLIT_MAX / RNIC_LINK_WORD);

    extoll_peer_hello(p, false);
    extoll_wait(t, p->heard);
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, PRESENT | EXTOLL_PORT_STATUS_PEER);
    g_assert_cmpuint(extoll_port32(t, 0, PEER), ==, EXTOLL_PEER_NODE(0));
    g_assert_cmpuint(extoll_port32(t, 0, PEER_EPOCH), ==, EXTOLL_PEER_EPOCH);
    g_assert_cmpuint(p->starts, ==, 0);

    extoll_peer_hello(p, true);
    extoll_wait(t, p->starts == 1);
    g_assert_cmphex(p->start.flags, ==, EXTOLL_START_ANSWER);
    g_assert_cmpuint(p->start.ack, ==, 0);
    g_assert_cmpuint(p->start.count[0], ==, EXTOLL_ROOM_DEFAULT);
    g_assert_cmpuint(p->start.count[1], ==, EXTOLL_ROOM_DEFAULT);
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, PRESENT | EXTOLL_PORT_STATUS_PEER);
    g_assert_cmpuint(extoll_port32(t, 0, CREDIT_0), ==, 0);
    g_assert_false(event_take(t));

    /* the device accepts a START, but does not know whether the peer has done so */
    p->room = 100;
    extoll_peer_start(p, EXTOLL_START_ANSWER);
    extoll_wait(t, p->starts == 2);
    g_assert_cmphex(p->start.flags, ==, EXTOLL_START_ANSWER | EXTOLL_START_HEARD);
    g_assert_cmpuint(extoll_port32(t, 0, CREDIT_0), ==, 100);
    g_assert_cmpuint(extoll_port32(t, 0, CREDIT_1), ==, 100);
    g_assert_false(extoll_link_up_get(t, 0));
    g_assert_false(event_take(t));
    extoll_peer_start(p, EXTOLL_START_HEARD);
    extoll_wait(t, extoll_link_up_get(t, 0));
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, UP);
    g_assert_true(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_LINK);
    g_assert_true(event_take(t));
    extoll_settle(t);
    g_assert_cmpuint(p->starts, ==, 2);
    extoll_stop(t);
}

/* The device repeats START until it gets one. */
static void test_start_repeats(void)
{
    ExtollTest *t = extoll_start_cold(1, "");
    ExtollPeer *p = t->peer[0];

    p->mute = true;
    extoll_peer_hello(p, false);
    extoll_wait(t, p->starts == 1);
    for (unsigned i = 1; i <= 5; i++) {
        extoll_step(t, TIMER_NS - 1);
        g_assert_cmpuint(p->starts, ==, i);
        extoll_step(t, 1);
        extoll_wait(t, p->starts == i + 1);
    }
    p->mute = false;
    extoll_step(t, TIMER_NS);
    extoll_wait(t, extoll_link_up_get(t, 0));
    extoll_step(t, 10 * TIMER_NS);
    /*
     * 6 STARTs without an answer, then a START without HEARD, which the peer answers, and
     * a START with HEARD
     */
    g_assert_cmpuint(p->starts, ==, 8);
    extoll_stop(t);
}

/* The interrupt comes when the link is up, and when it is down, each once. */
static void test_event(void)
{
    ExtollTest *t = extoll_start_cold(1, "");

    extoll_msix_enable(t);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, EXTOLL_EVENT_LINK);
    extoll_link_bring_up(t, 0);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_EVENTS);
    g_assert_true(event_take(t));
    extoll_step(t, 2000 * EXTOLL_TEST_MS);
    g_assert_false(event_take(t));
    t->peer[0]->silent = true;
    extoll_peer_frame(t->peer[0], RNIC_LINK_DOWN, NULL, 0);
    extoll_wait(t, !extoll_link_up_get(t, 0));
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_EVENTS);
    g_assert_true(event_take(t));
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_LINK, ==, 0);
    extoll_stop(t);
}

/* A link in loopback gets its own flits: a packet for it comes back to its source. */
static void test_loopback(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    uint64_t home = extoll_hop(IN, 0, REST);
    unsigned downs = t->peer[OUT]->downs;

    extoll_port_set(t, OUT, CTRL, EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    extoll_wait(t, t->peer[OUT]->downs == downs + 1);
    extoll_wait(t, extoll_link_up_get(t, OUT));
    g_assert_cmpuint(extoll_port32(t, OUT, PEER), ==, EXTOLL_TEST_NODE);
    g_assert_cmpuint(extoll_port32(t, OUT, PEER_EPOCH), ==, EXTOLL_TEST_EPOCH);
    g_assert_cmpuint(extoll_port32(t, OUT, CREDIT_0), ==, EXTOLL_ROOM_DEFAULT);
    extoll_peer_send(t, IN, 0, extoll_hop(OUT, 1, home), EXTOLL_LONG_BYTES, 0, 100);
    extoll_peer_take(t, IN, 0, REST, EXTOLL_LONG_BYTES, 0, 100);
    g_assert_cmpuint(extoll_port64(t, OUT, TX_FLITS), ==, 100 * EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_port64(t, OUT, RX_FLITS), ==, 100 * EXTOLL_LONG_FLITS);
    g_assert_cmpuint(extoll_port64(t, OUT, RX_ERROR), ==, 0);
    extoll_port_set(t, OUT, CTRL, EXTOLL_PORT_CTRL_ENABLE);
    extoll_wait(t, extoll_link_up_get(t, OUT));
    extoll_link_bring_up(t, OUT);
    extoll_link_assert_works(t, IN, OUT, 100);
    extoll_stop(t);
}

/* Software disables the port; the peer gets DOWN and no answer to its HELLOs. */
static void test_disable(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];
    unsigned downs = p->downs, hellos = p->hellos;

    event_take(t);
    extoll_port_set(t, OUT, CTRL, 0);
    extoll_wait(t, p->downs == downs + 1);
    g_assert_cmphex(extoll_port32(t, OUT, STATUS), ==, PRESENT);
    g_assert_true(event_take(t));
    extoll_peer_hello(p, true);
    extoll_step(t, 2000 * EXTOLL_TEST_MS);
    g_assert_cmpuint(p->hellos, ==, hellos);
    g_assert_true(extoll_link_up_get(t, IN));
    extoll_port_set(t, OUT, CTRL, EXTOLL_PORT_CTRL_ENABLE);
    extoll_wait(t, extoll_link_up_get(t, OUT));
    g_assert_true(event_take(t));
    /* both ends have their counts of before */
    g_assert_true(p->start.flags & EXTOLL_START_RESUME);
    extoll_link_assert_works(t, IN, OUT, 0);
    extoll_stop(t);
}

/* The user of the machine takes the cable out and puts it in again. */
static void test_set_link(void)
{
    ExtollTest *t = extoll_start_links(2, "");

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned up = 0; up < 2; up++) {
            qtest_qmp_assert_success(t->qts, "{ 'execute': 'set_link', 'arguments': "
                                     "{ 'name': 'wire1', 'up': %i } }", up);
            extoll_step(t, 60 * EXTOLL_TEST_MS);
            extoll_wait(t, extoll_link_up_get(t, OUT) == up);
            if (!up) {
                send_short(t, i, 1);    /* waits for the link */
                extoll_settle(t);
            }
        }
        take_short(t, i, 1);
    }
    g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 0);
    extoll_stop(t);
}

/* A neighbour of another family keeps the link down, and is shown. */
static void test_other_family(void)
{
    ExtollTest *t = extoll_start_cold(1, "");
    ExtollPeer *p = t->peer[0];

    p->family = RNIC_LINK_EXANET;
    extoll_peer_hello(p, true);
    extoll_wait(t, extoll_port32(t, 0, STATUS) == (PRESENT | EXTOLL_PORT_STATUS_OTHER));
    extoll_step(t, 1000 * EXTOLL_TEST_MS);
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, PRESENT | EXTOLL_PORT_STATUS_OTHER);
    g_assert_cmpuint(extoll_port32(t, 0, PEER), ==, 0);
    g_assert_false(event_take(t));
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, PRESENT);
    p->family = RNIC_LINK_EXTOLL;
    extoll_link_bring_up(t, 0);
    g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, UP);
    extoll_stop(t);
}

/* A node whose number cannot exist is no neighbour. */
static void test_bad_node(void)
{
    ExtollTest *t = extoll_start_cold(1, "");
    ExtollPeer *p = t->peer[0];
    static const uint32_t bad[] = { 64, 0xffff, EXTOLL_TEST_NODE };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        p->node = bad[i];
        extoll_peer_hello(p, true);
        extoll_step(t, 100 * EXTOLL_TEST_MS);
        g_assert_cmphex(extoll_port32(t, 0, STATUS), ==, PRESENT);
        g_assert_false(p->heard);
    }
    p->node = 63;
    extoll_link_bring_up(t, 0);
    g_assert_cmpuint(extoll_port32(t, 0, PEER), ==, 63);
    extoll_stop(t);
}

/* --- Retransmission: the device sends ------------------------------------- */

/* The peer gets none of @count packets: it drops them, and goes back to the first. */
static void lose(ExtollTest *t, unsigned count)
{
    ExtollPeer *p = t->peer[OUT];
    uint16_t seq = p->rx_seq;
    uint32_t flits = p->rx_flits[0], freed = p->rx_freed[0];

    p->mute = true;
    send_short(t, 0, count);
    take_short(t, 0, count);
    p->rx_seq = seq;
    p->rx_flits[0] = flits;
    p->rx_freed[0] = freed;
}

/* The peer sends NAK: the device repeats all flits from there, at once. */
static void test_nak(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 10);
    extoll_peer_state(p, 0);
    extoll_settle(t);
    g_assert_cmpuint(extoll_peer_arrived(p), ==, 0);
    p->mute = false;
    extoll_peer_state(p, EXTOLL_STATE_NAK);
    take_short(t, 0, 10);
    g_assert_cmpuint(extoll_port64(t, OUT, RX_NAK), ==, 1);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 10);
    g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, 0);
    g_assert_cmpuint(extoll_port64(t, OUT, TX_FLITS), ==, 10);
    extoll_step(t, 2 * TIMER_NS);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 10);
    g_assert_cmpuint(p->again, ==, 0);
    extoll_stop(t);
}

/* A NAK in the middle: only the flits behind are repeated. */
static void test_nak_middle(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 10);
    p->mute = false;
    p->rx_seq = 6;
    p->rx_flits[0] = p->rx_freed[0] = 6;
    extoll_peer_state(p, EXTOLL_STATE_NAK);
    take_short(t, 6, 4);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 4);
    extoll_wait(t, extoll_port32(t, OUT, CREDIT_0) == EXTOLL_ROOM_DEFAULT);
    extoll_stop(t);
}

/* The peer is silent: the device repeats after TIMER_NS, each time all flits. */
static void test_timer(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 3);
    extoll_step(t, TIMER_NS - 1);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 0);
    extoll_step(t, 1);
    take_short(t, 0, 3);
    for (unsigned i = 2; i <= 4; i++) {
        extoll_step(t, TIMER_NS);
        extoll_wait(t, extoll_port64(t, OUT, RESENT) == 3 * i);
        g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, i);
    }
    extoll_wait(t, p->again == 9);
    p->mute = false;
    extoll_peer_state(p, 0);
    extoll_settle(t);
    extoll_step(t, 10 * TIMER_NS);
    g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, 4);
    g_assert_true(extoll_link_up_get(t, OUT));
    extoll_stop(t);
}

/*
 * Too many retransmissions take the link down.  The packets wait, and arrive when the
 * link is up again.
 */
static void test_dead(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 3);
    event_take(t);
    p->silent = true;
    for (unsigned i = 1; i <= EXTOLL_TRIES; i++) {
        extoll_step(t, TIMER_NS);
        g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, i);
        g_queue_clear_full(&p->packets, g_free);
        p->rx_seq = 0;
        p->rx_flits[0] = p->rx_freed[0] = 0;
    }
    g_assert_true(extoll_link_up_get(t, OUT));
    extoll_step(t, TIMER_NS);
    g_assert_false(extoll_link_up_get(t, OUT));
    g_assert_true(event_take(t));
    g_assert_cmpuint(extoll_port64(t, OUT, RX_ERROR), ==, 0);
    p->silent = p->mute = false;
    extoll_link_bring_up(t, OUT);
    g_assert_true(p->start.flags & EXTOLL_START_RESUME);
    take_short(t, 0, 3);
    g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 0);
    extoll_stop(t);
}

/* --- Retransmission: the device receives ---------------------------------- */

/* Sends flit @seq with packet @number; @bit: number of a bit to flip, or -1. */
static void send_flit(ExtollTest *t, uint16_t seq, unsigned number, int bit)
{
    ExtollPeer *p = t->peer[IN];
    uint8_t packet[EXTOLL_SHORT_BYTES], buf[EXTOLL_FLIT_MAX];
    uint32_t flits = p->tx_flits[0];
    uint16_t next = p->tx_seq;
    unsigned words;

    extoll_packet_build(packet, ROUTE, sizeof(packet), number);
    p->tx_seq = seq;
    words = extoll_peer_flits(p, buf, 0, packet, sizeof(packet));
    if ((int16_t)(next - p->tx_seq) >= 0) {
        p->tx_seq = next;           /* a flit again */
        p->tx_flits[0] = flits;
    }
    if (bit >= 0) {
        buf[bit / 8] ^= 1 << bit % 8;
    }
    extoll_peer_frame(p, RNIC_LINK_DATA, buf, words);
    extoll_settle(t);
}

/*
 * A bad CRC: the device sends one NAK, also if more flits follow, and takes the flits
 * when they come again.
 */
static void test_bad_crc(void)
{
    static const int bits[] = { 13, 40, 63, 8 * EXTOLL_FLIT_HEADER + 5, 8 * 70 + 7 };

    for (unsigned i = 0; i < ARRAY_SIZE(bits); i++) {
        ExtollTest *t = extoll_start_links(2, "");
        ExtollPeer *p = t->peer[IN];

        send_flit(t, 0, 0, -1);
        send_flit(t, 1, 1, bits[i]);
        extoll_wait(t, p->naks == 1);
        g_assert_cmpuint(p->state.ack, ==, 1);
        send_flit(t, 2, 2, -1);
        send_flit(t, 3, 3, -1);
        g_assert_cmpuint(extoll_port64(t, IN, RX_BAD), ==, 1);
        g_assert_cmpuint(extoll_port64(t, IN, RX_GAP), ==, 2);
        g_assert_cmpuint(extoll_port64(t, IN, TX_NAK), ==, 1);
        g_assert_cmpuint(extoll_port64(t, IN, RX_FLITS), ==, 1);
        for (unsigned n = 1; n < 4; n++) {
            send_flit(t, n, n, -1);
        }
        take_short(t, 0, 4);
        g_assert_cmpuint(extoll_port64(t, IN, RX_FLITS), ==, 4);
        g_assert_cmpuint(p->naks, ==, 1);
        extoll_stop(t);
    }
}

/* A missing flit: NAK.  A flit that comes again: only an acknowledgement. */
static void test_gap(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];
    unsigned states;

    send_flit(t, 0, 0, -1);
    send_flit(t, 2, 2, -1);
    extoll_wait(t, p->naks == 1);
    g_assert_cmpuint(p->state.ack, ==, 1);
    states = p->states;
    send_flit(t, 0, 0, -1);
    extoll_wait(t, p->states == states + 1);
    g_assert_cmphex(p->state.flags, ==, 0);
    g_assert_cmpuint(extoll_port64(t, IN, RX_AGAIN), ==, 1);
    g_assert_cmpuint(extoll_port64(t, IN, RX_GAP), ==, 1);
    /* the sender has gone back, so it may need another NAK */
    send_flit(t, 2, 2, -1);
    extoll_wait(t, p->naks == 2);
    send_flit(t, 1, 1, -1);
    send_flit(t, 2, 2, -1);
    take_short(t, 0, 3);
    g_assert_cmpuint(extoll_port64(t, IN, RX_FLITS), ==, 3);
    g_assert_cmpuint(extoll_peer_arrived(t->peer[OUT]), ==, 0);
    extoll_stop(t);
}

/* A flit of no valid length hides the rest of its frame. */
static void test_bad_length(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];
    uint8_t packet[EXTOLL_SHORT_BYTES], buf[3 * EXTOLL_FLIT_MAX];
    unsigned words = 0;

    for (unsigned n = 0; n < 3; n++) {
        extoll_packet_build(packet, ROUTE, sizeof(packet), n);
        words += extoll_peer_flits(p, buf + words * RNIC_LINK_WORD, 0, packet,
                                   sizeof(packet));
    }
    buf[words / 3 * RNIC_LINK_WORD + 3] = 0;
    extoll_peer_frame(p, RNIC_LINK_DATA, buf, words);
    take_short(t, 0, 1);
    extoll_wait(t, p->naks == 1);
    g_assert_cmpuint(p->state.ack, ==, 1);
    g_assert_cmpuint(extoll_port64(t, IN, RX_BAD), ==, 1);
    g_assert_cmpuint(extoll_port64(t, IN, RX_GAP), ==, 0);
    p->tx_seq = p->tx_flits[0] = 1;
    send_short(t, 1, 2);
    take_short(t, 1, 2);
    extoll_stop(t);
}

/*
 * The only STATE with credits is lost, and the device has no flit to repeat: the device
 * asks for another STATE after EXTOLL_TIMER_NS.
 */
static void test_credits_lost(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];
    uint32_t room = p->room;

    p->hold = true;
    send_short(t, 0, 5);
    take_short(t, 0, 5);
    extoll_peer_state(p, 0);        /* acknowledges all flits, and returns no credit */
    extoll_wait(t, extoll_port32(t, OUT, CREDIT_0) == room - 5);
    p->rx_freed[0] = p->rx_flits[0];        /* the peer's STATE about this is lost */
    extoll_step(t, TIMER_NS / 2);
    g_assert_cmphex(p->state.flags, ==, 0);
    g_assert_cmpuint(extoll_port32(t, OUT, CREDIT_0), ==, room - 5);
    extoll_step(t, TIMER_NS);
    extoll_wait(t, extoll_port32(t, OUT, CREDIT_0) == room);
    g_assert_cmphex(p->state.flags, ==, EXTOLL_STATE_ANSWER);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 0);
    extoll_stop(t);
}

/* A peer that asks for a STATE gets it at once. */
static void test_asked(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];
    unsigned states;

    send_short(t, 0, 3);
    take_short(t, 0, 3);
    extoll_step(t, EXTOLL_TEST_MS);
    states = p->states;
    extoll_peer_state(p, EXTOLL_STATE_ANSWER);
    extoll_wait(t, p->states == states + 1);
    g_assert_cmphex(p->state.flags, ==, 0);
    g_assert_cmpuint(p->state.count[0], ==, 3);
    extoll_stop(t);
}

/* Acknowledgements leave after 500 us, or at once after many flits. */
static void test_answer(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];
    unsigned states;

    extoll_step(t, EXTOLL_TEST_MS);
    states = p->states;
    send_short(t, 0, 10);
    take_short(t, 0, 10);
    extoll_step(t, 499999);
    g_assert_cmpuint(p->states, ==, states);
    extoll_step(t, 1);
    extoll_wait(t, p->states == states + 1);
    g_assert_cmpuint(p->state.ack, ==, 10);
    g_assert_cmpuint(p->state.count[0], ==, 10);
    g_assert_cmpuint(p->state.count[1], ==, 0);
    send_short(t, 10, 64);
    take_short(t, 10, 64);
    extoll_wait(t, p->states == states + 2);
    g_assert_cmpuint(p->state.ack, ==, 74);
    extoll_step(t, 100 * EXTOLL_TEST_MS);
    g_assert_cmpuint(p->state.count[0], ==, 74);
    extoll_stop(t);
}

/* --- Cables that are cut -------------------------------------------------- */

/* Takes the link at @link down by DOWN, without an answer to HELLOs. */
static void cut(ExtollTest *t, unsigned link)
{
    t->peer[link]->silent = true;
    extoll_peer_frame(t->peer[link], RNIC_LINK_DOWN, NULL, 0);
    extoll_wait(t, !extoll_link_up_get(t, link));
}

/* The same epochs: both ends go on where they were, and no packet is lost. */
static void test_cut(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];
    uint32_t credit;

    lose(t, 5);
    cut(t, OUT);
    credit = extoll_port32(t, OUT, CREDIT_0);
    g_assert_cmpuint(credit, ==, EXTOLL_ROOM_DEFAULT - 5);
    send_short(t, 5, 5);            /* these wait in the device */
    extoll_step(t, 100 * EXTOLL_TEST_MS);
    p->silent = p->mute = false;
    extoll_link_bring_up(t, OUT);
    g_assert_true(p->start.flags & EXTOLL_START_RESUME);
    take_short(t, 0, 10);
    g_assert_cmpuint(extoll_port64(t, OUT, TX_FLITS), ==, 10);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 5);
    g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 0);
    /* the other direction: the device tells which flit it wants next */
    extoll_peer_send(t, OUT, 0, extoll_hop(IN, 0, REST), EXTOLL_SHORT_BYTES, 0, 3);
    extoll_peer_take(t, IN, 0, REST, EXTOLL_SHORT_BYTES, 0, 3);
    cut(t, OUT);
    p->silent = false;
    extoll_link_bring_up(t, OUT);
    g_assert_cmpuint(p->start.ack, ==, 3);
    extoll_peer_send(t, OUT, 0, extoll_hop(IN, 0, REST), EXTOLL_SHORT_BYTES, 3, 3);
    extoll_peer_take(t, IN, 0, REST, EXTOLL_SHORT_BYTES, 3, 3);
    extoll_stop(t);
}

/* Half a packet has arrived when the cable is cut; the other half follows later. */
static void test_cut_packet(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[IN];
    uint8_t packet[EXTOLL_PACKET_MAX], buf[EXTOLL_FRAME_WORDS * RNIC_LINK_WORD];
    unsigned words, half = 10 * EXTOLL_FLIT_MAX / RNIC_LINK_WORD;

    extoll_packet_build(packet, ROUTE, EXTOLL_LONG_BYTES, 0);
    words = extoll_peer_flits(p, buf, 0, packet, EXTOLL_LONG_BYTES);
    extoll_peer_frame(p, RNIC_LINK_DATA, buf, half);
    extoll_wait(t, extoll_port64(t, IN, RX_FLITS) == 10);
    cut(t, IN);
    p->silent = false;
    extoll_link_bring_up(t, IN);
    g_assert_cmpuint(p->start.ack, ==, 10);
    extoll_peer_frame(p, RNIC_LINK_DATA, buf + half * RNIC_LINK_WORD, words - half);
    extoll_peer_take(t, OUT, 0, REST, EXTOLL_LONG_BYTES, 0, 1);
    g_assert_cmpuint(extoll_port64(t, IN, DROPPED), ==, 0);
    extoll_stop(t);
}

/* A neighbour with a new epoch has nothing: what the device kept is dropped. */
static void test_new_epoch(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 5);
    p->mute = false;
    p->epoch++;
    extoll_peer_forget(p);
    p->open = false;
    extoll_peer_hello(p, false);
    extoll_wait(t, extoll_port32(t, OUT, PEER_EPOCH) == p->epoch &&
                extoll_link_up_get(t, OUT));
    g_assert_cmphex(p->start.flags & EXTOLL_START_RESUME, ==, 0);
    g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 5);
    g_assert_cmpuint(extoll_port32(t, OUT, CREDIT_0), ==, EXTOLL_ROOM_DEFAULT);
    g_assert_cmpuint(extoll_peer_arrived(p), ==, 0);
    extoll_link_assert_works(t, IN, OUT, 9);
    extoll_stop(t);
}

/* A neighbour without its state, in spite of the same epoch: both ends begin anew. */
static void test_forgotten(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 5);
    cut(t, OUT);
    p->silent = p->mute = p->open = false;
    extoll_peer_forget(p);
    extoll_link_bring_up(t, OUT);
    extoll_wait(t, !(p->start.flags & EXTOLL_START_RESUME));
    g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 5);
    extoll_link_assert_works(t, IN, OUT, 9);
    extoll_link_assert_works(t, OUT, IN, 9);
    extoll_stop(t);
}

/* A reset of the device: a new epoch, counters of 0, and nothing of before. */
static void test_reset(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 5);
    p->mute = false;
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    for (unsigned i = 0; i < 2; i++) {
        extoll_wait(t, t->peer[i]->hello.epoch == EXTOLL_TEST_EPOCH + 1 &&
                    extoll_link_up_get(t, i));
        g_assert_cmphex(t->peer[i]->start.flags & EXTOLL_START_RESUME, ==, 0);
        g_assert_cmpuint(extoll_port64(t, i, TX_FLITS), ==, 0);
        g_assert_cmpuint(extoll_port64(t, i, RX_FLITS), ==, 0);
        g_assert_cmpuint(extoll_port64(t, i, DROPPED), ==, 0);
    }
    g_assert_cmpuint(extoll_peer_arrived(p), ==, 0);
    extoll_link_assert_works(t, IN, OUT, 9);
    extoll_stop(t);
}

/* Another number of the node: both ends begin anew. */
static void test_new_node(void)
{
    ExtollTest *t = extoll_start_links(2, "");
    ExtollPeer *p = t->peer[OUT];

    lose(t, 5);
    p->mute = false;
    extoll_set32(t, EXTOLL_REG_NODE, 44);
    for (unsigned i = 0; i < 2; i++) {
        extoll_wait(t, t->peer[i]->hello.coord == 44 && extoll_link_up_get(t, i));
        g_assert_cmphex(t->peer[i]->start.flags & EXTOLL_START_RESUME, ==, 0);
    }
    g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 5);
    extoll_link_assert_works(t, IN, OUT, 9);
    extoll_link_assert_works(t, OUT, IN, 9);
    /* the same number again changes nothing */
    extoll_set32(t, EXTOLL_REG_NODE, 44);
    g_assert_true(extoll_link_up_get(t, IN) && extoll_link_up_get(t, OUT));
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/link/up", test_up);
    qtest_add_func("/extoll/link/start-repeats", test_start_repeats);
    qtest_add_func("/extoll/link/event", test_event);
    qtest_add_func("/extoll/link/loopback", test_loopback);
    qtest_add_func("/extoll/link/disable", test_disable);
    qtest_add_func("/extoll/link/set-link", test_set_link);
    qtest_add_func("/extoll/link/other-family", test_other_family);
    qtest_add_func("/extoll/link/bad-node", test_bad_node);
    qtest_add_func("/extoll/link/nak", test_nak);
    qtest_add_func("/extoll/link/nak-middle", test_nak_middle);
    qtest_add_func("/extoll/link/timer", test_timer);
    qtest_add_func("/extoll/link/dead", test_dead);
    qtest_add_func("/extoll/link/bad-crc", test_bad_crc);
    qtest_add_func("/extoll/link/gap", test_gap);
    qtest_add_func("/extoll/link/bad-length", test_bad_length);
    qtest_add_func("/extoll/link/answer", test_answer);
    qtest_add_func("/extoll/link/credits-lost", test_credits_lost);
    qtest_add_func("/extoll/link/asked", test_asked);
    qtest_add_func("/extoll/link/cut", test_cut);
    qtest_add_func("/extoll/link/cut-packet", test_cut_packet);
    qtest_add_func("/extoll/link/new-epoch", test_new_epoch);
    qtest_add_func("/extoll/link/forgotten", test_forgotten);
    qtest_add_func("/extoll/link/reset", test_reset);
    qtest_add_func("/extoll/link/new-node", test_new_node);
    return g_test_run();
}
