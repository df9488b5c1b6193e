/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link port, up and down: HELLO frames find the neighbour.  The lack of
 * frames shows the loss of the neighbour.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "system/runstate.h"
#include "../core/netdev.h"
#include "port-internal.h"
#include "port.h"

#define HELLO_INTERVAL_DOWN_NS (50 * SCALE_MS)
#define HELLO_INTERVAL_UP_NS (1000 * SCALE_MS)
/*
 * Maximal number of HELLOs that the port answers at once between two calls of
 * rnic_link_hello().  There is a limit, because three nodes on one netdev would answer
 * each other without end.
 */
#define HELLO_ANSWERS_MAX 64
/*
 * A link that goes down reserves the coordinates of its neighbour for this time, because
 * a node at another cable must not use these coordinates while the neighbour restarts.  A
 * node at the same cable may use the coordinates at once.  port_unheard() may end the
 * reservation.
 */
#define PEER_KEPT_NS (10 * (int64_t)NANOSECONDS_PER_SECOND)
/*
 * Time in which two nodes with parallel cables choose the same cable; see port_unheard().
 */
#define CHOICE_NS NANOSECONDS_PER_SECOND

/* Returns true if the port is enabled, and NIC and netdev are connected and not down. */
static bool port_carrier(RNicPort *p)
{
    NetClientState *nc = qemu_get_queue(p->nic);

    return p->enabled && !nc->link_down && nc->peer && !nc->peer->link_down;
}

/*
 * Takes the link up or down.  A link that goes down reserves the neighbour's coordinates
 * and drops all packets.
 */
static void port_up_set(RNicPort *p, bool up)
{
    if (p->up == up) {
        return;
    }
    p->up = up;
    rnic_link_trace(p, RNIC_PORT_STEP_UP, up, p->peer, 0);
    if (up) {
        p->up_since = rnic_now();
    } else {
        p->peer_until = rnic_now() + PEER_KEPT_NS;
        rnic_link_queues_drop(p);
    }
    rnic_link_changed(p, RNIC_PORT_UP_OR_DOWN);
    rnic_link_schedule(p);
}

static void port_peer_set(RNicPort *p, uint32_t coord, uint8_t epoch)
{
    port_up_set(p, false);
    if (p->peer != coord) {
        p->peer_until = 0;
    }
    p->peer_known = true;
    p->peer = coord;
    p->peer_epoch = epoch;
}

static void port_peer_forget(RNicPort *p)
{
    p->peer_known = false;
    port_up_set(p, false);
}

/* --- Checks of the neighbour's coordinates ---------------------------------- */

/*
 * Refuses the node at the other end of @p, which advertises @coord, for the reason @why:
 * takes the link down, and reports the conflict to the owner.  Warns the user only of the
 * first conflict of @p.
 */
static void port_conflict(RNicPort *p, uint32_t coord, const char *why)
{
    if (!p->conflict_reported) {
        warn_report("%s: the peer of link%u says that it is 0x%x, %s: the link "
                    "stays down", p->group->owner->name, p->index, coord, why);
    }
    rnic_link_changed(p, RNIC_PORT_CONFLICT);
    p->conflict_reported = true;
    p->conflict = true;
    p->conflict_coord = coord;
    port_peer_forget(p);
}

/*
 * Returns true if the node at @coord is the neighbour of @p, or was the last neighbour
 * and had a reservation, which may have ended.
 */
static bool port_had(const RNicPort *p, uint32_t coord)
{
    return p->peer == coord && (p->peer_known || p->peer_until);
}

/* Returns the owner's reason to refuse a node, or NULL; see RNIC_PORT_OFFER. */
static const char *port_owner_refusal(RNicPort *p, uint32_t coord, uint8_t epoch,
                                      bool known)
{
    const RNicPortNode node = { .coord = coord, .epoch = epoch, .known = known };

    return p->group->owner->changed(p, RNIC_PORT_OFFER, &node);
}

/* Returns true if the link of @q to the node at @coord is up, or @q reserves @coord. */
static bool port_holds(const RNicPort *q, uint32_t coord)
{
    return q->peer == coord && (q->up || rnic_now() < q->peer_until);
}

/*
 * Returns true if port @q, for which port_holds() is true, excludes a neighbour with
 * @coord at port @p.  If the links of the two ports are down and both ports reserve
 * @coord, the port whose link was up last takes precedence.
 */
static bool port_excludes(const RNicPort *q, const RNicPort *p, uint32_t coord)
{
    return q->up || p->peer != coord || p->peer_until < q->peer_until;
}

/*
 * Returns true if @p must not accept the node at @coord with @epoch as neighbour yet,
 * because of another port.
 *
 * If property peerN names @coord for several ports, all links of these ports must have
 * the same epoch of the node.  So @p waits while another of these ports has a link with
 * another epoch.  If port_had() is false for @p, then @p also waits while another of
 * these ports reserves @coord with another epoch.
 *
 * If property peerN of @p does not name @coord, and the other ports have precedence until
 * @p->yield_until, then @p waits while another port refuses the node.
 */
