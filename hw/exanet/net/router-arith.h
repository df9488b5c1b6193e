/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet arithmetic router and table router: the functions that router.c calls if
 * ARITH_MODE is not OFF.
 */
#ifndef HW_EXANET_NET_ROUTER_ARITH_H
#define HW_EXANET_NET_ROUTER_ARITH_H

#include "../exanet.h"

/*
 * Reads properties router and routes.  Returns false with @errp set if one of them is not
 * valid.
 */
bool exanet_arith_init(ExanetState *s, Error **errp);
void exanet_arith_fini(ExanetState *s);
void exanet_arith_reset(ExanetState *s);
/* Sets @s->router.arith to the value of ARITH_MODE. */
void exanet_arith_configure(ExanetState *s);
/* Fills in @w with the route to @dst: links, their number, and the first of them. */
void exanet_arith_find(ExanetState *s, uint32_t dst, ExanetRouteEntry *w);
/* As exanet_net_route(). */
int exanet_arith_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * Returns the number of values of EXANET_PATH_CABLE, all of which are valid; 0: there is
 * no route to @dst.
 */
unsigned exanet_arith_paths(ExanetState *s, uint32_t dst);
/* As exanet_router_transit(). */
int exanet_arith_transit(ExanetState *s, ExanetPort *from, unsigned vc,
                         uint32_t dst, unsigned path);
/* Returns true if a packet of @src, which is not the neighbour, can arrive by @from. */
bool exanet_arith_source_ok(ExanetState *s, ExanetPort *from, uint32_t src,
                            uint32_t dst);
/* Computes the registers ARITH_ before a read. */
void exanet_arith_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_ARITH_). */
void exanet_arith_reg_written(ExanetState *s, unsigned reg);

#endif /* HW_EXANET_NET_ROUTER_ARITH_H */
