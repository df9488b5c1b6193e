/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verbs for tests of pvrdma: functions that make objects, post work requests and take
 * completions as the Linux driver and the user library do.  Each function asserts that
 * its command succeeds, unless the comment of the function says otherwise.  If a command
 * must fail, a test gives the request, for example the result of a function *_request(),
 * to pvrdma_command_fails().
 */
#ifndef PVRDMA_VERBS_H
#define PVRDMA_VERBS_H

#include "device.h"

/* --- Contexts, domains, memory ------------------------------------------ */
/*
 * Creates the context of a process, with page @page of BAR 2 for its doorbells; returns
 * the handle of the context.
 */
uint32_t pvrdma_uc_create(PvrdmaTest *t, uint32_t page);
void pvrdma_uc_destroy(PvrdmaTest *t, uint32_t uc);
/*
 * Creates a protection domain of context @uc, or of the kernel if @uc is 0; returns the
 * handle of the domain.
 */
uint32_t pvrdma_pd_create(PvrdmaTest *t, uint32_t uc);
void pvrdma_pd_destroy(PvrdmaTest *t, uint32_t pd);

#define PVRDMA_TEST_ACCESS_ALL (PVRDMA_ACCESS_LOCAL_WRITE | \
    PVRDMA_ACCESS_REMOTE_WRITE | PVRDMA_ACCESS_REMOTE_READ | \
    PVRDMA_ACCESS_REMOTE_ATOMIC)

typedef struct PvrdmaTestMr {
    uint32_t handle;
    uint32_t lkey, rkey;
    uint64_t va;                    /* address of the first byte, in SGEs and for peers */
    uint64_t pa;                    /* physical address; the pages are contiguous */
    uint64_t length;
} PvrdmaTestMr;

/*
 * Makes the page directory, and returns the request CREATE_MR, for a region of @length
 * bytes at physical address @pa, with the address @va in SGEs.  @pa and @va must have the
 * same offset in a page.
 */
union pvrdma_cmd_req pvrdma_mr_request(PvrdmaTest *t, uint32_t pd, uint64_t va,
                                       uint64_t pa, uint64_t length,
                                       uint32_t access);
/*
 * Registers @length bytes of new memory with the address @va, which need not be the start
 * of a page.
 */
PvrdmaTestMr pvrdma_mr_create(PvrdmaTest *t, uint32_t pd, uint64_t va,
                              uint64_t length, uint32_t access);
/* Registers all RAM by physical addresses; @va and @pa of the result are 0. */
PvrdmaTestMr pvrdma_mr_create_dma(PvrdmaTest *t, uint32_t pd, uint32_t access);
/*
 * Creates a region for work requests FAST_REG_MR of at most @pages pages; the result has
 * only handle and keys.
 */
PvrdmaTestMr pvrdma_mr_create_fast(PvrdmaTest *t, uint32_t pd, uint32_t pages);
void pvrdma_mr_destroy(PvrdmaTest *t, const PvrdmaTestMr *mr);

/* --- Completion queues -------------------------------------------------- */
typedef struct PvrdmaTestCq {
    uint32_t handle;
    uint32_t page;                  /* page of BAR 2 for the CQ's doorbell */
    uint32_t entries;
    uint64_t at;                    /* address of the CQ's pages, which are contiguous */
} PvrdmaTestCq;

/*
 * Creates a CQ of context @uc, whose doorbell is in page @page of BAR 2.  If @uc and
 * @page are 0, the CQ is of the kernel.
 */
PvrdmaTestCq pvrdma_cq_create(PvrdmaTest *t, uint32_t uc, uint32_t page,
                              uint32_t entries);
void pvrdma_cq_destroy(PvrdmaTest *t, const PvrdmaTestCq *cq);
/*
 * Copies the next completion to *@cqe, in little-endian order.  Returns false if the CQ
 * is empty, or if the driver would refuse one of the CQ's indices.
 */
