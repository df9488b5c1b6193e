/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requester of an RC QP against a scripted peer.  The test plays the guest with its
 * memory and send queue, the CQ, the port, the clock, and the peer.
 */
#include "qemu/osdep.h"
#include "req-device.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"

#define MTU 256

static void start(void)
{
    rig_start(MTU, 0x100);
}

/* --- Packets ----------------------------------------------------------------- */

static void test_write(void)
{
    static const uint32_t sizes[] = { 0, 1, 3, MTU - 1, MTU };
    const RigPacket *p;

    start();
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        rig_post(PVRDMA_WR_RDMA_WRITE, sizes[i]);
        rig_run();
        p = rig_peek();
        g_assert_cmphex(p->pkt.va, ==, RIG_VA);
        g_assert_cmphex(p->pkt.rkey, ==, RIG_RKEY);
        g_assert_cmpuint(p->pkt.dma_len, ==, sizes[i]);
        g_assert_cmphex(p->pkt.qpn, ==, RIG_PEER);
        g_assert_true(p->pkt.ack_req);
        rig_sent_data(ROCE_OP_WRITE_ONLY, 0x100 + i, 0, sizes[i]);
        rig_ack(0x100 + i);
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    rig_post(PVRDMA_WR_RDMA_WRITE_WITH_IMM, 2 * MTU + 1);
    rig_run();
    g_assert_cmpuint(rig_peek()->pkt.dma_len, ==, 2 * MTU + 1);
    rig_sent_data(ROCE_OP_WRITE_FIRST, 0x105, 0, MTU);
    g_assert_false(rig_peek()->pkt.ack_req);
    rig_sent_data(ROCE_OP_WRITE_MIDDLE, 0x106, MTU, MTU);
    g_assert_true(rig_peek()->pkt.ack_req);
    g_assert_cmphex(rig_peek()->pkt.imm, ==, RIG_IMM);
    rig_sent_data(ROCE_OP_WRITE_LAST_IMM, 0x107, 2 * MTU, 1);
    rig_quiet();
    rig_ack(0x107);
    rig_done(5, PVRDMA_WC_SUCCESS);
    rig_end();
}

static void test_send(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, MTU + 1)->flags |= PVRDMA_SEND_SOLICITED;
    rig_post(PVRDMA_WR_SEND_WITH_IMM, 0);
    rig_post(PVRDMA_WR_SEND_WITH_INV, 2);
    rig_post(PVRDMA_WR_SEND_WITH_INV, 2 * MTU);
    rig_run();
    g_assert_false(rig_peek()->pkt.solicited);
    rig_sent_data(ROCE_OP_SEND_FIRST, 0x100, 0, MTU);
    g_assert_true(rig_peek()->pkt.solicited);
    rig_sent_data(ROCE_OP_SEND_LAST, 0x101, MTU, 1);
    g_assert_cmphex(rig_peek()->pkt.imm, ==, RIG_IMM);
    g_assert_false(rig_peek()->pkt.solicited);
    rig_sent_data(ROCE_OP_SEND_ONLY_IMM, 0x102, 0, 0);
    g_assert_cmphex(rig_peek()->pkt.inv_rkey, ==, RIG_INV);
    rig_sent_data(ROCE_OP_SEND_ONLY_INV, 0x103, 0, 2);
    rig_sent_data(ROCE_OP_SEND_FIRST, 0x104, 0, MTU);
    rig_sent_data(ROCE_OP_SEND_LAST_INV, 0x105, MTU, MTU);
    /* the acknowledgement of the last packet completes all four messages */
    g_assert_cmpuint(rig.wcs, ==, 0);
    rig_ack(0x105);
    for (unsigned i = 0; i < 4; i++) {
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    rig_end();
}

