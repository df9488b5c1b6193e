/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: completion queues.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc)
{
}

void pvrdma_cq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value)
{
}

void pvrdma_cq_reset_all(PvrdmaState *s)
{
}

int pvrdma_cmd_create_cq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_resize_cq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_cq(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}
