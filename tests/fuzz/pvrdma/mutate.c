/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libFuzzer's mutator for programs of pvrdma's targets: the mutator inserts, removes,
 * repeats or changes whole operations, or changes the flags.
 */
#include "bed.h"

#define BYTES BED_OP_BYTES

/* Makes a new operation of random bytes at @at. */
static void op_make(uint8_t *at, GRand *rand)
{
    for (unsigned i = 0; i < BYTES; i++) {
        at[i] = g_rand_int(rand);
    }
    /*
     * the first argument of most operations is small, because many arguments are
     * repetitions or the index of a QP
     */
    at[1] = g_rand_int_range(rand, 0, 4) ? at[1] % 3 : at[1];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    size_t ops = size ? (size - 1) / BYTES : 0;
    uint8_t *at = data + 1 + (ops ? g_rand_int_range(rand, 0, ops) * BYTES : 0);
    uint8_t *end = data + 1 + ops * BYTES;

    if (!size) {
        data[0] = 0;
    }
    size = 1 + ops * BYTES;
    switch (g_rand_int_range(rand, 0, 8)) {
    case 0 ... 2:
        if (size + BYTES <= max_size) {
            memmove(at + BYTES, at, end - at);
            op_make(at, rand);
            return size + BYTES;
        }
        break;
    case 3:
        if (ops > 1) {
            memmove(at, at + BYTES, end - at - BYTES);
            return size - BYTES;
        }
        break;
    case 4:
        if (ops && size + BYTES <= max_size) {
            memcpy(end, at, BYTES);
            return size + BYTES;
        }
        break;
    case 5:
        data[0] ^= g_rand_int(rand) & bed_program_flags;
        return size;
    case 6:
        /* operations have most of their arguments in the first bytes */
        if (ops) {
            at[g_rand_int_range(rand, 0, BYTES / 4)] = g_rand_int(rand);
            return size;
        }
        break;
    }
    if (ops) {
        uint8_t op[BYTES];
        size_t len;

        memcpy(op, at, BYTES);
        len = LLVMFuzzerMutate(op, BYTES, BYTES);
        memcpy(at, op, len);
    }
    return size;
}
