/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: what the initiator knows of the nodes that it sends to.
 */
#ifndef HW_EXANET_SHM_NODE_H
#define HW_EXANET_SHM_NODE_H

#include "qemu/queue.h"
#include "../exanet.h"
#include "../engine/rtt.h"

/* What is to be sent, in the order of issue. */
enum {
    QUEUE_SHARED,
    QUEUE_RDMA,
    QUEUES,
};

/*
 * Node that the initiator has sent to.  Its sequence numbers must never restart,
 * because the node would take a store with an old number for a copy, and would answer
 * without executing the store.
 */
typedef struct ShmNode {
    uint32_t coord;
    uint16_t seq[EXANET_SHM_CLASSES];   /* of the next one */
    unsigned path;                  /* counts on when there is no answer */
    uint32_t blocked[QUEUES];       /* turn in which its way was not open */
    ExanetRtt rtt;
    uint64_t doubt;                 /* a serial; see exanet_transaction_doubt() */
    int64_t used;                   /* ns, time of the last transaction's begin */
    unsigned busy;                  /* transactions under way */
    uint8_t ctx;                    /* owner context until the first answer */
    uint8_t shift;                  /* time-outs since it answered */
    bool dead;                      /* given up, and not heard since */
    bool answered;
    QTAILQ_ENTRY(ShmNode) next;     /* in the order of @used */
} ShmNode;

typedef struct ShmNodes ShmNodes;

ShmNodes *exanet_shm_nodes_new(void);
void exanet_shm_nodes_free(ShmNodes *nodes);
/*
 * Resets the nodes, but not their numbers, because late packets and responses must not
 * match new transactions.
 */
void exanet_shm_nodes_reset(ShmNodes *nodes);
/* Returns node @coord, or NULL if it is unknown. */
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
 * Notes that @node has sent a response to a transaction under way.  Other responses do
 * not count, because any node can send them.
 */
void exanet_shm_node_answered(ShmNodes *nodes, ShmNode *node);
/* Returns the path of packets to @node.  The path changes after each time-out. */
unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node);
/* Returns true if @node did not answer, and if there is no route to @node. */
bool exanet_shm_node_lost(ExanetState *s, const ShmNode *node);
/* Returns the time limit for an answer, ns. */
int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node);
/* Notes that a first copy was answered after @ns. */
void exanet_shm_node_sample(ShmNode *node, int64_t ns);

#endif /* HW_EXANET_SHM_NODE_H */
