/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the files of the link port share: link.c (life, receiving), link-tx.c
 * (sending), link-fault.c (packets on a cable with faults) and link-hello.c (up and
 * down).
 */
#ifndef HW_EXANET_LINK_LINK_H
#define HW_EXANET_LINK_LINK_H

#include "qemu/bswap.h"
#include "port.h"

static inline void exanet_link_count(ExanetPort *p, enum exanet_port_counter c,
                                     uint64_t n)
{
    p->counter[c] += n;
}

static inline void exanet_link_event(ExanetPort *p, enum exanet_port_event event)
{
    p->group->owner->event(p, event);
}

/* Makes the bottom half run the units, or the loop once more if the units run now. */
static inline void exanet_link_schedule(ExanetPort *p)
{
    rnic_loop_schedule(p->group->loop);
}

/* Stores the MAC address of the node at @coord, 6 bytes, to @mac. */
static inline void exanet_link_mac(uint8_t *mac, uint32_t coord)
{
    stl_be_p(mac + 2, coord);
    mac[0] = EXANET_MAC_PREFIX >> 16;
    mac[1] = (EXANET_MAC_PREFIX >> 8) & 0xff;
    mac[2] = EXANET_MAC_PREFIX & 0xff;
}

/* --- link.c --------------------------------------------------------------- */

/* Returns true if the RX FIFOs have room for any frame. */
bool exanet_link_rx_room(ExanetPort *p);
/*
 * Stores a frame of packets of channel @vc, @count words at @words, for which there is
 * room, and sends XOFF if the FIFO has become long.  The caller calls
 * exanet_link_schedule().
 */
void exanet_link_rx_put(ExanetPort *p, unsigned vc, const uint8_t *words,
                        unsigned count);
/*
 * Returns the number of packets in the @words words at @buf.  A packet that is not valid
 * and all words behind it count as one packet.
 */
unsigned exanet_link_packets(ExanetPort *p, const uint8_t *buf, unsigned words);
/*
 * Drops and counts all packets to be sent, that have arrived, and that wait at the owner.
 * Clears all XOFFs.
 */
void exanet_link_queues_drop(ExanetPort *p);

/* --- link-tx.c ------------------------------------------------------------ */

void exanet_link_tx_init(ExanetPort *p);
void exanet_link_tx_fini(ExanetPort *p);
/* Drops all packets that are to be sent, and clears peer_xoff.  Returns their number. */
unsigned exanet_link_tx_drop(ExanetPort *p);
/* Computes @p->tx_limit from the neighbour's longest frame and the rate. */
void exanet_link_tx_limit(ExanetPort *p);
/* Sends a frame of @kind without words.  @p->blocked must be false. */
void exanet_link_control_send(ExanetPort *p, enum exanet_link_kind kind,
                              unsigned vc);
/* Send a HELLO, or a DOWN, now or when the netdev takes frames again. */
void exanet_link_hello_send(ExanetPort *p);
void exanet_link_down_send(ExanetPort *p);
/*
 * Sends XOFF or XON, by @p->xoff, for the channels of @vcs, one bit for each, now or when
 * the netdev takes frames again.  In loopback copies @p->xoff to @p->peer_xoff instead.
 */
void exanet_link_xoff_send(ExanetPort *p, unsigned vcs);

/*
 * Adds the packet at @buf to the frame of channel @vc, or, if the frame has no room or
 * @urgent is set, to the urgent packets of @vc.  A packet with a bad header ends its
 * frame, because the neighbour cannot find the packets behind it; on a real cable each
 * packet has its own frame.
 */
void exanet_link_append(ExanetPort *p, unsigned vc, const uint8_t *buf,
                        unsigned words, bool urgent);

/* --- link-fault.c --------------------------------------------------------- */

/*
 * Applies the faults of the cable to a copy of the packet at @packet.  If no fault drops
 * or delays the packet, adds it by exanet_link_append(), and then the held packets of
 * channel @vc.
 */
void exanet_link_fault(ExanetPort *p, unsigned vc, const uint8_t *packet,
                       unsigned words, bool urgent);
/* Returns the time, ns, of the next delayed packet, or INT64_MAX. */
int64_t exanet_link_delayed_due(ExanetPort *p);
/* Adds the delayed packets whose time has come, by exanet_link_append(). */
void exanet_link_delayed_run(ExanetPort *p);
/* Drops all delayed packets.  Returns their number. */
unsigned exanet_link_delayed_drop(ExanetPort *p);

/* --- link-hello.c --------------------------------------------------------- */

void exanet_link_hello_init(ExanetPort *p);
void exanet_link_hello_fini(ExanetPort *p);
/* Takes a HELLO: may set a new neighbour, take the link up or down, and answer. */
void exanet_link_hello_receive(ExanetPort *p, const struct exanet_hello *h);
/* Takes a DOWN of the neighbour: drops the neighbour and takes the link down. */
void exanet_link_down_receive(ExanetPort *p);
/*
 * Takes the link up in loopback.  Otherwise takes the link down if the neighbour or the
 * carrier is lost, and sends a HELLO if there is a carrier.  Arms the timer.
 */
void exanet_link_hello(ExanetPort *p);
/*
 * Drops the neighbour, ends loopback, enables the port unless @p->admin_down is set, and
 * starts the link anew.
 */
void exanet_link_hello_reset(ExanetPort *p);

#endif /* HW_EXANET_LINK_LINK_H */
