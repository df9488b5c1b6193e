/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the files of the link port share: port.c (initialization, reset and
 * receiving), port-tx.c (sending), port-fault.c (packets on a cable with faults) and
 * port-hello.c (up and down).
 */
#ifndef HW_LINK_PORT_INTERNAL_H
#define HW_LINK_PORT_INTERNAL_H

#include "qemu/bswap.h"
#include "trace/control.h"
#include "port.h"

/* Adds @n to counter @c of @p. */
static inline void rnic_link_count(RNicPort *p, enum rnic_port_counter c,
                                   uint64_t n)
{
    p->counter[c] += n;
}

/* Reports @change of @p to the owner of @p.  The report names no node. */
static inline void rnic_link_changed(RNicPort *p, enum rnic_port_change change)
{
    p->group->owner->changed(p, change, NULL);
}

/*
 * Backends whose events need no "-trace": an event may be enabled although
 * trace_events_enabled_count is 0.
 */
#if defined(CONFIG_TRACE_DTRACE) || defined(CONFIG_TRACE_UST)
#define RNIC_LINK_TRACES 1
#else
#define RNIC_LINK_TRACES trace_events_enabled_count
#endif

/* Lets the owner of @p trace @step; see RNicPortOwner.trace. */
static inline void rnic_link_trace(const RNicPort *p, enum rnic_port_step step,
                                   unsigned a, unsigned b, unsigned c)
{
    if (unlikely(RNIC_LINK_TRACES)) {
        p->group->owner->trace(p, step, a, b, c);
    }
}

/* Makes the device's loop run the units; see rnic_loop_schedule(). */
static inline void rnic_link_schedule(RNicPort *p)
{
    rnic_loop_schedule(p->group->loop);
}

/*
 * Stops the channels of the set @vcs, as XOFF frames of the neighbour do, and permits all
 * other channels, as XON frames do.  Does not schedule the units.
 */
static inline void rnic_link_peer_xoff_set(RNicPort *p, unsigned vcs)
{
    p->peer_xoff = vcs;
    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        p->tx_allow[vc] = vcs & BIT(vc) ? 0 : RNIC_TX_ALL;
    }
}

/*
 * Stores the MAC address of the node at @coord, 6 bytes, at @mac.  The lower 24 bits of
 * the address are the coordinates.
 */
static inline void rnic_link_mac(const RNicPortOwner *owner, uint8_t *mac,
                                 uint32_t coord)
{
    uint64_t address = owner->mac | coord;

    stl_be_p(mac, address >> 16);
    stw_be_p(mac + 4, address);
}

/* --- port.c --------------------------------------------------------------- */

/*
 * Returns true if rnic_link_rx_put() may store one more frame, of any length.  Returns
 * false if the RX FIFOs have too many words, or while a packet of an RX FIFO is being
 * delivered, because that packet must not move.
 */
bool rnic_link_rx_room(RNicPort *p);
/*
 * Stores the @count words of packets at @words as a frame in the RX FIFO of channel @vc.
 * The caller has checked rnic_link_rx_room(), and calls rnic_link_schedule() after
 * this function.  Sends XOFF if the FIFO then has more than @p->xoff_above words, unless
 * an XOFF stops the channel already.
 */
void rnic_link_rx_put(RNicPort *p, unsigned vc, const uint8_t *words,
                      unsigned count);
/*
 * Returns the number of packets in the @words words at @buf.  A packet that is not valid
 * counts as one packet together with all words behind this packet.
 */
unsigned rnic_link_packets(RNicPort *p, const uint8_t *buf, unsigned words);
/*
 * Drops all packets that wait to be sent, that latency and faults delay, that wait in the
 * RX FIFOs, or that arrived by @p and wait at the owner.  Counts these packets in
 * RNIC_PORT_CNT_DROPPED.  Clears @p->xoff and @p->peer_xoff.
 */
void rnic_link_queues_drop(RNicPort *p);

/* --- port-tx.c ------------------------------------------------------------ */

void rnic_link_tx_init(RNicPort *p);
void rnic_link_tx_fini(RNicPort *p);
/*
 * Drops all packets that wait to be sent or that latency and faults delay.  Clears
 * @p->peer_xoff, and disarms @p->tx_timer.  Returns the number of dropped packets.
 */
