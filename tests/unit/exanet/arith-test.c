/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic router of ExaNet: the rule; tables; and networks.  In each network, all
 * routes lead to the destination, all nodes on them accept the packet's source, and no
 * set of packets can wait in a circle (see route-test.c).
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/host-utils.h"
#include "hw/rnic/exanet/net/arith.h"

#define AT(cabinet, chassis, card) ((cabinet) << 14 | (chassis) << 10 | (card))

/* The worked example of the paper [T §5]. */
#define EXAMPLE_GVA 0x0520140011110000ULL
#define R1 0x14403
#define R2 0x14805

/* --- The rule --------------------------------------------------------------- */

static void test_example(void)
{
    const uint32_t dst = EXAMPLE_GVA >> 42;
    /* the switch of the paper: ports plus, minus, card, uplink */
    const ExanetArithPort r1[] = {
        { R2, EXANET_ROLE_PLUS }, { AT(5, 0, 0), EXANET_ROLE_MINUS },
        { AT(5, 1, 9), EXANET_ROLE_CARD }, { AT(6, 0, 0), EXANET_ROLE_UPLINK },
    };
    const ExanetArithPort r2[] = {
        { AT(5, 3, 0), EXANET_ROLE_PLUS }, { R1, EXANET_ROLE_MINUS },
        { AT(5, 2, 9), EXANET_ROLE_CARD }, { AT(6, 0, 0), EXANET_ROLE_UPLINK },
    };
    ExanetArithRoute route;

    g_assert_cmphex(dst, ==, R2);
    g_assert_cmpuint(RNIC_GET(EXANET_ARITH_CABINET, dst), ==, 5);
    g_assert_cmpuint(RNIC_GET(EXANET_ARITH_CHASSIS, dst), ==, 2);
    g_assert_cmpuint(RNIC_GET(EXANET_ARITH_CARD, dst), ==, 5);
    g_assert_cmpuint(RNIC_GET(EXANET_ARITH_CHASSIS, R1), ==, 1);
    g_assert_cmpuint(RNIC_GET(EXANET_ARITH_CARD, R1), ==, 3);
    exanet_arith_links(r1, 4, R1, dst, &route);
    g_assert_cmphex(route.links, ==, 1 << 0);
    g_assert_cmpint(exanet_arith_role(R2, dst), ==, EXANET_ROLE_AUTO);
    exanet_arith_links(r2, 4, R2, R1, &route);
    g_assert_cmphex(route.links, ==, 1 << 1);
    exanet_arith_links(r1, 4, R1, AT(7, 1, 3), &route);
    g_assert_cmphex(route.links, ==, 1 << 3);
    exanet_arith_links(r1, 4, R1, AT(5, 1, 4), &route);
    g_assert_cmphex(route.links, ==, 1 << 2);
}

static void test_roles(void)
{
    static const struct {
        uint32_t node, other;
        enum exanet_role role;
    } pairs[] = {
        { R1, R1, EXANET_ROLE_AUTO }, { R1, R2, EXANET_ROLE_PLUS },
        { R2, R1, EXANET_ROLE_MINUS }, { R1, R1 + 1, EXANET_ROLE_CARD },
        { 0, AT(0, 0, 1023), EXANET_ROLE_CARD },
        { 0, AT(0, 15, 0), EXANET_ROLE_PLUS },
        { 0, AT(255, 0, 0), EXANET_ROLE_UPLINK },
        { AT(255, 15, 1023), AT(254, 15, 1023), EXANET_ROLE_UPLINK },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++) {
        g_assert_cmpint(exanet_arith_role(pairs[i].node, pairs[i].other), ==,
                        pairs[i].role);
    }
}

