/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verbs for tests of pvrdma; see verbs.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "verbs.h"

#define DEFAULT_WR 16
#define DEFAULT_SGE 4
#define DEFAULT_RNR_TIMER 12
#define DEFAULT_TIMEOUT 14
#define DEFAULT_RETRY 7
#define DEFAULT_RD_ATOMIC 4
#define RING_RX offsetof(struct pvrdma_ring_state, rx)
#define RING_TX offsetof(struct pvrdma_ring_state, tx)

/* --- Contexts, domains, memory ------------------------------------------ */

uint32_t pvrdma_uc_create(PvrdmaTest *t, uint32_t page)
{
    union pvrdma_cmd_req req = {
        .create_uc.pfn64 =
            cpu_to_le64((t->uar.addr >> PVRDMA_PAGE_SHIFT) + page),
    };
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_UC, &req, &resp);
    g_assert_cmpuint(resp.create_uc.ctx_handle, !=, 0);
    return le32_to_cpu(resp.create_uc.ctx_handle);
}

void pvrdma_uc_destroy(PvrdmaTest *t, uint32_t uc)
{
    union pvrdma_cmd_req req = { .destroy_uc.ctx_handle = cpu_to_le32(uc) };

    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_UC, &req, NULL);
}

uint32_t pvrdma_pd_create(PvrdmaTest *t, uint32_t uc)
{
    union pvrdma_cmd_req req = { .create_pd.ctx_handle = cpu_to_le32(uc) };
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_PD, &req, &resp);
    g_assert_cmpuint(resp.create_pd.pd_handle, !=, 0);
    return le32_to_cpu(resp.create_pd.pd_handle);
}

void pvrdma_pd_destroy(PvrdmaTest *t, uint32_t pd)
{
    union pvrdma_cmd_req req = { .destroy_pd.pd_handle = cpu_to_le32(pd) };

    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_PD, &req, NULL);
}

union pvrdma_cmd_req pvrdma_mr_request(PvrdmaTest *t, uint32_t pd, uint64_t va,
                                       uint64_t pa, uint64_t length,
                                       uint32_t access)
{
    uint64_t in_page = va % PVRDMA_PAGE_BYTES;
    uint32_t pages = DIV_ROUND_UP(in_page + length, PVRDMA_PAGE_BYTES);

    return (union pvrdma_cmd_req) {
        .create_mr = {
            .start = cpu_to_le64(va),
            .length = cpu_to_le64(length),
            .pdir_dma = cpu_to_le64(pvrdma_pdir(t, pa - in_page, pages)),
            .pd_handle = cpu_to_le32(pd),
            .access_flags = cpu_to_le32(access),
            .nchunks = cpu_to_le32(pages),
        },
    };
}

static PvrdmaTestMr mr_do(PvrdmaTest *t, union pvrdma_cmd_req *req)
{
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_MR, req, &resp);
    g_assert_cmpuint(resp.create_mr.mr_handle, !=, 0);
    return (PvrdmaTestMr) {
        .handle = le32_to_cpu(resp.create_mr.mr_handle),
        .lkey = le32_to_cpu(resp.create_mr.lkey),
        .rkey = le32_to_cpu(resp.create_mr.rkey),
    };
}

PvrdmaTestMr pvrdma_mr_create(PvrdmaTest *t, uint32_t pd, uint64_t va,
                              uint64_t length, uint32_t access)
{
    uint64_t in_page = va % PVRDMA_PAGE_BYTES;
    uint64_t pa = pvrdma_alloc(t, in_page + length) + in_page;
    union pvrdma_cmd_req req = pvrdma_mr_request(t, pd, va, pa, length, access);
    PvrdmaTestMr mr = mr_do(t, &req);

    mr.va = va;
    mr.pa = pa;
    mr.length = length;
    return mr;
}

