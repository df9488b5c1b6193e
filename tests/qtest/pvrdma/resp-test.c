/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pvrdma and a hostile peer: every frame that is dropped with its counter, every
 * request that is refused with its NAK, counter, event, completion and state of the QP;
 * and thousands of random packets, after which everything works.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "verbs.h"

#define MTU         1024
#define BYTES       (1024 * 1024)
#define GUARD       4096 /* bytes before and behind the region that must stay 0 */
#define VA          0x7f0000000000ULL
#define RECV_AT     (BYTES / 2)     /* offset of receive buffers in the region */
#define RECV_BYTES  1500            /* bytes of a receive buffer, in two elements */
#define PEER_QPN    0xabcdef
#define PSN         0xfffffe
#define RANDOM      4000            /* number of random packets or frames */

typedef struct Rig {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    uint64_t guard[2];              /* addresses of memory before and behind the region */
    /* regions with all rights, and for local reads only */
    PvrdmaTestMr mr, local;
    uint8_t *data;                  /* contents of the region at the start */
    RocePath path;                  /* of the frames of the peer */
} Rig;

static void connect_as(Rig *r, uint32_t access)
{
    PvrdmaTestQpAttr attr = {
        .mtu = PVRDMA_MTU_1024, .sq_psn = 1, .rq_psn = PSN,
        .dest_qpn = PEER_QPN, .access = access,
    };

    pvrdma_qp_connect(r->t, &r->qp, &attr);
}

