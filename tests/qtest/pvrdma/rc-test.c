/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reliable connection between the device and the test, which is the peer on the wire.
 * Tests are named after the rows of the acceptance list [T §11].
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "rc.h"

#define MTU             RC_MTU
#define BYTES           (64 * 1024)
#define SQ_PSN          0x1000
#define RQ_PSN          0x2000
#define TIMEOUT_NS      (4096LL << 14)

static void start(Rc *rc)
{
    rc_start(rc, &(RcInit) { BYTES, SQ_PSN, RQ_PSN });
}

/*
 * Sends a packet of a WRITE of @total bytes to the start of the region, filled with
 * @seed.
 */
static void peer_writes(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t seed,
                     uint32_t len, uint32_t total)
{
    uint8_t payload[MTU];

    memset(payload, seed, sizeof(payload));
    rc_send(rc, &(RocePacket) {
        .opcode = opcode, .psn = psn, .va = rc->mr.va, .rkey = rc->mr.rkey,
        .dma_len = total,
        .ack_req = roce_opcode_info(opcode)->flags & ROCE_IS_LAST,
    }, payload, len);
}

/* --- A5: opcodes, headers, sizes ----------------------------------------------- */

typedef struct Shape {
    enum pvrdma_wr_opcode wr;
    uint8_t first, middle, last, only;
} Shape;

static const Shape shapes[] = {
    { PVRDMA_WR_RDMA_WRITE, ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_MIDDLE,
      ROCE_OP_WRITE_LAST, ROCE_OP_WRITE_ONLY },
    { PVRDMA_WR_RDMA_WRITE_WITH_IMM, ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_MIDDLE,
      ROCE_OP_WRITE_LAST_IMM, ROCE_OP_WRITE_ONLY_IMM },
    { PVRDMA_WR_SEND, ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE,
      ROCE_OP_SEND_LAST, ROCE_OP_SEND_ONLY },
    { PVRDMA_WR_SEND_WITH_IMM, ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE,
      ROCE_OP_SEND_LAST_IMM, ROCE_OP_SEND_ONLY_IMM },
    { PVRDMA_WR_SEND_WITH_INV, ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE,
      ROCE_OP_SEND_LAST_INV, ROCE_OP_SEND_ONLY_INV },
};

static void check_shape(Rc *rc, const Shape *shape, uint32_t len, uint32_t *psn,
                        uint64_t wr_id)
{
    uint32_t packets = roce_packets(len, MTU);

    rc_post(rc, wr_id, shape->wr, 0, len);
    for (uint32_t i = 0; i < packets; i++) {
        bool last = i == packets - 1;
        uint8_t opcode = last ? (i ? shape->last : shape->only) :
                                (i ? shape->middle : shape->first);

        rc_sent(rc, opcode, (*psn)++, i * MTU, last ? len - i * MTU : MTU);
    }
    pvrdma_cq_assert_empty(rc->t, &rc->cq);
    rc_ack(rc, *psn - 1);
    rc_done(rc, wr_id, PVRDMA_WC_SUCCESS);
}

static void test_opcodes(void)
{
    static const uint32_t sizes[] = {
        0, 1, 3, 4, MTU - 1, MTU, MTU + 1, 2 * MTU, 2 * MTU + 1, 5 * MTU,
    };
    uint32_t psn = SQ_PSN;
    uint64_t wr_id = 1;
    Rc rc;

    start(&rc);
    for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
        for (unsigned j = 0; j < ARRAY_SIZE(sizes); j++) {
            check_shape(&rc, &shapes[i], sizes[j], &psn, wr_id++);
        }
    }
    rc_stop(&rc);
}

