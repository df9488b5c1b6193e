/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: links; see ports.h.
 *
 * A port gives received words to its link, and takes the words to send from the link.
 * All flits use virtual channel 0 of the port, because the flits must stay in order; the
 * virtual channels of EXTOLL are fields of the flits.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "base/control.h"
#include "ports.h"
#include "trace.h"

/* Words of the longest frame: with less, a datagram of UDP could not carry a frame. */
#define FRAME_WORDS 4032
/*
 * Words of the receive FIFO of a port.  XOFF stops the neighbour at half of it.  This is
 * no flow control of EXTOLL, but bounds the memory of a device that gets no time to run.
 */
#define RX_WORDS 65536

static ExtollState *port_state(const RNicPort *p)
{
    return p->group->opaque;
}

static ExtollLink *port_link(RNicPort *p)
{
    return &port_state(p)->link[p->index];
}

/* --- Up and down --------------------------------------------------------------- */

/* Takes the link down after an error, and makes the port find the neighbour again. */
static void link_restart(RNicPort *p, bool forget)
{
    ExtollLink *l = port_link(p);

    extoll_link_down(l);
    if (forget) {
        extoll_link_forget(l);
    }
    rnic_port_restart(p);
}

static void link_status(RNicPort *p, ExtollLinkStatus status)
{
    ExtollState *s = port_state(p);

    switch (status) {
    case EXTOLL_LINK_OK:
        return;
    case EXTOLL_LINK_BAD_PACKET:
        extoll_count(s, PACKET_BAD);
        return;
    case EXTOLL_LINK_DEAD:
        trace_extoll_link_dead(s->node, p->index);
        link_restart(p, false);
        return;
    case EXTOLL_LINK_BROKEN:
        trace_extoll_link_broken(s->node, p->index);
        link_restart(p, true);
        return;
    }
}

/*
 * Goes on where the link was, if node and epochs of both ends are those of the last time;
 * otherwise the other end has nothing of what this end keeps.
 */
static void link_up(RNicPort *p)
{
    ExtollState *s = port_state(p);
    ExtollPeer peer = {
        .node = p->loopback ? p->group->node : p->peer,
        .epoch = p->loopback ? s->epoch : p->peer_epoch,
        .loopback = p->loopback,
    };

    if (memcmp(&s->peer[p->index], &peer, sizeof(peer))) {
        extoll_link_forget(port_link(p));
        s->peer[p->index] = peer;
    }
    extoll_link_up(port_link(p));
    rnic_loop_schedule(&s->loop);
}

/*
 * Raises EVENT_LINK if bit UP of PORT_STATUS has changed.  A port that is up is no such
 * change: the link is up later, when both ends have accepted a START.
 */
static void link_event(RNicPort *p)
{
    ExtollState *s = port_state(p);
    uint8_t bit = 1u << p->index;

    if (extoll_link_is_up(port_link(p)) != !!(s->links_up & bit)) {
        s->links_up ^= bit;
        extoll_irq_raise(s, EXTOLL_VEC_EVENTS, EXTOLL_EVENT_LINK);
    }
}

static void port_up_or_down(RNicPort *p)
{
    if (p->up) {
        link_up(p);
    } else {
        extoll_link_down(port_link(p));
    }
    link_event(p);
}

/* --- Functions of the owner of a port ----------------------------------------------- */

static RNicMeasured port_measure(const uint8_t *buf)
{
    unsigned words = 1;

    if (!extoll_control_is(buf)) {
        unsigned bytes = RNIC_GET(EXTOLL_FLIT_BYTES, ldl_le_p(buf));

        words = bytes && bytes <= EXTOLL_FLIT_DATA ?
                DIV_ROUND_UP(EXTOLL_FLIT_HEADER + bytes, RNIC_LINK_WORD) : 0;
    }
    return (RNicMeasured) { .words = words, .packets = 1, .alone = words };
}

/* Accepts all words, because the other end repeats flits that a link cannot use. */
static bool port_take(RNicPort *p, unsigned vc, const uint8_t *buf, unsigned words)
{
    link_status(p, extoll_link_take(port_link(p), buf, words, rnic_now()));
    link_event(p);
    return true;
}

static const char *port_changed(RNicPort *p, enum rnic_port_change change,
                                const RNicPortNode *node)
{
    switch (change) {
    case RNIC_PORT_OFFER:
        return node->coord < EXTOLL_NODES ? NULL : "which is no number of a node";
    case RNIC_PORT_UP_OR_DOWN:
        port_up_or_down(p);
        break;
    case RNIC_PORT_BAD_HEADER:
    case RNIC_PORT_MALFORMED:
        extoll_link_bad(port_link(p), rnic_now());
        break;
    case RNIC_PORT_POLLED:
    case RNIC_PORT_EPOCH:           /* link_up() compares the epochs */
    case RNIC_PORT_SETTINGS:
    case RNIC_PORT_EMPTIED:         /* no packet waits at the owner */
    case RNIC_PORT_CONFLICT:
    case RNIC_PORT_INJECTED:
    case RNIC_PORT_TICK:
        break;
    }
    return NULL;
}

static bool port_work(RNicPort *p)
{
    return false;
}

