/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion: marked packets are counted and notified to their sender, and a device
 * that gets a notification sends slower; both only with dcqcn=on.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "hw/rnic/pvrdma/wire/dcqcn.h"
#include "verbs.h"

#define MTU         4096
#define BIG         (1 << 20)
#define BIG_FRAMES  (BIG / MTU)
#define US          1000LL
#define BEHIND      (BIG + 0x1000) /* offset in the region where the peer writes to */

typedef struct Rig {
    PvrdmaTest *t;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    uint32_t psn;                       /* of the peer's next request */
} Rig;

static const PvrdmaTestQpAttr attr = {
    .mtu = PVRDMA_MTU_4096, .dest_qpn = 0x123, .sq_psn = 0xffffff, .rq_psn = 0x100,
    .timeout = PVRDMA_TEST_NEVER,
};

static Rig rig_new(const char *props)
{
    Rig r = { .t = pvrdma_start(props), .psn = attr.rq_psn };
    uint32_t pd = pvrdma_pd_create(r.t, 0);
    PvrdmaTestQpInit init = { .pd = pd, .send_cq = &r.cq, .recv_cq = &r.cq };

    r.cq = pvrdma_cq_create(r.t, 0, 0, 64);
    r.mr = pvrdma_mr_create(r.t, pd, 0x10000000, 2 * BIG, PVRDMA_TEST_ACCESS_ALL);
    r.qp = pvrdma_qp_create(r.t, &init);
    pvrdma_qp_connect(r.t, &r.qp, &attr);
    return r;
}

static void peer_send(Rig *r, RocePacket *pkt, uint8_t ecn, const void *payload,
                      size_t len)
{
    RocePath path = pvrdma_path(false, false);

    path.traffic_class = ecn;
    pkt->pkey = ROCE_PKEY_DEFAULT;
    pkt->qpn = r->qp.qpn;
    pvrdma_wire_send(r->t, &path, pkt, payload, len);
}

/* Sends a WRITE as the peer, with @ecn in the ECN field. */
static void peer_write(Rig *r, uint8_t ecn)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_WRITE_ONLY, .psn = r->psn, .ack_req = true,
        .va = r->mr.va + BEHIND, .rkey = r->mr.rkey, .dma_len = 4,
    };

    peer_send(r, &pkt, ecn, "abcd", 4);
    r->psn = roce_psn_add(r->psn, 1);
}

static void peer_cnp(Rig *r)
{
    static const uint8_t reserved[ROCE_CNP_BYTES];
    RocePacket pkt = { .opcode = ROCE_OP_CNP, .becn = true };

    peer_send(r, &pkt, 0, reserved, sizeof(reserved));
}

static void expect_cnp(Rig *r)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(r->t, ROCE_OP_CNP,
                                                   attr.dest_qpn, 0);

    g_assert_true(f->pkt.becn);
    g_assert_cmpuint(f->pkt.payload_len, ==, ROCE_CNP_BYTES);
    g_assert_true(buffer_is_zero(f->pkt.payload, ROCE_CNP_BYTES));
}

static void expect_ack(Rig *r)
{
    pvrdma_wire_expect_ack(r->t, attr.dest_qpn, roce_psn_add(r->psn, -1),
                           ROCE_AETH_NO_CREDITS);
}

/* The device sends one notification in 50 us at most, before the acknowledgement. */
static void test_marked(void)
{
    Rig r = rig_new(",dcqcn=on");

    peer_write(&r, ROCE_ECN_ECT0);
    expect_ack(&r);
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-ce"), ==, 0);
    peer_write(&r, ROCE_ECN_CE);
    expect_cnp(&r);
    expect_ack(&r);
    peer_write(&r, ROCE_ECN_CE);
    expect_ack(&r);
    pvrdma_step(r.t, 49 * US);
    peer_write(&r, ROCE_ECN_CE);
    expect_ack(&r);
    pvrdma_step(r.t, 1 * US);
    peer_write(&r, ROCE_ECN_CE);
    expect_cnp(&r);
    expect_ack(&r);
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-ce"), ==, 4);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-cnp"), ==, 2);
    pvrdma_stop(r.t);
}

