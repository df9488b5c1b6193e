/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fat-trees and dragonflies by tables, and a small tree by arithmetic: all nodes send
 * to all nodes, nothing is lost or dropped, and two paths carry more than one.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "traffic.h"

/* Limits of virtual time, see network-test.c. */
#define LIMIT (2000 * EXANET_MS)
#define RATE_KBPS 20000
#define RATE ",link-rate-kbps=20000,link-stall-ms=0"
#define RATE_LIMIT (100000 * EXANET_MS)
#define RATE_TIMEOUT_NS (1500 * EXANET_MS)

static void assert_lossless(ExanetNetwork *f)
{
    exanet_network_settle(f);
    if (exanet_network_total(f, RETRY_TIMEOUT) ||
        exanet_network_total(f, DROP_SOURCE)) {
        exanet_network_dump(f);
    }
    g_assert_cmpuint(exanet_network_total(f, RETRY_TIMEOUT), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, MSG_RETRY), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_NO_ROUTE), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_SOURCE), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_TTL), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_MALFORMED), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_DISABLED), ==, 0);
}

static void finish(ExanetTraffic *tr)
{
    ExanetNetwork *f = tr->f;

    assert_lossless(f);
    exanet_traffic_free(tr);
    exanet_network_stop(f);
}

static void check_all_to_all(ExanetTopology topo, const char *props)
{
    ExanetNetwork *f = exanet_network_start(&topo, props);
    ExanetTraffic *tr = exanet_traffic_new(f, 11);

    for (unsigned wave = 0; wave < 3; wave++) {
        exanet_traffic_all_to_all(tr, 128 * KiB);
        exanet_traffic_run(tr, 20000, LIMIT);
        exanet_traffic_check(tr);
    }
    for (unsigned n = 0; n < topo.nodes; n++) {
        if (topo.passes[n]) {
            g_assert_cmpuint(f->count[n][EXANET_CNT_FORWARDED], >, 0);
        }
    }
    g_assert_cmpuint(exanet_network_total(f, FORWARDED), >, 0);
    finish(tr);
}

static void test_fat_tree(void)
{
    check_all_to_all(exanet_topology_fat_tree(2, 2, 2), "");
}

static void test_fat_tree_three(void)
{
    check_all_to_all(exanet_topology_fat_tree(3, 1, 2), "");
}

/* The cables and coordinates of the fat-tree without tables: routers use arithmetic. */
static void test_fat_tree_rule(void)
{
    ExanetTopology topo = exanet_topology_fat_tree(2, 2, 2);

    for (unsigned n = 0; n < topo.nodes; n++) {
        g_string_free(topo.routes[n], true);
        topo.routes[n] = NULL;
    }
    check_all_to_all(topo, ",router=arithmetic");
}

static void test_dragonfly3x2(void)
{
    check_all_to_all(exanet_topology_dragonfly(3, 2), "");
}

static void test_dragonfly4x2(void)
{
    check_all_to_all(exanet_topology_dragonfly(4, 2), "");
}

/* FIFOs as small as the hardware's do not lead to a deadlock. */
static void test_dragonfly_small(void)
{
    check_all_to_all(exanet_topology_dragonfly(4, 2), ",rx-fifo-words=256");
}

/*
 * A cable between a leaf and a spine is cut, and only its two ends know: other leaves
 * still send by that spine and lose those packets, until they take the next path.
 */
static void test_cut(void)
{
    ExanetTopology topo = exanet_topology_fat_tree(2, 2, 2);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, 13);
    enum { LEAF = 4, SPINE = 6 };
    const unsigned port = exanet_topology_port(&topo, LEAF, SPINE, 0);

    exanet_network_fault(f, LEAF, port, "down");
    exanet_network_settle(f);
    g_assert_false(exanet_network_linked(f));
    exanet_traffic_all_to_all(tr, 128 * KiB);
    exanet_traffic_run(tr, 20000, 20 * LIMIT);
    exanet_traffic_check(tr);
    g_assert_cmpuint(f->count[SPINE][EXANET_CNT_DROP_NO_ROUTE], >, 0);
    exanet_network_fault(f, LEAF, port, "");
    exanet_network_wait_linked(f);
    exanet_traffic_all_to_all(tr, 128 * KiB);
    exanet_traffic_run(tr, 20000, 20 * LIMIT);
    exanet_traffic_check(tr);
    exanet_traffic_free(tr);
    exanet_network_stop(f);
}

/* --- Several paths ------------------------------------------------------------ */

/*
 * Returns the time in which both hosts of a leaf send 512 KiB each to the hosts of the
 * other leaf.
 */
static int64_t time_across(unsigned spines)
{
    ExanetTopology topo = exanet_topology_fat_tree(2, 2, spines);
    ExanetNetwork *f = exanet_network_start(&topo, RATE);
    ExanetTraffic *tr;
    int64_t start;

    for (unsigned n = 0; n < topo.nodes; n++) {
        exanet_set64(f->t[n], EXANET_FW + EXANET_REG_FW_TIMEOUT_NS,
                     RATE_TIMEOUT_NS);
        exanet_set32(f->t[n], EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    }
    tr = exanet_traffic_new(f, 12);
    start = f->now;
    for (unsigned n = 0; n < 2; n++) {
        exanet_traffic_write(tr, n, 2 + n, 512 * KiB, EXANET_NOTE_MAILBOX);
    }
    exanet_traffic_pass(tr, EXANET_MS, RATE_LIMIT);
    exanet_traffic_check(tr);
    start = f->now - start;
    finish(tr);
    return start;
}

static void test_spines(void)
{
    int64_t one = time_across(1), two = time_across(2);

    g_test_message("one spine: %" PRId64 " us, two: %" PRId64, one / 1000,
                   two / 1000);
    /* with one spine, its cable limits the rate: 18 words carry 16 words of data */
    g_assert_cmpint(one, >=, (MiB / 16 * 18 * 8000000LL) / RATE_KBPS);
    g_assert_cmpint(one * 10, >, two * 17);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/network/tree-fat-tree", test_fat_tree);
    qtest_add_func("/exanet/network/tree-fat-tree-three", test_fat_tree_three);
    qtest_add_func("/exanet/network/tree-fat-tree-rule", test_fat_tree_rule);
    qtest_add_func("/exanet/network/tree-dragonfly3x2", test_dragonfly3x2);
    qtest_add_func("/exanet/network/tree-dragonfly4x2", test_dragonfly4x2);
    qtest_add_func("/exanet/network/tree-dragonfly-small",
                   test_dragonfly_small);
    qtest_add_func("/exanet/network/tree-cut", test_cut);
    qtest_add_func("/exanet/network/tree-spines", test_spines);
    return g_test_run();
}
