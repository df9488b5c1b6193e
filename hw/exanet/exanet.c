/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: register file, user pages, and the bottom half that runs the units.
 * Bus-neutral; see exanet-pci.c for the shell.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "../core/vcpu.h"
#include "cdma.h"
#include "context.h"
#include "crossbar.h"
#include "exadma.h"
#include "exanet.h"
#include "fault.h"
#include "firmware.h"
#include "flow.h"
#include "irq.h"
#include "mailbox.h"
#include "packetizer.h"
#include "port.h"
#include "receiver.h"
#include "route.h"
#include "rtmailbox.h"
#include "shm-initiator.h"
#include "shm-internal.h"
#include "shm-timing.h"
#include "shm.h"
#include "sinks.h"
#include "stats.h"
#include "switch-arith.h"
#include "switch.h"
#include "../trace.h"

/* Rounds of all units, and packets of each, before the main loop gets a turn. */
#define RUN_ROUNDS 4
#define RUN_PACKETS 512
/* What a doorbell may do while its vCPU waits. */
#define DOORBELL_ROUNDS 2
#define DOORBELL_PACKETS 16

#define EPOCH_STEP_NS (500LL * SCALE_MS)

#define TLB_ENTRIES_MIN 16
#define TLB_ENTRIES_MAX 65536
#define RX_FIFO_WORDS_MAX 0xffff        /* what PORT_LEVEL and PORT_XOFF can say */

enum {
    LANE_NONE,      /* no register */
    LANE_WHOLE,     /* a 4-byte register */
    LANE_LOW,       /* halves of an 8-byte register */
    LANE_TOP,
};

/* --- Register file ------------------------------------------------------ */

typedef struct ExanetRegInfo {
    uint16_t offset;
    uint8_t bytes;
    uint64_t reset;
    uint64_t writable;
    uint64_t w1c;
} ExanetRegInfo;

#define REG_INFO(name, offset, bytes, reset, writable, w1c) \
    { offset, bytes, reset, writable, w1c },

static const ExanetRegInfo global_regs[] = { EXANET_GLOBAL_REGS(REG_INFO) };
static const ExanetRegInfo ctx_regs[] = { EXANET_CTX_REGS(REG_INFO) };
static const ExanetRegInfo port_regs[] = { EXANET_PORT_REGS(REG_INFO) };
static const ExanetRegInfo switch_regs[] = { EXANET_SWITCH_REGS(REG_INFO) };
static const ExanetRegInfo rtmbox_regs[] = { EXANET_RTMBOX_REGS(REG_INFO) };
static const ExanetRegInfo fw_regs[] = { EXANET_FW_REGS(REG_INFO) };
static const ExanetRegInfo fault_regs[] = { EXANET_FAULT_REGS(REG_INFO) };
static const ExanetRegInfo shm_regs[] = { EXANET_SHM_REGS(REG_INFO) };
static const ExanetRegInfo timer_regs[] = { EXANET_SHM_TIMER_REGS(REG_INFO) };
static const ExanetRegInfo cam_regs[] = { EXANET_SHM_CAM_REGS(REG_INFO) };
static const ExanetRegInfo map_regs[] = { EXANET_SHM_MAP_REGS(REG_INFO) };
static const ExanetRegInfo tracker_regs[] = {
    EXANET_SHM_TRACKER_REGS(REG_INFO)
};
static const ExanetRegInfo arith_regs[] = { EXANET_ARITH_REGS(REG_INFO) };
static const ExanetRegInfo tgen_regs[] = { EXANET_TGEN_REGS(REG_INFO) };
static const ExanetRegInfo accel_regs[] = { EXANET_ACCEL_REGS(REG_INFO) };
static const ExanetRegInfo cdma_regs[] = { EXANET_CDMA_REGS(REG_INFO) };

#define FILE_NONE UINT_MAX

/* Where in the register file the offset @addr of BAR 0 is; FILE_NONE: nowhere. */
static unsigned file_at(hwaddr addr)
{
    if (addr < EXANET_FILE_LOW) {
        return addr;
    }
    if (addr >= EXANET_SHM && addr < EXANET_SHM + EXANET_SHM_BYTES) {
        return EXANET_FILE_LOW + (addr - EXANET_SHM);
    }
    if (addr >= EXANET_CDMA(0) && addr < EXANET_CDMA(EXANET_CDMA_CHANNELS) &&
        (addr & 0xfff) < EXANET_FILE_CDMA_BYTES) {
        return EXANET_FILE_LOW + EXANET_SHM_BYTES + (addr & 0xfff) +
               (addr - EXANET_CDMA(0)) / 0x1000 * EXANET_FILE_CDMA_BYTES;
    }
    return FILE_NONE;
}

