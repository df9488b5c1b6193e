/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the arbitration of an output: which input gets a grant if inputs wait for more
 * than one round.
 */
#include "qemu/osdep.h"
#include "hw/rnic/fabric/arbiter.h"

#define FIRST 0
#define SECOND 5
#define LAST (RNIC_ARBITER_INPUTS - 1)

/* An output with room for @room packets in each round, and the packets of its inputs. */
typedef struct Bench {
    RNicArbiter a;
    uint32_t round;
    unsigned room;
    unsigned sent[RNIC_ARBITER_INPUTS];
} Bench;

static bool ask(Bench *b, unsigned input, bool open)
{
    return rnic_arbiter_may_send(&b->a, b->round, input, open);
}

/* Sends a packet of @input; returns false if the input is refused. */
static bool pass(Bench *b, unsigned input, bool open)
{
    if (!ask(b, input, open)) {
        return false;
    }
    rnic_arbiter_sent(&b->a, input, 1);
    b->sent[input]++;
    return true;
}

/* Runs a round in which each of the @count inputs @inputs has packets without end. */
static void run(Bench *b, const unsigned *inputs, unsigned count)
{
    unsigned room = b->room;

    b->round++;
    for (unsigned i = 0; i < count; i++) {
        while (pass(b, inputs[i], room > 0)) {
            room--;
        }
    }
}

static void test_next(void)
{
    const uint64_t set = 1ULL << 3 | 1ULL << LAST;

    g_assert_cmpuint(rnic_arbiter_next(set, 0), ==, 3);
    g_assert_cmpuint(rnic_arbiter_next(set, 2), ==, 3);
    g_assert_cmpuint(rnic_arbiter_next(set, 3), ==, LAST);
    g_assert_cmpuint(rnic_arbiter_next(set, LAST - 1), ==, LAST);
    g_assert_cmpuint(rnic_arbiter_next(set, LAST), ==, 3);
    g_assert_cmpuint(rnic_arbiter_next(1ULL << 3, 3), ==, 3);
    g_assert_cmpuint(rnic_arbiter_next(1, LAST), ==, 0);
}

/* An input for which no other waits sends as long as the output is open. */
static void test_alone(void)
{
    Bench b = { .round = 7 };

    for (unsigned n = 0; n < 3 * RNIC_ARBITER_PACKETS; n++) {
        g_assert_true(pass(&b, SECOND, true));
    }
    g_assert_false(ask(&b, SECOND, false));
    g_assert_cmphex(b.a.waiting, ==, 1ULL << SECOND);
    /* that it was refused itself is no reason to refuse it */
    g_assert_true(pass(&b, SECOND, true));
    g_assert_cmphex(b.a.waiting, ==, 0);
    /* another input sends at once, because no input waits */
    g_assert_true(pass(&b, LAST, true));
    g_assert_true(pass(&b, SECOND, true));
}

/* Inputs that are refused over rounds get grants of RNIC_ARBITER_PACKETS. */
static void test_grants(void)
{
    static const unsigned inputs[] = { FIRST, SECOND, LAST };
    const unsigned grants = 9;
    unsigned packets = 0, round;
    Bench b = { .room = 4 };

    for (round = 0; packets < grants * RNIC_ARBITER_PACKETS; round++) {
        unsigned input = inputs[packets / RNIC_ARBITER_PACKETS % 3];
        unsigned before = b.sent[input];

        run(&b, inputs, ARRAY_SIZE(inputs));
        /* room divides a grant, so only one input sends in a round */
        packets += b.sent[input] - before;
        g_assert_cmpuint(b.sent[FIRST] + b.sent[SECOND] + b.sent[LAST], ==, packets);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(inputs); i++) {
        g_assert_cmpuint(b.sent[inputs[i]], ==, grants / 3 * RNIC_ARBITER_PACKETS);
    }
    /*
     * LAST asks after FIRST in a round, so FIRST begins its second and its third grant
     * one round later
     */
    g_assert_cmpuint(round, ==, grants * RNIC_ARBITER_PACKETS / b.room + 2);
}

