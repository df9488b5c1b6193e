/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the functions of RNicPortOwner (port.h), by which ports call the device.
 * The functions pass packets to the crossbar, and changes of links and neighbours to the
 * router and the receiver.
 */
#include "qemu/osdep.h"
#include "base/irq.h"
#include "base/wire.h"
#include "net/net.h"
#include "exanet.h"
#include "../link/port.h"
#include "port-regs.h"
#include "ports.h"
#include "engine/receiver.h"
#include "net/router.h"
#include "net/voq.h"
#include "trace.h"

static RNicMeasured port_measure(const uint8_t *buf)
{
    ExanetWireStatus status;
    unsigned n;

    if (exanet_run_word(buf)) {
        n = exanet_run_packets(buf, &status);
        return (RNicMeasured) {
            .words = n ? exanet_run_words(n) : 0,
            .packets = n,
            .alone = n * EXANET_PACKET_WORDS,
            .damaged = status == EXANET_WIRE_BAD_HEADER,
        };
    }
    n = exanet_packet_words(buf, &status);
    return (RNicMeasured) {
        .words = n,
        .packets = 1,
        .alone = n,
        .damaged = status == EXANET_WIRE_BAD_HEADER,
    };
}

/*
 * Returns true if exanet_receiver_elsewhere() shows that a packet of the node at @coord
 * has lately arrived through a switch, because such a node is not a neighbour of this
 * node.  But returns false if exanet_router_near() is true for the node and the last
 * known epoch of the node is @epoch.  Such a node may have sent packets by another route
 * before its cable to this node was up.
 */
static bool is_elsewhere(ExanetState *s, uint32_t coord, uint8_t epoch)
{
    uint8_t known;

    return exanet_receiver_elsewhere(s, coord, &known) &&
           (known != epoch || !exanet_router_near(s, coord));
}

static const char *port_refusal(RNicPort *p, const RNicPortNode *node)
{
    if (!node->known && is_elsewhere(exanet_port_state(p), node->coord, node->epoch)) {
        return "which is reached through others";
    }
    return exanet_router_neighbour(p, node->coord) ? NULL :
           "which is no neighbour in this network (property 'peerN' allows it)";
}

static const char *port_changed(RNicPort *p, enum rnic_port_change change,
                                const RNicPortNode *node)
{
    ExanetState *s = exanet_port_state(p);

    switch (change) {
    case RNIC_PORT_OFFER:
        return port_refusal(p, node);
    case RNIC_PORT_EPOCH:
        exanet_receiver_new_epoch(s, node->coord, node->epoch);
        break;
    case RNIC_PORT_UP_OR_DOWN:
        exanet_router_port_changed(s, p);
        exanet_irq_raise(s, EXANET_IRQ_LINK);
        break;
    case RNIC_PORT_SETTINGS:
        exanet_router_port_changed(s, p);
        break;
    case RNIC_PORT_EMPTIED:
        rnic_port_drop(p, exanet_voq_drop(p));
        break;
    case RNIC_PORT_CONFLICT:
        exanet_count(s, LINK_CONFLICT);
        break;
    case RNIC_PORT_BAD_HEADER:
        exanet_count(s, DROP_HEADER_CRC);
        break;
    case RNIC_PORT_MALFORMED:
        exanet_count(s, DROP_MALFORMED);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
        break;
    case RNIC_PORT_POLLED:
        exanet_count(s, RX_POLLED);
        break;
    case RNIC_PORT_INJECTED:
        exanet_port_reg_injected(p);
        break;
    case RNIC_PORT_TICK:
        exanet_receiver_sweep(s);
        break;
    }
    return NULL;
}

static void port_trace(const RNicPort *p, enum rnic_port_step step, unsigned a,
                       unsigned b, unsigned c)
{
    uint32_t node = p->group->node;

    switch (step) {
    case RNIC_PORT_STEP_TX:
        trace_exanet_link_port_tx(node, p->index, a, b, c);
        break;
    case RNIC_PORT_STEP_RX:
        trace_exanet_link_port_rx(node, p->index, a, b, c);
        break;
    case RNIC_PORT_STEP_UP:
        trace_exanet_link_up(node, p->index, a, b);
        break;
    case RNIC_PORT_STEP_FAULT:
        trace_exanet_inject_fault(node, p->index, a, b);
        break;
    }
}

QEMU_BUILD_BUG_ON(EXANET_WORD_BYTES != RNIC_LINK_WORD);
QEMU_BUILD_BUG_ON(EXANET_VCS > RNIC_LINK_VCS);

static const RNicPortOwner port_owner = {
    .name = "exanet",
    .family = RNIC_LINK_EXANET,
    .mac = (uint64_t)EXANET_MAC_PREFIX << 24,
    .coord_mask = EXANET_COORD,
    .vcs = EXANET_VCS,
    .packet_words = EXANET_PACKET_WORDS,
    .urgent_words = 1,              /* acks and flow-rate packets */
    /*
     * 224 full packets: a datagram of UDP, which the dgram netdev may use, has at most
     * 65507 bytes
     */
    .frame_words = 224 * EXANET_PACKET_WORDS,
    .measure = port_measure,
    .take = exanet_net_take,
    .changed = port_changed,
    .work = exanet_voq_run,
    .trace = port_trace,
};

void exanet_ports_update(ExanetState *s)
{
    s->ports.node = s->node;
    s->ports.epoch = s->epoch;
}

void exanet_ports_init(ExanetState *s)
{
    RNicPortGroup *g = &s->ports;

    g->owner = &port_owner;
    g->opaque = s;
    g->dev = s->host.dev;
    g->loop = &s->loop;
    g->port = s->port;
    g->node = s->coord;
    g->rx_words = s->rx_fifo_words;
    g->timeout_ms = s->link_timeout_ms;
    g->stall_ms = s->link_stall_ms;
    g->features = s->runs ? EXANET_HELLO_RUNS : 0;
    g->cable_features = s->crc ? 0 : EXANET_HELLO_NO_CRC;
    for (unsigned i = 0; i < g->count; i++) {
        if (s->port[i].conf.peers.ncs[0]) {
            rnic_port_init(g, i);
        }
    }
}
