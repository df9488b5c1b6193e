/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs of pvrdma: what creation checks, numbers, states, and how QPs end: flush,
 * reset, drain, overflow of their CQ, bad rings, destruction with work under way.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "verbs.h"

#define PEER_QPN 0x4321
#define SQ_PSN 0xfffffe
#define RQ_PSN 0x100
#define VA 0x7f0000001000ULL
#define LONG_TIME 10000000000LL         /* ns, longer than all timers */

typedef struct Rig {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
} Rig;

static const PvrdmaTestQpAttr attr = {
    .dest_qpn = PEER_QPN, .sq_psn = SQ_PSN, .rq_psn = RQ_PSN,
};

static Rig rig_start(void)
{
    Rig r = { .t = pvrdma_start("") };

    r.pd = pvrdma_pd_create(r.t, 0);
    r.cq = pvrdma_cq_create(r.t, 0, 0, 256);
    r.mr = pvrdma_mr_create(r.t, r.pd, VA, 65536, PVRDMA_TEST_ACCESS_ALL);
    return r;
}

static PvrdmaTestQp qp_create(Rig *r)
{
    return pvrdma_qp_create(r->t, &(PvrdmaTestQpInit) {
        .pd = r->pd, .send_cq = &r->cq,
    });
}

static PvrdmaTestQp qp_connected(Rig *r)
{
    PvrdmaTestQp qp = qp_create(r);

    pvrdma_qp_connect(r->t, &qp, &attr);
    return qp;
}

/* Posts @n SENDs of @len bytes with ids from @first on. */
static void post_sends(Rig *r, const PvrdmaTestQp *qp, uint64_t first, unsigned n,
                       uint32_t len)
{
    for (unsigned i = 0; i < n; i++) {
        struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(first + i, PVRDMA_WR_SEND);
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, i * len, len);

        pvrdma_post_send(r->t, qp, &wr, &sge, 1);
    }
}

static void post_recvs(Rig *r, const PvrdmaTestQp *qp, uint64_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 32768 + i * 1024, 1024);

        pvrdma_post_recv(r->t, qp, first + i, &sge, 1);
    }
}

static void expect_sends(Rig *r, uint32_t psn, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        g_free(pvrdma_wire_expect(r->t, ROCE_OP_SEND_ONLY, PEER_QPN,
                                  (psn + i) & ROCE_PSN_MASK));
    }
}

static void peer_send(Rig *r, const PvrdmaTestQp *qp, uint32_t psn, size_t len)
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT, .ack_req = true,
        .qpn = qp->qpn, .psn = psn,
    };
    uint8_t payload[1024] = { 0x5a };

    pvrdma_wire_send(r->t, &path, &pkt, payload, len);
}

static void peer_ack(Rig *r, const PvrdmaTestQp *qp, uint32_t psn, uint32_t msn)
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_ACK, .pkey = ROCE_PKEY_DEFAULT, .qpn = qp->qpn,
        .psn = psn, .msn = msn,
        .syndrome = ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS),
    };

    pvrdma_wire_send(r->t, &path, &pkt, NULL, 0);
}

/* --- Creation ------------------------------------------------------------- */
#define CREATE_FAILS(r, err, change) do { \
    PvrdmaTestQp qp_; \
    union pvrdma_cmd_req req_ = pvrdma_qp_request((r)->t, \
        &(PvrdmaTestQpInit) { .pd = (r)->pd, .send_cq = &(r)->cq }, &qp_); \
    struct pvrdma_cmd_create_qp *c = &req_.create_qp; \
    change; \
    pvrdma_command_fails((r)->t, PVRDMA_CMD_CREATE_QP, &req_, err); \
    } while (0)

static void test_create_types(void)
{
    Rig r = rig_start();

    CREATE_FAILS(&r, EOPNOTSUPP, c->qp_type = PVRDMA_QPT_SMI);
    CREATE_FAILS(&r, EOPNOTSUPP, c->qp_type = PVRDMA_QPT_UC);
    CREATE_FAILS(&r, EOPNOTSUPP, c->qp_type = 5);
    CREATE_FAILS(&r, EOPNOTSUPP, c->qp_type = 255);
    pvrdma_stop(r.t);
}

