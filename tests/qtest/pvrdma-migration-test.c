/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine is moved while pvrdma's connections are busy: each transfer goes on, by the
 * recovery that the transport has anyway, and happens once.  The test is the peer.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "pvrdma-migrate.h"

#define MTU             1024
#define BYTES           (1024 * 1024)
#define SQ_PSN          0xfffffe            /* it wraps soon */
#define RQ_PSN          0x2000
#define PEER_QPN        0xabcdef
#define PEER_VA         0x123456789000ULL
#define PEER_RKEY       0x13572468
#define SEED            7
#define PATIENCE_NS     (60 * PVRDMA_SECOND)    /* longer than a QP's */

typedef struct Link {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    RocePath path;                  /* of what the peer sends */
    uint8_t *data;                  /* what is in the region at the start */
} Link;

static void link_start(Link *l)
{
    PvrdmaTestQpAttr attr = {
        .sq_psn = SQ_PSN, .rq_psn = RQ_PSN, .dest_qpn = PEER_QPN,
    };

    l->t = pvrdma_start("");
    l->pd = pvrdma_pd_create(l->t, 0);
    l->cq = pvrdma_cq_create(l->t, 0, 0, 64);
    l->qp = pvrdma_qp_create(l->t, &(PvrdmaTestQpInit) {
        .pd = l->pd, .send_cq = &l->cq,
    });
    l->mr = pvrdma_mr_create(l->t, l->pd, 0x40000100, BYTES,
                             PVRDMA_TEST_ACCESS_ALL);
    l->data = g_malloc(BYTES);
    pvrdma_fill(l->t, l->mr.pa, l->data, BYTES, SEED);
    pvrdma_qp_connect(l->t, &l->qp, &attr);
    l->path = pvrdma_path(false, false);
}

static void link_stop(Link *l)
{
    pvrdma_cq_assert_empty(l->t, &l->cq);
    g_free(l->data);
    pvrdma_stop(l->t);
}

static void link_post(Link *l, uint64_t wr_id, enum pvrdma_wr_opcode opcode,
                      uint32_t offset, uint32_t len)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(wr_id, opcode, PEER_VA,
                                                  PEER_RKEY);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&l->mr, offset, len);

    pvrdma_post_send(l->t, &l->qp, &hdr, &sge, 1);
}

/* The peer sends @pkt, whose PSN may have grown too large. */
static void link_send(Link *l, const RocePacket *pkt, const void *payload,
                      size_t len)
{
    RocePacket p = *pkt;

    p.pkey = ROCE_PKEY_DEFAULT;
    p.qpn = l->qp.qpn;
    p.psn &= ROCE_PSN_MASK;
    pvrdma_wire_send(l->t, &l->path, &p, payload, len);
}

static void link_aeth(Link *l, uint32_t psn, enum roce_aeth_kind kind,
                      unsigned value)
{
    link_send(l, &(RocePacket) {
        .opcode = ROCE_OP_ACK, .psn = psn,
        .syndrome = ROCE_AETH_SYN(kind, value),
    }, NULL, 0);
}

static void link_ack(Link *l, uint32_t psn)
{
    link_aeth(l, psn, ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS);
}

/* The device sends @len bytes from @offset on. */
static void link_sent(Link *l, uint8_t opcode, uint32_t psn, uint32_t offset,
                      uint32_t len)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(l->t, opcode, PEER_QPN,
                                                   psn & ROCE_PSN_MASK);

    g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len, l->data + offset, len);
}

/* Packets @first up to @end of a WRITE of @count. */
static void link_sent_write(Link *l, uint32_t psn, unsigned first, unsigned end,
                            unsigned count)
{
    for (unsigned i = first; i < end; i++) {
        uint8_t opcode = i == 0 ? ROCE_OP_WRITE_FIRST :
                         i == count - 1 ? ROCE_OP_WRITE_LAST :
                         ROCE_OP_WRITE_MIDDLE;

        link_sent(l, opcode, psn + i, i * MTU, MTU);
    }
}

