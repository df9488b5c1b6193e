/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts of processes, protection domains and memory regions.
 */
#ifndef HW_PVRDMA_OBJECTS_MR_H
#define HW_PVRDMA_OBJECTS_MR_H

#include "../cmd.h"
#include "../base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;
typedef struct PvrdmaSqe PvrdmaSqe;

typedef struct PvrdmaUc {           /* a process */
    uint32_t handle;
    uint32_t uar;                   /* its page of BAR 2 */
    uint32_t users;                 /* PDs and CQs */
} PvrdmaUc;

typedef struct PvrdmaPd {
    uint32_t handle;
    uint32_t ctx;                   /* handle of its context; 0: the kernel */
    uint32_t uar;                   /* of its context: where doorbells are */
    uint32_t users;                 /* MRs, QPs, SRQs */
} PvrdmaPd;

typedef enum PvrdmaMrKind {
    PVRDMA_MR_USER,
    PVRDMA_MR_DMA,                  /* all memory, addresses are DMA addresses */
    PVRDMA_MR_FAST,                 /* pages come from FAST_REG_MR */
} PvrdmaMrKind;

typedef struct PvrdmaMr {
    uint32_t handle;
    uint32_t key;                   /* lkey and rkey: handle << 8 | changing byte */
    uint32_t pd;
    uint8_t kind;                   /* PvrdmaMrKind */
    bool valid;                     /* FAST: between FAST_REG_MR and invalidation */
    uint32_t access;                /* PVRDMA_ACCESS_ */
    uint32_t max_pages;             /* FAST */
    uint64_t start, length;
    uint64_t offset;                /* of start from the first page */
    PvrdmaPages pages;
} PvrdmaMr;

typedef enum PvrdmaMrStatus {
    PVRDMA_MR_OK,
    PVRDMA_MR_BAD_KEY,
    PVRDMA_MR_BAD_PD,
    PVRDMA_MR_BAD_RANGE,
    PVRDMA_MR_BAD_ACCESS,
    PVRDMA_MR_BUS_ERROR,
} PvrdmaMrStatus;

/*
 * Copies @len bytes at @va of the region with @key, which must belong to @pd and permit
 * all of @access.  All is checked before any byte is copied; but a bus error may come
 * in the middle.  @len 0: any key and address is good.
 */
PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access);
PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access);
/* Whether one from a snapshot is such as commands and work requests make them. */
bool pvrdma_mr_possible(const PvrdmaMr *mr);
/* The check alone, of all of a message. */
PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access);

/* Executes FAST_REG_MR and LOCAL_INV, and a peer's invalidation; wc status. */
uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe);
uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key);
/* Frees all memory regions, protection domains and contexts. */
void pvrdma_mr_reset_all(PvrdmaState *s);

/* Commands. */
PvrdmaCmd pvrdma_cmd_create_uc, pvrdma_cmd_destroy_uc;
PvrdmaCmd pvrdma_cmd_create_pd, pvrdma_cmd_destroy_pd;
PvrdmaCmd pvrdma_cmd_create_mr, pvrdma_cmd_destroy_mr;

#endif /* HW_PVRDMA_OBJECTS_MR_H */
