/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: responder: executes requests of the peer.  The functions of
 * steps[] check and execute a request with the expected PSN, in the order of the array.
 * resp-tx.c sends the answers.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../objects/cq.h"
#include "../base/guest.h"
#include "../objects/mr.h"
#include "../pvrdma.h"
#include "../objects/qp.h"
#include "resp-internal.h"
#include "resp.h"
#include "../wire/roce.h"
#include "../objects/wq.h"
#include "../trace.h"

#define ATOMIC_BYTES sizeof(uint64_t)
/* An acknowledgement of at least this number of packets is not delayed. */
#define RESP_DELAYED_PACKETS 32

/* Result of a function of steps[]. */
typedef enum RespVerdict {
    RESP_GO,                    /* no error: the next function of steps[] follows */
    RESP_NOT_READY,             /* no receive WQE: the peer must retry */
    /*
     * Each of the following values ends the connection.  RESP_BAD_REQUEST: wrong order,
     * length, address or operation, or too many READs and atomics.
     */
    RESP_BAD_REQUEST,
    RESP_BAD_ACCESS,            /* no region with the key permits the access */
    RESP_BAD_MEMORY,            /* bus error in the memory of a region */
    RESP_TOO_LONG,              /* SEND longer than its receive WQE */
    RESP_BAD_BUFFER,            /* receive WQE in error, or its memory not accessible */
    RESP_BAD_QUEUE,             /* the receive queue cannot be read */
} RespVerdict;

/* The reactions to each verdict that ends the connection. */
static const struct {
    uint8_t nak;                /* enum roce_nak */
    uint8_t status;             /* status of the receive WQE, if the message has one */
    /* Event for the guest; -1: none, because the guest gets a completion. */
    int event;
    enum pvrdma_counter counter;
} refusals[] = {
    [RESP_BAD_REQUEST] = {
        ROCE_NAK_INVALID_REQUEST, PVRDMA_WC_REM_INV_REQ_ERR,
        PVRDMA_EVENT_QP_REQ_ERR, PVRDMA_CNT_RX_BAD_REQUEST,
    },
    [RESP_BAD_ACCESS] = {
        ROCE_NAK_REMOTE_ACCESS, PVRDMA_WC_REM_ACCESS_ERR,
        PVRDMA_EVENT_QP_ACCESS_ERR, PVRDMA_CNT_RX_BAD_ACCESS,
    },
    [RESP_BAD_MEMORY] = {
        ROCE_NAK_REMOTE_OPERATION, PVRDMA_WC_REM_OP_ERR,
        PVRDMA_EVENT_QP_FATAL, PVRDMA_CNT_RX_BAD_ACCESS,
    },
    [RESP_TOO_LONG] = {
        ROCE_NAK_INVALID_REQUEST, PVRDMA_WC_LOC_LEN_ERR,
        -1, PVRDMA_CNT_RX_BAD_REQUEST,
    },
    [RESP_BAD_BUFFER] = {
        ROCE_NAK_REMOTE_OPERATION, PVRDMA_WC_LOC_PROT_ERR,
        -1, PVRDMA_CNT_RX_BAD_ACCESS,
    },
    [RESP_BAD_QUEUE] = {
        ROCE_NAK_REMOTE_OPERATION, PVRDMA_WC_LOC_QP_OP_ERR,
        PVRDMA_EVENT_QP_FATAL, PVRDMA_CNT_RX_BAD_ACCESS,
    },
};

static RespVerdict mr_verdict(PvrdmaMrStatus status)
{
    switch (status) {
    case PVRDMA_MR_OK:
        return RESP_GO;
    case PVRDMA_MR_BUS_ERROR:
        return RESP_BAD_MEMORY;
    default:
        return RESP_BAD_ACCESS;
    }
}

/* Returns the access rights that a region must permit for a request. */
static uint32_t access_needed(uint32_t flags)
{
    if (flags & ROCE_IS_READ) {
        return PVRDMA_ACCESS_REMOTE_READ;
    }
    if (flags & ROCE_IS_ATOMIC) {
        return PVRDMA_ACCESS_REMOTE_ATOMIC;
    }
    return flags & ROCE_IS_WRITE ? PVRDMA_ACCESS_REMOTE_WRITE : 0;
}

void pvrdma_resp_init(PvrdmaQp *qp)
{
    qp->resp = (PvrdmaResp) {
        .epsn = qp->attr.rq_psn & ROCE_PSN_MASK,
        .acked_psn = qp->attr.rq_psn & ROCE_PSN_MASK,
    };
}

