/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages in the common part of the providers: protocols by length, matching, order,
 * flow control.
 */

#include "bed.h"

#define LONGEST     (1 << 20)
#define BURST       200
#define RANDOM_SEED 7723

static uint8_t src[LONGEST], dst[LONGEST];

/* Sends @len bytes from node 0 to node 1, and checks both completions. */
static void transfer(size_t len, uint64_t flags)
{
    struct iovec iov = { src, len };
    struct fi_msg msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = 1, .context = src,
    };
    struct fi_cq_tagged_entry entry;

    bed_fill(src, len, len);
    memset(dst, 0, len + 1);
    CHECK(!fi_recv(bed.node[1].ep, dst, sizeof(dst), NULL, 0, dst));
    CHECK(!fi_sendmsg(bed.node[0].ep, &msg, flags | FI_COMPLETION));
    bed_done(0, src);
    CHECK(!bed_wait(1, &entry));
    CHECK(entry.op_context == dst && entry.len == len);
    CHECK((entry.flags & (FI_RECV | FI_MSG)) == (FI_RECV | FI_MSG));
    if (!CHECK(bed_filled(dst, len, len) && (len == LONGEST || !dst[len]))) {
        printf("# %zu bytes\n", len);
    }
}

static void test_sizes(void)
{
    static const size_t sizes[] = {
        0, 1, 8, 56, 57, 64, 4096, 4097, 16384, 16385, LONGEST - 1,
    };
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        transfer(sizes[i], 0);
    }
    /* The first rendezvous requested a ring, so that slots were used after it. */
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE_NOTE]);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ]);
    CHECK(loop.hints);
}

/*
 * A message of 8 bytes takes one request, because the common part sends no acks for it.
 */
static void test_cost(void)
{
    unsigned int i;

    for (i = 0; i < 10; i++) {
        transfer(8, 0);
    }
    CHECK(loop.posted[RNIC_FI_REQUEST_MESSAGE] == 10);
    CHECK(!loop.posted[RNIC_FI_REQUEST_READ]);
    CHECK(!loop.posted[RNIC_FI_REQUEST_WRITE_NOTE]);
}

static void test_delivery_complete(void)
{
    transfer(8, FI_DELIVERY_COMPLETE);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 1);
}

/* Slots of a ring are used again after the receiver has emptied them. */
static void test_slots(void)
{
    unsigned int i;

    transfer(1000, 0);      /* the sender requests a ring */
    bed_poll(4);
    loop.posted[RNIC_FI_REQUEST_WRITE_NOTE] = 0;
    loop.posted[RNIC_FI_REQUEST_READ] = 0;
    for (i = 0; i < 100; i++) {
        transfer(1000 + i, 0);
    }
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE_NOTE] == 100);
    CHECK(!loop.posted[RNIC_FI_REQUEST_READ]);
}

/* A quiet peer loses its ring.  Its next message requests another ring. */
static void test_quiet(void)
{
    uint64_t end;

    transfer(1000, 0);      /* the sender requests a ring */
    bed_poll(4);
    transfer(1000, 0);
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE_NOTE] == 1);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 1);
    end = ofi_gettime_ms() + rnic_fi_quiet_ms + 3 * RNIC_FI_WATCH_MS;
    while (ofi_gettime_ms() < end) {
        bed_poll(100);
    }
    transfer(1000, 0);
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE_NOTE] == 1);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 2);
}

/* Registers @count regions at node @nr, so that its NIC can expose less. */
static void regions_open(unsigned int nr, struct fid_mr **mr, unsigned int count)
{
    while (count--) {
        CHECK(!fi_mr_reg(bed.node[nr].domain, dst, 1, FI_REMOTE_READ, 0, 0, 0, mr++,
                         NULL));
    }
}

static void regions_close(struct fid_mr **mr, unsigned int count)
{
    while (count--) {
        CHECK(!fi_close(&(*mr++)->fid));
    }
}