uint32_t exanet_reg_get32(ExanetState *s, unsigned offset)
{
    return ldl_le_p(s->val + file_at(offset));
}

uint64_t exanet_reg_get64(ExanetState *s, unsigned offset)
{
    return ldq_le_p(s->val + file_at(offset));
}

void exanet_reg_set32(ExanetState *s, unsigned offset, uint32_t value)
{
    stl_le_p(s->val + file_at(offset), value);
}

void exanet_reg_set64(ExanetState *s, unsigned offset, uint64_t value)
{
    stq_le_p(s->val + file_at(offset), value);
}

uint64_t exanet_reg_written64(ExanetState *s, unsigned offset)
{
    return ldq_le_p(s->wr + file_at(offset));
}

static void file_add(ExanetState *s, unsigned base, const ExanetRegInfo *regs,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned at = file_at(base + regs[i].offset);
        bool wide = regs[i].bytes == 8;

        stn_le_p(s->val + at, regs[i].bytes, regs[i].reset);
        stn_le_p(s->writable + at, regs[i].bytes, regs[i].writable);
        stn_le_p(s->w1c + at, regs[i].bytes, regs[i].w1c);
        s->lane[at / 4] = wide ? LANE_LOW : LANE_WHOLE;
        if (wide) {
            s->lane[at / 4 + 1] = LANE_TOP;
        }
    }
}

/* The 64-bit words of a memory of the traffic generator. */
static void file_add_words(ExanetState *s, unsigned base, unsigned count)
{
    static const ExanetRegInfo word = { 0, 8, 0, UINT64_MAX, 0 };

    for (unsigned i = 0; i < count; i++) {
        file_add(s, base + 8 * i, &word, 1);
    }
}

static void file_reset_shm(ExanetState *s)
{
    file_add(s, EXANET_SHM, shm_regs, ARRAY_SIZE(shm_regs));
    file_add(s, EXANET_SHM, arith_regs, ARRAY_SIZE(arith_regs));
    file_add(s, EXANET_SHM, tgen_regs, ARRAY_SIZE(tgen_regs));
    file_add(s, EXANET_SHM, accel_regs, ARRAY_SIZE(accel_regs));
    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        file_add(s, EXANET_SHM_TIMER(i), timer_regs, ARRAY_SIZE(timer_regs));
    }
    for (unsigned i = 0; i < 2 * EXANET_SHM_CAMS; i++) {
        file_add(s, EXANET_SHM_CAM(i), cam_regs, ARRAY_SIZE(cam_regs));
    }
    for (unsigned i = 0; i < EXANET_SHM_MAPS; i++) {
        file_add(s, EXANET_SHM_MAP(i), map_regs, ARRAY_SIZE(map_regs));
    }
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        file_add(s, EXANET_SHM_TRACKER(i), tracker_regs,
                 ARRAY_SIZE(tracker_regs));
        file_add(s, EXANET_CDMA(i), cdma_regs, ARRAY_SIZE(cdma_regs));
    }
    file_add_words(s, EXANET_TGEN_TARGET(0), EXANET_TGEN_TARGETS);
    file_add_words(s, EXANET_TGEN_DATA(0), EXANET_TGEN_WORDS);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_SHM_APERTURE, s->aperture_size);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_SHM_BRAM, s->bram_size);
}

