/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pvrdma that was saved and loaded: objects, states and events still to come are the
 * same; and streams that must be refused.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qobject/qdict.h"
#include "qp-pair.h"
#include "migrate.h"

#define PEER_QPN    0xabcdef
#define PSN         0x100
#define QKEY        0x1234
#define LARGE       (64u << 20)

/* --- Objects -------------------------------------------------------------- */

typedef struct World {
    PvrdmaTest *t;
    uint32_t uc, pd, kernel_pd;
    PvrdmaTestCq cq, kernel_cq;
    PvrdmaTestSrq srq;
    PvrdmaTestQp qp, ud, gsi;
    PvrdmaTestMr mr, large, dma, fast;
} World;

static void world_make(World *w, PvrdmaTest *t)
{
    const PvrdmaTestQpAttr rc = {
        .sq_psn = PSN, .rq_psn = PSN, .dest_qpn = PEER_QPN, .gid_index = 1,
        .traffic_class = 0x40, .hop_limit = 9,
    };
    const PvrdmaTestQpAttr ud = { .qkey = QKEY, .sq_psn = PSN };

    *w = (World) { .t = t, .uc = pvrdma_uc_create(t, 3) };
    w->pd = pvrdma_pd_create(t, w->uc);
    w->kernel_pd = pvrdma_pd_create(t, 0);
    w->cq = pvrdma_cq_create(t, w->uc, 3, 64);
    w->kernel_cq = pvrdma_cq_create(t, 0, 0, 256);
    w->srq = pvrdma_srq_create(t, w->pd, 3, 8, 2);
    w->mr = pvrdma_mr_create(t, w->pd, 0x70000123, 20000,
                             PVRDMA_TEST_ACCESS_ALL);
    w->large = pvrdma_mr_create(t, w->pd, 0x80000000, LARGE,
                                PVRDMA_ACCESS_REMOTE_READ);
    w->dma = pvrdma_mr_create_dma(t, w->kernel_pd, PVRDMA_ACCESS_LOCAL_WRITE);
    w->fast = pvrdma_mr_create_fast(t, w->kernel_pd, 16);
    w->qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = w->pd, .page = 3, .send_cq = &w->cq, .srq = &w->srq,
    });
    w->ud = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_UD, .pd = w->kernel_pd, .send_cq = &w->kernel_cq,
        .recv_wr = 4,
    });
    w->gsi = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_GSI, .pd = w->kernel_pd, .send_cq = &w->kernel_cq,
        .sig_all = true,
    });
    pvrdma_qp_connect(t, &w->qp, &rc);
    pvrdma_qp_connect(t, &w->ud, &ud);
    pvrdma_qp_init(t, &w->gsi, &ud);
}

static void world_end(World *w)
{
    PvrdmaTest *t = w->t;

    pvrdma_qp_destroy(t, &w->gsi);
    pvrdma_qp_destroy(t, &w->ud);
    pvrdma_qp_destroy(t, &w->qp);
    pvrdma_mr_destroy(t, &w->fast);
    pvrdma_mr_destroy(t, &w->dma);
    pvrdma_mr_destroy(t, &w->large);
    pvrdma_mr_destroy(t, &w->mr);
    pvrdma_srq_destroy(t, &w->srq);
    pvrdma_cq_destroy(t, &w->kernel_cq);
    pvrdma_cq_destroy(t, &w->cq);
    pvrdma_pd_destroy(t, w->kernel_pd);
    pvrdma_pd_destroy(t, w->pd);
    pvrdma_uc_destroy(t, w->uc);
    pvrdma_stop(t);
}

static void world_busy(World *w)
{
    union pvrdma_cmd_req uc = { .destroy_uc.ctx_handle = cpu_to_le32(w->uc) };
    union pvrdma_cmd_req pd = { .destroy_pd.pd_handle = cpu_to_le32(w->pd) };
    union pvrdma_cmd_req cq = {
        .destroy_cq.cq_handle = cpu_to_le32(w->cq.handle),
    };
    union pvrdma_cmd_req srq = {
        .destroy_srq.srq_handle = cpu_to_le32(w->srq.handle),
    };

    pvrdma_command_fails(w->t, PVRDMA_CMD_DESTROY_UC, &uc, EBUSY);
    pvrdma_command_fails(w->t, PVRDMA_CMD_DESTROY_PD, &pd, EBUSY);
    pvrdma_command_fails(w->t, PVRDMA_CMD_DESTROY_CQ, &cq, EBUSY);
    pvrdma_command_fails(w->t, PVRDMA_CMD_DESTROY_SRQ, &srq, EBUSY);
}