/* PSNs wrap in the middle of a message, and the requester retransmits across the wrap. */
static void test_wrap(void)
{
    rig_start(MTU, 0xfffffe);
    rig_post(PVRDMA_WR_RDMA_WRITE, 4 * MTU);
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU);
    rig_run();
    rig_sent_data(ROCE_OP_WRITE_FIRST, 0xfffffe, 0, MTU);
    rig_sent_data(ROCE_OP_WRITE_MIDDLE, 0xffffff, MTU, MTU);
    rig_sent_data(ROCE_OP_WRITE_MIDDLE, 0, 2 * MTU, MTU);
    rig_sent_data(ROCE_OP_WRITE_LAST, 1, 3 * MTU, MTU);
    rig_sent(ROCE_OP_READ_REQUEST, 2);
    rig_nak(ROCE_NAK_PSN_SEQUENCE, 0xffffff);
    rig_run();
    rig_sent_data(ROCE_OP_WRITE_MIDDLE, 0xffffff, MTU, MTU);
    rig_sent_data(ROCE_OP_WRITE_MIDDLE, 0, 2 * MTU, MTU);
    rig_sent_data(ROCE_OP_WRITE_LAST, 1, 3 * MTU, MTU);
    rig_sent(ROCE_OP_READ_REQUEST, 2);
    rig_ack(0xfffffd);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RX_STALE), ==, 1);
    rig_ack(0);
    rig_read(ROCE_OP_READ_RESP_FIRST, 2, MTU);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_read(ROCE_OP_READ_RESP_LAST, 3, MTU);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TX_RETRY), ==, 4);
    rig_end();
}

/*
 * The requester sends as many packets as the window has, and requests an acknowledgement
 * with each PVRDMA_REQ_ACK_PACKETS-th packet of a message.
 */
static void test_window(void)
{
    start();
    rig_post(PVRDMA_WR_RDMA_WRITE, 2 * PVRDMA_REQ_PACKETS * MTU);
    rig_run();
    for (unsigned i = 0; i < PVRDMA_REQ_PACKETS; i++) {
        g_assert_cmpint(rig_peek()->pkt.ack_req, ==,
                        i % PVRDMA_REQ_ACK_PACKETS == PVRDMA_REQ_ACK_PACKETS - 1);
        rig_sent(i ? ROCE_OP_WRITE_MIDDLE : ROCE_OP_WRITE_FIRST, 0x100 + i);
    }
    rig_quiet();
    rig_ack(0x100 + PVRDMA_REQ_ACK_PACKETS - 1);
    g_assert_true(rig.qp.active);
    rig_run();
    for (unsigned i = 0; i < PVRDMA_REQ_ACK_PACKETS; i++) {
        rig_sent(ROCE_OP_WRITE_MIDDLE, 0x100 + PVRDMA_REQ_PACKETS + i);
    }
    rig_quiet();
    rig_end();
}

/*
 * A run ends in the middle of a message when its budget is used, and when the port is
 * full.
 */
static void test_budget(void)
{
    unsigned budget = 3;

    start();
    rig_post(PVRDMA_WR_SEND, 5 * MTU);
    g_assert_true(pvrdma_req_run(&rig.qp, &budget));
    g_assert_cmpuint(budget, ==, 0);
    g_assert_cmpuint(rig_drop(), ==, 3);
    rig.s.port.blocked = true;
    budget = 3;
    g_assert_true(pvrdma_req_run(&rig.qp, &budget));
    rig_quiet();
    rig.s.port.blocked = false;
    g_assert_false(pvrdma_req_run(&rig.qp, &budget));
    g_assert_cmpuint(budget, ==, 1);
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_end();
}

/*
 * The guest posts more WQEs than the requester keeps; one acknowledgement of many WQEs
 * returns their slots with one call.
 */
static void test_many(void)
{
    const unsigned n = 2 * PVRDMA_REQ_WQES + 3;

    start();
    for (unsigned i = 0; i < n; i++) {
        rig_post(PVRDMA_WR_SEND, 1)->flags = i % 8 == 7 ? PVRDMA_SEND_SIGNALED : 0;
    }
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, PVRDMA_REQ_WQES);
    rig_ack(0x100 + 9);
    g_assert_cmpuint(rig.consumed, ==, 10);
    g_assert_cmpuint(rig.consumes, ==, 1);
    rig_done(7, PVRDMA_WC_SUCCESS);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 10);
    rig_ack(0x100 + 9 + PVRDMA_REQ_WQES);
    g_assert_cmpuint(rig.consumed, ==, 10 + PVRDMA_REQ_WQES);
    g_assert_cmpuint(rig.consumes, ==, 2);
    rig_run();
    rig_ack(0x100 + n - 1);
    for (unsigned i = 15; i < n; i += 8) {
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    g_assert_cmpuint(rig.consumed, ==, n);
    rig_drop();
    rig_end();
}

