/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of registers, from the lists X(NAME, offset, bytes, reset, writable, w1c) of
 * include/rnic, for tests of all registers of a device.
 */
#ifndef RNIC_REG_TABLE_H
#define RNIC_REG_TABLE_H

#include "libqtest.h"

typedef struct RegRow {
    const char *name;
    uint32_t offset;                /* bytes from the start of the block */
    unsigned bytes;                 /* 4 or 8 */
    uint64_t reset, writable, w1c;  /* value after a reset; masks */
} RegRow;

/* Makes a RegRow from a row X() of a list. */
#define REG_ROW(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, bytes, reset, writable, w1c },

/* A list of registers that each of @units units has. */
typedef struct RegBlock {
    const RegRow *rows;
    unsigned count;                 /* elements of @rows */
    uint64_t base;                  /* offset of unit 0 in the BAR */
    uint64_t stride;                /* bytes from unit to unit */
    unsigned units;
} RegBlock;

/* Gets register @r of @unit at offset @at of the BAR. */
typedef void RegFn(void *opaque, const RegRow *r, uint64_t at, unsigned unit);

/* Calls @fn for each register of the @count @blocks. */
void reg_table_foreach(const RegBlock *blocks, unsigned count, RegFn *fn, void *opaque);

/*
 * Asserts that stores of ones and zeros to register @r at guest address @pa change its
 * writable bits, clear its w1c bits, and change no other bit.  If the register has 8
 * bytes, also asserts that a store to one half does not change the other half.  Stores
 * the first value again.
 */
void reg_row_check_masks(QTestState *qts, const RegRow *r, uint64_t pa);

#endif /* RNIC_REG_TABLE_H */
