/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Crossbar; see crossbar.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/route.h"
#include "../extoll.h"
#include "../trace.h"
#include "crossbar.h"

/* Packets of an input in one round: other inputs of the device have their share. */
#define INPUT_PACKETS 64
/*
 * Rounds after which an input that another input with the grant holds up need not ask
 * again: the holder was asked in these rounds, and waits for credits, whose arrival runs
 * the crossbar.
 */
#define IDLE_ROUNDS 3

QEMU_BUILD_BUG_ON(EXTOLL_LANES > RNIC_ARBITER_INPUTS);
QEMU_BUILD_BUG_ON(EXTOLL_LANES > 16);    /* bits of ExtollCrossbar.waits */

void extoll_crossbar_reset(ExtollState *s)
{
    s->crossbar = (ExtollCrossbar) { 0 };
}

static void packet_drop(ExtollState *s, unsigned input, uint64_t *counter)
{
    trace_extoll_crossbar_drop(s->node, input);
    (*counter)++;
}

/*
 * Notes that the head of @input waits for @output since the time @now.  Returns true if
 * it has waited too long, and the output has sent no packet in this time.
 */
static bool is_stalled(ExtollState *s, unsigned input, unsigned output, int64_t now)
{
    ExtollCrossbar *x = &s->crossbar;
    int64_t end;

    if (!(x->waits & 1u << input)) {
        x->waits |= 1u << input;
        x->waits_since[input] = now;
    }
    if (!s->link_stall_ms) {
        return false;
    }
    end = MAX(x->waits_since[input], x->moved_at[output]) +
          s->link_stall_ms * (int64_t)SCALE_MS;
    if (now >= end) {
        return true;
    }
    rnic_loop_at(&s->loop, end);
    return false;
}

/*
 * Sends the packet @a of @input by virtual channel @vc of link @link, with the routing
 * string @route, or drops it.  Returns false if the packet must wait.
 */
static bool link_pass(ExtollState *s, unsigned input, ExtollArrived *a, uint64_t route,
                      unsigned link, unsigned vc, int64_t now)
{
    ExtollCrossbar *x = &s->crossbar;
    unsigned output = EXTOLL_LANE(link, vc);
    ExtollLink *l = &s->link[link];
    bool open;

    if (!rnic_port_exists(&s->port[link])) {
        packet_drop(s, input, &s->counter[EXTOLL_CNT_ROUTE_BAD]);
        return true;
    }
    open = extoll_link_can_send(l, vc, a->bytes);
    if (!rnic_arbiter_may_send(&x->arbiter[output], x->round, input, open)) {
        if (!is_stalled(s, input, output, now)) {
            x->refused |= open;
            return false;
        }
        packet_drop(s, input, &l->counter[EXTOLL_LINK_DROPPED]);
        return true;
    }
    stq_le_p(a->data, route);
    extoll_link_send(l, vc, a->data, a->bytes);
    rnic_arbiter_sent(&x->arbiter[output], input, 1);
    x->moved_at[output] = now;
    extoll_count(s, FORWARDED);
    trace_extoll_crossbar_pass(s->node, input, output, a->bytes);
    return true;
}

/* Sends or drops the packet @a of @input.  Returns false if the packet must wait. */
static bool packet_pass(ExtollState *s, unsigned input, ExtollArrived *a, int64_t now)
{
    uint64_t route = ldq_le_p(a->data);
    unsigned output, vc;

    switch (extoll_route_step(&route, &output, &vc)) {
    case EXTOLL_ROUTE_LINK:
        return link_pass(s, input, a, route, output, vc, now);
    case EXTOLL_ROUTE_UNIT:             /* the device has no unit yet */
    default:
        packet_drop(s, input, &s->counter[EXTOLL_CNT_ROUTE_BAD]);
        return true;
    }
}

/* Runs one input.  Returns true if a limit has ended its work. */
static bool input_run(ExtollState *s, unsigned link, unsigned vc, unsigned *packets,
                      int64_t now)
{
    unsigned input = EXTOLL_LANE(link, vc);
    ExtollArrived *a;

    for (unsigned n = 0; (a = extoll_link_head(&s->link[link], vc)); n++) {
        if (n == INPUT_PACKETS || !*packets) {
            return true;
        }
        if (!packet_pass(s, input, a, now)) {
            return false;
        }
        s->crossbar.waits &= ~(1u << input);
        s->crossbar.sent = true;
        extoll_link_pop(&s->link[link], vc, now);
        --*packets;
    }
    s->crossbar.waits &= ~(1u << input);
    return false;
}

/*
 * Returns true if another round is due, because an input was refused although its output
 * is open: the input with the grant may have been asked before it got the grant.
 */
static bool is_held_up(ExtollCrossbar *x)
{
    x->idle = x->refused && !x->sent ? x->idle + 1 : 0;
    return x->refused && x->idle < IDLE_ROUNDS;
}

bool extoll_crossbar_run(ExtollState *s, unsigned *packets)
{
    int64_t now = rnic_now();
    bool more = false;

    s->crossbar.round++;
    s->crossbar.sent = s->crossbar.refused = false;
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            more |= input_run(s, p->index, vc, packets, now);
        }
    }
    return more | is_held_up(&s->crossbar);
}
