/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers are cut into blocks, and blocks into packets.  Compares the results with the
 * vectors of the ExaNet notes, and checks the rules for each alignment.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "hw/rnic/exanet/engine/segment.h"
#include "hw/rnic/exanet/base/wire.h"

typedef struct Packet {
    uint64_t dst;
    uint32_t bytes;
    unsigned bit;
} Packet;

typedef struct Vector {
    uint64_t src;
    uint64_t dst;
    uint32_t len;
    unsigned packets;
    Packet first;
    Packet last;
    unsigned words;         /* words on the link, with header and footer */
    unsigned two_reads;     /* packets gathered from two pages */
} Vector;

static const Vector vectors[] = {
    { 0x1000, 0x2000, 1, 1,
      { 0x2000, 1, 32 }, { 0x2000, 1, 32 }, 3, 0 },
    { 0x1000, 0x20ff, 2, 2,
      { 0x20ff, 1, 32 }, { 0x2100, 1, 33 }, 6, 0 },
    { 0x1003, 0x2005, 600, 3,
      { 0x2005, 251, 32 }, { 0x2200, 93, 34 }, 44, 0 },
    { 0x0fff, 0x3f80, 128, 1,
      { 0x3f80, 128, 63 }, { 0x3f80, 128, 63 }, 10, 1 },
    { 0x10000, 0x8000, 16384, 64,
      { 0x8000, 256, 0 }, { 0xbf00, 256, 63 }, 1152, 0 },
    { 0x12345, 0x80ab, 16213, 64,
      { 0x80ab, 85, 0 }, { 0xbf00, 256, 63 }, 1142, 4 },
};

static void packet_check(const Packet *want, uint64_t dst, uint32_t bytes)
{
    g_assert_cmphex(dst, ==, want->dst);
    g_assert_cmpuint(bytes, ==, want->bytes);
    g_assert_cmpuint(exanet_packet_bit(dst), ==, want->bit);
}

static void test_packet_vectors(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
        const Vector *v = &vectors[i];
        unsigned packets = 0, words = 0, two_reads = 0;
        uint32_t off = 0;

        while (off < v->len) {
            uint32_t n = exanet_packetize(v->dst, v->len, off);

            g_assert_cmpuint(n, >, 0);
            if (off == 0) {
                packet_check(&v->first, v->dst, n);
            }
            if (off + n == v->len) {
                packet_check(&v->last, v->dst + off, n);
            }
            packets++;
            words += 2 + exanet_payload_words(v->dst + off, n);
            two_reads += exanet_source_reads(v->src + off, n) == 2;
            off += n;
        }
        g_assert_cmpuint(off, ==, v->len);
        g_assert_cmpuint(packets, ==, v->packets);
        g_assert_cmpuint(words, ==, v->words);
        g_assert_cmpuint(two_reads, ==, v->two_reads);
    }
}

/*
 * Cuts @len bytes to @dst into blocks.  Returns their number, and the sizes of the first
 * and the last block.
 */
static unsigned blocks_cut(uint64_t dst, uint64_t len, uint32_t max,
                           uint32_t *first, uint32_t *last)
{
    unsigned blocks = 0;

    *first = 0;
    while (len) {
        uint32_t n = exanet_segment(dst, len, max);

        g_assert_cmpuint(n, >, 0);
        g_assert_cmpuint(n, <=, max);
        g_assert_false(exanet_block_crosses(dst, n));
        if (!*first) {
            *first = n;
        }
        *last = n;
        dst += n;
        len -= n;
        blocks++;
    }
    return blocks;
}

static void test_segment_vectors(void)
{
    static const struct {
        uint64_t dst, len;
        uint32_t max, blocks, first, last;
    } v[] = {
        { 0, MiB, 16384, 64, 16384, 16384 },
        { 1, MiB, 16384, 65, 16383, 1 },
        { 0x3fff, 2, 16384, 2, 1, 1 },
        { 100, 16384, 16384, 2, 16284, 100 },
        { 0, 16385, 16384, 2, 16384, 1 },
        { 1, MiB + 1, 16384, 65, 16383, 2 },
        { 0, MiB + 1, 16384, 65, 16384, 1 },
        { 0, 1, 16384, 1, 1, 1 },
        { 0x3ff0, 8192, 4096, 3, 16, 4080 },
        { 0x5500000000ffULL, UINT32_MAX, 16384, 262145, 16129, 254 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(v); i++) {
        uint32_t first, last;

        g_assert_cmpuint(blocks_cut(v[i].dst, v[i].len, v[i].max, &first,
                                    &last), ==, v[i].blocks);
        g_assert_cmpuint(first, ==, v[i].first);
        g_assert_cmpuint(last, ==, v[i].last);
    }
}

static void test_block_crosses(void)
{
    g_assert_false(exanet_block_crosses(0x8000, 16384));
    g_assert_true(exanet_block_crosses(0x8001, 16384));
    g_assert_false(exanet_block_crosses(0xbfff, 1));
    g_assert_true(exanet_block_crosses(0xbfff, 2));
}

/* For each alignment, no packet crosses 256 B or has more than 16 words. */
static void test_every_alignment(void)
{
    static const uint32_t lengths[] = {
        1, 2, 15, 16, 17, 255, 256, 257, 4095, 16384
    };

    for (unsigned dst = 0; dst < EXANET_BLOCK_BYTES; dst++) {
        for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
            uint32_t len = exanet_segment(dst, lengths[i], EXANET_BLOCK_BYTES);
            uint64_t bits = 0;

            for (uint32_t off = 0; off < len;) {
                uint32_t n = exanet_packetize(dst, len, off);
                uint64_t bit = 1ULL << exanet_packet_bit(dst + off);

                g_assert_cmpuint(((dst + off) & 255) + n, <=, EXANET_MTU);
                g_assert_cmpuint(exanet_payload_words(dst + off, n), <=,
                                 EXANET_PAYLOAD_WORDS);
                g_assert_cmphex(bits & bit, ==, 0);
                bits |= bit;
                off += n;
            }
        }
    }
}

static void test_source_reads(void)
{
    g_assert_cmpuint(exanet_source_reads(0x1f00, 256), ==, 1);
    g_assert_cmpuint(exanet_source_reads(0x1f01, 256), ==, 2);
    g_assert_cmpuint(exanet_source_reads(0x1fff, 1), ==, 1);
    g_assert_cmpuint(exanet_source_reads(0x1fff, 2), ==, 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/segment/packet-vectors", test_packet_vectors);
    g_test_add_func("/exanet/segment/block-vectors", test_segment_vectors);
    g_test_add_func("/exanet/segment/block-crosses", test_block_crosses);
    g_test_add_func("/exanet/segment/every-alignment", test_every_alignment);
    g_test_add_func("/exanet/segment/source-reads", test_source_reads);
    return g_test_run();
}
