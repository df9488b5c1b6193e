/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two machines with pvrdma on one wire: every kind of transfer in both directions with
 * all data compared; and what a machine does when the other one is switched off.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include <glib/gstdio.h>
#include "verbs.h"

#define VA 0x7fff12345123ULL        /* in the middle of a page */
#define BYTES (4 * MiB)
#define GUARD 64                    /* bytes on both sides of a target */
#define QKEY 0x1234
#define IMM 0xdecade01
#define SECOND 1000000000LL         /* ns in a second */

typedef struct Side {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq scq, rcq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
} Side;

typedef struct Pair {
    Side side[2];
    char *dir, *path;
    PvrdmaTestQpAttr attr;          /* of both QPs, without addresses and numbers */
} Pair;

/* Returns the attributes of side @i, with the address and numbers of the other side. */
static PvrdmaTestQpAttr attr_to(const Pair *p, unsigned i)
{
    const Side *other = &p->side[!i];
    PvrdmaTestQpAttr attr = p->attr;

    attr.dgid = attr.gid_index == 1 ? other->t->gid6 : other->t->gid;
    attr.dmac = other->t->mac;
    attr.dest_qpn = other->qp.qpn;
    attr.sq_psn = i ? 0xfffff0 : 0x123456;
    attr.rq_psn = i ? 0x123456 : 0xfffff0;
    attr.pd = p->side[i].pd;
    return attr;
}

static void pair_connect(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        PvrdmaTestQpAttr attr = attr_to(p, i);

        pvrdma_qp_connect(p->side[i].t, &p->side[i].qp, &attr);
    }
}

static Pair pair_start(uint8_t type, const PvrdmaTestQpAttr *attr)
{
    Pair p = { .attr = *attr };
    PvrdmaTest *t[2];

    p.dir = g_dir_make_tmp("pvrdma-pair-XXXXXX", NULL);
    g_assert_nonnull(p.dir);
    p.path = g_build_filename(p.dir, "wire", NULL);
    pvrdma_pair_start(t, p.path, "");
    for (unsigned i = 0; i < 2; i++) {
        Side *s = &p.side[i];

        s->t = t[i];
        s->pd = pvrdma_pd_create(s->t, 0);
        s->scq = pvrdma_cq_create(s->t, 0, 0, 256);
        s->rcq = pvrdma_cq_create(s->t, 0, 0, 256);
        s->mr = pvrdma_mr_create(s->t, s->pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
        s->qp = pvrdma_qp_create(s->t, &(PvrdmaTestQpInit) {
            .type = type, .pd = s->pd, .send_cq = &s->scq, .recv_cq = &s->rcq,
            .send_wr = 128, .recv_wr = 128,
        });
    }
    pair_connect(&p);
    return p;
}

/* Asserts that nothing was lost, sent again or refused. */
static void assert_clean(PvrdmaTest *t)
{
    static const char *const bad[] = {
        "tx-retry", "tx-nak", "tx-nak-error", "rx-nak", "rx-nak-error",
        "rx-bad-icrc", "rx-bad-length", "rx-duplicate", "rx-out-of-sequence",
        "rx-stale", "timeout",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        uint64_t count = pvrdma_counter(t, bad[i]);

        if (count) {
            g_error("%s is %" PRIu64, bad[i], count);
        }
    }
}

static void pair_stop(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        Side *s = &p->side[i];

        if (s->t) {
            pvrdma_cq_assert_empty(s->t, &s->scq);
            pvrdma_cq_assert_empty(s->t, &s->rcq);
            pvrdma_stop(s->t);
        }
    }
    unlink(p->path);
    g_rmdir(p->dir);
    g_free(p->path);
    g_free(p->dir);
}

/* --- Data ----------------------------------------------------------------- */
typedef struct Copy {
    uint64_t from, to;              /* offsets in the regions of source and target */
    uint32_t len;
    uint8_t *data;
} Copy;

/*
 * Fills @len bytes in the region of @src, and in that of @dst a target with a guard
 * around it.
 */
static Copy copy_make(Side *src, Side *dst, uint32_t len, unsigned seed)
{
    Copy c = {
        .from = seed * 7 % 4096, .to = MiB + seed * 13 % 4096, .len = len,
        .data = g_malloc(len),
    };

    g_assert_cmpuint(c.to + len + GUARD, <=, BYTES);
    if (len) {
        pvrdma_fill(src->t, src->mr.pa + c.from, c.data, len, seed);
    }
    qtest_memset(dst->t->qts, dst->mr.pa + c.to - GUARD, 0xee, len + 2 * GUARD);
    return c;
}

