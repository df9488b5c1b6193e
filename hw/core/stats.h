/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of devices for `query-stats`, as provider "rnic" of target "vm".  Each device
 * has a result of its own, which contains the QOM path of the device.
 */
#ifndef RNIC_CORE_STATS_H
#define RNIC_CORE_STATS_H

#include "compat.h"
#include "qemu/queue.h"

/*
 * Handles the counter @name with value @value.  The function becomes the owner of the
 * string @name.
 */
typedef void RNicStatFn(void *opaque, char *name, uint64_t value);

/*
 * Calls @fn(@opaque, name, value) for each counter of @device.  If @device is NULL, calls
 * @fn for each counter that a device of the family may have, in the same order; the
 * values then have no meaning.
 */
typedef void RNicStatsForeach(void *device, RNicStatFn *fn, void *opaque);

/*
 * The record that provider "rnic" keeps of a device.  The record is a part of the
 * device's state.
 */
typedef struct RNicStats {
    QLIST_ENTRY(RNicStats) next;
    DeviceState *dev;
    RNicStatsForeach *foreach;
    void *device;                   /* argument of @foreach */
} RNicStats;

/*
 * Fills in @stats and adds the counters of @device to the provider.  A query can read the
 * counters at once, so the caller must have built the device before the call.  @dev is
 * the QOM object of @device.
 */
void rnic_stats_add(RNicStats *stats, DeviceState *dev, RNicStatsForeach *foreach,
                    void *device);
/* Removes the counters of a device from the provider.  The caller owns @stats. */
void rnic_stats_remove(RNicStats *stats);

#endif /* RNIC_CORE_STATS_H */
