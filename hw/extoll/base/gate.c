/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation of one page; see gate.h. */
#include "qemu/osdep.h"
#include "gate.h"

ExtollGate extoll_gate_decode(uint64_t word)
{
    return (ExtollGate) {
        .page = RNIC_GET(EXTOLL_GATE_PAGE, word) * EXTOLL_PAGE_BYTES,
        .vpid = RNIC_GET(EXTOLL_GATE_VPID, word),
        .read = word & EXTOLL_GATE_READ,
        .write = word & EXTOLL_GATE_WRITE,
        .valid = (word & EXTOLL_GATE_VALID) && !(word & EXTOLL_GATE_RESERVED),
    };
}

bool extoll_gate_address(uint32_t base, uint64_t nla, uint64_t *address)
{
    if (!(base & EXTOLL_GAT_BASE_VALID) || nla >> EXTOLL_NLA_BITS) {
        return false;
    }
    *address = RNIC_GET(EXTOLL_GAT_BASE_PAGE, base) * EXTOLL_GAT_BYTES +
               RNIC_GET(EXTOLL_NLA_GATE, nla) * sizeof(__le64);
    return true;
}

enum extoll_error extoll_gate_check(const ExtollGate *gate, unsigned vpid, bool write)
{
    if (!gate->valid) {
        return EXTOLL_ERROR_UNMAPPED;
    }
    if (gate->vpid != vpid) {
        return EXTOLL_ERROR_OWNER;
    }
    return (write ? gate->write : gate->read) ? EXTOLL_ERROR_NONE : EXTOLL_ERROR_ACCESS;
}
