/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reliable connection between two machines.  The test is the cable, which can lose
 * frames.  Both machines have the same address: the cable gives each frame the address
 * of the peer.  Tests are named after the rows of the acceptance list [T §11].
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "qp-pair.h"

#define BYTES           (8 * MiB)
/* bytes of the region that differ from each other; the rest is 0 */
#define FILLED          (256 * KiB)
#define VA              0x600000000000ULL
#define ENTRIES         256
#define TIMEOUT_NS      (4096LL << 14)
/* number of polls without a frame after which virtual time passes */
#define IDLE            20

typedef struct Side {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    uint8_t *data;                  /* contents of the region at the start */
} Side;

typedef struct Cable {
    Side side[2];
    unsigned loss;                  /* one of @loss frames is lost; 0: none */
    unsigned lost;
    uint64_t carried;
} Cable;

static void side_make(Side *s)
{
    PvrdmaTestQpInit init = { .send_wr = ENTRIES, .recv_wr = ENTRIES };

    s->t = pvrdma_start("");
    s->pd = pvrdma_pd_create(s->t, 0);
    s->cq = pvrdma_cq_create(s->t, 0, 0, 2 * ENTRIES);
    init.pd = s->pd;
    init.send_cq = &s->cq;
    s->qp = pvrdma_qp_create(s->t, &init);
    s->mr = pvrdma_mr_create(s->t, s->pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    s->data = g_malloc0(BYTES);
}

/* Fills the first @len bytes of the region. */
static void side_fill(Side *s, unsigned seed, uint32_t len)
{
    if (len) {
        pvrdma_fill(s->t, s->mr.pa, s->data, len, seed);
    }
}

static void cable_start(Cable *c, enum pvrdma_mtu mtu)
{
    *c = (Cable) { .loss = 0 };
    for (unsigned i = 0; i < 2; i++) {
        side_make(&c->side[i]);
        side_fill(&c->side[i], i, FILLED);
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_qp_connect(c->side[i].t, &c->side[i].qp, &(PvrdmaTestQpAttr) {
            .mtu = mtu,
            .dest_qpn = c->side[!i].qp.qpn,
            .sq_psn = 0xfffff0, .rq_psn = 0xfffff0,
        });
    }
}

static bool cable_lose(Cable *c)
{
    bool lose = c->loss && g_test_rand_int_range(0, c->loss) == 0;

    c->lost += lose;
    return lose;
}

/* Carries the frames of both machines; returns false if there were none. */
static bool cable_carry(Cable *c)
{
    const RocePath path = pvrdma_path(false, false);
    bool any = false;

    for (unsigned i = 0; i < 2; i++) {
        PvrdmaTest *from = c->side[i].t;
        PvrdmaFrame *f;

        pvrdma_pump(from);
        while ((f = g_queue_pop_head(&from->frames))) {
            any = true;
            if (!cable_lose(c)) {
                pvrdma_wire_send(c->side[!i].t, &path, &f->pkt, f->pkt.payload,
                                 f->pkt.payload_len);
                c->carried += f->pkt.payload_len;
            }
            g_free(f);
        }
    }
    return any;
}

static void cable_stop(Cable *c)
{
    for (unsigned i = 0; i < 4 * IDLE; i++) {
        cable_carry(c);
        pvrdma_settle(c->side[i % 2].t);
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_cq_assert_empty(c->side[i].t, &c->side[i].cq);
        g_free(c->side[i].data);
        pvrdma_stop(c->side[i].t);
    }
}

/*
 * Carries frames.  If none came for IDLE calls and frames can be lost, lets QPs time
 * out.  @idle: number of calls without a frame.
 */
static void cable_work(Cable *c, unsigned *idle)
{
    *idle = cable_carry(c) ? 0 : *idle + 1;
    if (c->loss && *idle == IDLE) {
        *idle = 0;
        for (unsigned j = 0; j < 2; j++) {
            qtest_clock_step(c->side[j].t->qts, TIMEOUT_NS);
        }
    }
}

/* Carries frames until side @i has a completion; asserts success and @wr_id. */
static struct pvrdma_cqe cable_done(Cable *c, unsigned i, uint64_t wr_id)
{
    struct pvrdma_cqe cqe;
    unsigned idle = 0;

    wait_until(pvrdma_cq_poll(c->side[i].t, &c->side[i].cq, &cqe),
               cable_work(c, &idle));
    g_assert_cmpuint(le64_to_cpu(cqe.wr_id), ==, wr_id);
    g_assert_cmpuint(le32_to_cpu(cqe.status), ==, PVRDMA_WC_SUCCESS);
    return cqe;
}

/*
 * Posts an RDMA WRITE or READ of side 0 between @at of its region and @remote of the
 * other one's.
 */
static void cable_rdma(Cable *c, uint64_t wr_id, enum pvrdma_wr_opcode opcode,
                       uint32_t at, uint32_t remote, uint32_t len)
{
    const Side *to = &c->side[1];
    struct pvrdma_sq_wqe_hdr hdr =
        pvrdma_wr_rdma(wr_id, opcode, to->mr.va + remote, to->mr.rkey);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&c->side[0].mr, at, len);

    hdr.send_flags |= cpu_to_le32(opcode == PVRDMA_WR_RDMA_READ ?
                                  0 : PVRDMA_SEND_FENCE);
    pvrdma_post_send(c->side[0].t, &c->side[0].qp, &hdr, &sge, 1);
}

