/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work queues: layout, indices, decoding, scatter and gather.  The test is the guest. */
#include "memory.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define RING_AT offsetof(struct pvrdma_ring_state, tx)
#define PROD    (RING_AT + offsetof(struct pvrdma_ring, prod_tail))
#define CONS    (RING_AT + offsetof(struct pvrdma_ring, cons_head))
#define ENTRIES 4
#define MAX_SGE 3
#define IOVA    0x7f0012345678ull
#define ACCESS  PVRDMA_ACCESS_LOCAL_WRITE

typedef struct Fixture {
    Guest *g;
    GuestObject *o;
    PvrdmaPages pages;
    PvrdmaWq wq;
    PvrdmaSge sge[PVRDMA_MAX_SGE];
    PvrdmaSqe sqe;
    PvrdmaRqe rqe;
} Fixture;

static void start(Fixture *f, bool send)
{
    *f = (Fixture) { .g = guest_new() };
    f->o = guest_object_new(f->g, 2);
    f->sqe.sge = f->sge;
    g_assert_cmpint(pvrdma_pages_load(&f->g->s, &f->pages, f->o->pdir, 2), ==, 0);
    g_assert_cmpint(pvrdma_wq_init(&f->wq, RING_AT, PVRDMA_PAGE_BYTES, ENTRIES,
                                   MAX_SGE), ==, 0);
    g_assert_cmpint(send ? pvrdma_sq_layout(&f->wq, &f->pages)
                         : pvrdma_rq_layout(&f->wq, &f->pages), ==, 0);
}

static void finish(Fixture *f)
{
    pvrdma_pages_free(&f->g->s, &f->pages);
    guest_object_free(f->o);
    guest_free(f->g);
}

static int pending(Fixture *f)
{
    return pvrdma_wq_pending(&f->g->s, &f->pages, &f->wq);
}

static int refresh(Fixture *f)
{
    return pvrdma_wq_refresh(&f->g->s, &f->pages, &f->wq);
}

/* Returns the slot of WQE @index. */
static void *slot(Fixture *f, uint32_t index)
{
    return guest_object_at(f->o, f->wq.wqe_at +
                                 (index & (ENTRIES - 1)) * f->wq.wqe_bytes);
}

static bool fetch(Fixture *f)
{
    return pvrdma_sq_fetch(&f->g->s, &f->pages, &f->wq, &f->sqe);
}

static void consume(Fixture *f, unsigned count)
{
    pvrdma_wq_consume(&f->g->s, &f->pages, &f->wq, count);
}

/* Posts @hdr with @count scatter elements, and returns the decoded WQE. */
static const PvrdmaSqe *post_one(Fixture *f, const struct pvrdma_sq_wqe_hdr *hdr,
                                 const struct pvrdma_sge *sge, unsigned count)
{
    uint32_t prod = guest_index(f->o, PROD);
    uint8_t *at = slot(f, prod);

    memset(at, 0xa5, f->wq.wqe_bytes);
    memcpy(at, hdr, sizeof(*hdr));
    if (count) {
        memcpy(at + sizeof(*hdr), sge, count * sizeof(*sge));
    }
    guest_index_set(f->o, PROD, (prod + 1) & (2 * ENTRIES - 1));
    g_assert_cmpint(pending(f), ==, 1);
    g_assert_true(fetch(f));
    consume(f, 1);
    return &f->sqe;
}

/* --- Layout ------------------------------------------------------------------- */

static int layout(bool send, uint32_t entries, uint32_t max_sge, uint32_t pages,
                  uint32_t *bytes)
{
    PvrdmaPages p = { .count = pages };
    PvrdmaWq wq;
    int err = pvrdma_wq_init(&wq, 8, PVRDMA_PAGE_BYTES, entries, max_sge) ?:
              send ? pvrdma_sq_layout(&wq, &p) : pvrdma_rq_layout(&wq, &p);

    if (!err) {
        *bytes = wq.wqe_bytes;
    }
    return err;
}

