/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CDMA channels, used as by software; see cdma.h. */
#include "qemu/osdep.h"
#include "cdma.h"

void exanet_copy_start(ExanetTest *t, unsigned ch, const ExanetCopy *c)
{
    exanet_set64(t, EXANET_CDMA(ch) + EXANET_REG_CDMA_SA, c->sa);
    exanet_set64(t, EXANET_CDMA(ch) + EXANET_REG_CDMA_DA, c->da);
    cdma_set(t, ch, SIDES, c->sides);
    cdma_set(t, ch, PDID, c->pdid);
    cdma_set(t, ch, BTT, c->len);
}

bool exanet_cdma_idle(ExanetTest *t, unsigned ch)
{
    return cdma_get(t, ch, SR) & EXANET_CDMA_SR_IDLE;
}

enum exanet_tracker_state exanet_tracker_state(ExanetTest *t, unsigned ch)
{
    return RNIC_GET(EXANET_TRACKER_STATE, tracker_get(t, ch, LENGTH));
}

void exanet_copy_ended(ExanetTest *t, unsigned ch, uint32_t sr)
{
    g_assert_cmphex(cdma_get(t, ch, SR), ==, sr);
    g_assert_cmpuint(exanet_tracker_state(t, ch), ==,
                     sr == SR_DONE ? EXANET_TRACKER_IDLE :
                     EXANET_TRACKER_FAILED);
    cdma_set(t, ch, SR, EXANET_CDMA_SR_IRQS);
    g_assert_cmphex(cdma_get(t, ch, SR), ==,
                    sr & ~(uint32_t)EXANET_CDMA_SR_IRQS);
}

void exanet_copy_ends(ExanetTest *t, unsigned ch, uint32_t sr)
{
    exanet_wait(t, exanet_cdma_idle(t, ch));
    exanet_copy_ended(t, ch, sr);
}
