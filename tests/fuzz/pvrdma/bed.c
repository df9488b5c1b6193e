/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bed of pvrdma: life of the device, and the final checks; see bed.h. */
#include "bed.h"
#include "qapi/error.h"
#include "qemu/units.h"

#define ITERATIONS      5000 /* limit of the main loop's iterations after an operation */
/* limit of iterations with a hostile kernel, whose regions may have gigabytes */
#define ITERATIONS_KERNEL 100
#define LIVE_MAX        (64 * MiB)
#define TIMEOUT_NS      (4096 * NANOSECONDS_PER_SECOND) /* limit of a WQE's retries */
#define HONEST_NS       (120 * NANOSECONDS_PER_SECOND)  /* limit of HONEST's work */
#define HONEST_BYTES    700         /* bytes of HONEST's test data, three packets */
#define HONEST_PSN      0xfffffd    /* first PSN; the PSNs of the test wrap */
/* largest attribute timeout of a QP whose WQEs must end in TIMEOUT_NS */
#define TIMEOUT_MAX     20
#define RNR_FOR_EVER    7

Bed bed;

void bed_settle(void)
{
    bool kernel = bed_is_hostile_kernel();
    bool ended = box_run(kernel ? ITERATIONS_KERNEL : ITERATIONS);

    g_assert_true(ended || kernel);
    g_assert_cmpuint(box_live_bytes(), <, LIVE_MAX);
    if (!kernel) {
        bed_rings_take();
    }
}

void bed_step(int64_t ns)
{
    bool kernel = bed_is_hostile_kernel();
    bool ended = box_step(ns, kernel ? ITERATIONS_KERNEL : ITERATIONS);

    g_assert_true(ended || kernel);
    if (!kernel) {
        bed_rings_take();
    }
}

/* --- Life ------------------------------------------------------------------------- */

static bool host_messages(void *opaque)
{
    return !bed.line;
}

/*
 * Stores the level of INTx.  Asserts that only pvrdma_fini() touches INTx of an unplugged
 * device, and that pvrdma_fini() only lowers INTx.
 */
static void host_line(void *opaque, unsigned line, bool level)
{
    g_assert_true(!bed.gone || (bed.ending && !level));
    bed.line_high = level;
}

/*
 * Takes an interrupt message and has the effect bed.irq.  The message may write to any
 * register, because the guest chooses its address.
 */
static void host_irq(void *opaque, unsigned vector)
{
    uint8_t what = bed.irq;

    g_assert_cmpuint(vector, <, PVRDMA_INTR_VECTORS);
    g_assert_false(bed.gone);
    bed.irq = 0;
    switch (what % 8) {
    case 1:
        bed_reg_set(bed.irq_reg % 0x28 & ~3u, bed.irq_value);
        break;
    case 2:
        bed_doorbell(bed.irq_reg % 4, bed.irq_reg >> 8 & 0xc, bed.irq_value);
        break;
    case 3:
        pvrdma_reset(bed.s);        /* function-level reset */
        break;
    case 4:
        bed.gone = true;            /* power of the slot goes off */
        pvrdma_fini(bed.s);
        break;
    case 5:
        bed.line = true;
        break;
    }
}

static void nic_type_register(void)
{
    static const TypeInfo type = {
        .name = "pvrdma-box", .parent = TYPE_OBJECT, .instance_size = sizeof(BedNic),
    };
    static bool done;

    if (!done) {
        type_register_static(&type);
        done = true;
    }
}

static void nic_new(void)
{
    RNicHost host = {
        .as = &address_space_memory, .messages = host_messages, .irq = host_irq,
        .line = host_line,
    };
    PvrdmaState *s;

    bed.paired = box_nic(0, bed_mac);
    bed.nic = (BedNic *)object_new("pvrdma-box");
    bed.s = s = &bed.nic->pvrdma;
    bed.nic->dev.realized = true;
    host.dev = &bed.nic->dev;
    s->mtu = 1024;
    s->version = PVRDMA_VERSION;
    s->roce_v1 = bed.flags & BED_ROCE_V1;
    s->dcqcn = bed.flags & BED_DCQCN;
    s->ack_delay_us = bed.flags & BED_ACK_DELAY ? 20 : 0;
    pvrdma_init(s, &host, "wire0", &error_abort);
    box_bar(PVRDMA_BAR_REGS, &s->regs_mr);
    box_bar(PVRDMA_BAR_UAR, &s->uar_mr);
}

