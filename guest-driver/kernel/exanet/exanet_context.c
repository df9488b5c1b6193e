// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet contexts: indices in the NIC, jobs, and requests of the owners.
 */
#include "exanet_context.h"

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "exanet.h"
#include "exanet_event.h"
#include "exanet_job.h"

/* --- life ----------------------------------------------------------------- */

static void exanet_context_free(struct kref *ref)
{
	struct exanet_context *ctx =
		container_of(ref, struct exanet_context, ref);

	exanet_event_exit(ctx);
	put_pid(ctx->signal_pid);
	exanet_context_put_jobs(ctx);
	mmdrop(ctx->mm);
	put_device(&ctx->xdev->dev);
	kfree(ctx);
}

void exanet_context_get(struct exanet_context *ctx)
{
	kref_get(&ctx->ref);
}

void exanet_context_put(struct exanet_context *ctx)
{
	kref_put(&ctx->ref, exanet_context_free);
}

struct exanet_context *exanet_context_new(struct exanet_device *xdev,
					  struct address_space *mapping)
{
	struct exanet_job *job = exanet_job_get_default();
	struct exanet_context *ctx;

	if (IS_ERR(job))
		return ERR_CAST(job);
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx) {
		exanet_job_put(job);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&ctx->ref);
	get_device(&xdev->dev);
	ctx->xdev = xdev;
	mmgrab(current->mm);
	ctx->mm = current->mm;
	ctx->mapping = mapping;
	exanet_user_init(&ctx->user);
	exanet_job_hold(job);
	ctx->default_job = job;
	ctx->job = job;
	spin_lock_init(&ctx->hw_lock);
	exanet_event_init(ctx);
	return ctx;
}

/* --- index in the NIC ------------------------------------------------------ */

static bool exanet_context_index_is_held(struct exanet_device *xdev,
					 unsigned int index)
{
	return test_bit(index, xdev->used) || test_bit(index, xdev->lingering);
}

unsigned int exanet_contexts_used(struct exanet_device *xdev)
{
	unsigned int index, n = 0;

	lockdep_assert_held(&xdev->lock);
	for (index = 0; index < xdev->caps.contexts; index++)
		n += exanet_context_index_is_held(xdev, index);
	return n;
}

/*
 * Returns true if @user has reached the limit of module parameter user_contexts. A user with
 * exanet_user.unlimited has no limit.
 */
static bool exanet_context_user_is_full(struct exanet_device *xdev,
					const struct exanet_user *user)
{
	unsigned int index, n = 0;

	if (user->unlimited)
		return false;
	for (index = 0; index < xdev->caps.contexts; index++)
		n += exanet_context_index_is_held(xdev, index) &&
		     uid_eq(xdev->holders[index], user->uid);
	return n >= READ_ONCE(exanet_user_contexts);
}

/* Wakes the threads that wait in open(), because an index may have become free. */
static void exanet_context_index_freed(struct exanet_device *xdev)
{
	lockdep_assert_held(&xdev->lock);
	WRITE_ONCE(xdev->frees, xdev->frees + 1);
	wake_up_all(&xdev->freed);
}

/*
 * Starts the search after the index that was reserved last, so that an index is reused as
 * late as possible: other nodes may still send packets to the last context with this index.
 */
int exanet_context_take_index(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	unsigned int n = xdev->caps.contexts;
	unsigned int i, index;

	if (exanet_context_user_is_full(xdev, &ctx->user))
		return -EDQUOT;
	for (i = 1; i <= n; i++) {
		index = (xdev->last + i) % n;
		if (exanet_context_index_is_held(xdev, index))
			continue;
		__set_bit(index, xdev->used);
		xdev->holders[index] = ctx->user.uid;
		xdev->last = index;
		return index;
	}
	return -ENOSPC;
}

void exanet_context_give_index(struct exanet_context *ctx, bool rest, bool lingers)
{
	struct exanet_device *xdev = ctx->xdev;

	if (lingers)
		__set_bit(ctx->index, xdev->lingering);
	if (rest) {
		__clear_bit(ctx->index, xdev->used);
	} else {
		/*
		 * The NIC may still use the index and the job, so the device keeps them
		 * reserved.
		 */
		dev_err(&xdev->dev,
			"context %u does not come to rest, out of use until reset\n",
			ctx->index);
		swap(ctx->job, xdev->stuck_jobs[ctx->index]);
	}
	exanet_context_index_freed(xdev);
}

void exanet_context_free_stuck(struct exanet_device *xdev)
{
	unsigned int index;

	lockdep_assert_held(&xdev->lock);
	for (index = 0; index < EXANET_CONTEXTS; index++) {
		if (xdev->stuck_jobs[index])
			exanet_job_put(xdev->stuck_jobs[index]);
		xdev->stuck_jobs[index] = NULL;
	}
	bitmap_zero(xdev->used, EXANET_CONTEXTS);
}

void exanet_context_unlinger(struct exanet_context *ctx)
{
	mutex_lock(&ctx->xdev->lock);
	__clear_bit(ctx->index, ctx->xdev->lingering);
	exanet_context_index_freed(ctx->xdev);
	mutex_unlock(&ctx->xdev->lock);
}

/* --- job ------------------------------------------------------------------ */

u32 exanet_context_pdid(const struct exanet_context *ctx)
{
	return RNIC_PREP(EXANET_PDID_JOB, exanet_job_number(ctx->job)) |
	       RNIC_PREP(EXANET_PDID_CTX, ctx->index);
}

