// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet page faults.
 *
 * The NIC puts faults into a FIFO. The interrupt handler moves the faults to the queues of
 * their contexts. Each context has a work that makes the pages present. So a process whose
 * pages become present slowly (swap, network file systems, userfaultfd) does not delay
 * other processes.
 */
#include "exanet_fault.h"

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/userfaultfd_k.h>

#include "exanet.h"
#include "exanet_bram.h"
#include "exanet_context.h"

/* Maximal number of entries that the driver reads from the FIFO while interrupts are off. */
#define EXANET_FAULT_BATCH	16

/*
 * Maximal number of page fault works that run at a time: the number of contexts of all
 * NICs. At most one work of a context runs, and the context keeps its index until the work
 * ends. So a work that waits for a page does not block works of other contexts.
 */
#define EXANET_FAULT_WORKS	(EXANET_NICS * EXANET_CONTEXTS)

static struct workqueue_struct *exanet_fault_wq;

int exanet_fault_init(void)
{
	BUILD_BUG_ON(EXANET_FAULT_WORKS > WQ_MAX_ACTIVE);
	/*
	 * The works have high priority, because a transfer waits for the page that a work
	 * makes present.
	 */
	exanet_fault_wq = alloc_workqueue("exanet", WQ_UNBOUND | WQ_HIGHPRI,
					  EXANET_FAULT_WORKS);
	return exanet_fault_wq ? 0 : -ENOMEM;
}

void exanet_fault_exit(void)
{
	destroy_workqueue(exanet_fault_wq);
}

/* --- from the FIFO to the contexts ---------------------------------------- */

static void exanet_fault_dispatch(struct exanet_device *xdev,
				  const struct exanet_fault_entry *entry)
{
	unsigned int index = RNIC_GET(EXANET_FAULT_CTX, entry->info);
	struct exanet_context *ctx = xdev->slots[index];

	lockdep_assert_held(&xdev->slot_lock);
	if (!ctx) {
		exanet_hw_fault_resolve(&xdev->hw, entry->info, false);
		return;
	}
	if (!kfifo_put(&ctx->faults, *entry)) {
		/*
		 * The queue of the context is full, so this answer is a retry: the access
		 * is repeated, and causes another fault.
		 */
		exanet_hw_fault_resolve(&xdev->hw, entry->info, true);
		return;
	}
	exanet_context_get(ctx);
	if (queue_work(exanet_fault_wq, &ctx->fault_work))
		ctx->fault_works++;
	else
		exanet_context_put(ctx);	/* not the last reference: the file has one */
}

bool exanet_fault_drain(struct exanet_device *xdev)
{
	struct exanet_fault_entry entry;
	unsigned int count, n;
	unsigned long flags;

	spin_lock_irqsave(&xdev->slot_lock, flags);
	count = exanet_hw_fault_count(&xdev->hw);
	if (count > EXANET_FAULTS)
		count = 0;	/* the register reads as all ones: the NIC was unplugged */
	for (n = min_t(unsigned int, count, EXANET_FAULT_BATCH); n; n--) {
		exanet_hw_fault_pop(&xdev->hw, &entry);
		exanet_fault_dispatch(xdev, &entry);
	}
	spin_unlock_irqrestore(&xdev->slot_lock, flags);
	return count > EXANET_FAULT_BATCH;
}

void exanet_fault_drain_all(struct exanet_device *xdev)
{
	while (exanet_fault_drain(xdev))
		cond_resched();
}

void exanet_fault_attach(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;

	spin_lock_irq(&xdev->slot_lock);
	xdev->slots[ctx->index] = ctx;
	spin_unlock_irq(&xdev->slot_lock);
}

bool exanet_fault_detach(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	struct exanet_fault_entry entry;
	bool lingers;

	spin_lock_irq(&xdev->slot_lock);
	xdev->slots[ctx->index] = NULL;
	while (kfifo_get(&ctx->faults, &entry))
		exanet_hw_fault_resolve(&xdev->hw, entry.info, false);
	lingers = ctx->fault_works;
	ctx->lingers = lingers;
	spin_unlock_irq(&xdev->slot_lock);

	/* A fault that stays in the FIFO would reach the next context with this index. */
	exanet_fault_drain_all(xdev);
	return lingers;
}

/* --- service -------------------------------------------------------------- */

/*
 * Returns the end address of the pages that the driver makes present for fault @entry: the
 * page of the fault, and the later pages within @entry->left bytes, at most
 * EXANET_BLOCK_BYTES, from the start of the page of the fault on.
 */
static unsigned long exanet_fault_end(const struct exanet_fault_entry *entry)
{
	return PAGE_ALIGN((entry->va & PAGE_MASK) +
			  clamp_t(u32, entry->left, 1, EXANET_BLOCK_BYTES));
}

