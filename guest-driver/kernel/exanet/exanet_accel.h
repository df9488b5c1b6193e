/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet accelerator. The accelerator runs one job at a time; users alternate.
 */
#ifndef EXANET_ACCEL_H
#define EXANET_ACCEL_H

#include <linux/completion.h>

#include "exanet_pool.h"
#include "rnic/exanet/uapi.h"

struct exanet_context;
struct exanet_device;

struct exanet_accel {
	struct exanet_pool pool;	/* one resource: the accelerator */
	struct completion done;	/* completes with each interrupt of the accelerator */
};

void exanet_accel_init(struct exanet_device *xdev);
/* Handles the accelerator's interrupt: wakes the thread that waits for the end of its job. */
void exanet_accel_irq(struct exanet_device *xdev);
/*
 * Runs job @a of EXANET_IOC_ACCEL (uapi.h); sleeps. Fills the output members of @a. Returns
 * 0 or one of the errors of exanet_cdma_copy().
 */
int exanet_accel_job(struct exanet_context *ctx, struct exanet_ioc_accel *a);

#endif /* EXANET_ACCEL_H */
