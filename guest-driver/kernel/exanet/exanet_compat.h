/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between kernels from 6.1 on. No other file depends on a version.
 */
#ifndef EXANET_COMPAT_H
#define EXANET_COMPAT_H

#include <linux/version.h>

/*
 * The member of struct mmu_notifier_ops that the kernel calls for devices that walk the
 * page tables of the CPUs.
 */
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
#define EXANET_INVALIDATE_HOOK	arch_invalidate_secondary_tlbs
#else
#define EXANET_INVALIDATE_HOOK	invalidate_range
#endif

/* The qualifier of parameter dev of class.devnode(). */
#if KERNEL_VERSION(6, 2, 0) <= LINUX_VERSION_CODE
#define EXANET_DEVNODE_CONST	const
#else
#define EXANET_DEVNODE_CONST
#endif

/* Sets the flags @set of @vma, and clears the flags @clear. */
#if KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE
#define exanet_vma_flags(vma, set, clear) vm_flags_mod(vma, set, clear)
#else
#define exanet_vma_flags(vma, set, clear) \
	((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(vm_flags_t)(clear))
#endif

/* Adds 1 to the counter of eventfd @ctx. */
#if KERNEL_VERSION(6, 8, 0) <= LINUX_VERSION_CODE
#define exanet_eventfd_signal(ctx) eventfd_signal(ctx)
#else
#define exanet_eventfd_signal(ctx) eventfd_signal(ctx, 1)
#endif

#endif /* EXANET_COMPAT_H */
