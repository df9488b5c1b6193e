/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the order of other nodes' stores, and that each is done once.
 *
 * As published a copy that was sent again can be done twice, or after a later store.
 * So stores of a node are taken in the order of their SEQ; RDMA writes in any order.
 */
#include "qemu/osdep.h"
#include "../exanet.h"
#include "internal.h"
#include "order.h"
#include "../base/wire.h"
#include "../trace.h"

#define SEQ_MASK ((1u << EXANET_SHM_SEQ_BITS) - 1)
#define SEQ_HALF (1u << (EXANET_SHM_SEQ_BITS - 1))
/*
 * What a node gave up since its last one may have taken so many numbers, and more in
 * time; a copy that comes late is one of many more numbers ago.
 */
#define SEQ_NEAR EXANET_SHM_SPAN
#define SEQ_NEAR_PER_MS 2
/*
 * A node that had to give up very many stores comes back with a SEQ that looks like an
 * old one.  After so long without any, only what may still be under way there is old.
 */
#define SEQ_AGE_NS (10 * (int64_t)NANOSECONDS_PER_SECOND)
#define SEQ_UNDER_WAY 128

static unsigned pkt_class(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_STID_CLASS, pkt->tid);
}

static unsigned seq_distance(unsigned from, unsigned to)
{
    return (to - from) & SEQ_MASK;
}

/* Whether @pkt, @behind its like, begins anew rather than being an old one. */
static bool order_restart(ExanetState *s, const ExanetShmSource *o,
                          const ExanetPacket *pkt, unsigned behind)
{
    return pkt->first && behind > SEQ_UNDER_WAY &&
           s->time - o->time > SEQ_AGE_NS;
}

/* Whether @pkt, @ahead of what would be next, may be a new one. */
static bool order_new(ExanetState *s, const ExanetShmSource *o, unsigned ahead)
{
    uint64_t near = SEQ_NEAR + (s->time - o->time) / SCALE_MS * SEQ_NEAR_PER_MS;

    return ahead < SEQ_HALF && ahead <= near;
}

/* Stores come one behind the other; FIRST: what was before it is over. */
static ExanetShmOrder order_store(ExanetState *s, const ExanetShmSource *o,
                                  const ExanetPacket *pkt)
{
    unsigned ahead = seq_distance(o->store, pkt->seq);
    unsigned behind = seq_distance(pkt->seq, o->store);

    if (!o->store_known) {
        return pkt->first ? EXANET_SHM_TAKE : EXANET_SHM_EARLY;
    }
    if (!ahead || (pkt->first && order_new(s, o, ahead)) ||
        order_restart(s, o, pkt, behind)) {
        return EXANET_SHM_TAKE;
    }
    return behind <= EXANET_SHM_SPAN ? EXANET_SHM_AGAIN : EXANET_SHM_EARLY;
}

/* RDMA writes come in any order. */
static ExanetShmOrder order_rdma(ExanetState *s, const ExanetShmSource *o,
                                 const ExanetPacket *pkt)
{
    unsigned ahead = seq_distance(o->rdma, pkt->seq);
    unsigned behind = seq_distance(pkt->seq, o->rdma);

    if (!o->rdma_known || order_new(s, o, ahead)) {
        return EXANET_SHM_TAKE;
    }
    if (behind <= EXANET_SHM_WINDOW) {
        return test_bit(pkt->seq % EXANET_SHM_WINDOW, o->rdma_done) ?
               EXANET_SHM_AGAIN : EXANET_SHM_TAKE;
    }
    return order_restart(s, o, pkt, behind) ? EXANET_SHM_TAKE : EXANET_SHM_EARLY;
}

/* The window reaches to RDMA write @seq, and with @first all before it are over. */
static void rdma_slide(ExanetShmSource *o, unsigned seq, bool first)
{
    unsigned behind = seq_distance(seq, o->rdma);

    if (!o->rdma_known || (behind > EXANET_SHM_WINDOW &&
                           behind < SEQ_MASK + 1 - EXANET_SHM_WINDOW)) {
        bitmap_zero(o->rdma_done, EXANET_SHM_WINDOW);
        o->rdma = seq;
    }
    while (seq_distance(o->rdma, seq) < SEQ_HALF) {
        clear_bit(o->rdma % EXANET_SHM_WINDOW, o->rdma_done);
        o->rdma = (o->rdma + 1) & SEQ_MASK;
    }
    behind = seq_distance(seq, o->rdma);
    for (unsigned i = behind + 1; first && i <= EXANET_SHM_WINDOW; i++) {
        set_bit((o->rdma - i) % EXANET_SHM_WINDOW, o->rdma_done);
    }
    o->rdma_known = true;
}

/*
 * @pkt may be done now.  Even if it fails, its number was used: those that fail must not
 * make the next one look like an old one.
 */
static void order_move(ExanetState *s, ExanetShmSource *o, const ExanetPacket *pkt)
{
    if (pkt_class(pkt) == EXANET_SHM_STORE) {
        o->store = pkt->seq & SEQ_MASK;
        o->store_known = true;
        o->time = s->time;
    } else if (pkt_class(pkt) == EXANET_SHM_RDMA_WRITE) {
        rdma_slide(o, pkt->seq, pkt->first);
        o->time = s->time;
    }
}

ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt)
{
    ExanetShmOrder order = EXANET_SHM_TAKE;

    if (!(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER)) {
        /* what comes now is not looked at, so that it would be wrong later */
        o->store_known = o->rdma_known = false;
    } else if (pkt_class(pkt) == EXANET_SHM_STORE) {
        order = order_store(s, o, pkt);
    } else if (pkt_class(pkt) == EXANET_SHM_RDMA_WRITE) {
        order = order_rdma(s, o, pkt);
    }
    if (order == EXANET_SHM_TAKE) {
        if (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER) {
            order_move(s, o, pkt);
        }
    } else if (order == EXANET_SHM_EARLY) {
        exanet_count(s, SHM_EARLY_STORE);
        trace_exanet_order_early(s->node, pkt->src, pkt->seq, o->store);
    } else {
        exanet_count(s, SHM_DUPLICATE);
        trace_exanet_order_again(s->node, pkt->src, pkt->tid, pkt->seq);
    }
    return order;
}

void exanet_shm_order_refused(ExanetState *s, ExanetShmSource *o,
                              const ExanetPacket *pkt)
{
    unsigned class = pkt_class(pkt);

    if (!(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER) || !pkt->first ||
        pkt->type != EXANET_TYPE_AXI_WRITE) {
        return;
    }
    if ((class == EXANET_SHM_STORE &&
         order_store(s, o, pkt) == EXANET_SHM_TAKE) ||
        (class == EXANET_SHM_RDMA_WRITE &&
         order_rdma(s, o, pkt) == EXANET_SHM_TAKE)) {
        order_move(s, o, pkt);
    }
}

void exanet_shm_order_note(ExanetState *s, ExanetShmSource *o,
                           const ExanetPacket *pkt)
{
    if (!(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER)) {
        return;
    }
    if (pkt_class(pkt) == EXANET_SHM_STORE) {
        o->store = (pkt->seq + 1) & SEQ_MASK;
        o->store_known = true;
    } else if (pkt_class(pkt) == EXANET_SHM_RDMA_WRITE) {
        rdma_slide(o, pkt->seq, pkt->first);
        set_bit(pkt->seq % EXANET_SHM_WINDOW, o->rdma_done);
    }
}