PvrdmaTestMr pvrdma_mr_create_dma(PvrdmaTest *t, uint32_t pd, uint32_t access)
{
    union pvrdma_cmd_req req = {
        .create_mr = {
            .pd_handle = cpu_to_le32(pd),
            .access_flags = cpu_to_le32(access),
            .flags = cpu_to_le32(PVRDMA_MR_FLAG_DMA),
        },
    };
    PvrdmaTestMr mr = mr_do(t, &req);

    mr.length = PVRDMA_TEST_RAM;
    return mr;
}

PvrdmaTestMr pvrdma_mr_create_fast(PvrdmaTest *t, uint32_t pd, uint32_t pages)
{
    union pvrdma_cmd_req req = {
        .create_mr = {
            .pd_handle = cpu_to_le32(pd),
            .flags = cpu_to_le32(PVRDMA_MR_FLAG_FRMR),
            .nchunks = cpu_to_le32(pages),
        },
    };

    return mr_do(t, &req);
}

void pvrdma_mr_destroy(PvrdmaTest *t, const PvrdmaTestMr *mr)
{
    union pvrdma_cmd_req req = {
        .destroy_mr.mr_handle = cpu_to_le32(mr->handle),
    };

    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_MR, &req, NULL);
}

/* --- Completion queues -------------------------------------------------- */

PvrdmaTestCq pvrdma_cq_create(PvrdmaTest *t, uint32_t uc, uint32_t page,
                              uint32_t entries)
{
    uint64_t bytes = PVRDMA_PAGE_BYTES + entries * sizeof(struct pvrdma_cqe);
    uint32_t pages = DIV_ROUND_UP(bytes, PVRDMA_PAGE_BYTES);
    uint64_t at = pvrdma_alloc(t, bytes);
    union pvrdma_cmd_req req = {
        .create_cq = {
            .pdir_dma = cpu_to_le64(pvrdma_pdir(t, at, pages)),
            .ctx_handle = cpu_to_le32(uc),
            .cqe = cpu_to_le32(entries),
            .nchunks = cpu_to_le32(pages),
        },
    };
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_CQ, &req, &resp);
    g_assert_cmpuint(le32_to_cpu(resp.create_cq.cqe), ==, entries);
    return (PvrdmaTestCq) {
        .handle = le32_to_cpu(resp.create_cq.cq_handle),
        .page = page,
        .entries = entries,
        .at = at,
    };
}

void pvrdma_cq_destroy(PvrdmaTest *t, const PvrdmaTestCq *cq)
{
    union pvrdma_cmd_req req = {
        .destroy_cq.cq_handle = cpu_to_le32(cq->handle),
    };

    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_CQ, &req, NULL);
}

bool pvrdma_cq_poll(PvrdmaTest *t, const PvrdmaTestCq *cq, struct pvrdma_cqe *cqe)
{
    const PvrdmaTestRing ring = {
        .at = cq->at,
        .slots = cq->entries,
        .elem_bytes = sizeof(*cqe),
    };

    return pvrdma_ring_take(t, &ring, cqe);
}

struct pvrdma_cqe pvrdma_cq_expect(PvrdmaTest *t, const PvrdmaTestCq *cq,
                                   uint64_t wr_id, enum pvrdma_wc_status status)
{
    struct pvrdma_cqe cqe;

    pvrdma_wait(t, pvrdma_cq_poll(t, cq, &cqe));
    g_assert_cmphex(le64_to_cpu(cqe.wr_id), ==, wr_id);
    g_assert_cmpuint(le32_to_cpu(cqe.status), ==, status);
    return cqe;
}

void pvrdma_cq_assert_empty(PvrdmaTest *t, const PvrdmaTestCq *cq)
{
    struct pvrdma_cqe cqe;

    pvrdma_settle(t);
    g_assert_false(pvrdma_cq_poll(t, cq, &cqe));
}

void pvrdma_cq_arm(PvrdmaTest *t, const PvrdmaTestCq *cq, uint32_t how)
{
    pvrdma_doorbell(t, cq->page, PVRDMA_UAR_CQ_OFFSET, how | cq->handle);
}

