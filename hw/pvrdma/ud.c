/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: datagrams.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    return 0;
}

void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame)
{
}
