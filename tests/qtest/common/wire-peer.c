/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other end of `-netdev socket`; see wire-peer.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/sockets.h"
#include <sys/un.h>
#include "wait.h"
#include "wire-peer.h"

/* -netdev socket sends the length of a frame, big-endian, before the frame */
#define LENGTH_BYTES 4

void wire_peer_init(WirePeer *p, bool dgram, size_t frame_max)
{
    int sv[2];

    g_assert_cmpint(socketpair(PF_UNIX, dgram ? SOCK_DGRAM : SOCK_STREAM, 0, sv),
                    ==, 0);
    *p = (WirePeer) {
        .fd = sv[0],
        .dev_fd = sv[1],
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
    *p = (WirePeer) { .fd = -1, .dev_fd = -1, .stream = g_byte_array_new() };
}

void wire_peer_connect(WirePeer *p, const char *path, size_t frame_max)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int64_t end = wait_end();

    g_assert_cmpuint(strlen(path), <, sizeof(to.sun_path));
    strcpy(to.sun_path, path);
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

void wire_peer_fini(WirePeer *p)
{
    wire_peer_started(p);
    if (p->fd >= 0) {
        close(p->fd);
        p->fd = -1;
    }
    g_byte_array_unref(p->stream);
}

char *wire_peer_netdev(WirePeer *p)
{
    return g_strdup_printf("socket,fd=%d", p->dev_fd);
}

void wire_peer_started(WirePeer *p)
{
    if (p->dev_fd >= 0) {
        close(p->dev_fd);
        p->dev_fd = -1;
    }
}

void wire_peer_send(WirePeer *p, const void *frame, size_t len,
                    WirePeerFrame *fn, void *opaque)
{
    size_t head = p->dgram ? 0 : LENGTH_BYTES;
    g_autofree uint8_t *flat = g_malloc(head + len);
    int64_t end = wait_end();
    size_t done = 0;

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
