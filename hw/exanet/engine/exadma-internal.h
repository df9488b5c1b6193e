/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaDMA: fields of descriptors and packets, for the files of ExaDMA only.  @d is a
 * descriptor, EXANET_DESC_WORDS words in host byte order.
 */
#ifndef HW_EXANET_ENGINE_EXADMA_INTERNAL_H
#define HW_EXANET_ENGINE_EXADMA_INTERNAL_H

#include "../exanet.h"
#include "../net/net.h"
#include "exadma.h"

static inline uint64_t *exadma_desc(ExanetState *s, unsigned tid)
{
    return s->exadma.desc[tid];
}

static inline unsigned exadma_ctx(const uint64_t *d)
{
    return RNIC_GET(EXANET_PDID_CTX, d[2]);
}

static inline unsigned exadma_path(const uint64_t *d)
{
    return RNIC_GET(EXANET_DESC_W4_PATH, d[3]);
}

static inline uint32_t exadma_dst(const uint64_t *d)
{
    return RNIC_GET(EXANET_GVA_COORD, d[1]);
}

static inline uint32_t exadma_length(const uint64_t *d)
{
    return RNIC_GET(EXANET_DESC_W3_LENGTH, d[2]);
}

static inline uint64_t exadma_va(const uint64_t *d)
{
    return RNIC_GET(EXANET_GVA_VA, d[1]);
}

static inline uint16_t exadma_dst_pdid(const uint64_t *d)
{
    return d[3] & EXANET_DESC_W4_DST_VALID ?
           RNIC_GET(EXANET_DESC_W4_DST_PDID, d[3]) :
           RNIC_GET(EXANET_DESC_W3_PDID, d[2]);
}

/*
 * Returns the wire TID of @tid: index and generation.  The generation is 0 in the
 * published protocol (CTRL_STRICT).
 */
static inline uint16_t exadma_wire_tid(ExanetState *s, unsigned tid)
{
    uint64_t w4 = s->exadma.desc[tid][3];

    return tid | (s->strict ? 0 : RNIC_PREP(EXANET_TID_GEN,
                                  RNIC_GET(EXANET_DESC_W4_GEN, w4)));
}

/* Fills in the fields of @pkt that data and control packets of @tid have in common. */
static inline void exadma_packet_init(ExanetState *s, unsigned tid, ExanetPacket *pkt)
{
    const uint64_t *d = exadma_desc(s, tid);

    *pkt = (ExanetPacket) {
        .dst = exadma_dst(d),
        .src = s->node,
        .path = exadma_path(d),
        .pdid = exadma_dst_pdid(d),
        .tid = exadma_wire_tid(s, tid),
        .seq = RNIC_GET(EXANET_DESC_W4_SEQ, d[3]),
        .user = RNIC_GET(EXANET_DESC_W4_RESP, d[3]),
        .ttl = EXANET_TTL_MAX,
        .epoch = s->epoch,
    };
}

/*
 * Builds the next packets of @tid as a run of at most @limit packets at @place->buf, for
 * @place->route.  Returns the number of packets in the run, and stores in *@sent the
 * length of the block up to the end of the run.  Returns 0 without a run if @limit is
 * less than 2, if the next two packets of the block are not both full, or if a source
 * page of these two packets has no cached translation.
 */
unsigned exanet_exadma_run_build(ExanetState *s, unsigned tid, unsigned limit,
                                 const ExanetOpen *place, uint32_t *sent);

#endif /* HW_EXANET_ENGINE_EXADMA_INTERNAL_H */
