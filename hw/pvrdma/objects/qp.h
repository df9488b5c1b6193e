/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs.
 */
#ifndef HW_PVRDMA_OBJECTS_QP_H
#define HW_PVRDMA_OBJECTS_QP_H

#include "qemu/queue.h"
#include "qemu/timer.h"
#include "../base/command.h"
#include "cq.h"
#include "../wire/dcqcn.h"
#include "../base/pages.h"
#include "req-state.h"
#include "resp-state.h"
#include "../wire/roce.h"
#include "srq.h"
#include "wq.h"

typedef struct PvrdmaQp PvrdmaQp;
typedef struct PvrdmaTransport PvrdmaTransport;

/*
 * Attributes that modify_qp sets, in host byte order except @ah.  Codes and units are
 * those of struct pvrdma_qp_attr.
 */
typedef struct PvrdmaQpAttr {
    uint32_t path_mtu;              /* enum pvrdma_mtu */
    uint32_t path_mig_state;
    uint32_t qkey;
    uint32_t rq_psn, sq_psn;
    uint32_t dest_qpn;
    uint32_t access;                /* access rights, bits PVRDMA_ACCESS_* */
    uint16_t pkey_index;
    uint8_t en_sqd_async_notify;
    uint8_t max_rd_atomic, max_dest_rd_atomic;
    uint8_t min_rnr_timer;
    uint8_t port_num;
    uint8_t timeout, retry_cnt, rnr_retry;
    struct pvrdma_ah_attr ah;       /* address, as the guest wrote it */
} PvrdmaQpAttr;

struct PvrdmaQp {
    PvrdmaState *s;
    uint32_t handle;
    uint32_t qpn;                   /* bits 15:0 are the handle; GSI QP: 1 */
    uint32_t pd;                    /* handle of the protection domain */
    uint32_t uar;                   /* number of the context's doorbell page */
    uint8_t type;                   /* enum pvrdma_qp_type */
    uint8_t state;                  /* enum pvrdma_qp_state */
    bool sq_sig_all;                /* each send WQE has a completion */
    bool sq_draining;               /* state SQD: a send WQE with PSNs is not complete */
    bool flush_due;                 /* states ERR, SQE: a flush of WQEs is scheduled */
    bool last_due;                  /* the end of the flush sends LAST_WQE_REACHED */
    uint32_t ud_psn;                /* PSN of the next datagram */
    PvrdmaCq *send_cq, *recv_cq;
    PvrdmaSrq *srq;                 /* NULL: the QP has a receive queue of its own */
    struct pvrdma_qp_cap cap;       /* capacities of the two queues, little-endian */
    PvrdmaPages pages;
    PvrdmaWq sq, rq;
    PvrdmaQpAttr attr;
    RocePath path;                  /* path of a connection to its peer */
    uint32_t mtu;                   /* path MTU, bytes; datagram QP: PvrdmaState.mtu */
    QEMUTimer *timer;               /* runs PvrdmaTransport.timer; see PvrdmaReq.armed */
    PvrdmaReq req;
    PvrdmaResp resp;
    /* Limits the rate of payload in requests and in READ responses. */
    PvrdmaDcqcn rate;
    bool active;                    /* the QP is in PvrdmaState.active_qps */
    QTAILQ_ENTRY(PvrdmaQp) active_next;
    QTAILQ_ENTRY(PvrdmaQp) flush_next;
    /* Links in the list senders of send_cq, and in the list receivers of recv_cq. */
    QLIST_ENTRY(PvrdmaQp) send_next, recv_next;
};

/*
 * The functions by which a queue pair uses requester and responder.  The requester sends
 * the packets of send WQEs; the responder answers requests of the peer.
 */
struct PvrdmaTransport {
    /* Initializes the responder from the attributes, when an RC QP goes to RTR. */
    void (*receive_begin)(PvrdmaQp *qp);
    /*
     * Completes with WR_FLUSH_ERR at most PVRDMA_FLUSH_WQES posted receive WQEs of the
     * QP's own queue, and a fetched receive WQE that is not complete.  Returns true after
     * PVRDMA_FLUSH_WQES posted WQEs, because more may remain.
     */
    bool (*receive_flush)(PvrdmaQp *qp);
    /*
     * Sends at most *@budget packets of answers.  Subtracts 1 from *@budget for each
     * packet, and for each READ whose memory cannot be read.  Returns true if packets
     * remain because *@budget is 0 or the port accepts no frame.  Returns false if no
     * packet remains, or if the QP's timer will activate the QP.
     */
    bool (*receive_answer)(PvrdmaQp *qp, unsigned *budget);
    /* Initializes the requester from the attributes, when the QP goes from RTR to RTS. */
    void (*send_begin)(PvrdmaQp *qp);
    /*
     * Completes with WR_FLUSH_ERR all fetched send WQEs, and at most PVRDMA_FLUSH_WQES
     * send WQEs that are posted but not fetched.  A WQE that cannot be read gets no
     * completion.  Returns true if more posted WQEs remain, or false if the guest's index
     * is not valid or cannot be read.
     */
    bool (*send_flush)(PvrdmaQp *qp);
    /* Returns true if all send WQEs that have got PSNs are complete. */
    bool (*send_idle)(const PvrdmaQp *qp);
    /* Handles the expiry of the QP's timer. */
    void (*timer)(PvrdmaQp *qp);
    /*
     * Frees the ring of fetched send WQEs, and drops all state of the requester and the
     * rate limit.
     */
    void (*end)(PvrdmaQp *qp);
    /* Aborts, in builds with PVRDMA_CHECKS, if @qp will hang; see pvrdma_qp_stuck(). */
    void (*check)(PvrdmaQp *qp);
};

