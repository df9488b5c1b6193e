/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VELO requester; see requester.h. */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "../extoll.h"
#include "requester.h"

/* Messages in the FIFO up to which a store always has room. */
#define ROOM (EXTOLL_VELO_FIFO - EXTOLL_COMBINE_OUT)
#define RESERVE (EXTOLL_VELO_QUEUE - EXTOLL_COMBINE_OUT)

/* Returns true if the function @cap, a bit of CAP, is there. */
static bool has_cap(const ExtollState *s, uint64_t cap)
{
    return extoll_reg_get64(s, EXTOLL_REG_CAP) & cap;
}

static bool enabled(const ExtollState *s)
{
    return extoll_reg_get32(s, EXTOLL_REG_CTRL) & EXTOLL_CTRL_ENABLE;
}

bool extoll_velo_is_staged(const ExtollState *s, uint32_t address)
{
    unsigned vpid = RNIC_GET(EXTOLL_VELO_ADDR_OWN, address);

    return has_cap(s, EXTOLL_CAP_TXIO) &&
           extoll_reg_get32(s, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_TXIO);
}

/* --- FIFO ------------------------------------------------------------------- */

bool extoll_velo_has_room(const ExtollState *s)
{
    return s->velo.fifo.count <= ROOM;
}

bool extoll_velo_has_reserve(const ExtollState *s)
{
    return s->velo.fifo.count <= RESERVE;
}

/* Adds @msg to the FIFO, with the fields that software cannot choose. */
static void message_queue(ExtollState *s, const ExtollVeloMsg *msg)
{
    ExtollVeloRequester *v = &s->velo;
    ExtollVeloMsg *slot = &v->queue[rnic_fifo_push(&v->fifo, EXTOLL_VELO_QUEUE)];

    *slot = *msg;
    slot->src_node = extoll_reg_get32(s, EXTOLL_REG_NODE);
    if (has_cap(s, EXTOLL_CAP_PROT)) {
        slot->prot = extoll_reg_get32(s, EXTOLL_END_POINT(msg->src_vpid) +
                                      EXTOLL_REG_PROT);
    }
    extoll_count(s, VELO_PIO);
    extoll_count(s, HTAX_POSTED);
    if (msg->split && msg->end) {
        extoll_count(s, VELO_SPLIT);
    }
    rnic_loop_schedule(&s->loop);
}

const ExtollVeloMsg *extoll_velo_head(const ExtollState *s)
{
    const ExtollVeloRequester *v = &s->velo;

    return v->fifo.count && enabled(s) ? &v->queue[v->fifo.head] : NULL;
}

void extoll_velo_pop(ExtollState *s, bool sent)
{
    ExtollVeloRequester *v = &s->velo;
    bool full = !extoll_velo_has_room(s);

    rnic_fifo_pop(&v->fifo, EXTOLL_VELO_QUEUE);
    v->sent += sent;
    s->counter[EXTOLL_CNT_VELO_TRIP] += sent;
    if (full && extoll_velo_has_room(s)) {
        qemu_cond_broadcast(&v->cond);
    }
}

/* --- Stores ----------------------------------------------------------------- */

bool extoll_velo_vpid_is_enabled(const ExtollState *s, unsigned vpid)
{
    uint32_t vpids = extoll_reg_get32(s, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE);

    return enabled(s) && vpids & 1u << vpid;
}

bool extoll_velo_is_enabled(const ExtollState *s, uint32_t address)
{
    return extoll_velo_vpid_is_enabled(s, RNIC_GET(EXTOLL_VELO_ADDR_OWN, address));
}

bool extoll_velo_may_send(ExtollState *s, uint32_t address)
{
    if (!extoll_velo_is_enabled(s, address)) {
        extoll_count(s, VELO_NO_VPID);
        return false;
    }
    return true;
}

static void store_combine(ExtollState *s, uint32_t address, const uint8_t *value,
                          unsigned size)
{
    ExtollCombine *c = &s->velo.combine;
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    uint64_t torn = c->torn;
    unsigned n;

    if (extoll_combine_store(c, address, value, size, out, &n) != EXTOLL_VELO_OK) {
        extoll_count(s, VELO_BAD_STORE);
    }
    s->counter[EXTOLL_CNT_VELO_TORN] += c->torn - torn;
    for (unsigned i = 0; i < n; i++) {
        message_queue(s, &out[i]);
    }
}

