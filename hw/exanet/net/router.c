/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet router: the role of each port, the route of each packet, the check of sources,
 * and the arbitration of outputs.
 *
 * The coordinates of the nodes, SW_DIMS and SW_ORDER determine the torus.  If ARITH_MODE
 * is not OFF, router-arith.c finds the routes instead.  The router stores the results of
 * lookups, because each packet needs a lookup, and discards these results when a link, a
 * register or the coordinates of this node change.
 */
#include "qemu/osdep.h"
#include "../../fabric/arbiter.h"
#include "arith.h"
#include "net.h"
#include "../exanet.h"
#include "flow.h"
#include "../../link/port.h"
#include "../base/regs.h"
#include "route.h"
#include "router-arith.h"
#include "router.h"
#include "voq.h"
#include "../base/wire.h"
#include "../trace.h"

QEMU_BUILD_BUG_ON(EXANET_ROUTER_INPUTS > RNIC_ARBITER_INPUTS);

static uint32_t router_reg(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SWITCH + reg);
}

/* --- Roles ---------------------------------------------------------------- */

static uint32_t port_ctrl(RNicPort *p)
{
    return exanet_reg_get32(exanet_port_state(p), EXANET_PORT(p->index) +
                            EXANET_REG_PORT_CTRL);
}

/*
 * Returns the role of @p in PORT_CTRL, or AUTO if the present router does not use this
 * role.
 */
static enum exanet_role port_role_forced(RNicPort *p)
{
    unsigned role = RNIC_GET(EXANET_PORT_CTRL_ROLE, port_ctrl(p));

    if (exanet_port_state(p)->router.arith) {
        return exanet_role_arith(role) ? role : EXANET_ROLE_AUTO;
    }
    return role <= EXANET_ROLE_QFDB ? role : EXANET_ROLE_AUTO;
}

/* Returns the role that @p has by the coordinates of this node and of the neighbour. */
static enum exanet_role port_role(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);

    return s->router.arith ? exanet_arith_role(s->node, p->peer) :
           exanet_route_role(&s->router.config, s->node, p->peer);
}

void exanet_router_port_changed(ExanetState *s, RNicPort *p)
{
    enum exanet_role role = EXANET_ROLE_AUTO;

    if (p->up && p->peer != s->node) {
        role = port_role_forced(p) ?: port_role(p);
    }
    if (s->router.role[p->index] != role) {
        trace_exanet_router_role(s->node, p->index, role, p->peer);
    }
    s->router.role[p->index] = role;
    s->router.stamp++;
}

bool exanet_router_neighbour(RNicPort *p, uint32_t coord)
{
    ExanetState *s = exanet_port_state(p);

    if (s->router.arith || port_role_forced(p) ||
        exanet_route_role(&s->router.config, s->node, coord) != EXANET_ROLE_AUTO) {
        return true;
    }
    for (RNicPort *q = NULL; (q = exanet_port_next(s, q));) {
        if (q != p && q->up && s->router.role[q->index] != EXANET_ROLE_AUTO) {
            return false;
        }
    }
    return true;
}

bool exanet_router_near(ExanetState *s, uint32_t coord)
{
    enum exanet_role role = exanet_route_role(&s->router.config, s->node, coord);

    return !s->router.arith && role != EXANET_ROLE_AUTO && role != EXANET_ROLE_UPLINK;
}

void exanet_router_configure(ExanetState *s)
{
    exanet_route_config(&s->router.config, router_reg(s, EXANET_REG_SW_DIMS),
                        router_reg(s, EXANET_REG_SW_ORDER));
    exanet_arith_configure(s);
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        exanet_router_port_changed(s, p);
    }
    s->router.stamp++;
}

/* --- Routes --------------------------------------------------------------- */

/* The ports by which packets of a route can leave. */
typedef struct PortSet {
    RNicPort *port[EXANET_LINKS];
    unsigned count;
} PortSet;

/* Stores in @set the ports, with any role, whose link to @peer is up. */
static void ports_to(ExanetState *s, PortSet *set, uint32_t peer)
{
    set->count = 0;
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        if (p->up && p->peer == peer) {
            set->port[set->count++] = p;
        }
    }
}

