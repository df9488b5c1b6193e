/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: mappings of device memory.
 */
#ifndef EXANET_VMA_H
#define EXANET_VMA_H

#include <linux/mm.h>

#include "exanet_compat.h"

/*
 * Makes @vma a mapping of device memory, which a child after fork() does not inherit. Clears
 * the flags @forbid, for example VM_MAYEXEC, in @vma->vm_flags.
 */
static inline void exanet_vma_device(struct vm_area_struct *vma, vm_flags_t forbid)
{
	exanet_vma_flags(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND |
			 VM_DONTDUMP, forbid);
	vma->vm_page_prot = pgprot_device(vma->vm_page_prot);
}

#endif /* EXANET_VMA_H */
