/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine is moved while pvrdma's connections are busy: each transfer continues by
 * the retransmission of RC, and takes effect once.  The test is the peer.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "migrate.h"
#include "rc.h"

#define MTU             RC_MTU
#define BYTES           (1024 * 1024)
#define SQ_PSN          0xfffffe            /* wraps after two packets */
#define RQ_PSN          0x2000
#define TIMEOUT_NS      (60 * PVRDMA_SECOND)    /* longer than the timeout of a QP */

static void start(Rc *rc)
{
    rc_start(rc, &(RcInit) { BYTES, SQ_PSN, RQ_PSN });
}

/*
 * Asserts that no frame is on the wire, which the move would lose, and moves the
 * machine.
 */
static void move(Rc *rc)
{
    pvrdma_assert_quiet(rc->t);
    rc->t = pvrdma_migrate(rc->t);
}

/* --- What the device sends ------------------------------------------------ */

/*
 * Half of a WRITE is acknowledged, half of the response to a READ has arrived, and more
 * WQEs wait behind them.
 */
static void test_requests(void)
{
    const uint32_t read = SQ_PSN + 8, at = 512 * 1024;
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_RDMA_WRITE, 0, 8 * MTU);
    rc_post(&rc, 2, PVRDMA_WR_RDMA_READ, at, 4 * MTU);
    rc_post(&rc, 3, PVRDMA_WR_SEND, 0, MTU);
    rc_sent_write(&rc, SQ_PSN, 0, 8, 8);
    rc_asked(&rc, read, 0, 4 * MTU);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, read + 4, 0, MTU);
    rc_ack(&rc, SQ_PSN + 2);
    pvrdma_settle(rc.t);

    move(&rc);
    rc_sent_write(&rc, SQ_PSN, 3, 8, 8);
    rc_asked(&rc, read, 0, 4 * MTU);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, read + 4, 0, MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_FIRST, read, 0xa1, MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_MIDDLE, read + 1, 0xa2, MTU);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);

    move(&rc);
    rc_asked(&rc, read + 2, 2 * MTU, 2 * MTU);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, read + 4, 0, MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_FIRST, read + 2, 0xa3, MTU);
    rc_response(&rc, ROCE_OP_READ_RESP_LAST, read + 3, 0xa4, MTU);
    rc_done(&rc, 2, PVRDMA_WC_SUCCESS);
    rc_ack(&rc, read + 4);
    rc_done(&rc, 3, PVRDMA_WC_SUCCESS);
    for (unsigned i = 0; i < 4; i++) {
        rc_assert_filled(&rc, at + i * MTU, 0xa1 + i, MTU);
    }
    rc_stop(&rc);
}

/* The peer has sent an RNR NAK: the pause continues with virtual time after the move. */
static void test_not_ready(void)
{
    const unsigned code = 31;               /* code of a pause of 491 ms */
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, MTU);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    pvrdma_step(rc.t, PVRDMA_MS);
    rc_aeth(&rc, SQ_PSN, ROCE_AETH_RNR_NAK, code);
    pvrdma_settle(rc.t);
    pvrdma_step(rc.t, 100 * PVRDMA_MS);

    move(&rc);
    pvrdma_step(rc.t, 380 * PVRDMA_MS);
    pvrdma_assert_quiet(rc.t);
    pvrdma_step(rc.t, 12 * PVRDMA_MS);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    rc_ack(&rc, SQ_PSN);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_stop(&rc);
}

/* A move does not reset the number of retries; a silent peer ends the connection. */
static void test_silent_peer(void)
{
    unsigned sent = 0;
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_SEND, 0, MTU);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    for (unsigned i = 0; i < 5; i++) {
        pvrdma_step(rc.t, TIMEOUT_NS);
        rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    }
    move(&rc);
    rc_sent(&rc, ROCE_OP_SEND_ONLY, SQ_PSN, 0, MTU);
    while (pvrdma_qp_state(rc.t, &rc.qp) == PVRDMA_QPS_RTS) {
        pvrdma_step(rc.t, TIMEOUT_NS);
        while (!g_queue_is_empty(&rc.t->frames)) {
            g_free(pvrdma_wire_take(rc.t));
            sent++;
        }
    }
    /* rest of seven retries after the five before the move */
    g_assert_cmpuint(sent, ==, 2);
    pvrdma_cq_expect(rc.t, &rc.cq, 1, PVRDMA_WC_RETRY_EXC_ERR);
    rc_stop(&rc);
}

/* --- What the peer sends -------------------------------------------------- */

/*
 * The first of three packets of a SEND has arrived, and the device has taken its
 * receive WQE.
 */
