/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds of random tests. */
#ifndef RNIC_SEED_H
#define RNIC_SEED_H

/*
 * Returns the seed of a random test and prints it.  The seed is @fixed, so that each run
 * of the gate is the same.  RNIC_TEST_SEED, which --full sets to another number each
 * time, is added to @fixed.
 */
uint32_t random_seed(uint32_t fixed);

#endif /* RNIC_SEED_H */
