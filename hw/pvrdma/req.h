/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending side of a QP: requester (req.c) and completer (comp.c).  State of these
 * two files; others only call the functions of pvrdma.h.
 */
#ifndef HW_PVRDMA_REQ_H
#define HW_PVRDMA_REQ_H

/* WQEs of a QP that may be under way at once. */
#define PVRDMA_REQ_WQES 64
/* Packets of a QP that may be under way, READ responses included. */
#define PVRDMA_REQ_PACKETS 256

typedef struct PvrdmaReq {
    PvrdmaSqe *wqe;             /* ring of PVRDMA_REQ_WQES; NULL: none yet */
    unsigned first, count;      /* oldest WQE that is not complete, and how many */
    unsigned next;              /* WQE that is being sent, counted from first */
    uint32_t psn;               /* of the next packet that is sent */
    uint32_t next_psn;          /* of the first packet that was never sent */
    uint32_t una_psn;           /* oldest packet that is not acknowledged */
    uint8_t retries;            /* left, of retry_cnt */
    uint8_t rnr_retries;        /* left, of rnr_retry */
    int64_t deadline;           /* of the retransmission timer; 0: not running */
    int64_t rnr_until;          /* nothing is sent before; 0: no wait */
} PvrdmaReq;

#endif /* HW_PVRDMA_REQ_H */
