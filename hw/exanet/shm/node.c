/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the table of nodes to which the initiator sends.
 */
#include "qemu/osdep.h"
#include "../../core/backoff.h"
#include "../net/net.h"
#include "../exanet.h"
#include "../engine/rtt.h"
#include "internal.h"
#include "node.h"

/*
 * Limits of lists.  The list of nodes that have answered is full with ANSWERED_MAX nodes
 * or more.  The list of a context's nodes that have not answered is full with
 * UNANSWERED_MAX nodes.  Before a new node of the context is added, an old node must be
 * removed from each of the two lists if the list is full.
 */
#define ANSWERED_MAX        16384
#define UNANSWERED_MAX      1024
/*
 * Time, ns, without a new transaction after which a node that has not answered may be
 * removed.
 */
#define ANSWER_NS           (100 * (int64_t)SCALE_MS)
/*
 * Time, ns, without a new transaction after which a node that has answered may be
 * removed.
 */
#define IDLE_NS             (60LL * NANOSECONDS_PER_SECOND)
/* Number of elements of ShmNodes.removed_seq. */
#define REMOVED_SLOTS                16384
#define TIMEOUT_MIN_NS      1000
#define DYNAMIC_MIN_NS      (100 * SCALE_US)

typedef QTAILQ_HEAD(, ShmNode) ShmNodeList;

struct ShmNodes {
    /* key: coordinates; value: ShmNode, owned by the table */
    GHashTable *nodes;
    ShmNodeList answered;
    unsigned answered_count;
    /* Nodes that have not answered, by ShmNode.ctx. */
    ShmNodeList unanswered[EXANET_CONTEXTS + 1];
    unsigned unanswered_count[EXANET_CONTEXTS + 1];
    /*
     * The next sequence numbers of nodes that were removed, by hash of the coordinates.
     */
    uint16_t removed_seq[REMOVED_SLOTS][EXANET_SHM_CLASSES];
};

/* --- The table ------------------------------------------------------------- */

/*
 * Returns the list that has @node, and stores in *@count a pointer to the list's length.
 */
static ShmNodeList *node_list(ShmNodes *nodes, const ShmNode *node,
                              unsigned **count)
{
    *count = node->answered ? &nodes->answered_count :
                              &nodes->unanswered_count[node->ctx];
    return node->answered ? &nodes->answered : &nodes->unanswered[node->ctx];
}

static void node_list_add(ShmNodes *nodes, ShmNode *node)
{
    unsigned *count;
    ShmNodeList *list = node_list(nodes, node, &count);

    ++*count;
    QTAILQ_INSERT_TAIL(list, node, next);
}

static void node_list_remove(ShmNodes *nodes, ShmNode *node)
{
    unsigned *count;
    ShmNodeList *list = node_list(nodes, node, &count);

    --*count;
    QTAILQ_REMOVE(list, node, next);
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
 * Makes room in the table for a new node of context @c, and removes old nodes if
 * necessary.  Returns false if there is no room.  Each context has a list of its own for
 * nodes that have not answered, because a process may name many nodes that do not exist.
 */
static bool node_room(ShmNodes *nodes, unsigned c, int64_t now)
{
    if (nodes->answered_count >= ANSWERED_MAX &&
        !node_evict(nodes, &nodes->answered, now, IDLE_NS)) {
        return false;
    }
    return nodes->unanswered_count[c] < UNANSWERED_MAX ||
           node_evict(nodes, &nodes->unanswered[c], now, ANSWER_NS);
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

void exanet_shm_node_answered(ShmNodes *nodes, ShmNode *node)
{
    if (!node->answered) {
        node_list_remove(nodes, node);
        node->answered = true;
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
    QTAILQ_INIT(&nodes->answered);
    for (unsigned c = 0; c <= EXANET_CONTEXTS; c++) {
        QTAILQ_INIT(&nodes->unanswered[c]);
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
