/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User contexts, protection domains, memory regions: which accesses are permitted.  The
 * test is the guest.
 */
#include "memory.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define IOVA    0x7f0012345678ull
#define OFFSET  (IOVA % PVRDMA_PAGE_BYTES)
#define PAGES   5
#define BYTES   (PAGES * PVRDMA_PAGE_BYTES - OFFSET)
#define LOCAL   PVRDMA_ACCESS_LOCAL_WRITE
#define REMOTE  (PVRDMA_ACCESS_REMOTE_READ | PVRDMA_ACCESS_REMOTE_WRITE)

typedef struct Fixture {
    Guest *g;
    GuestObject *o;
    PvrdmaQp qp;
    uint32_t pd, handle, key;
} Fixture;

static void start(Fixture *f)
{
    *f = (Fixture) { .g = guest_new() };
    f->o = guest_object_new(f->g, PAGES);
    guest_fill(f->o, 9);
    f->pd = guest_pd(f->g);
    f->qp.s = &f->g->s;
    f->qp.pd = f->pd;
    f->handle = guest_mr(f->o, f->pd, IOVA, LOCAL | REMOTE, &f->key);
}

static void finish(Fixture *f)
{
    guest_object_free(f->o);
    guest_free(f->g);
}

static union pvrdma_cmd_req create_req(Fixture *f)
{
    return (union pvrdma_cmd_req) { .create_mr = {
        .start = cpu_to_le64(IOVA), .length = cpu_to_le64(BYTES),
        .pdir_dma = cpu_to_le64(f->o->pdir), .pd_handle = cpu_to_le32(f->pd),
        .access_flags = cpu_to_le32(LOCAL), .nchunks = cpu_to_le32(PAGES),
    } };
}

static int create(Fixture *f, const union pvrdma_cmd_req *req)
{
    union pvrdma_cmd_resp resp;
    int err = guest_cmd(f->g, pvrdma_cmd_create_mr, req, &resp);

    if (!err) {
        f->handle = le32_to_cpu(resp.create_mr.mr_handle);
        f->key = le32_to_cpu(resp.create_mr.lkey);
    }
    return err;
}

static int destroy(Fixture *f, uint32_t handle)
{
    union pvrdma_cmd_req req = { .destroy_mr.mr_handle = cpu_to_le32(handle) };

    return guest_cmd(f->g, pvrdma_cmd_destroy_mr, &req, NULL);
}

static PvrdmaMrStatus check(Fixture *f, uint32_t key, uint64_t va, uint64_t len,
                            uint32_t access)
{
    return pvrdma_mr_check(&f->qp, key, va, len, access);
}

/* --- Access ------------------------------------------------------------------------- */

static void test_copy(void)
{
    uint8_t buf[BYTES];
    Fixture f;

    start(&f);
    for (unsigned round = 0; round < 500; round++) {
        uint32_t at = g_test_rand_int_range(0, BYTES);
        uint32_t len = g_test_rand_int_range(1, BYTES - at + 1);

        g_assert_cmpint(pvrdma_mr_read(&f.qp, f.key, IOVA + at, buf, len,
                                       PVRDMA_ACCESS_REMOTE_READ), ==, PVRDMA_MR_OK);
        for (uint32_t i = 0; i < len; i++) {
            g_assert_cmphex(buf[i], ==,
                            *(uint8_t *)guest_object_at(f.o, OFFSET + at + i));
            buf[i] += 1 + i;
        }
        g_assert_cmpint(pvrdma_mr_write(&f.qp, f.key, IOVA + at, buf, len,
                                        PVRDMA_ACCESS_REMOTE_WRITE), ==,
                        PVRDMA_MR_OK);
        for (uint32_t i = 0; i < len; i++) {
            g_assert_cmphex(buf[i], ==,
                            *(uint8_t *)guest_object_at(f.o, OFFSET + at + i));
        }
    }
    /* the bytes before the region are unchanged */
    for (unsigned i = 0; i < OFFSET; i++) {
        g_assert_cmphex(*(uint8_t *)guest_object_at(f.o, i), ==,
                        guest_fill_byte(i, 9));
    }
    finish(&f);
}