/* --- READs and atomics ------------------------------------------------------- */

static void test_read(void)
{
    start();
    rig_post(PVRDMA_WR_RDMA_READ, 0);
    rig_post(PVRDMA_WR_RDMA_READ, MTU);
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU + 5);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    rig_sent_request(0x100, 0, 0);
    rig_sent_request(0x101, 0, MTU);
    rig_sent_request(0x102, 0, 2 * MTU + 5);
    rig_sent(ROCE_OP_SEND_ONLY, 0x105);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x100, 0);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x101, MTU);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x102, MTU);
    rig_read(ROCE_OP_READ_RESP_MIDDLE, 0x103, MTU);
    g_assert_cmpuint(rig.wcs, ==, 0);
    rig_read(ROCE_OP_READ_RESP_LAST, 0x104, 5);
    rig_done(2, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.written, ==, 3 * MTU + 5);
    rig_ack(0x105);
    rig_done(3, PVRDMA_WC_SUCCESS);
    rig_end();
}

/* The response of a READ also acknowledges all packets before it. */
static void test_read_acks(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, MTU + 1);
    rig_post(PVRDMA_WR_RDMA_READ, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 3);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x102, 1);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_end();
}

/*
 * When a response packet is missing, the requester repeats the READ from that packet on:
 * after a gap, after an acknowledgement of later packets, and after a timeout.
 */
static void test_read_lost(void)
{
    start();
    rig_post(PVRDMA_WR_RDMA_READ, 4 * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x100, MTU);
    rig_read(ROCE_OP_READ_RESP_MIDDLE, 0x102, MTU);
    rig_read(ROCE_OP_READ_RESP_LAST, 0x103, MTU);
    g_assert_cmpuint(rig.written, ==, MTU);
    rig_run();
    rig_sent_request(0x101, MTU, 3 * MTU);
    rig_sent(ROCE_OP_SEND_ONLY, 0x104);
    rig_quiet();
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x101, MTU);
    /* acknowledges a packet behind the missing response */
    rig_ack(0x104);
    rig_run();
    rig_sent_request(0x102, 2 * MTU, 2 * MTU);
    rig_sent(ROCE_OP_SEND_ONLY, 0x104);
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x102, MTU);
    rig_clock(roce_timeout_ns(RIG_TIMEOUT));
    rig_run();
    rig_sent_request(0x103, 3 * MTU, MTU);
    rig_sent(ROCE_OP_SEND_ONLY, 0x104);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x103, MTU);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x103, MTU);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RX_STALE), ==, 1);
    rig_ack(0x104);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.written, ==, 4 * MTU);
    rig_end();
}

/*
 * While a slow peer still sends the responses to the first requests, the requester does
 * not repeat the requests a second time.
 */
static void test_read_slow(void)
{
    const int64_t wait = roce_timeout_ns(RIG_TIMEOUT);
    const unsigned n = 12;

    start();
    rig_post(PVRDMA_WR_RDMA_READ, n * MTU);
    rig_post(PVRDMA_WR_RDMA_READ, MTU);
    rig_run();
    rig_clock(wait);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 4);
    /* the second response packet is lost, and the packets behind it arrive slowly */
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x100, MTU);
    for (unsigned i = 2; i < n; i++) {
        rig_read(i == n - 1 ? ROCE_OP_READ_RESP_LAST : ROCE_OP_READ_RESP_MIDDLE,
                 0x100 + i, MTU);
        rig_run();
        rig_clock(wait);
    }
    rig_sent_request(0x101, MTU, (n - 1) * MTU);
    rig_sent_request(0x100 + n, 0, MTU);
    rig_quiet();
    /* then the responses to both repetitions of the READ arrive */
    for (unsigned i = 0; i < n; i++) {
        rig_read(i == n - 1 ? ROCE_OP_READ_RESP_LAST : i ?
                 ROCE_OP_READ_RESP_MIDDLE : ROCE_OP_READ_RESP_FIRST,
                 0x100 + i, MTU);
    }
    rig_done(0, PVRDMA_WC_SUCCESS);
    for (unsigned i = 1; i < n; i++) {
        rig_clock(wait - 1);
        rig_read(ROCE_OP_READ_RESP_MIDDLE, 0x100 + i, MTU);
    }
    g_assert_cmpuint(rig_count(PVRDMA_CNT_TIMEOUT), ==, 1);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x100 + n, MTU);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_end();
}

