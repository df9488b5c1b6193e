/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet errors: a process gets a signal when its loads or stores fail.
 */
#ifndef EXANET_ERROR_H
#define EXANET_ERROR_H

#include <linux/types.h>

struct exanet_context;
struct exanet_device;

/* Logs the first failed load or store, and signals processes with new errors; sleeps. */
void exanet_error_irq(struct exanet_device *xdev);
/*
 * Stores the error count of an index at the start of @ctx, because its owner must not
 * get a signal for errors of the index's last owner. The caller holds the device's
 * lock.
 */
void exanet_error_attach(struct exanet_context *ctx);
/*
 * Makes errors send @signo to current's process; 0: no signal. Returns 0, -EOPNOTSUPP,
 * -EINVAL or -ENODEV.
 */
int exanet_error_set_signal(struct exanet_context *ctx, u32 signo);

#endif /* EXANET_ERROR_H */
