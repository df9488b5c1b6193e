/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet congestion management.
 *
 * At an output with a RATE, where packets may come faster than they leave: we count
 * what each flow (source, destination) sends in a window, and when a queue is left
 * standing we tell every source its max-min fair share, once a window, until nobody
 * is held back by this output any more.  Back-pressure alone would share the output
 * by cables and stop all that waits behind a crowded one.
 *
 * At a source: data for a destination of which we were told leaves no faster than
 * the lowest rate of the last two windows; without news the rate recovers.
 *
 * All coordinates come from peers, so that both tables are bounded.
 */
#include "qemu/osdep.h"
#include "qemu/queue.h"
#include "net.h"
#include "../../core/pace.h"
#include "../exanet.h"
#include "../engine/fault.h"
#include "flow-rate.h"
#include "flow.h"
#include "../link/port.h"
#include "../base/regs.h"
#include "router.h"
#include "../base/wire.h"
#include "../trace.h"

#define FLOWS_MAX 1024              /* of an output, and paced ones */
#define FLOW_BURST_NS 50000         /* of a paced flow, at its rate */
/* Without traffic for so many windows a flow is over. */
#define FLOW_IDLE_ACTIVE 2
#define FLOW_IDLE_FORGOTTEN 8
/*
 * A queue is left standing when every packet of a window had to wait so long.  An
 * output that is not crowded has an idle moment in each.
 */
#define FLOW_MARK_NS 25000
/* Standing so long, a queue proves that what we know of the flows is wrong. */
#define FLOW_STANDING_MAX 3
/* In so many windows what waits at the inputs is worked off ... */
#define FLOW_DRAIN_WINDOWS 4
/* ... for which at most so much of the rate (percent) is taken. */
#define FLOW_DRAIN_MAX 50
/* Until sources were told we look so many times in a window, and half of them count. */
#define FLOW_PROBES 4
/* A flow alone may leave this part of an input's FIFO standing. */
#define FLOW_ALONE_PART 4
/* From what is told until what a source sends is in a measurement, windows. */
#define FLOW_LAG 3
/* A paced flow is forgotten at this rate (kb/s), where links have none. */
#define FLOW_LINK_KBPS 10000000

/* A flow through one of our outputs. */
typedef struct FlowSeen {
    uint64_t key;                   /* source, destination */
    QTAILQ_ENTRY(FlowSeen) next;
    uint32_t words;                 /* in this window */
    uint32_t rate;                  /* kb/s, in the last window */
    uint32_t rate_before;           /* ... and in the one before */
    uint32_t demand;                /* EXANET_RATE_NONE: more than it gets */
    int64_t last;                   /* ns, when a packet was seen */
} FlowSeen;

typedef struct FlowOutput {
    GHashTable *seen;               /* key -> FlowSeen, owned */
    QTAILQ_HEAD(, FlowSeen) order;  /* seen longest ago first */
    FlowSeen *recent;               /* the one looked up last */
    int64_t start;                  /* of this window */
    int64_t low;                    /* least time that a packet had to wait, ns */
    unsigned standing;              /* windows in a row with a standing queue */
    uint32_t level[FLOW_LAG];       /* what they were told, last one first, if ... */
    bool telling;
} FlowOutput;

/* A destination whose data is paced. */
typedef struct FlowPaced {
    uint64_t dst;
    QTAILQ_ENTRY(FlowPaced) next;
    uint32_t rate;                  /* in force */
    uint32_t told;                  /* lowest in this window */
    uint32_t told_before;           /* ... and in the one before */
    int64_t end;                    /* of this window */
    int64_t due;                    /* when all that was sent is through */
    uint64_t rest;                  /* of @due, in 1/@rate ns */
    int64_t since;                  /* when a packet began to wait */
    bool waiting;                   /* one does */
    bool counted;                   /* ... for this rate */
} FlowPaced;

struct ExanetFlowUnit {
    FlowOutput output[EXANET_LINKS];
    GHashTable *paced;              /* destination -> FlowPaced, owned */
    QTAILQ_HEAD(, FlowPaced) order; /* told longest ago first */
    FlowPaced *recent;
    QEMUTimer *timer;
};

static uint32_t flow_ctrl(ExanetState *s)
{
    return exanet_reg_get32(s, EXANET_SWITCH + EXANET_REG_SW_FLOW);
}

static int64_t flow_window(ExanetState *s)
{
    uint32_t ns = exanet_reg_get32(s, EXANET_SWITCH +
                                   EXANET_REG_SW_FLOW_WINDOW);

    return MAX(ns, EXANET_SW_FLOW_WINDOW_MIN);
}

