/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requester of an RC QP, and what a guest may do to it: work on regions, errors,
 * changes of state, the longest messages, snapshots.
 */
#include "qemu/osdep.h"
#include "req-device.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"

#define MTU 256

static void start(void)
{
    rig_start(MTU, 0x100);
}

static void test_local(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_FAST_REG_MR, 0);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_LOCAL_INV, 0);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    g_assert_cmpuint(rig.registered, ==, 1);
    g_assert_cmpuint(rig.invalidated, ==, 0);
    /* FAST_REG_MR completes after the SEND before it, and is executed only once */
    g_assert_cmpuint(rig.wcs, ==, 0);
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x100);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    g_assert_cmpuint(rig.registered, ==, 1);
    rig_ack(0x100);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.invalidated, ==, 0);
    rig_ack(0x101);
    rig_run();
    g_assert_cmpuint(rig.invalidated, ==, 1);
    rig_done(2, PVRDMA_WC_SUCCESS);
    rig_done(3, PVRDMA_WC_SUCCESS);
    rig_sent(ROCE_OP_SEND_ONLY, 0x102);
    rig_ack(0x102);
    rig_done(4, PVRDMA_WC_SUCCESS);
    rig.local_status = PVRDMA_WC_LOC_ACCESS_ERR;
    rig_post(PVRDMA_WR_FAST_REG_MR, 0)->flags = 0;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_done(5, PVRDMA_WC_LOC_ACCESS_ERR);
    rig_done(6, PVRDMA_WC_WR_FLUSH_ERR);
    rig_end();
}

/* Asserts that the device has counted @n errors of the guest since rig_start(). */
static void assert_guest_errors(unsigned n)
{
    g_assert_cmpuint(rig_count(PVRDMA_CNT_GUEST_ERROR), ==, n);
}

/* A WQE in error ends the QP.  The WQEs before it complete first. */
static void test_guest_errors(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 2 * MTU)->bad_from = MTU;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x100);
    rig_sent(ROCE_OP_SEND_FIRST, 0x101);
    rig_quiet();
    g_assert_cmpuint(rig.wcs, ==, 0);
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x100);
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x100);
    rig_quiet();
    rig_ack(0x100);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_LOC_PROT_ERR);
    rig_done(2, PVRDMA_WC_WR_FLUSH_ERR);
    assert_guest_errors(1);
    rig_end();

    start();
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU)->bad_from = MTU;
    rig_run();
    rig_drop();
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x100, MTU);
    rig_read(ROCE_OP_READ_RESP_LAST, 0x101, MTU);
    rig_done(0, PVRDMA_WC_LOC_PROT_ERR);
    assert_guest_errors(1);
    rig_end();

    start();
    rig_post(PVRDMA_WR_ATOMIC_FETCH_AND_ADD, 8)->bad_from = 0;
    rig_run();
    rig_drop();
    rig_atomic(0x100, 1);
    rig_done(0, PVRDMA_WC_LOC_PROT_ERR);
    assert_guest_errors(1);
    rig_end();

    for (unsigned opcode = 0; opcode < 256; opcode++) {
        if (pvrdma_req_op(opcode)->kind == PVRDMA_REQ_NONE) {
            start();
            rig_post(opcode, 1)->flags = 0;
            rig_run();
            rig_done(0, PVRDMA_WC_LOC_QP_OP_ERR);
            assert_guest_errors(1);
            rig_end();
        }
    }
}

/*
 * Posts @n WQEs.  Asserts that at most @slots are under way, because the ring has as
 * many.
 */
