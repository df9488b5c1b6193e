/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the receiving side of a QP, on which the responder of transport works
 * (transport/resp.h).
 */
#ifndef HW_PVRDMA_OBJECTS_RESP_STATE_H
#define HW_PVRDMA_OBJECTS_RESP_STATE_H

#include "wq.h"

/* READs and atomics of a peer that the responder remembers: max_qp_rd_atom. */
#define PVRDMA_RESP_RESOURCES 128

/*
 * A READ or an atomic of the peer that the responder must answer.  An answered resource
 * is remembered, because the peer may repeat its request.
 */
typedef struct PvrdmaResource {
    bool atomic;
    bool active;                /* a response must be sent */
    bool replay;                /* the last packet of the response was sent once */
    uint32_t psn, last_psn;     /* first and last PSN of the response */
    uint32_t from_psn;          /* READ: first PSN of the current response */
    uint32_t send_psn;          /* READ: PSN of the next packet */
    uint64_t va;                /* READ: address of the packet with from_psn */
    uint32_t rkey;
    uint32_t len;               /* READ: bytes from from_psn on */
    uint64_t original;          /* atomic: value in memory before the operation */
    uint32_t msn;
} PvrdmaResource;

/*
 * The packet that is sent behind the responses.  At most one is pending.
 */
typedef enum PvrdmaAnswer {
    PVRDMA_ANSWER_NONE,
    PVRDMA_ANSWER_ACK,          /* acknowledges all packets before epsn */
    /* Acknowledges all packets before epsn, and asks to retransmit from epsn on. */
    PVRDMA_ANSWER_SEQUENCE,
    PVRDMA_ANSWER_RNR,
    PVRDMA_ANSWER_REFUSE,       /* the connection ends: nak, nak_psn */
} PvrdmaAnswer;

typedef struct PvrdmaResp {
    uint32_t epsn;              /* expected PSN */
    uint32_t msn;               /* messages completed */
    uint32_t acked_psn;         /* epsn when the last answer was sent */
    uint32_t ahead_psn;         /* newest packet that was dropped because of a gap */
    bool nak_sent;              /* the NAK for the current gap was sent [SRC 9.5] */
    bool established;           /* the event COMM_EST was sent */
    bool cnp_due;
    int64_t cnp_after;          /* no CNP before this time */
    uint8_t answer;             /* PvrdmaAnswer */
    uint8_t nak;                /* enum roce_nak */
    uint32_t nak_psn;
    /* ROCE_IS_SEND or ROCE_IS_WRITE of the message that arrives; 0: none */
    uint32_t message;
    bool rqe_valid;             /* the message has a receive WQE */
    PvrdmaRqe rqe;
    uint64_t va;                /* WRITE: address of the first byte */
    uint32_t rkey;
    uint32_t len, done;         /* length in the RETH, and bytes that have arrived */
    /* Ring, in the order of PSNs. */
    PvrdmaResource resource[PVRDMA_RESP_RESOURCES];
    unsigned resource_first, resource_count;
    unsigned resource_next;     /* counted from the first; all before it are answered */
} PvrdmaResp;

#endif /* HW_PVRDMA_OBJECTS_RESP_STATE_H */
