/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet crossbar: moves each packet from a unit or port of this node to a port or unit.
 * A packet that cannot continue now stays in the unit, or in the RX FIFO of its port, or
 * waits in a queue of voq.c.  router.c and router-arith.c find the routes.
 */
#include "qemu/osdep.h"
#include "net.h"
#include "../exanet.h"
#include "flow.h"
#include "../base/irq.h"
#include "../link/port.h"
#include "../base/regs.h"
#include "route.h"
#include "router-arith.h"
#include "router.h"
#include "voq.h"
#include "../base/wire.h"
#include "../trace.h"

int exanet_net_route(ExanetState *s, uint32_t dst, unsigned path)
{
    return unlikely(s->router.arith) ? exanet_arith_route(s, dst, path) :
                                   exanet_router_lookup(s, dst, path)->route;
}

uint8_t *exanet_net_open_route(ExanetState *s, int route, ExanetOpen *o)
{
    o->route = route;
    if (route < 0) {
        o->buf = s->local;
    } else if (exanet_router_may_send(s, route, EXANET_INPUT_NI)) {
        o->buf = exanet_port_place(&s->port[EXANET_ROUTE_PORT(route)],
                                   EXANET_ROUTE_VC(route));
    } else {
        o->buf = NULL;
    }
    return o->buf;
}

uint8_t *exanet_net_open(ExanetState *s, uint32_t dst, unsigned path, ExanetOpen *o)
{
    return exanet_net_open_route(s, exanet_net_route(s, dst, path), o);
}

static void net_deliver(ExanetState *s, ExanetPort *from,
                             const uint8_t *buf, unsigned words);

/*
 * Delivers a copy of the packet.  This function and net_respond_by() are not inlined,
 * because otherwise their callers would zero the array @copy for each packet.
 */
static G_NO_INLINE void
net_deliver_copy(ExanetState *s, const uint8_t *buf, unsigned words)
{
    uint8_t copy[EXANET_PACKET_BYTES];

    memcpy(copy, buf, words * EXANET_WORD_BYTES);
    net_deliver(s, NULL, copy, words);
}

/* Delivers a packet of this node to this node, without a port. */
static void net_loop_back(ExanetState *s, const uint8_t *buf, unsigned words)
{
    if (unlikely(EXANET_TYPE_AXI(exanet_packet_type(buf)))) {
        /* a copy, because the unit may build the response in the same buffer */
        net_deliver_copy(s, buf, words);
    } else {
        net_deliver(s, NULL, buf, words);
    }
}

static void net_trace_route(ExanetState *s, const uint8_t *buf, int route)
{
    if (trace_event_get_state_backends(TRACE_EXANET_NET_ROUTE)) {
        trace_exanet_net_route(s->node, exanet_packet_dst(buf),
                               exanet_packet_path(buf), route);
    }
}

static void net_count_tx(ExanetState *s, const uint8_t *buf)
{
    exanet_count_by(s, exanet_type_info[exanet_packet_type(buf)].tx_counter);
}

/*
 * Counts a packet of this node in SW_LOCAL0 if the packet leaves by a torus link.  Only a
 * node with offset 0 in its QFDB (F1) counts.
 */
static void net_count_entry(ExanetState *s, int route)
{
    enum exanet_role role = s->port[EXANET_ROUTE_PORT(route)].role;

    if (exanet_role_torus(role) && !(s->node & EXANET_COORD_OFFSET)) {
        s->router.counter[EXANET_ROUTER_LOCAL]++;
    }
}

void exanet_net_send(ExanetState *s, const ExanetOpen *o, unsigned words)
{
    int route = o->route;
    ExanetPort *p;

    net_trace_route(s, o->buf, route);
    net_count_tx(s, o->buf);
    switch (route) {
    case EXANET_ROUTE_NONE:
        exanet_count(s, DROP_NO_ROUTE);
        break;
    case EXANET_ROUTE_LOCAL:
        net_loop_back(s, o->buf, words);
        break;
    default:
        p = &s->port[EXANET_ROUTE_PORT(route)];
        net_count_entry(s, route);
        exanet_packet_vc_set(o->buf, EXANET_ROUTE_VC(route));
        exanet_port_commit(p, EXANET_ROUTE_VC(route), words);
        exanet_router_sent(s, route, EXANET_INPUT_NI);
        /* the port may have sent the packet, but the memory at @o->buf stays allocated */
        exanet_flow_observe(s, p, o->buf, words);
    }
}

