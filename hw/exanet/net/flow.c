/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet congestion management.
 *
 * A port with a PORT_RATE may get packets faster than the port can send packets.  At such
 * a port this unit measures the rate of each flow (source, destination).  A measurement
 * lasts at least a window, which is the time in SW_FLOW_WINDOW, or a part of a window
 * while the port advertises no rate.  The queue of the port stands if every packet of a
 * measurement waits for a long time (output_stands()).  If back-pressure is not enough
 * (output_congested()), the unit computes the max-min fair share of the flows in each
 * window.  If this share limits a flow, the unit advertises the share to the sources of
 * all active flows.  Back-pressure alone would share the port by cables, and would stop
 * all packets that wait behind packets for a congested port.
 *
 * At a source, data for a destination leaves in bursts, on average no faster than the
 * lowest rate that was advertised recently.  While no flow-rate packets arrive, the rate
 * grows again.
 *
 * The tables of flows and of paced destinations are bounded, because other nodes choose
 * the coordinates in these tables.
 */
#include "qemu/osdep.h"
#include "qemu/queue.h"
#include "net.h"
#include "../../core/loop.h"
#include "../../core/pace.h"
#include "../exanet.h"
#include "flow-rate.h"
#include "flow.h"
#include "../../link/port.h"
#include "../base/regs.h"
#include "router.h"
#include "../base/wire.h"
#include "../trace.h"

/* maximal number of flows of a port, and of paced destinations */
#define FLOWS_MAX 1024
/* ns that a burst of a paced flow lasts at its rate; a full packet may last longer */
#define FLOW_BURST_NS 50000
/* Number of windows without a packet after which a flow does not count as active. */
#define FLOW_IDLE_ACTIVE 2
/* Number of windows without a packet after which output_measure() removes a flow. */
#define FLOW_IDLE_FORGOTTEN 8
/*
 * A queue stands if every packet waits for more than this time, ns, or, on a slow cable,
 * half the time of a full packet; see output_stands().  A port without congestion is idle
 * for a moment in each window, so at least one packet waits for less time.
 */
#define FLOW_MARK_NS 25000
/*
 * Number of measurements in a row with a standing queue after which the demand of each
 * flow counts as unknown.
 */
#define FLOW_STANDING_MAX 3
/* Number of windows in which the backlog of the inputs (output_backlog()) shall drain. */
#define FLOW_DRAIN_WINDOWS 4
/*
 * Largest part of the rate, in percent, that output_capacity() reserves for the drain of
 * this backlog.
 */
#define FLOW_DRAIN_MAX 50
/*
 * Maximal number of measurements in a window while no rate is advertised.  FLOW_PROBES /
 * 2 measurements in a row must find a standing queue before rates are advertised.
 */
#define FLOW_PROBES 4
/*
 * Divisor n: a single flow gets a rate only if output_backlog() is at least 1/n of the
 * advertised length of an RX FIFO.
 */
#define FLOW_ALONE_PART 4
/* Number of windows until a measurement shows the effect of an advertised rate. */
#define FLOW_LAG 3
/* Rate (kb/s) at which the pacing of a flow ends if its link has no PORT_RATE. */
#define FLOW_LINK_KBPS 10000000

/* A flow through a port of this node. */
typedef struct FlowSeen {
    uint64_t key;                   /* coordinates: source << 22 | destination */
    QTAILQ_ENTRY(FlowSeen) next;
    /* words of this flow's packets since @start of the output */
    uint32_t words;
    uint32_t rate;                  /* kb/s, rate in the last measurement */
    uint32_t rate_before;           /* kb/s, rate in the measurement before the last */
    /*
     * kb/s, estimated demand of the flow; EXANET_RATE_NONE: not known, or above the share
     */
    uint32_t demand;
    int64_t last;                   /* ns, time of the last packet of this flow */
} FlowSeen;

