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
	/* True if the NIC has an aperture, and the bus has room for aperture and block RAM. */
	bool present;
	void __iomem *user;	/* user pages of all contexts; NULL if @present is false */
};

/*
 * Maps the user pages, and sets exanet_shm.present. If the NIC has no aperture, does
 * nothing. If the bus has no room for the aperture and the block RAM, only logs a message
 * and clears EXANET_CAP1_APERTURE of @xdev->caps.cap1. If exanet_shm.present is false, valid
 * ioctl() requests for shared memory return -EOPNOTSUPP. Returns 0 or -ENOMEM.
 */
int exanet_shm_init(struct exanet_device *xdev);
/* Unmaps the user pages. */
void exanet_shm_exit(struct exanet_device *xdev);
/* Returns true if current may use block RAM of this node and of other nodes. */
bool exanet_shm_bram_allowed(void);
/*
 * Checks that current may use the @len bytes at @gva. Returns 0, -EACCES: @gva is NI space but
 * not block RAM, or block RAM that current may not use, or -EINVAL: @len is 0, or the bytes
 * cross the end of a window of 512 GB or of the 4 GB for block RAM.
 */
int exanet_shm_check_gva(u64 gva, u64 len);
/*
 * Returns the PDID that names context number @dst_ctx of another node in the job of @ctx.
 * @ctx must run, and the caller holds the device's lock.
 */
u32 exanet_shm_pdid(const struct exanet_context *ctx, u32 dst_ctx);

#endif /* EXANET_SHM_H */
