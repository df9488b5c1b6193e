/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random values for data, and for memory, registers and frames that a hostile guest or
 * peer writes and a device reads.
 */
#ifndef RNIC_RANDOM_H
#define RNIC_RANDOM_H

uint64_t random_u64(GRand *rand);
/*
 * Returns a small number, a power of two or a power of two minus 1, a number just below
 * 2^32, or any 32-bit number.
 */
uint32_t random_limit(GRand *rand);
void random_bytes(GRand *rand, void *buf, size_t len);

#endif /* RNIC_RANDOM_H */
