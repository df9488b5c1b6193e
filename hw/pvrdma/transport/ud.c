/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: datagrams: sends and receives packets of UD and GSI QPs.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../objects/cq.h"
#include "../base/guest.h"
#include "../wire/port.h"
#include "../pvrdma.h"
#include "../objects/qp-attr.h"
#include "../objects/qp.h"
#include "resp.h"
#include "../wire/roce.h"
#include "ud.h"
#include "../objects/wq.h"
#include "../trace.h"

/*
 * If this bit is set in the QKEY of a WQE, the packet contains the QKEY of the QP
 * instead, because user space must not send a privileged QKEY.
 */
#define UD_QKEY_OWN RNIC_BIT(31)

static uint32_t ud_qkey(const PvrdmaQp *qp)
{
    return qp->type == PVRDMA_QPT_GSI ? ROCE_QKEY_GSI : qp->attr.qkey;
}

static uint8_t ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    bool imm = sqe->opcode == PVRDMA_WR_SEND_WITH_IMM;
    RocePacket pkt = {
        .opcode = imm ? ROCE_OP_UD_SEND_ONLY_IMM : ROCE_OP_UD_SEND_ONLY,
        .solicited = sqe->flags & PVRDMA_SEND_SOLICITED,
        .pkey = ROCE_PKEY_DEFAULT,
        .qpn = sqe->ud.qpn & ROCE_QPN_MASK,
        .psn = qp->ud_psn,
        .qkey = sqe->ud.qkey & UD_QKEY_OWN ? ud_qkey(qp) : sqe->ud.qkey,
        .src_qpn = qp->qpn,
        .imm = sqe->imm,
    };
    RocePath path;
    uint8_t *payload;
    uint8_t status;

    if ((!imm && sqe->opcode != PVRDMA_WR_SEND) || sqe->ud.av.pd != qp->pd ||
        !pvrdma_qp_path(qp, &sqe->ud.av, pkt.qpn, &path)) {
        return PVRDMA_WC_LOC_QP_OP_ERR;
    }
    if (sqe->length > qp->mtu) {
        return PVRDMA_WC_LOC_LEN_ERR;
    }
    payload = pvrdma_tx_begin(qp->s, &path, &pkt);
    status = pvrdma_sg_read(qp, sqe->sge, sqe->sges, 0, payload, sqe->length);
    if (status == PVRDMA_WC_SUCCESS) {
        trace_pvrdma_ud_build(qp->s->port.netdev, qp->handle, pkt.opcode, pkt.psn,
                              pkt.qpn, sqe->length);
        qp->ud_psn = roce_psn_add(qp->ud_psn, 1);
        pvrdma_tx_end(qp->s, sqe->length);
    }
    return status;
}

uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    uint8_t status = ud_send(qp, sqe);

    if (status != PVRDMA_WC_SUCCESS) {
        pvrdma_guest_error(qp->s, "QP %u: datagram of %u bytes: status %u",
                           qp->handle, sqe->length, status);
    }
    return status;
}

static bool ud_qkey_ok(PvrdmaQp *qp, uint32_t qkey)
{
    if (qkey == ud_qkey(qp)) {
        return true;
    }
    pvrdma_count(qp->s, PVRDMA_CNT_RX_BAD_QKEY);
    qp->s->qkey_violations++;
    return false;
}

/*
 * Fetches a receive WQE into @qp->resp.rqe, unless this member still contains a WQE that
 * was too short for an earlier datagram.  Returns false if no WQE is posted, or if the
 * queue cannot be read.
 */
static bool ud_receive(PvrdmaQp *qp)
{
    PvrdmaResp *r = &qp->resp;

    if (!r->rqe_valid) {
        r->rqe_valid = pvrdma_qp_receive(qp, &r->rqe) > 0;
    }
    return r->rqe_valid;
}

/*
 * Returns false if the datagram is too long for @rqe.  The caller drops such a datagram,
 * because otherwise any sender could end the QP [EXT].  Returns true for a WQE in error.
 */
static bool ud_fits(const PvrdmaRqe *rqe, const RocePacket *pkt)
{
    return rqe->status != PVRDMA_WC_SUCCESS ||
           rqe->length >= ROCE_GRH_BYTES + pkt->payload_len;
}

