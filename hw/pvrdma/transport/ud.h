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
 * Sends @sqe as one packet.  Returns enum pvrdma_wc_status.  If the status is an error,
 * sends nothing, and logs a guest error.
 */
uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe);
/*
 * Stores the datagram @pkt of @frame, which has arrived by @path, in the memory of a
 * receive WQE, and completes the WQE.  Drops and counts the datagram if its QKEY is
 * wrong, if no receive WQE is posted, if the queue cannot be read, or if the next receive
 * WQE is too short.  If the WQE or its memory is not valid, completes the WQE with an
 * error.  The QP goes to state ERR after such an error, and also if the queue cannot be
 * read.
 */
void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame);

#endif /* HW_PVRDMA_TRANSPORT_UD_H */
