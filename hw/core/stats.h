/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of devices for `query-stats`, as provider "rnic" of target "vm": one result
 * per device, which carries the device's QOM path.
 */
#ifndef RNIC_CORE_STATS_H
#define RNIC_CORE_STATS_H

#include "compat.h"
#include "qemu/queue.h"

/* Takes the @value of the counter @name.  The function frees @name, or keeps it. */
typedef void RNicStatFn(void *opaque, char *name, uint64_t value);

/*
 * Calls @fn for each counter of @device.  If @device is NULL, calls @fn for each counter
 * that a device of the family may have, in the same order, with any value.
 */
typedef void RNicStatsForeach(void *device, RNicStatFn *fn, void *opaque);

/* A device, as the provider knows it.  Embedded in the device's state. */
typedef struct RNicStats {
    QLIST_ENTRY(RNicStats) next;
    DeviceState *dev;
    RNicStatsForeach *foreach;
    void *device;                   /* argument of @foreach */
} RNicStats;

/* Adds the counters of @device, which is complete, to the provider; fills in @stats. */
void rnic_stats_add(RNicStats *stats, DeviceState *dev, RNicStatsForeach *foreach,
                    void *device);
/* Removes the counters of a device; the caller owns @stats. */
void rnic_stats_remove(RNicStats *stats);

#endif /* RNIC_CORE_STATS_H */
