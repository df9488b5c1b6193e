/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: requester: turns work requests into packets.
 */
#include "qemu/osdep.h"
#include "../../core/backoff.h"
#include "../base/caps.h"
#include "comp.h"
#include "../wire/dcqcn.h"
#include "../base/guest.h"
#include "../objects/mr.h"
#include "../wire/port.h"
#include "../pvrdma.h"
#include "../objects/qp.h"
#include "req-internal.h"
#include "req.h"
#include "../wire/roce.h"
#include "ud.h"
#include "../objects/wq.h"
#include "../trace.h"

/* Minimum of the retransmit timeout, ns, because an emulated peer may answer slowly. */
#define REQ_TIMEOUT_MIN_NS (4 * SCALE_MS)
/*
 * Maximum, ns, of the retransmit timeout after several expiries, unless the attribute
 * timeout of the QP is longer.  A larger maximum would delay the detection of a dead
 * peer.
 */
#define REQ_TIMEOUT_MAX_NS (2000 * SCALE_MS)
/*
 * Maximal number of slots of a new ring of WQEs.  pages_used counts only rings that have
 * grown.
 */
#define REQ_SLOTS_FIRST 8
/* Limit of PvrdmaReq.timeouts, because 4 ms << 9 exceeds REQ_TIMEOUT_MAX_NS. */
#define TIMEOUTS_MAX 9

const PvrdmaReqOp pvrdma_req_ops[PVRDMA_WR_ERROR + 1] = {
    [PVRDMA_WR_RDMA_WRITE] = {
        PVRDMA_REQ_DATA, PVRDMA_WC_RDMA_WRITE,
        ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_MIDDLE,
        ROCE_OP_WRITE_LAST, ROCE_OP_WRITE_ONLY,
    },
    [PVRDMA_WR_RDMA_WRITE_WITH_IMM] = {
        PVRDMA_REQ_DATA, PVRDMA_WC_RDMA_WRITE,
        ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_MIDDLE,
        ROCE_OP_WRITE_LAST_IMM, ROCE_OP_WRITE_ONLY_IMM,
    },
    [PVRDMA_WR_SEND] = {
        PVRDMA_REQ_DATA, PVRDMA_WC_SEND,
        ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE,
        ROCE_OP_SEND_LAST, ROCE_OP_SEND_ONLY,
    },
    [PVRDMA_WR_SEND_WITH_IMM] = {
        PVRDMA_REQ_DATA, PVRDMA_WC_SEND,
        ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE,
        ROCE_OP_SEND_LAST_IMM, ROCE_OP_SEND_ONLY_IMM,
    },
    [PVRDMA_WR_SEND_WITH_INV] = {
        PVRDMA_REQ_DATA, PVRDMA_WC_SEND,
        ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE,
        ROCE_OP_SEND_LAST_INV, ROCE_OP_SEND_ONLY_INV,
    },
    [PVRDMA_WR_RDMA_READ] = {
        .kind = PVRDMA_REQ_READ, .completion = PVRDMA_WC_RDMA_READ,
        .only = ROCE_OP_READ_REQUEST,
    },
    [PVRDMA_WR_ATOMIC_CMP_AND_SWP] = {
        .kind = PVRDMA_REQ_ATOMIC, .completion = PVRDMA_WC_COMP_SWAP,
        .only = ROCE_OP_COMPARE_SWAP,
    },
    [PVRDMA_WR_ATOMIC_FETCH_AND_ADD] = {
        .kind = PVRDMA_REQ_ATOMIC, .completion = PVRDMA_WC_FETCH_ADD,
        .only = ROCE_OP_FETCH_ADD,
    },
    [PVRDMA_WR_LOCAL_INV] = {
        .kind = PVRDMA_REQ_LOCAL, .completion = PVRDMA_WC_LOCAL_INV,
    },
    [PVRDMA_WR_FAST_REG_MR] = {
        .kind = PVRDMA_REQ_LOCAL, .completion = PVRDMA_WC_FAST_REG_MR,
    },
    [PVRDMA_WR_ERROR] = { .kind = PVRDMA_REQ_NONE },
};

