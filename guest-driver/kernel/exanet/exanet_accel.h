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
/* Handles the interrupt of the accelerator: wakes the thread of the job. */
void exanet_accel_irq(struct exanet_device *xdev);
/*
 * Runs a job as uapi.h says; fills the output members of @a; sleeps. Returns 0 or one of
 * the errors of exanet_cdma_copy().
 */
int exanet_accel_job(struct exanet_context *ctx, struct exanet_ioc_accel *a);

#endif /* EXANET_ACCEL_H */