static void test_create_objects(void)
{
    Rig r = rig_start();
    uint32_t uc = pvrdma_uc_create(r.t, 3);
    uint32_t pd = pvrdma_pd_create(r.t, uc);
    PvrdmaTestCq cq = pvrdma_cq_create(r.t, uc, 3, 16);
    uint32_t other = pvrdma_pd_create(r.t, 0);
    PvrdmaTestSrq srq = pvrdma_srq_create(r.t, other, 0, 16, 1);

    CREATE_FAILS(&r, EINVAL, c->pd_handle = 0);
    CREATE_FAILS(&r, EINVAL, c->pd_handle = cpu_to_le32(UINT32_MAX));
    CREATE_FAILS(&r, EINVAL, c->send_cq_handle = 0);
    CREATE_FAILS(&r, EINVAL, c->recv_cq_handle = cpu_to_le32(0x80000001));
    /* objects of another process */
    CREATE_FAILS(&r, EINVAL, c->send_cq_handle = cpu_to_le32(cq.handle));
    CREATE_FAILS(&r, EINVAL, c->recv_cq_handle = cpu_to_le32(cq.handle));
    CREATE_FAILS(&r, EINVAL, c->pd_handle = cpu_to_le32(pd));
    CREATE_FAILS(&r, EINVAL, c->is_srq = 1);
    CREATE_FAILS(&r, EINVAL, {
        c->is_srq = 1;
        c->srq_handle = cpu_to_le32(srq.handle);
    });
    /* the refused commands have left no user of these objects */
    pvrdma_mr_destroy(r.t, &r.mr);
    pvrdma_pd_destroy(r.t, r.pd);
    pvrdma_cq_destroy(r.t, &r.cq);
    pvrdma_srq_destroy(r.t, &srq);
    pvrdma_cq_destroy(r.t, &cq);
    pvrdma_stop(r.t);
}

static void test_create_sizes(void)
{
    Rig r = rig_start();

    CREATE_FAILS(&r, EINVAL, c->max_send_wr = cpu_to_le32(3));
    CREATE_FAILS(&r, EINVAL, c->max_send_wr = cpu_to_le32(1u << 31));
    CREATE_FAILS(&r, EINVAL, c->max_recv_wr = cpu_to_le32(17));
    CREATE_FAILS(&r, EINVAL, c->max_recv_wr = cpu_to_le32(32768));
    CREATE_FAILS(&r, EINVAL, c->max_send_sge = cpu_to_le32(33));
    CREATE_FAILS(&r, EINVAL, c->max_recv_sge = cpu_to_le32(UINT32_MAX));
    /* queues that are larger than their pages, or begin outside of them */
    CREATE_FAILS(&r, EINVAL, c->max_send_wr = cpu_to_le32(1024));
    CREATE_FAILS(&r, EINVAL, c->max_recv_wr = cpu_to_le32(1024));
    CREATE_FAILS(&r, EINVAL, c->send_chunks = 0);
    CREATE_FAILS(&r, EINVAL, c->send_chunks = c->total_chunks);
    CREATE_FAILS(&r, EINVAL, c->send_chunks = 0xffff);
    CREATE_FAILS(&r, EINVAL, c->total_chunks = 0);
    CREATE_FAILS(&r, EFAULT, c->pdir_dma = cpu_to_le64(PVRDMA_NO_RAM));
    pvrdma_stop(r.t);
}

