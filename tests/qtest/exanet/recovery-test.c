/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Networks with faulty cables, and nodes that go and come back: each operation takes
 * effect once with the right data, only lost blocks are sent again, and an impossible
 * operation ends with an error.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "traffic.h"

#define STEP_NS (2 * EXANET_MS)
/* sixteen timeouts of at most 1.6 s, and more */
#define LIMIT (60000 * EXANET_MS)

static void finish(ExanetTraffic *tr)
{
    ExanetNetwork *f = tr->f;

    exanet_traffic_free(tr);
    exanet_network_stop(f);
}

static uint64_t injected(ExanetNetwork *f)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < 2 * f->topo.cables; i++) {
        const ExanetCable *c = &f->topo.cable[i / 2];

        sum += exanet_network_port_get(f, c->node[i & 1], c->port[i & 1],
                                       EXANET_REG_PORT_INJECTED);
    }
    return sum;
}

/* --- Faults of cables ------------------------------------------------------- */

/* Starts long and short operations of all kinds. */
static void start_wave(ExanetTraffic *tr)
{
    unsigned nodes = tr->f->topo.nodes;

    for (unsigned n = 0; n < nodes; n++) {
        exanet_traffic_write(tr, n, (n + 1) % nodes, 60 * KiB,
                             EXANET_NOTE_MAILBOX);
        exanet_traffic_read(tr, n, (n + 2) % nodes, 60 * KiB);
    }
    for (unsigned i = 0; i < 2; i++) {
        exanet_traffic_all_to_all(tr, 48 * KiB);
    }
}

typedef struct Faults {
    const char *name, *text;
    uint32_t seed;
} Faults;

/* A line of three nodes, so that the middle node forwards damaged packets. */
static void test_faults(gconstpointer opaque)
{
    const Faults *faults = opaque;
    ExanetTopology topo = exanet_topology_grid(3, 1, 1, false);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, random_seed(11));

    exanet_network_fault_all(f, faults->text, random_seed(faults->seed));
    for (unsigned wave = 0; wave < 4; wave++) {
        start_wave(tr);
        exanet_traffic_run(tr, STEP_NS, LIMIT);
        exanet_traffic_check(tr);
    }
    g_assert_cmpuint(injected(f), >, 10);
    exanet_network_fault_all(f, "", 0);
    /* packets that faults have delayed arrive, and must have no effect */
    exanet_network_step(f, 20 * EXANET_MS);
    finish(tr);
}

static const Faults faults[] = {
    { "drop-1", "drop=1%", 1 },
    { "drop-3", "drop=3%", 1 },
    { "corrupt-header", "corrupt-header=2%", 2 },
    { "corrupt-payload", "corrupt-payload=3%", 3 },
    { "corrupt-payload-10", "corrupt-payload=10%", 11 },
    { "corrupt-footer", "corrupt-footer=2%", 4 },
    { "duplicate", "duplicate=3%", 5 },
    { "reorder", "reorder=3%", 6 },
    { "delay", "delay=3%:300us", 7 },
    { "all", "drop=1% corrupt=1% duplicate=2% reorder=2% delay=2%:3ms", 8 },
};

/*
 * A QFDB with two cables between each two nodes, blocks on all cables, and one cable
 * that goes down.
 */
static void test_faults_multipath(void)
{
    ExanetTopology topo = exanet_topology_qfdb(2);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, random_seed(12));

    exanet_network_fault_all(f, "drop=1%", random_seed(9));
    for (unsigned n = 0; n < topo.nodes; n++) {
        exanet_set32(f->t[n], EXANET_FW + EXANET_REG_FW_MULTIPATH,
                     EXANET_FW_PATH_ROUND_ROBIN);
    }
    for (unsigned wave = 0; wave < 4; wave++) {
        start_wave(tr);
        if (wave == 1) {
            exanet_network_fault(f, 0, exanet_topology_port(&topo, 0, 1, 1),
                                 "down");
        }
        exanet_traffic_run(tr, STEP_NS, LIMIT);
        exanet_traffic_check(tr);
    }
    finish(tr);
}

/* Four QFDBs of four nodes: packets pass up to four switches, and cables lose packets. */
static void test_faults_hybrid(void)
{
    ExanetTopology topo = exanet_topology_hybrid(2, 2, true);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, random_seed(16));

    exanet_network_fault_all(f, "drop=1%", random_seed(10));
    exanet_traffic_all_to_all(tr, 16 * KiB);
    exanet_traffic_run(tr, STEP_NS, LIMIT);
    exanet_traffic_check(tr);
    g_assert_cmpuint(injected(f), >, 10);
    finish(tr);
}

