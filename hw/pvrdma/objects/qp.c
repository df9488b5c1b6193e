/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: queue pairs: commands, state changes, doorbells, errors.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/caps.h"
#include "cq.h"
#include "../base/event.h"
#include "../base/guest.h"
#include "mr.h"
#include "../base/pages.h"
#include "../pvrdma.h"
#include "qp-attr.h"
#include "qp.h"
#include "srq.h"
#include "../base/table.h"
#include "wq.h"
#include "../trace.h"

#define QPN_GENERATION RNIC_FIELD(23, 16)
/* Maximal number of packets of answers that a QP sends when a command ends the QP. */
#define QP_LAST_ANSWERS 16

PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn)
{
    PvrdmaQp *qp = pvrdma_table_get(&s->qp, qpn & 0xffff);

    if (qpn == ROCE_QPN_GSI) {
        return s->gsi;
    }
    return qp && qp->qpn == qpn ? qp : NULL;
}

static void qp_state_set(PvrdmaQp *qp, uint8_t state)
{
    trace_pvrdma_qp_state(qp->s->port.netdev, qp->handle, qp->qpn, qp->state,
                          state);
    qp->state = state;
}

static void qp_deactivate(PvrdmaQp *qp)
{
    if (qp->active) {
        QTAILQ_REMOVE(&qp->s->active_qps, qp, active_next);
        qp->active = false;
    }
}

/* --- Errors --------------------------------------------------------------- */
void pvrdma_qp_flush_schedule(PvrdmaQp *qp)
{
    qp->flush_due = true;
    if (!QTAILQ_IN_USE(qp, flush_next)) {
        QTAILQ_INSERT_TAIL(&qp->s->flush_qps, qp, flush_next);
    }
    pvrdma_schedule(qp->s);
}

static void qp_flush_stop(PvrdmaQp *qp)
{
    qp->flush_due = false;
    if (QTAILQ_IN_USE(qp, flush_next)) {
        QTAILQ_REMOVE(&qp->s->flush_qps, qp, flush_next);
    }
}

/*
 * Flushes a part of the WQEs of @qp, and schedules the flush of the rest.  In state SQE
 * flushes only the send queue.  After the last WQE, sends LAST_WQE_REACHED if last_due is
 * true.
 */
static void qp_flush(PvrdmaQp *qp)
{
    bool more;

    qp_flush_stop(qp);
    more = qp->s->transport->send_flush(qp);
    if (qp->state == PVRDMA_QPS_ERR) {
        more |= qp->s->transport->receive_flush(qp);
    }
    if (more) {
        pvrdma_qp_flush_schedule(qp);
    } else if (qp->last_due) {
        /* All completions of the flush precede the event. */
        qp->last_due = false;
        pvrdma_event(qp->s, PVRDMA_EVENT_QP_LAST_WQE_REACHED, qp->handle);
    }
}

bool pvrdma_qp_flush_run(PvrdmaState *s)
{
    PvrdmaQp *qp = QTAILQ_FIRST(&s->flush_qps);

    if (qp) {
        qp_flush(qp);
    }
    return !QTAILQ_EMPTY(&s->flush_qps);
}

static bool qp_may_fail(const PvrdmaQp *qp)
{
    return qp->state != PVRDMA_QPS_RESET && qp->state != PVRDMA_QPS_ERR;
}

static void qp_end(PvrdmaQp *qp)
{
    qp_state_set(qp, PVRDMA_QPS_ERR);
    qp->sq_draining = false;
    qp->last_due = qp->srq;
    qp_deactivate(qp);
    timer_del(qp->timer);
}

void pvrdma_qp_error(PvrdmaQp *qp, int event)
{
    if (!qp_may_fail(qp)) {
        return;
    }
    qp_end(qp);
    if (event >= 0) {
        pvrdma_event(qp->s, event, qp->handle);
    }
    qp_flush(qp);
}

void pvrdma_qp_send_error(PvrdmaQp *qp)
{
    if (qp->type == PVRDMA_QPT_RC) {
        pvrdma_qp_error(qp, -1);
    } else if (qp->state == PVRDMA_QPS_RTS || qp->state == PVRDMA_QPS_SQD) {
        qp_state_set(qp, PVRDMA_QPS_SQE);
        qp->sq_draining = false;
        qp_flush(qp);
    }
}

/*
 * Puts a QP of a failed CQ into state ERR, sends QP_FATAL, and schedules the flush of the
 * QP.  Does not flush at once, because a flush can overflow the QP's other CQ, and a
 * chain of such CQs would exhaust the stack.
 */
