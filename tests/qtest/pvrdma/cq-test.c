/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues under real transfers: notification, interrupts, overflow, resize. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "verbs.h"

#define ENTRIES 4

/* A device and one QP that is connected to itself, with a CQ of @entries. */
typedef struct Solo {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    uint64_t wr_id;
} Solo;

static PvrdmaTestQp solo_qp(Solo *s, const PvrdmaTestCq *recv_cq)
{
    const PvrdmaTestQpAttr attr = {
        .dgid = pvrdma_gid, .dmac = pvrdma_mac, .sq_psn = 5, .rq_psn = 5,
    };
    PvrdmaTestQp qp = pvrdma_qp_create(s->t, &(PvrdmaTestQpInit) {
        .pd = s->pd, .send_cq = &s->cq, .recv_cq = recv_cq,
    });
    PvrdmaTestQpAttr own = attr;

    own.dest_qpn = qp.qpn;
    pvrdma_qp_connect(s->t, &qp, &own);
    return qp;
}

static void start(Solo *s, uint32_t entries)
{
    *s = (Solo) { .t = pvrdma_start("") };
    s->pd = pvrdma_pd_create(s->t, 0);
    s->cq = pvrdma_cq_create(s->t, 0, 0, entries);
    s->mr = pvrdma_mr_create(s->t, s->pd, 0x7000, 4096, PVRDMA_TEST_ACCESS_ALL);
    s->qp = solo_qp(s, NULL);
}

static void post(Solo *s, const PvrdmaTestQp *qp)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(s->wr_id++, PVRDMA_WR_RDMA_WRITE,
                                                  s->mr.va, s->mr.rkey);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&s->mr, 64, 16);

    pvrdma_post_send(s->t, qp, &hdr, &sge, 1);
}

static uint32_t ring_index(Solo *s, size_t offset)
{
    return qtest_readl(s->t->qts, s->cq.at +
                       offsetof(struct pvrdma_ring_state, rx) + offset);
}

static uint32_t prod(Solo *s)
{
    return ring_index(s, offsetof(struct pvrdma_ring, prod_tail));
}

static void expect_notified(Solo *s, bool yes)
{
    pvrdma_settle(s->t);
    g_assert_cmpuint(pvrdma_cqne_take(s->t), ==, yes ? s->cq.handle : 0);
    g_assert_cmpint(pvrdma_msix_taken(s->t, PVRDMA_INTR_VECTOR_CQ), ==, yes);
    g_assert_cmpuint(pvrdma_cqne_take(s->t), ==, 0);
}

/* Fills and empties CQs of one, two and four entries ten times. */
static void test_wrap(void)
{
    for (uint32_t entries = 1; entries <= 4; entries *= 2) {
        uint64_t taken = 0;
        Solo s;

        start(&s, entries);
        while (taken < 10 * entries) {
            for (unsigned i = 0; i < entries; i++) {
                post(&s, &s.qp);
            }
            for (unsigned i = 0; i < entries; i++) {
                struct pvrdma_cqe cqe;

                cqe = pvrdma_cq_expect(s.t, &s.cq, taken++, PVRDMA_WC_SUCCESS);
                g_assert_cmpuint(le32_to_cpu(cqe.opcode), ==, PVRDMA_WC_RDMA_WRITE);
                g_assert_cmpuint(le64_to_cpu(cqe.qp), ==, s.qp.handle);
            }
        }
        pvrdma_cq_assert_empty(s.t, &s.cq);
        pvrdma_stop(s.t);
    }
}

static void test_notify(void)
{
    Solo s;

    start(&s, 16);
    post(&s, &s.qp);
    expect_notified(&s, false);
    pvrdma_cq_arm(s.t, &s.cq, PVRDMA_UAR_CQ_ARM);
    expect_notified(&s, false); /* completions before the arming do not notify */
    post(&s, &s.qp);
    expect_notified(&s, true);
    post(&s, &s.qp);
    expect_notified(&s, false);             /* one arming gives one notification */
    for (unsigned i = 0; i < 3; i++) {
        pvrdma_cq_expect(s.t, &s.cq, i, PVRDMA_WC_SUCCESS);
        /*
         * a driver that finds no completion rings this doorbell, which must not arm the
         * CQ
         */
        pvrdma_doorbell(s.t, 0, PVRDMA_UAR_CQ_OFFSET,
                        s.cq.handle | PVRDMA_UAR_CQ_POLL);
    }
    post(&s, &s.qp);
    expect_notified(&s, false);
    pvrdma_stop(s.t);
}

/*
 * SENDs of a QP to itself: the CQ is armed for solicited completions, so only the
 * second SEND notifies.
 */
