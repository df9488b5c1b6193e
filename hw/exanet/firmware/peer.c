/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware's model: peers, the nodes to which a context sends, with generations of
 * TIDs, round-trip times and paths.  Each context has a table of its own, in which each
 * job has a quota, so that a process cannot use up the entries of other processes.
 */
#include "qemu/osdep.h"
#include "../net/net.h"
#include "../exanet.h"
#include "internal.h"
#include "../engine/job-quota.h"
#include "../engine/receiver.h"
#include "../engine/rtt.h"

#define FW_PEERS_MAX 2048           /* maximal number of peers of a context */
#define FW_BEHIND_MAX (FW_GENERATIONS / 2 - 1)
/*
 * Time without a packet of a source, ns, after which a receiver uses no old state of the
 * source.
 */
#define FW_RECEIVER_AGE_NS (2 * EXANET_TID_AGE_NS)
/*
 * Assumed limit of the time, ns, until a copy that a later copy has overtaken arrives or
 * is lost [P].
 */
#define FW_STRAY_NS (100 * (int64_t)SCALE_MS)
/* Length of blocks, bytes, below which losses do not reduce the length [P]. */
#define FW_BLOCK_MIN 1024
/* Number of successive blocks without another copy after which the length doubles [P]. */
#define FW_BLOCK_CLEAN 64
/* From this number of losses of a block on, each loss can halve the length [P]. */
#define FW_LOST_REPEATEDLY 2

/* --- Paths ------------------------------------------------------------------- */

/* Returns path @n, modulo the number of paths, as fields EXANET_PATH_*. */
static unsigned fw_path_nth(const FwPaths *paths, unsigned n)
{
    return exanet_path_nth(paths->cables, paths->count > paths->cables, n);
}

/* Returns the numbers of paths to @peer; both are 0 if there is no route. */
static FwPaths fw_paths(ExanetState *s, const FwPeer *peer)
{
    bool order;
    unsigned cables = exanet_router_paths(s, peer->coord, &order);

    return (FwPaths) { .cables = cables, .count = order ? 2 * cables : cables };
}

/*
 * Returns the path to @peer with the fewest bytes under way.  If several paths have
 * equally few bytes, returns the next such path from next_path of @peer on.
 */
static unsigned fw_path_least(FwPeer *peer, const FwPaths *paths)
{
    unsigned best = fw_path_nth(paths, peer->next_path);

    for (unsigned i = 1; i < paths->count; i++) {
        unsigned path = fw_path_nth(paths, peer->next_path + i);

        if (peer->path[path].bytes < peer->path[best].bytes) {
            best = path;
        }
    }
    return best;
}

/*
 * Returns the path that FW_MULTIPATH chooses for the next block of @t, and advances
 * next_path of @peer.  If @peer has fewer than two paths, returns the path that the user
 * requested.
 */
static unsigned fw_path_first(const ExanetFirmware *fw, const FwTransfer *t,
                              FwPeer *peer, const FwPaths *paths)
{
    unsigned path;

    if (paths->count < 2) {
        return t->path;
    }
    switch (fw->multipath) {
    case EXANET_FW_PATH_LEAST:
        path = fw_path_least(peer, paths);
        break;
    case EXANET_FW_PATH_ROUND_ROBIN:
        path = fw_path_nth(paths, peer->next_path);
        break;
    default:
        path = t->multipath ? fw_path_nth(paths, peer->next_path) : t->path;
    }
    peer->next_path = (peer->next_path + 1) % paths->count;
    return path;
}

void exanet_fw_path_next(ExanetState *s, FwBlock *b)
{
    FwPaths paths = fw_paths(s, b->peer);
    unsigned n = b->path & EXANET_PATH_CABLE;

    if (paths.count < 2) {
        return;
    }
    n = n % paths.cables + (b->path & EXANET_PATH_ORDER ? paths.cables : 0);
    b->peer->path[b->path].bytes -= b->len;
    b->path = fw_path_nth(&paths, n + 1);
    b->peer->path[b->path].bytes += b->len;
}

/* --- Peers ----------------------------------------------------------------- */

/*
 * Returns a pointer to FwPeer.first_gen for a new peer @coord of context @c.  Peers with
 * the same hash of their coordinates share the value.
 */
