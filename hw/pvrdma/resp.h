/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving side of a QP, the responder (resp.c).  State of this file; others only
 * call the functions of pvrdma.h.
 */
#ifndef HW_PVRDMA_RESP_H
#define HW_PVRDMA_RESP_H

/* READs and atomics of a peer that the responder remembers: max_qp_rd_atom. */
#define PVRDMA_RESP_RESOURCES 16

/* A READ that is being answered, or an atomic whose result is kept for duplicates. */
typedef struct PvrdmaResource {
    bool atomic;
    bool active;                /* READ: packets are left to send */
    uint32_t psn, last_psn;     /* first and last PSN of the response */
    uint32_t send_psn;          /* READ: next packet */
    uint64_t va;                /* READ */
    uint32_t rkey, len;
    uint64_t original;          /* atomic */
    uint32_t msn;
} PvrdmaResource;

typedef struct PvrdmaResp {
    uint32_t epsn;              /* expected PSN */
    uint32_t msn;               /* messages completed */
    uint8_t last_opcode;        /* of the packet before: its order is checked */
    bool nak_sent;              /* once per gap [SRC 9.5] */
    bool ack_pending;
    uint8_t ack_syndrome;
    uint32_t ack_psn;
    /* The message that is arriving. */
    bool rqe_valid;             /* it has a receive WQE */
    PvrdmaRqe rqe;
    uint64_t va;                /* WRITE: where the next byte goes */
    uint32_t rkey;
    uint32_t len, done;         /* bytes: announced by RETH, and arrived */
    PvrdmaResource resource[PVRDMA_RESP_RESOURCES];
    unsigned resource_first, resource_count;
} PvrdmaResp;

#endif /* HW_PVRDMA_RESP_H */
