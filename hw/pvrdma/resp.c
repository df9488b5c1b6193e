/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: responder: requests of the peer.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

void pvrdma_resp_init(PvrdmaQp *qp)
{
}

void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
}

bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget)
{
    return false;
}

void pvrdma_resp_flush(PvrdmaQp *qp)
{
}
