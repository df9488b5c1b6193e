/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: snapshots and migration.
 *
 * Saving changes nothing, as a machine may go on after it.  Loading makes the objects one
 * after another, as commands do: what is in a table is complete, and what a stream says
 * is checked before that.  So one that is cut off, or lies, leaves a device that can be
 * reset.  Guest memory is not touched: it may still be on its way.
 *
 * Packets that were on their way are lost.  Work requests that are not complete are
 * fetched and sent again, and peers do the same.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/qemu-file-types.h"
#include "migration/vmstate.h"
#include "pvrdma.h"

#define ONE_VERSION .version_id = 1, .minimum_version_id = 1
#define QPN_HANDLE RNIC_FIELD(15, 0)
#define QPN_GENERATION RNIC_FIELD(23, 16)
#define RETRIES_MAX 7

/* --- Tables --------------------------------------------------------------- */
/* What a table has: how it is saved, and made again. */
typedef struct PvrdmaKind {
    VMStateInfo info;
    const char *name;
    const VMStateDescription *vmsd;
    size_t bytes;
    size_t pages_at;                /* offset of its PvrdmaPages; 0: has none */
    /* Before it is loaded; NULL: nothing is to be done. */
    void (*prepare)(PvrdmaState *s, void *object);
    /* Checks it and connects it to others; false: it is impossible. */
    bool (*adopt)(PvrdmaState *s, uint32_t handle, void *object);
} PvrdmaKind;

static int table_put(QEMUFile *f, void *pv, size_t size,
                     const VMStateField *field, JSONWriter *vmdesc)
{
    const PvrdmaKind *kind = container_of(field->info, PvrdmaKind, info);
    PvrdmaTable *t = pv;

    qemu_put_be32(f, t->next);
    qemu_put_be32(f, t->used);
    for (uint32_t handle = 0; handle < t->size; handle++) {
        void *object = pvrdma_table_get(t, handle);
        int ret;

        if (!object) {
            continue;
        }
        qemu_put_be32(f, handle);
        ret = rnic_vmstate_save(f, kind->vmsd, object);
        if (ret) {
            return ret;
        }
    }
    return 0;
}

/* Takes pages into account, which pvrdma_pages_free() takes out again. */
static bool pages_adopt(PvrdmaState *s, const PvrdmaPages *p)
{
    bool good = p->count <= PVRDMA_MAX_PAGES - s->pages_used;

    s->pages_used += p->count;
    for (uint32_t i = 0; i < p->count && good; i++) {
        good = p->addr[i] % PVRDMA_PAGE_BYTES == 0;
    }
    return good;
}

/* Takes @object, or frees it. */
static bool object_adopt(PvrdmaState *s, PvrdmaTable *t, const PvrdmaKind *kind,
                         uint32_t handle, void *object)
{
    PvrdmaPages none = { 0 };
    PvrdmaPages *pages = kind->pages_at ? object + kind->pages_at : &none;
    bool good = pages_adopt(s, pages);

    if (!good || !handle || handle >= t->size || pvrdma_table_get(t, handle) ||
        !kind->adopt(s, handle, object)) {
        error_report("pvrdma: the stream has an impossible %s, %u", kind->name,
                     handle);
        pvrdma_pages_free(s, pages);
        g_free(object);
        return false;
    }
    pvrdma_table_set(t, handle, object);
    return true;
}

static int object_get(QEMUFile *f, PvrdmaState *s, PvrdmaTable *t,
                      const PvrdmaKind *kind)
{
    uint32_t handle = qemu_get_be32(f);
    void *object = g_malloc0(kind->bytes);
    int ret;

    if (kind->prepare) {
        kind->prepare(s, object);
    }
    ret = rnic_vmstate_load(f, kind->vmsd, object);
    if (ret) {
        if (kind->pages_at) {
            PvrdmaPages *pages = object + kind->pages_at;

            g_free(pages->addr);
        }
        g_free(object);
        return ret;
    }
    return object_adopt(s, t, kind, handle, object) ? 0 : -EINVAL;
}

static int table_get(QEMUFile *f, void *pv, size_t size,
                     const VMStateField *field)
{
    const PvrdmaKind *kind = container_of(field->info, PvrdmaKind, info);
    PvrdmaState *s = pv - field->offset;
    PvrdmaTable *t = pv;
    uint32_t next = qemu_get_be32(f);
    uint32_t used = qemu_get_be32(f);
    int ret = next && next < t->size && used < t->size ? 0 : -EINVAL;

    for (uint32_t i = 0; i < used && !ret; i++) {
        ret = object_get(f, s, t, kind);
    }
    if (!ret) {
        t->next = next;
    }
    return ret;
}

