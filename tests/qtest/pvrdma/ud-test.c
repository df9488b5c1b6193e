/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams of pvrdma: their frames, what the device does with received ones, and with
 * those that cannot be sent.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "verbs.h"

#define QKEY 0x11111111
#define OTHER_QKEY 0x22222222
#define PEER_QPN 0x4321
#define SQ_PSN 0xffffff
#define VA 0x7f0000001000ULL
#define BYTES 65536
#define MTU 1024                    /* MTU of the device in tests that set it */
#define RECV_AT 32768               /* offset of receive buffers in the region */
#define IMM 0xa1b2c3d4

typedef struct Rig {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq scq, rcq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    uint8_t data[MTU];              /* contents of the region's start */
} Rig;

static const PvrdmaTestQpAttr attr = { .qkey = QKEY, .sq_psn = SQ_PSN };

static Rig rig_start(const char *props)
{
    Rig r = { .t = pvrdma_start(props) };

    r.pd = pvrdma_pd_create(r.t, 0);
    r.scq = pvrdma_cq_create(r.t, 0, 0, 64);
    r.rcq = pvrdma_cq_create(r.t, 0, 0, 64);
    r.mr = pvrdma_mr_create(r.t, r.pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    pvrdma_fill(r.t, r.mr.pa, r.data, sizeof(r.data), 5);
    r.qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_UD, .pd = r.pd, .send_cq = &r.scq, .recv_cq = &r.rcq,
    });
    pvrdma_qp_connect(r.t, &r.qp, &attr);
    return r;
}

static void rig_stop(Rig *r)
{
    pvrdma_cq_assert_empty(r->t, &r->scq);
    pvrdma_cq_assert_empty(r->t, &r->rcq);
    g_assert_true(pvrdma_event_none(r->t));
    pvrdma_stop(r->t);
}

/* Returns a SEND to a valid address. */
static struct pvrdma_sq_wqe_hdr send_wr(Rig *r, uint64_t wr_id)
{
    return pvrdma_wr_ud(wr_id, PVRDMA_WR_SEND, &(PvrdmaTestQpAttr) {
        .dest_qpn = PEER_QPN, .qkey = OTHER_QKEY, .pd = r->pd,
    });
}

static void send_post(Rig *r, const struct pvrdma_sq_wqe_hdr *wr, uint32_t len)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, len);

    pvrdma_post_send(r->t, &r->qp, wr, &sge, 1);
}

static void recv_post(Rig *r, uint64_t wr_id, uint32_t len)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, RECV_AT, len);

    pvrdma_post_recv(r->t, &r->qp, wr_id, &sge, 1);
}

static RocePacket peer_packet(const Rig *r)
{
    return (RocePacket) {
        .opcode = ROCE_OP_UD_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
        .qpn = r->qp.qpn, .psn = 77, .qkey = QKEY, .src_qpn = PEER_QPN,
    };
}

static void peer_send(Rig *r, const RocePacket *pkt, size_t len)
{
    RocePath path = pvrdma_path(false, false);

    pvrdma_wire_send(r->t, &path, pkt, r->data, len);
}

/* --- Sending -------------------------------------------------------------- */
static void check_send(Rig *r, uint32_t len, uint32_t psn, bool ipv6)
{
    PvrdmaTestQpAttr to = {
        .dest_qpn = PEER_QPN, .qkey = OTHER_QKEY, .pd = r->pd,
        .gid_index = ipv6, .traffic_class = 0x28, .hop_limit = 9,
    };
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_ud(100 + len, PVRDMA_WR_SEND, &to);
    RocePath want = pvrdma_path(ipv6, true);
    g_autofree PvrdmaFrame *f = NULL;
    struct pvrdma_cqe cqe;

    send_post(r, &wr, len);
    f = pvrdma_wire_expect(r->t, ROCE_OP_UD_SEND_ONLY, PEER_QPN, psn);
    g_assert_cmphex(f->pkt.qkey, ==, OTHER_QKEY);
    g_assert_cmphex(f->pkt.src_qpn, ==, r->qp.qpn);
    g_assert_cmphex(f->pkt.pkey, ==, ROCE_PKEY_DEFAULT);
    g_assert_false(f->pkt.solicited);
    g_assert_false(f->pkt.ack_req);
    g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len, r->data, len);
    g_assert_cmpmem(f->path.dmac, 6, pvrdma_peer_mac, 6);
    g_assert_cmpmem(f->path.smac, 6, pvrdma_mac, 6);
    g_assert_cmpmem(f->path.dgid, 16, want.dgid, 16);
    g_assert_cmpmem(f->path.sgid, 16, want.sgid, 16);
    g_assert_cmphex(f->path.traffic_class, ==, 0x28);
    g_assert_cmpuint(f->path.hop_limit, ==, 9);
    g_assert_cmphex(f->path.sport, >=, ROCE_UDP_SPORT_MIN);
    cqe = pvrdma_cq_expect(r->t, &r->scq, 100 + len, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.opcode), ==, PVRDMA_WC_SEND);
}

