/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet aperture: loads and stores of the CPUs, and the block RAM behind the aperture.
 *
 * A vCPU that loads waits for the response.  A vCPU that stores waits until the store is
 * issued or, without early acknowledgement, for the response.  While the vCPU waits, the
 * vCPU does not hold the big lock, so the main loop runs all units, also this unit.  The
 * guest may reset or unplug the device meanwhile; regions and state live until the last
 * reference to the device is gone.
 *
 * A device, or a vCPU during other work of QEMU, cannot wait.  A store that cannot wait
 * goes into a FIFO, or is refused if the job's share of the FIFO is full.  A load that
 * cannot wait is refused.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/queue.h"
#include "exec/cpu-common.h"
#include "hw/core/cpu.h"
#include "system/cpus.h"
#include "system/tcg.h"
#include "../../core/vcpu.h"
#include "aperture.h"
#include "../exanet.h"
#include "../base/regs.h"
#include "initiator.h"
#include "internal.h"
#include "../trace.h"

#define FIFO_MAX        64
/* Limit of stores in the FIFO (in_fifo()) when a vCPU that must stop adds a store. */
#define STOPPED_MAX     (2 * FIFO_MAX)

/* A decoded MAP entry; @size is 0 if the entry is not valid. */
typedef struct ApertureMap {
    uint64_t offset;
    uint64_t size;
    uint64_t gva;
    uint32_t ctrl;
} ApertureMap;

/* A load or store that is not complete. */
typedef struct ApertureAccess {
    ExanetState *state;             /* set while a vCPU waits */
    ExanetShmRequest req;           /* @req.data is @data */
    uint8_t data[8];
    bool waited;                    /* a vCPU waits for the access */
    bool issued;                    /* accepted by the initiator, or ended */
    bool responded;                 /* access_respond() was called */
    /* The initiator calls no function for the access any more. */
    bool settled;
    bool fenced;                    /* marked by exanet_aperture_fence() */
    enum exanet_resp resp;
    QTAILQ_ENTRY(ApertureAccess) next;
} ApertureAccess;

struct ExanetAperture {
    MemoryRegion window;
    MemoryRegion bram;
    ApertureMap map[EXANET_SHM_MAPS];
    QTAILQ_HEAD(, ApertureAccess) list; /* all accesses, oldest first */
    bool guard;                     /* exanet_aperture_guard(s, true) was called last */
    QemuCond cond;                  /* wakes vCPUs when access_done() is true */
};

/*
 * Number of ExaNet devices of this machine that now execute an access of a node to
 * another device.  While the number is not 0, no vCPU begins to wait in an aperture.
 */
static unsigned guards;

void exanet_aperture_guard(ExanetState *s, bool on)
{
    ExanetAperture *ap = s->shm->aperture;

    if (ap->guard != on) {
        ap->guard = on;
        guards += on ? 1 : -1;
    }
}

/* --- Segments ------------------------------------------------------------- */

void exanet_aperture_map_written(ExanetState *s, unsigned m)
{
    unsigned base = EXANET_SHM_MAP(m);
    ApertureMap *map = &s->shm->aperture->map[m];
    uint64_t ctrl = exanet_reg_get64(s, base + EXANET_REG_SHM_MAP_CTRL);

    *map = (ApertureMap) { 0 };
    if (ctrl & EXANET_SHM_MAP_VALID) {
        map->offset = exanet_reg_get64(s, base + EXANET_REG_SHM_MAP_OFFSET);
        map->size = exanet_reg_get64(s, base + EXANET_REG_SHM_MAP_SIZE);
        map->gva = exanet_reg_get64(s, base + EXANET_REG_SHM_MAP_GVA);
        map->ctrl = ctrl;
    }
}

/* Returns the MAP entry that covers offset @at of the aperture, or NULL. */
static const ApertureMap *map_find(ExanetState *s, uint64_t at)
{
    for (unsigned m = 0; m < EXANET_SHM_MAPS; m++) {
        const ApertureMap *map = &s->shm->aperture->map[m];

        if (at - map->offset < map->size) {
            return map;
        }
    }
    return NULL;
}

