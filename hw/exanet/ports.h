/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: functions by which the device sets up its ports.  This header does not
 * declare the functions that ports call, because ports call these functions only through
 * RNicPortOwner.
 */
#ifndef HW_EXANET_PORTS_H
#define HW_EXANET_PORTS_H

#include "../link/port.h"

typedef struct ExanetState ExanetState;

/*
 * Initializes @s->ports and the ports with a netdev.  The caller has checked the
 * properties, and has set @s->ports.count.
 */
void exanet_ports_init(ExanetState *s);
/* Copies @s->node and @s->epoch to @s->ports, after a change of the node or the epoch. */
void exanet_ports_update(ExanetState *s);

#endif /* HW_EXANET_PORTS_H */