static void test_create_gsi(void)
{
    Rig r = rig_start();
    PvrdmaTestQpInit init = {
        .type = PVRDMA_QPT_GSI, .pd = r.pd, .send_cq = &r.cq,
    };
    uint32_t uc = pvrdma_uc_create(r.t, 1);
    uint32_t pd = pvrdma_pd_create(r.t, uc);
    PvrdmaTestCq cq = pvrdma_cq_create(r.t, uc, 1, 16);
    PvrdmaTestQp gsi;

    /* a process may not have the GSI */
    CREATE_FAILS(&r, EPERM, {
        c->qp_type = PVRDMA_QPT_GSI;
        c->pd_handle = cpu_to_le32(pd);
        c->send_cq_handle = c->recv_cq_handle = cpu_to_le32(cq.handle);
    });
    gsi = pvrdma_qp_create(r.t, &init);
    g_assert_cmpuint(gsi.qpn, ==, ROCE_QPN_GSI);
    CREATE_FAILS(&r, EBUSY, c->qp_type = PVRDMA_QPT_GSI);
    pvrdma_qp_destroy(r.t, &gsi);
    gsi = pvrdma_qp_create(r.t, &init);
    g_assert_cmpuint(gsi.qpn, ==, ROCE_QPN_GSI);
    pvrdma_stop(r.t);
}

static void test_users(void)
{
    Rig r = rig_start();
    PvrdmaTestSrq srq = pvrdma_srq_create(r.t, r.pd, 0, 16, 1);
    PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .pd = r.pd, .send_cq = &r.cq, .srq = &srq,
    });
    union pvrdma_cmd_req pd = { .destroy_pd.pd_handle = cpu_to_le32(r.pd) };
    union pvrdma_cmd_req cq = { .destroy_cq.cq_handle = cpu_to_le32(r.cq.handle) };
    union pvrdma_cmd_req rq = { .destroy_srq.srq_handle = cpu_to_le32(srq.handle) };

    pvrdma_mr_destroy(r.t, &r.mr);
    pvrdma_command_fails(r.t, PVRDMA_CMD_DESTROY_PD, &pd, EBUSY);
    pvrdma_command_fails(r.t, PVRDMA_CMD_DESTROY_CQ, &cq, EBUSY);
    pvrdma_command_fails(r.t, PVRDMA_CMD_DESTROY_SRQ, &rq, EBUSY);
    pvrdma_qp_destroy(r.t, &qp);
    pvrdma_srq_destroy(r.t, &srq);
    pvrdma_cq_destroy(r.t, &r.cq);
    pvrdma_pd_destroy(r.t, r.pd);
    pvrdma_stop(r.t);
}

static void test_numbers(void)
{
    Rig r = rig_start();
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    uint32_t last = 0;

    for (unsigned i = 0; i < 200; i++) {
        PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
            .pd = r.pd, .send_cq = &r.cq, .send_wr = 1, .recv_wr = 1,
        });

        g_assert_cmpuint(qp.handle, !=, 0);
        g_assert_cmphex(qp.qpn & 0xffff, ==, qp.handle);
        g_assert_cmphex(qp.qpn, >, ROCE_QPN_GSI);
        g_assert_cmphex(qp.qpn, <=, ROCE_QPN_MASK);
        g_assert_true(g_hash_table_add(seen, GUINT_TO_POINTER(qp.qpn)));
        last = qp.qpn;
        pvrdma_qp_destroy(r.t, &qp);
    }
    /* a late packet to a destroyed QP is dropped */
    peer_send(&r, &(PvrdmaTestQp) { .qpn = last }, RQ_PSN, 0);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-qp") == 1);
    pvrdma_stop(r.t);
}

/* --- States --------------------------------------------------------------- */
static void test_states(void)
{
    static const uint8_t types[] = {
        PVRDMA_QPT_RC, PVRDMA_QPT_UD, PVRDMA_QPT_GSI,
    };
    Rig r = rig_start();

    for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
        PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
            .type = types[i], .pd = r.pd, .send_cq = &r.cq,
        });

        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_RESET);
        pvrdma_qp_init(r.t, &qp, &attr);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_INIT);
        pvrdma_qp_rtr(r.t, &qp, &attr);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_RTR);
        pvrdma_qp_rts(r.t, &qp, &attr);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_RTS);
        pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_SQD);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_SQD);
        pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_RTS);
        pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_ERR);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_ERR);
        pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_RESET);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_RESET);
    }
    g_assert_true(pvrdma_event_none(r.t));
    pvrdma_stop(r.t);
}

