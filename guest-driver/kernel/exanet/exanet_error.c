// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet errors: a process that has asked for a signal (ERROR_SIGNAL) gets the signal when
 * its loads, stores or copies of memory of other nodes fail.
 */
#include "exanet_error.h"

#include <linux/sched/signal.h>

#include "exanet.h"
#include "exanet_context.h"

static const char * const exanet_error_classes[EXANET_SHM_CLASSES] = {
	[EXANET_SHM_STORE] = "store",
	[EXANET_SHM_LOAD] = "load",
	[EXANET_SHM_RDMA_WRITE] = "copy",
	[EXANET_SHM_RDMA_READ] = "copy",
};

/*
 * Returns the NIC's error count of context @index: the context's loads and stores (also of the
 * accelerator) that failed, and its copies that failed at a GVA, since the last reset of the
 * NIC, modulo 2^32. The count includes errors of earlier processes with this index.
 */
static u32 exanet_error_count(struct exanet_device *xdev, unsigned int index)
{
	size_t page = (size_t)index * EXANET_USER_PAGES + EXANET_PAGE_INFO;

	return readl(xdev->shm.user + (page << xdev->caps.page_shift) +
		     offsetof(struct exanet_info, errors));
}

/*
 * Returns true if a thread of process @ctx->signal_pid still has the address space of the
 * context. After execve() the process has another address space, and the owner of the
 * context may have no right to send a signal to the new program.
 */
static bool exanet_error_same_mm(const struct exanet_context *ctx)
{
	struct task_struct *leader, *thread;
	bool same = false;

	rcu_read_lock();
	leader = pid_task(ctx->signal_pid, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, thread)
			same |= READ_ONCE(thread->mm) == ctx->mm;
	rcu_read_unlock();
	return same;
}

/*
 * Stores the NIC's error count of the context in @ctx->errors, and the number of the
 * context's signal in @signo. Returns a reference to the process that must get the signal
 * because the count has changed, or NULL if no process must get the signal. The caller
 * holds the device's slot_lock.
 */
static struct pid *exanet_error_target(struct exanet_context *ctx, int *signo)
{
	u32 errors = exanet_error_count(ctx->xdev, ctx->index);
	bool due = errors != ctx->errors && ctx->signo && exanet_error_same_mm(ctx);

	ctx->errors = errors;
	*signo = ctx->signo;
	return due ? get_pid(ctx->signal_pid) : NULL;
}

/* Sends signal @signo to process @pid, and drops the reference to @pid, which may be NULL. */
static void exanet_error_signal(struct pid *pid, int signo)
{
	if (pid)
		kill_pid(pid, signo, 1);
	put_pid(pid);
}

static void exanet_error_signal_slot(struct exanet_device *xdev, unsigned int index)
{
	struct exanet_context *ctx;
	struct pid *pid = NULL;
	int signo = 0;

	spin_lock_irq(&xdev->slot_lock);
	ctx = xdev->slots[index];
	if (ctx)
		pid = exanet_error_target(ctx, &signo);
	spin_unlock_irq(&xdev->slot_lock);
	exanet_error_signal(pid, signo);
}

void exanet_error_irq(struct exanet_device *xdev)
{
	unsigned int index;
	u32 info;
	u64 gva;

	if (!xdev->shm.present)
		return;
	if (exanet_hw_shm_error(&xdev->hw, &gva, &info))
		dev_notice_ratelimited(&xdev->dev,
			"context %lld: %s at 0x%016llx failed with %llu after %llu retries\n",
			info & EXANET_SHM_ERR_OUTSIDE ? -1LL :
			(long long)RNIC_GET(EXANET_SHM_ERR_CTX, info),
			exanet_error_classes[RNIC_GET(EXANET_SHM_ERR_CLASS, info)],
			gva,
			RNIC_GET(EXANET_SHM_ERR_CODE, info),
			RNIC_GET(EXANET_SHM_ERR_RETRIES, info));
	/*
	 * SHM_ERR_INFO has only the first error. The error count of a context has all errors of
	 * the context.
	 */
	for (index = 0; index < xdev->caps.contexts; index++)
		exanet_error_signal_slot(xdev, index);
}

void exanet_error_attach(struct exanet_context *ctx)
{
	if (ctx->xdev->shm.present)
		ctx->errors = exanet_error_count(ctx->xdev, ctx->index);
}

/*
 * The interrupt of an error may come after this request. So this function itself sends the
 * old signal if there are errors since the last interrupt. The new signal is only for
 * errors after the request.
 */
int exanet_error_set_signal(struct exanet_context *ctx, u32 signo)
{
	struct exanet_device *xdev = ctx->xdev;
	struct pid *pid = NULL, *old = NULL;
	int old_signo = 0, ret = -ENODEV;

	if (!xdev->shm.present)
		return -EOPNOTSUPP;
	if (!valid_signal(signo))
		return -EINVAL;
	if (signo)
		pid = get_pid(task_tgid(current));
	mutex_lock(&xdev->lock);
	/* A context that does not run has no index, and so no error count in the NIC. */
	if (ctx->running) {
		spin_lock_irq(&xdev->slot_lock);
		old = exanet_error_target(ctx, &old_signo);
		swap(ctx->signal_pid, pid);
		ctx->signo = signo;
		spin_unlock_irq(&xdev->slot_lock);
		ret = 0;
	}
	mutex_unlock(&xdev->lock);
	exanet_error_signal(old, old_signo);
	put_pid(pid);
	return ret;
}
