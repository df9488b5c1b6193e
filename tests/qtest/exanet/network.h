/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network of machines with one exanet-pci each, and the virtual time that they share.
 * The test itself can be a node, called alien.
 *
 * Time stands still until the network is quiet: exanet_network_step() returns when every
 * frame has arrived and all its effects have happened.  So a busy host makes a test
 * slower, and has no other effect.
 */
#ifndef EXANET_NETWORK_H
#define EXANET_NETWORK_H

#include "device.h"

#define EXANET_NETWORK_NODES 16
#define EXANET_NETWORK_CABLES 64
/* contexts that are open on every node, all of one job */
#define EXANET_NETWORK_CONTEXTS 2

/* A cable between two nodes, and the port of each end. */
typedef struct ExanetCable {
    uint8_t node[2];
    uint8_t port[2];
} ExanetCable;

typedef struct ExanetTopology {
    unsigned nodes;
    unsigned cables;
    uint32_t coord[EXANET_NETWORK_NODES];
    uint8_t ports[EXANET_NETWORK_NODES];     /* number of ports in use */
    /* the node may be killed; its neighbours may not */
    bool mortal[EXANET_NETWORK_NODES];
    bool alien[EXANET_NETWORK_NODES];        /* the node is the test, with one cable */
    /* the node only forwards packets; its device is never enabled */
    bool passes[EXANET_NETWORK_NODES];
    bool alone[EXANET_NETWORK_NODES];   /* runs=off: packets travel alone */
    GString *routes[EXANET_NETWORK_NODES];   /* routing table, owned; NULL: none */
    ExanetCable cable[EXANET_NETWORK_CABLES];
    unsigned dims[3];               /* nodes of the rings X, Y, Z; 1: no ring */
} ExanetTopology;

uint32_t exanet_coord(unsigned x, unsigned y, unsigned z, unsigned offset);
/* Adds a node without cables; returns the number of the node. */
unsigned exanet_topology_node(ExanetTopology *topo, uint32_t coord);
/* Adds a cable between the next free ports of nodes @a and @b. */
void exanet_topology_cable(ExanetTopology *topo, unsigned a, unsigned b);
/* Returns the port of @a to which cable number @nth to @b is connected. */
unsigned exanet_topology_port(const ExanetTopology *topo, unsigned a, unsigned b,
                              unsigned nth);
/* Returns F1 to F4 of one QFDB, with @parallel cables between each two. */
ExanetTopology exanet_topology_qfdb(unsigned parallel);
/* Returns a mesh of nodes; with @rings, dimensions of 3 and more are rings. */
ExanetTopology exanet_topology_grid(unsigned x, unsigned y, unsigned z,
                                    bool rings);
/*
 * Returns @leaves switches with @hosts nodes each, below @spines switches, with routing
 * tables.  The hosts have the first numbers, leaf by leaf; leaves and spines follow.
 */
ExanetTopology exanet_topology_fat_tree(unsigned leaves, unsigned hosts,
                                        unsigned spines);
/*
 * Returns @groups groups of @nodes nodes, with routing tables.  A cable connects each two
 * nodes of a group, and each two groups.
 */
ExanetTopology exanet_topology_dragonfly(unsigned groups, unsigned nodes);
/* Returns a mesh or torus of QFDBs, whose F1s have the cables of the mesh. */
ExanetTopology exanet_topology_hybrid(unsigned x, unsigned y, bool rings);

typedef struct ExanetNetwork {
    ExanetTopology topo;
    ExanetTest *t[EXANET_NETWORK_NODES];     /* NULL: killed, or an alien */
    ExanetPeer *alien[EXANET_NETWORK_NODES];
    bool deaf;                      /* aliens do not read frames */
    /* counters at the last settling */
    uint64_t count[EXANET_NETWORK_NODES][EXANET_COUNTER_COUNT];
    uint8_t epoch[EXANET_NETWORK_NODES];
    int64_t now;                    /* virtual ns since the start of the network */
    char *dir;
    char *props;
} ExanetNetwork;

/*
 * Starts all nodes and waits for all links.  @props: properties of all nodes, "" or
 * ",a=b".  The network owns the tables of @topo from now on.
 */
ExanetNetwork *exanet_network_start(const ExanetTopology *topo, const char *props);
void exanet_network_stop(ExanetNetwork *f);
/*
 * Kill the QEMU of a mortal node, and start another QEMU in its place, with another epoch
 * and open contexts.
 */
void exanet_network_kill(ExanetNetwork *f, unsigned n);
void exanet_network_revive(ExanetNetwork *f, unsigned n);
/* Resets a node and opens its contexts again. */
void exanet_network_reset(ExanetNetwork *f, unsigned n);
/* Returns true if all links between nodes that run, and of aliens, are up. */
bool exanet_network_linked(ExanetNetwork *f);
/*
 * Waits until exanet_network_linked() is true, in real time, because sockets of QEMU
 * connect in real time.  Advances virtual time by 60 ms again and again meanwhile.
 */
void exanet_network_wait_linked(ExanetNetwork *f);
/*
 * Waits until no counter of a node changes and no frame arrives at an alien; refreshes
 * @f->count.  Returns true if a counter has changed or a frame has arrived.
 */
bool exanet_network_settle(ExanetNetwork *f);
bool exanet_network_step(ExanetNetwork *f, int64_t ns);
/*
 * Advances time by @ns in steps of @step, and does not wait between steps until the
 * network is quiet.  So each cable has a latency of at most two steps.  This is much
 * faster than exanet_network_step(), and accurate enough if cables have a rate.
 */
void exanet_network_pass(ExanetNetwork *f, int64_t ns, int64_t step);
/*
 * Advances time in steps of @ns, at most @limit ns, until the C expression @cond is
 * true; fails at the limit.
 */
#define exanet_network_until(f, cond, ns, limit) \
    do { \
        int64_t end_ = (f)->now + (limit); \
        exanet_network_settle(f); \
        while (!(cond)) { \
            g_assert_cmpint((f)->now, <, end_); \
            exanet_network_step(f, ns); \
        } \
    } while (0)
/* Sets property faultsN of port @port of @node. */
void exanet_network_fault(ExanetNetwork *f, unsigned node, unsigned port,
                          const char *faults);
/*
 * Sets the faults of all ends of cables at nodes that run; "" ends them.  End i has @seed
 * + i, because with one seed the same packets of each end would meet faults, or none
 * would.
 */
void exanet_network_fault_all(ExanetNetwork *f, const char *faults, uint32_t seed);
/* Returns the sum of counter @n (EXANET_CNT_) of all nodes at the last settling. */
uint64_t exanet_network_sum(ExanetNetwork *f, unsigned n);
#define exanet_network_total(f, name) exanet_network_sum(f, EXANET_CNT_##name)
/* Prints all counters that are not zero, before a test fails. */
void exanet_network_dump(ExanetNetwork *f);
/* Returns register @reg (EXANET_REG_PORT_) of a port, 64 bits. */
uint64_t exanet_network_port_get(ExanetNetwork *f, unsigned node, unsigned port,
                                 unsigned reg);

#endif /* EXANET_NETWORK_H */
