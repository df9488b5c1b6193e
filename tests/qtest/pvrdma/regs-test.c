/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers and shared region of pvrdma: reset values, effects of writes, regions that
 * are refused, resets.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "verbs.h"

typedef struct Reg {
    const char *name;
    uint32_t offset;
    uint32_t reset, writable;
} Reg;

#define REG(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, reset, writable },

static const Reg regs[] = { PVRDMA_REGS(REG) };

/* Returns the MAC address as MACL and MACH hold it. */
static uint64_t mac_value(void)
{
    uint8_t mac[8] = { 0 };

    memcpy(mac, pvrdma_mac, sizeof(pvrdma_mac));
    return ldq_le_p(mac);
}

static uint32_t reset_value(const Reg *r)
{
    switch (r->offset) {
    case PVRDMA_REG_MACL:
        return mac_value();
    case PVRDMA_REG_MACH:
        return mac_value() >> 32;
    default:
        return r->reset;
    }
}

static void assert_reset(PvrdmaTest *t)
{
    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        g_test_message("%s", regs[i].name);
        g_assert_cmphex(pvrdma_get(t, regs[i].offset), ==,
                        reset_value(&regs[i]));
    }
}

static void test_reset_values(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");

    assert_reset(t);
    pvrdma_stop(t);
}

/* A writable register keeps the value; a write to another one is a guest error. */
static void test_writable(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");

    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        const Reg *r = &regs[i];

        switch (r->offset) {
        case PVRDMA_REG_DSRHIGH:
        case PVRDMA_REG_CTL:
        case PVRDMA_REG_REQUEST:
            continue;
        }
        if (r->writable) {
            pvrdma_set(t, r->offset, 0x5a5a5a5a);
            g_assert_cmphex(pvrdma_get(t, r->offset), ==, 0x5a5a5a5a);
            continue;
        }
        pvrdma_expect_errors(t, 1, pvrdma_set(t, r->offset, 0x5a5a5a5a));
        g_assert_cmphex(pvrdma_get(t, r->offset), ==, reset_value(r));
    }
    pvrdma_stop(t);
}

static void test_no_register(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    const uint32_t none = regs[ARRAY_SIZE(regs) - 1].offset + 4;

    pvrdma_expect_errors(t, 1, g_assert_cmphex(pvrdma_get(t, none), ==, 0));
    pvrdma_expect_errors(t, 1, pvrdma_set(t, none, 1));
    pvrdma_expect_errors(t, 1,
        pvrdma_set(t, PVRDMA_REGS_BYTES - 4, 1));
    /* accesses of one or two bytes read 0 and write nothing */
    g_assert_cmphex(qtest_readb(t->qts, t->regs.addr), ==, 0);
    g_assert_cmphex(qtest_readw(t->qts, t->regs.addr), ==, 0);
    qtest_writeb(t->qts, t->regs.addr + PVRDMA_REG_IMR, 0);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_IMR), ==, PVRDMA_INTR_ALL);
    pvrdma_stop(t);
}

/* --- Shared region ------------------------------------------------------ */

static struct pvrdma_device_shared_region dsr_read(PvrdmaTest *t)
{
    struct pvrdma_device_shared_region dsr;

    qtest_bufread(t->qts, t->dsr, &dsr, sizeof(dsr));
    return dsr;
}

static void check_caps(const struct pvrdma_device_caps *caps, uint8_t gid_type)
{
    static const uint8_t guid[8] = {
        0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56
    };

    g_assert_cmpmem(&caps->node_guid, 8, guid, 8);
    g_assert_cmpmem(&caps->sys_image_guid, 8, guid, 8);
    g_assert_cmpuint(caps->mode, ==, PVRDMA_DEVICE_MODE_ROCE);
    g_assert_cmpuint(caps->gid_types, ==, gid_type);
    g_assert_cmpuint(caps->phys_port_cnt, ==, 1);
    g_assert_cmpuint(le32_to_cpu(caps->vendor_id), ==, PVRDMA_PCI_VENDOR_ID);
    g_assert_cmpuint(le32_to_cpu(caps->max_uar), ==, PVRDMA_UARS);
    /* the user library has 16 bits for a handle */
    g_assert_cmpuint(le32_to_cpu(caps->max_qp), <, 65536);
    g_assert_cmpuint(le32_to_cpu(caps->max_qp), >=, 256);
    g_assert_cmpuint(le32_to_cpu(caps->max_cq), >=, 256);
    g_assert_cmpuint(le32_to_cpu(caps->max_fast_reg_page_list_len), ==,
                     PVRDMA_MAX_FAST_REG_PAGES);
    g_assert_cmphex(caps->atomic_ops, ==, PVRDMA_ATOMIC_OP_COMP_SWAP |
                    PVRDMA_ATOMIC_OP_FETCH_ADD);
    g_assert_cmphex(caps->bmme_flags, ==, PVRDMA_BMME_FLAG_LOCAL_INV |
                    PVRDMA_BMME_FLAG_REMOTE_INV |
                    PVRDMA_BMME_FLAG_FAST_REG_WR);
    g_assert_cmphex(le64_to_cpu(caps->page_size_cap) & PVRDMA_PAGE_BYTES, !=, 0);
}

