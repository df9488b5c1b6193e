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
    /* The device sends one event when fewer WQEs than this wait; 0: no event. */
    uint32_t limit;
    bool failed;                    /* the queue could not be read; it stays closed */
    PvrdmaPages pages;
    PvrdmaWq rq;
} PvrdmaSrq;

/* Places the queue in its pages.  Returns 0, or EINVAL if it does not fit. */
int pvrdma_srq_layout(PvrdmaSrq *srq, uint32_t entries, uint32_t max_sge);
/* Checks a store of @value, an SRQ's handle, to the SRQ doorbell of page @uar. */
void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Fetches the next receive WQE into @rqe, and returns its slot to the guest.  Returns
 * 1, or 0 if no WQE is posted, or -1 if the queue cannot be read now or could not be
 * read before.  Sends SRQ_LIMIT_REACHED if fewer WQEs than the limit are left.
 */
int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe);

/* Frees all shared receive queues. */
void pvrdma_srq_reset_all(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_srq, pvrdma_cmd_modify_srq;
PvrdmaCmd pvrdma_cmd_query_srq, pvrdma_cmd_destroy_srq;

#endif /* HW_PVRDMA_OBJECTS_SRQ_H */