/* Checks the links that are chosen if several ports, or none, have the right role. */
static void test_choice(void)
{
    static const uint32_t me = AT(1, 4, 10);
    static const ExanetArithPort ports[] = {
        { AT(1, 5, 0), EXANET_ROLE_PLUS },      /* 0: the next chassis */
        { AT(1, 7, 0), EXANET_ROLE_PLUS },      /* 1: a shortcut */
        { AT(1, 7, 0), EXANET_ROLE_PLUS },      /* 2: a second link to the same node */
        { AT(1, 4, 2), EXANET_ROLE_CARD },      /* 3 */
        { AT(1, 4, 20), EXANET_ROLE_CARD },     /* 4 */
        { AT(2, 0, 0), EXANET_ROLE_UPLINK },    /* 5 */
        { AT(255, 0, 0), EXANET_ROLE_UPLINK },  /* 6: a switch */
        { AT(255, 0, 1), EXANET_ROLE_UPLINK },  /* 7: another switch */
        { AT(1, 1, 1), EXANET_ROLE_AUTO },      /* 8: down */
        { AT(1, 4, 30), EXANET_ROLE_PLUS },     /* 9: a role that software has set */
    };
    static const struct {
        uint32_t dst;
        unsigned links;
        bool handed, exact;
    } rows[] = {
        { AT(1, 5, 0), BIT(0), false, true },   /* the peer itself */
        { AT(1, 5, 3), BIT(0), false, true },
        { AT(1, 6, 0), BIT(0), false, true },   /* port 1 leads too far */
        { AT(1, 7, 9), BIT(1) | BIT(2), false, true },
        { AT(1, 15, 9), BIT(1) | BIT(2), false, true },
        { AT(1, 4, 2), BIT(3), false, true },
        { AT(1, 4, 1), BIT(3), false, true },
        { AT(1, 4, 25), BIT(4), false, true },
        { AT(1, 4, 12), BIT(3) | BIT(4), false, false },
        { AT(1, 3, 0), BIT(3) | BIT(4), true, false },  /* no port leads down */
        { AT(2, 7, 7), BIT(5), false, true },
        { AT(9, 0, 0), BIT(5) | BIT(6) | BIT(7), false, false },
        { AT(255, 0, 1), BIT(7), false, true },
        { AT(255, 0, 5), BIT(6) | BIT(7), false, true },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        ExanetArithRoute route;

        exanet_arith_links(ports, ARRAY_SIZE(ports), me, rows[i].dst, &route);
        g_assert_cmphex(route.links, ==, rows[i].links);
        g_assert_cmpint(route.handed, ==, rows[i].handed);
        if (rows[i].links & (BIT(5) | BIT(6) | BIT(7))) {
            g_assert_cmpint(route.exact, ==, rows[i].exact);
        }
    }
}

/*
 * Links of packets in transit: not the link back, no third uplink, and no card as a
 * substitute for a missing link.
 */
static void test_onward(void)
{
    static const ExanetArithPort ports[] = {
        { AT(2, 0, 0), EXANET_ROLE_UPLINK }, { AT(3, 0, 0), EXANET_ROLE_UPLINK },
        { AT(3, 0, 0), EXANET_ROLE_UPLINK }, { AT(1, 0, 1), EXANET_ROLE_CARD },
    };
    ExanetArithRoute route;

    exanet_arith_links(ports, 4, AT(1, 0, 0), AT(3, 1, 0), &route);
    g_assert_cmphex(exanet_arith_transit_links(ports, 4, &route, 0), ==, BIT(1) | BIT(2));
    g_assert_cmphex(exanet_arith_transit_links(ports, 4, &route, 1), ==, 0);
    g_assert_cmphex(exanet_arith_transit_links(ports, 4, &route, 3), ==, BIT(1) | BIT(2));
    exanet_arith_links(ports, 4, AT(1, 0, 0), AT(4, 1, 0), &route);
    g_assert_cmphex(exanet_arith_transit_links(ports, 4, &route, 0), ==, 0);
    g_assert_cmphex(exanet_arith_transit_links(ports, 4, &route, 3), ==,
                    BIT(0) | BIT(1) | BIT(2));
    exanet_arith_links(ports, 4, AT(1, 0, 0), AT(1, 1, 0), &route);
    g_assert_cmphex(route.links, ==, BIT(3));
    g_assert_cmphex(exanet_arith_transit_links(ports, 4, &route, 0), ==, 0);
}

