/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet crossbar: takes packets from units and ports, and gives them to units and ports.
 */
#ifndef HW_EXANET_NET_NET_H
#define HW_EXANET_NET_NET_H

#include "../link/port.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/* A route: a virtual channel of a port, or one of these values. */
#define EXANET_ROUTE_LOCAL (-1)     /* this node */
#define EXANET_ROUTE_NONE  (-2)     /* no route: the packet is dropped */
#define EXANET_ROUTE_UNKNOWN (-3)   /* only for exanet_net_resume() */
#define EXANET_ROUTE(port, vc) ((int)((port) * EXANET_VCS + (vc)))
#define EXANET_ROUTE_PORT(route) ((unsigned)(route) / EXANET_VCS)
#define EXANET_ROUTE_VC(route) ((unsigned)(route) % EXANET_VCS)

/*
 * Flag beside the path of a packet: all packets for a node take the same port.  Without
 * it the arithmetic router chooses one of several ports for each packet.
 */
#define EXANET_PATH_STEADY EXANET_PATHS
/* Returns the route of a packet of this node to node @dst; @path: EXANET_PATH_. */
int exanet_net_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * Returns the number n of different paths to @dst: values 0 to n - 1 of
 * EXANET_PATH_CABLE, and, if *@order, the same values with EXANET_PATH_ORDER.  Returns 0
 * if there is no route.
 */
unsigned exanet_router_paths(ExanetState *s, uint32_t dst, bool *order);
/* Returns path @n, modulo their number, of the paths of exanet_router_paths(). */
static inline unsigned exanet_path_nth(unsigned cables, bool order, unsigned n)
{
    n %= order ? 2 * cables : cables;
    return n < cables ? n : (n - cables) | EXANET_PATH_ORDER;
}
/* The buffer of a packet that this node is about to send, and the route. */
typedef struct ExanetOpen {
    int route;
    uint8_t *buf;                   /* room for EXANET_PACKET_BYTES */
} ExanetOpen;

/*
 * Finds route and buffer of a packet to @dst by @path.  Returns NULL if the output is
 * blocked; then exanet_schedule() is called when the output opens.  Otherwise the caller
 * builds the packet in the buffer and calls exanet_net_send(), or sends no packet.  A
 * packet without a route has a buffer too: it is dropped and counted.  @o->route is
 * valid in each case.
 */
uint8_t *exanet_net_open(ExanetState *s, uint32_t dst, unsigned path, ExanetOpen *o);
/* As exanet_net_open(), for a route that the caller knows. */
uint8_t *exanet_net_open_route(ExanetState *s, int route, ExanetOpen *o);
/*
 * Sends the @words words at @o->buf.  A packet for this node arrives inside this call, so
 * the caller must have updated its state before.
 */
void exanet_net_send(ExanetState *s, const ExanetOpen *o, unsigned words);
/*
 * Sends a copy of the response of @words words at @buf (ack, flow-rate, release or
 * notification packet) before data.  Never blocks, but drops a response if too many wait.
 */
void exanet_net_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words);
/*
 * Takes the packet of @words words at @buf that arrived by channel @vc of @from: gives it
 * to its unit, forwards it, or drops and counts it.  Returns false if the output is
 * blocked; then exanet_schedule() is called when the output opens, and the caller offers
 * the packet again.  The function may change the packet.
 */
bool exanet_net_take(ExanetPort *from, unsigned vc, uint8_t *buf, unsigned words);
/*
 * As exanet_net_take(), for a packet to another node that has waited in a queue for
 * @route.  If @route is UNKNOWN, the function finds the route again.
 */
bool exanet_net_resume(ExanetPort *from, unsigned vc, int route,
                            uint8_t *buf, unsigned words);
/*
 * Counts a packet of @src to @dst that the caller drops, because such packets cannot
 * arrive by @from, and raises the interrupt.
 */
void exanet_net_drop_source(ExanetState *s, const ExanetPort *from, uint32_t src,
                                 uint32_t dst);

#endif /* HW_EXANET_NET_NET_H */
