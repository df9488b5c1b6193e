/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network of machines; see network.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include <glib/gstdio.h>
#include "network.h"
#include "rnic/exanet/shm.h"
#include "../common/machine.h"

/* upper part of all coordinates of a network */
#define UPPER 5
/* between two looks each frame passes at least one node */
#define QUIET_LOOKS 3
/* real seconds after which a network that does not become quiet counts as hung */
#define STORM_SECONDS 120

/* --- Topologies ----------------------------------------------------------- */

uint32_t exanet_coord(unsigned x, unsigned y, unsigned z, unsigned offset)
{
    return RNIC_PREP(EXANET_COORD_UPPER, UPPER) |
           RNIC_PREP(EXANET_COORD_OFFSET, offset) |
           RNIC_PREP(EXANET_COORD_Z, z) | RNIC_PREP(EXANET_COORD_Y, y) |
           RNIC_PREP(EXANET_COORD_X, x);
}

unsigned exanet_topology_node(ExanetTopology *topo, uint32_t coord)
{
    g_assert_cmpuint(topo->nodes, <, EXANET_NETWORK_NODES);
    topo->coord[topo->nodes] = coord;
    return topo->nodes++;
}

void exanet_topology_cable(ExanetTopology *topo, unsigned a, unsigned b)
{
    g_assert_cmpuint(topo->cables, <, EXANET_NETWORK_CABLES);
    g_assert_cmpuint(topo->ports[a], <, EXANET_LINKS);
    g_assert_cmpuint(topo->ports[b], <, EXANET_LINKS);
    topo->cable[topo->cables++] = (ExanetCable) {
        .node = { a, b }, .port = { topo->ports[a]++, topo->ports[b]++ },
    };
}

unsigned exanet_topology_port(const ExanetTopology *topo, unsigned a, unsigned b,
                              unsigned nth)
{
    for (unsigned i = 0; i < topo->cables; i++) {
        const ExanetCable *c = &topo->cable[i];

        for (unsigned end = 0; end < 2; end++) {
            if (c->node[end] == a && c->node[!end] == b && nth-- == 0) {
                return c->port[end];
            }
        }
    }
    g_assert_not_reached();
}

ExanetTopology exanet_topology_qfdb(unsigned parallel)
{
    ExanetTopology topo = { .dims = { 1, 1, 1 } };

    for (unsigned i = 0; i < 4; i++) {
        exanet_topology_node(&topo, exanet_coord(2, 1, 0, i));
        for (unsigned n = 0; n < i * parallel; n++) {
            exanet_topology_cable(&topo, n / parallel, i);
        }
    }
    return topo;
}

/* Adds the cables of dimension @dim to a grid, and sets topo->dims[@dim]. */
static void grid_cables(ExanetTopology *topo, const unsigned size[3],
                        unsigned dim, bool rings)
{
    const unsigned count = size[0] * size[1] * size[2];
    const unsigned n = size[dim];
    const unsigned stride = dim == 0 ? 1 : dim == 1 ? size[0] :
                            size[0] * size[1];

    topo->dims[dim] = rings && n > 2 ? n : 1;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i / stride % n;

        if (at + 1 < n) {
            exanet_topology_cable(topo, i, i + stride);
        } else if (topo->dims[dim] > 1) {
            exanet_topology_cable(topo, i, i - (n - 1) * stride);
        }
    }
}

ExanetTopology exanet_topology_grid(unsigned x, unsigned y, unsigned z,
                                    bool rings)
{
    const unsigned size[] = { x, y, z };
    ExanetTopology topo = { 0 };

    for (unsigned i = 0; i < x * y * z; i++) {
        exanet_topology_node(&topo, exanet_coord(i % x, i / x % y, i / x / y,
                                                 0));
    }
    for (unsigned dim = 0; dim < 3; dim++) {
        grid_cables(&topo, size, dim, rings);
    }
    return topo;
}

ExanetTopology exanet_topology_hybrid(unsigned x, unsigned y, bool rings)
{
    ExanetTopology topo = exanet_topology_grid(x, y, 1, rings);

    for (unsigned f1 = 0; f1 < x * y; f1++) {
        unsigned fpga[4] = { f1 };

        for (unsigned i = 1; i < 4; i++) {
            fpga[i] = exanet_topology_node(&topo,
                                           exanet_coord(f1 % x, f1 / x, 0, i));
            for (unsigned n = 0; n < i; n++) {
                exanet_topology_cable(&topo, fpga[n], fpga[i]);
            }
        }
    }
    return topo;
}

