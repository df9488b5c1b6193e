/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: completer: what the peer answers, and what becomes of it.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
}

void pvrdma_comp_wqe(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint8_t status)
{
}
