/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RDMA receiver: writes packets of blocks to memory, and answers a block when the
 * block is complete or has an error [T §4, §6.1].  The protocol of [P] adds generations
 * and tombstones, and checks each packet before the write.  CTRL_STRICT selects the
 * published protocol, in which a delayed packet may overwrite memory.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "context.h"
#include "../net/net.h"
#include "../exanet.h"
#include "fault.h"
#include "../base/irq.h"
#include "receiver-internal.h"
#include "receiver-source.h"
#include "receiver.h"
#include "segment.h"
#include "../base/wire.h"
#include "../trace.h"

/*
 * Time, ns, without packets after which a receiver context may be replaced if its set is
 * full [P], because a release packet may be lost.  A later packet of the replaced block
 * needs a new receiver context.
 */
#define CTX_AGE_NS EXANET_RX_IDLE_NS

ExanetPendingFault exanet_receiver_fault(const ExanetPacket *pkt,
                                         enum exanet_fault_unit unit)
{
    return (ExanetPendingFault) {
        .peer = pkt->src,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .small = pkt->user & EXANET_FTR_USER_SMALL,
        .ctx = RNIC_GET(EXANET_PDID_CTX, pkt->pdid),
        .unit = unit,
        .epoch = pkt->epoch,
        .write = true,
        .dst = true,
    };
}

/*
 * Sends an ack or nack, and counts a nack in NACK_SENT.  @ack has these fields: @dst,
 * @small, @pdid (its 4 bits of the context), @tid, @seq, @resp, @path, and @epoch, the
 * epoch in the packet that is answered.
 */
static void ack_send(ExanetState *s, const ExanetPacket *ack)
{
    uint8_t word[EXANET_WORD_BYTES];

    trace_exanet_receiver_respond(s->node, ack->dst, ack->tid, ack->seq, ack->resp);
    if (ack->resp != EXANET_RESP_ACK) {
        exanet_count(s, NACK_SENT);
    }
    exanet_ack_encode(word, ack);
    exanet_net_respond(s, ack->dst, word, 1);
}

void exanet_receiver_ack(ExanetState *s, const ExanetPacket *pkt,
                         enum exanet_resp resp)
{
    ExanetPacket ack = {
        .dst = pkt->src,
        .small = pkt->user & EXANET_FTR_USER_SMALL,
        .pdid = pkt->pdid & EXANET_PDID_CTX,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .resp = resp,
        .epoch = pkt->epoch,
        .path = pkt->path,
    };

    ack_send(s, &ack);
}

/* --- Contexts ----------------------------------------------------------- */

/* Frees all receiver contexts of blocks whose destination is context @c of this node. */
static void receiver_forget(ExanetState *s, unsigned c)
{
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (RNIC_GET(EXANET_PDID_CTX, s->receiver.ctx[i].pdid) == c) {
            s->receiver.ctx[i].valid = false;
        }
    }
}

static ExanetRxContext *rx_set(ExanetState *s, uint32_t src, unsigned tid)
{
    unsigned sets = EXANET_RX_CONTEXTS / EXANET_RX_WAYS;
    unsigned set = (tid ^ tid >> 4 ^ src ^ src >> 4 ^ src >> 8 ^ src >> 12) &
                   (sets - 1);

    return &s->receiver.ctx[set * EXANET_RX_WAYS];
}

ExanetRxContext *exanet_rx_find(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetRxContext *set = rx_set(s, pkt->src, exanet_pkt_tid(pkt));

    for (unsigned i = 0; i < s->receiver.ways; i++) {
        if (set[i].valid && set[i].src == pkt->src &&
            RNIC_GET(EXANET_TID_INDEX, set[i].tid) == exanet_pkt_tid(pkt)) {
            return &set[i];
        }
    }
    return NULL;
}

/*
 * Initializes receiver context @c for the block and the copy of @pkt.  Cancels the record
 * of a release of an older block or copy of the TID.
 */