static void file_reset(ExanetState *s)
{
    memset(s->val, 0, sizeof(s->val));
    memset(s->wr, 0, sizeof(s->wr));
    file_add(s, EXANET_GLOBAL, global_regs, ARRAY_SIZE(global_regs));
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        file_add(s, EXANET_CTX(c), ctx_regs, ARRAY_SIZE(ctx_regs));
        exanet_reg_set32(s, EXANET_CTX(c) + EXANET_REG_CTX_PDID, c);
    }
    for (unsigned p = 0; p < s->links; p++) {
        if (exanet_port_exists(&s->port[p])) {
            file_add(s, EXANET_PORT(p), port_regs, ARRAY_SIZE(port_regs));
        }
    }
    file_add(s, EXANET_SWITCH, switch_regs, ARRAY_SIZE(switch_regs));
    file_add(s, EXANET_RTMBOX, rtmbox_regs, ARRAY_SIZE(rtmbox_regs));
    file_add(s, EXANET_FW, fw_regs, ARRAY_SIZE(fw_regs));
    file_add(s, EXANET_FAULT, fault_regs, ARRAY_SIZE(fault_regs));
    file_reset_shm(s);

    exanet_reg_set32(s, EXANET_REG_CAP0,
        RNIC_PREP(EXANET_CAP0_CONTEXTS, EXANET_CONTEXTS) |
        RNIC_PREP(EXANET_CAP0_OUTPUTS, EXANET_OUTPUTS) |
        RNIC_PREP(EXANET_CAP0_PORTS, s->links) |
        RNIC_PREP(EXANET_CAP0_LOG2_TIDS, ctz32(EXANET_TIDS)) |
        RNIC_PREP(EXANET_CAP0_LOG2_RX, ctz32(EXANET_RX_CONTEXTS)) |
        RNIC_PREP(EXANET_CAP0_LOG2_WAYS, ctz32(s->receiver.ways)) |
        RNIC_PREP(EXANET_CAP0_PAGE_SHIFT, s->user_page_shift));
    exanet_reg_set32(s, EXANET_REG_CAP1,
        EXANET_CAP1_WINDOWS | EXANET_CAP1_DUP_SAFE | EXANET_CAP1_MULTIPATH |
        EXANET_CAP1_RELEASE | EXANET_CAP1_FLOW_RATE | EXANET_CAP1_FIRMWARE |
        EXANET_CAP1_JOB_LOCAL | EXANET_CAP1_POLL |
        EXANET_CAP1_APERTURE | (s->shm_timing ? EXANET_CAP1_TIMING : 0));
    exanet_reg_set32(s, EXANET_REG_NODE, s->coord);
    exanet_reg_set32(s, EXANET_REG_EPOCH, s->epoch);
}

int64_t exanet_now(ExanetState *s)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* --- Global registers --------------------------------------------------- */

static bool device_quiescent(ExanetState *s)
{
    if (s->exadma.fifo_count || !exanet_shm_quiescent(s)) {
        return false;
    }
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        if (exanet_firmware_active(s, c) || exanet_packetizer_active(s, c)) {
            return false;
        }
    }
    return true;
}

static void global_reg_sync(ExanetState *s)
{
    uint32_t status = EXANET_STATUS_READY;

    for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
        status |= p->up ? EXANET_STATUS_LINK : 0;
    }
    if (device_quiescent(s)) {
        status |= EXANET_STATUS_QUIESCENT;
    }
    exanet_reg_set32(s, EXANET_REG_STATUS, status);
    exanet_reg_set64(s, EXANET_REG_TIME, exanet_now(s));
}

static void global_reg_written(ExanetState *s, unsigned reg,
                               uint32_t old_ctrl, uint32_t old_mask)
{
    uint32_t ctrl = exanet_reg_get32(s, EXANET_REG_CTRL);
    uint32_t mask = exanet_reg_get32(s, EXANET_REG_IRQ_MASK);

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
            /* peers count their generations for each node anew */
            exanet_receiver_reset(s);
            exanet_switch_configure(s);
        }
        for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
            exanet_port_restart(p);
        }
        break;
    }
}

/* --- Access to the register file ---------------------------------------- */

/* Index of the 0x80-byte unit at @addr of a block of such. */
static unsigned file_unit(hwaddr addr)
{
    return (addr & 0xfff) / 0x80;
}

/* A port without a netdev has no registers. */
static ExanetPort *file_port(ExanetState *s, hwaddr addr)
{
    unsigned i = file_unit(addr);

    return i < s->links && exanet_port_exists(&s->port[i]) ? &s->port[i] : NULL;
}

static void file_sync(ExanetState *s, hwaddr addr)
{
    unsigned reg = addr & 0xfff;

    switch (addr & ~0xfffULL) {
    case EXANET_GLOBAL:
        global_reg_sync(s);
        break;
    case EXANET_CTX(0):
        if (file_unit(addr) < EXANET_CONTEXTS) {
            exanet_context_reg_sync(s, file_unit(addr));
        }
        break;
    case EXANET_PORT(0):
        if (file_port(s, addr)) {
            exanet_port_reg_sync(file_port(s, addr));
        }
        break;
    case EXANET_SWITCH:
        exanet_switch_reg_sync(s);
        break;
    case EXANET_RTMBOX:
        exanet_rtmailbox_reg_sync(s, reg);
        break;
    case EXANET_FW:
        exanet_firmware_reg_sync(s);
        break;
    case EXANET_FAULT:
        exanet_fault_reg_sync(s);
        break;
    case EXANET_SHM:
        exanet_shm_reg_sync(s, reg);
        break;
    case EXANET_CDMA(0) ... EXANET_CDMA(EXANET_CDMA_CHANNELS) - 1:
        exanet_cdma_reg_sync(s, (addr - EXANET_CDMA(0)) / 0x1000);
        break;
    }
}