static void test_source(void)
{
    static const uint32_t up = AT(2, 0, 0), me = AT(1, 4, 10);
    static const struct {
        enum exanet_role in;
        uint32_t src, dst;
        bool ok;
    } claims[] = {
        { EXANET_ROLE_MINUS, AT(1, 3, 0), AT(1, 4, 10), true },
        { EXANET_ROLE_MINUS, AT(1, 0, 7), AT(1, 9, 0), true },
        { EXANET_ROLE_MINUS, AT(9, 0, 7), AT(1, 9, 0), true },
        { EXANET_ROLE_MINUS, AT(1, 5, 0), AT(1, 4, 10), false },
        { EXANET_ROLE_MINUS, AT(1, 4, 3), AT(1, 4, 10), false },
        { EXANET_ROLE_MINUS, AT(1, 3, 0), AT(1, 2, 0), false },
        { EXANET_ROLE_MINUS, AT(1, 3, 0), AT(2, 0, 0), true },
        { EXANET_ROLE_MINUS, AT(9, 3, 0), AT(2, 0, 0), false },
        { EXANET_ROLE_PLUS, AT(1, 5, 0), AT(1, 4, 10), true },
        { EXANET_ROLE_PLUS, AT(1, 3, 0), AT(1, 4, 10), false },
        { EXANET_ROLE_PLUS, AT(1, 5, 0), AT(1, 6, 0), false },
        { EXANET_ROLE_CARD, AT(1, 4, 3), AT(7, 4, 10), true },
        { EXANET_ROLE_CARD, AT(7, 4, 3), AT(1, 4, 10), true },
        { EXANET_ROLE_CARD, AT(7, 4, 3), AT(1, 5, 10), false },
        { EXANET_ROLE_CARD, me, AT(1, 4, 11), false },
        { EXANET_ROLE_UPLINK, AT(2, 9, 9), me, true },
        { EXANET_ROLE_UPLINK, AT(3, 9, 9), me, true },
        { EXANET_ROLE_UPLINK, AT(1, 9, 9), me, false },
        { EXANET_ROLE_UPLINK, AT(2, 9, 9), AT(3, 0, 0), true },
        { EXANET_ROLE_UPLINK, AT(4, 9, 9), AT(3, 0, 0), false },
        { EXANET_ROLE_AUTO, AT(2, 9, 9), me, false },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(claims); i++) {
        g_assert_cmpint(exanet_arith_source(claims[i].in, up, me, claims[i].src,
                                            claims[i].dst), ==, claims[i].ok);
    }
}

/* --- Tables ----------------------------------------------------------------- */

static void test_table(void)
{
    g_autofree char *why = NULL;
    g_autofree ExanetArithTable *table =
        exanet_arith_table("0x14000/0x3fc000>0;83968/0x3ffc00>11;0/0>2,3", &why);

    g_assert_nonnull(table);
    g_assert_null(why);
    g_assert_cmpuint(table->count, ==, 3);
    g_assert_cmphex(exanet_arith_table_links(table, 0x14000), ==, BIT(0));
    /* the first rule that matches, though the second is more specific */
    g_assert_cmphex(exanet_arith_table_links(table, 0x14803), ==, BIT(0));
    g_assert_cmphex(exanet_arith_table_links(table, 0x18000), ==,
                    BIT(2) | BIT(3));
    g_free(table);
    table = exanet_arith_table("5/0x3fffff>0+1+0", &why);
    g_assert_cmphex(exanet_arith_table_links(table, 5), ==, BIT(0) | BIT(1));
    g_assert_cmphex(exanet_arith_table_links(table, 4), ==, 0);
    g_assert_cmphex(exanet_arith_table_links(NULL, 4), ==, 0);
}

