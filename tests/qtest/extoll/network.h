/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network of machines with one extoll-pci each, whose routes come from extoll-routes.
 * The machines share the virtual time.
 */
#ifndef EXTOLL_NETWORK_H
#define EXTOLL_NETWORK_H

#include "velo.h"

#define EXTOLL_NETWORK_NODES    8
#define EXTOLL_NETWORK_CABLES   16

/* A cable: node and link of each end. */
typedef struct ExtollCable {
    uint8_t node[2];
    uint8_t link[2];
} ExtollCable;

typedef struct ExtollTopology {
    unsigned nodes, cables;
    ExtollCable cable[EXTOLL_NETWORK_CABLES];
    /* route from one node to the VELO of another */
    uint64_t route[EXTOLL_NETWORK_NODES][EXTOLL_NETWORK_NODES];
} ExtollTopology;

typedef struct ExtollNetwork {
    const ExtollTopology *topo;
    ExtollTest *t[EXTOLL_NETWORK_NODES];
    char *dir;
} ExtollNetwork;

/*
 * Starts all nodes, enables the devices and their VPIDs, stores the routes of VELO, and
 * waits until all links are up.  @props: properties of all nodes, "" or ",a=b".
 */
ExtollNetwork *extoll_network_start(const ExtollTopology *topo, const char *props);
void extoll_network_stop(ExtollNetwork *f);
/* Moves the virtual time of all nodes by @ns, and lets them work. */
void extoll_network_step(ExtollNetwork *f, int64_t ns);
/* Returns true if the link is up at both ends of cable @c. */
bool extoll_network_is_up(ExtollNetwork *f, unsigned c);
/* Moves virtual time until all links are up. */
void extoll_network_wait_up(ExtollNetwork *f);
/*
 * Cuts cable @c if @up is false, and mends it if @up is true: by property faults if
 * @fault, otherwise by register PORT_CTRL, at end @end (0 or 1).
 */
void extoll_network_cable_set(ExtollNetwork *f, unsigned c, unsigned end, bool fault,
                              bool up);
/* Sets the faults of both ends of all cables; each end has a seed of its own. */
void extoll_network_faults_set(ExtollNetwork *f, const char *faults, uint32_t seed);
/* Returns the number of cables of the route from node @a to node @b. */
unsigned extoll_network_hops(const ExtollTopology *topo, unsigned a, unsigned b);

#endif /* EXTOLL_NETWORK_H */
