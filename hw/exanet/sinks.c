/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet sinks: pass each packet for this node to a unit, by type and address.
 */
#include "qemu/osdep.h"
#include "net/net.h"
#include "engine/exadma.h"
#include "exanet.h"
#include "firmware/firmware.h"
#include "net/flow.h"
#include "base/irq.h"
#include "engine/packetizer.h"
#include "../link/port.h"
#include "engine/receiver.h"
#include "engine/rtmailbox.h"
#include "shm/shm.h"
#include "sinks.h"
#include "net/router.h"
#include "base/wire.h"
#include "trace.h"

/*
 * The NI index whose entry in the NI map leads to NI port @port after a reset.  sink_ni()
 * stores this index in the VA of a packet, so that units need to know only this index,
 * although software can change the NI map.
 */
#define SINK_INDEX(port) ((port) - EXANET_NI_PORT_RT_RESPONSE)

QEMU_BUILD_BUG_ON(SINK_INDEX(EXANET_NI_PORT_BRAM) != EXANET_NI_BRAM ||
                  EXANET_NI_BRAM + 1 != EXANET_NI_UNITS);

/*
 * Passes @pkt to a unit.  @port is the NI port (EXANET_NI_PORT_*) to which the packet's
 * NI index leads, or 0 if the packet is for memory.  For the link port @from see
 * ExanetSink.
 */
typedef void SinkFunction(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                          unsigned port);

/*
 * Returns true if the ack of @pkt goes to a packetizer, because a packetizer sent @pkt.
 */
static bool sink_from_packetizer(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_SMALL_INDEX, pkt->user) == EXANET_NI_PACKETIZER;
}

static void sink_write(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                       unsigned port)
{
    if (pkt->packets > 1) {
        exanet_receiver_run(s, pkt);
    } else if (sink_from_packetizer(pkt)) {
        exanet_receiver_message(s, pkt);
    } else {
        exanet_receiver_rx(s, pkt);
    }
}

static void sink_read_req(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                          unsigned port)
{
    exanet_receiver_message(s, pkt);
}

static void sink_control(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                         unsigned port)
{
    exanet_receiver_rx(s, pkt);
}

static void sink_release(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                         unsigned port)
{
    exanet_count(s, RX_RELEASE);
    exanet_receiver_release(s, pkt);
}

static void sink_notify(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                        unsigned port)
{
    exanet_receiver_notification(s, pkt);
}

static void sink_axi_request(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                             unsigned port)
{
    exanet_shm_request(s, pkt);
}

static void sink_axi_response(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                              unsigned port)
{
    exanet_shm_response(s, pkt);
}

/*
 * Stores in *@node the node that must have sent @ack.  An ack has no source, but the unit
 * that sent the acknowledged packet knows the destination of that packet.  @rdma is true
 * if @ack is for the RDMA engine, false if @ack is for the packetizer.  Returns false if
 * the unit knows no packet with the TID of @ack.
 */
static bool sink_ack_source(ExanetState *s, const ExanetPacket *ack, bool rdma,
                            uint32_t *node)
{
    if (!rdma) {
        return exanet_packetizer_target(s, ack->tid, node);
    }
    if (exanet_firmware_is_report(s, ack)) {
        return exanet_firmware_report_target(s, ack, node);
    }
    return exanet_exadma_target(s, ack->tid, node);
}

static void sink_ack(ExanetState *s, RNicPort *from, ExanetPacket *ack,
                     unsigned port)
{
    bool rdma = port == EXANET_NI_PORT_RT_RESPONSE;
    uint32_t node;

    if (from && sink_ack_source(s, ack, rdma, &node) &&
        !exanet_router_source_ok(s, from, node, s->node, ack->path)) {
        exanet_net_drop_source(s, from, node, s->node);
    } else if (rdma) {
        exanet_rtmailbox_response(s, ack);
    } else {
        exanet_packetizer_response(s, ack);
    }
}

static void sink_flow_rate(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                           unsigned port)
{
    exanet_count(s, RX_FLOW_RATE);
    if (from && !exanet_router_rate_source_ok(s, from, pkt->flow_dst)) {
        exanet_net_drop_source(s, from, pkt->flow_dst, s->node);
    } else {
        exanet_flow_receive(s, pkt);
    }
}

typedef struct Sink {
    SinkFunction *function;
    bool memory;                    /* packets for memory are permitted too */
    bool message;                   /* packets for NI ports must come from a packetizer */
} Sink;

