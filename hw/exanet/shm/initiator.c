/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the initiator, which sends the loads and stores of this node.
 *
 * A request has a slot until the ACK of the target has arrived, or the request has
 * failed.  Packets wait in two queues, one for loads and stores and one for RDMA.  The
 * packets of a queue to one node leave in the order of the queue.  exanet_shm_issue()
 * sends no packet and calls no master.
 *
 * With ORDER of SHM_CTRL, a target executes the stores of a node in order, and drops a
 * store without a response if an older store is missing.  So initiator-retry.c
 * retransmits a store with all younger stores to its node (go back N).  Without ORDER at
 * this node, initiator-retry.c retransmits the store alone.
 */
#include "qemu/osdep.h"
#include "qemu/queue.h"
#include "../../core/backoff.h"
#include "../../core/deadline.h"
#include "aperture.h"
#include "../engine/context.h"
#include "../net/net.h"
#include "../exanet.h"
#include "../net/flow.h"
#include "../base/regs.h"
#include "initiator-internal.h"
#include "initiator.h"
#include "internal.h"
#include "node.h"
#include "order.h"
#include "timing.h"
#include "shm.h"
#include "../base/wire.h"
#include "../trace.h"

#define ANSWERS_PER_RUN     64
#define LINE_BYTES          64      /* bytes of a line, for SHM_CTRL_RAW and _WAW */
#define SEQ_MASK            ((1u << EXANET_SHM_SEQ_BITS) - 1)

const uint8_t exanet_shm_slots[EXANET_SHM_CLASSES] = {
    [EXANET_SHM_STORE] = EXANET_SHM_TIMERS,
    [EXANET_SHM_LOAD] = EXANET_SHM_LOADS,
    [EXANET_SHM_RDMA_WRITE] = SLOTS_MAX,
    [EXANET_SHM_RDMA_READ] = SLOTS_MAX,
};

/*
 * The SEQ of two writes of a class that are under way to a node differ by less than this.
 */
static const uint16_t spans[EXANET_SHM_CLASSES] = {
    [EXANET_SHM_STORE] = EXANET_SHM_SPAN,
    [EXANET_SHM_RDMA_WRITE] = EXANET_SHM_WINDOW,
};

/* --- Transactions --------------------------------------------------------- */

bool exanet_transaction_oldest(ExanetInitiator *ini, const ExanetTransaction *t)
{
    EXANET_FOREACH_OF(o, ini, t->req.class) {
        if (o->node == t->node && !o->rejected && o->serial < t->serial) {
            return false;
        }
    }
    return true;
}

void exanet_transaction_arm(ExanetInitiator *ini, ExanetTransaction *t, int64_t deadline)
{
    t->deadline = deadline;
    rnic_deadline_at(&ini->deadline, deadline);
}

void exanet_transaction_enqueue(ExanetState *s, ExanetTransaction *t)
{
    ExanetInitiator *ini = s->shm->initiator;
    ExanetTransactions *queue = &ini->queue[exanet_transaction_queue(t->req.class)];

    if (t->refused) {
        /*
         * from now on the timeout of @t runs, even while a blocked cable delays the copy
         */
        t->refused = false;
        exanet_transaction_arm(ini, t, rnic_now() +
                                       exanet_shm_node_timeout(s, t->node));
    }
    if (t->queued) {
        QTAILQ_REMOVE(queue, t, send);
    }
    t->queued = true;
    t->timing = exanet_timing_enter(s, t->node->coord,
                                    exanet_transaction_writes(t->req.class) ?
                                    exanet_timing_flits(t->req.gva, t->req.size) : 0,
                                    t->req.joined);
    QTAILQ_INSERT_TAIL(queue, t, send);
    exanet_shm_schedule(s);
}

void exanet_transaction_dequeue(ExanetInitiator *ini, ExanetTransaction *t)
{
    if (t->queued) {
        t->queued = false;
        QTAILQ_REMOVE(&ini->queue[exanet_transaction_queue(t->req.class)], t, send);
    }
}

void exanet_transaction_answer(ExanetState *s, ExanetTransaction *t)
{
    t->answer = true;
    QTAILQ_INSERT_TAIL(&s->shm->initiator->answers, t, next_answer);
    exanet_shm_schedule(s);
}

