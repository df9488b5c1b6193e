/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packetizer: nodes to which contexts send messages.
 *
 * A receiver distinguishes a new message of a channel from an old message by the distance
 * between their generations.  A receiver gets only the messages to its own node, so the
 * packetizer counts generations for each node.  The packetizer should keep the entry of a
 * node longer than the receiver of that node keeps its record of the channel, even if the
 * context gets another owner or the device is reset.  Otherwise a new entry could begin
 * with a wrong generation, and the receiver could ack a message of that generation
 * without delivering the message.
 *
 * Only a node that has received a message can have a record of the message's generation.
 * So, if no copy of any message to a node had a route, the packetizer removes the entry
 * of the node when the last message to the node ends.  When room is needed, the
 * packetizer removes other entries that have not been used for ANSWER_NS, or, if the node
 * has answered or its answers cannot be identified, for FORGOTTEN_NS.  Each job has a
 * quota, because a process must leave room for the next process of its context.
 */
#include "qemu/osdep.h"
#include "../exanet.h"
#include "job-quota.h"
#include "packetizer-peer.h"

#define GENERATIONS         (RNIC_GET(EXANET_PTID_GEN, ~0ULL) + 1)
#define GENERATIONS_SKIPPED (GENERATIONS / 4)
/* Maximal number of entries of a context, and of those entries with PktzPeer.unknown. */
#define PEERS_MAX           4096
#define PEERS_UNKNOWN       1024
/* Time, ns, in which answers are expected after the last message to a node has ended. */
#define ANSWER_NS           (100 * (int64_t)SCALE_MS)
/* A receiver ignores its record of a channel after half of this time without packets. */
#define FORGOTTEN_NS        (60LL * NANOSECONDS_PER_SECOND)

/* A node to which a context sends, or has sent. */
typedef struct PktzPeer {
    /* ns, time when a message to the node last began or ended */
    int64_t used;
    uint32_t coord;                 /* coordinates of the node */
    uint16_t job;                   /* job that pays in ExanetPktzPeers.held */
    uint8_t messages;               /* messages to the node that have not ended */
    bool reached;                   /* a copy of a message had a route */
    bool answered;                  /* the node has answered a message */
    /*
     * Answers of the node cannot be identified, because a message to another node has the
     * generation of a message to this node.
     */
    bool unknown;
    uint16_t unknown_job;           /* job that pays in ExanetPktzPeers.unknown */
    /*
     * generation of the last message to the node, by channel; before the first message,
     * the generation of the channel when the entry was made
     */
    uint8_t gen[EXANET_PKTZ_CHANNELS];
} PktzPeer;

/* The nodes to which one context has sent. */
struct ExanetPktzPeers {
    GHashTable *nodes;              /* coordinates -> PktzPeer, owned */
    int64_t sweep;                  /* ns, peers_sweep() does nothing before this time */
    ExanetJobQuota held;            /* counts all entries */
    ExanetJobQuota unknown;         /* counts the entries with PktzPeer.unknown */
    /* destination of the last message, by channel and generation; UINT32_MAX: none */
    uint32_t asked[EXANET_PKTZ_CHANNELS][GENERATIONS];
};

static ExanetPktzPeers *peers_of(ExanetState *s, unsigned n)
{
    return s->packetizer.peers[n / EXANET_PKTZ_CHANNELS];
}

static PktzPeer *peer_find(ExanetPktzPeers *p, uint32_t coord)
{
    return g_hash_table_lookup(p->nodes, GUINT_TO_POINTER(coord));
}

/* --- Memory for entries ----------------------------------------------------- */

/*
 * Returns the time, ns, from which on the entry @peer is not needed.  Returns INT64_MAX
 * while a message to @peer has not ended, otherwise INT64_MIN if no copy had a route.
 */
static int64_t peer_end_time(const PktzPeer *peer)
{
    if (peer->messages) {
        return INT64_MAX;
    }
    if (!peer->reached) {
        return INT64_MIN;
    }
    return peer->used + (peer->answered || peer->unknown ? FORGOTTEN_NS : ANSWER_NS);
}

