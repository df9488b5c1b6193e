/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: snapshots of queue pairs.
 */
#include "qemu/osdep.h"
#include "migration/vmstate.h"
#include "base/caps.h"
#include "migration.h"
#include "objects/mr.h"
#include "base/pages.h"
#include "pvrdma.h"
#include "objects/qp-attr.h"
#include "objects/qp.h"
#include "transport/req-internal.h"
#include "transport/req.h"
#include "transport/resp-internal.h"
#include "transport/resp.h"
#include "wire/roce.h"
#include "base/table.h"
#include "objects/wq.h"

#define QPN_HANDLE RNIC_FIELD(15, 0)
#define QPN_GENERATION RNIC_FIELD(23, 16)
#define RETRIES_MAX 7

/* --- Attributes ----------------------------------------------------------- */
static const VMStateDescription attr_vmstate = {
    .name = "pvrdma-qp-attr",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(path_mtu, PvrdmaQpAttr),
        VMSTATE_UINT32(path_mig_state, PvrdmaQpAttr),
        VMSTATE_UINT32(qkey, PvrdmaQpAttr),
        VMSTATE_UINT32(rq_psn, PvrdmaQpAttr),
        VMSTATE_UINT32(sq_psn, PvrdmaQpAttr),
        VMSTATE_UINT32(dest_qpn, PvrdmaQpAttr),
        VMSTATE_UINT32(access, PvrdmaQpAttr),
        VMSTATE_UINT16(pkey_index, PvrdmaQpAttr),
        VMSTATE_UINT8(en_sqd_async_notify, PvrdmaQpAttr),
        VMSTATE_UINT8(max_rd_atomic, PvrdmaQpAttr),
        VMSTATE_UINT8(max_dest_rd_atomic, PvrdmaQpAttr),
        VMSTATE_UINT8(min_rnr_timer, PvrdmaQpAttr),
        VMSTATE_UINT8(port_num, PvrdmaQpAttr),
        VMSTATE_UINT8(timeout, PvrdmaQpAttr),
        VMSTATE_UINT8(retry_cnt, PvrdmaQpAttr),
        VMSTATE_UINT8(rnr_retry, PvrdmaQpAttr),
        VMSTATE_BUFFER_UNSAFE(ah, PvrdmaQpAttr, 0,
                              sizeof(struct pvrdma_ah_attr)),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription path_vmstate = {
    .name = "pvrdma-path",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8_ARRAY(smac, RocePath, 6),
        VMSTATE_UINT8_ARRAY(dmac, RocePath, 6),
        VMSTATE_UINT8_ARRAY(sgid, RocePath, 16),
        VMSTATE_UINT8_ARRAY(dgid, RocePath, 16),
        VMSTATE_UINT32(flow_label, RocePath),
        VMSTATE_UINT16(vlan, RocePath),
        VMSTATE_UINT16(sport, RocePath),
        VMSTATE_UINT8(network, RocePath),
        VMSTATE_UINT8(traffic_class, RocePath),
        VMSTATE_UINT8(hop_limit, RocePath),
        VMSTATE_END_OF_LIST()
    },
};