/*
 * Objects, counters and attributes are unchanged, the handles and numbers of new
 * objects are new, and objects with users cannot be destroyed.
 */
static void test_objects(void)
{
    World w;
    struct pvrdma_qp_attr before[3], after;
    PvrdmaTestQp *qp[3] = { &w.qp, &w.ud, &w.gsi };
    PvrdmaTestQp more;
    uint64_t cmds;

    world_make(&w, pvrdma_start(",mtu=4096"));
    for (unsigned i = 0; i < 3; i++) {
        before[i] = pvrdma_qp_query(w.t, qp[i]);
    }
    cmds = pvrdma_counter(w.t, "cmd");
    w.t = pvrdma_migrate(w.t);
    g_assert_cmpuint(pvrdma_counter(w.t, "cmd"), ==, cmds);
    for (unsigned i = 0; i < 3; i++) {
        after = pvrdma_qp_query(w.t, qp[i]);
        g_assert_cmpmem(&after, sizeof(after), &before[i], sizeof(before[i]));
    }
    more = pvrdma_qp_create(w.t, &(PvrdmaTestQpInit) {
        .pd = w.pd, .send_cq = &w.cq,
    });
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(more.handle, !=, qp[i]->handle);
        g_assert_cmphex(more.qpn >> 16, !=, qp[i]->qpn >> 16);
    }
    pvrdma_qp_destroy(w.t, &more);
    world_busy(&w);
    world_end(&w);
}

static void peer_send(World *w, const PvrdmaTestQp *qp, uint8_t opcode, uint32_t psn,
                      const char *text)
{
    RocePath path = pvrdma_path(qp == &w->qp, false);

    pvrdma_wire_send(w->t, &path, &(RocePacket) {
        .opcode = opcode, .pkey = ROCE_PKEY_DEFAULT, .qpn = qp->qpn, .psn = psn,
        .ack_req = qp == &w->qp, .qkey = QKEY, .src_qpn = PEER_QPN,
    }, text, strlen(text));
}

static void peer_acked(World *w, uint32_t psn)
{
    g_free(pvrdma_wire_expect(w->t, ROCE_OP_ACK, PEER_QPN, psn));
}

/*
 * An SRQ is moved twice while it has WQEs left: the limit event is sent later, and
 * once.
 */
static void test_srq(void)
{
    World w;
    union pvrdma_cmd_req limit = {
        .modify_srq = {
            .attr_mask = cpu_to_le32(PVRDMA_SRQ_LIMIT),
            .attrs.srq_limit = cpu_to_le32(3),
        },
    };

    world_make(&w, pvrdma_start(""));
    for (unsigned i = 0; i < 5; i++) {
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&w.mr, i * 100, 100);

        pvrdma_post_srq(w.t, &w.srq, i, &sge, 1);
    }
    limit.modify_srq.srq_handle = cpu_to_le32(w.srq.handle);
    pvrdma_command_ok(w.t, PVRDMA_CMD_MODIFY_SRQ, &limit, NULL);
    for (unsigned i = 0; i < 5; i++) {
        if (i == 1 || i == 3) {
            w.t = pvrdma_migrate(w.t);
        }
        peer_send(&w, &w.qp, ROCE_OP_SEND_ONLY, PSN + i, "abcde" + i);
        peer_acked(&w, PSN + i);
        pvrdma_cq_expect(w.t, &w.cq, i, PVRDMA_WC_SUCCESS);
        pvrdma_assert_mem(w.t, w.mr.pa + i * 100, "abcde" + i, 5 - i);
        if (i == 2) {
            pvrdma_event_take(w.t, PVRDMA_EVENT_SRQ_LIMIT_REACHED, w.srq.handle);
        }
        g_assert_true(pvrdma_event_none(w.t));
    }
    world_end(&w);
}

