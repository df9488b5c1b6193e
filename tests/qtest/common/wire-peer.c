/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other end of a netdev; see wire-peer.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/sockets.h"
#include <glib/gstdio.h>
#include <sys/un.h>
#include "wait.h"
#include "wire-peer.h"

/* -netdev socket sends the length of a frame, big-endian, before the frame */
#define LENGTH_BYTES 4
/*
 * Send buffer of the sockets, which Linux doubles to its default.  Some tests fill the
 * socket, so the size must not depend on the host.
 */
#define SOCKET_BYTES 106496

void wire_peer_init(WirePeer *p, bool dgram, size_t frame_max)
{
    int sv[2], bytes = SOCKET_BYTES;

    g_assert_cmpint(socketpair(PF_UNIX, dgram ? SOCK_DGRAM : SOCK_STREAM, 0, sv),
                    ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpint(setsockopt(sv[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)),
                        ==, 0);
    }
    *p = (WirePeer) {
        .fd = sv[0],
        .dev_fd = sv[1],
        .server = -1,
        .dgram = dgram,
        .frame_max = frame_max,
        .stream = g_byte_array_new(),
    };
    /*
     * QEMU must not inherit the test's end, because QEMU must see the end of the stream
     */
    qemu_set_cloexec(p->fd);
    g_assert_true(g_unix_set_fd_nonblocking(p->fd, true, NULL));
}

void wire_peer_init_closed(WirePeer *p)
{
    *p = (WirePeer) {
        .fd = -1, .dev_fd = -1, .server = -1, .stream = g_byte_array_new(),
    };
}

/* Returns the address of the Unix socket @path. */
static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    g_assert_cmpuint(strlen(path), <, sizeof(at.sun_path));
    strcpy(at.sun_path, path);
    return at;
}

void wire_peer_connect(WirePeer *p, const char *path, size_t frame_max)
{
    struct sockaddr_un to = address(path);
    int64_t end = wait_end();

    wire_peer_init_closed(p);
    p->frame_max = frame_max;
    p->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    g_assert_cmpint(p->fd, >=, 0);
    /* connect() may fail at first, because a thread of QEMU makes the socket later */
    while (connect(p->fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
        g_assert_true(errno == ENOENT || errno == ECONNREFUSED);
        wait_check(end);
        wait_pause();
    }
    qemu_set_cloexec(p->fd);
    g_assert_true(g_unix_set_fd_nonblocking(p->fd, true, NULL));
}

/* Closes the file descriptor *@fd unless it is -1, and stores -1. */
static void fd_close(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void wire_peer_fini(WirePeer *p)
{
    fd_close(&p->dev_fd);
    fd_close(&p->fd);
    fd_close(&p->server);
    rnic_cable_memory_unmap(&p->memory);
    if (p->path) {
        g_unlink(p->path);
        g_rmdir(p->folder);
    }
    g_free(p->path);
    g_free(p->folder);
    g_byte_array_unref(p->stream);
}

/* --- Device rnic-cable ------------------------------------------------------------ */

void wire_peer_init_cable(WirePeer *p, size_t frame_max)
{
    struct sockaddr_un at;

    wire_peer_init_closed(p);
    p->frame_max = frame_max;
    p->folder = g_dir_make_tmp("rnic-wire-XXXXXX", NULL);
    g_assert_nonnull(p->folder);
    p->path = g_build_filename(p->folder, "cable", NULL);
    at = address(p->path);
    p->server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(p->server, (struct sockaddr *)&at, sizeof(at)), ==, 0);
    g_assert_cmpint(listen(p->server, 1), ==, 0);
}

/* Waits at most @ms milliseconds for input on @fd.  Returns true if there is input. */
static bool fd_wait(int fd, int ms)
{
    GPollFD pfd = { .fd = fd, .events = G_IO_IN };

    return g_poll(&pfd, 1, ms) > 0;
}

/*
 * Sends the server's hello with the memory file @memory.  Returns false if QEMU has
 * closed the connection.
 */
static bool hello_send(WirePeer *p, int memory)
{
    struct rnic_cable_hello hello = {
        .magic = RNIC_CABLE_MAGIC, .version = RNIC_CABLE_VERSION,
        .ring_bytes = RNIC_CABLE_RING_BYTES,
    };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { };
    struct iovec iov = { &hello, sizeof(hello) };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
        .msg_controllen = sizeof(control),
    };

    *CMSG_FIRSTHDR(&msg) = (struct cmsghdr) {
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
        .cmsg_len = CMSG_LEN(sizeof(int)),
    };
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &memory, sizeof(memory));
    return sendmsg(p->fd, &msg, MSG_NOSIGNAL) == sizeof(hello);
}