static void test_send(void)
{
    static const uint32_t sizes[] = { 0, 1, 3, 4, 255, 256, 257, 1023, 1024 };
    Rig r = rig_start(",mtu=1024");

    for (unsigned i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
        check_send(&r, sizes[i / 2], (SQ_PSN + i) & ROCE_PSN_MASK, i & 1);
    }
    g_assert_cmphex(le32_to_cpu(pvrdma_qp_query(r.t, &r.qp).sq_psn), ==,
                    (SQ_PSN + 2 * ARRAY_SIZE(sizes)) & ROCE_PSN_MASK);
    rig_stop(&r);
}

static void test_send_imm(void)
{
    Rig r = rig_start("");
    struct pvrdma_sq_wqe_hdr wr = send_wr(&r, 1);
    PvrdmaTestSge sge[] = {
        PVRDMA_TEST_SGE(&r.mr, 100, 3), PVRDMA_TEST_SGE(&r.mr, 7, 0),
        PVRDMA_TEST_SGE(&r.mr, 0, 90),
    };
    g_autofree PvrdmaFrame *f = NULL;

    wr.opcode = cpu_to_le32(PVRDMA_WR_SEND_WITH_IMM);
    wr.ex.imm_data = cpu_to_be32(IMM);
    wr.send_flags |= cpu_to_le32(PVRDMA_SEND_SOLICITED);
    pvrdma_post_send(r.t, &r.qp, &wr, sge, ARRAY_SIZE(sge));
    f = pvrdma_wire_expect(r.t, ROCE_OP_UD_SEND_ONLY_IMM, PEER_QPN, SQ_PSN);
    g_assert_true(f->pkt.solicited);
    g_assert_cmphex(be32_to_cpu(f->pkt.imm), ==, IMM);
    g_assert_cmpuint(f->pkt.payload_len, ==, 93);
    g_assert_cmpmem(f->pkt.payload, 3, r.data + 100, 3);
    g_assert_cmpmem(f->pkt.payload + 3, 90, r.data, 90);
    pvrdma_cq_expect(r.t, &r.scq, 1, PVRDMA_WC_SUCCESS);
    rig_stop(&r);
}

/* A key with the highest bit stands for the QP's own key, which is sent. */
static void test_send_qkey(void)
{
    Rig r = rig_start("");
    struct pvrdma_sq_wqe_hdr wr = send_wr(&r, 1);
    g_autofree PvrdmaFrame *f = NULL;

    wr.wr.ud.remote_qkey = cpu_to_le32(ROCE_QKEY_GSI);
    send_post(&r, &wr, 8);
    f = pvrdma_wire_expect(r.t, ROCE_OP_UD_SEND_ONLY, PEER_QPN, SQ_PSN);
    g_assert_cmphex(f->pkt.qkey, ==, QKEY);
    pvrdma_cq_expect(r.t, &r.scq, 1, PVRDMA_WC_SUCCESS);
    rig_stop(&r);
}

static void test_send_unsignalled(void)
{
    Rig r = rig_start("");
    struct pvrdma_sq_wqe_hdr wr = send_wr(&r, 1);

    wr.send_flags = 0;
    for (unsigned i = 0; i < 40; i++) {
        send_post(&r, &wr, 8);
        g_free(pvrdma_wire_expect(r.t, ROCE_OP_UD_SEND_ONLY, PEER_QPN,
                                  (SQ_PSN + i) & ROCE_PSN_MASK));
    }
    rig_stop(&r);
}

/*
 * Asserts that @wr completes with @status, that WQEs behind it are flushed in state
 * SQE, where the QP still receives, and that the QP sends again in RTS.
 */
