/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the accelerator.
 */
#ifndef HW_EXANET_SHM_ACCEL_H
#define HW_EXANET_SHM_ACCEL_H

typedef struct ExanetState ExanetState;

/*
 * Functions that shm.c calls for the accelerator.  exanet_accel_run() returns true if the
 * job could continue now.  @reg: offset of the register that was written, for example
 * EXANET_REG_ACCEL_CTRL; @top: see RNicRegBlock.written.
 */
void exanet_accel_init(ExanetState *s);
void exanet_accel_fini(ExanetState *s);
void exanet_accel_reset(ExanetState *s);
bool exanet_accel_run(ExanetState *s);
void exanet_accel_reg_sync(ExanetState *s);
void exanet_accel_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Makes the job fail with PROTECTION if the job is for context @c, unless the job has
 * failed before.  The job ends when no load or store of the job is under way any more.
 */
void exanet_accel_quiesce(ExanetState *s, unsigned c);
/* Returns 1 while a job for context @c is under way, otherwise 0. */
unsigned exanet_accel_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_ACCEL_H */
