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
    uint32_t pd;
    uint32_t uar;                   /* doorbell page of the context */
    uint32_t users;                 /* number of QPs that use the SRQ */
    /* fewer waiting WQEs than this raise an event; 0: never */
    uint32_t limit;
    bool failed;                    /* the guest's index was not valid */
    PvrdmaPages pages;
    PvrdmaWq rq;
} PvrdmaSrq;

/* Places the queue in its pages.  Returns 0, or EINVAL if it does not fit. */
int pvrdma_srq_layout(PvrdmaSrq *srq, uint32_t entries, uint32_t max_sge);
/* Handles a store to the SRQ doorbell of page @uar.  @value: PVRDMA_UAR_SRQ_. */
void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Fetches the next receive WQE, and returns its slot to the guest.  Returns 1, 0 if
 * there is no WQE, or -1 on an error.  Sends the limit event if few WQEs are left.
 */
int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe);

/* Frees all shared receive queues. */
void pvrdma_srq_reset_all(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_srq, pvrdma_cmd_modify_srq;
PvrdmaCmd pvrdma_cmd_query_srq, pvrdma_cmd_destroy_srq;

#endif /* HW_PVRDMA_OBJECTS_SRQ_H */