/* The device stores its capabilities in the region, and changes nothing else. */
static void test_region(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    struct pvrdma_device_shared_region before, after;

    pvrdma_dsr_make(t);
    before = dsr_read(t);
    g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
    after = dsr_read(t);
    g_assert_cmpmem(&before, offsetof(typeof(before), caps), &after,
                    offsetof(typeof(after), caps));
    check_caps(&after.caps, PVRDMA_GID_TYPE_FLAG_ROCE_V2);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, (uint32_t)t->dsr);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_UNQUIESCE), ==, 0);
    pvrdma_stop(t);
}

static void test_region_v1(void)
{
    PvrdmaTest *t = pvrdma_start(",roce=v1,mtu=1024");
    union pvrdma_cmd_req req = { .query_port.port_num = 1 };
    union pvrdma_cmd_resp resp;
    struct pvrdma_device_shared_region dsr = dsr_read(t);

    check_caps(&dsr.caps, PVRDMA_GID_TYPE_FLAG_ROCE_V1);
    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PORT, &req, &resp);
    g_assert_cmpuint(le32_to_cpu(resp.query_port.attrs.max_mtu), ==,
                     PVRDMA_MTU_1024);
    pvrdma_stop(t);
}

/*
 * Asserts that the device refuses the region @bad with @err, does not change it, and
 * refuses ACTIVATE; then stores the former region again.
 */
static void refuse_region(PvrdmaTest *t,
                          const struct pvrdma_device_shared_region *bad, int err)
{
    struct pvrdma_device_shared_region good = dsr_read(t);
    struct pvrdma_device_shared_region now;

    qtest_bufwrite(t->qts, t->dsr, bad, sizeof(*bad));
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_dsr_write(t), ==, err));
    now = dsr_read(t);
    g_assert_cmpmem(bad, sizeof(*bad), &now, sizeof(now));
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, EINVAL));
    qtest_bufwrite(t->qts, t->dsr, &good, sizeof(good));
}

static void test_bad_regions(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    struct pvrdma_device_shared_region good, bad;

    pvrdma_dsr_make(t);
    good = dsr_read(t);

    bad = good;
    bad.driver_version = cpu_to_le32(PVRDMA_VERSION_ROCEV1 - 1);
    refuse_region(t, &bad, EPROTONOSUPPORT);
    bad = good;
    bad.async_ring_pages.num_pages = 0;
    refuse_region(t, &bad, EINVAL);
    bad.async_ring_pages.num_pages = cpu_to_le32(1);
    refuse_region(t, &bad, EINVAL);
    bad.async_ring_pages.num_pages = cpu_to_le32(PVRDMA_PDIR_MAX_PAGES + 1);
    refuse_region(t, &bad, EINVAL);
    bad.async_ring_pages.num_pages = cpu_to_le32(UINT32_MAX);
    refuse_region(t, &bad, EINVAL);
    bad = good;
    bad.cq_ring_pages.num_pages = 0;
    refuse_region(t, &bad, EINVAL);
    bad = good;
    bad.async_ring_pages.pdir_dma = cpu_to_le64(PVRDMA_NO_RAM);
    refuse_region(t, &bad, EFAULT);
    bad = good;
    bad.cq_ring_pages.pdir_dma = good.cq_ring_pages.pdir_dma + cpu_to_le64(8);
    refuse_region(t, &bad, EINVAL);

    g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    pvrdma_stop(t);
}

