/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared receive queues: commands, limit, errors.  The test is the guest. */
#include "memory.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/objects/srq.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define PROD    (offsetof(struct pvrdma_ring_state, rx) + \
                 offsetof(struct pvrdma_ring, prod_tail))
#define CONS    (offsetof(struct pvrdma_ring_state, rx) + \
                 offsetof(struct pvrdma_ring, cons_head))
#define ENTRIES 8

typedef struct Fixture {
    Guest *g;
    GuestObject *o;
    PvrdmaSrq *srq;
    uint32_t pd, handle;
    PvrdmaRqe rqe;
} Fixture;

static union pvrdma_cmd_req create_req(Fixture *f)
{
    return (union pvrdma_cmd_req) { .create_srq = {
        .pdir_dma = cpu_to_le64(f->o->pdir),
        .pd_handle = cpu_to_le32(f->pd),
        .nchunks = cpu_to_le32(f->o->pages),
        .attrs = {
            .max_wr = cpu_to_le32(ENTRIES), .max_sge = cpu_to_le32(1),
            .srq_limit = cpu_to_le32(ENTRIES),
        },
    } };
}

static void start_bare(Fixture *f)
{
    *f = (Fixture) { .g = guest_new() };
    f->o = guest_object_new(f->g, 2);
    f->pd = guest_pd(f->g);
}

static void start(Fixture *f)
{
    union pvrdma_cmd_req req;
    union pvrdma_cmd_resp resp;

    start_bare(f);
    req = create_req(f);
    g_assert_cmpint(guest_cmd(f->g, pvrdma_cmd_create_srq, &req, &resp), ==, 0);
    f->handle = le32_to_cpu(resp.create_srq.srqn);
    g_assert_cmpuint(f->handle, !=, 0);
    f->srq = pvrdma_table_get(&f->g->s.srq, f->handle);
}

static void finish(Fixture *f)
{
    guest_object_free(f->o);
    guest_free(f->g);
}

/* Posts @count WQEs with the ids @wr_id, @wr_id + 1, ..., and rings the doorbell. */
static void post(Fixture *f, uint64_t wr_id, unsigned count)
{
    uint32_t prod = guest_index(f->o, PROD);

    for (unsigned i = 0; i < count; i++) {
        struct pvrdma_rq_wqe_hdr *hdr;

        hdr = guest_object_at(f->o, PVRDMA_PAGE_BYTES +
                                    (prod & (ENTRIES - 1)) * f->srq->rq.wqe_bytes);
        hdr->wr_id = cpu_to_le64(wr_id + i);
        hdr->num_sge = cpu_to_le32(1);
        prod = (prod + 1) & (2 * ENTRIES - 1);
    }
    guest_index_set(f->o, PROD, prod);
    pvrdma_srq_doorbell(&f->g->s, 0, f->handle | PVRDMA_UAR_SRQ_RECV);
}

static int receive(Fixture *f)
{
    return pvrdma_srq_receive(&f->g->s, f->srq, &f->rqe);
}

static int modify(Fixture *f, uint32_t mask, uint32_t limit)
{
    union pvrdma_cmd_req req = { .modify_srq = {
        .srq_handle = cpu_to_le32(f->handle), .attr_mask = cpu_to_le32(mask),
        .attrs.srq_limit = cpu_to_le32(limit),
    } };

    return guest_cmd(f->g, pvrdma_cmd_modify_srq, &req, NULL);
}

static void assert_limit(Fixture *f, uint32_t limit)
{
    union pvrdma_cmd_req req = { .query_srq.srq_handle = cpu_to_le32(f->handle) };
    union pvrdma_cmd_resp resp;

    g_assert_cmpint(guest_cmd(f->g, pvrdma_cmd_query_srq, &req, &resp), ==, 0);
    g_assert_cmpuint(le32_to_cpu(resp.query_srq.attrs.max_wr), ==, ENTRIES);
    g_assert_cmpuint(le32_to_cpu(resp.query_srq.attrs.max_sge), ==, 1);
    g_assert_cmpuint(le32_to_cpu(resp.query_srq.attrs.srq_limit), ==, limit);
}

