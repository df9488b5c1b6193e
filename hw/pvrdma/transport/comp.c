/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: completer: the answers of the peer, and the completion of WQEs.
 *
 * An answer to a packet also acknowledges the packets before this packet.  But a READ or
 * an atomic succeeds only by its own response.  If an answer to a later packet arrives
 * before this response, the completer treats the response as lost, unless a
 * retransmission has begun already.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "comp.h"
#include "../objects/cq.h"
#include "../pvrdma.h"
#include "../objects/qp.h"
#include "req-internal.h"
#include "req.h"
#include "../wire/roce.h"
#include "../objects/wq.h"
#include "../trace.h"

#define RNR_FOR_EVER 7          /* value of rnr_retry: unlimited number of retries */

/* Status, enum pvrdma_wc_status, of a WQE that the peer has refused, by enum roce_nak. */
static const uint8_t comp_nak_status[] = {
    [ROCE_NAK_INVALID_REQUEST]  = PVRDMA_WC_REM_INV_REQ_ERR,
    [ROCE_NAK_REMOTE_ACCESS]    = PVRDMA_WC_REM_ACCESS_ERR,
    [ROCE_NAK_REMOTE_OPERATION] = PVRDMA_WC_REM_OP_ERR,
    [ROCE_NAK_INVALID_RD]       = PVRDMA_WC_REM_INV_RD_REQ_ERR,
};

/* --- Completions ------------------------------------------------------------- */

void pvrdma_comp_wqe(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint8_t status)
{
    PvrdmaWc wc;

    if (!status && !qp->sq_sig_all && !(sqe->flags & PVRDMA_SEND_SIGNALED)) {
        return;
    }
    wc = (PvrdmaWc) {
        .wr_id = sqe->wr_id,
        .qp = qp->handle,
        .status = status,
        .opcode = pvrdma_req_op(sqe->opcode)->completion,
        .byte_len = sqe->length,
    };
    pvrdma_cq_push(qp->s, qp->send_cq, &wc);
}

static PvrdmaSqe *comp_pop(PvrdmaReq *req)
{
    PvrdmaSqe *sqe = pvrdma_req_wqe(req, 0);

    req->first = (req->first + 1) & (req->slots - 1);
    req->count--;
    req->next -= req->next > 0;
    return sqe;
}

/* Returns the number of WQEs, from the oldest on, that are done without an error. */
static unsigned comp_completed(const PvrdmaReq *req)
{
    unsigned n = 0;

    while (n < req->count && pvrdma_req_wqe(req, n)->done &&
           !pvrdma_req_wqe(req, n)->status) {
        n++;
    }
    return n;
}

/*
 * Completes the oldest WQE, which is in error, with the status of this error, and calls
 * pvrdma_qp_send_error().
 */
static void comp_end(PvrdmaQp *qp)
{
    PvrdmaSqe *sqe = comp_pop(&qp->req);

    trace_pvrdma_comp_end(qp->s->port.netdev, qp->handle, sqe->wr_id,
                          sqe->status);
    pvrdma_wq_consume(qp->s, &qp->pages, &qp->sq, 1);
    pvrdma_comp_wqe(qp, sqe, sqe->status);
    pvrdma_qp_send_error(qp);
}

void pvrdma_comp_collect(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;
    unsigned n = comp_completed(req);

    if (n) {
        /*
         * Returns the slots to the guest before the completions, because a guest that
         * reads a completion may reuse the slot of the WQE at once.
         */
        pvrdma_wq_consume(qp->s, &qp->pages, &qp->sq, n);
        for (unsigned i = 0; i < n; i++) {
            PvrdmaSqe *sqe = comp_pop(req);

            pvrdma_comp_wqe(qp, sqe, PVRDMA_WC_SUCCESS);
        }
    }
    if (req->count && pvrdma_req_wqe(req, 0)->status) {
        comp_end(qp);
    }
    if (n && qp->sq_draining) {
        pvrdma_qp_drained(qp);
    }
}

/* --- Progress ---------------------------------------------------------------- */

/* Returns true if @sqe is a READ or an atomic, which needs a response of its own. */
static bool comp_needs_response(const PvrdmaSqe *sqe)
{
    unsigned kind = pvrdma_req_op(sqe->opcode)->kind;

    return kind == PVRDMA_REQ_READ || kind == PVRDMA_REQ_ATOMIC;
}

