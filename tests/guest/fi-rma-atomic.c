/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libfabric over the NIC, without MPI: RMA, atomics, order, wait objects, multi-receive,
 * directed receive, cancel, wrong keys, a peer that dies.
 *
 *   fi-rma-atomic --serve [PORT]      on one node: prints "ready", runs parts
 *   fi-rma-atomic HOST [PORT]         on the other: runs the tests, prints TAP
 *
 * The client sends the names of parts to the server over TCP.
 */
#define _GNU_SOURCE
#include "fi-check.h"
#include "fi-serve.h"

static void ask(const char *part)
{
    char name[16] = { 0 };

    strncpy(name, part, sizeof(name) - 1);
    put(name, sizeof(name));
}

static void reopen(enum fi_av_type av, enum fi_wait_obj wait)
{
    ask("reopen");
    node_close(&me);
    node_open(&me, av, wait);
    node_meet(&me);
}

/* --- Tests of the client ---------------------------------------------------- */

static const size_t rma_sizes[] = { 1, 8, 40, 63, 64, 65, 255, 256, 257, 4095,
                                    4096, 4097, 16383, 16384, 16385, 1000003 };
#define RMA_SIZES (sizeof(rma_sizes) / sizeof(rma_sizes[0]))

static bool peer_has(size_t offset, size_t len, uint64_t seed)
{
    uint64_t q[3] = { offset, len, seed };
    char ok;

    ask("verify");
    put(q, sizeof(q));
    get(&ok, 1);
    return ok;
}

static void test_write(void)
{
    uint8_t *buf = malloc(1000003 + 16);
    size_t i, off, len;

    ask("window");
    sync_up();
    sync_up();
    for (i = 0; i < RMA_SIZES; i++) {
        len = rma_sizes[i];
        off = 250 + i * 7;
        fill(buf + i, len, i);
        RETRY(fi_write(me.ep, buf + i, len, NULL, me.peer, off, me.peer_key,
                       NULL));
        done_ok(me.txcq, "write");
        /* the bytes must be there when the write has completed */
        if (!peer_has(off, len, i)) {
            fail("write of %zu bytes did not arrive", len);
        }
    }
    free(buf);
}

static void test_read(void)
{
    uint8_t *buf = malloc(1000003 + 32), *want = malloc(WINDOW_BYTES / 2);
    size_t i, off, len;

    ask("window");
    sync_up();
    sync_up();
    fill(want, WINDOW_BYTES / 2, 99);
    for (i = 0; i < RMA_SIZES; i++) {
        len = rma_sizes[i];
        off = 4001 + i * 5;
        memset(buf, 0xee, len + 32);
        RETRY(fi_read(me.ep, buf + i, len, NULL, me.peer,
                      WINDOW_BYTES / 2 + off, me.peer_key, NULL));
        done_ok(me.txcq, "read");
        if (memcmp(buf + i, want + off, len) || buf[i + len] != 0xee ||
            (i && buf[i - 1] != 0xee)) {
            fail("read of %zu bytes is wrong", len);
        }
    }
    free(buf);
    free(want);
}

static void test_many_writes(void)
{
    uint8_t *buf = malloc(1 << 20);
    size_t i, n = 512, sent = 0;
    uint64_t before = fi_cntr_read(me.cntr);

    ask("window");
    sync_up();
    sync_up();
    fill(buf, 1 << 20, 5);
    for (i = 0; i < n; i++) {
        RETRY(fi_write(me.ep, buf + i * 2048, 2048, NULL, me.peer, i * 2048,
                       me.peer_key, NULL));
        sent++;
        while (sent > 200) {
            done_ok(me.txcq, "write");
            sent--;
        }
    }
    for (; sent; sent--) {
        done_ok(me.txcq, "write");
    }
    if (!peer_has(0, 1 << 20, 5)) {
        fail("data is wrong");
    }
    if (fi_cntr_read(me.cntr) - before != n) {
        fail("counter counted %llu writes, not %zu",
             (unsigned long long)(fi_cntr_read(me.cntr) - before), n);
    }
    free(buf);
}