/* More sources than the NIC can expose: the user sends again later. */
static void test_sources(void)
{
    struct fid_mr *mr[LOOP_REGIONS];
    unsigned int i;

    regions_open(0, mr, LOOP_REGIONS - 3);
    loop.stopped = 1 << 1;
    for (i = 0; i < 2; i++) {
        CHECK(!fi_send(bed.node[0].ep, src, LONGEST, NULL, 1, src));
    }
    CHECK(fi_send(bed.node[0].ep, src, LONGEST, NULL, 1, src) == -FI_EAGAIN);
    loop.stopped = 0;
    for (i = 0; i < 2; i++) {
        CHECK(!fi_recv(bed.node[1].ep, dst, LONGEST, NULL, 0, dst));
        bed_done(1, dst);
        bed_done(0, src);
    }
    transfer(LONGEST - 1, 0);
    /* The end of no rendezvous can make room. */
    regions_open(0, mr + LOOP_REGIONS - 3, 2);
    CHECK(fi_send(bed.node[0].ep, src, LONGEST, NULL, 1, src) == -FI_ENOSPC);
    regions_close(mr, LOOP_REGIONS - 1);
    transfer(LONGEST - 1, 0);
}

/* Rendezvous and rings work with bases for which there are no keys. */
static void test_wide(void)
{
    struct fid_mr *mr;

    loop.wide = true;
    CHECK(fi_mr_reg(bed.node[0].domain, src, 8, FI_REMOTE_READ, 0, 0, 0, &mr,
                    NULL) == -FI_EINVAL);
    transfer(1000, 0);      /* requests the ring */
    bed_poll(4);
    transfer(1000, 0);
    transfer(LONGEST - 1, 0);
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE_NOTE] == 1);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 2);
}

/* A receiver that can expose no ring gets all messages by rendezvous. */
static void test_no_ring(void)
{
    struct fid_mr *mr[LOOP_REGIONS];

    regions_open(1, mr, LOOP_REGIONS - 1);
    transfer(1000, 0);
    bed_poll(4);
    transfer(1000, 0);
    CHECK(!loop.posted[RNIC_FI_REQUEST_WRITE_NOTE]);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 2);
    regions_close(mr, LOOP_REGIONS - 1);
}

static void test_tags(void)
{
    struct fi_cq_tagged_entry entry;
    uint32_t a = 0xa, b = 0xb, got[2] = { 0 };

    CHECK(!fi_trecv(bed.node[1].ep, &got[0], 4, NULL, 0, 0x20, 0xf, &got[0]));
    CHECK(!fi_tsend(bed.node[0].ep, &a, 4, NULL, 1, 0x11, &a));
    CHECK(!fi_tsend(bed.node[0].ep, &b, 4, NULL, 1, 0x23, &b));
    bed_done(0, &a);
    bed_done(0, &b);
    CHECK(!bed_wait(1, &entry));
    CHECK(entry.op_context == &got[0] && entry.tag == 0x23 && got[0] == b);
    CHECK(entry.flags & FI_TAGGED);
    /* the message with tag 0x11 was unexpected */
    CHECK(!fi_trecv(bed.node[1].ep, &got[1], 4, NULL, 0, 0x11, 0, &got[1]));
    CHECK(!bed_wait(1, &entry));
    CHECK(entry.op_context == &got[1] && entry.tag == 0x11 && got[1] == a);
}

static void test_cq_data(void)
{
    static const uint64_t data[] = { 0x89abcdef, 0x123456789abcdefULL };
    struct fi_cq_tagged_entry entry;
    size_t i;

    for (i = 0; i < 2; i++) {
        CHECK(!fi_recv(bed.node[1].ep, dst, 8, NULL, 0, dst));
        CHECK(!fi_senddata(bed.node[0].ep, src, 8, NULL, data[i], 1, src));
        bed_done(0, src);
        CHECK(!bed_wait(1, &entry));
        CHECK(entry.flags & FI_REMOTE_CQ_DATA && entry.data == data[i]);
    }
}

