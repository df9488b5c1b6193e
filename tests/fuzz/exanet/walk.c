/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page-table walker of ExaNet on page tables with entries from the input. */
#include "../fuzz.h"
#include "hw/rnic/exanet/engine/walk.h"

#define LEVELS_MAX 6

typedef struct Tables {
    const uint8_t *bytes;
    size_t entries;
    unsigned reads;
} Tables;

/*
 * Reads an entry of a page table: every address holds one of the entries of the input.
 * Returns false if the input has no entry.
 */
static bool entry_read(void *opaque, uint64_t pa, uint64_t *entry)
{
    Tables *t = opaque;

    g_assert_cmpuint(pa % 8, ==, 0);
    g_assert_cmpuint(++t->reads, <=, LEVELS_MAX);
    if (!t->entries) {
        return false;
    }
    *entry = ldq_le_p(t->bytes + (pa >> 3) * 0x9e3779b97f4a7c15ULL % t->entries * 8);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    ExanetWalk walk = {
        .format = fuzz_u8(&in) & 0xf, .read = entry_read,
    };
    Tables tables = { .reads = 0 };
    uint64_t va;
    ExanetLeaf read = { }, write = { };
    enum exanet_resp resp;

    walk.va_bits = fuzz_u8(&in);
    walk.root = fuzz_u64(&in);
    va = fuzz_u64(&in);
    tables.bytes = in.at;
    tables.entries = in.left / 8;
    walk.opaque = &tables;
    resp = exanet_walk(&walk, va, false, &read);
    if (resp == EXANET_RESP_ACK) {
        g_assert_cmpuint(read.shift, >=, 12);
        g_assert_cmpuint(read.shift, <, 52);
        g_assert_cmphex(read.pa & ((1ULL << read.shift) - 1), ==, 0);
        g_assert_true(walk.format == EXANET_FORMAT_IDENTITY || !(read.pa >> 52));
    } else {
        g_assert_true(resp == EXANET_RESP_FAULT || resp == EXANET_RESP_DECODE);
    }
    tables.reads = 0;
    if (exanet_walk(&walk, va, true, &write) == EXANET_RESP_ACK) {
        /* a writable page is readable too, at the same address */
        g_assert_cmpint(resp, ==, EXANET_RESP_ACK);
        g_assert_true(write.write);
        g_assert_cmphex(write.pa, ==, read.pa);
        g_assert_cmpuint(write.shift, ==, read.shift);
    } else if (resp == EXANET_RESP_ACK) {
        g_assert_false(read.write);
    }
    return 0;
}