/*
 * Returns the WQE of the oldest packet that is not acknowledged: the oldest WQE that is
 * not done.  Returns NULL if this WQE has no PSNs, or is not in the ring.
 */
static PvrdmaSqe *comp_oldest(const PvrdmaReq *req)
{
    for (unsigned i = 0; i < req->count; i++) {
        PvrdmaSqe *sqe = pvrdma_req_wqe(req, i);

        if (!sqe->done) {
            return sqe->sent ? sqe : NULL;
        }
    }
    return NULL;
}

/*
 * Restores all retries, and restarts or stops the deadline, because una_psn has advanced.
 * Moves the cursor to una_psn if the cursor is before una_psn.  Activates a QP that waits
 * for an acknowledgement.
 */
static void comp_progress(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    req->retries = qp->attr.retry_cnt;
    req->rnr_retries = qp->attr.rnr_retry;
    req->retrying = false;
    if (unlikely(req->timeouts) &&
        roce_psn_diff(req->una_psn, req->timeout_psn) >= 0) {
        req->timeouts = 0;
    }
    if (roce_psn_diff(req->una_psn, req->psn) > 0) {
        /* Packets were acknowledged before the cursor retransmitted them. */
        pvrdma_req_seek(qp);
    }
    pvrdma_req_deadline(qp);
    if (req->waiting) {
        pvrdma_qp_activate(qp);
    }
}

/*
 * Marks the packets before PSN @end as acknowledged, but stops at a READ or an atomic,
 * which needs its own response, at a WQE in error, and at a WQE without PSNs.  Returns
 * false if a packet before @end is not acknowledged.
 */
static bool comp_advance(PvrdmaQp *qp, uint32_t end)
{
    PvrdmaReq *req = &qp->req;
    uint32_t from = req->una_psn;

    for (unsigned i = 0; req->una_psn != end && i < req->count; i++) {
        PvrdmaSqe *sqe = pvrdma_req_wqe(req, i);
        uint32_t want, left;

        if (sqe->done) {
            continue;
        }
        if (!sqe->sent || sqe->status || comp_needs_response(sqe)) {
            break;
        }
        want = pvrdma_req_distance(req->una_psn, end);
        left = pvrdma_req_distance(req->una_psn, sqe->last_psn) + 1;
        req->una_psn = roce_psn_add(req->una_psn, MIN(want, left));
        sqe->done = want >= left;
    }
    if (req->una_psn != from) {
        comp_progress(qp);
    }
    return req->una_psn == end;
}

/*
 * Marks the packet una_psn of @sqe, a READ or an atomic, as acknowledged, because the
 * response packet with this PSN has arrived.  @sqe is done at its last PSN.  An opcode
 * "last" at another PSN does not end @sqe, because the response may answer a request for
 * a part of @sqe.
 */
static void comp_answered(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    PvrdmaReq *req = &qp->req;

    clear_bit(req->una_psn % PVRDMA_REQ_PACKETS, req->unanswered);
    sqe->done = req->una_psn == sqe->last_psn;
    req->una_psn = roce_psn_add(req->una_psn, 1);
    comp_progress(qp);
}

/*
 * Sets the error @status of the WQE of the oldest packet that is not acknowledged.  Does
 * nothing if comp_oldest() returns NULL.
 */
static void comp_fail(PvrdmaQp *qp, uint8_t status)
{
    PvrdmaSqe *sqe = comp_oldest(&qp->req);

    if (sqe) {
        sqe->status = status;
    }
}

void pvrdma_comp_retry(PvrdmaQp *qp)
{
    PvrdmaReq *req = &qp->req;

    if (req->retrying || req->rnr_until) {
        return;
    }
    if (!req->retries) {
        pvrdma_count(qp->s, PVRDMA_CNT_RETRY_EXCEEDED);
        comp_fail(qp, PVRDMA_WC_RETRY_EXC_ERR);
        pvrdma_comp_collect(qp);
        return;
    }
    trace_pvrdma_comp_retry(qp->s->port.netdev, qp->handle, req->una_psn,
                            req->retries);
    req->retries--;
    req->retrying = true;
    req->deadline = 0;
    pvrdma_req_seek(qp);
    pvrdma_qp_activate(qp);
}

