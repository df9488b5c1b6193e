/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds of random tests. */
#ifndef RNIC_SEED_H
#define RNIC_SEED_H

/*
 * Returns the seed of a random test and prints the seed: @fixed plus the value of
 * RNIC_TEST_SEED.  Without RNIC_TEST_SEED the seed is @fixed, so that each run of the
 * gate is the same.  --full sets RNIC_TEST_SEED to another number each time, unless the
 * user has set a value.
 */
uint32_t random_seed(uint32_t fixed);

#endif /* RNIC_SEED_H */
