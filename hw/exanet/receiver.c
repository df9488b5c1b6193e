/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RDMA Receiver: puts packets of blocks into memory and answers for each
 * block once, [T §4, §6.1] with the fix of the model check: generations and
 * tombstones, and every check before the write.  CTRL_STRICT gives the protocol as
 * published, with its hazards.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "exanet.h"
#include "../trace.h"

/*
 * A context idle for so long may be taken when its set is full [P].  Sources give
 * transfers up without a word; and one that comes back later just begins anew.
 */
#define CTX_AGE_NS (100 * (int64_t)SCALE_MS)
/* Nodes remembered; the one silent for longest is forgotten for a new one. */
#define SOURCES_MAX 256
#define GEN_COUNT 16
#define PKTZ_GEN_COUNT 64
/* Packetizers have long given up a message after this: what comes is new [P]. */
#define PKTZ_AGE_NS (30 * (int64_t)NANOSECONDS_PER_SECOND)
#define PKTZ_SENDERS (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)

/* The last block that TID completed, or was answered for without a context. */
typedef struct ExanetTidRecord {
    int64_t time;           /* of the last answer, ns */
    uint16_t seq;           /* answered up to here */
    uint8_t gen;
    bool valid;
} ExanetTidRecord;

struct ExanetSource {
    int64_t time;           /* last packet, ns */
    uint32_t coord;
    uint8_t epoch;
    ExanetTidRecord tomb[EXANET_TIDS];
    ExanetTidRecord refused[EXANET_TIDS];
    struct {
        int64_t time;       /* of the last packet, ns */
        uint8_t gen;        /* of the last message that arrived */
        bool valid;
        bool done;          /* it was delivered: its copies are duplicates */
    } message[PKTZ_SENDERS];    /* by sender's context and channel */
};

static unsigned pkt_tid(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_TID_INDEX, pkt->tid);
}

static unsigned pkt_gen(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_TID_GEN, pkt->tid);
}

/* A write fault that @pkt met, but for its address; acks to @pkt tell of it. */
static ExanetPendingFault pkt_fault(const ExanetPacket *pkt,
                                    enum exanet_fault_unit unit)
{
    return (ExanetPendingFault) {
        .peer = pkt->src,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .small = pkt->user & EXANET_FTR_USER_SMALL,
        .ctx = RNIC_GET(EXANET_PDID_CTX, pkt->pdid),
        .unit = unit,
        .write = true,
        .dst = true,
    };
}

static void receiver_ack(ExanetState *s, const ExanetPacket *pkt,
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
    };

    exanet_ack_send(s, &ack);
}

/* --- Sources ------------------------------------------------------------ */

static void source_contexts_drop(ExanetState *s, uint32_t coord)
{
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (s->receiver.ctx[i].valid && s->receiver.ctx[i].src == coord) {
            s->receiver.ctx[i].valid = false;
        }
    }
}

static void source_clear(ExanetState *s, ExanetSource *src, uint8_t epoch)
{
    uint32_t coord = src->coord;

    source_contexts_drop(s, coord);
    memset(src, 0, sizeof(*src));
    src->coord = coord;
    src->epoch = epoch;
    src->time = s->time;
}

static void source_forget_oldest(ExanetReceiver *r)
{
    ExanetSource *src, *oldest = NULL;
    GHashTableIter iter;

    g_hash_table_iter_init(&iter, r->sources);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&src)) {
        if (!oldest || src->time < oldest->time) {
            oldest = src;
        }
    }
    r->recent = NULL;
    g_hash_table_remove(r->sources, GUINT_TO_POINTER(oldest->coord));
}

static ExanetSource *source_get(ExanetState *s, uint32_t coord, uint8_t epoch)
{
    ExanetReceiver *r = &s->receiver;
    ExanetSource *src = r->recent;

    if (!src || src->coord != coord) {
        src = g_hash_table_lookup(r->sources, GUINT_TO_POINTER(coord));
    }
    if (!src) {
        if (g_hash_table_size(r->sources) >= SOURCES_MAX) {
            source_forget_oldest(r);
        }
        src = g_new0(ExanetSource, 1);
        src->coord = coord;
        src->epoch = epoch;
        g_hash_table_insert(r->sources, GUINT_TO_POINTER(coord), src);
    }
    if (src->epoch != epoch) {
        source_clear(s, src, epoch);
    }
    r->recent = src;
    src->time = s->time;
    return src;
}

