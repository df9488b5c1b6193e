/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Crossbar; see crossbar.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/packet.h"
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

QEMU_BUILD_BUG_ON(EXTOLL_INPUTS > RNIC_ARBITER_INPUTS);
QEMU_BUILD_BUG_ON(EXTOLL_INPUTS > 16);    /* bits of ExtollCrossbar.waits */

void extoll_crossbar_reset(ExtollState *s)
{
    s->crossbar = (ExtollCrossbar) { 0 };
}

/* Result for the packet at the head of an input. */
typedef enum Passed {
    PACKET_WAITS,
    PACKET_SENT,            /* a link or a unit has taken the packet */
    PACKET_DROPPED,
} Passed;

static Passed packet_drop(ExtollState *s, unsigned input, uint64_t *counter)
{
    trace_extoll_crossbar_drop(s->node, input);
    (*counter)++;
    return PACKET_DROPPED;
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
 * Sends the packet of @bytes bytes at @data of @input by virtual channel @vc of link
 * @link, or drops it.
 */
static Passed link_pass(ExtollState *s, unsigned input, const uint8_t *data,
                        unsigned bytes, unsigned link, unsigned vc, int64_t now)
{
    ExtollCrossbar *x = &s->crossbar;
    unsigned output = EXTOLL_LANE(link, vc);
    ExtollLink *l = &s->link[link];
    bool open;

    if (!rnic_port_exists(&s->port[link])) {
        return packet_drop(s, input, &s->counter[EXTOLL_CNT_ROUTE_BAD]);
    }
    open = extoll_link_can_send(l, vc, bytes);
    if (!rnic_arbiter_may_send(&x->arbiter[output], x->round, input, open)) {
        if (!is_stalled(s, input, output, now)) {
            x->refused |= open;
            return PACKET_WAITS;
        }
        return packet_drop(s, input, &l->counter[EXTOLL_LINK_DROPPED]);
    }
    extoll_link_send(l, vc, data, bytes);
    rnic_arbiter_sent(&x->arbiter[output], input, 1);
    x->moved_at[output] = now;
    s->counter[EXTOLL_CNT_FORWARDED] += input < EXTOLL_LANES;
    trace_extoll_crossbar_pass(s->node, input, output, bytes);
    return PACKET_SENT;
}

/* Gives a packet to the unit @output, or drops it.  Units always accept. */
static Passed unit_pass(ExtollState *s, unsigned input, const uint8_t *data,
                        unsigned bytes, unsigned output)
{
    if (output != EXTOLL_OUTPUT_VELO || !extoll_packet_is_message(data)) {
        return packet_drop(s, input, &s->counter[EXTOLL_CNT_ROUTE_BAD]);
    }
    extoll_mailbox_take(s, data, bytes);
    return PACKET_SENT;
}

/*
 * Sends or drops the packet of @bytes bytes at @data of @input, and takes one hop from
 * its routing string.  A packet that must wait does not change.
 */
static Passed packet_pass(ExtollState *s, unsigned input, uint8_t *data, unsigned bytes,
                          int64_t now)
{
    uint64_t route = ldq_le_p(data), rest = route;
    unsigned output, vc;
    Passed passed;

    switch (extoll_route_step(&rest, &output, &vc)) {
    case EXTOLL_ROUTE_LINK:
        stq_le_p(data, rest);
        passed = link_pass(s, input, data, bytes, output, vc, now);
        if (passed == PACKET_WAITS) {
            stq_le_p(data, route);
        }
        return passed;
    case EXTOLL_ROUTE_UNIT:
        return unit_pass(s, input, data, bytes, output);
    default:
        return packet_drop(s, input, &s->counter[EXTOLL_CNT_ROUTE_BAD]);
    }
}

/* Notes that the packet at the head of @input has left. */
static void input_moved(ExtollState *s, unsigned input, unsigned *packets)
{
    s->crossbar.waits &= ~(1u << input);
    s->crossbar.sent = true;
    --*packets;
}

/* Runs VELO's requester.  Returns true if a limit has ended its work. */
static bool velo_run(ExtollState *s, unsigned *packets, int64_t now)
{
    uint8_t packet[EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME + EXTOLL_VELO_BYTES];
    const ExtollVeloMsg *msg;

    for (unsigned n = 0; (msg = extoll_velo_head(s)); n++) {
        uint64_t route = extoll_reg_get64(s, EXTOLL_VELO_ROUTE(msg->dst_node));
        unsigned bytes = extoll_packet_message_encode(packet, route, msg);
        Passed passed;

        if (n == INPUT_PACKETS || !*packets) {
            return true;
        }
        passed = route ? packet_pass(s, EXTOLL_INPUT_VELO, packet, bytes, now) :
                 packet_drop(s, EXTOLL_INPUT_VELO, &s->counter[EXTOLL_CNT_NO_ROUTE]);
        if (passed == PACKET_WAITS) {
            return false;
        }
        input_moved(s, EXTOLL_INPUT_VELO, packets);
        extoll_velo_pop(s, passed == PACKET_SENT);
    }
    s->crossbar.waits &= ~(1u << EXTOLL_INPUT_VELO);
    return false;
}

/* Runs one input of a link.  Returns true if a limit has ended its work. */
static bool input_run(ExtollState *s, unsigned link, unsigned vc, unsigned *packets,
                      int64_t now)
{
    unsigned input = EXTOLL_LANE(link, vc);
    ExtollArrived *a;

    for (unsigned n = 0; (a = extoll_link_head(&s->link[link], vc)); n++) {
        if (n == INPUT_PACKETS || !*packets) {
            return true;
        }
        if (packet_pass(s, input, a->data, a->bytes, now) == PACKET_WAITS) {
            return false;
        }
        input_moved(s, input, packets);
        extoll_link_pop(&s->link[link], vc, now);
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
    more |= velo_run(s, packets, now);
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            more |= input_run(s, p->index, vc, packets, now);
        }
    }
    return more | is_held_up(&s->crossbar);
}