/*
 * Receives the hello of QEMU, which is ready for frames after that.  Returns false if
 * QEMU has closed the connection.
 */
static bool hello_receive(WirePeer *p)
{
    struct rnic_cable_hello hello;

    g_assert_true(fd_wait(p->fd, WAIT_MS));
    if (recv(p->fd, &hello, sizeof(hello), 0) != sizeof(hello)) {
        return false;
    }
    g_assert_cmphex(hello.magic, ==, RNIC_CABLE_MAGIC);
    return true;
}

/*
 * Waits for the connection of QEMU.  QEMU connects again if the test was so slow that
 * QEMU has ended the first connection.
 */
static void cable_accept(WirePeer *p)
{
    int memory = rnic_cable_memory_new(&error_abort);

    do {
        fd_close(&p->fd);
        g_assert_true(fd_wait(p->server, WAIT_MS));
        p->fd = accept4(p->server, NULL, NULL, SOCK_CLOEXEC);
        g_assert_cmpint(p->fd, >=, 0);
    } while (!hello_send(p, memory) || !hello_receive(p));
    fd_close(&p->server);
    rnic_cable_memory_map(&p->memory, memory, &error_abort);
    close(memory);
    rnic_ring_init(&p->tx, p->memory.control[0], p->memory.data[0]);
    rnic_ring_init(&p->rx, p->memory.control[1], p->memory.data[1]);
}

