/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network of machines with one exanet-pci each, which share the virtual time.  The
 * test itself can act as a node, called alien.
 *
 * exanet_network_step() advances virtual time, and returns when each frame has arrived
 * and all effects of the frames have happened.  So a busy host makes a test slower, and
 * has no other effect.
 */
#ifndef EXANET_NETWORK_H
#define EXANET_NETWORK_H

#include "device.h"

#define EXANET_NETWORK_NODES 16
#define EXANET_NETWORK_CABLES 64
/* number of contexts that are open on each node with an enabled device, all of one job */
#define EXANET_NETWORK_CONTEXTS 2

/* A cable between two nodes, with the node and the port of each end. */
typedef struct ExanetCable {
    uint8_t node[2];
    uint8_t port[2];
} ExanetCable;

typedef struct ExanetTopology {
    unsigned nodes;
    unsigned cables;
    uint32_t coord[EXANET_NETWORK_NODES];
    uint8_t ports[EXANET_NETWORK_NODES];     /* number of ports with a cable */
    /* the test may kill this node, but not its neighbours */
    bool mortal[EXANET_NETWORK_NODES];
    bool alien[EXANET_NETWORK_NODES];        /* the test is the node, with one cable */
    /* the node only forwards packets; its device is never enabled */
    bool passes[EXANET_NETWORK_NODES];
    bool alone[EXANET_NETWORK_NODES];        /* property runs=off: no runs */
    GString *routes[EXANET_NETWORK_NODES];   /* routing table, owned; NULL: none */
    ExanetCable cable[EXANET_NETWORK_CABLES];
    unsigned dims[3];               /* nodes in a ring along X, Y, Z; 1: no ring */
} ExanetTopology;

uint32_t exanet_coord(unsigned x, unsigned y, unsigned z, unsigned offset);
/* Adds a node without cables; returns the number of the node. */
unsigned exanet_topology_node(ExanetTopology *topo, uint32_t coord);
/* Adds a cable between the next free ports of nodes @a and @b. */
void exanet_topology_cable(ExanetTopology *topo, unsigned a, unsigned b);
/*
 * Returns the port of node @a at cable number @nth (from 0 on) of the cables between @a
 * and node @b.
 */
unsigned exanet_topology_port(const ExanetTopology *topo, unsigned a, unsigned b,
                              unsigned nth);
/*
 * Returns the nodes F1 to F4 of one QFDB, with @parallel cables between each two nodes.
 */
ExanetTopology exanet_topology_qfdb(unsigned parallel);
/*
 * Returns a mesh of @x * @y * @z nodes.  With @rings, each dimension of at least 3
 * nodes is a ring.
 */
ExanetTopology exanet_topology_grid(unsigned x, unsigned y, unsigned z,
                                    bool rings);
/*
 * Returns a fat tree with routing tables: @leaves leaf switches with @hosts hosts each,
 * and @spines spine switches, which have a cable to each leaf switch.  The hosts have
 * the first node numbers, leaf by leaf; then follow the leaf switches, then the spine
 * switches.
 */
ExanetTopology exanet_topology_fat_tree(unsigned leaves, unsigned hosts,
                                        unsigned spines);
/*
 * Returns a dragonfly with routing tables: @groups groups of @nodes nodes.  One cable
 * connects each two nodes of a group, and one cable connects each two groups.
 */
ExanetTopology exanet_topology_dragonfly(unsigned groups, unsigned nodes);
/*
 * Returns @x * @y QFDBs.  Their F1s have the same cables between them as the nodes of
 * exanet_topology_grid(@x, @y, 1, @rings).
 */
ExanetTopology exanet_topology_hybrid(unsigned x, unsigned y, bool rings);

typedef struct ExanetNetwork {
    ExanetTopology topo;
    ExanetTest *t[EXANET_NETWORK_NODES];     /* NULL: killed, or an alien */
    ExanetPeer *alien[EXANET_NETWORK_NODES];
    /* exanet_network_settle() does not read the frames that arrive at aliens */
    bool deaf;
    /* counters of each node at the last exanet_network_settle() while the node ran */
    uint64_t count[EXANET_NETWORK_NODES][EXANET_COUNTER_COUNT];
    uint8_t epoch[EXANET_NETWORK_NODES];
    int64_t now;                    /* virtual ns since the start of the network */
    char *dir;
    char *props;
} ExanetNetwork;

/*
 * Starts all nodes, enables the devices and opens contexts, except at nodes in
 * @topo->passes, and waits until all links are up.  @props: properties of all nodes, ""
 * or ",a=b".  The network owns the routing tables of @topo from now on.
 */
ExanetNetwork *exanet_network_start(const ExanetTopology *topo, const char *props);
void exanet_network_stop(ExanetNetwork *f);
/*
 * Kill the QEMU of mortal node @n (kill), and start another QEMU for this node, with
 * another epoch and open contexts (revive).
 */
void exanet_network_kill(ExanetNetwork *f, unsigned n);
void exanet_network_revive(ExanetNetwork *f, unsigned n);
/* Resets the device of node @n, enables the device and opens its contexts again. */
void exanet_network_reset(ExanetNetwork *f, unsigned n);
/*
 * Returns true if the link is up at each port of a running node whose cable leads to a
 * running node or to an alien.
 */
bool exanet_network_linked(ExanetNetwork *f);
/*
 * Advances virtual time in steps of 60 ms until exanet_network_linked() is true.  Fails
 * after WAIT_MS of real time, because sockets of QEMU connect in real time.
 */
void exanet_network_wait_linked(ExanetNetwork *f);
/*
 * Waits in real time until no counter of a running node changes and, unless @f->deaf, no
 * frame arrives at an alien; updates @f->count.  Returns true if a counter has changed or
 * a frame has arrived.  Fails after 120 s.
 */
bool exanet_network_settle(ExanetNetwork *f);
bool exanet_network_step(ExanetNetwork *f, int64_t ns);
/*
 * Advances virtual time by @ns, rounded up to steps of @step ns, and does not settle
 * after a step.  So a frame may arrive some steps after the device has sent the frame.
 * This function is much faster than exanet_network_step(), and accurate enough if cables
 * have a rate.
 */
void exanet_network_pass(ExanetNetwork *f, int64_t ns, int64_t step);
/*
 * Advances virtual time in steps of @ns until @cond, a C expression, is true; fails if
 * @limit ns have passed.
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
/* Sets the faults of port @port of @node, property faultsN with N = @port, to @faults. */
void exanet_network_fault(ExanetNetwork *f, unsigned node, unsigned port,
                          const char *faults);
/*
 * Sets property faultsN to @faults at each end of each cable, if the node there runs; ""
 * removes the faults.  End i gets seed @seed + i, because with one seed for all ends the
 * same packet numbers would meet faults at each end.
 */
void exanet_network_fault_all(ExanetNetwork *f, const char *faults, uint32_t seed);
/* Returns the sum of counter @n (EXANET_CNT_*) of all nodes, from @f->count. */
uint64_t exanet_network_sum(ExanetNetwork *f, unsigned n);
#define exanet_network_total(f, name) exanet_network_sum(f, EXANET_CNT_##name)
/*
 * Prints, for each running node, the counters in @f->count that are not zero, and the
 * status, level and counters of each port with a cable.  A test calls this function
 * before the test fails.
 */
void exanet_network_dump(ExanetNetwork *f);
/* Returns the 64-bit register @reg (EXANET_REG_PORT_*) of port @port of @node. */
uint64_t exanet_network_port_get(ExanetNetwork *f, unsigned node, unsigned port,
                                 unsigned reg);

#endif /* EXANET_NETWORK_H */
