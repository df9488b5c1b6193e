/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet routing.  In each network up to 4x4x4 QFDBs, routes are complete and shortest,
 * and no set of packets can wait in a circle.
 *
 * A packet that fills a channel (a virtual channel of a cable, in one direction) waits
 * for the next channel of its route.  If the graph of these waits has no cycle, the
 * channel without a successor drains first, then the channels that wait for it, and so
 * on.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "hw/rnic/exanet/net/arith.h"
#include "hw/rnic/exanet/net/route.h"

#define UPPER 5
#define SIDES 16                    /* most nodes of a dimension */
#define FPGAS 4

/* A network of @size[] QFDBs with @fpgas nodes each. */
typedef struct Net {
    unsigned size[EXANET_DIMENSIONS];
    unsigned fpgas;
    unsigned nodes;
    ExanetRouteConfig cfg;
    unsigned vc_mask;               /* virtual channels that the switches use */
    /*
     * for each channel, the channels that it may wait for: bits by exit and virtual
     * channel
     */
    uint64_t *next;
} Net;

/* Exits of a node: six directions of the torus, then one exit for each FPGA. */
#define EXIT_FPGA 6
#define EXITS (EXIT_FPGA + FPGAS)
QEMU_BUILD_BUG_ON(EXITS * EXANET_VCS > 64);

static uint32_t net_coord(const Net *net, unsigned n)
{
    unsigned f = n % net->fpgas;
    unsigned x = n / net->fpgas % net->size[0];
    unsigned y = n / net->fpgas / net->size[0] % net->size[1];
    unsigned z = n / net->fpgas / net->size[0] / net->size[1];

    return RNIC_PREP(EXANET_COORD_UPPER, UPPER) |
           RNIC_PREP(EXANET_COORD_OFFSET, f) | RNIC_PREP(EXANET_COORD_X, x) |
           RNIC_PREP(EXANET_COORD_Y, y) | RNIC_PREP(EXANET_COORD_Z, z);
}

static unsigned net_index(const Net *net, uint32_t coord)
{
    unsigned x = RNIC_GET(EXANET_COORD_X, coord);
    unsigned y = RNIC_GET(EXANET_COORD_Y, coord);
    unsigned z = RNIC_GET(EXANET_COORD_Z, coord);

    g_assert_cmpuint(RNIC_GET(EXANET_COORD_UPPER, coord), ==, UPPER);
    g_assert_cmpuint(RNIC_GET(EXANET_COORD_OFFSET, coord), <, net->fpgas);
    g_assert_cmpuint(x, <, net->size[0]);
    g_assert_cmpuint(y, <, net->size[1]);
    g_assert_cmpuint(z, <, net->size[2]);
    return ((z * net->size[1] + y) * net->size[0] + x) * net->fpgas +
           RNIC_GET(EXANET_COORD_OFFSET, coord);
}

static void net_init(Net *net, unsigned x, unsigned y, unsigned z,
                     unsigned fpgas, bool torus)
{
    *net = (Net) {
        .size = { x, y, z },
        .fpgas = fpgas,
        .nodes = x * y * z * fpgas,
        .vc_mask = ~0u,
    };
    exanet_route_config(&net->cfg, torus ? z << 16 | y << 8 | x : 0,
                        EXANET_SW_ORDER_DEFAULT);
    net->next = g_new0(uint64_t, net->nodes * EXITS * EXANET_VCS);
}

/* --- Routes --------------------------------------------------------------- */

/* Returns the steps between @a and @b in a line or ring of @n nodes. */
static unsigned steps_between(unsigned a, unsigned b, unsigned n, bool ring)
{
    unsigned d = a < b ? b - a : a - b;

    return ring && n - d < d ? n - d : d;
}

/* Returns the steps of the shortest route that uses only cables of the network. */
static unsigned steps_least(const Net *net, uint32_t src, uint32_t dst)
{
    static const uint64_t field[] = {
        EXANET_COORD_X, EXANET_COORD_Y, EXANET_COORD_Z,
    };
    unsigned steps = 0;

    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        steps += steps_between(RNIC_GET(field[i], src), RNIC_GET(field[i], dst),
                               net->size[i], net->cfg.ring[i]);
    }
    if (steps == 0) {
        return src != dst;
    }
    return steps + !!(src & EXANET_COORD_OFFSET) +
           !!(dst & EXANET_COORD_OFFSET);
}

