/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable, which the sending port injects: faults of property faultsN, by rate
 * or for the next packets, and faults of an order of the guest, by count.
 *
 * A port has one random generator.  plan_draw() draws one number for each item with a
 * rate and each packet, even if another fault affects the packet.  So the same seed, the
 * same packets and the same orders lead to the same faults.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "inject.h"
#include "port-internal.h"
#include "port.h"

/*
 * Longest delay of item "delay".  Units retransmit much earlier, so a longer delay is the
 * same as a loss.
 */
#define DELAY_MAX_NS (10 * (int64_t)NANOSECONDS_PER_SECOND)

/* Items of property faultsN: the kinds of enum rnic_injected, and ITEM_CORRUPT. */
enum {
    ITEM_CORRUPT = RNIC_INJECTED_KINDS,     /* corrupts any part of the packet */
    ITEMS,
    ITEM_NONE = ITEMS,
};

/*
 * Items in the order in which plan_draw() draws numbers.  If several items hit a packet,
 * only the first item that applies to the packet takes effect; none, if an order injects
 * a fault into the packet.
 */
static const uint8_t items[] = {
    RNIC_INJECTED_DROP,
    ITEM_CORRUPT,
    RNIC_INJECTED_PART,
    RNIC_INJECTED_PART + 1,
    RNIC_INJECTED_PART + 2,
    RNIC_INJECTED_DUPLICATE,
    RNIC_INJECTED_REORDER,
    RNIC_INJECTED_DELAY,            /* also takes effect on a packet with a flipped bit */
};
QEMU_BUILD_BUG_ON(ARRAY_SIZE(items) != ITEMS);

/* Parsed form of property faultsN. */
typedef struct FaultPlan {
    struct {
        double rate;                /* 0 to 1; not used if @next is not 0 */
        /* packets left of next:N; 0: the item has a rate */
        uint32_t next;
        bool given;                 /* the property has this item */
    } item[ITEMS];
    int64_t delay;                  /* ns, delay of item "delay" */
    uint32_t seed;                  /* value of item "seed", or the default */
    bool seeded;                    /* the property has item "seed" */
    bool down;                      /* the property has item "down" */
} FaultPlan;

struct RNicInject {
    const RNicFaultFormat *format;
    FaultPlan plan;
    GRand *rand;
    RNicInjectOrder order;
    /* packets that matched @order since the last fault of @order, or since its start */
    uint32_t seen;
};

/*
 * Returns the part that @item corrupts, or NULL if @item is not "corrupt-PART" of a part
 * of @format.
 */
static const RNicFaultPart *item_part(const RNicFaultFormat *format, unsigned item)
{
    unsigned n = item - RNIC_INJECTED_PART;

    return n < format->parts ? &format->part[n] : NULL;
}

const char *rnic_inject_name(const RNicFaultFormat *format, unsigned kind)
{
    const RNicFaultPart *part = item_part(format, kind);

    switch (kind) {
    case RNIC_INJECTED_DROP:
        return "drop";
    case ITEM_CORRUPT:
        return "corrupt";
    case RNIC_INJECTED_DUPLICATE:
        return "duplicate";
    case RNIC_INJECTED_REORDER:
        return "reorder";
    case RNIC_INJECTED_DELAY:
        return "delay";
    default:
        return part ? part->name : NULL;
    }
}

/* --- The property --------------------------------------------------------- */

/*
 * Parses all of @text as a number below 2^32.  Returns false if @text is no such number.
 */
static bool number_parse(const char *text, uint32_t *number)
{
    return g_ascii_isdigit(*text) && !qemu_strtoui(text, NULL, 10, number);
}

/*
 * Parses a number >= 0 at the start of @text, and sets *@rest to the text behind the
 * number.  Returns false if @text does not begin with a finite number >= 0.
 */
static bool fraction_parse(const char *text, double *number, const char **rest)
{
    return (g_ascii_isdigit(*text) || *text == '.') &&
           !qemu_strtod_finite(text, rest, number);
}

/*
 * The parsers rate_parse() to item_parse() store the value of @text in @plan.  Each
 * parser returns NULL, or the text of an error if @text is not valid.
 */