static void test_receive(void)
{
    uint64_t posted = 0, taken = 0;
    Fixture f;

    start(&f);
    while (taken < 10 * ENTRIES) {
        post(&f, posted, 1 + taken % ENTRIES);
        posted += 1 + taken % ENTRIES;
        while (receive(&f)) {
            g_assert_cmpuint(f.rqe.wr_id, ==, taken);
            g_assert_cmpuint(f.rqe.status, ==, PVRDMA_WC_SUCCESS);
            taken++;
            /* a fetch returns the slot at once */
            g_assert_cmpuint(guest_index(f.o, CONS), ==, taken % (2 * ENTRIES));
        }
        g_assert_cmpuint(taken, ==, posted);
    }
    g_assert_cmpuint(guest_errors(f.g) + f.g->events, ==, 0);
    finish(&f);
}

static void test_limit(void)
{
    Fixture f;

    start(&f);
    assert_limit(&f, 0);            /* the creation does not arm the limit */
    post(&f, 0, 6);
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, 4), ==, 0);
    assert_limit(&f, 4);
    receive(&f);
    receive(&f);
    g_assert_cmpuint(f.g->events, ==, 0);
    receive(&f);                    /* three WQEs are left */
    g_assert_cmpuint(f.g->events, ==, 1);
    g_assert_cmpuint(f.g->event, ==, PVRDMA_EVENT_SRQ_LIMIT_REACHED);
    g_assert_cmpuint(f.g->event_info, ==, f.handle);
    assert_limit(&f, 0);            /* the event disarms the limit */
    receive(&f);
    g_assert_cmpuint(f.g->events, ==, 1);
    /* an event at once, because fewer WQEs than the limit are left */
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, 3), ==, 0);
    g_assert_cmpuint(f.g->events, ==, 2);
    /* WQEs that were posted since then count */
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, 2), ==, 0);
    post(&f, 6, 4);
    receive(&f);
    receive(&f);
    g_assert_cmpuint(f.g->events, ==, 2);
    finish(&f);
}

static void test_modify_refused(void)
{
    Fixture f;

    start(&f);
    g_assert_cmpint(modify(&f, 0, 1), ==, EINVAL);
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, ENTRIES + 1), ==, EINVAL);
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, UINT32_MAX), ==, EINVAL);
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT | PVRDMA_SRQ_MAX_WR, 1), ==,
                    EOPNOTSUPP);
    g_assert_cmpint(modify(&f, UINT32_MAX, 1), ==, EOPNOTSUPP);
    f.handle++;
    g_assert_cmpint(modify(&f, PVRDMA_SRQ_LIMIT, 1), ==, EINVAL);
    finish(&f);
}

static void create_refused(void (*spoil)(union pvrdma_cmd_req *req), int err)
{
    union pvrdma_cmd_req req;
    Fixture f;

    start_bare(&f);
    req = create_req(&f);
    spoil(&req);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_create_srq, &req, NULL), ==, err);
    g_assert_cmpuint(f.g->s.srq.used + f.g->s.pages_used, ==, 0);
    finish(&f);
}

static void spoil_pd(union pvrdma_cmd_req *req)
{
    req->create_srq.pd_handle = 0;
}

static void spoil_type(union pvrdma_cmd_req *req)
{
    req->create_srq.srq_type = 1;
}

static void spoil_size(union pvrdma_cmd_req *req)
{
    req->create_srq.attrs.max_wr = cpu_to_le32(ENTRIES - 1);
}

static void spoil_none(union pvrdma_cmd_req *req)
{
    req->create_srq.attrs.max_wr = 0;
}

static void spoil_much(union pvrdma_cmd_req *req)
{
    req->create_srq.attrs.max_wr = cpu_to_le32(256);
}

