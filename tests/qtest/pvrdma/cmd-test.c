/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of pvrdma: answers, handles of no object or of another process, sizes out of
 * range, slots outside of memory, GIDs, full tables, and the limit of all objects
 * together.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "verbs.h"

#define VLAN_NONE 0xfff

/* --- Port --------------------------------------------------------------- */

static void test_port(void)
{
    PvrdmaTest *t = pvrdma_start("");
    union pvrdma_cmd_req req = { .query_port.port_num = 1 };
    union pvrdma_cmd_resp resp;
    struct pvrdma_port_attr *attr = &resp.query_port.attrs;

    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PORT, &req, &resp);
    g_assert_cmpuint(le32_to_cpu(attr->state), ==, PVRDMA_PORT_ACTIVE);
    g_assert_cmpuint(attr->phys_state, ==, PVRDMA_PHYS_LINK_UP);
    g_assert_cmpuint(le32_to_cpu(attr->max_mtu), ==, PVRDMA_MTU_4096);
    g_assert_cmpuint(le32_to_cpu(attr->active_mtu), ==, PVRDMA_MTU_4096);
    g_assert_cmphex(le32_to_cpu(attr->max_msg_sz), ==, ROCE_MSG_MAX);
    g_assert_cmpuint(le16_to_cpu(attr->pkey_tbl_len), ==, 1);
    g_assert_cmpuint(le32_to_cpu(attr->gid_tbl_len), >=, 16);

    req = (union pvrdma_cmd_req) { .query_pkey.port_num = 1 };
    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PKEY, &req, &resp);
    g_assert_cmphex(le16_to_cpu(resp.query_pkey.pkey), ==, ROCE_PKEY_DEFAULT);
    pvrdma_stop(t);
}

static void test_bad_port(void)
{
    PvrdmaTest *t = pvrdma_start("");
    static const uint8_t none[] = { 0, 2, 255 };
    union pvrdma_cmd_req req;

    for (unsigned i = 0; i < ARRAY_SIZE(none); i++) {
        req = (union pvrdma_cmd_req) { .query_port.port_num = none[i] };
        pvrdma_command_fails(t, PVRDMA_CMD_QUERY_PORT, &req, EINVAL);
        req = (union pvrdma_cmd_req) { .query_pkey.port_num = none[i] };
        pvrdma_command_fails(t, PVRDMA_CMD_QUERY_PKEY, &req, EINVAL);
    }
    req = (union pvrdma_cmd_req) {
        .query_pkey.port_num = 1, .query_pkey.index = 1,
    };
    pvrdma_command_fails(t, PVRDMA_CMD_QUERY_PKEY, &req, EINVAL);
    pvrdma_stop(t);
}

/* --- The channel -------------------------------------------------------- */

static void test_unknown(void)
{
    PvrdmaTest *t = pvrdma_start("");
    static const uint32_t unknown[] = {
        PVRDMA_CMD_MAX, PVRDMA_CMD_MAX + 1, 0x80000000, UINT32_MAX,
    };
    union pvrdma_cmd_req req = { 0 };

    for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
        pvrdma_command_fails(t, unknown[i], &req, EINVAL);
    }
    pvrdma_stop(t);
}

/* Brings up a device whose slots are where the test wants. */
static PvrdmaTest *start_slots(uint64_t cmd, uint64_t resp)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    uint64_t at;

    pvrdma_dsr_make(t);
    at = t->dsr + offsetof(struct pvrdma_device_shared_region, cmd_slot_dma);
    qtest_writeq(t->qts, at, cmd ?: t->cmd_slot);
    at = t->dsr + offsetof(struct pvrdma_device_shared_region, resp_slot_dma);
    qtest_writeq(t->qts, at, resp ?: t->resp_slot);
    g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    return t;
}

