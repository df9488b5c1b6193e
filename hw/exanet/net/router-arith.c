/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet router with the rule or a table of arith.h: routes, the choice between several
 * ports, and registers.
 *
 * On path 0, if several ports are on a route, a packet leaves by the port for which the
 * fewest words wait.  So packets of one source may overtake each other, which the RDMA
 * engine and the mailboxes permit.  Loads and stores must stay in order, because a target
 * may drop stores that are out of order.  So in each node, while the links of a route do
 * not change, all loads and stores for one destination leave on path 0 by the same port.
 *
 * On path n (1 to 3) packets leave each node by the n-th port of the route, modulo the
 * number of these ports.  The routes of a node do not change when a cable of another node
 * is cut.  After such a cut a source can use another path, on which packets may pass
 * other nodes.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "arith.h"
#include "net.h"
#include "../exanet.h"
#include "../../link/port.h"
#include "../base/regs.h"
#include "route.h"
#include "router-arith.h"
#include "router.h"
#include "voq.h"

static uint32_t arith_reg(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SHM + reg);
}

/* --- Properties ------------------------------------------------------------- */

static bool router_mode(const char *name, enum exanet_arith_mode *mode)
{
    static const char *const names[] = {
        [EXANET_ARITH_OFF] = "torus",
        [EXANET_ARITH_RULE] = "arithmetic",
        [EXANET_ARITH_TABLE] = "table",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (!strcmp(name, names[i])) {
            *mode = i;
            return true;
        }
    }
    return false;
}

/* Returns false with @errp set if a rule of the table names a link that has no netdev. */
static bool table_links_exist(ExanetState *s, Error **errp)
{
    for (unsigned n = 0; n < s->router.table->count; n++) {
        for (unsigned links = s->router.table->rule[n].links; links;
             links &= links - 1) {
            unsigned i = ctz32(links);

            if (!s->port[i].conf.peers.ncs[0]) {
                error_setg(errp, "property 'routes': rule %u names link%u, which "
                           "has no netdev", n + 1, i);
                return false;
            }
        }
    }
    return true;
}

bool exanet_arith_init(ExanetState *s, Error **errp)
{
    g_autofree char *why = NULL;

    /* a realize of the device that failed may have left a table */
    exanet_arith_fini(s);
    s->router.initial = EXANET_ARITH_OFF;
    if (s->router_name && !router_mode(s->router_name, &s->router.initial)) {
        error_setg(errp, "property 'router' must be torus, arithmetic or table, "
                   "not '%s'", s->router_name);
        return false;
    }
    if (s->router.initial == EXANET_ARITH_TABLE && !s->routes) {
        error_setg(errp, "property 'router' is table: property 'routes' must say "
                   "what is in it");
        return false;
    }
    if (!s->routes) {
        return true;
    }
    s->router.table = exanet_arith_table(s->routes, &why);
    if (!s->router.table) {
        error_setg(errp, "property 'routes': %s", why);
        return false;
    }
    return table_links_exist(s, errp);
}

void exanet_arith_fini(ExanetState *s)
{
    g_free(s->router.table);
    s->router.table = NULL;
}

/* --- Routes ----------------------------------------------------------------- */

/*
 * Fills in @ports for all links up to the last existing port.  Returns the number of
 * these links.
 */
static unsigned ports_collect(ExanetState *s, ExanetArithPort *ports)
{
    for (unsigned i = 0; i < s->ports.count; i++) {
        ports[i] = (ExanetArithPort) {
            .peer = s->port[i].peer_known ? s->port[i].peer : UINT32_MAX,
            .role = s->port[i].up ? s->router.role[i] : EXANET_ROLE_AUTO,
        };
    }
    return s->ports.count;
}

/*
 * Returns the links in loopback, one bit each: the neighbour on such a link is this node.
 */
static unsigned links_back(ExanetState *s)
{
    unsigned links = 0;

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        links |= p->up && p->peer == s->node ? 1u << p->index : 0;
    }
    return links;
}

/* Returns the links that the table has for @dst and that are up, one bit each. */
static unsigned links_by_table(ExanetState *s, uint32_t dst)
{
    unsigned links = exanet_arith_table_links(s->router.table, dst);

    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        if (i >= s->ports.count || !s->port[i].up) {
            links &= ~(1u << i);
        }
    }
    return links;
}

unsigned exanet_arith_paths(ExanetState *s, uint32_t dst)
{
    return exanet_router_lookup(s, dst, 0)->cables ? EXANET_PATH_CABLE + 1 : 0;
}

void exanet_arith_find(ExanetState *s, uint32_t dst, ExanetRouteEntry *w)
{
    ExanetArithPort ports[EXANET_LINKS];
    ExanetArithRoute *arith = &w->arith;

    *arith = (ExanetArithRoute) { .exact = true };
    if (dst == s->node) {
        arith->links = links_back(s);
    } else if (s->router.arith == EXANET_ARITH_TABLE) {
        arith->links = links_by_table(s, dst);
    } else {
        exanet_arith_links(ports, ports_collect(s, ports), s->node, dst, arith);
    }
    w->hop = (ExanetHop) { .role = EXANET_ROLE_AUTO, .next = dst };
    w->cables = dst == s->node ? 1 : ctpop32(arith->links);
    w->route = arith->links ? EXANET_ROUTE(ctz32(arith->links), 0) :
               dst == s->node ? EXANET_ROUTE_LOCAL : EXANET_ROUTE_NONE;
}

/*
 * Returns the number of words that wait in @p to be sent, and in queues of voq.c for @p.
 */
