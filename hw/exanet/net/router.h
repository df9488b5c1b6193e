/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet router: routes, checks of sources, and the arbitration of outputs.
 */
#ifndef HW_EXANET_NET_ROUTER_H
#define HW_EXANET_NET_ROUTER_H

#include "rnic/exanet/shm.h"
#include "arbiter.h"
#include "arith.h"
#include "../link/port.h"
#include "route.h"
#include "../base/unit.h"
#include "voq.h"

typedef struct ExanetState ExanetState;

/* A result of a lookup: the route to a node. */
typedef struct ExanetRouteEntry {
    uint32_t key;                   /* destination and path, see exanet_router_lookup() */
    uint32_t stamp;                 /* valid while equal to ExanetRouter.stamp */
    int route;                      /* route of packets of this node */
    unsigned cables;                /* number of ports that serve the route */
    ExanetHop hop;                  /* role AUTO: the network has no such link */
    /* the neighbour is the destination or has its upper bits; not with ARITH_MODE */
    bool exact;
    ExanetArithRoute arith;           /* valid if ARITH_MODE is not OFF */
} ExanetRouteEntry;

/* A result of a check: whether packets of a source may arrive by a port. */
typedef struct ExanetSourceCheck {
    uint64_t key;                   /* destination, source, port, order */
    uint32_t stamp;                 /* valid while equal to ExanetRouter.stamp */
    bool ok;                        /* packets of the source may arrive by the port */
} ExanetSourceCheck;

/* Inputs of the crossbar: each virtual channel of a port, and this node. */
#define EXANET_INPUT(port, vc) ((port) * EXANET_VCS + (vc))
#define EXANET_INPUT_NI EXANET_INPUT(EXANET_LINKS, 0)
#define EXANET_ROUTER_INPUTS (EXANET_INPUT_NI + 1)
#define EXANET_ROUTER_ROUTES 256
#define EXANET_ROUTER_SOURCES 256

/* Counters of the router in F1, in the order of their registers. */
enum exanet_router_counter {
    EXANET_ROUTER_LOCAL,            /* first of 4, by FPGA: packets that entered */
    EXANET_ROUTER_LOCAL_OUT = 4,
    EXANET_ROUTER_TRANSIT,
    EXANET_ROUTER_COUNTERS,
};

/* A model of links' times, in addition to rate and latency; shm/timing.c has one. */
typedef struct ExanetLinkTimes {
    /*
     * Returns true if the link of @route can take a packet now.  If not, the function
     * makes the units run when the link can take a packet.
     */
    bool (*link_free)(ExanetState *s, int route);
    /* Occupies the link of @route for the forwarded packet at @buf. */
    void (*pass)(ExanetState *s, int route, const uint8_t *buf, unsigned words);
} ExanetLinkTimes;

typedef struct ExanetRouter {
    ExanetRouteConfig config;
    uint32_t stamp;                 /* changes when results of lookups expire */
    uint32_t round;                 /* number of the round of the units */
    ExanetRouteEntry entry[EXANET_ROUTER_ROUTES];
    ExanetSourceCheck source[EXANET_ROUTER_SOURCES];
    ExanetArbiter arbiter[EXANET_LINKS * EXANET_VCS];     /* indexed by route */
    uint64_t ni_map[EXANET_NI_INDICES];
    uint64_t counter[EXANET_ROUTER_COUNTERS];
    enum exanet_arith_mode arith;   /* ARITH_MODE */
    enum exanet_arith_mode initial; /* ARITH_MODE after a reset, by property router */
    ExanetArithTable *table;        /* property routes, owned; NULL: none */
    uint64_t hol;                   /* ARITH_HOL: packets that passed a blocked packet */
    ExanetVoqs voqs[EXANET_LINKS];  /* indexed by the port of arrival */
    const ExanetLinkTimes *times;   /* NULL: links have no other times */
} ExanetRouter;

extern const ExanetUnit exanet_router_unit;
/* Updates the router after a change of this node's coordinates or of its registers. */
void exanet_router_configure(ExanetState *s);
/* Updates the role of @p after a change of its link or of PORT_CTRL. */
void exanet_router_port_changed(ExanetState *s, ExanetPort *p);
/*
 * Returns true if the node at @coord may be the neighbour of @p: a node that is a
 * neighbour in the network, or any node if @p has a role from software, if ARITH_MODE is
 * not OFF, or if no other link has a role in the network.
 */
bool exanet_router_neighbour(ExanetPort *p, uint32_t coord);
/* Returns true if the node at @coord is a neighbour in this node's torus or QFDB. */
bool exanet_router_near(ExanetState *s, uint32_t coord);
/* Returns the route to @dst by @path; valid until the next call. */
const ExanetRouteEntry *exanet_router_lookup(ExanetState *s, uint32_t dst, unsigned path);
/* Returns the route of a packet for another node that arrived by channel @vc of @from. */
int exanet_router_transit(ExanetState *s, ExanetPort *from, unsigned vc,
                          uint32_t dst, unsigned path);
/* Returns true if a packet of @src for @dst can arrive by @from. */
bool exanet_router_source_ok(ExanetState *s, ExanetPort *from, uint32_t src,
                             uint32_t dst, unsigned path);
/*
 * Returns true if @dst, or a node on the route to @dst, can send a packet to this node by
 * @from.  Only these nodes may limit the rate of data to @dst, because a flow-rate packet
 * has no source.
 */
bool exanet_router_rate_source_ok(ExanetState *s, ExanetPort *from, uint32_t dst);
/*
 * Returns true if @input may send a packet by @route now.  If not, exanet_schedule() is
 * called when @route may be open, and @input must call this function again in each round
 * of the units.
 */
bool exanet_router_may_send(ExanetState *s, int route, unsigned input);
/* Counts a packet that @input has sent by @route, for the arbitration. */
void exanet_router_sent(ExanetState *s, int route, unsigned input);
/* Computes the registers SW_ before a read. */
void exanet_router_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_SW_). */
void exanet_router_reg_written(ExanetState *s, unsigned reg);
/*
 * Return the 64-bit word of the NI map at @addr, and do a store of @size (4 or 8) bytes
 * at @addr.  @addr counts from the start of the map, in bytes.
 */
uint64_t exanet_router_ni_map_read(ExanetState *s, hwaddr addr);
void exanet_router_ni_map_write(ExanetState *s, hwaddr addr, uint64_t value,
                                unsigned size);

#endif /* HW_EXANET_NET_ROUTER_H */
