// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet segments: parts of the aperture by which a process accesses memory of another
 * node.
 *
 * A segment ends by EXANET_IOC_SEGMENT_DESTROY, or when its context stops. A mapping has a
 * reference to its segment, so the mapping does not show a later segment at the same place
 * in the aperture.
 */
#include "exanet_segment.h"

#include <linux/mm.h>
#include <linux/slab.h>

#include "exanet.h"
#include "exanet_context.h"
#include "exanet_vma.h"

static void exanet_segment_free(struct kref *ref)
{
	kfree(container_of(ref, struct exanet_segment, ref));
}

static void exanet_segment_put(struct exanet_segment *seg)
{
	kref_put(&seg->ref, exanet_segment_free);
}

void exanet_segment_init(struct exanet_device *xdev)
{
	struct resource *space = &xdev->segments.space;

	space->name = dev_name(&xdev->dev);
	/*
	 * The resource has no type, because allocate_resource() does not use reserved
	 * ranges of resources of type IORESOURCE_MEM.
	 */
	space->end = xdev->caps.aperture - 1;
}

unsigned int exanet_segments_used(struct exanet_device *xdev)
{
	unsigned int m, n = 0;

	lockdep_assert_held(&xdev->lock);
	for (m = 0; m < EXANET_SHM_MAPS; m++)
		n += !!xdev->segments.table[m];
	return n;
}

int exanet_segment_query(struct exanet_context *ctx, struct exanet_ioc_query_shm *q)
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

/* --- create --------------------------------------------------------------- */

static int exanet_segment_check(const struct exanet_ioc_segment_create *c)
{
	const u32 rights = EXANET_SEGMENT_READ | EXANET_SEGMENT_WRITE;

	if (c->reserved || c->dst_ctx >= EXANET_CONTEXTS ||
	    (c->flags & ~(rights | EXANET_SEGMENT_EARLY)) || !(c->flags & rights))
		return -EINVAL;
	if (!PAGE_ALIGNED(c->gva) || !PAGE_ALIGNED(c->len))
		return -EINVAL;
	return exanet_shm_check_gva(c->gva, c->len);
}

/* Returns true if one more segment, of @len bytes, would exceed a limit that @user has. */
static bool exanet_segment_user_is_full(struct exanet_device *xdev,
					const struct exanet_user *user, u64 len)
{
	u64 most = div_u64(xdev->caps.aperture *
			   min(READ_ONCE(exanet_user_aperture), 100U), 100);
	const struct exanet_segment *seg;
	unsigned int m, n = 0;

	if (user->unlimited)
		return false;
	for (m = 0; m < EXANET_SHM_MAPS; m++) {
		seg = xdev->segments.table[m];
		if (!seg || !uid_eq(seg->uid, user->uid))
			continue;
		n++;
		len += resource_size(&seg->place);
	}
	return n >= READ_ONCE(exanet_user_segments) || len > most;
}

/*
 * Allocates a number and @len bytes of the aperture for @seg. The caller holds xdev->lock.
 * Returns 0 or -ENOSPC.
 */
static int exanet_segment_place(struct exanet_device *xdev,
				struct exanet_segment *seg, u64 len)
{
	struct exanet_segments *segments = &xdev->segments;
	unsigned int m;

	for (m = 0; m < EXANET_SHM_MAPS; m++)
		if (!segments->table[m])
			break;
	if (m == EXANET_SHM_MAPS || len > xdev->caps.aperture)
		return -ENOSPC;
	if (allocate_resource(&segments->space, &seg->place, len, 0,
			      xdev->caps.aperture - 1, PAGE_SIZE, NULL, NULL))
		return -ENOSPC;
	seg->number = m;
	segments->table[m] = seg;
	return 0;
}