static void test_notify_solicited(void)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(0, PVRDMA_WR_SEND);
    PvrdmaTestSge sge;
    Solo s;

    start(&s, 16);
    sge = PVRDMA_TEST_SGE(&s.mr, 0, 16);
    hdr.send_flags = 0; /* not signalled, so that only receive WQEs have completions */
    pvrdma_cq_arm(s.t, &s.cq, PVRDMA_UAR_CQ_ARM_SOL);
    for (unsigned i = 0; i < 3; i++) {
        pvrdma_post_recv(s.t, &s.qp, 100 + i, &sge, 1);
        hdr.send_flags = i == 1 ? cpu_to_le32(PVRDMA_SEND_SOLICITED) : 0;
        pvrdma_post_send(s.t, &s.qp, &hdr, &sge, 1);
        pvrdma_cq_expect(s.t, &s.cq, 100 + i, PVRDMA_WC_SUCCESS);
        expect_notified(&s, i == 1);
    }
    /* an error is always solicited */
    pvrdma_cq_arm(s.t, &s.cq, PVRDMA_UAR_CQ_ARM_SOL);
    pvrdma_post_recv(s.t, &s.qp, 200, &sge, 1);
    pvrdma_qp_to(s.t, &s.qp, PVRDMA_QPS_ERR);
    pvrdma_cq_expect(s.t, &s.cq, 200, PVRDMA_WC_WR_FLUSH_ERR);
    expect_notified(&s, true);
    pvrdma_stop(s.t);
}

/* An overflow of the CQ gives CQ_ERR and ends both QPs; the CQ keeps its completions. */
static void test_overflow(void)
{
    PvrdmaTestQp other;
    Solo s;

    start(&s, ENTRIES);
    other = solo_qp(&s, NULL);
    for (unsigned i = 0; i < ENTRIES; i++) {
        post(&s, i % 2 ? &other : &s.qp);
        pvrdma_wait(s.t, prod(&s) == i + 1);
    }
    g_assert_true(pvrdma_event_none(s.t));
    s.t->guest_errors = true;
    post(&s, &s.qp);
    pvrdma_event_take(s.t, PVRDMA_EVENT_CQ_ERR, s.cq.handle);
    pvrdma_step(s.t, 1000000);
    g_assert_cmpuint(pvrdma_qp_state(s.t, &s.qp), ==, PVRDMA_QPS_ERR);
    g_assert_cmpuint(pvrdma_qp_state(s.t, &other), ==, PVRDMA_QPS_ERR);
    for (unsigned i = 0; i < ENTRIES; i++) {
        pvrdma_cq_expect(s.t, &s.cq, i, PVRDMA_WC_SUCCESS);
    }
    post(&s, &s.qp);
    pvrdma_cq_assert_empty(s.t, &s.cq);
    g_assert_cmpuint(pvrdma_counter(s.t, "cq-overflow"), >=, 1);
    /* after the CQ and its QPs are destroyed, new ones work */
    pvrdma_qp_destroy(s.t, &s.qp);
    pvrdma_qp_destroy(s.t, &other);
    pvrdma_cq_destroy(s.t, &s.cq);
    s.cq = pvrdma_cq_create(s.t, 0, 0, ENTRIES);
    s.qp = solo_qp(&s, NULL);
    post(&s, &s.qp);
    pvrdma_cq_expect(s.t, &s.cq, s.wr_id - 1, PVRDMA_WC_SUCCESS);
    pvrdma_stop(s.t);
}

/* An invalid consumer index gives CQ_ERR and ends the QP. */
static void test_bad_index(void)
{
    static const uint32_t bad[] = { 1, 2 * ENTRIES, UINT32_MAX, 0x80000000 };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        Solo s;

        start(&s, ENTRIES);
        s.t->guest_errors = true;
        for (unsigned n = 0; n < ENTRIES + 2; n++) {
            post(&s, &s.qp);
            pvrdma_cq_expect(s.t, &s.cq, n, PVRDMA_WC_SUCCESS);
        }
        qtest_writel(s.t->qts, s.cq.at + offsetof(struct pvrdma_ring_state, rx) +
                     offsetof(struct pvrdma_ring, cons_head), bad[i]);
        for (unsigned n = 0; n < ENTRIES; n++) {
            post(&s, &s.qp);
        }
        pvrdma_event_take(s.t, PVRDMA_EVENT_CQ_ERR, s.cq.handle);
        pvrdma_step(s.t, 1000000);
        g_assert_cmpuint(pvrdma_qp_state(s.t, &s.qp), ==, PVRDMA_QPS_ERR);
        pvrdma_stop(s.t);
    }
}

