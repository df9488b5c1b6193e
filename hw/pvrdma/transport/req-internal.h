/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the sending side of a QP share.
 */
#ifndef HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H
#define HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H

#include "../objects/qp.h"

typedef enum PvrdmaReqKind {
    PVRDMA_REQ_NONE,            /* there is no such opcode, or not for this type */
    PVRDMA_REQ_DATA,            /* SEND and WRITE: as many packets as it takes */
    PVRDMA_REQ_READ,            /* one packet, and as many PSNs as its response */
    PVRDMA_REQ_ATOMIC,          /* one packet, one in return */
    PVRDMA_REQ_LOCAL,           /* nothing is sent */
} PvrdmaReqKind;

/* What a work request is, by enum pvrdma_wr_opcode. */
typedef struct PvrdmaReqOp {
    uint8_t kind;               /* PvrdmaReqKind */
    uint8_t completion;         /* enum pvrdma_wc_opcode */
    uint8_t first, middle, last, only;      /* enum roce_opcode */
} PvrdmaReqOp;

/* Never NULL. */
const PvrdmaReqOp *pvrdma_req_op(uint8_t opcode);

/* The WQE that is @i behind the oldest one. */
static inline PvrdmaSqe *pvrdma_req_wqe(const PvrdmaReq *req, unsigned i)
{
    return &req->wqe[(req->first + i) & (req->slots - 1)];
}

/* Packets from PSN @from up to, without, @to, which is not before it. */
static inline uint32_t pvrdma_req_distance(uint32_t from, uint32_t to)
{
    return (to - from) & ROCE_PSN_MASK;
}

/* Returns how many requests for READs and atomics have no complete answer. */
static inline unsigned pvrdma_req_reads(const PvrdmaReq *req)
{
    return bitmap_count_one(req->asked, PVRDMA_REQ_PACKETS);
}

/* Whether a request for packets of @sqe, a READ, may have ended with @psn. */
static inline bool pvrdma_req_read_may_end(const PvrdmaSqe *sqe, uint32_t psn)
{
    return psn == sqe->last_psn ||
           (pvrdma_req_distance(sqe->psn, psn) + 1) % PVRDMA_REQ_AGAIN_PACKETS == 0;
}

/* The state lets packets that were begun go on, and answers count. */
bool pvrdma_req_alive(const PvrdmaQp *qp);
/* Moves the cursor to the oldest packet that is not acknowledged. */
void pvrdma_req_seek(PvrdmaQp *qp);
/*
 * Restarts the retransmission deadline if a sent packet has no answer, even if the
 * cursor has moved back to this packet.
 */
void pvrdma_req_deadline(PvrdmaQp *qp);
/* Sets the QP's timer, if it would not fire before @when anyway. */
void pvrdma_req_arm(PvrdmaQp *qp, int64_t when);
/* @sqe cannot be done, by its guest's fault: it ends with @status. */
void pvrdma_req_refuse(PvrdmaQp *qp, PvrdmaSqe *sqe, uint8_t status);
/*
 * Sends the packet of @sqe, which was begun, at the cursor, and moves this on.  False: it
 * has to wait, or is refused.
 */
bool pvrdma_req_send(PvrdmaQp *qp, PvrdmaSqe *sqe);
/* Forgets the WQEs that were fetched; they are fetched and sent again. */
void pvrdma_req_park(PvrdmaQp *qp);
/* Fetches them, for an answer that may be to them; sends nothing. */
void pvrdma_req_refetch(PvrdmaQp *qp);
/* What @begin_psn and @parked would be if they were forgotten. */
void pvrdma_req_kept(const PvrdmaReq *req, uint32_t *begin_psn, uint64_t *parked);

/* Completes what is done, and ends the QP if the oldest WQE is in error. */
void pvrdma_comp_collect(PvrdmaQp *qp);
/*
 * Sends again from the oldest packet that is not acknowledged, or ends the QP if it was
 * sent often enough.
 */
void pvrdma_comp_retry(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H */
