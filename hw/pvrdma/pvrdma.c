/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: registers, doorbells, reset, and the loop that runs the queue
 * pairs.  The file does not depend on the bus; pvrdma-pci.c is the bus shell.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "system/runstate.h"
#include "../core/poll.h"
#include "../core/vcpu.h"
#include "base/caps.h"
#include "cmd.h"
#include "objects/cq.h"
#include "dsr.h"
#include "base/event.h"
#include "base/guest.h"
#include "objects/mr.h"
#include "wire/port.h"
#include "pvrdma.h"
#include "objects/qp.h"
#include "qom.h"
#include "transport/req.h"
#include "transport/resp.h"
#include "transport/rx.h"
#include "objects/srq.h"
#include "transport/stuck.h"
#include "base/table.h"
#include "transport/transport.h"
#include "trace.h"

/*
 * Limits of one run of the loop: rounds, and packets of all rounds together.  A run
 * inside a store of a vCPU has smaller limits.
 */
#define RUN_ROUNDS 8
#define RUN_PACKETS 512
/* Maximal number of packets that a QP sends before the next QP runs. */
#define VISIT_PACKETS 16

/* --- Work --------------------------------------------------------------- */

/*
 * Sends packets of @qp, and reduces *@budget, which is not 0.  Sends answers before
 * requests, because peers wait for answers.
 */
static void qp_visit(PvrdmaState *s, PvrdmaQp *qp, unsigned *budget)
{
    unsigned quota = MIN(*budget, VISIT_PACKETS), left = quota;
    bool more = pvrdma_resp_run(qp, &left);

    if (left && pvrdma_port_may_send(&s->port)) {
        more |= pvrdma_req_run(qp, &left);
    } else {
        more = true;
    }
    /* A visit that sends nothing counts as one packet, because the visit costs time. */
    *budget -= MAX(quota - left, 1);
    if (more) {
        pvrdma_qp_activate(qp);
    }
    pvrdma_qp_check(qp);
}

/*
 * Visits the active QPs until *@budget is 0 or the port accepts no frame.  Visits each
 * QP once, or perhaps again if a visit has deactivated the last QP of the list.  Returns
 * true if a QP is active and the port accepts frames.
 */
static bool qps_run(PvrdmaState *s, unsigned *budget)
{
    PvrdmaQp *last = QTAILQ_LAST(&s->active_qps);
    PvrdmaQp *qp = NULL;

    while (*budget && qp != last && (qp = QTAILQ_FIRST(&s->active_qps)) &&
           pvrdma_port_may_send(&s->port)) {
        QTAILQ_REMOVE(&s->active_qps, qp, active_next);
        qp->active = false;
        qp_visit(s, qp, budget);
    }
    return !QTAILQ_EMPTY(&s->active_qps) && pvrdma_port_may_send(&s->port);
}

static bool round_run(void *opaque, unsigned *packets)
{
    PvrdmaState *s = opaque;
    bool more = qps_run(s, packets);

    more |= s->port.loop_fifo.count && pvrdma_port_loop_run(s);
    more |= !QTAILQ_EMPTY(&s->flush_qps) && pvrdma_qp_flush_run(s);
    return more;
}

/* Returns true if the machine runs, because a stopped machine must not change. */
static bool round_allowed(void *opaque)
{
    return runstate_is_running();
}

static bool irq_due(void *opaque)
{
    PvrdmaState *s = opaque;

    return s->icr & ~s->imr;
}

static void ack_timer_fired(void *opaque)
{
    PvrdmaState *s = opaque;

    if (!QTAILQ_EMPTY(&s->active_qps)) {
        rnic_loop_run(&s->loop);
    }
}

/*
 * Begins a write to a register or doorbell, or a step of a poll.  Returns false, with a
 * guest error, if the device is at work already: for example, the device has sent a frame
 * to another device, which answers by a write to this device.
 */
static bool mmio_enter(PvrdmaState *s)
{
    if (!rnic_loop_enter(&s->loop)) {
        pvrdma_guest_error(s, "a write to the device by what it does itself");
        return false;
    }
    return true;
}

static void mmio_leave(PvrdmaState *s)
{
    rnic_loop_leave_vcpu(&s->loop, true);
}

/* --- Objects ------------------------------------------------------------ */

/*
 * Deactivates the device, frees all objects and rings that the guest has created, resets
 * the counts of key violations, and drops the GIDs, the pending interrupts and the frames
 * in the port's ring.
 */
