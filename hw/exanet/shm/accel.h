/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the accelerator.
 */
#ifndef HW_EXANET_SHM_ACCEL_H
#define HW_EXANET_SHM_ACCEL_H

typedef struct ExanetState ExanetState;

/* Parts of functions of ExanetUnit and ExanetRegBlock, for shm.c; @reg: EXANET_REG_. */
void exanet_accel_init(ExanetState *s);
void exanet_accel_fini(ExanetState *s);
void exanet_accel_reset(ExanetState *s);
bool exanet_accel_run(ExanetState *s);
void exanet_accel_reg_sync(ExanetState *s);
void exanet_accel_reg_written(ExanetState *s, unsigned reg, bool top);
/* Makes a job of context @c fail; the job ends when no load or store is under way. */
void exanet_accel_quiesce(ExanetState *s, unsigned c);
/* Returns 1 while a job of context @c is not complete. */
unsigned exanet_accel_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_ACCEL_H */
