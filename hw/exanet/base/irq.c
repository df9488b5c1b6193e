/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: interrupts.  The functions that units call set causes in IRQ_CAUSE and mark
 * interrupt vectors.  exanet_irq_flush() sends the marked interrupts when no unit of this
 * device is at work any more.
 */
#include "qemu/osdep.h"
#include "../exanet.h"
#include "irq.h"
#include "regs.h"
#include "../trace.h"

void exanet_irq_load(ExanetState *s)
{
    s->irqs_enabled = exanet_reg_get32(s, EXANET_REG_CTRL) & EXANET_CTRL_IRQ ?
                      exanet_reg_get32(s, EXANET_REG_IRQ_MASK) : 0;
}

static bool irq_enabled(ExanetState *s, uint32_t cause)
{
    return s->irqs_enabled & cause;
}

static void irq_send(ExanetState *s, unsigned vector)
{
    s->vectors |= 1u << vector;
}

/*
 * Returns the level that interrupt wire @i must have.  For wire ADMIN, the level is true
 * if a cause other than MAILBOX is set and enabled.  For the other wire, the level is
 * true if cause MAILBOX is enabled and a bit of MBOX_PENDING is set.
 */
static bool irq_line(ExanetState *s, unsigned i)
{
    uint32_t cause = exanet_reg_get32(s, EXANET_REG_IRQ_CAUSE);

    return i == EXANET_LINE_ADMIN ?
           irq_enabled(s, cause & ~EXANET_IRQ_MAILBOX) :
           irq_enabled(s, EXANET_IRQ_MAILBOX) &&
           exanet_reg_get32(s, EXANET_REG_MBOX_PENDING);
}

/*
 * Sets the levels of the two wires.  Called only on a bus with wires instead of interrupt
 * messages.
 */
static void irq_lines(ExanetState *s)
{
    QEMU_BUILD_BUG_ON(EXANET_IRQ_LINES != 2);
    for (unsigned i = 0; i < EXANET_IRQ_LINES; i++) {
        bool level = irq_line(s, i);

        if (s->line[i] != level) {
            s->line[i] = level;
            trace_exanet_irq_line(s->node, i, level);
            s->host.line(s->host.opaque, i, level);
        }
    }
}

bool exanet_irq_due(void *opaque)
{
    ExanetState *s = opaque;

    if (!s->host.line) {
        return s->vectors;
    }
    for (unsigned i = 0; i < EXANET_IRQ_LINES; i++) {
        if (s->line[i] != irq_line(s, i)) {
            return true;
        }
    }
    return false;
}

void exanet_irq_flush(void *opaque)
{
    ExanetState *s = opaque;
    MemReentrancyGuard *guard = &s->host.dev->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;
    uint32_t vectors = s->vectors;

    s->vectors = 0;
    if (s->host.line) {
        irq_lines(s);
        return;
    }
    /*
     * makes QEMU refuse an interrupt message that is a store to a register of this device
     */
    guard->engaged_in_io = true;
    /* an interrupt message may unplug this device; s->loop.bh is NULL afterwards */
    for (; vectors && s->loop.bh; vectors &= vectors - 1) {
        trace_exanet_irq(s->node, ctz32(vectors));
        s->host.irq(s->host.opaque, ctz32(vectors));
    }
    guard->engaged_in_io = engaged;
}

/*
 * Marks vector FAULT if @cause has an enabled FAULT or FAULT_OVERFLOW.  Marks vector
 * ADMIN if @cause has any other enabled cause except MAILBOX.
 */
static void irq_deliver(ExanetState *s, uint32_t cause)
{
    const uint32_t fault = EXANET_IRQ_FAULT | EXANET_IRQ_FAULT_OVERFLOW;

    if (irq_enabled(s, cause & fault)) {
        irq_send(s, EXANET_VEC_FAULT);
    }
    if (irq_enabled(s, cause & ~fault & ~EXANET_IRQ_MAILBOX)) {
        irq_send(s, EXANET_VEC_ADMIN);
    }
}

void exanet_irq_raise(ExanetState *s, uint32_t cause)
{
    uint32_t old = exanet_reg_add_bits32(s, EXANET_REG_IRQ_CAUSE, cause);

    irq_deliver(s, cause & ~old);
}

void exanet_irq_context(ExanetState *s, unsigned c)
{
    uint32_t old = exanet_reg_add_bits32(s, EXANET_REG_MBOX_PENDING, 1u << c);

    exanet_reg_add_bits32(s, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_MAILBOX);
    if (!(old & 1u << c) && irq_enabled(s, EXANET_IRQ_MAILBOX)) {
        irq_send(s, EXANET_VEC_CONTEXT(c));
    }
}

void exanet_irq_unmasked(ExanetState *s, uint32_t newly)
{
    uint32_t pending = exanet_reg_get32(s, EXANET_REG_MBOX_PENDING);

    irq_deliver(s, newly & exanet_reg_get32(s, EXANET_REG_IRQ_CAUSE));
    if (!irq_enabled(s, newly & EXANET_IRQ_MAILBOX)) {
        return;
    }
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        if (pending & 1u << c) {
            irq_send(s, EXANET_VEC_CONTEXT(c));
        }
    }
}
