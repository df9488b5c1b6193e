/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network of machines with one exanet-pci each, or with a test as one of its
 * nodes, and the virtual time that they share.
 *
 * Time stands still until the network is quiet: exanet_network_step() lets every frame
 * arrive and all that follows from it happen before it returns.  So a busy machine
 * makes a test slower, and nothing else.
 */
#ifndef EXANET_NETWORK_H
#define EXANET_NETWORK_H

#include "device.h"

#define EXANET_NETWORK_NODES 16
#define EXANET_NETWORK_CABLES 64
#define EXANET_NETWORK_CONTEXTS 2    /* open on every node, of one job */

/* A cable between two nodes and the ports that it is in. */
typedef struct ExanetCable {
    uint8_t node[2];
    uint8_t port[2];
} ExanetCable;

typedef struct ExanetTopology {
    unsigned nodes;
    unsigned cables;
    uint32_t coord[EXANET_NETWORK_NODES];
    uint8_t ports[EXANET_NETWORK_NODES];     /* used so far */
    bool mortal[EXANET_NETWORK_NODES];       /* may be killed, neighbours may not */
    bool alien[EXANET_NETWORK_NODES];        /* is the test itself, by one cable */
    bool passes[EXANET_NETWORK_NODES];       /* only passes on, is never enabled */
    GString *routes[EXANET_NETWORK_NODES];   /* its table, if it has one; owned */
    ExanetCable cable[EXANET_NETWORK_CABLES];
    unsigned dims[3];               /* nodes of the rings X, Y, Z; 1: no ring */
} ExanetTopology;

uint32_t exanet_coord(unsigned x, unsigned y, unsigned z, unsigned offset);
/* Returns the number of the new node. */
unsigned exanet_topology_node(ExanetTopology *topo, uint32_t coord);
/* Takes the next free port of each node. */
void exanet_topology_cable(ExanetTopology *topo, unsigned a, unsigned b);
/* The port of @a in which cable number @nth to @b is. */
unsigned exanet_topology_port(const ExanetTopology *topo, unsigned a, unsigned b,
                              unsigned nth);
/* F1 to F4 of one QFDB, each two with @parallel cables between them. */
ExanetTopology exanet_topology_qfdb(unsigned parallel);
/* Nodes of one FPGA; @rings: dimensions of 3 and more are closed. */
ExanetTopology exanet_topology_grid(unsigned x, unsigned y, unsigned z,
                                    bool rings);
/*
 * Leaves with @hosts each under @spines, by tables; hosts come first, leaf by leaf, then
 * leaves, then spines.
 */
ExanetTopology exanet_topology_fat_tree(unsigned leaves, unsigned hosts,
                                        unsigned spines);
/*
 * Groups of nodes that are all joined, by tables; one cable between each two groups.
 */
ExanetTopology exanet_topology_dragonfly(unsigned groups, unsigned nodes);
/* QFDBs, whose F1s have the cables between them. */
ExanetTopology exanet_topology_hybrid(unsigned x, unsigned y, bool rings);

typedef struct ExanetNetwork {
    ExanetTopology topo;
    ExanetTest *t[EXANET_NETWORK_NODES];     /* NULL: killed, or an alien */
    ExanetPeer *alien[EXANET_NETWORK_NODES];
    bool deaf;                      /* aliens do not read */
    uint64_t count[EXANET_NETWORK_NODES][EXANET_COUNTER_COUNT];  /* when settled */
    uint8_t epoch[EXANET_NETWORK_NODES];
    int64_t now;                    /* virtual ns since the start */
    char *dir;
    char *props;
} ExanetNetwork;

/*
 * Starts all nodes and waits for all links; @props: of all, "" or ",a=b".  Takes what
 * @topo owns.
 */
ExanetNetwork *exanet_network_start(const ExanetTopology *topo, const char *props);
void exanet_network_stop(ExanetNetwork *f);
/* Ends a mortal node as a crash does, and starts another one in its place. */
void exanet_network_kill(ExanetNetwork *f, unsigned n);
void exanet_network_revive(ExanetNetwork *f, unsigned n);
/* Resets a node and opens its contexts again. */
void exanet_network_reset(ExanetNetwork *f, unsigned n);
/* Whether all links are up that have a living node at either end. */
bool exanet_network_linked(ExanetNetwork *f);
/* Waits for that; sockets of QEMU connect in real time. */
void exanet_network_wait_linked(ExanetNetwork *f);
/*
 * Waits until no node gets or sends anything more; refreshes @f->count.  Returns
 * whether anything moved.
 */
bool exanet_network_settle(ExanetNetwork *f);
bool exanet_network_step(ExanetNetwork *f, int64_t ns);
/*
 * Lets @ns pass in steps of @step without looking whether all is quiet between them:
 * then every cable has a latency of up to two steps.  Much quicker, and good enough
 * where cables have a rate.
 */
void exanet_network_pass(ExanetNetwork *f, int64_t ns, int64_t step);
/* Steps of @ns until @cond, a C expression, at most @limit ns of virtual time. */
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
 * Sets the faults of all ends of cables; "" ends them.  End i has @seed + i, because with
 * one seed the same packets of each end would meet faults, or none would.
 */
void exanet_network_fault_all(ExanetNetwork *f, const char *faults, uint32_t seed);
/* Sum of counter @n (EXANET_CNT_) of all nodes, when settled last. */
uint64_t exanet_network_sum(ExanetNetwork *f, unsigned n);
#define exanet_network_total(f, name) exanet_network_sum(f, EXANET_CNT_##name)
/* Prints all counters that are not zero, for whoever has to find a fault. */
void exanet_network_dump(ExanetNetwork *f);
/* Register @reg (EXANET_REG_PORT_) of a port, 64 bits. */
uint64_t exanet_network_port_get(ExanetNetwork *f, unsigned node, unsigned port,
                                 unsigned reg);

#endif /* EXANET_NETWORK_H */