static void test_slots_nowhere(void)
{
    static const uint64_t nowhere[] = {
        PVRDMA_NO_RAM, UINT64_MAX - 7, PVRDMA_TEST_RAM - 8,
        0xfee00000,                     /* registers of interrupt controllers */
    };

    for (unsigned i = 0; i < ARRAY_SIZE(nowhere); i++) {
        union pvrdma_cmd_req req = { 0 };
        PvrdmaTest *t = start_slots(nowhere[i], 0);

        pvrdma_command_fails(t, PVRDMA_CMD_CREATE_PD, &req, EFAULT);
        pvrdma_stop(t);

        t = start_slots(0, nowhere[i]);
        pvrdma_expect_errors(t, 1,
            g_assert_cmpint(pvrdma_command(t, PVRDMA_CMD_CREATE_PD, &req, NULL),
                            ==, EFAULT));
        g_assert_cmpuint(pvrdma_counter(t, "cmd-error"), ==, 1);
        /* the driver does not wait for the answer of this command */
        g_assert_cmpint(pvrdma_unbind(t, 0, pvrdma_gid), ==, ENOENT);
        pvrdma_stop(t);
    }
}

/* --- Handles ------------------------------------------------------------ */

#define HANDLE(command, member, field) \
    { PVRDMA_CMD_##command, offsetof(union pvrdma_cmd_req, member.field), false }
/* A handle of a context, where 0 means the kernel. */
#define CONTEXT(command, member) \
    { PVRDMA_CMD_##command, offsetof(union pvrdma_cmd_req, member.ctx_handle), \
      true }

static const struct {
    enum pvrdma_cmd cmd;
    size_t at;
    bool zero;                          /* 0 is a good handle */
} handles[] = {
    CONTEXT(CREATE_PD, create_pd),
    CONTEXT(CREATE_CQ, create_cq),
    HANDLE(DESTROY_UC, destroy_uc, ctx_handle),
    HANDLE(DESTROY_PD, destroy_pd, pd_handle),
    HANDLE(CREATE_MR, create_mr, pd_handle),
    HANDLE(DESTROY_MR, destroy_mr, mr_handle),
    HANDLE(RESIZE_CQ, resize_cq, cq_handle),
    HANDLE(DESTROY_CQ, destroy_cq, cq_handle),
    HANDLE(CREATE_SRQ, create_srq, pd_handle),
    HANDLE(MODIFY_SRQ, modify_srq, srq_handle),
    HANDLE(QUERY_SRQ, query_srq, srq_handle),
    HANDLE(DESTROY_SRQ, destroy_srq, srq_handle),
    HANDLE(CREATE_QP, create_qp, pd_handle),
    HANDLE(CREATE_QP, create_qp, send_cq_handle),
    HANDLE(CREATE_QP, create_qp, recv_cq_handle),
    HANDLE(CREATE_QP, create_qp, srq_handle),
    HANDLE(MODIFY_QP, modify_qp, qp_handle),
    HANDLE(QUERY_QP, query_qp, qp_handle),
    HANDLE(DESTROY_QP, destroy_qp, qp_handle),
};

typedef struct Good {
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestSrq srq;
} Good;

/* Returns a good request of @cmd, a command that does more than look up its handle. */
static union pvrdma_cmd_req good_request(PvrdmaTest *t, const Good *g,
                                         enum pvrdma_cmd cmd)
{
    const PvrdmaTestQpInit init = {
        .pd = g->pd, .send_cq = &g->cq, .srq = &g->srq,
    };
    union pvrdma_cmd_req req = { 0 };
    PvrdmaTestQp qp;

    switch (cmd) {
    case PVRDMA_CMD_CREATE_MR:
        return pvrdma_mr_request(t, g->pd, 0x1000, pvrdma_alloc(t, 0x1000),
                                 0x1000, 0);
    case PVRDMA_CMD_CREATE_CQ:
        req.create_cq.cqe = cpu_to_le32(1);
        req.create_cq.nchunks = cpu_to_le32(2);
        req.create_cq.pdir_dma = cpu_to_le64(
            pvrdma_pdir(t, pvrdma_alloc(t, 0x2000), 2));
        break;
    case PVRDMA_CMD_CREATE_SRQ:
        req.create_srq.pd_handle = cpu_to_le32(g->pd);
        req.create_srq.attrs.max_wr = cpu_to_le32(1);
        req.create_srq.attrs.max_sge = cpu_to_le32(1);
        req.create_srq.nchunks = cpu_to_le32(2);
        req.create_srq.pdir_dma = cpu_to_le64(
            pvrdma_pdir(t, pvrdma_alloc(t, 0x2000), 2));
        break;
    case PVRDMA_CMD_MODIFY_SRQ:
        req.modify_srq.srq_handle = cpu_to_le32(g->srq.handle);
        req.modify_srq.attr_mask = cpu_to_le32(PVRDMA_SRQ_LIMIT);
        break;
    case PVRDMA_CMD_RESIZE_CQ:
        req.resize_cq.cq_handle = cpu_to_le32(g->cq.handle);
        req.resize_cq.cqe = cpu_to_le32(g->cq.entries);
        break;
    case PVRDMA_CMD_CREATE_QP:
        return pvrdma_qp_request(t, &init, &qp);
    default:
        break;
    }
    return req;
}

/*
 * Asserts that all requests succeed, so that later only the bad handle makes them fail.
 */
static void check_good_requests(PvrdmaTest *t, const Good *g)
{
    static const enum pvrdma_cmd cmds[] = {
        PVRDMA_CMD_CREATE_PD, PVRDMA_CMD_CREATE_MR, PVRDMA_CMD_CREATE_CQ,
        PVRDMA_CMD_RESIZE_CQ, PVRDMA_CMD_CREATE_SRQ, PVRDMA_CMD_MODIFY_SRQ,
        PVRDMA_CMD_CREATE_QP,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cmds); i++) {
        union pvrdma_cmd_req req = good_request(t, g, cmds[i]);

        pvrdma_command_ok(t, cmds[i], &req, NULL);
    }
}