static const char *rate_parse(FaultPlan *plan, unsigned item, const char *text)
{
    const char *rest;
    double rate;

    if (g_str_has_prefix(text, "next:")) {
        if (!number_parse(text + strlen("next:"), &plan->item[item].next) ||
            plan->item[item].next == 0) {
            return "next: takes a number from 1 on";
        }
        return NULL;
    }
    if (!fraction_parse(text, &rate, &rest)) {
        return "takes a rate, as 1% or 0.01, or next:N";
    }
    if (*rest == '%') {
        rate /= 100;
        rest++;
    }
    if (*rest || rate > 1) {
        return "a rate is 0% to 100%, or 0 to 1";
    }
    plan->item[item].rate = rate;
    return NULL;
}

static const char *time_parse(FaultPlan *plan, const char *text)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        { "ns", 1 }, { "us", SCALE_US }, { "ms", SCALE_MS },
        { "s", NANOSECONDS_PER_SECOND },
    };
    const char *rest;
    double number;

    if (!fraction_parse(text, &number, &rest)) {
        return "takes a time behind its rate, as 5%:200us";
    }
    for (unsigned i = 0; i < ARRAY_SIZE(units); i++) {
        double ns = number * units[i].ns;

        if (!strcmp(rest, units[i].name) && ns >= 1 && ns <= DELAY_MAX_NS) {
            plan->delay = ns;
            return NULL;
        }
    }
    return "a time is 1ns to 10s, in ns, us, ms or s";
}

static const char *delay_parse(FaultPlan *plan, const char *text)
{
    const char *colon = strrchr(text, ':');
    g_autofree char *rate = colon ? g_strndup(text, colon - text) : NULL;

    return time_parse(plan, colon ? colon + 1 : "") ?:
           rate_parse(plan, RNIC_INJECTED_DELAY, rate);
}

/* Result of item_parse() for a name that no item has; plan_parse() makes the message. */
static const char unknown[] = "";

static const char *item_parse(const RNicFaultFormat *format, FaultPlan *plan,
                              const char *text)
{
    const char *equal = strchr(text, '=');
    g_autofree char *name = equal ? g_strndup(text, equal - text) :
                                    g_strdup(text);
    const char *value = equal ? equal + 1 : "";

    if (!strcmp(name, "down")) {
        if (equal || plan->down) {
            return equal ? "takes no value" : "is given twice";
        }
        plan->down = true;
        return NULL;
    }
    if (!strcmp(name, "seed")) {
        if (plan->seeded) {
            return "is given twice";
        }
        plan->seeded = true;
        return number_parse(value, &plan->seed) ? NULL :
               "takes a number below 2^32";
    }
    for (unsigned i = 0; i < ITEMS; i++) {
        unsigned item = items[i];

        if (g_strcmp0(name, rnic_inject_name(format, item))) {
            continue;
        }
        if (plan->item[item].given) {
            return "is given twice";
        }
        plan->item[item].given = true;
        return item == RNIC_INJECTED_DELAY ? delay_parse(plan, value) :
                                               rate_parse(plan, item, value);
    }
    return unknown;
}

/*
 * Returns the text "there are ..." with all items, for an error message.  The caller
 * frees the text.
 */
static char *items_list(const RNicFaultFormat *format)
{
    GString *s = g_string_new("there are ");

    for (unsigned i = 0; i < ITEMS; i++) {
        const char *name = rnic_inject_name(format, items[i]);

        if (name) {
            g_string_append_printf(s, "%s, ", name);
        }
    }
    g_string_append(s, "seed and down");
    return g_string_free(s, false);
}

/*
 * Sets @plan to the items of @text.  Returns false with @errp set if an item is not
 * valid.
 */
static bool plan_parse(const RNicFaultFormat *format, FaultPlan *plan,
                       const char *text, unsigned index, Error **errp)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t\n+;", -1);

    *plan = (FaultPlan) { .seed = format->seed + index };
    for (char **word = words; *word; word++) {
        const char *wrong = **word ? item_parse(format, plan, *word) : NULL;

        if (wrong) {
            g_autofree char *list = wrong == unknown ? items_list(format) : NULL;

            error_setg(errp, "faults%u: '%.40s': %s", index, *word, list ?: wrong);
            return false;
        }
    }
    return true;
}

static bool plan_empty(const FaultPlan *plan)
{
    for (unsigned item = 0; item < ITEMS; item++) {
        if (plan->item[item].given) {
            return false;
        }
    }
    return !plan->seeded && !plan->down;
}

