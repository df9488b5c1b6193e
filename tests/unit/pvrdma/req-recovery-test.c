/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requester of an RC QP when packets or answers are lost or late, or when the peer
 * refuses requests: which packets it retransmits, when, and how often.
 */
#include "qemu/osdep.h"
#include "req-device.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"
#include "hw/rnic/pvrdma/transport/stuck.h"

#define MTU 256

static void start(void)
{
    rig_start(MTU, 0x100);
}

static void test_nak_sequence(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 5 * MTU);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 6);
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x103);
    rig_done(0, PVRDMA_WC_SUCCESS);
    /* a second NAK of the same packet does not use another retry */
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x103);
    g_assert_cmpuint(rig.qp.req.retries, ==, RIG_RETRIES - 1);
    rig_run();
    rig_sent_data(ROCE_OP_SEND_MIDDLE, 0x103, 2 * MTU, MTU);
    rig_sent_data(ROCE_OP_SEND_MIDDLE, 0x104, 3 * MTU, MTU);
    rig_sent_data(ROCE_OP_SEND_LAST, 0x105, 4 * MTU, MTU);
    rig_ack(0x103);
    g_assert_cmpuint(rig.qp.req.retries, ==, RIG_RETRIES);
    /* the acknowledgement of the first transmission arrives before the retransmission */
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x104);
    rig_ack(0x104);
    rig_run();
    rig_sent_data(ROCE_OP_SEND_LAST, 0x105, 4 * MTU, MTU);
    rig_quiet();
    rig_ack(0x105);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_false(rig_run());
    rig_end();
}

static void test_timeout(void)
{
    int64_t wait = roce_timeout_ns(RIG_TIMEOUT);

    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    for (unsigned i = 0; i < RIG_RETRIES; i++) {
        rig_clock((wait << i) - 1);
        g_assert_false(rig_run());
        rig_clock(1);
        g_assert_true(rig.qp.active);
        rig_run();
        rig_sent(ROCE_OP_SEND_ONLY, 0x100);
        rig_sent(ROCE_OP_SEND_ONLY, 0x101);
    }
    rig_clock(wait << RIG_RETRIES);
    rig_done(0, PVRDMA_WC_RETRY_EXC_ERR);
    rig_done(1, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, RIG_RETRIES + 1);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RETRY_EXCEEDED), ==, 1);
    rig_clock(100 * wait);
    rig_end();
}

/*
 * The timeout doubles with each retry, from at least 4 ms to at most two seconds.  A
 * timeout attribute above two seconds does not grow.
 */
static void test_timeout_growth(void)
{
    static const struct {
        uint8_t code;
        int64_t last;
    } waits[] = {
        { 1, 4000000LL << 7 },
        { 14, 2000000000LL },
        { 18, 2000000000LL },
        { 20, 4096LL << 20 },
        { 31, 4096LL << 31 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(waits); i++) {
        start();
        rig.qp.attr.timeout = waits[i].code;
        rig.qp.attr.retry_cnt = 7;
        pvrdma_req_init(&rig.qp);
        rig_post(PVRDMA_WR_SEND, 1);
        for (unsigned tries = 0; tries < 7; tries++) {
            rig_run();
            rig_clock(rig.timer - rig.now);
        }
        rig_run();
        g_assert_cmpuint(rig_drop(), ==, 8);
        rig_clock(waits[i].last - 1);
        g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 7);
        rig_clock(1);
        rig_done(0, PVRDMA_WC_RETRY_EXC_ERR);
        rig_end();
    }
}

/*
 * After a timeout the requester keeps the longer timeout until all packets that were sent
 * twice are acknowledged, because otherwise each packet to a slow peer would time out.
 */
