/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several interrupt causes are pending at once, in each subset, and one message ends
 * the device: it switches the slot's power off, or resets the function.  The device
 * sends the messages before this one, but none behind it; QEMU continues.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "../common/machine.h"
#include "verbs.h"

#define OFF (PCI_EXP_SLTCTL_PWR_OFF | PCI_EXP_SLTCTL_PWR_IND_OFF)
#define CAUSES(mask, vector) ((mask) & PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_##vector))

/* Returns the address of the register at @offset of @devfn's PCI Express capability. */
static uint64_t express_at(PvrdmaTest *t, int devfn, unsigned offset)
{
    QPCIDevice *dev = qpci_device_find(t->bus, devfn);
    uint8_t cap = qpci_find_capability(dev, PCI_CAP_ID_EXP, 0);

    g_free(dev);
    return pvrdma_ecam(t, devfn) + cap + offset;
}

static void command(PvrdmaTest *t, const union pvrdma_cmd_req *req)
{
    qtest_bufwrite(t->qts, t->cmd_slot, req, sizeof(*req));
    pvrdma_set(t, PVRDMA_REG_REQUEST, 0);
    g_assert_cmpuint(pvrdma_get(t, PVRDMA_REG_ERR), ==, 0);
}

/* Posts an invalid WQE to a QP with an armed CQ, to raise the cause of a completion. */
static void cause_cq(PvrdmaTest *t, uint32_t pd)
{
    const PvrdmaTestCq cq = pvrdma_cq_create(t, 0, 0, 16);
    const PvrdmaTestQp qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &cq,
    });
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_ERROR);

    pvrdma_qp_connect(t, &qp, &(PvrdmaTestQpAttr) { .dest_qpn = 0x77 });
    pvrdma_set(t, PVRDMA_REG_IMR, PVRDMA_INTR_ALL);
    pvrdma_cq_arm(t, &cq, PVRDMA_UAR_CQ_ARM);
    pvrdma_post_send(t, &qp, &hdr, NULL, 0);
}

/* Sets the limit of an empty SRQ, to raise the cause of an asynchronous event. */
static void cause_async(PvrdmaTest *t, uint32_t srq)
{
    const union pvrdma_cmd_req req = {
        .modify_srq = {
            .hdr.cmd = cpu_to_le32(PVRDMA_CMD_MODIFY_SRQ),
            .srq_handle = cpu_to_le32(srq),
            .attr_mask = cpu_to_le32(PVRDMA_SRQ_LIMIT),
            .attrs.srq_limit = cpu_to_le32(1),
        },
    };

    command(t, &req);
}

/* Makes exactly the causes of @mask pending and masked. */
static void causes_make(PvrdmaTest *t, uint32_t mask)
{
    const union pvrdma_cmd_req query = {
        .query_port.hdr.cmd = cpu_to_le32(PVRDMA_CMD_QUERY_PORT),
        .query_port.port_num = 1,
    };
    uint32_t pd = pvrdma_pd_create(t, 0);
    uint32_t srq = pvrdma_srq_create(t, pd, 0, 8, 1).handle;

    if (CAUSES(mask, CQ)) {
        t->guest_errors = true;
        cause_cq(t, pd);
    }
    pvrdma_set(t, PVRDMA_REG_IMR, PVRDMA_INTR_ALL);
    if (CAUSES(mask, ASYNC)) {
        cause_async(t, srq);
    }
    command(t, &query);
    pvrdma_settle(t);
    if (!CAUSES(mask, RESPONSE)) {
        /* ICR gives RESPONSE alone first, because RESPONSE is the lowest cause */
        g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==,
                        PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_RESPONSE));
    }
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        pvrdma_msix_taken(t, v); /* drops messages from the creation of the objects */
    }
}

/*
 * Unmasks the causes of @mask; the message of @vector ends the device, because it
 * writes @data to @at.
 */
static void causes_go(PvrdmaTest *t, uint32_t mask, unsigned vector, uint64_t at,
                      uint32_t data)
{
    causes_make(t, mask);
    machine_msix_aim(t->dev, vector, at, data);
    pvrdma_set(t, PVRDMA_REG_IMR, 0);
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        bool before = v < vector && mask & PVRDMA_INTR_CAUSE(v);

        g_assert_cmpint(pvrdma_msix_taken(t, v), ==, before);
    }
}

static bool is_gone(PvrdmaTest *t)
{
    g_autofree char *tree = qtest_hmp(t->qts, "info qtree");

    return !strstr(tree, "dev: pvrdma") && !strstr(tree, "dev: vmxnet3");
}

static void check_power(uint32_t mask, unsigned vector)
{
    PvrdmaTest *t = pvrdma_start_port(PVRDMA_TEST_E1000);

    causes_go(t, mask, vector,
              express_at(t, PVRDMA_TEST_PORT, PCI_EXP_SLTCTL), OFF);
    pvrdma_wait(t, is_gone(t));
    pvrdma_settle(t);
    pvrdma_step(t, 60 * PVRDMA_SECOND);
    pvrdma_stop(t);
}

/* Asserts that a reset drops the unsent messages, and that the device works again. */
static void check_reset(uint32_t mask, unsigned vector)
{
    PvrdmaTest *t = pvrdma_start("");
    uint32_t bar[6];

    for (unsigned i = 0; i < ARRAY_SIZE(bar); i++) {
        bar[i] = qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * i);
    }
    causes_go(t, mask, vector,
              express_at(t, t->dev->devfn, PCI_EXP_DEVCTL),
              PCI_EXP_DEVCTL_BCR_FLR);
    g_assert_cmphex(qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 +
                                      4 * PVRDMA_BAR_REGS), ==, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(bar); i++) {
        qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * i, bar[i]);
    }
    qpci_device_enable(t->dev);
    g_assert_cmphex(qpci_io_readl(t->dev, t->dev->msix_pba_bar,
                                  t->dev->msix_pba_off), ==, 0);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==, 0);
    t->msix = 0;
    pvrdma_msix_enable(t);
    pvrdma_bring_up(t);
    pvrdma_pd_create(t, 0);
    pvrdma_stop(t);
}

/*
 * Checks each subset of the causes, with each of its messages as the one that ends the
 * device.
 */
static void check_subsets(void (*check)(uint32_t mask, unsigned vector))
{
    for (uint32_t mask = 1; mask <= PVRDMA_INTR_ALL; mask++) {
        for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
            if (mask & PVRDMA_INTR_CAUSE(v)) {
                check(mask, v);
            }
        }
    }
}

static void test_power(void)
{
    check_subsets(check_power);
}

static void test_reset(void)
{
    check_subsets(check_reset);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/event/irq-power", test_power);
    qtest_add_func("/pvrdma/event/irq-reset", test_reset);
    return g_test_run();
}
