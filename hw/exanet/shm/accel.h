/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the accelerator.
 */
#ifndef HW_EXANET_SHM_ACCEL_H
#define HW_EXANET_SHM_ACCEL_H

typedef struct ExanetState ExanetState;

/*
 * Functions that shm.c calls from the functions of the unit.  exanet_accel_run() returns
 * true if the job could continue now.  @reg: the register that was written,
 * EXANET_REG_ACCEL_; @top: see ExanetRegBlock.
 */
void exanet_accel_init(ExanetState *s);
void exanet_accel_fini(ExanetState *s);
void exanet_accel_reset(ExanetState *s);
bool exanet_accel_run(ExanetState *s);
void exanet_accel_reg_sync(ExanetState *s);
void exanet_accel_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Makes a job of context @c fail with PROTECTION, unless the job has failed before.  The
 * job ends when no load or store is under way.
 */
void exanet_accel_quiesce(ExanetState *s, unsigned c);
/* Returns 1 while a job of context @c is under way, otherwise 0. */
unsigned exanet_accel_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_ACCEL_H */
