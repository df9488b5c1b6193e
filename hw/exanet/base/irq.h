/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts: causes, vectors and the levels of wires.
 */
#ifndef HW_EXANET_BASE_IRQ_H
#define HW_EXANET_BASE_IRQ_H

typedef struct ExanetState ExanetState;

/*
 * Sets the bits @cause (EXANET_IRQ_) of IRQ_CAUSE.  If a bit was clear and is enabled,
 * also marks the interrupt of this cause.  The loop sends marked interrupts when the
 * device is not at work any more.  A caller outside of MMIO and of the work calls
 * exanet_schedule() too.
 */
void exanet_irq_raise(ExanetState *s, uint32_t cause);
/*
 * Computes @s->irqs_enabled from CTRL and IRQ_MASK.  The caller calls this function after
 * each change of these registers.
 */
void exanet_irq_load(ExanetState *s);
/*
 * Sets bit @c of MBOX_PENDING, and cause MAILBOX.  If the bit was clear and the cause is
 * enabled, also marks the interrupt of context @c.
 */
void exanet_irq_context(ExanetState *s, unsigned c);
/*
 * Marks the interrupts of those causes in @newly that are pending and enabled.  @newly
 * are the causes that a write to CTRL or IRQ_MASK has enabled.
 */
void exanet_irq_unmasked(ExanetState *s, uint32_t newly);
/* RNicLoopOps.irq_due; @opaque is the ExanetState. */
bool exanet_irq_due(void *opaque);
/*
 * RNicLoopOps.irq_flush: sends the marked interrupts, or sets the wires.  @opaque is the
 * ExanetState.  The loop calls this function when no unit is at work, because the guest
 * may aim a message at a register that resets, moves or unplugs this very device.
 */
void exanet_irq_flush(void *opaque);

#endif /* HW_EXANET_BASE_IRQ_H */
