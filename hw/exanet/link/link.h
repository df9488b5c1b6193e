/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the files of the link port share: link.c (initialization, reset and
 * receiving), link-tx.c (sending), link-fault.c (packets on a cable with faults) and
 * link-hello.c (up and down).
 */
#ifndef HW_EXANET_LINK_LINK_H
#define HW_EXANET_LINK_LINK_H

#include "qemu/bswap.h"
#include "trace/control.h"
#include "port.h"

/* Adds @n to counter @c of @p. */
static inline void exanet_link_count(ExanetPort *p, enum exanet_port_counter c,
                                     uint64_t n)
{
    p->counter[c] += n;
}

/* Reports @change of @p to the owner of @p.  The report names no node. */
static inline void exanet_link_changed(ExanetPort *p, enum exanet_port_change change)
{
    p->group->owner->changed(p, change, NULL);
}

/*
 * Backends whose events need no "-trace": an event may be enabled although
 * trace_events_enabled_count is 0.
 */
#if defined(CONFIG_TRACE_DTRACE) || defined(CONFIG_TRACE_UST)
#define EXANET_LINK_TRACES 1
#else
#define EXANET_LINK_TRACES trace_events_enabled_count
#endif

/* Lets the owner of @p trace @step; see ExanetPortOwner.trace. */
static inline void exanet_link_trace(const ExanetPort *p, enum exanet_port_step step,
                                     unsigned a, unsigned b, unsigned c)
{
    if (unlikely(EXANET_LINK_TRACES)) {
        p->group->owner->trace(p, step, a, b, c);
    }
}

/* Makes the device's loop run the units; see rnic_loop_schedule(). */
static inline void exanet_link_schedule(ExanetPort *p)
{
    rnic_loop_schedule(p->group->loop);
}

/*
 * Stops the channels of the set @vcs, as XOFF frames of the neighbour do, and permits all
 * other channels, as XON frames do.  Does not schedule the units.
 */
static inline void exanet_link_peer_xoff_set(ExanetPort *p, unsigned vcs)
{
    p->peer_xoff = vcs;
    for (unsigned vc = 0; vc < EXANET_LINK_VCS; vc++) {
        p->tx_allow[vc] = vcs & BIT(vc) ? 0 : EXANET_TX_ALL;
    }
}

/*
 * Stores the MAC address of the node at @coord, 6 bytes, at @mac.  The lower 24 bits of
 * the address are the coordinates.
 */
static inline void exanet_link_mac(const ExanetPortOwner *owner, uint8_t *mac,
                                   uint32_t coord)
{
    uint64_t address = owner->mac | coord;

    stl_be_p(mac, address >> 16);
    stw_be_p(mac + 4, address);
}

/* --- link.c --------------------------------------------------------------- */

/*
 * Returns true if exanet_link_rx_put() may store one more frame, of any length.  Returns
 * false if the RX FIFOs have too many words, or while a packet of an RX FIFO is being
 * delivered, because that packet must not move.
 */
bool exanet_link_rx_room(ExanetPort *p);
/*
 * Stores the @count words of packets at @words as a frame in the RX FIFO of channel @vc.
 * The caller has checked exanet_link_rx_room(), and calls exanet_link_schedule() after
 * this function.  Sends XOFF if the FIFO then has more than @p->xoff_above words, unless
 * an XOFF stops the channel already.
 */
void exanet_link_rx_put(ExanetPort *p, unsigned vc, const uint8_t *words,
                        unsigned count);
/*
 * Returns the number of packets in the @words words at @buf.  A packet that is not valid
 * counts as one packet together with all words behind this packet.
 */
unsigned exanet_link_packets(ExanetPort *p, const uint8_t *buf, unsigned words);
/*
 * Drops all packets that wait to be sent, that latency and faults delay, that wait in the
 * RX FIFOs, or that arrived by @p and wait at the owner.  Counts these packets in
 * EXANET_PORT_CNT_DROPPED.  Clears @p->xoff and @p->peer_xoff.
 */
void exanet_link_queues_drop(ExanetPort *p);

/* --- link-tx.c ------------------------------------------------------------ */

