/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the link port share: link.c (life, receiving), link-tx.c
 * (sending), link-fault.c (what a bad cable does to packets) and link-hello.c (up and
 * down).
 */
#ifndef HW_EXANET_LINK_LINK_H
#define HW_EXANET_LINK_LINK_H

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

/* Runs the units of the device soon. */
static inline void exanet_link_schedule(ExanetPort *p)
{
    rnic_loop_schedule(p->group->loop);
}

/* Source address of frames of the node at @coord. */
void exanet_link_mac(uint8_t *mac, uint32_t coord);

/* --- link.c --------------------------------------------------------------- */

/* Whether the RX FIFOs have room for any frame. */
bool exanet_link_rx_room(ExanetPort *p);
/*
 * Stores a frame of packets of channel @vc, @count words at @words, for which there
 * is room; the units run at the next exanet_link_schedule().
 */
void exanet_link_rx_put(ExanetPort *p, unsigned vc, const uint8_t *words,
                        unsigned count);
/* Packets in the @words words at @buf; what can't be one counts with all behind it. */
unsigned exanet_link_packets(ExanetPort *p, const uint8_t *buf, unsigned words);
/* Drops and counts all packets, those to be sent as well, and forgets all XOFFs. */
void exanet_link_queues_drop(ExanetPort *p);

/* --- link-tx.c ------------------------------------------------------------ */

void exanet_link_tx_init(ExanetPort *p);
void exanet_link_tx_fini(ExanetPort *p);
/* Forgets all that was to be sent; returns how many packets that were. */
unsigned exanet_link_tx_drop(ExanetPort *p);
/* The peer's longest frame, or the rate, has changed. */
void exanet_link_tx_limit(ExanetPort *p);
/* Sends a frame of @kind without words; not while @p->blocked. */
void exanet_link_control_send(ExanetPort *p, enum exanet_link_kind kind,
                              unsigned vc);
/* These are sent once the netdev takes frames again, if it does not now. */
void exanet_link_hello_send(ExanetPort *p);
void exanet_link_down_send(ExanetPort *p);
/* Tells the peer whether it may send in the channels of @vcs, one bit for each. */
void exanet_link_xoff_send(ExanetPort *p, unsigned vcs);

/*
 * Adds a packet to the frame of channel @vc, or, if there is no room or @urgent is
 * set, to its urgent packets.  A header that a fault has spoiled ends its frame:
 * whoever gets it does not find what is behind, which a real cable frames packet by
 * packet.
 */
void exanet_link_append(ExanetPort *p, unsigned vc, const uint8_t *buf,
                        unsigned words, bool urgent);

/* --- link-fault.c --------------------------------------------------------- */

/*
 * Adds the packet at @packet with exanet_link_append(), as the faults of the cable
 * want it, and packets that it was to overtake behind it.
 */
void exanet_link_fault(ExanetPort *p, unsigned vc, const uint8_t *packet,
                       unsigned words, bool urgent);
/* When the next delayed packet is due; INT64_MAX: there is none. */
int64_t exanet_link_late_due(ExanetPort *p);
/* Adds those that are due. */
void exanet_link_late_run(ExanetPort *p);
/* Drops all; returns how many. */
unsigned exanet_link_late_drop(ExanetPort *p);

/* --- link-hello.c --------------------------------------------------------- */

void exanet_link_hello_init(ExanetPort *p);
void exanet_link_hello_fini(ExanetPort *p);
void exanet_link_hello_receive(ExanetPort *p, const struct exanet_hello *h);
void exanet_link_down_receive(ExanetPort *p);
/* Greets the peer, or looks whether it is there still. */
void exanet_link_hello(ExanetPort *p);
void exanet_link_hello_reset(ExanetPort *p);

#endif /* HW_EXANET_LINK_LINK_H */
