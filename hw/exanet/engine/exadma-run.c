/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaDMA: builds runs of packets.  A run needs one translation for each page, and one
 * header, footer and CRC for all its packets.
 */
#include "qemu/osdep.h"
#include "context.h"
#include "exadma-internal.h"
#include "../exanet.h"
#include "segment.h"
#include "../base/wire.h"
#include "../trace.h"

/*
 * Counts the source reads of @packets full packets from address @src on, with the same
 * result as if each packet were built alone.
 */
static void run_count_reads(ExanetState *s, uint64_t src, unsigned packets)
{
    unsigned two = 0;

    if (src % EXANET_MTU) {
        two = (src % EXANET_SOURCE_PAGE + packets * EXANET_MTU - 1) / EXANET_SOURCE_PAGE;
    }
    exanet_count_by(s, EXANET_CNT_PKT_TWO_READS, two);
    exanet_count_by(s, EXANET_CNT_PKT_ONE_READ, packets - two);
}

unsigned exanet_exadma_run_build(ExanetState *s, unsigned tid, unsigned limit,
                                 const ExanetOpen *place, uint32_t *sent)
{
    const uint64_t *d = exadma_desc(s, tid);
    uint32_t len = exadma_length(d);
    uint32_t off = RNIC_GET(EXANET_DESC_W3_SENT, d[2]);
    unsigned packets = MIN((len - off) / EXANET_MTU, limit);
    uint64_t src = d[0] + off;
    ExanetPacket run;

    if (packets < 2 || (exadma_va(d) + off) % EXANET_MTU) {
        return 0;
    }
    packets = exanet_context_cached(s, exadma_ctx(d), src, false, EXANET_MTU, packets);
    if (packets < 2) {
        return 0;
    }
    exanet_context_read_cached(s, exadma_ctx(d), src, exanet_run_payload(place->buf),
                               EXANET_MTU, packets);
    exadma_packet_init(s, tid, &run);
    trace_exanet_exadma_gather(s->node, run.tid, src, packets * EXANET_MTU);
    run_count_reads(s, src, packets);
    *sent = off + packets * EXANET_MTU;
    run.type = EXANET_TYPE_WRITE;
    run.va = exadma_va(d) + off;
    run.size = EXANET_MTU;
    run.packets = packets;
    run.first = off == 0;
    run.last = *sent == len;
    run.notify = RNIC_GET(EXANET_DESC_W3_NOTIFY, d[2]);
    run.no_crc = exanet_net_no_crc(s, place->route);
    trace_exanet_exadma_build(s->node, run.tid, run.seq, run.va, packets * EXANET_MTU);
    exanet_run_encode(place->buf, &run);
    return packets;
}