static void check_slots(unsigned n, unsigned slots)
{
    for (unsigned i = 0; i < n; i++) {
        rig_post(PVRDMA_WR_SEND, 1);
    }
    rig_run();
    for (unsigned i = 0; i < n; i++) {
        if (i % slots == 0) {
            g_assert_cmpuint(rig.packets.length, ==, MIN(slots, n - i));
        }
        rig_sent(ROCE_OP_SEND_ONLY, 0x100 + i);
        if (i % slots == slots - 1 || i == n - 1) {
            rig_quiet();
            rig_ack(0x100 + i);
            rig_run();
        }
    }
    for (unsigned i = 0; i < n; i++) {
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    rig_end();
}

/*
 * The ring grows with the WQEs under way, up to PVRDMA_REQ_WQES, up to the size of the
 * send queue, or up to the device's limit of pages.
 */
static void test_ring_grows(void)
{
    start();
    check_slots(200, PVRDMA_REQ_WQES);
    start();
    rig.qp.sq.entries = 4;
    check_slots(12, 4);
    start();
    rig.pages_used = rig.s.pages_used = PVRDMA_MAX_PAGES;
    check_slots(50, 8);
    start();
    rig.pages_used = rig.s.pages_used = PVRDMA_MAX_PAGES - 8 * 1024;
    for (unsigned i = 0; i < 12; i++) {
        rig_post(PVRDMA_WR_SEND, 1);
    }
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 12);
    g_assert_cmpuint(rig.s.pages_used, >, rig.pages_used);
    /* a new start of the QP frees the ring */
    pvrdma_req_init(&rig.qp);
    g_assert_cmpuint(rig.s.pages_used, ==, rig.pages_used);
    rig_end();
}

static void test_ring_errors(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_drop();
    rig.pending_bad = true;
    rig.qp.active = true;
    rig_run();
    rig_done(0, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpint(rig.event, ==, PVRDMA_EVENT_QP_FATAL);
    rig_end();

    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 1)->unreadable = true;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_drop();
    rig_done(0, PVRDMA_WC_WR_FLUSH_ERR);
    rig_done(2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpint(rig.event, ==, PVRDMA_EVENT_QP_FATAL);
    g_assert_cmpuint(rig.consumed, ==, 3);
    rig_end();
}

static void test_drain(void)
{
    start();
    rig.qp.attr.max_rd_atomic = 1;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_RDMA_READ, (PVRDMA_REQ_READ_PACKETS + 1) * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig.qp.state = PVRDMA_QPS_SQD;
    rig.qp.sq_draining = true;
    rig_ack(0x100);
    rig_done(0, PVRDMA_WC_SUCCESS);
    g_assert_true(rig.qp.sq_draining);
    for (unsigned i = 0; i < PVRDMA_REQ_READ_PACKETS; i++) {
        rig_read(i == PVRDMA_REQ_READ_PACKETS - 1 ? ROCE_OP_READ_RESP_LAST :
                 ROCE_OP_READ_RESP_MIDDLE, 0x101 + i, MTU);
    }
    /* the READ continues, the SEND does not begin */
    rig_run();
    rig_sent(ROCE_OP_READ_REQUEST, 0x101 + PVRDMA_REQ_READ_PACKETS);
    rig_quiet();
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x101 + PVRDMA_REQ_READ_PACKETS, MTU);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_false(rig.qp.sq_draining);
    g_assert_true(pvrdma_req_idle(&rig.qp));
    rig_run();
    rig_quiet();
    rig.qp.state = PVRDMA_QPS_RTS;
    rig.qp.active = true;
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x102 + PVRDMA_REQ_READ_PACKETS);
    rig_end();
}

/* A draining queue does not begin a WQE that was fetched but waits for its fence. */
static void test_drain_fenced(void)
{
    start();
    rig_post(PVRDMA_WR_RDMA_READ, 1);
    rig_post(PVRDMA_WR_SEND, 1)->flags |= PVRDMA_SEND_FENCE;
    rig_run();
    rig_sent(ROCE_OP_READ_REQUEST, 0x100);
    rig.qp.state = PVRDMA_QPS_SQD;
    rig.qp.sq_draining = true;
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x100, 1);
    rig_done(0, PVRDMA_WC_SUCCESS);
    g_assert_false(rig.qp.sq_draining);
    rig_run();
    rig_quiet();
    rig.qp.state = PVRDMA_QPS_RTS;
    rig.qp.active = true;
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x101);
    rig_end();
}

