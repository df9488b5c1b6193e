/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page-table walks.  A walk reads one entry per level.  Format and va_bits limit the
 * number of levels, so no table can make a walk endless.
 */
#include "qemu/osdep.h"
#include "walk.h"

#define ENTRY_BYTES 8

/* Bits of x86-64 entries, with the names of the processor manuals. */
#define X86_P           RNIC_BIT(0)
#define X86_RW          RNIC_BIT(1)
#define X86_US          RNIC_BIT(2)
#define X86_A           RNIC_BIT(5)
#define X86_D           RNIC_BIT(6)
#define X86_PS          RNIC_BIT(7)
#define X86_ADDR        RNIC_FIELD(51, 12)
#define X86_PAGE_SHIFT  12
#define X86_INDEX_BITS  9
#define X86_1G_SHIFT    30

/* Bits of entries of arm64 stage 1, and fields of TTBR0_EL1. */
#define ARM_VALID       RNIC_BIT(0)
#define ARM_TABLE       RNIC_BIT(1)     /* 1: a table; on the last level, a page */
#define ARM_AP_USER     RNIC_BIT(6)
#define ARM_AP_RDONLY   RNIC_BIT(7)
#define ARM_AF          RNIC_BIT(10)
#define ARM_NT          RNIC_BIT(16)    /* nT of a block: its size may change, FEAT_BBM */
#define ARM_RES0_TABLE  RNIC_BIT(50)    /* reserved in a table entry; GP in a leaf */
#define ARM_AP_NO_USER  RNIC_BIT(61)    /* in a table entry: no user access below */
#define ARM_AP_NO_WRITE RNIC_BIT(62)    /* in a table entry: no write access below */
#define ARM_RES0_ABOVE  49              /* highest address bit of any format */
#define ARM_ROOT_BITS   48
#define ARM_ROOT_HIGH   RNIC_FIELD(5, 2)    /* PA[51:48], as in TTBR0_EL1 */
#define ARM_ROOT_ALIGN  6

/* The differences between the arm64 formats. */
typedef struct ArmFormat {
    unsigned granule;       /* log2 of the page size, bytes */
    unsigned va_bits;       /* maximal number of bits of a virtual address */
    unsigned pa_bits;       /* PA[pa_bits - 1:0] are at the same bits in an entry */
    uint64_t pa_high;       /* field of an entry with the PA bits from pa_bits on */
    unsigned blocks;        /* number of levels, above the last, that may map blocks */
} ArmFormat;

static const ArmFormat arm_4k = { 12, 48, 48, 0, 2 };
static const ArmFormat arm_16k = { 14, 48, 48, 0, 1 };
/* with FEAT_LPA and FEAT_LVA */
static const ArmFormat arm_64k = { 16, 52, 48, RNIC_FIELD(15, 12), 2 };
/* with FEAT_LPA2: PA[51:50] replace the shareability bits */
static const ArmFormat arm_4k_lpa2 = { 12, 52, 50, RNIC_FIELD(9, 8), 3 };
static const ArmFormat arm_16k_lpa2 = { 14, 52, 50, RNIC_FIELD(9, 8), 2 };

static bool va_fits(uint64_t va, unsigned bits)
{
    return bits >= 64 || va >> bits == 0;
}

static bool read_entry(const ExanetWalk *walk, uint64_t table, uint64_t va,
                       unsigned shift, unsigned bits, uint64_t *entry)
{
    uint64_t index = (va >> shift) & ((1ULL << bits) - 1);

    return walk->read(walk->opaque, table + index * ENTRY_BYTES, entry);
}

/*
 * Returns true if @entry maps a large page of 1 << @shift bytes, and has a reserved bit
 * set or maps more than 1 GB, a page size that does not exist.  The function checks no
 * reserved bits in entries for 4-KB pages and for tables.
 */
static bool x86_reserved(uint64_t entry, unsigned shift)
{
    if (shift == X86_PAGE_SHIFT || !(entry & X86_PS)) {
        return false;
    }
    /* bit 12 of a large page is PAT, so the reserved bits begin at bit 13 */
    return shift > X86_1G_SHIFT || (entry & RNIC_FIELD(shift - 1, 13));
}

static enum exanet_resp walk_x86(const ExanetWalk *walk, unsigned levels,
                                 uint64_t va, bool write, ExanetLeaf *leaf)
{
    unsigned shift = X86_PAGE_SHIFT + X86_INDEX_BITS * levels;
    unsigned bits = shift - 1;          /* the kernel has the upper half of addresses */
    uint64_t table = walk->root & X86_ADDR;
    uint64_t rights = X86_US | X86_RW;
    uint64_t entry;

    if (walk->va_bits && walk->va_bits < bits) {
        bits = walk->va_bits;
    }
    if (!va_fits(va, bits)) {
        return EXANET_RESP_DECODE;
    }
    for (;;) {
        shift -= X86_INDEX_BITS;
        if (!read_entry(walk, table, va, shift, X86_INDEX_BITS, &entry)) {
            return EXANET_RESP_DECODE;
        }
        rights &= entry;
        if (!(entry & X86_P) || !(rights & X86_US) ||
            x86_reserved(entry, shift)) {
            return EXANET_RESP_FAULT;
        }
        if (shift == X86_PAGE_SHIFT || (entry & X86_PS)) {
            break;
        }
        table = entry & X86_ADDR;
    }
    leaf->pa = entry & X86_ADDR & (~0ULL << shift);
    leaf->shift = shift;
    leaf->write = (rights & X86_RW) && (entry & X86_D);
    return (entry & X86_A) && (leaf->write || !write) ? EXANET_RESP_ACK
                                                      : EXANET_RESP_FAULT;
}

