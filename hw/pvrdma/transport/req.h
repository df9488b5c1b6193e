/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending side of a QP: requester (req.c, req-tx.c) and completer (comp.c).  The
 * interface between these files is in req-internal.h.
 */
#ifndef HW_PVRDMA_TRANSPORT_REQ_H
#define HW_PVRDMA_TRANSPORT_REQ_H

#include "../objects/req-state.h"

typedef struct PvrdmaQp PvrdmaQp;

/*
 * Maximal number of response packets that one READ request covers.  The requester splits
 * a longer READ into several requests.  The split limits the PSNs that are not
 * acknowledged, and the packets that a peer sends without a new request.
 */
#define PVRDMA_REQ_READ_PACKETS 128
/*
 * Maximal number of response packets that one repeated READ request covers, and that all
 * repeated READ requests under way cover together.  The number is small, because all
 * packets behind a lost packet must be repeated.  A repeated request covers a part of one
 * original request, because peers answer only such requests.  Only one part of an
 * original request is under way, because some peers stop the answer to one part when the
 * request for the next part arrives.
 */
#define PVRDMA_REQ_REPEAT_PACKETS 32
/* In a SEND or WRITE, each 64th packet and the last packet ask for an acknowledgement. */
#define PVRDMA_REQ_ACK_PACKETS 64

/*
 * Fetches WQEs and sends packets, until the port accepts no frame, *@budget is 0, or the
 * QP must wait, has nothing to send or has a WQE in error.  Then completes WQEs that are
 * done.  Subtracts 1 from *@budget for each packet and each WQE that needs no packet.
 * Returns true if the function stopped because of the port or *@budget; in this case the
 * QP may have more to send.  In states ERR and SQE the function only calls
 * pvrdma_req_flush(), and returns the result of this call.
 */
bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget);
/* Calls pvrdma_req_fini(), and sets the requester's state for RTS from the attributes. */
void pvrdma_req_init(PvrdmaQp *qp);
/*
 * Frees the ring of fetched WQEs, and drops all state of the requester and the rate
 * limit.
 */
void pvrdma_req_fini(PvrdmaQp *qp);
/*
 * Completes all fetched WQEs and at most PVRDMA_FLUSH_WQES posted WQEs with WR_FLUSH_ERR,
 * and returns their slots to the guest.  A WQE that cannot be read gets no completion.
 * Returns true if more posted WQEs remain, or false if the guest's index is not valid or
 * cannot be read.
 */
bool pvrdma_req_flush(PvrdmaQp *qp);
/* Returns true if all WQEs that have got PSNs are complete. */
bool pvrdma_req_idle(const PvrdmaQp *qp);
/* Handles the expiry of PvrdmaQp.timer, which is set for deadline, rnr_until or DCQCN. */
void pvrdma_req_timer(PvrdmaQp *qp);
/*
 * Returns true if DCQCN forbids the QP to send payload now.  In this case sets
 * PvrdmaReq.paced, and makes the QP's timer expire no later than DCQCN permits the next
 * packet.
 */
bool pvrdma_req_congested(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_H */
