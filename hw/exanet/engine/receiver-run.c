/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RDMA receiver: runs.  The packets of a run need one check and one update of the
 * receiver context together, and one translation for each page.  A packet that a check
 * may refuse, and the first packet of a page without a cached translation, are processed
 * alone, by receiver.c.  So a run has the same effects as its packets.
 */
#include "qemu/osdep.h"
#include "context.h"
#include "../exanet.h"
#include "receiver-internal.h"
#include "receiver-source.h"
#include "receiver.h"
#include "segment.h"
#include "../base/wire.h"
#include "../trace.h"

/*
 * Returns true if receiver context @c has no packet of @run yet, and if @run lies between
 * the first and the last packet of the block, if these are known.
 */
static bool rx_run_fits(const ExanetRxContext *c, const ExanetPacket *run)
{
    unsigned idx = exanet_packet_bit(run->va), end = idx + run->packets - 1;
    unsigned first = run->first ? idx : c->first ? c->first_idx : 0;
    unsigned last = run->last ? end : c->last ? c->last_idx : EXANET_BLOCK_PACKETS;

    return !(c->bitmap & exanet_rx_bits(idx, end)) && first <= idx && end <= last;
}

/*
 * Returns the receiver context of @run, and stores the 64-bit address of its packets in
 * *@va.  Returns NULL if the first packet of @run must be processed alone: @run does not
 * continue the copy of a block of which packets have arrived, or a check may refuse the
 * packet.
 */
static ExanetRxContext *rx_run_context(ExanetState *s, const ExanetPacket *run,
                                       uint64_t *va)
{
    const ExanetSource *src = s->receiver.recent;
    ExanetRxContext *c = exanet_rx_find(s, run);
    const ExanetTidRecord *t;

    if (!c || !src || src->coord != run->src || src->epoch != run->epoch ||
        c->tid != run->tid || c->seq != run->seq || c->pdid != run->pdid || c->nack ||
        !c->bitmap || s->time - c->time > EXANET_TID_AGE_NS || !rx_run_fits(c, run)) {
        return NULL;
    }
    t = &src->tomb[exanet_pkt_tid(run)];
    if (t->valid && s->time - t->time <= EXANET_TID_AGE_NS &&
        (exanet_pkt_gen(run) - t->gen) % EXANET_GENERATIONS != 1) {
        return NULL;                /* tomb_check() must decide */
    }
    if (exanet_context_check(s, run->pdid, run->src) != EXANET_RESP_ACK ||
        exanet_context_window(s, RNIC_GET(EXANET_PDID_CTX, run->pdid), run->va,
                              run->packets * EXANET_MTU, va) != EXANET_RESP_ACK ||
        c->window != (*va & ~(uint64_t)(EXANET_BLOCK_BYTES - 1))) {
        return NULL;
    }
    return c;
}

/*
 * Writes the packets of @run before the first page without a cached translation, and
 * records that these packets have arrived.  Ends the block if this makes the block
 * complete.  Returns the number of these packets.  Returns 0 if the first packet of @run
 * must be processed alone.
 */
static unsigned rx_run_take(ExanetState *s, const ExanetPacket *run)
{
    unsigned ctx = RNIC_GET(EXANET_PDID_CTX, run->pdid);
    unsigned idx = exanet_packet_bit(run->va);
    ExanetSource *src = s->receiver.recent;
    unsigned done;
    ExanetRxContext *c;
    ExanetPacket last;
    uint64_t va;

    c = rx_run_context(s, run, &va);
    if (!c) {
        return 0;
    }
    done = exanet_context_cached(s, ctx, va, true, EXANET_MTU, run->packets);
    if (!done) {
        return 0;
    }
    exanet_context_write_cached(s, ctx, va, run->payload, EXANET_MTU, done);
    trace_exanet_receiver_parse(s->node, run->src, run->type, run->tid, run->seq,
                                run->va, done * EXANET_MTU);
    trace_exanet_receiver_scatter(s->node, run->src, run->tid, va,
                                  done * EXANET_MTU,
                                  EXANET_RESP_ACK);
    exanet_run_split(run, done - 1, &last);
    src->time = s->time;
    src->far = run->far ? s->time : src->far;
    c->time = s->time;
    c->user = run->user;
    c->notify |= run->notify;
    c->bitmap |= exanet_rx_bits(idx, idx + done - 1);
    c->bytes += done * EXANET_MTU;
    if (run->first) {
        c->first = true;
        c->first_idx = idx;
    }
    if (last.last) {
        c->last = true;
        c->last_idx = idx + done - 1;
    }
    if (exanet_rx_all(c)) {
        exanet_rx_complete(s, src, c, &last);
    }
    return done;
}

void exanet_receiver_run(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetPacket run = *pkt;

    while (run.packets) {
        unsigned done = rx_run_take(s, &run);

        if (!done) {
            ExanetPacket one;

            exanet_run_split(&run, 0, &one);
            exanet_receiver_rx(s, &one);
            done = 1;
        }
        run.va += done * EXANET_MTU;
        run.payload += done * EXANET_MTU;
        run.packets -= done;
        run.first = false;
    }
}
