/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that means harm, or whose driver is broken: whatever it puts where the device
 * reads, the device goes on, and transfers between objects that are in order work.
 * What is random comes from a fixed seed.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "pvrdma-duo.h"

#define ROUNDS 60
#define SCRATCH_PAGES 16

typedef struct Hostile {
    PvrdmaTest *t;
    GRand *rand;
    PvrdmaDuo good;                 /* whom nothing may happen to */
    PvrdmaDuo evil;
    uint64_t evil_at;               /* memory of evil's objects */
    uint64_t scratch;               /* pages for any purpose */
} Hostile;

static void make_evil(Hostile *h)
{
    h->evil_at = h->t->ram_next;
    pvrdma_duo_make(&h->evil, h->t, NULL);
}

static void start(Hostile *h, uint32_t seed)
{
    *h = (Hostile) { .rand = g_rand_new_with_seed(seed) };
    pvrdma_duo_start(&h->good);
    h->t = h->good.t;
    h->scratch = pvrdma_alloc(h->t, SCRATCH_PAGES * PVRDMA_PAGE_BYTES);
    h->t->guest_errors = true;
    make_evil(h);
}

/* What evil sent to nobody. */
static void discard(Hostile *h)
{
    PvrdmaFrame *f;

    while ((f = g_queue_pop_head(&h->t->frames))) {
        g_free(f);
    }
}

static void check(Hostile *h)
{
    pvrdma_settle(h->t);
    discard(h);
    pvrdma_duo_check(&h->good);
    discard(h);
}

static void finish(Hostile *h)
{
    g_assert_cmpuint(pvrdma_counter(h->t, "guest-error"), >, 0);
    check(h);
    g_rand_free(h->rand);
    pvrdma_duo_stop(&h->good);
}

static uint32_t below(Hostile *h, uint32_t n)
{
    return g_rand_int_range(h->rand, 0, n);
}

static bool often(Hostile *h)
{
    return below(h, 4);
}

static uint64_t any64(Hostile *h)
{
    return (uint64_t)g_rand_int(h->rand) << 32 | g_rand_int(h->rand);
}

/* A number that may be near something: small, a power of two, all ones. */
static uint32_t any32(Hostile *h)
{
    switch (below(h, 5)) {
    case 0:
        return below(h, 40);
    case 1:
        return (1u << below(h, 32)) - below(h, 2);
    case 2:
        return -below(h, 40);
    default:
        return g_rand_int(h->rand);
    }
}

static void any_bytes(Hostile *h, void *buf, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)buf)[i] = g_rand_int(h->rand);
    }
}

static void scribble(Hostile *h, uint64_t at, size_t len)
{
    g_autofree uint8_t *buf = g_malloc(len);

    any_bytes(h, buf, len);
    qtest_bufwrite(h->t->qts, at, buf, len);
}

/* An address of a page or of none: memory, nothing, registers, not aligned. */
static uint64_t any_page(Hostile *h)
{
    switch (below(h, 8)) {
    case 0:
        return PVRDMA_NO_RAM;
    case 1:
        return h->t->regs.addr;
    case 2:
        return h->t->uar.addr + below(h, 4) * PVRDMA_PAGE_BYTES;
    case 3:
        return any64(h);
    case 4:
        return any64(h) & ~(PVRDMA_PAGE_BYTES - 1ull);
    default:
        return h->scratch + below(h, SCRATCH_PAGES) * PVRDMA_PAGE_BYTES;
    }
}

/* --- Work requests ------------------------------------------------------------------- */

static void any_sge(Hostile *h, struct pvrdma_sge *sge)
{
    const PvrdmaTestMr *mr = &h->evil.mr[below(h, 2)];

    sge->addr = cpu_to_le64(often(h) ? mr->va + below(h, mr->length) : any64(h));
    sge->length = cpu_to_le32(often(h) ? below(h, mr->length) : any32(h));
    sge->lkey = cpu_to_le32(often(h) ? mr->lkey : any32(h));
}