void exanet_receiver_forget(ExanetState *s, unsigned c)
{
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (RNIC_GET(EXANET_PDID_CTX, s->receiver.ctx[i].pdid) == c) {
            s->receiver.ctx[i].valid = false;
        }
    }
}

void exanet_receiver_new_epoch(ExanetState *s, uint32_t coord, uint8_t epoch)
{
    source_get(s, coord, epoch);
}

/* --- Contexts ----------------------------------------------------------- */

static ExanetRxContext *rx_set(ExanetState *s, uint32_t src, unsigned tid)
{
    unsigned sets = EXANET_RX_CONTEXTS / EXANET_RX_WAYS;
    unsigned set = (tid ^ tid >> 4 ^ src ^ src >> 4 ^ src >> 8 ^ src >> 12) &
                   (sets - 1);

    return &s->receiver.ctx[set * EXANET_RX_WAYS];
}

static ExanetRxContext *rx_find(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetRxContext *set = rx_set(s, pkt->src, pkt_tid(pkt));

    for (unsigned i = 0; i < s->receiver.ways; i++) {
        if (set[i].valid && set[i].src == pkt->src &&
            RNIC_GET(EXANET_TID_INDEX, set[i].tid) == pkt_tid(pkt)) {
            return &set[i];
        }
    }
    return NULL;
}

static void rx_start(ExanetState *s, ExanetRxContext *c,
                     const ExanetPacket *pkt)
{
    *c = (ExanetRxContext) {
        .valid = true,
        .src = pkt->src,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .pdid = pkt->pdid,
        .epoch = pkt->epoch,
    };
}

static ExanetRxContext *rx_alloc(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetRxContext *set = rx_set(s, pkt->src, pkt_tid(pkt));
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
    rx_start(s, oldest, pkt);
    return oldest;
}

static void rx_nack(ExanetState *s, ExanetRxContext *c,
                    const ExanetPacket *pkt, enum exanet_resp resp)
{
    c->nack = resp;
    receiver_ack(s, pkt, resp);
}

/* Answers a packet for which there is no context, once per block and sequence. */
static void rx_refuse(ExanetState *s, ExanetSource *src,
                      const ExanetPacket *pkt, enum exanet_resp resp)
{
    ExanetTidRecord *r = &src->refused[pkt_tid(pkt)];

    if (r->valid && r->gen == pkt_gen(pkt) && r->seq == pkt->seq) {
        return;
    }
    *r = (ExanetTidRecord) {
        .valid = true,
        .gen = pkt_gen(pkt),
        .seq = pkt->seq,
    };
    receiver_ack(s, pkt, resp);
}

/* --- Tombstones --------------------------------------------------------- */

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

/* Whether @pkt is of a block that is finished or older: it is dealt with here. */
static bool tomb_check(ExanetState *s, ExanetSource *src,
                       const ExanetPacket *pkt)
{
    ExanetTidRecord *t = &src->tomb[pkt_tid(pkt)];
    unsigned ahead = (pkt_gen(pkt) - t->gen) % GEN_COUNT;

    if (!t->valid || s->time - t->time > EXANET_TID_AGE_NS ||
        (ahead > 0 && ahead < GEN_COUNT / 2)) {
        return false;
    }
    if (ahead >= GEN_COUNT / 2) {
        exanet_count(s, RX_OLD_GEN);
    } else if (pkt->seq > t->seq) {
        /* the ack was lost: answer again, touch no memory */
        t->seq = pkt->seq;
        t->time = s->time;
        exanet_count(s, RX_REACK);
        receiver_ack(s, pkt, EXANET_RESP_ACK);
    } else {
        exanet_count(s, RX_DUPLICATE);
    }
    return true;
}

/* --- Completion --------------------------------------------------------- */

/* The bits of the packets from @first to @last, both inclusive. */
static uint64_t rx_bits(unsigned first, unsigned last)
{
    return (~0ULL >> (63 - last)) & (~0ULL << first);
}

/* Whether the control packet announces the block that data packets made up. */
static bool rx_control_fits(const ExanetRxContext *c)
{
    unsigned offset = RNIC_GET(EXANET_CONTROL_OFFSET, c->control[3]);
    unsigned length = RNIC_GET(EXANET_CONTROL_BLOCK, c->control[3]);

    return length > 0 && offset + length <= EXANET_BLOCK_BYTES &&
           c->first_idx == offset / EXANET_MTU &&
           c->last_idx == (offset + length - 1) / EXANET_MTU &&
           c->bytes == length;
}