/* Sets the first page of each object.  Both regions of EVIL have the same pages. */
static void pages_assign(void)
{
    unsigned page = BED_PAGE_EVIL;

    for (unsigned i = 0; i < BED_CQ_EVIL; i++, page += 2) {
        bed.cq[i].page = page;
    }
    for (unsigned i = 0; i < BED_QP_EVIL; i++, page += 3) {
        bed.qp[i].page = page;
    }
    bed.srq.page = page;
    g_assert_cmpuint(page + 2, <=, BED_PAGE_EVIL_DATA);
    for (unsigned i = 0; i < BED_MR_EVIL; i++) {
        bed.mr[i].page = BED_PAGE_EVIL_DATA;
    }
    bed.cq[BED_CQ_HONEST].page = BED_PAGE_HONEST;
    bed.qp[BED_QP_HONEST].page = BED_PAGE_HONEST + 2;
    bed.mr[BED_MR_HONEST].page = BED_PAGE_HONEST_DATA;
}

static void ok(int err)
{
    g_assert_cmpint(err, ==, 0);
}

/*
 * Makes HONEST's objects, connects its QP to HONEST_NODE, and fills its memory with the
 * secret.  @remote: access flags of its region.
 */
static void honest_make(uint32_t remote)
{
    BedConnection to = {
        .mtu = PVRDMA_MTU_256, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
        .rd_atomic = 4, .min_rnr_timer = 1, .psn = HONEST_PSN,
        .qpn = BED_EVIL_QPN + BED_QP_HONEST,
    };

    ok(bed_uc_make(true));
    ok(bed_cq_make(BED_CQ_HONEST, BED_CQES));
    /*
     * remote access is allowed, so only the protection domain keeps other QPs from
     * these bytes
     */
    ok(bed_mr_make(BED_MR_HONEST, 4 * PVRDMA_PAGE_BYTES, remote));
    ok(bed_qp_make(BED_QP_HONEST, PVRDMA_QPT_RC, false, true));
    g_assert_true(bed_qp_connect(BED_QP_HONEST, &to));
    bed.epsn = bed.honest_psn = HONEST_PSN;
    for (uint64_t at = bed_page(BED_PAGE_HONEST_DATA); at < bed_page(BED_PAGE_END);
         at += sizeof(uint64_t)) {
        stq_le_p(box_ram + at, BED_SECRET);
    }
}

void bed_objects_make(void)
{
    const uint32_t remote = PVRDMA_ACCESS_LOCAL_WRITE | PVRDMA_ACCESS_REMOTE_WRITE |
                            PVRDMA_ACCESS_REMOTE_READ | PVRDMA_ACCESS_REMOTE_ATOMIC;
    BedConnection to = {
        .mtu = PVRDMA_MTU_256, .timeout = 14, .retry_cnt = 7, .rnr_retry = 6,
        .rd_atomic = 1, .min_rnr_timer = 1,
    };

    ok(bed_uc_make(false));
    for (unsigned i = 0; i < BED_CQ_EVIL; i++) {
        ok(bed_cq_make(i, BED_CQES));
    }
    ok(bed_mr_make(0, BED_DATA_BYTES, remote));
    ok(bed_mr_make(1, PVRDMA_PAGE_BYTES, PVRDMA_ACCESS_REMOTE_READ));
    ok(bed_srq_make());
    for (unsigned i = 0; i < BED_QP_EVIL; i++) {
        ok(bed_qp_make(i, i == BED_QP_UD ? PVRDMA_QPT_UD : PVRDMA_QPT_RC,
                       i == BED_QP_SRQ, false));
    }
    for (unsigned i = 0; i < BED_QP_EVIL; i++) {
        to.loop = i == BED_QP_LOOP || i == BED_QP_SRQ;
        to.qpn = i == BED_QP_LOOP ? bed.qp[BED_QP_SRQ].key :
                 i == BED_QP_SRQ ? bed.qp[BED_QP_LOOP].key : BED_EVIL_QPN + i;
        g_assert_true(bed_qp_connect(i, &to));
    }
    honest_make(remote);
    bed_settle();
}

