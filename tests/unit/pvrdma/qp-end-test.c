/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How QPs of pvrdma end.  The functions around them only note their calls.  Answers to
 * the peer are sent first, and a QP that fails does not end other QPs in the same call.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"
#include "hw/rnic/pvrdma/base/caps.h"
#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/base/event.h"
#include "hw/rnic/pvrdma/wire/gid.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/base/pages.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/transport/req.h"
#include "hw/rnic/pvrdma/transport/resp.h"
#include "hw/rnic/pvrdma/wire/roce.h"
#include "hw/rnic/pvrdma/objects/srq.h"
#include "hw/rnic/pvrdma/transport/stuck.h"
#include "hw/rnic/pvrdma/base/table.h"
#include "hw/rnic/pvrdma/transport/transport.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define QPS 200

typedef struct Bed {
    PvrdmaState s;
    PvrdmaPd pd;
    PvrdmaCq cq[QPS + 1];
    PvrdmaSrq srq;
    GString *notes;
    unsigned depth, deepest;        /* nested calls of flushes: now, and most */
    unsigned posted;                /* calls that a flush of a send queue needs */
    unsigned scheduled;             /* calls of pvrdma_schedule() */
} Bed;

static Bed *bed;

static void note(const char *what)
{
    g_string_append_printf(bed->notes, "%s ", what);
}

static void assert_notes(const char *want)
{
    g_assert_cmpstr(bed->notes->str, ==, want);
    g_string_set_size(bed->notes, 0);
}

/* --- The rest of the device ------------------------------------------------- */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget)
{
    g_assert_cmpuint(*budget, >, 0);
    g_assert_cmpuint(qp->state, !=, PVRDMA_QPS_RESET);
    note("answer");
    return false;
}

/* Flushes a part of the send queue.  The first flush overflows the CQ. */
bool pvrdma_req_flush(PvrdmaQp *qp)
{
    note("flush-send");
    bed->deepest = MAX(bed->deepest, ++bed->depth);
    if (!qp->send_cq->overflowed) {
        qp->send_cq->overflowed = true;
        pvrdma_qp_cq_error(qp->s, qp->send_cq);
    }
    bed->depth--;
    bed->posted -= bed->posted > 0;
    return bed->posted;
}

bool pvrdma_resp_flush(PvrdmaQp *qp)
{
    note("flush-receive");
    return false;
}

void pvrdma_req_fini(PvrdmaQp *qp)
{
    note("stop");
}

void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info)
{
    g_autofree char *text = g_strdup_printf("event-%d", type);

    note(text);
}

void pvrdma_req_timer(PvrdmaQp *qp)
{
    note("timer");
}

void pvrdma_req_init(PvrdmaQp *qp)
{
}

/* Checks nothing, because the QPs of this test have no pending work. */
void pvrdma_qp_assert(PvrdmaQp *qp)
{
}

bool pvrdma_req_idle(const PvrdmaQp *qp)
{
    return true;
}

void pvrdma_resp_init(PvrdmaQp *qp)
{
}

int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe)
{
    return -1;
}

int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return -1;
}

bool pvrdma_rq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaRqe *rqe)
{
    g_assert_not_reached();
}

void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count)
{
    g_assert_not_reached();
}

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

void pvrdma_wq_reset(PvrdmaWq *wq)
{
}

int pvrdma_pages_load(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir,
                      uint32_t count)
{
    p->count = count;
    return 0;
}

void pvrdma_pages_free(PvrdmaState *s, PvrdmaPages *p)
{
}

bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path)
{
    return false;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
}

void pvrdma_qp_activate(PvrdmaQp *qp)
{
}

void rnic_loop_schedule_bh(RNicLoop *l)
{
    g_assert_true(l == &bed->s.loop);
    bed->scheduled++;
}

/* --- Queue pairs ---------------------------------------------------------------- */
static void bed_start(void)
{
    uint32_t handle;

    bed = g_new0(Bed, 1);
    bed->notes = g_string_new("");
    bed->s.transport = &pvrdma_transport;
    QTAILQ_INIT(&bed->s.active_qps);
    QTAILQ_INIT(&bed->s.flush_qps);
    pvrdma_table_init(&bed->s.pd, 4);
    pvrdma_table_init(&bed->s.cq, QPS + 2);
    pvrdma_table_init(&bed->s.srq, 4);
    pvrdma_table_init(&bed->s.qp, QPS + 2);
    bed->pd.handle = pvrdma_table_add(&bed->s.pd, &bed->pd);
    bed->srq.handle = pvrdma_table_add(&bed->s.srq, &bed->srq);
    bed->srq.pd = bed->pd.handle;
    for (unsigned i = 0; i <= QPS; i++) {
        handle = pvrdma_table_add(&bed->s.cq, &bed->cq[i]);
        bed->cq[i].handle = handle;
    }
}

