/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A serial resource does one piece of work after the other: for example a cable with a
 * rate, a paced flow, or a hardware unit that needs a modelled time for each piece of
 * work.
 */
#ifndef RNIC_CORE_PACE_H
#define RNIC_CORE_PACE_H

/*
 * Returns the time at which the resource has finished the new work.  The resource is busy
 * until @busy, begins the new work no earlier than @start, and needs @cost for this work.
 * The three arguments have the same unit, which the caller chooses.
 */
static inline int64_t rnic_pace(int64_t busy, int64_t start, int64_t cost)
{
    return MAX(busy, start) + cost;
}

#endif /* RNIC_CORE_PACE_H */
