/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet crossbar: moves packets from units and ports of this node to units and ports.
 */
#ifndef HW_EXANET_NET_NET_H
#define HW_EXANET_NET_NET_H

#include "../../link/port.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/* A route: a virtual channel of a port, made by EXANET_ROUTE(), or a negative value: */
#define EXANET_ROUTE_LOCAL (-1)     /* the destination is this node */
#define EXANET_ROUTE_NONE  (-2)     /* there is no route: the packet is dropped */
/* only in queues of voq.h: exanet_net_resume() must find the route */
#define EXANET_ROUTE_UNKNOWN (-3)
#define EXANET_ROUTE(port, vc) ((int)((port) * EXANET_VCS + (vc)))
#define EXANET_ROUTE_PORT(route) ((unsigned)(route) / EXANET_VCS)
#define EXANET_ROUTE_VC(route) ((unsigned)(route) % EXANET_VCS)

/*
 * Flag in an argument @path, but not in a packet.  With the flag, all packets for a node
 * on the same path leave by the same port, until the links of the route change.  Without
 * the flag, if EXANET_PATH_CABLE is 0, the arithmetic router chooses a port for each
 * packet.  The router of tori ignores the flag.
 */
#define EXANET_PATH_STEADY EXANET_PATHS
/*
 * Returns the route of a packet from this node to node @dst, or EXANET_ROUTE_LOCAL or
 * EXANET_ROUTE_NONE.  @path has bits EXANET_PATH_*.  If @dst is this node, the result is
 * the route of a port in loopback, or EXANET_ROUTE_LOCAL if no port is in loopback.
 */
int exanet_net_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * Returns the number n of values of EXANET_PATH_CABLE, 0 to n - 1, that may select
 * different paths to @dst.  Returns 0 if path 0 has no route.  Sets *@order to true if
 * the same values with bit EXANET_PATH_ORDER give other paths, so that there are 2 n
 * paths, otherwise to false.
 */
unsigned exanet_router_paths(ExanetState *s, uint32_t dst, bool *order);

/*
 * Returns path @n, modulo the number of paths, as bits EXANET_PATH_*.  @cables (not 0)
 * and @order are the results of exanet_router_paths().
 */
static inline unsigned exanet_path_nth(unsigned cables, bool order, unsigned n)
{
    n %= order ? 2 * cables : cables;
    return n < cables ? n : (n - cables) | EXANET_PATH_ORDER;
}

/* The buffer and the route of a packet that this node is about to send. */
typedef struct ExanetOpen {
    int route;
    /* at least EXANET_PACKET_BYTES, not owned; NULL: the packet cannot be sent now */
    uint8_t *buf;
} ExanetOpen;

/*
 * Finds the route and the buffer of a packet to @dst by @path, and stores both in @o.
 * Returns the buffer.  The caller then builds the packet in the buffer and calls
 * exanet_net_send(), or sends no packet.  Returns a buffer even if there is no route,
 * because exanet_net_send() drops and counts such a packet.  Returns NULL if the output
 * of the route is blocked, or if another input has the grant (arbiter.h).  After a result
 * of NULL, exanet_schedule() is called when the caller should try again.  @o->route is
 * valid in each case.
 */
uint8_t *exanet_net_open(ExanetState *s, uint32_t dst, unsigned path, ExanetOpen *o);
/* Does as exanet_net_open(), for @route, which the caller knows. */
uint8_t *exanet_net_open_route(ExanetState *s, int route, ExanetOpen *o);
/*
 * Counts and sends the packet of @words words at @o->buf by @o->route.  If @o->route is
 * EXANET_ROUTE_LOCAL, the packet arrives at its unit inside this call, so the caller must
 * update its own state before the call.
 */
void exanet_net_send(ExanetState *s, const ExanetOpen *o, unsigned words);
/*
 * Returns the number of packets, 2 to EXANET_RUN_MAX, of a run for which @o->buf has
 * room.  Returns 0 if the frame has no room for a run, or if the packets must be sent one
 * by one.  @o is the result of exanet_net_open().
 */
unsigned exanet_net_run_room(ExanetState *s, const ExanetOpen *o);
/*
 * Returns true if an empty frame of @route has room for a run.  A caller that cannot send
 * by @route now may then wait for such a frame.
 */
bool exanet_net_run_later(ExanetState *s, int route);
/*
 * Returns true if the caller should build packets for @route without payload CRCs,
 * because the port of the route needs none.  exanet_net_send() and exanet_net_send_run()
 * compute the CRC if the port needs the CRC after all.
 */
bool exanet_net_no_crc(ExanetState *s, int route);
/* Counts the packets of the run at @o->buf, @packets packets, and sends the run. */
void exanet_net_send_run(ExanetState *s, const ExanetOpen *o, unsigned packets);
/*
 * Counts and sends a copy of the packet of @words words at @buf to @dst, by the path in
 * the header of the packet.  The packet is an ack, or another packet that must not wait
 * for data, and becomes an urgent packet of the port; see rnic_port_respond().  If @dst
 * is this node, the packet may arrive at its unit inside this call.  The function never
 * blocks, but drops and counts the packet if there is no route, if the link is down, or
 * if too many urgent packets wait.
 */
void exanet_net_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words);
/*
 * Processes the packet or run of @words words at @buf, which arrived by channel @vc of
 * @from: passes the packet to its unit, forwards the packet, stores a copy in a queue of
 * voq.h, or drops and counts the packet.  Returns false if the packet cannot leave now
 * and cannot wait in a queue.  After a result of false, exanet_schedule() is called when
 * the packet may be able to leave, and the caller offers the packet again.  Of a run, the
 * function may have processed only the first @from->taken[@vc] packets.
 */
bool exanet_net_take(RNicPort *from, unsigned vc, const uint8_t *buf, unsigned words);
/*
 * Forwards, or drops and counts, the packet of @words words at @buf that has waited in a
 * queue for @route.  If @route is EXANET_ROUTE_UNKNOWN, finds the route again.  The
 * packet arrived by channel @vc of @from.  Returns false if the packet must continue to
 * wait.
 */
bool exanet_net_resume(RNicPort *from, unsigned vc, int route,
                       const uint8_t *buf, unsigned words);
/*
 * Counts a packet of @src to @dst in DROP_SOURCE, and raises the interrupt PROTOCOL.  The
 * caller drops the packet, because a packet of @src cannot arrive by @from.  A flow-rate
 * packet has no source; @src is then the destination of its flow.
 */
void exanet_net_drop_source(ExanetState *s, const RNicPort *from, uint32_t src,
                                 uint32_t dst);

#endif /* HW_EXANET_NET_NET_H */