static void test_truncated(void)
{
    struct fi_cq_tagged_entry entry;

    CHECK(!fi_recv(bed.node[1].ep, dst, 10, NULL, 0, dst));
    CHECK(!fi_send(bed.node[0].ep, src, 11, NULL, 1, src));
    bed_done(0, src);
    CHECK(bed_wait(1, &entry) == FI_ETRUNC);
    CHECK(entry.op_context == dst && entry.len == 10);
}

static void test_counters(void)
{
    unsigned int i;

    for (i = 0; i < 5; i++) {
        transfer(8, 0);
    }
    CHECK(fi_cntr_read(bed.node[0].sent) == 5);
    CHECK(fi_cntr_read(bed.node[1].received) == 5);
    CHECK(!fi_cntr_readerr(bed.node[0].sent));
}

/*
 * Receives @count numbers from node 0 at node 1; checks that they are 0, 1, ... in order.
 */
static void receive_numbers(uint32_t count)
{
    struct fi_cq_tagged_entry entry;
    uint32_t i, got;

    for (i = 0; i < count; i++) {
        CHECK(!fi_recv(bed.node[1].ep, &got, sizeof(got), NULL, 0, &got));
        if (!CHECK(!bed_wait(1, &entry)) || !CHECK(got == i)) {
            printf("# message %u: %u\n", i, got);
            return;
        }
    }
}

/*
 * Sends the numbers from @i to @end - 1 to node 1.  Returns @end, or the number that the
 * endpoint refused with FI_EAGAIN.
 */
static uint32_t send_numbers(uint32_t i, uint32_t end)
{
    ssize_t ret;

    for (; i < end; i++) {
        ret = fi_inject(bed.node[0].ep, &i, sizeof(i), 1);
        if (ret) {
            CHECK(ret == -FI_EAGAIN);
            break;
        }
    }
    return i;
}

/* The NIC executes requests in reverse order.  The messages arrive in their own order. */
static void test_reverse(void)
{
    loop.reverse = true;
    CHECK(send_numbers(0, BURST) == BURST);
    receive_numbers(BURST);
    CHECK(loop.busy == 0);      /* peer_inflight is below the number of channels */
}

/* A receiver stops: first its mailbox becomes full, then the queues of the sender. */
static void test_backpressure(void)
{
    uint32_t sent;

    loop.stopped = 1 << 1;
    loop.waits_max = 1000000;
    sent = send_numbers(0, 1000000);
    bed_poll(100);
    CHECK(loop.full);
    sent = send_numbers(sent, 1000000);
    CHECK(sent == LOOP_MBOX_ENTRIES + loop_transport.peer_inflight +
          RNIC_FI_PEER_QUEUE);
    /* other peers are not blocked */
    CHECK(!fi_recv(bed.node[2].ep, dst, 8, NULL, 0, dst));
    CHECK(!fi_inject(bed.node[0].ep, src, 8, 2));
    bed_done(2, dst);
    loop.stopped = 0;
    receive_numbers(sent);
}

/*
 * A send to a full mailbox completes early although reads from the same peer succeed.
 * The reads need no process there, so they do not show that the peer takes messages.
 */
static void test_hold(void)
{
    uint64_t end = ofi_gettime_ms() + 5 * RNIC_FI_WATCH_MS;
    struct fi_cq_tagged_entry entry;
    int err;

    loop.stopped = 1 << 1;
    loop.waits_max = 1000000;
    CHECK(send_numbers(0, LOOP_MBOX_ENTRIES) == LOOP_MBOX_ENTRIES);
    CHECK(!fi_send(bed.node[0].ep, src, 8, NULL, 1, src));
    do {
        CHECK(!fi_read(bed.node[0].ep, dst, 8, NULL, 1, 0,
                       fi_mr_key(bed.node[1].mr), dst));
        err = bed_wait(0, &entry);
    } while (!err && entry.op_context == dst && ofi_gettime_ms() < end);
    CHECK(!err && entry.op_context == src);
    CHECK(loop.full);
    bed_done(0, entry.op_context == src ? dst : src);
    /* the message arrives later */
    loop.stopped = 0;
    receive_numbers(LOOP_MBOX_ENTRIES);
    CHECK(!fi_recv(bed.node[1].ep, dst, 8, NULL, 0, dst));
    bed_done(1, dst);
}