#define SINK_WRITE          { sink_write, .memory = true, .message = true }
#define SINK_READ_REQ       { sink_read_req, .message = true }
#define SINK_CONTROL        { sink_control }
#define SINK_AXI_READ       { sink_axi_request, .memory = true }
#define SINK_NOTIFY         { sink_notify, .memory = true }
#define SINK_RELEASE        { sink_release }
#define SINK_AXI_WRITE      { sink_axi_request, .memory = true }
#define SINK_ACK            { sink_ack }
#define SINK_AXI_RESPONSE   { sink_axi_response }
#define SINK_FLOW_RATE      { sink_flow_rate }

/* The list of types makes this table, so a type without a SINK_ macro fails the build. */
#define SINK(name, value, ...) [value] = SINK_##name,
static const Sink sinks[EXANET_TYPE_VALUES] = { EXANET_TYPES(SINK) };

/*
 * Returns the NI port to which NI index @index leads, or 0 if the index has no unit, or
 * if the NI map or the unit does not accept packets of @type.
 */
static unsigned sink_port(ExanetState *s, unsigned index, unsigned type)
{
    uint64_t entry = s->router.ni_map[index];
    unsigned port = RNIC_GET(EXANET_NI_MAP_PORT, entry);

    return (entry & EXANET_NI_MAP_VALID) &&
           (RNIC_GET(EXANET_NI_MAP_TYPES, entry) & (1u << type)) &&
           port >= EXANET_NI_PORT_RT_RESPONSE && port <= EXANET_NI_PORT_BRAM &&
           (exanet_type_info[type].ni & (1u << SINK_INDEX(port))) ? port : 0;
}

/* Counts and drops @pkt, and raises interrupt cause PROTOCOL. */
static void sink_reject(ExanetState *s, const ExanetPacket *pkt)
{
    exanet_count(s, DROP_NI_TYPE);
    exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
    trace_exanet_sinks_err_ni(s->node, pkt->type, pkt->va);
}

/* Passes @pkt to the unit of NI index @index, or rejects @pkt if no unit accepts @pkt. */
static void sink_ni(ExanetState *s, RNicPort *from, ExanetPacket *pkt,
                    unsigned index)
{
    const Sink *sink = &sinks[pkt->type];
    unsigned port = sink_port(s, index, pkt->type);

    if (!port || (sink->message && !sink_from_packetizer(pkt))) {
        sink_reject(s, pkt);
        return;
    }
    pkt->va = EXANET_NI_VA(SINK_INDEX(port)) | (pkt->va & 0xffffffff);
    sink->function(s, from, pkt, port);
}

/*
 * Passes the packets of run @run to their units, one by one, because the run is for the
 * network interface or is a message.  Only a neighbour that ignores the protocol sends
 * such a run.
 */
static G_NO_INLINE void sink_split(ExanetState *s, RNicPort *from,
                                   const ExanetPacket *run)
{
    for (unsigned i = 0; i < run->packets; i++) {
        ExanetPacket pkt;

        exanet_run_split(run, i, &pkt);
        exanet_sink(s, from, &pkt);
    }
}

/*
 * Each call of a sink is the last action, so that the compiler can replace the call by a
 * jump.
 */
void exanet_sink(ExanetState *s, RNicPort *from, ExanetPacket *pkt)
{
    const Sink *sink = &sinks[pkt->type];

    if (unlikely(pkt->packets > 1 && (sink_from_packetizer(pkt) ||
        RNIC_GET(EXANET_VA_WINDOW, pkt->va) == EXANET_WINDOW_NI))) {
        sink_split(s, from, pkt);
        return;
    }
    exanet_count_by(s, exanet_type_info[pkt->type].rx_counter, MAX(pkt->packets, 1));
    if (EXANET_TYPE_SHORT(pkt->type)) {
        sink_ni(s, from, pkt, RNIC_GET(EXANET_SMALL_INDEX, pkt->small));
    } else if (RNIC_GET(EXANET_VA_WINDOW, pkt->va) == EXANET_WINDOW_NI) {
        sink_ni(s, from, pkt, RNIC_GET(EXANET_VA_NI_INDEX, pkt->va));
    } else if (sink->memory) {
        sink->function(s, from, pkt, 0);
    } else {
        sink_reject(s, pkt);
    }
}
