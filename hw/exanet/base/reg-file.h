/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register file: the values of registers of 4 and 8 bytes, with masks for stores by
 * software.  The owner of a file places each register at a position, in bytes from the
 * start of the file, and gives a number to each block (group) of registers.
 */
#ifndef HW_EXANET_BASE_REG_FILE_H
#define HW_EXANET_BASE_REG_FILE_H

#include "qemu/bswap.h"

/* A row of the list of registers of a block. */
typedef struct ExanetRegInfo {
    uint16_t offset;                /* bytes from the start of the block */
    uint8_t bytes;                  /* 4 or 8 */
    uint64_t reset;                 /* value after a reset */
    uint64_t writable;              /* mask of the bits that software can change */
    uint64_t w1c;                   /* mask of the bits that a store of 1 clears */
} ExanetRegInfo;

/* Makes an ExanetRegInfo from a row X() of a list of registers in include/rnic. */
#define EXANET_REG_INFO(name, offset, bytes, reset, writable, w1c) \
    { offset, bytes, reset, writable, w1c },

/* Kinds of lanes; a lane is 32 bits of the file. */
enum exanet_reg_lane {
    EXANET_REG_LANE_NONE,           /* no register */
    EXANET_REG_LANE_WHOLE,          /* a 4-byte register */
    EXANET_REG_LANE_LOW,            /* bits 31:0 of an 8-byte register */
    EXANET_REG_LANE_TOP,            /* bits 63:32 of an 8-byte register */
};

typedef struct ExanetRegLane {
    uint8_t kind;                   /* enum exanet_reg_lane */
    uint8_t block;                  /* the owner's number of the register's block */
} ExanetRegLane;

typedef struct ExanetRegFile {
    unsigned bytes;                 /* size of the file, a multiple of 8 */
    /*
     * Four arrays of @bytes bytes, little-endian: present values, values that software
     * stored last (unmasked), masks ExanetRegInfo.writable, and masks ExanetRegInfo.w1c.
     * Behind these four arrays, an ExanetRegLane for each lane.
     */
    uint8_t array[] QEMU_ALIGNED(8);
} ExanetRegFile;

/*
 * Size in bytes of an ExanetRegFile for @bytes bytes of registers.  The owner embeds a
 * union of the file and an array of this size.
 */
#define EXANET_REG_FILE_SIZE(bytes) \
    (sizeof(ExanetRegFile) + 4 * (bytes) + (bytes) / 4 * sizeof(ExanetRegLane))

/* Initializes @f as a file of @bytes bytes without registers. */
void exanet_reg_file_init(ExanetRegFile *f, unsigned bytes);
/* Sets the present and stored values of all registers to 0. */
void exanet_reg_file_clear(ExanetRegFile *f);
/*
 * Adds register @info, of block number @block, at position @at: sets the register to its
 * value after a reset, and sets its masks and lanes.  If the same register was added
 * before, only its value changes.
 */
void exanet_reg_file_add(ExanetRegFile *f, unsigned at, const ExanetRegInfo *info,
                         unsigned block);

/*
 * Return or set the present value of the register at position @at, in host byte order.
 * The masks writable and w1c have no effect.
 */
static inline uint32_t exanet_reg_file_get32(const ExanetRegFile *f, unsigned at)
{
    return ldl_le_p(f->array + at);
}

static inline uint64_t exanet_reg_file_get64(const ExanetRegFile *f, unsigned at)
{
    return ldq_le_p(f->array + at);
}

static inline void exanet_reg_file_set32(ExanetRegFile *f, unsigned at, uint32_t value)
{
    stl_le_p(f->array + at, value);
}

static inline void exanet_reg_file_set64(ExanetRegFile *f, unsigned at, uint64_t value)
{
    stq_le_p(f->array + at, value);
}

/* Returns the 8 bytes that software stored last at @at, unmasked, in host byte order. */
static inline uint64_t exanet_reg_file_written64(const ExanetRegFile *f, unsigned at)
{
    return ldq_le_p(f->array + f->bytes + at);
}

/* Returns the lane that contains position @at. */
static inline const ExanetRegLane *exanet_reg_file_lane(const ExanetRegFile *f,
                                                        unsigned at)
{
    const ExanetRegLane *lane = (const ExanetRegLane *)(f->array + 4 * f->bytes);

    return &lane[at / 4];
}

/*
 * Returns the @size bytes of present values at position @at.  @size is 4 or 8; @at is a
 * multiple of @size.
 */
static inline uint64_t exanet_reg_file_load(const ExanetRegFile *f, unsigned at,
                                            unsigned size)
{
    return ldn_le_p(f->array + at, size);
}

/*
 * Executes a store of @value by software at position @at.  @size is 4 or 8 bytes; @at is
 * a multiple of @size.  Copies the bits of mask writable from @value, and clears those
 * bits of mask w1c that are 1 in @value.  Records @value for exanet_reg_file_written64().
 */
static inline void exanet_reg_file_store(ExanetRegFile *f, unsigned at, uint64_t value,
                                         unsigned size)
{
    uint8_t *val = f->array + at;
    uint64_t old = ldn_le_p(val, size);
    uint64_t writable = ldn_le_p(val + 2 * f->bytes, size);
    uint64_t w1c = ldn_le_p(val + 3 * f->bytes, size);

    stn_le_p(val + f->bytes, size, value);
    stn_le_p(val, size, ((old & ~writable) | (value & writable)) & ~(value & w1c));
}

#endif /* HW_EXANET_BASE_REG_FILE_H */
