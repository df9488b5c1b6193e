/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two connected QPs, each with a real requester and responder, over a wire that loses,
 * duplicates, delays and reorders frames.  Some delays are longer than the
 * retransmission timer, so that requests are retransmitted although their answers are
 * under way.  Both ends send all kinds of messages at once.  The test checks each byte,
 * completion and order, and that no QP hangs.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "system/cpu-timers.h"
#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/base/event.h"
#include "hw/rnic/pvrdma/wire/gid.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/base/pages.h"
#include "hw/rnic/pvrdma/wire/port.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"
#include "hw/rnic/pvrdma/transport/req.h"
#include "hw/rnic/pvrdma/transport/resp.h"
#include "hw/rnic/pvrdma/wire/roce.h"
#include "hw/rnic/pvrdma/transport/rx.h"
#include "hw/rnic/pvrdma/transport/stuck.h"
#include "hw/rnic/pvrdma/transport/ud.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define MTU             256
#define ROUNDS          10
#define WQES            300             /* WQEs of each end and round */
#define SQ_ENTRIES      32
#define READ_PACKETS    300             /* packets of the longest READ */
#define DATA_BYTES      (6 * MTU)       /* bytes of the longest SEND or WRITE */
#define KEY             0x12345600
/* Memory that the peer may access: for WRITEs, for READs, and one word for atomics. */
#define WRITE_VA        0x7000000000ULL
#define WRITE_BYTES     8192
#define READ_VA         (WRITE_VA + WRITE_BYTES)
#define READ_BYTES      (READ_PACKETS * MTU + MTU)
#define ATOMIC_VA       (READ_VA + READ_BYTES)
#define TIMEOUT         14              /* 67 ms */
#define FRAMES_MAX      (64 * 1024)
#define EVENTS_MAX      4000000

typedef struct Wqe {
    PvrdmaSqe sqe;                      /* the WQE without its scatter element */
    uint32_t at;                        /* of a SEND: position in the sent data */
} Wqe;

typedef struct End {
    PvrdmaState s;
    PvrdmaQp qp;
    PvrdmaCq cq;
    struct End *peer;
    int64_t timer;                      /* deadline of the QP's timer; 0: not armed */
    int64_t stalled_until;              /* frames arrive after this time only */
    int64_t busy_until;                 /* the end sends frames after this time only */
    /* Memory that the peer may access. */
    uint8_t written[WRITE_BYTES], readable[READ_BYTES];
    uint64_t word;
    /* Requests. */
    Wqe wqe[WQES];
    unsigned posted, completed, atomics;
    uint8_t data[WQES][DATA_BYTES];     /* data of SENDs and WRITEs */
    uint8_t answer[SQ_ENTRIES][READ_PACKETS * MTU];    /* results of READs and atomics */
    uint8_t want[WRITE_BYTES];          /* expected contents of the peer's @written */
    unsigned sends[WQES];               /* indices of WQEs that are SENDs */
    unsigned send_count;
    /* Receive queue. */
    uint8_t buffer[WQES][DATA_BYTES];
    unsigned buffers, fetched, received;
} End;

typedef struct Frame {
    int64_t when;
    End *to;
    size_t len;
    uint8_t bytes[];
} Frame;

static struct {
    End end[2];
    int64_t now;
    GPtrArray *frames;                  /* frames on the wire */
    /* one frame in this number is lost, delayed, doubled; 0: none */
    unsigned loss, delayed, again;
    /* one event in this number stalls an end; 0: none */
    unsigned stall;
    uint8_t building[ROCE_FRAME_MAX];
    size_t payload_at;
    uint64_t counter[PVRDMA_COUNTER_COUNT];     /* sum of all rounds */
} loop;

static bool dice(unsigned sides)
{
    return sides && !g_test_rand_int_range(0, sides);
}

static End *end_of(PvrdmaState *s)
{
    return container_of(s, End, s);
}

/* --- Clock, activation ---------------------------------------------------- */
int64_t cpus_get_virtual_clock(void)
{
    return loop.now;
}

