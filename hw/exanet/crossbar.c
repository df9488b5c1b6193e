/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NI crossbar: which way a packet goes, and which unit of this node takes
 * it.  With one cable there are three ways: this node, the peer, or nowhere.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "exanet.h"
#include "../trace.h"

int exanet_crossbar_route(ExanetState *s, uint32_t dst, unsigned path)
{
    if (dst == s->node) {
        return EXANET_ROUTE_LOCAL;
    }
    for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
        if (p->peer_known && p->peer == dst) {
            return EXANET_ROUTE(p->index, 0);
        }
    }
    return EXANET_ROUTE_NONE;
}

unsigned exanet_crossbar_paths(ExanetState *s, uint32_t dst, bool *order)
{
    *order = false;
    return exanet_crossbar_route(s, dst, 0) == EXANET_ROUTE_NONE ? 0 : 1;
}

bool exanet_crossbar_ready(ExanetState *s, int route)
{
    return route < 0 || exanet_port_ready(&s->port[EXANET_ROUTE_PORT(route)],
                                          EXANET_ROUTE_VC(route));
}

uint8_t *exanet_crossbar_begin(ExanetState *s, int route)
{
    return route < 0 ? s->local :
           exanet_port_begin(&s->port[EXANET_ROUTE_PORT(route)],
                             EXANET_ROUTE_VC(route));
}

static void crossbar_deliver(ExanetState *s, ExanetPort *from,
                             const uint8_t *buf, unsigned words);

static void crossbar_count_tx(ExanetState *s, const uint8_t *buf)
{
    switch (RNIC_GET(EXANET_HDR_LO_TYPE, ldq_le_p(buf))) {
    case EXANET_TYPE_WRITE:
        exanet_count(s, TX_WRITE);
        break;
    case EXANET_TYPE_READ_REQ:
        exanet_count(s, TX_READ_REQ);
        break;
    case EXANET_TYPE_CONTROL:
        exanet_count(s, TX_CONTROL);
        break;
    case EXANET_TYPE_NOTIFY:
        exanet_count(s, TX_NOTIFY);
        break;
    case EXANET_TYPE_ACK:
        exanet_count(s, TX_ACK);
        break;
    }
}

void exanet_crossbar_commit(ExanetState *s, int route, unsigned words)
{
    crossbar_count_tx(s, exanet_crossbar_begin(s, route));
    switch (route) {
    case EXANET_ROUTE_NONE:
        exanet_count(s, DROP_NO_ROUTE);
        break;
    case EXANET_ROUTE_LOCAL:
        crossbar_deliver(s, NULL, s->local, words);
        break;
    default:
        exanet_port_commit(&s->port[EXANET_ROUTE_PORT(route)],
                           EXANET_ROUTE_VC(route), words);
    }
}

void exanet_crossbar_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words)
{
    int route = exanet_crossbar_route(s, dst, 0);

    crossbar_count_tx(s, buf);
    switch (route) {
    case EXANET_ROUTE_NONE:
        exanet_count(s, DROP_NO_ROUTE);
        break;
    case EXANET_ROUTE_LOCAL:
        crossbar_deliver(s, NULL, buf, words);
        break;
    default:
        exanet_port_respond(&s->port[EXANET_ROUTE_PORT(route)],
                            EXANET_ROUTE_VC(route), buf, words);
    }
}

void exanet_crossbar_flush(ExanetState *s)
{
    for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
        exanet_port_flush(p);
    }
}

void exanet_ack_send(ExanetState *s, const ExanetPacket *ack)
{
    uint8_t word[EXANET_WORD_BYTES];

    trace_exanet_receiver_respond(s->node, ack->dst, ack->tid, ack->seq,
                                  ack->resp);
    if (ack->resp != EXANET_RESP_ACK) {
        exanet_count(s, NACK_SENT);
    }
    exanet_ack_encode(word, ack);
    exanet_crossbar_respond(s, ack->dst, word, 1);
}

/* --- Packets for this node ---------------------------------------------- */

static void crossbar_drop_ni(ExanetState *s, const ExanetPacket *pkt)
{
    exanet_count(s, DROP_NI_TYPE);
    exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
    trace_exanet_crossbar_err_ni(s->node, pkt->type, pkt->va);
}

