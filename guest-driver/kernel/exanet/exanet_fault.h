/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: from the NIC's FIFO to the address space of a context, and back.
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
/* Sends the faults of the context's index to the context; the device's lock is held. */
void exanet_fault_attach(struct exanet_context *ctx);
/*
 * Detaches the context from the fault FIFO; the NIC must have stopped using the context.
 * Afterwards no fault reaches the context, and the FIFO has none of its faults. Returns
 * true if a page fault is still being handled, which may take long: its end calls
 * exanet_context_unlinger(). The device's lock is held; sleeps.
 */
bool exanet_fault_detach(struct exanet_context *ctx);
/* Takes a batch of faults from the FIFO. Returns true if there may be more. */
bool exanet_fault_drain(struct exanet_device *xdev);
/* Takes all faults from the FIFO; sleeps. */
void exanet_fault_drain_all(struct exanet_device *xdev);

#endif /* EXANET_FAULT_H */
