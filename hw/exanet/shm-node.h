/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: what the initiator knows of the nodes that it sends to.
 */
#ifndef HW_EXANET_SHM_NODE_H
#define HW_EXANET_SHM_NODE_H

#include "shm.h"

/* What is to be sent, in the order of issue. */
enum {
    QUEUE_SHARED,
    QUEUE_RDMA,
    QUEUES,
};

/* A node that was sent to; kept for its numbers. */
typedef struct ShmNode {
    uint32_t coord;
    uint16_t seq[EXANET_SHM_CLASSES];   /* of the next one */
    unsigned path;                  /* counts on when there is no answer */
    uint32_t blocked[QUEUES];       /* turn in which its way was not open */
    int64_t srtt, rttvar;           /* ns; 0: not known */
    uint64_t doubt;                 /* a serial; see rdma_doubt() */
    uint8_t shift;                  /* time-outs since it answered */
    bool dead;                      /* given up, and not heard since */
} ShmNode;

/* What is known of node @coord; NULL when there are too many. */
ShmNode *exanet_shm_node_get(GHashTable *nodes, uint32_t coord);
/* The path of packets to @node: another one after each time-out. */
unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node);
/* It did not answer, and no way leads there. */
bool exanet_shm_node_lost(ExanetState *s, const ShmNode *node);
/* How long an answer may take, ns. */
int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node);
/* A first copy was answered after @ns. */
void exanet_shm_node_sample(ShmNode *node, int64_t ns);
/* Numbers go on: late packets and responses must not fit new ones. */
void exanet_shm_nodes_reset(GHashTable *nodes);

#endif /* HW_EXANET_SHM_NODE_H */
