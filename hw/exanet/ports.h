/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: makes the ports, and gives the ports the functions of the device that ports
 * call.
 */
#ifndef HW_EXANET_PORTS_H
#define HW_EXANET_PORTS_H

#include "link/port.h"

typedef struct ExanetState ExanetState;

/* Initializes @s->ports and the ports with a netdev.  The properties must be valid. */
void exanet_ports_init(ExanetState *s);
/* Copies @s->node and @s->epoch to @s->ports, after a change of the node or the epoch. */
void exanet_ports_update(ExanetState *s);

#endif /* HW_EXANET_PORTS_H */