static void any_send(Hostile *h, uint8_t *raw, size_t len)
{
    struct pvrdma_sq_wqe_hdr *hdr = (void *)raw;
    const PvrdmaTestMr *mr = &h->evil.mr[1];

    any_bytes(h, raw, len);
    for (size_t at = sizeof(*hdr); at < len; at += sizeof(struct pvrdma_sge)) {
        any_sge(h, (void *)(raw + at));
    }
    if (often(h)) {
        hdr->opcode = cpu_to_le32(below(h, PVRDMA_WR_ERROR + 2));
    }
    if (often(h)) {
        hdr->num_sge = cpu_to_le32(below(h, 5));
    }
    if (often(h)) {
        hdr->ex.invalidate_rkey = cpu_to_le32(mr->rkey);
    }
    if (often(h)) {
        hdr->wr.rdma.remote_addr = cpu_to_le64(mr->va + below(h, mr->length));
        hdr->wr.rdma.rkey = cpu_to_le32(mr->rkey);
    }
    if (below(h, 2)) {
        hdr->wr.atomic.rkey = cpu_to_le32(mr->rkey);
    }
}

static void any_recv(Hostile *h, uint8_t *raw, size_t len)
{
    struct pvrdma_rq_wqe_hdr *hdr = (void *)raw;

    any_bytes(h, raw, len);
    for (size_t at = sizeof(*hdr); at < len; at += sizeof(struct pvrdma_sge)) {
        any_sge(h, (void *)(raw + at));
    }
    if (often(h)) {
        hdr->num_sge = cpu_to_le32(below(h, 5));
    }
}

/* Fills all slots of a queue, and says that @count of them are to be read. */
static void fill_queue(Hostile *h, const PvrdmaTestWq *wq, unsigned count,
                       void (*any)(Hostile *h, uint8_t *raw, size_t len))
{
    g_autofree uint8_t *raw = g_malloc0(wq->wqe_bytes);
    uint64_t prod = wq->ring + offsetof(struct pvrdma_ring, prod_tail);
    uint32_t index = qtest_readl(h->t->qts, prod);

    for (unsigned i = 0; i < count; i++) {
        any(h, raw, wq->wqe_bytes);
        qtest_bufwrite(h->t->qts, wq->at + (index & (wq->entries - 1)) *
                                  wq->wqe_bytes, raw, wq->wqe_bytes);
        index = (index + 1) & (2 * wq->entries - 1);
    }
    qtest_writel(h->t->qts, prod, index);
}

static void ring_doorbells(Hostile *h)
{
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_ring_send(h->t, &h->evil.qp[i]);
        pvrdma_doorbell(h->t, 0, PVRDMA_UAR_QP_OFFSET,
                        PVRDMA_UAR_QP_RECV | h->evil.qp[i].handle);
        pvrdma_cq_arm(h->t, &h->evil.cq[i], PVRDMA_UAR_CQ_ARM);
    }
}

static void test_wqes(void)
{
    Hostile h;

    start(&h, 1);
    for (unsigned round = 0; round < 5 * ROUNDS; round++) {
        for (unsigned i = 0; i < 2; i++) {
            fill_queue(&h, &h.evil.qp[i].rq, below(&h, 17), any_recv);
            fill_queue(&h, &h.evil.qp[i].sq, below(&h, 17), any_send);
        }
        ring_doorbells(&h);
        check(&h);
        pvrdma_step(h.t, 1 + below(&h, 3) * 100000000);
        pvrdma_duo_again(&h.evil);
    }
    /* some of it even went as far as the responder */
    g_assert_cmpuint(pvrdma_counter(h.t, "rx-bad-access"), >, 0);
    g_assert_cmpuint(pvrdma_counter(h.t, "tx-ack"), >, 0);
    finish(&h);
}