/* The congestion management of a port, for the packets that leave by this port. */
typedef struct FlowOutput {
    GHashTable *seen;               /* key -> FlowSeen, owned */
    QTAILQ_HEAD(, FlowSeen) order;  /* flows, least recently used first */
    FlowSeen *recent;               /* result of the last output_flow(), or NULL */
    int64_t start;                  /* ns, start of the present measurement */
    int64_t low;                    /* ns, shortest wait of a packet since @start */
    unsigned standing;              /* measurements in a row with a standing queue */
    /*
     * kb/s, fair shares after the last measurements, newest first; EXANET_RATE_NONE: no
     * limit
     */
    uint32_t level[FLOW_LAG];
    bool advertising;               /* level[0] is a limit, which the port advertised */
} FlowOutput;

/* A destination whose data is paced. */
typedef struct FlowPaced {
    uint64_t dst;                   /* coordinates of the destination */
    QTAILQ_ENTRY(FlowPaced) next;
    uint32_t rate;                  /* kb/s, present limit of data for @dst */
    uint32_t advertised;            /* kb/s, lowest rate received in this window */
    uint32_t advertised_before;     /* kb/s, lowest rate received in the last window */
    int64_t end;                    /* ns, end of this window */
    /* ns, time at which the words sent so far have left at @rate */
    int64_t due;
    /* fraction of a ns that @due lacks, in units of 1/@rate ns */
    uint64_t rest;
    int64_t since;                  /* ns, time when @waiting became true */
    bool waiting;                   /* a unit has asked to send the next packet */
    bool counted;                   /* FLOW_PACED has counted the packet that waits */
} FlowPaced;

typedef struct ExanetFlowUnit {
    FlowOutput output[EXANET_LINKS];
    GHashTable *paced;              /* destination -> FlowPaced, owned */
    /* in order of the last flow-rate packet, oldest first */
    QTAILQ_HEAD(, FlowPaced) order;
    FlowPaced *recent;              /* last entry that paced_find() returned, or NULL */
    QEMUTimer *timer;               /* runs the units when a paced flow may send */
} ExanetFlowUnit;

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

/* Returns the time, ns, that @words words occupy a cable of @rate kb/s. */
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

/*
 * Returns the flow @key of @o.  Adds the flow if the table of @o does not have it; if the
 * table is full, first removes the least recently used flow.
 */
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

/* Sends a flow-rate packet with rate @level (kb/s) to the source of @f. */
static void flow_advertise(ExanetState *s, const FlowSeen *f, uint32_t level)
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

/*
 * Estimates the time, ns, for which the rate of @p delays the packet of @words words that
 * the caller has just added to @p.  @now is in ns.
 */
static int64_t port_wait(RNicPort *p, unsigned words, int64_t now)
{
    return flow_time(rnic_port_tx_words(p), p->rate) - flow_time(words, p->rate) +
           MAX(p->tx_free - now, 0);
}

/*
 * Returns true if the queue of @p stands: every packet since @o->start waited for a long
 * time.
 */
static bool output_stands(RNicPort *p, const FlowOutput *o)
{
    return o->low > MAX(FLOW_MARK_NS,
                        flow_time(EXANET_PACKET_WORDS, p->rate) / 2);
}

/*
 * Estimates the demand of @f at the end of a measurement of @ns.  @level, kb/s, is the
 * result of output_level().  While the queue of the port stands, the estimate can only
 * grow, because a slow flow may wait behind this queue.
 */
static void flow_demand(const FlowOutput *o, FlowSeen *f, uint32_t level,
                        int64_t ns)
{
    uint64_t want = MAX(f->rate, f->rate_before);

    if (!o->advertising || o->standing >= FLOW_STANDING_MAX) {
        f->demand = EXANET_RATE_NONE;
    } else if (o->standing == 0) {
        /*
         * adds a margin, because a code is up to 1/17 below the rate, and packets are
         * whole
         */
        want += want / 8 + exanet_rate_measured(EXANET_PACKET_WORDS, ns);
        f->demand = want < level ? want : EXANET_RATE_NONE;
    } else if (want > f->demand) {
        f->demand = EXANET_RATE_NONE;
    }
}