static void modify_fails(Rig *r, uint32_t handle, uint32_t mask, uint32_t state)
{
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .qp_handle = cpu_to_le32(handle),
            .attr_mask = cpu_to_le32(mask),
            .attrs.qp_state = cpu_to_le32(state),
        },
    };

    pvrdma_command_fails(r->t, PVRDMA_CMD_MODIFY_QP, &req, EINVAL);
}

static void test_states_refused(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_create(&r);
    union pvrdma_cmd_req query = { .query_qp.qp_handle = cpu_to_le32(0x3fff) };
    union pvrdma_cmd_req destroy = {
        .destroy_qp.qp_handle = cpu_to_le32(UINT32_MAX),
    };

    modify_fails(&r, qp.handle, PVRDMA_QP_STATE, PVRDMA_QPS_RTS);
    modify_fails(&r, qp.handle, PVRDMA_QP_STATE, PVRDMA_QPS_INIT);
    modify_fails(&r, qp.handle, PVRDMA_QP_STATE, 7);
    modify_fails(&r, qp.handle, UINT32_MAX, PVRDMA_QPS_INIT);
    g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_RESET);
    modify_fails(&r, 0, PVRDMA_QP_STATE, PVRDMA_QPS_ERR);
    modify_fails(&r, UINT32_MAX, PVRDMA_QP_STATE, PVRDMA_QPS_ERR);
    pvrdma_command_fails(r.t, PVRDMA_CMD_QUERY_QP, &query, EINVAL);
    pvrdma_command_fails(r.t, PVRDMA_CMD_DESTROY_QP, &destroy, EINVAL);
    pvrdma_stop(r.t);
}

static void test_query(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);
    struct pvrdma_qp_attr a = pvrdma_qp_query(r.t, &qp);

    g_assert_cmpuint(le32_to_cpu(a.path_mtu), ==, PVRDMA_MTU_1024);
    g_assert_cmphex(le32_to_cpu(a.sq_psn), ==, SQ_PSN);
    g_assert_cmphex(le32_to_cpu(a.rq_psn), ==, RQ_PSN);
    g_assert_cmphex(le32_to_cpu(a.dest_qp_num), ==, PEER_QPN);
    g_assert_cmpuint(a.retry_cnt, ==, 7);
    g_assert_cmpuint(a.port_num, ==, 1);
    g_assert_cmpuint(le32_to_cpu(a.cap.max_send_wr), ==, 16);
    g_assert_cmpuint(le32_to_cpu(a.cap.max_recv_sge), ==, 4);
    g_assert_cmpuint(le32_to_cpu(a.cap.max_inline_data), ==, 0);
    g_assert_cmpmem(a.ah_attr.grh.dgid, 16, pvrdma_peer_gid, 16);
    /* RESET clears the attributes */
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_RESET);
    a = pvrdma_qp_query(r.t, &qp);
    g_assert_cmphex(le32_to_cpu(a.dest_qp_num), ==, 0);
    g_assert_cmpuint(a.retry_cnt, ==, 0);
    pvrdma_stop(r.t);
}

/* WQEs that are posted before RTS are sent in RTS, and not before. */
static void test_posted_early(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_create(&r);

    pvrdma_qp_init(r.t, &qp, &attr);
    pvrdma_qp_rtr(r.t, &qp, &attr);
    post_sends(&r, &qp, 1, 2, 8);
    pvrdma_assert_quiet(r.t);
    pvrdma_qp_rts(r.t, &qp, &attr);
    expect_sends(&r, SQ_PSN, 2);
    pvrdma_stop(r.t);
}

static void test_established(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_create(&r);

    pvrdma_qp_init(r.t, &qp, &attr);
    post_recvs(&r, &qp, 1, 2);
    pvrdma_qp_rtr(r.t, &qp, &attr);
    peer_send(&r, &qp, RQ_PSN, 8);
    pvrdma_event_take(r.t, PVRDMA_EVENT_COMM_EST, qp.handle);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_ACK, PEER_QPN, RQ_PSN));
    peer_send(&r, &qp, RQ_PSN + 1, 8);
    pvrdma_cq_expect(r.t, &r.cq, 2, PVRDMA_WC_SUCCESS);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_ACK, PEER_QPN, RQ_PSN + 1));
    g_assert_true(pvrdma_event_none(r.t));
    pvrdma_stop(r.t);
}

