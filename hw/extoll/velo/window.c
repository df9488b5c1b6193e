/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BAR 2; see window.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "../../core/vcpu.h"
#include "../extoll.h"
#include "../trace.h"
#include "window.h"

/* A vCPU that waits for room for its store. */
typedef struct Waiter {
    ExtollState *s;
    hwaddr addr;
    uint8_t epoch;                  /* of the device when the wait began */
} Waiter;

/* Returns true if the store does not exist any more, because of a reset or an unplug. */
static bool is_over(const Waiter *w)
{
    return !w->s->loop.bh || w->s->epoch != w->epoch;
}

/* Returns true if the vCPU of the Waiter @opaque need not wait any more. */
static bool wait_done(void *opaque)
{
    Waiter *w = opaque;

    return is_over(w) || extoll_velo_has_room(w->s) ||
           !extoll_velo_is_enabled(w->s, w->addr);
}

/*
 * Waits until the FIFO has room for the store at @addr.  Returns true if the store may
 * use the FIFO, or the reserve, because its vCPU must stop.  While the vCPU waits, the
 * guest may reset or unplug the device.
 */
static bool room_wait(ExtollState *s, hwaddr addr, MemTxAttrs attrs)
{
    Waiter w = { .s = s, .addr = addr, .epoch = s->epoch };

    if (likely(extoll_velo_has_room(s))) {
        return true;
    }
    if (!s->loop.running && rnic_vcpu_access(&s->velo_mr, addr, true, attrs)) {
        extoll_count(s, CFCQ_WAIT);
        rnic_vcpu_wait(s->host.dev, &s->velo.cond, s->cfcq_timeout_ms, wait_done, &w);
        if (is_over(&w) || !extoll_velo_may_send(s, addr)) {
            return false;
        }
        if (extoll_velo_has_room(s) ||
            (rnic_vcpu_stops() && extoll_velo_has_reserve(s))) {
            return true;
        }
    }
    extoll_count(s, CFCQ_DROPPED);
    extoll_velo_tear(s, addr);
    qemu_log_mask(LOG_GUEST_ERROR, "extoll: store to VELO at 0x%" HWADDR_PRIx
                  " dropped, because the FIFO is full\n", addr);
    return false;
}

static MemTxResult velo_write(void *opaque, hwaddr addr, uint64_t value, unsigned size,
                              MemTxAttrs attrs)
{
    ExtollState *s = opaque;
    uint8_t bytes[8];

    if (!s->loop.bh) {
        return MEMTX_OK;
    }
    trace_extoll_velo_store(s->node, addr, value, size);
    if (!extoll_velo_may_send(s, addr) ||
        (!extoll_velo_is_staged(s, addr) && !room_wait(s, addr, attrs)) ||
        !rnic_loop_enter(&s->loop)) {
        return MEMTX_OK;
    }
    stq_le_p(bytes, value);
    extoll_velo_store(s, addr, bytes, size);
    /* sends here, because a wake-up of the main loop takes longer */
    rnic_loop_leave_vcpu(&s->loop, true);
    return MEMTX_OK;
}

static MemTxResult velo_read(void *opaque, hwaddr addr, uint64_t *value, unsigned size,
                             MemTxAttrs attrs)
{
    ExtollState *s = opaque;

    *value = 0;
    if (!s->loop.bh) {
        return MEMTX_OK;
    }
    if (size != 8) {
        extoll_count(s, VELO_BAD_STORE);
        return MEMTX_OK;
    }
    if (!rnic_loop_enter(&s->loop)) {
        *value = EXTOLL_TXIO_FULL;
        return MEMTX_OK;
    }
    *value = extoll_velo_may_send(s, addr) ? extoll_velo_commit(s, addr) :
                                             EXTOLL_TXIO_TORN;
    rnic_loop_leave_vcpu(&s->loop, true);
    return MEMTX_OK;
}

/* Takes accesses of all sizes and alignments, so that the device counts bad ones. */
static const MemoryRegionOps velo_ops = {
    .read_with_attrs = velo_read,
    .write_with_attrs = velo_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

void extoll_velo_window_init(ExtollState *s)
{
    memory_region_init_io(&s->velo_mr, OBJECT(s->host.dev), &velo_ops, s, "extoll-velo",
                          EXTOLL_VELO_BAR_BYTES);
}
