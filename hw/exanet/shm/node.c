/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the table of nodes to which the initiator sends.
 */
#include "qemu/osdep.h"
#include "../../core/backoff.h"
#include "../net/net.h"
#include "../exanet.h"
#include "../engine/job-quota.h"
#include "../engine/rtt.h"
#include "internal.h"
#include "node.h"

/*
 * Limits of lists.  The list of kept nodes has at most KEPT_MAX nodes, of which a job has
 * a quota.  The list of a context's other nodes is full with UNKEPT_MAX nodes; before a
 * new node of the context is added, an old node must be removed from the full list.
 */
#define KEPT_MAX            16384
#define UNKEPT_MAX          1024
/*
 * Time, ns, without a new transaction after which a node that is not kept may be removed.
 */
#define ANSWER_NS           (100 * (int64_t)SCALE_MS)
/* Time, ns, without a new transaction after which a kept node may be removed. */
#define IDLE_NS             (60LL * NANOSECONDS_PER_SECOND)
/* Number of elements of ShmNodes.removed_seq. */
#define REMOVED_SLOTS                16384
#define TIMEOUT_MIN_NS      1000
#define DYNAMIC_MIN_NS      (100 * SCALE_US)

typedef QTAILQ_HEAD(, ShmNode) ShmNodeList;

struct ShmNodes {
    /* key: coordinates; value: ShmNode, owned by the table */
    GHashTable *nodes;
    ShmNodeList kept;
    ExanetJobQuota quota;           /* counts @kept */
    /* Nodes that are not kept, by ShmNode.ctx. */
    ShmNodeList unkept[EXANET_CONTEXTS + 1];
    unsigned unkept_count[EXANET_CONTEXTS + 1];
    /*
     * The next sequence numbers of nodes that were removed, by hash of the coordinates.
     */
    uint16_t removed_seq[REMOVED_SLOTS][EXANET_SHM_CLASSES];
};

/* --- The table ------------------------------------------------------------- */

/* Adds @node to the end of its list. */
static void node_list_add(ShmNodes *nodes, ShmNode *node)
{
    if (node->kept) {
        exanet_job_quota_take(&nodes->quota, node->job);
        QTAILQ_INSERT_TAIL(&nodes->kept, node, next);
    } else {
        nodes->unkept_count[node->ctx]++;
        QTAILQ_INSERT_TAIL(&nodes->unkept[node->ctx], node, next);
    }
}

static void node_list_remove(ShmNodes *nodes, ShmNode *node)
{
    if (node->kept) {
        exanet_job_quota_give(&nodes->quota, node->job);
        QTAILQ_REMOVE(&nodes->kept, node, next);
    } else {
        nodes->unkept_count[node->ctx]--;
        QTAILQ_REMOVE(&nodes->unkept[node->ctx], node, next);
    }
}

/*
 * Returns the element of @removed_seq for the node at @coord.  A new entry of the node
 * begins with these sequence numbers.
 */
static uint16_t *node_removed_seq(ShmNodes *nodes, uint32_t coord)
{
    return nodes->removed_seq[(coord ^ coord >> 14) % REMOVED_SLOTS];
}

/* Stores the sequence numbers of @node in @removed_seq.  Removes and frees @node. */
static void node_remove(ShmNodes *nodes, ShmNode *node)
{
    memcpy(node_removed_seq(nodes, node->coord), node->seq, sizeof(node->seq));
    node_list_remove(nodes, node);
    g_hash_table_remove(nodes->nodes, GUINT_TO_POINTER(node->coord));
}

/*
 * Removes the first node of @list that has no transaction under way, and returns true.
 * Returns false if there is no such node.  Also returns false, without an effect, if this
 * node, or an earlier node of @list, began a transaction less than @ns ago.
 */
static bool node_evict(ShmNodes *nodes, ShmNodeList *list, int64_t now,
                       int64_t ns)
{
    ShmNode *node;

    QTAILQ_FOREACH(node, list, next) {
        if (now - node->used < ns) {
            return false;
        }
        if (!node->busy) {
            node_remove(nodes, node);
            return true;
        }
    }
    return false;
}

/*
 * Makes room in the table for a new node of context @c, and removes an old node if
 * necessary.  Returns false if there is no room.  Each context has a list of its own,
 * because a process may name many nodes that do not exist.
 */