/*
 * Datagrams in both directions between moves; their receive WQEs were posted before the
 * first move.
 */
static void test_datagrams(void)
{
    PvrdmaTestQpAttr to = { .qkey = QKEY, .dest_qpn = PEER_QPN };
    struct pvrdma_sq_wqe_hdr hdr;
    uint64_t at;
    World w;

    world_make(&w, pvrdma_start(""));
    at = pvrdma_alloc(w.t, PVRDMA_PAGE_BYTES);
    to.pd = w.kernel_pd;
    hdr = pvrdma_wr_ud(7, PVRDMA_WR_SEND, &to);
    for (unsigned i = 0; i < 3; i++) {
        PvrdmaTestSge sge = { at + i * 200, 200, w.dma.lkey };

        pvrdma_post_recv(w.t, &w.ud, i, &sge, 1);
    }
    for (unsigned i = 0; i < 3; i++) {
        PvrdmaTestSge sge = { at, 50, w.dma.lkey };

        peer_send(&w, &w.ud, ROCE_OP_UD_SEND_ONLY, 5, "hello");
        pvrdma_cq_expect(w.t, &w.kernel_cq, i, PVRDMA_WC_SUCCESS);
        pvrdma_assert_mem(w.t, at + i * 200 + ROCE_GRH_BYTES, "hello", 5);
        pvrdma_post_send(w.t, &w.ud, &hdr, &sge, 1);
        g_free(pvrdma_wire_expect(w.t, ROCE_OP_UD_SEND_ONLY, PEER_QPN, PSN + i));
        pvrdma_cq_expect(w.t, &w.kernel_cq, 7, PVRDMA_WC_SUCCESS);
        w.t = pvrdma_migrate(w.t);
    }
    world_end(&w);
}

/* --- States --------------------------------------------------------------- */

static void qp_post(PvrdmaTest *t, const PvrdmaTestQp *qp, uint64_t wr_id)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(wr_id, PVRDMA_WR_SEND);

    pvrdma_post_send(t, qp, &hdr, NULL, 0);
}

/* A QP is moved while its send queue drains. */
static void test_draining(void)
{
    const PvrdmaTestQpAttr drain = { .state = PVRDMA_QPS_SQD };
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .attr_mask = cpu_to_le32(PVRDMA_QP_STATE |
                                     PVRDMA_QP_EN_SQD_ASYNC_NOTIFY),
            .attrs.qp_state = cpu_to_le32(drain.state),
            .attrs.en_sqd_async_notify = 1,
        },
    };
    World w;
    RocePath path = pvrdma_path(true, false);

    world_make(&w, pvrdma_start(""));
    qp_post(w.t, &w.qp, 1);
    g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, PSN));
    req.modify_qp.qp_handle = cpu_to_le32(w.qp.handle);
    pvrdma_command_ok(w.t, PVRDMA_CMD_MODIFY_QP, &req, NULL);
    qp_post(w.t, &w.qp, 2);                 /* sent only after the drain */
    w.t = pvrdma_migrate(w.t);
    g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, PSN));
    g_assert_true(pvrdma_event_none(w.t));
    pvrdma_wire_send(w.t, &path, &(RocePacket) {
        .opcode = ROCE_OP_ACK, .pkey = ROCE_PKEY_DEFAULT, .qpn = w.qp.qpn,
        .psn = PSN, .syndrome = ROCE_AETH_NO_CREDITS,
    }, NULL, 0);
    pvrdma_cq_expect(w.t, &w.cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_event_take(w.t, PVRDMA_EVENT_SQ_DRAINED, w.qp.handle);
    pvrdma_assert_quiet(w.t);
    world_end(&w);
}

