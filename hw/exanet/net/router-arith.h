/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet arithmetic router and table router: the functions that find routes if ARITH_MODE
 * is not OFF, and the registers ARITH_.
 */
#ifndef HW_EXANET_NET_ROUTER_ARITH_H
#define HW_EXANET_NET_ROUTER_ARITH_H

#include "../exanet.h"

/*
 * Reads properties router and routes, and makes the table if routes is set.  Returns
 * false with @errp set if a property is not valid.
 */
bool exanet_arith_init(ExanetState *s, Error **errp);
/* Frees the table. */
void exanet_arith_fini(ExanetState *s);
/* Sets ARITH_MODE by property router, and clears the counter of ARITH_HOL. */
void exanet_arith_reset(ExanetState *s);
/* Sets @s->router.arith to ARITH_MODE, or to OFF if the value is not valid. */
void exanet_arith_configure(ExanetState *s);
/*
 * Fills in @w with the route to @dst: all links, their number, and in @w->route the link
 * with the lowest number.  For this node, the links are those in loopback, @w->cables is
 * 1, and @w->route is EXANET_ROUTE_LOCAL if no link is in loopback.
 */
void exanet_arith_find(ExanetState *s, uint32_t dst, ExanetRouteEntry *w);
/* As exanet_net_route(). */
int exanet_arith_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * Returns 4, the number of values of EXANET_PATH_CABLE, each of which packets to @dst may
 * use.  Returns 0 if there is no route to @dst.
 */
unsigned exanet_arith_paths(ExanetState *s, uint32_t dst);
/* As exanet_router_transit(). */
int exanet_arith_transit(ExanetState *s, ExanetPort *from, unsigned vc,
                         uint32_t dst, unsigned path);
/*
 * Returns true if a packet of node @src for node @dst can arrive by @from.  The function
 * is not for packets of the neighbour itself for this node, which the caller accepts.
 */
bool exanet_arith_source_ok(ExanetState *s, ExanetPort *from, uint32_t src,
                            uint32_t dst);
/* Computes the registers ARITH_ before a register read. */
void exanet_arith_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_ARITH_). */
void exanet_arith_reg_written(ExanetState *s, unsigned reg);

#endif /* HW_EXANET_NET_ROUTER_ARITH_H */
