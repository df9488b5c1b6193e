/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: contexts, protection domains, memory regions.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../core/dma.h"
#include "../base/caps.h"
#include "../base/guest.h"
#include "mr.h"
#include "../base/pages.h"
#include "../pvrdma.h"
#include "qp.h"
#include "../base/table.h"
#include "wq.h"

/* Fields of the key of a region. */
#define KEY_VARIANT    RNIC_FIELD(7, 0)
#define KEY_HANDLE      RNIC_FIELD(31, 8)

#define REMOTE_MODIFY  (PVRDMA_ACCESS_REMOTE_WRITE | PVRDMA_ACCESS_REMOTE_ATOMIC)
#define REMOTE_ACCESS   (REMOTE_MODIFY | PVRDMA_ACCESS_REMOTE_READ)
/* Flags that the device refuses: addresses that begin at 0, and pages on demand. */
#define ACCESS_UNSUPPORTED        (PVRDMA_ACCESS_ZERO_BASED | PVRDMA_ACCESS_ON_DEMAND)
#define PAGE_OFFSET(va) ((va) & (PVRDMA_PAGE_BYTES - 1))

/* --- Access: for every packet ------------------------------------------------- */

/*
 * Returns the region whose key is @key, or NULL.  The variant in the key usually
 * distinguishes a region from older regions with the same handle.
 */
static PvrdmaMr *mr_find(PvrdmaState *s, uint32_t key)
{
    PvrdmaMr *mr = pvrdma_table_get(&s->mr, RNIC_GET(KEY_HANDLE, key));

    return mr && mr->key == key ? mr : NULL;
}

static bool mr_has_range(const PvrdmaMr *mr, uint64_t va, uint64_t len)
{
    uint64_t at = va - mr->start;

    if (mr->kind == PVRDMA_MR_DMA) {
        return len - 1 <= UINT64_MAX - va;
    }
    return at < mr->length && len <= mr->length - at;
}

/*
 * Checks an access with the rights @access to @len bytes at @va; @len is not 0.  Stores
 * the region in *@found if the result is PVRDMA_MR_OK.
 */
static PvrdmaMrStatus mr_get(PvrdmaQp *qp, uint32_t key, uint64_t va, uint64_t len,
                             uint32_t access, PvrdmaMr **found)
{
    PvrdmaMr *mr = mr_find(qp->s, key);

    if (!mr || !mr->valid) {
        return PVRDMA_MR_BAD_KEY;
    }
    if (mr->pd != qp->pd) {
        return PVRDMA_MR_BAD_PD;
    }
    if (access & ~mr->access) {
        return PVRDMA_MR_BAD_ACCESS;
    }
    if (!mr_has_range(mr, va, len)) {
        return PVRDMA_MR_BAD_RANGE;
    }
    *found = mr;
    return PVRDMA_MR_OK;
}

PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access)
{
    PvrdmaMrStatus status;
    PvrdmaMr *mr;
    bool good;

    if (!len) {
        return PVRDMA_MR_OK;
    }
    status = mr_get(qp, key, va, len, access, &mr);
    if (status != PVRDMA_MR_OK) {
        return status;
    }
    if (mr->kind == PVRDMA_MR_DMA) {
        good = rnic_dma_read(&qp->s->host, va, buf, len);
    } else {
        good = pvrdma_pages_read(qp->s, &mr->pages, mr->offset + va - mr->start,
                                 buf, len);
    }
    return good ? PVRDMA_MR_OK : PVRDMA_MR_BUS_ERROR;
}

PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access)
{
    PvrdmaMrStatus status;
    PvrdmaMr *mr;
    bool good;

    if (!len) {
        return PVRDMA_MR_OK;
    }
    status = mr_get(qp, key, va, len, access, &mr);
    if (status != PVRDMA_MR_OK) {
        return status;
    }
    if (mr->kind == PVRDMA_MR_DMA) {
        good = rnic_dma_write(&qp->s->host, va, buf, len);
    } else {
        good = pvrdma_pages_write(qp->s, &mr->pages, mr->offset + va - mr->start,
                                  buf, len);
    }
    return good ? PVRDMA_MR_OK : PVRDMA_MR_BUS_ERROR;
}

PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access)
{
    PvrdmaMr *mr;

    return len ? mr_get(qp, key, va, len, access, &mr) : PVRDMA_MR_OK;
}

/* --- Work requests on regions ------------------------------------------------- */

/*
 * Checks the access flags of a region.  Returns 0; EOPNOTSUPP for ACCESS_UNSUPPORTED;
 * EINVAL if peers may write or execute atomics, but the flag LOCAL_WRITE is not set.
 */
static int access_check(uint32_t access)
{
    if (access & ACCESS_UNSUPPORTED) {
        return EOPNOTSUPP;
    }
    return (access & REMOTE_MODIFY) && !(access & PVRDMA_ACCESS_LOCAL_WRITE) ? EINVAL
                                                                             : 0;
}

/*
 * Returns true if @length bytes at @start lie in @pages pages, of which the first
 * contains @start.  Returns false if @length is 0 or more than PVRDMA_MAX_MR_BYTES, or if
 * the addresses wrap.
 */
static bool range_fits(uint64_t start, uint64_t length, uint64_t pages)
{
    return length && length - 1 <= UINT64_MAX - start &&
           length <= PVRDMA_MAX_MR_BYTES &&
           PAGE_OFFSET(start) + length <= pages * PVRDMA_PAGE_BYTES;
}

static bool fast_reg_ok(const PvrdmaMr *mr, const PvrdmaSqe *sqe)
{
    return sqe->fast_reg.page_shift == PVRDMA_PAGE_SHIFT &&
           sqe->fast_reg.pages <= mr->max_pages &&
           range_fits(sqe->fast_reg.iova, sqe->fast_reg.length,
                      sqe->fast_reg.pages) &&
           !access_check(sqe->fast_reg.access);
}

/*
 * Returns the fast region of @qp's domain with the handle of @key, or NULL.  Ignores the
 * variant of @key.
 */
static PvrdmaMr *mr_fast(PvrdmaQp *qp, uint32_t key)
{
    PvrdmaMr *mr = pvrdma_table_get(&qp->s->mr, RNIC_GET(KEY_HANDLE, key));

    return mr && mr->kind == PVRDMA_MR_FAST && mr->pd == qp->pd ? mr : NULL;
}

static void mr_invalidate(PvrdmaState *s, PvrdmaMr *mr)
{
    mr->valid = false;
    pvrdma_pages_free(s, &mr->pages);
}

/*
 * Registers pages in a fast region, and sets the key that the guest has chosen.  Refuses
 * a region that is still valid.
 */
uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    PvrdmaMr *mr = mr_fast(qp, sqe->fast_reg.rkey);

    if (!mr || mr->valid || !fast_reg_ok(mr, sqe)) {
        pvrdma_guest_error(qp->s, "FAST_REG_MR of key 0x%x refused",
                           sqe->fast_reg.rkey);
        return PVRDMA_WC_MW_BIND_ERR;
    }
    if (pvrdma_pages_load(qp->s, &mr->pages, sqe->fast_reg.pdir,
                          sqe->fast_reg.pages)) {
        pvrdma_guest_error(qp->s, "FAST_REG_MR of key 0x%x: pages",
                           sqe->fast_reg.rkey);
        return PVRDMA_WC_MW_BIND_ERR;
    }
    mr->key = sqe->fast_reg.rkey;
    mr->access = sqe->fast_reg.access;
    mr->start = sqe->fast_reg.iova;
    mr->length = sqe->fast_reg.length;
    mr->offset = PAGE_OFFSET(sqe->fast_reg.iova);
    mr->valid = true;
    return PVRDMA_WC_SUCCESS;
}

/*
 * Invalidates a fast region.  Accepts a region that is invalid already, because the guest
 * and its peer may each invalidate the region.
 */
uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key)
{
    PvrdmaMr *mr = mr_fast(qp, key);

    if (!mr || mr->key != key) {
        return PVRDMA_WC_MW_BIND_ERR;
    }
    mr_invalidate(qp->s, mr);
    return PVRDMA_WC_SUCCESS;
}

/* --- Commands: contexts and domains ------------------------------------------- */