void exanet_context_write_pdid(struct exanet_context *ctx)
{
	exanet_hw_context_set_pdid(&ctx->xdev->hw, ctx->index,
				   exanet_context_pdid(ctx),
				   exanet_job_is_local(ctx->job));
}

/*
 * A context drops its jobs when the context stops, not when the file is closed. A file may
 * stay open long after its process has ended, and other users may need the jobs during this
 * time.
 */
void exanet_context_put_jobs(struct exanet_context *ctx)
{
	if (ctx->job)
		exanet_job_put(ctx->job);
	if (ctx->default_job)
		exanet_job_put(ctx->default_job);
	ctx->job = NULL;
	ctx->default_job = NULL;
}

/*
 * Returns a reference to job @number, or an ERR_PTR. First compares @number with the
 * context's default job, because exanet_job_get() refuses local jobs.
 */
static struct exanet_job *exanet_context_find_job(struct exanet_context *ctx,
						  u32 number)
{
	struct exanet_job *job = NULL;

	mutex_lock(&ctx->xdev->lock);
	if (!ctx->running) {
		job = ERR_PTR(-ENODEV);
	} else if (number == exanet_job_number(ctx->default_job)) {
		job = ctx->default_job;
		exanet_job_hold(job);
	}
	mutex_unlock(&ctx->xdev->lock);
	return job ?: exanet_job_get(number);
}

int exanet_context_set_job(struct exanet_context *ctx, u32 number)
{
	struct exanet_job *job = exanet_context_find_job(ctx, number);
	int ret = -ENODEV;

	if (IS_ERR(job))
		return PTR_ERR(job);
	mutex_lock(&ctx->xdev->lock);
	if (ctx->running && ctx->job_users) {
		/*
		 * Segments, copies and accelerator jobs would stay in the old job, whose
		 * number another user may get later.
		 */
		ret = -EBUSY;
	} else if (ctx->running) {
		swap(ctx->job, job);
		exanet_context_write_pdid(ctx);
		ret = 0;
	}
	mutex_unlock(&ctx->xdev->lock);
	exanet_job_put(job);
	return ret;
}

int exanet_context_fix_job(struct exanet_context *ctx)
{
	int ret = -ENODEV;

	mutex_lock(&ctx->xdev->lock);
	if (ctx->running) {
		ctx->job_users++;
		ret = 0;
	}
	mutex_unlock(&ctx->xdev->lock);
	return ret;
}

void exanet_context_unfix_job(struct exanet_context *ctx)
{
	mutex_lock(&ctx->xdev->lock);
	ctx->job_users--;
	mutex_unlock(&ctx->xdev->lock);
}

/* --- requests of the owner ------------------------------------------------ */

static int exanet_context_find_window(struct exanet_context *ctx, u64 va)
{
	u64 base = va >> EXANET_WINDOW_BITS;
	unsigned int w;

	for (w = 0; w < ctx->window_count; w++)
		if (ctx->windows[w] == base)
			return w;
	if (w == EXANET_WINDOW_NI)
		return -ENOSPC;
	ctx->windows[w] = base;
	ctx->window_count++;
	exanet_hw_context_set_window(&ctx->xdev->hw, ctx->index, w, va);
	return w;
}

int exanet_context_map_window(struct exanet_context *ctx, u64 va)
{
	int ret = -ENODEV;

	if (va >= TASK_SIZE_MAX)
		return -EINVAL;
	mutex_lock(&ctx->xdev->lock);
	if (ctx->running)
		ret = exanet_context_find_window(ctx, va);
	mutex_unlock(&ctx->xdev->lock);
	return ret;
}

static u32 exanet_context_links_up(struct exanet_device *xdev)
{
	u32 up = 0;
	unsigned int p;

	for (p = 0; p < xdev->caps.ports; p++)
		if (exanet_hw_port_up(&xdev->hw, p))
			up |= BIT(p);
	return up;
}

int exanet_context_query(struct exanet_context *ctx, struct exanet_ioc_query *q)
{
	struct exanet_device *xdev = ctx->xdev;
	int ret = -ENODEV;

	mutex_lock(&xdev->lock);
	if (ctx->running) {
		q->abi = EXANET_ABI;
		q->context = ctx->index;
		q->coord = exanet_hw_coord(&xdev->hw);
		q->pdid = exanet_context_pdid(ctx);
		/*
		 * mmap() maps PAGE_SIZE bytes of a user page, even if the NIC's user pages
		 * are larger.
		 */
		q->page_size = PAGE_SIZE;
		q->cap0 = xdev->caps.cap0;
		q->cap1 = xdev->caps.cap1;
		q->link_up = exanet_context_links_up(xdev);
		ret = 0;
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

vm_fault_t exanet_context_insert_page(struct exanet_context *ctx,
				      struct vm_fault *vmf, unsigned int page)
{
	struct exanet_device *xdev = ctx->xdev;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	phys_addr_t pa;

	/*
	 * The lock is held until the PTE is set, because exanet_binding_stop_all() must
	 * find and remove the PTE.
	 */
	mutex_lock(&xdev->lock);
	if (ctx->running) {
		pa = xdev->res.user +
		     ((phys_addr_t)(ctx->index * EXANET_USER_PAGES + page) <<
		      xdev->caps.page_shift);
		ret = vmf_insert_pfn(vmf->vma, vmf->address, PHYS_PFN(pa));
	}
	mutex_unlock(&xdev->lock);
	return ret;
}
