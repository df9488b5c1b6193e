/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving side of a QP, the responder (resp.c, resp-tx.c).  The interface between
 * these files is in resp-internal.h.
 */
#ifndef HW_PVRDMA_TRANSPORT_RESP_H
#define HW_PVRDMA_TRANSPORT_RESP_H

#include "../objects/resp-state.h"
#include "../wire/roce.h"

typedef struct PvrdmaQp PvrdmaQp;

/* Drops all state of the responder, and sets the state for RTR from the attributes. */
void pvrdma_resp_init(PvrdmaQp *qp);
/*
 * Handles a request of the peer.  Executes a request with the expected PSN, answers a
 * duplicate again, and drops a request behind a gap, for which a NAK becomes due.
 * Activates the QP if an answer is due; an ACK may wait.  A request that is not valid
 * puts the QP into state ERR.
 */
void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/*
 * Sends at most *@budget packets of answers, and subtracts their number from *@budget.
 * Returns true if packets remain because *@budget is 0 or the port accepts no frame.
 * Returns false if no packet remains, or if the QP's timer will activate the QP.
 */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget);
/*
 * Completes the WQE of the message that arrives, and at most PVRDMA_FLUSH_WQES WQEs of
 * the QP's own receive queue, with WR_FLUSH_ERR.  The posted WQEs of an SRQ remain.
 * Returns true if more WQEs of the own queue may remain.
 */
bool pvrdma_resp_flush(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_RESP_H */
