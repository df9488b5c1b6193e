/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts. A NIC on PCI Express has MSI-X vectors for page faults, for
 * administration and for each context. A NIC on AXI has two wires: one for the interrupts
 * of contexts ("mailbox"), one for all other causes.
 */
#ifndef EXANET_IRQ_H
#define EXANET_IRQ_H

struct exanet_device;

/* A vector or wire; the dev_id of request_irq(). */
struct exanet_vector {
	struct exanet_device *xdev;
	unsigned int index;		/* number of the vector or wire */
	char name[24];
};

/* Requests the Linux interrupts of all vectors or wires. Returns 0 or a negative errno. */
int exanet_irq_request(struct exanet_device *xdev);
/*
 * Frees the interrupts, and cancels a delayed report of links. After the return no
 * interrupt handler and no delayed report runs. Page fault works may still run.
 */
void exanet_irq_free(struct exanet_device *xdev);

#endif /* EXANET_IRQ_H */
