/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `-netdev stream` with this project's patch: frames that the device sends at once are
 * written together.  Also if a write stores only a part, the peer gets each frame whole
 * and in order.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <sys/ioctl.h>
#include "verbs.h"

#define MTU             4096
#define BIG             (1 << 20)
#define BIG_FRAMES      (BIG / MTU)
#define SMALL           100
#define SMALLS          5               /* number of frames that one doorbell may send */
#define LENGTH_BYTES    4               /* length before each frame on the socket */
#define SOCKET_BYTES    212992          /* send buffer of a socket, Linux' default */
#define SLOW_BYTES      777             /* bytes that a slow peer reads at once */
#define PEER_VA         0x5000
#define PEER_RKEY       0x77

static const PvrdmaTestQpAttr attr = {
    .mtu = PVRDMA_MTU_4096, .dest_qpn = 0x123, .sq_psn = 0xffff80,
};

typedef struct Rig {
    PvrdmaTest *t;
    char *folder, *path;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    uint8_t *data;                      /* contents of the region at the start */
    GByteArray *bytes;                  /* bytes that were read and not yet checked */
} Rig;

/* Starts a machine with a connected QP, and does not connect to the socket. */
static Rig rig_new(void)
{
    Rig r = { .folder = g_dir_make_tmp("pvrdma-stream-XXXXXX", NULL) };
    uint32_t pd;

    g_assert_nonnull(r.folder);
    r.path = g_build_filename(r.folder, "wire", NULL);
    r.t = pvrdma_start_server(r.path, "");
    pd = pvrdma_pd_create(r.t, 0);
    r.cq = pvrdma_cq_create(r.t, 0, 0, 64);
    r.mr = pvrdma_mr_create(r.t, pd, 0x10000000, BIG, PVRDMA_TEST_ACCESS_ALL);
    r.qp = pvrdma_qp_create(r.t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &r.cq,
    });
    r.data = g_malloc(BIG);
    pvrdma_fill(r.t, r.mr.pa, r.data, BIG, 3);
    r.bytes = g_byte_array_new();
    pvrdma_qp_connect(r.t, &r.qp, &attr);
    return r;
}

static void rig_free(Rig *r)
{
    g_assert_cmpuint(r->bytes->len, ==, 0);
    pvrdma_cq_assert_empty(r->t, &r->cq);
    pvrdma_stop(r->t);
    unlink(r->path);
    rmdir(r->folder);
    g_free(r->path);
    g_free(r->folder);
    g_free(r->data);
    g_byte_array_unref(r->bytes);
}

static void rig_put(Rig *r, uint64_t wr_id, uint32_t len)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, len);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(
        wr_id, PVRDMA_WR_RDMA_WRITE, PEER_VA, PEER_RKEY);

    pvrdma_put_send(r->t, &r->qp, &hdr, &sge, 1);
}

/* Acknowledges the first @psns packets, which are @msn messages. */
static void rig_ack(Rig *r, unsigned psns, uint32_t msn)
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_ACK, .pkey = ROCE_PKEY_DEFAULT, .qpn = r->qp.qpn,
        .psn = roce_psn_add(attr.sq_psn, psns - 1), .msn = msn,
        .syndrome = ROCE_AETH_NO_CREDITS,
    };

    pvrdma_wire_send(r->t, &path, &pkt, NULL, 0);
}

/* Reads up to @len bytes without waiting; returns how many. */
static size_t rig_read(Rig *r, size_t len)
{
    g_autofree uint8_t *buf = g_malloc(len);
    ssize_t n = recv(r->t->wire.fd, buf, len, MSG_DONTWAIT);

    if (n < 0) {
        g_assert_true(errno == EAGAIN || errno == EINTR);
        return 0;
    }
    g_assert_cmpint(n, >, 0);           /* 0: the device has closed the socket */
    g_byte_array_append(r->bytes, buf, n);
    return n;
}

