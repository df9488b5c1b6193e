/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: what the ports ask of the device.
 */
#ifndef HW_EXANET_PORTS_H
#define HW_EXANET_PORTS_H

#include "link/port.h"

typedef struct ExanetState ExanetState;

/* Creates the ports that have a netdev.  The properties have been checked. */
void exanet_ports_init(ExanetState *s);
/* Tells the ports that NODE or the epoch has changed. */
void exanet_ports_update(ExanetState *s);

#endif /* HW_EXANET_PORTS_H */
