/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pvrdma behind a virtual IOMMU (intel-iommu): all addresses that a guest gives are
 * translated, and an access that the IOMMU refuses fails as one outside of memory.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "verbs.h"

/* Registers and tables of VT-d. */
#define VTD             0xfed90000ULL
#define VTD_GCMD        0x18
#define VTD_GSTS        0x1c
#define VTD_RTADDR      0x20
#define VTD_TE          (1u << 31)      /* switches translation on */
#define VTD_SRTP        (1u << 30)      /* sets the root table */
#define VTD_PRESENT     1
#define VTD_LEVELS_3    1               /* 39 bits of address */
#define VTD_DOMAIN(id)  ((id) << 8)
#define VTD_READ        1
#define VTD_WRITE       2
#define VTD_RW          (VTD_READ | VTD_WRITE)
#define VTD_LARGE       0x80            /* a page of 2 MiB */
#define LARGE_BYTES     0x200000ULL

/* Addresses without RAM, which only the IOMMU translates to RAM. */
#define WINDOW          0x40000000ULL
#define WINDOW_PAGES    8
/* page of the window that the IOMMU does not translate */
#define UNMAPPED        (WINDOW_PAGES - 1)
#define READ_ONLY       (WINDOW_PAGES - 2)

typedef struct Rig {
    PvrdmaTest *t;
    uint64_t ram; /* address of the RAM that the window is translated to */
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp[2];                 /* connected with each other */
    PvrdmaTestMr mr, window;
} Rig;

/*
 * Makes tables that translate RAM to itself, and the window to the pages at @ram in the
 * opposite order.  Returns the address of the top table.
 */
static uint64_t tables_make(PvrdmaTest *t, uint64_t ram)
{
    uint64_t top = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t low = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t high = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t pages = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);

    for (unsigned i = 0; i < PVRDMA_TEST_RAM / LARGE_BYTES; i++) {
        qtest_writeq(t->qts, low + 8 * i, i * LARGE_BYTES | VTD_LARGE | VTD_RW);
    }
    for (unsigned i = 0; i < WINDOW_PAGES; i++) {
        uint64_t page = ram + (WINDOW_PAGES - 1 - i) * PVRDMA_PAGE_BYTES;

        qtest_writeq(t->qts, pages + 8 * i, i == UNMAPPED ? 0 :
                     page | (i == READ_ONLY ? VTD_READ : VTD_RW));
    }
    qtest_writeq(t->qts, high, pages | VTD_RW);
    qtest_writeq(t->qts, top, low | VTD_RW);
    qtest_writeq(t->qts, top + 8 * (WINDOW >> 30), high | VTD_RW);
    return top;
}

static void iommu_start(PvrdmaTest *t, uint64_t ram)
{
    uint64_t root = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t context = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t entry = context + 16 * t->dev->devfn;

    qtest_writeq(t->qts, root, context | VTD_PRESENT);
    qtest_writeq(t->qts, entry, tables_make(t, ram) | VTD_PRESENT);
    qtest_writeq(t->qts, entry + 8, VTD_LEVELS_3 | VTD_DOMAIN(1));
    qtest_writeq(t->qts, VTD + VTD_RTADDR, root);
    qtest_writel(t->qts, VTD + VTD_GCMD, VTD_SRTP);
    qtest_writel(t->qts, VTD + VTD_GCMD, VTD_TE);
    g_assert_cmphex(qtest_readl(t->qts, VTD + VTD_GSTS) & VTD_TE, ==, VTD_TE);
}

static PvrdmaTestMr window_make(Rig *r)
{
    union pvrdma_cmd_req req =
        pvrdma_mr_request(r->t, r->pd, WINDOW, WINDOW,
                          WINDOW_PAGES * PVRDMA_PAGE_BYTES,
                          PVRDMA_TEST_ACCESS_ALL);
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(r->t, PVRDMA_CMD_CREATE_MR, &req, &resp);
    return (PvrdmaTestMr) {
        .va = WINDOW, .rkey = le32_to_cpu(resp.create_mr.rkey),
    };
}

