/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both routers of ExaNet: asserts that every route ends, and uses existing ports only. */
#include "../fuzz.h"
#include "hw/rnic/exanet/net/arith.h"
#include "hw/rnic/exanet/net/route.h"

#define STEPS_MAX 64
#define TEXT_MAX  4096

static uint32_t coord(FuzzInput *in)
{
    return fuzz_u32(in) & EXANET_COORD_MASK;
}

static void torus(FuzzInput *in)
{
    ExanetRouteConfig config;
    uint32_t from = coord(in), to = coord(in), src = coord(in), path, dims;
    unsigned steps = 0;
    ExanetHop hop;

    dims = fuzz_u32(in);
    exanet_route_config(&config, dims, fuzz_u32(in));
    path = fuzz_u8(in) % EXANET_PATHS;
    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        g_assert_cmpuint(config.order[i], <, EXANET_DIMENSIONS);
        g_assert_true(config.ring[i] == 0 ||
                      (config.ring[i] >= 3 && config.ring[i] <= 16));
    }
    for (uint32_t at = from; at != to; at = hop.next) {
        if (!exanet_route_hop(&config, at, to, path, &hop)) {
            break;
        }
        g_assert_cmpuint(hop.role, <, EXANET_ROLE_COUNT);
        if (hop.role == EXANET_ROLE_UPLINK) {
            /* only F1 may have an uplink, because other FPGAs send such packets to F1 */
            if (exanet_route_f1(at) == at) {
                break;
            }
            hop.next = exanet_route_f1(at);
        }
        g_assert_cmpuint(exanet_route_vc(EXANET_ROLE_AUTO, 0, &hop, path), <,
                         EXANET_VCS);
        g_assert_cmpuint(++steps, <, STEPS_MAX);
        if (!((at ^ to) & EXANET_COORD_UPPER)) {
            /* the router's check of source coordinates must accept this hop */
            g_assert_true(exanet_route_passes(&config, from, to, path, at,
                                              hop.next));
        }
    }
    exanet_route_passes(&config, src, to, path, from, coord(in));
    exanet_route_orders(from, to);
    g_assert_cmpuint(exanet_route_role(&config, from, to), <, EXANET_ROLE_COUNT);
}

static void arithmetic(FuzzInput *in)
{
    uint32_t node = coord(in), dst = coord(in);
    ExanetArithPort port[EXANET_LINKS];
    ExanetArithRoute route;
    unsigned from = fuzz_u8(in) % EXANET_LINKS, vc;

    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        port[i].peer = coord(in);
        port[i].role = fuzz_u8(in) % EXANET_ROLE_COUNT;
    }
    exanet_arith_links(port, EXANET_LINKS, node, dst, &route);
    g_assert_cmpuint(route.links >> EXANET_LINKS, ==, 0);
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        if (route.links & BIT(i)) {
            g_assert_cmpuint(port[i].role, ==, route.role);
        }
    }
    /* no packet may leave by the port of its arrival */
    g_assert_cmpuint(exanet_arith_transit_links(port, EXANET_LINKS, &route, from) &
                     (BIT(from) | ~(unsigned)route.links), ==, 0);
    exanet_arith_source(port[from].role, port[from].peer, node, coord(in), dst);
    vc = fuzz_u8(in) % EXANET_VCS;
    vc = exanet_arith_vc(port[from].role, vc, route.role,
                         fuzz_u8(in) % EXANET_PATHS);
    g_assert_cmpuint(vc, <, EXANET_VCS);
}

static void table(FuzzInput *in)
{
    uint32_t dst = coord(in);
    g_autofree char *text = fuzz_text(in, TEXT_MAX), *why = NULL;
    g_autofree ExanetArithTable *t = exanet_arith_table(text, &why);
    uint32_t dims;

    g_assert_true(!t == !!why);
    if (t) {
        g_assert_cmpuint(t->count, <=, EXANET_ARITH_RULES_MAX);
        g_assert_cmpuint(exanet_arith_table_links(t, dst) >> EXANET_LINKS, ==, 0);
    }
    if (exanet_route_dims(text, &dims)) {
        g_assert_cmphex(dims & ~EXANET_SW_DIMS_WRITABLE, ==, 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    switch (fuzz_u8(&in) % 3) {
    case 0:
        torus(&in);
        break;
    case 1:
        arithmetic(&in);
        break;
    default:
        table(&in);
    }
    return 0;
}
