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
/*
 * Handles a request of the peer: executes it if it has the expected PSN, answers it
 * again if it is a duplicate, and drops it behind a gap.  Activates the QP if an answer
 * is due.  A request that is refused puts the QP into state ERR.
 */
void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/*
 * Sends at most *@budget packets of answers, and subtracts them from *@budget.  Returns
 * true if packets remain because the budget is used up or the port accepts no frame;
 * false if nothing remains, or if the QEMUTimer will activate the QP.
 */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget);
/*
 * Completes the WQE of the message that arrives, and at most PVRDMA_FLUSH_WQES WQEs of
 * the QP's own receive queue, with WR_FLUSH_ERR.  WQEs of an SRQ stay.  Returns true if
 * more WQEs may remain.
 */
bool pvrdma_resp_flush(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_RESP_H */
