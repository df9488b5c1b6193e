/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the target, which executes loads and stores that nodes request,
 * also loads and stores of this node.
 */
#ifndef HW_EXANET_SHM_TARGET_H
#define HW_EXANET_SHM_TARGET_H

#include "../engine/fault.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/*
 * Handles the driver's answer to fault @f of an access that node @f->peer requested:
 * sends RESOLVED to that node if @ok is true, or DECODE if @ok is false.  The response
 * may be lost, as any response of the target.
 */
void exanet_target_resolved(ExanetState *s, const ExanetPendingFault *f,
                            bool ok);
void exanet_target_init(ExanetState *s);
void exanet_target_fini(ExanetState *s);
void exanet_target_reset(ExanetState *s);
/*
 * Sends all responses that can leave now.  Returns false, because each other response
 * waits for an event.
 */
bool exanet_target_run(ExanetState *s);
/* Computes the registers of the target's transaction tables (SHM_CAM) before a read. */
void exanet_target_reg_sync(ExanetState *s);

#endif /* HW_EXANET_SHM_TARGET_H */
