/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable, on its transmitting side: what property faultsN asks for by
 * rate or for the next packets, and register PORT_INJECT by count.
 *
 * Chance comes from one generator per port, and each rate draws from it once per
 * packet whatever becomes of the packet: the same seed and the same packets give the
 * same faults.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "../exanet.h"
#include "inject.h"
#include "port.h"
#include "../base/regs.h"
#include "../base/wire.h"
#include "../../trace.h"

/* Longer than this the protocols above have given up anyway. */
#define DELAY_MAX_NS (10 * (int64_t)NANOSECONDS_PER_SECOND)

/* Faults that can be asked for; if several hit a packet the first one is done. */
typedef enum FaultItem {
    ITEM_DROP,
    ITEM_CORRUPT,                   /* any of the next three */
    ITEM_HEADER,
    ITEM_PAYLOAD,
    ITEM_FOOTER,
    ITEM_DUPLICATE,
    ITEM_REORDER,
    ITEM_DELAY,                     /* goes together with the corrupting ones */
    ITEMS,
    ITEM_NONE = ITEMS,
} FaultItem;

static const char *const item_name[ITEMS] = {
    [ITEM_DROP] = "drop",
    [ITEM_CORRUPT] = "corrupt",
    [ITEM_HEADER] = "corrupt-header",
    [ITEM_PAYLOAD] = "corrupt-payload",
    [ITEM_FOOTER] = "corrupt-footer",
    [ITEM_DUPLICATE] = "duplicate",
    [ITEM_REORDER] = "reorder",
    [ITEM_DELAY] = "delay",
};

/* Parsed form of faultsN. */
typedef struct FaultPlan {
    struct {
        double rate;                /* 0 to 1, unless there is a count */
        uint32_t next;              /* packets that it is still for */
        bool given;
    } item[ITEMS];
    int64_t delay;                  /* ns */
    uint32_t seed;
    bool seeded;
    bool down;
} FaultPlan;

struct ExanetInject {
    FaultPlan plan;
    GRand *rand;
    uint64_t reg;                   /* PORT_INJECT, 0 unless it asks for a fault */
    uint32_t seen;                  /* packets it is for, since its last fault */
};

/* --- The property --------------------------------------------------------- */

/* Reads a number below 2^32 that is all of @text. */
static bool number_parse(const char *text, uint32_t *number)
{
    return g_ascii_isdigit(*text) && !qemu_strtoui(text, NULL, 10, number);
}

/* Reads a number that is not negative and sets *rest to what follows it. */
static bool fraction_parse(const char *text, double *number, const char **rest)
{
    return (g_ascii_isdigit(*text) || *text == '.') &&
           !qemu_strtod_finite(text, rest, number);
}

/* The functions that follow return what is wrong, NULL if nothing is. */

static const char *rate_parse(FaultPlan *plan, FaultItem item, const char *text)
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
           rate_parse(plan, ITEM_DELAY, rate);
}

static const char *item_parse(FaultPlan *plan, const char *text)
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
    for (FaultItem item = 0; item < ITEMS; item++) {
        if (strcmp(name, item_name[item])) {
            continue;
        }
        if (plan->item[item].given) {
            return "is given twice";
        }
        plan->item[item].given = true;
        return item == ITEM_DELAY ? delay_parse(plan, value) :
                                    rate_parse(plan, item, value);
    }
    return "there are drop, corrupt, corrupt-header, corrupt-payload, "
           "corrupt-footer, duplicate, reorder, delay, seed and down";
}

static bool plan_parse(FaultPlan *plan, const char *text, unsigned index,
                       Error **errp)
{
    g_auto(GStrv) items = g_strsplit_set(text, " \t\n+;", -1);

    *plan = (FaultPlan) { .seed = EXANET_ID + index };
    for (char **item = items; *item; item++) {
        const char *wrong = **item ? item_parse(plan, *item) : NULL;

        if (wrong) {
            error_setg(errp, "faults%u: '%.40s': %s", index, *item, wrong);
            return false;
        }
    }
    return true;
}

