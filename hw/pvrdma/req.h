/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending side of a QP: requester (req.c, req-tx.c) and completer (comp.c).  State of
 * these files, and what they offer each other; others only call those of pvrdma.h.
 *
 *   guest's queue --fetch--> ring of WQEs --send--> una .. psn .. next_psn
 *         ^                     |    ^                                |
 *         +------complete-------+    +------------answer--------------+
 *
 * A cursor (@next, @psn) says what is sent next.  Which bytes a packet has follows from
 * its PSN and that of the WQE, so that sending again is only moving the cursor back.
 * A WQE is fetched when it is to be sent, and its slot is the guest's again when it is
 * complete.
 */
#ifndef HW_PVRDMA_REQ_H
#define HW_PVRDMA_REQ_H

#include "qemu/bitmap.h"

/* WQEs of a QP that may be under way at once; not more than @parked has bits. */
#define PVRDMA_REQ_WQES 64
/* Maximum of a QP's packets under way, READ responses included; a power of two. */
#define PVRDMA_REQ_PACKETS 256
/*
 * Packets that are asked for at once: a longer READ becomes several requests, so that
 * neither PSNs nor what a peer sends without being asked again grow without limit.
 */
#define PVRDMA_REQ_READ_PACKETS 128
/*
 * The same when they are asked for again, and not more at once then: one that gets lost
 * costs all those behind it.  A part of one request, as peers answer only such, and only
 * one part of it, as they may forget a first one for a second.
 */
#define PVRDMA_REQ_AGAIN_PACKETS 32
/* Every so many packets of a long message the peer is to acknowledge. */
#define PVRDMA_REQ_ACK_PACKETS 64

/*
 * What a snapshot has to carry: next_psn, una_psn, retries, rnr_retries, rnr_until, and
 * what pvrdma_req_kept() gives.  All else is computed again: loading ends with a call of
 * pvrdma_req_park(), with PvrdmaWq.fetch = cons.
 */
typedef struct PvrdmaReq {
    PvrdmaSqe *wqe;             /* ring; NULL: none yet */
    PvrdmaSge *sge;             /* of them all */
    unsigned slots;             /* of the ring, a power of two */
    uint32_t counted;           /* of the device's pages_used: what the ring takes */
    unsigned first, count;      /* oldest WQE that is not complete, and how many */
    unsigned next;              /* WQE that is being sent, counted from first */
    /*
     * Requests for a READ or an atomic without a complete answer.  Each request sets
     * the bit of its last PSN, modulo PVRDMA_REQ_PACKETS.
     */
    DECLARE_BITMAP(asked, PVRDMA_REQ_PACKETS);
    uint32_t psn;               /* of the next packet that is sent */
    uint32_t next_psn;          /* of the first packet that was never sent */
    uint32_t una_psn;           /* oldest packet that is not acknowledged */
    uint32_t begin_psn;         /* of the first packet of the next WQE to be begun */
    uint64_t parked;            /* which of the WQEs to be fetched again are done */
    bool refetching;            /* not all that were begun are fetched again */
    uint8_t retries;            /* left, of retry_cnt */
    uint8_t rnr_retries;        /* left, of rnr_retry */
    bool retrying;              /* sent again, and nothing was acknowledged since */
    uint8_t timeouts;           /* before @calm_psn; patience grows by them */
    uint32_t calm_psn;          /* from here on nothing was sent when the last came */
    bool waiting;               /* something may be sent after an acknowledgement */
    int64_t deadline;           /* of the retransmission timer; 0: not running */
    int64_t rnr_until;          /* nothing is sent before; 0: no wait */
    bool paced;                 /* congestion: the QEMUTimer activates the QP */
    int64_t armed;              /* when the QEMUTimer fires: @deadline or before */
} PvrdmaReq;

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

#endif /* HW_PVRDMA_REQ_H */
