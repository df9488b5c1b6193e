/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: requester: sends the packets of a work request.
 */
#include "qemu/osdep.h"
#include "../wire/dcqcn.h"
#include "../wire/port.h"
#include "../pvrdma.h"
#include "../objects/qp.h"
#include "req-internal.h"
#include "req.h"
#include "../wire/roce.h"
#include "../objects/wq.h"
#include "../trace.h"

/*
 * Returns true if @packets more packets fit into a window of @most packets that are not
 * acknowledged.  If the result is false, the next acknowledgement activates the QP.
 */
static bool req_window_has_room(PvrdmaReq *req, uint32_t packets, uint32_t most)
{
    if (pvrdma_req_distance(req->una_psn, req->psn) + packets <= most) {
        return true;
    }
    req->waiting = true;
    return false;
}

/*
 * Ends and sends the packet at the cursor, which has @len bytes of payload.  @packets is
 * the number of PSNs that the packet and its response use.
 */
static void req_transmit(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint32_t packets,
                         uint32_t len)
{
    trace_pvrdma_req_build(qp->s->port.netdev, qp->handle, sqe->opcode,
                           qp->req.psn, packets);
    pvrdma_tx_end(qp->s, len);
}

/*
 * Moves the cursor past the @packets PSNs of @sqe that the sent packet uses.  Counts a
 * retransmission in TX_RETRY.
 */
static void req_advance(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint32_t packets)
{
    PvrdmaReq *req = &qp->req;
    bool last = pvrdma_req_distance(req->psn, sqe->last_psn) < packets;

    if (req->psn != req->next_psn) {
        pvrdma_count(qp->s, PVRDMA_CNT_TX_RETRY);
    }
    req->psn = roce_psn_add(req->psn, packets);
    if (roce_psn_diff(req->psn, req->next_psn) > 0) {
        req->next_psn = req->psn;
    }
    req->next += last;
}

static void req_packet_init(const PvrdmaQp *qp, const PvrdmaSqe *sqe,
                            RocePacket *pkt)
{
    *pkt = (RocePacket) {
        .pkey = ROCE_PKEY_DEFAULT,
        .qpn = qp->attr.dest_qpn,
        .psn = qp->req.psn,
        .va = sqe->remote_addr,
        .rkey = sqe->rkey,
        .dma_len = sqe->length,
        .imm = sqe->imm,
        .inv_rkey = sqe->inv_rkey,
    };
}

static uint8_t req_data_opcode(const PvrdmaReqOp *op, bool first, bool last)
{
    if (first) {
        return last ? op->only : op->first;
    }
    return last ? op->last : op->middle;
}

/* Sends the packet at the cursor, of the SEND or WRITE @sqe; see pvrdma_req_send(). */
static bool req_data_send(PvrdmaQp *qp, PvrdmaSqe *sqe, const PvrdmaReqOp *op)
{
    PvrdmaReq *req = &qp->req;
    uint32_t packet = pvrdma_req_distance(sqe->psn, req->psn);
    uint32_t offset = packet * qp->mtu;
    uint32_t len = MIN(sqe->length - offset, qp->mtu);
    bool last = req->psn == sqe->last_psn;
    RocePacket pkt;
    uint8_t *payload;

    if (!req_window_has_room(req, 1, PVRDMA_REQ_PACKETS)) {
        return false;
    }
    req_packet_init(qp, sqe, &pkt);
    pkt.opcode = req_data_opcode(op, !packet, last);
    pkt.solicited = last && sqe->flags & PVRDMA_SEND_SOLICITED;
    pkt.ack_req = last || (packet + 1) % PVRDMA_REQ_ACK_PACKETS == 0;
    payload = pvrdma_tx_begin(qp->s, &qp->path, &pkt);
    if (len) {
        uint8_t status = pvrdma_sg_read(qp, sqe->sge, sqe->sges, offset, payload,
                                        len);

        if (status) {
            pvrdma_req_refuse(qp, sqe, status);
            return false;
        }
        trace_pvrdma_req_gather(qp->s->port.netdev, qp->handle, req->psn, len);
    }
    req_transmit(qp, sqe, 1, len);
    if (unlikely(qp->rate.limited)) {
        pvrdma_dcqcn_sent(&qp->rate, rnic_now(), len);
    }
    req_advance(qp, sqe, 1);
    return true;
}

/*
 * Returns true if max_rd_atomic requests for READs and atomics await their response.  In
 * this case the next response activates the QP.  The limit is at least 1, because a READ
 * that has begun continues even if the guest sets max_rd_atomic to 0.
 */
