/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the link ports; see port-regs.h.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "exanet.h"
#include "../link/inject.h"
#include "net/wire-fault.h"
#include "port-regs.h"
#include "shm/shm.h"

/* --- PORT_INJECT ------------------------------------------------------------ */

QEMU_BUILD_BUG_ON(EXANET_INJECT_DROP - 1 != RNIC_INJECTED_DROP);
QEMU_BUILD_BUG_ON(EXANET_INJECT_HEADER - 1 != RNIC_INJECTED_PART);
QEMU_BUILD_BUG_ON(EXANET_INJECT_DUPLICATE - 1 != RNIC_INJECTED_DUPLICATE);
QEMU_BUILD_BUG_ON(EXANET_INJECT_HOLD - 1 != RNIC_INJECTED_REORDER);

static void inject_written(RNicPort *p, bool top)
{
    ExanetState *s = exanet_port_state(p);
    unsigned at = EXANET_PORT(p->index) + EXANET_REG_PORT_INJECT;
    uint64_t value = 0;
    unsigned kind;

    /* any write ends the present order; only a write of bits 63:32 begins a new order */
    if (top) {
        value = exanet_reg_get64(s, at);
    }
    kind = RNIC_GET(EXANET_INJECT_KIND, value);
    if (kind > EXANET_INJECT_HOLD) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: no such fault to inject: %u\n", kind);
        exanet_reg_set64(s, at, value & ~EXANET_INJECT_KIND);
        kind = EXANET_INJECT_NONE;
    }
    if (kind == EXANET_INJECT_NONE) {
        rnic_inject_cancel(p);
    } else {
        RNicInjectOrder order = {
            .kind = kind - 1,
            .type = RNIC_GET(EXANET_INJECT_TYPE, value),
            .all = RNIC_GET(EXANET_INJECT_TYPE, value) == EXANET_INJECT_TYPE_ALL,
            .every = RNIC_GET(EXANET_INJECT_EVERY, value),
            .count = RNIC_GET(EXANET_INJECT_COUNT, value),
        };

        rnic_inject_order(p, &exanet_fault_format, &order);
    }
}

void exanet_port_reg_injected(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);
    unsigned at = EXANET_PORT(p->index) + EXANET_REG_PORT_INJECT;
    uint32_t left = rnic_inject_order_left(p);
    uint64_t value = exanet_reg_get64(s, at) & ~EXANET_INJECT_COUNT;

    value |= RNIC_PREP(EXANET_INJECT_COUNT, left);
    exanet_reg_set64(s, at, left ? value : value & ~EXANET_INJECT_KIND);
}

/* --- Counters --------------------------------------------------------------- */

/* The registers of the port's own counters. */
static const uint8_t counter_regs[RNIC_PORT_COUNTERS] = {
    [RNIC_PORT_CNT_TX_PACKETS] = EXANET_REG_PORT_TX_PACKETS,
    [RNIC_PORT_CNT_TX_WORDS] = EXANET_REG_PORT_TX_WORDS,
    [RNIC_PORT_CNT_RX_PACKETS] = EXANET_REG_PORT_RX_PACKETS,
    [RNIC_PORT_CNT_RX_WORDS] = EXANET_REG_PORT_RX_WORDS,
    [RNIC_PORT_CNT_BAD_HEADER] = EXANET_REG_PORT_BAD_HEADER,
    [RNIC_PORT_CNT_DROPPED] = EXANET_REG_PORT_DROPPED,
    [RNIC_PORT_CNT_XOFF_SENT] = EXANET_REG_PORT_XOFF_SENT,
    [RNIC_PORT_CNT_XOFF_RECEIVED] = EXANET_REG_PORT_XOFF_RECEIVED,
};

static void counters_sync(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);
    const ExanetPortErrors *errors = &s->router.errors[p->index];
    unsigned base = EXANET_PORT(p->index);

    for (unsigned i = 0; i < RNIC_PORT_COUNTERS; i++) {
        exanet_reg_set64(s, base + counter_regs[i], p->counter[i]);
    }
    exanet_reg_set64(s, base + EXANET_REG_PORT_BAD_PAYLOAD, errors->payload);
    exanet_reg_set64(s, base + EXANET_REG_PORT_BAD_FOOTER, errors->footer);
}