/* A doorbell of a CQ on the page of another process, or of no CQ, is a guest error. */
static void test_doorbell(void)
{
    Solo s;

    start(&s, 16);
    pvrdma_expect_errors(s.t, 1, pvrdma_doorbell(s.t, 1, PVRDMA_UAR_CQ_OFFSET,
                                                 s.cq.handle | PVRDMA_UAR_CQ_ARM));
    pvrdma_expect_errors(s.t, 1, pvrdma_doorbell(s.t, 0, PVRDMA_UAR_CQ_OFFSET,
                                                 0xffffff | PVRDMA_UAR_CQ_ARM));
    pvrdma_expect_errors(s.t, 1, pvrdma_doorbell(s.t, 0, PVRDMA_UAR_CQ_OFFSET,
                                                 PVRDMA_UAR_CQ_ARM));
    post(&s, &s.qp);
    expect_notified(&s, false);
    pvrdma_stop(s.t);
}

static union pvrdma_cmd_req resize_req(const Solo *s, uint32_t entries)
{
    return (union pvrdma_cmd_req) { .resize_cq = {
        .cq_handle = cpu_to_le32(s->cq.handle), .cqe = cpu_to_le32(entries),
    } };
}

static void test_resize(void)
{
    union pvrdma_cmd_req req;
    union pvrdma_cmd_resp resp;
    Solo s;

    start(&s, ENTRIES);
    post(&s, &s.qp);
    pvrdma_wait(s.t, prod(&s) == 1);
    req = resize_req(&s, 16);
    pvrdma_command_fails(s.t, PVRDMA_CMD_RESIZE_CQ, &req, EBUSY);
    pvrdma_cq_expect(s.t, &s.cq, 0, PVRDMA_WC_SUCCESS);
    req = resize_req(&s, 128); /* needs two pages of completions, but the CQ has one */
    pvrdma_command_fails(s.t, PVRDMA_CMD_RESIZE_CQ, &req, ENOMEM);
    req = resize_req(&s, 12);
    pvrdma_command_fails(s.t, PVRDMA_CMD_RESIZE_CQ, &req, EINVAL);
    req = resize_req(&s, 16);
    pvrdma_command_ok(s.t, PVRDMA_CMD_RESIZE_CQ, &req, &resp);
    g_assert_cmpuint(le32_to_cpu(resp.resize_cq.cqe), ==, 16);
    g_assert_cmpuint(prod(&s), ==, 0);
    s.cq.entries = 16;
    for (unsigned n = 0; n < 16; n++) {
        post(&s, &s.qp);
    }
    for (unsigned n = 0; n < 16; n++) {
        pvrdma_cq_expect(s.t, &s.cq, 1 + n, PVRDMA_WC_SUCCESS);
    }
    g_assert_true(pvrdma_event_none(s.t));
    pvrdma_stop(s.t);
}

static union pvrdma_cmd_req create_req(PvrdmaTest *t, uint32_t entries,
                                       uint32_t pages)
{
    uint64_t at = pvrdma_alloc(t, 4 * PVRDMA_PAGE_BYTES);

    return (union pvrdma_cmd_req) { .create_cq = {
        .pdir_dma = cpu_to_le64(pvrdma_pdir(t, at, 4)),
        .cqe = cpu_to_le32(entries),
        .nchunks = cpu_to_le32(pages),
    } };
}

static void test_create_refused(void)
{
    static const struct {
        uint32_t entries, pages;
    } bad[] = {
        { 0, 4 }, { 3, 4 }, { 64, 1 }, { 128, 2 }, { 64, 0 },
        { 1u << 31, UINT32_MAX }, { 64, PVRDMA_PDIR_MAX_PAGES + 1 },
    };
    PvrdmaTest *t = pvrdma_start("");
    union pvrdma_cmd_req req;

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        req = create_req(t, bad[i].entries, bad[i].pages);
        pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EINVAL);
    }
    req = create_req(t, 64, 2);
    req.create_cq.ctx_handle = cpu_to_le32(1);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EINVAL);
    req = create_req(t, 64, 2);
    req.create_cq.pdir_dma = cpu_to_le64(PVRDMA_NO_RAM);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EFAULT);
    req = create_req(t, 64, 2);
    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_CQ, &req, NULL);
    pvrdma_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/cq/wrap", test_wrap);
    qtest_add_func("/pvrdma/cq/notify", test_notify);
    qtest_add_func("/pvrdma/cq/notify-solicited", test_notify_solicited);
    qtest_add_func("/pvrdma/cq/overflow", test_overflow);
    qtest_add_func("/pvrdma/cq/bad-index", test_bad_index);
    qtest_add_func("/pvrdma/cq/doorbell", test_doorbell);
    qtest_add_func("/pvrdma/cq/resize", test_resize);
    qtest_add_func("/pvrdma/cq/create-refused", test_create_refused);
    return g_test_run();
}
