/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the rings of an rnic-cable without any device, one `name=value` on each
 * line, for comparison with rnic-wire-bench:
 *
 *   cable.bytes_per_s      frames in one direction
 *   cable.handover_us      half of the round trip of a frame of 64 bytes
 *   cable.sleep.*          the same, if an end that waits sleeps until a byte arrives
 *                          on a socket, as the device does without a vCPU that polls
 *
 * Two processes exchange frames; the reader copies each frame, as the device does.  The
 * argument is the number of bytes of a frame.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/processor.h"
#include "hw/rnic/link/cable-memory.h"
#include "hw/rnic/link/ring.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define STREAM_BYTES (1ULL << 30)
#define ROUND_TRIPS 20000

/* One end of the cable. */
typedef struct End {
    RNicRing tx, rx;
    int fd;                         /* socket for wake-ups */
    bool sleeps;                    /* an end that waits sleeps instead of spinning */
    uint8_t frame[RNIC_CABLE_FRAME_MAX];    /* the last frame that has arrived */
} End;

static void fail(const char *text)
{
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void wake(End *e)
{
    char byte = RNIC_CABLE_WAKE;

    /* a full socket has wake-ups to read */
    if (send(e->fd, &byte, 1, MSG_DONTWAIT) < 0 && errno != EAGAIN) {
        fail("the other end has gone");
    }
}

/* Sleeps until a byte arrives. */
static void sleep_for_wake(End *e)
{
    struct pollfd p = { .fd = e->fd, .events = POLLIN };
    char bytes[64];

    if (poll(&p, 1, -1) < 0 || recv(e->fd, bytes, sizeof(bytes), 0) <= 0) {
        fail("the other end has gone");
    }
}

static void frame_send(End *e, const uint8_t *data, uint32_t len)
{
    uint8_t *at;

    while (!(at = rnic_ring_reserve(&e->tx, len))) {
        if (e->tx.broken) {
            fail("the ring is broken");
        }
        if (e->sleeps) {
            sleep_for_wake(e);
        } else {
            cpu_relax();
        }
    }
    memcpy(at, data, len);
    rnic_ring_commit(&e->tx, len);
    if (rnic_ring_must_wake_reader(&e->tx)) {
        wake(e);
    }
}

static void frame_receive(End *e, uint32_t len)
{
    const uint8_t *at;
    uint32_t length;

    while (!(at = rnic_ring_peek(&e->rx, &length))) {
        if (e->rx.broken) {
            fail("the ring is broken");
        }
        if (!e->sleeps) {
            cpu_relax();
        } else if (rnic_ring_sleep(&e->rx)) {
            sleep_for_wake(e);
            rnic_ring_awake(&e->rx);
        }
    }
    if (length != len) {
        fail("a frame has another length");
    }
    memcpy(e->frame, at, length);
    rnic_ring_release(&e->rx, length);
    if (rnic_ring_must_wake_writer(&e->rx)) {
        wake(e);
    }
}

/* Returns the seconds for @frames frames of @len bytes between @e and its other end. */
static double stream(End *e, bool sends, uint32_t len, unsigned frames)
{
    static uint8_t data[RNIC_CABLE_FRAME_MAX];
    int64_t start = g_get_monotonic_time();

    if (sends) {
        memset(data, 0x5a, len);
        for (unsigned i = 0; i < frames; i++) {
            frame_send(e, data, len);
        }
        frame_receive(e, 1);        /* the other end has received all frames */
    } else {
        for (unsigned i = 0; i < frames; i++) {
            frame_receive(e, len);
        }
        if (e->frame[0] != 0x5a || e->frame[len - 1] != 0x5a) {
            fail("a frame has other bytes");
        }
        frame_send(e, e->frame, 1);
    }
    return (g_get_monotonic_time() - start) / 1e6;
}

/* Returns the seconds that ROUND_TRIPS round trips of a frame of 64 bytes take. */
static double ping_pong(End *e, bool first)
{
    static const uint8_t data[64];
    int64_t start = g_get_monotonic_time();

    for (unsigned i = 0; i < ROUND_TRIPS; i++) {
        if (first) {
            frame_send(e, data, sizeof(data));
        }
        frame_receive(e, sizeof(data));
        if (!first) {
            frame_send(e, data, sizeof(data));
        }
    }
    return (g_get_monotonic_time() - start) / 1e6;
}

static void measure(const char *name, bool sleeps, uint32_t len)
{
    static End e;
    unsigned frames = STREAM_BYTES / len;
    RNicCableMemory memory = { 0 };
    int file = rnic_cable_memory_new(&error_fatal);
    int fd[2], status, tx;
    double streamed, played;
    pid_t child;

    if (!rnic_cable_memory_map(&memory, file, &error_fatal) ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0) {
        fail("no memory or no socket");
    }
    close(file);
    child = fork();
    if (child < 0) {
        fail("no second process");
    }
    tx = child == 0;
    e = (End) { .fd = fd[tx], .sleeps = sleeps };
    close(fd[!tx]);
    rnic_ring_init(&e.tx, memory.control[tx], memory.data[tx]);
    rnic_ring_init(&e.rx, memory.control[!tx], memory.data[!tx]);
    streamed = stream(&e, child != 0, len, frames);
    played = ping_pong(&e, child != 0);
    if (!child) {
        exit(0);
    }
    close(e.fd);
    rnic_cable_memory_unmap(&memory);
    if (waitpid(child, &status, 0) < 0 || status) {
        fail("the other end has failed");
    }
    printf("%s.bytes_per_s=%.1f\n", name, (double)frames * len / streamed);
    printf("%s.handover_us=%.3f\n", name, played / ROUND_TRIPS / 2 * 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long len = argc == 2 ? atol(argv[1]) : 0;

    if (len < 1 || len > RNIC_CABLE_FRAME_MAX) {
        fprintf(stderr, "usage: %s BYTES, 1 to %d\n", argv[0], RNIC_CABLE_FRAME_MAX);
        return 2;
    }
    measure("cable", false, len);
    measure("cable.sleep", true, len);
    return 0;
}