static Rig rig_start(void)
{
    Rig r = { .t = pvrdma_start_cold(" -device intel-iommu") };
    const PvrdmaTestQpAttr attr = { 0 };

    r.ram = pvrdma_alloc(r.t, WINDOW_PAGES * PVRDMA_PAGE_BYTES);
    iommu_start(r.t, r.ram);
    pvrdma_msix_enable(r.t);
    pvrdma_bring_up(r.t);
    r.pd = pvrdma_pd_create(r.t, 0);
    r.mr = pvrdma_mr_create(r.t, r.pd, 0x1000, 0x8000, PVRDMA_TEST_ACCESS_ALL);
    r.window = window_make(&r);
    r.cq = pvrdma_cq_create(r.t, 0, 0, 16);
    for (unsigned i = 0; i < 2; i++) {
        r.qp[i] = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
            .pd = r.pd, .send_cq = &r.cq,
        });
    }
    pvrdma_qp_pair(r.t, &r.qp[0], &r.qp[1], &attr);
    return r;
}

/*
 * Posts an RDMA READ or WRITE of @len bytes between page @page of the window and r->mr.
 */
static void copy(Rig *r, enum pvrdma_wr_opcode opcode, unsigned page, uint32_t len)
{
    struct pvrdma_sq_wqe_hdr hdr =
        pvrdma_wr_rdma(1, opcode, WINDOW + page * PVRDMA_PAGE_BYTES,
                       r->window.rkey);

    pvrdma_post_send(r->t, &r->qp[0], &hdr, &PVRDMA_TEST_SGE(&r->mr, 0, len), 1);
}

/* Two pages that follow each other for the guest are apart in memory. */
static void test_translated(void)
{
    Rig r = rig_start();
    uint8_t want[2 * PVRDMA_PAGE_BYTES];

    pvrdma_fill(r.t, r.mr.pa, want, sizeof(want), 3);
    copy(&r, PVRDMA_WR_RDMA_WRITE, 1, sizeof(want));
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_assert_mem(r.t, r.ram + (WINDOW_PAGES - 2 - i) * PVRDMA_PAGE_BYTES,
                          want + i * PVRDMA_PAGE_BYTES, PVRDMA_PAGE_BYTES);
    }
    pvrdma_fill(r.t, r.mr.pa, NULL, sizeof(want), 4);
    copy(&r, PVRDMA_WR_RDMA_READ, 1, sizeof(want));
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_assert_mem(r.t, r.mr.pa, want, sizeof(want));
    /* reading this page is allowed */
    copy(&r, PVRDMA_WR_RDMA_READ, READ_ONLY, PVRDMA_PAGE_BYTES);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    pvrdma_stop(r.t);
}

/*
 * Checks that the responder cannot access the page: asserts the status of the requester
 * and the event of the responder.
 */
static void check_refused(enum pvrdma_wr_opcode opcode, unsigned page)
{
    Rig r = rig_start();

    r.t->guest_errors = true;
    copy(&r, opcode, page, PVRDMA_PAGE_BYTES);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_REM_OP_ERR);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_FATAL, r.qp[1].handle);
    pvrdma_stop(r.t);
}

static void test_unmapped(void)
{
    check_refused(PVRDMA_WR_RDMA_WRITE, UNMAPPED);
    check_refused(PVRDMA_WR_RDMA_READ, UNMAPPED);
}

static void test_read_only(void)
{
    check_refused(PVRDMA_WR_RDMA_WRITE, READ_ONLY);
}

/* The IOMMU does not translate the address of a page directory. */
static void test_directory(void)
{
    Rig r = rig_start();
    union pvrdma_cmd_req req = {
        .create_cq = {
            .pdir_dma = cpu_to_le64(WINDOW + UNMAPPED * PVRDMA_PAGE_BYTES),
            .cqe = cpu_to_le32(16), .nchunks = cpu_to_le32(2),
        },
    };

    pvrdma_command_fails(r.t, PVRDMA_CMD_CREATE_CQ, &req, EFAULT);
    pvrdma_stop(r.t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/guest/iommu-translated", test_translated);
    qtest_add_func("/pvrdma/guest/iommu-unmapped", test_unmapped);
    qtest_add_func("/pvrdma/guest/iommu-read-only", test_read_only);
    qtest_add_func("/pvrdma/guest/iommu-directory", test_directory);
    return g_test_run();
}
