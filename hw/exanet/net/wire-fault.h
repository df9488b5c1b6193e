/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of ExaNet packets that a fault of a cable may damage.
 */
#ifndef HW_EXANET_NET_WIRE_FAULT_H
#define HW_EXANET_NET_WIRE_FAULT_H

#include "../../link/inject.h"

/*
 * The format of ExaNet packets for inject.h: the parts are header, payload and footer,
 * and types are values of enum exanet_type.
 */
extern const RNicFaultFormat exanet_fault_format;

#endif /* HW_EXANET_NET_WIRE_FAULT_H */