/* Datagrams to wherever. */
static void test_datagrams(void)
{
    const PvrdmaTestQpAttr attr = { .qkey = 0x1234 };
    PvrdmaTestQp qp;
    Hostile h;

    start(&h, 2);
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
        qp = pvrdma_qp_create(h.t, &(PvrdmaTestQpInit) {
            .type = PVRDMA_QPT_UD, .pd = h.evil.pd, .send_cq = &h.evil.cq[0],
        });
        pvrdma_qp_connect(h.t, &qp, &attr);
        fill_queue(&h, &qp.rq, 16, any_recv);
        for (unsigned i = 0; i < 8; i++) {
            struct pvrdma_sq_wqe_hdr hdr;
            PvrdmaTestQpAttr to = attr;
            struct pvrdma_sge raw;
            PvrdmaTestSge sge;
            uint8_t gid[16], mac[6];

            any_bytes(&h, gid, sizeof(gid));
            any_bytes(&h, mac, sizeof(mac));
            to.dgid = below(&h, 2) ? gid : pvrdma_gid;
            to.dmac = below(&h, 2) ? mac : pvrdma_mac;
            to.dest_qpn = often(&h) ? qp.qpn : any32(&h);
            to.gid_index = often(&h) ? below(&h, 2) : any32(&h);
            hdr = pvrdma_wr_ud(i, PVRDMA_WR_SEND + below(&h, 2), &to);
            any_sge(&h, &raw);
            sge = (PvrdmaTestSge) {
                le64_to_cpu(raw.addr),
                often(&h) ? below(&h, 1025) : le32_to_cpu(raw.length),
                le32_to_cpu(raw.lkey),
            };
            pvrdma_post_send(h.t, &qp, &hdr, &sge, 1);
        }
        check(&h);
        pvrdma_qp_destroy(h.t, &qp);
        pvrdma_duo_again(&h.evil);
    }
    finish(&h);
}

/* --- Indices, doorbells --------------------------------------------------------------- */

static void test_indices(void)
{
    Hostile h;

    start(&h, 3);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < 2; i++) {
            const PvrdmaTestQp *qp = &h.evil.qp[i];
            uint64_t cq = h.evil.cq[i].at + offsetof(struct pvrdma_ring_state, rx);

            fill_queue(&h, &qp->rq, below(&h, 17), any_recv);
            fill_queue(&h, &qp->sq, below(&h, 17), any_send);
            for (unsigned n = 0; n < 3; n++) {
                uint64_t ring = n == 0 ? qp->sq.ring : n == 1 ? qp->rq.ring : cq;

                if (below(&h, 2)) {
                    qtest_writel(h.t->qts, ring, any32(&h));
                }
                if (below(&h, 2)) {
                    qtest_writel(h.t->qts, ring + 4, any32(&h));
                }
            }
        }
        ring_doorbells(&h);
        check(&h);
        ring_doorbells(&h);
        pvrdma_step(h.t, 100000000);
        make_evil(&h);
    }
    finish(&h);
}

static void test_doorbells(void)
{
    Hostile h;

    start(&h, 4);
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t at = h.t->uar.addr + below(&h, 2) * below(&h, PVRDMA_UARS) *
                      PVRDMA_PAGE_BYTES + below(&h, 16);
        uint32_t value = any32(&h) & (below(&h, 2) ? ~0u : 0xe000003f);

        switch (below(&h, 8)) {
        case 0:
            qtest_writeb(h.t->qts, at, value);
            break;
        case 1:
            qtest_writew(h.t->qts, at, value);
            break;
        case 2:
            qtest_writeq(h.t->qts, at, any64(&h));
            break;
        case 3:
            g_assert_cmphex(qtest_readl(h.t->qts, at & ~3ull), ==, 0);
            break;
        default:
            qtest_writel(h.t->qts, at & ~3ull, value);
            break;
        }
    }
    finish(&h);
}

/* --- Page directories ------------------------------------------------------------------ */

/* A directory and its tables, of anything. */
static uint64_t any_pdir(Hostile *h)
{
    uint64_t dir = h->scratch, table = dir + PVRDMA_PAGE_BYTES;

    for (unsigned i = 0; i < 16; i++) {
        qtest_writeq(h->t->qts, dir + 8 * i, any_page(h));
        qtest_writeq(h->t->qts, table + 8 * i, any_page(h));
    }
    if (often(h)) {
        qtest_writeq(h->t->qts, dir, table);
        for (unsigned i = 0; i < 16; i++) {
            qtest_writeq(h->t->qts, table + 8 * i, any_page(h) &
                                                  ~(PVRDMA_PAGE_BYTES - 1ull));
        }
    }
    return often(h) ? dir : any_page(h);
}

