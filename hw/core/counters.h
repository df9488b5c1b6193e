/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a device, as QOM shows them.  Each family has a list macro of its own,
 * and an array of uint64_t in the order of that list.
 */
#ifndef RNIC_CORE_COUNTERS_H
#define RNIC_CORE_COUNTERS_H

#include "qobject/qdict.h"

/* RX_BAD_ICRC as QOM writes it: rx-bad-icrc.  The caller frees it. */
char *rnic_qom_name(const char *name);

/* Puts a number without sign into @dict. */
void rnic_put_uint(QDict *dict, const char *name, uint64_t value);

/* Element of the array of names that a list macro gives. */
#define RNIC_COUNTER_NAME(name, text) #name,

/* A dictionary of all counters; the caller has the reference. */
QDict *rnic_counters_dict(const char *const *names, const uint64_t *values,
                          unsigned count);

#endif /* RNIC_CORE_COUNTERS_H */
