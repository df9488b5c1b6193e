/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hostile guest, or a guest with a broken driver.  The guest stores random values where
 * the device reads.  The device must continue to work, and transfers between other
 * objects must succeed.  The seed comes from random_seed().
 */
#ifndef PVRDMA_HOSTILE_H
#define PVRDMA_HOSTILE_H

#include "../common/random.h"
#include "qp-pair.h"

#define HOSTILE_SCRATCH_PAGES 16

typedef struct Hostile {
    PvrdmaTest *t;
    GRand *rand;
    PvrdmaQpPair good;                 /* objects that the guest does not damage */
    PvrdmaQpPair evil;                 /* objects that the guest damages */
    uint64_t evil_at; /* address where the memory of evil's last objects begins */
    uint64_t scratch;               /* pages for any purpose */
} Hostile;

/* Starts a machine with both pairs; guest errors are expected. */
void hostile_start(Hostile *h, uint32_t seed);
/* Makes new objects of evil; the old ones stay. */
void hostile_evil_make(Hostile *h);
/* Drops all frames of the device that the test has not taken. */
void hostile_discard(Hostile *h);
/* Settles, drops all frames, and asserts that the good pair works. */
void hostile_check(Hostile *h);
/*
 * Does the same as hostile_check(), asserts that there were guest errors, and ends
 * QEMU.
 */
void hostile_finish(Hostile *h);

/* Returns a random number less than @n. */
uint32_t hostile_below(Hostile *h, uint32_t n);
/* Returns true with a probability of 3/4. */
bool hostile_often(Hostile *h);
/* Writes random bytes to guest memory. */
void hostile_scribble(Hostile *h, uint64_t at, size_t len);
/* Returns an address of memory, of registers or of nothing, or any 64-bit number. */
uint64_t hostile_any_page(Hostile *h);
/*
 * Makes a page directory and a table with random entries, in the scratch pages.
 * Returns the address of the directory, or sometimes that of any page.
 */
uint64_t hostile_any_pdir(Hostile *h);

#endif