/* Evil QPs and CQs whose pages are anything, and each other's. */
static void test_pages(void)
{
    unsigned made = 0;
    Hostile h;

    start(&h, 5);
    for (unsigned round = 0; round < 5 * ROUNDS; round++) {
        PvrdmaTestCq cq = h.evil.cq[0];
        PvrdmaTestQp qp;
        union pvrdma_cmd_req req = { .create_cq = {
            .pdir_dma = cpu_to_le64(any_pdir(&h)), .cqe = cpu_to_le32(64),
            .nchunks = cpu_to_le32(2),
        } };
        union pvrdma_cmd_resp resp;

        if (!pvrdma_command(h.t, PVRDMA_CMD_CREATE_CQ, &req, &resp)) {
            cq.handle = le32_to_cpu(resp.create_cq.cq_handle);
        }
        req = pvrdma_qp_request(h.t, &(PvrdmaTestQpInit) {
            .pd = h.evil.pd, .send_cq = &cq,
        }, &qp);
        req.create_qp.pdir_dma = cpu_to_le64(any_pdir(&h));
        if (!pvrdma_command(h.t, PVRDMA_CMD_CREATE_QP, &req, &resp)) {
            const PvrdmaTestQpAttr attr = {
                .dgid = pvrdma_gid, .dmac = pvrdma_mac,
                .dest_qpn = le32_to_cpu(resp.create_qp.qpn),
            };

            qp.handle = le32_to_cpu(resp.create_qp.qp_handle);
            pvrdma_qp_connect(h.t, &qp, &attr);
            scribble(&h, h.scratch, SCRATCH_PAGES * PVRDMA_PAGE_BYTES);
            for (unsigned i = 0; i < SCRATCH_PAGES; i++) {
                qtest_writeq(h.t->qts, h.scratch + i * PVRDMA_PAGE_BYTES, 5);
                qtest_writeq(h.t->qts, h.scratch + i * PVRDMA_PAGE_BYTES + 8, 7);
            }
            pvrdma_ring_send(h.t, &qp);
            pvrdma_settle(h.t);
            pvrdma_qp_destroy(h.t, &qp);
            made++;
        }
        if (round % 8 == 0) {
            check(&h);
        }
    }
    g_assert_cmpuint(made, >, ROUNDS);
    finish(&h);
}

/* --- All at once ------------------------------------------------------------------------ */

/* Garbage in all memory that evil's objects, or the device's rings, have. */
static void test_garbage(void)
{
    Hostile h;

    start(&h, 6);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t bytes = h.t->ram_next - h.evil_at;

        scribble(&h, h.evil_at, bytes);
        scribble(&h, h.t->async.at, PVRDMA_TEST_RING_PAGES * PVRDMA_PAGE_BYTES);
        scribble(&h, h.t->cqne.at, PVRDMA_TEST_RING_PAGES * PVRDMA_PAGE_BYTES);
        ring_doorbells(&h);
        for (unsigned i = 0; i < 2; i++) {
            /* indices that let the WQEs in */
            qtest_memset(h.t->qts, h.evil.qp[i].sq.ring, 0, 16);
            qtest_writel(h.t->qts, h.evil.qp[i].sq.ring, 16);
            qtest_writel(h.t->qts, h.evil.qp[i].rq.ring, 16);
        }
        ring_doorbells(&h);
        check(&h);
        pvrdma_step(h.t, 100000000);
        make_evil(&h);
    }
    finish(&h);
}

/* --- Commands --------------------------------------------------------------------------- */

/* What a command makes or works on: its handle is the first word of both. */
typedef enum Kind {
    KIND_NONE, KIND_UC, KIND_PD, KIND_MR, KIND_CQ, KIND_SRQ, KIND_QP, KINDS
} Kind;

