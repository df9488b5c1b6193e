/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Server side of the test program fi-rma-atomic: runs the parts whose names the
 * client sends, until the name "end".
 */
#ifndef FI_SERVE_H
#define FI_SERVE_H

#include "fi-multi.h"

/*
 * Clears the lower half of the own window, and fills the upper half with pattern 99.
 * Waits until the client has used the window.
 */
static void serve_window(void)
{
    memset(me.window, 0, WINDOW_BYTES);
    fill(me.window + WINDOW_BYTES / 2, WINDOW_BYTES / 2, 99);
    sync_up();
    sync_up();
}

/*
 * Receives a range of the own window and a seed.  Answers whether the range has the
 * pattern of this seed.
 */
static void serve_verify(void)
{
    uint64_t q[3];      /* offset, length, seed */
    char ok;

    get(q, sizeof(q));
    ok = same(me.window + q[0], q[1], q[2]);
    put(&ok, 1);
}

#define HELD_COUNT 1024         /* fi_exanet(7): at least so many sends complete without
                                 * a receiver */
#define HELD_BYTES_MAX 4096
#define ORDER_COUNT 500

static size_t order_size(int i)
{
    static const size_t sizes[] = { 8, 9000, 100, 0, 20000, 41, 8168, 40, 300 };

    return sizes[i % 9];
}

static void serve_order(void)
{
    static uint8_t buf[ORDER_COUNT][20000];
    int i;

    for (i = 0; i < ORDER_COUNT; i++) {
        fill(buf[i], order_size(i), i);
        RETRY(fi_tsenddata(me.ep, buf[i], order_size(i), NULL, i, me.peer, 7,
                           NULL));
    }
    for (i = 0; i < ORDER_COUNT; i++) {
        must("send", -done(me.txcq));
    }
}

/*
 * Sends 20 messages with a pause before each, so that the receiver sleeps between the
 * messages.
 */
static void serve_slow(void)
{
    uint32_t i;

    for (i = 0; i < 20; i++) {
        usleep(20000 + i * 3000);
        must("inject", fi_inject(me.ep, &i, sizeof(i), me.peer));
    }
    sync_up();
}

#define MULTI_COUNT 300

static size_t multi_size(unsigned int i)
{
    return 30 + i % 30;
}

static void serve_multi(void)
{
    uint8_t buf[64];
    int i;

    for (i = 0; i < MULTI_COUNT; i++) {
        fill(buf, multi_size(i), i);
        RETRY(fi_send(me.ep, buf, multi_size(i), NULL, me.peer, NULL));
        must("send", -done(me.txcq));
    }
    sync_up();
}

static void serve_three(void)
{
    static const char text[3][6] = { "one", "two", "three" };
    int i;

    for (i = 0; i < 3; i++) {
        must("inject", fi_inject(me.ep, text[i], 6, me.peer));
    }
    sync_up();
}

static void serve_delivery(void)
{
    struct fi_context ctx;
    static char buf[20000];

    sleep(1);
    must("recv", fi_recv(me.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, &ctx));
    must("recv", -done(me.rxcq));
    sync_up();
}

static void serve_written(void)
{
    struct fi_cq_tagged_entry e;
    uint64_t report[3] = { 0 };

    if (!next(me.rxcq, &e, NULL)) {
        report[0] = e.data;
        report[1] = e.len;
        report[2] = e.flags;
    }
    put(report, sizeof(report));
}

/*
 * Runs an endpoint in a child process, and kills the child when the client requests
 * this.
 */
static void serve_victim(void)
{
    int met[2];
    pid_t child;
    char c = 'm';

    fflush(stdout);
    if (pipe(met)) {
        die("pipe: %s", strerror(errno));
    }
    child = fork();
    if (!child) {
        node_open(&me, FI_AV_MAP, FI_WAIT_NONE);
        node_meet(&me);
        if (write(met[1], &c, 1) != 1) {
            die("pipe: %s", strerror(errno));
        }
        for (;;) {
            fi_cq_read(me.rxcq, NULL, 0);
        }
    }
    /*
     * Waits, because the child uses the TCP connection until the child has met its
     * peer.
     */
    if (read(met[0], &c, 1) != 1) {
        die("the victim died too early");
    }
    close(met[0]);
    close(met[1]);
    get(&c, 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    put(&c, 1);
}

/*
 * Makes no progress until the client reports how many messages the client has sent.
 * Then receives these messages, and reports how many had the right bytes.
 */
static void serve_asleep(void)
{
    static uint8_t buf[HELD_BYTES_MAX];
    struct { uint32_t count, size; } sent;
    uint32_t i, good = 0;

    put("z", 1);
    if (recv(oob, &sent, sizeof(sent), MSG_WAITALL) != sizeof(sent)) {
        die("connection ended");
    }
    for (i = 0; i < sent.count; i++) {
        memset(buf, 0, sizeof(buf));
        must("recv", fi_recv(me.ep, buf, sizeof(buf), NULL, me.peer, NULL));
        must("recv", -done(me.rxcq));
        good += same(buf, sent.size, i);
    }
    put(&good, sizeof(good));
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    { "window", serve_window },
    { "verify", serve_verify },
    { "order", serve_order },
    { "slow", serve_slow },
    { "multi", serve_multi },
    { "three", serve_three },
    { "delivery", serve_delivery },
    { "written", serve_written },
    { "asleep", serve_asleep },
    { "victim", serve_victim },
    { "sync", sync_up },
};

static int serve(void)
{
    char name[16];
    size_t i;

    for (;;) {
        get(name, sizeof(name));
        if (!strcmp(name, "end")) {
            node_close(&me);
            return 0;
        }
        if (!strcmp(name, "reopen")) {
            node_close(&me);
            node_open(&me, FI_AV_MAP, FI_WAIT_NONE);
            node_meet(&me);
            continue;
        }
        for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            if (!strcmp(name, parts[i].name)) {
                parts[i].run();
            }
        }
    }
}

#endif /* FI_SERVE_H */