/*
 * Asserts that side @i has at @at the bytes that the other side had at @other at the
 * start.
 */
static void cable_assert(Cable *c, unsigned i, uint32_t at, uint32_t other,
                         uint32_t len)
{
    if (len) {
        pvrdma_assert_mem(c->side[i].t, c->side[i].mr.pa + at,
                          c->side[!i].data + other, len);
    }
}

/* --- Rows -------------------------------------------------------------------- */

static void test_loopback(void)
{
    PvrdmaQpPair d;
    PvrdmaTestSge sge;
    g_autofree uint8_t *data = g_malloc(64);

    pvrdma_qp_pair_start(&d);
    sge = PVRDMA_TEST_SGE(&d.mr[0], 0, 64);
    pvrdma_fill(d.t, d.mr[0].pa, data, 64, 5);
    pvrdma_qp_pair_rdma(&d, PVRDMA_WR_RDMA_WRITE, sge, d.mr[1].va, d.mr[1].rkey,
                        PVRDMA_WC_SUCCESS);
    pvrdma_assert_mem(d.t, d.mr[1].pa, data, 64);
    pvrdma_fill(d.t, d.mr[1].pa, data, 64, 6);
    pvrdma_qp_pair_rdma(&d, PVRDMA_WR_RDMA_READ, sge, d.mr[1].va, d.mr[1].rkey,
                        PVRDMA_WC_SUCCESS);
    pvrdma_assert_mem(d.t, d.mr[0].pa, data, 64);
    pvrdma_qp_pair_stop(&d);
}

static void test_read_write_read(void)
{
    Cable c;

    cable_start(&c, PVRDMA_MTU_1024);
    cable_rdma(&c, 1, PVRDMA_WR_RDMA_READ, 0, 0, 100);
    cable_done(&c, 0, 1);
    cable_assert(&c, 0, 0, 0, 100);
    cable_rdma(&c, 2, PVRDMA_WR_RDMA_WRITE, 5000, 0, 100);
    cable_done(&c, 0, 2);
    cable_assert(&c, 1, 0, 5000, 100);
    cable_rdma(&c, 3, PVRDMA_WR_RDMA_READ, 0, 0, 100);
    cable_done(&c, 0, 3);
    pvrdma_assert_mem(c.side[0].t, c.side[0].mr.pa, c.side[0].data + 5000, 100);
    cable_stop(&c);
}