static void test_layout(void)
{
    static const struct {
        bool send;
        uint32_t max_sge, bytes;
    } good[] = {
        { true, 0, 128 }, { true, 1, 128 }, { true, 3, 128 }, { true, 4, 256 },
        { true, 11, 256 }, { true, 12, 512 }, { true, 27, 512 }, { true, 28, 1024 },
        { true, 32, 1024 },
        { false, 0, 16 }, { false, 1, 32 }, { false, 2, 64 }, { false, 3, 64 },
        { false, 4, 128 }, { false, 15, 256 }, { false, 16, 512 }, { false, 32, 1024 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
        uint32_t entries = 2 * PVRDMA_PAGE_BYTES / good[i].bytes, bytes = 0;

        g_assert_cmpint(layout(good[i].send, entries, good[i].max_sge, 3, &bytes),
                        ==, 0);
        g_assert_cmpuint(bytes, ==, good[i].bytes);
        g_assert_cmpint(layout(good[i].send, entries, good[i].max_sge, 2, &bytes),
                        ==, EINVAL);
    }
}

static void test_layout_refused(void)
{
    uint32_t b, much = PVRDMA_PDIR_MAX_PAGES;

    g_assert_cmpint(layout(true, 3, 1, much, &b), ==, EINVAL);
    g_assert_cmpint(layout(true, 2 * PVRDMA_MAX_WR, 1, much, &b), ==, EINVAL);
    g_assert_cmpint(layout(true, 1u << 31, 1, much, &b), ==, EINVAL);
    g_assert_cmpint(layout(true, 4, PVRDMA_MAX_SGE + 1, much, &b), ==, EINVAL);
    g_assert_cmpint(layout(true, 4, UINT32_MAX, much, &b), ==, EINVAL);
    g_assert_cmpint(layout(true, PVRDMA_MAX_WR, PVRDMA_MAX_SGE, much, &b), ==, 0);
    g_assert_cmpint(layout(false, 4, 1, 0, &b), ==, EINVAL);
    g_assert_cmpint(layout(false, 0, 0, 0, &b), ==, 0);
}

/* --- Indices ------------------------------------------------------------------ */

static void test_pending(void)
{
    Fixture f;
    uint32_t prod = 0;

    start(&f, true);
    for (unsigned round = 0; round < 5 * ENTRIES; round++) {
        unsigned count = 1 + round % ENTRIES;

        g_assert_cmpint(pending(&f), ==, 0);
        prod = (prod + count) & (2 * ENTRIES - 1);
        guest_index_set(f.o, PROD, prod);
        for (unsigned left = count; left; left--) {
            g_assert_cmpint(pending(&f), ==, left);
            g_assert_true(fetch(&f));
        }
        g_assert_cmpint(pending(&f), ==, 0);
        consume(&f, count);
        g_assert_cmpuint(guest_index(f.o, CONS), ==, prod);
    }
    g_assert_cmpint(refresh(&f), ==, 0);
    pvrdma_wq_reset(&f.wq);
    g_assert_cmpuint(f.wq.fetch + f.wq.cons + f.wq.prod, ==, 0);
    finish(&f);
}

/*
 * The device reads the producer index again only when it has fetched all known WQEs, or
 * when pvrdma_wq_refresh() asks for it.
 */
static void test_pending_cached(void)
{
    Fixture f;

    start(&f, true);
    guest_index_set(f.o, PROD, 2);
    g_assert_cmpint(pending(&f), ==, 2);
    guest_index_set(f.o, PROD, 3);
    f.g->reads = 0;
    g_assert_cmpint(pending(&f), ==, 2);
    g_assert_cmpuint(f.g->reads, ==, 0);
    g_assert_cmpint(refresh(&f), ==, 3);
    fetch(&f);
    fetch(&f);
    fetch(&f);
    guest_index_set(f.o, PROD, 4);
    g_assert_cmpint(pending(&f), ==, 1);
    finish(&f);
}

static void test_bad_index(void)
{
    /* the guest has posted two WQEs; the device has fetched both and returned one slot */
    static const struct {
        uint32_t prod;
        int pending;
    } cases[] = {
        { 2, 0 }, { 3, 1 }, { 5, 3 },
        { 6, -1 },                  /* more WQEs than slots */
        { 1, -1 }, { 0, -1 },       /* a posted WQE is withdrawn */
        { 7, -1 }, { 8, -1 }, { UINT32_MAX, -1 }, { 0x80000002, -1 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        unsigned errors;
        Fixture f;

        start(&f, false);
        guest_index_set(f.o, PROD, 2);
        for (unsigned n = 0; n < 2; n++) {
            g_assert_cmpint(pending(&f), ==, 2 - n);
            pvrdma_rq_fetch(&f.g->s, &f.pages, &f.wq, &f.rqe);
        }
        consume(&f, 1);
        errors = guest_errors(f.g);
        guest_index_set(f.o, PROD, cases[i].prod);
        g_assert_cmpint(pending(&f), ==, cases[i].pending);
        g_assert_cmpuint(guest_errors(f.g) - errors, ==, cases[i].pending < 0);
        finish(&f);
    }
}

static void test_no_queue(void)
{
    Fixture f;

    start(&f, false);
    g_assert_cmpint(pvrdma_wq_init(&f.wq, RING_AT, 0, 0, 0), ==, 0);
    g_assert_cmpint(pending(&f), ==, 0);
    g_assert_cmpint(refresh(&f), ==, 0);
    finish(&f);
}

/* A WQE without memory fails, and the queue goes on to the next WQE. */
static void test_bad_memory(void)
{
    Fixture f;

    start(&f, true);
    guest_index_set(f.o, PROD, 2);
    g_assert_cmpint(pending(&f), ==, 2);
    f.pages.addr[1] = GUEST_BYTES;
    g_assert_false(fetch(&f));
    g_assert_cmpuint(f.sqe.status, !=, PVRDMA_WC_SUCCESS);
    g_assert_cmpint(pending(&f), ==, 1);
    g_assert_false(pvrdma_rq_fetch(&f.g->s, &f.pages, &f.wq, &f.rqe));
    g_assert_cmpuint(f.rqe.status, !=, PVRDMA_WC_SUCCESS);
    g_assert_cmpint(pending(&f), ==, 0);
    f.pages.addr[0] = GUEST_BYTES;
    g_assert_cmpint(pending(&f), ==, -1);
    consume(&f, 2);
    g_assert_cmpuint(guest_errors(f.g), ==, 4);
    finish(&f);
}

/* --- Decoding ----------------------------------------------------------------- */

static struct pvrdma_sq_wqe_hdr sqe_hdr(uint32_t opcode, uint32_t sges)
{
    return (struct pvrdma_sq_wqe_hdr) {
        .wr_id = cpu_to_le64(0xfedcba9876543210), .num_sge = cpu_to_le32(sges),
        .opcode = cpu_to_le32(opcode),
        .send_flags = cpu_to_le32(PVRDMA_SEND_SIGNALED | PVRDMA_SEND_FENCE),
    };
}

static struct pvrdma_sge raw_sge(uint64_t addr, uint32_t length, uint32_t lkey)
{
    return (struct pvrdma_sge) {
        .addr = cpu_to_le64(addr), .length = cpu_to_le32(length),
        .lkey = cpu_to_le32(lkey),
    };
}

/* Decodes all valid opcodes, and many invalid ones. */
static void test_opcodes(void)
{
    static const bool good[] = {
        [PVRDMA_WR_RDMA_WRITE] = true, [PVRDMA_WR_RDMA_WRITE_WITH_IMM] = true,
        [PVRDMA_WR_SEND] = true, [PVRDMA_WR_SEND_WITH_IMM] = true,
        [PVRDMA_WR_RDMA_READ] = true, [PVRDMA_WR_ATOMIC_CMP_AND_SWP] = true,
        [PVRDMA_WR_ATOMIC_FETCH_AND_ADD] = true, [PVRDMA_WR_SEND_WITH_INV] = true,
        [PVRDMA_WR_LOCAL_INV] = true, [PVRDMA_WR_FAST_REG_MR] = true,
        [PVRDMA_WR_ERROR] = false,
    };
    const struct pvrdma_sge sge = raw_sge(IOVA, 8, 0x1234);
    Fixture f;

    start(&f, true);
    for (uint32_t opcode = 0; opcode < 0x10002; opcode++) {
        struct pvrdma_sq_wqe_hdr hdr = sqe_hdr(opcode, 1);
        bool known = opcode < ARRAY_SIZE(good) && good[opcode];
        const PvrdmaSqe *sqe = post_one(&f, &hdr, &sge, 1);

        g_assert_cmphex(sqe->wr_id, ==, 0xfedcba9876543210);
        g_assert_cmphex(sqe->flags, ==, PVRDMA_SEND_SIGNALED | PVRDMA_SEND_FENCE);
        g_assert_cmpuint(sqe->status, ==, known ? PVRDMA_WC_SUCCESS
                                                : PVRDMA_WC_LOC_QP_OP_ERR);
        g_assert_cmpuint(sqe->opcode, ==, MIN(opcode, PVRDMA_WR_ERROR));
    }
    finish(&f);
}

static void test_send(void)
{
    const uint8_t imm[] = { 0xde, 0xad, 0xbe, 0xef };
    const struct pvrdma_sge sge[] = {
        raw_sge(IOVA, 100, 0x1234), raw_sge(IOVA + 1, 0, 2),
        raw_sge(UINT64_MAX, 0x7fffff00, UINT32_MAX),
    };
    struct pvrdma_sq_wqe_hdr hdr = sqe_hdr(PVRDMA_WR_SEND_WITH_IMM, 3);
    struct pvrdma_av *av = &hdr.wr.ud.av;
    const PvrdmaSqe *sqe;
    Fixture f;

    start(&f, true);
    memcpy(&hdr.ex.imm_data, imm, sizeof(imm));
    hdr.wr.ud.remote_qpn = cpu_to_le32(0x123456);
    hdr.wr.ud.remote_qkey = cpu_to_le32(0x80010000);
    av->port_pd = cpu_to_le32(0x01abcdef);
    av->sl_tclass_flowlabel = cpu_to_le32(0x5a << 20 | 0xbcdef);
    av->gid_index = 3;
    av->hop_limit = 64;
    memset(av->dgid, 0x77, sizeof(av->dgid));
    memset(av->dmac, 0x52, sizeof(av->dmac));
    sqe = post_one(&f, &hdr, sge, 3);
    g_assert_cmpuint(sqe->status, ==, PVRDMA_WC_SUCCESS);
    g_assert_cmpmem(&sqe->imm, 4, imm, 4);
    g_assert_cmpuint(sqe->inv_rkey, ==, 0);
    g_assert_cmphex(sqe->ud.qpn, ==, 0x123456);
    g_assert_cmphex(sqe->ud.qkey, ==, 0x80010000);
    g_assert_cmphex(sqe->ud.av.pd, ==, 0xabcdef);
    g_assert_cmpuint(sqe->ud.av.port, ==, 1);
    g_assert_cmphex(sqe->ud.av.traffic_class, ==, 0x5a);
    g_assert_cmphex(sqe->ud.av.flow_label, ==, 0xbcdef);
    g_assert_cmpuint(sqe->ud.av.gid_index, ==, 3);
    g_assert_cmpuint(sqe->ud.av.hop_limit, ==, 64);
    g_assert_cmpmem(sqe->ud.av.dgid, 16, av->dgid, 16);
    g_assert_cmpmem(sqe->ud.av.dmac, 6, av->dmac, 6);
    g_assert_cmpuint(sqe->sges, ==, 3);
    g_assert_cmpuint(sqe->length, ==, 0x7fffff64);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(sqe->sge[i].addr, ==, le64_to_cpu(sge[i].addr));
        g_assert_cmphex(sqe->sge[i].length, ==, le32_to_cpu(sge[i].length));
        g_assert_cmphex(sqe->sge[i].lkey, ==, le32_to_cpu(sge[i].lkey));
    }
    finish(&f);
}

static void test_rdma(void)
{
    struct pvrdma_sq_wqe_hdr hdr = sqe_hdr(PVRDMA_WR_RDMA_READ, 0);
    const PvrdmaSqe *sqe;
    Fixture f;

    start(&f, true);
    hdr.wr.rdma.remote_addr = cpu_to_le64(IOVA);
    hdr.wr.rdma.rkey = cpu_to_le32(0x89abcdef);
    sqe = post_one(&f, &hdr, NULL, 0);
    g_assert_cmphex(sqe->remote_addr, ==, IOVA);
    g_assert_cmphex(sqe->rkey, ==, 0x89abcdef);
    g_assert_cmpuint(sqe->sges + sqe->length, ==, 0);
    finish(&f);
}

static void test_atomic(void)
{
    static const uint32_t lengths[] = { 8, 0, 7, 9, 4, 4096 };
    Fixture f;

    start(&f, true);
    for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
        struct pvrdma_sq_wqe_hdr hdr = sqe_hdr(PVRDMA_WR_ATOMIC_CMP_AND_SWP, 1);
        const struct pvrdma_sge sge = raw_sge(IOVA, lengths[i], 1);
        const PvrdmaSqe *sqe;

        hdr.wr.atomic.remote_addr = cpu_to_le64(IOVA + 8);
        hdr.wr.atomic.rkey = cpu_to_le32(0x89abcdef);
        hdr.wr.atomic.compare_add = cpu_to_le64(0x1111222233334444);
        hdr.wr.atomic.swap = cpu_to_le64(0x5555666677778888);
        sqe = post_one(&f, &hdr, &sge, 1);
        g_assert_cmphex(sqe->remote_addr, ==, IOVA + 8);
        g_assert_cmphex(sqe->rkey, ==, 0x89abcdef);
        g_assert_cmphex(sqe->compare_add, ==, 0x1111222233334444);
        g_assert_cmphex(sqe->swap, ==, 0x5555666677778888);
        g_assert_cmpuint(sqe->status, ==, i ? PVRDMA_WC_LOC_LEN_ERR
                                            : PVRDMA_WC_SUCCESS);
    }
    finish(&f);
}