static bool req_reads_full(PvrdmaQp *qp)
{
    bool full = pvrdma_req_reads(&qp->req) >= MAX(qp->attr.max_rd_atomic, 1);

    qp->req.waiting |= full;
    return full;
}

/*
 * Sets the bit of the request at the cursor in PvrdmaReq.unanswered.  The answer to this
 * request uses @packets PSNs.
 */
static void req_unanswered_set(PvrdmaReq *req, uint32_t packets)
{
    uint32_t end = roce_psn_add(req->psn, packets - 1);

    QEMU_BUILD_BUG_ON((ROCE_PSN_MASK + 1) % PVRDMA_REQ_PACKETS);
    set_bit(end % PVRDMA_REQ_PACKETS, req->unanswered);
}

/*
 * Returns how many response packets the request at the cursor of a READ covers.  @again
 * is true if the request is a retransmission.
 */
static uint32_t req_read_packets(const PvrdmaQp *qp, const PvrdmaSqe *sqe, bool again)
{
    uint32_t most = again ? PVRDMA_REQ_REPEAT_PACKETS : PVRDMA_REQ_READ_PACKETS;
    uint32_t at = pvrdma_req_distance(sqe->psn, qp->req.psn);
    uint32_t left = pvrdma_req_distance(qp->req.psn, sqe->last_psn) + 1;

    return MIN(left, most - at % most);
}

/*
 * Returns true if a repeated request at the cursor must wait, because an earlier part of
 * the same original request has no complete answer.  In this case the next response
 * activates the QP.  The QP waits because some peers stop the answer to one part when the
 * request for the next part arrives.
 */
static bool req_read_waits(PvrdmaReq *req, const PvrdmaSqe *sqe)
{
    bool waits = pvrdma_req_reads(req) &&
                 pvrdma_req_distance(sqe->psn, req->psn) % PVRDMA_REQ_READ_PACKETS;

    req->waiting |= waits;
    return waits;
}

/*
 * Sends the request for the part of the READ @sqe that begins at the cursor.  Returns
 * false if the request must wait.
 */
static bool req_read_send(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    PvrdmaReq *req = &qp->req;
    bool again = req->psn != req->next_psn;
    uint32_t offset = pvrdma_req_distance(sqe->psn, req->psn) * qp->mtu;
    uint32_t packets = req_read_packets(qp, sqe, again);
    uint32_t most = again && pvrdma_req_reads(req) ? PVRDMA_REQ_REPEAT_PACKETS :
                                          PVRDMA_REQ_PACKETS;
    RocePacket pkt;

    if ((again && req_read_waits(req, sqe)) || req_reads_full(qp) ||
        !req_window_has_room(req, packets, most)) {
        return false;
    }
    req_packet_init(qp, sqe, &pkt);
    pkt.opcode = ROCE_OP_READ_REQUEST;
    pkt.va += offset;
    pkt.dma_len = MIN(sqe->length - offset, packets * qp->mtu);
    pvrdma_tx_begin(qp->s, &qp->path, &pkt);
    req_transmit(qp, sqe, packets, 0);
    req_unanswered_set(req, packets);
    req_advance(qp, sqe, packets);
    return true;
}

static bool req_atomic_send(PvrdmaQp *qp, PvrdmaSqe *sqe, const PvrdmaReqOp *op)
{
    RocePacket pkt;

    if (req_reads_full(qp) || !req_window_has_room(&qp->req, 1, PVRDMA_REQ_PACKETS)) {
        return false;
    }
    req_packet_init(qp, sqe, &pkt);
    pkt.opcode = op->only;
    if (sqe->opcode == PVRDMA_WR_ATOMIC_CMP_AND_SWP) {
        pkt.swap_add = sqe->swap;
        pkt.compare = sqe->compare_add;
    } else {
        pkt.swap_add = sqe->compare_add;
    }
    pvrdma_tx_begin(qp->s, &qp->path, &pkt);
    req_transmit(qp, sqe, 1, 0);
    req_unanswered_set(&qp->req, 1);
    req_advance(qp, sqe, 1);
    return true;
}

bool pvrdma_req_send(PvrdmaQp *qp, PvrdmaSqe *sqe)
{
    const PvrdmaReqOp *op = pvrdma_req_op(sqe->opcode);

    switch (op->kind) {
    case PVRDMA_REQ_READ:
        return req_read_send(qp, sqe);
    case PVRDMA_REQ_ATOMIC:
        return req_atomic_send(qp, sqe, op);
    default:
        return req_data_send(qp, sqe, op);
    }
}