static void bed_stop(void)
{
    pvrdma_qp_reset_all(&bed->s);
    g_assert_cmpuint(bed->s.qp.used, ==, 0);
    g_assert_true(QTAILQ_EMPTY(&bed->s.flush_qps));
    g_assert_cmpuint(bed->pd.users, ==, 0);
    for (unsigned i = 0; i <= QPS; i++) {
        g_assert_cmpuint(bed->cq[i].users, ==, 0);
    }
    pvrdma_table_free(&bed->s.pd);
    pvrdma_table_free(&bed->s.cq);
    pvrdma_table_free(&bed->s.srq);
    pvrdma_table_free(&bed->s.qp);
    g_string_free(bed->notes, true);
    g_free(bed);
}

/* Creates a QP in state RTS with the CQs @send and @receive. */
static PvrdmaQp *qp_make(uint8_t type, unsigned send, unsigned receive, bool srq)
{
    union pvrdma_cmd_req req = {
        .create_qp = {
            .pd_handle = cpu_to_le32(bed->pd.handle),
            .send_cq_handle = cpu_to_le32(bed->cq[send].handle),
            .recv_cq_handle = cpu_to_le32(bed->cq[receive].handle),
            .srq_handle = cpu_to_le32(bed->srq.handle),
            .total_chunks = cpu_to_le16(3),
            .send_chunks = cpu_to_le16(1),
            .qp_type = type,
            .is_srq = srq,
        },
    };
    union pvrdma_cmd_resp resp = { 0 };
    PvrdmaQp *qp;

    bed->s.qp_handles = true;
    g_assert_cmpint(pvrdma_cmd_create_qp(&bed->s, &req, &resp), ==, 0);
    qp = pvrdma_qp_find(&bed->s, le32_to_cpu(resp.create_qp.qpn));
    g_assert_nonnull(qp);
    qp->state = PVRDMA_QPS_RTS;
    return qp;
}

static void qp_modify(PvrdmaQp *qp, enum pvrdma_qp_state state)
{
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .qp_handle = cpu_to_le32(qp->handle),
            .attr_mask = cpu_to_le32(PVRDMA_QP_STATE),
            .attrs.qp_state = cpu_to_le32(state),
        },
    };
    union pvrdma_cmd_resp resp = { 0 };

    g_assert_cmpint(pvrdma_cmd_modify_qp(&bed->s, &req, &resp), ==, 0);
}

static void doorbell(PvrdmaQp *qp)
{
    pvrdma_qp_doorbell(&bed->s, qp->uar, PVRDMA_UAR_QP_SEND | qp->handle);
}

/* --- Tests ------------------------------------------------------------------------ */
/* The peer gets its answers before the guest's command takes effect. */
static void test_answers_first(void)
{
    union pvrdma_cmd_req req = { 0 };
    union pvrdma_cmd_resp resp = { 0 };
    PvrdmaQp *qp;

    bed_start();
    qp = qp_make(PVRDMA_QPT_RC, 0, 1, false);
    bed->cq[0].overflowed = true;       /* so a flush ends no other QP */
    qp_modify(qp, PVRDMA_QPS_ERR);
    assert_notes("answer flush-send flush-receive ");
    qp->state = PVRDMA_QPS_RTS;
    qp_modify(qp, PVRDMA_QPS_RESET);
    assert_notes("answer stop ");
    qp->state = PVRDMA_QPS_RTR;
    req.destroy_qp.qp_handle = cpu_to_le32(qp->handle);
    g_assert_cmpint(pvrdma_cmd_destroy_qp(&bed->s, &req, &resp), ==, 0);
    assert_notes("answer stop ");
    /* a UD QP has no answers to send */
    qp = qp_make(PVRDMA_QPT_UD, 0, 1, false);
    qp_modify(qp, PVRDMA_QPS_ERR);
    assert_notes("flush-send flush-receive ");
    bed_stop();
}

/* Events come in order, and once for each QP. */
static void test_events(void)
{
    PvrdmaQp *qp;

    bed_start();
    bed->cq[0].overflowed = true;
    qp = qp_make(PVRDMA_QPT_RC, 0, 1, true);
    pvrdma_qp_error(qp, PVRDMA_EVENT_QP_ACCESS_ERR);
    assert_notes("event-3 flush-send flush-receive event-16 ");
    pvrdma_qp_error(qp, PVRDMA_EVENT_QP_FATAL);
    assert_notes("");
    /* a QP in state RESET cannot fail */
    qp_modify(qp, PVRDMA_QPS_RESET);
    assert_notes("answer stop ");
    pvrdma_qp_error(qp, PVRDMA_EVENT_QP_FATAL);
    assert_notes("");
    bed_stop();
}