/* Asserts that @hop from @node uses a cable of the network, with the right role. */
static void check_cable(const Net *net, uint32_t node, const ExanetHop *hop)
{
    g_assert_cmpint(exanet_route_role(&net->cfg, node, hop->next), ==,
                    hop->role);
    if (exanet_role_torus(hop->role)) {
        g_assert_cmphex(node & EXANET_COORD_OFFSET, ==, 0);
        g_assert_cmphex(exanet_route_neighbour(&net->cfg, node, hop->role), ==,
                        hop->next);
        /* the far end has the opposite role */
        g_assert_cmpint(((hop->role - 1) ^ 1) + 1, ==,
                        exanet_route_role(&net->cfg, hop->next, node));
    } else {
        g_assert_cmpint(hop->role, ==, EXANET_ROLE_QFDB);
    }
}

static unsigned channel(const Net *net, uint32_t node, const ExanetHop *hop,
                        unsigned vc)
{
    unsigned exit = exanet_role_torus(hop->role) ?
                    hop->role - EXANET_ROLE_X_MINUS :
                    EXIT_FPGA + RNIC_GET(EXANET_COORD_OFFSET, hop->next);

    return (net_index(net, node) * EXITS + exit) * EXANET_VCS + vc;
}

/* Follows a packet, and records which channels may wait for which.  Returns its steps. */
static unsigned walk(const Net *net, uint32_t src, uint32_t dst, unsigned path)
{
    const unsigned exits = EXITS * EXANET_VCS;
    enum exanet_role in = EXANET_ROLE_AUTO;
    unsigned steps = 0, vc = 0, last = 0;
    uint32_t node = src;
    ExanetHop hop;

    for (;;) {
        unsigned here;

        g_assert_true(exanet_route_hop(&net->cfg, node, dst, path, &hop));
        if (hop.role == EXANET_ROLE_AUTO) {
            break;
        }
        vc = exanet_route_vc(in, vc, &hop, path) & net->vc_mask;
        g_assert_cmpuint(vc, <, EXANET_VCS);
        here = channel(net, node, &hop, vc);
        if (steps) {
            net->next[last] |= 1ULL << (here % exits);
        }
        last = here;
        in = hop.role;
        node = hop.next;
        g_assert_cmpuint(++steps, <=, 3 * SIDES + 2);
    }
    g_assert_cmphex(node, ==, dst);
    return steps;
}

/* --- Cycles --------------------------------------------------------------- */

/* Returns the node to which channel @c leads. */
static uint32_t channel_end(const Net *net, unsigned c)
{
    unsigned exit = c / EXANET_VCS % EXITS;
    uint32_t node = net_coord(net, c / EXANET_VCS / EXITS);

    return exit < EXIT_FPGA ?
           exanet_route_neighbour(&net->cfg, node, EXANET_ROLE_X_MINUS + exit) :
           (exanet_route_f1(node) |
            (uint32_t)RNIC_PREP(EXANET_COORD_OFFSET, exit - EXIT_FPGA));
}

/*
 * Returns true if channels wait in a circle: removes channels that no channel waits for,
 * until no such channel is left.
 */
