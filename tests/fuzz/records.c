/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mutator for inputs that consist of records; see records.h. */
#include "records.h"

size_t fuzz_records_mutate(const FuzzRecords *records, uint8_t *data, size_t size,
                           size_t max_size, unsigned seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    size_t bytes = records->bytes;
    size_t count = size ? (size - 1) / bytes : 0;
    uint8_t *at = data + 1 + (count ? g_rand_int_range(rand, 0, count) * bytes : 0);
    uint8_t *end = data + 1 + count * bytes;
    uint8_t copy[FUZZ_RECORD_MAX];

    g_assert_cmpuint(bytes, <=, FUZZ_RECORD_MAX);
    if (!size) {
        data[0] = 0;
    }
    size = 1 + count * bytes;
    switch (g_rand_int_range(rand, 0, 8)) {
    case 0 ... 2:
        if (size + bytes <= max_size) {
            memmove(at + bytes, at, end - at);
            records->make(at, rand);
            return size + bytes;
        }
        break;
    case 3:
        if (count > 1) {
            memmove(at, at + bytes, end - at - bytes);
            return size - bytes;
        }
        break;
    case 4:
        if (count && size + bytes <= max_size) {
            memcpy(end, at, bytes);
            return size + bytes;
        }
        break;
    case 5 ... 6:
        if (records->change(data, count ? at : NULL, rand)) {
            return size;
        }
        break;
    }
    if (count) {
        memcpy(copy, at, bytes);
        LLVMFuzzerMutate(copy, bytes, bytes);
        memcpy(at, copy, bytes);
    }
    return size;
}
