/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flits, against vectors, against single-bit errors, and against malformed headers. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <libdeflate.h>
#include "extoll-vectors.h"

static void assert_same(const ExtollFlit *a, const ExtollFlit *b)
{
    g_assert_cmpuint(a->seq, ==, b->seq);
    g_assert_cmpuint(a->vc, ==, b->vc);
    g_assert_cmpuint(a->bytes, ==, b->bytes);
    g_assert_cmpint(a->first, ==, b->first);
    g_assert_cmpint(a->last, ==, b->last);
}

static void test_vector(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(flit_vectors); i++) {
        uint8_t buf[EXTOLL_FLIT_MAX];
        ExtollFlit got;

        g_assert_cmpint(extoll_flit_decode(flit_vectors[i].bytes, flit_vectors[i].length,
                                           &got), ==, EXTOLL_FLIT_OK);
        assert_same(&got, &flit_vectors[i].flit);
        memcpy(buf, flit_vectors[i].bytes, sizeof(buf));
        memset(buf, 0x5a, EXTOLL_FLIT_HEADER);
        g_assert_cmpuint(extoll_flit_encode(buf, &got), ==, flit_vectors[i].length);
        g_assert_cmpmem(buf, flit_vectors[i].length,
                        flit_vectors[i].bytes, flit_vectors[i].length);
    }
}

/* Each single-bit error is found, and no bytes behind the given length are read. */
static void test_flip(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(flit_vectors); i++) {
        unsigned length = flit_vectors[i].length;
        g_autofree uint8_t *buf = g_memdup2(flit_vectors[i].bytes, length);
        ExtollFlit got = { .seq = 99 };

        for (unsigned bit = 0; bit < 8 * length; bit++) {
            buf[bit / 8] ^= 1 << bit % 8;
            g_assert_cmpint(extoll_flit_decode(buf, length, &got), !=, EXTOLL_FLIT_OK);
            g_assert_cmpuint(got.seq, ==, 99);
            buf[bit / 8] ^= 1 << bit % 8;
        }
    }
}

static void test_short(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(flit_vectors); i++) {
        for (unsigned len = 0; len < flit_vectors[i].length; len++) {
            g_autofree uint8_t *buf = g_memdup2(flit_vectors[i].bytes, MAX(len, 1));
            ExtollFlit got;

            g_assert_cmpint(extoll_flit_decode(buf, len, &got), ==, EXTOLL_FLIT_SHORT);
        }
    }
}

/* All headers of 16 bits of flags and length, with a valid CRC. */
static void test_headers(void)
{
    static uint8_t buf[EXTOLL_FLIT_HEADER + 256];

    for (unsigned n = 0; n < 0x10000; n++) {
        unsigned bytes = n >> 8, vc = n & 15, flags = n >> 4 & 15;
        uint32_t head = bytes << 24 | (n & 0xff);
        ExtollFlitStatus want = EXTOLL_FLIT_OK;
        ExtollFlit got;

        stl_le_p(buf, head);
        stl_le_p(buf + 4, libdeflate_crc32(libdeflate_crc32(0, buf, 4), buf + 8, bytes));
        if (bytes == 0 || bytes > 120 || bytes % 8) {
            want = EXTOLL_FLIT_BAD_LENGTH;
        } else if (vc > 1 || flags > 3 || (flags < 2 && bytes != 120)) {
            want = EXTOLL_FLIT_MALFORMED;
        }
        g_assert_cmpint(extoll_flit_decode(buf, sizeof(buf), &got), ==, want);
    }
}

static void test_count(void)
{
    g_assert_cmpuint(extoll_flits(1), ==, 1);
    g_assert_cmpuint(extoll_flits(120), ==, 1);
    g_assert_cmpuint(extoll_flits(121), ==, 2);
    g_assert_cmpuint(extoll_flits(EXTOLL_PACKET_MAX), ==, EXTOLL_PACKET_FLITS);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/flit/vector", test_vector);
    g_test_add_func("/extoll/flit/flip", test_flip);
    g_test_add_func("/extoll/flit/short", test_short);
    g_test_add_func("/extoll/flit/headers", test_headers);
    g_test_add_func("/extoll/flit/count", test_count);
    return g_test_run();
}