static void test_bad_handles(void)
{
    static const uint32_t bad[] = { 0, 1000, 65535, 65536, UINT32_MAX };
    PvrdmaTest *t = pvrdma_start("");
    Good g = { .pd = pvrdma_pd_create(t, 0) };

    g.cq = pvrdma_cq_create(t, 0, 0, 16);
    g.srq = pvrdma_srq_create(t, g.pd, 0, 8, 1);
    check_good_requests(t, &g);
    for (unsigned i = 0; i < ARRAY_SIZE(handles); i++) {
        for (unsigned b = handles[i].zero ? 1 : 0; b < ARRAY_SIZE(bad); b++) {
            union pvrdma_cmd_req req = good_request(t, &g, handles[i].cmd);

            g_test_message("command %u, byte %zu: handle 0x%x", handles[i].cmd,
                           handles[i].at, bad[b]);
            stl_le_p((uint8_t *)&req + handles[i].at, bad[b]);
            pvrdma_command_fails(t, handles[i].cmd, &req, EINVAL);
        }
    }
    pvrdma_stop(t);
}

/* An object with users cannot be destroyed, and no object can be destroyed twice. */
static void test_order(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint32_t uc = pvrdma_uc_create(t, 1);
    uint32_t pd = pvrdma_pd_create(t, uc);
    PvrdmaTestCq cq = pvrdma_cq_create(t, uc, 1, 16);
    PvrdmaTestSrq srq = pvrdma_srq_create(t, pd, 1, 8, 1);
    const PvrdmaTestQpInit init = {
        .pd = pd, .page = 1, .send_cq = &cq, .srq = &srq,
    };
    PvrdmaTestQp qp = pvrdma_qp_create(t, &init);
    union pvrdma_cmd_req req[] = {
        { .destroy_cq.cq_handle = cpu_to_le32(cq.handle) },
        { .destroy_srq.srq_handle = cpu_to_le32(srq.handle) },
        { .destroy_pd.pd_handle = cpu_to_le32(pd) },
        { .destroy_uc.ctx_handle = cpu_to_le32(uc) },
    };
    static const enum pvrdma_cmd cmd[] = {
        PVRDMA_CMD_DESTROY_CQ, PVRDMA_CMD_DESTROY_SRQ, PVRDMA_CMD_DESTROY_PD,
        PVRDMA_CMD_DESTROY_UC,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cmd); i++) {
        pvrdma_command_fails(t, cmd[i], &req[i], EBUSY);
    }
    pvrdma_qp_destroy(t, &qp);
    for (unsigned i = 0; i < ARRAY_SIZE(cmd); i++) {
        pvrdma_command_ok(t, cmd[i], &req[i], NULL);
        pvrdma_command_fails(t, cmd[i], &req[i], EINVAL);
    }
    pvrdma_stop(t);
}

/* --- Sizes -------------------------------------------------------------- */