/* --- SQD ------------------------------------------------------------------ */
static void to_sqd(Rig *r, const PvrdmaTestQp *qp, bool notify)
{
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .qp_handle = cpu_to_le32(qp->handle),
            .attr_mask = cpu_to_le32(PVRDMA_QP_STATE |
                (notify ? PVRDMA_QP_EN_SQD_ASYNC_NOTIFY : 0)),
            .attrs.qp_state = cpu_to_le32(PVRDMA_QPS_SQD),
            .attrs.en_sqd_async_notify = 1,
        },
    };

    pvrdma_command_ok(r->t, PVRDMA_CMD_MODIFY_QP, &req, NULL);
}

static void test_drain(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);

    post_sends(&r, &qp, 1, 1, 8);
    expect_sends(&r, SQ_PSN, 1);
    to_sqd(&r, &qp, true);
    g_assert_cmpuint(pvrdma_qp_query(r.t, &qp).sq_draining, ==, 1);
    post_sends(&r, &qp, 2, 1, 8);
    pvrdma_assert_quiet(r.t);
    g_assert_true(pvrdma_event_none(r.t));
    peer_ack(&r, &qp, SQ_PSN, 1);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_event_take(r.t, PVRDMA_EVENT_SQ_DRAINED, qp.handle);
    g_assert_cmpuint(pvrdma_qp_query(r.t, &qp).sq_draining, ==, 0);
    pvrdma_assert_quiet(r.t);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_RTS);
    expect_sends(&r, SQ_PSN + 1, 1);
    pvrdma_stop(r.t);
}

static void test_drain_nothing(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);

    to_sqd(&r, &qp, true);
    pvrdma_event_take(r.t, PVRDMA_EVENT_SQ_DRAINED, qp.handle);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_RTS);
    /* notification holds for one drain only */
    to_sqd(&r, &qp, false);
    g_assert_true(pvrdma_event_none(r.t));
    g_assert_cmpuint(pvrdma_qp_query(r.t, &qp).sq_draining, ==, 0);
    pvrdma_stop(r.t);
}

/* --- The end -------------------------------------------------------------- */
static void test_flush(void)
{
    Rig r = rig_start();
    PvrdmaTestCq rcq = pvrdma_cq_create(r.t, 0, 0, 16);
    PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .pd = r.pd, .send_cq = &r.cq, .recv_cq = &rcq,
    });

    pvrdma_qp_connect(r.t, &qp, &attr);
    post_sends(&r, &qp, 10, 16, 8);
    expect_sends(&r, SQ_PSN, 16);
    post_recvs(&r, &qp, 100, 3);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_ERR);
    for (unsigned i = 0; i < 16; i++) {
        pvrdma_cq_expect(r.t, &r.cq, 10 + i, PVRDMA_WC_WR_FLUSH_ERR);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct pvrdma_cqe cqe = pvrdma_cq_expect(r.t, &rcq, 100 + i,
                                                 PVRDMA_WC_WR_FLUSH_ERR);

        g_assert_cmpuint(le64_to_cpu(cqe.qp), ==, qp.handle);
        g_assert_cmpuint(le32_to_cpu(cqe.opcode), ==, PVRDMA_WC_RECV);
    }
    /* WQEs that are posted in ERR are flushed, too */
    post_sends(&r, &qp, 50, 3, 8);
    post_recvs(&r, &qp, 150, 2);
    for (unsigned i = 0; i < 3; i++) {
        pvrdma_cq_expect(r.t, &r.cq, 50 + i, PVRDMA_WC_WR_FLUSH_ERR);
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_cq_expect(r.t, &rcq, 150 + i, PVRDMA_WC_WR_FLUSH_ERR);
    }
    /* a QP in ERR neither answers nor sends again */
    peer_send(&r, &qp, RQ_PSN, 8);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-qp-state") == 1);
    pvrdma_step(r.t, LONG_TIME);
    pvrdma_cq_assert_empty(r.t, &r.cq);
    pvrdma_cq_assert_empty(r.t, &rcq);
    g_assert_true(pvrdma_event_none(r.t));
    pvrdma_stop(r.t);
}