/* A QP is moved in ERR, with a completion that the test has not taken, and in RESET. */
static void test_ended(void)
{
    World w;

    world_make(&w, pvrdma_start(""));
    qp_post(w.t, &w.qp, 1);
    g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, PSN));
    pvrdma_qp_to(w.t, &w.qp, PVRDMA_QPS_ERR);
    pvrdma_event_take(w.t, PVRDMA_EVENT_QP_LAST_WQE_REACHED, w.qp.handle);
    w.t = pvrdma_migrate(w.t);
    pvrdma_cq_expect(w.t, &w.cq, 1, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_true(pvrdma_event_none(w.t));
    qp_post(w.t, &w.qp, 2);
    pvrdma_cq_expect(w.t, &w.cq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_qp_to(w.t, &w.qp, PVRDMA_QPS_RESET);
    w.t = pvrdma_migrate(w.t);
    pvrdma_qp_connect(w.t, &w.qp, &(PvrdmaTestQpAttr) { .dest_qpn = PEER_QPN });
    qp_post(w.t, &w.qp, 3);
    g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, 0));
    pvrdma_qp_to(w.t, &w.qp, PVRDMA_QPS_RESET);
    world_end(&w);
}

/* A device is moved before it was brought up, and after a reset. */
static void test_cold(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");

    t = pvrdma_migrate(t);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_IMR), ==, PVRDMA_INTR_ALL);
    pvrdma_msix_enable(t);
    pvrdma_bring_up(t);
    t = pvrdma_migrate(t);
    pvrdma_set(t, PVRDMA_REG_CTL, PVRDMA_DEVICE_CTL_RESET);
    t = pvrdma_migrate(t);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, 0);
    pvrdma_bring_up(t);
    pvrdma_stop(t);
}

/* --- Regions that a work request registers -------------------------------- */

/*
 * A FAST_REG_MR behind a SEND that is not complete is executed before the move, and not
 * again after it.
 */
static void test_fast_reg(void)
{
    const uint64_t iova = 0x55550000;
    RocePath path = pvrdma_path(true, false);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(2, PVRDMA_WR_FAST_REG_MR);
    PvrdmaTestMr fast;
    uint64_t page;
    World w;

    world_make(&w, pvrdma_start(""));
    fast = pvrdma_mr_create_fast(w.t, w.pd, 4);
    page = pvrdma_alloc(w.t, PVRDMA_PAGE_BYTES);
    hdr.wr.fast_reg.iova_start = cpu_to_le64(iova);
    hdr.wr.fast_reg.pl_pdir_dma = cpu_to_le64(pvrdma_pdir(w.t, page, 1));
    hdr.wr.fast_reg.page_shift = cpu_to_le32(PVRDMA_PAGE_SHIFT);
    hdr.wr.fast_reg.page_list_len = cpu_to_le32(1);
    hdr.wr.fast_reg.length = cpu_to_le32(PVRDMA_PAGE_BYTES);
    hdr.wr.fast_reg.access_flags = cpu_to_le32(PVRDMA_TEST_ACCESS_ALL);
    hdr.wr.fast_reg.rkey = cpu_to_le32(fast.rkey);
    qp_post(w.t, &w.qp, 1);
    pvrdma_post_send(w.t, &w.qp, &hdr, NULL, 0);
    qp_post(w.t, &w.qp, 3);
    for (unsigned i = 0; i < 2; i++) {
        g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, PSN + i));
    }
    w.t = pvrdma_migrate(w.t);
    for (unsigned i = 0; i < 2; i++) {
        g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, PSN + i));
    }
    pvrdma_wire_send(w.t, &path, &(RocePacket) {
        .opcode = ROCE_OP_WRITE_ONLY, .pkey = ROCE_PKEY_DEFAULT,
        .qpn = w.qp.qpn, .psn = PSN, .va = iova + 8, .rkey = fast.rkey,
        .dma_len = 5, .ack_req = true,
    }, "there", 5);
    peer_acked(&w, PSN);
    pvrdma_assert_mem(w.t, page + 8, "there", 5);
    pvrdma_wire_send(w.t, &path, &(RocePacket) {
        .opcode = ROCE_OP_ACK, .pkey = ROCE_PKEY_DEFAULT, .qpn = w.qp.qpn,
        .psn = PSN + 1, .syndrome = ROCE_AETH_NO_CREDITS,
    }, NULL, 0);
    for (unsigned i = 1; i <= 3; i++) {
        pvrdma_cq_expect(w.t, &w.cq, i, PVRDMA_WC_SUCCESS);
    }
    pvrdma_mr_destroy(w.t, &fast);
    world_end(&w);
}

/* --- There and back ------------------------------------------------------- */