static void test_timeout_slow(void)
{
    const int64_t wait = roce_timeout_ns(RIG_TIMEOUT);

    start();
    for (unsigned i = 0; i < 3; i++) {
        rig_post(PVRDMA_WR_SEND, 1);
    }
    rig_run();
    rig_clock(wait);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 6);
    for (unsigned i = 0; i < 2; i++) {
        rig_ack(0x100 + i);
        rig_done(i, PVRDMA_WC_SUCCESS);
        rig_clock(2 * wait - 1);
    }
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 1);
    rig_ack(0x102);
    rig_done(2, PVRDMA_WC_SUCCESS);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_clock(wait);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 2);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_ack(0x103);
    rig_done(3, PVRDMA_WC_SUCCESS);
    rig_end();
}

/*
 * Each acknowledgement restarts the timeout of the other packets.  Timeouts do not count
 * while the port is full, and timeout 0 disables them.
 */
static void test_timeout_lazy(void)
{
    int64_t wait = roce_timeout_ns(RIG_TIMEOUT);

    start();
    for (unsigned i = 0; i < 4; i++) {
        rig_post(PVRDMA_WR_SEND, 1);
    }
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 4);
    for (unsigned i = 0; i < 3; i++) {
        rig_clock(wait - 1);
        rig_ack(0x100 + i);
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    g_assert_cmpuint(rig.timers, <=, 4);
    rig.s.port.blocked = true;
    rig_clock(wait);
    rig_clock(wait);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 0);
    rig.s.port.blocked = false;
    rig_clock(wait);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 1);
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x103);
    rig_ack(0x103);
    rig_done(3, PVRDMA_WC_SUCCESS);
    rig_clock(100 * wait);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 1);
    rig.qp.attr.timeout = 0;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_clock(100 * wait);
    g_assert_cmpuint(rig_drop(), ==, 1);
    g_assert_false(rig_run());
    rig_end();
}

static void test_rnr(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 2 * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 4);
    for (unsigned i = 0; i < RIG_RNR_RETRIES; i++) {
        rig_rnr(12, 0x101);
        /* the requester ignores NAKs of the same packet during the RNR wait */
        rig_rnr(12, 0x101);
        rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x101);
        g_assert_false(rig_run());
        rig_clock(roce_rnr_ns(12) - 1);
        g_assert_false(rig_run());
        rig_clock(1);
        rig_run();
        rig_sent(ROCE_OP_SEND_FIRST, 0x101);
        rig_sent(ROCE_OP_SEND_LAST, 0x102);
        rig_sent(ROCE_OP_SEND_ONLY, 0x103);
    }
    rig_done(0, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.qp.req.retries, ==, RIG_RETRIES);
    rig_rnr(12, 0x101);
    rig_done(1, PVRDMA_WC_RNR_RETRY_EXC_ERR);
    rig_done(2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RNR_EXCEEDED), ==, 1);
    rig_end();
}

/*
 * A receiver without a WQE sends RNR NAKs, and packets are lost in between.  Each RNR NAK
 * restores the retries, so the connection does not end.
 */
static void test_rnr_lost(void)
{
    start();
    rig.qp.attr.rnr_retry = 7;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    for (unsigned i = 0; i < 2 * RIG_RETRIES; i++) {
        g_assert_cmpuint(rig_drop(), ==, 2);
        rig_rnr(1, 0x100);
        rig_clock(roce_rnr_ns(1));
        rig_run();
        /* the first of the two packets is lost, so the peer sends a NAK */
        g_assert_cmpuint(rig_drop(), ==, 2);
        rig_nak(ROCE_NAK_PSN_SEQUENCE, 0x100);
        rig_run();
        g_assert_cmpuint(rig_drop(), ==, 2);
        rig_clock(roce_timeout_ns(RIG_TIMEOUT));
        rig_run();
    }
    rig_ack(0x101);
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_end();
}

static void test_rnr_for_ever(void)
{
    start();
    rig.qp.attr.rnr_retry = 7;
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    for (unsigned i = 0; i < 100; i++) {
        rig_sent(ROCE_OP_SEND_ONLY, 0x100);
        rig_rnr(i, 0x100);
        rig_clock(roce_rnr_ns(i));
        rig_run();
    }
    rig_sent(ROCE_OP_SEND_ONLY, 0x100);
    rig_ack(0x100);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_end();
}