static void test_table_bad(void)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "", "rule 1, '', is no VALUE" },
        { "0/0", "rule 1, '0/0', is no VALUE" },
        { "0>1", "rule 1, '0>1', is no VALUE" },
        { "0", "rule 1, '0', is no VALUE" },
        { "0/0>", "rule 1, '0/0>', needs links, 0 to 11" },
        { "0/0>12", "needs links" },
        { "0/0>1,", "needs links" },
        { "0/0>-1", "needs links" },
        { "0/0>1 ", "has something behind its links" },
        { "0/0>1;", "rule 2, '', is no VALUE" },
        { "0/0>1;;0/0>1", "rule 2, '', is no VALUE" },
        { "0x400000/0x3fffff>1", "is no VALUE" },
        { "0/0x400000>1", "is no VALUE" },
        { "99999999999999999999999/0>1", "is no VALUE" },
        { "-1/0>1", "is no VALUE" }, { "x/0>1", "is no VALUE" },
        { "0/0>1;1/2>1", "rule 2, '1/2>1', has bits in its value" },
    };
    g_autoptr(GString) many = g_string_new("0/0>0");
    g_autofree char *last = NULL;

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *why = NULL;

        g_assert_null(exanet_arith_table(bad[i].text, &why));
        g_assert_nonnull(strstr(why, bad[i].why));
    }
    for (unsigned i = 1; i < EXANET_ARITH_RULES_MAX; i++) {
        g_string_append(many, ";0/0>0");
    }
    g_free(exanet_arith_table(many->str, &last));
    g_assert_null(last);
    g_string_append(many, ";0/0>0");
    g_assert_null(exanet_arith_table(many->str, &last));
    g_assert_nonnull(strstr(last, "more than"));
    g_free(last);
    /* the message repeats only a part of a long text */
    memset(many->str, '1', many->len);
    g_assert_null(exanet_arith_table(many->str, &last));
    g_assert_cmpuint(strlen(last), <, 200);
}

/* --- Networks ---------------------------------------------------------------- */

#define NODES_MAX 64
/* virtual channels of all links of a node */
#define CHANNELS (EXANET_LINKS * EXANET_VCS)

typedef struct Net {
    unsigned nodes;
    uint32_t coord[NODES_MAX];
    unsigned links[NODES_MAX];
    ExanetArithPort port[NODES_MAX][EXANET_LINKS];
    uint8_t to[NODES_MAX][EXANET_LINKS];        /* index of the node at the other end */
    ExanetArithTable *table[NODES_MAX];         /* NULL: the rule applies */
    bool end[NODES_MAX];                        /* node sends and receives packets */
    unsigned vc_mask;                           /* virtual channels that the nodes use */
    /* bit c: a packet in this channel may wait for channel c of the next node */
    uint64_t next[NODES_MAX * CHANNELS];
} Net;

static unsigned net_node(Net *net, uint32_t coord, bool end)
{
    g_assert_cmpuint(net->nodes, <, NODES_MAX);
    net->coord[net->nodes] = coord;
    net->end[net->nodes] = end;
    return net->nodes++;
}

static unsigned net_port(Net *net, unsigned a, unsigned b)
{
    unsigned link = net->links[a]++;

    g_assert_cmpuint(link, <, EXANET_LINKS);
    net->port[a][link] = (ExanetArithPort) {
        .peer = net->coord[b],
        .role = exanet_arith_role(net->coord[a], net->coord[b]),
    };
    net->to[a][link] = b;
    return link;
}

static void net_cable(Net *net, unsigned a, unsigned b)
{
    net_port(net, a, b);
    net_port(net, b, a);
}

static Net *net_new(void)
{
    Net *net = g_new0(Net, 1);

    net->vc_mask = ~0u;
    return net;
}

static void net_free(Net *net)
{
    for (unsigned n = 0; n < net->nodes; n++) {
        g_free(net->table[n]);
    }
    g_free(net);
}

static void rule_add(Net *net, unsigned n, uint32_t value, uint32_t mask,
                     unsigned links)
{
    ExanetArithTable *t;

    if (!net->table[n]) {
        net->table[n] = g_new0(ExanetArithTable, 1);
    }
    t = net->table[n];
    t->rule[t->count++] = (ExanetArithRule) { value, mask, links };
}

