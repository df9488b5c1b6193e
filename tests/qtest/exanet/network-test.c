/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Networks of many nodes without faults: all nodes send to all nodes; no packet is
 * lost, each operation ends, and no deadlock occurs.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "traffic.h"

/* no packet is lost, so no operation takes longer than a few timeouts */
#define LIMIT (2000 * EXANET_MS)
/*
 * Properties of tests that measure time.  Cables are slow, because a clock step must be
 * short compared with a transfer.  All other times are in proportion.
 */
#define RATE_KBPS 20000
#define RATE ",link-rate-kbps=20000,link-stall-ms=0"
#define RATE_STEP_NS EXANET_MS
#define RATE_LIMIT (100000 * EXANET_MS)
#define RATE_TIMEOUT_NS (1500 * EXANET_MS)

static void assert_lossless(ExanetNetwork *f)
{
    exanet_network_settle(f);
    if (exanet_network_total(f, RETRY_TIMEOUT)) {
        exanet_network_dump(f);
    }
    g_assert_cmpuint(exanet_network_total(f, RETRY_TIMEOUT), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, RETRY_CRC), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, MSG_RETRY), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, RX_DUPLICATE), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_NO_ROUTE), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_SOURCE), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_TTL), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_MALFORMED), ==, 0);
}

static ExanetNetwork *start_with_rate(const ExanetTopology *topo)
{
    ExanetNetwork *f = exanet_network_start(topo, RATE);

    for (unsigned n = 0; n < topo->nodes; n++) {
        exanet_set64(f->t[n], EXANET_FW + EXANET_REG_FW_TIMEOUT_NS,
                     RATE_TIMEOUT_NS);
    }
    return f;
}

static void finish(ExanetTraffic *tr)
{
    ExanetNetwork *f = tr->f;

    exanet_traffic_free(tr);
    exanet_network_stop(f);
}

/* --- Everybody to everybody ------------------------------------------------ */

static void check_all_to_all(ExanetTopology topo, uint32_t max, unsigned waves)
{
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, topo.nodes);

    for (unsigned i = 0; i < waves; i++) {
        exanet_traffic_all_to_all(tr, max);
        exanet_traffic_run(tr, EXANET_MS, LIMIT);
        exanet_traffic_check(tr);
    }
    assert_lossless(f);
    finish(tr);
}

static void test_qfdb(void)
{
    check_all_to_all(exanet_topology_qfdb(1), 256 * KiB, 6);
}

static void test_qfdb_parallel(void)
{
    check_all_to_all(exanet_topology_qfdb(2), 256 * KiB, 6);
}

static void test_torus2x2(void)
{
    check_all_to_all(exanet_topology_grid(2, 2, 1, true), 256 * KiB, 6);
}

static void test_torus3x3(void)
{
    check_all_to_all(exanet_topology_grid(3, 3, 1, true), 64 * KiB, 4);
}

static void test_cube(void)
{
    check_all_to_all(exanet_topology_grid(2, 2, 2, true), 64 * KiB, 4);
}

static void test_hybrid(void)
{
    check_all_to_all(exanet_topology_hybrid(2, 2, true), 16 * KiB, 3);
}

/* --- Runs ------------------------------------------------------------------ */

/* Nodes take the runs of neighbours apart for neighbours that accept only packets. */
static void test_runs_mixed(void)
{
    ExanetTopology topo = exanet_topology_grid(3, 2, 1, true);

    topo.alone[1] = topo.alone[4] = true;
    check_all_to_all(topo, 64 * KiB, 2);
}

static void test_runs_off(void)
{
    ExanetTopology topo = exanet_topology_grid(2, 2, 1, true);

    for (unsigned n = 0; n < topo.nodes; n++) {
        topo.alone[n] = true;
    }
    check_all_to_all(topo, 64 * KiB, 2);
}

/* --- Rings ----------------------------------------------------------------- */

/*
 * Checks a ring in which every node keeps every link busy with packets to the nodes two
 * links away in both directions.  Without the dateline channel a circle of waiting
 * packets would form.
 */
