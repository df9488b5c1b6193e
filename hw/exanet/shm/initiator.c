/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores of this node on their way to others.
 *
 * A request gets a slot, which it keeps until its response.  Packets leave in the
 * order of a queue, one for loads and stores and one for RDMA; nothing is sent, and
 * nobody is answered, from inside exanet_shm_issue().
 *
 * Targets take the stores of this node in order and drop silently what comes too
 * early.  So a copy is sent of all stores to a node from the one on that had no
 * answer (go back N).  If targets do not keep the order, of that one alone [T §4.4].
 */
#include "qemu/osdep.h"
#include "qemu/queue.h"
#include "../../core/backoff.h"
#include "../../core/deadline.h"
#include "aperture.h"
#include "../net/net.h"
#include "../exanet.h"
#include "../net/flow.h"
#include "../base/regs.h"
#include "initiator.h"
#include "internal.h"
#include "node.h"
#include "order.h"
#include "timing.h"
#include "shm.h"
#include "../base/wire.h"
#include "../../trace.h"

#define SLOTS_MAX           64      /* EXANET_STID_SLOT */
#define TIMEOUT_SHIFT_MAX   5       /* dynamic time-outs double so often */
#define BACKOFF_NS          (50 * SCALE_US)
#define BACKOFF_MAX_NS      (10 * SCALE_MS)
#define BACKOFF_SHIFT_MAX   8
/* A target that answers, but never takes the store, is not given up before this. */
#define REFUSED_MAX_NS      (10LL * NANOSECONDS_PER_SECOND)
#define SENDS_PER_RUN       64
#define ANSWERS_PER_RUN     64
#define PRIORITY_ROW        7       /* loads and stores, then one RDMA packet */
#define LINE_BYTES          64      /* of read-after-write blocking */
#define SEQ_MASK            ((1u << EXANET_SHM_SEQ_BITS) - 1)

static const uint8_t slots[EXANET_SHM_CLASSES] = {
    [EXANET_SHM_STORE] = EXANET_SHM_TIMERS,
    [EXANET_SHM_LOAD] = EXANET_SHM_LOADS,
    [EXANET_SHM_RDMA_WRITE] = SLOTS_MAX,
    [EXANET_SHM_RDMA_READ] = SLOTS_MAX,
};

/* Numbers of writes under way to a node are closer together than that. */
static const uint16_t spans[EXANET_SHM_CLASSES] = {
    [EXANET_SHM_STORE] = EXANET_SHM_SPAN,
    [EXANET_SHM_RDMA_WRITE] = EXANET_SHM_WINDOW,
};

typedef struct Transaction {
    ExanetShmRequest req;           /* data: @data */
    ShmNode *node;                  /* NULL: the slot is free */
    uint64_t serial;                /* in the order of issue */
    int64_t since;                  /* ns, when it was issued ... */
    int64_t sent;                   /* ... its last copy was sent ... */
    int64_t deadline;               /* ... and is looked at again */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;
    uint16_t copies;                /* that were sent */
    uint16_t timeouts;
    uint16_t refusals;
    uint8_t resp;                   /* last refusal */
    bool queued;                    /* for being sent */
    bool refused;                   /* the last copy was; @deadline is another's */
    bool responded;                 /* to its master */
    bool answer;                    /* is in the list of answers */
    bool lost;                      /* at once, with @resp */
    bool told;                      /* its failure; by its master */
    bool early;                     /* is acknowledged when it has left */
    int64_t answer_at;
    ExanetTimingPacket timing;
    bool fenced;                    /* FENCE was written since */
    QTAILQ_ENTRY(Transaction) send;
    QTAILQ_ENTRY(Transaction) next_answer;
    uint8_t data[EXANET_MTU];
} Transaction;

typedef QTAILQ_HEAD(, Transaction) TransactionList;

