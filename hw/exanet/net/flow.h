/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet congestion management: an output with a RATE that is congested advertises rates,
 * and the sources of its flows pace their data.
 */
#ifndef HW_EXANET_NET_FLOW_H
#define HW_EXANET_NET_FLOW_H

#include "../exanet.h"

extern const ExanetUnit exanet_flow_unit;
/*
 * At an output: counts the packet of @words words at @buf, which was added to the queue
 * of @p.  If @p has a RATE and is congested, advertises rates to the sources.
 */
static inline void exanet_flow_observe(ExanetState *s, ExanetPort *p,
                                       const uint8_t *buf, unsigned words);
/* At a source: takes a flow-rate packet, which limits the rate of data for a node. */
void exanet_flow_receive(ExanetState *s, const ExanetPacket *pkt);
/*
 * At a source: returns true if the next packet of data for @dst may leave now.  If not,
 * the units are scheduled when the packet may leave.
 */
static inline bool exanet_flow_may_send(ExanetState *s, uint32_t dst);
/* At a source: counts @words words of data for @dst that have left. */
static inline void exanet_flow_sent(ExanetState *s, uint32_t dst,
                                    unsigned words);
/* At a source: returns true if data for @dst is paced now. */
static inline bool exanet_flow_paced(ExanetState *s, uint32_t dst);
/* Computes register SW_FLOWS before a read. */
void exanet_flow_reg_sync(ExanetState *s);
/* As the functions above, if this node paces a flow, or if @p has a RATE. */
bool exanet_flow_paced_dst(ExanetState *s, uint32_t dst);
bool exanet_flow_paced_may_send(ExanetState *s, uint32_t dst);
void exanet_flow_paced_sent(ExanetState *s, uint32_t dst, unsigned words);
void exanet_flow_observe_rate(ExanetState *s, ExanetPort *p, const uint8_t *buf,
                              unsigned words);

/* --- Inline, because most nodes pace no flow and most ports have no RATE -------- */

static inline void exanet_flow_observe(ExanetState *s, ExanetPort *p,
                                       const uint8_t *buf, unsigned words)
{
    if (unlikely(p->rate)) {
        exanet_flow_observe_rate(s, p, buf, words);
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
