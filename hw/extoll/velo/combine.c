/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Write-combining buffers; see combine.h. */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "combine.h"

/* Where fragments go. */
typedef struct Out {
    ExtollVeloMsg *msgs;
    unsigned n;
} Out;

/* Returns the bits of all quadwords of @msg. */
static unsigned all_quadwords(const ExtollVeloMsg *msg)
{
    return (1u << msg->quadwords) - 1;
}

/* Returns bit n for each quadword n of @buf that is stored in whole. */
static unsigned quadwords_stored(const ExtollCombineBuffer *buf)
{
    unsigned found = 0;

    for (unsigned q = 0; q < buf->msg.quadwords; q++) {
        if ((buf->stored >> (2 * q) & 3) == 3) {
            found |= 1u << q;
        }
    }
    return found;
}

/* Adds the fragment of @count quadwords from @first on to @out. */
static void fragment(Out *out, const ExtollCombineBuffer *buf, unsigned first,
                     unsigned count, bool end)
{
    ExtollVeloMsg *msg = &out->msgs[out->n++];

    assert(out->n <= EXTOLL_COMBINE_OUT);
    *msg = buf->msg;
    msg->first = first;
    msg->count = count;
    msg->split = count != msg->quadwords;
    msg->end = end;
    memset(msg->data, 0, sizeof(msg->data));
    memcpy(msg->data, buf->msg.data + first * 8, count * 8);
}

/*
 * Adds a fragment for each run of the quadwords @which to @out.  The last fragment is the
 * end of the message if @end.
 */
static void fragments(Out *out, const ExtollCombineBuffer *buf, unsigned which, bool end)
{
    while (which) {
        unsigned first = ctz32(which);
        unsigned count = cto32(which >> first);

        which &= ~(((1u << count) - 1) << first);
        fragment(out, buf, first, count, end && !which);
    }
}

/* Returns the entry of VPID @vpid for the message at @address, or NULL. */
static ExtollCombineLeft *left_find(ExtollCombine *c, unsigned vpid, uint32_t address)
{
    for (unsigned i = 0; i < EXTOLL_COMBINE_LEFT; i++) {
        ExtollCombineLeft *l = &c->left[vpid][i];

        if (l->left && l->address == address) {
            return l;
        }
    }
    return NULL;
}

/*
 * Remembers that quadwords @which of the message at @address have left.  Forgets the
 * oldest such message if there is no room; its rest can never complete.
 */
static void left_add(ExtollCombine *c, unsigned vpid, uint32_t address, unsigned which)
{
    ExtollCombineLeft *oldest = &c->left[vpid][0];

    for (unsigned i = 0; i < EXTOLL_COMBINE_LEFT; i++) {
        ExtollCombineLeft *l = &c->left[vpid][i];

        if (!l->left) {
            oldest = l;
            break;
        }
        if (l->age < oldest->age) {
            oldest = l;
        }
    }
    c->torn += oldest->left != 0;
    *oldest = (ExtollCombineLeft) {
        .address = address, .left = which, .age = c->stores,
    };
}

/*
 * Frees @buf: its whole quadwords leave as fragments.  A half of a quadword cannot leave,
 * so its message is torn.
 */
static void evict(ExtollCombine *c, ExtollCombineBuffer *buf, Out *out)
{
    unsigned vpid = buf->msg.src_vpid;
    unsigned whole = quadwords_stored(buf);
    unsigned left = buf->left | whole;

    fragments(out, buf, whole, false);
    if (ctpop16(buf->stored) != 2 * ctpop8(whole)) {
        c->torn++;
    } else {
        left_add(c, vpid, extoll_velo_address_encode(&buf->msg), left);
    }
    buf->stored = 0;
}

