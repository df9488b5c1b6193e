/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet receiver: the nodes that send to us.
 *
 * A neighbour tells its epoch by HELLO; of a node behind switches we learn it from
 * its packets.  There old packets may come after new ones by another way, so that the
 * last epochs of a node are remembered: what still has one is dropped.
 *
 * Coordinates are what packets say.  Room for new ones is made only by forgetting
 * nodes whose state has no worth any more.
 */
#include "qemu/osdep.h"
#include "receiver.h"

#define SOURCES_MAX 1024

static void source_contexts_drop(ExanetState *s, uint32_t coord)
{
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (s->receiver.ctx[i].valid && s->receiver.ctx[i].src == coord) {
            s->receiver.ctx[i].valid = false;
        }
    }
}

/* Whether nothing that @src may still send could be told from new. */
static bool source_idle(ExanetState *s, const ExanetSource *src)
{
    return s->time - src->time >
           (src->proven ? EXANET_TID_AGE_NS : EXANET_RX_IDLE_NS);
}

/* Forgets one that is of no use; false when there is none. */
static bool source_forget_one(ExanetState *s)
{
    ExanetReceiver *r = &s->receiver;
    ExanetSource *src, *oldest = NULL;
    GHashTableIter iter;

    g_hash_table_iter_init(&iter, r->sources);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&src)) {
        if (source_idle(s, src) && (!oldest || src->time < oldest->time)) {
            oldest = src;
        }
    }
    if (!oldest) {
        return false;
    }
    source_contexts_drop(s, oldest->coord);
    r->recent = NULL;
    g_hash_table_remove(r->sources, GUINT_TO_POINTER(oldest->coord));
    return true;
}

static ExanetSource *source_find(ExanetState *s, uint32_t coord)
{
    ExanetReceiver *r = &s->receiver;

    if (!r->recent || r->recent->coord != coord) {
        r->recent = g_hash_table_lookup(r->sources, GUINT_TO_POINTER(coord));
    }
    return r->recent;
}

static ExanetSource *source_new(ExanetState *s, uint32_t coord, uint8_t epoch)
{
    ExanetReceiver *r = &s->receiver;
    ExanetSource *src;

    if (g_hash_table_size(r->sources) >= SOURCES_MAX &&
        !source_forget_one(s)) {
        return NULL;
    }
    src = g_new0(ExanetSource, 1);
    src->coord = coord;
    src->epoch = epoch;
    src->time = s->time;
    g_hash_table_insert(r->sources, GUINT_TO_POINTER(coord), src);
    r->recent = src;
    return src;
}

/* Retires the epoch of @src: what it sent before has no meaning any more. */
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
    memset(src->report, 0, sizeof(src->report));
    memset(&src->shm, 0, sizeof(src->shm));
}

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

/* Nobody can be remembered any more: whoever sends a block or message may retry. */
static void source_refuse(ExanetState *s, const ExanetPacket *pkt)
{
    exanet_count(s, RX_CTX_FULL);
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
    case EXANET_TYPE_AXI_READ:
    case EXANET_TYPE_AXI_WRITE:
        exanet_shm_refuse(s, pkt, EXANET_RESP_FULL);
        break;
    }
}

ExanetSource *exanet_source_get(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetSource *src = source_find(s, pkt->src);

    if (!src) {
        src = source_new(s, pkt->src, pkt->epoch);
        if (!src) {
            source_refuse(s, pkt);
            return NULL;
        }
    }
    if (unlikely(src->epoch != pkt->epoch)) {
        if (source_retired(s, src, pkt->epoch)) {
            exanet_count(s, RX_OLD_GEN);
            return NULL;
        }
        source_restart(s, src, pkt->epoch);
    }
    src->time = s->time;
    return src;
}

/*
 * HELLO is no packet that can be late: its epoch is the one of now.  A neighbour says
 * who it is as often as it likes, so that nobody is remembered for a HELLO alone.
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
