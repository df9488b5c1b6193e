/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other router: by cabinet, chassis and card, or by a table [T §3.3, §5].
 *
 *   uplink   to another cabinet, or to a switch that leads to some
 *   plus     to a chassis of this cabinet with a higher number; minus: a lower one
 *   card     to another card of this chassis
 *
 * A packet is brought to its cabinet, then to its chassis, then to its card.  Where
 * several ports lead as far they all may be taken.  Free of QEMU state, as route.h.
 *
 * Why nothing waits in a circle.  The even virtual channels are for a packet that has
 * taken no uplink and left no row of chassis; others are in the odd ones, and there is
 * no way back.  In either half a packet passes these kinds of links, in this order:
 *
 *   even   card (its own chassis, or to where the uplink is), plus or minus, uplink
 *   odd    uplink (the second and last one), plus or minus, card
 *
 * A row of chassis is passed in one direction, and each step brings a higher number
 * (or each a lower one), so that those links have an order of their own; cards of a
 * chassis are one step apart, two over a card in the middle, or a row as well.  A tree
 * by table is up*, then down*: no link down is followed by one up.  In a dragonfly by
 * table the links between groups are uplinks: local, global (even), local (odd).
 */
#ifndef HW_EXANET_NET_ARITH_H
#define HW_EXANET_NET_ARITH_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/wire.h"

/* A link of a node that is up. */
typedef struct ExanetArithPort {
    uint32_t peer;
    uint8_t role;           /* enum exanet_role; AUTO: not to be used */
} ExanetArithPort;

/* Where a packet may go. */
typedef struct ExanetArithWay {
    uint16_t links;         /* one bit for each; 0: nowhere */
    uint8_t role;           /* of all of them */
    bool exact;             /* uplinks that end in the destination's cabinet */
    /* a card without such links hands on what is its own, for another to see to */
    bool handed;
} ExanetArithWay;

/* Packets for nodes whose coordinates under @mask are @value may go by @links. */
typedef struct ExanetArithRule {
    uint32_t value;
    uint32_t mask;
    uint16_t links;
} ExanetArithRule;

#define EXANET_ARITH_RULES_MAX 512

typedef struct ExanetArithTable {
    unsigned count;
    ExanetArithRule rule[EXANET_ARITH_RULES_MAX];   /* the first that fits */
} ExanetArithTable;

/* Whether the role is one of this router. */
static inline bool exanet_role_arith(enum exanet_role role)
{
    return role == EXANET_ROLE_UPLINK ||
           (role >= EXANET_ROLE_PLUS && role <= EXANET_ROLE_CARD);
}
/* What leads from @node to @other, a peer or a destination; AUTO: it is the same. */
enum exanet_role exanet_arith_role(uint32_t node, uint32_t other);
/*
 * The rule of the paper: which of the @count @ports of @node a packet for @dst, which
 * is another node, may take.
 */
void exanet_arith_way(const ExanetArithPort *ports, unsigned count,
                      uint32_t node, uint32_t dst, ExanetArithWay *way);
/*
 * Which links of @way a packet may take that came by link @from: neither back, nor by
 * a third uplink, so that none goes round.
 */
unsigned exanet_arith_onward(const ExanetArithPort *ports, unsigned count,
                             const ExanetArithWay *way, unsigned from);
/*
 * Virtual channel of a link with role @out for a packet that came by channel @vc of
 * one with role @in, AUTO for one of this node; @path: EXANET_PATH_.
 */
unsigned exanet_arith_vc(enum exanet_role in, unsigned vc, enum exanet_role out,
                         unsigned path);
/*
 * Whether by the rule a packet of @src for @dst can come to @node by a link with role
 * @in from @peer.
 */
bool exanet_arith_source(enum exanet_role in, uint32_t peer, uint32_t node,
                         uint32_t src, uint32_t dst);
/*
 * A table from text, rules VALUE/MASK>LINKS with `;` between them, LINKS numbers with
 * `,` or `+` between them: "0x14000/0x3fc000>0;0/0>2,3".  NULL with @why set, to be
 * freed, if it is something else; free the table with g_free().
 */
ExanetArithTable *exanet_arith_table(const char *text, char **why);
/* The links of the first rule for @dst; 0: there is none. */
unsigned exanet_arith_table_links(const ExanetArithTable *table, uint32_t dst);

#endif /* HW_EXANET_NET_ARITH_H */