static void test_range(void)
{
    static const struct {
        uint64_t va, len;
        bool good;
    } ranges[] = {
        { IOVA, 1, true }, { IOVA, BYTES, true }, { IOVA + BYTES - 1, 1, true },
        { IOVA, BYTES + 1, false }, { IOVA + 1, BYTES, false },
        { IOVA - 1, 1, false }, { IOVA - 1, 2, false }, { IOVA - 1, BYTES, false },
        { IOVA + BYTES, 1, false }, { IOVA, UINT64_MAX, false },
        { IOVA + 1, UINT64_MAX, false }, { IOVA, -IOVA, false },
        { 0, IOVA + 1, false }, { UINT64_MAX, 1, false }, { UINT64_MAX, 2, false },
        { IOVA + BYTES, 0, true }, { 0, 0, true }, { UINT64_MAX, 0, true },
    };
    Fixture f;

    start(&f);
    for (unsigned i = 0; i < ARRAY_SIZE(ranges); i++) {
        PvrdmaMrStatus want = ranges[i].good ? PVRDMA_MR_OK : PVRDMA_MR_BAD_RANGE;

        g_assert_cmpint(check(&f, f.key, ranges[i].va, ranges[i].len, 0), ==, want);
    }
    finish(&f);
}

static void test_key(void)
{
    uint8_t byte = 0;
    Fixture f;

    start(&f);
    for (unsigned bit = 0; bit < 32; bit++) {
        g_assert_cmpint(check(&f, f.key ^ (1u << bit), IOVA, 1, 0), ==,
                        PVRDMA_MR_BAD_KEY);
    }
    g_assert_cmpint(check(&f, 0, IOVA, 1, 0), ==, PVRDMA_MR_BAD_KEY);
    g_assert_cmpint(pvrdma_mr_read(&f.qp, f.key ^ 1, IOVA, &byte, 1, 0), ==,
                    PVRDMA_MR_BAD_KEY);
    g_assert_cmpint(pvrdma_mr_write(&f.qp, f.key ^ 1, IOVA, &byte, 1, 0), ==,
                    PVRDMA_MR_BAD_KEY);
    /* an access of no bytes needs no valid key */
    g_assert_cmpint(check(&f, 0xdead, IOVA, 0, REMOTE), ==, PVRDMA_MR_OK);
    g_assert_cmpint(pvrdma_mr_read(&f.qp, 0xdead, 0, NULL, 0, 0), ==, PVRDMA_MR_OK);
    g_assert_cmpint(pvrdma_mr_write(&f.qp, 0xdead, 0, NULL, 0, 0), ==,
                    PVRDMA_MR_OK);
    f.qp.pd = f.pd + 1;
    g_assert_cmpint(check(&f, f.key, IOVA, 1, 0), ==, PVRDMA_MR_BAD_PD);
    finish(&f);
}

/* The key of a destroyed region stays invalid, although its handle is used again. */
static void test_stale_key(void)
{
    union pvrdma_cmd_req req;
    uint32_t key, handle;
    bool again = false;
    Fixture f;

    start(&f);
    req = create_req(&f);
    key = f.key;
    handle = f.handle;
    g_assert_cmpint(destroy(&f, handle), ==, 0);
    g_assert_cmpint(destroy(&f, handle), ==, EINVAL);
    for (unsigned i = 0; i < 200; i++) {
        g_assert_cmpint(create(&f, &req), ==, 0);
        again |= f.handle == handle;
        g_assert_cmpint(check(&f, key, IOVA, 1, 0), ==, PVRDMA_MR_BAD_KEY);
        g_assert_cmpint(check(&f, f.key, IOVA, 1, 0), ==, PVRDMA_MR_OK);
        g_assert_cmpint(destroy(&f, f.handle), ==, 0);
    }
    g_assert_true(again);
    finish(&f);
}

static void test_rights(void)
{
    static const uint32_t all[] = {
        0, LOCAL, PVRDMA_ACCESS_REMOTE_READ, LOCAL | PVRDMA_ACCESS_REMOTE_READ,
        LOCAL | PVRDMA_ACCESS_REMOTE_WRITE, LOCAL | PVRDMA_ACCESS_REMOTE_ATOMIC,
        LOCAL | REMOTE | PVRDMA_ACCESS_REMOTE_ATOMIC,
    };
    Fixture f;

    start(&f);
    for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
        union pvrdma_cmd_req req = create_req(&f);

        req.create_mr.access_flags = cpu_to_le32(all[i]);
        g_assert_cmpint(create(&f, &req), ==, 0);
        for (uint32_t access = 0; access < 16; access++) {
            g_assert_cmpint(check(&f, f.key, IOVA, 1, access), ==,
                            access & ~all[i] ? PVRDMA_MR_BAD_ACCESS : PVRDMA_MR_OK);
        }
    }
    finish(&f);
}