/* The shares are equal whatever the room and the order in which inputs ask. */
static void test_fair(void)
{
    static const unsigned orders[][3] = {
        { FIRST, SECOND, LAST }, { LAST, SECOND, FIRST }, { SECOND, LAST, FIRST },
    };

    for (unsigned order = 0; order < ARRAY_SIZE(orders); order++) {
        for (unsigned room = 1; room <= 2 * RNIC_ARBITER_PACKETS; room++) {
            Bench b = { .room = room, .round = UINT32_MAX - 20 };

            for (unsigned n = 0; n < 400; n++) {
                unsigned least = UINT_MAX, most = 0;

                run(&b, orders[order], 3);
                for (unsigned i = 0; i < 3; i++) {
                    least = MIN(least, b.sent[orders[order][i]]);
                    most = MAX(most, b.sent[orders[order][i]]);
                }
                /* before others wait, the first input may fill the output */
                g_assert_cmpuint(most - least, <=, room + RNIC_ARBITER_PACKETS);
            }
            for (unsigned i = 0; i < 3; i++) {
                g_assert_cmpuint(b.sent[orders[order][i]], >=,
                                 400 / 3 - 2 * RNIC_ARBITER_PACKETS);
            }
        }
    }
}

/* The grant of an input ends when the input waits no more. */
static void test_idle(void)
{
    Bench b = { .round = 1 };

    g_assert_true(pass(&b, FIRST, true));
    g_assert_false(ask(&b, SECOND, false));
    g_assert_false(ask(&b, LAST, false));
    b.round++;
    g_assert_true(pass(&b, FIRST, true));
    /* FIRST has sent all: the next input is SECOND, even if another asks first */
    g_assert_false(ask(&b, LAST, true));
    g_assert_true(pass(&b, SECOND, true));
    g_assert_cmpuint(b.a.holder, ==, SECOND);
    g_assert_cmpuint(b.a.used, ==, 1);
    g_assert_true(pass(&b, LAST, true));
}

/* An input that was refused and does not ask again is left out after a round. */
static void test_gone(void)
{
    Bench b = { .round = 1 };

    g_assert_true(pass(&b, FIRST, true));
    g_assert_false(ask(&b, FIRST, false));
    g_assert_false(ask(&b, SECOND, false));
    b.round++;
    /* FIRST still has the grant, and may ask later in this round */
    g_assert_false(ask(&b, SECOND, true));
    b.round++;
    g_assert_true(pass(&b, SECOND, true));
    g_assert_cmpuint(b.a.holder, ==, SECOND);
    g_assert_cmphex(b.a.waiting | b.a.before, ==, 0);
    /* inputs that were refused before a round without any call do not count */
    g_assert_false(ask(&b, FIRST, false));
    b.round += 2;
    g_assert_true(pass(&b, LAST, true));
    g_assert_cmphex(b.a.waiting | b.a.before, ==, 0);
}

/* A refusal because of a closed output does not change which input has the grant. */
static void test_closed(void)
{
    Bench b = { .round = 1 };

    for (unsigned n = 0; n < RNIC_ARBITER_PACKETS; n++) {
        g_assert_true(pass(&b, FIRST, true));
    }
    for (unsigned n = 0; n < 5; n++, b.round++) {
        g_assert_false(ask(&b, FIRST, false));
        g_assert_false(ask(&b, SECOND, false));
        g_assert_cmpuint(b.a.holder, ==, FIRST);
        g_assert_cmpuint(b.a.used, ==, RNIC_ARBITER_PACKETS);
    }
    /* the packets before count: SECOND gets the grant */
    g_assert_false(ask(&b, FIRST, true));
    g_assert_cmpuint(b.a.holder, ==, SECOND);
    g_assert_true(pass(&b, SECOND, true));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fabric/arbiter/next", test_next);
    g_test_add_func("/fabric/arbiter/alone", test_alone);
    g_test_add_func("/fabric/arbiter/grants", test_grants);
    g_test_add_func("/fabric/arbiter/fair", test_fair);
    g_test_add_func("/fabric/arbiter/idle", test_idle);
    g_test_add_func("/fabric/arbiter/gone", test_gone);
    g_test_add_func("/fabric/arbiter/closed", test_closed);
    return g_test_run();
}
