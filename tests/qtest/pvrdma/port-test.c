/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire that pvrdma shares with the NIC beside it: which frames the device takes,
 * what filters see, a netdev that is full, links, frames to itself, unplugging.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "net/eth.h"
#include "libqos/pci-pc.h"
#include "qobject/qdict.h"
#include "verbs.h"

#define NOBODY          0x00abcdef      /* no QP has this number */
#define PORT            1
#define LINK_NS         (500 * 1000 * 1000LL)
#define PCAP_HEADER     24
#define PCAP_RECORD     16
#define MTU             4096
#define BIG             (1 << 20)
#define BIG_FRAMES      (BIG / MTU)
#define BIG_TIMES       4

/* --- Helpers ------------------------------------------------------------- */
/*
 * Makes a valid frame to a QP that does not exist, which the device counts and drops;
 * returns its length.
 */
static size_t stray(uint8_t frame[ROCE_FRAME_MAX])
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT, .qpn = NOBODY,
    };
    size_t at = roce_frame_begin(frame, &path, &pkt);

    memset(frame + at, 0x5a, 64);
    return roce_frame_end(frame, at, 64);
}

static void answer_ok(QDict *answer)
{
    g_assert_true(qdict_haskey(answer, "return"));
    qobject_unref(answer);
}

/* Runs a QMP command that must succeed. */
#define qmp_ok(t, ...) answer_ok(qtest_qmp((t)->qts, __VA_ARGS__))

static void set_link(PvrdmaTest *t, bool up)
{
    qmp_ok(t, "{ 'execute': 'set_link', 'arguments': { 'name': 'wire', "
           "'up': %i } }", up);
}

/* The file of a capture, and its contents when it was last read. */
typedef struct Capture {
    char *file;
    uint8_t *data;
    size_t len;
} Capture;

static Capture capture_new(void)
{
    Capture c = { };
    int fd = g_file_open_tmp("pvrdma-port-XXXXXX", &c.file, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    return c;
}

static void capture_free(Capture *c)
{
    unlink(c->file);
    g_free(c->file);
    g_free(c->data);
}

/*
 * Returns frame @n of the capture and its length, or NULL if there are fewer complete
 * frames.
 */
static const uint8_t *capture_frame(Capture *c, unsigned n, size_t *len)
{
    size_t at = PCAP_HEADER;

    g_clear_pointer(&c->data, g_free);
    g_assert_true(g_file_get_contents(c->file, (char **)&c->data, &c->len, NULL));
    while (at + PCAP_RECORD <= c->len) {
        *len = ldl_he_p(c->data + at + 8);
        at += PCAP_RECORD;
        if (at + *len > c->len) {
            break;
        }
        if (!n--) {
            return c->data + at;
        }
        at += *len;
    }
    return NULL;
}

/* Captures the frames that the device passes on to the NIC beside it. */
static Capture capture_behind(PvrdmaTest *t)
{
    Capture c = capture_new();

    qmp_ok(t, "{ 'execute': 'object-add', 'arguments': { 'qom-type': "
           "'filter-dump', 'id': 'behind', 'netdev': 'wire', 'queue': 'tx', "
           "'file': %s } }", c.file);
    return c;
}

/* --- Whose frame it is --------------------------------------------------- */
typedef void Change(uint8_t *frame);

static void change_mac(uint8_t *frame)
{
    frame[5] ^= 1;
}

static void change_port(uint8_t *frame)
{
    stw_be_p(frame + 14 + 20 + 2, ROCE_UDP_PORT - 1);
}

static void change_protocol(uint8_t *frame)
{
    frame[14 + 9] = 6;
}

static void change_ethertype(uint8_t *frame)
{
    stw_be_p(frame + 12, ETH_P_ARP);
}

static void change_nothing(uint8_t *frame)
{
}

static void change_multicast(uint8_t *frame)
{
    static const uint8_t mac[] = { 1, 0, 0x5e, 1, 2, 3 };

    memcpy(frame, mac, sizeof(mac));
}

static void change_broadcast(uint8_t *frame)
{
    memset(frame, 0xff, 6);
}

/* A frame that is not for the device reaches the NIC unchanged, and is not counted. */
static void test_passes(gconstpointer opaque)
{
    PvrdmaTest *t = pvrdma_start("");
    Capture c = capture_behind(t);
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame), got_len;
    const uint8_t *got;

    ((Change *)opaque)(frame);
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, (got = capture_frame(&c, 0, &got_len)));
    g_assert_cmpmem(got, got_len, frame, len);
    g_assert_cmpuint(pvrdma_counter(t, "rx-frames"), ==, 0);
    pvrdma_stop(t);
    capture_free(&c);
}

