/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link: two ends and a cable between them (link-rig.h).  Packets arrive once and in
 * order, and an end that lies harms only its own link.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/extoll/base/control.h"
#include "hw/rnic/extoll/base/flit.h"
#include "hw/rnic/extoll/base/packet.h"
#include "../../seed.h"
#include "link-rig.h"

/* --- Up and down -------------------------------------------------------------------- */

static void test_start(void)
{
    rig_start(64);
    g_assert_false(rig_packet_send(0, 0));
    rig_connect();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    for (unsigned e = 0; e < 2; e++) {
        g_assert_cmpuint(extoll_credit_tx_left(&rig.end[e].tx_credit[1]), ==, 64);
        /* silence after the start: no START or STATE without a reason */
        for (unsigned i = 0; i < 50; i++) {
            rig_step();
        }
        g_assert_cmpint(extoll_link_deadline(&rig.end[e]), ==, INT64_MAX);
    }
    rig_end();
}

/* Whichever of the first words are lost, the link goes up. */
static void test_start_lost(void)
{
    for (unsigned lost = 0; lost < 12; lost++) {
        rig_start(64);
        rig.lose_next = lost;
        rig_connect();
        g_assert_true(rig_packet_send(0, 1));
        rig_drain();
        g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
        rig_end();
    }
}

/* One end goes up long before the other. */
static void test_start_delayed(void)
{
    rig_start(64);
    extoll_link_up(&rig.end[0]);
    for (unsigned i = 0; i < 1000; i++) {
        rig_step();
    }
    g_assert_false(extoll_link_is_up(&rig.end[0]));
    extoll_link_up(&rig.end[1]);
    for (unsigned i = 0; !rig_is_up(); i++) {
        g_assert_cmpuint(i, <, STEPS);
        rig_step();
    }
    rig_end();
}

/* Packets that are under way when the link goes down arrive later, each once. */
static void test_resume(void)
{
    rig_start(4096);
    rig_connect();
    for (unsigned n = 0; n < 30; n++) {
        g_assert_true(rig_packet_send(0, n % 2));
        g_assert_true(rig_packet_send(1, n % 2));
        if (n % 10 == 9) {
            rig.lose_next = 7 * n;
            rig_step();
            rig_both_down();
            rig_step();
            rig.lose_next = 0;
            g_assert_false(rig_packet_send(0, 0));
            rig_connect();
        }
    }
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_RESENT), >, 0);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, 0);
    g_assert_cmpuint(rig_counter(1, EXTOLL_LINK_DROPPED), ==, 0);
    rig_end();
}

/* Credits that got lost before the link went down arrive when it is up again. */
static void test_resume_credits(void)
{
    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    while (rig_packet_send(0, 0)) {
        rig_step();
    }
    rig_step();
    rig.lose = 1;
    rig_packets_take(1);
    g_assert_true(rig.got[1][0] > 0);
    for (unsigned i = 0; i < 20; i++) {
        rig_step();
    }
    rig.lose = 0;
    rig_both_down();
    rig_connect();
    for (unsigned i = 0; i < 20; i++) {
        rig_step();
    }
    g_assert_cmpuint(extoll_credit_tx_left(&rig.end[0].tx_credit[0]), ==,
                     EXTOLL_ROOM_MIN);
    rig_end();
}

/* A link that starts again repeats no flit, and counts no timeout, before it is up. */
static void test_resume_timer(void)
{
    rig_start(64);
    rig_connect();
    g_assert_true(rig_packet_send(0, 0));
    rig.lose = 1;
    rig_step();
    rig_both_down();
    extoll_link_up(&rig.end[0]);
    for (unsigned i = 0; i < 40 * EXTOLL_TIMER_NS / STEP_NS; i++) {
        rig_step();
    }
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_TIMEOUTS), ==, 0);
    rig.lose = 0;
    extoll_link_up(&rig.end[1]);
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    rig_end();
}

/* An end sends no flit before the other end can take it. */
static void test_start_first(void)
{
    uint8_t buf[EXTOLL_FLIT_MAX], start[EXTOLL_FLIT_MAX];

    rig_start(64);
    rig_both_up();
    g_assert_cmpuint(extoll_link_next(&rig.end[1], start, 0), ==, 1);
    g_assert_cmpint(extoll_link_take(&rig.end[0], start, 1, 0), ==, EXTOLL_LINK_OK);
    g_assert_true(rig_packet_send(0, 0));
    g_assert_cmpuint(extoll_link_next(&rig.end[0], buf, 0), ==, 1);
    g_assert_true(extoll_control_is(buf));
    g_assert_cmpuint(extoll_link_next(&rig.end[0], buf, 0), ==, 0);
    rig_end();
}