/* Time on a cable of @rate kb/s, in ns. */
static int64_t flow_time(uint64_t words, uint32_t rate)
{
    return words * EXANET_WORD_BYTES * 8 * 1000000 / rate;
}

/* --- At an output ----------------------------------------------------------- */

static void output_forget(FlowOutput *o, FlowSeen *f)
{
    if (o->recent == f) {
        o->recent = NULL;
    }
    QTAILQ_REMOVE(&o->order, f, next);
    g_hash_table_remove(o->seen, &f->key);
}

static FlowSeen *output_flow(FlowOutput *o, uint64_t key)
{
    FlowSeen *f = o->recent;

    if (f && f->key == key) {
        return f;
    }
    f = g_hash_table_lookup(o->seen, &key);
    if (f) {
        QTAILQ_REMOVE(&o->order, f, next);
        QTAILQ_INSERT_TAIL(&o->order, f, next);
    } else {
        if (g_hash_table_size(o->seen) == FLOWS_MAX) {
            output_forget(o, QTAILQ_FIRST(&o->order));
        }
        f = g_new0(FlowSeen, 1);
        f->key = key;
        f->demand = EXANET_RATE_NONE;
        g_hash_table_insert(o->seen, &f->key, f);
        QTAILQ_INSERT_TAIL(&o->order, f, next);
    }
    o->recent = f;
    return f;
}

static uint32_t flow_src(const FlowSeen *f)
{
    return f->key >> 22;
}

static uint32_t flow_dst(const FlowSeen *f)
{
    return f->key & EXANET_COORD_MASK;
}

static void flow_tell(ExanetState *s, const FlowSeen *f, uint32_t level)
{
    uint8_t word[EXANET_WORD_BYTES];
    ExanetPacket pkt = {
        .type = EXANET_TYPE_FLOW_RATE,
        .dst = flow_src(f),
        .small = EXANET_SMALL(EXANET_NI_EXADMA),
        .flow_dst = flow_dst(f),
        .current = exanet_rate_code(f->rate),
        .desired = exanet_rate_code(level),
    };

    exanet_flow_rate_encode(word, &pkt);
    exanet_net_respond(s, pkt.dst, word, 1);
}

/* How long the packet of @words words that has just gone to @p waits there. */
static int64_t port_wait(ExanetPort *p, unsigned words, int64_t now)
{
    return flow_time(exanet_port_tx_words(p), p->rate) - flow_time(words, p->rate) +
           MAX(p->tx_free - now, 0);
}

static bool output_stands(ExanetPort *p, const FlowOutput *o)
{
    return o->low > MAX(FLOW_MARK_NS,
                        flow_time(EXANET_PACKET_WORDS, p->rate) / 2);
}

/*
 * What @f would send if nobody held it back; it has been told @level.  While a queue
 * stands a slow flow may be one that waits behind it.
 */
static void flow_demand(const FlowOutput *o, FlowSeen *f, uint32_t level,
                        int64_t ns)
{
    uint64_t want = MAX(f->rate, f->rate_before);

    if (!o->telling || o->standing >= FLOW_STANDING_MAX) {
        f->demand = EXANET_RATE_NONE;
    } else if (o->standing == 0) {
        /* codes are up to 1/17 lower than the level, and packets have a size */
        want += want / 8 + exanet_rate_measured(EXANET_PACKET_WORDS, ns);
        f->demand = want < level ? want : EXANET_RATE_NONE;
    } else if (want > f->demand) {
        f->demand = EXANET_RATE_NONE;
    }
}

/* The lowest level that sources may still go by. */
static uint32_t output_level(const FlowOutput *o)
{
    uint32_t level = EXANET_RATE_NONE;

    for (unsigned i = 0; i < FLOW_LAG; i++) {
        level = MIN(level, o->level[i]);
    }
    return level;
}

static void output_level_set(FlowOutput *o, uint32_t level)
{
    memmove(o->level + 1, o->level, sizeof(o->level) - sizeof(o->level[0]));
    o->level[0] = level;
    o->telling = level != EXANET_RATE_NONE;
}

static bool flow_within(ExanetState *s, const FlowSeen *f, unsigned windows)
{
    return rnic_now() - f->last < windows * flow_window(s);
}

