/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Retransmission on a cable: go-back-N.
 *
 * The sender keeps each flit until the other end has acknowledged the flit.  An
 * acknowledgement has the sequence that the receiver wants next, and so covers all flits
 * before.  The receiver takes flits in order only.  At the first bad or missing flit it
 * sends a NAK, and the sender goes back to this flit.  If nothing comes back, a timer
 * makes the sender go back.
 *
 * The two halves know neither a timer nor a netdev: callers give the time @now, in ns,
 * and ask for the deadline.
 */
#ifndef RNIC_EXTOLL_LINK_REPLAY_H
#define RNIC_EXTOLL_LINK_REPLAY_H

#include "rnic/extoll/wire.h"

/* The sender.  oldest, send, sent and next are in this order, modulo 2^16. */
typedef struct ExtollReplayTx {
    uint8_t (*flits)[EXTOLL_FLIT_MAX];  /* EXTOLL_WINDOW flits, by sequence */
    uint16_t oldest;    /* first flit that is not acknowledged */
    uint16_t send;      /* next flit to send */
    uint16_t sent;      /* first flit that was never sent */
    uint16_t next;      /* sequence of the next new flit */
    uint8_t tries;      /* retransmissions since the last progress */
    int64_t timer_ns;   /* time until a retransmission; the owner may change it */
    int64_t deadline;   /* INT64_MAX if the timer does not run */
} ExtollReplayTx;

typedef enum ExtollReplayStatus {
    EXTOLL_REPLAY_OK,
    EXTOLL_REPLAY_BAD_ACK,  /* an acknowledgement of a flit that was never sent */
    EXTOLL_REPLAY_DEAD,     /* EXTOLL_TRIES retransmissions without progress */
} ExtollReplayStatus;

/* Allocates the flits.  The first flit has sequence 0. */
void extoll_replay_tx_init(ExtollReplayTx *tx);
void extoll_replay_tx_fini(ExtollReplayTx *tx);

/*
 * Drops all flits and begins again with sequence 0.  Returns the number of packets whose
 * last flit was dropped.
 */
unsigned extoll_replay_tx_reset(ExtollReplayTx *tx);

/* Returns the number of flits that are not acknowledged, with those never sent. */
static inline unsigned extoll_replay_tx_kept(const ExtollReplayTx *tx)
{
    return (uint16_t)(tx->next - tx->oldest);
}

/* Returns the number of flits for which the window has room. */
static inline unsigned extoll_replay_tx_room(const ExtollReplayTx *tx)
{
    return EXTOLL_WINDOW - extoll_replay_tx_kept(tx);
}

/* Returns true if extoll_replay_tx_take() has a flit. */
static inline bool extoll_replay_tx_waits(const ExtollReplayTx *tx)
{
    return tx->send != tx->next;
}

/*
 * Adds a flit with the sequence @seq.  Returns the buffer of EXTOLL_FLIT_MAX bytes in
 * which the caller stores the flit before any other call, or NULL if the window is full.
 */
uint8_t *extoll_replay_tx_new(ExtollReplayTx *tx, uint16_t *seq);

/*
 * Takes the next flit to send.  Returns its bytes, or 0 if there is none.  Sets @flit,
 * which is valid until the flit is acknowledged, and @again to true for a
 * retransmission.
 */
unsigned extoll_replay_tx_take(ExtollReplayTx *tx, int64_t now, const uint8_t **flit,
                               bool *again);

/*
 * Takes the acknowledgement of all flits before @seq; with @nak, goes back to @seq.  An
 * older acknowledgement is no error, because frames may overtake each other.
 */
ExtollReplayStatus extoll_replay_tx_ack(ExtollReplayTx *tx, uint16_t seq, bool nak,
                                        int64_t now);

/*
 * Goes back to the oldest flit if @now is not before the deadline.  Returns OK or DEAD.
 */
ExtollReplayStatus extoll_replay_tx_expire(ExtollReplayTx *tx, int64_t now);

/*
 * Continues after the connection was lost: goes back to the flit @expected, which the
 * other end wants next.  Returns OK.  Returns BAD_ACK, without a change, if @expected was
 * never sent, or was acknowledged before, because then the flit does not exist any more.
 */
ExtollReplayStatus extoll_replay_tx_resume(ExtollReplayTx *tx, uint16_t expected);

/* The receiver. */
typedef struct ExtollReplayRx {
    uint16_t next;      /* sequence of the flit that the receiver takes next */
    bool ack_due;       /* the sender must get @next */
    bool nak_due;       /* the sender must go back to @next */
    bool nak_sent;      /* a NAK for @next has left: another would repeat all again */
} ExtollReplayRx;

typedef enum ExtollReplayArrival {
    EXTOLL_REPLAY_NEW,      /* the caller takes the flit */
    EXTOLL_REPLAY_AGAIN,    /* the flit has arrived before */
    EXTOLL_REPLAY_GAP,      /* a flit before this flit is missing */
    EXTOLL_REPLAY_BEYOND,   /* outside the window: an error of the peer */
} ExtollReplayArrival;

/* Takes the number @seq of a flit that has arrived with a valid CRC. */
ExtollReplayArrival extoll_replay_rx_flit(ExtollReplayRx *rx, uint16_t seq);

/* Notes that a bad flit has arrived, so that the rest of its frame is lost. */
void extoll_replay_rx_bad(ExtollReplayRx *rx);

/*
 * Returns the acknowledgement for the next frame, and sets @nak.  After the call nothing
 * is due.
 */
uint16_t extoll_replay_rx_answer(ExtollReplayRx *rx, bool *nak);

#endif /* RNIC_EXTOLL_LINK_REPLAY_H */