static bool plan_empty(const FaultPlan *plan)
{
    for (FaultItem item = 0; item < ITEMS; item++) {
        if (plan->item[item].given) {
            return false;
        }
    }
    return !plan->seeded && !plan->down;
}

/* Frees what @p has if nothing is asked for any more. */
static void inject_tidy(ExanetPort *p)
{
    if (p->inject && !p->inject->reg && plan_empty(&p->inject->plan)) {
        exanet_inject_fini(p);
    }
}

static ExanetInject *inject_need(ExanetPort *p, unsigned index)
{
    if (!p->inject) {
        p->inject = g_new0(ExanetInject, 1);
        p->inject->rand = g_rand_new_with_seed(EXANET_ID + index);
    }
    return p->inject;
}

bool exanet_inject_plan_set(ExanetPort *p, unsigned index, const char *text,
                            Error **errp)
{
    ExanetInject *inj;
    FaultPlan plan;

    if (!plan_parse(&plan, text, index, errp)) {
        return false;
    }
    inj = inject_need(p, index);
    inj->plan = plan;
    g_rand_set_seed(inj->rand, plan.seed);
    if (p->admin_down != plan.down) {
        exanet_port_admin(p, !plan.down);
    }
    inject_tidy(p);
    return true;
}

char *exanet_inject_plan_get(const ExanetPort *p)
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
    for (FaultItem item = 0; item < ITEMS; item++) {
        if (!plan->item[item].given) {
            continue;
        }
        if (plan->item[item].next) {
            g_string_append_printf(s, " %s=next:%" PRIu32, item_name[item],
                                   plan->item[item].next);
        } else {
            g_string_append_printf(s, " %s=%.12g%%", item_name[item],
                                   plan->item[item].rate * 100);
        }
        if (item == ITEM_DELAY) {
            g_string_append_printf(s, ":%" PRId64 "ns", plan->delay);
        }
    }
    g_string_append(s, plan->down ? " down" : "");
    g_string_erase(s, 0, s->len ? 1 : 0);
    return g_string_free(s, false);
}

/* --- Packets -------------------------------------------------------------- */

/* Flips one of the bits @lo and @hi of the word at @word. */
static void word_flip(GRand *rand, uint8_t *word, uint64_t lo, uint64_t hi)
{
    unsigned bit = g_rand_int_range(rand, 0, ctpop64(lo) + ctpop64(hi));

    if (bit >= ctpop64(lo)) {
        bit -= ctpop64(lo);
        lo = hi;
        word += sizeof(lo);
    }
    while (bit--) {
        lo &= lo - 1;
    }
    stq_le_p(word, ldq_le_p(word) ^ (lo & -lo));
}

/*
 * The type decides what else the CRC leaves out, so that with it more than one bit
 * could differ; all other bits are under the CRC of every packet of @type.
 */
static void header_flip(GRand *rand, uint8_t *buf, unsigned type)
{
    uint64_t lo = ~(EXANET_HDR_LO_VC | EXANET_HDR_LO_TYPE);
    uint64_t hi = ~EXANET_HDR_HI_PATH;

    if (type == EXANET_TYPE_ACK) {
        hi &= ~EXANET_ACK_HI_HOPS;
    } else if (type == EXANET_TYPE_FLOW_RATE) {
        lo &= ~EXANET_FLOW_LO_HOPS;
    }
    word_flip(rand, buf, lo, hi);
}

static void payload_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    unsigned word = g_rand_int_range(rand, 1, words - 1);

    word_flip(rand, buf + word * EXANET_WORD_BYTES, UINT64_MAX, UINT64_MAX);
}

/* The payload's CRC counts as payload: the footer has one of its own. */
static void footer_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    word_flip(rand, buf + (words - 1) * EXANET_WORD_BYTES,
              ~EXANET_FTR_LO_TTL_2_0,
              EXANET_FTR_HI_USER | EXANET_FTR_HI_CRC);
}

