/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet receiver: messages of packetizers, notification packets of firmware, and the
 * delivery of notifications.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "context.h"
#include "../exanet.h"
#include "fault.h"
#include "../base/irq.h"
#include "mailbox.h"
#include "receiver-source.h"
#include "receiver.h"
#include "rtmailbox.h"
#include "../base/wire.h"
#include "../trace.h"

#define PKTZ_GEN_COUNT 64
/*
 * If for this time, ns, no packet of a packetizer's channel was delivered or refused, the
 * next packet of the channel counts as a new message.  A packetizer ends a message
 * earlier [P].
 */
#define PKTZ_AGE_NS (30 * (int64_t)NANOSECONDS_PER_SECOND)

/* --- Notifications ------------------------------------------------------- */

/*
 * Stores notification @n in memory at the 42-bit address @va of @pdid: data first, then
 * status.  Reports a page fault with the fields of @fault.  Returns ACK, MALFORMED if @va
 * is not 16-byte aligned, or the error of exanet_context_window() or
 * exanet_context_write().
 */
static enum exanet_resp notify_memory(ExanetState *s, uint16_t pdid,
                                      const ExanetPendingFault *fault,
                                      uint64_t va,
                                      const struct exanet_notification *n)
{
    unsigned ctx = RNIC_GET(EXANET_PDID_CTX, pdid);
    ExanetPendingFault f = *fault;
    enum exanet_resp resp;
    uint64_t full;

    if (va % sizeof(*n)) {
        return EXANET_RESP_MALFORMED;
    }
    resp = exanet_context_window(s, ctx, va, sizeof(*n), &full);
    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    resp = exanet_context_write(s, ctx, full, &n->data, sizeof(n->data), &f.va);
    if (resp == EXANET_RESP_ACK) {
        /* exanet_context_write() orders this 8-byte store after all earlier writes */
        resp = exanet_context_write(s, ctx, full + sizeof(n->data), &n->status,
                                    sizeof(n->status), &f.va);
    }
    if (resp == EXANET_RESP_FAULT) {
        exanet_fault_report(s, &f, sizeof(*n));
    }
    return resp;
}

enum exanet_resp exanet_receiver_notify(ExanetState *s, uint16_t pdid,
                                        uint64_t va,
                                        const struct exanet_notification *n,
                                        const ExanetPendingFault *fault,
                                        bool irq)
{
    enum exanet_resp resp = exanet_context_check(s, pdid, fault->peer);
    ExanetPacket message = {
        .type = EXANET_TYPE_NOTIFY,
        .va = va,
        .dst = s->node,
        .src = fault->peer,
        .pdid = pdid,
        .tid = fault->tid,
        .size = sizeof(*n),
        .payload = (const uint8_t *)n,
    };

    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    if (RNIC_GET(EXANET_VA_WINDOW, va) != EXANET_WINDOW_NI) {
        resp = notify_memory(s, pdid, fault, va, n);
        if (resp == EXANET_RESP_ACK && irq) {
            exanet_irq_context(s, RNIC_GET(EXANET_PDID_CTX, pdid));
        }
    } else if (RNIC_GET(EXANET_VA_NI_INDEX, va) == EXANET_NI_MAILBOX) {
        resp = exanet_mailbox_deliver(s, &message, le64_to_cpu(n->data), irq);
    } else {
        resp = EXANET_RESP_DECODE;
    }
    if (resp == EXANET_RESP_ACK) {
        exanet_count(s, NOTIFY_DONE);
        trace_exanet_receiver_complete(s->node, pdid, va,
                                       le64_to_cpu(n->data));
    }
    return resp;
}

/*
 * Returns true if a record shows that the notification of @pkt was delivered before.
 * @data is the data of the notification, little-endian.  The function compares TID,
 * address, PDID and @data, because TIDs are used again.  Sets the time of the record to
 * now, because a firmware may retransmit for minutes.
 */
