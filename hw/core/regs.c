/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table of register blocks; see regs.h. */
#include "qemu/osdep.h"
#include "regs.h"

void rnic_regs_init(RNicRegs *t, const RNicRegBlock *blocks, unsigned (*at)(hwaddr addr),
                    void *opaque, unsigned bytes)
{
    t->blocks = blocks;
    t->at = at;
    t->opaque = opaque;
    rnic_reg_file_init(&t->file, bytes);
}

/* Sets the registers of @unit of block @row to their values after a reset. */
static void unit_reset(RNicRegs *t, unsigned row, unsigned unit)
{
    const RNicRegBlock *b = &t->blocks[row];

    for (unsigned i = 0; i < b->count; i++) {
        unsigned addr = b->base + unit * b->stride + b->regs[i].offset;

        rnic_reg_file_add(&t->file, t->at(addr), &b->regs[i], row);
    }
}

void rnic_regs_reset(RNicRegs *t)
{
    rnic_reg_file_clear(&t->file);
    for (unsigned row = 0; t->blocks[row].regs; row++) {
        const RNicRegBlock *b = &t->blocks[row];

        for (unsigned unit = 0; unit < b->units; unit++) {
            if (!b->exists || b->exists(t->opaque, unit)) {
                unit_reset(t, row, unit);
            }
        }
    }
}

/* Returns the block of @lane, and stores in *@unit the number of the unit at @addr. */
static const RNicRegBlock *block_of(RNicRegs *t, const RNicRegLane *lane, hwaddr addr,
                                    unsigned *unit)
{
    const RNicRegBlock *b = &t->blocks[lane->block];

    *unit = b->stride ? (addr - b->base) / b->stride : 0;
    return b;
}

static void reg_sync(RNicRegs *t, const RNicRegLane *lane, hwaddr addr)
{
    unsigned unit;
    const RNicRegBlock *b = block_of(t, lane, addr, &unit);

    if (b->sync) {
        b->sync(t->opaque, unit, addr);
    }
}

bool rnic_regs_read(RNicRegs *t, hwaddr addr, unsigned size, uint64_t *value)
{
    unsigned at = t->at(addr);
    bool all = true;

    for (unsigned i = 0; i < size; i += 4) {
        const RNicRegLane *lane = rnic_reg_file_lane(&t->file, at + i);

        if (lane->kind == RNIC_REG_LANE_NONE) {
            all = false;
        } else if (i == 0 || lane->kind != RNIC_REG_LANE_TOP) {
            /*
             * for an 8-byte read, the call of sync() for bits 31:0 also computes bits
             * 63:32
             */
            reg_sync(t, lane, addr + i);
        }
    }
    *value = rnic_reg_file_load(&t->file, at, size);
    return all;
}

static void reg_written(RNicRegs *t, const RNicRegLane *lane, hwaddr addr, bool top)
{
    unsigned unit;
    const RNicRegBlock *b = block_of(t, lane, addr, &unit);

    if (b->written) {
        b->written(t->opaque, unit, addr, top);
    }
}

bool rnic_regs_write(RNicRegs *t, hwaddr addr, uint64_t value, unsigned size)
{
    unsigned at = t->at(addr);
    bool all = true;

    rnic_reg_file_store(&t->file, at, value, size);
    for (unsigned i = 0; i < size; i += 4) {
        const RNicRegLane *lane = rnic_reg_file_lane(&t->file, at + i);

        switch (lane->kind) {
        case RNIC_REG_LANE_WHOLE:
            reg_written(t, lane, addr + i, true);
            break;
        case RNIC_REG_LANE_LOW:
            if (size == 4) {
                reg_written(t, lane, addr + i, false);
            }
            break;
        case RNIC_REG_LANE_TOP:
            reg_written(t, lane, addr + i - 4, true);
            break;
        case RNIC_REG_LANE_NONE:
            all = false;
            break;
        }
    }
    return all;
}
