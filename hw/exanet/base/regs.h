/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet registers: their positions in the register file.  Units use only the functions
 * above the register file.
 */
#ifndef HW_EXANET_BASE_REGS_H
#define HW_EXANET_BASE_REGS_H

#include "exec/hwaddr.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "../../core/regs.h"

typedef struct ExanetState ExanetState;

/*
 * Return and set the present value of a register, in host byte order.  @offset counts
 * from the start of BAR 0 and is naturally aligned.  The masks of the register have no
 * effect, and no function of the table of blocks is called.  exanet_regs_contain() must
 * return true for @offset.
 */
uint32_t exanet_reg_get32(ExanetState *s, unsigned offset);
uint64_t exanet_reg_get64(ExanetState *s, unsigned offset);
void exanet_reg_set32(ExanetState *s, unsigned offset, uint32_t value);
void exanet_reg_set64(ExanetState *s, unsigned offset, uint64_t value);
/* Sets @bits of the register at @offset to 1.  Returns the old value of the register. */
uint32_t exanet_reg_add_bits32(ExanetState *s, unsigned offset, uint32_t bits);
/* Returns the 8 bytes that software wrote last at @offset, without masks. */
uint64_t exanet_reg_written64(ExanetState *s, unsigned offset);

/* --- The register file ------------------------------------------------------- */

/*
 * Layout of the register file: first the blocks below the counters of BAR 0, then the
 * blocks of shared memory, then the blocks of the CDMA channels.
 */
#define EXANET_FILE_LOW 0x7000
#define EXANET_FILE_CDMA_BYTES 0x80
#define EXANET_FILE_BYTES (EXANET_FILE_LOW + EXANET_SHM_BYTES + \
                           EXANET_CDMA_CHANNELS * EXANET_FILE_CDMA_BYTES)

typedef struct ExanetRegs {
    /* values of CTRL and IRQ_MASK before the last write */
    uint32_t ctrl, irq_mask;
    union {
        RNicRegs table;
        uint8_t room[RNIC_REGS_SIZE(EXANET_FILE_BYTES)];
    };
} ExanetRegs;

/* Initializes @s->regs with an empty register file.  @blocks is the table of blocks. */
void exanet_regs_init(ExanetState *s, const RNicRegBlock *blocks);
/*
 * Sets all registers of units that exist to their values after a reset.  All other bytes
 * of the register file read 0.
 */
void exanet_regs_reset(ExanetState *s);
/*
 * Returns true if the register file contains offset @addr of BAR 0, even if there is no
 * register at @addr.
 */
bool exanet_regs_contain(hwaddr addr);
/*
 * Execute a load and a store by software.  exanet_regs_read() first calls sync() of the
 * block, and returns the value that software gets.  exanet_regs_write() calls written()
 * of the block after the store.  @size is 4 or 8 bytes.  @addr is naturally aligned, and
 * exanet_regs_contain() returns true for @addr.  If there is no register at @addr, the
 * load returns 0, and the store only logs an error of the guest.
 */
uint64_t exanet_regs_read(ExanetState *s, hwaddr addr, unsigned size);
void exanet_regs_write(ExanetState *s, hwaddr addr, uint64_t value, unsigned size);

#endif /* HW_EXANET_BASE_REGS_H */
