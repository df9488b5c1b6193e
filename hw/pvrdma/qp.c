/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: queue pairs: commands, states, doorbells, errors.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn)
{
    return NULL;
}

void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value)
{
}

void pvrdma_qp_error(PvrdmaQp *qp, int event)
{
}

void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq)
{
}

void pvrdma_qp_send_error(PvrdmaQp *qp)
{
}

void pvrdma_qp_established(PvrdmaQp *qp)
{
}

void pvrdma_qp_drained(PvrdmaQp *qp)
{
}

int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe)
{
    return 0;
}

void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline)
{
}

void pvrdma_qp_reset_all(PvrdmaState *s)
{
}

int pvrdma_cmd_create_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_modify_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_query_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_qp(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}
