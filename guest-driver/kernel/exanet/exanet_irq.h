/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts: MSI-X messages for page faults, for administration and for each
 * context; or two wires, for mailboxes and for all other causes.
 */
#ifndef EXANET_IRQ_H
#define EXANET_IRQ_H

struct exanet_device;

/* The dev_id of an interrupt. */
struct exanet_vector {
	struct exanet_device *xdev;
	unsigned int index;		/* number of the vector or wire */
	char name[24];
};

/* Requests all interrupts of the device. Returns 0 or a negative errno. */
int exanet_irq_request(struct exanet_device *xdev);
/*
 * Frees the interrupts, and cancels a delayed report of links. After the return no handler
 * and no such report runs. Works of page faults may still run.
 */
void exanet_irq_free(struct exanet_device *xdev);

#endif /* EXANET_IRQ_H */