static const struct {
    Kind makes, takes;
    bool ends;
} command[PVRDMA_CMD_MAX] = {
    [PVRDMA_CMD_CREATE_UC] = { .makes = KIND_UC },
    [PVRDMA_CMD_CREATE_PD] = { .makes = KIND_PD },
    [PVRDMA_CMD_CREATE_MR] = { .makes = KIND_MR },
    [PVRDMA_CMD_CREATE_CQ] = { .makes = KIND_CQ },
    [PVRDMA_CMD_CREATE_SRQ] = { .makes = KIND_SRQ },
    [PVRDMA_CMD_CREATE_QP] = { .makes = KIND_QP },
    [PVRDMA_CMD_DESTROY_UC] = { .takes = KIND_UC, .ends = true },
    [PVRDMA_CMD_DESTROY_PD] = { .takes = KIND_PD, .ends = true },
    [PVRDMA_CMD_DESTROY_MR] = { .takes = KIND_MR, .ends = true },
    [PVRDMA_CMD_DESTROY_CQ] = { .takes = KIND_CQ, .ends = true },
    [PVRDMA_CMD_RESIZE_CQ] = { .takes = KIND_CQ },
    [PVRDMA_CMD_DESTROY_SRQ] = { .takes = KIND_SRQ, .ends = true },
    [PVRDMA_CMD_MODIFY_SRQ] = { .takes = KIND_SRQ },
    [PVRDMA_CMD_QUERY_SRQ] = { .takes = KIND_SRQ },
    [PVRDMA_CMD_DESTROY_QP] = { .takes = KIND_QP, .ends = true },
    [PVRDMA_CMD_MODIFY_QP] = { .takes = KIND_QP },
    [PVRDMA_CMD_QUERY_QP] = { .takes = KIND_QP },
};

#define SEEN 8

/* Handles that were given, of each kind. */
typedef struct Handles {
    uint32_t seen[KINDS][SEEN];
    unsigned next;
} Handles;

static __le32 any_handle(Hostile *h, const Handles *known, Kind kind)
{
    return cpu_to_le32(often(h) ? known->seen[kind][below(h, SEEN)] : any32(h));
}

static void remember(Handles *known, enum pvrdma_cmd cmd,
                     const union pvrdma_cmd_resp *resp)
{
    uint32_t handle = cmd == PVRDMA_CMD_CREATE_QP
                      ? le32_to_cpu(resp->create_qp.qp_handle)
                      : ldl_le_p((uint8_t *)resp + sizeof(resp->hdr));

    known->seen[command[cmd].makes][known->next++ % SEEN] = handle;
}

static void likely_mr(Hostile *h, const Handles *known,
                      struct pvrdma_cmd_create_mr *cmd)
{
    cmd->pdir_dma = cpu_to_le64(any_pdir(h));
    cmd->pd_handle = any_handle(h, known, KIND_PD);
    cmd->flags = cpu_to_le32(below(h, 4));
    cmd->access_flags = cpu_to_le32(below(h, 16));
    cmd->nchunks = cpu_to_le32(below(h, 8));
    cmd->length = cpu_to_le64(below(h, 30000));
}

static void likely_srq(Hostile *h, const Handles *known,
                       struct pvrdma_cmd_create_srq *cmd)
{
    cmd->pdir_dma = cpu_to_le64(any_pdir(h));
    cmd->pd_handle = any_handle(h, known, KIND_PD);
    cmd->nchunks = cpu_to_le32(below(h, 8));
    cmd->attrs.max_wr = cpu_to_le32(1u << below(h, 9));
    cmd->attrs.max_sge = cpu_to_le32(below(h, 40));
    cmd->srq_type = !often(h);
}

static void likely_qp(Hostile *h, const Handles *known,
                      struct pvrdma_cmd_create_qp *cmd)
{
    cmd->pdir_dma = cpu_to_le64(any_pdir(h));
    cmd->pd_handle = any_handle(h, known, KIND_PD);
    cmd->send_cq_handle = any_handle(h, known, KIND_CQ);
    cmd->recv_cq_handle = any_handle(h, known, KIND_CQ);
    cmd->srq_handle = any_handle(h, known, KIND_SRQ);
    cmd->max_send_wr = cpu_to_le32(1u << below(h, 5));
    cmd->max_recv_wr = cpu_to_le32(1u << below(h, 5));
    cmd->max_send_sge = cpu_to_le32(below(h, 5));
    cmd->max_recv_sge = cpu_to_le32(below(h, 5));
    cmd->total_chunks = cpu_to_le16(4 + below(h, 12));
    cmd->send_chunks = cpu_to_le16(below(h, 5));
    cmd->qp_type = often(h) ? PVRDMA_QPT_RC : below(h, 6);
    cmd->is_srq = !often(h);
}