/* Delivers packet @i of a response of @n packets, with the oldest unacknowledged PSN. */
static void respond(unsigned i, unsigned n)
{
    static const uint8_t opcodes[2][2] = {      /* [is first][is last] */
        { ROCE_OP_READ_RESP_MIDDLE, ROCE_OP_READ_RESP_LAST },
        { ROCE_OP_READ_RESP_FIRST, ROCE_OP_READ_RESP_ONLY },
    };

    rig_read(opcodes[i == 0][i == n - 1], rig.qp.req.una_psn, MTU);
}

/*
 * The requester repeats a long READ in parts, one after the other, because a packet that
 * is lost then costs only a part.
 */
static void test_read_again(void)
{
    const unsigned part = PVRDMA_REQ_REPEAT_PACKETS, n = 3 * part + 3;
    unsigned at;

    start();
    rig_post(PVRDMA_WR_RDMA_READ, n * MTU);
    rig_post(PVRDMA_WR_RDMA_READ, MTU);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    respond(0, n);
    rig_read(ROCE_OP_READ_RESP_MIDDLE, 0x102, MTU);
    rig_run();
    rig_sent_request(0x101, MTU, (part - 1) * MTU);
    rig_quiet();
    for (at = 1; at < part; at++) {
        respond(at - 1, part - 1);
        rig_run();
    }
    rig_sent_request(0x100 + part, part * MTU, part * MTU);
    rig_quiet();
    /* the rest of the first response arrives late */
    for (; at < n; at++) {
        respond(at, n);
    }
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_run();
    rig_drop();
    respond(0, 1);
    rig_done(1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(pvrdma_req_reads(&rig.qp.req), ==, 0);
    rig_end();
}

/*
 * A peer that refuses a request sends nothing after the NAK, so the requester does not
 * repeat the READ whose response is incomplete.
 */
static void test_read_lost_end(void)
{
    start();
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU);
    rig_post(PVRDMA_WR_RDMA_WRITE, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 3);
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x101, MTU);
    rig_nak(ROCE_NAK_REMOTE_ACCESS, 0x103);
    rig_done(0, PVRDMA_WC_SUCCESS);
    rig_done(1, PVRDMA_WC_REM_ACCESS_ERR);
    rig_done(2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(rig_count(PVRDMA_CNT_RX_NAK_ERROR), ==, 1);
    rig_run();
    rig_quiet();
    rig_end();
}