static void qp_cq_error(PvrdmaQp *qp)
{
    if (qp_may_fail(qp)) {
        qp_end(qp);
        pvrdma_event(qp->s, PVRDMA_EVENT_QP_FATAL, qp->handle);
        pvrdma_qp_flush_schedule(qp);
    }
}

void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq)
{
    PvrdmaQp *qp;

    QLIST_FOREACH(qp, &cq->senders, send_next) {
        qp_cq_error(qp);
    }
    QLIST_FOREACH(qp, &cq->receivers, recv_next) {
        qp_cq_error(qp);
    }
}

static void qp_timer(void *opaque)
{
    PvrdmaQp *qp = opaque;

    qp->s->transport->timer(qp);
    qp->s->transport->check(qp);
}

void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline)
{
    if (deadline && qp->state != PVRDMA_QPS_ERR) {
        timer_mod_ns(qp->timer, deadline);
    } else {
        timer_del(qp->timer);
    }
}

/* --- Receive WQEs and doorbells ------------------------------------------- */
void pvrdma_qp_drained(PvrdmaQp *qp)
{
    if (!qp->sq_draining || !qp->s->transport->send_idle(qp)) {
        return;
    }
    qp->sq_draining = false;
    if (qp->attr.en_sqd_async_notify) {
        pvrdma_event(qp->s, PVRDMA_EVENT_SQ_DRAINED, qp->handle);
    }
}

static int qp_receive_own(PvrdmaQp *qp, PvrdmaRqe *rqe)
{
    PvrdmaState *s = qp->s;
    int pending = pvrdma_wq_pending(s, &qp->pages, &qp->rq);

    if (pending <= 0) {
        return pending;
    }
    if (!pvrdma_rq_fetch(s, &qp->pages, &qp->rq, rqe)) {
        return -1;
    }
    pvrdma_wq_consume(s, &qp->pages, &qp->rq, 1);
    return 1;
}

int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe)
{
    int found = qp->srq ? pvrdma_srq_receive(qp->s, qp->srq, rqe)
                        : qp_receive_own(qp, rqe);

    if (found < 0) {
        pvrdma_guest_error(qp->s, "QP %u: receive queue cannot be read",
                           qp->handle);
        pvrdma_qp_error(qp, PVRDMA_EVENT_QP_FATAL);
    }
    return found;
}

void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value)
{
    uint32_t handle = value & PVRDMA_UAR_HANDLE_MASK;
    PvrdmaQp *qp = pvrdma_table_get(&s->qp, handle);

    if (!qp || qp->uar != uar) {
        pvrdma_guest_error(s, "doorbell of QP %u on page %u", handle, uar);
        return;
    }
    if (qp->state == PVRDMA_QPS_ERR) {
        qp_flush(qp);
    } else if (!(value & PVRDMA_UAR_QP_SEND)) {
        /*
         * A receive doorbell needs no action, because only arriving packets need the
         * WQEs.
         */
        return;
    } else if (qp->state == PVRDMA_QPS_SQE) {
        qp_flush(qp);
    } else if (qp->state == PVRDMA_QPS_RTS) {
        pvrdma_qp_activate(qp);
    }
    qp->s->transport->check(qp);
}

/* --- Creation and end ----------------------------------------------------- */
/*
 * Finds PD, CQs and SRQ of a new QP, and checks its type.  Returns 0; EOPNOTSUPP for
 * another type than GSI, RC and UD; EINVAL if an object does not exist or belongs to
 * another context or PD; EBUSY for a second GSI QP; EPERM for a GSI QP of a process.
 */
static int qp_objects(PvrdmaQp *qp, const struct pvrdma_cmd_create_qp *cmd)
{
    PvrdmaState *s = qp->s;
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, le32_to_cpu(cmd->pd_handle));

    if (cmd->qp_type != PVRDMA_QPT_GSI && cmd->qp_type != PVRDMA_QPT_RC &&
        cmd->qp_type != PVRDMA_QPT_UD) {
        return EOPNOTSUPP;
    }
    qp->send_cq = pvrdma_table_get(&s->cq, le32_to_cpu(cmd->send_cq_handle));
    qp->recv_cq = pvrdma_table_get(&s->cq, le32_to_cpu(cmd->recv_cq_handle));
    if (!pd || !qp->send_cq || !qp->recv_cq || qp->send_cq->ctx != pd->ctx ||
        qp->recv_cq->ctx != pd->ctx) {
        return EINVAL;
    }
    if (cmd->is_srq) {
        qp->srq = pvrdma_table_get(&s->srq, le32_to_cpu(cmd->srq_handle));
        if (!qp->srq || qp->srq->pd != pd->handle) {
            return EINVAL;
        }
    }
    if (cmd->qp_type == PVRDMA_QPT_GSI && (s->gsi || pd->ctx)) {
        return s->gsi ? EBUSY : EPERM;
    }
    qp->type = cmd->qp_type;
    qp->sq_sig_all = cmd->sq_sig_all;
    qp->pd = pd->handle;
    qp->uar = pd->uar;
    return 0;
}

