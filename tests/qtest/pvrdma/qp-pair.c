/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two QPs of one device; see qp-pair.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qp-pair.h"

#define ENTRIES 64
#define RECV_WR_ID 0xbeef

static void pair_connect(PvrdmaQpPair *d)
{
    const PvrdmaTestQpAttr attr = { .sq_psn = 0xfffffe, .rq_psn = 77 };

    pvrdma_qp_pair(d->t, &d->qp[0], &d->qp[1], &attr);
}

void pvrdma_qp_pair_make(PvrdmaQpPair *d, PvrdmaTest *t, const PvrdmaTestSrq *srq)
{
    d->t = t;
    d->wr_id = 0;
    if (!srq) {
        d->pd = pvrdma_pd_create(t, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        PvrdmaTestQpInit init = { .pd = d->pd, .srq = i ? srq : NULL };

        d->cq[i] = pvrdma_cq_create(t, 0, 0, ENTRIES);
        init.send_cq = &d->cq[i];
        d->qp[i] = pvrdma_qp_create(t, &init);
        d->mr[i] = pvrdma_mr_create(t, d->pd, PVRDMA_QP_PAIR_VA + ((uint64_t)i << 32),
                                    PVRDMA_QP_PAIR_BYTES, PVRDMA_TEST_ACCESS_ALL);
    }
    pair_connect(d);
}

void pvrdma_qp_pair_start(PvrdmaQpPair *d)
{
    pvrdma_qp_pair_make(d, pvrdma_start(""), NULL);
}

void pvrdma_qp_pair_stop(PvrdmaQpPair *d)
{
    pvrdma_stop(d->t);
}

void pvrdma_qp_pair_again(PvrdmaQpPair *d)
{
    struct pvrdma_cqe cqe;

    for (unsigned i = 0; i < 2; i++) {
        pvrdma_qp_to(d->t, &d->qp[i], PVRDMA_QPS_RESET);
    }
    pvrdma_settle(d->t);
    for (unsigned i = 0; i < 2; i++) {
        while (pvrdma_cq_poll(d->t, &d->cq[i], &cqe)) {
            continue;
        }
    }
    pair_connect(d);
}

void pvrdma_qp_pair_do(PvrdmaQpPair *d, const struct pvrdma_sq_wqe_hdr *hdr,
                       const PvrdmaTestSge *sge, enum pvrdma_wc_status status)
{
    struct pvrdma_sq_wqe_hdr raw = *hdr;

    raw.wr_id = cpu_to_le64(++d->wr_id);
    pvrdma_post_send(d->t, &d->qp[0], &raw, sge, sge ? 1 : 0);
    pvrdma_cq_expect(d->t, &d->cq[0], d->wr_id, status);
}

void pvrdma_qp_pair_rdma(PvrdmaQpPair *d, enum pvrdma_wr_opcode opcode, PvrdmaTestSge sge,
                         uint64_t va, uint32_t rkey, enum pvrdma_wc_status status)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(0, opcode, va, rkey);

    pvrdma_qp_pair_do(d, &hdr, &sge, status);
}

void pvrdma_qp_pair_send(PvrdmaQpPair *d, uint32_t len)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(0, PVRDMA_WR_SEND);
    PvrdmaTestSge to = PVRDMA_TEST_SGE(&d->mr[1], 0, PVRDMA_QP_PAIR_BYTES);
    PvrdmaTestSge from = PVRDMA_TEST_SGE(&d->mr[0], 0, len);
    struct pvrdma_cqe cqe;

    pvrdma_post_recv(d->t, &d->qp[1], RECV_WR_ID, &to, 1);
    pvrdma_qp_pair_do(d, &hdr, &from, PVRDMA_WC_SUCCESS);
    cqe = pvrdma_cq_expect(d->t, &d->cq[1], RECV_WR_ID, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, len);
}

void pvrdma_qp_pair_check(PvrdmaQpPair *d)
{
    g_autofree uint8_t *data = g_malloc(PVRDMA_QP_PAIR_BYTES);
    const PvrdmaTestMr *from = &d->mr[0], *to = &d->mr[1];
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(from, 0, PVRDMA_QP_PAIR_BYTES);

    pvrdma_fill(d->t, from->pa, data, PVRDMA_QP_PAIR_BYTES, ++d->wr_id);
    pvrdma_qp_pair_rdma(d, PVRDMA_WR_RDMA_WRITE, sge, to->va, to->rkey,
                        PVRDMA_WC_SUCCESS);
    pvrdma_assert_mem(d->t, to->pa, data, PVRDMA_QP_PAIR_BYTES);
    qtest_memset(d->t->qts, from->pa, 0, PVRDMA_QP_PAIR_BYTES);
    pvrdma_qp_pair_rdma(d, PVRDMA_WR_RDMA_READ, sge, to->va, to->rkey,
                        PVRDMA_WC_SUCCESS);
    pvrdma_assert_mem(d->t, from->pa, data, PVRDMA_QP_PAIR_BYTES);
}
