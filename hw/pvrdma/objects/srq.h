/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared receive queues.
 */
#ifndef HW_PVRDMA_OBJECTS_SRQ_H
#define HW_PVRDMA_OBJECTS_SRQ_H

#include "../cmd.h"
#include "../base/pages.h"
#include "wq.h"

typedef struct PvrdmaSrq {
    uint32_t handle;
    uint32_t pd;
    uint32_t uar;                   /* of its context: where its doorbell is */
    uint32_t users;                 /* QPs */
    uint32_t limit;                 /* event when fewer WQEs are left; 0: none */
    bool failed;                    /* the guest's index was impossible */
    PvrdmaPages pages;
    PvrdmaWq rq;
} PvrdmaSrq;

/* Finds the queue in its pages; EINVAL: it is too large. */
int pvrdma_srq_layout(PvrdmaSrq *srq, uint32_t entries, uint32_t max_sge);
void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * The next receive WQE, whose slot the guest has back: 1, 0 if there is none, -1 on
 * error.  Tells the guest if few are left.
 */
int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe);

/* Frees all shared receive queues. */
void pvrdma_srq_reset_all(PvrdmaState *s);

/* Commands. */
PvrdmaCmd pvrdma_cmd_create_srq, pvrdma_cmd_modify_srq;
PvrdmaCmd pvrdma_cmd_query_srq, pvrdma_cmd_destroy_srq;

#endif /* HW_PVRDMA_OBJECTS_SRQ_H */
