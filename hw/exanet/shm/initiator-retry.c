/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: responses to loads and stores, and retransmission.
 *
 * With ORDER of SHM_CTRL, a target executes the stores of a node in order, and drops a
 * store without a response if an older store is missing.  So a store that was refused or
 * has timed out is retransmitted with all younger stores to its node (go back N).  If
 * ORDER is not in effect at this node, the store is retransmitted alone [T §4.4].
 */
#include "qemu/osdep.h"
#include "../../core/backoff.h"
#include "initiator-internal.h"
#include "shm.h"
#include "../trace.h"

#define BACKOFF_NS          (50 * SCALE_US)
#define BACKOFF_MAX_NS      (10 * SCALE_MS)
#define BACKOFF_SHIFT_MAX   8
/* No temporary refusal ends a load or store within this time, ns, after the issue. */
#define REFUSED_MAX_NS      (10LL * NANOSECONDS_PER_SECOND)

/* --- Retransmission ---------------------------------------------------------------- */

/*
 * Returns the oldest store to the node of @t with a serial of at least @from, or NULL.
 * Rejected stores do not count.
 */
static ExanetTransaction *next_store(ExanetInitiator *ini, const ExanetTransaction *t,
                                     uint64_t from)
{
    ExanetTransaction *next = NULL;

    EXANET_FOREACH_OF(o, ini, EXANET_SHM_STORE) {
        if (o->node == t->node && !o->rejected && o->serial >= from &&
            (!next || o->serial < next->serial)) {
            next = o;
        }
    }
    return next;
}

/*
 * Queues another copy of @t.  If @t is a store and ORDER is in effect, also queues copies
 * of all younger stores to the same node, because the target may have dropped these
 * stores.
 */
static void retransmit(ExanetState *s, ExanetTransaction *t)
{
    ExanetInitiator *ini = s->shm->initiator;

    if (t->req.class != EXANET_SHM_STORE ||
        !(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER)) {
        exanet_transaction_enqueue(s, t);
        return;
    }
    for (ExanetTransaction *n = t; n; n = next_store(ini, t, n->serial + 1)) {
        exanet_transaction_enqueue(s, n);
    }
}

/*
 * Returns true if @t, which was refused or has timed out, must not be retransmitted any
 * more.  A transaction with a dead node is not retransmitted after a timeout.
 */
static bool must_give_up(ExanetState *s, const ExanetTransaction *t, int64_t now)
{
    unsigned limit = t->node->dead ? 0 :
                     exanet_shm_get32(s, EXANET_REG_SHM_RETRY_MAX);

    return t->refused ? t->refusals > limit && now - t->since >= REFUSED_MAX_NS :
                        t->timeouts > limit;
}

/*
 * If @t was refused, ends @t with the refusal in @t->resp.  Otherwise ends @t with
 * NO_CONTEXT and marks the node as dead.
 */
static void give_up(ExanetState *s, ExanetTransaction *t)
{
    if (t->refused) {
        exanet_transaction_fail(s, t, t->resp, t->resp);
    } else {
        t->node->dead = true;
        exanet_transaction_fail(s, t, EXANET_RESP_NO_CONTEXT, EXANET_RESP_ACK);
    }
}

void exanet_transaction_drain(ExanetInitiator *ini, ExanetTransaction *t)
{
    if (t->req.class == EXANET_SHM_RDMA_WRITE && t->copies) {
        t->node->drain_serial = ini->serial;
    }
}

/*
 * Handles a deadline of @t that has passed: ends an RDMA transaction, ends a load or
 * store if must_give_up() is true, or retransmits @t.  If @t was not refused, counts a
 * timeout, changes the node's path, and increments @shift of the node up to its limit.
 */
