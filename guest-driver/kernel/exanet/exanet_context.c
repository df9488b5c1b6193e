// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet contexts.
 *
 * A context binds a slot of the NIC to the page table of one process.  It runs from
 * open() until the file is closed, the address space dies or the NIC goes away,
 * whichever comes first; a file that outlives its context answers ENODEV.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "exanet.h"

#if defined(CONFIG_X86_64)
u32 exanet_context_format(void)
{
	return RNIC_PREP(EXANET_CTX_CTRL_FORMAT,
			 pgtable_l5_enabled() ? EXANET_FORMAT_X86_5 :
						EXANET_FORMAT_X86_4) |
	       RNIC_PREP(EXANET_CTX_CTRL_VA_BITS, __VIRTUAL_MASK_SHIFT);
}

static u64 exanet_context_root(struct mm_struct *mm)
{
	return virt_to_phys(mm->pgd);
}
#elif defined(CONFIG_ARM64)
u32 exanet_context_format(void)
{
	/* With FEAT_LPA2 an entry has its address in another way. */
	bool lpa2 = PAGE_SHIFT < 16 && vabits_actual > 48;
	enum exanet_table_format granule =
		PAGE_SHIFT == 16 ? EXANET_FORMAT_ARM64_64K :
		PAGE_SHIFT == 14 ? (lpa2 ? EXANET_FORMAT_ARM64_16K_LPA2 :
					   EXANET_FORMAT_ARM64_16K) :
				   (lpa2 ? EXANET_FORMAT_ARM64_4K_LPA2 :
					   EXANET_FORMAT_ARM64_4K);

	return RNIC_PREP(EXANET_CTX_CTRL_FORMAT, granule) |
	       RNIC_PREP(EXANET_CTX_CTRL_VA_BITS, vabits_actual);
}

static u64 exanet_context_root(struct mm_struct *mm)
{
	return phys_to_ttbr(virt_to_phys(mm->pgd));
}
#else
#error "no page-table format for this architecture"
#endif

/* --- MMU notifier --------------------------------------------------------- */

/*
 * The kernel calls this when a PTE is cleared or loses rights, after the change and
 * before the page is freed, as it would flush the CPUs' TLBs; perhaps under a
 * page-table lock.
 */
static void exanet_notifier_invalidate(struct mmu_notifier *notifier,
				       struct mm_struct *mm,
				       unsigned long start, unsigned long end)
{
	struct exanet_context *ctx =
		container_of(notifier, struct exanet_context, notifier);

	spin_lock(&ctx->hw_lock);
	if (ctx->hw_on) {
		if (end > TASK_SIZE_MAX)
			exanet_hw_context_invalidate_all(&ctx->xdev->hw,
							 ctx->index);
		else if (end > start)
			exanet_hw_context_invalidate(&ctx->xdev->hw, ctx->index,
						     start, end - start);
	}
	spin_unlock(&ctx->hw_lock);
}

static void exanet_context_stop(struct exanet_context *ctx);

/* The last thread is gone, the page table is about to be torn down. */
static void exanet_notifier_release(struct mmu_notifier *notifier,
				    struct mm_struct *mm)
{
	struct exanet_context *ctx =
		container_of(notifier, struct exanet_context, notifier);

	mutex_lock(&ctx->xdev->lock);
	exanet_context_stop(ctx);
	mutex_unlock(&ctx->xdev->lock);
}

static const struct mmu_notifier_ops exanet_notifier_ops = {
	.release = exanet_notifier_release,
	.EXANET_INVALIDATE_HOOK = exanet_notifier_invalidate,
};

/* --- start and stop ------------------------------------------------------- */

static void exanet_context_set_hw(struct exanet_context *ctx, bool on)
{
	spin_lock(&ctx->hw_lock);
	ctx->hw_on = on;
	spin_unlock(&ctx->hw_lock);
}

static bool exanet_index_is_held(struct exanet_device *xdev, unsigned int index)
{
	return test_bit(index, xdev->used) || test_bit(index, xdev->lingering);
}

unsigned int exanet_contexts_used(struct exanet_device *xdev)
{
	unsigned int index, n = 0;

	lockdep_assert_held(&xdev->lock);
	for (index = 0; index < xdev->caps.contexts; index++)
		n += exanet_index_is_held(xdev, index);
	return n;
}

