/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet register blocks: the table of blocks, with the functions that compute registers
 * before a read and handle writes.  Most of these functions call a unit.  The global
 * block belongs to no unit, so this file computes its registers and handles its writes.
 */
#include "qemu/osdep.h"
#include "bar.h"
#include "engine/context.h"
#include "exanet.h"
#include "engine/fault.h"
#include "firmware/firmware.h"
#include "base/irq.h"
#include "../link/port.h"
#include "port-regs.h"
#include "ports.h"
#include "engine/receiver.h"
#include "base/regs.h"
#include "engine/rtmailbox.h"
#include "shm/shm.h"
#include "net/router-arith.h"
#include "net/router.h"
#include "trace.h"

#define UNIT_BYTES 0x80             /* bytes of a block of context or port registers */

/* --- Global registers --------------------------------------------------- */

/*
 * Returns true if the scheduler FIFO of ExaDMA is empty and no context has unfinished
 * work.
 */
static bool device_quiescent(ExanetState *s)
{
    if (s->exadma.scheduled.count) {
        return false;
    }
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        if (exanet_context_active(s, c)) {
            return false;
        }
    }
    return true;
}

static void global_reg_sync(ExanetState *s)
{
    uint32_t status = EXANET_STATUS_READY;

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        status |= p->up ? EXANET_STATUS_LINK : 0;
    }
    if (device_quiescent(s)) {
        status |= EXANET_STATUS_QUIESCENT;
    }
    exanet_reg_set32(s, EXANET_REG_STATUS, status);
    exanet_reg_set64(s, EXANET_REG_TIME, rnic_now());
}

static void global_reg_written(ExanetState *s, unsigned reg)
{
    uint32_t old_ctrl = s->regs.ctrl, old_mask = s->regs.irq_mask;
    uint32_t ctrl = exanet_reg_get32(s, EXANET_REG_CTRL);
    uint32_t mask = exanet_reg_get32(s, EXANET_REG_IRQ_MASK);

    exanet_irq_load(s);
    switch (reg) {
    case EXANET_REG_CTRL:
        if (exanet_reg_written64(s, EXANET_REG_CTRL) & EXANET_CTRL_RESET) {
            exanet_reset(s);
            return;
        }
        s->enabled = ctrl & EXANET_CTRL_ENABLE;
        s->strict = ctrl & EXANET_CTRL_STRICT;
        if (ctrl & ~old_ctrl & EXANET_CTRL_IRQ) {
            exanet_irq_unmasked(s, mask);
        }
        exanet_schedule(s);
        break;
    case EXANET_REG_IRQ_MASK:
        exanet_irq_unmasked(s, mask & ~old_mask);
        break;
    case EXANET_REG_MBOX_PENDING:
        if (exanet_reg_get32(s, EXANET_REG_MBOX_PENDING) == 0) {
            exanet_reg_set32(s, EXANET_REG_IRQ_CAUSE, ~EXANET_IRQ_MAILBOX &
                             exanet_reg_get32(s, EXANET_REG_IRQ_CAUSE));
        }
        break;
    case EXANET_REG_NODE:
        if (s->node != exanet_reg_get32(s, EXANET_REG_NODE)) {
            s->node = exanet_reg_get32(s, EXANET_REG_NODE);
            exanet_ports_update(s);
            /*
             * the receiver drops its state, because other nodes use other generations for
             * packets to the new coordinates
             */
            exanet_receiver_reset(s);
            exanet_router_configure(s);
        }
        for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
            rnic_port_restart(p);
        }
        break;
    }
}

/* --- Blocks of units ------------------------------------------------------ */

static void block_global_sync(void *s, unsigned unit, hwaddr addr)
{
    global_reg_sync(s);
}

static void block_global_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    global_reg_written(s, addr - EXANET_GLOBAL);
}

static void block_ctx_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_context_reg_sync(s, unit);
}

static void block_ctx_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_context_reg_written(s, unit, addr % UNIT_BYTES, top);
}

/* Returns false for a port without a netdev, which has no registers. */
static bool block_port_exists(void *opaque, unsigned unit)
{
    ExanetState *s = opaque;

    return rnic_port_exists(&s->port[unit]);
}

static void block_port_sync(void *opaque, unsigned unit, hwaddr addr)
{
    ExanetState *s = opaque;

    exanet_port_reg_sync(&s->port[unit]);
}

static void block_port_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    ExanetState *s = opaque;

    exanet_port_reg_written(&s->port[unit], addr % UNIT_BYTES, top);
}

static void block_switch_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_router_reg_sync(s);
}

static void block_switch_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_router_reg_written(s, addr - EXANET_SWITCH);
}

static void block_rtmbox_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_rtmailbox_reg_sync(s, addr - EXANET_RTMBOX);
}

static void block_rtmbox_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_rtmailbox_reg_written(s, addr - EXANET_RTMBOX, top);
}

static void block_fw_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_firmware_reg_sync(s);
}

static void block_fw_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_firmware_reg_written(s, addr - EXANET_FW, top);
}

static void block_fault_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_fault_reg_sync(s);
}

static void block_fault_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_fault_reg_written(s, addr - EXANET_FAULT, top);
}

