/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that makes pvrdma write to pvrdma itself: interrupts that reset the device in
 * the middle of their cause, and slots that are registers.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "../common/machine.h"
#include "verbs.h"

typedef struct Rig {
    uint32_t pd;
    PvrdmaTestMr mr;
    PvrdmaTestCq cq;
    PvrdmaTestSrq srq;
    PvrdmaTestQp qp;                    /* connected to the peer */
    uint32_t bar[6];
} Rig;

/* Returns the address where a write makes the device reset itself. */
static uint64_t flr_at(PvrdmaTest *t)
{
    uint8_t cap = qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);

    return pvrdma_ecam(t, t->dev->devfn) + cap + PCI_EXP_DEVCTL;
}

static Rig rig_make(PvrdmaTest *t)
{
    Rig r = { .pd = pvrdma_pd_create(t, 0) };
    const PvrdmaTestQpAttr attr = { .dest_qpn = 0x77, .retry_cnt = 1 };

    r.mr = pvrdma_mr_create(t, r.pd, 0x1000, 0x2000, PVRDMA_TEST_ACCESS_ALL);
    r.cq = pvrdma_cq_create(t, 0, 0, 16);
    r.srq = pvrdma_srq_create(t, r.pd, 0, 8, 1);
    r.qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = r.pd, .send_cq = &r.cq,
    });
    pvrdma_qp_connect(t, &r.qp, &attr);
    for (unsigned i = 0; i < ARRAY_SIZE(r.bar); i++) {
        r.bar[i] = qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * i);
    }
    return r;
}

/*
 * Asserts that the device was reset, that no frame is sent later, and that it works
 * again.
 */
static void assert_reset(PvrdmaTest *t, const Rig *r)
{
    pvrdma_wait(t, !qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 +
                                      4 * PVRDMA_BAR_REGS));
    t->msix = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(r->bar); i++) {
        qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * i, r->bar[i]);
    }
    qpci_device_enable(t->dev);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, 0);
    g_assert_cmpuint(pvrdma_counter(t, "cmd"), ==, 0);
    pvrdma_settle(t);
    g_queue_clear_full(&t->frames, g_free);
    pvrdma_step(t, 60 * PVRDMA_SECOND);
    pvrdma_assert_quiet(t);
    pvrdma_msix_enable(t);
    pvrdma_bring_up(t);
    pvrdma_pd_create(t, 0);
}

/* --- Interrupts ----------------------------------------------------------- */

/* Raises the interrupt of a command's response. */
static void raise_response(PvrdmaTest *t, const Rig *r)
{
    union pvrdma_cmd_req req = {
        .query_port.hdr.cmd = cpu_to_le32(PVRDMA_CMD_QUERY_PORT),
        .query_port.port_num = 1,
    };

    qtest_bufwrite(t->qts, t->cmd_slot, &req, sizeof(req));
    pvrdma_set(t, PVRDMA_REG_REQUEST, 0);
}

/* Raises the interrupt of an event, by a command. */
static void raise_event(PvrdmaTest *t, const Rig *r)
{
    union pvrdma_cmd_req req = {
        .modify_srq = {
            .hdr.cmd = cpu_to_le32(PVRDMA_CMD_MODIFY_SRQ),
            .srq_handle = cpu_to_le32(r->srq.handle),
            .attr_mask = cpu_to_le32(PVRDMA_SRQ_LIMIT),
            .attrs.srq_limit = cpu_to_le32(1),
        },
    };

    qtest_bufwrite(t->qts, t->cmd_slot, &req, sizeof(req));
    pvrdma_set(t, PVRDMA_REG_REQUEST, 0);
}

/* Raises the interrupt of a completion, by a doorbell: the WQE is invalid. */
static void raise_doorbell(PvrdmaTest *t, const Rig *r)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_ERROR);

    pvrdma_cq_arm(t, &r->cq, PVRDMA_UAR_CQ_ARM);
    pvrdma_post_send(t, &r->qp, &hdr, NULL, 0);
}

/* Raises the interrupt of a completion, by the first of four packets. */
static void raise_packet(PvrdmaTest *t, const Rig *r)
{
    const PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, 64);
    const RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
        .qpn = r->qp.qpn, .ack_req = true,
    };

    for (unsigned i = 0; i < 4; i++) {
        pvrdma_post_recv(t, &r->qp, i, &sge, 1);
    }
    pvrdma_cq_arm(t, &r->cq, PVRDMA_UAR_CQ_ARM);
    for (unsigned i = 0; i < 4; i++) {
        pkt.psn = i;
        pvrdma_wire_send(t, &path, &pkt, "reset", 5);
    }
}

/* Raises the interrupt of completions, by timeouts, because the peer never answers. */
static void raise_timer(PvrdmaTest *t, const Rig *r)
{
    const PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, 0x2000);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);

    pvrdma_cq_arm(t, &r->cq, PVRDMA_UAR_CQ_ARM);
    for (unsigned i = 0; i < 4; i++) {
        pvrdma_post_send(t, &r->qp, &hdr, &sge, 1);
    }
    pvrdma_step(t, 2 * PVRDMA_SECOND);
    pvrdma_step(t, 2 * PVRDMA_SECOND);
    pvrdma_step(t, 2 * PVRDMA_SECOND);
}

static void check_irq(unsigned vector,
                      void (*raise)(PvrdmaTest *t, const Rig *r))
{
    PvrdmaTest *t = pvrdma_start("");
    Rig r = rig_make(t);

    t->guest_errors = true;             /* some of @raise are guest errors */
    machine_msix_aim(t->dev, vector, flr_at(t), PCI_EXP_DEVCTL_BCR_FLR);
    raise(t, &r);
    assert_reset(t, &r);
    /* a guest error in any case, because pvrdma_stop() expects one */
    pvrdma_doorbell(t, 0, PVRDMA_UAR_SRQ_OFFSET + 4, 0);
    pvrdma_stop(t);
}