static void test_uar_pages(void)
{
    PvrdmaTest *t = pvrdma_start("");
    const uint64_t first = t->uar.addr >> PVRDMA_PAGE_SHIFT;
    const uint64_t bad[] = {
        first, first + PVRDMA_UARS, first - 1, 0, UINT64_MAX,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        union pvrdma_cmd_req req = { .create_uc.pfn64 = cpu_to_le64(bad[i]) };

        pvrdma_command_fails(t, PVRDMA_CMD_CREATE_UC, &req, EINVAL);
    }
    pvrdma_uc_destroy(t, pvrdma_uc_create(t, PVRDMA_UARS - 1));
    pvrdma_stop(t);
}

/* A full table refuses one more object until an object is destroyed. */
static void test_table_full(void)
{
    PvrdmaTest *t = pvrdma_start("");
    union pvrdma_cmd_req req = {
        .create_uc.pfn64 = cpu_to_le64((t->uar.addr >> PVRDMA_PAGE_SHIFT) + 1),
    };
    uint32_t handle[PVRDMA_UARS - 1];
    g_autofree bool *seen = g_new0(bool, PVRDMA_UARS);

    for (unsigned i = 0; i < ARRAY_SIZE(handle); i++) {
        handle[i] = pvrdma_uc_create(t, i + 1);
        g_assert_cmpuint(handle[i], <, PVRDMA_UARS);
        g_assert_false(seen[handle[i]]);
        seen[handle[i]] = true;
    }
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_UC, &req, ENOMEM);
    pvrdma_uc_destroy(t, handle[100]);
    g_assert_cmpuint(pvrdma_uc_create(t, 1), ==, handle[100]);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_UC, &req, ENOMEM);
    for (unsigned i = 0; i < ARRAY_SIZE(handle); i++) {
        pvrdma_uc_destroy(t, handle[i]);
    }
    pvrdma_uc_destroy(t, pvrdma_uc_create(t, 1));
    pvrdma_stop(t);
}

/* The handle of a destroyed object is not given to the next object. */
static void test_handles_reuse(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint32_t last = 0;

    for (unsigned i = 0; i < 16; i++) {
        uint32_t pd = pvrdma_pd_create(t, 0);

        g_assert_cmpuint(pd, !=, last);
        pvrdma_pd_destroy(t, pd);
        last = pd;
    }
    pvrdma_stop(t);
}

static void test_bad_queues(void)
{
    PvrdmaTest *t = pvrdma_start("");
    static const uint32_t bad[] = { 0, 3, 1u << 31, UINT32_MAX };
    Good g = { .pd = pvrdma_pd_create(t, 0) };
    union pvrdma_cmd_req req;

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        req = good_request(t, &g, PVRDMA_CMD_CREATE_CQ);
        req.create_cq.cqe = cpu_to_le32(bad[i]);
        pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EINVAL);
        req = good_request(t, &g, PVRDMA_CMD_CREATE_SRQ);
            req.create_srq.attrs.max_wr = cpu_to_le32(bad[i]);
        pvrdma_command_fails(t, PVRDMA_CMD_CREATE_SRQ, &req, EINVAL);
    }
    /* more entries than fit in the pages */
    req = good_request(t, &g, PVRDMA_CMD_CREATE_CQ);
    req.create_cq.cqe = cpu_to_le32(128);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EINVAL);
    req = good_request(t, &g, PVRDMA_CMD_CREATE_SRQ);
    req.create_srq.attrs.max_wr = cpu_to_le32(256);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_SRQ, &req, EINVAL);
    /* a directory outside of memory, or not aligned, or with such entries */
    req = good_request(t, &g, PVRDMA_CMD_CREATE_CQ);
    req.create_cq.pdir_dma = cpu_to_le64(PVRDMA_NO_RAM);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EFAULT);
    req = good_request(t, &g, PVRDMA_CMD_CREATE_CQ);
    req.create_cq.pdir_dma += cpu_to_le64(8);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EINVAL);
    req = good_request(t, &g, PVRDMA_CMD_CREATE_CQ);
    qtest_writeq(t->qts, le64_to_cpu(req.create_cq.pdir_dma), PVRDMA_NO_RAM);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EFAULT);
    req = good_request(t, &g, PVRDMA_CMD_CREATE_CQ);
    qtest_writeq(t->qts, le64_to_cpu(req.create_cq.pdir_dma), 0x1001);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_CQ, &req, EINVAL);
    pvrdma_stop(t);
}