static void copy_check(Copy *c, Side *dst)
{
    uint8_t guard[GUARD];
    uint64_t at = dst->mr.pa + c->to;

    memset(guard, 0xee, sizeof(guard));
    pvrdma_assert_mem(dst->t, at - GUARD, guard, GUARD);
    pvrdma_assert_mem(dst->t, at, c->data, c->len);
    pvrdma_assert_mem(dst->t, at + c->len, guard, GUARD);
    g_free(c->data);
}

static void check_write(Pair *p, unsigned i, uint32_t len, bool imm)
{
    Side *src = &p->side[i], *dst = &p->side[!i];
    Copy c = copy_make(src, dst, len, len + i);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&src->mr, c.from, len);
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_rdma(len,
        imm ? PVRDMA_WR_RDMA_WRITE_WITH_IMM : PVRDMA_WR_RDMA_WRITE,
        dst->mr.va + c.to, dst->mr.rkey);

    if (imm) {
        pvrdma_post_recv(dst->t, &dst->qp, 9, NULL, 0);
        wr.ex.imm_data = cpu_to_be32(IMM);
    }
    pvrdma_post_send(src->t, &src->qp, &wr, &sge, 1);
    pvrdma_cq_expect(src->t, &src->scq, len, PVRDMA_WC_SUCCESS);
    if (imm) {
        struct pvrdma_cqe cqe = pvrdma_cq_expect(dst->t, &dst->rcq, 9,
                                                 PVRDMA_WC_SUCCESS);

        g_assert_cmpuint(le32_to_cpu(cqe.opcode), ==,
                         PVRDMA_WC_RECV_RDMA_WITH_IMM);
        g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, len);
        g_assert_cmphex(be32_to_cpu(cqe.imm_data), ==, IMM);
    }
    copy_check(&c, dst);
}

static void check_read(Pair *p, unsigned i, uint32_t len)
{
    Side *own = &p->side[i], *peer = &p->side[!i];
    Copy c = copy_make(peer, own, len, len + 2 + i);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&own->mr, c.to, len);
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_rdma(len, PVRDMA_WR_RDMA_READ,
        peer->mr.va + c.from, peer->mr.rkey);

    pvrdma_post_send(own->t, &own->qp, &wr, &sge, 1);
    pvrdma_cq_expect(own->t, &own->scq, len, PVRDMA_WC_SUCCESS);
    copy_check(&c, own);
}

/*
 * Sends @len bytes from side @i by @opcode, a SEND with or without immediate data, to a
 * receive WQE with two elements; asserts completions and data.
 */
static void check_send(Pair *p, unsigned i, uint32_t len,
                       enum pvrdma_wr_opcode opcode)
{
    Side *src = &p->side[i], *dst = &p->side[!i];
    Copy c = copy_make(src, dst, len, len + 4 + i);
    PvrdmaTestSge from = PVRDMA_TEST_SGE(&src->mr, c.from, len);
    PvrdmaTestSge to[] = {
        PVRDMA_TEST_SGE(&dst->mr, c.to, len / 3),
        PVRDMA_TEST_SGE(&dst->mr, c.to + len / 3, len - len / 3),
    };
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(len, opcode);
    bool imm = opcode == PVRDMA_WR_SEND_WITH_IMM;
    struct pvrdma_cqe cqe;

    wr.ex.imm_data = cpu_to_be32(IMM);
    pvrdma_post_recv(dst->t, &dst->qp, len + 1, to, 2);
    pvrdma_post_send(src->t, &src->qp, &wr, &from, 1);
    pvrdma_cq_expect(src->t, &src->scq, len, PVRDMA_WC_SUCCESS);
    cqe = pvrdma_cq_expect(dst->t, &dst->rcq, len + 1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.opcode), ==, PVRDMA_WC_RECV);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, len);
    g_assert_cmphex(le32_to_cpu(cqe.wc_flags), ==, imm ? PVRDMA_WC_WITH_IMM : 0);
    if (imm) {
        g_assert_cmphex(be32_to_cpu(cqe.imm_data), ==, IMM);
    }
    copy_check(&c, dst);
}