/* The only cable between two nodes goes down during traffic of all kinds. */
static void test_link_down(void)
{
    ExanetTopology topo = exanet_topology_grid(3, 1, 1, false);
    ExanetNetwork *f = exanet_network_start(&topo, ",link-rate-kbps=1000000");
    ExanetTraffic *tr = exanet_traffic_new(f, random_seed(17));
    unsigned port = exanet_topology_port(&topo, 1, 2, 0);

    for (unsigned wave = 0; wave < 4; wave++) {
        start_wave(tr);
        exanet_network_step(f, EXANET_MS / 2);
        g_assert_cmpuint(exanet_traffic_poll(tr), >, 0);
        exanet_network_fault(f, 1, port, "down");
        exanet_network_step(f, EXANET_MS << wave);
        g_assert_cmpuint(exanet_traffic_poll(tr), >, 0);
        exanet_network_fault(f, 1, port, "");
        exanet_network_wait_linked(f);
        exanet_traffic_run(tr, STEP_NS, LIMIT);
        exanet_traffic_check(tr);
    }
    g_assert_cmpuint(exanet_network_total(f, RETRY_TIMEOUT), >, 0);
    finish(tr);
}

/* --- What is sent again ----------------------------------------------------- */

/* Each lost packet causes one more copy of its block, and of no other block. */
static void test_selective(void)
{
    ExanetTopology topo = exanet_topology_grid(3, 1, 1, false);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, random_seed(13));
    uint64_t blocks = MiB / EXANET_BLOCK_BYTES;
    uint64_t again, packets, dst;

    /* loses one packet of the first block, and damages a few of all packets */
    exanet_network_fault(f, 0, exanet_topology_port(&topo, 0, 1, 0),
                         "drop=next:1");
    exanet_network_fault(f, 1, exanet_topology_port(&topo, 1, 2, 0),
                         "corrupt-payload=0.1% seed=3");
    dst = exanet_traffic_write(tr, 0, 2, MiB, EXANET_NOTE_MAILBOX)->dst;
    blocks += !!(dst % EXANET_BLOCK_BYTES);
    exanet_traffic_run(tr, STEP_NS, LIMIT);
    exanet_traffic_check(tr);
    exanet_network_settle(f);
    again = exanet_network_total(f, RETRY_TIMEOUT) +
            exanet_network_total(f, RETRY_CRC);
    g_assert_cmpuint(again, >=, 2);
    g_assert_cmpuint(again, <, blocks / 4);
    g_assert_cmpuint(exanet_network_total(f, RETRY_TIMEOUT), >=, 1);
    g_assert_cmpuint(exanet_network_total(f, RETRY_CRC), >=, 1);
    /* no other block was sent twice */
    g_assert_cmpuint(exanet_network_total(f, BLOCK_STARTED), ==,
                     blocks + again);
    packets = MiB / EXANET_MTU + !!(dst % EXANET_MTU);
    g_assert_cmpuint(exanet_network_total(f, TX_WRITE), <=,
                     packets + again * (EXANET_BLOCK_PACKETS + 1));
    finish(tr);
}

/* --- Limits ----------------------------------------------------------------- */

/*
 * The only cable to a node loses all packets: all operations end with an error, and new
 * ones succeed when the cable works again.
 */
static void test_dead_cable(void)
{
    ExanetTopology topo = exanet_topology_grid(3, 1, 1, false);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, random_seed(14));
    unsigned port = exanet_topology_port(&topo, 1, 2, 0);
    ExanetOp *op[3];

    exanet_set32(f->t[0], EXANET_FW + EXANET_REG_FW_RETRY_MAX, 5);
    exanet_network_fault(f, 1, port, "drop=100%");
    op[0] = exanet_traffic_write(tr, 0, 2, 100000, EXANET_NOTE_MAILBOX);
    op[1] = exanet_traffic_read(tr, 0, 2, 100000);
    op[2] = exanet_traffic_message(tr, 0, 2, 64);
    for (unsigned i = 0; i < ARRAY_SIZE(op); i++) {
        op[i]->may_fail = true;
    }
    /* operations between the other nodes are not affected */
    exanet_traffic_write(tr, 0, 1, 100000, EXANET_NOTE_MAILBOX);
    exanet_traffic_write(tr, 1, 0, 100000, EXANET_NOTE_MEMORY);
    exanet_traffic_run(tr, 10 * EXANET_MS, LIMIT);
    for (unsigned i = 0; i < ARRAY_SIZE(op); i++) {
        g_assert_true(op[i]->failed);
    }
    g_assert_cmphex(op[0]->error, ==, EXANET_CHERR_RETRY_LIMIT);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t status = exanet_pktz_status(f->t[0], 0, i);

        g_assert_cmphex(status & EXANET_PKTZSTAT_TIMEOUT, ==,
                        EXANET_PKTZSTAT_TIMEOUT);
    }
    exanet_traffic_check(tr);
    exanet_network_fault(f, 1, port, "");
    exanet_traffic_all_to_all(tr, 100000);
    exanet_traffic_run(tr, STEP_NS, LIMIT);
    exanet_traffic_check(tr);
    finish(tr);
}

