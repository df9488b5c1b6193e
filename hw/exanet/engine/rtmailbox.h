/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RT mailbox [T §6.2]: FIFOs of responses and read requests for the R5.
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
    uint32_t resp[EXANET_RT_RESPONSES];
    RNicFifo responses;             /* positions in @resp */
    uint8_t req[EXANET_RT_REQUESTS_MAX][sizeof(struct exanet_read_req)];
    RNicFifo requests;              /* positions in @req */
    unsigned req_lane;              /* 32-bit lanes read so far of the oldest request */
    /*
     * Returns true if the model of the R5 has room for a read request to context @owner,
     * in addition to @more requests in the FIFO.
     */
    bool (*room)(ExanetState *s, unsigned owner, unsigned more);
    bool internal;                  /* FW_MODE is INTERNAL: the model of the R5 runs */
} ExanetRtMailbox;

extern const ExanetUnit exanet_rtmailbox_unit;
/* Computes @s->rt.internal from FW_MODE, after a reset or a write by software. */
void exanet_rtmailbox_mode_load(ExanetState *s);
/* Takes an ack for the RDMA engine; drops and counts it if the FIFO is full. */
void exanet_rtmailbox_response(ExanetState *s, const ExanetPacket *pkt);
/*
 * Returns ACK if the context that owns the data of read request @pkt has the job of @pkt,
 * otherwise PROTECTION.  Returns CRC for a bad payload, MALFORMED for a short payload.
 */
enum exanet_resp exanet_rtmailbox_check(ExanetState *s, const ExanetPacket *pkt);
/*
 * Adds the read request @pkt to the FIFO.  Returns ACK, FULL, or MALFORMED for a bad
 * size.
 */
enum exanet_resp exanet_rtmailbox_request(ExanetState *s,
                                          const ExanetPacket *pkt);
/* Takes the oldest response, an EXANET_RT_ word.  Returns false if there is none. */
bool exanet_rtmailbox_pop_response(ExanetState *s, uint32_t *word);
/* Takes the oldest read request.  Returns false if there is none. */
bool exanet_rtmailbox_pop_request(ExanetState *s, struct exanet_read_req *req);
/*
 * Computes register @reg (EXANET_REG_RT_) before a read.  A read of RT_RESP or
 * RT_REQ_DATA by an external R5 takes data from its FIFO.
 */
void exanet_rtmailbox_reg_sync(ExanetState *s, unsigned reg);
/* Acts on a write to register @reg (EXANET_REG_RT_); @top: see ExanetRegBlock. */
void exanet_rtmailbox_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_RTMAILBOX_H */