/* --- Connections ---------------------------------------------------------- */
static void check_all(Pair *p, uint32_t len)
{
    for (unsigned i = 0; i < 2; i++) {
        check_write(p, i, len, false);
        check_write(p, i, len, true);
        check_read(p, i, len);
        check_send(p, i, len, PVRDMA_WR_SEND);
        check_send(p, i, len, PVRDMA_WR_SEND_WITH_IMM);
    }
}

static void test_sizes(void)
{
    static const uint32_t sizes[] = {
        0, 1, 2, 3, 4, 5, 255, 1023, 1024, 1025, 2047, 2048, 4095, 4096, 4097,
        65535, 65536, 65537, 300000, 1024 * 256, 1024 * 256 + 1, MiB + 3,
    };
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        check_all(&p, sizes[i]);
    }
    assert_clean(p.side[0].t);
    assert_clean(p.side[1].t);
    pair_stop(&p);
}

/* Every MTU, over IPv4 and IPv6. */
static void test_mtu(void)
{
    static const uint32_t sizes[] = { 0, 7, 256, 257, 4096, 4097, 50000 };

    for (unsigned mtu = PVRDMA_MTU_256; mtu <= PVRDMA_MTU_4096; mtu++) {
        Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) {
            .mtu = mtu, .gid_index = mtu & 1,
        });

        for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
            check_all(&p, sizes[i]);
        }
        assert_clean(p.side[0].t);
        assert_clean(p.side[1].t);
        pair_stop(&p);
    }
}

static void check_atomic(Pair *p, unsigned i, enum pvrdma_wr_opcode opcode,
                         uint64_t compare_add, uint64_t swap, uint64_t want)
{
    Side *own = &p->side[i], *peer = &p->side[!i];
    PvrdmaTestMr word = peer->mr;
    uint64_t before, at;
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&own->mr, 3, 8);
    struct pvrdma_sq_wqe_hdr wr;

    /* an address for atomics must be a multiple of 8 */
    word.va = ROUND_UP(peer->mr.va, 8);
    at = peer->mr.pa + (word.va - peer->mr.va);
    before = qtest_readq(peer->t->qts, at);
    wr = pvrdma_wr_atomic(1, opcode, &word, compare_add, swap);
    pvrdma_post_send(own->t, &own->qp, &wr, &sge, 1);
    pvrdma_cq_expect(own->t, &own->scq, 1, PVRDMA_WC_SUCCESS);
    g_assert_cmphex(qtest_readq(own->t->qts, own->mr.pa + 3), ==, before);
    g_assert_cmphex(qtest_readq(peer->t->qts, at), ==, want);
}

static void test_atomics(void)
{
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });

    for (unsigned i = 0; i < 2; i++) {
        Side *peer = &p.side[!i];

        qtest_memset(peer->t->qts, peer->mr.pa, 0, 4096);
        check_atomic(&p, i, PVRDMA_WR_ATOMIC_FETCH_AND_ADD, 0x100000005, 0,
                     0x100000005);
        check_atomic(&p, i, PVRDMA_WR_ATOMIC_FETCH_AND_ADD, -6ULL, 0,
                     0xffffffff);
        check_atomic(&p, i, PVRDMA_WR_ATOMIC_CMP_AND_SWP, 1, 2, 0xffffffff);
        check_atomic(&p, i, PVRDMA_WR_ATOMIC_CMP_AND_SWP, 0xffffffff,
                     0x1122334455667788, 0x1122334455667788);
    }
    assert_clean(p.side[0].t);
    assert_clean(p.side[1].t);
    pair_stop(&p);
}

/*
 * WRITEs and READs, posted at once: completions arrive in order, and all data are
 * right.
 */