static void check_ring(unsigned nodes, bool second_dimension)
{
    ExanetTopology topo = second_dimension ?
                          exanet_topology_grid(1, nodes, 1, true) :
                          exanet_topology_grid(nodes, 1, 1, true);
    ExanetNetwork *f = exanet_network_start(&topo, ",rx-fifo-words=256");
    ExanetTraffic *tr = exanet_traffic_new(f, nodes);

    for (unsigned wave = 0; wave < 3; wave++) {
        for (unsigned i = 0; i < nodes * 6; i++) {
            unsigned n = i % nodes;

            exanet_traffic_write(tr, n, (n + 2) % nodes, 200 * KiB,
                                 EXANET_NOTE_MAILBOX);
            exanet_traffic_write(tr, n, (n + nodes - 2) % nodes, 100 * KiB,
                                 EXANET_NOTE_MAILBOX);
        }
        exanet_traffic_run(tr, EXANET_MS, LIMIT);
        exanet_traffic_check(tr);
    }
    assert_lossless(f);
    g_assert_cmpuint(exanet_network_total(f, FORWARDED), >, 0);
    finish(tr);
}

static void test_ring5(void)
{
    check_ring(5, false);
}

static void test_ring6(void)
{
    check_ring(6, true);
}

/* --- The router's local ports ---------------------------------------------- */

static uint64_t local_port(ExanetNetwork *f, unsigned n, unsigned port)
{
    return exanet_get64(f->t[n], EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                        8 * port);
}

/* Two QFDBs: each FPGA of the first QFDB sends to the same FPGA of the second. */
static void test_local_ports(void)
{
    ExanetTopology topo = exanet_topology_hybrid(2, 1, true);
    /*
     * numbers of nodes in the hybrid: F1 of both QFDBs, then F2 to F4 of the first,
     * then of the second
     */
    static const unsigned from[] = { 0, 2, 3, 4 }, to[] = { 1, 5, 6, 7 };
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, 1);

    for (unsigned i = 0; i < ARRAY_SIZE(from); i++) {
        for (unsigned n = 0; n < 4; n++) {
            exanet_traffic_write(tr, from[i], to[i], 256 * KiB,
                                 EXANET_NOTE_NONE);
        }
    }
    exanet_traffic_run(tr, EXANET_MS, LIMIT);
    exanet_traffic_check(tr);
    for (unsigned i = 0; i < ARRAY_SIZE(from); i++) {
        /*
         * data in one direction, perhaps in more packets because of their alignment;
         * acks in the other
         */
        g_assert_cmpuint(local_port(f, 0, i), >=, MiB / EXANET_MTU);
        g_assert_cmpuint(local_port(f, 0, i), <, MiB / EXANET_MTU + 256);
        g_assert_cmpuint(local_port(f, 1, i), >=, MiB / EXANET_BLOCK_BYTES);
        g_assert_cmpuint(local_port(f, 1, i), <, 256);
    }
    assert_lossless(f);
    finish(tr);
}

static void alien_xoff(ExanetPeer *alien)
{
    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        struct rnic_frame frame;
        size_t len = exanet_peer_header(alien, &frame, RNIC_LINK_XOFF, 0);

        frame.vc = vc;
        exanet_peer_raw(alien, &frame, len);
    }
}

/* Packets of F2 to a node that has sent XOFF do not block other packets. */
static void test_blocked_stream(void)
{
    ExanetTopology topo = exanet_topology_qfdb(1);
    unsigned stopper = exanet_topology_node(&topo, exanet_coord(3, 1, 0, 0));
    unsigned target = exanet_topology_node(&topo, exanet_coord(2, 2, 0, 0));
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .len = MiB,
        .dst = exanet_gva(topo.coord[stopper], EXANET_RAM_DST),
    };
    ExanetTraffic *tr;
    ExanetNetwork *f;

    topo.alien[stopper] = true;
    exanet_topology_cable(&topo, 0, stopper);
    exanet_topology_cable(&topo, 0, target);
    f = exanet_network_start(&topo, ",rx-fifo-words=256");
    tr = exanet_traffic_new(f, 3);
    tr->others = true;
    alien_xoff(f->alien[stopper]);
    exanet_network_settle(f);
    for (unsigned c = 24; c < EXANET_WRITE_CHANNELS; c++) {
        exanet_channel_start(f->t[1], 0, c, &x);
    }
    exanet_network_settle(f);
    for (unsigned wave = 0; wave < 3; wave++) {
        for (unsigned i = 0; i < 24; i++) {
            unsigned n = i % 3 + (i % 3 > 0);   /* the numbers of F1, F3, F4 */

            exanet_traffic_write(tr, n, target, 128 * KiB,
                                 EXANET_NOTE_MAILBOX);
            exanet_traffic_write(tr, n, n == 3 ? 0 : n + 2 - n / 2, 128 * KiB,
                                 EXANET_NOTE_MAILBOX);
        }
        exanet_traffic_run(tr, EXANET_MS, LIMIT);
        exanet_traffic_check(tr);
    }
    g_assert_cmpuint(exanet_channel_state(f->t[1], 0, 31), <,
                     EXANET_CHANNEL_DONE);
    finish(tr);
}

