/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the CDMA and the RDMA tracker.
 */
#ifndef HW_EXANET_SHM_CDMA_H
#define HW_EXANET_SHM_CDMA_H

#include "../engine/fault.h"

typedef struct ExanetState ExanetState;

/*
 * Functions that shm.c calls for the CDMA, its registers and the RDMA tracker.
 * exanet_cdma_run() returns true if a channel may be able to continue now.
 * exanet_cdma_tracker_sync() computes the tracker's registers of channel @ch before a
 * read.  The registers of the channel itself need no computation before a read.  @reg:
 * offset of the register of channel @ch that was written, for example EXANET_REG_CDMA_CR.
 */
void exanet_cdma_init(ExanetState *s);
void exanet_cdma_fini(ExanetState *s);
void exanet_cdma_reset(ExanetState *s);
bool exanet_cdma_run(ExanetState *s);
void exanet_cdma_reg_written(ExanetState *s, unsigned ch, unsigned reg);
void exanet_cdma_tracker_sync(ExanetState *s, unsigned ch);
/*
 * Handles the driver's answer to fault @f of a channel.  If a piece waits for this
 * answer, the piece continues (@ok is true), or the transfer fails with DECODE (@ok is
 * false).
 */
void exanet_cdma_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);
/* Ends the transfers of context @c at once, with PROTECTION. */
void exanet_cdma_quiesce(ExanetState *s, unsigned c);
/* Returns the number of transfers of context @c that are under way. */
unsigned exanet_cdma_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_CDMA_H */
