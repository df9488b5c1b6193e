/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: shared receive queues.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value)
{
}

int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe)
{
    return 0;
}

void pvrdma_srq_reset_all(PvrdmaState *s)
{
}

int pvrdma_cmd_create_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_modify_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_query_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_srq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}