/* Only accesses to the page without memory fail with a bus error. */
static void test_bus_error(void)
{
    uint8_t buf[BYTES] = { 0 };
    union pvrdma_cmd_req req;
    Fixture f;

    start(&f);
    stq_le_p(guest_at(f.g, ldq_le_p(guest_at(f.g, f.o->pdir)) + 2 * 8), GUEST_BYTES);
    req = create_req(&f);
    g_assert_cmpint(create(&f, &req), ==, 0);
    g_assert_cmpint(pvrdma_mr_read(&f.qp, f.key, IOVA, buf, BYTES, 0), ==,
                    PVRDMA_MR_BUS_ERROR);
    g_assert_cmpint(pvrdma_mr_write(&f.qp, f.key, IOVA, buf, BYTES, LOCAL), ==,
                    PVRDMA_MR_BUS_ERROR);
    g_assert_cmpint(pvrdma_mr_read(&f.qp, f.key, IOVA, buf, 100, 0), ==,
                    PVRDMA_MR_OK);
    finish(&f);
}

/* --- DMA and fast regions ----------------------------------------------------------- */

static void test_dma(void)
{
    union pvrdma_cmd_req req = { };
    uint8_t out[300], in[300];
    Fixture f;

    start(&f);
    req.create_mr.pd_handle = cpu_to_le32(f.pd);
    req.create_mr.flags = cpu_to_le32(PVRDMA_MR_FLAG_DMA);
    req.create_mr.access_flags = cpu_to_le32(LOCAL);
    g_assert_cmpint(create(&f, &req), ==, 0);
    memset(out, 0x3c, sizeof(out));
    g_assert_cmpint(pvrdma_mr_write(&f.qp, f.key, f.o->page[1] + 5, out, sizeof(out),
                                    LOCAL), ==, PVRDMA_MR_OK);
    g_assert_cmpmem(guest_at(f.g, f.o->page[1] + 5), sizeof(out), out, sizeof(out));
    g_assert_cmpint(pvrdma_mr_read(&f.qp, f.key, f.o->page[1] + 5, in, sizeof(in),
                                   0), ==, PVRDMA_MR_OK);
    g_assert_cmpmem(in, sizeof(in), out, sizeof(out));
    g_assert_cmpint(pvrdma_mr_read(&f.qp, f.key, GUEST_BYTES, in, 1, 0), ==,
                    PVRDMA_MR_BUS_ERROR);
    g_assert_cmpint(check(&f, f.key, UINT64_MAX, 1, 0), ==, PVRDMA_MR_OK);
    g_assert_cmpint(check(&f, f.key, UINT64_MAX, 2, 0), ==, PVRDMA_MR_BAD_RANGE);
    g_assert_cmpint(check(&f, f.key, 2, UINT64_MAX, 0), ==, PVRDMA_MR_BAD_RANGE);
    /* a DMA region permits no access of a peer */
    g_assert_cmpint(check(&f, f.key, 0, 1, PVRDMA_ACCESS_REMOTE_READ), ==,
                    PVRDMA_MR_BAD_ACCESS);
    for (unsigned bit = 1; bit < 4; bit++) {
        req.create_mr.access_flags = cpu_to_le32(LOCAL | 1u << bit);
        g_assert_cmpint(create(&f, &req), ==, EOPNOTSUPP);
    }
    finish(&f);
}

static void create_fast(Fixture *f)
{
    union pvrdma_cmd_req req = { .create_mr = {
        .pd_handle = cpu_to_le32(f->pd), .nchunks = cpu_to_le32(PAGES),
        .flags = cpu_to_le32(PVRDMA_MR_FLAG_FRMR),
    } };

    g_assert_cmpint(create(f, &req), ==, 0);
}

static PvrdmaSqe fast_reg(Fixture *f, uint32_t key)
{
    return (PvrdmaSqe) { .fast_reg = {
        .iova = IOVA, .pdir = f->o->pdir, .page_shift = PVRDMA_PAGE_SHIFT,
        .pages = PAGES, .length = BYTES, .access = LOCAL | REMOTE, .rkey = key,
    } };
}