static void test_datagrams(void)
{
    start();
    rig.qp.type = PVRDMA_QPT_UD;
    for (unsigned i = 0; i < 2 * PVRDMA_REQ_WQES; i++) {
        rig_post(PVRDMA_WR_SEND, i);
    }
    rig_run();
    g_assert_cmpuint(rig.datagrams, ==, 2 * PVRDMA_REQ_WQES);
    g_assert_cmpuint(rig.consumes, ==, 2 * PVRDMA_REQ_WQES / RIG_BUDGET);
    for (unsigned i = 0; i < 2 * PVRDMA_REQ_WQES; i++) {
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    rig_post(PVRDMA_WR_RDMA_WRITE, 1);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_done(2 * PVRDMA_REQ_WQES, PVRDMA_WC_LOC_QP_OP_ERR);
    rig_done(2 * PVRDMA_REQ_WQES + 1, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpint(rig.qp.state, ==, PVRDMA_QPS_SQE);
    rig_end();
}

/* Each packet of the longest messages has the right offset and length. */
static void test_huge(void)
{
    const uint32_t mtu = 4096, len = (1u << 31) - 1, n = 1u << 19;
    const RigPacket *p;

    rig_start(mtu, 0xff0000);
    rig.no_copy = true;
    rig_post(PVRDMA_WR_RDMA_WRITE, len);
    rig_post(PVRDMA_WR_RDMA_READ, len);
    for (uint32_t i = 0; i < n; i++) {
        if (!rig.packets.length) {
            rig_run();
        }
        p = rig_sent(i == n - 1 ? ROCE_OP_WRITE_LAST : i ?
                     ROCE_OP_WRITE_MIDDLE : ROCE_OP_WRITE_FIRST,
                     (0xff0000 + i) & ROCE_PSN_MASK);
        g_assert_cmpuint(p->offset, ==, i * mtu);
        g_assert_cmpuint(p->len, ==, i == n - 1 ? mtu - 1 : mtu);
        if (p->pkt.ack_req) {
            rig_ack(p->pkt.psn);
        }
    }
    rig_done(0, PVRDMA_WC_SUCCESS);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t psn = (0xff0000 + n + i) & ROCE_PSN_MASK;
        bool first = i % PVRDMA_REQ_READ_PACKETS == 0;
        bool last = i % PVRDMA_REQ_READ_PACKETS == PVRDMA_REQ_READ_PACKETS - 1;

        if (first) {
            rig_run();
            p = rig_sent(ROCE_OP_READ_REQUEST, psn);
            g_assert_cmphex(p->pkt.va, ==, RIG_VA + (uint64_t)i * mtu);
        }
        rig_read(first ? ROCE_OP_READ_RESP_FIRST : last ?
                 ROCE_OP_READ_RESP_LAST : ROCE_OP_READ_RESP_MIDDLE,
                 psn, i == n - 1 ? mtu - 1 : mtu);
    }
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.written, ==, len);
    rig_end();
}

/* Parks the QP, and then restores only the fields that a snapshot contains. */
static void park_and_load(void)
{
    PvrdmaReq kept;

    pvrdma_req_park(&rig.qp);
    kept = rig.qp.req;
    pvrdma_req_fini(&rig.qp);
    rig.qp.req = (PvrdmaReq) {
        .next_psn = kept.next_psn, .una_psn = kept.una_psn,
        .begin_psn = kept.begin_psn, .parked = kept.parked,
        .retries = kept.retries, .rnr_retries = kept.rnr_retries,
    };
    pvrdma_req_park(&rig.qp);
}

/* Takes a snapshot while a SEND, a FAST_REG_MR and a READ are under way. */
static void test_park(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 4 * MTU);
    rig_post(PVRDMA_WR_FAST_REG_MR, 0);
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 7);
    rig_ack(0x102);
    rig_done(0, PVRDMA_WC_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        unsigned budget = 1;

        /*
         * Parks the QP twice: the second time when only a part of the WQEs has been
         * fetched again.
         */
        pvrdma_req_park(&rig.qp);
        pvrdma_req_run(&rig.qp, &budget);
        g_assert_cmpuint(rig_drop(), ==, 1);
        park_and_load();
        g_assert_false(pvrdma_req_idle(&rig.qp));
        rig.qp.state = i ? PVRDMA_QPS_SQD : PVRDMA_QPS_RTS;
        rig_run();
        rig_sent_data(ROCE_OP_SEND_MIDDLE, 0x103, 2 * MTU, MTU);
        rig_sent_data(ROCE_OP_SEND_LAST, 0x104, 3 * MTU, MTU);
        rig_sent_request(0x105, 0, 2 * MTU);
        rig_sent(ROCE_OP_SEND_ONLY, 0x107);
        rig_quiet();
    }
    g_assert_cmpuint(rig.registered, ==, 1);
    rig_ack(0x104);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_done(2, PVRDMA_WC_SUCCESS);
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x105, MTU);
    rig_read(ROCE_OP_READ_RESP_LAST, 0x106, MTU);
    rig_done(3, PVRDMA_WC_SUCCESS);
    rig_ack(0x107);
    rig_done(4, PVRDMA_WC_SUCCESS);
    g_assert_true(pvrdma_req_idle(&rig.qp));
    rig_end();
}