static bool report_known(ExanetState *s, ExanetSource *src,
                         const ExanetPacket *pkt, uint64_t data)
{
    ExanetReport *report = src->reports[RNIC_GET(EXANET_PDID_CTX, pkt->pdid)].report;

    for (unsigned i = 0; i < EXANET_RX_REPORTS; i++) {
        ExanetReport *r = &report[i];

        if (r->valid && r->number == pkt->tid && r->va == pkt->va &&
            r->data == data && r->pdid == pkt->pdid &&
            s->time - r->time < EXANET_TID_AGE_NS) {
            r->time = s->time;
            return true;
        }
    }
    return false;
}

/*
 * Records the delivered notification @pkt.  Replaces the record that was written first.
 */
static void report_record(ExanetState *s, ExanetSource *src,
                          const ExanetPacket *pkt, uint64_t data)
{
    unsigned ctx = RNIC_GET(EXANET_PDID_CTX, pkt->pdid);
    unsigned next = src->reports[ctx].next++ % EXANET_RX_REPORTS;

    src->reports[ctx].report[next] = (ExanetReport) {
        .valid = true,
        .time = s->time,
        .va = pkt->va,
        .data = data,
        .number = pkt->tid,
        .pdid = pkt->pdid,
    };
}

static enum exanet_resp report_deliver(ExanetState *s, ExanetSource *src,
                                       const ExanetPacket *pkt)
{
    ExanetPendingFault fault = exanet_receiver_fault(pkt, EXANET_FAULT_MESSAGE);
    struct exanet_notification n;
    enum exanet_resp resp;

    if (pkt->bad_payload) {
        return EXANET_RESP_CRC;
    }
    memcpy(&n, pkt->payload, sizeof(n));
    if (!s->strict && report_known(s, src, pkt, n.data)) {
        exanet_count(s, MSG_DUPLICATE);
        return EXANET_RESP_ACK;
    }
    resp = exanet_receiver_notify(s, pkt->pdid, pkt->va, &n, &fault, true);
    if (resp == EXANET_RESP_ACK) {
        report_record(s, src, pkt, n.data);
        src->proven = true;
    } else if (resp == EXANET_RESP_PROTECTION) {
        exanet_count(s, DROP_PROTECTION);
    }
    return resp;
}

void exanet_receiver_notification(ExanetState *s, const ExanetPacket *pkt)
{
    enum exanet_resp resp = exanet_context_check(s, pkt->pdid, pkt->src);
    ExanetSource *src;

    if (pkt->size != sizeof(struct exanet_notification)) {
        exanet_count(s, DROP_MALFORMED);
        return;
    }
    if (!exanet_source_find(s, pkt, resp == EXANET_RESP_ACK, exanet_source_refuse,
                            &src)) {
        return;
    }
    if (src) {
        resp = report_deliver(s, src, pkt);
    } else {
        exanet_count(s, DROP_PROTECTION);
    }
    exanet_receiver_ack(s, pkt, resp);
}

/* --- Packets of packetizers --------------------------------------------- */

static enum exanet_resp message_write(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetPendingFault fault = exanet_receiver_fault(pkt, EXANET_FAULT_MESSAGE);
    enum exanet_resp resp;
    uint64_t va;

    resp = exanet_context_window(s, fault.ctx, pkt->va, pkt->size, &va);
    if (resp == EXANET_RESP_ACK) {
        resp = exanet_context_write(s, fault.ctx, va, pkt->payload, pkt->size,
                                    &fault.va);
        trace_exanet_receiver_scatter(s->node, pkt->src, pkt->tid, va, pkt->size,
                                      resp);
    }
    if (resp == EXANET_RESP_FAULT) {
        exanet_fault_report(s, &fault, pkt->size);
    }
    return resp;
}

static enum exanet_resp message_deliver(ExanetState *s, const ExanetPacket *pkt)
{
    enum exanet_resp resp;

