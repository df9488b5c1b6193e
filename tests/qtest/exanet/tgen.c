/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads and stores by the traffic generator; see tgen.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "tgen.h"

static void tgen_set32(ExanetTest *t, unsigned reg, uint32_t value)
{
    exanet_set32(t, EXANET_SHM + reg, value);
}

void exanet_tgen_start(ExanetTest *t, const ExanetTgenRun *r)
{
    unsigned targets = MAX(r->targets, 1);

    for (unsigned i = 0; i < MIN(targets, EXANET_TGEN_TARGETS); i++) {
        exanet_set64(t, EXANET_TGEN_TARGET(i), r->gva[i]);
    }
    tgen_set32(t, EXANET_REG_TGEN_IDS,
               RNIC_PREP(EXANET_TGEN_IDS_FIRST, r->first_id) |
               RNIC_PREP(EXANET_TGEN_IDS_COUNT, MAX(r->ids, 1)) |
               RNIC_PREP(EXANET_TGEN_IDS_CTX, r->ctx));
    tgen_set32(t, EXANET_REG_TGEN_PDID, r->pdid ?: EXANET_TEST_PDID(0));
    tgen_set32(t, EXANET_REG_TGEN_SIZE, r->size);
    tgen_set32(t, EXANET_REG_TGEN_CFG, EXANET_TGEN_GO | r->flags |
               RNIC_PREP(EXANET_TGEN_BEATS, MAX(r->beats, 1) - 1) |
               RNIC_PREP(EXANET_TGEN_OUTSTANDING, MAX(r->outstanding, 1) - 1) |
               RNIC_PREP(EXANET_TGEN_ENTRIES, targets));
}

bool exanet_tgen_busy(ExanetTest *t)
{
    return exanet_get32(t, EXANET_SHM + EXANET_REG_TGEN_STATUS) &
           EXANET_TGEN_STATUS_BUSY;
}

enum exanet_resp exanet_tgen_code(ExanetTest *t)
{
    return RNIC_GET(EXANET_TGEN_STATUS_CODE,
                    exanet_get32(t, EXANET_SHM + EXANET_REG_TGEN_STATUS));
}

enum exanet_resp exanet_tgen_run(ExanetTest *t, const ExanetTgenRun *r)
{
    exanet_tgen_start(t, r);
    exanet_wait(t, !exanet_tgen_busy(t));
    return exanet_tgen_code(t);
}

uint64_t exanet_tgen_get(ExanetTest *t, unsigned reg)
{
    return exanet_get64(t, EXANET_SHM + reg);
}

void exanet_tgen_stop(ExanetTest *t)
{
    tgen_set32(t, EXANET_REG_TGEN_CFG, 0);
}

void exanet_tgen_fill(ExanetTest *t, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        exanet_set64(t, EXANET_TGEN_DATA(i / 8),
                     ldq_le_p((const uint8_t *)data + i));
    }
}

void exanet_tgen_result(ExanetTest *t, void *data, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        stq_le_p((uint8_t *)data + i,
                 exanet_get64(t, EXANET_TGEN_DATA(i / 8)));
    }
}

void exanet_tgen_store(ExanetTest *t, uint64_t gva, uint64_t value,
                       unsigned size, uint32_t flags)
{
    const ExanetTgenRun r = {
        .gva = &gva, .size = size, .flags = EXANET_TGEN_WRITE | flags,
    };

    exanet_set64(t, EXANET_TGEN_DATA(0), value);
    exanet_tgen_start(t, &r);
}

void exanet_tgen_load(ExanetTest *t, uint64_t gva, unsigned size)
{
    const ExanetTgenRun r = { .gva = &gva, .size = size };

    exanet_set64(t, EXANET_TGEN_DATA(0), 0);
    exanet_tgen_start(t, &r);
}
