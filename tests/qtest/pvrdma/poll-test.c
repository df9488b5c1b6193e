/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A processor polls a CQ, and so takes frames from the netdev itself: the machine runs
 * by TCG the loop that the test gives it.  Time is real here, but no result depends on
 * how long something takes.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <sys/ioctl.h>
#include "verbs.h"
#include "../common/machine.h"
#include "../common/msi-source.h"
#include "../common/vcpu.h"

#define QKEY 0x11111111
#define PEER_QPN 0x4321
#define VA 0x7f0000001000ULL
#define BYTES 65536
#define BIG (1 << 20)
#define ENTRIES 64                  /* of the CQ and the receive queue */
#define FRAMES 48                   /* number of frames of a round */
#define LENGTH 500
#define SLOT_BYTES 1024             /* bytes of a receive buffer: GRH and datagram */
#define TOO_LONG 69632              /* NET_BUFSIZE: no frame can be longer */

typedef struct Rig {
    PvrdmaTest *t;
    char *path;                     /* of the socket of the wire */
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    uint32_t received;              /* number of all datagrams received */
    /* device that stores to the doorbell by a message; NULL: the processor stores */
    MsiSource *source;
} Rig;

static char *bios_path;

/*
 * Starts the machine with the accelerator @accel and the QEMU options @options by @start,
 * and does not run it.
 */
static Rig rig_start_by(PvrdmaTest *(*start)(const char *path, const char *props),
                        const char *accel, const char *options)
{
    g_autofree char *props = g_strdup_printf("%s -accel %s -bios %s -S", options,
                                             accel, bios_path);
    Rig r = { .path = g_strdup_printf("%s.sock", bios_path) };

    r.t = start(r.path, props);
    return r;
}

static Rig rig_start_cold(const char *accel, const char *options)
{
    return rig_start_by(pvrdma_start_server, accel, options);
}

static void rig_run(Rig *r)
{
    uint32_t pd;

    qtest_qmp_assert_success(r->t->qts, "{ 'execute': 'cont' }");
    pvrdma_wire_connect(r->t, r->path);
    pd = pvrdma_pd_create(r->t, 0);
    r->cq = pvrdma_cq_create(r->t, 0, 0, ENTRIES);
    r->mr = pvrdma_mr_create(r->t, pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    r->qp = pvrdma_qp_create(r->t, &(PvrdmaTestQpInit) {
        .type = PVRDMA_QPT_UD, .pd = pd, .send_cq = &r->cq, .recv_cq = &r->cq,
        .recv_wr = ENTRIES,
    });
    pvrdma_qp_connect(r->t, &r->qp, &(PvrdmaTestQpAttr) { .qkey = QKEY });
}

static Rig rig_start(const char *accel)
{
    Rig r = rig_start_cold(accel, "");

    rig_run(&r);
    return r;
}

static void rig_stop(Rig *r)
{
    pvrdma_cq_assert_empty(r->t, &r->cq);
    pvrdma_stop(r->t);
    unlink(r->path);
    g_free(r->path);
}

/*
 * Runs a program that polls until @count more datagrams have arrived: the processor
 * stores to the doorbell, or triggers a message of @source to the doorbell.
 */
static void poll_go(Rig *r, uint32_t count)
{
    uint32_t tail = r->cq.at + offsetof(struct pvrdma_ring_state, rx) +
                    offsetof(struct pvrdma_ring, prod_tail);
    VcpuCode code = { .len = 0 };

    /* again: doorbell = poll; if (tail != expected tail) jmp again */
    if (r->source) {
        msi_source_emit(&code, r->source);
    } else {
        vcpu_emit(&code, "\xc7\x05", 2, r->t->uar.addr + PVRDMA_UAR_CQ_OFFSET);
        vcpu_emit(&code, "", 0, PVRDMA_UAR_CQ_POLL | r->cq.handle);
    }
    vcpu_emit(&code, "\x81\x3d", 2, tail);
    vcpu_emit(&code, "", 0, (r->received + count) % (2 * ENTRIES));
    vcpu_emit(&code, "\x0f\x85", 2, -(code.len + 6));
    vcpu_go(r->t->qts, &code);
}

static void fill(uint8_t *data, uint32_t i)
{
    for (unsigned n = 0; n < LENGTH; n++) {
        data[n] = 7 * i + 13 * n;
    }
}

static void recv_post(Rig *r, uint32_t i)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, i % FRAMES * SLOT_BYTES,
                                        SLOT_BYTES);

    pvrdma_post_recv(r->t, &r->qp, 1000 + i, &sge, 1);
}