/* --- Old interfaces ------------------------------------------------------ */

static void set_driver_version(PvrdmaTest *t, uint32_t version)
{
    qtest_writel(t->qts, t->dsr + offsetof(struct pvrdma_device_shared_region,
                                           driver_version), version);
}

/*
 * Creates a QP by the old answer, whose only number is both handle and QPN; asserts the
 * sizes in the answer.
 */
static void check_old_qp(PvrdmaTest *t, const PvrdmaTestQpInit *init,
                         PvrdmaTestQp *qp)
{
    union pvrdma_cmd_req req = pvrdma_qp_request(t, init, qp);
    union pvrdma_cmd_resp resp;

    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_QP, &req, &resp);
    qp->qpn = qp->handle = le32_to_cpu(resp.create_qp_v1.qpn);
    g_assert_cmpuint(le32_to_cpu(resp.create_qp_v1.max_send_wr), ==,
                     qp->sq.entries);
    g_assert_cmpuint(le32_to_cpu(resp.create_qp_v1.max_recv_wr), ==,
                     qp->rq.entries);
    g_assert_cmpuint(le32_to_cpu(resp.create_qp_v1.max_send_sge), ==,
                     qp->sq.max_sge);
    g_assert_cmpuint(le32_to_cpu(resp.create_qp_v1.max_recv_sge), ==,
                     qp->rq.max_sge);
}

/* QPs that are not the GSI get no number below 2, also if they are created first. */
static void check_old_interface(PvrdmaTest *t)
{
    const PvrdmaTestQpAttr attr = { 0 };
    uint32_t pd = pvrdma_pd_create(t, 0);
    PvrdmaTestCq cq = pvrdma_cq_create(t, 0, 0, 16);
    const PvrdmaTestQpInit init = { .pd = pd, .send_cq = &cq };
    const PvrdmaTestQpInit gsi = {
        .type = PVRDMA_QPT_GSI, .pd = pd, .send_cq = &cq,
    };
    PvrdmaTestMr mr = pvrdma_mr_create(t, pd, 0, 0x1000,
                                       PVRDMA_TEST_ACCESS_ALL);
    const PvrdmaTestSge sge = PVRDMA_TEST_SGE(&mr, 0, 100);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);
    PvrdmaTestQp qp[2], special;

    for (unsigned i = 0; i < 2; i++) {
        check_old_qp(t, &init, &qp[i]);
        g_assert_cmpuint(qp[i].qpn, >, ROCE_QPN_GSI);
    }
    check_old_qp(t, &gsi, &special);
    g_assert_cmpuint(special.qpn, ==, ROCE_QPN_GSI);
    pvrdma_qp_destroy(t, &special);
    check_old_qp(t, &gsi, &special);
    g_assert_cmpuint(special.qpn, ==, ROCE_QPN_GSI);

    pvrdma_qp_pair(t, &qp[0], &qp[1], &attr);
    pvrdma_post_recv(t, &qp[1], 2, &sge, 1);
    pvrdma_post_send(t, &qp[0], &hdr, &sge, 1);
    pvrdma_wait(t, qtest_readl(t->qts, cq.at +
                offsetof(struct pvrdma_ring_state, rx.prod_tail)) == 2);
}

static void test_old_driver(void)
{
    PvrdmaTest *t = pvrdma_start("");

    for (unsigned v = PVRDMA_VERSION_ROCEV2; v < PVRDMA_VERSION_QPHANDLE; v++) {
        set_driver_version(t, v);
        g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
        g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
        g_assert_cmpint(pvrdma_bind(t, 0, pvrdma_gid, VLAN_NONE), ==, 0);
        qtest_memset(t->qts, t->async.at, 0, PVRDMA_PAGE_BYTES);
        check_old_interface(t);
    }
    pvrdma_stop(t);
}

static void test_old_device(void)
{
    PvrdmaTest *t = pvrdma_start(",version=17,roce=v1");

    g_assert_cmpuint(pvrdma_get(t, PVRDMA_REG_VERSION), ==,
                     PVRDMA_VERSION_ROCEV1);
    check_old_interface(t);
    pvrdma_stop(t);
}

/* --- Failures and limits ------------------------------------------------- */