/* A region outside of memory, or in registers. */
static void test_region_nowhere(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    const uint64_t addr[] = { PVRDMA_NO_RAM, UINT64_MAX - 7, t->regs.addr };

    for (unsigned i = 0; i < ARRAY_SIZE(addr); i++) {
        t->dsr = addr[i];
        pvrdma_expect_errors(t, 1,
            g_assert_cmpint(pvrdma_dsr_write(t), ==, EFAULT));
    }
    pvrdma_stop(t);
}

/* The end of the region, with the capabilities, is outside of memory. */
static void test_region_half(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    struct pvrdma_device_shared_region dsr;

    pvrdma_dsr_make(t);
    dsr = dsr_read(t);
    t->dsr = PVRDMA_TEST_RAM - offsetof(typeof(dsr), caps);
    qtest_bufwrite(t->qts, t->dsr, &dsr, offsetof(typeof(dsr), caps));
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_dsr_write(t), ==, EFAULT));
    pvrdma_stop(t);
}

/* --- CTL ---------------------------------------------------------------- */

static void test_ctl(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    union pvrdma_cmd_req req = { 0 };

    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, EINVAL));
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_UNQUIESCE), ==, EINVAL));
    g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_RESET), ==, 0);
    /* a command without a region, then one before ACTIVATE */
    pvrdma_expect_errors(t, 1, pvrdma_set(t, PVRDMA_REG_REQUEST, 0));
    g_assert_cmpint(pvrdma_get(t, PVRDMA_REG_ERR), ==, EINVAL);
    pvrdma_dsr_make(t);
    g_assert_cmpint(pvrdma_dsr_write(t), ==, 0);
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_command(t, PVRDMA_CMD_CREATE_PD, &req, NULL), ==,
                        EINVAL));
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_RESET + 1), ==, EINVAL));
    g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    g_assert_cmpint(pvrdma_command(t, PVRDMA_CMD_CREATE_PD, &req, NULL), ==, 0);
    /* REQUEST accepts 0 only */
    pvrdma_expect_errors(t, 1, pvrdma_set(t, PVRDMA_REG_REQUEST, 1));
    g_assert_cmpint(pvrdma_get(t, PVRDMA_REG_ERR), ==, EINVAL);
    pvrdma_stop(t);
}

/* --- Doorbells ---------------------------------------------------------- */

static void test_doorbells(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");

    pvrdma_expect_errors(t, 1,
        pvrdma_doorbell(t, 0, PVRDMA_UAR_QP_OFFSET, PVRDMA_UAR_QP_SEND | 1));
    pvrdma_bring_up(t);
    /* doorbells of no object, on several pages, and an offset without a doorbell */
    pvrdma_expect_errors(t, 1,
        pvrdma_doorbell(t, 0, PVRDMA_UAR_QP_OFFSET, PVRDMA_UAR_QP_SEND | 1));
    pvrdma_expect_errors(t, 1,
        pvrdma_doorbell(t, PVRDMA_UARS - 1, PVRDMA_UAR_CQ_OFFSET,
                        PVRDMA_UAR_CQ_ARM | PVRDMA_UAR_HANDLE_MASK));
    pvrdma_expect_errors(t, 1,
        pvrdma_doorbell(t, 7, PVRDMA_UAR_SRQ_OFFSET, PVRDMA_UAR_SRQ_RECV | 1));
    pvrdma_expect_errors(t, 1,
        pvrdma_doorbell(t, 0, PVRDMA_UAR_SRQ_OFFSET + 4, 0));
    g_assert_cmphex(qtest_readl(t->qts, t->uar.addr), ==, 0);
    pvrdma_stop(t);
}

/* --- Resets ------------------------------------------------------------- */

/* Makes objects of every kind, and a READ under way. */
static void make_busy(PvrdmaTest *t)
{
    uint32_t uc = pvrdma_uc_create(t, 3);
    uint32_t pd = pvrdma_pd_create(t, uc);
    PvrdmaTestMr mr = pvrdma_mr_create(t, pd, 0x7000123, 0x5000,
                                       PVRDMA_TEST_ACCESS_ALL);
    PvrdmaTestCq cq = pvrdma_cq_create(t, uc, 3, 64);
    PvrdmaTestSrq srq = pvrdma_srq_create(t, pd, 3, 8, 1);
    const PvrdmaTestQpInit init = {
        .pd = pd, .page = 3, .send_cq = &cq, .srq = &srq,
    };
    PvrdmaTestQp qp = pvrdma_qp_create(t, &init);
    const PvrdmaTestQpAttr attr = { .dest_qpn = 0x1234 };
    const PvrdmaTestSge sge = PVRDMA_TEST_SGE(&mr, 0, 0x5000);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_READ, 0, 0);

    pvrdma_qp_connect(t, &qp, &attr);
    pvrdma_post_srq(t, &srq, 1, &sge, 1);
    pvrdma_cq_arm(t, &cq, PVRDMA_UAR_CQ_ARM);
    pvrdma_post_send(t, &qp, &hdr, &sge, 1);
    g_free(pvrdma_wire_expect(t, ROCE_OP_READ_REQUEST, 0x1234, 0));
}