static void rx_start(ExanetSource *src, ExanetRxContext *c,
                     const ExanetPacket *pkt)
{
    src->refused[exanet_pkt_tid(pkt)].released = false;
    *c = (ExanetRxContext) {
        .valid = true,
        .src = pkt->src,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .pdid = pkt->pdid,
        .epoch = pkt->epoch,
    };
}

/*
 * Returns a new, initialized receiver context for @pkt.  If the set is full, replaces the
 * oldest receiver context after CTX_AGE_NS without packets.  Returns NULL if no receiver
 * context is old enough.  Counts each of these results.
 */
static ExanetRxContext *rx_alloc(ExanetState *s, ExanetSource *src,
                                 const ExanetPacket *pkt)
{
    ExanetRxContext *set = rx_set(s, pkt->src, exanet_pkt_tid(pkt));
    ExanetRxContext *oldest = &set[0];
    unsigned i;

    for (i = 0; i < s->receiver.ways && set[i].valid; i++) {
        if (set[i].time < oldest->time) {
            oldest = &set[i];
        }
    }
    if (i < s->receiver.ways) {
        oldest = &set[i];
    } else if (s->time - oldest->time > CTX_AGE_NS) {
        exanet_count(s, RX_CTX_EVICT);
    } else {
        exanet_count(s, RX_CTX_FULL);
        return NULL;
    }
    exanet_count(s, RX_CTX_ALLOC);
    rx_start(src, oldest, pkt);
    return oldest;
}

static void rx_nack(ExanetState *s, ExanetRxContext *c,
                    const ExanetPacket *pkt, enum exanet_resp resp)
{
    c->nack = resp;
    exanet_receiver_ack(s, pkt, resp);
}

/*
 * Sends nack @resp for @pkt, which gets no receiver context, and records the nack in
 * @src->refused.  Sends nothing if the record has the generation and sequence number of
 * @pkt.  If @src is NULL (unknown node or epoch), records nothing, and nacks only the
 * first data packet of a block.
 */
static void rx_refuse(ExanetState *s, ExanetSource *src,
                      const ExanetPacket *pkt, enum exanet_resp resp)
{
    ExanetTidRecord *r;

    if (!src) {
        if (pkt->type == EXANET_TYPE_WRITE && pkt->first) {
            exanet_receiver_ack(s, pkt, resp);
        }
        return;
    }
    r = &src->refused[exanet_pkt_tid(pkt)];
    if (r->valid && r->gen == exanet_pkt_gen(pkt) && r->seq == pkt->seq) {
        return;
    }
    *r = (ExanetTidRecord) {
        .valid = true,
        .gen = exanet_pkt_gen(pkt),
        .seq = pkt->seq,
    };
    exanet_receiver_ack(s, pkt, resp);
}

/* --- Tombstones --------------------------------------------------------- */

/* Records that the block of @c is complete, for tomb_check() and for the debug window. */
static void tomb_set(ExanetState *s, ExanetSource *src,
                     const ExanetRxContext *c)
{
    ExanetReceiver *r = &s->receiver;

    src->tomb[RNIC_GET(EXANET_TID_INDEX, c->tid)] = (ExanetTidRecord) {
        .valid = true,
        .gen = RNIC_GET(EXANET_TID_GEN, c->tid),
        .seq = c->seq,
        .time = s->time,
    };
    r->tomb[r->tomb_next].key = EXANET_TOMB_VALID |
        RNIC_PREP(EXANET_TOMB_TID, c->tid) |
        RNIC_PREP(EXANET_TOMB_SRC, c->src) |
        RNIC_PREP(EXANET_TOMB_SEQ, c->seq) |
        RNIC_PREP(EXANET_TOMB_EPOCH, c->epoch);
    r->tomb[r->tomb_next].time = s->time;
    r->tomb_next = (r->tomb_next + 1) % EXANET_TOMBSTONES;
}