int pvrdma_qp_layout(PvrdmaQp *qp, uint32_t rq_at)
{
    int err;

    if ((uint64_t)qp->pages.count * PVRDMA_PAGE_BYTES < rq_at) {
        return EINVAL;
    }
    err = pvrdma_wq_init(&qp->sq, offsetof(struct pvrdma_ring_state, tx),
                         PVRDMA_PAGE_BYTES, le32_to_cpu(qp->cap.max_send_wr),
                         le32_to_cpu(qp->cap.max_send_sge));
    if (!err && !qp->srq) {
        err = pvrdma_wq_init(&qp->rq, offsetof(struct pvrdma_ring_state, rx),
                             rq_at, le32_to_cpu(qp->cap.max_recv_wr),
                             le32_to_cpu(qp->cap.max_recv_sge));
    }
    err = err ?: pvrdma_sq_layout(&qp->sq, &qp->pages);
    if (!err && qp->sq.wqe_at + qp->sq.entries * qp->sq.wqe_bytes > rq_at) {
        err = EINVAL;
    }
    return err ?: qp->srq ? 0 : pvrdma_rq_layout(&qp->rq, &qp->pages);
}

/*
 * Loads the pages of a new QP, and places its queues in the pages.  Returns 0 or an
 * errno.
 */
static int qp_queues(PvrdmaQp *qp, const struct pvrdma_cmd_create_qp *cmd)
{
    uint32_t rq_at = (1 + le16_to_cpu(cmd->send_chunks)) * PVRDMA_PAGE_BYTES;
    int err = pvrdma_pages_load(qp->s, &qp->pages, le64_to_cpu(cmd->pdir_dma),
                                le16_to_cpu(cmd->total_chunks));

    return err ?: pvrdma_qp_layout(qp, rq_at);
}

/*
 * Allocates and returns a handle for @qp, or returns 0 if the table is full.  For a
 * driver that uses QP numbers as handles, the GSI QP has handle 1, and no other QP has
 * this handle.
 */
static uint32_t qp_handle(PvrdmaQp *qp)
{
    PvrdmaTable *t = &qp->s->qp;
    uint32_t handle;

    if (qp->s->qp_handles) {
        return pvrdma_table_add(t, qp);
    }
    if (qp->type == PVRDMA_QPT_GSI) {
        pvrdma_table_set(t, ROCE_QPN_GSI, qp);
        return ROCE_QPN_GSI;
    }
    handle = pvrdma_table_add(t, qp);
    if (handle == ROCE_QPN_GSI) {
        handle = pvrdma_table_add(t, qp);
        pvrdma_table_remove(t, ROCE_QPN_GSI);
    }
    return handle;
}

/*
 * Allocates handle and QP number of @qp.  Returns 0 or ENOMEM.  If the driver
 * distinguishes handle and number, the number also contains a generation, which changes
 * with each new QP.  So delayed packets to an old QP usually do not reach a new QP with
 * the same handle.  The GSI QP has number 1, without a generation.
 */
static int qp_number(PvrdmaQp *qp)
{
    PvrdmaState *s = qp->s;

    qp->handle = qp_handle(qp);
    if (!qp->handle) {
        return ENOMEM;
    }
    if (qp->type == PVRDMA_QPT_GSI) {
        qp->qpn = ROCE_QPN_GSI;
        return 0;
    }
    if (!s->qp_handles) {
        qp->qpn = qp->handle;
        return 0;
    }
    if (!++s->qpn_generation) {
        s->qpn_generation = 1;          /* generation 0 could form the GSI QP's number */
    }
    qp->qpn = RNIC_PREP(QPN_GENERATION, s->qpn_generation) | qp->handle;
    return 0;
}

static void qp_use(PvrdmaQp *qp, int by)
{
    PvrdmaPd *pd = pvrdma_table_get(&qp->s->pd, qp->pd);

    pd->users += by;
    qp->send_cq->users += by;
    qp->recv_cq->users += by;
    if (qp->srq) {
        qp->srq->users += by;
    }
}