/* --- Accesses ------------------------------------------------------------- */

/* Returns true if a vCPU that waits for @a may continue. */
static bool access_done(const ApertureAccess *a)
{
    return a->responded || a->settled || (a->issued && a->req.early);
}

static void access_free(ExanetState *s, ApertureAccess *a)
{
    QTAILQ_REMOVE(&s->shm->aperture->list, a, next);
    g_free(a);
}

/*
 * Acts on a change of @a: frees @a if @a is settled and no vCPU waits for @a.  If a vCPU
 * waits for @a and may continue, wakes the vCPU.
 */
static void access_update(ExanetState *s, ApertureAccess *a)
{
    if (!a->waited && a->settled) {
        access_free(s, a);
    } else if (a->waited && access_done(a)) {
        qemu_cond_broadcast(&s->shm->aperture->cond);
    }
}

/* Implements ExanetShmRequest.respond. */
static void access_respond(ExanetState *s, void *opaque, enum exanet_resp resp,
                           const uint8_t *data)
{
    ApertureAccess *a = opaque;

    a->responded = true;
    a->resp = resp;
    if (a->req.class == EXANET_SHM_LOAD) {
        a->settled = true;
        if (resp == EXANET_RESP_ACK) {
            memcpy(a->data, data, a->req.size);
        }
    }
    access_update(s, a);
}

/* Implements ExanetShmRequest.settled. */
static void access_settled(ExanetState *s, void *opaque, enum exanet_resp resp)
{
    ApertureAccess *a = opaque;

    a->settled = true;
    access_update(s, a);
}

/*
 * Ends all accesses of context @c that are not issued yet, with PROTECTION.  If @c is
 * EXANET_CONTEXTS, ends such accesses of all contexts.
 */
static void access_drop(ExanetState *s, unsigned c)
{
    ExanetAperture *ap = s->shm->aperture;
    ApertureAccess *a, *next;

    QTAILQ_FOREACH_SAFE(a, &ap->list, next, next) {
        if (!a->issued && (c == EXANET_CONTEXTS || a->req.ctx == c)) {
            a->issued = true;
            a->settled = true;
            a->resp = EXANET_RESP_PROTECTION;
            access_update(s, a);
        }
    }
}

/*
 * Issues the accesses of the list.  A store of the FIFO (in_fifo()) does not overtake
 * older stores of its context in the FIFO.  Each vCPU waits for at most one access, which
 * may overtake stores of the FIFO.  Always returns false: an access that was not accepted
 * waits for an event, such as the end of another transaction.
 */
bool exanet_aperture_run(ExanetState *s)
{
    ExanetAperture *ap = s->shm->aperture;
    bool blocked[EXANET_CONTEXTS] = { 0 };
    ApertureAccess *a;

    QTAILQ_FOREACH(a, &ap->list, next) {
        if (a->issued || (blocked[a->req.ctx] && !a->waited)) {
            continue;
        }
        if (!exanet_shm_issue(s, &a->req)) {
            blocked[a->req.ctx] |= !a->waited;
            continue;
        }
        a->issued = true;
        access_update(s, a);
    }
    exanet_shm_wake(s, !QTAILQ_EMPTY(&ap->list));
    return false;
}

/* Returns true if @a is in the FIFO: @a is not issued, and no vCPU waits for @a. */
static bool in_fifo(const ApertureAccess *a)
{
    return !a->issued && !a->waited;
}

/*
 * Returns true if the FIFO has room for a store of context @c.  Each job has an equal
 * share of FIFO_MAX, so that the stores of one job leave room for other jobs.
 */
static bool fifo_room(ExanetState *s, unsigned c)
{
    unsigned stores = 0;
    ApertureAccess *a;

    QTAILQ_FOREACH(a, &s->shm->aperture->list, next) {
        stores += in_fifo(a) && exanet_context_same_job(s, a->req.ctx, c);
    }
    return stores < FIFO_MAX / exanet_context_jobs(s);
}

/*
 * Returns true if the FIFO has room for the store of a vCPU that must stop.  The limit is
 * larger than the limit of fifo_room(), because such a store is lost if the FIFO has no
 * room.
 */
