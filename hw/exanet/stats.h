/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and values of the counters of an ExaNet NIC, for query-stats and QOM.
 */
#ifndef HW_EXANET_STATS_H
#define HW_EXANET_STATS_H

#include "../core/stats.h"

typedef struct ExanetState ExanetState;

/*
 * Calls @fn(@opaque, ...) for each counter of link @link: the read-only registers of 8
 * bytes of its port.  The caller has called exanet_port_reg_sync() before.  If @s is
 * NULL, all values are 0.
 */
void exanet_stats_link(ExanetState *s, unsigned link, RNicStatFn *fn, void *opaque);
/*
 * RNicStatsForeach of ExaNet; @device is an ExanetState or NULL.  Calls @fn for the
 * counters of the device, and for the counters of the links with a netdev (of all
 * possible links if @device is NULL).  The names of the counters of link N begin with
 * "linkN-".
 */
void exanet_stats_foreach(void *device, RNicStatFn *fn, void *opaque);

#endif /* HW_EXANET_STATS_H */