static uint64_t file_read(ExanetState *s, hwaddr addr, unsigned size)
{
    unsigned at = file_at(addr);

    file_sync(s, addr);
    if (size == 8 && s->lane[at / 4] == LANE_WHOLE) {
        file_sync(s, addr + 4);
    }
    return ldn_le_p(s->val + at, size);
}

static void file_written(ExanetState *s, hwaddr addr, bool top,
                         uint32_t old_ctrl, uint32_t old_mask)
{
    unsigned reg = addr & 0xfff;

    switch (addr & ~0xfffULL) {
    case EXANET_GLOBAL:
        global_reg_written(s, reg, old_ctrl, old_mask);
        break;
    case EXANET_CTX(0):
        exanet_context_reg_written(s, file_unit(addr), reg % 0x80, top);
        break;
    case EXANET_PORT(0):
        exanet_port_reg_written(&s->port[file_unit(addr)], reg % 0x80, top);
        break;
    case EXANET_SWITCH:
        exanet_switch_reg_written(s, reg);
        break;
    case EXANET_RTMBOX:
        exanet_rtmailbox_reg_written(s, reg, top);
        break;
    case EXANET_FW:
        exanet_firmware_reg_written(s, reg, top);
        break;
    case EXANET_FAULT:
        exanet_fault_reg_written(s, reg, top);
        break;
    case EXANET_SHM:
        exanet_shm_reg_written(s, reg, top);
        break;
    case EXANET_CDMA(0) ... EXANET_CDMA(EXANET_CDMA_CHANNELS) - 1:
        exanet_cdma_reg_written(s, (addr - EXANET_CDMA(0)) / 0x1000, reg, top);
        break;
    }
}

static void file_write(ExanetState *s, hwaddr addr, uint64_t value,
                       unsigned size)
{
    uint32_t old_ctrl = exanet_reg_get32(s, EXANET_REG_CTRL);
    uint32_t old_mask = exanet_reg_get32(s, EXANET_REG_IRQ_MASK);
    unsigned file = file_at(addr);
    uint64_t old = ldn_le_p(s->val + file, size);
    uint64_t writable = ldn_le_p(s->writable + file, size);
    uint64_t w1c = ldn_le_p(s->w1c + file, size);

    stn_le_p(s->wr + file, size, value);
    stn_le_p(s->val + file, size,
             ((old & ~writable) | (value & writable)) & ~(value & w1c));

    for (hwaddr at = addr; at < addr + size; at += 4) {
        switch (s->lane[file_at(at) / 4]) {
        case LANE_WHOLE:
            file_written(s, at, true, old_ctrl, old_mask);
            break;
        case LANE_LOW:
            if (size == 4) {
                file_written(s, at, false, old_ctrl, old_mask);
            }
            break;
        case LANE_TOP:
            file_written(s, at - 4, true, old_ctrl, old_mask);
            break;
        case LANE_NONE:
            qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to no register: "
                          "0x%" HWADDR_PRIx "\n", at);
            break;
        }
    }
}

/* --- Work --------------------------------------------------------------- */

void exanet_schedule(ExanetState *s)
{
    if (s->running) {
        s->pending = true;
    } else if (s->bh) {
        s->due = true;
        qemu_bh_schedule(s->bh);
        exanet_timing_schedule(s);
    }
}

bool exanet_enter(ExanetState *s)
{
    MemReentrancyGuard *guard = &s->host.dev->mem_reentrancy_guard;

    if (s->running) {
        return false;
    }
    s->running = true;
    /* sets the guard as a bottom half does, because the caller may be no bottom half */
    s->engaged = guard->engaged_in_io;
    guard->engaged_in_io = true;
    return true;
}

/*
 * Ends the work that exanet_enter() began, without interrupts, and leaves pending work
 * to the bottom half.
 */
static void work_end(ExanetState *s)
{
    s->running = false;
    s->host.dev->mem_reentrancy_guard.engaged_in_io = s->engaged;
    if (s->reset_wanted) {
        exanet_reset(s);
    }
    if (s->pending) {
        s->pending = false;
        exanet_schedule(s);
    }
}

/* One turn of each unit, at most @packets of the ExaDMA; true if there is more. */
static bool units_run(ExanetState *s, unsigned packets)
{
    bool more = false;

    s->time = exanet_now(s);
    s->sw.round++;
    for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
        more |= exanet_port_rx_run(p);
    }
    if (s->enabled) {
        more |= exanet_firmware_run(s);
        more |= exanet_packetizer_run(s);
        more |= exanet_shm_run(s);
        more |= exanet_exadma_run(s, packets);
    }
    return more;
}

