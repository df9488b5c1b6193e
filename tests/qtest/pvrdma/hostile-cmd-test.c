/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands and shared regions of a hostile guest. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hostile.h"

#define ROUNDS 300

/* --- Commands ----------------------------------------------------------------- */

/*
 * The kind of object that a command makes or uses.  The first word of a request that
 * uses an object, and of each answer but that of CREATE_QP, is the handle.
 */
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

/* The last handles that commands have returned, for each kind. */
typedef struct Handles {
    uint32_t seen[KINDS][SEEN];
    unsigned next;
} Handles;

static __le32 any_handle(Hostile *h, const Handles *known, Kind kind)
{
    uint32_t handle = known->seen[kind][hostile_below(h, SEEN)];

    return cpu_to_le32(hostile_often(h) ? handle : random_limit(h->rand));
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
    cmd->pdir_dma = cpu_to_le64(hostile_any_pdir(h));
    cmd->pd_handle = any_handle(h, known, KIND_PD);
    cmd->flags = cpu_to_le32(hostile_below(h, 4));
    cmd->access_flags = cpu_to_le32(hostile_below(h, 16));
    cmd->nchunks = cpu_to_le32(hostile_below(h, 8));
    cmd->length = cpu_to_le64(hostile_below(h, 30000));
}

static void likely_srq(Hostile *h, const Handles *known,
                       struct pvrdma_cmd_create_srq *cmd)
{
    cmd->pdir_dma = cpu_to_le64(hostile_any_pdir(h));
    cmd->pd_handle = any_handle(h, known, KIND_PD);
    cmd->nchunks = cpu_to_le32(hostile_below(h, 8));
    cmd->attrs.max_wr = cpu_to_le32(1u << hostile_below(h, 9));
    cmd->attrs.max_sge = cpu_to_le32(hostile_below(h, 40));
    cmd->srq_type = !hostile_often(h);
}

static void likely_qp(Hostile *h, const Handles *known,
                      struct pvrdma_cmd_create_qp *cmd)
{
    cmd->pdir_dma = cpu_to_le64(hostile_any_pdir(h));
    cmd->pd_handle = any_handle(h, known, KIND_PD);
    cmd->send_cq_handle = any_handle(h, known, KIND_CQ);
    cmd->recv_cq_handle = any_handle(h, known, KIND_CQ);
    cmd->srq_handle = any_handle(h, known, KIND_SRQ);
    cmd->max_send_wr = cpu_to_le32(1u << hostile_below(h, 5));
    cmd->max_recv_wr = cpu_to_le32(1u << hostile_below(h, 5));
    cmd->max_send_sge = cpu_to_le32(hostile_below(h, 5));
    cmd->max_recv_sge = cpu_to_le32(hostile_below(h, 5));
    cmd->total_chunks = cpu_to_le16(4 + hostile_below(h, 12));
    cmd->send_chunks = cpu_to_le16(hostile_below(h, 5));
    cmd->qp_type = hostile_often(h) ? PVRDMA_QPT_RC : hostile_below(h, 6);
    cmd->is_srq = !hostile_often(h);
}

/*
 * Sets @cmd to one of the three steps of a connection, sometimes with a further bit in
 * the mask.
 */