static bool req_datagrams(const PvrdmaQp *qp)
{
    return qp->type == PVRDMA_QPT_UD || qp->type == PVRDMA_QPT_GSI;
}

/* --- Timer ------------------------------------------------------------------- */

/* Returns the retransmit timeout in ns; 0: no timeout. */
static int64_t req_timeout_ns(const PvrdmaQp *qp)
{
    int64_t requested = roce_timeout_ns(qp->attr.timeout);
    int64_t ns = MAX(requested, REQ_TIMEOUT_MIN_NS);

    if (!requested) {
        return 0;
    }
    return rnic_backoff(ns, qp->req.timeouts, TIMEOUTS_MAX, MAX(ns, REQ_TIMEOUT_MAX_NS));
}

void pvrdma_req_arm(PvrdmaQp *qp, int64_t when)
{
    if (!qp->req.armed || when < qp->req.armed) {
        qp->req.armed = when;
        pvrdma_qp_timer(qp, when);
    }
}

void pvrdma_req_deadline(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;
    int64_t timeout = req_timeout_ns(qp);

    req->deadline = 0;
    if (timeout && !req->rnr_until && req->una_psn != req->next_psn) {
        req->deadline = rnic_now() + timeout;
        pvrdma_req_arm(qp, req->deadline);
    }
}

/*
 * Handles the expiry of the retransmission deadline.  Doubles the timeout up to its
 * maximum, because the peer may only be slow.  The longer timeout lasts until an RNR NAK,
 * or until all packets that were sent before this expiry are acknowledged, because the
 * answer to a retransmitted packet does not show how fast the peer is.
 */
static void req_timed_out(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    if (!pvrdma_port_may_send(&qp->s->port)) {
        /* The port accepts no frame, so the packets may not have reached the peer. */
        pvrdma_req_deadline(qp);
        return;
    }
    trace_pvrdma_req_timeout(qp->s->port.netdev, qp->handle, req->una_psn);
    pvrdma_count(qp->s, PVRDMA_CNT_TIMEOUT);
    req->deadline = 0;
    req->retrying = false;
    req->timeouts = MIN(req->timeouts + 1, TIMEOUTS_MAX);
    req->timeout_psn = req->next_psn;
    pvrdma_comp_retry(qp);
}

void pvrdma_req_timer(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;
    int64_t now = rnic_now();
    int64_t when = req->rnr_until ? req->rnr_until : req->deadline;

    req->armed = 0;
    if (req->paced) {
        /*
         * Packets of the QP wait for this timer, even if the rate is not limited any
         * more.
         */
        req->paced = false;
        pvrdma_qp_activate(qp);
    }
    if (!when || !pvrdma_req_running(qp)) {
        return;
    }
    if (now < when) {
        pvrdma_req_arm(qp, when);
    } else if (req->rnr_until) {
        req->rnr_until = 0;
        pvrdma_qp_activate(qp);
    } else {
        req_timed_out(qp);
    }
}

bool pvrdma_req_congested(PvrdmaQp *qp)
{
    int64_t until;

    if (likely(!qp->rate.limited)) {
        return false;
    }
    until = pvrdma_dcqcn_wait(&qp->rate, rnic_now());
    /*
     * If DCQCN permits a packet, leaves PvrdmaReq.paced unchanged, because the responder
     * may have set this flag just before.  The responder waits for the timer although the
     * requester may send.
     */
    if (until) {
        qp->req.paced = true;
        pvrdma_req_arm(qp, until);
    }
    return until;
}

/* --- WQEs -------------------------------------------------------------------- */

/* Returns the memory of a ring of @slots WQEs, in units of 8 bytes as in pages_used. */
static uint32_t req_ring_pages(const PvrdmaQp *qp, unsigned slots)
{
    size_t bytes = sizeof(PvrdmaSqe) + qp->sq.max_sge * sizeof(PvrdmaSge);

    return DIV_ROUND_UP(slots * bytes, sizeof(uint64_t));
}

