/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pvrdma as a PCI device: ids and BARs, its place beside vmxnet3, wrong command lines,
 * help, resets by the bus.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "qobject/qdict.h"
#include "../common/machine.h"
#include "verbs.h"

#define NIC "-device vmxnet3,netdev=wire,addr=5.0,multifunction=on"

static void test_ids(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    static const struct {
        unsigned bar;
        uint32_t bits;
    } bars[] = {
        { PVRDMA_BAR_MSIX, PCI_BASE_ADDRESS_SPACE_MEMORY },
        { PVRDMA_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY },
        { PVRDMA_BAR_UAR, PCI_BASE_ADDRESS_SPACE_MEMORY |
                          PCI_BASE_ADDRESS_MEM_TYPE_64 },
    };

    g_assert_cmphex(qpci_config_readw(t->dev, PCI_VENDOR_ID), ==,
                    PVRDMA_PCI_VENDOR_ID);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_DEVICE_ID), ==,
                    PVRDMA_PCI_DEVICE_ID);
    g_assert_cmphex(qpci_config_readb(t->dev, PCI_REVISION_ID), ==,
                    PVRDMA_PCI_REVISION);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_CLASS_DEVICE), ==,
                    PVRDMA_PCI_CLASS);
    for (unsigned i = 0; i < ARRAY_SIZE(bars); i++) {
        uint32_t bar = qpci_config_readl(t->dev,
                                         PCI_BASE_ADDRESS_0 + 4 * bars[i].bar);

        g_assert_cmphex(bar & ~PCI_BASE_ADDRESS_MEM_MASK, ==, bars[i].bits);
    }
    g_assert_cmpuint(qpci_msix_table_size(t->dev), ==, PVRDMA_INTR_VECTORS);
    pvrdma_stop(t);
}

/* For each wrong command line QEMU exits with one short message. */
static void test_bad_command_lines(void)
{
    static const struct { const char *args, *message; } bad[] = {
        { "-device pvrdma", "function 1 of a slot" },
        { "-device pvrdma,addr=5.0", "function 1 of a slot" },
        { "-device pvrdma,addr=5.1", "function 1 of a slot" },
        { "-device vmxnet3,netdev=wire,addr=6 -device pvrdma,addr=5.1",
          "function 1 of a slot" },
        { "-device e1000e,netdev=wire,addr=5.0,multifunction=on "
          "-device pvrdma,addr=5.1", "function 0 is a vmxnet3" },
        { "-device vmxnet3,addr=5.0,multifunction=on -device pvrdma,addr=5.1",
          "no netdev" },
        { NIC " -device pvrdma,addr=5.1,mtu=0", "mtu" },
        { NIC " -device pvrdma,addr=5.1,mtu=128", "mtu" },
        { NIC " -device pvrdma,addr=5.1,mtu=1500", "mtu" },
        { NIC " -device pvrdma,addr=5.1,mtu=8192", "mtu" },
        { NIC " -device pvrdma,addr=5.1,version=16", "version" },
        { NIC " -device pvrdma,addr=5.1,version=21", "version" },
        { NIC " -device pvrdma,addr=5.1,version=17", "roce=v1" },
        { NIC " -device pvrdma,addr=5.1,roce=v3", "roce" },
        { NIC " -device pvrdma,addr=5.1,roce=", "roce" },
        { NIC " -device pvrdma,addr=5.1,colour=red", "colour" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *err = NULL;
        int code = machine_run(bad[i].args, NULL, &err);

        g_test_message("%s: %s", bad[i].args, err);
        g_assert_cmpint(code, ==, 1);
        g_assert_nonnull(strstr(err, bad[i].message));
        g_assert_cmpuint(strlen(err), <, 400);
    }
}

static void test_help(void)
{
    static const char *const properties[] = {
        "mtu", "version", "roce", "ack-delay-us", "dcqcn",
    };
    g_autofree char *out = NULL;
    g_autofree char *list = NULL;

    g_assert_cmpint(machine_run("-device pvrdma,help", &out, NULL), ==, 0);
    machine_assert_described(out, properties, ARRAY_SIZE(properties));
    g_assert_cmpint(machine_run("-device help", &list, NULL), ==, 0);
    g_assert_nonnull(strstr(list, "\"pvrdma\""));
}

/* pvrdma can be any function but 0, and each slot can have one. */
static void test_two_devices(void)
{
    QTestState *qts = qtest_init("-machine q35 -nodefaults "
        "-netdev hubport,hubid=0,id=wire -netdev hubport,hubid=1,id=other " NIC
        " -device pvrdma,addr=5.1 "
        "-device vmxnet3,netdev=other,addr=6.0,multifunction=on "
        "-device pvrdma,addr=6.7,roce=v1,mtu=256,dcqcn=on");
    g_autofree char *info = qtest_hmp(qts, "info pci");
    char *first = strstr(info, "15ad:0820");

    g_assert_nonnull(first);
    g_assert_nonnull(strstr(first + 1, "15ad:0820"));
    qtest_system_reset(qts);
    qtest_quit(qts);
}

/* The device starts on a conventional PCI bus, too. */
static void test_conventional(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults "
        "-netdev hubport,hubid=0,id=wire " NIC " -device pvrdma,addr=5.1");
    g_autofree char *info = qtest_hmp(qts, "info pci");

    g_assert_nonnull(strstr(info, "15ad:0820"));
    qtest_system_reset(qts);
    qtest_quit(qts);
}