int pvrdma_cmd_create_uc(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    uint64_t uar = le64_to_cpu(req->create_uc.pfn64) - s->uar_pfn;
    PvrdmaUc *uc;
    uint32_t handle;

    /* Doorbell page 0 belongs to the kernel. */
    if (!uar || uar >= PVRDMA_UARS) {
        return EINVAL;
    }
    uc = g_new0(PvrdmaUc, 1);
    handle = pvrdma_table_add(&s->uc, uc);
    if (!handle) {
        g_free(uc);
        return ENOMEM;
    }
    uc->handle = handle;
    uc->uar = uar;
    resp->create_uc.ctx_handle = cpu_to_le32(handle);
    return 0;
}

int pvrdma_cmd_destroy_uc(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    uint32_t handle = le32_to_cpu(req->destroy_uc.ctx_handle);
    PvrdmaUc *uc = pvrdma_table_get(&s->uc, handle);

    if (!uc) {
        return EINVAL;
    }
    if (uc->users) {
        return EBUSY;
    }
    pvrdma_table_remove(&s->uc, handle);
    g_free(uc);
    return 0;
}

int pvrdma_cmd_create_pd(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    uint32_t ctx = le32_to_cpu(req->create_pd.ctx_handle);
    PvrdmaUc *uc = pvrdma_table_get(&s->uc, ctx);
    PvrdmaPd *pd;

    if (ctx && !uc) {
        return EINVAL;
    }
    pd = g_new0(PvrdmaPd, 1);
    pd->handle = pvrdma_table_add(&s->pd, pd);
    if (!pd->handle) {
        g_free(pd);
        return ENOMEM;
    }
    pd->ctx = ctx;
    if (uc) {
        pd->uar = uc->uar;
        uc->users++;
    }
    resp->create_pd.pd_handle = cpu_to_le32(pd->handle);
    return 0;
}

int pvrdma_cmd_destroy_pd(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    uint32_t handle = le32_to_cpu(req->destroy_pd.pd_handle);
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, handle);
    PvrdmaUc *uc;

    if (!pd) {
        return EINVAL;
    }
    if (pd->users) {
        return EBUSY;
    }
    uc = pvrdma_table_get(&s->uc, pd->ctx);
    if (uc) {
        uc->users--;
    }
    pvrdma_table_remove(&s->pd, handle);
    g_free(pd);
    return 0;
}

/* --- Commands: regions -------------------------------------------------------- */

static int mr_fill_user(PvrdmaState *s, PvrdmaMr *mr,
                        const struct pvrdma_cmd_create_mr *cmd)
{
    uint32_t pages = le32_to_cpu(cmd->nchunks);

    mr->kind = PVRDMA_MR_USER;
    mr->valid = true;
    mr->access = le32_to_cpu(cmd->access_flags);
    mr->start = le64_to_cpu(cmd->start);
    mr->length = le64_to_cpu(cmd->length);
    mr->offset = PAGE_OFFSET(mr->start);
    if (!range_fits(mr->start, mr->length, pages)) {
        return EINVAL;
    }
    return access_check(mr->access) ?:
           pvrdma_pages_load(s, &mr->pages, le64_to_cpu(cmd->pdir_dma), pages);
}

/*
 * Fills a region of all memory.  Returns 0, or EOPNOTSUPP if peers would get rights or a
 * right is in ACCESS_UNSUPPORTED.
 */
static int mr_fill_dma(PvrdmaState *s, PvrdmaMr *mr,
                       const struct pvrdma_cmd_create_mr *cmd)
{
    mr->kind = PVRDMA_MR_DMA;
    mr->valid = true;
    mr->access = le32_to_cpu(cmd->access_flags);
    return mr->access & (REMOTE_ACCESS | ACCESS_UNSUPPORTED) ? EOPNOTSUPP : 0;
}

static int mr_fill_fast(PvrdmaState *s, PvrdmaMr *mr,
                        const struct pvrdma_cmd_create_mr *cmd)
{
    mr->kind = PVRDMA_MR_FAST;
    mr->max_pages = le32_to_cpu(cmd->nchunks);
    return mr->max_pages && mr->max_pages <= PVRDMA_MAX_FAST_REG_PAGES ? 0 : EINVAL;
}

