// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet block RAM: memory in the NIC, which processes can map.
 */
#include "exanet_bram.h"

#include <linux/mm.h>

#include "exanet.h"
#include "exanet_context.h"
#include "exanet_vma.h"

static vm_fault_t exanet_bram_fault(struct vm_fault *vmf)
{
	struct exanet_context *ctx = vmf->vma->vm_private_data;
	struct exanet_device *xdev = ctx->xdev;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	phys_addr_t pa;

	/*
	 * The lock is held until the PTE is set, because exanet_binding_stop_all() must
	 * find and remove the PTE.
	 */
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