/* The fields of the headers come from the WQE. */
static void test_headers(void)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_WRITE_WITH_IMM,
                                                  RC_PEER_VA, RC_PEER_RKEY);
    PvrdmaTestMr remote = { .va = RC_PEER_VA, .rkey = RC_PEER_RKEY };
    PvrdmaTestSge sge;
    PvrdmaFrame *f;
    Rc rc;

    start(&rc);
    sge = PVRDMA_TEST_SGE(&rc.mr, 0, 8);
    hdr.ex.imm_data = cpu_to_be32(0x11223344);
    pvrdma_post_send(rc.t, &rc.qp, &hdr, &sge, 1);
    f = pvrdma_wire_expect(rc.t, ROCE_OP_WRITE_ONLY_IMM, RC_PEER_QPN, SQ_PSN);
    g_assert_cmphex(f->pkt.va, ==, RC_PEER_VA);
    g_assert_cmphex(f->pkt.rkey, ==, RC_PEER_RKEY);
    g_assert_cmpuint(f->pkt.dma_len, ==, 8);
    g_assert_cmphex(be32_to_cpu(f->pkt.imm), ==, 0x11223344);
    g_assert_cmphex(f->pkt.pkey, ==, ROCE_PKEY_DEFAULT);
    g_assert_true(f->pkt.ack_req);
    g_free(f);

    hdr = pvrdma_wr(2, PVRDMA_WR_SEND_WITH_INV);
    hdr.ex.invalidate_rkey = cpu_to_le32(0xcafe);
    hdr.send_flags |= cpu_to_le32(PVRDMA_SEND_SOLICITED);
    pvrdma_post_send(rc.t, &rc.qp, &hdr, NULL, 0);
    f = pvrdma_wire_expect(rc.t, ROCE_OP_SEND_ONLY_INV, RC_PEER_QPN, SQ_PSN + 1);
    g_assert_cmphex(f->pkt.inv_rkey, ==, 0xcafe);
    g_assert_true(f->pkt.solicited);
    g_free(f);

    hdr = pvrdma_wr_atomic(3, PVRDMA_WR_ATOMIC_CMP_AND_SWP, &remote, 5, 6);
    pvrdma_post_send(rc.t, &rc.qp, &hdr, &sge, 1);
    f = pvrdma_wire_expect(rc.t, ROCE_OP_COMPARE_SWAP, RC_PEER_QPN, SQ_PSN + 2);
    g_assert_cmpuint(f->pkt.compare, ==, 5);
    g_assert_cmpuint(f->pkt.swap_add, ==, 6);
    g_free(f);
    rc_send(&rc, &(RocePacket) {
        .opcode = ROCE_OP_ATOMIC_ACK, .psn = SQ_PSN + 2,
        .original = 0x0102030405060708,
    }, NULL, 0);
    for (unsigned i = 1; i <= 3; i++) {
        rc_done(&rc, i, PVRDMA_WC_SUCCESS);
    }
    g_assert_cmphex(qtest_readq(rc.t->qts, rc.mr.pa), ==, 0x0102030405060708);
    rc_stop(&rc);
}

/* --- A7, A8: gaps and duplicates ------------------------------------------------- */

static void test_gap_received(void)
{
    Rc rc;

    start(&rc);
    /* the first of three packets is lost */
    peer_writes(&rc, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 0x22, MTU, 0);
    rc_naked(&rc, RQ_PSN, ROCE_NAK_PSN_SEQUENCE);
    peer_writes(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0x33, MTU, 0);
    pvrdma_assert_quiet(rc.t);
    pvrdma_assert_mem(rc.t, rc.mr.pa, rc.data, BYTES);
    peer_writes(&rc, ROCE_OP_WRITE_FIRST, RQ_PSN, 0x11, MTU, 3 * MTU);
    peer_writes(&rc, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 0x22, MTU, 0);
    peer_writes(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0x33, MTU, 0);
    rc_acked(&rc, RQ_PSN + 2);
    for (unsigned i = 0; i < 3; i++) {
        rc_assert_filled(&rc, i * MTU, 0x11 * (i + 1), MTU);
    }
    rc_stop(&rc);
}

static void test_gap_sent(void)
{
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_RDMA_WRITE, 0, 3 * MTU);
    rc_post(&rc, 2, PVRDMA_WR_SEND, 0, 1);
    for (unsigned i = 0; i < 4; i++) {
        g_free(pvrdma_wire_take(rc.t));
    }
    rc_aeth(&rc, SQ_PSN + 1, ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE);
    rc_sent(&rc, ROCE_OP_WRITE_MIDDLE, SQ_PSN + 1, MTU, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_LAST, SQ_PSN + 2, 2 * MTU, MTU);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN + 3, 0, 1);
    rc_ack(&rc, SQ_PSN + 3);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_done(&rc, 2, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(pvrdma_counter(rc.t, "tx-retry"), ==, 3);
    rc_stop(&rc);
}