/* Sends a copy of the packet at @buf by @route, as an urgent packet of the port. */
static G_NO_INLINE void
net_respond_by(ExanetState *s, int route, const uint8_t *buf, unsigned words)
{
    unsigned vc = EXANET_ROUTE_VC(route);
    uint8_t copy[EXANET_PACKET_BYTES];

    memcpy(copy, buf, words * EXANET_WORD_BYTES);
    exanet_packet_vc_set(copy, vc);
    exanet_port_respond(&s->port[EXANET_ROUTE_PORT(route)], vc, copy, words);
}

void exanet_net_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words)
{
    int route = exanet_net_route(s, dst, exanet_packet_path(buf));

    net_trace_route(s, buf, route);
    net_count_tx(s, buf);
    switch (route) {
    case EXANET_ROUTE_NONE:
        exanet_count(s, DROP_NO_ROUTE);
        break;
    case EXANET_ROUTE_LOCAL:
        net_deliver(s, NULL, buf, words);
        break;
    default:
        net_count_entry(s, route);
        net_respond_by(s, route, buf, words);
    }
}

/* --- Packets for this node ---------------------------------------------- */

void exanet_net_drop_source(ExanetState *s, const ExanetPort *from, uint32_t src,
                                 uint32_t dst)
{
    exanet_count(s, DROP_SOURCE);
    exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
    trace_exanet_net_err_source(s->node, from->index, src, dst);
}

/* Counts a packet that the caller drops because its footer CRC is wrong. */
static void net_drop_footer(ExanetState *s, ExanetPort *from)
{
    exanet_count(s, DROP_FOOTER_CRC);
    if (from) {
        from->counter[EXANET_PORT_CNT_BAD_FOOTER]++;
    }
}

/*
 * Passes a packet for this node to its unit, or drops and counts the packet.  @from is
 * the port of arrival, or NULL for a packet that passed no port.  A packet with a wrong
 * payload CRC is counted, and passed to its unit too.
 */
static void net_deliver(ExanetState *s, ExanetPort *from,
                             const uint8_t *buf, unsigned words)
{
    ExanetPacket pkt;
    ExanetWireStatus status = exanet_packet_decode(buf, words, &pkt);

    if (status == EXANET_WIRE_BAD_FOOTER) {
        net_drop_footer(s, from);
        return;
    }
    if (!s->enabled) {
        exanet_count(s, DROP_DISABLED);
        return;
    }
    qatomic_set(&s->arrivals, s->arrivals + 1);
    if (EXANET_TYPE_SHORT(pkt.type)) {
        s->sink(s, from, &pkt);
        return;
    }
    if (from && !exanet_router_source_ok(s, from, pkt.src, pkt.dst, pkt.path)) {
        exanet_net_drop_source(s, from, pkt.src, pkt.dst);
        return;
    }
    /*
     * A HELLO of the neighbour with a new epoch arrives before packets with this epoch.
     * So an epoch that the last HELLO did not advertise is old.
     */
    if (from && pkt.src == from->peer && pkt.epoch != from->peer_epoch) {
        exanet_count(s, RX_OLD_GEN);
        return;
    }
    pkt.link = from ? from->index : EXANET_LINKS;
    pkt.far = from && pkt.src != from->peer;
    if (pkt.bad_payload) {
        exanet_count(s, DROP_PAYLOAD_CRC);
        if (from) {
            from->counter[EXANET_PORT_CNT_BAD_PAYLOAD]++;
        }
    }
    s->sink(s, from, &pkt);
}

/* --- Packets for other nodes ------------------------------------------------ */

/*
 * Counts a packet that this node forwards from @from to the port of @route in FORWARDED.
 * If @from is a torus link, or if the packet moves from a QFDB link to a torus link, also
 * counts the packet in a counter of the torus router.
 */
static void net_count_transit(ExanetState *s, ExanetPort *from, int route)
{
    enum exanet_role out = s->port[EXANET_ROUTE_PORT(route)].role;

    exanet_count(s, FORWARDED);
    if (from->role == EXANET_ROLE_QFDB) {
        if (exanet_role_torus(out)) {
            s->router.counter[EXANET_ROUTER_LOCAL +
                          RNIC_GET(EXANET_COORD_OFFSET, from->peer)]++;
        }
    } else if (exanet_role_torus(from->role)) {
        s->router.counter[exanet_role_torus(out) ? EXANET_ROUTER_TRANSIT :
                                               EXANET_ROUTER_LOCAL_OUT]++;
    }
}

/*
 * Stores in *@route the route of a packet for another node.  Returns false if the packet
 * must be dropped; then the function has counted the packet.  The reasons are: there is
 * no route; SW_MODE permits no forwarding; or, according to exanet_router_source_ok(), a
 * packet of this source cannot arrive by @from.
 */