/* The requester divides a long READ into requests of PVRDMA_REQ_READ_PACKETS packets. */
static void test_read_long(void)
{
    const uint32_t part = PVRDMA_REQ_READ_PACKETS, n = 2 * part + 1;

    start();
    rig_post(PVRDMA_WR_RDMA_READ, n * MTU - 1);
    rig_run();
    rig_sent_request(0x100, 0, part * MTU);
    rig_sent_request(0x100 + part, part * MTU, part * MTU);
    rig_quiet();
    for (unsigned i = 0; i < n; i++) {
        unsigned opcode = ROCE_OP_READ_RESP_MIDDLE;

        if (i == n - 1) {
            opcode = ROCE_OP_READ_RESP_ONLY;
        } else if (i % part == 0) {
            opcode = ROCE_OP_READ_RESP_FIRST;
        } else if (i % part == part - 1) {
            opcode = ROCE_OP_READ_RESP_LAST;
        }
        rig_read(opcode, 0x100 + i, i == n - 1 ? MTU - 1 : MTU);
        if (i == 0) {
            rig_run();
            rig_sent_request(0x100 + 2 * part, 2 * part * MTU, MTU - 1);
        }
    }
    rig_done(0, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(rig.written, ==, n * MTU - 1);
    g_assert_cmpuint(pvrdma_req_reads(&rig.qp.req), ==, 0);
    rig_end();
}

/*
 * Refuses a response that ends where no request ends, and a last packet of a READ without
 * the opcode "last".
 */
static void test_read_bad_end(void)
{
    for (unsigned i = 0; i < 2; i++) {
        start();
        rig_post(PVRDMA_WR_RDMA_READ, 2 * PVRDMA_REQ_REPEAT_PACKETS * MTU);
        rig_run();
        rig_drop();
        respond(0, 3);
        if (i == 0) {
            respond(1, 2);
        } else {
            for (unsigned at = 1; at < 2 * PVRDMA_REQ_REPEAT_PACKETS; at++) {
                respond(at, 0);
            }
        }
        rig_done(0, PVRDMA_WC_BAD_RESP_ERR);
        rig_end();
    }
}

/*
 * Answers the first WQE, a READ of two packets, with an invalid packet.  Asserts that the
 * READ fails and that no data are stored.
 */
static void bad_answer(unsigned opcode, uint32_t len, uint8_t syndrome)
{
    static const uint8_t zeroes[2 * MTU];

    start();
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_run();
    g_assert_cmpuint(rig_drop(), ==, 2);
    rig_answer(opcode, 0x100, syndrome, zeroes, len);
    rig_done(0, PVRDMA_WC_BAD_RESP_ERR);
    rig_done(1, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(rig.written, ==, 0);
    rig_end();
}

static void test_read_bad(void)
{
    bad_answer(ROCE_OP_READ_RESP_FIRST, MTU - 1, 0);
    bad_answer(ROCE_OP_READ_RESP_FIRST, MTU + 1, 0);
    bad_answer(ROCE_OP_READ_RESP_FIRST, 0, 0);
    bad_answer(ROCE_OP_READ_RESP_LAST, MTU, 0);
    bad_answer(ROCE_OP_READ_RESP_ONLY, 2 * MTU, 0);
    bad_answer(ROCE_OP_READ_RESP_FIRST, MTU,
               ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_REMOTE_ACCESS));
    bad_answer(ROCE_OP_ATOMIC_ACK, 0, 0);
    bad_answer(ROCE_OP_ACK, 0, 2 << 5);
}

static void test_atomic(void)
{
    uint64_t value;
    const RigPacket *p;
    RigWqe *w;

    start();
    w = rig_post(PVRDMA_WR_ATOMIC_CMP_AND_SWP, 8);
    w->compare_add = 0x1122334455667788;
    w->swap = 0x99aabbccddeeff00;
    w = rig_post(PVRDMA_WR_ATOMIC_FETCH_AND_ADD, 8);
    w->compare_add = 42;
    rig_run();
    p = rig_sent(ROCE_OP_COMPARE_SWAP, 0x100);
    g_assert_cmphex(p->pkt.compare, ==, 0x1122334455667788);
    g_assert_cmphex(p->pkt.swap_add, ==, 0x99aabbccddeeff00);
    g_assert_cmphex(p->pkt.va, ==, RIG_VA);
    g_assert_cmphex(p->pkt.rkey, ==, RIG_RKEY);
    p = rig_sent(ROCE_OP_FETCH_ADD, 0x101);
    g_assert_cmpuint(p->pkt.swap_add, ==, 42);
    rig_atomic(0x100, 0x123456789abcdef0);
    rig_done(0, PVRDMA_WC_SUCCESS);
    value = ldq_le_p(rig.memory);
    g_assert_cmphex(value, ==, 0x123456789abcdef0);
    /* an acknowledgement does not complete an atomic, because it lacks the old value */
    rig_ack(0x101);
    g_assert_cmpuint(rig.wcs, ==, 0);
    rig_run();
    rig_sent(ROCE_OP_FETCH_ADD, 0x101);
    rig_atomic(0x101, 7);
    rig_done(1, PVRDMA_WC_SUCCESS);
    rig_end();
}

static void test_atomic_bad(void)
{
    start();
    rig_post(PVRDMA_WR_RDMA_WRITE, 1);
    rig_run();
    rig_drop();
    rig_atomic(0x100, 0);
    rig_done(0, PVRDMA_WC_BAD_RESP_ERR);
    rig_end();

    start();
    rig.qp.attr.max_rd_atomic = 0;
    rig_post(PVRDMA_WR_RDMA_READ, 8);
    rig_run();
    rig_done(0, PVRDMA_WC_LOC_QP_OP_ERR);
    rig_end();
}

/*
 * At most max_rd_atomic READs and atomics are under way, because the peer keeps no more.
 */
static void test_reads_limit(void)
{
    start();
    rig.qp.attr.max_rd_atomic = 2;
    rig_post(PVRDMA_WR_RDMA_READ, 1);
    rig_post(PVRDMA_WR_ATOMIC_FETCH_AND_ADD, 8);
    rig_post(PVRDMA_WR_ATOMIC_FETCH_AND_ADD, 8);
    rig_post(PVRDMA_WR_RDMA_READ, 1);
    rig_run();
    rig_sent(ROCE_OP_READ_REQUEST, 0x100);
    rig_sent(ROCE_OP_FETCH_ADD, 0x101);
    rig_quiet();
    rig_clock(roce_timeout_ns(RIG_TIMEOUT));
    rig_run();
    rig_sent(ROCE_OP_READ_REQUEST, 0x100);
    rig_sent(ROCE_OP_FETCH_ADD, 0x101);
    rig_quiet();
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x100, 1);
    rig_run();
    rig_sent(ROCE_OP_FETCH_ADD, 0x102);
    rig_quiet();
    rig_atomic(0x101, 0);
    rig_run();
    rig_sent(ROCE_OP_READ_REQUEST, 0x103);
    rig_atomic(0x102, 0);
    rig_read(ROCE_OP_READ_RESP_ONLY, 0x103, 1);
    for (unsigned i = 0; i < 4; i++) {
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    rig_end();
}

static void test_fence(void)
{
    start();
    rig_post(PVRDMA_WR_RDMA_READ, 2 * MTU);
    rig_post(PVRDMA_WR_SEND, 1);
    rig_post(PVRDMA_WR_SEND, 1)->flags |= PVRDMA_SEND_FENCE;
    rig_run();
    rig_sent(ROCE_OP_READ_REQUEST, 0x100);
    rig_sent(ROCE_OP_SEND_ONLY, 0x102);
    rig_quiet();
    rig_read(ROCE_OP_READ_RESP_FIRST, 0x100, MTU);
    rig_run();
    rig_quiet();
    rig_read(ROCE_OP_READ_RESP_LAST, 0x101, MTU);
    g_assert_true(rig.qp.active);
    rig_run();
    /* the fence waits for the READ before it, not for the SEND */
    rig_sent(ROCE_OP_SEND_ONLY, 0x103);
    rig_ack(0x103);
    for (unsigned i = 0; i < 3; i++) {
        rig_done(i, PVRDMA_WC_SUCCESS);
    }
    rig_end();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/req/write", test_write);
    g_test_add_func("/pvrdma/req/send", test_send);
    g_test_add_func("/pvrdma/req/wrap", test_wrap);
    g_test_add_func("/pvrdma/req/window", test_window);
    g_test_add_func("/pvrdma/req/budget", test_budget);
    g_test_add_func("/pvrdma/req/many", test_many);
    g_test_add_func("/pvrdma/req/read", test_read);
    g_test_add_func("/pvrdma/req/read-acks", test_read_acks);
    g_test_add_func("/pvrdma/req/read-lost", test_read_lost);
    g_test_add_func("/pvrdma/req/read-slow", test_read_slow);
    g_test_add_func("/pvrdma/req/read-again", test_read_again);
    g_test_add_func("/pvrdma/req/read-lost-end", test_read_lost_end);
    g_test_add_func("/pvrdma/req/read-long", test_read_long);
    g_test_add_func("/pvrdma/req/read-bad", test_read_bad);
    g_test_add_func("/pvrdma/req/read-bad-end", test_read_bad_end);
    g_test_add_func("/pvrdma/req/atomic", test_atomic);
    g_test_add_func("/pvrdma/req/atomic-bad", test_atomic_bad);
    g_test_add_func("/pvrdma/req/reads-limit", test_reads_limit);
    g_test_add_func("/pvrdma/req/fence", test_fence);
    return g_test_run();
}
