/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device with a neighbour on each of its ports, all of which are the test: packets
 * that it is to pass on, and what becomes of them.
 */
#ifndef EXANET_ROUTER_H
#define EXANET_ROUTER_H

#include "device.h"

#define UPPER(n) ((n) << 14)
#define AT(fpga, x, y) (UPPER(5) | (fpga) << 12 | (y) << 4 | (x))
#define ELSEWHERE UPPER(6)          /* behind the uplink */

/* The device is F1 of QFDB (1,1) in a torus of 4x4; on its ports are: */
#define HERE AT(0, 1, 1)
enum { F2, F3, F4, XP, XM, YP, YM, UP, PORTS };
extern const uint32_t exanet_around[PORTS];

ExanetTest *exanet_router_start(void);
uint64_t exanet_port_get(ExanetTest *t, unsigned port, unsigned reg);
uint32_t exanet_port_status(ExanetTest *t, unsigned port);
/* Words in its RX FIFOs. */
unsigned exanet_port_level(ExanetTest *t, unsigned port);
/* The neighbour stops channel 0 of the device, which is in effect on return. */
void exanet_port_stop(ExanetTest *t, unsigned port);

/* A packet of each field's own, in channel 0 or, by @path, that of the other order. */
ExanetPacket exanet_router_packet(enum exanet_type type, uint32_t src,
                                  uint32_t dst, unsigned path);
static inline ExanetPacket exanet_router_write(uint32_t src, uint32_t dst,
                                               unsigned path)
{
    return exanet_router_packet(EXANET_TYPE_WRITE, src, dst, path);
}
/*
 * Sends @pkt by @port, in the channel that it says; when this returns the device has
 * done with it what it does.
 */
void exanet_router_send(ExanetTest *t, unsigned port, const ExanetPacket *pkt);
/* The next packet on @port is @pkt, one switch later, in channel @vc. */
void exanet_router_expect(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                          unsigned vc);
/* Asserts that @n packets were dropped for @why since the last call, and no other. */
void exanet_assert_drops(ExanetTest *t, enum exanet_counter why, unsigned n);
/* @pkt is dropped for @why when it comes by @port. */
void exanet_assert_dropped(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                           enum exanet_counter why);
/* ... goes out by @out when it comes by @in. */
void exanet_assert_passed(ExanetTest *t, unsigned in, unsigned out,
                          const ExanetPacket *pkt, unsigned vc);
/* A packet of this node for @dst leaves by @port; -1: nowhere. */
void exanet_assert_own_way(ExanetTest *t, uint32_t dst, int port);
/* Sends packets @from to @to of a stream, numbered by TID, in one frame. */
void exanet_stream_send(ExanetTest *t, unsigned port, uint32_t src, uint32_t dst,
                        unsigned from, unsigned to);
/* Takes packets @from to @to of a stream; none is missing, none is twice. */
void exanet_stream_take(ExanetTest *t, unsigned port, uint32_t src,
                        unsigned from, unsigned to);

#endif /* EXANET_ROUTER_H */