static unsigned port_backlog(const RNicPort *p)
{
    return rnic_port_tx_words(p) + exanet_port_state(p)->router.voqs[p->index].backlog;
}

/*
 * Returns the index of the @nth link of the set @links, which is not 0.  @nth counts from
 * 0, modulo the number of links in the set.
 */
static int links_nth(unsigned links, unsigned nth)
{
    for (nth %= ctpop32(links); nth; nth--) {
        links &= links - 1;
    }
    return ctz32(links);
}

/*
 * Returns the index of the link of the set @links for which the fewest words wait.
 * @links is not 0.
 */
static int links_least(ExanetState *s, unsigned links)
{
    int best = ctz32(links);

    for (links &= links - 1; links; links &= links - 1) {
        if (port_backlog(&s->port[ctz32(links)]) < port_backlog(&s->port[best])) {
            best = ctz32(links);
        }
    }
    return best;
}

/*
 * Returns the index of the link of the set @links, which is not 0, by which a packet for
 * @dst leaves on @path.
 */
static int links_pick(ExanetState *s, unsigned links, uint32_t dst,
                      unsigned path)
{
    unsigned cable = RNIC_GET(EXANET_PATH_CABLE, path);

    if (!(links & (links - 1))) {
        return ctz32(links);
    }
    if (cable) {
        return links_nth(links, cable - 1);
    }
    return path & EXANET_PATH_STEADY ? links_nth(links, dst) :
                                       links_least(s, links);
}

int exanet_arith_route(ExanetState *s, uint32_t dst, unsigned path)
{
    const ExanetRouteEntry *w = exanet_router_lookup(s, dst, path);
    int out;

    if (!w->arith.links) {
        return w->route;
    }
    out = links_pick(s, w->arith.links, dst, path);
    return EXANET_ROUTE(out, exanet_arith_vc(EXANET_ROLE_AUTO, 0,
                                             s->router.role[out], path));
}

int exanet_arith_transit(ExanetState *s, RNicPort *from, unsigned vc,
                         uint32_t dst, unsigned path)
{
    const ExanetRouteEntry *w = exanet_router_lookup(s, dst, path);
    ExanetArithPort ports[EXANET_LINKS];
    unsigned links = exanet_arith_transit_links(ports, ports_collect(s, ports), &w->arith,
                                                from->index);
    int out;

    if (!links) {
        return EXANET_ROUTE_NONE;
    }
    out = links_pick(s, links, dst, path);
    return EXANET_ROUTE(out, exanet_arith_vc(s->router.role[from->index], vc,
                                             s->router.role[out], path));
}

bool exanet_arith_source_ok(ExanetState *s, RNicPort *from, uint32_t src,
                            uint32_t dst)
{
    if (s->router.arith == EXANET_ARITH_TABLE) {
        /* the port by which the packet arrived must be on the route to @src */
        return src != s->node && (exanet_router_lookup(s, src, 0)->arith.links &
                                  (1u << from->index));
    }
    return exanet_arith_source(s->router.role[from->index], from->peer, s->node, src,
                               dst);
}

/* --- Registers -------------------------------------------------------------- */

void exanet_arith_reset(ExanetState *s)
{
    s->router.hol = 0;
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_ARITH_MODE, s->router.initial);
}

void exanet_arith_configure(ExanetState *s)
{
    unsigned mode = arith_reg(s, EXANET_REG_ARITH_MODE);

    s->router.arith = mode <= EXANET_ARITH_TABLE ? mode : EXANET_ARITH_OFF;
}

static uint64_t ports_by_role(ExanetState *s)
{
    uint64_t up = 0, plus = 0, minus = 0, card = 0;

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        enum exanet_role role = s->router.role[p->index];

        up |= (uint64_t)(role == EXANET_ROLE_UPLINK) << p->index;
        plus |= (uint64_t)(role == EXANET_ROLE_PLUS) << p->index;
        minus |= (uint64_t)(role == EXANET_ROLE_MINUS) << p->index;
        card |= (uint64_t)(role == EXANET_ROLE_CARD) << p->index;
    }
    return s->router.arith ? RNIC_PREP(EXANET_ARITH_PORTS_UP, up) |
                         RNIC_PREP(EXANET_ARITH_PORTS_PLUS, plus) |
                         RNIC_PREP(EXANET_ARITH_PORTS_MINUS, minus) |
                         RNIC_PREP(EXANET_ARITH_PORTS_CARD, card) : 0;
}

/*
 * Returns the number of words that wait in the queues from the input link to the output
 * link that ARITH_VOQ_SELECT selects.  Returns 0 if one of the two links does not exist.
 */
static unsigned words_selected(ExanetState *s)
{
    uint32_t select = arith_reg(s, EXANET_REG_ARITH_VOQ_SELECT);
    unsigned in = select & 0xf, out = select >> 4 & 0xf;

    if (in >= EXANET_LINKS || out >= EXANET_LINKS || !rnic_port_exists(&s->port[in])) {
        return 0;
    }
    return exanet_voq_words(&s->port[in], out);
}

void exanet_arith_reg_sync(ExanetState *s)
{
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_ARITH_ADDR, s->node);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_ARITH_PORTS, ports_by_role(s));
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_ARITH_RULES,
                     s->router.table ? s->router.table->count : 0);
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_ARITH_VOQ_WORDS,
                     words_selected(s));
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_ARITH_HOL, s->router.hol);
}

void exanet_arith_reg_written(ExanetState *s, unsigned reg)
{
    if (reg == EXANET_REG_ARITH_MODE) {
        exanet_router_configure(s);
        /* packets that wait in units or queues may have a route now */
        exanet_schedule(s);
    }
}
