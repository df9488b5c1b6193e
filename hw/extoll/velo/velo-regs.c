/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of VELO; see velo-regs.h. */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "../extoll.h"
#include "velo-regs.h"

#define VPID_REG(vpid, name) (EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_##name)

void extoll_velo_reg_sync(void *opaque, unsigned unit, hwaddr addr)
{
    ExtollState *s = opaque;

    extoll_reg_set64(s, EXTOLL_VELO + EXTOLL_REG_VELO_COUNT,
                     RNIC_PREP(EXTOLL_VELO_COUNT_SENT, s->velo.sent) |
                     RNIC_PREP(EXTOLL_VELO_COUNT_RECEIVED, s->mailboxes.received) |
                     RNIC_PREP(EXTOLL_VELO_COUNT_DISCARDED, s->mailboxes.discarded));
}

void extoll_velo_reg_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    ExtollState *s = opaque;
    uint32_t vpids;

    switch (addr - EXTOLL_VELO) {
    case EXTOLL_REG_VELO_ENABLE:
        extoll_velo_disable(s, ~extoll_reg_get32(s, addr));
        break;
    case EXTOLL_REG_VELO_IRQ:
        for (vpids = extoll_reg_get32(s, addr); vpids; vpids &= vpids - 1) {
            extoll_mailbox_arm(s, ctz32(vpids));
        }
        break;
    }
}

void extoll_velo_vpid_reg_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    switch ((addr - EXTOLL_VELO_VPID(unit)) & ~4u) {
    case EXTOLL_REG_RPLT:
        /* because a store to only the upper half of RP copies both halves to RPLT */
        extoll_velo_rp_sync(opaque, unit, EXTOLL_VELO_RP(unit));
        extoll_mailbox_arm(opaque, unit);
        break;
    case EXTOLL_REG_TXIO:
        extoll_velo_disable(opaque, 1u << unit);
        break;
    }
}

void extoll_velo_rp_sync(void *opaque, unsigned unit, hwaddr addr)
{
    extoll_reg_set64(opaque, EXTOLL_VELO_RP(unit),
                     extoll_reg_get64(opaque, VPID_REG(unit, RPLT)));
}

void extoll_velo_rp_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    extoll_reg_set64(opaque, VPID_REG(unit, RPLT),
                     extoll_reg_get64(opaque, EXTOLL_VELO_RP(unit)));
    extoll_mailbox_arm(opaque, unit);
}
