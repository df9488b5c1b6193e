/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and values of the counters of an ExaNet NIC, for query-stats and QOM.
 */
#ifndef HW_EXANET_STATS_H
#define HW_EXANET_STATS_H

#include "../core/stats.h"

typedef struct ExanetState ExanetState;

/*
 * Calls @fn(@opaque, ...) for each counter of link @link: the read-only 8-byte registers
 * of the port.  The caller must call exanet_port_reg_sync() before.  If @s is NULL, all
 * values are 0.
 */
void exanet_stats_link(ExanetState *s, unsigned link, RNicStatFn *fn, void *opaque);
/*
 * RNicStatsForeach of ExaNet; @device is an ExanetState or NULL.  Calls @fn(@opaque, ...)
 * for the counters of the device, and for the counters of the links with a netdev (of all
 * possible links if @device is NULL).  The names of the counters of link N begin with
 * "linkN-".
 */
void exanet_stats_foreach(void *device, RNicStatFn *fn, void *opaque);

#endif /* HW_EXANET_STATS_H */
