/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of flits and control words that a fault of a cable may damage.
 */
#ifndef HW_EXTOLL_LINK_WIRE_FAULT_H
#define HW_EXTOLL_LINK_WIRE_FAULT_H

#include "../../link/inject.h"

/*
 * The format of EXTOLL's flits and control words for inject.h.  The parts are header and
 * payload of a flit, and the control word, which the fault destroys.  The type is that of
 * extoll_fault_type().
 */
extern const RNicFaultFormat extoll_fault_format;

/* Types of the words that faults may hit. */
enum extoll_fault_type {
    EXTOLL_FAULT_FLIT,
    EXTOLL_FAULT_CONTROL,
};

#endif /* HW_EXTOLL_LINK_WIRE_FAULT_H */
