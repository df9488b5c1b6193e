/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet routing; see route.h. */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "arith.h"
#include "dor.h"
#include "route.h"

/*
 * More than the number of steps of any route: all steps of a mesh along three dimensions,
 * and a step in each of two QFDBs.
 */
#define HOPS_MAX (EXANET_DIMENSIONS * EXANET_DOR_SIDE_MAX + 2)

/* X, Y and Z have DIM_BITS bits each in the coordinates of a node; X begins at bit 0. */
#define DIM_BITS 4
#define DIM_MASK (RNIC_FIELD(DIM_BITS - 1, 0))
#define TORUS_MASK (EXANET_COORD_X | EXANET_COORD_Y | EXANET_COORD_Z)

static unsigned dim_get(uint32_t node, unsigned dim)
{
    return (node >> (DIM_BITS * dim)) & DIM_MASK;
}

static uint32_t dim_set(uint32_t node, unsigned dim, unsigned value)
{
    unsigned shift = DIM_BITS * dim;

    return (node & ~((uint32_t)DIM_MASK << shift)) | value << shift;
}

/* Stores X, Y and Z of @node in the array @coord. */
static void dims_get(uint32_t node, uint8_t *coord)
{
    for (unsigned dim = 0; dim < EXANET_DIMENSIONS; dim++) {
        coord[dim] = dim_get(node, dim);
    }
}

static enum exanet_role dim_role(unsigned dim, bool plus)
{
    return EXANET_ROLE_X_MINUS + 2 * dim + plus;
}

static unsigned role_dim(enum exanet_role role)
{
    return (role - EXANET_ROLE_X_MINUS) / 2;
}

static bool role_plus(enum exanet_role role)
{
    return (role - EXANET_ROLE_X_MINUS) % 2;
}

/* --- Configuration -------------------------------------------------------- */

/* Stores the dimensions in the order of SW_ORDER (@reg) in @order. */
static void order_get(uint32_t reg, uint8_t *order)
{
    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        order[i] = (reg >> (2 * i)) & 3;
    }
}

void exanet_route_config(ExanetRouteConfig *cfg, uint32_t dims, uint32_t order)
{
    const uint8_t ring[] = {
        RNIC_GET(EXANET_SW_DIMS_X, dims),
        RNIC_GET(EXANET_SW_DIMS_Y, dims),
        RNIC_GET(EXANET_SW_DIMS_Z, dims),
    };
    uint8_t steps[EXANET_DIMENSIONS];

    order_get(order, steps);
    if (!exanet_dor_order_valid(steps)) {
        order_get(EXANET_SW_ORDER_DEFAULT, steps);
    }
    exanet_dor_init(cfg, ring, steps);
}

bool exanet_route_dims(const char *text, uint32_t *dims)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        unsigned n;

        if (!g_ascii_isdigit(*text) ||
            qemu_strtoui(text, &text, 10, &n) < 0 || n > EXANET_DOR_SIDE_MAX) {
            return false;
        }
        value |= (n < EXANET_DOR_RING_MIN ? 0 : n) << (8 * i);
        if (*text == '\0') {
            *dims = value;
            return true;
        }
        if (*text++ != 'x') {
            return false;
        }
    }
    return false;
}

/* --- Ports ---------------------------------------------------------------- */

uint32_t exanet_route_neighbour(const ExanetRouteConfig *cfg, uint32_t node,
                                enum exanet_role role)
{
    unsigned dim = role_dim(role);

    return dim_set(node, dim, exanet_dor_next(cfg, dim, dim_get(node, dim),
                                              role_plus(role)));
}

enum exanet_role exanet_route_role(const ExanetRouteConfig *cfg, uint32_t node,
                                   uint32_t peer)
{
    uint32_t differ = node ^ peer;

    if (differ & EXANET_COORD_UPPER) {
        return EXANET_ROLE_UPLINK;
    }
    if (!(differ & TORUS_MASK)) {
        return differ ? EXANET_ROLE_QFDB : EXANET_ROLE_AUTO;
    }
    if ((node | peer) & EXANET_COORD_OFFSET) {
        return EXANET_ROLE_AUTO;
    }
    for (unsigned i = 0; i < 2 * EXANET_DIMENSIONS; i++) {
        enum exanet_role role = dim_role(i / 2, i % 2);

        if (exanet_dor_cable(cfg, i / 2, dim_get(node, i / 2), i % 2) &&
            exanet_route_neighbour(cfg, node, role) == peer) {
            return role;
        }
    }
    return EXANET_ROLE_AUTO;
}

