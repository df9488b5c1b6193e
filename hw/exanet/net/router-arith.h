/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet switch: what it asks of its other routers, those of arith.h, where ARITH_MODE
 * is not OFF.
 */
#ifndef HW_EXANET_NET_ROUTER_ARITH_H
#define HW_EXANET_NET_ROUTER_ARITH_H

#include "../exanet.h"

/* Takes properties router and routes; false with @errp set when they are wrong. */
bool exanet_arith_init(ExanetState *s, Error **errp);
void exanet_arith_fini(ExanetState *s);
void exanet_arith_reset(ExanetState *s);
/* ARITH_MODE may have changed. */
void exanet_arith_configure(ExanetState *s);
/* Fills in @w, the way to @dst. */
void exanet_arith_way_find(ExanetState *s, uint32_t dst, ExanetWay *w);
/* As exanet_net_route(). */
int exanet_arith_route(ExanetState *s, uint32_t dst, unsigned path);
/* How many values of EXANET_PATH_CABLE there are; 0 when no way leads to @dst. */
unsigned exanet_arith_paths(ExanetState *s, uint32_t dst);
/* As exanet_router_transit(). */
int exanet_arith_transit(ExanetState *s, ExanetPort *from, unsigned vc,
                         uint32_t dst, unsigned path);
/* Whether a packet of @src, which is not the peer, can have come by @from. */
bool exanet_arith_source_ok(ExanetState *s, ExanetPort *from, uint32_t src,
                            uint32_t dst);
void exanet_arith_reg_sync(ExanetState *s);
void exanet_arith_reg_written(ExanetState *s, unsigned reg);

#endif /* HW_EXANET_NET_ROUTER_ARITH_H */
