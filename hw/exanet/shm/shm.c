/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: registers, reset and init of the unit.  internal.h lists the
 * parts of the unit.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "qemu/units.h"
#include "accel.h"
#include "aperture.h"
#include "cdma.h"
#include "../exanet.h"
#include "../engine/fault.h"
#include "../base/regs.h"
#include "initiator.h"
#include "internal.h"
#include "target.h"
#include "timing.h"
#include "shm.h"
#include "tgen.h"
#include "../trace.h"

#define APERTURE_MAX (1ULL << 40)   /* bytes; SHM_MAP_OFFSET has 40 bits */
#define APERTURE_TIMEOUT_MAX_MS 60000
#define BRAM_MAX (64 * MiB)
#define CAM_ENTRIES_MAX 64
#define CDMA_BYTES (EXANET_CDMA(1) - EXANET_CDMA(0))    /* size of a block of registers */

/* --- Faults --------------------------------------------------------------- */

static bool shm_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
    if (f->unit != EXANET_FAULT_SHM) {
        return false;
    }
    s->awake |= EXANET_AWAKE_SHM;
    if (f->dst) {
        exanet_target_resolved(s, f, ok);
    } else {
        exanet_cdma_resolved(s, f, ok);
    }
    return true;
}

/* --- Registers ------------------------------------------------------------ */

void exanet_shm_reg_sync(ExanetState *s, unsigned offset)
{
    switch (offset) {
    case 0 ... EXANET_SHM_CAM(0) - EXANET_SHM - 1:
        exanet_initiator_reg_sync(s);
        break;
    case EXANET_SHM_CAM(0) - EXANET_SHM ... EXANET_SHM_MAP(0) - EXANET_SHM - 1:
        exanet_target_reg_sync(s);
        break;
    case EXANET_SHM_TRACKER(0) - EXANET_SHM ...
         EXANET_SHM_TRACKER(EXANET_CDMA_CHANNELS) - EXANET_SHM - 1:
        exanet_cdma_tracker_sync(s, (offset + EXANET_SHM -
                                     EXANET_SHM_TRACKER(0)) / 0x40);
        break;
    case EXANET_REG_TGEN_CFG ... EXANET_TGEN_TARGET(0) - EXANET_SHM - 1:
        exanet_tgen_reg_sync(s);
        break;
    case EXANET_REG_ACCEL_CTRL ... EXANET_SHM_BYTES - 1:
        exanet_accel_reg_sync(s);
        break;
    }
}

void exanet_shm_reg_written(ExanetState *s, unsigned offset, bool top)
{
    s->awake |= EXANET_AWAKE_SHM;
    switch (offset) {
    case EXANET_REG_SHM_FENCE:
        if (exanet_reg_written64(s, EXANET_SHM + EXANET_REG_SHM_FENCE) & 1) {
            exanet_initiator_fence(s);
        }
        break;
    case EXANET_REG_SHM_ERR_INFO:
        exanet_shm_error_cleared(s);
        break;
    case EXANET_REG_SHM_CTRL:
        exanet_shm_schedule(s);         /* accesses that wait may be permitted now */
        break;
    case EXANET_SHM_MAP(0) - EXANET_SHM ...
         EXANET_SHM_MAP(EXANET_SHM_MAPS) - EXANET_SHM - 1:
        exanet_aperture_map_written(s, (offset + EXANET_SHM -
                                        EXANET_SHM_MAP(0)) / 0x20);
        break;
    case EXANET_REG_TGEN_CFG ... EXANET_TGEN_TARGET(0) - EXANET_SHM - 1:
        exanet_tgen_reg_written(s, offset, top);
        break;
    case EXANET_REG_ACCEL_CTRL ... EXANET_SHM_BYTES - 1:
        exanet_accel_reg_written(s, offset, top);
        break;
    case EXANET_CDMA(0) - EXANET_SHM ...
         EXANET_CDMA(EXANET_CDMA_CHANNELS) - EXANET_SHM - 1:
        offset -= EXANET_CDMA(0) - EXANET_SHM;
        exanet_cdma_reg_written(s, offset / CDMA_BYTES, offset % CDMA_BYTES);
        break;
    }
}

uint32_t exanet_shm_latency(const ExanetState *s)
{
    return exanet_timing_latency(s);
}

/* --- Work ----------------------------------------------------------------- */

/*
 * Runs the parts of the unit.  In a run, the target sends responses before the initiator
 * sends requests, and accesses of CPUs are issued before accesses of the other AXI
 * masters.  A part with work left calls exanet_shm_wake().  Returns true if a part may be
 * able to continue now.
 */
