/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds of random tests. */
#ifndef RNIC_SEED_H
#define RNIC_SEED_H

/*
 * Returns and prints the seed of a random test: @fixed plus the number in the
 * environment variable RNIC_TEST_SEED.  Without RNIC_TEST_SEED the seed is @fixed, so
 * that each run of scripts/test is the same.  `scripts/test --full` sets RNIC_TEST_SEED
 * to another number in each run, unless the user has set RNIC_TEST_SEED.
 */
uint32_t random_seed(uint32_t fixed);

#endif /* RNIC_SEED_H */