static void link_asked(Link *l, uint32_t psn, uint32_t offset, uint32_t len)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(l->t, ROCE_OP_READ_REQUEST,
                                                   PEER_QPN, psn & ROCE_PSN_MASK);

    g_assert_cmphex(f->pkt.va, ==, PEER_VA + offset);
    g_assert_cmphex(f->pkt.rkey, ==, PEER_RKEY);
    g_assert_cmpuint(f->pkt.dma_len, ==, len);
}

static void link_done(Link *l, uint64_t wr_id)
{
    pvrdma_cq_expect(l->t, &l->cq, wr_id, PVRDMA_WC_SUCCESS);
}

/* Nothing is on the wire when that is cut. */
static void link_move(Link *l)
{
    pvrdma_assert_quiet(l->t);
    l->t = pvrdma_migrate(l->t);
}

static void link_response(Link *l, uint8_t opcode, uint32_t psn, uint8_t byte)
{
    uint8_t payload[MTU];

    memset(payload, byte, sizeof(payload));
    link_send(l, &(RocePacket) { .opcode = opcode, .psn = psn }, payload, MTU);
}

static void assert_filled(Link *l, uint32_t offset, uint8_t byte, uint32_t len)
{
    g_autofree uint8_t *want = g_malloc(len);

    memset(want, byte, len);
    pvrdma_assert_mem(l->t, l->mr.pa + offset, want, len);
}

/* --- What the device sends ------------------------------------------------ */

/* Half a WRITE is acknowledged, half a READ has come, and more waits behind them. */
static void test_requests(void)
{
    const uint32_t read = SQ_PSN + 8, at = 512 * 1024;
    Link l;

    link_start(&l);
    link_post(&l, 1, PVRDMA_WR_RDMA_WRITE, 0, 8 * MTU);
    link_post(&l, 2, PVRDMA_WR_RDMA_READ, at, 4 * MTU);
    link_post(&l, 3, PVRDMA_WR_SEND, 0, MTU);
    link_sent_write(&l, SQ_PSN, 0, 8, 8);
    link_asked(&l, read, 0, 4 * MTU);
    link_sent(&l, ROCE_OP_SEND_ONLY, read + 4, 0, MTU);
    link_ack(&l, SQ_PSN + 2);
    pvrdma_settle(l.t);

    link_move(&l);
    link_sent_write(&l, SQ_PSN, 3, 8, 8);
    link_asked(&l, read, 0, 4 * MTU);
    link_sent(&l, ROCE_OP_SEND_ONLY, read + 4, 0, MTU);
    link_response(&l, ROCE_OP_READ_RESP_FIRST, read, 0xa1);
    link_response(&l, ROCE_OP_READ_RESP_MIDDLE, read + 1, 0xa2);
    link_done(&l, 1);

    link_move(&l);
    link_asked(&l, read + 2, 2 * MTU, 2 * MTU);
    link_sent(&l, ROCE_OP_SEND_ONLY, read + 4, 0, MTU);
    link_response(&l, ROCE_OP_READ_RESP_FIRST, read + 2, 0xa3);
    link_response(&l, ROCE_OP_READ_RESP_LAST, read + 3, 0xa4);
    link_done(&l, 2);
    link_ack(&l, read + 4);
    link_done(&l, 3);
    for (unsigned i = 0; i < 4; i++) {
        assert_filled(&l, at + i * MTU, 0xa1 + i, MTU);
    }
    link_stop(&l);
}