/* --- Routes --------------------------------------------------------------- */

bool exanet_route_hop(const ExanetRouteConfig *cfg, uint32_t node, uint32_t dst,
                      unsigned path, ExanetHop *hop)
{
    uint8_t at[EXANET_DIMENSIONS], to[EXANET_DIMENSIONS];
    uint32_t differ = node ^ dst;
    ExanetDorStep step;
    bool known;

    *hop = (ExanetHop) { .role = EXANET_ROLE_AUTO, .next = dst };
    if (!differ) {
        return true;
    }
    if (differ & EXANET_COORD_UPPER) {
        hop->role = EXANET_ROLE_UPLINK;
        return true;
    }
    if (!(differ & TORUS_MASK) || (node & EXANET_COORD_OFFSET)) {
        hop->role = EXANET_ROLE_QFDB;
        hop->next = differ & TORUS_MASK ? exanet_route_f1(node) : dst;
        return true;
    }
    dims_get(node, at);
    dims_get(dst, to);
    known = exanet_dor_step(cfg, at, to, path & EXANET_PATH_ORDER, &step);
    hop->role = dim_role(step.dim, step.plus);
    hop->wrap = step.wrap;
    hop->next = dim_set(node, step.dim, step.next);
    return known;
}

unsigned exanet_route_vc(enum exanet_role in, unsigned vc, const ExanetHop *hop,
                         unsigned path)
{
    unsigned order = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0;
    bool behind = hop->wrap;

    if (exanet_role_torus(in) && exanet_role_torus(hop->role)) {
        behind = exanet_dor_behind(hop->wrap, role_dim(in) == role_dim(hop->role),
                                   vc & EXANET_VC_DATELINE);
    } else if (in == EXANET_ROLE_UPLINK) {
        /*
         * a packet uses another channel on its second uplink, because uplinks may form
         * rings
         */
        behind = hop->role == EXANET_ROLE_UPLINK;
    }
    return order | (behind ? EXANET_VC_DATELINE : 0);
}

bool exanet_route_orders(uint32_t node, uint32_t dst)
{
    unsigned differ = 0;

    for (unsigned dim = 0; dim < EXANET_DIMENSIONS; dim++) {
        differ += dim_get(node, dim) != dim_get(dst, dim);
    }
    return differ > 1 && !((node ^ dst) & EXANET_COORD_UPPER);
}

/*
 * Returns true if the next step of a packet at @from for @dst goes to @node.  Returns
 * false if @node is @from.  If the upper bits of @from and @dst differ, the packet leaves
 * by an uplink of @from or of F1 of its QFDB, and the next step within the torus can only
 * go to this F1.
 */
static bool step_leads(const ExanetRouteConfig *cfg, uint32_t from, uint32_t dst,
                       unsigned path, uint32_t node)
{
    ExanetHop hop;

    if (!exanet_route_hop(cfg, from, dst, path, &hop)) {
        return false;
    }
    if (hop.role == EXANET_ROLE_UPLINK) {
        hop.next = exanet_route_f1(from);
    }
    return hop.next == node && from != node;
}

bool exanet_route_passes(const ExanetRouteConfig *cfg, uint32_t src,
                         uint32_t dst, unsigned path, uint32_t from,
                         uint32_t node)
{
    uint32_t at = src;

    if ((src ^ from) & EXANET_COORD_UPPER) {
        /* the packet has passed an uplink before, and must not pass another uplink */
        return !((dst ^ from) & EXANET_COORD_UPPER) &&
               step_leads(cfg, from, dst, path, node);
    }
    for (unsigned i = 0; i < HOPS_MAX; i++) {
        ExanetHop hop;

        if (at == from) {
            /* @from may have a cable to the destination outside of the network */
            return (dst == node && from != node) ||
                   step_leads(cfg, from, dst, path, node);
        }
        if (at == dst || !exanet_route_hop(cfg, at, dst, path, &hop) ||
            hop.role == EXANET_ROLE_UPLINK) {
            return false;
        }
        at = hop.next;
    }
    return false;
}
