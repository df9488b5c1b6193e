/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credits of one virtual channel of a link: one credit is room for one flit.  Both ends
 * count flits from the begin of the epochs, modulo 2^32, so a lost frame loses no
 * credit.
 */
#ifndef RNIC_EXTOLL_LINK_CREDIT_H
#define RNIC_EXTOLL_LINK_CREDIT_H

#include "rnic/extoll/wire.h"

/* The sender. */
typedef struct ExtollCreditTx {
    uint32_t room;      /* of the receiver, from its HELLO */
    uint32_t sent;      /* flits sent, without retransmissions */
    uint32_t returned;  /* flits that left the receiver's room */
} ExtollCreditTx;

/* The receiver. */
typedef struct ExtollCreditRx {
    uint32_t room;
    uint32_t arrived;     /* flits accepted */
    uint32_t freed;       /* flits that left the room */
    uint32_t advertised;  /* value of @freed in the last frame */
} ExtollCreditRx;

/* Returns the number of flits that the sender may send now. */
static inline uint32_t extoll_credit_tx_left(const ExtollCreditTx *tx)
{
    return tx->room - (tx->sent - tx->returned);
}

/* Returns the number of flits that have not left the receiver's room, as far as known. */
static inline uint32_t extoll_credit_tx_used(const ExtollCreditTx *tx)
{
    return tx->sent - tx->returned;
}

/*
 * Takes credits for @flits flits.  Returns false, without a change, if there are fewer: a
 * packet starts only when all its flits have room.
 */
bool extoll_credit_tx_take(ExtollCreditTx *tx, uint32_t flits);

/*
 * Takes the count @returned of a frame.  Returns false, without a change, if the count is
 * not true: more flits than were sent.  An older count is no error, because frames may
 * overtake each other.
 */
bool extoll_credit_tx_return(ExtollCreditTx *tx, uint32_t returned);

/* Takes a flit into the room.  Returns false, without a change, if the room is full. */
bool extoll_credit_rx_arrive(ExtollCreditRx *rx);

/* Frees the room of @flits flits, at most as many as are in the room. */
void extoll_credit_rx_free(ExtollCreditRx *rx, uint32_t flits);

/*
 * Returns true if the sender should get the count although no other frame leaves: a
 * quarter of the room has been freed since the last frame.
 */
static inline bool extoll_credit_rx_due(const ExtollCreditRx *rx)
{
    return rx->freed - rx->advertised >= rx->room / 4;
}

/* Returns the count for the next frame. */
uint32_t extoll_credit_rx_advertise(ExtollCreditRx *rx);

#endif /* RNIC_EXTOLL_LINK_CREDIT_H */
