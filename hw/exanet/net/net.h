/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet crossbar: takes packets from the units and the ports, and gives them to the
 * units and the ports.
 */
#ifndef HW_EXANET_NET_NET_H
#define HW_EXANET_NET_NET_H

#include "../link/port.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/* Where a packet goes next: a virtual channel of a port, or one of these. */
#define EXANET_ROUTE_LOCAL (-1)
#define EXANET_ROUTE_NONE  (-2)
#define EXANET_ROUTE_UNKNOWN (-3)   /* of exanet_net_resume() alone */
#define EXANET_ROUTE(port, vc) ((int)((port) * EXANET_VCS + (vc)))
#define EXANET_ROUTE_PORT(route) ((unsigned)(route) / EXANET_VCS)
#define EXANET_ROUTE_VC(route) ((unsigned)(route) % EXANET_VCS)

/*
 * Beside the path of a packet: all such packets for a node take the same one of several
 * ports, where the switch would else choose for each.
 */
#define EXANET_PATH_STEADY EXANET_PATHS
/* The way of a packet of this node to node @dst; @path: EXANET_PATH_. */
int exanet_net_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * How many paths to @dst differ by now: paths 0 to this - 1 of EXANET_PATH_CABLE, and
 * again as many with PATH_ORDER if *order; 0 when there is no way.
 */
unsigned exanet_router_paths(ExanetState *s, uint32_t dst, bool *order);
/* Number @n of the paths that exanet_router_paths() told, counted round. */
static inline unsigned exanet_path_nth(unsigned cables, bool order, unsigned n)
{
    n %= order ? 2 * cables : cables;
    return n < cables ? n : (n - cables) | EXANET_PATH_ORDER;
}
/* The place of a packet that this node is about to send. */
typedef struct ExanetOpen {
    int route;
    uint8_t *buf;                   /* room for EXANET_PACKET_BYTES */
} ExanetOpen;

/*
 * Looks for the place of a packet to @dst by @path.  Returns NULL if its route is not
 * open now; then exanet_schedule() is called when it is.  Otherwise the caller fills the
 * place and calls exanet_net_send(), or leaves it.  A packet without a route has a place,
 * too: it is dropped and counted.  @o->route is valid in any case.
 */
uint8_t *exanet_net_open(ExanetState *s, uint32_t dst, unsigned path, ExanetOpen *o);
/* The same for a route that the caller knows. */
uint8_t *exanet_net_open_route(ExanetState *s, int route, ExanetOpen *o);
/*
 * Sends the @words words at @o->buf.  A packet for this node arrives inside this call, so
 * the call comes last.
 */
void exanet_net_send(ExanetState *s, const ExanetOpen *o, unsigned words);
/*
 * Sends a response (ack, or notification packet): never blocks, goes ahead of
 * data.  @words words at @buf are copied.
 */
void exanet_net_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words);
/*
 * Takes the packet of @words words at @buf that came in by channel @vc of @from:
 * hands it to the unit it is for, passes it on, or drops and counts it.  False: its
 * way is not open now; exanet_schedule() is called when it is, offer it again then.
 * The packet may be changed.
 */
bool exanet_net_take(ExanetState *s, ExanetPort *from, unsigned vc,
                          uint8_t *buf, unsigned words);
/*
 * The same for a packet that has waited in a queue for @route; UNKNOWN: by now its way
 * may be another one.
 */
bool exanet_net_resume(ExanetPort *from, unsigned vc, int route,
                            uint8_t *buf, unsigned words);
/*
 * Drops a packet that came by @from, although packets from @src to @dst do not come by
 * this port.
 */
void exanet_net_drop_source(ExanetState *s, const ExanetPort *from, uint32_t src,
                                 uint32_t dst);
/* Gives to the cables what the units have sent. */
void exanet_net_flush(ExanetState *s);
/*
 * Sends an ack: @ack has @dst, @small, @pdid (the context), @tid, @seq, @resp and
 * @epoch, that of the packet that is answered.
 */
void exanet_ack_send(ExanetState *s, const ExanetPacket *ack);

#endif /* HW_EXANET_NET_NET_H */
