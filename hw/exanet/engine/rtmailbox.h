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
    RNicFifo responses;             /* of @resp */
    uint8_t req[EXANET_RT_REQUESTS_MAX][sizeof(struct exanet_read_req)];
    RNicFifo requests;              /* of @req */
    unsigned req_lane;              /* 32-bit lanes already read of the head */
    /*
     * Returns true if the model of the R5 takes another read request for context
     * @owner, when @more messages are already on their way to it.
     */
    bool (*room)(ExanetState *s, unsigned owner, unsigned more);
} ExanetRtMailbox;

extern const ExanetUnit exanet_rtmailbox_unit;
/* Returns true if the firmware's model plays the R5: EXANET_FW_INTERNAL. */
bool exanet_rtmailbox_internal(ExanetState *s);
/* An ack for the RDMA engine arrived.  Never blocks: overflow drops and counts. */
void exanet_rtmailbox_response(ExanetState *s, const ExanetPacket *pkt);
/*
 * Returns PROTECTION unless the context that owns the data of request @pkt is of the
 * same job as @pkt.
 */
enum exanet_resp exanet_rtmailbox_check(ExanetState *s, const ExanetPacket *pkt);
/* A read request arrived; FULL when the FIFO is full, MALFORMED for a bad size. */
enum exanet_resp exanet_rtmailbox_request(ExanetState *s,
                                          const ExanetPacket *pkt);
/* The R5 takes the next response word; false when there is none. */
bool exanet_rtmailbox_pop_response(ExanetState *s, uint32_t *word);
/* The R5 takes the next message; false when there is none. */
bool exanet_rtmailbox_pop_request(ExanetState *s, struct exanet_read_req *req);
void exanet_rtmailbox_reg_sync(ExanetState *s, unsigned reg);
void exanet_rtmailbox_reg_written(ExanetState *s, unsigned reg, bool top);

#endif /* HW_EXANET_ENGINE_RTMAILBOX_H */
