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

/* Attributes that modify_qp sets, in host byte order. */
typedef struct PvrdmaQpAttr {
    uint32_t path_mtu;              /* enum pvrdma_mtu */
    uint32_t path_mig_state;
    uint32_t qkey;
    uint32_t rq_psn, sq_psn;
    uint32_t dest_qpn;
    uint32_t access;                /* access rights, PVRDMA_ACCESS_ */
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
    uint32_t qpn;                   /* bits 15:0 are the handle, except for the GSI */
    uint32_t pd;                    /* handle of the protection domain */
    uint32_t uar;                   /* number of the context's doorbell page */
    uint8_t type;                   /* enum pvrdma_qp_type */
    uint8_t state;                  /* enum pvrdma_qp_state */
    bool sq_sig_all;                /* each send WQE writes a completion */
    bool sq_draining;               /* state SQD: a begun WQE is not complete yet */
    bool flush_due;                 /* states ERR, SQE: some WQEs are not flushed yet */
    bool last_due;                  /* the end of the flush sends LAST_WQE_REACHED */
    uint32_t ud_psn;                /* PSN of the next datagram */
    PvrdmaCq *send_cq, *recv_cq;
    PvrdmaSrq *srq;                 /* NULL: the QP has a receive queue of its own */
    struct pvrdma_qp_cap cap;       /* capacities that the guest requested */
    PvrdmaPages pages;
    PvrdmaWq sq, rq;
    PvrdmaQpAttr attr;
    RocePath path;                  /* path of a connection, from the attributes */
    uint32_t mtu;                   /* path MTU, bytes */
    QEMUTimer *timer;               /* see PvrdmaReq.armed */
    PvrdmaReq req;
    PvrdmaResp resp;
    /* Rate limit of payload, in requests and responses. */
    PvrdmaDcqcn rate;
    bool active;                    /* the QP is in PvrdmaState.active_qps */
    QTAILQ_ENTRY(PvrdmaQp) active_next;
    QTAILQ_ENTRY(PvrdmaQp) flush_next;
    QLIST_ENTRY(PvrdmaQp) send_next, recv_next;     /* links of the CQs */
};

/*
 * The functions by which a queue pair uses the transport: the requester sends, the
 * responder receives.
 */
struct PvrdmaTransport {
    /* Sets the state of the responder for RTR, from the attributes. */
    void (*receive_begin)(PvrdmaQp *qp);
    /*
     * Flushes at most PVRDMA_FLUSH_WQES receive WQEs, and the WQE of a message that is
     * arriving.  Returns true if more may remain.
     */
    bool (*receive_flush)(PvrdmaQp *qp);
    /*
     * Sends at most *@budget packets of answers, and subtracts them from *@budget.
     * Returns true if packets remain because the budget is used up or the port accepts
     * no frame.
     */
    bool (*receive_answer)(PvrdmaQp *qp, unsigned *budget);
    /* Sets the state of the requester for RTS, from the attributes. */
    void (*send_begin)(PvrdmaQp *qp);
    /*
     * Flushes all fetched send WQEs and at most PVRDMA_FLUSH_WQES posted ones.  Returns
     * true if more posted WQEs remain.
     */
    bool (*send_flush)(PvrdmaQp *qp);
    /* Returns true if all send WQEs to which PSNs were assigned are complete. */
    bool (*send_idle)(const PvrdmaQp *qp);
    /* Handles the expiry of the QP's timer. */
    void (*timer)(PvrdmaQp *qp);
    /* Frees the ring of WQEs, and drops all state of the requester. */
    void (*end)(PvrdmaQp *qp);
    /* Aborts if @qp will hang, in builds with sanitizers. */
    void (*check)(PvrdmaQp *qp);
};

/* Maximal number of posted WQEs that one call flushes.  Other QPs run between calls. */
#define PVRDMA_FLUSH_WQES 256

/*
 * Places the two queues in the pages of @qp, with the sizes of its cap.  The receive
 * queue begins at byte @rq_at.  Returns 0, or EINVAL if the queues do not fit.
 */
int pvrdma_qp_layout(PvrdmaQp *qp, uint32_t rq_at);
/* Registers a complete QP with its PD, CQs and SRQ, and creates its timer. */
void pvrdma_qp_attach(PvrdmaQp *qp);
/* Returns the QP with number @qpn of the wire, or NULL. */
PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn);
/*
 * Handles a store of @value to the QP doorbell of page @uar.  @value is a handle with
 * PVRDMA_UAR_QP_ bits.
 */
void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Puts a QP into state ERR, sends @event of enum pvrdma_event to the guest unless it is
 * -1, flushes WQEs, and schedules the flush of the rest.  Does nothing in states RESET
 * and ERR.
 */
void pvrdma_qp_error(PvrdmaQp *qp, int event);
/*
 * Stops the send queue after one of its WQEs completed in error.  An RC QP goes to
 * state ERR.  A QP of another type goes to state SQE, in which it still receives.  All
 * other WQEs of the send queue are flushed.
 */
void pvrdma_qp_send_error(PvrdmaQp *qp);
/*
 * Puts all QPs that use @cq into state ERR, and sends QP_FATAL for each.  The bottom half
 * flushes their WQEs, because the caller of pvrdma_cq_push() may still use one of them.
 */
void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq);
/* Makes the bottom half flush the WQEs of @qp. */
void pvrdma_qp_flush_schedule(PvrdmaQp *qp);
/*
 * Flushes a part of the WQEs of the first QP in flush_qps.  Returns true if any QP has
 * more WQEs to flush.
 */
bool pvrdma_qp_flush_run(PvrdmaState *s);
/*
 * Ends the draining in state SQD if no WQE is under way, and sends SQ_DRAINED if the
 * guest requested this event.
 */
void pvrdma_qp_drained(PvrdmaQp *qp);
/*
 * Fetches the next receive WQE of the QP or its SRQ into @rqe, and returns its slot to
 * the guest.  Returns 1, or 0 if no WQE is posted, or -1 on an error, after which the
 * QP is in state ERR.
 */
int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe);
/*
 * Sets the QP's timer to @deadline, a virtual time in ns; 0 stops it.  When it expires,
 * the transport's timer() runs.  In state ERR the timer stays stopped.
 */
void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline);

/* Frees all queue pairs. */
void pvrdma_qp_reset_all(PvrdmaState *s);

/* --- qp-active.c ---------------------------------------------------------- */
/* Puts @qp into the list of QPs that have work, and schedules the loop. */
void pvrdma_qp_activate(PvrdmaQp *qp);
/*
 * Puts @qp into the list of QPs that have work, but does not schedule the loop, because
 * an acknowledgement may wait.  The next run of the loop sends it, at the latest after
 * ack_delay_us [P].
 */
void pvrdma_qp_activate_delayed(PvrdmaQp *qp);

PvrdmaCmd pvrdma_cmd_create_qp, pvrdma_cmd_modify_qp;
PvrdmaCmd pvrdma_cmd_query_qp, pvrdma_cmd_destroy_qp;

#endif /* HW_PVRDMA_OBJECTS_QP_H */
