/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: limits the entries of each job in a table that processes of many jobs use.
 */
#ifndef HW_EXANET_ENGINE_JOB_QUOTA_H
#define HW_EXANET_ENGINE_JOB_QUOTA_H

#include "rnic/exanet/wire.h"

#define EXANET_JOBS (RNIC_GET(EXANET_PDID_JOB, ~0ULL) + 1)

/* Numbers of entries in one table. */
typedef struct ExanetJobQuota {
    uint16_t held[EXANET_JOBS];     /* number of entries, by job */
    unsigned total;                 /* number of entries of all jobs */
} ExanetJobQuota;

/*
 * Returns true if a table of @max entries has room for another entry of @job.  A job may
 * use at most half of the entries that other jobs do not use, so that a single job cannot
 * fill the table.
 */
static inline bool exanet_job_quota_room(const ExanetJobQuota *q, unsigned job,
                                         unsigned max)
{
    unsigned others = q->total - q->held[job];

    return q->held[job] < (max - others) / 2;
}

/* Adds 1 to the number of entries of @job.  The caller adds the entry. */
static inline void exanet_job_quota_take(ExanetJobQuota *q, unsigned job)
{
    q->held[job]++;
    q->total++;
}

/* Subtracts 1 from the number of entries of @job.  The caller removes the entry. */
static inline void exanet_job_quota_give(ExanetJobQuota *q, unsigned job)
{
    q->held[job]--;
    q->total--;
}

#endif /* HW_EXANET_ENGINE_JOB_QUOTA_H */