static void rig_start(Rig *r)
{
    PvrdmaTestQpInit init = { .recv_wr = 16, .send_cq = &r->cq };

    r->t = pvrdma_start("");
    r->pd = init.pd = pvrdma_pd_create(r->t, 0);
    r->cq = pvrdma_cq_create(r->t, 0, 0, 256);
    r->qp = pvrdma_qp_create(r->t, &init);
    r->guard[0] = pvrdma_alloc(r->t, GUARD);
    r->mr = pvrdma_mr_create(r->t, r->pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    r->guard[1] = pvrdma_alloc(r->t, GUARD);
    r->local = pvrdma_mr_create(r->t, r->pd, VA, MTU, 0);
    r->data = g_malloc(BYTES);
    pvrdma_fill(r->t, r->mr.pa, r->data, BYTES, 1);
    r->path = pvrdma_path(false, false);
    connect_as(r, 0);
}

static void drain(Rig *r)
{
    struct pvrdma_cqe cqe;

    pvrdma_settle(r->t);
    g_queue_clear_full(&r->t->frames, g_free);
    while (pvrdma_cq_poll(r->t, &r->cq, &cqe)) {
        continue;
    }
}

static void rig_stop(Rig *r)
{
    static const uint8_t zero[GUARD];

    pvrdma_assert_mem(r->t, r->guard[0], zero, GUARD);
    pvrdma_assert_mem(r->t, r->guard[1], zero, GUARD);
    pvrdma_cq_assert_empty(r->t, &r->cq);
    pvrdma_assert_quiet(r->t);
    g_assert_true(pvrdma_event_none(r->t));
    g_free(r->data);
    pvrdma_stop(r->t);
}

/* Connects the QP again, from any state. */
static void again(Rig *r, uint32_t access)
{
    pvrdma_qp_to(r->t, &r->qp, PVRDMA_QPS_RESET);
    connect_as(r, access);
}

static void post_recv(Rig *r, uint64_t wr_id, uint32_t lkey)
{
    PvrdmaTestSge sge[2] = {
        { r->mr.va + RECV_AT, 500, r->mr.lkey },
        { r->mr.va + RECV_AT + 500, RECV_BYTES - 500, lkey },
    };

    pvrdma_post_recv(r->t, &r->qp, wr_id, sge, 2);
}

static uint64_t dropped(Rig *r, const char *counter)
{
    return pvrdma_counter(r->t, counter);
}

/*
 * Sends a packet as the peer, with @len bytes of payload; the region's address and key
 * are added to those in @pkt.
 */
static void peer(Rig *r, RocePacket pkt, uint32_t len)
{
    static const uint8_t payload[ROCE_MTU_MAX] = { 0x5a };

    pkt.va += r->mr.va;
    pkt.rkey += r->mr.rkey;
    pkt.inv_rkey += r->mr.rkey;
    pkt.psn &= ROCE_PSN_MASK;
    pkt.qpn = pkt.qpn ?: r->qp.qpn;
    pkt.pkey = pkt.pkey ?: ROCE_PKEY_DEFAULT;
    pvrdma_wire_send(r->t, &r->path, &pkt, payload, len);
}
#define PEER(r, op, number, len, ...) \
    peer(r, (RocePacket) { .opcode = ROCE_OP_##op, .psn = (number), \
                           ##__VA_ARGS__ }, len)

/* Connects the QP again; asserts that a WRITE and a READ of the peer succeed. */
static void check_works(Rig *r)
{
    g_autofree PvrdmaFrame *f = NULL;

    again(r, 0);
    drain(r);
    pvrdma_fill(r->t, r->mr.pa, r->data, BYTES, 1);
    PEER(r, WRITE_ONLY, PSN, 8, .dma_len = 8);
    PEER(r, READ_REQUEST, PSN + 1, 0, .dma_len = 9);
    f = pvrdma_wire_expect(r->t, ROCE_OP_READ_RESP_ONLY, PEER_QPN, PSN + 1);
    g_assert_cmpuint(f->pkt.payload_len, ==, 9);
    g_assert_cmphex(f->pkt.payload[0], ==, 0x5a);
    g_assert_cmphex(f->pkt.payload[7], ==, 0);
    g_assert_cmphex(f->pkt.payload[8], ==, r->data[8]);
}

/* --- Dropped -------------------------------------------------------------- */
/* Makes a valid frame with a WRITE; returns its length. */
static size_t good_frame(Rig *r, uint8_t *frame)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_WRITE_ONLY, .psn = PSN, .qpn = r->qp.qpn,
        .pkey = ROCE_PKEY_DEFAULT, .va = r->mr.va, .rkey = r->mr.rkey,
        .dma_len = 61,
    };
    size_t at = roce_frame_begin(frame, &r->path, &pkt);

    memset(frame + at, 0xa5, 61);
    return roce_frame_end(frame, at, 61);
}

/* Returns the number of frames that the device has dropped because they are not valid. */
static uint64_t bad_frames(Rig *r)
{
    return dropped(r, "rx-bad-length") + dropped(r, "rx-bad-ip") +
           dropped(r, "rx-bad-header") + dropped(r, "rx-bad-icrc");
}

/* A11: a frame with any bit inverted is dropped. */
static void test_flipped(void)
{
    Rig r;
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len, ip, udp, bth;
    uint64_t sent = 0;

    rig_start(&r);
    len = good_frame(&r, frame);
    ip = roce_frame_network_at(frame);
    udp = ip + 20;
    bth = udp + 8;
    for (size_t bit = 8 * ip; bit < 8 * len; bit++) {
        size_t byte = bit / 8;

        /*
         * bits that the ICRC does not cover, and bytes that make the frame one for the
         * NIC
         */
        if (byte == udp + 6 || byte == udp + 7 || byte == bth + 4 ||
            (byte == ip && bit % 8 < 4) || (byte == ip + 6 && bit % 8 < 5) ||
            byte == ip + 7 || byte == ip + 9 || byte == udp + 2 ||
            byte == udp + 3) {
            continue;
        }
        frame[byte] ^= 1 << bit % 8;
        pvrdma_wire_send_raw(r.t, frame, len);
        frame[byte] ^= 1 << bit % 8;
        sent++;
    }
    pvrdma_wait(r.t, bad_frames(&r) == sent);
    g_assert_cmpuint(dropped(&r, "rx-bad-icrc"), >, 8 * 61);
    pvrdma_assert_mem(r.t, r.mr.pa, r.data, 61);
    PEER(&r, READ_REQUEST, PSN, 0, .dma_len = 1);       /* the QP still expects PSN */
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_READ_RESP_ONLY, PEER_QPN, PSN));
    rig_stop(&r);
}

