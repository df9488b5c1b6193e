/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the target, which executes loads and stores that nodes request.
 *
 *   crossbar --> order --> transaction tables --> memory of a process
 *                                |            --> block RAM
 *                                |            --> devices, in a bottom half
 *   crossbar <-- responses <-----+
 *
 * The target accepts each request from the crossbar at once, and answers FULL if a table
 * or a queue has no room; the node may retransmit the request.  So no request in the
 * crossbar waits for a response, and two nodes cannot block each other.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "aperture.h"
#include "../engine/context.h"
#include "../net/net.h"
#include "../exanet.h"
#include "../engine/fault.h"
#include "../base/irq.h"
#include "../engine/receiver-source.h"
#include "../base/regs.h"
#include "internal.h"
#include "order.h"
#include "target.h"
#include "timing.h"
#include "shm.h"
#include "../base/wire.h"
#include "../trace.h"

/*
 * Limits of responses that wait to be sent, to other nodes and to this node.  The limit
 * for this node exceeds the 160 transactions that this node can have under way.
 */
#define RESPONSES_REMOTE 128
#define RESPONSES_LOCAL 256
#define DEVICE_REQUESTS 64          /* limit of @waiters, requests for the bottom half */
/* Number of loads from devices whose data is kept for later copies of the loads. */
#define DEVICE_LOADS 64
/*
 * Longest assumed delay, ns, of the first copy of a load (RETRIES 0) behind a later copy
 * of the load.  A load with RETRIES 0 that arrives after this time is a new load, even if
 * the SEQ is the same.  A load with other RETRIES gets the data that is kept at any age.
 */
#define DEVICE_DELAY_MAX_NS (100 * SCALE_MS)
#define COUNT_MAX 255               /* maximal number of requests of a table entry */

/* An entry of a table: the unanswered requests of one class and AXI ID of a node. */
typedef struct TargetEntry {
    int64_t time;                   /* ns, when the entry was allocated */
    uint32_t src;                   /* coordinates of the node */
    uint16_t tid;                   /* wire TID of the last request */
    uint16_t pdid;                  /* PDID of the last request */
    /* number of requests whose response was not sent yet; 0: the entry is free */
    uint16_t count;
    unsigned blocked_run;           /* ExanetTarget.run of the last blocked response */
} TargetEntry;

typedef struct TargetResponse {
    QTAILQ_ENTRY(TargetResponse) next;
    TargetEntry *entry;             /* NULL: the response has no entry */
    uint32_t dst;
    /* @dst was this node when the response was queued. */
    bool local;
    uint8_t path;
    uint8_t words;                  /* length of @data in words */
    ExanetTimingPacket timing;
    uint8_t data[EXANET_PACKET_BYTES];
} TargetResponse;

/* A request for a device, which waits for the bottom half. */
typedef struct TargetWaiter {
    ExanetPacket pkt;
    uint8_t payload[EXANET_MTU];
} TargetWaiter;

/*
 * Data of a load from a device.  A copy of the load gets the same data, because a
 * second read could have a side effect.
 */
typedef struct TargetLoad {
    int64_t time;                   /* ns, when the load was executed */
    uint64_t va;
    uint32_t src;
    uint16_t tid;
    uint16_t seq;
    uint16_t pdid;
    uint16_t size;                  /* bytes of @data; 0: the element is unused */
    uint8_t epoch;
    uint8_t data[EXANET_MTU];
} TargetLoad;

struct ExanetTarget {
    TargetEntry *table[2];          /* [0]: table of reads, [1]: table of writes */
    QTAILQ_HEAD(, TargetResponse) responses;
    unsigned remote;                /* number of @responses to other nodes */
    unsigned local;                 /* number of @responses to this node */
    unsigned run;                   /* number of calls of exanet_target_run() */
    GQueue waiters;                 /* requests that wait for @bh, as TargetWaiter */
    TargetLoad load[DEVICE_LOADS];  /* the last loads from devices, a ring */
    unsigned load_next;             /* number of loads stored in @load so far */
    QEMUBH *bh;
    bool busy;                      /* the bottom half executes a request */
    unsigned resets;                /* number of resets of the target */
};

static bool request_write(const ExanetPacket *pkt)
{
    return pkt->type == EXANET_TYPE_AXI_WRITE;
}

