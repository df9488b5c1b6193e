/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random networks with random traffic, random faults that change, and nodes that are
 * reset or killed.  Checks that the results are permitted by the ledger of
 * tests/qtest/exanet/traffic.h.
 *
 * usage: rnic-exanet-soak [MINUTES]
 *
 * The program runs for MINUTES of real time (default 1).  Each network prints its seed;
 * EXANET_SOAK_SEED=N runs this network again.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/units.h"
#include "../qtest/exanet/traffic.h"

#define STEP_NS (2 * EXANET_MS)
/* most virtual time of a wave: an outage and many retries */
#define LIMIT (900000 * EXANET_MS)
#define WAVES 12                    /* waves of operations in one network */

static unsigned soak_minutes = 1;

typedef struct Soak {
    ExanetNetwork *f;
    ExanetTraffic *tr;
    GRand *rand;
} Soak;

static unsigned pick(Soak *s, unsigned count)
{
    return g_rand_int_range(s->rand, 0, count);
}

/* --- Networks ------------------------------------------------------------------ */

static ExanetTopology random_topology(Soak *s)
{
    switch (pick(s, 7)) {
    case 0:
        return exanet_topology_qfdb(1 + pick(s, 2));
    case 1:
        return exanet_topology_grid(2 + pick(s, 5), 1, 1, true);
    case 2:
        return exanet_topology_grid(1, 1, 2 + pick(s, 5), pick(s, 2));
    case 3:
        return exanet_topology_grid(2, 2, 1, true);
    case 4:
        return exanet_topology_grid(3, 2, 1, pick(s, 2));
    case 5:
        return exanet_topology_grid(2, 2, 2, true);
    default:
        return exanet_topology_hybrid(2, 1, true);
    }
}

/*
 * Lets one random node be killed, and adds up to two cables between nodes that have one.
 */
static void vary(Soak *s, ExanetTopology *topo)
{
    unsigned extra = pick(s, 3);

    topo->mortal[pick(s, topo->nodes)] = true;
    for (unsigned n = 0; n < topo->nodes; n++) {
        topo->alone[n] = pick(s, 3) == 0;
    }
    while (extra--) {
        const ExanetCable *c = &topo->cable[pick(s, topo->cables)];

        exanet_topology_cable(topo, c->node[0], c->node[1]);
    }
}

static char *random_props(Soak *s)
{
    static const char *const fifo[] = { "", ",rx-fifo-words=256",
                                        ",rx-fifo-words=1024" };
    static const char *const ways[] = { "", ",ways=1", ",ways=4" };

    return g_strdup_printf("%s%s", fifo[pick(s, 3)], ways[pick(s, 3)]);
}

static void random_registers(Soak *s)
{
    for (unsigned n = 0; n < s->f->topo.nodes; n++) {
        ExanetTest *t = s->f->t[n];

        if (t) {
            exanet_set32(t, EXANET_FW + EXANET_REG_FW_BLOCK, 1024u << pick(s, 5));
            exanet_set32(t, EXANET_FW + EXANET_REG_FW_MULTIPATH, pick(s, 3));
            exanet_set32(t, EXANET_FW + EXANET_REG_FW_POLICY, pick(s, 3));
            exanet_set32(t, EXANET_FW + EXANET_REG_FW_WINDOW,
                         1 + pick(s, EXANET_FW_WINDOW_DEFAULT));
        }
    }
}

/* --- Faults -------------------------------------------------------------------- */

/* Prints an event with --verbose, for a search for the cause of a failure. */
static void G_GNUC_PRINTF(2, 3) tell(Soak *s, const char *fmt, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    if (!g_test_verbose()) {
        return;
    }
    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    g_test_message("%8" PRId64 " us, operation %" PRIu64 ": %s",
                   s->f->now / 1000, s->tr->ids, text);
}

/* Sets faults at one end of a random cable: some kinds, with rates of up to 1.4 %. */
static void random_faults(Soak *s)
{
    static const char *const kind[] = {
        "drop", "corrupt", "corrupt-header", "corrupt-payload",
        "corrupt-footer", "duplicate", "reorder",
    };
    const ExanetCable *c = &s->f->topo.cable[pick(s, s->f->topo.cables)];
    unsigned end = pick(s, 2);
    g_autoptr(GString) faults = g_string_new(NULL);

    for (unsigned i = 0; i < ARRAY_SIZE(kind); i++) {
        if (pick(s, 4) == 0) {
            g_string_append_printf(faults, "%s=%u.%u%% ", kind[i], pick(s, 2),
                                   pick(s, 5));
        }
    }
    if (pick(s, 4) == 0) {
        g_string_append_printf(faults, "delay=1%%:%uus ", 1 + pick(s, 5000));
    }
    if (faults->len) {
        g_string_append_printf(faults, "seed=%u", pick(s, 1000));
    }
    if (s->f->t[c->node[end]]) {
        tell(s, "node %u port %u: %s", c->node[end], c->port[end], faults->str);
        exanet_network_fault(s->f, c->node[end], c->port[end], faults->str);
    }
}