static void likely_modify(Hostile *h, struct pvrdma_cmd_modify_qp *cmd)
{
    static const uint32_t step[] = {
        PVRDMA_QP_PKEY_INDEX | PVRDMA_QP_PORT | PVRDMA_QP_ACCESS_FLAGS,
        PVRDMA_QP_AV | PVRDMA_QP_PATH_MTU | PVRDMA_QP_DEST_QPN | PVRDMA_QP_RQ_PSN |
        PVRDMA_QP_MAX_DEST_RD_ATOMIC | PVRDMA_QP_MIN_RNR_TIMER,
        PVRDMA_QP_SQ_PSN | PVRDMA_QP_TIMEOUT | PVRDMA_QP_RETRY_CNT |
        PVRDMA_QP_RNR_RETRY | PVRDMA_QP_MAX_QP_RD_ATOMIC,
    };
    unsigned n = hostile_below(h, ARRAY_SIZE(step));
    struct pvrdma_qp_attr *attr = &cmd->attrs;

    cmd->attr_mask = cpu_to_le32(PVRDMA_QP_STATE | step[n] |
                                 (hostile_often(h) ? 0 : 1u << hostile_below(h, 24)));
    attr->qp_state = cpu_to_le32(hostile_often(h) ? PVRDMA_QPS_INIT + n
                                                  : hostile_below(h, 8));
    attr->port_num = 1;
    attr->pkey_index = 0;
    attr->path_mtu = cpu_to_le32(1 + hostile_below(h, 5));
    attr->qp_access_flags = cpu_to_le32(hostile_below(h, 16));
    attr->dest_qp_num = cpu_to_le32(random_limit(h->rand) & 0xffffff);
    attr->rq_psn = cpu_to_le32(random_limit(h->rand) & 0xffffff);
    attr->sq_psn = cpu_to_le32(random_limit(h->rand) & 0xffffff);
    attr->max_rd_atomic = hostile_below(h, 18);
    attr->max_dest_rd_atomic = hostile_below(h, 18);
    attr->min_rnr_timer = hostile_below(h, 33);
    attr->timeout = hostile_below(h, 33);
    attr->retry_cnt = hostile_below(h, 9);
    attr->rnr_retry = hostile_below(h, 9);
    attr->ah_attr.grh.sgid_index = hostile_below(h, 3);
    attr->ah_attr.port_num = 1;
    memcpy(attr->ah_attr.grh.dgid, pvrdma_gid, sizeof(pvrdma_gid));
    memcpy(attr->ah_attr.dmac, pvrdma_mac, sizeof(pvrdma_mac));
}

/* Fills @req with values that the device is likely to accept. */
static void likely_any(Hostile *h, const Handles *known, enum pvrdma_cmd cmd,
                       union pvrdma_cmd_req *req)
{
    switch (cmd) {
    case PVRDMA_CMD_CREATE_UC:
        req->create_uc.pfn64 = cpu_to_le64(
            (h->t->uar.addr >> PVRDMA_PAGE_SHIFT) + hostile_below(h, PVRDMA_UARS + 2));
        break;
    case PVRDMA_CMD_CREATE_PD:
        req->create_pd.ctx_handle = hostile_often(h) ? 0 : any_handle(h, known, KIND_UC);
        break;
    case PVRDMA_CMD_CREATE_MR:
        likely_mr(h, known, &req->create_mr);
        break;
    case PVRDMA_CMD_CREATE_CQ:
        req->create_cq.pdir_dma = cpu_to_le64(hostile_any_pdir(h));
        req->create_cq.ctx_handle = hostile_often(h) ? 0 : any_handle(h, known, KIND_UC);
        req->create_cq.cqe = cpu_to_le32(1u << hostile_below(h, 9));
        req->create_cq.nchunks = cpu_to_le32(hostile_below(h, 8));
        break;
    case PVRDMA_CMD_RESIZE_CQ:
        req->resize_cq.cqe = cpu_to_le32(1u << hostile_below(h, 9));
        break;
    case PVRDMA_CMD_CREATE_SRQ:
        likely_srq(h, known, &req->create_srq);
        break;
    case PVRDMA_CMD_MODIFY_SRQ:
        req->modify_srq.attr_mask = cpu_to_le32(1u << hostile_below(h, 3));
        req->modify_srq.attrs.srq_limit = cpu_to_le32(hostile_below(h, 64));
        break;
    case PVRDMA_CMD_CREATE_QP:
        likely_qp(h, known, &req->create_qp);
        break;
    case PVRDMA_CMD_MODIFY_QP:
        likely_modify(h, &req->modify_qp);
        break;
    case PVRDMA_CMD_CREATE_BIND:
        req->create_bind.index = cpu_to_le32(hostile_below(h, 4));
        req->create_bind.gid_type = 1u << hostile_below(h, 3);
        req->create_bind.vlan = cpu_to_le32(0xfff);
        memcpy(req->create_bind.new_gid, pvrdma_gid, sizeof(pvrdma_gid));
        break;
    case PVRDMA_CMD_DESTROY_BIND:
        req->destroy_bind.index = cpu_to_le32(hostile_below(h, 4));
        memcpy(req->destroy_bind.dest_gid, pvrdma_gid, sizeof(pvrdma_gid));
        break;
    case PVRDMA_CMD_QUERY_PORT:
        req->query_port.port_num = 1;
        break;
    case PVRDMA_CMD_QUERY_PKEY:
        req->query_pkey.port_num = 1;
        req->query_pkey.index = hostile_below(h, 2);
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
        word[i] = cpu_to_le32(random_limit(h->rand));
    }
    if (cmd >= PVRDMA_CMD_MAX || !hostile_often(h)) {
        return;
    }
    likely_any(h, known, cmd, req);
    if (command[cmd].takes) {
        word[sizeof(req->hdr) / sizeof(*word)] =
            any_handle(h, known, command[cmd].takes);
    }
}

