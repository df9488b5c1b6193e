// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet, memory of other nodes: what it is made of, block RAM, and errors of loads
 * and stores.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "exanet.h"

static bool exanet_bram_users;
module_param_named(bram_users, exanet_bram_users, bool, 0644);
MODULE_PARM_DESC(bram_users,
		 "Whoever can open the device may use block RAM, of this node and others, which all share (default: no, only with CAP_SYS_ADMIN)");

/* --- probe and remove ----------------------------------------------------- */

/* Whether the bus gave all that the device says it has. */
static bool exanet_shm_complete(struct exanet_device *xdev)
{
	const struct exanet_caps *caps = &xdev->caps;
	resource_size_t have = xdev->res.aperture_bytes;

	return caps->aperture <= have && caps->bram <= have - caps->aperture;
}

int exanet_shm_init(struct exanet_device *xdev)
{
	struct exanet_shm *shm = &xdev->shm;

	exanet_cdma_init(xdev);
	exanet_accel_init(xdev);
	if (!(xdev->caps.cap1 & EXANET_CAP1_APERTURE))
		return 0;
	if (!exanet_shm_complete(xdev)) {
		dev_notice(xdev->dev.parent,
			   "no room for the aperture: no memory of other nodes\n");
		xdev->caps.cap1 &= ~(u32)EXANET_CAP1_APERTURE;
		return 0;
	}
	shm->user = ioremap(xdev->res.user, xdev->res.user_bytes);
	if (!shm->user)
		return -ENOMEM;
	shm->space.name = dev_name(&xdev->dev);
	/* Without a type: the kernel knows places of types that it keeps free. */
	shm->space.end = xdev->caps.aperture - 1;
	shm->present = true;
	return 0;
}

void exanet_shm_exit(struct exanet_device *xdev)
{
	if (xdev->shm.user)
		iounmap(xdev->shm.user);
}

