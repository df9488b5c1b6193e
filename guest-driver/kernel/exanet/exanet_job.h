/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet jobs: a job is the number in a PDID; processes communicate only within a job.
 */
#ifndef EXANET_JOB_H
#define EXANET_JOB_H

#include <linux/types.h>

struct exanet_job;

/*
 * Checks the module parameters when the module is loaded. Returns 0 or, after a
 * message, -EINVAL: a parameter is out of range.
 */
int exanet_job_init(void);
/*
 * Takes the default job of current: the first named job that root has granted to the
 * user or, if there is none, a local job of user and namespace. Returns a reference or
 * an ERR_PTR: -ENOSPC, -ENOMEM.
 */
struct exanet_job *exanet_job_get_default(void);
/*
 * Takes named job @number, which root must have granted to current. Returns a reference
 * or an ERR_PTR: -EINVAL, -EPERM, -ENOMEM.
 */
struct exanet_job *exanet_job_get(u32 number);
/* Takes another reference. */
void exanet_job_hold(struct exanet_job *job);
/* Drops a reference; the last one frees the job and its number. */
void exanet_job_put(struct exanet_job *job);
/* Returns the number in the job's PDIDs. */
u32 exanet_job_number(const struct exanet_job *job);
/* Returns true if the job is local to this node. */
bool exanet_job_is_local(const struct exanet_job *job);

#endif /* EXANET_JOB_H */
