// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet bindings.
 *
 * A context binds an index of the NIC to the page table of one process. The context runs
 * from open() until the file is closed, the address space ends, or the NIC is removed, shut
 * down or reset by its bus. Later ioctl() requests that need a running context fail.
 */
#include "exanet_binding.h"

#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "exanet.h"
#include "exanet_compat.h"
#include "exanet_context.h"
#include "exanet_error.h"
#include "exanet_event.h"
#include "exanet_fault.h"
#include "exanet_job.h"

#if defined(CONFIG_X86_64)
u32 exanet_binding_format(void)
{
	return RNIC_PREP(EXANET_CTX_CTRL_FORMAT,
			 pgtable_l5_enabled() ? EXANET_FORMAT_X86_5 :
						EXANET_FORMAT_X86_4) |
	       RNIC_PREP(EXANET_CTX_CTRL_VA_BITS, __VIRTUAL_MASK_SHIFT);
}

static u64 exanet_binding_root(struct mm_struct *mm)
{
	return virt_to_phys(mm->pgd);
}
#elif defined(CONFIG_ARM64)
u32 exanet_binding_format(void)
{
	/*
	 * With FEAT_LPA2 a page table entry has the high bits of the address in other
	 * positions.
	 */
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

static u64 exanet_binding_root(struct mm_struct *mm)
{
	return phys_to_ttbr(virt_to_phys(mm->pgd));
}
#else
#error "no page-table format for this architecture"
#endif

/* --- start and stop ------------------------------------------------------- */

static void exanet_binding_set_hw(struct exanet_context *ctx, bool on)
{
	spin_lock(&ctx->hw_lock);
	ctx->hw_on = on;
	spin_unlock(&ctx->hw_lock);
}

static int exanet_binding_start(struct exanet_context *ctx)
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
	exanet_error_attach(ctx);
	exanet_fault_attach(ctx);
	/*
	 * From here on the MMU notifier invalidates translations of the context. The NIC
	 * has no translation that the notifier could have missed, because the context is
	 * enabled later.
	 */
	exanet_binding_set_hw(ctx, true);
	exanet_context_write_pdid(ctx);
	exanet_hw_context_set_quota(&xdev->hw, index, xdev->quota);
	exanet_hw_context_enable(&xdev->hw, index, exanet_binding_root(ctx->mm),
				 xdev->table_format);
	return 0;
}

static void exanet_binding_stop(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	bool rest, lingers;

	lockdep_assert_held(&xdev->lock);
	if (!ctx->running)
		return;
	ctx->running = false;

	/*
	 * Clears hw_on only after the context is quiesced and disabled, because until this
	 * time the MMU notifier must invalidate translations.
	 */
	rest = !exanet_hw_context_quiesce(&xdev->hw, ctx->index);
	exanet_hw_context_disable(&xdev->hw, ctx->index);
	exanet_binding_set_hw(ctx, false);
	exanet_segment_stop(ctx);
	lingers = exanet_fault_detach(ctx);
	exanet_context_give_index(ctx, rest, lingers);
	exanet_context_put_jobs(ctx);
	exanet_event_hangup(ctx);
}

void exanet_binding_stop_all(struct exanet_device *xdev)
{
	struct exanet_context *ctx;

	lockdep_assert_held(&xdev->lock);
	list_for_each_entry(ctx, &xdev->contexts, link) {
		exanet_binding_stop(ctx);
		unmap_mapping_range(ctx->mapping, 0, 0, 1);
	}
	exanet_cdma_hangup(xdev);
}

/* --- MMU notifier --------------------------------------------------------- */

/*
 * Invalidates the NIC's translations of the addresses from @start to @end - 1. The kernel
 * calls this function when the kernel flushes the TLBs of the CPUs: after a PTE was cleared
 * or has lost rights, and before the page of this PTE is freed. The caller may hold a
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

/*
 * Stops the context when the address space ends, before the page table is freed.
 * mmu_notifier_unregister() calls this function, too.
 */
static void exanet_notifier_release(struct mmu_notifier *notifier,
				    struct mm_struct *mm)
{
	struct exanet_context *ctx =
		container_of(notifier, struct exanet_context, notifier);

	mutex_lock(&ctx->xdev->lock);
	exanet_binding_stop(ctx);
	mutex_unlock(&ctx->xdev->lock);
}

static const struct mmu_notifier_ops exanet_notifier_ops = {
	.release = exanet_notifier_release,
	.EXANET_INVALIDATE_HOOK = exanet_notifier_invalidate,
};

/* --- open and close ------------------------------------------------------- */

/*
 * The longest time, in jiffies, that open() waits for an index. If a process ends while the
 * NIC waits for a page of the process, the index of its context stays in use for some time.
 * A program that is started again at once must not fail because of this index.
 */
#define EXANET_OPEN_WAIT	(HZ / 2)

/*
 * Starts the context and adds the context to the device's list of contexts. If no index is
 * free, or the user has the maximal number of contexts, waits up to EXANET_OPEN_WAIT for an
 * index. Returns 0 or a negative errno.
 */
static int exanet_binding_start_wait(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	long left = EXANET_OPEN_WAIT;
	unsigned int frees;
	int ret;

	for (;;) {
		mutex_lock(&xdev->lock);
		ret = exanet_binding_start(ctx);
		if (!ret)
			list_add(&ctx->link, &xdev->contexts);
		frees = xdev->frees;
		mutex_unlock(&xdev->lock);
		if ((ret != -EDQUOT && ret != -ENOSPC) || left <= 0)
			return ret;
		/* @left is 0 after the timeout, and negative after a fatal signal. */
		left = wait_event_killable_timeout(xdev->freed,
						   READ_ONCE(xdev->frees) != frees,
						   left);
	}
}

struct exanet_context *exanet_binding_open(struct exanet_device *xdev,
					   struct address_space *mapping)
{
	struct exanet_context *ctx;
	int ret;

	if (!current->mm)
		return ERR_PTR(-EPERM);
	ctx = exanet_context_new(xdev, mapping);
	if (IS_ERR(ctx))
		return ctx;
	exanet_fault_context_init(ctx);

	/* xdev->lock is not held, because mmu_notifier_register() takes mmap_lock. */
	ctx->notifier.ops = &exanet_notifier_ops;
	ret = mmu_notifier_register(&ctx->notifier, ctx->mm);
	if (ret)
		goto err_put;

	ret = exanet_binding_start_wait(ctx);
	if (ret)
		goto err_notifier;
	return ctx;

err_notifier:
	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
err_put:
	exanet_context_put(ctx);
	return ERR_PTR(ret);
}

void exanet_binding_close(struct exanet_context *ctx)
{
	mutex_lock(&ctx->xdev->lock);
	exanet_binding_stop(ctx);
	list_del(&ctx->link);
	mutex_unlock(&ctx->xdev->lock);

	mmu_notifier_unregister(&ctx->notifier, ctx->mm);
	exanet_context_put(ctx);
}
