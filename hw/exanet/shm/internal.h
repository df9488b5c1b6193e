/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: what its parts share.
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

struct ExanetShm {
    ExanetAperture *aperture;
    ExanetInitiator *initiator;
    ExanetTarget *target;
    ExanetCdma *cdma;
    ExanetTgen *tgen;
    ExanetAccel *accel;
    ExanetTiming *timing;           /* NULL: shm-timing=off */
    uint8_t *bram;                  /* s->bram_size bytes */
    uint32_t errors[EXANET_CONTEXTS];   /* that exanet_shm_error() was told */
};

/* Register @reg of the block EXANET_SHM. */
static inline uint32_t exanet_shm_get32(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SHM + reg);
}
/* Returns the bits of SHM_CTRL without those that CTRL_STRICT excludes. */
static inline uint32_t exanet_shm_ctrl(ExanetState *s)
{
    uint32_t ctrl = exanet_shm_get32(s, EXANET_REG_SHM_CTRL);

    return s->strict ? ctrl & ~(EXANET_SHM_CTRL_WAW | EXANET_SHM_CTRL_ORDER) :
           ctrl;
}
/*
 * A load or store of context @c to @gva has failed for good with @resp, ACK: there was
 * no answer, after @retries copies: ERR_GVA, ERR_INFO, interrupt, error count.  @c is
 * EXANET_CONTEXTS if it is in no segment.
 */
void exanet_shm_error(ExanetState *s, unsigned c, uint64_t gva,
                      enum exanet_shm_class class, enum exanet_resp resp,
                      unsigned retries);

/* ERR_INFO was written: the next error may be stored. */
void exanet_shm_error_cleared(ExanetState *s);

#endif /* HW_EXANET_SHM_INTERNAL_H */
