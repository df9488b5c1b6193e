/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL registers; see regs.h. */
#include "qemu/osdep.h"
#include "../extoll.h"
#include "regs.h"

unsigned extoll_reg_at(hwaddr addr)
{
    QEMU_BUILD_BUG_ON(EXTOLL_PORT(EXTOLL_LINKS) > EXTOLL_FILE_LOW);
    if (addr < EXTOLL_FILE_LOW) {
        return addr;
    }
    if (addr >= EXTOLL_COUNTER(0) && addr < EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT)) {
        return EXTOLL_FILE_LOW + (addr - EXTOLL_COUNTER(0));
    }
    return RNIC_REGS_NONE;
}

uint32_t extoll_reg_get32(ExtollState *s, unsigned offset)
{
    return rnic_reg_file_get32(&s->regs.table.file, extoll_reg_at(offset));
}

uint64_t extoll_reg_get64(ExtollState *s, unsigned offset)
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
