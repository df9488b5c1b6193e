/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Credits of a virtual channel: both ends against each other, and a peer that lies. */
#include "qemu/osdep.h"
#include "hw/rnic/extoll/link/credit.h"
#include "../../seed.h"

#define STEPS 200000

static void test_take(void)
{
    ExtollCreditTx tx = { .room = 40 };

    g_assert_true(extoll_credit_tx_take(&tx, 35));
    g_assert_cmpuint(extoll_credit_tx_left(&tx), ==, 5);
    g_assert_false(extoll_credit_tx_take(&tx, 6));
    g_assert_true(extoll_credit_tx_take(&tx, 5));
    g_assert_false(extoll_credit_tx_take(&tx, 1));
    g_assert_true(extoll_credit_tx_return(&tx, 1));
    g_assert_cmpuint(extoll_credit_tx_left(&tx), ==, 1);
}

/* A count that is not true changes nothing; an old count is no error. */
static void test_liar(void)
{
    ExtollCreditTx tx = { .room = 40 };
    ExtollCreditRx rx = { .room = 40 };

    g_assert_false(extoll_credit_tx_return(&tx, 1));
    g_assert_true(extoll_credit_tx_take(&tx, 10));
    g_assert_false(extoll_credit_tx_return(&tx, 11));
    g_assert_false(extoll_credit_tx_return(&tx, INT32_MAX));
    g_assert_true(extoll_credit_tx_return(&tx, 4));
    g_assert_true(extoll_credit_tx_return(&tx, 3));
    g_assert_true(extoll_credit_tx_return(&tx, UINT32_MAX));
    g_assert_cmpuint(extoll_credit_tx_left(&tx), ==, 34);
    for (unsigned i = 0; i < 40; i++) {
        g_assert_true(extoll_credit_rx_arrive(&rx));
    }
    g_assert_false(extoll_credit_rx_arrive(&rx));
    extoll_credit_rx_free(&rx, 1);
    g_assert_true(extoll_credit_rx_arrive(&rx));
    g_assert_false(extoll_credit_rx_arrive(&rx));
}

static void test_due(void)
{
    ExtollCreditRx rx = { .room = 40 };

    for (unsigned i = 0; i < 10; i++) {
        g_assert_false(extoll_credit_rx_due(&rx));
        g_assert_true(extoll_credit_rx_arrive(&rx));
        extoll_credit_rx_free(&rx, 1);
    }
    g_assert_true(extoll_credit_rx_due(&rx));
    g_assert_cmpuint(extoll_credit_rx_advertise(&rx), ==, 10);
    g_assert_false(extoll_credit_rx_due(&rx));
}

/*
 * Random traffic with counts near their overflow, of which some are lost and some come
 * again: the receiver never has more flits than room, and all credits return.
 */
static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(11));
    uint32_t begin = UINT32_MAX - 1000, travelling = 0, old = begin;
    ExtollCreditTx tx = { .room = 57, .sent = begin, .returned = begin };
    ExtollCreditRx rx = { .room = 57, .arrived = begin, .freed = begin,
                          .advertised = begin };

    for (unsigned i = 0; i < STEPS; i++) {
        unsigned flits = g_rand_int_range(rand, 1, EXTOLL_PACKET_FLITS + 1);

        switch (g_rand_int_range(rand, 0, 4)) {
        case 0:
            travelling += extoll_credit_tx_take(&tx, flits) ? flits : 0;
            break;
        case 1:
            for (; travelling && flits; flits--, travelling--) {
                g_assert_true(extoll_credit_rx_arrive(&rx));
            }
            break;
        case 2:
            extoll_credit_rx_free(&rx, MIN(flits, rx.arrived - rx.freed));
            break;
        default:
            if (g_rand_boolean(rand)) {
                g_assert_true(extoll_credit_tx_return(&tx, old));
            }
            old = extoll_credit_rx_advertise(&rx);
        }
        g_assert_cmpuint(rx.arrived - rx.freed, <=, rx.room);
    }
    for (; travelling; travelling--) {
        g_assert_true(extoll_credit_rx_arrive(&rx));
    }
    extoll_credit_rx_free(&rx, rx.arrived - rx.freed);
    g_assert_true(extoll_credit_tx_return(&tx, extoll_credit_rx_advertise(&rx)));
    g_assert_cmpuint(extoll_credit_tx_left(&tx), ==, 57);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/credit/take", test_take);
    g_test_add_func("/extoll/credit/liar", test_liar);
    g_test_add_func("/extoll/credit/due", test_due);
    g_test_add_func("/extoll/credit/random", test_random);
    return g_test_run();
}
