/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of registers after a reset. */
#ifndef RNIC_DUMMY_REGS_RESET_H
#define RNIC_DUMMY_REGS_RESET_H

/* Returns the reset value of the register at @addr; 0 if there is no register. */
uint32_t dummy_reg_reset(uint64_t addr);

#endif /* RNIC_DUMMY_REGS_RESET_H */
