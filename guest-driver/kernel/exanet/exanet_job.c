// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet jobs. A job is a number in PDIDs. Processes communicate only within a job.
 *
 * Named jobs are the numbers 1 to named_jobs. Root grants a named job to a user by module
 * parameter job_map on each node. A user without a named job, or in another user namespace
 * than the initial one, gets a local job, which has a higher number. The NIC accepts packets
 * of a local job only from this node. A local job belongs to a user in a user namespace, and
 * exists while there are references to the job. The driver reuses the number of a local job
 * as late as possible.
 */
#include "exanet_job.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#define EXANET_JOBS	4096	/* the numbers of jobs are 1 to EXANET_JOBS - 1 */
#define EXANET_GRANTS	128	/* maximal number of grants, whose texts fit into a page */

/* User @uid + n may use job @job + n, for each n from 0 to @count - 1. */
struct exanet_grant {
	u32 uid;	/* user in the initial namespace */
	u32 job;
	u32 count;
};

struct exanet_job {
	unsigned int number;
	/* Number of references: of contexts, of exanet_device.stuck_jobs, and of callers. */
	unsigned int contexts;
	struct user_namespace *ns;	/* namespace of a local job; NULL: a named job */
	kuid_t uid;
};

/* Protects exanet_jobs, exanet_job.contexts, and the grants, their number and limit. */
static DEFINE_MUTEX(exanet_job_lock);
static DEFINE_IDR(exanet_jobs);	/* jobs in use, by number */
static struct exanet_grant exanet_grants[EXANET_GRANTS];
static unsigned int exanet_grant_count;

/*
 * The highest job that a grant may contain. While the kernel reads the module parameters,
 * named_jobs may come after job_map. So exanet_job_init() sets the limit to named_jobs, and
 * checks the grants in job_map again.
 */
static unsigned int exanet_grant_limit = EXANET_JOBS - 1;

static unsigned int exanet_named_jobs = 2047;
module_param_named(named_jobs, exanet_named_jobs, uint, 0444);
MODULE_PARM_DESC(named_jobs,
		 "Jobs from 1 to this one mean the same on all nodes, 0 to 4094; users without one get one of the rest, on this node alone (default: 2047)");

/* --- users of named jobs -------------------------------------------------- */

static bool exanet_grant_has_job(const struct exanet_grant *g, u32 job)
{
	return job >= g->job && job - g->job < g->count;
}

static bool exanet_grant_has_uid(const struct exanet_grant *g, u32 uid)
{
	return uid >= g->uid && uid - g->uid < g->count;
}

static bool exanet_grant_same(const struct exanet_grant *a,
			      const struct exanet_grant *b)
{
	return a->uid == b->uid && a->job == b->job && a->count == b->count;
}

static bool exanet_grant_overlaps(const struct exanet_grant *a,
				  const struct exanet_grant *b)
{
	return exanet_grant_has_job(a, b->job) || exanet_grant_has_job(b, a->job);
}

/* Returns true if no job of @g has a number above @limit. */
static bool exanet_grant_fits(const struct exanet_grant *g, u32 limit)
{
	return g->job <= limit && g->count - 1 <= limit - g->job;
}

/* Returns true if a job of @g is in use. */
static bool exanet_grant_busy(const struct exanet_grant *g)
{
	int number = g->job;

	return idr_get_next(&exanet_jobs, &number) &&
	       exanet_grant_has_job(g, number);
}

/*
 * Appends @g to @grants, if @grants does not contain @g. Returns 0, -EEXIST: another entry
 * grants a job of @g, -EBUSY: a job of @g is in use, or -ENOSPC: @grants is full. Refuses
 * such jobs, because two users would share the job.
 */
static int exanet_grant_add(struct exanet_grant *grants, unsigned int *count,
			    const struct exanet_grant *g)
{
	unsigned int i;

	for (i = 0; i < *count; i++) {
		if (exanet_grant_same(&grants[i], g))
			return 0;
		if (exanet_grant_overlaps(&grants[i], g))
			return -EEXIST;
	}
	if (exanet_grant_busy(g))
		return -EBUSY;
	if (*count == EXANET_GRANTS)
		return -ENOSPC;
	grants[(*count)++] = *g;
	return 0;
}

