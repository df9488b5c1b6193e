/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: state of the nodes to which the initiator sends.
 */
#ifndef HW_EXANET_SHM_NODE_H
#define HW_EXANET_SHM_NODE_H

#include "qemu/queue.h"
#include "../exanet.h"
#include "../engine/rtt.h"

#define SHM_NODE_SHIFT_MAX 5        /* limit of ShmNode.shift */

/*
 * The initiator's queues of transactions that have a copy to send: QUEUE_SHARED for loads
 * and stores, QUEUE_RDMA for RDMA reads and writes.
 */
enum {
    QUEUE_SHARED,
    QUEUE_RDMA,
    QUEUES,
};

/*
 * A node to which the initiator sends.  @seq must not restart, because a node with ORDER
 * of SHM_CTRL could take a new write with an old number for a copy, and answer without
 * executing the write.
 */
typedef struct ShmNode {
    uint32_t coord;
    /* By class: SEQ of the next request, in the EXANET_SHM_SEQ_BITS low bits. */
    uint16_t seq[EXANET_SHM_CLASSES];
    unsigned path;                  /* number of timeouts, for exanet_shm_node_path() */
    /* By queue: ExanetInitiator.run when a packet to the node last could not leave. */
    uint32_t blocked[QUEUES];
    ExanetRtt rtt;
    /*
     * ExanetInitiator.serial when exanet_transaction_drain() last recorded an RDMA write
     * to this node; 0: none recorded.
     */
    uint64_t drain_serial;
    int64_t used;                   /* ns, when the last transaction began */
    unsigned busy;                  /* number of transactions under way */
    /*
     * Context of the transaction that added this entry, or EXANET_CONTEXTS for no
     * context.  Selects the list of the node until the node is kept.
     */
    uint8_t ctx;
    /*
     * Number of timeouts since the last ACK for a transaction under way or the last
     * reset, at most SHM_NODE_SHIFT_MAX.  In dynamic mode the time limit doubles with
     * each of these timeouts, up to SHM_TIMEOUT.
     */
    uint8_t shift;
    /*
     * A load or store was given up after a timeout; since then no response of the node
     * has arrived, and there was no reset.
     */
    bool dead;
    /*
     * The node has answered a transaction, and counts for the quota of @job.  A kept node
     * stays in the table for longer.
     */
    bool kept;
    uint16_t job;                   /* only of a kept node */
    /*
     * Link in the list of kept nodes, or in the list of nodes of @ctx that are not kept.
     * The begin of a transaction moves the node to the end of its list.
     */
    QTAILQ_ENTRY(ShmNode) next;
} ShmNode;

typedef struct ShmNodes ShmNodes;

/* Returns a new, empty table of nodes; exanet_shm_nodes_free() frees the table. */
ShmNodes *exanet_shm_nodes_new(void);
void exanet_shm_nodes_free(ShmNodes *nodes);
/*
 * Resets the round-trip times, paths and timeouts of all nodes, and marks all nodes as
 * not dead.  Sequence numbers continue, because delayed packets and responses must not
 * match new transactions.
 */
void exanet_shm_nodes_reset(ShmNodes *nodes);
/* Returns the entry of the node at @coord, or NULL if there is no entry. */
ShmNode *exanet_shm_node_find(ShmNodes *nodes, uint32_t coord);
/*
 * Begins a transaction of context @c (EXANET_CONTEXTS: no context) with the node at
 * @coord at time @now (ns).  Returns the node, which the function adds to the table if
 * necessary; the table owns the node.  The function may remove other nodes from the
 * table to make room.  Returns NULL if the table has no room for the node.
 */
ShmNode *exanet_shm_node_begin(ShmNodes *nodes, uint32_t coord, unsigned c,
                               int64_t now);
/* Ends a transaction with @node. */
void exanet_shm_node_end(ShmNode *node);
/*
 * Records that @node has sent a response to a transaction of @job that is under way: the
 * node is kept if the quota of @job has room.  The caller must not record a response that
 * matches no transaction, because any node can send such a response.  May remove other
 * nodes.
 */
void exanet_shm_node_answered(ShmNodes *nodes, ShmNode *node, unsigned job);
/*
 * Returns the path of packets to @node, or 0 if there is no route.  Each timeout of the
 * node selects the next path; the first path follows the last path.
 */
unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node);
/*
 * Returns true if @node is marked as @dead, is another node than this node, and has no
 * route.
 */
bool exanet_shm_node_unreachable(ExanetState *s, const ShmNode *node);
/*
 * Returns the time limit, ns, for an answer of @node, by the registers SHM_TIMEOUT and
 * SHM_TIMEOUT_MODE and, in dynamic mode, by the round-trip times and @shift of @node.
 */
int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node);
/*
 * Adds the round-trip time @ns of a transaction that had only one copy to the statistics
 * of @node.
 */
void exanet_shm_node_sample(ShmNode *node, int64_t ns);

#endif /* HW_EXANET_SHM_NODE_H */