void exanet_transaction_finish(ExanetState *s, ExanetTransaction *t,
                               enum exanet_resp resp, const uint8_t *data)
{
    ExanetInitiator *ini = s->shm->initiator;
    ExanetShmRequest req = t->req;
    bool responded = t->responded;

    trace_exanet_initiator_finish(s->node, t->tid, t->seq, resp, t->copies);
    exanet_transaction_dequeue(ini, t);
    if (t->answer) {
        t->answer = false;
        QTAILQ_REMOVE(&ini->answers, t, next_answer);
    }
    exanet_shm_node_end(t->node);
    t->node = NULL;
    ini->busy[req.class]--;
    if (ini->request_waits) {
        ini->request_waits = false;
        exanet_shm_schedule(s);
    }
    if (!responded && req.respond) {
        req.respond(s, req.opaque, resp, data);
    }
    if (exanet_transaction_writes(req.class) && req.settled) {
        req.settled(s, req.opaque, resp);
    }
}

void exanet_transaction_fail(ExanetState *s, ExanetTransaction *t,
                             enum exanet_resp resp, enum exanet_resp code)
{
    if (exanet_transaction_queue(t->req.class) == QUEUE_SHARED && !t->reported) {
        exanet_shm_error(s, t->req.ctx, t->req.gva, t->req.class, code,
                         MAX(t->copies, 1) - 1);
    }
    exanet_transaction_finish(s, t, resp, NULL);
}

/* --- Issue ---------------------------------------------------------------- */

/*
 * Returns true if @a and @b have the same PDID, and have bytes in the same line of
 * LINE_BYTES bytes.
 * Equal addresses with different PDIDs are addresses of different processes.
 */
static bool same_line(const ExanetShmRequest *a, const ExanetShmRequest *b)
{
    return a->pdid == b->pdid &&
           a->gva / LINE_BYTES <= (b->gva + b->size - 1) / LINE_BYTES &&
           b->gva / LINE_BYTES <= (a->gva + a->size - 1) / LINE_BYTES;
}

/* Returns true if same_line() is true for @req and a store under way. */
static bool waits_for_store(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    EXANET_FOREACH_OF(t, ini, EXANET_SHM_STORE) {
        if (same_line(&t->req, req)) {
            return true;
        }
    }
    return false;
}

/*
 * Returns true if the write @req must wait for older writes of its class to its node.
 * The target recognizes executed writes by SEQ.  So the SEQ of @req and of the oldest
 * write under way must differ by less than spans[class].  An RDMA write also waits while
 * an RDMA write to the node is under way whose serial is not above ShmNode.drain_serial.
 */
static bool waits_for_writes(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    uint32_t coord = RNIC_GET(EXANET_GVA_COORD, req->gva);
    ShmNode *node = exanet_shm_node_find(ini->nodes, coord);

    if (!node || !exanet_transaction_writes(req->class) || !ini->busy[req->class]) {
        return false;
    }
    EXANET_FOREACH_OF(t, ini, req->class) {
        if (t->node == node && !t->rejected &&
            ((node->seq[req->class] - t->seq) % (SEQ_MASK + 1) >=
             spans[req->class] ||
             (req->class == EXANET_SHM_RDMA_WRITE &&
              t->serial <= node->drain_serial))) {
            return true;
        }
    }
    return false;
}

/*
 * Returns the number of jobs that have an enabled context but no transaction of @req's
 * class.  The job of @req does not count.  Bit c of @users is set if context c has a
 * transaction of this class.
 */
static unsigned idle_jobs(ExanetState *s, const ExanetShmRequest *req, uint32_t users)
{
    unsigned idle = 0;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        bool counts = s->ctx[c].enabled && !exanet_context_same_job(s, c, req->ctx);

        for (unsigned i = 0; counts && i < EXANET_CONTEXTS; i++) {
            /* a job with several contexts counts at its first enabled context */
            counts = !((users & BIT(i)) || (i < c && s->ctx[i].enabled)) ||
                     !exanet_context_same_job(s, i, c);
        }
        idle += counts;
    }
    return idle;
}

/*
 * Returns true if the job of @req may use no further slot for the load or store @req now.
 * Jobs with an enabled context have equal shares of the slots.  In addition, one slot
 * stays free for each job that uses no slot, because other jobs may have taken their
 * slots when fewer jobs shared the slots.  Loads and stores that wait for a page fault
 * have their slots for seconds, and must not occupy all slots.
 */