static void check_refused(Rig *r, const struct pvrdma_sq_wqe_hdr *wr,
                          PvrdmaTestSge sge, enum pvrdma_wc_status status)
{
    struct pvrdma_sq_wqe_hdr good = send_wr(r, 2);
    RocePacket pkt = peer_packet(r);

    pvrdma_put_send(r->t, &r->qp, wr, &sge, 1);
    send_post(r, &good, 8);
    pvrdma_cq_expect(r->t, &r->scq, 1, status);
    pvrdma_cq_expect(r->t, &r->scq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(pvrdma_qp_state(r->t, &r->qp), ==, PVRDMA_QPS_SQE);
    send_post(r, &good, 8);
    pvrdma_cq_expect(r->t, &r->scq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_assert_quiet(r->t);
    recv_post(r, 3, 64);
    peer_send(r, &pkt, 8);
    pvrdma_cq_expect(r->t, &r->rcq, 3, PVRDMA_WC_SUCCESS);
    pvrdma_qp_to(r->t, &r->qp, PVRDMA_QPS_RTS);
    send_post(r, &good, 8);
    g_free(pvrdma_wire_take(r->t));
    pvrdma_cq_expect(r->t, &r->scq, 2, PVRDMA_WC_SUCCESS);
}

static void test_send_refused(void)
{
    Rig r = rig_start(",mtu=1024");
    struct pvrdma_sq_wqe_hdr wr = send_wr(&r, 1);
    PvrdmaTestSge good = PVRDMA_TEST_SGE(&r.mr, 0, 8);
    PvrdmaTestSge sge = good;

    r.t->guest_errors = true;
    /* longer than the MTU */
    sge.length = MTU + 1;
    check_refused(&r, &wr, sge, PVRDMA_WC_LOC_LEN_ERR);
    sge = good;
    sge.lkey ^= 1;
    check_refused(&r, &wr, sge, PVRDMA_WC_LOC_PROT_ERR);
    sge = good;
    sge.addr = VA + BYTES - 4;
    check_refused(&r, &wr, sge, PVRDMA_WC_LOC_PROT_ERR);
    /* an address of another protection domain, of no GID, of no port */
    wr.wr.ud.av.port_pd = cpu_to_le32(1u << 24 | (r.pd + 1));
    check_refused(&r, &wr, good, PVRDMA_WC_LOC_QP_OP_ERR);
    wr = send_wr(&r, 1);
    wr.wr.ud.av.gid_index = 2;
    check_refused(&r, &wr, good, PVRDMA_WC_LOC_QP_OP_ERR);
    wr.wr.ud.av.gid_index = 255;
    check_refused(&r, &wr, good, PVRDMA_WC_LOC_QP_OP_ERR);
    wr = send_wr(&r, 1);
    wr.wr.ud.av.port_pd = cpu_to_le32(2u << 24 | r.pd);
    check_refused(&r, &wr, good, PVRDMA_WC_LOC_QP_OP_ERR);
    rig_stop(&r);
}

static void test_send_opcodes(void)
{
    static const uint32_t bad[] = {
        PVRDMA_WR_RDMA_WRITE, PVRDMA_WR_RDMA_READ, PVRDMA_WR_ATOMIC_CMP_AND_SWP,
        PVRDMA_WR_SEND_WITH_INV, PVRDMA_WR_LOCAL_INV, PVRDMA_WR_LSO,
        PVRDMA_WR_ERROR, UINT32_MAX,
    };
    Rig r = rig_start("");
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r.mr, 0, 8);

    r.t->guest_errors = true;
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        struct pvrdma_sq_wqe_hdr wr = send_wr(&r, 1);

        wr.opcode = cpu_to_le32(bad[i]);
        check_refused(&r, &wr, sge, PVRDMA_WC_LOC_QP_OP_ERR);
    }
    rig_stop(&r);
}