static void test_fast(void)
{
    uint32_t key;
    PvrdmaSqe sqe;
    uint8_t byte;
    Fixture f;

    start(&f);
    create_fast(&f);
    g_assert_cmpint(check(&f, f.key, IOVA, 1, 0), ==, PVRDMA_MR_BAD_KEY);
    for (unsigned round = 1; round < 600; round++) {
        key = (f.key & ~0xffu) | ((f.key + round) & 0xff);
        sqe = fast_reg(&f, key);
        g_assert_cmpuint(pvrdma_mr_fast_reg(&f.qp, &sqe), ==, PVRDMA_WC_SUCCESS);
        g_assert_cmpint(pvrdma_mr_read(&f.qp, key, IOVA + 3, &byte, 1,
                                       PVRDMA_ACCESS_REMOTE_READ), ==, PVRDMA_MR_OK);
        g_assert_cmphex(byte, ==, guest_fill_byte(OFFSET + 3, 9));
        /* a valid region is not registered again, and only its own key invalidates it */
        g_assert_cmpuint(pvrdma_mr_fast_reg(&f.qp, &sqe), ==, PVRDMA_WC_MW_BIND_ERR);
        g_assert_cmpuint(pvrdma_mr_invalidate(&f.qp, key ^ 1), ==,
                         PVRDMA_WC_MW_BIND_ERR);
        g_assert_cmpint(check(&f, key, IOVA, BYTES, REMOTE), ==, PVRDMA_MR_OK);
        g_assert_cmpuint(pvrdma_mr_invalidate(&f.qp, key), ==, PVRDMA_WC_SUCCESS);
        g_assert_cmpint(check(&f, key, IOVA, 1, 0), ==, PVRDMA_MR_BAD_KEY);
        g_assert_cmpuint(pvrdma_mr_invalidate(&f.qp, key), ==, PVRDMA_WC_SUCCESS);
    }
    finish(&f);
}

static void fast_refused(Fixture *f, PvrdmaSqe sqe)
{
    g_assert_cmpuint(pvrdma_mr_fast_reg(&f->qp, &sqe), ==, PVRDMA_WC_MW_BIND_ERR);
    g_assert_cmpint(check(f, sqe.fast_reg.rkey, IOVA, 1, 0), !=, PVRDMA_MR_OK);
}

static void test_fast_refused(void)
{
    uint32_t user;
    PvrdmaSqe sqe;
    Fixture f;

    start(&f);
    user = f.key;
    create_fast(&f);
#define REFUSED(field, value) \
    do { \
        sqe = fast_reg(&f, f.key); \
        sqe.fast_reg.field = (value); \
        fast_refused(&f, sqe); \
    } while (0)
    REFUSED(page_shift, 13);
    REFUSED(page_shift, 0);
    REFUSED(pages, PAGES + 1);
    REFUSED(pages, PAGES - 1);
    REFUSED(pages, 0);
    REFUSED(length, BYTES + 1);
    REFUSED(length, 0);
    REFUSED(length, UINT32_MAX);
    REFUSED(iova, UINT64_MAX - 5);
    REFUSED(pdir, GUEST_BYTES);
    REFUSED(pdir, f.o->pdir + 8);
    REFUSED(access, PVRDMA_ACCESS_REMOTE_WRITE);
    REFUSED(access, PVRDMA_ACCESS_ON_DEMAND);
    REFUSED(rkey, f.key + 0x100);
    REFUSED(rkey, UINT32_MAX);
#undef REFUSED
    /* refused: a region of another kind, and a region of another domain */
    sqe = fast_reg(&f, user);
    g_assert_cmpuint(pvrdma_mr_fast_reg(&f.qp, &sqe), ==, PVRDMA_WC_MW_BIND_ERR);
    g_assert_cmpuint(pvrdma_mr_invalidate(&f.qp, user), ==, PVRDMA_WC_MW_BIND_ERR);
    g_assert_cmpint(check(&f, user, IOVA, 1, 0), ==, PVRDMA_MR_OK);
    f.qp.pd = guest_pd(f.g);
    fast_refused(&f, fast_reg(&f, f.key));
    f.qp.pd = f.pd;
    sqe = fast_reg(&f, f.key);
    g_assert_cmpuint(pvrdma_mr_fast_reg(&f.qp, &sqe), ==, PVRDMA_WC_SUCCESS);
    f.qp.pd++;
    g_assert_cmpuint(pvrdma_mr_invalidate(&f.qp, f.key), ==, PVRDMA_WC_MW_BIND_ERR);
    f.qp.pd--;
    g_assert_cmpint(check(&f, f.key, IOVA, BYTES, REMOTE), ==, PVRDMA_MR_OK);
    finish(&f);
}