/*
 * Answers to packets that were sent before the snapshot complete WQEs, although the
 * requester has not sent the packets again.
 */
static void test_park_answers(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 4 * MTU);
    rig_post(PVRDMA_WR_FAST_REG_MR, 0);
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 7);
    rig_ack(0x101);
    park_and_load();
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x104, MTU);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.registered, ==, 1);
    /* the requester repeats a part of the READ, then the answer to the rest arrives */
    rig_run();
    rig_sent_request(0x105, MTU, MTU);
    g_assert_cmpuint(rig_drop(), ==, 2);
    park_and_load();
    rig_read(ROCE_OP_READ_RESP_LAST, 0x105, MTU);
    rig_done(2, PVRDMA_WC_SUCCESS);
    /* a NAK counts before the retransmission, because the peer sends it only once */
    park_and_load();
    rig_nak(ROCE_NAK_REMOTE_ACCESS, 0x107);
    rig_done(3, PVRDMA_WC_SUCCESS);
    rig_done(4, PVRDMA_WC_REM_ACCESS_ERR);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RX_STALE), ==, 0);
    rig_end();
}

/* With the smallest MTU the longest message has half of all PSNs. */
static void test_park_longest(void)
{
    const uint32_t half = ROCE_MSG_MAX / MTU, una = 0x100 + half - 2;

    start();
    rig.no_copy = true;
    rig_post(PVRDMA_WR_RDMA_WRITE, ROCE_MSG_MAX);
    rig_post(PVRDMA_WR_RDMA_WRITE, ROCE_MSG_MAX);
    rig_post(PVRDMA_WR_SEND, 1);
    rig.qp.req.begin_psn = 0x100;
    rig.qp.req.una_psn = una;
    rig.qp.req.next_psn = 0x100 + half + 2;
    park_and_load();
    /* in state SQD the requester continues begun WQEs, and begins no others */
    rig.qp.state = PVRDMA_QPS_SQD;
    rig_run();
    rig_sent(ROCE_OP_WRITE_MIDDLE, una);
    rig_sent(ROCE_OP_WRITE_LAST, una + 1);
    rig_sent(ROCE_OP_WRITE_FIRST, una + 2);
    g_assert_cmpuint(rig_drop(), ==, PVRDMA_REQ_PACKETS - 3);
    rig_ack(una + 1);
    rig_done(0, PVRDMA_WC_SUCCESS);
    g_assert_false(pvrdma_req_idle(&rig.qp));
    rig_end();
}

/* A WQE that the guest shortens while the QP is parked ends with LOC_QP_OP_ERR. */
static void test_park_changed(void)
{
    RigWqe *w;

    start();
    w = rig_post(PVRDMA_WR_SEND, 4 * MTU);
    rig_run();
    rig_drop();
    rig_ack(0x102);
    pvrdma_req_park(&rig.qp);
    w->length = MTU;
    rig_run();
    rig_done(0, PVRDMA_WC_LOC_QP_OP_ERR);
    rig_end();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/req/guest-local", test_local);
    g_test_add_func("/pvrdma/req/guest-errors", test_guest_errors);
    g_test_add_func("/pvrdma/req/guest-ring-errors", test_ring_errors);
    g_test_add_func("/pvrdma/req/guest-ring-grows", test_ring_grows);
    g_test_add_func("/pvrdma/req/guest-drain", test_drain);
    g_test_add_func("/pvrdma/req/guest-drain-fenced", test_drain_fenced);
    g_test_add_func("/pvrdma/req/guest-datagrams", test_datagrams);
    g_test_add_func("/pvrdma/req/guest-huge", test_huge);
    g_test_add_func("/pvrdma/req/guest-park", test_park);
    g_test_add_func("/pvrdma/req/guest-park-answers", test_park_answers);
    g_test_add_func("/pvrdma/req/guest-park-longest", test_park_longest);
    g_test_add_func("/pvrdma/req/guest-park-changed", test_park_changed);
    return g_test_run();
}