void bed_start_empty(uint8_t flags)
{
    memset(&bed, 0, sizeof(bed));
    bed.flags = flags & BED_FLAGS;
    box_init();
    nic_type_register();
    box_loop_reset();
    box_memory_reset();
    box_net_reset(bed_frame_sent);
    pages_assign();
    nic_new();
    bed_bring_up();
}

void bed_start(uint8_t flags)
{
    bed_start_empty(flags);
    bed_objects_make();
}

void bed_end(void)
{
    box_bars_remove();
    if (!bed.gone) {
        pvrdma_fini(bed.s);
    }
    box_run(ITERATIONS);
    if (bed.nic) {
        g_assert_cmpuint(OBJECT(bed.nic)->ref, ==, 1);
        object_unref(OBJECT(bed.nic));
    }
    qemu_del_nic(bed.paired);
    box_net_reset(NULL);
    box_memory_reset();
}

void bed_unplug(void)
{
    bed.gone = true;
    box_bars_remove();
    bed.ending = true;
    pvrdma_fini(bed.s);
    bed.ending = false;
    g_assert_false(bed.line && bed.line_high);
    box_run(ITERATIONS);
    object_unref(OBJECT(bed.nic));
    bed.nic = NULL;
    bed.s = NULL;
}

/* --- What must hold ---------------------------------------------------------------- */

/*
 * Asserts that the memory of HONEST still holds the secret only, and that the memory of
 * EVIL holds no part of it.
 */
static void memory_check(void)
{
    for (uint64_t at = bed_page(BED_PAGE_HONEST_DATA); at < bed_page(BED_PAGE_END);
         at += sizeof(uint64_t)) {
        g_assert_cmphex(ldq_le_p(box_ram + at), ==, BED_SECRET);
    }
    bed_assert_no_secret(box_ram + bed_page(BED_PAGE_EVIL_DATA), BED_DATA_BYTES);
}

/*
 * Returns true if @qp must complete its WQEs within TIMEOUT_NS even if its peer is
 * silent.
 */
static bool qp_must_end(const PvrdmaQp *qp)
{
    return qp->state == PVRDMA_QPS_RTS && qp->attr.timeout &&
           qp->attr.timeout <= TIMEOUT_MAX && qp->attr.rnr_retry != RNR_FOR_EVER;
}

static bool qp_has_ended(unsigned i)
{
    PvrdmaQp *qp = bed_qp_state(i);
    uint32_t prod = ldl_le_p(box_ram + bed_page(bed.qp[i].page));

    return !qp || !qp_must_end(qp) || (qp->sq.cons == qp->sq.prod &&
                                       qp->sq.prod == prod);
}

/*
 * Rings the send doorbells of EVIL, and asserts that each WQE ends within TIMEOUT_NS,
 * although EVIL_NODE is silent.  A QP that leaves RTS has ended.
 */
static void qps_check(void)
{
    int64_t end = box_now() + TIMEOUT_NS;
    bool all = false;

    for (unsigned i = 0; i < BED_QP_EVIL; i++) {
        if (bed.qp[i].handle) {
            bed_ring_send(i);
        }
    }
    for (int64_t ns = SCALE_MS; !all && box_now() < end; ns *= 2) {
        bed_step(ns);
        all = true;
        for (unsigned i = 0; i < BED_QP_EVIL; i++) {
            all &= qp_has_ended(i);
        }
    }
    for (unsigned i = 0; i < BED_QP_EVIL; i++) {
        if (!qp_has_ended(i)) {
            g_error("QP %u has WQEs, but nothing that ends them", i);
        }
    }
}

static void completion_expect(unsigned count, bool (*again)(void))
{
    int64_t end = box_now() + HONEST_NS;
    struct pvrdma_cqe cqe;

    bed_settle();
    while (count && box_now() < end) {
        if (bed_cq_poll(BED_CQ_HONEST, &cqe)) {
            g_assert_cmpuint(le32_to_cpu(cqe.status), ==, PVRDMA_WC_SUCCESS);
            count--;
        } else if (!again || !again()) {
            bed_step(50 * SCALE_MS);
        }
    }
    g_assert_cmpuint(count, ==, 0);
}

static bool honest_send_again(void)
{
    bed_honest_send();
    bed_step(50 * SCALE_MS);
    return true;
}

