/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual output queues [T §3.3]: a queue holds the packets of an input that wait for
 * one output, because packets behind them may be for another output.
 *
 * With the arithmetic router, each virtual channel of a port has a queue for each output.
 * A packet enters the queue if the output is blocked, or if packets wait in the queue.  A
 * queue holds EXANET_VOQ_PACKETS packets; if it is full, the RX FIFO of its channel
 * stops.
 */
#ifndef HW_EXANET_NET_VOQ_H
#define HW_EXANET_NET_VOQ_H

#include "../../core/fifo.h"
#include "../link/port.h"
#include "../base/wire.h"

#define EXANET_VOQ_PACKETS 32       /* [P]; a frame may carry many packets */

/* A packet in a queue.  @route is valid while @stamp equals ExanetRouter.stamp. */
typedef struct ExanetVoqSlot {
    int route;
    uint32_t stamp;
    uint16_t words;
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetVoqSlot;

typedef struct ExanetVoq {
    RNicFifo slots;                 /* positions in @slot */
    unsigned words;                 /* words of all packets in the queue */
    ExanetVoqSlot slot[EXANET_VOQ_PACKETS];
} ExanetVoq;

/* All queues of packets that arrived by one port. */
typedef struct ExanetVoqs {
    /* indexed by virtual channel of arrival, and output; owned; NULL: unused */
    ExanetVoq *queue[EXANET_VCS][EXANET_LINKS];
    uint16_t busy[EXANET_VCS];      /* outputs whose queue is not empty, one bit each */
    unsigned backlog;               /* words in the queues of all ports for this port */
} ExanetVoqs;

/* Returns true if packets of channel @vc of the port of @q wait for output @out. */
static inline bool exanet_voq_waits(const ExanetVoqs *q, unsigned vc, unsigned out)
{
    return unlikely(q->busy[vc] & (1u << out));
}
/*
 * Stores the packet of @words words at @buf, which arrived by channel @vc of @from, in
 * the queue for the port of @route.  Returns false if the queue is full.
 */
bool exanet_voq_put(ExanetPort *from, unsigned vc, int route,
                    const uint8_t *buf, unsigned words);
/*
 * Sends packets that arrived by @from and wait in queues.  Returns true if more of them
 * could continue now.
 */
bool exanet_voq_run(ExanetPort *from);
/* Drops all packets that arrived by @from and wait in queues.  Returns their number. */
unsigned exanet_voq_drop(ExanetPort *from);
/* Returns the words of packets that arrived by @from and wait in queues for port @out. */
unsigned exanet_voq_words(const ExanetPort *from, unsigned out);
/* Frees the queues, which are empty. */
void exanet_voq_fini(ExanetVoqs *q);

#endif /* HW_EXANET_NET_VOQ_H */