#define KIND(...) { \
    .info = { .name = "pvrdma objects", .get = table_get, .put = table_put }, \
    __VA_ARGS__ }

/* --- Parts ---------------------------------------------------------------- */
/* More would be allocated before anybody sees that they are too many. */
static bool pages_few(void *opaque, int version)
{
    const PvrdmaPages *p = opaque;

    return p->count <= PVRDMA_PDIR_MAX_PAGES;
}

static const VMStateDescription pages_vmstate = {
    .name = "pvrdma-pages",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(count, PvrdmaPages),
        VMSTATE_VALIDATE("pages", pages_few),
        VMSTATE_VARRAY_UINT32_ALLOC(addr, PvrdmaPages, count, 1,
                                    vmstate_info_uint64, uint64_t),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription wq_vmstate = {
    .name = "pvrdma-wq",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(wqe_at, PvrdmaWq),
        VMSTATE_UINT32(entries, PvrdmaWq),
        VMSTATE_UINT32(max_sge, PvrdmaWq),
        VMSTATE_UINT32(cons, PvrdmaWq),
        VMSTATE_UINT32(prod, PvrdmaWq),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription ring_vmstate = {
    .name = "pvrdma-ring",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(pages, PvrdmaRing, 1, pages_vmstate, PvrdmaPages),
        VMSTATE_UINT32(prod, PvrdmaRing),
        VMSTATE_END_OF_LIST()
    },
};

static int ring_put(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field, JSONWriter *vmdesc)
{
    return rnic_vmstate_save(f, &ring_vmstate, pv);
}

static int ring_get(QEMUFile *f, void *pv, size_t size, const VMStateField *field)
{
    PvrdmaState *s = pv - field->offset;
    PvrdmaRing ring = { 0 };
    int ret = rnic_vmstate_load(f, &ring_vmstate, &ring);

    if (ret) {
        g_free(ring.pages.addr);
    } else if (!pages_adopt(s, &ring.pages)) {
        pvrdma_pages_free(s, &ring.pages);
        ret = -EINVAL;
    } else {
        *(PvrdmaRing *)pv = ring;
    }
    return ret;
}

static const VMStateInfo ring_info = {
    .name = "pvrdma ring", .get = ring_get, .put = ring_put,
};

static bool ring_resume(PvrdmaRing *ring, unsigned elem_bytes)
{
    if (!ring->pages.count) {
        return !ring->prod;
    }
    ring->elements = pvrdma_ring_elements(ring->pages.count, elem_bytes);
    return ring->elements && ring->prod < 2 * ring->elements;
}

static const VMStateDescription gid_vmstate = {
    .name = "pvrdma-gid",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(valid, PvrdmaGid),
        VMSTATE_UINT8_ARRAY(raw, PvrdmaGid, 16),
        VMSTATE_UINT16(vlan, PvrdmaGid),
        VMSTATE_END_OF_LIST()
    },
};

/* --- Contexts, domains, regions ------------------------------------------- */
static const VMStateDescription uc_vmstate = {
    .name = "pvrdma-uc",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(uar, PvrdmaUc),
        VMSTATE_END_OF_LIST()
    },
};

static bool uc_adopt(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaUc *uc = object;

    uc->handle = handle;
    return uc->uar && uc->uar < PVRDMA_UARS;
}

static const PvrdmaKind uc_kind = KIND(
    .name = "context", .vmsd = &uc_vmstate, .bytes = sizeof(PvrdmaUc),
    .adopt = uc_adopt,
);

/* The doorbell page of context @ctx, which somebody uses; 0 is the kernel. */
static bool ctx_use(PvrdmaState *s, uint32_t ctx, uint32_t *uar)
{
    PvrdmaUc *uc = pvrdma_table_get(&s->uc, ctx);

    *uar = 0;
    if (uc) {
        *uar = uc->uar;
        uc->users++;
    }
    return uc || !ctx;
}

static const VMStateDescription pd_vmstate = {
    .name = "pvrdma-pd",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(ctx, PvrdmaPd),
        VMSTATE_END_OF_LIST()
    },
};

static bool pd_adopt(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaPd *pd = object;

    pd->handle = handle;
    return ctx_use(s, pd->ctx, &pd->uar);
}

static const PvrdmaKind pd_kind = KIND(
    .name = "domain", .vmsd = &pd_vmstate, .bytes = sizeof(PvrdmaPd),
    .adopt = pd_adopt,
);

