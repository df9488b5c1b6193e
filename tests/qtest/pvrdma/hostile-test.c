/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work requests, queues, indices, doorbells and pages of a hostile guest. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hostile.h"

#define ROUNDS 60

/* --- Work requests ------------------------------------------------------------ */

static void any_sge(Hostile *h, struct pvrdma_sge *sge)
{
    const PvrdmaTestMr *mr = &h->evil.mr[hostile_below(h, 2)];
    uint64_t addr = mr->va + hostile_below(h, mr->length);
    uint32_t length = hostile_below(h, mr->length);
    uint32_t lkey = mr->lkey;

    addr = hostile_often(h) ? addr : random_u64(h->rand);
    length = hostile_often(h) ? length : random_limit(h->rand);
    lkey = hostile_often(h) ? lkey : random_limit(h->rand);
    sge->addr = cpu_to_le64(addr);
    sge->length = cpu_to_le32(length);
    sge->lkey = cpu_to_le32(lkey);
}

static void any_send(Hostile *h, uint8_t *raw, size_t len)
{
    struct pvrdma_sq_wqe_hdr *hdr = (void *)raw;
    const PvrdmaTestMr *mr = &h->evil.mr[1];

    random_bytes(h->rand, raw, len);
    for (size_t at = sizeof(*hdr); at < len; at += sizeof(struct pvrdma_sge)) {
        any_sge(h, (void *)(raw + at));
    }
    if (hostile_often(h)) {
        hdr->opcode = cpu_to_le32(hostile_below(h, PVRDMA_WR_ERROR + 2));
    }
    if (hostile_often(h)) {
        hdr->num_sge = cpu_to_le32(hostile_below(h, 5));
    }
    if (hostile_often(h)) {
        hdr->ex.invalidate_rkey = cpu_to_le32(mr->rkey);
    }
    if (hostile_often(h)) {
        hdr->wr.rdma.remote_addr = cpu_to_le64(mr->va + hostile_below(h, mr->length));
        hdr->wr.rdma.rkey = cpu_to_le32(mr->rkey);
    }
    if (hostile_below(h, 2)) {
        hdr->wr.atomic.rkey = cpu_to_le32(mr->rkey);
    }
}

static void any_recv(Hostile *h, uint8_t *raw, size_t len)
{
    struct pvrdma_rq_wqe_hdr *hdr = (void *)raw;

    random_bytes(h->rand, raw, len);
    for (size_t at = sizeof(*hdr); at < len; at += sizeof(struct pvrdma_sge)) {
        any_sge(h, (void *)(raw + at));
    }
    if (hostile_often(h)) {
        hdr->num_sge = cpu_to_le32(hostile_below(h, 5));
    }
}

/* Stores @count WQEs of @any in a queue, and moves the producer index behind them. */
static void fill_queue(Hostile *h, const PvrdmaTestWq *wq, unsigned count,
                       void (*any)(Hostile *h, uint8_t *raw, size_t len))
{
    g_autofree uint8_t *raw = g_malloc0(wq->wqe_bytes);
    uint64_t prod = wq->ring + offsetof(struct pvrdma_ring, prod_tail);
    uint32_t index = qtest_readl(h->t->qts, prod);

    for (unsigned i = 0; i < count; i++) {
        any(h, raw, wq->wqe_bytes);
        qtest_bufwrite(h->t->qts, wq->at + (index & (wq->entries - 1)) *
                                  wq->wqe_bytes, raw, wq->wqe_bytes);
        index = (index + 1) & (2 * wq->entries - 1);
    }
    qtest_writel(h->t->qts, prod, index);
}

static void ring_doorbells(Hostile *h)
{
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_ring_send(h->t, &h->evil.qp[i]);
        pvrdma_doorbell(h->t, 0, PVRDMA_UAR_QP_OFFSET,
                        PVRDMA_UAR_QP_RECV | h->evil.qp[i].handle);
        pvrdma_cq_arm(h->t, &h->evil.cq[i], PVRDMA_UAR_CQ_ARM);
    }
}

