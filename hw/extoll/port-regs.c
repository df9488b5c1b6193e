/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL NIC: registers of the links; see ports.h. */
#include "qemu/osdep.h"
#include "ports.h"

/* The registers of the counters of a link. */
static const uint8_t counter_regs[EXTOLL_LINK_COUNTERS] = {
    [EXTOLL_LINK_TX_FLITS] = EXTOLL_REG_PORT_TX_FLITS,
    [EXTOLL_LINK_RX_FLITS] = EXTOLL_REG_PORT_RX_FLITS,
    [EXTOLL_LINK_RESENT] = EXTOLL_REG_PORT_RESENT,
    [EXTOLL_LINK_TIMEOUTS] = EXTOLL_REG_PORT_TIMEOUTS,
    [EXTOLL_LINK_RX_BAD] = EXTOLL_REG_PORT_RX_BAD,
    [EXTOLL_LINK_RX_GAP] = EXTOLL_REG_PORT_RX_GAP,
    [EXTOLL_LINK_RX_AGAIN] = EXTOLL_REG_PORT_RX_AGAIN,
    [EXTOLL_LINK_TX_NAK] = EXTOLL_REG_PORT_TX_NAK,
    [EXTOLL_LINK_RX_NAK] = EXTOLL_REG_PORT_RX_NAK,
    [EXTOLL_LINK_RX_ERROR] = EXTOLL_REG_PORT_RX_ERROR,
    [EXTOLL_LINK_DROPPED] = EXTOLL_REG_PORT_DROPPED,
};

bool extoll_port_reg_exists(void *opaque, unsigned unit)
{
    ExtollState *s = opaque;

    return rnic_port_exists(&s->port[unit]);
}

static uint32_t status_get(const RNicPort *p, const ExtollLink *l)
{
    return (extoll_link_is_up(l) ? EXTOLL_PORT_STATUS_UP : 0) |
           (p->peer_known ? EXTOLL_PORT_STATUS_PEER : 0) |
           EXTOLL_PORT_STATUS_PRESENT |
           (p->other_family ? EXTOLL_PORT_STATUS_OTHER : 0);
}

void extoll_port_reg_sync(void *opaque, unsigned unit, hwaddr addr)
{
    ExtollState *s = opaque;
    RNicPort *p = &s->port[unit];
    ExtollLink *l = &s->link[unit];
    unsigned base = EXTOLL_PORT(unit);

    extoll_reg_set32(s, base + EXTOLL_REG_PORT_STATUS, status_get(p, l));
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_PEER, p->peer_known ? p->peer : 0);
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_PEER_EPOCH,
                     p->peer_known ? p->peer_epoch : 0);
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_CREDIT_0,
                     extoll_credit_tx_left(&l->tx_credit[0]));
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_CREDIT_1,
                     extoll_credit_tx_left(&l->tx_credit[1]));
    for (unsigned i = 0; i < EXTOLL_LINK_COUNTERS; i++) {
        extoll_reg_set64(s, base + counter_regs[i], l->counter[i]);
    }
}

static void port_tune(ExtollState *s, unsigned index)
{
    unsigned base = EXTOLL_PORT(index);

    extoll_port_tune(s, index, extoll_reg_get32(s, base + EXTOLL_REG_PORT_RATE),
                     extoll_reg_get32(s, base + EXTOLL_REG_PORT_LATENCY));
}

static void port_control(ExtollState *s, unsigned index)
{
    uint32_t ctrl = extoll_reg_get32(s, EXTOLL_PORT(index) + EXTOLL_REG_PORT_CTRL);

    rnic_port_control(&s->port[index], ctrl & EXTOLL_PORT_CTRL_ENABLE,
                      ctrl & EXTOLL_PORT_CTRL_LOOPBACK);
}

void extoll_port_reg_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    ExtollState *s = opaque;

    switch (addr - EXTOLL_PORT(unit)) {
    case EXTOLL_REG_PORT_CTRL:
        port_control(s, unit);
        break;
    case EXTOLL_REG_PORT_RATE:
    case EXTOLL_REG_PORT_LATENCY:
        port_tune(s, unit);
        rnic_loop_schedule(&s->loop);   /* waiting flits may leave earlier now */
        break;
    }
}

bool extoll_port_reg_computed(unsigned reg)
{
    switch (reg) {
    case EXTOLL_REG_PORT_CTRL:
    case EXTOLL_REG_PORT_RATE:
    case EXTOLL_REG_PORT_LATENCY:
    case EXTOLL_REG_PORT_ROOM_0:
    case EXTOLL_REG_PORT_ROOM_1:
        return false;
    default:
        return true;
    }
}

void extoll_port_reg_reset(ExtollState *s, unsigned index)
{
    unsigned base = EXTOLL_PORT(index);

    extoll_reg_set32(s, base + EXTOLL_REG_PORT_RATE, s->link_rate_kbps);
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_LATENCY, s->link_latency_ns);
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_ROOM_0, s->rx_flits);
    extoll_reg_set32(s, base + EXTOLL_REG_PORT_ROOM_1, s->rx_flits);
    port_tune(s, index);
}

void extoll_port_reg_resume(ExtollState *s, unsigned index)
{
    port_tune(s, index);
    port_control(s, index);
}