static const VMStateDescription mr_vmstate = {
    .name = "pvrdma-mr",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(key, PvrdmaMr),
        VMSTATE_UINT32(pd, PvrdmaMr),
        VMSTATE_UINT8(kind, PvrdmaMr),
        VMSTATE_BOOL(valid, PvrdmaMr),
        VMSTATE_UINT32(access, PvrdmaMr),
        VMSTATE_UINT32(max_pages, PvrdmaMr),
        VMSTATE_UINT64(start, PvrdmaMr),
        VMSTATE_UINT64(length, PvrdmaMr),
        VMSTATE_UINT64(offset, PvrdmaMr),
        VMSTATE_STRUCT(pages, PvrdmaMr, 1, pages_vmstate, PvrdmaPages),
        VMSTATE_END_OF_LIST()
    },
};

static bool mr_adopt(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaMr *mr = object;
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, mr->pd);

    mr->handle = handle;
    if (!pd || !pvrdma_mr_possible(mr)) {
        return false;
    }
    pd->users++;
    return true;
}

static const PvrdmaKind mr_kind = KIND(
    .name = "region", .vmsd = &mr_vmstate, .bytes = sizeof(PvrdmaMr),
    .pages_at = offsetof(PvrdmaMr, pages), .adopt = mr_adopt,
);

/* --- Queues of completions and of receive buffers ------------------------- */
static const VMStateDescription cq_vmstate = {
    .name = "pvrdma-cq",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(ctx, PvrdmaCq),
        VMSTATE_UINT32(entries, PvrdmaCq),
        VMSTATE_UINT32(prod, PvrdmaCq),
        VMSTATE_UINT32(cons, PvrdmaCq),
        VMSTATE_BOOL(armed, PvrdmaCq),
        VMSTATE_BOOL(armed_solicited, PvrdmaCq),
        VMSTATE_BOOL(overflowed, PvrdmaCq),
        VMSTATE_STRUCT(pages, PvrdmaCq, 1, pages_vmstate, PvrdmaPages),
        VMSTATE_END_OF_LIST()
    },
};

static bool cq_adopt(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaCq *cq = object;

    cq->handle = handle;
    return pvrdma_cq_possible(cq) && ctx_use(s, cq->ctx, &cq->uar);
}

static const PvrdmaKind cq_kind = KIND(
    .name = "CQ", .vmsd = &cq_vmstate, .bytes = sizeof(PvrdmaCq),
    .pages_at = offsetof(PvrdmaCq, pages), .adopt = cq_adopt,
);

static const VMStateDescription srq_vmstate = {
    .name = "pvrdma-srq",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(pd, PvrdmaSrq),
        VMSTATE_UINT32(limit, PvrdmaSrq),
        VMSTATE_BOOL(failed, PvrdmaSrq),
        VMSTATE_STRUCT(rq, PvrdmaSrq, 1, wq_vmstate, PvrdmaWq),
        VMSTATE_STRUCT(pages, PvrdmaSrq, 1, pages_vmstate, PvrdmaPages),
        VMSTATE_END_OF_LIST()
    },
};

static bool srq_adopt(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaSrq *srq = object;
    const PvrdmaWq rq = srq->rq;
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, srq->pd);

    srq->handle = handle;
    if (!pd || srq->limit > rq.entries ||
        pvrdma_srq_layout(srq, rq.entries, rq.max_sge) ||
        !pvrdma_wq_resume(&srq->rq, rq.cons, rq.prod)) {
        return false;
    }
    srq->uar = pd->uar;
    pd->users++;
    return true;
}

static const PvrdmaKind srq_kind = KIND(
    .name = "SRQ", .vmsd = &srq_vmstate, .bytes = sizeof(PvrdmaSrq),
    .pages_at = offsetof(PvrdmaSrq, pages), .adopt = srq_adopt,
);

