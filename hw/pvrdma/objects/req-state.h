/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the sending side of a QP, which the requester uses (transport/req.h).
 *
 *   guest's queue --fetch--> ring of WQEs --send--> una .. psn .. next_psn
 *         ^                     |    ^                                |
 *         +------complete-------+    +------------answer--------------+
 *
 * A cursor (@next, @psn) selects the packet that is sent next.  The PSNs of a packet
 * and of its WQE determine which bytes the packet contains, so the requester moves the
 * cursor back to retransmit.  The requester usually fetches a WQE when the cursor reaches
 * the WQE, and returns the slot of a WQE to the guest when the WQE completes.
 */
#ifndef HW_PVRDMA_OBJECTS_REQ_STATE_H
#define HW_PVRDMA_OBJECTS_REQ_STATE_H

#include "qemu/bitmap.h"

typedef struct PvrdmaSge PvrdmaSge;
typedef struct PvrdmaSqe PvrdmaSqe;

/*
 * Maximal number of fetched WQEs of a QP; at most the number of bits of PvrdmaReq.parked.
 */
#define PVRDMA_REQ_WQES 64
/*
 * Maximal number of PSNs of a QP that are sent but not acknowledged, with the PSNs of
 * READ responses; a power of two.
 */
#define PVRDMA_REQ_PACKETS 256

/*
 * State of the requester.  A snapshot contains next_psn, una_psn, retries, rnr_retries,
 * rnr_until, and the result of pvrdma_req_park_state().  After loading, the other members
 * are 0.  Then pvrdma_req_park() sets the cursor of a QP in state RTS or SQD.
 */
typedef struct PvrdmaReq {
    PvrdmaSqe *wqe;             /* ring of fetched WQEs; NULL: not allocated */
    PvrdmaSge *sge;             /* elements of all WQEs of the ring */
    unsigned slots;             /* number of slots of the ring, a power of two */
    /* Memory of the ring that PvrdmaState.pages_used contains, in units of 8 bytes. */
    uint32_t counted;
    /* Slot of the oldest WQE that is not complete, and number of WQEs in the ring. */
    unsigned first, count;
    unsigned next;              /* WQE at the cursor, counted from @first */
    /*
     * Set of the requests before the cursor, for READs and atomics, that have no complete
     * answer.  Each request sets the bit of its last PSN, modulo PVRDMA_REQ_PACKETS.
     */
    DECLARE_BITMAP(unanswered, PVRDMA_REQ_PACKETS);
    uint32_t psn;               /* cursor: PSN of the packet that is sent next */
    uint32_t next_psn;          /* PSN of the first packet that was never sent */
    uint32_t una_psn;           /* PSN of the oldest packet that is not acknowledged */
    uint32_t begin_psn;         /* first PSN of the next WQE that gets PSNs */
    /*
     * WQEs that pvrdma_req_park() has dropped, in the order in which they will be fetched
     * again: bit n is set if WQE n is done.
     */
    uint64_t parked;
    /*
     * Some WQEs with PSNs that pvrdma_req_park() has dropped are not fetched again yet.
     * State ERR: not valid.
     */
    bool refetching;
    uint8_t retries;            /* retries left; initially retry_cnt */
    uint8_t rnr_retries;        /* retries left; initially rnr_retry */
    /*
     * A retransmission has begun, or pvrdma_req_park() was called.  An advance of
     * una_psn, a timeout or the begin of an RNR wait clears the flag.
     */
    bool retrying;
    /* Number of times that the retransmit timeout is doubled, at most TIMEOUTS_MAX. */
    uint8_t timeouts;
    /*
     * next_psn at the last timeout.  @timeouts is set to 0 when una_psn reaches
     * @timeout_psn.
     */
    uint32_t timeout_psn;
    bool waiting;               /* the next advance of una_psn must activate the QP */
    int64_t deadline;           /* time of the retransmit timeout, ns; 0: none */
    /* Time, ns, before which the requester sends nothing after an RNR NAK; 0: none. */
    int64_t rnr_until;
    bool paced;                 /* PvrdmaQp.timer activates the QP when DCQCN permits */
    /*
     * Time for which PvrdmaQp.timer is set, ns; 0: none; state ERR: not valid.  The timer
     * may expire before @deadline or @rnr_until; then pvrdma_req_timer() sets the timer
     * again.
     */
    int64_t armed;
} PvrdmaReq;

#endif /* HW_PVRDMA_OBJECTS_REQ_STATE_H */
