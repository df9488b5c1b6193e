/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hostile guest, or a guest with a broken driver.  The guest stores random values in
 * memory that the device reads.  The device must continue to work, and transfers between
 * objects that the guest does not damage must succeed.
 */
#ifndef PVRDMA_HOSTILE_H
#define PVRDMA_HOSTILE_H

#include "../common/random.h"
#include "qp-pair.h"

#define HOSTILE_SCRATCH_PAGES 16

typedef struct Hostile {
    PvrdmaTest *t;
    GRand *rand;
    PvrdmaQpPair good;                 /* QPs and memory that the guest does not damage */
    PvrdmaQpPair evil;                 /* QPs and memory that the guest damages */
    uint64_t evil_at; /* start of the guest memory of the last objects of @evil */
    uint64_t scratch;               /* address of the scratch pages */
} Hostile;

/*
 * Starts a machine with the pairs @h->good and @h->evil, and random numbers with the seed
 * random_seed(@seed).  Lets pvrdma_stop() expect guest errors.
 */
void hostile_start(Hostile *h, uint32_t seed);
/* Makes new objects for @h->evil; the old objects stay in the device. */
void hostile_evil_make(Hostile *h);
/* Drops all frames of the device that the test has not taken. */
void hostile_discard(Hostile *h);
/* Settles, drops all frames, and asserts that transfers of @h->good succeed. */
void hostile_check(Hostile *h);
/*
 * Asserts that the device has counted guest errors, does the same as hostile_check(), and
 * ends QEMU.
 */
void hostile_finish(Hostile *h);

/* Returns a random number from 0 to @n - 1. */
uint32_t hostile_below(Hostile *h, uint32_t n);
/* Returns true with a probability of 3/4. */
bool hostile_often(Hostile *h);
/* Writes @len random bytes to guest memory at @at. */
void hostile_scribble(Hostile *h, uint64_t at, size_t len);
/*
 * Returns at random the address of a scratch page, an address of the device's BARs, an
 * address without memory, or a random number of 64 bits.
 */
uint64_t hostile_any_page(Hostile *h);
/*
 * Makes a page directory and a page table with 16 random entries each, in the scratch
 * pages.  With a probability of 3/4, entry 0 of the directory is the table, and the
 * entries of the table are addresses of pages.  Returns the address of the directory, or,
 * with a probability of 1/4, a result of hostile_any_page().
 */
uint64_t hostile_any_pdir(Hostile *h);

#endif
