/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet registers; see regs.h.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "../exanet.h"
#include "regs.h"

/*
 * Returns the position in the register file of offset @addr of BAR 0, or RNIC_REGS_NONE
 * if the register file does not contain @addr.
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
    return RNIC_REGS_NONE;
}

uint32_t exanet_reg_get32(ExanetState *s, unsigned offset)
{
    return rnic_reg_file_get32(&s->regs.table.file, file_at(offset));
}

uint64_t exanet_reg_get64(ExanetState *s, unsigned offset)
{
    return rnic_reg_file_get64(&s->regs.table.file, file_at(offset));
}

void exanet_reg_set32(ExanetState *s, unsigned offset, uint32_t value)
{
    rnic_reg_file_set32(&s->regs.table.file, file_at(offset), value);
}

void exanet_reg_set64(ExanetState *s, unsigned offset, uint64_t value)
{
    rnic_reg_file_set64(&s->regs.table.file, file_at(offset), value);
}

uint32_t exanet_reg_add_bits32(ExanetState *s, unsigned offset, uint32_t bits)
{
    unsigned at = file_at(offset);
    uint32_t old = rnic_reg_file_get32(&s->regs.table.file, at);

    rnic_reg_file_set32(&s->regs.table.file, at, old | bits);
    return old;
}

uint64_t exanet_reg_written64(ExanetState *s, unsigned offset)
{
    return rnic_reg_file_written64(&s->regs.table.file, file_at(offset));
}

bool exanet_regs_contain(hwaddr addr)
{
    return file_at(addr) != RNIC_REGS_NONE;
}

void exanet_regs_init(ExanetState *s, const RNicRegBlock *blocks)
{
    rnic_regs_init(&s->regs.table, blocks, file_at, s, EXANET_FILE_BYTES);
}

void exanet_regs_reset(ExanetState *s)
{
    rnic_regs_reset(&s->regs.table);
}

uint64_t exanet_regs_read(ExanetState *s, hwaddr addr, unsigned size)
{
    uint64_t value;

    rnic_regs_read(&s->regs.table, addr, size, &value);
    return value;
}

void exanet_regs_write(ExanetState *s, hwaddr addr, uint64_t value, unsigned size)
{
    s->regs.ctrl = exanet_reg_get32(s, EXANET_REG_CTRL);
    s->regs.irq_mask = exanet_reg_get32(s, EXANET_REG_IRQ_MASK);
    if (!rnic_regs_write(&s->regs.table, addr, value, size)) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to no register: "
                      "0x%" HWADDR_PRIx "\n", addr);
    }
}