/* A flushed WQE has a completion, also if it is not signalled. */
static void test_flush_unsignalled(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(7, PVRDMA_WR_SEND);

    wr.send_flags = 0;
    pvrdma_post_send(r.t, &qp, &wr, NULL, 0);
    expect_sends(&r, SQ_PSN, 1);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_ERR);
    pvrdma_cq_expect(r.t, &r.cq, 7, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_stop(r.t);
}

static void test_reset(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);

    post_sends(&r, &qp, 1, 5, 8);
    expect_sends(&r, SQ_PSN, 5);
    post_recvs(&r, &qp, 11, 5);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_RESET);
    pvrdma_cq_assert_empty(r.t, &r.cq);
    peer_ack(&r, &qp, SQ_PSN, 1);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-qp-state") == 1);
    pvrdma_step(r.t, LONG_TIME);
    pvrdma_assert_quiet(r.t);
    /* the QP can be connected again */
    pvrdma_qp_connect(r.t, &qp, &attr);
    post_sends(&r, &qp, 21, 2, 8);
    expect_sends(&r, SQ_PSN, 2);
    post_recvs(&r, &qp, 31, 1);
    peer_send(&r, &qp, RQ_PSN, 8);
    pvrdma_cq_expect(r.t, &r.cq, 31, PVRDMA_WC_SUCCESS);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_ACK, PEER_QPN, RQ_PSN));
    peer_ack(&r, &qp, SQ_PSN + 1, 2);
    pvrdma_cq_expect(r.t, &r.cq, 21, PVRDMA_WC_SUCCESS);
    pvrdma_cq_expect(r.t, &r.cq, 22, PVRDMA_WC_SUCCESS);
    pvrdma_stop(r.t);
}

static void test_destroy_busy(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);

    post_sends(&r, &qp, 1, 3, 1024);
    expect_sends(&r, SQ_PSN, 3);
    post_recvs(&r, &qp, 11, 3);
    pvrdma_qp_destroy(r.t, &qp);
    peer_ack(&r, &qp, SQ_PSN, 1);
    peer_send(&r, &qp, RQ_PSN, 8);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-qp") == 2);
    pvrdma_step(r.t, LONG_TIME);
    pvrdma_cq_assert_empty(r.t, &r.cq);
    pvrdma_expect_errors(r.t, 1, pvrdma_ring_send(r.t, &qp));
    pvrdma_stop(r.t);
}

static void test_device_reset_busy(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);

    post_sends(&r, &qp, 1, 3, 1024);
    expect_sends(&r, SQ_PSN, 3);
    g_assert_cmpuint(pvrdma_ctl(r.t, PVRDMA_DEVICE_CTL_RESET), ==, 0);
    pvrdma_step(r.t, LONG_TIME);
    pvrdma_assert_quiet(r.t);
    pvrdma_bring_up(r.t);
    r.pd = pvrdma_pd_create(r.t, 0);
    r.cq = pvrdma_cq_create(r.t, 0, 0, 16);
    r.mr = pvrdma_mr_create(r.t, r.pd, VA, 4096, PVRDMA_TEST_ACCESS_ALL);
    qp = qp_connected(&r);
    post_sends(&r, &qp, 1, 1, 8);
    expect_sends(&r, SQ_PSN, 1);
    pvrdma_stop(r.t);
}

static void test_srq_last(void)
{
    Rig r = rig_start();
    PvrdmaTestSrq srq = pvrdma_srq_create(r.t, r.pd, 0, 16, 1);
    PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .pd = r.pd, .send_cq = &r.cq, .srq = &srq,
    });
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r.mr, 0, 1024);

    pvrdma_qp_connect(r.t, &qp, &attr);
    pvrdma_post_srq(r.t, &srq, 1, &sge, 1);
    pvrdma_post_srq(r.t, &srq, 2, &sge, 1);
    peer_send(&r, &qp, RQ_PSN, 8);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_ACK, PEER_QPN, RQ_PSN));
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_ERR);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_LAST_WQE_REACHED, qp.handle);
    /* the other WQE of the SRQ is left for other QPs */
    pvrdma_cq_assert_empty(r.t, &r.cq);
    g_assert_true(pvrdma_event_none(r.t));
    pvrdma_stop(r.t);
}

