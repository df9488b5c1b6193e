/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores of hostile processes to the VELO requester: fragments are parts of the message
 * that their address announces, have the VPID of the page, and bytes that this VPID
 * stored.
 */
#include "../fuzz.h"
#include "hw/rnic/extoll/velo/combine.h"

static void store(ExtollCombine *c, FuzzInput *in, bool *used)
{
    static const uint8_t sizes[] = { 8, 4, 16, 1 };
    uint32_t address = fuzz_u32(in) % EXTOLL_VELO_BAR_BYTES;
    uint8_t kind = fuzz_u8(in);
    unsigned size = sizes[kind % ARRAY_SIZE(sizes)], n;
    unsigned vpid = RNIC_GET(EXTOLL_VELO_ADDR_OWN, address);
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    uint8_t value[16];

    if (kind & 0x80) {
        /* few messages and valid places, so that messages complete */
        address &= EXTOLL_VELO_ADDR_OFFSET & ~7;
        address |= RNIC_PREP(EXTOLL_VELO_ADDR_QUADWORDS, 1 + (kind >> 2 & 7)) |
                   RNIC_PREP(EXTOLL_VELO_ADDR_OWN, vpid) |
                   RNIC_PREP(EXTOLL_VELO_ADDR_NODE, kind >> 5 & 3);
    }
    memset(value, vpid + 1, sizeof(value));
    if (extoll_combine_store(c, address, value, size, out, &n) != EXTOLL_VELO_OK) {
        g_assert_cmpuint(n, ==, 0);
        return;
    }
    used[vpid] = true;
    for (unsigned i = 0; i < n; i++) {
        g_assert_cmpuint(out[i].src_vpid, ==, vpid);
        g_assert_true(out[i].count >= 1 && out[i].quadwords <= 8);
        g_assert_cmpuint(out[i].first + out[i].count, <=, out[i].quadwords);
        g_assert_true(out[i].split || out[i].end);
        for (unsigned b = 0; b < out[i].count * 8; b++) {
            g_assert_cmpuint(out[i].data[b], ==, vpid + 1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    bool used[EXTOLL_VPIDS] = { false };
    FuzzInput in = { data, size };

    c->split = fuzz_u8(&in) % 4;
    while (in.left) {
        store(c, &in, used);
    }
    for (unsigned vpid = 0; vpid < EXTOLL_VPIDS; vpid++) {
        unsigned dropped = extoll_combine_drop(c, vpid);

        g_assert_true(used[vpid] || !dropped);
        g_assert_cmpuint(dropped, <=, EXTOLL_COMBINE_BUFFERS + EXTOLL_COMBINE_LEFT);
        g_assert_cmpuint(extoll_combine_drop(c, vpid), ==, 0);
    }
    return 0;
}