static void test_wqes(void)
{
    Hostile h;

    hostile_start(&h, 1);
    for (unsigned round = 0; round < 5 * ROUNDS; round++) {
        for (unsigned i = 0; i < 2; i++) {
            fill_queue(&h, &h.evil.qp[i].rq, hostile_below(&h, 17), any_recv);
            fill_queue(&h, &h.evil.qp[i].sq, hostile_below(&h, 17), any_send);
        }
        ring_doorbells(&h);
        hostile_check(&h);
        pvrdma_step(h.t, 1 + hostile_below(&h, 3) * 100000000);
        pvrdma_qp_pair_again(&h.evil);
    }
    /* some requests have reached the responder */
    g_assert_cmpuint(pvrdma_counter(h.t, "rx-bad-access"), >, 0);
    g_assert_cmpuint(pvrdma_counter(h.t, "tx-ack"), >, 0);
    hostile_finish(&h);
}

/* Datagrams to random destinations. */
static void test_datagrams(void)
{
    const PvrdmaTestQpAttr attr = { .qkey = 0x1234 };
    PvrdmaTestQp qp;
    Hostile h;

    hostile_start(&h, 2);
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
        qp = pvrdma_qp_create(h.t, &(PvrdmaTestQpInit) {
            .type = PVRDMA_QPT_UD, .pd = h.evil.pd, .send_cq = &h.evil.cq[0],
        });
        pvrdma_qp_connect(h.t, &qp, &attr);
        fill_queue(&h, &qp.rq, 16, any_recv);
        for (unsigned i = 0; i < 8; i++) {
            struct pvrdma_sq_wqe_hdr hdr;
            PvrdmaTestQpAttr to = attr;
            struct pvrdma_sge raw;
            PvrdmaTestSge sge;
            uint8_t gid[16], mac[6];

            random_bytes(h.rand, gid, sizeof(gid));
            random_bytes(h.rand, mac, sizeof(mac));
            to.dgid = hostile_below(&h, 2) ? gid : pvrdma_gid;
            to.dmac = hostile_below(&h, 2) ? mac : pvrdma_mac;
            to.dest_qpn = hostile_often(&h) ? qp.qpn : random_limit(h.rand);
            to.gid_index = hostile_often(&h) ? hostile_below(&h, 2)
                                             : random_limit(h.rand);
            hdr = pvrdma_wr_ud(i, PVRDMA_WR_SEND + hostile_below(&h, 2), &to);
            any_sge(&h, &raw);
            sge = (PvrdmaTestSge) {
                le64_to_cpu(raw.addr),
                hostile_often(&h) ? hostile_below(&h, 1025) : le32_to_cpu(raw.length),
                le32_to_cpu(raw.lkey),
            };
            pvrdma_post_send(h.t, &qp, &hdr, &sge, 1);
        }
        hostile_check(&h);
        pvrdma_qp_destroy(h.t, &qp);
        pvrdma_qp_pair_again(&h.evil);
    }
    hostile_finish(&h);
}

/* --- Indices, doorbells ------------------------------------------------------- */

static void test_indices(void)
{
    Hostile h;

    hostile_start(&h, 3);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < 2; i++) {
            const PvrdmaTestQp *qp = &h.evil.qp[i];
            uint64_t cq = h.evil.cq[i].at + offsetof(struct pvrdma_ring_state, rx);

            fill_queue(&h, &qp->rq, hostile_below(&h, 17), any_recv);
            fill_queue(&h, &qp->sq, hostile_below(&h, 17), any_send);
            for (unsigned n = 0; n < 3; n++) {
                uint64_t ring = n == 0 ? qp->sq.ring : n == 1 ? qp->rq.ring : cq;

                if (hostile_below(&h, 2)) {
                    qtest_writel(h.t->qts, ring, random_limit(h.rand));
                }
                if (hostile_below(&h, 2)) {
                    qtest_writel(h.t->qts, ring + 4, random_limit(h.rand));
                }
            }
        }
        ring_doorbells(&h);
        hostile_check(&h);
        ring_doorbells(&h);
        pvrdma_step(h.t, 100000000);
        hostile_evil_make(&h);
    }
    hostile_finish(&h);
}

static void test_doorbells(void)
{
    Hostile h;

    hostile_start(&h, 4);
    for (unsigned i = 0; i < 4000; i++) {
        uint32_t page = hostile_often(&h) ? 0 : hostile_below(&h, PVRDMA_UARS);
        uint64_t at = h.t->uar.addr + page * PVRDMA_PAGE_BYTES +
                      hostile_below(&h, 16);
        uint32_t value = random_limit(h.rand) & (hostile_below(&h, 2) ? ~0u : 0xe000003f);

        switch (hostile_below(&h, 8)) {
        case 0:
            qtest_writeb(h.t->qts, at, value);
            break;
        case 1:
            qtest_writew(h.t->qts, at, value);
            break;
        case 2:
            qtest_writeq(h.t->qts, at, random_u64(h.rand));
            break;
        case 3:
            g_assert_cmphex(qtest_readl(h.t->qts, at & ~3ull), ==, 0);
            break;
        default:
            qtest_writel(h.t->qts, at & ~3ull, value);
            break;
        }
    }
    hostile_finish(&h);
}