/* A frame for the device is counted, and the NIC never gets it. */
static void test_taken(gconstpointer opaque)
{
    PvrdmaTest *t = pvrdma_start("");
    Capture c = capture_behind(t);
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame);

    ((Change *)opaque)(frame);
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, pvrdma_counter(t, "rx-no-qp") == 1);
    g_assert_cmpuint(pvrdma_counter(t, "rx-frames"), ==, 1);
    g_assert_cmpuint(pvrdma_counter(t, "rx-bytes"), ==, len);
    g_assert_null(capture_frame(&c, 0, &len));
    pvrdma_stop(t);
    capture_free(&c);
}

/* Before the driver activates the device, RoCE frames reach the NIC. */
static void test_inactive(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");
    Capture c = capture_behind(t);
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame), got_len;
    const uint8_t *got;

    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, (got = capture_frame(&c, 0, &got_len)));
    g_assert_cmpmem(got, got_len, frame, len);
    pvrdma_stop(t);
    capture_free(&c);
}

/* After a reset RoCE frames reach the NIC. */
static void test_reset(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Capture c = capture_behind(t);
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame), got_len;

    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, pvrdma_counter(t, "rx-no-qp") == 1);
    pvrdma_ctl(t, PVRDMA_DEVICE_CTL_RESET);
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, capture_frame(&c, 0, &got_len));
    g_assert_cmpuint(got_len, ==, len);
    pvrdma_stop(t);
    capture_free(&c);
}

/* A RoCE frame with an error is for the device, too, which counts the reason. */
static void test_bad(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame);

    frame[len - 1] ^= 1;
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, pvrdma_counter(t, "rx-bad-icrc") == 1);
    frame[len - 1] ^= 1;
    frame[14 + 8]--; /* wrong time to live, because the checksum is not changed */
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, pvrdma_counter(t, "rx-bad-ip") == 1);
    len = stray(frame);
    pvrdma_wire_send_raw(t, frame, len - 8);
    pvrdma_wait(t, pvrdma_counter(t, "rx-bad-length") == 1);
    g_assert_cmpuint(pvrdma_counter(t, "rx-frames"), ==, 3);
    pvrdma_stop(t);
}

/* --- Machine that stands still ------------------------------------------- */
static void test_stopped(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame);

    qmp_ok(t, "{ 'execute': 'stop' }");
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_settle(t);
    g_assert_cmpuint(pvrdma_counter(t, "rx-frames"), ==, 0);
    qmp_ok(t, "{ 'execute': 'cont' }");
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, pvrdma_counter(t, "rx-frames") == 1);
    pvrdma_stop(t);
}

/* --- Link ---------------------------------------------------------------- */
static void test_link(void)
{
    PvrdmaTest *t = pvrdma_start("");
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = stray(frame);

    pvrdma_step(t, 3 * LINK_NS);
    g_assert_true(pvrdma_event_none(t));
    for (unsigned round = 0; round < 3; round++) {
        set_link(t, false);
        g_assert_true(pvrdma_event_none(t));
        pvrdma_step(t, LINK_NS);
        pvrdma_event_take(t, PVRDMA_EVENT_PORT_ERR, PORT);
        pvrdma_step(t, 3 * LINK_NS);
        g_assert_true(pvrdma_event_none(t));
        set_link(t, true);
        pvrdma_step(t, LINK_NS);
        pvrdma_event_take(t, PVRDMA_EVENT_PORT_ACTIVE, PORT);
    }
    pvrdma_wire_send_raw(t, frame, len);
    pvrdma_wait(t, pvrdma_counter(t, "rx-frames") == 1);
    pvrdma_stop(t);
}

/* --- Traffic ------------------------------------------------------------- */
typedef struct Rig {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr; /* BIG bytes to send from, and BIG bytes to receive to */
    PvrdmaTestQp qp;
} Rig;

static PvrdmaTestQp rig_qp(Rig *r)
{
    PvrdmaTestQpInit init = {
        .pd = r->pd, .send_cq = &r->cq, .recv_cq = &r->cq,
    };

    return pvrdma_qp_create(r->t, &init);
}

