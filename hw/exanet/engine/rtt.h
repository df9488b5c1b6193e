/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Round-trip times, smoothed as in TCP (RFC 6298): a new time has weight 1/8 in the mean,
 * and the distance of the new time from the old mean has weight 1/4 in the deviation.
 */
#ifndef HW_EXANET_ENGINE_RTT_H
#define HW_EXANET_ENGINE_RTT_H

typedef struct ExanetRtt {
    int64_t mean, deviation;        /* ns; if the mean is 0, no round trip was measured */
} ExanetRtt;

/* Updates @rtt with a measured round-trip time of @ns nanoseconds. */
static inline void exanet_rtt_sample(ExanetRtt *rtt, int64_t ns)
{
    int64_t off = ns - rtt->mean;

    if (!rtt->mean) {
        rtt->mean = MAX(ns, 1);
        rtt->deviation = ns / 2;
        return;
    }
    rtt->mean = MAX(rtt->mean + off / 8, 1);
    rtt->deviation += (ABS(off) - rtt->deviation) / 4;
}

/* Returns the time, ns, within which an answer is expected; 0 if nothing was measured. */
static inline int64_t exanet_rtt_timeout(const ExanetRtt *rtt)
{
    return rtt->mean + 4 * rtt->deviation;
}

#endif /* HW_EXANET_ENGINE_RTT_H */
