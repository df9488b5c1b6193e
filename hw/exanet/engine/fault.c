/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet page faults: the FIFO of reports, and the table of pending faults, which wait
 * for the driver's answer.
 *
 * Several pending faults may have the same page, context, direction (@write) and side
 * (@dst).  The FIFO gets a report of the first of these faults only.  The table has all
 * these faults, and the driver's answer to one fault answers all faults with these
 * properties.
 */
#include "qemu/osdep.h"
#include "context.h"
#include "../exanet.h"
#include "fault.h"
#include "../base/irq.h"
#include "../base/regs.h"
#include "../trace.h"

/* Number of entries of the table of pending faults reserved for each enabled context. */
#define FAULTS_RESERVED 8

static bool fault_same_page(const ExanetPendingFault *a,
                            const ExanetPendingFault *b)
{
    return a->va == b->va && a->ctx == b->ctx && a->write == b->write &&
           a->dst == b->dst;
}

/* Returns true if @a and @b have the same TID, other node, unit, context and side. */
static bool fault_same_user(const ExanetPendingFault *a,
                            const ExanetPendingFault *b)
{
    return a->tid == b->tid && a->peer == b->peer && a->unit == b->unit &&
           a->ctx == b->ctx && a->dst == b->dst;
}

/* Returns true if the table has an unused entry that context @c may use. */
static bool fault_room(ExanetState *s, unsigned c)
{
    unsigned free = EXANET_FAULTS - s->fault.used;
    unsigned reserved = 0;

    if (s->ctx[c].faults < FAULTS_RESERVED) {
        return free;
    }
    for (unsigned i = 0; i < EXANET_CONTEXTS; i++) {
        if (s->ctx[i].enabled && s->ctx[i].faults < FAULTS_RESERVED) {
            reserved += FAULTS_RESERVED - s->ctx[i].faults;
        }
    }
    return free > reserved;
}

static void fault_overflow(ExanetState *s)
{
    exanet_reg_set32(s, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW, 1);
    exanet_irq_raise(s, EXANET_IRQ_FAULT_OVERFLOW);
}

/*
 * Adds a report of @f to the FIFO of reports, which must have room, and raises interrupt
 * cause FAULT.
 */
static void fault_push(ExanetState *s, const ExanetPendingFault *f,
                       uint32_t left)
{
    ExanetFaultUnit *unit = &s->fault;

    unit->fifo[rnic_fifo_push(&unit->reports, EXANET_FAULTS)] = (struct exanet_fault) {
        .va = f->va,
        .info = RNIC_PREP(EXANET_FAULT_CTX, f->ctx) |
                RNIC_PREP(EXANET_FAULT_WRITE, f->write) |
                RNIC_PREP(EXANET_FAULT_DST, f->dst) |
                RNIC_PREP(EXANET_FAULT_UNIT, f->unit) |
                RNIC_PREP(EXANET_FAULT_TID, f->tid) |
                RNIC_PREP(EXANET_FAULT_COORD, f->peer) |
                RNIC_PREP(EXANET_FAULT_SEQ, f->seq),
        .left = left,
        .time = s->time,
    };
    exanet_irq_raise(s, EXANET_IRQ_FAULT);
}

bool exanet_fault_report(ExanetState *s, const ExanetPendingFault *fault,
                         uint32_t left)
{
    ExanetFaultUnit *unit = &s->fault;
    ExanetContext *ctx = &s->ctx[fault->ctx];
    ExanetPendingFault f = *fault;
    ExanetPendingFault *slot = NULL;
    bool reported = false;

    f.va &= ~0ULL << EXANET_TLB_SHIFT;
    f.valid = true;
    trace_exanet_fault_report(s->node, f.ctx, f.va, f.write, f.dst, f.tid);
    if (ctx->no_report || !ctx->enabled || ctx->quiesce) {
        return false;
    }
    for (unsigned i = 0; i < EXANET_FAULTS; i++) {
        ExanetPendingFault *p = &unit->pending[i];

        if (!p->valid) {
            slot = slot ?: p;
        } else if (fault_same_page(p, &f)) {
            if (fault_same_user(p, &f)) {
                *p = f;
                return true;
            }
            reported = true;
        }
    }
    if (!slot || !fault_room(s, f.ctx) ||
        (!reported && unit->reports.count == EXANET_FAULTS)) {
        fault_overflow(s);
        return false;
    }
    *slot = f;
    unit->used++;
    ctx->faults++;
    if (!reported) {
        fault_push(s, &f, left);
    }
    return true;
}

