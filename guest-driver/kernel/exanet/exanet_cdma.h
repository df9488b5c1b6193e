/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: copies from and to memory of a process and of other nodes.
 */
#ifndef EXANET_CDMA_H
#define EXANET_CDMA_H

#include <linux/completion.h>
#include <linux/types.h>

#include "exanet_pool.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/uapi.h"

struct exanet_context;
struct exanet_device;

/* The CDMA channels of a NIC. */
struct exanet_cdma {
	struct exanet_pool pool;	/* grants the channels to users */
	/* Bitmap of the channels in use. The device's lock protects the bitmap. */
	DECLARE_BITMAP(used, EXANET_CDMA_CHANNELS);
	/* By channel: completes with each interrupt and in exanet_cdma_hangup(). */
	struct completion done[EXANET_CDMA_CHANNELS];
};

void exanet_cdma_init(struct exanet_device *xdev);
/*
 * Handles the interrupt that all CDMA channels share: wakes the threads whose transfer has
 * ended.
 */
void exanet_cdma_irq(struct exanet_device *xdev);
/* Wakes all threads that wait for the end of a transfer, because contexts have stopped. */
void exanet_cdma_hangup(struct exanet_device *xdev);
/*
 * Does copy @c of EXANET_IOC_CDMA (uapi.h); sleeps. Changes @c, because src, dst and len of
 * @c move on with each piece. Returns 0, -EOPNOTSUPP: there is no aperture, -ENODEV or
 * -ECANCELED: the context has stopped, -EINVAL, -EACCES, -EFAULT, -ENXIO, -EIO, -ETIMEDOUT,
 * or -EINTR or -ERESTARTSYS after a fatal signal.
 */
int exanet_cdma_copy(struct exanet_context *ctx, struct exanet_ioc_cdma *c);

#endif /* EXANET_CDMA_H */
