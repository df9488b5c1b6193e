/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routes in a network of ExaNet nodes [P §2.18], [T §6.4].  Links:
 *
 *   QFDB      between up to four nodes with the same upper bits, X, Y and Z; the node
 *             with offset 0, F1, has cables to other QFDBs too
 *   torus     between F1s with the same upper bits, if only one of X, Y and Z differs,
 *             by 1; in a ring also between its first and last F1
 *   uplink    between nodes whose upper bits differ
 *
 * A packet for another QFDB moves from its node to F1, then to F1 of the destination's
 * QFDB, dimension by dimension in the shorter direction, then to the destination.  A
 * packet for other upper bits leaves by an uplink of its node or of F1.
 *
 * This file is arithmetic on coordinates (EXANET_COORD) without state of QEMU, because
 * the router, the check of sources and the test for deadlocks use the same functions.
 */
#ifndef HW_EXANET_NET_ROUTE_H
#define HW_EXANET_NET_ROUTE_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"
#include "dor.h"

/*
 * The shape of a network: that of the torus of its F1s.  Dimensions 0, 1 and 2 are X, Y
 * and Z.
 */
typedef ExanetDor ExanetRouteConfig;

/* One step of a route. */
typedef struct ExanetHop {
    uint8_t role;           /* enum exanet_role of the port; AUTO: no step of a route */
    bool wrap;              /* the step uses the wrap-around cable of a ring */
    uint32_t next;          /* node after the step; if @role is UPLINK, the destination */
} ExanetHop;

/*
 * Fills in @cfg from registers SW_DIMS (@dims) and SW_ORDER (@order).  A ring that is not
 * valid counts as a mesh.  An order that is not valid is replaced by the default.
 */
void exanet_route_config(ExanetRouteConfig *cfg, uint32_t dims,
                         uint32_t order);
/*
 * Stores in *@dims the value of SW_DIMS for @text, such as "4x2x3": one to three numbers
 * of at most 16 for X, Y and Z.  A number below 3, or no number, means a mesh.  Returns
 * false, without a change of *@dims, if @text is not valid.
 */
bool exanet_route_dims(const char *text, uint32_t *dims);
/*
 * Returns the role of a port of @node with a cable to @peer.  Returns AUTO if the network
 * has no such cable, or if @peer is @node.
 */
enum exanet_role exanet_route_role(const ExanetRouteConfig *cfg, uint32_t node,
                                   uint32_t peer);
/* Returns true if @role is a direction in the torus: X_MINUS to Z_PLUS. */
static inline bool exanet_role_torus(enum exanet_role role)
{
    return role >= EXANET_ROLE_X_MINUS && role <= EXANET_ROLE_Z_PLUS;
}
/*
 * Returns the coordinates of the neighbour of @node in direction @role of the torus.  At
 * the end of a mesh (0 or 15), the result wraps around, although there is no cable.
 */
uint32_t exanet_route_neighbour(const ExanetRouteConfig *cfg, uint32_t node,
                                enum exanet_role role);
/* Returns the coordinates of F1 in the QFDB of @node. */
static inline uint32_t exanet_route_f1(uint32_t node)
{
    return node & ~(uint32_t)EXANET_COORD_OFFSET;
}
/*
 * Computes the next step, *@hop, of a packet at @node for @dst; @path has bits
 * EXANET_PATH_*.  If @node is @dst, the role of the step is AUTO.  Returns false if there
 * is no route, because a coordinate of the step's dimension is outside of the ring.  The
 * role of the step is UPLINK if the upper bits of @node and @dst differ; a node without
 * uplink must send such a packet to F1.
 */
bool exanet_route_hop(const ExanetRouteConfig *cfg, uint32_t node, uint32_t dst,
                      unsigned path, ExanetHop *hop);
/*
 * Returns the virtual channel by which a packet leaves with step @hop.  The packet
 * arrived by channel @vc of a port with role @in; @in is AUTO for a packet of this node.
 * @path (bits EXANET_PATH_*) is the path of the packet.
 */
unsigned exanet_route_vc(enum exanet_role in, unsigned vc, const ExanetHop *hop,
                         unsigned path);
/*
 * Returns true if the two orders of dimensions give different routes from @node to @dst.
 */
bool exanet_route_orders(uint32_t node, uint32_t dst);
/*
 * Returns true if a packet of node @src for node @dst can arrive at @node from the
 * neighbour @from, which has the upper bits of @node.  @path has bits EXANET_PATH_*.  If
 * @src has other upper bits than @from, the route before @from is not known, so the
 * function returns true if @dst has the upper bits of @from, and @node is the next node
 * after @from on the route to @dst.
 */
bool exanet_route_passes(const ExanetRouteConfig *cfg, uint32_t src,
                         uint32_t dst, unsigned path, uint32_t from,
                         uint32_t node);

#endif /* HW_EXANET_NET_ROUTE_H */