/* Frees @p->inject if the property has no items and there is no order. */
static void inject_tidy(RNicPort *p)
{
    if (p->inject && p->inject->order.kind == RNIC_INJECTED_KINDS &&
        plan_empty(&p->inject->plan)) {
        rnic_inject_fini(p);
    }
}

/* Returns @p->inject, and first allocates @p->inject if it is NULL. */
static RNicInject *inject_need(RNicPort *p, const RNicFaultFormat *format,
                               unsigned index)
{
    if (!p->inject) {
        p->inject = g_new0(RNicInject, 1);
        p->inject->format = format;
        p->inject->order.kind = RNIC_INJECTED_KINDS;
        p->inject->rand = g_rand_new_with_seed(format->seed + index);
    }
    return p->inject;
}

bool rnic_inject_plan_set(RNicPort *p, const RNicFaultFormat *format,
                          unsigned index, const char *text, Error **errp)
{
    RNicInject *inj;
    FaultPlan plan;

    if (!plan_parse(format, &plan, text, index, errp)) {
        return false;
    }
    inj = inject_need(p, format, index);
    inj->plan = plan;
    g_rand_set_seed(inj->rand, plan.seed);
    if (p->admin_down != plan.down) {
        rnic_port_admin(p, !plan.down);
    }
    inject_tidy(p);
    return true;
}

char *rnic_inject_plan_get(const RNicPort *p)
{
    const FaultPlan *plan;
    GString *s = g_string_new("");

    if (!p->inject) {
        return g_string_free(s, false);
    }
    plan = &p->inject->plan;
    if (plan->seeded) {
        g_string_append_printf(s, " seed=%" PRIu32, plan->seed);
    }
    for (unsigned i = 0; i < ITEMS; i++) {
        unsigned item = items[i];
        const char *name = rnic_inject_name(p->inject->format, item);

        if (!plan->item[item].given) {
            continue;
        }
        if (plan->item[item].next) {
            g_string_append_printf(s, " %s=next:%" PRIu32, name,
                                   plan->item[item].next);
        } else {
            g_string_append_printf(s, " %s=%.12g%%", name,
                                   plan->item[item].rate * 100);
        }
        if (item == RNIC_INJECTED_DELAY) {
            g_string_append_printf(s, ":%" PRId64 "ns", plan->delay);
        }
    }
    g_string_append(s, plan->down ? " down" : "");
    g_string_erase(s, 0, s->len ? 1 : 0);
    return g_string_free(s, false);
}

/* --- Packets -------------------------------------------------------------- */

/*
 * Returns true if @item can take effect on a packet of @type and @words words.  Returns
 * false if @item corrupts a part that such a packet does not have.
 */
static bool item_applies(const RNicFaultFormat *format, unsigned item, unsigned type,
                         unsigned words)
{
    const RNicFaultPart *part = item_part(format, item);

    return !part || part->present(type, words);
}

/*
 * Chooses a part of a packet of @type and @words words at random, and returns the item
 * that corrupts this part.
 */
static unsigned part_choose(const RNicInject *inj, unsigned type, unsigned words)
{
    unsigned item;

    do {
        item = RNIC_INJECTED_PART + g_rand_int_range(inj->rand, 0, inj->format->parts);
    } while (!item_applies(inj->format, item, type, words));
    return item;
}

/* Returns the items of the property that hit the next packet, one bit for each item. */
static unsigned plan_draw(RNicInject *inj)
{
    unsigned hits = 0;

    for (unsigned i = 0; i < ITEMS; i++) {
        unsigned item = items[i];

        if (!inj->plan.item[item].given) {
            continue;
        }
        if (inj->plan.item[item].next ||
            g_rand_double(inj->rand) < inj->plan.item[item].rate) {
            hits |= 1u << item;
        }
    }
    return hits;
}

/*
 * Subtracts 1 from N of @item if @item has the form next:N, because @item has taken
 * effect on a packet.  Removes the item after its last packet.  Does nothing for an item
 * with a rate.
 */
static void plan_done(FaultPlan *plan, unsigned item)
{
    if (plan->item[item].next && --plan->item[item].next == 0) {
        plan->item[item].given = false;
    }
}

/*
 * Returns the item of @hits that takes effect on a packet of @type and @words words, and
 * calls plan_done() for this item.  Returns ITEM_NONE if no item does.  Ignores item
 * "delay", which rnic_inject_packet() handles.
 */
