/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of registers; see reg-table.h. */
#include "qemu/osdep.h"
#include "machine.h"
#include "reg-table.h"

void reg_table_foreach(const RegBlock *blocks, unsigned count, RegFn *fn, void *opaque)
{
    for (const RegBlock *b = blocks; b < blocks + count; b++) {
        for (unsigned unit = 0; unit < b->units; unit++) {
            for (unsigned r = 0; r < b->count; r++) {
                fn(opaque, &b->rows[r], b->base + unit * b->stride + b->rows[r].offset,
                   unit);
            }
        }
    }
}

static void check_value(QTestState *qts, const RegRow *r, uint64_t pa, uint64_t want)
{
    uint64_t value = machine_load(qts, pa, r->bytes);

    if (value != want) {
        g_error("%s reads 0x%" PRIx64 ", not 0x%" PRIx64, r->name, value, want);
    }
}

void reg_row_check_masks(QTestState *qts, const RegRow *r, uint64_t pa)
{
    uint64_t before = machine_load(qts, pa, r->bytes);
    uint64_t want = (before & ~r->writable & ~r->w1c) | r->writable;

    machine_store(qts, pa, r->bytes, ~0ULL);
    check_value(qts, r, pa, want);
    machine_store(qts, pa, 4, 0);
    if (r->bytes == 8) {
        check_value(qts, r, pa, want & ~(r->writable & UINT32_MAX));
        g_assert_cmphex(machine_load(qts, pa + 4, 4), ==, want >> 32);
        machine_store(qts, pa + 4, 4, 0);
    }
    check_value(qts, r, pa, want & ~r->writable);
    machine_store(qts, pa, r->bytes, before);
}