/* Returns the lowest fair share, kb/s, of the last FLOW_LAG measurements. */
static uint32_t output_level(const FlowOutput *o)
{
    uint32_t level = EXANET_RATE_NONE;

    for (unsigned i = 0; i < FLOW_LAG; i++) {
        level = MIN(level, o->level[i]);
    }
    return level;
}

/* Stores @level, kb/s, as the newest fair share of @o; EXANET_RATE_NONE: no limit. */
static void output_level_set(FlowOutput *o, uint32_t level)
{
    memmove(o->level + 1, o->level, sizeof(o->level) - sizeof(o->level[0]));
    o->level[0] = level;
    o->advertising = level != EXANET_RATE_NONE;
}

/* Returns true if the last packet of @f came less than @windows windows ago. */
static bool flow_within(ExanetState *s, const FlowSeen *f, unsigned windows)
{
    return rnic_now() - f->last < windows * flow_window(s);
}

/*
 * Ends a measurement of @ns nanoseconds for all flows of @o, and removes flows that have
 * sent no packet for FLOW_IDLE_FORGOTTEN windows.  Returns the number of active flows.
 * Sets *@foreign to true if an active flow is from another node, otherwise to false.
 */
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
 * Returns the number of words in the RX FIFOs of the inputs that wait for @p in the
 * arbitration.  The words include those of packets for other ports.  If @with_holder is
 * true, adds the RX FIFOs of the inputs that are holders in the arbitration of @p.
 */
static unsigned output_backlog(ExanetState *s, RNicPort *p, bool with_holder)
{
    uint64_t inputs = 0;
    unsigned words = 0;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        const RNicArbiter *t = &s->router.arbiter[EXANET_ROUTE(p->index, vc)];

        inputs |= t->waiting | t->before;
        inputs |= with_holder ? 1ULL << t->holder : 0;
    }
    inputs &= ~(1ULL << EXANET_INPUT_NI);
    for (; inputs; inputs &= inputs - 1) {
        unsigned input = ctz64(inputs);

        words += s->port[input / EXANET_VCS].rx[input % EXANET_VCS].count;
    }
    return words;
}

/*
 * Returns the rate, kb/s, that the flows of @o share: the part of the rate of @p that
 * SW_FLOW_TARGET permits, less, while a queue stands, the rate that drains the backlog of
 * the inputs.
 */
static uint64_t output_capacity(ExanetState *s, RNicPort *p, FlowOutput *o)
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

/*
 * Computes the fair share of the flows of @o, and, if this share limits a flow,
 * advertises the share to the sources of all active flows.
 */
static void output_share(ExanetState *s, RNicPort *p, FlowOutput *o)
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
    if (!o->advertising) {
        return;
    }
    QTAILQ_FOREACH(f, &o->order, next) {
        if (flow_within(s, f, FLOW_IDLE_ACTIVE)) {
            flow_advertise(s, f, o->level[0]);
        }
    }
}

/*
 * Returns true if @p must advertise rates.  @active is the number of active flows.  A
 * single flow needs a rate only if many words wait in RX FIFOs, because in this case
 * packets for other ports wait behind the packets of the flow.  Otherwise back-pressure
 * is enough.
 */
static bool output_congested(ExanetState *s, RNicPort *p, const FlowOutput *o,
                             unsigned active)
{
    if (active > 1 && o->advertising) {
        return true;
    }
    return o->standing >= (o->advertising ? 1 : FLOW_PROBES / 2) &&
           (active > 1 ||
            output_backlog(s, p, true) >= s->rx_fifo_words / FLOW_ALONE_PART);
}

/* Ends a measurement of @p at time @now (ns), and advertises rates if necessary. */
static void output_roll(ExanetState *s, RNicPort *p, FlowOutput *o,
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
    /*
     * if all active flows are from this node, these flows block no packets of other nodes
     */
    if (foreign && output_congested(s, p, o, active)) {
        output_share(s, p, o);
    } else {
        output_level_set(o, EXANET_RATE_NONE);
    }
    trace_exanet_flow_window(s->node, p->index, active, o->standing, low,
                             o->level[0]);
}