static u32 exanet_segment_ctrl(const struct exanet_context *ctx,
			       const struct exanet_ioc_segment_create *c)
{
	u32 ctrl = EXANET_SHM_MAP_VALID |
		   RNIC_PREP(EXANET_SHM_MAP_PDID,
			     exanet_shm_pdid(ctx, c->dst_ctx)) |
		   RNIC_PREP(EXANET_SHM_MAP_CTX, ctx->index);

	if (c->flags & EXANET_SEGMENT_READ)
		ctrl |= EXANET_SHM_MAP_READ;
	if (c->flags & EXANET_SEGMENT_WRITE)
		ctrl |= EXANET_SHM_MAP_WRITE;
	if (c->flags & EXANET_SEGMENT_EARLY)
		ctrl |= EXANET_SHM_MAP_EARLY;
	return ctrl;
}

static void exanet_segment_write(const struct exanet_segment *seg)
{
	const struct exanet_hw_segment hw_segment = {
		.offset = seg->place.start,
		.bytes = resource_size(&seg->place),
		.gva = seg->gva,
		.ctrl = seg->ctrl,
	};

	exanet_hw_segment_enable(&seg->xdev->hw, seg->number, &hw_segment);
}

int exanet_segment_create(struct exanet_context *ctx,
			  struct exanet_ioc_segment_create *c)
{
	struct exanet_device *xdev = ctx->xdev;
	struct exanet_segment *seg;
	int ret;

	if (!xdev->shm.present)
		return -EOPNOTSUPP;
	ret = exanet_segment_check(c);
	if (ret)
		return ret;
	seg = kzalloc(sizeof(*seg), GFP_KERNEL);
	if (!seg)
		return -ENOMEM;
	kref_init(&seg->ref);
	seg->xdev = xdev;
	seg->flags = c->flags;
	seg->gva = c->gva;
	seg->place.name = "segment";
	seg->uid = ctx->user.uid;

	mutex_lock(&xdev->lock);
	if (!ctx->running)
		ret = -ENODEV;
	else if (exanet_segment_user_is_full(xdev, &ctx->user, c->len))
		ret = -EDQUOT;
	else
		ret = exanet_segment_place(xdev, seg, c->len);
	if (!ret) {
		seg->ctx = ctx;
		ctx->job_users++;
		seg->ctrl = exanet_segment_ctrl(ctx, c);
		exanet_segment_write(seg);
		c->segment = seg->number;
		c->offset = EXANET_MMAP_APERTURE + seg->place.start;
	}
	mutex_unlock(&xdev->lock);
	if (ret)
		exanet_segment_put(seg);
	return ret;
}

/* --- destroy -------------------------------------------------------------- */

/*
 * Disables the segment in the NIC unless exanet_device.gone is true, frees the segment's
 * number and place, and drops the reference of the table. Does not remove PTEs of the segment.
 */
static void exanet_segment_release(struct exanet_segment *seg)
{
	struct exanet_device *xdev = seg->xdev;

	lockdep_assert_held(&xdev->lock);
	if (!xdev->gone)
		exanet_hw_segment_disable(&xdev->hw, seg->number);
	release_resource(&seg->place);
	xdev->segments.table[seg->number] = NULL;
	exanet_segment_put(seg);
}

int exanet_segment_destroy(struct exanet_context *ctx, u32 number)
{
	struct exanet_device *xdev = ctx->xdev;
	struct exanet_segment *seg = NULL;

	if (!xdev->shm.present)
		return -EOPNOTSUPP;
	if (number >= EXANET_SHM_MAPS)
		return -ENOENT;
	mutex_lock(&xdev->lock);
	if (xdev->segments.table[number] &&
	    xdev->segments.table[number]->ctx == ctx) {
		seg = xdev->segments.table[number];
		seg->ctx = NULL;	/* forbids new PTEs */
	}
	mutex_unlock(&xdev->lock);
	if (!seg)
		return ctx->running ? -ENOENT : -ENODEV;

	/*
	 * xdev->lock is not held here, because the removal of PTEs waits for CPUs, and such
	 * a CPU may wait for a load from the segment.
	 */
	unmap_mapping_range(ctx->mapping, EXANET_MMAP_APERTURE + seg->place.start,
			    resource_size(&seg->place), 1);
	mutex_lock(&xdev->lock);
	exanet_segment_release(seg);
	/*
	 * Permits a change of the context's job only now, because until here a CPU could
	 * access memory of the job by PTEs of the segment.
	 */
	ctx->job_users--;
	mutex_unlock(&xdev->lock);
	return 0;
}

