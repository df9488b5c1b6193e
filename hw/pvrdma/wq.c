/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: work queues.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

int pvrdma_wq_init(PvrdmaWq *wq, uint32_t ring_at, uint32_t wqe_at,
                   uint32_t entries, uint32_t max_sge)
{
    return 0;
}

int pvrdma_sq_layout(PvrdmaWq *wq, const PvrdmaPages *pages)
{
    return 0;
}

int pvrdma_rq_layout(PvrdmaWq *wq, const PvrdmaPages *pages)
{
    return 0;
}

int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return 0;
}

int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return 0;
}

bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe)
{
    return false;
}

bool pvrdma_rq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaRqe *rqe)
{
    return false;
}

void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count)
{
}

void pvrdma_wq_reset(PvrdmaWq *wq)
{
}

uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len)
{
    return 0;
}

uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len)
{
    return 0;
}