/* --- All registers ---------------------------------------------------------- */

void exanet_port_reg_sync(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);
    unsigned base = EXANET_PORT(p->index);
    uint64_t injected = 0;

    exanet_reg_set32(s, base + EXANET_REG_PORT_STATUS,
                     (p->up ? EXANET_PORT_STATUS_UP : 0) |
                     (p->peer_xoff ? EXANET_PORT_STATUS_PEER_XOFF : 0) |
                     (p->xoff ? EXANET_PORT_STATUS_XOFF : 0) |
                     (p->conflict ? EXANET_PORT_STATUS_CONFLICT : 0) |
                     EXANET_PORT_STATUS_PRESENT |
                     RNIC_PREP(EXANET_PORT_STATUS_ROLE, s->router.role[p->index]) |
                     RNIC_PREP(EXANET_PORT_STATUS_PEER_XOFF_VC, p->peer_xoff) |
                     RNIC_PREP(EXANET_PORT_STATUS_XOFF_VC, p->xoff));
    exanet_reg_set32(s, base + EXANET_REG_PORT_LEVEL,
                     RNIC_PREP(EXANET_PORT_LEVEL_RX,
                               MIN(rnic_port_rx_words(p), 0xffff)) |
                     RNIC_PREP(EXANET_PORT_LEVEL_TX,
                               MIN(rnic_port_tx_words(p), 0xffff)));
    exanet_reg_set32(s, base + EXANET_REG_PORT_PEER,
                     p->peer_known ? p->peer : 0);
    counters_sync(p);
    for (unsigned i = 0; i < RNIC_INJECTED_KINDS; i++) {
        injected += p->injected[i];
    }
    exanet_reg_set64(s, base + EXANET_REG_PORT_INJECTED, injected);
}

/* Sets flow control, rate and latency of the port to the values of their registers. */
static void port_set(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);
    unsigned base = EXANET_PORT(p->index);

    p->xoff_above = exanet_reg_get32(s, base + EXANET_REG_PORT_XOFF);
    p->xon_below = exanet_reg_get32(s, base + EXANET_REG_PORT_XON);
    rnic_port_tune(p, exanet_reg_get32(s, base + EXANET_REG_PORT_RATE),
                   exanet_reg_get32(s, base + EXANET_REG_PORT_LATENCY));
}

void exanet_port_reg_written(RNicPort *p, unsigned reg, bool top)
{
    ExanetState *s = exanet_port_state(p);
    uint32_t ctrl;

    switch (reg) {
    case EXANET_REG_PORT_CTRL:
        ctrl = exanet_reg_get32(s, EXANET_PORT(p->index) + EXANET_REG_PORT_CTRL);
        rnic_port_control(p, ctrl & EXANET_PORT_CTRL_ENABLE,
                          ctrl & EXANET_PORT_CTRL_LOOPBACK);
        break;
    case EXANET_REG_PORT_XOFF:
    case EXANET_REG_PORT_XON:
        port_set(p);
        break;
    case EXANET_REG_PORT_RATE:
    case EXANET_REG_PORT_LATENCY:
        port_set(p);
        exanet_schedule(s);         /* the port may now send waiting packets earlier */
        break;
    case EXANET_REG_PORT_INJECT:
        inject_written(p, top);
        break;
    }
}

void exanet_port_reg_reset(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);
    unsigned base = EXANET_PORT(p->index);

    exanet_reg_set32(s, base + EXANET_REG_PORT_XOFF,
                     s->rx_fifo_words - EXANET_XOFF_MARGIN);
    exanet_reg_set32(s, base + EXANET_REG_PORT_RATE, s->link_rate_kbps);
    exanet_reg_set32(s, base + EXANET_REG_PORT_LATENCY,
                     s->link_latency_ns ?: exanet_shm_latency(s));
    port_set(p);
}
