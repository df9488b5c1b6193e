/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Networks of eight machines with the routes of extoll-routes: all nodes send messages to
 * all nodes, while cables are cut and mended, or lose, damage, double, reorder and delay
 * flits.  No message is lost, doubled or out of order.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "network.h"
#include "../../seed.h"
#include "extoll-network-routes.h"

#define BOX         7               /* VPID of all receivers */
#define AHEAD       200             /* messages of a sender that no receiver has taken */
#define EACH        60              /* messages of each node to each other node */
#define NODES       EXTOLL_NETWORK_NODES

typedef struct Traffic {
    ExtollNetwork *f;
    GRand *rng;
    unsigned each;                  /* messages of each node to each node, so far */
    unsigned sent[NODES][NODES];    /* by sender and receiver */
    unsigned taken[NODES][NODES];
} Traffic;

static Traffic *traffic_start(const ExtollTopology *topo, const char *props)
{
    g_autofree char *all = g_strdup_printf(",link-stall-ms=0%s", props);
    Traffic *tr = g_new0(Traffic, 1);

    tr->f = extoll_network_start(topo, all);
    tr->rng = g_rand_new_with_seed(random_seed(15));
    for (unsigned n = 0; n < topo->nodes; n++) {
        velo_mailbox(tr->f->t[n], BOX, EXTOLL_RING_MAX);
    }
    return tr;
}

static void traffic_stop(Traffic *tr)
{
    extoll_network_stop(tr->f);
    g_rand_free(tr->rng);
    g_free(tr);
}

/* Returns message @n from node @from to node @to. */
static VeloMsg msg_of(unsigned from, unsigned to, unsigned n)
{
    return (VeloMsg) {
        .node = to, .vpid = BOX, .own = (from + n) % EXTOLL_VPIDS, .mtt = n / 8 % 4,
        .quadwords = 1 + (n * 5 + from + to) % 8,
        .number = (from * NODES + to) << 20 | n,
    };
}

static unsigned untaken(const Traffic *tr, unsigned from)
{
    unsigned n = 0;

    for (unsigned to = 0; to < NODES; to++) {
        n += tr->sent[from][to] - tr->taken[from][to];
    }
    return n;
}

/* Returns the number of messages that nodes have not sent yet, up to @tr->each. */
static unsigned unsent(const Traffic *tr)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NODES * NODES; i++) {
        n += tr->each - tr->sent[i / NODES][i % NODES];
    }
    return n;
}

/* Takes all messages at node @to; each must be the next message of its sender. */
static void take(Traffic *tr, unsigned to)
{
    ExtollTest *t = tr->f->t[to];
    uint32_t wp = velo_vpid_get(t, BOX, WPLT), rp = velo_vpid_get(t, BOX, RPLT);

    while (rp != wp) {
        uint64_t status = qtest_readq(t->qts, EXTOLL_RAM_MAILBOX(BOX) +
                                      rp % (EXTOLL_RING_MAX / EXTOLL_SLOT_BYTES) *
                                      EXTOLL_SLOT_BYTES);
        unsigned from = RNIC_GET(EXTOLL_SLOT_NODE, status);
        VeloMsg m;

        g_assert_cmpuint(from, <, NODES);
        g_assert_cmpuint(tr->taken[from][to], <, tr->sent[from][to]);
        m = msg_of(from, to, tr->taken[from][to]++);
        velo_take(t, &m, from);
        rp += m.quadwords == EXTOLL_VELO_QUADWORDS ? 2 : 1;
    }
}

static void take_all(Traffic *tr)
{
    for (unsigned n = 0; n < NODES; n++) {
        take(tr, n);
    }
}

/* Each node with less than AHEAD messages on their path stores up to @count messages. */
static void store(Traffic *tr, unsigned count)
{
    for (unsigned i = 0; i < count * NODES; i++) {
        unsigned from = i % NODES, first = g_rand_int_range(tr->rng, 0, NODES);

        for (unsigned k = 0; k < NODES && untaken(tr, from) < AHEAD; k++) {
            unsigned to = (first + k) % NODES;

            if (tr->sent[from][to] < tr->each) {
                VeloMsg m = msg_of(from, to, tr->sent[from][to]++);

                velo_store(tr->f->t[from], &m);
                break;
            }
        }
    }
}

/* Returns true if all messages that were sent have been taken. */
static bool is_done(const Traffic *tr)
{
    for (unsigned n = 0; n < NODES; n++) {
        if (untaken(tr, n)) {
            return false;
        }
    }
    return true;
}

/* Sends all messages of @tr->each, and takes them. */
static void finish(Traffic *tr)
{
    while (unsent(tr)) {
        unsigned before = unsent(tr);

        store(tr, 8);
        extoll_network_step(tr->f, EXTOLL_TEST_MS);
        take_all(tr);
        wait_until(unsent(tr) < before || is_done(tr),
                   extoll_network_step(tr->f, EXTOLL_TEST_MS); take_all(tr);
                   store(tr, 1));
    }
    wait_until(is_done(tr), extoll_network_step(tr->f, EXTOLL_TEST_MS); take_all(tr));
}