static void test_region_work(void)
{
    struct pvrdma_sq_wqe_hdr hdr = sqe_hdr(PVRDMA_WR_FAST_REG_MR, 0);
    const PvrdmaSqe *sqe;
    Fixture f;

    start(&f, true);
    hdr.wr.fast_reg.iova_start = cpu_to_le64(IOVA);
    hdr.wr.fast_reg.pl_pdir_dma = cpu_to_le64(0x7000);
    hdr.wr.fast_reg.page_shift = cpu_to_le32(12);
    hdr.wr.fast_reg.page_list_len = cpu_to_le32(5);
    hdr.wr.fast_reg.length = cpu_to_le32(0x4321);
    hdr.wr.fast_reg.access_flags = cpu_to_le32(7);
    hdr.wr.fast_reg.rkey = cpu_to_le32(0x1ff);
    sqe = post_one(&f, &hdr, NULL, 0);
    g_assert_cmpuint(sqe->status, ==, PVRDMA_WC_SUCCESS);
    g_assert_cmphex(sqe->fast_reg.iova, ==, IOVA);
    g_assert_cmphex(sqe->fast_reg.pdir, ==, 0x7000);
    g_assert_cmpuint(sqe->fast_reg.page_shift, ==, 12);
    g_assert_cmpuint(sqe->fast_reg.pages, ==, 5);
    g_assert_cmphex(sqe->fast_reg.length, ==, 0x4321);
    g_assert_cmphex(sqe->fast_reg.access, ==, 7);
    g_assert_cmphex(sqe->fast_reg.rkey, ==, 0x1ff);
    hdr = sqe_hdr(PVRDMA_WR_LOCAL_INV, 0);
    hdr.ex.invalidate_rkey = cpu_to_le32(0x1ff);
    sqe = post_one(&f, &hdr, NULL, 0);
    g_assert_cmphex(sqe->inv_rkey, ==, 0x1ff);
    g_assert_cmphex(sqe->imm, ==, 0);
    finish(&f);
}