/* --- Completions ---------------------------------------------------------- */
/*
 * Completes the receive WQE with @status, of enum pvrdma_wc_status.  @pkt is the last
 * packet of the message, or NULL if no message has arrived completely.
 */
static void resp_complete(PvrdmaQp *qp, const RocePacket *pkt, uint8_t status)
{
    PvrdmaResp *r = &qp->resp;
    uint32_t flags = pkt ? roce_opcode_info(pkt->opcode)->flags : 0;
    PvrdmaWc wc = {
        .wr_id = r->rqe.wr_id,
        .qp = qp->handle,
        .status = status,
        .opcode = flags & ROCE_IS_WRITE ? PVRDMA_WC_RECV_RDMA_WITH_IMM :
                                          PVRDMA_WC_RECV,
        .src_qp = qp->attr.dest_qpn,
    };

    if (pkt) {
        wc.solicited = pkt->solicited;
        wc.byte_len = r->done;
    }
    if (flags & ROCE_HAS_IMM) {
        wc.imm = pkt->imm;
        wc.flags = PVRDMA_WC_WITH_IMM;
    }
    if (flags & ROCE_HAS_IETH) {
        wc.imm = cpu_to_le32(pkt->inv_rkey);
        wc.flags = PVRDMA_WC_WITH_INVALIDATE;
    }
    /* The WQE completes now, so a flush must not complete this WQE again. */
    r->rqe_valid = false;
    pvrdma_cq_push(qp->s, qp->recv_cq, &wc);
}

bool pvrdma_resp_flush(PvrdmaQp *qp)
{
    PvrdmaResp *r = &qp->resp;

    if (r->rqe_valid) {
        resp_complete(qp, NULL, PVRDMA_WC_WR_FLUSH_ERR);
    }
    for (unsigned i = 0; i < PVRDMA_FLUSH_WQES; i++) {
        if (qp->srq || pvrdma_qp_receive(qp, &r->rqe) != 1) {
            return false;
        }
        resp_complete(qp, NULL, PVRDMA_WC_WR_FLUSH_ERR);
    }
    return true;
}

/*
 * Ends the connection: schedules a NAK for @psn, completes the receive WQE, if any, with
 * an error, and puts the QP into state ERR with the event of @verdict.  READs and atomics
 * before @psn are answered before the NAK is sent, because the peer fails all requests
 * that have no response when the NAK arrives.
 */
static void resp_refuse(PvrdmaQp *qp, RespVerdict verdict, uint32_t psn)
{
    PvrdmaResp *r = &qp->resp;

    r->answer = PVRDMA_ANSWER_REFUSE;
    r->nak = refusals[verdict].nak;
    r->nak_psn = psn;
    trace_pvrdma_resp_refuse(qp->s->port.netdev, qp->handle, psn, verdict);
    pvrdma_count(qp->s, refusals[verdict].counter);
    if (verdict == RESP_BAD_MEMORY ||
        (verdict == RESP_BAD_BUFFER && !r->rqe.status)) {
        pvrdma_guest_error(qp->s, "QP %u: a buffer of its own is not usable",
                           qp->handle);
    }
    if (r->rqe_valid) {
        resp_complete(qp, NULL, r->rqe.status ?: refusals[verdict].status);
    }
    if (qp->state != PVRDMA_QPS_ERR) {
        pvrdma_qp_error(qp, refusals[verdict].event);
    }
    pvrdma_qp_activate(qp);
}

void pvrdma_resp_mr_failed(PvrdmaQp *qp, PvrdmaMrStatus status, uint32_t psn)
{
    qp->resp.resource_count = 0;        /* the NAK also ends the READs behind @psn */
    qp->resp.resource_next = 0;
    resp_refuse(qp, mr_verdict(status), psn);
}

/* --- Resources ------------------------------------------------------------ */

static unsigned resource_limit(const PvrdmaQp *qp)
{
    return MIN(qp->attr.max_dest_rd_atomic, PVRDMA_RESP_RESOURCES);
}

/*
 * Counts, from the newest resource on, resources that are active and whose last packet
 * was never sent.  The count stops at the first other resource.
 */
