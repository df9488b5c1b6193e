/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation of one page, against vectors and against each kind of refusal. */
#include "qemu/osdep.h"
#include "extoll-vectors.h"

static void test_vector(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(gate_vectors); i++) {
        ExtollGate got = extoll_gate_decode(gate_vectors[i].word);

        g_assert_cmphex(got.page, ==, gate_vectors[i].gate.page);
        g_assert_cmphex(got.vpid, ==, gate_vectors[i].gate.vpid);
        g_assert_cmpint(got.read, ==, gate_vectors[i].gate.read);
        g_assert_cmpint(got.write, ==, gate_vectors[i].gate.write);
        g_assert_cmpint(got.valid, ==, gate_vectors[i].gate.valid);
    }
}

static void test_reserved(void)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t word = EXTOLL_GATE_VALID | EXTOLL_GATE_READ | 1ULL << bit;

        g_assert_cmpint(extoll_gate_decode(word).valid, ==, bit < 3 || bit > 7);
    }
}

static void test_check(void)
{
    ExtollGate gate = { .vpid = 7, .read = true, .valid = true };

    g_assert_cmpint(extoll_gate_check(&gate, 7, false), ==, EXTOLL_ERROR_NONE);
    g_assert_cmpint(extoll_gate_check(&gate, 7, true), ==, EXTOLL_ERROR_ACCESS);
    g_assert_cmpint(extoll_gate_check(&gate, 8, false), ==, EXTOLL_ERROR_OWNER);
    gate.vpid = 7 + 32;     /* a GATE has more bits for the owner than there are VPIDs */
    g_assert_cmpint(extoll_gate_check(&gate, 7, false), ==, EXTOLL_ERROR_OWNER);
    gate = (ExtollGate) { .write = true, .valid = true };
    g_assert_cmpint(extoll_gate_check(&gate, 0, true), ==, EXTOLL_ERROR_NONE);
    g_assert_cmpint(extoll_gate_check(&gate, 0, false), ==, EXTOLL_ERROR_ACCESS);
    gate.valid = false;
    g_assert_cmpint(extoll_gate_check(&gate, 0, true), ==, EXTOLL_ERROR_UNMAPPED);
}

static void test_address(void)
{
    uint64_t at = 0;

    g_assert_true(extoll_gate_address(0x80000001, 0, &at));
    g_assert_cmphex(at, ==, 0x8000000000000ULL);
    g_assert_true(extoll_gate_address(0x3, 0x7fffffffffULL, &at));
    g_assert_cmphex(at, ==, 0x3ffff8ULL);
    g_assert_true(extoll_gate_address(0x3, 0x1fffULL, &at));
    g_assert_cmphex(at, ==, 0x200008ULL);
    at = 99;
    g_assert_false(extoll_gate_address(0x2, 0, &at));
    g_assert_false(extoll_gate_address(0x3, 0x8000000000ULL, &at));
    g_assert_cmpuint(at, ==, 99);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/gate/vector", test_vector);
    g_test_add_func("/extoll/gate/reserved", test_reserved);
    g_test_add_func("/extoll/gate/check", test_check);
    g_test_add_func("/extoll/gate/address", test_address);
    return g_test_run();
}
