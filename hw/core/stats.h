/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of devices for `query-stats`, as provider "rnic" of target "vm".  Each device
 * has a result of its own, which contains the QOM path of the device.
 */
#ifndef RNIC_CORE_STATS_H
#define RNIC_CORE_STATS_H

#include "compat.h"
#include "qemu/queue.h"

/* Handles the counter @name with @value.  The function owns the string @name. */
typedef void RNicStatFn(void *opaque, char *name, uint64_t value);

/*
 * Calls @fn(@opaque, ...) for each counter of @device.  If @device is NULL, calls @fn for
 * each counter that a device of the family may have, in the same order; the values have
 * no meaning then.
 */
typedef void RNicStatsForeach(void *device, RNicStatFn *fn, void *opaque);

/* The provider's record of a device, inside the state of the device. */
typedef struct RNicStats {
    QLIST_ENTRY(RNicStats) next;
    DeviceState *dev;
    RNicStatsForeach *foreach;
    void *device;                   /* argument of @foreach */
} RNicStats;

/*
 * Fills in @stats and adds the counters of @device to the provider.  A query can read the
 * counters at once, so the caller has built the device.  @dev is the QOM object.
 */
void rnic_stats_add(RNicStats *stats, DeviceState *dev, RNicStatsForeach *foreach,
                    void *device);
/* Removes the counters of a device from the provider.  The caller owns @stats. */
void rnic_stats_remove(RNicStats *stats);

#endif /* RNIC_CORE_STATS_H */