static void test_duplicate(void)
{
    Rc rc;

    start(&rc);
    peer_writes(&rc, ROCE_OP_WRITE_ONLY, RQ_PSN, 0x55, 100, 100);
    rc_acked(&rc, RQ_PSN);
    rc_assert_filled(&rc, 0, 0x55, 100);
    peer_writes(&rc, ROCE_OP_WRITE_ONLY, RQ_PSN, 0x66, 100, 100);
    rc_acked(&rc, RQ_PSN);
    rc_assert_filled(&rc, 0, 0x55, 100);
    /* the duplicate has not changed the expected PSN */
    peer_writes(&rc, ROCE_OP_WRITE_ONLY, RQ_PSN + 1, 0x77, 100, 100);
    rc_acked(&rc, RQ_PSN + 1);
    rc_assert_filled(&rc, 0, 0x77, 100);
    rc_stop(&rc);
}

/* --- A9: what gets lost ---------------------------------------------------------- */

static void test_lost(void)
{
    Rc rc;

    start(&rc);
    /* an acknowledgement or a NAK is lost */
    rc_post(&rc, 1, PVRDMA_WR_RDMA_WRITE, 0, MTU + 1);
    rc_sent(&rc, ROCE_OP_WRITE_FIRST, SQ_PSN, 0, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_LAST, SQ_PSN + 1, MTU, 1);
    pvrdma_step(rc.t, TIMEOUT_NS - PVRDMA_MS);
    pvrdma_assert_quiet(rc.t);
    pvrdma_step(rc.t, PVRDMA_MS);
    rc_sent(&rc, ROCE_OP_WRITE_FIRST, SQ_PSN, 0, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_LAST, SQ_PSN + 1, MTU, 1);
    rc_ack(&rc, SQ_PSN + 1);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    /* the second of three packets of a response is lost, then the rest */
    rc_post(&rc, 2, PVRDMA_WR_RDMA_READ, 0, 3 * MTU);
    rc_asked(&rc, SQ_PSN + 2, 0, 3 * MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_FIRST, SQ_PSN + 2, 0xa1, MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_LAST, SQ_PSN + 4, 0xa3, MTU);
    rc_asked(&rc, SQ_PSN + 3, MTU, 2 * MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_FIRST, SQ_PSN + 3, 0xa2, MTU);
    pvrdma_step(rc.t, TIMEOUT_NS);
    rc_asked(&rc, SQ_PSN + 4, 2 * MTU, MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_ONLY, SQ_PSN + 4, 0xa3, MTU);
    rc_done(&rc, 2, PVRDMA_WC_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        rc_assert_filled(&rc, i * MTU, 0xa1 + i, MTU);
    }
    pvrdma_step(rc.t, 10 * PVRDMA_SECOND);
    g_assert_cmpuint(pvrdma_counter(rc.t, "timeout"), ==, 2);
    rc_stop(&rc);
}

static void test_retry_limit(void)
{
    Rc rc;

    rc_start(&rc, &(RcInit) { BYTES, SQ_PSN, RQ_PSN, 2 });
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, 4);
    rc_post(&rc, 2, PVRDMA_WR_SEND, 0, 4);
    for (unsigned i = 0; i < 3; i++) {
        rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, 4);
        rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN + 1, 0, 4);
        pvrdma_step(rc.t, TIMEOUT_NS << i);
    }
    rc_done(&rc, 1, PVRDMA_WC_RETRY_EXC_ERR);
    rc_done(&rc, 2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpint(pvrdma_qp_state(rc.t, &rc.qp), ==, PVRDMA_QPS_ERR);
    g_assert_cmpuint(pvrdma_counter(rc.t, "retry-exceeded"), ==, 1);
    rc_stop(&rc);
}

/* --- A10: numbers that wrap ------------------------------------------------------ */