/* --- Work queues -------------------------------------------------------- */

static uint32_t wqe_bytes(size_t hdr, uint32_t sges)
{
    return pow2ceil(hdr + sges * sizeof(struct pvrdma_sge));
}

static uint32_t wq_pages(const PvrdmaTestWq *wq)
{
    return DIV_ROUND_UP((uint64_t)wq->entries * wq->wqe_bytes,
                        PVRDMA_PAGE_BYTES);
}

static PvrdmaTestWq rq_layout(uint32_t entries, uint32_t sges)
{
    return (PvrdmaTestWq) {
        .entries = entries,
        .max_sge = sges,
        .wqe_bytes = wqe_bytes(sizeof(struct pvrdma_rq_wqe_hdr), sges),
    };
}

PvrdmaTestSrq pvrdma_srq_create(PvrdmaTest *t, uint32_t pd, uint32_t page,
                                uint32_t entries, uint32_t sges)
{
    PvrdmaTestSrq srq = { .page = page, .rq = rq_layout(entries, sges) };
    uint32_t pages = 1 + wq_pages(&srq.rq);
    uint64_t at = pvrdma_alloc(t, pages * PVRDMA_PAGE_BYTES);
    union pvrdma_cmd_req req = {
        .create_srq = {
            .pdir_dma = cpu_to_le64(pvrdma_pdir(t, at, pages)),
            .pd_handle = cpu_to_le32(pd),
            .nchunks = cpu_to_le32(pages),
            .attrs.max_wr = cpu_to_le32(entries),
            .attrs.max_sge = cpu_to_le32(sges),
        },
    };
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_SRQ, &req, &resp);
    srq.handle = le32_to_cpu(resp.create_srq.srqn);
    srq.rq.ring = at + RING_RX;
    srq.rq.at = at + PVRDMA_PAGE_BYTES;
    return srq;
}

void pvrdma_srq_destroy(PvrdmaTest *t, const PvrdmaTestSrq *srq)
{
    union pvrdma_cmd_req req = {
        .destroy_srq.srq_handle = cpu_to_le32(srq->handle),
    };

    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_SRQ, &req, NULL);
}

/*
 * Allocates @pages pages for the queues of @qp, whose sizes are set, and sets their
 * addresses; returns the address of the page directory.
 */
static uint64_t qp_memory(PvrdmaTest *t, PvrdmaTestQp *qp, uint32_t pages)
{
    uint64_t at = pvrdma_alloc(t, pages * PVRDMA_PAGE_BYTES);

    qp->sq.ring = at + RING_TX;
    qp->sq.at = at + PVRDMA_PAGE_BYTES;
    qp->rq.ring = at + RING_RX;
    qp->rq.at = qp->sq.at + wq_pages(&qp->sq) * PVRDMA_PAGE_BYTES;
    return pvrdma_pdir(t, at, pages);
}