static void req_ring_resize(PvrdmaQp *qp, unsigned slots)
{
    PvrdmaReq *req = &qp->req;
    PvrdmaSqe *wqe = g_new0(PvrdmaSqe, slots);
    PvrdmaSge *sge = g_new(PvrdmaSge, (size_t)slots * qp->sq.max_sge);

    for (unsigned i = 0; i < slots; i++) {
        PvrdmaSge *own = sge + (size_t)i * qp->sq.max_sge;

        if (i < req->count) {
            wqe[i] = *pvrdma_req_wqe(req, i);
        }
        if (wqe[i].sges) {
            memcpy(own, wqe[i].sge, wqe[i].sges * sizeof(*own));
        }
        wqe[i].sge = own;
    }
    g_free(req->wqe);
    g_free(req->sge);
    req->wqe = wqe;
    req->sge = sge;
    req->slots = slots;
    req->first = 0;
}

/*
 * Allocates a small ring of WQEs, or doubles the size of the ring.  The ring begins small
 * because most QPs have few WQEs under way.  Returns false if the ring has its maximal
 * size, or if pages_used would exceed PVRDMA_MAX_PAGES.
 */
static bool req_ring_grow(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;
    unsigned most = MIN(qp->sq.entries, PVRDMA_REQ_WQES);
    unsigned slots = req->slots ? 2 * req->slots : MIN(most, REQ_SLOTS_FIRST);
    uint32_t pages = req->slots ? req_ring_pages(qp, slots) - req->counted : 0;

    if (slots > most || pages > PVRDMA_MAX_PAGES - qp->s->pages_used) {
        return false;
    }
    qp->s->pages_used += pages;
    req->counted += pages;
    req_ring_resize(qp, slots);
    return true;
}

/*
 * Returns true if the ring has a free slot.  Grows a full ring, or, if the ring cannot
 * grow, completes WQEs that are done, which may end the QP.
 */
static bool req_has_slot(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    if (req->count < req->slots || req_ring_grow(qp)) {
        return true;
    }
    pvrdma_comp_collect(qp);
    return pvrdma_req_running(qp) && req->count < req->slots;
}

/*
 * Fetches the guest's next WQE into a free slot of the ring; the queue must have a WQE.
 * Marks the WQE as done if bit 0 of PvrdmaReq.parked is set, because the WQE was done
 * before pvrdma_req_park().  Returns NULL if the WQE cannot be read; then the QP is in
 * state ERR.
 */
static PvrdmaSqe *req_fetch(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;
    PvrdmaSqe *sqe = pvrdma_req_wqe(req, req->count);

    trace_pvrdma_req_fetch(qp->s->port.netdev, qp->handle, qp->sq.fetch);
    sqe->sent = false;
    sqe->done = false;
    if (!pvrdma_sq_fetch(qp->s, &qp->pages, &qp->sq, sqe)) {
        pvrdma_wq_consume(qp->s, &qp->pages, &qp->sq, 1);
        pvrdma_qp_error(qp, PVRDMA_EVENT_QP_FATAL);
        return NULL;
    }
    if (req->parked & 1) {
        sqe->sent = true;
        sqe->done = true;
        sqe->psn = req->begin_psn;
        sqe->last_psn = roce_psn_add(req->begin_psn, ROCE_PSN_MASK);
    }
    req->parked >>= 1;
    req->count++;
    return sqe;
}

/*
 * Returns true if the requester may assign PSNs to the next WQE: in state RTS, or if the
 * WQE had PSNs before pvrdma_req_park() dropped the WQE.
 */
static bool req_may_begin(const PvrdmaQp *qp)
{
    return qp->state == PVRDMA_QPS_RTS || qp->req.refetching;
}

/*
 * Returns the WQE at the cursor, and fetches this WQE if necessary.  Returns NULL if the
 * guest has posted no WQE, if no WQE may be fetched now, or after an error that ends
 * the QP.
 */
