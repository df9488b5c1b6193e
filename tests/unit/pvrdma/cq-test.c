/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues: ring, notification, overflow.  The test is the guest. */
#include "memory.h"
#include "hw/rnic/pvrdma/objects/cq.h"

#define PROD    (offsetof(struct pvrdma_ring_state, rx) + \
                 offsetof(struct pvrdma_ring, prod_tail))
#define CONS    (offsetof(struct pvrdma_ring_state, rx) + \
                 offsetof(struct pvrdma_ring, cons_head))
#define ENTRIES 8
#define PAGES(entries) (1 + DIV_ROUND_UP((entries) * 64, PVRDMA_PAGE_BYTES))

typedef struct Fixture {
    Guest *g;
    GuestObject *o;
    PvrdmaCq *cq;
    uint32_t handle, cons;
    unsigned entries;
} Fixture;

static union pvrdma_cmd_req create_req(const GuestObject *o, uint32_t entries)
{
    return (union pvrdma_cmd_req) { .create_cq = {
        .pdir_dma = cpu_to_le64(o->pdir),
        .cqe = cpu_to_le32(entries),
        .nchunks = cpu_to_le32(o->pages),
    } };
}

static void start_sized(Fixture *f, uint32_t entries, unsigned pages)
{
    union pvrdma_cmd_req req;
    union pvrdma_cmd_resp resp;

    *f = (Fixture) { .g = guest_new(), .entries = entries };
    f->o = guest_object_new(f->g, pages);
    req = create_req(f->o, entries);
    g_assert_cmpint(guest_cmd(f->g, pvrdma_cmd_create_cq, &req, &resp), ==, 0);
    g_assert_cmpuint(le32_to_cpu(resp.create_cq.cqe), ==, entries);
    f->handle = le32_to_cpu(resp.create_cq.cq_handle);
    g_assert_cmpuint(f->handle, !=, 0);
    f->cq = pvrdma_table_get(&f->g->s.cq, f->handle);
}

static void start(Fixture *f)
{
    start_sized(f, ENTRIES, PAGES(ENTRIES));
}

static void finish(Fixture *f)
{
    guest_object_free(f->o);
    guest_free(f->g);
}

static void push(Fixture *f, uint64_t wr_id)
{
    pvrdma_cq_push(&f->g->s, f->cq, &(PvrdmaWc) { .wr_id = wr_id });
}

static unsigned ready(Fixture *f)
{
    return (guest_index(f->o, PROD) - f->cons) & (2 * f->entries - 1);
}

static const struct pvrdma_cqe *cqe_at(Fixture *f, uint32_t index)
{
    return guest_object_at(f->o, PVRDMA_PAGE_BYTES + (index & (f->entries - 1)) *
                                 sizeof(struct pvrdma_cqe));
}

static void take(Fixture *f, uint64_t wr_id)
{
    g_assert_cmpuint(ready(f), >, 0);
    g_assert_cmphex(le64_to_cpu(cqe_at(f, f->cons)->wr_id), ==, wr_id);
    f->cons = (f->cons + 1) & (2 * f->entries - 1);
    guest_index_set(f->o, CONS, f->cons);
}

static void doorbell(Fixture *f, uint32_t bits)
{
    pvrdma_cq_doorbell(&f->g->s, 0, f->handle | bits);
}

/* --- Ring -------------------------------------------------------------------------- */

static void test_format(void)
{
    const uint8_t imm[] = { 1, 2, 3, 4 };
    PvrdmaWc wc = {
        .wr_id = 0x1122334455667788, .qp = 0x1234,
        .status = PVRDMA_WC_SUCCESS, .opcode = PVRDMA_WC_RECV_RDMA_WITH_IMM,
        .byte_len = 0x80000000, .src_qp = 0xabcdef, .flags = PVRDMA_WC_WITH_IMM,
        .network_hdr_type = PVRDMA_NETWORK_IPV4, .smac = { 2, 3, 4, 5, 6, 7 },
    };
    struct pvrdma_cqe want = {
        .wr_id = cpu_to_le64(wc.wr_id), .qp = cpu_to_le64(wc.qp),
        .opcode = cpu_to_le32(wc.opcode), .status = 0,
        .byte_len = cpu_to_le32(wc.byte_len), .src_qp = cpu_to_le32(wc.src_qp),
        .wc_flags = cpu_to_le32(wc.flags), .port_num = 1,
        .smac = { 2, 3, 4, 5, 6, 7 },
        .network_hdr_type = PVRDMA_NETWORK_IPV4,
    };
    Fixture f;

    start(&f);
    memcpy(&wc.imm, imm, sizeof(imm));
    memcpy(&want.imm_data, imm, sizeof(imm));
    memset(guest_object_at(f.o, PVRDMA_PAGE_BYTES), 0xff, 2 * sizeof(want));
    pvrdma_cq_push(&f.g->s, f.cq, &wc);
    g_assert_cmpuint(guest_index(f.o, PROD), ==, 1);
    g_assert_cmpmem(cqe_at(&f, 0), sizeof(want), &want, sizeof(want));
    g_assert_cmphex(cqe_at(&f, 1)->wr_id, ==, UINT64_MAX);
    g_assert_cmpuint(f.g->s.completions, ==, 1);
    g_assert_cmpuint(f.g->s.receives, ==, 1);
    wc.opcode = PVRDMA_WC_RECV;         /* also of a datagram */
    pvrdma_cq_push(&f.g->s, f.cq, &wc);
    wc.opcode = PVRDMA_WC_RDMA_WRITE;
    pvrdma_cq_push(&f.g->s, f.cq, &wc);
    g_assert_cmpuint(f.g->s.completions, ==, 3);
    g_assert_cmpuint(f.g->s.receives, ==, 2);
    finish(&f);
}