static unsigned request_class(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_STID_CLASS, pkt->tid);
}

/* --- Transaction tables ------------------------------------------------------ */

static bool entry_matches(const TargetEntry *e, const ExanetPacket *pkt)
{
    return e->count && e->src == pkt->src &&
           !((e->tid ^ pkt->tid) & (EXANET_STID_CLASS | EXANET_STID_ID));
}

/*
 * Returns the entry with the source, class and AXI ID of @pkt, or else a free entry.
 * Returns NULL if the table has neither, or if the entry of @pkt has COUNT_MAX requests.
 */
static TargetEntry *entry_find(ExanetState *s, const ExanetPacket *pkt)
{
    TargetEntry *table = s->shm->target->table[request_write(pkt)];
    TargetEntry *found = NULL;

    for (unsigned i = 0; i < s->cam_entries; i++) {
        if (entry_matches(&table[i], pkt)) {
            return table[i].count < COUNT_MAX ? &table[i] : NULL;
        }
        if (!table[i].count && !found) {
            found = &table[i];
        }
    }
    return found;
}

/* Counts request @pkt in @e, which entry_find() has returned. */
static void entry_take(ExanetState *s, TargetEntry *e, const ExanetPacket *pkt)
{
    if (e->count) {
        exanet_count(s, SHM_CAM_HIT);
    } else {
        exanet_count(s, SHM_CAM_NEW);
        e->src = pkt->src;
        e->time = s->time;
    }
    e->tid = pkt->tid;
    e->pdid = pkt->pdid;
    e->count++;
}

/* Computes the registers at @at from @e, entry @id of a table; @e is NULL: no entry. */
static void entry_sync(ExanetState *s, unsigned at, const TargetEntry *e,
                       unsigned id, bool write)
{
    uint64_t word = 0, state = 0, age = 0;

    if (e && e->count) {
        unsigned class = RNIC_GET(EXANET_STID_CLASS, e->tid);

        word = EXANET_SHM_CAM_VALID | RNIC_PREP(EXANET_SHM_CAM_SRC, e->src) |
               RNIC_PREP(EXANET_SHM_CAM_TID, e->tid) |
               (class >= EXANET_SHM_RDMA_WRITE ? EXANET_SHM_CAM_RDMA : 0) |
               (write ? EXANET_SHM_CAM_WRITE : 0);
        state = RNIC_PREP(EXANET_SHM_CAM_NEW_ID, id) |
                RNIC_PREP(EXANET_SHM_CAM_COUNT, e->count) |
                RNIC_PREP(EXANET_SHM_CAM_PDID, e->pdid);
        age = rnic_now() - e->time;
    }
    exanet_reg_set64(s, at + EXANET_REG_SHM_CAM, word);
    exanet_reg_set64(s, at + EXANET_REG_SHM_CAM_STATE, state);
    exanet_reg_set64(s, at + EXANET_REG_SHM_CAM_AGE, age);
}

void exanet_target_reg_sync(ExanetState *s)
{
    for (unsigned i = 0; i < 2 * EXANET_SHM_CAMS; i++) {
        bool write = i < EXANET_SHM_CAMS;
        unsigned id = i % EXANET_SHM_CAMS;

        entry_sync(s, EXANET_SHM_CAM(i), id >= s->cam_entries ? NULL :
                   &s->shm->target->table[write][id], id, write);
    }
}

/* --- Responses ----------------------------------------------------------------- */

/* Returns true if the queue of responses has room for a response to node @dst. */
static bool response_room(ExanetState *s, uint32_t dst)
{
    ExanetTarget *t = s->shm->target;

    return dst == s->node ? t->local < RESPONSES_LOCAL :
                            t->remote < RESPONSES_REMOTE;
}

/* Adds @by to @remote or @local of the target, which counts responses such as @r. */
static void response_count(ExanetState *s, const TargetResponse *r, int by)
{
    ExanetTarget *t = s->shm->target;

    *(r->local ? &t->local : &t->remote) += by;
}

/* Removes @r from the queue and frees @r.  Decrements the count of @r->entry, if any. */
static void response_free(ExanetState *s, TargetResponse *r)
{
    QTAILQ_REMOVE(&s->shm->target->responses, r, next);
    response_count(s, r, -1);
    if (r->entry) {
        r->entry->count--;
    }
    g_free(r);
}

