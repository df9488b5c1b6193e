/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delay before a retransmission, or timeout of a packet, which doubles each time.
 */
#ifndef RNIC_CORE_BACKOFF_H
#define RNIC_CORE_BACKOFF_H

/*
 * Returns @first doubled @times times, but not more than @shift_max times, and at most
 * @max.  @first, @max and the result are in ns.
 */
static inline int64_t rnic_backoff(int64_t first, unsigned times, unsigned shift_max,
                                   int64_t max)
{
    int64_t ns = first << MIN(times, shift_max);

    return MIN(ns, max);
}

#endif /* RNIC_CORE_BACKOFF_H */
