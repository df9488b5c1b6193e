/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: duration of loads and stores; see shm/timing.h.
 *
 *   packetizer --> link --> [switch --> link] --> packetizer --> memory
 *     7 + N       100 and      9         100       7 + 2 N         1
 *               4 + N + gap
 *
 * The numbers are latencies in cycles of a packet with N flits of data.  A packet
 * occupies a link for 4 + N + gap cycles [T table 2, §6.3].  The model delays a packet
 * before the packet leaves, and after the packet has arrived.  The port adds the latency
 * of the cable.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "../net/net.h"
#include "../../core/pace.h"
#include "../exanet.h"
#include "timing.h"
#include "shm.h"
#include "../net/router.h"
#include "../base/wire.h"
#include "../trace.h"

#define TENTHS EXANET_TIMING_NS
#define CYCLE EXANET_TIMING_CYCLE
/*
 * Latencies in cycles.  The packetizer also needs 1 cycle for each flit of a packet that
 * leaves, and 2 cycles for each flit of a packet that arrives.
 */
#define PACKETIZER 7
#define SWITCH 9
#define MEMORY 1
/* Cycles from the input of a MAC to the output of the MAC at the other end. */
#define LINK 100
/*
 * Cycles for which a packet of N flits occupies a link: FRAMING + N * FLIT_10000 / 10000.
 * FRAMING is for header and footer (4) and for the gap of the MAC (4).  The gap of 4.0 +
 * 0.0437 N cycles fits 8.56 Gb/s at 512 bytes and 6.48 Gb/s at 128 bytes [D].
 */
#define FRAMING 8
#define FLIT_10000 10437
/*
 * Limit of packets in ExanetTiming.held; a node has at most 160 transactions under way.
 */
#define HELD_MAX 4096

typedef struct TimingHeld {
    int64_t due;                    /* tenths of ns, when @pkt is delivered */
    ExanetPacket pkt;
    uint8_t payload[EXANET_MTU];
} TimingHeld;

struct ExanetTiming {
    /* All times are in tenths of ns. */
    int64_t free[EXANET_LINKS];     /* by link: time from which the link is free */
    int64_t due;                    /* time at which the last packet of @held is due */
    /* packets that wait, as TimingHeld, in order of time */
    GQueue held;
    bool delivering;                /* exanet_timing_run() is delivering a packet */
    int64_t exact;                  /* exact time of the packet that is delivered now */
};

static int64_t timing_now(ExanetState *s)
{
    return rnic_now() * TENTHS;
}

int64_t exanet_timing_after(ExanetState *s, int64_t tenths)
{
    const ExanetTiming *tm = s->shm->timing;

    return !tm ? 0 : (tm->delivering ? tm->exact : timing_now(s)) +
                     tenths;
}

bool exanet_timing_reached(ExanetState *s, int64_t at)
{
    if (timing_now(s) + TENTHS / 2 >= at) {
        return true;
    }
    rnic_loop_at(&s->loop, (at + TENTHS / 2 - 1) / TENTHS);
    return false;
}

int64_t exanet_timing_next(ExanetState *s, int64_t last, int64_t tenths)
{
    return s->shm->timing ? rnic_pace(last, timing_now(s) - TENTHS / 2, tenths) : 0;
}

uint32_t exanet_timing_latency(const ExanetState *s)
{
    return s->shm_timing ? LINK * CYCLE / TENTHS : 0;
}

unsigned exanet_timing_flits(uint64_t va, unsigned size)
{
    return DIV_ROUND_UP(va % 8 + size, 8);
}

/* --- Leaving ------------------------------------------------------------------ */

ExanetTimingPacket exanet_timing_enter(ExanetState *s, uint32_t dst,
                                       unsigned flits, bool joined)
{
    ExanetTimingPacket p = { .flits = flits, .joined = joined };

    /* a packet for this node passes no packetizer */
    p.ready = exanet_timing_after(s, dst == s->node ? 0 :
                                  (PACKETIZER + flits) * CYCLE);
    return p;
}

static bool timing_link_free(ExanetState *s, int route)
{
    return exanet_timing_reached(s, s->shm->timing->free[
                                 EXANET_ROUTE_PORT(route)]);
}

void exanet_timing_leave(ExanetState *s, int route,
                         const ExanetTimingPacket *p)
{
    ExanetTiming *tm = s->shm->timing;
    int64_t *free;

    if (likely(!tm) || route < 0) {
        return;
    }
    free = &tm->free[EXANET_ROUTE_PORT(route)];
    *free = exanet_timing_next(s, MAX(*free, p->ready),
                               (p->joined ? 0 : FRAMING * CYCLE) +
                               p->flits * CYCLE * FLIT_10000 / 10000);
}

