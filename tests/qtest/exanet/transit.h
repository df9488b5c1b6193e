/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device in the middle of three F1s in a row, with a fourth one above it.  The test
 * is the other three F1s.  Packets from the left F1 to the right one wait in the device
 * while the device cannot send them.
 */
#ifndef EXANET_TRANSIT_H
#define EXANET_TRANSIT_H

#include "device.h"

#define NODE(x, y) (RNIC_PREP(EXANET_COORD_UPPER, 5) | \
                    RNIC_PREP(EXANET_COORD_X, x) | RNIC_PREP(EXANET_COORD_Y, y))
#define LEFT NODE(0, 0)
#define MIDDLE NODE(1, 0)
#define RIGHT NODE(2, 0)
#define ABOVE NODE(1, 1)
#define FRAME_PACKETS 224           /* packets of the longest frame */
/* ns that a word takes at 1 Gb/s, and number of packets that take at most 50 us then */
#define WORD_NS 128
#define RATE_KBPS 1000000
#define RATE_PACKETS 21
#define RATE_FRAME_NS (RATE_PACKETS * EXANET_PACKET_WORDS * WORD_NS)

enum { L, R, A };                   /* ports of the device */

/* Starts the device with @props and all links up, and without flow-rate packets. */
ExanetTest *transit_start(const char *props);

/* Read and write registers of port @port. */
uint64_t transit_get(ExanetTest *t, unsigned port, unsigned reg);
uint32_t transit_get32(ExanetTest *t, unsigned port, unsigned reg);
void transit_set32(ExanetTest *t, unsigned port, unsigned reg, uint32_t value);
/* Return @field of PORT_STATUS and of PORT_LEVEL. */
uint32_t transit_status(ExanetTest *t, unsigned port, uint32_t field);
unsigned transit_level(ExanetTest *t, unsigned port, uint32_t field);

/* Returns packet number @n from the peer on port @from to node @dst, in channel @vc. */
ExanetPacket transit_packet(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                            unsigned n);
/*
 * Sends packets @first to @first + @count - 1 as the peer on port @from, in frames as
 * long as that peer may send.
 */
void transit_send(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                  unsigned first, unsigned count);
/* Sends @count acks from the peer on port @from to @dst, with TIDs from 0 on. */
void transit_send_acks(ExanetTest *t, unsigned from, uint32_t dst, unsigned count);
/*
 * Sends XOFF or XON of channel @vc as the peer on @port, and waits until PORT_STATUS
 * shows the new state.
 */
void transit_flow(ExanetTest *t, unsigned port, unsigned vc, bool xoff);
/* Settles; returns the number of packets that wait at the right peer. */
unsigned transit_arrived(ExanetTest *t);
/*
 * Waits for @count packets at the right peer and takes them; asserts that they are
 * packets @first to @first + @count - 1, in this order, in channel @vc.
 */
void transit_take(ExanetTest *t, unsigned vc, unsigned first, unsigned count);
/* Asserts that no port has dropped anything, and that the peers have no packet left. */
void transit_assert_none_lost(ExanetTest *t);

#endif /* EXANET_TRANSIT_H */
