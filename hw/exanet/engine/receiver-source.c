/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet receiver: nodes that send to this node (sources).
 *
 * A neighbour advertises its epoch by HELLO.  The receiver finds the epoch of a node
 * behind switches in the packets of that node.  Old packets of such a node may arrive by
 * another route after new packets.  So the receiver records the last epochs of each node,
 * and drops packets with a recorded epoch.
 *
 * The source coordinates in a packet may be false.  So the receiver adds a source only
 * when a packet of the node has passed the check of its context.  If there is no room, a
 * new source replaces only a source whose state is not needed any more.  A part of the
 * SOURCES_MAX sources is reserved for each link, so that nodes behind other links cannot
 * use up this part.
 */
#include "qemu/osdep.h"
#include "../exanet.h"
#include "../../link/port.h"
#include "receiver-source.h"
#include "receiver.h"
#include "../base/wire.h"

/*
 * Maximal number of sources, without this node itself.  There is a limit because a source
 * needs about 54 KB.
 */
#define SOURCES_MAX 1024
/*
 * Number of sources that all links share.  The other sources are divided among the links.
 */
#define SOURCES_SHARED (SOURCES_MAX / 2)
/*
 * Time, ns, from the first packet of a source until a new source may replace the source
 * although packets arrive, if the source is not proven [P].
 */
#define UNPROVEN_NS (1 * (int64_t)NANOSECONDS_PER_SECOND)
#define SWEEP_NS (1 * (int64_t)NANOSECONDS_PER_SECOND)

/* Frees all receiver contexts of blocks from node @coord. */
static void source_contexts_drop(ExanetState *s, uint32_t coord)
{
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (s->receiver.ctx[i].valid && s->receiver.ctx[i].src == coord) {
            s->receiver.ctx[i].valid = false;
        }
    }
}

/* Returns the time, ns, after which @src may be replaced if no other packet arrives. */
static int64_t source_end(const ExanetSource *src)
{
    return src->proven ? src->time + EXANET_TID_AGE_NS :
                         MIN(src->time + EXANET_RX_IDLE_NS,
                             src->created + UNPROVEN_NS);
}

static void source_forget(ExanetState *s, ExanetSource *src)
{
    ExanetReceiver *r = &s->receiver;

    source_contexts_drop(s, src->coord);
    r->by_link[src->link]--;
    r->recent = NULL;
    g_hash_table_remove(r->sources, GUINT_TO_POINTER(src->coord));
}

static void source_higher_drop(ExanetSource *src)
{
    if (src->higher) {
        src->higher_free(src->higher);
        src->higher = NULL;
    }
}

void exanet_source_free(gpointer value)
{
    ExanetSource *src = value;

    source_higher_drop(src);
    g_free(src);
}

/* Returns the number of sources that are reserved for each link. */
static unsigned link_share(ExanetState *s)
{
    unsigned ports = 0;

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        ports++;
    }
    return SOURCES_SHARED / ports;
}

/* Returns true if there is room for a source with its first packet from @link. */
static bool link_room(ExanetState *s, unsigned link)
{
    ExanetReceiver *r = &s->receiver;
    unsigned share = link_share(s), shared = 0;

    if (link == EXANET_LINKS || r->by_link[link] < share) {
        return true;    /* EXANET_LINKS: only one source, this node itself, has no link */
    }
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        shared += r->by_link[i] > share ? r->by_link[i] - share : 0;
    }
    return shared < SOURCES_SHARED;
}

/*
 * Removes the oldest source that is not needed, to make room for a source from @link.
 * Does not remove a source in the reserved part of another link.  Returns false if no
 * source was removed.  The check of all sources is slow, so after a check without a
 * result the function does nothing until full_until[@link], at most EXANET_RX_IDLE_NS
 * later.
 */
static bool source_evict(ExanetState *s, unsigned link)
{
    ExanetReceiver *r = &s->receiver;
    ExanetSource *src, *oldest = NULL;
    unsigned share = link_share(s);
    GHashTableIter iter;

    if (s->time < r->full_until[link]) {
        return false;
    }
    r->full_until[link] = s->time + EXANET_RX_IDLE_NS;
    g_hash_table_iter_init(&iter, r->sources);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&src)) {
        if (src->link != link && r->by_link[src->link] <= share) {
            continue;               /* @src is in the reserved part of its link */
        }
        if (source_end(src) >= s->time) {
            r->full_until[link] = MIN(r->full_until[link], source_end(src) + 1);
        } else if (!oldest || src->time < oldest->time) {
            oldest = src;
        }
    }
    if (!oldest) {
        return false;
    }
    r->full_until[link] = 0;
    source_forget(s, oldest);
    return true;
}

static gboolean source_expired(gpointer key, gpointer value, gpointer opaque)
{
    const ExanetSource *src = value;
    ExanetState *s = opaque;

    if (rnic_now() - src->time <= EXANET_TID_AGE_NS) {
        return false;
    }
    s->receiver.by_link[src->link]--;
    return true;
}

void exanet_receiver_sweep(ExanetState *s)
{
    ExanetReceiver *r = &s->receiver;

    if (rnic_now() - r->swept < SWEEP_NS) {
        return;
    }
    r->swept = rnic_now();
    r->recent = NULL;
    g_hash_table_foreach_remove(r->sources, source_expired, s);
}

static ExanetSource *source_find(ExanetState *s, uint32_t coord)
{
    ExanetReceiver *r = &s->receiver;

    if (!r->recent || r->recent->coord != coord) {
        r->recent = g_hash_table_lookup(r->sources, GUINT_TO_POINTER(coord));
    }
    return r->recent;
}

