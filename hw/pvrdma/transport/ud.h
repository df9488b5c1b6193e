/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams.
 */
#ifndef HW_PVRDMA_TRANSPORT_UD_H
#define HW_PVRDMA_TRANSPORT_UD_H

#include "../wire/roce.h"
#include "../objects/wq.h"

typedef struct PvrdmaQp PvrdmaQp;

/* Sends @sqe.  Returns enum pvrdma_wc_status. */
uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe);
/* Delivers the datagram @pkt of @frame, which came by @path. */
void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame);

#endif /* HW_PVRDMA_TRANSPORT_UD_H */