/*
 * Stores in @set the ports with @role whose link is up.  If @role is UPLINK, stores only
 * the uplinks to neighbours with the upper bits of @dst, or, if there is no such uplink,
 * all uplinks.  Sets *@exact to false if there is no port with @role, or only uplinks to
 * other upper bits, otherwise to true.
 */
static void ports_with(ExanetState *s, PortSet *set, enum exanet_role role,
                       uint32_t dst, bool *exact)
{
    PortSet other = { 0 };

    set->count = 0;
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        if (s->router.role[p->index] != role || !p->up) {
            continue;
        }
        if (role == EXANET_ROLE_UPLINK &&
            ((p->peer ^ dst) & EXANET_COORD_UPPER)) {
            other.port[other.count++] = p;
        } else {
            set->port[set->count++] = p;
        }
    }
    *exact = set->count;
    if (!set->count) {
        *set = other;
    }
}

/*
 * Computes @w->hop, the next step of packets to @dst, and stores the ports for this step
 * in @set, which is empty at first.  Sets @w->exact to true if @dst is a neighbour.
 * Otherwise, for a torus link or an uplink, sets @w->exact as ports_with() does.
 */
static void route_ports(ExanetState *s, PortSet *set, uint32_t dst, ExanetRouteEntry *w)
{
    ExanetHop *hop = &w->hop;
    bool known = exanet_route_hop(&s->router.config, s->node, dst, w->key, hop);

    ports_to(s, set, dst);
    if (set->count) {
        if (!known || hop->next != dst) {
            /* a cable outside of the network serves only packets between its ends */
            *hop = (ExanetHop) { .role = EXANET_ROLE_AUTO, .next = dst };
        }
        w->exact = true;
        return;
    }
    if (!known || hop->role == EXANET_ROLE_AUTO) {
        return;
    }
    if (hop->role != EXANET_ROLE_QFDB) {
        ports_with(s, set, hop->role, dst, &w->exact);
        if (hop->role != EXANET_ROLE_UPLINK || set->count) {
            return;
        }
        hop->role = EXANET_ROLE_QFDB;
        hop->next = exanet_route_f1(s->node);
    }
    if (hop->next != dst && hop->next != s->node) {
        ports_to(s, set, hop->next);
    }
}

static void route_find(ExanetState *s, uint32_t dst, ExanetRouteEntry *w)
{
    PortSet set = { 0 };
    unsigned cable = RNIC_GET(EXANET_PATH_CABLE, w->key);

    if (s->router.arith) {
        exanet_arith_find(s, dst, w);
        return;
    }
    w->exact = false;
    route_ports(s, &set, dst, w);
    w->cables = set.count;
    if (set.count) {
        w->route = EXANET_ROUTE(set.port[cable % set.count]->index,
                                exanet_route_vc(EXANET_ROLE_AUTO, 0, &w->hop,
                                                w->key));
    } else if (dst == s->node) {
        w->route = EXANET_ROUTE_LOCAL;
        w->cables = 1;
    } else {
        w->route = EXANET_ROUTE_NONE;
    }
}

const ExanetRouteEntry *exanet_router_lookup(ExanetState *s, uint32_t dst, unsigned path)
{
    uint32_t key = dst * EXANET_PATHS + path % EXANET_PATHS;
    ExanetRouteEntry *w = &s->router.entry[(key * 2654435761u) >> 24];

    QEMU_BUILD_BUG_ON(EXANET_ROUTER_ROUTES != 1 << (32 - 24));
    if (unlikely(w->key != key || w->stamp != s->router.stamp)) {
        w->key = key;
        w->stamp = s->router.stamp;
        route_find(s, dst, w);
    }
    return w;
}

unsigned exanet_router_paths(ExanetState *s, uint32_t dst, bool *order)
{
    ExanetRouteEntry first, other;

    if (s->router.arith) {
        *order = false;
        return exanet_arith_paths(s, dst);
    }
    first = *exanet_router_lookup(s, dst, 0);
    other = *exanet_router_lookup(s, dst, EXANET_PATH_ORDER);
    *order = first.hop.role != EXANET_ROLE_AUTO && first.cables &&
             other.cables && exanet_route_orders(s->node, dst);
    return MIN(*order ? MAX(first.cables, other.cables) : first.cables,
               RNIC_GET(EXANET_PATH_CABLE, ~0ULL) + 1);
}

