/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a link as bytes; see link-stream.h.  All numbers are big-endian.
 *
 *   1            1: the link resumes; 0: it begins anew, and only counters follow
 *   2 2 2        sequences of ExtollReplayTx: oldest, sent, next
 *   ...          the flits from oldest to before next, as on the cable, without padding
 *   4 4 4        for each VC: room, sent, returned of ExtollCreditTx
 *   2            sequence of ExtollReplayRx: next
 *   ...          for each VC: what has arrived, see in_save()
 *   8 ...        counters
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/control.h"
#include "../base/flit.h"
#include "../base/packet.h"
#include "link-stream.h"

/* Bytes from which extoll_packet_measure() tells the length of any packet. */
#define MEASURE_BYTES (EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME)
/* Bytes of numbers in the state of a link, and of each packet. */
#define LINK_BYTES (64 + 8 * EXTOLL_LINK_COUNTERS)
#define PACKET_BYTES 8

size_t extoll_link_stream_max(uint32_t room)
{
    return LINK_BYTES + (size_t)EXTOLL_WINDOW * EXTOLL_FLIT_MAX +
           EXTOLL_VCS * (size_t)room * (EXTOLL_FLIT_DATA + PACKET_BYTES);
}

/* --- Save -------------------------------------------------------------------- */

static void put(GByteArray *bytes, unsigned size, uint64_t value)
{
    uint8_t raw[8];

    stn_be_p(raw, size, value);
    g_byte_array_append(bytes, raw, size);
}

static void flits_save(const ExtollReplayTx *tx, GByteArray *bytes)
{
    put(bytes, 2, tx->oldest);
    put(bytes, 2, tx->sent);
    put(bytes, 2, tx->next);
    for (uint16_t seq = tx->oldest; seq != tx->next; seq++) {
        const uint8_t *flit = tx->flits[seq % EXTOLL_WINDOW];

        g_byte_array_append(bytes, flit, EXTOLL_FLIT_HEADER +
                            RNIC_GET(EXTOLL_FLIT_BYTES, ldl_le_p(flit)));
    }
}

/*
 * Saves what has arrived in a VC: flits that arrived and left; the number of packets, and
 * length and bytes of each; then the flits of the unfinished packet, and its length and
 * its bytes, or length 0 if this packet will be dropped.
 */
static void in_save(const ExtollLinkRx *in, GByteArray *bytes)
{
    const ExtollArrived *a;
    unsigned packets = 0;

    QSIMPLEQ_FOREACH(a, &in->packets, next) {
        packets++;
    }
    put(bytes, 4, in->credit.arrived);
    put(bytes, 4, in->credit.freed);
    put(bytes, 4, packets);
    QSIMPLEQ_FOREACH(a, &in->packets, next) {
        put(bytes, 2, a->bytes);
        g_byte_array_append(bytes, a->data, a->bytes);
    }
    put(bytes, 1, in->part_flits);
    put(bytes, 2, in->part ? in->part->bytes : 0);
    if (in->part) {
        g_byte_array_append(bytes, in->part->data, in->part->filled);
    }
}

void extoll_link_save(const ExtollLink *l, GByteArray *bytes)
{
    bool resume = l->resume || l->phase == EXTOLL_LINK_OPEN;

    put(bytes, 1, resume);
    if (resume) {
        flits_save(&l->tx, bytes);
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            put(bytes, 4, l->tx_credit[vc].room);
            put(bytes, 4, l->tx_credit[vc].sent);
            put(bytes, 4, l->tx_credit[vc].returned);
        }
        put(bytes, 2, l->rx.next);
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            in_save(&l->in[vc], bytes);
        }
    }
    for (unsigned i = 0; i < EXTOLL_LINK_COUNTERS; i++) {
        put(bytes, 8, l->counter[i]);
    }
}

/* --- Load -------------------------------------------------------------------- */

/* The bytes that are left.  After an error all numbers are 0. */
typedef struct Reader {
    const uint8_t *at;
    size_t left;
    bool bad;
} Reader;

/* Returns the next @size bytes, or NULL if fewer are left. */
static const uint8_t *take(Reader *r, size_t size)
{
    const uint8_t *at = r->at;

    if (r->bad || size > r->left) {
        r->bad = true;
        return NULL;
    }
    r->at += size;
    r->left -= size;
    return at;
}

static uint64_t get(Reader *r, unsigned size)
{
    const uint8_t *at = take(r, size);

    return at ? ldn_be_p(at, size) : 0;
}

/*
 * Returns true if flit @flit may follow @before: all flits of a packet follow each other,
 * and a packet is not too long.  *@run is the number of flits of the packet until now.
 */
