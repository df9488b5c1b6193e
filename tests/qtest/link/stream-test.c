/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `-netdev stream` with this project's patch, as a receiver: which packets it takes from
 * the bytes of a socket.  Its peer is an rnic-cable instead of a NIC, and the test is the
 * other end of this cable.  A cable refuses packets while its ring is full, or while the
 * machine is stopped.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include "common/wait.h"
#include "cable-end.h"

#define LENGTH_BYTES    4           /* length before each packet on the socket */
#define PACKET_MAX      69632       /* NET_BUFSIZE: longest packet of a netdev */
#define READ_BYTES      (256 * 1024)    /* bytes that the netdev reads at once */
#define BIG             65536
#define ROOM            15          /* packets of BIG bytes for which a ring has room */

typedef struct Rig {
    CableMachine m;
    CableEnd e;
    WirePeer in;                    /* socket of the netdev */
    char *path;                     /* path of this socket */
    char *err;                      /* path of QEMU's standard error; NULL: the test's */
    GByteArray *bytes;              /* bytes to send */
    GArray *lens;                   /* lengths of all packets that must arrive */
    unsigned taken;                 /* packets that have arrived */
    bool frozen;                    /* SIGSTOP has stopped QEMU */
} Rig;

/* --- Helpers ------------------------------------------------------------------------ */

static void rig_connect(Rig *r)
{
    wire_peer_connect(&r->in, r->path, PACKET_MAX);
    qtest_qmp_eventwait(r->m.qts, "NETDEV_STREAM_CONNECTED");
}

static void rig_disconnect(Rig *r)
{
    wire_peer_fini(&r->in);
    qtest_qmp_eventwait(r->m.qts, "NETDEV_STREAM_DISCONNECTED");
}

