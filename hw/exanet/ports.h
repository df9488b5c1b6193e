/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: what the ports ask of the device.
 */
#ifndef HW_EXANET_PORTS_H
#define HW_EXANET_PORTS_H

#include "link/port.h"

extern const ExanetPortOwner exanet_port_owner;

#endif /* HW_EXANET_PORTS_H */