/* --- Mistakes of the guest ------------------------------------------------ */
static void test_doorbell(void)
{
    static const uint32_t handles[] = { 0, 0x3fff, 0x4000, 0xffffff };
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(1, PVRDMA_WR_SEND);

    pvrdma_put_send(r.t, &qp, &wr, NULL, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(handles); i++) {
        pvrdma_expect_errors(r.t, 1, pvrdma_doorbell(r.t, 0,
            PVRDMA_UAR_QP_OFFSET, PVRDMA_UAR_QP_SEND | handles[i]));
    }
    /* another process must not ring the doorbell of the QP */
    pvrdma_expect_errors(r.t, 1, pvrdma_doorbell(r.t, 1, PVRDMA_UAR_QP_OFFSET,
                                                 PVRDMA_UAR_QP_SEND | qp.handle));
    pvrdma_assert_quiet(r.t);
    pvrdma_ring_send(r.t, &qp);
    expect_sends(&r, SQ_PSN, 1);
    pvrdma_stop(r.t);
}

static void test_bad_index(void)
{
    static const uint32_t bad[] = { 17, 32, 0x80000000, UINT32_MAX };
    Rig r = rig_start();

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        PvrdmaTestQp qp = qp_connected(&r);

        r.t->guest_errors = true;
        qtest_writel(r.t->qts, qp.sq.ring +
                     offsetof(struct pvrdma_ring, prod_tail), bad[i]);
        pvrdma_ring_send(r.t, &qp);
        pvrdma_event_take(r.t, PVRDMA_EVENT_QP_FATAL, qp.handle);
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_ERR);
        pvrdma_qp_destroy(r.t, &qp);
    }
    pvrdma_cq_assert_empty(r.t, &r.cq);
    pvrdma_stop(r.t);
}

static void test_bad_index_receive(void)
{
    Rig r = rig_start();
    PvrdmaTestQp qp = qp_connected(&r);

    r.t->guest_errors = true;
    qtest_writel(r.t->qts, qp.rq.ring + offsetof(struct pvrdma_ring, prod_tail),
                 99);
    peer_send(&r, &qp, RQ_PSN, 8);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_FATAL, qp.handle);
    g_assert_cmpuint(pvrdma_qp_state(r.t, &qp), ==, PVRDMA_QPS_ERR);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_ACK, PEER_QPN, RQ_PSN));
    pvrdma_stop(r.t);
}

/* Queues that are longer than what is flushed at once; no doorbell is rung. */
static void test_flush_long(void)
{
    enum { N = 1024 };
    Rig r = rig_start();
    PvrdmaTestCq cq = pvrdma_cq_create(r.t, 0, 0, 2 * N);
    PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .pd = r.pd, .send_cq = &cq, .send_wr = N, .recv_wr = N,
    });
    unsigned flushed[2] = { 0 };

    pvrdma_qp_connect(r.t, &qp, &attr);
    qtest_writel(r.t->qts, qp.sq.ring + offsetof(struct pvrdma_ring, prod_tail), N);
    qtest_writel(r.t->qts, qp.rq.ring + offsetof(struct pvrdma_ring, prod_tail), N);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_ERR);
    for (unsigned i = 0; i < 2 * N; i++) {
        struct pvrdma_cqe cqe = pvrdma_cq_expect(r.t, &cq, 0, PVRDMA_WC_WR_FLUSH_ERR);

        flushed[le32_to_cpu(cqe.opcode) == PVRDMA_WC_RECV]++;
    }
    g_assert_cmpuint(flushed[0], ==, N);
    g_assert_cmpuint(flushed[1], ==, N);
    pvrdma_cq_assert_empty(r.t, &cq);
    pvrdma_stop(r.t);
}

