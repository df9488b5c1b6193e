/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The completer of a QP, which handles the answers of the peer.
 */
#ifndef HW_PVRDMA_TRANSPORT_COMP_H
#define HW_PVRDMA_TRANSPORT_COMP_H

#include "../wire/roce.h"
#include "../objects/wq.h"

typedef struct PvrdmaQp PvrdmaQp;

/*
 * Handles an acknowledgement or a response of the peer.  Drops and counts it if no packet
 * awaits it.  May complete WQEs, and stop the send queue.
 */
void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/*
 * Writes the completion of @sqe if @status is an error, or if @sqe or its QP requests
 * it.
 */
void pvrdma_comp_wqe(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint8_t status);

#endif /* HW_PVRDMA_TRANSPORT_COMP_H */
