/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual output queues [T §3.3]: packets at an input that wait for one output, so that
 * those behind them for another one need not.
 *
 * There is one for each virtual channel of a port and each output, with the routers of
 * arith.h alone.  A packet goes in when its output refuses it, or when others wait for
 * the same one; it is full with EXANET_VOQ_PACKETS, and then the RX FIFO stands still.
 */
#ifndef HW_EXANET_VOQ_H
#define HW_EXANET_VOQ_H

#include "exanet.h"

#define EXANET_VOQ_PACKETS 32       /* [P]: a frame brings many at once */

/* A packet that waits; @route is its way as long as @stamp is the switch's. */
typedef struct ExanetVoqSlot {
    int route;
    uint32_t stamp;
    uint16_t words;
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetVoqSlot;

struct ExanetVoq {
    unsigned head;
    unsigned count;
    unsigned words;
    ExanetVoqSlot slot[EXANET_VOQ_PACKETS];
};

/* Whether packets of channel @vc of @from wait for output @out. */
static inline bool exanet_voq_waits(const ExanetPort *from, unsigned vc,
                                    unsigned out)
{
    return unlikely(from->voq_busy[vc] & (1u << out));
}
/* Stores a packet for @route that can't go on; false: the queue is full. */
bool exanet_voq_put(ExanetPort *from, unsigned vc, int route,
                    const uint8_t *buf, unsigned words);
/* Sends what can go; true if there is more that could. */
bool exanet_voq_run(ExanetPort *from);
/* Drops all that came by @from; returns how many packets that were. */
unsigned exanet_voq_drop(ExanetPort *from);
/* Words that came by @from in any channel and wait for output @out. */
unsigned exanet_voq_words(const ExanetPort *from, unsigned out);
void exanet_voq_fini(ExanetPort *from);

#endif /* HW_EXANET_VOQ_H */