/* Whether a packet of @words words has what @item works on. */
static bool item_possible(FaultItem item, unsigned words)
{
    return item == ITEM_PAYLOAD ? words > 2 :
           item == ITEM_FOOTER ? words > 1 : true;
}

/* One of the parts that a packet of @words words has. */
static FaultItem part_choose(GRand *rand, unsigned words)
{
    FaultItem part;

    do {
        part = ITEM_HEADER + g_rand_int_range(rand, 0, 3);
    } while (!item_possible(part, words));
    return part;
}

/* Those items of the property that hit the next packet, one bit each. */
static unsigned plan_draw(ExanetInject *inj)
{
    unsigned hits = 0;

    for (FaultItem item = 0; item < ITEMS; item++) {
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

/* Takes note that @item has been done to a packet. */
static void plan_done(FaultPlan *plan, FaultItem item)
{
    if (plan->item[item].next && --plan->item[item].next == 0) {
        plan->item[item].given = false;
    }
}

/* Which of @hits is done to a packet of @words words; DELAY is not asked for here. */
static FaultItem plan_choose(FaultPlan *plan, unsigned hits, unsigned words)
{
    for (FaultItem item = 0; item < ITEM_DELAY; item++) {
        if ((hits & 1u << item) && item_possible(item, words)) {
            plan_done(plan, item);
            return item;
        }
    }
    return ITEM_NONE;
}

/* What PORT_INJECT does to a packet of @words words; counts down. */
static FaultItem reg_choose(ExanetPort *p, unsigned type, unsigned words)
{
    static const FaultItem item[] = {
        [EXANET_INJECT_NONE] = ITEM_NONE,
        [EXANET_INJECT_DROP] = ITEM_DROP,
        [EXANET_INJECT_HEADER] = ITEM_HEADER,
        [EXANET_INJECT_PAYLOAD] = ITEM_PAYLOAD,
        [EXANET_INJECT_FOOTER] = ITEM_FOOTER,
        [EXANET_INJECT_DUPLICATE] = ITEM_DUPLICATE,
        [EXANET_INJECT_HOLD] = ITEM_REORDER,
    };
    ExanetInject *inj = p->inject;
    uint64_t reg = inj->reg;
    unsigned filter = RNIC_GET(EXANET_INJECT_TYPE, reg);
    uint32_t count = RNIC_GET(EXANET_INJECT_COUNT, reg);
    FaultItem chosen = item[RNIC_GET(EXANET_INJECT_KIND, reg)];

    if (chosen == ITEM_NONE || !item_possible(chosen, words) ||
        (filter != EXANET_INJECT_TYPE_ALL && filter != type) ||
        ++inj->seen < RNIC_GET(EXANET_INJECT_EVERY, reg)) {
        return ITEM_NONE;
    }
    inj->seen = 0;
    if (count) {
        reg &= ~EXANET_INJECT_COUNT;
        reg |= RNIC_PREP(EXANET_INJECT_COUNT, count - 1);
        reg &= count == 1 ? ~EXANET_INJECT_KIND : UINT64_MAX;
        exanet_reg_set64(p->s, EXANET_PORT(p->index) + EXANET_REG_PORT_INJECT,
                         reg);
        inj->reg = count == 1 ? 0 : reg;
    }
    return chosen;
}

static void inject_count(ExanetPort *p, enum exanet_injected kind, unsigned type)
{
    p->injected[kind]++;
    trace_exanet_inject_fault(p->s->node, p->index, kind, type);
}

/* Does @item to the packet of @words words at @buf. */
static ExanetFate item_do(ExanetPort *p, FaultItem item, uint8_t *buf,
                          unsigned words)
{
    GRand *rand = p->inject->rand;
    unsigned type = exanet_packet_type(buf);
    ExanetFate fate = { .kind = EXANET_FATE_PASS };

    if (item == ITEM_CORRUPT) {
        item = part_choose(rand, words);
    }
    switch (item) {
    case ITEM_DROP:
        fate.kind = EXANET_FATE_DROP;
        inject_count(p, EXANET_INJECTED_DROP, type);
        break;
    case ITEM_HEADER:
        header_flip(rand, buf, type);
        inject_count(p, EXANET_INJECTED_HEADER, type);
        break;
    case ITEM_PAYLOAD:
        payload_flip(rand, buf, words);
        inject_count(p, EXANET_INJECTED_PAYLOAD, type);
        break;
    case ITEM_FOOTER:
        footer_flip(rand, buf, words);
        inject_count(p, EXANET_INJECTED_FOOTER, type);
        break;
    case ITEM_DUPLICATE:
        fate.kind = EXANET_FATE_DUPLICATE;
        inject_count(p, EXANET_INJECTED_DUPLICATE, type);
        break;
    case ITEM_REORDER:
        fate.kind = EXANET_FATE_HOLD;
        inject_count(p, EXANET_INJECTED_REORDER, type);
        break;
    default:
        break;
    }
    return fate;
}

ExanetFate exanet_inject_packet(ExanetPort *p, uint8_t *buf, unsigned words)
{
    ExanetInject *inj = p->inject;
    unsigned type = exanet_packet_type(buf);
    unsigned hits = plan_draw(inj);
    FaultItem item = reg_choose(p, type, words);
    ExanetFate fate;

    if (item == ITEM_NONE) {
        item = plan_choose(&inj->plan, hits, words);
    }
    fate = item_do(p, item, buf, words);
    if (fate.kind == EXANET_FATE_PASS && (hits & 1u << ITEM_DELAY)) {
        fate.delay = inj->plan.delay;
        plan_done(&inj->plan, ITEM_DELAY);
        inject_count(p, EXANET_INJECTED_DELAY, type);
    }
    if (item == ITEM_NONE && !hits) {
        inject_tidy(p);             /* the last fault is behind us */
    }
    return fate;
}

/* --- The registers -------------------------------------------------------- */

void exanet_inject_reg_sync(ExanetPort *p)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < EXANET_INJECTED_KINDS; i++) {
        total += p->injected[i];
    }
    exanet_reg_set64(p->s, EXANET_PORT(p->index) + EXANET_REG_PORT_INJECTED,
                     total);
}

