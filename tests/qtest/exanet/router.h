/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device with a neighbour on each port, and packets that the device forwards.  The test
 * is all neighbours.
 */
#ifndef EXANET_ROUTER_H
#define EXANET_ROUTER_H

#include "device.h"

#define UPPER(n) ((n) << 14)
#define AT(fpga, x, y) (UPPER(5) | (fpga) << 12 | (y) << 4 | (x))
#define ELSEWHERE UPPER(6)          /* node at the uplink */

/* The device is F1 of QFDB (1,1) in a torus of 4x4.  These nodes are at its ports: */
#define HERE AT(0, 1, 1)
enum { F2, F3, F4, XP, XM, YP, YM, UP, PORTS };
extern const uint32_t exanet_around[PORTS];

ExanetTest *exanet_router_start(void);
uint64_t exanet_port_get(ExanetTest *t, unsigned port, unsigned reg);
uint32_t exanet_port_status(ExanetTest *t, unsigned port);
/* Returns the number of words that have arrived by the port and wait: PORT_LEVEL_RX. */
unsigned exanet_port_level(ExanetTest *t, unsigned port);
/*
 * Sends XOFF for channel 0 as the neighbour at @port, and waits until the device has
 * handled it.
 */
void exanet_port_stop(ExanetTest *t, unsigned port);

/*
 * Returns a packet in channel 0, or in channel EXANET_VC_ORDER if @path has that order.
 */
ExanetPacket exanet_router_packet(enum exanet_type type, uint32_t src,
                                  uint32_t dst, unsigned path);
static inline ExanetPacket exanet_router_write(uint32_t src, uint32_t dst,
                                               unsigned path)
{
    return exanet_router_packet(EXANET_TYPE_WRITE, src, dst, path);
}
/*
 * Sends @pkt as the neighbour at @port, in the packet's channel, and waits until the
 * device has forwarded, stored or dropped it.
 */
void exanet_router_send(ExanetTest *t, unsigned port, const ExanetPacket *pkt);
/*
 * Takes the next packet at @port; asserts that it is @pkt, forwarded once, in channel
 * @vc.
 */
void exanet_router_expect(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                          unsigned vc);
/*
 * Asserts that @n packets were dropped for @why since the last call, and none for
 * another reason.
 */
void exanet_assert_drops(ExanetTest *t, enum exanet_counter why, unsigned n);
/* Sends @pkt at @port; asserts that the device drops it for @why. */
void exanet_assert_dropped(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                           enum exanet_counter why);
/* Sends @pkt at @in; asserts that the device forwards it to @out in channel @vc. */
void exanet_assert_passed(ExanetTest *t, unsigned in, unsigned out,
                          const ExanetPacket *pkt, unsigned vc);
/* Asserts that packets of the device for @dst leave by @port; -1: by no port. */
void exanet_assert_own_route(ExanetTest *t, uint32_t dst, int port);
/* Sends packets @from to @to - 1 of a stream, numbered by TID, in one frame. */
void exanet_stream_send(ExanetTest *t, unsigned port, uint32_t src, uint32_t dst,
                        unsigned from, unsigned to);
/* Takes packets @from to @to - 1 of a stream; asserts that they arrive in this order. */
void exanet_stream_take(ExanetTest *t, unsigned port, uint32_t src,
                        unsigned from, unsigned to);

#endif /* EXANET_ROUTER_H */
