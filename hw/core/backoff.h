/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A delay before a retransmission, or the timeout of a packet: the time doubles with each
 * attempt.
 */
#ifndef RNIC_CORE_BACKOFF_H
#define RNIC_CORE_BACKOFF_H

/*
 * Returns @first, doubled @times times or @shift_max times, whichever is less.  Returns
 * @max if the result would exceed @max.  @first, @max and the result are in ns.
 */
static inline int64_t rnic_backoff(int64_t first, unsigned times, unsigned shift_max,
                                   int64_t max)
{
    int64_t ns = first << MIN(times, shift_max);

    return MIN(ns, max);
}

#endif /* RNIC_CORE_BACKOFF_H */