static void peer_send(Rig *r, uint32_t i)
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_UD_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
        .qpn = r->qp.qpn, .psn = i, .qkey = QKEY, .src_qpn = PEER_QPN,
    };
    uint8_t data[LENGTH];

    fill(data, i);
    pvrdma_wire_send(r->t, &path, &pkt, data, sizeof(data));
}

static void assert_received(Rig *r, uint32_t i)
{
    struct pvrdma_cqe cqe = pvrdma_cq_expect(r->t, &r->cq, 1000 + i,
                                             PVRDMA_WC_SUCCESS);
    uint8_t data[LENGTH];

    g_assert_cmpuint(le32_to_cpu(cqe.byte_len), ==, ROCE_GRH_BYTES + LENGTH);
    fill(data, i);
    pvrdma_assert_mem(r->t, r->mr.pa + i % FRAMES * SLOT_BYTES + ROCE_GRH_BYTES,
                      data, sizeof(data));
}

/*
 * Sends @count datagrams while the processor polls; asserts that each arrives once, in
 * order.
 */
static void round_of(Rig *r, uint32_t count)
{
    uint32_t first = r->received;

    for (uint32_t i = 0; i < count; i++) {
        recv_post(r, first + i);
    }
    poll_go(r, count);
    for (uint32_t i = 0; i < count; i++) {
        peer_send(r, first + i);
        g_usleep(100); /* the processor polls for some time before the next frame */
    }
    pvrdma_wait(r->t, vcpu_is_done(r->t->qts));
    for (uint32_t i = 0; i < count; i++) {
        assert_received(r, first + i);
    }
    r->received += count;
}

/*
 * Sends rounds of frames until the processor has taken one, because the main loop may
 * take all frames of a round.
 */
static void check_frames(const char *accel)
{
    Rig r = rig_start(accel);

    pvrdma_wait(r.t, (round_of(&r, FRAMES),
                      pvrdma_counter(r.t, "rx-polled") > 0));
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-frames"), ==, r.received);
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-polled"), <=, r.received);
    rig_stop(&r);
}

static void test_frames(void)
{
    check_frames("tcg");
}

/* All processors of the machine share one thread of QEMU. */
static void test_frames_single(void)
{
    check_frames("tcg,thread=single");
}

/*
 * A doorbell that another device's message rings takes no frames, because that device
 * is at work and relies on the big lock.
 */
static void test_message(void)
{
    Rig r = rig_start_cold("tcg", MSI_SOURCE_OPTIONS);
    MsiSource source = msi_source_start(r.t->bus);

    rig_run(&r);
    msi_source_aim(&source, r.t->uar.addr + PVRDMA_UAR_CQ_OFFSET,
                   PVRDMA_UAR_CQ_POLL | r.cq.handle);
    r.source = &source;
    for (unsigned i = 0; i < 4; i++) {
        round_of(&r, FRAMES);
    }
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-polled"), ==, 0);
    rig_stop(&r);
}

/* The processor leaves the end of the connection to the main loop. */
static void test_cut(void)
{
    Rig r = rig_start("tcg");

    recv_post(&r, 0);
    poll_go(&r, 1);
    pvrdma_wire_cut(r.t);
    pvrdma_wire_connect(r.t, r.path);
    g_assert_false(vcpu_is_done(r.t->qts));
    peer_send(&r, 0);
    pvrdma_wait(r.t, vcpu_is_done(r.t->qts));
    assert_received(&r, 0);
    r.received = 1;
    round_of(&r, FRAMES);
    rig_stop(&r);
}

/*
 * The processor also leaves a frame that is too long to the main loop, which ends the
 * connection.
 */
static void test_too_long(void)
{
    static const uint8_t head[] = { 0x7f, 0xff, 0xff, 0xff };
    static const uint8_t body[TOO_LONG];
    Rig r = rig_start("tcg");
    size_t sent = 0;

    recv_post(&r, 0);
    poll_go(&r, 1);
    g_assert_cmpint(write(r.t->wire.fd, head, sizeof(head)), ==, sizeof(head));
    while (sent < 2 * sizeof(body)) {
        ssize_t n = send(r.t->wire.fd, body, sizeof(body), MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN) {
            break;
        }
        sent += MAX(n, 0);
    }
    pvrdma_wire_connect(r.t, r.path);
    g_assert_false(vcpu_is_done(r.t->qts));
    peer_send(&r, 0);
    pvrdma_wait(r.t, vcpu_is_done(r.t->qts));
    assert_received(&r, 0);
    rig_stop(&r);
}

/* Returns the number of bytes that the peer has not read. */
static int unread(Rig *r)
{
    int bytes;

    g_assert_cmpint(ioctl(r->t->wire.fd, FIONREAD, &bytes), ==, 0);
    return bytes;
}

