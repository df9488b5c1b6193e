/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine with cables, and the other end of a cable; see cable-end.h. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "common/wait.h"
#include "cable-end.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RING RNIC_CABLE_RING_BYTES
#define RECORD sizeof(struct rnic_cable_record)

/* --- Machine ------------------------------------------------------------------------ */

void cable_machine_init(CableMachine *m)
{
    *m = (CableMachine) { .folder = g_dir_make_tmp("rnic-cable-XXXXXX", NULL) };
    g_assert_nonnull(m->folder);
    m->path = g_build_filename(m->folder, "cable", NULL);
}

void cable_machine_start(CableMachine *m, unsigned count, const char *first)
{
    g_autoptr(GString) args = g_string_new("-machine none -nodefaults");

    m->wires = count;
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *netdev = NULL;

        wire_peer_init(&m->wire[i], false, RNIC_CABLE_FRAME_MAX);
        netdev = wire_peer_netdev(&m->wire[i]);
        g_string_append_printf(args, " -netdev %s,id=w%u "
                               "-device rnic-cable,id=c%u,path=%s,netdev=w%u%s", netdev,
                               i, i, m->path, i, i ? "" : first);
        g_queue_init(&m->frames[i]);
    }
    m->qts = qtest_init(args->str);
    for (unsigned i = 0; i < count; i++) {
        wire_peer_started(&m->wire[i]);
    }
}

void cable_machine_start_hub(CableMachine *m, const char *options)
{
    /* a hub with one port would refuse frames */
    m->qts = qtest_initf("-machine none -nodefaults -netdev hubport,id=w0,hubid=0 "
                         "-netdev hubport,id=w1,hubid=0 "
                         "-device rnic-cable,id=c0,path=%s,netdev=w0%s", m->path,
                         options);
}

void cable_machine_stop(CableMachine *m)
{
    qtest_quit(m->qts);
    for (unsigned i = 0; i < m->wires; i++) {
        wire_peer_fini(&m->wire[i]);
        g_assert_cmpuint(m->frames[i].length, ==, 0);
    }
    unlink(m->path);
    rmdir(m->folder);
    g_free(m->path);
    g_free(m->folder);
}

uint64_t cable_get(CableMachine *m, unsigned cable, const char *name)
{
    return machine_cable_get(m->qts, cable ? "c1" : "c0", name);
}

void cable_wait(CableMachine *m, unsigned cable, const char *name, uint64_t value)
{
    wait_until(cable_get(m, cable, name) == value, wait_pause());
}

void cable_frame_keep(void *opaque, const uint8_t *frame, size_t len)
{
    g_queue_push_tail(opaque, g_bytes_new(frame, len));
}

void cable_frame_fill(uint8_t *frame, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++) {
        frame[i] = seed * 31 + i * 7 + (i >> 8);
    }
}

void cable_wire_send(CableMachine *m, unsigned cable, size_t len, unsigned seed)
{
    g_autofree uint8_t *frame = g_malloc(len + 1);

    cable_frame_fill(frame, len, seed);
    wire_peer_send(&m->wire[cable], frame, len, cable_frame_keep, &m->frames[cable]);
}

void cable_wire_receive(CableMachine *m, unsigned cable, size_t len, unsigned seed)
{
    g_autofree uint8_t *want = g_malloc(len);
    GBytes *frame = wire_peer_take(&m->wire[cable], &m->frames[cable], cable_frame_keep,
                                   &m->frames[cable]);

    cable_frame_fill(want, len, seed);
    g_assert_cmpmem(g_bytes_get_data(frame, NULL), g_bytes_get_size(frame), want, len);
    g_bytes_unref(frame);
}

/* --- The test as the other end ----------------------------------------------------- */

static struct sockaddr_un cable_machine_address(const CableMachine *m)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    g_assert_cmpuint(strlen(m->path), <, sizeof(at.sun_path));
    strcpy(at.sun_path, m->path);
    return at;
}

/* Waits at most WAIT_MS for input on @fd. */
static void cable_end_wait(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    g_assert_cmpint(poll(&p, 1, WAIT_MS), ==, 1);
}

void cable_end_assert_closed(CableEnd *e)
{
    ssize_t size;
    char byte;

    do {
        cable_end_wait(e->fd);
        size = recv(e->fd, &byte, 1, 0);
    } while (size > 0);
    g_assert_true(size == 0 || errno == ECONNRESET);
}

void cable_end_hello_receive(CableEnd *e)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { &e->hello, sizeof(e->hello) };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    struct cmsghdr *found;

    cable_end_wait(e->fd);
    g_assert_cmpint(recvmsg(e->fd, &msg, 0), ==, sizeof(e->hello));
    g_assert_cmphex(e->hello.magic, ==, RNIC_CABLE_MAGIC);
    g_assert_cmpuint(e->hello.version, ==, RNIC_CABLE_VERSION);
    g_assert_cmpuint(e->hello.ring_bytes, ==, RING);
    g_assert_cmpuint(e->hello.reserved, ==, 0);
    found = CMSG_FIRSTHDR(&msg);
    e->memory_fd = -1;
    if (found) {
        g_assert_cmpint(found->cmsg_type, ==, SCM_RIGHTS);
        memcpy(&e->memory_fd, CMSG_DATA(found), sizeof(int));
    }
}

