/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Epochs: numbers from 1 to 255 that change with each reset of a node, so that other
 * nodes recognize packets from before the reset.
 */
#ifndef RNIC_CORE_EPOCH_H
#define RNIC_CORE_EPOCH_H

#include "qemu/timer.h"

/* Time, ns, for which rnic_epoch_next() selects the same first epoch. */
#define RNIC_EPOCH_STEP_NS (500LL * SCALE_MS)

/*
 * Returns the epoch after a reset.  @epoch is the last epoch, or 0 if this is the first
 * reset.  The next epoch is the last one plus 1, because distant nodes regard packets
 * with one of the last epochs as delayed.  1 follows 255.  The first epoch is @first.  If
 * @first is 0, the first epoch depends on the time of day, so that a restarted device
 * usually begins with an epoch that it has not used lately.
 */
static inline uint8_t rnic_epoch_next(uint8_t epoch, uint8_t first)
{
    if (epoch) {
        return epoch == UINT8_MAX ? 1 : epoch + 1;
    }
    return first ? first :
           qemu_clock_get_ns(QEMU_CLOCK_HOST) / RNIC_EPOCH_STEP_NS % UINT8_MAX + 1;
}

#endif /* RNIC_CORE_EPOCH_H */
