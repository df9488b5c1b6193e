/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI shell: errors of the user on the command line, help, buses, hot plug, and two
 * devices in one machine.
 */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "device.h"
#include "../common/machine.h"
#include "../common/migrate.h"

static void test_bad_properties(void)
{
    static const struct { const char *device, *message; } bad[] = {
        { "exanet-pci", "link0" },
        { "exanet-pci,coord=1", "link0" },
        { "exanet-pci,link0=nothing", "nothing" },
        { "exanet-pci,link0=wire,coord=0x400000", "coord" },
        { "exanet-pci,link0=wire,coord=-1", "coord" },
        { "exanet-pci,link0=wire,coord=here", "coord" },
        { "exanet-pci,link0=wire,peer0=0x400000", "'peer0' must be at most" },
        { "exanet-pci,link0=wire,peer1=1", "'peer1' needs a netdev 'link1'" },
        { "exanet-pci,link0=wire,coord=3,peer0=3", "'peer0' is 0x3, as" },
        { "exanet-pci,link0=wire,dims=", "dims" },
        { "exanet-pci,link0=wire,dims=17", "dims" },
        { "exanet-pci,link0=wire,dims=4x4x4x4", "dims" },
        { "exanet-pci,link0=wire,router=tree", "torus, arithmetic or table" },
        { "exanet-pci,link0=wire,router=table", "routes" },
        { "exanet-pci,link0=wire,routes=1>0", "rule 1, '1>0'" },
        { "exanet-pci,link0=wire,routes=0/0>12", "links, 0 to 11" },
        { "exanet-pci,link0=wire,routes=1/1>0;0/0>0+1",
          "rule 2 names link1, which has no netdev" },
        { "exanet-pci,link0=wire,ways=0", "ways" },
        { "exanet-pci,link0=wire,ways=3", "ways" },
        { "exanet-pci,link0=wire,ways=32", "ways" },
        { "exanet-pci,link0=wire,user-page-shift=13", "user-page-shift" },
        { "exanet-pci,link0=wire,user-page-shift=300", "user-page-shift" },
        { "exanet-pci,link0=wire,rx-fifo-words=255", "rx-fifo-words" },
        { "exanet-pci,link0=wire,rx-fifo-words=65536", "rx-fifo-words" },
        { "exanet-pci,link0=wire,tlb-entries=100", "tlb-entries" },
        { "exanet-pci,link0=wire,tlb-entries=0", "tlb-entries" },
        { "exanet-pci,link0=wire,epoch=256", "epoch" },
        { "exanet-pci,link0=wire,faults0=lose=1%", "lose=1%" },
        { "exanet-pci,link0=wire,faults3=drop=1%", "faults3" },
        { "exanet-pci,link0=wire,colour=red", "colour" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *err = NULL;
        g_autofree char *args = g_strconcat("-device ", bad[i].device, NULL);
        int code = machine_run(args, NULL, &err);

        g_test_message("%s: %s", bad[i].device, err);
        g_assert_cmpint(code, ==, 1);
        g_assert_nonnull(strstr(err, bad[i].message));
        g_assert_cmpuint(strlen(err), <, 400);
    }
}

/* One device has the same netdev twice. */
static void test_netdev_taken(void)
{
    QTestState *qts = qtest_init("-machine q35 -nodefaults "
                                 "-netdev hubport,hubid=0,id=wire "
                                 "-device exanet-pci,link0=wire,coord=1 "
                                 "-device pcie-root-port,id=rp0");
    QDict *error;

    error = qtest_qmp_assert_failure_ref(qts, "{ 'execute': 'device_add', "
        "'arguments': { 'driver': 'exanet-pci', 'link0': 'wire', 'coord': 2, "
        "'bus': 'rp0' } }");
    g_assert_nonnull(strstr(qdict_get_str(error, "desc"), "wire"));
    qobject_unref(error);
    qtest_quit(qts);
}

static void test_help(void)
{
    static const char *const properties[] = {
        "coord", "link0", "ways", "rx-fifo-words", "link-timeout-ms",
        "link-stall-ms", "tlb-entries", "user-page-shift", "epoch",
    };
    g_autofree char *out = NULL;

    g_assert_cmpint(machine_run("-device exanet-pci,help", &out, NULL), ==, 0);
    machine_assert_described(out, properties, ARRAY_SIZE(properties));
}

static void test_device_list(void)
{
    g_autofree char *out = NULL, *err = NULL;
    char *found;

    g_assert_cmpint(machine_run("-device help", &out, &err), ==, 0);
    found = strstr(out, "\"exanet-pci\"");
    g_assert_nonnull(found);
    g_assert_nonnull(strstr(found, "desc"));
    g_assert_true(strstr(found, "migrat") < strchr(found, '\n'));
}

/* QEMU refuses to migrate the device, with a reason. */
static void test_migration(void)
{
    ExanetTest *t = exanet_start("");
    g_autofree char *reason = migrate_save_refused(t->qts);

    g_assert_nonnull(strstr(reason, "exanet"));
    exanet_stop(t);
}

/* On a bus without PCI Express the device is a conventional PCI device. */
static void test_conventional(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults "
                                 "-netdev hubport,hubid=0,id=wire "
                                 "-device exanet-pci,link0=wire,coord=1");
    g_autofree char *info = qtest_hmp(qts, "info pci");

    g_assert_nonnull(strstr(info, "1234:e4a7"));
    qtest_system_reset(qts);
    qtest_quit(qts);
}