static bool share_in_use(ExanetState *s, const ExanetShmRequest *req)
{
    unsigned slots = exanet_shm_slots[req->class];
    unsigned mine = 0;
    uint32_t users = 0;

    if (req->ctx == EXANET_CONTEXTS) {
        return false;
    }
    EXANET_FOREACH_OF(t, s->shm->initiator, req->class) {
        if (t->req.ctx < EXANET_CONTEXTS) {
            users |= BIT(t->req.ctx);
            mine += exanet_context_same_job(s, t->req.ctx, req->ctx);
        }
    }
    return mine >= slots / exanet_context_jobs(s) ||
           s->shm->initiator->busy[req->class] + idle_jobs(s, req, users) >= slots;
}

/* Returns the element of @stalled for the AXI ID and context of @req. */
static uint64_t *stall_of(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    return &ini->stalled[req->axi_id & 63][req->ctx];
}

/*
 * Counts in counter @name that request @req must wait.  A master tries a request in each
 * run.  Successive tries of an AXI ID and context to the same address, with the same
 * counter, count once.
 */
#define STALL(s, req, name) do { \
    uint64_t why_ = (req)->gva ^ (uint64_t)EXANET_CNT_##name << 48; \
    uint64_t *last_ = stall_of((s)->shm->initiator, req); \
    if (*last_ != why_) { \
        *last_ = why_; \
        exanet_count(s, name); \
    } \
} while (0)

static bool must_wait(ExanetState *s, const ExanetShmRequest *req)
{
    ExanetInitiator *ini = s->shm->initiator;
    uint32_t ctrl = exanet_shm_ctrl(s);
    bool shared = exanet_transaction_queue(req->class) == QUEUE_SHARED;

    if (req->class == EXANET_SHM_LOAD && (ctrl & EXANET_SHM_CTRL_RAW) &&
        waits_for_store(ini, req)) {
        STALL(s, req, SHM_RAW_STALL);
    } else if (req->class == EXANET_SHM_STORE &&
               (ctrl & EXANET_SHM_CTRL_WAW) && waits_for_store(ini, req)) {
        STALL(s, req, SHM_WAW_STALL);
    } else if (waits_for_writes(ini, req)) {
        return true;
    } else if (ini->busy[req->class] < exanet_shm_slots[req->class] &&
               !(shared && share_in_use(s, req))) {
        *stall_of(ini, req) = 0;
        return false;
    } else if (req->class == EXANET_SHM_STORE) {
        STALL(s, req, SHM_TIMER_STALL);
    }
    return true;
}

/* Returns a new transaction for @req.  The class of @req must have a free slot. */
static ExanetTransaction *slot_take(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    ExanetTransaction *t = ini->slot[req->class];

    while (t->node) {
        t++;
    }
    ini->busy[req->class]++;
    *t = (ExanetTransaction) { .req = *req, .serial = ++ini->serial };
    t->req.data = t->data;
    t->tid = RNIC_PREP(EXANET_STID_CLASS, req->class) |
             RNIC_PREP(EXANET_STID_SLOT, t - ini->slot[req->class]) |
             RNIC_PREP(EXANET_STID_ID, req->axi_id);
    if (exanet_transaction_writes(req->class)) {
        memcpy(t->data, req->data, req->size);
    }
    return t;
}

static void count_issued(ExanetState *s, unsigned class)
{
    switch (class) {
    case EXANET_SHM_STORE:
        exanet_count(s, SHM_STORE);
        break;
    case EXANET_SHM_LOAD:
        exanet_count(s, SHM_LOAD);
        break;
    case EXANET_SHM_RDMA_WRITE:
        exanet_count(s, SHM_RDMA_WRITE);
        break;
    case EXANET_SHM_RDMA_READ:
        exanet_count(s, SHM_RDMA_READ);
        break;
    }
}

static bool issue_enabled(ExanetState *s)
{
    return s->enabled && (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ENABLE);
}

/*
 * Returns true if @req is permitted.  The device and the unit must be enabled.  If @req
 * has a context whose job is local, @req must also be for this node.
 */
static bool issue_allowed(ExanetState *s, const ExanetShmRequest *req)
{
    return issue_enabled(s) &&
           (req->ctx >= EXANET_CONTEXTS || !s->ctx[req->ctx].local ||
            RNIC_GET(EXANET_GVA_COORD, req->gva) == s->node);
}