/* --- Receiving ------------------------------------------------------------ */
static void check_receive(Rig *r, uint32_t len, bool ipv6)
{
    RocePath path = pvrdma_path(ipv6, false);
    RocePacket pkt = peer_packet(r);
    uint64_t at = r->mr.pa + RECV_AT;
    uint8_t frame[ROCE_FRAME_MAX], grh[ROCE_GRH_BYTES];
    struct pvrdma_cqe cqe;

    qtest_memset(r->t->qts, at, 0xee, MTU + 64);
    recv_post(r, len, ROCE_GRH_BYTES + len);
    pvrdma_wire_send(r->t, &path, &pkt, r->data, len);
    cqe = pvrdma_cq_expect(r->t, &r->rcq, len, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.opcode), ==, PVRDMA_WC_RECV);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, ROCE_GRH_BYTES + len);
    g_assert_cmpuint(le64_to_cpu(cqe.qp), ==, r->qp.handle);
    g_assert_cmphex(le32_to_cpu(cqe.src_qp), ==, PEER_QPN);
    g_assert_cmphex(le32_to_cpu(cqe.wc_flags), ==, PVRDMA_WC_GRH |
                    PVRDMA_WC_WITH_SMAC | PVRDMA_WC_WITH_NETWORK_HDR_TYPE);
    g_assert_cmpuint(cqe.network_hdr_type, ==,
                     ipv6 ? PVRDMA_NETWORK_IPV6 : PVRDMA_NETWORK_IPV4);
    g_assert_cmpmem(cqe.smac, 6, pvrdma_peer_mac, 6);
    /* the payload, and the header of the frame before it */
    roce_frame_end(frame, roce_frame_begin(frame, &path, &pkt), len);
    roce_frame_grh(frame, grh);
    if (!ipv6) {
        g_assert_cmphex(grh[20], ==, 0x45);
    }
    pvrdma_assert_mem(r->t, at, grh, 20);
    pvrdma_assert_mem(r->t, at + 24, grh + 24, 16);
    pvrdma_assert_mem(r->t, at + ROCE_GRH_BYTES, r->data, len);
    g_assert_cmphex(qtest_readb(r->t->qts, at + ROCE_GRH_BYTES + len), ==, 0xee);
}

static void test_receive(void)
{
    static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 255, 256, 1023, 1024 };
    Rig r = rig_start("");

    for (unsigned i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
        check_receive(&r, sizes[i / 2], i & 1);
    }
    rig_stop(&r);
}

static void test_receive_imm(void)
{
    Rig r = rig_start("");
    RocePacket pkt = peer_packet(&r);
    struct pvrdma_cqe cqe;

    recv_post(&r, 1, 64);
    pvrdma_cq_arm(r.t, &r.rcq, PVRDMA_UAR_CQ_ARM_SOL);
    pkt.opcode = ROCE_OP_UD_SEND_ONLY_IMM;
    pkt.imm = cpu_to_be32(IMM);
    pkt.solicited = true;
    peer_send(&r, &pkt, 4);
    cqe = pvrdma_cq_expect(r.t, &r.rcq, 1, PVRDMA_WC_SUCCESS);
    g_assert_cmphex(be32_to_cpu(cqe.imm_data), ==, IMM);
    g_assert_true(le32_to_cpu(cqe.wc_flags) & PVRDMA_WC_WITH_IMM);
    g_assert_cmpuint(pvrdma_cqne_take(r.t), ==, r.rcq.handle);
    rig_stop(&r);
}

static void test_receive_qkey(void)
{
    static const uint32_t bad[] = { 0, OTHER_QKEY, ROCE_QKEY_GSI };
    Rig r = rig_start("");
    RocePacket pkt = peer_packet(&r);
    union pvrdma_cmd_req query = { .query_port.port_num = 1 };
    union pvrdma_cmd_resp resp;

    recv_post(&r, 1, 64);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        pkt.qkey = bad[i];
        peer_send(&r, &pkt, 4);
        pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-bad-qkey") == i + 1);
    }
    pvrdma_command_ok(r.t, PVRDMA_CMD_QUERY_PORT, &query, &resp);
    g_assert_cmpuint(le32_to_cpu(resp.query_port.attrs.qkey_viol_cntr), ==,
                     ARRAY_SIZE(bad));
    pvrdma_cq_assert_empty(r.t, &r.rcq);
    pkt.qkey = QKEY;
    peer_send(&r, &pkt, 4);
    pvrdma_cq_expect(r.t, &r.rcq, 1, PVRDMA_WC_SUCCESS);
    rig_stop(&r);
}

static void test_receive_nowhere(void)
{
    Rig r = rig_start("");
    RocePacket pkt = peer_packet(&r);

    peer_send(&r, &pkt, 4);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-receive") == 1);
    recv_post(&r, 1, 64);
    /* the first datagram was lost, because there was no receive WQE */
    pvrdma_cq_assert_empty(r.t, &r.rcq);
    peer_send(&r, &pkt, 4);
    pvrdma_cq_expect(r.t, &r.rcq, 1, PVRDMA_WC_SUCCESS);
    rig_stop(&r);
}

/*
 * A datagram longer than its receive buffer is lost, and the buffer is used for the
 * next one.
 */
