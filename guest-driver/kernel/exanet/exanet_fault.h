/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: take faults from the NIC's FIFO, make the pages present, and
 * answer.
 */
#ifndef EXANET_FAULT_H
#define EXANET_FAULT_H

#include <linux/types.h>

struct exanet_context;
struct exanet_device;

/* Makes the workqueue of the module. Returns 0 or -ENOMEM. */
int exanet_fault_init(void);
/* Waits for all works, and frees the workqueue. */
void exanet_fault_exit(void);
void exanet_fault_context_init(struct exanet_context *ctx);
/*
 * Makes faults of the context's index go to the context. The caller holds the device's
 * lock.
 */
void exanet_fault_attach(struct exanet_context *ctx);
/*
 * Detaches the context from the fault FIFO, and refuses its faults; the NIC does not
 * use the context any more. After the return the FIFO has no fault of the context.
 * Returns true if the context's work still handles a fault, which may take long; then
 * the end of the work calls exanet_context_unlinger(). The caller holds the device's
 * lock; sleeps.
 */
bool exanet_fault_detach(struct exanet_context *ctx);
/* Takes a batch of faults from the FIFO. Returns true if there may be more. */
bool exanet_fault_drain(struct exanet_device *xdev);
/* Takes all faults from the FIFO; sleeps. */
void exanet_fault_drain_all(struct exanet_device *xdev);

#endif /* EXANET_FAULT_H */
