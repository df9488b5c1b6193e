/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that use CDMA channels of the device as software does. */
#ifndef EXANET_CDMA_H
#define EXANET_CDMA_H

#include "rnic/exanet/shm.h"
#include "tables.h"

#define SA_GVA ((uint32_t)EXANET_CDMA_SIDES_SA_GVA)
#define DA_LOCAL ((uint32_t)EXANET_CDMA_SIDES_DA_LOCAL)
#define TRANSLATE ((uint32_t)EXANET_CDMA_SIDES_TRANSLATE)

/* Values of register SR after a copy: without an error, and with error bit @bit. */
#define SR_DONE ((uint32_t)(EXANET_CDMA_SR_IDLE | EXANET_CDMA_SR_IOC))
#define SR_FAILED(bit) \
    ((uint32_t)(EXANET_CDMA_SR_IDLE | EXANET_CDMA_SR_ERR | (bit)))

#define cdma_get(t, ch, name) \
    exanet_get32(t, EXANET_CDMA(ch) + EXANET_REG_CDMA_##name)
#define cdma_set(t, ch, name, value) \
    exanet_set32(t, EXANET_CDMA(ch) + EXANET_REG_CDMA_##name, value)
#define tracker_get(t, ch, name) \
    exanet_get32(t, EXANET_SHM_TRACKER(ch) + EXANET_REG_TRACKER_##name)
#define shm_set(t, name, value) \
    exanet_set32(t, EXANET_SHM + EXANET_REG_SHM_##name, value)

/*
 * Values of a channel's registers for a copy.  @sides: the context of the copy, and the
 * bits SA_GVA, DA_LOCAL and TRANSLATE, which define the kinds of the addresses @sa and
 * @da.
 */
typedef struct ExanetCopy {
    uint64_t sa, da;
    uint32_t len;
    uint32_t sides;
    uint16_t pdid;
} ExanetCopy;

void exanet_copy_start(ExanetTest *t, unsigned ch, const ExanetCopy *c);
bool exanet_cdma_idle(ExanetTest *t, unsigned ch);
enum exanet_tracker_state exanet_tracker_state(ExanetTest *t, unsigned ch);
/*
 * Asserts that register SR of channel @ch is @sr, and that the channel's tracker is
 * idle if @sr is SR_DONE, failed otherwise.  Clears the interrupt bits of SR.
 */
void exanet_copy_ended(ExanetTest *t, unsigned ch, uint32_t sr);
/* Waits until channel @ch is idle, and does the same as exanet_copy_ended(). */
void exanet_copy_ends(ExanetTest *t, unsigned ch, uint32_t sr);

#endif /* EXANET_CDMA_H */
