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
 * Maximal number of packets that a repeated READ request covers.  Only one repeated
 * request is under way, because a lost packet costs all packets behind it, and because
 * a peer may forget the first request at the second.  The repeated request covers a
 * part of one original request, because peers answer only such requests.
 */
#define PVRDMA_REQ_REPEAT_PACKETS 32
/* Interval at which a long message requests an acknowledgement, in packets. */
#define PVRDMA_REQ_ACK_PACKETS 64

/*
 * Fetches WQEs and sends packets, until the port accepts no frame or *@budget packets
 * are sent.  Returns true if it could send more now.
 */
bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget);
/* Sets the state for RTS from the attributes, and drops all earlier state. */
void pvrdma_req_init(PvrdmaQp *qp);
/* Frees the ring of WQEs, and drops all state. */
void pvrdma_req_fini(PvrdmaQp *qp);
/*
 * Completes WQEs, fetched or only posted, with WR_FLUSH_ERR.  The caller has completed
 * the WQE in error.  Returns true if more remain.
 */
bool pvrdma_req_flush(PvrdmaQp *qp);
/* Returns true if no WQE is under way. */
bool pvrdma_req_idle(const PvrdmaQp *qp);
/* Handles an event of the QP's timer. */
void pvrdma_req_timer(PvrdmaQp *qp);
/*
 * Returns true if DCQCN forbids to send payload now.  Then the QP is activated later.
 */
bool pvrdma_req_congested(PvrdmaQp *qp);

#endif /* HW_PVRDMA_TRANSPORT_REQ_H */
