/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: rights of processes to memory of other nodes and to block RAM.
 */
#ifndef EXANET_SHM_H
#define EXANET_SHM_H

#include <linux/types.h>

struct exanet_context;
struct exanet_device;

struct exanet_shm {
	bool present;		/* the NIC has an aperture, and the bus has room for it */
	void __iomem *user;	/* user pages of all contexts */
};

/*
 * Maps the user pages. A NIC without an aperture needs none: exanet_shm.present stays
 * false, and all requests for shared memory return -EOPNOTSUPP. Returns 0 or -ENOMEM.
 */
int exanet_shm_init(struct exanet_device *xdev);
void exanet_shm_exit(struct exanet_device *xdev);
/* Returns true if current may use block RAM, of this node and of others. */
bool exanet_shm_bram_allowed(void);
/*
 * Checks that current may use the address @gva of @len bytes. Returns 0, -EACCES: the
 * bytes are registers of a node, or block RAM that current may not use, -EINVAL: @len
 * is 0 or too large.
 */
int exanet_shm_check_gva(u64 gva, u64 len);
/* Returns the PDID of context @dst_ctx in the job of @ctx; the device's lock is held. */
u32 exanet_shm_pdid(const struct exanet_context *ctx, u32 dst_ctx);

#endif /* EXANET_SHM_H */