/* Returns true if the user has the maximum of contexts per user. */
static bool exanet_user_is_full(struct exanet_device *xdev,
				const struct exanet_user *user)
{
	unsigned int index, n = 0;

	if (user->unlimited)
		return false;
	for (index = 0; index < xdev->caps.contexts; index++)
		n += exanet_index_is_held(xdev, index) &&
		     uid_eq(xdev->holders[index], user->uid);
	return n >= READ_ONCE(exanet_user_contexts);
}

/* Wakes up open() after an index was given back. */
static void exanet_index_freed(struct exanet_device *xdev)
{
	lockdep_assert_held(&xdev->lock);
	WRITE_ONCE(xdev->frees, xdev->frees + 1);
	wake_up_all(&xdev->freed);
}

/*
 * Indices go round: packets that peers still send to a dead context then meet a
 * free slot rather than its successor.
 */
static int exanet_context_take_index(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	unsigned int n = xdev->caps.contexts;
	unsigned int i, index;

	if (exanet_user_is_full(xdev, &ctx->user))
		return -EDQUOT;
	for (i = 1; i <= n; i++) {
		index = (xdev->last + i) % n;
		if (exanet_index_is_held(xdev, index))
			continue;
		__set_bit(index, xdev->used);
		xdev->holders[index] = ctx->user.uid;
		xdev->last = index;
		return index;
	}
	return -ENOSPC;
}

static u32 exanet_context_pdid(const struct exanet_context *ctx)
{
	return RNIC_PREP(EXANET_PDID_JOB, exanet_job_number(ctx->job)) |
	       RNIC_PREP(EXANET_PDID_CTX, ctx->index);
}

static void exanet_context_show_job(struct exanet_context *ctx)
{
	exanet_hw_context_set_pdid(&ctx->xdev->hw, ctx->index,
				   exanet_context_pdid(ctx),
				   exanet_job_is_local(ctx->job));
}

/*
 * Gives the context's jobs back.  A file may be kept long after its process: its jobs
 * are free for other users nevertheless.
 */
static void exanet_context_put_jobs(struct exanet_context *ctx)
{
	if (ctx->job)
		exanet_job_put(ctx->job);
	if (ctx->default_job)
		exanet_job_put(ctx->default_job);
	ctx->job = NULL;
	ctx->default_job = NULL;
}

static int exanet_context_start(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	int index;

	lockdep_assert_held(&xdev->lock);
	if (xdev->gone)
		return -ENODEV;
	/* A NIC without JOB_LOCAL would accept packets of other nodes for local jobs. */
	if (exanet_job_is_local(ctx->job) &&
	    !(xdev->caps.cap1 & EXANET_CAP1_JOB_LOCAL))
		return -EACCES;
	index = exanet_context_take_index(ctx);
	if (index < 0)
		return index;

	ctx->index = index;
	ctx->running = true;
	exanet_hw_mailbox_ack(&xdev->hw, index);
	exanet_shm_attach(ctx);
	exanet_fault_attach(ctx);
	/* Invalidations go out before the device can cache anything. */
	exanet_context_set_hw(ctx, true);
	exanet_context_show_job(ctx);
	exanet_hw_context_set_quota(&xdev->hw, index, xdev->quota);
	exanet_hw_context_enable(&xdev->hw, index, exanet_context_root(ctx->mm),
				 xdev->table_format);
	return 0;
}

static void exanet_context_stop(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	int ret;

	lockdep_assert_held(&xdev->lock);
	if (!ctx->running)
		return;
	ctx->running = false;

	/* Until it is disabled, the device must hear of every invalidation. */
	ret = exanet_hw_context_quiesce(&xdev->hw, ctx->index);
	exanet_hw_context_disable(&xdev->hw, ctx->index);
	exanet_context_set_hw(ctx, false);
	exanet_segment_stop(ctx);
	if (exanet_fault_detach(ctx))
		__set_bit(ctx->index, xdev->lingering);

	if (ret) {
		/* The NIC may still use index and job, so both stay taken. */
		dev_err(&xdev->dev,
			"context %u does not come to rest, out of use until reset\n",
			ctx->index);
		swap(ctx->job, xdev->stuck_jobs[ctx->index]);
	} else {
		__clear_bit(ctx->index, xdev->used);
	}
	exanet_context_put_jobs(ctx);
	exanet_event_hangup(ctx);
	exanet_index_freed(xdev);
}

