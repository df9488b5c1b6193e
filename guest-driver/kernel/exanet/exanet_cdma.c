// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet CDMA: copies from and to memory of a process and of other nodes.
 *
 * All contexts share four channels. The driver divides a copy into pieces. The copy waits
 * for a channel before each piece, so that a long copy does not delay other users for long.
 */
#include "exanet_cdma.h"

#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "exanet.h"
#include "exanet_context.h"

#define EXANET_CDMA_PIECE	(1U << 20)	/* maximal number of bytes of a piece */
#define EXANET_CDMA_LIMIT	(60 * HZ)	/* maximal time of a piece, jiffies */
/* Maximal time between two polls of a channel, jiffies. */
#define EXANET_CDMA_POLL	HZ

void exanet_cdma_init(struct exanet_device *xdev)
{
	unsigned int ch;

	exanet_pool_init(&xdev->cdma.pool, EXANET_CDMA_CHANNELS);
	for (ch = 0; ch < EXANET_CDMA_CHANNELS; ch++)
		init_completion(&xdev->cdma.done[ch]);
}

void exanet_cdma_irq(struct exanet_device *xdev)
{
	unsigned int ch;
	bool any;

	do {
		for (any = false, ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
			if (!exanet_hw_cdma_ack(&xdev->hw, ch))
				continue;
			any = true;
			complete(&xdev->cdma.done[ch]);
		}
	} while (any);
}

void exanet_cdma_hangup(struct exanet_device *xdev)
{
	unsigned int ch;

	for (ch = 0; ch < EXANET_CDMA_CHANNELS; ch++)
		complete(&xdev->cdma.done[ch]);
}

/* --- a piece -------------------------------------------------------------- */

