/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks of the page tables of processors.  The walker takes the role of the SMMU: it
 * reads the tables of a process, and never writes them.  Free of QEMU state, because unit
 * tests walk synthetic tables.
 */
#ifndef HW_EXANET_ENGINE_WALK_H
#define HW_EXANET_ENGINE_WALK_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

/*
 * Reads the 64-bit table entry at physical address @pa, in host byte order.  Returns
 * false if there is no RAM.
 */
typedef bool ExanetWalkRead(void *opaque, uint64_t pa, uint64_t *entry);

typedef struct ExanetWalk {
    enum exanet_table_format format;
    unsigned va_bits;       /* bits of user addresses; 0: maximum of the format */
    /*
     * Physical address of the top table, as in CR3 or TTBR0_EL1: PCID and ASID are
     * ignored, and formats with 52-bit addresses have [51:48] in [5:2].
     */
    uint64_t root;
    ExanetWalkRead *read;
    void *opaque;
} ExanetWalk;

typedef struct ExanetLeaf {
    uint64_t pa;            /* physical address of the page */
    unsigned shift;         /* log2 of the page size */
    bool write;             /* writable and already dirty */
} ExanetLeaf;

/*
 * Translates @va.  Returns:
 *   EXANET_RESP_ACK     @leaf is filled in
 *   EXANET_RESP_FAULT   the page is not present, not a user's, not accessed, or, for
 *                       @write, not writable or not dirty, because the kernel must know
 *                       that a page becomes dirty [P §3.9]; or a reserved bit is set
 *   EXANET_RESP_DECODE  the address is not canonical or beyond va_bits, or a table is
 *                       not in RAM
 */
enum exanet_resp exanet_walk(const ExanetWalk *walk, uint64_t va, bool write,
                             ExanetLeaf *leaf);

#endif /* HW_EXANET_ENGINE_WALK_H */
