/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: work queues.  To fetch a WQE, the device copies the whole WQE,
 * and decodes the copy into PvrdmaSqe or PvrdmaRqe.  Only this file depends on the format
 * of WQEs in guest memory.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "../base/caps.h"
#include "../base/guest.h"
#include "mr.h"
#include "../base/pages.h"
#include "../pvrdma.h"
#include "qp.h"
#include "wq.h"
#include "../trace.h"

/* Fields of struct pvrdma_av. */
#define AV_PD           RNIC_FIELD(23, 0)
#define AV_PORT         RNIC_FIELD(31, 24)
#define AV_FLOW_LABEL   RNIC_FIELD(19, 0)
#define AV_TCLASS       RNIC_FIELD(27, 20)

/* A send WQE and a receive WQE of maximal size, in the format of guest memory. */
typedef struct RawSqe {
    struct pvrdma_sq_wqe_hdr hdr;
    struct pvrdma_sge sge[PVRDMA_MAX_SGE];
} RawSqe;

typedef struct RawRqe {
    struct pvrdma_rq_wqe_hdr hdr;
    struct pvrdma_sge sge[PVRDMA_MAX_SGE];
} RawRqe;

QEMU_BUILD_BUG_ON(offsetof(RawSqe, sge) != sizeof(struct pvrdma_sq_wqe_hdr));
QEMU_BUILD_BUG_ON(offsetof(RawRqe, sge) != sizeof(struct pvrdma_rq_wqe_hdr));

/* --- Layout ----------------------------------------------------------------------- */

int pvrdma_wq_init(PvrdmaWq *wq, uint32_t ring_at, uint32_t wqe_at,
                   uint32_t entries, uint32_t max_sge)
{
    if (entries > PVRDMA_MAX_WR || max_sge > PVRDMA_MAX_SGE ||
        (entries && !is_power_of_2(entries))) {
        return EINVAL;
    }
    *wq = (PvrdmaWq) {
        .ring_at = ring_at, .wqe_at = wqe_at,
        .entries = entries, .max_sge = max_sge,
    };
    return 0;
}

static int wq_layout(PvrdmaWq *wq, const PvrdmaPages *pages, size_t hdr_bytes)
{
    uint64_t room = (uint64_t)pages->count * PVRDMA_PAGE_BYTES;

    wq->wqe_bytes = pow2ceil(hdr_bytes + wq->max_sge * sizeof(struct pvrdma_sge));
    if (wq->entries &&
        (wq->ring_at + sizeof(struct pvrdma_ring) > PVRDMA_PAGE_BYTES ||
         wq->wqe_at + (uint64_t)wq->entries * wq->wqe_bytes > room)) {
        return EINVAL;
    }
    return 0;
}

int pvrdma_sq_layout(PvrdmaWq *wq, const PvrdmaPages *pages)
{
    return wq_layout(wq, pages, sizeof(struct pvrdma_sq_wqe_hdr));
}

int pvrdma_rq_layout(PvrdmaWq *wq, const PvrdmaPages *pages)
{
    return wq_layout(wq, pages, sizeof(struct pvrdma_rq_wqe_hdr));
}

/* --- Indices ---------------------------------------------------------------------- */

/* Returns by how many entries index @a is ahead of @b. */
static uint32_t wq_ahead(const PvrdmaWq *wq, uint32_t a, uint32_t b)
{
    return (a - b) & (2 * wq->entries - 1);
}

int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    __le32 raw;
    uint32_t prod, used;

    if (!wq->entries) {
        return 0;
    }
    if (!pvrdma_pages_read(s, pages, wq->ring_at +
                           offsetof(struct pvrdma_ring, prod_tail),
                           &raw, sizeof(raw))) {
        pvrdma_guest_error(s, "work queue: cannot read its index");
        return -1;
    }
    prod = le32_to_cpu(raw);
    used = wq_ahead(wq, prod, wq->cons);
    /*
     * The guest's index must not move back, because the device may have fetched the WQEs
     * between the old and the new index.
     */
    if (prod >= 2 * wq->entries || used > wq->entries ||
        used < wq_ahead(wq, wq->prod, wq->cons)) {
        pvrdma_guest_error(s, "work queue of %u: index %u, %u was reached",
                           wq->entries, prod, wq->prod);
        return -1;
    }
    wq->prod = prod;
    return wq_ahead(wq, prod, wq->fetch);
}