/* Returns the buffer for the message @msg; makes room if there is none. */
static ExtollCombineBuffer *buffer_get(ExtollCombine *c, const ExtollVeloMsg *msg,
                                       Out *out)
{
    ExtollCombineBuffer *bufs = c->buffers[msg->src_vpid];
    uint32_t address = extoll_velo_address_encode(msg);
    ExtollCombineBuffer *use = &bufs[0];
    ExtollCombineLeft *l;

    for (unsigned i = 0; i < EXTOLL_COMBINE_BUFFERS; i++) {
        if (bufs[i].stored && extoll_velo_address_encode(&bufs[i].msg) == address) {
            return &bufs[i];
        }
        if (use->stored && (!bufs[i].stored || bufs[i].age < use->age)) {
            use = &bufs[i];
        }
    }
    if (use->stored) {
        evict(c, use, out);
    }
    *use = (ExtollCombineBuffer) { .msg = *msg, .age = c->stores };
    l = left_find(c, msg->src_vpid, address);
    if (l) {
        use->left = l->left;
        l->left = 0;
    }
    return use;
}

/* Stores @size bytes at @offset of the message in @buf. */
static void buffer_store(ExtollCombine *c, ExtollCombineBuffer *buf, unsigned offset,
                         const uint8_t *value, unsigned size)
{
    unsigned words = ((1u << size / 4) - 1) << offset / 4;
    unsigned quadwords = ((1u << DIV_ROUND_UP(size, 8)) - 1) << offset / 8;

    if (buf->left & quadwords || buf->stored & words) {
        /*
         * A part that is stored, or has left, comes again: this is another message,
         * because a store of the message before is missing.
         */
        c->torn++;
        buf->stored = buf->left = 0;
    }
    memcpy(buf->msg.data + offset, value, size);
    buf->stored |= words;
}

/* Adds the message in @buf, which is complete, to @out, and frees the buffer. */
static void complete(ExtollCombine *c, ExtollCombineBuffer *buf, unsigned stored,
                     Out *out)
{
    unsigned half = buf->msg.quadwords / 2;

    c->whole += buf->msg.quadwords > 1 && !buf->left;
    if (c->split && c->whole >= c->split && !buf->left && half) {
        c->whole = 0;
        fragment(out, buf, 0, half, false);
        fragment(out, buf, half, buf->msg.quadwords - half, true);
    } else {
        fragments(out, buf, stored, true);
    }
    buf->stored = 0;
}

ExtollVeloStatus extoll_combine_store(ExtollCombine *c, uint32_t address,
                                      const uint8_t *value, unsigned size,
                                      ExtollVeloMsg out[EXTOLL_COMBINE_OUT], unsigned *n)
{
    Out o = { .msgs = out };
    ExtollCombineBuffer *buf;
    ExtollVeloStatus status;
    ExtollVeloMsg msg;
    unsigned offset, stored;

    *n = 0;
    status = extoll_velo_address_decode(address, size, &msg, &offset);
    if (status != EXTOLL_VELO_OK) {
        return status;
    }
    c->stores++;
    buf = buffer_get(c, &msg, &o);
    buffer_store(c, buf, offset, value, size);
    stored = quadwords_stored(buf);
    if ((stored | buf->left) == all_quadwords(&buf->msg)) {
        complete(c, buf, stored, &o);
    }
    *n = o.n;
    return EXTOLL_VELO_OK;
}

void extoll_combine_tear(ExtollCombine *c, uint32_t address)
{
    ExtollVeloMsg msg;
    unsigned offset;

    if (extoll_velo_address_decode(address & ~7u, 8, &msg, &offset) != EXTOLL_VELO_OK) {
        return;
    }
    address = extoll_velo_address_encode(&msg);
    for (unsigned i = 0; i < EXTOLL_COMBINE_BUFFERS; i++) {
        ExtollCombineBuffer *buf = &c->buffers[msg.src_vpid][i];

        if (buf->stored && extoll_velo_address_encode(&buf->msg) == address) {
            buf->stored = 0;
            c->torn++;
        }
    }
}

unsigned extoll_combine_drop(ExtollCombine *c, unsigned vpid)
{
    unsigned dropped = 0;

    for (unsigned i = 0; i < EXTOLL_COMBINE_BUFFERS; i++) {
        dropped += c->buffers[vpid][i].stored != 0;
        c->buffers[vpid][i].stored = 0;
    }
    for (unsigned i = 0; i < EXTOLL_COMBINE_LEFT; i++) {
        dropped += c->left[vpid][i].left != 0;
        c->left[vpid][i].left = 0;
    }
    return dropped;
}
