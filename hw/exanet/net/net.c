/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet crossbar: moves each packet from a unit or port of this node to a port or unit.
 * A packet that cannot continue now stays in its unit or in the RX FIFO of the port of
 * arrival, or waits in a queue of voq.c.  router.c and router-arith.c find the routes.
 */
#include "qemu/osdep.h"
#include "net.h"
#include "../exanet.h"
#include "flow.h"
#include "../base/irq.h"
#include "../../link/port.h"
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
        o->buf = rnic_port_place(&s->port[EXANET_ROUTE_PORT(route)],
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

static void net_deliver(ExanetState *s, RNicPort *from,
                             const uint8_t *buf, unsigned words);

/*
 * Delivers a copy of the packet at @buf to a unit of this node.  This function and
 * net_respond_by() are not inlined, because otherwise callers of these functions would
 * zero the array @copy for each packet.
 */
static G_NO_INLINE void
net_deliver_copy(ExanetState *s, const uint8_t *buf, unsigned words)
{
    uint8_t copy[EXANET_PACKET_BYTES];

    memcpy(copy, buf, words * EXANET_WORD_BYTES);
    net_deliver(s, NULL, copy, words);
}

/*
 * Delivers the packet at @buf, from this node to this node, to its unit without a port.
 */
static void net_loop_back(ExanetState *s, const uint8_t *buf, unsigned words)
{
    if (unlikely(EXANET_TYPE_AXI(exanet_packet_type(buf)))) {
        /* delivers a copy, because the unit may build the response in the buffer @buf */
        net_deliver_copy(s, buf, words);
    } else {
        net_deliver(s, NULL, buf, words);
    }
}

bool exanet_net_no_crc(ExanetState *s, int route)
{
    const RNicPort *p;

    if (route < 0 || s->strict) {
        return false;
    }
    p = &s->port[EXANET_ROUTE_PORT(route)];
    /* a port with faults needs the CRC, because a fault could damage the packet */
    return (p->features & EXANET_HELLO_NO_CRC) && !rnic_port_has_faults(p);
}

/*
 * Computes the payload CRC of the packet of @words words at @buf if the packet has none
 * and @route needs the CRC.  For a run, @buf and @words are those of the header.
 */
static inline void net_crc_add(ExanetState *s, int route, uint8_t *buf, unsigned words)
{
    if (unlikely(exanet_packet_no_crc(buf, words)) && !exanet_net_no_crc(s, route)) {
        exanet_packet_crc_add(buf, words);
    }
}

static void net_trace_route(ExanetState *s, const uint8_t *buf, int route)
{
    if (trace_event_get_state_backends(TRACE_EXANET_NET_ROUTE)) {
        trace_exanet_net_route(s->node, exanet_packet_dst(buf),
                               exanet_packet_path(buf), route);
    }
}

static void net_count_tx(ExanetState *s, const uint8_t *buf, unsigned packets)
{
    exanet_count_by(s, exanet_type_info[exanet_packet_type(buf)].tx_counter, packets);
}

/*
 * Counts packets of this node in SW_LOCAL0 if @route is a torus link.  Only F1, the node
 * with offset 0 in its QFDB, counts such packets.
 */
static void net_count_entry(ExanetState *s, int route, unsigned packets)
{
    enum exanet_role role = s->router.role[EXANET_ROUTE_PORT(route)];

    if (exanet_role_torus(role) && !(s->node & EXANET_COORD_OFFSET)) {
        s->router.counter[EXANET_ROUTER_LOCAL] += packets;
    }
}

void exanet_net_send(ExanetState *s, const ExanetOpen *o, unsigned words)
{
    int route = o->route;
    RNicPort *p;

    net_trace_route(s, o->buf, route);
    net_count_tx(s, o->buf, 1);
    switch (route) {
    case EXANET_ROUTE_NONE:
        exanet_count(s, DROP_NO_ROUTE);
        break;
    case EXANET_ROUTE_LOCAL:
        net_loop_back(s, o->buf, words);
        break;
    default:
        p = &s->port[EXANET_ROUTE_PORT(route)];
        net_count_entry(s, route, 1);
        exanet_packet_vc_set(o->buf, EXANET_ROUTE_VC(route));
        net_crc_add(s, route, o->buf, words);
        rnic_port_commit(p, EXANET_ROUTE_VC(route), words);
        exanet_router_sent(s, route, EXANET_INPUT_NI, 1);
        /* the port may have sent the packet, but the memory at @o->buf stays allocated */
        exanet_flow_observe(s, p, o->buf, words);
    }
}

/*
 * Returns the number of packets of the longest run that has at most @words words, or 0 if
 * @words words are too few for a run.
 */
static unsigned net_run_packets(unsigned words)
{
    unsigned packets = words > EXANET_RUN_EXTRA ?
                       (words - EXANET_RUN_EXTRA) / EXANET_PAYLOAD_WORDS : 0;

    return packets < 2 ? 0 : MIN(packets, EXANET_RUN_MAX);
}

/*
 * Returns the port of @route if runs may leave by this port.  Returns NULL if the route
 * has no port, if a model of times acts on each packet, or if one end of the cable does
 * not accept runs (EXANET_HELLO_RUNS).
 */
static RNicPort *net_run_port(ExanetState *s, int route)
{
    RNicPort *p;

    if (route < 0 || s->router.times) {
        return NULL;
    }
    p = &s->port[EXANET_ROUTE_PORT(route)];
    return p->features & EXANET_HELLO_RUNS ? p : NULL;
}

unsigned exanet_net_run_room(ExanetState *s, const ExanetOpen *o)
{
    RNicPort *p = net_run_port(s, o->route);

    return p ? net_run_packets(rnic_port_run_room(p, EXANET_ROUTE_VC(o->route))) : 0;
}

bool exanet_net_run_later(ExanetState *s, int route)
{
    RNicPort *p = net_run_port(s, route);

    return p && net_run_packets(rnic_port_run_limit(p, EXANET_ROUTE_VC(route)));
}

/*
 * Adds the run of @packets packets at @buf, the result of rnic_port_place(), to the
 * frame of @route.
 */
static void net_run_commit(ExanetState *s, int route, uint8_t *buf, unsigned packets)
{
    const RNicMeasured run = {
        .words = exanet_run_words(packets),
        .packets = packets,
        .alone = packets * EXANET_PACKET_WORDS,
    };
    unsigned vc = EXANET_ROUTE_VC(route);

    exanet_packet_vc_set(buf, vc);
    exanet_packet_vc_set(exanet_run_header(buf), vc);
    net_crc_add(s, route, exanet_run_header(buf), run.words - 1);
    rnic_port_commit_run(&s->port[EXANET_ROUTE_PORT(route)], vc, &run);
}

void exanet_net_send_run(ExanetState *s, const ExanetOpen *o, unsigned packets)
{
    net_trace_route(s, exanet_run_header(o->buf), o->route);
    net_count_tx(s, exanet_run_header(o->buf), packets);
    net_count_entry(s, o->route, packets);
    net_run_commit(s, o->route, o->buf, packets);
    exanet_router_sent(s, o->route, EXANET_INPUT_NI, packets);
}

/* Sends a copy of the packet at @buf by @route, as an urgent packet of the port. */
static G_NO_INLINE void
net_respond_by(ExanetState *s, int route, const uint8_t *buf, unsigned words)
{
    unsigned vc = EXANET_ROUTE_VC(route);
    uint8_t copy[EXANET_PACKET_BYTES];

    memcpy(copy, buf, words * EXANET_WORD_BYTES);
    exanet_packet_vc_set(copy, vc);
    rnic_port_respond(&s->port[EXANET_ROUTE_PORT(route)], vc, copy, words);
}

void exanet_net_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words)
{
    int route = exanet_net_route(s, dst, exanet_packet_path(buf));

    net_trace_route(s, buf, route);
    net_count_tx(s, buf, 1);
    switch (route) {
    case EXANET_ROUTE_NONE:
        exanet_count(s, DROP_NO_ROUTE);
        break;
    case EXANET_ROUTE_LOCAL:
        net_deliver(s, NULL, buf, words);
        break;
    default:
        net_count_entry(s, route, 1);
        net_respond_by(s, route, buf, words);
    }
}

