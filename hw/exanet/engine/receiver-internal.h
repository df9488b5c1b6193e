/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the files of the receiver of blocks share. */
#ifndef HW_EXANET_ENGINE_RECEIVER_INTERNAL_H
#define HW_EXANET_ENGINE_RECEIVER_INTERNAL_H

#include "receiver-source.h"
#include "receiver.h"

#define EXANET_GENERATIONS 16       /* number of generations of a TID */

/* Returns the TID of @pkt without generation. */
static inline unsigned exanet_pkt_tid(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_TID_INDEX, pkt->tid);
}

/* Returns the generation of @pkt. */
static inline unsigned exanet_pkt_gen(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_TID_GEN, pkt->tid);
}

/* Returns a bitmap with bits @first to @last, inclusive. */
static inline uint64_t exanet_rx_bits(unsigned first, unsigned last)
{
    return (~0ULL >> (63 - last)) & (~0ULL << first);
}

/*
 * Returns the receiver context of the TID and the source of @pkt, or NULL if none exists.
 */
ExanetRxContext *exanet_rx_find(ExanetState *s, const ExanetPacket *pkt);
/*
 * Returns true if all data packets of the block of @c, and its control packet if the
 * block needs one, have arrived.
 */
static inline bool exanet_rx_all(const ExanetRxContext *c)
{
    uint64_t wanted;

    if (!c->first || !c->last || (c->notify && !c->control_seen)) {
        return false;
    }
    wanted = exanet_rx_bits(c->first_idx, c->last_idx);
    return (c->bitmap & wanted) == wanted;
}

/*
 * Ends the block of @c, all of whose packets have arrived: delivers the notification of a
 * block with a control packet, frees @c, and sends an ack.  Without CTRL_STRICT, also
 * records that the block is complete [P].  If the control packet does not fit the block
 * or the notification has an error, nacks the copy instead, and @c stays in use.  @pkt is
 * the last packet that has arrived.
 */
void exanet_rx_complete(ExanetState *s, ExanetSource *src, ExanetRxContext *c,
                        const ExanetPacket *pkt);

#endif /* HW_EXANET_ENGINE_RECEIVER_INTERNAL_H */