/* The device starts behind a root port, where it is a PCI Express endpoint. */
static void test_root_port(void)
{
    QTestState *qts = qtest_init("-machine q35 -nodefaults "
        "-netdev hubport,hubid=0,id=wire -device pcie-root-port,id=rp "
        "-device vmxnet3,netdev=wire,bus=rp,addr=0.0,multifunction=on "
        "-device pvrdma,bus=rp,addr=0.1");
    g_autofree char *info = qtest_hmp(qts, "info qtree");

    g_assert_nonnull(strstr(info, "dev: pvrdma"));
    qtest_system_reset(qts);
    qtest_quit(qts);
}

/* pvrdma cannot be hot-plugged, because its NIC must be there before. */
static void test_hot_plug(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults "
        "-netdev hubport,hubid=0,id=wire " NIC);
    QDict *error;

    error = qtest_qmp_assert_failure_ref(qts, "{ 'execute': 'device_add', "
        "'arguments': { 'driver': 'pvrdma', 'addr': '5.1' } }");
    g_assert_nonnull(strstr(qdict_get_str(error, "desc"), "hotplug"));
    qobject_unref(error);
    qtest_quit(qts);
}

/*
 * Resets a device by @reset while a QP sends; asserts that it sends no more, and that
 * it can be brought up again.
 */
static void reset_busy(void (*reset)(PvrdmaTest *t))
{
    PvrdmaTest *t = pvrdma_start("");
    uint32_t pd = pvrdma_pd_create(t, 0);
    PvrdmaTestMr mr = pvrdma_mr_create(t, pd, 0x1000, 0x100000, 0);
    PvrdmaTestCq cq = pvrdma_cq_create(t, 0, 0, 16);
    PvrdmaTestQp qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &cq,
    });
    const PvrdmaTestQpAttr attr = { .dest_qpn = 0x77, .sq_psn = 5 };
    const PvrdmaTestSge sge = PVRDMA_TEST_SGE(&mr, 0, 0x100000);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);

    pvrdma_qp_connect(t, &qp, &attr);
    pvrdma_post_send(t, &qp, &hdr, &sge, 1);
    g_free(pvrdma_wire_expect(t, ROCE_OP_SEND_FIRST, 0x77, 5));
    reset(t);
    pvrdma_settle(t);
    g_queue_clear_full(&t->frames, g_free);
    pvrdma_step(t, 60 * PVRDMA_SECOND);
    pvrdma_assert_quiet(t);
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, 0);
    pvrdma_bring_up(t);
    pvrdma_pd_create(t, 0);
    pvrdma_stop(t);
}

static void machine_reset(PvrdmaTest *t)
{
    qtest_system_reset(t->qts);
    t->msix = 0;
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, PVRDMA_BAR_REGS, NULL);
    t->uar = qpci_iomap(t->dev, PVRDMA_BAR_UAR, NULL);
}

static void function_reset(PvrdmaTest *t)
{
    uint8_t cap = qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);
    uint32_t bar[6];

    g_assert_cmpuint(cap, !=, 0);
    g_assert_cmphex(qpci_config_readl(t->dev, cap + PCI_EXP_DEVCAP) &
                    PCI_EXP_DEVCAP_FLR, !=, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(bar); i++) {
        bar[i] = qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * i);
    }
    qpci_config_writew(t->dev, cap + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
    for (unsigned i = 0; i < ARRAY_SIZE(bar); i++) {
        qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * i, bar[i]);
    }
    t->msix = 0;
    qpci_device_enable(t->dev);
}

static void test_machine_reset(void)
{
    reset_busy(machine_reset);
}

static void test_function_reset(void)
{
    reset_busy(function_reset);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/pci/ids", test_ids);
    qtest_add_func("/pvrdma/pci/bad-command-lines", test_bad_command_lines);
    qtest_add_func("/pvrdma/pci/help", test_help);
    qtest_add_func("/pvrdma/pci/two-devices", test_two_devices);
    qtest_add_func("/pvrdma/pci/conventional", test_conventional);
    qtest_add_func("/pvrdma/pci/root-port", test_root_port);
    qtest_add_func("/pvrdma/pci/hot-plug", test_hot_plug);
    qtest_add_func("/pvrdma/pci/machine-reset", test_machine_reset);
    qtest_add_func("/pvrdma/pci/function-reset", test_function_reset);
    return g_test_run();
}