static void test_truncated(void)
{
    Rig r;
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len;

    rig_start(&r);
    len = good_frame(&r, frame);
    for (size_t cut = 14; cut < len; cut++) {
        pvrdma_wire_send_raw(r.t, frame, cut);
    }
    pvrdma_wire_send_raw(r.t, frame, len);
    pvrdma_settle(r.t);
    memset(r.data, 0xa5, 61);
    pvrdma_wait(r.t, dropped(&r, "rx-frames") > bad_frames(&r));
    pvrdma_assert_mem(r.t, r.mr.pa, r.data, 61);
    g_assert_cmpuint(dropped(&r, "rx-bad-length"), >, 0);
    g_assert_cmpuint(dropped(&r, "rx-frames"), ==, bad_frames(&r) + 1);
    rig_stop(&r);
}

/* A12, A16: a QPN with any bit wrong, another partition, another opcode or address. */
static void test_not_for_us(void)
{
    Rig r;

    rig_start(&r);
    for (unsigned bit = 0; bit < 24; bit++) {
        PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1, .qpn = r.qp.qpn ^ 1 << bit);
    }
    pvrdma_wait(r.t, dropped(&r, "rx-no-qp") == 24);
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1, .pkey = 0x7ffe);
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1, .pkey = 0x8001);
    pvrdma_wait(r.t, dropped(&r, "rx-bad-pkey") == 2);
    PEER(&r, UD_SEND_ONLY, PSN, 1, .qkey = 1);
    pvrdma_wait(r.t, dropped(&r, "rx-no-qp") == 25);
    r.path.sgid[15] ^= 1;                       /* another sender that knows the QPN */
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1);
    r.path = pvrdma_path(true, false);          /* the peer, but by IPv6 */
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1);
    pvrdma_wait(r.t, dropped(&r, "rx-bad-path") == 2);
    r.path = pvrdma_path(false, false);
    pvrdma_assert_mem(r.t, r.mr.pa, r.data, 1);
    check_works(&r);
    rig_stop(&r);
}

static void test_state(void)
{
    static const PvrdmaTestQpAttr attr = { .dest_qpn = PEER_QPN, .rq_psn = PSN };
    Rig r;

    rig_start(&r);
    pvrdma_qp_to(r.t, &r.qp, PVRDMA_QPS_RESET);
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1);
    pvrdma_wait(r.t, dropped(&r, "rx-qp-state") == 1);
    pvrdma_qp_init(r.t, &r.qp, &attr);
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1);
    pvrdma_wait(r.t, dropped(&r, "rx-qp-state") == 2);
    pvrdma_qp_rtr(r.t, &r.qp, &attr);
    PEER(&r, ACK, PSN, 0);                      /* an ACK without a request */
    pvrdma_wait(r.t, dropped(&r, "rx-qp-state") == 3);
    g_assert_true(pvrdma_event_none(r.t));
    PEER(&r, WRITE_ONLY, PSN, 1, .dma_len = 1, .ack_req = true);
    pvrdma_wire_expect_ack(r.t, PEER_QPN, PSN, ROCE_AETH_NO_CREDITS);
    pvrdma_event_take(r.t, PVRDMA_EVENT_COMM_EST, r.qp.handle);
    pvrdma_qp_to(r.t, &r.qp, PVRDMA_QPS_ERR);
    PEER(&r, WRITE_ONLY, PSN + 1, 1, .dma_len = 1, .ack_req = true);
    pvrdma_wait(r.t, dropped(&r, "rx-qp-state") == 4);
    rig_stop(&r);
}

/* --- Refused -------------------------------------------------------------- */
typedef enum Buffer {
    BUFFER_GOOD,
    BUFFER_BAD_KEY,
    BUFFER_READ_ONLY,
} Buffer;

