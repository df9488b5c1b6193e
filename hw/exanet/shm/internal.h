/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the AXI masters of this node; the initiator, which sends the
 * masters' loads and stores to other nodes or to this node; and the target, which
 * executes the loads and stores that nodes send to this node.
 *
 *   CPU --> aperture.c --+                                    +--> memory of a process
 *           tgen.c ------+--> shm/initiator.c ==> crossbar ==> shm/target.c
 *           accel.c -----+       ^  responses  <== crossbar <==+--> block RAM
 *           cdma.c ------+-------+
 *
 * shm.c has the registers and the reset of the unit, shm/timing.c the duration of each
 * step.  Of the RDMA units of the engine, shared memory uses only the receiver's table of
 * sources.  This header has the state and the functions that the files of shared memory
 * share.
 */
#ifndef HW_EXANET_SHM_INTERNAL_H
#define HW_EXANET_SHM_INTERNAL_H

#include "../exanet.h"
#include "shm.h"

typedef struct ExanetAperture ExanetAperture;
typedef struct ExanetInitiator ExanetInitiator;
typedef struct ExanetTarget ExanetTarget;
typedef struct ExanetCdma ExanetCdma;
typedef struct ExanetTgen ExanetTgen;
typedef struct ExanetAccel ExanetAccel;
typedef struct ExanetTiming ExanetTiming;

typedef struct ExanetShm {
    ExanetAperture *aperture;
    ExanetInitiator *initiator;
    ExanetTarget *target;
    ExanetCdma *cdma;
    ExanetTgen *tgen;
    ExanetAccel *accel;
    ExanetTiming *timing;           /* NULL: shm-timing=off */
    uint8_t *bram;                  /* block RAM, ExanetState.bram_size bytes */
    /* by context: number of calls of exanet_shm_error() since the last reset */
    uint32_t errors[EXANET_CONTEXTS];
} ExanetShm;

/*
 * If @work is true, makes the next round of the loop run the shared memory unit (if the
 * device is enabled), because a part of the unit has work left.  Does not schedule the
 * loop.
 */
static inline void exanet_shm_wake(ExanetState *s, bool work)
{
    s->awake |= work ? EXANET_AWAKE_SHM : 0;
}

/*
 * Makes the loop run the shared memory unit, because a part of the unit has work; see
 * rnic_loop_schedule().
 */
static inline void exanet_shm_schedule(ExanetState *s)
{
    s->awake |= EXANET_AWAKE_SHM;
    exanet_schedule(s);
}

/* Returns the 4-byte register at offset @reg of the block EXANET_SHM. */
static inline uint32_t exanet_shm_get32(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SHM + reg);
}
/* Returns SHM_CTRL.  If CTRL_STRICT is set, the result has neither WAW nor ORDER. */
static inline uint32_t exanet_shm_ctrl(ExanetState *s)
{
    uint32_t ctrl = exanet_shm_get32(s, EXANET_REG_SHM_CTRL);

    return s->strict ? ctrl & ~(EXANET_SHM_CTRL_WAW | EXANET_SHM_CTRL_ORDER) :
           ctrl;
}
/*
 * Reports that an access of context @c to @gva has failed with @resp after @retries
 * retransmissions (CDMA: after @retries rounds).  Raises interrupt cause SHM, counts the
 * error, and sets registers SHM_ERR_GVA and SHM_ERR_INFO unless SHM_ERR_INFO has an
 * earlier error.  @resp ACK means that there was no answer.  @c is EXANET_CONTEXTS if the
 * address is in no segment; then @gva is the offset in the aperture.
 */
void exanet_shm_error(ExanetState *s, unsigned c, uint64_t gva,
                      enum exanet_shm_class class, enum exanet_resp resp,
                      unsigned retries);

/*
 * Handles a write to register SHM_ERR_INFO: if VALID is clear after the write, clears
 * SHM_ERR_GVA, SHM_ERR_INFO and interrupt cause SHM.
 */
void exanet_shm_error_cleared(ExanetState *s);

#endif /* HW_EXANET_SHM_INTERNAL_H */
