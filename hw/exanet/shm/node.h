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

/* Queues of transactions that have a copy to send. */
enum {
    QUEUE_SHARED,
    QUEUE_RDMA,
    QUEUES,
};

/*
 * A node to which the initiator sends.  The sequence numbers of a node must not restart,
 * because the node would regard a store with an old number as a copy, and would answer
 * without executing the store.
 */
typedef struct ShmNode {
    uint32_t coord;
    uint16_t seq[EXANET_SHM_CLASSES];   /* sequence number of the next request */
    unsigned path;                  /* number of timeouts; selects the path */
    /* By queue: ExanetInitiator.run of the last run with a blocked packet. */
    uint32_t blocked[QUEUES];
    ExanetRtt rtt;
    /* ExanetInitiator.serial at the last call of exanet_transaction_drain(); 0: none. */
    uint64_t drain_serial;
    int64_t used;                   /* ns, begin of the last transaction */
    unsigned busy;                  /* transactions under way */
    /* Context of the first transaction, or EXANET_CONTEXTS; selects the list. */
    uint8_t ctx;
    /*
     * Timeouts since the last ACK, at most SHM_NODE_SHIFT_MAX; each doubles the dynamic
     * time limit.
     */
    uint8_t shift;
    /* A transaction was given up after timeouts, and no response has arrived since. */
    bool dead;
    bool answered;                  /* the node has answered a transaction */
    /*
     * Link in the list of answered nodes, or of unanswered nodes of @ctx.  The begin of a
     * transaction, and the first answer, add the node at the end of the list.
     */
    QTAILQ_ENTRY(ShmNode) next;
} ShmNode;

typedef struct ShmNodes ShmNodes;

/* Returns a new, empty table of nodes; exanet_shm_nodes_free() frees the table. */
ShmNodes *exanet_shm_nodes_new(void);
void exanet_shm_nodes_free(ShmNodes *nodes);
/*
 * Resets round-trip times, paths and timeouts of all nodes; no node is dead any more.
 * Sequence numbers continue, because delayed packets and responses must not match new
 * transactions.
 */
void exanet_shm_nodes_reset(ShmNodes *nodes);
/* Returns the entry of the node at @coord, or NULL if there is no entry. */
ShmNode *exanet_shm_node_find(ShmNodes *nodes, uint32_t coord);
/*
 * Begins a transaction of context @c (EXANET_CONTEXTS: no context) with node @coord at
 * time @now (ns).  Returns the node, which is added to the table if necessary; the table
 * owns the node.  Another node may be removed to make room.  Returns NULL if there is no
 * room for the node.
 */
ShmNode *exanet_shm_node_begin(ShmNodes *nodes, uint32_t coord, unsigned c,
                               int64_t now);
/* Ends a transaction with @node. */
void exanet_shm_node_end(ShmNode *node);
/*
 * Records that @node has sent a response to a transaction under way.  Other responses
 * do not count, because any node can send such responses.
 */
void exanet_shm_node_answered(ShmNodes *nodes, ShmNode *node);
/*
 * Returns the path of packets to @node, or 0 if there is no route.  Each timeout selects
 * the next path.
 */
unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node);
/*
 * Returns true if @dead of @node is set, @node is not this node, and there is no route to
 * @node.
 */
bool exanet_shm_node_unreachable(ExanetState *s, const ShmNode *node);
/*
 * Returns the time limit, ns, for an answer of @node, by SHM_TIMEOUT and
 * SHM_TIMEOUT_MODE.
 */
int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node);
/* Adds the round-trip time @ns of a transaction that had only one copy. */
void exanet_shm_node_sample(ShmNode *node, int64_t ns);

#endif /* HW_EXANET_SHM_NODE_H */