static void net_route(const Net *net, unsigned n, uint32_t dst, ExanetArithRoute *route)
{
    *route = (ExanetArithRoute) { .exact = true };
    if (net->table[n]) {
        route->links = exanet_arith_table_links(net->table[n], dst);
    } else {
        exanet_arith_links(net->port[n], net->links[n], net->coord[n], dst, route);
    }
}

/* Returns true if node @n accepts a packet from @src that arrives by its link @in. */
static bool net_believes(const Net *net, unsigned n, unsigned in, uint32_t src,
                         uint32_t dst)
{
    ExanetArithRoute back;

    if (!net->table[n]) {
        return src == net->port[n][in].peer ||
               exanet_arith_source(net->port[n][in].role, net->port[n][in].peer,
                                   net->coord[n], src, dst);
    }
    net_route(net, n, src, &back);
    return back.links & BIT(in);
}

/* Returns the number that node @b gives to link @link of node @a. */
static unsigned net_far(const Net *net, unsigned a, unsigned link)
{
    unsigned b = net->to[a][link], nth = 0;

    for (unsigned i = 0; i < link; i++) {
        nth += net->to[a][i] == b;
    }
    for (unsigned i = 0; i < net->links[b]; i++) {
        if (net->to[b][i] == a && nth-- == 0) {
            return i;
        }
    }
    g_assert_not_reached();
}

/*
 * Follows a packet that arrived at node @n by channel @c (-1: starts there) along all its
 * routes, and records which channels may wait for which.
 */
static void net_walk(Net *net, unsigned src, unsigned dst, unsigned n, int c,
                     unsigned steps)
{
    unsigned in = 0, links;
    ExanetArithRoute route;

    if (c >= 0) {
        in = net_far(net, c / CHANNELS, c % CHANNELS / EXANET_VCS);
        g_assert_true(net_believes(net, n, in, net->coord[src], net->coord[dst]));
    }
    if (n == dst) {
        return;
    }
    g_assert_cmpuint(steps, <, 32);
    net_route(net, n, net->coord[dst], &route);
    links = c < 0 ? route.links : exanet_arith_transit_links(net->port[n], net->links[n],
                                                             &route, in);
    g_assert_cmphex(links, !=, 0);
    for (; links; links &= links - 1) {
        unsigned out = ctz32(links);
        unsigned vc = exanet_arith_vc(c < 0 ? EXANET_ROLE_AUTO :
                                      net->port[n][in].role,
                                      c < 0 ? 0 : c % EXANET_VCS,
                                      net->port[n][out].role, 0) & net->vc_mask;

        if (c >= 0) {
            net->next[c] |= 1ULL << (out * EXANET_VCS + vc);
        }
        net_walk(net, src, dst, net->to[n][out],
                 (n * EXANET_LINKS + out) * EXANET_VCS + vc, steps + 1);
    }
}

/*
 * Returns true if channels wait in a circle: removes channels that no channel waits for,
 * until no such channel is left.
 */