int exanet_router_transit(ExanetState *s, RNicPort *from, unsigned vc,
                          uint32_t dst, unsigned path)
{
    enum exanet_role in = s->router.role[from->index];
    const ExanetRouteEntry *w;
    RNicPort *to;

    if (s->router.arith) {
        return exanet_arith_transit(s, from, vc, dst, path);
    }
    w = exanet_router_lookup(s, dst, path);
    if (w->route < 0) {
        return w->route;
    }
    to = &s->port[EXANET_ROUTE_PORT(w->route)];
    /*
     * A packet does not return to the previous node.  A packet that arrived by an uplink
     * leaves by another uplink only if the neighbour on that uplink has the upper bits of
     * the destination.  So no packet can circulate on uplinks.
     */
    if (to->peer == from->peer ||
        (in == EXANET_ROLE_UPLINK && !w->exact && w->hop.role == EXANET_ROLE_UPLINK)) {
        return EXANET_ROUTE_NONE;
    }
    return EXANET_ROUTE(to->index, exanet_route_vc(in, vc, &w->hop, path));
}

/* --- Sources -------------------------------------------------------------- */

static bool source_plausible(ExanetState *s, RNicPort *from, uint32_t src,
                             uint32_t dst, unsigned path)
{
    enum exanet_role in = s->router.role[from->index];
    uint32_t before = from->peer;

    if (before == s->node) {
        return src == s->node;      /* the port is in loopback */
    }
    if (src == before && (dst == s->node || port_role_forced(from))) {
        return true;
    }
    if (s->router.arith) {
        return exanet_arith_source_ok(s, from, src, dst);
    }
    if (in == EXANET_ROLE_UPLINK) {
        return (src ^ s->node) & EXANET_COORD_UPPER;
    }
    if (exanet_role_torus(in)) {
        before = exanet_route_neighbour(&s->router.config, s->node, in);
    }
    return exanet_route_passes(&s->router.config, src, dst, path, before, s->node);
}

bool exanet_router_source_ok(ExanetState *s, RNicPort *from, uint32_t src,
                             uint32_t dst, unsigned path)
{
    uint64_t key = (uint64_t)dst << 32 | src << 8 | from->index << 3 |
                   (path & EXANET_PATH_ORDER);
    ExanetSourceCheck *c =
        &s->router.source[(key * 0x9e3779b97f4a7c15ULL) >> 56];

    QEMU_BUILD_BUG_ON(EXANET_ROUTER_SOURCES != 1 << (64 - 56));
    if (unlikely(c->key != key || c->stamp != s->router.stamp)) {
        c->key = key;
        c->stamp = s->router.stamp;
        c->ok = source_plausible(s, from, src, dst, path);
    }
    return c->ok;
}

bool exanet_router_rate_source_ok(ExanetState *s, RNicPort *from, uint32_t dst)
{
    if (s->router.arith) {
        return exanet_router_lookup(s, dst, 0)->arith.links & (1u << from->index);
    }
    for (unsigned path = 0; path <= EXANET_PATH_ORDER;
         path += EXANET_PATH_ORDER) {
        ExanetHop hop;

        for (uint32_t at = s->node; at != dst; at = hop.next) {
            if (!exanet_route_hop(&s->router.config, at, dst, path, &hop)) {
                break;
            }
            if (hop.role == EXANET_ROLE_UPLINK && exanet_route_f1(at) != at) {
                hop.next = exanet_route_f1(at);
            }
            if (exanet_router_source_ok(s, from, hop.next, s->node, 0)) {
                return true;
            }
        }
    }
    return false;
}

/* --- Arbitration ---------------------------------------------------------- */

/*
 * Returns true if @input may send by @route now, otherwise records that @input waits.
 * @open is true if @route can accept the packet or run.
 */