static bool node_room(ShmNodes *nodes, unsigned c, int64_t now)
{
    return nodes->unkept_count[c] < UNKEPT_MAX ||
           node_evict(nodes, &nodes->unkept[c], now, ANSWER_NS);
}

/*
 * Makes room for another kept node of @job, and removes idle nodes if necessary.  Returns
 * false if the quota of @job is used up.  Without the quota, a process with an accomplice
 * that answers for many nodes could fill the list.
 */
static bool kept_room(ShmNodes *nodes, unsigned job, int64_t now)
{
    while (!exanet_job_quota_room(&nodes->quota, job, KEPT_MAX)) {
        if (!node_evict(nodes, &nodes->kept, now, IDLE_NS)) {
            return false;
        }
    }
    return true;
}

ShmNode *exanet_shm_node_find(ShmNodes *nodes, uint32_t coord)
{
    return g_hash_table_lookup(nodes->nodes, GUINT_TO_POINTER(coord));
}

ShmNode *exanet_shm_node_begin(ShmNodes *nodes, uint32_t coord, unsigned c,
                               int64_t now)
{
    ShmNode *node = exanet_shm_node_find(nodes, coord);

    if (node) {
        node_list_remove(nodes, node);
    } else if (!node_room(nodes, c, now)) {
        return NULL;
    } else {
        node = g_new0(ShmNode, 1);
        node->coord = coord;
        node->ctx = c;
        memcpy(node->seq, node_removed_seq(nodes, coord), sizeof(node->seq));
        g_hash_table_insert(nodes->nodes, GUINT_TO_POINTER(coord), node);
    }
    node->used = now;
    node->busy++;
    node_list_add(nodes, node);
    return node;
}

void exanet_shm_node_end(ShmNode *node)
{
    assert(node->busy);
    node->busy--;
}

void exanet_shm_node_answered(ShmNodes *nodes, ShmNode *node, unsigned job)
{
    if (!node->kept && kept_room(nodes, job, rnic_now())) {
        node_list_remove(nodes, node);
        node->kept = true;
        node->job = job;
        node_list_add(nodes, node);
    }
}

/* --- One node -------------------------------------------------------------- */

unsigned exanet_shm_node_path(ExanetState *s, const ShmNode *node)
{
    bool order;
    unsigned cables = exanet_router_paths(s, node->coord, &order);

    return cables ? exanet_path_nth(cables, order, node->path) : 0;
}

bool exanet_shm_node_unreachable(ExanetState *s, const ShmNode *node)
{
    bool order;

    return node->dead && node->coord != s->node &&
           !exanet_router_paths(s, node->coord, &order);
}

int64_t exanet_shm_node_timeout(ExanetState *s, const ShmNode *node)
{
    int64_t limit = (uint64_t)exanet_shm_get32(s, EXANET_REG_SHM_TIMEOUT) *
                    EXANET_SHM_CYCLE_PS / 1000;
    int64_t ns;

    limit = MAX(limit, TIMEOUT_MIN_NS);
    if (!node->rtt.mean || exanet_shm_get32(s, EXANET_REG_SHM_TIMEOUT_MODE) !=
        EXANET_SHM_TIMEOUT_DYNAMIC) {
        return limit;
    }
    ns = MAX(exanet_rtt_timeout(&node->rtt), DYNAMIC_MIN_NS);
    return rnic_backoff(ns, node->shift, SHM_NODE_SHIFT_MAX, limit);
}

void exanet_shm_node_sample(ShmNode *node, int64_t ns)
{
    exanet_rtt_sample(&node->rtt, ns);
}

/* --- Init and fini ----------------------------------------------------------- */

ShmNodes *exanet_shm_nodes_new(void)
{
    ShmNodes *nodes = g_new0(ShmNodes, 1);

    nodes->nodes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    QTAILQ_INIT(&nodes->kept);
    for (unsigned c = 0; c <= EXANET_CONTEXTS; c++) {
        QTAILQ_INIT(&nodes->unkept[c]);
    }
    return nodes;
}

void exanet_shm_nodes_free(ShmNodes *nodes)
{
    g_hash_table_destroy(nodes->nodes);
    g_free(nodes);
}

void exanet_shm_nodes_reset(ShmNodes *nodes)
{
    GHashTableIter iter;
    ShmNode *node;

    g_hash_table_iter_init(&iter, nodes->nodes);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&node)) {
        node->dead = false;
        node->rtt = (ExanetRtt) { 0 };
        node->shift = 0;
        node->path = 0;
    }
}