static int mr_fill(PvrdmaState *s, PvrdmaMr *mr,
                   const struct pvrdma_cmd_create_mr *cmd)
{
    switch (le32_to_cpu(cmd->flags)) {
    case 0:
        return mr_fill_user(s, mr, cmd);
    case PVRDMA_MR_FLAG_DMA:
        return mr_fill_dma(s, mr, cmd);
    case PVRDMA_MR_FLAG_FRMR:
        return mr_fill_fast(s, mr, cmd);
    default:
        return EINVAL;
    }
}

bool pvrdma_mr_fields_valid(const PvrdmaMr *mr)
{
    bool mapped = mr->valid && mr->offset == PAGE_OFFSET(mr->start) &&
                  range_fits(mr->start, mr->length, mr->pages.count) &&
                  !access_check(mr->access);

    if (RNIC_GET(KEY_HANDLE, mr->key) != mr->handle) {
        return false;
    }
    switch (mr->kind) {
    case PVRDMA_MR_USER:
        return mapped;
    case PVRDMA_MR_DMA:
        return mr->valid && !mr->pages.count &&
               !(mr->access & (REMOTE_ACCESS | ACCESS_UNSUPPORTED));
    case PVRDMA_MR_FAST:
        return mr->max_pages <= PVRDMA_MAX_FAST_REG_PAGES &&
               mr->pages.count <= mr->max_pages &&
               (mr->valid ? mapped : !mr->pages.count);
    default:
        return false;
    }
}

/*
 * Adds a region to the table.  Assigns a handle, and a key whose variant increases with
 * each new region, modulo 256.  Returns 0, or ENOMEM after freeing the pages.
 */
static int mr_add(PvrdmaState *s, PvrdmaMr *mr)
{
    mr->handle = pvrdma_table_add(&s->mr, mr);
    if (!mr->handle) {
        pvrdma_pages_free(s, &mr->pages);
        return ENOMEM;
    }
    mr->key = RNIC_PREP(KEY_HANDLE, mr->handle) |
              RNIC_PREP(KEY_VARIANT, s->mr_generation++);
    return 0;
}

int pvrdma_cmd_create_mr(PvrdmaState *s, const union pvrdma_cmd_req *req,
                         union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_create_mr *cmd = &req->create_mr;
    uint32_t handle = le32_to_cpu(cmd->pd_handle);
    PvrdmaPd *pd = pvrdma_table_get(&s->pd, handle);
    g_autofree PvrdmaMr *mr = g_new0(PvrdmaMr, 1);
    int err;

    if (!pd) {
        return EINVAL;
    }
    err = mr_fill(s, mr, cmd) ?: mr_add(s, mr);
    if (err) {
        return err;
    }
    mr->pd = handle;
    pd->users++;
    resp->create_mr.mr_handle = cpu_to_le32(mr->handle);
    resp->create_mr.lkey = cpu_to_le32(mr->key);
    resp->create_mr.rkey = cpu_to_le32(mr->key);
    g_steal_pointer(&mr);
    return 0;
}

static void mr_free(PvrdmaState *s, PvrdmaMr *mr)
{
    pvrdma_table_remove(&s->mr, mr->handle);
    pvrdma_pages_free(s, &mr->pages);
    g_free(mr);
}

int pvrdma_cmd_destroy_mr(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    uint32_t handle = le32_to_cpu(req->destroy_mr.mr_handle);
    PvrdmaMr *mr = pvrdma_table_get(&s->mr, handle);
    PvrdmaPd *pd;

    if (!mr) {
        return EINVAL;
    }
    pd = pvrdma_table_get(&s->pd, mr->pd);
    pd->users--;
    mr_free(s, mr);
    return 0;
}

static void table_free_all(PvrdmaTable *t)
{
    for (uint32_t i = 0; i < t->size && t->used; i++) {
        void *object = pvrdma_table_get(t, i);

        if (object) {
            pvrdma_table_remove(t, i);
            g_free(object);
        }
    }
}

void pvrdma_mr_reset_all(PvrdmaState *s)
{
    for (uint32_t i = 0; i < s->mr.size && s->mr.used; i++) {
        PvrdmaMr *mr = pvrdma_table_get(&s->mr, i);

        if (mr) {
            mr_free(s, mr);
        }
    }
    table_free_all(&s->pd);
    table_free_all(&s->uc);
}
