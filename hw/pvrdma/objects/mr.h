/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts of processes, protection domains and memory regions.
 */
#ifndef HW_PVRDMA_OBJECTS_MR_H
#define HW_PVRDMA_OBJECTS_MR_H

#include "../base/command.h"
#include "../base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;
typedef struct PvrdmaSqe PvrdmaSqe;

typedef struct PvrdmaUc {           /* context: the device as one process uses it */
    uint32_t handle;
    uint32_t uar;                   /* number of the context's doorbell page in BAR 2 */
    uint32_t users;                 /* number of PDs and CQs of the context */
} PvrdmaUc;

typedef struct PvrdmaPd {
    uint32_t handle;
    uint32_t ctx;                   /* handle of the context; 0: the kernel */
    uint32_t uar;                   /* number of the context's doorbell page */
    uint32_t users;                 /* number of MRs, QPs and SRQs of the domain */
} PvrdmaPd;

typedef enum PvrdmaMrKind {
    PVRDMA_MR_USER,                 /* CREATE_MR sets the pages */
    PVRDMA_MR_DMA,                  /* all memory; its addresses are DMA addresses */
    PVRDMA_MR_FAST,                 /* fast region; FAST_REG_MR sets its pages */
} PvrdmaMrKind;

typedef struct PvrdmaMr {
    uint32_t handle;
    uint32_t key;                   /* lkey and rkey: handle << 8 | variant */
    uint32_t pd;                    /* handle of the protection domain */
    uint8_t kind;                   /* PvrdmaMrKind */
    /* Fast region: true from FAST_REG_MR to the invalidation.  Other regions: true. */
    bool valid;
    uint32_t access;                /* access rights, bits PVRDMA_ACCESS_* */
    uint32_t max_pages;             /* fast region: maximal number of its pages */
    uint64_t start, length;         /* virtual address of the first byte; size, bytes */
    uint64_t offset;                /* offset of @start in the first page, bytes */
    PvrdmaPages pages;
} PvrdmaMr;

typedef enum PvrdmaMrStatus {
    PVRDMA_MR_OK,
    PVRDMA_MR_BAD_KEY,              /* no valid region has the key */
    PVRDMA_MR_BAD_PD,               /* the region belongs to another domain than the QP */
    PVRDMA_MR_BAD_RANGE,            /* some bytes are outside the region */
    PVRDMA_MR_BAD_ACCESS,           /* the region forbids the access */
    PVRDMA_MR_BUS_ERROR,            /* bus error; some bytes may have been copied */
} PvrdmaMrStatus;

/*
 * Copy @len bytes between @buf and address @va of the region with @key.  The region must
 * belong to the QP's domain and permit all rights in @access.  All checks precede the
 * copy, but a bus error may interrupt the copy.  If @len is 0, any key and address is
 * valid.
 */
PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access);
PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access);
/* Returns true if the values of a region from a snapshot, without its PD, are valid. */
bool pvrdma_mr_fields_valid(const PvrdmaMr *mr);
/* Checks as pvrdma_mr_read() does, but copies nothing, so never returns BUS_ERROR. */
PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access);

/*
 * Executes the FAST_REG_MR @sqe.  Returns SUCCESS of enum pvrdma_wc_status, or
 * MW_BIND_ERR if the region is not a fast region of the QP's domain, is still valid, if
 * an argument of @sqe is not valid, or if the pages cannot be loaded.
 */
uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe);
/*
 * Invalidates the fast region with @key, for LOCAL_INV or for a SEND of the peer.
 * Returns SUCCESS of enum pvrdma_wc_status, or MW_BIND_ERR if the QP's domain has no fast
 * region with @key.
 */
uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key);
/*
 * Frees all memory regions, protection domains and contexts.  QPs, CQs and SRQs must have
 * been freed before.
 */
void pvrdma_mr_reset_all(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_uc, pvrdma_cmd_destroy_uc;
PvrdmaCmd pvrdma_cmd_create_pd, pvrdma_cmd_destroy_pd;
PvrdmaCmd pvrdma_cmd_create_mr, pvrdma_cmd_destroy_mr;

#endif /* HW_PVRDMA_OBJECTS_MR_H */
