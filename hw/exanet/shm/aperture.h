/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores of the CPUs.
 */
#ifndef HW_EXANET_SHM_APERTURE_H
#define HW_EXANET_SHM_APERTURE_H

typedef struct ExanetState ExanetState;

void exanet_aperture_init(ExanetState *s);
void exanet_aperture_fini(ExanetState *s);
void exanet_aperture_finalize(ExanetState *s);
void exanet_aperture_reset(ExanetState *s);
bool exanet_aperture_run(ExanetState *s);
/* A register of MAP entry @m was written. */
void exanet_aperture_map_written(ExanetState *s, unsigned m);
void exanet_aperture_quiesce(ExanetState *s, unsigned c);
/* Ends what was not issued yet. */
void exanet_aperture_abort(ExanetState *s);
/* Stores of context @c that were not issued yet. */
unsigned exanet_aperture_stores(ExanetState *s, unsigned c);
/* FENCE was written; whether any of the stores that waited then is not over. */
void exanet_aperture_fence(ExanetState *s);
bool exanet_aperture_fenced(ExanetState *s);
/* A load or store of another node is being done, which must not come back by us. */
void exanet_aperture_guard(ExanetState *s, bool on);

#endif /* HW_EXANET_SHM_APERTURE_H */