/*
 * Without the property the device only counts: it sends no notifications and no slower.
 */
static void test_off(void)
{
    Rig r = rig_new("");
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r.mr, 0, BIG);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_WRITE, 0, 0);

    peer_write(&r, ROCE_ECN_CE);
    expect_ack(&r);
    for (unsigned i = 0; i < 20; i++) {
        peer_cnp(&r);
    }
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-cnp") == 20);
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-ce"), ==, 1);
    pvrdma_post_send(r.t, &r.qp, &hdr, &sge, 1);
    for (unsigned i = 0; i < BIG_FRAMES; i++) {
        g_autofree PvrdmaFrame *f = pvrdma_wire_take(r.t);

        g_assert_cmphex(f->path.traffic_class & ROCE_ECN, ==, 0);
    }
    pvrdma_stop(r.t);
}

/* Takes the frames that have arrived; asserts that all are full; returns their number. */
static unsigned take_all(Rig *r)
{
    unsigned count = 0;

    pvrdma_settle(r->t);
    while (!g_queue_is_empty(&r->t->frames)) {
        g_autofree PvrdmaFrame *f = g_queue_pop_head(&r->t->frames);

        g_assert_cmphex(f->path.traffic_class & ROCE_ECN, ==, ROCE_ECN_ECT0);
        g_assert_cmpuint(f->pkt.payload_len, ==, MTU);
        count++;
    }
    return count;
}

/*
 * Takes BIG bytes that the device sends after ten notifications, at a 1024th of the
 * line's rate that rises with time.  Asserts that the device sends no more than a burst
 * at the start and in each step of 50 us, and that all takes at least the time of a
 * 32nd of the rate.
 */
static void slow(Rig *r)
{
    const unsigned burst = PVRDMA_DCQCN_BURST / MTU + 1;
    unsigned first = take_all(r), all = first;
    int64_t us = 0;

    g_assert_cmpuint(first, >=, 1);
    g_assert_cmpuint(first, <=, burst);
    while (all < BIG_FRAMES) {
        unsigned more;

        pvrdma_step(r->t, 50 * US);
        us += 50;
        more = take_all(r);
        g_assert_cmpuint(more, <=, burst);
        all += more;
        g_assert_cmpint(us, <, 100000);
    }
    g_assert_cmpuint(all, ==, BIG_FRAMES);
    /* at a 32nd of the line's rate the transfer would have ended by now */
    g_assert_cmpint(us, >, BIG * 8LL * 32 / 100000);
}

static void notify(Rig *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        peer_cnp(r);
    }
    pvrdma_wait(r->t, pvrdma_counter(r->t, "rx-cnp") == count);
}

static void test_slow_write(void)
{
    Rig r = rig_new(",dcqcn=on");
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r.mr, 0, BIG);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_WRITE, 0, 0);
    RocePacket ack = {
        .opcode = ROCE_OP_ACK, .psn = roce_psn_add(attr.sq_psn, BIG_FRAMES - 1),
        .msn = 1, .syndrome = ROCE_AETH_NO_CREDITS,
    };

    notify(&r, 10);
    pvrdma_post_send(r.t, &r.qp, &hdr, &sge, 1);
    slow(&r);
    peer_send(&r, &ack, 0, NULL, 0);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-retry"), ==, 0);
    pvrdma_stop(r.t);
}

/* The rate also limits the response to a READ of the peer. */
static void test_slow_read(void)
{
    Rig r = rig_new(",dcqcn=on");
    RocePacket pkt = {
        .opcode = ROCE_OP_READ_REQUEST, .psn = r.psn, .va = r.mr.va,
        .rkey = r.mr.rkey, .dma_len = BIG,
    };

    notify(&r, 10);
    peer_send(&r, &pkt, 0, NULL, 0);
    slow(&r);
    pvrdma_stop(r.t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/dcqcn/marked", test_marked);
    qtest_add_func("/pvrdma/dcqcn/off", test_off);
    qtest_add_func("/pvrdma/dcqcn/slow-write", test_slow_write);
    qtest_add_func("/pvrdma/dcqcn/slow-read", test_slow_read);
    return g_test_run();
}