static bool stopped_room(ExanetState *s)
{
    unsigned stores = 0;
    ApertureAccess *a;

    QTAILQ_FOREACH(a, &s->shm->aperture->list, next) {
        stores += in_fifo(a);
    }
    return stores < STOPPED_MAX;
}

/*
 * Adds @a to the list of accesses, and issues and sends @a now if possible.  Frees @a if
 * @a is settled inside this call and no vCPU waits for @a.
 */
static void access_start(ExanetState *s, ApertureAccess *a)
{
    ExanetAperture *ap = s->shm->aperture;
    bool entered = rnic_loop_enter(&s->loop);

    QTAILQ_INSERT_TAIL(&ap->list, a, next);
    /* issues @a here, because a wake-up of the main loop takes longer */
    exanet_aperture_run(s);
    exanet_shm_schedule(s);
    rnic_loop_leave(&s->loop, entered);
}

/* Returns true if the vCPU that waits for the access @opaque need not wait any more. */
static bool access_wait_done(void *opaque)
{
    ApertureAccess *a = opaque;

    return access_done(a) || !a->state->enabled;
}

/*
 * Waits without the big lock until access_done() is true for @a, and returns true.
 * Returns false after the time limit, if the device is disabled, or if the vCPU must
 * stop.  A vCPU that must stop cannot wait, because the main loop waits for the vCPU, and
 * no response can arrive.  The time limit is in real time, because virtual time may stand
 * still.
 */
static bool access_wait(ExanetState *s, ApertureAccess *a)
{
    a->state = s;
    rnic_vcpu_wait(s->host.dev, &s->shm->aperture->cond, s->aperture_timeout_ms,
                   access_wait_done, a);
    return access_done(a);
}

/* Ends the wait of the vCPU for @a, and frees @a unless the initiator still uses @a. */
static void access_leave(ExanetState *s, ApertureAccess *a)
{
    a->waited = false;
    if (a->settled || !a->issued) {
        access_free(s, a);
    }
}

/*
 * If the vCPU must stop and TCG runs the vCPU: frees @a or leaves it to the initiator,
 * and jumps back to the loop of the vCPU by cpu_loop_exit_restore(), so the function does
 * not return.  The vCPU executes the load again later.  may_wait() has checked that the
 * jump is permitted.  In all other cases does nothing: KVM cannot cancel a load after the
 * exit of the vCPU, so the load ends as after a timeout.
 */
static void load_stopped(ExanetState *s, ApertureAccess *a)
{
    if (current_cpu->stop && tcg_enabled()) {
        access_leave(s, a);
        cpu_loop_exit_restore(current_cpu, current_cpu->mem_io_pc);
    }
}

/*
 * If the vCPU must stop, and store @a is issued or stopped_room() is true: makes @a a
 * store for which no vCPU waits, and returns true.  The store counts as executed.
 * Otherwise returns false.
 */
static bool store_stopped(ExanetState *s, ApertureAccess *a)
{
    if (!current_cpu->stop || (!a->issued && !stopped_room(s))) {
        return false;
    }
    a->waited = false;
    return true;
}

/* --- The CPU's side --------------------------------------------------------- */

/*
 * Returns true if a vCPU may wait for the access at offset @at: the instruction of the
 * vCPU makes the access, this device is not at work, and no ExaNet device of the machine
 * executes an access of a node to another device.
 */
static bool may_wait(ExanetState *s, uint64_t at, bool store, MemTxAttrs attrs)
{
    return !s->loop.running && !guards &&
           rnic_vcpu_access(&s->shm->aperture->window, at, store, attrs);
}

/* Reports that @a has failed with @resp; ACK: there was no answer. */
static void access_error(ExanetState *s, const ApertureAccess *a,
                         enum exanet_resp resp)
{
    exanet_shm_error(s, a->req.ctx, a->req.gva, a->req.class, resp, 0);
    exanet_shm_schedule(s);
}

/*
 * Reports that the wait for @a has ended without an answer.  Makes the initiator report
 * no failure of @a later.
 */
