/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: properties, reset and life of the device.  The shell for the bus is
 * extoll-pci.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "../core/epoch.h"
#include "../link/inject.h"
#include "base/control.h"
#include "bar.h"
#include "extoll.h"
#include "ports.h"
#include "qom.h"
#include "selftest.h"
#include "trace.h"
#include "velo/window.h"

#define RUN_ROUNDS 4        /* maximal number of rounds of a run of the loop */
#define RUN_PACKETS 512     /* maximal number of packets that a run moves */

/* --- Loop ------------------------------------------------------------------ */

/* A stopped machine must not change, because its state may have been saved. */
static bool units_allowed(void *opaque)
{
    return runstate_is_running();
}

/* Does what the loop has not done while the machine was stopped. */
static void machine_changed(void *opaque, bool running, RunState state)
{
    ExtollState *s = opaque;

    if (running) {
        rnic_loop_schedule(&s->loop);
    }
}

static bool units_run(void *opaque, unsigned *packets)
{
    ExtollState *s = opaque;
    bool more = extoll_ports_receive(s);

    extoll_selftest_run(s);
    more |= extoll_crossbar_run(s, packets);
    extoll_ports_send(s);
    return more;
}

static void units_end(void *opaque)
{
    extoll_ports_flush(opaque);
}

static void units_reset(void *opaque)
{
    extoll_reset(opaque);
}

static void state_free(void *opaque)
{
    extoll_ports_fini(opaque);
}

static const RNicLoopOps loop_ops = {
    .allowed = units_allowed,
    .end = units_end,
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
 * Sets all registers to their values after a reset.  Property `strict` removes the
 * functions beyond the document.
 */
static void registers_reset(ExtollState *s)
{
    rnic_regs_reset(&s->regs.table);
    extoll_reg_set64(s, EXTOLL_REG_CAP,
                     (s->strict ? 0 : EXTOLL_CAP_PROT | EXTOLL_CAP_TXIO) |
                     RNIC_PREP(EXTOLL_CAP_LINKS, s->ports.count) |
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
    extoll_velo_requester_reset(s);
    extoll_mailbox_reset(s);
    extoll_crossbar_reset(s);
    extoll_ports_reset(s);
    rnic_loop_reset_end(&s->loop);
}

/* --- Init and end ------------------------------------------------------------ */

static bool properties_check(const ExtollState *s, Error **errp)
{
    if (s->node >= EXTOLL_NODES) {
        error_setg(errp, "property 'node' must be less than %u", EXTOLL_NODES);
        return false;
    }
    if (!extoll_room_valid(s->rx_flits)) {
        error_setg(errp, "property 'rx-flits' must be %u to %u", EXTOLL_ROOM_MIN,
                   EXTOLL_ROOM_MAX);
        return false;
    }
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        if (!rnic_port_conf_valid(&s->port[i], i, "node", s->node, EXTOLL_NODES - 1,
                                  errp)) {
            return false;
        }
    }
    return true;
}

bool extoll_init(ExtollState *s, const RNicHost *host, Error **errp)
{
    if (!properties_check(s, errp)) {
        return false;
    }
    s->host = *host;
    rnic_regs_init(&s->regs.table, extoll_reg_blocks, extoll_reg_at, s,
                   EXTOLL_FILE_BYTES);
    extoll_bar_init(s);
    extoll_velo_window_init(s);
    extoll_velo_requester_init(s);
    rnic_loop_init(&s->loop, &loop_ops, s, host->dev);
    extoll_ports_init(s);
    s->vm_state = qemu_add_vm_change_state_handler(machine_changed, s);
    rnic_stats_add(&s->stats, host->dev, extoll_stats_foreach, s);
    return true;
}

void extoll_fini(ExtollState *s)
{
    rnic_stats_remove(&s->stats);
    qemu_del_vm_change_state_handler(s->vm_state);
    rnic_loop_fini(&s->loop);
}

void extoll_instance_fini(ExtollState *s)
{
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        rnic_inject_fini(&s->port[i]);
    }
    if (s->host.dev) {
        extoll_velo_requester_fini(s);
    }
}
