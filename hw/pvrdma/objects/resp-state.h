/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the receiving side of a QP, which the responder uses (transport/resp.h). */
#ifndef HW_PVRDMA_OBJECTS_RESP_STATE_H
#define HW_PVRDMA_OBJECTS_RESP_STATE_H

#include "wq.h"

/* Maximal number of resources (PvrdmaResource) of a QP; equals max_qp_rd_atom. */
#define PVRDMA_RESP_RESOURCES 128

/*
 * A READ or an atomic of the peer, which the responder answers.  The responder keeps an
 * answered resource, because the peer may repeat its request.
 */
typedef struct PvrdmaResource {
    bool atomic;
    bool active;                /* a response must be sent */
    bool replay;                /* the last packet of the response was sent already */
    uint32_t psn, last_psn;     /* first and last PSN of the original request */
    /* READ: first PSN of the newest request, which may repeat a part of the original. */
    uint32_t from_psn;
    uint32_t send_psn;          /* READ: PSN of the next packet of the response */
    uint64_t va;                /* READ: address of the first byte of packet from_psn */
    uint32_t rkey;
    uint32_t len;               /* READ: bytes that the newest request covers */
    uint64_t original;          /* atomic: value in memory before the operation */
    uint32_t msn;               /* MSN that the response contains */
} PvrdmaResource;

/*
 * The acknowledgement or NAK that is sent after the responses to READs and atomics.  At
 * most one is pending.
 */
typedef enum PvrdmaAnswer {
    PVRDMA_ANSWER_NONE,
    PVRDMA_ANSWER_ACK,          /* acknowledges all packets before epsn */
    /* NAK: acknowledges all packets before epsn, and requests packets from epsn on. */
    PVRDMA_ANSWER_SEQUENCE,
    /* RNR NAK: no receive WQE was posted for the packet with epsn. */
    PVRDMA_ANSWER_RNR,
    PVRDMA_ANSWER_REFUSE,       /* NAK @nak for PSN @nak_psn, which ends the connection */
} PvrdmaAnswer;

typedef struct PvrdmaResp {
    uint32_t epsn;              /* PSN of the next expected request */
    uint32_t msn;               /* number of messages accepted completely, modulo 2^24 */
    /*
     * Value of epsn when the responder sent the last PvrdmaAnswer, was initialized, or
     * was loaded.
     */
    uint32_t acked_psn;
    /* PVRDMA_ANSWER_SEQUENCE: highest PSN that has arrived behind the gap. */
    uint32_t ahead_psn;
    /*
     * A packet behind a gap causes no NAK, because a NAK or RNR NAK is sent or pending
     * [EXT].
     */
    bool nak_sent;
    bool established;           /* the event COMM_EST was sent */
    bool cnp_due;               /* a CNP must be sent */
    int64_t cnp_after;          /* virtual time, ns, before which no CNP becomes due */
    uint8_t answer;             /* PvrdmaAnswer */
    uint8_t nak;                /* enum roce_nak of PVRDMA_ANSWER_REFUSE */
    uint32_t nak_psn;           /* PSN of PVRDMA_ANSWER_REFUSE */
    /* ROCE_IS_SEND or ROCE_IS_WRITE while such a message is incomplete; 0: none is. */
    uint32_t message;
    bool rqe_valid;             /* @rqe is a fetched WQE that is not complete */
    PvrdmaRqe rqe;
    uint64_t va;                /* WRITE: address of the first byte of the message */
    uint32_t rkey;
    /* @len: length of a WRITE in its RETH; @done: bytes of the message stored so far. */
    uint32_t len, done;
    /* Ring of resources, in the order of PSNs. */
    PvrdmaResource resource[PVRDMA_RESP_RESOURCES];
    unsigned resource_first, resource_count;
    /* Number of resources, from the oldest on, that are known to need no answer. */
    unsigned resource_next;
} PvrdmaResp;

#endif /* HW_PVRDMA_OBJECTS_RESP_STATE_H */
