/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL interrupts; see irq.h. */
#include "qemu/osdep.h"
#include "../extoll.h"
#include "irq.h"
#include "regs.h"
#include "../trace.h"

static uint32_t irq_get(ExtollState *s, unsigned vector, unsigned reg)
{
    return extoll_reg_get32(s, EXTOLL_IRQ(vector) + reg);
}

/* Computes @s->irq.active of @vector; returns the bits that have become 1. */
static uint32_t irq_update(ExtollState *s, unsigned vector)
{
    uint32_t old = s->irq.active[vector];

    s->irq.active[vector] = irq_get(s, vector, EXTOLL_REG_IRQ_CAUSE) &
                            irq_get(s, vector, EXTOLL_REG_IRQ_MASK);
    return s->irq.active[vector] & ~old;
}

void extoll_irq_send(ExtollState *s, unsigned vector)
{
    s->irq.marked |= 1u << vector;
}

static void irq_cause_set(ExtollState *s, unsigned vector, uint32_t causes)
{
    extoll_reg_set32(s, EXTOLL_IRQ(vector) + EXTOLL_REG_IRQ_CAUSE, causes);
    if (irq_update(s, vector)) {
        extoll_irq_send(s, vector);
    }
}

void extoll_irq_raise(ExtollState *s, unsigned vector, uint32_t causes)
{
    irq_cause_set(s, vector, irq_get(s, vector, EXTOLL_REG_IRQ_CAUSE) | causes);
}

void extoll_irq_reg_written(ExtollState *s, unsigned vector, unsigned reg)
{
    uint32_t causes = irq_get(s, vector, EXTOLL_REG_IRQ_CAUSE);

    if (reg == EXTOLL_REG_IRQ_CLEAR) {
        causes &= ~extoll_reg_written32(s, EXTOLL_IRQ(vector) + reg);
    }
    irq_cause_set(s, vector, causes);
}

void extoll_irq_reset(ExtollState *s)
{
    s->irq = (ExtollIrq) { 0 };
}

void extoll_irq_resume(ExtollState *s)
{
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        irq_update(s, v);
    }
}

bool extoll_irq_due(void *opaque)
{
    ExtollState *s = opaque;

    return s->irq.marked;
}

void extoll_irq_flush(void *opaque)
{
    ExtollState *s = opaque;
    MemReentrancyGuard *guard = &s->host.dev->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    /*
     * makes QEMU refuse a message that is a store to a register of this device; such a
     * store could mark the next vector without end
     */
    guard->engaged_in_io = true;
    /* a message may unplug this device; s->loop.bh is NULL afterwards */
    while (s->irq.marked && s->loop.bh) {
        unsigned vector = ctz32(s->irq.marked);

        s->irq.marked &= ~(1u << vector);
        trace_extoll_irq(s->node, vector);
        s->host.irq(s->host.opaque, vector);
    }
    guard->engaged_in_io = engaged;
}