static int exanet_grant_remove(struct exanet_grant *grants, unsigned int *count,
			       const struct exanet_grant *g)
{
	unsigned int i;

	for (i = 0; i < *count; i++)
		if (exanet_grant_same(&grants[i], g))
			break;
	if (i == *count)
		return -ENOENT;
	if (exanet_grant_busy(g))
		return -EBUSY;
	(*count)--;
	memmove(&grants[i], &grants[i + 1], (*count - i) * sizeof(*grants));
	return 0;
}

/*
 * Parses @word, "UID:JOB" or "UID:JOB:COUNT", and stores the grant in @g. Changes @word.
 * Returns 0 or -EINVAL.
 */
static int exanet_grant_parse(char *word, struct exanet_grant *g)
{
	char *uid = strsep(&word, ":");
	char *job = strsep(&word, ":");

	g->count = 1;
	if (!job || kstrtou32(uid, 10, &g->uid) || kstrtou32(job, 10, &g->job) ||
	    (word && kstrtou32(word, 10, &g->count)))
		return -EINVAL;
	if (!g->count || !g->job || !exanet_grant_fits(g, exanet_grant_limit) ||
	    g->count > (uid_t)-1 - g->uid)
		return -EINVAL;
	return 0;
}

static int exanet_grants_edit(struct exanet_grant *grants, unsigned int *count,
			      char *text)
{
	struct exanet_grant g;
	bool remove;
	char *word;
	int ret;

	while ((word = strsep(&text, ", \t\n"))) {
		if (!*word)
			continue;
		remove = *word == '-';
		ret = exanet_grant_parse(word + remove, &g);
		if (!ret && remove)
			ret = exanet_grant_remove(grants, count, &g);
		else if (!ret)
			ret = exanet_grant_add(grants, count, &g);
		if (ret)
			return ret;
	}
	return 0;
}

/* Changes the grants by the words of @value. After an error in one word, applies no word. */
static int exanet_job_map_set(const char *value, const struct kernel_param *kp)
{
	struct exanet_grant *grants;
	unsigned int count;
	char *text;
	int ret = -ENOMEM;

	if (!value)
		return -EINVAL;
	text = kstrdup(value, GFP_KERNEL);
	mutex_lock(&exanet_job_lock);
	grants = kmemdup(exanet_grants, sizeof(exanet_grants), GFP_KERNEL);
	if (text && grants) {
		count = exanet_grant_count;
		ret = exanet_grants_edit(grants, &count, text);
	}
	if (!ret) {
		memcpy(exanet_grants, grants, sizeof(exanet_grants));
		exanet_grant_count = count;
	}
	mutex_unlock(&exanet_job_lock);
	kfree(grants);
	kfree(text);
	return ret;
}

static int exanet_job_map_get(char *buf, const struct kernel_param *kp)
{
	const struct exanet_grant *g = exanet_grants;
	unsigned int i;
	int len = 0;

	mutex_lock(&exanet_job_lock);
	for (i = 0; i < exanet_grant_count; i++, g++)
		len += scnprintf(buf + len, PAGE_SIZE - len,
				 g->count > 1 ? "%s%u:%u:%u" : "%s%u:%u",
				 i ? " " : "", g->uid, g->job, g->count);
	mutex_unlock(&exanet_job_lock);
	return len + scnprintf(buf + len, PAGE_SIZE - len, "\n");
}

static const struct kernel_param_ops exanet_job_map_ops = {
	.set = exanet_job_map_set,
	.get = exanet_job_map_get,
};
module_param_cb(job_map, &exanet_job_map_ops, NULL, 0644);
MODULE_PARM_DESC(job_map,
		 "Users of named jobs, words UID:JOB or UID:JOB:COUNT; those that are written are added, or with - in front removed");

/*
 * Returns true if root has granted job *@job to current. If *@job is 0, returns true if
 * root has granted any job to current, and stores the number of the first such job in
 * *@job.
 */
static bool exanet_job_granted(u32 *job)
{
	u32 uid = from_kuid(&init_user_ns, current_euid());
	unsigned int i;

	lockdep_assert_held(&exanet_job_lock);
	/*
	 * A user in another namespace than the initial one has no grants, because the
	 * creator of the namespace chooses the uids.
	 */
	if (current_user_ns() != &init_user_ns)
		return false;
	for (i = 0; i < exanet_grant_count; i++) {
		const struct exanet_grant *g = &exanet_grants[i];

		if (!exanet_grant_has_uid(g, uid))
			continue;
		if (!*job)
			*job = g->job + (uid - g->uid);
		if (*job == g->job + (uid - g->uid))
			return true;
	}
	return false;
}

