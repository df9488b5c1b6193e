/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams: QPs of the types UD and GSI.
 */
#ifndef HW_PVRDMA_TRANSPORT_UD_H
#define HW_PVRDMA_TRANSPORT_UD_H

#include "../wire/roce.h"
#include "../objects/wq.h"

typedef struct PvrdmaQp PvrdmaQp;

/*
 * Sends @sqe as one packet.  Returns enum pvrdma_wc_status; after an error nothing was
 * sent, and a guest error is logged.
 */
uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe);
/*
 * Stores the datagram @pkt of @frame, which came by @path, in a receive WQE, and
 * completes the WQE.  Drops and counts the datagram if its QKEY is wrong, or if no WQE
 * is large enough.  If the WQE or its memory is not valid, the QP goes to state ERR.
 */
void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame);

#endif /* HW_PVRDMA_TRANSPORT_UD_H */