static bool port_waits(RNicPort *p, uint32_t coord, uint8_t epoch)
{
    bool named = p->peer_named == coord;
    bool yields = rnic_now() < p->yield_until;

    for (RNicPort *q = NULL; (q = rnic_port_after(p->group, q));) {
        if (q == p) {
            continue;
        }
        if (named && q->peer_named == coord && port_holds(q, coord) &&
            q->peer_epoch != epoch && (q->up || !port_had(p, coord))) {
            return true;
        }
        if (!named && yields && q->conflict && q->conflict_coord == coord) {
            return true;
        }
    }
    return false;
}

/*
 * Returns the reason why the neighbour at @p cannot be the node at @coord with @epoch, or
 * NULL if @p may accept the node.  A port that has a link to the node, or a reservation
 * of @coord, takes precedence over other ports, even if that port knows another epoch of
 * the node: all neighbours of a node know its epoch, so an epoch in a HELLO proves
 * nothing.  Ports whose property peerN names @coord take precedence over all other ports,
 * and several of these ports may have a link to the node.
 */
static const char *port_refusal(RNicPort *p, uint32_t coord, uint8_t epoch)
{
    if (coord == p->group->node) {
        return "as this node";
    }
    if (p->peer_named == coord) {
        return NULL;
    }
    if (p->peer_named != RNIC_PEER_ANY) {
        return "which property 'peerN' does not name";
    }
    for (RNicPort *q = NULL; (q = rnic_port_after(p->group, q));) {
        if (q == p) {
            continue;
        }
        if (q->peer_named == coord) {
            return "which property 'peerN' names for another link";
        }
        if (port_holds(q, coord) && port_excludes(q, p, coord)) {
            return "which is at another link (property 'peerN' allows several)";
        }
    }
    return port_owner_refusal(p, coord, epoch, port_had(p, coord));
}

/* --- HELLO ------------------------------------------------------------------- */

/* Arms @p->hello_timer for the next call of port_hello_tick(). */
static void port_hello_arm(RNicPort *p)
{
    timer_mod(p->hello_timer, rnic_now() +
              (p->up ? HELLO_INTERVAL_UP_NS : HELLO_INTERVAL_DOWN_NS));
}

/*
 * Does the work of rnic_link_hello() for a port with a carrier: checks the neighbour
 * and sends a HELLO.
 */
static void port_peer_greet(RNicPort *p)
{
    int64_t timeout = (int64_t)p->group->timeout_ms * SCALE_MS;
    const char *why;

    if (p->up && timeout && rnic_now() - p->heard > timeout) {
        p->lost = true;
        port_peer_forget(p);
    }
    why = p->up && p->peer_named == RNIC_PEER_ANY ?
          port_owner_refusal(p, p->peer, p->peer_epoch, true) : NULL;
    if (why) {
        port_conflict(p, p->peer, why);
    }
    if (p->lost && p->blocked) {
        /*
         * offers the kept frame again, because a netdev does not report a new connection
         */
        qemu_flush_queued_packets(qemu_get_queue(p->nic)->peer);
    }
    p->lost = false;
    rnic_link_hello_send(p);
    if (p->up && p->xoff_sent) {
        /* sends each XOFF or XON again, because the earlier frames may have been lost */
        rnic_link_xoff_send(p, p->xoff_sent);
    }
    if (p->tx_wanted) {
        /* makes the units run, because a channel may have become stalled */
        rnic_link_schedule(p);
    }
}

void rnic_link_hello(RNicPort *p)
{
    p->hello_answers = 0;
    if (p->loopback && p->enabled) {
        if (!p->up) {
            port_peer_set(p, p->group->node, p->group->epoch);
            p->peer_words = p->group->owner->frame_words;
            p->features = p->group->features;
            rnic_link_tx_limit(p);
            port_up_set(p, true);
        }
    } else if (port_carrier(p)) {
        port_peer_greet(p);
    } else {
        p->lost = true;
        port_peer_forget(p);
    }
    port_hello_arm(p);
}

static void port_hello_tick(void *opaque)
{
    RNicPort *p = opaque;
    bool entered = rnic_loop_enter(p->group->loop);

    rnic_link_changed(p, RNIC_PORT_TICK);
    rnic_link_hello(p);
    rnic_loop_leave(p->group->loop, entered);
}

/*
 * Takes the link of @p down, because the neighbour's HELLO shows that the neighbour does
 * not know this node with its present epoch.  If the link went up less than CHOICE_NS
 * ago, the neighbour may have chosen another cable.  In this case @p makes no
 * reservation, and other ports have precedence for CHOICE_NS if this node has the larger
 * coordinates.
 */
static void port_unheard(RNicPort *p)
{
    int64_t now = rnic_now();
    bool chosen = p->up && now - p->up_since < CHOICE_NS;

    port_up_set(p, false);
    if (chosen) {
        p->peer_until = 0;
        p->yield_until = p->group->node > p->peer ? now + CHOICE_NS : 0;
    }
}

