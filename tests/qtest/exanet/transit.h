/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that is the middle one of three F1s in a row; a fourth F1 is above the device.
 * The test acts as the three other F1s.  Packets from the left F1 to the right F1 wait in
 * the device while the device cannot send packets to the right F1.
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
#define FRAME_PACKETS 224           /* maximal number of packets in a frame of a peer */
/*
 * Duration of a word at 1 Gb/s in ns, this rate, and the number of packets that take at
 * most 50 us at this rate.
 */
#define WORD_NS 128
#define RATE_KBPS 1000000
#define RATE_PACKETS 21
#define RATE_FRAME_NS (RATE_PACKETS * EXANET_PACKET_WORDS * WORD_NS)

enum { L, R, A };                   /* device ports to LEFT, RIGHT, ABOVE */

/* Starts the device with @props, brings all links up, and disables FLOW_RATE packets. */
ExanetTest *transit_start(const char *props);

/* Read and write register @reg (EXANET_REG_PORT_*) of port @port. */
uint64_t transit_get(ExanetTest *t, unsigned port, unsigned reg);
uint32_t transit_get32(ExanetTest *t, unsigned port, unsigned reg);
void transit_set32(ExanetTest *t, unsigned port, unsigned reg, uint32_t value);
/* Return field @field of PORT_STATUS (status) or of PORT_LEVEL (level) of @port. */
uint32_t transit_status(ExanetTest *t, unsigned port, uint32_t field);
unsigned transit_level(ExanetTest *t, unsigned port, uint32_t field);

/*
 * Returns packet number @n from the peer on port @from to node @dst, in virtual channel
 * @vc.
 */
ExanetPacket transit_packet(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                            unsigned n);
/*
 * Sends packets @first to @first + @count - 1 of transit_packet() as the peer on port
 * @from, in frames of FRAME_PACKETS packets, or fewer if the device permits fewer.
 */
void transit_send(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                  unsigned first, unsigned count);
/* Sends @count acks to node @dst as the peer on port @from, with TIDs from 0 on. */
void transit_send_acks(ExanetTest *t, unsigned from, uint32_t dst, unsigned count);
/*
 * Sends XOFF (@xoff) or XON for virtual channel @vc as the peer on @port, and waits until
 * PORT_STATUS shows the new state.
 */
void transit_flow(ExanetTest *t, unsigned port, unsigned vc, bool xoff);
/* Settles; returns the number of packets at RIGHT that the test has not taken. */
unsigned transit_arrived(ExanetTest *t);
/*
 * Waits for @count packets at RIGHT and takes these packets; asserts that they are
 * packets @first to @first + @count - 1, in this order, in virtual channel @vc.
 */
void transit_take(ExanetTest *t, unsigned vc, unsigned first, unsigned count);
/*
 * Asserts that counter PORT_DROPPED of each port is 0; then settles, and asserts that the
 * test has taken all packets from all peers.
 */
void transit_assert_none_lost(ExanetTest *t);

#endif /* EXANET_TRANSIT_H */