/* --- Queue pairs: attributes ---------------------------------------------- */
static const VMStateDescription attr_vmstate = {
    .name = "pvrdma-qp-attr",
    ONE_VERSION,
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
    ONE_VERSION,
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

/* --- Queue pairs: responder ----------------------------------------------- */
static const VMStateDescription sge_vmstate = {
    .name = "pvrdma-sge",
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(addr, PvrdmaSge),
        VMSTATE_UINT32(length, PvrdmaSge),
        VMSTATE_UINT32(lkey, PvrdmaSge),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription rqe_vmstate = {
    .name = "pvrdma-rqe",
    ONE_VERSION,
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
    ONE_VERSION,
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

/* Turns the ring so that it begins at 0, which changes nothing. */
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

static bool resp_resources_few(void *opaque, int version)
{
    const PvrdmaResp *r = opaque;

    return r->resource_count <= PVRDMA_RESP_RESOURCES;
}

static const VMStateDescription resp_vmstate = {
    .name = "pvrdma-resp",
    ONE_VERSION,
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
        VMSTATE_VALIDATE("resources", resp_resources_few),
        VMSTATE_STRUCT_VARRAY_UINT32(resource, PvrdmaResp, resource_count, 1,
                                     resource_vmstate, PvrdmaResource),
        VMSTATE_END_OF_LIST()
    },
};

static bool psn_possible(uint32_t psn)
{
    return psn <= ROCE_PSN_MASK;
}

/* What is to be sent lies inside of what was asked for. */
static bool resource_possible(const PvrdmaQp *qp, const PvrdmaResource *r)
{
    uint32_t span = pvrdma_req_distance(r->psn, r->last_psn);
    uint32_t from = pvrdma_req_distance(r->psn, r->from_psn);
    uint32_t sent = pvrdma_req_distance(r->from_psn, r->send_psn);
    uint32_t packets;

    if (!qp->mtu || !psn_possible(r->psn | r->last_psn | r->from_psn |
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

static bool resp_possible(const PvrdmaQp *qp)
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
    if (!psn_possible(r->epsn | r->msn | r->ahead_psn | r->nak_psn) ||
        r->answer > PVRDMA_ANSWER_REFUSE || r->nak > ROCE_AETH_VALUE ||
        (r->message & ~(ROCE_IS_SEND | ROCE_IS_WRITE)) ||
        (alive && r->message & ROCE_IS_SEND && !r->rqe_valid)) {
        return false;
    }
    for (unsigned i = 0; i < r->resource_count; i++) {
        if (!resource_possible(qp, &r->resource[i])) {
            return false;
        }
    }
    return true;
}

/* --- Queue pairs ---------------------------------------------------------- */
/* What a QP has no place for, or has as pointers. */
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
    pvrdma_req_kept(&qp->req, &tmp->begin_psn, &tmp->parked);
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
    .name = "pvrdma-qp-tmp",            /* such have no version */
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
    ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(qpn, PvrdmaQp),
        VMSTATE_UINT32(pd, PvrdmaQp),
        VMSTATE_UINT8(type, PvrdmaQp),
        VMSTATE_UINT8(state, PvrdmaQp),
        VMSTATE_BOOL(sq_sig_all, PvrdmaQp),
        VMSTATE_BOOL(sq_draining, PvrdmaQp),
        VMSTATE_BOOL(flush_due, PvrdmaQp),
        VMSTATE_UINT32(ud_psn, PvrdmaQp),
        VMSTATE_STRUCT(sq, PvrdmaQp, 1, wq_vmstate, PvrdmaWq),
        VMSTATE_STRUCT(rq, PvrdmaQp, 1, wq_vmstate, PvrdmaWq),
        VMSTATE_STRUCT(pages, PvrdmaQp, 1, pages_vmstate, PvrdmaPages),
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

/* All of them belong to one process. */
static bool qp_parts_possible(PvrdmaQp *qp)
{
    PvrdmaPd *pd = pvrdma_table_get(&qp->s->pd, qp->pd);

    if (!pd || qp->send_cq->ctx != pd->ctx || qp->recv_cq->ctx != pd->ctx ||
        (qp->srq && qp->srq->pd != pd->handle)) {
        return false;
    }
    qp->uar = pd->uar;
    return true;
}

static bool qp_number_possible(const PvrdmaQp *qp)
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

/* While a QP sends, the order is begin, una, next. */
static bool req_possible(const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;

    if (!psn_possible(req->begin_psn | req->una_psn | req->next_psn) ||
        req->retries > RETRIES_MAX || req->rnr_retries > RETRIES_MAX ||
        req->rnr_until < 0) {
        return false;
    }
    return !pvrdma_req_alive(qp) ||
           (roce_psn_diff(req->una_psn, req->begin_psn) >= 0 &&
            pvrdma_req_distance(req->una_psn, req->next_psn) <=
            PVRDMA_REQ_PACKETS);
}

static bool qp_adopt(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaQp *qp = object;

    qp->handle = handle;
    if (!qp_parts_possible(qp) || !qp_number_possible(qp) ||
        !qp_queues_resume(qp) || !pvrdma_qp_attr_resume(qp) ||
        !psn_possible(qp->ud_psn) || !req_possible(qp) || !resp_possible(qp)) {
        return false;
    }
    qp->resp.acked_psn = qp->resp.epsn;
    pvrdma_qp_begin(qp);
    return true;
}

static const PvrdmaKind qp_kind = KIND(
    .name = "QP", .vmsd = &qp_vmstate, .bytes = sizeof(PvrdmaQp),
    .pages_at = offsetof(PvrdmaQp, pages), .prepare = qp_prepare,
    .adopt = qp_adopt,
);

/* It goes on where its peer knows that it was. */
static void qp_resume(PvrdmaQp *qp)
{
    int64_t now = pvrdma_now();
    /* the two machines' clocks may differ */
    int64_t rnr_until = MIN(qp->req.rnr_until, now + roce_rnr_ns(0));

    if (pvrdma_req_alive(qp)) {
        pvrdma_req_park(qp);
        if (rnr_until) {
            qp->req.rnr_until = rnr_until;
            pvrdma_req_arm(qp, rnr_until);
        }
    } else if (qp->flush_due) {
        timer_mod_ns(qp->timer, now);
    }
    if (pvrdma_resp_has_work(qp)) {
        pvrdma_qp_activate(qp);
    }
}

/* --- Device --------------------------------------------------------------- */
static bool state_resume(PvrdmaState *s)
{
    if (!ring_resume(&s->async, sizeof(struct pvrdma_eqe)) ||
        !ring_resume(&s->cqne, sizeof(struct pvrdma_cqne)) ||
        (s->active && !s->dsr_valid) || (s->icr & ~PVRDMA_INTR_ALL)) {
        error_report("pvrdma: the stream has impossible registers");
        return false;
    }
    return true;
}

static int pvrdma_post_load(void *opaque, int version)
{
    PvrdmaState *s = opaque;

    if (!state_resume(s)) {
        pvrdma_reset(s);
        return -EINVAL;
    }
    for (uint32_t handle = 0; handle < s->qp.size; handle++) {
        PvrdmaQp *qp = pvrdma_table_get(&s->qp, handle);

        if (qp) {
            qp_resume(qp);
        }
    }
    return 0;
}

#define OBJECTS(table, kind) \
    VMSTATE_SINGLE(table, PvrdmaState, 1, kind.info, PvrdmaTable)

/* What makes the device do something comes behind what it does it with. */
const VMStateDescription pvrdma_vmstate = {
    .name = "pvrdma-state",
    ONE_VERSION,
    .post_load = pvrdma_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32_EQUAL(mtu, PvrdmaState, "property 'mtu' differs"),
        VMSTATE_UINT8_EQUAL(version, PvrdmaState, "property 'version' differs"),
        VMSTATE_SINGLE_FULL(roce_v1, PvrdmaState, 0, 0, vmstate_info_uint8_equal,
                            bool, "property 'roce' differs"),
        VMSTATE_BOOL(qp_handles, PvrdmaState),
        OBJECTS(uc, uc_kind),
        OBJECTS(pd, pd_kind),
        OBJECTS(mr, mr_kind),
        OBJECTS(cq, cq_kind),
        OBJECTS(srq, srq_kind),
        OBJECTS(qp, qp_kind),
        VMSTATE_UINT8(qpn_generation, PvrdmaState),
        VMSTATE_UINT8(mr_generation, PvrdmaState),
        VMSTATE_STRUCT_ARRAY(gid, PvrdmaState, PVRDMA_GIDS, 1, gid_vmstate,
                             PvrdmaGid),
        VMSTATE_UINT32(qkey_violations, PvrdmaState),
        VMSTATE_UINT32(pkey_violations, PvrdmaState),
        VMSTATE_BOOL(port.link_up, PvrdmaState),
        VMSTATE_UINT64_ARRAY(counter, PvrdmaState, PVRDMA_COUNTER_COUNT),
        VMSTATE_SINGLE(async, PvrdmaState, 1, ring_info, PvrdmaRing),
        VMSTATE_SINGLE(cqne, PvrdmaState, 1, ring_info, PvrdmaRing),
        VMSTATE_UINT64(cmd_slot, PvrdmaState),
        VMSTATE_UINT64(resp_slot, PvrdmaState),
        VMSTATE_UINT64(uar_pfn, PvrdmaState),
        VMSTATE_UINT64(dsr_addr, PvrdmaState),
        VMSTATE_UINT32(err, PvrdmaState),
        VMSTATE_UINT32(icr, PvrdmaState),
        VMSTATE_UINT32(imr, PvrdmaState),
        VMSTATE_BOOL(dsr_valid, PvrdmaState),
        VMSTATE_BOOL(active, PvrdmaState),
        VMSTATE_END_OF_LIST()
    },
};