static bool has_cycle(const Net *net)
{
    unsigned channels = net->nodes * CHANNELS, count = 0;
    g_autofree unsigned *waiters = g_new0(unsigned, channels);
    g_autofree unsigned *gone = g_new(unsigned, channels);

    for (unsigned c = 0; c < channels; c++) {
        unsigned n = net->to[c / CHANNELS][c % CHANNELS / EXANET_VCS];

        for (uint64_t set = net->next[c]; set; set &= set - 1) {
            waiters[n * CHANNELS + ctz64(set)]++;
        }
    }
    for (unsigned c = 0; c < channels; c++) {
        if (!waiters[c]) {
            gone[count++] = c;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned c = gone[i];
        unsigned n = net->to[c / CHANNELS][c % CHANNELS / EXANET_VCS];

        for (uint64_t set = net->next[c]; set; set &= set - 1) {
            if (--waiters[n * CHANNELS + ctz64(set)] == 0) {
                gone[count++] = n * CHANNELS + ctz64(set);
            }
        }
    }
    return count != channels;
}

/*
 * Follows packets between all pairs of end nodes.  Returns true if channels may wait in a
 * circle.  Frees @net.
 */
static bool net_jams(Net *net)
{
    bool jams;

    for (unsigned src = 0; src < net->nodes; src++) {
        for (unsigned dst = 0; dst < net->nodes; dst++) {
            if (src != dst && net->end[src] && net->end[dst]) {
                net_walk(net, src, dst, src, -1, 0);
            }
        }
    }
    jams = has_cycle(net);
    net_free(net);
    return jams;
}

/*
 * Adds a row of @rows chassis.  Each is a star of cards, whose center is cabled to the
 * next chassis.
 */
static void add_row(Net *net, unsigned cabinet, unsigned rows, unsigned cards,
                    unsigned *first)
{
    unsigned before = 0;

    for (unsigned r = 0; r < rows; r++) {
        unsigned middle = net_node(net, AT(cabinet, r, 7), true);

        for (unsigned c = 1; c < cards; c++) {
            net_cable(net, middle, net_node(net, AT(cabinet, r, 3 * c), true));
        }
        if (r) {
            net_cable(net, before, middle);
        } else if (first) {
            *first = middle;
        }
        before = middle;
    }
}

static void test_row(void)
{
    for (unsigned rows = 1; rows <= 8; rows++) {
        for (unsigned cards = 1; cards <= 4; cards++) {
            Net *net = net_new();

            add_row(net, 5, rows, cards, NULL);
            g_assert_false(net_jams(net));
        }
    }
}

/*
 * A row with shortcuts over two chassis, and with cables between all cards of a chassis.
 */
static void test_row_shortcut(void)
{
    Net *net = net_new();

    for (unsigned r = 0; r < 5; r++) {
        for (unsigned c = 0; c < 3; c++) {
            unsigned n = net_node(net, AT(1, r, c), true);

            for (unsigned i = 0; i < c; i++) {
                net_cable(net, n - i - 1, n);
            }
            if (r) {
                net_cable(net, n - 3, n);
            }
            if (r >= 2 && c == 0) {
                net_cable(net, n - 6, n);
            }
        }
    }
    g_assert_false(net_jams(net));
}

/* Cabinets below two switches; cabinets with direct cables. */
static void test_cabinets(void)
{
    for (unsigned cabinets = 2; cabinets <= 6; cabinets++) {
        Net *tree = net_new(), *mesh = net_new();
        unsigned first[6], top[2];

        for (unsigned s = 0; s < 2; s++) {
            top[s] = net_node(tree, AT(255, 0, s), false);
        }
        for (unsigned c = 0; c < cabinets; c++) {
            unsigned n;

            n = net_node(tree, AT(c, 0, 0), true);
            net_cable(tree, top[0], n);
            net_cable(tree, top[1], n);
            for (unsigned i = 1; i < 4; i++) {
                net_cable(tree, n, net_node(tree, AT(c, 0, i), true));
            }
            first[c] = net_node(mesh, AT(c, 0, 0), true);
            for (unsigned i = 1; i < 4; i++) {
                net_cable(mesh, first[c], net_node(mesh, AT(c, 0, i), true));
            }
            for (unsigned i = 0; i < c; i++) {
                net_cable(mesh, first[i], first[c]);
            }
        }
        g_assert_false(net_jams(tree));
        g_assert_false(net_jams(mesh));
    }
}

/*
 * Leaves with hosts below spines, routed by tables.  A packet goes up, then down, so
 * there is no circle, even without the second virtual channel.
 */
static void test_fat_tree(void)
{
    for (unsigned i = 0; i < 18; i++) {
        unsigned leaves = 2 + i % 3, hosts = 1 + i / 3 % 3, spines = 2 - i / 9;
        Net *net = net_new();

        for (unsigned s = 0; s < spines; s++) {
            net_node(net, AT(255, 0, s), false);
        }
        for (unsigned l = 0; l < leaves; l++) {
            unsigned leaf = net_node(net, AT(l, 0, 1023), false);

            for (unsigned h = 0; h < hosts; h++) {
                unsigned host = net_node(net, AT(l, 0, h), true);

                net_cable(net, leaf, host);
                rule_add(net, host, 0, 0, BIT(0));
                rule_add(net, leaf, AT(l, 0, h), EXANET_COORD_MASK, BIT(h));
            }
            for (unsigned s = 0; s < spines; s++) {
                net_cable(net, s, leaf);
                rule_add(net, s, AT(l, 0, 0), EXANET_ARITH_CABINET, BIT(l));
            }
            rule_add(net, leaf, 0, 0, MAKE_64BIT_MASK(hosts, spines));
        }
        net->vc_mask = i % 2 ? ~0u : ~(unsigned)EXANET_VC_DATELINE;
        g_assert_false(net_jams(net));
    }
}

/*
 * Returns @g groups of @a nodes.  All nodes of a group are cabled, and each two groups
 * have one cable.
 */
static Net *dragonfly(unsigned g, unsigned a)
{
    unsigned each = (g - 2) / a + 1;        /* cables of a node to other groups */
    Net *net = net_new();

    for (unsigned i = 0; i < g * a; i++) {
        net_node(net, AT(i / a, 0, i % a), true);
        for (unsigned k = i / a * a; k < i; k++) {
            unsigned back = net_port(net, i, k), out = net_port(net, k, i);

            rule_add(net, i, net->coord[k], EXANET_COORD_MASK, BIT(back));
            rule_add(net, k, net->coord[i], EXANET_COORD_MASK, BIT(out));
        }
    }
    for (unsigned i = 0; i < g; i++) {
        for (unsigned k = 0; k < g; k++) {
            /* the node of group i with the cable to group k */
            unsigned gate = i * a + (k - i - 1 + g) % g / each;
            unsigned other = k * a + (i - k - 1 + g) % g / each;

            if (i == k) {
                continue;
            }
            rule_add(net, gate, AT(k, 0, 0), EXANET_ARITH_CABINET,
                     BIT(net_port(net, gate, other)));
            for (unsigned n = i * a; n < (i + 1) * a; n++) {
                if (n != gate) {
                    rule_add(net, n, AT(k, 0, 0), EXANET_ARITH_CABINET,
                             exanet_arith_table_links(net->table[n],
                                                      net->coord[gate]));
                }
            }
        }
    }
    return net;
}

static void test_dragonfly(void)
{
    static const struct {
        unsigned g, a;
    } size[] = { { 2, 2 }, { 3, 2 }, { 4, 3 }, { 5, 4 }, { 9, 4 }, { 6, 2 } };

    for (unsigned i = 0; i < ARRAY_SIZE(size); i++) {
        g_assert_false(net_jams(dragonfly(size[i].g, size[i].a)));
    }
}

/* A dragonfly whose switches use one virtual channel has a circle. */
static void test_jams_found(void)
{
    Net *net = dragonfly(4, 3);

    net->vc_mask = 0;
    g_assert_true(net_jams(net));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/arith/example-t3", test_example);
    g_test_add_func("/exanet/arith/roles", test_roles);
    g_test_add_func("/exanet/arith/choice", test_choice);
    g_test_add_func("/exanet/arith/onward", test_onward);
    g_test_add_func("/exanet/arith/source", test_source);
    g_test_add_func("/exanet/arith/table", test_table);
    g_test_add_func("/exanet/arith/table-bad", test_table_bad);
    g_test_add_func("/exanet/arith/row-jams", test_row);
    g_test_add_func("/exanet/arith/row-shortcut-jams", test_row_shortcut);
    g_test_add_func("/exanet/arith/cabinets-jam", test_cabinets);
    g_test_add_func("/exanet/arith/fat-tree-jams", test_fat_tree);
    g_test_add_func("/exanet/arith/dragonfly-jams", test_dragonfly);
    g_test_add_func("/exanet/arith/jams-found", test_jams_found);
    return g_test_run();
}
