/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest switches the power of pvrdma's slot off by a message or frame of the device
 * itself: the device is removed in the middle of its work, and QEMU continues.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "../common/machine.h"
#include "verbs.h"

#define OFF (PCI_EXP_SLTCTL_PWR_OFF | PCI_EXP_SLTCTL_PWR_IND_OFF)

/* Returns the address where a write of OFF switches the power off. */
static uint64_t power_at(PvrdmaTest *t)
{
    QPCIDevice *port = qpci_device_find(t->bus, PVRDMA_TEST_PORT);
    uint8_t cap = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);

    g_free(port);
    return pvrdma_ecam(t, PVRDMA_TEST_PORT) + cap + PCI_EXP_SLTCTL;
}

/* Returns true if both functions are removed, and not only without power. */
static bool is_gone(PvrdmaTest *t)
{
    g_autofree char *tree = qtest_hmp(t->qts, "info qtree");

    return !strstr(tree, "dev: pvrdma") && !strstr(tree, "dev: vmxnet3");
}

/* Asserts that both functions are removed, and that QEMU continues after that. */
static void assert_gone(PvrdmaTest *t)
{
    pvrdma_wait(t, is_gone(t));
    pvrdma_settle(t);
    pvrdma_step(t, 60 * PVRDMA_SECOND);
    g_queue_clear_full(&t->frames, g_free);
    pvrdma_stop(t);
}

/* The message of a command's response switches the power off. */
static void test_command(void)
{
    PvrdmaTest *t = pvrdma_start_port(PVRDMA_TEST_E1000);
    union pvrdma_cmd_req req = {
        .query_port.hdr.cmd = cpu_to_le32(PVRDMA_CMD_QUERY_PORT),
        .query_port.port_num = 1,
    };

    machine_msix_aim(t->dev, PVRDMA_INTR_VECTOR_RESPONSE, power_at(t), OFF);
    qtest_bufwrite(t->qts, t->cmd_slot, &req, sizeof(req));
    pvrdma_set(t, PVRDMA_REG_REQUEST, 0);
    assert_gone(t);
}

static PvrdmaTestQp qp_make(PvrdmaTest *t, PvrdmaTestCq *cq, PvrdmaTestMr *mr,
                            const PvrdmaTestQpAttr *attr)
{
    uint32_t pd = pvrdma_pd_create(t, 0);
    PvrdmaTestQp qp;

    *mr = pvrdma_mr_create(t, pd, 0x1000, 0x2000, PVRDMA_TEST_ACCESS_ALL);
    *cq = pvrdma_cq_create(t, 0, 0, 16);
    qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) { .pd = pd, .send_cq = cq });
    pvrdma_qp_connect(t, &qp, attr);
    return qp;
}

/*
 * The message of a completion switches the power off, with the registers unmapped, so
 * that no access holds a reference to the device.
 */
static void test_completion(void)
{
    PvrdmaTest *t = pvrdma_start_port(PVRDMA_TEST_E1000);
    const PvrdmaTestQpAttr attr = { .dest_qpn = 0x77 };
    const RocePath path = pvrdma_path(false, false);
    PvrdmaTestMr mr;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp = qp_make(t, &cq, &mr, &attr);
    RocePacket pkt = {
        .opcode = ROCE_OP_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT, .qpn = qp.qpn,
    };

    for (unsigned i = 0; i < 4; i++) {
        pvrdma_post_recv(t, &qp, i, &PVRDMA_TEST_SGE(&mr, 0, 64), 1);
    }
    pvrdma_cq_arm(t, &cq, PVRDMA_UAR_CQ_ARM);
    machine_msix_aim(t->dev, PVRDMA_INTR_VECTOR_CQ, power_at(t), OFF);
    qpci_config_writew(t->dev, PCI_COMMAND, PCI_COMMAND_MASTER);
    for (unsigned i = 0; i < 4; i++) {
        pkt.psn = i;
        pkt.ack_req = i == 3;
        pvrdma_wire_send(t, &path, &pkt, "power", 5);
    }
    assert_gone(t);
}

/*
 * Checks that the first bytes of a frame switch the power off, before the frames behind
 * it.  @delayed: of a retransmission after a timeout, not in the doorbell.
 */
static void check_frame(bool delayed)
{
    PvrdmaTest *t = pvrdma_start_port(PVRDMA_TEST_E1000);
    const uint8_t dmac[6] = { OFF & 0xff, OFF >> 8 };
    const PvrdmaTestQpAttr attr = { .dest_qpn = 0x77, .dmac = dmac };
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);
    uint64_t power = power_at(t);
    PvrdmaTestMr mr;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp = qp_make(t, &cq, &mr, &attr);

    /* the device cannot read the memory of the other frames any more */
    t->guest_errors = true;
    if (delayed) {
        pvrdma_post_send(t, &qp, &hdr, &PVRDMA_TEST_SGE(&mr, 0, 0x2000), 1);
        pvrdma_nic_receive(t, power);
        pvrdma_step(t, 2 * PVRDMA_SECOND);
    } else {
        pvrdma_nic_receive(t, power);
        pvrdma_post_send(t, &qp, &hdr, &PVRDMA_TEST_SGE(&mr, 0, 0x2000), 1);
    }
    assert_gone(t);
}

static void test_frame(void)
{
    check_frame(false);
}

static void test_retry(void)
{
    check_frame(true);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/device/unplug-command", test_command);
    qtest_add_func("/pvrdma/device/unplug-completion", test_completion);
    qtest_add_func("/pvrdma/device/unplug-frame", test_frame);
    qtest_add_func("/pvrdma/device/unplug-retry", test_retry);
    return g_test_run();
}
