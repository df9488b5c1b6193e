// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet interrupts. A NIC on PCI Express has MSI-X vectors for page faults, for
 * administration and for each context. A NIC on AXI has two wires: one for the interrupts
 * of contexts ("mailbox"), one for all other causes.
 */
#include "exanet_irq.h"

#include <linux/interrupt.h>

#include "exanet.h"
#include "exanet_error.h"
#include "exanet_event.h"
#include "exanet_fault.h"

/* --- all causes but faults and mailboxes ------------------------------------ */

#define EXANET_IRQS_ADMIN ((u32)(EXANET_IRQ_LINK | EXANET_IRQ_SHM | \
				 EXANET_IRQ_CDMA | EXANET_IRQ_ACCEL))

static void exanet_admin_serve(struct exanet_device *xdev, u32 causes)
{
	if (causes & EXANET_IRQ_CDMA)
		exanet_cdma_irq(xdev);
	if (causes & EXANET_IRQ_ACCEL)
		exanet_accel_irq(xdev);
	if (causes & EXANET_IRQ_SHM)
		exanet_error_irq(xdev);
	if (causes & EXANET_IRQ_LINK)
		exanet_link_check(xdev);
}

/* --- handlers of messages ------------------------------------------------- */

static irqreturn_t exanet_fault_irq(int irq, void *cookie)
{
	struct exanet_device *xdev = ((struct exanet_vector *)cookie)->xdev;

	/*
	 * Acknowledges the interrupt first, because a fault that arrives now must raise the
	 * vector again.
	 */
	exanet_hw_irq_ack(&xdev->hw, EXANET_IRQ_FAULT);
	return exanet_fault_drain(xdev) ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static irqreturn_t exanet_fault_thread(int irq, void *cookie)
{
	exanet_fault_drain_all(((struct exanet_vector *)cookie)->xdev);
	return IRQ_HANDLED;
}

static irqreturn_t exanet_admin_thread(int irq, void *cookie)
{
	struct exanet_device *xdev = ((struct exanet_vector *)cookie)->xdev;
	u32 causes = exanet_hw_irq_causes(&xdev->hw);

	if (causes == EXANET_GONE)
		return IRQ_NONE;
	causes &= EXANET_IRQS_ADMIN;
	/*
	 * Acknowledges the causes first, because an event that happens now must raise the
	 * vector again.
	 */
	exanet_hw_irq_ack(&xdev->hw, causes);
	exanet_admin_serve(xdev, causes);
	return IRQ_HANDLED;
}

static irqreturn_t exanet_context_irq(int irq, void *cookie)
{
	struct exanet_vector *vector = cookie;

	exanet_event_deliver(vector->xdev,
			     vector->index - EXANET_VEC_CONTEXT(0));
	return IRQ_HANDLED;
}

static int exanet_request_vector(struct exanet_device *xdev,
				 struct exanet_vector *vector)
{
	const char *name = dev_name(&xdev->dev);
	int irq = xdev->res.irq[vector->index];

	switch (vector->index) {
	case EXANET_VEC_FAULT:
		snprintf(vector->name, sizeof(vector->name), "%s-fault", name);
		return request_threaded_irq(irq, exanet_fault_irq,
					    exanet_fault_thread, 0,
					    vector->name, vector);
	case EXANET_VEC_ADMIN:
		snprintf(vector->name, sizeof(vector->name), "%s-admin", name);
		return request_threaded_irq(irq, NULL, exanet_admin_thread,
					    IRQF_ONESHOT, vector->name, vector);
	default:
		snprintf(vector->name, sizeof(vector->name), "%s-context%u",
			 name, vector->index - EXANET_VEC_CONTEXT(0));
		return request_irq(irq, exanet_context_irq, 0, vector->name,
				   vector);
	}
}

/* --- handlers of wires ---------------------------------------------------- */

/*
 * The kernel masks the wire while this thread runs. An event after the acknowledgement
 * makes the wire high again, so the kernel runs this thread again.
 */
static irqreturn_t exanet_admin_line_thread(int irq, void *cookie)
{
	struct exanet_device *xdev = ((struct exanet_vector *)cookie)->xdev;
	u32 causes = exanet_hw_irq_causes(&xdev->hw) &
		     (EXANET_IRQ_FAULT | EXANET_IRQS_ADMIN);

	exanet_hw_irq_ack(&xdev->hw, causes);
	if (causes & EXANET_IRQ_FAULT)
		exanet_fault_drain_all(xdev);
	exanet_admin_serve(xdev, causes);
	return causes ? IRQ_HANDLED : IRQ_NONE;
}

static irqreturn_t exanet_mailbox_line_irq(int irq, void *cookie)
{
	struct exanet_device *xdev = ((struct exanet_vector *)cookie)->xdev;
	unsigned long pending = exanet_hw_mailbox_pending(&xdev->hw);
	unsigned int index;

	for_each_set_bit(index, &pending, EXANET_CONTEXTS)
		exanet_event_deliver(xdev, index);
	return pending ? IRQ_HANDLED : IRQ_NONE;
}

static int exanet_request_line(struct exanet_device *xdev,
			       struct exanet_vector *vector)
{
	const char *name = dev_name(&xdev->dev);
	int irq = xdev->res.irq[vector->index];

	if (vector->index == EXANET_LINE_MAILBOX) {
		snprintf(vector->name, sizeof(vector->name), "%s-mailbox", name);
		return request_irq(irq, exanet_mailbox_line_irq, 0,
				   vector->name, vector);
	}
	snprintf(vector->name, sizeof(vector->name), "%s-admin", name);
	return request_threaded_irq(irq, NULL, exanet_admin_line_thread,
				    IRQF_ONESHOT, vector->name, vector);
}

/* --- request and free ----------------------------------------------------- */

static void exanet_irq_free_some(struct exanet_device *xdev, unsigned int count)
{
	while (count--)
		free_irq(xdev->res.irq[count], &xdev->vectors[count]);
}

static unsigned int exanet_irq_count(const struct exanet_device *xdev)
{
	return xdev->res.wired ? EXANET_IRQ_LINES : EXANET_VECTORS;
}

int exanet_irq_request(struct exanet_device *xdev)
{
	struct exanet_vector *vector;
	unsigned int index;
	int ret;

	for (index = 0; index < exanet_irq_count(xdev); index++) {
		vector = &xdev->vectors[index];
		vector->xdev = xdev;
		vector->index = index;
		ret = xdev->res.wired ? exanet_request_line(xdev, vector) :
					exanet_request_vector(xdev, vector);
		if (ret) {
			exanet_irq_free_some(xdev, index);
			return ret;
		}
	}
	return 0;
}

void exanet_irq_free(struct exanet_device *xdev)
{
	exanet_irq_free_some(xdev, exanet_irq_count(xdev));
	exanet_link_cancel(xdev);
}
