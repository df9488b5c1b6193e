/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks of the page tables of processors.  Like an SMMU, the walker reads the page tables
 * of a process, and never writes to these tables.  This file needs no state of QEMU,
 * because unit tests walk synthetic tables.
 */
#ifndef HW_EXANET_ENGINE_WALK_H
#define HW_EXANET_ENGINE_WALK_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

/*
 * Stores in *@entry, in host byte order, the 64-bit table entry at physical address @pa.
 * Returns false if there is no RAM at @pa.  @opaque is ExanetWalk.opaque.
 */
typedef bool ExanetWalkRead(void *opaque, uint64_t pa, uint64_t *entry);

/* The page tables of a process. */
typedef struct ExanetWalk {
    enum exanet_table_format format;
    unsigned va_bits;       /* bits of user addresses; 0: maximum of the format */
    /*
     * Physical address of the top table, as in CR3 or TTBR0_EL1.  The walker ignores PCID
     * and ASID.  In arm64 formats with 52-bit addresses, bits [5:2] are PA[51:48].
     */
    uint64_t root;
    ExanetWalkRead *read;
    void *opaque;           /* argument of @read */
} ExanetWalk;

/* The page that contains an address. */
typedef struct ExanetLeaf {
    uint64_t pa;            /* physical address of the first byte of the page */
    unsigned shift;         /* log2 of the page size, bytes */
    bool write;             /* the page may be written, and is already dirty */
} ExanetLeaf;

/*
 * Translates the user address @va for a read, or for a write (@write).  Returns:
 *   EXANET_RESP_ACK     @leaf is filled in
 *   EXANET_RESP_FAULT   the page is not present, not a user's, or its accessed flag is
 *                       not set; an entry has a reserved encoding, or a reserved bit that
 *                       walk.c checks; or, for @write, the page is not writable or not
 *                       yet dirty, because the kernel must know that a page becomes dirty
 *                       [P §3.9]
 *   EXANET_RESP_DECODE  @va has more bits than va_bits or the format permits, va_bits is
 *                       not valid for an arm64 format, the format is unknown, or a table
 *                       is not in RAM
 * EXANET_FORMAT_IDENTITY has no tables, and each @va has a translation.
 */
enum exanet_resp exanet_walk(const ExanetWalk *walk, uint64_t va, bool write,
                             ExanetLeaf *leaf);

#endif /* HW_EXANET_ENGINE_WALK_H */
