/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: requester: work requests become packets.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget)
{
    return false;
}

void pvrdma_req_init(PvrdmaQp *qp)
{
}

void pvrdma_req_fini(PvrdmaQp *qp)
{
}

void pvrdma_req_flush(PvrdmaQp *qp)
{
}

bool pvrdma_req_idle(const PvrdmaQp *qp)
{
    return false;
}

void pvrdma_req_timer(PvrdmaQp *qp)
{
}