/* The ring wraps many times, for ring sizes from one entry to several pages. */
static void test_wrap(void)
{
    for (unsigned entries = 1; entries <= 256; entries *= 4) {
        uint64_t pushed = 0, taken = 0;
        Fixture f;

        start_sized(&f, entries, PAGES(entries));
        while (taken < 10 * entries) {
            unsigned room = entries - (pushed - taken);

            for (unsigned i = g_test_rand_int_range(0, room + 1); i; i--) {
                push(&f, pushed++);
            }
            g_assert_cmpuint(ready(&f), ==, pushed - taken);
            for (unsigned i = g_test_rand_int_range(0, pushed - taken + 1); i; i--) {
                take(&f, taken++);
            }
        }
        g_assert_cmpuint(f.g->events + f.g->cq_errors, ==, 0);
        finish(&f);
    }
}

/*
 * A completion needs two DMA writes.  The consumer index is read once per ENTRIES
 * completions.
 */
static void test_cost(void)
{
    Fixture f;

    start(&f);
    f.g->reads = f.g->writes = 0;
    for (unsigned i = 0; i < 10 * ENTRIES; i++) {
        push(&f, i);
        take(&f, i);
    }
    g_assert_cmpuint(f.g->writes, ==, 2 * 10 * ENTRIES);
    g_assert_cmpuint(f.g->reads, <=, 10);
    doorbell(&f, PVRDMA_UAR_CQ_POLL);
    g_assert_cmpuint(f.g->reads, <=, 10);
    finish(&f);
}

static void test_overflow(void)
{
    Fixture f;

    start(&f);
    for (unsigned i = 0; i < ENTRIES; i++) {
        push(&f, i);
    }
    g_assert_cmpuint(f.g->events, ==, 0);
    push(&f, 99);
    g_assert_cmpuint(f.g->events, ==, 1);
    g_assert_cmpuint(f.g->event, ==, PVRDMA_EVENT_CQ_ERR);
    g_assert_cmpuint(f.g->event_info, ==, f.handle);
    g_assert_cmpuint(f.g->cq_errors, ==, 1);
    g_assert_cmpuint(guest_errors(f.g), ==, 1);
    g_assert_cmpuint(f.g->s.counter[PVRDMA_CNT_CQ_OVERFLOW], ==, 1);
    /* earlier completions stay valid; no more follow, even when the ring has room */
    for (unsigned i = 0; i < ENTRIES; i++) {
        take(&f, i);
    }
    doorbell(&f, PVRDMA_UAR_CQ_ARM);
    push(&f, 100);
    g_assert_cmpuint(ready(&f), ==, 0);
    g_assert_cmpuint(f.g->events, ==, 1);
    g_assert_cmpuint(f.g->notifications, ==, 0);
    g_assert_cmpuint(f.g->s.counter[PVRDMA_CNT_CQ_OVERFLOW], ==, 2);
    finish(&f);
}

/* The guest stores consumer indices that it cannot have reached. */
static void test_bad_index(void)
{
    static const uint32_t bad[] = {
        2 * ENTRIES, UINT32_MAX, 0x80000000, ENTRIES + 4,   /* not yet pushed */
        2,                                                  /* before the last index */
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        Fixture f;

        start(&f);
        for (unsigned n = 0; n < ENTRIES; n++) {
            push(&f, n);
        }
        for (unsigned n = 0; n < 3; n++) {
            take(&f, n);
        }
        for (unsigned n = 0; n < 3; n++) {
            push(&f, n);
        }
        g_assert_cmpuint(guest_errors(f.g), ==, 0);
        guest_index_set(f.o, CONS, bad[i]);
        push(&f, 0);
        g_assert_cmpuint(guest_errors(f.g), ==, 1);
        g_assert_cmpuint(f.g->cq_errors, ==, 1);
        g_assert_cmpuint(f.g->event, ==, PVRDMA_EVENT_CQ_ERR);
        finish(&f);
    }
}