/* Starts QEMU with the options @args, and its standard error in a file. */
static void rig_start_err(Rig *r, const char *args)
{
    int before = dup(STDERR_FILENO), fd;

    r->err = g_strdup_printf("%s.err", r->m.path);
    fd = open(r->err, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(dup2(fd, STDERR_FILENO), ==, STDERR_FILENO);
    r->m.qts = qtest_init(args);
    g_assert_cmpint(dup2(before, STDERR_FILENO), ==, STDERR_FILENO);
    close(before);
    close(fd);
}

/*
 * Starts a machine, and connects to the socket and the cable.  @hub: there is a hub
 * between the netdev and the cable.  @err: the test reads QEMU's standard error.
 */
static void rig_start(Rig *r, bool hub, bool err)
{
    g_autofree char *args = NULL;

    *r = (Rig) {
        .bytes = g_byte_array_new(),
        .lens = g_array_new(false, false, sizeof(size_t)),
    };
    cable_machine_init(&r->m);
    r->path = g_strdup_printf("%s.in", r->m.path);
    args = g_strdup_printf(
        "-machine none -nodefaults "
        "-netdev stream,id=in,server=on,addr.type=unix,addr.path=%s %s "
        "-device rnic-cable,id=c0,path=%s,server=on,netdev=%s", r->path,
        hub ? "-netdev hubport,id=h0,hubid=0,netdev=in -netdev hubport,id=h1,hubid=0" :
        "", r->m.path, hub ? "h1" : "in");
    if (err) {
        rig_start_err(r, args);
    } else {
        r->m.qts = qtest_init(args);
    }
    cable_end_open(&r->m, &r->e);
    rig_connect(r);
}

static void rig_stop(Rig *r)
{
    g_assert_cmpuint(r->taken, ==, r->lens->len);
    wait_settle(g_assert_cmpuint(cable_get(&r->m, 0, "sent"), ==, r->taken));
    wire_peer_fini(&r->in);
    cable_end_close(&r->e);
    unlink(r->path);
    if (r->err) {
        unlink(r->err);
    }
    cable_machine_stop(&r->m);
    g_byte_array_unref(r->bytes);
    g_array_unref(r->lens);
    g_free(r->path);
    g_free(r->err);
}

/* Stops the process QEMU, or continues it. */
static void rig_freeze(Rig *r, bool frozen)
{
    g_assert_cmpint(kill(qtest_pid(r->m.qts), frozen ? SIGSTOP : SIGCONT), ==, 0);
    r->frozen = frozen;
}

/* Appends a packet of @len bytes, which need not arrive, to the bytes to send. */
static void rig_append(Rig *r, size_t len, unsigned seed)
{
    uint8_t length[LENGTH_BYTES];
    size_t at = r->bytes->len + LENGTH_BYTES;

    stl_be_p(length, len);
    g_byte_array_append(r->bytes, length, sizeof(length));
    g_byte_array_set_size(r->bytes, at + len);
    cable_frame_fill(r->bytes->data + at, len, seed);
}

/* Appends a packet of @len bytes, which must arrive, to the bytes to send. */
static void rig_add(Rig *r, size_t len)
{
    rig_append(r, len, r->lens->len);
    g_array_append_val(r->lens, len);
}

/* Takes a packet from the ring if there is one, and checks it. */
static void rig_take(Rig *r)
{
    if (qatomic_load_acquire(&r->e.rx->head) == r->e.rx->tail) {
        wait_pause();
        return;
    }
    g_assert_cmpuint(r->taken, <, r->lens->len);
    cable_end_frame_receive(&r->e, g_array_index(r->lens, size_t, r->taken), r->taken);
    r->taken++;
    if (qatomic_read(&r->e.rx->full)) {
        qatomic_set(&r->e.rx->full, 0);
        g_assert_true(cable_end_wake(&r->e));
    }
}

/* Waits until all packets that must arrive have arrived. */
static void rig_take_all(Rig *r)
{
    wait_until(r->taken == r->lens->len, rig_take(r));
}

/* Sends bytes @from to @to - 1; takes packets if the socket is full. */
static void rig_send(Rig *r, size_t from, size_t to)
{
    int64_t end = wait_end();

    while (from < to) {
        ssize_t n = send(r->in.fd, r->bytes->data + from, to - from, MSG_NOSIGNAL);

        if (n > 0) {
            from += n;
            continue;
        }
        g_assert_true(n < 0 && (errno == EAGAIN || errno == EINTR));
        wait_check(end);
        if (r->frozen) {
            rig_freeze(r, false);
        }
        rig_take(r);
    }
}

static void rig_send_all(Rig *r)
{
    rig_send(r, 0, r->bytes->len);
    g_byte_array_set_size(r->bytes, 0);
}

/* Returns the number of bytes, and of their administration, that QEMU has not read. */
static int rig_unread(Rig *r)
{
    int unread;

    g_assert_cmpint(ioctl(r->in.fd, SIOCOUTQ, &unread), ==, 0);
    return unread;
}

/* Waits until QEMU has read all bytes of the socket. */
static void rig_wait_read(Rig *r)
{
    wait_until(rig_unread(r) == 0, sched_yield());
}

/* Asserts that QEMU has reported @count packets that are too large. */
static void assert_messages(Rig *r, unsigned count)
{
    g_autofree char *text = NULL;
    unsigned found = 0;

    g_assert_true(g_file_get_contents(r->err, &text, NULL, NULL));
    for (const char *at = text; (at = strstr(at, "connection terminated")); at++) {
        found++;
    }
    g_assert_cmpuint(found, ==, count);
}

/* --- Tests -------------------------------------------------------------------------- */

/* The netdev reads a piece of the bytes, which ends anywhere, and then the others. */
static void test_pieces(void)
{
    size_t all;
    Rig r;

    rig_start(&r, false, false);
    for (size_t at = 1; ; at++) {
        rig_add(&r, 61);
        rig_add(&r, 1);
        rig_add(&r, 300);
        all = r.bytes->len;
        if (at == all) {
            break;
        }
        rig_send(&r, 0, at);
        rig_wait_read(&r);
        rig_send(&r, at, all);
        g_byte_array_set_size(r.bytes, 0);
        rig_take_all(&r);
    }
    for (size_t at = 0; at < all; at++) {
        rig_send(&r, at, at + 1);
        rig_wait_read(&r);
    }
    rig_take_all(&r);
    rig_stop(&r);
}

/* Many small packets, which the netdev reads at once. */
static void test_many(void)
{
    Rig r;

    rig_start(&r, false, false);
    rig_freeze(&r, true);
    for (unsigned i = 0; i < 3000; i++) {
        rig_add(&r, 1 + i % 60);
    }
    rig_send_all(&r);
    rig_freeze(&r, false);
    rig_take_all(&r);
    rig_stop(&r);
}

/*
 * More bytes are in the socket than the netdev reads at once.  A packet is as long as
 * possible for a netdev, or of any length.
 */
static void test_large(void)
{
    int bytes = 8 * READ_BYTES;
    Rig r;

    rig_start(&r, false, false);
    /* not an error: then QEMU reads before all bytes are in the socket */
    setsockopt(r.in.fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
    for (unsigned round = 0; round < 4; round++) {
        rig_freeze(&r, true);
        while (r.bytes->len < 4 * READ_BYTES) {
            rig_add(&r, PACKET_MAX);
            rig_add(&r, g_test_rand_int_range(1, PACKET_MAX + 1));
            rig_add(&r, g_test_rand_int_range(1, 100));
        }
        rig_send_all(&r);
        rig_freeze(&r, false);
        rig_take_all(&r);
    }
    rig_stop(&r);
}

/*
 * A packet that is too large ends the connection, with one message.  The netdev takes the
 * packets before it, and none of its bytes.
 */
static void test_too_large(void)
{
    int bytes = 8 * READ_BYTES;
    Rig r;

    rig_start(&r, false, true);
    setsockopt(r.in.fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
    for (unsigned i = 1; i <= 3; i++) {
        rig_freeze(&r, true);
        rig_add(&r, 100);
        rig_append(&r, PACKET_MAX + 1, 0);
        while (r.bytes->len < 2 * READ_BYTES) {
            rig_append(&r, 60, 0);
            rig_append(&r, PACKET_MAX + 2, 0);
        }
        /* as many as the socket takes */
        g_assert_cmpint(send(r.in.fd, r.bytes->data, r.bytes->len, MSG_NOSIGNAL), >, 0);
        g_byte_array_set_size(r.bytes, 0);
        rig_freeze(&r, false);
        qtest_qmp_eventwait(r.m.qts, "NETDEV_STREAM_DISCONNECTED");
        rig_take_all(&r);
        wire_peer_fini(&r.in);
        rig_connect(&r);
        rig_add(&r, 200);
        rig_send_all(&r);
        rig_take_all(&r);
        assert_messages(&r, i);
    }
    rig_stop(&r);
}

/*
 * A packet that is too large follows a packet that the cable refuses: the cable gets its
 * packet before the connection ends.
 */
static void test_too_large_refused(void)
{
    Rig r;

    rig_start(&r, false, true);
    qtest_qmp_assert_success(r.m.qts, "{'execute': 'stop'}");
    rig_add(&r, 100);
    rig_append(&r, PACKET_MAX + 1, 0);
    rig_send_all(&r);
    wait_until(rig_unread(&r) == 0, wait_pause());
    qtest_qmp_assert_success(r.m.qts, "{'execute': 'cont'}");
    rig_take_all(&r);
    qtest_qmp_eventwait(r.m.qts, "NETDEV_STREAM_DISCONNECTED");
    assert_messages(&r, 1);
    wire_peer_fini(&r.in);
    rig_connect(&r);
    rig_add(&r, 200);
    rig_send_all(&r);
    rig_take_all(&r);
    rig_stop(&r);
}

/* A packet without bytes does not stop the packets after it, also on a hub. */
static void check_empty(bool hub)
{
    Rig r;

    rig_start(&r, hub, false);
    rig_append(&r, 0, 0);
    rig_add(&r, 64);
    rig_send_all(&r);
    rig_take_all(&r);
    rig_append(&r, 0, 0);
    rig_append(&r, 0, 0);
    rig_send_all(&r);
    rig_wait_read(&r);
    rig_add(&r, 65);
    rig_send_all(&r);
    rig_take_all(&r);
    rig_stop(&r);
}

static void test_empty(void)
{
    check_empty(false);
}

static void test_empty_hub(void)
{
    check_empty(true);
}

/* The cable refuses packets while the machine is stopped, and gets all of them then. */
static void test_stopped(void)
{
    Rig r;

    rig_start(&r, false, false);
    for (unsigned round = 0; round < 2; round++) {
        qtest_qmp_assert_success(r.m.qts, "{'execute': 'stop'}");
        for (unsigned i = 0; i < 100; i++) {
            rig_add(&r, 60 + i);
            rig_add(&r, 1 + i);
            rig_send_all(&r);
        }
        wait_settle(g_assert_cmpuint(cable_get(&r.m, 0, "sent"), ==, r.taken));
        qtest_qmp_assert_success(r.m.qts, "{'execute': 'cont'}");
        rig_take_all(&r);
    }
    rig_stop(&r);
}

/* The ring is full while the test sends, and gets room for one packet at a time. */
static void test_full(void)
{
    Rig r;

    rig_start(&r, false, false);
    for (unsigned i = 0; i < 4 * ROOM; i++) {
        rig_add(&r, BIG);
        rig_add(&r, 1 + i);
    }
    rig_send_all(&r);
    rig_take_all(&r);
    rig_stop(&r);
}

/* The connection ends inside a packet.  The next one begins with a new packet. */
static void test_cut(void)
{
    static const size_t cuts[] = { 1, 3, 4, 5, 100 };
    Rig r;

    rig_start(&r, false, false);
    for (unsigned i = 0; i < ARRAY_SIZE(cuts); i++) {
        rig_add(&r, 70);
        rig_append(&r, 300, 0);
        rig_send(&r, 0, LENGTH_BYTES + 70 + cuts[i]);
        g_byte_array_set_size(r.bytes, 0);
        rig_disconnect(&r);
        rig_connect(&r);
        rig_add(&r, 80);
        rig_send_all(&r);
        rig_take_all(&r);
    }
    rig_stop(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/link/netdev/stream-pieces", test_pieces);
    qtest_add_func("/link/netdev/stream-many", test_many);
    qtest_add_func("/link/netdev/stream-large", test_large);
    qtest_add_func("/link/netdev/stream-too-large", test_too_large);
    qtest_add_func("/link/netdev/stream-too-large-refused", test_too_large_refused);
    qtest_add_func("/link/netdev/stream-empty", test_empty);
    qtest_add_func("/link/netdev/stream-empty-hub", test_empty_hub);
    qtest_add_func("/link/netdev/stream-stopped", test_stopped);
    qtest_add_func("/link/netdev/stream-full", test_full);
    qtest_add_func("/link/netdev/stream-cut", test_cut);
    return g_test_run();
}