/* Returns the sum of register EXTOLL_REG_PORT_@reg of both ends of all cables. */
static uint64_t port_sum(Traffic *tr, unsigned reg)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < 2 * tr->f->topo->cables; i++) {
        const ExtollCable *c = &tr->f->topo->cable[i / 2];

        sum += extoll_get64(tr->f->t[c->node[i & 1]],
                            EXTOLL_PORT(c->link[i & 1]) + reg);
    }
    return sum;
}

/*
 * Asserts that each node has sent and received its messages, dropped none, and that
 * crossbars have passed on each packet as often as its route says.
 */
static void assert_all(Traffic *tr)
{
    uint64_t forwarded = 0, hops = 0;

    extoll_network_step(tr->f, 2 * EXTOLL_TIMER_NS);
    for (unsigned n = 0; n < NODES; n++) {
        ExtollTest *t = tr->f->t[n];

        velo_assert_empty(t, BOX);
        g_assert_cmpuint(velo_count(t, SENT), ==, tr->each * NODES);
        g_assert_cmpuint(velo_count(t, RECEIVED), ==, tr->each * NODES);
        g_assert_cmpuint(velo_count(t, DISCARDED), ==, 0);
        g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, 0);
        g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 0);
        g_assert_cmpuint(extoll_counter(t, NO_ROUTE), ==, 0);
        g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 0);
        forwarded += extoll_counter(t, FORWARDED);
        for (unsigned to = 0; to < NODES; to++) {
            hops += to == n ? 0 : extoll_network_hops(tr->f->topo, n, to) - 1;
        }
    }
    g_assert_cmpuint(forwarded, ==, hops * tr->each);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_DROPPED), ==, 0);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_RX_ERROR), ==, 0);
}

/* --- Tests ---------------------------------------------------------------- */

static void check_all_to_all(const void *topo)
{
    Traffic *tr = traffic_start(topo, "");

    tr->each = EACH;
    finish(tr);
    assert_all(tr);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_RESENT), ==, 0);
    traffic_stop(tr);
}

/*
 * All nodes keep all links of a ring busy, and no link has room for more than the
 * fewest flits.
 */
static void test_small_rooms(void)
{
    Traffic *tr = traffic_start(&network_ring8, ",rx-flits=40");

    tr->each = EACH;
    finish(tr);
    assert_all(tr);
    traffic_stop(tr);
}

/*
 * Each cable is cut while messages are on it, stays so while nodes send on, and is
 * mended.
 */
static void check_cut(const void *data)
{
    const ExtollTopology *topo = data;
    Traffic *tr = traffic_start(topo, "");
    unsigned waited = 0;

    for (unsigned c = 0; c < topo->cables; c++) {
        unsigned end = g_rand_int_range(tr->rng, 0, 2);
        bool fault = g_rand_boolean(tr->rng);

        tr->each += 12;
        store(tr, 20);
        extoll_network_cable_set(tr->f, c, end, fault, false);
        store(tr, 20);
        wait_until(!extoll_network_is_up(tr->f, c),
                   extoll_network_step(tr->f, EXTOLL_TEST_MS));
        for (unsigned i = 0; i < 10; i++) {
            store(tr, 20);
            extoll_network_step(tr->f, 5 * EXTOLL_TEST_MS);
            take_all(tr);
        }
        waited += !is_done(tr);
        extoll_network_cable_set(tr->f, c, end, fault, true);
        extoll_network_wait_up(tr->f);
        finish(tr);
    }
    /* messages had to wait for each cable, so the cuts had an effect */
    g_assert_cmpuint(waited, ==, topo->cables);
    assert_all(tr);
    traffic_stop(tr);
}

/* All cables have all faults. */
static void check_faults(const void *topo)
{
    Traffic *tr = traffic_start(topo, "");

    extoll_network_faults_set(tr->f, "drop=1% corrupt=1% duplicate=1% reorder=1% "
                              "delay=1%:2ms drop-control=2%",
                              g_rand_int_range(tr->rng, 0, 1 << 30));
    tr->each = 2 * EACH;
    finish(tr);
    assert_all(tr);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_RESENT), >, 0);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_RX_AGAIN), >, 0);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_RX_BAD), >, 0);
    g_assert_cmpuint(port_sum(tr, EXTOLL_REG_PORT_RX_GAP), >, 0);
    traffic_stop(tr);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_data_func("/extoll/network/all-to-all-ring", &network_ring8,
                        check_all_to_all);
    qtest_add_data_func("/extoll/network/all-to-all-torus", &network_torus4x2,
                        check_all_to_all);
    qtest_add_data_func("/extoll/network/all-to-all-tree", &network_torus4x2_tree,
                        check_all_to_all);
    qtest_add_data_func("/extoll/network/all-to-all-cube", &network_cube,
                        check_all_to_all);
    qtest_add_func("/extoll/network/small-rooms", test_small_rooms);
    qtest_add_data_func("/extoll/network/cut-ring", &network_ring8, check_cut);
    qtest_add_data_func("/extoll/network/cut-torus", &network_torus4x2, check_cut);
    qtest_add_data_func("/extoll/network/faults-torus", &network_torus4x2, check_faults);
    qtest_add_data_func("/extoll/network/faults-cube", &network_cube, check_faults);
    return g_test_run();
}
