/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet counters in query-stats.
 */
#ifndef HW_EXANET_STATS_H
#define HW_EXANET_STATS_H

typedef struct ExanetState ExanetState;

/* query-stats: the device is one of those that have been built. */
void exanet_stats_add(ExanetState *s);
void exanet_stats_remove(ExanetState *s);

#endif /* HW_EXANET_STATS_H */