static int exanet_cdma_start(struct exanet_context *ctx, unsigned int ch,
			     const struct exanet_ioc_cdma *c)
{
	struct exanet_device *xdev = ctx->xdev;
	struct exanet_cdma_job job = {
		.sa = c->src,
		.da = c->dst,
		.bytes = min_t(u64, c->len, EXANET_CDMA_PIECE),
		.sides = RNIC_PREP(EXANET_CDMA_SIDES_CTX, ctx->index) |
			 EXANET_CDMA_SIDES_TRANSLATE,
	};
	int ret = -ENODEV;

	if (c->flags & EXANET_CDMA_SRC_REMOTE)
		job.sides |= EXANET_CDMA_SIDES_SA_GVA;
	if (!(c->flags & EXANET_CDMA_DST_REMOTE))
		job.sides |= EXANET_CDMA_SIDES_DA_LOCAL;
	mutex_lock(&xdev->lock);
	if (ctx->running) {
		job.pdid = exanet_shm_pdid(ctx, c->dst_ctx);
		reinit_completion(&xdev->cdma.done[ch]);
		exanet_hw_cdma_start(&xdev->hw, ch, &job);
		ret = 0;
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

/*
 * Returns the result of the piece that channel @ch copies: 0, the negative errno of a
 * failure, -EINPROGRESS: the piece has not ended, or -ECANCELED: the context has stopped.
 * Resets the channel after a failure of the transfer, or if @last is true and the piece has
 * not ended.
 */
static int exanet_cdma_poll(struct exanet_context *ctx, unsigned int ch,
			    bool last)
{
	struct exanet_device *xdev = ctx->xdev;
	int ret = -ECANCELED;

	mutex_lock(&xdev->lock);
	/*
	 * Does not access registers if the context has stopped, because a stopped context
	 * has no transfer, and the registers may be unmapped.
	 */
	if (ctx->running) {
		ret = exanet_hw_cdma_result(&xdev->hw, ch);
		if (ret && (ret != -EINPROGRESS || last) &&
		    exanet_hw_cdma_reset(&xdev->hw, ch))
			dev_err(&xdev->dev, "CDMA channel %u does not stop\n", ch);
	}
	mutex_unlock(&xdev->lock);
	return ret;
}

static int exanet_cdma_piece(struct exanet_context *ctx, unsigned int ch,
			     const struct exanet_ioc_cdma *c)
{
	struct completion *done = &ctx->xdev->cdma.done[ch];
	int bad = atomic_read(&ctx->bad_copies);
	unsigned long end = jiffies + EXANET_CDMA_LIMIT;
	bool last;
	long left;
	int ret;

	ret = exanet_cdma_start(ctx, ch, c);
	if (ret)
		return ret;
	do {
		left = wait_for_completion_killable_timeout(done,
							    EXANET_CDMA_POLL);
		last = left < 0 || time_after(jiffies, end);
		ret = exanet_cdma_poll(ctx, ch, last);
	} while (ret == -EINPROGRESS && !last);
	if (ret == -EINPROGRESS)
		ret = left < 0 ? -EINTR : -ETIMEDOUT;
	/*
	 * The NIC does not report whether the source or the destination is invalid. If
	 * bad_copies has changed, a page fault, of this copy or of another copy of the context,
	 * has shown that an address of the process is invalid.
	 */
	if (ret == -ENXIO && atomic_read(&ctx->bad_copies) != bad)
		ret = -EFAULT;
	return ret;
}

/* --- a copy --------------------------------------------------------------- */

static int exanet_cdma_check_side(u64 address, u64 len, bool remote)
{
	if (remote)
		return exanet_shm_check_gva(address, len);
	return address < TASK_SIZE_MAX && len <= TASK_SIZE_MAX - address ? 0 :
	       -EFAULT;
}

static int exanet_cdma_check(const struct exanet_ioc_cdma *c)
{
	int ret;

	if ((c->flags & ~(EXANET_CDMA_SRC_REMOTE | EXANET_CDMA_DST_REMOTE)) ||
	    c->dst_ctx >= EXANET_CONTEXTS || !c->len)
		return -EINVAL;
	ret = exanet_cdma_check_side(c->src, c->len,
				     c->flags & EXANET_CDMA_SRC_REMOTE);
	return ret ?: exanet_cdma_check_side(c->dst, c->len,
					     c->flags & EXANET_CDMA_DST_REMOTE);
}

/*
 * Reserves a free channel and returns its number. At least one channel is free, because the
 * pool has granted a channel to the caller.
 */
static unsigned int exanet_cdma_take(struct exanet_device *xdev)
{
	unsigned int ch;

	mutex_lock(&xdev->lock);
	ch = find_first_zero_bit(xdev->cdma.used, EXANET_CDMA_CHANNELS);
	__set_bit(ch, xdev->cdma.used);
	mutex_unlock(&xdev->lock);
	return ch;
}

static void exanet_cdma_give(struct exanet_device *xdev, unsigned int ch)
{
	mutex_lock(&xdev->lock);
	__clear_bit(ch, xdev->cdma.used);
	mutex_unlock(&xdev->lock);
}

/*
 * Waits until the pool grants a channel, and copies the next piece of @c. Returns 0 or a
 * negative errno.
 */
static int exanet_cdma_next(struct exanet_context *ctx,
			    const struct exanet_ioc_cdma *c)
{
	struct exanet_pool *pool = &ctx->xdev->cdma.pool;
	unsigned int most = READ_ONCE(exanet_user_copies);
	struct exanet_pool_request req;
	unsigned int ch;
	int ret;

	ret = exanet_pool_take(pool, &req, &ctx->user, most);
	if (ret)
		return ret;
	ch = exanet_cdma_take(ctx->xdev);
	ret = exanet_cdma_piece(ctx, ch, c);
	exanet_cdma_give(ctx->xdev, ch);
	exanet_pool_give(pool, &req, most);
	return ret;
}

int exanet_cdma_copy(struct exanet_context *ctx, struct exanet_ioc_cdma *c)
{
	u64 n;
	int ret;

	if (!ctx->xdev->shm.present)
		return -EOPNOTSUPP;
	ret = exanet_cdma_check(c) ?: exanet_context_fix_job(ctx);
	if (ret)
		return ret;
	for (; !ret && c->len; c->src += n, c->dst += n, c->len -= n) {
		n = min_t(u64, c->len, EXANET_CDMA_PIECE);
		ret = exanet_cdma_next(ctx, c);
	}
	exanet_context_unfix_job(ctx);
	return ret;
}