/* Subtracts @peer from the quotas.  The caller removes @peer from the table. */
static void peer_uncount(ExanetPktzPeers *p, const PktzPeer *peer)
{
    exanet_job_quota_give(&p->held, peer->job);
    if (peer->unknown) {
        exanet_job_quota_give(&p->unknown, peer->unknown_job);
    }
}

/* Removes all entries that are not needed at time @now; does nothing before p->sweep. */
static void peers_sweep(ExanetPktzPeers *p, int64_t now)
{
    GHashTableIter iter;
    PktzPeer *peer;

    if (now < p->sweep) {
        return;
    }
    p->sweep = now + ANSWER_NS;
    g_hash_table_iter_init(&iter, p->nodes);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&peer)) {
        int64_t end = peer_end_time(peer);

        if (end <= now) {
            peer_uncount(p, peer);
            g_hash_table_iter_remove(&iter);
        } else {
            p->sweep = MIN(p->sweep, end);
        }
    }
}

/*
 * Returns true if quota @q of at most @max entries has room for an entry of @job.  If
 * there is no room, first removes entries that are not needed.
 */
static bool quota_room(ExanetPktzPeers *p, const ExanetJobQuota *q, unsigned job,
                       unsigned max, int64_t now)
{
    if (!exanet_job_quota_room(q, job, max)) {
        peers_sweep(p, now);
    }
    return exanet_job_quota_room(q, job, max);
}

/*
 * Adds an entry for node @coord to the table of the context of channel @n, with the
 * present generation of each channel of the context, and returns the entry.  Returns NULL
 * if the quota of @job is used up.
 */
static PktzPeer *peer_new(ExanetState *s, unsigned n, uint32_t coord,
                          unsigned job)
{
    unsigned c = n / EXANET_PKTZ_CHANNELS;
    ExanetPktzPeers *p = peers_of(s, n);
    PktzPeer *peer;

    if (!quota_room(p, &p->held, job, PEERS_MAX, rnic_now())) {
        return NULL;
    }
    peer = g_new0(PktzPeer, 1);
    peer->coord = coord;
    peer->job = job;
    for (unsigned i = 0; i < EXANET_PKTZ_CHANNELS; i++) {
        peer->gen[i] = s->packetizer.channel[c * EXANET_PKTZ_CHANNELS + i].gen;
    }
    exanet_job_quota_take(&p->held, job);
    g_hash_table_insert(p->nodes, GUINT_TO_POINTER(coord), peer);
    return peer;
}

/* --- Generations ------------------------------------------------------------- */

/*
 * Returns the node to which the last message of channel @k with generation @gen went, if
 * the first answer of this node may still arrive and the node is not @peer.  Otherwise
 * returns NULL.  If @peer used the generation too, this answer could not be identified,
 * because an answer does not contain its source.  Returns NULL also if this node has
 * answered before or has PktzPeer.unknown.
 */
static PktzPeer *gen_holder(ExanetPktzPeers *p, unsigned k, uint8_t gen,
                            const PktzPeer *peer, int64_t now)
{
    PktzPeer *other = peer_find(p, p->asked[k][gen]);

    return other && other != peer && other->reached && !other->answered &&
           !other->unknown && now - other->used < ANSWER_NS ? other : NULL;
}

/*
 * Stores in *@next the generation of the next message of channel @k to @peer, for a
 * process of @job: one of the next GENERATIONS_SKIPPED generations, but not @last.  @last
 * is the generation of the channel's last message, to any node, and the ack of that
 * message may still arrive.  The function skips generations for which gen_holder()
 * returns another node.
 *
 * If no generation is left, the function shares the generation of such a node, if
 * possible of a node with an entry of another job.  An answer of this node can then not
 * be identified, so the entry of the node stays as long as if the node had answered.
 * Returns false if the quota of @job for entries with PktzPeer.unknown is used up.
 */
