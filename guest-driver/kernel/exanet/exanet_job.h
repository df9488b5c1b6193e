/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet jobs. A job is a number in PDIDs. Processes communicate only within a job.
 */
#ifndef EXANET_JOB_H
#define EXANET_JOB_H

#include <linux/types.h>

struct exanet_job;

/*
 * Checks the module parameters named_jobs and job_map when the module is loaded. Later
 * values of job_map can grant only jobs up to named_jobs. Returns 0 or, after a message,
 * -EINVAL: named_jobs is too large, or job_map has a job above named_jobs.
 */
int exanet_job_init(void);
/*
 * Returns a reference to the default job of current, or an ERR_PTR: -ENOSPC: no local job
 * is free, -ENOMEM. The default job is the first named job that root has granted to the
 * effective user. If root has granted no job, or current is not in the initial user
 * namespace, the default job is the local job of this user in current's namespace.
 */
struct exanet_job *exanet_job_get_default(void);
/*
 * Returns a reference to named job @number, or an ERR_PTR: -EPERM: root has not granted the
 * job to current, and current has no CAP_SYS_ADMIN, -EINVAL: @number is 0 or above 4095, or
 * current has CAP_SYS_ADMIN and @number is no named job, or -ENOMEM.
 */
struct exanet_job *exanet_job_get(u32 number);
/* Adds a reference. */
void exanet_job_hold(struct exanet_job *job);
/* Drops a reference. The drop of the last reference frees the job and its number. */
void exanet_job_put(struct exanet_job *job);
/* Returns the number of the job, which is in the job's PDIDs. */
u32 exanet_job_number(const struct exanet_job *job);
/* Returns true if the job is local to this node. */
bool exanet_job_is_local(const struct exanet_job *job);

#endif /* EXANET_JOB_H */