/* --- Contention ------------------------------------------------------------- */

/*
 * All other nodes send to one end of a line: the node next to the target gets the
 * largest part, and the nodes behind it still make progress.
 */
static void test_contention(void)
{
    ExanetTopology topo = exanet_topology_grid(5, 1, 1, false);
    ExanetNetwork *f = start_with_rate(&topo);
    ExanetTraffic *tr = exanet_traffic_new(f, 7);
    unsigned first = 0;

    for (unsigned n = 0; n < topo.nodes; n++) {
        /* switches off congestion management, which exanet-incast-test covers */
        exanet_set32(f->t[n], EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    }
    for (unsigned n = 1; n < topo.nodes; n++) {
        exanet_traffic_write(tr, n, 0, 256 * KiB, EXANET_NOTE_MAILBOX);
    }
    while (exanet_traffic_poll(tr) == topo.nodes - 1) {
        exanet_network_pass(f, 5 * RATE_STEP_NS, RATE_STEP_NS);
    }
    for (unsigned n = 1; n < topo.nodes; n++) {
        uint64_t status = exanet_channel_status(f->t[n], 0, 0);
        uint32_t acked = RNIC_GET(EXANET_CHSTAT_ACKED, status);

        first += RNIC_GET(EXANET_CHSTAT_STATE, status) == EXANET_CHANNEL_DONE;
        /*
         * a fair part would be a quarter each; back-pressure gives each node half of
         * the rest
         */
        g_assert_cmpuint(acked, >=, 16 * KiB);
    }
    g_assert_cmpuint(first, >=, 1);
    exanet_traffic_pass(tr, RATE_STEP_NS, RATE_LIMIT);
    exanet_traffic_check(tr);
    assert_lossless(f);
    finish(tr);
}

/* --- Several paths ---------------------------------------------------------- */

static int64_t time_of_write(ExanetTraffic *tr, unsigned from, unsigned to)
{
    int64_t start = tr->f->now;

    for (unsigned i = 0; i < 2; i++) {
        exanet_traffic_write(tr, from, to, 512 * KiB, EXANET_NOTE_MAILBOX);
    }
    exanet_traffic_pass(tr, RATE_STEP_NS, RATE_LIMIT);
    exanet_traffic_check(tr);
    return tr->f->now - start;
}

static void set_multipath(ExanetNetwork *f, unsigned n,
                          enum exanet_fw_multipath how)
{
    exanet_set32(f->t[n], EXANET_FW + EXANET_REG_FW_MULTIPATH, how);
}

/*
 * Asserts that a write over one path takes 1.7 times as long as over two paths, for
 * each policy.
 */
static void check_two_paths(ExanetTopology topo, unsigned to)
{
    ExanetNetwork *f = start_with_rate(&topo);
    ExanetTraffic *tr = exanet_traffic_new(f, 5);
    int64_t one, round, least;

    one = time_of_write(tr, 0, to);
    /* the rate of the cable is the limit: 18 words for 16 words of data */
    g_assert_cmpint(one, >=, (MiB / 16 * 18 * 8000000LL) / RATE_KBPS);
    set_multipath(f, 0, EXANET_FW_PATH_ROUND_ROBIN);
    round = time_of_write(tr, 0, to);
    set_multipath(f, 0, EXANET_FW_PATH_LEAST);
    least = time_of_write(tr, 0, to);
    set_multipath(f, 0, EXANET_FW_PATH_HINT);
    tr->ctrl = EXANET_CHANNEL_MULTIPATH;
    g_assert_cmpint(one * 10, >, round * 17);
    g_assert_cmpint(one * 10, >, least * 17);
    g_assert_cmpint(one * 10, >, time_of_write(tr, 0, to) * 17);
    assert_lossless(f);
    finish(tr);
}

static void test_two_cables(void)
{
    ExanetTopology topo = exanet_topology_grid(2, 1, 1, false);

    exanet_topology_cable(&topo, 0, 1);
    check_two_paths(topo, 1);
}

/* Both orders of dimensions to the opposite corner of a square. */
static void test_two_orders(void)
{
    check_two_paths(exanet_topology_grid(2, 2, 1, false), 3);
}

/* A write over up to six cables takes at most 5 % longer than over one. */
static void test_hops(void)
{
    ExanetTopology topo = exanet_topology_grid(7, 1, 1, false);
    ExanetNetwork *f = start_with_rate(&topo);
    ExanetTraffic *tr = exanet_traffic_new(f, 8);
    int64_t one = time_of_write(tr, 0, 1);

    for (unsigned to = 2; to < topo.nodes; to++) {
        int64_t more = time_of_write(tr, 0, to);

        g_test_message("%u cables: %.1f %% of the time of one", to,
                       more * 100.0 / one);
        g_assert_cmpint(more * 95, <=, one * 100);
    }
    assert_lossless(f);
    finish(tr);
}

/* One of two cables goes down during the traffic, and comes up again. */
static void test_cut(void)
{
    ExanetTopology topo = exanet_topology_qfdb(2);
    ExanetNetwork *f = start_with_rate(&topo);
    ExanetTraffic *tr = exanet_traffic_new(f, 9);
    unsigned port = exanet_topology_port(&topo, 0, 1, 0);
    uint64_t sent;

    for (unsigned n = 0; n < topo.nodes; n++) {
        set_multipath(f, n, EXANET_FW_PATH_ROUND_ROBIN);
    }
    exanet_traffic_all_to_all(tr, 128 * KiB);
    exanet_traffic_write(tr, 0, 1, 512 * KiB, EXANET_NOTE_MAILBOX);
    exanet_network_pass(f, 50 * EXANET_MS, RATE_STEP_NS);
    g_assert_cmpuint(exanet_traffic_poll(tr), >, 0);
    exanet_network_fault(f, 0, port, "down");
    exanet_traffic_pass(tr, RATE_STEP_NS, RATE_LIMIT);
    exanet_traffic_check(tr);
    g_assert_false(exanet_network_linked(f));
    exanet_network_fault(f, 0, port, "");
    exanet_network_wait_linked(f);
    sent = exanet_network_port_get(f, 0, port, EXANET_REG_PORT_TX_PACKETS);
    exanet_traffic_write(tr, 0, 1, 512 * KiB, EXANET_NOTE_MAILBOX);
    exanet_traffic_pass(tr, RATE_STEP_NS, RATE_LIMIT);
    exanet_traffic_check(tr);
    g_assert_cmpuint(exanet_network_port_get(f, 0, port,
                                             EXANET_REG_PORT_TX_PACKETS), >,
                      sent + 512);
    finish(tr);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/network/qfdb-t27", test_qfdb);
    qtest_add_func("/exanet/network/qfdb-parallel-t27", test_qfdb_parallel);
    qtest_add_func("/exanet/network/torus2x2-t26", test_torus2x2);
    qtest_add_func("/exanet/network/torus3x3", test_torus3x3);
    qtest_add_func("/exanet/network/cube", test_cube);
    qtest_add_func("/exanet/network/hybrid-t27", test_hybrid);
    qtest_add_func("/exanet/network/runs-mixed", test_runs_mixed);
    qtest_add_func("/exanet/network/runs-off", test_runs_off);
    qtest_add_func("/exanet/network/ring5", test_ring5);
    qtest_add_func("/exanet/network/ring6", test_ring6);
    qtest_add_func("/exanet/network/local-ports-t26", test_local_ports);
    qtest_add_func("/exanet/network/blocked-stream", test_blocked_stream);
    qtest_add_func("/exanet/network/contention", test_contention);
    qtest_add_func("/exanet/network/two-cables", test_two_cables);
    qtest_add_func("/exanet/network/two-orders", test_two_orders);
    qtest_add_func("/exanet/network/hops", test_hops);
    qtest_add_func("/exanet/network/cut-t27", test_cut);
    return g_test_run();
}