static PvrdmaSqe *req_current(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;
    int pending;

    if (req->next < req->count) {
        return pvrdma_req_wqe(req, req->next);
    }
    if (!req_may_begin(qp)) {
        return NULL;
    }
    pending = pvrdma_wq_pending(qp->s, &qp->pages, &qp->sq);
    /*
     * If the queue lacks a WQE that had PSNs before pvrdma_req_park(), answers would find
     * no WQE.
     */
    if (pending < 0 || (!pending && req->refetching)) {
        pvrdma_qp_error(qp, PVRDMA_EVENT_QP_FATAL);
    }
    if (pending <= 0) {
        return NULL;
    }
    if (!req_has_slot(qp)) {
        req->waiting = true;
        return NULL;
    }
    return req_fetch(qp);
}

void pvrdma_req_refuse(PvrdmaQp *qp, PvrdmaSqe *sqe, uint8_t status)
{
    sqe->status = status;
    pvrdma_guest_error(qp->s, "QP %u: WQE with opcode %u, %u bytes: status %u",
                       qp->handle, sqe->opcode, sqe->length, status);
}

/*
 * Returns true if the device supports the opcode of @sqe.  For a READ or an atomic,
 * max_rd_atomic of the QP must not be 0.
 */
static bool req_supported(const PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    switch (pvrdma_req_op(sqe->opcode)->kind) {
    case PVRDMA_REQ_NONE:
        return false;
    case PVRDMA_REQ_READ:
    case PVRDMA_REQ_ATOMIC:
        return qp->attr.max_rd_atomic;
    default:
        return true;
    }
}

static uint32_t req_packets(const PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    switch (pvrdma_req_op(sqe->opcode)->kind) {
    case PVRDMA_REQ_LOCAL:
        return 0;
    case PVRDMA_REQ_ATOMIC:
        return 1;
    default:
        return roce_packets(sqe->length, qp->mtu);
    }
}

/*
 * Assigns PSNs to @sqe and returns true, or calls pvrdma_req_refuse() and returns false.
 */
static bool req_begin(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    PvrdmaReq *req = &qp->req;
    uint32_t packets;

    if (!req_supported(qp, sqe)) {
        pvrdma_req_refuse(qp, sqe, PVRDMA_WC_LOC_QP_OP_ERR);
        return false;
    }
    packets = req_packets(qp, sqe);
    if (packets && roce_psn_diff(req->psn, req->begin_psn) >= (int32_t)packets) {
        /*
         * The guest has changed the WQE since the requester assigned PSNs to this WQE
         * first.
         */
        pvrdma_req_refuse(qp, sqe, PVRDMA_WC_LOC_QP_OP_ERR);
        return false;
    }
    sqe->psn = req->begin_psn;
    req->begin_psn = roce_psn_add(sqe->psn, packets);
    sqe->last_psn = roce_psn_add(req->begin_psn, ROCE_PSN_MASK);
    sqe->sent = true;
    req->refetching &= pvrdma_req_distance(sqe->psn, req->next_psn) > packets;
    return true;
}

void pvrdma_req_refetch(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    if (req->count && !pvrdma_req_wqe(req, req->count - 1)->sent) {
        return;                         /* an older WQE needs its PSNs first */
    }
    while (req->refetching &&
           (req->count < req->slots || req_ring_grow(qp)) &&
           pvrdma_wq_pending(qp->s, &qp->pages, &qp->sq) > 0) {
        PvrdmaSqe *sqe = req_fetch(qp);

        if (!sqe || (!sqe->done && !req_begin(qp, sqe))) {
            return;
        }
    }
}

/* --- Steps ------------------------------------------------------------------- */

/*
 * Executes @sqe, a work request on a region, and advances the cursor.  Returns false if
 * @sqe is in error.  req_fenced() delays an invalidation until all WQEs before it are
 * done, because their retransmission may need the region.
 */