/* Stores a notification at the DRAM address @va of @pdid: data, then status. */
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
        /* an aligned word is stored after all that was written before it */
        resp = exanet_context_write(s, ctx, full + sizeof(n->data), &n->status,
                                    sizeof(n->status), &f.va);
    }
    if (resp == EXANET_RESP_FAULT) {
        exanet_fault_report(s, &f, sizeof(*n));
    }
    return resp;
}

/* Delivers notification @n to the 42-bit address @va of @pdid on this node. */
static enum exanet_resp notify_local(ExanetState *s, uint16_t pdid, uint64_t va,
                                     const struct exanet_notification *n,
                                     const ExanetPendingFault *fault, bool irq)
{
    enum exanet_resp resp = exanet_context_check(s, pdid);
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
        .write = true,
        .dst = true,
    };

    if (RNIC_GET(EXANET_PDID_JOB, pdid) != RNIC_GET(EXANET_PDID_JOB, c->pdid)) {
        return EXANET_RESP_PROTECTION;
    }
    /* a third node cannot answer for what became of it */
    if (RNIC_GET(EXANET_GVA_COORD, gva) != s->node) {
        return EXANET_RESP_DECODE;
    }
    return notify_local(s, pdid, RNIC_GET(EXANET_GVA_VA, gva), &n, &fault,
                        c->control[2] & EXANET_CONTROL_IRQ);
}

void exanet_receiver_notification(ExanetState *s, const ExanetPacket *pkt)
{
    struct exanet_notification n;
    ExanetPendingFault fault = pkt_fault(pkt, EXANET_FAULT_MESSAGE);

    if (pkt->bad_payload || pkt->size != sizeof(n)) {
        exanet_count(s, DROP_MALFORMED);
        return;
    }
    memcpy(&n, pkt->payload, sizeof(n));
    notify_local(s, pkt->pdid, pkt->va, &n, &fault, true);
}

static void rx_complete_check(ExanetState *s, ExanetSource *src,
                              ExanetRxContext *c, const ExanetPacket *pkt)
{
    uint64_t wanted;

    if (!c->first || !c->last || (c->notify && !c->control_seen)) {
        return;
    }
    wanted = rx_bits(c->first_idx, c->last_idx);
    if ((c->bitmap & wanted) != wanted) {
        return;
    }
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
    c->valid = false;
    receiver_ack(s, pkt, EXANET_RESP_ACK);
}

/* --- Packets of blocks -------------------------------------------------- */