/* The error of modify_qp is in its answer, because the driver reads it there. */
static void test_error_in_answer(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint32_t pd = pvrdma_pd_create(t, 0);
    PvrdmaTestCq cq = pvrdma_cq_create(t, 0, 0, 16);
    PvrdmaTestQp qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &cq,
    });
    const PvrdmaTestQpAttr attr = { .state = PVRDMA_QPS_RTS };
    union pvrdma_cmd_resp resp;
    union pvrdma_cmd_req req = {
        .modify_qp.qp_handle = cpu_to_le32(qp.handle),
        .modify_qp.attr_mask = cpu_to_le32(PVRDMA_QP_STATE),
        .modify_qp.attrs.qp_state = cpu_to_le32(PVRDMA_QPS_RTS),
    };

    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_command(t, PVRDMA_CMD_MODIFY_QP, &req, &resp), ==,
                        EINVAL));
    g_assert_cmpuint(pvrdma_get(t, PVRDMA_REG_ERR), ==, 0);
    g_assert_cmpuint(resp.hdr.err, ==, EINVAL);
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_qp_modify(t, &qp, PVRDMA_QP_STATE, &attr), ==,
                        EINVAL));
    pvrdma_stop(t);
}

/*
 * A guest can name each of its pages any number of times: the pages of all objects
 * together have a limit.
 */
static void test_pages_bounded(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint64_t page = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t table = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    uint64_t dir = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    union pvrdma_cmd_req req = {
        .create_mr = {
            .length = cpu_to_le64((uint64_t)PVRDMA_PDIR_MAX_PAGES *
                                  PVRDMA_PAGE_BYTES),
            .pdir_dma = cpu_to_le64(dir),
            .pd_handle = cpu_to_le32(pvrdma_pd_create(t, 0)),
            .nchunks = cpu_to_le32(PVRDMA_PDIR_MAX_PAGES),
        },
    };
    union pvrdma_cmd_req destroy;
    union pvrdma_cmd_resp resp;
    unsigned count = 0;

    for (unsigned i = 0; i < 512; i++) {
        qtest_writeq(t->qts, table + 8 * i, page);
        qtest_writeq(t->qts, dir + 8 * i, table);
    }
    t->guest_errors = true;
    while (!pvrdma_command(t, PVRDMA_CMD_CREATE_MR, &req, &resp)) {
        destroy.destroy_mr.mr_handle = resp.create_mr.mr_handle;
        count++;
        g_assert_cmpuint(count, <, 1024);
    }
    g_assert_cmpuint(count, >=, 16);
    g_assert_cmpuint(pvrdma_get(t, PVRDMA_REG_ERR), ==, ENOMEM);
    pvrdma_command_ok(t, PVRDMA_CMD_DESTROY_MR, &destroy, NULL);
    pvrdma_command_ok(t, PVRDMA_CMD_CREATE_MR, &req, NULL);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_MR, &req, ENOMEM);
    pvrdma_stop(t);
}

/* --- GIDs --------------------------------------------------------------- */

static void test_gids(void)
{
    PvrdmaTest *t = pvrdma_start("");
    union pvrdma_cmd_req req = { .query_port.port_num = 1 };
    union pvrdma_cmd_resp resp;
    uint32_t last;

    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PORT, &req, &resp);
    last = le32_to_cpu(resp.query_port.attrs.gid_tbl_len) - 1;
    g_assert_cmpint(pvrdma_bind(t, last, pvrdma_peer_gid, VLAN_NONE), ==, 0);
    g_assert_cmpint(pvrdma_bind(t, last, pvrdma_gid6, 5), ==, 0);
    t->guest_errors = true;
    g_assert_cmpint(pvrdma_bind(t, last + 1, pvrdma_gid, VLAN_NONE), ==, EINVAL);
    g_assert_cmpint(pvrdma_bind(t, UINT32_MAX, pvrdma_gid, VLAN_NONE), ==,
                    EINVAL);
    g_assert_cmpint(pvrdma_bind(t, 2, pvrdma_gid, VLAN_NONE + 1), ==, EINVAL);
    g_assert_cmpint(pvrdma_unbind(t, last + 1, pvrdma_gid), ==, EINVAL);
    g_assert_cmpint(pvrdma_unbind(t, UINT32_MAX, pvrdma_gid), ==, EINVAL);
    g_assert_cmpint(pvrdma_unbind(t, 2, pvrdma_gid), ==, ENOENT);
    g_assert_cmpint(pvrdma_unbind(t, last, pvrdma_peer_gid), ==, ENOENT);
    g_assert_cmpint(pvrdma_unbind(t, last, pvrdma_gid6), ==, 0);
    g_assert_cmpint(pvrdma_unbind(t, last, pvrdma_gid6), ==, ENOENT);
    pvrdma_stop(t);
}

