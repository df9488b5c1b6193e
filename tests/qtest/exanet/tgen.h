/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of a machine without a running processor, by the traffic generator.
 */
#ifndef EXANET_TGEN_H
#define EXANET_TGEN_H

#include "device.h"

/* A run of the generator.  A member that is 0 has the default value of its comment. */
typedef struct ExanetTgenRun {
    const uint64_t *gva;            /* GVAs of the targets */
    unsigned targets;               /* number of targets; 1 */
    unsigned size;                  /* bytes of each transaction; 0: @beats words */
    unsigned beats;                 /* words of each transaction; 1 */
    unsigned outstanding;           /* limit of transactions under way; 1 */
    unsigned first_id;
    unsigned ids;                   /* number of AXI IDs; 1 */
    unsigned ctx;                   /* context of the generator */
    uint16_t pdid;                  /* PDID of the target; EXANET_TEST_PDID(0) */
    uint32_t flags;                 /* EXANET_TGEN_WRITE, _REPEAT, _EARLY, _EACH */
} ExanetTgenRun;

void exanet_tgen_start(ExanetTest *t, const ExanetTgenRun *r);
/* Does the same, and waits for the end of the run; returns the code. */
enum exanet_resp exanet_tgen_run(ExanetTest *t, const ExanetTgenRun *r);
bool exanet_tgen_busy(ExanetTest *t);
enum exanet_resp exanet_tgen_code(ExanetTest *t);
uint64_t exanet_tgen_get(ExanetTest *t, unsigned reg);
/* Stops the generator: no further transaction begins, those under way continue. */
void exanet_tgen_stop(ExanetTest *t);
/* Write and read the data RAM from word 0 on; @len is a multiple of 8. */
void exanet_tgen_fill(ExanetTest *t, const void *data, size_t len);
void exanet_tgen_result(ExanetTest *t, void *data, size_t len);

/* Start one store or load of at most 8 bytes, and do not wait for its end. */
void exanet_tgen_store(ExanetTest *t, uint64_t gva, uint64_t value,
                       unsigned size, uint32_t flags);
void exanet_tgen_load(ExanetTest *t, uint64_t gva, unsigned size);

/* Returns the GVA of byte @offset of the block RAM of node @coord. */
static inline uint64_t exanet_bram_gva(uint32_t coord, uint64_t offset)
{
    return exanet_gva(coord, EXANET_NI_VA(EXANET_NI_BRAM) | offset);
}

#endif /* EXANET_TGEN_H */