static Rig rig_new(const char *props)
{
    Rig r = { .t = pvrdma_start(props) };

    r.pd = pvrdma_pd_create(r.t, 0);
    r.cq = pvrdma_cq_create(r.t, 0, 0, 64);
    r.mr = pvrdma_mr_create(r.t, r.pd, 0x10000000, 2 * BIG,
                            PVRDMA_TEST_ACCESS_ALL);
    r.qp = rig_qp(&r);
    return r;
}

static void rig_write(Rig *r, uint64_t wr_id, uint32_t len, uint64_t remote,
                      uint32_t rkey)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, len);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(
        wr_id, PVRDMA_WR_RDMA_WRITE, remote, rkey);

    pvrdma_post_send(r->t, &r->qp, &hdr, &sge, 1);
}

static void rig_ack(Rig *r, uint32_t psn, uint32_t msn)
{
    RocePath path = pvrdma_path(false, false);
    RocePacket pkt = {
        .opcode = ROCE_OP_ACK, .pkey = ROCE_PKEY_DEFAULT, .qpn = r->qp.qpn,
        .psn = psn, .msn = msn, .syndrome = ROCE_AETH_NO_CREDITS,
    };

    pvrdma_wire_send(r->t, &path, &pkt, NULL, 0);
}

static const PvrdmaTestQpAttr attr = {
    .mtu = PVRDMA_MTU_4096, .dest_qpn = 0x123, .sq_psn = 0xffff80,
    .timeout = PVRDMA_TEST_NEVER,
};

/* Takes a frame; asserts that it is packet @n of WRITEs of @of packets each. */
static void expect_packet(Rig *r, unsigned n, unsigned of)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(
        r->t, n % of == 0 ? ROCE_OP_WRITE_FIRST :
              n % of == of - 1 ? ROCE_OP_WRITE_LAST : ROCE_OP_WRITE_MIDDLE,
        attr.dest_qpn, roce_psn_add(attr.sq_psn, n));
    g_autofree uint8_t *want = g_malloc(MTU);

    qtest_memread(r->t->qts, r->mr.pa + n % of * MTU, want, MTU);
    g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len, want, MTU);
}

/*
 * A peer that does not read: the device stops when the socket is full, before the QP
 * has sent all.  Then the peer reads, and gets each frame once and in order.
 */
static void test_back_pressure(void)
{
    Rig r = rig_new("");
    PvrdmaTest *t = r.t;
    unsigned frames = BIG_TIMES * BIG_FRAMES;
    uint64_t sent;

    pvrdma_qp_connect(t, &r.qp, &attr);
    pvrdma_fill(t, r.mr.pa, NULL, BIG, 1);
    for (unsigned i = 0; i < BIG_TIMES; i++) {
        rig_write(&r, i, BIG, 0x5000, 0x77);
    }
    for (unsigned i = 0; i < 1000; i++) {
        pvrdma_get(t, PVRDMA_REG_VERSION);
    }
    sent = pvrdma_counter(t, "tx-frames");
    g_assert_cmpuint(sent, >, 1);
    g_assert_cmpuint(sent, <, 200);
    /* the device sends nothing while time passes */
    qtest_clock_step(t->qts, 10 * LINK_NS);
    g_assert_cmpuint(pvrdma_counter(t, "tx-frames"), ==, sent);
    for (unsigned n = 0; n < frames; n++) {
        expect_packet(&r, n, BIG_FRAMES);
        if (n % 64 == 63) {
            rig_ack(&r, roce_psn_add(attr.sq_psn, n), (n + 1) / BIG_FRAMES);
        }
    }
    g_assert_cmpuint(pvrdma_counter(t, "tx-frames"), ==, frames);
    g_assert_cmpuint(pvrdma_counter(t, "tx-retry"), ==, 0);
    for (unsigned i = 0; i < BIG_TIMES; i++) {
        pvrdma_cq_expect(t, &r.cq, i, PVRDMA_WC_SUCCESS);
    }
    pvrdma_stop(t);
}

/* Lets time pass in small steps, and reads nothing. */
static void unread_step(PvrdmaTest *t, int64_t ns)
{
    for (unsigned i = 0; i < 1000; i++) {
        pvrdma_get(t, PVRDMA_REG_VERSION);
    }
    for (; ns > 0; ns -= LINK_NS / 10) {
        qtest_clock_step(t->qts, LINK_NS / 10);
    }
}