unsigned rnic_link_tx_drop(RNicPort *p);
/* Computes @p->tx_limit and @p->tx_room from @p->peer_words and @p->rate. */
void rnic_link_tx_limit(RNicPort *p);
/* Sends a frame of @kind for channel @vc, without words.  @p->blocked must be false. */
void rnic_link_control_send(RNicPort *p, enum rnic_link_kind kind,
                            unsigned vc);
/* Sends a HELLO, now or when the netdev has sent the frame that the netdev keeps. */
void rnic_link_hello_send(RNicPort *p);
/*
 * Sends a DOWN, now or when the netdev has sent the frame that the netdev keeps.  A reset
 * of the port cancels a DOWN that waits.
 */
void rnic_link_down_send(RNicPort *p);
/*
 * Adds @vcs to @p->xoff_due.  For each channel in @p->xoff_due sends an XOFF if @p->xoff
 * has the bit of the channel, otherwise an XON: now, or when the netdev has sent the
 * frame that the netdev keeps.  In loopback the function instead calls
 * rnic_link_peer_xoff_set() for @p->xoff and schedules the units.
 */
void rnic_link_xoff_send(RNicPort *p, unsigned vcs);

/*
 * Adds the packet of @words words at @buf to the frame of channel @vc.  If the frame has
 * no room or @urgent is true, adds the packet to the urgent packets of @vc instead.  A
 * packet with a bad header will be the last packet of its frame, because the neighbour
 * cannot find packets behind a bad header.  On a real cable a bad header affects only its
 * own packet.
 */
void rnic_link_append(RNicPort *p, unsigned vc, const uint8_t *buf,
                      unsigned words, bool urgent);

/* --- port-fault.c --------------------------------------------------------- */

/*
 * Applies the faults of the cable to a copy of the packet at @packet.  If no fault drops
 * the copy, and no fault delays the copy or too many packets are delayed already, passes
 * the copy to rnic_link_append(), twice for a duplicate, and behind the copy the
 * packets of channel @vc that a fault RNIC_FATE_HOLD has held.
 */
void rnic_link_fault(RNicPort *p, unsigned vc, const uint8_t *packet,
                     unsigned words, bool urgent);
/*
 * Returns the virtual time, ns, at which rnic_link_delayed_run() must send the next
 * packet that a fault delays.  Returns INT64_MAX if no packet is delayed.
 */
int64_t rnic_link_delayed_due(RNicPort *p);
/* Passes the delayed packets whose time has come to rnic_link_append(). */
void rnic_link_delayed_run(RNicPort *p);
/* Drops all packets that faults delay.  Returns the number of these packets. */
unsigned rnic_link_delayed_drop(RNicPort *p);

/* --- port-hello.c --------------------------------------------------------- */

void rnic_link_hello_init(RNicPort *p);
void rnic_link_hello_fini(RNicPort *p);
/*
 * Handles a HELLO that has arrived: accepts or refuses its sender as neighbour, takes the
 * link up or down, and may send a HELLO as answer.
 */
void rnic_link_hello_receive(RNicPort *p, const struct rnic_hello *h);
/*
 * Returns the formats of packets that this device accepts by port @p, bits of
 * rnic_hello.flags; see RNicPortGroup.features.
 */
uint8_t rnic_link_features(const RNicPort *p);
/* Handles a DOWN of the neighbour: forgets the neighbour and takes the link down. */
void rnic_link_down_receive(RNicPort *p);
/*
 * In loopback, takes the link up if the port is enabled.  Otherwise takes the link down
 * if the neighbour or the carrier is lost or the owner refuses the neighbour, and sends a
 * HELLO if there is a carrier.  Arms @p->hello_timer for the next call.
 */
void rnic_link_hello(RNicPort *p);
/*
 * Takes the link down, forgets the neighbour, ends loopback, and enables the port unless
 * @p->admin_down is true.  Then calls rnic_link_hello(), now or by @p->hello_timer.
 */
void rnic_link_hello_reset(RNicPort *p);

#endif /* HW_LINK_PORT_INTERNAL_H */
