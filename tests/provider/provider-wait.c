/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that sleep on wait objects of the common part of the providers. */

#include "bed.h"

/* Gives node 0 a CQ whose readers may sleep, and node 1 its new name. */
static void open_waiting(void)
{
    fi_addr_t addr = 0;

    bed_node_close(0);
    bed_node_open(0, FI_WAIT_FD);
    CHECK(!fi_av_remove(bed.node[1].av, &addr, 1, 0));
    CHECK(fi_av_insert(bed.node[1].av, &bed.node[0].name, 1, &addr, 0, NULL) == 1 &&
          addr == 0);
    addr = FI_ADDR_NOTAVAIL;
    CHECK(fi_av_insert(bed.node[0].av, &bed.node[0].name, 1, &addr, 0, NULL) == 1 &&
          addr == 0);
    CHECK(fi_av_insert(bed.node[0].av, &bed.node[1].name, 1, &addr, 0, NULL) == 1 &&
          addr == 1);
}

/* Time at which the thread of wait_for() has run its function. */
static uint64_t woken_ms;

static void *run_later(void *arg)
{
    void (**wake)(void) = arg;

    usleep(50000);
    woken_ms = ofi_gettime_ms();
    (*wake)();
    return NULL;
}

/*
 * Sleeps in fi_cq_sread() of node 0 until a thread has called @wake.
 *
 * The timer of the watch also wakes the reader, after RNIC_FI_WATCH_MS.  So a wait of
 * less than half of that has ended by a wake-up of the NIC.  A wake-up usually takes less
 * than a millisecond; a busy machine may take some hundred more.  A reader that polls
 * would arm the NIC for each poll.
 */
static void wait_for(void (*wake)(void), void *context)
{
    struct fi_cq_tagged_entry entry = { 0 };
    uint64_t waited;
    pthread_t thread;

    loop.arms = 0;
    CHECK(!pthread_create(&thread, NULL, run_later, &wake));
    CHECK(fi_cq_sread(bed.node[0].cq, &entry, 1, NULL, 10000) == 1);
    waited = ofi_gettime_ms();
    CHECK(entry.op_context == context);
    pthread_join(thread, NULL);
    if (!CHECK(waited < woken_ms + RNIC_FI_WATCH_MS / 2)) {
        printf("# woken after %" PRIu64 " ms\n", waited - woken_ms);
    }
    if (!CHECK(loop.arms < 10)) {
        printf("# armed %u times\n", loop.arms);
    }
}

static void test_wait_time(void)
{
    struct fi_cq_tagged_entry entry;
    uint64_t start = ofi_gettime_ms();

    open_waiting();
    CHECK(fi_cq_sread(bed.node[0].cq, &entry, 1, NULL, 30) == -FI_EAGAIN);
    CHECK(ofi_gettime_ms() >= start + 29);
}

static void test_wait_message(void)
{
    char buf[8];

    open_waiting();
    CHECK(!fi_recv(bed.node[0].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf));
    /* Progress of the sender would be progress of the waiter, too. */
    loop.held = 1 << RNIC_FI_REQUEST_MESSAGE;
    CHECK(!fi_inject(bed.node[1].ep, "wake up", 8, 0));
    wait_for(loop_release, buf);
    bed_poll(2);
}

static void test_wait_read(void)
{
    static uint8_t local[1024];

    open_waiting();
    loop.held = 1 << RNIC_FI_REQUEST_READ;
    CHECK(!fi_read(bed.node[0].ep, local, sizeof(local), NULL, 1, 0,
                   fi_mr_key(bed.node[1].mr), local));
    bed_poll(1);        /* accepts the request, after which the end wakes */
    wait_for(loop_release, local);
    /* the message gets the memory of the read; loop_post() checks that it does not wake */
    CHECK(!fi_inject(bed.node[0].ep, local, 8, 1));
    bed_poll(2);
}

static void test_wait_write(void)
{
    static uint8_t local[1024];

    open_waiting();
    loop.held = 1 << RNIC_FI_REQUEST_WRITE;
    CHECK(!fi_write(bed.node[0].ep, local, sizeof(local), NULL, 1, 0,
                    fi_mr_key(bed.node[1].mr), local));
    wait_for(loop_release, local);
}

