/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the functions that the ports call in the device.
 */
#ifndef HW_EXANET_PORTS_H
#define HW_EXANET_PORTS_H

#include "link/port.h"

typedef struct ExanetState ExanetState;

/* Creates the ports that have a netdev.  The properties have been checked. */
void exanet_ports_init(ExanetState *s);
/* Copies @s->node and @s->epoch to the ports, after one of them has changed. */
void exanet_ports_update(ExanetState *s);

#endif /* HW_EXANET_PORTS_H */