typedef struct Row {
    const char *what;
    struct {
        RocePacket pkt;             /* as for peer(), which is given the PSN */
        uint32_t len;
    } part[3];                      /* the last packet is refused */
    unsigned parts;
    uint32_t access;                /* access rights of the QP; 0: all */
    Buffer buffer;
    enum roce_nak nak;
    const char *counter;
    int event;                      /* event of the QP; -1: none */
    uint8_t status;                 /* status of the first receive WQE; 0: flushed */
} Row;

#define OP(op, ...) { .opcode = ROCE_OP_##op, ##__VA_ARGS__ }
#define REQUEST ROCE_NAK_INVALID_REQUEST, "rx-bad-request", \
                PVRDMA_EVENT_QP_REQ_ERR
#define ACCESS  ROCE_NAK_REMOTE_ACCESS, "rx-bad-access", \
                PVRDMA_EVENT_QP_ACCESS_ERR

static const Row rows[] = {
    { "middle without first", { { OP(SEND_MIDDLE), MTU } }, 1, 0, 0, REQUEST },
    { "last without first", { { OP(WRITE_LAST), 1 } }, 1, 0, 0, REQUEST },
    { "first twice", { { OP(SEND_FIRST), MTU }, { OP(SEND_FIRST), MTU } },
      2, 0, 0, REQUEST, PVRDMA_WC_REM_INV_REQ_ERR },
    { "a WRITE in a SEND", { { OP(SEND_FIRST), MTU }, { OP(WRITE_LAST), 1 } },
      2, 0, 0, REQUEST, PVRDMA_WC_REM_INV_REQ_ERR },
    { "a READ in a WRITE", { { OP(WRITE_FIRST, .dma_len = 2 * MTU), MTU },
                             { OP(READ_REQUEST, .dma_len = 1) } },
      2, 0, 0, REQUEST },
    { "a first that is not full", { { OP(SEND_FIRST), MTU - 4 } },
      1, 0, 0, REQUEST },
    { "more than the MTU", { { OP(SEND_ONLY), MTU + 1 } }, 1, 0, 0, REQUEST },
    { "an empty last", { { OP(SEND_FIRST), MTU }, { OP(SEND_LAST), 0 } },
      2, 0, 0, REQUEST, PVRDMA_WC_REM_INV_REQ_ERR },
    { "less than was said", { { OP(WRITE_FIRST, .dma_len = 2 * MTU), MTU },
                              { OP(WRITE_LAST), 1 } }, 2, 0, 0, REQUEST },
    { "more than was said", { { OP(WRITE_FIRST, .dma_len = MTU + 1), MTU },
                              { OP(WRITE_LAST), 2 } }, 2, 0, 0, REQUEST },
    { "beyond all messages", { { OP(READ_REQUEST, .dma_len = ROCE_MSG_MAX + 1) } },
      1, 0, 0, REQUEST },
    { "not aligned", { { OP(FETCH_ADD, .va = 4) } }, 1, 0, 0, REQUEST },
    { "a QP that forbids WRITE", { { OP(WRITE_ONLY, .dma_len = 1), 1 } },
      1, PVRDMA_ACCESS_REMOTE_READ, 0, REQUEST },
    { "a QP that forbids READ", { { OP(READ_REQUEST, .dma_len = 1) } },
      1, PVRDMA_ACCESS_REMOTE_WRITE, 0, REQUEST },
    { "a QP that forbids atomics", { { OP(FETCH_ADD) } },
      1, PVRDMA_ACCESS_REMOTE_WRITE, 0, REQUEST },
    { "no such key", { { OP(WRITE_ONLY, .rkey = 0x100, .dma_len = 1), 1 } },
      1, 0, 0, ACCESS },
    { "a key's other tag", { { OP(READ_REQUEST, .rkey = 1, .dma_len = 1) } },
      1, 0, 0, ACCESS },
    { "before the region", { { OP(WRITE_ONLY, .va = -1, .dma_len = 1), 1 } },
      1, 0, 0, ACCESS },
    { "behind the region", { { OP(READ_REQUEST, .va = BYTES, .dma_len = 1) } },
      1, 0, 0, ACCESS },
    { "half inside", { { OP(WRITE_FIRST, .va = BYTES - MTU, .dma_len = MTU + 1),
                         MTU } }, 1, 0, 0, ACCESS },
    { "around all addresses", { { OP(READ_REQUEST, .va = -VA - 8,
                                     .dma_len = ROCE_MSG_MAX) } },
      1, 0, 0, ACCESS },
    { "an atomic outside", { { OP(COMPARE_SWAP, .va = BYTES) } },
      1, 0, 0, ACCESS },
    { "invalidation of no key", { { OP(SEND_ONLY_INV, .inv_rkey = 0x100), 1 } },
      1, 0, 0, ACCESS, PVRDMA_WC_REM_ACCESS_ERR },
    { "more than the buffer", { { OP(SEND_FIRST), MTU },
                                { OP(SEND_LAST), RECV_BYTES - MTU + 1 } },
      2, 0, 0, ROCE_NAK_INVALID_REQUEST, "rx-bad-request", -1,
      PVRDMA_WC_LOC_LEN_ERR },
    { "a buffer's wrong key", { { OP(SEND_ONLY), 501 } }, 1, 0, BUFFER_BAD_KEY,
      ROCE_NAK_REMOTE_OPERATION, "rx-bad-access", -1, PVRDMA_WC_LOC_PROT_ERR },
    { "a buffer to be read", { { OP(SEND_ONLY), 501 } }, 1, 0, BUFFER_READ_ONLY,
      ROCE_NAK_REMOTE_OPERATION, "rx-bad-access", -1, PVRDMA_WC_LOC_PROT_ERR },
};

