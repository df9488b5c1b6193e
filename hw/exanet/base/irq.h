/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts: causes, vectors and the levels of wires.
 */
#ifndef HW_EXANET_BASE_IRQ_H
#define HW_EXANET_BASE_IRQ_H

typedef struct ExanetState ExanetState;

/*
 * Sets the bits @cause (EXANET_IRQ_, except MAILBOX) of IRQ_CAUSE.  If a bit was clear
 * and is enabled, also marks the interrupt of this cause.  The loop sends marked
 * interrupts when the device is not at work any more.  The caller is work of the loop or
 * an MMIO handler, or calls exanet_schedule() too.
 */
void exanet_irq_raise(ExanetState *s, uint32_t cause);
/*
 * Computes @s->irqs_enabled from CTRL and IRQ_MASK.  The caller calls this function after
 * each change of these registers.
 */
void exanet_irq_load(ExanetState *s);
/*
 * Sets bit @c of MBOX_PENDING, and cause MAILBOX of IRQ_CAUSE.  If bit @c was clear and
 * MAILBOX is enabled, also marks the interrupt of context @c.
 */
void exanet_irq_context(ExanetState *s, unsigned c);
/*
 * Marks the interrupts of those causes in @newly that are set in IRQ_CAUSE and enabled;
 * for MAILBOX the interrupts of the contexts in MBOX_PENDING.  @newly are the causes that
 * a write to CTRL or IRQ_MASK has enabled.
 */
void exanet_irq_unmasked(ExanetState *s, uint32_t newly);
/*
 * RNicLoopOps.irq_due: returns true if a marked interrupt waits, or if a wire does not
 * have the right level.  @opaque is the ExanetState.
 */
bool exanet_irq_due(void *opaque);
/*
 * RNicLoopOps.irq_flush: sends the marked interrupts or, on a bus with wires, sets the
 * levels of the wires.  @opaque is the ExanetState.  The loop calls this function when no
 * unit is at work, because the guest may aim a message at a register that resets, moves
 * or unplugs this very device.
 */
void exanet_irq_flush(void *opaque);

#endif /* HW_EXANET_BASE_IRQ_H */