/* The three steps of a connection, and bits that do not belong to them. */
static void likely_modify(Hostile *h, struct pvrdma_cmd_modify_qp *cmd)
{
    static const uint32_t step[] = {
        PVRDMA_QP_PKEY_INDEX | PVRDMA_QP_PORT | PVRDMA_QP_ACCESS_FLAGS,
        PVRDMA_QP_AV | PVRDMA_QP_PATH_MTU | PVRDMA_QP_DEST_QPN | PVRDMA_QP_RQ_PSN |
        PVRDMA_QP_MAX_DEST_RD_ATOMIC | PVRDMA_QP_MIN_RNR_TIMER,
        PVRDMA_QP_SQ_PSN | PVRDMA_QP_TIMEOUT | PVRDMA_QP_RETRY_CNT |
        PVRDMA_QP_RNR_RETRY | PVRDMA_QP_MAX_QP_RD_ATOMIC,
    };
    unsigned n = below(h, ARRAY_SIZE(step));
    struct pvrdma_qp_attr *attr = &cmd->attrs;

    cmd->attr_mask = cpu_to_le32(PVRDMA_QP_STATE | step[n] |
                                 (often(h) ? 0 : 1u << below(h, 24)));
    attr->qp_state = cpu_to_le32(often(h) ? PVRDMA_QPS_INIT + n : below(h, 8));
    attr->port_num = 1;
    attr->pkey_index = 0;
    attr->path_mtu = cpu_to_le32(1 + below(h, 5));
    attr->qp_access_flags = cpu_to_le32(below(h, 16));
    attr->dest_qp_num = cpu_to_le32(any32(h) & 0xffffff);
    attr->rq_psn = cpu_to_le32(any32(h) & 0xffffff);
    attr->sq_psn = cpu_to_le32(any32(h) & 0xffffff);
    attr->max_rd_atomic = below(h, 18);
    attr->max_dest_rd_atomic = below(h, 18);
    attr->min_rnr_timer = below(h, 33);
    attr->timeout = below(h, 33);
    attr->retry_cnt = below(h, 9);
    attr->rnr_retry = below(h, 9);
    attr->ah_attr.grh.sgid_index = below(h, 3);
    attr->ah_attr.port_num = 1;
    memcpy(attr->ah_attr.grh.dgid, pvrdma_gid, sizeof(pvrdma_gid));
    memcpy(attr->ah_attr.dmac, pvrdma_mac, sizeof(pvrdma_mac));
}