/*
 * Queues the response @pkt.  @entry is the entry that has counted the request, or NULL.
 * If the queue is full, passes a response to another node to exanet_net_respond(), and
 * drops a response to this node, because its delivery could call a master while the
 * initiator sends.  The transaction of the dropped response times out.
 */
static void response_send(ExanetState *s, ExanetPacket *pkt, TargetEntry *entry)
{
    bool room = response_room(s, pkt->dst);
    g_autofree TargetResponse *r = g_new(TargetResponse, 1);

    pkt->type = EXANET_TYPE_AXI_RESPONSE;
    pkt->src = s->node;
    pkt->epoch = s->epoch;
    pkt->ttl = EXANET_TTL_MAX;
    pkt->va = EXANET_NI_VA(EXANET_NI_SHM) | (pkt->va & (EXANET_MTU - 1));
    if (pkt->size) {
        memcpy(exanet_packet_payload(r->data, pkt->va), pkt->payload, pkt->size);
    }
    r->words = exanet_packet_encode(r->data, pkt);
    trace_exanet_target_respond(s->node, pkt->dst, pkt->tid, pkt->seq,
                                RNIC_GET(EXANET_SHM_USER_RESP, pkt->user),
                                pkt->size);
    if (room) {
        r->entry = entry;
        r->dst = pkt->dst;
        r->local = pkt->dst == s->node;
        r->path = pkt->path;
        r->timing = exanet_timing_enter(s, r->dst, pkt->size ?
            exanet_timing_flits(pkt->va, pkt->size) : 0,
            pkt->user & EXANET_SHM_USER_JOINED);
        response_count(s, r, 1);
        QTAILQ_INSERT_TAIL(&s->shm->target->responses, r, next);
        r = NULL;
        exanet_shm_schedule(s);
    } else if (pkt->dst != s->node) {
        exanet_net_respond(s, pkt->dst, r->data, r->words);
    }
}

/*
 * Answers @pkt with @resp, and counts an answer other than ACK.  @data is the data of a
 * load, or NULL.  @entry is the entry that has counted @pkt, or NULL.
 */
static void request_answer(ExanetState *s, const ExanetPacket *pkt,
                           enum exanet_resp resp, const uint8_t *data,
                           TargetEntry *entry)
{
    ExanetPacket answer = {
        .dst = pkt->src,
        .pdid = pkt->pdid,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .path = pkt->path,
        .va = pkt->va,
        .user = (pkt->user & (EXANET_SHM_USER_RETRIES |
                              EXANET_SHM_USER_JOINED)) |
                RNIC_PREP(EXANET_SHM_USER_RESP, resp),
        .size = data ? pkt->size : 0,
        .payload = data,
    };

    if (resp != EXANET_RESP_ACK) {
        exanet_count(s, SHM_TARGET_ERROR);
    }
    response_send(s, &answer, entry);
}

/* Sends error @resp to the source of request @pkt, which is not executed. */
static void request_refuse(ExanetState *s, const ExanetPacket *pkt, enum exanet_resp resp)
{
    request_answer(s, pkt, resp, NULL, NULL);
}

/* Sends queued responses.  A blocked response blocks the later responses of its entry. */
bool exanet_target_run(ExanetState *s)
{
    ExanetTarget *t = s->shm->target;
    TargetResponse *r, *next;

    t->run++;
    QTAILQ_FOREACH_SAFE(r, &t->responses, next, next) {
        unsigned words = r->words;
        ExanetOpen place;

        if (r->entry && r->entry->blocked_run == t->run) {
            continue;
        }
        if (!exanet_timing_due(s, r->timing.ready) ||
            !exanet_net_open(s, r->dst, r->path | EXANET_PATH_STEADY, &place)) {
            if (r->entry) {
                r->entry->blocked_run = t->run;
            }
            continue;
        }
        exanet_timing_leave(s, place.route, &r->timing);
        memcpy(place.buf, r->data, words * EXANET_WORD_BYTES);
        response_free(s, r);
        exanet_net_send(s, &place, words);
    }
    exanet_shm_wake(s, !QTAILQ_EMPTY(&t->responses));
    return false;
}