static unsigned plan_choose(RNicInject *inj, unsigned hits, unsigned type,
                            unsigned words)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        unsigned item = items[i];

        if (item != RNIC_INJECTED_DELAY && (hits & 1u << item) &&
            item_applies(inj->format, item, type, words)) {
            plan_done(&inj->plan, item);
            return item;
        }
    }
    return ITEM_NONE;
}

/*
 * Returns the fault of the order for a packet of @type and @words words, or ITEM_NONE if
 * the order injects no fault into this packet.  Counts the packets that match the order.
 * For an order with a count, subtracts the fault from the count, ends the order after its
 * last fault, and reports RNIC_PORT_INJECTED to the owner of @p.
 */
static unsigned order_choose(RNicPort *p, unsigned type, unsigned words)
{
    RNicInject *inj = p->inject;
    RNicInjectOrder *order = &inj->order;
    unsigned kind = order->kind;

    if (kind == RNIC_INJECTED_KINDS || !item_applies(inj->format, kind, type, words) ||
        (!order->all && order->type != type) || ++inj->seen < order->every) {
        return ITEM_NONE;
    }
    inj->seen = 0;
    if (order->count) {
        if (--order->count == 0) {
            order->kind = RNIC_INJECTED_KINDS;
        }
        p->group->owner->changed(p, RNIC_PORT_INJECTED, NULL);
    }
    return kind;
}

static void inject_count(RNicPort *p, enum rnic_injected kind, unsigned type)
{
    p->injected[kind]++;
    rnic_link_trace(p, RNIC_PORT_STEP_FAULT, kind, type, 0);
}

/*
 * Applies @item to the packet of @words words at @buf, and counts the fault.  Returns the
 * effect on the packet.  Does nothing for ITEM_NONE.
 */
static RNicFate item_do(RNicPort *p, unsigned item, uint8_t *buf, unsigned words,
                        unsigned type)
{
    const RNicInject *inj = p->inject;
    RNicFate fate = { .kind = RNIC_FATE_PASS };

    if (item == ITEM_CORRUPT) {
        item = part_choose(inj, type, words);
    }
    switch (item) {
    case ITEM_NONE:
        return fate;
    case RNIC_INJECTED_DROP:
        fate.kind = RNIC_FATE_DROP;
        break;
    case RNIC_INJECTED_DUPLICATE:
        fate.kind = RNIC_FATE_DUPLICATE;
        break;
    case RNIC_INJECTED_REORDER:
        fate.kind = RNIC_FATE_HOLD;
        break;
    default:
        item_part(inj->format, item)->apply(inj->rand, buf, words);
    }
    inject_count(p, item, type);
    return fate;
}

RNicFate rnic_inject_packet(RNicPort *p, uint8_t *buf, unsigned words)
{
    RNicInject *inj = p->inject;
    unsigned type = inj->format->type(buf);
    unsigned hits = plan_draw(inj);
    unsigned item = order_choose(p, type, words);
    RNicFate fate;

    if (item == ITEM_NONE) {
        item = plan_choose(inj, hits, type, words);
    }
    fate = item_do(p, item, buf, words, type);
    if (fate.kind == RNIC_FATE_PASS && (hits & 1u << RNIC_INJECTED_DELAY)) {
        fate.delay = inj->plan.delay;
        plan_done(&inj->plan, RNIC_INJECTED_DELAY);
        inject_count(p, RNIC_INJECTED_DELAY, type);
    }
    if (item == ITEM_NONE && !hits) {
        /* an earlier packet may have had the last fault of property and order */
        inject_tidy(p);
    }
    return fate;
}

/* --- Orders ----------------------------------------------------------------- */

void rnic_inject_order(RNicPort *p, const RNicFaultFormat *format,
                       const RNicInjectOrder *order)
{
    inject_need(p, format, p->index)->order = *order;
    p->inject->seen = 0;
}

void rnic_inject_cancel(RNicPort *p)
{
    if (p->inject) {
        p->inject->order.kind = RNIC_INJECTED_KINDS;
        inject_tidy(p);
    }
}

uint32_t rnic_inject_order_left(const RNicPort *p)
{
    return p->inject ? p->inject->order.count : 0;
}

void rnic_inject_reset(RNicPort *p)
{
    memset(p->injected, 0, sizeof(p->injected));
    rnic_inject_cancel(p);
}

void rnic_inject_fini(RNicPort *p)
{
    if (p->inject) {
        g_rand_free(p->inject->rand);
        g_free(p->inject);
        p->inject = NULL;
    }
}