/* --- Responder ------------------------------------------------------------ */
static const VMStateDescription sge_vmstate = {
    .name = "pvrdma-sge",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(addr, PvrdmaSge),
        VMSTATE_UINT32(length, PvrdmaSge),
        VMSTATE_UINT32(lkey, PvrdmaSge),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription rqe_vmstate = {
    .name = "pvrdma-rqe",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(wr_id, PvrdmaRqe),
        VMSTATE_UINT32(length, PvrdmaRqe),
        VMSTATE_UINT8(status, PvrdmaRqe),
        VMSTATE_UINT16(sges, PvrdmaRqe),
        VMSTATE_STRUCT_ARRAY(sge, PvrdmaRqe, PVRDMA_MAX_SGE, 1, sge_vmstate,
                             PvrdmaSge),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription resource_vmstate = {
    .name = "pvrdma-resource",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(atomic, PvrdmaResource),
        VMSTATE_BOOL(active, PvrdmaResource),
        VMSTATE_BOOL(replay, PvrdmaResource),
        VMSTATE_UINT32(psn, PvrdmaResource),
        VMSTATE_UINT32(last_psn, PvrdmaResource),
        VMSTATE_UINT32(from_psn, PvrdmaResource),
        VMSTATE_UINT32(send_psn, PvrdmaResource),
        VMSTATE_UINT64(va, PvrdmaResource),
        VMSTATE_UINT32(rkey, PvrdmaResource),
        VMSTATE_UINT32(len, PvrdmaResource),
        VMSTATE_UINT64(original, PvrdmaResource),
        VMSTATE_UINT32(msn, PvrdmaResource),
        VMSTATE_END_OF_LIST()
    },
};

/*
 * Rotates the ring of resources so that the oldest resource is in slot 0, because the
 * stream has no resource_first.
 */
static int resp_pre_save(void *opaque)
{
    PvrdmaResp *r = opaque;
    PvrdmaResource *old;

    if (r->resource_first) {
        old = g_memdup2(r->resource, sizeof(r->resource));
        for (unsigned i = 0; i < r->resource_count; i++) {
            r->resource[i] = old[(r->resource_first + i) % PVRDMA_RESP_RESOURCES];
        }
        r->resource_first = 0;
        g_free(old);
    }
    return 0;
}

static bool resp_has_rqe(void *opaque, int version)
{
    const PvrdmaResp *r = opaque;

    return r->rqe_valid;
}

static bool resp_resources_valid(void *opaque, int version)
{
    const PvrdmaResp *r = opaque;

    return r->resource_count <= PVRDMA_RESP_RESOURCES;
}

static const VMStateDescription resp_vmstate = {
    .name = "pvrdma-resp",
    PVRDMA_ONE_VERSION,
    .pre_save = resp_pre_save,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(epsn, PvrdmaResp),
        VMSTATE_UINT32(msn, PvrdmaResp),
        VMSTATE_UINT32(ahead_psn, PvrdmaResp),
        VMSTATE_BOOL(nak_sent, PvrdmaResp),
        VMSTATE_BOOL(established, PvrdmaResp),
        VMSTATE_BOOL(cnp_due, PvrdmaResp),
        VMSTATE_UINT8(answer, PvrdmaResp),
        VMSTATE_UINT8(nak, PvrdmaResp),
        VMSTATE_UINT32(nak_psn, PvrdmaResp),
        VMSTATE_UINT32(message, PvrdmaResp),
        VMSTATE_BOOL(rqe_valid, PvrdmaResp),
        VMSTATE_STRUCT_TEST(rqe, PvrdmaResp, resp_has_rqe, 1, rqe_vmstate,
                            PvrdmaRqe),
        VMSTATE_UINT64(va, PvrdmaResp),
        VMSTATE_UINT32(rkey, PvrdmaResp),
        VMSTATE_UINT32(len, PvrdmaResp),
        VMSTATE_UINT32(done, PvrdmaResp),
        VMSTATE_UINT32(resource_count, PvrdmaResp),
        VMSTATE_VALIDATE("resources", resp_resources_valid),
        VMSTATE_STRUCT_VARRAY_UINT32(resource, PvrdmaResp, resource_count, 1,
                                     resource_vmstate, PvrdmaResource),
        VMSTATE_END_OF_LIST()
    },
};

static bool psn_valid(uint32_t psn)
{
    return psn <= ROCE_PSN_MASK;
}

/*
 * Returns true if the values of a resource are valid.  The response to the newest request
 * for a READ must be a part of the response to the original request.
 */
static bool resource_valid(const PvrdmaQp *qp, const PvrdmaResource *r)
{
    uint32_t span = pvrdma_req_distance(r->psn, r->last_psn);
    uint32_t from = pvrdma_req_distance(r->psn, r->from_psn);
    uint32_t sent = pvrdma_req_distance(r->from_psn, r->send_psn);
    uint32_t packets;

    if (!qp->mtu || !psn_valid(r->psn | r->last_psn | r->from_psn |
                               r->send_psn | r->msn) ||
        r->len > ROCE_MSG_MAX || span > ROCE_PSN_MASK / 2) {
        return false;
    }
    if (r->atomic) {
        return !span;
    }
    packets = roce_packets(r->len, qp->mtu);
    return (uint64_t)from + packets <= span + 1 && sent + r->active <= packets;
}

static bool resp_state_valid(const PvrdmaQp *qp)
{
    const PvrdmaResp *r = &qp->resp;
    bool alive = qp->state >= PVRDMA_QPS_RTR && qp->state < PVRDMA_QPS_ERR;
    bool idle = !r->resource_count && !r->message && !r->answer && !r->cnp_due;

    if (r->rqe.sges > PVRDMA_MAX_SGE) {
        return false;
    }
    if (qp->type != PVRDMA_QPT_RC || !qp->mtu) {
        return idle;
    }
    if (!psn_valid(r->epsn | r->msn | r->ahead_psn | r->nak_psn) ||
        r->answer > PVRDMA_ANSWER_REFUSE || r->nak > ROCE_AETH_VALUE ||
        (r->message & ~(ROCE_IS_SEND | ROCE_IS_WRITE)) ||
        (alive && ((r->message & ROCE_IS_SEND && !r->rqe_valid) ||
                   r->answer == PVRDMA_ANSWER_REFUSE))) {
        return false;
    }
    for (unsigned i = 0; i < r->resource_count; i++) {
        if (!resource_valid(qp, &r->resource[i])) {
            return false;
        }
    }
    return true;
}