/* The peer has asked for a pause, which goes on with the clock. */
static void test_not_ready(void)
{
    const unsigned code = 31;               /* 491 ms */
    Link l;

    link_start(&l);
    link_post(&l, 1, PVRDMA_WR_SEND, 0, MTU);
    link_sent(&l, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    pvrdma_step(l.t, PVRDMA_MS);
    link_aeth(&l, SQ_PSN, ROCE_AETH_RNR_NAK, code);
    pvrdma_settle(l.t);
    pvrdma_step(l.t, 100 * PVRDMA_MS);

    link_move(&l);
    pvrdma_step(l.t, 380 * PVRDMA_MS);
    pvrdma_assert_quiet(l.t);
    pvrdma_step(l.t, 12 * PVRDMA_MS);
    link_sent(&l, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    link_ack(&l, SQ_PSN);
    link_done(&l, 1);
    link_stop(&l);
}

/* Retries that were used up stay so; a peer that is silent ends the connection. */
static void test_silent_peer(void)
{
    unsigned sent = 0;
    Link l;

    link_start(&l);
    link_post(&l, 1, PVRDMA_WR_SEND, 0, MTU);
    link_sent(&l, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    for (unsigned i = 0; i < 5; i++) {
        pvrdma_step(l.t, PATIENCE_NS);
        link_sent(&l, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    }
    link_move(&l);
    link_sent(&l, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    while (pvrdma_qp_state(l.t, &l.qp) == PVRDMA_QPS_RTS) {
        pvrdma_step(l.t, PATIENCE_NS);
        while (!g_queue_is_empty(&l.t->frames)) {
            g_free(pvrdma_wire_take(l.t));
            sent++;
        }
    }
    g_assert_cmpuint(sent, ==, 2);          /* of seven */
    pvrdma_cq_expect(l.t, &l.cq, 1, PVRDMA_WC_RETRY_EXC_ERR);
    link_stop(&l);
}

/* --- What the peer sends -------------------------------------------------- */

static void peer_sends(Link *l, uint8_t opcode, uint32_t psn, uint8_t byte)
{
    uint8_t payload[MTU];

    memset(payload, byte, sizeof(payload));
    link_send(l, &(RocePacket) {
        .opcode = opcode, .psn = psn, .ack_req = true,
        .va = l->mr.va + 64 * MTU, .rkey = l->mr.rkey, .dma_len = 3 * MTU,
    }, payload, MTU);
}

static void acked(Link *l, uint32_t psn)
{
    pvrdma_wire_expect_ack(l->t, PEER_QPN, psn,
                           ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS));
}

/* A third of a SEND has come, into a receive WQE that the guest has back. */
static void test_receive(void)
{
    struct pvrdma_cqe cqe;
    Link l;

    link_start(&l);
    for (unsigned i = 0; i < 2; i++) {
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&l.mr, i * 4 * MTU, 4 * MTU);

        pvrdma_post_recv(l.t, &l.qp, 100 + i, &sge, 1);
    }
    pvrdma_cq_arm(l.t, &l.cq, PVRDMA_UAR_CQ_ARM);
    peer_sends(&l, ROCE_OP_SEND_FIRST, RQ_PSN, 1);
    acked(&l, RQ_PSN);

    link_move(&l);
    peer_sends(&l, ROCE_OP_SEND_FIRST, RQ_PSN, 0xee);       /* once more */
    acked(&l, RQ_PSN);
    peer_sends(&l, ROCE_OP_SEND_MIDDLE, RQ_PSN + 1, 2);
    acked(&l, RQ_PSN + 1);
    g_assert_cmpuint(pvrdma_cqne_take(l.t), ==, 0);

    link_move(&l);
    peer_sends(&l, ROCE_OP_SEND_LAST, RQ_PSN + 2, 3);
    acked(&l, RQ_PSN + 2);
    cqe = pvrdma_cq_expect(l.t, &l.cq, 100, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, 3 * MTU);
    g_assert_cmpuint(pvrdma_cqne_take(l.t), ==, l.cq.handle);
    g_assert_cmpuint(pvrdma_cqne_take(l.t), ==, 0);
    g_assert_true(pvrdma_msix_taken(l.t, PVRDMA_INTR_VECTOR_CQ));
    for (unsigned i = 0; i < 3; i++) {
        assert_filled(&l, i * MTU, i + 1, MTU);
    }
    peer_sends(&l, ROCE_OP_SEND_ONLY, RQ_PSN + 3, 9);
    acked(&l, RQ_PSN + 3);
    link_done(&l, 101);
    assert_filled(&l, 4 * MTU, 9, MTU);
    link_stop(&l);
}

/* A third of a WRITE has come, and one packet of it was lost. */
static void test_write(void)
{
    Link l;

    link_start(&l);
    peer_sends(&l, ROCE_OP_WRITE_FIRST, RQ_PSN, 4);
    acked(&l, RQ_PSN);
    peer_sends(&l, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0xee);
    pvrdma_wire_expect_ack(l.t, PEER_QPN, RQ_PSN + 1,
                           ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE));
    link_move(&l);
    peer_sends(&l, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0xee);   /* was told already */
    pvrdma_assert_quiet(l.t);
    peer_sends(&l, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 5);
    acked(&l, RQ_PSN + 1);
    peer_sends(&l, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 6);
    acked(&l, RQ_PSN + 2);
    for (unsigned i = 0; i < 3; i++) {
        assert_filled(&l, (64 + i) * MTU, 4 + i, MTU);
    }
    link_stop(&l);
}

static void peer_adds(Link *l, uint32_t psn)
{
    link_send(l, &(RocePacket) {
        .opcode = ROCE_OP_FETCH_ADD, .psn = psn, .va = l->mr.va + 0xf00,
        .rkey = l->mr.rkey, .swap_add = 5,
    }, NULL, 0);
}

static void added(Link *l, uint32_t psn, uint64_t original)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(l->t, ROCE_OP_ATOMIC_ACK,
                                                   PEER_QPN, psn);

    g_assert_cmphex(f->pkt.original, ==, original);
}

/* An atomic that was executed is answered again, not executed again. */
static void test_atomic(void)
{
    const uint64_t first = 0x1122334455667788;
    uint64_t at;
    Link l;

    link_start(&l);
    at = l.mr.pa + 0xf00;
    qtest_writeq(l.t->qts, at, first);
    for (unsigned i = 0; i < 3; i++) {
        peer_adds(&l, RQ_PSN + i);
        added(&l, RQ_PSN + i, first + 5 * i);
    }
    link_move(&l);
    for (unsigned i = 0; i < 3; i++) {
        peer_adds(&l, RQ_PSN + i);
        added(&l, RQ_PSN + i, first + 5 * i);
    }
    g_assert_cmphex(qtest_readq(l.t->qts, at), ==, first + 15);
    peer_adds(&l, RQ_PSN + 3);
    added(&l, RQ_PSN + 3, first + 15);
    g_assert_cmphex(qtest_readq(l.t->qts, at), ==, first + 20);
    link_stop(&l);
}

static void peer_reads(Link *l, uint32_t first, uint32_t count)
{
    link_send(l, &(RocePacket) {
        .opcode = ROCE_OP_READ_REQUEST, .psn = RQ_PSN + first,
        .va = l->mr.va + first * MTU, .rkey = l->mr.rkey, .dma_len = count * MTU,
    }, NULL, 0);
}

/* Takes what came of the answer to a READ; @next is the packet that the peer expects. */
static void take_answer(Link *l, uint32_t *next)
{
    while (!g_queue_is_empty(&l->t->frames)) {
        g_autofree PvrdmaFrame *f = pvrdma_wire_take(l->t);

        g_assert_true(roce_opcode_info(f->pkt.opcode)->flags & ROCE_IS_READ);
        if (f->pkt.psn == RQ_PSN + *next) {
            g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len,
                            l->data + *next * MTU, MTU);
            (*next)++;
        }
    }
}

