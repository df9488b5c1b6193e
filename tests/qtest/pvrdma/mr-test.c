/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory regions in real transfers: which bytes of which pages, and with which rights. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "qp-pair.h"

#define WRITE   PVRDMA_WR_RDMA_WRITE
#define READ    PVRDMA_WR_RDMA_READ
#define OK      PVRDMA_WC_SUCCESS

/* --- Pages -------------------------------------------------------------------- */

/* A region whose pages are scattered, some of them next to each other. */
static void test_scattered(void)
{
    static const unsigned order[] = { 7, 3, 4, 5, 0, 12, 11, 10 };
    enum { PAGES = ARRAY_SIZE(order), SKIP = 0x123,
           BYTES = PAGES * PVRDMA_PAGE_BYTES - SKIP };
    g_autofree uint8_t *data = g_malloc(BYTES);
    uint64_t base, pages[PAGES];
    union pvrdma_cmd_req req;
    union pvrdma_cmd_resp resp;
    PvrdmaTestMr from;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    base = pvrdma_alloc(d.t, 16 * PVRDMA_PAGE_BYTES);
    for (unsigned i = 0; i < PAGES; i++) {
        pages[i] = base + order[i] * PVRDMA_PAGE_BYTES;
    }
    req = pvrdma_mr_request(d.t, d.pd, 0x10000 + SKIP, base + SKIP, BYTES,
                            PVRDMA_TEST_ACCESS_ALL);
    req.create_mr.pdir_dma = cpu_to_le64(pvrdma_pdir_pages(d.t, pages, PAGES));
    pvrdma_command_ok(d.t, PVRDMA_CMD_CREATE_MR, &req, &resp);
    from = pvrdma_mr_create(d.t, d.pd, 0x999, BYTES, PVRDMA_TEST_ACCESS_ALL);
    pvrdma_fill(d.t, from.pa, data, BYTES, 1);
    pvrdma_qp_pair_rdma(&d, WRITE, PVRDMA_TEST_SGE(&from, 0, BYTES), 0x10000 + SKIP,
                        le32_to_cpu(resp.create_mr.rkey), OK);
    for (unsigned i = 0; i < PAGES; i++) {
        unsigned skip = i ? 0 : SKIP;

        pvrdma_assert_mem(d.t, pages[i] + skip,
                          data + i * PVRDMA_PAGE_BYTES + skip - SKIP,
                          PVRDMA_PAGE_BYTES - skip);
    }
    qtest_memset(d.t->qts, from.pa, 0, BYTES);
    pvrdma_qp_pair_rdma(&d, READ, PVRDMA_TEST_SGE(&from, 0, BYTES), 0x10000 + SKIP,
                        le32_to_cpu(resp.create_mr.rkey), OK);
    pvrdma_assert_mem(d.t, from.pa, data, BYTES);
    pvrdma_qp_pair_stop(&d);
}

/* A region with more than one page table. */
static void test_large(void)
{
    enum { BYTES = 3 * MiB };
    g_autofree uint8_t *data = g_malloc(BYTES);
    PvrdmaTestMr from, to;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    from = pvrdma_mr_create(d.t, d.pd, 0x1fff, BYTES, 0);
    to = pvrdma_mr_create(d.t, d.pd, 0x7fff12345678, BYTES, PVRDMA_TEST_ACCESS_ALL);
    pvrdma_fill(d.t, from.pa, data, BYTES, 2);
    pvrdma_qp_pair_rdma(&d, WRITE, PVRDMA_TEST_SGE(&from, 0, BYTES), to.va, to.rkey, OK);
    pvrdma_assert_mem(d.t, to.pa, data, BYTES);
    pvrdma_qp_pair_stop(&d);
}

