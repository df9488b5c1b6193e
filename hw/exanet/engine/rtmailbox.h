/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RT mailbox [T §6.2]: FIFOs of responses and of read requests for the R5.
 */
#ifndef HW_EXANET_ENGINE_RTMAILBOX_H
#define HW_EXANET_ENGINE_RTMAILBOX_H

#include "rnic/exanet/desc.h"
#include "rnic/exanet/regs.h"
#include "../../core/fifo.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

typedef struct ExanetRtMailbox {
    uint32_t resp[EXANET_RT_RESPONSES];     /* responses, fields EXANET_RT_* */
    RNicFifo responses;             /* head and count of the FIFO in @resp */
    /* read requests, each a struct exanet_read_req, little-endian */
    uint8_t req[EXANET_RT_REQUESTS_MAX][sizeof(struct exanet_read_req)];
    RNicFifo requests;              /* head and count of the FIFO in @req */
    /* number of the 32-bit word of the oldest request that software reads next */
    unsigned req_lane;
    /*
     * Returns true if the model of the R5 has room for a read request to context @owner,
     * even if all @more requests in the FIFO are for @owner too.  The firmware sets this
     * pointer.
     */
    bool (*room)(ExanetState *s, unsigned owner, unsigned more);
    bool internal;                  /* FW_MODE is INTERNAL: the model of the R5 runs */
} ExanetRtMailbox;

extern const ExanetUnit exanet_rtmailbox_unit;
/* Sets @s->rt.internal from FW_MODE, after a reset or a write to a register FW_*. */
void exanet_rtmailbox_mode_load(ExanetState *s);
/*
 * Adds @pkt, an ack or nack for the RDMA engine, to the FIFO of responses.  Drops and
 * counts @pkt if its epoch is not that of this node (ACK_STALE), or if the FIFO is full
 * (RT_DROPPED).
 */
void exanet_rtmailbox_response(ExanetState *s, const ExanetPacket *pkt);
/*
 * Checks the read request @pkt.  Returns CRC for a bad payload, and MALFORMED for a
 * payload of less than EXANET_READ_REQ_USER_BYTES.  Otherwise returns the result of
 * exanet_context_check() for the context that owns the data: ACK or PROTECTION.
 */
enum exanet_resp exanet_rtmailbox_check(ExanetState *s, const ExanetPacket *pkt);
/*
 * Adds the read request @pkt to the FIFO of requests.  Returns ACK, MALFORMED if the
 * payload is shorter than EXANET_READ_REQ_USER_BYTES or longer than the record, or FULL
 * if the FIFO or the model of the R5 has no room; counts FULL in RT_REQ_FULL.  The
 * function does not check the context, because the R5 must check the context.
 */
enum exanet_resp exanet_rtmailbox_request(ExanetState *s,
                                          const ExanetPacket *pkt);
/*
 * Removes the oldest response from its FIFO, and stores the response (fields EXANET_RT_*)
 * in *@word.  Returns false if the FIFO is empty.
 */
static inline bool exanet_rtmailbox_pop_response(ExanetRtMailbox *rt, uint32_t *word)
{
    if (rt->responses.count == 0) {
        return false;
    }
    *word = rt->resp[rnic_fifo_pop(&rt->responses, EXANET_RT_RESPONSES)];
    return true;
}
/*
 * Removes the oldest read request from its FIFO, and copies the request to *@req.
 * Returns false if the FIFO is empty.
 */
bool exanet_rtmailbox_pop_request(ExanetState *s, struct exanet_read_req *req);
/*
 * Computes register @reg (EXANET_REG_RT_*) before a register read.  If the model of the
 * R5 does not run, a read of RT_RESP removes the oldest response, and a read of
 * RT_REQ_DATA reads the next 32-bit word of the oldest request; the read of the last word
 * removes the request.
 */
void exanet_rtmailbox_reg_sync(ExanetState *s, unsigned reg);
/* Acts on a write to register @reg (EXANET_REG_RT_*).  For @top see RNicRegBlock. */
void exanet_rtmailbox_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_RTMAILBOX_H */
