/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: contexts, protection domains, memory regions.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access)
{
    return 0;
}

PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access)
{
    return 0;
}

PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access)
{
    return 0;
}

uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    return 0;
}

uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key)
{
    return 0;
}

void pvrdma_mr_reset_all(PvrdmaState *s)
{
}

int pvrdma_cmd_create_uc(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_uc(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_create_pd(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_pd(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_create_mr(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_mr(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}