/* Ends a window of @ns for all flows; returns how many are active. */
static unsigned output_measure(ExanetState *s, FlowOutput *o, int64_t ns,
                               bool *foreign)
{
    uint32_t level = output_level(o);
    unsigned active = 0;
    FlowSeen *f, *tmp;

    *foreign = false;
    QTAILQ_FOREACH_SAFE(f, &o->order, next, tmp) {
        f->rate_before = f->rate;
        f->rate = exanet_rate_measured(f->words, ns);
        f->words = 0;
        flow_demand(o, f, level, ns);
        if (flow_within(s, f, FLOW_IDLE_ACTIVE)) {
            active++;
            *foreign |= flow_src(f) != s->node;
        } else if (!flow_within(s, f, FLOW_IDLE_FORGOTTEN)) {
            output_forget(o, f);
        }
    }
    return active;
}

/*
 * Words that wait at inputs whose next packet wants to go to @p; with those of the
 * inputs that were @served last.
 */
static unsigned output_backlog(ExanetState *s, ExanetPort *p, bool served)
{
    uint64_t inputs = 0;
    unsigned words = 0;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        const ExanetTurn *t = &s->sw.turn[EXANET_ROUTE(p->index, vc)];

        inputs |= t->waiting | t->before;
        inputs |= served ? 1ULL << t->holder : 0;
    }
    inputs &= ~(1ULL << EXANET_INPUT_NI);
    for (; inputs; inputs &= inputs - 1) {
        unsigned input = ctz64(inputs);

        words += s->port[input / EXANET_VCS].rx[input % EXANET_VCS].count;
    }
    return words;
}

/* The rate that may be shared out now. */
static uint64_t output_capacity(ExanetState *s, ExanetPort *p, FlowOutput *o)
{
    unsigned percent = RNIC_GET(EXANET_SW_FLOW_TARGET, flow_ctrl(s));
    uint64_t rate = (uint64_t)p->rate * MIN(MAX(percent, 1), 100) / 100;
    uint64_t drain = 0;

    if (o->standing) {
        drain = exanet_rate_measured(output_backlog(s, p, false), flow_window(s) *
                                     FLOW_DRAIN_WINDOWS);
    }
    return rate - MIN(drain, rate * FLOW_DRAIN_MAX / 100);
}

static void output_share(ExanetState *s, ExanetPort *p, FlowOutput *o)
{
    uint32_t demand[FLOWS_MAX];
    unsigned n = 0;
    FlowSeen *f;

    QTAILQ_FOREACH(f, &o->order, next) {
        if (flow_within(s, f, FLOW_IDLE_ACTIVE)) {
            demand[n++] = f->demand;
        }
    }
    output_level_set(o, exanet_fair_level(output_capacity(s, p, o), demand, n));
    if (!o->telling) {
        return;
    }
    QTAILQ_FOREACH(f, &o->order, next) {
        if (flow_within(s, f, FLOW_IDLE_ACTIVE)) {
            flow_tell(s, f, o->level[0]);
        }
    }
}

/*
 * Whether sources are to be told.  One flow alone finds out by itself how fast it may
 * go, unless it is about to fill the inputs, where it would be in the way of others.
 */
static bool output_crowded(ExanetState *s, ExanetPort *p, const FlowOutput *o,
                           unsigned active)
{
    if (active > 1 && o->telling) {
        return true;
    }
    return o->standing >= (o->telling ? 1 : FLOW_PROBES / 2) &&
           (active > 1 ||
            output_backlog(s, p, true) >= s->rx_fifo_words / FLOW_ALONE_PART);
}

/* A window is over. */
static void output_roll(ExanetState *s, ExanetPort *p, FlowOutput *o,
                        int64_t now)
{
    int64_t ns = now - o->start;
    int64_t low = o->low;
    bool foreign;
    unsigned active;

    o->standing = output_stands(p, o) ? o->standing + 1 : 0;
    active = output_measure(s, o, ns, &foreign);
    o->start = now;
    o->low = INT64_MAX;
    /* our own flows alone wait at this queue and in nobody's way */
    if (foreign && output_crowded(s, p, o, active)) {
        output_share(s, p, o);
    } else {
        output_level_set(o, EXANET_RATE_NONE);
    }
    trace_exanet_flow_window(s->node, p->index, active, o->standing, low,
                             o->level[0]);
}

