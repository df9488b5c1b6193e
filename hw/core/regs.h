/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table of register blocks: executes loads and stores by software.  The table names the
 * functions that compute registers before a load and that act on a store.  The values
 * are in a register file.
 */
#ifndef RNIC_CORE_REGS_H
#define RNIC_CORE_REGS_H

#include "exec/hwaddr.h"
#include "reg-file.h"

/*
 * A block: a list of registers that each of @units units has.  The registers of unit n
 * begin at offset @base + n * @stride of the BAR.  The functions get the device's state
 * as @opaque.
 */
typedef struct RNicRegBlock {
    unsigned base;                  /* offset in the BAR */
    unsigned stride;                /* bytes from unit to unit; 0: there is one unit */
    unsigned units;
    const RNicRegInfo *regs;      /* NULL: the end of the table */
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
} RNicRegBlock;

typedef struct RNicRegs {
    const RNicRegBlock *blocks;     /* ends with a block without @regs */
    /*
     * Returns the position in the register file of offset @addr of the BAR, or
     * RNIC_REGS_NONE if the register file does not contain @addr.
     */
    unsigned (*at)(hwaddr addr);
    void *opaque;                   /* argument of the functions of @blocks */
    RNicRegFile file;               /* RNicRegLane.block is an index in @blocks */
} RNicRegs;
#define RNIC_REGS_NONE UINT_MAX

/*
 * Size in bytes of an RNicRegs whose register file has @bytes bytes.  The owner embeds a
 * union of the table and an array of this size.
 */
#define RNIC_REGS_SIZE(bytes) \
    (offsetof(RNicRegs, file) + RNIC_REG_FILE_SIZE(bytes))

/*
 * Initializes @t with an empty register file of @bytes bytes.  @blocks, @at and @opaque:
 * see RNicRegs.
 */
void rnic_regs_init(RNicRegs *t, const RNicRegBlock *blocks, unsigned (*at)(hwaddr addr),
                    void *opaque, unsigned bytes);
/*
 * Sets all registers of units that exist to their values after a reset.  All other bytes
 * of the register file read 0.
 */
void rnic_regs_reset(RNicRegs *t);
/*
 * Execute a load and a store by software.  rnic_regs_read() first calls sync() of the
 * block, and stores the value that software gets in *@value.  rnic_regs_write() calls
 * written() of the block after the store.  @size is 4 or 8 bytes.  @addr is naturally
 * aligned, and RNicRegs.at accepts @addr.  A part of the access that meets no register
 * gets 0, or has no effect.  Return false if there was such a part.
 */
bool rnic_regs_read(RNicRegs *t, hwaddr addr, unsigned size, uint64_t *value);
bool rnic_regs_write(RNicRegs *t, hwaddr addr, uint64_t value, unsigned size);

#endif /* RNIC_CORE_REGS_H */