static unsigned resource_unanswered(PvrdmaResp *r)
{
    unsigned n = 0;

    while (n < r->resource_count) {
        const PvrdmaResource *res = pvrdma_resource_at(r, r->resource_count - 1 - n);

        if (!res->active || res->replay) {
            break;
        }
        n++;
    }
    return n;
}

/*
 * Adds and returns a resource for @pkt.  First removes the oldest resources until fewer
 * than resource_limit() are left.
 */
static PvrdmaResource *resource_add(PvrdmaQp *qp, const RocePacket *pkt)
{
    PvrdmaResp *r = &qp->resp;
    PvrdmaResource *res;

    while (r->resource_count && r->resource_count >= resource_limit(qp)) {
        r->resource_first = (r->resource_first + 1) % PVRDMA_RESP_RESOURCES;
        r->resource_count--;
        r->resource_next -= r->resource_next > 0;
    }
    res = pvrdma_resource_at(r, r->resource_count++);
    *res = (PvrdmaResource) {
        .active = true,
        .psn = pkt->psn,
        .last_psn = pkt->psn,
        .from_psn = pkt->psn,
        .send_psn = pkt->psn,
        .va = pkt->va,
        .rkey = pkt->rkey,
    };
    return res;
}

/* Schedules resource number @i, counted from the oldest, to be answered again. */
static void resource_replay(PvrdmaResp *r, unsigned i)
{
    pvrdma_resource_at(r, i)->active = true;
    r->resource_next = MIN(r->resource_next, i);
}

/* --- Checks of a request in sequence; only get_receive() changes state ------- */
typedef RespVerdict RespStep(PvrdmaQp *qp, const RocePacket *pkt,
                             uint32_t flags);

static RespVerdict check_order(PvrdmaQp *qp, const RocePacket *pkt,
                               uint32_t flags)
{
    uint32_t message = qp->resp.message;
    bool good = flags & ROCE_IS_FIRST ? !message : message & flags;

    return good ? RESP_GO : RESP_BAD_REQUEST;
}

/*
 * Checks that the QP's access attribute permits the operation.  The NAK for a violation
 * is "invalid request", not "access error".
 */
static RespVerdict check_operation(PvrdmaQp *qp, const RocePacket *pkt,
                                   uint32_t flags)
{
    uint32_t needed = access_needed(flags);

    return (qp->attr.access & needed) == needed ? RESP_GO : RESP_BAD_REQUEST;
}

static RespVerdict check_payload(PvrdmaQp *qp, const RocePacket *pkt,
                                 uint32_t flags)
{
    uint32_t len = pkt->payload_len;
    bool good;

    if (!(flags & ROCE_IS_LAST)) {
        good = len == qp->mtu;
    } else {
        good = len <= qp->mtu && (len || (flags & ROCE_IS_FIRST));
    }
    return good ? RESP_GO : RESP_BAD_REQUEST;
}

/*
 * Checks that a WRITE has as many bytes as its RETH says, and that the length in the RETH
 * of a WRITE or a READ does not exceed ROCE_MSG_MAX.
 */
static RespVerdict check_length(PvrdmaQp *qp, const RocePacket *pkt,
                                uint32_t flags)
{
    const PvrdmaResp *r = &qp->resp;
    uint32_t len = flags & ROCE_HAS_RETH ? pkt->dma_len : r->len;
    uint64_t done = (uint64_t)(flags & ROCE_IS_FIRST ? 0 : r->done) +
                    pkt->payload_len;
    bool good = true;

    if (flags & ROCE_HAS_RETH) {
        good = len <= ROCE_MSG_MAX;
    }
    if (flags & ROCE_IS_WRITE) {
        good = good && (flags & ROCE_IS_LAST ? done == len : done < len);
    }
    return good ? RESP_GO : RESP_BAD_REQUEST;
}

/*
 * Checks the rights to the memory of a whole WRITE, READ or atomic, before the first byte
 * is copied.  Also checks the alignment of the address of an atomic.
 */
static RespVerdict check_rights(PvrdmaQp *qp, const RocePacket *pkt,
                                uint32_t flags)
{
    uint32_t len;

    if (flags & ROCE_HAS_ATOMIC) {
        if (pkt->va % ATOMIC_BYTES) {
            return RESP_BAD_REQUEST;
        }
        len = ATOMIC_BYTES;
    } else if (flags & ROCE_HAS_RETH) {
        len = pkt->dma_len;
    } else {
        return RESP_GO;
    }
    return mr_verdict(pvrdma_mr_check(qp, pkt->rkey, pkt->va, len,
                                      access_needed(flags)));
}

