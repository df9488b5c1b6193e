/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: reports errors of loads, stores and CDMA transfers to the driver,
 * and counts these errors for the process.
 */
#include "qemu/osdep.h"
#include "../exanet.h"
#include "../base/irq.h"
#include "../base/regs.h"
#include "internal.h"
#include "shm.h"
#include "../trace.h"

void exanet_shm_error(ExanetState *s, unsigned c, uint64_t gva,
                      enum exanet_shm_class class, enum exanet_resp resp,
                      unsigned retries)
{
    uint32_t info = exanet_shm_get32(s, EXANET_REG_SHM_ERR_INFO);

    trace_exanet_shm_error(s->node, c, gva, class, resp, retries);
    exanet_count(s, SHM_ESCALATED);
    if (c < EXANET_CONTEXTS) {
        s->shm->errors[c]++;
    }
    if (!(info & EXANET_SHM_ERR_VALID)) {
        info = EXANET_SHM_ERR_VALID |
               RNIC_PREP(EXANET_SHM_ERR_CODE, resp) |
               RNIC_PREP(EXANET_SHM_ERR_RETRIES, MIN(retries, 15)) |
               RNIC_PREP(EXANET_SHM_ERR_CLASS, class) |
               (c < EXANET_CONTEXTS ? RNIC_PREP(EXANET_SHM_ERR_CTX, c) :
                                      EXANET_SHM_ERR_OUTSIDE);
        exanet_reg_set32(s, EXANET_SHM + EXANET_REG_SHM_ERR_INFO, info);
        exanet_reg_set64(s, EXANET_SHM + EXANET_REG_SHM_ERR_GVA, gva);
    }
    exanet_irq_raise(s, EXANET_IRQ_SHM);
}

void exanet_shm_error_cleared(ExanetState *s)
{
    if (exanet_shm_get32(s, EXANET_REG_SHM_ERR_INFO) & EXANET_SHM_ERR_VALID) {
        return;
    }
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_SHM_ERR_INFO, 0);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_SHM_ERR_GVA, 0);
    exanet_reg_set32(s, EXANET_REG_IRQ_CAUSE, ~EXANET_IRQ_SHM &
                     exanet_reg_get32(s, EXANET_REG_IRQ_CAUSE));
}

uint32_t exanet_shm_errors(ExanetState *s, unsigned c)
{
    return s->shm->errors[c];
}