/* Asserts that HONEST can write, read, send and receive, and that the data are right. */
static void honest_check(void)
{
    struct pvrdma_sq_wqe_hdr hdr;
    uint8_t *data = box_ram + bed_page(BED_PAGE_HONEST_DATA);

    hdr = bed_wqe(PVRDMA_WR_RDMA_WRITE, BED_VA + 5, 0);
    for (unsigned i = 0; i < HONEST_BYTES; i++) {
        data[i] = i * 7;
    }
    bed_post_send(BED_QP_HONEST, &hdr, BED_MR_HONEST, 0, HONEST_BYTES);
    hdr = bed_wqe(PVRDMA_WR_RDMA_READ, BED_VA + 5, 0);
    bed_post_send(BED_QP_HONEST, &hdr, BED_MR_HONEST, PVRDMA_PAGE_BYTES, HONEST_BYTES);
    hdr = bed_wqe(PVRDMA_WR_SEND, 0, 0);
    bed_post_send(BED_QP_HONEST, &hdr, BED_MR_HONEST, 0, 10);
    bed_ring_send(BED_QP_HONEST);
    completion_expect(3, NULL);
    g_assert_cmpuint(bed.sends, ==, 1);
    g_assert_cmpmem(data + PVRDMA_PAGE_BYTES, HONEST_BYTES, data, HONEST_BYTES);
    bed_post_recv(BED_QP_HONEST, BED_MR_HONEST, 2 * PVRDMA_PAGE_BYTES, 100);
    completion_expect(1, honest_send_again);
    g_assert_cmpstr((char *)data + 2 * PVRDMA_PAGE_BYTES, ==,
                    "a message of the honest node");
}

static void object_end(enum pvrdma_cmd cmd, BedObject *object)
{
    g_assert_cmpint(bed_destroy(cmd, object), ==, 0);
}

/* Destroys all objects, and asserts that nothing is left of them. */
static void objects_end(void)
{
    const PvrdmaState *s = bed.s;

    for (unsigned i = 0; i < BED_QPS; i++) {
        object_end(PVRDMA_CMD_DESTROY_QP, &bed.qp[i]);
    }
    object_end(PVRDMA_CMD_DESTROY_SRQ, &bed.srq);
    for (unsigned i = 0; i < BED_CQS; i++) {
        object_end(PVRDMA_CMD_DESTROY_CQ, &bed.cq[i]);
    }
    for (unsigned i = 0; i < BED_MRS; i++) {
        object_end(PVRDMA_CMD_DESTROY_MR, &bed.mr[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        object_end(PVRDMA_CMD_DESTROY_PD, &(BedObject) { .handle = bed.pd[i] });
        object_end(PVRDMA_CMD_DESTROY_UC, &(BedObject) { .handle = bed.uc[i] });
    }
    bed_settle();
    g_assert_cmpuint(s->uc.used + s->pd.used + s->mr.used + s->cq.used + s->srq.used +
                     s->qp.used, ==, 0);
    g_assert_cmpuint(s->pages_used, ==, s->async.pages.count + s->cqne.pages.count);
    g_assert_true(QTAILQ_EMPTY(&s->active_qps));
    g_assert_true(QTAILQ_EMPTY(&s->flush_qps));
    g_assert_null(s->gsi);
}

void bed_restart(void)
{
    bed.flags &= ~BED_KERNEL;
    bed.line = false;
    bed.irq = 0;
    box_flip(0, 0, 0);
    box_ram_was_read();
    box_remap(BOX_RAM_BYTES);
    memset(box_ram, 0, BOX_RAM_BYTES);
    bed_reg_set(PVRDMA_REG_CTL, PVRDMA_DEVICE_CTL_RESET);
    bed_settle();
    memset(bed.cq, 0, sizeof(bed.cq));
    memset(bed.mr, 0, sizeof(bed.mr));
    memset(bed.qp, 0, sizeof(bed.qp));
    memset(&bed.srq, 0, sizeof(bed.srq));
    memset(bed.peer, 0, sizeof(bed.peer));
    bed.msn = bed.sends = 0;
    pages_assign();
    bed_bring_up();
    bed_objects_make();
}

void bed_check(void)
{
    bool kernel = bed_is_hostile_kernel();

    if (bed.gone) {
        return;
    }
    box_machine_run(true);
    box_wire_link(0, true);
    box_wire_block(0, false);
    if (kernel) {
        bed_restart();
    } else {
        bed_step(NANOSECONDS_PER_SECOND);
        qps_check();
        memory_check();
    }
    honest_check();
    objects_end();
}