/*
 * Runs the units.  The caller has called exanet_enter(); the remaining work stays
 * pending.
 */
static void exanet_work(ExanetState *s, unsigned rounds, unsigned packets)
{
    bool more = true;

    s->due = false;
    while (more && rounds--) {
        s->pending = false;
        more = units_run(s, packets);
        more |= s->pending;
    }
    s->pending = false;
    exanet_crossbar_flush(s);
    /* a netdev may have called us back */
    s->pending |= more;
}

void exanet_leave(ExanetState *s, bool entered)
{
    if (!entered) {
        return;
    }
    if (s->pending) {
        exanet_work(s, RUN_ROUNDS, RUN_PACKETS);
    }
    work_end(s);
    if (s->bh && exanet_irq_due(s)) {
        qemu_bh_schedule(s->bh);
    }
}

static void exanet_bh(void *opaque)
{
    ExanetState *s = opaque;

    if (!exanet_enter(s)) {
        s->pending = true;
        return;
    }
    exanet_work(s, RUN_ROUNDS, RUN_PACKETS);
    work_end(s);
    exanet_irq_flush(s);
}

void exanet_run_now(ExanetState *s)
{
    bool entered = exanet_enter(s);

    s->pending = true;
    exanet_leave(s, entered);
}

/* --- User pages --------------------------------------------------------- */

uint8_t *exanet_user_page(ExanetState *s, unsigned c, unsigned page)
{
    return s->user +
           ((uint64_t)(c * EXANET_USER_PAGES + page) << s->user_page_shift);
}

/* Handles a store to a user page, and does some of the requested work. */
static void user_write(ExanetState *s, unsigned c, unsigned page, hwaddr addr,
                       uint64_t value, unsigned size, bool privileged)
{
    trace_exanet_doorbell(s->node, c, page, addr, value, size);
    if (size < 4 || addr >= EXANET_ALIAS_PAGE) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: bad write to user page %u of "
                      "context %u: 0x%" HWADDR_PRIx "\n", page, c, addr);
        return;
    }
    switch (page) {
    case EXANET_PAGE_SCRATCHPAD:
        exanet_firmware_scratchpad_write(s, c, addr, value, size, privileged);
        break;
    case EXANET_PAGE_PACKETIZER:
        exanet_packetizer_write(s, c, addr, value, size);
        break;
    case EXANET_PAGE_MAILBOX:
        exanet_mailbox_write(s, c, addr, value, size);
        break;
    }
    if (s->pending) {
        exanet_work(s, DOORBELL_ROUNDS, DOORBELL_PACKETS);
    }
}

static uint64_t user_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    ExanetState *s = opaque;

    return ldn_le_p(s->user + addr, size);
}

static MemTxResult user_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                                   unsigned size, MemTxAttrs attrs)
{
    ExanetState *s = opaque;
    hwaddr page = addr >> s->user_page_shift;
    hwaddr offset = addr & ((1ULL << s->user_page_shift) - 1);
    MemReentrancyGuard *guard = &s->host.dev->mem_reentrancy_guard;

    if (!s->bh) {
        return MEMTX_OK;
    }
    if (page % EXANET_USER_PAGES == EXANET_PAGE_MAILBOX &&
        offset == EXANET_MAILBOX_POLL) {
        if (!guard->engaged_in_io &&
            rnic_vcpu_access(&s->user_mr, addr, true, attrs)) {
            exanet_poll(s, page / EXANET_USER_PAGES);
        }
        return MEMTX_OK;
    }
    /* QEMU does this for every region but those whose reads are like RAM */
    if (guard->engaged_in_io || !exanet_enter(s)) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: the device writes to its own "
                      "user pages: 0x%" HWADDR_PRIx "\n", addr);
        return MEMTX_OK;
    }
    user_write(s, page / EXANET_USER_PAGES, page % EXANET_USER_PAGES, offset,
               value, size, false);
    work_end(s);
    exanet_irq_flush(s);
    return MEMTX_OK;
}

static const MemoryRegionOps user_ops = {
    .read = user_mmio_read,
    .write_with_attrs = user_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

static uint64_t info_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    ExanetInfoPage *i = opaque;
    ExanetState *s = i->s;
    unsigned ctx = EXANET_CTX(i->ctx);
    struct exanet_info info = {
        .id = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_ID)),
        .version = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_VERSION)),
        .cap0 = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_CAP0)),
        .cap1 = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_CAP1)),
        .coord = cpu_to_le32(s->node),
        .pdid = cpu_to_le32(s->ctx[i->ctx].pdid),
        .time = cpu_to_le64(exanet_now(s)),
        .stores = cpu_to_le32(exanet_shm_stores(s, i->ctx)),
        .errors = cpu_to_le32(s->shm->errors[i->ctx]),
    };

    if (addr + size > sizeof(info)) {
        return 0;
    }
    for (unsigned w = 0; w < EXANET_WINDOW_NI; w++) {
        info.win[w] =
            cpu_to_le64(exanet_reg_get64(s, ctx + EXANET_CTX_WIN(w)));
    }
    return ldn_le_p((uint8_t *)&info + addr, size);
}