static void check_row(Rig *r, const Row *row)
{
    static const uint32_t key[] = { [BUFFER_BAD_KEY] = 0x100 };
    uint64_t before = dropped(r, row->counter);
    uint64_t naks = dropped(r, "tx-nak-error");
    uint64_t errors = pvrdma_counter(r->t, "guest-error");
    unsigned i;

    g_test_message("%s", row->what);
    again(r, row->access);
    drain(r);
    post_recv(r, 1, row->buffer == BUFFER_READ_ONLY ? r->local.lkey :
                    r->mr.lkey + (row->buffer == BUFFER_BAD_KEY ? key[1] : 0));
    post_recv(r, 2, r->mr.lkey);
    for (i = 0; i < row->parts; i++) {
        RocePacket pkt = row->part[i].pkt;

        pkt.psn = PSN + i;
        peer(r, pkt, row->part[i].len);
    }
    pvrdma_wire_expect_ack(r->t, PEER_QPN, (PSN + i - 1) & ROCE_PSN_MASK,
                           ROCE_AETH_SYN(ROCE_AETH_NAK, row->nak));
    g_assert_cmpuint(dropped(r, row->counter), ==, before + 1);
    g_assert_cmpuint(dropped(r, "tx-nak-error"), ==, naks + 1);
    g_assert_cmpuint(pvrdma_qp_state(r->t, &r->qp), ==, PVRDMA_QPS_ERR);
    g_assert_cmpuint(pvrdma_counter(r->t, "guest-error"), ==,
                     errors + (row->buffer != BUFFER_GOOD));
    if (row->event >= 0) {
        pvrdma_event_take(r->t, row->event, r->qp.handle);
    }
    g_assert_true(pvrdma_event_none(r->t));
    pvrdma_cq_expect(r->t, &r->cq, 1, row->status ?: PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_cq_expect(r->t, &r->cq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    pvrdma_cq_assert_empty(r->t, &r->cq);
}

static void test_refused(void)
{
    Rig r;

    rig_start(&r);
    /* some receive WQEs have keys that are wrong or do not allow writes */
    r.t->guest_errors = true;
    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        check_row(&r, &rows[i]);
    }
    check_works(&r);
    rig_stop(&r);
}

static void test_too_many_reads(void)
{
    Rig r;

    rig_start(&r);
    drain(&r);
    /*
     * these READs ask for more than the wire holds, so they are all unfinished when the
     * next one arrives
     */
    for (unsigned i = 0; i < 4; i++) {
        PEER(&r, READ_REQUEST, PSN + i * 1024, 0, .dma_len = BYTES);
    }
    PEER(&r, READ_REQUEST, PSN + 4 * 1024, 0, .dma_len = 1);
    for (unsigned i = 0; i < 4 * 1024; i++) {
        g_autofree PvrdmaFrame *f = pvrdma_wire_take(r.t);

        g_assert_cmphex(f->pkt.psn, ==, (PSN + i) & ROCE_PSN_MASK);
        g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len,
                        r.data + i % 1024 * MTU, MTU);
    }
    pvrdma_wire_expect_ack(r.t, PEER_QPN, (PSN + 4 * 1024) & ROCE_PSN_MASK,
                           ROCE_AETH_SYN(ROCE_AETH_NAK,
                                         ROCE_NAK_INVALID_REQUEST));
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_REQ_ERR, r.qp.handle);
    rig_stop(&r);
}