void exanet_segment_stop(struct exanet_context *ctx)
{
	struct exanet_device *xdev = ctx->xdev;
	struct exanet_segment *seg;
	unsigned int m;

	lockdep_assert_held(&xdev->lock);
	for (m = 0; m < EXANET_SHM_MAPS; m++) {
		seg = xdev->segments.table[m];
		if (!seg || seg->ctx != ctx)
			continue;
		seg->ctx = NULL;
		exanet_segment_release(seg);
		ctx->job_users--;
	}
}

/* --- mmap ----------------------------------------------------------------- */

static void exanet_segment_vm_open(struct vm_area_struct *vma)
{
	struct exanet_segment *seg = vma->vm_private_data;

	kref_get(&seg->ref);
}

static void exanet_segment_vm_close(struct vm_area_struct *vma)
{
	exanet_segment_put(vma->vm_private_data);
}

static vm_fault_t exanet_segment_vm_fault(struct vm_fault *vmf)
{
	struct exanet_segment *seg = vmf->vma->vm_private_data;
	struct exanet_device *xdev = seg->xdev;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	phys_addr_t pa;

	/*
	 * The lock is held until the PTE is set, because the end of the segment must find
	 * and remove the PTE.
	 */
	mutex_lock(&xdev->lock);
	if (seg->ctx) {
		pa = xdev->res.aperture +
		     ((phys_addr_t)vmf->pgoff << PAGE_SHIFT) -
		     EXANET_MMAP_APERTURE;
		ret = vmf_insert_pfn(vmf->vma, vmf->address, PHYS_PFN(pa));
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

static const struct vm_operations_struct exanet_segment_vm_ops = {
	.open = exanet_segment_vm_open,
	.close = exanet_segment_vm_close,
	.fault = exanet_segment_vm_fault,
};

/*
 * Returns a reference to the segment of the context that contains the @len bytes at
 * @offset of the aperture, or NULL if there is no such segment.
 */
static struct exanet_segment *exanet_segment_find(struct exanet_context *ctx,
						  u64 offset, u64 len)
{
	struct exanet_device *xdev = ctx->xdev;
	struct exanet_segment *seg;
	unsigned int m;

	mutex_lock(&xdev->lock);
	for (m = 0; m < EXANET_SHM_MAPS; m++) {
		seg = xdev->segments.table[m];
		if (seg && seg->ctx == ctx && offset >= seg->place.start &&
		    offset + len - 1 <= seg->place.end)
			break;
	}
	if (m == EXANET_SHM_MAPS)
		seg = NULL;
	else
		kref_get(&seg->ref);
	mutex_unlock(&xdev->lock);
	return seg;
}

/* Returns the rights, of VM_READ, VM_WRITE and VM_EXEC, that a segment with @flags forbids. */
static vm_flags_t exanet_segment_forbids(u32 flags)
{
	return VM_EXEC | (flags & EXANET_SEGMENT_READ ? 0 : VM_READ) |
	       (flags & EXANET_SEGMENT_WRITE ? 0 : VM_WRITE);
}

int exanet_segment_mmap(struct exanet_context *ctx, struct vm_area_struct *vma)
{
	u64 offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) - EXANET_MMAP_APERTURE;
	struct exanet_segment *seg;
	vm_flags_t forbid;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	seg = exanet_segment_find(ctx, offset, vma->vm_end - vma->vm_start);
	if (!seg)
		return -EINVAL;
	forbid = exanet_segment_forbids(seg->flags);
	if (vma->vm_flags & forbid) {
		exanet_segment_put(seg);
		return -EACCES;
	}
	BUILD_BUG_ON(VM_READ << 4 != VM_MAYREAD || VM_WRITE << 4 != VM_MAYWRITE ||
		     VM_EXEC << 4 != VM_MAYEXEC);
	exanet_vma_device(vma, forbid << 4);
	vma->vm_private_data = seg;
	vma->vm_ops = &exanet_segment_vm_ops;
	return 0;
}