/* A write to a node that does not exist ends with an error. */
static void test_nobody(void)
{
    ExanetTopology topo = exanet_topology_grid(2, 1, 1, false);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .len = 1000,
        .dst = exanet_gva(exanet_coord(5, 3, 0, 1), EXANET_RAM_DST),
    };

    exanet_set32(f->t[0], EXANET_FW + EXANET_REG_FW_RETRY_MAX, 3);
    exanet_channel_start(f->t[0], 0, 0, &x);
    exanet_network_until(f, exanet_channel_state(f->t[0], 0, 0) >=
                         EXANET_CHANNEL_DONE, 10 * EXANET_MS, LIMIT);
    exanet_channel_wait(f->t[0], 0, 0, EXANET_CHANNEL_FAILED);
    exanet_network_stop(f);
}

/* --- Nodes that go and come ------------------------------------------------- */

static void step_some(ExanetNetwork *f, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        exanet_network_step(f, EXANET_MS / 4);
    }
}

static void restart_node(ExanetTraffic *tr, unsigned n)
{
    exanet_traffic_kill(tr, n);
    step_some(tr->f, 20);
    exanet_traffic_revive(tr, n);
}

/*
 * Checks four nodes in a square, with cables slow enough for traffic to be under way: a
 * node goes and comes back (@lose), and all other nodes continue, also through the node
 * that has lost its state.
 */
static void check_node_lost(void (*lose)(ExanetTraffic *tr, unsigned n))
{
    ExanetTopology topo = exanet_topology_grid(2, 2, 1, false);
    ExanetNetwork *f;
    ExanetTraffic *tr;

    topo.mortal[3] = true;
    f = exanet_network_start(&topo, ",link-rate-kbps=1000000");
    tr = exanet_traffic_new(f, random_seed(15));
    exanet_network_fault_all(f, "drop=0.2%", random_seed(1));
    for (unsigned wave = 0; wave < 4; wave++) {
        for (unsigned n = 0; n < topo.nodes; n++) {
            exanet_traffic_write(tr, n, n ^ 1, 200 * KiB, EXANET_NOTE_MAILBOX);
            exanet_traffic_read(tr, n, n ^ 2, 200 * KiB);
            exanet_traffic_write(tr, n, n ^ 3, 200 * KiB, EXANET_NOTE_MEMORY);
        }
        exanet_traffic_all_to_all(tr, 64 * KiB);
        step_some(f, 2 + 2 * wave);
        g_assert_cmpuint(exanet_traffic_poll(tr), >, 0);
        lose(tr, 3);
        exanet_traffic_run(tr, STEP_NS, 3 * LIMIT);
        exanet_traffic_check(tr);
        exanet_network_wait_linked(f);
        /* now no operation may fail */
        exanet_traffic_all_to_all(tr, 64 * KiB);
        exanet_traffic_run(tr, STEP_NS, LIMIT);
        exanet_traffic_check(tr);
    }
    finish(tr);
}

static void test_reset(void)
{
    check_node_lost(exanet_traffic_reset);
}

static void test_restart(void)
{
    check_node_lost(restart_node);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(faults); i++) {
        g_autofree char *name = g_strdup_printf(
            "/exanet/network/recovery-%s-t27", faults[i].name);

        qtest_add_data_func(name, &faults[i], test_faults);
    }
    qtest_add_func("/exanet/network/recovery-multipath-t27",
                   test_faults_multipath);
    qtest_add_func("/exanet/network/recovery-hybrid-t27", test_faults_hybrid);
    qtest_add_func("/exanet/network/recovery-link-down-t25", test_link_down);
    qtest_add_func("/exanet/network/recovery-selective-t11", test_selective);
    qtest_add_func("/exanet/network/recovery-dead-cable", test_dead_cable);
    qtest_add_func("/exanet/network/recovery-nobody", test_nobody);
    qtest_add_func("/exanet/network/recovery-reset", test_reset);
    qtest_add_func("/exanet/network/recovery-restart", test_restart);
    return g_test_run();
}