/*
 * Returns true if @pkt belongs to a block that is complete, or to an older block.  In
 * this case the function has counted @pkt, and has acked @pkt if this packet is the first
 * to arrive of a later copy of the complete block.  Returns false if the TID's record is
 * older than EXANET_TID_AGE_NS.
 *
 * A packet that is more than one generation ahead of the TID's record moves the record to
 * the generation before that of the packet, even if the block of the packet fails later.
 * Otherwise, after half of all generations had failed, all packets of the TID would count
 * as old.
 */
static bool tomb_check(ExanetState *s, ExanetSource *src,
                       const ExanetPacket *pkt)
{
    ExanetTidRecord *t = &src->tomb[exanet_pkt_tid(pkt)];
    unsigned ahead = (exanet_pkt_gen(pkt) - t->gen) % EXANET_GENERATIONS;

    if (!t->valid || s->time - t->time > EXANET_TID_AGE_NS) {
        return false;
    }
    if (ahead > 0 && ahead < EXANET_GENERATIONS / 2) {
        if (ahead > 1) {
            t->gen = (exanet_pkt_gen(pkt) - 1) % EXANET_GENERATIONS;
            /* no block with this generation was completed, so no copy gets an ack */
            t->seq = UINT16_MAX;
            t->time = s->time;
        }
        return false;
    }
    if (ahead >= EXANET_GENERATIONS / 2) {
        exanet_count(s, RX_OLD_GEN);
    } else if (pkt->seq > t->seq) {
        /* acks a later copy again, without a write, because the last ack may be lost */
        t->seq = pkt->seq;
        t->time = s->time;
        exanet_count(s, RX_REACK);
        exanet_receiver_ack(s, pkt, EXANET_RESP_ACK);
    } else {
        exanet_count(s, RX_DUPLICATE);
    }
    return true;
}

/* --- Completion --------------------------------------------------------- */

/* Returns true if offset and length in the control packet fit the data packets of @c. */
static bool rx_control_fits(const ExanetRxContext *c)
{
    unsigned offset = RNIC_GET(EXANET_CONTROL_OFFSET, c->control[3]);
    unsigned length = RNIC_GET(EXANET_CONTROL_BLOCK, c->control[3]);

    return length > 0 && offset + length <= EXANET_BLOCK_BYTES &&
           c->first_idx == offset / EXANET_MTU &&
           c->last_idx == (offset + length - 1) / EXANET_MTU &&
           c->bytes == length;
}

static enum exanet_resp rx_notify(ExanetState *s, const ExanetRxContext *c,
                                  const ExanetPacket *pkt)
{
    uint64_t gva = c->control[0];
    uint16_t pdid = RNIC_GET(EXANET_CONTROL_PDID, c->control[3]);
    struct exanet_notification n = {
        .data = cpu_to_le64(c->control[1]),
        .status = cpu_to_le64(EXANET_NOTIFICATION_VALID |
            RNIC_PREP(EXANET_NOTIFICATION_LENGTH, c->control[2]) |
            RNIC_PREP(EXANET_NOTIFICATION_HANDLE,
                      RNIC_GET(EXANET_CONTROL_HANDLE, c->control[2]))),
    };
    ExanetPendingFault fault = {
        .peer = c->src,
        .tid = c->tid,
        .seq = pkt->seq,
        .small = pkt->user & EXANET_FTR_USER_SMALL,
        .ctx = RNIC_GET(EXANET_PDID_CTX, pdid),
        .unit = EXANET_FAULT_RDMA,
        .epoch = pkt->epoch,
        .write = true,
        .dst = true,
    };

    if (RNIC_GET(EXANET_PDID_JOB, pdid) != RNIC_GET(EXANET_PDID_JOB, c->pdid)) {
        return EXANET_RESP_PROTECTION;
    }
    /* refuses a target on a third node, whose result this node would not know */
    if (RNIC_GET(EXANET_GVA_COORD, gva) != s->node) {
        return EXANET_RESP_DECODE;
    }
    return exanet_receiver_notify(s, pdid, RNIC_GET(EXANET_GVA_VA, gva), &n,
                                  &fault, c->control[2] & EXANET_CONTROL_IRQ);
}