static void test_lengths(void)
{
    static const struct {
        uint32_t a, b, c;
        uint32_t sges;
        uint8_t status;
    } cases[] = {
        { 0x80000000, 0, 0, 1, PVRDMA_WC_SUCCESS },
        { 0x40000000, 0x40000000, 0, 3, PVRDMA_WC_SUCCESS },
        { 0x80000000, 1, 0, 2, PVRDMA_WC_LOC_LEN_ERR },
        { UINT32_MAX, UINT32_MAX, 2, 3, PVRDMA_WC_LOC_LEN_ERR },
        /* the sum is 0 in 32 bits */
        { 0x80000000, 0x80000000, 0, 2, PVRDMA_WC_LOC_LEN_ERR },
        { 1, 1, 1, MAX_SGE + 1, PVRDMA_WC_LOC_QP_OP_ERR },
        { 1, 1, 1, UINT32_MAX, PVRDMA_WC_LOC_QP_OP_ERR },
        { 1, 1, 1, 0x10001, PVRDMA_WC_LOC_QP_OP_ERR },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct pvrdma_sge sge[] = {
            raw_sge(0, cases[i].a, 0), raw_sge(0, cases[i].b, 0),
            raw_sge(0, cases[i].c, 0),
        };
        struct pvrdma_sq_wqe_hdr hdr = sqe_hdr(PVRDMA_WR_RDMA_WRITE, cases[i].sges);
        struct pvrdma_rq_wqe_hdr rhdr = {
            .wr_id = cpu_to_le64(77 + i), .num_sge = cpu_to_le32(cases[i].sges),
        };
        Fixture f;

        start(&f, true);
        g_assert_cmpuint(post_one(&f, &hdr, sge, 3)->status, ==, cases[i].status);
        g_assert_cmpuint(guest_errors(f.g), ==, !!cases[i].status);
        finish(&f);

        start(&f, false);
        memcpy(slot(&f, 0), &rhdr, sizeof(rhdr));
        memcpy(slot(&f, 0) + sizeof(rhdr), sge, sizeof(sge));
        guest_index_set(f.o, PROD, 1);
        g_assert_cmpint(pending(&f), ==, 1);
        g_assert_true(pvrdma_rq_fetch(&f.g->s, &f.pages, &f.wq, &f.rqe));
        g_assert_cmpuint(f.rqe.wr_id, ==, 77 + i);
        g_assert_cmpuint(f.rqe.status, ==, cases[i].status);
        if (!cases[i].status) {
            g_assert_cmpuint(f.rqe.sges, ==, cases[i].sges);
            g_assert_cmpuint(f.rqe.length, ==,
                             cases[i].a + cases[i].b + cases[i].c);
        }
        finish(&f);
    }
}