union pvrdma_cmd_req pvrdma_qp_request(PvrdmaTest *t,
                                       const PvrdmaTestQpInit *init,
                                       PvrdmaTestQp *qp)
{
    const PvrdmaTestCq *scq = init->send_cq ?: init->recv_cq;
    const PvrdmaTestCq *rcq = init->recv_cq ?: init->send_cq;
    uint32_t total;

    *qp = (PvrdmaTestQp) {
        .page = init->page,
        .type = init->type ?: PVRDMA_QPT_RC,
        .sq = {
            .entries = init->send_wr ?: DEFAULT_WR,
            .max_sge = init->send_sge ?: DEFAULT_SGE,
        },
    };
    qp->sq.wqe_bytes = wqe_bytes(sizeof(struct pvrdma_sq_wqe_hdr), qp->sq.max_sge);
    if (!init->srq) {
        qp->rq = rq_layout(init->recv_wr ?: DEFAULT_WR,
                           init->recv_sge ?: DEFAULT_SGE);
    }
    total = 1 + wq_pages(&qp->sq) + wq_pages(&qp->rq);
    return (union pvrdma_cmd_req) {
        .create_qp = {
            .pdir_dma = cpu_to_le64(qp_memory(t, qp, total)),
            .pd_handle = cpu_to_le32(init->pd),
            .send_cq_handle = cpu_to_le32(scq ? scq->handle : 0),
            .recv_cq_handle = cpu_to_le32(rcq ? rcq->handle : 0),
            .srq_handle = cpu_to_le32(init->srq ? init->srq->handle : 0),
            .max_send_wr = cpu_to_le32(qp->sq.entries),
            .max_recv_wr = cpu_to_le32(qp->rq.entries),
            .max_send_sge = cpu_to_le32(qp->sq.max_sge),
            .max_recv_sge = cpu_to_le32(qp->rq.max_sge),
            .access_flags = cpu_to_le32(PVRDMA_ACCESS_LOCAL_WRITE),
            .total_chunks = cpu_to_le16(total),
            .send_chunks = cpu_to_le16(wq_pages(&qp->sq)),
            .sq_sig_all = init->sig_all,
            .qp_type = qp->type,
            .is_srq = init->srq != NULL,
        },
    };
}

PvrdmaTestQp pvrdma_qp_create(PvrdmaTest *t, const PvrdmaTestQpInit *init)
{
    PvrdmaTestQp qp;
    union pvrdma_cmd_req req = pvrdma_qp_request(t, init, &qp);
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_QP, &req, &resp);
    qp.handle = le32_to_cpu(resp.create_qp.qp_handle);
    qp.qpn = le32_to_cpu(resp.create_qp.qpn);
    g_assert_cmpuint(qp.handle, !=, 0);
    return qp;
}

void pvrdma_qp_destroy(PvrdmaTest *t, const PvrdmaTestQp *qp)
{
    union pvrdma_cmd_req req = {
        .destroy_qp.qp_handle = cpu_to_le32(qp->handle),
    };

    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_QP, &req, NULL);
}

static uint8_t defaulted(uint8_t value, uint8_t normal)
{
    return value == PVRDMA_TEST_NEVER ? 0 : value ?: normal;
}

static const uint8_t *attr_dgid(const PvrdmaTestQpAttr *attr)
{
    return attr->dgid ?: attr->gid_index == 1 ? pvrdma_peer_gid6 :
                                                pvrdma_peer_gid;
}

static const uint8_t *attr_dmac(const PvrdmaTestQpAttr *attr)
{
    return attr->dmac ?: pvrdma_peer_mac;
}

static struct pvrdma_ah_attr ah_attr(const PvrdmaTestQpAttr *attr)
{
    struct pvrdma_ah_attr ah = {
        .grh.sgid_index = attr->gid_index,
        .grh.hop_limit = attr->hop_limit ?: 64,
        .grh.traffic_class = attr->traffic_class,
        .ah_flags = 1,
        .port_num = 1,
    };

    memcpy(ah.grh.dgid, attr_dgid(attr), sizeof(ah.grh.dgid));
    memcpy(ah.dmac, attr_dmac(attr), sizeof(ah.dmac));
    return ah;
}

