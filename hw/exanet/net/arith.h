/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic router: routes by cabinet, chassis and card (the rule), or by a table [T
 * §3.3, §5].  Roles of links:
 *
 *   uplink   to another cabinet, or to a switch between cabinets
 *   plus     to a chassis of this cabinet with a higher number
 *   minus    to a chassis of this cabinet with a lower number
 *   card     to another card of this chassis
 *
 * By the rule, a packet moves to the cabinet of its destination, then to the chassis,
 * then to the card.  If several ports lead equally far, a packet may leave by any of
 * these ports.  This file needs no state of QEMU, because unit tests use it alone.
 *
 * Packets by the rule cannot wait for each other in a circle, for this reason.  A packet
 * uses the even virtual channels until it has passed an uplink, or has changed from a
 * plus or minus link to a card link.  From that time on the packet uses the odd channels,
 * and never returns to the even channels.  A packet passes links with even channels, and
 * links with odd channels, in this order:
 *
 *   even   card (to the destination, or to a card with the next link), plus or minus,
 *          uplink
 *   odd    uplink (the second and last uplink), plus or minus, card
 *
 * A packet that passes several chassis keeps its direction, so the numbers of the chassis
 * order the plus and minus links.  Two cards of a chassis have a direct link, or both
 * have a link to a card in the middle, or all cards form a row as the chassis do.
 *
 * With a table, the author of the table must prevent such circles.  In a tree, a packet
 * passes links up, then links down, and no link up after a link down.  In a dragonfly,
 * uplinks connect groups: a packet passes local and global links (even), then local links
 * (odd).
 */
#ifndef HW_EXANET_NET_ARITH_H
#define HW_EXANET_NET_ARITH_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/wire.h"

/* A port of a node, as the rule sees the port. */
typedef struct ExanetArithPort {
    uint32_t peer;          /* coordinates of the neighbour; UINT32_MAX: not known */
    uint8_t role;           /* enum exanet_role of the link; AUTO: the link is not used */
} ExanetArithPort;

/* The links that packets to a destination may take. */
typedef struct ExanetArithRoute {
    uint16_t links;         /* one bit for each link; 0: no route */
    /* role of all @links; AUTO for a route by a table or to this node */
    uint8_t role;
    /*
     * if @role is UPLINK: all @links lead to the destination's cabinet; if @role is AUTO:
     * true
     */
    bool exact;
    /*
     * The rule found no usable link of the right role.  @links are all links with role
     * CARD, and only packets of this node may take @links.
     */
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
    unsigned count;         /* number of rules */
    /* the first rule that matches gives the route */
    ExanetArithRule rule[EXANET_ARITH_RULES_MAX];
} ExanetArithTable;

/* Returns true if @role is a role of the arithmetic router. */
static inline bool exanet_role_arith(enum exanet_role role)
{
    return role == EXANET_ROLE_UPLINK ||
           (role >= EXANET_ROLE_PLUS && role <= EXANET_ROLE_CARD);
}
/*
 * Returns the role of a link of @node that leads towards node @other; AUTO if @node and
 * @other are the same.
 */
enum exanet_role exanet_arith_role(uint32_t node, uint32_t other);
/*
 * Fills in @route by the rule: the links of @node that a packet for another node @dst may
 * take.  @ports are the ports of links 0 to @count - 1 of @node.
 */
void exanet_arith_links(const ExanetArithPort *ports, unsigned count,
                        uint32_t node, uint32_t dst, ExanetArithRoute *route);
/*
 * Returns the links of @route that a packet which arrived by link @from may take, one bit
 * for each link.  The packet may take no link to the neighbour of @from, and no link if
 * @route->handed is true.  By the rule, a packet that arrived by an uplink may take
 * another uplink only to the destination's cabinet, so the packet takes at most two
 * uplinks.
 */
unsigned exanet_arith_transit_links(const ExanetArithPort *ports, unsigned count,
                                    const ExanetArithRoute *route, unsigned from);
/*
 * Returns the virtual channel by which a packet leaves on a link with role @out.  The
 * packet arrived by channel @vc of a link with role @in; @in is AUTO for a packet of this
 * node.  @path (bits EXANET_PATH_*) is the path of the packet.
 */
unsigned exanet_arith_vc(enum exanet_role in, unsigned vc, enum exanet_role out,
                         unsigned path);
/*
 * Returns false if the rule excludes that a packet of node @src for node @dst arrives at
 * @node by a link with role @in from neighbour @peer.  The function uses only roles and
 * coordinates, so the result may be true although no such route exists.
 */
bool exanet_arith_source(enum exanet_role in, uint32_t peer, uint32_t node,
                         uint32_t src, uint32_t dst);
/*
 * Returns a table made from @text: rules VALUE/MASK>LINKS with `;` between rules.  LINKS
 * are numbers of links with `,` or `+` between numbers.  An example of two rules is
 * "0x14000/0x3fc000>0;0/0>2,3".  If @text is not valid, returns NULL and stores the
 * reason in *@why.  The caller frees the table, or the reason, with g_free().
 */
ExanetArithTable *exanet_arith_table(const char *text, char **why);
/*
 * Returns the links, one bit each, of the first rule of @table that matches @dst.
 * Returns 0 if no rule matches, or if @table is NULL.
 */
unsigned exanet_arith_table_links(const ExanetArithTable *table, uint32_t dst);

#endif /* HW_EXANET_NET_ARITH_H */
