/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation of one page: GAT base registers and GATEs.  The formats are in
 * rnic/extoll/atu.h.
 */
#ifndef RNIC_EXTOLL_BASE_GATE_H
#define RNIC_EXTOLL_BASE_GATE_H

#include "rnic/extoll/atu.h"
#include "rnic/extoll/rma.h"

typedef struct ExtollGate {
    uint64_t page;      /* physical address of the page */
    uint16_t vpid;      /* owner */
    bool read;
    bool write;
    bool valid;
} ExtollGate;

/* Decodes the GATE @word, in host order.  A GATE with a reserved bit is not valid. */
ExtollGate extoll_gate_decode(uint64_t word);

/*
 * Sets @address to the address of the GATE for @nla in the GAT with base register @base.
 * Returns false if @base is not valid, or if @nla has more than EXTOLL_NLA_BITS bits.
 */
bool extoll_gate_address(uint32_t base, uint64_t nla, uint64_t *address);

/*
 * Checks an access of VPID @vpid, a write if @write, to the page of @gate.  Returns NONE,
 * UNMAPPED, OWNER or ACCESS.
 */
enum extoll_error extoll_gate_check(const ExtollGate *gate, unsigned vpid, bool write);

#endif /* RNIC_EXTOLL_BASE_GATE_H */