/* What is likely to be accepted. */
static void likely_any(Hostile *h, const Handles *known, enum pvrdma_cmd cmd,
                       union pvrdma_cmd_req *req)
{
    switch (cmd) {
    case PVRDMA_CMD_CREATE_UC:
        req->create_uc.pfn64 = cpu_to_le64(
            (h->t->uar.addr >> PVRDMA_PAGE_SHIFT) + below(h, PVRDMA_UARS + 2));
        break;
    case PVRDMA_CMD_CREATE_PD:
        req->create_pd.ctx_handle = often(h) ? 0 : any_handle(h, known, KIND_UC);
        break;
    case PVRDMA_CMD_CREATE_MR:
        likely_mr(h, known, &req->create_mr);
        break;
    case PVRDMA_CMD_CREATE_CQ:
        req->create_cq.pdir_dma = cpu_to_le64(any_pdir(h));
        req->create_cq.ctx_handle = often(h) ? 0 : any_handle(h, known, KIND_UC);
        req->create_cq.cqe = cpu_to_le32(1u << below(h, 9));
        req->create_cq.nchunks = cpu_to_le32(below(h, 8));
        break;
    case PVRDMA_CMD_RESIZE_CQ:
        req->resize_cq.cqe = cpu_to_le32(1u << below(h, 9));
        break;
    case PVRDMA_CMD_CREATE_SRQ:
        likely_srq(h, known, &req->create_srq);
        break;
    case PVRDMA_CMD_MODIFY_SRQ:
        req->modify_srq.attr_mask = cpu_to_le32(1u << below(h, 3));
        req->modify_srq.attrs.srq_limit = cpu_to_le32(below(h, 64));
        break;
    case PVRDMA_CMD_CREATE_QP:
        likely_qp(h, known, &req->create_qp);
        break;
    case PVRDMA_CMD_MODIFY_QP:
        likely_modify(h, &req->modify_qp);
        break;
    case PVRDMA_CMD_CREATE_BIND:
        req->create_bind.index = cpu_to_le32(below(h, 4));
        req->create_bind.gid_type = 1u << below(h, 3);
        req->create_bind.vlan = cpu_to_le32(0xfff);
        memcpy(req->create_bind.new_gid, pvrdma_gid, sizeof(pvrdma_gid));
        break;
    case PVRDMA_CMD_DESTROY_BIND:
        req->destroy_bind.index = cpu_to_le32(below(h, 4));
        memcpy(req->destroy_bind.dest_gid, pvrdma_gid, sizeof(pvrdma_gid));
        break;
    case PVRDMA_CMD_QUERY_PORT:
        req->query_port.port_num = 1;
        break;
    case PVRDMA_CMD_QUERY_PKEY:
        req->query_pkey.port_num = 1;
        req->query_pkey.index = below(h, 2);
        break;
    default:
        break;
    }
}

static void any_request(Hostile *h, const Handles *known, uint32_t cmd,
                        union pvrdma_cmd_req *req)
{
    __le32 *word = (void *)req;

    for (size_t i = 0; i < sizeof(*req) / sizeof(*word); i++) {
        word[i] = cpu_to_le32(any32(h));
    }
    if (cmd >= PVRDMA_CMD_MAX || !often(h)) {
        return;
    }
    likely_any(h, known, cmd, req);
    if (command[cmd].takes) {
        word[sizeof(req->hdr) / sizeof(*word)] =
            any_handle(h, known, command[cmd].takes);
    }
}

/* Most kinds of commands were done, not only refused. */
static void assert_done(const unsigned done[PVRDMA_CMD_MAX])
{
    for (unsigned cmd = 0; cmd < PVRDMA_CMD_MAX; cmd++) {
        g_test_message("command %u: %u", cmd, done[cmd]);
        g_assert_cmpuint(done[cmd], >, 0);
    }
}

static void test_commands(void)
{
    unsigned done[PVRDMA_CMD_MAX] = { 0 };
    Handles known = { };
    Hostile h;

    start(&h, 7);
    for (unsigned i = 0; i < 20000; i++) {
        union pvrdma_cmd_req req;
        union pvrdma_cmd_resp resp;
        uint32_t cmd = often(&h) ? below(&h, PVRDMA_CMD_MAX) : any32(&h);

        if (cmd < PVRDMA_CMD_MAX && command[cmd].ends && often(&h)) {
            continue;               /* or little would be left to work with */
        }
        any_request(&h, &known, cmd, &req);
        if (pvrdma_command(h.t, cmd, &req, &resp)) {
            continue;
        }
        if (cmd >= PVRDMA_CMD_MAX) {
            g_error("command %u does not exist, but was done", cmd);
        }
        done[cmd]++;
        if (command[cmd].makes) {
            remember(&known, cmd, &resp);
        }
        pvrdma_pump(h.t);
        discard(&h);
    }
    assert_done(done);
    /* new objects, in the device as it is */
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *gid = i ? pvrdma_gid6 : pvrdma_gid;

        pvrdma_unbind(h.t, i, gid);
        pvrdma_bind(h.t, i, gid, 0xfff);
    }
    pvrdma_duo_make(&h.good, h.t, NULL);
    finish(&h);
}

/* --- Shared region ---------------------------------------------------------------------- */