static bool net_transit_route(ExanetState *s, ExanetPort *from, unsigned vc,
                                   const uint8_t *buf, unsigned words, int *route)
{
    uint32_t dst = exanet_packet_dst(buf);
    unsigned path = exanet_packet_path(buf);

    if (unlikely(s->router.arith) && EXANET_TYPE_AXI(exanet_packet_type(buf))) {
        path |= EXANET_PATH_STEADY;
    }
    *route = exanet_router_transit(s, from, vc, dst, path);
    if (*route < 0 ||
        exanet_reg_get32(s, EXANET_SWITCH + EXANET_REG_SW_MODE) !=
        EXANET_SW_MODE_ROUTER) {
        exanet_count(s, DROP_NO_ROUTE);
        return false;
    }
    if (words == 1 ||
        exanet_router_source_ok(s, from, exanet_packet_src(buf, words), dst,
                                path)) {
        return true;
    }
    if (exanet_packet_footer_valid(buf, words)) {
        exanet_net_drop_source(s, from, exanet_packet_src(buf, words), dst);
    } else {
        net_drop_footer(s, from);
    }
    return false;
}

/*
 * Forwards a packet by @route, or drops and counts the packet if the packet has passed
 * too many switches.  @input is the packet's input in the arbitration.  Returns false if
 * the packet must wait.
 */
static bool net_pass(ExanetPort *from, unsigned input, int route,
                          uint8_t *buf, unsigned words)
{
    ExanetState *s = exanet_port_state(from);
    ExanetPort *to = &s->port[EXANET_ROUTE_PORT(route)];
    unsigned vc = EXANET_ROUTE_VC(route);

    /* packets of one word need no arbitration, because the port makes them urgent */
    if (words == 1 ? !exanet_port_can_send(to, vc) :
                     !exanet_router_may_send(s, route, input)) {
        return false;
    }
    if (!exanet_packet_hop(buf, words)) {
        exanet_count(s, DROP_TTL);
        return true;
    }
    trace_exanet_net_forward(s->node, from->index, route, exanet_packet_type(buf),
                             exanet_packet_dst(buf));
    net_count_transit(s, from, route);
    if (unlikely(s->router.times)) {
        s->router.times->pass(s, route, buf, words);
    }
    exanet_packet_vc_set(buf, vc);
    memcpy(exanet_port_place(to, vc), buf, words * EXANET_WORD_BYTES);
    exanet_port_commit(to, vc, words);
    if (words > 1) {
        exanet_router_sent(s, route, input);
    }
    exanet_flow_observe(s, to, buf, words);
    return true;
}

/*
 * Forwards, queues, or drops and counts a packet for another node.  Returns false if the
 * packet must stay in the RX FIFO.
 */
static bool net_forward(ExanetState *s, ExanetPort *from, unsigned vc,
                             uint8_t *buf, unsigned words)
{
    int route;

    if (!net_transit_route(s, from, vc, buf, words, &route)) {
        return true;
    }
    if (!exanet_voq_waits(&s->router.voqs[from->index], vc, EXANET_ROUTE_PORT(route)) &&
        net_pass(from, EXANET_INPUT(from->index, vc), route, buf, words)) {
        s->router.hol += s->router.voqs[from->index].busy[vc] != 0;
        return true;
    }
    return s->router.arith && exanet_voq_put(from, vc, route, buf, words);
}

bool exanet_net_resume(ExanetPort *from, unsigned vc, int route,
                            uint8_t *buf, unsigned words)
{
    if (unlikely(route == EXANET_ROUTE_UNKNOWN) &&
        !net_transit_route(exanet_port_state(from), from, vc, buf, words, &route)) {
        return true;
    }
    return net_pass(from, EXANET_INPUT(from->index, vc), route, buf, words);
}

bool exanet_net_take(ExanetPort *from, unsigned vc, uint8_t *buf, unsigned words)
{
    ExanetState *s = exanet_port_state(from);

    if (exanet_packet_vc(buf) != vc) {
        exanet_count(s, DROP_MALFORMED);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
        return true;
    }
    if (exanet_packet_dst(buf) != s->node) {
        return net_forward(s, from, vc, buf, words);
    }
    if (exanet_role_torus(from->role)) {
        s->router.counter[EXANET_ROUTER_LOCAL_OUT]++;
    }
    s->router.hol += s->router.voqs[from->index].busy[vc] != 0;
    net_deliver(s, from, buf, words);
    return true;
}
