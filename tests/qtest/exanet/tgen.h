/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores by the traffic generator of the device, because the processor of the
 * machine executes nothing.
 */
#ifndef EXANET_TGEN_H
#define EXANET_TGEN_H

#include "device.h"

/*
 * A run of the generator.  If a member is 0, the run uses the value in parentheses in the
 * comment of the member.
 */
typedef struct ExanetTgenRun {
    const uint64_t *gva;            /* GVAs of the @targets targets */
    unsigned targets;               /* number of targets (1) */
    unsigned size;                  /* bytes of a transaction (8 * @beats) */
    unsigned beats;                 /* 8-byte words of a transaction (1) */
    unsigned outstanding;           /* limit of transactions under way (1) */
    unsigned first_id;
    unsigned ids;                   /* number of AXI IDs (1); @first_id is the first */
    unsigned ctx;                   /* context whose accesses the generator does */
    uint16_t pdid;                  /* PDID of targets (EXANET_TEST_PDID(0)) */
    uint32_t flags;                 /* EXANET_TGEN_WRITE, _REPEAT, _EARLY, _EACH */
} ExanetTgenRun;

void exanet_tgen_start(ExanetTest *t, const ExanetTgenRun *r);
/*
 * Does the same as exanet_tgen_start(), waits for the end of the run, and returns the
 * result of exanet_tgen_code(): the response code of the run.
 */
enum exanet_resp exanet_tgen_run(ExanetTest *t, const ExanetTgenRun *r);
bool exanet_tgen_busy(ExanetTest *t);
enum exanet_resp exanet_tgen_code(ExanetTest *t);
uint64_t exanet_tgen_get(ExanetTest *t, unsigned reg);
/*
 * Stops the generator: it starts no further transaction, and the transactions under way
 * continue.
 */
void exanet_tgen_stop(ExanetTest *t);
/*
 * Write (fill) and read (result) @len bytes of the generator's data RAM from word 0 on;
 * @len is a multiple of 8.
 */
void exanet_tgen_fill(ExanetTest *t, const void *data, size_t len);
void exanet_tgen_result(ExanetTest *t, void *data, size_t len);

/*
 * Start one store or load of @size bytes (at most 8) at @gva, and do not wait until it
 * ends.  @flags: further flags of ExanetTgenRun.
 */
void exanet_tgen_store(ExanetTest *t, uint64_t gva, uint64_t value,
                       unsigned size, uint32_t flags);
void exanet_tgen_load(ExanetTest *t, uint64_t gva, unsigned size);

/* Returns the GVA of byte @offset of the block RAM of node @coord. */
static inline uint64_t exanet_bram_gva(uint32_t coord, uint64_t offset)
{
    return exanet_gva(coord, EXANET_NI_VA(EXANET_NI_BRAM) | offset);
}

#endif /* EXANET_TGEN_H */