/*
 * After ten seconds without reading, a peer is as good as absent: the QP retries and
 * fails.  When the peer reads again, another QP can send to it.
 */
static void test_stuck(void)
{
    static const PvrdmaTestQpAttr impatient = {
        .mtu = PVRDMA_MTU_4096, .dest_qpn = 0x123, .timeout = 14, .retry_cnt = 1,
    };
    Rig r = rig_new("");
    PvrdmaTest *t = r.t;
    PvrdmaTestQp other = rig_qp(&r);

    pvrdma_qp_connect(t, &r.qp, &impatient);
    rig_write(&r, 0, BIG, 0x5000, 0x77);
    unread_step(t, 9 * PVRDMA_SECOND);
    g_assert_cmpuint(pvrdma_counter(t, "timeout"), ==, 0);
    unread_step(t, 3 * PVRDMA_SECOND);
    g_assert_cmpuint(pvrdma_counter(t, "timeout"), ==, 2);
    pvrdma_cq_expect(t, &r.cq, 0, PVRDMA_WC_RETRY_EXC_ERR);
    /* the frames that the socket and the netdev still had */
    pvrdma_settle(t);
    while (!g_queue_is_empty(&t->frames)) {
        g_autofree PvrdmaFrame *f = g_queue_pop_head(&t->frames);

        g_assert_cmpuint(f->pkt.psn, <, BIG_FRAMES - 1);
    }
    pvrdma_qp_connect(t, &other, &attr);
    r.qp = other;
    rig_write(&r, 1, 8, 0x5000, 0x77);
    g_free(pvrdma_wire_expect(t, ROCE_OP_WRITE_ONLY, attr.dest_qpn, attr.sq_psn));
    pvrdma_stop(t);
}

/* The device counts and drops frames of zero bytes, because not all NICs accept them. */
static void test_empty(void)
{
    static const uint8_t other[60];
    Rig r = rig_new("");

    for (unsigned i = 0; i < 3; i++) {
        pvrdma_wire_send_raw(r.t, other, 0);
    }
    pvrdma_wire_send_raw(r.t, other, sizeof(other));
    pvrdma_wait(r.t, pvrdma_counter(r.t, "rx-bad-length") == 3);
    g_assert_cmpuint(pvrdma_counter(r.t, "rx-frames"), ==, 0);
    pvrdma_stop(r.t);
}

/* A filter that is older than the device sees both directions, each frame unchanged. */
static void test_dump(void)
{
    Capture c = capture_new();
    g_autofree char *props = g_strdup_printf(
        " -object filter-dump,id=dump,netdev=wire,file=%s", c.file);
    Rig r = rig_new(props);
    g_autofree PvrdmaFrame *f = NULL;
    const uint8_t *got;
    size_t len;

    pvrdma_qp_connect(r.t, &r.qp, &attr);
    rig_write(&r, 1, 8, 0x5000, 0x77);
    f = pvrdma_wire_take(r.t);
    got = capture_frame(&c, 0, &len);
    g_assert_nonnull(got);
    g_assert_cmpmem(got, len, f->buf, f->len);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-bytes"), ==, len);
    rig_ack(&r, attr.sq_psn, 1);
    pvrdma_cq_expect(r.t, &r.cq, 1, PVRDMA_WC_SUCCESS);
    got = capture_frame(&c, 1, &len);
    g_assert_nonnull(got);
    g_assert_true(roce_frame_is(got, len));
    g_assert_null(capture_frame(&c, 2, &len));
    pvrdma_stop(r.t);
    capture_free(&c);
}

/* While the link is down, sent frames are lost; later frames are sent. */
static void test_link_loss(void)
{
    Rig r = rig_new("");

    pvrdma_qp_connect(r.t, &r.qp, &attr);
    set_link(r.t, false);
    rig_write(&r, 1, 8, 0x5000, 0x77);
    pvrdma_settle(r.t);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-frames"), ==, 0);
    set_link(r.t, true);
    rig_write(&r, 2, 8, 0x5000, 0x77);
    g_free(pvrdma_wire_expect(r.t, ROCE_OP_WRITE_ONLY, attr.dest_qpn,
                              roce_psn_add(attr.sq_psn, 1)));
    pvrdma_stop(r.t);
}