/*
 * Delivers packets @from to @to - 1 of a response of @n packets, which begins at @psn.
 * Runs the requester after each packet.
 */
static void respond(uint32_t psn, unsigned n, unsigned from, unsigned to)
{
    static const uint8_t opcodes[2][2] = {      /* [is first][is last] */
        { ROCE_OP_READ_RESP_MIDDLE, ROCE_OP_READ_RESP_LAST },
        { ROCE_OP_READ_RESP_FIRST, ROCE_OP_READ_RESP_ONLY },
    };

    for (unsigned i = from; i < to; i++) {
        rig_read(opcodes[i == 0][i == n - 1], psn + i, MTU);
        rig_run();
    }
}

/*
 * A READ times out and is repeated in parts.  Then the response to the first request
 * arrives, but only up to the end of the first part.
 */
static void read_repeat(unsigned max_rd_atomic)
{
    const unsigned part = PVRDMA_REQ_REPEAT_PACKETS;

    start();
    rig.qp.attr.max_rd_atomic = max_rd_atomic;
    rig_post(PVRDMA_WR_RDMA_READ, 2 * part * MTU);
    rig_post(PVRDMA_WR_SEND, 1)->flags |= PVRDMA_SEND_FENCE;
    rig_run();
    rig_sent_request(0x100, 0, 2 * part * MTU);
    rig_quiet();
    rig_clock(roce_timeout_ns(RIG_TIMEOUT));
    rig_run();
    rig_sent_request(0x100, 0, part * MTU);
    rig_quiet();
    respond(0x100, 2 * part, 0, part);
    g_assert_cmphex(rig.qp.req.una_psn, ==, 0x100 + part);
    /* the part is answered, although no packet had the opcode "last" */
    rig_sent_request(0x100 + part, part * MTU, part * MTU);
    rig_quiet();
    g_assert_cmpuint(pvrdma_req_reads(&rig.qp.req), ==, 1);
    /* the answer to the part arrives too, and has no new data */
    respond(0x100, part, 0, part);
    rig_quiet();
}

static void test_read_repeated(void)
{
    static const unsigned limits[] = { 1, 2, 16 };
    const unsigned part = PVRDMA_REQ_REPEAT_PACKETS;

    for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
        read_repeat(limits[i]);
        respond(0x100 + part, part, 0, part);
        rig_done(0, PVRDMA_WC_SUCCESS);
        g_assert_cmpuint(pvrdma_req_reads(&rig.qp.req), ==, 0);
        /* the READ is complete, so the fenced SEND begins */
        rig_sent(ROCE_OP_SEND_ONLY, 0x100 + 2 * part);
        rig_ack(0x100 + 2 * part);
        rig_done(1, PVRDMA_WC_SUCCESS);
        rig_end();
    }
}

/*
 * The answer to a READ breaks off within a part.  The READ is repeated from there to the
 * end of the part, and the next part only after that answer, although both together are
 * shorter than a part: a peer may forget the first request at the second.
 */
static void test_read_repeated_one(void)
{
    const unsigned part = PVRDMA_REQ_REPEAT_PACKETS, got = part - 4;

    start();
    rig.qp.attr.max_rd_atomic = 16;
    rig_post(PVRDMA_WR_RDMA_READ, (part + 8) * MTU);
    rig_run();
    rig_sent_request(0x100, 0, (part + 8) * MTU);
    respond(0x100, part + 8, 0, got);
    rig_clock(roce_timeout_ns(RIG_TIMEOUT));
    rig_run();
    rig_sent_request(0x100 + got, got * MTU, 4 * MTU);
    rig_quiet();
    respond(0x100 + got, 4, 0, 3);
    rig_quiet();
    respond(0x100 + got, 4, 3, 4);
    rig_sent_request(0x100 + part, part * MTU, 8 * MTU);
    respond(0x100 + part, 8, 0, 8);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_end();
}

/*
 * As test_read_repeated(), but no more packets arrive: the READ fails after all retries.
 */
