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
    /* Number of completions in the ring, a power of two. */
    uint32_t entries;
    uint32_t users;                 /* number of work queues of QPs that use the CQ */
    /*
     * Indices, modulo 2 * entries: of the next completion that the device writes, and
     * of the next one that the guest reads, as the device read it last.
     */
    uint32_t prod;
    uint32_t cons;
    bool armed;                     /* notify at the next completion */
    bool armed_solicited;           /* notify at the next solicited completion */
    bool overflowed;                /* the CQ accepts no completions any more */
    PvrdmaPages pages;
    /* QPs whose send queue and whose receive queue use the CQ. */
    QLIST_HEAD(, PvrdmaQp) senders, receivers;
} PvrdmaCq;

/*
 * A completion, in host byte order.  The guest gets 0 for each member that is not set.
 */
typedef struct PvrdmaWc {
    uint64_t wr_id;
    uint32_t qp;                    /* handle of the QP */
    uint8_t status;                 /* enum pvrdma_wc_status */
    uint8_t opcode;                 /* enum pvrdma_wc_opcode */
    /* Notifies a CQ that is armed for solicited completions; errors always notify. */
    bool solicited;
    uint32_t byte_len;
    /*
     * Immediate data in wire byte order, or the invalidated key in little-endian order.
     */
    uint32_t imm;
    uint32_t src_qp;
    uint32_t flags;                 /* enum pvrdma_wc_flags */
    uint8_t network_hdr_type;       /* enum pvrdma_network_type */
    /* Service level.  In a UD QP 0: RoCE v1, 9: IPv6, 10: IPv4; in other QPs 0. */
    uint8_t sl;
    uint8_t smac[6];
} PvrdmaWc;

/*
 * Writes a completion, and notifies the guest if the CQ is armed for it.  If the CQ is
 * full or its memory is not valid, the completion is lost, the CQ accepts no more
 * completions, and all its QPs go to state ERR.
 */
void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc);
/* Returns true if size and indices of a CQ from a snapshot are valid. */
bool pvrdma_cq_valid(const PvrdmaCq *cq);
/* Handles a store to the CQ doorbell of page @uar.  @value: PVRDMA_UAR_CQ_. */
void pvrdma_cq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);

/* Frees all completion queues. */
void pvrdma_cq_reset_all(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_cq, pvrdma_cmd_resize_cq, pvrdma_cmd_destroy_cq;

#endif /* HW_PVRDMA_OBJECTS_CQ_H */
