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
 * Handles an acknowledgement or a response @pkt of the peer.  Drops @pkt, and counts
 * @pkt in RX_STALE, if the QP is not in state RTS or SQD, or if no sent packet awaits
 * @pkt.  A READ response that no packet awaits still restarts a deadline that runs.  May
 * complete WQEs, schedule a retransmission, and end the QP.
 */
void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/*
 * Writes a completion of @sqe with @status, of enum pvrdma_wc_status.  If @status is
 * SUCCESS, writes only a completion that @sqe or its QP requests.
 */
void pvrdma_comp_wqe(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint8_t status);

#endif /* HW_PVRDMA_TRANSPORT_COMP_H */