/*
 * Adds a routing rule to node @n: packets whose destination is @value under @mask may
 * leave by the ports of bit mask @links.
 */
static void topology_rule(ExanetTopology *topo, unsigned n, uint32_t value,
                          uint32_t mask, unsigned links)
{
    if (!topo->routes[n]) {
        topo->routes[n] = g_string_new(NULL);
    }
    g_string_append_printf(topo->routes[n], "%s0x%x/0x%x>",
                           topo->routes[n]->len ? ";" : "", value, mask);
    for (const char *sep = ""; links; links &= links - 1, sep = "+") {
        g_string_append_printf(topo->routes[n], "%s%u", sep, ctz32(links));
    }
}

static uint32_t cabinet_coord(unsigned cabinet, unsigned card)
{
    return RNIC_PREP(EXANET_ARITH_CABINET, cabinet) |
           RNIC_PREP(EXANET_ARITH_CARD, card);
}

ExanetTopology exanet_topology_fat_tree(unsigned leaves, unsigned hosts,
                                        unsigned spines)
{
    ExanetTopology topo = { .dims = { 1, 1, 1 } };
    const unsigned leaf = leaves * hosts, spine = leaf + leaves;

    for (unsigned i = 0; i < leaf; i++) {
        exanet_topology_node(&topo, cabinet_coord(i / hosts, i % hosts));
        topology_rule(&topo, i, 0, 0, 1);
    }
    for (unsigned i = 0; i < leaves; i++) {
        exanet_topology_node(&topo, cabinet_coord(i, 0x3ff));
    }
    for (unsigned i = 0; i < spines; i++) {
        exanet_topology_node(&topo, cabinet_coord(0xff, i));
    }
    for (unsigned i = leaf; i < topo.nodes; i++) {
        topo.passes[i] = true;
    }
    for (unsigned i = 0; i < leaf; i++) {
        topology_rule(&topo, leaf + i / hosts, topo.coord[i], EXANET_COORD_MASK,
                      1u << topo.ports[leaf + i / hosts]);
        exanet_topology_cable(&topo, i, leaf + i / hosts);
    }
    for (unsigned i = 0; i < leaves; i++) {
        topology_rule(&topo, leaf + i, 0, 0,
                      ((1u << spines) - 1) << topo.ports[leaf + i]);
        for (unsigned k = 0; k < spines; k++) {
            topology_rule(&topo, spine + k, cabinet_coord(i, 0),
                          EXANET_ARITH_CABINET, 1u << topo.ports[spine + k]);
            exanet_topology_cable(&topo, leaf + i, spine + k);
        }
    }
    return topo;
}

ExanetTopology exanet_topology_dragonfly(unsigned groups, unsigned nodes)
{
    ExanetTopology topo = { .dims = { 1, 1, 1 } };
    /* other groups to which each node of a group has a cable */
    const unsigned each = (groups - 2) / nodes + 1;

    for (unsigned i = 0; i < groups * nodes; i++) {
        exanet_topology_node(&topo, cabinet_coord(i / nodes, i % nodes));
        for (unsigned k = i / nodes * nodes; k < i; k++) {
            topology_rule(&topo, i, topo.coord[k], EXANET_COORD_MASK,
                          1u << topo.ports[i]);
            topology_rule(&topo, k, topo.coord[i], EXANET_COORD_MASK,
                          1u << topo.ports[k]);
            exanet_topology_cable(&topo, i, k);
        }
    }
    for (unsigned i = 0; i < groups * groups; i++) {
        unsigned a = i / groups, b = i % groups;
        unsigned gate = a * nodes + (b + groups - a - 1) % groups / each;
        unsigned other = b * nodes + (a + groups - b - 1) % groups / each;

        if (a < b) {
            exanet_topology_cable(&topo, gate, other);
        }
        for (unsigned n = a * nodes; n < (a + 1) * nodes && a != b; n++) {
            topology_rule(&topo, n, cabinet_coord(b, 0), EXANET_ARITH_CABINET,
                          1u << exanet_topology_port(&topo, n, n == gate ?
                                                     other : gate, 0));
        }
    }
    return topo;
}

