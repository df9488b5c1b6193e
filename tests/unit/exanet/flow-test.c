/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The 8-bit rates of flow-rate packets, and the fair share of an output. */
#include "qemu/osdep.h"
#include "hw/rnic/exanet/net/flow-rate.h"

#define RANDOM_ROUNDS 2000
#define FLOWS 64

static void test_codes(void)
{
    g_assert_cmpuint(exanet_rate_kbps(0), ==,
                     EXANET_RATE_MANTISSAS * EXANET_RATE_UNIT_KBPS);
    for (unsigned code = 0; code < 256; code++) {
        uint32_t rate = exanet_rate_kbps(code);
        /* by the formula of a rate in include/rnic/exanet/wire.h */
        uint64_t want = 16 + (code & 15);

        want = (want << (code >> 4)) * EXANET_RATE_UNIT_KBPS;
        g_assert_cmpuint(rate, ==, want);
        g_assert_cmpuint(exanet_rate_code(rate), ==, code);
        if (code) {
            g_assert_cmpuint(rate, >, exanet_rate_kbps(code - 1));
            g_assert_cmpuint(exanet_rate_code(rate - 1), ==, code - 1);
        }
    }
}

/* Asserts that the code of @rate means at most @rate, and less than 1/16 below it. */
static void assert_rounded(uint32_t rate)
{
    uint8_t code = exanet_rate_code(rate);
    uint32_t advertised = exanet_rate_kbps(code);

    if (rate < exanet_rate_kbps(0)) {
        g_assert_cmpuint(code, ==, 0);
        return;
    }
    g_assert_cmpuint(advertised, <=, rate);
    if (code < 255) {
        g_assert_cmpuint(exanet_rate_kbps(code + 1), >, rate);
        g_assert_cmpuint(advertised, >, rate - rate / 16 - 1);
    }
}

static void test_rounding(void)
{
    assert_rounded(0);
    assert_rounded(1);
    assert_rounded(UINT32_MAX);
    for (unsigned shift = 0; shift < 32; shift++) {
        assert_rounded(1u << shift);
        assert_rounded((1u << shift) - 1);
    }
    for (unsigned i = 0; i < RANDOM_ROUNDS; i++) {
        assert_rounded((uint32_t)g_test_rand_int() >>
                       g_test_rand_int_range(0, 32));
    }
}

static void test_measured(void)
{
    /* one word, 128 bits, in a microsecond */
    g_assert_cmpuint(exanet_rate_measured(1, 1000), ==, 128000);
    g_assert_cmpuint(exanet_rate_measured(0, 1), ==, 0);
    g_assert_cmpuint(exanet_rate_measured(UINT32_MAX, 1), <, EXANET_RATE_NONE);
}

static void assert_level(uint64_t capacity, uint32_t want, unsigned n, ...)
{
    uint32_t demand[FLOWS];
    va_list ap;

    va_start(ap, n);
    for (unsigned i = 0; i < n; i++) {
        demand[i] = va_arg(ap, uint32_t);
    }
    va_end(ap);
    g_assert_cmpuint(exanet_fair_level(capacity, demand, n), ==, want);
}

static void test_level(void)
{
    const uint32_t none = EXANET_RATE_NONE;

    assert_level(1000, none, 0);
    assert_level(1000, 1000, 1, none);
    assert_level(1000, 500, 2, none, none);
    assert_level(1000, 450, 3, none, 100, none);
    assert_level(1000, 300, 4, none, 100, none, 300);
    assert_level(1000, 400, 4, none, 50, 150, none);
    /* enough capacity for all */
    assert_level(1000, none, 3, 300, 100, 500);
    assert_level(1000, none, 2, 500, 500);
    assert_level(1000, 500, 2, 501, 500);
    /* the capacity is less than the number of flows */
    assert_level(2, 0, 3, none, none, none);
    assert_level(0, 0, 1, none);
    assert_level(0, none, 1, 0);
    /* the level exceeds what a rate can express */
    assert_level(1ULL << 40, none - 1, 1, none);
}

/*
 * The flows together get at most the capacity, and at least 98 percent of it if they want
 * more.
 */
static void test_level_random(void)
{
    for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
        unsigned n = g_test_rand_int_range(1, FLOWS);
        uint64_t capacity = g_test_rand_int_range(0, 1 << 30);
        uint64_t wanted = 0, given = 0;
        uint32_t demand[FLOWS], level;

        for (unsigned i = 0; i < n; i++) {
            demand[i] = g_test_rand_int_range(0, 8) == 0 ? EXANET_RATE_NONE :
                        g_test_rand_int_range(0, 1 << 27);
            wanted += demand[i];
        }
        level = exanet_fair_level(capacity, demand, n);
        for (unsigned i = 0; i < n; i++) {
            given += MIN(demand[i], level);
        }
        if (wanted <= capacity) {
            g_assert_cmpuint(level, ==, EXANET_RATE_NONE);
        } else {
            g_assert_cmpuint(given, <=, capacity);
            /* eight rounds of the algorithm are that precise */
            g_assert_cmpuint(given, >=, capacity - capacity / 50 - n);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/flow/rate-codes", test_codes);
    g_test_add_func("/exanet/flow/rate-rounding", test_rounding);
    g_test_add_func("/exanet/flow/rate-measured", test_measured);
    g_test_add_func("/exanet/flow/level-examples", test_level);
    g_test_add_func("/exanet/flow/level-random", test_level_random);
    return g_test_run();
}
