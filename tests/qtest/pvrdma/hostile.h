/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that means harm, or whose driver is broken.  Whatever it puts where the device
 * reads, the device goes on, and transfers between objects that are in order work.  What
 * is random comes from random_seed().
 */
#ifndef PVRDMA_HOSTILE_H
#define PVRDMA_HOSTILE_H

#include "../common/random.h"
#include "qp-pair.h"

#define HOSTILE_SCRATCH_PAGES 16

typedef struct Hostile {
    PvrdmaTest *t;
    GRand *rand;
    PvrdmaQpPair good;                 /* whom nothing may happen to */
    PvrdmaQpPair evil;
    uint64_t evil_at;               /* memory of evil's objects */
    uint64_t scratch;               /* pages for any purpose */
} Hostile;

/* A machine with both pairs; guest errors are expected. */
void hostile_start(Hostile *h, uint32_t seed);
/* Evil's objects anew; the old ones stay. */
void hostile_evil_make(Hostile *h);
/* Drops what evil sent to nobody. */
void hostile_discard(Hostile *h);
/* The good pair works. */
void hostile_check(Hostile *h);
/* The same, there were guest errors, and QEMU ends in order. */
void hostile_finish(Hostile *h);

/* Less than @n. */
uint32_t hostile_below(Hostile *h, uint32_t n);
/* Three times of four. */
bool hostile_often(Hostile *h);
/* Writes random bytes to guest memory. */
void hostile_scribble(Hostile *h, uint64_t at, size_t len);
/* An address of a page or of none: memory, nothing, registers, not aligned. */
uint64_t hostile_any_page(Hostile *h);
/* A directory and its tables, of anything; they are in the scratch pages. */
uint64_t hostile_any_pdir(Hostile *h);

#endif