/*
 * Refuses a READ or an atomic if resource_limit() resources await the end of their first
 * response, because the peer must not have more requests under way.  The ring may contain
 * more resources than this limit, because the guest may lower the limit.
 */
static RespVerdict check_resource(PvrdmaQp *qp, const RocePacket *pkt,
                                  uint32_t flags)
{
    PvrdmaResp *r = &qp->resp;
    unsigned limit = resource_limit(qp);
    bool room;

    if (!(flags & (ROCE_IS_READ | ROCE_IS_ATOMIC))) {
        return RESP_GO;
    }
    room = r->resource_count < limit || resource_unanswered(r) < limit;
    return room ? RESP_GO : RESP_BAD_REQUEST;
}

/* Fetches the receive WQE that a SEND, or a WRITE with immediate data, completes. */
static RespVerdict get_receive(PvrdmaQp *qp, const RocePacket *pkt,
                               uint32_t flags)
{
    PvrdmaResp *r = &qp->resp;
    bool send = flags & ROCE_IS_SEND;

    if (!(send ? flags & ROCE_IS_FIRST : flags & ROCE_HAS_IMM)) {
        return RESP_GO;
    }
    switch (pvrdma_qp_receive(qp, &r->rqe)) {
    case 0:
        return RESP_NOT_READY;
    case 1:
        r->rqe_valid = true;
        return r->rqe.status == PVRDMA_WC_SUCCESS ? RESP_GO : RESP_BAD_BUFFER;
    default:
        return RESP_BAD_QUEUE;
    }
}

/* --- Execution ------------------------------------------------------------ */
static RespVerdict place_send(PvrdmaQp *qp, const RocePacket *pkt)
{
    const PvrdmaResp *r = &qp->resp;
    uint8_t status;

    if ((uint64_t)r->done + pkt->payload_len > MIN(r->rqe.length, ROCE_MSG_MAX)) {
        return RESP_TOO_LONG;
    }
    if (!pkt->payload_len) {
        return RESP_GO;
    }
    status = pvrdma_sg_write(qp, r->rqe.sge, r->rqe.sges, r->done,
                             pkt->payload, pkt->payload_len);
    return status == PVRDMA_WC_SUCCESS ? RESP_GO : RESP_BAD_BUFFER;
}

static RespVerdict place_write(PvrdmaQp *qp, const RocePacket *pkt)
{
    const PvrdmaResp *r = &qp->resp;

    if (!pkt->payload_len) {
        return RESP_GO;
    }
    return mr_verdict(pvrdma_mr_write(qp, r->rkey, r->va + r->done, pkt->payload,
                                      pkt->payload_len,
                                      PVRDMA_ACCESS_REMOTE_WRITE));
}

static RespVerdict execute_atomic(PvrdmaQp *qp, const RocePacket *pkt,
                                  uint64_t *original)
{
    RespVerdict verdict;
    uint64_t value, raw;

    verdict = mr_verdict(pvrdma_mr_read(qp, pkt->rkey, pkt->va, &raw, sizeof(raw),
                                        PVRDMA_ACCESS_REMOTE_ATOMIC));
    if (verdict != RESP_GO) {
        return verdict;
    }
    *original = value = le64_to_cpu(raw);
    if (pkt->opcode == ROCE_OP_FETCH_ADD) {
        value += pkt->swap_add;
    } else if (value == pkt->compare) {
        value = pkt->swap_add;
    } else {
        return RESP_GO;         /* a comparison that fails writes nothing */
    }
    raw = cpu_to_le64(value);
    return mr_verdict(pvrdma_mr_write(qp, pkt->rkey, pkt->va, &raw, sizeof(raw),
                                      PVRDMA_ACCESS_REMOTE_ATOMIC));
}

static RespVerdict begin_atomic(PvrdmaQp *qp, const RocePacket *pkt)
{
    PvrdmaResource *res;
    uint64_t original;
    RespVerdict verdict = execute_atomic(qp, pkt, &original);

    if (verdict == RESP_GO) {
        res = resource_add(qp, pkt);
        res->atomic = true;
        res->original = original;
        res->msn = roce_psn_add(qp->resp.msn, 1);
    }
    return verdict;
}

