/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared receive queues in real transfers: which QP gets which WQE, limit, end. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qp-pair.h"

#define ENTRIES 8
#define BYTES   100
#define OK      PVRDMA_WC_SUCCESS

/* pairs of QPs whose QPs 1 share an SRQ */
#define PAIRS 3

typedef struct Fixture {
    PvrdmaTest *t;
    PvrdmaTestSrq srq;
    PvrdmaQpPair pair[PAIRS];
    uint64_t wr_id;                 /* id of the next SEND */
} Fixture;

static void start(Fixture *f)
{
    uint32_t pd;

    *f = (Fixture) { .t = pvrdma_start("") };
    pd = pvrdma_pd_create(f->t, 0);
    f->srq = pvrdma_srq_create(f->t, pd, 0, ENTRIES, 2);
    for (unsigned i = 0; i < PAIRS; i++) {
        f->pair[i].pd = pd;
        pvrdma_qp_pair_make(&f->pair[i], f->t, &f->srq);
    }
}

/* Posts receive WQE @n, with its own place in memory 1 of pair 0. */
static void post(Fixture *f, unsigned n)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&f->pair[0].mr[1], n * BYTES, BYTES);

    pvrdma_post_srq(f->t, &f->srq, n, &sge, 1);
}

/* Posts a SEND from QP 0 of pair @i, which QP 1 receives by the SRQ. */
static void transmit(Fixture *f, unsigned i)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(f->wr_id++, PVRDMA_WR_SEND);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&f->pair[i].mr[0], 0, BYTES);

    pvrdma_post_send(f->t, &f->pair[i].qp[0], &hdr, &sge, 1);
}

static void expect(Fixture *f, unsigned i, uint64_t sent, uint64_t received)
{
    struct pvrdma_cqe cqe;

    cqe = pvrdma_cq_expect(f->t, &f->pair[i].cq[1], received, OK);
    g_assert_cmpuint(le64_to_cpu(cqe.qp), ==, f->pair[i].qp[1].handle);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, BYTES);
    pvrdma_cq_expect(f->t, &f->pair[i].cq[0], sent, OK);
}

static int modify(Fixture *f, uint32_t mask, uint32_t limit)
{
    union pvrdma_cmd_req req = { .modify_srq = {
        .srq_handle = cpu_to_le32(f->srq.handle), .attr_mask = cpu_to_le32(mask),
        .attrs.srq_limit = cpu_to_le32(limit),
    } };

    return pvrdma_command(f->t, PVRDMA_CMD_MODIFY_SRQ, &req, NULL);
}

static uint32_t limit(Fixture *f)
{
    union pvrdma_cmd_req req = { .query_srq.srq_handle =
                                 cpu_to_le32(f->srq.handle) };
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(f->t, PVRDMA_CMD_QUERY_SRQ, &req, &resp);
    g_assert_cmpuint(le32_to_cpu(resp.query_srq.attrs.max_wr), ==, ENTRIES);
    g_assert_cmpuint(le32_to_cpu(resp.query_srq.attrs.max_sge), ==, 2);
    return le32_to_cpu(resp.query_srq.attrs.srq_limit);
}

/* QPs get the WQEs of the SRQ in the order of posting. */
static void test_shared(void)
{
    Fixture f;

    start(&f);
    for (unsigned n = 0; n < 4 * ENTRIES; n += PAIRS) {
        for (unsigned i = 0; i < PAIRS; i++) {
            post(&f, n + i);
        }
        for (unsigned i = 0; i < PAIRS; i++) {
            uint8_t data[BYTES];

            pvrdma_fill(f.t, f.pair[i].mr[0].pa, data, BYTES, n + i);
            transmit(&f, i);
            expect(&f, i, n + i, n + i);
            pvrdma_assert_mem(f.t, f.pair[0].mr[1].pa + (n + i) * BYTES, data, BYTES);
        }
    }
    g_assert_true(pvrdma_event_none(f.t));
    pvrdma_stop(f.t);
}

/* The sender waits until the SRQ has a WQE. */
static void test_empty(void)
{
    Fixture f;

    start(&f);
    transmit(&f, 0);
    transmit(&f, 1);
    pvrdma_cq_assert_empty(f.t, &f.pair[0].cq[0]);
    pvrdma_cq_assert_empty(f.t, &f.pair[1].cq[0]);
    post(&f, 0);
    post(&f, 1);
    pvrdma_step(f.t, 100000000);
    for (unsigned i = 0; i < 2; i++) {
        struct pvrdma_cqe cqe;

        pvrdma_cq_expect(f.t, &f.pair[i].cq[0], i, OK);
        pvrdma_wait(f.t, pvrdma_cq_poll(f.t, &f.pair[i].cq[1], &cqe));
        g_assert_cmpuint(le32_to_cpu(cqe.status), ==, OK);
    }
    g_assert_cmpuint(pvrdma_counter(f.t, "tx-rnr"), >=, 2);
    pvrdma_stop(f.t);
}

