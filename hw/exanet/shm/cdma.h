/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the CDMA and the RDMA tracker.
 */
#ifndef HW_EXANET_SHM_CDMA_H
#define HW_EXANET_SHM_CDMA_H

#include "../engine/fault.h"

typedef struct ExanetState ExanetState;

/*
 * The part of the CDMA of the functions of the unit.  shm.c and blocks.c call these
 * functions.  @ch: number of the channel; @reg: EXANET_REG_CDMA_; @top: see
 * ExanetRegBlock.
 */
void exanet_cdma_init(ExanetState *s);
void exanet_cdma_fini(ExanetState *s);
void exanet_cdma_reset(ExanetState *s);
bool exanet_cdma_run(ExanetState *s);
void exanet_cdma_reg_sync(ExanetState *s, unsigned ch);
void exanet_cdma_reg_written(ExanetState *s, unsigned ch, unsigned reg,
                             bool top);
void exanet_cdma_tracker_sync(ExanetState *s, unsigned ch);
/*
 * Handles the driver's answer to fault @f of a channel.  The piece that waits for the
 * answer continues if @ok is true, and fails otherwise.
 */
void exanet_cdma_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);
/* Makes the transfers of context @c fail with PROTECTION. */
void exanet_cdma_quiesce(ExanetState *s, unsigned c);
/* Returns the number of transfers of context @c that are under way. */
unsigned exanet_cdma_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_CDMA_H */