bool exanet_shm_issue(ExanetState *s, const ExanetShmRequest *req)
{
    static ShmNode never_sent;          /* node of requests without an entry in @nodes */
    ExanetInitiator *ini = s->shm->initiator;
    int64_t now = rnic_now();
    bool allowed = issue_allowed(s, req);
    ShmNode *node = NULL;
    ExanetTransaction *t;

    if (ini->aborting || must_wait(s, req)) {
        ini->request_waits = true;
        return false;
    }
    if (allowed) {
        node = exanet_shm_node_begin(ini->nodes,
                                     RNIC_GET(EXANET_GVA_COORD, req->gva),
                                     req->ctx, now);
    }
    t = slot_take(ini, req);
    if (node) {
        t->node = node;
    } else {
        t->node = &never_sent;
        never_sent.busy++;
    }
    t->since = now;
    t->deadline = INT64_MAX;
    count_issued(s, req->class);
    if (!node || exanet_shm_node_unreachable(s, node)) {
        t->rejected = true;
        t->resp = !allowed ? EXANET_RESP_PROTECTION :
                  !node ? EXANET_RESP_FULL : EXANET_RESP_NO_CONTEXT;
        exanet_transaction_answer(s, t);
        return true;
    }
    t->seq = node->seq[req->class]++ & SEQ_MASK;
    trace_exanet_initiator_issue(s->node, t->tid, t->seq, req->gva, req->size);
    /* the deadline also limits the time of @t in the queue */
    exanet_transaction_arm(ini, t, now + exanet_shm_node_timeout(s, node));
    exanet_transaction_enqueue(s, t);
    if (exanet_transaction_writes(req->class) && req->early &&
        (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_EARLY)) {
        exanet_count(s, SHM_EARLY_ACK);
        if (unlikely(s->shm->timing)) {
            t->early = true;
        } else {
            exanet_transaction_answer(s, t);
        }
    }
    return true;
}

void exanet_shm_reported(ExanetState *s, const void *opaque)
{
    EXANET_FOREACH(t, s->shm->initiator) {
        if (t->req.opaque == opaque) {
            t->reported = true;
        }
    }
}

/*
 * Delivers early responses, and failures of rejected requests, to the masters.  Returns
 * true if another answer may be ready now.
 */
static bool answers_run(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    ExanetTransaction *t;

    for (unsigned i = 0; i < ANSWERS_PER_RUN; i++) {
        t = QTAILQ_FIRST(&ini->answers);
        if (!t || !exanet_timing_due(s, t->answer_at)) {
            return false;
        }
        QTAILQ_REMOVE(&ini->answers, t, next_answer);
        t->answer = false;
        if (t->rejected) {
            exanet_transaction_fail(s, t, t->resp, t->resp == EXANET_RESP_NO_CONTEXT ?
                                    EXANET_RESP_ACK : t->resp);
        } else {
            t->responded = true;
            if (t->req.respond) {
                t->req.respond(s, t->req.opaque, EXANET_RESP_ACK, NULL);
            }
        }
    }
    return true;
}

bool exanet_initiator_run(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    bool more;

    if (ini->due) {
        exanet_initiator_expire(s);
    }
    more = answers_run(s);
    more |= exanet_initiator_send(s);
    exanet_shm_wake(s, !QTAILQ_EMPTY(&ini->answers) ||
                       !QTAILQ_EMPTY(&ini->queue[QUEUE_SHARED]) ||
                       !QTAILQ_EMPTY(&ini->queue[QUEUE_RDMA]));
    return more;
}

/* --- Registers ------------------------------------------------------------ */

unsigned exanet_shm_stores(ExanetState *s, unsigned c)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned stores = 0;

    if (!ini) {
        return 0;
    }
    EXANET_FOREACH(t, ini) {
        stores += t->req.ctx == c && exanet_transaction_writes(t->req.class);
    }
    return stores + exanet_aperture_stores(s, c);
}

void exanet_initiator_fence(ExanetState *s)
{
    EXANET_FOREACH(t, s->shm->initiator) {
        t->fenced = exanet_transaction_writes(t->req.class);
    }
    exanet_aperture_fence(s);
}

