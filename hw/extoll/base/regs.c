/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL registers; see regs.h. */
#include "qemu/osdep.h"
#include "../extoll.h"
#include "regs.h"

/*
 * Returns the position of offset @addr in an array of units, of which each has @stride
 * bytes in the BAR, and 8 bytes with registers, which are in the file from @file on.
 */
static unsigned row_at(hwaddr addr, unsigned stride, unsigned file)
{
    return addr % stride < 8 ? file + addr / stride * 8 + addr % stride : RNIC_REGS_NONE;
}

unsigned extoll_reg_at(hwaddr addr)
{
    QEMU_BUILD_BUG_ON(EXTOLL_VELO_VPID(EXTOLL_VPIDS) > EXTOLL_FILE_LOW);
    if (addr < EXTOLL_FILE_LOW) {
        return addr;
    }
    if (addr >= EXTOLL_COUNTER(0) && addr < EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT)) {
        return EXTOLL_FILE_LOW + (addr - EXTOLL_COUNTER(0));
    }
    if (addr >= EXTOLL_END_POINT(0) && addr < EXTOLL_END_POINT(EXTOLL_VPIDS)) {
        return row_at(addr - EXTOLL_END_POINT(0),
                      EXTOLL_END_POINT(1) - EXTOLL_END_POINT(0), EXTOLL_FILE_END_POINTS);
    }
    if (addr >= EXTOLL_VELO_RP(0) && addr < EXTOLL_VELO_RP(EXTOLL_VPIDS)) {
        return row_at(addr - EXTOLL_VELO_RP(0), EXTOLL_VELO_RP(1) - EXTOLL_VELO_RP(0),
                      EXTOLL_FILE_VELO_RP);
    }
    return RNIC_REGS_NONE;
}

uint32_t extoll_reg_get32(const ExtollState *s, unsigned offset)
{
    return rnic_reg_file_get32(&s->regs.table.file, extoll_reg_at(offset));
}

uint64_t extoll_reg_get64(const ExtollState *s, unsigned offset)
{
    return rnic_reg_file_get64(&s->regs.table.file, extoll_reg_at(offset));
}

void extoll_reg_set32(ExtollState *s, unsigned offset, uint32_t value)
{
    rnic_reg_file_set32(&s->regs.table.file, extoll_reg_at(offset), value);
}

void extoll_reg_set64(ExtollState *s, unsigned offset, uint64_t value)
{
    rnic_reg_file_set64(&s->regs.table.file, extoll_reg_at(offset), value);
}

uint32_t extoll_reg_written32(ExtollState *s, unsigned offset)
{
    return rnic_reg_file_written64(&s->regs.table.file, extoll_reg_at(offset));
}