static bool req_local_do(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    if (sqe->opcode == PVRDMA_WR_LOCAL_INV) {
        uint8_t status = pvrdma_mr_invalidate(qp, sqe->inv_rkey);

        if (status) {
            pvrdma_req_refuse(qp, sqe, status);
        }
    } else {
        sqe->status = pvrdma_mr_fast_reg(qp, sqe);
    }
    sqe->done = !sqe->status;
    qp->req.next += sqe->done;
    return sqe->done;
}

/*
 * Returns true if the WQE at the cursor, @sqe, must wait for older WQEs: with the flag
 * FENCE for all older READs and atomics, with the opcode LOCAL_INV for all older WQEs.
 * In this case the next acknowledgement activates the QP.
 */
static bool req_fenced(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    PvrdmaReq *req = &qp->req;
    bool fenced = sqe->flags & PVRDMA_SEND_FENCE && pvrdma_req_reads(req);

    if (sqe->opcode == PVRDMA_WR_LOCAL_INV) {
        for (unsigned i = 0; i < req->next; i++) {
            fenced |= !pvrdma_req_wqe(req, i)->done;
        }
    }
    req->waiting |= fenced;
    return fenced;
}

/*
 * Sends one packet of @sqe, or executes @sqe if @sqe has no packets.  Returns false if
 * @sqe must wait or is in error.
 */
static bool req_connected_step(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    PvrdmaReq *req = &qp->req;

    if (!sqe->sent || req->psn == sqe->psn) {
        if (!sqe->sent && !req_may_begin(qp)) {
            return false;
        }
        if (req_fenced(qp, sqe) || (!sqe->sent && !req_begin(qp, sqe))) {
            return false;
        }
    }
    return pvrdma_req_op(sqe->opcode)->kind == PVRDMA_REQ_LOCAL ?
           req_local_do(qp, sqe) : pvrdma_req_send(qp, sqe);
}

static bool req_datagram_step(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    if (qp->state != PVRDMA_QPS_RTS) {
        return false;
    }
    if (sqe->opcode != PVRDMA_WR_SEND && sqe->opcode != PVRDMA_WR_SEND_WITH_IMM) {
        pvrdma_req_refuse(qp, sqe, PVRDMA_WC_LOC_QP_OP_ERR);
    } else {
        sqe->status = pvrdma_ud_send(qp, sqe);
    }
    sqe->done = !sqe->status;
    qp->req.next += sqe->done;
    return sqe->done;
}

static bool req_step(PvrdmaQp *qp)
{
    PvrdmaSqe *sqe = req_current(qp);

    if (!sqe || sqe->status) {
        return false;
    }
    if (sqe->done) {
        qp->req.next++;
        return true;
    }
    return req_datagrams(qp) ? req_datagram_step(qp, sqe) :
                               req_connected_step(qp, sqe);
}

bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget)
{
    PvrdmaReq *req = &qp->req;
    bool more = true;

    if (qp->state == PVRDMA_QPS_ERR || qp->state == PVRDMA_QPS_SQE) {
        return pvrdma_req_flush(qp);
    }
    if (!pvrdma_req_running(qp) || req->rnr_until) {
        return false;
    }
    req->waiting = false;
    while (more && *budget && pvrdma_port_may_send(&qp->s->port)) {
        more = !pvrdma_req_congested(qp) && req_step(qp);
        *budget -= more;
    }
    if (!pvrdma_req_running(qp)) {
        return false;
    }
    if (!req->deadline) {
        pvrdma_req_deadline(qp);
    }
    pvrdma_comp_collect(qp);
    if (qp->sq_draining) {
        pvrdma_qp_drained(qp);
    }
    return more && pvrdma_req_running(qp);
}

/* --- Life -------------------------------------------------------------------- */

void pvrdma_req_seek(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    req->psn = req->una_psn;
    bitmap_zero(req->unanswered, PVRDMA_REQ_PACKETS);
    req->next = 0;
    while (req->next < req->count && pvrdma_req_wqe(req, req->next)->done) {
        req->next++;
    }
}