static void port_trace(const RNicPort *p, enum rnic_port_step step, unsigned a,
                       unsigned b, unsigned c)
{
    uint32_t node = p->group->node;

    switch (step) {
    case RNIC_PORT_STEP_TX:
        trace_extoll_port_tx(node, p->index, a, c);
        break;
    case RNIC_PORT_STEP_RX:
        trace_extoll_port_rx(node, p->index, a, c);
        break;
    case RNIC_PORT_STEP_UP:
        trace_extoll_port_up(node, p->index, a, b);
        break;
    case RNIC_PORT_STEP_FAULT:
        trace_extoll_port_fault(node, p->index, a, b);
        break;
    }
}

static const RNicPortOwner port_owner = {
    .name = "extoll",
    .family = RNIC_LINK_EXTOLL,
    .mac = (uint64_t)EXTOLL_MAC_PREFIX << 24,
    .coord_mask = 0xffff,
    .vcs = 1,
    .packet_words = EXTOLL_FLIT_MAX / RNIC_LINK_WORD,
    .urgent_words = 0,              /* flits stay in order */
    .frame_words = FRAME_WORDS,
    .measure = port_measure,
    .take = port_take,
    .changed = port_changed,
    .work = port_work,
    .trace = port_trace,
};

/* --- Work ------------------------------------------------------------------------ */

bool extoll_ports_receive(ExtollState *s)
{
    bool more = false;

    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        more |= rnic_port_rx_due(p) && rnic_port_rx_run(p);
    }
    return more;
}

static void link_send(RNicPort *p, int64_t now)
{
    ExtollLink *l = port_link(p);
    unsigned words;

    link_status(p, extoll_link_expire(l, now));
    while (rnic_port_can_send(p, 0) &&
           (words = extoll_link_next(l, rnic_port_place(p, 0), now))) {
        rnic_port_commit(p, 0, words);
    }
}

void extoll_ports_send(ExtollState *s)
{
    int64_t now = rnic_now(), due = INT64_MAX;

    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        int64_t next;

        link_send(p, now);
        next = extoll_link_deadline(port_link(p));
        /*
         * What is due and has not left waits for the port, which schedules the units.  A
         * timer in the past would fire without end, and the netdev could never send.
         */
        due = next > now ? MIN(due, next) : due;
    }
    if (due != INT64_MAX) {
        rnic_loop_at(&s->loop, due);
    }
}

void extoll_ports_flush(ExtollState *s)
{
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        rnic_port_flush(p);
    }
}

bool extoll_ports_up(const ExtollState *s)
{
    for (unsigned i = 0; i < s->ports.count; i++) {
        if (extoll_link_is_up(&s->link[i])) {
            return true;
        }
    }
    return false;
}

void extoll_port_tune(ExtollState *s, unsigned index, uint32_t rate, uint32_t latency)
{
    uint64_t bits = FRAME_WORDS * RNIC_LINK_WORD * 8;
    int64_t frame_ns = rate ? muldiv64(bits, 1000000, rate) : 0;

    rnic_port_tune(&s->port[index], rate, latency);
    extoll_link_timer(&s->link[index], 2 * (frame_ns + latency));
}

/* --- Life ------------------------------------------------------------------------ */

void extoll_ports_init(ExtollState *s)
{
    RNicPortGroup *g = &s->ports;

    g->owner = &port_owner;
    g->opaque = s;
    g->dev = s->host.dev;
    g->loop = &s->loop;
    g->port = s->port;
    g->node = s->node;
    g->rx_words = RX_WORDS;
    g->timeout_ms = s->link_timeout_ms;
    /* 0: the crossbar drops packets that wait too long; the port repeats no flit */
    g->stall_ms = 0;
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        if (s->port[i].conf.peers.ncs[0]) {
            g->count = i + 1;
        }
    }
    for (unsigned i = 0; i < g->count; i++) {
        if (s->port[i].conf.peers.ncs[0]) {
            extoll_link_init(&s->link[i], s->rx_flits);
            rnic_port_init(g, i);
            s->port[i].xoff_above = RX_WORDS / 2;
        }
    }
}

void extoll_ports_fini(ExtollState *s)
{
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        rnic_port_fini(p);
        extoll_link_fini(port_link(p));
    }
}

void extoll_ports_reset(ExtollState *s)
{
    s->ports.node = s->node;
    s->ports.epoch = s->epoch;
    s->links_up = 0;
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        ExtollLink *l = port_link(p);

        extoll_link_down(l);
        extoll_link_forget(l);
        memset(l->counter, 0, sizeof(l->counter));
        extoll_port_reg_reset(s, p->index);
        rnic_port_reset(p);
    }
}

void extoll_ports_resume(ExtollState *s)
{
    s->ports.node = extoll_reg_get32(s, EXTOLL_REG_NODE);
    s->ports.epoch = s->epoch;
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        extoll_port_reg_resume(s, p->index);
        /* also arms the timer of the port anew, because the load has set the clock */
        rnic_port_restart(p);
    }
}

void extoll_ports_restart(ExtollState *s)
{
    uint32_t node = extoll_reg_get32(s, EXTOLL_REG_NODE);

    if (s->ports.node == node) {
        return;
    }
    s->ports.node = node;
    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        link_restart(p, true);
    }
}