static void access_timed_out(ExanetState *s, ApertureAccess *a)
{
    access_error(s, a, EXANET_RESP_ACK);
    exanet_shm_reported(s, a);
}

/*
 * Fills in the request of @a for @size bytes at offset @at of the aperture.  Returns
 * false, and reports an error, if @at is in no segment or the access is not permitted.
 */
static bool access_prepare(ExanetState *s, ApertureAccess *a, uint64_t at,
                           unsigned size)
{
    const ApertureMap *map = map_find(s, at);
    bool store = a->req.class == EXANET_SHM_STORE;
    unsigned c;

    a->req.size = size;
    a->req.gva = at;
    a->req.ctx = EXANET_CONTEXTS;
    if (!map) {
        exanet_count(s, SHM_UNMAPPED);
        access_error(s, a, EXANET_RESP_DECODE);
        return false;
    }
    c = RNIC_GET(EXANET_SHM_MAP_CTX, map->ctrl);
    a->req.ctx = c;
    a->req.gva = map->gva + (at - map->offset);
    if (!(map->ctrl & (store ? EXANET_SHM_MAP_WRITE : EXANET_SHM_MAP_READ)) ||
        !s->enabled || !s->ctx[c].enabled || s->ctx[c].quiesce ||
        RNIC_GET(EXANET_GVA_COORD, a->req.gva) !=
        RNIC_GET(EXANET_GVA_COORD, map->gva)) {
        exanet_count(s, SHM_DENIED);
        access_error(s, a, EXANET_RESP_PROTECTION);
        return false;
    }
    a->req.pdid = RNIC_GET(EXANET_SHM_MAP_PDID, map->ctrl);
    a->req.axi_id = RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_CPU) |
                    RNIC_PREP(EXANET_AXI_ID_NUMBER,
                              a->waited ? current_cpu->cpu_index : 0);
    a->req.early = store && (map->ctrl & EXANET_SHM_MAP_EARLY) &&
                   (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_EARLY);
    return true;
}

/*
 * Returns a new access, which the caller owns and which is not in the list of accesses.
 */
static ApertureAccess *access_new(ExanetState *s, unsigned class, uint64_t at,
                                  MemTxAttrs attrs)
{
    ApertureAccess *a = g_new0(ApertureAccess, 1);

    a->waited = may_wait(s, at, class == EXANET_SHM_STORE, attrs);
    a->req = (ExanetShmRequest) {
        .class = class,
        .data = a->data,
        .respond = access_respond,
        .settled = access_settled,
        .opaque = a,
    };
    return a;
}

/*
 * Returns how many of the @size bytes from offset @at of the block RAM on are inside the
 * block RAM.  An access belongs to the region in which the access begins, and may reach
 * beyond the end of that region.
 */
static unsigned bram_bytes(ExanetState *s, uint64_t at, unsigned size)
{
    return at < s->bram_size ? MIN(size, s->bram_size - at) : 0;
}

static void bram_load(ExanetState *s, uint64_t at, uint8_t *buf, unsigned size)
{
    memcpy(buf, s->shm->bram + at, bram_bytes(s, at, size));
}

static void bram_store(ExanetState *s, uint64_t at, const uint8_t *buf,
                       unsigned size)
{
    memcpy(s->shm->bram + at, buf, bram_bytes(s, at, size));
}

/*
 * Executes one load.  @buf does not change if the load fails.  Returns MEMTX_ERROR if the
 * load would have to wait but must not wait.  Otherwise returns MEMTX_OK, even if the
 * load fails.
 */
static MemTxResult window_load(ExanetState *s, uint64_t at, uint8_t *buf,
                               unsigned size, MemTxAttrs attrs)
{
    ApertureAccess *a;

    if (at >= s->aperture_size) {
        bram_load(s, at - s->aperture_size, buf, size);
        return MEMTX_OK;
    }
    a = access_new(s, EXANET_SHM_LOAD, at, attrs);
    if (!access_prepare(s, a, at, size)) {
        g_free(a);
        return MEMTX_OK;
    }
    if (!a->waited) {
        exanet_count(s, SHM_REFUSED);
        g_free(a);
        return MEMTX_ERROR;
    }
    access_start(s, a);
    if (!access_wait(s, a)) {
        load_stopped(s, a);
        access_timed_out(s, a);
    } else if (a->resp == EXANET_RESP_ACK) {
        memcpy(buf, a->data, size);
    }
    access_leave(s, a);
    return MEMTX_OK;
}

