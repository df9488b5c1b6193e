/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which way a packet goes through a network of ExaNet nodes [P §2.18], [T §6.4]:
 *
 *   QFDB      up to four nodes with the same upper bits, X, Y and Z, all cabled to
 *             each other; the one with offset 0, F1, is cabled to other QFDBs too
 *   torus     F1s whose X, Y or Z is one apart; with a wrap-around cable where the
 *             dimension is a ring
 *   uplink    between nodes whose upper bits differ
 *
 * From node to F1, to F1 of the destination's QFDB, dimension by dimension and the
 * shortest way round, to the node.  Pure arithmetic on coordinates (EXANET_COORD),
 * free of QEMU state: the switch, the check of where a packet claims to come from
 * and the test for deadlocks use the same functions.
 */
#ifndef HW_EXANET_NET_ROUTE_H
#define HW_EXANET_NET_ROUTE_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

#define EXANET_DIMENSIONS 3         /* X, Y, Z */

/* The same in all nodes of a network. */
typedef struct ExanetRouteConfig {
    uint8_t ring[EXANET_DIMENSIONS];    /* nodes of the rings, 3 to 16; 0: a mesh */
    uint8_t order[EXANET_DIMENSIONS];   /* which is corrected first, second, third */
} ExanetRouteConfig;

/* One step of a way. */
typedef struct ExanetHop {
    uint8_t role;           /* enum exanet_role of the port; AUTO: this node is it */
    bool wrap;              /* over the wrap-around cable of a ring */
    uint32_t next;          /* the node there; not known for UPLINK */
} ExanetHop;

/*
 * From registers SW_DIMS and SW_ORDER.  A ring that can't be counts as a mesh, an
 * order that is none as the default.
 */
void exanet_route_config(ExanetRouteConfig *cfg, uint32_t dims,
                         uint32_t order);
/*
 * SW_DIMS for @text, such as "4x2x3": one to three numbers of at most 16, of which
 * those below 3 are no ring.  False when it is something else.
 */
bool exanet_route_dims(const char *text, uint32_t *dims);
/* Role of a port of @node with a cable to @peer; AUTO: none in this network. */
enum exanet_role exanet_route_role(const ExanetRouteConfig *cfg, uint32_t node,
                                   uint32_t peer);
/* Whether @role is a direction in the torus. */
static inline bool exanet_role_torus(enum exanet_role role)
{
    return role >= EXANET_ROLE_X_MINUS && role <= EXANET_ROLE_Z_PLUS;
}
/* The node that a port of @node with direction @role leads to. */
uint32_t exanet_route_neighbour(const ExanetRouteConfig *cfg, uint32_t node,
                                enum exanet_role role);
/* F1 of the QFDB of @node. */
static inline uint32_t exanet_route_f1(uint32_t node)
{
    return node & ~(uint32_t)EXANET_COORD_OFFSET;
}
/*
 * The step of a packet at @node for @dst; @path: EXANET_PATH_.  False: no way leads
 * there, as a ring is too small for one of the two.  The step is UPLINK when upper
 * bits differ; whoever has no such port hands the packet to F1.
 */
bool exanet_route_hop(const ExanetRouteConfig *cfg, uint32_t node, uint32_t dst,
                      unsigned path, ExanetHop *hop);
/*
 * Virtual channel of the link of @hop for a packet that came by channel @vc of a
 * port with role @in, AUTO for one of this node.
 */
unsigned exanet_route_vc(enum exanet_role in, unsigned vc, const ExanetHop *hop,
                         unsigned path);
/* Whether the two dimension orders lead from @node to @dst by different ways. */
bool exanet_route_orders(uint32_t node, uint32_t dst);
/*
 * Whether a packet of @src for @dst can come to @node from its neighbour @from, which
 * has the same upper bits.  Where @src has others, the way before @from is not known,
 * and only the network's own cables are believed.
 */
bool exanet_route_passes(const ExanetRouteConfig *cfg, uint32_t src,
                         uint32_t dst, unsigned path, uint32_t from,
                         uint32_t node);

#endif /* HW_EXANET_NET_ROUTE_H */
