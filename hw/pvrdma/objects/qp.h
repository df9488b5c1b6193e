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
    uint32_t pd;
    uint32_t uar;                   /* doorbell page of the process */
    uint8_t type;                   /* enum pvrdma_qp_type */
    uint8_t state;                  /* enum pvrdma_qp_state */
    bool sq_sig_all;
    bool sq_draining;               /* SQD: a begun WQE is not complete yet */
    bool flush_due;                 /* ERR, SQE: some WQEs are not flushed yet */
    bool last_due;                  /* the end of the flush raises LAST_WQE_REACHED */
    uint32_t ud_psn;                /* PSN of the next datagram */
    PvrdmaCq *send_cq, *recv_cq;
    PvrdmaSrq *srq;                 /* NULL: the QP has a receive queue of its own */
    struct pvrdma_qp_cap cap;       /* capacities that the guest requested */
    PvrdmaPages pages;
    PvrdmaWq sq, rq;
    PvrdmaQpAttr attr;
    RocePath path;                  /* path of a connection, from the attributes */
    uint32_t mtu;                   /* path MTU, bytes */
    QEMUTimer *timer;
    PvrdmaReq req;
    PvrdmaResp resp;
    /* Rate limit of payload, in requests and responses. */
    PvrdmaDcqcn rate;
    bool active;
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
    /* Flushes at most PVRDMA_FLUSH_WQES receive WQEs.  Returns true if more remain. */
    bool (*receive_flush)(PvrdmaQp *qp);
    /*
     * Sends at most *@budget packets of answers.  Returns true if it could send more
     * now.
     */
    bool (*receive_answer)(PvrdmaQp *qp, unsigned *budget);
    /* Sets the state of the requester for RTS, from the attributes. */
    void (*send_begin)(PvrdmaQp *qp);
    /* Flushes at most PVRDMA_FLUSH_WQES send WQEs.  Returns true if more remain. */
    bool (*send_flush)(PvrdmaQp *qp);
    /* Returns true if no send WQE is under way. */
    bool (*send_idle)(const PvrdmaQp *qp);
    /* Handles an event of the QP's timer. */
    void (*timer)(PvrdmaQp *qp);
    /* Frees the state of the requester. */
    void (*end)(PvrdmaQp *qp);
    /* Aborts if @qp will hang, in builds with sanitizers. */
    void (*check)(PvrdmaQp *qp);
};

/* WQEs of a queue that one call flushes.  Other QPs run between the calls. */
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
/* Handles a store to the QP doorbell of page @uar.  @value: PVRDMA_UAR_QP_. */
void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Puts a QP into state ERR and flushes all its WQEs.  @event is the enum pvrdma_event
 * that the guest gets, or -1.
 */
void pvrdma_qp_error(PvrdmaQp *qp, int event);
/*
 * Handles a WQE of the send queue that completed in error.  A connection goes to state
 * ERR.  A datagram QP goes to state SQE, in which it still receives.  All other WQEs of
 * the send queue are flushed.
 */
void pvrdma_qp_send_error(PvrdmaQp *qp);
/*
 * Puts all QPs that use @cq into state ERR.  Their WQEs are flushed later, because the
 * caller of pvrdma_cq_push() may still use one of them.
 */
void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq);
/* Makes the bottom half flush the WQEs of @qp. */
void pvrdma_qp_flush_schedule(PvrdmaQp *qp);
/*
 * Flushes a part of the WQEs of the first QP in the list.  Returns true if any QP has
 * more.
 */
bool pvrdma_qp_flush_run(PvrdmaState *s);
/*
 * Ends the draining in state SQD if no WQE is under way, and sends the event if the
 * guest requested it.
 */
void pvrdma_qp_drained(PvrdmaQp *qp);
/*
 * Fetches the next receive WQE of the QP or its SRQ, and returns its slot to the guest.
 * Returns 1, 0 if there is no WQE, or -1 on an error, after which the QP is in state
 * ERR.
 */
int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe);
/* Sets the QP's timer, which calls the timer function of the transport; 0 stops it. */
void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline);

/* Frees all queue pairs. */
void pvrdma_qp_reset_all(PvrdmaState *s);

/* --- qp-active.c ---------------------------------------------------------- */
/* Puts @qp into the list of QPs that have work, and schedules the loop. */
void pvrdma_qp_activate(PvrdmaQp *qp);
/*
 * Puts @qp into this list without scheduling the loop, because an acknowledgement may
 * wait.  It is sent with the next packet of the device, or after ack_delay_us [P].
 */
void pvrdma_qp_activate_delayed(PvrdmaQp *qp);

PvrdmaCmd pvrdma_cmd_create_qp, pvrdma_cmd_modify_qp;
PvrdmaCmd pvrdma_cmd_query_qp, pvrdma_cmd_destroy_qp;

#endif /* HW_PVRDMA_OBJECTS_QP_H */