/*
 * Lets time pass and brings the device up; asserts that no frame, object or event of
 * before is left.
 */
static void assert_gone(PvrdmaTest *t)
{
    union pvrdma_cmd_req uc = { .destroy_uc.ctx_handle = cpu_to_le32(1) };
    union pvrdma_cmd_req qp = { .query_qp.qp_handle = cpu_to_le32(1) };

    pvrdma_step(t, 100 * PVRDMA_SECOND);
    pvrdma_assert_quiet(t);
    pvrdma_bring_up(t);
    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_UC, &uc, EINVAL);
    pvrdma_command_fails(t, PVRDMA_CMD_QUERY_QP, &qp, EINVAL);
    g_assert_true(pvrdma_event_none(t));
}

static void test_ctl_reset(void)
{
    PvrdmaTest *t = pvrdma_start("");

    make_busy(t);
    g_assert_cmpint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_RESET), ==, 0);
    assert_reset(t);
    assert_gone(t);
    pvrdma_stop(t);
}

/* A driver writes a new region without a reset, as after a crash of its kernel. */
static void test_region_again(void)
{
    PvrdmaTest *t = pvrdma_start("");

    make_busy(t);
    pvrdma_dsr_make(t);
    g_assert_cmpint(pvrdma_dsr_write(t), ==, 0);
    assert_gone(t);
    pvrdma_stop(t);
}

static void test_machine_reset(void)
{
    PvrdmaTest *t = pvrdma_start("");

    make_busy(t);
    qtest_system_reset(t->qts);
    /* bridges and BARs were reset, too */
    t->msix = 0;
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, PVRDMA_BAR_REGS, NULL);
    t->uar = qpci_iomap(t->dev, PVRDMA_BAR_UAR, NULL);
    assert_reset(t);
    assert_gone(t);
    pvrdma_stop(t);
}

/* The guest clears bus mastering while the device works. */
static void test_no_bus_master(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint16_t command = qpci_config_readw(t->dev, PCI_COMMAND);
    union pvrdma_cmd_req req = { 0 };

    make_busy(t);
    qpci_config_writew(t->dev, PCI_COMMAND, command & ~PCI_COMMAND_MASTER);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_PD, &req, EFAULT);
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_dsr_write(t), ==, EFAULT));
    pvrdma_step(t, 100 * PVRDMA_SECOND);
    qpci_config_writew(t->dev, PCI_COMMAND, command);
    assert_gone(t);
    pvrdma_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/device/regs-reset-values", test_reset_values);
    qtest_add_func("/pvrdma/device/regs-writable", test_writable);
    qtest_add_func("/pvrdma/device/regs-no-register", test_no_register);
    qtest_add_func("/pvrdma/device/regs-region", test_region);
    qtest_add_func("/pvrdma/device/regs-region-v1", test_region_v1);
    qtest_add_func("/pvrdma/device/regs-bad-regions", test_bad_regions);
    qtest_add_func("/pvrdma/device/regs-region-nowhere", test_region_nowhere);
    qtest_add_func("/pvrdma/device/regs-region-half", test_region_half);
    qtest_add_func("/pvrdma/device/regs-ctl", test_ctl);
    qtest_add_func("/pvrdma/device/regs-doorbells", test_doorbells);
    qtest_add_func("/pvrdma/device/regs-ctl-reset", test_ctl_reset);
    qtest_add_func("/pvrdma/device/regs-region-again", test_region_again);
    qtest_add_func("/pvrdma/device/regs-machine-reset", test_machine_reset);
    qtest_add_func("/pvrdma/device/regs-no-bus-master", test_no_bus_master);
    return g_test_run();
}