static void block_shm_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_shm_reg_sync(s, addr - EXANET_SHM);
}

static void block_shm_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_shm_reg_written(s, addr - EXANET_SHM, top);
}

static void block_arith_sync(void *s, unsigned unit, hwaddr addr)
{
    exanet_arith_reg_sync(s);
}

static void block_arith_written(void *s, unsigned unit, hwaddr addr, bool top)
{
    exanet_arith_reg_written(s, addr - EXANET_SHM);
}

/* --- The table ---------------------------------------------------------------- */

static const RNicRegInfo global_regs[] = {
    EXANET_GLOBAL_REGS(RNIC_REG_INFO)
};
static const RNicRegInfo ctx_regs[] = { EXANET_CTX_REGS(RNIC_REG_INFO) };
static const RNicRegInfo port_regs[] = { EXANET_PORT_REGS(RNIC_REG_INFO) };
static const RNicRegInfo switch_regs[] = {
    EXANET_SWITCH_REGS(RNIC_REG_INFO)
};
static const RNicRegInfo rtmbox_regs[] = {
    EXANET_RTMBOX_REGS(RNIC_REG_INFO)
};
static const RNicRegInfo fw_regs[] = { EXANET_FW_REGS(RNIC_REG_INFO) };
static const RNicRegInfo fault_regs[] = { EXANET_FAULT_REGS(RNIC_REG_INFO) };
static const RNicRegInfo shm_regs[] = { EXANET_SHM_REGS(RNIC_REG_INFO) };
static const RNicRegInfo timer_regs[] = {
    EXANET_SHM_TIMER_REGS(RNIC_REG_INFO)
};
static const RNicRegInfo cam_regs[] = { EXANET_SHM_CAM_REGS(RNIC_REG_INFO) };
static const RNicRegInfo map_regs[] = { EXANET_SHM_MAP_REGS(RNIC_REG_INFO) };
static const RNicRegInfo tracker_regs[] = {
    EXANET_SHM_TRACKER_REGS(RNIC_REG_INFO)
};
static const RNicRegInfo arith_regs[] = { EXANET_ARITH_REGS(RNIC_REG_INFO) };
static const RNicRegInfo tgen_regs[] = { EXANET_TGEN_REGS(RNIC_REG_INFO) };
static const RNicRegInfo accel_regs[] = { EXANET_ACCEL_REGS(RNIC_REG_INFO) };
static const RNicRegInfo cdma_regs[] = { EXANET_CDMA_REGS(RNIC_REG_INFO) };
/* A word of the traffic generator's memories, which software can write. */
static const RNicRegInfo word_regs[] = { { 0, 8, 0, UINT64_MAX, 0 } };

#define REGS(list) .regs = list, .count = ARRAY_SIZE(list)
#define ACTS(unit) .sync = block_##unit##_sync, .written = block_##unit##_written

const RNicRegBlock exanet_reg_blocks[] = {
    { EXANET_GLOBAL, 0, 1, REGS(global_regs), ACTS(global) },
    { EXANET_CTX(0), UNIT_BYTES, EXANET_CONTEXTS, REGS(ctx_regs), ACTS(ctx) },
    { EXANET_PORT(0), UNIT_BYTES, EXANET_LINKS, REGS(port_regs), ACTS(port),
      .exists = block_port_exists },
    { EXANET_SWITCH, 0, 1, REGS(switch_regs), ACTS(switch) },
    { EXANET_RTMBOX, 0, 1, REGS(rtmbox_regs), ACTS(rtmbox) },
    { EXANET_FW, 0, 1, REGS(fw_regs), ACTS(fw) },
    { EXANET_FAULT, 0, 1, REGS(fault_regs), ACTS(fault) },
    { EXANET_SHM, 0, 1, REGS(shm_regs), ACTS(shm) },
    { EXANET_SHM_TIMER(0), 0x10, EXANET_SHM_TIMERS, REGS(timer_regs), ACTS(shm) },
    { EXANET_SHM_CAM(0), 0x20, 2 * EXANET_SHM_CAMS, REGS(cam_regs), ACTS(shm) },
    { EXANET_SHM_MAP(0), 0x20, EXANET_SHM_MAPS, REGS(map_regs), ACTS(shm) },
    { EXANET_SHM_TRACKER(0), 0x40, EXANET_CDMA_CHANNELS, REGS(tracker_regs),
      ACTS(shm) },
    { EXANET_SHM, 0, 1, REGS(arith_regs), ACTS(arith) },
    { EXANET_SHM, 0, 1, REGS(tgen_regs), ACTS(shm) },
    { EXANET_TGEN_TARGET(0), 8, EXANET_TGEN_TARGETS, REGS(word_regs), ACTS(shm) },
    { EXANET_TGEN_DATA(0), 8, EXANET_TGEN_WORDS, REGS(word_regs), ACTS(shm) },
    { EXANET_SHM, 0, 1, REGS(accel_regs), ACTS(shm) },
    { EXANET_CDMA(0), 0x1000, EXANET_CDMA_CHANNELS, REGS(cdma_regs), ACTS(shm) },
    { 0 }
};