static void test_limit(void)
{
    Fixture f;

    start(&f);
    for (unsigned n = 0; n < 5; n++) {
        post(&f, n);
    }
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, 4), ==, 0);
    g_assert_cmpuint(limit(&f), ==, 4);
    transmit(&f, 0);
    expect(&f, 0, 0, 0);
    g_assert_true(pvrdma_event_none(f.t));
    transmit(&f, 1);
    expect(&f, 1, 1, 1);
    pvrdma_event_take(f.t, PVRDMA_EVENT_SRQ_LIMIT_REACHED, f.srq.handle);
    g_assert_cmpuint(limit(&f), ==, 0);
    transmit(&f, 2);
    expect(&f, 2, 2, 2);
    g_assert_true(pvrdma_event_none(f.t));
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, 3), ==, 0);
    pvrdma_event_take(f.t, PVRDMA_EVENT_SRQ_LIMIT_REACHED, f.srq.handle);
    f.t->guest_errors = true;
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, ENTRIES + 1), ==, EINVAL);
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_MAX_WR, 0), ==, EOPNOTSUPP);
    pvrdma_stop(f.t);
}

/* A QP in ERR leaves the WQEs of the SRQ to the other QPs. */
static void test_one_ends(void)
{
    Fixture f;

    start(&f);
    post(&f, 0);
    post(&f, 1);
    pvrdma_qp_to(f.t, &f.pair[0].qp[1], PVRDMA_QPS_ERR);
    pvrdma_event_take(f.t, PVRDMA_EVENT_QP_LAST_WQE_REACHED, f.pair[0].qp[1].handle);
    pvrdma_cq_assert_empty(f.t, &f.pair[0].cq[1]);
    transmit(&f, 1);
    expect(&f, 1, 0, 0);
    transmit(&f, 2);
    expect(&f, 2, 1, 1);
    pvrdma_stop(f.t);
}

/* An invalid WQE ends the QP that has taken it. */
static void test_bad_wqe(void)
{
    struct pvrdma_rq_wqe_hdr raw = {
        .wr_id = cpu_to_le64(9), .num_sge = cpu_to_le32(3),
    };
    Fixture f;

    start(&f);
    f.t->guest_errors = true;
    post(&f, 0);
    post(&f, 1);
    qtest_bufwrite(f.t->qts, f.srq.rq.at, &raw, sizeof(raw));
    transmit(&f, 0);
    pvrdma_cq_expect(f.t, &f.pair[0].cq[1], 9, PVRDMA_WC_LOC_QP_OP_ERR);
    g_assert_cmpuint(pvrdma_qp_state(f.t, &f.pair[0].qp[1]), ==, PVRDMA_QPS_ERR);
    transmit(&f, 1);
    expect(&f, 1, 1, 1);
    pvrdma_stop(f.t);
}

/* An invalid index ends the SRQ, and each QP when it needs a WQE. */
static void test_bad_index(void)
{
    Fixture f;

    start(&f);
    f.t->guest_errors = true;
    qtest_writel(f.t->qts, f.srq.rq.ring + offsetof(struct pvrdma_ring, prod_tail),
                 ENTRIES + 1);
    transmit(&f, 0);
    pvrdma_event_take(f.t, PVRDMA_EVENT_SRQ_ERR, f.srq.handle);
    pvrdma_event_take(f.t, PVRDMA_EVENT_QP_FATAL, f.pair[0].qp[1].handle);
    pvrdma_event_take(f.t, PVRDMA_EVENT_QP_LAST_WQE_REACHED, f.pair[0].qp[1].handle);
    transmit(&f, 1);
    pvrdma_event_take(f.t, PVRDMA_EVENT_QP_FATAL, f.pair[1].qp[1].handle);
    pvrdma_stop(f.t);
}

static void test_destroy(void)
{
    union pvrdma_cmd_req req = { };
    PvrdmaTestQpInit init;
    PvrdmaTestQp qp;
    Fixture f;

    start(&f);
    req.destroy_srq.srq_handle = cpu_to_le32(f.srq.handle);
    for (unsigned i = 0; i < PAIRS; i++) {
        pvrdma_command_fails(f.t, PVRDMA_CMD_DESTROY_SRQ, &req, EBUSY);
        pvrdma_qp_destroy(f.t, &f.pair[i].qp[1]);
    }
    pvrdma_srq_destroy(f.t, &f.srq);
    req.destroy_srq.srq_handle = cpu_to_le32(f.srq.handle);
    pvrdma_command_fails(f.t, PVRDMA_CMD_DESTROY_SRQ, &req, EINVAL);
    pvrdma_expect_errors(f.t, 1, pvrdma_doorbell(f.t, 0, PVRDMA_UAR_SRQ_OFFSET,
                         PVRDMA_UAR_SRQ_RECV | f.srq.handle));
    /* a destroyed SRQ, and one of another protection domain */
    init = (PvrdmaTestQpInit) {
        .pd = f.pair[0].pd, .send_cq = &f.pair[0].cq[0], .srq = &f.srq,
    };
    req = pvrdma_qp_request(f.t, &init, &qp);
    pvrdma_command_fails(f.t, PVRDMA_CMD_CREATE_QP, &req, EINVAL);
    f.srq = pvrdma_srq_create(f.t, pvrdma_pd_create(f.t, 0), 0, ENTRIES, 1);
    req = pvrdma_qp_request(f.t, &init, &qp);
    pvrdma_command_fails(f.t, PVRDMA_CMD_CREATE_QP, &req, EINVAL);
    pvrdma_stop(f.t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/srq/shared", test_shared);
    qtest_add_func("/pvrdma/srq/empty", test_empty);
    qtest_add_func("/pvrdma/srq/limit", test_limit);
    qtest_add_func("/pvrdma/srq/one-ends", test_one_ends);
    qtest_add_func("/pvrdma/srq/bad-wqe", test_bad_wqe);
    qtest_add_func("/pvrdma/srq/bad-index", test_bad_index);
    qtest_add_func("/pvrdma/srq/destroy", test_destroy);
    return g_test_run();
}
