/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL registers: their positions in the register file, and their values.
 */
#ifndef HW_EXTOLL_BASE_REGS_H
#define HW_EXTOLL_BASE_REGS_H

#include "rnic/extoll/regs.h"
#include "../../core/regs.h"

typedef struct ExtollState ExtollState;

/*
 * Layout of the register file: first all blocks up to those of VELO, then the counters,
 * the end-points and the pages of VELO's read pointers.  A unit that the device gets adds
 * its blocks.
 */
#define EXTOLL_FILE_LOW 0x3000
#define EXTOLL_FILE_END_POINTS (EXTOLL_FILE_LOW + 8 * EXTOLL_COUNTER_COUNT)
#define EXTOLL_FILE_VELO_RP (EXTOLL_FILE_END_POINTS + 8 * EXTOLL_VPIDS)
#define EXTOLL_FILE_BYTES (EXTOLL_FILE_VELO_RP + 8 * EXTOLL_VPIDS)

typedef union ExtollRegs {
    RNicRegs table;
    uint8_t room[RNIC_REGS_SIZE(EXTOLL_FILE_BYTES)];
} ExtollRegs;

/*
 * RNicRegs.at: returns the position in the register file of offset @addr of BAR 0, or
 * RNIC_REGS_NONE.
 */
unsigned extoll_reg_at(hwaddr addr);

/*
 * Return and set the present value of a register, in host byte order.  @offset counts
 * from the start of BAR 0 and is naturally aligned.  The masks of the register have no
 * effect, and no function of the table of blocks is called.  extoll_reg_at() must accept
 * @offset.
 */
uint32_t extoll_reg_get32(const ExtollState *s, unsigned offset);
uint64_t extoll_reg_get64(const ExtollState *s, unsigned offset);
void extoll_reg_set32(ExtollState *s, unsigned offset, uint32_t value);
void extoll_reg_set64(ExtollState *s, unsigned offset, uint64_t value);
/* Returns the 4 bytes that software wrote last at @offset, without masks. */
uint32_t extoll_reg_written32(ExtollState *s, unsigned offset);

#endif /* HW_EXTOLL_BASE_REGS_H */
