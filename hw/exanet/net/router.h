/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet router: routes, checks of sources, and the arbitration of outputs.
 */
#ifndef HW_EXANET_NET_ROUTER_H
#define HW_EXANET_NET_ROUTER_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "../../fabric/arbiter.h"
#include "arith.h"
#include "../../link/port.h"
#include "route.h"
#include "../base/unit.h"
#include "voq.h"

typedef struct ExanetState ExanetState;

/* A result of a lookup: the route to a node. */
typedef struct ExanetRouteEntry {
    uint32_t key;                   /* destination and path, see exanet_router_lookup() */
    /* the entry is valid while equal to ExanetRouter.stamp */
    uint32_t stamp;
    /*
     * route of packets of this node; if ARITH_MODE is not OFF, exanet_arith_route()
     * chooses among the links of @arith instead
     */
    int route;
    /*
     * number of ports by which packets can leave; at least 1 if the destination is this
     * node
     */
    unsigned cables;
    /* next step, valid if @cables is not 0; role AUTO: not a step of the network */
    ExanetHop hop;
    /*
     * only valid if ARITH_MODE is OFF and the role of @hop is UPLINK: the neighbours of
     * the ports have the upper bits of the destination
     */
    bool exact;
    /* links to the destination; valid if ARITH_MODE is not OFF */
    ExanetArithRoute arith;
} ExanetRouteEntry;

/* A result of exanet_router_source_ok(). */
typedef struct ExanetSourceCheck {
    uint64_t key;                   /* destination, source, port, order of dimensions */
    /* the entry is valid while equal to ExanetRouter.stamp */
    uint32_t stamp;
    /* true: packets of the source can arrive by the port */
    bool ok;
} ExanetSourceCheck;

/*
 * Numbers of the inputs of the crossbar: each virtual channel of a port is an input, and
 * this node (NI) is an input.
 */
#define EXANET_INPUT(port, vc) ((port) * EXANET_VCS + (vc))
#define EXANET_INPUT_NI EXANET_INPUT(EXANET_LINKS, 0)
#define EXANET_ROUTER_INPUTS (EXANET_INPUT_NI + 1)
#define EXANET_ROUTER_ROUTES 256
#define EXANET_ROUTER_SOURCES 256

/* Counters of the torus router in F1, in the order of their registers. */
enum exanet_router_counter {
    /* first of 4 counters, by FPGA: packets into the torus */
    EXANET_ROUTER_LOCAL,
    EXANET_ROUTER_LOCAL_OUT = 4,    /* packets that left the torus for this QFDB */
    EXANET_ROUTER_TRANSIT,          /* packets from a torus link to a torus link */
    EXANET_ROUTER_COUNTERS,
};

/*
 * A model of the times of links, in addition to rate and latency; shm/timing.c has such a
 * model.
 */
typedef struct ExanetLinkTimes {
    /*
     * Returns true if the link of @route can accept a packet now.  If not, the function
     * schedules a run of the units for the time when the link can accept a packet.
     */
    bool (*link_free)(ExanetState *s, int route);
    /*
     * Occupies the link of @route for the forwarded packet of @words words at @buf, if
     * EXANET_TYPE_AXI() is not 0 for the type of the packet.
     */
    void (*pass)(ExanetState *s, int route, const uint8_t *buf, unsigned words);
} ExanetLinkTimes;

/* Packets with errors that the port of arrival does not detect. */
typedef struct ExanetPortErrors {
    uint64_t payload;               /* packets for this node with a wrong payload CRC */
    uint64_t footer;                /* packets with a wrong footer CRC */
} ExanetPortErrors;

typedef struct ExanetRouter {
    ExanetRouteConfig config;
    /* increases when stored results of lookups and checks become old */
    uint32_t stamp;
    /* number of the present round of the loop over the units */
    uint32_t round;
    ExanetRouteEntry entry[EXANET_ROUTER_ROUTES];
    ExanetSourceCheck source[EXANET_ROUTER_SOURCES];
    /* enum exanet_role, by port; AUTO: link is down, or no role */
    uint8_t role[EXANET_LINKS];
    RNicArbiter arbiter[EXANET_LINKS * EXANET_VCS];     /* by EXANET_ROUTE() */
    uint64_t ni_map[EXANET_NI_INDICES];
    uint64_t counter[EXANET_ROUTER_COUNTERS];
    ExanetPortErrors errors[EXANET_LINKS];      /* indexed by the port of arrival */
    enum exanet_arith_mode arith;   /* ARITH_MODE, or OFF if ARITH_MODE is not valid */
    enum exanet_arith_mode initial; /* ARITH_MODE after a reset, by property router */
    ExanetArithTable *table;        /* table of property routes, owned; NULL: no table */
    /* ARITH_HOL: packets that overtook packets in a queue of voq.h */
    uint64_t hol;
    ExanetVoqs voqs[EXANET_LINKS];  /* indexed by the port of arrival */
    /*
     * indexed by port and channel of arrival: the decoded run of which RNicPort.taken
     * counts processed packets; only valid while this count is not 0
     */
    ExanetPacket run[EXANET_LINKS][EXANET_VCS];
    const ExanetLinkTimes *times;   /* NULL: no model */
} ExanetRouter;

