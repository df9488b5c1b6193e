/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults. The driver reads faults from the NIC's FIFO, makes the pages present,
 * and answers the faults.
 */
#ifndef EXANET_FAULT_H
#define EXANET_FAULT_H

#include <linux/types.h>

struct exanet_context;
struct exanet_device;

/* Makes the workqueue of the module. Returns 0 or -ENOMEM. */
int exanet_fault_init(void);
/* Waits for all page fault works, and frees the workqueue. */
void exanet_fault_exit(void);
/* Initializes the context's queue of faults and its page fault work. */
void exanet_fault_context_init(struct exanet_context *ctx);
/*
 * Connects the context with its index: from now on faults, interrupts and errors of the
 * index reach the context. The caller holds the device's lock.
 */
void exanet_fault_attach(struct exanet_context *ctx);
/*
 * Disconnects the context, which is disabled in the NIC, from its index. Answers the
 * context's faults in the context's queue and in the NIC's FIFO: the accesses fail. Returns
 * true if a page fault work of the context is queued or runs, which may take long; the last
 * of these works calls exanet_context_unlinger() at its end. The caller holds the device's
 * lock; sleeps.
 */
bool exanet_fault_detach(struct exanet_context *ctx);
/*
 * Moves some faults from the NIC's FIFO to the queues of their contexts, and queues the page
 * fault works of these contexts. Answers a fault at once if its index has no context, or the
 * queue of its context is full. Returns true if the FIFO had more faults at the call.
 */
bool exanet_fault_drain(struct exanet_device *xdev);
/* Calls exanet_fault_drain() until the function returns false; sleeps. */
void exanet_fault_drain_all(struct exanet_device *xdev);

#endif /* EXANET_FAULT_H */
