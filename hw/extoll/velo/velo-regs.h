/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of VELO: the functions of their blocks, see RNicRegBlock.
 */
#ifndef HW_EXTOLL_VELO_VELO_REGS_H
#define HW_EXTOLL_VELO_VELO_REGS_H

#include "exec/hwaddr.h"

void extoll_velo_reg_sync(void *opaque, unsigned unit, hwaddr addr);
void extoll_velo_reg_written(void *opaque, unsigned unit, hwaddr addr, bool top);
void extoll_velo_vpid_reg_written(void *opaque, unsigned unit, hwaddr addr, bool top);
/* The read pointer of VPID @unit in a page of its own, which is RPLT. */
void extoll_velo_rp_sync(void *opaque, unsigned unit, hwaddr addr);
void extoll_velo_rp_written(void *opaque, unsigned unit, hwaddr addr, bool top);

#endif /* HW_EXTOLL_VELO_VELO_REGS_H */
