/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The general service interface, QP 1: how the connection manager of the kernel uses
 * it, and that a process may not.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "verbs.h"

#define MAD_BYTES 256
#define VA 0x100000
#define RECV_AT 4096                /* offset of receive buffers in the region */
#define USER_QKEY 0x11111111

typedef struct Rig {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    uint8_t mad[MAD_BYTES];         /* at the beginning of the region */
} Rig;

/* Starts a machine and makes QP 1, as ib_mad of the kernel does. */
static Rig rig_start(void)
{
    Rig r = { .t = pvrdma_start("") };

    r.pd = pvrdma_pd_create(r.t, 0);
    r.cq = pvrdma_cq_create(r.t, 0, 0, 64);
    r.mr = pvrdma_mr_create(r.t, r.pd, VA, 65536, PVRDMA_TEST_ACCESS_ALL);
    pvrdma_fill(r.t, r.mr.pa, r.mad, MAD_BYTES, 7);
    r.qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_GSI, .pd = r.pd, .send_cq = &r.cq,
    });
    g_assert_cmpuint(r.qp.qpn, ==, ROCE_QPN_GSI);
    pvrdma_qp_connect(r.t, &r.qp, &(PvrdmaTestQpAttr) { .qkey = ROCE_QKEY_GSI });
    return r;
}

static void mad_send(Rig *r, uint64_t wr_id, const PvrdmaTestQpAttr *to)
{
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_ud(wr_id, PVRDMA_WR_SEND, to);
    PvrdmaTestSge sge[] = {
        PVRDMA_TEST_SGE(&r->mr, 0, 24),
        PVRDMA_TEST_SGE(&r->mr, 24, MAD_BYTES - 24),
    };

    pvrdma_post_send(r->t, &r->qp, &wr, sge, 2);
}

static void mad_recv(Rig *r, uint64_t wr_id)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, RECV_AT,
                                        ROCE_GRH_BYTES + MAD_BYTES);

    qtest_memset(r->t->qts, r->mr.pa + RECV_AT, 0xee, sge.length);
    pvrdma_post_recv(r->t, &r->qp, wr_id, &sge, 1);
}

static void peer_mad(Rig *r, uint32_t qpn, uint32_t qkey)
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_UD_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
        .qpn = qpn, .qkey = qkey, .src_qpn = ROCE_QPN_GSI,
    };

    pvrdma_wire_send(r->t, &path, &pkt, r->mad, MAD_BYTES);
}

static void test_send(void)
{
    Rig r = rig_start();
    PvrdmaTestQpAttr to = {
        .dest_qpn = ROCE_QPN_GSI, .qkey = ROCE_QKEY_GSI, .pd = r.pd,
    };
    g_autofree PvrdmaFrame *f = NULL;

    mad_send(&r, 1, &to);
    f = pvrdma_wire_expect(r.t, ROCE_OP_UD_SEND_ONLY, ROCE_QPN_GSI, 0);
    g_assert_cmphex(f->pkt.qkey, ==, ROCE_QKEY_GSI);
    g_assert_cmphex(f->pkt.src_qpn, ==, ROCE_QPN_GSI);
    g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len, r.mad, MAD_BYTES);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_stop(r.t);
}

static void test_receive(void)
{
    Rig r = rig_start();
    struct pvrdma_cqe cqe;

    mad_recv(&r, 2);
    peer_mad(&r, ROCE_QPN_GSI, ROCE_QKEY_GSI);
    cqe = pvrdma_cq_expect(r.t, &r.cq, 2, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le64_to_cpu(cqe.qp), ==, r.qp.handle);
    g_assert_cmpuint(le32_to_cpu(cqe.src_qp), ==, ROCE_QPN_GSI);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, ROCE_GRH_BYTES + MAD_BYTES);
    g_assert_cmpuint(le16_to_cpu(cqe.pkey_index), ==, 0);
    g_assert_cmpuint(cqe.port_num, ==, 1);
    pvrdma_assert_mem(r.t, r.mr.pa + RECV_AT + ROCE_GRH_BYTES, r.mad, MAD_BYTES);
    /* a datagram with another key is dropped */
    mad_recv(&r, 3);
    peer_mad(&r, ROCE_QPN_GSI, USER_QKEY);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-bad-qkey") == 1);
    pvrdma_cq_assert_empty(r.t, &r.cq);
    pvrdma_stop(r.t);
}