static void expire(ExanetState *s, ExanetTransaction *t, int64_t now)
{
    ShmNode *node = t->node;

    if (!t->refused) {
        exanet_count(s, SHM_TIMEOUT);
        node->path++;
        node->shift = MIN(node->shift + 1, SHM_NODE_SHIFT_MAX);
        t->timeouts += t->timeouts < UINT16_MAX;
    }
    if (exanet_transaction_queue(t->req.class) == QUEUE_RDMA) {
        exanet_transaction_drain(s->shm->initiator, t);
        exanet_transaction_finish(s, t, t->refused ? t->resp : EXANET_RESP_NO_CONTEXT,
                                  NULL);
    } else if (must_give_up(s, t, now)) {
        give_up(s, t);
    } else {
        exanet_transaction_arm(s->shm->initiator, t,
                               now + exanet_shm_node_timeout(s, node));
        retransmit(s, t);
    }
}

/*
 * Returns true if an older store to the node must be handled before store @t, because the
 * target may have dropped @t only because the older store was missing.
 */
static bool waits_for_older(ExanetState *s, const ExanetTransaction *t)
{
    return t->req.class == EXANET_SHM_STORE && !t->refused &&
           (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER) &&
           !exanet_transaction_oldest(s->shm->initiator, t);
}

void exanet_initiator_expire(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    int64_t now = rnic_now();
    int64_t next = INT64_MAX;
    bool more = true;

    ini->due = false;
    rnic_deadline_hold(&ini->deadline);
    while (more) {
        more = false;
        EXANET_FOREACH(t, ini) {
            if (t->deadline <= now && !waits_for_older(s, t)) {
                expire(s, t, now);
                more = true;
            }
        }
    }
    EXANET_FOREACH(t, ini) {
        if (t->deadline <= now) {
            t->deadline = now + exanet_shm_node_timeout(s, t->node);
        }
        next = MIN(next, t->deadline);
    }
    rnic_deadline_release(&ini->deadline, next);
}

/* --- Responses ------------------------------------------------------------ */

/*
 * Stores in *@resp the response of @pkt to @t, or CRC if the data of a read is damaged.
 * Returns false if the size or the address of @pkt does not fit @t.
 */
static bool response_valid(const ExanetTransaction *t, const ExanetPacket *pkt,
                           enum exanet_resp *resp)
{
    *resp = RNIC_GET(EXANET_SHM_USER_RESP, pkt->user);
    if (*resp != EXANET_RESP_ACK || exanet_transaction_writes(t->req.class)) {
        return pkt->size == 0;
    }
    if (pkt->size != t->req.size ||
        (pkt->va ^ t->req.gva) % EXANET_MTU) {
        return false;
    }
    if (pkt->bad_payload) {
        *resp = EXANET_RESP_CRC;
    }
    return true;
}

/* Returns the transaction that @pkt answers, or NULL if there is no such transaction. */
static ExanetTransaction *response_match(ExanetInitiator *ini, const ExanetPacket *pkt)
{
    unsigned class = RNIC_GET(EXANET_STID_CLASS, pkt->tid);
    unsigned slot = RNIC_GET(EXANET_STID_SLOT, pkt->tid);
    ExanetTransaction *t;

    if (slot >= exanet_shm_slots[class]) {
        return NULL;
    }
    t = &ini->slot[class][slot];
    return t->node && t->copies && t->tid == pkt->tid && t->seq == pkt->seq &&
           t->node->coord == pkt->src ? t : NULL;
}

/* Returns the delay, ns, before @t is retransmitted after refusal @resp; 0: no delay. */
static int64_t refused_delay(ExanetState *s, const ExanetTransaction *t,
                             enum exanet_resp resp)
{
    switch (resp) {
    case EXANET_RESP_CRC:
        return 0;
    case EXANET_RESP_FAULT:
        return exanet_shm_node_timeout(s, t->node);
    default:
        return rnic_backoff(BACKOFF_NS, t->refusals, BACKOFF_SHIFT_MAX,
                            BACKOFF_MAX_NS);
    }
}

/*
 * Handles refusal @resp of @t, which may be temporary.  After FAULT, an RDMA transaction
 * waits for a second response until the deadline; any other refusal ends the RDMA
 * transaction.  A load or store is retransmitted, perhaps after a delay, or given up.
 * The function ignores a refusal of a load or store while another copy is queued, and a
 * refusal, other than RESOLVED, of a copy that is not the last copy.
 */
