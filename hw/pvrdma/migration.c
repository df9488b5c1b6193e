/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: snapshots and migration.
 *
 * Saving changes nothing that affects the guest or a peer, because the machine may
 * continue.  Loading creates the objects one after the other, as commands do.  Each
 * object is checked before it enters a table, so after a truncated or forged stream the
 * device can still be reset.  Loading does not access guest memory, because the content
 * of guest memory may not have arrived yet.
 *
 * Packets that were on the wire may be lost.  The loaded device fetches again the send
 * WQEs that are not complete, and sends again the packets that are not acknowledged.
 * Peers retransmit.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/qemu-file-types.h"
#include "migration/vmstate.h"
#include "base/caps.h"
#include "objects/cq.h"
#include "base/event.h"
#include "wire/gid.h"
#include "migration.h"
#include "objects/mr.h"
#include "base/pages.h"
#include "pvrdma.h"
#include "objects/qp.h"
#include "objects/srq.h"
#include "base/table.h"
#include "objects/wq.h"

/* --- Tables --------------------------------------------------------------- */
int pvrdma_table_save(QEMUFile *f, void *pv, size_t size,
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

/*
 * Adds the pages of a loaded object or ring to pages_used.  Returns false if pages_used
 * then exceeds PVRDMA_MAX_PAGES, or if an address is not that of a page.  Adds the pages
 * also in this case, because pvrdma_pages_free() subtracts the pages again.
 */
static bool pages_account(PvrdmaState *s, const PvrdmaPages *p)
{
    bool good = p->count <= PVRDMA_MAX_PAGES - s->pages_used;

    s->pages_used += p->count;
    for (uint32_t i = 0; i < p->count && good; i++) {
        good = p->addr[i] % PVRDMA_PAGE_BYTES == 0;
    }
    return good;
}

/*
 * Checks @object, and stores @object in @t under @handle.  If a check fails, reports an
 * error, frees @object and returns false.
 */
static bool object_install(PvrdmaState *s, PvrdmaTable *t, const PvrdmaKind *kind,
                           uint32_t handle, void *object)
{
    PvrdmaPages none = { 0 };
    PvrdmaPages *pages = kind->pages_at ? object + kind->pages_at : &none;
    bool good = pages_account(s, pages);

    if (!good || !handle || handle >= t->size || pvrdma_table_get(t, handle) ||
        !kind->install(s, handle, object)) {
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
    return object_install(s, t, kind, handle, object) ? 0 : -EINVAL;
}

int pvrdma_table_load(QEMUFile *f, void *pv, size_t size,
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

/* --- Parts ---------------------------------------------------------------- */
/* Returns true if the number of pages is valid; QEMU then allocates the array @addr. */
static bool pages_count_valid(void *opaque, int version)
{
    const PvrdmaPages *p = opaque;

    return p->count <= PVRDMA_PDIR_MAX_PAGES;
}

const VMStateDescription pvrdma_pages_vmstate = {
    .name = "pvrdma-pages",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(count, PvrdmaPages),
        VMSTATE_VALIDATE("pages", pages_count_valid),
        VMSTATE_VARRAY_UINT32_ALLOC(addr, PvrdmaPages, count, 1,
                                    vmstate_info_uint64, uint64_t),
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription pvrdma_wq_vmstate = {
    .name = "pvrdma-wq",
    PVRDMA_ONE_VERSION,
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
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(pages, PvrdmaRing, 1, pvrdma_pages_vmstate, PvrdmaPages),
        VMSTATE_UINT32(prod, PvrdmaRing),
        VMSTATE_END_OF_LIST()
    },
};

static int ring_put(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field, JSONWriter *vmdesc)
{
    const PvrdmaRing *ring = pv;
    int ret = rnic_vmstate_save(f, &ring_vmstate, pv);

    qemu_put_be32(f, ring->pending ? ring->pending->len : 0);
    if (ring->pending) {
        qemu_put_buffer(f, ring->pending->data, ring->pending->len);
    }
    return ret;
}

/*
 * Loads the elements that wait for room in @ring.  Returns 0, or -EINVAL, after which
 * the caller frees @ring->pending.
 */
static int ring_get_pending(QEMUFile *f, PvrdmaRing *ring)
{
    uint32_t len = qemu_get_be32(f);

    if (len > PVRDMA_RING_PENDING_BYTES) {
        return -EINVAL;
    }
    ring->pending = g_byte_array_sized_new(len);
    g_byte_array_set_size(ring->pending, len);
    return qemu_get_buffer(f, ring->pending->data, len) == len ? 0 : -EINVAL;
}

static int ring_get(QEMUFile *f, void *pv, size_t size, const VMStateField *field)
{
    PvrdmaState *s = pv - field->offset;
    PvrdmaRing *ring = pv;
    int ret = rnic_vmstate_load(f, &ring_vmstate, ring);

    if (ret) {
        g_clear_pointer(&ring->pages.addr, g_free);
        ring->pages.count = 0;
        return ret;
    }
    ret = pages_account(s, &ring->pages) ? ring_get_pending(f, ring) : -EINVAL;
    if (ret) {
        pvrdma_ring_fini(s, ring);
    }
    return ret;
}

static const VMStateInfo ring_info = {
    .name = "pvrdma ring", .get = ring_get, .put = ring_put,
};

static bool ring_resume(PvrdmaRing *ring, unsigned elem_bytes)
{
    ring->elem_bytes = elem_bytes;
    if (!ring->pages.count) {
        return !ring->prod && !ring->pending->len;
    }
    ring->elements = pvrdma_ring_elements(ring->pages.count, elem_bytes);
    return ring->elements && ring->prod < 2 * ring->elements &&
           ring->pending->len % elem_bytes == 0;
}

static const VMStateDescription gid_vmstate = {
    .name = "pvrdma-gid",
    PVRDMA_ONE_VERSION,
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
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(uar, PvrdmaUc),
        VMSTATE_END_OF_LIST()
    },
};

static bool uc_install(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaUc *uc = object;

    uc->handle = handle;
    return uc->uar && uc->uar < PVRDMA_UARS;
}

static const PvrdmaKind uc_kind = PVRDMA_KIND(
    .name = "context", .vmsd = &uc_vmstate, .bytes = sizeof(PvrdmaUc),
    .install = uc_install,
);

/*
 * Adds a user to the context with handle @ctx, and stores the number of the context's
 * doorbell page in *@uar.  @ctx 0 is the kernel, whose page is 0 and whose users are not
 * counted.  Returns false if the context does not exist.
 */
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
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(ctx, PvrdmaPd),
        VMSTATE_END_OF_LIST()
    },
};