/* One end was down, and the other end has not noticed. */
static void test_resume_alone(void)
{
    rig_start(4096);
    rig_connect();
    for (unsigned n = 0; n < 30; n++) {
        g_assert_true(rig_packet_send(0, n % 2));
        g_assert_true(rig_packet_send(1, n % 2));
        if (n % 10 == 9) {
            rig.lose_next = 7 * n;
            rig_step();
            extoll_link_down(&rig.end[n % 20 == 9]);
            rig_step();
            rig.lose_next = 0;
            extoll_link_up(&rig.end[n % 20 == 9]);
            for (unsigned i = 0; !rig_is_up(); i++) {
                g_assert_cmpuint(i, <, STEPS);
                rig_step();
            }
        }
    }
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, 0);
    g_assert_cmpuint(rig_counter(1, EXTOLL_LINK_DROPPED), ==, 0);
    rig_end();
}

/*
 * A START from before the link was down, by an end that has not noticed, does not make
 * this end forget.
 */
static void test_resume_old_start(void)
{
    uint8_t buf[EXTOLL_FLIT_MAX], old[EXTOLL_FLIT_MAX];

    rig_start(64);
    rig_both_up();
    g_assert_cmpuint(extoll_link_next(&rig.end[0], buf, 0), ==, 1);
    g_assert_cmpint(extoll_link_take(&rig.end[1], buf, 1, 0), ==, EXTOLL_LINK_OK);
    g_assert_cmpuint(extoll_link_next(&rig.end[1], old, 0), ==, 1);
    g_assert_cmpint(extoll_link_take(&rig.end[0], old, 1, 0), ==, EXTOLL_LINK_OK);
    g_assert_true(rig_packet_send(0, 0));
    extoll_link_down(&rig.end[0]);
    extoll_link_up(&rig.end[0]);
    g_assert_cmpint(extoll_link_take(&rig.end[0], old, 1, 0), ==, EXTOLL_LINK_OK);
    rig_drain();
    g_assert_cmpuint(rig.got[1][0], ==, 1);
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, 0);
    rig_end();
}

/* If one end has forgotten the link, the other drops what it keeps, and counts it. */
static void test_forget(void)
{
    for (unsigned forgets = 0; forgets < 2; forgets++) {
        rig_start(4096);
        rig_connect();
        rig.lose = 1;
        for (unsigned n = 0; n < 5; n++) {
            g_assert_true(rig_packet_send(0, n % 2));
        }
        rig_step();
        rig_both_down();
        extoll_link_forget(&rig.end[forgets]);
        rig.lose = 0;
        rig_connect();
        g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
        g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, 5);
        memset(rig.sent, 0, sizeof(rig.sent));
        g_assert_true(rig_packet_send(0, 0));
        g_assert_true(rig_packet_send(1, 1));
        rig_drain();
        rig_end();
    }
}

/* --- Flow ------------------------------------------------------------------------- */

/* A sender without credits waits, and goes on when the receiver has freed its room. */
static void test_credits(void)
{
    unsigned flits = 0;

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    while (rig_packet_send(0, 0)) {
        flits++;
    }
    g_assert_cmpuint(flits, >, 0);
    for (unsigned i = 0; i < 100; i++) {
        rig_step();
    }
    g_assert_false(rig_packet_send(0, 0));
    g_assert_true(rig_packet_send(0, 1));       /* the other channel has its own room */
    rig_drain();
    for (unsigned i = 0; i < 100; i++) {
        rig_step();
    }
    g_assert_cmpuint(extoll_credit_tx_left(&rig.end[0].tx_credit[0]), ==,
                     EXTOLL_ROOM_MIN);
    for (unsigned n = 0; n < 500; n++) {
        while (!rig_packet_send(0, 0)) {
            rig_step();
            rig_packets_take(1);
        }
    }
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    rig_end();
}

/*
 * The only STATE with credits is lost, and all flits are acknowledged: the sender asks
 * for another.
 */