static uint8_t *fw_peer_slot(ExanetFirmware *fw, unsigned c, uint32_t coord)
{
    return &fw->peers_gen[c][coord * 0x9e3779b1u / (UINT32_MAX / FW_PEER_SLOTS + 1)];
}

/*
 * Returns true if the entry of @peer is still needed, because blocks are under way, or
 * because the peer may have recorded generations of ended blocks.  The entry of a peer
 * that has not answered is usually needed for a shorter time, because otherwise a process
 * that sends to many nodes that do not exist would leave a full table to the next
 * process.
 */
static bool fw_peer_needed(const ExanetFirmware *fw, const FwPeer *peer)
{
    int64_t age = fw->now - peer->used;

    return peer->blocks || (peer->routed && age <= (peer->answered ?
        FW_RECEIVER_AGE_NS : MAX(FW_STRAY_NS, 2 * fw_timeout_ns(fw, peer))));
}

/*
 * Subtracts @peer, which the caller removes, from the quota of the job.  If the peer has
 * not answered, although a route existed, stores the last generation of its blocks as
 * first_gen of a later entry for the same coordinates.  The peer may exist nevertheless,
 * because acks may be lost, and the later entry must not repeat generations that the peer
 * may have recorded.
 */
static void fw_peer_forget(ExanetFirmware *fw, unsigned c, const FwPeer *peer)
{
    if (peer->routed && !peer->answered) {
        unsigned last = 0;

        for (unsigned i = 0; i < FW_TIDS; i++) {
            last = MAX(last, (peer->tid[i].gen - peer->first_gen) % FW_GENERATIONS);
        }
        *fw_peer_slot(fw, c, peer->coord) = (peer->first_gen + last) % FW_GENERATIONS;
    }
    exanet_job_quota_give(&fw->peers_held[c], peer->job);
}

/* Removes all peers of context @c that are not needed any more. */
static void fw_peers_sweep(ExanetFirmware *fw, unsigned c)
{
    GHashTableIter iter;
    FwPeer *peer;

    fw->recent[c] = NULL;
    g_hash_table_iter_init(&iter, fw->peers[c]);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&peer)) {
        if (!fw_peer_needed(fw, peer)) {
            fw_peer_forget(fw, c, peer);
            g_hash_table_iter_remove(&iter);
        }
    }
}

/* Returns the peer @coord of context @c, or NULL if the table has no such peer. */
static FwPeer *fw_peer_find(ExanetFirmware *fw, unsigned c, uint32_t coord)
{
    FwPeer *recent = fw->recent[c];

    return recent && recent->coord == coord ? recent :
           g_hash_table_lookup(fw->peers[c], GUINT_TO_POINTER(coord));
}

/*
 * Adds a new peer @coord of context @c, and returns the peer.  If the quota of the
 * context's job is used up, first removes all peers of @c that are not needed.  Returns
 * NULL if the quota is still used up after that.
 */
static FwPeer *fw_peer_new(ExanetState *s, ExanetFirmware *fw, unsigned c,
                           uint32_t coord)
{
    unsigned job = exanet_context_job(s, c);
    FwPeer *peer;

    if (!exanet_job_quota_room(&fw->peers_held[c], job, FW_PEERS_MAX)) {
        fw_peers_sweep(fw, c);
    }
    if (!exanet_job_quota_room(&fw->peers_held[c], job, FW_PEERS_MAX)) {
        return NULL;
    }
    peer = g_new0(FwPeer, 1);
    peer->coord = coord;
    peer->job = job;
    peer->first_gen = *fw_peer_slot(fw, c, coord);
    for (unsigned i = 0; i < FW_TIDS; i++) {
        peer->tid[i].gen = peer->first_gen;
    }
    exanet_job_quota_take(&fw->peers_held[c], job);
    g_hash_table_insert(fw->peers[c], GUINT_TO_POINTER(coord), peer);
    return peer;
}

FwPeer *exanet_fw_peer(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                       FwPaths *paths)
{
    uint32_t coord = RNIC_GET(EXANET_GVA_COORD, t->dst);
    FwPeer *peer = fw_peer_find(fw, t->ctx, coord) ?:
                   fw_peer_new(s, fw, t->ctx, coord);

    if (!peer) {
        return NULL;
    }
    fw->recent[t->ctx] = peer;
    peer->used = fw->now;
    *paths = fw_paths(s, peer);
    return peer;
}