uint8_t rnic_link_features(const RNicPort *p)
{
    const NetClientState *netdev = qemu_get_queue(p->nic)->peer;
    bool cable = netdev && rnic_netdev_is_cable(netdev);

    return p->group->features | (cable ? p->group->cable_features : 0);
}

void rnic_link_hello_receive(RNicPort *p, const struct rnic_hello *h)
{
    const RNicPortOwner *owner = p->group->owner;
    uint32_t coord = le32_to_cpu(h->coord);
    uint32_t max_words = le32_to_cpu(h->max_words);
    const char *why;
    bool was_up = p->up;
    bool heard = (h->flags & RNIC_HELLO_HEARD) && h->peer_epoch == p->group->epoch;

    if ((coord & ~owner->coord_mask) || max_words < owner->packet_words) {
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        return;
    }
    if (port_waits(p, coord, h->epoch)) {
        port_peer_forget(p);
        return;
    }
    why = port_refusal(p, coord, h->epoch);
    if (why) {
        port_conflict(p, coord, why);
        return;
    }
    p->conflict = false;
    if (!p->peer_known || p->peer != coord || p->peer_epoch != h->epoch) {
        const RNicPortNode node = { .coord = coord, .epoch = h->epoch, .known = true };

        port_peer_set(p, coord, h->epoch);
        owner->changed(p, RNIC_PORT_EPOCH, &node);
    }
    p->peer_words = max_words;
    p->features = rnic_link_features(p) & h->flags;
    rnic_link_tx_limit(p);
    p->heard = rnic_now();
    if (heard) {
        port_up_set(p, true);
    } else {
        port_unheard(p);
    }
    if ((!heard || !was_up) && p->hello_answers++ < HELLO_ANSWERS_MAX) {
        /* a HELLO with HELLO_HEARD makes the neighbour take the link up */
        rnic_link_hello_send(p);
        timer_mod_anticipate_ns(p->hello_timer,
                                rnic_now() + HELLO_INTERVAL_DOWN_NS);
    }
}

void rnic_link_down_receive(RNicPort *p)
{
    port_peer_forget(p);
    port_hello_arm(p);
}

/*
 * Calls rnic_link_hello() now.  While the machine does not run or the device is being
 * built, only arms @p->hello_timer, because a listening netdev may not be connected yet
 * and does not report its connection.
 */
static void port_start(RNicPort *p)
{
    if (runstate_is_running() && qdev_is_realized(p->group->dev)) {
        rnic_link_hello(p);
    } else {
        port_hello_arm(p);
    }
}

void rnic_port_restart(RNicPort *p)
{
    p->conflict = false;
    port_peer_forget(p);
    port_start(p);
}

/*
 * Sets @p->loopback, and computes @p->enabled.  If one of the two members changes, takes
 * the link down and starts the link anew; a port with a carrier that was not in loopback
 * first sends a DOWN.  Otherwise reports RNIC_PORT_SETTINGS.
 */
static void port_control_changed(RNicPort *p, bool loopback)
{
    bool enable = p->wanted && !p->admin_down;

    if (p->enabled == enable && p->loopback == loopback) {
        rnic_link_changed(p, RNIC_PORT_SETTINGS);
        rnic_link_schedule(p);      /* packets that wait may have a new route */
        return;
    }
    if (port_carrier(p) && !p->loopback) {
        rnic_link_down_send(p);
    }
    port_peer_forget(p);
    p->enabled = enable;
    p->loopback = loopback;
    rnic_port_restart(p);
}

void rnic_port_control(RNicPort *p, bool enable, bool loopback)
{
    p->wanted = enable;
    port_control_changed(p, loopback);
}

void rnic_port_admin(RNicPort *p, bool up)
{
    bool entered;

    p->admin_down = !up;
    if (rnic_port_exists(p)) {
        entered = rnic_loop_enter(p->group->loop);
        port_control_changed(p, p->loopback);
        rnic_loop_leave(p->group->loop, entered);
    }
}

void rnic_link_hello_init(RNicPort *p)
{
    p->hello_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, port_hello_tick, p);
}

void rnic_link_hello_reset(RNicPort *p)
{
    p->hello_due = false;
    p->down_due = false;
    p->peer_known = false;
    if (p->up) {
        p->peer_until = rnic_now() + PEER_KEPT_NS;
    }
    p->up = false;
    p->wanted = true;
    p->enabled = !p->admin_down;
    p->loopback = false;
    p->conflict = false;
    rnic_link_changed(p, RNIC_PORT_SETTINGS);
    /*
     * The netdev still keeps its frame, because half of the frame may be in a socket.
     * The frame arrives before the HELLO with the new epoch, so the neighbour assigns the
     * frame to the old epoch.
     */
    port_start(p);
}

void rnic_link_hello_fini(RNicPort *p)
{
    if (!p->blocked) {
        rnic_link_control_send(p, RNIC_LINK_DOWN, 0);
    }
    timer_free(p->hello_timer);
}
