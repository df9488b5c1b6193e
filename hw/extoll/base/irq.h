/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL interrupts: three vectors, each with the registers CAUSE, MASK and CLEAR.
 */
#ifndef HW_EXTOLL_BASE_IRQ_H
#define HW_EXTOLL_BASE_IRQ_H

#include "rnic/extoll/regs.h"

typedef struct ExtollState ExtollState;

typedef struct ExtollIrq {
    /* CAUSE & MASK of each vector; a vector is sent when a bit becomes 1 here */
    uint32_t active[EXTOLL_VECTORS];
    uint32_t marked;                /* bit v: extoll_irq_flush() sends vector v */
} ExtollIrq;

/*
 * Sets the bits @causes in CAUSE of @vector (EXTOLL_VEC_*), and marks the vector if one
 * of these bits was clear and has mask 1.  The loop sends marked vectors when no unit is
 * at work any more.
 */
void extoll_irq_raise(ExtollState *s, unsigned vector, uint32_t causes);
/* Marks @vector, whatever its cause and its mask are. */
void extoll_irq_send(ExtollState *s, unsigned vector);
/* Acts on a write to register @reg (EXTOLL_REG_IRQ_*) of @vector. */
void extoll_irq_reg_written(ExtollState *s, unsigned vector, unsigned reg);
/* Forgets marked vectors.  The caller resets the registers. */
void extoll_irq_reset(ExtollState *s);
/*
 * Computes @s->irq.active from registers that were loaded from a snapshot.  Marks no
 * vector: the snapshot has those that the saved machine has not sent.
 */
void extoll_irq_resume(ExtollState *s);

/* RNicLoopOps.irq_due and RNicLoopOps.irq_flush; @opaque is the ExtollState. */
bool extoll_irq_due(void *opaque);
void extoll_irq_flush(void *opaque);

#endif /* HW_EXTOLL_BASE_IRQ_H */