/* A message is posted again after the NIC has given up because of a full mailbox. */
static void test_retry(void)
{
    loop.fail_kind = RNIC_FI_REQUEST_MESSAGE;
    loop.fail_err = -FI_ENOBUFS;
    loop.fails = RNIC_FI_FULL_RETRIES;
    transfer(8, 0);
    CHECK(loop.posted[RNIC_FI_REQUEST_MESSAGE] == RNIC_FI_FULL_RETRIES + 1);
    loop.fail_err = -FI_EFAULT;
    loop.fails = RNIC_FI_FAULT_RETRIES;
    transfer(8, 0);
    CHECK(!loop.fails);
}

/*
 * Two nodes send messages of random lengths to a third, which receives those of each node
 * in order.  At random, the NIC reverses requests, and fails some with
 * -FI_ENOBUFS.
 */
static void test_random(void)
{
    struct { uint32_t seed, node, number; } head;
    const char *fresh = getenv("RNIC_TEST_SEED");
    uint32_t next[2] = { 0 }, sent[2] = { 0 };
    struct fi_cq_tagged_entry entry;
    static uint8_t out[2][4096];
    unsigned int i, n, state;
    size_t len;

    state = RANDOM_SEED + (fresh ? strtoul(fresh, NULL, 0) : 0);
    printf("# random seed %u; again: RNIC_TEST_SEED=%s\n", state,
           fresh ? fresh : "0");
    for (i = 0; i < 2 * BURST; i++) {
        n = rand_r(&state) % 2;
        loop.reverse = rand_r(&state) % 2;
        if (!loop.fails && !(rand_r(&state) % 4)) {
            loop.fail_kind = rand_r(&state) % 2 ? RNIC_FI_REQUEST_MESSAGE :
                             RNIC_FI_REQUEST_WRITE_NOTE;
            loop.fail_err = -FI_ENOBUFS;
            loop.fails = 1;
        }
        len = sizeof(head) + rand_r(&state) % (rand_r(&state) % 2 ? 64 : 4000);
        head.seed = rand_r(&state);
        head.node = n;
        head.number = sent[n]++;
        memcpy(out[n], &head, sizeof(head));
        bed_fill(out[n] + sizeof(head), len - sizeof(head), head.seed);
        CHECK(!fi_send(bed.node[n].ep, out[n], len, NULL, 2, out[n]));
        bed_done(n, out[n]);
        /* receives are posted late, so that some messages are unexpected */
        while (rand_r(&state) % 2 && next[0] + next[1] < sent[0] + sent[1]) {
            CHECK(!fi_recv(bed.node[2].ep, dst, sizeof(dst), NULL, FI_ADDR_UNSPEC,
                           dst));
            if (!CHECK(!bed_wait(2, &entry))) {
                return;
            }
            memcpy(&head, dst, sizeof(head));
            CHECK(head.node < 2 && head.number == next[head.node % 2]++);
            CHECK(bed_filled(dst + sizeof(head), entry.len - sizeof(head),
                             head.seed));
        }
    }
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE_NOTE]);
}

const struct bed_case msg_cases[] = {
    { "msg/sizes", test_sizes },
    { "msg/cost", test_cost },
    { "msg/delivery-complete", test_delivery_complete },
    { "slot/again", test_slots },
    { "quiet/ring", test_quiet },
    { "op/sources", test_sources },
    { "slot/no-ring", test_no_ring },
    { "mr/wide", test_wide },
    { "msg/tags", test_tags },
    { "msg/cq-data", test_cq_data },
    { "rx/truncated", test_truncated },
    { "cntr/messages", test_counters },
    { "pkt/reverse", test_reverse },
    { "pkt/backpressure", test_backpressure },
    { "pkt/hold", test_hold },
    { "pkt/retry", test_retry },
    { "pkt/random", test_random },
    { NULL },
};