/* --- Start and end -------------------------------------------------------- */

/*
 * Returns the end of a cable that connects; the other end listens, so its QEMU must
 * start first.
 */
static unsigned connecting_end(const ExanetTopology *topo, const ExanetCable *c)
{
    if (topo->mortal[c->node[0]]) {
        return 0;
    }
    return topo->mortal[c->node[1]] || c->node[1] > c->node[0];
}

static void add_netdev(ExanetNetwork *f, unsigned n, const ExanetCable *c,
                       GString *netdevs)
{
    g_autofree char *path = NULL, *id = NULL, *cable = NULL;
    const ExanetTopology *topo = &f->topo;
    unsigned end = c->node[1] == n;
    unsigned other = c->node[!end];

    id = g_strdup_printf("wire%u", c->port[end]);
    if (topo->alien[other]) {
        cable = exanet_peer_options(f->alien[other], id);
        g_string_append_printf(netdevs, "%s ", cable);
        return;
    }
    g_assert_false(topo->mortal[n] && topo->mortal[other]);
    /*
     * reconnects, because QEMU listens in a thread of its own and may not be ready for
     * the first attempt
     */
    path = g_strdup_printf("%s/%zu", f->dir, (size_t)(c - topo->cable));
    cable = machine_cable(id, path, connecting_end(topo, c) != end);
    g_string_append_printf(netdevs, "%s ", cable);
}

/* Returns true if another cable joins the same two nodes as @c. */
static bool has_parallel(const ExanetTopology *topo, const ExanetCable *c)
{
    for (unsigned i = 0; i < topo->cables; i++) {
        const ExanetCable *d = &topo->cable[i];

        if (d != c && ((d->node[0] == c->node[0] && d->node[1] == c->node[1]) ||
                       (d->node[0] == c->node[1] && d->node[1] == c->node[0]))) {
            return true;
        }
    }
    return false;
}

static void start_node(ExanetNetwork *f, unsigned n)
{
    const ExanetTopology *topo = &f->topo;
    g_autoptr(GString) netdevs = g_string_new(NULL);
    g_autoptr(GString) props = g_string_new(f->props);

    for (unsigned i = 0; i < topo->cables; i++) {
        const ExanetCable *c = &topo->cable[i];

        for (unsigned end = 0; end < 2; end++) {
            if (c->node[end] == n) {
                add_netdev(f, n, c, netdevs);
                g_string_append_printf(props, ",link%u=wire%u", c->port[end],
                                       c->port[end]);
                if (has_parallel(topo, c)) {
                    g_string_append_printf(props, ",peer%u=0x%x", c->port[end],
                                           topo->coord[c->node[!end]]);
                }
            }
        }
    }
    if (topo->dims[0] * topo->dims[1] * topo->dims[2] > 1) {
        g_string_append_printf(props, ",dims=%ux%ux%u", topo->dims[0],
                               topo->dims[1], topo->dims[2]);
    }
    if (topo->routes[n]) {
        /* in quotes, because a shell parses the options */
        g_string_append_printf(props, ",router=table,routes='%s'",
                               topo->routes[n]->str);
    }
    g_string_append_printf(props, ",epoch=%u%s", f->epoch[n],
                           topo->alone[n] ? ",runs=off" : "");
    f->t[n] = exanet_start_node(netdevs->str, topo->coord[n], props->str);
}

