/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RT mailbox [T §6.2]: packets for the R5.  Responses have a FIFO; read requests have
 * another FIFO, because a full FIFO of requests must not block the responses that the R5
 * needs to complete these requests.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "context.h"
#include "../exanet.h"
#include "fault.h"
#include "../base/irq.h"
#include "../base/regs.h"
#include "rtmailbox.h"
#include "../base/wire.h"
#include "../trace.h"

#define REQUEST_LANES (sizeof(struct exanet_read_req) / 4)
#define WORD_LANES (EXANET_WORD_BYTES / 4)

void exanet_rtmailbox_mode_load(ExanetState *s)
{
    s->rt.internal = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_MODE) ==
                     EXANET_FW_INTERNAL;
}

/*
 * Makes the model of the R5 run or, if FW_MODE is not INTERNAL, raises interrupt cause
 * RT.
 */
static void rtmailbox_notify(ExanetState *s)
{
    s->awake |= EXANET_AWAKE_R5;
    if (s->rt.internal) {
        exanet_schedule(s);
    } else {
        exanet_irq_raise(s, EXANET_IRQ_RT);
    }
}

void exanet_rtmailbox_response(ExanetState *s, const ExanetPacket *pkt)
{
    ExanetRtMailbox *rt = &s->rt;

    /* the epoch is checked here, because the words of the FIFO have no epoch */
    if (exanet_ack_stale(s, pkt)) {
        return;
    }
    if (rt->responses.count == EXANET_RT_RESPONSES) {
        exanet_count(s, RT_DROPPED);
        trace_exanet_rtmailbox_err_full(s->node, pkt->src, pkt->tid);
        return;
    }
    rt->resp[rnic_fifo_push(&rt->responses, EXANET_RT_RESPONSES)] =
        EXANET_RT_VALID | RNIC_PREP(EXANET_RT_SEQ, pkt->seq) |
        RNIC_PREP(EXANET_RT_RESP, pkt->resp) |
        RNIC_PREP(EXANET_RT_TID, pkt->tid);
    trace_exanet_rtmailbox_response(s->node, pkt->tid, pkt->seq, pkt->resp);
    rtmailbox_notify(s);
}

/*
 * Returns the context that owns the data that @pkt requests.  The caller has checked
 * the size of @pkt.
 */
static unsigned request_owner(const ExanetPacket *pkt)
{
    uint64_t ctrl = ldq_le_p(pkt->payload +
                             offsetof(struct exanet_read_req, ctrl));

    return RNIC_GET(EXANET_READ_REQ_OWNER, ctrl);
}

enum exanet_resp exanet_rtmailbox_check(ExanetState *s, const ExanetPacket *pkt)
{
    if (pkt->bad_payload) {
        return EXANET_RESP_CRC;
    }
    if (pkt->size < EXANET_READ_REQ_USER_BYTES) {
        return EXANET_RESP_MALFORMED;
    }
    /* the PDID has the context of the requester; the payload names the data's owner */
    return exanet_context_check(s, (pkt->pdid & EXANET_PDID_JOB) |
                                   request_owner(pkt), pkt->src);
}

/*
 * Returns true if the FIFO has room for request @pkt and, if FW_MODE is INTERNAL, the
 * model of the R5 has room too.
 */
static bool rtmailbox_room(ExanetState *s, const ExanetPacket *pkt)
{
    if (s->rt.requests.count == EXANET_RT_REQUESTS_MAX) {
        return false;
    }
    if (!s->rt.internal) {
        return true;
    }
    return s->rt.room(s, request_owner(pkt), s->rt.requests.count);
}