static void info_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                            unsigned size)
{
    ExanetInfoPage *i = opaque;

    qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to the info page of context "
                  "%u\n", i->ctx);
}

static const MemoryRegionOps info_ops = {
    .read = info_mmio_read,
    .write = info_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* --- BAR 0 -------------------------------------------------------------- */

/* 32- or 64-bit access to an array of 64-bit words that @word reads. */
static uint64_t debug_read(ExanetState *s, hwaddr addr, unsigned size,
                           uint64_t (*word)(ExanetState *s, hwaddr addr))
{
    uint64_t value = word(s, addr & ~7ULL);

    return size == 4 ? (uint32_t)(value >> (8 * (addr & 4))) : value;
}

static uint64_t counter_word(ExanetState *s, hwaddr addr)
{
    return addr / 8 < EXANET_COUNTER_COUNT ? s->counter[addr / 8] : 0;
}

static bool is_ni_map(hwaddr addr)
{
    return addr >= EXANET_NI_MAP(0) && addr < EXANET_NI_MAP(EXANET_NI_INDICES);
}

static uint64_t regs_read(void *opaque, hwaddr addr, unsigned size)
{
    ExanetState *s = opaque;
    uint64_t value = 0;

    if (!s->bh) {
        return 0;
    }
    if (addr >= EXANET_PENDING_LIST && addr < EXANET_CONTROL_WINDOW) {
        value = exanet_exadma_list_read(s, addr - EXANET_PENDING_LIST, size);
    } else if (size < 4) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: read of %u bytes at 0x%"
                      HWADDR_PRIx "\n", size, addr);
    } else if (file_at(addr) != FILE_NONE) {
        value = file_read(s, addr, size);
    } else if (addr < EXANET_PENDING_LIST) {
        value = debug_read(s, addr - EXANET_COUNTER(0), size, counter_word);
    } else if (addr >= EXANET_RX_DEBUG && addr < EXANET_TOMB_DEBUG) {
        value = debug_read(s, addr - EXANET_RX_DEBUG, size,
                           exanet_receiver_debug_read);
    } else if (addr >= EXANET_TOMB_DEBUG && addr < EXANET_TOMB_DEBUG +
               EXANET_TOMBSTONES * sizeof(struct exanet_tombstone)) {
        value = debug_read(s, addr - EXANET_TOMB_DEBUG, size,
                           exanet_receiver_tomb_read);
    } else if (addr >= EXANET_SCRATCHPAD && addr < EXANET_MAILBOX_ALIAS +
               EXANET_CONTEXTS * EXANET_ALIAS_PAGE) {
        hwaddr at = addr - EXANET_SCRATCHPAD;

        value = ldn_le_p(exanet_user_page(s, (at >> 12) % EXANET_CONTEXTS,
                                          at >> 16) + (at & 0xfff), size);
    } else if (is_ni_map(addr)) {
        value = debug_read(s, addr - EXANET_NI_MAP(0), size,
                           exanet_switch_ni_map_read);
    }
    trace_exanet_reg_read(s->node, addr, value, size);
    return value;
}

static void regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    ExanetState *s = opaque;

    /* drops a write that this device itself causes, as QEMU's re-entrancy guard does */
    if (!s->bh || !exanet_enter(s)) {
        return;
    }
    trace_exanet_reg_write(s->node, addr, value, size);
    if (addr >= EXANET_PENDING_LIST && addr < EXANET_CONTROL_WINDOW) {
        exanet_exadma_list_write(s, addr - EXANET_PENDING_LIST, value, size);
    } else if (size < 4) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: write of %u bytes at 0x%"
                      HWADDR_PRIx "\n", size, addr);
    } else if (file_at(addr) != FILE_NONE) {
        file_write(s, addr, value, size);
    } else if (addr < EXANET_COUNTER(EXANET_COUNTER_COUNT)) {
        s->counter[(addr - EXANET_COUNTER(0)) / 8] = 0;
    } else if (addr >= EXANET_CONTROL_WINDOW && addr < EXANET_RX_DEBUG) {
        exanet_exadma_control_write(s, addr - EXANET_CONTROL_WINDOW, value,
                                    size);
    } else if (addr >= EXANET_SCRATCHPAD && addr < EXANET_MAILBOX_ALIAS +
               EXANET_CONTEXTS * EXANET_ALIAS_PAGE) {
        hwaddr at = addr - EXANET_SCRATCHPAD;

        user_write(s, (at >> 12) % EXANET_CONTEXTS, at >> 16, at & 0xfff,
                   value, size, true);
    } else if (is_ni_map(addr)) {
        exanet_switch_ni_map_write(s, addr - EXANET_NI_MAP(0), value, size);
    } else {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to nothing: 0x%"
                      HWADDR_PRIx "\n", addr);
    }
    work_end(s);
    exanet_irq_flush(s);
}

