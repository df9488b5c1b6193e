/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of a wire without any device, one `name=value` on each line, for comparison with
 * devices:
 *
 *   unix.bytes_per_s      frames in one direction
 *   unix.handover_us      half of the time in which a frame goes to and fro
 *   unix.poll.*           the same, if the reader waits in poll(), as a main loop does
 *
 * Two processes exchange frames by a unix stream socket, as QEMU's netdevs do: a length
 * of four bytes precedes each frame, one system call sends both, and the reader copies
 * each frame out of the buffer into which it has read, because a frame may be in two
 * reads.
 *
 * The argument is the number of bytes of a frame.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 69632             /* the longest frame of a QEMU netdev */
#define READ_MAX (FRAME_MAX + sizeof(uint32_t))
#define STREAM_BYTES (1ULL << 30)
#define ROUND_TRIPS 20000
#define SEND_BYTES (384 * 1024)     /* send buffer, as configure-patch gives to netdevs */

/* One end of the wire. */
typedef struct End {
    int fd;
    bool poll;                      /* waits in poll() before each read */
    size_t have;                    /* bytes in @buf */
    uint8_t buf[READ_MAX];
    uint8_t frame[FRAME_MAX];       /* the last frame that has arrived */
} End;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void wait_for(End *e, short events)
{
    struct pollfd p = { .fd = e->fd, .events = events };

    while (poll(&p, 1, -1) < 0) {
        if (errno != EINTR) {
            fail("poll");
        }
    }
}

static void frame_send(End *e, const uint8_t *data, uint32_t len)
{
    uint32_t head = __builtin_bswap32(len);
    struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)data, len } };
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

    while (iov[1].iov_len) {
        ssize_t done = sendmsg(e->fd, &msg, 0);

        if (done < 0) {
            fail("sendmsg");
        }
        for (unsigned i = 0; i < 2; i++) {
            size_t part = (size_t)done < iov[i].iov_len ? (size_t)done : iov[i].iov_len;

            iov[i].iov_base = (uint8_t *)iov[i].iov_base + part;
            iov[i].iov_len -= part;
            done -= part;
        }
    }
}

/* Receives at least one frame, and returns the number of frames of @len bytes. */
static unsigned frames_receive(End *e, uint32_t len)
{
    unsigned frames = 0;

    while (!frames) {
        size_t at = 0;
        ssize_t more;

        if (e->poll) {
            wait_for(e, POLLIN);
        }
        more = recv(e->fd, e->buf + e->have, sizeof(e->buf) - e->have, 0);
        if (more <= 0) {
            fail("recv");
        }
        e->have += more;
        for (; e->have - at >= sizeof(uint32_t) + len; at += sizeof(uint32_t) + len) {
            uint32_t head;

            memcpy(&head, e->buf + at, sizeof(head));
            if (__builtin_bswap32(head) != len) {
                fprintf(stderr, "a frame has another length\n");
                exit(1);
            }
            memcpy(e->frame, e->buf + at + sizeof(head), len);
            frames++;
        }
        e->have -= at;
        memmove(e->buf, e->buf + at, e->have);
    }
    return frames;
}

/* Returns the seconds for @frames frames of @len bytes between @e and its other end. */
static double stream(End *e, bool sends, uint32_t len, unsigned frames)
{
    static uint8_t data[FRAME_MAX];
    double start = seconds();

    if (sends) {
        memset(data, 0x5a, len);
        for (unsigned i = 0; i < frames; i++) {
            frame_send(e, data, len);
        }
        frames_receive(e, 1);       /* the other end has received all frames */
    } else {
        for (unsigned n = 0; n < frames;) {
            n += frames_receive(e, len);
        }
        if (e->frame[0] != 0x5a || e->frame[len - 1] != 0x5a) {
            fprintf(stderr, "a frame has other bytes\n");
            exit(1);
        }
        frame_send(e, e->frame, 1);
    }
    return seconds() - start;
}

/* Returns the seconds in which a frame of 64 bytes goes to and fro ROUND_TRIPS times. */
static double ping_pong(End *e, bool first)
{
    static const uint8_t data[64];
    double start = seconds();

    for (unsigned i = 0; i < ROUND_TRIPS; i++) {
        if (first) {
            frame_send(e, data, sizeof(data));
        }
        frames_receive(e, sizeof(data));
        if (!first) {
            frame_send(e, data, sizeof(data));
        }
    }
    return seconds() - start;
}

static void measure(const char *name, bool poll, uint32_t len)
{
    static End e;
    unsigned frames = STREAM_BYTES / len;
    int fd[2], status, size = SEND_BYTES;
    double streamed, played;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0) {
        fail("socketpair");
    }
    if (setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) < 0 ||
        setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) < 0) {
        fail("setsockopt");
    }
    child = fork();
    if (child < 0) {
        fail("fork");
    }
    e.fd = fd[child == 0];
    e.poll = poll;
    e.have = 0;
    close(fd[child != 0]);
    streamed = stream(&e, child != 0, len, frames);
    played = ping_pong(&e, child != 0);
    if (!child) {
        exit(0);
    }
    close(e.fd);
    if (waitpid(child, &status, 0) < 0 || status) {
        fprintf(stderr, "the other end has failed\n");
        exit(1);
    }
    printf("%s.bytes_per_s=%.1f\n", name, (double)frames * len / streamed);
    printf("%s.handover_us=%.3f\n", name, played / ROUND_TRIPS / 2 * 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long len = argc == 2 ? atol(argv[1]) : 0;

    if (len < 1 || len > FRAME_MAX) {
        fprintf(stderr, "usage: %s BYTES, 1 to %d\n", argv[0], FRAME_MAX);
        return 2;
    }
    measure("unix", false, len);
    measure("unix.poll", true, len);
    return 0;
}