int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    if (wq->prod != wq->fetch) {
        return wq_ahead(wq, wq->prod, wq->fetch);
    }
    return pvrdma_wq_refresh(s, pages, wq);
}

void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count)
{
    __le32 raw;

    wq->cons = (wq->cons + count) & (2 * wq->entries - 1);
    raw = cpu_to_le32(wq->cons);
    if (!pvrdma_pages_write(s, pages, wq->ring_at +
                            offsetof(struct pvrdma_ring, cons_head),
                            &raw, sizeof(raw))) {
        pvrdma_guest_error(s, "work queue: cannot write its index");
    }
}

void pvrdma_wq_reset(PvrdmaWq *wq)
{
    wq->fetch = 0;
    wq->cons = 0;
    wq->prod = 0;
}

bool pvrdma_wq_resume(PvrdmaWq *wq, uint32_t cons, uint32_t prod)
{
    if (!wq->entries) {
        return !cons && !prod;
    }
    if (cons >= 2 * wq->entries || prod >= 2 * wq->entries ||
        wq_ahead(wq, prod, cons) > wq->entries) {
        return false;
    }
    wq->fetch = cons;
    wq->cons = cons;
    wq->prod = prod;
    return true;
}

/*
 * Copies the next WQE, whose header has @hdr_bytes bytes, to @raw, and advances the fetch
 * index.  Returns false, with a guest error, if the WQE cannot be read.
 */
static bool wq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     void *raw, size_t hdr_bytes)
{
    uint64_t at = wq->wqe_at +
                  (uint64_t)(wq->fetch & (wq->entries - 1)) * wq->wqe_bytes;

    wq->fetch = (wq->fetch + 1) & (2 * wq->entries - 1);
    if (!pvrdma_pages_read(s, pages, at, raw, hdr_bytes +
                           wq->max_sge * sizeof(struct pvrdma_sge))) {
        pvrdma_guest_error(s, "work queue: cannot read a WQE");
        return false;
    }
    return true;
}

/* --- Decoding --------------------------------------------------------------------- */

/*
 * Decodes @count elements, and stores the sum of their lengths in *@length.  Returns
 * SUCCESS, or LOC_LEN_ERR, with length 0, if the sum exceeds ROCE_MSG_MAX.
 */
static uint8_t sges_decode(PvrdmaSge *sge, const struct pvrdma_sge *raw,
                           unsigned count, uint32_t *length)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++) {
        sge[i].addr = le64_to_cpu(raw[i].addr);
        sge[i].length = le32_to_cpu(raw[i].length);
        sge[i].lkey = le32_to_cpu(raw[i].lkey);
        sum += sge[i].length;
    }
    if (sum > ROCE_MSG_MAX) {
        *length = 0;
        return PVRDMA_WC_LOC_LEN_ERR;
    }
    *length = sum;
    return PVRDMA_WC_SUCCESS;
}

typedef void SqeDecode(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr);

/* Decodes the address of a SEND.  Only datagrams use this address. */
static void decode_send(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr)
{
    const struct pvrdma_av *av = &hdr->wr.ud.av;
    uint32_t port_pd = le32_to_cpu(av->port_pd);
    uint32_t label = le32_to_cpu(av->sl_tclass_flowlabel);

    sqe->ud.qpn = le32_to_cpu(hdr->wr.ud.remote_qpn);
    sqe->ud.qkey = le32_to_cpu(hdr->wr.ud.remote_qkey);
    sqe->ud.av = (PvrdmaAv) {
        .gid_index = av->gid_index,
        .hop_limit = av->hop_limit,
        .traffic_class = RNIC_GET(AV_TCLASS, label),
        .flow_label = RNIC_GET(AV_FLOW_LABEL, label),
        .pd = RNIC_GET(AV_PD, port_pd),
        .port = RNIC_GET(AV_PORT, port_pd),
    };
    memcpy(sqe->ud.av.dgid, av->dgid, sizeof(av->dgid));
    memcpy(sqe->ud.av.dmac, av->dmac, sizeof(av->dmac));
}

static void decode_rdma(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr)
{
    sqe->remote_addr = le64_to_cpu(hdr->wr.rdma.remote_addr);
    sqe->rkey = le32_to_cpu(hdr->wr.rdma.rkey);
}