/* --- Page directories --------------------------------------------------------- */

/* CQs and QPs with random pages, some of which belong to both. */
static void test_pages(void)
{
    unsigned made = 0;
    Hostile h;

    hostile_start(&h, 5);
    for (unsigned round = 0; round < 5 * ROUNDS; round++) {
        PvrdmaTestCq cq = h.evil.cq[0];
        PvrdmaTestQp qp;
        union pvrdma_cmd_req req = { .create_cq = {
            .pdir_dma = cpu_to_le64(hostile_any_pdir(&h)), .cqe = cpu_to_le32(64),
            .nchunks = cpu_to_le32(2),
        } };
        union pvrdma_cmd_resp resp;

        if (!pvrdma_command(h.t, PVRDMA_CMD_CREATE_CQ, &req, &resp)) {
            cq.handle = le32_to_cpu(resp.create_cq.cq_handle);
        }
        req = pvrdma_qp_request(h.t, &(PvrdmaTestQpInit) {
            .pd = h.evil.pd, .send_cq = &cq,
        }, &qp);
        req.create_qp.pdir_dma = cpu_to_le64(hostile_any_pdir(&h));
        if (!pvrdma_command(h.t, PVRDMA_CMD_CREATE_QP, &req, &resp)) {
            const PvrdmaTestQpAttr attr = {
                .dgid = pvrdma_gid, .dmac = pvrdma_mac,
                .dest_qpn = le32_to_cpu(resp.create_qp.qpn),
            };

            qp.handle = le32_to_cpu(resp.create_qp.qp_handle);
            pvrdma_qp_connect(h.t, &qp, &attr);
            hostile_scribble(&h, h.scratch, HOSTILE_SCRATCH_PAGES * PVRDMA_PAGE_BYTES);
            for (unsigned i = 0; i < HOSTILE_SCRATCH_PAGES; i++) {
                qtest_writeq(h.t->qts, h.scratch + i * PVRDMA_PAGE_BYTES, 5);
                qtest_writeq(h.t->qts, h.scratch + i * PVRDMA_PAGE_BYTES + 8, 7);
            }
            pvrdma_ring_send(h.t, &qp);
            pvrdma_settle(h.t);
            pvrdma_qp_destroy(h.t, &qp);
            made++;
        }
        if (round % 8 == 0) {
            hostile_check(&h);
        }
    }
    g_assert_cmpuint(made, >, ROUNDS);
    hostile_finish(&h);
}

/* --- All at once -------------------------------------------------------------- */

/* Random bytes in all memory of evil's objects and of the device's rings. */
static void test_garbage(void)
{
    Hostile h;

    hostile_start(&h, 6);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t bytes = h.t->ram_next - h.evil_at;

        hostile_scribble(&h, h.evil_at, bytes);
        hostile_scribble(&h, h.t->async.at, PVRDMA_TEST_RING_PAGES * PVRDMA_PAGE_BYTES);
        hostile_scribble(&h, h.t->cqne.at, PVRDMA_TEST_RING_PAGES * PVRDMA_PAGE_BYTES);
        ring_doorbells(&h);
        for (unsigned i = 0; i < 2; i++) {
            /* valid indices, so that the device reads the WQEs */
            qtest_memset(h.t->qts, h.evil.qp[i].sq.ring, 0, 16);
            qtest_writel(h.t->qts, h.evil.qp[i].sq.ring, 16);
            qtest_writel(h.t->qts, h.evil.qp[i].rq.ring, 16);
        }
        ring_doorbells(&h);
        hostile_check(&h);
        pvrdma_step(h.t, 100000000);
        hostile_evil_make(&h);
    }
    hostile_finish(&h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/device/hostile-wqes", test_wqes);
    qtest_add_func("/pvrdma/device/hostile-datagrams", test_datagrams);
    qtest_add_func("/pvrdma/device/hostile-indices", test_indices);
    qtest_add_func("/pvrdma/device/hostile-doorbells", test_doorbells);
    qtest_add_func("/pvrdma/device/hostile-pages", test_pages);
    qtest_add_func("/pvrdma/device/hostile-garbage", test_garbage);
    return g_test_run();
}