/*
 * Restarts the retransmission deadline if it runs, because the peer still sends responses
 * to the original requests, and the responses to the repeated requests follow.  Further
 * requests would delay a slow peer even more.
 */
static void comp_peer_busy(PvrdmaQp *qp)
{
    if (qp->req.deadline) {
        pvrdma_req_deadline(qp);
    }
}

/*
 * Handles an answer to a packet behind the oldest packet that is not acknowledged.  If
 * the oldest packet belongs to a READ or an atomic, its response counts as lost: the
 * function calls pvrdma_comp_retry(), or only restarts the deadline if a retransmission
 * has begun already.  In all other cases only counts the answer in RX_STALE.
 */
static void comp_response_missing(PvrdmaQp *qp)
{
    const PvrdmaSqe *sqe = comp_oldest(&qp->req);

    if (!sqe || !comp_needs_response(sqe)) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_STALE);
    } else if (qp->req.retrying) {
        comp_peer_busy(qp);
    } else {
        pvrdma_comp_retry(qp);
    }
}

/* --- Answers ----------------------------------------------------------------- */

/*
 * Handles an RNR NAK: uses one RNR retry, unless the number of retries is unlimited.
 * Sets the time before which the requester sends nothing, from the 5-bit code @code of
 * the peer.  If no RNR retry is left, only sets an error of the oldest WQE that is not
 * done.  Does nothing during an RNR wait.
 */
static void comp_rnr(PvrdmaQp *qp, unsigned code)
{
    PvrdmaReq *req = &qp->req;

    if (req->rnr_until) {
        return;
    }
    if (qp->attr.rnr_retry != RNR_FOR_EVER) {
        if (!req->rnr_retries) {
            pvrdma_count(qp->s, PVRDMA_CNT_RNR_EXCEEDED);
            comp_fail(qp, PVRDMA_WC_RNR_RETRY_EXC_ERR);
            return;
        }
        req->rnr_retries--;
    }
    /* Restores the retries after timeouts, because the RNR NAK shows a live peer. */
    req->retries = qp->attr.retry_cnt;
    req->timeouts = 0;
    req->retrying = false;
    pvrdma_req_seek(qp);
    req->deadline = 0;
    req->rnr_until = rnic_now() + roce_rnr_ns(code);
    pvrdma_req_arm(qp, req->rnr_until);
}

/*
 * Handles a NAK with @code, enum roce_nak: calls pvrdma_comp_retry() for PSN_SEQUENCE.
 * For another code, sets an error of the WQE of the oldest packet that is not
 * acknowledged.  The NAK may be for a later packet if comp_is_fatal() is true.
 */
static void comp_nak(PvrdmaQp *qp, unsigned code)
{
    if (code == ROCE_NAK_PSN_SEQUENCE) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_NAK);
        pvrdma_comp_retry(qp);
    } else {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_NAK_ERROR);
        comp_fail(qp, code < ARRAY_SIZE(comp_nak_status) ?
                      comp_nak_status[code] : PVRDMA_WC_BAD_RESP_ERR);
    }
}

/*
 * Returns true if the NAK with @kind and @code ends the connection.  The peer sends
 * nothing after such a NAK, so a response that is missing before the NAK is lost, and a
 * retransmission is useless.
 */
static bool comp_is_fatal(unsigned kind, unsigned code)
{
    return kind == ROCE_AETH_NAK && code != ROCE_NAK_PSN_SEQUENCE;
}

static void comp_ack_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
    unsigned kind = RNIC_GET(ROCE_AETH_KIND, pkt->syndrome);
    unsigned value = RNIC_GET(ROCE_AETH_VALUE, pkt->syndrome);

    if (kind == ROCE_AETH_ACK) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_ACK);
        if (!comp_advance(qp, roce_psn_add(pkt->psn, 1))) {
            comp_response_missing(qp);
        }
        return;
    }
    if (!comp_advance(qp, pkt->psn) && !comp_is_fatal(kind, value)) {
        comp_response_missing(qp);
    } else if (kind == ROCE_AETH_NAK) {
        comp_nak(qp, value);
    } else if (kind == ROCE_AETH_RNR_NAK) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_RNR);
        comp_rnr(qp, value);
    } else {
        comp_fail(qp, PVRDMA_WC_BAD_RESP_ERR);
    }
}

