/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the share of a job in a table that processes of many jobs use.
 */
#ifndef HW_EXANET_ENGINE_JOB_QUOTA_H
#define HW_EXANET_ENGINE_JOB_QUOTA_H

#include "rnic/exanet/wire.h"

#define EXANET_JOBS (RNIC_GET(EXANET_PDID_JOB, ~0ULL) + 1)

typedef struct ExanetJobQuota {
    uint16_t held[EXANET_JOBS];     /* number of entries, by job */
    unsigned total;                 /* number of entries of all jobs */
} ExanetJobQuota;

/*
 * Returns true if a table of @max entries has room for another entry of @job.  A job gets
 * at most half of the entries that other jobs leave, because a process that opens the
 * device many times, each time with another job, must leave room.
 */
static inline bool exanet_job_quota_room(const ExanetJobQuota *q, unsigned job,
                                         unsigned max)
{
    unsigned others = q->total - q->held[job];

    return q->held[job] < (max - others) / 2;
}

/* Counts a new entry of @job. */
static inline void exanet_job_quota_take(ExanetJobQuota *q, unsigned job)
{
    q->held[job]++;
    q->total++;
}

/* Counts that an entry of @job was removed. */
static inline void exanet_job_quota_give(ExanetJobQuota *q, unsigned job)
{
    q->held[job]--;
    q->total--;
}

#endif /* HW_EXANET_ENGINE_JOB_QUOTA_H */