static void test_read_repeated_end(void)
{
    read_repeat(1);
    for (unsigned i = 0; i < RIG_RETRIES; i++) {
        rig_clock(10 * NANOSECONDS_PER_SECOND);
        rig_run();
        rig_sent_request(0x100 + PVRDMA_REQ_REPEAT_PACKETS,
                         PVRDMA_REQ_REPEAT_PACKETS * MTU,
                         PVRDMA_REQ_REPEAT_PACKETS * MTU);
        rig_quiet();
    }
    rig_clock(10 * NANOSECONDS_PER_SECOND);
    rig_done(0, PVRDMA_WC_RETRY_EXC_ERR);
    rig_done(1, PVRDMA_WC_WR_FLUSH_ERR);
    rig_end();
}

/* The acknowledgement of an earlier transmission arrives during the RNR wait. */
static void test_rnr_answer(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_rnr(12, 0x100);
    rig_ack(0x100);
    rig_done(0, PVRDMA_WC_SUCCESS);
    g_assert_false(rig_run());
    rig_clock(roce_rnr_ns(12));
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x101);
    /* the retransmitted packet is lost */
    rig_clock(roce_timeout_ns(RIG_TIMEOUT));
    rig_run();
    rig_sent(ROCE_OP_SEND_ONLY, 0x101);
    rig_ack(0x101);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_end();
}

/*
 * Packets wait for the rate limit, which ends before the timer fires.  The timer
 * activates the QP nevertheless, because the responder relies on that activation.
 */
static void test_paced(void)
{
    start();
    rig.qp.rate = (PvrdmaDcqcn) {
        .limited = true, .rate = PVRDMA_DCQCN_MIN_BPS,
        .target = PVRDMA_DCQCN_MIN_BPS, .next = rig.now + SCALE_MS,
        .raise_at = INT64_MAX, .alpha_at = INT64_MAX,
    };
    g_assert_true(pvrdma_req_congested(&rig.qp));
    rig.qp.rate.limited = false;
    rig_clock(SCALE_MS - 1);
    g_assert_false(rig.qp.active);
    rig_clock(1);
    g_assert_true(rig.qp.active);
    g_assert_false(pvrdma_req_congested(&rig.qp));
    rig_run();
    rig_clock(NANOSECONDS_PER_SECOND);
    g_assert_false(rig.qp.active);
    rig_end();
}

/* --- The check for QPs that hang --------------------------------------------- */

/*
 * Checks that pvrdma_qp_stuck() returns @why. The first call saves the QP; each later
 * call restores it.
 */
static void expect_stuck(const char *why)
{
    static PvrdmaQp good;
    static bool saved;

    g_assert_cmpstr(pvrdma_qp_stuck(&rig.qp), ==, why);
    if (saved) {
        rig.qp = good;
    } else {
        good = rig.qp;
    }
    saved = true;
}

/* A QP that awaits an answer is damaged in each way that the check must find. */
static void test_stuck(void)
{
    const char *no_deadline = "an answer has no deadline";
    PvrdmaReq *req = &rig.qp.req;

    start();
    rig_post(PVRDMA_WR_RDMA_READ, 1);
    rig_run();
    rig_drop();
    expect_stuck(NULL);
    req->armed = 0;
    expect_stuck(no_deadline);
    req->armed = req->deadline + 1;         /* the timer fires too late */
    expect_stuck(no_deadline);
    req->deadline = 0;
    expect_stuck(no_deadline);
    req->armed = 0;                         /* the guest has disabled the timeout */
    rig.qp.attr.timeout = 0;
    expect_stuck(NULL);
    req->armed = 0;                         /* the QP will run */
    rig.qp.active = true;
    expect_stuck(NULL);
    req->rnr_until = req->armed - 1;
    expect_stuck("a pause has no end");
    /* the answer has arrived, but the READ is still counted */
    req->una_psn = req->psn;
    expect_stuck("a READ is counted that was not asked for");
    req->una_psn = req->psn;
    bitmap_zero(req->unanswered, PVRDMA_REQ_PACKETS);
    req->next = 0;
    expect_stuck("a WQE is not sent");
    rig.qp.state = PVRDMA_QPS_ERR;
    expect_stuck("WQEs are not flushed");
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x100, 1);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_end();
}

