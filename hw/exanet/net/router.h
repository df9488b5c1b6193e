/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet switch: where packets may go and come from, and the arbitration of outputs.
 */
#ifndef HW_EXANET_NET_ROUTER_H
#define HW_EXANET_NET_ROUTER_H

#include "rnic/exanet/shm.h"
#include "arith.h"
#include "../link/port.h"
#include "route.h"
#include "../base/unit.h"
#include "voq.h"

typedef struct ExanetState ExanetState;

/* The way to a node, as it was looked up last. */
typedef struct ExanetWay {
    uint32_t key;                   /* destination, path */
    uint32_t stamp;                 /* valid while equal to the switch's */
    int route;                      /* of a packet of this node */
    unsigned cables;                /* ports that lead there as well */
    ExanetHop hop;                  /* AUTO: no link of the network */
    bool exact;                     /* to a peer with the same upper bits */
    ExanetArithWay arith;           /* where ARITH_MODE is not OFF */
} ExanetWay;

/* Whether packets of a node may come by a port. */
typedef struct ExanetSourceCheck {
    uint64_t key;                   /* destination, source, port, order */
    uint32_t stamp;
    bool ok;
} ExanetSourceCheck;

/* Whose turn it is at an output; inputs as bits, see router.c. */
typedef struct ExanetTurn {
    uint64_t waiting;               /* refused in this round ... */
    uint64_t before;                /* ... and in the one before it */
    uint32_t round;
    uint8_t holder;                 /* input that was served last */
    uint8_t used;                   /* packets that it has had in a row */
} ExanetTurn;

/* Inputs of the crossbar: each virtual channel of a port, and this node. */
#define EXANET_INPUT(port, vc) ((port) * EXANET_VCS + (vc))
#define EXANET_INPUT_NI EXANET_INPUT(EXANET_LINKS, 0)
#define EXANET_SWITCH_INPUTS (EXANET_INPUT_NI + 1)
#define EXANET_SWITCH_WAYS 256
#define EXANET_SWITCH_SOURCES 256

/* Counters of the router in F1, in the order of their registers. */
enum exanet_router_counter {
    EXANET_SWITCH_LOCAL,            /* ... LOCAL3: by where packets entered */
    EXANET_SWITCH_LOCAL_OUT = 4,
    EXANET_SWITCH_TRANSIT,
    EXANET_SWITCH_COUNTERS,
};

/* Times of a link beyond those of its cable; of shared memory. */
typedef struct ExanetLinkTimes {
    /*
     * Returns true if the link of @route, a port, can take a packet now.  If not,
     * the units run when it can.
     */
    bool (*link_free)(ExanetState *s, int route);
    /* The packet of another node at @buf takes the link of @route. */
    void (*pass)(ExanetState *s, int route, const uint8_t *buf, unsigned words);
} ExanetLinkTimes;

typedef struct ExanetRouter {
    ExanetRouteConfig config;
    uint32_t stamp;                 /* of valid ways and checks */
    uint32_t round;                 /* of the units */
    ExanetWay way[EXANET_SWITCH_WAYS];
    ExanetSourceCheck source[EXANET_SWITCH_SOURCES];
    ExanetTurn turn[EXANET_LINKS * EXANET_VCS];     /* by route */
    uint64_t ni_map[EXANET_NI_INDICES];
    uint64_t counter[EXANET_SWITCH_COUNTERS];
    enum exanet_arith_mode arith;   /* ARITH_MODE */
    enum exanet_arith_mode initial; /* property router */
    ExanetArithTable *table;        /* property routes, owned; NULL: none */
    uint64_t hol;                   /* ARITH_HOL */
    ExanetVoqs voqs[EXANET_LINKS];  /* by the port that packets came by */
    const ExanetLinkTimes *times;   /* NULL: none */
} ExanetRouter;

extern const ExanetUnit exanet_router_unit;
/* Coordinates of this node or registers of the switch have changed. */
void exanet_router_configure(ExanetState *s);
/* @p went up or down, has another peer, or another role by PORT_CTRL. */
void exanet_router_port_changed(ExanetState *s, ExanetPort *p);
/*
 * Returns true if the node at @coord may be the peer of @p.  The node must be a
 * neighbour in the network; if no other cable belongs to a network, any node may be the
 * peer.
 */
bool exanet_router_neighbour(ExanetPort *p, uint32_t coord);
/* Returns true if the node at @coord is a neighbour in this node's torus or QFDB. */
bool exanet_router_near(ExanetState *s, uint32_t coord);
/* The way to @dst by @path; valid until the next call. */
const ExanetWay *exanet_router_way(ExanetState *s, uint32_t dst, unsigned path);
/* The way of a packet for another node that came by channel @vc of @from. */
int exanet_router_transit(ExanetState *s, ExanetPort *from, unsigned vc,
                          uint32_t dst, unsigned path);
/* Whether a packet of @src for @dst can have come by @from. */
bool exanet_router_source_ok(ExanetState *s, ExanetPort *from, uint32_t src,
                             uint32_t dst, unsigned path);
/*
 * Whether a switch on the way of our packets to @dst, or @dst, can send us a packet by
 * @from: only these have a say in how fast we send there.
 */
bool exanet_router_teller_ok(ExanetState *s, ExanetPort *from, uint32_t dst);
/*
 * Whether @input may send a packet to the port of @route now.  If not, it is to ask in
 * each round of the units; exanet_schedule() is called as for crossbar_ready.
 */
bool exanet_router_ready(ExanetState *s, int route, unsigned input);
/* It was ready, and @input has sent. */
void exanet_router_served(ExanetState *s, int route, unsigned input);
void exanet_router_reg_sync(ExanetState *s);
void exanet_router_reg_written(ExanetState *s, unsigned reg);
/* The NI map; @addr from the start of the block. */
uint64_t exanet_router_ni_map_read(ExanetState *s, hwaddr addr);
void exanet_router_ni_map_write(ExanetState *s, hwaddr addr, uint64_t value,
                                unsigned size);

#endif /* HW_EXANET_NET_ROUTER_H */