static RespVerdict begin_read(PvrdmaQp *qp, const RocePacket *pkt)
{
    PvrdmaResource *res = resource_add(qp, pkt);

    res->len = pkt->dma_len;
    res->last_psn = roce_psn_add(pkt->psn,
                                 roce_packets(pkt->dma_len, qp->mtu) - 1);
    res->msn = roce_psn_add(qp->resp.msn, 1);
    return RESP_GO;
}

static RespVerdict execute(PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    PvrdmaResp *r = &qp->resp;
    RespVerdict verdict;

    if (flags & ROCE_IS_READ) {
        return begin_read(qp, pkt);
    }
    if (flags & ROCE_IS_ATOMIC) {
        return begin_atomic(qp, pkt);
    }
    if (flags & ROCE_IS_FIRST) {
        r->done = 0;
        r->va = pkt->va;
        r->rkey = pkt->rkey;
        r->len = pkt->dma_len;
    }
    verdict = flags & ROCE_IS_SEND ? place_send(qp, pkt) : place_write(qp, pkt);
    if (verdict == RESP_GO) {
        trace_pvrdma_resp_scatter(qp->s->port.netdev, qp->handle, pkt->psn, r->done,
                                  pkt->payload_len);
        r->done += pkt->payload_len;
        if ((flags & ROCE_IS_WRITE) && (flags & ROCE_IS_LAST) &&
            !(flags & ROCE_HAS_IMM)) {
            qatomic_set(&qp->s->silent_writes, qp->s->silent_writes + 1);
        }
        r->message = flags & ROCE_IS_LAST ? 0 :
                     flags & (ROCE_IS_SEND | ROCE_IS_WRITE);
    }
    return verdict;
}

/* Invalidates the key that the last packet of a SEND with invalidation contains. */
static RespVerdict invalidate(PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    if (flags & ROCE_HAS_IETH &&
        pvrdma_mr_invalidate(qp, pkt->inv_rkey) != PVRDMA_WC_SUCCESS) {
        return RESP_BAD_ACCESS;
    }
    return RESP_GO;
}

static RespStep *const steps[] = {
    check_order,
    check_operation,
    check_payload,
    check_length,
    check_rights,
    check_resource,
    get_receive,
    execute,
    invalidate,
};

/* --- Acknowledgement ------------------------------------------------------ */
/*
 * Sets the answer to an accepted request.  If a sequence NAK is pending, and a packet
 * behind this request was dropped, keeps the NAK, because the gap still exists.
 */
static void answer_accepted(PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    PvrdmaResp *r = &qp->resp;

    if (r->answer == PVRDMA_ANSWER_SEQUENCE &&
        roce_psn_diff(r->epsn, r->ahead_psn) <= 0) {
        return;
    }
    r->nak_sent = false;
    if (flags & (ROCE_IS_READ | ROCE_IS_ATOMIC)) {
        r->answer = PVRDMA_ANSWER_NONE;     /* the response acknowledges the request */
    } else if (pkt->ack_req || r->answer != PVRDMA_ANSWER_NONE) {
        r->answer = PVRDMA_ANSWER_ACK;
    }
}

static void resp_accept(PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    PvrdmaResp *r = &qp->resp;
    uint32_t packets = flags & ROCE_IS_READ ?
                       roce_packets(pkt->dma_len, qp->mtu) : 1;

    r->epsn = roce_psn_add(r->epsn, packets);
    if (flags & ROCE_IS_LAST) {
        r->msn = roce_psn_add(r->msn, 1);
    }
    answer_accepted(qp, pkt, flags);
    if (flags & ROCE_IS_LAST && r->rqe_valid) {
        resp_complete(qp, pkt, PVRDMA_WC_SUCCESS);
    }
}

static void resp_in_sequence(PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    PvrdmaResp *r = &qp->resp;

    for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
        RespVerdict verdict = steps[i](qp, pkt, flags);

        if (verdict == RESP_NOT_READY) {
            r->answer = PVRDMA_ANSWER_RNR;
            /*
             * Packets behind this one need no NAK, because the peer repeats all of them.
             */
            r->nak_sent = true;
            return;
        }
        if (verdict != RESP_GO) {
            resp_refuse(qp, verdict, pkt->psn);
            return;
        }
    }
    resp_accept(qp, pkt, flags);
}

