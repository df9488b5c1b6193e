/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet errors: a process gets a signal when its loads or stores fail.
 */
#ifndef EXANET_ERROR_H
#define EXANET_ERROR_H

#include <linux/types.h>

struct exanet_context;
struct exanet_device;

/* Serves the interrupt of failed loads and stores; sleeps. */
void exanet_error_irq(struct exanet_device *xdev);
/*
 * Reads the error count of a context that starts, because the new owner of the index
 * must not get a signal for errors of the last one. The device's lock is held.
 */
void exanet_error_attach(struct exanet_context *ctx);
/*
 * Makes errors send @signo to current's process; 0: no signal. Returns 0, -EOPNOTSUPP,
 * -EINVAL or -ENODEV.
 */
int exanet_error_set_signal(struct exanet_context *ctx, u32 signo);

#endif /* EXANET_ERROR_H */