/* The page of the ring state, or of entries, has no memory. */
static void test_bad_memory(void)
{
    for (unsigned page = 0; page < 2; page++) {
        union pvrdma_cmd_req req;
        union pvrdma_cmd_resp resp;
        GuestObject *o;
        PvrdmaCq *cq;
        Guest *g = guest_new();

        o = guest_object_new(g, PAGES(ENTRIES));
        stq_le_p(guest_at(g, ldq_le_p(guest_at(g, o->pdir)) + page * 8),
                 GUEST_BYTES + PVRDMA_PAGE_BYTES);
        req = create_req(o, ENTRIES);
        g_assert_cmpint(guest_cmd(g, pvrdma_cmd_create_cq, &req, &resp), ==, 0);
        cq = pvrdma_table_get(&g->s.cq, le32_to_cpu(resp.create_cq.cq_handle));
        pvrdma_cq_push(&g->s, cq, &(PvrdmaWc) { });
        g_assert_cmpuint(g->cq_errors, ==, 1);
        g_assert_cmpuint(guest_errors(g), ==, 1);
        g_assert_true(cq->overflowed);
        guest_object_free(o);
        guest_free(g);
    }
}

/* --- Notification ------------------------------------------------------------------- */

static void push_kind(Fixture *f, bool solicited, uint8_t status)
{
    pvrdma_cq_push(&f->g->s, f->cq, &(PvrdmaWc) {
        .solicited = solicited, .status = status,
    });
}

static void test_arm(void)
{
    Fixture f;

    start(&f);
    push(&f, 0);
    g_assert_cmpuint(f.g->notifications, ==, 0);
    doorbell(&f, PVRDMA_UAR_CQ_ARM);
    /* an earlier completion causes no notification */
    g_assert_cmpuint(f.g->notifications, ==, 0);
    push(&f, 1);
    g_assert_cmpuint(f.g->notifications, ==, 1);
    g_assert_cmpuint(f.g->notified, ==, f.handle);
    push(&f, 2);
    g_assert_cmpuint(f.g->notifications, ==, 1);
    doorbell(&f, PVRDMA_UAR_CQ_ARM);
    doorbell(&f, PVRDMA_UAR_CQ_ARM | PVRDMA_UAR_CQ_POLL);
    push(&f, 3);
    push(&f, 4);
    g_assert_cmpuint(f.g->notifications, ==, 2);
    finish(&f);
}

static void test_arm_solicited(void)
{
    Fixture f;

    start(&f);
    doorbell(&f, PVRDMA_UAR_CQ_ARM_SOL);
    push_kind(&f, false, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(f.g->notifications, ==, 0);
    push_kind(&f, true, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(f.g->notifications, ==, 1);
    push_kind(&f, true, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(f.g->notifications, ==, 1);
    /* an error counts as solicited */
    doorbell(&f, PVRDMA_UAR_CQ_ARM_SOL);
    push_kind(&f, false, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(f.g->notifications, ==, 2);
    /* a CQ armed for all completions stays so when the guest arms solicited ones */
    doorbell(&f, PVRDMA_UAR_CQ_ARM);
    doorbell(&f, PVRDMA_UAR_CQ_ARM_SOL);
    push_kind(&f, false, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(f.g->notifications, ==, 3);
    push_kind(&f, true, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(f.g->notifications, ==, 3);
    finish(&f);
}

static void test_doorbell(void)
{
    Fixture f;

    start(&f);
    /* the page of another context */
    pvrdma_cq_doorbell(&f.g->s, 1, f.handle | PVRDMA_UAR_CQ_ARM);
    g_assert_cmpuint(guest_errors(f.g), ==, 1);
    pvrdma_cq_doorbell(&f.g->s, 0, (f.handle + 1) | PVRDMA_UAR_CQ_ARM);
    pvrdma_cq_doorbell(&f.g->s, 0, PVRDMA_UAR_HANDLE_MASK | PVRDMA_UAR_CQ_ARM);
    pvrdma_cq_doorbell(&f.g->s, 0, PVRDMA_UAR_CQ_ARM_SOL);
    g_assert_cmpuint(guest_errors(f.g), ==, 4);
    pvrdma_cq_doorbell(&f.g->s, 0, (f.handle + 1) | PVRDMA_UAR_CQ_POLL);
    g_assert_cmpuint(guest_errors(f.g), ==, 5);
    pvrdma_cq_doorbell(&f.g->s, 0, f.handle | PVRDMA_UAR_CQ_POLL);
    g_assert_cmpuint(guest_errors(f.g), ==, 5);
    push(&f, 0);
    g_assert_cmpuint(f.g->notifications, ==, 0);
    finish(&f);
}

/* --- Commands ----------------------------------------------------------------------- */

static void create_refused(uint32_t entries, uint32_t pages, uint32_t ctx, int err)
{
    Guest *g = guest_new();
    GuestObject *o = guest_object_new(g, 4);
    union pvrdma_cmd_req req = create_req(o, entries);

    req.create_cq.nchunks = cpu_to_le32(pages);
    req.create_cq.ctx_handle = cpu_to_le32(ctx);
    g_assert_cmpint(guest_cmd(g, pvrdma_cmd_create_cq, &req, NULL), ==, err);
    g_assert_cmpuint(g->s.cq.used, ==, 0);
    guest_object_free(o);
    guest_free(g);
}

static void test_create_refused(void)
{
    create_refused(0, 4, 0, EINVAL);
    create_refused(3, 4, 0, EINVAL);
    create_refused(2 * PVRDMA_MAX_CQE, UINT32_MAX, 0, EINVAL);
    create_refused(0x80000000, UINT32_MAX, 0, EINVAL);
    create_refused(64, 1, 0, EINVAL);
    create_refused(128, 2, 0, EINVAL);
    create_refused(64, 0, 0, EINVAL);
    create_refused(64, 4, 1, EINVAL);
    create_refused(64, 4, UINT32_MAX, EINVAL);
    create_refused(64, PVRDMA_PDIR_MAX_PAGES + 1, 0, EINVAL);
}

static void test_destroy(void)
{
    union pvrdma_cmd_req req = { };
    Fixture f;

    start(&f);
    f.cq->users = 1;
    req.destroy_cq.cq_handle = cpu_to_le32(f.handle);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_cq, &req, NULL), ==, EBUSY);
    f.cq->users = 0;
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_cq, &req, NULL), ==, 0);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_cq, &req, NULL), ==, EINVAL);
    g_assert_cmpuint(f.g->s.pages_used, ==, 0);
    doorbell(&f, PVRDMA_UAR_CQ_ARM);
    g_assert_cmpuint(guest_errors(f.g), ==, 1);
    finish(&f);
}