/*
 * A chain of overflows: a QP in ERR is flushed to a CQ, which overflows and so ends the
 * next QP.
 */
static void test_cq_overflow(void)
{
    enum { N = 12 };
    Rig r = rig_start();
    PvrdmaTestCq cq[N + 1];
    PvrdmaTestQp qp[N];

    r.t->guest_errors = true;
    for (unsigned i = 0; i <= N; i++) {
        cq[i] = pvrdma_cq_create(r.t, 0, 0, 4);
    }
    for (unsigned i = 0; i < N; i++) {
        qp[i] = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
            .pd = r.pd, .send_cq = &cq[i + 1], .recv_cq = &cq[i],
        });
        pvrdma_qp_connect(r.t, &qp[i], &attr);
        post_sends(&r, &qp[i], 1, 8, 8);
        expect_sends(&r, SQ_PSN, 8);
    }
    pvrdma_qp_to(r.t, &qp[0], PVRDMA_QPS_ERR);
    for (unsigned i = 1; i <= N; i++) {
        pvrdma_event_take(r.t, PVRDMA_EVENT_CQ_ERR, cq[i].handle);
        if (i < N) {
            pvrdma_event_take(r.t, PVRDMA_EVENT_QP_FATAL, qp[i].handle);
        }
    }
    g_assert_true(pvrdma_event_none(r.t));
    for (unsigned i = 0; i < N; i++) {
        g_assert_cmpuint(pvrdma_qp_state(r.t, &qp[i]), ==, PVRDMA_QPS_ERR);
        /* the QP has taken its WQEs, also those whose completions were lost */
        g_assert_cmpuint(qtest_readl(r.t->qts, qp[i].sq.ring +
                         offsetof(struct pvrdma_ring, cons_head)), ==, 8);
        for (unsigned n = 0; n < 4; n++) {
            pvrdma_cq_expect(r.t, &cq[i + 1], 1 + n, PVRDMA_WC_WR_FLUSH_ERR);
        }
        pvrdma_cq_assert_empty(r.t, &cq[i + 1]);
    }
    g_assert_cmpuint(pvrdma_counter(r.t, "cq-overflow"), >=, N);
    pvrdma_stop(r.t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/qp/create-types", test_create_types);
    qtest_add_func("/pvrdma/qp/create-objects", test_create_objects);
    qtest_add_func("/pvrdma/qp/create-sizes", test_create_sizes);
    qtest_add_func("/pvrdma/qp/create-gsi", test_create_gsi);
    qtest_add_func("/pvrdma/qp/users", test_users);
    qtest_add_func("/pvrdma/qp/numbers", test_numbers);
    qtest_add_func("/pvrdma/qp/states", test_states);
    qtest_add_func("/pvrdma/qp/states-refused", test_states_refused);
    qtest_add_func("/pvrdma/qp/query", test_query);
    qtest_add_func("/pvrdma/qp/posted-early", test_posted_early);
    qtest_add_func("/pvrdma/qp/established", test_established);
    qtest_add_func("/pvrdma/qp/drain", test_drain);
    qtest_add_func("/pvrdma/qp/drain-nothing", test_drain_nothing);
    qtest_add_func("/pvrdma/qp/flush", test_flush);
    qtest_add_func("/pvrdma/qp/flush-long", test_flush_long);
    qtest_add_func("/pvrdma/qp/flush-unsignalled", test_flush_unsignalled);
    qtest_add_func("/pvrdma/qp/reset", test_reset);
    qtest_add_func("/pvrdma/qp/destroy-busy", test_destroy_busy);
    qtest_add_func("/pvrdma/qp/device-reset-busy", test_device_reset_busy);
    qtest_add_func("/pvrdma/qp/srq-last", test_srq_last);
    qtest_add_func("/pvrdma/qp/doorbell", test_doorbell);
    qtest_add_func("/pvrdma/qp/bad-index", test_bad_index);
    qtest_add_func("/pvrdma/qp/bad-index-receive", test_bad_index_receive);
    qtest_add_func("/pvrdma/qp/cq-overflow", test_cq_overflow);
    return g_test_run();
}
