/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts: an MSI-X message for each purpose, or two wires for all purposes.
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
 * Frees the interrupts. After the return no handler runs, and no work that a handler
 * began.
 */
void exanet_irq_free(struct exanet_device *xdev);

#endif /* EXANET_IRQ_H */