static void test_receive(void)
{
    struct pvrdma_cqe cqe;
    Rc rc;

    start(&rc);
    for (unsigned i = 0; i < 2; i++) {
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&rc.mr, i * 4 * MTU, 4 * MTU);

        pvrdma_post_recv(rc.t, &rc.qp, 100 + i, &sge, 1);
    }
    pvrdma_cq_arm(rc.t, &rc.cq, PVRDMA_UAR_CQ_ARM);
    rc_send_part(&rc, ROCE_OP_SEND_FIRST, RQ_PSN, 1);
    rc_acked(&rc, RQ_PSN);

    move(&rc);
    rc_send_part(&rc, ROCE_OP_SEND_FIRST, RQ_PSN, 0xee);       /* a duplicate */
    rc_acked(&rc, RQ_PSN);
    rc_send_part(&rc, ROCE_OP_SEND_MIDDLE, RQ_PSN + 1, 2);
    rc_acked(&rc, RQ_PSN + 1);
    g_assert_cmpuint(pvrdma_cqne_take(rc.t), ==, 0);

    move(&rc);
    rc_send_part(&rc, ROCE_OP_SEND_LAST, RQ_PSN + 2, 3);
    rc_acked(&rc, RQ_PSN + 2);
    cqe = pvrdma_cq_expect(rc.t, &rc.cq, 100, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, 3 * MTU);
    g_assert_cmpuint(pvrdma_cqne_take(rc.t), ==, rc.cq.handle);
    g_assert_cmpuint(pvrdma_cqne_take(rc.t), ==, 0);
    g_assert_true(pvrdma_msix_taken(rc.t, PVRDMA_INTR_VECTOR_CQ));
    for (unsigned i = 0; i < 3; i++) {
        rc_assert_filled(&rc, i * MTU, i + 1, MTU);
    }
    rc_send_part(&rc, ROCE_OP_SEND_ONLY, RQ_PSN + 3, 9);
    rc_acked(&rc, RQ_PSN + 3);
    rc_done(&rc, 101, PVRDMA_WC_SUCCESS);
    rc_assert_filled(&rc, 4 * MTU, 9, MTU);
    rc_stop(&rc);
}

/* The first of three packets of a WRITE has arrived, and the second was lost. */
static void test_write(void)
{
    Rc rc;

    start(&rc);
    rc_send_part(&rc, ROCE_OP_WRITE_FIRST, RQ_PSN, 4);
    rc_acked(&rc, RQ_PSN);
    rc_send_part(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0xee);
    rc_naked(&rc, RQ_PSN + 1, ROCE_NAK_PSN_SEQUENCE);
    move(&rc);
    rc_send_part(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0xee);   /* no second NAK */
    pvrdma_assert_quiet(rc.t);
    rc_send_part(&rc, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 5);
    rc_acked(&rc, RQ_PSN + 1);
    rc_send_part(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 6);
    rc_acked(&rc, RQ_PSN + 2);
    for (unsigned i = 0; i < 3; i++) {
        rc_assert_filled(&rc, (64 + i) * MTU, 4 + i, MTU);
    }
    rc_stop(&rc);
}

static void peer_adds(Rc *rc, uint32_t psn)
{
    rc_send(rc, &(RocePacket) {
        .opcode = ROCE_OP_FETCH_ADD, .psn = psn, .va = rc->mr.va + 0xf00,
        .rkey = rc->mr.rkey, .swap_add = 5,
    }, NULL, 0);
}

static void added(Rc *rc, uint32_t psn, uint64_t original)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(rc->t, ROCE_OP_ATOMIC_ACK,
                                                   RC_PEER_QPN, psn);

    g_assert_cmphex(f->pkt.original, ==, original);
}

/* A repeated atomic gets its first answer again, and is not executed again. */
static void test_atomic(void)
{
    const uint64_t first = 0x1122334455667788;
    uint64_t at;
    Rc rc;

    start(&rc);
    at = rc.mr.pa + 0xf00;
    qtest_writeq(rc.t->qts, at, first);
    for (unsigned i = 0; i < 3; i++) {
        peer_adds(&rc, RQ_PSN + i);
        added(&rc, RQ_PSN + i, first + 5 * i);
    }
    move(&rc);
    for (unsigned i = 0; i < 3; i++) {
        peer_adds(&rc, RQ_PSN + i);
        added(&rc, RQ_PSN + i, first + 5 * i);
    }
    g_assert_cmphex(qtest_readq(rc.t->qts, at), ==, first + 15);
    peer_adds(&rc, RQ_PSN + 3);
    added(&rc, RQ_PSN + 3, first + 15);
    g_assert_cmphex(qtest_readq(rc.t->qts, at), ==, first + 20);
    rc_stop(&rc);
}

static void peer_reads(Rc *rc, uint32_t first, uint32_t count)
{
    rc_send(rc, &(RocePacket) {
        .opcode = ROCE_OP_READ_REQUEST, .psn = RQ_PSN + first,
        .va = rc->mr.va + first * MTU, .rkey = rc->mr.rkey, .dma_len = count * MTU,
    }, NULL, 0);
}

