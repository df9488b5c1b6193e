/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the traffic generator.
 */
#ifndef HW_EXANET_SHM_TGEN_H
#define HW_EXANET_SHM_TGEN_H

typedef struct ExanetState ExanetState;

/*
 * Functions that shm.c calls for the traffic generator.  exanet_tgen_run() returns true
 * if the generator may be able to continue now.  @reg: offset of the register that was
 * written, for example EXANET_REG_TGEN_CFG; @top: see RNicRegBlock.written.
 */
void exanet_tgen_init(ExanetState *s);
void exanet_tgen_fini(ExanetState *s);
void exanet_tgen_reset(ExanetState *s);
bool exanet_tgen_run(ExanetState *s);
void exanet_tgen_reg_sync(ExanetState *s);
void exanet_tgen_reg_written(ExanetState *s, unsigned reg, bool top);
/* Stops a run of the generator for context @c: issues no more packets of this run. */
void exanet_tgen_quiesce(ExanetState *s, unsigned c);
/* Returns 1 while a run of the generator for context @c is under way, otherwise 0. */
unsigned exanet_tgen_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_TGEN_H */