static void spoil_sges(union pvrdma_cmd_req *req)
{
    req->create_srq.attrs.max_sge = cpu_to_le32(PVRDMA_MAX_SGE + 1);
}

static void spoil_pages(union pvrdma_cmd_req *req)
{
    req->create_srq.nchunks = cpu_to_le32(1);
}

static void spoil_pdir(union pvrdma_cmd_req *req)
{
    req->create_srq.pdir_dma = cpu_to_le64(GUEST_BYTES);
}

static void test_create_refused(void)
{
    create_refused(spoil_pd, EINVAL);
    create_refused(spoil_type, EOPNOTSUPP);
    create_refused(spoil_size, EINVAL);
    create_refused(spoil_none, EINVAL);
    create_refused(spoil_much, EINVAL);
    create_refused(spoil_sges, EINVAL);
    create_refused(spoil_pages, EINVAL);
    create_refused(spoil_pdir, EFAULT);
}

static void test_destroy(void)
{
    union pvrdma_cmd_req req = { };
    union pvrdma_cmd_req pd = { };
    Fixture f;

    start(&f);
    req.destroy_srq.srq_handle = cpu_to_le32(f.handle);
    pd.destroy_pd.pd_handle = cpu_to_le32(f.pd);
    f.srq->users = 1;
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_srq, &req, NULL), ==, EBUSY);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_pd, &pd, NULL), ==, EBUSY);
    f.srq->users = 0;
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_srq, &req, NULL), ==, 0);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_srq, &req, NULL), ==, EINVAL);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_query_srq, &req, NULL), ==, EINVAL);
    g_assert_cmpint(guest_cmd(f.g, pvrdma_cmd_destroy_pd, &pd, NULL), ==, 0);
    pvrdma_srq_doorbell(&f.g->s, 0, f.handle | PVRDMA_UAR_SRQ_RECV);
    g_assert_cmpuint(guest_errors(f.g), ==, 1);
    finish(&f);
}

static void test_doorbell(void)
{
    Fixture f;

    start(&f);
    pvrdma_srq_doorbell(&f.g->s, 0, f.handle | PVRDMA_UAR_SRQ_RECV);
    g_assert_cmpuint(guest_errors(f.g), ==, 0);
    pvrdma_srq_doorbell(&f.g->s, 1, f.handle | PVRDMA_UAR_SRQ_RECV);
    pvrdma_srq_doorbell(&f.g->s, 0, PVRDMA_UAR_SRQ_RECV);
    pvrdma_srq_doorbell(&f.g->s, 0, UINT32_MAX);
    g_assert_cmpuint(guest_errors(f.g), ==, 3);
    finish(&f);
}

/* An invalid index ends the queue, with one event; a valid index does not restore it. */
static void test_bad_index(void)
{
    Fixture f;

    start(&f);
    guest_index_set(f.o, PROD, ENTRIES + 1);
    g_assert_cmpint(receive(&f), ==, -1);
    g_assert_cmpint(receive(&f), ==, -1);
    guest_index_set(f.o, PROD, 1);
    g_assert_cmpint(receive(&f), ==, -1);
    g_assert_cmpuint(f.g->events, ==, 1);
    g_assert_cmpuint(f.g->event, ==, PVRDMA_EVENT_SRQ_ERR);
    g_assert_cmpuint(f.g->event_info, ==, f.handle);
    finish(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/srq/receive", test_receive);
    g_test_add_func("/pvrdma/srq/limit", test_limit);
    g_test_add_func("/pvrdma/srq/modify-refused", test_modify_refused);
    g_test_add_func("/pvrdma/srq/create-refused", test_create_refused);
    g_test_add_func("/pvrdma/srq/destroy", test_destroy);
    g_test_add_func("/pvrdma/srq/doorbell", test_doorbell);
    g_test_add_func("/pvrdma/srq/bad-index", test_bad_index);
    return g_test_run();
}
