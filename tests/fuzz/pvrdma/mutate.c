/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libFuzzer's mutator for programs of pvrdma's targets. */
#include "../records.h"
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

static bool op_change(uint8_t *flags, uint8_t *at, GRand *rand)
{
    if (g_rand_boolean(rand)) {
        *flags ^= g_rand_int(rand) & bed_program_flags;
        return true;
    }
    if (at) {
        /* operations have most of their arguments in the first bytes */
        at[g_rand_int_range(rand, 0, BYTES / 4)] = g_rand_int(rand);
    }
    return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static const FuzzRecords records = { BYTES, op_make, op_change };

    return fuzz_records_mutate(&records, data, size, max_size, seed);
}