static void crossbar_ack(ExanetState *s, const ExanetPacket *pkt)
{
    exanet_count(s, RX_ACK);
    switch (RNIC_GET(EXANET_SMALL_INDEX, pkt->small)) {
    case EXANET_NI_RT_RESPONSE:
        exanet_rtmailbox_response(s, pkt);
        break;
    case EXANET_NI_PACKETIZER:
        exanet_packetizer_response(s, pkt);
        break;
    default:
        crossbar_drop_ni(s, pkt);
    }
}

/* Whether the packetizer sent @pkt: it wants its acks there. */
static bool crossbar_from_packetizer(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_SMALL_INDEX, pkt->user) == EXANET_NI_PACKETIZER;
}

/* The table of who accepts which type where, [P §2.5]. */
static void crossbar_sink(ExanetState *s, const ExanetPacket *pkt)
{
    bool ni = RNIC_GET(EXANET_VA_WINDOW, pkt->va) == EXANET_WINDOW_NI;
    unsigned index = RNIC_GET(EXANET_VA_NI_INDEX, pkt->va);
    bool taken = false;

    switch (pkt->type) {
    case EXANET_TYPE_WRITE:
        exanet_count(s, RX_WRITE);
        if (crossbar_from_packetizer(pkt)) {
            taken = !ni || index == EXANET_NI_MAILBOX;
            if (taken) {
                exanet_receiver_message(s, pkt);
            }
        } else if (!ni) {
            taken = true;
            exanet_receiver_rx(s, pkt);
        }
        break;
    case EXANET_TYPE_READ_REQ:
        exanet_count(s, RX_READ_REQ);
        taken = ni && index == EXANET_NI_RT_REQUEST &&
                crossbar_from_packetizer(pkt);
        if (taken) {
            exanet_receiver_message(s, pkt);
        }
        break;
    case EXANET_TYPE_CONTROL:
        exanet_count(s, RX_CONTROL);
        taken = ni && index == EXANET_NI_RECEIVER;
        if (taken) {
            exanet_receiver_rx(s, pkt);
        }
        break;
    case EXANET_TYPE_NOTIFY:
        exanet_count(s, RX_NOTIFY);
        taken = !ni || index == EXANET_NI_MAILBOX;
        if (taken) {
            exanet_receiver_notification(s, pkt);
        }
        break;
    }
    if (!taken) {
        crossbar_drop_ni(s, pkt);
    }
}

/* Hands a packet for this node to its unit; @from is NULL for our own packets. */
static void crossbar_deliver(ExanetState *s, ExanetPort *from,
                             const uint8_t *buf, unsigned words)
{
    ExanetPacket pkt;
    ExanetWireStatus status = exanet_packet_decode(buf, words, &pkt);

    if (status == EXANET_WIRE_BAD_FOOTER) {
        exanet_count(s, DROP_FOOTER_CRC);
        if (from) {
            from->counter[EXANET_PORT_CNT_BAD_FOOTER]++;
        }
        return;
    }
    if (!s->enabled) {
        exanet_count(s, DROP_DISABLED);
        return;
    }
    if (pkt.dst != s->node) {
        exanet_count(s, DROP_NO_ROUTE);
        return;
    }
    if (pkt.type == EXANET_TYPE_ACK) {
        crossbar_ack(s, &pkt);
        return;
    }
    /* on a cable between two nodes there is nobody else whom it could be from */
    if (pkt.src != (from ? from->peer : s->node)) {
        exanet_count(s, DROP_PROTECTION);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
        return;
    }
    /* HELLO comes before packets: an epoch that it did not tell is an old one */
    if (from && pkt.epoch != from->peer_epoch) {
        exanet_count(s, RX_OLD_GEN);
        return;
    }
    if (pkt.bad_payload) {
        exanet_count(s, DROP_PAYLOAD_CRC);
        if (from) {
            from->counter[EXANET_PORT_CNT_BAD_PAYLOAD]++;
        }
    }
    crossbar_sink(s, &pkt);
}

bool exanet_crossbar_take(ExanetState *s, ExanetPort *from, unsigned vc,
                          uint8_t *buf, unsigned words)
{
    crossbar_deliver(s, from, buf, words);
    return true;
}