void exanet_flow_observe_rate(ExanetState *s, RNicPort *p, const uint8_t *buf,
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
    if (now - o->start >= flow_window(s) / (o->advertising ? 1 : FLOW_PROBES)) {
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

/*
 * Returns the rate, kb/s, from which on a limit for @f has no effect: the rate of the
 * link.
 */
static uint32_t paced_limit(ExanetState *s, const FlowPaced *f)
{
    int route = exanet_net_route(s, f->dst, 0);
    uint32_t rate = route < 0 ? 0 :
                    s->port[EXANET_ROUTE_PORT(route)].rate;

    return rate ?: FLOW_LINK_KBPS;
}

/*
 * Ends a window of @f.  Sets @f->rate to the lowest rate that @f received in this window
 * and in the window before.  If @f received no rate in these two windows, raises @f->rate
 * by a quarter.
 */
static void paced_roll(FlowPaced *f)
{
    uint32_t rate_limit = MIN(f->advertised, f->advertised_before);
    uint32_t rate = rate_limit != EXANET_RATE_NONE ? rate_limit :
                    MIN(f->rate + (uint64_t)f->rate / 4, EXANET_RATE_NONE);

    if (f->due > f->end) {
        /* the words that were sent in advance take a different time at the new rate */
        f->due = f->end + muldiv64(f->due - f->end, f->rate, rate);
    }
    f->rate = rate;
    f->rest = 0;
    f->advertised_before = f->advertised;
    f->advertised = EXANET_RATE_NONE;
}

/*
 * Ends the windows of @f up to @now (ns).  Returns false if @f needs no limit any more,
 * or if SW_FLOW has no PACE; in these cases the function frees @f.
 */
static bool paced_update(ExanetState *s, FlowPaced *f, int64_t now)
{
    uint32_t limit = flow_ctrl(s) & EXANET_SW_FLOW_PACE ? paced_limit(s, f) : 0;
    int64_t window = flow_window(s);

    /*
     * the loop is short, because the lowest rate grows to the highest in about 50 windows
     */
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

/*
 * Returns the entry of node @dst after paced_update(), or NULL if data for @dst has no
 * limit.
 */
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

/*
 * Adds an entry for node @dst, and returns the entry.  If the table is full, removes the
 * entry whose last flow-rate packet is the oldest.
 */
static FlowPaced *paced_new(ExanetState *s, uint32_t dst)
{
    ExanetFlowUnit *u = s->flow;
    FlowPaced *f = g_new0(FlowPaced, 1);

    if (g_hash_table_size(u->paced) == FLOWS_MAX) {
        paced_forget(s, QTAILQ_FIRST(&u->order));
    }
    f->dst = dst;
    f->rate = EXANET_RATE_NONE;
    f->advertised = EXANET_RATE_NONE;
    f->advertised_before = EXANET_RATE_NONE;
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
    f->advertised = MIN(f->advertised, rate);
    if (rate < f->rate) {
        f->rate = rate;
        f->rest = 0;
    }
    trace_exanet_flow_advertised(s->node, f->dst, rate, f->rate);
    QTAILQ_REMOVE(&s->flow->order, f, next);
    QTAILQ_INSERT_TAIL(&s->flow->order, f, next);
}

/*
 * Returns the time, ns, that @words words take at the rate of @f.  Adds *@rest, the
 * fraction that is left of earlier words, and stores the new fraction in *@rest.  The
 * unit of *@rest is ns divided by the rate of @f.
 */
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
    /*
     * a fast flow waits longer, by half a burst, because each frame costs the host time
     */
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
     * The flow may use later the time in which a packet waited, at most a window, because
     * the timer may have been late or the output blocked.  The flow may not use the time
     * in which no packet waited, because a large burst would follow.
     */
    start = f->waiting ? MAX(f->since, now - flow_window(s)) : now;
    f->due = rnic_pace(f->due, start, paced_cost(f, words, &f->rest));
    f->waiting = false;
}

/* --- Life ------------------------------------------------------------------- */

static void flow_timer(void *opaque)
{
    ExanetState *s = opaque;

    /* runs the units now, because virtual time may advance before a bottom half runs */
    rnic_loop_run(&s->loop);
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
        o->advertising = false;
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