extern const ExanetUnit exanet_router_unit;
/*
 * Updates the roles of all ports, and discards the stored results of lookups and checks,
 * in a reset and after a change of this node's coordinates, SW_DIMS, SW_ORDER or
 * ARITH_MODE.
 */
void exanet_router_configure(ExanetState *s);
/*
 * Updates the role of @p, and discards the stored results of lookups and checks, after a
 * change of the link of @p or of PORT_CTRL.
 */
void exanet_router_port_changed(ExanetState *s, RNicPort *p);
/*
 * Returns true if the node at @coord may be the neighbour of @p: a node that is a
 * neighbour in the network, or any node if software has set the role of @p, if ARITH_MODE
 * is not OFF, or if no other port whose link is up has a role.
 */
bool exanet_router_neighbour(RNicPort *p, uint32_t coord);
/*
 * Returns true if ARITH_MODE is OFF and the node at @coord is a neighbour in this node's
 * torus or QFDB.
 */
bool exanet_router_near(ExanetState *s, uint32_t coord);
/*
 * Returns the route to @dst by @path (bits EXANET_PATH_*).  The result is valid until the
 * next call.
 */
const ExanetRouteEntry *exanet_router_lookup(ExanetState *s, uint32_t dst, unsigned path);
/*
 * Returns the route of a packet for another node @dst by @path, which arrived by channel
 * @vc of @from.  The result is negative if there is no route.
 */
int exanet_router_transit(ExanetState *s, RNicPort *from, unsigned vc,
                          uint32_t dst, unsigned path);
/* Returns true if a packet of node @src for node @dst by @path can arrive by @from. */
bool exanet_router_source_ok(ExanetState *s, RNicPort *from, uint32_t src,
                             uint32_t dst, unsigned path);
/*
 * Returns true if a flow-rate packet that arrived by @from may limit the rate of data to
 * @dst.  The packet has no source.  So the function checks that @dst, or a node on a
 * route to @dst, can send a packet to this node by @from.  If ARITH_MODE is not OFF, the
 * function instead checks that @from is one of the links to @dst.
 */
bool exanet_router_rate_source_ok(ExanetState *s, RNicPort *from, uint32_t dst);
/*
 * Returns true if @input (EXANET_INPUT()) may send a packet by @route now.  If not,
 * exanet_schedule() is called when @input should ask again.  From that time on @input
 * must ask again in each round of the units, because otherwise @input does not count as
 * waiting; see arbiter.h.
 */
bool exanet_router_may_send(ExanetState *s, int route, unsigned input);
/*
 * Returns the same as exanet_router_may_send(), for a run of @words words.  The run may
 * be sent when the frame of its channel has room for the whole run.
 */
bool exanet_router_may_send_run(ExanetState *s, int route, unsigned input,
                                unsigned words);
/* Counts @packets packets that @input has sent by @route, for the arbitration. */
void exanet_router_sent(ExanetState *s, int route, unsigned input, unsigned packets);
/* Computes the counters among the registers SW_*, and SW_FLOWS, before a read. */
void exanet_router_reg_sync(ExanetState *s);
/* Acts on a write to register @reg, one of EXANET_REG_SW_*. */
void exanet_router_reg_written(ExanetState *s, unsigned reg);
/*
 * Return the 64-bit word of the NI map that contains @addr, or store @size (4 or 8) bytes
 * of @value at @addr.  @addr counts from the start of the map, in bytes.  The store
 * clears bits of the word that are not in EXANET_NI_MAP_WRITABLE.
 */
uint64_t exanet_router_ni_map_read(ExanetState *s, hwaddr addr);
void exanet_router_ni_map_write(ExanetState *s, hwaddr addr, uint64_t value,
                                unsigned size);

#endif /* HW_EXANET_NET_ROUTER_H */