static bool has_cycle(const Net *net)
{
    unsigned channels = net->nodes * EXITS * EXANET_VCS;
    g_autofree unsigned *waiters = g_new0(unsigned, channels);
    g_autofree unsigned *free_ones = g_new(unsigned, channels);
    unsigned count = 0;

    for (unsigned c = 0; c < channels; c++) {
        for (uint64_t n = net->next[c]; n; n &= n - 1) {
            waiters[net_index(net, channel_end(net, c)) * EXITS * EXANET_VCS +
                    ctz64(n)]++;
        }
    }
    for (unsigned c = 0; c < channels; c++) {
        if (!waiters[c]) {
            free_ones[count++] = c;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned c = free_ones[i];

        for (uint64_t n = net->next[c]; n; n &= n - 1) {
            unsigned to = net_index(net, channel_end(net, c)) * EXITS *
                          EXANET_VCS + ctz64(n);

            if (--waiters[to] == 0) {
                free_ones[count++] = to;
            }
        }
    }
    return count != channels;
}

/*
 * Follows packets between all ordered pairs in both orders of dimensions; asserts that
 * their routes are shortest.  Returns true if channels may wait in a circle.  Frees
 * net->next.
 */
static bool net_jams(Net *net)
{
    bool jams;

    for (unsigned i = 0; i < net->nodes; i++) {
        for (unsigned j = 0; j < net->nodes; j++) {
            uint32_t src = net_coord(net, i), dst = net_coord(net, j);
            unsigned least = steps_least(net, src, dst);

            g_assert_cmpuint(walk(net, src, dst, 0), ==, least);
            g_assert_cmpuint(walk(net, src, dst, EXANET_PATH_ORDER), ==, least);
        }
    }
    jams = has_cycle(net);
    g_free(net->next);
    return jams;
}

/* --- Tests ---------------------------------------------------------------- */

/* Checks each step of each route in typical networks of clusters. */
static void test_steps(void)
{
    static const struct {
        unsigned x, y, z, fpgas;
    } nets[] = {
        { 1, 1, 1, 4 },             /* one QFDB */
        { 2, 2, 1, 1 },             /* a torus of 2x2 nodes */
        { 2, 2, 1, 4 },             /* a torus of 2x2 QFDBs */
        { 4, 4, 1, 1 }, { 5, 3, 2, 2 }, { 16, 1, 1, 1 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(nets); i++) {
        Net net;

        net_init(&net, nets[i].x, nets[i].y, nets[i].z, nets[i].fpgas, true);
        for (unsigned n = 0; n < net.nodes * net.nodes * 2; n++) {
            uint32_t node = net_coord(&net, n / 2 / net.nodes);
            uint32_t dst = net_coord(&net, n / 2 % net.nodes);
            unsigned path = n % 2 ? EXANET_PATH_ORDER : 0;
            ExanetHop hop;

            g_assert_true(exanet_route_hop(&net.cfg, node, dst, path, &hop));
            while (hop.role != EXANET_ROLE_AUTO) {
                check_cable(&net, node, &hop);
                node = hop.next;
                g_assert_true(exanet_route_hop(&net.cfg, node, dst, path,
                                               &hop));
            }
        }
        g_assert_false(net_jams(&net));
    }
}

/* Returns the first step of a packet from @c to @d in dimension X. */
static ExanetHop first_step(const ExanetRouteConfig *cfg, unsigned c, unsigned d)
{
    ExanetHop hop;

    g_assert_true(exanet_route_hop(cfg, c, d, 0, &hop));
    return hop;
}

/*
 * If both directions of a ring are equally long, the route avoids the wrap-around cable.
 */
static void test_ties(void)
{
    for (unsigned n = 4; n <= SIDES; n += 2) {
        ExanetRouteConfig cfg;

        exanet_route_config(&cfg, n, EXANET_SW_ORDER_DEFAULT);
        for (unsigned c = 0; c < n; c++) {
            ExanetHop hop = first_step(&cfg, c, (c + n / 2) % n);

            g_assert_cmpint(hop.role, ==, c < n / 2 ? EXANET_ROLE_X_PLUS :
                                                      EXANET_ROLE_X_MINUS);
            g_assert_false(hop.wrap);
        }
        /* one node further, the other direction is shorter */
        g_assert_true(first_step(&cfg, 0, n / 2 + 1).wrap);
        g_assert_cmpint(first_step(&cfg, 0, n / 2 + 1).role, ==,
                        EXANET_ROLE_X_MINUS);
        g_assert_true(first_step(&cfg, n - 1, 0).wrap);
        g_assert_cmphex(first_step(&cfg, n - 1, 0).next, ==, 0);
    }
}

/* A packet takes the dimensions in the order of the register, or in the reverse order. */
static void test_order(void)
{
    static const struct {
        uint32_t order;
        enum exanet_role first[3];
    } orders[] = {
        { EXANET_SW_ORDER_DEFAULT,
          { EXANET_ROLE_Z_PLUS, EXANET_ROLE_Y_PLUS, EXANET_ROLE_X_PLUS } },
        { 2 << 4 | 1 << 2 | 0,
          { EXANET_ROLE_X_PLUS, EXANET_ROLE_Y_PLUS, EXANET_ROLE_Z_PLUS } },
        { 0 << 4 | 2 << 2 | 1,
          { EXANET_ROLE_Y_PLUS, EXANET_ROLE_Z_PLUS, EXANET_ROLE_X_PLUS } },
        /* invalid orders: the default applies */
        { 0, { EXANET_ROLE_Z_PLUS, EXANET_ROLE_Y_PLUS, EXANET_ROLE_X_PLUS } },
        { 3 << 4 | 1 << 2 | 0,
          { EXANET_ROLE_Z_PLUS, EXANET_ROLE_Y_PLUS, EXANET_ROLE_X_PLUS } },
    };
    const uint32_t dst = 0x111;

    for (unsigned i = 0; i < ARRAY_SIZE(orders); i++) {
        ExanetRouteConfig cfg;
        uint32_t node = 0, back = 0;
        ExanetHop hop;

        exanet_route_config(&cfg, 0, orders[i].order);
        for (unsigned n = 0; n < 3; n++) {
            g_assert_true(exanet_route_hop(&cfg, node, dst, 0, &hop));
            g_assert_cmpint(hop.role, ==, orders[i].first[n]);
            node = hop.next;
            g_assert_true(exanet_route_hop(&cfg, back, dst, EXANET_PATH_ORDER,
                                           &hop));
            g_assert_cmpint(hop.role, ==, orders[i].first[2 - n]);
            back = hop.next;
        }
        g_assert_cmphex(node, ==, dst);
        g_assert_cmphex(back, ==, dst);
    }
    g_assert_true(exanet_route_orders(0, 0x011));
    g_assert_true(exanet_route_orders(0x3000, 0x111));
    g_assert_false(exanet_route_orders(0, 0x3010));
    g_assert_false(exanet_route_orders(0, 0));
    /* the packet leaves by an uplink, so both orders have the same route */
    g_assert_false(exanet_route_orders(0, 0x4011));
}

static void test_roles(void)
{
    static const struct {
        uint32_t dims, node, peer;
        enum exanet_role role;
    } cables[] = {
        { 0, 0x000, 0x001, EXANET_ROLE_X_PLUS },
        { 0, 0x001, 0x000, EXANET_ROLE_X_MINUS },
        { 0, 0x000, 0x010, EXANET_ROLE_Y_PLUS },
        { 0, 0x700, 0x600, EXANET_ROLE_Z_MINUS },
        { 0, 0x000, 0x003, EXANET_ROLE_AUTO },      /* no ring is configured */
        { 0, 0x000, 0x00f, EXANET_ROLE_AUTO },
        { 0, 0x00f, 0x000, EXANET_ROLE_AUTO },
        { 2, 0x000, 0x001, EXANET_ROLE_X_PLUS },    /* two nodes form no ring */
        { 3, 0x000, 0x002, EXANET_ROLE_X_MINUS },
        { 3, 0x002, 0x000, EXANET_ROLE_X_PLUS },
        { 4, 0x000, 0x003, EXANET_ROLE_X_MINUS },
        { 4, 0x003, 0x004, EXANET_ROLE_AUTO },      /* a coordinate outside of the ring */
        { 4, 0x005, 0x004, EXANET_ROLE_AUTO },
        { 16, 0x00f, 0x000, EXANET_ROLE_X_PLUS },
        { 17, 0x00f, 0x000, EXANET_ROLE_AUTO },
        { 0x40300, 0x000, 0x020, EXANET_ROLE_Y_MINUS },
        { 0x40300, 0x300, 0x000, EXANET_ROLE_Z_PLUS },
        { 0, 0x000, 0x011, EXANET_ROLE_AUTO },      /* two dimensions */
        { 0, 0x0000, 0x3000, EXANET_ROLE_QFDB },
        { 0, 0x1000, 0x2000, EXANET_ROLE_QFDB },
        { 0, 0x1000, 0x1001, EXANET_ROLE_AUTO },    /* only F1 is in the torus */
        { 0, 0x0000, 0x1001, EXANET_ROLE_AUTO },
        { 0, 0x0000, 0x0000, EXANET_ROLE_AUTO },
        { 0, 0x0000, 0x4000, EXANET_ROLE_UPLINK },
        { 0, 0x3212, 0x17021, EXANET_ROLE_UPLINK },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cables); i++) {
        ExanetRouteConfig cfg;

        exanet_route_config(&cfg, cables[i].dims, EXANET_SW_ORDER_DEFAULT);
        g_assert_cmpint(exanet_route_role(&cfg, cables[i].node,
                                          cables[i].peer), ==, cables[i].role);
    }
}

/* Coordinates outside of the ring have no route.  Other upper bits lead to the uplink. */
static void test_outside(void)
{
    ExanetRouteConfig cfg;
    ExanetHop hop;

    exanet_route_config(&cfg, 4, EXANET_SW_ORDER_DEFAULT);
    g_assert_false(exanet_route_hop(&cfg, 0x000, 0x004, 0, &hop));
    g_assert_false(exanet_route_hop(&cfg, 0x00f, 0x001, 0, &hop));
    g_assert_true(exanet_route_hop(&cfg, 0x000, 0x040, 0, &hop));
    g_assert_true(exanet_route_hop(&cfg, 0x0000, 0x4000, 0, &hop));
    g_assert_cmpint(hop.role, ==, EXANET_ROLE_UPLINK);
    /*
     * a packet from an uplink to an uplink takes the second channel; then it leaves the
     * uplinks
     */
    g_assert_cmpuint(exanet_route_vc(EXANET_ROLE_AUTO, 0, &hop, 0), ==, 0);
    g_assert_cmpuint(exanet_route_vc(EXANET_ROLE_UPLINK, 0, &hop, 0), ==,
                     EXANET_VC_DATELINE);
    g_assert_true(exanet_route_hop(&cfg, 0, 1, EXANET_PATH_ORDER, &hop));
    g_assert_cmpuint(exanet_route_vc(EXANET_ROLE_UPLINK, EXANET_VC_DATELINE,
                                     &hop, EXANET_PATH_ORDER), ==,
                     EXANET_VC_ORDER);
}

static void test_dims(void)
{
    static const struct {
        const char *text;
        bool good;
        uint32_t dims;
    } texts[] = {
        { "4x4", true, 0x000404 }, { "4x2x3", true, 0x030004 },
        { "16x16x16", true, 0x101010 }, { "5", true, 5 }, { "1x0x1", true, 0 },
        { "", false }, { "x", false }, { "4x", false }, { "x4", false },
        { "17", false }, { "4x4x4x4", false }, { "4 x4", false },
        { "-4", false }, { "+4", false }, { "4y4", false }, { "4x4 ", false },
        { "99999999999999999999", false }, { "four", false }, { "0x4", true,
                                                                0x000400 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
        uint32_t dims = 0;

        g_assert_cmpint(exanet_route_dims(texts[i].text, &dims), ==,
                        texts[i].good);
        g_assert_cmphex(dims, ==, texts[i].dims);
    }
}

/* A node accepts a packet only from the neighbour on its route. */
static void test_source(void)
{
    Net net;

    net_init(&net, 4, 3, 1, 2, true);
    for (unsigned n = 0; n < net.nodes * net.nodes * 2; n++) {
        unsigned path = n % 2 ? EXANET_PATH_ORDER : 0;
        uint32_t src = net_coord(&net, n / 2 / net.nodes);
        uint32_t dst = net_coord(&net, n / 2 % net.nodes);
        uint32_t node = src;
        ExanetHop hop;

        for (;;) {
            g_assert_true(exanet_route_hop(&net.cfg, node, dst, path, &hop));
            if (hop.role == EXANET_ROLE_AUTO) {
                break;
            }
            for (unsigned i = 0; i < net.nodes; i++) {
                uint32_t to = net_coord(&net, i);

                /* an additional cable may lead directly to the destination */
                g_assert_cmpint(exanet_route_passes(&net.cfg, src, dst, path,
                                                    node, to), ==,
                                to == hop.next || to == dst);
            }
            node = hop.next;
        }
    }
    g_free(net.next);
}

static void test_source_forged(void)
{
    ExanetRouteConfig cfg;

    exanet_route_config(&cfg, 0x0404, EXANET_SW_ORDER_DEFAULT);
    /*
     * the order is Y first: a packet from 0x00 to 0x11 arrives by 0x10, in the other
     * order by 0x01
     */
    g_assert_true(exanet_route_passes(&cfg, 0x00, 0x11, 0, 0x10, 0x11));
    g_assert_false(exanet_route_passes(&cfg, 0x00, 0x11, 0, 0x01, 0x11));
    g_assert_true(exanet_route_passes(&cfg, 0x00, 0x11, EXANET_PATH_ORDER, 0x01,
                                      0x11));
    /* refused: neighbours beside the route, behind it, and at its end */
    g_assert_false(exanet_route_passes(&cfg, 0x00, 0x11, 0, 0x21, 0x11));
    g_assert_false(exanet_route_passes(&cfg, 0x00, 0x20, 0, 0x30, 0x20));
    g_assert_false(exanet_route_passes(&cfg, 0x00, 0x10, 0, 0x10, 0x20));
    g_assert_false(exanet_route_passes(&cfg, 0x11, 0x11, 0, 0x10, 0x11));
    g_assert_false(exanet_route_passes(&cfg, 0x10, 0x20, 0, 0x10, 0x10));
    /*
     * F2 does not forward for F3, and F1 does not send packets of F2 and F3 to each other
     */
    g_assert_false(exanet_route_passes(&cfg, 0x2000, 0x0001, 0, 0x1000, 0x0000));
    g_assert_false(exanet_route_passes(&cfg, 0x2000, 0x1000, 0, 0x0000, 0x1000));
    g_assert_true(exanet_route_passes(&cfg, 0x2000, 0x0001, 0, 0x2000, 0x0000));
    /* only F1 has uplinks: a packet goes to F1, and arrives from any uplink */
    g_assert_true(exanet_route_passes(&cfg, 0x1000, 0x4000, 0, 0x1000, 0x0000));
    g_assert_false(exanet_route_passes(&cfg, 0x1001, 0x4000, 0, 0x0001, 0x0000));
    g_assert_true(exanet_route_passes(&cfg, 0x4000, 0x0022, 0, 0x0010, 0x0020));
    g_assert_false(exanet_route_passes(&cfg, 0x4000, 0x0022, 0, 0x0001, 0x0002));
    g_assert_false(exanet_route_passes(&cfg, 0x4000, 0x8000, 0, 0x0001, 0x0000));
    /* an additional cable is for its ends, and for the packets that its ends forward */
    g_assert_true(exanet_route_passes(&cfg, 0x1000, 0x0022, 0, 0x1000, 0x0022));
    g_assert_true(exanet_route_passes(&cfg, 0x1000, 0x0022, 0, 0x0000, 0x0022));
    g_assert_false(exanet_route_passes(&cfg, 0x0001, 0x0022, 0, 0x1000, 0x0022));
    g_assert_false(exanet_route_passes(&cfg, 0x4000, 0x0022, 0, 0x1000, 0x0022));
}

static void check_sizes(bool torus)
{
    for (unsigned n = 1; n < 64; n++) {
        Net net;

        net_init(&net, n % 4 + 1, n / 4 % 4 + 1, n / 16 + 1, FPGAS, torus);
        g_assert_false(net_jams(&net));
    }
}

/* Meshes of QFDBs with four nodes each, up to 4x4x4 QFDBs. */
static void test_mesh_jams(void)
{
    check_sizes(false);
}

static void test_torus_jams(void)
{
    check_sizes(true);
}

static void test_ring_jams(void)
{
    static const unsigned large[][EXANET_DIMENSIONS] = {
        { 5, 5, 1 }, { 5, 3, 2 }, { 1, 6, 5 }, { 1, 1, 16 }, { 16, 3, 1 },
    };
    Net net;

    for (unsigned n = 5; n <= SIDES; n++) {
        net_init(&net, n, 1, 1, FPGAS, true);
        g_assert_false(net_jams(&net));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(large); i++) {
        net_init(&net, large[i][0], large[i][1], large[i][2], 1, true);
        g_assert_false(net_jams(&net));
    }
}

/*
 * With fewer virtual channels packets wait in a circle where the specification says so
 * [D 2.18].
 */
static void test_jams_found(void)
{
    Net net;

    /* without a dateline: in rings of five or more nodes */
    for (unsigned n = 3; n <= SIDES; n++) {
        net_init(&net, n, 1, 1, 1, true);
        net.vc_mask = ~(unsigned)EXANET_VC_DATELINE;
        g_assert_cmpint(net_jams(&net), ==, n >= 5);
    }
    /* both orders in one virtual channel: in two or more dimensions */
    net_init(&net, 3, 3, 1, 1, false);
    net.vc_mask = ~(unsigned)EXANET_VC_ORDER;
    g_assert_true(net_jams(&net));
    net_init(&net, 9, 1, 1, 1, false);
    net.vc_mask = ~(unsigned)EXANET_VC_ORDER;
    g_assert_false(net_jams(&net));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/route/steps-t26", test_steps);
    g_test_add_func("/exanet/route/ties-t26", test_ties);
    g_test_add_func("/exanet/route/order", test_order);
    g_test_add_func("/exanet/route/roles-t26", test_roles);
    g_test_add_func("/exanet/route/outside", test_outside);
    g_test_add_func("/exanet/route/dims", test_dims);
    g_test_add_func("/exanet/route/source", test_source);
    g_test_add_func("/exanet/route/source-forged", test_source_forged);
    g_test_add_func("/exanet/route/mesh-jams", test_mesh_jams);
    g_test_add_func("/exanet/route/torus-jams", test_torus_jams);
    g_test_add_func("/exanet/route/ring-jams", test_ring_jams);
    g_test_add_func("/exanet/route/jams-found", test_jams_found);
    return g_test_run();
}