int pvrdma_qp_modify(PvrdmaTest *t, const PvrdmaTestQp *qp, uint32_t mask,
                     const PvrdmaTestQpAttr *attr)
{
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .qp_handle = cpu_to_le32(qp->handle),
            .attr_mask = cpu_to_le32(mask),
            .attrs = {
                .qp_state = cpu_to_le32(attr->state),
                .path_mtu = cpu_to_le32(attr->mtu ?: PVRDMA_MTU_1024),
                .qkey = cpu_to_le32(attr->qkey),
                .rq_psn = cpu_to_le32(attr->rq_psn),
                .sq_psn = cpu_to_le32(attr->sq_psn),
                .dest_qp_num = cpu_to_le32(attr->dest_qpn),
                .qp_access_flags =
                    cpu_to_le32(attr->access ?: PVRDMA_TEST_ACCESS_ALL),
                .max_rd_atomic = defaulted(attr->rd_atomic, DEFAULT_RD_ATOMIC),
                .max_dest_rd_atomic = defaulted(attr->rd_atomic,
                                                DEFAULT_RD_ATOMIC),
                .min_rnr_timer = defaulted(attr->min_rnr_timer,
                                           DEFAULT_RNR_TIMER),
                .port_num = 1,
                .timeout = defaulted(attr->timeout, DEFAULT_TIMEOUT),
                .retry_cnt = defaulted(attr->retry_cnt, DEFAULT_RETRY),
                .rnr_retry = defaulted(attr->rnr_retry, DEFAULT_RETRY),
                .ah_attr = ah_attr(attr),
            },
        },
    };

    return pvrdma_command(t, PVRDMA_CMD_MODIFY_QP, &req, NULL);
}

static void qp_step(PvrdmaTest *t, const PvrdmaTestQp *qp, uint32_t state,
                    uint32_t mask, const PvrdmaTestQpAttr *attr)
{
    PvrdmaTestQpAttr a = *attr;

    a.state = state;
    g_assert_cmpint(pvrdma_qp_modify(t, qp, PVRDMA_QP_STATE | mask, &a), ==, 0);
}

void pvrdma_qp_init(PvrdmaTest *t, const PvrdmaTestQp *qp,
                    const PvrdmaTestQpAttr *attr)
{
    uint32_t mask = PVRDMA_QP_PKEY_INDEX;

    if (qp->type != PVRDMA_QPT_GSI) {
        mask |= PVRDMA_QP_PORT;
    }
    mask |= qp->type == PVRDMA_QPT_RC ? PVRDMA_QP_ACCESS_FLAGS : PVRDMA_QP_QKEY;
    qp_step(t, qp, PVRDMA_QPS_INIT, mask, attr);
}

void pvrdma_qp_rtr(PvrdmaTest *t, const PvrdmaTestQp *qp,
                   const PvrdmaTestQpAttr *attr)
{
    uint32_t mask = PVRDMA_QP_AV | PVRDMA_QP_PATH_MTU | PVRDMA_QP_DEST_QPN |
                    PVRDMA_QP_RQ_PSN | PVRDMA_QP_MAX_DEST_RD_ATOMIC |
                    PVRDMA_QP_MIN_RNR_TIMER;

    qp_step(t, qp, PVRDMA_QPS_RTR, qp->type == PVRDMA_QPT_RC ? mask : 0, attr);
}

void pvrdma_qp_rts(PvrdmaTest *t, const PvrdmaTestQp *qp,
                   const PvrdmaTestQpAttr *attr)
{
    uint32_t mask = PVRDMA_QP_SQ_PSN;

    if (qp->type == PVRDMA_QPT_RC) {
        mask |= PVRDMA_QP_TIMEOUT | PVRDMA_QP_RETRY_CNT | PVRDMA_QP_RNR_RETRY |
                PVRDMA_QP_MAX_QP_RD_ATOMIC;
    }
    qp_step(t, qp, PVRDMA_QPS_RTS, mask, attr);
}

void pvrdma_qp_connect(PvrdmaTest *t, const PvrdmaTestQp *qp,
                       const PvrdmaTestQpAttr *attr)
{
    pvrdma_qp_init(t, qp, attr);
    pvrdma_qp_rtr(t, qp, attr);
    pvrdma_qp_rts(t, qp, attr);
}

void pvrdma_qp_pair(PvrdmaTest *t, const PvrdmaTestQp *a, const PvrdmaTestQp *b,
                    const PvrdmaTestQpAttr *attr)
{
    PvrdmaTestQpAttr to_a = *attr, to_b;

    to_a.dgid = attr->gid_index == 1 ? pvrdma_gid6 : pvrdma_gid;
    to_a.dmac = pvrdma_mac;
    to_b = to_a;
    to_a.dest_qpn = a->qpn;
    to_b.dest_qpn = b->qpn;
    /* each QP sends the PSNs that the other one expects */
    to_a.rq_psn = attr->sq_psn;
    to_a.sq_psn = attr->rq_psn;
    pvrdma_qp_connect(t, a, &to_b);
    pvrdma_qp_connect(t, b, &to_a);
}