/* Returns the number of devices whose counters query-stats returns. */
static unsigned counted(QTestState *qts)
{
    QDict *reply = qtest_qmp(qts, "{ 'execute': 'query-stats', 'arguments': { "
                             "'target': 'vm', 'providers': [ "
                             "{ 'provider': 'rnic', 'names': [ 'rx-write' ] } "
                             "] } }");
    unsigned n = qlist_size(qdict_get_qlist(reply, "return"));

    qobject_unref(reply);
    return n;
}

/* A device is plugged and unplugged three times, while another device stays. */
static void test_hotplug(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults "
                                 "-netdev hubport,hubid=0,id=a "
                                 "-netdev hubport,hubid=0,id=b "
                                 "-device exanet-pci,link0=a,coord=1,id=stays");

    for (unsigned i = 0; i < 3; i++) {
        qtest_qmp_device_add(qts, "exanet-pci", "comes",
                             "{ 'link0': 'b', 'coord': 2, 'addr': '6' }");
        qtest_clock_step(qts, 3000 * EXANET_MS);
        g_assert_cmpuint(counted(qts), ==, 2);
        qpci_unplug_acpi_device_test(qts, "comes", 6);
        qtest_clock_step(qts, 3000 * EXANET_MS);
        g_assert_cmpuint(counted(qts), ==, 1);
    }
    qtest_quit(qts);
}

static void test_system_reset(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(EXANET_TEST_PEER, 0x1000),
        .len = 1000000,
    };

    exanet_channel_start(t, 0, 0, &x);
    qtest_system_reset(t->qts);
    exanet_step(t, 1000 * EXANET_MS);
    exanet_pump(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    exanet_step(t, 60000 * EXANET_MS);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/pci/bad-properties", test_bad_properties);
    qtest_add_func("/exanet/pci/netdev-taken", test_netdev_taken);
    qtest_add_func("/exanet/pci/help", test_help);
    qtest_add_func("/exanet/pci/device-list", test_device_list);
    qtest_add_func("/exanet/pci/migration", test_migration);
    qtest_add_func("/exanet/pci/conventional", test_conventional);
    qtest_add_func("/exanet/pci/hotplug", test_hotplug);
    qtest_add_func("/exanet/pci/system-reset", test_system_reset);
    return g_test_run();
}
