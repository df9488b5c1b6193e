/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet congestion management.  A congested port with a PORT_RATE advertises rates to
 * the sources of its flows, and the sources pace their data.
 */
#ifndef HW_EXANET_NET_FLOW_H
#define HW_EXANET_NET_FLOW_H

#include "../exanet.h"

extern const ExanetUnit exanet_flow_unit;
/*
 * At a port with a PORT_RATE: counts the packet of @words words at @buf, for which the
 * caller has called rnic_port_commit().  If a measurement ends and @p is congested, may
 * advertise rates to the sources.  Does nothing for a port without PORT_RATE, for a
 * packet of one word, or if SW_FLOW has no MARK.
 */
static inline void exanet_flow_observe(ExanetState *s, RNicPort *p,
                                       const uint8_t *buf, unsigned words);
/*
 * At a source: processes the flow-rate packet @pkt, which limits the rate of data for
 * node @pkt->flow_dst.  Ignores @pkt if SW_FLOW has no PACE, or if @pkt->flow_dst is this
 * node or has no route.
 */
void exanet_flow_receive(ExanetState *s, const ExanetPacket *pkt);
/*
 * At a source: returns true if the rate permits a packet of data for node @dst now.  If
 * not, a timer runs the units when the rate permits a packet.  If a rate limits data for
 * @dst, a packet for @dst counts as waiting from this call until exanet_flow_sent().
 */
static inline bool exanet_flow_may_send(ExanetState *s, uint32_t dst);
/* At a source: counts a packet of @words words of data that the caller sends to @dst. */
static inline void exanet_flow_sent(ExanetState *s, uint32_t dst,
                                    unsigned words);
/* At a source: returns true if a rate limits data for node @dst now. */
static inline bool exanet_flow_paced(ExanetState *s, uint32_t dst);
/* Computes register SW_FLOWS before a register read. */
void exanet_flow_reg_sync(ExanetState *s);
/*
 * Parts of the inline functions below; no other function calls these parts.  The inline
 * functions call exanet_flow_paced_...() only while this node paces a flow, and
 * exanet_flow_observe_rate() only if @p has a PORT_RATE.
 */
bool exanet_flow_paced_dst(ExanetState *s, uint32_t dst);
bool exanet_flow_paced_may_send(ExanetState *s, uint32_t dst);
void exanet_flow_paced_sent(ExanetState *s, uint32_t dst, unsigned words);
void exanet_flow_observe_rate(ExanetState *s, RNicPort *p, const uint8_t *buf,
                              unsigned words);

/* --- Inline, because most nodes pace no flow and most ports have no PORT_RATE --- */

static inline void exanet_flow_observe(ExanetState *s, RNicPort *p,
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