static void test_vectors(void)
{
    uint8_t *buf = malloc(10000);
    struct iovec iov[3] = { { buf, 100 }, { buf + 3000, 5000 },
                            { buf + 9000, 37 } };
    struct fi_rma_iov rma[2] = { { 1000, 2000, me.peer_key },
                                 { 50000, 3137, me.peer_key } };
    struct fi_msg_rma msg = {
        .msg_iov = iov, .iov_count = 3, .addr = me.peer,
        .rma_iov = rma, .rma_iov_count = 2,
    };
    uint8_t whole[5137];

    fill(whole, sizeof(whole), 21);
    memcpy(buf, whole, 100);
    memcpy(buf + 3000, whole + 100, 5000);
    memcpy(buf + 9000, whole + 5100, 37);
    RETRY(fi_writemsg(me.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
    done_ok(me.txcq, "writemsg");
    memset(buf, 0, 10000);
    RETRY(fi_readmsg(me.ep, &msg, FI_COMPLETION));
    done_ok(me.txcq, "readmsg");
    if (memcmp(buf, whole, 100) || memcmp(buf + 3000, whole + 100, 5000) ||
        memcmp(buf + 9000, whole + 5100, 37)) {
        fail("what was written in pieces is read back wrong");
    }
    if (!peer_has(1000, 2000, 21)) {
        fail("the first piece is wrong");
    }
    free(buf);
}

static void test_write_data(void)
{
    uint64_t report[3];
    uint8_t buf[3000];

    fill(buf, sizeof(buf), 8);
    ask("written");
    RETRY(fi_writedata(me.ep, buf, sizeof(buf), NULL, 0x1234567890abcdefULL,
                       me.peer, 64, me.peer_key, NULL));
    done_ok(me.txcq, "writedata");
    get(report, sizeof(report));
    if (report[0] != 0x1234567890abcdefULL || report[1] != sizeof(buf) ||
        (report[2] & (FI_RMA | FI_REMOTE_CQ_DATA)) !=
        (FI_RMA | FI_REMOTE_CQ_DATA)) {
        fail("target got data %llx, %llu bytes, flags %llx",
             (unsigned long long)report[0], (unsigned long long)report[1],
             (unsigned long long)report[2]);
    }
    if (!peer_has(64, sizeof(buf), 8)) {
        fail("bytes are wrong");
    }
    must("inject_write", fi_inject_write(me.ep, buf, 40, me.peer, 7000,
                                         me.peer_key));
    sleep(1);
    fi_cq_read(me.txcq, NULL, 0);
    if (!peer_has(7000, 40, 8)) {
        fail("injected bytes are wrong");
    }
}

static void expect_error(const char *what, ssize_t ret, int want)
{
    int err = ret ? -ret : done(me.txcq);

    if (err != want) {
        fail("%s: %s, not %s", what, fi_strerror(err), fi_strerror(want));
    }
}

static void test_bad_keys(void)
{
    uint64_t nowhere = me.peer_key ^ 0x400000000000ULL;
    uint8_t buf[300] = { 0 };

    expect_error("write beyond the end",
                 fi_write(me.ep, buf, 300, NULL, me.peer, WINDOW_BYTES + 1,
                          me.peer_key, NULL), FI_EACCES);
    expect_error("read across the end",
                 fi_read(me.ep, buf, 300, NULL, me.peer, WINDOW_BYTES * 2ULL,
                         me.peer_key, NULL), FI_EACCES);
    expect_error("write without the right",
                 fi_write(me.ep, buf, 300, NULL, me.peer, 0,
                          me.peer_key & ~(1ULL << 52), NULL), FI_EACCES);
    expect_error("read of memory that is not there",
                 fi_read(me.ep, buf, 300, NULL, me.peer, 0,
                         (nowhere & ~0xffffffffffffULL) | 0x1000, NULL),
                 FI_EFAULT);
    RETRY(fi_atomic(me.ep, buf, 1, NULL, me.peer, 0, me.peer_key ^ 0x1000,
                    FI_UINT64, FI_SUM, NULL));
    expect_error("atomic with a key that is none", 0, FI_EACCES);
    RETRY(fi_atomic(me.ep, buf, 1, NULL, me.peer, WINDOW_BYTES - 4,
                    me.peer_key, FI_UINT64, FI_SUM, NULL));
    expect_error("atomic across the end", 0, FI_EACCES);
    /* a write with the right key still succeeds */
    RETRY(fi_write(me.ep, buf, 300, NULL, me.peer, 0, me.peer_key, NULL));
    done_ok(me.txcq, "write after errors");
}

/*
 * Runs operation @op on the peer's word @before.  Checks the fetched value and the new
 * word.
 */
static void fetch64(enum fi_op op, uint64_t before, uint64_t arg,
                    uint64_t after)
{
    uint64_t got = 0, zero = 0;

    RETRY(fi_write(me.ep, &before, 8, NULL, me.peer, 128, me.peer_key, NULL));
    done_ok(me.txcq, "write");
    RETRY(fi_fetch_atomic(me.ep, &arg, 1, NULL, &got, NULL, me.peer, 128,
                          me.peer_key, FI_UINT64, op, NULL));
    done_ok(me.txcq, "fetch_atomic");
    if (got != before) {
        fail("%s fetched %llx, not %llx", fi_tostr(&op, FI_TYPE_ATOMIC_OP),
             (unsigned long long)got, (unsigned long long)before);
    }
    RETRY(fi_fetch_atomic(me.ep, &zero, 1, NULL, &got, NULL, me.peer, 128,
                          me.peer_key, FI_UINT64, FI_ATOMIC_READ, NULL));
    done_ok(me.txcq, "atomic read");
    if (got != after) {
        fail("%s left %llx, not %llx", fi_tostr(&op, FI_TYPE_ATOMIC_OP),
             (unsigned long long)got, (unsigned long long)after);
    }
}

static void test_fetch(void)
{
    fetch64(FI_MIN, 10, 7, 7);
    fetch64(FI_MAX, 10, 7, 10);
    fetch64(FI_SUM, ~0ULL, 2, 1);
    fetch64(FI_PROD, 6, 7, 42);
    fetch64(FI_LOR, 0, 5, 1);
    fetch64(FI_LAND, 3, 0, 0);
    fetch64(FI_BOR, 0xf0, 0x0f, 0xff);
    fetch64(FI_BAND, 0xff, 0x3c, 0x3c);
    fetch64(FI_LXOR, 1, 1, 0);
    fetch64(FI_BXOR, 0xff, 0x0f, 0xf0);
    fetch64(FI_ATOMIC_WRITE, 1, 99, 99);
}

static void test_atomic_types(void)
{
    int32_t a[8], b[8];
    double d[4] = { 0.5, 1.5, 2.5, 3.5 }, e[4];
    size_t count;
    int i;

    memset(a, 0, sizeof(a));
    RETRY(fi_write(me.ep, a, sizeof(a), NULL, me.peer, 256, me.peer_key, NULL));
    done_ok(me.txcq, "write");
    for (i = 0; i < 8; i++) {
        a[i] = i - 4;
    }
    for (i = 0; i < 3; i++) {
        RETRY(fi_atomic(me.ep, a, 8, NULL, me.peer, 256, me.peer_key, FI_INT32,
                        FI_SUM, NULL));
        done_ok(me.txcq, "atomic");
    }
    RETRY(fi_read(me.ep, b, sizeof(b), NULL, me.peer, 256, me.peer_key, NULL));
    done_ok(me.txcq, "read");
    for (i = 0; i < 8; i++) {
        if (b[i] != 3 * (i - 4)) {
            fail("int32 sum [%d] is %d", i, b[i]);
        }
    }
    memset(e, 0, sizeof(e));
    RETRY(fi_write(me.ep, e, sizeof(e), NULL, me.peer, 512, me.peer_key, NULL));
    done_ok(me.txcq, "write");
    must("inject_atomic", fi_inject_atomic(me.ep, d, 4, me.peer, 512,
                                           me.peer_key, FI_DOUBLE, FI_SUM));
    RETRY(fi_fetch_atomic(me.ep, d, 4, NULL, e, NULL, me.peer, 512, me.peer_key,
                          FI_DOUBLE, FI_SUM, NULL));
    done_ok(me.txcq, "fetch_atomic");
    for (i = 0; i < 4; i++) {
        if (e[i] != d[i]) {
            fail("double sum [%d] is %f", i, e[i]);
        }
    }
    must("atomicvalid", fi_atomicvalid(me.ep, FI_UINT64, FI_SUM, &count));
    if (count != 4) {
        fail("%zu 64-bit elements", count);
    }
    if (!fi_atomicvalid(me.ep, FI_LONG_DOUBLE, FI_SUM, &count)) {
        fail("long double is promised");
    }
}

static void swap(enum fi_op op, uint64_t before, uint64_t compare,
                 uint64_t after)
{
    uint64_t got = 0, value = 77;

    RETRY(fi_write(me.ep, &before, 8, NULL, me.peer, 136, me.peer_key, NULL));
    done_ok(me.txcq, "write");
    RETRY(fi_compare_atomic(me.ep, &value, 1, NULL, &compare, NULL, &got, NULL,
                            me.peer, 136, me.peer_key, FI_UINT64, op, NULL));
    done_ok(me.txcq, "compare_atomic");
    if (got != before) {
        fail("%s fetched %llu", fi_tostr(&op, FI_TYPE_ATOMIC_OP),
             (unsigned long long)got);
    }
    RETRY(fi_read(me.ep, &got, 8, NULL, me.peer, 136, me.peer_key, NULL));
    done_ok(me.txcq, "read");
    if (got != after) {
        fail("%s left %llu, not %llu", fi_tostr(&op, FI_TYPE_ATOMIC_OP),
             (unsigned long long)got, (unsigned long long)after);
    }
}

static void test_compare(void)
{
    swap(FI_CSWAP, 5, 5, 77);
    swap(FI_CSWAP, 5, 6, 5);
    swap(FI_CSWAP_NE, 5, 6, 77);
    swap(FI_CSWAP_LE, 5, 4, 77);
    swap(FI_CSWAP_LT, 5, 5, 5);
    swap(FI_CSWAP_GE, 5, 6, 77);
    swap(FI_CSWAP_GT, 5, 5, 5);
    swap(FI_MSWAP, 0xf0, 0x0f, 0xf0 | (77 & 0x0f));
}

static void test_order(void)
{
    static uint8_t buf[ORDER_COUNT][20000];
    struct fi_cq_tagged_entry e;
    fi_addr_t source;
    int i, err;

    /* half of the receives are posted before the messages arrive, half of them after */
    for (i = 0; i < ORDER_COUNT / 2; i++) {
        RETRY(fi_trecv(me.ep, buf[i], 20000, NULL, FI_ADDR_UNSPEC, 7, 0,
                       buf[i]));
    }
    ask("order");
    for (i = 0; i < ORDER_COUNT; i++) {
        if (i == ORDER_COUNT / 2) {
            for (; i < ORDER_COUNT; i++) {
                RETRY(fi_trecv(me.ep, buf[i], 20000, NULL, me.peer, 7, 0,
                               buf[i]));
            }
            i = ORDER_COUNT / 2;
        }
        err = next(me.rxcq, &e, &source);
        if (err) {
            fail("message %d: %s", i, fi_strerror(err));
            return;
        }
        err = ((uint8_t *)e.op_context - buf[0]) / sizeof(buf[0]);
        if (e.len != order_size(err) || e.data != (uint64_t)err ||
            source != me.peer || e.tag != 7 || !same(buf[err], e.len, err)) {
            fail("buffer %d got message %llu of %zu bytes", err,
                 (unsigned long long)e.data, e.len);
        }
    }
}

static void test_wait(void)
{
    struct fi_cq_tagged_entry e;
    uint32_t got[20];
    ssize_t ret;
    int i;

    reopen(FI_AV_TABLE, FI_WAIT_UNSPEC);
    for (i = 0; i < 20; i++) {
        must("recv", fi_recv(me.ep, &got[i], 4, NULL, FI_ADDR_UNSPEC, NULL));
    }
    ask("slow");
    for (i = 0; i < 20; i++) {
        ret = fi_cq_sread(me.rxcq, &e, 1, NULL, 10000);
        if (ret != 1) {
            fail("message %d: %s", i, fi_strerror(-ret));
            break;
        }
        if (got[i] != (uint32_t)i) {
            fail("message %d is %u", i, got[i]);
        }
    }
    sync_up();
    if (fi_cq_sread(me.rxcq, &e, 1, NULL, 200) != -FI_EAGAIN) {
        fail("woke up with nothing to read");
    }
}

/*
 * Waits by poll() of the CQ's descriptor, with fi_trywait().  Checks that the program
 * sleeps: a descriptor that is always readable, or an fi_trywait() that always refuses,
 * causes thousands of rounds.  CPU time is not checked, because a slow host makes it long.
 */
static void test_wait_fd(void)
{
    enum { MOST_ROUNDS = 1000 };

    struct fid *fids[1];
    struct fi_cq_tagged_entry e;
    struct pollfd p = { .events = POLLIN };
    uint32_t got[20];
    int i = 0, ret, slept = 0, rounds = 0;
    double end = now() + TIMEOUT;

    reopen(FI_AV_MAP, FI_WAIT_FD);
    must("GETWAIT", fi_control(&me.rxcq->fid, FI_GETWAIT, &p.fd));
    fids[0] = &me.rxcq->fid;
    for (i = 0; i < 20; i++) {
        must("recv", fi_recv(me.ep, &got[i], 4, NULL, FI_ADDR_UNSPEC, NULL));
    }
    ask("slow");
    for (i = 0; i < 20 && now() < end; rounds++) {
        ret = fi_trywait(me.fabric, fids, 1);
        if (!ret) {
            slept += poll(&p, 1, 5000) == 1;
        } else if (ret != -FI_EAGAIN) {
            fail("trywait: %s", fi_strerror(-ret));
            break;
        }
        while (fi_cq_read(me.rxcq, &e, 1) == 1) {
            i++;
        }
    }
    if (i != 20) {
        fail("%d messages of 20", i);
    }
    if (!slept) {
        fail("never slept");
    }
    if (rounds > MOST_ROUNDS) {
        fail("%d rounds for %d messages", rounds, i);
    }
    sync_up();
}

/* Sleeps until an RMA operation is complete. */
static void test_wait_rma(void)
{
    uint8_t *buf = malloc(1 << 20);
    struct fi_cq_tagged_entry e;
    ssize_t ret;

    reopen(FI_AV_MAP, FI_WAIT_UNSPEC);
    fill(buf, 1 << 20, 31);
    RETRY(fi_write(me.ep, buf, 1 << 20, NULL, me.peer, 0, me.peer_key, NULL));
    ret = fi_cq_sread(me.txcq, &e, 1, NULL, 20000);
    if (ret != 1) {
        fail("write: %s", fi_strerror(-ret));
    }
    memset(buf, 0, 1 << 20);
    RETRY(fi_read(me.ep, buf, 1 << 20, NULL, me.peer, 0, me.peer_key, NULL));
    ret = fi_cq_sread(me.txcq, &e, 1, NULL, 20000);
    if (ret != 1 || !same(buf, 1 << 20, 31)) {
        fail("read: %zd", ret);
    }
    free(buf);
}

/*
 * Returns the index of the completed message, or MULTI_COUNT.  Completions have no order:
 * a message that the receiver reads from the sender may complete after later messages
 * that arrived whole.
 */
static unsigned int multi_find(const struct fi_cq_tagged_entry *e,
                               const bool *seen)
{
    unsigned int i;

    for (i = 0; i < MULTI_COUNT; i++) {
        if (!seen[i] && e->len == multi_size(i) && same(e->buf, e->len, i)) {
            break;
        }
    }
    return i;
}

static void test_multi_recv(void)
{
    bool seen[MULTI_COUNT + 1] = { false };
    uint64_t places[MULTI_COUNT + 1] = { 0 };
    struct fi_cq_tagged_entry e;
    unsigned int i, found;
    int n = 0, err, released = 0;
    size_t min = 64;

    must("setopt", fi_setopt(&me.ep->fid, FI_OPT_ENDPOINT,
                             FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)));
    for (i = 0; i < MULTI_POOLS; i++) {
        multi_post(i);
    }
    ask("multi");
    while (n < MULTI_COUNT) {
        err = next(me.rxcq, &e, NULL);
        if (err) {
            fail("message %d: %s", n, fi_strerror(err));
            break;
        }
        if (e.flags & FI_RECV) {
            found = multi_find(&e, seen);
            seen[found] = true;
            if (found == MULTI_COUNT) {
                fail("completion %d of %zu bytes is wrong", n, e.len);
            } else {
                places[found] = multi_place(e.buf);
            }
            n++;
        }
        if (e.flags & FI_MULTI_RECV) {
            released++;
            multi_post(multi_pool(e.op_context));
        }
    }
    if (n == MULTI_COUNT) {
        multi_check_order(places, MULTI_COUNT);
    }
    if (released < 2) {
        fail("%d buffers came back", released);
    }
    sync_up();
    reopen(FI_AV_MAP, FI_WAIT_NONE);
}

static void test_directed(void)
{
    char a[8] = "", b[8] = "", c[8] = "";
    int i;

    /* receives match in the order in which they were posted, directed or not */
    must("recv", fi_recv(me.ep, a, 8, NULL, me.peer, a));
    must("recv", fi_recv(me.ep, b, 8, NULL, FI_ADDR_UNSPEC, b));
    must("recv", fi_recv(me.ep, c, 8, NULL, me.peer, c));
    ask("three");
    for (i = 0; i < 3; i++) {
        done_ok(me.rxcq, "recv");
    }
    if (strcmp(a, "one") || strcmp(b, "two") || strcmp(c, "three")) {
        fail("got '%s', '%s', '%s'", a, b, c);
    }
    sync_up();
}

static void test_cancel(void)
{
    struct fi_cq_tagged_entry e;
    char buf[8];
    int err;

    must("trecv", fi_trecv(me.ep, buf, 8, NULL, FI_ADDR_UNSPEC, 55, 0, buf));
    must("cancel", fi_cancel(&me.ep->fid, buf));
    err = next(me.rxcq, &e, NULL);
    if (err != FI_ECANCELED || e.op_context != buf) {
        fail("%s", fi_strerror(err));
    }
}

static void test_delivery(void)
{
    struct iovec iov;
    struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = me.peer };
    static char buf[20000];
    static const size_t sizes[] = { 8, 3000, 20000 };
    double from;
    int i;

    for (i = 0; i < 3; i++) {
        iov.iov_base = buf;
        iov.iov_len = sizes[i];
        ask("delivery");
        from = now();
        RETRY(fi_sendmsg(me.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
        done_ok(me.txcq, "sendmsg");
        if (now() - from < 0.7) {
            fail("%zu bytes were delivered before anybody received", sizes[i]);
        }
        sync_up();
    }
}

/*
 * Sends @count messages, or until the receiver is full, and waits for each completion.
 * The receiver makes no progress.
 */
static void send_asleep(uint32_t size, uint32_t count, bool until_full)
{
    static uint8_t buf[HELD_BYTES_MAX];
    struct { uint32_t count, size; } sent = { .size = size };
    double end = now() + TIMEOUT;
    uint32_t good;
    ssize_t ret;
    char c;

    ask("asleep");
    get(&c, 1);
    while (sent.count < count) {
        fill(buf, size, sent.count);
        ret = fi_send(me.ep, buf, size, NULL, me.peer, NULL);
        if (ret == -FI_EAGAIN) {
            if (until_full || now() > end) {
                break;
            }
            fi_cq_read(me.txcq, NULL, 0);
            continue;
        }
        must("fi_send", ret);
        sent.count++;
        done_ok(me.txcq, "send to a receiver that makes no progress");
    }
    memset(buf, 0, sizeof(buf));
    if (sent.count < HELD_COUNT) {
        fail("%u sends of %u bytes completed, not %u", sent.count, size,
             HELD_COUNT);
    }
    if (until_full && sent.count == count) {
        fail("%u sends of %u bytes, and no end", count, size);
    }
    put(&sent, sizeof(sent));
    get(&good, sizeof(good));
    if (good != sent.count) {
        fail("%u messages of %u bytes are right, not %u", good, size,
             sent.count);
    }
}

static void test_held(void)
{
    static const uint32_t sizes[] = { HELD_BYTES_MAX, 8, 41, 1000 };
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        /* the first call without a ring of slots, the second with a ring */
        reopen(FI_AV_MAP, FI_WAIT_NONE);
        send_asleep(sizes[i], HELD_COUNT, false);
        send_asleep(sizes[i], HELD_COUNT, false);
    }
}

static void test_held_full(void)
{
    reopen(FI_AV_MAP, FI_WAIT_NONE);
    send_asleep(HELD_BYTES_MAX, 16 * HELD_COUNT, true);
    reopen(FI_AV_MAP, FI_WAIT_NONE);
    send_asleep(8, 16 * HELD_COUNT, true);
}

/* The peer is killed.  Operations on it end with an error. */
static void test_dead_peer(void)
{
    static char buf[100000];
    struct node live;
    char c = 'k';
    int err;

    ask("victim");
    live = me;
    node_open(&me, FI_AV_MAP, FI_WAIT_NONE);
    node_meet(&me);
    /* a rendezvous to which the peer does not respond */
    RETRY(fi_send(me.ep, buf, sizeof(buf), NULL, me.peer, NULL));
    put(&c, 1);
    get(&c, 1);
    err = done(me.txcq);
    if (!err || err == FI_ETIMEDOUT) {
        fail("rendezvous: %s", fi_strerror(err));
    }
    err = -fi_send(me.ep, buf, 8, NULL, me.peer, NULL);
    if (!err) {
        err = done(me.txcq);
    }
    if (!err) {
        fail("a message to nobody was sent");
    }
    err = -fi_write(me.ep, buf, 1000, NULL, me.peer, 0, me.peer_key, NULL);
    if (!err) {
        err = done(me.txcq);
    }
    if (!err) {
        fail("nobody's memory was written");
    }
    node_close(&me);
    me = live;
    ask("sync");
    sync_up();
}

static void subtest(const char *name, void (*run)(void))
{
    double from = now();

    failed = 0;
    run();
    failures += failed != 0;
    printf("%sok %d - %s # %.1f s\n", failed ? "not " : "", ++subtests, name,
           now() - from);
    fflush(stdout);
}

static int client(void)
{
    subtest("RMA write", test_write);
    subtest("RMA read", test_read);
    subtest("many writes in flight, counter", test_many_writes);
    subtest("vectors", test_vectors);
    subtest("remote CQ data, inject", test_write_data);
    subtest("wrong keys and addresses", test_bad_keys);
    subtest("fetching atomics", test_fetch);
    subtest("atomics of 32 bits and doubles, vectors", test_atomic_types);
    subtest("compare and swap", test_compare);
    subtest("order of messages", test_order);
    subtest("delivery complete", test_delivery);
    subtest("directed receive", test_directed);
    subtest("cancel", test_cancel);
    subtest("multi-receive", test_multi_recv);
    subtest("sleeping in fi_cq_sread", test_wait);
    subtest("sleeping in poll", test_wait_fd);
    subtest("sleeping for RMA", test_wait_rma);
    subtest("sends to a peer that makes no progress", test_held);
    subtest("sends until a peer that makes no progress is full",
            test_held_full);
    subtest("a peer that dies", test_dead_peer);
    ask("end");
    node_close(&me);
    printf("1..%d\n", subtests);
    return failures != 0;
}

int main(int argc, char **argv)
{
    const char *port = argc > 2 ? argv[2] : "7447";
    bool server;
    int one = 1;

    if (argc < 2) {
        die("usage: fi-rma-atomic --serve [PORT] | HOST [PORT]");
    }
    server = !strcmp(argv[1], "--serve");
    oob = server ? listen_on(port) : connect_to(argv[1], port);
    setsockopt(oob, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    node_open(&me, FI_AV_MAP, FI_WAIT_NONE);
    node_meet(&me);
    return server ? serve() : client();
}