/* A WQE costs one DMA read, besides the read of the index. */
static void test_cost(void)
{
    Fixture f;

    start(&f, true);
    guest_index_set(f.o, PROD, 1);
    f.g->reads = 0;
    g_assert_cmpint(pending(&f), ==, 1);
    fetch(&f);
    g_assert_cmpuint(f.g->reads, ==, 2);
    finish(&f);
}

/* --- Scatter and gather ------------------------------------------------------- */

typedef struct Sg {
    Guest *g;
    GuestObject *o;
    PvrdmaQp qp;
    uint32_t key, read_only;
} Sg;

static void sg_start(Sg *sg)
{
    *sg = (Sg) { .g = guest_new() };
    sg->o = guest_object_new(sg->g, 5);
    sg->qp.s = &sg->g->s;
    sg->qp.pd = guest_pd(sg->g);
    guest_mr(sg->o, sg->qp.pd, IOVA, ACCESS, &sg->key);
    guest_mr(sg->o, sg->qp.pd, IOVA, 0, &sg->read_only);
    guest_fill(sg->o, 3);
}

static void sg_finish(Sg *sg)
{
    guest_object_free(sg->o);
    guest_free(sg->g);
}

static uint8_t *sg_byte(Sg *sg, uint64_t va)
{
    return guest_object_at(sg->o, va - (IOVA & ~(PVRDMA_PAGE_BYTES - 1ull)));
}