void cpus_set_virtual_clock(int64_t new_time)
{
    loop.now = new_time;
}

void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline)
{
    end_of(qp->s)->timer = deadline;
}

void pvrdma_qp_activate(PvrdmaQp *qp)
{
    qp->active = true;
}

void pvrdma_qp_activate_delayed(PvrdmaQp *qp)
{
    pvrdma_qp_activate(qp);
}

/* --- Wire ----------------------------------------------------------------- */
bool runstate_is_running(void)
{
    return true;
}

uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt)
{
    loop.payload_at = roce_frame_begin(loop.building, path, pkt);
    return loop.building + loop.payload_at;
}

/* Returns a delay that often exceeds the retransmission timer. */
static int64_t long_time(void)
{
    return g_test_rand_int_range(1, 400) * (int64_t)SCALE_MS;
}

/* Sends a frame; most frames take some microseconds, and may overtake each other. */
static void frame_send(End *to, size_t len)
{
    Frame *f = g_malloc(sizeof(*f) + len);
    int64_t delay = g_test_rand_int_range(1, 50) * SCALE_US;

    if (dice(loop.delayed)) {
        delay += long_time();
    }
    if (dice(loop.stall)) {
        to->stalled_until = loop.now + long_time();
    }
    *f = (Frame) { .when = loop.now + delay, .to = to, .len = len };
    if (f->when < to->stalled_until) {
        /* frames without a delay arrive in order */
        f->when = ++to->stalled_until;
    }
    memcpy(f->bytes, loop.building, len);
    g_ptr_array_add(loop.frames, f);
    g_assert_cmpuint(loop.frames->len, <, FRAMES_MAX);
}

void pvrdma_tx_end(PvrdmaState *s, size_t payload_len)
{
    size_t len = roce_frame_end(loop.building, loop.payload_at, payload_len);

    for (unsigned copies = 1 + dice(loop.again); copies; copies--) {
        if (!dice(loop.loss)) {
            frame_send(end_of(s)->peer, len);
        }
    }
}

PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn)
{
    PvrdmaQp *qp = &end_of(s)->qp;

    return qp->qpn == qpn ? qp : NULL;
}

bool pvrdma_gid_local(PvrdmaState *s, const uint8_t gid[16])
{
    return true;
}

/* --- Memory --------------------------------------------------------------- */
/* Returns the address of @len bytes at @va, which must be in one part of the region. */
static void *region(End *e, uint32_t key, uint64_t va, uint64_t len)
{
    const struct {
        uint64_t va, bytes;
        void *at;
    } parts[] = {
        { WRITE_VA, WRITE_BYTES, e->written },
        { READ_VA, READ_BYTES, e->readable },
        { ATOMIC_VA, sizeof(e->word), &e->word },
    };

    g_assert_cmphex(key, ==, KEY);
    for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
        if (va >= parts[i].va && va - parts[i].va < parts[i].bytes) {
            g_assert_cmpuint(len, <=, parts[i].bytes - (va - parts[i].va));
            return (uint8_t *)parts[i].at + (va - parts[i].va);
        }
    }
    g_assert_not_reached();
}

PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access)
{
    if (len) {
        region(end_of(qp->s), key, va, len);
    }
    return PVRDMA_MR_OK;
}

PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access)
{
    memcpy(buf, region(end_of(qp->s), key, va, len), len);
    return PVRDMA_MR_OK;
}

PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access)
{
    memcpy(region(end_of(qp->s), key, va, len), buf, len);
    return PVRDMA_MR_OK;
}

/* Reads from an element, which holds a host address in this test. */
uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len)
{
    g_assert_cmpuint(offset + len, <=, sge->length);
    memcpy(buf, (uint8_t *)(uintptr_t)sge->addr + offset, len);
    return PVRDMA_WC_SUCCESS;
}

uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len)
{
    g_assert_cmpuint(offset + len, <=, sge->length);
    memcpy((uint8_t *)(uintptr_t)sge->addr + offset, buf, len);
    return PVRDMA_WC_SUCCESS;
}

/* --- Queues --------------------------------------------------------------- */
int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return end_of(s)->posted - wq->fetch;
}

int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return pvrdma_wq_refresh(s, pages, wq);
}

void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count)
{
    wq->cons += count;
    g_assert_cmpuint(wq->cons, <=, wq->fetch);
}

bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe)
{
    End *e = end_of(s);
    const PvrdmaSqe *from = &e->wqe[wq->fetch].sqe;
    PvrdmaSge *sge = sqe->sge;
    bool answered = from->opcode == PVRDMA_WR_RDMA_READ ||
                    from->opcode == PVRDMA_WR_ATOMIC_FETCH_AND_ADD;
    uint8_t *local = answered ? e->answer[wq->fetch % SQ_ENTRIES] :
                                e->data[wq->fetch];

    g_assert_cmpuint(wq->fetch, <, e->posted);
    *sqe = *from;
    sqe->sges = 1;
    sqe->sge = sge;
    *sge = (PvrdmaSge) { (uintptr_t)local, from->length, 0 };
    wq->fetch++;
    return true;
}

int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe)
{
    End *e = end_of(qp->s);
    unsigned n = e->fetched;

    if (n == e->buffers) {
        return 0;
    }
    *rqe = (PvrdmaRqe) {
        .wr_id = n, .length = DATA_BYTES, .sges = 1,
        .sge[0] = { (uintptr_t)e->buffer[n], DATA_BYTES, 0 },
    };
    e->fetched++;
    return 1;
}

/* --- Completions: order and data ------------------------------------------ */
static void check_sent(End *e, const PvrdmaWc *wc)
{
    const PvrdmaSqe *sqe = &e->wqe[e->completed].sqe;
    const uint8_t *got = e->answer[e->completed % SQ_ENTRIES];

    g_assert_cmpuint(wc->wr_id, ==, e->completed);
    e->completed++;
    if (sqe->opcode == PVRDMA_WR_RDMA_READ) {
        g_assert_cmpmem(got, sqe->length, e->peer->readable +
                        (sqe->remote_addr - READ_VA), sqe->length);
    } else if (sqe->opcode == PVRDMA_WR_ATOMIC_FETCH_AND_ADD) {
        g_assert_cmpuint(ldq_le_p(got), ==, e->atomics++);
    }
}

static void check_received(End *e, const PvrdmaWc *wc)
{
    unsigned wqe = e->peer->sends[e->received];
    const PvrdmaSqe *sqe = &e->peer->wqe[wqe].sqe;

    g_assert_cmpuint(wc->wr_id, ==, e->received);
    g_assert_cmpuint(e->received, <, e->peer->send_count);
    g_assert_cmpmem(e->buffer[e->received], wc->byte_len, e->peer->data[wqe],
                    sqe->length);
    e->received++;
}

void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc)
{
    End *e = end_of(s);

    g_assert_cmpuint(wc->status, ==, PVRDMA_WC_SUCCESS);
    if (wc->opcode == PVRDMA_WC_RECV) {
        check_received(e, wc);
    } else {
        check_sent(e, wc);
    }
}

/* --- Functions that must not be called ------------------------------------ */
void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info)
{
    g_assert_not_reached();
}

void pvrdma_qp_error(PvrdmaQp *qp, int event)
{
    g_assert_not_reached();
}

void pvrdma_qp_send_error(PvrdmaQp *qp)
{
    g_assert_not_reached();
}

void pvrdma_qp_drained(PvrdmaQp *qp)
{
    g_assert_not_reached();
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    g_assert_not_reached();
}

uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    g_assert_not_reached();
}

uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key)
{
    g_assert_not_reached();
}

uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    g_assert_not_reached();
}

void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame)
{
    g_assert_not_reached();
}

