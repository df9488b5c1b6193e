/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet bindings: a context is bound to an index of the NIC and to the page table of one
 * process, from open() until the file is closed, the process ends or the NIC is removed.
 */
#ifndef EXANET_BINDING_H
#define EXANET_BINDING_H

#include <linux/types.h>

struct address_space;
struct exanet_context;
struct exanet_device;

/*
 * Returns the format of this kernel's page tables, EXANET_CTX_CTRL_FORMAT and _VA_BITS.
 */
u32 exanet_binding_format(void);
/*
 * Opens a context of current's address space; @mapping belongs to the file. Waits up to
 * half a second if no index is free. Returns an ERR_PTR: -ENOSPC: no index is free,
 * -EDQUOT: the user has the maximum, -ENODEV: the NIC is removed, -EACCES: the NIC has no
 * local jobs, -EPERM: a kernel thread, -ENOMEM, -EINTR.
 */
struct exanet_context *exanet_binding_open(struct exanet_device *xdev,
					   struct address_space *mapping);
/* Stops the context, and drops the caller's reference, the last of which frees it. */
void exanet_binding_close(struct exanet_context *ctx);
/* Stops all contexts and removes their mappings. The caller holds the device's lock. */
void exanet_binding_stop_all(struct exanet_device *xdev);

#endif /* EXANET_BINDING_H */