/* Compares accesses to random parts of random lists with single bytes. */
static void test_sg(void)
{
    enum { TOTAL = 6000 };
    uint8_t buf[TOTAL];
    PvrdmaSge sge[PVRDMA_MAX_SGE];
    uint64_t va[TOTAL];
    Sg sg;

    sg_start(&sg);
    for (unsigned round = 0; round < 300; round++) {
        uint64_t next = IOVA + g_test_rand_int_range(0, 2000);
        unsigned sges = g_test_rand_int_range(1, PVRDMA_MAX_SGE + 1);
        uint32_t sum = 0, offset, len;

        for (unsigned i = 0; i < sges; i++) {
            uint32_t n = MIN(g_test_rand_int_range(0, 400), TOTAL - sum);

            sge[i] = (PvrdmaSge) { next, n, sg.key };
            for (unsigned b = 0; b < n; b++) {
                va[sum++] = next++;
            }
            next += g_test_rand_int_range(0, 50);
        }
        offset = g_test_rand_int_range(0, sum + 1);
        len = g_test_rand_int_range(0, sum - offset + 1);
        g_assert_cmpuint(pvrdma_sg_read(&sg.qp, sge, sges, offset, buf, len), ==,
                         PVRDMA_WC_SUCCESS);
        for (unsigned i = 0; i < len; i++) {
            g_assert_cmphex(buf[i], ==, *sg_byte(&sg, va[offset + i]));
            buf[i] ^= 0x5a + i;
        }
        g_assert_cmpuint(pvrdma_sg_write(&sg.qp, sge, sges, offset, buf, len), ==,
                         PVRDMA_WC_SUCCESS);
        for (unsigned i = 0; i < len; i++) {
            g_assert_cmphex(buf[i], ==, *sg_byte(&sg, va[offset + i]));
        }
        g_assert_cmpuint(pvrdma_sg_read(&sg.qp, sge, sges, offset, buf,
                                        sum - offset + 1), ==,
                         PVRDMA_WC_LOC_LEN_ERR);
    }
    sg_finish(&sg);
}