/* --- Generations ----------------------------------------------------------- */

/* Returns the record of @tid for @peer. */
static FwTidRecord *fw_record(FwPeer *peer, unsigned tid)
{
    return &peer->tid[tid % FW_TIDS];
}

/*
 * Returns the generation of the last block of @tid if that block went to another node
 * than @peer, otherwise FW_GENERATIONS.  The next block, which goes to @peer, must have
 * another generation, because an ack does not name the node that sent the ack, and a
 * delayed ack of the last block could be valid for the next block.
 */
static unsigned fw_gen_taken(const ExanetFirmware *fw, const FwPeer *peer,
                             unsigned tid)
{
    const FwBlock *b = &fw->block[tid];

    return b->len && RNIC_GET(EXANET_GVA_COORD, b->dst) != peer->coord ?
           b->gen : FW_GENERATIONS;
}

/*
 * Returns the distance, 0 to 2, of the next block's generation from @gen of @r.  @taken:
 * the result of fw_gen_taken().
 */
static unsigned fw_gen_step(const FwTidRecord *r, unsigned taken)
{
    if (r->seq && r->gen != taken) {
        return 0;
    }
    return (r->gen + 1) % FW_GENERATIONS == taken ? 2 : 1;
}

/*
 * A receiver distinguishes a new block from an old block if their generations are less
 * than half of all generations apart.  So a new generation of @tid must not be too far
 * (FW_BEHIND_MAX) from two older generations.  The first is the last generation that the
 * peer has surely recorded, unless the peer has dropped its state (FW_RECEIVER_AGE_NS).
 * The second is the last generation of which a delayed copy may still arrive
 * (FW_STRAY_NS).
 */
bool exanet_fw_record_usable(ExanetFirmware *fw, FwPeer *peer, unsigned tid)
{
    FwTidRecord *r = fw_record(peer, tid);
    unsigned step = fw_gen_step(r, fw_gen_taken(fw, peer, tid));

    if (r->behind + step > FW_BEHIND_MAX && fw->now - r->used > FW_RECEIVER_AGE_NS) {
        r->behind = 0;
    }
    if (r->strays && fw->now - r->used > FW_STRAY_NS) {
        r->strays = 0;
    }
    return !step || (r->behind + step <= FW_BEHIND_MAX &&
                     r->strays + step <= FW_BEHIND_MAX);
}

FwCopy exanet_fw_record_begin(const ExanetFirmware *fw, const FwTransfer *t,
                              FwPeer *peer, const FwPaths *paths, unsigned tid,
                              uint32_t len)
{
    FwTidRecord *r = fw_record(peer, tid);
    unsigned step = fw_gen_step(r, fw_gen_taken(fw, peer, tid));
    unsigned path = fw_path_first(fw, t, peer, paths);

    if (step) {
        r->gen = (r->gen + step) % FW_GENERATIONS;
        r->seq = 0;
        r->behind += step;
        r->strays += r->strays ? step : 0;
    }
    peer->blocks++;
    peer->path[path].bytes += len;
    return (FwCopy) { .seq = r->seq, .gen = r->gen, .path = path };
}

/*
 * Records that the receiver has answered the block with the last generation of @r.
 * @acked: the answer was an ack.  After a nack, the receiver's own record may still have
 * the generation before.
 */
static void fw_record_known(FwTidRecord *r, bool acked)
{
    r->behind = acked ? 0 : MIN(r->behind, 1);
}

/*
 * Records that @b was acked.  If losses have halved the length of blocks to the peer,
 * doubles this length after FW_BLOCK_CLEAN successive blocks whose first copy was acked.
 */
static void fw_copy_acked(ExanetFirmware *fw, const FwBlock *b)
{
    FwPath *path = &b->peer->path[b->path];

    b->peer->answered = true;
    if (b->seq != b->first_seq) {
        b->peer->clean = 0;
    } else if (++b->peer->clean >= FW_BLOCK_CLEAN) {
        b->peer->clean = 0;
        b->peer->shorter -= b->peer->shorter > 0;
    }
    path->last_ack = fw->now;
    path->acked = MAX(path->acked, b->order);
}

