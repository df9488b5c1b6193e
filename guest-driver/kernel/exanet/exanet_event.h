/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet events: pass the interrupts of a context to its process.
 */
#ifndef EXANET_EVENT_H
#define EXANET_EVENT_H

#include <linux/poll.h>

struct exanet_context;
struct exanet_device;

void exanet_event_init(struct exanet_context *ctx);
void exanet_event_exit(struct exanet_context *ctx);
/* Counts an interrupt of context @index, if it runs, and wakes its process. */
void exanet_event_deliver(struct exanet_device *xdev, unsigned int index);
/* Wakes all threads that wait for an event, because the context has stopped. */
void exanet_event_hangup(struct exanet_context *ctx);
/*
 * Stores the number of interrupts since the last call in @events. Waits for the first
 * one if @block. Returns 0, -EAGAIN: there is none, -ENODEV: the context has stopped,
 * -ERESTARTSYS.
 */
int exanet_event_read(struct exanet_context *ctx, bool block, u64 *events);
/*
 * Returns the mask for poll(): POLLIN if events wait, POLLERR if the context has
 * stopped.
 */
__poll_t exanet_event_poll(struct exanet_context *ctx, struct file *file,
			   poll_table *wait);
/*
 * Signals eventfd @fd with each interrupt; @fd -1 ends this. Returns 0, -EINVAL,
 * -EBADF.
 */
int exanet_event_set_fd(struct exanet_context *ctx, int fd);

#endif /* EXANET_EVENT_H */