/* --- Queue pairs ---------------------------------------------------------- */
/* Values in the stream that PvrdmaQp contains in another form. */
typedef struct QpTmp {
    PvrdmaQp *parent;
    uint32_t send_cq, recv_cq, srq;         /* handles; 0: none */
    uint32_t begin_psn;
    uint64_t parked;
} QpTmp;

static int qp_tmp_pre_save(void *opaque)
{
    QpTmp *tmp = opaque;
    PvrdmaQp *qp = tmp->parent;

    tmp->send_cq = qp->send_cq->handle;
    tmp->recv_cq = qp->recv_cq->handle;
    tmp->srq = qp->srq ? qp->srq->handle : 0;
    pvrdma_req_park_state(&qp->req, &tmp->begin_psn, &tmp->parked);
    return 0;
}

static int qp_tmp_post_load(void *opaque, int version)
{
    const QpTmp *tmp = opaque;
    PvrdmaQp *qp = tmp->parent;

    qp->send_cq = pvrdma_table_get(&qp->s->cq, tmp->send_cq);
    qp->recv_cq = pvrdma_table_get(&qp->s->cq, tmp->recv_cq);
    qp->srq = pvrdma_table_get(&qp->s->srq, tmp->srq);
    qp->req.begin_psn = tmp->begin_psn;
    qp->req.parked = tmp->parked;
    return !qp->send_cq || !qp->recv_cq || (tmp->srq && !qp->srq) ? -EINVAL : 0;
}

static const VMStateDescription qp_tmp_vmstate = {
    .name = "pvrdma-qp-tmp",            /* a temporary struct has no version */
    .pre_save = qp_tmp_pre_save,
    .post_load = qp_tmp_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(send_cq, QpTmp),
        VMSTATE_UINT32(recv_cq, QpTmp),
        VMSTATE_UINT32(srq, QpTmp),
        VMSTATE_UINT32(begin_psn, QpTmp),
        VMSTATE_UINT64(parked, QpTmp),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription qp_vmstate = {
    .name = "pvrdma-qp",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(qpn, PvrdmaQp),
        VMSTATE_UINT32(pd, PvrdmaQp),
        VMSTATE_UINT8(type, PvrdmaQp),
        VMSTATE_UINT8(state, PvrdmaQp),
        VMSTATE_BOOL(sq_sig_all, PvrdmaQp),
        VMSTATE_BOOL(sq_draining, PvrdmaQp),
        VMSTATE_BOOL(flush_due, PvrdmaQp),
        VMSTATE_BOOL(last_due, PvrdmaQp),
        VMSTATE_UINT32(ud_psn, PvrdmaQp),
        VMSTATE_STRUCT(sq, PvrdmaQp, 1, pvrdma_wq_vmstate, PvrdmaWq),
        VMSTATE_STRUCT(rq, PvrdmaQp, 1, pvrdma_wq_vmstate, PvrdmaWq),
        VMSTATE_STRUCT(pages, PvrdmaQp, 1, pvrdma_pages_vmstate, PvrdmaPages),
        VMSTATE_STRUCT(attr, PvrdmaQp, 1, attr_vmstate, PvrdmaQpAttr),
        VMSTATE_STRUCT(path, PvrdmaQp, 1, path_vmstate, RocePath),
        VMSTATE_UINT32(req.next_psn, PvrdmaQp),
        VMSTATE_UINT32(req.una_psn, PvrdmaQp),
        VMSTATE_UINT8(req.retries, PvrdmaQp),
        VMSTATE_UINT8(req.rnr_retries, PvrdmaQp),
        VMSTATE_INT64(req.rnr_until, PvrdmaQp),
        VMSTATE_STRUCT(resp, PvrdmaQp, 1, resp_vmstate, PvrdmaResp),
        VMSTATE_WITH_TMP(PvrdmaQp, QpTmp, qp_tmp_vmstate),
        VMSTATE_END_OF_LIST()
    },
};

static void qp_prepare(PvrdmaState *s, void *object)
{
    PvrdmaQp *qp = object;

    qp->s = s;
}

/*
 * Returns true, and sets the number of the doorbell page, if the PD exists, the CQs
 * belong to the context of the PD, and the SRQ, if any, belongs to the PD.
 */
static bool qp_parts_valid(PvrdmaQp *qp)
{
    PvrdmaPd *pd = pvrdma_table_get(&qp->s->pd, qp->pd);

    if (!pd || qp->send_cq->ctx != pd->ctx || qp->recv_cq->ctx != pd->ctx ||
        (qp->srq && qp->srq->pd != pd->handle)) {
        return false;
    }
    qp->uar = pd->uar;
    return true;
}