static bool flit_follows(const ExtollFlit *flit, const ExtollFlit *before, unsigned *run)
{
    if (flit->first != before->last || (!flit->first && flit->vc != before->vc)) {
        return false;
    }
    *run = flit->first ? 1 : *run + 1;
    return *run <= EXTOLL_PACKET_FLITS;
}

static bool flits_load(ExtollReplayTx *tx, Reader *r)
{
    uint16_t oldest = get(r, 2), sent = get(r, 2), next = get(r, 2);
    unsigned count = (uint16_t)(next - oldest), run = 1;
    ExtollFlit before = { .last = true }, flit;

    if (r->bad || count > EXTOLL_WINDOW || (uint16_t)(sent - oldest) > count) {
        return false;
    }
    tx->oldest = tx->send = tx->sent = tx->next = oldest;
    for (unsigned i = 0; i < count; i++) {
        uint16_t seq = oldest + i;

        if (extoll_flit_decode(r->at, r->left, &flit) != EXTOLL_FLIT_OK ||
            flit.seq != seq) {
            return false;
        }
        /* the first flits of the oldest packet may have been acknowledged */
        if ((i || flit.first) && !flit_follows(&flit, &before, &run)) {
            return false;
        }
        memcpy(extoll_replay_tx_new(tx, &seq), r->at, EXTOLL_FLIT_HEADER + flit.bytes);
        take(r, EXTOLL_FLIT_HEADER + flit.bytes);
        before = flit;
    }
    tx->sent = sent;
    return before.last;
}

static bool credit_load(ExtollCreditTx *credit, Reader *r)
{
    credit->room = get(r, 4);
    credit->sent = get(r, 4);
    credit->returned = get(r, 4);
    return !r->bad && extoll_room_valid(credit->room) &&
           credit->sent - credit->returned <= credit->room;
}

/* Loads @filled bytes of a packet of @bytes bytes.  Returns NULL if it is not valid. */
static ExtollArrived *packet_load(Reader *r, unsigned bytes, unsigned filled)
{
    const uint8_t *data = take(r, filled);
    ExtollPacketStatus status;
    ExtollArrived *a;

    if (!data || !bytes || filled > bytes ||
        extoll_packet_measure(data, MIN(filled, MEASURE_BYTES), &status) != bytes) {
        return NULL;
    }
    a = g_malloc(sizeof(*a) + bytes);
    a->bytes = bytes;
    a->filled = filled;
    memcpy(a->data, data, filled);
    return a;
}

/* Loads the unfinished packet, of which all flits that have arrived are full. */
static bool part_load(ExtollLinkRx *in, Reader *r)
{
    unsigned flits = get(r, 1), bytes = get(r, 2);

    if (flits > EXTOLL_PACKET_FLITS) {
        return false;
    }
    if (bytes) {
        in->part = flits ? packet_load(r, bytes, flits * EXTOLL_FLIT_DATA) : NULL;
        if (!in->part) {
            return false;
        }
    }
    in->part_flits = flits;
    return true;
}

static bool in_load(ExtollLinkRx *in, Reader *r)
{
    uint32_t arrived = get(r, 4), freed = get(r, 4), packets = get(r, 4);
    uint32_t used = arrived - freed, flits = 0;

    if (r->bad || used > in->credit.room || packets > used) {
        return false;
    }
    while (packets--) {
        unsigned bytes = get(r, 2);
        ExtollArrived *a = packet_load(r, bytes, bytes);

        if (!a) {
            return false;
        }
        QSIMPLEQ_INSERT_TAIL(&in->packets, a, next);
        flits += extoll_flits(bytes);
    }
    in->credit.arrived = arrived;
    /* the STATE that follows the START has the count */
    in->credit.freed = in->credit.advertised = freed;
    return part_load(in, r) && !r->bad && flits + in->part_flits == used;
}

/* Loads what only a link has that resumes. */
static bool resume_load(ExtollLink *l, Reader *r)
{
    if (!flits_load(&l->tx, r)) {
        return false;
    }
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        if (!credit_load(&l->tx_credit[vc], r)) {
            return false;
        }
    }
    l->rx.next = get(r, 2);
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        if (!in_load(&l->in[vc], r)) {
            return false;
        }
    }
    l->resume = true;
    return true;
}

bool extoll_link_load(ExtollLink *l, const uint8_t *bytes, size_t len)
{
    Reader r = { .at = bytes, .left = len };
    uint64_t resume = get(&r, 1), counter[EXTOLL_LINK_COUNTERS];
    bool good = resume <= 1 && (!resume || resume_load(l, &r));

    for (unsigned i = 0; i < EXTOLL_LINK_COUNTERS; i++) {
        counter[i] = get(&r, 8);
    }
    good = good && !r.bad && !r.left;
    if (!good) {
        extoll_link_forget(l);
        memset(counter, 0, sizeof(counter));
    }
    memcpy(l->counter, counter, sizeof(counter));
    return good;
}