bool pvrdma_cq_poll(PvrdmaTest *t, const PvrdmaTestCq *cq,
                    struct pvrdma_cqe *cqe);
/* Waits for the next completion, and returns it; asserts its @wr_id and @status. */
struct pvrdma_cqe pvrdma_cq_expect(PvrdmaTest *t, const PvrdmaTestCq *cq,
                                   uint64_t wr_id, enum pvrdma_wc_status status);
/* Settles; asserts that the CQ is empty. */
void pvrdma_cq_assert_empty(PvrdmaTest *t, const PvrdmaTestCq *cq);
/* Arms the CQ; @how is PVRDMA_UAR_CQ_ARM or PVRDMA_UAR_CQ_ARM_SOL. */
void pvrdma_cq_arm(PvrdmaTest *t, const PvrdmaTestCq *cq, uint32_t how);

/* --- Work queues -------------------------------------------------------- */
typedef struct PvrdmaTestWq {
    uint64_t ring;                  /* address of the queue's struct pvrdma_ring */
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
    uint32_t page;                  /* page of BAR 2 for the QP's doorbell */
    uint8_t type;                   /* enum pvrdma_qp_type */
    PvrdmaTestWq sq, rq;
} PvrdmaTestQp;

PvrdmaTestSrq pvrdma_srq_create(PvrdmaTest *t, uint32_t pd, uint32_t page,
                                uint32_t entries, uint32_t sges);
void pvrdma_srq_destroy(PvrdmaTest *t, const PvrdmaTestSrq *srq);

/* Attributes of a new QP; a member that is 0 stands for the default in parentheses. */
typedef struct PvrdmaTestQpInit {
    uint8_t type;                   /* enum pvrdma_qp_type (RC) */
    uint32_t pd;
    uint32_t page;                  /* page of BAR 2 */
    const PvrdmaTestCq *send_cq, *recv_cq;  /* (the other of the two CQs) */
    const PvrdmaTestSrq *srq;       /* NULL: no SRQ */
    uint32_t send_wr, recv_wr;      /* number of WQEs, a power of two (16) */
    uint32_t send_sge, recv_sge;    /* maximal number of elements of a WQE (4) */
    bool sig_all;
} PvrdmaTestQpInit;

/*
 * Makes the memory of a QP, and returns the request CREATE_QP.  Initializes @qp, with 0
 * as handle and QPN.
 */
union pvrdma_cmd_req pvrdma_qp_request(PvrdmaTest *t,
                                       const PvrdmaTestQpInit *init,
                                       PvrdmaTestQp *qp);
PvrdmaTestQp pvrdma_qp_create(PvrdmaTest *t, const PvrdmaTestQpInit *init);
void pvrdma_qp_destroy(PvrdmaTest *t, const PvrdmaTestQp *qp);

/*
 * Attributes for pvrdma_qp_modify() and pvrdma_wr_ud(), in host order; a member that is 0
 * stands for the default in parentheses.
 */
typedef struct PvrdmaTestQpAttr {
    uint32_t state;                 /* enum pvrdma_qp_state */
    uint32_t mtu;                   /* enum pvrdma_mtu (1024) */
    uint32_t qkey, rq_psn, sq_psn, dest_qpn;
    uint32_t access;                /* (all rights) */
    /* In the members of the next four lines PVRDMA_TEST_NEVER stands for the value 0. */
    uint8_t min_rnr_timer;          /* (12: 640 us) */
    uint8_t timeout;                /* (14: 67 ms) */
    uint8_t retry_cnt, rnr_retry;   /* (7) */
    uint8_t rd_atomic;              /* as requester and as responder (4) */
    uint8_t gid_index;
    uint8_t traffic_class, hop_limit;   /* (0), (64) */
    const uint8_t *dgid, *dmac;     /* (addresses of the peer; IPv6 if gid_index is 1) */
    uint32_t pd;                    /* protection domain of a datagram's address */
} PvrdmaTestQpAttr;