static void response_refused(ExanetState *s, ExanetTransaction *t,
                             const ExanetPacket *pkt, enum exanet_resp resp)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned copy = RNIC_GET(EXANET_SHM_USER_RETRIES, pkt->user);
    int64_t delay;

    if (exanet_transaction_queue(t->req.class) == QUEUE_RDMA) {
        if (resp != EXANET_RESP_FAULT) {
            exanet_transaction_finish(s, t, resp, NULL);
            return;
        }
        /* if no other response arrives, the result of @t at the deadline is FAULT */
        t->refused = true;
        t->resp = resp;
        return;
    }
    if (t->queued) {
        return;
    }
    if (resp == EXANET_RESP_RESOLVED) {
        /* if the target sends RESOLVED again and again, the result of @t is FAULT */
        resp = EXANET_RESP_FAULT;
        delay = 0;
    } else if (copy != MIN(t->copies - 1, 15)) {
        return;                     /* a newer copy is under way */
    } else {
        delay = refused_delay(s, t, resp);
    }
    t->refusals += t->refusals < UINT16_MAX;
    t->refused = true;
    t->resp = resp;
    if (must_give_up(s, t, rnic_now())) {
        give_up(s, t);
    } else if (delay) {
        exanet_transaction_arm(ini, t, rnic_now() + delay);
    } else {
        retransmit(s, t);
    }
}

static void response_done(ExanetState *s, ExanetTransaction *t,
                          const ExanetPacket *pkt)
{
    exanet_count(s, SHM_ACK);
    if (t->copies == 1) {
        exanet_shm_node_sample(t->node, rnic_now() - t->sent);
    }
    t->node->shift = 0;
    exanet_transaction_finish(s, t, EXANET_RESP_ACK,
                              exanet_transaction_writes(t->req.class) ? NULL :
                                                                        pkt->payload);
}

/*
 * Returns the job that pays for the node of @req: the job of the context, because a
 * process chooses the PDID, or the job of the PDID if @req has no context.
 */
static unsigned request_job(ExanetState *s, const ExanetShmRequest *req)
{
    return req->ctx < EXANET_CONTEXTS ? exanet_context_job(s, req->ctx) :
                                        RNIC_GET(EXANET_PDID_JOB, req->pdid);
}

void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetInitiator *ini = s->shm->initiator;
    ShmNode *node;
    ExanetTransaction *t;
    enum exanet_resp resp;

    s->awake |= EXANET_AWAKE_SHM;
    if (unlikely(s->shm->timing) && exanet_timing_hold(s, pkt)) {
        return;
    }
    node = exanet_shm_node_find(ini->nodes, pkt->src);
    t = response_match(ini, pkt);
    if (node) {
        /* any response, even a delayed response, shows that the node is alive */
        node->dead = false;
    }
    if (!t || !response_valid(t, pkt, &resp)) {
        exanet_count(s, SHM_STALE);
        return;
    }
    exanet_shm_node_answered(ini->nodes, t->node, request_job(s, &t->req));
    trace_exanet_initiator_response(s->node, pkt->src, t->tid, t->seq, resp);
    switch (resp) {
    case EXANET_RESP_ACK:
        response_done(s, t, pkt);
        return;
    case EXANET_RESP_DECODE:
    case EXANET_RESP_PROTECTION:
    case EXANET_RESP_MALFORMED:
        exanet_count(s, SHM_NACK);
        exanet_transaction_fail(s, t, resp, resp);
        return;
    case EXANET_RESP_CRC:
    case EXANET_RESP_FAULT:
    case EXANET_RESP_NO_CONTEXT:
    case EXANET_RESP_FULL:
    case EXANET_RESP_RESOLVED:
        exanet_count(s, SHM_NACK);
        response_refused(s, t, pkt, resp);
        return;
    default:
        exanet_count(s, SHM_STALE);
    }
}
