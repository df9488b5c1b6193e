/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet routing by cabinet, chassis and card, or by a table; see arith.h. */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "arith.h"

static unsigned cabinet(uint32_t node)
{
    return RNIC_GET(EXANET_ARITH_CABINET, node);
}

static unsigned chassis(uint32_t node)
{
    return RNIC_GET(EXANET_ARITH_CHASSIS, node);
}

static unsigned card(uint32_t node)
{
    return RNIC_GET(EXANET_ARITH_CARD, node);
}

enum exanet_role exanet_arith_role(uint32_t node, uint32_t other)
{
    if (cabinet(other) != cabinet(node)) {
        return EXANET_ROLE_UPLINK;
    }
    if (chassis(other) != chassis(node)) {
        return chassis(other) > chassis(node) ? EXANET_ROLE_PLUS :
                                                EXANET_ROLE_MINUS;
    }
    return card(other) != card(node) ? EXANET_ROLE_CARD : EXANET_ROLE_AUTO;
}

/* --- The rule --------------------------------------------------------------- */

/*
 * Returns the number of steps from @from to @via, 1 or more, if @via is @to or between
 * @from and @to, otherwise -1.  @from, @via and @to are numbers of chassis or of cards;
 * @from and @to must differ.
 */
static int progress(unsigned from, unsigned via, unsigned to)
{
    if (from < to) {
        return via > from && via <= to ? (int)(via - from) : -1;
    }
    return via < from && via >= to ? (int)(from - via) : -1;
}

/* rank of a direct link, higher than any other rank */
#define RANK_EXACT 0x10000

/*
 * Returns the rank of a link from @node to @peer with @role, the role for packets to
 * @dst.  A higher rank is better.  The rank is -1, which excludes the link, if the
 * chassis of @peer is not on the way from @node to the chassis of @dst.  The rank is 0 if
 * the coordinates do not show whether the link leads nearer to @dst, for example because
 * software has set @role.
 */
static int link_rank(enum exanet_role role, uint32_t node, uint32_t peer,
                     uint32_t dst)
{
    if (peer == dst) {
        return RANK_EXACT;
    }
    if (exanet_arith_role(node, peer) != role) {
        return 0;
    }
    switch (role) {
    case EXANET_ROLE_UPLINK:
        return cabinet(peer) == cabinet(dst);
    case EXANET_ROLE_CARD:
        /*
         * a rank of 0 instead of -1, because the card in the middle of a star may have
         * any number
         */
        return MAX(progress(card(node), card(peer), card(dst)), 0);
    default:
        /*
         * rank -1 if @peer is beyond the chassis of @dst, because packets would have to
         * return
         */
        return progress(chassis(node), chassis(peer), chassis(dst));
    }
}

/*
 * Sets @route->links to those links with role @route->role that have the highest rank, or
 * to 0 if all ranks are -1.  Sets @route->exact to true if the highest rank is more than
 * 0, otherwise to false.
 */
static void links_by_role(const ExanetArithPort *ports, unsigned count,
                          uint32_t node, uint32_t dst, ExanetArithRoute *route)
{
    int best = 0;

    for (unsigned i = 0; i < count; i++) {
        int rank;

        if (ports[i].role != route->role) {
            continue;
        }
        rank = link_rank(ports[i].role, node, ports[i].peer, dst);
        if (rank > best) {
            best = rank;
            route->links = 0;
        }
        if (rank == best) {
            route->links |= 1u << i;
        }
    }
    route->exact = best > 0;
}

void exanet_arith_links(const ExanetArithPort *ports, unsigned count,
                        uint32_t node, uint32_t dst, ExanetArithRoute *route)
{
    *route = (ExanetArithRoute) { .role = exanet_arith_role(node, dst) };
    links_by_role(ports, count, node, dst, route);
    if (route->links || route->role == EXANET_ROLE_CARD) {
        return;
    }
    route->role = EXANET_ROLE_CARD;
    route->handed = true;
    for (unsigned i = 0; i < count; i++) {
        if (ports[i].role == EXANET_ROLE_CARD) {
            route->links |= 1u << i;
        }
    }
}

unsigned exanet_arith_transit_links(const ExanetArithPort *ports, unsigned count,
                                    const ExanetArithRoute *route, unsigned from)
{
    bool last = ports[from].role == EXANET_ROLE_UPLINK && !route->exact;
    unsigned links = route->handed ? 0 : route->links;

    for (unsigned i = 0; i < count; i++) {
        if (ports[i].peer == ports[from].peer ||
            (last && ports[i].role == EXANET_ROLE_UPLINK)) {
            links &= ~(1u << i);
        }
    }
    return links;
}