static bool pd_install(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaPd *pd = object;

    pd->handle = handle;
    return ctx_use(s, pd->ctx, &pd->uar);
}

static const PvrdmaKind pd_kind = PVRDMA_KIND(
    .name = "domain", .vmsd = &pd_vmstate, .bytes = sizeof(PvrdmaPd),
    .install = pd_install,
);

static const VMStateDescription mr_vmstate = {
    .name = "pvrdma-mr",
    PVRDMA_ONE_VERSION,
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
        VMSTATE_STRUCT(pages, PvrdmaMr, 1, pvrdma_pages_vmstate, PvrdmaPages),
        VMSTATE_END_OF_LIST()
    },
};

static bool mr_install(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaMr *mr = object;
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, mr->pd);

    mr->handle = handle;
    if (!pd || !pvrdma_mr_fields_valid(mr)) {
        return false;
    }
    pd->users++;
    return true;
}

static const PvrdmaKind mr_kind = PVRDMA_KIND(
    .name = "region", .vmsd = &mr_vmstate, .bytes = sizeof(PvrdmaMr),
    .pages_at = offsetof(PvrdmaMr, pages), .install = mr_install,
);

/* --- Queues of completions and of receive buffers ------------------------- */
static const VMStateDescription cq_vmstate = {
    .name = "pvrdma-cq",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(ctx, PvrdmaCq),
        VMSTATE_UINT32(entries, PvrdmaCq),
        VMSTATE_UINT32(prod, PvrdmaCq),
        VMSTATE_UINT32(cons, PvrdmaCq),
        VMSTATE_BOOL(armed, PvrdmaCq),
        VMSTATE_BOOL(armed_solicited, PvrdmaCq),
        VMSTATE_BOOL(overflowed, PvrdmaCq),
        VMSTATE_STRUCT(pages, PvrdmaCq, 1, pvrdma_pages_vmstate, PvrdmaPages),
        VMSTATE_END_OF_LIST()
    },
};

static bool cq_install(PvrdmaState *s, uint32_t handle, void *object)
{
    PvrdmaCq *cq = object;

    cq->handle = handle;
    return pvrdma_cq_valid(cq) && ctx_use(s, cq->ctx, &cq->uar);
}

static const PvrdmaKind cq_kind = PVRDMA_KIND(
    .name = "CQ", .vmsd = &cq_vmstate, .bytes = sizeof(PvrdmaCq),
    .pages_at = offsetof(PvrdmaCq, pages), .install = cq_install,
);

static const VMStateDescription srq_vmstate = {
    .name = "pvrdma-srq",
    PVRDMA_ONE_VERSION,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(pd, PvrdmaSrq),
        VMSTATE_UINT32(limit, PvrdmaSrq),
        VMSTATE_BOOL(failed, PvrdmaSrq),
        VMSTATE_STRUCT(rq, PvrdmaSrq, 1, pvrdma_wq_vmstate, PvrdmaWq),
        VMSTATE_STRUCT(pages, PvrdmaSrq, 1, pvrdma_pages_vmstate, PvrdmaPages),
        VMSTATE_END_OF_LIST()
    },
};

static bool srq_install(PvrdmaState *s, uint32_t handle, void *object)
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

static const PvrdmaKind srq_kind = PVRDMA_KIND(
    .name = "SRQ", .vmsd = &srq_vmstate, .bytes = sizeof(PvrdmaSrq),
    .pages_at = offsetof(PvrdmaSrq, pages), .install = srq_install,
);

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
            pvrdma_qp_resume(qp);
        }
    }
    pvrdma_rings_arm(s);
    return 0;
}

#define OBJECTS(table, kind) \
    VMSTATE_SINGLE(table, PvrdmaState, 1, kind.info, PvrdmaTable)

/*
 * Fields that start activity come after the objects that the activity uses, because QEMU
 * loads the fields in this order.
 */
const VMStateDescription pvrdma_vmstate = {
    .name = "pvrdma-state",
    PVRDMA_ONE_VERSION,
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
        OBJECTS(qp, pvrdma_qp_kind),
        VMSTATE_UINT8(qpn_generation, PvrdmaState),
        VMSTATE_UINT8(mr_generation, PvrdmaState),
        VMSTATE_STRUCT_ARRAY(gid, PvrdmaState, PVRDMA_GIDS, 1, gid_vmstate,
                             PvrdmaGid),
        VMSTATE_UINT32(qkey_violations, PvrdmaState),
        VMSTATE_UINT32(pkey_violations, PvrdmaState),
        VMSTATE_BOOL(port.link_up, PvrdmaState),
        /*
         * A new counter changes the format, and so needs a new number in
         * PVRDMA_ONE_VERSION.
         */
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
