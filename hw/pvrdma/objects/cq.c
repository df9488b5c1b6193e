/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: completion queues.  The first page of a CQ contains the indices;
 * the completions follow.  The device reads the guest's index only if the ring of the CQ
 * is full according to the last value of this index, or for RESIZE_CQ.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "../base/caps.h"
#include "cq.h"
#include "../base/event.h"
#include "../base/guest.h"
#include "mr.h"
#include "../base/pages.h"
#include "../pvrdma.h"
#include "qp.h"
#include "../base/table.h"
#include "../trace.h"

#define RING_AT offsetof(struct pvrdma_ring_state, rx)
#define CQE_AT  PVRDMA_PAGE_BYTES

/* --- Ring ------------------------------------------------------------------------- */

static uint32_t cq_index(const PvrdmaCq *cq, uint32_t index)
{
    return index & (2 * cq->entries - 1);
}

/*
 * Returns the number of completions that the guest has not read, by the last index that
 * the device has read from the guest.
 */
static uint32_t cq_used(const PvrdmaCq *cq)
{
    return cq_index(cq, cq->prod - cq->cons);
}

/*
 * Sets @cq->cons to the current value of the guest's index.  Returns false, with a guest
 * error, if the index cannot be read or is not valid.
 */
static bool cq_read_cons(PvrdmaState *s, PvrdmaCq *cq)
{
    uint32_t taken;
    __le32 raw;

    if (!pvrdma_pages_read(s, &cq->pages, RING_AT +
                           offsetof(struct pvrdma_ring, cons_head),
                           &raw, sizeof(raw))) {
        pvrdma_guest_error(s, "CQ %u: cannot read its index", cq->handle);
        return false;
    }
    taken = cq_index(cq, le32_to_cpu(raw) - cq->cons);
    if (le32_to_cpu(raw) >= 2 * cq->entries || taken > cq_used(cq)) {
        pvrdma_guest_error(s, "CQ %u: index %u, %u to %u are valid", cq->handle,
                           le32_to_cpu(raw), cq->cons, cq->prod);
        return false;
    }
    cq->cons = le32_to_cpu(raw);
    return true;
}

static bool cq_write_prod(PvrdmaState *s, PvrdmaCq *cq)
{
    __le32 raw = cpu_to_le32(cq->prod);

    if (!pvrdma_pages_write(s, &cq->pages, RING_AT +
                            offsetof(struct pvrdma_ring, prod_tail),
                            &raw, sizeof(raw))) {
        pvrdma_guest_error(s, "CQ %u: cannot write its index", cq->handle);
        return false;
    }
    return true;
}

static bool cq_has_room(PvrdmaState *s, PvrdmaCq *cq)
{
    if (cq_used(cq) < cq->entries) {
        return true;
    }
    if (!cq_read_cons(s, cq)) {
        return false;
    }
    if (cq_used(cq) == cq->entries) {
        pvrdma_guest_error(s, "CQ %u: full", cq->handle);
        return false;
    }
    return true;
}

static bool cq_write(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc)
{
    uint32_t slot = cq->prod & (cq->entries - 1);
    struct pvrdma_cqe cqe = {
        .wr_id = cpu_to_le64(wc->wr_id),
        .qp = cpu_to_le64(wc->qp),
        .opcode = cpu_to_le32(wc->opcode),
        .status = cpu_to_le32(wc->status),
        .byte_len = cpu_to_le32(wc->byte_len),
        .imm_data = wc->imm,
        .src_qp = cpu_to_le32(wc->src_qp),
        .wc_flags = cpu_to_le32(wc->flags),
        .sl = wc->sl,
        .port_num = 1,
        .network_hdr_type = wc->network_hdr_type,
    };

    memcpy(cqe.smac, wc->smac, sizeof(cqe.smac));
    if (!pvrdma_pages_write(s, &cq->pages, CQE_AT + (uint64_t)slot * sizeof(cqe),
                            &cqe, sizeof(cqe))) {
        pvrdma_guest_error(s, "CQ %u: cannot write to it", cq->handle);
        return false;
    }
    cq->prod = cq_index(cq, cq->prod + 1);
    return cq_write_prod(s, cq);
}

/*
 * Stops a CQ that is full or cannot be accessed, counts the lost completion, and sends
 * CQ_ERR.  Ends the QPs that use the CQ, because a completion was lost.
 */
static void cq_fail(PvrdmaState *s, PvrdmaCq *cq)
{
    cq->overflowed = true;
    pvrdma_count(s, PVRDMA_CNT_CQ_OVERFLOW);
    pvrdma_event(s, PVRDMA_EVENT_CQ_ERR, cq->handle);
    pvrdma_qp_cq_error(s, cq);
}

void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc)
{
    bool solicited = wc->solicited || wc->status != PVRDMA_WC_SUCCESS;

    if (cq->overflowed) {
        pvrdma_count(s, PVRDMA_CNT_CQ_OVERFLOW);
        return;
    }
    if (!cq_has_room(s, cq) || !cq_write(s, cq, wc)) {
        cq_fail(s, cq);
        return;
    }
    s->receives += wc->opcode == PVRDMA_WC_RECV ||
                   wc->opcode == PVRDMA_WC_RECV_RDMA_WITH_IMM;
    qatomic_set(&s->completions, s->completions + 1);
    trace_pvrdma_cq_complete(s->port.netdev, cq->handle, wc->qp, wc->wr_id,
                             wc->status);
    if (cq->armed || (cq->armed_solicited && solicited)) {
        cq->armed = false;
        cq->armed_solicited = false;
        pvrdma_cq_notify(s, cq->handle);
    }
}

