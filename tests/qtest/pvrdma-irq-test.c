/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several causes of interrupts at once, each subset of them, and one message that ends
 * the device: it takes the power of the slot, or resets the function.  Messages before it
 * leave, those behind it do not, and QEMU runs on.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "machine.h"
#include "pvrdma-verbs.h"

#define OFF (PCI_EXP_SLTCTL_PWR_OFF | PCI_EXP_SLTCTL_PWR_IND_OFF)
#define CAUSES(mask, vector) ((mask) & PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_##vector))

/* The register at @offset of the PCI Express capability of @devfn, in memory. */
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

/* A WQE that cannot be done, whose completion is asked for. */
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

/* An SRQ that has less than its limit. */
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

/* All causes of @mask, and no others, are there and masked. */
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
        /* the lowest cause is taken first */
        g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==,
                        PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_RESPONSE));
    }
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        pvrdma_msix_taken(t, v);        /* of what made the objects */
    }
}

/* Unmasks @mask; the message of @vector ends the device by writing @data to @at. */
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

/* Nothing is left of the messages that did not leave, and the device works again. */
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

/* Each subset of the causes, and each of its messages as the one that ends the device. */
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
    qtest_add_func("/pvrdma/irq/power", test_power);
    qtest_add_func("/pvrdma/irq/reset", test_reset);
    return g_test_run();
}