/* Stores GRH and payload in the buffers of @rqe.  Returns enum pvrdma_wc_status. */
static uint8_t ud_place(PvrdmaQp *qp, const PvrdmaRqe *rqe,
                        const RocePacket *pkt, const uint8_t *frame)
{
    uint8_t grh[ROCE_GRH_BYTES];
    uint8_t status = rqe->status;

    if (status == PVRDMA_WC_SUCCESS) {
        roce_frame_grh(frame, grh);
        status = pvrdma_sg_write(qp, rqe->sge, rqe->sges, 0, grh, sizeof(grh));
    }
    if (status == PVRDMA_WC_SUCCESS) {
        status = pvrdma_sg_write(qp, rqe->sge, rqe->sges, sizeof(grh),
                                 pkt->payload, pkt->payload_len);
    }
    return status;
}

/*
 * Returns the value of the completion's service level: for a UD QP a code for the type of
 * the network header [EXT], for the GSI QP 0.
 */
static uint8_t ud_sl(const PvrdmaQp *qp, const RocePath *path)
{
    static const uint8_t type[] = {
        [ROCE_NETWORK_V1] = 0x0, [ROCE_NETWORK_IPV6] = 0x9,
        [ROCE_NETWORK_IPV4] = 0xa,
    };

    return qp->type == PVRDMA_QPT_UD ? type[path->network] : 0;
}

static void ud_complete(PvrdmaQp *qp, const PvrdmaRqe *rqe,
                        const RocePath *path, const RocePacket *pkt)
{
    PvrdmaWc wc = {
        .wr_id = rqe->wr_id,
        .qp = qp->handle,
        .status = PVRDMA_WC_SUCCESS,
        .opcode = PVRDMA_WC_RECV,
        .solicited = pkt->solicited,
        .byte_len = ROCE_GRH_BYTES + pkt->payload_len,
        .src_qp = pkt->src_qpn,
        .flags = PVRDMA_WC_GRH | PVRDMA_WC_WITH_SMAC |
                 PVRDMA_WC_WITH_NETWORK_HDR_TYPE,
        .network_hdr_type = path->network,
        .sl = ud_sl(qp, path),
    };

    QEMU_BUILD_BUG_ON((int)ROCE_NETWORK_V1 != (int)PVRDMA_NETWORK_ROCE_V1 ||
                      (int)ROCE_NETWORK_IPV4 != (int)PVRDMA_NETWORK_IPV4 ||
                      (int)ROCE_NETWORK_IPV6 != (int)PVRDMA_NETWORK_IPV6);
    if (roce_opcode_info(pkt->opcode)->flags & ROCE_HAS_IMM) {
        wc.flags |= PVRDMA_WC_WITH_IMM;
        wc.imm = pkt->imm;
    }
    memcpy(wc.smac, path->smac, sizeof(wc.smac));
    pvrdma_cq_push(qp->s, qp->recv_cq, &wc);
}

void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame)
{
    PvrdmaWc failed = { .qp = qp->handle, .opcode = PVRDMA_WC_RECV };
    PvrdmaRqe *rqe = &qp->resp.rqe;

    trace_pvrdma_ud_parse(qp->s->port.netdev, qp->handle, pkt->opcode, pkt->psn,
                          pkt->src_qpn, pkt->payload_len);
    if (!ud_qkey_ok(qp, pkt->qkey)) {
        return;
    }
    if (!ud_receive(qp) || !ud_fits(rqe, pkt)) {
        pvrdma_count(qp->s, PVRDMA_CNT_RX_NO_RECEIVE);
        return;
    }
    /* The WQE completes below, so a flush must not complete this WQE again. */
    qp->resp.rqe_valid = false;
    failed.status = ud_place(qp, rqe, pkt, frame);
    if (failed.status == PVRDMA_WC_SUCCESS) {
        ud_complete(qp, rqe, path, pkt);
        return;
    }
    pvrdma_guest_error(qp->s, "QP %u: receive WQE of %u bytes for %u: status %u",
                       qp->handle, rqe->length, pkt->payload_len, failed.status);
    failed.wr_id = rqe->wr_id;
    pvrdma_cq_push(qp->s, qp->recv_cq, &failed);
    pvrdma_qp_error(qp, -1);
}