static void open_node(ExanetNetwork *f, unsigned n)
{
    if (f->topo.passes[n]) {
        return;
    }
    exanet_set32(f->t[n], EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    for (unsigned c = 0; c < EXANET_NETWORK_CONTEXTS; c++) {
        exanet_open(f->t[n], c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
}

ExanetNetwork *exanet_network_start(const ExanetTopology *topo, const char *props)
{
    ExanetNetwork *f = g_new0(ExanetNetwork, 1);

    f->topo = *topo;
    f->props = g_strdup(props);
    f->dir = g_dir_make_tmp("exanet-network-XXXXXX", NULL);
    g_assert_nonnull(f->dir);
    for (unsigned n = 0; n < topo->nodes; n++) {
        f->epoch[n] = EXANET_TEST_EPOCH + n;
        if (topo->alien[n]) {
            f->alien[n] = exanet_peer_new(topo->coord[n], false);
        }
    }
    for (unsigned mortal = 0; mortal < 2; mortal++) {
        for (unsigned n = 0; n < topo->nodes; n++) {
            if (!topo->alien[n] && topo->mortal[n] == mortal) {
                start_node(f, n);
                open_node(f, n);
            }
        }
    }
    for (unsigned n = 0; n < topo->nodes; n++) {
        if (f->alien[n]) {
            exanet_peer_started(f->alien[n]);
            exanet_peer_hello(f->alien[n], false);
        }
    }
    exanet_network_wait_linked(f);
    return f;
}

void exanet_network_stop(ExanetNetwork *f)
{
    for (unsigned n = 0; n < f->topo.nodes; n++) {
        if (f->t[n]) {
            /* sends SIGTERM to all nodes first, because the end of each takes time */
            kill(qtest_pid(f->t[n]->qts), SIGTERM);
        }
    }
    for (unsigned n = 0; n < f->topo.nodes; n++) {
        if (f->t[n]) {
            exanet_stop(f->t[n]);
        }
        exanet_peer_free(f->alien[n]);
        if (f->topo.routes[n]) {
            g_string_free(f->topo.routes[n], true);
        }
    }
    for (unsigned i = 0; i < f->topo.cables; i++) {
        g_autofree char *path = g_strdup_printf("%s/%u", f->dir, i);

        unlink(path);
    }
    g_rmdir(f->dir);
    g_free(f->dir);
    g_free(f->props);
    g_free(f);
}

void exanet_network_kill(ExanetNetwork *f, unsigned n)
{
    g_assert_true(f->topo.mortal[n]);
    exanet_crash(f->t[n]);
    f->t[n] = NULL;
}

void exanet_network_revive(ExanetNetwork *f, unsigned n)
{
    /* a new epoch, which is not 0 */
    f->epoch[n] = 1 + (f->epoch[n] + EXANET_NETWORK_NODES) % 255;
    start_node(f, n);
    open_node(f, n);
}

void exanet_network_reset(ExanetNetwork *f, unsigned n)
{
    exanet_set32(f->t[n], EXANET_REG_CTRL, EXANET_CTRL_RESET);
    open_node(f, n);
}

/* --- Links ---------------------------------------------------------------- */

uint64_t exanet_network_port_get(ExanetNetwork *f, unsigned node, unsigned port,
                                 unsigned reg)
{
    return exanet_get64(f->t[node], EXANET_PORT(port) + reg);
}

static bool end_up(ExanetNetwork *f, const ExanetCable *c, unsigned end)
{
    ExanetTest *t = f->t[c->node[end]];
    bool other = f->t[c->node[!end]] || f->alien[c->node[!end]];

    return !t || !other ||
           (exanet_get32(t, EXANET_PORT(c->port[end]) +
                         EXANET_REG_PORT_STATUS) & EXANET_PORT_STATUS_UP);
}

bool exanet_network_linked(ExanetNetwork *f)
{
    for (unsigned i = 0; i < f->topo.cables; i++) {
        const ExanetCable *c = &f->topo.cable[i];

        if (!end_up(f, c, 0) || !end_up(f, c, 1)) {
            return false;
        }
    }
    return true;
}

void exanet_network_wait_linked(ExanetNetwork *f)
{
    int64_t end = wait_end();

    exanet_network_settle(f);
    while (!exanet_network_linked(f)) {
        exanet_network_step(f, 60 * EXANET_MS);
        if (g_get_monotonic_time() > end) {
            exanet_network_dump(f);
            g_error("links that do not come up");
        }
    }
}

void exanet_network_fault(ExanetNetwork *f, unsigned node, unsigned port,
                          const char *faults)
{
    g_autofree char *name = g_strdup_printf("faults%u", port);

    qtest_qmp_assert_success(f->t[node]->qts,
        "{ 'execute': 'qom-set', 'arguments': { 'path': "
        "'/machine/peripheral/nic', 'property': %s, 'value': %s } }",
        name, faults);
}

void exanet_network_fault_all(ExanetNetwork *f, const char *faults, uint32_t seed)
{
    for (unsigned i = 0; i < 2 * f->topo.cables; i++) {
        const ExanetCable *c = &f->topo.cable[i / 2];
        g_autofree char *text = *faults ?
            g_strdup_printf("%s seed=%u", faults, seed + i) : g_strdup("");

        if (f->t[c->node[i & 1]]) {
            exanet_network_fault(f, c->node[i & 1], c->port[i & 1], text);
        }
    }
}

/* --- Time ----------------------------------------------------------------- */

/* Reads all counters of @n; returns true if one has changed since the last call. */
static bool look(ExanetNetwork *f, unsigned n)
{
    uint64_t count[EXANET_COUNTER_COUNT];
    bool moved;

    qtest_bufread(f->t[n]->qts, f->t[n]->regs.addr + EXANET_COUNTER(0), count,
                  sizeof(count));
    for (unsigned i = 0; i < EXANET_COUNTER_COUNT; i++) {
        count[i] = le64_to_cpu(count[i]);
    }
    moved = memcmp(count, f->count[n], sizeof(count));
    memcpy(f->count[n], count, sizeof(count));
    return moved;
}

/*
 * Looks at all nodes and aliens once; returns true if no counter has changed and no
 * frame has arrived.
 */
static bool quiet(ExanetNetwork *f)
{
    bool moved = false;

    for (unsigned n = 0; n < f->topo.nodes; n++) {
        if (f->t[n]) {
            moved |= look(f, n);
        }
        if (f->alien[n] && !f->deaf) {
            moved |= exanet_peer_poll(f->alien[n], 0);
        }
    }
    return !moved;
}

bool exanet_network_settle(ExanetNetwork *f)
{
    int64_t end = g_get_monotonic_time() + STORM_SECONDS * G_USEC_PER_SEC;
    unsigned looks = 0;
    bool moved = false;

    while (looks < QUIET_LOOKS) {
        looks = quiet(f) ? looks + 1 : 0;
        moved |= !looks;
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
    return moved;
}

bool exanet_network_step(ExanetNetwork *f, int64_t ns)
{
    for (unsigned n = 0; ns && n < f->topo.nodes; n++) {
        if (f->t[n]) {
            qtest_clock_step(f->t[n]->qts, ns);
        }
    }
    f->now += ns;
    return exanet_network_settle(f);
}

void exanet_network_pass(ExanetNetwork *f, int64_t ns, int64_t step)
{
    for (int64_t t = 0; t < ns; t += step) {
        for (unsigned n = 0; n < f->topo.nodes; n++) {
            if (f->t[n]) {
                qtest_clock_step(f->t[n]->qts, step);
            }
        }
        f->now += step;
    }
}

uint64_t exanet_network_sum(ExanetNetwork *f, unsigned n)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < f->topo.nodes; i++) {
        sum += f->count[i][n];
    }
    return sum;
}

static void dump_port(ExanetNetwork *f, unsigned n, unsigned port)
{
    static const char *const name[] = {
        "tx", "tx-words", "rx", "rx-words", "bad-header", "bad-payload",
        "bad-footer", "dropped", "xoff-sent", "xoff-received",
    };

    g_printerr("#   port %u, status 0x%x, level 0x%x:", port,
               exanet_get32(f->t[n], EXANET_PORT(port) +
                            EXANET_REG_PORT_STATUS),
               exanet_get32(f->t[n], EXANET_PORT(port) +
                            EXANET_REG_PORT_LEVEL));
    for (unsigned i = 0; i < ARRAY_SIZE(name); i++) {
        g_printerr(" %s %" PRIu64, name[i],
                   exanet_network_port_get(f, n, port,
                                           EXANET_REG_PORT_TX_PACKETS + 8 * i));
    }
    g_printerr("\n");
}

void exanet_network_dump(ExanetNetwork *f)
{
    static const struct { const char *name; } counter[] = {
#define COUNTER_NAME(name, text) { #name },
        EXANET_COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
    };

    for (unsigned n = 0; n < f->topo.nodes; n++) {
        if (!f->t[n]) {
            continue;
        }
        g_printerr("# node %u, 0x%x:", n, f->topo.coord[n]);
        for (unsigned i = 0; i < EXANET_COUNTER_COUNT; i++) {
            if (f->count[n][i]) {
                g_printerr(" %s %" PRIu64, counter[i].name, f->count[n][i]);
            }
        }
        g_printerr("\n");
        for (unsigned i = 0; i < f->topo.ports[n]; i++) {
            dump_port(f, n, i);
        }
    }
}
