/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page-table walks of the processors whose processes use the NIC.  The walker
 * plays the SMMU's role: it reads the tables of the process, never writes them.
 * Free of QEMU state, so that unit tests walk synthetic tables.
 */
#ifndef HW_EXANET_ENGINE_WALK_H
#define HW_EXANET_ENGINE_WALK_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

/* Reads the 64-bit table entry at physical @pa; false where there is no RAM. */
typedef bool ExanetWalkRead(void *opaque, uint64_t pa, uint64_t *entry);

typedef struct ExanetWalk {
    enum exanet_table_format format;
    unsigned va_bits;       /* of user addresses; 0 = all the format can have */
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
 * Translates @va.  Returns EXANET_RESP_ACK and fills @leaf; EXANET_RESP_FAULT when
 * the page is not there in the way that is asked for: present, user, accessed,
 * and for @write writable and dirty (a page that the kernel believes clean must
 * not be written behind its back [P §3.9]); EXANET_RESP_DECODE when the address or
 * the tables make no sense: not canonical, beyond va_bits, table outside RAM.
 * Reserved bits that are set make an entry not present.
 */
enum exanet_resp exanet_walk(const ExanetWalk *walk, uint64_t va, bool write,
                             ExanetLeaf *leaf);

#endif /* HW_EXANET_ENGINE_WALK_H */