static void test_wrap(void)
{
    Rc rc;

    rc_start(&rc, &(RcInit) { BYTES, 0xfffffe, 0xffffff, 0 });
    rc_post(&rc, 1, PVRDMA_WR_RDMA_WRITE, 0, 4 * MTU);
    rc_sent(&rc, ROCE_OP_WRITE_FIRST, 0xfffffe, 0, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_MIDDLE, 0xffffff, MTU, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_MIDDLE, 0, 2 * MTU, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_LAST, 1, 3 * MTU, MTU);
    rc_aeth(&rc, 0, ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE);
    rc_sent(&rc, ROCE_OP_WRITE_MIDDLE, 0, 2 * MTU, MTU);
    rc_sent(&rc, ROCE_OP_WRITE_LAST, 1, 3 * MTU, MTU);
    rc_ack(&rc, 1);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);

    peer_writes(&rc, ROCE_OP_WRITE_FIRST, 0xffffff, 1, MTU, 2 * MTU + 1);
    peer_writes(&rc, ROCE_OP_WRITE_MIDDLE, 0, 2, MTU, 0);
    peer_writes(&rc, ROCE_OP_WRITE_LAST, 1, 3, 1, 0);
    rc_acked(&rc, 1);
    rc_assert_filled(&rc, 0, 1, MTU);
    rc_assert_filled(&rc, MTU, 2, MTU);
    rc_assert_filled(&rc, 2 * MTU, 3, 1);
    rc_stop(&rc);
}

/* --- A15, A16, A18 --------------------------------------------------------------- */

/*
 * The device asks for no addresses on the wire, because the guest has them before it
 * connects a QP.  A frame is sent at once, to a MAC address never seen before, and is
 * sent again if it is lost.
 */
static void test_no_arp(void)
{
    static const uint8_t nobody[6] = { 0x52, 0x54, 0, 0x77, 0x66, 0x55 };
    PvrdmaTestQpAttr attr = {
        .mtu = PVRDMA_MTU_1024, .sq_psn = SQ_PSN, .rq_psn = RQ_PSN,
        .dest_qpn = RC_PEER_QPN, .dmac = nobody,
    };
    Rc rc;

    start(&rc);
    pvrdma_qp_to(rc.t, &rc.qp, PVRDMA_QPS_RESET);
    pvrdma_qp_connect(rc.t, &rc.qp, &attr);
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, 4);
    for (unsigned i = 0; i < 2; i++) {
        g_autofree PvrdmaFrame *f = pvrdma_wire_expect(rc.t, ROCE_OP_SEND_ONLY,
                                                       RC_PEER_QPN, SQ_PSN);

        g_assert_cmpmem(f->path.dmac, 6, nobody, 6);
        if (!i) {
            pvrdma_step(rc.t, TIMEOUT_NS);
        }
    }
    g_assert_cmpuint(rc.t->others, ==, 0);
    rc_ack(&rc, SQ_PSN);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_stop(&rc);
}

/* Packets of the response to a READ and of a WRITE of the peer arrive alternately. */
static void test_interleaved(void)
{
    Rc rc;
    PvrdmaTestSge sge;
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_READ,
                                                  RC_PEER_VA, RC_PEER_RKEY);

    start(&rc);
    sge = PVRDMA_TEST_SGE(&rc.mr, BYTES / 2, 3 * MTU);
    pvrdma_post_send(rc.t, &rc.qp, &hdr, &sge, 1);
    rc_asked(&rc, SQ_PSN, 0, 3 * MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_FIRST, SQ_PSN, 0xb0, MTU);
    peer_writes(&rc, ROCE_OP_WRITE_FIRST, RQ_PSN, 0xc0, MTU, 3 * MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_MIDDLE, SQ_PSN + 1, 0xb1, MTU);
    peer_writes(&rc, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 0xc1, MTU, 0);
    rc_response(&rc, ROCE_OP_READ_RESP_LAST, SQ_PSN + 2, 0xb2, MTU);
    peer_writes(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0xc2, MTU, 0);
    rc_acked(&rc, RQ_PSN + 2);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        rc_assert_filled(&rc, i * MTU, 0xc0 + i, MTU);
        rc_assert_filled(&rc, BYTES / 2 + i * MTU, 0xb0 + i, MTU);
    }
    rc_stop(&rc);
}