static void test_credits_lost(void)
{
    int64_t begin;

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    while (rig_packet_send(0, 0)) {
        rig_step();
    }
    while (extoll_replay_tx_kept(&rig.end[0].tx)) {
        rig_step();
    }
    rig.lose = 1;
    rig_packets_take(1);
    for (unsigned i = 0; i < 20; i++) {
        rig_step();
    }
    g_assert_false(rig_packet_send(0, 0));
    rig.lose = 0;
    /* also the first question is lost */
    rig.lose_next = 1;
    begin = rig.now;
    while (extoll_credit_tx_used(&rig.end[0].tx_credit[0])) {
        g_assert_cmpint(rig.now - begin, <=, 2 * EXTOLL_TIMER_NS);
        rig_step();
    }
    g_assert_cmpint(rig.now - begin, >, EXTOLL_TIMER_NS / 2);
    g_assert_cmpint(extoll_link_deadline(&rig.end[0]), ==, INT64_MAX);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_RESENT), ==, 0);
    rig_end();
}

/* While packets fill the receiver's room, the sender asks once in EXTOLL_TIMER_NS. */
static void test_credits_asked(void)
{
    unsigned asked = 0;

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    g_assert_true(rig_packet_send(0, 0));
    while (extoll_replay_tx_kept(&rig.end[0].tx)) {
        rig_step();
    }
    for (unsigned i = 0; i < 10 * EXTOLL_TIMER_NS / STEP_NS; i++, rig.now += STEP_NS) {
        uint8_t buf[EXTOLL_FLIT_MAX];
        ExtollControl c;

        g_assert_cmpint(extoll_link_expire(&rig.end[0], rig.now), ==, EXTOLL_LINK_OK);
        if (!extoll_link_next(&rig.end[0], buf, rig.now)) {
            continue;
        }
        g_assert_cmpint(extoll_control_decode(buf, &c), ==, EXTOLL_CONTROL_OK);
        g_assert_cmpuint(c.flags, ==, EXTOLL_STATE_ANSWER);
        asked++;
        g_assert_cmpint(extoll_link_take(&rig.end[1], buf, 1, rig.now), ==,
                        EXTOLL_LINK_OK);
        g_assert_cmpuint(extoll_link_next(&rig.end[1], buf, rig.now), ==, 1);
        g_assert_cmpint(extoll_control_decode(buf, &c), ==, EXTOLL_CONTROL_OK);
        g_assert_cmpuint(c.flags, ==, 0);
    }
    g_assert_cmpuint(asked, >=, 9);
    g_assert_cmpuint(asked, <=, 10);
    rig_end();
}

/* A cable that delays flits on purpose causes no retransmission. */
static void test_timer(void)
{
    uint8_t buf[EXTOLL_FLIT_MAX];

    rig_start(64);
    extoll_link_timer(&rig.end[0], 100000000);
    rig_connect();
    g_assert_true(rig_packet_send(0, 0));
    do {
        g_assert_cmpuint(extoll_link_next(&rig.end[0], buf, rig.now), >, 0);
    } while (extoll_control_is(buf));
    g_assert_cmpint(rig.end[0].tx.deadline, ==, rig.now + EXTOLL_TIMER_NS + 100000000);
    rig_end();
}

/* An acknowledgement waits for a flit, but not longer than EXTOLL_ANSWER_NS. */
static void test_answer(void)
{
    int64_t begin;

    rig_start(64);
    rig_connect();
    for (unsigned i = 0; i < 50; i++) {
        rig_step();
    }
    g_assert_true(rig_packet_send(0, 0));
    begin = rig.now;
    while (extoll_replay_tx_kept(&rig.end[0].tx)) {
        rig_step();
    }
    g_assert_cmpint(rig.now - begin, >=, EXTOLL_ANSWER_NS);
    g_assert_cmpint(rig.now - begin, <=, EXTOLL_ANSWER_NS + 4 * STEP_NS);
    g_assert_true(rig_packet_send(0, 0) && rig_packet_send(1, 0));
    rig_step();
    rig_step();
    g_assert_cmpuint(extoll_replay_tx_kept(&rig.end[0].tx), ==, 0);
    rig_end();
}

