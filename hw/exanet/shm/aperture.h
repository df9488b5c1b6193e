/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores of the CPUs.
 */
#ifndef HW_EXANET_SHM_APERTURE_H
#define HW_EXANET_SHM_APERTURE_H

typedef struct ExanetState ExanetState;

/* Parts of the functions of ExanetUnit, for shm.c. */
void exanet_aperture_init(ExanetState *s);
void exanet_aperture_fini(ExanetState *s);
/* Frees the state, when no vCPU can use it any more. */
void exanet_aperture_finalize(ExanetState *s);
void exanet_aperture_reset(ExanetState *s);
bool exanet_aperture_run(ExanetState *s);
/* Decodes MAP entry @m after a write to one of its registers. */
void exanet_aperture_map_written(ExanetState *s, unsigned m);
/* Invalidates the MAP entries of context @c, and ends its accesses not issued yet. */
void exanet_aperture_quiesce(ExanetState *s, unsigned c);
/* Ends all accesses that are not issued yet. */
void exanet_aperture_abort(ExanetState *s);
/* Returns the number of stores of context @c that are not issued yet. */
unsigned exanet_aperture_stores(ExanetState *s, unsigned c);
/*
 * Marks all stores that are not issued yet, when FENCE is written.
 */
void exanet_aperture_fence(ExanetState *s);
/* Returns true while a store that exanet_aperture_fence() has marked is not complete. */
bool exanet_aperture_fenced(ExanetState *s);
/*
 * Begins (@on) or ends an access of another node to a device of this machine.  In between
 * the aperture refuses all accesses, because that device may access the aperture.
 */
void exanet_aperture_guard(ExanetState *s, bool on);

#endif /* HW_EXANET_SHM_APERTURE_H */