void cable_end_hello_send(CableEnd *e, const void *hello, size_t size, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { };
    struct iovec iov = { (void *)hello, size };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (fd >= 0) {
        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control);
        *CMSG_FIRSTHDR(&msg) = (struct cmsghdr) {
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
            .cmsg_len = CMSG_LEN(sizeof(int)),
        };
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
    }
    g_assert_cmpint(sendmsg(e->fd, &msg, MSG_NOSIGNAL), ==, size);
}

void cable_end_map(CableEnd *e, unsigned tx)
{
    struct rnic_cable_control *control;

    e->base = mmap(NULL, RNIC_CABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                   e->memory_fd, 0);
    g_assert_true(e->base != MAP_FAILED);
    control = (struct rnic_cable_control *)e->base;
    e->tx = control + tx;
    e->rx = control + !tx;
    e->tx_data = e->base + RNIC_CABLE_DATA + tx * RING;
    e->rx_data = e->base + RNIC_CABLE_DATA + !tx * RING;
}

int cable_end_socket(CableMachine *m)
{
    struct sockaddr_un at = cable_machine_address(m);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    g_assert_cmpint(connect(fd, (struct sockaddr *)&at, sizeof(at)), ==, 0);
    return fd;
}

void cable_end_connect(CableMachine *m, CableEnd *e)
{
    *e = (CableEnd) { .fd = cable_end_socket(m) };
    cable_end_hello_receive(e);
    g_assert_cmpint(e->memory_fd, >=, 0);
}

void cable_end_open(CableMachine *m, CableEnd *e)
{
    cable_end_connect(m, e);
    cable_end_map(e, 1);
    cable_end_hello_send(e, &e->hello, sizeof(e->hello), -1);
    cable_wait(m, 0, "connected", 1);
    /* the server waits for frames before it is idle */
    wait_until(qatomic_read(&e->tx->sleeping), wait_pause());
}

void cable_end_close(CableEnd *e)
{
    if (e->base) {
        munmap(e->base, RNIC_CABLE_BYTES);
    }
    if (e->memory_fd >= 0) {
        close(e->memory_fd);
    }
    close(e->fd);
}

void cable_end_frame_put(CableEnd *e, uint32_t len, unsigned seed)
{
    uint8_t *at = e->tx_data + e->tx->head % RING;

    stl_he_p(at, len);
    cable_frame_fill(at + RECORD, len, seed);
    qatomic_store_release(&e->tx->head, e->tx->head + ROUND_UP(RECORD + len, 8));
}

bool cable_end_wake(CableEnd *e)
{
    char wake = RNIC_CABLE_WAKE;

    return send(e->fd, &wake, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN;
}

void cable_end_frame_send(CableEnd *e, uint32_t len, unsigned seed)
{
    cable_end_frame_put(e, len, seed);
    g_assert_true(cable_end_wake(e));
}

void cable_end_frame_receive(CableEnd *e, uint32_t len, unsigned seed)
{
    g_autofree uint8_t *want = g_malloc(len);
    uint32_t at = e->rx->tail;

    wait_until(qatomic_load_acquire(&e->rx->head) != at, wait_pause());
    g_assert_cmpuint(ldl_he_p(e->rx_data + at % RING), ==, len);
    cable_frame_fill(want, len, seed);
    for (uint32_t i = 0; i < len; i++) {
        g_assert_cmphex(e->rx_data[(at + RECORD + i) % RING], ==, want[i]);
    }
    qatomic_store_release(&e->rx->tail, at + ROUND_UP(RECORD + len, 8));
}

unsigned cable_end_wakes(CableEnd *e)
{
    char bytes[64];
    ssize_t size = recv(e->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    for (ssize_t i = 0; i < size; i++) {
        g_assert_cmphex(bytes[i], ==, RNIC_CABLE_WAKE);
    }
    return MAX(size, 0);
}

int cable_end_listen(CableMachine *m)
{
    struct sockaddr_un at = cable_machine_address(m);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    g_assert_cmpint(bind(fd, (struct sockaddr *)&at, sizeof(at)), ==, 0);
    g_assert_cmpint(listen(fd, 1), ==, 0);
    return fd;
}

void cable_end_accept(int server, CableEnd *e)
{
    *e = (CableEnd) { .memory_fd = -1 };
    cable_end_wait(server);
    e->fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    g_assert_cmpint(e->fd, >=, 0);
}

void cable_assert_serves(CableMachine *m)
{
    CableEnd e;

    cable_wait(m, 0, "connected", 0);
    cable_end_open(m, &e);
    g_assert_cmpuint(e.tx->head, ==, 0);
    cable_end_frame_send(&e, 300, 9);
    cable_wire_receive(m, 0, 300, 9);
    cable_wire_send(m, 0, 301, 10);
    cable_end_frame_receive(&e, 301, 10);
    cable_end_close(&e);
    cable_wait(m, 0, "connected", 0);
}
