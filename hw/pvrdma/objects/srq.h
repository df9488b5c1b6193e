/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared receive queues.
 */
#ifndef HW_PVRDMA_OBJECTS_SRQ_H
#define HW_PVRDMA_OBJECTS_SRQ_H

#include "../base/command.h"
#include "../base/pages.h"
#include "wq.h"

typedef struct PvrdmaSrq {
    uint32_t handle;
    uint32_t pd;                    /* handle of the protection domain */
    uint32_t uar;                   /* number of the context's doorbell page */
    uint32_t users;                 /* number of QPs that use the SRQ */
    /* The device sends SRQ_LIMIT_REACHED when fewer WQEs than @limit wait; 0: never. */
    uint32_t limit;
    bool failed;                    /* a read of the queue failed, which ends the SRQ */
    PvrdmaPages pages;
    PvrdmaWq rq;
} PvrdmaSrq;

/*
 * Places a queue of @entries WQEs, each with at most @max_sge elements, in the pages of
 * @srq.  Returns 0, or EINVAL if a size is not valid or the queue does not fit.
 */
int pvrdma_srq_layout(PvrdmaSrq *srq, uint32_t entries, uint32_t max_sge);
/*
 * Checks a store of @value to the SRQ doorbell of page @uar.  Bits 23:0 of @value are the
 * handle of an SRQ.  A handle that does not belong to this page is a guest error.
 */
void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Fetches the next receive WQE into @rqe, and returns the slot of the WQE to the guest.
 * Returns 1, or 0 if no WQE is posted, or -1 if this or an earlier read of the queue
 * failed; the first failure sends SRQ_ERR.  Sends SRQ_LIMIT_REACHED, and sets the limit
 * to 0, if fewer WQEs than the limit are left.
 */
int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe);

/* Frees all shared receive queues.  The QPs must have been freed before. */
void pvrdma_srq_reset_all(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_srq, pvrdma_cmd_modify_srq;
PvrdmaCmd pvrdma_cmd_query_srq, pvrdma_cmd_destroy_srq;

#endif /* HW_PVRDMA_OBJECTS_SRQ_H */
