/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the AXI masters of this node; the initiator, which sends their
 * loads and stores to a node; and the target, which executes loads and stores of nodes.
 * A load or store may also be for this node itself.
 *
 *   CPU --> aperture.c --+                                    +--> memory of a process
 *           tgen.c ------+--> shm/initiator.c ==> crossbar ==> shm/target.c
 *           accel.c -----+       ^  responses  <== crossbar <==+--> block RAM
 *           cdma.c ------+-------+
 *
 * shm.c has the registers and the reset of the unit, shm/timing.c the duration of each
 * step.  Shared memory does not use the RDMA units of the engine.  This header has the
 * state and the functions that the files of shared memory share.
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
    uint8_t *bram;                  /* s->bram_size bytes */
    uint32_t errors[EXANET_CONTEXTS];   /* calls of exanet_shm_error(), by context */
} ExanetShm;

/*
 * If @work is true, makes the next round of the loop run the unit.  Does not schedule the
 * loop.  @work: a part has work left.
 */
static inline void exanet_shm_wake(ExanetState *s, bool work)
{
    s->awake |= work ? EXANET_AWAKE_SHM : 0;
}

/*
 * Makes the loop run the unit, because a part of the unit has work; see
 * rnic_loop_schedule().
 */
static inline void exanet_shm_schedule(ExanetState *s)
{
    s->awake |= EXANET_AWAKE_SHM;
    exanet_schedule(s);
}

/* Returns register @reg (EXANET_REG_), 4 bytes, of the block EXANET_SHM. */
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
 * retransmissions (CDMA: rounds).  Raises the interrupt, counts the error, and sets
 * ERR_GVA and ERR_INFO unless ERR_INFO has an earlier error.  @resp ACK means that there
 * was no answer.  @c is EXANET_CONTEXTS if the address is in no segment; then @gva is the
 * offset in the aperture.
 */
void exanet_shm_error(ExanetState *s, unsigned c, uint64_t gva,
                      enum exanet_shm_class class, enum exanet_resp resp,
                      unsigned retries);

/*
 * Handles a write to ERR_INFO: if VALID is clear after the write, clears ERR_GVA,
 * ERR_INFO and interrupt cause SHM.
 */
void exanet_shm_error_cleared(ExanetState *s);

#endif /* HW_EXANET_SHM_INTERNAL_H */
