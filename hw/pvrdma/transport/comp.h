/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The completer of a QP: answers of the peer.
 */
#ifndef HW_PVRDMA_TRANSPORT_COMP_H
#define HW_PVRDMA_TRANSPORT_COMP_H

#include "../wire/roce.h"
#include "../objects/wq.h"

typedef struct PvrdmaQp PvrdmaQp;

/* Acknowledgements and responses from the peer. */
void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/* Completes @sqe; signalled or in error also to the CQ. */
void pvrdma_comp_wqe(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint8_t status);

#endif /* HW_PVRDMA_TRANSPORT_COMP_H */