void exanet_target_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
    ExanetPacket answer = {
        .dst = f->peer,
        .pdid = s->ctx[f->ctx].pdid,
        .tid = f->tid,
        .seq = f->seq,
        .user = f->small |
                RNIC_PREP(EXANET_SHM_USER_RESP,
                          ok ? EXANET_RESP_RESOLVED : EXANET_RESP_DECODE),
    };

    response_send(s, &answer, NULL);
}

/* --- Memory -------------------------------------------------------------------- */

/* Accesses block RAM for @pkt; @data gets the data of a load.  Returns ACK or DECODE. */
static enum exanet_resp bram_access(ExanetState *s, const ExanetPacket *pkt,
                                    uint8_t *data)
{
    uint64_t offset = pkt->va & 0xffffffff;

    if (offset >= s->bram_size || s->bram_size - offset < pkt->size) {
        return EXANET_RESP_DECODE;
    }
    if (request_write(pkt)) {
        memcpy(s->shm->bram + offset, pkt->payload, pkt->size);
    } else {
        memcpy(data, s->shm->bram + offset, pkt->size);
    }
    return EXANET_RESP_ACK;
}

/* Reports the page fault of @pkt at the 64-bit address @va; see exanet_fault_report(). */
static void memory_fault(ExanetState *s, const ExanetPacket *pkt, uint64_t va)
{
    ExanetPendingFault f = {
        .va = va,
        .peer = pkt->src,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .small = pkt->user & EXANET_SHM_USER_RETRIES,
        .ctx = RNIC_GET(EXANET_PDID_CTX, pkt->pdid),
        .unit = EXANET_FAULT_SHM,
        .epoch = pkt->epoch,
        .write = request_write(pkt),
        .dst = true,
    };

    exanet_fault_report(s, &f, pkt->size);
}

/*
 * Accesses memory of a process, and reports a page fault; @data gets the data of a load.
 * Returns ACK or an error, for example DECODE if a page is not RAM.  If such a page has a
 * physical address, stores the address in *@pa and sets *@device to true.
 */
static enum exanet_resp memory_access(ExanetState *s, const ExanetPacket *pkt,
                                      uint8_t *data, hwaddr *pa, bool *device)
{
    unsigned c = RNIC_GET(EXANET_PDID_CTX, pkt->pdid);
    bool write = request_write(pkt);
    uint64_t va, fault_va;
    enum exanet_resp resp = exanet_context_window(s, c, pkt->va, pkt->size, &va);

    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    /* other CPUs must see this access after all earlier accesses */
    smp_mb();
    resp = write ? exanet_context_write(s, c, va, pkt->payload, pkt->size,
                                        &fault_va) :
                   exanet_context_read(s, c, va, data, pkt->size, &fault_va);
    if (resp == EXANET_RESP_FAULT) {
        memory_fault(s, pkt, fault_va);
    } else if (resp == EXANET_RESP_DECODE) {
        *device = exanet_context_physical(s, c, va, write, pa) ==
                  EXANET_RESP_ACK;
    }
    return resp;
}

/* --- Devices ------------------------------------------------------------------- */

/*
 * Returns true if the @len bytes at @pa are forbidden: the bytes begin in a region of
 * this device other than the block RAM.  The aperture could send the request again and
 * again, and other nodes must not access the registers.
 */
static bool device_forbidden(ExanetState *s, hwaddr pa, hwaddr len, bool write)
{
    hwaddr at;
    MemoryRegion *mr;

    RCU_READ_LOCK_GUARD();
    mr = address_space_translate(s->host.as, pa, &at, &len, write,
                                 MEMTXATTRS_UNSPECIFIED);
    return memory_region_owner(mr) == OBJECT(s->host.dev) &&
           !(mr->container == &s->aperture_mr &&
             mr->addr + at >= s->aperture_size);
}

/* Returns true if the target @t was freed, or was reset since @resets. */
static bool target_gone(ExanetState *s, const ExanetTarget *t, unsigned resets)
{
    return !s->shm || s->shm->target != t || t->resets != resets;
}

