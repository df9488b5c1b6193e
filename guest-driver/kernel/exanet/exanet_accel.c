// SPDX-License-Identifier: GPL-2.0-or-later
/* ExaNet accelerator. The accelerator runs one job at a time; users alternate. */
#include "exanet_accel.h"

#include <linux/jiffies.h>
#include <linux/module.h>

#include "exanet.h"
#include "exanet_context.h"

#define EXANET_ACCEL_POLL	HZ	/* maximal time between two polls, jiffies */
/* Maximal number of waits for the end of an aborted job. */
#define EXANET_ACCEL_POLLS	30

static unsigned int exanet_accel_seconds = 60;
module_param_named(accel_seconds, exanet_accel_seconds, uint, 0644);
MODULE_PARM_DESC(accel_seconds,
		 "A job on the accelerator ends after this time with ETIMEDOUT, but with CAP_SYS_RESOURCE (default: 60)");

void exanet_accel_init(struct exanet_device *xdev)
{
	exanet_pool_init(&xdev->accel.pool, 1);
	init_completion(&xdev->accel.done);
}

void exanet_accel_irq(struct exanet_device *xdev)
{
	complete(&xdev->accel.done);
}

/*
 * Checks that the members of @a fit the registers of the NIC. Checks for each array that
 * current may use the block RAM of this node or, if the array is remote, the first byte at
 * its GVA. The NIC checks the sizes of the arrays. Returns 0, -EINVAL or -EACCES.
 */
static int exanet_accel_check(const struct exanet_ioc_accel *a)
{
	const u64 address[] = {
		a->matrix, a->x, a->y, a->map1, a->map2, a->cells,
	};
	unsigned int i;

	if ((a->remote & ~(u32)(RNIC_BIT(ARRAY_SIZE(address)) - 1)) ||
	    a->dst_ctx >= EXANET_CONTEXTS || a->ndf1 > U16_MAX ||
	    a->ndf2 > U16_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(address); i++) {
		if (!(a->remote & BIT(i))) {
			if (!exanet_shm_bram_allowed())
				return -EACCES;
		} else if (exanet_shm_check_gva(address[i], 1)) {
			return -EACCES;
		}
	}
	return 0;
}

static int exanet_accel_start(struct exanet_context *ctx,
			      const struct exanet_ioc_accel *a)
{
	struct exanet_device *xdev = ctx->xdev;
	int ret = -ENODEV;
	u32 pdid;

	mutex_lock(&xdev->lock);
	if (ctx->running) {
		pdid = RNIC_PREP(EXANET_ACCEL_PDID_TARGET,
				 exanet_shm_pdid(ctx, a->dst_ctx)) |
		       RNIC_PREP(EXANET_ACCEL_PDID_CTX, ctx->index);
		reinit_completion(&xdev->accel.done);
		exanet_hw_accel_start(&xdev->hw, a, pdid);
		ret = 0;
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

/*
 * Returns the result of the accelerator's job: 0, the negative errno of a failure,
 * -EINPROGRESS: the job has not ended, or -ECANCELED: the context has stopped.
 */
static int exanet_accel_poll(struct exanet_context *ctx,
			     struct exanet_ioc_accel *a)
{
	struct exanet_device *xdev = ctx->xdev;
	int ret = -ECANCELED;

	mutex_lock(&xdev->lock);
	if (ctx->running)
		ret = exanet_hw_accel_result(&xdev->hw, a);
	mutex_unlock(&xdev->lock);
	return ret;
}

/*
 * Aborts the accelerator's job, and waits until the job has ended or the context has stopped.
 * If the job has not ended after EXANET_ACCEL_POLLS waits, logs an error and returns.
 */
static void exanet_accel_stop(struct exanet_context *ctx,
			      struct exanet_ioc_accel *a)
{
	struct exanet_device *xdev = ctx->xdev;
	unsigned int n;

	mutex_lock(&xdev->lock);
	if (ctx->running)
		exanet_hw_accel_stop(&xdev->hw);
	mutex_unlock(&xdev->lock);
	for (n = 0; exanet_accel_poll(ctx, a) == -EINPROGRESS; n++) {
		if (n == EXANET_ACCEL_POLLS) {
			dev_err(&xdev->dev, "the accelerator does not stop\n");
			break;
		}
		wait_for_completion_timeout(&xdev->accel.done,
					    EXANET_ACCEL_POLL);
	}
}

/*
 * Runs job @a on the accelerator. The NIC aborts the job if a node does not answer. This
 * function aborts the job after a fatal signal, or after exanet_accel_seconds, because
 * other users may wait for the accelerator. A user with exanet_user.unlimited has no limit
 * of time. Returns 0 or a negative errno.
 */
static int exanet_accel_run(struct exanet_context *ctx, struct exanet_ioc_accel *a)
{
	u64 end = get_jiffies_64() +
		  (u64)READ_ONCE(exanet_accel_seconds) * HZ;
	bool expired;
	long left;
	int ret;

	ret = exanet_accel_start(ctx, a);
	if (ret)
		return ret;
	do {
		left = wait_for_completion_killable_timeout(&ctx->xdev->accel.done,
							    EXANET_ACCEL_POLL);
		expired = !ctx->user.unlimited && time_after64(get_jiffies_64(), end);
		ret = exanet_accel_poll(ctx, a);
	} while (ret == -EINPROGRESS && left >= 0 && !expired);
	if (ret == -EINPROGRESS) {
		exanet_accel_stop(ctx, a);
		ret = left < 0 ? -EINTR : -ETIMEDOUT;
	}
	return ret;
}

int exanet_accel_job(struct exanet_context *ctx, struct exanet_ioc_accel *a)
{
	struct exanet_pool *pool = &ctx->xdev->accel.pool;
	struct exanet_pool_request req;
	int ret;

	a->ops = a->bytes = a->ns = a->err_addr = 0;
	if (!ctx->xdev->shm.present)
		return -EOPNOTSUPP;
	ret = exanet_accel_check(a) ?: exanet_context_fix_job(ctx);
	if (ret)
		return ret;
	ret = exanet_pool_take(pool, &req, &ctx->user, 1);
	if (!ret) {
		ret = exanet_accel_run(ctx, a);
		exanet_pool_give(pool, &req, 1);
	}
	exanet_context_unfix_job(ctx);
	return ret;
}