void exanet_rx_complete(ExanetState *s, ExanetSource *src, ExanetRxContext *c,
                        const ExanetPacket *pkt)
{
    if (c->notify) {
        enum exanet_resp resp = EXANET_RESP_MALFORMED;

        if (rx_control_fits(c)) {
            resp = rx_notify(s, c, pkt);
        }
        if (resp != EXANET_RESP_ACK) {
            rx_nack(s, c, pkt, resp);
            return;
        }
    }
    if (!s->strict) {
        tomb_set(s, src, c);
    }
    src->proven = true;
    c->valid = false;
    exanet_receiver_ack(s, pkt, EXANET_RESP_ACK);
}

/* --- Packets of blocks -------------------------------------------------- */

/*
 * Writes the payload of @pkt to the 64-bit address @va of its context.  If the result is
 * FAULT, reports the page fault to the driver.  Returns the result of
 * exanet_context_write().
 */
static enum exanet_resp rx_scatter(ExanetState *s, const ExanetPacket *pkt,
                                   uint64_t va)
{
    ExanetPendingFault fault = exanet_receiver_fault(pkt, EXANET_FAULT_RDMA);
    enum exanet_resp resp = exanet_context_write(s, fault.ctx, va, pkt->payload,
                                                 pkt->size, &fault.va);

    trace_exanet_receiver_scatter(s->node, pkt->src, pkt->tid, va, pkt->size, resp);
    if (resp == EXANET_RESP_FAULT) {
        /* the length is a hint: the block may write the rest of its 16-KB window */
        exanet_fault_report(s, &fault, EXANET_BLOCK_BYTES -
                            (va & (EXANET_BLOCK_BYTES - 1)));
    }
    return resp;
}

static enum exanet_resp rx_control(ExanetRxContext *c, const ExanetPacket *pkt)
{
    if (pkt->size != sizeof(struct exanet_control) ||
        (pkt->va & (EXANET_WORD_BYTES - 1))) {
        return EXANET_RESP_MALFORMED;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(c->control); i++) {
        c->control[i] = ldq_le_p(pkt->payload + 8 * i);
    }
    c->control_seen = true;
    return EXANET_RESP_ACK;
}

static enum exanet_resp rx_data(ExanetState *s, ExanetRxContext *c,
                                const ExanetPacket *pkt, bool written)
{
    unsigned idx = (pkt->va / EXANET_MTU) % EXANET_BLOCK_PACKETS;
    uint64_t bit = 1ULL << idx;
    enum exanet_resp resp;
    uint64_t va;

    resp = exanet_context_window(s, RNIC_GET(EXANET_PDID_CTX, pkt->pdid),
                                 pkt->va, pkt->size, &va);
    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    if (c->bitmap == 0) {
        c->window = va & ~(uint64_t)(EXANET_BLOCK_BYTES - 1);
    } else if (c->window != (va & ~(uint64_t)(EXANET_BLOCK_BYTES - 1))) {
        return EXANET_RESP_MALFORMED;
    }
    if (c->bitmap & bit) {
        exanet_count(s, RX_DUPLICATE);
        return EXANET_RESP_ACK;
    }
    if (!written) {
        resp = rx_scatter(s, pkt, va);
        if (resp != EXANET_RESP_ACK) {
            return resp;
        }
    }
    c->bitmap |= bit;
    c->bytes += pkt->size;
    if (pkt->first) {
        c->first = true;
        c->first_idx = idx;
    }
    if (pkt->last) {
        c->last = true;
        c->last_idx = idx;
    }
    if (c->first && c->last && c->first_idx > c->last_idx) {
        return EXANET_RESP_MALFORMED;
    }
    return EXANET_RESP_ACK;
}

/*
 * Returns true if the source has released the copy of @pkt, or a later copy, within the
 * last EXANET_TID_AGE_NS.
 */
