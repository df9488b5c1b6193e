/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: state of the nodes that the initiator sends to.
 */
#ifndef HW_EXANET_SHM_NODE_H
#define HW_EXANET_SHM_NODE_H

#include "qemu/queue.h"
#include "../exanet.h"
#include "../engine/rtt.h"

/* Queues of packets to send, in the order of issue. */
enum {
    QUEUE_SHARED,
    QUEUE_RDMA,
    QUEUES,
};

/*
 * A node to which the initiator has sent.  Its sequence numbers must never restart,
 * because the node would regard a store with an old number as a copy, and would answer
 * without executing the store.
 */
typedef struct ShmNode {
    uint32_t coord;
    uint16_t seq[EXANET_SHM_CLASSES];   /* sequence number of the next request */
    unsigned path;                  /* number of timeouts; selects the path */
    uint32_t blocked[QUEUES];       /* run in which no packet of the queue could leave */
    ExanetRtt rtt;
    /* Serial of the last transaction before a drain; see exanet_transaction_drain(). */
    uint64_t drain_serial;
    int64_t used;                   /* ns, begin of the last transaction */
    unsigned busy;                  /* transactions under way */
    uint8_t ctx;                    /* owner context until the first answer */
    uint8_t shift;                  /* timeouts since the last ACK; doubles the limit */
    bool dead;                      /* did not answer, and has sent no response since */
    bool answered;                  /* the node has answered a transaction */
    QTAILQ_ENTRY(ShmNode) next;     /* in the order of @used */
} ShmNode;

typedef struct ShmNodes ShmNodes;

ShmNodes *exanet_shm_nodes_new(void);
void exanet_shm_nodes_free(ShmNodes *nodes);
/*
 * Resets round-trip times, paths and timeouts of all nodes, but not their sequence
 * numbers, because delayed packets and responses must not match new transactions.
 */
void exanet_shm_nodes_reset(ShmNodes *nodes);
/* Returns the entry of the node at @coord, or NULL if there is no entry. */
ShmNode *exanet_shm_node_find(ShmNodes *nodes, uint32_t coord);
/*
 * Begins a transaction of context @c with node @coord at time @now (ns); returns NULL if
 * the table has no room for the node.
 */
ShmNode *exanet_shm_node_begin(ShmNodes *nodes, uint32_t coord, unsigned c,
                               int64_t now);
/* Ends a transaction with @node. */
void exanet_shm_node_end(ShmNode *node);
/*
 * Records that @node has sent a response to a transaction under way.  Other responses
 * do not count, because any node can send them.
 */
void exanet_shm_node_answered(ShmNodes *nodes, ShmNode *node);
/* Returns the path of packets to @node.  The path changes after each timeout. */
unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node);
/* Returns true if @node, another node, did not answer and there is no route to @node. */
bool exanet_shm_node_unreachable(ExanetState *s, const ShmNode *node);
/* Returns the time limit for an answer, ns. */
int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node);
/* Adds the round-trip time @ns of a transaction that had only one copy. */
void exanet_shm_node_sample(ShmNode *node, int64_t ns);

#endif /* HW_EXANET_SHM_NODE_H */