void pvrdma_cq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value)
{
    PvrdmaCq *cq = pvrdma_table_get(&s->cq, value & PVRDMA_UAR_HANDLE_MASK);

    if (!cq || cq->uar != uar) {
        pvrdma_guest_error(s, "CQ doorbell 0x%x on page %u", value, uar);
        return;
    }
    if (value & PVRDMA_UAR_CQ_ARM) {
        cq->armed = true;
    } else if (value & PVRDMA_UAR_CQ_ARM_SOL) {
        cq->armed_solicited = true;
    }
}

/* --- Commands --------------------------------------------------------------------- */

static bool cq_size_ok(uint32_t entries)
{
    return is_power_of_2(entries) && entries <= PVRDMA_MAX_CQE;
}

static bool cq_fits(uint32_t entries, uint32_t pages)
{
    return (uint64_t)pages * PVRDMA_PAGE_BYTES >=
           CQE_AT + (uint64_t)entries * sizeof(struct pvrdma_cqe);
}

bool pvrdma_cq_valid(const PvrdmaCq *cq)
{
    return cq_size_ok(cq->entries) && cq_fits(cq->entries, cq->pages.count) &&
           cq->prod < 2 * cq->entries && cq->cons < 2 * cq->entries &&
           cq_used(cq) <= cq->entries;
}

static int cq_fill(PvrdmaState *s, PvrdmaCq *cq,
                   const struct pvrdma_cmd_create_cq *cmd)
{
    int err = pvrdma_pages_load(s, &cq->pages, le64_to_cpu(cmd->pdir_dma),
                                le32_to_cpu(cmd->nchunks));

    if (err) {
        return err;
    }
    cq->handle = pvrdma_table_add(&s->cq, cq);
    if (!cq->handle) {
        pvrdma_pages_free(s, &cq->pages);
        return ENOMEM;
    }
    return 0;
}

int pvrdma_cmd_create_cq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_create_cq *cmd = &req->create_cq;
    uint32_t ctx = le32_to_cpu(cmd->ctx_handle);
    PvrdmaUc *uc = pvrdma_table_get(&s->uc, ctx);
    g_autofree PvrdmaCq *cq = g_new0(PvrdmaCq, 1);
    int err;

    cq->entries = le32_to_cpu(cmd->cqe);
    if ((ctx && !uc) || !cq_size_ok(cq->entries) ||
        !cq_fits(cq->entries, le32_to_cpu(cmd->nchunks))) {
        return EINVAL;
    }
    err = cq_fill(s, cq, cmd);
    if (err) {
        return err;
    }
    cq->ctx = ctx;
    if (uc) {
        cq->uar = uc->uar;
        uc->users++;
    }
    resp->create_cq.cq_handle = cpu_to_le32(cq->handle);
    resp->create_cq.cqe = cpu_to_le32(cq->entries);
    g_steal_pointer(&cq);
    return 0;
}

/*
 * Changes the number of entries within the pages of the CQ, because the command has no
 * page directory.  Requires an empty CQ, because the meaning of the two indices depends
 * on the size.  Sets prod and cons to 0, also in guest memory.  Returns 0 or a positive
 * errno.
 */
int pvrdma_cmd_resize_cq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_resize_cq *cmd = &req->resize_cq;
    PvrdmaCq *cq = pvrdma_table_get(&s->cq, le32_to_cpu(cmd->cq_handle));
    uint32_t entries = le32_to_cpu(cmd->cqe);
    static const struct pvrdma_ring empty;

    if (!cq || !cq_size_ok(entries)) {
        return EINVAL;
    }
    if (!cq_fits(entries, cq->pages.count)) {
        return ENOMEM;
    }
    if (cq->overflowed || !cq_read_cons(s, cq)) {
        return EINVAL;
    }
    if (cq_used(cq)) {
        return EBUSY;
    }
    if (!pvrdma_pages_write(s, &cq->pages, RING_AT, &empty, sizeof(empty))) {
        return EFAULT;
    }
    cq->entries = entries;
    cq->prod = 0;
    cq->cons = 0;
    resp->resize_cq.cqe = cpu_to_le32(entries);
    return 0;
}

static void cq_free(PvrdmaState *s, PvrdmaCq *cq)
{
    pvrdma_table_remove(&s->cq, cq->handle);
    pvrdma_pages_free(s, &cq->pages);
    g_free(cq);
}

int pvrdma_cmd_destroy_cq(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    uint32_t handle = le32_to_cpu(req->destroy_cq.cq_handle);
    PvrdmaCq *cq = pvrdma_table_get(&s->cq, handle);
    PvrdmaUc *uc;

    if (!cq) {
        return EINVAL;
    }
    if (cq->users) {
        return EBUSY;
    }
    uc = pvrdma_table_get(&s->uc, cq->ctx);
    if (uc) {
        uc->users--;
    }
    cq_free(s, cq);
    return 0;
}

void pvrdma_cq_reset_all(PvrdmaState *s)
{
    for (uint32_t i = 0; i < s->cq.size && s->cq.used; i++) {
        PvrdmaCq *cq = pvrdma_table_get(&s->cq, i);

        if (cq) {
            cq_free(s, cq);
        }
    }
}
