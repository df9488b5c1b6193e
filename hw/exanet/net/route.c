/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet routing; see route.h. */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "arith.h"
#include "route.h"

#define RING_MIN 3              /* a ring of two would be a mesh with parallel cables */
#define RING_MAX 16             /* number of values of a coordinate of four bits */
/* Limit of steps: a mesh in three dimensions, and a step in two QFDBs, need fewer. */
#define HOPS_MAX (EXANET_DIMENSIONS * RING_MAX + 2)

/* X, Y and Z have DIM_BITS bits each; X begins at bit 0. */
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

void exanet_route_config(ExanetRouteConfig *cfg, uint32_t dims, uint32_t order)
{
    const uint8_t ring[] = {
        RNIC_GET(EXANET_SW_DIMS_X, dims),
        RNIC_GET(EXANET_SW_DIMS_Y, dims),
        RNIC_GET(EXANET_SW_DIMS_Z, dims),
    };
    unsigned seen = 0;

    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        seen |= 1u << ((order >> (2 * i)) & 3);
    }
    if (seen != (1u << EXANET_DIMENSIONS) - 1) {
        order = EXANET_SW_ORDER_DEFAULT;
    }
    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        cfg->ring[i] = ring[i] >= RING_MIN && ring[i] <= RING_MAX ? ring[i] : 0;
        cfg->order[i] = (order >> (2 * i)) & 3;
    }
}

bool exanet_route_dims(const char *text, uint32_t *dims)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        unsigned n;

        if (!g_ascii_isdigit(*text) ||
            qemu_strtoui(text, &text, 10, &n) < 0 || n > RING_MAX) {
            return false;
        }
        value |= (n < RING_MIN ? 0 : n) << (8 * i);
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

/* Returns true if dimension @dim is a mesh, or a ring that contains coordinate @c. */
static bool ring_has(const ExanetRouteConfig *cfg, unsigned dim, unsigned c)
{
    return !cfg->ring[dim] || c < cfg->ring[dim];
}

static unsigned ring_next(const ExanetRouteConfig *cfg, unsigned dim, unsigned c,
                          bool plus)
{
    unsigned n = cfg->ring[dim] ?: RING_MAX;

    return plus ? (c + 1) % n : (c + n - 1) % n;
}

/*
 * Returns true if the step from coordinate @c wraps around.  In a mesh there is no cable
 * for this step.
 */
static bool ring_wraps(const ExanetRouteConfig *cfg, unsigned dim, unsigned c,
                       bool plus)
{
    return c == (plus ? (cfg->ring[dim] ?: RING_MAX) - 1 : 0);
}

uint32_t exanet_route_neighbour(const ExanetRouteConfig *cfg, uint32_t node,
                                enum exanet_role role)
{
    unsigned dim = role_dim(role);

    return dim_set(node, dim, ring_next(cfg, dim, dim_get(node, dim),
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
        unsigned c = dim_get(node, i / 2);

        if (ring_has(cfg, i / 2, c) &&
            (cfg->ring[i / 2] || !ring_wraps(cfg, i / 2, c, i % 2)) &&
            exanet_route_neighbour(cfg, node, role) == peer) {
            return role;
        }
    }
    return EXANET_ROLE_AUTO;
}

/* --- Routes --------------------------------------------------------------- */

/*
 * Returns true if the shorter route from coordinate @c to @d has plus direction.  If both
 * directions are equally long, the function chooses the route that does not wrap around.
 */
static bool ring_up(const ExanetRouteConfig *cfg, unsigned dim, unsigned c,
                    unsigned d)
{
    unsigned n = cfg->ring[dim];
    unsigned direct = d > c ? d - c : c - d;

    return n && 2 * direct > n ? d < c : d > c;
}

bool exanet_route_hop(const ExanetRouteConfig *cfg, uint32_t node, uint32_t dst,
                      unsigned path, ExanetHop *hop)
{
    uint32_t differ = node ^ dst;

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
    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        unsigned at = path & EXANET_PATH_ORDER ? EXANET_DIMENSIONS - 1 - i : i;
        unsigned dim = cfg->order[at];
        unsigned c = dim_get(node, dim), d = dim_get(dst, dim);
        bool up = ring_up(cfg, dim, c, d);

        if (c == d) {
            continue;
        }
        hop->role = dim_role(dim, up);
        hop->wrap = ring_wraps(cfg, dim, c, up);
        hop->next = exanet_route_neighbour(cfg, node, hop->role);
        return ring_has(cfg, dim, c) && ring_has(cfg, dim, d);
    }
    return false;
}

unsigned exanet_route_vc(enum exanet_role in, unsigned vc, const ExanetHop *hop,
                         unsigned path)
{
    unsigned order = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0;
    bool crossed = hop->wrap;

    if (exanet_role_torus(in) && exanet_role_torus(hop->role)) {
        crossed |= role_dim(in) == role_dim(hop->role) &&
                   (vc & EXANET_VC_DATELINE);
    } else if (in == EXANET_ROLE_UPLINK) {
        /* uplinks may form a ring, which needs a dateline too */
        crossed = hop->role == EXANET_ROLE_UPLINK;
    }
    return order | (crossed ? EXANET_VC_DATELINE : 0);
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
 * Returns true if @node, which is not @from, is the next node of a packet at @from for
 * @dst.  For other upper bits the next node is F1.
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