/*
 * Executes one store.  Returns MEMTX_ERROR if the store must not wait and the FIFO has no
 * room.  Otherwise returns MEMTX_OK, even if the store fails.
 */
static MemTxResult window_store(ExanetState *s, uint64_t at, const uint8_t *buf,
                                unsigned size, MemTxAttrs attrs)
{
    ApertureAccess *a;

    if (at >= s->aperture_size) {
        bram_store(s, at - s->aperture_size, buf, size);
        return MEMTX_OK;
    }
    a = access_new(s, EXANET_SHM_STORE, at, attrs);
    if (!access_prepare(s, a, at, size)) {
        g_free(a);
        return MEMTX_OK;
    }
    memcpy(a->data, buf, size);
    if (!a->waited) {
        if (!fifo_room(s, a->req.ctx)) {
            exanet_count(s, SHM_REFUSED);
            access_error(s, a, EXANET_RESP_FULL);
            g_free(a);
            return MEMTX_ERROR;
        }
        access_start(s, a);
        return MEMTX_OK;
    }
    access_start(s, a);
    if (!access_wait(s, a)) {
        if (store_stopped(s, a)) {
            return MEMTX_OK;
        }
        access_timed_out(s, a);
    }
    access_leave(s, a);
    return MEMTX_OK;
}

/*
 * Returns how many of the @size bytes from offset @at of the aperture on fit into one
 * packet.  The offset and the GVA of an access are equal modulo the MTU, because segments
 * are multiples of 4 KB.
 */
static unsigned window_piece(uint64_t at, unsigned size)
{
    return MIN(size, EXANET_MTU - at % EXANET_MTU);
}

/*
 * Returns true if the aperture must refuse an access.  Either this device executes an
 * access of a node to another device, and would wait for itself, or this device was
 * unplugged.
 */
static bool window_closed(ExanetState *s, uint64_t at)
{
    if (s->shm->aperture->guard) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: a load or store of another node "
                      "comes back to the aperture: 0x%" PRIx64 "\n", at);
        return true;
    }
    return !s->loop.bh;
}

static MemTxResult window_read(void *opaque, hwaddr at, uint64_t *value,
                               unsigned size, MemTxAttrs attrs)
{
    ExanetState *s = opaque;
    MemTxResult result = MEMTX_OK;
    uint8_t buf[8];
    unsigned done = 0, piece;

    memset(buf, 0xff, sizeof(buf));
    for (; done < size; done += piece) {
        piece = window_piece(at + done, size - done);
        if (window_closed(s, at)) {
            result = MEMTX_DECODE_ERROR;
            break;
        }
        result |= window_load(s, at + done, buf + done, piece, attrs);
    }
    *value = ldn_le_p(buf, size);
    trace_exanet_aperture_read(s->node, at, *value, size);
    return result;
}

static MemTxResult window_write(void *opaque, hwaddr at, uint64_t value,
                                unsigned size, MemTxAttrs attrs)
{
    ExanetState *s = opaque;
    MemTxResult result = MEMTX_OK;
    uint8_t buf[8];
    unsigned done = 0, piece;

    trace_exanet_aperture_write(s->node, at, value, size);
    stn_le_p(buf, size, value);
    for (; done < size; done += piece) {
        piece = window_piece(at + done, size - done);
        if (window_closed(s, at)) {
            return MEMTX_DECODE_ERROR;
        }
        result |= window_store(s, at + done, buf + done, piece, attrs);
    }
    return result;
}