/*
 * Accesses the device at @pa, in aligned parts of at most 8 bytes.  Returns ACK; DECODE
 * if a part is forbidden or fails, or if an access has reset or unplugged this NIC.
 */
static enum exanet_resp device_access(ExanetState *s, const ExanetPacket *pkt,
                                      hwaddr pa, uint8_t *data)
{
    ExanetTarget *t = s->shm->target;
    unsigned resets = t->resets;
    bool write = request_write(pkt);
    uint8_t *buf = write ? (uint8_t *)pkt->payload : data;

    for (unsigned done = 0, part; done < pkt->size; done += part) {
        hwaddr at = pa + done;
        MemTxResult result;

        part = MIN(8, at & -at ?: 8);
        while (part > pkt->size - done) {
            part /= 2;
        }
        if (device_forbidden(s, at, part, write)) {
            return EXANET_RESP_DECODE;
        }
        exanet_aperture_guard(s, true);
        result = address_space_rw(s->host.as, at, MEMTXATTRS_UNSPECIFIED,
                                  buf + done, part, write);
        if (target_gone(s, t, resets)) {
            return EXANET_RESP_DECODE;
        }
        exanet_aperture_guard(s, false);
        trace_exanet_target_device(s->node, at, part, write, result);
        if (result != MEMTX_OK) {
            return EXANET_RESP_DECODE;
        }
    }
    return EXANET_RESP_ACK;
}

/*
 * Copies to @data the data that load_note() has kept for load @pkt.  Returns false if
 * there is no such data, or the data is too old, or ORDER of SHM_CTRL is not in effect.
 */
static bool load_find(ExanetState *s, const ExanetPacket *pkt, uint8_t *data)
{
    ExanetTarget *t = s->shm->target;

    if (!(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ORDER)) {
        return false;
    }
    for (unsigned i = 1; i <= DEVICE_LOADS; i++) {
        const TargetLoad *l = &t->load[(t->load_next - i) % DEVICE_LOADS];

        if (!RNIC_GET(EXANET_SHM_USER_RETRIES, pkt->user) &&
            s->time - l->time > DEVICE_DELAY_MAX_NS) {
            return false;
        }
        if (l->size == pkt->size && l->va == pkt->va && l->src == pkt->src &&
            l->tid == pkt->tid && l->seq == pkt->seq && l->pdid == pkt->pdid &&
            l->epoch == pkt->epoch) {
            memcpy(data, l->data, l->size);
            return true;
        }
    }
    return false;
}

/* Keeps @data, the result of load @pkt, for later copies of the load. */
static void load_note(ExanetState *s, const ExanetPacket *pkt,
                      const uint8_t *data)
{
    ExanetTarget *t = s->shm->target;
    TargetLoad *l = &t->load[t->load_next++ % DEVICE_LOADS];

    l->time = s->time;
    l->va = pkt->va;
    l->src = pkt->src;
    l->tid = pkt->tid;
    l->seq = pkt->seq;
    l->pdid = pkt->pdid;
    l->size = pkt->size;
    l->epoch = pkt->epoch;
    memcpy(l->data, data, l->size);
}

/*
 * Executes @pkt at the device at @pa, and stores the result in *@resp.  If load_find()
 * finds the data of another copy of a load, copies the data without an access.
 * Returns false if the access has reset or unplugged this NIC.
 */
static bool device_do(ExanetState *s, const ExanetPacket *pkt, hwaddr pa,
                      uint8_t *data, enum exanet_resp *resp)
{
    ExanetTarget *t = s->shm->target;
    unsigned resets = t->resets;

    if (!request_write(pkt) && load_find(s, pkt, data)) {
        exanet_count(s, SHM_DUPLICATE);
        *resp = EXANET_RESP_ACK;
        return true;
    }
    *resp = device_access(s, pkt, pa, data);
    if (target_gone(s, t, resets)) {
        return false;
    }
    if (*resp == EXANET_RESP_ACK && !request_write(pkt)) {
        load_note(s, pkt, data);
    }
    return true;
}

/* --- Requests ------------------------------------------------------------------ */

/*
 * Checks class, CRC and permission of @pkt, but not the address.  Returns ACK, MALFORMED,
 * CRC or PROTECTION.  Counts @pkt and raises the interrupt for a wrong class and for a
 * context that does not permit the access.
 */