static bool qp_number_valid(const PvrdmaQp *qp)
{
    bool gsi = qp->type == PVRDMA_QPT_GSI;

    if (gsi) {
        return qp->qpn == ROCE_QPN_GSI && !qp->s->gsi &&
               (qp->s->qp_handles || qp->handle == ROCE_QPN_GSI);
    }
    if (qp->type != PVRDMA_QPT_RC && qp->type != PVRDMA_QPT_UD) {
        return false;
    }
    if (!qp->s->qp_handles) {
        return qp->qpn == qp->handle && qp->qpn != ROCE_QPN_GSI;
    }
    return qp->qpn <= ROCE_QPN_MASK && RNIC_GET(QPN_GENERATION, qp->qpn) &&
           RNIC_GET(QPN_HANDLE, qp->qpn) == qp->handle;
}

static bool qp_queues_resume(PvrdmaQp *qp)
{
    const PvrdmaWq sq = qp->sq, rq = qp->rq;
    uint32_t end = MIN(qp->pages.count, UINT16_MAX) * PVRDMA_PAGE_BYTES;

    qp->cap.max_send_wr = cpu_to_le32(sq.entries);
    qp->cap.max_send_sge = cpu_to_le32(sq.max_sge);
    qp->cap.max_recv_wr = cpu_to_le32(rq.entries);
    qp->cap.max_recv_sge = cpu_to_le32(rq.max_sge);
    if (qp->srq && rq.entries) {
        return false;
    }
    return !pvrdma_qp_layout(qp, qp->srq ? end : rq.wqe_at) &&
           pvrdma_wq_resume(&qp->sq, sq.cons, sq.prod) &&
           pvrdma_wq_resume(&qp->rq, rq.cons, rq.prod);
}

/*
 * Returns true if the requester's state is valid.  In a state in which the QP sends,
 * begin_psn must not be after una_psn, una_psn must be at most PVRDMA_REQ_PACKETS before
 * next_psn, and the send queue must have a WQE if begin_psn differs from next_psn.
 */
static bool req_state_valid(const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;

    if (!psn_valid(req->begin_psn | req->una_psn | req->next_psn) ||
        req->retries > RETRIES_MAX || req->rnr_retries > RETRIES_MAX ||
        req->rnr_until < 0) {
        return false;
    }
    return !pvrdma_req_running(qp) ||
           ((req->begin_psn == req->next_psn || qp->sq.prod != qp->sq.cons) &&
            roce_psn_diff(req->una_psn, req->begin_psn) >= 0 &&
            pvrdma_req_distance(req->una_psn, req->next_psn) <=
            PVRDMA_REQ_PACKETS);
}

/*
 * Returns true if the flags of a QP that ends are valid.  LAST_WQE_REACHED may be due
 * only if a flush is due, the QP has an SRQ, and its state is ERR.  A QP in state ERR
 * with a receive WQE needs a flush, which completes this WQE.
 */
static bool qp_end_valid(const PvrdmaQp *qp)
{
    if (qp->state == PVRDMA_QPS_ERR && qp->resp.rqe_valid && !qp->flush_due) {
        return false;
    }
    return !qp->last_due ||
           (qp->flush_due && qp->srq && qp->state == PVRDMA_QPS_ERR);
}

static bool qp_install(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaQp *qp = object;

    qp->handle = handle;
    if (!qp_parts_valid(qp) || !qp_number_valid(qp) || !qp_end_valid(qp) ||
        !qp_queues_resume(qp) || !pvrdma_qp_attr_resume(qp) ||
        !psn_valid(qp->ud_psn) || !req_state_valid(qp) || !resp_state_valid(qp)) {
        return false;
    }
    qp->resp.acked_psn = qp->resp.epsn;
    pvrdma_qp_attach(qp);
    return true;
}

const PvrdmaKind pvrdma_qp_kind = PVRDMA_KIND(
    .name = "QP", .vmsd = &qp_vmstate, .bytes = sizeof(PvrdmaQp),
    .pages_at = offsetof(PvrdmaQp, pages), .prepare = qp_prepare,
    .install = qp_install,
);

void pvrdma_qp_resume(PvrdmaQp *qp)
{
    int64_t now = rnic_now();
    /*
     * Limits the rest of the RNR wait to the longest RNR wait, because the clocks of the
     * two machines may differ.
     */
    int64_t rnr_until = MIN(qp->req.rnr_until, now + roce_rnr_ns(0));

    if (pvrdma_req_running(qp)) {
        pvrdma_req_park(qp);
        if (rnr_until) {
            qp->req.rnr_until = rnr_until;
            pvrdma_req_arm(qp, rnr_until);
        }
    } else if (qp->flush_due && qp->state >= PVRDMA_QPS_SQE) {
        pvrdma_qp_flush_schedule(qp);
    }
    if (pvrdma_resp_has_work(qp)) {
        pvrdma_qp_activate(qp);
    }
}