enum exanet_resp exanet_rtmailbox_request(ExanetState *s,
                                          const ExanetPacket *pkt)
{
    ExanetRtMailbox *rt = &s->rt;
    struct exanet_read_req req = { 0 };

    if (pkt->size < EXANET_READ_REQ_USER_BYTES || pkt->size > sizeof(req)) {
        return EXANET_RESP_MALFORMED;
    }
    if (!rtmailbox_room(s, pkt)) {
        exanet_count(s, RT_REQ_FULL);
        trace_exanet_rtmailbox_err_full(s->node, pkt->src, pkt->tid);
        return EXANET_RESP_FULL;
    }
    /*
     * the last 16 bytes of @req are from the packet's header and footer, because the
     * requester can forge the payload
     */
    memcpy(&req, pkt->payload, EXANET_READ_REQ_USER_BYTES);
    req.origin = cpu_to_le64(
        RNIC_PREP(EXANET_READ_ORIGIN_PDID, pkt->pdid) |
        RNIC_PREP(EXANET_READ_ORIGIN_COORD, pkt->src) |
        RNIC_PREP(EXANET_READ_ORIGIN_TID, pkt->tid) |
        RNIC_PREP(EXANET_READ_ORIGIN_TYPE, pkt->type));
    req.origin_seq = cpu_to_le64(pkt->seq);
    memcpy(rt->req[rnic_fifo_push(&rt->requests, EXANET_RT_REQUESTS_MAX)], &req,
           sizeof(req));
    trace_exanet_rtmailbox_request(s->node, pkt->src, pkt->pdid, pkt->tid);
    rtmailbox_notify(s);
    return EXANET_RESP_ACK;
}

static void rtmailbox_request_drop(ExanetRtMailbox *rt)
{
    rnic_fifo_pop(&rt->requests, EXANET_RT_REQUESTS_MAX);
    rt->req_lane = 0;
}

bool exanet_rtmailbox_pop_request(ExanetState *s, struct exanet_read_req *req)
{
    ExanetRtMailbox *rt = &s->rt;

    if (rt->requests.count == 0) {
        return false;
    }
    memcpy(req, rt->req[rt->requests.head], sizeof(*req));
    rtmailbox_request_drop(rt);
    return true;
}

/* --- Registers: the view of an external R5 ----------------------------------- */

static uint32_t rtmailbox_resp_read(ExanetState *s)
{
    uint32_t word = 0;

    /*
     * removes no response while the model of the R5 runs, because the model needs all
     * responses
     */
    if (!s->rt.internal) {
        exanet_rtmailbox_pop_response(&s->rt, &word);
    }
    return word | (s->rt.requests.count ? EXANET_RT_REQUESTS : 0);
}

static uint32_t rtmailbox_req_read(ExanetState *s)
{
    ExanetRtMailbox *rt = &s->rt;
    uint32_t value;

    if (rt->requests.count == 0 || s->rt.internal) {
        return 0;
    }
    value = ldl_le_p(rt->req[rt->requests.head] + 4 * rt->req_lane);
    if (++rt->req_lane == REQUEST_LANES) {
        rtmailbox_request_drop(rt);
    }
    return value;
}

void exanet_rtmailbox_reg_sync(ExanetState *s, unsigned reg)
{
    ExanetRtMailbox *rt = &s->rt;
    uint32_t value;

    switch (reg) {
    case EXANET_REG_RT_RESP:
        value = rtmailbox_resp_read(s);
        break;
    case EXANET_REG_RT_RESP_COUNT:
        value = rt->responses.count;
        break;
    case EXANET_REG_RT_REQ_COUNT:
        value = rt->requests.count * EXANET_RT_MSG_WORDS - rt->req_lane / WORD_LANES;
        break;
    case EXANET_REG_RT_DROPS:
        value = s->counter[EXANET_CNT_RT_DROPPED];
        break;
    case EXANET_REG_RT_REQ_DATA:
        value = rtmailbox_req_read(s);
        break;
    default:
        return;
    }
    exanet_reg_set32(s, EXANET_RTMBOX + reg, value);
}

void exanet_rtmailbox_reg_written(ExanetState *s, unsigned reg, bool top)
{
    /*
     * drops a request of which some words were read, so that the next read starts a
     * request
     */
    if (reg == EXANET_REG_RT_REQ_RESYNC && top && s->rt.req_lane) {
        rtmailbox_request_drop(&s->rt);
    }
}

static void rtmailbox_reset(ExanetState *s)
{
    bool (*room)(ExanetState *s, unsigned owner, unsigned more) = s->rt.room;

    memset(&s->rt, 0, sizeof(s->rt));
    s->rt.room = room;
    exanet_rtmailbox_mode_load(s);
}

const ExanetUnit exanet_rtmailbox_unit = {
    .reset = rtmailbox_reset,
};