void pvrdma_qp_attach(PvrdmaQp *qp)
{
    qp_use(qp, 1);
    QLIST_INSERT_HEAD(&qp->send_cq->senders, qp, send_next);
    QLIST_INSERT_HEAD(&qp->recv_cq->receivers, qp, recv_next);
    qp->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, qp_timer, qp);
    if (qp->type == PVRDMA_QPT_GSI) {
        qp->s->gsi = qp;
    }
}

static void qp_cap_init(PvrdmaQp *qp, const struct pvrdma_cmd_create_qp *cmd)
{
    qp->cap.max_send_wr = cmd->max_send_wr;
    qp->cap.max_send_sge = cmd->max_send_sge;
    if (!qp->srq) {
        qp->cap.max_recv_wr = cmd->max_recv_wr;
        qp->cap.max_recv_sge = cmd->max_recv_sge;
    }
}

/*
 * Fills the response of create_qp.  The capacities are those of the request, but 0 for
 * inline data, and 0 for the receive queue of a QP with an SRQ.
 */
static void qp_response_fill(PvrdmaQp *qp, union pvrdma_cmd_resp *resp)
{
    struct pvrdma_cmd_create_qp_resp *answer = &resp->create_qp;
    struct pvrdma_cmd_create_qp_resp_v1 *v1 = &resp->create_qp_v1;

    if (!qp->s->qp_handles) {
        v1->qpn = cpu_to_le32(qp->qpn);
        v1->max_send_wr = qp->cap.max_send_wr;
        v1->max_recv_wr = qp->cap.max_recv_wr;
        v1->max_send_sge = qp->cap.max_send_sge;
        v1->max_recv_sge = qp->cap.max_recv_sge;
        return;
    }
    answer->qpn = cpu_to_le32(qp->qpn);
    answer->qp_handle = cpu_to_le32(qp->handle);
    answer->max_send_wr = qp->cap.max_send_wr;
    answer->max_recv_wr = qp->cap.max_recv_wr;
    answer->max_send_sge = qp->cap.max_send_sge;
    answer->max_recv_sge = qp->cap.max_recv_sge;
}

int pvrdma_cmd_create_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_create_qp *cmd = &req->create_qp;
    PvrdmaQp *qp = g_new0(PvrdmaQp, 1);
    int err;

    /*
     * Limit of the host memory of all QPs, bytes; docs/pvrdma/limits.rst contains the
     * sum.
     */
    QEMU_BUILD_BUG_ON((uint64_t)PVRDMA_QPS * sizeof(PvrdmaQp) > 140 * 1000 * 1000);

    qp->s = s;
    err = qp_objects(qp, cmd);
    if (!err) {
        qp_cap_init(qp, cmd);
        err = qp_queues(qp, cmd);
    }
    err = err ?: qp_number(qp);
    if (err) {
        pvrdma_pages_free(s, &qp->pages);
        g_free(qp);
        return err;
    }
    pvrdma_qp_attach(qp);
    qp_response_fill(qp, resp);
    trace_pvrdma_qp_create(s->port.netdev, qp->handle, qp->qpn, qp->type);
    return 0;
}

/*
 * Sends pending answers of a connection, at most QP_LAST_ANSWERS packets, before the
 * connection ends.  Otherwise the peer would wait for answers, although its requests were
 * executed.
 */
static void qp_answer(PvrdmaQp *qp)
{
    unsigned budget = QP_LAST_ANSWERS;

    if (qp->type == PVRDMA_QPT_RC && qp->state >= PVRDMA_QPS_RTR) {
        qp->s->transport->receive_answer(qp, &budget);
    }
}

/* Stops all work of a QP, and drops its fetched send WQEs without completions. */
static void qp_stop(PvrdmaQp *qp)
{
    qp_deactivate(qp);
    timer_del(qp->timer);
    qp_flush_stop(qp);
    qp->last_due = false;
    qp->s->transport->end(qp);
}

static void qp_free(PvrdmaQp *qp)
{
    PvrdmaState *s = qp->s;

    qp_stop(qp);
    timer_free(qp->timer);
    qp_use(qp, -1);
    QLIST_REMOVE(qp, send_next);
    QLIST_REMOVE(qp, recv_next);
    if (s->gsi == qp) {
        s->gsi = NULL;
    }
    pvrdma_table_remove(&s->qp, qp->handle);
    pvrdma_pages_free(s, &qp->pages);
    g_free(qp);
}

