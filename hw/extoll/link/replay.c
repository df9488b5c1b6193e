/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Retransmission on a cable; see replay.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "replay.h"

/* A slot of the buffer must have one flit of the window only. */
QEMU_BUILD_BUG_ON(0x10000 % EXTOLL_WINDOW);

/* Returns the number of sequences from @from to @to. */
static unsigned distance(uint16_t from, uint16_t to)
{
    return (uint16_t)(to - from);
}

static uint8_t *slot(ExtollReplayTx *tx, uint16_t seq)
{
    return tx->flits[seq % EXTOLL_WINDOW];
}

static void begin(ExtollReplayTx *tx)
{
    tx->oldest = tx->send = tx->sent = tx->next = 0;
    tx->tries = 0;
    tx->deadline = INT64_MAX;
}

void extoll_replay_tx_init(ExtollReplayTx *tx)
{
    tx->flits = g_malloc0_n(EXTOLL_WINDOW, EXTOLL_FLIT_MAX);
    tx->timer_ns = EXTOLL_TIMER_NS;
    begin(tx);
}

void extoll_replay_tx_fini(ExtollReplayTx *tx)
{
    g_free(tx->flits);
    tx->flits = NULL;
}

unsigned extoll_replay_tx_reset(ExtollReplayTx *tx)
{
    unsigned dropped = 0;

    for (uint16_t seq = tx->oldest; seq != tx->next; seq++) {
        dropped += !!(ldl_le_p(slot(tx, seq)) & EXTOLL_FLIT_LAST);
    }
    begin(tx);
    return dropped;
}

uint8_t *extoll_replay_tx_new(ExtollReplayTx *tx, uint16_t *seq)
{
    if (!extoll_replay_tx_room(tx)) {
        return NULL;
    }
    *seq = tx->next++;
    return slot(tx, *seq);
}

unsigned extoll_replay_tx_take(ExtollReplayTx *tx, int64_t now, const uint8_t **flit,
                               bool *again)
{
    if (!extoll_replay_tx_waits(tx)) {
        return 0;
    }
    *flit = slot(tx, tx->send);
    *again = tx->send != tx->sent;
    tx->send++;
    if (!*again) {
        tx->sent = tx->send;
    }
    if (tx->deadline == INT64_MAX) {
        tx->deadline = now + tx->timer_ns;
    }
    return EXTOLL_FLIT_HEADER + RNIC_GET(EXTOLL_FLIT_BYTES, ldl_le_p(*flit));
}

/* Goes back to the oldest flit, unless there were too many tries. */
static ExtollReplayStatus go_back(ExtollReplayTx *tx, int64_t now)
{
    if (tx->tries == EXTOLL_TRIES) {
        tx->deadline = INT64_MAX;
        return EXTOLL_REPLAY_DEAD;
    }
    tx->tries++;
    tx->send = tx->oldest;
    tx->deadline = now + tx->timer_ns;
    return EXTOLL_REPLAY_OK;
}

ExtollReplayStatus extoll_replay_tx_ack(ExtollReplayTx *tx, uint16_t seq, bool nak,
                                        int64_t now)
{
    unsigned acked = distance(tx->oldest, seq);

    if (acked > distance(tx->oldest, tx->sent)) {
        return distance(seq, tx->oldest) <= EXTOLL_WINDOW ? EXTOLL_REPLAY_OK :
                                                            EXTOLL_REPLAY_BAD_ACK;
    }
    if (acked) {
        if (distance(tx->oldest, tx->send) < acked) {
            tx->send = seq;
        }
        tx->oldest = seq;
        tx->tries = 0;
        tx->deadline = seq == tx->sent ? INT64_MAX : now + tx->timer_ns;
    }
    /* a sender that has gone back already has nothing to repeat */
    return nak && tx->send != tx->oldest ? go_back(tx, now) : EXTOLL_REPLAY_OK;
}

ExtollReplayStatus extoll_replay_tx_expire(ExtollReplayTx *tx, int64_t now)
{
    return now < tx->deadline ? EXTOLL_REPLAY_OK : go_back(tx, now);
}

ExtollReplayStatus extoll_replay_tx_resume(ExtollReplayTx *tx, uint16_t expected)
{
    if (distance(tx->oldest, expected) > distance(tx->oldest, tx->sent)) {
        return EXTOLL_REPLAY_BAD_ACK;
    }
    tx->oldest = tx->send = expected;
    tx->tries = 0;
    tx->deadline = INT64_MAX;
    return EXTOLL_REPLAY_OK;
}

/* Makes a NAK due, unless the sender has got one for the same flit. */
static void refuse(ExtollReplayRx *rx)
{
    rx->nak_due = !rx->nak_sent;
    rx->ack_due |= rx->nak_due;
}

ExtollReplayArrival extoll_replay_rx_flit(ExtollReplayRx *rx, uint16_t seq)
{
    if (seq == rx->next) {
        rx->next++;
        rx->ack_due = true;
        rx->nak_due = rx->nak_sent = false;
        return EXTOLL_REPLAY_NEW;
    }
    if (distance(seq, rx->next) <= EXTOLL_WINDOW) {
        /* the sender has gone back, so it may need another NAK */
        rx->ack_due = true;
        rx->nak_sent = false;
        return EXTOLL_REPLAY_AGAIN;
    }
    if (distance(rx->next, seq) < EXTOLL_WINDOW) {
        refuse(rx);
        return EXTOLL_REPLAY_GAP;
    }
    return EXTOLL_REPLAY_BEYOND;
}

void extoll_replay_rx_bad(ExtollReplayRx *rx)
{
    refuse(rx);
}

uint16_t extoll_replay_rx_answer(ExtollReplayRx *rx, bool *nak)
{
    *nak = rx->nak_due;
    rx->nak_sent |= rx->nak_due;
    rx->ack_due = rx->nak_due = false;
    return rx->next;
}