static void decode_atomic(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr)
{
    sqe->remote_addr = le64_to_cpu(hdr->wr.atomic.remote_addr);
    sqe->rkey = le32_to_cpu(hdr->wr.atomic.rkey);
    sqe->compare_add = le64_to_cpu(hdr->wr.atomic.compare_add);
    sqe->swap = le64_to_cpu(hdr->wr.atomic.swap);
    if (sqe->status == PVRDMA_WC_SUCCESS && sqe->length != sizeof(uint64_t)) {
        sqe->status = PVRDMA_WC_LOC_LEN_ERR;
    }
}

/*
 * Ignores the elements of the WQE and their length, because work requests on regions have
 * no data.
 */
static void decode_local(PvrdmaSqe *sqe)
{
    sqe->sges = 0;
    sqe->length = 0;
    sqe->status = PVRDMA_WC_SUCCESS;
}

static void decode_local_inv(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr)
{
    decode_local(sqe);
}

static void decode_fast_reg(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr)
{
    decode_local(sqe);
    sqe->fast_reg.iova = le64_to_cpu(hdr->wr.fast_reg.iova_start);
    sqe->fast_reg.pdir = le64_to_cpu(hdr->wr.fast_reg.pl_pdir_dma);
    sqe->fast_reg.page_shift = le32_to_cpu(hdr->wr.fast_reg.page_shift);
    sqe->fast_reg.pages = le32_to_cpu(hdr->wr.fast_reg.page_list_len);
    sqe->fast_reg.length = le32_to_cpu(hdr->wr.fast_reg.length);
    sqe->fast_reg.access = le32_to_cpu(hdr->wr.fast_reg.access_flags);
    sqe->fast_reg.rkey = le32_to_cpu(hdr->wr.fast_reg.rkey);
}

/*
 * Decoders, indexed by enum pvrdma_wr_opcode.  A WQE whose opcode has no entry fails with
 * LOC_QP_OP_ERR.
 */
static SqeDecode *const sqe_decode[PVRDMA_WR_ERROR + 1] = {
    [PVRDMA_WR_RDMA_WRITE] = decode_rdma,
    [PVRDMA_WR_RDMA_WRITE_WITH_IMM] = decode_rdma,
    [PVRDMA_WR_SEND] = decode_send,
    [PVRDMA_WR_SEND_WITH_IMM] = decode_send,
    [PVRDMA_WR_RDMA_READ] = decode_rdma,
    [PVRDMA_WR_ATOMIC_CMP_AND_SWP] = decode_atomic,
    [PVRDMA_WR_ATOMIC_FETCH_AND_ADD] = decode_atomic,
    [PVRDMA_WR_SEND_WITH_INV] = decode_send,
    [PVRDMA_WR_LOCAL_INV] = decode_local_inv,
    [PVRDMA_WR_FAST_REG_MR] = decode_fast_reg,
};

/*
 * Decodes the key to invalidate of SEND_WITH_INV and LOCAL_INV, and the immediate data of
 * the other opcodes.
 */
static void decode_ex(PvrdmaSqe *sqe, const struct pvrdma_sq_wqe_hdr *hdr)
{
    if (sqe->opcode == PVRDMA_WR_SEND_WITH_INV ||
        sqe->opcode == PVRDMA_WR_LOCAL_INV) {
        sqe->inv_rkey = le32_to_cpu(hdr->ex.invalidate_rkey);
    } else {
        sqe->imm = hdr->ex.imm_data;
    }
}

static void sqe_decode_all(PvrdmaState *s, const PvrdmaWq *wq, PvrdmaSqe *sqe,
                           const RawSqe *raw)
{
    uint32_t opcode = le32_to_cpu(raw->hdr.opcode);
    uint32_t sges = le32_to_cpu(raw->hdr.num_sge);

    sqe->wr_id = le64_to_cpu(raw->hdr.wr_id);
    sqe->flags = le32_to_cpu(raw->hdr.send_flags);
    sqe->opcode = MIN(opcode, PVRDMA_WR_ERROR);
    if (!sqe_decode[sqe->opcode] || sges > wq->max_sge) {
        sqe->status = PVRDMA_WC_LOC_QP_OP_ERR;
        pvrdma_guest_error(s, "WQE with opcode %u and %u elements", opcode, sges);
        return;
    }
    sqe->sges = sges;
    sqe->status = sges_decode(sqe->sge, raw->sge, sges, &sqe->length);
    decode_ex(sqe, &raw->hdr);
    sqe_decode[sqe->opcode](sqe, &raw->hdr);
    if (sqe->status != PVRDMA_WC_SUCCESS) {
        pvrdma_guest_error(s, "WQE with opcode %u: length", opcode);
    }
}

bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe)
{
    RawSqe raw;

    *sqe = (PvrdmaSqe) {
        .status = PVRDMA_WC_GENERAL_ERR,
        .sge = sqe->sge,
    };
    if (!wq_fetch(s, pages, wq, &raw, sizeof(raw.hdr))) {
        return false;
    }
    sqe_decode_all(s, wq, sqe, &raw);
    trace_pvrdma_wq_decode(s->port.netdev, sqe->wr_id, sqe->opcode, sqe->sges,
                           sqe->length, sqe->status);
    return true;
}

bool pvrdma_rq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaRqe *rqe)
{
    RawRqe raw;
    uint32_t sges;

    rqe->wr_id = 0;
    rqe->length = 0;
    rqe->sges = 0;
    rqe->status = PVRDMA_WC_GENERAL_ERR;
    if (!wq_fetch(s, pages, wq, &raw, sizeof(raw.hdr))) {
        return false;
    }
    rqe->wr_id = le64_to_cpu(raw.hdr.wr_id);
    sges = le32_to_cpu(raw.hdr.num_sge);
    if (sges > wq->max_sge) {
        rqe->status = PVRDMA_WC_LOC_QP_OP_ERR;
        pvrdma_guest_error(s, "receive WQE with %u elements", sges);
        return true;
    }
    rqe->sges = sges;
    rqe->status = sges_decode(rqe->sge, raw.sge, sges, &rqe->length);
    if (rqe->status != PVRDMA_WC_SUCCESS) {
        pvrdma_guest_error(s, "receive WQE: length");
    }
    trace_pvrdma_wq_receive(s->port.netdev, rqe->wr_id, rqe->sges, rqe->length,
                            rqe->status);
    return true;
}

/* --- Scatter and gather ----------------------------------------------------------- */

/* The bytes of a copy that lie in one element of a scatter/gather list. */
typedef struct SgPiece {
    uint64_t va;
    uint32_t lkey;
    uint32_t len;
} SgPiece;

/*
 * Stores in @piece the part of a copy of @len bytes that lies in @sge.  *@offset is the
 * byte, counted from the beginning of @sge, at which the copy begins.  Returns true, and
 * sets *@offset to 0 for the next element.  If this byte is behind the element, subtracts
 * the element's length from *@offset and returns false.
 */
static bool sg_piece(const PvrdmaSge *sge, uint32_t *offset, uint32_t len,
                     SgPiece *piece)
{
    if (*offset >= sge->length) {
        *offset -= sge->length;
        return false;
    }
    piece->va = sge->addr + *offset;
    piece->lkey = sge->lkey;
    piece->len = MIN(len, sge->length - *offset);
    *offset = 0;
    return true;
}

uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len)
{
    uint8_t *at = buf;
    SgPiece p;

    for (unsigned i = 0; i < sges && len; i++) {
        if (!sg_piece(&sge[i], &offset, len, &p)) {
            continue;
        }
        if (pvrdma_mr_read(qp, p.lkey, p.va, at, p.len, 0) != PVRDMA_MR_OK) {
            return PVRDMA_WC_LOC_PROT_ERR;
        }
        at += p.len;
        len -= p.len;
    }
    return len ? PVRDMA_WC_LOC_LEN_ERR : PVRDMA_WC_SUCCESS;
}

uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len)
{
    const uint8_t *at = buf;
    SgPiece p;

    for (unsigned i = 0; i < sges && len; i++) {
        if (!sg_piece(&sge[i], &offset, len, &p)) {
            continue;
        }
        if (pvrdma_mr_write(qp, p.lkey, p.va, at, p.len,
                            PVRDMA_ACCESS_LOCAL_WRITE) != PVRDMA_MR_OK) {
            return PVRDMA_WC_LOC_PROT_ERR;
        }
        at += p.len;
        len -= p.len;
    }
    return len ? PVRDMA_WC_LOC_LEN_ERR : PVRDMA_WC_SUCCESS;
}