void exanet_flow_output(ExanetState *s, ExanetPort *p, const uint8_t *buf,
                        unsigned words)
{
    FlowOutput *o = &s->flow->output[p->index];
    int64_t now = rnic_now();
    uint64_t src;
    FlowSeen *f;

    if (words < 2 || !(flow_ctrl(s) & EXANET_SW_FLOW_MARK)) {
        return;
    }
    src = exanet_packet_src(buf, words);
    f = output_flow(o, src << 22 | exanet_packet_dst(buf));
    f->words += words;
    f->last = now;
    o->low = MIN(o->low, port_wait(p, words, now));
    if (now - o->start >= flow_window(s) / (o->telling ? 1 : FLOW_PROBES)) {
        output_roll(s, p, o, now);
    }
}

static unsigned output_active(ExanetState *s, FlowOutput *o)
{
    unsigned active = 0;
    FlowSeen *f;

    QTAILQ_FOREACH(f, &o->order, next) {
        active += flow_within(s, f, FLOW_IDLE_ACTIVE);
    }
    return active;
}

/* --- At a source ------------------------------------------------------------ */

static void paced_forget(ExanetState *s, FlowPaced *f)
{
    ExanetFlowUnit *u = s->flow;

    if (u->recent == f) {
        u->recent = NULL;
    }
    QTAILQ_REMOVE(&u->order, f, next);
    g_hash_table_remove(u->paced, &f->dst);
    s->flows_paced--;
}

/* The rate at which pacing flow @f makes no difference. */
static uint32_t paced_limit(ExanetState *s, const FlowPaced *f)
{
    int route = exanet_net_route(s, f->dst, 0);
    uint32_t rate = route < 0 ? 0 :
                    s->port[EXANET_ROUTE_PORT(route)].rate;

    return rate ?: FLOW_LINK_KBPS;
}

/* Ends a window of @f. */
static void paced_roll(FlowPaced *f)
{
    uint32_t told = MIN(f->told, f->told_before);
    uint32_t rate = told != EXANET_RATE_NONE ? told :
                    MIN(f->rate + (uint64_t)f->rate / 4, EXANET_RATE_NONE);

    if (f->due > f->end) {
        /* what has been sent too early is through earlier now */
        f->due = f->end + muldiv64(f->due - f->end, f->rate, rate);
    }
    f->rate = rate;
    f->rest = 0;
    f->told_before = f->told;
    f->told = EXANET_RATE_NONE;
}

/* Brings @f up to @now; false when it is not paced any more. */
static bool paced_update(ExanetState *s, FlowPaced *f, int64_t now)
{
    uint32_t limit = flow_ctrl(s) & EXANET_SW_FLOW_PACE ? paced_limit(s, f) : 0;
    int64_t window = flow_window(s);

    /* from the lowest rate to the highest it takes some 50 windows */
    while (now >= f->end && f->rate < limit) {
        paced_roll(f);
        f->end += window;
    }
    if (f->rate >= limit) {
        paced_forget(s, f);
        return false;
    }
    return true;
}

/* The entry of @dst; NULL when it is not paced. */
static FlowPaced *paced_find(ExanetState *s, uint32_t dst)
{
    ExanetFlowUnit *u = s->flow;
    uint64_t key = dst;
    FlowPaced *f = u->recent;

    if (!f || f->dst != key) {
        f = g_hash_table_lookup(u->paced, &key);
    }
    if (!f || !paced_update(s, f, rnic_now())) {
        return NULL;
    }
    u->recent = f;
    return f;
}

static FlowPaced *paced_new(ExanetState *s, uint32_t dst)
{
    ExanetFlowUnit *u = s->flow;
    FlowPaced *f = g_new0(FlowPaced, 1);

    if (g_hash_table_size(u->paced) == FLOWS_MAX) {
        paced_forget(s, QTAILQ_FIRST(&u->order));
    }
    f->dst = dst;
    f->rate = EXANET_RATE_NONE;
    f->told = EXANET_RATE_NONE;
    f->told_before = EXANET_RATE_NONE;
    f->due = rnic_now();
    f->end = f->due + flow_window(s);
    g_hash_table_insert(u->paced, &f->dst, f);
    QTAILQ_INSERT_TAIL(&u->order, f, next);
    s->flows_paced++;
    return f;
}

void exanet_flow_receive(ExanetState *s, const ExanetPacket *pkt)
{
    uint32_t rate = exanet_rate_kbps(pkt->desired);
    FlowPaced *f;

    if (!(flow_ctrl(s) & EXANET_SW_FLOW_PACE) || pkt->flow_dst == s->node ||
        exanet_net_route(s, pkt->flow_dst, 0) < 0) {
        return;
    }
    f = paced_find(s, pkt->flow_dst) ?: paced_new(s, pkt->flow_dst);
    f->told = MIN(f->told, rate);
    if (rate < f->rate) {
        f->rate = rate;
        f->rest = 0;
    }
    trace_exanet_flow_told(s->node, f->dst, rate, f->rate);
    QTAILQ_REMOVE(&s->flow->order, f, next);
    QTAILQ_INSERT_TAIL(&s->flow->order, f, next);
}