unsigned exanet_arith_vc(enum exanet_role in, unsigned vc, enum exanet_role out,
                         unsigned path)
{
    unsigned order = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0;
    bool row = in == EXANET_ROLE_PLUS || in == EXANET_ROLE_MINUS;

    if (in == EXANET_ROLE_UPLINK || (row && out == EXANET_ROLE_CARD)) {
        return order | EXANET_VC_DATELINE;
    }
    return order | (in == EXANET_ROLE_AUTO ? 0 : vc & EXANET_VC_DATELINE);
}

bool exanet_arith_source(enum exanet_role in, uint32_t peer, uint32_t node,
                         uint32_t src, uint32_t dst)
{
    bool here = cabinet(dst) == cabinet(node);
    bool near = here && chassis(dst) == chassis(node);
    bool from_here = cabinet(src) == cabinet(node);

    if (src == node) {
        return false;
    }
    switch (in) {
    case EXANET_ROLE_UPLINK:
        /* a packet for another cabinet must be from a node of @peer's cabinet */
        return here ? !from_here : cabinet(src) == cabinet(peer);
    case EXANET_ROLE_PLUS:
        return (!here || chassis(dst) <= chassis(node)) &&
               (from_here ? chassis(src) > chassis(node) : here);
    case EXANET_ROLE_MINUS:
        return (!here || chassis(dst) >= chassis(node)) &&
               (from_here ? chassis(src) < chassis(node) : here);
    case EXANET_ROLE_CARD:
        /* the destination or the source is a card of this chassis */
        return near || (from_here && chassis(src) == chassis(node));
    default:
        return false;
    }
}

/* --- The table -------------------------------------------------------------- */

/* Maximal number of characters of an invalid rule that an error message contains. */
#define RULE_SHOWN 64

/*
 * Reads a number at *@at into *@value, and moves *@at behind the number.  Returns false
 * if there is no number, or if the number is more than @max.
 */
static bool table_number(const char **at, unsigned base, unsigned max,
                         uint32_t *value)
{
    unsigned long n;

    if (!g_ascii_isdigit(**at) || qemu_strtoul(*at, at, base, &n) < 0 ||
        n > max) {
        return false;
    }
    *value = n;
    return true;
}

static bool table_links(const char **at, ExanetArithRule *rule)
{
    do {
        uint32_t link;

        if (!table_number(at, 10, EXANET_LINKS - 1, &link)) {
            return false;
        }
        rule->links |= 1u << link;
    } while ((**at == ',' || **at == '+') && (*at)++);
    return true;
}

/*
 * Reads a rule at *@at into @rule, and moves *@at behind the rule.  Returns NULL if the
 * rule is valid, otherwise the end of an error message, which the caller frees.
 */
static char *table_rule(const char **at, ExanetArithRule *rule)
{
    *rule = (ExanetArithRule) { 0 };
    if (!table_number(at, 0, EXANET_COORD_MASK, &rule->value) ||
        *(*at)++ != '/' ||
        !table_number(at, 0, EXANET_COORD_MASK, &rule->mask) ||
        *(*at)++ != '>') {
        return g_strdup("is no VALUE/MASK>LINKS of 22-bit numbers");
    }
    if (rule->value & ~rule->mask) {
        return g_strdup("has bits in its value that its mask has not");
    }
    if (!table_links(at, rule)) {
        return g_strdup_printf("needs links, 0 to %u", EXANET_LINKS - 1);
    }
    return **at && **at != ';' ? g_strdup("has something behind its links") :
                                 NULL;
}

ExanetArithTable *exanet_arith_table(const char *text, char **why)
{
    g_autofree ExanetArithTable *table = g_new(ExanetArithTable, 1);
    const char *at = text;

    table->count = 0;
    do {
        const char *start = at;
        g_autofree char *bad = NULL;

        if (table->count == EXANET_ARITH_RULES_MAX) {
            *why = g_strdup_printf("there are more than %u rules",
                                   EXANET_ARITH_RULES_MAX);
            return NULL;
        }
        bad = table_rule(&at, &table->rule[table->count++]);
        if (bad) {
            *why = g_strdup_printf("rule %u, '%.*s', %s", table->count,
                                   (int)MIN(strcspn(start, ";"), RULE_SHOWN),
                                   start, bad);
            return NULL;
        }
    } while (*at++ == ';');
    return g_steal_pointer(&table);
}

unsigned exanet_arith_table_links(const ExanetArithTable *table, uint32_t dst)
{
    for (unsigned i = 0; table && i < table->count; i++) {
        if ((dst & table->rule[i].mask) == table->rule[i].value) {
            return table->rule[i].links;
        }
    }
    return 0;
}
