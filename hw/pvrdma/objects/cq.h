/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion queues.
 */
#ifndef HW_PVRDMA_OBJECTS_CQ_H
#define HW_PVRDMA_OBJECTS_CQ_H

#include "qemu/queue.h"
#include "../cmd.h"
#include "../base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

typedef struct PvrdmaCq {
    uint32_t handle;
    uint32_t ctx;
    uint32_t uar;                   /* of its context: where its doorbell is */
    uint32_t entries;               /* a power of two */
    uint32_t users;                 /* QPs, once for each of their queues */
    uint32_t prod;                  /* index of the next completion */
    uint32_t cons;                  /* the guest's index when it was last read */
    bool armed;                     /* for the next completion */
    bool armed_solicited;           /* for the next solicited one */
    bool overflowed;                /* it takes nothing any more */
    PvrdmaPages pages;
    QLIST_HEAD(, PvrdmaQp) senders, receivers;
} PvrdmaCq;

/* A completion, in host order; what is left 0 is 0 in the guest. */
typedef struct PvrdmaWc {
    uint64_t wr_id;
    uint32_t qp;                    /* handle */
    uint8_t status;                 /* enum pvrdma_wc_status */
    uint8_t opcode;                 /* enum pvrdma_wc_opcode */
    bool solicited;                 /* for CQs that are armed so; errors always are */
    uint32_t byte_len;
    uint32_t imm;                   /* as on the wire; or the invalidated key */
    uint32_t src_qp;
    uint32_t flags;                 /* enum pvrdma_wc_flags */
    uint8_t network_hdr_type;       /* enum pvrdma_network_type */
    uint8_t sl;                     /* UD: what the packet is, see ud.c */
    uint8_t smac[6];
} PvrdmaWc;

/* Writes a completion and notifies; on overflow the CQ and its QPs end. */
void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc);
/* Whether size and indices of one from a snapshot are possible. */
bool pvrdma_cq_possible(const PvrdmaCq *cq);
/* Doorbell; @value: PVRDMA_UAR_CQ_. */
void pvrdma_cq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);

/* Frees all completion queues. */
void pvrdma_cq_reset_all(PvrdmaState *s);

/* Commands. */
PvrdmaCmd pvrdma_cmd_create_cq, pvrdma_cmd_resize_cq, pvrdma_cmd_destroy_cq;

#endif /* HW_PVRDMA_OBJECTS_CQ_H */
