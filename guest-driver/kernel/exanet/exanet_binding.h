/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet bindings. A context is bound to an index of the NIC and to the page table of one
 * process, from open() until the file is closed, the address space ends, or the NIC is
 * removed, shut down or reset by its bus.
 */
#ifndef EXANET_BINDING_H
#define EXANET_BINDING_H

#include <linux/types.h>

struct address_space;
struct exanet_context;
struct exanet_device;

/*
 * Returns the format of this kernel's page tables: fields EXANET_CTX_CTRL_FORMAT and
 * EXANET_CTX_CTRL_VA_BITS.
 */
u32 exanet_binding_format(void);
/*
 * Makes and starts a context of current's address space. @mapping is f_mapping of the
 * file. Waits up to half a second if no index is free for the user. Returns a reference
 * to the context, which exanet_binding_close() drops, or an ERR_PTR: -ENOSPC: no index or
 * no local job is free, -EDQUOT: the user has the maximal number of contexts, -ENODEV:
 * exanet_device.gone is true, -EACCES: the user needs a local job, and the NIC has no local
 * jobs, -EPERM: current is a kernel thread, -ENOMEM, -EINTR.
 */
struct exanet_context *exanet_binding_open(struct exanet_device *xdev,
					   struct address_space *mapping);
/* Stops the context if it runs, and drops the reference of exanet_binding_open(). */
void exanet_binding_close(struct exanet_context *ctx);
/*
 * Stops all contexts of the NIC, removes the PTEs of their mappings, and wakes threads that
 * wait for the end of a copy. The caller holds the device's lock.
 */
void exanet_binding_stop_all(struct exanet_device *xdev);

#endif /* EXANET_BINDING_H */