/* WRITEs @len bytes to the end of the other region, and READs as many from its start. */
static void sizes_check(Cable *c, uint32_t len)
{
    const uint32_t at = BYTES - len;

    side_fill(&c->side[0], len, len);
    cable_rdma(c, len, PVRDMA_WR_RDMA_WRITE, 0, at, len);
    cable_done(c, 0, len);
    cable_assert(c, 1, at, 0, len);
    side_fill(&c->side[1], len + 1, len);
    cable_rdma(c, len, PVRDMA_WR_RDMA_READ, at, 0, len);
    cable_done(c, 0, len);
    cable_assert(c, 0, at, 0, len);
}

static void test_sizes(void)
{
    Cable c;

    cable_start(&c, PVRDMA_MTU_4096);
    for (uint32_t len = 64; len <= 4 * MiB; len *= 2) {
        sizes_check(&c, len);
    }
    cable_stop(&c);
}

/*
 * Sizes around packets of 1024 bytes, the MTU here, and of 1408, that of the document;
 * the bytes behind the target stay.
 */
static void test_boundaries(void)
{
    static const uint32_t sizes[] = {
        0, 1, 3, 4, 1020, 1023, 1024, 1025, 2048, 2049,
        1404, 1407, 1408, 1409, 2816, 2817,
    };
    uint32_t at = FILLED / 2;
    Cable c;

    cable_start(&c, PVRDMA_MTU_1024);
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        sizes_check(&c, sizes[i]);
        cable_rdma(&c, i, PVRDMA_WR_RDMA_WRITE, 0, at, sizes[i]);
        cable_done(&c, 0, i);
        cable_assert(&c, 1, at, 0, sizes[i]);
    }
    /* the bytes behind all the WRITEs */
    at += sizes[ARRAY_SIZE(sizes) - 1];
    pvrdma_assert_mem(c.side[1].t, c.side[1].mr.pa + at, c.side[1].data + at, 64);
    cable_stop(&c);
}

static void test_long(void)
{
    Cable c;

    cable_start(&c, PVRDMA_MTU_4096);
    sizes_check(&c, BYTES - 1);
    sizes_check(&c, BYTES);
    cable_stop(&c);
}

/*
 * WRITEs and READs of one place, posted at once: each READ gets the data of the WRITE
 * before.
 */
static void test_one_place(void)
{
    const uint32_t len = 3000, n = 32;
    Cable c;

    cable_start(&c, PVRDMA_MTU_1024);
    for (uint32_t i = 0; i < n; i++) {
        cable_rdma(&c, 2 * i, PVRDMA_WR_RDMA_WRITE, i * len, 0, len);
        cable_rdma(&c, 2 * i + 1, PVRDMA_WR_RDMA_READ, (n + i) * len, 0, len);
    }
    for (uint32_t i = 0; i < 2 * n; i++) {
        cable_done(&c, 0, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        pvrdma_assert_mem(c.side[0].t, c.side[0].mr.pa + (n + i) * len,
                          c.side[0].data + i * len, len);
    }
    cable_stop(&c);
}

static void test_sustained(void)
{
    const unsigned rounds = 8, depth = 4;
    Cable c;

    cable_start(&c, PVRDMA_MTU_4096);
    side_fill(&c.side[0], 2, BYTES);
    for (unsigned i = 0; i < rounds; i++) {
        cable_rdma(&c, i, i % 2 ? PVRDMA_WR_RDMA_READ : PVRDMA_WR_RDMA_WRITE,
                   0, 0, BYTES);
        if (i >= depth) {
            cable_done(&c, 0, i - depth);
        }
    }
    for (unsigned i = rounds - depth; i < rounds; i++) {
        cable_done(&c, 0, i);
    }
    g_assert_cmpuint(c.carried, ==, (uint64_t)rounds * BYTES);
    cable_assert(&c, 1, 0, 0, BYTES);
    g_assert_cmpuint(pvrdma_counter(c.side[0].t, "tx-retry"), ==, 0);
    cable_stop(&c);
}

/* SENDs from side 0 to side 1: each completes once on both sides, in order. */
static void test_sends(void)
{
    const unsigned n = 100;
    Cable c;

    cable_start(&c, PVRDMA_MTU_256);
    for (uint32_t k = 0; k < 2 * n; k++) {
        Side *s = &c.side[k % 2];
        uint32_t i = k / 2;
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&s->mr, BYTES / 2 + i * 1000, 1000);

        pvrdma_post_recv(s->t, &s->qp, 1000 + i, &sge, 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(i, PVRDMA_WR_SEND_WITH_IMM);
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&c.side[0].mr, i * 1000, i * 10);
        struct pvrdma_cqe cqe;

        hdr.ex.imm_data = cpu_to_be32(i);
        pvrdma_post_send(c.side[0].t, &c.side[0].qp, &hdr, &sge, 1);
        cable_done(&c, 0, i);
        cqe = cable_done(&c, 1, 1000 + i);
        g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, i * 10);
        g_assert_cmpuint(be32_to_cpu(cqe.imm_data), ==, i);
        cable_assert(&c, 1, BYTES / 2 + i * 1000, i * 1000, i * 10);
    }
    cable_stop(&c);
}

