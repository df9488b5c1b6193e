/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet interrupts: causes, vectors and the levels of wires.
 */
#ifndef HW_EXANET_BASE_IRQ_H
#define HW_EXANET_BASE_IRQ_H

typedef struct ExanetState ExanetState;

/*
 * Sets cause bits (EXANET_IRQ_).  The interrupts, if they are enabled, are sent at the
 * end of the MMIO write or of the work.  A caller that is in neither of them calls
 * exanet_schedule() too.
 */
void exanet_irq_raise(ExanetState *s, uint32_t cause);
/* Computes @s->irqs_enabled from CTRL and IRQ_MASK, after a reset or a write to them. */
void exanet_irq_load(ExanetState *s);
/* Sets MBOX_PENDING[@c] and raises the context's interrupt. */
void exanet_irq_context(ExanetState *s, unsigned c);
/* Sends the interrupts of pending causes among @newly, which are not masked any more. */
void exanet_irq_unmasked(ExanetState *s, uint32_t newly);
/* RNicLoopOps.irq_due; @opaque is the ExanetState. */
bool exanet_irq_due(void *opaque);
/*
 * RNicLoopOps.irq_flush: sends the interrupts.  @opaque is the ExanetState.  The caller
 * calls this function last, when no unit is at work, because the guest may aim a message
 * at a register that resets, moves or unplugs this very device.
 */
void exanet_irq_flush(void *opaque);

#endif /* HW_EXANET_BASE_IRQ_H */