/* --- Guests --------------------------------------------------------------- */
/* Returns a length around the limits at which READs are cut, or any other length. */
static uint32_t read_packets(void)
{
    static const unsigned cuts[] = {
        PVRDMA_REQ_REPEAT_PACKETS, 2 * PVRDMA_REQ_REPEAT_PACKETS,
        PVRDMA_REQ_READ_PACKETS, 2 * PVRDMA_REQ_READ_PACKETS,
    };

    switch (g_test_rand_int_range(0, 4)) {
    case 0:
        return g_test_rand_int_range(0, READ_PACKETS);
    case 1:
        return cuts[g_test_rand_int_range(0, ARRAY_SIZE(cuts))] +
               g_test_rand_int_range(-2, 3);
    default:
        return g_test_rand_int_range(0, 4);
    }
}

static void post_data(End *e, PvrdmaSqe *sqe)
{
    uint8_t *data = e->data[e->posted];

    sqe->length = g_test_rand_int_range(0, DATA_BYTES + 1);
    sqe->remote_addr = WRITE_VA +
                       g_test_rand_int_range(0, WRITE_BYTES - sqe->length);
    for (uint32_t i = 0; i < sqe->length; i++) {
        data[i] = g_test_rand_int();
    }
    if (sqe->opcode == PVRDMA_WR_SEND) {
        e->sends[e->send_count++] = e->posted;
    } else {
        memcpy(e->want + (sqe->remote_addr - WRITE_VA), data, sqe->length);
    }
}

static void post(End *e)
{
    static const uint8_t opcodes[] = {
        PVRDMA_WR_SEND, PVRDMA_WR_RDMA_WRITE, PVRDMA_WR_RDMA_READ,
        PVRDMA_WR_RDMA_READ, PVRDMA_WR_ATOMIC_FETCH_AND_ADD,
    };
    PvrdmaSqe *sqe = &e->wqe[e->posted].sqe;

    *sqe = (PvrdmaSqe) {
        .wr_id = e->posted, .rkey = KEY, .compare_add = 1,
        .opcode = opcodes[g_test_rand_int_range(0, ARRAY_SIZE(opcodes))],
        .flags = PVRDMA_SEND_SIGNALED | (dice(6) ? PVRDMA_SEND_FENCE : 0),
    };
    if (sqe->opcode == PVRDMA_WR_ATOMIC_FETCH_AND_ADD) {
        sqe->length = sizeof(uint64_t);
        sqe->remote_addr = ATOMIC_VA;
    } else if (sqe->opcode == PVRDMA_WR_RDMA_READ) {
        sqe->length = read_packets() * MTU;
        sqe->length -= MIN(sqe->length, g_test_rand_int_range(0, 3));
        sqe->remote_addr = READ_VA +
                           g_test_rand_int_range(0, READ_BYTES - sqe->length);
    } else {
        post_data(e, sqe);
    }
    e->posted++;
    pvrdma_qp_activate(&e->qp);
}

static bool end_done(const End *e)
{
    return e->completed == WQES && e->received == e->peer->send_count;
}

/* Does the work of the guest's programs at random times. */
static void guest(End *e)
{
    while (e->posted < WQES && e->posted - e->completed < SQ_ENTRIES && !dice(4)) {
        post(e);
    }
    /* buffers are scarce, so that some messages find none */
    if (e->buffers < WQES && e->buffers - e->fetched < 2) {
        e->buffers++;
    }
}

/* --- Events --------------------------------------------------------------- */
static void end_check(End *e)
{
    /* retries are unlimited, because this wire loses more frames than any real one */
    e->qp.req.retries = 7;
    g_assert_cmpstr(pvrdma_qp_stuck(&e->qp), ==, NULL);
    g_assert_true(!e->qp.req.armed || e->timer == e->qp.req.armed);
}

static void end_visit(End *e)
{
    unsigned budget = 16;
    bool more;

    e->qp.active = false;
    more = pvrdma_resp_run(&e->qp, &budget);
    if (budget) {
        more |= pvrdma_req_run(&e->qp, &budget);
    } else {
        more = true;
    }
    if (more) {
        pvrdma_qp_activate(&e->qp);
    }
    end_check(e);
}

