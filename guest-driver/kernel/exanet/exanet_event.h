/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet events: the driver reports interrupts of a context to the owner of the context.
 */
#ifndef EXANET_EVENT_H
#define EXANET_EVENT_H

#include <linux/poll.h>

struct exanet_context;
struct exanet_device;

/* Initializes the wait queue of the context. */
void exanet_event_init(struct exanet_context *ctx);
/* Drops the reference to the context's eventfd. */
void exanet_event_exit(struct exanet_context *ctx);
/*
 * Acknowledges the interrupt of index @index. If a context runs with this index, counts the
 * interrupt, signals the context's eventfd, and wakes all threads that wait for an interrupt.
 */
void exanet_event_deliver(struct exanet_device *xdev, unsigned int index);
/*
 * Signals the context's eventfd, and wakes all threads that wait for an interrupt, because
 * the context has stopped.
 */
void exanet_event_hangup(struct exanet_context *ctx);
/*
 * Stores the number of interrupts since the last call in @events. If @block is true, waits
 * for the first interrupt or the stop of the context. Returns 0; or, if there was no
 * interrupt, -ENODEV: the context has stopped, -EAGAIN: @block is false, or -ERESTARTSYS
 * after a signal.
 */
int exanet_event_read(struct exanet_context *ctx, bool block, u64 *events);
/*
 * Returns the mask for poll(): POLLIN if there were interrupts since the last
 * exanet_event_read(), POLLERR and POLLHUP if the context has stopped.
 */
__poll_t exanet_event_poll(struct exanet_context *ctx, struct file *file,
			   poll_table *wait);
/*
 * Makes each interrupt of the context, and the stop of the context, signal eventfd @fd; -1:
 * no eventfd. Signals @fd at once if exanet_event_read() would return 0. Returns 0;
 * -EBADF if @fd is not open; -EINVAL if @fd is below -1 or is another kind of file.
 */
int exanet_event_set_fd(struct exanet_context *ctx, int fd);

#endif /* EXANET_EVENT_H */