/* Pages that are not memory: unmapped addresses, or registers of the device itself. */
static void test_no_memory(void)
{
    PvrdmaTestSge sge;
    union pvrdma_cmd_req req;
    union pvrdma_cmd_resp resp;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    d.t->guest_errors = true;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t errors = pvrdma_counter(d.t, "guest-error");
        uint64_t pa = i == 0 ? PVRDMA_NO_RAM : i == 1 ? d.t->regs.addr
                                                      : d.t->uar.addr;

        req = pvrdma_mr_request(d.t, d.pd, 0, pa, 100, PVRDMA_TEST_ACCESS_ALL);
        pvrdma_command_ok(d.t, PVRDMA_CMD_CREATE_MR, &req, &resp);
        sge = PVRDMA_TEST_SGE(&d.mr[0], 0, 100);
        pvrdma_qp_pair_rdma(&d, WRITE, sge, 0, le32_to_cpu(resp.create_mr.rkey),
                            PVRDMA_WC_REM_OP_ERR);
        pvrdma_qp_pair_again(&d);
        pvrdma_qp_pair_rdma(&d, READ, sge, 0, le32_to_cpu(resp.create_mr.rkey),
                            PVRDMA_WC_REM_OP_ERR);
        pvrdma_qp_pair_again(&d);
        sge = (PvrdmaTestSge) { 0, 100, le32_to_cpu(resp.create_mr.lkey) };
        pvrdma_qp_pair_rdma(&d, WRITE, sge, d.mr[1].va, d.mr[1].rkey,
                            PVRDMA_WC_LOC_PROT_ERR);
        pvrdma_qp_pair_again(&d);
        pvrdma_qp_pair_rdma(&d, READ, sge, d.mr[1].va, d.mr[1].rkey,
                            PVRDMA_WC_LOC_PROT_ERR);
        pvrdma_qp_pair_again(&d);
        g_assert_cmpuint(pvrdma_counter(d.t, "guest-error"), ==, errors + 4);
    }
    pvrdma_qp_pair_check(&d);
    pvrdma_qp_pair_stop(&d);
}

/* --- Rights ------------------------------------------------------------------- */

/*
 * Asserts that an RDMA transfer fails with @status and ends QP 0; connects the QPs
 * again.
 */
static void refuse(PvrdmaQpPair *d, enum pvrdma_wr_opcode opcode, PvrdmaTestSge sge,
                   uint64_t va, uint32_t rkey, enum pvrdma_wc_status status)
{
    pvrdma_qp_pair_rdma(d, opcode, sge, va, rkey, status);
    g_assert_cmpuint(pvrdma_qp_state(d->t, &d->qp[0]), ==, PVRDMA_QPS_ERR);
    pvrdma_qp_pair_again(d);
}

static void test_remote_refused(void)
{
    const enum pvrdma_wc_status bad = PVRDMA_WC_REM_ACCESS_ERR;
    PvrdmaTestMr *mr, plain;
    PvrdmaTestSge sge;
    uint32_t other_pd;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    mr = &d.mr[1];
    sge = PVRDMA_TEST_SGE(&d.mr[0], 0, 3000);
    for (unsigned i = 0; i < 2; i++) {
        enum pvrdma_wr_opcode op = i ? READ : WRITE;

        refuse(&d, op, sge, mr->va, mr->rkey ^ 1, bad);
        refuse(&d, op, sge, mr->va, mr->rkey ^ 0x100, bad);
        refuse(&d, op, sge, mr->va, 0, bad);
        refuse(&d, op, sge, mr->va, UINT32_MAX, bad);
        refuse(&d, op, sge, mr->va - 1, mr->rkey, bad);
        refuse(&d, op, sge, mr->va + mr->length - 2999, mr->rkey, bad);
        refuse(&d, op, sge, UINT64_MAX, mr->rkey, bad);
        refuse(&d, op, sge, 0, mr->rkey, bad);
    }
    plain = pvrdma_mr_create(d.t, d.pd, 0x5000, 4096, PVRDMA_ACCESS_LOCAL_WRITE);
    refuse(&d, WRITE, sge, plain.va, plain.rkey, bad);
    refuse(&d, READ, sge, plain.va, plain.rkey, bad);
    other_pd = pvrdma_pd_create(d.t, 0);
    plain = pvrdma_mr_create(d.t, other_pd, 0x5000, 4096, PVRDMA_TEST_ACCESS_ALL);
    refuse(&d, WRITE, sge, plain.va, plain.rkey, bad);
    refuse(&d, READ, sge, plain.va, plain.rkey, bad);
    plain = pvrdma_mr_create_dma(d.t, d.pd, PVRDMA_ACCESS_LOCAL_WRITE);
    refuse(&d, WRITE, sge, mr->pa, plain.rkey, bad);
    refuse(&d, READ, sge, mr->pa, plain.rkey, bad);
    pvrdma_mr_destroy(d.t, mr);
    refuse(&d, WRITE, sge, mr->va, mr->rkey, bad);
    refuse(&d, READ, sge, mr->va, mr->rkey, bad);
    /* zero bytes need no valid key */
    sge.length = 0;
    pvrdma_qp_pair_rdma(&d, WRITE, sge, mr->va, mr->rkey, OK);
    pvrdma_qp_pair_rdma(&d, READ, sge, mr->va, mr->rkey, OK);
    pvrdma_qp_pair_stop(&d);
}