/*
 * Maximal number of posted WQEs that one call of send_flush() or receive_flush() flushes,
 * so that other QPs can run.
 */
#define PVRDMA_FLUSH_WQES 256

/*
 * Places the two queues in the pages of @qp, with the sizes in @qp->cap.  The receive
 * queue, which a QP with an SRQ does not have, begins at byte @rq_at.  Returns 0, or
 * EINVAL if a size is not valid or the queues do not fit.
 */
int pvrdma_qp_layout(PvrdmaQp *qp, uint32_t rq_at);
/*
 * Adds @qp, whose other members are set, to the users of its PD, CQs and SRQ, and creates
 * the QP's timer.  Sets PvrdmaState.gsi for the GSI QP.
 */
void pvrdma_qp_attach(PvrdmaQp *qp);
/* Returns the QP whose number in packets is @qpn, or NULL if no such QP exists. */
PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn);
/*
 * Handles a store of @value to the QP doorbell of page @uar.  @value is a handle with
 * bits PVRDMA_UAR_QP_*.  In state RTS a send doorbell activates the QP.  In state ERR,
 * and for a send doorbell in state SQE, flushes WQEs.  A handle that does not belong to
 * this page is a guest error.
 */
void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Puts a QP into state ERR, and stops its timer.  Sends the event @event, of enum
 * pvrdma_event, to the guest; -1: no event.  Flushes a part of the WQEs, and schedules
 * the flush of the rest.  Does nothing in states RESET and ERR.
 */
void pvrdma_qp_error(PvrdmaQp *qp, int event);
/*
 * Stops the send queue after one of its WQEs completed in error.  An RC QP goes to state
 * ERR as by pvrdma_qp_error(), without an event.  A QP of another type goes from RTS or
 * SQD to state SQE, in which the QP still receives; the function flushes the other WQEs
 * of the send queue, or schedules their flush.
 */
void pvrdma_qp_send_error(PvrdmaQp *qp);
/*
 * Puts all QPs that use @cq into state ERR, except those in states RESET and ERR, and
 * sends QP_FATAL for each.  Schedules the flush of their WQEs, because the caller of
 * pvrdma_cq_push() may still use a WQE.
 */
void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq);
/* Adds @qp to flush_qps, the QPs that the loop flushes, and schedules the loop. */
void pvrdma_qp_flush_schedule(PvrdmaQp *qp);
/*
 * Flushes a part of the WQEs of the first QP in flush_qps.  Returns true if a QP is left
 * in flush_qps.
 */
bool pvrdma_qp_flush_run(PvrdmaState *s);
/*
 * Does nothing unless sq_draining is true and all send WQEs that have got PSNs are
 * complete.  Otherwise sets sq_draining to false, and sends SQ_DRAINED if the guest has
 * requested this event.
 */
void pvrdma_qp_drained(PvrdmaQp *qp);
/*
 * Fetches the next receive WQE of the QP or its SRQ into @rqe, and returns the WQE's slot
 * to the guest.  Returns 1, or 0 if no WQE is posted, or -1 if the queue cannot be read,
 * its index is not valid, or the SRQ has failed before.  After -1 the QP is in state ERR.
 */
int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe);
/*
 * Sets the QP's timer to @deadline, a virtual time in ns; 0 stops the timer.  When the
 * timer expires, the transport's timer() runs.  In state ERR the timer stays stopped.
 */
void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline);

/* Frees all queue pairs.  Their WQEs get no completions. */
void pvrdma_qp_reset_all(PvrdmaState *s);

/* --- qp-active.c ---------------------------------------------------------- */
/* Puts @qp into active_qps, the list of QPs that have work, and schedules the loop. */
void pvrdma_qp_activate(PvrdmaQp *qp);
/*
 * Puts @qp into active_qps, the list of QPs that have work, but does not schedule the
 * loop, because an acknowledgement may wait.  The next run of the loop sends the
 * acknowledgement.  The ack_timer runs the loop after at most ack_delay_us of virtual
 * time [P].  If ack_delay_us is 0, the function is the same as pvrdma_qp_activate().
 */
void pvrdma_qp_activate_delayed(PvrdmaQp *qp);

PvrdmaCmd pvrdma_cmd_create_qp, pvrdma_cmd_modify_qp;
PvrdmaCmd pvrdma_cmd_query_qp, pvrdma_cmd_destroy_qp;

#endif /* HW_PVRDMA_OBJECTS_QP_H */