/* Packets to QPNs that differ from the QP's above bit 15 only are dropped. */
static void test_alias(void)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_WRITE_ONLY, .psn = RQ_PSN, .dma_len = 4,
        .ack_req = true,
    };
    PvrdmaTestQpInit init = { 0 };
    PvrdmaTestQp other;
    Rc rc;

    start(&rc);
    pkt.va = rc.mr.va;
    pkt.rkey = rc.mr.rkey;
    for (unsigned bit = 16; bit < 24; bit++) {
        pkt.qpn = rc.qp.qpn ^ 1u << bit;
        rc_send(&rc, &pkt, "evil", 4);
    }
    pvrdma_assert_quiet(rc.t);
    g_assert_cmpuint(pvrdma_counter(rc.t, "rx-no-qp"), ==, 8);
    pvrdma_assert_mem(rc.t, rc.mr.pa, rc.data, BYTES);
    /* a QP does not get packets to the destroyed QP whose handle it may have */
    init.pd = rc.pd;
    init.send_cq = &rc.cq;
    pkt.qpn = rc.qp.qpn;
    pvrdma_qp_destroy(rc.t, &rc.qp);
    other = pvrdma_qp_create(rc.t, &init);
    g_assert_cmphex(other.qpn, !=, pkt.qpn);
    pvrdma_qp_connect(rc.t, &other, &(PvrdmaTestQpAttr) {
        .rq_psn = RQ_PSN, .dest_qpn = RC_PEER_QPN,
    });
    rc_send(&rc, &pkt, "evil", 4);
    pvrdma_assert_quiet(rc.t);
    pvrdma_assert_mem(rc.t, rc.mr.pa, rc.data, BYTES);
    rc_stop(&rc);
}

/*
 * Checks that @answer of the peer to the second WQE ends the QP: the first WQE
 * succeeds, the second has @status, and those behind it are flushed.
 */
static void check_refused(const RocePacket *answer, uint32_t len,
                          enum pvrdma_wc_status status)
{
    static const uint8_t zeroes[MTU];
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, 4);
    rc_post(&rc, 2, PVRDMA_WR_RDMA_READ, 0, MTU);
    rc_post(&rc, 3, PVRDMA_WR_RDMA_WRITE, 0, 4);
    for (unsigned i = 0; i < 3; i++) {
        g_free(pvrdma_wire_take(rc.t));
    }
    rc_send(&rc, answer, zeroes, len);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_done(&rc, 2, status);
    rc_done(&rc, 3, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpint(pvrdma_qp_state(rc.t, &rc.qp), ==, PVRDMA_QPS_ERR);
    rc_post(&rc, 4, PVRDMA_WR_SEND, 0, 4);
    rc_done(&rc, 4, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_assert_mem(rc.t, rc.mr.pa, rc.data, BYTES);
    rc_stop(&rc);
}

static void test_refused(void)
{
    RocePacket pkt = { .opcode = ROCE_OP_ACK, .psn = SQ_PSN + 1 };

    pkt.syndrome = ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_REMOTE_ACCESS);
    check_refused(&pkt, 0, PVRDMA_WC_REM_ACCESS_ERR);
    pkt.syndrome = ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_INVALID_REQUEST);
    check_refused(&pkt, 0, PVRDMA_WC_REM_INV_REQ_ERR);
    pkt.syndrome = ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_REMOTE_OPERATION);
    check_refused(&pkt, 0, PVRDMA_WC_REM_OP_ERR);
    pkt = (RocePacket) { .opcode = ROCE_OP_READ_RESP_ONLY, .psn = SQ_PSN + 1 };
    check_refused(&pkt, MTU - 4, PVRDMA_WC_BAD_RESP_ERR);
    pkt.opcode = ROCE_OP_READ_RESP_FIRST;
    check_refused(&pkt, MTU, PVRDMA_WC_BAD_RESP_ERR);
    pkt.opcode = ROCE_OP_ATOMIC_ACK;
    check_refused(&pkt, 0, PVRDMA_WC_BAD_RESP_ERR);
}

