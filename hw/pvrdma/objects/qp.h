/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs.
 */
#ifndef HW_PVRDMA_OBJECTS_QP_H
#define HW_PVRDMA_OBJECTS_QP_H

#include "qemu/queue.h"
#include "qemu/timer.h"
#include "../cmd.h"
#include "cq.h"
#include "../wire/dcqcn.h"
#include "../base/pages.h"
#include "../transport/req.h"
#include "../transport/resp.h"
#include "../wire/roce.h"
#include "srq.h"
#include "wq.h"

typedef struct PvrdmaQp PvrdmaQp;
typedef struct PvrdmaTransport PvrdmaTransport;

/* Attributes that modify_qp sets, in host order. */
typedef struct PvrdmaQpAttr {
    uint32_t path_mtu;              /* enum pvrdma_mtu */
    uint32_t path_mig_state;
    uint32_t qkey;
    uint32_t rq_psn, sq_psn;
    uint32_t dest_qpn;
    uint32_t access;                /* PVRDMA_ACCESS_ */
    uint16_t pkey_index;
    uint8_t en_sqd_async_notify;
    uint8_t max_rd_atomic, max_dest_rd_atomic;
    uint8_t min_rnr_timer;
    uint8_t port_num;
    uint8_t timeout, retry_cnt, rnr_retry;
    struct pvrdma_ah_attr ah;       /* as the guest gave it */
} PvrdmaQpAttr;

struct PvrdmaQp {
    PvrdmaState *s;
    uint32_t handle;
    uint32_t qpn;                   /* its lower 16 bits are the handle, but of the GSI */
    uint32_t pd;
    uint32_t uar;                   /* of the process: where its doorbell is */
    uint8_t type;                   /* enum pvrdma_qp_type */
    uint8_t state;                  /* enum pvrdma_qp_state */
    bool sq_sig_all;
    bool sq_draining;               /* SQD: what was begun is not complete */
    bool flush_due;                 /* ERR, SQE: not all of its WQEs are flushed */
    bool last_due;                  /* the guest waits for LAST_WQE_REACHED */
    uint32_t ud_psn;                /* of the next datagram */
    PvrdmaCq *send_cq, *recv_cq;
    PvrdmaSrq *srq;                 /* NULL: has a receive queue of its own */
    struct pvrdma_qp_cap cap;       /* as the guest asked */
    PvrdmaPages pages;
    PvrdmaWq sq, rq;
    PvrdmaQpAttr attr;
    RocePath path;                  /* of a connection, from the attributes */
    uint32_t mtu;                   /* bytes */
    QEMUTimer *timer;
    PvrdmaReq req;
    PvrdmaResp resp;
    PvrdmaDcqcn rate;               /* of data, in requests and responses */
    bool active;
    QTAILQ_ENTRY(PvrdmaQp) active_next;
    QTAILQ_ENTRY(PvrdmaQp) flush_next;
    QLIST_ENTRY(PvrdmaQp) send_next, recv_next;     /* of its CQs */
};

/* What carries the work requests of queue pairs: the sending and the receiving side. */
struct PvrdmaTransport {
    void (*receive_begin)(PvrdmaQp *qp);
    /* Flushes a part of the receive WQEs; true: there are more. */
    bool (*receive_flush)(PvrdmaQp *qp);
    /* Sends answers, at most *@budget packets; true: there are more. */
    bool (*receive_answer)(PvrdmaQp *qp, unsigned *budget);
    void (*send_begin)(PvrdmaQp *qp);
    /* Flushes a part of the send WQEs; true: there are more. */
    bool (*send_flush)(PvrdmaQp *qp);
    bool (*send_idle)(const PvrdmaQp *qp);
    /* The QP's timer has fired. */
    void (*timer)(PvrdmaQp *qp);
    void (*end)(PvrdmaQp *qp);
    /* Aborts if @qp will hang, in builds with sanitizers. */
    void (*check)(PvrdmaQp *qp);
};

/* WQEs of a queue that are flushed at once: others shall have a turn. */
#define PVRDMA_FLUSH_WQES 256

/*
 * Finds the two queues, as large as the QP's cap says, in its pages; the receive queue
 * begins at byte @rq_at.  EINVAL: they do not fit.
 */
int pvrdma_qp_layout(PvrdmaQp *qp, uint32_t rq_at);
/* A QP that has all it is made of is in use: counted by these, with a timer. */
void pvrdma_qp_begin(PvrdmaQp *qp);
/* The QP with the number that is on the wire, or NULL. */
PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn);
void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Ends a QP: state ERR, all WQEs are flushed.  @event: enum pvrdma_event that the guest
 * gets, or -1.
 */
void pvrdma_qp_error(PvrdmaQp *qp, int event);
/*
 * After a WQE of the send queue was completed in error: a connection ends, a datagram QP
 * only stops sending (SQE).  What else is in the send queue is flushed.
 */
void pvrdma_qp_send_error(PvrdmaQp *qp);
/*
 * Ends all QPs that use @cq.  Their state is ERR at once, but WQEs are flushed later: the
 * caller of pvrdma_cq_push() may be in the middle of one of them.
 */
void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq);
/* The bottom half flushes what @qp has. */
void pvrdma_qp_flush_later(PvrdmaQp *qp);
/* Goes on with that, a part of it; true: there is more. */
bool pvrdma_qp_flush_run(PvrdmaState *s);
/* Something was completed: the guest is told if that was what SQD waited for. */
void pvrdma_qp_drained(PvrdmaQp *qp);
/*
 * The next receive WQE, of the QP or its SRQ, whose slot the guest has back: 1, 0 if
 * there is none, -1 on error: then the QP has ended.
 */
int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe);
/* Sets the QP's timer, which calls pvrdma_req_timer(); 0: never. */
void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline);

/* Frees all queue pairs. */
void pvrdma_qp_reset_all(PvrdmaState *s);

/* qp-active.c */
/* Something of @qp may be sent. */
void pvrdma_qp_activate(PvrdmaQp *qp);
/*
 * The same, but it is an acknowledgement, which has time: it goes with what is sent next,
 * or after ack_delay_us [P].
 */
void pvrdma_qp_activate_late(PvrdmaQp *qp);

/* Commands. */
PvrdmaCmd pvrdma_cmd_create_qp, pvrdma_cmd_modify_qp;
PvrdmaCmd pvrdma_cmd_query_qp, pvrdma_cmd_destroy_qp;

#endif /* HW_PVRDMA_OBJECTS_QP_H */
