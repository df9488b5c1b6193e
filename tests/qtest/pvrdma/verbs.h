/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verbs for tests of pvrdma: objects, work requests and completions, as the Linux
 * driver and the user library make and read them.  All commands must succeed, unless
 * the comment of a function says otherwise.  To test a bad command, a test makes the
 * request here and gives it to pvrdma_command_fails().
 */
#ifndef PVRDMA_VERBS_H
#define PVRDMA_VERBS_H

#include "device.h"

/* --- Contexts, domains, memory ------------------------------------------ */
/* Creates the context of a process, with page @page of BAR 2; returns its handle. */
uint32_t pvrdma_uc_create(PvrdmaTest *t, uint32_t page);
void pvrdma_uc_destroy(PvrdmaTest *t, uint32_t uc);
/*
 * Creates a protection domain of context @uc, or of the kernel if @uc is 0; returns its
 * handle.
 */
uint32_t pvrdma_pd_create(PvrdmaTest *t, uint32_t uc);
void pvrdma_pd_destroy(PvrdmaTest *t, uint32_t pd);

#define PVRDMA_TEST_ACCESS_ALL (PVRDMA_ACCESS_LOCAL_WRITE | \
    PVRDMA_ACCESS_REMOTE_WRITE | PVRDMA_ACCESS_REMOTE_READ | \
    PVRDMA_ACCESS_REMOTE_ATOMIC)

typedef struct PvrdmaTestMr {
    uint32_t handle;
    uint32_t lkey, rkey;
    uint64_t va;                    /* address of the first byte in SGEs and for peers */
    uint64_t pa;                    /* physical address; its pages follow each other */
    uint64_t length;
} PvrdmaTestMr;

/*
 * Returns the request for a region of @length bytes at physical address @pa, with the
 * address @va in SGEs.  @pa and @va must have the same offset in a page.
 */
union pvrdma_cmd_req pvrdma_mr_request(PvrdmaTest *t, uint32_t pd, uint64_t va,
                                       uint64_t pa, uint64_t length,
                                       uint32_t access);
/* Registers new memory with the address @va, which need not start a page. */
PvrdmaTestMr pvrdma_mr_create(PvrdmaTest *t, uint32_t pd, uint64_t va,
                              uint64_t length, uint32_t access);
/* Registers all memory by physical addresses, so @va is 0. */
PvrdmaTestMr pvrdma_mr_create_dma(PvrdmaTest *t, uint32_t pd, uint32_t access);
/* Creates a region for FAST_REG_MR, of up to @pages pages. */
PvrdmaTestMr pvrdma_mr_create_fast(PvrdmaTest *t, uint32_t pd, uint32_t pages);
void pvrdma_mr_destroy(PvrdmaTest *t, const PvrdmaTestMr *mr);

/* --- Completion queues -------------------------------------------------- */
typedef struct PvrdmaTestCq {
    uint32_t handle;
    uint32_t page;                  /* page of BAR 2 for its doorbell */
    uint32_t entries;
    uint64_t at;                    /* address of its pages, which follow each other */
} PvrdmaTestCq;

/*
 * Creates a CQ of context @uc with page @page of BAR 2; @uc and @page 0: of the kernel.
 */
PvrdmaTestCq pvrdma_cq_create(PvrdmaTest *t, uint32_t uc, uint32_t page,
                              uint32_t entries);
void pvrdma_cq_destroy(PvrdmaTest *t, const PvrdmaTestCq *cq);
/* Takes a completion, in the byte order of memory; returns false if there is none. */
bool pvrdma_cq_poll(PvrdmaTest *t, const PvrdmaTestCq *cq,
                    struct pvrdma_cqe *cqe);
/* Waits for the next completion; asserts @wr_id and @status. */
struct pvrdma_cqe pvrdma_cq_expect(PvrdmaTest *t, const PvrdmaTestCq *cq,
                                   uint64_t wr_id, enum pvrdma_wc_status status);
