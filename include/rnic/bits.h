/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Bit fields of registers, descriptors and packets.
 *
 * A field is one mask.  The macros derive the field's position from the mask, so that a
 * position cannot contradict the mask.  RNIC_FIELD, RNIC_BIT, RNIC_GET and RNIC_PREP are
 * constant expressions if their arguments are: case labels and static initialisers may use
 * these macros.
 *
 * Device models, kernel modules, libraries and tests use this header.  Values are in host
 * byte order; code that reads or writes memory or packets converts them.
 */
#ifndef RNIC_BITS_H
#define RNIC_BITS_H

#include <linux/types.h>

/* Returns the mask of bits @hi down to @lo, both inclusive, of a 64-bit word. */
#define RNIC_FIELD(hi, lo) \
	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))

/* Returns the mask of bit @n. */
#define RNIC_BIT(n) (1ULL << (n))

/* Returns the value of @field in @word, shifted down to bit 0. */
#define RNIC_GET(field, word) \
	(((__u64)(word) & (field)) >> __builtin_ctzll(field))

/* Returns @value shifted up to the place of @field, without the bits that do not fit. */
#define RNIC_PREP(field, value) \
	(((__u64)(value) << __builtin_ctzll(field)) & (field))

/* Fails the build unless @type has exactly @bytes bytes. */
#ifdef __cplusplus
#define RNIC_ASSERT_SIZE(type, bytes) \
	static_assert(sizeof(type) == (bytes), #type " must be " #bytes " bytes")
#else
#define RNIC_ASSERT_SIZE(type, bytes) \
	_Static_assert(sizeof(type) == (bytes), #type " must be " #bytes " bytes")
#endif

#endif /* RNIC_BITS_H */
