/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32: its check value, and the same result as libdeflate's for all lengths. */
#include "qemu/osdep.h"
#include <libdeflate.h>
#include "hw/rnic/core/crc.h"
#include "../../seed.h"

#define BYTES   4096
#define LONGEST 20000               /* bytes, longer than a block of ExaNet */

static void test_check_value(void)
{
    g_assert_cmphex(rnic_crc32(0, "", 0), ==, 0);
    g_assert_cmphex(rnic_crc32(0, "123456789", 9), ==, 0xcbf43926);
    g_assert_cmphex(rnic_crc32(rnic_crc32(0, "1234", 4), "56789", 5), ==, 0xcbf43926);
}

static uint8_t *bytes_new(GRand *rand, size_t len)
{
    uint8_t *buf = g_malloc(len);

    for (size_t i = 0; i < len; i++) {
        buf[i] = g_rand_int(rand);
    }
    return buf;
}

/*
 * ISA-L has other code for short, long and misaligned buffers.  Each copy is allocated
 * alone, so that the sanitizer finds a read behind its end.
 */
static void test_lengths(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(5));

    for (size_t len = 0; len <= LONGEST; len += len < 600 ? 1 : 97) {
        g_autofree uint8_t *buf = bytes_new(rand, len + 16);
        size_t at = len % 16;
        g_autofree uint8_t *alone = g_memdup2(buf + at, len);
        uint32_t crc = g_rand_int(rand);

        g_assert_cmphex(rnic_crc32(crc, buf + at, len), ==,
                        libdeflate_crc32(crc, buf + at, len));
        if (len) {
            g_assert_cmphex(rnic_crc32(crc, alone, len), ==,
                            libdeflate_crc32(crc, buf + at, len));
        }
    }
}

/* The CRC of a buffer is that of its parts, wherever the border is. */
static void test_parts(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(6));
    g_autofree uint8_t *buf = bytes_new(rand, BYTES);
    uint32_t crc = rnic_crc32(0, buf, BYTES);

    for (size_t at = 0; at <= BYTES; at++) {
        g_assert_cmphex(rnic_crc32(rnic_crc32(0, buf, at), buf + at, BYTES - at), ==,
                        crc);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/crc/check-value", test_check_value);
    g_test_add_func("/core/crc/lengths", test_lengths);
    g_test_add_func("/core/crc/parts", test_parts);
    return g_test_run();
}