/* --- Packets for this node ---------------------------------------------- */

void exanet_net_drop_source(ExanetState *s, const RNicPort *from, uint32_t src,
                                 uint32_t dst)
{
    exanet_count(s, DROP_SOURCE);
    exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
    trace_exanet_net_err_source(s->node, from->index, src, dst);
}

/* Counts a packet that the caller drops because its footer CRC is wrong. */
static void net_drop_footer(ExanetState *s, RNicPort *from)
{
    exanet_count(s, DROP_FOOTER_CRC);
    if (from) {
        s->router.errors[from->index].footer++;
    }
}

/*
 * Passes a packet for this node to its unit, or drops and counts the packet.  @from is
 * the port of arrival, or NULL for a packet that passed no port.  The function counts a
 * packet with a wrong payload CRC, and passes this packet to its unit too.
 */
static void net_deliver(ExanetState *s, RNicPort *from,
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
            s->router.errors[from->index].payload++;
        }
    }
    s->sink(s, from, &pkt);
}

/* --- Packets for other nodes ------------------------------------------------ */

/*
 * Counts @packets packets, which this node forwards from @from by @route, in FORWARDED.
 * If @from is a torus link, or if the packets move from a QFDB link to a torus link, also
 * counts the packets in a counter of the torus router (SW_*).
 */
