/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table of register blocks: executes loads and stores by software.  The table names the
 * functions that compute registers before a load and that act on a store.  The values
 * are in a register file.
 */
#ifndef HW_EXANET_BASE_REG_TABLE_H
#define HW_EXANET_BASE_REG_TABLE_H

#include "exec/hwaddr.h"
#include "reg-file.h"

/*
 * A block: a list of registers that each of @units units has.  The registers of unit n
 * begin at offset @base + n * @stride of the BAR.  The functions get the device's state
 * as @opaque.
 */
typedef struct ExanetRegBlock {
    unsigned base;                  /* offset in the BAR */
    unsigned stride;                /* bytes from unit to unit; 0: there is one unit */
    unsigned units;
    const ExanetRegInfo *regs;      /* NULL: the end of the table */
    unsigned count;                 /* elements of @regs */
    /* Returns true if the device has @unit.  NULL: the device has all units. */
    bool (*exists)(void *opaque, unsigned unit);
    /*
     * Computes the registers of @unit before a read at @addr, an offset in the BAR, which
     * may be inside an 8-byte register.  NULL: no register needs to be computed.
     */
    void (*sync)(void *opaque, unsigned unit, hwaddr addr);
    /*
     * Acts on a write to the register of @unit at @addr, an offset in the BAR, after the
     * register file has stored the value.  NULL: a write has no further effect.  @top is
     * false for a write of only bits 31:0 of an 8-byte register.  A command begins only
     * if @top is true, because software may write the two halves one after the other.
     */
    void (*written)(void *opaque, unsigned unit, hwaddr addr, bool top);
} ExanetRegBlock;

typedef struct ExanetRegTable {
    const ExanetRegBlock *blocks;   /* ends with a block without @regs */
    /*
     * Returns the position in the register file of offset @addr of the BAR, or
     * EXANET_REG_NONE if the register file does not contain @addr.
     */
    unsigned (*at)(hwaddr addr);
    void *opaque;                   /* argument of the functions of @blocks */
    ExanetRegFile file;             /* ExanetRegLane.block is an index in @blocks */
} ExanetRegTable;
#define EXANET_REG_NONE UINT_MAX

/*
 * Size in bytes of an ExanetRegTable whose register file has @bytes bytes.  The owner
 * embeds a union of the table and an array of this size.
 */
#define EXANET_REG_TABLE_SIZE(bytes) \
    (offsetof(ExanetRegTable, file) + EXANET_REG_FILE_SIZE(bytes))

/*
 * Initializes @t with an empty register file of @bytes bytes.  @blocks, @at and @opaque:
 * see ExanetRegTable.
 */
void exanet_reg_table_init(ExanetRegTable *t, const ExanetRegBlock *blocks,
                           unsigned (*at)(hwaddr addr), void *opaque, unsigned bytes);
/*
 * Sets all registers of units that exist to their values after a reset.  All other bytes
 * of the register file read 0.
 */
void exanet_reg_table_reset(ExanetRegTable *t);
/*
 * Execute a load and a store by software.  exanet_reg_table_read() first calls sync() of
 * the block, and stores the value that software gets in *@value.
 * exanet_reg_table_write() calls written() of the block after the store.  @size is 4 or 8
 * bytes.  @addr is naturally aligned, and ExanetRegTable.at accepts @addr.  If there is
 * no register at @addr, the load gets 0, and the store has no effect.  Return false if a
 * part of the access has met no register.
 */
bool exanet_reg_table_read(ExanetRegTable *t, hwaddr addr, unsigned size,
                           uint64_t *value);
bool exanet_reg_table_write(ExanetRegTable *t, hwaddr addr, uint64_t value,
                            unsigned size);

#endif /* HW_EXANET_BASE_REG_TABLE_H */