/* --- jobs in use ---------------------------------------------------------- */

/*
 * Creates named job @number or, if @number is 0, a local job of current. Returns a
 * reference to the job, or an ERR_PTR.
 */
static struct exanet_job *exanet_job_new(u32 number)
{
	struct exanet_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret;

	if (!job)
		return ERR_PTR(-ENOMEM);
	if (number)
		ret = idr_alloc(&exanet_jobs, job, number, number + 1, GFP_KERNEL);
	else
		ret = idr_alloc_cyclic(&exanet_jobs, job, exanet_named_jobs + 1,
				       EXANET_JOBS, GFP_KERNEL);
	if (ret < 0) {
		kfree(job);
		return ERR_PTR(ret);
	}
	job->number = ret;
	job->contexts = 1;
	job->uid = current_euid();
	if (!number)
		job->ns = get_user_ns(current_user_ns());
	return job;
}

static struct exanet_job *exanet_job_named(u32 number)
{
	struct exanet_job *job = idr_find(&exanet_jobs, number);

	if (!job)
		return exanet_job_new(number);
	job->contexts++;
	return job;
}

static struct exanet_job *exanet_job_local(void)
{
	struct exanet_job *job;
	int number;

	idr_for_each_entry(&exanet_jobs, job, number)
		if (job->ns == current_user_ns() && uid_eq(job->uid, current_euid())) {
			job->contexts++;
			return job;
		}
	return exanet_job_new(0);
}

struct exanet_job *exanet_job_get_default(void)
{
	struct exanet_job *job;
	u32 number = 0;

	mutex_lock(&exanet_job_lock);
	if (exanet_job_granted(&number))
		job = exanet_job_named(number);
	else
		job = exanet_job_local();
	mutex_unlock(&exanet_job_lock);
	return job;
}

struct exanet_job *exanet_job_get(u32 number)
{
	struct exanet_job *job;

	if (!number || number >= EXANET_JOBS)
		return ERR_PTR(-EINVAL);
	mutex_lock(&exanet_job_lock);
	if (!exanet_job_granted(&number) && !capable(CAP_SYS_ADMIN))
		job = ERR_PTR(-EPERM);
	else if (number > exanet_named_jobs)
		job = ERR_PTR(-EINVAL);
	else
		job = exanet_job_named(number);
	mutex_unlock(&exanet_job_lock);
	return job;
}

void exanet_job_hold(struct exanet_job *job)
{
	mutex_lock(&exanet_job_lock);
	job->contexts++;
	mutex_unlock(&exanet_job_lock);
}

void exanet_job_put(struct exanet_job *job)
{
	mutex_lock(&exanet_job_lock);
	if (!--job->contexts)
		idr_remove(&exanet_jobs, job->number);
	else
		job = NULL;
	mutex_unlock(&exanet_job_lock);
	if (!job)
		return;
	if (job->ns)
		put_user_ns(job->ns);
	kfree(job);
}

u32 exanet_job_number(const struct exanet_job *job)
{
	return job->number;
}

bool exanet_job_is_local(const struct exanet_job *job)
{
	return job->ns;
}

/* --- module --------------------------------------------------------------- */

int exanet_job_init(void)
{
	unsigned int i;
	int ret = 0;

	if (exanet_named_jobs >= EXANET_JOBS - 1) {
		pr_err("exanet: named_jobs=%u leaves no job for users without one\n",
		       exanet_named_jobs);
		return -EINVAL;
	}
	mutex_lock(&exanet_job_lock);
	exanet_grant_limit = exanet_named_jobs;
	for (i = 0; i < exanet_grant_count && !ret; i++)
		if (!exanet_grant_fits(&exanet_grants[i], exanet_grant_limit))
			ret = -EINVAL;
	mutex_unlock(&exanet_job_lock);
	if (ret)
		pr_err("exanet: job_map has a job above named_jobs=%u\n",
		       exanet_named_jobs);
	return ret;
}