/* Settles; asserts that the CQ is empty. */
void pvrdma_cq_assert_empty(PvrdmaTest *t, const PvrdmaTestCq *cq);
/* Arms the CQ; @how: PVRDMA_UAR_CQ_ARM or PVRDMA_UAR_CQ_ARM_SOL. */
void pvrdma_cq_arm(PvrdmaTest *t, const PvrdmaTestCq *cq, uint32_t how);

/* --- Work queues -------------------------------------------------------- */
typedef struct PvrdmaTestWq {
    uint64_t ring;                  /* address of its struct pvrdma_ring */
    uint64_t at;                    /* address of WQE 0 */
    uint32_t entries;
    uint32_t wqe_bytes;
    uint32_t max_sge;
} PvrdmaTestWq;

typedef struct PvrdmaTestSrq {
    uint32_t handle;
    uint32_t page;
    PvrdmaTestWq rq;
} PvrdmaTestSrq;

typedef struct PvrdmaTestQp {
    uint32_t handle, qpn;
    uint32_t page;                  /* page of BAR 2 for its doorbell */
    uint8_t type;                   /* enum pvrdma_qp_type */
    PvrdmaTestWq sq, rq;
} PvrdmaTestQp;

PvrdmaTestSrq pvrdma_srq_create(PvrdmaTest *t, uint32_t pd, uint32_t page,
                                uint32_t entries, uint32_t sges);
void pvrdma_srq_destroy(PvrdmaTest *t, const PvrdmaTestSrq *srq);

/* Attributes of a new QP; 0 means the default in parentheses. */
typedef struct PvrdmaTestQpInit {
    uint8_t type;                   /* (RC) */
    uint32_t pd;
    uint32_t page;                  /* page of BAR 2 */
    const PvrdmaTestCq *send_cq, *recv_cq;  /* (NULL: the other one of the two) */
    const PvrdmaTestSrq *srq;       /* NULL: no SRQ */
    uint32_t send_wr, recv_wr;      /* WQEs of each queue, powers of two (16) */
    uint32_t send_sge, recv_sge;    /* elements of a WQE (4) */
    bool sig_all;
} PvrdmaTestQpInit;

/*
 * Makes the memory of a QP, and returns the request; sets all of @qp but handle and
 * number.
 */
union pvrdma_cmd_req pvrdma_qp_request(PvrdmaTest *t,
                                       const PvrdmaTestQpInit *init,
                                       PvrdmaTestQp *qp);
PvrdmaTestQp pvrdma_qp_create(PvrdmaTest *t, const PvrdmaTestQpInit *init);
void pvrdma_qp_destroy(PvrdmaTest *t, const PvrdmaTestQp *qp);

/* Attributes of modify_qp, in host order; 0 means the default in parentheses. */
typedef struct PvrdmaTestQpAttr {
    uint32_t state;                 /* enum pvrdma_qp_state */
    uint32_t mtu;                   /* enum pvrdma_mtu (1024) */
    uint32_t qkey, rq_psn, sq_psn, dest_qpn;
    uint32_t access;                /* (all rights) */
    /* In the next four lines PVRDMA_TEST_NEVER stands for 0. */
    uint8_t min_rnr_timer;          /* (12: 640 us) */
    uint8_t timeout;                /* (14: 67 ms) */
    uint8_t retry_cnt, rnr_retry;   /* (7) */
    uint8_t rd_atomic;              /* for both directions (4) */
    uint8_t gid_index;
    uint8_t traffic_class, hop_limit;   /* (0), (64) */
    const uint8_t *dgid, *dmac;     /* (the peer's, IPv6 with gid_index 1) */
    uint32_t pd;                    /* protection domain of a datagram's address */
} PvrdmaTestQpAttr;

#define PVRDMA_TEST_NEVER 0xff

/* Modifies the attributes of @mask (PVRDMA_QP_), also the address; returns the errno. */
int pvrdma_qp_modify(PvrdmaTest *t, const PvrdmaTestQp *qp, uint32_t mask,
                     const PvrdmaTestQpAttr *attr);
