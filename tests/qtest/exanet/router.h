/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device with a neighbour on each of the ports 0 to 7, and packets that the device
 * forwards.  The test acts as all neighbours.
 */
#ifndef EXANET_ROUTER_H
#define EXANET_ROUTER_H

#include "device.h"

#define UPPER(n) ((n) << 14)
#define AT(fpga, x, y) (UPPER(5) | (fpga) << 12 | (y) << 4 | (x))
#define ELSEWHERE UPPER(6)          /* node at port UP */

/*
 * The device, at HERE, is F1 of QFDB (1,1) in a torus of 4x4 QFDBs.  exanet_around[] has
 * the coordinates of the neighbour at each port.
 */
#define HERE AT(0, 1, 1)
enum { F2, F3, F4, XP, XM, YP, YM, UP, PORTS };
extern const uint32_t exanet_around[PORTS];

ExanetTest *exanet_router_start(void);
uint64_t exanet_port_get(ExanetTest *t, unsigned port, unsigned reg);
uint32_t exanet_port_status(ExanetTest *t, unsigned port);
/*
 * Returns field PORT_LEVEL_RX: the number of words that have arrived by @port and wait in
 * the device.
 */
unsigned exanet_port_level(ExanetTest *t, unsigned port);
/*
 * Sends XOFF for virtual channel 0 as the neighbour at @port, and waits until the device
 * has handled the XOFF.
 */
void exanet_port_stop(ExanetTest *t, unsigned port);

/*
 * Returns a packet in virtual channel 0, or in EXANET_VC_ORDER if @path has bit
 * EXANET_PATH_ORDER.
 */
ExanetPacket exanet_router_packet(enum exanet_type type, uint32_t src,
                                  uint32_t dst, unsigned path);
static inline ExanetPacket exanet_router_write(uint32_t src, uint32_t dst,
                                               unsigned path)
{
    return exanet_router_packet(EXANET_TYPE_WRITE, src, dst, path);
}
/*
 * Sends @pkt as the neighbour at @port, in virtual channel @pkt->vc, and waits until the
 * device has forwarded, stored or dropped the packet.
 */
void exanet_router_send(ExanetTest *t, unsigned port, const ExanetPacket *pkt);
/*
 * Takes the next packet of the device from @port; asserts that it is @pkt in virtual
 * channel @vc, with one hop more (ACK, FLOW_RATE) or a TTL that is smaller by 1.
 */
void exanet_router_expect(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                          unsigned vc);
/*
 * Asserts that counter @why is @n, and that all other counters EXANET_CNT_DROP_* are 0.
 * Then clears counter @why.
 */
void exanet_assert_drops(ExanetTest *t, enum exanet_counter why, unsigned n);
/*
 * Sends @pkt by exanet_router_send(); asserts that the device counts @pkt in counter @why
 * and in no other counter EXANET_CNT_DROP_*, and sends no packet.  Asserts that IRQ_CAUSE
 * has EXANET_IRQ_PROTOCOL if and only if @why is EXANET_CNT_DROP_SOURCE or
 * EXANET_CNT_DROP_MALFORMED.
 */
void exanet_assert_dropped(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                           enum exanet_counter why);
/*
 * Sends @pkt as the neighbour at port @in; asserts that the device forwards @pkt by port
 * @out, in virtual channel @vc.
 */
void exanet_assert_passed(ExanetTest *t, unsigned in, unsigned out,
                          const ExanetPacket *pkt, unsigned vc);
/*
 * Lets the device send a packet to node @dst; asserts that the packet leaves by @port,
 * or, if @port is -1, that the device drops the packet because it has no route.
 */
void exanet_assert_own_route(ExanetTest *t, uint32_t dst, int port);
/*
 * Sends packets @from to @to - 1 of a stream in one frame, as the neighbour at @port.
 * The TID of each packet is its number.
 */
void exanet_stream_send(ExanetTest *t, unsigned port, uint32_t src, uint32_t dst,
                        unsigned from, unsigned to);
/*
 * Takes the next @to - @from packets at @port; asserts that they are packets @from to
 * @to - 1 of the stream of @src, in this order.
 */
void exanet_stream_take(ExanetTest *t, unsigned port, uint32_t src,
                        unsigned from, unsigned to);

#endif /* EXANET_ROUTER_H */