/* Returns the result of fi_trywait() for @cq. */
static int try_wait(struct fid_cq *cq)
{
    struct fid *fid = &cq->fid;

    return fi_trywait(bed.fabric, &fid, 1);
}

/* A waiter may sleep while the channels of reads that have ended are still in use. */
static void test_wait_channels(void)
{
    uint8_t local[64];
    unsigned int i;

    open_waiting();
    loop.keep = true;
    for (i = 0; i < 3 * LOOP_MSG_CHANNELS; i++) {
        CHECK(!fi_read(bed.node[0].ep, local, sizeof(local), NULL, 1, 0,
                       fi_mr_key(bed.node[1].mr), local));
    }
    for (i = 0; i < 3 * LOOP_MSG_CHANNELS; i++) {
        bed_done(0, local);
    }
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 3 * LOOP_MSG_CHANNELS);
    CHECK(!try_wait(bed.node[0].cq));
}

/* Opens another endpoint of node 0 with @cq, and inserts its name in the AV of node 1. */
static struct fid_ep *open_second(struct fid_cq *cq, fi_addr_t *addr)
{
    struct rnic_fi_name name;
    size_t len = sizeof(name);
    struct fid_ep *ep;

    free(bed.info->domain_attr->name);
    bed.info->domain_attr->name = strdup("loop0");
    CHECK(!fi_endpoint(bed.node[0].domain, bed.info, &ep, NULL));
    CHECK(!fi_ep_bind(ep, &bed.node[0].av->fid, 0));
    CHECK(!fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
    CHECK(!fi_enable(ep));
    CHECK(!fi_getname(&ep->fid, &name, &len));
    CHECK(fi_av_insert(bed.node[1].av, &name, 1, addr, 0, NULL) == 1);
    return ep;
}

/*
 * A reader sleeps and wakes after the first of two endpoints of its CQ is closed.  After the
 * last endpoint is closed, the wait object does not use the NIC any more.
 */
static void test_wait_shared(void)
{
    struct fid_ep *second, *unbound;
    fi_addr_t addr = 0;
    char buf[8];

    open_waiting();
    second = open_second(bed.node[0].cq, &addr);
    CHECK(!fi_close(&bed.node[0].ep->fid));
    CHECK(!fi_recv(second, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf));
    loop.held = 1 << RNIC_FI_REQUEST_MESSAGE;
    CHECK(!fi_inject(bed.node[1].ep, "wake up", 8, addr));
    wait_for(loop_release, buf);
    bed_poll(2);
    CHECK(!fi_close(&second->fid));
    /* flags without FI_SEND and FI_RECV bind nothing */
    CHECK(!fi_endpoint(bed.node[0].domain, bed.info, &unbound, NULL));
    CHECK(!fi_ep_bind(unbound, &bed.node[0].cq->fid, 0));
    CHECK(!fi_close(&unbound->fid));
    loop.arms = 0;
    CHECK(!try_wait(bed.node[0].cq));
    CHECK(!loop.arms);
    CHECK(!fi_endpoint(bed.node[0].domain, bed.info, &bed.node[0].ep, NULL));
}

static uint8_t sent[8];

static void send_now(void)
{
    CHECK(!fi_send(bed.node[0].ep, sent, sizeof(sent), NULL, 1, sent));
}

/* A send of another thread wakes the reader, because only a poll finds the ack. */
static void test_wait_send(void)
{
    open_waiting();
    wait_for(send_now, sent);
}

/*
 * A reader does not sleep while a read or write is posted whose end wakes nobody, because no
 * wait object existed when the request was posted.
 */
static void test_wait_early(void)
{
    struct fi_cq_attr attr = {
        .format = FI_CQ_FORMAT_TAGGED,
        .wait_obj = FI_WAIT_FD,
    };
    static uint8_t local[1024];
    uint64_t key = fi_mr_key(bed.node[1].mr);
    struct fid_ep *second;
    struct fid_cq *cq;
    fi_addr_t addr;

    loop.held = 1 << RNIC_FI_REQUEST_WRITE;
    CHECK(!fi_write(bed.node[0].ep, local, sizeof(local), NULL, 1, 0, key, local));
    CHECK(!fi_cq_open(bed.node[0].domain, &attr, &cq, NULL));
    second = open_second(cq, &addr);
    CHECK(try_wait(cq) == -FI_EAGAIN);
    loop_release();
    bed_done(0, local);
    CHECK(!try_wait(cq));
    CHECK(!fi_close(&second->fid));
    CHECK(!fi_close(&cq->fid));
}

/*
 * A reader does not sleep while a message is left in the mailbox, because memory for its
 * sender is lacking.
 */
static void test_wait_memory(void)
{
    char buf[8];

    open_waiting();
    CHECK(!fi_recv(bed.node[0].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf));
    loop.stopped = 1 << 0;
    CHECK(!fi_inject(bed.node[1].ep, "memory", 7, 0));
    bed_poll(3);
    bed_calloc_size = sizeof(struct rnic_fi_peer);
    bed_calloc_fails = 100;
    loop.stopped = 0;
    CHECK(try_wait(bed.node[0].cq) == -FI_EAGAIN);
    bed_calloc_fails = 0;
    bed_done(0, buf);
    CHECK(!try_wait(bed.node[0].cq));
}

/* A reader does not sleep while its mailbox has more arrivals than a poll handles. */
static void test_wait_budget(void)
{
    struct fi_cq_tagged_entry entry;
    char last[8], buf[8];
    unsigned int i;
    uint64_t start;
    ssize_t ret;

    open_waiting();
    CHECK(!fi_trecv(bed.node[0].ep, last, sizeof(last), NULL, FI_ADDR_UNSPEC, 1, 0, last));
    loop.stopped = 1 << 0;
    loop.mbox_entries = LOOP_MBOX_MAX;
    for (i = 1; i <= LOOP_MBOX_MAX; i++) {
        do {
            ret = fi_tinject(bed.node[1].ep, "budget", 7, 0, i == LOOP_MBOX_MAX);
            bed_poll(1);
        } while (ret == -FI_EAGAIN);
        CHECK(!ret);
    }
    bed_poll(LOOP_MBOX_MAX);
    CHECK(!loop.full);
    loop.stopped = 0;
    start = ofi_gettime_ms();
    CHECK(fi_cq_sread(bed.node[0].cq, &entry, 1, NULL, 10000) == 1);
    CHECK(ofi_gettime_ms() < start + RNIC_FI_WATCH_MS / 2);
    CHECK(entry.op_context == last);
    for (i = 1; i < LOOP_MBOX_MAX; i++) {
        CHECK(!fi_trecv(bed.node[0].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, 0, 0,
                        buf));
        bed_done(0, buf);
    }
}

/* Handles an arrival as another thread does while hint() runs. */
static void arrive(void)
{
    struct rnic_fi_domain *domain = rnic_fi_domain_of(bed.node[0].domain);

    rnic_fi_lock(domain);
    domain->idle = 0;
    rnic_fi_unlock(domain);
    loop.on_hint = NULL;
}

/* An arrival during hint() ends the idle time. */
static void test_idle(void)
{
    struct rnic_fi_domain *domain = rnic_fi_domain_of(bed.node[0].domain);

    domain->idle = rnic_fi_hint_polls;
    loop.on_hint = arrive;
    (void) fi_cntr_read(bed.node[0].sent);
    CHECK(!loop.on_hint);
    CHECK(!domain->idle);
}

const struct bed_case wait_cases[] = {
    { "progress/wait-time", test_wait_time },
    { "progress/wait-message", test_wait_message },
    { "progress/wait-read", test_wait_read },
    { "progress/wait-write", test_wait_write },
    { "progress/wait-channels", test_wait_channels },
    { "progress/wait-shared", test_wait_shared },
    { "progress/wait-send", test_wait_send },
    { "progress/wait-early", test_wait_early },
    { "progress/wait-memory", test_wait_memory },
    { "progress/wait-budget", test_wait_budget },
    { "progress/idle", test_idle },
    { NULL },
};