static void test_receive_too_long(void)
{
    Rig r = rig_start("");
    RocePacket pkt = peer_packet(&r);

    qtest_memset(r.t->qts, r.mr.pa + RECV_AT, 0xee, 64);
    recv_post(&r, 1, ROCE_GRH_BYTES + 15);
    recv_post(&r, 2, 64);
    for (unsigned i = 1; i <= 2; i++) {
        peer_send(&r, &pkt, 16);
        pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-receive") == i);
    }
    pvrdma_cq_assert_empty(r.t, &r.rcq);
    g_assert_cmpuint(pvrdma_qp_state(r.t, &r.qp), ==, PVRDMA_QPS_RTS);
    g_assert_cmphex(qtest_readb(r.t->qts, r.mr.pa + RECV_AT), ==, 0xee);
    peer_send(&r, &pkt, 15);
    pvrdma_cq_expect(r.t, &r.rcq, 1, PVRDMA_WC_SUCCESS);
    peer_send(&r, &pkt, 16);
    pvrdma_cq_expect(r.t, &r.rcq, 2, PVRDMA_WC_SUCCESS);
    /* a buffer shorter than the header is flushed when the QP ends */
    recv_post(&r, 3, ROCE_GRH_BYTES - 1);
    recv_post(&r, 4, 64);
    peer_send(&r, &pkt, 0);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-receive") == 3);
    pvrdma_qp_to(r.t, &r.qp, PVRDMA_QPS_ERR);
    pvrdma_cq_expect(r.t, &r.rcq, 3, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_cq_expect(r.t, &r.rcq, 4, PVRDMA_WC_WR_FLUSH_ERR);
    rig_stop(&r);
}

/*
 * Asserts that a datagram to an invalid buffer completes with @status, writes nothing
 * and ends the QP; connects the QP again.
 */
static void check_receive_error(Rig *r, PvrdmaTestSge sge,
                                enum pvrdma_wc_status status)
{
    RocePacket pkt = peer_packet(r);

    qtest_memset(r->t->qts, r->mr.pa + RECV_AT, 0xee, 64);
    pvrdma_post_recv(r->t, &r->qp, 1, &sge, 1);
    recv_post(r, 2, 64);
    peer_send(r, &pkt, 16);
    pvrdma_cq_expect(r->t, &r->rcq, 1, status);
    pvrdma_cq_expect(r->t, &r->rcq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(pvrdma_qp_state(r->t, &r->qp), ==, PVRDMA_QPS_ERR);
    g_assert_cmphex(qtest_readb(r->t->qts, r->mr.pa + RECV_AT + 40), ==, 0xee);
    pvrdma_qp_to(r->t, &r->qp, PVRDMA_QPS_RESET);
    pvrdma_qp_connect(r->t, &r->qp, &attr);
}

static void test_receive_errors(void)
{
    Rig r = rig_start("");
    PvrdmaTestSge good = PVRDMA_TEST_SGE(&r.mr, RECV_AT, 64), sge = good;
    PvrdmaTestMr readonly = pvrdma_mr_create(r.t, r.pd, VA, 4096,
                                             PVRDMA_ACCESS_REMOTE_READ);

    r.t->guest_errors = true;
    sge.lkey += 0x100;
    check_receive_error(&r, sge, PVRDMA_WC_LOC_PROT_ERR);
    sge = good;
    sge.addr = VA + BYTES - 8;
    check_receive_error(&r, sge, PVRDMA_WC_LOC_PROT_ERR);
    sge = PVRDMA_TEST_SGE(&readonly, 0, 64);
    check_receive_error(&r, sge, PVRDMA_WC_LOC_PROT_ERR);
    rig_stop(&r);
}

/* A QP with an SRQ keeps a WQE that it has taken. */
static void test_receive_srq(void)
{
    Rig r = rig_start("");
    PvrdmaTestSrq srq = pvrdma_srq_create(r.t, r.pd, 0, 16, 2);
    PvrdmaTestQp qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_UD, .pd = r.pd, .send_cq = &r.rcq, .srq = &srq,
    });
    PvrdmaTestSge sge[] = {
        PVRDMA_TEST_SGE(&r.mr, RECV_AT, 41), PVRDMA_TEST_SGE(&r.mr, 60000, 63),
    };
    RocePacket pkt = peer_packet(&r);

    pvrdma_qp_connect(r.t, &qp, &attr);
    pvrdma_post_srq(r.t, &srq, 9, sge, 2);
    pkt.qpn = qp.qpn;
    /* too long: the QP keeps the WQE that it has taken */
    peer_send(&r, &pkt, 65);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-receive") == 1);
    peer_send(&r, &pkt, 64);
    pvrdma_cq_expect(r.t, &r.rcq, 9, PVRDMA_WC_SUCCESS);
    /* the header ends in the middle of the first element */
    pvrdma_assert_mem(r.t, r.mr.pa + RECV_AT + 40, r.data, 1);
    pvrdma_assert_mem(r.t, r.mr.pa + 60000, r.data + 1, 63);
    /* ERR flushes the WQE that the QP has taken from the SRQ */
    pvrdma_post_srq(r.t, &srq, 10, sge, 2);
    peer_send(&r, &pkt, 65);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-receive") == 2);
    pvrdma_cq_assert_empty(r.t, &r.rcq);
    pvrdma_qp_to(r.t, &qp, PVRDMA_QPS_ERR);
    pvrdma_cq_expect(r.t, &r.rcq, 10, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_LAST_WQE_REACHED, qp.handle);
    rig_stop(&r);
}