static void test_many(void)
{
    enum { N = 120, LEN = 5000 };
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });
    Side *src = &p.side[0], *dst = &p.side[1];
    g_autofree uint8_t *data = g_malloc(N * LEN);
    g_autofree uint8_t *other = g_malloc(N * LEN);

    pvrdma_fill(src->t, src->mr.pa, data, N * LEN, 1);
    pvrdma_fill(dst->t, dst->mr.pa + 2 * MiB, other, N * LEN, 2);
    for (unsigned i = 0; i < N; i++) {
        bool read = i % 3 == 2;
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&src->mr,
            (read ? MiB : 0) + i * LEN, LEN);
        struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_rdma(i,
            read ? PVRDMA_WR_RDMA_READ : PVRDMA_WR_RDMA_WRITE,
            dst->mr.va + (read ? 2 * MiB : 0) + i * LEN, dst->mr.rkey);

        if (i % 5 == 4) {
            wr.send_flags |= cpu_to_le32(PVRDMA_SEND_FENCE);
        }
        pvrdma_put_send(src->t, &src->qp, &wr, &sge, 1);
    }
    pvrdma_ring_send(src->t, &src->qp);
    for (unsigned i = 0; i < N; i++) {
        bool read = i % 3 == 2;

        pvrdma_cq_expect(src->t, &src->scq, i, PVRDMA_WC_SUCCESS);
        if (read) {
            pvrdma_assert_mem(src->t, src->mr.pa + MiB + i * LEN,
                              other + i * LEN, LEN);
        } else {
            pvrdma_assert_mem(dst->t, dst->mr.pa + i * LEN, data + i * LEN, LEN);
        }
    }
    assert_clean(src->t);
    assert_clean(dst->t);
    pair_stop(&p);
}

/* Both sides send to each other at once. */
static void test_both_directions(void)
{
    enum { N = 64, LEN = 20000 };
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });
    g_autofree uint8_t *data = g_malloc(LEN);

    for (unsigned i = 0; i < 2; i++) {
        Side *s = &p.side[i];
        PvrdmaTestSge to = PVRDMA_TEST_SGE(&s->mr, MiB, LEN);

        pvrdma_fill(s->t, s->mr.pa, data, LEN, 3);
        for (unsigned n = 0; n < N; n++) {
            pvrdma_post_recv(s->t, &s->qp, n, &to, 1);
        }
    }
    for (unsigned n = 0; n < N; n++) {
        for (unsigned i = 0; i < 2; i++) {
            Side *s = &p.side[i];
            struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(n, PVRDMA_WR_SEND);
            PvrdmaTestSge from = PVRDMA_TEST_SGE(&s->mr, 0, LEN);

            pvrdma_post_send(s->t, &s->qp, &wr, &from, 1);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        Side *s = &p.side[i];

        for (unsigned n = 0; n < N; n++) {
            pvrdma_cq_expect(s->t, &s->scq, n, PVRDMA_WC_SUCCESS);
            pvrdma_cq_expect(s->t, &s->rcq, n, PVRDMA_WC_SUCCESS);
        }
        pvrdma_assert_mem(s->t, s->mr.pa + MiB, data, LEN);
        assert_clean(s->t);
    }
    pair_stop(&p);
}

/* The receive WQE is posted after the first packet has arrived. */
static void test_not_ready(void)
{
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });
    Side *src = &p.side[0], *dst = &p.side[1];
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(1, PVRDMA_WR_SEND);
    Copy c = copy_make(src, dst, 10000, 6);
    PvrdmaTestSge from = PVRDMA_TEST_SGE(&src->mr, c.from, c.len);
    PvrdmaTestSge to = PVRDMA_TEST_SGE(&dst->mr, c.to, c.len);

    pvrdma_post_send(src->t, &src->qp, &wr, &from, 1);
    pvrdma_wait(src->t, pvrdma_counter(src->t, "rx-rnr") >= 1);
    pvrdma_post_recv(dst->t, &dst->qp, 2, &to, 1);
    pvrdma_cq_assert_empty(src->t, &src->scq);
    /* the requester sends again after the pause of the RNR NAK */
    pvrdma_step(src->t, SECOND);
    pvrdma_cq_expect(src->t, &src->scq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_cq_expect(dst->t, &dst->rcq, 2, PVRDMA_WC_SUCCESS);
    copy_check(&c, dst);
    pair_stop(&p);
}

/*
 * Asserts that the peer refuses the request of @make, that the requester gets @status,
 * and that the peer's guest gets @event.
 */