static unsigned frame_next(void)
{
    unsigned best = 0;

    for (unsigned i = 1; i < loop.frames->len; i++) {
        Frame *f = g_ptr_array_index(loop.frames, i);
        Frame *first = g_ptr_array_index(loop.frames, best);

        if (f->when < first->when) {
            best = i;
        }
    }
    return best;
}

static void frame_arrive(unsigned i)
{
    g_autofree Frame *f = g_ptr_array_steal_index_fast(loop.frames, i);

    loop.now = MAX(loop.now, f->when);
    pvrdma_rx(&f->to->s, f->bytes, f->len);
    end_check(f->to);
}

static void timer_fire(End *e)
{
    loop.now = MAX(loop.now, e->timer);
    e->timer = 0;
    pvrdma_req_timer(&e->qp);
    end_check(e);
}

/* Runs the next event: a frame arrives, or a timer fires. */
static void time_goes_on(void)
{
    End *due = NULL;
    int64_t when = INT64_MAX, idle_until = loop.now + SCALE_MS;
    unsigned frame = 0;

    for (unsigned i = 0; i < 2; i++) {
        End *e = &loop.end[i];

        if (e->qp.active && e->busy_until > loop.now) {
            idle_until = MIN(idle_until, e->busy_until);
        }
        if (e->timer && e->timer < when) {
            due = e;
            when = e->timer;
        }
    }
    if (loop.frames->len) {
        Frame *f = g_ptr_array_index(loop.frames, frame = frame_next());

        if (f->when <= when) {
            frame_arrive(frame);
            return;
        }
    }
    if (due) {
        timer_fire(due);
    } else {
        /* only a guest's work or the end of a stall is left */
        loop.now = idle_until;
    }
}

static void step(bool park)
{
    bool active = false;

    for (unsigned i = 0; i < 2; i++) {
        End *e = &loop.end[i];

        if (dice(4)) {
            guest(e);
        }
        if (park && dice(500)) {
            pvrdma_req_park(&e->qp);
            end_check(e);
        }
        /* the bottom half may run later, or much later */
        if (e->qp.active && dice(loop.stall)) {
            e->busy_until = loop.now + long_time();
        }
        if (e->qp.active && e->busy_until <= loop.now && !dice(3)) {
            end_visit(e);
        }
        active |= e->qp.active && e->busy_until <= loop.now;
    }
    if (!active || dice(2)) {
        time_goes_on();
    }
}

/* --- Rounds --------------------------------------------------------------- */
static void end_start(unsigned i, uint32_t psn, uint32_t peer_psn, bool dcqcn)
{
    static const uint8_t limits[] = { 1, 2, 4, 16 };
    End *e = &loop.end[i];
    PvrdmaQp *qp = &e->qp;

    memset(e, 0, sizeof(*e));
    e->peer = &loop.end[!i];
    e->s.gid[0].vlan = ROCE_NO_VLAN;
    e->s.dcqcn = dcqcn;
    *qp = (PvrdmaQp) {
        .s = &e->s, .handle = 1 + i, .qpn = 0x100 + i, .type = PVRDMA_QPT_RC,
        .state = PVRDMA_QPS_RTS, .send_cq = &e->cq, .recv_cq = &e->cq, .mtu = MTU,
        .sq = { .entries = SQ_ENTRIES, .max_sge = 1 },
        .attr = {
            .sq_psn = psn, .rq_psn = peer_psn, .dest_qpn = 0x100 + !i,
            .max_rd_atomic = limits[g_test_rand_int_range(0, ARRAY_SIZE(limits))],
            .max_dest_rd_atomic = 16, .timeout = TIMEOUT, .retry_cnt = 7,
            .rnr_retry = 7, .min_rnr_timer = 12,
            .access = PVRDMA_ACCESS_REMOTE_WRITE | PVRDMA_ACCESS_REMOTE_READ |
                      PVRDMA_ACCESS_REMOTE_ATOMIC,
        },
        .path = {
            .network = ROCE_NETWORK_IPV4, .vlan = ROCE_NO_VLAN, .hop_limit = 64,
            .sport = ROCE_UDP_SPORT_MIN,
            .sgid = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 + i },
            .dgid = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 2 - i },
            /* the whole path is congested */
            .traffic_class = dcqcn ? ROCE_ECN_CE : 0,
        },
    };
    for (unsigned n = 0; n < READ_BYTES; n++) {
        e->readable[n] = n * 7 ^ n >> 8 ^ i;
    }
    pvrdma_resp_init(qp);
    pvrdma_req_init(qp);
}

