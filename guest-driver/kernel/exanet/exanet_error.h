/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet errors: a process that has asked for a signal (ERROR_SIGNAL) gets the signal when
 * its loads, stores or copies of memory of other nodes fail.
 */
#ifndef EXANET_ERROR_H
#define EXANET_ERROR_H

#include <linux/types.h>

struct exanet_context;
struct exanet_device;

/*
 * Handles the interrupt for failed loads, stores and copies: logs the failure that the NIC
 * has recorded (at a limited rate), and sends the signals of exanet_error_set_signal() for
 * contexts with new errors. The caller is a thread with interrupts enabled.
 */
void exanet_error_irq(struct exanet_device *xdev);
/*
 * Stores the present error count of the context's index in @ctx, because the process must
 * not get a signal for errors of the last context with this index. The caller holds the
 * device's lock.
 */
void exanet_error_attach(struct exanet_context *ctx);
/*
 * Makes the driver send signal @signo (0: none) to current's process after later errors of
 * the context; one signal may report several errors. Returns 0, -EOPNOTSUPP: there is no
 * aperture, -EINVAL: @signo is no signal, or -ENODEV: the context has stopped.
 */
int exanet_error_set_signal(struct exanet_context *ctx, u32 signo);

#endif /* EXANET_ERROR_H */
