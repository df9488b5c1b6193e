/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Retransmission: the steps one by one, and 10^6 random losses against a list of the
 * flits that the receiver must get.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/extoll/base/flit.h"
#include "hw/rnic/extoll/link/replay.h"
#include "../../seed.h"

#define LOSSES 1000000
#define CHANNEL 64      /* flits, or answers, that are under way in the random test */

/* Adds a flit with the 8 bytes @value. */
static void add(ExtollReplayTx *tx, uint64_t value)
{
    ExtollFlit flit = { .bytes = 8, .first = true, .last = true };
    uint8_t *buf = extoll_replay_tx_new(tx, &flit.seq);

    g_assert_nonnull(buf);
    stq_le_p(buf + EXTOLL_FLIT_HEADER, value);
    extoll_flit_encode(buf, &flit);
}

/* Takes a flit; asserts its value, and that it is a retransmission if @again. */
static void take(ExtollReplayTx *tx, int64_t now, uint64_t value, bool again)
{
    const uint8_t *flit;
    bool repeated;

    g_assert_cmpuint(extoll_replay_tx_take(tx, now, &flit, &repeated), ==, 16);
    g_assert_cmphex(ldq_le_p(flit + EXTOLL_FLIT_HEADER), ==, value);
    g_assert_cmpint(repeated, ==, again);
}

static bool is_empty(ExtollReplayTx *tx)
{
    const uint8_t *flit;
    bool again;

    return extoll_replay_tx_take(tx, 0, &flit, &again) == 0;
}

static void test_window(void)
{
    ExtollReplayTx tx;
    uint16_t seq;

    extoll_replay_tx_init(&tx);
    for (unsigned i = 0; i < EXTOLL_WINDOW; i++) {
        add(&tx, i);
    }
    g_assert_null(extoll_replay_tx_new(&tx, &seq));
    for (unsigned i = 0; i < EXTOLL_WINDOW; i++) {
        take(&tx, 0, i, false);
    }
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 1, false, 0), ==, EXTOLL_REPLAY_OK);
    add(&tx, 7);
    g_assert_null(extoll_replay_tx_new(&tx, &seq));
    g_assert_cmpuint(extoll_replay_tx_reset(&tx), ==, EXTOLL_WINDOW);
    g_assert_true(is_empty(&tx));
    g_assert_cmpint(tx.deadline, ==, INT64_MAX);
    g_assert_nonnull(extoll_replay_tx_new(&tx, &seq));
    g_assert_cmpuint(seq, ==, 0);
    extoll_replay_tx_fini(&tx);
}

static void test_nak(void)
{
    ExtollReplayTx tx;

    extoll_replay_tx_init(&tx);
    for (unsigned i = 0; i < 5; i++) {
        add(&tx, i);
        take(&tx, 0, i, false);
    }
    add(&tx, 5);
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 2, true, 0), ==, EXTOLL_REPLAY_OK);
    for (unsigned i = 2; i < 5; i++) {
        take(&tx, 0, i, true);
    }
    take(&tx, 0, 5, false);
    g_assert_true(is_empty(&tx));
    /* the acknowledgement of flits that are under way again */
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 3, true, 0), ==, EXTOLL_REPLAY_OK);
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 5, false, 0), ==, EXTOLL_REPLAY_OK);
    take(&tx, 0, 5, true);
    g_assert_true(is_empty(&tx));
    extoll_replay_tx_fini(&tx);
}

static void test_timer(void)
{
    ExtollReplayTx tx;

    extoll_replay_tx_init(&tx);
    g_assert_cmpint(tx.deadline, ==, INT64_MAX);
    add(&tx, 0);
    add(&tx, 1);
    g_assert_cmpint(tx.deadline, ==, INT64_MAX);
    take(&tx, 100, 0, false);
    take(&tx, 200, 1, false);
    g_assert_cmpint(tx.deadline, ==, 100 + EXTOLL_TIMER_NS);
    g_assert_cmpint(extoll_replay_tx_expire(&tx, 99 + EXTOLL_TIMER_NS), ==,
                    EXTOLL_REPLAY_OK);
    g_assert_true(is_empty(&tx));
    /* progress starts the timer again */
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 1, false, 300), ==, EXTOLL_REPLAY_OK);
    g_assert_cmpint(tx.deadline, ==, 300 + EXTOLL_TIMER_NS);
    g_assert_cmpint(extoll_replay_tx_expire(&tx, tx.deadline), ==, EXTOLL_REPLAY_OK);
    take(&tx, 400, 1, true);
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 2, false, 500), ==, EXTOLL_REPLAY_OK);
    g_assert_cmpint(tx.deadline, ==, INT64_MAX);
    extoll_replay_tx_fini(&tx);
}