static void test_receive_strangers(void)
{
    Rig r = rig_start("");
    RocePacket pkt = peer_packet(&r);
    RocePath path = pvrdma_path(false, false);

    recv_post(&r, 1, 64);
    /* an opcode of RC to a QP of type UD */
    pkt.opcode = ROCE_OP_SEND_ONLY;
    peer_send(&r, &pkt, 4);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-no-qp") == 1);
    pkt = peer_packet(&r);
    pkt.pkey = 0x1234;
    peer_send(&r, &pkt, 4);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-bad-pkey") == 1);
    /* a GID that the device does not have, with its MAC address */
    pkt = peer_packet(&r);
    path.dgid[15] = 99;
    pvrdma_wire_send(r.t, &path, &pkt, r.data, 4);
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-bad-path") == 1);
    pvrdma_cq_assert_empty(r.t, &r.rcq);
    pkt = peer_packet(&r);
    peer_send(&r, &pkt, 4);
    pvrdma_cq_expect(r.t, &r.rcq, 1, PVRDMA_WC_SUCCESS);
    rig_stop(&r);
}

/* A datagram to a QP of the same device does not use the wire. */
static void test_loop(void)
{
    Rig r = rig_start("");
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_ud(1, PVRDMA_WR_SEND,
        &(PvrdmaTestQpAttr) {
            .dest_qpn = r.qp.qpn, .qkey = QKEY, .pd = r.pd,
            .dgid = pvrdma_gid, .dmac = pvrdma_mac,
        });
    struct pvrdma_cqe cqe;

    recv_post(&r, 2, MTU);
    send_post(&r, &wr, 200);
    pvrdma_cq_expect(r.t, &r.scq, 1, PVRDMA_WC_SUCCESS);
    cqe = pvrdma_cq_expect(r.t, &r.rcq, 2, PVRDMA_WC_SUCCESS);
    g_assert_cmphex(le32_to_cpu(cqe.src_qp), ==, r.qp.qpn);
    pvrdma_assert_mem(r.t, r.mr.pa + RECV_AT + ROCE_GRH_BYTES, r.data, 200);
    rig_stop(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/ud/send", test_send);
    qtest_add_func("/pvrdma/ud/send-imm", test_send_imm);
    qtest_add_func("/pvrdma/ud/send-qkey", test_send_qkey);
    qtest_add_func("/pvrdma/ud/send-unsignalled", test_send_unsignalled);
    qtest_add_func("/pvrdma/ud/send-refused", test_send_refused);
    qtest_add_func("/pvrdma/ud/send-opcodes", test_send_opcodes);
    qtest_add_func("/pvrdma/ud/receive", test_receive);
    qtest_add_func("/pvrdma/ud/receive-imm", test_receive_imm);
    qtest_add_func("/pvrdma/ud/receive-qkey", test_receive_qkey);
    qtest_add_func("/pvrdma/ud/receive-nowhere", test_receive_nowhere);
    qtest_add_func("/pvrdma/ud/receive-too-long", test_receive_too_long);
    qtest_add_func("/pvrdma/ud/receive-errors", test_receive_errors);
    qtest_add_func("/pvrdma/ud/receive-srq", test_receive_srq);
    qtest_add_func("/pvrdma/ud/receive-strangers", test_receive_strangers);
    qtest_add_func("/pvrdma/ud/loop", test_loop);
    return g_test_run();
}