static void test_nak_error(void)
{
    static const struct {
        uint8_t code, status;
    } naks[] = {
        { ROCE_NAK_INVALID_REQUEST, PVRDMA_WC_REM_INV_REQ_ERR },
        { ROCE_NAK_REMOTE_ACCESS, PVRDMA_WC_REM_ACCESS_ERR },
        { ROCE_NAK_REMOTE_OPERATION, PVRDMA_WC_REM_OP_ERR },
        { ROCE_NAK_INVALID_RD, PVRDMA_WC_REM_INV_RD_REQ_ERR },
        { 31, PVRDMA_WC_BAD_RESP_ERR },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(naks); i++) {
        start();
        rig_post(PVRDMA_WR_SEND, 1);
        rig_post(PVRDMA_WR_RDMA_WRITE, 3 * MTU)->flags = 0;
        rig_post(PVRDMA_WR_SEND, 1);
        rig_run();
        g_assert_cmpuint(rig_drop(), ==, 5);
        rig_nak(naks[i].code, 0x102);
        rig_post(PVRDMA_WR_SEND, 1);
        rig_run();
        rig_done(0, PVRDMA_WC_SUCCESS);
        rig_done(1, naks[i].status);
        rig_done(2, PVRDMA_WC_WR_FLUSH_ERR);
        rig_done(3, PVRDMA_WC_WR_FLUSH_ERR);
        rig_end();
    }
}

/* Answers that match no packet under way, and a request, only count as RX_STALE. */
static void test_stale(void)
{
    start();
    rig_ack(0x100);
    rig_post(PVRDMA_WR_SEND, 2 * MTU);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_ack(0xff);
    rig_ack(0x102);
    rig_ack(0x100 + (1 << 23));
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0xff);
    rig_nak(ROCE_NAK_REMOTE_ACCESS, 0x102);
    rig_rnr(1, 0x102);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x102, 1);
    rig_read(ROCE_OP_READ_RESP_MIDDLE, 0xff, MTU);
    rig_atomic(0xff, 0);
    rig_answer(ROCE_OP_SEND_ONLY, 0x100, 0, NULL, 0);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RX_STALE), ==, 11);
    g_assert_false(rig_run());
    rig_ack(0x100);
    rig_ack(0x100);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RX_STALE), ==, 12);
    rig_ack(0x101);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_end();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/req/recovery-nak-sequence", test_nak_sequence);
    g_test_add_func("/pvrdma/req/recovery-timeout", test_timeout);
    g_test_add_func("/pvrdma/req/recovery-timeout-growth", test_timeout_growth);
    g_test_add_func("/pvrdma/req/recovery-timeout-slow", test_timeout_slow);
    g_test_add_func("/pvrdma/req/recovery-timeout-lazy", test_timeout_lazy);
    g_test_add_func("/pvrdma/req/recovery-rnr", test_rnr);
    g_test_add_func("/pvrdma/req/recovery-rnr-lost", test_rnr_lost);
    g_test_add_func("/pvrdma/req/recovery-rnr-for-ever", test_rnr_for_ever);
    g_test_add_func("/pvrdma/req/recovery-read-repeated", test_read_repeated);
    g_test_add_func("/pvrdma/req/recovery-read-repeated-one", test_read_repeated_one);
    g_test_add_func("/pvrdma/req/recovery-read-repeated-end",
                    test_read_repeated_end);
    g_test_add_func("/pvrdma/req/recovery-rnr-answer", test_rnr_answer);
    g_test_add_func("/pvrdma/req/recovery-paced", test_paced);
    g_test_add_func("/pvrdma/req/recovery-stuck", test_stuck);
    g_test_add_func("/pvrdma/req/recovery-nak-error", test_nak_error);
    g_test_add_func("/pvrdma/req/recovery-stale", test_stale);
    return g_test_run();
}
