/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random values that a hostile guest or peer puts where a device reads.  The seed of
 * @rand comes from random_seed().
 */
#ifndef RNIC_RANDOM_H
#define RNIC_RANDOM_H

uint64_t random_u64(GRand *rand);
/* Returns a number that may be near a limit: small, near a power of two, or near 2^32. */
uint32_t random_limit(GRand *rand);
void random_bytes(GRand *rand, void *buf, size_t len);

#endif /* RNIC_RANDOM_H */