/* --- Commands ----------------------------------------------------------------------- */

static void test_create_refused(void)
{
    union pvrdma_cmd_req req;
    Fixture f;

    start(&f);
#define REFUSED(field, value, err) \
    do { \
        req = create_req(&f); \
        req.create_mr.field = (value); \
        g_assert_cmpint(create(&f, &req), ==, err); \
    } while (0)
    REFUSED(pd_handle, 0, EINVAL);
    REFUSED(pd_handle, cpu_to_le32(f.pd + 1), EINVAL);
    REFUSED(pd_handle, UINT32_MAX, EINVAL);
    REFUSED(length, 0, EINVAL);
    REFUSED(length, cpu_to_le64(BYTES + 1), EINVAL);
    REFUSED(length, UINT64_MAX, EINVAL);
    REFUSED(length, cpu_to_le64(-IOVA + 1), EINVAL);
    REFUSED(length, cpu_to_le64(PVRDMA_MAX_MR_BYTES + 1), EINVAL);
    REFUSED(start, UINT64_MAX, EINVAL);
    REFUSED(nchunks, 0, EINVAL);
    REFUSED(nchunks, cpu_to_le32(PAGES - 1), EINVAL);
    REFUSED(nchunks, UINT32_MAX, EINVAL);
    REFUSED(flags, cpu_to_le32(PVRDMA_MR_FLAG_DMA | PVRDMA_MR_FLAG_FRMR), EINVAL);
    REFUSED(flags, cpu_to_le32(4), EINVAL);
    REFUSED(access_flags, cpu_to_le32(PVRDMA_ACCESS_REMOTE_WRITE), EINVAL);
    REFUSED(access_flags, cpu_to_le32(PVRDMA_ACCESS_REMOTE_ATOMIC), EINVAL);
    REFUSED(access_flags, cpu_to_le32(PVRDMA_ACCESS_ZERO_BASED), EOPNOTSUPP);
    REFUSED(access_flags, cpu_to_le32(PVRDMA_ACCESS_ON_DEMAND), EOPNOTSUPP);
    REFUSED(pdir_dma, cpu_to_le64(GUEST_BYTES), EFAULT);
    REFUSED(pdir_dma, cpu_to_le64(f.o->pdir + 1), EINVAL);
    req = create_req(&f);
    req.create_mr.flags = cpu_to_le32(PVRDMA_MR_FLAG_FRMR);
    req.create_mr.nchunks = cpu_to_le32(PVRDMA_MAX_FAST_REG_PAGES + 1);
    g_assert_cmpint(create(&f, &req), ==, EINVAL);
    req.create_mr.nchunks = 0;
    g_assert_cmpint(create(&f, &req), ==, EINVAL);
#undef REFUSED
    g_assert_cmpuint(f.g->s.mr.used, ==, 1);
    finish(&f);
}

static void test_limits(void)
{
    union pvrdma_cmd_req req;
    uint32_t used, made = 0;
    Fixture f;

    start(&f);
    req = create_req(&f);
    used = f.g->s.pages_used;
    f.g->s.pages_used = PVRDMA_MAX_PAGES - PAGES + 1;
    g_assert_cmpint(create(&f, &req), ==, ENOMEM);
    f.g->s.pages_used = used;
    while (create(&f, &req) == 0) {
        made++;
    }
    /* entry 0 is not used, and start() made a region */
    g_assert_cmpuint(made, ==, f.g->s.mr.size - 2);
    g_assert_cmpint(create(&f, &req), ==, ENOMEM);
    g_assert_cmpuint(f.g->s.pages_used, ==, (made + 1) * PAGES);
    g_assert_cmpint(destroy(&f, 1), ==, 0);
    g_assert_cmpint(create(&f, &req), ==, 0);
    finish(&f);
}

static int create_uc(Fixture *f, uint64_t pfn, uint32_t *handle)
{
    union pvrdma_cmd_req req = { .create_uc.pfn64 = cpu_to_le64(pfn) };
    union pvrdma_cmd_resp resp;
    int err = guest_cmd(f->g, pvrdma_cmd_create_uc, &req, &resp);

    *handle = le32_to_cpu(resp.create_uc.ctx_handle);
    return err;
}

static int destroy_uc(Fixture *f, uint32_t handle)
{
    union pvrdma_cmd_req req = { .destroy_uc.ctx_handle = cpu_to_le32(handle) };

    return guest_cmd(f->g, pvrdma_cmd_destroy_uc, &req, NULL);
}

