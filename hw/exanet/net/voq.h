/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual output queues [T §3.3]: a queue holds the packets that arrived by one virtual
 * channel of a port, and wait to leave by one port.  So later packets of this channel,
 * for other ports, can continue.
 *
 * Packets enter queues only if ARITH_MODE is not OFF.  A packet enters its queue if the
 * packet cannot leave now, or if packets wait in the queue.  A queue has room for
 * EXANET_VOQ_PACKETS packets.  If the queue is full, the packet stays at the head of the
 * RX FIFO of the channel of arrival.
 */
#ifndef HW_EXANET_NET_VOQ_H
#define HW_EXANET_NET_VOQ_H

#include "../../core/fifo.h"
#include "../../link/port.h"
#include "../base/wire.h"

/* packets in a queue [P]; a frame may carry many packets */
#define EXANET_VOQ_PACKETS 32

/* A packet in a queue. */
typedef struct ExanetVoqSlot {
    int route;                      /* EXANET_ROUTE(), or EXANET_ROUTE_UNKNOWN */
    uint32_t stamp;                 /* @route is valid while equal to router.stamp */
    uint16_t words;                 /* length of the packet */
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetVoqSlot;

typedef struct ExanetVoq {
    /* indices of the used members of @slot, in order of arrival */
    RNicFifo slots;
    unsigned words;                 /* words of all packets in the queue */
    ExanetVoqSlot slot[EXANET_VOQ_PACKETS];
} ExanetVoq;

/* All queues of packets that arrived by one port. */
typedef struct ExanetVoqs {
    /* by virtual channel of arrival and port of departure; owned; NULL: not used yet */
    ExanetVoq *queue[EXANET_VCS][EXANET_LINKS];
    /* by virtual channel of arrival: a bit for each port whose queue is not empty */
    uint16_t busy[EXANET_VCS];
    /*
     * words of packets that arrived by any port and wait in queues to leave by the port
     * whose struct this is
     */
    unsigned backlog;
} ExanetVoqs;

/* Returns true if packets from channel @vc of the port of @q wait for port @out. */
static inline bool exanet_voq_waits(const ExanetVoqs *q, unsigned vc, unsigned out)
{
    return unlikely(q->busy[vc] & (1u << out));
}
/*
 * Stores a copy of the packet of @words words at @buf, which arrived by channel @vc of
 * @from, in the queue for the port of @route.  Returns false if the queue is full.
 */
bool exanet_voq_put(RNicPort *from, unsigned vc, int route,
                    const uint8_t *buf, unsigned words);
/*
 * Sends packets that arrived by @from and wait in queues, at most EXANET_VOQ_PACKETS / 2
 * of each queue.  Returns true if this limit has stopped a queue whose packets could
 * continue.
 */
bool exanet_voq_run(RNicPort *from);
/* Drops all packets that arrived by @from and wait in queues.  Returns their number. */
unsigned exanet_voq_drop(RNicPort *from);
/* Returns the words of packets that arrived by @from and wait in queues for port @out. */
unsigned exanet_voq_words(const RNicPort *from, unsigned out);
/* Frees the memory of all queues of @q.  The pointers in @q are not valid afterwards. */
void exanet_voq_fini(ExanetVoqs *q);

#endif /* HW_EXANET_NET_VOQ_H */
