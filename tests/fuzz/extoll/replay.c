/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A link whose peer sends any sequences, acknowledgements and credits: the window and the
 * room keep their limits, and flits leave in order.
 */
#include "../fuzz.h"
#include "hw/rnic/extoll/link/credit.h"
#include "hw/rnic/extoll/link/replay.h"

typedef struct Link {
    ExtollReplayTx tx;
    ExtollReplayRx rx;
    ExtollCreditTx credit;
    ExtollCreditRx room;
    int64_t now;
} Link;

static unsigned apart(uint16_t from, uint16_t to)
{
    return (uint16_t)(to - from);
}

/*
 * Asserts the order of the positions, and that the timer runs only if a flit is under
 * way.
 */
static void check(const Link *l)
{
    const ExtollReplayTx *tx = &l->tx;

    g_assert_cmpuint(apart(tx->oldest, tx->next), <=, EXTOLL_WINDOW);
    g_assert_cmpuint(apart(tx->oldest, tx->send), <=, apart(tx->oldest, tx->sent));
    g_assert_cmpuint(apart(tx->oldest, tx->sent), <=, apart(tx->oldest, tx->next));
    g_assert_true(tx->deadline == INT64_MAX || tx->oldest != tx->sent);
    g_assert_cmpuint(tx->tries, <=, EXTOLL_TRIES);
    g_assert_cmpuint(extoll_credit_tx_left(&l->credit), <=, l->credit.room);
    g_assert_cmpuint(l->room.arrived - l->room.freed, <=, l->room.room);
}

static void flits_send(Link *l, unsigned flits)
{
    const uint8_t *flit;
    uint16_t seq;
    bool again;

    while (flits-- && extoll_credit_tx_take(&l->credit, 1)) {
        uint8_t *buf = extoll_replay_tx_new(&l->tx, &seq);

        if (buf) {
            stq_le_p(buf, RNIC_PREP(EXTOLL_FLIT_SEQ, seq) |
                          RNIC_PREP(EXTOLL_FLIT_BYTES, 8));
        }
    }
    while (extoll_replay_tx_take(&l->tx, l->now, &flit, &again)) {
        seq = RNIC_GET(EXTOLL_FLIT_SEQ, ldq_le_p(flit));
        g_assert_cmpuint(seq, ==, (uint16_t)(l->tx.send - 1));
    }
}

/* One step, by @op; @number is its sequence, count or time. */
static void step(Link *l, unsigned op, uint32_t number)
{
    ExtollReplayArrival arrival;
    bool nak;

    switch (op % 8) {
    case 0:
        flits_send(l, number % 64);
        break;
    case 1:
        extoll_replay_tx_ack(&l->tx, number, number >> 16 & 1, l->now);
        break;
    case 2:
        /* a peer that knows the sender's position */
        extoll_replay_tx_ack(&l->tx, l->tx.oldest + number % 64, number >> 16 & 1,
                             l->now);
        break;
    case 3:
        extoll_credit_tx_return(&l->credit, l->credit.returned + (int8_t)number);
        break;
    case 4:
        arrival = extoll_replay_rx_flit(&l->rx, number >> 16 & 1 ? number :
                                        l->rx.next + (int8_t)number);
        if (arrival == EXTOLL_REPLAY_NEW) {
            extoll_credit_rx_arrive(&l->room);
        }
        break;
    case 5:
        extoll_replay_rx_bad(&l->rx);
        extoll_replay_rx_answer(&l->rx, &nak);
        g_assert_false(l->rx.ack_due || l->rx.nak_due);
        extoll_credit_rx_free(&l->room, MIN(number, l->room.arrived - l->room.freed));
        extoll_credit_rx_advertise(&l->room);
        g_assert_false(extoll_credit_rx_due(&l->room));
        break;
    case 6:
        l->now += number;
        extoll_replay_tx_expire(&l->tx, l->now);
        break;
    default:
        extoll_replay_tx_resume(&l->tx, l->tx.oldest + (int8_t)number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Link l = { .credit.room = EXTOLL_ROOM_MIN, .room.room = EXTOLL_ROOM_MIN };
    FuzzInput in = { data, size };

    extoll_replay_tx_init(&l.tx);
    while (in.left) {
        uint8_t op = fuzz_u8(&in);
        uint32_t number = fuzz_u32(&in);

        step(&l, op, number);
        check(&l);
    }
    extoll_replay_tx_fini(&l.tx);
    return 0;
}