static bool gen_next(ExanetPktzPeers *p, const PktzPeer *peer, unsigned k,
                     unsigned job, uint8_t last, int64_t now, uint8_t *next)
{
    PktzPeer *holder = NULL;

    for (unsigned i = 1; i <= GENERATIONS_SKIPPED; i++) {
        uint8_t gen = (peer->gen[k] + i) % GENERATIONS;
        PktzPeer *other;

        if (gen == last) {
            continue;
        }
        other = gen_holder(p, k, gen, peer, now);
        if (!other) {
            *next = gen;
            return true;
        }
        if (!holder || (holder->job == job && other->job != job)) {
            holder = other;
            *next = gen;
        }
    }
    if (!quota_room(p, &p->unknown, job, PEERS_UNKNOWN, now)) {
        return false;
    }
    holder->unknown = true;
    holder->unknown_job = job;
    exanet_job_quota_take(&p->unknown, job);
    return true;
}

/* --- Messages ---------------------------------------------------------------- */

/*
 * Ends a message to @peer.  Removes and frees @peer after its last message if no copy of
 * any message had a route.
 */
static void peer_put(ExanetPktzPeers *p, PktzPeer *peer, int64_t now)
{
    peer->used = now;
    peer->messages--;
    if (!peer->messages && !peer->reached) {
        peer_uncount(p, peer);
        g_hash_table_remove(p->nodes, GUINT_TO_POINTER(peer->coord));
        return;
    }
    p->sweep = MIN(p->sweep, peer_end_time(peer));
}

bool exanet_pktz_peer_begin(ExanetState *s, unsigned n, uint32_t coord,
                            uint8_t last, uint8_t *gen)
{
    unsigned c = n / EXANET_PKTZ_CHANNELS, k = n % EXANET_PKTZ_CHANNELS;
    unsigned job = exanet_context_job(s, c);
    ExanetPktzPeers *p = peers_of(s, n);
    PktzPeer *peer = peer_find(p, coord) ?: peer_new(s, n, coord, job);
    int64_t now = rnic_now();

    if (!peer) {
        return false;
    }
    peer->messages++;
    if (!gen_next(p, peer, k, job, last, now, gen)) {
        peer_put(p, peer, now);
        return false;
    }
    peer->used = now;
    peer->gen[k] = *gen;
    p->asked[k][*gen] = coord;
    return true;
}

void exanet_pktz_peer_sent(ExanetState *s, unsigned n, uint32_t coord)
{
    PktzPeer *peer = peer_find(peers_of(s, n), coord);

    assert(peer);
    peer->reached = true;
}

void exanet_pktz_peer_end(ExanetState *s, unsigned n, uint32_t coord)
{
    ExanetPktzPeers *p = peers_of(s, n);
    PktzPeer *peer = peer_find(p, coord);

    assert(peer && peer->messages);
    peer_put(p, peer, rnic_now());
}

/*
 * Returns the node that may still answer the message of generation @gen of channel @n, or
 * NULL.
 */
static PktzPeer *peer_asked(ExanetState *s, unsigned n, uint8_t gen)
{
    ExanetPktzPeers *p = peers_of(s, n);
    unsigned k = n % EXANET_PKTZ_CHANNELS;
    PktzPeer *peer = peer_find(p, p->asked[k][gen]);

    return peer && peer->reached && peer->gen[k] == gen &&
           (peer->messages || rnic_now() - peer->used < ANSWER_NS) ? peer : NULL;
}

bool exanet_pktz_peer_asked(ExanetState *s, unsigned n, uint8_t gen,
                            uint32_t *coord)
{
    const PktzPeer *peer = peer_asked(s, n, gen);

    if (peer) {
        *coord = peer->coord;
    }
    return peer;
}

void exanet_pktz_peer_answered(ExanetState *s, unsigned n, uint8_t gen)
{
    PktzPeer *peer = peer_asked(s, n, gen);

    if (peer) {
        peer->answered = true;
    }
}

/* --- Init and fini ---------------------------------------------------------- */

void exanet_pktz_peers_init(ExanetState *s)
{
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        ExanetPktzPeers *p = g_new0(ExanetPktzPeers, 1);

        p->nodes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        p->sweep = INT64_MIN;
        memset(p->asked, 0xff, sizeof(p->asked));   /* UINT32_MAX: no node */
        s->packetizer.peers[c] = p;
    }
}

void exanet_pktz_peers_fini(ExanetState *s)
{
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        g_hash_table_destroy(s->packetizer.peers[c]->nodes);
        g_clear_pointer(&s->packetizer.peers[c], g_free);
    }
}