void exanet_inject_reg_written(ExanetPort *p, unsigned reg, bool top)
{
    unsigned at = EXANET_PORT(p->index) + EXANET_REG_PORT_INJECT;
    uint64_t value = 0;

    if (reg != EXANET_REG_PORT_INJECT) {
        return;
    }
    /* between its halves it does nothing, so that it need not count down */
    if (top) {
        value = exanet_reg_get64(p->s, at);
    }
    if (RNIC_GET(EXANET_INJECT_KIND, value) > EXANET_INJECT_HOLD) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: no such fault to inject: %u\n",
                      (unsigned)RNIC_GET(EXANET_INJECT_KIND, value));
        value &= ~EXANET_INJECT_KIND;
        exanet_reg_set64(p->s, at, value);
    }
    if (RNIC_GET(EXANET_INJECT_KIND, value) != EXANET_INJECT_NONE) {
        inject_need(p, p->index)->reg = value;
        p->inject->seen = 0;
    } else if (p->inject) {
        p->inject->reg = 0;
        inject_tidy(p);
    }
}

void exanet_inject_reset(ExanetPort *p)
{
    memset(p->injected, 0, sizeof(p->injected));
    if (p->inject) {
        p->inject->reg = 0;
        inject_tidy(p);
    }
}

void exanet_inject_fini(ExanetPort *p)
{
    if (p->inject) {
        g_rand_free(p->inject->rand);
        g_free(p->inject);
        p->inject = NULL;
    }
}
