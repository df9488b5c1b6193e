/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet arithmetic router and table router: the functions that find routes if ARITH_MODE
 * is not OFF, and the registers ARITH_*.
 */
#ifndef HW_EXANET_NET_ROUTER_ARITH_H
#define HW_EXANET_NET_ROUTER_ARITH_H

#include "../exanet.h"

/*
 * Reads properties router and routes, and makes the table of rules if routes is set.
 * Returns false with @errp set if a property is not valid, a link in routes has no
 * netdev, or router is "table" without routes.
 */
bool exanet_arith_init(ExanetState *s, Error **errp);
/* Frees the table of rules. */
void exanet_arith_fini(ExanetState *s);
/* Sets ARITH_MODE by property router, and clears the counter that ARITH_HOL returns. */
void exanet_arith_reset(ExanetState *s);
/*
 * Sets @s->router.arith to ARITH_MODE, or to OFF if the value of ARITH_MODE is not valid.
 */
void exanet_arith_configure(ExanetState *s);
/*
 * Fills in @w with the route to @dst: all links (@w->arith), their number (@w->cables),
 * and in @w->route the link with the lowest number.  If there is no link, @w->route is
 * EXANET_ROUTE_NONE.  If @dst is this node, the links are those in loopback, @w->cables
 * is 1, and @w->route is EXANET_ROUTE_LOCAL if no link is in loopback.
 */
void exanet_arith_find(ExanetState *s, uint32_t dst, ExanetRouteEntry *w);
/* Does as exanet_net_route(), if ARITH_MODE is not OFF. */
int exanet_arith_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * Returns 4, the number of values of EXANET_PATH_CABLE, each of which packets to @dst may
 * use.  Returns 0 if there is no route to @dst.
 */
unsigned exanet_arith_paths(ExanetState *s, uint32_t dst);
/* Does as exanet_router_transit(), if ARITH_MODE is not OFF. */
int exanet_arith_transit(ExanetState *s, RNicPort *from, unsigned vc,
                         uint32_t dst, unsigned path);
/*
 * Returns true if a packet of node @src for node @dst can arrive by @from.  The caller
 * accepts packets of the neighbour for this node without a call of this function.
 */
bool exanet_arith_source_ok(ExanetState *s, RNicPort *from, uint32_t src,
                            uint32_t dst);
/* Computes the read-only registers ARITH_* before a register read. */
void exanet_arith_reg_sync(ExanetState *s);
/* Acts on a write to register @reg, one of EXANET_REG_ARITH_*. */
void exanet_arith_reg_written(ExanetState *s, unsigned reg);

#endif /* HW_EXANET_NET_ROUTER_ARITH_H */