/* --- READs that wait for the wire ----------------------------------------- */
/*
 * Starts a machine whose peer READs more than sockets hold, and takes nothing until the
 * device waits.
 */
static void block(Rig *r)
{
    uint64_t sent = 0, before;

    rig_start(r);
    for (unsigned i = 0; i < 4; i++) {
        PEER(r, READ_REQUEST, PSN + i * 1024, 0, .dma_len = BYTES);
    }
    do {
        before = sent;
        g_usleep(20000);
        sent = dropped(r, "tx-read-resp");
    } while (!sent || sent != before);
    g_assert_cmpuint(sent, <, 4 * 1024);
}

static void test_region_gone(void)
{
    PvrdmaFrame *f = NULL;
    uint32_t psn = PSN;
    Rig r;

    block(&r);
    pvrdma_mr_destroy(r.t, &r.mr);
    for (;;) {
        f = pvrdma_wire_take(r.t);
        if (f->pkt.opcode == ROCE_OP_ACK) {
            break;
        }
        g_assert_cmphex(f->pkt.psn, ==, psn);
        psn = roce_psn_add(psn, 1);
        g_free(f);
    }
    g_assert_cmphex(f->pkt.psn, ==, psn);
    g_assert_cmphex(f->pkt.syndrome, ==,
                    ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_REMOTE_ACCESS));
    g_free(f);
    g_assert_cmpuint(pvrdma_qp_state(r.t, &r.qp), ==, PVRDMA_QPS_ERR);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_ACCESS_ERR, r.qp.handle);
    rig_stop(&r);
}

/* The QP goes to ERR or is destroyed: the rest of the READ data is not sent. */
static void test_ended(void)
{
    Rig r;

    for (unsigned destroy = 0; destroy < 2; destroy++) {
        block(&r);
        if (destroy) {
            pvrdma_qp_destroy(r.t, &r.qp);
        } else {
            pvrdma_qp_to(r.t, &r.qp, PVRDMA_QPS_ERR);
        }
        drain(&r);
        g_assert_cmpuint(dropped(&r, "tx-read-resp"), <, 4 * 1024);
        g_assert_cmpuint(dropped(&r, "tx-nak-error"), ==, 0);
        if (!destroy) {
            check_works(&r);
        }
        rig_stop(&r);
    }
}