/*
 * Returns the number of data flits of @pkt, which another node or this node has sent.  A
 * response without data counts as 1 flit if its address is not a multiple of 8.
 */
static unsigned packet_flits(const ExanetPacket *pkt)
{
    return pkt->type == EXANET_TYPE_AXI_READ ? 0 :
           exanet_timing_flits(pkt->va, pkt->size);
}

/*
 * Occupies the link of @route for the forwarded packet at @buf.  Does nothing if the
 * packet is not a load, a store, an RDMA access or a response, or cannot be decoded.
 */
static void timing_pass(ExanetState *s, int route, const uint8_t *buf,
                        unsigned words)
{
    ExanetTimingPacket p = { .ready = 0 };
    ExanetPacket pkt;

    if (!EXANET_TYPE_AXI(exanet_packet_type(buf)) ||
        exanet_packet_decode(buf, words, &pkt) != EXANET_WIRE_OK) {
        return;
    }
    p.flits = packet_flits(&pkt);
    p.joined = pkt.user & EXANET_SHM_USER_JOINED;
    exanet_timing_leave(s, route, &p);
}

static const ExanetLinkTimes timing_links = {
    .link_free = timing_link_free,
    .pass = timing_pass,
};

/* --- Arriving ----------------------------------------------------------------- */

/*
 * Returns the number of cycles that @pkt needs in all switches, and from the last cable
 * to memory or to the AXI master.  For a packet of this node, only memory counts.
 */
static unsigned arrival_cycles(const ExanetState *s, const ExanetPacket *pkt)
{
    bool request = pkt->type != EXANET_TYPE_AXI_RESPONSE;

    if (pkt->src == s->node) {
        return request ? MEMORY : 0;
    }
    return (EXANET_TTL_MAX - MIN(pkt->ttl, EXANET_TTL_MAX)) * SWITCH +
           PACKETIZER + 2 * packet_flits(pkt) + (request ? MEMORY : 0);
}

bool exanet_timing_hold(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetTiming *tm = s->shm->timing;
    TimingHeld *h;

    /*
     * if @held has HELD_MAX packets, the caller handles further packets without a delay
     */
    if (tm->delivering || g_queue_get_length(&tm->held) >= HELD_MAX) {
        return false;
    }
    h = g_new(TimingHeld, 1);
    /* arrived packets leave the packetizer in the order of their arrival */
    tm->due = MAX(tm->due, exanet_timing_after(s, CYCLE *
                                              arrival_cycles(s, pkt)));
    h->due = tm->due;
    h->pkt = *pkt;
    h->pkt.payload = h->payload;
    if (pkt->type != EXANET_TYPE_AXI_READ && pkt->size) {
        memcpy(h->payload, pkt->payload, pkt->size);
    }
    trace_exanet_timing_hold(s->node, pkt->src, pkt->tid, h->due);
    g_queue_push_tail(&tm->held, h);
    exanet_timing_reached(s, h->due);
    return true;
}

void exanet_timing_run(ExanetState *s)
{
    ExanetTiming *tm = s->shm->timing;
    TimingHeld *h;

    if (likely(!tm)) {
        return;
    }
    while ((h = g_queue_peek_head(&tm->held)) &&
           exanet_timing_reached(s, h->due)) {
        g_queue_pop_head(&tm->held);
        tm->delivering = true;
        tm->exact = h->due;
        if (h->pkt.type == EXANET_TYPE_AXI_RESPONSE) {
            exanet_shm_response(s, &h->pkt);
        } else {
            exanet_shm_request(s, &h->pkt);
        }
        tm->delivering = false;
        g_free(h);
    }
    exanet_shm_wake(s, h != NULL);
}

/* --- Init and reset ------------------------------------------------------- */

void exanet_timing_init(ExanetState *s)
{
    ExanetTiming *tm;

    if (s->shm_timing) {
        tm = g_new0(ExanetTiming, 1);
        g_queue_init(&tm->held);
        s->shm->timing = tm;
        s->router.times = &timing_links;
    }
}

void exanet_timing_reset(ExanetState *s)
{
    ExanetTiming *tm = s->shm->timing;

    if (tm) {
        memset(tm->free, 0, sizeof(tm->free));
        tm->due = 0;
        g_queue_clear_full(&tm->held, g_free);
    }
}

void exanet_timing_fini(ExanetState *s)
{
    ExanetTiming *tm = s->shm->timing;

    if (tm) {
        exanet_timing_reset(s);
        g_free(tm);
        s->shm->timing = NULL;
        s->router.times = NULL;
    }
}
