/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Dummy NIC: PCI ids and the registers in BAR 0.  Registers are little-endian.
 */
#ifndef RNIC_DUMMY_REGS_H
#define RNIC_DUMMY_REGS_H

#include "rnic/bits.h"

#define DUMMY_PCI_VENDOR_ID	0x1234
#define DUMMY_PCI_DEVICE_ID	0x0d0d
#define DUMMY_BAR_BYTES		0x1000
#define DUMMY_ID		0x444d4d59

/* X(NAME, offset, bytes, reset, writable, w1c), as in the other families. */
#define DUMMY_REGS(X) \
	X(ID,		0x00, 4, DUMMY_ID, 0, 0) /* constant */ \
	X(SCRATCH,	0x04, 4, 0x5a, 0xffffffff, 0) /* keeps the last value */

#define DUMMY_REG_ENUM(name, offset, bytes, reset, writable, w1c) \
	DUMMY_REG_##name = (offset),
enum dummy_reg { DUMMY_REGS(DUMMY_REG_ENUM) };
#undef DUMMY_REG_ENUM

#endif /* RNIC_DUMMY_REGS_H */