static void resp_ahead(PvrdmaQp *qp, const RocePacket *pkt)
{
    PvrdmaResp *r = &qp->resp;

    pvrdma_count(qp->s, PVRDMA_CNT_RX_OUT_OF_SEQUENCE);
    if (!r->nak_sent || roce_psn_diff(pkt->psn, r->ahead_psn) > 0) {
        r->ahead_psn = pkt->psn;
    }
    if (!r->nak_sent) {
        r->nak_sent = true;
        r->answer = PVRDMA_ANSWER_SEQUENCE;
    }
}

/* --- Duplicates ----------------------------------------------------------- */
/*
 * Schedules the response of resource @i, a READ, to be sent again from the PSN of @pkt
 * on.  Unfinished responses to later READs restart, because the responder sends responses
 * in the order of PSNs.  Drops @pkt if @pkt requests PSNs behind the last PSN of the
 * resource.
 */
static void replay_read(PvrdmaQp *qp, const RocePacket *pkt, unsigned i)
{
    PvrdmaResp *r = &qp->resp;
    PvrdmaResource *res = pvrdma_resource_at(r, i);
    uint32_t room = roce_psn_diff(res->last_psn, pkt->psn) + 1;

    if (roce_packets(pkt->dma_len, qp->mtu) > room) {
        return;
    }
    resource_replay(r, i);
    res->from_psn = res->send_psn = pkt->psn;
    res->va = pkt->va;
    res->rkey = pkt->rkey;
    res->len = pkt->dma_len;
    for (i++; i < r->resource_count; i++) {
        res = pvrdma_resource_at(r, i);
        res->send_psn = res->from_psn;
    }
}

/*
 * Schedules the response to a repeated READ or atomic to be sent again.  Drops @pkt if no
 * such resource contains the PSN of @pkt.
 */
static void resp_replay(PvrdmaQp *qp, const RocePacket *pkt, bool atomic)
{
    PvrdmaResp *r = &qp->resp;

    for (unsigned i = 0; i < r->resource_count; i++) {
        PvrdmaResource *res = pvrdma_resource_at(r, i);

        if (res->atomic != atomic || roce_psn_diff(pkt->psn, res->psn) < 0 ||
            roce_psn_diff(pkt->psn, res->last_psn) > 0) {
            continue;
        }
        if (atomic) {
            resource_replay(r, i);
        } else {
            replay_read(qp, pkt, i);
        }
        return;
    }
}

/*
 * Counts a repeated request in RX_DUPLICATE, and may schedule an answer.  Acknowledges a
 * repeated SEND or WRITE only if no other answer is due, and only at its last packet or
 * at a packet that requests an acknowledgement.  Some peers, such as soft-RoCE of Linux
 * 6.12, stop sending if an acknowledgement of the whole message arrives before they have
 * sent the whole message.
 */
static void resp_duplicate(PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    pvrdma_count(qp->s, PVRDMA_CNT_RX_DUPLICATE);
    if (flags & (ROCE_IS_READ | ROCE_IS_ATOMIC)) {
        resp_replay(qp, pkt, flags & ROCE_IS_ATOMIC);
    } else if (qp->resp.answer == PVRDMA_ANSWER_NONE &&
               (pkt->ack_req || flags & ROCE_IS_LAST)) {
        qp->resp.answer = PVRDMA_ANSWER_ACK;
    }
}

/*
 * Returns true if the responder has to send only an ACK of fewer than
 * RESP_DELAYED_PACKETS packets.
 */
static bool resp_may_delay(PvrdmaQp *qp)
{
    PvrdmaResp *r = &qp->resp;

    return r->answer == PVRDMA_ANSWER_ACK && !r->cnp_due &&
           !pvrdma_resp_active(r) &&
           roce_psn_diff(r->epsn, r->acked_psn) < RESP_DELAYED_PACKETS;
}

void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
    uint32_t flags = roce_opcode_info(pkt->opcode)->flags;
    int32_t diff = roce_psn_diff(pkt->psn, qp->resp.epsn);

    trace_pvrdma_resp_parse(qp->s->port.netdev, qp->handle, pkt->opcode, pkt->psn,
                            qp->resp.epsn, pkt->payload_len);
    if (diff < 0) {
        resp_duplicate(qp, pkt, flags);
    } else if (diff > 0) {
        resp_ahead(qp, pkt);
    } else {
        resp_in_sequence(qp, pkt, flags);
    }
    if (!pvrdma_resp_has_work(qp)) {
        return;
    }
    if (diff || !resp_may_delay(qp)) {
        pvrdma_qp_activate(qp);
    } else {
        pvrdma_qp_activate_delayed(qp);
    }
}