/* The answer to a READ is stuck on the wire; much of it gets lost. */
static void test_read(void)
{
    const uint32_t packets = BYTES / MTU;
    uint32_t next = 0, before, sent;
    Link l;

    link_start(&l);
    peer_reads(&l, 0, packets);
    do {
        sent = pvrdma_counter(l.t, "tx-read-resp");
        for (unsigned i = 0; i < 20; i++) {
            pvrdma_get(l.t, PVRDMA_REG_VERSION);
        }
    } while (!sent || sent != pvrdma_counter(l.t, "tx-read-resp"));
    g_assert_cmpuint(sent, <, packets);
    l.t = pvrdma_migrate(l.t);
    /* what was on the old wire is gone; here the answer goes on */
    pvrdma_wait(l.t, pvrdma_counter(l.t, "tx-read-resp") == packets);
    pvrdma_settle(l.t);
    g_assert_cmpuint(g_queue_get_length(&l.t->frames), ==, packets - sent);
    take_answer(&l, &next);
    while (next < packets) {
        before = next;
        peer_reads(&l, next, packets - next);
        pvrdma_wait(l.t, g_queue_get_length(&l.t->frames) == packets - next);
        take_answer(&l, &next);
        g_assert_cmpuint(next, >, before);
    }
    link_stop(&l);
}