/*
 * Asserts that the device refuses the SGE of its own guest, and counts one guest error.
 */
static void local_refuse(PvrdmaQpPair *d, enum pvrdma_wr_opcode op, PvrdmaTestSge sge,
                         const PvrdmaTestMr *to)
{
    pvrdma_expect_errors(d->t, 1, refuse(d, op, sge, to->va, to->rkey,
                                         PVRDMA_WC_LOC_PROT_ERR));
}

static void test_local_refused(void)
{
    PvrdmaTestMr *to, read_only, mr;
    PvrdmaTestSge sge;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    to = &d.mr[1];
    mr = d.mr[0];
    for (unsigned i = 0; i < 2; i++) {
        enum pvrdma_wr_opcode op = i ? READ : WRITE;

        sge = (PvrdmaTestSge) { mr.va, 100, mr.lkey ^ 1 };
        local_refuse(&d, op, sge, to);
        sge = (PvrdmaTestSge) { mr.va, 100, 0 };
        local_refuse(&d, op, sge, to);
        sge = (PvrdmaTestSge) { mr.va - 1, 100, mr.lkey };
        local_refuse(&d, op, sge, to);
        sge = (PvrdmaTestSge) { mr.va + mr.length - 99, 100, mr.lkey };
        local_refuse(&d, op, sge, to);
    }
    read_only = pvrdma_mr_create(d.t, d.pd, 0x5000, 4096, 0);
    sge = (PvrdmaTestSge) { read_only.va, 100, read_only.lkey };
    pvrdma_qp_pair_rdma(&d, WRITE, sge, to->va, to->rkey, OK);
    local_refuse(&d, READ, sge, to);
    pvrdma_qp_pair_check(&d);
    pvrdma_qp_pair_stop(&d);
}

/* A region of all memory by physical addresses. */
static void test_dma(void)
{
    PvrdmaTestSge sge;
    PvrdmaTestMr dma;
    PvrdmaQpPair d;
    uint8_t data[6000];

    pvrdma_qp_pair_start(&d);
    dma = pvrdma_mr_create_dma(d.t, d.pd, PVRDMA_ACCESS_LOCAL_WRITE);
    pvrdma_fill(d.t, d.mr[0].pa, data, sizeof(data), 4);
    pvrdma_qp_pair_rdma(&d, WRITE,
                        (PvrdmaTestSge) { d.mr[0].pa, sizeof(data), dma.lkey },
                        d.mr[1].va, d.mr[1].rkey, OK);
    pvrdma_assert_mem(d.t, d.mr[1].pa, data, sizeof(data));
    sge = (PvrdmaTestSge) { PVRDMA_NO_RAM, 100, dma.lkey };
    local_refuse(&d, WRITE, sge, &d.mr[1]);
    pvrdma_qp_pair_stop(&d);
}

/* --- Fast registration -------------------------------------------------------- */

static struct pvrdma_sq_wqe_hdr fast_reg(PvrdmaQpPair *d, const PvrdmaTestMr *mr,
                                         uint32_t key)
{
    const PvrdmaTestMr *user = &d->mr[1];
    uint64_t in_page = user->pa % PVRDMA_PAGE_BYTES;
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(0, PVRDMA_WR_FAST_REG_MR);

    hdr.wr.fast_reg.iova_start = cpu_to_le64(0x3000 + in_page);
    hdr.wr.fast_reg.pl_pdir_dma = cpu_to_le64(pvrdma_pdir(d->t, user->pa - in_page,
                                                          2));
    hdr.wr.fast_reg.page_shift = cpu_to_le32(PVRDMA_PAGE_SHIFT);
    hdr.wr.fast_reg.page_list_len = cpu_to_le32(2);
    hdr.wr.fast_reg.length = cpu_to_le32(5000);
    hdr.wr.fast_reg.access_flags = cpu_to_le32(PVRDMA_TEST_ACCESS_ALL);
    hdr.wr.fast_reg.rkey = cpu_to_le32(key);
    return hdr;
}

static struct pvrdma_sq_wqe_hdr local_inv(uint32_t key)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(0, PVRDMA_WR_LOCAL_INV);

    hdr.ex.invalidate_rkey = cpu_to_le32(key);
    return hdr;
}