static void fault_remove(ExanetState *s, ExanetPendingFault *p)
{
    p->valid = false;
    s->fault.used--;
    s->ctx[p->ctx].faults--;
}

/* Removes all pending faults of context @c from the table. */
static void fault_forget(ExanetState *s, unsigned c)
{
    /*
     * keeps the reports in the FIFO, because the driver may be reading the oldest report
     */
    for (unsigned i = 0; i < EXANET_FAULTS; i++) {
        ExanetPendingFault *p = &s->fault.pending[i];

        if (p->valid && p->ctx == c) {
            fault_remove(s, p);
        }
    }
}

/*
 * Passes the driver's answer to the unit that has reported @f.  @ok: the page is present
 * now.  No unit handles the answer to a fault of unit EXANET_FAULT_MESSAGE, because a
 * sender of messages or notifications does not wait for this answer.
 */
static void fault_answer(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
    for (const ExanetUnit *const *u = s->units; *u; u++) {
        if ((*u)->resolved && (*u)->resolved(s, f, ok)) {
            return;
        }
    }
}

/*
 * Removes all pending faults with the page, context, direction and side of @f, and passes
 * the answer to their units.
 */
static void fault_resolve_page(ExanetState *s, ExanetPendingFault f, bool ok)
{
    for (unsigned i = 0; i < EXANET_FAULTS; i++) {
        ExanetPendingFault *p = &s->fault.pending[i];

        if (p->valid && fault_same_page(p, &f)) {
            ExanetPendingFault waiter = *p;

            fault_remove(s, p);
            fault_answer(s, &waiter, ok);
        }
    }
}

/*
 * Executes a write of @word (fields EXANET_RESOLVE_*) to FAULT_RESOLVE.  Ignores the
 * answer if no pending fault has the TID, node, unit, context and side in @word.
 */
static void fault_resolve(ExanetState *s, uint64_t word)
{
    bool ok = word & EXANET_RESOLVE_OK;
    ExanetPendingFault key = {
        .ctx = RNIC_GET(EXANET_RESOLVE_CTX, word),
        .dst = RNIC_GET(EXANET_RESOLVE_DST, word),
        .tid = RNIC_GET(EXANET_RESOLVE_TID, word),
        .peer = RNIC_GET(EXANET_RESOLVE_COORD, word),
        .unit = RNIC_GET(EXANET_RESOLVE_UNIT, word),
    };

    trace_exanet_fault_resolve(s->node, key.ctx, key.dst, key.tid, ok);
    for (unsigned i = 0; i < EXANET_FAULTS; i++) {
        ExanetPendingFault *p = &s->fault.pending[i];

        if (p->valid && fault_same_user(p, &key)) {
            fault_resolve_page(s, *p, ok);
        }
    }
    exanet_schedule(s);
}

void exanet_fault_reg_sync(ExanetState *s)
{
    const ExanetFaultUnit *unit = &s->fault;
    struct exanet_fault head = { 0 };

    if (unit->reports.count) {
        head = unit->fifo[unit->reports.head];
    }
    exanet_reg_set32(s, EXANET_FAULT + EXANET_REG_FAULT_COUNT,
                     unit->reports.count);
    exanet_reg_set64(s, EXANET_FAULT + EXANET_REG_FAULT_VA, head.va);
    exanet_reg_set64(s, EXANET_FAULT + EXANET_REG_FAULT_INFO, head.info);
    exanet_reg_set64(s, EXANET_FAULT + EXANET_REG_FAULT_LEFT, head.left);
    exanet_reg_set64(s, EXANET_FAULT + EXANET_REG_FAULT_TIME, head.time);
}

void exanet_fault_reg_written(ExanetState *s, unsigned reg, bool top)
{
    ExanetFaultUnit *unit = &s->fault;
    uint64_t value;

    if (!top) {
        return;
    }
    value = exanet_reg_written64(s, EXANET_FAULT + reg);
    if (reg == EXANET_REG_FAULT_POP && (value & 1) && unit->reports.count) {
        rnic_fifo_pop(&unit->reports, EXANET_FAULTS);
    } else if (reg == EXANET_REG_FAULT_RESOLVE) {
        fault_resolve(s, value);
    }
}

const ExanetUnit exanet_fault_unit = {
    .quiesce = fault_forget,
};
