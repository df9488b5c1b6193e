/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the files of the requester: req.c, req-tx.c and comp.c.  stuck.c and
 * migration-qp.c use it too, because they examine the state of the requester.
 */
#ifndef HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H
#define HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H

#include "../objects/qp.h"
#include "req.h"

typedef enum PvrdmaReqKind {
    PVRDMA_REQ_NONE,            /* the device does not support the opcode */
    PVRDMA_REQ_DATA,            /* SEND and WRITE: one or more packets */
    PVRDMA_REQ_READ,            /* a request uses one PSN for each response packet */
    PVRDMA_REQ_ATOMIC,          /* one request packet, one response packet */
    PVRDMA_REQ_LOCAL,           /* work request on a region: no packet */
} PvrdmaReqKind;

/* Properties of the work requests with one opcode. */
typedef struct PvrdmaReqOp {
    uint8_t kind;               /* PvrdmaReqKind */
    uint8_t completion;         /* enum pvrdma_wc_opcode */
    uint8_t first, middle, last, only;      /* enum roce_opcode */
} PvrdmaReqOp;

/* Properties of work requests, indexed by enum pvrdma_wr_opcode. */
extern const PvrdmaReqOp pvrdma_req_ops[PVRDMA_WR_ERROR + 1];

/* Returns the properties of @opcode; never NULL. */
static inline const PvrdmaReqOp *pvrdma_req_op(uint8_t opcode)
{
    return &pvrdma_req_ops[MIN(opcode, PVRDMA_WR_ERROR)];
}

/* Returns WQE number @i of the ring; number 0 is the oldest WQE. */
static inline PvrdmaSqe *pvrdma_req_wqe(const PvrdmaReq *req, unsigned i)
{
    return &req->wqe[(req->first + i) & (req->slots - 1)];
}

/*
 * Returns @to - @from modulo 2^24: the number of packets from PSN @from, included, to PSN
 * @to, excluded.
 */
static inline uint32_t pvrdma_req_distance(uint32_t from, uint32_t to)
{
    return (to - from) & ROCE_PSN_MASK;
}

/*
 * Returns how many requests before the cursor, for READs and atomics, have no complete
 * answer.
 */
static inline unsigned pvrdma_req_reads(const PvrdmaReq *req)
{
    return bitmap_count_one(req->unanswered, PVRDMA_REQ_PACKETS);
}

/*
 * Returns true if a READ response may end with the packet @psn: @psn is the last PSN of
 * @sqe, or the number of packets of @sqe up to @psn is a multiple of
 * PVRDMA_REQ_REPEAT_PACKETS.
 */
static inline bool pvrdma_req_read_may_end(const PvrdmaSqe *sqe, uint32_t psn)
{
    return psn == sqe->last_psn ||
           (pvrdma_req_distance(sqe->psn, psn) + 1) % PVRDMA_REQ_REPEAT_PACKETS == 0;
}

/*
 * Returns true in states RTS and SQD, in which the QP sends packets of WQEs that have
 * PSNs, and accepts answers.
 */
static inline bool pvrdma_req_running(const PvrdmaQp *qp)
{
    return qp->state == PVRDMA_QPS_RTS || qp->state == PVRDMA_QPS_SQD;
}

/*
 * Moves the cursor to the oldest packet that is not acknowledged, and clears
 * PvrdmaReq.unanswered.
 */
void pvrdma_req_seek(PvrdmaQp *qp);
/*
 * Restarts the retransmission deadline if a sent packet has no answer, even if the cursor
 * has moved back to this packet.  Otherwise, in an RNR wait, or if the QP's attribute
 * timeout is 0, stops the deadline.
 */
void pvrdma_req_deadline(PvrdmaQp *qp);
/*
 * Sets the QP's timer to @when, a virtual time in ns, unless the timer is set for an
 * earlier time.
 */
void pvrdma_req_arm(PvrdmaQp *qp, int64_t when);
/*
 * Sets the error @status of @sqe, and logs a guest error, because the WQE or its memory
 * is not valid.  pvrdma_comp_collect() completes @sqe when @sqe is the oldest WQE.
 */
void pvrdma_req_refuse(PvrdmaQp *qp, PvrdmaSqe *sqe, uint8_t status);
/*
 * Sends the packet at the cursor, and advances the cursor.  @sqe is the WQE of this
 * packet, and has PSNs.  Returns false if the packet must wait, or after
 * pvrdma_req_refuse().
 */
bool pvrdma_req_send(PvrdmaQp *qp, PvrdmaSqe *sqe);
/*
 * Parks all fetched WQEs: drops the WQEs from the ring, so that the requester fetches
 * these WQEs again, and sends again the packets that are not acknowledged.  In states RTS
 * and SQD first calls pvrdma_comp_collect().  Ends an RNR wait, stops the QP's timer, and
 * activates the QP.
 */
void pvrdma_req_park(PvrdmaQp *qp);
/*
 * Fetches the WQEs with PSNs that pvrdma_req_park() has dropped, because an answer needs
 * its WQE.  Sends nothing.  Stops early if the ring is full and cannot grow, if no WQE is
 * posted or the queue cannot be read, or after an error of a WQE.  Does nothing if the
 * newest fetched WQE has no PSNs yet.
 */
void pvrdma_req_refetch(PvrdmaQp *qp);
/*
 * Stores in *@begin_psn and *@parked the values that these members of @req would have if
 * pvrdma_req_park() dropped all WQEs of the ring now.  Does not change @req.
 */
void pvrdma_req_park_state(const PvrdmaReq *req, uint32_t *begin_psn, uint64_t *parked);

/*
 * Completes the WQEs that are done, from the oldest on, up to the first WQE that is not
 * done.  If the first WQE that is not done is in error, completes this WQE with its error
 * and calls pvrdma_qp_send_error().  Calls pvrdma_qp_drained() if this call has completed
 * WQEs without an error.
 */
void pvrdma_comp_collect(PvrdmaQp *qp);
/*
 * Uses one retry, moves the cursor back to the oldest packet that is not acknowledged,
 * and activates the QP.  If no retry is left, the WQE of this packet, if it is in the
 * ring, fails with RETRY_EXC_ERR, and the QP goes to state ERR.  Does nothing in an RNR
 * wait, or if PvrdmaReq.retrying is true.
 */
void pvrdma_comp_retry(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_INTERNAL_H */