/* --- Shared receive queue ------------------------------------------------- */
static void test_shared(void)
{
    Rig r;
    PvrdmaTestSrq srq;
    PvrdmaTestQpInit init = { .send_cq = &r.cq, .srq = &srq };
    PvrdmaTestSge sge;

    rig_start(&r);
    srq = pvrdma_srq_create(r.t, r.pd, 0, 16, 2);
    init.pd = r.pd;
    r.qp = pvrdma_qp_create(r.t, &init);
    connect_as(&r, 0);
    PEER(&r, SEND_ONLY, PSN, 3, .ack_req = true);
    pvrdma_wire_expect_ack(r.t, PEER_QPN, PSN,
                           ROCE_AETH_SYN(ROCE_AETH_RNR_NAK, 12));
    sge = PVRDMA_TEST_SGE(&r.mr, RECV_AT, MTU);
    for (unsigned i = 1; i < 4; i++) {
        pvrdma_post_srq(r.t, &srq, i, &sge, 1);
    }
    PEER(&r, SEND_ONLY, PSN, 3, .ack_req = true);
    pvrdma_wire_expect_ack(r.t, PEER_QPN, PSN, ROCE_AETH_NO_CREDITS);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    PEER(&r, SEND_FIRST, PSN + 1, MTU);
    PEER(&r, SEND_FIRST, PSN + 2, MTU);
    pvrdma_wire_expect_ack(r.t, PEER_QPN, 0,
                           ROCE_AETH_SYN(ROCE_AETH_NAK,
                                         ROCE_NAK_INVALID_REQUEST));
    /* the WQE that the SEND has begun fails; the others in the SRQ stay for other QPs */
    pvrdma_cq_expect(r.t, &r.cq, 2, PVRDMA_WC_REM_INV_REQ_ERR);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_REQ_ERR, r.qp.handle);
    pvrdma_event_take(r.t, PVRDMA_EVENT_QP_LAST_WQE_REACHED, r.qp.handle);
    again(&r, 0);
    PEER(&r, SEND_ONLY, PSN, 3);
    pvrdma_cq_expect(r.t, &r.cq, 3, PVRDMA_WC_SUCCESS);
    rig_stop(&r);
}

/* --- Nonsense ------------------------------------------------------------- */
/* Returns a valid request. */
static RocePacket random_good(GRand *rand)
{
    static const uint8_t opcodes[] = {
        ROCE_OP_SEND_ONLY, ROCE_OP_SEND_ONLY_IMM, ROCE_OP_WRITE_ONLY,
        ROCE_OP_WRITE_ONLY_IMM, ROCE_OP_READ_REQUEST, ROCE_OP_COMPARE_SWAP,
        ROCE_OP_FETCH_ADD,
    };

    return (RocePacket) {
        .opcode = opcodes[g_rand_int_range(rand, 0, ARRAY_SIZE(opcodes))],
        .dma_len = g_rand_int_range(rand, 0, MTU + 1),
        .va = g_rand_int_range(rand, 0, BYTES / 2) & ~7ull,
        .swap_add = g_rand_int(rand),
        .compare = g_rand_boolean(rand),
        .ack_req = g_rand_boolean(rand),
        .solicited = g_rand_boolean(rand),
    };
}

/* Makes one field of @pkt, or @len, random. */
static void random_spoil(GRand *rand, RocePacket *pkt, uint32_t *len)
{
    switch (g_rand_int_range(rand, 0, 7)) {
    case 0:
        do {
            pkt->opcode = g_rand_int_range(rand, 0, 0x18);
        } while (!roce_opcode_info(pkt->opcode)->name);
        pkt->syndrome = g_rand_int(rand);
        pkt->msn = g_rand_int(rand);
        pkt->inv_rkey = 0x100 + g_rand_int_range(rand, 0, 9);
        break;
    case 1:
        pkt->psn = g_rand_int(rand);
        break;
    case 2:
        pkt->psn += g_rand_int_range(rand, -3, 4);
        break;
    case 3:
        pkt->va += g_rand_int_range(rand, -BYTES, BYTES);
        break;
    case 4:
        pkt->rkey = g_rand_int(rand);
        break;
    case 5:
        pkt->dma_len = g_rand_int(rand);
        break;
    case 6:
        *len = g_rand_int_range(rand, 0, 2 * MTU);
        break;
    }
}

