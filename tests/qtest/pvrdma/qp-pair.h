/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two QPs of one device that are connected with each other, QP 0 and QP 1, for tests of
 * memory and queues.  After an error, pvrdma_qp_pair_again() connects the QPs again.
 */
#ifndef PVRDMA_QP_PAIR_H
#define PVRDMA_QP_PAIR_H

#include "verbs.h"

/* virtual address of memory 0; the address of memory 1 is higher by 1 << 32 */
#define PVRDMA_QP_PAIR_VA 0x7f5500000123ULL
#define PVRDMA_QP_PAIR_BYTES 20000

typedef struct PvrdmaQpPair {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq[2];
    PvrdmaTestQp qp[2];
    PvrdmaTestMr mr[2];             /* memory 0 and memory 1, with all access rights */
    uint64_t wr_id;                 /* wr_id of the last WQE of pvrdma_qp_pair_do() */
} PvrdmaQpPair;

/* Starts a machine, and makes the objects of @d. */
void pvrdma_qp_pair_start(PvrdmaQpPair *d);
/*
 * Makes the objects of @d in a device that is up, and connects the QPs.  If @srq is not
 * NULL, QP 1 uses @srq, and the caller has set @d->pd to the protection domain of @srq.
 */
void pvrdma_qp_pair_make(PvrdmaQpPair *d, PvrdmaTest *t, const PvrdmaTestSrq *srq);
void pvrdma_qp_pair_stop(PvrdmaQpPair *d);
/* Resets QP 0 and QP 1, empties the two CQs, and connects the QPs again. */
void pvrdma_qp_pair_again(PvrdmaQpPair *d);

/*
 * Posts a send WQE to QP 0, with header @hdr, a new wr_id and one element @sge, or no
 * element if @sge is NULL.  Waits for the completion; asserts @status.
 */
void pvrdma_qp_pair_do(PvrdmaQpPair *d, const struct pvrdma_sq_wqe_hdr *hdr,
                       const PvrdmaTestSge *sge, enum pvrdma_wc_status status);
/*
 * Does an RDMA WRITE or READ of QP 0, between local memory @sge and remote memory @va
 * with @rkey.  Waits for the completion; asserts @status.
 */
void pvrdma_qp_pair_rdma(PvrdmaQpPair *d, enum pvrdma_wr_opcode opcode, PvrdmaTestSge sge,
                         uint64_t va, uint32_t rkey, enum pvrdma_wc_status status);
/*
 * Sends @len bytes of memory 0 from QP 0 to a receive WQE of QP 1 with all of memory 1;
 * asserts that the two WQEs complete with success.
 */
void pvrdma_qp_pair_send(PvrdmaQpPair *d, uint32_t len);
/*
 * Fills memory 0, copies memory 0 to memory 1 by an RDMA WRITE, and copies memory 1
 * back by an RDMA READ; asserts that the data are right after each copy.
 */
void pvrdma_qp_pair_check(PvrdmaQpPair *d);

#endif
