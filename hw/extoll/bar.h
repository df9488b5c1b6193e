/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: BAR 0, and the table of register blocks.
 */
#ifndef HW_EXTOLL_BAR_H
#define HW_EXTOLL_BAR_H

#include "extoll.h"

/*
 * Initializes regs_mr.  An access to BAR 0 has 4 or 8 bytes and is naturally aligned, and
 * each part of it meets a register.  Otherwise a load gets 0 for the part without a
 * register, a store of this part has no effect, and the counter REG_BAD counts the
 * access.  An access of another size or alignment gets 0 as a whole, or has no effect.
 */
void extoll_bar_init(ExtollState *s);

/*
 * The table of register blocks, in blocks.c.  It has the blocks of those units that
 * exist.
 */
extern const RNicRegBlock extoll_reg_blocks[];

#endif /* HW_EXTOLL_BAR_H */