/* Lets the device send a WRITE that is longer than the socket has room. */
static void fill_socket(Rig *r)
{
    uint32_t pd = pvrdma_pd_create(r->t, 0);
    PvrdmaTestMr mr = pvrdma_mr_create(r->t, pd, 2 * VA, BIG, PVRDMA_TEST_ACCESS_ALL);
    PvrdmaTestQp qp = pvrdma_qp_create(r->t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &r->cq,
    });
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&mr, 0, BIG);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(1, PVRDMA_WR_RDMA_WRITE, VA, 1);
    int before;

    pvrdma_qp_connect(r->t, &qp, &(PvrdmaTestQpAttr) {
        .mtu = PVRDMA_MTU_4096, .dest_qpn = PEER_QPN, .timeout = PVRDMA_TEST_NEVER,
    });
    pvrdma_put_send(r->t, &qp, &hdr, &sge, 1);
    pvrdma_ring_send(r->t, &qp);
    do {
        before = unread(r);
        wait_settle(pvrdma_get(r->t, PVRDMA_REG_VERSION));
    } while (unread(r) != before);
    g_assert_cmpint(before, <, BIG);
}

/*
 * A poll writes frames for which the socket has room again.  The main loop does not,
 * because Linux reports a Unix socket as writable only if three quarters of it are free.
 */
static void test_full(void)
{
    Rig r = rig_start("tcg");
    g_autofree uint8_t *buf = NULL;
    int full, part;

    recv_post(&r, 0);
    fill_socket(&r);
    full = unread(&r);
    part = full / 4;
    buf = g_malloc(part);
    g_assert_cmpint(recv(r.t->wire.fd, buf, part, MSG_DONTWAIT), ==, part);
    wait_settle(pvrdma_get(r.t, PVRDMA_REG_VERSION));
    g_assert_cmpint(unread(&r), ==, full - part);
    poll_go(&r, 1);
    wait_until(unread(&r) > full - part, wait_pause());
    g_assert_false(vcpu_is_done(r.t->qts));
    peer_send(&r, 0);
    wait_until(vcpu_is_done(r.t->qts), wait_pause());
    assert_received(&r, 0);
    pvrdma_wire_cut(r.t);
    rig_stop(&r);
}

static bool has_guest_errors(Rig *r)
{
    struct stat st;

    return stat(r->t->log, &st) == 0 && st.st_size > 0;
}

/* The device that a processor polls is reset. */
static void test_reset(void)
{
    Rig r = rig_start("tcg");

    poll_go(&r, 1);
    pvrdma_ctl(r.t, PVRDMA_DEVICE_CTL_RESET);
    pvrdma_settle(r.t);
    g_assert_false(vcpu_is_done(r.t->qts));
    /*
     * the processor still polls, which is a guest error because the device is not
     * active
     */
    r.t->guest_errors = true;
    pvrdma_wait(r.t, has_guest_errors(&r));
    /* ends the loop, because the device no longer writes the index */
    qtest_writel(r.t->qts, r.cq.at + offsetof(struct pvrdma_ring_state, rx) +
                 offsetof(struct pvrdma_ring, prod_tail), 1);
    pvrdma_wait(r.t, vcpu_is_done(r.t->qts));
    pvrdma_stop(r.t);
    unlink(r.path);
    g_free(r.path);
}

/*
 * On a hub with another NIC a poll takes no frames: the main loop brings each frame to
 * both NICs.  The trace event shows that the processor polls.
 */
static void test_hub(void)
{
    Rig r = rig_start_by(pvrdma_start_hub_server, "tcg", "");
    g_autofree char *log = NULL;

    rig_run(&r);
    machine_trace(r.t->qts, "pvrdma_poll", true);
    round_of(&r, FRAMES);
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-polled"), ==, 0);
    g_assert_true(g_file_get_contents(r.t->log, &log, NULL, NULL));
    g_assert_nonnull(strstr(log, "pvrdma_poll wire: 0 frames"));
    rig_stop(&r);
}

int main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    bios_path = vcpu_bios_new();
    qtest_add_func("/pvrdma/poll/frames", test_frames);
    qtest_add_func("/pvrdma/poll/frames-single", test_frames_single);
    qtest_add_func("/pvrdma/poll/message", test_message);
    qtest_add_func("/pvrdma/poll/cut", test_cut);
    qtest_add_func("/pvrdma/poll/too-long", test_too_long);
    qtest_add_func("/pvrdma/poll/full", test_full);
    qtest_add_func("/pvrdma/poll/reset", test_reset);
    qtest_add_func("/pvrdma/poll/hub", test_hub);
    status = g_test_run();
    vcpu_bios_remove(bios_path);
    return status;
}
