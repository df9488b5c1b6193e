/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two QPs of one device that are connected with each other, QP 0 and QP 1, for tests of
 * memory and queues.  After an error the QPs can be connected again.
 */
#ifndef PVRDMA_QP_PAIR_H
#define PVRDMA_QP_PAIR_H

#include "verbs.h"

/* virtual address of memory 0; that of memory 1 is 1 << 32 higher */
#define PVRDMA_QP_PAIR_VA 0x7f5500000123ULL
#define PVRDMA_QP_PAIR_BYTES 20000

typedef struct PvrdmaQpPair {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq[2];
    PvrdmaTestQp qp[2];
    PvrdmaTestMr mr[2];             /* memory 0 and 1, with all rights */
    uint64_t wr_id;                 /* id of the last WQE of QP 0 */
} PvrdmaQpPair;

/* Starts a machine, and makes the objects. */
void pvrdma_qp_pair_start(PvrdmaQpPair *d);
/*
 * Makes the objects in a device that is up.  @srq: NULL, or the SRQ of QP 1, in @d->pd,
 * which the caller has set.
 */
void pvrdma_qp_pair_make(PvrdmaQpPair *d, PvrdmaTest *t, const PvrdmaTestSrq *srq);
void pvrdma_qp_pair_stop(PvrdmaQpPair *d);
/* Resets and connects the QPs again; empties the CQs. */
void pvrdma_qp_pair_again(PvrdmaQpPair *d);

/* Posts @hdr with @sge, or NULL, to QP 0; asserts that it completes with @status. */
void pvrdma_qp_pair_do(PvrdmaQpPair *d, const struct pvrdma_sq_wqe_hdr *hdr,
                       const PvrdmaTestSge *sge, enum pvrdma_wc_status status);
/*
 * Does an RDMA WRITE or READ between @sge and @va, @rkey; asserts that it completes
 * with @status.
 */
void pvrdma_qp_pair_rdma(PvrdmaQpPair *d, enum pvrdma_wr_opcode opcode, PvrdmaTestSge sge,
                         uint64_t va, uint32_t rkey, enum pvrdma_wc_status status);
/*
 * Sends @len bytes of memory 0 to a receive WQE with all of memory 1; asserts both
 * completions.
 */
void pvrdma_qp_pair_send(PvrdmaQpPair *d, uint32_t len);
/*
 * Writes all of memory 0 to memory 1 and reads it back; asserts that the data are
 * right.
 */
void pvrdma_qp_pair_check(PvrdmaQpPair *d);

#endif