void pvrdma_qp_to(PvrdmaTest *t, const PvrdmaTestQp *qp,
                  enum pvrdma_qp_state state)
{
    qp_step(t, qp, state, 0, &(PvrdmaTestQpAttr) { 0 });
    if (state == PVRDMA_QPS_RESET) {
        /* the driver clears the rings, too */
        qtest_memset(t->qts, qp->sq.ring, 0, sizeof(struct pvrdma_ring));
        if (qp->rq.entries) {
            qtest_memset(t->qts, qp->rq.ring, 0, sizeof(struct pvrdma_ring));
        }
    }
}

struct pvrdma_qp_attr pvrdma_qp_query(PvrdmaTest *t, const PvrdmaTestQp *qp)
{
    union pvrdma_cmd_req req = {
        .query_qp.qp_handle = cpu_to_le32(qp->handle),
        .query_qp.attr_mask = cpu_to_le32(PVRDMA_QP_STATE),
    };
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_QP, &req, &resp);
    return resp.query_qp.attrs;
}

enum pvrdma_qp_state pvrdma_qp_state(PvrdmaTest *t, const PvrdmaTestQp *qp)
{
    return le32_to_cpu(pvrdma_qp_query(t, qp).qp_state);
}

/* --- Work requests ------------------------------------------------------ */

/*
 * Stores a WQE of @hdr_bytes and @sges elements at the producer index, and moves the
 * index.  Asserts that there is room.
 */
static void wq_put(PvrdmaTest *t, const PvrdmaTestWq *wq, const void *hdr,
                   size_t hdr_bytes, const PvrdmaTestSge *sge, unsigned sges)
{
    uint64_t tail_at = wq->ring + offsetof(struct pvrdma_ring, prod_tail);
    uint64_t head_at = wq->ring + offsetof(struct pvrdma_ring, cons_head);
    uint32_t tail = qtest_readl(t->qts, tail_at);
    uint64_t at = wq->at + (tail & (wq->entries - 1)) * wq->wqe_bytes;

    g_assert_cmpuint(tail, !=, qtest_readl(t->qts, head_at) ^ wq->entries);
    g_assert_cmpuint(sges, <=, wq->max_sge);
    qtest_bufwrite(t->qts, at, hdr, hdr_bytes);
    for (unsigned i = 0; i < sges; i++) {
        struct pvrdma_sge raw = {
            .addr = cpu_to_le64(sge[i].addr),
            .length = cpu_to_le32(sge[i].length),
            .lkey = cpu_to_le32(sge[i].lkey),
        };

        qtest_bufwrite(t->qts, at + hdr_bytes + i * sizeof(raw), &raw,
                       sizeof(raw));
    }
    qtest_writel(t->qts, tail_at, (tail + 1) & (2 * wq->entries - 1));
}

void pvrdma_put_send(PvrdmaTest *t, const PvrdmaTestQp *qp,
                     const struct pvrdma_sq_wqe_hdr *hdr,
                     const PvrdmaTestSge *sge, unsigned sges)
{
    struct pvrdma_sq_wqe_hdr raw = *hdr;

    raw.num_sge = cpu_to_le32(sges);
    wq_put(t, &qp->sq, &raw, sizeof(raw), sge, sges);
}

void pvrdma_ring_send(PvrdmaTest *t, const PvrdmaTestQp *qp)
{
    pvrdma_doorbell(t, qp->page, PVRDMA_UAR_QP_OFFSET,
                    PVRDMA_UAR_QP_SEND | qp->handle);
}