/* --- A machine that goes on here ------------------------------------------ */

static void stop_and_go(PvrdmaTest *t)
{
    g_autofree char *path = pvrdma_save(t);

    unlink(path);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
}

/* Saving disturbs nothing: no packet is sent again. */
static void test_saved_only(void)
{
    Link l;

    link_start(&l);
    link_post(&l, 1, PVRDMA_WR_RDMA_WRITE, 0, 8 * MTU);
    link_sent_write(&l, SQ_PSN, 0, 8, 8);
    link_ack(&l, SQ_PSN + 2);
    for (unsigned i = 0; i < 6; i++) {
        peer_adds(&l, RQ_PSN + i);          /* more than are remembered */
        g_free(pvrdma_wire_take(l.t));
    }
    stop_and_go(l.t);
    pvrdma_assert_quiet(l.t);
    peer_adds(&l, RQ_PSN + 5);
    g_free(pvrdma_wire_expect(l.t, ROCE_OP_ATOMIC_ACK, PEER_QPN, RQ_PSN + 5));
    link_ack(&l, SQ_PSN + 7);
    link_done(&l, 1);
    link_stop(&l);
}

/* A machine goes back to a snapshot, twice, and its peer sees it send again. */
static void test_snapshot(void)
{
    g_autofree char *path = NULL;
    Link l;
    int fd;

    fd = g_file_open_tmp("pvrdma-disk-XXXXXX", &path, NULL);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    link_start(&l);
    pvrdma_snapshot_disk(l.t, path);
    link_post(&l, 1, PVRDMA_WR_RDMA_WRITE, 0, 8 * MTU);
    link_sent_write(&l, SQ_PSN, 0, 8, 8);
    link_ack(&l, SQ_PSN + 2);
    peer_sends(&l, ROCE_OP_WRITE_FIRST, RQ_PSN, 4);
    acked(&l, RQ_PSN);
    pvrdma_snapshot(l.t, "snapshot-save");
    for (unsigned i = 0; i < 3; i++) {
        pvrdma_assert_quiet(l.t);
        peer_sends(&l, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 5);
        acked(&l, RQ_PSN + 1);
        link_ack(&l, SQ_PSN + 7);
        link_done(&l, 1);
        assert_filled(&l, 65 * MTU, 5, MTU);
        pvrdma_snapshot(l.t, "snapshot-load");
        link_sent_write(&l, SQ_PSN, 3, 8, 8);
        pvrdma_assert_mem(l.t, l.mr.pa + 65 * MTU, l.data + 65 * MTU, MTU);
    }
    link_ack(&l, SQ_PSN + 7);
    link_done(&l, 1);
    link_stop(&l);
    unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/migration/requests", test_requests);
    qtest_add_func("/pvrdma/migration/not-ready", test_not_ready);
    qtest_add_func("/pvrdma/migration/silent-peer", test_silent_peer);
    qtest_add_func("/pvrdma/migration/receive", test_receive);
    qtest_add_func("/pvrdma/migration/write", test_write);
    qtest_add_func("/pvrdma/migration/atomic", test_atomic);
    qtest_add_func("/pvrdma/migration/read", test_read);
    qtest_add_func("/pvrdma/migration/saved-only", test_saved_only);
    qtest_add_func("/pvrdma/migration/snapshot", test_snapshot);
    return g_test_run();
}
