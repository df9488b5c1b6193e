/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending side of a QP: requester (req.c, req-tx.c) and completer (comp.c).  State of
 * these files; what they offer each other is in req-internal.h.
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
#ifndef HW_PVRDMA_TRANSPORT_REQ_H
#define HW_PVRDMA_TRANSPORT_REQ_H

#include "qemu/bitmap.h"

typedef struct PvrdmaQp PvrdmaQp;
typedef struct PvrdmaSge PvrdmaSge;
typedef struct PvrdmaSqe PvrdmaSqe;

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

/*
 * Gets and sends WQEs while the port takes frames and @budget packets last.  True: it
 * could go on now.
 */
bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget);
/* State for RTS, from the attributes; forgets what was under way. */
void pvrdma_req_init(PvrdmaQp *qp);
void pvrdma_req_fini(PvrdmaQp *qp);
/*
 * Completes WQEs, posted or under way, with WR_FLUSH_ERR; the first that failed has been
 * completed by the caller.  True: there are more, for another call.
 */
bool pvrdma_req_flush(PvrdmaQp *qp);
/* Nothing is under way any more. */
bool pvrdma_req_idle(const PvrdmaQp *qp);
void pvrdma_req_timer(PvrdmaQp *qp);
/* Congestion forbids to send data now; the QP is activated when it may. */
bool pvrdma_req_congested(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_H */