static void test_sg_refused(void)
{
    uint8_t buf[64] = { 0 };
    PvrdmaSge sge[2];
    Sg sg;

    sg_start(&sg);
    sge[0] = (PvrdmaSge) { IOVA, 16, sg.key };
    sge[1] = (PvrdmaSge) { IOVA, 16, sg.key ^ 1 };
    g_assert_cmpuint(pvrdma_sg_read(&sg.qp, sge, 2, 0, buf, 16), ==, 0);
    g_assert_cmpuint(pvrdma_sg_read(&sg.qp, sge, 2, 0, buf, 17), ==,
                     PVRDMA_WC_LOC_PROT_ERR);
    g_assert_cmpuint(pvrdma_sg_write(&sg.qp, sge, 2, 16, buf, 1), ==,
                     PVRDMA_WC_LOC_PROT_ERR);
    g_assert_cmpuint(pvrdma_sg_write(&sg.qp, sge, 2, 32, buf, 1), ==,
                     PVRDMA_WC_LOC_LEN_ERR);
    g_assert_cmpuint(pvrdma_sg_write(&sg.qp, sge, 0, 0, buf, 1), ==,
                     PVRDMA_WC_LOC_LEN_ERR);
    g_assert_cmpuint(pvrdma_sg_write(&sg.qp, NULL, 0, 0, NULL, 0), ==, 0);
    sge[1].lkey = sg.read_only;
    g_assert_cmpuint(pvrdma_sg_read(&sg.qp, sge, 2, 0, buf, 32), ==, 0);
    g_assert_cmpuint(pvrdma_sg_write(&sg.qp, sge, 2, 0, buf, 32), ==,
                     PVRDMA_WC_LOC_PROT_ERR);
    /* an element of no bytes needs no valid key */
    sge[0] = (PvrdmaSge) { 0, 0, 0xdead };
    g_assert_cmpuint(pvrdma_sg_read(&sg.qp, sge, 2, 0, buf, 16), ==, 0);
    sg_finish(&sg);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/wq/layout", test_layout);
    g_test_add_func("/pvrdma/wq/layout-refused", test_layout_refused);
    g_test_add_func("/pvrdma/wq/pending", test_pending);
    g_test_add_func("/pvrdma/wq/pending-cached", test_pending_cached);
    g_test_add_func("/pvrdma/wq/bad-index", test_bad_index);
    g_test_add_func("/pvrdma/wq/no-queue", test_no_queue);
    g_test_add_func("/pvrdma/wq/bad-memory", test_bad_memory);
    g_test_add_func("/pvrdma/wq/opcodes", test_opcodes);
    g_test_add_func("/pvrdma/wq/send", test_send);
    g_test_add_func("/pvrdma/wq/rdma", test_rdma);
    g_test_add_func("/pvrdma/wq/atomic", test_atomic);
    g_test_add_func("/pvrdma/wq/region-work", test_region_work);
    g_test_add_func("/pvrdma/wq/lengths", test_lengths);
    g_test_add_func("/pvrdma/wq/cost", test_cost);
    g_test_add_func("/pvrdma/wq/sg", test_sg);
    g_test_add_func("/pvrdma/wq/sg-refused", test_sg_refused);
    return g_test_run();
}
