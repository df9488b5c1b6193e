/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion queues.
 */
#ifndef HW_PVRDMA_OBJECTS_CQ_H
#define HW_PVRDMA_OBJECTS_CQ_H

#include "qemu/queue.h"
#include "../base/command.h"
#include "../base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

typedef struct PvrdmaCq {
    uint32_t handle;
    uint32_t ctx;                   /* handle of the context; 0: the kernel */
    uint32_t uar;                   /* number of the context's doorbell page */
    /* Maximal number of completions in the ring, a power of two. */
    uint32_t entries;
    /* Uses of the CQ by QPs; a QP whose send_cq and recv_cq are this CQ counts twice. */
    uint32_t users;
    /* Index of the next completion that the device writes, modulo 2 * entries. */
    uint32_t prod;
    /*
     * Index of the next completion that the guest reads, modulo 2 * entries, as the
     * device has read this index last.
     */
    uint32_t cons;
    bool armed;                     /* the next completion notifies the guest */
    /* The next solicited completion, or completion with an error, notifies the guest. */
    bool armed_solicited;
    bool overflowed;                /* the CQ accepts no completions any more */
    PvrdmaPages pages;
    /* QPs whose send queue, and QPs whose receive queue, uses this CQ. */
    QLIST_HEAD(, PvrdmaQp) senders, receivers;
} PvrdmaCq;

/*
 * A completion, in host byte order except @imm.  Members that a caller does not set are
 * 0.
 */
typedef struct PvrdmaWc {
    uint64_t wr_id;
    uint32_t qp;                    /* handle of the QP */
    uint8_t status;                 /* enum pvrdma_wc_status */
    uint8_t opcode;                 /* enum pvrdma_wc_opcode */
    /* True: the completion notifies a CQ with armed_solicited, as an error does. */
    bool solicited;
    /* Length of the message, bytes; for a received datagram, plus ROCE_GRH_BYTES. */
    uint32_t byte_len;
    /*
     * Immediate data in wire byte order, or the invalidated key in little-endian order.
     */
    uint32_t imm;
    uint32_t src_qp;                /* receive: number of the sender's QP */
    uint32_t flags;                 /* enum pvrdma_wc_flags */
    uint8_t network_hdr_type;       /* enum pvrdma_network_type */
    /* Service level: 9 for a datagram to a UD QP over IPv6, 10 over IPv4, otherwise 0. */
    uint8_t sl;
    uint8_t smac[6];
} PvrdmaWc;

/*
 * Writes a completion.  If the CQ is armed for this completion, notifies the guest and
 * disarms the CQ.  If the CQ is full, if its memory cannot be accessed, or if the device
 * finds the guest's index not valid, the completion is lost and counted in CQ_OVERFLOW.
 * From then on the CQ accepts no completions, the guest gets CQ_ERR, and
 * pvrdma_qp_cq_error() ends the QPs of the CQ.  Later completions are only counted in
 * CQ_OVERFLOW.
 */
void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc);
/* Returns true if size, indices and number of pages of a CQ from a snapshot are valid. */
bool pvrdma_cq_valid(const PvrdmaCq *cq);
/*
 * Handles a store of @value to the CQ doorbell of page @uar.  @value is a handle with
 * bits PVRDMA_UAR_CQ_*.  Arms the CQ if the bit ARM or ARM_SOL is set; the bit POLL
 * changes nothing.  A handle that does not belong to this page is a guest error.
 */
void pvrdma_cq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);

/* Frees all completion queues.  The QPs must have been freed before. */
void pvrdma_cq_reset_all(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_cq, pvrdma_cmd_resize_cq, pvrdma_cmd_destroy_cq;

#endif /* HW_PVRDMA_OBJECTS_CQ_H */
