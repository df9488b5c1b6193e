/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of hostile processes: a command that is accepted is within its limits, and
 * its encoding is the descriptor.
 */
#include "../fuzz.h"
#include "hw/rnic/extoll/base/command.h"
#include "rnic/extoll/regs.h"

static void accepted(const ExtollCommand *c, uint32_t address, const uint64_t *desc,
                     uint64_t cap)
{
    uint64_t most = c->physical ? 1ULL << 52 : 1ULL << 39;
    uint64_t again[2];
    uint32_t same = ~(uint32_t)(EXTOLL_RMA_ADDR_NOTIFY | EXTOLL_RMA_ADDR_LINES);

    g_assert_cmpuint(c->command, <=, EXTOLL_CMD_IMMEDIATE);
    g_assert_true(c->bytes >= 1 && c->bytes <= 4096);
    g_assert_true(c->own_vpid < 32 && c->vpid < 32 && c->node < 64 && c->lock < 1024);
    g_assert_true(c->local < most && c->remote < most);
    g_assert_cmpuint((c->local & 4095) + c->bytes, <=, 4096);
    g_assert_cmpuint((c->remote & 4095) + c->bytes, <=, 4096);
    if (!(cap & EXTOLL_CAP_BYTES)) {
        g_assert_true(!(c->local % 8) && !(c->remote % 8));
    }
    g_assert_cmphex(extoll_command_encode(c, again) & same, ==,
                    address & (EXTOLL_RMA_BAR_BYTES - 1) & same);
    g_assert_cmphex(again[0], ==, desc[0]);
    g_assert_cmphex(again[1], ==, desc[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    while (in.left) {
        uint32_t address = fuzz_u32(&in);
        uint64_t word0 = fuzz_u64(&in);
        uint64_t word1 = fuzz_u64(&in);
        uint64_t cap = fuzz_u8(&in) & (EXTOLL_CAP_BYTES | EXTOLL_CAP_NOTIFY);
        const uint64_t desc[2] = { word0, word1 };
        ExtollCommand cmd;

        if (extoll_command_decode(address, desc, cap, &cmd) == EXTOLL_COMMAND_OK) {
            accepted(&cmd, address, desc, cap);
        }
    }
    return 0;
}