static void test_fast(void)
{
    struct pvrdma_sq_wqe_hdr hdr;
    PvrdmaTestMr mr;
    PvrdmaTestSge sge;
    uint8_t data[5000];
    uint64_t va;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    mr = pvrdma_mr_create_fast(d.t, d.pd, 2);
    va = 0x3000 + d.mr[1].pa % PVRDMA_PAGE_BYTES;
    sge = PVRDMA_TEST_SGE(&d.mr[0], 0, 5000);
    refuse(&d, WRITE, sge, va, mr.rkey, PVRDMA_WC_REM_ACCESS_ERR);
    for (unsigned i = 1; i <= 3; i++) {
        uint32_t key = mr.rkey + i;

        hdr = fast_reg(&d, &mr, key);
        pvrdma_qp_pair_do(&d, &hdr, NULL, OK);
        pvrdma_fill(d.t, d.mr[0].pa, data, sizeof(data), i);
        pvrdma_qp_pair_rdma(&d, WRITE, sge, va, key, OK);
        pvrdma_assert_mem(d.t, d.mr[1].pa, data, sizeof(data));
        refuse(&d, WRITE, sge, va, key - 1, PVRDMA_WC_REM_ACCESS_ERR);
        refuse(&d, WRITE, sge, va + 1, key, PVRDMA_WC_REM_ACCESS_ERR);
        hdr = local_inv(key);
        pvrdma_qp_pair_do(&d, &hdr, NULL, OK);
        refuse(&d, WRITE, sge, va, key, PVRDMA_WC_REM_ACCESS_ERR);
    }
    pvrdma_qp_pair_stop(&d);
}

static void fast_bad(PvrdmaQpPair *d, const struct pvrdma_sq_wqe_hdr *hdr)
{
    pvrdma_qp_pair_do(d, hdr, NULL, PVRDMA_WC_MW_BIND_ERR);
    pvrdma_qp_pair_again(d);
}

static void test_fast_refused(void)
{
    struct pvrdma_sq_wqe_hdr hdr;
    PvrdmaTestMr mr;
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    d.t->guest_errors = true;
    mr = pvrdma_mr_create_fast(d.t, d.pd, 2);
    hdr = fast_reg(&d, &mr, d.mr[1].rkey);          /* key of an ordinary region */
    fast_bad(&d, &hdr);
    hdr = fast_reg(&d, &mr, mr.rkey);
    hdr.wr.fast_reg.page_shift = cpu_to_le32(21);
    fast_bad(&d, &hdr);
    hdr = fast_reg(&d, &mr, mr.rkey);
    hdr.wr.fast_reg.page_list_len = cpu_to_le32(3);
    fast_bad(&d, &hdr);
    hdr = fast_reg(&d, &mr, mr.rkey);
    hdr.wr.fast_reg.length = UINT32_MAX;
    fast_bad(&d, &hdr);
    hdr = fast_reg(&d, &mr, mr.rkey);
    hdr.wr.fast_reg.pl_pdir_dma = cpu_to_le64(PVRDMA_NO_RAM);
    fast_bad(&d, &hdr);
    hdr = fast_reg(&d, &mr, mr.rkey);
    pvrdma_qp_pair_do(&d, &hdr, NULL, OK);
    fast_bad(&d, &hdr);                             /* the region is valid already */
    hdr = local_inv(mr.rkey ^ 1);
    fast_bad(&d, &hdr);
    hdr = local_inv(d.mr[1].rkey);
    fast_bad(&d, &hdr);
    pvrdma_qp_pair_check(&d);
    pvrdma_qp_pair_stop(&d);
}

/*
 * A peer invalidates a region by the SEND that says that it no longer needs the region.
 */