#define PVRDMA_TEST_NEVER 0xff

/*
 * Modifies the attributes of @qp that @mask names (PVRDMA_QP_*); PVRDMA_QP_AV names the
 * address of the peer.  Returns the errno; 0 for success.
 */
int pvrdma_qp_modify(PvrdmaTest *t, const PvrdmaTestQp *qp, uint32_t mask,
                     const PvrdmaTestQpAttr *attr);
/*
 * Move a QP from RESET to INIT (init), from INIT to RTR (rtr), from RTR to RTS (rts).
 * @attr->state is not used.
 */
void pvrdma_qp_init(PvrdmaTest *t, const PvrdmaTestQp *qp,
                    const PvrdmaTestQpAttr *attr);
void pvrdma_qp_rtr(PvrdmaTest *t, const PvrdmaTestQp *qp,
                   const PvrdmaTestQpAttr *attr);
void pvrdma_qp_rts(PvrdmaTest *t, const PvrdmaTestQp *qp,
                   const PvrdmaTestQpAttr *attr);
/* Moves a QP from RESET to RTS, by way of INIT and RTR. */
void pvrdma_qp_connect(PvrdmaTest *t, const PvrdmaTestQp *qp,
                       const PvrdmaTestQpAttr *attr);
/*
 * Connects two QPs of the device with each other.  @attr has the attributes of @a; @b has
 * the same attributes with sq_psn and rq_psn exchanged.  Addresses and QPNs in @attr are
 * not used.
 */
void pvrdma_qp_pair(PvrdmaTest *t, const PvrdmaTestQp *a, const PvrdmaTestQp *b,
                    const PvrdmaTestQpAttr *attr);
/*
 * Moves a QP to @state, which must need no attributes.  If @state is RESET, clears the
 * indices of the QP's rings as the driver does.
 */
void pvrdma_qp_to(PvrdmaTest *t, const PvrdmaTestQp *qp,
                  enum pvrdma_qp_state state);
struct pvrdma_qp_attr pvrdma_qp_query(PvrdmaTest *t, const PvrdmaTestQp *qp);
enum pvrdma_qp_state pvrdma_qp_state(PvrdmaTest *t, const PvrdmaTestQp *qp);

/* --- Work requests ------------------------------------------------------ */
typedef struct PvrdmaTestSge {
    uint64_t addr;
    uint32_t length, lkey;
} PvrdmaTestSge;

/* an element of a WQE: @len bytes of @mr from @offset on */
#define PVRDMA_TEST_SGE(mr, offset, len) \
    ((PvrdmaTestSge) { (mr)->va + (offset), (len), (mr)->lkey })

/*
 * Stores a WQE with the @sges elements @sge in the send queue of @qp, and rings the
 * doorbell.  @hdr is the header of the WQE in little-endian order; the function sets
 * num_sge in the stored header to @sges.
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

/* Return the header of a signalled send WQE, in little-endian order. */
struct pvrdma_sq_wqe_hdr pvrdma_wr(uint64_t wr_id, enum pvrdma_wr_opcode opcode);
struct pvrdma_sq_wqe_hdr pvrdma_wr_rdma(uint64_t wr_id,
                                        enum pvrdma_wr_opcode opcode,
                                        uint64_t remote, uint32_t rkey);
struct pvrdma_sq_wqe_hdr pvrdma_wr_atomic(uint64_t wr_id,
                                          enum pvrdma_wr_opcode opcode,
                                          const PvrdmaTestMr *remote,
                                          uint64_t compare_add, uint64_t swap);
/*
 * Returns the header of a signalled datagram WQE; @to has the address, QPN, Q_Key and
 * protection domain.
 */
struct pvrdma_sq_wqe_hdr pvrdma_wr_ud(uint64_t wr_id, enum pvrdma_wr_opcode opcode,
                                      const PvrdmaTestQpAttr *to);

#endif /* PVRDMA_VERBS_H */