/* A frame shorter than Ethernet's minimum is filled up with zeroes. */
static void test_minimum(void)
{
    Rig r = rig_new("");
    g_autofree PvrdmaFrame *f = NULL;
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);

    pvrdma_qp_connect(r.t, &r.qp, &attr);
    pvrdma_post_send(r.t, &r.qp, &hdr, NULL, 0);
    f = pvrdma_wire_expect(r.t, ROCE_OP_SEND_ONLY, attr.dest_qpn, attr.sq_psn);
    g_assert_cmpuint(f->len, ==, ETH_ZLEN);
    g_assert_cmphex(lduw_be_p(f->buf + f->len - 2), ==, 0);
    pvrdma_stop(r.t);
}

/* Two QPs of one device use no wire: no frame is on it. */
static void test_loop(void)
{
    Rig r = rig_new("");
    PvrdmaTestQp other = rig_qp(&r);
    PvrdmaTestQpAttr a = { .mtu = PVRDMA_MTU_4096 };
    g_autofree uint8_t *want = g_malloc(BIG);

    pvrdma_qp_pair(r.t, &r.qp, &other, &a);
    pvrdma_fill(r.t, r.mr.pa, want, BIG, 3);
    rig_write(&r, 7, BIG, r.mr.va + BIG, r.mr.rkey);
    pvrdma_cq_expect(r.t, &r.cq, 7, PVRDMA_WC_SUCCESS);
    pvrdma_assert_mem(r.t, r.mr.pa + BIG, want, BIG);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-retry"), ==, 0);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-frames"), >, BIG_FRAMES);
    g_assert_cmpuint(pvrdma_counter(r.t, "tx-frames"), ==,
                     pvrdma_counter(r.t, "rx-frames"));
    pvrdma_assert_quiet(r.t);
    pvrdma_stop(r.t);
}

/* With -m perf: measures the time of a frame from the device to itself. */
static void test_speed_loop(void)
{
    const unsigned rounds = 1000;
    Rig r = rig_new("");
    PvrdmaTestQp other = rig_qp(&r);
    PvrdmaTestQpAttr a = { .mtu = PVRDMA_MTU_4096 };

    pvrdma_qp_pair(r.t, &r.qp, &other, &a);
    g_test_timer_start();
    for (unsigned n = 0; n < rounds; n++) {
        rig_write(&r, n, BIG, r.mr.va + BIG, r.mr.rkey);
        pvrdma_cq_expect(r.t, &r.cq, n, PVRDMA_WC_SUCCESS);
    }
    g_test_message("loop: %.0f ns a frame", g_test_timer_elapsed() * 1e9 /
                   (rounds * BIG_FRAMES));
    pvrdma_stop(r.t);
}

static void test_speed_wire(void)
{
    const unsigned rounds = 400;
    Rig r = rig_new("");

    pvrdma_qp_connect(r.t, &r.qp, &attr);
    g_test_timer_start();
    for (unsigned n = 0; n < rounds; n++) {
        rig_write(&r, n, BIG, 0x5000, 0x77);
        for (unsigned i = 0; i < BIG_FRAMES; i++) {
            g_free(pvrdma_wire_take(r.t));
        }
        rig_ack(&r, roce_psn_add(attr.sq_psn, (n + 1) * BIG_FRAMES - 1), n + 1);
        pvrdma_cq_expect(r.t, &r.cq, n, PVRDMA_WC_SUCCESS);
    }
    g_test_message("wire: %.0f ns a frame, the test's share included",
                   g_test_timer_elapsed() * 1e9 / (rounds * BIG_FRAMES));
    pvrdma_stop(r.t);
}

/* --- Things that go away ------------------------------------------------- */
/* The netdev is deleted while frames of the device wait in its queue. */
static void test_netdev_del(void)
{
    Rig r = rig_new("");

    pvrdma_qp_connect(r.t, &r.qp, &attr);
    rig_write(&r, 1, BIG, 0x5000, 0x77);
    qmp_ok(r.t, "{ 'execute': 'netdev_del', 'arguments': { 'id': 'wire' } }");
    pvrdma_step(r.t, LINK_NS);
    pvrdma_event_take(r.t, PVRDMA_EVENT_PORT_ERR, PORT);
    g_assert_cmphex(pvrdma_get(r.t, PVRDMA_REG_MACL), ==, 0);
    g_assert_cmphex(pvrdma_get(r.t, PVRDMA_REG_MACH), ==, 0);
    /* frames from the socket now are those that it held before */
    rig_write(&r, 2, 64, 0x5000, 0x77);
    pvrdma_settle(r.t);
    while (!g_queue_is_empty(&r.t->frames)) {
        g_free(g_queue_pop_head(&r.t->frames));
    }
    pvrdma_stop(r.t);
}