void exanet_fw_record_end(ExanetFirmware *fw, FwBlock *b, unsigned tid,
                          bool maybe_done)
{
    FwTidRecord *r = fw_record(b->peer, tid);

    if (b->acked) {
        fw_copy_acked(fw, b);
    }
    r->used = fw->now;
    r->seq = 0;
    if (b->acked || b->gen_known) {
        fw_record_known(r, b->acked);
    }
    if (!b->acked && !maybe_done && b->seq < FW_SEQ_MAX / 2) {
        /* the gap shows the receiver that the next block is no copy of this block */
        r->seq = b->seq + EXANET_SEQ_GAP;
    }
    if (maybe_done || b->seq != b->first_seq) {
        r->strays = 1;
    }
    b->peer->used = fw->now;
    b->peer->routed |= b->routed;
    b->peer->blocks--;
    b->peer->path[b->path].bytes -= b->len;
}

/*
 * Measures the round trip of the first copy of @b by an ack for copy @seq (12 bits).
 * Ignores acks for other copies, acks after the end of the block, and all but the first
 * ack.  A late ack of the first copy counts even if other copies were sent since, because
 * otherwise a round trip longer than the timeout could never be measured.
 */
static void fw_rtt_sample(ExanetFirmware *fw, FwBlock *b, unsigned seq)
{
    if (b->state != FW_FREE && !b->measured && seq == b->first_seq) {
        b->measured = true;
        exanet_rtt_sample(&b->peer->rtt, fw->now - b->sent);
        exanet_rtt_sample(&fw->rtt, fw->now - b->sent);
    }
}

void exanet_fw_record_answer(ExanetFirmware *fw, unsigned tid, unsigned seq, bool acked)
{
    FwBlock *b = &fw->block[tid];

    b->gen_known = true;
    if (acked) {
        fw_rtt_sample(fw, b, seq);
    }
    if (b->state == FW_FREE && b->len) {
        FwPeer *peer = fw_peer_find(fw, tid / FW_TIDS,
                                    RNIC_GET(EXANET_GVA_COORD, b->dst));
        FwTidRecord *r = peer ? fw_record(peer, tid) : NULL;

        if (peer) {
            peer->answered = true;
        }
        if (r && !r->seq && r->gen == b->gen) {
            fw_record_known(r, acked);
        }
    }
}

/* --- Length of blocks ------------------------------------------------------- */

/*
 * Returns FW_BLOCK, halved @shorter times but not below FW_BLOCK_MIN, in bytes.  A
 * smaller FW_BLOCK is not halved.
 */
static uint32_t fw_block_length(const ExanetFirmware *fw, unsigned shorter)
{
    return MAX(fw->block_bytes >> shorter, MIN(FW_BLOCK_MIN, fw->block_bytes));
}

uint32_t exanet_fw_block_bytes(const ExanetState *s, const ExanetFirmware *fw,
                               const FwPeer *peer)
{
    return s->strict ? fw->block_bytes : fw_block_length(fw, peer->shorter);
}

/*
 * Halves the length of later blocks to the peer, down to FW_BLOCK_MIN, from the second
 * loss of @b on, if @b is longer than half of the present length, and if @shorter of @b
 * and of the peer are equal.  So many blocks of one window that are lost together halve
 * the length only once.  Blocks under way keep their length.
 */
void exanet_fw_lost(const ExanetFirmware *fw, FwBlock *b)
{
    FwPeer *peer = b->peer;
    uint32_t bytes = fw_block_length(fw, peer->shorter);

    peer->clean = 0;
    if (b->retries >= FW_LOST_REPEATEDLY && b->len > bytes / 2 &&
        b->shorter == peer->shorter &&
        bytes > MIN(FW_BLOCK_MIN, fw->block_bytes)) {
        peer->shorter++;
    }
}

/* --- Round trips ------------------------------------------------------------ */

int64_t exanet_fw_retry_deferred(const ExanetFirmware *fw, const FwBlock *b)
{
    const FwPath *path = &b->peer->path[b->path];
    int64_t until = path->last_ack + fw_timeout_ns(fw, b->peer);

    return fw->dynamic && path->acked < b->order && until > fw->now ? until : 0;
}
