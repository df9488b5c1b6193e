/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet registers; see regs.h.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "../exanet.h"
#include "reg-file.h"
#include "regs.h"

#define FILE_NONE UINT_MAX

/*
 * Returns the position in the register file of offset @addr of BAR 0, or FILE_NONE if the
 * register file does not contain @addr.
 */
static unsigned file_at(hwaddr addr)
{
    if (addr < EXANET_FILE_LOW) {
        return addr;
    }
    if (addr >= EXANET_SHM && addr < EXANET_SHM + EXANET_SHM_BYTES) {
        return EXANET_FILE_LOW + (addr - EXANET_SHM);
    }
    if (addr >= EXANET_CDMA(0) && addr < EXANET_CDMA(EXANET_CDMA_CHANNELS) &&
        (addr & 0xfff) < EXANET_FILE_CDMA_BYTES) {
        return EXANET_FILE_LOW + EXANET_SHM_BYTES + (addr & 0xfff) +
               (addr - EXANET_CDMA(0)) / 0x1000 * EXANET_FILE_CDMA_BYTES;
    }
    return FILE_NONE;
}

uint32_t exanet_reg_get32(ExanetState *s, unsigned offset)
{
    return exanet_reg_file_get32(&s->regs.file, file_at(offset));
}

uint64_t exanet_reg_get64(ExanetState *s, unsigned offset)
{
    return exanet_reg_file_get64(&s->regs.file, file_at(offset));
}

void exanet_reg_set32(ExanetState *s, unsigned offset, uint32_t value)
{
    exanet_reg_file_set32(&s->regs.file, file_at(offset), value);
}

void exanet_reg_set64(ExanetState *s, unsigned offset, uint64_t value)
{
    exanet_reg_file_set64(&s->regs.file, file_at(offset), value);
}

uint32_t exanet_reg_add_bits32(ExanetState *s, unsigned offset, uint32_t bits)
{
    unsigned at = file_at(offset);
    uint32_t old = exanet_reg_file_get32(&s->regs.file, at);

    exanet_reg_file_set32(&s->regs.file, at, old | bits);
    return old;
}

uint64_t exanet_reg_written64(ExanetState *s, unsigned offset)
{
    return exanet_reg_file_written64(&s->regs.file, file_at(offset));
}

bool exanet_regs_contain(hwaddr addr)
{
    return file_at(addr) != FILE_NONE;
}

void exanet_regs_init(ExanetState *s, const ExanetRegBlock *blocks)
{
    s->regs.blocks = blocks;
    exanet_reg_file_init(&s->regs.file, EXANET_FILE_BYTES);
}

/* Sets the registers of @unit of block @row to their values after a reset. */
static void unit_reset(ExanetState *s, unsigned row, unsigned unit)
{
    const ExanetRegBlock *b = &s->regs.blocks[row];

    for (unsigned i = 0; i < b->count; i++) {
        unsigned addr = b->base + unit * b->stride + b->regs[i].offset;

        exanet_reg_file_add(&s->regs.file, file_at(addr), &b->regs[i], row);
    }
}

void exanet_regs_reset(ExanetState *s)
{
    exanet_reg_file_clear(&s->regs.file);
    for (unsigned row = 0; s->regs.blocks[row].regs; row++) {
        const ExanetRegBlock *b = &s->regs.blocks[row];

        for (unsigned unit = 0; unit < b->units; unit++) {
            if (!b->exists || b->exists(s, unit)) {
                unit_reset(s, row, unit);
            }
        }
    }
}

/* Returns the block of @lane, and stores in *@unit the number of the unit at @addr. */
static const ExanetRegBlock *block_of(ExanetState *s, const ExanetRegLane *lane,
                                      hwaddr addr, unsigned *unit)
{
    const ExanetRegBlock *b = &s->regs.blocks[lane->block];

    *unit = b->stride ? (addr - b->base) / b->stride : 0;
    return b;
}

static void reg_sync(ExanetState *s, const ExanetRegLane *lane, hwaddr addr)
{
    unsigned unit;
    const ExanetRegBlock *b = block_of(s, lane, addr, &unit);

    if (b->sync) {
        b->sync(s, unit, addr);
    }
}

uint64_t exanet_regs_read(ExanetState *s, hwaddr addr, unsigned size)
{
    unsigned at = file_at(addr);

    for (unsigned i = 0; i < size; i += 4) {
        const ExanetRegLane *lane = exanet_reg_file_lane(&s->regs.file, at + i);

        /*
         * for an 8-byte read, the call of sync() for bits 31:0 also computes bits 63:32
         */
        if (lane->kind != EXANET_REG_LANE_NONE &&
            (i == 0 || lane->kind != EXANET_REG_LANE_TOP)) {
            reg_sync(s, lane, addr + i);
        }
    }
    return exanet_reg_file_load(&s->regs.file, at, size);
}

static void reg_written(ExanetState *s, const ExanetRegLane *lane, hwaddr addr, bool top)
{
    unsigned unit;
    const ExanetRegBlock *b = block_of(s, lane, addr, &unit);

    if (b->written) {
        b->written(s, unit, addr, top);
    }
}

void exanet_regs_write(ExanetState *s, hwaddr addr, uint64_t value, unsigned size)
{
    unsigned at = file_at(addr);

    s->regs.ctrl = exanet_reg_get32(s, EXANET_REG_CTRL);
    s->regs.irq_mask = exanet_reg_get32(s, EXANET_REG_IRQ_MASK);
    exanet_reg_file_store(&s->regs.file, at, value, size);

    for (unsigned i = 0; i < size; i += 4) {
        const ExanetRegLane *lane = exanet_reg_file_lane(&s->regs.file, at + i);

        switch (lane->kind) {
        case EXANET_REG_LANE_WHOLE:
            reg_written(s, lane, addr + i, true);
            break;
        case EXANET_REG_LANE_LOW:
            if (size == 4) {
                reg_written(s, lane, addr + i, false);
            }
            break;
        case EXANET_REG_LANE_TOP:
            reg_written(s, lane, addr + i - 4, true);
            break;
        case EXANET_REG_LANE_NONE:
            qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to no register: "
                          "0x%" HWADDR_PRIx "\n", addr + i);
            break;
        }
    }
}