/* Reads until there are @len unchecked bytes, at most @piece at once. */
static void rig_read_all(Rig *r, size_t len, size_t piece)
{
    int64_t end = wait_end();

    while (r->bytes->len < len) {
        if (!rig_read(r, MIN(piece, len - r->bytes->len))) {
            GPollFD pfd = { .fd = r->t->wire.fd, .events = G_IO_IN };

            wait_check(end);
            g_poll(&pfd, 1, 100);
        }
    }
}

/*
 * Takes the first frame from the unchecked bytes; asserts that it is packet @n of the
 * QP, with @opcode and @len bytes from @offset of the region.
 */
static void rig_expect(Rig *r, unsigned n, uint8_t opcode, uint32_t offset,
                       uint32_t len)
{
    RocePath path;
    RocePacket pkt;
    size_t frame;

    g_assert_cmpuint(r->bytes->len, >, LENGTH_BYTES);
    frame = ldl_be_p(r->bytes->data);
    g_assert_cmpuint(r->bytes->len, >=, LENGTH_BYTES + frame);
    g_assert_cmpint(roce_frame_parse(r->bytes->data + LENGTH_BYTES, frame, &path,
                                     &pkt), ==, ROCE_OK);
    g_assert_cmphex(pkt.opcode, ==, opcode);
    g_assert_cmphex(pkt.psn, ==, roce_psn_add(attr.sq_psn, n));
    g_assert_cmpmem(pkt.payload, pkt.payload_len, r->data + offset, len);
    g_byte_array_remove_range(r->bytes, 0, LENGTH_BYTES + frame);
}

/* Returns the bytes on the socket of a frame of @opcode with @len bytes of payload. */
static size_t frame_bytes(uint8_t opcode, uint32_t len)
{
    uint8_t frame[ROCE_FRAME_MAX];
    RocePath path = pvrdma_path(false, true);
    RocePacket pkt = { .opcode = opcode };
    size_t at = roce_frame_begin(frame, &path, &pkt);

    return LENGTH_BYTES + roce_frame_end(frame, at, len);
}

static uint8_t big_opcode(unsigned n)
{
    return n == 0 ? ROCE_OP_WRITE_FIRST : n == BIG_FRAMES - 1 ?
           ROCE_OP_WRITE_LAST : ROCE_OP_WRITE_MIDDLE;
}

/*
 * Reads a WRITE of BIG bytes, at most @piece at once; asserts its frames, the first of
 * which is packet @first of the QP.
 */
static void rig_expect_big(Rig *r, unsigned first, size_t piece)
{
    size_t all = 0;

    for (unsigned n = 0; n < BIG_FRAMES; n++) {
        all += frame_bytes(big_opcode(n), MTU);
    }
    rig_read_all(r, all, piece);
    for (unsigned n = 0; n < BIG_FRAMES; n++) {
        rig_expect(r, first + n, big_opcode(n), n * MTU, MTU);
    }
}

/* Lets the device send until the socket is full, and reads nothing. */
static void rig_full(Rig *r)
{
    uint64_t sent;

    do {
        sent = pvrdma_counter(r->t, "tx-frames");
        for (unsigned i = 0; i < 100; i++) {
            pvrdma_get(r->t, PVRDMA_REG_VERSION);
        }
    } while (pvrdma_counter(r->t, "tx-frames") != sent);
}

/* --- Tests --------------------------------------------------------------- */

/* All frames that a doorbell sends are in the socket when its write returns. */
static void test_doorbell(void)
{
    Rig r = rig_new();

    pvrdma_wire_connect(r.t, r.path);
    for (unsigned i = 0; i < SMALLS; i++) {
        rig_put(&r, i, SMALL);
    }
    g_assert_cmpuint(rig_read(&r, BIG), ==, 0);
    pvrdma_ring_send(r.t, &r.qp);
    g_assert_cmpuint(rig_read(&r, BIG), ==,
                     SMALLS * frame_bytes(ROCE_OP_WRITE_ONLY, SMALL));
    for (unsigned i = 0; i < SMALLS; i++) {
        rig_expect(&r, i, ROCE_OP_WRITE_ONLY, 0, SMALL);
    }
    rig_ack(&r, SMALLS, SMALLS);
    for (unsigned i = 0; i < SMALLS; i++) {
        pvrdma_cq_expect(r.t, &r.cq, i, PVRDMA_WC_SUCCESS);
    }
    rig_free(&r);
}