/* Nanoseconds that @words take at the rate of @f, and what is left of one. */
static int64_t paced_cost(const FlowPaced *f, unsigned words, uint64_t *rest)
{
    uint64_t bits = (uint64_t)words * EXANET_WORD_BYTES * 8 * 1000000 + *rest;

    *rest = bits % f->rate;
    return bits / f->rate;
}

bool exanet_flow_paced_dst(ExanetState *s, uint32_t dst)
{
    return paced_find(s, dst);
}

bool exanet_flow_paced_may_send(ExanetState *s, uint32_t dst)
{
    FlowPaced *f = paced_find(s, dst);
    uint64_t rest = 0;
    int64_t packet, burst, when;

    if (!f) {
        return true;
    }
    if (!f->waiting) {
        f->waiting = true;
        f->counted = false;
        f->since = rnic_now();
    }
    packet = paced_cost(f, EXANET_PACKET_WORDS, &rest);
    burst = MAX(FLOW_BURST_NS, packet);
    when = f->due - burst;
    if (when <= rnic_now()) {
        return true;
    }
    if (!f->counted) {
        f->counted = true;
        exanet_count(s, FLOW_PACED);
    }
    /* fast flows wait for some packets more: a frame for each would be too many */
    timer_mod_anticipate_ns(s->flow->timer, when + (burst - packet) / 2);
    return false;
}

void exanet_flow_paced_sent(ExanetState *s, uint32_t dst, unsigned words)
{
    FlowPaced *f = paced_find(s, dst);
    int64_t now = rnic_now();
    int64_t start;

    if (!f) {
        return;
    }
    /*
     * Time that nobody wanted is lost; but not while a timer was late, or the way was
     * not open.
     */
    start = f->waiting ? MAX(f->since, now - flow_window(s)) : now;
    f->due = rnic_pace(f->due, start, paced_cost(f, words, &f->rest));
    f->waiting = false;
}

/* --- Life ------------------------------------------------------------------- */

static void flow_timer(void *opaque)
{
    /* at once: where virtual time jumps a bottom half would be late */
    exanet_run_now(opaque);
}

void exanet_flow_reg_sync(ExanetState *s)
{
    unsigned seen = 0;
    FlowPaced *f, *tmp;

    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        seen += output_active(s, &s->flow->output[i]);
    }
    QTAILQ_FOREACH_SAFE(f, &s->flow->order, next, tmp) {
        paced_update(s, f, rnic_now());
    }
    exanet_reg_set32(s, EXANET_SWITCH + EXANET_REG_SW_FLOWS,
                     MIN(seen, 0xffff) | s->flows_paced << 16);
}

static void flow_reset(ExanetState *s)
{
    ExanetFlowUnit *u = s->flow;

    timer_del(u->timer);
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        FlowOutput *o = &u->output[i];

        g_hash_table_remove_all(o->seen);
        QTAILQ_INIT(&o->order);
        o->recent = NULL;
        o->start = rnic_now();
        o->low = INT64_MAX;
        o->standing = 0;
        memset(o->level, 0xff, sizeof(o->level));
        o->telling = false;
    }
    g_hash_table_remove_all(u->paced);
    QTAILQ_INIT(&u->order);
    u->recent = NULL;
    s->flows_paced = 0;
}

static void flow_init(ExanetState *s)
{
    ExanetFlowUnit *u = g_new0(ExanetFlowUnit, 1);

    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        u->output[i].seen = g_hash_table_new_full(g_int64_hash, g_int64_equal,
                                                  NULL, g_free);
    }
    u->paced = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    u->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, flow_timer, s);
    s->flow = u;
    flow_reset(s);
}

static void flow_fini(ExanetState *s)
{
    ExanetFlowUnit *u = s->flow;

    timer_free(u->timer);
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        g_hash_table_destroy(u->output[i].seen);
    }
    g_hash_table_destroy(u->paced);
    g_free(u);
    s->flow = NULL;
}

const ExanetUnit exanet_flow_unit = {
    .init = flow_init,
    .fini = flow_fini,
    .reset = flow_reset,
};
