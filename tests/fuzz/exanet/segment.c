/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic of ExaNet: blocks and packets of a transfer, rates of flows.  Asserts that
 * the blocks cover the transfer and the packets cover their block without a gap, that
 * no block or packet crosses its boundary, and that fair rates never exceed the
 * capacity of an output.
 */
#include "../fuzz.h"
#include "hw/rnic/exanet/net/flow-rate.h"
#include "hw/rnic/exanet/engine/segment.h"

#define BLOCKS_MAX 64               /* blocks of a transfer that the target checks */
#define FLOWS_MAX 24

/*
 * Asserts that the packets of a block of @len bytes from VA @src to VA @dst cover the
 * block, and that each has a bit of its own.
 */
static void packets_check(uint64_t src, uint64_t dst, uint32_t len)
{
    uint64_t seen = 0;

    for (uint32_t off = 0, bytes; off < len; off += bytes) {
        uint64_t at = dst + off, first = src + off, last;
        unsigned bit = exanet_packet_bit(at);

        bytes = exanet_packetize(dst, len, off);
        last = first + bytes - 1;
        g_assert_cmpuint(bytes, >=, 1);
        g_assert_cmpuint(bytes, <=, len - off);
        g_assert_cmpuint(at % EXANET_MTU + bytes, <=, EXANET_MTU);
        /* only the last packet of a block may end before a boundary */
        g_assert_true((at + bytes) % EXANET_MTU == 0 || off + bytes == len);
        g_assert_cmpuint(bit, <, EXANET_BLOCK_PACKETS);
        g_assert_cmphex(seen & 1ULL << bit, ==, 0);
        seen |= 1ULL << bit;
        g_assert_cmpuint(exanet_source_reads(first, bytes), ==,
                         first / EXANET_SOURCE_PAGE == last / EXANET_SOURCE_PAGE ?
                         1 : 2);
    }
}

static void segments_check(FuzzInput *in)
{
    uint64_t src = fuzz_u64(in), dst = fuzz_u64(in), len = fuzz_u32(in);
    uint32_t max = fuzz_u16(in) % EXANET_BLOCK_BYTES + 1;

    for (unsigned i = 0; len && i < BLOCKS_MAX; i++) {
        uint32_t bytes = exanet_segment(dst, len, max);

        g_assert_cmpuint(bytes, >=, 1);
        g_assert_cmpuint(bytes, <=, MIN(len, max));
        g_assert_false(exanet_block_crosses(dst, bytes));
        /* a block ends at a boundary unless its length is the limit or the rest */
        g_assert_true(bytes == MIN(len, max) ||
                      (dst + bytes) % EXANET_BLOCK_BYTES == 0);
        packets_check(src, dst, bytes);
        src += bytes;
        dst += bytes;
        len -= bytes;
    }
}

static void codes_check(FuzzInput *in)
{
    uint32_t kbps = fuzz_u32(in);
    uint8_t code = exanet_rate_code(kbps), other = fuzz_u8(in);
    uint32_t lowest = exanet_rate_kbps(0);

    g_assert_cmpuint(exanet_rate_kbps(code), <=, MAX(kbps, lowest));
    if (code < 0xff && kbps >= lowest) {
        g_assert_cmpuint(exanet_rate_kbps(code + 1), >, kbps);
    }
    g_assert_cmpuint(exanet_rate_code(exanet_rate_kbps(other)), ==, other);
}

static void measured_check(FuzzInput *in)
{
    uint64_t words = fuzz_u32(in);
    int64_t ns = (int64_t)fuzz_u32(in) + 1;
    uint32_t kbps = exanet_rate_measured(words, ns);

    g_assert_cmpuint(kbps, <, EXANET_RATE_NONE);
    g_assert_cmpuint(exanet_rate_measured(words + 1, ns), >=, kbps);
    g_assert_cmpuint(exanet_rate_measured(words, ns + 1), <=, kbps);
}

/*
 * Asserts that the sum of the flows' rates does not exceed the capacity.  The rate of a
 * flow is its demand or the level, whichever is less.
 */
static void level_check(FuzzInput *in)
{
    uint64_t capacity = fuzz_u32(in), sum = 0;
    unsigned n = fuzz_u8(in) % (FLOWS_MAX + 1);
    uint32_t demand[FLOWS_MAX], level;

    for (unsigned i = 0; i < n; i++) {
        uint8_t shift = fuzz_u8(in) % 33;

        demand[i] = shift == 32 ? EXANET_RATE_NONE : fuzz_u32(in) >> shift;
    }
    level = exanet_fair_level(capacity, demand, n);
    for (unsigned i = 0; i < n; i++) {
        sum += MIN(demand[i], level);
    }
    g_assert_cmpuint(sum, <=, capacity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    segments_check(&in);
    codes_check(&in);
    measured_check(&in);
    level_check(&in);
    return 0;
}