void exanet_link_tx_init(ExanetPort *p);
void exanet_link_tx_fini(ExanetPort *p);
/*
 * Drops all packets that wait to be sent or that latency and faults delay.  Clears
 * @p->peer_xoff, and disarms @p->tx_timer.  Returns the number of dropped packets.
 */
unsigned exanet_link_tx_drop(ExanetPort *p);
/* Computes @p->tx_limit and @p->tx_room from @p->peer_words and @p->rate. */
void exanet_link_tx_limit(ExanetPort *p);
/* Sends a frame of @kind for channel @vc, without words.  @p->blocked must be false. */
void exanet_link_control_send(ExanetPort *p, enum exanet_link_kind kind,
                              unsigned vc);
/* Sends a HELLO, now or when the netdev has sent the frame that the netdev keeps. */
void exanet_link_hello_send(ExanetPort *p);
/*
 * Sends a DOWN, now or when the netdev has sent the frame that the netdev keeps.  A reset
 * of the port cancels a DOWN that waits.
 */
void exanet_link_down_send(ExanetPort *p);
/*
 * Adds @vcs to @p->xoff_due.  For each channel in @p->xoff_due sends an XOFF if @p->xoff
 * has the bit of the channel, otherwise an XON: now, or when the netdev has sent the
 * frame that the netdev keeps.  In loopback the function instead calls
 * exanet_link_peer_xoff_set() for @p->xoff and schedules the units.
 */
void exanet_link_xoff_send(ExanetPort *p, unsigned vcs);

/*
 * Adds the packet of @words words at @buf to the frame of channel @vc.  If the frame has
 * no room or @urgent is true, adds the packet to the urgent packets of @vc instead.  A
 * packet with a bad header will be the last packet of its frame, because the neighbour
 * cannot find packets behind a bad header.  On a real cable a bad header affects only its
 * own packet.
 */
void exanet_link_append(ExanetPort *p, unsigned vc, const uint8_t *buf,
                        unsigned words, bool urgent);

/* --- link-fault.c --------------------------------------------------------- */

/*
 * Applies the faults of the cable to a copy of the packet at @packet.  If no fault drops
 * the copy, and no fault delays the copy or too many packets are delayed already, passes
 * the copy to exanet_link_append(), twice for a duplicate, and behind the copy the
 * packets of channel @vc that a fault EXANET_FATE_HOLD has held.
 */
void exanet_link_fault(ExanetPort *p, unsigned vc, const uint8_t *packet,
                       unsigned words, bool urgent);
/*
 * Returns the virtual time, ns, at which exanet_link_delayed_run() must send the next
 * packet that a fault delays.  Returns INT64_MAX if no packet is delayed.
 */
int64_t exanet_link_delayed_due(ExanetPort *p);
/* Passes the delayed packets whose time has come to exanet_link_append(). */
void exanet_link_delayed_run(ExanetPort *p);
/* Drops all packets that faults delay.  Returns the number of these packets. */
unsigned exanet_link_delayed_drop(ExanetPort *p);

/* --- link-hello.c --------------------------------------------------------- */

void exanet_link_hello_init(ExanetPort *p);
void exanet_link_hello_fini(ExanetPort *p);
/*
 * Handles a HELLO that has arrived: accepts or refuses its sender as neighbour, takes the
 * link up or down, and may send a HELLO as answer.
 */
void exanet_link_hello_receive(ExanetPort *p, const struct exanet_hello *h);
/*
 * Returns the formats of packets that this device accepts by port @p, bits of
 * exanet_hello.flags; see ExanetPortGroup.features.
 */
uint8_t exanet_link_features(const ExanetPort *p);
/* Handles a DOWN of the neighbour: forgets the neighbour and takes the link down. */
void exanet_link_down_receive(ExanetPort *p);
/*
 * In loopback, takes the link up if the port is enabled.  Otherwise takes the link down
 * if the neighbour or the carrier is lost or the owner refuses the neighbour, and sends a
 * HELLO if there is a carrier.  Arms @p->hello_timer for the next call.
 */
void exanet_link_hello(ExanetPort *p);
/*
 * Takes the link down, forgets the neighbour, ends loopback, and enables the port unless
 * @p->admin_down is true.  Then calls exanet_link_hello(), now or by @p->hello_timer.
 */
void exanet_link_hello_reset(ExanetPort *p);

#endif /* HW_EXANET_LINK_LINK_H */