static void end_finish(End *e)
{
    g_assert_cmpuint(e->peer->word, ==, e->atomics);
    g_assert_cmpmem(e->peer->written, WRITE_BYTES, e->want, WRITE_BYTES);
    g_assert_true(pvrdma_req_idle(&e->qp));
    g_assert_cmpuint(pvrdma_req_reads(&e->qp.req), ==, 0);
    for (unsigned i = 0; i < PVRDMA_COUNTER_COUNT; i++) {
        loop.counter[i] += e->s.counter[i];
    }
    pvrdma_req_fini(&e->qp);
    g_assert_cmpuint(e->s.pages_used, ==, 0);
}

static void run_round(bool park, bool dcqcn)
{
    uint32_t psn[2];
    unsigned events = 0;

    loop.now = 1000;
    loop.frames = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < 2; i++) {
        psn[i] = (0xffff00 + g_test_rand_int_range(0, 0x200)) & ROCE_PSN_MASK;
    }
    for (unsigned i = 0; i < 2; i++) {
        end_start(i, psn[i], psn[!i], dcqcn);
    }
    while (!end_done(&loop.end[0]) || !end_done(&loop.end[1])) {
        step(park);
        g_assert_cmpuint(++events, <, EVENTS_MAX);
    }
    for (unsigned i = 0; i < 2; i++) {
        end_finish(&loop.end[i]);
    }
    g_ptr_array_unref(loop.frames);
}

/* Tests a wire and its ends, in rounds with and without snapshots of the requesters. */
static void run_rounds(unsigned loss, unsigned delayed, unsigned again, unsigned stall,
                       bool dcqcn)
{
    memset(loop.counter, 0, sizeof(loop.counter));
    loop.loss = loss;
    loop.delayed = delayed;
    loop.again = again;
    loop.stall = stall;
    for (unsigned round = 0; round < ROUNDS; round++) {
        run_round(round % 2, dcqcn);
    }
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_RX_BAD_REQUEST], ==, 0);
}

static void test_reordered(void)
{
    run_rounds(0, 0, 0, 0, false);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_RX_OUT_OF_SEQUENCE], >, 0);
}

static void test_lost(void)
{
    run_rounds(25, 0, 0, 0, false);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_TX_RETRY], >, 0);
}

/* Tests a wire without loss: every retransmission is needless. */
static void test_delayed(void)
{
    run_rounds(0, 0, 0, 200, false);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_TIMEOUT], >, 0);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_RX_DUPLICATE], >, 0);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_RX_STALE], >, 0);
}

static void test_all(void)
{
    run_rounds(50, 300, 30, 1000, false);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_TIMEOUT], >, 0);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_RX_NAK], >, 0);
}

static void test_congested(void)
{
    run_rounds(200, 0, 0, 1000, true);
    g_assert_cmpuint(loop.counter[PVRDMA_CNT_RX_CNP], >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/transport/loop-reordered", test_reordered);
    g_test_add_func("/pvrdma/transport/loop-lost", test_lost);
    g_test_add_func("/pvrdma/transport/loop-delayed", test_delayed);
    g_test_add_func("/pvrdma/transport/loop-all", test_all);
    g_test_add_func("/pvrdma/transport/loop-congested", test_congested);
    return g_test_run();
}
