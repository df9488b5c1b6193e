/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual output queues [T §3.3]: packets at an input that wait for one output, so that
 * those behind them for another one need not.
 *
 * There is one for each virtual channel of a port and each output, with the routers of
 * arith.h alone.  A packet goes in when its output refuses it, or when others wait for
 * the same one; it is full with EXANET_VOQ_PACKETS, and then the RX FIFO stands still.
 */
#ifndef HW_EXANET_NET_VOQ_H
#define HW_EXANET_NET_VOQ_H

#include "../../core/fifo.h"
#include "../link/port.h"
#include "../base/wire.h"

#define EXANET_VOQ_PACKETS 32       /* [P]: a frame brings many at once */

/* A packet that waits; @route is its way as long as @stamp is the switch's. */
typedef struct ExanetVoqSlot {
    int route;
    uint32_t stamp;
    uint16_t words;
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetVoqSlot;

typedef struct ExanetVoq {
    RNicFifo slots;                 /* of @slot */
    unsigned words;
    ExanetVoqSlot slot[EXANET_VOQ_PACKETS];
} ExanetVoq;

/* All queues of packets that came by one port. */
typedef struct ExanetVoqs {
    ExanetVoq *queue[EXANET_VCS][EXANET_LINKS]; /* by output; owned, NULL: unused */
    uint16_t busy[EXANET_VCS];      /* outputs that packets wait for */
    unsigned words;                 /* in all queues */
    unsigned due;                   /* words in the queues of all ports for this port */
} ExanetVoqs;

/* Returns true if packets of channel @vc of the port of @q wait for output @out. */
static inline bool exanet_voq_waits(const ExanetVoqs *q, unsigned vc, unsigned out)
{
    return unlikely(q->busy[vc] & (1u << out));
}
/* Stores a packet for @route that can't go on; false: the queue is full. */
bool exanet_voq_put(ExanetPort *from, unsigned vc, int route,
                    const uint8_t *buf, unsigned words);
/* Sends what can go; true if there is more that could. */
bool exanet_voq_run(ExanetPort *from);
/* Drops all that came by @from; returns how many packets that were. */
unsigned exanet_voq_drop(ExanetPort *from);
/* Returns the words of all packets that came by @from and wait. */
unsigned exanet_voq_held(const ExanetPort *from);
/* Words that came by @from in any channel and wait for output @out. */
unsigned exanet_voq_words(const ExanetPort *from, unsigned out);
/* Frees the queues, which are empty. */
void exanet_voq_fini(ExanetVoqs *q);

#endif /* HW_EXANET_NET_VOQ_H */