static const MemoryRegionOps window_ops = {
    .read_with_attrs = window_read,
    .write_with_attrs = window_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

static uint64_t bram_read(void *opaque, hwaddr at, unsigned size)
{
    uint8_t buf[8] = { 0 };

    bram_load(opaque, at, buf, size);
    return ldn_le_p(buf, size);
}

static void bram_write(void *opaque, hwaddr at, uint64_t value, unsigned size)
{
    uint8_t buf[8];

    stn_le_p(buf, size, value);
    bram_store(opaque, at, buf, size);
}

static const MemoryRegionOps bram_ops = {
    .read = bram_read,
    .write = bram_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

/* --- Waiting stores ------------------------------------------------------- */

unsigned exanet_aperture_stores(ExanetState *s, unsigned c)
{
    unsigned stores = 0;
    ApertureAccess *a;

    QTAILQ_FOREACH(a, &s->shm->aperture->list, next) {
        stores += !a->issued && a->req.ctx == c &&
                  a->req.class == EXANET_SHM_STORE;
    }
    return stores;
}

void exanet_aperture_fence(ExanetState *s)
{
    ApertureAccess *a;

    QTAILQ_FOREACH(a, &s->shm->aperture->list, next) {
        a->fenced = !a->issued && a->req.class == EXANET_SHM_STORE;
    }
}

bool exanet_aperture_fenced(ExanetState *s)
{
    ApertureAccess *a;

    QTAILQ_FOREACH(a, &s->shm->aperture->list, next) {
        if (a->fenced && !a->settled) {
            return true;
        }
    }
    return false;
}

/* --- Init and reset ------------------------------------------------------- */

void exanet_aperture_quiesce(ExanetState *s, unsigned c)
{
    for (unsigned m = 0; m < EXANET_SHM_MAPS; m++) {
        unsigned reg = EXANET_SHM_MAP(m) + EXANET_REG_SHM_MAP_CTRL;
        uint64_t ctrl = exanet_reg_get64(s, reg);

        if (RNIC_GET(EXANET_SHM_MAP_CTX, ctrl) == c) {
            exanet_reg_set64(s, reg, ctrl & ~(uint64_t)EXANET_SHM_MAP_VALID);
            exanet_aperture_map_written(s, m);
        }
    }
    access_drop(s, c);
}

void exanet_aperture_abort(ExanetState *s)
{
    access_drop(s, EXANET_CONTEXTS);
}

static void region_add(ExanetState *s, MemoryRegion *mr,
                       const MemoryRegionOps *ops, const char *name,
                       hwaddr at, uint64_t size)
{
    memory_region_init_io(mr, OBJECT(s->host.dev), ops, s, name, size);
    /*
     * QEMU's re-entrancy guard would refuse other vCPUs' accesses, and the work for other
     * nodes, while a vCPU waits.
     */
    mr->disable_reentrancy_guard = true;
    memory_region_add_subregion(&s->aperture_mr, at, mr);
}

void exanet_aperture_init(ExanetState *s)
{
    ExanetAperture *ap = g_new0(ExanetAperture, 1);

    s->shm->aperture = ap;
    QTAILQ_INIT(&ap->list);
    qemu_cond_init(&ap->cond);
    if (s->aperture_size) {
        region_add(s, &ap->window, &window_ops, "exanet-aperture", 0,
                   s->aperture_size);
    }
    if (s->bram_size) {
        region_add(s, &ap->bram, &bram_ops, "exanet-bram", s->aperture_size,
                   s->bram_size);
    }
}

/*
 * Removes the aperture's regions from ExanetState.aperture_mr, because a region inside
 * another region holds a reference to its owner, which is this device.
 */
void exanet_aperture_fini(ExanetState *s)
{
    ExanetAperture *ap = s->shm->aperture;

    exanet_aperture_guard(s, false);
    if (s->aperture_size) {
        memory_region_del_subregion(&s->aperture_mr, &ap->window);
    }
    if (s->bram_size) {
        memory_region_del_subregion(&s->aperture_mr, &ap->bram);
    }
}

void exanet_aperture_finalize(ExanetState *s)
{
    qemu_cond_destroy(&s->shm->aperture->cond);
    g_free(s->shm->aperture);
}

void exanet_aperture_reset(ExanetState *s)
{
    memset(s->shm->aperture->map, 0, sizeof(s->shm->aperture->map));
}
