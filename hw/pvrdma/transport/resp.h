/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving side of a QP, the responder (resp.c, resp-tx.c).  The interface of these
 * files is in resp-internal.h.
 */
#ifndef HW_PVRDMA_TRANSPORT_RESP_H
#define HW_PVRDMA_TRANSPORT_RESP_H

#include "../objects/resp-state.h"
#include "../wire/roce.h"

typedef struct PvrdmaQp PvrdmaQp;

/* Sets the state for RTR, from the attributes. */
void pvrdma_resp_init(PvrdmaQp *qp);
/* Handles a request of the peer. */
void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/*
 * Sends answers, until the port accepts no frame or *@budget packets are sent.  Returns
 * true if it could send more now.
 */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget);
/*
 * Completes receive WQEs with WR_FLUSH_ERR; not those of an SRQ.  Returns true if more
 * remain.
 */
bool pvrdma_resp_flush(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_RESP_H */