/* Writes the payload; FAULT is reported with what is needed to answer later. */
static enum exanet_resp rx_scatter(ExanetState *s, const ExanetPacket *pkt,
                                   uint64_t va)
{
    ExanetPendingFault fault = pkt_fault(pkt, EXANET_FAULT_RDMA);
    enum exanet_resp resp = exanet_context_write(s, fault.ctx, va, pkt->payload,
                                                 pkt->size, &fault.va);

    if (resp == EXANET_RESP_FAULT) {
        /* the rest of the 16-KB window is what the block may still bring */
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

/* The context of the block that @pkt belongs to; NULL when it has been answered. */
static ExanetRxContext *rx_context(ExanetState *s, ExanetSource *src,
                                   const ExanetPacket *pkt)
{
    ExanetRxContext *c = rx_find(s, pkt);

    if (c && !s->strict &&
        RNIC_GET(EXANET_TID_GEN, c->tid) != pkt_gen(pkt)) {
        unsigned ahead = (pkt_gen(pkt) - RNIC_GET(EXANET_TID_GEN, c->tid)) %
                         GEN_COUNT;

        if (ahead >= GEN_COUNT / 2 &&
            s->time - c->time <= EXANET_TID_AGE_NS) {
            exanet_count(s, RX_OLD_GEN);
            return NULL;
        }
        rx_start(s, c, pkt);
    }
    if (!c) {
        c = rx_alloc(s, pkt);
        if (!c) {
            rx_refuse(s, src, pkt, EXANET_RESP_NO_CONTEXT);
            return NULL;
        }
    }
    if (s->time - c->time > EXANET_TID_AGE_NS) {
        rx_start(s, c, pkt);        /* nobody works on that block any more */
    }
    if (pkt->seq < c->seq) {
        exanet_count(s, RX_OLD_SEQ);
        return NULL;
    }
    if (pkt->seq > c->seq) {
        /* of another target even, if the source had to give the last one up */
        rx_start(s, c, pkt);
    }
    /* a nacked block waits for its retransmission */
    return c->nack ? NULL : c;
}

/* The protocol as published writes first and asks later [T §6.1]. */
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
    ExanetSource *src = source_get(s, pkt->src, pkt->epoch);
    enum exanet_resp resp = exanet_context_check(s, pkt->pdid);
    ExanetRxContext *c;
    bool written;

    trace_exanet_receiver_parse(s->node, pkt->src, pkt->type, pkt->tid,
                                pkt->seq, pkt->va, pkt->size);
    if (resp != EXANET_RESP_ACK) {
        exanet_count(s, DROP_PROTECTION);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
        rx_refuse(s, src, pkt, resp);
        return;
    }
    if (!s->strict && tomb_check(s, src, pkt)) {
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
        resp = EXANET_RESP_CRC;
    } else if (pkt->type == EXANET_TYPE_CONTROL) {
        resp = rx_control(c, pkt);
    } else {
        resp = rx_data(s, c, pkt, written);
    }
    if (resp != EXANET_RESP_ACK) {
        rx_nack(s, c, pkt, resp);
    } else {
        rx_complete_check(s, src, c, pkt);
    }
}

void exanet_receiver_release(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetRxContext *c = rx_find(s, pkt);

    exanet_count(s, RX_RELEASE);
    if (c && c->tid == pkt->tid && c->seq <= pkt->seq) {
        c->valid = false;
        exanet_count(s, RX_CTX_RELEASED);
    }
}

void exanet_receiver_resolved(ExanetState *s, const ExanetPendingFault *f,
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

    exanet_ack_send(s, &ack);
}

/* --- Packets of packetizers --------------------------------------------- */

static enum exanet_resp message_write(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetPendingFault fault = pkt_fault(pkt, EXANET_FAULT_MESSAGE);
    enum exanet_resp resp;
    uint64_t va;

    resp = exanet_context_window(s, fault.ctx, pkt->va, pkt->size, &va);
    if (resp == EXANET_RESP_ACK) {
        resp = exanet_context_write(s, fault.ctx, va, pkt->payload, pkt->size,
                                    &fault.va);
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
    resp = exanet_context_check(s, pkt->pdid);
    if (resp != EXANET_RESP_ACK) {
        exanet_count(s, DROP_PROTECTION);
        return resp;
    }
    if (RNIC_GET(EXANET_VA_WINDOW, pkt->va) == EXANET_WINDOW_NI) {
        return exanet_mailbox_deliver(s, pkt, 0, false);
    }
    return message_write(s, pkt);
}

void exanet_receiver_message(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetSource *src = source_get(s, pkt->src, pkt->epoch);
    unsigned sender = RNIC_GET(EXANET_PTID_CTX, pkt->tid) *
                      EXANET_PKTZ_CHANNELS +
                      RNIC_GET(EXANET_PTID_CHANNEL, pkt->tid);
    unsigned gen = RNIC_GET(EXANET_PTID_GEN, pkt->tid);
    unsigned ahead = (gen - src->message[sender].gen) % PKTZ_GEN_COUNT;
    enum exanet_resp resp;

    trace_exanet_receiver_parse(s->node, pkt->src, pkt->type, pkt->tid,
                                pkt->seq, pkt->va, pkt->size);
    if (!s->strict && src->message[sender].valid &&
        s->time - src->message[sender].time < PKTZ_AGE_NS) {
        if (ahead == 0 && src->message[sender].done) {
            exanet_count(s, MSG_DUPLICATE);
            receiver_ack(s, pkt, EXANET_RESP_ACK);
            return;
        }
        if (ahead >= PKTZ_GEN_COUNT / 2) {
            exanet_count(s, RX_OLD_GEN);
            return;
        }
    }
    resp = message_deliver(s, pkt);
    /* refused ones count too, or the distance to the next could become anything */
    src->message[sender].time = s->time;
    src->message[sender].gen = gen;
    src->message[sender].valid = true;
    src->message[sender].done = resp == EXANET_RESP_ACK;
    receiver_ack(s, pkt, resp);
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
}

void exanet_receiver_init(ExanetState *s)
{
    s->receiver.sources = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

void exanet_receiver_fini(ExanetState *s)
{
    g_hash_table_destroy(s->receiver.sources);
}
