/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic of the congestion management: the 8-bit codes of rates in flow-rate packets,
 * and the fair share of a port.  This file needs no state of QEMU, because a unit test
 * uses it alone.
 *
 * Rates are in kb/s of 128-bit words on the link, headers and footers included.
 */
#ifndef HW_EXANET_NET_FLOW_RATE_H
#define HW_EXANET_NET_FLOW_RATE_H

#include "rnic/exanet/wire.h"

#define EXANET_RATE_MANTISSAS 16
#define EXANET_RATE_NONE UINT32_MAX     /* a rate that is no limit */

/* Returns the rate of @code: 1024 to 65011712 kb/s. */
static inline uint32_t exanet_rate_kbps(uint8_t code)
{
    return ((EXANET_RATE_MANTISSAS + RNIC_GET(EXANET_RATE_MANTISSA, code))
            << RNIC_GET(EXANET_RATE_EXPONENT, code)) * EXANET_RATE_UNIT_KBPS;
}

/*
 * Returns the code of the highest rate that is not above @kbps.  If all rates of codes
 * are above @kbps, returns 0, the code of the lowest rate.
 */
static inline uint8_t exanet_rate_code(uint32_t kbps)
{
    uint32_t units = kbps / EXANET_RATE_UNIT_KBPS;
    unsigned exponent = 0;

    if (units < EXANET_RATE_MANTISSAS) {
        return 0;
    }
    while (units >= 2 * EXANET_RATE_MANTISSAS) {
        units >>= 1;
        exponent++;
    }
    if (exponent > RNIC_GET(EXANET_RATE_EXPONENT, 0xff)) {
        return 0xff;
    }
    return RNIC_PREP(EXANET_RATE_EXPONENT, exponent) |
           RNIC_PREP(EXANET_RATE_MANTISSA, units - EXANET_RATE_MANTISSAS);
}

/*
 * Returns the rate, kb/s, of @words 128-bit words in @ns nanoseconds, at most
 * EXANET_RATE_NONE - 1.  @ns is not 0.
 */
static inline uint32_t exanet_rate_measured(uint64_t words, int64_t ns)
{
    uint64_t kbps = words * EXANET_WORD_BYTES * 8 * 1000000 / ns;

    return kbps < EXANET_RATE_NONE ? kbps : EXANET_RATE_NONE - 1;
}

/*
 * Returns the max-min fair rate, kb/s: the limit for each of @n flows with which all
 * flows together fill @capacity (kb/s).  @demand[i] is the rate, kb/s, that flow i needs.
 * A flow with a lower demand leaves the rest of its share to other flows.  Returns
 * EXANET_RATE_NONE if @capacity is enough for all demands.  The function computes at most
 * 8 levels, from below.  So with many different demands the result may be below the fair
 * rate, or may be a limit although @capacity is enough for all demands.
 */
static inline uint32_t exanet_fair_level(uint64_t capacity,
                                         const uint32_t *demand, unsigned n)
{
    uint32_t level = 0;

    for (unsigned round = 0; round < 8; round++) {
        uint64_t rest = capacity;
        unsigned greedy = 0;
        uint64_t next;

        for (unsigned i = 0; i < n; i++) {
            if (demand[i] > level) {
                greedy++;
            } else {
                rest -= demand[i];
            }
        }
        if (greedy == 0) {
            return EXANET_RATE_NONE;
        }
        next = rest / greedy;
        next = next < EXANET_RATE_NONE ? next : EXANET_RATE_NONE - 1;
        if (next == level) {
            break;
        }
        level = next;
    }
    return level;
}

#endif /* HW_EXANET_NET_FLOW_RATE_H */