void pvrdma_post_send(PvrdmaTest *t, const PvrdmaTestQp *qp,
                      const struct pvrdma_sq_wqe_hdr *hdr,
                      const PvrdmaTestSge *sge, unsigned sges)
{
    pvrdma_put_send(t, qp, hdr, sge, sges);
    pvrdma_ring_send(t, qp);
}

static void put_recv(PvrdmaTest *t, const PvrdmaTestWq *rq, uint64_t wr_id,
                     const PvrdmaTestSge *sge, unsigned sges)
{
    struct pvrdma_rq_wqe_hdr raw = {
        .wr_id = cpu_to_le64(wr_id),
        .num_sge = cpu_to_le32(sges),
    };

    wq_put(t, rq, &raw, sizeof(raw), sge, sges);
}

void pvrdma_post_recv(PvrdmaTest *t, const PvrdmaTestQp *qp, uint64_t wr_id,
                      const PvrdmaTestSge *sge, unsigned sges)
{
    put_recv(t, &qp->rq, wr_id, sge, sges);
    pvrdma_doorbell(t, qp->page, PVRDMA_UAR_QP_OFFSET,
                    PVRDMA_UAR_QP_RECV | qp->handle);
}

void pvrdma_post_srq(PvrdmaTest *t, const PvrdmaTestSrq *srq, uint64_t wr_id,
                     const PvrdmaTestSge *sge, unsigned sges)
{
    put_recv(t, &srq->rq, wr_id, sge, sges);
    pvrdma_doorbell(t, srq->page, PVRDMA_UAR_SRQ_OFFSET,
                    PVRDMA_UAR_SRQ_RECV | srq->handle);
}

struct pvrdma_sq_wqe_hdr pvrdma_wr(uint64_t wr_id, enum pvrdma_wr_opcode opcode)
{
    return (struct pvrdma_sq_wqe_hdr) {
        .wr_id = cpu_to_le64(wr_id),
        .opcode = cpu_to_le32(opcode),
        .send_flags = cpu_to_le32(PVRDMA_SEND_SIGNALED),
    };
}

struct pvrdma_sq_wqe_hdr pvrdma_wr_rdma(uint64_t wr_id,
                                        enum pvrdma_wr_opcode opcode,
                                        uint64_t remote, uint32_t rkey)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(wr_id, opcode);

    hdr.wr.rdma.remote_addr = cpu_to_le64(remote);
    hdr.wr.rdma.rkey = cpu_to_le32(rkey);
    return hdr;
}

struct pvrdma_sq_wqe_hdr pvrdma_wr_atomic(uint64_t wr_id,
                                          enum pvrdma_wr_opcode opcode,
                                          const PvrdmaTestMr *remote,
                                          uint64_t compare_add, uint64_t swap)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(wr_id, opcode);

    hdr.wr.atomic.remote_addr = cpu_to_le64(remote->va);
    hdr.wr.atomic.rkey = cpu_to_le32(remote->rkey);
    hdr.wr.atomic.compare_add = cpu_to_le64(compare_add);
    hdr.wr.atomic.swap = cpu_to_le64(swap);
    return hdr;
}

struct pvrdma_sq_wqe_hdr pvrdma_wr_ud(uint64_t wr_id, enum pvrdma_wr_opcode opcode,
                                      const PvrdmaTestQpAttr *to)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(wr_id, opcode);
    struct pvrdma_av *av = &hdr.wr.ud.av;

    hdr.wr.ud.remote_qpn = cpu_to_le32(to->dest_qpn);
    hdr.wr.ud.remote_qkey = cpu_to_le32(to->qkey);
    av->port_pd = cpu_to_le32(1u << 24 | to->pd);
    av->sl_tclass_flowlabel = cpu_to_le32((uint32_t)to->traffic_class << 20);
    av->gid_index = to->gid_index;
    av->hop_limit = to->hop_limit ?: 64;
    memcpy(av->dgid, attr_dgid(to), sizeof(av->dgid));
    memcpy(av->dmac, attr_dmac(to), sizeof(av->dmac));
    return hdr;
}
