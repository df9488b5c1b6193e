/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet register file; see regs.h.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "../exanet.h"
#include "regs.h"

/* Kinds of 32-bit lanes. */
enum {
    LANE_NONE,                      /* no register */
    LANE_WHOLE,                     /* a 4-byte register */
    LANE_LOW,                       /* bits 31:0 of an 8-byte register */
    LANE_TOP,                       /* bits 63:32 of an 8-byte register */
};

#define FILE_NONE UINT_MAX

/* Returns the position of offset @addr of BAR 0 in the register file, or FILE_NONE. */
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
    return ldl_le_p(s->regs.val + file_at(offset));
}

uint64_t exanet_reg_get64(ExanetState *s, unsigned offset)
{
    return ldq_le_p(s->regs.val + file_at(offset));
}

void exanet_reg_set32(ExanetState *s, unsigned offset, uint32_t value)
{
    stl_le_p(s->regs.val + file_at(offset), value);
}

void exanet_reg_set64(ExanetState *s, unsigned offset, uint64_t value)
{
    stq_le_p(s->regs.val + file_at(offset), value);
}

uint32_t exanet_reg_add_bits32(ExanetState *s, unsigned offset, uint32_t bits)
{
    uint8_t *val = s->regs.val + file_at(offset);
    uint32_t old = ldl_le_p(val);

    stl_le_p(val, old | bits);
    return old;
}

uint64_t exanet_reg_written64(ExanetState *s, unsigned offset)
{
    return ldq_le_p(s->regs.wr + file_at(offset));
}

bool exanet_regs_contain(hwaddr addr)
{
    return file_at(addr) != FILE_NONE;
}

/* Sets the values after reset, and the masks, of the registers of @unit of block @row. */
static void unit_add(ExanetState *s, unsigned row, unsigned unit)
{
    const ExanetRegBlock *b = &s->regs.blocks[row];

    for (unsigned i = 0; i < b->count; i++) {
        const ExanetRegInfo *r = &b->regs[i];
        unsigned at = file_at(b->base + unit * b->stride + r->offset);
        bool wide = r->bytes == 8;

        stn_le_p(s->regs.val + at, r->bytes, r->reset);
        stn_le_p(s->regs.writable + at, r->bytes, r->writable);
        stn_le_p(s->regs.w1c + at, r->bytes, r->w1c);
        s->regs.lane[at / 4] = wide ? LANE_LOW : LANE_WHOLE;
        s->regs.row[at / 4] = row;
        if (wide) {
            s->regs.lane[at / 4 + 1] = LANE_TOP;
            s->regs.row[at / 4 + 1] = row;
        }
    }
}

void exanet_regs_reset(ExanetState *s)
{
    memset(s->regs.val, 0, sizeof(s->regs.val));
    memset(s->regs.wr, 0, sizeof(s->regs.wr));
    for (unsigned row = 0; s->regs.blocks[row].regs; row++) {
        const ExanetRegBlock *b = &s->regs.blocks[row];

        for (unsigned unit = 0; unit < b->units; unit++) {
            if (!b->exists || b->exists(s, unit)) {
                unit_add(s, row, unit);
            }
        }
    }
}

/* Returns the block of the register at @addr, and the number of its unit in *@unit. */
static const ExanetRegBlock *block_at(ExanetState *s, hwaddr addr, unsigned *unit)
{
    const ExanetRegBlock *b = &s->regs.blocks[s->regs.row[file_at(addr) / 4]];

    *unit = b->stride ? (addr - b->base) / b->stride : 0;
    return b;
}

static void reg_sync(ExanetState *s, hwaddr addr)
{
    unsigned unit;
    const ExanetRegBlock *b = block_at(s, addr, &unit);

    if (b->sync) {
        b->sync(s, unit, addr);
    }
}

uint64_t exanet_regs_read(ExanetState *s, hwaddr addr, unsigned size)
{
    unsigned at = file_at(addr);

    for (unsigned i = 0; i < size; i += 4) {
        /* one sync computes both halves of an 8-byte register */
        if (s->regs.lane[(at + i) / 4] != LANE_NONE &&
            (i == 0 || s->regs.lane[(at + i) / 4] != LANE_TOP)) {
            reg_sync(s, addr + i);
        }
    }
    return ldn_le_p(s->regs.val + at, size);
}

static void reg_written(ExanetState *s, hwaddr addr, bool top)
{
    unsigned unit;
    const ExanetRegBlock *b = block_at(s, addr, &unit);

    if (b->written) {
        b->written(s, unit, addr, top);
    }
}

void exanet_regs_write(ExanetState *s, hwaddr addr, uint64_t value, unsigned size)
{
    unsigned file = file_at(addr);
    uint64_t old = ldn_le_p(s->regs.val + file, size);
    uint64_t writable = ldn_le_p(s->regs.writable + file, size);
    uint64_t w1c = ldn_le_p(s->regs.w1c + file, size);

    s->regs.ctrl = exanet_reg_get32(s, EXANET_REG_CTRL);
    s->regs.irq_mask = exanet_reg_get32(s, EXANET_REG_IRQ_MASK);
    stn_le_p(s->regs.wr + file, size, value);
    stn_le_p(s->regs.val + file, size,
             ((old & ~writable) | (value & writable)) & ~(value & w1c));

    for (hwaddr at = addr; at < addr + size; at += 4) {
        switch (s->regs.lane[file_at(at) / 4]) {
        case LANE_WHOLE:
            reg_written(s, at, true);
            break;
        case LANE_LOW:
            if (size == 4) {
                reg_written(s, at, false);
            }
            break;
        case LANE_TOP:
            reg_written(s, at - 4, true);
            break;
        case LANE_NONE:
            qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to no register: "
                          "0x%" HWADDR_PRIx "\n", at);
            break;
        }
    }
}