/* Move a QP from RESET to INIT, RTR, RTS.  @attr->state is not used. */
void pvrdma_qp_init(PvrdmaTest *t, const PvrdmaTestQp *qp,
                    const PvrdmaTestQpAttr *attr);
void pvrdma_qp_rtr(PvrdmaTest *t, const PvrdmaTestQp *qp,
                   const PvrdmaTestQpAttr *attr);
void pvrdma_qp_rts(PvrdmaTest *t, const PvrdmaTestQp *qp,
                   const PvrdmaTestQpAttr *attr);
/* Moves a QP from RESET to RTS. */
void pvrdma_qp_connect(PvrdmaTest *t, const PvrdmaTestQp *qp,
                       const PvrdmaTestQpAttr *attr);
/* Connects two QPs of the device; @attr without addresses and QPNs. */
void pvrdma_qp_pair(PvrdmaTest *t, const PvrdmaTestQp *a, const PvrdmaTestQp *b,
                    const PvrdmaTestQpAttr *attr);
/* Moves a QP to @state, which needs no attributes; clears the rings if it is RESET. */
void pvrdma_qp_to(PvrdmaTest *t, const PvrdmaTestQp *qp,
                  enum pvrdma_qp_state state);
struct pvrdma_qp_attr pvrdma_qp_query(PvrdmaTest *t, const PvrdmaTestQp *qp);
enum pvrdma_qp_state pvrdma_qp_state(PvrdmaTest *t, const PvrdmaTestQp *qp);

/* --- Work requests ------------------------------------------------------ */
typedef struct PvrdmaTestSge {
    uint64_t addr;
    uint32_t length, lkey;
} PvrdmaTestSge;

/* @len bytes of @mr from @offset on, as an element of a WQE */
#define PVRDMA_TEST_SGE(mr, offset, len) \
    ((PvrdmaTestSge) { (mr)->va + (offset), (len), (mr)->lkey })

/*
 * Stores a WQE in the send queue and rings the doorbell.  @hdr is as in memory, but its
 * number of elements is set to @sges.
 */
void pvrdma_post_send(PvrdmaTest *t, const PvrdmaTestQp *qp,
                      const struct pvrdma_sq_wqe_hdr *hdr,
                      const PvrdmaTestSge *sge, unsigned sges);
/* Does the same as pvrdma_post_send(), without the doorbell. */
void pvrdma_put_send(PvrdmaTest *t, const PvrdmaTestQp *qp,
                     const struct pvrdma_sq_wqe_hdr *hdr,
                     const PvrdmaTestSge *sge, unsigned sges);
void pvrdma_ring_send(PvrdmaTest *t, const PvrdmaTestQp *qp);
void pvrdma_post_recv(PvrdmaTest *t, const PvrdmaTestQp *qp, uint64_t wr_id,
                      const PvrdmaTestSge *sge, unsigned sges);
void pvrdma_post_srq(PvrdmaTest *t, const PvrdmaTestSrq *srq, uint64_t wr_id,
                     const PvrdmaTestSge *sge, unsigned sges);

/* Return headers of send WQEs, signalled. */
struct pvrdma_sq_wqe_hdr pvrdma_wr(uint64_t wr_id, enum pvrdma_wr_opcode opcode);
struct pvrdma_sq_wqe_hdr pvrdma_wr_rdma(uint64_t wr_id,
                                        enum pvrdma_wr_opcode opcode,
                                        uint64_t remote, uint32_t rkey);
struct pvrdma_sq_wqe_hdr pvrdma_wr_atomic(uint64_t wr_id,
                                          enum pvrdma_wr_opcode opcode,
                                          const PvrdmaTestMr *remote,
                                          uint64_t compare_add, uint64_t swap);
/* Returns the header of a datagram; @to has address, QPN and key. */
struct pvrdma_sq_wqe_hdr pvrdma_wr_ud(uint64_t wr_id, enum pvrdma_wr_opcode opcode,
                                      const PvrdmaTestQpAttr *to);

#endif /* PVRDMA_VERBS_H */