static void check_refused(struct pvrdma_sq_wqe_hdr (*make)(const Side *dst),
                          enum pvrdma_wc_status status, enum pvrdma_event event)
{
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });
    Side *src = &p.side[0], *dst = &p.side[1];
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&src->mr, 0, 3000);
    struct pvrdma_sq_wqe_hdr wr = make(dst);

    qtest_memset(dst->t->qts, dst->mr.pa, 0xee, 4096);
    pvrdma_put_send(src->t, &src->qp, &wr, &sge, 1);
    wr = pvrdma_wr(2, PVRDMA_WR_SEND);
    pvrdma_post_send(src->t, &src->qp, &wr, NULL, 0);
    pvrdma_cq_expect(src->t, &src->scq, 1, status);
    pvrdma_cq_expect(src->t, &src->scq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_event_take(dst->t, event, dst->qp.handle);
    g_assert_cmpuint(pvrdma_qp_state(src->t, &src->qp), ==, PVRDMA_QPS_ERR);
    g_assert_cmpuint(pvrdma_qp_state(dst->t, &dst->qp), ==, PVRDMA_QPS_ERR);
    g_assert_cmphex(qtest_readb(dst->t->qts, dst->mr.pa), ==, 0xee);
    /* both QPs can be connected again */
    pvrdma_qp_to(src->t, &src->qp, PVRDMA_QPS_RESET);
    pvrdma_qp_to(dst->t, &dst->qp, PVRDMA_QPS_RESET);
    pair_connect(&p);
    check_all(&p, 5000);
    pair_stop(&p);
}

static struct pvrdma_sq_wqe_hdr write_bad_key(const Side *dst)
{
    return pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_WRITE, dst->mr.va,
                          dst->mr.rkey ^ 0x100);
}

static struct pvrdma_sq_wqe_hdr write_beyond(const Side *dst)
{
    return pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_WRITE, dst->mr.va + BYTES - 2999,
                          dst->mr.rkey);
}

static struct pvrdma_sq_wqe_hdr read_bad_key(const Side *dst)
{
    return pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_READ, dst->mr.va,
                          dst->mr.rkey ^ 0x100);
}

static void test_refused(void)
{
    check_refused(write_bad_key, PVRDMA_WC_REM_ACCESS_ERR,
                  PVRDMA_EVENT_QP_ACCESS_ERR);
    check_refused(write_beyond, PVRDMA_WC_REM_ACCESS_ERR,
                  PVRDMA_EVENT_QP_ACCESS_ERR);
    check_refused(read_bad_key, PVRDMA_WC_REM_ACCESS_ERR,
                  PVRDMA_EVENT_QP_ACCESS_ERR);
}

/*
 * A responder that ends its connection right after a request does not lose the answers.
 */
static void test_end_behind(void)
{
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { 0 });
    Side *src = &p.side[0], *dst = &p.side[1];

    for (unsigned n = 0; n < 20; n++) {
        struct pvrdma_sq_wqe_hdr wr = pvrdma_wr(n, PVRDMA_WR_SEND);
        PvrdmaTestSge to = PVRDMA_TEST_SGE(&dst->mr, 0, 64);

        pvrdma_post_recv(dst->t, &dst->qp, n, &to, 1);
        pvrdma_post_send(src->t, &src->qp, &wr, NULL, 0);
        pvrdma_cq_expect(dst->t, &dst->rcq, n, PVRDMA_WC_SUCCESS);
        pvrdma_qp_to(dst->t, &dst->qp, PVRDMA_QPS_ERR);
        pvrdma_cq_expect(src->t, &src->scq, n, PVRDMA_WC_SUCCESS);
        pvrdma_qp_to(src->t, &src->qp, PVRDMA_QPS_RESET);
        pvrdma_qp_to(dst->t, &dst->qp, PVRDMA_QPS_RESET);
        pair_connect(&p);
    }
    assert_clean(src->t);
    pair_stop(&p);
}

/* The other machine is switched off. */
static void test_gone(void)
{
    Pair p = pair_start(PVRDMA_QPT_RC, &(PvrdmaTestQpAttr) { .retry_cnt = 2 });
    Side *src = &p.side[0], *dst = &p.side[1];
    struct pvrdma_sq_wqe_hdr wr;
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&src->mr, 0, 100);

    check_all(&p, 5000);
    pvrdma_stop(dst->t);
    dst->t = NULL;
    wr = pvrdma_wr(1, PVRDMA_WR_SEND);
    pvrdma_put_send(src->t, &src->qp, &wr, &sge, 1);
    wr = pvrdma_wr(2, PVRDMA_WR_SEND);
    pvrdma_post_send(src->t, &src->qp, &wr, &sge, 1);
    for (unsigned i = 0; i < 10; i++) {
        pvrdma_step(src->t, SECOND);
    }
    pvrdma_cq_expect(src->t, &src->scq, 1, PVRDMA_WC_RETRY_EXC_ERR);
    pvrdma_cq_expect(src->t, &src->scq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(pvrdma_qp_state(src->t, &src->qp), ==, PVRDMA_QPS_ERR);
    pair_stop(&p);
}