/* Many flits are acknowledged at once, and room that many flits leave is free at once. */
static void test_answer_many(void)
{
    int64_t begin;

    rig_start(4096);
    rig_connect();
    for (unsigned i = 0; i < 50; i++) {
        rig_step();
    }
    begin = rig.now;
    while (rig_counter(0, EXTOLL_LINK_TX_FLITS) < 4096 - EXTOLL_PACKET_FLITS) {
        g_assert_true(rig_packet_send(0, 0));
    }
    while (extoll_replay_tx_kept(&rig.end[0].tx) >= EXTOLL_ANSWER_FLITS) {
        rig_step();
    }
    g_assert_cmpint(rig.now - begin, <, EXTOLL_ANSWER_NS);
    for (unsigned i = 0; i < 50; i++) {
        rig_step();
    }
    begin = rig.now;
    rig_packets_take(1);
    while (extoll_credit_tx_left(&rig.end[0].tx_credit[0]) < 4096) {
        rig_step();
    }
    g_assert_cmpint(rig.now - begin, <, EXTOLL_ANSWER_NS);
    rig_end();
}

/* The sender repeats a flit whose acknowledgement got lost, and gets another. */
static void test_answer_lost(void)
{
    rig_start(64);
    rig_connect();
    g_assert_true(rig_packet_send(0, 0));
    rig_step();
    rig.lose_next = 2;                      /* the acknowledgement, and one more */
    rig_drain();
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_TIMEOUTS), <=, 3);
    g_assert_cmpuint(rig_counter(1, EXTOLL_LINK_RX_AGAIN), >, 0);
    rig_end();
}

/* A damaged flit is repeated long before the timer of the sender. */
static void test_nak(void)
{
    int64_t begin;

    rig_start(64);
    rig_connect();
    for (unsigned i = 0; i < 50; i++) {
        rig_step();
    }
    begin = rig.now;
    rig.sent[0][0] = rig.got[1][0] = 3;     /* a packet of several flits */
    g_assert_true(rig_packet_send(0, 0));
    rig.lose_next = 1;
    rig_drain();
    g_assert_cmpint(rig.now - begin, <, EXTOLL_TIMER_NS / 2);
    g_assert_cmpuint(rig_counter(1, EXTOLL_LINK_TX_NAK), ==, 1);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_RX_NAK), ==, 1);
    extoll_link_bad(&rig.end[1], rig.now);
    rig_step();
    g_assert_cmpuint(rig_counter(1, EXTOLL_LINK_TX_NAK), ==, 2);
    rig_end();
}

/* A cable that loses all words ends the link after EXTOLL_TRIES. */
static void test_dead(void)
{
    int64_t begin;

    rig_start(64);
    rig_connect();
    rig.lose = 1;
    g_assert_true(rig_packet_send(0, 0));
    begin = rig.now;
    while (rig.status == EXTOLL_LINK_OK) {
        rig_step();
    }
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_DEAD);
    g_assert_cmpint(rig.now - begin, >=, EXTOLL_TRIES * (int64_t)EXTOLL_TIMER_NS);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_TIMEOUTS), ==, EXTOLL_TRIES + 1);
    rig.lose = 0;
    rig_both_down();
    rig_connect();
    rig_drain();                                /* the packet was kept */
    rig_end();
}

/* Random losses, damages and doubles, with a cable that is cut from time to time. */
static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(11));

    rig_start(200);
    rig.rand = rand;
    rig_connect();
    rig.lose = 0.01;
    rig.damage = 0.01;
    rig.twice = 0.01;
    for (unsigned n = 0; n < 6000; n++) {
        unsigned e = g_rand_int_range(rig.rand, 0, 2);

        rig_packet_send(e, g_rand_int_range(rig.rand, 0, EXTOLL_VCS));
        if (g_rand_int_range(rig.rand, 0, 3) == 0) {
            rig_step();
        }
        if (g_rand_int_range(rig.rand, 0, 3) == 0) {
            rig_packets_take(g_rand_int_range(rig.rand, 0, 2));
        }
        if (g_rand_int_range(rig.rand, 0, 500) == 0) {
            rig_both_down();
            rig_connect();
        }
    }
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    for (unsigned e = 0; e < 2; e++) {
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RESENT), >, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_BAD), >, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_GAP), >, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_AGAIN), >, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_NAK), >, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_ERROR), ==, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_FLITS), ==,
                         rig_counter(!e, EXTOLL_LINK_TX_FLITS));
    }
    rig_end();
}

/* --- A peer that lies ------------------------------------------------------------- */

static ExtollLinkStatus take_control(const ExtollControl *c)
{
    uint8_t buf[sizeof(struct extoll_control)];

    extoll_control_encode(buf, c);
    return extoll_link_take(&rig.end[0], buf, 1, rig.now);
}

