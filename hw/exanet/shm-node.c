/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the nodes that the initiator sends to.
 */
#include "qemu/osdep.h"
#include "shm-node.h"

#define NODES_MAX           16384
#define TIMEOUT_MIN_NS      1000
#define DYNAMIC_MIN_NS      (100 * SCALE_US)

ShmNode *exanet_shm_node_get(GHashTable *nodes, uint32_t coord)
{
    gpointer key = GUINT_TO_POINTER(coord);
    ShmNode *node = g_hash_table_lookup(nodes, key);

    if (!node && g_hash_table_size(nodes) < NODES_MAX) {
        node = g_new0(ShmNode, 1);
        node->coord = coord;
        g_hash_table_insert(nodes, key, node);
    }
    return node;
}

unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node)
{
    bool order;
    unsigned cables = exanet_crossbar_paths(s, node->coord, &order);

    return cables ? exanet_path_nth(cables, order, node->path) : 0;
}

bool exanet_shm_node_lost(ExanetState *s, const ShmNode *node)
{
    bool order;

    return node->dead && node->coord != s->node &&
           !exanet_crossbar_paths(s, node->coord, &order);
}

int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node)
{
    int64_t limit = (uint64_t)exanet_shm_get32(s, EXANET_REG_SHM_TIMEOUT) *
                    EXANET_SHM_CYCLE_PS / 1000;
    int64_t ns;

    limit = MAX(limit, TIMEOUT_MIN_NS);
    if (!node->srtt || exanet_shm_get32(s, EXANET_REG_SHM_TIMEOUT_MODE) !=
        EXANET_SHM_TIMEOUT_DYNAMIC) {
        return limit;
    }
    ns = MAX(node->srtt + 4 * node->rttvar, DYNAMIC_MIN_NS);
    return MIN(ns << node->shift, limit);
}

void exanet_shm_node_sample(ShmNode *node, int64_t ns)
{
    ns = MAX(ns, 1);
    if (!node->srtt) {
        node->srtt = ns;
        node->rttvar = ns / 2;
        return;
    }
    node->rttvar += (ABS(ns - node->srtt) - node->rttvar) / 4;
    node->srtt = MAX(node->srtt + (ns - node->srtt) / 8, 1);
}

void exanet_shm_nodes_reset(GHashTable *nodes)
{
    GHashTableIter iter;
    ShmNode *node;

    if (g_hash_table_size(nodes) == NODES_MAX) {
        g_hash_table_remove_all(nodes);
    }
    g_hash_table_iter_init(&iter, nodes);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&node)) {
        node->dead = false;
        node->srtt = 0;
        node->shift = 0;
        node->path = 0;
    }
}