static void test_remote_invalidate(void)
{
    struct pvrdma_sq_wqe_hdr hdr;
    PvrdmaTestSge to, from;
    PvrdmaTestMr mr;
    struct pvrdma_cqe cqe;
    PvrdmaQpPair d;
    uint64_t va;

    pvrdma_qp_pair_start(&d);
    mr = pvrdma_mr_create_fast(d.t, d.pd, 2);
    va = 0x3000 + d.mr[1].pa % PVRDMA_PAGE_BYTES;
    hdr = fast_reg(&d, &mr, mr.rkey);
    pvrdma_qp_pair_do(&d, &hdr, NULL, OK);
    to = PVRDMA_TEST_SGE(&d.mr[1], 0, 100);
    from = PVRDMA_TEST_SGE(&d.mr[0], 0, 100);
    pvrdma_qp_pair_rdma(&d, WRITE, from, va, mr.rkey, OK);
    pvrdma_post_recv(d.t, &d.qp[1], 5, &to, 1);
    hdr = pvrdma_wr(0, PVRDMA_WR_SEND_WITH_INV);
    hdr.ex.invalidate_rkey = cpu_to_le32(mr.rkey);
    pvrdma_qp_pair_do(&d, &hdr, &from, OK);
    cqe = pvrdma_cq_expect(d.t, &d.cq[1], 5, OK);
    g_assert_cmphex(le32_to_cpu(cqe.wc_flags) & PVRDMA_WC_WITH_INVALIDATE, ==,
                    PVRDMA_WC_WITH_INVALIDATE);
    g_assert_cmphex(ldl_le_p(&cqe.imm_data), ==, mr.rkey);
    refuse(&d, WRITE, from, va, mr.rkey, PVRDMA_WC_REM_ACCESS_ERR);
    pvrdma_qp_pair_stop(&d);
}

/* --- Objects ------------------------------------------------------------------ */

/* An object with users cannot be destroyed; without users it can. */
static void test_busy(void)
{
    union pvrdma_cmd_req req = { };
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    uint32_t uc, pd;
    PvrdmaTest *t = pvrdma_start("");

    uc = pvrdma_uc_create(t, 3);
    req.destroy_uc.ctx_handle = cpu_to_le32(uc);
    cq = pvrdma_cq_create(t, uc, 3, 8);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_UC, &req, EBUSY);
    pd = pvrdma_pd_create(t, uc);
    mr = pvrdma_mr_create(t, pd, 0, 4096, 0);
    qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = pd, .page = 3, .send_cq = &cq,
    });
    req.destroy_pd.pd_handle = cpu_to_le32(pd);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_PD, &req, EBUSY);
    pvrdma_mr_destroy(t, &mr);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_PD, &req, EBUSY);
    req.destroy_cq.cq_handle = cpu_to_le32(cq.handle);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_CQ, &req, EBUSY);
    pvrdma_qp_destroy(t, &qp);
    pvrdma_pd_destroy(t, pd);
    req.destroy_pd.pd_handle = cpu_to_le32(pd);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_PD, &req, EINVAL);
    req.destroy_uc.ctx_handle = cpu_to_le32(uc);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_UC, &req, EBUSY);
    pvrdma_cq_destroy(t, &cq);
    pvrdma_uc_destroy(t, uc);
    pvrdma_stop(t);
}

/* A reset frees all objects, also those with users. */
static void test_reset(void)
{
    uint32_t old_rkey, old_pd;
    union pvrdma_cmd_req req = { };
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    old_rkey = d.mr[1].rkey;
    old_pd = d.pd;
    pvrdma_qp_pair_check(&d);
    g_assert_cmpuint(pvrdma_ctl(d.t, PVRDMA_DEVICE_CTL_RESET), ==, 0);
    pvrdma_bring_up(d.t);
    req.destroy_pd.pd_handle = cpu_to_le32(old_pd);
    pvrdma_command_fails(d.t, PVRDMA_CMD_DESTROY_PD, &req, EINVAL);
    pvrdma_qp_pair_make(&d, d.t, NULL);
    pvrdma_qp_pair_check(&d);
    refuse(&d, WRITE, PVRDMA_TEST_SGE(&d.mr[0], 0, 8), d.mr[1].va, old_rkey,
           PVRDMA_WC_REM_ACCESS_ERR);
    pvrdma_qp_pair_stop(&d);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/mr/scattered", test_scattered);
    qtest_add_func("/pvrdma/mr/large", test_large);
    qtest_add_func("/pvrdma/mr/no-memory", test_no_memory);
    qtest_add_func("/pvrdma/mr/remote-refused", test_remote_refused);
    qtest_add_func("/pvrdma/mr/local-refused", test_local_refused);
    qtest_add_func("/pvrdma/mr/dma", test_dma);
    qtest_add_func("/pvrdma/mr/fast", test_fast);
    qtest_add_func("/pvrdma/mr/fast-refused", test_fast_refused);
    qtest_add_func("/pvrdma/mr/remote-invalidate", test_remote_invalidate);
    qtest_add_func("/pvrdma/mr/busy", test_busy);
    qtest_add_func("/pvrdma/mr/reset", test_reset);
    return g_test_run();
}