/*
 * Takes the packets of the response to a READ that have arrived; @next is the number of
 * the packet that the peer expects, and moves on with each expected one.
 */
static void take_answer(Rc *rc, uint32_t *next)
{
    while (!g_queue_is_empty(&rc->t->frames)) {
        g_autofree PvrdmaFrame *f = pvrdma_wire_take(rc->t);

        g_assert_true(roce_opcode_info(f->pkt.opcode)->flags & ROCE_IS_READ);
        if (f->pkt.psn == RQ_PSN + *next) {
            g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len,
                            rc->data + *next * MTU, MTU);
            (*next)++;
        }
    }
}

/*
 * The response to a READ waits for the wire when the machine is moved; its packets on
 * the old wire are lost.
 */
static void test_read(void)
{
    const uint32_t packets = BYTES / MTU;
    uint32_t next = 0, before, sent;
    Rc rc;

    start(&rc);
    peer_reads(&rc, 0, packets);
    do {
        sent = pvrdma_counter(rc.t, "tx-read-resp");
        for (unsigned i = 0; i < 20; i++) {
            pvrdma_get(rc.t, PVRDMA_REG_VERSION);
        }
    } while (!sent || sent != pvrdma_counter(rc.t, "tx-read-resp"));
    g_assert_cmpuint(sent, <, packets);
    rc.t = pvrdma_migrate(rc.t);
    /* the packets on the old wire are lost; the response continues on the new one */
    pvrdma_wait(rc.t, pvrdma_counter(rc.t, "tx-read-resp") == packets);
    pvrdma_settle(rc.t);
    g_assert_cmpuint(g_queue_get_length(&rc.t->frames), ==, packets - sent);
    take_answer(&rc, &next);
    while (next < packets) {
        before = next;
        peer_reads(&rc, next, packets - next);
        pvrdma_wait(rc.t, g_queue_get_length(&rc.t->frames) == packets - next);
        take_answer(&rc, &next);
        g_assert_cmpuint(next, >, before);
    }
    rc_stop(&rc);
}

/* --- A machine that goes on here ------------------------------------------ */

static void stop_and_go(PvrdmaTest *t)
{
    g_autofree char *path = migrate_save(t->qts);

    unlink(path);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
}

/* Saving a machine that continues has no effect: no packet is sent again. */
static void test_saved_only(void)
{
    Rc rc;

    start(&rc);
    rc_post(&rc, 1, PVRDMA_WR_RDMA_WRITE, 0, 8 * MTU);
    rc_sent_write(&rc, SQ_PSN, 0, 8, 8);
    rc_ack(&rc, SQ_PSN + 2);
    for (unsigned i = 0; i < 6; i++) {
        /* more atomics than the device remembers answers of */
        peer_adds(&rc, RQ_PSN + i);
        g_free(pvrdma_wire_take(rc.t));
    }
    stop_and_go(rc.t);
    pvrdma_assert_quiet(rc.t);
    peer_adds(&rc, RQ_PSN + 5);
    g_free(pvrdma_wire_expect(rc.t, ROCE_OP_ATOMIC_ACK, RC_PEER_QPN, RQ_PSN + 5));
    rc_ack(&rc, SQ_PSN + 7);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_stop(&rc);
}

/* A machine goes back to a snapshot three times, and its peer gets packets again. */
static void test_snapshot(void)
{
    g_autofree char *path = NULL;
    Rc rc;
    int fd;

    fd = g_file_open_tmp("pvrdma-disk-XXXXXX", &path, NULL);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    start(&rc);
    migrate_disk_add(rc.t->qts, path);
    rc_post(&rc, 1, PVRDMA_WR_RDMA_WRITE, 0, 8 * MTU);
    rc_sent_write(&rc, SQ_PSN, 0, 8, 8);
    rc_ack(&rc, SQ_PSN + 2);
    rc_send_part(&rc, ROCE_OP_WRITE_FIRST, RQ_PSN, 4);
    rc_acked(&rc, RQ_PSN);
    migrate_snapshot(rc.t->qts, "snapshot-save");
    for (unsigned i = 0; i < 3; i++) {
        pvrdma_assert_quiet(rc.t);
        rc_send_part(&rc, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 5);
        rc_acked(&rc, RQ_PSN + 1);
        rc_ack(&rc, SQ_PSN + 7);
        rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
        rc_assert_filled(&rc, 65 * MTU, 5, MTU);
        migrate_snapshot(rc.t->qts, "snapshot-load");
        rc_sent_write(&rc, SQ_PSN, 3, 8, 8);
        pvrdma_assert_mem(rc.t, rc.mr.pa + 65 * MTU, rc.data + 65 * MTU, MTU);
    }
    rc_ack(&rc, SQ_PSN + 7);
    rc_done(&rc, 1, PVRDMA_WC_SUCCESS);
    rc_stop(&rc);
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
