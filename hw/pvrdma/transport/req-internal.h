/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the files of the requester: req.c, req-tx.c and comp.c.
 */
#ifndef HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H
#define HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H

#include "../objects/qp.h"
#include "req.h"

typedef enum PvrdmaReqKind {
    PVRDMA_REQ_NONE,            /* no such opcode for this type of QP */
    PVRDMA_REQ_DATA,            /* SEND and WRITE: payload in one or more packets */
    PVRDMA_REQ_READ,            /* one packet; its response has several PSNs */
    PVRDMA_REQ_ATOMIC,          /* one packet; its response has one packet */
    PVRDMA_REQ_LOCAL,           /* sends no packet */
} PvrdmaReqKind;

/* Properties of a work request, by enum pvrdma_wr_opcode. */
typedef struct PvrdmaReqOp {
    uint8_t kind;               /* PvrdmaReqKind */
    uint8_t completion;         /* enum pvrdma_wc_opcode */
    uint8_t first, middle, last, only;      /* enum roce_opcode */
} PvrdmaReqOp;

/* Indexed by enum pvrdma_wr_opcode. */
extern const PvrdmaReqOp pvrdma_req_ops[PVRDMA_WR_ERROR + 1];

/* Returns the properties of @opcode; never NULL. */
static inline const PvrdmaReqOp *pvrdma_req_op(uint8_t opcode)
{
    return &pvrdma_req_ops[MIN(opcode, PVRDMA_WR_ERROR)];
}

/* Returns WQE number @i, counted from the oldest. */
static inline PvrdmaSqe *pvrdma_req_wqe(const PvrdmaReq *req, unsigned i)
{
    return &req->wqe[(req->first + i) & (req->slots - 1)];
}

/*
 * Returns the number of packets from PSN @from, included, to @to, excluded.  @to must
 * not be before @from.
 */
static inline uint32_t pvrdma_req_distance(uint32_t from, uint32_t to)
{
    return (to - from) & ROCE_PSN_MASK;
}

/* Returns how many requests for READs and atomics have no complete answer. */
static inline unsigned pvrdma_req_reads(const PvrdmaReq *req)
{
    return bitmap_count_one(req->unanswered, PVRDMA_REQ_PACKETS);
}

/*
 * Returns true if the response to a request for a part of @sqe, a READ, may end with
 * @psn.
 */
static inline bool pvrdma_req_read_may_end(const PvrdmaSqe *sqe, uint32_t psn)
{
    return psn == sqe->last_psn ||
           (pvrdma_req_distance(sqe->psn, psn) + 1) % PVRDMA_REQ_REPEAT_PACKETS == 0;
}

/*
 * Returns true in the states in which begun packets are sent and answers are accepted.
 */
static inline bool pvrdma_req_running(const PvrdmaQp *qp)
{
    return qp->state == PVRDMA_QPS_RTS || qp->state == PVRDMA_QPS_SQD;
}

/* Moves the cursor back to the oldest packet that is not acknowledged. */
void pvrdma_req_seek(PvrdmaQp *qp);
/*
 * Restarts the retransmission deadline if a sent packet has no answer, even if the
 * cursor has moved back to this packet.
 */
void pvrdma_req_deadline(PvrdmaQp *qp);
/* Sets the QP's timer to @when, unless it fires earlier anyway. */
void pvrdma_req_arm(PvrdmaQp *qp, int64_t when);
/* Sets the error @status of @sqe, because the guest posted a WQE that is not valid. */
void pvrdma_req_refuse(PvrdmaQp *qp, PvrdmaSqe *sqe, uint8_t status);
/*
 * Sends the packet at the cursor, of @sqe, which has PSNs, and advances the cursor.
 * Returns false if the packet must wait, or if @sqe is refused.
 */
bool pvrdma_req_send(PvrdmaQp *qp, PvrdmaSqe *sqe);
/* Parks the fetched WQEs: forgets them, so that they are fetched and sent again. */
void pvrdma_req_park(PvrdmaQp *qp);
/* Fetches parked WQEs again, so that an answer can find its WQE.  Sends nothing. */
void pvrdma_req_refetch(PvrdmaQp *qp);
/* Returns the values that pvrdma_req_park() would set.  Changes nothing. */
void pvrdma_req_park_state(const PvrdmaReq *req, uint32_t *begin_psn, uint64_t *parked);

/* Completes all WQEs that are done, and ends the QP if the oldest WQE is in error. */
void pvrdma_comp_collect(PvrdmaQp *qp);
/*
 * Retransmits from the oldest packet that is not acknowledged, or ends the QP if no
 * retry is left.
 */
void pvrdma_comp_retry(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H */
