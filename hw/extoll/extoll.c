/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: properties, reset and life of the device.  The shell for the bus is
 * extoll-pci.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "../core/epoch.h"
#include "bar.h"
#include "extoll.h"
#include "qom.h"
#include "selftest.h"
#include "trace.h"

/*
 * Limits of a run of the loop.  The loop has no unit yet, and only runs the self-test,
 * sends interrupts and defers resets.
 */
#define RUN_ROUNDS 4
#define RUN_PACKETS 512

/* --- Loop ------------------------------------------------------------------ */

static bool units_run(void *opaque, unsigned *packets)
{
    extoll_selftest_run(opaque);
    return false;
}

static void units_reset(void *opaque)
{
    extoll_reset(opaque);
}

static void state_free(void *opaque)
{
}

static const RNicLoopOps loop_ops = {
    .round = units_run,
    .irq_due = extoll_irq_due,
    .irq_flush = extoll_irq_flush,
    .reset = units_reset,
    .free = state_free,
    .guard = true,
    .rounds = RUN_ROUNDS,
    .packets = RUN_PACKETS,
};

/* --- Reset ----------------------------------------------------------------- */

/*
 * Sets all registers to their values after a reset.  CAP has no function yet, so property
 * `strict` has nothing to remove.
 */
static void registers_reset(ExtollState *s)
{
    rnic_regs_reset(&s->regs.table);
    extoll_reg_set64(s, EXTOLL_REG_CAP,
                     RNIC_PREP(EXTOLL_CAP_LOG2_TLB, EXTOLL_CAP_NO_TLB));
    extoll_reg_set32(s, EXTOLL_REG_NODE, s->node);
    extoll_reg_set32(s, EXTOLL_REG_EPOCH, s->epoch);
}

void extoll_reset(ExtollState *s)
{
    if (!rnic_loop_reset_begin(&s->loop)) {
        return;
    }
    s->epoch = rnic_epoch_next(s->epoch, s->epoch_first);
    trace_extoll_reset(s->node, s->epoch);
    memset(s->counter, 0, sizeof(s->counter));
    extoll_irq_reset(s);
    extoll_selftest_reset(s);
    registers_reset(s);
    rnic_loop_reset_end(&s->loop);
}

/* --- Init and end ------------------------------------------------------------ */

bool extoll_init(ExtollState *s, const RNicHost *host, Error **errp)
{
    if (s->node >= EXTOLL_NODES) {
        error_setg(errp, "property 'node' must be less than %u", EXTOLL_NODES);
        return false;
    }
    s->host = *host;
    rnic_regs_init(&s->regs.table, extoll_reg_blocks, extoll_reg_at, s,
                   EXTOLL_FILE_BYTES);
    extoll_bar_init(s);
    rnic_loop_init(&s->loop, &loop_ops, s, host->dev);
    rnic_stats_add(&s->stats, host->dev, extoll_stats_foreach, s);
    return true;
}

void extoll_fini(ExtollState *s)
{
    rnic_stats_remove(&s->stats);
    rnic_loop_fini(&s->loop);
}
