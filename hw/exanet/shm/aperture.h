/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores of the CPUs to the aperture.
 */
#ifndef HW_EXANET_SHM_APERTURE_H
#define HW_EXANET_SHM_APERTURE_H

typedef struct ExanetState ExanetState;

/*
 * Functions that shm.c calls for the aperture.  exanet_aperture_run() always returns
 * false.
 */
void exanet_aperture_init(ExanetState *s);
void exanet_aperture_fini(ExanetState *s);
/* Frees the state of the aperture, when no vCPU can use this state any more. */
void exanet_aperture_finalize(ExanetState *s);
void exanet_aperture_reset(ExanetState *s);
bool exanet_aperture_run(ExanetState *s);
/* Decodes MAP entry @m after a change of a register of the entry. */
void exanet_aperture_map_written(ExanetState *s, unsigned m);
/*
 * Invalidates the MAP entries of context @c.  Ends the accesses of context @c that are
 * not issued yet, with PROTECTION.
 */
void exanet_aperture_quiesce(ExanetState *s, unsigned c);
/* Ends all accesses that are not issued yet, with PROTECTION. */
void exanet_aperture_abort(ExanetState *s);
/* Returns the number of stores of context @c that are not issued yet. */
unsigned exanet_aperture_stores(ExanetState *s, unsigned c);
/*
 * Handles a write of 1 to SHM_FENCE: marks all stores of the aperture that are not issued
 * yet, and unmarks all other accesses.
 */
void exanet_aperture_fence(ExanetState *s);
/* Returns true while a store that exanet_aperture_fence() has marked is not complete. */
bool exanet_aperture_fenced(ExanetState *s);
/*
 * Begins (@on is true) or ends an access of a node to another device of this machine.
 * Between begin and end, the aperture of @s, except the block RAM, refuses all accesses,
 * because the other device may access the aperture.  During this time no vCPU begins to
 * wait in the aperture of any ExaNet device of the machine.
 */
void exanet_aperture_guard(ExanetState *s, bool on);

#endif /* HW_EXANET_SHM_APERTURE_H */
