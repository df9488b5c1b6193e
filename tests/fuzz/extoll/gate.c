/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GAT base registers and GATEs with any bits: a translation stays in its table and in its
 * page, and only the owner gets the access that the GATE grants.
 */
#include "../fuzz.h"
#include "hw/rnic/extoll/base/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    while (in.left) {
        uint32_t base = fuzz_u32(&in);
        uint64_t nla = fuzz_u64(&in);
        uint64_t word = fuzz_u64(&in);
        uint8_t vpid = fuzz_u8(&in) % 32;
        bool write = fuzz_u8(&in) & 1;
        ExtollGate gate = extoll_gate_decode(word);
        enum extoll_error error = extoll_gate_check(&gate, vpid, write);
        uint64_t at, gat = (uint64_t)(base >> 1) << 21;

        if (extoll_gate_address(base, nla, &at)) {
            g_assert_true((base & 1) && nla < 1ULL << 39);
            g_assert_true(at >= gat && at <= gat + 0x200000 - 8 && at % 8 == 0);
        } else {
            g_assert_true(!(base & 1) || nla >> 39);
        }
        g_assert_cmphex(gate.page & ~0xffffffffff000ULL, ==, 0);
        if (error == EXTOLL_ERROR_NONE) {
            g_assert_cmphex(word >> 48, ==, vpid);
            g_assert_true((word & 1) && !(word & 0xf8) && (word & (write ? 4 : 2)));
        }
    }
    return 0;
}