struct ExanetInitiator {
    Transaction slot[EXANET_SHM_CLASSES][SLOTS_MAX];
    unsigned busy[EXANET_SHM_CLASSES];
    TransactionList queue[QUEUES];
    TransactionList answers;
    ShmNodes *nodes;                /* owned */
    uint64_t serial;
    uint32_t turn;
    unsigned row;                   /* loads and stores since an RDMA packet */
    uint64_t stalled[1u << 6];      /* by AXI id: what was refused, and why */
    bool wanted;                    /* a request was refused */
    bool aborting;
    RNicDeadline deadline;          /* of all transactions */
    bool due;                       /* the timer has fired */
};

/* All transactions under way of @ini as @t_, those of class @class_ alone. */
#define FOREACH_OF(t_, ini, class_) \
    for (Transaction *t_ = (ini)->slot[class_]; \
         t_ < (ini)->slot[class_] + slots[class_]; t_++) \
        if (t_->node)
#define FOREACH(t_, ini) \
    for (unsigned class_ = 0; class_ < EXANET_SHM_CLASSES; class_++) \
        FOREACH_OF(t_, ini, class_)

static bool is_write(unsigned class)
{
    return class == EXANET_SHM_STORE || class == EXANET_SHM_RDMA_WRITE;
}

static unsigned queue_of(unsigned class)
{
    return class < EXANET_SHM_RDMA_WRITE ? QUEUE_SHARED : QUEUE_RDMA;
}

/* --- Transactions --------------------------------------------------------- */

/* None of the same class to the same node is older. */
static bool is_oldest(ExanetInitiator *ini, const Transaction *t)
{
    FOREACH_OF(o, ini, t->req.class) {
        if (o->node == t->node && !o->lost && o->serial < t->serial) {
            return false;
        }
    }
    return true;
}

/* Sets the time at which the initiator looks at @t again. */
static void arm(ExanetInitiator *ini, Transaction *t, int64_t deadline)
{
    t->deadline = deadline;
    rnic_deadline_at(&ini->deadline, deadline);
}

static void enqueue(ExanetState *s, Transaction *t)
{
    ExanetInitiator *ini = s->shm->initiator;
    TransactionList *queue = &ini->queue[queue_of(t->req.class)];

    if (t->refused) {
        /* from now on it is silence that counts, if only of a cable that is blocked */
        t->refused = false;
        arm(ini, t, exanet_now(s) + exanet_shm_node_timeout(s, t->node));
    }
    if (t->queued) {
        QTAILQ_REMOVE(queue, t, send);
    }
    t->queued = true;
    t->timing = exanet_timing_enter(s, t->node->coord, is_write(t->req.class) ?
                                    exanet_timing_flits(t->req.gva, t->req.size) :
                                    0, t->req.joined);
    QTAILQ_INSERT_TAIL(queue, t, send);
    exanet_schedule(s);
}

static void dequeue(ExanetInitiator *ini, Transaction *t)
{
    if (t->queued) {
        t->queued = false;
        QTAILQ_REMOVE(&ini->queue[queue_of(t->req.class)], t, send);
    }
}

static void answer_later(ExanetState *s, Transaction *t)
{
    t->answer = true;
    QTAILQ_INSERT_TAIL(&s->shm->initiator->answers, t, next_answer);
    exanet_schedule(s);
}

/* It is over: the slot is free, and those who asked are told. */
static void finish(ExanetState *s, Transaction *t, enum exanet_resp resp,
                   const uint8_t *data)
{
    ExanetInitiator *ini = s->shm->initiator;
    ExanetShmRequest req = t->req;
    bool responded = t->responded;

    trace_exanet_initiator_finish(s->node, t->tid, t->seq, resp, t->copies);
    dequeue(ini, t);
    if (t->answer) {
        t->answer = false;
        QTAILQ_REMOVE(&ini->answers, t, next_answer);
    }
    exanet_shm_node_end(t->node);
    t->node = NULL;
    ini->busy[req.class]--;
    if (ini->wanted) {
        ini->wanted = false;
        exanet_schedule(s);
    }
    if (!responded && req.respond) {
        req.respond(s, req.opaque, resp, data);
    }
    if (is_write(req.class) && req.settled) {
        req.settled(s, req.opaque, resp);
    }
}