int pvrdma_cmd_destroy_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    PvrdmaQp *qp = pvrdma_table_get(&s->qp,
                                    le32_to_cpu(req->destroy_qp.qp_handle));

    if (!qp) {
        return EINVAL;
    }
    trace_pvrdma_qp_destroy(s->port.netdev, qp->handle, qp->qpn);
    qp_answer(qp);
    qp_free(qp);
    return 0;
}

void pvrdma_qp_reset_all(PvrdmaState *s)
{
    for (uint32_t handle = 0; handle < s->qp.size && s->qp.used; handle++) {
        PvrdmaQp *qp = pvrdma_table_get(&s->qp, handle);

        if (qp) {
            qp_free(qp);
        }
    }
}

/* --- States --------------------------------------------------------------- */
static void qp_reset(PvrdmaQp *qp)
{
    qp_stop(qp);
    qp_state_set(qp, PVRDMA_QPS_RESET);
    pvrdma_wq_reset(&qp->sq);
    pvrdma_wq_reset(&qp->rq);
    memset(&qp->attr, 0, sizeof(qp->attr));
    memset(&qp->path, 0, sizeof(qp->path));
    memset(&qp->resp, 0, sizeof(qp->resp));
    qp->mtu = 0;
    qp->sq_draining = false;
}

static void qp_ready_to_receive(PvrdmaQp *qp)
{
    if (qp->type == PVRDMA_QPT_RC) {
        qp->s->transport->receive_begin(qp);
    } else {
        /* A datagram QP has no path MTU, because its peers may have different MTUs. */
        qp->mtu = qp->s->mtu;
    }
}

static void qp_ready_to_send(PvrdmaQp *qp, uint8_t from)
{
    if (from == PVRDMA_QPS_RTR) {
        qp->s->transport->send_begin(qp);
        qp->ud_psn = qp->attr.sq_psn;
    }
    qp->sq_draining = false;
    pvrdma_qp_activate(qp);             /* the guest may have posted WQEs already */
}

/*
 * Completes the flush of the send queue before a QP leaves state SQE, because no WQE
 * behind the failed WQE may be sent.  Flushes at most PVRDMA_MAX_WR posted WQEs, because
 * the guest may post more WQEs during the flush.  Returns false if the QP went to state
 * ERR.
 */
static bool qp_recover(PvrdmaQp *qp)
{
    for (unsigned n = 0; qp->flush_due && n < PVRDMA_MAX_WR; n += PVRDMA_FLUSH_WQES) {
        qp_flush(qp);
    }
    if (qp->state == PVRDMA_QPS_SQE) {
        qp_flush_stop(qp);
    }
    return qp->state == PVRDMA_QPS_SQE;
}

static void qp_state_change(PvrdmaQp *qp, uint8_t to)
{
    uint8_t from = qp->state;

    switch (to) {
    case PVRDMA_QPS_RESET:
        qp_answer(qp);
        qp_reset(qp);
        return;
    case PVRDMA_QPS_ERR:
        qp_answer(qp);
        pvrdma_qp_error(qp, -1);
        return;
    }
    if (to == from && (to == PVRDMA_QPS_RTS || to == PVRDMA_QPS_SQD)) {
        pvrdma_qp_activate(qp);         /* new attributes may permit more packets */
    }
    if (to == from || (from == PVRDMA_QPS_SQE && !qp_recover(qp))) {
        return;
    }
    qp_state_set(qp, to);
    switch (to) {
    case PVRDMA_QPS_RTR:
        qp_ready_to_receive(qp);
        break;
    case PVRDMA_QPS_RTS:
        qp_ready_to_send(qp, from);
        break;
    case PVRDMA_QPS_SQD:
        qp->sq_draining = true;
        pvrdma_qp_drained(qp);
        break;
    }
}

int pvrdma_cmd_modify_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_modify_qp *cmd = &req->modify_qp;
    PvrdmaQp *qp = pvrdma_table_get(&s->qp, le32_to_cpu(cmd->qp_handle));
    uint8_t to;
    int err;

    if (!qp) {
        return EINVAL;
    }
    err = pvrdma_qp_attr_set(qp, le32_to_cpu(cmd->attr_mask), &cmd->attrs, &to);
    if (!err) {
        qp_state_change(qp, to);
        qp->s->transport->check(qp);
    }
    return err;
}

int pvrdma_cmd_query_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
                        union pvrdma_cmd_resp *resp)
{
    PvrdmaQp *qp = pvrdma_table_get(&s->qp,
                                    le32_to_cpu(req->query_qp.qp_handle));

    if (!qp) {
        return EINVAL;
    }
    pvrdma_qp_attr_get(qp, &resp->query_qp.attrs);
    return 0;
}
