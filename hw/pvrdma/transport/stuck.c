/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: finds queue pairs that hang.  A QP that has work but is not
 * active needs a timer that will activate the QP, or an answer of the peer with a
 * deadline.  Otherwise the QP hangs for ever, and the guest gets no error.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "../objects/qp.h"
#include "req-internal.h"
#include "req.h"
#include "resp-internal.h"
#include "stuck.h"

/* Returns true if @when is not 0 and PvrdmaQp.timer expires at @when or before. */
static bool timer_covers(const PvrdmaQp *qp, int64_t when)
{
    /* In unit tests qp->timer is NULL. */
    return when && qp->req.armed && qp->req.armed <= when &&
           (!qp->timer || timer_pending(qp->timer));
}

/*
 * Returns an error text if a QP in state ERR or SQE has fetched WQEs that must be
 * flushed, but no flush is scheduled; otherwise NULL.
 */
static const char *flush_stuck(const PvrdmaQp *qp)
{
    bool ended = qp->state == PVRDMA_QPS_ERR;

    if ((ended || qp->state == PVRDMA_QPS_SQE) && !qp->flush_due &&
        (qp->req.count || (ended && qp->resp.rqe_valid))) {
        return "WQEs are not flushed";
    }
    return NULL;
}

static const char *resp_stuck(PvrdmaQp *qp)
{
    if (pvrdma_resp_has_work(qp) &&
        !(qp->req.paced && timer_covers(qp, INT64_MAX))) {
        return "an answer to the peer is not sent";
    }
    return NULL;
}

/*
 * Returns an error text if a sent packet has no answer and the QP's timer is not set for
 * a deadline; otherwise NULL.  Returns NULL if the QP's attribute timeout is 0.
 */
static const char *req_deadline_stuck(const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;

    if (req->una_psn == req->next_psn || !qp->attr.timeout) {
        return NULL;
    }
    return timer_covers(qp, req->deadline) ? NULL : "an answer has no deadline";
}

/*
 * Returns an error text if a packet or WQE at the cursor must be sent, or if a bit of
 * PvrdmaReq.unanswered is set; otherwise NULL.  The caller has checked that no packet
 * before the cursor awaits an answer.
 */
static const char *req_cursor_stuck(const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;
    bool begun;

    if (pvrdma_req_reads(req)) {
        return "a READ is counted that was not asked for";
    }
    begun = req->next < req->count && pvrdma_req_wqe(req, req->next)->sent;
    if (req->una_psn != req->next_psn || begun ||
        (req->next < req->count && qp->state == PVRDMA_QPS_RTS)) {
        return "a WQE is not sent";
    }
    return NULL;
}

static const char *req_stuck(const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;
    const char *why;

    if (!pvrdma_req_running(qp)) {
        return NULL;
    }
    if (req->count && (pvrdma_req_wqe(req, 0)->done ||
                       pvrdma_req_wqe(req, 0)->status)) {
        return "a WQE that ended is not completed";
    }
    if (qp->sq_draining && pvrdma_req_idle(qp)) {
        return "the guest does not hear that the queue is drained";
    }
    if (req->rnr_until) {
        return timer_covers(qp, req->rnr_until) ? NULL : "a pause has no end";
    }
    why = req_deadline_stuck(qp);
    if (why || req->una_psn != req->psn ||
        (req->paced && timer_covers(qp, INT64_MAX))) {
        return why;
    }
    return req_cursor_stuck(qp);
}

const char *pvrdma_qp_stuck(PvrdmaQp *qp)
{
    const char *why;

    if (qp->active) {
        return NULL;
    }
    why = flush_stuck(qp);
    why = why ?: resp_stuck(qp);
    return why ?: req_stuck(qp);
}

void pvrdma_qp_assert(PvrdmaQp *qp)
{
    const char *why = pvrdma_qp_stuck(qp);
    const PvrdmaReq *req = &qp->req;

    if (why) {
        error_report("pvrdma: QP %u in state %u is stuck: %s (una 0x%06x, psn 0x%06x, "
                     "next 0x%06x, %u WQEs, deadline %" PRId64 ", armed %" PRId64 ")",
                     qp->handle, qp->state, why, req->una_psn, req->psn,
                     req->next_psn, req->count, req->deadline, req->armed);
        abort();
    }
}
