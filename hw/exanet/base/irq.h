/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts: causes, vectors and the levels of wires.
 */
#ifndef HW_EXANET_BASE_IRQ_H
#define HW_EXANET_BASE_IRQ_H

typedef struct ExanetState ExanetState;

/*
 * Sets @cause (bits EXANET_IRQ_*, except MAILBOX) in IRQ_CAUSE.  For each of these bits
 * that was clear and is enabled, also marks the interrupt.  The loop sends marked
 * interrupts when no unit is at work any more.  A caller outside the loop and outside
 * MMIO handlers must also call exanet_schedule(), because only the loop sends interrupts.
 */
void exanet_irq_raise(ExanetState *s, uint32_t cause);
/*
 * Computes @s->irqs_enabled from CTRL and IRQ_MASK.  Must be called after each change of
 * these registers.
 */
void exanet_irq_load(ExanetState *s);
/*
 * Sets bit @c of MBOX_PENDING, and cause MAILBOX of IRQ_CAUSE.  If bit @c was clear and
 * MAILBOX is enabled, also marks the interrupt of context @c.
 */
void exanet_irq_context(ExanetState *s, unsigned c);
/*
 * Marks the interrupt of each cause in @newly that is set in IRQ_CAUSE and enabled.  For
 * cause MAILBOX, marks instead the interrupt of each context whose bit in MBOX_PENDING is
 * set.  @newly has all causes that a write to CTRL or IRQ_MASK has just enabled.
 */
void exanet_irq_unmasked(ExanetState *s, uint32_t newly);
/*
 * RNicLoopOps.irq_due: returns true if exanet_irq_flush() has work: an interrupt is
 * marked or, on a bus without interrupt messages, a wire does not have the level that the
 * registers require.  @opaque is the ExanetState.
 */
bool exanet_irq_due(void *opaque);
/*
 * RNicLoopOps.irq_flush: sends the marked interrupts or, on a bus without interrupt
 * messages, sets the levels of the wires.  @opaque is the ExanetState.  The loop calls
 * this function when no unit is at work, because the guest may direct an interrupt
 * message to a register that resets, moves or unplugs this device.
 */
void exanet_irq_flush(void *opaque);

#endif /* HW_EXANET_BASE_IRQ_H */