/*
 * SENDs that arrive before there are receive WQEs are sent again, and those behind
 * them, too.
 */
static void test_not_ready(void)
{
    const unsigned n = 5;
    Cable c;

    cable_start(&c, PVRDMA_MTU_256);
    for (uint32_t i = 0; i < n; i++) {
        struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(i, PVRDMA_WR_SEND);
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&c.side[0].mr, i * 1000, 1000);

        pvrdma_post_send(c.side[0].t, &c.side[0].qp, &hdr, &sge, 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&c.side[1].mr, i * 1000, 1000);

        wait_until(pvrdma_counter(c.side[0].t, "rx-rnr") > i, cable_carry(&c));
        pvrdma_cq_assert_empty(c.side[1].t, &c.side[1].cq);
        pvrdma_post_recv(c.side[1].t, &c.side[1].qp, 1000 + i, &sge, 1);
        qtest_clock_step(c.side[0].t->qts, TIMEOUT_NS);
        cable_done(&c, 1, 1000 + i);
        cable_done(&c, 0, i);
        cable_assert(&c, 1, i * 1000, i * 1000, 1000);
    }
    g_assert_cmpuint(pvrdma_counter(c.side[1].t, "tx-rnr"), ==, n);
    cable_stop(&c);
}

/*
 * A7, A9, A19: with lost frames all data arrive, and each WQE completes once, in order.
 */
static void test_losses(void)
{
    const uint32_t n = 60, len = 20000;
    Cable c;

    cable_start(&c, PVRDMA_MTU_1024);
    c.loss = 40;
    for (uint32_t i = 0; i < n; i++) {
        cable_rdma(&c, i, i % 2 ? PVRDMA_WR_RDMA_READ : PVRDMA_WR_RDMA_WRITE,
                   i * len, i * len, len);
    }
    for (uint32_t i = 0; i < n; i++) {
        cable_done(&c, 0, i);
        cable_assert(&c, !(i % 2), i * len, i * len, len);
    }
    g_assert_cmpuint(c.lost, >, 0);
    g_assert_cmpuint(pvrdma_counter(c.side[0].t, "tx-retry"), >, 0);
    c.loss = 0;
    cable_stop(&c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/pair/rc-loopback-a01", test_loopback);
    qtest_add_func("/pvrdma/pair/rc-read-write-read-a02", test_read_write_read);
    qtest_add_func("/pvrdma/pair/rc-sizes-a03", test_sizes);
    qtest_add_func("/pvrdma/pair/rc-boundaries-a04", test_boundaries);
    qtest_add_func("/pvrdma/pair/rc-long-a04", test_long);
    qtest_add_func("/pvrdma/pair/rc-one-place-a14", test_one_place);
    qtest_add_func("/pvrdma/pair/rc-sustained-a17", test_sustained);
    qtest_add_func("/pvrdma/pair/rc-sends-a18", test_sends);
    qtest_add_func("/pvrdma/pair/rc-not-ready-a18", test_not_ready);
    qtest_add_func("/pvrdma/pair/rc-losses-a19", test_losses);
    return g_test_run();
}
