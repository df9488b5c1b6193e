/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: does the loads and stores of other nodes.
 */
#ifndef HW_EXANET_SHM_TARGET_H
#define HW_EXANET_SHM_TARGET_H

#include "../engine/fault.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/* The driver resolved a fault of another node's load or store. */
void exanet_target_resolved(ExanetState *s, const ExanetPendingFault *f,
                            bool ok);
void exanet_target_init(ExanetState *s);
void exanet_target_fini(ExanetState *s);
void exanet_target_reset(ExanetState *s);
/* Sends responses; true if there are more that could leave. */
bool exanet_target_run(ExanetState *s);
/* The transaction tables. */
void exanet_target_reg_sync(ExanetState *s);

#endif /* HW_EXANET_SHM_TARGET_H */
