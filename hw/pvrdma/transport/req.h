/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending side of a QP: requester (req.c, req-tx.c) and completer (comp.c).  Their
 * interface is in req-internal.h.
 */
#ifndef HW_PVRDMA_TRANSPORT_REQ_H
#define HW_PVRDMA_TRANSPORT_REQ_H

#include "../objects/req-state.h"

typedef struct PvrdmaQp PvrdmaQp;

/*
 * Maximal number of packets that one READ request covers.  A longer READ is split into
 * several requests.  This limits the PSNs under way, and the packets that a peer sends
 * without a new request.
 */
#define PVRDMA_REQ_READ_PACKETS 128
/*
 * Maximal number of packets that a repeated READ request covers, and that all repeated
 * requests under way cover, because a lost packet costs all packets behind it.  A
 * repeated request covers a part of one original request, because peers answer only such
 * requests.  Only one part of an original request is under way, because a peer may forget
 * the first part at the second.
 */
#define PVRDMA_REQ_REPEAT_PACKETS 32
/* A SEND or WRITE requests an acknowledgement every so many packets, and in its last. */
#define PVRDMA_REQ_ACK_PACKETS 64

/*
 * Fetches WQEs and sends packets, until the port accepts no frame or *@budget packets
 * are sent.  Returns true if it could send more now.
 */
bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget);
/* Drops all state, and sets the state for RTS from the attributes. */
void pvrdma_req_init(PvrdmaQp *qp);
/* Frees the ring of WQEs, and drops all state and the rate limit. */
void pvrdma_req_fini(PvrdmaQp *qp);
/*
 * Completes all fetched WQEs and at most PVRDMA_FLUSH_WQES posted WQEs with WR_FLUSH_ERR.
 * A WQE in error was completed before.  Returns true if more posted WQEs remain.
 */
bool pvrdma_req_flush(PvrdmaQp *qp);
/* Returns true if all WQEs to which PSNs were assigned are complete. */
bool pvrdma_req_idle(const PvrdmaQp *qp);
/* Handles the QEMUTimer, whichever of deadline, rnr_until or paced it serves. */
void pvrdma_req_timer(PvrdmaQp *qp);
/*
 * Returns true if DCQCN forbids to send payload now.  Then the QEMUTimer activates the QP
 * when DCQCN permits it.
 */
bool pvrdma_req_congested(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_H */
