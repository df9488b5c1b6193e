// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet events: the driver reports interrupts of a context to the owner of the context.
 */
#include "exanet_event.h"

#include <linux/eventfd.h>

#include "exanet.h"
#include "exanet_compat.h"
#include "exanet_context.h"

void exanet_event_init(struct exanet_context *ctx)
{
	init_waitqueue_head(&ctx->wait);
}

void exanet_event_exit(struct exanet_context *ctx)
{
	if (ctx->eventfd)
		eventfd_ctx_put(ctx->eventfd);
}

/*
 * Signals the context's eventfd, and wakes the threads in read() and poll(). The caller
 * holds wait.lock.
 */
static void exanet_event_wake(struct exanet_context *ctx)
{
	if (ctx->eventfd)
		exanet_eventfd_signal(ctx->eventfd);
	wake_up_locked_poll(&ctx->wait, EPOLLIN | EPOLLRDNORM);
}

void exanet_event_deliver(struct exanet_device *xdev, unsigned int index)
{
	struct exanet_context *ctx;
	unsigned long flags;

	spin_lock_irqsave(&xdev->slot_lock, flags);
	/*
	 * Acknowledges the interrupt first, because an event that happens now must
	 * interrupt again.
	 */
	exanet_hw_mailbox_ack(&xdev->hw, index);
	ctx = xdev->slots[index];
	if (ctx) {
		spin_lock(&ctx->wait.lock);
		ctx->events++;
		exanet_event_wake(ctx);
		spin_unlock(&ctx->wait.lock);
	}
	spin_unlock_irqrestore(&xdev->slot_lock, flags);
}

void exanet_event_hangup(struct exanet_context *ctx)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx->wait.lock, flags);
	if (ctx->eventfd)
		exanet_eventfd_signal(ctx->eventfd);
	wake_up_locked_poll(&ctx->wait, EPOLLERR | EPOLLHUP);
	spin_unlock_irqrestore(&ctx->wait.lock, flags);
}

int exanet_event_read(struct exanet_context *ctx, bool block, u64 *events)
{
	wait_queue_head_t *wq = &ctx->wait;
	int ret = 0;

	spin_lock_irq(&ctx->wait.lock);
	if (block)
		ret = wait_event_interruptible_locked_irq(*wq, ctx->events ||
							  !READ_ONCE(ctx->running));
	if (!ret) {
		*events = ctx->events;
		ctx->events = 0;
		if (!*events)
			ret = READ_ONCE(ctx->running) ? -EAGAIN : -ENODEV;
	}
	spin_unlock_irq(&ctx->wait.lock);
	return ret;
}

__poll_t exanet_event_poll(struct exanet_context *ctx, struct file *file,
			   poll_table *wait)
{
	__poll_t mask = 0;

	poll_wait(file, &ctx->wait, wait);
	if (READ_ONCE(ctx->events))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!READ_ONCE(ctx->running))
		mask |= EPOLLERR | EPOLLHUP;
	return mask;
}

int exanet_event_set_fd(struct exanet_context *ctx, int fd)
{
	struct eventfd_ctx *eventfd = NULL;

	if (fd < -1)
		return -EINVAL;
	if (fd != -1) {
		eventfd = eventfd_ctx_fdget(fd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
	}
	spin_lock_irq(&ctx->wait.lock);
	swap(ctx->eventfd, eventfd);
	/*
	 * Signals the new eventfd, because read() has not reported the earlier interrupts
	 * yet.
	 */
	if (ctx->eventfd && ctx->events)
		exanet_eventfd_signal(ctx->eventfd);
	spin_unlock_irq(&ctx->wait.lock);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	return 0;
}