static bool shm_run(ExanetState *s, unsigned packets)
{
    bool more;

    exanet_timing_run(s);
    more = exanet_target_run(s);
    more |= exanet_initiator_run(s);
    more |= exanet_aperture_run(s);
    more |= exanet_accel_run(s);
    more |= exanet_tgen_run(s);
    more |= exanet_cdma_run(s);
    return more;
}

static unsigned shm_active(ExanetState *s, unsigned c)
{
    return exanet_initiator_active(s, c) + exanet_cdma_active(s, c) +
           exanet_tgen_active(s, c) + exanet_accel_active(s, c);
}

static void shm_quiesce(ExanetState *s, unsigned c)
{
    exanet_aperture_quiesce(s, c);
    exanet_cdma_quiesce(s, c);
    exanet_tgen_quiesce(s, c);
    exanet_accel_quiesce(s, c);
    exanet_initiator_quiesce(s, c);
}

/* --- Init and reset ------------------------------------------------------- */

static bool properties_check(ExanetState *s, Error **errp)
{
    if (s->aperture_size % (4 * KiB) || s->aperture_size > APERTURE_MAX) {
        error_setg(errp, "property 'aperture-size' must be a multiple of 4 KiB "
                   "and at most 1 TiB");
        return false;
    }
    if (s->bram_size % (4 * KiB) || s->bram_size > BRAM_MAX) {
        error_setg(errp, "property 'bram-size' must be a multiple of 4 KiB and "
                   "at most 64 MiB");
        return false;
    }
    if (s->aperture_size + s->bram_size == 0) {
        error_setg(errp, "one of the properties 'aperture-size' and 'bram-size' "
                   "must not be 0");
        return false;
    }
    if (s->aperture_timeout_ms < 1 ||
        s->aperture_timeout_ms > APERTURE_TIMEOUT_MAX_MS) {
        error_setg(errp, "property 'aperture-timeout-ms' must be 1 to %u",
                   APERTURE_TIMEOUT_MAX_MS);
        return false;
    }
    if (s->cam_entries < 1 || s->cam_entries > CAM_ENTRIES_MAX) {
        error_setg(errp, "property 'cam-entries' must be 1 to %u",
                   CAM_ENTRIES_MAX);
        return false;
    }
    return true;
}

bool exanet_shm_init(ExanetState *s, Error **errp)
{
    if (!properties_check(s, errp)) {
        return false;
    }
    s->shm = g_new0(ExanetShm, 1);
    /* never NULL, because memcpy() from NULL is undefined even for 0 bytes */
    s->shm->bram = g_malloc0(MAX(s->bram_size, 1));
    memory_region_init(&s->aperture_mr, OBJECT(s->host.dev),
                       "exanet-aperture-region",
                       pow2ceil(s->aperture_size + s->bram_size));
    exanet_timing_init(s);
    exanet_initiator_init(s);
    exanet_target_init(s);
    exanet_aperture_init(s);
    exanet_cdma_init(s);
    exanet_tgen_init(s);
    exanet_accel_init(s);
    return true;
}

void exanet_shm_abort(ExanetState *s)
{
    exanet_aperture_abort(s);
    exanet_initiator_abort(s);
}

void exanet_shm_fini(ExanetState *s)
{
    exanet_shm_abort(s);
    exanet_accel_fini(s);
    exanet_tgen_fini(s);
    exanet_cdma_fini(s);
    exanet_aperture_fini(s);
    exanet_target_fini(s);
    exanet_initiator_fini(s);
    exanet_timing_fini(s);
}

void exanet_shm_finalize(ExanetState *s)
{
    if (s->shm) {
        exanet_aperture_finalize(s);
        g_free(s->shm->bram);
        g_free(s->shm);
        s->shm = NULL;
    }
}

static void shm_reset(ExanetState *s)
{
    memset(s->shm->errors, 0, sizeof(s->shm->errors));
    if (s->bram_size) {
        memset(s->shm->bram, 0, s->bram_size);
    }
    exanet_accel_reset(s);
    exanet_tgen_reset(s);
    exanet_cdma_reset(s);
    exanet_aperture_reset(s);
    exanet_target_reset(s);
    exanet_initiator_reset(s);
    exanet_timing_reset(s);
}

const ExanetUnit exanet_shm_unit = {
    .fini = exanet_shm_fini,
    .reset = shm_reset,
    .run = shm_run,
    .awake = EXANET_AWAKE_SHM,
    .active = shm_active,
    .quiesce = shm_quiesce,
    .resolved = shm_resolved,
};
