/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: DCQCN, the rate of a connection.
 *
 * The unit has no timers.  pvrdma_dcqcn_cnp() and pvrdma_dcqcn_wait() perform the
 * increases of the rate by time, which raise_at schedules; pvrdma_dcqcn_cnp() also
 * performs the decreases of alpha.  pvrdma_dcqcn_sent() performs the increases by bytes
 * sent.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "../../core/pace.h"
#include "dcqcn.h"

/* Parameters of DCQCN, with the names and values of the publication. */
#define K_NS            (55 * SCALE_US)
#define T_NS            (55 * SCALE_US)
#define B_BYTES         (10 * 1000 * 1000)
#define F_STEPS         5
#define G_SHIFT         8                       /* g = 1/256 */
#define R_AI_BPS        (40 * 1000 * 1000)
/* Step of the hyper increase: ten times the step of the additive increase, as in QCN. */
#define R_HAI_BPS       (10 * R_AI_BPS)
/* Rate, bits per second, from which on a connection is not limited any more. */
#define FULL_BPS        (PVRDMA_DCQCN_LINE_BPS - PVRDMA_DCQCN_LINE_BPS / 1000)
#define BITS_NS         (8ULL * NANOSECONDS_PER_SECOND)

/*
 * Decreases alpha once for each interval K_NS that has passed since the last
 * notification, or since the last decrease.  The loop ends, because alpha becomes 0.
 */
static void alpha_decay(PvrdmaDcqcn *d, int64_t now)
{
    while (d->alpha && now >= d->alpha_at) {
        d->alpha -= d->alpha >> G_SHIFT ?: d->alpha;
        d->alpha_at += K_NS;
    }
}

/*
 * Raises the rate by fast recovery; after F_STEPS increases by time, or by bytes, by
 * additive increase; after F_STEPS increases of each kind, by hyper increase.
 */
static void rate_raise(PvrdmaDcqcn *d)
{
    if (MAX(d->times, d->volumes) > F_STEPS) {
        d->target += MIN(d->times, d->volumes) > F_STEPS ? R_HAI_BPS : R_AI_BPS;
        d->target = MIN(d->target, PVRDMA_DCQCN_LINE_BPS);
    }
    d->rate = (d->rate + d->target) / 2;
    d->limited = d->rate < FULL_BPS;
}

/*
 * Raises the rate once for each interval T_NS that has ended.  The loop ends, because the
 * rate approaches the line rate, and the connection is not limited any more.
 */
static void rate_recover(PvrdmaDcqcn *d, int64_t now)
{
    while (d->limited && now >= d->raise_at) {
        d->times++;
        d->raise_at += T_NS;
        rate_raise(d);
    }
}

void pvrdma_dcqcn_cnp(PvrdmaDcqcn *d, int64_t now)
{
    rate_recover(d, now);
    if (!d->alpha_valid) {
        d->alpha_valid = true;
        d->alpha = PVRDMA_DCQCN_ONE;
    } else {
        alpha_decay(d, now);
    }
    if (!d->limited) {
        d->rate = PVRDMA_DCQCN_LINE_BPS;
        d->next = now;
    }
    d->limited = true;
    d->target = d->rate;
    d->rate -= d->rate * d->alpha / PVRDMA_DCQCN_ONE / 2;
    d->rate = MAX(d->rate, PVRDMA_DCQCN_MIN_BPS);
    d->alpha += (PVRDMA_DCQCN_ONE - d->alpha) >> G_SHIFT;
    d->alpha_at = now + K_NS;
    d->raise_at = now + T_NS;
    d->times = 0;
    d->volumes = 0;
    d->bytes = 0;
}

int64_t pvrdma_dcqcn_wait(PvrdmaDcqcn *d, int64_t now)
{
    rate_recover(d, now);
    return d->limited && d->next > now ? d->next : 0;
}

void pvrdma_dcqcn_sent(PvrdmaDcqcn *d, int64_t now, size_t len)
{
    int64_t burst;

    if (!d->limited) {
        return;
    }
    burst = PVRDMA_DCQCN_BURST * BITS_NS / d->rate;
    d->next = rnic_pace(d->next, now - burst, len * BITS_NS / d->rate);
    d->bytes += len;
    if (d->bytes >= B_BYTES) {
        d->bytes = 0;
        d->volumes++;
        rate_raise(d);
    }
}