void pvrdma_req_init(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    pvrdma_req_fini(qp);
    *req = (PvrdmaReq) {
        .psn = qp->attr.sq_psn & ROCE_PSN_MASK,
        .next_psn = qp->attr.sq_psn & ROCE_PSN_MASK,
        .una_psn = qp->attr.sq_psn & ROCE_PSN_MASK,
        .begin_psn = qp->attr.sq_psn & ROCE_PSN_MASK,
        .retries = qp->attr.retry_cnt,
        .rnr_retries = qp->attr.rnr_retry,
    };
}

void pvrdma_req_fini(PvrdmaQp *qp)
{
    qp->s->pages_used -= qp->req.counted;
    g_free(qp->req.wqe);
    g_free(qp->req.sge);
    qp->req = (PvrdmaReq) { .wqe = NULL };
    qp->rate = (PvrdmaDcqcn) { .limited = false };
}

void pvrdma_req_park_state(const PvrdmaReq *req, uint32_t *begin_psn, uint64_t *parked)
{
    bool begun = req->count && pvrdma_req_wqe(req, 0)->sent;

    *begin_psn = begun ? pvrdma_req_wqe(req, 0)->psn : req->begin_psn;
    /*
     * Keeps the bits of WQEs that an earlier pvrdma_req_park() has dropped, and that are
     * not fetched again.
     */
    *parked = req->count < PVRDMA_REQ_WQES ? req->parked << req->count : 0;
    for (unsigned i = 0; i < req->count; i++) {
        *parked |= (uint64_t)pvrdma_req_wqe(req, i)->done << i;
    }
}

void pvrdma_req_park(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    if (pvrdma_req_running(qp)) {
        pvrdma_comp_collect(qp);
    }
    pvrdma_req_park_state(req, &req->begin_psn, &req->parked);
    req->refetching = req->begin_psn != req->next_psn;
    qp->sq.fetch = qp->sq.cons;
    req->count = 0;
    pvrdma_req_seek(qp);
    req->retrying = true;
    req->deadline = 0;
    req->rnr_until = 0;
    req->paced = false;
    req->armed = 0;
    pvrdma_qp_timer(qp, 0);
    pvrdma_qp_activate(qp);
}

/*
 * Flushes at most PVRDMA_FLUSH_WQES send WQEs that are posted but not fetched.  Returns
 * true if more such WQEs remain.
 */
static bool req_flush_posted(PvrdmaQp *qp)
{
    int pending = pvrdma_wq_refresh(qp->s, &qp->pages, &qp->sq);
    int count = MIN(pending, PVRDMA_FLUSH_WQES);

    if (pending > 0 && !qp->req.wqe) {
        req_ring_grow(qp);
    }
    for (int i = 0; i < count; i++) {
        PvrdmaSqe *sqe = pvrdma_req_wqe(&qp->req, 0);
        bool good = pvrdma_sq_fetch(qp->s, &qp->pages, &qp->sq, sqe);

        pvrdma_wq_consume(qp->s, &qp->pages, &qp->sq, 1);
        if (good) {
            pvrdma_comp_wqe(qp, sqe, PVRDMA_WC_WR_FLUSH_ERR);
        }
    }
    return pending > count;
}

bool pvrdma_req_flush(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    req->deadline = 0;
    req->rnr_until = 0;
    if (req->count) {
        pvrdma_wq_consume(qp->s, &qp->pages, &qp->sq, req->count);
    }
    for (unsigned i = 0; i < req->count; i++) {
        pvrdma_comp_wqe(qp, pvrdma_req_wqe(req, i), PVRDMA_WC_WR_FLUSH_ERR);
    }
    req->count = 0;
    req->next = 0;
    req->parked = 0;
    return req_flush_posted(qp);
}

bool pvrdma_req_idle(const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;

    return !req->refetching &&
           (!req->count || !pvrdma_req_wqe(req, 0)->sent);
}