static void test_response(void)
{
    check_irq(PVRDMA_INTR_VECTOR_RESPONSE, raise_response);
}

static void test_event(void)
{
    check_irq(PVRDMA_INTR_VECTOR_ASYNC, raise_event);
}

static void test_doorbell(void)
{
    check_irq(PVRDMA_INTR_VECTOR_CQ, raise_doorbell);
}

static void test_packet(void)
{
    check_irq(PVRDMA_INTR_VECTOR_CQ, raise_packet);
}

static void test_timer(void)
{
    check_irq(PVRDMA_INTR_VECTOR_CQ, raise_timer);
}

/*
 * A message rings the doorbell of a second QP, whose completion sends the next message:
 * both completions notify.
 */
static void test_chain(void)
{
    PvrdmaTest *t = pvrdma_start("");
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_ERROR);
    Rig r = rig_make(t);
    PvrdmaTestQpAttr attr = { .dest_qpn = 0x78 };
    PvrdmaTestCq cq = pvrdma_cq_create(t, 0, 0, 16);
    PvrdmaTestQp qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = r.pd, .send_cq = &cq,
    });

    t->guest_errors = true;
    pvrdma_qp_connect(t, &qp, &attr);
    machine_msix_aim(t->dev, PVRDMA_INTR_VECTOR_CQ,
                     t->uar.addr + PVRDMA_UAR_QP_OFFSET,
                     PVRDMA_UAR_QP_SEND | qp.handle);
    /* the WQE is stored, but the doorbell not rung */
    qtest_bufwrite(t->qts, qp.sq.at, &hdr, sizeof(hdr));
    qtest_writel(t->qts, qp.sq.ring + offsetof(struct pvrdma_ring, prod_tail), 1);
    pvrdma_cq_arm(t, &cq, PVRDMA_UAR_CQ_ARM);
    raise_doorbell(t, &r);
    pvrdma_cq_expect(t, &r.cq, 1, PVRDMA_WC_LOC_QP_OP_ERR);
    pvrdma_cq_expect(t, &cq, 1, PVRDMA_WC_LOC_QP_OP_ERR);
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, r.cq.handle);
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, cq.handle);
    pvrdma_stop(t);
}

/* --- Another NIC ----------------------------------------------------------- */
/*
 * e1000 stores the device's frames to the device's own registers, which must refuse
 * them.
 */
static void test_another_nic(void)
{
    PvrdmaTest *t = pvrdma_start_hub(PVRDMA_TEST_E1000);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);
    Rig r = rig_make(t);
    const PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r.mr, 0, 256);

    pvrdma_nic_receive(t, t->regs.addr);
    t->guest_errors = true;
    for (unsigned i = 0; i < 4; i++) {
        pvrdma_post_send(t, &r.qp, &hdr, &sge, 1);
        g_free(pvrdma_wire_expect(t, ROCE_OP_SEND_ONLY, 0x77, i));
    }
    g_assert_cmpuint(pvrdma_counter(t, "guest-error"), >=, 4);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, (uint32_t)t->dsr);
    g_assert_cmpuint(pvrdma_qp_state(t, &r.qp), ==, PVRDMA_QPS_RTS);
    pvrdma_stop(t);
}

/* --- Memory ---------------------------------------------------------------- */

/*
 * Checks that commands fail when the response slot, and then both slots, are at the
 * address of @where.
 */
static void check_target(uint64_t (*where)(PvrdmaTest *t))
{
    PvrdmaTest *t = pvrdma_start_cold("");
    union pvrdma_cmd_req req = { 0 };
    uint64_t at, target;

    target = where(t);
    pvrdma_dsr_make(t);
    at = t->dsr + offsetof(struct pvrdma_device_shared_region, resp_slot_dma);
    qtest_writeq(t->qts, at, target);
    g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_command(t, PVRDMA_CMD_CREATE_PD, &req, NULL), ==,
                        EFAULT));
    at = t->dsr + offsetof(struct pvrdma_device_shared_region, cmd_slot_dma);
    qtest_writeq(t->qts, at, target);
    g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    pvrdma_command_fails(t, PVRDMA_CMD_CREATE_PD, &req, EFAULT);
    /* the device still has its region, so it was not reset */
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, (uint32_t)t->dsr);
    pvrdma_stop(t);
}

static uint64_t at_registers(PvrdmaTest *t)
{
    return t->regs.addr;
}

static uint64_t at_doorbells(PvrdmaTest *t)
{
    return t->uar.addr;
}

static void test_registers(void)
{
    check_target(at_registers);
}

static void test_doorbells(void)
{
    check_target(at_doorbells);
}

static void test_configuration(void)
{
    check_target(flr_at);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/device/reentry-response", test_response);
    qtest_add_func("/pvrdma/device/reentry-event", test_event);
    qtest_add_func("/pvrdma/device/reentry-doorbell", test_doorbell);
    qtest_add_func("/pvrdma/device/reentry-packet", test_packet);
    qtest_add_func("/pvrdma/device/reentry-timer", test_timer);
    qtest_add_func("/pvrdma/device/reentry-chain", test_chain);
    qtest_add_func("/pvrdma/device/reentry-another-nic", test_another_nic);
    qtest_add_func("/pvrdma/device/reentry-registers", test_registers);
    qtest_add_func("/pvrdma/device/reentry-doorbells", test_doorbells);
    qtest_add_func("/pvrdma/device/reentry-configuration", test_configuration);
    return g_test_run();
}