/* Cuts a random cable for up to 300 ms. */
static void random_cut(Soak *s)
{
    const ExanetCable *c = &s->f->topo.cable[pick(s, s->f->topo.cables)];

    if (s->f->t[c->node[0]]) {
        tell(s, "cable %u to %u cut", c->node[0], c->node[1]);
        exanet_network_fault(s->f, c->node[0], c->port[0], "down");
        exanet_network_step(s->f, (1 + pick(s, 300)) * EXANET_MS);
        exanet_network_fault(s->f, c->node[0], c->port[0], "");
    }
}

static void random_kill(Soak *s)
{
    for (unsigned n = 0; n < s->f->topo.nodes; n++) {
        if (s->f->topo.mortal[n]) {
            tell(s, "node %u killed", n);
            exanet_traffic_kill(s->tr, n);
            exanet_network_step(s->f, (1 + pick(s, 300)) * EXANET_MS);
            exanet_traffic_revive(s->tr, n);
        }
    }
}

static void random_trouble(Soak *s)
{
    unsigned n = pick(s, s->f->topo.nodes);

    switch (pick(s, 16)) {
    case 0:
        tell(s, "node %u reset", n);
        exanet_traffic_reset(s->tr, n);
        break;
    case 1:
        random_kill(s);
        break;
    case 2:
    case 3:
        random_cut(s);
        break;
    case 4:
        exanet_network_fault_all(s->f, "", 0);
        break;
    default:
        random_faults(s);
    }
}

/* --- Waves ---------------------------------------------------------------------- */

static void wave(Soak *s)
{
    unsigned nodes = s->f->topo.nodes;
    unsigned ops = 1 + pick(s, 20 * nodes);

    tell(s, "%u operations", ops);
    random_registers(s);
    for (unsigned i = 0; i < ops; i++) {
        exanet_traffic_random(s->tr, pick(s, nodes), pick(s, nodes),
                              1u << (4 + pick(s, 15)));
        if (pick(s, 16) == 0) {
            exanet_network_step(s->f, pick(s, 1000) * 1000);
        }
        if (pick(s, 40) == 0) {
            random_trouble(s);
        }
    }
    random_trouble(s);
    exanet_traffic_run(s->tr, STEP_NS, LIMIT);
    exanet_traffic_check(s->tr);
    exanet_network_wait_linked(s->f);
}

static void network(uint32_t seed)
{
    Soak s = { .rand = g_rand_new_with_seed(seed) };
    ExanetTopology topo = random_topology(&s);
    g_autofree char *props = random_props(&s);

    vary(&s, &topo);
    g_test_message("EXANET_SOAK_SEED=%u: %u nodes, %u cables%s", seed,
                   topo.nodes, topo.cables, props);
    s.f = exanet_network_start(&topo, props);
    s.tr = exanet_traffic_new(s.f, seed);
    for (unsigned i = 0; i < WAVES; i++) {
        wave(&s);
    }
    exanet_traffic_free(s.tr);
    exanet_network_stop(s.f);
    g_rand_free(s.rand);
}

static void test_soak(void)
{
    const char *given = g_getenv("EXANET_SOAK_SEED");
    int64_t end = g_get_monotonic_time() + soak_minutes * 60 * G_USEC_PER_SEC;
    unsigned seed, count = 0;

    if (given) {
        g_assert_cmpint(qemu_strtoui(given, NULL, 10, &seed), ==, 0);
        network(seed);
        return;
    }
    do {
        network(g_random_int());
        count++;
    } while (g_get_monotonic_time() < end);
    g_test_message("%u networks", count);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc > 2 || (argc == 2 &&
                     qemu_strtoui(argv[1], NULL, 10, &soak_minutes) < 0)) {
        fprintf(stderr, "usage: %s [MINUTES]\n", argv[0]);
        return 2;
    }
    qtest_add_func("/exanet/soak/random", test_soak);
    return g_test_run();
}