/* Asserts that each command has succeeded at least once. */
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

    hostile_start(&h, 7);
    for (unsigned i = 0; i < 20000; i++) {
        union pvrdma_cmd_req req;
        union pvrdma_cmd_resp resp;
        uint32_t cmd = hostile_often(&h) ? hostile_below(&h, PVRDMA_CMD_MAX)
                                         : random_limit(h.rand);

        if (cmd < PVRDMA_CMD_MAX && command[cmd].ends && hostile_often(&h)) {
            /* destroys few objects, so that later commands have objects to use */
            continue;
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
        hostile_discard(&h);
    }
    assert_done(done);
    /* new objects, because the device is not reset */
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *gid = i ? pvrdma_gid6 : pvrdma_gid;

        pvrdma_unbind(h.t, i, gid);
        pvrdma_bind(h.t, i, gid, 0xfff);
    }
    pvrdma_qp_pair_make(&h.good, h.t, NULL);
    hostile_finish(&h);
}

/* --- Shared region ------------------------------------------------------------ */

static void any_region(Hostile *h, struct pvrdma_device_shared_region *dsr)
{
    struct pvrdma_device_shared_region bad = *dsr;

    bad.cmd_slot_dma = cpu_to_le64(hostile_any_page(h));
    bad.resp_slot_dma = cpu_to_le64(hostile_any_page(h));
    bad.async_ring_pages.num_pages = cpu_to_le32(random_limit(h->rand));
    bad.async_ring_pages.pdir_dma = cpu_to_le64(hostile_any_pdir(h));
    bad.cq_ring_pages.num_pages = cpu_to_le32(random_limit(h->rand));
    bad.cq_ring_pages.pdir_dma = cpu_to_le64(hostile_any_pdir(h));
    bad.uar_pfn64 = cpu_to_le64(random_u64(h->rand));
    bad.driver_version = cpu_to_le32(random_limit(h->rand));
    /* stores all fields of @bad in the region, or one */
    if (!hostile_often(h)) {
        *dsr = bad;
        return;
    }
    switch (hostile_below(h, 6)) {
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

    hostile_start(&h, 8);
    dsr = h.t->dsr;
    qtest_bufread(h.t->qts, dsr, &right, sizeof(right));
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct pvrdma_device_shared_region region = right;

        pvrdma_ctl(h.t, PVRDMA_DEVICE_CTL_RESET);
        any_region(&h, &region);
        qtest_bufwrite(h.t->qts, dsr, &region, sizeof(region));
        h.t->dsr = dsr;
        if (!hostile_often(&h)) {
            h.t->dsr = hostile_any_page(&h) + (hostile_often(&h) ? 0 : 8);
        }
        taken += !pvrdma_dsr_write(h.t);
        pvrdma_ctl(h.t, hostile_below(&h, 4));
        hostile_scribble(&h, h.scratch, 2 * PVRDMA_PAGE_BYTES);
        for (unsigned i = 0; i < 4; i++) {
            pvrdma_set(h.t, PVRDMA_REG_REQUEST,
                       random_limit(h.rand) & hostile_below(&h, 2));
            pvrdma_set(h.t, hostile_below(&h, 64) * 4 + 0x10, random_limit(h.rand));
            pvrdma_get(h.t, hostile_below(&h, 64) * 4);
        }
        pvrdma_doorbell(h.t, 0, hostile_below(&h, 3) * 4, random_limit(h.rand));
        pvrdma_settle(h.t);
    }
    g_assert_cmpuint(taken, >, 0);
    g_assert_cmpuint(taken, <, ROUNDS);
    pvrdma_ctl(h.t, PVRDMA_DEVICE_CTL_RESET);
    pvrdma_settle(h.t);
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        pvrdma_msix_taken(h.t, v);
    }
    pvrdma_bring_up(h.t);
    pvrdma_qp_pair_make(&h.good, h.t, NULL);
    hostile_finish(&h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/cmd/hostile-commands", test_commands);
    qtest_add_func("/pvrdma/cmd/hostile-region", test_region);
    return g_test_run();
}
