/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: decides whether a request of a node must be executed, so that
 * the stores of the node are executed in order, and copies are not executed again.
 *
 * With the published protocol, a retransmitted copy can make the target execute a store a
 * second time, also after a later store.  So with ORDER of SHM_CTRL the target executes
 * the stores of a node in the order of SEQ.  For RDMA writes, the target only recognizes
 * copies; the RDMA writes of a node are executed in any order.
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
 * A new write may have a SEQ above the expected SEQ, because writes that the node has
 * given up may never have arrived.  The limit of this step is SEQ_NEAR, plus
 * SEQ_NEAR_PER_MS for each ms since the last new write: the limit assumes that a node
 * gives up no more writes in this time.
 */
#define SEQ_NEAR EXANET_SHM_SPAN
#define SEQ_NEAR_PER_MS 2
/*
 * A node that gave up very many stores continues with a SEQ that looks like an old SEQ.
 * SEQ_AGE_NS, ns: if the node has sent no new store or RDMA write for this time, a write
 * with FIRST is old only if its SEQ is one of the last SEQ_OUTSTANDING numbers.
 */
#define SEQ_AGE_NS (10 * (int64_t)NANOSECONDS_PER_SECOND)
#define SEQ_OUTSTANDING 128

static unsigned pkt_class(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_STID_CLASS, pkt->tid);
}

/* Returns the number of steps from SEQ @from up to SEQ @to.  SEQ wraps around. */
static unsigned seq_distance(unsigned from, unsigned to)
{
    return (to - from) & SEQ_MASK;
}

/*
 * Returns true if @pkt is new although its SEQ is @behind numbers below the expected SEQ,
 * because the node has skipped very many numbers.
 */
static bool order_restart(ExanetState *s, const ExanetShmSource *o,
                          const ExanetPacket *pkt, unsigned behind)
{
    return pkt->first && behind > SEQ_OUTSTANDING &&
           s->time - o->time > SEQ_AGE_NS;
}

/*
 * Returns true if a write may be new whose SEQ is @ahead numbers above the expected SEQ.
 */
static bool order_new(ExanetState *s, const ExanetShmSource *o, unsigned ahead)
{
    uint64_t near = SEQ_NEAR + (s->time - o->time) / SCALE_MS * SEQ_NEAR_PER_MS;

    return ahead < SEQ_HALF && ahead <= near;
}

/*
 * Compares store @pkt with the earlier stores of its node, and changes nothing.  FIRST in
 * @pkt means that all older stores have ended.
 */
static ExanetShmOrder order_store(ExanetState *s, const ExanetShmSource *o,
                                  const ExanetPacket *pkt)
{
    unsigned ahead = seq_distance(o->store, pkt->seq);
    unsigned behind = seq_distance(pkt->seq, o->store);

    if (!o->store_valid) {
        return pkt->first ? EXANET_SHM_NEW : EXANET_SHM_AHEAD;
    }
    if (!ahead || (pkt->first && order_new(s, o, ahead)) ||
        order_restart(s, o, pkt, behind)) {
        return EXANET_SHM_NEW;
    }
    return behind <= EXANET_SHM_SPAN ? EXANET_SHM_DUPLICATE : EXANET_SHM_AHEAD;
}

/* Compares RDMA write @pkt with the earlier writes of its node, and changes nothing. */
static ExanetShmOrder order_rdma(ExanetState *s, const ExanetShmSource *o,
                                 const ExanetPacket *pkt)
{
    unsigned ahead = seq_distance(o->rdma, pkt->seq);
    unsigned behind = seq_distance(pkt->seq, o->rdma);

    if (!o->rdma_valid || order_new(s, o, ahead)) {
        return EXANET_SHM_NEW;
    }
    if (behind <= EXANET_SHM_WINDOW) {
        return test_bit(pkt->seq % EXANET_SHM_WINDOW, o->rdma_done) ?
               EXANET_SHM_DUPLICATE : EXANET_SHM_NEW;
    }
    return order_restart(s, o, pkt, behind) ? EXANET_SHM_NEW : EXANET_SHM_AHEAD;
}

/*
 * Moves @rdma and @rdma_done of @o so that @rdma_done has a bit for RDMA write @seq.  If
 * @first is true, all older RDMA writes of the node have ended, and count as executed.
 */
static void rdma_slide(ExanetShmSource *o, unsigned seq, bool first)
{
    unsigned behind = seq_distance(seq, o->rdma);

    if (!o->rdma_valid || (behind > EXANET_SHM_WINDOW &&
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
    o->rdma_valid = true;
}

/*
 * Records the SEQ of write @pkt in @o, before @pkt is executed or when @pkt is refused.
 * Does so even if @pkt fails later, because after many failures the SEQ of the next write
 * would otherwise be too far away.  Does not record that @pkt was executed.  Does nothing
 * for loads and RDMA reads.
 */
static void order_advance(ExanetState *s, ExanetShmSource *o, const ExanetPacket *pkt)
{
    if (pkt_class(pkt) == EXANET_SHM_STORE) {
        o->store = pkt->seq & SEQ_MASK;
        o->store_valid = true;
        o->time = s->time;
    } else if (pkt_class(pkt) == EXANET_SHM_RDMA_WRITE) {
        rdma_slide(o, pkt->seq, pkt->first);
        o->time = s->time;
    }
}

ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt)
{
    ExanetShmOrder order = EXANET_SHM_NEW;

    if (!(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER)) {
        /* requests are not recorded now, so the saved numbers are not valid later */
        o->store_valid = o->rdma_valid = false;
    } else if (pkt_class(pkt) == EXANET_SHM_STORE) {
        order = order_store(s, o, pkt);
    } else if (pkt_class(pkt) == EXANET_SHM_RDMA_WRITE) {
        order = order_rdma(s, o, pkt);
    }
    if (order == EXANET_SHM_NEW) {
        if (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER) {
            order_advance(s, o, pkt);
        }
    } else if (order == EXANET_SHM_AHEAD) {
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
         order_store(s, o, pkt) == EXANET_SHM_NEW) ||
        (class == EXANET_SHM_RDMA_WRITE &&
         order_rdma(s, o, pkt) == EXANET_SHM_NEW)) {
        order_advance(s, o, pkt);
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
        o->store_valid = true;
    } else if (pkt_class(pkt) == EXANET_SHM_RDMA_WRITE) {
        rdma_slide(o, pkt->seq, pkt->first);
        set_bit(pkt->seq % EXANET_SHM_WINDOW, o->rdma_done);
    }
}
