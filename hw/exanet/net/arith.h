/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic router: routes by cabinet, chassis and card, or by a table [T §3.3,
 * §5].  Roles of links:
 *
 *   uplink   to another cabinet, or to a switch between cabinets
 *   plus     to a chassis of this cabinet with a higher number; minus: a lower one
 *   card     to another card of this chassis
 *
 * A packet goes to its cabinet, then to its chassis, then to its card.  If several ports
 * lead equally far, a packet may take any of them.  Free of QEMU state, as route.h.
 *
 * Packets cannot wait in a circle for the following reason.  A packet that has taken no
 * uplink and left no row of chassis uses the even virtual channels.  Any other packet
 * uses the odd channels, and never returns to the even channels.  In each half the links
 * of a packet have this order:
 *
 *   even   card (to the destination, or to a card with the uplink), plus or minus, uplink
 *   odd    uplink (the second and last one), plus or minus, card
 *
 * In a row of chassis a packet keeps its direction, so the numbers of chassis give the
 * links of the row an order.  Cards of a chassis are one step apart, or two steps over a
 * card in the middle, or they form a row too.  In a tree, a table has routes up*, then
 * down*: no link up follows a link down.  In a dragonfly, a table uses uplinks between
 * groups: local and global links (even), then local links (odd).
 */
#ifndef HW_EXANET_NET_ARITH_H
#define HW_EXANET_NET_ARITH_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/wire.h"

/* A port of a node. */
typedef struct ExanetArithPort {
    uint32_t peer;          /* coordinates of the neighbour; UINT32_MAX: not known */
    uint8_t role;           /* enum exanet_role; AUTO: the link is not used */
} ExanetArithPort;

/* The links that packets to a destination may take. */
typedef struct ExanetArithRoute {
    uint16_t links;         /* one bit for each link; 0: no route */
    uint8_t role;           /* role of all @links */
    bool exact;             /* for uplinks: @links lead to the destination's cabinet */
    /* no link has the right role: packets of this node go to other cards instead */
    bool handed;
} ExanetArithRoute;

/* A rule: packets to nodes with (coordinates & @mask) == @value may take @links. */
typedef struct ExanetArithRule {
    uint32_t value;
    uint32_t mask;
    uint16_t links;
} ExanetArithRule;

#define EXANET_ARITH_RULES_MAX 512

typedef struct ExanetArithTable {
    unsigned count;
    ExanetArithRule rule[EXANET_ARITH_RULES_MAX];   /* the first match counts */
} ExanetArithTable;

/* Returns true if @role is a role of the arithmetic router. */
static inline bool exanet_role_arith(enum exanet_role role)
{
    return role == EXANET_ROLE_UPLINK ||
           (role >= EXANET_ROLE_PLUS && role <= EXANET_ROLE_CARD);
}
/* Returns the role of links from @node towards @other; AUTO: both are the same card. */
enum exanet_role exanet_arith_role(uint32_t node, uint32_t other);
/*
 * Fills in @route by the rule of the paper: the links among the @count @ports of @node
 * that a packet for another node @dst may take.
 */
void exanet_arith_links(const ExanetArithPort *ports, unsigned count,
                        uint32_t node, uint32_t dst, ExanetArithRoute *route);
/*
 * Returns the links of @route that a packet which arrived by link @from may take, one bit
 * for each link.  A packet takes no link back to the previous node, and no third uplink,
 * so it cannot circulate.
 */
unsigned exanet_arith_transit_links(const ExanetArithPort *ports, unsigned count,
                                    const ExanetArithRoute *route, unsigned from);
/*
 * Returns the virtual channel of a link with role @out for a packet that arrived by
 * channel @vc of a link with role @in.  @in is AUTO for a packet of this node.  @path:
 * EXANET_PATH_.
 */
unsigned exanet_arith_vc(enum exanet_role in, unsigned vc, enum exanet_role out,
                         unsigned path);
/*
 * Returns true if, by the rule, a packet of @src for @dst can arrive at @node by a link
 * with role @in from @peer.
 */
bool exanet_arith_source(enum exanet_role in, uint32_t peer, uint32_t node,
                         uint32_t src, uint32_t dst);
/*
 * Returns a table made from @text: rules VALUE/MASK>LINKS with `;` between them; LINKS
 * are numbers with `,` or `+` between them: "0x14000/0x3fc000>0;0/0>2,3".  If @text is
 * not valid, returns NULL and sets *@why, which the caller frees.  The caller frees the
 * table with g_free().
 */
ExanetArithTable *exanet_arith_table(const char *text, char **why);
/* Returns the links of the first rule that matches @dst, or 0. */
unsigned exanet_arith_table_links(const ExanetArithTable *table, uint32_t dst);

#endif /* HW_EXANET_NET_ARITH_H */