static void any_region(Hostile *h, struct pvrdma_device_shared_region *dsr)
{
    struct pvrdma_device_shared_region bad = *dsr;

    bad.cmd_slot_dma = cpu_to_le64(any_page(h));
    bad.resp_slot_dma = cpu_to_le64(any_page(h));
    bad.async_ring_pages.num_pages = cpu_to_le32(any32(h));
    bad.async_ring_pages.pdir_dma = cpu_to_le64(any_pdir(h));
    bad.cq_ring_pages.num_pages = cpu_to_le32(any32(h));
    bad.cq_ring_pages.pdir_dma = cpu_to_le64(any_pdir(h));
    bad.uar_pfn64 = cpu_to_le64(any64(h));
    bad.driver_version = cpu_to_le32(any32(h));
    /* one field of it, or all */
    if (!often(h)) {
        *dsr = bad;
        return;
    }
    switch (below(h, 6)) {
    case 0:
        dsr->cmd_slot_dma = bad.cmd_slot_dma;
        break;
    case 1:
        dsr->resp_slot_dma = bad.resp_slot_dma;
        break;
    case 2:
        dsr->async_ring_pages = bad.async_ring_pages;
        break;
    case 3:
        dsr->cq_ring_pages = bad.cq_ring_pages;
        break;
    case 4:
        dsr->async_ring_pages.pdir_dma = bad.async_ring_pages.pdir_dma;
        break;
    default:
        dsr->uar_pfn64 = bad.uar_pfn64;
        break;
    }
}

static void test_region(void)
{
    struct pvrdma_device_shared_region right;
    unsigned taken = 0;
    uint64_t dsr;
    Hostile h;

    start(&h, 8);
    dsr = h.t->dsr;
    qtest_bufread(h.t->qts, dsr, &right, sizeof(right));
    for (unsigned round = 0; round < 5 * ROUNDS; round++) {
        struct pvrdma_device_shared_region region = right;

        pvrdma_ctl(h.t, PVRDMA_DEVICE_CTL_RESET);
        any_region(&h, &region);
        qtest_bufwrite(h.t->qts, dsr, &region, sizeof(region));
        h.t->dsr = often(&h) ? dsr : any_page(&h) + below(&h, 2) * below(&h, 4096);
        taken += !pvrdma_dsr_write(h.t);
        pvrdma_ctl(h.t, below(&h, 4));
        scribble(&h, h.scratch, 2 * PVRDMA_PAGE_BYTES);
        for (unsigned i = 0; i < 4; i++) {
            pvrdma_set(h.t, PVRDMA_REG_REQUEST, any32(&h) & below(&h, 2));
            pvrdma_set(h.t, below(&h, 64) * 4 + 0x10, any32(&h));
            pvrdma_get(h.t, below(&h, 64) * 4);
        }
        pvrdma_doorbell(h.t, 0, below(&h, 3) * 4, any32(&h));
        pvrdma_settle(h.t);
    }
    g_assert_cmpuint(taken, >, 0);
    g_assert_cmpuint(taken, <, 5 * ROUNDS);
    pvrdma_ctl(h.t, PVRDMA_DEVICE_CTL_RESET);
    pvrdma_settle(h.t);
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        pvrdma_msix_taken(h.t, v);
    }
    pvrdma_bring_up(h.t);
    pvrdma_duo_make(&h.good, h.t, NULL);
    finish(&h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/rnic/pvrdma/hostile/wqes", test_wqes);
    qtest_add_func("/rnic/pvrdma/hostile/datagrams", test_datagrams);
    qtest_add_func("/rnic/pvrdma/hostile/indices", test_indices);
    qtest_add_func("/rnic/pvrdma/hostile/doorbells", test_doorbells);
    qtest_add_func("/rnic/pvrdma/hostile/pages", test_pages);
    qtest_add_func("/rnic/pvrdma/hostile/garbage", test_garbage);
    qtest_add_func("/rnic/pvrdma/hostile/commands", test_commands);
    qtest_add_func("/rnic/pvrdma/hostile/region", test_region);
    return g_test_run();
}