/* All functions of the slot are unplugged, and another NIC gets their netdev. */
static void test_unplug(void)
{
    WirePeer wire;
    g_autofree char *netdev = NULL;
    QTestState *qts;

    wire_peer_init(&wire, false, 65536);
    netdev = wire_peer_netdev(&wire);
    qts = qtest_initf("-machine pc -nodefaults -netdev %s,id=wire "
                      "-device vmxnet3,id=nic,netdev=wire,addr=5.0,"
                      "multifunction=on -device pvrdma,id=rdma,addr=5.1",
                      netdev);
    wire_peer_started(&wire);
    qtest_qmp_device_del_send(qts, "nic");
    qtest_outl(qts, 0xae08, 1 << 5);
    qtest_qmp_eventwait(qts, "DEVICE_DELETED");
    /* another device can use the netdev */
    qtest_qmp_device_add(qts, "vmxnet3", "again",
                         "{ 'netdev': 'wire', 'addr': '6' }");
    qtest_clock_step(qts, 10 * LINK_NS);
    qtest_quit(qts);
    wire_peer_fini(&wire);
}

/* --- Command line -------------------------------------------------------- */
static void run_qemu(const char *devices, int exit_code, const char *message)
{
    g_autofree char *command = g_strdup_printf(
        "%s -machine q35 -nodefaults -display none -S -accel qtest "
        "-netdev hubport,hubid=0,id=wire %s", getenv("QTEST_QEMU_BINARY"),
        devices);
    g_autofree char *err = NULL;
    int status;

    g_assert_true(g_spawn_command_line_sync(command, NULL, &err, &status, NULL));
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, exit_code);
    g_assert_nonnull(strstr(err, message));
    g_assert_cmpuint(strlen(err), <, 300);
}

/* A netdev can have one pvrdma only. */
static void test_second(void)
{
    run_qemu("-device vmxnet3,netdev=wire,addr=5.0,multifunction=on "
             "-device pvrdma,addr=5.1 -device pvrdma,addr=5.2", 1,
             "netdev 'wire' already has a pvrdma");
}

/* Adds one test for each change of a frame. */
static void add_frame_tests(void)
{
    static const struct {
        const char *name;
        Change *change;
        bool taken;
    } cases[] = {
        { "other-mac", change_mac, false },
        { "other-port", change_port, false },
        { "tcp", change_protocol, false },
        { "arp", change_ethertype, false },
        { "ours", change_nothing, true },
        { "multicast", change_multicast, true },
        { "broadcast", change_broadcast, true },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        bool taken = cases[i].taken;
        const char *group = taken ? "taken" : "passes";
        void (*test)(const void *) = taken ? test_taken : test_passes;
        g_autofree char *path = g_strdup_printf("/pvrdma/port/%s-%s", group,
                                                cases[i].name);

        qtest_add_data_func(path, cases[i].change, test);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_frame_tests();
    qtest_add_func("/pvrdma/port/inactive", test_inactive);
    qtest_add_func("/pvrdma/port/reset", test_reset);
    qtest_add_func("/pvrdma/port/bad", test_bad);
    qtest_add_func("/pvrdma/port/stopped", test_stopped);
    qtest_add_func("/pvrdma/port/link", test_link);
    qtest_add_func("/pvrdma/port/link-loss", test_link_loss);
    qtest_add_func("/pvrdma/port/back-pressure", test_back_pressure);
    qtest_add_func("/pvrdma/port/stuck", test_stuck);
    qtest_add_func("/pvrdma/port/empty", test_empty);
    qtest_add_func("/pvrdma/port/dump", test_dump);
    qtest_add_func("/pvrdma/port/minimum", test_minimum);
    qtest_add_func("/pvrdma/port/loop", test_loop);
    qtest_add_func("/pvrdma/port/netdev-del", test_netdev_del);
    qtest_add_func("/pvrdma/port/unplug", test_unplug);
    qtest_add_func("/pvrdma/port/second", test_second);
    if (g_test_perf()) {
        qtest_add_func("/pvrdma/port/speed-loop", test_speed_loop);
        qtest_add_func("/pvrdma/port/speed-wire", test_speed_wire);
    }
    return g_test_run();
}