static void store_stage(ExtollState *s, uint32_t address, const uint8_t *value,
                        unsigned size)
{
    ExtollVeloStaged *staged;
    ExtollVeloMsg msg;
    unsigned offset, words;

    if (extoll_velo_address_decode(address, size, &msg, &offset) != EXTOLL_VELO_OK) {
        extoll_count(s, VELO_BAD_STORE);
        return;
    }
    staged = &s->velo.staged[msg.src_vpid];
    address = extoll_velo_address_encode(&msg);
    words = ((1u << size / 4) - 1) << offset / 4;
    if (!staged->stored) {
        *staged = (ExtollVeloStaged) { .address = address };
    } else if (staged->address != address || staged->stored & words) {
        *staged = (ExtollVeloStaged) { .address = address, .torn = true };
    }
    staged->stored |= words;
    memcpy(staged->data + offset, value, size);
}

void extoll_velo_store(ExtollState *s, uint32_t address, const uint8_t *value,
                       unsigned size)
{
    if (extoll_velo_is_staged(s, address)) {
        store_stage(s, address, value, size);
    } else {
        store_combine(s, address, value, size);
    }
}

/* Returns true if @staged is the whole message @msg. */
static bool is_whole(const ExtollVeloStaged *staged, const ExtollVeloMsg *msg)
{
    return !staged->torn && staged->address == extoll_velo_address_encode(msg) &&
           staged->stored == (1u << 2 * msg->quadwords) - 1;
}

enum extoll_txio extoll_velo_commit(ExtollState *s, uint32_t address)
{
    ExtollVeloStaged *staged =
        &s->velo.staged[RNIC_GET(EXTOLL_VELO_ADDR_OWN, address)];
    ExtollVeloMsg msg;
    unsigned offset;

    if (!extoll_velo_is_staged(s, address) ||
        extoll_velo_address_decode(address, 8, &msg, &offset) != EXTOLL_VELO_OK ||
        !is_whole(staged, &msg)) {
        *staged = (ExtollVeloStaged) { 0 };
        extoll_count(s, TXIO_TORN);
        return EXTOLL_TXIO_TORN;
    }
    if (!extoll_velo_has_room(s)) {
        extoll_count(s, TXIO_FULL);
        return EXTOLL_TXIO_FULL;
    }
    memcpy(msg.data, staged->data, msg.quadwords * 8);
    *staged = (ExtollVeloStaged) { 0 };
    message_queue(s, &msg);
    return EXTOLL_TXIO_ACCEPTED;
}

void extoll_velo_tear(ExtollState *s, uint32_t address)
{
    uint64_t torn = s->velo.combine.torn;

    extoll_combine_tear(&s->velo.combine, address);
    s->counter[EXTOLL_CNT_VELO_TORN] += s->velo.combine.torn - torn;
}

void extoll_velo_disable(ExtollState *s, uint32_t vpids)
{
    while (vpids) {
        unsigned vpid = ctz32(vpids);

        vpids &= vpids - 1;
        s->counter[EXTOLL_CNT_VELO_TORN] += extoll_combine_drop(&s->velo.combine, vpid);
        s->velo.staged[vpid] = (ExtollVeloStaged) { 0 };
    }
}

/* --- Life ------------------------------------------------------------------- */

void extoll_velo_requester_init(ExtollState *s)
{
    qemu_cond_init(&s->velo.cond);
}

void extoll_velo_requester_fini(ExtollState *s)
{
    qemu_cond_destroy(&s->velo.cond);
}

void extoll_velo_requester_reset(ExtollState *s)
{
    ExtollVeloRequester *v = &s->velo;

    v->combine = (ExtollCombine) { .split = s->split };
    memset(v->staged, 0, sizeof(v->staged));
    v->fifo = (RNicFifo) { 0 };
    v->sent = 0;
    qemu_cond_broadcast(&v->cond);
}