static inline bool router_arbitrate(ExanetState *s, int route, unsigned input, bool open)
{
    if (rnic_arbiter_may_send(&s->router.arbiter[route], s->router.round, input,
                                open)) {
        return true;
    }
    if (open) {
        /* @route has room, so no event of its link will schedule the units */
        exanet_schedule(s);
    }
    return false;
}

bool exanet_router_may_send(ExanetState *s, int route, unsigned input)
{
    RNicPort *p = &s->port[EXANET_ROUTE_PORT(route)];
    bool open = rnic_port_can_send(p, EXANET_ROUTE_VC(route)) &&
                (!s->router.times || s->router.times->link_free(s, route));

    return router_arbitrate(s, route, input, open);
}

bool exanet_router_may_send_run(ExanetState *s, int route, unsigned input, unsigned words)
{
    RNicPort *p = &s->port[EXANET_ROUTE_PORT(route)];
    bool open = words <= rnic_port_run_room(p, EXANET_ROUTE_VC(route));

    if (!open) {
        rnic_port_want(p, EXANET_ROUTE_VC(route));
    }
    return router_arbitrate(s, route, input, open);
}

void exanet_router_sent(ExanetState *s, int route, unsigned input, unsigned packets)
{
    rnic_arbiter_sent(&s->router.arbiter[route], input, packets);
}

/* --- Registers ------------------------------------------------------------ */

void exanet_router_reg_sync(ExanetState *s)
{
    for (unsigned i = 0; i < EXANET_ROUTER_COUNTERS; i++) {
        exanet_reg_set64(s, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 + 8 * i,
                         s->router.counter[i]);
    }
    exanet_flow_reg_sync(s);
}

void exanet_router_reg_written(ExanetState *s, unsigned reg)
{
    if (reg == EXANET_REG_SW_DIMS || reg == EXANET_REG_SW_ORDER) {
        exanet_router_configure(s);
        /* packets that wait in units or queues may have a route now */
        exanet_schedule(s);
    }
}

uint64_t exanet_router_ni_map_read(ExanetState *s, hwaddr addr)
{
    return s->router.ni_map[addr / 8];
}

void exanet_router_ni_map_write(ExanetState *s, hwaddr addr, uint64_t value,
                                unsigned size)
{
    uint64_t *word = &s->router.ni_map[addr / 8];
    unsigned shift = 8 * (addr & 4);

    if (size == 4) {
        value = (*word & ~(0xffffffffULL << shift)) | value << shift;
    }
    *word = value & EXANET_NI_MAP_WRITABLE;
}

/*
 * Sets the NI map at @map to its reset value: the NI indices that EXANET_TYPES gives for
 * each type [P §2.5].
 */
static void ni_map_reset(uint64_t *map)
{
    memset(map, 0, EXANET_NI_INDICES * sizeof(*map));
    for (unsigned type = 0; type < EXANET_TYPE_VALUES; type++) {
        for (unsigned index = 0; index < EXANET_NI_UNITS; index++) {
            if (exanet_type_info[type].ni & (1u << index)) {
                map[index] |= EXANET_NI_MAP_VALID |
                    RNIC_PREP(EXANET_NI_MAP_PORT, EXANET_NI_PORT_RT_RESPONSE + index) |
                    RNIC_PREP(EXANET_NI_MAP_TYPES, 1u << type);
            }
        }
    }
}

static void router_reset(ExanetState *s)
{
    uint32_t dims = 0;

    if (s->dims) {
        exanet_route_dims(s->dims, &dims);
    }
    exanet_reg_set32(s, EXANET_SWITCH + EXANET_REG_SW_DIMS, dims);
    memset(s->router.counter, 0, sizeof(s->router.counter));
    memset(s->router.errors, 0, sizeof(s->router.errors));
    memset(s->router.arbiter, 0, sizeof(s->router.arbiter));
    ni_map_reset(s->router.ni_map);
    exanet_arith_reset(s);
    exanet_router_configure(s);
}

static void router_fini(ExanetState *s)
{
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        exanet_voq_fini(&s->router.voqs[i]);
    }
    memset(s->router.voqs, 0, sizeof(s->router.voqs));
}

const ExanetUnit exanet_router_unit = {
    .fini = router_fini,
    .reset = router_reset,
};
