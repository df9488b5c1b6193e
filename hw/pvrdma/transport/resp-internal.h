/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the files of the responder: resp.c and resp-tx.c.
 */
#ifndef HW_PVRDMA_TRANSPORT_RESP_INTERNAL_H
#define HW_PVRDMA_TRANSPORT_RESP_INTERNAL_H

#include "../objects/mr.h"
#include "../objects/qp.h"
#include "resp.h"

/* Returns resource number @i; number 0 is the oldest resource. */
static inline PvrdmaResource *pvrdma_resource_at(PvrdmaResp *r, unsigned i)
{
    return &r->resource[(r->resource_first + i) % PVRDMA_RESP_RESOURCES];
}

/*
 * Returns the oldest resource that must be answered, or NULL.  Advances resource_next to
 * this resource, or behind the newest resource if the result is NULL.
 */
PvrdmaResource *pvrdma_resp_active(PvrdmaResp *r);
/* Returns true if the responder has a packet to send, and the QP's state permits it. */
bool pvrdma_resp_has_work(PvrdmaQp *qp);
/*
 * Ends the connection by a NAK for @psn, because pvrdma_mr_read() for a READ has returned
 * @status.  Drops all resources, and puts the QP into state ERR.
 */
void pvrdma_resp_mr_failed(PvrdmaQp *qp, PvrdmaMrStatus status, uint32_t psn);

#endif /* HW_PVRDMA_TRANSPORT_RESP_INTERNAL_H */