static enum exanet_resp request_check(ExanetState *s, const ExanetPacket *pkt)
{
    unsigned class = request_class(pkt);
    bool write = class == EXANET_SHM_STORE || class == EXANET_SHM_RDMA_WRITE;
    enum exanet_resp resp = exanet_context_check(s, pkt->pdid, pkt->src);

    if (write != request_write(pkt)) {
        exanet_count(s, DROP_MALFORMED);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
        return EXANET_RESP_MALFORMED;
    }
    if (pkt->bad_payload) {
        return EXANET_RESP_CRC;
    }
    if (!(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ENABLE)) {
        return EXANET_RESP_PROTECTION;
    }
    if (resp != EXANET_RESP_ACK) {
        exanet_count(s, DROP_PROTECTION);
        exanet_irq_raise(s, EXANET_IRQ_PROTOCOL);
    }
    return resp;
}

/* Returns the order of the writes of @src.  The first call for @src allocates it. */
static ExanetShmSource *source_order(ExanetSource *src)
{
    if (!src->higher) {
        src->higher = g_new0(ExanetShmSource, 1);
        src->higher_free = g_free;
    }
    return src->higher;
}

/* Answers FULL, because exanet_source_find() has no room for the node of @pkt. */
static void request_full(ExanetState *s, const ExanetPacket *pkt)
{
    request_refuse(s, pkt, EXANET_RESP_FULL);
}

/*
 * If @resp, the result of request @pkt, is ACK: marks @src as proven, records @pkt by
 * exanet_shm_order_note(), and counts @pkt.  Otherwise does nothing.
 */
static void request_done(ExanetState *s, ExanetSource *src,
                         const ExanetPacket *pkt, enum exanet_resp resp)
{
    if (resp != EXANET_RESP_ACK) {
        return;
    }
    src->proven = true;
    exanet_shm_order_note(s, source_order(src), pkt);
    if (request_write(pkt)) {
        exanet_count(s, SHM_TARGET_STORE);
    } else {
        exanet_count(s, SHM_TARGET_LOAD);
    }
}

/*
 * Executes and answers @pkt (no answer if the access resets or unplugs this NIC), answers
 * a duplicate without an access, refuses or drops @pkt, and returns true.  If @pkt is for
 * a device and @devices is false, returns false without an answer, because only the
 * bottom half may access devices.  Then the caller must call this function again with a
 * copy of @pkt, or refuse @pkt.
 */
static bool request_do(ExanetState *s, const ExanetPacket *pkt, bool devices)
{
    uint8_t buf[EXANET_MTU];
    bool passed = exanet_context_check(s, pkt->pdid, pkt->src) == EXANET_RESP_ACK;
    enum exanet_resp resp;
    ExanetSource *src;
    ExanetShmOrder order;
    TargetEntry *entry;
    bool device = false;
    hwaddr pa;

    if (!exanet_source_find(s, pkt, passed, request_full, &src)) {
        return true;
    }
    resp = request_check(s, pkt);
    if (resp != EXANET_RESP_ACK) {
        if (src) {
            exanet_shm_order_refused(s, source_order(src), pkt);
        }
        request_refuse(s, pkt, resp);
        return true;
    }
    order = exanet_shm_order_check(s, source_order(src), pkt);
    if (order == EXANET_SHM_AHEAD) {
        return true;
    }
    entry = entry_find(s, pkt);
    if (!entry || !response_room(s, pkt->src)) {
        exanet_count(s, SHM_CAM_FULL);
        request_refuse(s, pkt, EXANET_RESP_FULL);
        return true;
    }
    if (order == EXANET_SHM_DUPLICATE) {
        entry_take(s, entry, pkt);
        request_answer(s, pkt, EXANET_RESP_ACK, NULL, entry);
        return true;
    }
    if (RNIC_GET(EXANET_VA_WINDOW, pkt->va) == EXANET_WINDOW_NI) {
        resp = bram_access(s, pkt, buf);
    } else {
        resp = memory_access(s, pkt, buf, &pa, &device);
    }
    if (device) {
        if (!devices) {
            return false;
        }
        /* looks up the source again, which may have been freed during the access */
        if (!device_do(s, pkt, pa, buf, &resp) ||
            !exanet_source_find(s, pkt, true, request_full, &src)) {
            return true;
        }
    }
    entry_take(s, entry, pkt);
    request_done(s, src, pkt, resp);
    request_answer(s, pkt, resp, resp == EXANET_RESP_ACK &&
                   !request_write(pkt) ? buf : NULL, entry);
    return true;
}

