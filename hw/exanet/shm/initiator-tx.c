/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the initiator sends packets from two queues, one for loads and
 * stores and one for RDMA.  The packets of a queue to one node leave in the order of the
 * queue.
 */
#include "qemu/osdep.h"
#include "../base/wire.h"
#include "../net/flow.h"
#include "../net/net.h"
#include "initiator-internal.h"
#include "../trace.h"

#define SENDS_PER_RUN       64
/*
 * with PRIORITY of SHM_CTRL: limit of packets of QUEUE_SHARED between two packets of
 * QUEUE_RDMA while both queues have a packet that can leave
 */
#define PRIORITY_ROW        7

/* Builds the next copy of @t in @buf.  Returns the length of the packet in words. */
static unsigned encode(ExanetState *s, const ExanetTransaction *t, uint8_t *buf,
                       unsigned path)
{
    ExanetPacket pkt = {
        .type = exanet_transaction_writes(t->req.class) ? EXANET_TYPE_AXI_WRITE :
                                         EXANET_TYPE_AXI_READ,
        .dst = t->node->coord,
        .va = RNIC_GET(EXANET_GVA_VA, t->req.gva),
        .size = t->req.size,
        .src = s->node,
        .epoch = s->epoch,
        .pdid = t->req.pdid,
        .tid = t->tid,
        .seq = t->seq,
        .user = RNIC_PREP(EXANET_SHM_USER_RETRIES, MIN(t->copies - 1, 15)) |
                (unlikely(s->shm->timing) && t->req.joined ?
                 EXANET_SHM_USER_JOINED : 0),
        .ttl = EXANET_TTL_MAX,
        .path = path,
        .first = exanet_transaction_oldest(s->shm->initiator, t),
        .last = true,
    };

    if (exanet_transaction_writes(t->req.class)) {
        memcpy(exanet_packet_payload(buf, pkt.va), t->data, pkt.size);
    }
    return exanet_packet_encode(buf, &pkt);
}

/*
 * Sends the next copy of @t.  Returns false if the copy cannot leave now: the rate of an
 * RDMA flow does not permit the copy, the time of the copy is not reached (timing), or
 * exanet_net_open() gives no buffer.  Calls exanet_net_send() last, because a packet for
 * this node may arrive at the target of this node inside this call.
 */
static bool send_copy(ExanetState *s, ExanetTransaction *t)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned path = exanet_shm_node_path(s, t->node);
    ExanetOpen place;
    bool rdma = exanet_transaction_queue(t->req.class) == QUEUE_RDMA;
    unsigned words;

    if ((rdma && !exanet_flow_may_send(s, t->node->coord)) ||
        !exanet_timing_due(s, t->timing.ready) ||
        !exanet_net_open(s, t->node->coord, path | EXANET_PATH_STEADY, &place)) {
        return false;
    }
    exanet_timing_leave(s, place.route, &t->timing);
    exanet_transaction_dequeue(ini, t);
    if (unlikely(t->early)) {
        t->early = false;
        t->answer_at = exanet_timing_after(s, EXANET_TIMING_EARLY);
        exanet_transaction_answer(s, t);
    }
    if (t->copies) {
        exanet_count(s, SHM_REISSUE);
    }
    t->copies += t->copies < UINT16_MAX;
    t->sent = rnic_now();
    exanet_transaction_arm(ini, t, t->sent + exanet_shm_node_timeout(s, t->node));
    words = encode(s, t, place.buf, path);
    trace_exanet_initiator_send(s->node, t->node->coord, t->tid, t->seq,
                                t->copies);
    if (rdma) {
        exanet_flow_sent(s, t->node->coord, words);
    }
    exanet_net_send(s, &place, words);
    return true;
}

/*
 * Returns the first transaction of queue @q whose node has no copy of @q that was blocked
 * in this run (ShmNode.blocked), or NULL.
 */
static ExanetTransaction *queue_first(ExanetInitiator *ini, unsigned q)
{
    ExanetTransaction *t;

    QTAILQ_FOREACH(t, &ini->queue[q], send) {
        if (t->node->blocked[q] != ini->run) {
            return t;
        }
    }
    return NULL;
}

/*
 * Returns the transaction, from either queue, of which a copy must be sent next.  Returns
 * NULL if no transaction of the two queues can be sent now.
 */
static ExanetTransaction *send_choose(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    ExanetTransaction *shared = queue_first(ini, QUEUE_SHARED);
    ExanetTransaction *rdma = queue_first(ini, QUEUE_RDMA);

    if (!shared || !rdma) {
        return shared ?: rdma;
    }
    if (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_PRIORITY) {
        return ini->shared_row < PRIORITY_ROW ? shared : rdma;
    }
    return shared->serial < rdma->serial ? shared : rdma;
}

bool exanet_initiator_send(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned sent = 0;
    ExanetTransaction *t;

    ini->run++;
    while ((t = send_choose(s))) {
        unsigned q = exanet_transaction_queue(t->req.class);

        if (sent == SENDS_PER_RUN) {
            return true;
        }
        if (send_copy(s, t)) {
            ini->shared_row = q == QUEUE_SHARED ? ini->shared_row + 1 : 0;
            sent++;
        } else {
            t->node->blocked[q] = ini->run;
        }
    }
    return false;
}