/*
 * Returns the oldest WQE that is not done, if this WQE is of @kind and @pkt is its
 * response.  Otherwise calls comp_response_missing(), sets an error of the WQE, or counts
 * @pkt in RX_STALE, and returns NULL.
 */
static PvrdmaSqe *comp_match(PvrdmaQp *qp, const RocePacket *pkt, unsigned kind)
{
    PvrdmaSqe *sqe;

    if (!comp_advance(qp, pkt->psn)) {
        comp_response_missing(qp);
        return NULL;
    }
    sqe = comp_oldest(&qp->req);
    if (!sqe) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_STALE);
        return NULL;
    }
    if (pvrdma_req_op(sqe->opcode)->kind != kind ||
        (roce_opcode_info(pkt->opcode)->flags & ROCE_HAS_AETH &&
         RNIC_GET(ROCE_AETH_KIND, pkt->syndrome) != ROCE_AETH_ACK)) {
        comp_fail(qp, PVRDMA_WC_BAD_RESP_ERR);
        return NULL;
    }
    return sqe;
}

/*
 * Stores @len bytes of response data at byte @offset of @sqe's scatter list.  Returns
 * false if the copy failed; then @sqe is in error.
 */
static bool comp_place(PvrdmaQp *qp, PvrdmaSqe *sqe, uint32_t offset,
                       const void *data, uint32_t len)
{
    uint8_t status = len ? pvrdma_sg_write(qp, sqe->sge, sqe->sges, offset, data,
                                           len) : PVRDMA_WC_SUCCESS;

    if (status) {
        pvrdma_req_refuse(qp, sqe, status);
    } else {
        trace_pvrdma_comp_scatter(qp->s->port.netdev, qp->handle, sqe->wr_id, offset,
                                  len);
    }
    return !status;
}

static void comp_read_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
    PvrdmaSqe *sqe = comp_match(qp, pkt, PVRDMA_REQ_READ);
    uint32_t offset;
    bool last;

    if (!sqe) {
        return;
    }
    offset = pvrdma_req_distance(sqe->psn, pkt->psn) * qp->mtu;
    last = roce_opcode_info(pkt->opcode)->flags & ROCE_IS_LAST;
    if (pkt->payload_len != MIN(sqe->length - offset, qp->mtu) ||
        (last ? !pvrdma_req_read_may_end(sqe, pkt->psn) :
                pkt->psn == sqe->last_psn)) {
        comp_fail(qp, PVRDMA_WC_BAD_RESP_ERR);
        return;
    }
    if (comp_place(qp, sqe, offset, pkt->payload, pkt->payload_len)) {
        comp_answered(qp, sqe);
    }
}

static void comp_atomic_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
    PvrdmaSqe *sqe = comp_match(qp, pkt, PVRDMA_REQ_ATOMIC);
    uint64_t original = cpu_to_le64(pkt->original);

    if (!sqe) {
        return;
    }
    if (comp_place(qp, sqe, 0, &original, sizeof(original))) {
        comp_answered(qp, sqe);
    }
}

void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
    const PvrdmaReq *req = &qp->req;
    uint32_t flags = roce_opcode_info(pkt->opcode)->flags;

    if (unlikely(req->refetching) && pvrdma_req_running(qp)) {
        pvrdma_req_refetch(qp);
        pvrdma_comp_collect(qp);        /* a fetched WQE may be in error */
    }
    trace_pvrdma_comp_parse(qp->s->port.netdev, qp->handle, pkt->opcode,
                            pkt->syndrome, pkt->psn);
    if (!pvrdma_req_running(qp) || !(flags & ROCE_IS_RESPONSE)) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_STALE);
        return;
    }
    if (pvrdma_req_distance(req->una_psn, pkt->psn) >=
        pvrdma_req_distance(req->una_psn, req->next_psn)) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_STALE);
        if (flags & ROCE_IS_READ) {
            comp_peer_busy(qp);
        }
        return;
    }
    if (flags & ROCE_IS_READ) {
        comp_read_rx(qp, pkt);
    } else if (flags & ROCE_IS_ATOMIC) {
        comp_atomic_rx(qp, pkt);
    } else {
        comp_ack_rx(qp, pkt);
    }
    pvrdma_comp_collect(qp);
}