/* It has failed; @told: the code that ERR_INFO has. */
static void fail(ExanetState *s, Transaction *t, enum exanet_resp resp,
                 enum exanet_resp told)
{
    if (queue_of(t->req.class) == QUEUE_SHARED && !t->told) {
        exanet_shm_error(s, t->req.ctx, t->req.gva, t->req.class, told,
                         MAX(t->copies, 1) - 1);
    }
    finish(s, t, resp, NULL);
}

/* --- Issue ---------------------------------------------------------------- */

static bool same_line(const ExanetShmRequest *a, const ExanetShmRequest *b)
{
    return a->gva / LINE_BYTES <= (b->gva + b->size - 1) / LINE_BYTES &&
           b->gva / LINE_BYTES <= (a->gva + a->size - 1) / LINE_BYTES;
}

/* Whether @req has to wait for a store to the same address. */
static bool behind_store(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    FOREACH_OF(t, ini, EXANET_SHM_STORE) {
        if (same_line(&t->req, req)) {
            return true;
        }
    }
    return false;
}

/*
 * Whether @req has to wait for older writes to its node.  Targets know those that they
 * have done by their numbers: if one is still under way, its number must not be so old
 * that it could be that of another one.
 */
static bool behind_writes(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    uint32_t coord = RNIC_GET(EXANET_GVA_COORD, req->gva);
    ShmNode *node = exanet_shm_node_find(ini->nodes, coord);

    if (!node || !is_write(req->class) || !ini->busy[req->class]) {
        return false;
    }
    FOREACH_OF(t, ini, req->class) {
        if (t->node == node && !t->lost &&
            ((node->seq[req->class] - t->seq) % (SEQ_MASK + 1) >=
             spans[req->class] ||
             (req->class == EXANET_SHM_RDMA_WRITE &&
              t->serial <= node->doubt))) {
            return true;
        }
    }
    return false;
}

/* A request is asked for in every turn; it counts once for each reason. */
#define STALL(s, req, name) do { \
    uint64_t why_ = (req)->gva ^ (uint64_t)EXANET_CNT_##name << 48; \
    uint64_t *last_ = &(s)->shm->initiator->stalled[(req)->axi_id & 63]; \
    if (*last_ != why_) { \
        *last_ = why_; \
        exanet_count(s, name); \
    } \
} while (0)

static bool must_wait(ExanetState *s, const ExanetShmRequest *req)
{
    ExanetInitiator *ini = s->shm->initiator;
    uint32_t ctrl = exanet_shm_ctrl(s);

    if (req->class == EXANET_SHM_LOAD && (ctrl & EXANET_SHM_CTRL_RAW) &&
        behind_store(ini, req)) {
        STALL(s, req, SHM_RAW_STALL);
    } else if (req->class == EXANET_SHM_STORE &&
               (ctrl & EXANET_SHM_CTRL_WAW) && behind_store(ini, req)) {
        STALL(s, req, SHM_WAW_STALL);
    } else if (behind_writes(ini, req)) {
        return true;
    } else if (ini->busy[req->class] < slots[req->class]) {
        ini->stalled[req->axi_id & 63] = 0;
        return false;
    } else if (req->class == EXANET_SHM_STORE) {
        STALL(s, req, SHM_TIMER_STALL);
    }
    return true;
}