static bool rx_released(ExanetState *s, const ExanetSource *src,
                        const ExanetPacket *pkt)
{
    const ExanetTidRecord *r = &src->refused[exanet_pkt_tid(pkt)];

    return r->released && r->gen == exanet_pkt_gen(pkt) && pkt->seq <= r->seq &&
           s->time - r->time < EXANET_TID_AGE_NS;
}

/*
 * Continues receiver context @c with the later copy to which @pkt belongs.  Packets of
 * earlier copies still count as arrived, unless the last copy was nacked with a code
 * other than CRC.  So a large block becomes complete even if a cable loses packets of
 * each copy.
 *
 * Starts @c again without packets if the PDID differs, or if the sequence number is at
 * least EXANET_SEQ_GAP higher, because a source leaves this gap after a block that was
 * given up.  In the published protocol each copy starts without packets.
 */
static void rx_next_copy(ExanetState *s, ExanetSource *src, ExanetRxContext *c,
                         const ExanetPacket *pkt)
{
    if (s->strict || pkt->seq - c->seq >= EXANET_SEQ_GAP || c->pdid != pkt->pdid ||
        (c->nack && c->nack != EXANET_RESP_CRC)) {
        rx_start(src, c, pkt);
        return;
    }
    c->seq = pkt->seq;
    c->nack = 0;
}

/*
 * Returns the receiver context for @pkt.  Returns NULL if @pkt must be dropped: @pkt is
 * old or its copy was released (counted); no receiver context is free (counted, and
 * rx_refuse() was called); or the copy of @pkt was nacked before.  But a nack with code
 * CRC does not drop other packets of the copy, except in the published protocol.
 */
static ExanetRxContext *rx_context(ExanetState *s, ExanetSource *src,
                                   const ExanetPacket *pkt)
{
    ExanetRxContext *c = exanet_rx_find(s, pkt);

    if (c && !s->strict &&
        RNIC_GET(EXANET_TID_GEN, c->tid) != exanet_pkt_gen(pkt)) {
        unsigned ahead = (exanet_pkt_gen(pkt) - RNIC_GET(EXANET_TID_GEN, c->tid)) %
                         EXANET_GENERATIONS;

        if (ahead >= EXANET_GENERATIONS / 2 &&
            s->time - c->time <= EXANET_TID_AGE_NS) {
            exanet_count(s, RX_OLD_GEN);
            return NULL;
        }
        rx_start(src, c, pkt);
    }
    if (!c && !s->strict && rx_released(s, src, pkt)) {
        exanet_count(s, RX_OLD_SEQ);
        return NULL;
    }
    if (!c) {
        c = rx_alloc(s, src, pkt);
        if (!c) {
            rx_refuse(s, src, pkt, EXANET_RESP_NO_CONTEXT);
            return NULL;
        }
    }
    if (s->time - c->time > EXANET_TID_AGE_NS) {
        rx_start(src, c, pkt);        /* the state of the old block is too old */
    }
    if (pkt->seq < c->seq) {
        exanet_count(s, RX_OLD_SEQ);
        return NULL;
    }
    if (pkt->seq > c->seq) {
        rx_next_copy(s, src, c, pkt);
    }
    /*
     * After a nack all packets are dropped until the next copy.  But after a bad payload
     * CRC the good packets of the same copy still count, because otherwise each copy
     * would add only the packets before its first bad packet.
     */
    return c->nack && (s->strict || c->nack != EXANET_RESP_CRC) ? NULL : c;
}

/*
 * Nacks the copy of @pkt, a packet with a bad payload, unless the copy was nacked before
 * or the same packet of any copy has arrived with a good payload.  The published protocol
 * sends the nack even if the same packet has arrived.
 */