static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* --- Life --------------------------------------------------------------- */

/*
 * Counted, as far nodes take what has one of the last epochs for late packets.  It
 * starts with the time of day, which goes round in twice the time that they
 * remember: a device that is started again must not take one of its last ones.
 */
static uint8_t epoch_next(ExanetState *s)
{
    if (s->epoch) {
        return s->epoch == UINT8_MAX ? 1 : s->epoch + 1;
    }
    QEMU_BUILD_BUG_ON(EPOCH_STEP_NS * UINT8_MAX < 2 * EXANET_TID_AGE_NS);
    return s->epoch_fixed ? s->epoch_fixed :
           qemu_clock_get_ns(QEMU_CLOCK_HOST) / EPOCH_STEP_NS % UINT8_MAX + 1;
}

void exanet_reset(ExanetState *s)
{
    if (!s->bh) {
        return;         /* exanet_fini() has run: the device loses power and state */
    }
    if (!exanet_enter(s)) {
        s->reset_wanted = true;     /* the units at work still need their state */
        return;
    }
    s->reset_wanted = false;
    exanet_shm_abort(s);
    qemu_bh_cancel(s->bh);
    s->pending = false;
    s->vectors = 0;
    s->enabled = false;
    s->strict = false;
    s->epoch = epoch_next(s);
    s->node = s->coord;
    s->time = exanet_now(s);
    memset(s->counter, 0, sizeof(s->counter));
    file_reset(s);
    exanet_firmware_reset(s);
    exanet_packetizer_reset(s);
    exanet_exadma_reset(s);
    exanet_rtmailbox_reset(s);
    exanet_receiver_reset(s);
    exanet_context_reset(s);
    exanet_flow_reset(s);
    exanet_shm_reset(s);
    exanet_switch_reset(s);
    memset(s->user, 0, memory_region_size(&s->user_mr));
    for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
        exanet_port_reset(p);
    }
    work_end(s);
    exanet_irq_flush(s);
}

/* Checks the properties peerN. */
static bool peers_check(ExanetState *s, Error **errp)
{
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        uint32_t peer = s->port[i].peer_named;

        if (peer == EXANET_PEER_ANY) {
            continue;
        }
        if (peer > EXANET_COORD_MASK) {
            error_setg(errp, "property 'peer%u' must be at most 0x%x (22 bits)", i,
                       EXANET_COORD_MASK);
            return false;
        }
        if (!s->port[i].conf.peers.ncs[0]) {
            error_setg(errp, "property 'peer%u' needs a netdev 'link%u'", i, i);
            return false;
        }
        if (peer == s->coord) {
            error_setg(errp, "property 'peer%u' is 0x%x, as property 'coord': a node "
                       "is not its own neighbour", i, peer);
            return false;
        }
    }
    return true;
}