/*
 * After an RNR NAK the device waits for the pause and sends again; rnr_retry 7 sets no
 * limit.
 */
static void test_not_ready(void)
{
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, 4);
    for (unsigned i = 0; i < 20; i++) {
        rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, 4);
        rc_aeth(&rc, SQ_PSN, ROCE_AETH_RNR_NAK, 20);
        pvrdma_wait(rc.t, pvrdma_counter(rc.t, "rx-rnr") == i + 1);
        pvrdma_step(rc.t, roce_rnr_ns(20) - 1);
        pvrdma_assert_quiet(rc.t);
        pvrdma_step(rc.t, 1);
    }
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, 4);
    rc_ack(&rc, SQ_PSN);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_stop(&rc);
}

/* Answers to no request are counted and dropped. */
static void test_stale(void)
{
    Rc rc;

    start(&rc);
    rc_ack(&rc, SQ_PSN);
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, 4);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, 4);
    rc_ack(&rc, SQ_PSN + 1);
    rc_ack(&rc, SQ_PSN - 1);
    rc_aeth(&rc, SQ_PSN + 1, ROCE_AETH_NAK, ROCE_NAK_REMOTE_ACCESS);
    rc_response(&rc, ROCE_OP_READ_RESP_ONLY, SQ_PSN + 1, 0, MTU);
    pvrdma_wait(rc.t, pvrdma_counter(rc.t, "rx-stale") == 5);
    pvrdma_cq_assert_empty(rc.t, &rc.cq);
    rc_ack(&rc, SQ_PSN);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_stop(&rc);
}

/* query_qp returns the PSNs that the connection has reached. */
static void test_query(void)
{
    struct pvrdma_qp_attr a;
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_RDMA_READ, 0, 3 * MTU);
    rc_asked(&rc, SQ_PSN, 0, 3 * MTU);
    a = pvrdma_qp_query(rc.t, &rc.qp);
    g_assert_cmphex(le32_to_cpu(a.sq_psn), ==, SQ_PSN + 3);
    g_assert_cmphex(le32_to_cpu(a.rq_psn), ==, RQ_PSN);
    g_assert_cmpuint(le32_to_cpu(a.cur_qp_state), ==, PVRDMA_QPS_RTS);
    peer_writes(&rc, ROCE_OP_WRITE_ONLY, RQ_PSN, 0x11, 4, 4);
    rc_acked(&rc, RQ_PSN);
    a = pvrdma_qp_query(rc.t, &rc.qp);
    g_assert_cmphex(le32_to_cpu(a.rq_psn), ==, RQ_PSN + 1);
    pvrdma_qp_to(rc.t, &rc.qp, PVRDMA_QPS_RESET);
    rc_stop(&rc);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/transport/opcodes-a05", test_opcodes);
    qtest_add_func("/pvrdma/transport/headers-a05", test_headers);
    qtest_add_func("/pvrdma/transport/gap-received-a07", test_gap_received);
    qtest_add_func("/pvrdma/transport/gap-sent-a07", test_gap_sent);
    qtest_add_func("/pvrdma/transport/duplicate-a08", test_duplicate);
    qtest_add_func("/pvrdma/transport/lost-a09", test_lost);
    qtest_add_func("/pvrdma/transport/retry-limit-a09", test_retry_limit);
    qtest_add_func("/pvrdma/transport/wrap-a10", test_wrap);
    qtest_add_func("/pvrdma/transport/no-arp-a13", test_no_arp);
    qtest_add_func("/pvrdma/transport/interleaved-a15", test_interleaved);
    qtest_add_func("/pvrdma/transport/alias-a16", test_alias);
    qtest_add_func("/pvrdma/transport/refused-a18", test_refused);
    qtest_add_func("/pvrdma/transport/not-ready-a18", test_not_ready);
    qtest_add_func("/pvrdma/transport/stale-a18", test_stale);
    qtest_add_func("/pvrdma/transport/query", test_query);
    return g_test_run();
}
