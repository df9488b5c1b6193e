// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet shared memory: rights of processes to memory of other nodes and to block RAM.
 */
#include "exanet_shm.h"

#include <linux/capability.h>
#include <linux/io.h>
#include <linux/module.h>

#include "exanet.h"
#include "exanet_context.h"
#include "exanet_job.h"

static bool exanet_bram_users;
module_param_named(bram_users, exanet_bram_users, bool, 0644);
MODULE_PARM_DESC(bram_users,
		 "Each process that can open the device may use block RAM, of this node and others, which all share (default: no, only with CAP_SYS_ADMIN)");

/* --- probe and remove ----------------------------------------------------- */

/* Returns true if the bus has room for the aperture and the block RAM. */
static bool exanet_shm_complete(struct exanet_device *xdev)
{
	const struct exanet_caps *caps = &xdev->caps;
	resource_size_t have = xdev->res.aperture_bytes;

	return caps->aperture <= have && caps->bram <= have - caps->aperture;
}

int exanet_shm_init(struct exanet_device *xdev)
{
	struct exanet_shm *shm = &xdev->shm;

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
	shm->present = true;
	return 0;
}

void exanet_shm_exit(struct exanet_device *xdev)
{
	if (xdev->shm.user)
		iounmap(xdev->shm.user);
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
