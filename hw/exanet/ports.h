/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the side of the device for its ports.  The functions that ports call are in
 * ports.c, because ports call them by ExanetPortOwner only.
 */
#ifndef HW_EXANET_PORTS_H
#define HW_EXANET_PORTS_H

#include "link/port.h"

typedef struct ExanetState ExanetState;

/*
 * Initializes @s->ports and the ports with a netdev.  The caller has checked the
 * properties, and has set @s->ports.count.
 */
void exanet_ports_init(ExanetState *s);
/* Copies @s->node and @s->epoch to @s->ports, after a change of the node or the epoch. */
void exanet_ports_update(ExanetState *s);

#endif /* HW_EXANET_PORTS_H */