static void rx_bad_payload(ExanetState *s, ExanetRxContext *c, const ExanetPacket *pkt)
{
    bool have = pkt->type == EXANET_TYPE_CONTROL ? c->control_seen :
                c->bitmap & BIT_ULL(exanet_packet_bit(pkt->va));

    if (s->strict || (!c->nack && !have)) {
        rx_nack(s, c, pkt, EXANET_RESP_CRC);
    }
}

/*
 * In the published protocol, writes the payload of a data packet before the checks for
 * old packets and duplicates [T §6.1].  Returns true if the payload was written.
 */
static bool rx_cut_through(ExanetState *s, const ExanetPacket *pkt)
{
    uint64_t va;

    return s->strict && pkt->type == EXANET_TYPE_WRITE && !pkt->bad_payload &&
           exanet_context_window(s, RNIC_GET(EXANET_PDID_CTX, pkt->pdid),
                                 pkt->va, pkt->size, &va) == EXANET_RESP_ACK &&
           rx_scatter(s, pkt, va) == EXANET_RESP_ACK;
}

void exanet_receiver_rx(ExanetState *s, const ExanetPacket *pkt)
{
    enum exanet_resp resp = exanet_context_check(s, pkt->pdid, pkt->src);
    ExanetSource *src;
    ExanetRxContext *c;
    bool written;

    trace_exanet_receiver_parse(s->node, pkt->src, pkt->type, pkt->tid,
                                pkt->seq, pkt->va, pkt->size);
    if (!exanet_source_find(s, pkt, resp == EXANET_RESP_ACK, exanet_source_refuse,
                            &src) ||
        (src && !s->strict && tomb_check(s, src, pkt))) {
        return;
    }
    if (resp != EXANET_RESP_ACK) {
        exanet_count(s, DROP_PROTECTION);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
        rx_refuse(s, src, pkt, resp);
        return;
    }
    written = rx_cut_through(s, pkt);
    c = rx_context(s, src, pkt);
    if (!c) {
        return;
    }
    c->time = src->time;
    c->user = pkt->user;
    c->notify |= pkt->notify;
    if (c->pdid != pkt->pdid) {
        resp = EXANET_RESP_PROTECTION;
    } else if (pkt->bad_payload) {
        rx_bad_payload(s, c, pkt);
        return;
    } else if (pkt->type == EXANET_TYPE_CONTROL) {
        resp = rx_control(c, pkt);
    } else {
        resp = rx_data(s, c, pkt, written);
    }
    if (resp != EXANET_RESP_ACK) {
        rx_nack(s, c, pkt, resp);
    } else if (exanet_rx_all(c)) {
        exanet_rx_complete(s, src, c, pkt);
    }
}

/*
 * Records the release, because packets of the block may still be under way on other
 * paths.  Such a packet must not allocate a receiver context, which would stay in use.
 */
void exanet_receiver_release(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetRxContext *c = exanet_rx_find(s, pkt);
    ExanetTidRecord *r;
    ExanetSource *src;

    /* does not check the PDID, because only source and TID of @pkt select the state */
    if (!exanet_source_find(s, pkt, false, exanet_source_refuse, &src) || !src ||
        (c && (c->tid != pkt->tid || c->seq > pkt->seq))) {
        /* ignores @pkt: unknown node or epoch, another block, or a later copy */
        return;
    }
    if (c) {
        c->valid = false;
        exanet_count(s, RX_CTX_RELEASED);
    }
    src->time = s->time;
    r = &src->refused[exanet_pkt_tid(pkt)];
    *r = (ExanetTidRecord) {
        .valid = true,
        .released = true,
        .gen = exanet_pkt_gen(pkt),
        .seq = pkt->seq,
        .time = s->time,
    };
}

/*
 * Sends RESOLVED (if @ok) or DECODE (if not) to the source of the block that met page
 * fault @f.  Returns false, without an effect, if @f is not a fault of a block that
 * arrived.
 */