static bool properties_check(ExanetState *s, Error **errp)
{
    uint32_t dims;

    if (s->coord > EXANET_COORD_MASK) {
        error_setg(errp, "property 'coord' must be at most 0x%x (22 bits)",
                   EXANET_COORD_MASK);
        return false;
    }
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        if (s->port[i].conf.peers.ncs[0]) {
            s->links = i + 1;
        } else if (s->port[i].inject) {
            error_setg(errp, "property 'faults%u' needs a netdev 'link%u'", i, i);
            return false;
        }
    }
    if (s->links == 0) {
        error_setg(errp, "no cable: at least one of the properties 'link0' to "
                   "'link%u' must name a netdev", EXANET_LINKS - 1);
        return false;
    }
    if (!peers_check(s, errp)) {
        return false;
    }
    if (s->dims && !exanet_route_dims(s->dims, &dims)) {
        error_setg(errp, "property 'dims' must be up to three numbers of at most "
                   "16, as '4x4' or '4x2x3', not '%s'", s->dims);
        return false;
    }
    if (!exanet_arith_init(s, errp)) {
        return false;
    }
    if (!is_power_of_2(s->receiver.ways) ||
        s->receiver.ways > EXANET_RX_WAYS) {
        error_setg(errp, "property 'ways' must be 1, 2, 4, 8 or 16");
        return false;
    }
    if (s->user_page_shift != 12 && s->user_page_shift != 16) {
        error_setg(errp, "property 'user-page-shift' must be 12 or 16");
        return false;
    }
    if (s->rx_fifo_words < EXANET_RX_FIFO_WORDS ||
        s->rx_fifo_words > RX_FIFO_WORDS_MAX) {
        error_setg(errp, "property 'rx-fifo-words' must be %u to %u",
                   EXANET_RX_FIFO_WORDS, RX_FIFO_WORDS_MAX);
        return false;
    }
    if (!is_power_of_2(s->tlb_entries) || s->tlb_entries < TLB_ENTRIES_MIN ||
        s->tlb_entries > TLB_ENTRIES_MAX) {
        error_setg(errp, "property 'tlb-entries' must be a power of two from %u "
                   "to %u", TLB_ENTRIES_MIN, TLB_ENTRIES_MAX);
        return false;
    }
    return true;
}

static bool user_pages_init(ExanetState *s, Error **errp)
{
    uint64_t page = 1ULL << s->user_page_shift;
    Object *owner = OBJECT(s->host.dev);

    /* names of migrated RAM must differ, and a sysbus device has no path */
    if (!memory_region_init_rom_device_nomigrate(&s->user_mr, owner, &user_ops,
            s, "exanet-user", EXANET_CONTEXTS * EXANET_USER_PAGES * page,
            errp)) {
        return false;
    }
    s->user = memory_region_get_ram_ptr(&s->user_mr);
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        ExanetInfoPage *i = &s->info[c];

        i->s = s;
        i->ctx = c;
        memory_region_init_io(&i->mr, owner, &info_ops, i, "exanet-info", page);
        memory_region_add_subregion_overlap(&s->user_mr,
            (c * EXANET_USER_PAGES + EXANET_PAGE_INFO) * page, &i->mr, 1);
    }
    return true;
}

bool exanet_init(ExanetState *s, const ExanetHost *host, Error **errp)
{
    s->host = *host;
    if (!properties_check(s, errp) || !exanet_shm_init(s, errp)) {
        return false;
    }
    if (!user_pages_init(s, errp)) {
        exanet_shm_fini(s);
        return false;
    }
    memory_region_init_io(&s->regs_mr, OBJECT(host->dev), &regs_ops, s,
                          "exanet-regs", EXANET_REGS_BYTES);
    s->bh = qemu_bh_new_guarded(exanet_bh, s,
                                &host->dev->mem_reentrancy_guard);
    s->sink = exanet_sink;
    exanet_context_init(s);
    exanet_receiver_init(s);
    exanet_firmware_init(s);
    exanet_packetizer_init(s);
    exanet_flow_init(s);
    for (unsigned i = 0; i < s->links; i++) {
        if (s->port[i].conf.peers.ncs[0]) {
            exanet_port_init(s, i);
        }
    }
    exanet_stats_add(s);
    return true;
}

static void state_free(ExanetState *s)
{
    s->running = true;              /* frames that arrive now must start no work */
    for (ExanetPort *p = NULL; (p = exanet_port_next(s, p));) {
        exanet_port_fini(p);
    }
    exanet_shm_fini(s);
    exanet_flow_fini(s);
    exanet_packetizer_fini(s);
    exanet_firmware_fini(s);
    exanet_receiver_fini(s);
    exanet_context_fini(s);
    s->running = false;
}

static void fini_late(void *opaque)
{
    ExanetState *s = opaque;

    if (s->fini_wanted) {
        state_free(s);
    }
    object_unref(OBJECT(s->host.dev));
}

void exanet_fini(ExanetState *s)
{
    exanet_stats_remove(s);
    qemu_bh_delete(s->bh);
    /* a vCPU may have been on its way in: MMIO finds nothing any more */
    s->bh = NULL;
    /* a region inside another one holds a reference to its owner: this device */
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        memory_region_del_subregion(&s->user_mr, &s->info[c].mr);
    }
    /*
     * The guest may have switched the slot's power off by a message or a frame of this
     * very device.  State and object live until the sender of the message, or the
     * netdev that handles the frame, has returned.
     */
    s->fini_wanted = s->running;
    if (!s->fini_wanted) {
        state_free(s);
    }
    object_ref(OBJECT(s->host.dev));
    aio_bh_schedule_oneshot(qemu_get_aio_context(), fini_late, s);
}