static ExtollLinkStatus take_flit(ExtollFlit flit, uint64_t command)
{
    uint8_t buf[EXTOLL_FLIT_MAX] = { 0 };
    unsigned bytes;

    stq_le_p(buf + EXTOLL_FLIT_HEADER + EXTOLL_ROUTING_BYTES, command);
    bytes = extoll_flit_encode(buf, &flit);
    return extoll_link_take(&rig.end[0], buf, DIV_ROUND_UP(bytes, 16), rig.now);
}

static void test_hostile_control(void)
{
    static const ExtollControl words[] = {
        { .kind = EXTOLL_CONTROL_STATE, .ack = 1 },
        { .kind = EXTOLL_CONTROL_STATE, .ack = 0x8000 },
        { .kind = EXTOLL_CONTROL_STATE, .count = { 1, 0 } },
        { .kind = EXTOLL_CONTROL_STATE, .count = { 0, 1000 } },
        { .kind = EXTOLL_CONTROL_STATE, .flags = 0x80 },
        { .kind = EXTOLL_CONTROL_START, .count = { 64, 0 } },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
        rig_start(64);
        rig_connect();
        g_assert_cmpint(take_control(&words[i]), ==, EXTOLL_LINK_BROKEN);
        g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_RX_ERROR), ==, 1);
        rig_both_down();
        extoll_link_forget(&rig.end[0]);
        rig.status = EXTOLL_LINK_OK;
        rig_connect();
        memset(rig.sent, 0, sizeof(rig.sent));
        g_assert_true(rig_packet_send(0, 0));
        rig_drain();
        rig_end();
    }
}

/* A START that does not begin with sequence 0, and one with less room than is in use. */
static void test_hostile_start(void)
{
    ExtollControl c = { .kind = EXTOLL_CONTROL_START, .ack = 5, .count = { 64, 64 } };

    rig_start(64);
    extoll_link_up(&rig.end[0]);
    g_assert_cmpint(take_control(&c), ==, EXTOLL_LINK_BROKEN);
    rig_end();

    rig_start(256);
    rig_connect();
    rig.lose = 1;
    for (unsigned n = 0; n < 8; n++) {
        rig_packet_send(0, 0);
    }
    rig_both_down();
    extoll_link_up(&rig.end[0]);
    c.flags = EXTOLL_START_RESUME;
    c.ack = 0;
    c.count[0] = EXTOLL_ROOM_MIN;
    g_assert_cmpint(take_control(&c), ==, EXTOLL_LINK_BROKEN);
    rig_end();
}

static void test_hostile_flits(void)
{
    const ExtollFlit one = { .bytes = 16, .first = true, .last = true };
    ExtollFlit flit = one;

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    /* a packet without a valid command is dropped, and its room is free again */
    g_assert_cmpint(take_flit(one, 0x7), ==, EXTOLL_LINK_BAD_PACKET);
    g_assert_cmpuint(rig.end[0].in[0].credit.freed, ==, 1);
    g_assert_null(extoll_link_head(&rig.end[0], 0));
    /* a packet whose second flit is missing: a first flit follows */
    flit = (ExtollFlit) { .seq = 1, .bytes = 120, .first = true };
    g_assert_cmpint(take_flit(flit, 0x7), ==, EXTOLL_LINK_OK);
    flit.seq = 2;
    g_assert_cmpint(take_flit(flit, 0x7), ==, EXTOLL_LINK_BROKEN);
    rig_end();

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    /* no first flit */
    flit = (ExtollFlit) { .bytes = 16, .last = true };
    g_assert_cmpint(take_flit(flit, 0), ==, EXTOLL_LINK_BROKEN);
    rig_end();

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    /* a packet without end */
    flit = (ExtollFlit) { .bytes = 120, .first = true };
    for (unsigned i = 0; i < EXTOLL_PACKET_FLITS; i++) {
        g_assert_cmpint(take_flit(flit, 0x7), ==, EXTOLL_LINK_OK);
        flit.first = false;
        flit.seq++;
    }
    g_assert_cmpint(take_flit(flit, 0x7), ==, EXTOLL_LINK_BROKEN);
    rig_end();
}