/*
 * The device sends more than the socket holds, to a peer that reads little at once,
 * then to one that reads much; both begin when the socket is full.
 */
static void test_slow(void)
{
    static const size_t pieces[] = { SLOW_BYTES, BIG };
    Rig r = rig_new();

    pvrdma_wire_connect(r.t, r.path);
    for (unsigned i = 0; i < ARRAY_SIZE(pieces); i++) {
        rig_put(&r, i, BIG);
        pvrdma_ring_send(r.t, &r.qp);
        rig_full(&r);
        g_assert_cmpuint(pvrdma_counter(r.t, "tx-frames"), <,
                         (i + 1) * BIG_FRAMES);
        rig_expect_big(&r, i * BIG_FRAMES, pieces[i]);
        rig_ack(&r, (i + 1) * BIG_FRAMES, i + 1);
        pvrdma_cq_expect(r.t, &r.cq, i, PVRDMA_WC_SUCCESS);
    }
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-retry"), ==, 0);
    rig_free(&r);
}

/*
 * The netdev enlarges the send buffer of its socket.  A buffer of Linux' default size
 * would hold at most one frame more than its size.
 */
static void test_buffer(void)
{
    Rig r = rig_new();
    int waiting;

    pvrdma_wire_connect(r.t, r.path);
    rig_put(&r, 1, BIG);
    pvrdma_ring_send(r.t, &r.qp);
    rig_full(&r);
    g_assert_cmpint(ioctl(r.t->wire.fd, FIONREAD, &waiting), ==, 0);
    g_assert_cmpint(waiting, >, SOCKET_BYTES / 2 * 3);
    rig_expect_big(&r, 0, BIG);
    rig_ack(&r, BIG_FRAMES, 1);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    rig_free(&r);
}

/*
 * The peer closes a full socket in the middle of a frame: the next connection begins
 * with a whole frame.
 */
static void test_cut(void)
{
    const size_t some = 10 * frame_bytes(ROCE_OP_WRITE_MIDDLE, MTU) + 1000;
    Rig r = rig_new();

    pvrdma_wire_connect(r.t, r.path);
    rig_put(&r, 1, BIG);
    pvrdma_ring_send(r.t, &r.qp);
    rig_read_all(&r, some, some);
    g_byte_array_set_size(r.bytes, 0);
    rig_full(&r);
    pvrdma_wire_cut(r.t);
    pvrdma_wire_connect(r.t, r.path);
    qtest_clock_step(r.t->qts, PVRDMA_SECOND);  /* longer than the timeout of the QP */
    rig_expect_big(&r, 0, BIG);
    rig_ack(&r, BIG_FRAMES, 1);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(pvrdma_counter(r.t, "timeout"), >, 0);
    rig_free(&r);
}

/* A frame is lost while no peer is connected; the QP sends it again. */
static void test_nobody(void)
{
    Rig r = rig_new();

    rig_put(&r, 1, SMALL);
    pvrdma_ring_send(r.t, &r.qp);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-frames"), ==, 1);
    pvrdma_wire_connect(r.t, r.path);
    g_assert_cmpuint(rig_read(&r, BIG), ==, 0);
    qtest_clock_step(r.t->qts, PVRDMA_SECOND);
    rig_read_all(&r, frame_bytes(ROCE_OP_WRITE_ONLY, SMALL), BIG);
    rig_expect(&r, 0, ROCE_OP_WRITE_ONLY, 0, SMALL);
    rig_ack(&r, 1, 1);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    rig_free(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/port/stream-doorbell", test_doorbell);
    qtest_add_func("/pvrdma/port/stream-slow", test_slow);
    qtest_add_func("/pvrdma/port/stream-buffer", test_buffer);
    qtest_add_func("/pvrdma/port/stream-cut", test_cut);
    qtest_add_func("/pvrdma/port/stream-nobody", test_nobody);
    return g_test_run();
}
