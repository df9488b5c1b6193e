/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work queues and scatter/gather lists.
 */
#ifndef HW_PVRDMA_OBJECTS_WQ_H
#define HW_PVRDMA_OBJECTS_WQ_H

#include <rdma/vmw_pvrdma-abi.h>
#include "../base/caps.h"
#include "../base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

typedef struct PvrdmaSge {
    uint64_t addr;
    uint32_t length;
    uint32_t lkey;
} PvrdmaSge;

typedef struct PvrdmaWq {
    uint32_t ring_at;               /* byte of its struct pvrdma_ring in the pages */
    uint32_t wqe_at;                /* byte of WQE 0 */
    uint32_t wqe_bytes;
    uint32_t entries;               /* a power of two; 0: there is no such queue */
    uint32_t max_sge;
    uint32_t fetch;                 /* index of the next WQE to be read */
    uint32_t cons;                  /* what cons_head says */
    uint32_t prod;                  /* the guest's index when it was last read */
} PvrdmaWq;

/* Address of a datagram. */
typedef struct PvrdmaAv {
    uint8_t dgid[16];
    uint8_t dmac[6];
    uint8_t gid_index;
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint32_t flow_label;
    uint32_t pd;
    uint8_t port;
} PvrdmaAv;

/* A WQE of a send queue, decoded, and how far it has come. */
typedef struct PvrdmaSqe PvrdmaSqe;
struct PvrdmaSqe {
    uint64_t wr_id;
    uint8_t opcode;                 /* enum pvrdma_wr_opcode */
    uint8_t flags;                  /* PVRDMA_SEND_ */
    uint8_t status;                 /* enum pvrdma_wc_status: what is wrong with it */
    uint32_t imm;                   /* as it is on the wire */
    uint32_t inv_rkey;
    uint64_t remote_addr;           /* RDMA and atomics */
    uint32_t rkey;
    uint64_t compare_add, swap;     /* atomics */
    struct {
        uint64_t iova, pdir;
        uint32_t page_shift, pages, length, access, rkey;
    } fast_reg;
    struct {
        uint32_t qpn, qkey;
        PvrdmaAv av;
    } ud;
    uint32_t length;                /* sum of the elements */
    uint16_t sges;
    PvrdmaSge *sge;                 /* of the queue's owner */
    uint32_t psn, last_psn;         /* first and last packet, or response to a READ */
    bool sent;                      /* psn and last_psn are set */
    bool done;                      /* nothing is waited for any more */
    uint32_t resp_psn;              /* READ: next packet of the response */
};

/* A WQE of a receive queue. */
typedef struct PvrdmaRqe {
    uint64_t wr_id;
    uint32_t length;                /* sum of the elements */
    uint8_t status;                 /* enum pvrdma_wc_status */
    uint16_t sges;
    PvrdmaSge sge[PVRDMA_MAX_SGE];
} PvrdmaRqe;

/*
 * Lays out a queue.  @ring_at and @wqe_at in bytes; EINVAL if it does not fit into
 * @pages, or is larger than the limits allow.
 */
int pvrdma_wq_init(PvrdmaWq *wq, uint32_t ring_at, uint32_t wqe_at,
                   uint32_t entries, uint32_t max_sge);
int pvrdma_sq_layout(PvrdmaWq *wq, const PvrdmaPages *pages);
int pvrdma_rq_layout(PvrdmaWq *wq, const PvrdmaPages *pages);
/*
 * How many WQEs wait to be read; -1: the guest's index is impossible.  The guest's index
 * is read only when all that it promised was fetched: there may be more, but 0 is 0.
 */
int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq);
/* The same with the index as it is now: the exact number. */
int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq);
/*
 * Reads the next WQE, once, and moves on; there must be one.  @sqe->sge has room for
 * max_sge.  What is wrong with it is in its status.  False: its memory cannot be read;
 * that, too, moves on.
 */
bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe);
bool pvrdma_rq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaRqe *rqe);
/* Gives @count slots back to the guest. */
void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count);
/* As after creation; the driver zeroes its indices itself. */
void pvrdma_wq_reset(PvrdmaWq *wq);
/*
 * Goes on at indices from a snapshot: what was fetched and not given back is fetched
 * again.  False: they are impossible.
 */
bool pvrdma_wq_resume(PvrdmaWq *wq, uint32_t cons, uint32_t prod);

/*
 * Copies between @buf and the bytes from @offset on of a scatter/gather list.  Enum
 * pvrdma_wc_status: LOC_PROT_ERR, LOC_LEN_ERR (beyond its end).
 */
uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len);
uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len);

#endif /* HW_PVRDMA_OBJECTS_WQ_H */