static void net_count_transit(ExanetState *s, RNicPort *from, int route,
                              unsigned packets)
{
    enum exanet_role in = s->router.role[from->index];
    enum exanet_role out = s->router.role[EXANET_ROUTE_PORT(route)];

    exanet_count_by(s, EXANET_CNT_FORWARDED, packets);
    if (in == EXANET_ROLE_QFDB) {
        if (exanet_role_torus(out)) {
            s->router.counter[EXANET_ROUTER_LOCAL +
                          RNIC_GET(EXANET_COORD_OFFSET, from->peer)] += packets;
        }
    } else if (exanet_role_torus(in)) {
        s->router.counter[exanet_role_torus(out) ? EXANET_ROUTER_TRANSIT :
                                               EXANET_ROUTER_LOCAL_OUT] += packets;
    }
}

/*
 * Stores in *@route the route of a packet for another node.  Returns false if the caller
 * must drop the packet, which the function has counted.  The reasons are: there is no
 * route; SW_MODE permits no forwarding; or, according to exanet_router_source_ok(), a
 * packet of this source cannot arrive by @from.
 */
static bool net_transit_route(ExanetState *s, RNicPort *from, unsigned vc,
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
 * too many switches.  @input is the number of the packet's input in the arbitration.
 * Returns false if the packet must wait.
 */
static bool net_pass(RNicPort *from, unsigned input, int route,
                     const uint8_t *packet, unsigned words)
{
    ExanetState *s = exanet_port_state(from);
    RNicPort *to = &s->port[EXANET_ROUTE_PORT(route)];
    unsigned vc = EXANET_ROUTE_VC(route);
    uint8_t *buf;

    /* a packet of one word needs no arbitration, because the port may make it urgent */
    if (words == 1 ? !rnic_port_can_send(to, vc) :
                     !exanet_router_may_send(s, route, input)) {
        return false;
    }
    buf = memcpy(rnic_port_place(to, vc), packet, words * EXANET_WORD_BYTES);
    if (!exanet_packet_hop(buf, words)) {
        exanet_count(s, DROP_TTL);
        return true;
    }
    trace_exanet_net_forward(s->node, from->index, route, exanet_packet_type(buf),
                             exanet_packet_dst(buf));
    net_count_transit(s, from, route, 1);
    if (unlikely(s->router.times)) {
        s->router.times->pass(s, route, buf, words);
    }
    exanet_packet_vc_set(buf, vc);
    net_crc_add(s, route, buf, words);
    rnic_port_commit(to, vc, words);
    if (words > 1) {
        exanet_router_sent(s, route, input, 1);
    }
    /* @buf may have other contents now, because the port may have sent the packet */
    exanet_flow_observe(s, to, packet, words);
    return true;
}

/*
 * Forwards, queues, or drops and counts a packet for another node.  Returns false if the
 * packet must stay in the RX FIFO of @from.
 */
static bool net_forward(ExanetState *s, RNicPort *from, unsigned vc,
                        const uint8_t *buf, unsigned words)
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

bool exanet_net_resume(RNicPort *from, unsigned vc, int route,
                       const uint8_t *buf, unsigned words)
{
    if (unlikely(route == EXANET_ROUTE_UNKNOWN) &&
        !net_transit_route(exanet_port_state(from), from, vc, buf, words, &route)) {
        return true;
    }
    return net_pass(from, EXANET_INPUT(from->index, vc), route, buf, words);
}

static void net_drop_malformed(ExanetState *s)
{
    exanet_count(s, DROP_MALFORMED);
    exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
}

/* Processes a packet that arrived by channel @vc of @from; see exanet_net_take(). */
static bool net_take_packet(RNicPort *from, unsigned vc, const uint8_t *buf,
                            unsigned words)
{
    ExanetState *s = exanet_port_state(from);

    if (exanet_packet_vc(buf) != vc ||
        (exanet_packet_no_crc(buf, words) && !(from->features & EXANET_HELLO_NO_CRC))) {
        net_drop_malformed(s);
        return true;
    }
    if (exanet_packet_dst(buf) != s->node) {
        return net_forward(s, from, vc, buf, words);
    }
    if (exanet_role_torus(s->router.role[from->index])) {
        s->router.counter[EXANET_ROUTER_LOCAL_OUT]++;
    }
    s->router.hol += s->router.voqs[from->index].busy[vc] != 0;
    net_deliver(s, from, buf, words);
    return true;
}

/* --- Runs ------------------------------------------------------------------- */

/*
 * Passes the run at @buf, whose destination is this node, to its unit.  Returns false,
 * without an effect, if the packets of the run must be processed one by one, because this
 * node is disabled or strict, or a check has failed.
 */
static bool net_run_deliver(ExanetState *s, RNicPort *from, const uint8_t *buf)
{
    ExanetPacket run;

    if (!s->enabled || s->strict || exanet_run_decode(buf, &run) != EXANET_WIRE_OK ||
        run.bad_payload ||
        !exanet_router_source_ok(s, from, run.src, run.dst, run.path) ||
        (run.src == from->peer && run.epoch != from->peer_epoch)) {
        return false;
    }
    if (exanet_role_torus(s->router.role[from->index])) {
        s->router.counter[EXANET_ROUTER_LOCAL_OUT] += run.packets;
    }
    if (s->router.voqs[from->index].busy[exanet_packet_vc(buf)]) {
        s->router.hol += run.packets;
    }
    qatomic_set(&s->arrivals, s->arrivals + run.packets);
    run.link = from->index;
    run.far = run.src != from->peer;
    s->sink(s, from, &run);
    return true;
}

enum net_run_result {
    NET_RUN_PASSED,                 /* the run is in its output's frame, or delivered */
    NET_RUN_WAITS,                  /* the run must wait for its output */
    /* the packets of the run must be processed one by one */
    NET_RUN_SPLIT,
};

/*
 * Forwards the run of @words words at @buf to another node as a run.  Returns
 * NET_RUN_SPLIT if a part of this node must act on single packets, if an empty frame has
 * no room for the run, or if packets of the run must be dropped.
 */
static enum net_run_result net_run_pass(ExanetState *s, RNicPort *from, unsigned vc,
                                        const uint8_t *run, unsigned words,
                                        unsigned packets)
{
    const uint8_t *header = exanet_run_header_const(run);
    unsigned path = exanet_packet_path(header);
    uint32_t dst = exanet_packet_dst(header);
    unsigned input = EXANET_INPUT(from->index, vc);
    RNicPort *to;
    uint8_t *buf;
    int route;

    if (s->strict || s->router.arith || s->router.times ||
        exanet_reg_get32(s, EXANET_SWITCH + EXANET_REG_SW_MODE) !=
        EXANET_SW_MODE_ROUTER) {
        return NET_RUN_SPLIT;
    }
    route = exanet_router_transit(s, from, vc, dst, path);
    if (route < 0 ||
        !exanet_router_source_ok(s, from, exanet_packet_src(header, words - 1), dst,
                                 path)) {
        return NET_RUN_SPLIT;
    }
    to = net_run_port(s, route);
    /* while the output is blocked or stopped, single packets may have to be dropped */
    if (!to || to->blocked ||
        words > rnic_port_run_limit(to, EXANET_ROUTE_VC(route))) {
        return NET_RUN_SPLIT;
    }
    if (!exanet_router_may_send_run(s, route, input, words)) {
        return NET_RUN_WAITS;
    }
    buf = memcpy(rnic_port_place(to, EXANET_ROUTE_VC(route)), run,
                 words * EXANET_WORD_BYTES);
    if (!exanet_packet_hop(exanet_run_header(buf), words - 1)) {
        return NET_RUN_SPLIT;       /* the TTL of the packets is 0 */
    }
    trace_exanet_net_forward(s->node, from->index, route, EXANET_TYPE_WRITE, dst);
    net_count_transit(s, from, route, packets);
    net_run_commit(s, route, buf, packets);
    exanet_router_sent(s, route, input, packets);
    return NET_RUN_PASSED;
}

/*
 * Processes the packets of the run at @buf one by one, from packet @from->taken[@vc] on.
 * Returns false if a packet must wait, with the number of the packets before this packet
 * in @from->taken[@vc].
 */
static bool net_run_split(RNicPort *from, unsigned vc, const uint8_t *buf,
                          unsigned packets)
{
    ExanetState *s = exanet_port_state(from);
    ExanetPacket *run = &s->router.run[from->index][vc];
    unsigned drops = from->rx_drops;
    uint8_t packet[EXANET_PACKET_BYTES];

    if (!from->taken[vc] && exanet_run_decode(buf, run) != EXANET_WIRE_OK) {
        for (unsigned i = 0; i < packets; i++) {
            net_drop_footer(s, from);
        }
        return true;
    }
    run->payload = exanet_run_payload_const(buf);
    for (unsigned i = from->taken[vc]; i < packets; i++) {
        exanet_run_packet(run, i, packet);
        if (!net_take_packet(from, vc, packet, EXANET_PACKET_WORDS)) {
            return false;
        }
        if (drops != from->rx_drops) {
            /* net_take_packet() has dropped the run in the RX FIFO */
            return true;
        }
        from->taken[vc] = i + 1;
    }
    return true;
}

/* Processes a run that arrived by channel @vc of @from; see exanet_net_take(). */
static bool net_take_run(RNicPort *from, unsigned vc, const uint8_t *buf,
                         unsigned words)
{
    ExanetState *s = exanet_port_state(from);
    unsigned packets = net_run_packets(words);

    if (!from->taken[vc]) {
        bool here = exanet_packet_dst(exanet_run_header_const(buf)) == s->node;
        enum net_run_result result = NET_RUN_SPLIT;

        if (!(from->features & EXANET_HELLO_RUNS) || exanet_packet_vc(buf) != vc ||
            !exanet_run_valid(buf, packets) ||
            (exanet_packet_no_crc(exanet_run_header_const(buf), words - 1) &&
             !(from->features & EXANET_HELLO_NO_CRC))) {
            net_drop_malformed(s);
            return true;
        }
        if (here && net_run_deliver(s, from, buf)) {
            result = NET_RUN_PASSED;
        } else if (!here) {
            result = net_run_pass(s, from, vc, buf, words, packets);
        }
        if (result != NET_RUN_SPLIT) {
            return result == NET_RUN_PASSED;
        }
    }
    return net_run_split(from, vc, buf, packets);
}

bool exanet_net_take(RNicPort *from, unsigned vc, const uint8_t *buf, unsigned words)
{
    return exanet_run_word(buf) ? net_take_run(from, vc, buf, words) :
                                  net_take_packet(from, vc, buf, words);
}