void exanet_context_unlinger(struct exanet_context *ctx)
{
	mutex_lock(&ctx->xdev->lock);
	__clear_bit(ctx->index, ctx->xdev->lingering);
	exanet_index_freed(ctx->xdev);
	mutex_unlock(&ctx->xdev->lock);
}

void exanet_context_stop_all(struct exanet_device *xdev)
{
	struct exanet_context *ctx;

	lockdep_assert_held(&xdev->lock);
	list_for_each_entry(ctx, &xdev->contexts, link) {
		exanet_context_stop(ctx);
		unmap_mapping_range(ctx->mapping, 0, 0, 1);
	}
	exanet_cdma_hangup(xdev);
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

/* --- open and close ------------------------------------------------------- */

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

static struct exanet_context *exanet_context_new(struct exanet_device *xdev,
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
	ctx->notifier.ops = &exanet_notifier_ops;
	exanet_user_init(&ctx->user);
	exanet_job_hold(job);
	ctx->default_job = job;
	ctx->job = job;
	spin_lock_init(&ctx->hw_lock);
	exanet_event_init(ctx);
	exanet_fault_context_init(ctx);
	return ctx;
}

/*
 * Time that open() waits for a context if none is free.  A process that ends while the
 * NIC waits for one of its pages keeps its contexts a moment longer; a program that is
 * started again at once must not fail because of that.
 */
#define EXANET_OPEN_WAIT	(HZ / 2)

/* Starts the context, and waits for an index if none is free. */
static int exanet_context_start_wait(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	long left = EXANET_OPEN_WAIT;
	unsigned int frees;
	int ret;

	for (;;) {
		mutex_lock(&xdev->lock);
		ret = exanet_context_start(ctx);
		if (!ret)
			list_add(&ctx->link, &xdev->contexts);
		frees = xdev->frees;
		mutex_unlock(&xdev->lock);
		if ((ret != -EDQUOT && ret != -ENOSPC) || left <= 0)
			return ret;
		/* After a signal that kills, @left is negative. */
		left = wait_event_killable_timeout(xdev->freed,
						   READ_ONCE(xdev->frees) != frees,
						   left);
	}
}

struct exanet_context *exanet_context_open(struct exanet_device *xdev,
					   struct address_space *mapping)
{
	struct exanet_context *ctx;
	int ret;

	if (!current->mm)
		return ERR_PTR(-EPERM);
	ctx = exanet_context_new(xdev, mapping);
	if (IS_ERR(ctx))
		return ctx;

	/* Takes mmap_lock, hence not under xdev->lock. */
	ret = mmu_notifier_register(&ctx->notifier, ctx->mm);
	if (ret)
		goto err_put;

	ret = exanet_context_start_wait(ctx);
	if (ret)
		goto err_notifier;
	return ctx;

err_notifier:
	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
err_put:
	exanet_context_put(ctx);
	return ERR_PTR(ret);
}

void exanet_context_close(struct exanet_context *ctx)
{
	mutex_lock(&ctx->xdev->lock);
	exanet_context_stop(ctx);
	list_del(&ctx->link);
	mutex_unlock(&ctx->xdev->lock);

	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
	exanet_context_put(ctx);
}

/* --- requests of the owner ------------------------------------------------ */

static int exanet_context_find_window(struct exanet_context *ctx, u64 va)
{
	u64 stretch = va >> EXANET_WINDOW_BITS;
	unsigned int w;

	for (w = 0; w < ctx->window_count; w++)
		if (ctx->windows[w] == stretch)
			return w;
	if (w == EXANET_WINDOW_NI)
		return -ENOSPC;
	ctx->windows[w] = stretch;
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

/*
 * Takes job @number, which may be the context's default job.  A default job that is
 * local cannot be looked up by its number.
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
	if (ctx->running && (ctx->job_users || exanet_segment_any(ctx))) {
		/* They would go on in the old job, which may be given to another user. */
		ret = -EBUSY;
	} else if (ctx->running) {
		swap(ctx->job, job);
		exanet_context_show_job(ctx);
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

static u32 exanet_links_up(struct exanet_device *xdev)
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
		/* What mmap() takes, even if the device's pages are longer. */
		q->page_size = PAGE_SIZE;
		q->cap0 = xdev->caps.cap0;
		q->cap1 = xdev->caps.cap1;
		q->link_up = exanet_links_up(xdev);
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

	/* Held until the PTE stands, so that stop_all() finds and zaps it. */
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
