/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL register blocks: the table of blocks, with the functions that compute registers
 * before a load and handle stores.  The global block belongs to no unit, so this file
 * computes its registers and handles its stores.
 */
#include "qemu/osdep.h"
#include "bar.h"
#include "ports.h"
#include "selftest.h"
#include "velo/velo-regs.h"

/* --- Global registers ------------------------------------------------------- */

static void block_global_sync(void *opaque, unsigned unit, hwaddr addr)
{
    ExtollState *s = opaque;

    extoll_reg_set32(s, EXTOLL_REG_STATUS,
                     (s->velo.fifo.count ? 0 : EXTOLL_STATUS_IDLE) |
                     (extoll_ports_up(s) ? EXTOLL_STATUS_LINK : 0));
    extoll_reg_set64(s, EXTOLL_REG_TIME, rnic_now());
}

static void block_global_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    ExtollState *s = opaque;
    unsigned reg = addr - EXTOLL_GLOBAL;

    switch (reg) {
    case EXTOLL_REG_CTRL:
        if (extoll_reg_written32(s, reg) & EXTOLL_CTRL_RESET) {
            extoll_reset(s);
        } else {
            rnic_loop_schedule(&s->loop);   /* messages may wait for ENABLE */
        }
        break;
    case EXTOLL_REG_NODE:
        extoll_ports_restart(s);
        break;
    case EXTOLL_REG_TEST_IRQ:
        extoll_selftest_irq(s, extoll_reg_written32(s, reg));
        break;
    case EXTOLL_REG_TEST_OP:
        extoll_selftest_start(s, extoll_reg_written32(s, reg));
        break;
    }
}

/* --- Other blocks ----------------------------------------------------------- */

static void block_irq_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    extoll_irq_reg_written(opaque, unit, addr - EXTOLL_IRQ(unit));
}

static void block_counter_sync(void *opaque, unsigned unit, hwaddr addr)
{
    ExtollState *s = opaque;

    extoll_reg_set64(s, EXTOLL_COUNTER(unit), s->counter[unit]);
}

/* Clears the counter, also for a store to one half. */
static void block_counter_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    ExtollState *s = opaque;

    s->counter[unit] = 0;
}

/* --- The table --------------------------------------------------------------- */

static const RNicRegInfo global_regs[] = { EXTOLL_GLOBAL_REGS(RNIC_REG_INFO) };
static const RNicRegInfo irq_regs[] = { EXTOLL_IRQ_REGS(RNIC_REG_INFO) };
static const RNicRegInfo port_regs[] = { EXTOLL_PORT_REGS(RNIC_REG_INFO) };
static const RNicRegInfo velo_regs[] = { EXTOLL_VELO_REGS(RNIC_REG_INFO) };
static const RNicRegInfo route_regs[] = { EXTOLL_ROUTE_REGS(RNIC_REG_INFO) };
static const RNicRegInfo velo_vpid_regs[] = { EXTOLL_VELO_VPID_REGS(RNIC_REG_INFO) };
static const RNicRegInfo end_point_regs[] = { EXTOLL_END_POINT_REGS(RNIC_REG_INFO) };
static const RNicRegInfo rp_regs[] = { EXTOLL_RP_REGS(RNIC_REG_INFO) };
static const RNicRegInfo counter_regs[] = { { 0, 8, 0, 0, 0 } };

#define REGS(list) .regs = list, .count = ARRAY_SIZE(list)

const RNicRegBlock extoll_reg_blocks[] = {
    { EXTOLL_GLOBAL, 0, 1, REGS(global_regs),
      .sync = block_global_sync, .written = block_global_written },
    { EXTOLL_IRQ(0), EXTOLL_IRQ(1) - EXTOLL_IRQ(0), EXTOLL_VECTORS, REGS(irq_regs),
      .written = block_irq_written },
    { EXTOLL_PORT(0), EXTOLL_PORT(1) - EXTOLL_PORT(0), EXTOLL_LINKS, REGS(port_regs),
      .exists = extoll_port_reg_exists, .sync = extoll_port_reg_sync,
      .written = extoll_port_reg_written },
    { EXTOLL_VELO, 0, 1, REGS(velo_regs),
      .sync = extoll_velo_reg_sync, .written = extoll_velo_reg_written },
    { EXTOLL_VELO_ROUTE(0), 8, EXTOLL_NODES, REGS(route_regs) },
    { EXTOLL_VELO_VPID(0), EXTOLL_VELO_VPID(1) - EXTOLL_VELO_VPID(0), EXTOLL_VPIDS,
      REGS(velo_vpid_regs), .written = extoll_velo_vpid_reg_written },
    { EXTOLL_END_POINT(0), EXTOLL_END_POINT(1) - EXTOLL_END_POINT(0), EXTOLL_VPIDS,
      REGS(end_point_regs) },
    { EXTOLL_VELO_RP(0), EXTOLL_VELO_RP(1) - EXTOLL_VELO_RP(0), EXTOLL_VPIDS,
      REGS(rp_regs), .sync = extoll_velo_rp_sync, .written = extoll_velo_rp_written },
    { EXTOLL_COUNTER(0), 8, EXTOLL_COUNTER_COUNT, REGS(counter_regs),
      .sync = block_counter_sync, .written = block_counter_written },
    { 0 }
};
