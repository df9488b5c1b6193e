/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet congestion management: sources slow down where an output with a RATE is crowded.
 */
#ifndef HW_EXANET_NET_FLOW_H
#define HW_EXANET_NET_FLOW_H

#include "../exanet.h"

extern const ExanetUnit exanet_flow_unit;
/*
 * At an output with a RATE: the packet of @words words at @buf goes into the queue of
 * @p.  Sources that fill it faster than it drains are told so.
 */
static inline void exanet_flow_queued(ExanetState *s, ExanetPort *p,
                                      const uint8_t *buf, unsigned words);
/* At a source: a flow-rate packet arrived. */
void exanet_flow_receive(ExanetState *s, const ExanetPacket *pkt);
/*
 * At a source: whether the next packet of data for @dst may leave now.  If not,
 * exanet_schedule() is called when it may.
 */
static inline bool exanet_flow_may_send(ExanetState *s, uint32_t dst);
/* At a source: @words words of data for @dst have left. */
static inline void exanet_flow_sent(ExanetState *s, uint32_t dst,
                                    unsigned words);
/* At a source: whether data for @dst is paced now. */
static inline bool exanet_flow_paced(ExanetState *s, uint32_t dst);
void exanet_flow_reg_sync(ExanetState *s);
/* The same, where there is something to be paced or an output with a RATE. */
bool exanet_flow_paced_dst(ExanetState *s, uint32_t dst);
bool exanet_flow_paced_may_send(ExanetState *s, uint32_t dst);
void exanet_flow_paced_sent(ExanetState *s, uint32_t dst, unsigned words);
void exanet_flow_output(ExanetState *s, ExanetPort *p, const uint8_t *buf,
                        unsigned words);

/* --- Where there is no congestion management ------------------------------ */

static inline void exanet_flow_queued(ExanetState *s, ExanetPort *p,
                                      const uint8_t *buf, unsigned words)
{
    if (unlikely(p->rate)) {
        exanet_flow_output(s, p, buf, words);
    }
}

static inline bool exanet_flow_paced(ExanetState *s, uint32_t dst)
{
    return unlikely(s->flows_paced) && exanet_flow_paced_dst(s, dst);
}

static inline bool exanet_flow_may_send(ExanetState *s, uint32_t dst)
{
    return likely(!s->flows_paced) || exanet_flow_paced_may_send(s, dst);
}

static inline void exanet_flow_sent(ExanetState *s, uint32_t dst,
                                    unsigned words)
{
    if (unlikely(s->flows_paced)) {
        exanet_flow_paced_sent(s, dst, words);
    }
}

#endif /* HW_EXANET_NET_FLOW_H */