    if (pkt->bad_payload) {
        return EXANET_RESP_CRC;
    }
    if (pkt->size > EXANET_PKTZ_PAYLOAD_MAX) {
        return EXANET_RESP_MALFORMED;
    }
    if (pkt->type == EXANET_TYPE_READ_REQ) {
        return exanet_rtmailbox_request(s, pkt);
    }
    resp = exanet_context_check(s, pkt->pdid, pkt->src);
    if (resp != EXANET_RESP_ACK) {
        exanet_count(s, DROP_PROTECTION);
        return resp;
    }
    if (RNIC_GET(EXANET_VA_WINDOW, pkt->va) == EXANET_WINDOW_NI) {
        return exanet_mailbox_deliver(s, pkt, 0, false);
    }
    return message_write(s, pkt);
}

/*
 * Returns true if @pkt belongs to the last message of @sender and this message was
 * delivered, or if @pkt belongs to an older message.  In these cases the function has
 * counted @pkt, and has acked a packet of the last message again.  Returns false if the
 * record of @sender is as old as PKTZ_AGE_NS.  @sender is an index of
 * ExanetSource.message.
 */
static bool message_known(ExanetState *s, const ExanetSource *src,
                          unsigned sender, const ExanetPacket *pkt)
{
    unsigned ahead = (RNIC_GET(EXANET_PTID_GEN, pkt->tid) -
                      src->message[sender].gen) % PKTZ_GEN_COUNT;

    if (!src->message[sender].valid ||
        s->time - src->message[sender].time >= PKTZ_AGE_NS) {
        return false;
    }
    if (ahead == 0 && src->message[sender].done) {
        exanet_count(s, MSG_DUPLICATE);
        exanet_receiver_ack(s, pkt, EXANET_RESP_ACK);
        return true;
    }
    if (ahead >= PKTZ_GEN_COUNT / 2) {
        exanet_count(s, RX_OLD_GEN);
        return true;
    }
    return false;
}

/*
 * Returns ACK if the context that @pkt accesses accepts the PDID and the source of @pkt
 * and, for a read request, the payload is valid.  Otherwise returns the code of
 * exanet_rtmailbox_check() or exanet_context_check().
 */
static enum exanet_resp message_check(ExanetState *s, const ExanetPacket *pkt)
{
    return pkt->type == EXANET_TYPE_READ_REQ ? exanet_rtmailbox_check(s, pkt) :
           exanet_context_check(s, pkt->pdid, pkt->src);
}

void exanet_receiver_message(ExanetState *s, const ExanetPacket *pkt)
{
    bool passed = message_check(s, pkt) == EXANET_RESP_ACK;
    unsigned sender = RNIC_GET(EXANET_PTID_CTX, pkt->tid) *
                      EXANET_PKTZ_CHANNELS +
                      RNIC_GET(EXANET_PTID_CHANNEL, pkt->tid);
    unsigned gen = RNIC_GET(EXANET_PTID_GEN, pkt->tid);
    enum exanet_resp resp;
    ExanetSource *src;

    trace_exanet_receiver_parse(s->node, pkt->src, pkt->type, pkt->tid,
                                pkt->seq, pkt->va, pkt->size);
    if (!exanet_source_find(s, pkt, passed, exanet_source_refuse, &src) ||
        (src && !s->strict && message_known(s, src, sender, pkt))) {
        return;
    }
    resp = message_deliver(s, pkt);
    if (!src) {
        exanet_receiver_ack(s, pkt, resp);
        return;
    }
    /*
     * records a refused message too, because the next generations are compared with the
     * recorded generation, and must not be half of all generations ahead
     */
    src->message[sender].time = s->time;
    src->message[sender].gen = gen;
    src->message[sender].valid = true;
    src->message[sender].done = resp == EXANET_RESP_ACK;
    src->proven |= resp == EXANET_RESP_ACK;
    exanet_receiver_ack(s, pkt, resp);
}

