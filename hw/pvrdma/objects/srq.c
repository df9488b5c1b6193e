/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: shared receive queues.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/event.h"
#include "../base/guest.h"
#include "mr.h"
#include "../base/pages.h"
#include "../pvrdma.h"
#include "srq.h"
#include "../base/table.h"
#include "wq.h"

#define SRQ_TYPE_BASIC 0            /* IB_SRQT_BASIC of Linux' enum ib_srq_type */

/* --- Commands --------------------------------------------------------------------- */

static PvrdmaSrq *srq_get(PvrdmaState *s, __le32 handle)
{
    return pvrdma_table_get(&s->srq, le32_to_cpu(handle));
}

int pvrdma_srq_layout(PvrdmaSrq *srq, uint32_t entries, uint32_t max_sge)
{
    int err = pvrdma_wq_init(&srq->rq, offsetof(struct pvrdma_ring_state, rx),
                             PVRDMA_PAGE_BYTES, entries, max_sge);

    return err || !entries ? EINVAL : pvrdma_rq_layout(&srq->rq, &srq->pages);
}

static int srq_fill(PvrdmaState *s, PvrdmaSrq *srq,
                    const struct pvrdma_cmd_create_srq *cmd)
{
    int err = pvrdma_pages_load(s, &srq->pages, le64_to_cpu(cmd->pdir_dma),
                                le32_to_cpu(cmd->nchunks));

    if (err) {
        return err;
    }
    err = pvrdma_srq_layout(srq, le32_to_cpu(cmd->attrs.max_wr),
                            le32_to_cpu(cmd->attrs.max_sge));
    if (!err) {
        srq->handle = pvrdma_table_add(&s->srq, srq);
        err = srq->handle ? 0 : ENOMEM;
    }
    if (err) {
        pvrdma_pages_free(s, &srq->pages);
    }
    return err;
}

/*
 * Creates an SRQ.  Ignores the limit in the command, because only modify_srq sets a
 * limit.
 */
int pvrdma_cmd_create_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_create_srq *cmd = &req->create_srq;
    uint32_t handle = le32_to_cpu(cmd->pd_handle);
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, handle);
    g_autofree PvrdmaSrq *srq = g_new0(PvrdmaSrq, 1);
    int err;

    if (!pd) {
        return EINVAL;
    }
    if (cmd->srq_type != SRQ_TYPE_BASIC) {
        return EOPNOTSUPP;
    }
    err = srq_fill(s, srq, cmd);
    if (err) {
        return err;
    }
    srq->pd = handle;
    srq->uar = pd->uar;
    pd->users++;
    resp->create_srq.srqn = cpu_to_le32(srq->handle);
    g_steal_pointer(&srq);
    return 0;
}

/*
 * Sends SRQ_LIMIT_REACHED if fewer WQEs than the limit wait in @srq.  In this case sets
 * the limit to 0, because the guest expects only one event.
 */
static void srq_check_limit(PvrdmaState *s, PvrdmaSrq *srq)
{
    int pending;

    if (!srq->limit) {
        return;
    }
    pending = pvrdma_wq_refresh(s, &srq->pages, &srq->rq);
    if (pending >= 0 && pending < srq->limit) {
        srq->limit = 0;
        pvrdma_event(s, PVRDMA_EVENT_SRQ_LIMIT_REACHED, srq->handle);
    }
}

int pvrdma_cmd_modify_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_modify_srq *cmd = &req->modify_srq;
    PvrdmaSrq *srq = srq_get(s, cmd->srq_handle);
    uint32_t mask = le32_to_cpu(cmd->attr_mask);
    uint32_t limit = le32_to_cpu(cmd->attrs.srq_limit);

    if (!srq) {
        return EINVAL;
    }
    if (mask & ~PVRDMA_SRQ_LIMIT) {
        return EOPNOTSUPP;          /* a new size would need new pages */
    }
    if (!mask || limit > srq->rq.entries) {
        return EINVAL;
    }
    srq->limit = limit;
    srq_check_limit(s, srq);
    return 0;
}

int pvrdma_cmd_query_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    PvrdmaSrq *srq = srq_get(s, req->query_srq.srq_handle);

    if (!srq) {
        return EINVAL;
    }
    resp->query_srq.attrs = (struct pvrdma_srq_attr) {
        .max_wr = cpu_to_le32(srq->rq.entries),
        .max_sge = cpu_to_le32(srq->rq.max_sge),
        .srq_limit = cpu_to_le32(srq->limit),
    };
    return 0;
}

static void srq_free(PvrdmaState *s, PvrdmaSrq *srq)
{
    pvrdma_table_remove(&s->srq, srq->handle);
    pvrdma_pages_free(s, &srq->pages);
    g_free(srq);
}

int pvrdma_cmd_destroy_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                           union pvrdma_cmd_resp *resp)
{
    PvrdmaSrq *srq = srq_get(s, req->destroy_srq.srq_handle);
    PvrdmaPd *pd;

    if (!srq) {
        return EINVAL;
    }
    if (srq->users) {
        return EBUSY;
    }
    pd = pvrdma_table_get(&s->pd, srq->pd);
    pd->users--;
    srq_free(s, srq);
    return 0;
}

void pvrdma_srq_reset_all(PvrdmaState *s)
{
    for (uint32_t i = 0; i < s->srq.size && s->srq.used; i++) {
        PvrdmaSrq *srq = pvrdma_table_get(&s->srq, i);

        if (srq) {
            srq_free(s, srq);
        }
    }
}

/* --- Work ------------------------------------------------------------------------- */

/*
 * Only checks the doorbell.  A new WQE needs no action, because the device fetches a WQE
 * when a packet arrives that needs the WQE.
 */
void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value)
{
    PvrdmaSrq *srq = pvrdma_table_get(&s->srq, value & PVRDMA_UAR_HANDLE_MASK);

    if (!srq || srq->uar != uar) {
        pvrdma_guest_error(s, "SRQ doorbell 0x%x on page %u", value, uar);
    }
}

static void srq_fail(PvrdmaState *s, PvrdmaSrq *srq)
{
    srq->failed = true;
    pvrdma_event(s, PVRDMA_EVENT_SRQ_ERR, srq->handle);
}

int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe)
{
    int pending;

    if (srq->failed) {
        return -1;
    }
    pending = pvrdma_wq_pending(s, &srq->pages, &srq->rq);
    if (!pending) {
        return 0;
    }
    if (pending < 0 || !pvrdma_rq_fetch(s, &srq->pages, &srq->rq, rqe)) {
        srq_fail(s, srq);
        return -1;
    }
    pvrdma_wq_consume(s, &srq->pages, &srq->rq, 1);
    if (pending <= srq->limit) {
        srq_check_limit(s, srq);
    }
    return 1;
}