/* A link is dead after EXTOLL_TRIES retransmissions; progress begins the count again. */
static void test_dead(void)
{
    ExtollReplayTx tx;

    extoll_replay_tx_init(&tx);
    add(&tx, 0);
    add(&tx, 1);
    take(&tx, 0, 0, false);
    take(&tx, 0, 1, false);
    for (unsigned i = 0; i < EXTOLL_TRIES; i++) {
        g_assert_cmpint(extoll_replay_tx_expire(&tx, tx.deadline), ==, EXTOLL_REPLAY_OK);
        take(&tx, 0, 0, true);
    }
    g_assert_cmpint(extoll_replay_tx_ack(&tx, 1, false, 0), ==, EXTOLL_REPLAY_OK);
    for (unsigned i = 0; i < EXTOLL_TRIES; i++) {
        take(&tx, 0, 1, true);
        /* a second NAK for the same flit has nothing to repeat */
        g_assert_cmpint(extoll_replay_tx_ack(&tx, 1, true, 0), ==, EXTOLL_REPLAY_OK);
        g_assert_cmpint(extoll_replay_tx_ack(&tx, 1, true, 0), ==, EXTOLL_REPLAY_OK);
    }
    g_assert_cmpint(extoll_replay_tx_expire(&tx, tx.deadline), ==, EXTOLL_REPLAY_DEAD);
    g_assert_cmpint(tx.deadline, ==, INT64_MAX);
    extoll_replay_tx_fini(&tx);
}

/* Acknowledgements of all sequences, with the window across the overflow. */
static void test_acks(void)
{
    ExtollReplayTx tx;

    extoll_replay_tx_init(&tx);
    for (unsigned i = 0; i < 0xffff; i++) {
        add(&tx, i);
        take(&tx, 0, i, false);
        g_assert_cmpint(extoll_replay_tx_ack(&tx, i + 1, false, 0), ==, EXTOLL_REPLAY_OK);
    }
    for (unsigned i = 0; i < 10; i++) {
        add(&tx, i);
    }
    for (unsigned i = 0; i < 5; i++) {
        take(&tx, 0, i, false);
    }
    for (unsigned seq = 0; seq < 0x10000; seq++) {
        ExtollReplayTx copy = tx;
        /* 0xffff is the oldest flit, 4 the first one that was not sent */
        bool old = seq >= 0xffff - EXTOLL_WINDOW, sent = seq <= 4;

        g_assert_cmpint(extoll_replay_tx_ack(&copy, seq, true, 0), ==,
                        old || sent ? EXTOLL_REPLAY_OK : EXTOLL_REPLAY_BAD_ACK);
        g_assert_cmpuint(copy.oldest, ==, sent ? seq : 0xffff);
    }
    extoll_replay_tx_fini(&tx);
}

static void test_resume(void)
{
    ExtollReplayTx tx;

    extoll_replay_tx_init(&tx);
    for (unsigned i = 0; i < 6; i++) {
        add(&tx, i);
    }
    for (unsigned i = 0; i < 4; i++) {
        take(&tx, 0, i, false);
    }
    g_assert_cmpint(extoll_replay_tx_resume(&tx, 5), ==, EXTOLL_REPLAY_BAD_ACK);
    g_assert_cmpint(extoll_replay_tx_resume(&tx, 2), ==, EXTOLL_REPLAY_OK);
    g_assert_cmpint(tx.deadline, ==, INT64_MAX);
    take(&tx, 9, 2, true);
    g_assert_cmpint(tx.deadline, ==, 9 + EXTOLL_TIMER_NS);
    take(&tx, 9, 3, true);
    take(&tx, 9, 4, false);
    /* flit 1 is acknowledged, so the sender has dropped it */
    g_assert_cmpint(extoll_replay_tx_resume(&tx, 1), ==, EXTOLL_REPLAY_BAD_ACK);
    g_assert_cmpuint(tx.oldest, ==, 2);
    g_assert_cmpuint(tx.send, ==, 5);
    extoll_replay_tx_fini(&tx);
}

