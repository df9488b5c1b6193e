/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitration of an output between its inputs.
 *
 * An input waits if the output refused the input in the present round of the loop over
 * the units, or in the round before, and the input has not sent since.  So an input that
 * was refused must ask again in each round until the input may send.  While no other
 * input waits, an input may send any number of packets.  While inputs wait, the output
 * grants one input after the other at most RNIC_ARBITER_PACKETS packets each.
 */
#ifndef HW_FABRIC_ARBITER_H
#define HW_FABRIC_ARBITER_H

#include "qemu/host-utils.h"

/* maximal number of inputs, which are numbered from 0 */
#define RNIC_ARBITER_INPUTS 64
/*
 * Maximal number of packets that an input sends in one grant, while other inputs wait.  A
 * run, whose packets the input sends together, may exceed this number.
 */
#define RNIC_ARBITER_PACKETS 16

/*
 * The state of an output.  Initially all members are 0.  @waiting and @before have one
 * bit for each input, and exclude inputs that have sent after the refusal.
 */
typedef struct RNicArbiter {
    uint64_t waiting;               /* inputs refused in round @round */
    uint64_t before;                /* inputs refused in the round before @round */
    uint32_t round;                 /* round of the last rnic_arbiter_may_send() */
    uint8_t holder;                 /* input that has the grant, or that has sent last */
    /* packets that @holder has sent in this grant, up to 16 */
    uint8_t used;
} RNicArbiter;

/*
 * Returns the input of the set @inputs with the next number after @input, or with the
 * lowest number if there is no such input.  @inputs is not 0.  Only functions of this
 * file call this function.
 */
static inline unsigned rnic_arbiter_next(uint64_t inputs, unsigned input)
{
    uint64_t behind = inputs & ~(((uint64_t)2 << input) - 1);

    return ctz64(behind ?: inputs);
}

/*
 * Sets @a->round to @round, and returns the inputs that wait, except @input, one bit
 * each.  Only functions of this file call this function.
 */
static inline uint64_t rnic_arbiter_others(RNicArbiter *a, uint32_t round,
                                             unsigned input)
{
    if (a->round != round) {
        a->before = round - a->round == 1 ? a->waiting : 0;
        a->waiting = 0;
        a->round = round;
    }
    return (a->waiting | a->before) & ~(1ULL << input);
}

/*
 * Returns true if @input has the grant, while the inputs @others (not 0) wait.  First
 * grants the output to the next input if @input is the holder and has used up its grant,
 * or if another input is the holder and does not wait any more.  Only functions of this
 * file call this function.
 */
static inline bool rnic_arbiter_grant(RNicArbiter *a, unsigned input, uint64_t others)
{
    if (a->holder == input) {
        if (a->used < RNIC_ARBITER_PACKETS) {
            return true;
        }
        a->holder = rnic_arbiter_next(others, input);
        a->used = 0;
    } else if (!(others & 1ULL << a->holder)) {
        /* the holder does not wait any more */
        a->holder = rnic_arbiter_next(others | 1ULL << input, a->holder);
        a->used = 0;
        return a->holder == input;
    }
    return false;
}

/*
 * Returns true if @input may send a packet now; otherwise @input waits.  @round is the
 * number of the present round of the loop over the units; each round increases the number
 * by 1.  @open is false if the output can accept no packet.  If the result is false
 * although @open is true, another input has the grant.
 */
static inline bool rnic_arbiter_may_send(RNicArbiter *a, uint32_t round,
                                           unsigned input, bool open)
{
    uint64_t others = rnic_arbiter_others(a, round, input);

    if (open && (likely(!others) || rnic_arbiter_grant(a, input, others))) {
        return true;
    }
    a->waiting |= 1ULL << input;
    return false;
}

/*
 * Counts @packets packets that @input has sent together.  Afterwards @input does not
 * wait.
 */
static inline void rnic_arbiter_sent(RNicArbiter *a, unsigned input,
                                       unsigned packets)
{
    a->waiting &= ~(1ULL << input);
    a->before &= ~(1ULL << input);
    if (a->holder != input) {
        a->holder = input;
        a->used = 0;
    }
    a->used = MIN(a->used + packets, RNIC_ARBITER_PACKETS);
}

#endif /* HW_FABRIC_ARBITER_H */