static Transaction *slot_take(ExanetInitiator *ini, const ExanetShmRequest *req)
{
    Transaction *t = ini->slot[req->class];

    while (t->node) {
        t++;
    }
    ini->busy[req->class]++;
    *t = (Transaction) { .req = *req, .serial = ++ini->serial };
    t->req.data = t->data;
    t->tid = RNIC_PREP(EXANET_STID_CLASS, req->class) |
             RNIC_PREP(EXANET_STID_SLOT, t - ini->slot[req->class]) |
             RNIC_PREP(EXANET_STID_ID, req->axi_id);
    if (is_write(req->class)) {
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
 * Returns true if @req may leave: the unit is enabled, and a context with a local job
 * stays on this node.
 */
static bool issue_allowed(ExanetState *s, const ExanetShmRequest *req)
{
    return issue_enabled(s) &&
           (req->ctx >= EXANET_CONTEXTS || !s->ctx[req->ctx].local ||
            RNIC_GET(EXANET_GVA_COORD, req->gva) == s->node);
}

bool exanet_shm_issue(ExanetState *s, const ExanetShmRequest *req)
{
    static ShmNode nobody;          /* node of what is never sent */
    ExanetInitiator *ini = s->shm->initiator;
    int64_t now = exanet_now(s);
    bool allowed = issue_allowed(s, req);
    ShmNode *node = NULL;
    Transaction *t;

    if (ini->aborting || must_wait(s, req)) {
        ini->wanted = true;
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
        t->node = &nobody;
        nobody.busy++;
    }
    t->since = now;
    t->deadline = INT64_MAX;
    count_issued(s, req->class);
    if (!node || exanet_shm_node_lost(s, node)) {
        t->lost = true;
        t->resp = !allowed ? EXANET_RESP_PROTECTION :
                  !node ? EXANET_RESP_FULL : EXANET_RESP_NO_CONTEXT;
        answer_later(s, t);
        return true;
    }
    t->seq = node->seq[req->class]++ & SEQ_MASK;
    trace_exanet_initiator_issue(s->node, t->tid, t->seq, req->gva, req->size);
    /* it must not stand in the queue for ever either */
    arm(ini, t, now + exanet_shm_node_timeout(s, node));
    enqueue(s, t);
    if (is_write(req->class) && req->early &&
        (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_EARLY)) {
        exanet_count(s, SHM_EARLY_ACK);
        if (unlikely(s->shm->timing)) {
            t->early = true;
        } else {
            answer_later(s, t);
        }
    }
    return true;
}

void exanet_shm_told(ExanetState *s, const void *opaque)
{
    FOREACH(t, s->shm->initiator) {
        if (t->req.opaque == opaque) {
            t->told = true;
        }
    }
}

/* Early responses, and what is lost at once; true if some are left. */
static bool answers_run(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    Transaction *t;

    for (unsigned i = 0; i < ANSWERS_PER_RUN; i++) {
        t = QTAILQ_FIRST(&ini->answers);
        if (!t || !exanet_timing_due(s, t->answer_at)) {
            return false;
        }
        QTAILQ_REMOVE(&ini->answers, t, next_answer);
        t->answer = false;
        if (t->lost) {
            fail(s, t, t->resp, t->resp == EXANET_RESP_NO_CONTEXT ?
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

/* --- Sending -------------------------------------------------------------- */

static unsigned encode(ExanetState *s, const Transaction *t, uint8_t *buf,
                       unsigned path)
{
    ExanetPacket pkt = {
        .type = is_write(t->req.class) ? EXANET_TYPE_AXI_WRITE :
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
        .first = is_oldest(s->shm->initiator, t),
        .last = true,
    };

    if (is_write(t->req.class)) {
        memcpy(exanet_packet_payload(buf, pkt.va), t->data, pkt.size);
    }
    return exanet_packet_encode(buf, &pkt);
}

/*
 * Sends the next copy of @t; false when there is no room.  What this node itself says
 * to it may arrive inside exanet_net_send(), so that comes last.
 */
static bool send_copy(ExanetState *s, Transaction *t)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned path = exanet_shm_node_path(s, t->node);
    ExanetOpen place;
    bool rdma = queue_of(t->req.class) == QUEUE_RDMA;
    unsigned words;

    if ((rdma && !exanet_flow_may_send(s, t->node->coord)) ||
        !exanet_timing_due(s, t->timing.ready) ||
        !exanet_net_open(s, t->node->coord, path | EXANET_PATH_STEADY, &place)) {
        return false;
    }
    exanet_timing_leave(s, place.route, &t->timing);
    dequeue(ini, t);
    if (unlikely(t->early)) {
        t->early = false;
        t->answer_at = exanet_timing_after(s, EXANET_TIMING_EARLY);
        answer_later(s, t);
    }
    if (t->copies) {
        exanet_count(s, SHM_REISSUE);
    }
    t->copies += t->copies < UINT16_MAX;
    t->sent = exanet_now(s);
    arm(ini, t, t->sent + exanet_shm_node_timeout(s, t->node));
    words = encode(s, t, place.buf, path);
    trace_exanet_initiator_send(s->node, t->node->coord, t->tid, t->seq,
                                t->copies);
    if (rdma) {
        exanet_flow_sent(s, t->node->coord, words);
    }
    exanet_net_send(s, &place, words);
    return true;
}

/* The first one of queue @q whose node was not found blocked in this turn. */
static Transaction *queue_first(ExanetInitiator *ini, unsigned q)
{
    Transaction *t;

    QTAILQ_FOREACH(t, &ini->queue[q], send) {
        if (t->node->blocked[q] != ini->turn) {
            return t;
        }
    }
    return NULL;
}

static Transaction *send_choose(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    Transaction *shared = queue_first(ini, QUEUE_SHARED);
    Transaction *rdma = queue_first(ini, QUEUE_RDMA);

    if (!shared || !rdma) {
        return shared ?: rdma;
    }
    if (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_PRIORITY) {
        return ini->row < PRIORITY_ROW ? shared : rdma;
    }
    return shared->serial < rdma->serial ? shared : rdma;
}

/* True if there is more that could leave. */
static bool send_run(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned sent = 0;
    Transaction *t;

    ini->turn++;
    while ((t = send_choose(s))) {
        unsigned q = queue_of(t->req.class);

        if (sent == SENDS_PER_RUN) {
            return true;
        }
        if (send_copy(s, t)) {
            ini->row = q == QUEUE_SHARED ? ini->row + 1 : 0;
            sent++;
        } else {
            t->node->blocked[q] = ini->turn;
        }
    }
    return false;
}

/* --- Again ---------------------------------------------------------------- */

/* The oldest store to the node of @t from @from on. */
static Transaction *next_store(ExanetInitiator *ini, const Transaction *t,
                               uint64_t from)
{
    Transaction *next = NULL;

    FOREACH_OF(o, ini, EXANET_SHM_STORE) {
        if (o->node == t->node && !o->lost && o->serial >= from &&
            (!next || o->serial < next->serial)) {
            next = o;
        }
    }
    return next;
}

/* Sends another copy of @t, and of what the target has dropped behind it. */
static void again(ExanetState *s, Transaction *t)
{
    ExanetInitiator *ini = s->shm->initiator;

    if (t->req.class != EXANET_SHM_STORE ||
        !(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER)) {
        enqueue(s, t);
        return;
    }
    for (Transaction *n = t; n; n = next_store(ini, t, n->serial + 1)) {
        enqueue(s, n);
    }
}

static bool is_hopeless(ExanetState *s, const Transaction *t, int64_t now)
{
    unsigned limit = t->node->dead ? 0 :
                     exanet_shm_get32(s, EXANET_REG_SHM_RETRY_MAX);

    return t->refused ? t->refusals > limit && now - t->since >= REFUSED_MAX_NS :
                        t->timeouts > limit;
}

static void give_up(ExanetState *s, Transaction *t)
{
    if (t->refused) {
        fail(s, t, t->resp, t->resp);
    } else {
        t->node->dead = true;
        fail(s, t, EXANET_RESP_NO_CONTEXT, EXANET_RESP_ACK);
    }
}

/*
 * The copy of @t may come late, when what it wrote has been written anew.  Targets do
 * not do it any more behind one with FIRST: so what is under way ends before the next
 * one is issued, which has that.
 */
static void rdma_doubt(ExanetInitiator *ini, Transaction *t)
{
    if (t->req.class == EXANET_SHM_RDMA_WRITE && t->copies) {
        t->node->doubt = ini->serial;
    }
}

/* The deadline of @t has passed. */
static void expire(ExanetState *s, Transaction *t, int64_t now)
{
    ShmNode *node = t->node;

    if (!t->refused) {
        exanet_count(s, SHM_TIMEOUT);
        node->path++;
        node->shift = MIN(node->shift + 1, TIMEOUT_SHIFT_MAX);
        t->timeouts += t->timeouts < UINT16_MAX;
    }
    if (queue_of(t->req.class) == QUEUE_RDMA) {
        rdma_doubt(s->shm->initiator, t);
        finish(s, t, t->refused ? t->resp : EXANET_RESP_NO_CONTEXT, NULL);
    } else if (is_hopeless(s, t, now)) {
        give_up(s, t);
    } else {
        arm(s->shm->initiator, t, now + exanet_shm_node_timeout(s, node));
        again(s, t);
    }
}

/* Whether an older store is to be looked at first: it may be why @t is too late. */
static bool after_older(ExanetState *s, const Transaction *t)
{
    return t->req.class == EXANET_SHM_STORE && !t->refused &&
           (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER) &&
           !is_oldest(s->shm->initiator, t);
}

static void expire_all(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    int64_t now = exanet_now(s);
    int64_t next = INT64_MAX;
    bool more = true;

    ini->due = false;
    rnic_deadline_hold(&ini->deadline);
    while (more) {
        more = false;
        FOREACH(t, ini) {
            if (t->deadline <= now && !after_older(s, t)) {
                expire(s, t, now);
                more = true;
            }
        }
    }
    FOREACH(t, ini) {
        if (t->deadline <= now) {
            t->deadline = now + exanet_shm_node_timeout(s, t->node);
        }
        next = MIN(next, t->deadline);
    }
    rnic_deadline_release(&ini->deadline, next);
}

/* --- Responses ------------------------------------------------------------ */

/* The response that @pkt is to @t; false if it can't be one. */
static bool response_valid(const Transaction *t, const ExanetPacket *pkt,
                           enum exanet_resp *resp)
{
    *resp = RNIC_GET(EXANET_SHM_USER_RESP, pkt->user);
    if (*resp != EXANET_RESP_ACK || is_write(t->req.class)) {
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

static Transaction *response_match(ExanetInitiator *ini, const ExanetPacket *pkt)
{
    unsigned class = RNIC_GET(EXANET_STID_CLASS, pkt->tid);
    unsigned slot = RNIC_GET(EXANET_STID_SLOT, pkt->tid);
    Transaction *t;

    if (slot >= slots[class]) {
        return NULL;
    }
    t = &ini->slot[class][slot];
    return t->node && t->copies && t->tid == pkt->tid && t->seq == pkt->seq &&
           t->node->coord == pkt->src ? t : NULL;
}

/* How long @t waits before it is sent again. */
static int64_t refused_wait(ExanetState *s, const Transaction *t,
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

/* The target could not do it now. */
static void refused(ExanetState *s, Transaction *t, const ExanetPacket *pkt,
                    enum exanet_resp resp)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned copy = RNIC_GET(EXANET_SHM_USER_RETRIES, pkt->user);
    int64_t delay;

    if (queue_of(t->req.class) == QUEUE_RDMA) {
        if (resp != EXANET_RESP_FAULT) {
            finish(s, t, resp, NULL);
            return;
        }
        /* what becomes of the page is to come; if not, that is the answer */
        t->refused = true;
        t->resp = resp;
        return;
    }
    if (t->queued) {
        return;
    }
    if (resp == EXANET_RESP_RESOLVED) {
        resp = EXANET_RESP_FAULT;   /* if there is no end to that */
        delay = 0;
    } else if (copy != MIN(t->copies - 1, 15)) {
        return;                     /* a newer copy is under way */
    } else {
        delay = refused_wait(s, t, resp);
    }
    t->refusals += t->refusals < UINT16_MAX;
    t->refused = true;
    t->resp = resp;
    if (is_hopeless(s, t, exanet_now(s))) {
        give_up(s, t);
    } else if (delay) {
        arm(ini, t, exanet_now(s) + delay);
    } else {
        again(s, t);
    }
}

static void response_done(ExanetState *s, Transaction *t,
                          const ExanetPacket *pkt)
{
    exanet_count(s, SHM_ACK);
    if (t->copies == 1) {
        exanet_shm_node_sample(t->node, exanet_now(s) - t->sent);
    }
    t->node->shift = 0;
    finish(s, t, EXANET_RESP_ACK, is_write(t->req.class) ? NULL : pkt->payload);
}

void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetInitiator *ini = s->shm->initiator;
    ShmNode *node;
    Transaction *t;
    enum exanet_resp resp;

    if (unlikely(s->shm->timing) && exanet_timing_hold(s, pkt)) {
        return;
    }
    node = exanet_shm_node_find(ini->nodes, pkt->src);
    t = response_match(ini, pkt);
    if (node) {
        node->dead = false;         /* a late response is a sign of life, too */
    }
    if (!t || !response_valid(t, pkt, &resp)) {
        exanet_count(s, SHM_STALE);
        return;
    }
    exanet_shm_node_answered(ini->nodes, t->node);
    trace_exanet_initiator_response(s->node, pkt->src, t->tid, t->seq, resp);
    switch (resp) {
    case EXANET_RESP_ACK:
        response_done(s, t, pkt);
        return;
    case EXANET_RESP_DECODE:
    case EXANET_RESP_PROTECTION:
    case EXANET_RESP_MALFORMED:
        exanet_count(s, SHM_NACK);
        fail(s, t, resp, resp);
        return;
    case EXANET_RESP_CRC:
    case EXANET_RESP_FAULT:
    case EXANET_RESP_NO_CONTEXT:
    case EXANET_RESP_FULL:
    case EXANET_RESP_RESOLVED:
        exanet_count(s, SHM_NACK);
        refused(s, t, pkt, resp);
        return;
    default:
        exanet_count(s, SHM_STALE);
    }
}

bool exanet_initiator_run(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;
    bool more;

    if (ini->due) {
        expire_all(s);
    }
    more = answers_run(s);
    return more | send_run(s);
}

/* --- Registers ------------------------------------------------------------ */

unsigned exanet_shm_stores(ExanetState *s, unsigned c)
{
    ExanetInitiator *ini = s->shm->initiator;
    unsigned stores = 0;

    if (!ini) {
        return 0;
    }
    FOREACH(t, ini) {
        stores += t->req.ctx == c && is_write(t->req.class);
    }
    return stores + exanet_aperture_stores(s, c);
}

void exanet_initiator_fence(ExanetState *s)
{
    FOREACH(t, s->shm->initiator) {
        t->fenced = is_write(t->req.class);
    }
    exanet_aperture_fence(s);
}

static void timer_sync(ExanetState *s, unsigned n)
{
    const Transaction *t = &s->shm->initiator->slot[EXANET_SHM_STORE][n];
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
    FOREACH(t, ini) {
        fence |= t->fenced;
    }
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_SHM_STATUS, status);
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_SHM_FENCE, fence);
    for (unsigned n = 0; n < EXANET_SHM_TIMERS; n++) {
        timer_sync(s, n);
    }
}

/* --- Life ----------------------------------------------------------------- */

unsigned exanet_initiator_active(ExanetState *s, unsigned c)
{
    unsigned active = 0;

    FOREACH(t, s->shm->initiator) {
        active += t->req.ctx == c;
    }
    return active;
}

void exanet_initiator_quiesce(ExanetState *s, unsigned c)
{
    s->shm->initiator->aborting = true;
    FOREACH(t, s->shm->initiator) {
        if (t->req.ctx == c) {
            rdma_doubt(s->shm->initiator, t);
            finish(s, t, EXANET_RESP_PROTECTION, NULL);
        }
    }
    s->shm->initiator->aborting = false;
    exanet_schedule(s);             /* those of other contexts may have been refused */
}

void exanet_initiator_abort(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;

    ini->aborting = true;
    FOREACH(t, ini) {
        finish(s, t, EXANET_RESP_PROTECTION, NULL);
    }
    ini->aborting = false;
}

static void initiator_timer(void *opaque)
{
    ExanetState *s = opaque;

    s->shm->initiator->due = true;
    exanet_schedule(s);
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

/* The numbers of each node go on: late packets and responses must not fit new ones. */
void exanet_initiator_reset(ExanetState *s)
{
    ExanetInitiator *ini = s->shm->initiator;

    rnic_deadline_cancel(&ini->deadline);
    ini->due = false;
    ini->wanted = false;
    memset(ini->stalled, 0, sizeof(ini->stalled));
    exanet_shm_nodes_reset(ini->nodes);
}
