/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Bit fields of registers, descriptors and packets.
 *
 * A field is one mask; its position is derived from the mask, so that nothing
 * can disagree.  All macros are constant expressions when their arguments are:
 * they may stand in case labels and static initialisers.
 *
 * Used by device models, kernel modules, libraries and tests.  Values are in
 * host byte order; whoever touches memory or a wire converts.
 */
#ifndef RNIC_BITS_H
#define RNIC_BITS_H

#include <linux/types.h>

/* The mask of bits @hi down to @lo, both inclusive, of a 64-bit word. */
#define RNIC_FIELD(hi, lo) \
	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))

/* The mask of one bit. */
#define RNIC_BIT(n) (1ULL << (n))

/* The value of @field inside @word, shifted down to bit 0. */
#define RNIC_GET(field, word) \
	(((__u64)(word) & (field)) >> __builtin_ctzll(field))

/* @value shifted up to the place of @field; what does not fit is cut off. */
#define RNIC_PREP(field, value) \
	(((__u64)(value) << __builtin_ctzll(field)) & (field))

/* Fails the build when @type is not exactly @bytes long. */
#ifdef __cplusplus
#define RNIC_ASSERT_SIZE(type, bytes) \
	static_assert(sizeof(type) == (bytes), #type " must be " #bytes " bytes")
#else
#define RNIC_ASSERT_SIZE(type, bytes) \
	_Static_assert(sizeof(type) == (bytes), #type " must be " #bytes " bytes")
#endif

#endif /* RNIC_BITS_H */