/* QP 1 accepts its well-known key only, whatever key modify_qp sets. */
static void test_key_fixed(void)
{
    Rig r = rig_start();

    g_assert_cmpint(pvrdma_qp_modify(r.t, &r.qp, PVRDMA_QP_QKEY,
                                     &(PvrdmaTestQpAttr) { .qkey = USER_QKEY }),
                    ==, 0);
    mad_recv(&r, 1);
    peer_mad(&r, ROCE_QPN_GSI, USER_QKEY);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-bad-qkey") == 1);
    peer_mad(&r, ROCE_QPN_GSI, ROCE_QKEY_GSI);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_stop(r.t);
}

/* QP 0 does not exist, QP 1 only after it was created. */
static void test_nobody(void)
{
    Rig r = rig_start();

    peer_mad(&r, 0, ROCE_QKEY_GSI);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-qp") == 1);
    /* the number that its handle would give an ordinary QP */
    peer_mad(&r, 1 << 16 | r.qp.handle, ROCE_QKEY_GSI);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-qp") == 2);
    pvrdma_qp_destroy(r.t, &r.qp);
    peer_mad(&r, ROCE_QPN_GSI, ROCE_QKEY_GSI);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-qp") == 3);
    pvrdma_stop(r.t);
}

/* A process that gives the key of QP 1 sends with the key of its own QP instead. */
static void test_pretend(void)
{
    Rig r = rig_start();
    uint32_t uc = pvrdma_uc_create(r.t, 4);
    uint32_t pd = pvrdma_pd_create(r.t, uc);
    PvrdmaTestCq cq = pvrdma_cq_create(r.t, uc, 4, 16);
    PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_UD, .pd = pd, .page = 4, .send_cq = &cq,
    });
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_ud(1, PVRDMA_WR_SEND,
        &(PvrdmaTestQpAttr) {
            .dest_qpn = ROCE_QPN_GSI, .qkey = ROCE_QKEY_GSI, .pd = pd,
        });
    g_autofree PvrdmaFrame *f = NULL;

    pvrdma_qp_connect(r.t, &qp, &(PvrdmaTestQpAttr) { .qkey = USER_QKEY });
    pvrdma_post_send(r.t, &qp, &wr, NULL, 0);
    f = pvrdma_wire_expect(r.t, ROCE_OP_UD_SEND_ONLY, ROCE_QPN_GSI, 0);
    g_assert_cmphex(f->pkt.qkey, ==, USER_QKEY);
    g_assert_cmphex(f->pkt.src_qpn, ==, qp.qpn);
    pvrdma_cq_expect(r.t, &cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_stop(r.t);
}

/* After a datagram that cannot be sent, the QP is brought back as ib_mad does it. */
static void test_send_error(void)
{
    Rig r = rig_start();
    PvrdmaTestQpAttr to = {
        .dest_qpn = ROCE_QPN_GSI, .qkey = ROCE_QKEY_GSI, .pd = r.pd,
        .gid_index = 7,
    };
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .qp_handle = cpu_to_le32(r.qp.handle),
            .attr_mask = cpu_to_le32(PVRDMA_QP_STATE | PVRDMA_QP_CUR_STATE),
            .attrs.qp_state = cpu_to_le32(PVRDMA_QPS_RTS),
            .attrs.cur_qp_state = cpu_to_le32(PVRDMA_QPS_SQE),
        },
    };

    r.t->guest_errors = true;
    mad_send(&r, 1, &to);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_LOC_QP_OP_ERR);
    pvrdma_command_ok(r.t, PVRDMA_CMD_MODIFY_QP, &req, NULL);
    to.gid_index = 0;
    mad_send(&r, 2, &to);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_UD_SEND_ONLY, ROCE_QPN_GSI, 0));
    pvrdma_cq_expect(r.t, &r.cq, 2, PVRDMA_WC_SUCCESS);
    pvrdma_stop(r.t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/ud/gsi-send", test_send);
    qtest_add_func("/pvrdma/ud/gsi-receive", test_receive);
    qtest_add_func("/pvrdma/ud/gsi-key-fixed", test_key_fixed);
    qtest_add_func("/pvrdma/ud/gsi-nobody", test_nobody);
    qtest_add_func("/pvrdma/ud/gsi-pretend", test_pretend);
    qtest_add_func("/pvrdma/ud/gsi-send-error", test_send_error);
    return g_test_run();
}