static ExanetSource *source_new(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetReceiver *r = &s->receiver;
    ExanetSource *src;

    if (!link_room(s, pkt->link) && !source_evict(s, pkt->link)) {
        return NULL;
    }
    src = g_new0(ExanetSource, 1);
    src->coord = pkt->src;
    src->epoch = pkt->epoch;
    src->link = pkt->link;
    src->created = s->time;
    src->far = s->time - EXANET_TID_AGE_NS;
    r->by_link[src->link]++;
    g_hash_table_insert(r->sources, GUINT_TO_POINTER(src->coord), src);
    r->recent = src;
    return src;
}

/*
 * Sets a new epoch of @src, records the old epoch, and drops the state of all blocks,
 * messages, notifications, loads and stores of @src.
 */
static void source_restart(ExanetState *s, ExanetSource *src, uint8_t epoch)
{
    unsigned i = src->retired_next++ % EXANET_RX_RETIRED;

    src->retired[i].epoch = src->epoch;
    src->retired[i].time = s->time;
    src->retired[i].valid = true;
    src->epoch = epoch;
    source_contexts_drop(s, src->coord);
    memset(src->tomb, 0, sizeof(src->tomb));
    memset(src->refused, 0, sizeof(src->refused));
    memset(src->message, 0, sizeof(src->message));
    memset(src->reports, 0, sizeof(src->reports));
    source_higher_drop(src);
}

/* Returns true if @epoch of @src was replaced within the last EXANET_TID_AGE_NS. */
static bool source_retired(ExanetState *s, const ExanetSource *src,
                           uint8_t epoch)
{
    for (unsigned i = 0; i < EXANET_RX_RETIRED; i++) {
        if (src->retired[i].valid && src->retired[i].epoch == epoch &&
            s->time - src->retired[i].time < EXANET_TID_AGE_NS) {
            return true;
        }
    }
    return false;
}

void exanet_source_refuse(ExanetState *s, const ExanetPacket *pkt)
{
    switch (pkt->type) {
    case EXANET_TYPE_WRITE:
        if (pkt->first) {
            exanet_receiver_ack(s, pkt, EXANET_RESP_NO_CONTEXT);
        }
        break;
    case EXANET_TYPE_NOTIFY:
    case EXANET_TYPE_READ_REQ:
        exanet_receiver_ack(s, pkt, EXANET_RESP_FULL);
        break;
    }
}

/*
 * Returns true if a link to the source of @pkt is up, and the last HELLO of this
 * neighbour advertised another epoch than the epoch in @pkt.
 */
static bool epoch_denied(ExanetState *s, const ExanetPacket *pkt)
{
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        if (p->up && p->peer == pkt->src && p->peer_epoch != pkt->epoch) {
            return true;
        }
    }
    return false;
}

/*
 * Returns the source of @pkt.  @src is the source that the lookup found.  If @src is
 * NULL, the function adds a source.  A new epoch in @pkt restarts @src.  Returns NULL if
 * @pkt must be dropped, because of epoch_denied() or because there is no room for a
 * source.  In both cases the function has counted @pkt; without room it has also called
 * @refuse.
 */
static ExanetSource *source_take(ExanetState *s, const ExanetPacket *pkt,
                                 void (*refuse)(ExanetState *s,
                                                const ExanetPacket *pkt),
                                 ExanetSource *src)
{
    if (src && likely(src->epoch == pkt->epoch)) {
        return src;
    }
    if (epoch_denied(s, pkt)) {
        exanet_count(s, RX_OLD_GEN);
        return NULL;
    }
    if (src) {
        source_restart(s, src, pkt->epoch);
        return src;
    }
    src = source_new(s, pkt);
    if (!src) {
        exanet_count(s, RX_CTX_FULL);
        refuse(s, pkt);
    }
    return src;
}

bool exanet_source_find(ExanetState *s, const ExanetPacket *pkt, bool passed,
                        void (*refuse)(ExanetState *s, const ExanetPacket *pkt),
                        ExanetSource **source)
{
    ExanetSource *src = source_find(s, pkt->src);

    *source = NULL;
    if (src && unlikely(src->epoch != pkt->epoch) &&
        source_retired(s, src, pkt->epoch)) {
        exanet_count(s, RX_OLD_GEN);
        return false;
    }
    if (!passed) {
        *source = src && src->epoch == pkt->epoch ? src : NULL;
        return true;
    }
    src = source_take(s, pkt, refuse, src);
    if (!src) {
        return false;
    }
    src->time = s->time;
    src->far = pkt->far ? s->time : src->far;
    *source = src;
    return true;
}

/*
 * @epoch is the present epoch of the node, because no switch delays a HELLO.  So a record
 * of @epoch as an old epoch is not valid any more.  A HELLO alone adds no source, because
 * a neighbour could fill the table with false sources.
 */
void exanet_receiver_new_epoch(ExanetState *s, uint32_t coord, uint8_t epoch)
{
    ExanetSource *src = source_find(s, coord);

    if (!src) {
        return;
    }
    if (src->epoch != epoch) {
        source_restart(s, src, epoch);
    }
    for (unsigned i = 0; i < EXANET_RX_RETIRED; i++) {
        if (src->retired[i].epoch == epoch) {
            src->retired[i].valid = false;
        }
    }
}

bool exanet_receiver_elsewhere(ExanetState *s, uint32_t coord, uint8_t *epoch)
{
    const ExanetSource *src = source_find(s, coord);

    if (!src || rnic_now() - src->far >= EXANET_TID_AGE_NS) {
        return false;
    }
    *epoch = src->epoch;
    return true;
}