/* The type of a GID must be the only one that the capabilities have. */
static void test_gid_types(void)
{
    PvrdmaTest *t = pvrdma_start("");
    static const uint8_t bad[] = {
        0, PVRDMA_GID_TYPE_FLAG_ROCE_V1,
        PVRDMA_GID_TYPE_FLAG_ROCE_V1 | PVRDMA_GID_TYPE_FLAG_ROCE_V2, 0xff,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        union pvrdma_cmd_req req = {
            .create_bind.vlan = cpu_to_le32(VLAN_NONE),
            .create_bind.gid_type = bad[i],
        };

        pvrdma_command_fails(t, PVRDMA_CMD_CREATE_BIND, &req, EINVAL);
    }
    pvrdma_stop(t);
}

/* The path of a QP needs a bound GID of the same IP version as the destination's GID. */
static void test_gid_paths(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint32_t pd = pvrdma_pd_create(t, 0);
    PvrdmaTestCq cq = pvrdma_cq_create(t, 0, 0, 16);
    PvrdmaTestQp qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &cq,
    });
    const uint32_t mask = PVRDMA_QP_STATE | PVRDMA_QP_AV | PVRDMA_QP_PATH_MTU |
        PVRDMA_QP_DEST_QPN | PVRDMA_QP_RQ_PSN | PVRDMA_QP_MAX_DEST_RD_ATOMIC |
        PVRDMA_QP_MIN_RNR_TIMER;
    const PvrdmaTestQpAttr bad[] = {
        { .state = PVRDMA_QPS_RTR, .gid_index = 2 },
        { .state = PVRDMA_QPS_RTR, .gid_index = 255 },
        { .state = PVRDMA_QPS_RTR, .gid_index = 0, .dgid = pvrdma_peer_gid6 },
        { .state = PVRDMA_QPS_RTR, .gid_index = 1, .dgid = pvrdma_peer_gid },
    };
    const PvrdmaTestQpAttr good = { .state = PVRDMA_QPS_RTR, .gid_index = 1 };

    pvrdma_qp_init(t, &qp, &good);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        pvrdma_expect_errors(t, 1,
            g_assert_cmpint(pvrdma_qp_modify(t, &qp, mask, &bad[i]), ==, EINVAL));
    }
    g_assert_cmpint(pvrdma_qp_modify(t, &qp, mask, &good), ==, 0);
    pvrdma_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/cmd/port", test_port);
    qtest_add_func("/pvrdma/cmd/bad-port", test_bad_port);
    qtest_add_func("/pvrdma/cmd/unknown", test_unknown);
    qtest_add_func("/pvrdma/cmd/slots-nowhere", test_slots_nowhere);
    qtest_add_func("/pvrdma/cmd/bad-handles", test_bad_handles);
    qtest_add_func("/pvrdma/cmd/order", test_order);
    qtest_add_func("/pvrdma/cmd/uar-pages", test_uar_pages);
    qtest_add_func("/pvrdma/cmd/table-full", test_table_full);
    qtest_add_func("/pvrdma/cmd/handles-reuse", test_handles_reuse);
    qtest_add_func("/pvrdma/cmd/bad-queues", test_bad_queues);
    qtest_add_func("/pvrdma/cmd/old-driver", test_old_driver);
    qtest_add_func("/pvrdma/cmd/old-device", test_old_device);
    qtest_add_func("/pvrdma/cmd/error-in-answer", test_error_in_answer);
    qtest_add_func("/pvrdma/cmd/pages-bounded", test_pages_bounded);
    qtest_add_func("/pvrdma/cmd/gids", test_gids);
    qtest_add_func("/pvrdma/cmd/gid-types", test_gid_types);
    qtest_add_func("/pvrdma/cmd/gid-paths", test_gid_paths);
    return g_test_run();
}