static int create_pd(Fixture *f, uint32_t ctx, uint32_t *handle)
{
    union pvrdma_cmd_req req = { .create_pd.ctx_handle = cpu_to_le32(ctx) };
    union pvrdma_cmd_resp resp;
    int err = guest_cmd(f->g, pvrdma_cmd_create_pd, &req, &resp);

    *handle = le32_to_cpu(resp.create_pd.pd_handle);
    return err;
}

static int destroy_pd(Fixture *f, uint32_t handle)
{
    union pvrdma_cmd_req req = { .destroy_pd.pd_handle = cpu_to_le32(handle) };

    return guest_cmd(f->g, pvrdma_cmd_destroy_pd, &req, NULL);
}

/*
 * Objects in use are not destroyed.  A user context needs a page of BAR 2, but not page
 * 0, which is the kernel's.
 */
static void test_contexts(void)
{
    uint32_t uc, pd, other;
    PvrdmaUc *u;
    Fixture f;

    start(&f);
    g_assert_cmpint(create_uc(&f, GUEST_UAR_PFN, &uc), ==, EINVAL);
    g_assert_cmpint(create_uc(&f, GUEST_UAR_PFN - 1, &uc), ==, EINVAL);
    g_assert_cmpint(create_uc(&f, GUEST_UAR_PFN + PVRDMA_UARS, &uc), ==, EINVAL);
    g_assert_cmpint(create_uc(&f, 0, &uc), ==, EINVAL);
    g_assert_cmpint(create_uc(&f, UINT64_MAX, &uc), ==, EINVAL);
    g_assert_cmpint(create_uc(&f, GUEST_UAR_PFN + PVRDMA_UARS - 1, &uc), ==, 0);
    u = pvrdma_table_get(&f.g->s.uc, uc);
    g_assert_cmpuint(u->uar, ==, PVRDMA_UARS - 1);
    g_assert_cmpint(create_pd(&f, uc + 1, &pd), ==, EINVAL);
    g_assert_cmpint(create_pd(&f, UINT32_MAX, &pd), ==, EINVAL);
    g_assert_cmpint(create_pd(&f, uc, &pd), ==, 0);
    g_assert_cmpint(destroy_uc(&f, uc), ==, EBUSY);
    f.pd = pd;
    create_fast(&f);
    g_assert_cmpint(destroy_pd(&f, pd), ==, EBUSY);
    g_assert_cmpint(destroy(&f, f.handle), ==, 0);
    g_assert_cmpint(destroy_pd(&f, pd), ==, 0);
    g_assert_cmpint(destroy_pd(&f, pd), ==, EINVAL);
    g_assert_cmpint(destroy_pd(&f, UINT32_MAX), ==, EINVAL);
    g_assert_cmpint(destroy_uc(&f, uc), ==, 0);
    g_assert_cmpint(destroy_uc(&f, uc), ==, EINVAL);
    g_assert_cmpint(destroy_uc(&f, 0), ==, EINVAL);
    /* the tables limit the number of contexts and of domains */
    while (create_uc(&f, GUEST_UAR_PFN + 1, &other) == 0) {
        continue;
    }
    g_assert_cmpint(create_uc(&f, GUEST_UAR_PFN + 1, &other), ==, ENOMEM);
    while (create_pd(&f, 0, &other) == 0) {
        continue;
    }
    g_assert_cmpint(create_pd(&f, 0, &other), ==, ENOMEM);
    finish(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/mr/copy", test_copy);
    g_test_add_func("/pvrdma/mr/range", test_range);
    g_test_add_func("/pvrdma/mr/key", test_key);
    g_test_add_func("/pvrdma/mr/stale-key", test_stale_key);
    g_test_add_func("/pvrdma/mr/rights", test_rights);
    g_test_add_func("/pvrdma/mr/bus-error", test_bus_error);
    g_test_add_func("/pvrdma/mr/dma", test_dma);
    g_test_add_func("/pvrdma/mr/fast", test_fast);
    g_test_add_func("/pvrdma/mr/fast-refused", test_fast_refused);
    g_test_add_func("/pvrdma/mr/create-refused", test_create_refused);
    g_test_add_func("/pvrdma/mr/limits", test_limits);
    g_test_add_func("/pvrdma/mr/contexts", test_contexts);
    return g_test_run();
}