static int resize(Fixture *f, uint32_t handle, uint32_t entries)
{
    union pvrdma_cmd_req req = { .resize_cq = {
        .cq_handle = cpu_to_le32(handle), .cqe = cpu_to_le32(entries),
    } };
    union pvrdma_cmd_resp resp;
    int err = guest_cmd(f->g, pvrdma_cmd_resize_cq, &req, &resp);

    g_assert_cmpuint(le32_to_cpu(resp.resize_cq.cqe), ==, err ? 0 : entries);
    return err;
}

static void test_resize(void)
{
    Fixture f;

    start(&f);
    push(&f, 1);
    g_assert_cmpint(resize(&f, f.handle, 64), ==, EBUSY);
    take(&f, 1);
    g_assert_cmpint(resize(&f, f.handle, 128), ==, ENOMEM);
    g_assert_cmpint(resize(&f, f.handle, 0), ==, EINVAL);
    g_assert_cmpint(resize(&f, f.handle, 24), ==, EINVAL);
    g_assert_cmpint(resize(&f, f.handle + 1, 64), ==, EINVAL);
    g_assert_cmpint(resize(&f, f.handle, 64), ==, 0);
    g_assert_cmpuint(guest_index(f.o, PROD), ==, 0);
    g_assert_cmpuint(guest_index(f.o, CONS), ==, 0);
    f.entries = 64;
    f.cons = 0;
    for (unsigned i = 0; i < 64; i++) {
        push(&f, i);
    }
    for (unsigned i = 0; i < 64; i++) {
        take(&f, i);
    }
    g_assert_cmpuint(f.g->events, ==, 0);
    g_assert_cmpint(resize(&f, f.handle, 1), ==, 0);
    guest_index_set(f.o, CONS, 77);
    g_assert_cmpint(resize(&f, f.handle, 64), ==, EINVAL);
    finish(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/cq/format", test_format);
    g_test_add_func("/pvrdma/cq/wrap", test_wrap);
    g_test_add_func("/pvrdma/cq/cost", test_cost);
    g_test_add_func("/pvrdma/cq/overflow", test_overflow);
    g_test_add_func("/pvrdma/cq/bad-index", test_bad_index);
    g_test_add_func("/pvrdma/cq/bad-memory", test_bad_memory);
    g_test_add_func("/pvrdma/cq/arm", test_arm);
    g_test_add_func("/pvrdma/cq/arm-solicited", test_arm_solicited);
    g_test_add_func("/pvrdma/cq/doorbell", test_doorbell);
    g_test_add_func("/pvrdma/cq/create-refused", test_create_refused);
    g_test_add_func("/pvrdma/cq/destroy", test_destroy);
    g_test_add_func("/pvrdma/cq/resize", test_resize);
    return g_test_run();
}