/* --- Datagrams ------------------------------------------------------------ */
static void check_datagram(Pair *p, unsigned i, uint32_t len)
{
    Side *src = &p->side[i], *dst = &p->side[!i];
    Copy c = copy_make(src, dst, len, len + i);
    PvrdmaTestQpAttr attr = attr_to(p, i);
    struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_ud(len, PVRDMA_WR_SEND_WITH_IMM,
                                               &attr);
    PvrdmaTestSge from = PVRDMA_TEST_SGE(&src->mr, c.from, len);
    PvrdmaTestSge to[] = {
        PVRDMA_TEST_SGE(&dst->mr, 0, ROCE_GRH_BYTES),
        PVRDMA_TEST_SGE(&dst->mr, c.to, len),
    };
    struct pvrdma_cqe cqe;

    wr.ex.imm_data = cpu_to_be32(IMM);
    pvrdma_post_recv(dst->t, &dst->qp, len + 1, to, 2);
    pvrdma_post_send(src->t, &src->qp, &wr, &from, 1);
    pvrdma_cq_expect(src->t, &src->scq, len, PVRDMA_WC_SUCCESS);
    cqe = pvrdma_cq_expect(dst->t, &dst->rcq, len + 1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, ROCE_GRH_BYTES + len);
    g_assert_cmphex(le32_to_cpu(cqe.src_qp), ==, src->qp.qpn);
    g_assert_cmphex(be32_to_cpu(cqe.imm_data), ==, IMM);
    g_assert_cmpmem(cqe.smac, 6, src->t->mac, 6);
    copy_check(&c, dst);
}

static void test_datagrams(void)
{
    static const uint32_t sizes[] = { 0, 1, 3, 256, 1000, 1024, 2048, 4095, 4096 };

    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        Pair p = pair_start(PVRDMA_QPT_UD, &(PvrdmaTestQpAttr) {
            .qkey = QKEY, .gid_index = ipv6,
        });

        for (unsigned i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
            check_datagram(&p, i & 1, sizes[i / 2]);
        }
        pair_stop(&p);
    }
}

static void test_datagrams_many(void)
{
    enum { N = 100 };
    Pair p = pair_start(PVRDMA_QPT_UD, &(PvrdmaTestQpAttr) { .qkey = QKEY });
    Side *src = &p.side[0], *dst = &p.side[1];
    PvrdmaTestQpAttr attr = attr_to(&p, 0);

    for (unsigned n = 0; n < N; n++) {
        PvrdmaTestSge to = PVRDMA_TEST_SGE(&dst->mr, n * 4096, 3000);

        pvrdma_post_recv(dst->t, &dst->qp, n, &to, 1);
    }
    for (unsigned n = 0; n < N; n++) {
        struct pvrdma_sq_wqe_hdr wr = pvrdma_wr_ud(n, PVRDMA_WR_SEND, &attr);
        PvrdmaTestSge from = PVRDMA_TEST_SGE(&src->mr, n, n * 20);

        pvrdma_put_send(src->t, &src->qp, &wr, &from, 1);
    }
    pvrdma_ring_send(src->t, &src->qp);
    for (unsigned n = 0; n < N; n++) {
        struct pvrdma_cqe cqe;

        pvrdma_cq_expect(src->t, &src->scq, n, PVRDMA_WC_SUCCESS);
        cqe = pvrdma_cq_expect(dst->t, &dst->rcq, n, PVRDMA_WC_SUCCESS);
        g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, ROCE_GRH_BYTES + n * 20);
    }
    pair_stop(&p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/pair/sizes", test_sizes);
    qtest_add_func("/pvrdma/pair/mtu", test_mtu);
    qtest_add_func("/pvrdma/pair/atomics", test_atomics);
    qtest_add_func("/pvrdma/pair/many", test_many);
    qtest_add_func("/pvrdma/pair/both-directions", test_both_directions);
    qtest_add_func("/pvrdma/pair/not-ready", test_not_ready);
    qtest_add_func("/pvrdma/pair/refused", test_refused);
    qtest_add_func("/pvrdma/pair/end-behind", test_end_behind);
    qtest_add_func("/pvrdma/pair/gone", test_gone);
    qtest_add_func("/pvrdma/pair/datagrams", test_datagrams);
    qtest_add_func("/pvrdma/pair/datagrams-many", test_datagrams_many);
    return g_test_run();
}