/* The flush of each QP overflows a CQ that the next QP uses, too. */
static void test_chain(void)
{
    PvrdmaQp *qp[QPS];

    bed_start();
    for (unsigned i = 0; i < QPS; i++) {
        qp[i] = qp_make(PVRDMA_QPT_RC, i + 1, i, false);
    }
    pvrdma_qp_error(qp[0], -1);
    assert_notes("flush-send event-1 flush-receive ");
    /* the next QP has ended, but its WQEs are flushed in a call from the loop */
    g_assert_cmpuint(qp[1]->state, ==, PVRDMA_QPS_ERR);
    g_assert_cmpuint(qp[2]->state, ==, PVRDMA_QPS_RTS);
    for (unsigned i = 1; i < QPS; i++) {
        g_assert_cmpuint(qp[i]->state, ==, PVRDMA_QPS_ERR);
        g_assert_false(qp[i]->send_cq->overflowed);
        /* one QP for each call */
        g_assert_cmpuint(bed->scheduled, ==, i);
        g_assert_cmpint(pvrdma_qp_flush_run(&bed->s), ==, i < QPS - 1);
        g_assert_true(qp[i]->send_cq->overflowed);
    }
    g_assert_cmpuint(bed->deepest, ==, 1);
    bed_stop();
}

/*
 * A long queue is flushed in parts, and the event LAST_WQE_REACHED follows the last part.
 */
static void test_parts(void)
{
    PvrdmaQp *qp;

    bed_start();
    bed->cq[0].overflowed = true;
    qp = qp_make(PVRDMA_QPT_RC, 0, 1, true);
    bed->posted = 3;
    pvrdma_qp_error(qp, -1);
    assert_notes("flush-send flush-receive ");
    g_assert_true(pvrdma_qp_flush_run(&bed->s));
    assert_notes("flush-send flush-receive ");
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    assert_notes("flush-send flush-receive event-16 ");
    /* WQEs that are posted after the event are flushed without another event */
    bed->posted = 2;
    doorbell(qp);
    assert_notes("flush-send flush-receive ");
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    assert_notes("flush-send flush-receive ");
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    assert_notes("");
    /* a QP in state SQE ends during its flush */
    qp = qp_make(PVRDMA_QPT_UD, 0, 1, false);
    bed->posted = 3;
    pvrdma_qp_send_error(qp);
    g_assert_cmpuint(qp->state, ==, PVRDMA_QPS_SQE);
    g_assert_true(pvrdma_qp_flush_run(&bed->s));
    assert_notes("flush-send flush-send ");
    qp_modify(qp, PVRDMA_QPS_ERR);
    assert_notes("flush-send flush-receive ");
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    bed_stop();
}

/*
 * A QP that returns from SQE to RTS flushes its old WQEs first.  It ends if its CQ
 * overflows.
 */
static void test_recover(void)
{
    PvrdmaQp *qp;

    bed_start();
    bed->cq[0].overflowed = true;
    qp = qp_make(PVRDMA_QPT_UD, 0, 1, false);
    bed->posted = 4;
    pvrdma_qp_send_error(qp);
    assert_notes("flush-send ");
    qp_modify(qp, PVRDMA_QPS_RTS);
    assert_notes("flush-send flush-send flush-send ");
    g_assert_cmpuint(qp->state, ==, PVRDMA_QPS_RTS);
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    /* the flush has a limit, because the guest may post without end */
    bed->posted = UINT_MAX;
    pvrdma_qp_send_error(qp);
    qp_modify(qp, PVRDMA_QPS_RTS);
    g_assert_cmpuint(qp->state, ==, PVRDMA_QPS_RTS);
    g_assert_cmpuint(bed->posted, ==,
                     UINT_MAX - 1 - PVRDMA_MAX_WR / PVRDMA_FLUSH_WQES);
    g_string_set_size(bed->notes, 0);
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    bed->posted = 4;
    pvrdma_qp_send_error(qp);
    bed->cq[0].overflowed = false;
    qp_modify(qp, PVRDMA_QPS_RTS);
    g_assert_cmpuint(qp->state, ==, PVRDMA_QPS_ERR);
    bed_stop();
}

/* A due flush runs later; a reset cancels it. */
static void test_flush_due(void)
{
    PvrdmaQp *qp;

    bed_start();
    qp = qp_make(PVRDMA_QPT_RC, 0, 1, false);
    pvrdma_qp_cq_error(&bed->s, &bed->cq[1]);
    g_assert_cmpuint(qp->state, ==, PVRDMA_QPS_ERR);
    pvrdma_qp_timer(qp, 1);
    g_assert_false(timer_pending(qp->timer));
    assert_notes("event-1 ");
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    assert_notes("flush-send flush-receive ");
    qp->state = PVRDMA_QPS_RTS;
    pvrdma_qp_cq_error(&bed->s, &bed->cq[1]);
    qp_modify(qp, PVRDMA_QPS_RESET);
    assert_notes("event-1 answer stop ");
    g_assert_false(pvrdma_qp_flush_run(&bed->s));
    assert_notes("");
    bed_stop();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    rnic_init_clocks();
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, true);
    g_test_add_func("/pvrdma/qp/end-answers-first", test_answers_first);
    g_test_add_func("/pvrdma/qp/end-events", test_events);
    g_test_add_func("/pvrdma/qp/end-chain", test_chain);
    g_test_add_func("/pvrdma/qp/end-parts", test_parts);
    g_test_add_func("/pvrdma/qp/end-recover", test_recover);
    g_test_add_func("/pvrdma/qp/end-flush-due", test_flush_due);
    return g_test_run();
}