/* Leaves a copy of @pkt to the bottom half, or refuses @pkt if too many requests wait. */
static void request_defer(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetTarget *t = s->shm->target;
    TargetWaiter *w;

    if (g_queue_get_length(&t->waiters) >= DEVICE_REQUESTS) {
        exanet_count(s, SHM_CAM_FULL);
        request_refuse(s, pkt, EXANET_RESP_FULL);
        return;
    }
    w = g_new(TargetWaiter, 1);
    w->pkt = *pkt;
    w->pkt.payload = w->payload;
    if (request_write(pkt)) {
        memcpy(w->payload, pkt->payload, pkt->size);
    }
    g_queue_push_tail(&t->waiters, w);
    qemu_bh_schedule(t->bh);
}

void exanet_shm_request(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetTarget *t = s->shm->target;

    s->awake |= EXANET_AWAKE_SHM;
    if (unlikely(s->shm->timing) && exanet_timing_hold(s, pkt)) {
        return;
    }
    trace_exanet_target_request(s->node, pkt->src, pkt->type, pkt->tid, pkt->seq,
                                pkt->va, pkt->size);
    if (t->busy || !g_queue_is_empty(&t->waiters) ||
        !request_do(s, pkt, false)) {
        request_defer(s, pkt);
    }
}

/*
 * Executes one request of @waiters outside the work of the units, because the access may
 * reset or unplug this NIC.  Drops all requests of @waiters if this NIC is not enabled.
 */
static void target_bh(void *opaque)
{
    ExanetState *s = opaque;
    ExanetTarget *t = s->shm->target;
    g_autofree TargetWaiter *w = NULL;
    unsigned resets = t->resets;

    if (!s->enabled) {
        g_queue_clear_full(&t->waiters, g_free);
    }
    w = g_queue_pop_head(&t->waiters);
    if (!w) {
        return;
    }
    object_ref(OBJECT(s->host.dev));
    s->time = rnic_now();
    t->busy = true;
    request_do(s, &w->pkt, true);
    if (!target_gone(s, t, resets)) {
        t->busy = false;
        if (!g_queue_is_empty(&t->waiters)) {
            qemu_bh_schedule(t->bh);
        }
        exanet_shm_schedule(s);
    }
    object_unref(OBJECT(s->host.dev));
}

/* --- Init and reset ------------------------------------------------------- */

void exanet_target_init(ExanetState *s)
{
    ExanetTarget *t = g_new0(ExanetTarget, 1);

    s->shm->target = t;
    for (unsigned i = 0; i < ARRAY_SIZE(t->table); i++) {
        t->table[i] = g_new0(TargetEntry, s->cam_entries);
    }
    QTAILQ_INIT(&t->responses);
    g_queue_init(&t->waiters);
    t->bh = qemu_bh_new_guarded(target_bh, s,
                                &s->host.dev->mem_reentrancy_guard);
}

static void target_clear(ExanetState *s)
{
    TargetResponse *r, *next;

    QTAILQ_FOREACH_SAFE(r, &s->shm->target->responses, next, next) {
        response_free(s, r);
    }
    g_queue_clear_full(&s->shm->target->waiters, g_free);
}

void exanet_target_reset(ExanetState *s)
{
    ExanetTarget *t = s->shm->target;

    target_clear(s);
    for (unsigned i = 0; i < ARRAY_SIZE(t->table); i++) {
        memset(t->table[i], 0, s->cam_entries * sizeof(*t->table[i]));
    }
    memset(t->load, 0, sizeof(t->load));
    t->busy = false;
    t->resets++;
    exanet_aperture_guard(s, false);
}

void exanet_target_fini(ExanetState *s)
{
    ExanetTarget *t = s->shm->target;

    target_clear(s);
    qemu_bh_delete(t->bh);
    g_free(t->table[0]);
    g_free(t->table[1]);
    g_free(t);
    s->shm->target = NULL;
}