/* Wakes QEMU.  Ignores errors, because QEMU may have ended. */
static void cable_wake(WirePeer *p)
{
    char byte = RNIC_CABLE_WAKE;

    if (send(p->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        g_assert_true(errno == EPIPE || errno == ECONNRESET);
    }
}

/* Does wire_peer_send() for an rnic-cable. */
static void cable_send(WirePeer *p, const void *frame, size_t len, WirePeerFrame *fn,
                       void *opaque)
{
    int64_t end = wait_end();
    uint8_t *at;

    g_assert_cmpuint(len, >, 0);
    g_assert_cmpuint(len, <=, RNIC_CABLE_FRAME_MAX);
    while (!(at = rnic_ring_reserve(&p->tx, len))) {
        g_assert_false(p->closed || p->tx.broken);
        wait_check(end);
        if (rnic_ring_must_wake_reader(&p->tx)) {
            cable_wake(p);      /* also if @p is corked, because the ring is full */
        }
        /* takes frames, because the device may wait until the test reads */
        wire_peer_poll(p, 1, fn, opaque);
    }
    memcpy(at, frame, len);
    rnic_ring_commit(&p->tx, len);
    if (!p->corked && rnic_ring_must_wake_reader(&p->tx)) {
        cable_wake(p);
    }
}

void wire_peer_cork(WirePeer *p, bool cork)
{
    p->corked = cork;
    if (!cork && rnic_ring_must_wake_reader(&p->tx)) {
        cable_wake(p);
    }
}

/* Gives all frames in the ring to @fn.  Returns true if there was one. */
static bool cable_take(WirePeer *p, WirePeerFrame *fn, void *opaque)
{
    const uint8_t *at;
    uint32_t len;
    bool any = false;

    while ((at = rnic_ring_peek(&p->rx, &len))) {
        /* a copy, because @fn may send, and so take more frames */
        g_autofree uint8_t *frame = g_memdup2(at, len);

        g_assert_cmpuint(len, <=, p->frame_max);
        rnic_ring_release(&p->rx, len);
        if (rnic_ring_must_wake_writer(&p->rx)) {
            cable_wake(p);
        }
        fn(opaque, frame, len);
        any = true;
    }
    g_assert_false(p->rx.broken);
    return any;
}

/* Counts the wake-ups that have arrived on the socket, and finds its end. */
static void cable_wakes_take(WirePeer *p)
{
    char bytes[64];
    ssize_t n;

    while ((n = recv(p->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            g_assert_cmphex(bytes[i], ==, RNIC_CABLE_WAKE);
        }
        p->wakes += n;
    }
    p->closed = n == 0 || errno == ECONNRESET;
}

/* Does wire_peer_poll() for an rnic-cable. */
static bool cable_poll(WirePeer *p, int ms, WirePeerFrame *fn, void *opaque)
{
    bool any = cable_take(p, fn, opaque);

    if (!any && ms && !p->closed && rnic_ring_sleep(&p->rx)) {
        fd_wait(p->fd, ms);
        rnic_ring_awake(&p->rx);
    }
    cable_wakes_take(p);
    return cable_take(p, fn, opaque) || any;
}

/* --- All kinds of netdevs ----------------------------------------------------------- */

char *wire_peer_netdev(WirePeer *p)
{
    g_assert_cmpint(p->dev_fd, >=, 0);
    return g_strdup_printf("socket,fd=%d", p->dev_fd);
}

char *wire_peer_options(WirePeer *p, const char *id)
{
    g_autofree char *netdev = NULL;

    if (p->path) {
        return g_strdup_printf("-device rnic-cable,id=%s,path=%s", id, p->path);
    }
    netdev = wire_peer_netdev(p);
    return g_strdup_printf("-netdev %s,id=%s", netdev, id);
}

void wire_peer_started(WirePeer *p)
{
    fd_close(&p->dev_fd);
    if (p->server >= 0) {
        cable_accept(p);
    }
}

void wire_peer_send(WirePeer *p, const void *frame, size_t len,
                    WirePeerFrame *fn, void *opaque)
{
    size_t head = p->dgram ? 0 : LENGTH_BYTES;
    g_autofree uint8_t *flat = g_malloc(head + len);
    int64_t end = wait_end();
    size_t done = 0;

    if (p->path) {
        cable_send(p, frame, len, fn, opaque);
        return;
    }
    if (head) {
        stl_be_p(flat, len);
    }
    memcpy(flat + head, frame, len);
    while (done < head + len) {
        ssize_t n = send(p->fd, flat + done, head + len - done, MSG_NOSIGNAL);

        if (n > 0) {
            done += n;
            continue;
        }
        g_assert_true(n < 0 && (errno == EAGAIN || errno == EINTR));
        wait_check(end);
        /* takes frames, because the device may wait until the test reads */
        wire_peer_poll(p, 1, fn, opaque);
    }
}

/* Gives all whole frames at the front of the stream to @fn, and removes them. */
static void take_stream(WirePeer *p, WirePeerFrame *fn, void *opaque)
{
    size_t at = 0;

    while (p->stream->len - at >= LENGTH_BYTES) {
        size_t len = ldl_be_p(p->stream->data + at);

        g_assert_cmpuint(len, <=, p->frame_max);
        if (p->stream->len - at < LENGTH_BYTES + len) {
            break;
        }
        at += LENGTH_BYTES;
        fn(opaque, p->stream->data + at, len);
        at += len;
    }
    g_byte_array_remove_range(p->stream, 0, at);
}

bool wire_peer_poll(WirePeer *p, int ms, WirePeerFrame *fn, void *opaque)
{
    g_autofree uint8_t *buf = NULL;
    bool any = false;

    if (p->path) {
        return p->fd >= 0 && cable_poll(p, ms, fn, opaque);
    }
    while (p->fd >= 0 && !p->closed) {
        GPollFD pfd = { .fd = p->fd, .events = G_IO_IN };
        ssize_t n;

        if (g_poll(&pfd, 1, any ? 0 : ms) <= 0) {
            break;
        }
        buf = buf ?: g_malloc(p->frame_max);
        n = recv(p->fd, buf, p->frame_max, MSG_DONTWAIT);
        if (n <= 0) {
            p->closed = n == 0 || errno == ECONNRESET;
            break;
        }
        any = true;
        if (p->dgram) {
            fn(opaque, buf, n);
        } else {
            g_byte_array_append(p->stream, buf, n);
            take_stream(p, fn, opaque);
        }
    }
    return any;
}

void *wire_peer_take(WirePeer *p, GQueue *queue, WirePeerFrame *fn, void *opaque)
{
    int64_t end = wait_end();

    while (g_queue_is_empty(queue)) {
        wait_check(end);
        g_assert_false(p->closed);
        wire_peer_poll(p, 100, fn, opaque);
    }
    return g_queue_pop_head(queue);
}