/* Returns the physical address in @entry, with 0 in the address bits below @align. */
static uint64_t arm_address(const ArmFormat *f, uint64_t entry, unsigned align)
{
    uint64_t pa = entry & RNIC_FIELD(f->pa_bits - 1, align);

    if (f->pa_high) {
        pa |= RNIC_GET(f->pa_high, entry) << f->pa_bits;
    }
    return pa;
}

/*
 * Returns the bits that must be 0 in an entry for a page or block of 1 << @shift bytes.
 * In an entry for a table, ARM_RES0_TABLE and the bits for @shift = granule must be 0.
 */
static uint64_t arm_reserved(const ArmFormat *f, unsigned shift)
{
    uint64_t low = RNIC_FIELD(shift - 1, 0) & RNIC_FIELD(63, 12) & ~f->pa_high;
    uint64_t high = RNIC_FIELD(ARM_RES0_ABOVE, 0) &
                    ~RNIC_FIELD(f->pa_bits - 1, 0);

    return high | (shift == f->granule ? low : low & ~ARM_NT);
}

/*
 * Returns the physical address of the top table, which has 1 << @index_bits entries.  A
 * top table that is shorter than a page is aligned to its length, at least to 64 bytes.
 */
static uint64_t arm_root(const ArmFormat *f, uint64_t root, unsigned index_bits)
{
    unsigned align = MAX(index_bits + 3, ARM_ROOT_ALIGN);
    uint64_t pa = root & RNIC_FIELD(ARM_ROOT_BITS - 1, align);

    if (f->pa_high) {
        pa |= RNIC_GET(ARM_ROOT_HIGH, root) << ARM_ROOT_BITS;
    }
    return pa;
}

static enum exanet_resp arm_leaf(const ArmFormat *f, uint64_t entry,
                                 unsigned shift, bool write, ExanetLeaf *leaf)
{
    if (entry & arm_reserved(f, shift)) {
        return EXANET_RESP_FAULT;
    }
    leaf->pa = arm_address(f, entry, shift);
    leaf->shift = shift;
    /* a page is dirty if AP[2] (RDONLY) is 0, with and without DBM */
    leaf->write &= !(entry & ARM_AP_RDONLY);
    if (!(entry & ARM_AP_USER) || !(entry & ARM_AF) ||
        (write && !leaf->write)) {
        return EXANET_RESP_FAULT;
    }
    return EXANET_RESP_ACK;
}

static enum exanet_resp walk_arm(const ExanetWalk *walk, const ArmFormat *f,
                                 uint64_t va, bool write, ExanetLeaf *leaf)
{
    const unsigned index_bits = f->granule - 3;
    unsigned bits = walk->va_bits ? walk->va_bits : f->va_bits;
    unsigned above, top_bits;
    uint64_t table, entry;
    bool user = true;

    if (bits > f->va_bits || bits <= f->granule || !va_fits(va, bits)) {
        return EXANET_RESP_DECODE;
    }
    above = (bits - f->granule - 1) / index_bits;
    top_bits = bits - f->granule - above * index_bits;
    table = arm_root(f, walk->root, top_bits);
    leaf->write = true;

    for (;; above--) {
        unsigned shift = f->granule + above * index_bits;

        if (!read_entry(walk, table, va, shift, top_bits, &entry)) {
            return EXANET_RESP_DECODE;
        }
        if (!(entry & ARM_VALID)) {
            return EXANET_RESP_FAULT;
        }
        if (above == 0 || !(entry & ARM_TABLE)) {
            /* on the last level, ARM_TABLE = 0 is a reserved encoding */
            if (above ? above > f->blocks : !(entry & ARM_TABLE)) {
                return EXANET_RESP_FAULT;
            }
            return user ? arm_leaf(f, entry, shift, write, leaf)
                        : EXANET_RESP_FAULT;
        }
        if (entry & (ARM_RES0_TABLE | arm_reserved(f, f->granule))) {
            return EXANET_RESP_FAULT;
        }
        user &= !(entry & ARM_AP_NO_USER);
        leaf->write &= !(entry & ARM_AP_NO_WRITE);
        table = arm_address(f, entry, f->granule);
        top_bits = index_bits;
    }
}

enum exanet_resp exanet_walk(const ExanetWalk *walk, uint64_t va, bool write,
                             ExanetLeaf *leaf)
{
    switch (walk->format) {
    case EXANET_FORMAT_IDENTITY:
        leaf->shift = 12;
        leaf->pa = va & (~0ULL << leaf->shift);
        leaf->write = true;
        return EXANET_RESP_ACK;
    case EXANET_FORMAT_X86_4:
        return walk_x86(walk, 4, va, write, leaf);
    case EXANET_FORMAT_X86_5:
        return walk_x86(walk, 5, va, write, leaf);
    case EXANET_FORMAT_ARM64_4K:
        return walk_arm(walk, &arm_4k, va, write, leaf);
    case EXANET_FORMAT_ARM64_16K:
        return walk_arm(walk, &arm_16k, va, write, leaf);
    case EXANET_FORMAT_ARM64_64K:
        return walk_arm(walk, &arm_64k, va, write, leaf);
    case EXANET_FORMAT_ARM64_4K_LPA2:
        return walk_arm(walk, &arm_4k_lpa2, va, write, leaf);
    case EXANET_FORMAT_ARM64_16K_LPA2:
        return walk_arm(walk, &arm_16k_lpa2, va, write, leaf);
    case EXANET_FORMATS:
        break;
    }
    return EXANET_RESP_DECODE;
}