static void test_receiver(void)
{
    ExtollReplayRx rx = { .next = 0xfffe };
    bool nak;

    g_assert_cmpint(extoll_replay_rx_flit(&rx, 0xfffe), ==, EXTOLL_REPLAY_NEW);
    g_assert_cmpint(extoll_replay_rx_flit(&rx, 0xffff), ==, EXTOLL_REPLAY_NEW);
    g_assert_true(rx.ack_due);
    g_assert_cmpuint(extoll_replay_rx_answer(&rx, &nak), ==, 0);
    g_assert_false(nak || rx.ack_due);
    /* only the first flit behind a gap causes a NAK */
    g_assert_cmpint(extoll_replay_rx_flit(&rx, 1), ==, EXTOLL_REPLAY_GAP);
    g_assert_true(rx.ack_due);
    g_assert_cmpuint(extoll_replay_rx_answer(&rx, &nak), ==, 0);
    g_assert_true(nak);
    g_assert_cmpint(extoll_replay_rx_flit(&rx, 2), ==, EXTOLL_REPLAY_GAP);
    extoll_replay_rx_bad(&rx);
    g_assert_false(rx.ack_due || rx.nak_due);
    /* the sender has gone back too far, and then a flit is bad */
    g_assert_cmpint(extoll_replay_rx_flit(&rx, 0xffff), ==, EXTOLL_REPLAY_AGAIN);
    extoll_replay_rx_bad(&rx);
    g_assert_cmpuint(extoll_replay_rx_answer(&rx, &nak), ==, 0);
    g_assert_true(nak);
    /* progress cancels a NAK that has not left */
    rx.nak_sent = false;
    extoll_replay_rx_bad(&rx);
    g_assert_cmpint(extoll_replay_rx_flit(&rx, 0), ==, EXTOLL_REPLAY_NEW);
    g_assert_cmpuint(extoll_replay_rx_answer(&rx, &nak), ==, 1);
    g_assert_false(nak);
}

/* The class of each sequence. */
static void test_arrivals(void)
{
    for (unsigned seq = 0; seq < 0x10000; seq++) {
        ExtollReplayRx rx = { .next = 100 };
        unsigned ahead = (uint16_t)(seq - 100);
        ExtollReplayArrival want = EXTOLL_REPLAY_BEYOND;

        if (!ahead) {
            want = EXTOLL_REPLAY_NEW;
        } else if (ahead < EXTOLL_WINDOW) {
            want = EXTOLL_REPLAY_GAP;
        } else if (ahead >= 0x10000 - EXTOLL_WINDOW) {
            want = EXTOLL_REPLAY_AGAIN;
        }
        g_assert_cmpint(extoll_replay_rx_flit(&rx, seq), ==, want);
        g_assert_cmpint(rx.ack_due, ==, want != EXTOLL_REPLAY_BEYOND);
        g_assert_cmpuint(rx.next, ==, want == EXTOLL_REPLAY_NEW ? 101 : 100);
    }
}

/* --- Random losses ----------------------------------------------------------- */

typedef struct Answer {
    uint16_t seq;
    bool nak;
} Answer;

typedef struct Cable {
    GRand *rand;
    ExtollReplayTx tx;
    ExtollReplayRx rx;
    GQueue expected;            /* values that the receiver must get */
    uint8_t flits[CHANNEL][EXTOLL_FLIT_MAX];
    Answer answers[CHANNEL];
    unsigned n_flits, n_answers;
    unsigned value;             /* of the next new flit */
    unsigned losses;
    int64_t now;
} Cable;

static bool chance(Cable *c, unsigned percent)
{
    return g_rand_int_range(c->rand, 0, 100) < percent;
}

/* Puts a flit on the cable: it may be lost, damaged, doubled, or overtake another. */
static void flit_send(Cable *c, const uint8_t *flit)
{
    unsigned copies = chance(c, 2) ? 2 : 1;

    if (chance(c, 8)) {
        c->losses++;
        return;
    }
    while (copies-- && c->n_flits < CHANNEL) {
        uint8_t *to = c->flits[c->n_flits++];

        memcpy(to, flit, 16);
        if (chance(c, 4)) {
            to[g_rand_int_range(c->rand, 0, 16)] ^= 1 << g_rand_int_range(c->rand, 0, 8);
            c->losses++;
        }
        if (c->n_flits > 1 && chance(c, 2)) {
            uint8_t other[16];

            memcpy(other, to - EXTOLL_FLIT_MAX, 16);
            memcpy(to - EXTOLL_FLIT_MAX, to, 16);
            memcpy(to, other, 16);
        }
    }
}