/* A packet that is longer than its command says. */
static void test_hostile_long(void)
{
    uint8_t packet[EXTOLL_PACKET_MAX], buf[EXTOLL_FLIT_MAX] = { 0 };
    ExtollPacket pkt = { .command = EXTOLL_CMD_PUT_BYTES, .bytes = 90 };
    ExtollFlit flit = { .bytes = 120, .first = true };

    g_assert_cmpuint(extoll_packet_encode(packet, 8, &pkt), ==, 128);
    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    memcpy(buf + EXTOLL_FLIT_HEADER, packet, 120);
    extoll_flit_encode(buf, &flit);
    g_assert_cmpint(extoll_link_take(&rig.end[0], buf, 8, 0), ==, EXTOLL_LINK_OK);
    flit = (ExtollFlit) { .seq = 1, .bytes = 120 };
    extoll_flit_encode(buf, &flit);
    g_assert_cmpint(extoll_link_take(&rig.end[0], buf, 8, 0), ==, EXTOLL_LINK_OK);
    flit = (ExtollFlit) { .seq = 2, .bytes = 8, .last = true };
    extoll_flit_encode(buf, &flit);
    g_assert_cmpint(extoll_link_take(&rig.end[0], buf, 1, 0), ==,
                    EXTOLL_LINK_BAD_PACKET);
    g_assert_cmpuint(rig.end[0].in[0].credit.freed, ==, 3);
    g_assert_null(extoll_link_head(&rig.end[0], 0));
    rig_end();
}

/* More flits than the receiver has room for. */
static void test_hostile_room(void)
{
    uint8_t buf[EXTOLL_FLIT_MAX] = { 0 };
    ExtollVeloMsg msg = { .quadwords = 1, .count = 1, .end = true };
    ExtollLinkStatus status = EXTOLL_LINK_OK;
    unsigned taken = 0;

    rig_start(EXTOLL_ROOM_MIN);
    rig_connect();
    for (ExtollFlit flit = { .first = true, .last = true }; status == EXTOLL_LINK_OK;
         flit.seq++) {
        unsigned bytes;

        flit.bytes = extoll_packet_message_encode(buf + EXTOLL_FLIT_HEADER, 8, &msg);
        bytes = extoll_flit_encode(buf, &flit);
        status = extoll_link_take(&rig.end[0], buf, DIV_ROUND_UP(bytes, 16), rig.now);
        taken += status == EXTOLL_LINK_OK;
    }
    g_assert_cmpint(status, ==, EXTOLL_LINK_BROKEN);
    g_assert_cmpuint(taken, ==, EXTOLL_ROOM_MIN);
    g_assert_nonnull(extoll_link_head(&rig.end[0], 0));
    extoll_link_down(&rig.end[0]);
    extoll_link_forget(&rig.end[0]);
    g_assert_null(extoll_link_head(&rig.end[0], 0));
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, EXTOLL_ROOM_MIN);
    rig_end();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/link/start", test_start);
    g_test_add_func("/extoll/link/start-lost", test_start_lost);
    g_test_add_func("/extoll/link/start-delayed", test_start_delayed);
    g_test_add_func("/extoll/link/resume", test_resume);
    g_test_add_func("/extoll/link/resume-credits", test_resume_credits);
    g_test_add_func("/extoll/link/resume-timer", test_resume_timer);
    g_test_add_func("/extoll/link/resume-alone", test_resume_alone);
    g_test_add_func("/extoll/link/resume-old-start", test_resume_old_start);
    g_test_add_func("/extoll/link/start-first", test_start_first);
    g_test_add_func("/extoll/link/forget", test_forget);
    g_test_add_func("/extoll/link/credits", test_credits);
    g_test_add_func("/extoll/link/credits-lost", test_credits_lost);
    g_test_add_func("/extoll/link/credits-asked", test_credits_asked);
    g_test_add_func("/extoll/link/timer", test_timer);
    g_test_add_func("/extoll/link/answer", test_answer);
    g_test_add_func("/extoll/link/answer-many", test_answer_many);
    g_test_add_func("/extoll/link/answer-lost", test_answer_lost);
    g_test_add_func("/extoll/link/nak", test_nak);
    g_test_add_func("/extoll/link/dead", test_dead);
    g_test_add_func("/extoll/link/random", test_random);
    g_test_add_func("/extoll/link/hostile-control", test_hostile_control);
    g_test_add_func("/extoll/link/hostile-start", test_hostile_start);
    g_test_add_func("/extoll/link/hostile-flits", test_hostile_flits);
    g_test_add_func("/extoll/link/hostile-long", test_hostile_long);
    g_test_add_func("/extoll/link/hostile-room", test_hostile_room);
    return g_test_run();
}