static void timer_sync(ExanetState *s, unsigned n)
{
    const ExanetTransaction *t = &s->shm->initiator->slot[EXANET_SHM_STORE][n];
    uint64_t timer = 0;

    if (t->node) {
        timer = EXANET_SHM_TIMER_BUSY |
                RNIC_PREP(EXANET_SHM_TIMER_RETRIES,
                          MIN(MAX(t->copies, 1) - 1, 255)) |
                RNIC_PREP(EXANET_SHM_TIMER_TID, t->tid) |
                (t->responded ? EXANET_SHM_TIMER_EARLY : 0);
    }
    exanet_reg_set64(s, EXANET_SHM_TIMER(n) + EXANET_REG_SHM_TIMER, timer);
    exanet_reg_set64(s, EXANET_SHM_TIMER(n) + EXANET_REG_SHM_TIMER_GVA,
                     t->node ? t->req.gva : 0);
}

void exanet_initiator_reg_sync(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    uint32_t status = RNIC_PREP(EXANET_SHM_STATUS_TIMERS,
                                ini->busy[EXANET_SHM_STORE]);
    bool fence = exanet_aperture_fenced(s);

    if (ini->busy[EXANET_SHM_STORE] + ini->busy[EXANET_SHM_RDMA_WRITE]) {
        status |= EXANET_SHM_STATUS_STORES;
    }
    if (ini->busy[EXANET_SHM_LOAD] + ini->busy[EXANET_SHM_RDMA_READ]) {
        status |= EXANET_SHM_STATUS_LOADS;
    }
    if (exanet_shm_get32(s, EXANET_REG_SHM_ERR_INFO) & EXANET_SHM_ERR_VALID) {
        status |= EXANET_SHM_STATUS_ERROR;
    }
    EXANET_FOREACH(t, ini) {
        fence |= t->fenced;
    }
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_SHM_STATUS, status);
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_SHM_FENCE, fence);
    for (unsigned n = 0; n < EXANET_SHM_TIMERS; n++) {
        timer_sync(s, n);
    }
}

/* --- Init and reset ------------------------------------------------------- */

unsigned exanet_initiator_active(ExanetState *s, unsigned c)
{
    unsigned active = 0;

    EXANET_FOREACH(t, s->shm->initiator) {
        active += t->req.ctx == c;
    }
    return active;
}

void exanet_initiator_quiesce(ExanetState *s, unsigned c)
{
    s->shm->initiator->aborting = true;
    EXANET_FOREACH(t, s->shm->initiator) {
        if (t->req.ctx == c) {
            exanet_transaction_drain(s->shm->initiator, t);
            exanet_transaction_finish(s, t, EXANET_RESP_PROTECTION, NULL);
        }
    }
    s->shm->initiator->aborting = false;
    /* @respond or @settled may have tried to issue a request while @aborting was true */
    exanet_shm_schedule(s);
}

void exanet_initiator_abort(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;

    ini->aborting = true;
    EXANET_FOREACH(t, ini) {
        exanet_transaction_finish(s, t, EXANET_RESP_PROTECTION, NULL);
    }
    ini->aborting = false;
}

static void initiator_timer(void *opaque)
{
    ExanetState *s = opaque;

    s->shm->initiator->due = true;
    exanet_shm_schedule(s);
}

void exanet_initiator_init(ExanetState *s)
{
    ExanetInitiator *ini = g_new0(ExanetInitiator, 1);

    rnic_deadline_init(&ini->deadline, initiator_timer, s);
    ini->nodes = exanet_shm_nodes_new();
    QTAILQ_INIT(&ini->queue[QUEUE_SHARED]);
    QTAILQ_INIT(&ini->queue[QUEUE_RDMA]);
    QTAILQ_INIT(&ini->answers);
    s->shm->initiator = ini;
}

void exanet_initiator_fini(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;

    s->shm->initiator = NULL;
    rnic_deadline_fini(&ini->deadline);
    exanet_shm_nodes_free(ini->nodes);
    g_free(ini);
}

/*
 * Resets the initiator.  exanet_shm_abort() has ended all transactions.  The sequence
 * numbers of each node continue, because delayed packets and responses must not match new
 * transactions.
 */
void exanet_initiator_reset(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;

    rnic_deadline_cancel(&ini->deadline);
    ini->due = false;
    ini->request_waits = false;
    memset(ini->stalled, 0, sizeof(ini->stalled));
    exanet_shm_nodes_reset(ini->nodes);
}
