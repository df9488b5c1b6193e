/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: responder: sends answers.  READs and atomics are resources,
 * which are answered in the order of their PSNs.  One acknowledgement of all accepted
 * requests, or one NAK, follows these responses.
 */
#include "qemu/osdep.h"
#include "../wire/dcqcn.h"
#include "../objects/mr.h"
#include "../wire/port.h"
#include "../pvrdma.h"
#include "../objects/qp.h"
#include "req.h"
#include "resp-internal.h"
#include "resp.h"
#include "../wire/roce.h"
#include "../trace.h"

PvrdmaResource *pvrdma_resp_active(PvrdmaResp *r)
{
    while (r->resource_next < r->resource_count) {
        PvrdmaResource *res = pvrdma_resource_at(r, r->resource_next);

        if (res->active) {
            return res;
        }
        r->resource_next++;
    }
    return NULL;
}

bool pvrdma_resp_has_work(PvrdmaQp *qp)
{
    PvrdmaResp *r = &qp->resp;

    /* A QP in state ERR sends answers only until resp_refuse()'s NAK is sent. */
    if (qp->state < PVRDMA_QPS_RTR ||
        (qp->state == PVRDMA_QPS_ERR && r->answer != PVRDMA_ANSWER_REFUSE)) {
        return false;
    }
    return r->answer != PVRDMA_ANSWER_NONE || r->cnp_due || pvrdma_resp_active(r);
}

/*
 * Builds the headers of @pkt, a packet to the peer.  Returns the address of the payload.
 */
static uint8_t *resp_begin(PvrdmaQp *qp, RocePacket *pkt)
{
    pkt->pkey = ROCE_PKEY_DEFAULT;
    pkt->qpn = qp->attr.dest_qpn;
    return pvrdma_tx_begin(qp->s, &qp->path, pkt);
}

/*
 * Handles a READ whose memory cannot be read.  If the whole response was sent before,
 * drops the repeated request, because the peer may have the data, and the guest may have
 * freed the memory.  Otherwise ends the connection.
 */
static void read_failed(PvrdmaQp *qp, PvrdmaResource *res, PvrdmaMrStatus status)
{
    if (res->replay) {
        res->active = false;
    } else {
        pvrdma_resp_mr_failed(qp, status, res->send_psn);
    }
}

static void send_read(PvrdmaQp *qp, PvrdmaResource *res)
{
    static const uint8_t opcodes[2][2] = {      /* index: [first packet][last packet] */
        { ROCE_OP_READ_RESP_MIDDLE, ROCE_OP_READ_RESP_LAST },
        { ROCE_OP_READ_RESP_FIRST, ROCE_OP_READ_RESP_ONLY },
    };
    uint32_t offset = roce_psn_diff(res->send_psn, res->from_psn) * qp->mtu;
    uint32_t len = MIN(qp->mtu, res->len - offset);
    bool last = offset + len == res->len;
    RocePacket pkt = {
        .opcode = opcodes[offset == 0][last],
        .psn = res->send_psn,
        .syndrome = ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS),
        .msn = res->msn,
    };
    uint8_t *payload = resp_begin(qp, &pkt);
    PvrdmaMrStatus status = PVRDMA_MR_OK;

    if (len) {
        status = pvrdma_mr_read(qp, res->rkey, res->va + offset, payload, len,
                                PVRDMA_ACCESS_REMOTE_READ);
    }
    if (status != PVRDMA_MR_OK) {
        read_failed(qp, res, status);
        return;
    }
    trace_pvrdma_resp_gather(qp->s->port.netdev, qp->handle, pkt.opcode, pkt.psn,
                             len);
    pvrdma_tx_end(qp->s, len);
    if (unlikely(qp->rate.limited)) {
        pvrdma_dcqcn_sent(&qp->rate, rnic_now(), len);
    }
    pvrdma_count(qp->s, PVRDMA_CNT_TX_READ_RESP);
    res->send_psn = roce_psn_add(res->send_psn, 1);
    res->active = !last;
    res->replay |= pkt.psn == res->last_psn;
}

static void send_atomic(PvrdmaQp *qp, PvrdmaResource *res)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_ATOMIC_ACK,
        .psn = res->psn,
        .syndrome = ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS),
        .msn = res->msn,
        .original = res->original,
    };

    resp_begin(qp, &pkt);
    pvrdma_tx_end(qp->s, 0);
    pvrdma_count(qp->s, PVRDMA_CNT_TX_ACK);
    res->active = false;
    res->replay = true;
}

static void send_answer(PvrdmaQp *qp)
{
    PvrdmaResp *r = &qp->resp;
    const struct {
        uint8_t syndrome;
        uint32_t psn;
        enum pvrdma_counter counter;
    } answers[] = {
        [PVRDMA_ANSWER_ACK] = {
            ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS),
            roce_psn_add(r->epsn, -1), PVRDMA_CNT_TX_ACK,
        },
        [PVRDMA_ANSWER_SEQUENCE] = {
            ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE),
            r->epsn, PVRDMA_CNT_TX_NAK,
        },
        [PVRDMA_ANSWER_RNR] = {
            ROCE_AETH_SYN(ROCE_AETH_RNR_NAK,
                          qp->attr.min_rnr_timer & ROCE_AETH_VALUE),
            r->epsn, PVRDMA_CNT_TX_RNR,
        },
        [PVRDMA_ANSWER_REFUSE] = {
            ROCE_AETH_SYN(ROCE_AETH_NAK, r->nak),
            r->nak_psn, PVRDMA_CNT_TX_NAK_ERROR,
        },
    };
    RocePacket pkt = {
        .opcode = ROCE_OP_ACK,
        .psn = answers[r->answer].psn,
        .syndrome = answers[r->answer].syndrome,
        .msn = r->msn,
    };

    trace_pvrdma_resp_respond(qp->s->port.netdev, qp->handle, pkt.syndrome,
                              pkt.psn, pkt.msn);
    resp_begin(qp, &pkt);
    pvrdma_tx_end(qp->s, 0);
    pvrdma_count(qp->s, answers[r->answer].counter);
    r->answer = PVRDMA_ANSWER_NONE;
    r->acked_psn = r->epsn;
}

static void send_cnp(PvrdmaQp *qp)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_CNP,
        .becn = true,
    };

    memset(resp_begin(qp, &pkt), 0, ROCE_CNP_BYTES);
    pvrdma_tx_end(qp->s, ROCE_CNP_BYTES);
    pvrdma_count(qp->s, PVRDMA_CNT_TX_CNP);
    qp->resp.cnp_due = false;
}

static void send_next(PvrdmaQp *qp)
{
    PvrdmaResource *res = pvrdma_resp_active(&qp->resp);

    if (qp->resp.cnp_due) {
        send_cnp(qp);
    } else if (!res) {
        send_answer(qp);
    } else if (res->atomic) {
        send_atomic(qp, res);
    } else {
        send_read(qp, res);
    }
}

bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget)
{
    while (pvrdma_resp_has_work(qp)) {
        if (!*budget || !pvrdma_port_may_send(&qp->s->port)) {
            return true;
        }
        /*
         * In state ERR the last answers ignore the rate limit, because the timer is
         * stopped.
         */
        if (qp->state != PVRDMA_QPS_ERR && !qp->resp.cnp_due &&
            pvrdma_resp_active(&qp->resp) && pvrdma_req_congested(qp)) {
            return false;
        }
        (*budget)--;
        send_next(qp);
    }
    return false;
}