static bool receiver_resolved(ExanetState *s, const ExanetPendingFault *f,
                              bool ok)
{
    ExanetPacket ack = {
        .dst = f->peer,
        .small = f->small,
        .pdid = f->ctx,
        .tid = f->tid,
        .seq = f->seq,
        .resp = ok ? EXANET_RESP_RESOLVED : EXANET_RESP_DECODE,
        .epoch = f->epoch,
    };

    if (f->unit != EXANET_FAULT_RDMA || !f->dst) {
        return false;
    }
    ack_send(s, &ack);
    return true;
}

/* --- Debug windows and life --------------------------------------------- */

uint64_t exanet_receiver_debug_read(ExanetState *s, hwaddr addr)
{
    const ExanetRxContext *c =
        &s->receiver.ctx[addr / sizeof(struct exanet_rx_context)];

    switch (addr % sizeof(struct exanet_rx_context)) {
    case offsetof(struct exanet_rx_context, bitmap):
        return c->bitmap;
    case offsetof(struct exanet_rx_context, key):
        return RNIC_PREP(EXANET_RXC_KEY_TID, c->tid) |
               RNIC_PREP(EXANET_RXC_KEY_SRC, c->src) |
               RNIC_PREP(EXANET_RXC_KEY_SEQ, c->seq) |
               RNIC_PREP(EXANET_RXC_KEY_VALID, c->valid) |
               RNIC_PREP(EXANET_RXC_KEY_FIRST, c->first) |
               RNIC_PREP(EXANET_RXC_KEY_LAST, c->last) |
               RNIC_PREP(EXANET_RXC_KEY_FIRST_IDX, c->first_idx);
    case offsetof(struct exanet_rx_context, state):
        return RNIC_PREP(EXANET_RXC_LAST_IDX, c->last_idx) |
               RNIC_PREP(EXANET_RXC_NOTIFY, c->notify) |
               RNIC_PREP(EXANET_RXC_CONTROL, c->control_seen) |
               RNIC_PREP(EXANET_RXC_NACKED, c->nack != 0) |
               RNIC_PREP(EXANET_RXC_NACK, c->nack) |
               RNIC_PREP(EXANET_RXC_PDID, c->pdid) |
               RNIC_PREP(EXANET_RXC_BYTES, c->bytes) |
               RNIC_PREP(EXANET_RXC_EPOCH, c->epoch);
    case offsetof(struct exanet_rx_context, window):
        return c->window;
    case offsetof(struct exanet_rx_context, p0):
        return c->control[0];
    case offsetof(struct exanet_rx_context, p1):
        return c->control[1];
    case offsetof(struct exanet_rx_context, p2):
        return c->control[2];
    default:
        return c->time;
    }
}

uint64_t exanet_receiver_tomb_read(ExanetState *s, hwaddr addr)
{
    ExanetReceiver *r = &s->receiver;
    unsigned age = addr / sizeof(struct exanet_tombstone);
    unsigned i = (r->tomb_next - 1 - age) % EXANET_TOMBSTONES;

    return addr % sizeof(struct exanet_tombstone) ? r->tomb[i].time :
                                                    r->tomb[i].key;
}

void exanet_receiver_reset(ExanetState *s)
{
    ExanetReceiver *r = &s->receiver;

    memset(r->ctx, 0, sizeof(r->ctx));
    memset(r->tomb, 0, sizeof(r->tomb));
    r->tomb_next = 0;
    r->recent = NULL;
    g_hash_table_remove_all(r->sources);
    memset(r->by_link, 0, sizeof(r->by_link));
    memset(r->full_until, 0, sizeof(r->full_until));
}

static void receiver_init(ExanetState *s)
{
    s->receiver.sources = g_hash_table_new_full(NULL, NULL, NULL, exanet_source_free);
}

static void receiver_fini(ExanetState *s)
{
    g_hash_table_destroy(s->receiver.sources);
}

const ExanetUnit exanet_receiver_unit = {
    .init = receiver_init,
    .fini = receiver_fini,
    .reset = exanet_receiver_reset,
    .quiesce = receiver_forget,
    .resolved = receiver_resolved,
};