static void objects_free(PvrdmaState *s)
{
    s->active = false;
    s->dsr_valid = false;
    pvrdma_qp_reset_all(s);
    pvrdma_cq_reset_all(s);
    pvrdma_srq_reset_all(s);
    pvrdma_mr_reset_all(s);
    pvrdma_ring_fini(s, &s->async);
    pvrdma_ring_fini(s, &s->cqne);
    pvrdma_port_reset(s);
    memset(s->gid, 0, sizeof(s->gid));
    s->pkey_violations = 0;
    s->qkey_violations = 0;
    s->icr = 0;
}

static void dsr_written(PvrdmaState *s)
{
    objects_free(s);
    s->err = pvrdma_dsr_load(s);
    trace_pvrdma_dsr(s->port.netdev, s->dsr_addr, s->err);
    if (s->err) {
        pvrdma_guest_error(s, "shared region at 0x%" PRIx64 ": %s",
                           s->dsr_addr, strerror(s->err));
    }
}

/* --- Registers ---------------------------------------------------------- */

static void registers_reset(PvrdmaState *s)
{
    s->dsr_addr = 0;
    s->err = 0;
    s->icr = 0;
    s->imr = PVRDMA_INTR_ALL;
}

static void ctl_written(PvrdmaState *s, uint32_t value)
{
    s->err = 0;
    if (value == PVRDMA_DEVICE_CTL_RESET) {
        objects_free(s);
        registers_reset(s);
        return;
    }
    if (value > PVRDMA_DEVICE_CTL_RESET || !s->dsr_valid) {
        s->err = EINVAL;
        pvrdma_guest_error(s, "CTL = %u %s", value,
                           s->dsr_valid ? "" : "without a shared region");
        return;
    }
    if (value == PVRDMA_DEVICE_CTL_ACTIVATE) {
        s->active = true;
    }
}

static void request_written(PvrdmaState *s, uint32_t value)
{
    if (value || !s->active) {
        s->err = EINVAL;
        pvrdma_guest_error(s, "REQUEST = %u%s", value,
                           s->active ? "" : " before the device is active");
        return;
    }
    s->err = pvrdma_cmd_run(s);
}

static uint32_t mac_word(PvrdmaState *s, bool high)
{
    uint8_t mac[8] = { 0 };

    pvrdma_port_mac(s, mac);
    return ldl_le_p(mac + (high ? 4 : 0));
}

/*
 * Returns the lowest bit that is set in ICR, and clears this bit.  Returns only one bit,
 * because the driver ignores a response if the value contains another cause, too.  Unless
 * the device is at work, also updates the interrupt line or sends messages.
 */
static uint32_t icr_take(PvrdmaState *s)
{
    uint32_t icr = s->icr & -s->icr;

    s->icr &= ~icr;
    if (!s->loop.running) {
        rnic_loop_interrupt(&s->loop);
    }
    return icr;
}

static uint64_t regs_read(void *opaque, hwaddr addr, unsigned size)
{
    PvrdmaState *s = opaque;

    switch (addr) {
    case PVRDMA_REG_VERSION:
        return s->version;
    case PVRDMA_REG_DSRLOW:
        return (uint32_t)s->dsr_addr;
    case PVRDMA_REG_DSRHIGH:
        return s->dsr_addr >> 32;
    case PVRDMA_REG_CTL:
    case PVRDMA_REG_REQUEST:
        return 0;
    case PVRDMA_REG_ERR:
        return s->err;
    case PVRDMA_REG_ICR:
        return icr_take(s);
    case PVRDMA_REG_IMR:
        return s->imr;
    case PVRDMA_REG_MACL:
        return mac_word(s, false);
    case PVRDMA_REG_MACH:
        return mac_word(s, true);
    default:
        pvrdma_guest_error(s, "read of no register: 0x%" HWADDR_PRIx, addr);
        return 0;
    }
}

static void reg_write(PvrdmaState *s, hwaddr addr, uint32_t value)
{
    switch (addr) {
    case PVRDMA_REG_DSRLOW:
        s->dsr_addr = deposit64(s->dsr_addr, 0, 32, value);
        break;
    case PVRDMA_REG_DSRHIGH:
        s->dsr_addr = deposit64(s->dsr_addr, 32, 32, value);
        dsr_written(s);
        break;
    case PVRDMA_REG_CTL:
        ctl_written(s, value);
        break;
    case PVRDMA_REG_REQUEST:
        request_written(s, value);
        break;
    case PVRDMA_REG_IMR:
        s->imr = value;
        break;
    default:
        pvrdma_guest_error(s, "write to no register, or one that is read only: "
                           "0x%" HWADDR_PRIx, addr);
        break;
    }
}

