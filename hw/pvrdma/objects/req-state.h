/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the sending side of a QP, on which the requester of transport works
 * (transport/req.h).
 *
 *   guest's queue --fetch--> ring of WQEs --send--> una .. psn .. next_psn
 *         ^                     |    ^                                |
 *         +------complete-------+    +------------answer--------------+
 *
 * A cursor (@next, @psn) selects the packet that is sent next.  The PSNs of a packet
 * and of its WQE determine the bytes of the packet, so a retransmission only moves the
 * cursor back.  A WQE is fetched when it is sent first, and its slot returns to the
 * guest when it is complete.
 */
#ifndef HW_PVRDMA_OBJECTS_REQ_STATE_H
#define HW_PVRDMA_OBJECTS_REQ_STATE_H

#include "qemu/bitmap.h"

typedef struct PvrdmaSge PvrdmaSge;
typedef struct PvrdmaSqe PvrdmaSqe;

/* Maximal number of a QP's WQEs under way; not more than @parked has bits. */
#define PVRDMA_REQ_WQES 64
/* Maximum of a QP's packets under way, READ responses included; a power of two. */
#define PVRDMA_REQ_PACKETS 256

/*
 * State of the requester.  A snapshot contains next_psn, una_psn, retries, rnr_retries,
 * rnr_until, and the result of pvrdma_req_park_state().  All other members are
 * computed: loading ends with pvrdma_req_park(), with PvrdmaWq.fetch = cons.
 */
typedef struct PvrdmaReq {
    PvrdmaSqe *wqe;             /* ring; NULL: not allocated yet */
    PvrdmaSge *sge;             /* elements of all WQEs of the ring */
    unsigned slots;             /* slots of the ring, a power of two */
    uint32_t counted;           /* part of the device's pages_used */
    /* Oldest WQE that is not complete, and number of WQEs. */
    unsigned first, count;
    unsigned next;              /* WQE that is being sent, counted from first */
    /*
     * Requests for a READ or an atomic without a complete answer.  Each request sets
     * the bit of its last PSN, modulo PVRDMA_REQ_PACKETS.
     */
    DECLARE_BITMAP(unanswered, PVRDMA_REQ_PACKETS);
    uint32_t psn;               /* PSN at the cursor: of the packet that is sent next */
    uint32_t next_psn;          /* PSN of the first packet that was never sent */
    uint32_t una_psn;           /* PSN of the oldest packet that is not acknowledged */
    uint32_t begin_psn;         /* first PSN of the next WQE */
    uint64_t parked;            /* bit n is set if parked WQE n is done */
    bool refetching;            /* some parked WQEs are not fetched again yet */
    uint8_t retries;            /* retries left, of retry_cnt */
    uint8_t rnr_retries;        /* retries left, of rnr_retry */
    /* A retransmission is under way, and nothing was acknowledged since. */
    bool retrying;
    uint8_t timeouts;           /* expiries that lengthen the retransmit timeout */
    /* next_psn at the last timeout; its acknowledgement ends the longer timeout */
    uint32_t timeout_psn;
    bool waiting;               /* the requester waits for an acknowledgement */
    int64_t deadline;           /* when the retransmit timer fires; 0: it is stopped */
    /* The peer had no receive WQE: send nothing before; 0: no wait. */
    int64_t rnr_until;
    bool paced;                 /* the QEMUTimer activates the QP when DCQCN permits */
    int64_t armed;              /* when the QEMUTimer fires: at @deadline or before */
} PvrdmaReq;

#endif /* HW_PVRDMA_OBJECTS_REQ_STATE_H */