/*
 * Makes the page at @va usable by the NIC: present, accessed and, for FAULT_FLAG_WRITE,
 * dirty. Stores in @end the address up to which the caller may make later pages present in
 * advance: the end of the VMA, or 0 if a process supplies the pages by userfaultfd. Returns
 * false if the page cannot be made usable; after false @end may be undefined.
 */
static bool exanet_fault_in(struct mm_struct *mm, unsigned long va,
			    unsigned int flags, unsigned long *end)
{
	struct vm_area_struct *vma = vma_lookup(mm, va);
	bool unlocked = false;

	/*
	 * The NIC must not access memory of other devices, because their fault handlers may
	 * expect an access by a CPU. Block RAM is valid, because loads and stores of other
	 * nodes may access block RAM.
	 */
	if (!vma || ((vma->vm_flags & (VM_IO | VM_PFNMAP)) &&
		     !exanet_bram_is(vma)))
		return false;
	*end = userfaultfd_armed(vma) ? 0 : vma->vm_end;
	return !fixup_user_fault(mm, va, flags, &unlocked);
}

/*
 * Makes the page of a fault, and if possible the later pages of the same VMA up to
 * exanet_fault_end(), usable by the NIC. Returns false if the page of the fault cannot be made
 * usable. The caller holds mmap_lock for reading.
 */
static bool exanet_fault_service(struct mm_struct *mm,
				 const struct exanet_fault_entry *entry)
{
	unsigned long end = exanet_fault_end(entry);
	unsigned long va = entry->va & PAGE_MASK;
	unsigned int flags = FAULT_FLAG_REMOTE;
	unsigned long limit;

	if (entry->info & EXANET_FAULT_WRITE)
		flags |= FAULT_FLAG_WRITE;
	if (!exanet_fault_in(mm, va, flags, &limit))
		return false;
	for (end = min(end, limit), va += PAGE_SIZE; va < end; va += PAGE_SIZE)
		if (!exanet_fault_in(mm, va, flags, &limit))
			break;
	return true;	/* a later page that is not usable causes another fault */
}

static void exanet_fault_answer(struct exanet_context *ctx,
				const struct exanet_fault_entry *entry, bool ok)
{
	/*
	 * exanet_cdma_piece() needs the count bad_copies, because the NIC does not report
	 * whether the source or the destination of a copy is invalid.
	 */
	if (!ok && !(entry->info & EXANET_FAULT_DST) &&
	    RNIC_GET(EXANET_FAULT_UNIT, entry->info) == EXANET_FAULT_SHM)
		atomic_inc(&ctx->bad_copies);
	spin_lock(&ctx->hw_lock);
	if (ctx->hw_on)
		exanet_hw_fault_resolve(&ctx->xdev->hw, entry->info, ok);
	spin_unlock(&ctx->hw_lock);
}

static bool exanet_fault_next(struct exanet_context *ctx,
			      struct exanet_fault_entry *entry)
{
	bool found;

	spin_lock_irq(&ctx->xdev->slot_lock);
	found = kfifo_get(&ctx->faults, entry);
	spin_unlock_irq(&ctx->xdev->slot_lock);
	return found;
}

/*
 * Counts the end of a page fault work of the context. If the context lingers, and this was
 * its last work, clears @ctx->lingers and returns true. Otherwise returns false.
 */
static bool exanet_fault_work_done(struct exanet_context *ctx)
{
	bool last;

	spin_lock_irq(&ctx->xdev->slot_lock);
	last = !--ctx->fault_works && ctx->lingers;
	if (last)
		ctx->lingers = false;
	spin_unlock_irq(&ctx->xdev->slot_lock);
	return last;
}

static void exanet_fault_work(struct work_struct *work)
{
	struct exanet_context *ctx =
		container_of(work, struct exanet_context, fault_work);
	struct mm_struct *mm = ctx->mm;
	struct exanet_fault_entry entry;
	bool ok;

	/* If the address space has ended, exanet_fault_detach() answers the faults. */
	if (!mmget_not_zero(mm))
		goto out;
	mmap_read_lock(mm);
	while (exanet_fault_next(ctx, &entry)) {
		ok = exanet_fault_service(mm, &entry);
		exanet_fault_answer(ctx, &entry, ok);
		if (need_resched() || mmap_lock_is_contended(mm)) {
			mmap_read_unlock(mm);
			cond_resched();
			mmap_read_lock(mm);
		}
	}
	mmap_read_unlock(mm);
	/*
	 * Calls mmput_async(), because after the last mmput() of the address space another
	 * work should free the address space.
	 */
	mmput_async(mm);
out:
	if (exanet_fault_work_done(ctx))
		exanet_context_unlinger(ctx);
	exanet_context_put(ctx);
}

void exanet_fault_context_init(struct exanet_context *ctx)
{
	INIT_KFIFO(ctx->faults);
	INIT_WORK(&ctx->fault_work, exanet_fault_work);
}