static void regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    PvrdmaState *s = opaque;

    if (s->gone) {
        return;
    }
    trace_pvrdma_reg_write(s->port.netdev, addr, value);
    if (mmio_enter(s)) {
        reg_write(s, addr, value);
        mmio_leave(s);
    }
}

static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* --- Doorbells ---------------------------------------------------------- */

static uint64_t uar_read(void *opaque, hwaddr addr, unsigned size)
{
    return 0;
}

/*
 * Polls the netdev for frames until the device writes a completion, is reset or is at
 * work, or until the time limit of a poll (core/poll.h) has passed.  If another vCPU
 * polls already, only waits.  A guest that finds its CQ empty usually waits for a frame.
 *
 * If a silent write has arrived since the start of the last poll with a completion, the
 * poll continues after the completion of a send WQE until the next silent write, because
 * a process that exchanges such writes reads memory next, and not its CQ, and then only
 * the main loop would take the frame.
 */
static void uar_poll(PvrdmaState *s)
{
    uint64_t before = s->counter[PVRDMA_CNT_RX_POLLED];
    uint32_t completions = s->completions, receives = s->receives;
    uint32_t writes = s->silent_writes;
    bool exchange = writes != s->silent_writes_polled;
    RNicPoll poll;
    bool more = rnic_poll_begin(&poll, OBJECT(s->host.dev), &s->completions);

    while (more && s->active && mmio_enter(s)) {
        pvrdma_port_poll(s);
        mmio_leave(s);
        more = rnic_poll_again(&poll) ||
               (exchange && s->receives == receives &&
                rnic_poll_continue(&poll, &s->silent_writes, writes));
    }
    if (s->completions != completions) {
        s->silent_writes_polled = writes;
    }
    trace_pvrdma_poll(s->port.netdev, s->counter[PVRDMA_CNT_RX_POLLED] - before);
    if (poll.polling) {
        pvrdma_port_poll_end(s);
    }
    rnic_poll_end(&poll);
}

static void uar_ring(PvrdmaState *s, uint32_t uar, hwaddr offset, uint32_t value)
{
    switch (offset) {
    case PVRDMA_UAR_QP_OFFSET:
        pvrdma_qp_doorbell(s, uar, value);
        break;
    case PVRDMA_UAR_CQ_OFFSET:
        pvrdma_cq_doorbell(s, uar, value);
        break;
    case PVRDMA_UAR_SRQ_OFFSET:
        pvrdma_srq_doorbell(s, uar, value);
        break;
    default:
        pvrdma_guest_error(s, "no doorbell at 0x%" HWADDR_PRIx " of page %u",
                           offset, uar);
        break;
    }
}

static MemTxResult uar_write(void *opaque, hwaddr addr, uint64_t data,
                             unsigned size, MemTxAttrs attrs)
{
    PvrdmaState *s = opaque;
    uint32_t value = data;
    uint32_t uar = addr >> PVRDMA_PAGE_SHIFT;
    hwaddr offset = addr % PVRDMA_PAGE_BYTES;

    if (s->gone) {
        return MEMTX_OK;
    }
    trace_pvrdma_doorbell(s->port.netdev, uar, offset, value);
    if (!s->active) {
        pvrdma_guest_error(s, "doorbell before the device is active");
    } else if (offset == PVRDMA_UAR_CQ_OFFSET &&
               (value & ~PVRDMA_UAR_HANDLE_MASK) == PVRDMA_UAR_CQ_POLL) {
        /*
         * pvrdma_cq_doorbell() only checks CQ and page here, so no run of the loop is
         * needed.  uar_poll() runs the loop if work is due.
         */
        pvrdma_cq_doorbell(s, uar, value);
        if (rnic_vcpu_access(&s->uar_mr, addr, true, attrs)) {
            uar_poll(s);
        }
    } else if (mmio_enter(s)) {
        uar_ring(s, uar, offset, value);
        mmio_leave(s);
    }
    return MEMTX_OK;
}