static void test_back_and_forth(void)
{
    PvrdmaQpPair d;

    pvrdma_qp_pair_start(&d);
    for (unsigned i = 0; i < 4; i++) {
        pvrdma_qp_pair_check(&d);
        d.t = pvrdma_migrate(d.t);
    }
    pvrdma_qp_pair_check(&d);
    pvrdma_qp_pair_stop(&d);
}

/* --- Refused -------------------------------------------------------------- */

static char *saved_world(void)
{
    World w;
    char *path;

    world_make(&w, pvrdma_start(""));
    qp_post(w.t, &w.qp, 1);
    g_free(pvrdma_wire_expect(w.t, ROCE_OP_SEND_ONLY, PEER_QPN, PSN));
    path = migrate_save(w.t->qts);
    pvrdma_stop(w.t);
    return path;
}

static void test_other_properties(void)
{
    static const char *const props[] = { ",mtu=1024", ",roce=v1", ",version=19" };
    g_autofree char *path = saved_world();

    for (unsigned i = 0; i < ARRAY_SIZE(props); i++) {
        g_free(pvrdma_load_refused(path, props[i]));
    }
    unlink(path);
}

/* Returns the offset of the device's own state in a saved machine. */
static size_t state_at(const char *data, size_t len)
{
    /*
     * the device's properties: MTU 4096, version 20, RoCE v2, and whether the answer of
     * create_qp has a handle
     */
    static const char begin[] = { 0, 0, 0x10, 0, PVRDMA_VERSION, 0, 1 };
    const char *section = memmem(data, len, "05.1/pvrdma", 11);
    const char *at;

    g_assert_nonnull(section);
    at = memmem(section, data + len - section, begin, sizeof(begin));
    g_assert_nonnull(at);
    return at - data;
}

static void test_cut_off(void)
{
    g_autofree char *path = saved_world();
    g_autofree char *data = NULL;
    size_t len, at;

    g_assert_true(g_file_get_contents(path, &data, &len, NULL));
    at = state_at(data, len);
    for (unsigned i = 0; i < 12; i++) {
        /* more cuts in the tables at the front than behind them */
        g_assert_cmpint(truncate(path, at + 3 * i * i * i), ==, 0);
        g_free(pvrdma_load_refused(path, ""));
        g_assert_true(g_file_set_contents(path, data, len, NULL));
    }
    unlink(path);
}

static void put_be32(char *data, size_t at, uint32_t value)
{
    stl_be_p(data + at, value);
}

/* Invalid numbers of objects, handles and pages are refused. */
static void test_invalid(void)
{
    const uint32_t bad[] = { UINT32_MAX, 0x10000, PVRDMA_UARS };
    g_autofree char *path = saved_world();
    g_autofree char *data = NULL;
    size_t len, at;

    g_assert_true(g_file_get_contents(path, &data, &len, NULL));
    /* next handle, number of contexts, handle of the first context, its page */
    at = state_at(data, len) + 7;
    for (unsigned field = 0; field < 4; field++) {
        const uint32_t good = ldl_be_p(data + at + 4 * field);

        for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
            put_be32(data, at + 4 * field, bad[i]);
            g_assert_true(g_file_set_contents(path, data, len, NULL));
            g_free(pvrdma_load_refused(path, ""));
        }
        put_be32(data, at + 4 * field, good);
    }
    unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/migration/snapshot-objects", test_objects);
    qtest_add_func("/pvrdma/migration/snapshot-srq", test_srq);
    qtest_add_func("/pvrdma/migration/snapshot-datagrams", test_datagrams);
    qtest_add_func("/pvrdma/migration/snapshot-draining", test_draining);
    qtest_add_func("/pvrdma/migration/snapshot-ended", test_ended);
    qtest_add_func("/pvrdma/migration/snapshot-cold", test_cold);
    qtest_add_func("/pvrdma/migration/snapshot-fast-reg", test_fast_reg);
    qtest_add_func("/pvrdma/migration/snapshot-back-and-forth",
                   test_back_and_forth);
    qtest_add_func("/pvrdma/migration/snapshot-other-properties",
                   test_other_properties);
    qtest_add_func("/pvrdma/migration/snapshot-cut-off", test_cut_off);
    qtest_add_func("/pvrdma/migration/snapshot-invalid", test_invalid);
    return g_test_run();
}
