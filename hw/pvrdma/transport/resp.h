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
 * Handles a request of the peer.  Executes a request with the expected PSN; if this
 * request fails, schedules a NAK, and the QP goes to state ERR.  If the request needs a
 * receive WQE and none is posted, schedules an RNR NAK.  May answer a duplicate again.
 * Drops a request behind a gap, and schedules a NAK unless PvrdmaResp.nak_sent is true.
 * Activates the QP if an answer is due; a single ACK may be delayed.
 */
void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/*
 * Sends at most *@budget packets of answers.  Subtracts 1 from *@budget for each packet,
 * and for each READ whose memory cannot be read.  Returns true if packets remain because
 * *@budget is 0 or the port accepts no frame.  Returns false if no packet remains, or if
 * the QP's timer will activate the QP.
 */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget);
/*
 * Completes a fetched receive WQE, and at most PVRDMA_FLUSH_WQES posted WQEs of the QP's
 * own receive queue, with WR_FLUSH_ERR.  The posted WQEs of an SRQ remain.  Returns true
 * after PVRDMA_FLUSH_WQES posted WQEs, because more may remain.
 */
bool pvrdma_resp_flush(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_RESP_H */
