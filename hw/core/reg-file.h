/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register file: the values of registers of 4 and 8 bytes, with masks for stores by
 * software.  The owner of a file places each register at a position, in bytes from the
 * start of the file, and gives a number to each block (group) of registers.
 */
#ifndef RNIC_CORE_REG_FILE_H
#define RNIC_CORE_REG_FILE_H

#include "qemu/bswap.h"

/* A row of the list of registers of a block. */
typedef struct RNicRegInfo {
    uint16_t offset;                /* bytes from the start of the block */
    uint8_t bytes;                  /* 4 or 8 */
    uint64_t reset;                 /* value after a reset */
    uint64_t writable;              /* mask of the bits that software can change */
    uint64_t w1c;                   /* mask of the bits that a store of 1 clears */
} RNicRegInfo;

/* Makes an RNicRegInfo from a row X() of a list of registers in include/rnic. */
#define RNIC_REG_INFO(name, offset, bytes, reset, writable, w1c) \
    { offset, bytes, reset, writable, w1c },

/* Kinds of lanes; a lane is 32 bits of the file. */
enum rnic_reg_lane {
    RNIC_REG_LANE_NONE,           /* no register */
    RNIC_REG_LANE_WHOLE,          /* a 4-byte register */
    RNIC_REG_LANE_LOW,            /* bits 31:0 of an 8-byte register */
    RNIC_REG_LANE_TOP,            /* bits 63:32 of an 8-byte register */
};

typedef struct RNicRegLane {
    uint8_t kind;                   /* enum rnic_reg_lane */
    uint8_t block;                  /* the owner's number of the register's block */
} RNicRegLane;

typedef struct RNicRegFile {
    unsigned bytes;                 /* size of the file, a multiple of 8 */
    /*
     * Four arrays of @bytes bytes, little-endian: present values, values that software
     * stored last (unmasked), masks RNicRegInfo.writable, and masks RNicRegInfo.w1c.
     * Behind these four arrays, an RNicRegLane for each lane.
     */
    uint8_t array[] QEMU_ALIGNED(8);
} RNicRegFile;

/*
 * Size in bytes of an RNicRegFile for @bytes bytes of registers.  The owner embeds a
 * union of the file and an array of this size.
 */
#define RNIC_REG_FILE_SIZE(bytes) \
    (sizeof(RNicRegFile) + 4 * (bytes) + (bytes) / 4 * sizeof(RNicRegLane))

/* Initializes @f as a file of @bytes bytes without registers. */
void rnic_reg_file_init(RNicRegFile *f, unsigned bytes);
/* Sets the present and stored values of all registers to 0. */
void rnic_reg_file_clear(RNicRegFile *f);
/*
 * Adds register @info, of block number @block, at position @at: sets the register to its
 * value after a reset, and sets its masks and lanes.  If the same register was added
 * before, only its value changes.
 */
void rnic_reg_file_add(RNicRegFile *f, unsigned at, const RNicRegInfo *info,
                       unsigned block);

/*
 * Return or set the present value of the register at position @at, in host byte order.
 * The masks writable and w1c have no effect.
 */
static inline uint32_t rnic_reg_file_get32(const RNicRegFile *f, unsigned at)
{
    return ldl_le_p(f->array + at);
}

static inline uint64_t rnic_reg_file_get64(const RNicRegFile *f, unsigned at)
{
    return ldq_le_p(f->array + at);
}

static inline void rnic_reg_file_set32(RNicRegFile *f, unsigned at, uint32_t value)
{
    stl_le_p(f->array + at, value);
}

static inline void rnic_reg_file_set64(RNicRegFile *f, unsigned at, uint64_t value)
{
    stq_le_p(f->array + at, value);
}

/* Returns the 8 bytes that software stored last at @at, unmasked, in host byte order. */
static inline uint64_t rnic_reg_file_written64(const RNicRegFile *f, unsigned at)
{
    return ldq_le_p(f->array + f->bytes + at);
}

/* Returns the lane that contains position @at. */
static inline const RNicRegLane *rnic_reg_file_lane(const RNicRegFile *f, unsigned at)
{
    const RNicRegLane *lane = (const RNicRegLane *)(f->array + 4 * f->bytes);

    return &lane[at / 4];
}

/*
 * Returns the @size bytes of present values at position @at.  @size is 4 or 8; @at is a
 * multiple of @size.
 */
static inline uint64_t rnic_reg_file_load(const RNicRegFile *f, unsigned at,
                                          unsigned size)
{
    return ldn_le_p(f->array + at, size);
}

/*
 * Executes a store of @value by software at position @at.  @size is 4 or 8 bytes; @at is
 * a multiple of @size.  Copies the bits of mask writable from @value, and clears those
 * bits of mask w1c that are 1 in @value.  Records @value for rnic_reg_file_written64().
 */
static inline void rnic_reg_file_store(RNicRegFile *f, unsigned at, uint64_t value,
                                       unsigned size)
{
    uint8_t *val = f->array + at;
    uint64_t old = ldn_le_p(val, size);
    uint64_t writable = ldn_le_p(val + 2 * f->bytes, size);
    uint64_t w1c = ldn_le_p(val + 3 * f->bytes, size);

    stn_le_p(val + f->bytes, size, value);
    stn_le_p(val, size, ((old & ~writable) | (value & writable)) & ~(value & w1c));
}

#endif /* RNIC_CORE_REG_FILE_H */
