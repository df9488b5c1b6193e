/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random values; see random.h. */
#include "qemu/osdep.h"
#include "random.h"

uint64_t random_u64(GRand *rand)
{
    return (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
}

uint32_t random_limit(GRand *rand)
{
    switch (g_rand_int_range(rand, 0, 5)) {
    case 0:
        return g_rand_int_range(rand, 0, 40);
    case 1:
        return (1u << g_rand_int_range(rand, 0, 32)) - g_rand_int_range(rand, 0, 2);
    case 2:
        return -g_rand_int_range(rand, 0, 40);
    default:
        return g_rand_int(rand);
    }
}

void random_bytes(GRand *rand, void *buf, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)buf)[i] = g_rand_int(rand);
    }
}