/* Sends packet @n after PSN as the peer, mostly a valid request, in a valid frame. */
static void random_packet(Rig *r, GRand *rand, unsigned n)
{
    RocePacket pkt = random_good(rand);
    uint32_t len = pkt.dma_len;

    pkt.psn = PSN + n;
    if (!g_rand_int_range(rand, 0, 8)) {
        random_spoil(rand, &pkt, &len);
    }
    if (!(roce_opcode_info(pkt.opcode)->flags & ROCE_HAS_PAYLOAD)) {
        len = 0;
    }
    peer(r, pkt, len);
}

static void test_random_packets(void)
{
    GRand *rand = g_rand_new_with_seed(random_seed(1));
    struct pvrdma_eqe eqe;
    uint64_t accepted;
    Rig r;

    rig_start(&r);
    for (unsigned i = 0; i < RANDOM; i += 8) {
        again(&r, 0);
        for (unsigned n = 0; n < 8; n++) {
            post_recv(&r, n, r.mr.lkey);
            random_packet(&r, rand, n);
        }
        drain(&r);
        while (pvrdma_ring_take(r.t, &r.t->async, &eqe)) {
            g_assert_cmpuint(le32_to_cpu(eqe.info), ==, r.qp.handle);
        }
    }
    pvrdma_wait(r.t, dropped(&r, "rx-frames") == RANDOM);
    g_assert_cmpuint(bad_frames(&r), ==, 0);
    accepted = dropped(&r, "tx-ack") + dropped(&r, "tx-read-resp");
    g_assert_cmpuint(accepted, >, RANDOM / 20);
    g_assert_cmpuint(dropped(&r, "rx-bad-request"), >, 10);
    g_assert_cmpuint(dropped(&r, "rx-bad-access"), >, 10);
    g_assert_cmpuint(dropped(&r, "rx-duplicate"), >, 10);
    g_assert_cmpuint(dropped(&r, "rx-out-of-sequence"), >, 10);
    check_works(&r);
    g_rand_free(rand);
    rig_stop(&r);
}

static void test_random_frames(void)
{
    GRand *rand = g_rand_new_with_seed(random_seed(2));
    uint8_t frame[ROCE_FRAME_MAX];
    Rig r;

    rig_start(&r);
    for (unsigned i = 0; i < RANDOM; i++) {
        size_t len = good_frame(&r, frame);
        size_t keep = g_rand_int_range(rand, 14, len - ROCE_ICRC_BYTES);

        if (i % 2) {
            len = g_rand_int_range(rand, keep, sizeof(frame) + 1);
        }
        for (size_t at = keep; at < len; at++) {
            frame[at] = g_rand_int(rand);
        }
        pvrdma_wire_send_raw(r.t, frame, len);
    }
    drain(&r);
    PEER(&r, READ_REQUEST, PSN, 0, .dma_len = 61);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_READ_RESP_ONLY, PEER_QPN, PSN));
    pvrdma_assert_mem(r.t, r.mr.pa, r.data, BYTES);
    g_assert_cmpuint(bad_frames(&r), >, RANDOM / 2);
    g_rand_free(rand);
    rig_stop(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/resp/flipped-a11", test_flipped);
    qtest_add_func("/pvrdma/resp/truncated", test_truncated);
    qtest_add_func("/pvrdma/resp/not-for-us-a12", test_not_for_us);
    qtest_add_func("/pvrdma/resp/state", test_state);
    qtest_add_func("/pvrdma/resp/refused-a12", test_refused);
    qtest_add_func("/pvrdma/resp/too-many-reads", test_too_many_reads);
    qtest_add_func("/pvrdma/resp/region-gone", test_region_gone);
    qtest_add_func("/pvrdma/resp/ended", test_ended);
    qtest_add_func("/pvrdma/resp/shared", test_shared);
    qtest_add_func("/pvrdma/resp/random-packets", test_random_packets);
    qtest_add_func("/pvrdma/resp/random-frames", test_random_frames);
    return g_test_run();
}
