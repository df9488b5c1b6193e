/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving side of a QP, the responder (resp.c, resp-tx.c).  State of these two
 * files; what they offer each other is in resp-internal.h.
 */
#ifndef HW_PVRDMA_TRANSPORT_RESP_H
#define HW_PVRDMA_TRANSPORT_RESP_H

#include "../wire/roce.h"
#include "../objects/wq.h"

typedef struct PvrdmaQp PvrdmaQp;

/* READs and atomics of a peer that the responder remembers: max_qp_rd_atom. */
#define PVRDMA_RESP_RESOURCES 128

/*
 * A READ or an atomic of the peer: to be answered, or answered and kept, because the
 * peer may ask again.
 */
typedef struct PvrdmaResource {
    bool atomic;
    bool active;                /* something is to be sent */
    bool replay;                /* it was answered, to its end */
    uint32_t psn, last_psn;     /* first and last PSN of the response */
    uint32_t from_psn;          /* READ: where the answer begins this time */
    uint32_t send_psn;          /* READ: next packet */
    uint64_t va;                /* READ: of the packet with from_psn */
    uint32_t rkey;
    uint32_t len;               /* READ: bytes from from_psn on */
    uint64_t original;          /* atomic: what was in memory */
    uint32_t msn;
} PvrdmaResource;

/* What is to be told to the peer behind the responses; always one thing. */
typedef enum PvrdmaAnswer {
    PVRDMA_ANSWER_NONE,
    PVRDMA_ANSWER_ACK,          /* all before epsn */
    PVRDMA_ANSWER_SEQUENCE,     /* all before epsn, and to go on with that */
    PVRDMA_ANSWER_RNR,
    PVRDMA_ANSWER_REFUSE,       /* the connection ends: nak, nak_psn */
} PvrdmaAnswer;

typedef struct PvrdmaResp {
    uint32_t epsn;              /* expected PSN */
    uint32_t msn;               /* messages completed */
    uint32_t acked_psn;         /* epsn when the last answer was sent */
    uint32_t ahead_psn;         /* newest that was dropped: there was a gap */
    bool nak_sent;              /* once per gap [SRC 9.5] */
    bool established;           /* the guest knows that packets come */
    bool cnp_due;
    int64_t cnp_after;          /* no CNP before this time */
    uint8_t answer;             /* PvrdmaAnswer */
    uint8_t nak;                /* enum roce_nak */
    uint32_t nak_psn;
    /* The message that is arriving. */
    uint32_t message;           /* ROCE_IS_SEND or ROCE_IS_WRITE; 0: none */
    bool rqe_valid;             /* it has a receive WQE */
    PvrdmaRqe rqe;
    uint64_t va;                /* WRITE: of the first byte */
    uint32_t rkey;
    uint32_t len, done;         /* bytes: announced by RETH, and arrived */
    /* Ring of as many as the peer may have at once, by PSN. */
    PvrdmaResource resource[PVRDMA_RESP_RESOURCES];
    unsigned resource_first, resource_count;
    unsigned resource_next;     /* from the first; those before it are answered */
} PvrdmaResp;

void pvrdma_resp_init(PvrdmaQp *qp);
void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/* Sends answers; as pvrdma_req_run(). */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget);
/* Completes receive WQEs with WR_FLUSH_ERR, likewise; not those of an SRQ. */
bool pvrdma_resp_flush(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_RESP_H */