static const MemoryRegionOps uar_ops = {
    .read = uar_read,
    .write_with_attrs = uar_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* --- Life --------------------------------------------------------------- */

void pvrdma_reset(PvrdmaState *s)
{
    if (!rnic_loop_reset_begin(&s->loop)) {
        return;
    }
    timer_del(s->ack_timer);
    timer_del(s->ring_timer);
    objects_free(s);
    registers_reset(s);
    memset(s->counter, 0, sizeof(s->counter));
    rnic_loop_reset_end(&s->loop);
}

static bool properties_check(PvrdmaState *s, Error **errp)
{
    if (!is_power_of_2(s->mtu) || s->mtu < 256 || s->mtu > ROCE_MTU_MAX) {
        error_setg(errp, "property 'mtu' must be 256, 512, 1024, 2048 or 4096");
        return false;
    }
    if (s->version < PVRDMA_VERSION_ROCEV1 || s->version > PVRDMA_VERSION) {
        error_setg(errp, "property 'version' must be %u to %u",
                   PVRDMA_VERSION_ROCEV1, PVRDMA_VERSION);
        return false;
    }
    if (s->version < PVRDMA_VERSION_ROCEV2 && !s->roce_v1) {
        error_setg(errp, "version=%u has RoCE v1 only: roce=v1", s->version);
        return false;
    }
    return true;
}

static void tables_init(PvrdmaState *s)
{
    pvrdma_table_init(&s->uc, PVRDMA_UARS);
    pvrdma_table_init(&s->pd, PVRDMA_PDS);
    pvrdma_table_init(&s->mr, PVRDMA_MRS);
    pvrdma_table_init(&s->cq, PVRDMA_CQS);
    pvrdma_table_init(&s->srq, PVRDMA_SRQS);
    pvrdma_table_init(&s->qp, PVRDMA_QPS);
}

static void tables_free(PvrdmaState *s)
{
    pvrdma_table_free(&s->qp);
    pvrdma_table_free(&s->srq);
    pvrdma_table_free(&s->cq);
    pvrdma_table_free(&s->mr);
    pvrdma_table_free(&s->pd);
    pvrdma_table_free(&s->uc);
}

static void state_free(void *opaque)
{
    PvrdmaState *s = opaque;

    /* Objects exist if the device was at work when pvrdma_fini() called the reset. */
    objects_free(s);
    pvrdma_port_fini(s);
    tables_free(s);
    timer_free(s->ack_timer);
    timer_free(s->ring_timer);
}

static void loop_reset(void *opaque)
{
    pvrdma_reset(opaque);
}

static const RNicLoopOps loop_ops = {
    .allowed = round_allowed,
    .begin = pvrdma_port_cork,
    .end = pvrdma_port_uncork,
    .round = round_run,
    .irq_due = irq_due,
    .irq_flush = pvrdma_irq_flush,
    .reset = loop_reset,
    .free = state_free,
    .rounds = RUN_ROUNDS,
    .packets = RUN_PACKETS,
};

bool pvrdma_init(PvrdmaState *s, const RNicHost *host, const char *netdev,
                 Error **errp)
{
    Object *owner = OBJECT(host->dev);

    if (!properties_check(s, errp)) {
        return false;
    }
    s->host = *host;
    s->transport = &pvrdma_transport;
    s->port.rx = pvrdma_rx;
    QTAILQ_INIT(&s->active_qps);
    QTAILQ_INIT(&s->flush_qps);
    s->ack_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, ack_timer_fired, s);
    s->ring_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, pvrdma_rings_retry, s);
    tables_init(s);
    if (!pvrdma_port_init(s, netdev, errp)) {
        tables_free(s);
        timer_free(s->ack_timer);
        timer_free(s->ring_timer);
        return false;
    }
    memory_region_init_io(&s->regs_mr, owner, &regs_ops, s, "pvrdma-regs",
                          PVRDMA_REGS_BYTES);
    memory_region_init_io(&s->uar_mr, owner, &uar_ops, s, "pvrdma-uar",
                          PVRDMA_UARS * PVRDMA_PAGE_BYTES);
    /*
     * QEMU's re-entrancy guard would refuse the doorbells of other vCPUs while one vCPU
     * polls.  The doorbell region needs no guard, because DMA of the device reaches only
     * memory, and mmio_enter() refuses nested writes.
     */
    s->uar_mr.disable_reentrancy_guard = true;
    registers_reset(s);
    rnic_loop_init(&s->loop, &loop_ops, s, host->dev);
    rnic_stats_add(&s->stats, host->dev, pvrdma_stats_foreach, s);
    return true;
}

void pvrdma_fini(PvrdmaState *s)
{
    rnic_stats_remove(&s->stats);
    pvrdma_reset(s);
    /*
     * If the device is at work, pvrdma_reset() has only deferred the reset, and the reset
     * will not happen any more.
     */
    s->active = false;
    timer_del(s->ack_timer);
    timer_del(s->ring_timer);
    s->gone = true;
    rnic_loop_fini(&s->loop);
}