int exanet_shm_query(struct exanet_context *ctx, struct exanet_ioc_query_shm *q)
{
	struct exanet_device *xdev = ctx->xdev;
	int ret = -ENODEV;

	if (!xdev->shm.present)
		return -EOPNOTSUPP;
	mutex_lock(&xdev->lock);
	if (ctx->running) {
		q->aperture = xdev->caps.aperture;
		q->bram = xdev->caps.bram;
		q->segments = EXANET_SHM_MAPS;
		q->segments_used = exanet_segments_used(xdev);
		ret = 0;
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

/* --- addresses and rights ------------------------------------------------- */

bool exanet_shm_bram_allowed(void)
{
	return READ_ONCE(exanet_bram_users) || capable(CAP_SYS_ADMIN);
}

int exanet_shm_check_gva(u64 gva, u64 len)
{
	u64 room = EXANET_VA_OFFSET + 1 - (gva & EXANET_VA_OFFSET);

	if (RNIC_GET(EXANET_VA_WINDOW, gva) == EXANET_WINDOW_NI) {
		if (RNIC_GET(EXANET_VA_NI_INDEX, gva) != EXANET_NI_BRAM ||
		    !exanet_shm_bram_allowed())
			return -EACCES;
		room = (1ULL << 32) - (u32)gva;
	}
	return len && len <= room ? 0 : -EINVAL;
}

u32 exanet_shm_pdid(const struct exanet_context *ctx, u32 dst_ctx)
{
	return RNIC_PREP(EXANET_PDID_JOB, exanet_job_number(ctx->job)) |
	       RNIC_PREP(EXANET_PDID_CTX, dst_ctx);
}

/* --- block RAM ------------------------------------------------------------ */

static vm_fault_t exanet_bram_fault(struct vm_fault *vmf)
{
	struct exanet_context *ctx = vmf->vma->vm_private_data;
	struct exanet_device *xdev = ctx->xdev;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	phys_addr_t pa;

	/* Held until the PTE stands, so that stop_all() finds and zaps it. */
	mutex_lock(&xdev->lock);
	if (ctx->running) {
		pa = xdev->res.aperture + xdev->caps.aperture +
		     ((phys_addr_t)vmf->pgoff << PAGE_SHIFT) - EXANET_MMAP_BRAM;
		ret = vmf_insert_pfn(vmf->vma, vmf->address, PHYS_PFN(pa));
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

static const struct vm_operations_struct exanet_bram_vm_ops = {
	.fault = exanet_bram_fault,
};

bool exanet_bram_is(const struct vm_area_struct *vma)
{
	return vma->vm_ops == &exanet_bram_vm_ops;
}

int exanet_bram_mmap(struct exanet_context *ctx, struct vm_area_struct *vma)
{
	struct exanet_device *xdev = ctx->xdev;
	u64 offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) - EXANET_MMAP_BRAM;
	u64 len = vma->vm_end - vma->vm_start;

	if (!xdev->shm.present)
		return -EOPNOTSUPP;
	if (offset > xdev->caps.bram || len > xdev->caps.bram - offset ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if ((vma->vm_flags & VM_EXEC) || !exanet_shm_bram_allowed())
		return -EACCES;
	exanet_vma_device(vma, VM_MAYEXEC);
	vma->vm_private_data = ctx;
	vma->vm_ops = &exanet_bram_vm_ops;
	return 0;
}

/* --- errors --------------------------------------------------------------- */

static const char * const exanet_shm_classes[EXANET_SHM_CLASSES] = {
	[EXANET_SHM_STORE] = "store",
	[EXANET_SHM_LOAD] = "load",
	[EXANET_SHM_RDMA_WRITE] = "copy",
	[EXANET_SHM_RDMA_READ] = "copy",
};

/* Loads and stores of context @index that have failed, of all its owners. */
static u32 exanet_shm_error_count(struct exanet_device *xdev, unsigned int index)
{
	size_t page = (size_t)index * EXANET_USER_PAGES + EXANET_PAGE_INFO;

	return readl(xdev->shm.user + (page << xdev->caps.page_shift) +
		     offsetof(struct exanet_info, errors));
}

/*
 * Whether the process still has the address space of its context: one that shared it
 * may have become another program, which its old user has no right to signal.
 */
static bool exanet_shm_is_ours(const struct exanet_context *ctx)
{
	struct task_struct *leader, *thread;
	bool ours = false;

	rcu_read_lock();
	leader = pid_task(ctx->signal_pid, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, thread)
			ours |= READ_ONCE(thread->mm) == ctx->mm;
	rcu_read_unlock();
	return ours;
}

/*
 * Returns the process that must get a signal because of new errors, or NULL. Stores the
 * signal in @signo. The caller puts the process, and holds the device's slot_lock.
 */
static struct pid *exanet_shm_news(struct exanet_context *ctx, int *signo)
{
	u32 errors = exanet_shm_error_count(ctx->xdev, ctx->index);
	bool news = errors != ctx->errors && ctx->signo && exanet_shm_is_ours(ctx);

	ctx->errors = errors;
	*signo = ctx->signo;
	return news ? get_pid(ctx->signal_pid) : NULL;
}

/* Sends signal @signo to @pid, if there is one, and puts @pid. */
static void exanet_shm_tell(struct pid *pid, int signo)
{
	if (pid)
		kill_pid(pid, signo, 1);
	put_pid(pid);
}

static void exanet_shm_tell_slot(struct exanet_device *xdev, unsigned int index)
{
	struct exanet_context *ctx;
	struct pid *pid = NULL;
	int signo = 0;

	spin_lock_irq(&xdev->slot_lock);
	ctx = xdev->slots[index];
	if (ctx)
		pid = exanet_shm_news(ctx, &signo);
	spin_unlock_irq(&xdev->slot_lock);
	exanet_shm_tell(pid, signo);
}

void exanet_shm_error_irq(struct exanet_device *xdev)
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
			exanet_shm_classes[RNIC_GET(EXANET_SHM_ERR_CLASS, info)],
			gva,
			RNIC_GET(EXANET_SHM_ERR_CODE, info),
			RNIC_GET(EXANET_SHM_ERR_RETRIES, info));
	/* Only the first error is told, the count knows of all. */
	for (index = 0; index < xdev->caps.contexts; index++)
		exanet_shm_tell_slot(xdev, index);
}

void exanet_shm_attach(struct exanet_context *ctx)
{
	if (ctx->xdev->shm.present)
		ctx->errors = exanet_shm_error_count(ctx->xdev, ctx->index);
}

/*
 * The interrupt of an error may come later than the next request. So the request first
 * sends the signal of the errors before it. The process of the request gets no signal
 * for these errors.
 */
int exanet_shm_set_signal(struct exanet_context *ctx, u32 signo)
{
	struct exanet_device *xdev = ctx->xdev;
	struct pid *pid = NULL, *told = NULL;
	int told_signo = 0, ret = -ENODEV;

	if (!xdev->shm.present)
		return -EOPNOTSUPP;
	if (!valid_signal(signo))
		return -EINVAL;
	if (signo)
		pid = get_pid(task_tgid(current));
	mutex_lock(&xdev->lock);
	/* A context that does not run has no register with a count of errors. */
	if (ctx->running) {
		spin_lock_irq(&xdev->slot_lock);
		told = exanet_shm_news(ctx, &told_signo);
		swap(ctx->signal_pid, pid);
		ctx->signo = signo;
		spin_unlock_irq(&xdev->slot_lock);
		ret = 0;
	}
	mutex_unlock(&xdev->lock);
	exanet_shm_tell(told, told_signo);
	put_pid(pid);
	return ret;
}