static void flit_arrive(Cable *c, const uint8_t *buf)
{
    ExtollFlit flit;

    if (extoll_flit_decode(buf, 16, &flit) != EXTOLL_FLIT_OK) {
        extoll_replay_rx_bad(&c->rx);
        return;
    }
    switch (extoll_replay_rx_flit(&c->rx, flit.seq)) {
    case EXTOLL_REPLAY_NEW:
        g_assert_cmpuint(ldq_le_p(buf + 8), ==,
                         GPOINTER_TO_UINT(g_queue_pop_head(&c->expected)));
        break;
    case EXTOLL_REPLAY_BEYOND:
        g_assert_not_reached();
    default:
        break;
    }
}

static void answer_send(Cable *c)
{
    Answer *a = &c->answers[c->n_answers];

    a->seq = extoll_replay_rx_answer(&c->rx, &a->nak);
    if (chance(c, 8)) {
        c->losses++;
    } else {
        c->n_answers++;
    }
}

/* Sends new flits and retransmissions until the cable is full. */
static void flits_send(Cable *c)
{
    const uint8_t *flit;
    bool again;

    for (unsigned n = g_rand_int_range(c->rand, 0, 40); n--; c->value++) {
        if ((uint16_t)(c->tx.next - c->tx.oldest) == EXTOLL_WINDOW) {
            break;
        }
        add(&c->tx, c->value);
        g_queue_push_tail(&c->expected, GUINT_TO_POINTER(c->value));
    }
    while (c->n_flits < CHANNEL - 1 &&
           extoll_replay_tx_take(&c->tx, c->now, &flit, &again)) {
        flit_send(c, flit);
    }
}

/* Lets some flits and answers arrive. */
static void arrive(Cable *c)
{
    unsigned flits = g_rand_int_range(c->rand, 0, c->n_flits + 1);
    unsigned answers;

    for (unsigned i = 0; i < flits; i++) {
        flit_arrive(c, c->flits[i]);
        if (c->rx.ack_due && c->n_answers < CHANNEL && chance(c, 20)) {
            answer_send(c);
        }
    }
    c->n_flits -= flits;
    memmove(c->flits, c->flits + flits, c->n_flits * EXTOLL_FLIT_MAX);
    answers = g_rand_int_range(c->rand, 0, c->n_answers + 1);
    for (unsigned i = 0; i < answers; i++) {
        g_assert_cmpint(extoll_replay_tx_ack(&c->tx, c->answers[i].seq, c->answers[i].nak,
                                             c->now), ==, EXTOLL_REPLAY_OK);
    }
    c->n_answers -= answers;
    memmove(c->answers, c->answers + answers, c->n_answers * sizeof(Answer));
}

static void test_random(void)
{
    g_autofree Cable *c = g_new0(Cable, 1);

    c->rand = g_rand_new_with_seed(random_seed(5));
    g_queue_init(&c->expected);
    extoll_replay_tx_init(&c->tx);
    while (c->losses < LOSSES) {
        flits_send(c);
        arrive(c);
        c->now += g_rand_int_range(c->rand, 0, 1000000);
        if (!c->n_flits && !c->n_answers && c->tx.deadline != INT64_MAX) {
            c->now = MAX(c->now, c->tx.deadline);
        }
        g_assert_cmpint(extoll_replay_tx_expire(&c->tx, c->now), ==, EXTOLL_REPLAY_OK);
        g_assert_cmpuint(c->expected.length, ==, (uint16_t)(c->tx.next - c->rx.next));
    }
    g_test_message("%u flits, %u losses", c->value, c->losses);
    g_assert_cmpuint(c->value, >, 0x20000);
    extoll_replay_tx_fini(&c->tx);
    g_queue_clear(&c->expected);
    g_rand_free(c->rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/replay/window", test_window);
    g_test_add_func("/extoll/replay/nak", test_nak);
    g_test_add_func("/extoll/replay/timer", test_timer);
    g_test_add_func("/extoll/replay/dead", test_dead);
    g_test_add_func("/extoll/replay/acks", test_acks);
    g_test_add_func("/extoll/replay/resume", test_resume);
    g_test_add_func("/extoll/replay/receiver", test_receiver);
    g_test_add_func("/extoll/replay/arrivals", test_arrivals);
    g_test_add_func("/extoll/replay/random", test_random);
    return g_test_run();
}
